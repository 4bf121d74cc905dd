//! The canonical order of constraints.
//!
//! Which solution is found does not depend on the order of the constraints, except for one thing: an equation is blind to
//! the marker, so of several equations that bind a row variable it is the first that places its marker. A problem in
//! text form is therefore solved in an order that depends on its structure only, neither on the order of its
//! lines nor on the names of its variables.

use super::parse::Problem;
use crate::constraint::{Constraint, Elems, Kernel};
use crate::dim::{DimTerm, DimVar};
use crate::origin::{Named, Origin, Subject};
use crate::renumber::Numbers;
use crate::row::{Row, RowVar};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// How often colours are refined.
const ROUNDS: usize = 4;

struct Colours {
    dims: HashMap<DimVar, u64>,
    rows: HashMap<RowVar, u64>,
}

impl Colours {
    fn dim(&self, dim: &DimTerm, out: &mut impl Hasher) {
        match dim {
            // The name, because numbers of bases depend on what was interned before.
            DimTerm::Known(d) => d.to_string().hash(out),
            DimTerm::Var(v) => self.dims.get(v).hash(out),
        }
    }

    fn row(&self, row: &Row, out: &mut impl Hasher) {
        (row.lead.len(), row.trail.len()).hash(out);
        row.dims().for_each(|d| self.dim(&d, out));
        row.var.map(|v| self.rows.get(&v)).hash(out);
    }

    fn constraint(&self, constraint: &Constraint) -> u64 {
        let mut out = DefaultHasher::new();
        std::mem::discriminant(constraint).hash(&mut out);
        let (dims, rows) = terms(constraint);
        // Equations are symmetric.
        let symmetric = matches!(constraint, Constraint::DimEq(..) | Constraint::RowEq(..));
        let mut parts: Vec<u64> = Vec::new();
        for dim in dims {
            let mut part = DefaultHasher::new();
            self.dim(&dim, &mut part);
            parts.push(part.finish());
        }
        for row in rows {
            let mut part = DefaultHasher::new();
            self.row(row, &mut part);
            parts.push(part.finish());
        }
        if symmetric {
            parts.sort_unstable();
        }
        parts.hash(&mut out);
        match constraint {
            Constraint::AtLeast(_, n) => n.hash(&mut out),
            Constraint::Total { elems, .. } => match elems {
                Elems::Number(n) => n.hash(&mut out),
                Elems::Strided { coefficient, .. } => (coefficient, true).hash(&mut out),
            },
            Constraint::Affine { stride, kernel, offset, .. } => {
                (stride, offset, kernel.map(|Kernel { dilation, padded, .. }| (dilation, padded)))
                    .hash(&mut out);
            }
            Constraint::Terminal(_, role) | Constraint::TerminalDim(_, role) => (*role as u8).hash(&mut out),
            _ => {}
        }
        out.finish()
    }
}

fn terms(constraint: &Constraint) -> (Vec<DimTerm>, Vec<&Row>) {
    match constraint {
        Constraint::DimEq(a, b) | Constraint::DimLe(a, b) => (vec![*a, *b], Vec::new()),
        Constraint::RowEq(a, b) | Constraint::RowLe(a, b) => (Vec::new(), vec![a, b]),
        Constraint::AtLeast(d, _) | Constraint::TerminalDim(d, _) => (vec![*d], Vec::new()),
        Constraint::Concat { target, parts } => {
            (std::iter::once(*target).chain(parts.iter().copied()).collect(), Vec::new())
        }
        Constraint::Affine { input, over, kernel, .. } => {
            ([*input, *over].into_iter().chain(kernel.map(|k| k.size)).collect(), Vec::new())
        }
        Constraint::Total { elems, rows, divided_by } => {
            let mut dims = divided_by.clone();
            if let Elems::Strided { var, .. } = elems {
                dims.push(*var);
            }
            (dims, rows.iter().collect())
        }
        Constraint::Exact { dims, rows } => (dims.clone(), rows.iter().collect()),
        Constraint::Terminal(row, _) => (Vec::new(), vec![row]),
        Constraint::Discardable(var) => (vec![DimTerm::Var(*var)], Vec::new()),
    }
}

/// The same problem with its constraints in canonical order and its variables numbered as they occur there.
pub(super) fn canonical(problem: &Problem) -> Problem {
    let mut numbers = Numbers::default();
    let constraints: Vec<_> = ordered(problem)
        .into_iter()
        .map(|(c, origin)| {
            let constraint = numbers.constraint(&c);
            let tensors = origin.tensors.iter().map(|t| renamed(t, &mut numbers)).collect();
            (constraint, Arc::new(Origin { tensors, ..(*origin).clone() }))
        })
        .collect();
    Problem {
        dims: problem.dims.iter().map(|(name, var)| (name.clone(), numbers.dim_var(*var))).collect(),
        rows: problem
            .rows
            .iter()
            .map(|(name, var)| (name.clone(), numbers.row(&Row::open(*var)).var.unwrap_or(*var)))
            .collect(),
        constraints,
        sizes: problem.sizes.clone(),
        given: problem.given.clone(),
    }
}

fn renamed(named: &Named, numbers: &mut Numbers) -> Arc<Named> {
    let subject = match &named.subject {
        Subject::Row(row) => Subject::Row(numbers.row(row)),
        Subject::Dim(dim) => Subject::Dim(numbers.dim(*dim)),
        Subject::Shape(shape) => Subject::Shape(shape.clone()),
    };
    Arc::new(Named { name: named.name.clone(), subject })
}

/// The constraints in canonical order.
fn ordered(problem: &Problem) -> Vec<(Constraint, Arc<Origin>)> {
    let mut colours = Colours { dims: HashMap::new(), rows: HashMap::new() };
    for _ in 0..ROUNDS {
        let mut dims: HashMap<DimVar, u64> = HashMap::new();
        let mut rows: HashMap<RowVar, u64> = HashMap::new();
        for (constraint, _) in &problem.constraints {
            let key = colours.constraint(constraint);
            let (loose, whole) = terms(constraint);
            let symmetric = matches!(constraint, Constraint::DimEq(..) | Constraint::RowEq(..));
            let place = |side: usize, at: usize, flank: u8| {
                let mut out = DefaultHasher::new();
                (key, if symmetric { 0 } else { side }, at, flank).hash(&mut out);
                out.finish()
            };
            let mut add_dim = |dim: DimTerm, seen: u64| {
                if let DimTerm::Var(v) = dim {
                    let entry = dims.entry(v).or_insert(0);
                    *entry = entry.wrapping_add(seen);
                }
            };
            for (i, dim) in loose.into_iter().enumerate() {
                add_dim(dim, place(i, 0, 0));
            }
            for (side, row) in whole.into_iter().enumerate() {
                for (i, dim) in row.lead.iter().enumerate() {
                    add_dim(*dim, place(side, i, 1));
                }
                for (i, dim) in row.trail.iter().rev().enumerate() {
                    add_dim(*dim, place(side, i, 2));
                }
                if let Some(var) = row.var {
                    let entry = rows.entry(var).or_insert(0);
                    *entry = entry.wrapping_add(place(side, row.lead.len(), 3));
                }
            }
        }
        colours = Colours { dims, rows };
    }
    // What may be empty is known first: it decides what the others say.
    let key = |c: &Constraint| (!matches!(c, Constraint::Discardable(_)), colours.constraint(c));
    let mut keyed: Vec<_> = problem.constraints.iter().enumerate().map(|(i, (c, _))| (key(c), i)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, i)| problem.constraints[i].clone()).collect()
}
