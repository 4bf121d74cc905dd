//! Loops of a plan.

use super::{KEPT, Planner, ProgramError, bytes};
use std::collections::HashSet;
use surject_codegen::CodegenError;
use surject_cuda::{Step, TensorId};
use surject_ir::{Function, Region, StatementKind, Var, uses};

impl Planner<'_> {
    /// A loop. What it carries, before, in and after it, is one tensor each.
    pub(super) fn repeat(
        &mut self,
        targets: &[Var],
        inits: &[Var],
        [cond, body]: [&Region; 2],
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let rounds = self.known.rounds(self.function, inits, [cond, body]);
        // A counter that only counts is not computed.
        let mut live = vec![true; inits.len()];
        if rounds.is_some() {
            let skipped;
            (live, skipped) = needed(self.function, &self.read, targets, body);
            self.skipped.extend(skipped);
        }
        let mut carried = Vec::new();
        for (i, (&target, &init)) in targets.iter().zip(inits).enumerate() {
            let from = self.get(init)?;
            // What every round gives on as it was is the tensor that the loop begins with.
            if body.body.results.get(i) == body.params.get(i) || !live[i] {
                self.places.insert(target, from);
                carried.push(from);
                continue;
            }
            let to = self.define(target)?;
            steps.push(Step::Copy { from, to });
            carried.push(to);
        }
        if rounds == Some(0) {
            return Ok(());
        }
        let stays = |i: usize| body.body.results.get(i) == body.params.get(i);
        let give = |planner: &mut Self, region: &Region| {
            planner.places.extend(region.params.iter().copied().zip(carried.iter().copied()));
            for (i, param) in region.params.iter().enumerate().filter(|&(i, _)| stays(i)) {
                if inits.get(i).is_some_and(|init| planner.once.contains(init)) {
                    planner.once.insert(*param);
                }
            }
        };
        let until = match rounds {
            Some(_) => None,
            None => {
                give(self, cond);
                Some(self.test(cond, &stays, steps)?)
            }
        };
        give(self, body);
        self.hoist(body, &stays, steps)?;
        let mut list = self.block(&body.body)?;
        let lives = body.body.results.iter().zip(&live);
        let results = lives.zip(&carried).map(|((&v, &live), &to)| if live { self.get(v) } else { Ok(to) });
        let results = results.collect::<Result<Vec<TensorId>, ProgramError>>()?;
        self.give_on(targets, &results, &carried, &mut list)?;
        match (rounds, until) {
            (Some(1), _) => steps.extend(list),
            (Some(count), _) => steps.push(Step::Repeat { count, body: list }),
            (None, Some((condition, test))) => steps.push(Step::While { condition, test, body: list }),
            (None, None) => {}
        }
        Ok(())
    }

    /// The steps that compute the condition of a loop, and what it is.
    fn test(
        &mut self,
        cond: &Region,
        stays: &dyn Fn(usize) -> bool,
        steps: &mut Vec<Step>,
    ) -> Result<(Vec<Step>, TensorId), ProgramError> {
        self.hoist(cond, stays, steps)?;
        let mut condition = self.block(&cond.body)?;
        let [test] = cond.body.results[..] else {
            let what = "a loop with a condition of several values".to_string();
            return Err(CodegenError::Malformed { what, origin: None }.into());
        };
        let test = self.typed(test, &mut condition)?;
        Ok((condition, test))
    }

    /// Copies the results of a round to what the loop carries. A carried value that another one becomes must not be
    /// overwritten first.
    fn give_on(
        &mut self,
        targets: &[Var],
        results: &[TensorId],
        carried: &[TensorId],
        list: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let mut late = Vec::new();
        for ((&target, &from), &to) in targets.iter().zip(results).zip(carried) {
            if from == to {
                continue;
            }
            if carried.contains(&from) {
                let ty = self.function.ty(target).clone();
                let between = self.fresh(&format!("{}.next", self.function.name_of(target)), &ty)?;
                list.push(Step::Copy { from, to: between });
                late.push(Step::Copy { from: between, to });
            } else {
                late.push(Step::Copy { from, to });
            }
        }
        list.extend(late);
        Ok(())
    }

    /// Puts assignments of a region before its loop that read nothing which the loop changes. Kernels have no effect but what
    /// they write, so they may also run where the loop does not.
    fn hoist(
        &mut self,
        region: &Region,
        stays: &dyn Fn(usize) -> bool,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let changed = region.params.iter().enumerate().filter(|&(i, _)| !stays(i)).map(|(_, &p)| p);
        let mut own: HashSet<Var> = changed.collect();
        own.extend(region.body.statements.iter().flat_map(|s| s.targets().iter().copied()));
        for statement in &region.body.statements {
            let StatementKind::Store { target, field } = statement.kind else { continue };
            let small = bytes(self.function.ty(target)).is_some_and(|bytes| bytes <= KEPT);
            if small && !uses::tensors(&self.function.fields, field).iter().any(|v| own.contains(v)) {
                own.remove(&target);
                self.statement(statement, steps)?;
                self.skipped.insert(target);
            }
        }
        Ok(())
    }
}

/// Which carried values of a loop are needed, and the variables of a round that are not.
fn needed(
    function: &Function,
    read: &HashSet<Var>,
    targets: &[Var],
    body: &Region,
) -> (Vec<bool>, HashSet<Var>) {
    let mut live: Vec<bool> = targets.iter().map(|target| read.contains(target)).collect();
    loop {
        let results = body.body.results.iter().zip(&live).filter(|(_, live)| **live);
        let mut used: HashSet<Var> = results.map(|(&v, _)| v).collect();
        let mut skipped = HashSet::new();
        for statement in body.body.statements.iter().rev() {
            match statement.targets().iter().any(|target| used.contains(target)) {
                true => uses::statement(&function.fields, statement, &mut used),
                false => skipped.extend(statement.targets().iter().copied()),
            }
        }
        let before = live.clone();
        body.params.iter().zip(&mut live).for_each(|(param, live)| *live |= used.contains(param));
        if live == before {
            return (live, skipped);
        }
    }
}
