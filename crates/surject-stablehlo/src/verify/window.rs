//! Rules of reductions: over dimensions, over windows, and of the gradient of the latter.

use super::infer::Want;
use super::shape::{Ext, extents};
use super::{Checked, Result, scalar};
use crate::attr::Attribute;
use crate::diagnostic::codes;
use crate::module::Region;
use crate::types::{ElementClass, ElementType, TensorType, Type, TypeList};

/// Size of a dimension with `dilation - 1` holes between neighbours.
pub(super) fn dilated(size: i64, dilation: i64) -> i128 {
    if size == 0 { 0 } else { (i128::from(size) - 1) * i128::from(dilation) + 1 }
}

/// Number of positions of a window in a padded dimension.
pub(super) fn windows(base: i128, padding: (i64, i64), window: i128, stride: i64) -> i128 {
    let padded = base + i128::from(padding.0) + i128::from(padding.1);
    if padded <= 0 || window > padded { 0 } else { (padded - window) / i128::from(stride.max(1)) + 1 }
}

/// A window with an entry for each dimension.
struct Window<'a> {
    dimensions: &'a [i64],
    strides: &'a [i64],
    base_dilations: &'a [i64],
    window_dilations: &'a [i64],
    padding: Vec<(i64, i64)>,
}

impl<'a> Checked<'a> {
    /// Inputs and initial values of a reduction: as many of each, the inputs of one shape, the initial values scalars.
    #[allow(clippy::type_complexity)]
    fn reduction_operands(
        &self,
        [count_rule, shape_rule, element_rule]: [u8; 3],
    ) -> Result<(Vec<&'a TensorType>, Vec<&'a TensorType>)> {
        let total = self.op.operands.len();
        let count = total / 2;
        let results = self.op.results.len();
        if count == 0 || !total.is_multiple_of(2) || (self.counts_results() && results != count) {
            return Err(self
                .error(codes::ARITY, format!("{total} operands and {results} results"))
                .expected("as many initial values and results as inputs")
                .constraint(count_rule));
        }
        let (inputs, inits) = (self.operands(0..count)?, self.operands(count..total)?);
        for i in 0..count {
            self.same_shape(shape_rule, format_args!("input {i}"), inputs[i], &extents(inputs[0]))?;
            self.scalar(0, format_args!("initial value {i}"), inits[i])?;
            if !promotes(&inputs[i].element, &inits[i].element) {
                self.same_element(
                    element_rule,
                    format_args!("initial value {i}"),
                    inits[i],
                    &inputs[i].element,
                )?;
            }
        }
        Ok((inputs, inits))
    }

    /// The element types in which a reducer accumulates: it takes two scalars of each and gives back one of each, and
    /// both the input and the initial value are promoted to it.
    pub(super) fn accumulators(
        &self,
        rules: (u8, u8),
        region: &Region,
        inputs: &[&TensorType],
        inits: &[&TensorType],
    ) -> Result<Vec<ElementType>> {
        let count = inputs.len();
        let found: Vec<Type> = region.params.iter().map(|p| p.1.clone()).collect();
        let inferred: Vec<Type> = inputs.iter().map(|t| scalar(&t.element)).collect();
        let doubled = [inferred.clone(), inferred].concat();
        let wrong = || {
            self.region_error(format!("its region takes ({})", TypeList(&found)))
                .expected(format!("({})", TypeList(&doubled)))
                .constraint(rules.0)
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
            if let Some(init) = inits.get(i)
                && !promotes(&init.element, &a.element)
            {
                return Err(self
                    .type_error(format!("initial value {i} has type {init}"))
                    .expected(format!("element type {}", a.element))
                    .constraint(rules.1));
            }
            elements.push(a.element.clone());
        }
        self.returns(rules.0, region, &elements.iter().map(scalar).collect::<Vec<_>>())?;
        Ok(elements)
    }

    pub(super) fn reduce(&self) -> Result<Vec<Want>> {
        let (inputs, inits) = self.reduction_operands([3, 1, 2])?;
        let dims = self.op.ints("dimensions")?;
        self.dims(4, "dimensions", dims, inputs[0].rank())?;
        self.unique(5, "dimensions", dims)?;
        let elements = self.accumulators((6, 2), &self.op.regions[0], &inputs, &inits)?;
        let results = inputs.iter().zip(&elements).map(|(input, element)| {
            let shape = extents(input);
            let kept = (0..shape.len()).filter(|at| !dims.contains(&(*at as i64))).map(|at| shape[at]);
            Want::tensor(kept.collect(), element, 7, 8)
        });
        Ok(results.collect())
    }

