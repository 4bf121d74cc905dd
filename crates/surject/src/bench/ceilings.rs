//! What this machine can do, measured: multiply-adds in registers, and copying.

use crate::Failure;
use std::fmt::Write;
use std::time::Instant;
use surject_codegen::Target;
use surject_mlir::jit::{self, JitOptions};
use surject_runtime::Scalar;
use surject_runtime::{Buffer, DType, pool};

/// Runs a module's entry on arrays of bytes, and gives the least time of some runs, in seconds.
fn least(text: &str, arrays: &mut [Buffer], runs: usize) -> Result<f64, Failure> {
    let compiled = jit::compile(text, &JitOptions::default()).map_err(Failure::unsupported)?;
    let entry = compiled.entry("entry").map_err(Failure::unsupported)?;
    let pointers: Vec<*mut u8> = arrays.iter_mut().map(Buffer::as_mut_ptr).collect();
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        // SAFETY: the text below reads and writes these arrays only, within the bytes they have.
        unsafe { entry.call(&[], &pointers, std::ptr::null_mut(), &[]) };
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn module(body: &str, tasks: usize) -> String {
    format!(
        "llvm.func @surject_parallel(!llvm.ptr, i64, i64, !llvm.ptr)\n\
         llvm.func internal @kernel(%task: i64, %worker: i64, %ptrs: !llvm.ptr) {{\n{body}llvm.return\n}}\n\
         llvm.func @entry(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {{\n\
         %f = llvm.mlir.addressof @kernel : !llvm.ptr\n%n = arith.constant {tasks} : i64\n\
         llvm.call @surject_parallel(%f, %n, %n, %results) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()\nllvm.return\n}}\n"
    )
}

/// Operations a second of `f32` multiply-adds on all threads.
pub fn flops() -> Result<f64, Failure> {
    const CHAINS: usize = 12;
    /// As long as a large product takes: clocks are higher for a moment than they stay.
    const STEPS: usize = 400_000;
    /// Tasks of a thread: another process on one of the processors then holds up little.
    const SHARES: usize = 8;
    let (threads, lanes) = (pool::threads(), Target::host().lanes_bytes / 4);
    let ty = format!("vector<{lanes}xf32>");
    let mut body = format!(
        "%low = arith.constant 0 : i64\n%high = arith.constant {STEPS} : i64\n%one = arith.constant 1 : i64\n\
         %at = llvm.load %ptrs : !llvm.ptr -> !llvm.ptr\n%width = arith.constant {lanes} : i64\n\
         %first = arith.muli %task, %width : i64\n\
         %p = llvm.getelementptr %at[%first] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n\
         %x = llvm.load %p {{alignment = 4 : i64}} : !llvm.ptr -> {ty}\n"
    );
    let list = |f: &dyn Fn(usize) -> String| (0..CHAINS).map(f).collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        body,
        "%r:{CHAINS} = scf.for %i = %low to %high step %one iter_args({}) -> ({}) : i64 {{",
        list(&|i| format!("%a{i} = %x")),
        list(&|_| ty.clone())
    );
    for i in 0..CHAINS {
        let _ = writeln!(body, "%b{i} = math.fma %a{i}, %x, %x : {ty}");
    }
    let _ = writeln!(body, "scf.yield {} : {}\n}}", list(&|i| format!("%b{i}")), list(&|_| ty.clone()));
    let mut sum = "%r#0".to_string();
    for i in 1..CHAINS {
        let _ = writeln!(body, "%s{i} = arith.addf {sum}, %r#{i} : {ty}");
        sum = format!("%s{i}");
    }
    let _ = writeln!(body, "llvm.store {sum}, %p {{alignment = 4 : i64}} : {ty}, !llvm.ptr");
    let tasks = SHARES * threads;
    let mut arrays = [Buffer::zeros(DType::F32, &[tasks * lanes])];
    let time = least(&module(&body, tasks), &mut arrays, 6)?;
    Ok((2 * CHAINS * STEPS * lanes * tasks) as f64 / time)
}

/// Bytes a second, read and written, of a copy whose two sides have so many bytes together: the faster of one that
/// stores through the caches and one that stores past them.
pub fn bandwidth(bytes: f64) -> Result<f64, Failure> {
    let near = copy(bytes, "alignment = 4 : i64", "")?;
    if !Target::host().streams {
        return Ok(near);
    }
    let fence = "llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()\n";
    // Buffers begin with a line, and so does what a task has of them.
    let line = Target::host().lanes_bytes;
    Ok(near.max(copy(bytes, &format!("alignment = {line} : i64, nontemporal"), fence)?))
}

fn copy(bytes: f64, store: &str, fence: &str) -> Result<f64, Failure> {
    const UNROLL: usize = 4;
    let (threads, lanes) = (pool::threads(), Target::host().lanes_bytes / 4);
    let line = UNROLL * lanes;
    let tasks = 4 * threads;
    let each = ((bytes / 8.0) as usize / tasks / line).clamp(16, 1 << 22) * line;
    let ty = format!("vector<{lanes}xf32>");
    let mut body = format!(
        "%low = arith.constant 0 : i64\n%high = arith.constant {each} : i64\n%step = arith.constant {line} : i64\n\
         %to = llvm.load %ptrs : !llvm.ptr -> !llvm.ptr\n\
         %next = llvm.getelementptr %ptrs[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n\
         %from = llvm.load %next : !llvm.ptr -> !llvm.ptr\n%first = arith.muli %task, %high : i64\n\
         scf.for %i = %low to %high step %step : i64 {{\n%at = arith.addi %first, %i : i64\n"
    );
    for i in 0..UNROLL {
        let _ = write!(
            body,
            "%o{i} = arith.constant {} : i64\n%k{i} = arith.addi %at, %o{i} : i64\n\
             %p{i} = llvm.getelementptr %from[%k{i}] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n\
             %q{i} = llvm.getelementptr %to[%k{i}] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n\
             %v{i} = llvm.load %p{i} {{alignment = 4 : i64}} : !llvm.ptr -> {ty}\n\
             llvm.store %v{i}, %q{i} {{{store}}} : {ty}, !llvm.ptr\n",
            i * lanes
        );
    }
    let _ = write!(body, "}}\n{fence}");
    let mut arrays = [0, 1].map(|_| Buffer::splat(Scalar::from_f64(DType::F32, 1.0), &[each * tasks]));
    let time = least(&module(&body, tasks), &mut arrays, 12)?;
    Ok((8 * each * tasks) as f64 / time)
}
