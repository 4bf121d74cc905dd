//! Symbolic sizes in constraint problems (seed 002; reference/extents.md, section 4).

use surject_shape::{ShapeErrorKind, Solution, solve_text};

fn solved(text: &str) -> Solution {
    solve_text("test.con", text).unwrap_or_else(|e| panic!("{e}"))
}

/// The value of a variable after closing.
fn value(text: &str, name: &str) -> String {
    let solution = solved(text);
    let bindings = solution.outcome.as_ref().unwrap_or_else(|e| panic!("{e}\n{text}"));
    bindings.dim(name).or_else(|| bindings.row(name)).unwrap_or_else(|| panic!("no {name}")).to_string()
}

/// Why there is no solution.
fn refused(text: &str) -> (ShapeErrorKind, String) {
    match solved(text).outcome {
        Ok(bindings) => panic!("{bindings:?}\n{text}"),
        Err(error) => (error.kind, error.message.clone()),
    }
}

#[test]
fn a_symbolic_size_is_an_atom() {
    assert_eq!(value("size n\ndim a <= n\nleaf dim a", "a"), "n");
    assert_eq!(value("size n\ndim n <= a", "a"), "n");
    assert_eq!(value("size n\ndim n:rgb <= a", "a"), "n:rgb");
    // It does not broadcast, whatever its value.
    let (kind, message) = refused("size n\ndim n <= 4");
    assert_eq!(kind, ShapeErrorKind::UndecidedSize);
    assert!(message.contains("`n == 4` would decide it"), "{message}");
    assert!(solved("size n\ndim unit <= n").is_solved());
    assert_eq!(refused("size n\nwhere n >= 5\ndim n <= 4").0, ShapeErrorKind::SizeMismatch);
    assert_eq!(refused("size n\ndim n:rgb = n").0, ShapeErrorKind::BasisClash);
}

#[test]
fn undecided_equalities_name_the_fact() {
    let (kind, message) = refused("size n, m\ndim n = m");
    assert_eq!(kind, ShapeErrorKind::UndecidedSize);
    assert!(message.contains("`m == n` would decide it") || message.contains("`n == m` would decide it"));
    assert_eq!(solved("size n, m\ndim n = m").status(), "undecided");
    assert!(solved("size n, m\nwhere m == n\ndim n = m").is_solved());
    assert_eq!(refused("size n\ndim n = {n + 1}").0, ShapeErrorKind::SizeMismatch);
    assert!(solved("size n, m\ndim {n*m + n} = {n*(m + 1)}").is_solved());
}

#[test]
fn two_bounds_do_not_meet_on_ignorance() {
    let two = "size n, m\ndim a <= n\ndim a <= m\nleaf dim a";
    assert_eq!(refused(two).0, ShapeErrorKind::UndecidedSize);
    assert_eq!(value(&format!("size n, m\nwhere m == n\n{}", &two[10..]), "a"), "n");
    // Certainly different: the unit, as for numbers.
    assert_eq!(value(&format!("size n, m\nwhere m > n\n{}", &two[10..]), "a"), "unit");
}

#[test]
fn sums_strides_and_windows() {
    assert_eq!(value("size n, m\ndim a = n ^ m ^ 3", "a"), "n + m + 3");
    assert_eq!(value("size n\nwhere n >= 4\ndim n = 3 ^ a", "a"), "n - 3");
    let (kind, message) = refused("size n\ndim n = 3 ^ a");
    assert_eq!(kind, ShapeErrorKind::UndecidedSize);
    assert!(message.contains("n >= 4"), "{message}");
    assert_eq!(value("size n\ndim a = 2*n", "a"), "2*n");
    assert_eq!(value("size n\nwhere n % 2 == 0\ndim n = 2*a", "a"), "floordiv(n, 2)");
    let (kind, message) = refused("size n\ndim n = 2*a");
    assert_eq!(kind, ShapeErrorKind::UndecidedSize);
    assert!(message.contains("mod(n, 2) == 0"), "{message}");
    // A convolution with a kernel of 3: the output has two positions less.
    assert_eq!(value("size n\nwhere n >= 3\ndim n = 1*a < + 3", "a"), "n - 2");
    assert!(refused("size n\ndim n = 1*a < + 3").1.contains("n >= 3"));
    assert_eq!(value("size n\nwhere n >= 1\ndim a = 1*n < + 3", "a"), "n + 2");
}

#[test]
fn numbers_of_elements() {
    assert_eq!(value("size n\nwhere n >= 1\ntotal 1*{6*n} = n,a", "a"), "6");
    assert_eq!(value("size n\nwhere n % 2 == 0\ntotal 1*n = 2,a", "a"), "floordiv(n, 2)");
    let (kind, message) = refused("size n\ntotal 1*n = 2,a");
    assert_eq!(kind, ShapeErrorKind::UndecidedSize);
    assert!(message.contains("mod(n, 2) == 0"), "{message}");
    // 0 elements fit any size.
    assert!(refused("size n\ntotal 1*{6*n} = n,a").1.contains("n >= 1"));
    assert_eq!(value("size n, m\ntotal 1*a = n,m", "a"), "m*n");
}

#[test]
fn rows_of_symbolic_axes() {
    assert_eq!(value("size b, n\nrow ..r.. <= b,n,64\nleaf row ..r..", "r"), "<>,b,n,64");
    assert_eq!(value("size b, n\nrow b,n,64 <= ..r..", "r"), "<>,b,n,64");
    assert_eq!(refused("size b, n\nrow b,n <= n,b").0, ShapeErrorKind::UndecidedSize);
}

#[test]
fn an_axis_must_be_as_large_as_it_is_read() {
    assert!(refused("size n\ndim a = n\natleast a 3").1.contains("n >= 3"));
    assert_eq!(value("size n\nwhere n >= 4\ndim a = n\natleast a 3", "a"), "n");
}

#[test]
fn what_is_not_declared_is_pointed_at() {
    let error = |text: &str| solve_text("test.con", text).unwrap_err();
    let undeclared = error("size n\ndim a = {n + m}");
    assert_eq!((undeclared.line, undeclared.column), (2, 10));
    assert!(undeclared.message.contains("`m` is not declared"));
    assert!(error("where n >= 1").message.contains("not declared"));
    assert!(error("size n\nwhere n >= 2, n <= 1").message.contains("no sizes satisfy"));
    assert!(error("dim n = 3\nsize n").message.contains("declare sizes first"));
    assert!(error("size n\ndim a = n:bcast_if_1").message.contains("n == 1"));
}

#[test]
fn numbers_ask_no_questions_of_facts() {
    let problem =
        surject_shape::text::parse("test.con", "size n\nwhere n >= 1\ndim a = 3 ^ 4\ndim a <= 7").unwrap();
    let before = problem.given.comparisons();
    assert!(surject_shape::text::solve(&problem).is_solved());
    assert_eq!(problem.given.comparisons(), before);
}
