//! From the statements of a function to the steps of its host function.
//!
//! Variables become buffers. The values a loop carries live in the buffers of its targets: the parameters of its
//! regions are those buffers, the initial values are copied into them and the next values after every iteration.
//! A library call that changes a part of an operand that dies shares its buffer; what else can share memory does so
//! afterwards (`coalesce`).

use crate::expression::dag::{Buf, buf};
use crate::expression::gather::Gathered;
use crate::expression::inline;
use crate::expression::uses::Uses;
use crate::kernels::native::Scheduled;
use crate::materialise::store::Stores;
use crate::materialise::{gathers, sunk_gather};
use crate::planned::kernel::Kernel;
use crate::program::hoist;
use crate::program::lowered::{Lowered, Step, root};
use crate::program::scheduled::MadeStatements;
use crate::{CodegenError, Target, library};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_ir::{Block, Buffer, Function, Statement, StatementKind, TensorType, Var};

/// Lowers the body of a function. No kernels run together yet.
pub(crate) fn lower(
    function: &Function,
    target: &Target,
    scheduled: Option<&Scheduled>,
) -> Result<Lowered, CodegenError> {
    let made = MadeStatements::of(function, scheduled)?;
    let alias = (0..function.vars.len() as u32).map(Buf).collect();
    let mut uses = Uses::new(function);
    let mut inlined = inline::find(function, &uses);
    inlined.retain(|&var, _| !made.stores(var));
    let mut positions = inline::positions(function, &uses);
    positions.retain(|&var, _| !made.stores(var));
    let excluded = |var: Var| inlined.contains_key(&var) || positions.contains_key(&var);
    let mut sunk = sunk_gather::find(function, &uses, &excluded, &inlined);
    sunk.retain(|&var, sunk| !made.stores(var) && !made.stores(sunk.operand));
    let computes = |call: &StatementKind, target: Var| {
        Gathered::of(function, call).is_some() && !sunk.contains_key(&target)
    };
    let mut indices = inline::indices(function, &uses, &inlined, &computes);
    indices.retain(|&var, _| !made.stores(var));
    uses.inline(&inlined);
    let operands = sunk.values().map(|sunk| (sunk.operand, sunk.field));
    uses.inline_in_calls(&indices.clone().into_iter().chain(operands).collect());
    let (temporaries, gathers) = (Vec::new(), HashMap::new());
    let known = Arc::default();
    let mut stores = Stores {
        function,
        target,
        scheduled,
        temporaries,
        inlined,
        positions,
        indices,
        gathers,
        sunk,
        known,
    };
    let excluded = |var: Var| stores.is_evaluated(var);
    stores.gathers = gathers::find(function, &uses, &excluded, &stores.indices, &stores.sunk);
    stores.gathers.retain(|&var, _| !made.stores(var));
    uses.inline_gathers(&stores.gathers);
    let mut walker =
        Walker { stores, uses, made, scheduled, kernels: Vec::new(), constants: Vec::new(), alias };
    let steps = walker.block(&function.body, &[])?;
    let mut types: Vec<TensorType> = function.vars.iter().map(|v| v.ty.clone()).collect();
    types.extend(walker.stores.temporaries);
    let Walker { kernels, constants, mut alias, .. } = walker;
    alias.extend((alias.len()..types.len()).map(|b| Buf(b as u32)));
    let mut lowered = Lowered { kernels, init: Vec::new(), steps, types, constants, alias };
    hoist::hoist(&mut lowered, &function.body.results)?;
    Ok(lowered)
}

struct Walker<'a> {
    stores: Stores<'a>,
    uses: Uses,
    /// The statements whose kernels come from the kernel IR, and who writes these.
    made: MadeStatements,
    scheduled: Option<&'a Scheduled>,
    kernels: Vec<Kernel>,
    constants: Vec<(Buf, Arc<Buffer>)>,
    alias: Vec<Buf>,
}

