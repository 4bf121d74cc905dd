//! Rules of operations that work element by element.

use std::fmt::Display;

use super::infer::{Element, Want};
use super::shape::{Ext, extents, fits, merge};
use super::{Checked, Result, scalar};
use crate::attr::Attribute;
use crate::table::{Elements, OpSpec, Rule};
use crate::types::{ElementClass, ElementType, TensorType, Type};

impl<'a> Checked<'a> {
    /// The operands, which have one shape, and that shape.
    fn one_shape(&self, rule: u8) -> Result<(Vec<&'a TensorType>, Vec<Ext>)> {
        let operands = self.operands(0..self.op.operands.len())?;
        let mut shape = extents(operands[0]);
        for (i, operand) in operands.iter().enumerate().skip(1) {
            self.same_shape(rule, format_args!("operand {i}"), operand, &shape)?;
            shape = merge(&shape, &extents(operand));
        }
        Ok((operands, shape))
    }

    /// Whether the operation is elementwise on operands of one type that it takes, and gives that type: then nothing is
    /// wrong with it. Most operations of most programs are so.
    pub(super) fn is_of_one_type(&self, spec: &OpSpec) -> bool {
        let elements = match spec.rule {
            Rule::Elementwise(elements) => elements,
            Rule::Accurate if !self.op.attributes.contains("result_accuracy") => Elements::FloatOrComplex,
            Rule::Add => Elements::Any,
            _ => return false,
        };
        let mut types = self.op.operands.iter().chain(&self.op.results).map(|v| self.module.ty(*v));
        let Some(Type::Tensor(first)) = types.next() else { return false };
        // The verifier has more to say of types without a class, and of those that are no element types.
        let plain = !matches!(first.element.class(), ElementClass::Quantized | ElementClass::Other)
            && !matches!(first.element, ElementType::TF32 | ElementType::Index);
        plain
            && wanted_class(first.element.class(), elements).is_none()
            && types.all(|ty| matches!(ty, Type::Tensor(tensor) if tensor == first))
    }

    /// (C1): operands and result have one type but for scales and zero points.
    pub(super) fn elementwise(&self, elements: Elements) -> Result<Vec<Want>> {
        let (operands, shape) = self.one_shape(1)?;
        for (i, operand) in operands.iter().enumerate() {
            self.element_class(format_args!("operand {i}"), operand, elements)?;
            self.same_baseline(1, format_args!("operand {i}"), operand, &operands[0].element)?;
        }
        Ok(vec![Want::baseline(shape, &operands[0].element, 1, 1)])
    }

    /// An elementwise function with an accuracy attribute.
    pub(super) fn accurate(&self) -> Result<Vec<Want>> {
        if let Some(Attribute::ResultAccuracy(accuracy)) = self.op.attributes.get("result_accuracy") {
            let (atol, rtol, ulps) = (accuracy.atol, accuracy.rtol, accuracy.ulps);
            let negative = atol < 0.0 || rtol < 0.0 || ulps < 0;
            let given = atol != 0.0 || rtol != 0.0 || ulps != 0;
            if negative || (given && accuracy.mode != "TOLERANCE") {
                return Err(self
                    .attr_error(format!(
                        "the accuracy atol = {atol}, rtol = {rtol}, ulps = {ulps} with mode {}",
                        accuracy.mode
                    ))
                    .expected("tolerances of 0 or more, and of 0 unless the mode is TOLERANCE")
                    .constraint(2));
            }
        }
        self.elementwise(Elements::FloatOrComplex)
    }

    /// (C1) for plain tensors; (C2) to (C7) for quantized ones, which may differ in scales.
    pub(super) fn add(&self) -> Result<Vec<Want>> {
        let (operands, shape) = self.one_shape(1)?;
        let (lhs, rhs) = (operands[0], operands[1]);
        let result = self.op.results.first().and_then(|v| self.module.tensor(*v));
        let all: Vec<&TensorType> = [lhs, rhs].into_iter().chain(result).collect();
        if all.iter().all(|t| t.element.quantized().is_none()) {
            self.same_element(1, "operand 1", rhs, &lhs.element)?;
            return Ok(vec![Want::tensor(shape, &lhs.element, 1, 1)]);
        }
        let list = || all.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
        let wrong = |rule: u8, expected: &str| {
            Err(self.type_error(format!("the types {}", list())).expected(expected).constraint(rule))
        };
        let Some(q) = all.iter().map(|t| t.element.quantized()).collect::<Option<Vec<_>>>() else {
            return wrong(2, "quantized types for operands and result");
        };
        if q.iter().any(|t| t.storage != q[0].storage) {
            return wrong(3, "one storage type");
        }
        if q.iter().any(|t| t.expressed != q[0].expressed) {
            return wrong(4, "one expressed type");
        }
        if let [a, b, c] = q.as_slice() {
            if (a.is_per_axis() || b.is_per_axis()) != c.is_per_axis() {
                return wrong(5, "a result that is quantized per axis if an operand is");
            }
            for (rule, operand) in [(6, a), (7, b)] {
                if operand.is_per_axis() && operand.dimension != c.dimension {
                    return wrong(rule, "one quantization dimension");
                }
            }
        }
        Ok(vec![Want::shape(shape, 1)])
    }

