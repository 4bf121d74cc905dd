//! Exhaustive enumeration of small constraint problems, written from the definitions and sharing nothing with the solver.
//!
//! Row variables have every rank up to three with the marker everywhere; axes have the unit and every size of two bases.
//! Equal axes are merged first, then values are tried by backtracking, each check as soon as its axes are known.

use surject_shape::{Bindings, Constraint, Dim, DimTerm, Elems, GroundRow, Kernel, Problem, Row};

/// The size of a dimension of these problems, which have numbers only.
trait Number {
    fn number(self) -> u64;
}

impl Number for Dim {
    fn number(self) -> u64 {
        self.size().expect("a number")
    }
}

/// The largest size of an axis that takes part in arithmetic; other axes have up to 3.
const LARGEST: u64 = 6;

/// What one looks for besides a solution.
#[derive(Clone, Debug)]
pub enum Goal {
    /// A solution.
    Any,
    /// A solution in which a dimension variable is something else.
    DimIsNot(usize, Dim),
    /// A solution in which a row variable has other axes.
    RowIsNot(usize, Vec<Dim>),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Cell {
    Known(Dim),
    Open(usize),
}

/// A condition on cells.
#[derive(Clone, Debug)]
enum Check {
    Equal(Cell, Cell),
    Below(Cell, Cell),
    Not(Cell, Dim),
    AtLeast(Cell, u64),
    /// The product of the sizes is a number, or a multiple of a size.
    Product(Vec<Cell>, u64, Option<Cell>),
    /// The last cell is the concatenation of the others.
    Concat(Vec<Cell>),
    /// Input, over, kernel.
    Affine(Cell, Cell, Option<Cell>, u64, Option<Kernel>),
}

impl Check {
    fn cells(&self) -> Vec<Cell> {
        match self {
            Check::Equal(a, b) | Check::Below(a, b) => vec![*a, *b],
            Check::Not(a, _) | Check::AtLeast(a, _) => vec![*a],
            // The multiple first: what is known of it bounds the others.
            Check::Product(cells, _, by) => by.iter().chain(cells).copied().collect(),
            Check::Concat(cells) => cells.clone(),
            Check::Affine(a, b, c, ..) => [*a, *b].into_iter().chain(*c).collect(),
        }
    }

    fn replace(&mut self, with: &dyn Fn(Cell) -> Cell) {
        match self {
            Check::Equal(a, b) | Check::Below(a, b) => (*a, *b) = (with(*a), with(*b)),
            Check::Not(a, _) | Check::AtLeast(a, _) => *a = with(*a),
            Check::Product(cells, _, by) => cells.iter_mut().chain(by).for_each(|c| *c = with(*c)),
            Check::Concat(cells) => cells.iter_mut().for_each(|c| *c = with(*c)),
            Check::Affine(a, b, c, ..) => {
                (*a, *b) = (with(*a), with(*b));
                *c = c.map(with);
            }
        }
    }

    fn is_arithmetic(&self) -> bool {
        matches!(self, Check::Product(..) | Check::Concat(_) | Check::Affine(..))
    }

    fn holds(&self, get: &dyn Fn(Cell) -> Dim) -> bool {
        match self {
            Check::Equal(a, b) => get(*a) == get(*b),
            Check::Below(a, b) => get(*a).broadcasts_to(get(*b)),
            Check::Not(a, value) => get(*a) != *value,
            Check::AtLeast(a, size) => get(*a).number() >= *size,
            Check::Product(cells, number, by) => {
                let product: u64 = cells.iter().map(|c| get(*c).number()).product();
                product == number * by.map_or(1, |b| get(b).number())
            }
            Check::Concat(cells) => {
                let dims: Vec<Dim> = cells.iter().map(|c| get(*c)).collect();
                let (target, parts) = dims.split_last().expect("a target");
                concatenation(parts) == Some(*target)
            }
            Check::Affine(input, over, kernel, stride, law) => {
                affine(get(*over), kernel.map(get), *stride, *law) == Some(get(*input))
            }
        }
    }
}

/// The basis of what is made from several axes.
fn fused(parts: &[Dim]) -> Option<&'static str> {
    let mut named: Vec<&str> =
        parts.iter().filter_map(|d| d.basis()).map(|b| b.name()).filter(|b| *b != "default").collect();
    named.sort_unstable();
    named.dedup();
    match named.as_slice() {
        [] => Some("default"),
        [one] => Some(one),
        _ => None,
    }
}

