//! The exhaustive search, for small problems whose closing failed or whose contradiction depends on where an equation
//! placed a marker.
//!
//! First the lengths of the flanks of every row variable are enumerated, shortest first, under what the constraints say of
//! lengths alone. For each choice of lengths the rest is a problem over dimensions: propagation decides it up to the
//! arithmetic of sizes, and where closing fails on that, the axes that take part in it are tried one value after the other.

use super::lengths::{Lengths, rows_of};
use super::relations::Law;
use super::{Flags, Solver, Task};
use crate::constraint::{Constraint, Elems, Role};
use crate::dim::{Basis, Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::{Fact, Origin};
use crate::row::Row;
use std::sync::Arc;

/// How many partial solutions are propagated before the search gives up.
const BUDGET: usize = 3_000;

struct Search<'a> {
    log: &'a [(Constraint, Arc<Origin>)],
    budget: usize,
    /// The bases that occur.
    bases: Vec<Basis>,
    /// The largest size that is tried for an axis that nothing bounds.
    largest: u64,
    /// A size was cut off at `largest`, so not finding anything proves nothing.
    cut: bool,
    /// A solution was found in which nothing determines a parameter.
    hidden: bool,
}

impl Solver {
    /// Searches for a solution of constraints that were refuted with `error`; this solver has their variables only.
    pub(crate) fn search_constraints(
        &mut self,
        constraints: &[(Constraint, Arc<Origin>)],
        error: ShapeError,
    ) -> Result<(), ShapeError> {
        if constraints.len() > super::SEARCH_LIMIT {
            return Err(ShapeError { kind: ShapeErrorKind::Undecided, ..error });
        }
        self.facts.log = constraints.to_vec();
        let found = self.search(error);
        self.keep_failure(found)
    }

    /// Looks for a solution after `error`; without one, the error stands.
    pub(crate) fn search(&mut self, error: ShapeError) -> Result<(), ShapeError> {
        if self.searching {
            return Err(error);
        }
        let log = self.facts.log.clone();
        let mut base = Solver::new();
        base.searching = true;
        base.given = self.given.clone();
        base.ordered_rows = self.ordered_rows;
        for dim in &self.dims {
            let var = base.fresh_dim();
            base.dims[var.0 as usize].declared = u32::from(dim.user);
        }
        for _ in 0..self.rows.len() {
            base.fresh_row();
        }
        let mut search = Search::new(&log);
        let mut lengths = Lengths::new(&log);
        let found = loop {
            match lengths.next() {
                None => break None,
                Some(choice) => {
                    if let Some(found) = search.with_lengths(&base, &choice) {
                        break Some(found);
                    }
                }
            }
            if search.budget == 0 {
                break None;
            }
        };
        match found {
            Some(mut solved) => {
                solved.searching = false;
                solved.facts = std::mem::take(&mut self.facts);
                *self = solved;
                Ok(())
            }
            None if search.hidden => Err(ShapeError {
                labels: parameters(&log),
                guessed: true,
                ..self.missing_hidden("the size of an axis", Fact::TRIVIAL)
            }),
            None if search.budget == 0 || search.cut || !lengths.complete() => {
                Err(ShapeError { kind: ShapeErrorKind::Undecided, guessed: true, ..error })
            }
            // Everything was looked at.
            None => Err(ShapeError { guessed: false, choice: None, ..error }),
        }
    }
}

/// Where parameters were declared.
fn parameters(log: &[(Constraint, Arc<Origin>)]) -> Vec<Arc<Origin>> {
    let of_parameter = |c: &Constraint| matches!(c, Constraint::Terminal(_, role) | Constraint::TerminalDim(_, role) if *role != Role::Leaf);
    log.iter().filter(|(c, _)| of_parameter(c)).map(|(_, origin)| origin.clone()).collect()
}

