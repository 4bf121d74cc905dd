//! Scale: large programs are inferred in time and memory linear in their size.
//!
//! `cargo test --release -p surject-shape --test scale -- --ignored --nocapture` prints the measurements.

#[allow(dead_code)] // Benches print what the programs are made of.
mod workloads;

use std::sync::Arc;
use std::time::{Duration, Instant};
use surject_shape::{Dim, Origin, Shape};
use workloads::WORKLOADS;

#[test]
fn large_programs_are_inferred() {
    for workload in WORKLOADS {
        let start = Instant::now();
        let mut built = (workload.build)(5_000).unwrap();
        built.solver.close().unwrap_or_else(|e| panic!("{}: {e}", workload.name));
        let shape = built.solver.ground_shape(&built.last).unwrap();
        assert_eq!(shape.to_string(), built.expected, "{}", workload.name);
        // A quadratic solver takes minutes.
        assert!(start.elapsed() < Duration::from_secs(30), "{}: {:?}", workload.name, start.elapsed());
    }
}

#[test]
#[ignore = "prints measurements"]
fn measure() {
    let only = std::env::var("SURJECT_SHAPE_WORKLOAD").ok();
    let sizes = std::env::var("SURJECT_SHAPE_SIZES").unwrap_or("1000,10000,100000,200000".into());
    for workload in WORKLOADS.iter().filter(|w| only.as_deref().is_none_or(|o| o == w.name)) {
        for size in sizes.split(',').map(|s| s.parse().unwrap()) {
            let start = Instant::now();
            let mut built = (workload.build)(size).unwrap();
            let added = start.elapsed();
            built.solver.close().unwrap();
            let closed = start.elapsed();
            let origin = Arc::new(Origin::operation("more"));
            let start = Instant::now();
            let result = built.solver.fresh_shape();
            built.solver.pointwise(&[&built.last], &result, &origin).unwrap();
            built.solver.finish(&[result.batch.clone(), result.input, result.output]).unwrap();
            let name = workload.name;
            println!(
                "{name} {size}: {added:?} to add, {closed:?} with closing; one more: {:?}",
                start.elapsed()
            );
        }
    }
}

/// Closing one tensor looks at what it depends on only.
#[test]
fn finish_leaves_the_rest_alone() {
    let mut built = (WORKLOADS[0].build)(2_000).unwrap();
    let solver = &mut built.solver;
    solver.close().unwrap();
    let origin = Arc::new(Origin::operation("b + c"));
    let (b, result, other) = (solver.fresh_shape(), solver.fresh_shape(), solver.fresh_shape());
    let c = Shape::closed(&[], &[], &[Dim::new(7)]);
    solver.pointwise(&[&b, &c], &result, &origin).unwrap();
    solver.finish(&[result.batch.clone(), result.input.clone(), result.output.clone()]).unwrap();
    assert_eq!(solver.ground_shape(&result).unwrap().to_string(), "7");
    assert!(solver.ground_shape(&other).is_none());
}

/// A residual network that grows by `blocks`, in a solver that may have been closed in part.
fn grow(solver: &mut surject_shape::Solver, x: &Shape, blocks: usize, made: &mut Vec<Shape>) -> Shape {
    let origin = Arc::new(Origin::operation("block"));
    let mut x = x.clone();
    for _ in 0..blocks {
        let (w1, w2, b) = (solver.fresh_parameter(), solver.fresh_parameter(), solver.fresh_parameter());
        let w1 = Shape { output: surject_shape::Row::closed([16u64]), ..w1 };
        for parameter in [&w1, &w2, &b] {
            solver.terminal(parameter, surject_shape::Role::Param, &origin).unwrap();
        }
        let (h, y, z) = (solver.fresh_shape(), solver.fresh_shape(), solver.fresh_shape());
        solver.compose(&w1, &x, &h, &origin).unwrap();
        solver.compose(&w2, &h, &y, &origin).unwrap();
        solver.pointwise(&[&x, &y, &b], &z, &origin).unwrap();
        made.extend([w1, w2, b, h, y, z.clone()]);
        x = z;
    }
    x
}

/// A session that goes on after closing: the shapes are those of one shot, since everything in them is determined by
/// what stands before, and the work is linear in what was added.
#[test]
fn a_session_grows() {
    let input = Shape::closed(&[Dim::new(8)], &[], &[Dim::new(4)]);
    let (mut once, mut once_made) = (surject_shape::Solver::new(), Vec::new());
    grow(&mut once, &input, 400, &mut once_made);
    once.close().unwrap();
    for by_finish in [true, false] {
        let (mut session, mut made, mut x) = (surject_shape::Solver::new(), Vec::new(), input.clone());
        let mut work = Vec::new();
        for _ in 0..40 {
            let before = session.steps();
            x = grow(&mut session, &x, 10, &mut made);
            if by_finish {
                session.finish(&[x.batch.clone(), x.input.clone(), x.output.clone()]).unwrap();
            } else {
                session.close().unwrap();
            }
            work.push(session.steps() - before);
        }
        session.close().unwrap();
        let shown = |solver: &surject_shape::Solver, made: &[Shape]| {
            made.iter().map(|s| solver.ground_shape(s).unwrap().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&once, &once_made), shown(&session, &made));
        // The last ten blocks cost what the second ten cost.
        assert!(work[39] <= work[1] + work[1] / 10, "{work:?}");
    }
}

/// The work of finishing one tensor does not depend on the size of the world around it.
#[test]
fn finish_does_not_solve_the_world_again() {
    let steps = |size: usize, closed: bool| {
        let mut built = (WORKLOADS[1].build)(size).unwrap();
        let solver = &mut built.solver;
        let origin = Arc::new(Origin::operation("waits"));
        // Relations of other tensors that wait for sizes.
        for _ in 0..size / 10 {
            let other = solver.fresh_shape();
            let source = solver.fresh_shape();
            solver.widen(&source, 4, &other, &origin).unwrap();
        }
        if closed {
            solver.finish(&[built.last.output.clone()]).unwrap();
        }
        let before = solver.steps();
        let (b, result) = (solver.fresh_shape(), solver.fresh_shape());
        let c = Shape::closed(&[], &[], &[Dim::new(7)]);
        solver.pointwise(&[&b, &c], &result, &origin).unwrap();
        solver.finish(&[result.batch.clone(), result.input, result.output]).unwrap();
        solver.steps() - before
    };
    for closed in [false, true] {
        assert_eq!(steps(500, closed), steps(5_000, closed));
    }
}

/// Work is linear in the number of operations.
#[test]
fn work_is_linear() {
    for workload in WORKLOADS {
        let steps = |size: usize| {
            let mut built = (workload.build)(size).unwrap();
            built.solver.close().unwrap();
            built.solver.steps() as f64 / built.operations as f64
        };
        let (small, large) = (steps(1_000), steps(16_000));
        assert!(large < small * 1.1, "{}: {small} steps an operation, then {large}", workload.name);
    }
}
