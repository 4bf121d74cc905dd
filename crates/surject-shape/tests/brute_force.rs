//! The solver against exhaustive enumeration: random constraint sets over the sizes {unit, 1, 2, 3}, two bases, up to
//! four dimension variables, up to three row variables and ranks up to three, with every kind of constraint.
//!
//! `cargo test --release -p surject-shape --test brute_force -- --ignored --nocapture` prints the table of
//! `papers/shape-inference`; `SURJECT_SHAPE_SEEDS` sets the number of sets of each family.

mod enumeration;
mod generator;

use enumeration::{Brute, Goal, is_solution, parse_dim, parse_row};
use generator::{Family, Random, lines, renamed};
use surject_shape::text::{self, print_constraint, solve};
use surject_shape::{Bindings, Problem, ShapeErrorKind};

#[derive(Default, Debug)]
struct Counts {
    sets: usize,
    solved: usize,
    unsatisfiable: usize,
    /// No solution exists and the solver does not say so.
    open: usize,
    /// A parameter without a size where the constraints have solutions.
    hidden: usize,
    /// Several rows may have the elements, and nothing says which.
    ambiguous: usize,
    /// Two leaves at their bounds clash.
    clashes: usize,
    gave_up: Vec<String>,
    /// The enumeration takes too long.
    skipped: usize,
    bindings: usize,
    wrong: Vec<String>,
}

fn compare(family: Family, seeds: std::ops::Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let text = lines(family, seed).join("\n");
        let problem = text::parse("random.con", &text).unwrap();
        let solution = solve(&problem);
        let brute = Brute::new(&problem);
        let name = format!("{family:?} {seed}");
        counts.sets += 1;
        match &solution.outcome {
            Ok(bindings) => {
                counts.solved += 1;
                if !is_solution(&problem, bindings) {
                    counts.wrong.push(format!("{name}: not a solution\n{text}\n{solution}"));
                }
            }
            Err(error) => {
                let Some(satisfiable) = brute.exists(&Goal::Any) else {
                    counts.skipped += 1;
                    continue;
                };
                match (satisfiable, error.kind) {
                    (true, ShapeErrorKind::Undecided) if error.message.contains("more than one row") => {
                        counts.ambiguous += 1;
                    }
                    // That is how leaves close, and no claim that there is no solution.
                    (true, _) if error.message.contains("both broadcast to one axis") => counts.clashes += 1,
                    (true, ShapeErrorKind::Undecided) => {
                        counts.gave_up.push(format!("{name}\n{text}\n{error}"));
                    }
                    // That a parameter is not determined is not a claim that there is no solution.
                    (true, ShapeErrorKind::MissingHidden) => counts.hidden += 1,
                    (true, _) => counts.wrong.push(format!("{name}: satisfiable\n{text}\n{error}")),
                    (false, ShapeErrorKind::Undecided | ShapeErrorKind::MissingHidden) => counts.open += 1,
                    (false, _) => counts.unsatisfiable += 1,
                }
            }
        }
        if solution.is_solved() {
            for goal in forced(&problem, &solution.before_closing) {
                let Some(other) = brute.exists(&goal) else { continue };
                counts.bindings += 1;
                if other {
                    counts.wrong.push(format!("{name}: not forced: {goal:?}\n{text}\n{solution}"));
                }
            }
        }
    }
    counts
}

/// What would refute the bindings before closing.
fn forced(problem: &Problem, before: &Bindings) -> Vec<Goal> {
    let dims = problem.dims.iter().enumerate();
    let dims = dims.filter_map(|(i, (name, _))| Some(Goal::DimIsNot(i, parse_dim(before.dim(name)?)?)));
    let rows = problem.rows.iter().enumerate();
    let rows =
        rows.filter_map(|(i, (name, _))| Some(Goal::RowIsNot(i, parse_row(before.row(name)?)?.flat())));
    dims.chain(rows).collect()
}

fn shown(all: &[String]) -> String {
    all.iter().take(5).cloned().collect::<Vec<_>>().join("\n\n")
}

