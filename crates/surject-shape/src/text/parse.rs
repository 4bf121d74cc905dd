//! The parser of constraint problems (`.con`), one constraint a line.
//!
//! `size n, m` declares symbolic sizes, and `where n >= 4, n % 2 == 0` what is known of them (seed 002). From there on `n` is
//! a dimension, and so is an expression over declared sizes in braces: `{2*n + 1}`, `{n}:rgb`.

use super::print::print_row;
use crate::constraint::{Constraint, Elems, Kernel, Role};
use crate::dim::{Basis, Dim, DimTerm, DimVar};
use crate::origin::{Named, Origin, Place};
use crate::row::{Row, RowVar};
use crate::solver::Solver;
use std::collections::BTreeSet;
use std::sync::Arc;
use surject_index::{Extent, ExtentExpr, Fact as SizeFact, Facts};

/// Text that is not a constraint problem: where, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}\n    {source_line}\n    {:>width$}", "^", width = *column as usize)]
pub struct SyntaxError {
    /// The name of the text.
    pub file: String,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// The line itself.
    pub source_line: String,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A constraint problem: its variables, by name, and its constraints.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The dimension variables in the order in which they are first named.
    pub dims: Vec<(String, DimVar)>,
    /// The row variables in the order in which they are first named.
    pub rows: Vec<(String, RowVar)>,
    /// The constraints with the places they were written at.
    pub constraints: Vec<(Constraint, Arc<Origin>)>,
    /// The names of the symbolic sizes.
    pub sizes: Vec<String>,
    /// What is known of these.
    pub given: Facts,
}

impl Problem {
    /// A solver with the variables of the problem and none of its constraints.
    pub fn solver(&self) -> Solver {
        let mut solver = Solver::for_problems();
        if !self.given.is_empty() {
            solver.assume(self.given.clone());
        }
        for _ in &self.dims {
            solver.fresh_dim();
        }
        for _ in &self.rows {
            solver.fresh_row();
        }
        solver
    }
}

