//! Rules of operations that stand for an algorithm: sorting, transforms, linear algebra, normalisation.

use super::{Checked, Result, scalar};
use crate::diagnostic::codes;
use crate::types::{Dim, ElementClass, ElementType, TensorType};

impl Checked<'_> {
    pub(super) fn sort(&self) -> Result<()> {
        let first = self.operand(0)?;
        if self.op.results.len() != self.op.operands.len() {
            let message =
                format!("{} operands and {} results", self.op.operands.len(), self.op.results.len());
            return Err(self.error(codes::ARITY, message).expected("as many results as operands"));
        }
        let mut params = Vec::new();
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.expect_shape(&format!("operand {i}"), operand, &first.shape)?;
            self.expect_result(i, &operand.shape, &operand.element)?;
            params.extend([scalar(&operand.element), scalar(&operand.element)]);
        }
        let (dimension, rank) = (self.op.int("dimension")?, first.rank() as i64);
        if !(-rank..rank).contains(&dimension) && rank > 0 {
            return Err(self.attr_error(format!("'dimension' = {dimension} for {first}")).expected(format!(
                "{} to {}",
                -rank,
                rank - 1
            )));
        }
        self.expect_params(&self.op.regions[0], &params)?;
        self.expect_returned(&self.op.regions[0], &[scalar(&ElementType::I1)])
    }

    pub(super) fn fft(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let (kind, lengths) = (self.op.enumeration("fft_type")?, self.op.ints("fft_length")?);
        let count = lengths.len();
        if !(1..=3).contains(&count) || operand.rank() < count {
            return Err(self
                .attr_error(format!("'fft_length' = {lengths:?} for {operand}"))
                .expected("one to three lengths, for the last dimensions"));
        }
        let real = matches!(kind, "RFFT");
        let (class, what) =
            if real { (ElementClass::Float, "a float") } else { (ElementClass::Complex, "a complex") };
        if operand.element.class() != class {
            return Err(self
                .type_error(format!("{kind} of {operand}"))
                .expected(format!("{what} element type")));
        }
        let mut shape = operand.shape.clone();
        let first = operand.rank() - count;
        for (i, length) in lengths.iter().enumerate() {
            let halved = i + 1 == count;
            let wanted = if kind == "IRFFT" && halved && *length > 0 { length / 2 + 1 } else { *length };
            if !operand.shape[first + i].compatible(Dim::Static(wanted)) {
                return Err(self
                    .type_error(format!("{kind} of length {lengths:?} of {operand}"))
                    .expected(format!("size {wanted} in dimension {}", first + i)));
            }
            shape[first + i] = match kind {
                "RFFT" if halved && *length > 0 => Dim::Static(length / 2 + 1),
                _ => Dim::Static(*length),
            };
        }
        let element = match kind {
            "RFFT" => operand.element.complex_of().unwrap_or(ElementType::C64),
            "IRFFT" => operand.element.real_part(),
            _ => operand.element.clone(),
        };
        self.expect_result(0, &shape, &element)
    }

    fn expect_square(&self, what: &str, ty: &TensorType) -> Result<()> {
        if let [.., rows, columns] = ty.shape.as_slice()
            && rows.compatible(*columns)
        {
            return Ok(());
        }
        Err(self.type_error(format!("{what} has type {ty}")).expected("a batch of square matrices"))
    }

    pub(super) fn cholesky(&self) -> Result<()> {
        let operand = self.operand(0)?;
        self.expect_square("the operand", operand)?;
        self.expect_result(0, &operand.shape, &operand.element)
    }

    pub(super) fn triangular_solve(&self) -> Result<()> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.expect_square("operand 0", a)?;
        self.expect_element("operand 1", b, &a.element)?;
        let rank = a.rank();
        let side = if self.op.flag("left_side")? { rank - 2 } else { rank - 1 };
        let fits = b.rank() == rank
            && a.shape[..rank - 2].iter().zip(&b.shape).all(|(x, y)| x.compatible(*y))
            && a.shape[rank - 1].compatible(b.shape[side]);
        if !fits {
            return Err(self
                .type_error(format!("{a} is solved for {b}"))
                .expected(format!("equal batches, and in dimension {side} the size of the matrix")));
        }
        self.expect_result(0, &b.shape, &b.element)
    }

    pub(super) fn rng_bit_generator(&self) -> Result<()> {
        let state = self.operand(0)?;
        if state.rank() != 1 || !matches!(state.element, ElementType::U64 | ElementType::U32) {
            return Err(self.type_error(format!("the state has type {state}")).expected("tensor<nxui64>"));
        }
        self.expect_result(0, &state.shape, &state.element)?;
        self.result(1).map(|_| ())
    }

    pub(super) fn top_k(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let k = self.op.int("k")?;
        let Some((last, rest)) = operand.shape.split_last() else {
            return Err(self
                .type_error(format!("the operand has type {operand}"))
                .expected("at least one dimension"));
        };
        if k < 0 || last.known().is_some_and(|n| k > n) {
            return Err(self
                .attr_error(format!("'k' = {k} for {operand}"))
                .expected("at most the size of the last dimension"));
        }
        let shape: Vec<Dim> = rest.iter().copied().chain([Dim::Static(k)]).collect();
        self.expect_result(0, &shape, &operand.element)?;
        self.expect_result(1, &shape, &ElementType::I32)
    }

    /// Checks that the operands from 1 on are vectors of one entry for each feature; the number of features.
    fn features(&self) -> Result<Dim> {
        let operand = self.operand(0)?;
        let feature = self.op.int("feature_index")?;
        self.expect_dims("feature_index", &[feature], operand.rank())?;
        let size = operand.shape[feature as usize];
        for i in 1..self.op.operands.len() {
            let vector = self.operand(i)?;
            self.expect_shape(&format!("operand {i}"), vector, &[size])?;
            self.expect_element(&format!("operand {i}"), vector, &operand.element)?;
        }
        Ok(size)
    }

    pub(super) fn batch_norm_inference(&self) -> Result<()> {
        self.features()?;
        let operand = self.operand(0)?;
        self.expect_result(0, &operand.shape, &operand.element)
    }

    pub(super) fn batch_norm_training(&self) -> Result<()> {
        let size = self.features()?;
        let operand = self.operand(0)?;
        self.expect_result(0, &operand.shape, &operand.element)?;
        self.expect_result(1, &[size], &operand.element)?;
        self.expect_result(2, &[size], &operand.element)
    }
}
