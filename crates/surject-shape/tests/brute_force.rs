//! The solver against exhaustive enumeration: random constraint sets over the sizes {unit, 1, 2, 3}, two bases, up to
//! four dimension variables, up to three row variables and ranks up to three.

use surject_shape::text::{self, print_constraint, solve};
use surject_shape::{Bindings, Constraint, Dim, DimTerm, Elems, GroundRow, Problem, Row};

const DIMS: [&str; 4] = ["a", "b", "c", "d"];
const ROWS: [&str; 3] = ["r", "s", "t"];

/// A small generator of numbers, so that a failing set is named by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

fn dim_text(random: &mut Random) -> String {
    match random.below(10) {
        0..=3 => DIMS[random.below(4)].to_string(),
        4 => "unit".into(),
        5 => "1".into(),
        6 => "2".into(),
        7 => "3".into(),
        8 => "3:x".into(),
        _ => "2:x".into(),
    }
}

fn row_text(random: &mut Random) -> String {
    let (lead, trail) = match random.below(6) {
        0 => (1, 1),
        1 => (1, 0),
        2 => (2, 0),
        3 => (0, 2),
        4 => (0, 1),
        _ => (0, 0),
    };
    let mut parts: Vec<String> = (0..lead).map(|_| dim_text(random)).collect();
    parts.push(if random.below(4) == 0 { "<>".into() } else { format!("..{}..", ROWS[random.below(3)]) });
    parts.extend((0..trail).map(|_| dim_text(random)));
    parts.join(",")
}

/// Every third set has size constraints as well.
fn random_lines(seed: u64) -> Vec<String> {
    let mut lines = random_relations(seed);
    if seed % 3 == 2 {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        random.below(5);
        if random.below(2) == 0 {
            lines.push(format!("atleast {} {}", DIMS[random.below(4)], 1 + random.below(3)));
        }
        if random.below(2) == 0 {
            let n = [1, 2, 3, 4, 6, 9][random.below(6)];
            lines.push(format!("total {n} = {}", row_text(&mut random)));
        }
    }
    lines
}

fn random_relations(seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
    random.below(7);
    (0..2 + random.below(6))
        .map(|_| {
            let relation = if random.below(2) == 0 { "=" } else { "<=" };
            match random.below(12) {
                0..=3 => format!("dim {} {relation} {}", dim_text(&mut random), dim_text(&mut random)),
                4..=9 => format!("row {} {relation} {}", row_text(&mut random), row_text(&mut random)),
                10 => format!("leaf row ..{}..", ROWS[random.below(3)]),
                _ => format!("leaf dim {}", DIMS[random.below(4)]),
            }
        })
        .collect()
}

/// The values an axis can have.
fn values() -> Vec<Dim> {
    let mut all = vec![Dim::Unit];
    all.extend((1..=3).map(Dim::new));
    all.extend((1..=3).map(|n| Dim::with_basis(n, "x")));
    all
}

#[derive(Clone, Copy)]
enum Cell {
    Known(Dim),
    Open(usize),
}

/// Constraints between cells: equal, below, or different from a value.
#[derive(Clone)]
enum Check {
    AtLeast(Cell, u64),
    Product(Vec<Cell>, u64),
    Equal(Cell, Cell),
    Below(Cell, Cell),
    Not(Cell, Dim),
}

/// What one looks for besides a solution.
#[derive(Clone, Debug)]
enum Goal {
    Any,
    DimIsNot(usize, Dim),
    RowIsNot(usize, Vec<Dim>),
}

struct Brute<'a> {
    problem: &'a Problem,
}

