//! The search of a large problem: what propagation left open falls into parts that have nothing to do with each other, and
//! each part that more than inequalities hold together is a small problem of its own.

use super::relations::Law;
use super::{Flags, Order, SEARCH_LIMIT, Solver, Task};
use crate::constraint::{Constraint, Role};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::{Fact, Origin};
use crate::renumber::Numbers;
use crate::row::{Row, RowVar};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Solver {
    /// Solves the parts that arithmetic or undetermined equations hold together, and binds what was found. `error` is
    /// what closing them at once gave.
    pub(super) fn search_parts(&mut self, error: ShapeError) -> Result<(), ShapeError> {
        let mut relations: Vec<u32> = self.waiting.clone();
        relations.sort_unstable();
        let equations: Vec<u32> = (0..self.pending.len() as u32)
            .filter(|n| {
                let pending = &self.pending[*n as usize];
                !pending.done && pending.order == Order::Equal
            })
            .collect();
        for relation in relations {
            if !self.relations[relation as usize].done {
                let (dims, mut rows) = self.relations[relation as usize].terms();
                rows.push(Row::closed(dims));
                self.solve_part(&rows, &error)?;
            }
        }
        for equation in equations {
            let pending = &self.pending[equation as usize];
            if !pending.done {
                let rows = [pending.a.clone(), pending.b.clone()];
                self.solve_part(&rows, &error)?;
            }
        }
        Ok(())
    }

    /// Solves what is connected with these rows.
    fn solve_part(&mut self, rows: &[Row], error: &ShapeError) -> Result<(), ShapeError> {
        let scope = self.component(rows);
        let log = self.residual(&scope.dims, &scope.rows, &scope.relations);
        if log.len() > SEARCH_LIMIT {
            return Err(ShapeError { kind: ShapeErrorKind::Undecided, guessed: true, ..error.clone() });
        }
        // In the order in which they were made, so that the part is closed as the whole would be.
        let mut numbers = Numbers::default();
        let (mut dims, mut rows) = (scope.dims.clone(), scope.rows.clone());
        dims.sort_unstable();
        rows.sort_unstable();
        dims.iter().for_each(|d| _ = numbers.dim_var(DimVar(*d)));
        rows.iter().for_each(|r| _ = numbers.row(&Row::open(RowVar(*r))));
        let log: Vec<_> = log.into_iter().map(|(c, origin)| (numbers.constraint(&c), origin)).collect();
        let mut part = if self.standing_markers {
            Solver::with_standing_markers()
        } else {
            Solver::with_exact_markers()
        };
        part.ordered_rows = self.ordered_rows;
        part.given = self.given.clone();
        numbers.dims.keys().for_each(|_| _ = part.fresh_dim());
        numbers.rows.keys().for_each(|_| _ = part.fresh_row());
        for (constraint, origin) in log {
            part.add(constraint, &origin)?;
        }
        part.close()?;
        let mut dims: Vec<(DimVar, DimVar)> = numbers.dims.into_iter().collect();
        let mut rows: Vec<(RowVar, RowVar)> = numbers.rows.into_iter().collect();
        dims.sort_unstable();
        rows.sort_unstable();
        for (var, inner) in dims {
            if let Some(value) = part.ground_dim(inner) {
                self.queue.push_back(Task::DimEq(var.into(), value.into(), Fact::TRIVIAL));
            }
        }
        for (var, inner) in rows {
            if let Some(value) = part.ground_row(inner)
                && self.rows[var.0 as usize].value.is_none()
            {
                let flank = |dims: &[Dim]| dims.iter().map(|d| DimTerm::Known(*d)).collect();
                let value = Row::new(flank(&value.lead), None, flank(&value.trail));
                self.bind_row(var, value, Fact::TRIVIAL)?;
            }
        }
        self.propagate()
    }

    /// What is not used up of the constraints on these variables.
    fn residual(&self, dims: &[u32], rows: &[u32], relations: &[u32]) -> Vec<(Constraint, Arc<Origin>)> {
        let mut log = Vec::new();
        let mut say = |constraint: Constraint, fact: Fact| {
            let origin = self.facts.chain(fact, 1).into_iter().next();
            log.push((
                constraint,
                origin.unwrap_or_else(|| Arc::new(Origin::operation("what is known already"))),
            ));
        };
        for &dim in dims {
            let (state, term) = (&self.dims[dim as usize], DimTerm::Var(DimVar(dim)));
            if state.discarded > 0 && state.may_be_empty() {
                say(Constraint::Discardable(DimVar(dim)), state.why);
            }
            for (sup, fact) in &state.above {
                say(Constraint::DimLe(term, self.dim(DimVar(*sup))), *fact);
            }
            if let Some(upper) = state.upper {
                say(Constraint::DimLe(term, upper.into()), state.upper_why);
            }
            if state.indexed {
                say(Constraint::AtLeast(term, state.at_least), state.at_least_why);
            }
            if let Some(role) = role(state.flags) {
                say(Constraint::TerminalDim(term, role), state.why);
            }
        }
        let mut pending: BTreeSet<u32> = BTreeSet::new();
        for &row in rows {
            let state = &self.rows[row as usize];
            pending.extend(state.watch.iter().filter(|n| !self.pending[**n as usize].done));
            if let Some(role) = role(state.flags) {
                say(Constraint::Terminal(Row::open(RowVar(row)), role), state.role_why);
            }
        }
        for number in pending {
            let pending = &self.pending[number as usize];
            let (a, b) = (self.row(&pending.a), self.row(&pending.b));
            match pending.order {
                Order::Equal => say(Constraint::RowEq(a, b), pending.fact),
                Order::Below => say(Constraint::RowLe(a, b), pending.fact),
            }
        }
        for number in relations {
            let relation = &self.relations[*number as usize];
            say(self.constraint_of(&relation.law), relation.fact);
        }
        log
    }

    /// A waiting relation as a constraint on what is open.
    fn constraint_of(&self, law: &Law) -> Constraint {
        let all = |dims: &[DimTerm]| dims.iter().map(|d| self.dim(*d)).collect();
        let rows = |rows: &[Row]| rows.iter().map(|r| self.row(r)).collect();
        match law {
            Law::Concat { target, parts } => {
                Constraint::Concat { target: self.dim(*target), parts: all(parts) }
            }
            Law::Affine { input, stride, over, kernel } => Constraint::Affine {
                input: self.dim(*input),
                stride: *stride,
                over: self.dim(*over),
                kernel: kernel.map(|k| crate::constraint::Kernel { size: self.dim(k.size), ..k }),
                offset: 0,
            },
            Law::Total { elems, rows: r, divided_by } => {
                let elems = match *elems {
                    crate::constraint::Elems::Strided { coefficient, var } => {
                        crate::constraint::Elems::Strided { coefficient, var: self.dim(var) }
                    }
                    number => number,
                };
                Constraint::Total { elems, rows: rows(r), divided_by: all(divided_by) }
            }
            Law::Exact { dims, rows: r } => Constraint::Exact { dims: all(dims), rows: rows(r) },
        }
    }
}

fn role(flags: Flags) -> Option<Role> {
    match flags {
        Flags { strict: true, .. } => Some(Role::Param),
        Flags { param: true, .. } => Some(Role::ParamRest),
        Flags { leaf: true, .. } => Some(Role::Leaf),
        _ => None,
    }
}
