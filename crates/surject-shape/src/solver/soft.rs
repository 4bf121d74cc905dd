//! Bounds of rows whose own bounds are open: the axes that are written out above a row.

use super::{Order, Pending, RowState};
use crate::row::RowVar;

/// The lengths of the two flanks.
type Flanks = [u32; 2];

/// The shortest bound of each row, an open row above counting for what is known of it. Kept between closings, so that
/// closing one tensor costs what that tensor costs.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftBounds {
    epoch: u32,
    /// The epoch in which a row was looked at last.
    seen: Vec<u32>,
    active: Vec<bool>,
    bound: Vec<Option<Flanks>>,
    stack: Vec<(u32, usize)>,
}

impl SoftBounds {
    /// Forgets what is known, for a solver with so many row variables.
    pub(super) fn begin(&mut self, rows: usize) {
        self.epoch += 1;
        self.seen.resize(rows, 0);
        self.active.resize(rows, false);
        self.bound.resize(rows, None);
    }

    fn enter(&mut self, row: u32) {
        self.seen[row as usize] = self.epoch;
        self.active[row as usize] = true;
        self.bound[row as usize] = None;
        self.stack.push((row, 0));
    }

    /// The bound of a row; `None` where nothing is known above it. A walk with its own stack: each row once.
    pub(super) fn of(&mut self, wanted: u32, rows: &[RowState], pending: &[Pending]) -> Option<Flanks> {
        if self.seen[wanted as usize] != self.epoch {
            self.enter(wanted);
        }
        while let Some(top) = self.stack.last_mut() {
            let row = top.0;
            let Some(number) = rows[row as usize].watch.get(top.1) else {
                self.active[row as usize] = false;
                self.stack.pop();
                continue;
            };
            let constraint = &pending[*number as usize];
            let above = &constraint.b;
            if constraint.done || constraint.order != Order::Below || constraint.a.var != Some(RowVar(row)) {
                top.1 += 1;
                continue;
            }
            let inner = match above.var {
                None => Some([0, 0]),
                Some(sup) if self.seen[sup.0 as usize] != self.epoch => {
                    // This bound again when the row above is known.
                    self.enter(sup.0);
                    continue;
                }
                Some(sup) if self.active[sup.0 as usize] => None,
                Some(sup) => self.bound[sup.0 as usize],
            };
            top.1 += 1;
            if inner.is_none() && above.explicit() == 0 {
                continue;
            }
            let inner = inner.unwrap_or([0, 0]);
            let here = [
                inner[0].saturating_add(above.lead.len() as u32),
                inner[1].saturating_add(above.trail.len() as u32),
            ];
            let bound = &mut self.bound[row as usize];
            *bound = Some(bound.map_or(here, |old| [old[0].min(here[0]), old[1].min(here[1])]));
        }
        self.bound[wanted as usize]
    }
}
