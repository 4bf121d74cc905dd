//! What is decided, as text, for a fixed machine.

use crate::contractions::attention;
use crate::convolutions::convolution;
use crate::harness::{function, result, space};
use crate::rows::{matmul, row, softmax};
use surject_codegen::{LoweredModule, Target};
use surject_ir::{AccOp, BinaryOp, DType, Function, Program, Scalar};

fn lowered(function: Function, target: &Target) -> LoweredModule {
    let program = Program { name: String::new(), functions: vec![function] };
    crate::harness::lowered(&program, "main", target)
}

#[test]
fn plans() {
    let programs = [
        ("softmax", softmax(&[1024, 1000], DType::F32)),
        ("matmul", matmul(512, 512, 500, DType::F32)),
        ("small matmul", matmul(8, 8, 8, DType::F32)),
        ("convolution", convolution(8, 56, 64, 64, 1)),
        ("attention", attention(256, 256, 64)),
    ];
    let mut text = String::new();
    for (name, function) in programs {
        for target in [Target::wide(), Target::generic()] {
            let module = lowered(function.clone(), &target);
            text.push_str(&format!("{name}, {} bytes a vector\n{}\n", target.vector_bytes, module.plan));
        }
    }
    insta::assert_snapshot!(text);
}

/// The form of every kernel, and why those that are tried before do not fit.
#[test]
fn forms() {
    let sum = |rows: u64, length: u64| {
        let (mut f, p) = function(&[(DType::F32, &[rows, length])]);
        let sum = row(&mut f, AccOp::Add, p[0]);
        result(&mut f, sum);
        f
    };
    let programs = [
        ("softmax", softmax(&[1024, 1000], DType::F32)),
        ("matmul", matmul(512, 512, 500, DType::F32)),
        ("small matmul", matmul(8, 8, 8, DType::F32)),
        ("sum of a long row", sum(1, 1 << 20)),
        ("convolution", convolution(8, 56, 64, 64, 1)),
    ];
    let mut text = String::new();
    for (name, function) in programs {
        let module = lowered(function, &Target { threads: 4, ..Target::wide() });
        text.push_str(&format!("{name}\n{:#}\n", module.plan));
        // Without `#` a plan has a line for each kernel and one for the arena.
        assert_eq!(module.plan.to_string().lines().count(), module.plan.lines.len() + 1);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn text_of_a_small_softmax() {
    insta::assert_snapshot!(lowered(softmax(&[3, 6], DType::F32), &Target::generic()).text);
}

/// What no near cache holds is asked for while it is summed.
#[test]
fn what_comes_from_memory_is_asked_for_ahead() {
    let asked = |function: Function| lowered(function, &Target::wide()).text.matches("rw = 0").count();
    let sum = |rows: u64| {
        let (mut f, p) = function(&[(DType::F32, &[rows, 1024])]);
        let sum = row(&mut f, AccOp::Add, p[0]);
        result(&mut f, sum);
        f
    };
    // Sixty-four lanes of `f32` are four lines, of each pass.
    assert_eq!([1000, 30].map(|rows| asked(sum(rows))), [4, 0]);
    assert_eq!([1000, 30].map(|rows| asked(softmax(&[rows, 1024], DType::F32))), [8, 0]);
}

/// What only writes has three quarters of the last cache, a copy half of that; where the way out is narrow, two threads that
/// only write have more than twice of it. A copy of whole lines does not fill a distant cache.
#[test]
fn what_no_cache_holds_goes_past_them() {
    let target = Target { has_non_temporal_stores: true, ..Target::wide() };
    let on = |function: Function, target: &Target| lowered(function, target).text.contains("nontemporal");
    let streams = |function: Function| on(function, &target);
    let fill = |rows: u64| {
        let (mut f, _) = function(&[]);
        let one = f.fields.constant(&space(&[rows, 1024]), Scalar::from_f64(DType::F32, 1.0));
        result(&mut f, one);
        f
    };
    let scaled = |rows: u64| {
        let (mut f, p) = function(&[(DType::F32, &[rows, 1024])]);
        let twice = f.fields.binary(BinaryOp::Add, p[0], p[0]).unwrap();
        result(&mut f, twice);
        f
    };
    assert_eq!([2000, 4000, 10_000].map(|rows| streams(scaled(rows))), [false, true, true]);
    assert_eq!([2000, 6000, 7000].map(|rows| streams(fill(rows))), [false, false, true]);
    let narrow = Target { asymmetric_writes: true, ..target };
    assert_eq!([7000, 18_000, 19_000].map(|rows| on(fill(rows), &narrow)), [false, false, true]);
    assert!(on(scaled(4000), &narrow) && on(fill(7000), &Target { threads: 1, ..narrow }));
}

#[test]
fn lowering_is_deterministic() {
    for target in [Target::wide(), Target::generic()] {
        let text = |_| lowered(attention(64, 80, 32), &target).text;
        let texts: Vec<String> = (0..3).map(text).collect();
        assert!(texts.windows(2).all(|w| w[0] == w[1]));
    }
}

/// Sums over everything but the first axis are evaluated once for each of its points, by the task that needs them.
#[test]
fn tasks_are_cut_outside_of_long_sums() {
    let plan = |rows: u64, length: u64| {
        let text = format!(
            "func main(x: f32[{rows},{length},112], w: f32[112]) -> (y) {{
  let s : f32[{rows}] =:+ over i<{rows}, j<{length}, k<112 at [i]: x[i,j,k]
  y : f32[{rows},{length},112] =: over i<{rows}, j<{length}, k<112: x[i,j,k] * s[i] * w[k]
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        lowered(program.functions[0].clone(), &Target::wide())
    };
    let two = plan(2, 16_512).plan.to_string();
    assert!(two.contains("tasks 2,"), "{two}");
    // The sum and what is made of it are one kernel, whose units are points: none is decoded into loops further in.
    let module = plan(20, 3616);
    assert!(module.plan.to_string().contains("row [20 3616 112/"), "{}", module.plan);
    assert!(!module.text.contains("arith.remui"), "{}", module.text);
}