fn concatenation(parts: &[Dim]) -> Option<Dim> {
    let full: Vec<Dim> = parts.iter().copied().filter(|p| p.number() > 0).collect();
    match full.as_slice() {
        [] => Some(Dim::new(0)),
        [one] => Some(*one),
        many => Some(Dim::with_basis(many.iter().map(|d| d.number()).sum(), fused(many)?)),
    }
}

fn affine(over: Dim, kernel: Option<Dim>, stride: u64, law: Option<Kernel>) -> Option<Dim> {
    let window = kernel.zip(law).filter(|(_, k)| !k.padded);
    if window.is_none() && stride == 1 {
        return Some(over);
    }
    if over.number() == 0 || window.is_some_and(|(k, _)| k.number() == 0) {
        return None;
    }
    match window {
        None => Some(Dim::with_basis(stride * over.number(), fused(&[over])?)),
        Some((k, law)) => {
            let size = stride * (over.number() - 1) + 1 + law.dilation * (k.number() - 1);
            Some(Dim::with_basis(size, fused(&[over, k])?))
        }
    }
}

/// A problem that is enumerated.
pub struct Brute<'a> {
    problem: &'a Problem,
    discardable: Vec<usize>,
    /// How many partial assignments may still be looked at.
    budget: std::cell::Cell<u64>,
}

/// The most partial assignments that are looked at for one question.
const BUDGET: u64 = 1_000_000;

