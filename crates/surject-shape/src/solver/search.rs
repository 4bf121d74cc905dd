//! The exhaustive search, for small problems whose closing failed or whose contradiction depends on where an equation
//! placed a marker. It enumerates the lengths of the flanks of every row variable, shortest first; once all lengths are
//! known, the rest is a problem over dimensions.

use super::Solver;
use crate::constraint::Constraint;
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::{Fact, Origin};
use crate::row::{Row, RowVar};
use std::sync::Arc;

/// How many partial assignments are looked at before the search gives up.
const BUDGET: usize = 30_000;
/// The most axes that the row variables have together.
const MOST_AXES: usize = 16;

struct Search<'a> {
    log: &'a [(Constraint, Arc<Origin>)],
    rows: Vec<RowVar>,
    /// For each constraint, the position of its last row variable in `rows`, plus one.
    ready: Vec<usize>,
    budget: usize,
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
        self.log = Some(constraints.to_vec());
        self.search(error)
    }

    /// Looks for a solution after `error`; without one, the error stands.
    pub(crate) fn search(&mut self, error: ShapeError) -> Result<(), ShapeError> {
        let Some(log) = self.log.take() else {
            return Err(error);
        };
        if self.searching {
            return Err(error);
        }
        let mut rows: Vec<RowVar> = Vec::new();
        let mut explicit = 0;
        for (constraint, _) in &log {
            for row in rows_of(constraint) {
                explicit += row.explicit();
                if let Some(var) = row.var
                    && !rows.contains(&var)
                {
                    rows.push(var);
                }
            }
        }
        let last = |c: &Constraint| {
            rows_of(c)
                .iter()
                .filter_map(|r| rows.iter().position(|v| Some(*v) == r.var))
                .map(|p| p + 1)
                .max()
                .unwrap_or(0)
        };
        // A row that an equation makes longer than everything that is written out repeats what is written in others.
        let bound = explicit * rows.len().max(1);
        let most = bound.min(MOST_AXES);
        let arithmetic = log.iter().any(|(c, _)| {
            matches!(c, Constraint::Total { .. } | Constraint::Concat { .. } | Constraint::Affine { .. })
        });
        let ready = log.iter().map(|(c, _)| last(c)).collect();
        let mut search = Search { log: &log, rows, ready, budget: BUDGET };
        let mut base = Solver::new();
        base.searching = true;
        base.log = None;
        for _ in 0..self.dims.len() {
            base.fresh_dim();
        }
        for _ in 0..self.rows.len() {
            base.fresh_row();
        }
        let found = search.constraints(&mut base, 0).and_then(|()| {
            // Without row variables there is one assignment; else every sum of lengths is tried.
            (0..=most).find_map(|sum| search.extend(&base, 0, sum)).ok_or(error.clone())
        });
        match found {
            Ok(mut solved) => {
                solved.searching = false;
                *self = solved;
                Ok(())
            }
            // Sizes under arithmetic are not enumerated.
            Err(error) if search.budget == 0 || most < bound || arithmetic => {
                Err(ShapeError { kind: ShapeErrorKind::Undecided, guessed: true, ..error })
            }
            Err(error) => Err(error),
        }
    }
}

impl Search<'_> {
    /// Adds the constraints whose row variables are the first `assigned`.
    fn constraints(&self, solver: &mut Solver, assigned: usize) -> Result<(), ShapeError> {
        for ((constraint, origin), ready) in self.log.iter().zip(&self.ready) {
            if *ready == assigned {
                solver.add(constraint.clone(), origin)?;
            }
        }
        Ok(())
    }

    /// Gives the row variables from `at` on `sum` axes together. The depth is the number of row variables, which is
    /// bounded by the number of constraints that are searched at all.
    fn extend(&mut self, solver: &Solver, at: usize, sum: usize) -> Option<Solver> {
        self.budget = self.budget.checked_sub(1)?;
        if at == self.rows.len() {
            if sum > 0 {
                return None;
            }
            let mut closed = solver.clone();
            if closed.close().is_ok() {
                return Some(closed);
            }
            // A leaf at its bound may miss a number of elements that a smaller one meets.
            let mut downwards = solver.clone();
            downwards.dims.iter_mut().for_each(|d| d.flags.leaf = false);
            return downwards.close().is_ok().then_some(downwards);
        }
        let here = if at + 1 == self.rows.len() { sum } else { 0 };
        for rank in here..=sum {
            for lead in 0..=rank {
                if self.budget == 0 {
                    return None;
                }
                let mut next = solver.clone();
                let flags = super::Flags::default();
                let lead: Vec<_> = (0..lead).map(|_| next.fresh_dim_with(flags).into()).collect();
                let trail: Vec<_> = (lead.len()..rank).map(|_| next.fresh_dim_with(flags).into()).collect();
                let bound = next.bind_row(self.rows[at], Row::new(lead, None, trail), Fact::TRIVIAL);
                if bound.is_ok()
                    && self.constraints(&mut next, at + 1).is_ok()
                    && let Some(found) = self.extend(&next, at + 1, sum - rank)
                {
                    return Some(found);
                }
            }
        }
        None
    }
}

fn rows_of(constraint: &Constraint) -> Vec<&Row> {
    match constraint {
        Constraint::RowEq(a, b) | Constraint::RowLe(a, b) => vec![a, b],
        Constraint::Total { rows, .. } | Constraint::Exact { rows, .. } => rows.iter().collect(),
        Constraint::Terminal(row, _) => vec![row],
        _ => Vec::new(),
    }
}
