//! Rules of operations that stand for an algorithm: sorting, transforms, linear algebra, random numbers,
//! normalisation.

use super::infer::Want;
use super::shape::{Ext, extents};
use super::{Checked, Result, scalar};
use crate::diagnostic::codes;
use crate::table::Elements;
use crate::types::{ElementClass, ElementType, TensorType};

impl<'a> Checked<'a> {
    pub(super) fn sort(&self) -> Result<Vec<Want>> {
        let count = self.op.operands.len();
        if count == 0 || (self.counts_results() && self.op.results.len() != count) {
            let message = format!("{count} operands and {} results", self.op.results.len());
            let rule = if count == 0 { 1 } else { 2 };
            return Err(self
                .error(codes::ARITY, message)
                .expected("at least one operand, and as many results as operands")
                .constraint(rule));
        }
        let operands = self.operands(0..count)?;
        let mut params = Vec::new();
        for (i, operand) in operands.iter().enumerate() {
            self.same_shape(3, format_args!("operand {i}"), operand, &extents(operands[0]))?;
            params.extend([scalar(&operand.element), scalar(&operand.element)]);
        }
        let (dimension, rank) = (self.op.int("dimension")?, operands[0].rank() as i64);
        // A scalar is sorted as it stands.
        if !(-rank..rank).contains(&dimension) && (rank > 0 || !(-1..=0).contains(&dimension)) {
            return Err(self
                .attr_error(format!("'dimension' = {dimension} for {}", operands[0]))
                .expected(format!("{} to {}", -rank, rank - 1))
                .constraint(4));
        }
        self.params(5, &self.op.regions[0], &params)?;
        self.returns(5, &self.op.regions[0], &[scalar(&ElementType::I1)])?;
        Ok(operands.iter().map(|t| Want::tensor(extents(t), &t.element, 2, 2)).collect())
    }

    pub(super) fn fft(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let (kind, lengths) = (self.op.enumeration("fft_type")?, self.op.ints("fft_length")?);
        let count = lengths.len();
        if !(1..=3).contains(&count) {
            return Err(self
                .attr_error(format!("'fft_length' = {lengths:?}"))
                .expected("one to three lengths")
                .constraint(3));
        }
        if operand.rank() < count {
            return Err(self
                .attr_error(format!("'fft_length' = {lengths:?} for {operand}"))
                .expected("lengths for the last dimensions")
                .constraint(1));
        }
        self.at_least(0, "fft_length", lengths, 0)?;
        let (class, what) = match kind {
            "RFFT" => (ElementClass::Float, "f32 or f64"),
            _ => (ElementClass::Complex, "a complex element type"),
        };
        if operand.element.class() != class || (kind == "RFFT" && operand.element.complex_of().is_none()) {
            return Err(self.type_error(format!("{kind} of {operand}")).expected(what).constraint(2));
        }
        let mut shape = extents(operand);
        let first = operand.rank() - count;
        let half = |n: i64| if n == 0 { 0 } else { n / 2 + 1 };
        for (i, length) in lengths.iter().enumerate() {
            let last = i + 1 == count;
            let (wanted, given, rule) = match kind {
                "RFFT" => (*length, if last { half(*length) } else { *length }, 4),
                "IRFFT" => (if last { half(*length) } else { *length }, *length, 5),
                // A transform of complex numbers has the sizes of its operand.
                _ => continue,
            };
            if !shape[first + i].fits(Ext::known(wanted)) {
                return Err(self
                    .type_error(format!("{kind} of length {lengths:?} of {operand}"))
                    .expected(format!("size {wanted} in dimension {}", first + i))
                    .constraint(rule));
            }
            if matches!(kind, "RFFT" | "IRFFT") {
                shape[first + i] = Ext::known(given);
            }
        }
        let element = match kind {
            "RFFT" => operand.element.complex_of().unwrap_or(ElementType::C64),
            "IRFFT" => operand.element.real_part(),
            _ => operand.element.clone(),
        };
        Ok(vec![Want::tensor(shape, &element, 5, 2)])
    }

