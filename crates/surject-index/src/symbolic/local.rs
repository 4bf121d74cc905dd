//! Expressions over the operands of one operation, and over the sizes of a program (seed 002: `DimExpr` and `SymDim`).
//!
//! An operation says how the sizes of its results follow from those of its operands: `in0.1*in1.2`, where `in0` is its
//! first operand. [`Extent::over`] puts in what is known of the operands, with its guarantee; [`Extent::local`] goes
//! back, to parameters of the operation that a run resolves by its operands alone.

use super::facts::{Facts, Relation};
use crate::{Extent, ExtentExpr, ShapeExtent};
use std::sync::Arc;
use thiserror::Error;

/// A size that the operands of an operation do not give.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{primitive}` cannot resolve {field}: the size `{size}` comes from none of its operands")]
pub struct UnresolvableExtent {
    /// The operation.
    pub primitive: String,
    /// The part of it that needs the size.
    pub field: String,
    /// The size.
    pub size: Extent,
}

impl Extent {
    /// What is known of the size that this expression over operands gives, by the calculus of guarantees. A size or
    /// scalar that no operand has is unknown.
    pub fn over(&self, operands: &[Vec<ShapeExtent>], facts: &Facts) -> ShapeExtent {
        let of = |atom: &Arc<ExtentExpr>| match &**atom {
            ExtentExpr::InputAxis { input, axis } => {
                let axes = operands.get(*input);
                axes.and_then(|axes| axes.get(*axis)).cloned().unwrap_or(ShapeExtent::Unknown)
            }
            ExtentExpr::Symbol(_) => ShapeExtent::Exact(Extent::Expr(atom.clone())),
            // The value of an operand is no size of the program.
            _ => ShapeExtent::Unknown,
        };
        self.known(&of, facts).0
    }

    /// What is known of the size of an expression, where `of` says what is known of the sizes and scalars in it: a bound of
    /// one of these bounds the whole only where the calculus of guarantees says so.
    pub fn guaranteed(&self, of: &dyn Fn(&Arc<ExtentExpr>) -> ShapeExtent, facts: &Facts) -> ShapeExtent {
        self.known(of, facts).0
    }

    /// What is known of the value, and whether it is certain not to be negative. The calculus is one of sizes; an
    /// intermediate result that may be negative bounds nothing that it is taken from, multiplied with or divided.
    fn known(&self, of: &dyn Fn(&Arc<ExtentExpr>) -> ShapeExtent, facts: &Facts) -> (ShapeExtent, bool) {
        let Extent::Expr(expr) = self else { return (ShapeExtent::Exact(self.clone()), true) };
        let Some([a, b]) = expr.operands() else { return (of(expr), true) };
        let ((a, a_is_size), (b, b_is_size)) = (a.known(of, facts), b.known(of, facts));
        let are_exact = a.is_exact() && b.is_exact();
        let are_sizes = a_is_size && b_is_size;
        let only_if = |sound: bool, known: ShapeExtent| if sound { known } else { ShapeExtent::Unknown };
        let (known, is_size) = match &**expr {
            ExtentExpr::Add(..) => (a.sum(&b), are_sizes),
            ExtentExpr::Sub(..) => (only_if(b.is_exact() || b_is_size, a.difference(&b)), false),
            ExtentExpr::Mul(..) => (only_if(are_exact || are_sizes, a.product(&b)), are_sizes),
            ExtentExpr::FloorDiv(..) => {
                let at_least = match &b {
                    ShapeExtent::Exact(size) => u64::from(facts.is_positive(size).is_yes()),
                    _ => 0,
                };
                (only_if(b.is_exact() || a_is_size, a.floor_div(&b, at_least)), are_sizes)
            }
            ExtentExpr::Min(..) => (a.min(&b), are_sizes),
            ExtentExpr::Max(..) => (a.max(&b), a_is_size || b_is_size),
            ExtentExpr::Symbol(_) | ExtentExpr::InputAxis { .. } | ExtentExpr::RuntimeScalar { .. } => {
                (ShapeExtent::Unknown, false)
            }
        };
        let is_size = is_size
            || match &known {
                ShapeExtent::Exact(size) => facts.compare(&Extent::Const(0), Relation::Le, size).is_yes(),
                _ => false,
            };
        (known, is_size)
    }

    /// The same size as an expression over the axes of operands with these exact sizes, by which a run resolves it.
    ///
    /// # Errors
    /// A part of the expression that no axis of an operand has.
    pub fn local(
        &self,
        operands: &[Vec<ShapeExtent>],
        facts: &Facts,
        primitive: &str,
        field: &str,
    ) -> Result<Extent, UnresolvableExtent> {
        if self.as_const().is_some() {
            return Ok(self.clone());
        }
        let is_this = |extent: &ShapeExtent| match extent {
            ShapeExtent::Exact(size) => facts.same(size, self).is_yes(),
            _ => false,
        };
        for (input, axes) in operands.iter().enumerate() {
            if let Some(axis) = axes.iter().position(is_this) {
                return Ok(Extent::input_axis(input, axis));
            }
        }
        let fail = || UnresolvableExtent {
            primitive: primitive.to_string(),
            field: field.to_string(),
            size: self.clone(),
        };
        let Extent::Expr(expr) = self else { return Err(fail()) };
        let [a, b] = expr.operands().ok_or_else(fail)?;
        let of = |e: &Extent| e.local(operands, facts, primitive, field);
        expr.of_operands(of(a)?, of(b)?).ok_or_else(fail)
    }

    /// The expression with sizes and scalars replaced; those that `by` gives nothing for stay.
    pub fn replaced(&self, by: &dyn Fn(&Arc<ExtentExpr>) -> Option<Extent>) -> Extent {
        let Extent::Expr(expr) = self else { return self.clone() };
        let Some([a, b]) = expr.operands() else { return by(expr).unwrap_or_else(|| self.clone()) };
        expr.of_operands(a.replaced(by), b.replaced(by)).unwrap_or_else(|| self.clone())
    }
}
