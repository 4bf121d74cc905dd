//! Rules of contractions: `dot_general`, `dot`, `einsum`, `convolution`.

use super::infer::Want;
use super::shape::{Ext, extents};
use super::window::{dilated, windows};
use super::{Checked, Result};
use crate::attr::{Attribute, ConvDims};
use crate::diagnostic::Diagnostic;
use crate::types::{ElementClass, ElementType, TensorType};

/// Constraints on the quantized types of a contraction.
struct QuantizedRules {
    quantized: u8,
    storage: u8,
    expressed: u8,
    per_tensor: u8,
    hybrid: u8,
}

impl<'a> Checked<'a> {
    pub(super) fn dot_general(&self) -> Result<Vec<Want>> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        let dims = self.op.dot_dims()?;
        for (rule, name, a, b) in [
            (1, "batching dimensions", &dims.batch_lhs, &dims.batch_rhs),
            (2, "contracting dimensions", &dims.contract_lhs, &dims.contract_rhs),
        ] {
            if a.len() != b.len() {
                return Err(self
                    .attr_error(format!("the {name} {a:?} x {b:?} are not pairs"))
                    .constraint(rule));
            }
        }
        let left = [dims.batch_lhs.as_slice(), &dims.contract_lhs].concat();
        let right = [dims.batch_rhs.as_slice(), &dims.contract_rhs].concat();
        self.unique(3, "dimensions of the left operand", &left)?;
        self.unique(4, "dimensions of the right operand", &right)?;
        self.dims(5, "lhs_batching_dimensions", &dims.batch_lhs, lhs.rank())?;
        self.dims(6, "lhs_contracting_dimensions", &dims.contract_lhs, lhs.rank())?;
        self.dims(7, "rhs_batching_dimensions", &dims.batch_rhs, rhs.rank())?;
        self.dims(8, "rhs_contracting_dimensions", &dims.contract_rhs, rhs.rank())?;
        let (a, b) = (extents(lhs), extents(rhs));
        for (i, (x, y)) in left.iter().zip(&right).enumerate() {
            if !a[*x as usize].fits(b[*y as usize]) {
                let rule = if i < dims.batch_lhs.len() { 9 } else { 10 };
                return Err(self.pair_error(lhs, rhs, *x, *y).constraint(rule));
            }
        }
        self.precision(11)?;
        self.algorithm()?;
        let free = |shape: &[Ext], used: &[i64]| -> Vec<Ext> {
            let unused = |i: &usize| !used.contains(&(*i as i64));
            (0..shape.len()).filter(unused).map(|i| shape[i]).collect()
        };
        let batch = dims.batch_lhs.iter().zip(&dims.batch_rhs);
        let mut shape: Vec<Ext> = batch.map(|(x, y)| a[*x as usize].merge(b[*y as usize])).collect();
        shape.extend(free(&a, &left));
        shape.extend(free(&b, &right));
        self.alike(13, lhs, rhs)?;
        let rules = QuantizedRules { quantized: 14, storage: 17, expressed: 18, per_tensor: 19, hybrid: 20 };
        if self.quantized_contraction(lhs, rhs, &rules)?
            && let Some(q) = rhs.element.quantized()
        {
            if q.zero_points.iter().any(|z| *z != 0) {
                return Err(self
                    .type_error(format!("the right operand has type {rhs}"))
                    .expected("zero points of 0")
                    .constraint(15));
            }
            if q.dimension.is_some_and(|d| dims.contract_rhs.contains(&d)) {
                return Err(self
                    .type_error(format!("the quantization dimension of {rhs} is contracted"))
                    .constraint(16));
            }
        }
        // The result may be wider than the operands (i8 to i32, f8 to f32).
        Ok(vec![Want::shape(shape, 12)])
    }

    /// At most one precision for each operand.
    fn precision(&self, rule: u8) -> Result<()> {
        match self.op.attributes.get("precision_config") {
            Some(Attribute::Array(items)) if items.len() > 2 => Err(self
                .attr_error(format!("'precision_config' has {} entries", items.len()))
                .expected("one for each operand, or none")
                .constraint(rule)),
            _ => Ok(()),
        }
    }

    /// (C21) to (C24): what holds where an algorithm is given.
    fn algorithm(&self) -> Result<()> {
        let Some(algorithm) = self.op.dot_algorithm() else { return Ok(()) };
        if self.op.precision().iter().any(|p| *p != "DEFAULT") {
            return Err(self
                .attr_error("an algorithm beside 'precision_config'")
                .expected("precisions of DEFAULT")
                .constraint(21));
        }
        for (rule, name, count) in [
            (22, "lhs_component_count", algorithm.lhs_component_count),
            (23, "rhs_component_count", algorithm.rhs_component_count),
            (24, "num_primitive_operations", algorithm.num_primitive_operations),
        ] {
            self.positive(rule, name, &[count])?;
        }
        for ty in [&algorithm.lhs_precision_type, &algorithm.rhs_precision_type, &algorithm.accumulation_type]
        {
            if !ty.is_float() && !ty.is_integer() {
                return Err(self.attr_error(format!("an algorithm in {ty}")).expected("float types or tf32"));
            }
        }
        let known = known_algorithm(
            &algorithm.lhs_precision_type,
            &algorithm.rhs_precision_type,
            &algorithm.accumulation_type,
            (
                algorithm.lhs_component_count,
                algorithm.rhs_component_count,
                algorithm.num_primitive_operations,
            ),
        );
        if !known {
            return Err(self
                .attr_error(format!(
                    "the algorithm {} x {} in {} of {} x {} components and {} products",
                    algorithm.lhs_precision_type,
                    algorithm.rhs_precision_type,
                    algorithm.accumulation_type,
                    algorithm.lhs_component_count,
                    algorithm.rhs_component_count,
                    algorithm.num_primitive_operations
                ))
                .expected("an algorithm that some hardware has, for example bf16 x bf16 in f32 of 1 x 1 components and 6 products"));
        }
        Ok(())
    }

    /// Checks that operands that are not quantized are of one class, say both floats. Widths may differ: programs
    /// hold products of two 8-bit floats, and of integers of two widths.
    fn alike(&self, rule: u8, lhs: &TensorType, rhs: &TensorType) -> Result<()> {
        let kind = |ty: &TensorType| match ty.element.class() {
            ElementClass::Unsigned | ElementClass::Bool => ElementClass::Signed,
            class => class,
        };
        let (a, b) = (kind(lhs), kind(rhs));
        if a == b || [a, b].iter().any(|c| matches!(c, ElementClass::Quantized | ElementClass::Other)) {
            return Ok(());
        }
        Err(self
            .type_error(format!("the operands have types {lhs} and {rhs}"))
            .expected("operands that are both integers, both floats or both complex")
            .constraint(rule))
    }

    /// Checks quantized operands and result; whether there are any.
    fn quantized_contraction(
        &self,
        lhs: &TensorType,
        rhs: &TensorType,
        rules: &QuantizedRules,
    ) -> Result<bool> {
        let result = self.result(0)?;
        let wrong = |rule: u8, expected: &str| {
            let message = format!("the types {lhs}, {rhs} and {result}");
            Err(self.type_error(message).expected(expected).constraint(rule))
        };
        if lhs.element.quantized().is_some_and(|q| q.is_per_axis()) {
            return wrong(0, "a left operand that is quantized per tensor");
        }
        match (lhs.element.quantized(), rhs.element.quantized(), result.element.quantized()) {
            (None, None, None) => Ok(false),
            (Some(a), Some(b), Some(c)) => {
                if a.storage != b.storage {
                    return wrong(rules.storage, "one storage type of the operands");
                }
                if a.expressed != b.expressed || b.expressed != c.expressed {
                    return wrong(rules.expressed, "one expressed type");
                }
                if !b.is_per_axis() && c.is_per_axis() {
                    return wrong(
                        rules.per_tensor,
                        "a result that is quantized per tensor, as the right operand",
                    );
                }
                Ok(true)
            }
            (None, Some(b), None) => {
                if lhs.element != b.expressed || result.element != b.expressed {
                    return wrong(rules.hybrid, "the expressed type of the right operand");
                }
                Ok(true)
            }
            _ => wrong(rules.quantized, "all types quantized, or the right operand alone"),
        }
    }

    fn pair_error(&self, lhs: &TensorType, rhs: &TensorType, a: i64, b: i64) -> Diagnostic {
        self.type_error(format!("dimension {a} of {lhs} meets dimension {b} of {rhs}"))
            .expected(format!("equal sizes in dimension {a} of the left and {b} of the right operand"))
    }

    pub(super) fn dot(&self) -> Result<Vec<Want>> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        for (what, operand) in [("operand 0", lhs), ("operand 1", rhs)] {
            if !(1..=2).contains(&operand.rank()) {
                return Err(self
                    .type_error(format!("{what} has type {operand}"))
                    .expected("a vector or a matrix"));
            }
        }
        self.precision(0)?;
        let (a, b) = (extents(lhs), extents(rhs));
        let contracted = lhs.rank() - 1;
        if !a[contracted].fits(b[0]) {
            return Err(self.pair_error(lhs, rhs, contracted as i64, 0));
        }
        let shape: Vec<Ext> = a[..contracted].iter().chain(&b[1..]).copied().collect();
        Ok(vec![Want::shape(shape, 0)])
    }

    /// `einsum` and `unary_einsum`: an index letter for each dimension, the sizes of equal letters equal.
    pub(super) fn einsum(&self) -> Result<Vec<Want>> {
        let config = self.op.string("einsum_config")?;
        let wrong = |expected: &str| {
            Err(self.attr_error(format!("'einsum_config' = \"{config}\"")).expected(expected.to_string()))
        };
        let Some((inputs, output)) = config.split_once("->") else { return wrong("an equation with '->'") };
        let inputs: Vec<&str> = inputs.split(',').collect();
        if inputs.len() != self.op.operands.len() {
            return wrong("indices for each operand");
        }
        // Three dots stand for dimensions without letters; those are not followed here.
        if config.contains('.') {
            return Ok(vec![Want::Any]);
        }
        let mut sizes: Vec<(char, Ext)> = Vec::new();
        for (i, indices) in inputs.iter().enumerate() {
            let operand = self.operand(i)?;
            let letters: Vec<char> = indices.chars().filter(|c| !c.is_whitespace()).collect();
            if letters.len() != operand.rank() {
                return wrong("one index for each dimension of an operand");
            }
            for (letter, ext) in letters.into_iter().zip(extents(operand)) {
                match sizes.iter_mut().find(|(known, _)| *known == letter) {
                    Some((_, known)) if known.fits(ext) => *known = known.merge(ext),
                    Some(_) => return wrong("equal sizes for equal indices"),
                    None => sizes.push((letter, ext)),
                }
            }
        }
        let mut shape = Vec::new();
        for letter in output.chars().filter(|c| !c.is_whitespace()) {
            match sizes.iter().find(|(known, _)| *known == letter) {
                Some((_, ext)) => shape.push(*ext),
                None => return wrong("indices of the result that an operand has"),
            }
        }
        Ok(vec![Want::shape(shape, 0)])
    }

    pub(super) fn convolution(&self) -> Result<Vec<Want>> {
        let spatial = self.spatial()?;
        let padding = self.padding_pairs(4, "padding", spatial)?;
        self.convolve(Some(&padding))
    }

    pub(super) fn dynamic_conv(&self) -> Result<Vec<Want>> {
        let spatial = self.spatial()?;
        let padding = self.operand(2)?;
        self.integer("the padding", padding)?;
        if padding.static_shape().is_none() {
            return Err(self
                .type_error(format!("the padding has type {padding}"))
                .expected("a static shape"));
        }
        let wanted = [Ext::known(spatial as i64), Ext::known(2)];
        self.same_shape(4, "the padding", padding, &wanted)?;
        let pairs = self.constant_operand(2);
        let pairs = pairs.map(|v| v.chunks_exact(2).map(|p| (p[0], p[1])).collect::<Vec<_>>());
        self.convolve(pairs.as_deref())
    }

    /// (C1); the number of spatial dimensions.
    fn spatial(&self) -> Result<usize> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        if lhs.rank() < 2 || rhs.rank() != lhs.rank() {
            return Err(self
                .type_error(format!("the operands have types {lhs} and {rhs}"))
                .expected("two tensors of one rank, at least 2")
                .constraint(1));
        }
        Ok(lhs.rank() - 2)
    }

    fn convolve(&self, padding: Option<&[(i64, i64)]>) -> Result<Vec<Want>> {
        let (lhs, rhs) = (self.operand(0)?, self.operand(1)?);
        let rank = lhs.rank();
        let spatial = rank - 2;
        let d = self.op.conv_dims()?;
        let list = |name: &str| self.op.ints(name);
        let (strides, base, window) = (list("window_strides")?, list("lhs_dilation")?, list("rhs_dilation")?);
        let reversal = self.op.bools("window_reversal")?;
        self.length(2, "window_strides", strides.len(), spatial, "spatial dimensions")?;
        self.positive(3, "window_strides", strides)?;
        self.length(5, "lhs_dilation", base.len(), spatial, "spatial dimensions")?;
        self.positive(6, "lhs_dilation", base)?;
        self.length(7, "rhs_dilation", window.len(), spatial, "spatial dimensions")?;
        self.positive(8, "rhs_dilation", window)?;
        self.length(9, "window_reversal", reversal.len(), spatial, "spatial dimensions")?;
        self.conv_roles(d, rank)?;
        let (groups, batches) = (self.op.int("feature_group_count")?, self.op.int("batch_group_count")?);
        self.positive(21, "feature_group_count", &[groups])?;
        self.positive(22, "batch_group_count", &[batches])?;
        if groups > 1 && batches > 1 {
            return Err(self
                .attr_error(format!("feature_group_count = {groups}, batch_group_count = {batches}"))
                .expected("one of them 1")
                .constraint(23));
        }
        self.precision(24)?;
        let (a, b) = (extents(lhs), extents(rhs));
        let input = |dim: i64| a[dim as usize];
        let kernel = |dim: i64| b[dim as usize];
        let divides = |rule: u8, what: &str, ext: Ext, by: i64| match ext.size {
            Some(size) if size % by != 0 => Err(self
                .type_error(format!("{what} of size {size} does not divide into {by} groups ({lhs}, {rhs})"))
                .expected(format!("a multiple of {by}"))
                .constraint(rule)),
            _ => Ok(()),
        };
        divides(10, "the batch", input(d.input_batch), batches)?;
        divides(11, "the input feature dimension", input(d.input_feature), groups)?;
        if let (Some(f), Some(k)) = (input(d.input_feature).size, kernel(d.kernel_input_feature).size)
            && Some(f) != k.checked_mul(groups)
        {
            return Err(self
                .type_error(format!(
                    "{f} input features in {groups} group(s) meet {k} of the kernel ({lhs}, {rhs})"
                ))
                .expected(format!("input feature dimension = {k} * feature_group_count"))
                .constraint(14));
        }
        let outputs = kernel(d.kernel_output_feature);
        divides(15, "the output feature dimension", outputs, batches)?;
        divides(16, "the output feature dimension", outputs, groups)?;
        if lhs.element.quantized().is_none() && rhs.element.quantized().is_none() {
            self.same_element(27, "the kernel", rhs, &lhs.element)?;
        }
        let rules = QuantizedRules { quantized: 28, storage: 31, expressed: 32, per_tensor: 33, hybrid: 34 };
        if self.quantized_contraction(lhs, rhs, &rules)? {
            self.conv_dimension(29, rhs, d.kernel_output_feature)?;
            self.conv_dimension(30, self.result(0)?, d.output_feature)?;
        }
        let mut shape = vec![Ext::ANY; rank];
        shape[d.output_batch as usize] = input(d.input_batch).map(|n| n / i128::from(batches));
        shape[d.output_feature as usize] = outputs;
        for i in 0..spatial {
            let at = d.output_spatial[i] as usize;
            let size = kernel(d.kernel_spatial[i]).size;
            if size == Some(0) {
                return Err(self
                    .type_error(format!("the kernel has type {rhs}"))
                    .expected(format!("a size above 0 in dimension {}", d.kernel_spatial[i])));
            }
            if let (Some(padding), Some(size)) = (padding, size) {
                let size = dilated(size, window[i]);
                let position = |n: i128| windows(dilated(n as i64, base[i]), padding[i], size, strides[i]);
                shape[at] = input(d.input_spatial[i]).map(position);
            }
        }
        if let Some(result) = self.op.results.first().and_then(|v| self.module.tensor(*v))
            && result.rank() != rank
        {
            return Err(self
                .type_error(format!("the result has type {result}"))
                .expected(format!("{rank} dimensions"))
                .constraint(26));
        }
        Ok(vec![Want::shape(shape, 25)])
    }

    fn conv_dimension(&self, rule: u8, ty: &TensorType, wanted: i64) -> Result<()> {
        match ty.element.quantized().and_then(|q| q.dimension) {
            Some(found) if found != wanted => Err(self
                .type_error(format!("{ty} is quantized along dimension {found}"))
                .expected(format!("dimension {wanted}"))
                .constraint(rule)),
            _ => Ok(()),
        }
    }

    /// (C12), (C13), (C17) to (C20): every dimension has one role.
    fn conv_roles(&self, d: &ConvDims, rank: usize) -> Result<()> {
        let all = |a: i64, b: i64, rest: &[i64]| [&[a, b], rest].concat();
        for (count_rule, rule, name, spatial, list) in [
            (
                12,
                13,
                "dimensions of the input",
                d.input_spatial.len(),
                all(d.input_batch, d.input_feature, &d.input_spatial),
            ),
            (
                17,
                18,
                "dimensions of the kernel",
                d.kernel_spatial.len(),
                all(d.kernel_input_feature, d.kernel_output_feature, &d.kernel_spatial),
            ),
            (
                19,
                20,
                "dimensions of the output",
                d.output_spatial.len(),
                all(d.output_batch, d.output_feature, &d.output_spatial),
            ),
        ] {
            self.length(count_rule, name, spatial, rank - 2, "spatial dimensions")?;
            self.unique(rule, name, &list)?;
            self.dims(rule, name, &list, rank)?;
        }
        Ok(())
    }
}

/// Whether some hardware is known to have the algorithm: operands rounded to a type, the number of products that is
/// taken of their parts, and the accumulator. An algorithm says how many products there are, not of how many parts.
fn known_algorithm(lhs: &ElementType, rhs: &ElementType, sum: &ElementType, counts: (i64, i64, i64)) -> bool {
    use ElementType::*;
    let (1, 1, products) = counts else { return false };
    let eight = |ty: &ElementType| ty.is_float() && ty.bits() == Some(8);
    if eight(lhs) && eight(rhs) {
        return products == 1 && *sum == F32;
    }
    if lhs != rhs {
        return false;
    }
    match (lhs, sum) {
        (F16, F16 | F32) | (BF16, BF16) | (F32, F32) | (F64, F64) => products == 1,
        (BF16, F32) => matches!(products, 1 | 3 | 6 | 9),
        (TF32, F32) => matches!(products, 1 | 3),
        _ => false,
    }
}
