//! Rules of reductions: over dimensions, over windows, and of the gradient of the latter.

use super::{Checked, Result, extent, scalar};
use crate::attr::WindowAttrs;
use crate::diagnostic::codes;
use crate::module::Region;
use crate::types::{Dim, ElementClass, ElementType, TensorType, Type, TypeList};

/// Size of a dimension with `dilation - 1` holes between neighbours.
pub(super) fn dilated(size: i64, dilation: i64) -> i128 {
    if size == 0 { 0 } else { (i128::from(size) - 1) * i128::from(dilation) + 1 }
}

/// Number of positions of a window in a padded dimension.
pub(super) fn windows(base: i128, padding: (i64, i64), window: i128, stride: i64) -> Dim {
    let padded = base + i128::from(padding.0) + i128::from(padding.1);
    if padded <= 0 || window > padded {
        return Dim::Static(0);
    }
    extent((padded - window) / i128::from(stride.max(1)) + 1)
}

impl<'a> Checked<'a> {
    /// Inputs and initial values of a reduction: as many of each, the inputs of one shape, the initial values scalars.
    fn reduction_operands(&self) -> Result<(Vec<&'a TensorType>, Vec<&'a TensorType>)> {
        let count = self.op.operands.len() / 2;
        if !self.op.operands.len().is_multiple_of(2) || self.op.results.len() != count {
            let message =
                format!("{} operands and {} results", self.op.operands.len(), self.op.results.len());
            return Err(self
                .error(codes::ARITY, message)
                .expected("as many initial values and results as inputs"));
        }
        let inputs: Vec<&TensorType> = (0..count).map(|i| self.operand(i)).collect::<Result<_>>()?;
        let inits: Vec<&TensorType> = (count..2 * count).map(|i| self.operand(i)).collect::<Result<_>>()?;
        for (i, (input, init)) in inputs.iter().zip(&inits).enumerate() {
            self.expect_shape(&format!("input {i}"), input, &inputs[0].shape)?;
            self.expect_scalar(&format!("initial value {i}"), init)?;
        }
        Ok((inputs, inits))
    }

    /// The element types in which a reducer accumulates: it takes two scalars of each and gives back one of each, and
    /// both the input and the initial value are promoted to it.
    fn accumulators(
        &self,
        region: &Region,
        inputs: &[&TensorType],
        inits: &[&TensorType],
    ) -> Result<Vec<ElementType>> {
        let count = inputs.len();
        let found: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        let inferred: Vec<Type> = inputs.iter().map(|t| scalar(&t.element)).collect();
        let doubled = [inferred.clone(), inferred].concat();
        let wrong = || {
            self.error(codes::OP_REGION, format!("its region takes ({})", TypeList(&found)))
                .expected(format!("({})", TypeList(&doubled)))
        };
        if found.len() != 2 * count {
            return Err(wrong());
        }
        let mut elements = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            let (Some(a), Some(b)) = (found[i].as_tensor(), found[count + i].as_tensor()) else {
                return Err(wrong());
            };
            if a.rank() != 0 || a != b || !promotes(&input.element, &a.element) {
                return Err(wrong());
            }
            if !promotes(&inits[i].element, &a.element) {
                return Err(self
                    .type_error(format!("initial value {i} has type {}", inits[i]))
                    .expected(format!("element type {}", a.element)));
            }
            elements.push(a.element.clone());
        }
        self.expect_returned(region, &elements.iter().map(scalar).collect::<Vec<_>>())?;
        Ok(elements)
    }

    pub(super) fn reduce(&self) -> Result<()> {
        let (inputs, inits) = self.reduction_operands()?;
        let dims = self.op.ints("dimensions")?;
        self.expect_dims("dimensions", dims, inputs[0].rank())?;
        self.expect_unique("dimensions", dims)?;
        let elements = self.accumulators(&self.op.regions[0], &inputs, &inits)?;
        for (i, (input, element)) in inputs.iter().zip(&elements).enumerate() {
            let kept = input.shape.iter().enumerate().filter(|(at, _)| !dims.contains(&(*at as i64)));
            let shape: Vec<Dim> = kept.map(|(_, dim)| *dim).collect();
            self.expect_result(i, &shape, element)?;
        }
        Ok(())
    }

    /// The window of this operation, one entry for each of `rank` dimensions.
    fn window_of_rank(&self, rank: usize) -> Result<WindowAttrs> {
        let window = self.op.window()?;
        for (name, count) in [
            ("window_dimensions", window.dimensions.len()),
            ("window_strides", window.strides.len()),
            ("base_dilations", window.base_dilations.len()),
            ("window_dilations", window.window_dilations.len()),
            ("padding", window.padding.len()),
        ] {
            self.expect_len(name, count, rank, "dimensions of the operand")?;
        }
        self.expect_positive("window_dimensions", &window.dimensions)?;
        self.expect_positive("window_strides", &window.strides)?;
        self.expect_positive("base_dilations", &window.base_dilations)?;
        self.expect_positive("window_dilations", &window.window_dilations)?;
        Ok(window)
    }

    pub(super) fn reduce_window(&self) -> Result<()> {
        let (inputs, inits) = self.reduction_operands()?;
        let window = self.window_of_rank(inputs[0].rank())?;
        let elements = self.accumulators(&self.op.regions[0], &inputs, &inits)?;
        for (i, (input, element)) in inputs.iter().zip(&elements).enumerate() {
            self.expect_result(i, &window_positions(input, &window), element)?;
        }
        Ok(())
    }

    pub(super) fn select_and_scatter(&self) -> Result<()> {
        let (operand, source, init) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        let window = self.window_of_rank(operand.rank())?;
        self.expect_shape("the source", source, &window_positions(operand, &window))?;
        self.expect_scalar("the initial value", init)?;
        let element = scalar(&operand.element);
        let select = &self.op.regions[0];
        self.expect_params(select, &[element.clone(), element.clone()])?;
        self.expect_returned(select, &[scalar(&ElementType::I1)])?;
        let elements = self.accumulators(&self.op.regions[1], &[operand], &[init])?;
        if !promotes(&source.element, &elements[0]) {
            return Err(self
                .type_error(format!("the source has type {source}"))
                .expected(format!("element type {}", elements[0])));
        }
        self.expect_result(0, &operand.shape, &elements[0])
    }
}

/// Shape of the positions of a window in an operand.
fn window_positions(operand: &TensorType, window: &WindowAttrs) -> Vec<Dim> {
    let position = |(i, dim): (usize, &Dim)| match dim.known() {
        None => Dim::Dynamic,
        Some(size) => windows(
            dilated(size, window.base_dilations[i]),
            window.padding[i],
            dilated(window.dimensions[i], window.window_dilations[i]),
            window.strides[i],
        ),
    };
    operand.shape.iter().enumerate().map(position).collect()
}

/// Whether values of a type may be accumulated in another: the same or a wider one of its kind, where integers are of
/// one kind whether signed or not. As in MLIR, floats of any width fit each other.
pub(super) fn promotes(from: &ElementType, to: &ElementType) -> bool {
    let kind = |ty: &ElementType| match ty.class() {
        ElementClass::Bool | ElementClass::Unsigned => ElementClass::Signed,
        class => class,
    };
    from == to
        || (kind(from) == kind(to)
            && from.class() != ElementClass::Other
            && (from.class() == ElementClass::Float || from.bits() <= to.bits()))
}
