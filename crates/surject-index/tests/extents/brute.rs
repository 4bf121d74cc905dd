//! Brute force over small sizes.

use std::collections::BTreeMap;
use surject_index::{Extent, ExtentEnv, ExtentError, ExtentExpr, Fact, Facts, Relation, ScalarSemantics};

/// Values of declared sizes.
#[derive(Clone, Debug, Default)]
pub struct Sizes(pub BTreeMap<String, u64>);

impl ExtentEnv for Sizes {
    fn input_axis(&self, _: usize, _: usize) -> Option<u64> {
        None
    }

    fn runtime_scalar(&self, _: usize, _: ScalarSemantics) -> Option<u64> {
        None
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

/// The value as an integer, which may be negative; none where it is not defined.
pub fn integer(extent: &Extent, sizes: &Sizes) -> Option<i128> {
    match extent.eval(sizes) {
        Ok(value) => Some(value.into()),
        Err(ExtentError::Negative(_, value)) => Some(value),
        Err(ExtentError::DivByZero(_)) => None,
        Err(error) => panic!("{extent}: {error}"),
    }
}

/// Does the fact hold? None where a side is not defined.
pub fn holds(fact: &Fact, sizes: &Sizes) -> Option<bool> {
    let (left, right) = (integer(&fact.left, sizes)?, integer(&fact.right, sizes)?);
    Some(match fact.relation {
        Relation::Eq => left == right,
        Relation::Ne => left != right,
        Relation::Le => left <= right,
        Relation::Lt => left < right,
        Relation::Divides if left == 0 => right == 0,
        Relation::Divides => right % left == 0,
    })
}

pub fn symbols(extent: &Extent, into: &mut Vec<String>) {
    let Extent::Expr(expr) = extent else { return };
    match &**expr {
        ExtentExpr::Symbol(name) if !into.contains(&name.to_string()) => into.push(name.to_string()),
        _ => expr.operands().into_iter().flatten().for_each(|e| symbols(e, into)),
    }
}

/// Whether a claim is true, and whether it is false, for some sizes below `end` that satisfy the facts.
pub fn witnesses(claim: &Fact, facts: &Facts, end: u64) -> (bool, bool) {
    let mut names = Vec::new();
    for fact in facts.iter().chain([claim]) {
        symbols(&fact.left, &mut names);
        symbols(&fact.right, &mut names);
    }
    let (mut yes, mut no) = (false, false);
    let count = end.pow(names.len() as u32);
    for mut number in 0..count {
        let mut sizes = Sizes::default();
        for name in &names {
            sizes.0.insert(name.clone(), number % end);
            number /= end;
        }
        if facts.iter().all(|fact| holds(fact, &sizes) == Some(true)) {
            match holds(claim, &sizes) {
                Some(true) => yes = true,
                Some(false) => no = true,
                None => {}
            }
        }
        if yes && no {
            break;
        }
    }
    (yes, no)
}

pub fn divisors(extent: &Extent, into: &mut Vec<Extent>) {
    let Extent::Expr(expr) = extent else { return };
    if let ExtentExpr::FloorDiv(_, divisor) = &**expr {
        into.push(divisor.clone());
    }
    expr.operands().into_iter().flatten().for_each(|e| divisors(e, into));
}
