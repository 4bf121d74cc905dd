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

/// What no near cache holds is asked for once: of rows that are read twice, in the pass that computes most.
#[test]
fn what_comes_from_memory_is_asked_for_ahead() {
    let asked_of = |function: Function, asks: bool| {
        let text = lowered(function, &Target { prefetches: asks, ..Target::wide() }).text;
        ["rw = 0", "rw = 1"].map(|what| text.matches(what).count())
    };
    let asked = |function: Function| asked_of(function, true);
    let sum_of = |rows: u64, length: u64| {
        let (mut f, p) = function(&[(DType::F32, &[rows, length])]);
        let sum = row(&mut f, AccOp::Add, p[0]);
        result(&mut f, sum);
        f
    };
    let sum = |rows: u64| sum_of(rows, 1024);
    // Sixty-four lanes of `f32` are four lines. The sum of a row is stored for all of its elements.
    assert_eq!(asked(sum(1000)), [4, 4]);
    assert_eq!(asked(sum(30)), [0, 0]);
    // A long row is read in four places.
    assert_eq!(asked(sum_of(300, 8192)), [4 * 4, 4]);
    assert_eq!(asked(softmax(&[1000, 1024], DType::F32)), [4, 2]);
    assert_eq!(asked(softmax(&[30, 1024], DType::F32)), [0, 0]);
    // A processor that is not worth it is left alone but with long rows, and reads only longer rows so.
    assert_eq!(asked_of(softmax(&[1000, 1024], DType::F32), false), [0, 0]);
    assert_eq!(asked_of(softmax(&[1000, 4096], DType::F32), false), [4, 0]);
    let sums = |length: u64, asks: bool| {
        let text = lowered(sum_of(300, length), &Target { prefetches: asks, ..Target::wide() }).text;
        text.matches("arith.addf").count()
    };
    assert_eq!(sums(8192, false) + 6, sums(8192, true));
    assert_eq!(sums(65_536, false), sums(65_536, true));
}

/// A processor that gains from it is asked some pages ahead for what it reads in order from memory: by one thread wherever
/// that is one tensor, by several where passes over a row follow each other.
#[test]
fn what_is_read_in_order_from_memory_is_asked_for_pages_ahead() {
    let asks = |text: &str, threads: usize| {
        let target = Target { prefetches: false, prefetches_far: true, threads, ..Target::wide() };
        let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
        lowered(program.functions[0].clone(), &target).text.contains("prefetch")
    };
    let largest = |rows: u64, length: u64| {
        format!(
            "func main(x: f32[{rows},{length}]) -> (m) {{
  m : f32[{rows}] =:max over i<{rows}, j<{length} at [i]: x[i,j]
}}
"
        )
    };
    let centred = |rows: u64, length: u64| {
        format!(
            "func main(x: f32[{rows},{length}]) -> (y) {{
  let s : f32[{rows}] =:+ over i<{rows}, j<{length} at [i]: x[i,j]
  y : f32[{rows},{length}] =: over i<{rows}, j<{length}: x[i,j] - s[i]
}}
"
        )
    };
    let both = "func main(x: f32[10000,1024], y: f32[10000,1024]) -> (z) {
  z : f32[10000,1024] =: over i<10000, j<1024: x[i,j] + y[i,j]
}
";
    assert_eq!([10_000, 1000].map(|rows| asks(&largest(rows, 1024), 1)), [true, false]);
    // Rows that begin between lines, in the last cache.
    assert_eq!([1000, 1024].map(|length| asks(&largest(6000, length), 1)), [true, false]);
    assert_eq!([1000, 100].map(|length| asks(&centred(6_000_000 / length, length), 1)), [true, true]);
    assert!(!asks(both, 1) && !asks(&largest(10_000, 1024), 2));
    assert_eq!(
        [100, 1024, 4096].map(|length| asks(&centred(10_240_000 / length, length), 2)),
        [false, true, false]
    );
}

/// Rows that are read from their ends are asked for in the order of memory, whether results go past the caches or not,
/// by a processor that is asked for little else.
#[test]
fn rows_from_their_ends_are_asked_for() {
    let text = "func main(x: f32[16000,1000]) -> (y) {
  y : f32[16000,1000] =: over i<16000, j<1000: x[i,999 - j]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}"));
    for streams in [false, true] {
        let target = Target { prefetches: false, has_non_temporal_stores: streams, ..Target::wide() };
        let text = lowered(program.functions[0].clone(), &target).text;
        assert_eq!((text.contains("nontemporal"), text.contains("prefetch")), (streams, true), "{text}");
    }
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
    let transposed = |rows: u64| {
        let text = format!(
            "func main(x: f32[{rows},1024]) -> (y) {{\n  y : f32[1024,{rows}] =: over i<1024, j<{rows}: x[j,i]\n}}\n"
        );
        surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).functions[0].clone()
    };
    assert_eq!([2000, 4000, 10_000].map(|rows| streams(scaled(rows))), [false, true, true]);
    assert_eq!([2000, 6000, 7000].map(|rows| streams(fill(rows))), [false, false, true]);
    let narrow = Target { asymmetric_writes: true, ..target };
    assert_eq!([7000, 18_000, 19_000].map(|rows| on(fill(rows), &narrow)), [false, false, true]);
    assert!(on(scaled(4000), &narrow) && on(fill(7000), &Target { threads: 1, ..narrow }));
    let distant = Target { mesh_llc: true, ..target };
    assert_eq!([1000, 1100].map(|rows| on(scaled(rows), &distant)), [false, true]);
    assert_eq!([1104, 1103].map(|rows| on(transposed(rows), &distant)), [true, false]);
    assert!(!on(fill(2000), &distant));
}

/// The C library fills what leaves the caches of a core, if it is one byte again and again.
#[test]
fn one_byte_is_filled_in() {
    let fills = |value: Scalar, sizes: &[u64]| {
        let (mut f, _) = function(&[]);
        let all = f.fields.constant(&space(sizes), value);
        result(&mut f, all);
        lowered(f, &Target::wide()).text.contains("llvm.intr.memset")
    };
    let float = |value| Scalar::from_f64(DType::F32, value);
    let large = &[1000, 1000];
    assert_eq!([0.0, -0.0, 1.0].map(|v| fills(float(v), large)), [true, false, false]);
    assert!(fills(Scalar::from_i128(DType::I32, -1), large) && fills(Scalar::bool(true), &[4_000_000]));
    assert!(!fills(float(0.0), &[100, 1000]));
}

/// Rows in two parts: past the caches where both are of whole lines, or long enough to be done from line to line.
#[test]
fn no_line_goes_past_the_caches_in_part() {
    let target = Target { has_non_temporal_stores: true, ..Target::wide() };
    let streams = |rows: u64, [a, b]: [u64; 2]| {
        let all = a + b;
        let text = format!(
            "func main(x: f32[{rows},{a}], y: f32[{rows},{b}]) -> (z) {{
  z : f32[{rows},{all}] =: over i<{rows}, j<{all}: (x[i,j] where 0 <= j < {a} else -0.0f32) + (y[i,j - {a}] where 0 <= j - {a} < {b} else -0.0f32)
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        lowered(program.functions[0].clone(), &target).text.contains("nontemporal")
    };
    let parts = [[32, 32], [30, 34], [8, 56], [60, 52], [100, 12], [90, 22]];
    assert_eq!(parts.map(|parts| streams(400_000, parts)), [true, false, false, true, true, false]);
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
