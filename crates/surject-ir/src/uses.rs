//! The variables that statements use.

use crate::{Block, FieldId, FieldKind, Fields, Region, Statement, StatementKind, Var};
use std::collections::HashSet;

/// The tensors that a stored field reads, each once.
pub fn tensors(fields: &Fields, root: FieldId) -> Vec<Var> {
    let reached = fields.reachable(&[root]);
    let tensor = |&id: &FieldId| match fields[id].kind {
        FieldKind::Tensor(var) => Some(var),
        _ => None,
    };
    reached.iter().filter_map(tensor).collect()
}

/// Adds the variables a statement uses and does not define inside, those of its regions included.
pub fn statement(fields: &Fields, statement: &Statement, used: &mut HashSet<Var>) {
    match &statement.kind {
        StatementKind::Store { field, .. } => used.extend(tensors(fields, *field)),
        StatementKind::Constant { .. } => {}
        StatementKind::Call { args, .. } => used.extend(args),
        StatementKind::While { inits, .. } => used.extend(inits),
        StatementKind::If { index, .. } => {
            used.insert(*index);
        }
    }
    for region in statement.regions() {
        used.extend(free(fields, region));
    }
}

/// The variables a region uses from around it, in ascending order.
pub fn free(fields: &Fields, region: &Region) -> Vec<Var> {
    let mut used = HashSet::new();
    block(fields, &region.body, &mut used);
    region.params.iter().for_each(|p| {
        used.remove(p);
    });
    let mut used: Vec<Var> = used.into_iter().collect();
    used.sort_unstable();
    used
}

/// Adds the variables a block uses and does not define.
fn block(fields: &Fields, block: &Block, used: &mut HashSet<Var>) {
    let mut all: HashSet<Var> = block.results.iter().copied().collect();
    block.statements.iter().for_each(|s| statement(fields, s, &mut all));
    block.statements.iter().flat_map(Statement::targets).for_each(|t| {
        all.remove(t);
    });
    used.extend(all);
}
