//! Kernels as MLIR for a CPU: the text, and what has no form. That it computes the same is tested end to end.

use surject_codegen::code::Module;
use surject_codegen::kernels::legal::legal_for;
use surject_codegen::kernels::native::{Native, Tasks};
use surject_cpu::Cpu;
use surject_cpu::write::{self, WriteError};
use surject_kernel::{Kernel, parse, verify};

fn cpu() -> Cpu {
    Cpu::named("avx512").unwrap()
}

fn module<'a>(kernels: impl IntoIterator<Item = &'a Kernel>) -> Result<Module, WriteError> {
    write::module(&cpu(), kernels)
}

fn tasks(kernel: &Kernel) -> Result<Tasks, WriteError> {
    write::tasks(&cpu(), kernel)
}

fn kernel(text: &str) -> Kernel {
    let mut kernels = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let kernel = kernels.remove(0);
    verify(&kernel).unwrap_or_else(|error| panic!("{error}"));
    kernel
}

#[test]
fn tasks_are_functions_of_their_own() {
    let text = "
kernel scale(x: read f32[64], y: write f32[64]) {
  %0 = splat 2.0 : f32x8
  for %1 = 0 to 8 parallel(task) {
    %2 = load x[8*%1 + lane] : f32x8
    %3 = mul %2, %0 : f32x8
    store %3, y[8*%1 + lane]
  }
}";
    insta::assert_snapshot!(module([&kernel(text)]).unwrap().text());
}

/// So is a choice that all tasks make alike; a store is not.
#[test]
fn tasks_choose_again_what_all_need() {
    let text = |store: &str| {
        format!(
            "kernel k(x: read f32[1], out: write f32[64]) {{
  %0 = load x[0] : f32
  %1 = splat 1.0 : f32
  %2 = ge %0, %1 : i1
  %5 = if %2 {{
    %3 = add %0, %1 : f32
    {store}
    yield %3
  }} else {{
    %4 = mul %0, %0 : f32
    yield %4
  }} : f32
  for %6 = 0 to 64 parallel(task) {{
    store %5, out[%6]
  }}
}}
"
        )
    };
    let count = |text: String| tasks(&kernel(&text)).unwrap().count;
    assert_eq!(count(text("")), Some(64));
    assert_eq!(count(text("store %3, out[0]")), Some(1));
}

/// What every task loads of a tensor that is only read stands before the loop over tasks, and functions of angles that are too
/// large for formulas are those of the runtime.
#[test]
fn tasks_load_again_what_all_need_and_call_functions() {
    let text = "
kernel wave(x: read f32[64], y: write f32[64]) {
  %0 = load x[0] : f32
  for %1 = 0 to 64 parallel(task) {
    %2 = load x[%1] : f32
    %3 = sin %2 : f32
    %4 = mul %3, %0 : f32
    store %4, y[%1]
  }
}";
    let kernel = legal_for(&kernel(text), cpu().arithmetic()).unwrap();
    let Tasks { count, calls, .. } = tasks(&kernel).unwrap();
    assert_eq!(count, Some(64));
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["surject_sin_f32"]);
    assert!(module([&kernel]).unwrap().text().contains("llvm.func @surject_sin_f32(f32) -> f32"));
}

#[test]
fn guards_of_lanes_are_masks() {
    let text = "
kernel pad(x: read bf16[6], y: write f32[8]) {
  %0 = load x[lane - 1] where 0 <= lane - 1 < 6 else 0.0 : bf16x8
  %1 = convert %0 : f32x8
  store %1, y[lane]
}";
    insta::assert_snapshot!(module([&kernel(text)]).unwrap().text());
}

#[test]
fn what_only_a_gpu_has_is_refused() {
    let text = "
kernel twice(x: read f32[64], y: write f32[64]) {
  for %0 = 0 to 2 parallel(block) {
    for %1 = 0 to 32 parallel(thread) {
      %2 = load x[32*%0 + %1] : f32
      store %2, y[32*%0 + %1]
    }
  }
}";
    let error = tasks(&kernel(text)).unwrap_err();
    assert_eq!(error.kernel, "twice");
    assert!(error.to_string().contains("a loop over blocks, which are a GPU's"), "{error}");
    assert!(error.statement.is_some_and(|s| s.starts_with("for %0 = 0 to 2 parallel(block)")));
}

/// Memory that would leave a thread no stack is refused, also where each by itself is small enough.
#[test]
fn memory_of_a_kernel_fits_the_stack_of_a_thread() {
    let memories = |count: i64, elements: i64| -> String {
        let alloc = |i: i64| format!("  alloc m{i}: stack f32[{elements}]\n  store %0, m{i}[0]\n");
        let all: String = (0..count).map(alloc).collect();
        format!(
            "kernel many(x: read f32[1], y: write f32[1]) {{\n  %0 = load x[0] : f32\n{all}  store %0, y[0]\n}}"
        )
    };
    assert!(tasks(&kernel(&memories(3, 1 << 17))).is_ok());
    let error = tasks(&kernel(&memories(4, 1 << 17))).unwrap_err();
    assert!(error.to_string().contains("a kernel has at most 1572864"), "{error}");
    assert!(error.statement.is_some_and(|s| s.starts_with("alloc m3")));
    let error = tasks(&kernel(&memories(1, (1 << 17) + 1))).unwrap_err();
    assert!(error.to_string().contains("a memory has at most 524288"), "{error}");
}

/// What a loop does not change of an address stands before it; where neighbours are too far apart for an index, a pointer goes along.
/// An address that a value of the loop is part of, and one in a loop that has another inside, are found where they are needed.
#[test]
fn pointers_go_along_with_the_innermost_loop() {
    let text = "
kernel sums(a: read f32[4096], b: read f32[4096], out: write f32[16]) {
  %0 = splat 0.0 : f32
  for %1 = 0 to 16 parallel(task) {
    %9 = for %2 = 0 to 30 step 2 carry(%3 = %0) {
      %4 = load a[17*%1 + %2 + 3] : f32
      %5 = load b[64*%2 + %1 + 128] : f32
      %10 = index 3*%2 : i64
      %6 = load b[%10] : f32
      %7 = fma %4, %5, %3 : f32
      %8 = add %7, %6 : f32
      yield %8
    } : f32
    store %9, out[%1]
  }
}";
    insta::assert_snapshot!(module([&kernel(text)]).unwrap().text());
}