impl Brute<'_> {
    fn cells(&self, row: &Row, shapes: &[(usize, usize)], bases: &[usize]) -> (Vec<Cell>, usize) {
        let cell = |d: &DimTerm| self.cell(*d);
        let mut flat: Vec<Cell> = row.lead.iter().map(cell).collect();
        let mut marker = flat.len();
        if let Some(var) = row.var {
            let at = self.problem.rows.iter().position(|(_, v)| *v == var).unwrap();
            let (lead, trail) = shapes[at];
            marker += lead;
            flat.extend((0..lead + trail).map(|i| Cell::Open(bases[at] + i)));
        }
        flat.extend(row.trail.iter().map(cell));
        (flat, marker)
    }

    fn cell(&self, dim: DimTerm) -> Cell {
        match dim {
            DimTerm::Known(d) => Cell::Known(d),
            DimTerm::Var(v) => Cell::Open(self.problem.dims.iter().position(|(_, x)| *x == v).unwrap()),
        }
    }

    /// Whether a solution exists that meets the goal, over all shapes and all values.
    fn exists(&self, goal: &Goal) -> bool {
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
        let mut checks = Vec::new();
        for (constraint, _) in &self.problem.constraints {
            match constraint {
                Constraint::DimEq(a, b) => checks.push(Check::Equal(self.cell(*a), self.cell(*b))),
                Constraint::DimLe(a, b) => checks.push(Check::Below(self.cell(*a), self.cell(*b))),
                Constraint::RowEq(a, b) => {
                    let ((a, _), (b, _)) = (self.cells(a, shapes, &bases), self.cells(b, shapes, &bases));
                    if a.len() != b.len() {
                        return false;
                    }
                    checks.extend(a.into_iter().zip(b).map(|(x, y)| Check::Equal(x, y)));
                }
                Constraint::RowLe(a, b) => {
                    let ((a, m), (b, n)) = (self.cells(a, shapes, &bases), self.cells(b, shapes, &bases));
                    let (ta, tb) = (a.len() - m, b.len() - n);
                    if m > n || ta > tb {
                        return false;
                    }
                    checks.extend(a[..m].iter().zip(&b[..m]).map(|(x, y)| Check::Below(*x, *y)));
                    checks.extend(a[m..].iter().zip(&b[b.len() - ta..]).map(|(x, y)| Check::Below(*x, *y)));
                }
                Constraint::AtLeast(d, n) => checks.push(Check::AtLeast(self.cell(*d), *n)),
                Constraint::Total { elems: Elems::Number(n), rows, .. } => {
                    checks.push(Check::Product(self.cells(&rows[0], shapes, &bases).0, *n));
                }
                _ => {}
            }
        }
        match goal {
            Goal::Any => solve_cells(count, &checks),
            Goal::DimIsNot(at, value) => {
                checks.push(Check::Not(Cell::Open(*at), *value));
                solve_cells(count, &checks)
            }
            Goal::RowIsNot(at, flat) => {
                let (l, t) = shapes[*at];
                if l + t != flat.len() {
                    return solve_cells(count, &checks);
                }
                (0..flat.len()).any(|i| {
                    let mut checks = checks.clone();
                    checks.push(Check::Not(Cell::Open(bases[*at] + i), flat[i]));
                    solve_cells(count, &checks)
                })
            }
        }
    }
}