    pub(super) fn element_class(
        &self,
        what: impl Display,
        ty: &TensorType,
        elements: Elements,
    ) -> Result<()> {
        match wanted_class(ty.element.class(), elements) {
            Some(wanted) => Err(self.type_error(format!("{what} has type {ty}")).expected(wanted)),
            None => Ok(()),
        }
    }

    pub(super) fn predicate(&self, elements: Elements) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.element_class("the operand", operand, elements)?;
        Ok(vec![Want::tensor(extents(operand), &ElementType::I1, 1, 0)])
    }

    pub(super) fn same_shape_rule(&self) -> Result<Vec<Want>> {
        Ok(vec![Want::shape(extents(self.operand(0)?), 1)])
    }

    pub(super) fn reduce_precision(&self) -> Result<Vec<Want>> {
        self.at_least(2, "exponent_bits", &[self.op.int("exponent_bits")?], 1)?;
        self.at_least(3, "mantissa_bits", &[self.op.int("mantissa_bits")?], 0)?;
        self.elementwise(Elements::Float)
    }

    pub(super) fn uniform_quantize(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let expressed = match operand.element.quantized() {
            Some(q) => q.expressed.clone(),
            None => {
                self.element_class("the operand", operand, Elements::Float)?;
                operand.element.clone()
            }
        };
        if let Some(result) = self.op.results.first().and_then(|v| self.module.tensor(*v)) {
            let message = format!("the operand has type {operand}, the result {result}");
            match result.element.quantized() {
                None => return Err(self.type_error(message).expected("a quantized result")),
                Some(q) if q.expressed != expressed => {
                    return Err(self
                        .type_error(message)
                        .expected(format!("a result that expresses {expressed}"))
                        .constraint(2));
                }
                Some(_) => {}
            }
        }
        Ok(vec![Want::shape(extents(operand), 1)])
    }

    pub(super) fn uniform_dequantize(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let Some(q) = operand.element.quantized() else {
            return Err(self
                .type_error(format!("the operand has type {operand}"))
                .expected("a quantized element type"));
        };
        Ok(vec![Want::tensor(extents(operand), &q.expressed, 1, 2)])
    }

    pub(super) fn abs(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.element_class("the operand", operand, Elements::SignedFloatOrComplex)?;
        Ok(vec![Want::baseline(extents(operand), &operand.element.real_part(), 1, 2)])
    }

    pub(super) fn real_part(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.element_class("the operand", operand, Elements::FloatOrComplex)?;
        Ok(vec![Want::tensor(extents(operand), &operand.element.real_part(), 1, 2)])
    }

    pub(super) fn complex(&self) -> Result<Vec<Want>> {
        let (operands, shape) = self.one_shape(1)?;
        self.same_element(1, "operand 1", operands[1], &operands[0].element)?;
        match operands[0].element.complex_of() {
            Some(element) => Ok(vec![Want::tensor(shape, &element, 2, 3)]),
            None => Err(self
                .type_error(format!("operand 0 has type {}", operands[0]))
                .expected("element type f32 or f64")),
        }
    }

    pub(super) fn bitcast_convert(&self) -> Result<Vec<Want>> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        if operand.element.is_complex() != result.element.is_complex() {
            return Err(self
                .type_error(format!("{operand} as {result}"))
                .expected("both types complex, or neither")
                .constraint(2));
        }
        let bits = |ty: &TensorType| match ty.element.quantized() {
            Some(q) => Some(q.storage_bits),
            None => ty.element.bits(),
        };
        let (Some(from), Some(to)) = (bits(operand), bits(result)) else { return Ok(vec![Want::Any]) };
        let (a, b) = (extents(operand), extents(result));
        let fit = match from.cmp(&to) {
            std::cmp::Ordering::Equal => fits(&a, &b),
            // The wider type's shape, and one more dimension that holds its parts.
            std::cmp::Ordering::Greater => has_parts(&b, &a, from / to) && from % to == 0,
            std::cmp::Ordering::Less => has_parts(&a, &b, to / from) && to % from == 0,
        };
        if fit {
            return Ok(vec![Want::Any]);
        }
        Err(self
            .type_error(format!("{operand} does not have the bits of {result}"))
            .expected(
                "equal shapes for equal widths, else a last dimension of as many parts as the widths' ratio",
            )
            .constraint(1))
    }

    pub(super) fn compare(&self) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.same_baseline(1, "operand 1", b, &a.element)?;
        let (_, shape) = self.one_shape(2)?;
        self.comparison_type(a, 3)?;
        Ok(vec![Want::tensor(shape, &ElementType::I1, 2, 0)])
    }

    /// Checks that the comparison type is one for the elements.
    pub(super) fn comparison_type(&self, a: &TensorType, rule: u8) -> Result<()> {
        let Some(kind) = self.op.compare_type() else { return Ok(()) };
        let wanted: &[&str] = match a.element.class() {
            ElementClass::Float => &["FLOAT", "TOTALORDER"],
            ElementClass::Signed => &["SIGNED"],
            ElementClass::Unsigned | ElementClass::Bool => &["UNSIGNED"],
            ElementClass::Complex => &["FLOAT"],
            _ => return Ok(()),
        };
        if kind == "NOTYPE" || wanted.contains(&kind) {
            return Ok(());
        }
        Err(self
            .attr_error(format!("comparison type {kind} for {a}"))
            .expected(wanted.join(" or "))
            .constraint(rule))
    }

    pub(super) fn select(&self) -> Result<Vec<Want>> {
        let (predicate, a, b) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        self.same_element(0, "the predicate", predicate, &ElementType::I1)?;
        self.same_shape(2, "operand 2", b, &extents(a))?;
        self.same_baseline(2, "operand 2", b, &a.element)?;
        let mut shape = merge(&extents(a), &extents(b));
        if predicate.rank() != 0 {
            self.same_shape(1, "the predicate", predicate, &shape)?;
            shape = merge(&shape, &extents(predicate));
        }
        Ok(vec![Want::baseline(shape, &a.element, 2, 2)])
    }

    pub(super) fn clamp(&self) -> Result<Vec<Want>> {
        let operand = self.operand(1)?;
        let shape = extents(operand);
        for (i, rule, what) in [(0, 1, "the lower bound"), (2, 2, "the upper bound")] {
            let bound = self.operand(i)?;
            if bound.rank() != 0 {
                self.same_shape(rule, what, bound, &shape)?;
            }
            self.same_baseline(3, what, bound, &operand.element)?;
        }
        Ok(vec![Want::baseline(shape, &operand.element, 4, 4)])
    }

    pub(super) fn map(&self) -> Result<Vec<Want>> {
        let (operands, shape) = self.one_shape(1)?;
        let params: Vec<_> = operands.iter().map(|t| scalar(&t.element)).collect();
        let dimensions = self.op.ints("dimensions")?;
        let all: Vec<i64> = (0..operands[0].rank() as i64).collect();
        if dimensions != all {
            return Err(self
                .attr_error(format!("'dimensions' = {dimensions:?}"))
                .expected(format!("{all:?}"))
                .constraint(3));
        }
        let [region] = self.op.regions.as_slice() else { return Ok(vec![Want::Any]) };
        self.params(4, region, &params)?;
        let returned = self.returned(region)?;
        match returned.as_slice() {
            [one] => match one.as_tensor() {
                Some(tensor) if tensor.rank() == 0 => {
                    let element = Element::Is(tensor.element.clone());
                    Ok(vec![Want::Tensor { shape: Some(shape), element, rules: (1, 4) }])
                }
                _ => Err(self
                    .region_error(format!("its region returns {one}"))
                    .expected("a scalar")
                    .constraint(4)),
            },
            many => {
                let message = format!("its region returns {} values", many.len());
                Err(self.region_error(message).expected("one scalar").constraint(4))
            }
        }
    }
}