impl<'a> Brute<'a> {
    /// The enumeration of a problem.
    pub fn new(problem: &'a Problem) -> Brute<'a> {
        let discardable = problem.constraints.iter().filter_map(|(c, _)| match c {
            Constraint::Discardable(var) => problem.dims.iter().position(|(_, v)| v == var),
            _ => None,
        });
        Brute { problem, discardable: discardable.collect(), budget: BUDGET.into() }
    }

    fn cell(&self, dim: DimTerm) -> Cell {
        match dim {
            DimTerm::Known(d) => Cell::Known(d),
            DimTerm::Var(v) => Cell::Open(self.problem.dims.iter().position(|(_, x)| *x == v).unwrap()),
        }
    }

    /// The axes of a row, and how many of them lead.
    fn cells(&self, row: &Row, shapes: &[(usize, usize)], bases: &[usize]) -> (Vec<Cell>, usize) {
        let mut flat: Vec<Cell> = row.lead.iter().map(|d| self.cell(*d)).collect();
        let mut marker = flat.len();
        if let Some(var) = row.var {
            let at = self.problem.rows.iter().position(|(_, v)| *v == var).unwrap();
            let (lead, trail) = shapes[at];
            marker += lead;
            flat.extend((0..lead + trail).map(|i| Cell::Open(bases[at] + i)));
        }
        flat.extend(row.trail.iter().map(|d| self.cell(*d)));
        (flat, marker)
    }

    /// Whether a solution exists that meets the goal, over all shapes and all values; `None` where that takes too long.
    pub fn exists(&self, goal: &Goal) -> Option<bool> {
        self.budget.set(BUDGET);
        let found = self.search(goal);
        (found || self.budget.get() > 0).then_some(found)
    }

    fn search(&self, goal: &Goal) -> bool {
        let splits: Vec<(usize, usize)> = (0..=3).flat_map(|n| (0..=n).map(move |l| (l, n - l))).collect();
        let rows = self.problem.rows.len();
        let mut choice = vec![0; rows];
        loop {
            let shapes: Vec<(usize, usize)> = choice.iter().map(|c| splits[*c]).collect();
            if self.exists_with(&shapes, goal) {
                return true;
            }
            let Some(next) = (0..rows).find(|i| choice[*i] + 1 < splits.len()) else { return false };
            choice[next] += 1;
            choice[..next].fill(0);
        }
    }

    fn exists_with(&self, shapes: &[(usize, usize)], goal: &Goal) -> bool {
        let mut count = self.problem.dims.len();
        let bases: Vec<usize> = shapes
            .iter()
            .map(|(l, t)| {
                count += l + t;
                count - l - t
            })
            .collect();
        let Some(checks) = self.checks(shapes, &bases) else { return false };
        let with = |check: Check| {
            let mut checks = checks.clone();
            checks.push(check);
            self.solve(count, checks)
        };
        match goal {
            Goal::Any => self.solve(count, checks),
            Goal::DimIsNot(at, value) => with(Check::Not(Cell::Open(*at), *value)),
            Goal::RowIsNot(at, flat) => {
                let (l, t) = shapes[*at];
                if l + t != flat.len() {
                    return self.solve(count, checks);
                }
                (0..flat.len()).any(|i| with(Check::Not(Cell::Open(bases[*at] + i), flat[i])))
            }
        }
    }

    /// The conditions for these lengths; `None` where the lengths themselves do not fit.
    fn checks(&self, shapes: &[(usize, usize)], bases: &[usize]) -> Option<Vec<Check>> {
        let mut checks = Vec::new();
        let row = |r: &Row| self.cells(r, shapes, bases);
        for (constraint, _) in &self.problem.constraints {
            match constraint {
                Constraint::DimEq(a, b) => checks.push(Check::Equal(self.cell(*a), self.cell(*b))),
                Constraint::DimLe(a, b) => checks.push(Check::Below(self.cell(*a), self.cell(*b))),
                Constraint::RowEq(a, b) => {
                    let ((a, _), (b, _)) = (row(a), row(b));
                    if a.len() != b.len() {
                        return None;
                    }
                    checks.extend(a.into_iter().zip(b).map(|(x, y)| Check::Equal(x, y)));
                }
                Constraint::RowLe(a, b) => {
                    let ((a, m), (b, n)) = (row(a), row(b));
                    let (ta, tb) = (a.len() - m, b.len() - n);
                    if m > n || ta > tb {
                        return None;
                    }
                    checks.extend(a[..m].iter().zip(&b[..m]).map(|(x, y)| Check::Below(*x, *y)));
                    checks.extend(a[m..].iter().zip(&b[b.len() - ta..]).map(|(x, y)| Check::Below(*x, *y)));
                }
                Constraint::AtLeast(d, n) => checks.push(Check::AtLeast(self.cell(*d), *n)),
                Constraint::Total { elems, rows, divided_by } => {
                    let cells = rows.iter().flat_map(|r| row(r).0);
                    let cells = cells.chain(divided_by.iter().map(|d| self.cell(*d))).collect();
                    checks.push(match elems {
                        Elems::Number(n) => Check::Product(cells, *n, None),
                        Elems::Strided { coefficient, var } => {
                            Check::Product(cells, *coefficient, Some(self.cell(*var)))
                        }
                    });
                }
                Constraint::Exact { dims, rows } => {
                    let cells: Vec<Cell> = rows.iter().flat_map(|r| row(r).0).collect();
                    if cells.len() != dims.len() {
                        return None;
                    }
                    checks.extend(cells.into_iter().zip(dims).map(|(x, d)| Check::Equal(x, self.cell(*d))));
                }
                Constraint::Concat { target, parts } => {
                    let cells = parts.iter().chain([target]).map(|d| self.cell(*d)).collect();
                    checks.push(Check::Concat(cells));
                }
                Constraint::Affine { input, stride, over, kernel, .. } => {
                    let size = kernel.map(|k| self.cell(k.size));
                    let (input, over) = (self.cell(*input), self.cell(*over));
                    checks.push(Check::Affine(input, over, size, *stride, *kernel));
                }
                Constraint::Terminal(..) | Constraint::TerminalDim(..) | Constraint::Discardable(_) => {}
            }
        }
        Some(checks)
    }

    fn solve(&self, count: usize, mut checks: Vec<Check>) -> bool {
        // Equal cells are one.
        let mut class: Vec<Cell> = (0..count).map(Cell::Open).collect();
        for check in &checks {
            let Check::Equal(a, b) = check else { continue };
            match (find(&class, *a), find(&class, *b)) {
                (Cell::Known(x), Cell::Known(y)) if x != y => return false,
                (Cell::Open(i), to) | (to, Cell::Open(i)) => class[i] = to,
                _ => {}
            }
        }
        // A class may be empty when all of its variables of the problem may be; the axes of rows are never empty.
        let mut zero: Vec<bool> = vec![true; count];
        for i in 0..count {
            match find(&class, Cell::Open(i)) {
                Cell::Open(root) => zero[root] &= self.discardable.contains(&i),
                Cell::Known(d) if d.number() == 0 => return false,
                Cell::Known(_) => {}
            }
        }
        checks.retain(|c| !matches!(c, Check::Equal(..)));
        let with = |cell: Cell| find(&class, cell);
        checks.iter_mut().for_each(|check| check.replace(&with));
        checks.sort_by_key(|c| c.cells().iter().filter(|c| matches!(c, Cell::Open(_))).count());
        // Cells in the order in which checks mention them; others take any value.
        let mut order: Vec<usize> = Vec::new();
        for check in &checks {
            for cell in check.cells() {
                if let Cell::Open(i) = cell
                    && !order.contains(&i)
                {
                    order.push(i);
                }
            }
        }
        let values: Vec<Vec<Dim>> = order.iter().map(|i| values(&checks, *i, zero[*i])).collect();
        let products: Vec<&Check> = checks.iter().filter(|c| matches!(c, Check::Product(..))).collect();
        let place: Vec<usize> =
            (0..count).map(|i| order.iter().position(|o| *o == i).map_or(usize::MAX, |p| p + 1)).collect();
        let mut ready: Vec<Vec<&Check>> = vec![Vec::new(); order.len() + 1];
        for check in &checks {
            let cells = check.cells();
            let last = cells.iter().filter_map(|c| match c {
                Cell::Open(i) => order.iter().position(|o| o == i).map(|p| p + 1),
                Cell::Known(_) => None,
            });
            ready[last.max().unwrap_or(0)].push(check);
        }
        let mut assigned: Vec<Dim> = vec![Dim::Unit; count];
        let holds = |assigned: &[Dim], upto: usize| {
            let get = |cell: Cell| match cell {
                Cell::Known(d) => d,
                Cell::Open(i) => assigned[i],
            };
            // What is known of a product divides the number.
            let known = |c: &Cell| !matches!(c, Cell::Open(i) if place[*i] > upto);
            let divides = products.iter().all(|check| match check {
                Check::Product(cells, number, by) if by.as_ref().is_none_or(known) => {
                    let number = number * by.map_or(1, |b| get(b).number());
                    let product: u64 = cells.iter().filter(|c| known(c)).map(|c| get(*c).number()).product();
                    product != 0 && number % product == 0
                }
                _ => true,
            });
            divides && ready[upto].iter().all(|check| check.holds(&get))
        };
        if !holds(&assigned, 0) {
            return false;
        }
        let mut tried = vec![0; order.len()];
        let mut depth = 0;
        loop {
            if depth == order.len() {
                return true;
            }
            let Some(left) = self.budget.get().checked_sub(1) else { return false };
            self.budget.set(left);
            if tried[depth] == values[depth].len() {
                tried[depth] = 0;
                if depth == 0 {
                    return false;
                }
                depth -= 1;
                continue;
            }
            assigned[order[depth]] = values[depth][tried[depth]];
            tried[depth] += 1;
            if holds(&assigned, depth + 1) {
                depth += 1;
            }
        }
    }
}

fn find(class: &[Cell], mut cell: Cell) -> Cell {
    while let Cell::Open(i) = cell {
        if class[i] == cell {
            break;
        }
        cell = class[i];
    }
    cell
}

/// The values that a cell can have.
fn values(checks: &[Check], cell: usize, zero: bool) -> Vec<Dim> {
    let arithmetic = checks.iter().any(|c| c.is_arithmetic() && c.cells().contains(&Cell::Open(cell)));
    let largest = if arithmetic { LARGEST } else { 3 };
    let mut all = vec![Dim::Unit];
    all.extend((1..=largest).map(Dim::new));
    all.extend((1..=largest).map(|n| Dim::with_basis(n, "x")));
    if zero {
        all.push(Dim::new(0));
    }
    all
}

pub fn parse_dim(text: &str) -> Option<Dim> {
    if text == "unit" {
        return Some(Dim::Unit);
    }
    match text.split_once(':') {
        Some((size, basis)) => Some(Dim::with_basis(size.parse().ok()?, basis)),
        None => Some(Dim::new(text.parse().ok()?)),
    }
}

pub fn parse_row(text: &str) -> Option<GroundRow> {
    let parts: Vec<&str> = text.split(',').collect();
    let marker = parts.iter().position(|p| *p == "<>")?;
    let ground = |p: &[&str]| p.iter().map(|d| parse_dim(d)).collect::<Option<Vec<_>>>();
    Some(GroundRow { lead: ground(&parts[..marker])?, trail: ground(&parts[marker + 1..])? })
}

/// Puts the closed solution into every constraint.
pub fn is_solution(problem: &Problem, bindings: &Bindings) -> bool {
    let dim = |d: DimTerm| match d {
        DimTerm::Known(d) => d,
        DimTerm::Var(v) => {
            let (name, _) = problem.dims.iter().find(|(_, x)| *x == v).unwrap();
            parse_dim(bindings.dim(name).unwrap()).expect("closed dimensions are ground")
        }
    };
    let row = |r: &Row| {
        let value = r.var.map_or(GroundRow::default(), |v| {
            let (name, _) = problem.rows.iter().find(|(_, x)| *x == v).unwrap();
            parse_row(bindings.row(name).unwrap()).expect("closed rows are ground")
        });
        let mut lead: Vec<Dim> = r.lead.iter().map(|d| dim(*d)).collect();
        lead.extend(value.lead);
        let mut trail = value.trail;
        trail.extend(r.trail.iter().map(|d| dim(*d)));
        GroundRow { lead, trail }
    };
    let sizes = |rows: &[Row]| rows.iter().flat_map(|r| row(r).flat()).map(|d| d.number()).product::<u64>();
    let empty = problem.dims.iter().all(|(_, v)| {
        dim((*v).into()).number() > 0
            || problem.constraints.iter().any(|(c, _)| *c == Constraint::Discardable(*v))
    });
    empty
        && problem.constraints.iter().all(|(constraint, _)| match constraint {
            Constraint::DimEq(a, b) => dim(*a) == dim(*b),
            Constraint::DimLe(a, b) => dim(*a).broadcasts_to(dim(*b)),
            Constraint::RowEq(a, b) => row(a).same_axes(&row(b)),
            Constraint::RowLe(a, b) => row(a).broadcasts_to(&row(b)),
            Constraint::AtLeast(d, n) => dim(*d).number() >= *n,
            Constraint::Total { elems, rows, divided_by } => {
                let product = sizes(rows) * divided_by.iter().map(|d| dim(*d).number()).product::<u64>();
                match elems {
                    Elems::Number(n) => product == *n,
                    Elems::Strided { coefficient, var } => product == coefficient * dim(*var).number(),
                }
            }
            Constraint::Exact { dims, rows } => {
                let flat: Vec<Dim> = rows.iter().flat_map(|r| row(r).flat()).collect();
                flat == dims.iter().map(|d| dim(*d)).collect::<Vec<_>>()
            }
            Constraint::Concat { target, parts } => {
                let parts: Vec<Dim> = parts.iter().map(|d| dim(*d)).collect();
                concatenation(&parts) == Some(dim(*target))
            }
            Constraint::Affine { input, stride, over, kernel, .. } => {
                affine(dim(*over), kernel.map(|k| dim(k.size)), *stride, *kernel) == Some(dim(*input))
            }
            Constraint::Terminal(..) | Constraint::TerminalDim(..) | Constraint::Discardable(_) => true,
        })
}
