//! Scale: large programs are inferred in time and memory linear in their size.
//!
//! `cargo test --release -p surject-shape --test scale -- --ignored --nocapture` prints the measurements.

use std::sync::Arc;
use std::time::{Duration, Instant};
use surject_shape::{Dim, Origin, Role, Shape, Solver};

/// A chain of operations: pointwise with a bias, and composition with a square parameter, in turn.
fn chain(operations: usize, close: bool) -> (Duration, Solver, Shape) {
    let start = Instant::now();
    let mut solver = Solver::new();
    let input = Shape::closed(&[Dim::new(32)], &[], &[Dim::new(64)]);
    let mut last = input;
    for i in 0..operations {
        let origin = Arc::new(Origin::operation(format!("op{i}")));
        let parameter = solver.fresh_parameter();
        let result = solver.fresh_shape();
        if i % 2 == 0 {
            let weight = Shape { output: surject_shape::Row::closed([64u64]), ..parameter };
            solver.terminal(&weight, Role::Param, &origin).unwrap();
            solver.compose(&weight, &last, &result, &origin).unwrap();
        } else {
            solver.terminal(&parameter, Role::Param, &origin).unwrap();
            solver.pointwise(&[&last, &parameter], &result, &origin).unwrap();
        }
        last = result;
    }
    if close {
        solver.close().unwrap();
        assert_eq!(solver.ground_shape(&last).unwrap().to_string(), "32|64");
    }
    (start.elapsed(), solver, last)
}

#[test]
fn a_long_chain_is_inferred() {
    let (time, _, _) = chain(20_000, true);
    // A quadratic solver takes minutes.
    assert!(time < Duration::from_secs(30), "{time:?}");
}

/// Closing one tensor looks at what it depends on only.
#[test]
fn finish_leaves_the_rest_alone() {
    let (_, mut solver, _) = chain(2_000, true);
    let origin = Arc::new(Origin::operation("b + c"));
    let (b, result, other) = (solver.fresh_shape(), solver.fresh_shape(), solver.fresh_shape());
    let c = Shape::closed(&[], &[], &[Dim::new(7)]);
    solver.pointwise(&[&b, &c], &result, &origin).unwrap();
    solver.finish(&[result.batch.clone(), result.input.clone(), result.output.clone()]).unwrap();
    assert_eq!(solver.ground_shape(&result).unwrap().to_string(), "7");
    assert!(solver.ground_shape(&other).is_none());
}

#[test]
#[ignore = "prints measurements"]
fn measure() {
    for operations in [100, 1_000, 10_000, 100_000, 200_000] {
        let (open, _, _) = chain(operations, false);
        let (closed, mut solver, last) = chain(operations, true);
        let origin = Arc::new(Origin::operation("more"));
        let start = Instant::now();
        let result = solver.fresh_shape();
        solver.pointwise(&[&last], &result, &origin).unwrap();
        solver.finish(&[result.batch.clone(), result.input, result.output]).unwrap();
        println!(
            "{operations} operations: {open:?} to add, {closed:?} with closing; one more: {:?}",
            start.elapsed()
        );
    }
}
