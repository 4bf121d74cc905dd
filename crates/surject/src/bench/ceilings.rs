//! What this machine can do, measured: multiply-adds in registers, and moving bytes.

use crate::Failure;
use std::fmt::Write;
use std::time::Instant;
use surject_codegen::Target;
use surject_mlir::jit::{self, CompiledModule, JitOptions};
use surject_runtime::Scalar;
use surject_runtime::{Buffer, DType, pool};

/// How often something is measured.
#[derive(Clone, Copy)]
enum Runs {
    Times(usize),
    /// So many seconds, and at least three times.
    Within(f64),
}

/// Runs a module's entry on arrays of bytes, and gives the least time of some runs, in seconds.
fn least(compiled: &CompiledModule, arrays: &mut [Buffer], runs: Runs) -> Result<f64, Failure> {
    let entry = compiled.entry("entry").map_err(Failure::unsupported)?;
    let pointers: Vec<*mut u8> = arrays.iter_mut().map(Buffer::as_mut_ptr).collect();
    let mut best = f64::INFINITY;
    let (begin, mut run) = (Instant::now(), 0);
    while match runs {
        Runs::Times(times) => run < times,
        Runs::Within(seconds) => run < 3 || begin.elapsed().as_secs_f64() < seconds,
    } {
        run += 1;
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
    let (threads, lanes) = (pool::threads(), Target::host().vector_bytes / 4);
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
    let compiled =
        jit::compile(&module(&body, tasks), &JitOptions::default()).map_err(Failure::unsupported)?;
    let time = least(&compiled, &mut arrays, Runs::Times(6))?;
    Ok((2 * CHAINS * STEPS * lanes * tasks) as f64 / time)
}

/// What moves as many bytes as a program: it reads so many and writes so many, and does nothing else. The faster counts
/// of one that stores through the caches and one that stores past them.
pub struct Mover {
    ways: Vec<CompiledModule>,
    arrays: [Buffer; 2],
    /// The bytes it is asked for over those that it moves: it moves whole blocks.
    scale: f64,
}

/// Vectors that are moved at a time.
const UNROLL: usize = 4;

/// How often a task changes between copying and what is read or written beside it.
const TURNS: usize = 64;

/// What a task of a [`Mover`] does in a turn, in groups of [`UNROLL`] vectors: so many are copied, and so many more read or
/// written.
#[derive(Clone, Copy)]
struct Turn {
    copied: usize,
    read: usize,
    written: usize,
}

impl Mover {
    /// One that reads and writes so many bytes.
    pub fn new(reads: f64, writes: f64) -> Result<Mover, Failure> {
        let target = Target::host();
        let (tasks, group) = (4 * pool::threads(), UNROLL * target.vector_bytes);
        let groups = |bytes: f64| (bytes / (tasks * group) as f64).min((1 << 22) as f64);
        // At least a few groups, or calls would be all that there is.
        let least = 16.0 / (groups(reads) + groups(writes)).max(1.0 / 1024.0);
        let all = [reads, writes].map(|bytes| (groups(bytes) * least.max(1.0)).round() as usize);
        let turns = (all[0].max(all[1]) / 16).clamp(1, TURNS);
        let [reads_of_turn, writes_of_turn] = all.map(|n| (n + turns / 2) / turns);
        let copied = reads_of_turn.min(writes_of_turn);
        let turn = Turn { copied, read: reads_of_turn - copied, written: writes_of_turn - copied };
        let moved = (reads_of_turn + writes_of_turn) * turns * tasks * group;
        let stores: &[(bool, &str)] =
            if target.has_non_temporal_stores { &[(false, ""), (true, FENCE)] } else { &[(false, "")] };
        let ways = stores.iter().map(|&(past, fence)| {
            let store = match past {
                true => format!("alignment = {} : i64, nontemporal", target.vector_bytes),
                false => "alignment = 4 : i64".to_string(),
            };
            let text = module(&turn.body(turns, target.vector_bytes, (&store, fence)), tasks);
            jit::compile(&text, &JitOptions::default()).map_err(Failure::unsupported)
        });
        let array = |n: usize| {
            let floats = (n * turns * tasks * group / 4).max(16);
            Buffer::splat(Scalar::from_f64(DType::F32, 1.0), &[floats])
        };
        Ok(Mover {
            ways: ways.collect::<Result<_, _>>()?,
            arrays: [array(writes_of_turn), array(reads_of_turn)],
            scale: if moved > 0 { (reads + writes) / moved as f64 } else { 0.0 },
        })
    }

    /// The least time of those that it takes within so many seconds, in seconds.
    pub fn time(&mut self, seconds: f64) -> Result<f64, Failure> {
        let mut best = f64::INFINITY;
        for way in &self.ways {
            best = best.min(least(way, &mut self.arrays, Runs::Within(seconds / self.ways.len() as f64))?);
        }
        Ok(best * self.scale)
    }
}

const FENCE: &str = "llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()\n";

impl Turn {
    /// The turns of a task, with vectors of so many bytes.
    fn body(self, turns: usize, bytes: usize, (store, fence): (&str, &str)) -> String {
        let lanes = bytes / 4;
        let ty = format!("vector<{lanes}xf32>");
        let mut body = format!(
            "%low = arith.constant 0 : i64\n%one = arith.constant 1 : i64\n%turns = arith.constant {turns} : i64\n\
             %group = arith.constant {} : i64\n%value = arith.constant dense<1.0> : {ty}\n\
             %to = llvm.load %ptrs : !llvm.ptr -> !llvm.ptr\n\
             %next = llvm.getelementptr %ptrs[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n\
             %from = llvm.load %next : !llvm.ptr -> !llvm.ptr\n%first = arith.muli %task, %turns : i64\n",
            UNROLL * lanes
        );
        for i in 0..UNROLL {
            let _ = writeln!(body, "%o{i} = arith.constant {} : i64", i * lanes);
        }
        body.push_str(
            "scf.for %turn = %low to %turns step %one : i64 {\n%at = arith.addi %first, %turn : i64\n",
        );
        // Both sides begin a turn where the one before it ended; what is copied comes first.
        let (reads, writes) = (self.copied + self.read, self.copied + self.written);
        for (name, from, count) in
            [("c", 0, self.copied), ("r", self.copied, self.read), ("w", self.copied, self.written)]
        {
            if count == 0 {
                continue;
            }
            let _ = writeln!(
                body,
                "%{name}n = arith.constant {count} : i64\nscf.for %{name}i = %low to %{name}n step %one : i64 {{"
            );
            for (side, array, each) in [("p", "from", reads), ("q", "to", writes)] {
                if (name, side) == ("r", "q") || (name, side) == ("w", "p") {
                    continue;
                }
                let _ = writeln!(
                    body,
                    "%{name}{side}e = arith.constant {each} : i64\n%{name}{side}f = arith.constant {from} : i64\n\
                     %{name}{side}b = arith.muli %at, %{name}{side}e : i64\n\
                     %{name}{side}c = arith.addi %{name}{side}b, %{name}{side}f : i64\n\
                     %{name}{side}d = arith.addi %{name}{side}c, %{name}i : i64\n\
                     %{name}{side}g = arith.muli %{name}{side}d, %group : i64"
                );
                for i in 0..UNROLL {
                    let _ = writeln!(
                        body,
                        "%{name}{side}k{i} = arith.addi %{name}{side}g, %o{i} : i64\n\
                         %{name}{side}{i} = llvm.getelementptr %{array}[%{name}{side}k{i}] : (!llvm.ptr, i64) -> !llvm.ptr, f32"
                    );
                }
            }
            for i in 0..UNROLL {
                // What is read and goes nowhere is read all the same.
                let how = if name == "r" { "volatile " } else { "" };
                if name != "w" {
                    let _ = writeln!(
                        body,
                        "%{name}v{i} = llvm.load {how}%{name}p{i} {{alignment = 4 : i64}} : !llvm.ptr -> {ty}"
                    );
                }
                if name != "r" {
                    let value = if name == "w" { "%value".to_string() } else { format!("%{name}v{i}") };
                    let _ = writeln!(body, "llvm.store {value}, %{name}q{i} {{{store}}} : {ty}, !llvm.ptr");
                }
            }
            body.push_str("}\n");
        }
        body.push_str("}\n");
        body.push_str(fence);
        body
    }
}