impl Walker<'_> {
    /// The steps of a block. `owned` are the parameters of its region, whose buffers it may overwrite.
    fn block(&mut self, block: &Block, owned: &[Var]) -> Result<Vec<Step>, CodegenError> {
        // What kernels of a block find out others may not know.
        let outside = self.stores.without_marks();
        let mut steps = Vec::new();
        for (i, statement) in block.statements.iter().enumerate() {
            self.statement(block, i, statement, owned, &mut steps)
                .map_err(|error| error.at(statement.origin.as_deref()))?;
        }
        self.stores.set_marks(outside);
        Ok(steps)
    }

    fn statement(
        &mut self,
        block: &Block,
        at: usize,
        statement: &Statement,
        owned: &[Var],
        steps: &mut Vec<Step>,
    ) -> Result<(), CodegenError> {
        if let (Some(&target), Some(scheduled)) = (statement.targets().first(), self.scheduled)
            && let Some(made) = self.made.get(target)
        {
            let temporaries: Vec<Buf> =
                made.temporaries.iter().map(|ty| self.stores.temporary(ty.clone())).collect();
            let kernels = made.kernels(target, &temporaries, scheduled)?;
            self.run(kernels, statement, steps);
            return Ok(());
        }
        match &statement.kind {
            StatementKind::Store { target, .. } if self.stores.is_evaluated(*target) => {}
            StatementKind::Store { target, field } => {
                let kernels = self.stores.store(buf(*target), *field)?;
                self.run(kernels, statement, steps);
            }
            StatementKind::Constant { target, value } => {
                self.constants.push((buf(*target), Arc::clone(value)));
            }
            StatementKind::Call { targets, .. }
                if targets.iter().any(|t| self.stores.gathers.contains_key(t)) => {}
            StatementKind::Call { targets, op, args, regions } => {
                let in_place = library::in_place_operands(op, args.len());
                let mut shared = Vec::new();
                for (&result, &operand) in targets.iter().zip(&args[..in_place.min(args.len())]) {
                    let dies = self.may_overwrite(block, at, operand, owned)
                        && args.iter().filter(|&&a| a == operand).count() == 1;
                    if dies {
                        self.alias[result.0 as usize] = buf(operand);
                    }
                    shared.push(dies);
                }
                let kernels = library::kernels(&mut self.stores, op, targets, args, regions, &shared)?;
                self.run(kernels, statement, steps);
            }
            StatementKind::While { targets, inits, cond, body } => {
                for (i, (&target, &init)) in targets.iter().zip(inits).enumerate() {
                    for region in [cond, body] {
                        let param = region
                            .params
                            .get(i)
                            .ok_or_else(|| CodegenError::malformed("a loop parameter"))?;
                        self.alias[param.0 as usize] = buf(target);
                    }
                    steps.push(Step::Copy { from: buf(init), to: buf(target) });
                }
                let condition = self.block(&cond.body, &[])?;
                let flag =
                    cond.body.results.first().ok_or_else(|| CodegenError::malformed("a loop condition"))?;
                let outside = self.stores.set_invariant(hoist::invariant_tensors(self.stores.function, body));
                let mut inner = self.block(&body.body, &body.params)?;
                self.stores.set_invariant(outside);
                self.assign(targets, &body.body.results, &mut inner);
                steps.push(Step::While { condition, flag: buf(*flag), body: inner, swaps: Vec::new() });
            }
            StatementKind::If { targets, index, branches } => {
                let mut lowered = Vec::new();
                // Nothing is moved out of a branch.
                let outside = self.stores.set_invariant(HashSet::new());
                for branch in branches {
                    let mut inner = self.block(&branch.body, &[])?;
                    self.assign(targets, &branch.body.results, &mut inner);
                    lowered.push(inner);
                }
                self.stores.set_invariant(outside);
                if lowered.is_empty() {
                    return Err(CodegenError::malformed("a choice without branches"));
                }
                steps.push(Step::If { index: buf(*index), branches: lowered });
            }
        }
        Ok(())
    }

    /// Appends the runs of kernels; a kernel with the code of an earlier one is that kernel.
    fn run(&mut self, kernels: Vec<Kernel>, statement: &Statement, steps: &mut Vec<Step>) {
        for kernel in kernels {
            let (buffers, writes) = (kernel.buffers.clone(), kernel.writes.clone());
            let output = writes.first().copied();
            let in_place = kernel.in_place.iter().filter_map(|&read| Some((read, output?))).collect();
            let copies = kernel.copies;
            // What a machine has yet to make is compared once it has.
            let is_made = kernel.rows.is_none();
            let same = |known: &Kernel| is_made && known.rows.is_none() && known.code() == kernel.code();
            let known = self.kernels.iter().position(same);
            let id = known.unwrap_or_else(|| {
                self.kernels.push(kernel);
                self.kernels.len() - 1
            });
            steps.push(Step::Run {
                kernel: id,
                buffers,
                writes,
                in_place,
                copies,
                origin: statement.origin.clone(),
            });
        }
    }

    fn memory(&self, of: Buf) -> Buf {
        root(&self.alias, of)
    }

    /// May a statement overwrite an operand? It must be the last use, and the memory must belong to this block.
    fn may_overwrite(&self, block: &Block, at: usize, operand: Var, owned: &[Var]) -> bool {
        let defined = block.statements[..at]
            .iter()
            .any(|s| !matches!(s.kind, StatementKind::Constant { .. }) && s.targets().contains(&operand));
        let memory = self.memory(buf(operand));
        let same = |v: &Var| self.memory(buf(*v)) == memory;
        // Whatever shares the memory counts as a use.
        let later = block.statements[at + 1..].iter().any(|s| self.uses.of(s).iter().any(same));
        (defined || owned.contains(&operand)) && !later && !block.results.iter().any(same)
    }

    /// Copies values to targets as if all at once.
    fn assign(&mut self, targets: &[Var], values: &[Var], steps: &mut Vec<Step>) {
        let places: Vec<Buf> = targets.iter().map(|&t| self.memory(buf(t))).collect();
        let mut last = Vec::new();
        for (i, &value) in values.iter().enumerate().take(places.len()) {
            let from = self.memory(buf(value));
            if from == places[i] {
                continue;
            }
            if places.contains(&from) {
                // It would be overwritten, or is read by another copy: it goes through a temporary.
                let ty = self.stores.function.ty(value).clone();
                let temporary = self.stores.temporary(ty);
                steps.push(Step::Copy { from, to: temporary });
                last.push(Step::Copy { from: temporary, to: places[i] });
            } else {
                last.push(Step::Copy { from, to: places[i] });
            }
        }
        steps.extend(last);
    }
}