    /// Checks the last two dimensions of a batch of matrices.
    fn square(&self, rules: (u8, u8), what: &str, ty: &TensorType) -> Result<()> {
        let wrong = |rule: u8, expected: &str| {
            Err(self.type_error(format!("{what} has type {ty}")).expected(expected).constraint(rule))
        };
        match extents(ty).as_slice() {
            [.., rows, columns] if rows.fits(*columns) => Ok(()),
            [.., _, _] => wrong(rules.1, "a batch of square matrices"),
            _ => wrong(rules.0, "at least two dimensions"),
        }
    }

    pub(super) fn cholesky(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.element_class("the operand", operand, Elements::FloatOrComplex)?;
        self.square((2, 3), "the operand", operand)?;
        Ok(vec![Want::baseline(extents(operand), &operand.element, 1, 1)])
    }

    pub(super) fn triangular_solve(&self) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.element_class("operand 0", a, Elements::FloatOrComplex)?;
        self.same_baseline(1, "operand 1", b, &a.element)?;
        self.square((2, 3), "operand 0", a)?;
        let rank = a.rank();
        let wrong = |rule: u8, expected: String| {
            Err(self.type_error(format!("{a} is solved for {b}")).expected(expected).constraint(rule))
        };
        if b.rank() != rank {
            return wrong(2, "operands of one rank".into());
        }
        let side = if self.op.flag("left_side")? { rank - 2 } else { rank - 1 };
        let (x, y) = (extents(a), extents(b));
        if !(0..rank - 2).all(|i| x[i].fits(y[i])) || !x[rank - 1].fits(y[side]) {
            return wrong(3, format!("equal batches, and in dimension {side} the size of the matrix"));
        }
        if self.op.enumeration("transpose_a")? == "TRANSPOSE_INVALID" {
            return Err(self
                .attr_error("'transpose_a' = TRANSPOSE_INVALID")
                .expected("NO_TRANSPOSE, TRANSPOSE or ADJOINT"));
        }
        Ok(vec![Want::baseline(y, &b.element, 4, 4)])
    }

    pub(super) fn rng(&self) -> Result<Vec<Want>> {
        let (a, b, shape) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        for (what, bound) in [("operand 0", a), ("operand 1", b)] {
            self.scalar(0, what, bound)?;
            if !matches!(
                bound.element.class(),
                ElementClass::Bool | ElementClass::Signed | ElementClass::Unsigned | ElementClass::Float
            ) {
                return Err(self
                    .type_error(format!("{what} has type {bound}"))
                    .expected("a boolean, integer or float element type"));
            }
        }
        self.same_element(1, "operand 1", b, &a.element)?;
        if self.op.enumeration("rng_distribution")? == "NORMAL" && !a.element.is_float() {
            return Err(self
                .type_error(format!("a normal distribution of {a}"))
                .expected("a float element type")
                .constraint(2));
        }
        self.integer_vector(3, "the shape", shape, None)?;
        match (self.constant_operand(2), shape.shape[0].known()) {
            (Some(sizes), _) => {
                let shape = sizes.into_iter().map(Ext::known).collect();
                Ok(vec![Want::tensor(shape, &a.element, 3, 1)])
            }
            (None, Some(rank)) => {
                if let Some(result) = self.op.results.first().and_then(|v| self.module.tensor(*v))
                    && result.rank() as i64 != rank
                {
                    return Err(self
                        .type_error(format!("the result has type {result}"))
                        .expected(format!("{rank} dimensions"))
                        .constraint(3));
                }
                Ok(vec![Want::element(&a.element, 1)])
            }
            (None, None) => Ok(vec![Want::element(&a.element, 1)]),
        }
    }

    pub(super) fn rng_bit_generator(&self) -> Result<Vec<Want>> {
        let state = self.operand(0)?;
        if state.rank() != 1 || !matches!(state.element, ElementType::U64 | ElementType::U32) {
            return Err(self.type_error(format!("the state has type {state}")).expected("tensor<nxui64>"));
        }
        let wanted: &[i64] = match self.op.enumeration("rng_algorithm")? {
            "THREE_FRY" => &[2],
            "PHILOX" => &[2, 3],
            _ => &[],
        };
        // A key of 32-bit words has twice as many of them.
        let words = if state.element == ElementType::U32 { 2 } else { 1 };
        if let Some(size) = state.shape[0].known()
            && !wanted.is_empty()
            && !wanted.iter().any(|n| n * words == size)
        {
            return Err(self
                .type_error(format!("the state has type {state}"))
                .expected(format!("{wanted:?} words of 64 bits"))
                .constraint(2));
        }
        if let Some(output) = self.op.results.get(1).and_then(|v| self.module.tensor(*v))
            && !matches!(
                output.element.class(),
                ElementClass::Signed | ElementClass::Unsigned | ElementClass::Float
            )
        {
            return Err(self
                .type_error(format!("result 1 has type {output}"))
                .expected("an integer or float element type"));
        }
        Ok(vec![Want::tensor(extents(state), &state.element, 1, 1), Want::Any])
    }

    pub(super) fn top_k(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let k = self.op.int("k")?;
        let mut shape = extents(operand);
        let Some(last) = shape.last_mut() else {
            return Err(self
                .type_error(format!("the operand has type {operand}"))
                .expected("at least one dimension"));
        };
        if k < 0 || last.limit().is_some_and(|n| k > n) {
            return Err(self
                .attr_error(format!("'k' = {k} for {operand}"))
                .expected("at most the size of the last dimension"));
        }
        *last = Ext::known(k);
        Ok(vec![
            Want::tensor(shape.clone(), &operand.element, 0, 0),
            Want::tensor(shape, &ElementType::I32, 0, 0),
        ])
    }

    /// (C1), (C2) and the sizes of vectors of one entry for each feature; the number of features.
    fn features(&self, vectors: &[(usize, u8)]) -> Result<Ext> {
        let operand = self.operand(0)?;
        self.element_class("the operand", operand, Elements::Float)?;
        let feature = self.op.int("feature_index")?;
        self.dims(1, "feature_index", &[feature], operand.rank())?;
        let size = extents(operand)[feature as usize];
        for (i, rule) in vectors {
            let vector = self.operand(*i)?;
            self.same_baseline(2, format_args!("operand {i}"), vector, &operand.element)?;
            if vector.rank() != 1 {
                return Err(self
                    .type_error(format!("operand {i} has type {vector}"))
                    .expected("one dimension"));
            }
            self.same_shape(*rule, format_args!("operand {i}"), vector, &[size])?;
        }
        Ok(size)
    }

    pub(super) fn batch_norm_inference(&self) -> Result<Vec<Want>> {
        self.features(&[(1, 3), (2, 4), (3, 5), (4, 6)])?;
        let operand = self.operand(0)?;
        Ok(vec![Want::baseline(extents(operand), &operand.element, 7, 2)])
    }

    pub(super) fn batch_norm_training(&self) -> Result<Vec<Want>> {
        let size = self.features(&[(1, 3), (2, 4)])?;
        let operand = self.operand(0)?;
        Ok(vec![
            Want::baseline(extents(operand), &operand.element, 7, 2),
            Want::baseline(vec![size], &operand.element, 5, 2),
            Want::baseline(vec![size], &operand.element, 6, 2),
        ])
    }

    pub(super) fn batch_norm_grad(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let size = self.features(&[(1, 5)])?;
        for i in 2..4 {
            let vector = self.operand(i)?;
            self.same_baseline(2, format_args!("operand {i}"), vector, &operand.element)?;
            self.same_shape(4, format_args!("operand {i}"), vector, &[size])?;
        }
        let grad = self.operand(4)?;
        self.same_baseline(2, "operand 4", grad, &operand.element)?;
        self.same_shape(3, "operand 4", grad, &extents(operand))?;
        Ok(vec![
            Want::baseline(extents(operand), &operand.element, 3, 2),
            Want::baseline(vec![size], &operand.element, 4, 2),
            Want::baseline(vec![size], &operand.element, 4, 2),
        ])
    }
}
