//! Which statements of a block matter. Every statement is a function of its operands, so one whose targets nobody
//! uses is left out.

use crate::import::needs;
use std::collections::{HashMap, HashSet};
use surject_ir::{Block, FieldId, FieldKind, Function, Statement, StatementKind, Var};

/// The statements of a block that its results need, in order.
pub fn live_statements<'a>(function: &Function, block: &'a Block) -> Vec<&'a Statement> {
    let mut needed: HashSet<Var> = block.results.iter().copied().collect();
    let mut kept: Vec<&Statement> = Vec::new();
    for statement in block.statements.iter().rev() {
        let declares = matches!(&statement.kind, StatementKind::Call { op, .. } if op.declares().is_some());
        if !declares && !statement.targets().iter().any(|t| needed.contains(t)) {
            continue;
        }
        match &statement.kind {
            StatementKind::Store { field, .. } => needed.extend(tensors(function, *field)),
            _ => needed.extend(needs(function, statement)),
        }
        kept.push(statement);
    }
    kept.reverse();
    kept
}

/// The variables that a field reads.
pub fn tensors(function: &Function, field: FieldId) -> Vec<Var> {
    let (mut seen, mut stack, mut result) = (HashSet::new(), vec![field], Vec::new());
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let kind = &function.fields[id].kind;
        if let FieldKind::Tensor(var) = kind {
            result.push(*var);
        }
        stack.extend(kind.children());
    }
    result
}

/// The blocks that a statement runs by its control flow. The scalar functions of library operations are none.
pub fn nested(statement: &mut Statement) -> Vec<&mut Block> {
    match &mut statement.kind {
        StatementKind::While { cond, body, .. } => vec![&mut cond.body, &mut body.body],
        StatementKind::If { branches, .. } => branches.iter_mut().map(|b| &mut b.body).collect(),
        _ => Vec::new(),
    }
}

/// The block without stores and literals that nobody uses, over the variables of the new function.
pub fn sweep(function: &Function, block: &mut Block) {
    let kept: Vec<Statement> = live_statements(function, block).into_iter().cloned().collect();
    block.statements = kept;
    for statement in &mut block.statements {
        nested(statement).into_iter().for_each(|b| sweep(function, b));
    }
}

/// The positions of the statements that define variables in other ways than by a store, from 1.
pub fn levels(statements: &[&Statement]) -> HashMap<Var, u32> {
    let mut result = HashMap::new();
    let mut level = 0;
    for statement in statements {
        if !matches!(statement.kind, StatementKind::Store { .. }) {
            level += 1;
            for &target in statement.targets() {
                result.insert(target, level);
            }
        }
    }
    result
}
