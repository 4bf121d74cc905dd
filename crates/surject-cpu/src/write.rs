//! From kernels to MLIR for a CPU: functions in the dialects `llvm`, `scf`, `arith` and `vector`.
//!
//! # The module
//!
//! A kernel `NAME` becomes `@NAME(%tensors, %results, %sizes, %constants)`, all `!llvm.ptr`, the signature of every entry
//! of compiled code: `%tensors` is an array of the addresses of the kernel's tensors, in order, and `%sizes` an array of
//! its sizes, 64 bits each; the other two are not used. Tensors are aligned to their elements and do not overlap.
//!
//! A loop over tasks that is all that a kernel does becomes a function of its own, which the thread pool of
//! `surject-runtime` runs for each task (`surject_parallel`); what stands before the loop is computed in every task again.
//! Other loops over tasks run one task after the other, which their semantics allow.
//!
//! # Values
//!
//! A vector of the kernel is a vector of MLIR. Elements of `i1` are bytes in memory. A `bf16` is its 16 bits, in registers
//! too: LLVM would call functions of a library to convert one. Accesses of lanes that lie next to each other are vector
//! loads and stores, with a mask where guards or a mask of the kernel say so; others are gathers and scatters.
//!
//! # Limits
//!
//! The kernel is in the operations that [`surject_codegen::kernels::legal`] leaves. What has no form here is a
//! [`WriteError`]: what only a GPU has (blocks, warps, threads, barriers, exchanges, copies in the background), matrix
//! products, memory whose size is known at run time only, and atomic operations that LLVM has no instruction for.

mod control;
mod memory;
mod value;

use std::collections::HashMap;
use surject_codegen::kernels::mlir::{self, Done, KernelWriter, Text, lanes_of};
use surject_ir::DType;
use surject_kernel::{Affine, Guard, Kernel, Mem};

pub use surject_codegen::kernels::mlir::WriteError;

/// The functions of a kernel, in the operations that [`surject_codegen::kernels::legal`] leaves; [`module`] puts them into
/// a module.
pub fn write(kernel: &Kernel) -> Result<String, WriteError> {
    let mut writer = Writer::new(kernel);
    let written = writer.kernel();
    written.map_err(|message| writer.text.blame(message))
}

/// A module with these functions of kernels, whose names differ.
pub fn module<'a>(kernels: impl IntoIterator<Item = &'a str>) -> String {
    let text: String = kernels.into_iter().collect();
    format!("llvm.func @surject_parallel(!llvm.ptr, i64, i64, !llvm.ptr)\n{text}")
}

/// Where a condition holds.
enum Condition {
    /// Everywhere.
    Always,
    /// In all lanes or in none: an `i1`.
    Uniform(String),
    /// In some lanes: a vector of `i1`.
    Lanes(String),
}

struct Writer<'k> {
    kernel: &'k Kernel,
    text: Text<'k>,
    /// The pointers to memory.
    memory: HashMap<Mem, String>,
}

impl<'k> Writer<'k> {
    fn new(kernel: &'k Kernel) -> Writer<'k> {
        Writer { kernel, text: Text::new(kernel, 1), memory: HashMap::new() }
    }

    /// An affine expression in each of several lanes, as a vector of `i64`.
    fn affine_lanes(&mut self, affine: &Affine, lanes: usize) -> Done<String> {
        let base = self.affine(affine, 0)?;
        let base = self.broadcast(&base, "i64", lanes);
        if affine.lane == 0 {
            return Ok(base);
        }
        let steps: Vec<String> = (0..lanes as i64).map(|l| l.wrapping_mul(affine.lane).to_string()).collect();
        let ty = lanes_of("i64", lanes);
        let steps = self.constant(&format!("dense<[{}]>", steps.join(", ")), &ty);
        Ok(self.op(&format!("arith.addi {base}, {steps} : {ty}")))
    }

    /// A scalar in every lane; itself where there is one.
    fn broadcast(&mut self, scalar: &str, element: &str, lanes: usize) -> String {
        match lanes {
            1 => scalar.to_string(),
            _ => self.op(&format!("vector.broadcast {scalar} : {element} to {}", lanes_of(element, lanes))),
        }
    }

    /// Where do guards hold?
    fn guards(&mut self, guards: &[Guard], lanes: usize) -> Done<Condition> {
        let mut all = Condition::Always;
        for guard in guards {
            let Guard { expr, bound } = guard;
            let uniform = lanes == 1 || expr.lane == 0 && bound.lane == 0;
            let (expr, bound, across) = match uniform {
                true => (self.affine(expr, 0)?, self.affine(bound, 0)?, 1),
                false => (self.affine_lanes(expr, lanes)?, self.affine_lanes(bound, lanes)?, lanes),
            };
            let holds = self.within(guard, [&expr, &bound], across);
            let holds = if uniform { Condition::Uniform(holds) } else { Condition::Lanes(holds) };
            all = self.both(all, holds, lanes);
        }
        Ok(all)
    }

    fn both(&mut self, a: Condition, b: Condition, lanes: usize) -> Condition {
        use Condition::{Always, Lanes, Uniform};
        match (a, b) {
            (Always, other) | (other, Always) => other,
            (Uniform(a), Uniform(b)) => Uniform(self.op(&format!("arith.andi {a}, {b} : i1"))),
            (Lanes(a), Lanes(b)) => {
                Lanes(self.op(&format!("arith.andi {a}, {b} : {}", lanes_of("i1", lanes))))
            }
            (Uniform(one), Lanes(each)) | (Lanes(each), Uniform(one)) => {
                let one = self.broadcast(&one, "i1", lanes);
                Lanes(self.op(&format!("arith.andi {one}, {each} : {}", lanes_of("i1", lanes))))
            }
        }
    }

    /// A condition as one truth for each lane.
    fn truths(&mut self, condition: Condition, lanes: usize) -> String {
        match condition {
            Condition::Always if lanes == 1 => self.constant("true", "i1"),
            Condition::Always => self.constant("dense<true>", &lanes_of("i1", lanes)),
            Condition::Uniform(holds) => self.broadcast(&holds, "i1", lanes),
            Condition::Lanes(holds) => holds,
        }
    }
}

/// The MLIR type of elements in registers: a `bf16` is its bits.
fn element(dtype: DType) -> &'static str {
    mlir::element(if dtype == DType::BF16 { DType::U16 } else { dtype })
}

/// The MLIR type of elements in memory.
fn stored(dtype: DType) -> &'static str {
    if dtype == DType::I1 { "i8" } else { element(dtype) }
}
