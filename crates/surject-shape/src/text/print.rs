//! Printing in the notation of constraint problems.

use super::Bindings;
use super::parse::Problem;
use crate::constraint::{Constraint, Elems, Role};
use crate::dim::{Basis, Dim, DimTerm, DimVar};
use crate::row::{Row, RowVar};
use crate::solver::Solver;
use std::collections::HashMap;

/// Names for the variables of a solver: those of the text, and new ones for what the solver made.
pub(super) struct Names<'a> {
    problem: &'a Problem,
    solver: &'a Solver,
    dims: HashMap<DimVar, String>,
    rows: HashMap<RowVar, String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(problem: &'a Problem, solver: &'a Solver) -> Names<'a> {
        let mut names = Names { problem, solver, dims: HashMap::new(), rows: HashMap::new() };
        for (name, var) in &problem.dims {
            if let DimTerm::Var(root) = solver.dim(*var) {
                // A class is named after its first member in the order of the alphabet.
                let class = names.dims.entry(root).or_insert_with(|| name.clone());
                if name < class {
                    class.clone_from(name);
                }
            }
        }
        for (name, var) in &problem.rows {
            if solver.row(*var).var == Some(*var) {
                names.rows.insert(*var, name.clone());
            }
        }
        for (name, var) in &problem.rows {
            let row = solver.row(*var);
            if let Some(rest) = row.var {
                names.rows.entry(rest).or_insert_with(|| format!("{name}'"));
            }
            let mut made = 0;
            for dim in row.dims() {
                if let DimTerm::Var(root) = dim {
                    names.dims.entry(root).or_insert_with(|| {
                        made += 1;
                        format!("{name}'{made}")
                    });
                }
            }
        }
        names
    }

    fn dim(&self, dim: DimTerm) -> String {
        match self.solver.dim(dim) {
            DimTerm::Known(dim) => dim.to_string(),
            DimTerm::Var(var) => self.dims.get(&var).cloned().unwrap_or_else(|| "_".to_string()),
        }
    }

    /// The variables that are bound. With `all`, every variable: after closing each has a value.
    pub(super) fn bindings(&self, all: bool) -> Bindings {
        let mut bindings = Bindings::default();
        for (name, var) in &self.problem.dims {
            let value = self.dim((*var).into());
            if all || value != *name {
                bindings.dims.push((name.clone(), value));
            }
        }
        for (name, var) in &self.problem.rows {
            let row = self.solver.row(*var);
            if all || row.var != Some(*var) {
                let value = print_with(&row, &|d| self.dim(d), &|v| {
                    self.rows.get(&v).cloned().unwrap_or_else(|| "_".to_string())
                });
                bindings.rows.push((name.clone(), value));
            }
        }
        bindings
    }
}

fn print_with(row: &Row, dim: &dyn Fn(DimTerm) -> String, var: &dyn Fn(RowVar) -> String) -> String {
    let mut parts: Vec<String> = row.lead.iter().map(|d| dim(*d)).collect();
    parts.push(row.var.map_or("<>".to_string(), |v| format!("..{}..", var(v))));
    parts.extend(row.trail.iter().map(|d| dim(*d)));
    parts.join(",")
}

/// A row with the names of a problem.
pub fn print_row(problem: &Problem, row: &Row) -> String {
    print_with(row, &|d| dim_name(problem, d), &|v| {
        problem.rows.iter().find(|(_, x)| *x == v).map_or("_".to_string(), |(n, _)| n.clone())
    })
}

fn dim_name(problem: &Problem, dim: DimTerm) -> String {
    match dim {
        // What is no name stands in braces.
        DimTerm::Known(dim @ Dim::Symbolic { size, basis }) => {
            let text = size.extent().to_string();
            match (problem.sizes.contains(&text), basis) {
                (true, _) => dim.to_string(),
                (false, Basis::DEFAULT) => format!("{{{text}}}"),
                (false, basis) => format!("{{{text}}}:{}", basis.name()),
            }
        }
        DimTerm::Known(dim) => dim.to_string(),
        DimTerm::Var(v) => {
            problem.dims.iter().find(|(_, x)| *x == v).map_or("_".to_string(), |(n, _)| n.clone())
        }
    }
}

/// A constraint as a line of text.
pub fn print_constraint(problem: &Problem, constraint: &Constraint) -> String {
    let dim = |d: &DimTerm| dim_name(problem, *d);
    let row = |r: &Row| print_row(problem, r);
    let list = |dims: &[DimTerm], by: &str| dims.iter().map(dim).collect::<Vec<_>>().join(by);
    let rows = |rows: &[Row]| rows.iter().map(row).collect::<Vec<_>>().join("; ");
    let role = |r: &Role| match r {
        Role::Leaf => "leaf",
        Role::Param => "param",
        Role::ParamRest => "param rest",
    };
    match constraint {
        Constraint::DimEq(a, b) => format!("dim {} = {}", dim(a), dim(b)),
        Constraint::DimLe(a, b) => format!("dim {} <= {}", dim(a), dim(b)),
        Constraint::RowEq(a, b) => format!("row {} = {}", row(a), row(b)),
        Constraint::RowLe(a, b) => format!("row {} <= {}", row(a), row(b)),
        Constraint::AtLeast(d, n) => format!("atleast {} {n}", dim(d)),
        Constraint::Concat { target, parts } => format!("dim {} = {}", dim(target), list(parts, " ^ ")),
        Constraint::Affine { input, stride, over, kernel, offset } => {
            let kernel = kernel.map_or(String::new(), |k| {
                format!("{}+{}*{}", if k.padded { "=" } else { "<" }, k.dilation, dim(&k.size))
            });
            let offset = if *offset > 0 { format!(" offset {offset}") } else { String::new() };
            format!("dim {} = {stride}*{}{kernel}{offset}", dim(input), dim(over))
        }
        Constraint::Total { elems, rows: r, divided_by } => {
            let elems = match elems {
                Elems::Number(n) => n.to_string(),
                Elems::Strided { coefficient, var } => format!("{coefficient}*{}", dim(var)),
            };
            let by =
                if divided_by.is_empty() { String::new() } else { format!(" / {}", list(divided_by, ",")) };
            format!("total {elems} = {}{by}", rows(r))
        }
        Constraint::Exact { dims, rows: r } => format!("exact {} = {}", list(dims, ","), rows(r)),
        Constraint::Terminal(r, which) => format!("{} row {}", role(which), row(r)),
        Constraint::TerminalDim(d, which) => format!("{} dim {}", role(which), dim(d)),
        Constraint::Discardable(var) => format!("discard {}", dim(&(*var).into())),
    }
}