/// Backtracking over all values of all cells.
fn solve_cells(count: usize, checks: &[Check]) -> bool {
    let values = values();
    let mut assigned: Vec<usize> = Vec::new();
    // A cell that no check mentions takes one value.
    let mut choices = vec![1; count];
    for check in checks {
        let cells = match check.clone() {
            Check::Equal(a, b) | Check::Below(a, b) => vec![a, b],
            Check::AtLeast(a, _) | Check::Not(a, _) => vec![a],
            Check::Product(cells, _) => cells,
        };
        for cell in cells {
            if let Cell::Open(i) = cell {
                choices[i] = values.len();
            }
        }
    }
    let holds = |assigned: &[usize]| {
        let get = |cell: Cell| match cell {
            Cell::Known(d) => Some(d),
            Cell::Open(i) => assigned.get(i).map(|v| values[*v]),
        };
        checks.iter().all(|check| match check.clone() {
            Check::AtLeast(a, n) => get(a).is_none_or(|a| a.size() >= n),
            Check::Product(cells, n) => {
                let known: Vec<u64> = cells.iter().filter_map(|c| Some(get(*c)?.size())).collect();
                let product: u64 = known.iter().product();
                n % product == 0 && (known.len() < cells.len() || product == n)
            }
            Check::Equal(a, b) => get(a).zip(get(b)).is_none_or(|(a, b)| a == b),
            Check::Below(a, b) => get(a).zip(get(b)).is_none_or(|(a, b)| a.broadcasts_to(b)),
            Check::Not(a, v) => get(a).is_none_or(|a| a != v),
        })
    };
    if !holds(&assigned) {
        return false;
    }
    let mut next = 0;
    loop {
        if assigned.len() == count {
            return true;
        }
        assigned.push(next);
        next = 0;
        while !holds(&assigned) {
            loop {
                match assigned.pop() {
                    None => return false,
                    Some(v) if v + 1 < choices[assigned.len()] => {
                        assigned.push(v + 1);
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

fn parse_dim(text: &str) -> Option<Dim> {
    if text == "unit" {
        return Some(Dim::Unit);
    }
    match text.split_once(':') {
        Some((size, basis)) => Some(Dim::with_basis(size.parse().ok()?, basis)),
        None => Some(Dim::new(text.parse().ok()?)),
    }
}

fn parse_row(text: &str) -> Option<GroundRow> {
    let parts: Vec<&str> = text.split(',').collect();
    let marker = parts.iter().position(|p| *p == "<>")?;
    let ground = |p: &[&str]| p.iter().map(|d| parse_dim(d)).collect::<Option<Vec<_>>>();
    Some(GroundRow { lead: ground(&parts[..marker])?, trail: ground(&parts[marker + 1..])? })
}

/// Puts the closed solution into every constraint.
fn is_solution(problem: &Problem, bindings: &Bindings) -> bool {
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
    problem.constraints.iter().all(|(constraint, _)| match constraint {
        Constraint::DimEq(a, b) => dim(*a) == dim(*b),
        Constraint::DimLe(a, b) => dim(*a).broadcasts_to(dim(*b)),
        Constraint::RowEq(a, b) => row(a).same_axes(&row(b)),
        Constraint::RowLe(a, b) => row(a).broadcasts_to(&row(b)),
        Constraint::AtLeast(d, n) => dim(*d).size() >= *n,
        Constraint::Total { elems: Elems::Number(n), rows, .. } => {
            row(&rows[0]).flat().iter().map(|d| d.size()).product::<u64>() == *n
        }
        _ => true,
    })
}

#[derive(Default, Debug)]
struct Counts {
    solved: usize,
    unsatisfiable: usize,
    gave_up: usize,
    wrong: Vec<String>,
}

fn compare(seeds: std::ops::Range<u64>, forced: bool) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let text = random_lines(seed).join("\n");
        let problem = text::parse("random.con", &text).unwrap();
        let solution = solve(&problem);
        let brute = Brute { problem: &problem };
        match &solution.outcome {
            Ok(bindings) => {
                counts.solved += 1;
                if !is_solution(&problem, bindings) {
                    counts.wrong.push(format!("seed {seed}: not a solution\n{text}\n{solution}"));
                }
            }
            Err(error) => {
                if !brute.exists(&Goal::Any) {
                    counts.unsatisfiable += 1;
                } else if solution.status() == "undecided" {
                    counts.gave_up += 1;
                } else {
                    counts.wrong.push(format!("seed {seed}: satisfiable\n{text}\n{error}"));
                }
            }
        }
        if forced && solution.is_solved() {
            let dims = problem.dims.iter().enumerate().filter_map(|(i, (name, _))| {
                Some(Goal::DimIsNot(i, parse_dim(solution.before_closing.dim(name)?)?))
            });
            let rows = problem.rows.iter().enumerate().filter_map(|(i, (name, _))| {
                Some(Goal::RowIsNot(i, parse_row(solution.before_closing.row(name)?)?.flat()))
            });
            for goal in dims.chain(rows).collect::<Vec<_>>() {
                if brute.exists(&goal) {
                    counts.wrong.push(format!("seed {seed}: not forced: {goal:?}\n{text}\n{solution}"));
                }
            }
        }
    }
    counts
}

fn report(counts: &Counts) {
    eprintln!(
        "{} solved, {} unsatisfiable, gave up on {}, {} wrong",
        counts.solved,
        counts.unsatisfiable,
        counts.gave_up,
        counts.wrong.len()
    );
    assert!(
        counts.wrong.is_empty(),
        "{}",
        counts.wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n")
    );
}

#[test]
fn agrees_with_enumeration() {
    let counts = compare(0..1500, true);
    report(&counts);
    assert_eq!(counts.gave_up, 0, "the solver gave up on a satisfiable set");
}

/// `SURJECT_SHAPE_SEEDS=100000 cargo test --release -p surject-shape --test brute_force -- --ignored --nocapture`
#[test]
#[ignore = "long"]
fn agrees_with_enumeration_at_length() {
    let seeds = std::env::var("SURJECT_SHAPE_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    report(&compare(0..seeds, true));
}

/// Permuting the constraints and renaming the variables changes nothing.
#[test]
fn order_and_names_do_not_matter() {
    let mut different = Vec::new();
    for seed in 0..3000 {
        let mut lines = random_lines(seed);
        let text = lines.join("\n");
        let before = text::solve_text("a.con", &text).unwrap();
        let mut random = Random(seed ^ 0xABCDEF);
        for i in (1..lines.len()).rev() {
            lines.swap(i, random.below(i + 1));
        }
        let permuted = lines.join("\n");
        let after = text::solve_text("b.con", &permuted).unwrap();
        let sorted = |b: &Bindings| {
            let mut b = b.clone();
            b.dims.sort();
            b.rows.sort();
            b
        };
        let same = before.status() == after.status()
            && match (&before.outcome, &after.outcome) {
                (Ok(x), Ok(y)) => sorted(x) == sorted(y),
                _ => true,
            };
        if !same {
            different.push(format!("seed {seed}\n{text}\n{before}\n-- permuted\n{permuted}\n{after}"));
        }
    }
    let shown = different.iter().take(4).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(different.is_empty(), "{} of 3000 differ\n{shown}", different.len());
}

/// Printing a problem and reading it back gives the same constraints.
#[test]
fn problems_round_trip() {
    for seed in 0..500 {
        let text = random_lines(seed).join("\n");
        let problem = text::parse("a.con", &text).unwrap();
        let printed: Vec<String> =
            problem.constraints.iter().map(|(c, _)| print_constraint(&problem, c)).collect();
        let again = text::parse("b.con", &printed.join("\n")).unwrap();
        let bare = |p: &Problem| p.constraints.iter().map(|(c, _)| c.clone()).collect::<Vec<_>>();
        assert_eq!(bare(&problem), bare(&again), "{text}");
    }
}
