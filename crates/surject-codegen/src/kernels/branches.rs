//! Branches on one condition become one branch: quotients that share an inverse ask each by itself whether it is exact.

use std::collections::HashSet;
use surject_kernel::{Access, Kernel, Op, Region, Statement, Value};

/// The kernel with one branch in the place of several on one condition, where nothing but values depends on them.
pub fn joined(mut kernel: Kernel) -> Kernel {
    let mut body = std::mem::take(&mut kernel.body);
    region(&kernel, &mut body);
    kernel.body = body;
    kernel.renumbered()
}

fn region(kernel: &Kernel, within: &mut Region) {
    for statement in &mut within.body {
        match &mut statement.op {
            Op::For { body, .. } => region(kernel, body),
            Op::If { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|inner| region(kernel, inner));
            }
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let conditions = within.body.iter().filter_map(|s| branch(kernel, s)).collect::<Vec<Value>>();
    for condition in conditions {
        if seen.insert(condition) {
            join(kernel, condition, &mut within.body);
        }
    }
}

/// Does a statement give values alone, which are the same wherever it stands in its region?
fn is_movable(kernel: &Kernel, statement: &Statement) -> bool {
    match &statement.op {
        Op::Load { place, .. } => kernel.mem(place.mem).access == Access::Read,
        op => op.is_pure(),
    }
}

/// The condition of a branch that gives values alone.
fn branch(kernel: &Kernel, statement: &Statement) -> Option<Value> {
    match &statement.op {
        Op::If { condition, then, otherwise } => {
            let all = || then.body.iter().chain(&otherwise.body);
            all().all(|s| is_movable(kernel, s)).then_some(*condition)
        }
        _ => None,
    }
}

/// The values that an operation needs, those of its regions too.
fn needs(op: &Op) -> Vec<Value> {
    let mut all = op.operands();
    for region in op.regions() {
        all.extend(region.body.iter().flat_map(|s| needs(&s.op)));
        all.extend(&region.yields);
    }
    all
}

/// Makes one of the branches on a condition, the first of which all others join that need nothing of it: what they need
/// stands before it, and what needs them behind it.
fn join(kernel: &Kernel, condition: Value, body: &mut Vec<Statement>) {
    let is_own = |s: &Statement| branch(kernel, s) == Some(condition);
    let numbers: Vec<usize> = (0..body.len()).filter(|&i| is_own(&body[i])).collect();
    let (Some(&first), Some(&last), true) = (numbers.first(), numbers.last(), numbers.len() > 1) else {
        return;
    };
    // What is known behind the branch only.
    let mut late: HashSet<Value> = HashSet::new();
    let (mut before, mut behind, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut sides = [Region::default(), Region::default()];
    for statement in body.drain(first..=last) {
        let early = !needs(&statement.op).iter().any(|v| late.contains(v));
        if early && is_movable(kernel, &statement) {
            before.push(statement);
            continue;
        }
        late.extend(&statement.results);
        if !early || !is_own(&statement) {
            behind.push(statement);
            continue;
        }
        results.extend(statement.results);
        if let Op::If { then, otherwise, .. } = statement.op {
            for (side, part) in sides.iter_mut().zip([then, otherwise]) {
                side.body.extend(part.body);
                side.yields.extend(part.yields);
            }
        }
    }
    let [then, otherwise] = sides;
    before.push(Statement { results, op: Op::If { condition, then, otherwise } });
    before.extend(behind);
    body.splice(first..first, before);
}
