//! How many kernels of a function have to follow each other, however it is cut into kernels: reductions that need the
//! results of reductions of other blocks.

use super::chains::{Chained, chains, readers};
use crate::Gpu;
use std::collections::{HashMap, HashSet};
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::{AccOp, Block, FieldId, FieldKind, Function, StatementKind, Var, uses};

/// The reductions of a function that follow each other; of what becomes one kernel, one counts. What is no reduction can be
/// computed by a kernel that needs it. A loop counts its body once.
pub fn depth(function: &Function, gpu: &Gpu, given: &Schedules) -> usize {
    let readers = readers(function);
    let mut inside = HashSet::new();
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        work.extend(block.statements.iter().flat_map(|s| s.regions()).map(|r| &r.body));
        for (_, between, chosen) in chains(function, block, &readers, gpu, given) {
            if let Chained::One(_) = chosen.kernels {
                inside.extend(between.into_iter().flatten());
            }
        }
    }
    let mut depths = Depths { function, inside, of: HashMap::new(), most: 0 };
    depths.block(&function.body, 0);
    depths.most.max(1)
}

struct Depths<'a> {
    function: &'a Function,
    /// What is between the kernels that one replaces.
    inside: HashSet<Var>,
    of: HashMap<Var, usize>,
    most: usize,
}

impl Depths<'_> {
    fn at(&self, vars: impl IntoIterator<Item = Var>, least: usize) -> usize {
        vars.into_iter().filter_map(|v| self.of.get(&v).copied()).fold(least, usize::max)
    }

    fn block(&mut self, block: &Block, least: usize) {
        for statement in &block.statements {
            let depth = match &statement.kind {
                StatementKind::Constant { .. } => 0,
                StatementKind::Store { target, field } => {
                    let before = self.at(uses::tensors(&self.function.fields, *field), least);
                    before + usize::from(self.reduces(*field) && !self.inside.contains(target))
                }
                StatementKind::Call { args, .. } => self.at(args.iter().copied(), least) + 1,
                StatementKind::While { inits, cond, body, .. } => {
                    let before = self.at(inits.iter().copied(), least);
                    self.block(&cond.body, before);
                    self.block(&body.body, before);
                    self.at(body.body.results.iter().copied(), before)
                }
                StatementKind::If { index, branches, .. } => {
                    let before = self.at([*index], least);
                    branches.iter().for_each(|b| self.block(&b.body, before));
                    self.at(branches.iter().flat_map(|b| b.body.results.iter().copied()), before)
                }
            };
            self.most = self.most.max(depth);
            statement.targets().iter().for_each(|&t| _ = self.of.insert(t, depth));
        }
    }

    fn reduces(&self, field: FieldId) -> bool {
        let fields = &self.function.fields;
        fields
            .reachable(&[field])
            .into_iter()
            .any(|f| matches!(fields[f].kind, FieldKind::Acc { op, .. } if op != AccOp::Set))
    }
}