/// What is wanted where elements of the class are not taken.
fn wanted_class(class: ElementClass, elements: Elements) -> Option<&'static str> {
    use ElementClass as C;
    let (fits, wanted) = match elements {
        Elements::Any => (true, ""),
        Elements::FloatOrComplex => {
            (matches!(class, C::Float | C::Complex), "a float or complex element type")
        }
        Elements::Float => (class == C::Float, "a float element type"),
        Elements::Integer => (matches!(class, C::Signed | C::Unsigned), "an integer element type"),
        Elements::IntegerOrBool => {
            (matches!(class, C::Signed | C::Unsigned | C::Bool), "an integer or boolean element type")
        }
        Elements::NotBool => (class != C::Bool, "an element type other than i1"),
        Elements::SignedFloatOrComplex => (
            matches!(class, C::Signed | C::Float | C::Complex),
            "a signed integer, float or complex element type",
        ),
        Elements::NotComplex => (class != C::Complex, "a real element type"),
    };
    // Which operations take quantized types is a matter of their kinds.
    (!fits && !matches!(class, C::Quantized | C::Other)).then_some(wanted)
}

/// Whether `narrow` is `wide` and one more dimension of `parts`.
fn has_parts(narrow: &[Ext], wide: &[Ext], parts: u32) -> bool {
    match narrow.split_last() {
        Some((last, rest)) => fits(rest, wide) && last.fits(Ext::known(i64::from(parts))),
        None => false,
    }
}
