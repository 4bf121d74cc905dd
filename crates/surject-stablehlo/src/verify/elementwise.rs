//! Rules of operations that work element by element.

use super::{Checked, Result, compatible, scalar};
use crate::diagnostic::codes;
use crate::table::Elements;
use crate::types::{Dim, ElementClass, ElementType, TensorType};

impl Checked<'_> {
    pub(super) fn elementwise(&self, elements: Elements) -> Result<()> {
        let result = self.result(0)?;
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.expect_shape(&format!("operand {i}"), operand, &result.shape)?;
            // The arithmetic of quantized types is typed by their scales, which are text here.
            let quantized = [operand, result].iter().any(|t| t.element.class() == ElementClass::Quantized);
            if !quantized && operand.element != result.element {
                return Err(self
                    .type_error(format!("operand {i} has type {operand}, the result {result}"))
                    .expected("one element type for operands and result"));
            }
        }
        self.expect_elements(result, elements)
    }

    fn expect_elements(&self, ty: &TensorType, elements: Elements) -> Result<()> {
        use ElementClass as C;
        let class = ty.element.class();
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
        if fits || matches!(class, C::Quantized | C::Other) {
            return Ok(());
        }
        Err(self.type_error(format!("the type {ty}")).expected(wanted))
    }

    pub(super) fn predicate(&self, elements: Elements) -> Result<()> {
        let operand = self.operand(0)?;
        self.expect_elements(operand, elements)?;
        self.expect_result(0, &operand.shape, &ElementType::I1)
    }

    pub(super) fn same_shape_rule(&self) -> Result<()> {
        let result = self.result(0)?;
        self.expect_shape("the operand", self.operand(0)?, &result.shape)
    }

    pub(super) fn abs(&self) -> Result<()> {
        let operand = self.operand(0)?;
        self.expect_elements(operand, Elements::SignedFloatOrComplex)?;
        if operand.element.class() == ElementClass::Quantized {
            return self.same_shape_rule();
        }
        self.expect_result(0, &operand.shape, &operand.element.real_part())
    }

    pub(super) fn real_part(&self) -> Result<()> {
        let operand = self.operand(0)?;
        self.expect_elements(operand, Elements::FloatOrComplex)?;
        self.expect_result(0, &operand.shape, &operand.element.real_part())
    }

    pub(super) fn complex(&self) -> Result<()> {
        let (re, im) = (self.operand(0)?, self.operand(1)?);
        self.expect_shape("operand 1", im, &re.shape)?;
        self.expect_element("operand 1", im, &re.element)?;
        match re.element.complex_of() {
            Some(element) => self.expect_result(0, &re.shape, &element),
            None => {
                Err(self.type_error(format!("operand 0 has type {re}")).expected("element type f32 or f64"))
            }
        }
    }

    pub(super) fn bitcast_convert(&self) -> Result<()> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        let (Some(from), Some(to)) = (operand.element.bits(), result.element.bits()) else { return Ok(()) };
        let fits = match from.cmp(&to) {
            std::cmp::Ordering::Equal => compatible(&operand.shape, &result.shape),
            // The wider type's shape, and one more dimension that holds its parts.
            std::cmp::Ordering::Greater => {
                has_parts(&result.shape, &operand.shape, from / to) && from % to == 0
            }
            std::cmp::Ordering::Less => has_parts(&operand.shape, &result.shape, to / from) && to % from == 0,
        };
        if fits {
            return Ok(());
        }
        Err(self.type_error(format!("{operand} does not have the bits of {result}")).expected(
            "equal shapes for equal widths, else a last dimension of as many parts as the widths' ratio",
        ))
    }

    pub(super) fn compare(&self) -> Result<()> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.expect_shape("operand 1", b, &a.shape)?;
        if a.element.class() != ElementClass::Quantized {
            self.expect_element("operand 1", b, &a.element)?;
        }
        self.expect_result(0, &a.shape, &ElementType::I1)?;
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
        Err(self.attr_error(format!("comparison type {kind} for {a}")).expected(wanted.join(" or ")))
    }

    pub(super) fn select(&self) -> Result<()> {
        let (predicate, a, b) = (self.operand(0)?, self.operand(1)?, self.operand(2)?);
        self.expect_element("the predicate", predicate, &ElementType::I1)?;
        if predicate.rank() != 0 {
            self.expect_shape("the predicate", predicate, &a.shape)?;
        }
        self.expect_shape("operand 2", b, &a.shape)?;
        self.expect_element("operand 2", b, &a.element)?;
        self.expect_result(0, &a.shape, &a.element)
    }

    pub(super) fn clamp(&self) -> Result<()> {
        let operand = self.operand(1)?;
        for (i, what) in [(0, "the lower bound"), (2, "the upper bound")] {
            let bound = self.operand(i)?;
            if bound.rank() != 0 {
                self.expect_shape(what, bound, &operand.shape)?;
            }
            self.expect_element(what, bound, &operand.element)?;
        }
        self.expect_result(0, &operand.shape, &operand.element)
    }

    pub(super) fn map(&self) -> Result<()> {
        let first = self.operand(0)?;
        let mut params = Vec::new();
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.expect_shape(&format!("operand {i}"), operand, &first.shape)?;
            params.push(scalar(&operand.element));
        }
        let dimensions = self.op.ints("dimensions")?;
        let all: Vec<i64> = (0..first.rank() as i64).collect();
        if dimensions != all {
            return Err(self
                .attr_error(format!("'dimensions' = {dimensions:?}"))
                .expected(format!("{all:?}")));
        }
        let [region] = self.op.regions.as_slice() else { return Ok(()) };
        self.expect_params(region, &params)?;
        let returned = self.returned(region)?;
        match returned.as_slice() {
            [one] if one.as_tensor().is_some_and(|t| t.rank() == 0) => {
                let element = one.as_tensor().map(|t| t.element.clone()).unwrap_or(ElementType::F32);
                self.expect_result(0, &first.shape, &element)
            }
            _ => Err(self.error(codes::OP_REGION, "its region does not return one scalar")),
        }
    }
}

/// Whether `narrow` is `wide` and one more dimension of `parts`.
fn has_parts(narrow: &[Dim], wide: &[Dim], parts: u32) -> bool {
    match narrow.split_last() {
        Some((last, rest)) => compatible(rest, wide) && last.compatible(Dim::Static(i64::from(parts))),
        None => false,
    }
}