    /// Pairs of low and high padding, one for each of `count` dimensions.
    pub(super) fn padding_pairs(&self, rule: u8, name: &str, count: usize) -> Result<Vec<(i64, i64)>> {
        let Attribute::Dense(elements) = self.op.attribute(name)? else {
            return Err(self.attr_error(format!("'{name}' is no dense elements")));
        };
        let wanted = [count as i64, 2];
        let values = elements.to_i64s().filter(|_| elements.ty.static_shape().is_some_and(|s| s == wanted));
        match values {
            Some(values) => Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()),
            // Without dimensions there is nothing to pad, whatever the shape says.
            None if count == 0 && elements.is_empty() => Ok(Vec::new()),
            None => Err(self
                .attr_error(format!("'{name}' has type {}", elements.ty))
                .expected(format!("tensor<{count}x2xi64>"))
                .constraint(rule)),
        }
    }

    /// The window of this operation, one entry for each of `rank` dimensions; `first` is its first constraint.
    fn window(&self, rank: usize, first: u8, dilations: bool) -> Result<Window<'a>> {
        let mut rule = first;
        let mut list = |name: &'static str| -> Result<&'a [i64]> {
            let values = self.op.ints(name)?;
            self.length(rule, name, values.len(), rank, "dimensions of the operand")?;
            self.positive(rule + 1, name, values)?;
            rule += 2;
            Ok(values)
        };
        let (dimensions, strides) = (list("window_dimensions")?, list("window_strides")?);
        let (base_dilations, window_dilations): (&[i64], &[i64]) =
            if dilations { (list("base_dilations")?, list("window_dilations")?) } else { (&[], &[]) };
        let padding = self.padding_pairs(rule, "padding", rank)?;
        Ok(Window { dimensions, strides, base_dilations, window_dilations, padding })
    }

    pub(super) fn reduce_window(&self) -> Result<Vec<Want>> {
        let (inputs, inits) = self.reduction_operands([1, 2, 3])?;
        let window = self.window(inputs[0].rank(), 4, true)?;
        let elements = self.accumulators((13, 3), &self.op.regions[0], &inputs, &inits)?;
        let first: Option<Vec<Ext>> =
            self.op.results.first().and_then(|v| self.module.tensor(*v)).map(extents);
        for (i, value) in self.op.results.iter().enumerate().skip(1) {
            if let (Some(found), Some(first)) = (self.module.tensor(*value), &first) {
                self.same_shape(14, format_args!("result {i}"), found, first)?;
            }
        }
        let results = inputs.iter().zip(&elements);
        Ok(results.map(|(input, e)| Want::tensor(positions(input, &window), e, 15, 16)).collect())
    }

    pub(super) fn select_and_scatter(&self) -> Result<Vec<Want>> {
        let (operand, source, init) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        let window = self.window(operand.rank(), 4, false)?;
        self.same_element(1, "the source", source, &operand.element)?;
        self.scalar(0, "the initial value", init)?;
        if !promotes(&operand.element, &init.element) {
            self.same_element(3, "the initial value", init, &operand.element)?;
        }
        self.same_shape(2, "the source", source, &positions(operand, &window))?;
        let element = scalar(&operand.element);
        let select = &self.op.regions[0];
        self.params(9, select, &[element.clone(), element])?;
        self.returns(9, select, &[scalar(&ElementType::I1)])?;
        let elements = self.accumulators((10, 3), &self.op.regions[1], &[operand], &[init])?;
        Ok(vec![Want::tensor(extents(operand), &elements[0], 11, 12)])
    }
}

/// Shape of the positions of a window in an operand.
fn positions(operand: &TensorType, window: &Window<'_>) -> Vec<Ext> {
    let or_one = |list: &[i64], i: usize| list.get(i).copied().unwrap_or(1);
    let position = |(i, ext): (usize, Ext)| {
        let size = dilated(window.dimensions[i], or_one(window.window_dilations, i));
        let base = or_one(window.base_dilations, i);
        ext.map(|n| windows(dilated(n as i64, base), window.padding[i], size, window.strides[i]))
    };
    extents(operand).into_iter().enumerate().map(position).collect()
}

/// Whether values of a type may be accumulated in another: the same or a wider one of its kind, where integers are of
/// one kind whether signed or not. As in MLIR, floats of any width fit each other.
pub(super) fn promotes(from: &ElementType, to: &ElementType) -> bool {
    if let (Some(a), Some(b)) = (from.quantized(), to.quantized()) {
        return a.expressed == b.expressed && a.storage_bits <= b.storage_bits;
    }
    let kind = |ty: &ElementType| match ty.class() {
        ElementClass::Bool | ElementClass::Unsigned => ElementClass::Signed,
        class => class,
    };
    from == to
        || (kind(from) == kind(to)
            && !matches!(from.class(), ElementClass::Other | ElementClass::Quantized)
            && (from.class() == ElementClass::Float || from.bits() <= to.bits()))
}
