//! Rules of contractions: `dot_general`, `dot`, `convolution`.

use super::window::{dilated, windows};
use super::{Checked, Result};
use crate::diagnostic::Diagnostic;
use crate::types::{Dim, ElementClass, TensorType};

impl Checked<'_> {
    pub(super) fn dot_general(&self) -> Result<()> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        let dims = self.op.dot_dims()?;
        for (name, a, b) in [
            ("batching dimensions", &dims.batch_lhs, &dims.batch_rhs),
            ("contracting dimensions", &dims.contract_lhs, &dims.contract_rhs),
        ] {
            if a.len() != b.len() {
                return Err(self.attr_error(format!("the {name} {a:?} x {b:?} are not pairs")));
            }
        }
        let left = [dims.batch_lhs.as_slice(), &dims.contract_lhs].concat();
        let right = [dims.batch_rhs.as_slice(), &dims.contract_rhs].concat();
        self.expect_dims("dimensions of the left operand", &left, lhs.rank())?;
        self.expect_dims("dimensions of the right operand", &right, rhs.rank())?;
        self.expect_unique("dimensions of the left operand", &left)?;
        self.expect_unique("dimensions of the right operand", &right)?;
        for (a, b) in left.iter().zip(&right) {
            let (x, y) = (lhs.shape[*a as usize], rhs.shape[*b as usize]);
            if !x.compatible(y) {
                return Err(self.pair_error(lhs, rhs, *a, *b));
            }
        }
        self.expect_like(lhs, rhs)?;
        let free = |ty: &TensorType, used: &[i64]| -> Vec<Dim> {
            let unused = |i: &usize| !used.contains(&(*i as i64));
            (0..ty.rank()).filter(unused).map(|i| ty.shape[i]).collect()
        };
        let mut shape: Vec<Dim> = dims.batch_lhs.iter().map(|d| lhs.shape[*d as usize]).collect();
        shape.extend(free(lhs, &left));
        shape.extend(free(rhs, &right));
        // The result may be wider than the operands (i8 to i32, f8 to f32).
        self.expect_shape("the result", self.result(0)?, &shape)
    }

    /// Checks that operands are of one class, say both floats; widths may differ.
    fn expect_like(&self, lhs: &TensorType, rhs: &TensorType) -> Result<()> {
        let (a, b) = (lhs.element.class(), rhs.element.class());
        let mixed = [a, b].iter().any(|c| matches!(c, ElementClass::Quantized | ElementClass::Other));
        if a == b || mixed {
            return Ok(());
        }
        Err(self
            .type_error(format!("the operands have types {lhs} and {rhs}"))
            .expected("operands that are both integers, both floats or both complex"))
    }

    fn pair_error(&self, lhs: &TensorType, rhs: &TensorType, a: i64, b: i64) -> Diagnostic {
        self.type_error(format!("dimension {a} of {lhs} meets dimension {b} of {rhs}"))
            .expected(format!("equal sizes in dimension {a} of the left and {b} of the right operand"))
    }

    pub(super) fn dot(&self) -> Result<()> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        for (what, operand) in [("operand 0", lhs), ("operand 1", rhs)] {
            if !(1..=2).contains(&operand.rank()) {
                return Err(self
                    .type_error(format!("{what} has type {operand}"))
                    .expected("a vector or a matrix"));
            }
        }
        let contracted = lhs.rank() - 1;
        if !lhs.shape[contracted].compatible(rhs.shape[0]) {
            return Err(self.pair_error(lhs, rhs, contracted as i64, 0));
        }
        let shape: Vec<Dim> = lhs.shape[..contracted].iter().chain(&rhs.shape[1..]).copied().collect();
        self.expect_shape("the result", self.result(0)?, &shape)
    }

    pub(super) fn convolution(&self) -> Result<()> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        let conv = self.op.conv()?;
        let d = &conv.dims;
        let rank = lhs.rank();
        let spatial = rank.saturating_sub(2);
        if rank < 2 || rhs.rank() != rank {
            return Err(self
                .type_error(format!("the operands have types {lhs} and {rhs}"))
                .expected("two tensors of one rank, at least 2"));
        }
        let all = |a: i64, b: i64, rest: &[i64]| [&[a, b], rest].concat();
        for (name, list) in [
            ("dimensions of the input", all(d.input_batch, d.input_feature, &d.input_spatial)),
            (
                "dimensions of the kernel",
                all(d.kernel_input_feature, d.kernel_output_feature, &d.kernel_spatial),
            ),
            ("dimensions of the output", all(d.output_batch, d.output_feature, &d.output_spatial)),
        ] {
            self.expect_len(name, list.len(), rank, "dimensions")?;
            self.expect_dims(name, &list, rank)?;
            self.expect_unique(name, &list)?;
        }
        for (name, count) in [
            ("window_strides", conv.strides.len()),
            ("padding", conv.padding.len()),
            ("lhs_dilation", conv.lhs_dilation.len()),
            ("rhs_dilation", conv.rhs_dilation.len()),
            ("window_reversal", conv.reversal.len()),
        ] {
            self.expect_len(name, count, spatial, "spatial dimensions")?;
        }
        self.expect_positive("window_strides", &conv.strides)?;
        self.expect_positive("lhs_dilation", &conv.lhs_dilation)?;
        self.expect_positive("rhs_dilation", &conv.rhs_dilation)?;
        self.expect_like(lhs, rhs)?;

        let (groups, batches) = (conv.feature_group_count, conv.batch_group_count);
        if groups < 1 || batches < 1 || (groups > 1 && batches > 1) {
            return Err(self
                .attr_error(format!("feature_group_count = {groups}, batch_group_count = {batches}"))
                .expected("positive counts, one of them 1"));
        }
        let input = |dim: i64| lhs.shape[dim as usize];
        let kernel = |dim: i64| rhs.shape[dim as usize];
        let features = input(d.input_feature).known();
        let kernel_features = kernel(d.kernel_input_feature).known();
        if let (Some(f), Some(k)) = (features, kernel_features)
            && Some(f) != k.checked_mul(groups)
        {
            return Err(self
                .type_error(format!(
                    "{f} input features in {groups} group(s) meet {k} of the kernel ({lhs}, {rhs})"
                ))
                .expected(format!("input feature dimension = {k} * feature_group_count")));
        }
        let outputs = kernel(d.kernel_output_feature);
        if outputs.known().is_some_and(|o| o % groups != 0 || o % batches != 0) {
            return Err(self
                .type_error(format!("the output features of {rhs} do not divide into the groups"))
                .expected(format!("a multiple of {}", groups.max(batches))));
        }
        let batch = input(d.input_batch);
        if batch.known().is_some_and(|b| b % batches != 0) {
            return Err(self
                .type_error(format!("the batch of {lhs} does not divide into {batches} groups"))
                .expected(format!("a multiple of {batches}")));
        }
        let mut shape = vec![Dim::Dynamic; rank];
        shape[d.output_batch as usize] = batch.known().map_or(Dim::Dynamic, |b| Dim::Static(b / batches));
        shape[d.output_feature as usize] = outputs;
        for i in 0..spatial {
            let window = kernel(d.kernel_spatial[i]);
            let base = input(d.input_spatial[i]);
            shape[d.output_spatial[i] as usize] = match (base.known(), window.known()) {
                (Some(base), Some(window)) => {
                    let base = dilated(base, conv.lhs_dilation[i]);
                    windows(base, conv.padding[i], dilated(window, conv.rhs_dilation[i]), conv.strides[i])
                }
                _ => Dim::Dynamic,
            };
        }
        self.expect_shape("the result", self.result(0)?, &shape)
    }
}