/// Reads a constraint problem. `file` is the name that errors and origins carry.
///
/// # Errors
/// Points at the character that does not fit.
pub fn parse(file: &str, text: &str) -> Result<Problem, SyntaxError> {
    let mut problem = Problem::default();
    let file: Arc<str> = file.into();
    for (number, line) in text.lines().enumerate() {
        let code: Vec<char> = line.split('#').next().unwrap_or("").chars().collect();
        let mut parser = Parser { problem: &mut problem, code: &code, at: 0 };
        parser.space();
        if parser.at == code.len() {
            continue;
        }
        let column = parser.at as u32 + 1;
        let wrong = |(at, message): (usize, String)| SyntaxError {
            file: file.to_string(),
            line: number as u32 + 1,
            column: at as u32 + 1,
            source_line: line.replace('\t', " "),
            message,
        };
        if parser.declaration().map_err(wrong)? {
            continue;
        }
        let constraint = parser.line().map_err(wrong)?;
        let place = Place { file: file.clone(), line: number as u32 + 1, column };
        let text: String = code.iter().collect();
        // The sides of a row constraint are known by their text, what is terminal by its name.
        let named = match &constraint {
            Constraint::RowEq(a, b) | Constraint::RowLe(a, b) => {
                [a, b].map(|row| Named::row(print_row(&problem, row), row)).to_vec()
            }
            Constraint::Terminal(row, _) => vec![Named::row(print_row(&problem, row), row)],
            Constraint::TerminalDim(dim @ DimTerm::Var(var), _) => {
                let name = problem.dims.iter().find(|(_, v)| v == var);
                name.map(|(name, _)| Named::axis(name.clone(), *dim)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let origin = Origin { place: Some(place), ..Origin::operation(text.trim()) }.relating(named);
        problem.constraints.push((constraint, Arc::new(origin)));
    }
    Ok(problem)
}

type Fallible<T> = Result<T, (usize, String)>;

struct Parser<'a> {
    problem: &'a mut Problem,
    code: &'a [char],
    at: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        while self.code.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Fallible<T> {
        Err((self.at, message.into()))
    }

    /// Takes the text if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.space();
        let wanted: Vec<char> = text.chars().collect();
        let found = self.code[self.at..].starts_with(&wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Fallible<()> {
        if self.take(text) { Ok(()) } else { self.fail(format!("expected `{text}`")) }
    }

    fn word(&mut self) -> Option<String> {
        self.space();
        let from = self.at;
        let starts = |c: &char| c.is_alphabetic() || *c == '_';
        if !self.code.get(self.at).is_some_and(starts) {
            return None;
        }
        while self.code.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_' || *c == '\'') {
            self.at += 1;
        }
        Some(self.code[from..self.at].iter().collect())
    }

    fn peek_digit(&mut self) -> bool {
        self.space();
        self.code.get(self.at).is_some_and(char::is_ascii_digit)
    }

    fn number(&mut self) -> Fallible<u64> {
        self.space();
        let from = self.at;
        while self.code.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        let digits: String = self.code[from..self.at].iter().collect();
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) if digits.is_empty() => self.fail("expected a number"),
            Err(_) => Err((from, "the number is too large".to_string())),
        }
    }

    /// Takes a line that declares sizes or facts about them, if it is one.
    fn declaration(&mut self) -> Fallible<bool> {
        let start = self.at;
        match self.word().as_deref() {
            Some("size") => loop {
                self.space();
                let at = self.at;
                let Some(name) = self.word() else { return self.fail("expected the name of a size") };
                let is_name = name.parse::<Extent>().is_ok_and(|e| e == Extent::symbol(&name));
                if !is_name || name == "unit" {
                    return Err((at, format!("`{name}` is no name of a size")));
                }
                if self.problem.dims.iter().any(|(n, _)| *n == name) {
                    return Err((
                        at,
                        format!("`{name}` is a variable of a line before; declare sizes first"),
                    ));
                }
                if self.problem.sizes.contains(&name) {
                    return Err((at, format!("the size `{name}` is declared already")));
                }
                self.problem.sizes.push(name);
                if !self.take(",") {
                    break;
                }
            },
            Some("where") => loop {
                self.space();
                let at = self.at;
                let text: String = self.code[at..].iter().collect();
                let (fact, rest) = SizeFact::parse_prefix(&text).map_err(|e| (at, e.to_string()))?;
                self.declared(&[&fact.left, &fact.right], at)?;
                self.at = self.code.len() - rest.chars().count();
                let known = self.problem.given.iter().cloned().chain([fact]);
                self.problem.given = Facts::of(known.collect::<Vec<_>>()).map_err(|e| (at, e.to_string()))?;
                if !self.take(",") {
                    break;
                }
            },
            _ => {
                self.at = start;
                return Ok(false);
            }
        }
        self.space();
        if self.at < self.code.len() {
            return self.fail("expected `,` or the end of the line");
        }
        Ok(true)
    }

    /// Checks that every size of expressions is declared.
    fn declared(&self, extents: &[&Extent], at: usize) -> Fallible<()> {
        let mut atoms = BTreeSet::new();
        extents.iter().for_each(|e| e.atoms(&mut atoms));
        for atom in atoms {
            match &*atom {
                ExtentExpr::Symbol(name) if self.problem.sizes.iter().any(|n| **n == **name) => {}
                _ => {
                    let size = Extent::Expr(atom.clone());
                    return Err((
                        at,
                        format!("the size `{size}` is not declared: write `size {size}` before"),
                    ));
                }
            }
        }
        Ok(())
    }

    /// A symbolic size with its basis.
    fn symbolic(&mut self, extent: Extent, from: usize) -> Fallible<DimTerm> {
        let extent = self.problem.given.normal(&extent).and_then(|n| n.to_extent()).unwrap_or(extent);
        if self.code.get(self.at) != Some(&':') {
            return Ok(Dim::of(extent, Basis::DEFAULT).into());
        }
        self.at += 1;
        let Some(basis) = self.word() else { return self.fail("expected the name of a basis") };
        let unit = Dim::with_basis(1, &basis) == Dim::Unit;
        if unit && !self.problem.given.same(&extent, &Extent::Const(1)).is_yes() {
            let text =
                format!("whether `{extent}` is 1 and broadcasts is not known; it would need `{extent} == 1`");
            return Err((from, text));
        }
        Ok(if unit { Dim::Unit.into() } else { Dim::of(extent, Basis::named(&basis)).into() })
    }

    fn line(&mut self) -> Fallible<Constraint> {
        let from = self.at;
        let constraint = match self.word().as_deref() {
            Some("dim") => self.dim_line()?,
            Some("row") => {
                let left = self.row()?;
                match self.relation()? {
                    true => Constraint::RowEq(left, self.row()?),
                    false => Constraint::RowLe(left, self.row()?),
                }
            }
            Some(word @ ("leaf" | "param")) => {
                let rest = word == "param" && self.take("rest ");
                let role = match word {
                    "leaf" => Role::Leaf,
                    _ if rest => Role::ParamRest,
                    _ => Role::Param,
                };
                let at = self.at;
                match self.word().as_deref() {
                    Some("row") => Constraint::Terminal(self.row()?, role),
                    Some("dim") => Constraint::TerminalDim(self.dim()?, role),
                    _ => return Err((at, "expected `row` or `dim`".to_string())),
                }
            }
            Some("atleast") => {
                let dim = self.dim()?;
                Constraint::AtLeast(dim, self.number()?)
            }
            Some("discard") => match self.dim()? {
                DimTerm::Var(var) => Constraint::Discardable(var),
                DimTerm::Known(_) => return self.fail("expected a dimension variable"),
            },
            Some("total") => {
                let elems = self.elems()?;
                self.expect("=")?;
                let rows = self.rows()?;
                let divided_by = if self.take("/") { self.list()? } else { Vec::new() };
                Constraint::Total { elems, rows, divided_by }
            }
            Some("exact") => {
                let dims = self.list()?;
                self.expect("=")?;
                Constraint::Exact { dims, rows: self.rows()? }
            }
            _ => {
                let known = "`size`, `where`, `dim`, `row`, `leaf`, `param`, `total`, `atleast`, `exact` or `discard`";
                return Err((from, format!("expected a constraint: {known}")));
            }
        };
        self.space();
        if self.at < self.code.len() {
            return self.fail("expected the end of the line");
        }
        Ok(constraint)
    }

    /// `=` is true, `⊑` is false.
    fn relation(&mut self) -> Fallible<bool> {
        if self.take("⊑") || self.take("<=") {
            Ok(false)
        } else if self.take("=") {
            Ok(true)
        } else {
            self.fail("expected `=`, `<=` or `⊑`")
        }
    }

    fn elems(&mut self) -> Fallible<Elems> {
        if !self.peek_digit() {
            return Ok(Elems::Strided { coefficient: 1, var: self.dim()? });
        }
        let number = self.number()?;
        if self.take("*") {
            return Ok(Elems::Strided { coefficient: number, var: self.dim()? });
        }
        Ok(Elems::Number(number))
    }

    fn list(&mut self) -> Fallible<Vec<DimTerm>> {
        let mut dims = vec![self.dim()?];
        while self.take(",") {
            dims.push(self.dim()?);
        }
        Ok(dims)
    }

    fn rows(&mut self) -> Fallible<Vec<Row>> {
        let mut rows = vec![self.row()?];
        while self.take(";") {
            rows.push(self.row()?);
        }
        Ok(rows)
    }

    /// `dim a = b`, `dim a = b ^ c`, `dim a = 2*b + 3*c`, with a padding mark `=` or `<` before the plus sign and an
    /// `offset 1` after it all.
    fn dim_line(&mut self) -> Fallible<Constraint> {
        let left = self.dim()?;
        if !self.relation()? {
            return Ok(Constraint::DimLe(left, self.dim()?));
        }
        let (stride, over) = self.scaled()?;
        if self.take("^") {
            if stride.is_some() {
                return self.fail("a component of a concatenation has no coefficient");
            }
            let mut parts = vec![over, self.dim()?];
            while self.take("^") {
                parts.push(self.dim()?);
            }
            return Ok(Constraint::Concat { target: left, parts });
        }
        let padded = self.take("=");
        let valid = !padded && self.take("<");
        let kernel = match self.take("+") {
            true => {
                let (dilation, size) = self.scaled()?;
                Some(Kernel { dilation: dilation.unwrap_or(1), size, padded })
            }
            false if padded || valid => return self.fail("expected `+` and the kernel"),
            false => None,
        };
        if stride.is_none() && kernel.is_none() {
            return Ok(Constraint::DimEq(left, over));
        }
        let offset = if self.take("offset ") { self.number()? } else { 0 };
        Ok(Constraint::Affine { input: left, stride: stride.unwrap_or(1), over, kernel, offset })
    }

    /// A dimension with an optional coefficient.
    fn scaled(&mut self) -> Fallible<(Option<u64>, DimTerm)> {
        if self.peek_digit() {
            let from = self.at;
            let number = self.number()?;
            if self.take("*") {
                if number == 0 {
                    return Err((from, "a coefficient is at least 1".to_string()));
                }
                return Ok((Some(number), self.dim()?));
            }
            self.at = from;
        }
        Ok((None, self.dim()?))
    }

    fn dim(&mut self) -> Fallible<DimTerm> {
        if self.peek_digit() {
            let from = self.at;
            let size = self.number()?;
            if size == 0 {
                return Err((from, "a size is at least 1".to_string()));
            }
            if self.code.get(self.at) == Some(&':') {
                self.at += 1;
                return match self.word() {
                    Some(basis) => Ok(Dim::with_basis(size, &basis).into()),
                    None => self.fail("expected the name of a basis"),
                };
            }
            return Ok(Dim::new(size).into());
        }
        self.space();
        let from = self.at;
        if self.take("{") {
            let text: String = self.code[self.at..].iter().collect();
            let (extent, rest) = Extent::parse_prefix(&text).map_err(|e| (from + 1, e.to_string()))?;
            self.declared(&[&extent], from + 1)?;
            self.at = self.code.len() - rest.chars().count();
            self.expect("}")?;
            return self.symbolic(extent, from);
        }
        match self.word() {
            Some(word) if word == "unit" => Ok(Dim::Unit.into()),
            Some(word) if self.problem.sizes.contains(&word) => self.symbolic(Extent::symbol(&word), from),
            Some(word) => Ok(self.dim_named(word).into()),
            None => self.fail("expected a dimension: a size, `unit` or a variable"),
        }
    }

    fn dim_named(&mut self, name: String) -> DimVar {
        if let Some((_, var)) = self.problem.dims.iter().find(|(n, _)| *n == name) {
            return *var;
        }
        let var = DimVar(self.problem.dims.len() as u32);
        self.problem.dims.push((name, var));
        var
    }

    fn row_named(&mut self, name: String) -> RowVar {
        if let Some((_, var)) = self.problem.rows.iter().find(|(n, _)| *n == name) {
            return *var;
        }
        let var = RowVar(self.problem.rows.len() as u32);
        self.problem.rows.push((name, var));
        var
    }

    /// Axes and at most one marker, separated by commas; without a marker the row is closed and its axes trail.
    fn row(&mut self) -> Fallible<Row> {
        let mut dims: Vec<DimTerm> = Vec::new();
        let mut marker: Option<(usize, Option<RowVar>)> = None;
        loop {
            self.space();
            let from = self.at;
            let found = if self.take("<>") {
                Some(None)
            } else if self.take("..") {
                let Some(name) = self.word() else { return self.fail("expected the name of a row variable") };
                self.expect("..")?;
                Some(Some(self.row_named(name)))
            } else {
                dims.push(self.dim().map_err(|(at, message)| {
                    (
                        at,
                        if at == from { "expected an axis, `..name..` or `<>`".to_string() } else { message },
                    )
                })?);
                None
            };
            if let Some(var) = found {
                if marker.is_some() {
                    return Err((from, "a row has one marker".to_string()));
                }
                marker = Some((dims.len(), var));
            }
            if !self.take(",") {
                break;
            }
        }
        let (at, var) = marker.unwrap_or((0, None));
        let trail = dims.split_off(at);
        Ok(Row::new(dims, var, trail))
    }
}
