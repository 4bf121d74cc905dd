//! Sizes that the data of a run gives (seed 002, `DynamicTruncate`).
//!
//! A truncation by a scalar that the program computes declares the size of its result: a name, `u`, of which a program
//! knows no more than `u <= n` (the size before). Inside the function the name is as exact as any other; seen from
//! outside, a size that mentions it is a bound ([`Function::extents`]). A run computes the scalar, and from there on
//! the name has its value.

use crate::{Function, LibOp, Scalar, StatementKind, Var};
use std::collections::BTreeMap;
use std::sync::Arc;
use surject_index::{
    Extent, ExtentExpr, Fact, Facts, Relation, ScalarSemantics, ShapeExtent, UnsatisfiableFacts,
};
use surject_runtime::DType;

/// The sizes that the data of a run gave, by name.
pub type ComputedSizes = BTreeMap<Arc<str>, u64>;

/// A truncation that declares a size.
#[derive(Clone, Debug)]
pub struct Truncation {
    /// The size it declares.
    pub name: Arc<str>,
    /// The size before.
    pub before: Extent,
    /// What is truncated.
    pub operand: Var,
    /// What is left of it.
    pub target: Var,
    /// What the size is computed from, and how.
    pub scalar: Var,
    /// The rule.
    pub semantics: ScalarSemantics,
    /// The position of the statement in the function.
    pub position: usize,
}

/// The name, where a size is one.
pub(crate) fn name_of(size: &Extent) -> Option<&Arc<str>> {
    match size {
        Extent::Expr(expr) => match &**expr {
            ExtentExpr::Symbol(name) => Some(name),
            _ => None,
        },
        Extent::Const(_) => None,
    }
}

/// The size that the value of a scalar stands for; `None` for a type that the rule does not take.
pub fn size_of_scalar(value: Scalar, semantics: ScalarSemantics) -> Option<u64> {
    match semantics {
        ScalarSemantics::IntegerSize => {
            let value = value.as_i128()?.max(0);
            Some(u64::try_from(value).unwrap_or(u64::MAX))
        }
        ScalarSemantics::DynamicTruncateSize if matches!(value.dtype(), DType::F32 | DType::F64) => {
            let value = value.as_f64();
            // The cast saturates; a negative number becomes 0.
            Some(if value.is_finite() { value.round() as u64 } else { 0 })
        }
        ScalarSemantics::DynamicTruncateSize => None,
    }
}

impl Function {
    /// The truncations that declare a size, in order.
    pub fn truncations(&self) -> impl Iterator<Item = Truncation> + '_ {
        let one = |(position, kind): (usize, &StatementKind)| {
            let StatementKind::Call {
                op: LibOp::DynamicTruncate { axis, semantics, size },
                args,
                targets,
                ..
            } = kind
            else {
                return None;
            };
            let (name, &operand, &scalar) = (name_of(size)?.clone(), args.first()?, args.get(1)?);
            let &target = targets.first()?;
            let extents = self.vars.get(operand.0 as usize)?.ty.space.extents();
            // The verifier refuses an axis that is not there.
            let before = extents.get(*axis).cloned().unwrap_or(Extent::Const(0));
            let semantics = *semantics;
            Some(Truncation { name, before, operand, target, scalar, semantics, position })
        };
        self.body.statements.iter().map(|s| &s.kind).enumerate().filter_map(one)
    }

    /// Does the data of a run give the size of this name?
    pub fn is_computed(&self, name: &str) -> bool {
        self.truncations().any(|t| *t.name == *name)
    }

    /// Does a size depend on one that the data of a run gives?
    pub fn mentions_computed(&self, extent: &Extent) -> bool {
        let mut atoms = Default::default();
        extent.atoms(&mut atoms);
        atoms.iter().any(|atom| match &**atom {
            ExtentExpr::Symbol(name) => self.is_computed(name),
            _ => false,
        })
    }

    /// Lets fields that are added from here on use that a truncation, which the body has not got yet, gives at most what it
    /// is given.
    ///
    /// # Errors
    /// What is known of sizes contradicts that.
    pub fn assume_truncated(&mut self, op: &LibOp, args: &[Var]) -> Result<(), UnsatisfiableFacts> {
        let LibOp::DynamicTruncate { axis, size, .. } = op else { return Ok(()) };
        let operand = args.first().and_then(|a| self.vars.get(a.0 as usize));
        let Some(before) = operand.and_then(|info| info.ty.space.extents().get(*axis)) else { return Ok(()) };
        if name_of(size).is_none() {
            return Ok(());
        }
        let fact = Fact::new(size.clone(), Relation::Le, before.clone());
        let facts = self.fields.facts().cloned().unwrap_or_default().and(fact)?;
        self.fields.assume(facts);
        Ok(())
    }

    /// What holds of the sizes that data gives: they are at most the sizes before.
    pub(crate) fn facts_of_truncations(&self) -> impl Iterator<Item = Fact> + '_ {
        self.truncations().map(|t| Fact::new(Extent::symbol(&t.name), Relation::Le, t.before))
    }

    /// What is guaranteed of the sizes that data gives.
    pub(crate) fn guarantees(&self, facts: &Facts) -> BTreeMap<Arc<str>, ShapeExtent> {
        let mut known: BTreeMap<Arc<str>, ShapeExtent> = BTreeMap::new();
        for truncation in self.truncations() {
            let before = guaranteed(&truncation.before, &known, facts);
            known.insert(truncation.name, before.truncated(None));
        }
        known
    }
}

/// What is guaranteed of a size, where `known` says it of those that data gives.
pub(crate) fn guaranteed(
    extent: &Extent,
    known: &BTreeMap<Arc<str>, ShapeExtent>,
    facts: &Facts,
) -> ShapeExtent {
    if extent.as_const().is_some() || known.is_empty() {
        return ShapeExtent::Exact(extent.clone());
    }
    let of = |atom: &Arc<ExtentExpr>| {
        let computed = match &**atom {
            ExtentExpr::Symbol(name) => known.get(name),
            _ => None,
        };
        computed.cloned().unwrap_or_else(|| ShapeExtent::Exact(Extent::Expr(atom.clone())))
    };
    extent.guaranteed(&of, facts)
}
