//! Small programs of every kind: what they give on PTX is what the interpreter gives.

use crate::harness::{Collected, OnPtx, collect, on_ptx};
use surject_gpu::Gpu;
use surject_ir::testing::{Options, random_args, random_program_with};
use surject_ir::{Buffer, Program, interp, parse};

/// A program of one assignment, `y`, of parameters.
pub fn program(params: &str, assignment: &str) -> Program {
    let text = format!("program p\n\nfunc main({params}) -> (y) {{\n  {assignment}\n}}\n");
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Programs by what they show. Their functions of floats are exact to the last bit or close, as `near` says. (Long, as it is a list.)
pub fn programs() -> Vec<(String, Program, bool)> {
    let mut all = Vec::new();
    let mut add = |name: String, params: &str, assignment: &str, near: bool| {
        all.push((name, program(params, assignment), near));
    };
    // Elementwise, of each type, of lengths that fill blocks and that do not.
    for (dtype, n) in [
        ("f32", 256),
        ("f64", 300),
        ("f16", 257),
        ("bf16", 128),
        ("i8", 200),
        ("i16", 129),
        ("i32", 5),
        ("i64", 130),
        ("u8", 131),
        ("u16", 64),
        ("u32", 33),
        ("u64", 1),
    ] {
        let params = format!("a: {dtype}[{n}], b: {dtype}[{n}]");
        let text = format!("y : {dtype}[{n}] =: over i<{n}: a[i] * b[i] + a[i] - max(a[i], b[i])");
        add(format!("elementwise {dtype}"), &params, &text, false);
        let text =
            format!("y : {dtype}[{n}] =: over i<{n}: select(a[i] < b[i], a[i] / b[i], rem(a[i], b[i]))");
        add(format!("division {dtype}"), &params, &text, false);
    }
    for (dtype, n) in [("i32", 70), ("u8", 40), ("i64", 40), ("u32", 40), ("i16", 40)] {
        let params = format!("a: {dtype}[{n}], b: {dtype}[{n}]");
        let bits = format!(
            "y : {dtype}[{n}] =: over i<{n}: xor(shl(a[i], b[i]), or(shr_arith(a[i], b[i]), shr_logical(b[i], a[i])))"
        );
        add(format!("shifts {dtype}"), &params, &bits, false);
        let counted = format!("y : {dtype}[{n}] =: over i<{n}: popcount(a[i]) + clz(b[i]) + pow(a[i], b[i])");
        add(format!("counts {dtype}"), &params, &counted, false);
    }
    add(
        "truths".into(),
        "a: i1[99], b: i1[99]",
        "y : i1[99] =: over i<99: select(a[i] < b[i], and(a[i], b[i]), or(not(a[i]), b[i]))",
        false,
    );
    // Conversions.
    for (from, to) in [
        ("f32", "i8"),
        ("f32", "u32"),
        ("f64", "i64"),
        ("i64", "f32"),
        ("u64", "f16"),
        ("i32", "bf16"),
        ("f64", "f16"),
        ("f64", "bf16"),
        ("f16", "bf16"),
        ("bf16", "f64"),
        ("i8", "u64"),
        ("u16", "i1"),
        ("i1", "f32"),
        ("f32", "f64"),
        ("i64", "bf16"),
        ("f16", "u8"),
    ] {
        add(
            format!("{from} to {to}"),
            &format!("a: {from}[75]"),
            &format!("y : {to}[75] =: over i<75: {to}(a[i])"),
            false,
        );
    }
    for op in ["neg", "abs", "sign", "floor", "ceil", "round_even", "round_away", "sqrt", "rsqrt"] {
        for dtype in ["f32", "f64", "f16"] {
            add(
                format!("{op} {dtype}"),
                &format!("a: {dtype}[67]"),
                &format!("y : {dtype}[67] =: over i<67: {op}(a[i])"),
                false,
            );
        }
    }
    // Functions.
    for op in [
        "exp", "expm1", "log", "log1p", "logistic", "tanh", "sin", "cos", "tan", "erf", "erfc", "cbrt",
        "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh",
    ] {
        for dtype in ["f32", "f64"] {
            add(
                format!("{op} {dtype}"),
                &format!("a: {dtype}[40]"),
                &format!("y : {dtype}[40] =: over i<40: {op}(a[i])"),
                true,
            );
        }
    }
    for op in ["erf_inv", "lgamma", "digamma"] {
        add(op.into(), "a: f32[40]", &format!("y : f32[40] =: over i<40: {op}(a[i])"), true);
    }
    for op in ["pow", "atan2", "next_after"] {
        for dtype in ["f32", "f64"] {
            add(
                format!("{op} {dtype}"),
                &format!("a: {dtype}[40], b: {dtype}[40]"),
                &format!("y : {dtype}[40] =: over i<40: {op}(a[i], b[i])"),
                true,
            );
        }
    }
    // Broadcasts, permutations, windows with a border, strides, negative strides.
    add(
        "broadcast".into(),
        "a: f32[40], b: f32[30]",
        "y : f32[30,40] =: over i<30, j<40: a[j] * b[i]",
        false,
    );
    add("transposition".into(), "a: f32[40,50]", "y : f32[50,40] =: over i<50, j<40: a[j,i] + 1.0f32", false);
    add("permutation".into(), "a: i32[3,20,7]", "y : i32[7,3,20] =: over i<7, j<3, k<20: a[j,k,i]", false);
    add(
        "border".into(),
        "a: f32[20]",
        "y : f32[24] =: over i<24: (a[i - 2] where 0 <= i - 2 < 20 else 7.0f32)",
        false,
    );
    add("strides".into(), "a: bf16[90]", "y : bf16[30] =: over i<30: a[3*i + 1] + a[-i + 89]", false);
    add("one element".into(), "a: f64[]", "y : f64[] =: a[] * 3.0f64", false);
    add(
        "positions".into(),
        "a: f32[9,9]",
        "y : f32[9,9] =: over i<9, j<9: a[i,j] * f32(index(i)i32 + index(j)i32)",
        false,
    );
    // Reductions: by one thread, by warps, of all kinds; of all elements.
    add("row sums".into(), "a: f32[20,100]", "y : f32[20] =:+ over i<20, k<100 at [i]: a[i,k]", true);
    add(
        "long rows".into(),
        "a: f32[3,1000]",
        "y : f32[3] =:+ over i<3, k<1000 at [i]: a[i,k] * a[i,k]",
        true,
    );
    add("column sums".into(), "a: f64[100,40]", "y : f64[40] =:+ over i<40, k<100 at [i]: a[k,i]", true);
    add("row maxima".into(), "a: f16[20,100]", "y : f16[20] =:max over i<20, k<100 at [i]: a[i,k]", false);
    add("row minima".into(), "a: i64[20,64]", "y : i64[20] =:min over i<20, k<64 at [i]: a[i,k]", false);
    add("all of it".into(), "a: i32[600]", "y : i32[] =:+ over k<600 at []: a[k]", false);
    add("truth of all".into(), "a: i1[5,70]", "y : i1[5] =:and over i<5, k<70 at [i]: a[i,k]", false);
    add("bf16 sums".into(), "a: bf16[8,96]", "y : bf16[8] =:+ over i<8, k<96 at [i]: a[i,k]", true);
    // Sums into elements that meet.
    add("diagonals".into(), "a: i32[16,16]", "y : i32[31] =:+ over i<16, j<16 at [i+j]: a[i,j]", false);
    // Rows that are normalised.
    add(
        "softmax".into(),
        "a: f32[6,70]",
        "let m : f32[6] =:max over i<6, k<70 at [i]: a[i,k]\n  let e : f32[6,70] =: over i<6, j<70: exp(a[i,j] - m[i])\n  \
         let s : f32[6] =:+ over i<6, k<70 at [i]: e[i,k]\n  y : f32[6,70] =: over i<6, j<70: e[i,j] / s[i]",
        true,
    );
    add(
        "layer norm".into(),
        "a: f32[6,128]",
        "let m : f32[6] =: over i<6: (+ over i<6, k<128 at [i]: a[i,k]) / 128.0f32\n  \
         let d : f32[6,128] =: over i<6, j<128: a[i,j] - m[i]\n  \
         let v : f32[6] =: over i<6: (+ over i<6, k<128 at [i]: d[i,k] * d[i,k]) / 128.0f32\n  \
         y : f32[6,128] =: over i<6, j<128: d[i,j] / sqrt(v[i] + 0.001f32)",
        true,
    );
    // Products.
    for (dtype, near) in
        [("f32", true), ("f64", true), ("f16", true), ("bf16", true), ("i32", false), ("i8", false)]
    {
        add(
            format!("product {dtype}"),
            &format!("a: {dtype}[20,30], b: {dtype}[30,24]"),
            &format!("y : {dtype}[20,24] =:+ over i<20, j<24, k<30 at [i,j]: a[i,k] * b[k,j]"),
            near,
        );
    }
    add(
        "convolution".into(),
        "a: f32[12,12], w: f32[3,3]",
        "y : f32[12,12] =:+ over i<12, j<12, p<3, q<3 at [i,j]: \
         (a[i + p - 1,j + q - 1] where 0 <= i + p - 1 < 12 and 0 <= j + q - 1 < 12 else 0.0f32) * w[p,q]",
        true,
    );
    all
}

fn args(program: &Program, seed: u64) -> Vec<Buffer> {
    random_args(program.function("main").unwrap(), seed)
}

/// Random programs of all kinds: assignments, loops, choices, library operations. What has no kernel is passed over.
#[test]
fn random_programs_on_ptx_give_what_the_interpreter_gives() {
    let (gpu, mut collected, mut all) = (Gpu::named("sm_80").unwrap(), Collected::default(), Vec::new());
    for seed in 0..80 {
        let program = random_program_with(seed, 10, &Options::everything());
        let args = args(&program, seed);
        let limits = interp::Limits { iterations: Some(100) };
        let Ok(expected) = interp::run_within(&program, "main", &args, limits) else { continue };
        if collect(&program, &args, &gpu, &mut collected).is_some() {
            all.push((seed, program, args, expected));
        }
    }
    assert!(all.len() > 40, "only {} programs: {:?}", all.len(), collected.refused);
    let module = surject_ptx::parse(&collected.ptx(gpu.name)).unwrap_or_else(|error| panic!("{error}"));
    let mut executor =
        OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
    for (seed, program, args, expected) in &all {
        let found = on_ptx(program, args, &gpu, &mut executor);
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            let report = surject_runtime::compare::compare(found, expected, 1e-4, 1e-4);
            assert!(report.passed(), "result {i} of seed {seed}: {report}\n{}", surject_ir::print(program));
        }
    }
}

