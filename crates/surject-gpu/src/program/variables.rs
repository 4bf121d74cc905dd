//! The variables that statements use.

use std::collections::{BTreeSet, HashMap, HashSet};
use surject_codegen::kernels::library::Call;
use surject_ir::{FieldKind, Function, Statement, StatementKind, Var, uses};

/// The variables that something reads, and the assignments of a function that no statement needs stored: kernels compute
/// their elements themselves.
pub(super) fn read(function: &Function) -> (HashSet<Var>, HashMap<Var, &Statement>) {
    let (mut read, mut stored) = (HashSet::new(), HashMap::new());
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        read.extend(block.results.iter().copied());
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    read.extend(uses::tensors(&function.fields, *field));
                    if let FieldKind::Const(_) | FieldKind::Index { .. } = function.fields[*field].kind {
                        stored.insert(*target, statement);
                    }
                }
                StatementKind::Constant { .. } => {}
                StatementKind::Call { args, .. } => {
                    let call = Call::of(function, statement);
                    read.extend(call.map_or_else(|| args.clone(), |call| call.reads()));
                }
                StatementKind::While { inits, .. } => read.extend(inits.iter().copied()),
                StatementKind::If { index, .. } => _ = read.insert(*index),
            }
            work.extend(statement.regions().iter().map(|r| &r.body));
        }
    }
    stored.retain(|var, _| !read.contains(var));
    (read, stored)
}

/// The variables that a statement uses and does not define: arguments of an operation, then others by their numbers.
pub(super) fn free_variables(function: &Function, whole: &Statement) -> Vec<Var> {
    let (mut used, mut own) = (BTreeSet::new(), HashSet::new());
    let mut work = vec![whole];
    while let Some(statement) = work.pop() {
        own.extend(statement.targets().iter().copied());
        match &statement.kind {
            StatementKind::Store { field, .. } => {
                used.extend(function.fields.reachable(&[*field]).into_iter().filter_map(|f| {
                    match function.fields[f].kind {
                        FieldKind::Tensor(var) => Some(var),
                        _ => None,
                    }
                }));
            }
            StatementKind::Constant { .. } => {}
            StatementKind::Call { args, .. } => used.extend(args.iter().copied()),
            StatementKind::While { inits, .. } => used.extend(inits.iter().copied()),
            StatementKind::If { index, .. } => {
                used.insert(*index);
            }
        }
        for region in statement.regions() {
            own.extend(region.params.iter().copied());
            used.extend(region.body.results.iter().copied());
            work.extend(&region.body.statements);
        }
    }
    // Arguments of an operation come first, in their order.
    let mut all: Vec<Var> = Vec::new();
    if let StatementKind::Call { args, .. } = &whole.kind {
        all.extend(args);
    }
    all.extend(used);
    let mut seen = HashSet::new();
    all.into_iter().filter(|var| !own.contains(var) && seen.insert(*var)).collect()
}