fn check(family: Family, seeds: std::ops::Range<u64>) {
    let counts = compare(family, seeds);
    assert!(counts.wrong.is_empty(), "{} wrong\n{}", counts.wrong.len(), shown(&counts.wrong));
    assert!(counts.gave_up.is_empty(), "gave up on {}\n{}", counts.gave_up.len(), shown(&counts.gave_up));
}

#[test]
fn relations_agree_with_enumeration() {
    check(Family::Relations, 0..1500);
}

#[test]
fn sizes_agree_with_enumeration() {
    check(Family::Sizes, 0..1500);
}

#[test]
fn arithmetic_agrees_with_enumeration() {
    check(Family::Arithmetic, 0..1500);
}

#[test]
fn everything_agrees_with_enumeration() {
    check(Family::All, 0..2000);
}

#[test]
#[ignore = "long; prints the table"]
fn table() {
    let seeds = std::env::var("SURJECT_SHAPE_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    println!(
        "| family | sets | solved | refuted | parameter without a size | satisfiable, given up | unsatisfiable, not decided | not enumerated | bindings checked |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut wrong = Vec::new();
    for family in [Family::Relations, Family::Sizes, Family::Arithmetic, Family::All] {
        let c = compare(family, 0..seeds);
        println!(
            "| {family:?} | {} | {} | {} | {} | {} | {} | {} | {} |",
            c.sets,
            c.solved,
            c.unsatisfiable,
            c.hidden,
            c.gave_up.len(),
            c.open,
            c.skipped,
            c.bindings
        );
        eprintln!("{}", shown(&c.gave_up));
        wrong.extend(c.wrong);
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), shown(&wrong));
}

fn sorted(bindings: &Bindings) -> Bindings {
    let mut bindings = bindings.clone();
    bindings.dims.sort();
    bindings.rows.sort();
    bindings
}

/// Permuting the constraints and renaming the variables changes nothing.
#[test]
fn order_and_names_do_not_matter() {
    let mut different = Vec::new();
    for family in [Family::Relations, Family::Sizes, Family::Arithmetic, Family::All] {
        for seed in 0..1500 {
            let mut lines = lines(family, seed);
            let text = lines.join("\n");
            let before = text::solve_text("a.con", &text).unwrap();
            let mut random = Random(seed ^ 0xABCDEF);
            for i in (1..lines.len()).rev() {
                lines.swap(i, random.below(i + 1));
            }
            let permuted = lines.join("\n");
            let other_names = renamed(&permuted, &mut random);
            let after = text::solve_text("b.con", &other_names.text).unwrap();
            let back = |b: &Bindings| Bindings {
                dims: b.dims.iter().map(|(n, v)| (other_names.back(n), v.clone())).collect(),
                rows: b.rows.iter().map(|(n, v)| (other_names.back(n), v.clone())).collect(),
            };
            let same = before.status() == after.status()
                && match (&before.outcome, &after.outcome) {
                    (Ok(x), Ok(y)) => sorted(x) == sorted(&back(y)),
                    (Err(x), Err(y)) => x.kind == y.kind || before.status() == "unsatisfiable",
                    _ => false,
                };
            if !same {
                different.push(format!(
                    "{family:?} {seed}\n{text}\n{before}\n-- permuted and renamed\n{}\n{after}",
                    other_names.text
                ));
            }
        }
    }
    assert!(different.is_empty(), "{} of 6000 differ\n{}", different.len(), shown(&different));
}

/// Printing a problem and reading it back gives the same constraints.
#[test]
fn problems_round_trip() {
    for seed in 0..1000 {
        let text = lines(Family::All, seed).join("\n");
        let problem = text::parse("a.con", &text).unwrap();
        let printed: Vec<String> =
            problem.constraints.iter().map(|(c, _)| print_constraint(&problem, c)).collect();
        let again = text::parse("b.con", &printed.join("\n")).unwrap();
        let bare = |p: &Problem| p.constraints.iter().map(|(c, _)| c.clone()).collect::<Vec<_>>();
        assert_eq!(bare(&problem), bare(&again), "{text}");
    }
}