#[test]
fn programs_on_ptx_give_what_the_interpreter_gives() {
    for gpu in Gpu::ALL {
        let mut collected = Collected::default();
        // The code of the other machines differs little.
        let some = if gpu.name == "sm_80" { 1 } else { 4 };
        let all: Vec<_> = programs().into_iter().step_by(some).collect();
        for (i, (name, program, _)) in all.iter().enumerate() {
            let found = collect(program, &args(program, i as u64), &gpu, &mut collected);
            assert!(found.is_some(), "{name}: {:?}", collected.refused.last());
        }
        assert!(collected.written.len() >= 120 / some, "only {} kernels", collected.written.len());
        let text = collected.ptx(gpu.name);
        let module = surject_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut executor =
            OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        for (i, (name, program, near)) in all.iter().enumerate() {
            let args = args(program, i as u64);
            let expected = interp::run(program, "main", &args).unwrap();
            let found = on_ptx(program, &args, &gpu, &mut executor);
            for (found, expected) in found.iter().zip(&expected) {
                let close = match expected.dtype() {
                    surject_ir::DType::F64 => 1e-12,
                    surject_ir::DType::F32 => 2e-6,
                    _ => 1e-2,
                };
                let tolerance = if *near { close } else { 0.0 };
                let report = surject_runtime::compare::compare(found, expected, tolerance, tolerance);
                assert!(report.passed(), "{name} on {}: {report}", gpu.name);
            }
        }
    }
}
