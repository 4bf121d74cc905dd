//! Whether two modules are the same program, whatever their values are called, and whether or not they spell out what
//! holds where an attribute is missing.

use std::collections::HashMap;

use crate::artifact::is_default;
use crate::attr::Attribute;
use crate::module::{Function, Module, Op, Region, ValueId};

/// Pairs of values that stand for each other so far.
struct Matching<'a> {
    left: &'a Module,
    right: &'a Module,
    pairs: HashMap<ValueId, ValueId>,
}

pub(crate) fn same_module(left: &Module, right: &Module) -> bool {
    let mut matching = Matching { left, right, pairs: HashMap::new() };
    left.name == right.name
        && left.attributes == right.attributes
        && left.functions.len() == right.functions.len()
        && left.functions.iter().zip(&right.functions).all(|(a, b)| matching.function(a, b))
        && matching.ops(&left.other, &right.other)
}

impl Matching<'_> {
    fn function(&mut self, a: &Function, b: &Function) -> bool {
        a.name == b.name
            && a.visibility == b.visibility
            && a.results == b.results
            && a.attributes == b.attributes
            && a.params.len() == b.params.len()
            && a.params.iter().zip(&b.params).all(|(p, q)| p.attributes == q.attributes && p.ty == q.ty)
            && self.region(&a.body, &b.body)
    }

    fn region(&mut self, a: &Region, b: &Region) -> bool {
        a.params.len() == b.params.len()
            && a.params.iter().zip(&b.params).all(|(p, q)| p.1 == q.1 && self.define(p.0, q.0))
            && self.ops(&a.ops, &b.ops)
    }

    fn ops(&mut self, a: &[Op], b: &[Op]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(p, q)| self.op(p, q))
    }

    fn op(&mut self, a: &Op, b: &Op) -> bool {
        a.name == b.name
            && a.operands.len() == b.operands.len()
            && a.operands.iter().zip(&b.operands).all(|(p, q)| self.pairs.get(p) == Some(q))
            && same_attributes(a, b)
            && a.regions.len() == b.regions.len()
            && a.regions.iter().zip(&b.regions).all(|(p, q)| self.region(p, q))
            && a.results.len() == b.results.len()
            && a.results.iter().zip(&b.results).all(|(p, q)| self.define(*p, *q))
    }

    fn define(&mut self, a: ValueId, b: ValueId) -> bool {
        self.pairs.insert(a, b);
        self.left.ty(a) == self.right.ty(b)
    }
}

/// Whether two operations of one name have the same attributes but for those that say what holds without them.
fn same_attributes(a: &Op, b: &Op) -> bool {
    if a.attributes == b.attributes {
        return true;
    }
    let said = |op: &'_ Op, name: &str, value: &Attribute| !is_default(op.short_name(), name, value);
    let left = a.attributes.iter().filter(|(name, value)| said(a, name, value));
    let right = b.attributes.iter().filter(|(name, value)| said(b, name, value));
    left.eq(right)
}
