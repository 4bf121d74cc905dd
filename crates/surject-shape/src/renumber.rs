//! New numbers for variables, so that a part of a problem is a problem of its own.

use crate::constraint::{Constraint, Elems, Kernel};
use crate::dim::{DimTerm, DimVar};
use crate::row::{Row, RowVar};
use std::collections::HashMap;

/// New numbers for the variables of a problem, in the order in which constraints mention them.
#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) dims: HashMap<DimVar, DimVar>,
    pub(crate) rows: HashMap<RowVar, RowVar>,
}

impl Numbers {
    pub(crate) fn dim_var(&mut self, var: DimVar) -> DimVar {
        let next = DimVar(self.dims.len() as u32);
        *self.dims.entry(var).or_insert(next)
    }

    pub(crate) fn dim(&mut self, dim: DimTerm) -> DimTerm {
        match dim {
            DimTerm::Known(_) => dim,
            DimTerm::Var(var) => self.dim_var(var).into(),
        }
    }

    fn dims(&mut self, dims: &[DimTerm]) -> Vec<DimTerm> {
        dims.iter().map(|d| self.dim(*d)).collect()
    }

    pub(crate) fn row(&mut self, row: &Row) -> Row {
        let lead = self.dims(&row.lead);
        let next = RowVar(self.rows.len() as u32);
        let var = row.var.map(|v| *self.rows.entry(v).or_insert(next));
        Row::new(lead, var, self.dims(&row.trail))
    }

    fn rows(&mut self, rows: &[Row]) -> Vec<Row> {
        rows.iter().map(|r| self.row(r)).collect()
    }

    pub(crate) fn constraint(&mut self, constraint: &Constraint) -> Constraint {
        match constraint {
            Constraint::DimEq(a, b) => Constraint::DimEq(self.dim(*a), self.dim(*b)),
            Constraint::DimLe(a, b) => Constraint::DimLe(self.dim(*a), self.dim(*b)),
            Constraint::RowEq(a, b) => Constraint::RowEq(self.row(a), self.row(b)),
            Constraint::RowLe(a, b) => Constraint::RowLe(self.row(a), self.row(b)),
            Constraint::AtLeast(d, n) => Constraint::AtLeast(self.dim(*d), *n),
            Constraint::Concat { target, parts } => {
                Constraint::Concat { target: self.dim(*target), parts: self.dims(parts) }
            }
            Constraint::Affine { input, stride, over, kernel, offset } => Constraint::Affine {
                input: self.dim(*input),
                stride: *stride,
                over: self.dim(*over),
                kernel: kernel.map(|k| Kernel { size: self.dim(k.size), ..k }),
                offset: *offset,
            },
            Constraint::Total { elems, rows, divided_by } => Constraint::Total {
                elems: match *elems {
                    Elems::Number(n) => Elems::Number(n),
                    Elems::Strided { coefficient, var } => Elems::Strided { coefficient, var: self.dim(var) },
                },
                rows: self.rows(rows),
                divided_by: self.dims(divided_by),
            },
            Constraint::Exact { dims, rows } => {
                Constraint::Exact { dims: self.dims(dims), rows: self.rows(rows) }
            }
            Constraint::Terminal(row, role) => Constraint::Terminal(self.row(row), *role),
            Constraint::TerminalDim(dim, role) => Constraint::TerminalDim(self.dim(*dim), *role),
            Constraint::Discardable(var) => Constraint::Discardable(self.dim_var(*var)),
        }
    }
}