impl<'a> Search<'a> {
    fn new(log: &'a [(Constraint, Arc<Origin>)]) -> Search<'a> {
        let mut bases = vec![Basis::DEFAULT];
        let mut largest = 6;
        let mut see = |term: &DimTerm| {
            if let DimTerm::Known(Dim::Size { size, basis }) = term {
                largest = largest.max(*size);
                if !bases.contains(basis) {
                    bases.push(*basis);
                }
            }
        };
        for (constraint, _) in log {
            rows_of(constraint).into_iter().for_each(|row| row.dims().for_each(|d| see(&d)));
            match constraint {
                Constraint::DimEq(a, b) | Constraint::DimLe(a, b) => [a, b].into_iter().for_each(&mut see),
                Constraint::AtLeast(_, n) => see(&DimTerm::from(*n)),
                Constraint::Concat { target, parts } => parts.iter().chain([target]).for_each(&mut see),
                Constraint::Affine { input, over, kernel, .. } => {
                    [input, over].into_iter().chain(kernel.as_ref().map(|k| &k.size)).for_each(&mut see);
                }
                Constraint::Exact { dims, .. } => dims.iter().for_each(&mut see),
                Constraint::Total { elems, divided_by, .. } => {
                    divided_by.iter().for_each(&mut see);
                    if let Elems::Number(n) = elems {
                        see(&DimTerm::from(*n));
                    }
                }
                _ => {}
            }
        }
        bases.sort_by_key(|b| (*b != Basis::DEFAULT, b.name()));
        Search { log, budget: BUDGET, bases, largest: largest.min(64), cut: false, hidden: false }
    }

    /// The problem with the lengths of all rows.
    fn with_lengths(&mut self, base: &Solver, choice: &[(crate::row::RowVar, [usize; 2])]) -> Option<Solver> {
        self.budget = self.budget.checked_sub(1)?;
        let mut solver = base.clone();
        for (var, [lead, trail]) in choice {
            let mut flank =
                |n: usize| (0..n).map(|_| solver.fresh_dim_with(Flags::default()).into()).collect::<Vec<_>>();
            let value = Row::new(flank(*lead), None, flank(*trail));
            solver.bind_row(*var, value, Fact::TRIVIAL).ok()?;
        }
        for (constraint, _) in self.log {
            solver.post(constraint.clone(), Fact::TRIVIAL).ok()?;
        }
        solver.propagate().ok()?;
        self.values(solver)
    }

    /// Closes; where that fails, gives the axes under arithmetic values, one after the other. Its depth is the number of
    /// these axes.
    fn values(&mut self, solver: Solver) -> Option<Solver> {
        self.budget = self.budget.checked_sub(1)?;
        let mut closed = solver.clone();
        match closed.close() {
            Ok(()) => return Some(closed),
            Err(error) => self.hidden |= error.kind == ShapeErrorKind::MissingHidden,
        }
        let Some((var, most)) = solver.under_arithmetic() else {
            // A leaf at its bound may be what fails.
            let mut downwards = solver;
            downwards.dims.iter_mut().for_each(|d| d.flags.leaf = false);
            return downwards.close().is_ok().then_some(downwards);
        };
        for value in self.candidates(&solver, var, most) {
            let mut next = solver.clone();
            next.queue.push_back(Task::DimEq(var.into(), value.into(), Fact::TRIVIAL));
            if next.propagate().is_ok()
                && let Some(found) = self.values(next)
            {
                return Some(found);
            }
            if self.budget == 0 {
                return None;
            }
        }
        None
    }

    /// The values of an open axis, the likeliest first.
    fn candidates(&mut self, solver: &Solver, var: DimVar, most: Option<u64>) -> Vec<Dim> {
        let state = &solver.dims[var.0 as usize];
        let mut all = Vec::new();
        match state.upper {
            Some(upper) if state.flags.leaf => all.extend([upper, Dim::Unit]),
            Some(upper) => all.extend([Dim::Unit, upper]),
            None => {
                all.push(Dim::Unit);
                self.cut |= most.is_none();
                for size in 1..=most.unwrap_or(self.largest).min(self.largest) {
                    all.extend(self.bases.iter().map(|basis| Dim::Size { size, basis: *basis }));
                }
                self.cut |= most.is_some_and(|m| m > self.largest);
            }
        }
        if state.discarded > 0 && state.may_be_empty() {
            all.insert(0, Dim::new(0));
        }
        all.retain(|d| d.size().is_none_or(|size| size >= state.at_least));
        all
    }
}

impl Solver {
    /// An open axis of a waiting relation, and the largest size that the relation leaves it.
    fn under_arithmetic(&self) -> Option<(DimVar, Option<u64>)> {
        let mut found: Option<(DimVar, Option<u64>)> = None;
        for relation in self.relations.iter().filter(|r| !r.done) {
            let most = self.most_of(&relation.law);
            let (dims, rows) = relation.terms();
            let rows = rows.into_iter().flat_map(|row| self.row(row).dims().collect::<Vec<_>>());
            for term in dims.into_iter().chain(rows) {
                if let DimTerm::Var(var) = self.dim(term) {
                    let bounded = self.dims[var.0 as usize].upper.is_some();
                    let rank = |most: Option<u64>| if bounded { 0 } else { most.unwrap_or(u64::MAX) };
                    if found.is_none_or(|(old, m)| {
                        let old_bounded = self.dims[old.0 as usize].upper.is_some();
                        rank(most) < if old_bounded { 0 } else { m.unwrap_or(u64::MAX) }
                    }) {
                        found = Some((var, most));
                    }
                }
            }
        }
        found
    }

    /// The largest size of any axis under a law.
    fn most_of(&self, law: &Law) -> Option<u64> {
        let size = |term: DimTerm| match self.dim(term) {
            DimTerm::Known(dim) => dim.size(),
            DimTerm::Var(var) => self.dims[var.0 as usize].upper.and_then(Dim::size),
        };
        match law {
            Law::Concat { target, .. } => size(*target),
            Law::Affine { input, .. } => size(*input),
            Law::Total { elems: Elems::Number(n), .. } => Some(*n),
            Law::Total { elems: Elems::Strided { coefficient, var }, .. } => {
                Some(size(*var)?.saturating_mul(*coefficient))
            }
            Law::Exact { .. } => None,
        }
    }
}
