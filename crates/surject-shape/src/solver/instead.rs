//! Whether other constraints in the place of some would hold: for advice, once something has failed.

use super::Solver;
use crate::constraint::Constraint;
use crate::origin::Origin;
use crate::renumber::Numbers;
use std::sync::Arc;

/// Larger problems are not solved again for advice.
const MOST: usize = 20_000;

impl Solver {
    /// Whether the constraints that were added have no contradiction when those of one origin are exchanged for these.
    /// With `close` they have to have a closed solution, else propagation alone is asked. No for what is too large.
    pub fn holds_instead(&self, of: &Arc<Origin>, constraints: &[Constraint], close: bool) -> bool {
        if self.facts.log.len() > MOST {
            return false;
        }
        let mut numbers = Numbers::default();
        let kept = self.facts.log.iter().filter(|(_, origin)| !Arc::ptr_eq(origin, of));
        let kept: Vec<(Constraint, Arc<Origin>)> =
            kept.map(|(constraint, origin)| (numbers.constraint(constraint), origin.clone())).collect();
        let others: Vec<Constraint> = constraints.iter().map(|c| numbers.constraint(c)).collect();
        let mut solver = Solver::new();
        solver.exact_markers = self.exact_markers;
        solver.standing_markers = self.standing_markers;
        solver.searching = true;
        solver.given = self.given.clone();
        for _ in 0..numbers.dims.len() {
            solver.fresh_dim();
        }
        for _ in 0..numbers.rows.len() {
            solver.fresh_row();
        }
        let all = kept.into_iter().chain(others.into_iter().map(|constraint| (constraint, of.clone())));
        for (constraint, origin) in all {
            if solver.add(constraint, &origin).is_err() {
                return false;
            }
        }
        !close || solver.close().is_ok()
    }
}
