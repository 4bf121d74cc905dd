//! Starting again without guesses about markers.
//!
//! An equation gives a row its axes and not its marker. A solver that puts the marker somewhere and goes on may meet a
//! contradiction that another place would not have met. Then everything is added again, and inequalities over such rows
//! wait for closing. What was closed before stays as it is.

use super::{Order, Solver, Task};
use crate::constraint::{Constraint, Elems};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::ShapeError;
use crate::origin::Origin;
use crate::row::{Row, RowVar};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Solver {
    /// The same problem in a solver that takes no marker for granted, with the same numbers for its variables.
    pub(super) fn rebuilt(&self) -> Result<Solver, ShapeError> {
        let mut new = Solver {
            ordered_rows: self.ordered_rows,
            given: self.given.clone(),
            ..Solver::with_exact_markers()
        };
        for dim in &self.dims {
            let var = new.fresh_dim();
            new.dims[var.0 as usize].declared = u32::from(dim.user);
        }
        for _ in &self.rows {
            new.fresh_row();
        }
        for (constraint, origin) in &self.facts.log {
            let fact = new.log_fact(constraint, origin);
            new.post(constraint.clone(), fact)?;
        }
        new.propagate()?;
        self.commit_closed(&mut new)?;
        new.steps += self.steps;
        Ok(new)
    }

    /// Binds what was closed here to the same values there.
    fn commit_closed(&self, new: &mut Solver) -> Result<(), ShapeError> {
        let origin = Arc::new(Origin::operation("what was closed before"));
        let (mut dims, mut rows) = (BTreeSet::new(), BTreeSet::new());
        for (constraint, _) in &self.facts.log {
            variables(constraint, &mut dims, &mut rows);
        }
        for var in dims {
            let root = &self.dims[self.find_const(var.0) as usize];
            if let Some(value) = root.value.filter(|_| self.was_closed(root.closed)) {
                let fact = new.log_fact(&Constraint::DimEq(var.into(), value.into()), &origin);
                new.queue.push_back(Task::DimEq(var.into(), value.into(), fact));
            }
        }
        for var in rows {
            let Some(value) = self.ground_row(var) else { continue };
            let dims = |flank: &[Dim]| flank.iter().map(|d| DimTerm::Known(*d)).collect();
            let (row, value) = (Row::open(var), Row::new(dims(&value.lead), None, dims(&value.trail)));
            let (marker, axes) = self.closed_parts(var);
            if marker {
                // Below each other means equal, marker and all.
                for (a, b) in [(&row, &value), (&value, &row)] {
                    let fact = new.log_fact(&Constraint::RowLe(a.clone(), b.clone()), &origin);
                    new.post_row(Order::Below, a.clone(), b.clone(), fact);
                }
            } else if axes {
                let fact = new.log_fact(&Constraint::RowEq(row.clone(), value.clone()), &origin);
                new.post_row(Order::Equal, row, value, fact);
            }
        }
        new.propagate()
    }

    /// Whether a closing that succeeded bound it.
    fn was_closed(&self, closing: u32) -> bool {
        closing > 0 && closing <= self.closings
    }

    /// Whether the marker of a row was closed, and whether any of its axes was.
    fn closed_parts(&self, var: RowVar) -> (bool, bool) {
        let (mut marker, mut axes, mut at) = (false, false, Some(var));
        while let Some(row) = at.map(|v| &self.rows[v.0 as usize]) {
            marker |= self.was_closed(row.closed);
            let dims = row.value.iter().flat_map(Row::dims);
            axes |= dims.into_iter().any(|d| {
                matches!(d, DimTerm::Var(v) if self.was_closed(self.dims[self.find_const(v.0) as usize].closed))
            });
            at = row.value.as_ref().and_then(|v| v.var);
        }
        (marker, axes)
    }
}

/// The variables of a constraint.
pub(super) fn variables(constraint: &Constraint, dims: &mut BTreeSet<DimVar>, rows: &mut BTreeSet<RowVar>) {
    let mut dim = |term: &DimTerm| {
        if let DimTerm::Var(var) = term {
            dims.insert(*var);
        }
    };
    match constraint {
        Constraint::DimEq(a, b) | Constraint::DimLe(a, b) => [a, b].into_iter().for_each(&mut dim),
        Constraint::AtLeast(d, _) | Constraint::TerminalDim(d, _) => dim(d),
        Constraint::Concat { target, parts } => parts.iter().chain([target]).for_each(&mut dim),
        Constraint::Affine { input, over, kernel, .. } => {
            [input, over].into_iter().chain(kernel.as_ref().map(|k| &k.size)).for_each(&mut dim);
        }
        Constraint::Exact { dims, .. } => dims.iter().for_each(&mut dim),
        Constraint::Total { elems, divided_by, .. } => {
            divided_by.iter().for_each(&mut dim);
            if let Elems::Strided { var, .. } = elems {
                dim(var);
            }
        }
        Constraint::Discardable(var) => dim(&DimTerm::Var(*var)),
        Constraint::RowEq(..) | Constraint::RowLe(..) | Constraint::Terminal(..) => {}
    }
    for row in super::lengths::rows_of(constraint) {
        row.dims().for_each(|d| dim(&d));
        rows.extend(row.var);
    }
}
