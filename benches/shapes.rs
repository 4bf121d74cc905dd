//! Shape inference: adding the constraints of a program and closing it, one operation more, and an error with its
//! explanation.

// The same programs that the tests of the solver measure.
#[path = "../crates/surject-shape/tests/workloads/mod.rs"]
mod workloads;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use surject_shape::{Dim, Origin, Shape, solve_text};
use workloads::WORKLOADS;

const OPERATIONS: usize = 10_000;

fn inferring(c: &mut Criterion) {
    let mut group = c.benchmark_group("infer");
    group.sample_size(10).throughput(Throughput::Elements(OPERATIONS as u64));
    for workload in WORKLOADS {
        group.bench_function(format!("{} ({})", workload.name, workload.about), |b| {
            b.iter(|| {
                let mut built = (workload.build)(black_box(OPERATIONS)).unwrap();
                assert_eq!(built.expected.is_empty(), built.operations == 0);
                built.solver.close().unwrap();
                built.solver
            });
        });
    }
    group.finish();
}

/// A session: the program is closed, an operation is added, and its result is finished.
fn going_on(c: &mut Criterion) {
    let mut group = c.benchmark_group("finish");
    for operations in [1_000, OPERATIONS] {
        let mut built = (WORKLOADS[0].build)(operations).unwrap();
        built.solver.close().unwrap();
        let origin = Arc::new(Origin::operation("more"));
        group.bench_function(format!("one more after {operations}"), |b| {
            b.iter(|| {
                let result = built.solver.fresh_shape();
                built.solver.pointwise(&[&built.last], &result, &origin).unwrap();
                built.solver.finish(&[result.batch, result.input, result.output]).unwrap();
            });
        });
    }
    group.finish();
}

fn failing(c: &mut Criterion) {
    let mut group = c.benchmark_group("error");
    group.sample_size(10);
    group.bench_function("last of 1000 operations", |b| {
        b.iter_batched(
            || (WORKLOADS[1].build)(1_000).unwrap(),
            |mut built| {
                let wrong = Shape::closed(&[], &[], &[Dim::new(7)]);
                let result = built.solver.fresh_shape();
                let origin = Arc::new(Origin::operation("wrong"));
                built.solver.pointwise(&[&built.last, &wrong], &result, &origin).unwrap_err()
            },
            BatchSize::LargeInput,
        );
    });
    let text = "row ..x.. = 3,5\nrow ..y.. = 3,4\nrow ..x.. = ..r..\nrow ..y.. <= ..r..";
    group.bench_function("four lines", |b| b.iter(|| solve_text("bench.con", black_box(text)).unwrap()));
    group.finish();
}

criterion_group!(benches, inferring, going_on, failing);
criterion_main!(benches);
