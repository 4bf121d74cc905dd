//! Sorts in shared memory and the passes that merge parts: what they give is what the interpreter gives.

use crate::harness::{Collected, OnPtx, collect, for_all, on_ptx};
use surject_codegen::kernels::run::calls;
use surject_gpu::Gpu;
use surject_ir::{Buffer, DType, Program, interp, parse};

/// A sort of keys, which many elements have, and of their numbers with them, by the keys alone: it is stable.
fn sort(shape: [i64; 2], axis: usize, dtype: &str) -> Program {
    let [a, b] = shape;
    let text = format!(
        "program p\n\nfunc main(x: {dtype}[{a},{b}], n: i32[{a},{b}]) -> (s, t) {{\n  \
         s : {dtype}[{a},{b}], t : i32[{a},{b}] = call sort{{axis={axis}, stable=true}}(x, n) {{\n    \
         region(p: {dtype}[], q: {dtype}[], u: i32[], v: i32[]) -> (r) {{\n      r : i1[] =: p < q\n    }}\n  }}\n}}\n"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn args(shape: [i64; 2], dtype: DType) -> Vec<Buffer> {
    let all = (shape[0] * shape[1]) as usize;
    let shape = shape.map(|n| n as usize);
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i32 % (all as i32 / 3 + 1)
    };
    let keys: Vec<u8> = (0..all)
        .flat_map(|_| match dtype {
            DType::F32 => (next() as f32).to_ne_bytes().to_vec(),
            DType::I64 => i64::from(next()).to_ne_bytes().to_vec(),
            _ => next().to_ne_bytes().to_vec(),
        })
        .collect();
    let numbers: Vec<u8> = (0..all as i32).flat_map(|i| i.to_ne_bytes()).collect();
    vec![
        Buffer::from_bytes(dtype, &shape, &keys).unwrap(),
        Buffer::from_bytes(DType::I32, &shape, &numbers).unwrap(),
    ]
}

/// Lines that one block sorts, that several do, whole ones and others, and lines whose elements do not lie together.
#[test]
fn sorts_give_what_the_interpreter_gives() {
    let gpu = Gpu::named("sm_90a").unwrap();
    let cases = [
        ([3, 100], 1, "f32", DType::F32, 1),
        ([1, 256], 1, "i32", DType::I32, 1),
        ([2, 777], 1, "i64", DType::I64, 1),
        ([1, 5000], 1, "f32", DType::F32, 3),
        ([2, 4096], 1, "i32", DType::I32, 2),
        ([70, 3], 0, "f32", DType::F32, 7),
    ];
    let mut collected = Collected::default();
    let mut all = Vec::new();
    for (shape, axis, name, dtype, launches) in cases {
        let program = sort(shape, axis, name);
        let args = args(shape, dtype);
        let expected = interp::run(&program, "main", &args).unwrap();
        let function = program.function("main").unwrap();
        let made = calls(function).remove(0).1.kernels(&gpu, "s").unwrap();
        assert_eq!(made.launches.len(), launches, "{shape:?}");
        let found = collect(&program, &args, &gpu, &mut collected);
        assert_eq!(found.as_ref(), Some(&expected), "{shape:?}: {:?}", collected.refused);
        all.push((program, args, expected));
    }
    let module = surject_ptx::parse(&collected.ptx(gpu.name)).unwrap_or_else(|error| panic!("{error}"));
    for_all(&all, |(program, args, expected)| {
        let mut executor =
            OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        assert_eq!(&on_ptx(program, args, &gpu, &mut executor), expected);
    });
}

/// Windows that are the line before an element or after it: sums with initial values that are none of the function's, a
/// function that does not commute, and one of floats. Padding takes part.
#[test]
fn lines_of_windows_are_scans() {
    let gpu = Gpu::named("sm_90a").unwrap();
    let add = "r : DT[] =: p + q";
    let second = "r : DT[] =: q";
    let log = "m : DT[] =: max(p, q)\n      r : DT[] =: m + log1p(exp(neg(abs(p - q))))";
    let mut collected = Collected::default();
    let mut all = Vec::new();
    for (shape, axis, from_the_end, name, function, init) in [
        ([3, 100], 1, false, "i32", add, "3i32"),
        ([70, 5], 0, true, "i32", add, "3i32"),
        ([2, 300], 1, true, "i32", second, "7i32"),
        ([2, 64], 1, false, "i32", second, "7i32"),
        ([2, 256], 1, false, "f32", log, "-1000.0f32"),
        ([2, 257], 1, true, "f32", log, "-1000.0f32"),
    ] {
        let [a, b] = shape;
        let n = shape[axis];
        let padding = |d: usize| match (d == axis, from_the_end) {
            (false, _) => "[0,0]".to_string(),
            (true, false) => format!("[{},0]", n - 1),
            (true, true) => format!("[0,{}]", n - 1),
        };
        let size = |d: usize| if d == axis { n } else { 1 };
        let function = function.replace("DT", name);
        let text = format!(
            "program p\n\nfunc main(x: {name}[{a},{b}]) -> (y) {{\n  i : {name}[] =: {init}\n  \
             y : {name}[{a},{b}] = call reduce_window{{sizes=[{},{}], strides=[1,1], base_dilations=[1,1], \
             window_dilations=[1,1], padding=[{},{}]}}(x, i) {{\n    region(p: {name}[], q: {name}[]) -> (r) {{\n      \
             {function}\n    }}\n  }}\n}}\n",
            size(0),
            size(1),
            padding(0),
            padding(1)
        );
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let dtype = if name == "f32" { DType::F32 } else { DType::I32 };
        let args = vec![args(shape, dtype).remove(0)];
        let expected = interp::run(&program, "main", &args).unwrap();
        let made = calls(program.function("main").unwrap()).remove(0).1.kernels(&gpu, "s").unwrap();
        let is_shared = |m: &surject_kernel::Memory| m.space == surject_kernel::Space::Shared;
        assert!(made.launches[0].kernel.memory.iter().any(is_shared), "{shape:?} along {axis}");
        let found = collect(&program, &args, &gpu, &mut collected);
        let found = found.unwrap_or_else(|| panic!("{:?}", collected.refused));
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-5, 1e-5);
        assert!(report.passed(), "{shape:?} along {axis}: {report}");
        all.push((program, args, expected));
    }
    let module = surject_ptx::parse(&collected.ptx(gpu.name)).unwrap_or_else(|error| panic!("{error}"));
    let mut executor =
        OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
    for (program, args, expected) in &all {
        let found = on_ptx(program, args, &gpu, &mut executor);
        let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-5, 1e-5);
        assert!(report.passed(), "{report}");
    }
}
