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
use std::fmt::Write as _;
use surject_ir::DType;
use surject_kernel::{Affine, Guard, Kernel, Mem, Type, Value};

/// Why a kernel has no form for a CPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: {message}{}", statement.as_ref().map_or(String::new(), |s| format!("\n  in `{s}`")))]
pub struct WriteError {
    /// The name of the kernel.
    pub kernel: String,
    /// The statement, where one is to blame.
    pub statement: Option<String>,
    /// What has no form.
    pub message: String,
}

/// What went wrong; [`write`] adds where.
type Done<T> = Result<T, String>;

/// The functions of a kernel, in the operations that [`surject_codegen::kernels::legal`] leaves; [`module`] puts them into
/// a module.
pub fn write(kernel: &Kernel) -> Result<String, WriteError> {
    let mut writer = Writer::new(kernel);
    let written = writer.kernel();
    written.map_err(|message| WriteError {
        kernel: kernel.name.clone(),
        statement: writer.fault.take(),
        message,
    })
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
    /// What a function does first: constants and memory.
    prologue: String,
    text: String,
    depth: usize,
    next: usize,
    names: HashMap<Value, String>,
    constants: HashMap<String, String>,
    /// The pointers to memory.
    memory: HashMap<Mem, String>,
    /// The statement that has no form.
    fault: Option<String>,
}

impl<'k> Writer<'k> {
    fn new(kernel: &'k Kernel) -> Writer<'k> {
        Writer {
            kernel,
            prologue: String::new(),
            text: String::new(),
            depth: 1,
            next: 0,
            names: HashMap::new(),
            constants: HashMap::new(),
            memory: HashMap::new(),
            fault: None,
        }
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        (0..self.depth).for_each(|_| self.text.push_str("  "));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// An operation with one result, and its name.
    fn op(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    /// A constant, which stands at the beginning of the function.
    fn constant(&mut self, literal: &str, ty: &str) -> String {
        // A truth is written without its type.
        let key = if ty == "i1" { literal.to_string() } else { format!("{literal} : {ty}") };
        if let Some(name) = self.constants.get(&key) {
            return name.clone();
        }
        let name = self.fresh();
        let _ = writeln!(self.prologue, "  {name} = arith.constant {key}");
        self.constants.insert(key, name.clone());
        name
    }

    fn index(&mut self, value: i64) -> String {
        self.constant(&value.to_string(), "i64")
    }

    fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    fn name(&self, value: Value) -> Done<String> {
        self.names.get(&value).cloned().ok_or_else(|| format!("{value} has no value here"))
    }

    fn define(&mut self, value: Value, name: String) {
        self.names.insert(value, name);
    }

    /// An affine expression without what lanes add, as `i64`.
    fn affine(&mut self, affine: &Affine) -> Done<String> {
        let mut sum: Option<String> = None;
        for term in &affine.terms {
            let mut product: Option<String> = None;
            for &value in &term.values {
                let name = self.name(value)?;
                product = Some(match product {
                    None => name,
                    Some(p) => self.op(&format!("arith.muli {p}, {name} overflow<nsw> : i64")),
                });
            }
            let mut product = product.ok_or("a term without values")?;
            if term.factor != 1 {
                let factor = self.index(term.factor);
                product = self.op(&format!("arith.muli {product}, {factor} overflow<nsw> : i64"));
            }
            sum = Some(match sum {
                None => product,
                Some(s) => self.op(&format!("arith.addi {s}, {product} overflow<nsw> : i64")),
            });
        }
        Ok(match (sum, affine.offset) {
            (None, offset) => self.index(offset),
            (Some(sum), 0) => sum,
            (Some(sum), offset) => {
                let offset = self.index(offset);
                self.op(&format!("arith.addi {sum}, {offset} overflow<nsw> : i64"))
            }
        })
    }

    /// An affine expression in each of several lanes, as a vector of `i64`.
    fn affine_lanes(&mut self, affine: &Affine, lanes: usize) -> Done<String> {
        let base = self.affine(affine)?;
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
        for Guard { expr, bound } in guards {
            let uniform = lanes == 1 || expr.lane == 0 && bound.lane == 0;
            let (expr, limit) = match uniform {
                true => (self.affine(expr)?, self.affine(bound)?),
                false => (self.affine_lanes(expr, lanes)?, self.affine_lanes(bound, lanes)?),
            };
            let across = if uniform { 1 } else { lanes };
            let (ty, truths) = (lanes_of("i64", across), lanes_of("i1", across));
            let holds = if bound.as_constant().is_some_and(|b| b >= 0) {
                // A negative number is a large one without a sign.
                self.op(&format!("arith.cmpi ult, {expr}, {limit} : {ty}"))
            } else {
                let zero = self.index(0);
                let zero = self.broadcast(&zero, "i64", across);
                let low = self.op(&format!("arith.cmpi sge, {expr}, {zero} : {ty}"));
                let high = self.op(&format!("arith.cmpi slt, {expr}, {limit} : {ty}"));
                self.op(&format!("arith.andi {low}, {high} : {truths}"))
            };
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

    /// Something that is done where a condition holds.
    fn only_if(&mut self, condition: &str, f: impl FnOnce(&mut Self) -> Done<()>) -> Done<()> {
        self.line(&format!("scf.if {condition} {{"));
        self.depth += 1;
        f(self)?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// A value where a condition holds, else another one, which is known before.
    fn either(
        &mut self,
        condition: &str,
        ty: &str,
        other: &str,
        f: impl FnOnce(&mut Self) -> Done<String>,
    ) -> Done<String> {
        let name = self.fresh();
        self.line(&format!("{name} = scf.if {condition} -> ({ty}) {{"));
        self.depth += 1;
        let value = f(self)?;
        self.line(&format!("scf.yield {value} : {ty}"));
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        self.line(&format!("scf.yield {other} : {ty}"));
        self.depth -= 1;
        self.line("}");
        Ok(name)
    }
}

/// The MLIR type of elements in registers.
fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::I1 => "i1",
        DType::I8 | DType::U8 => "i8",
        DType::I16 | DType::U16 | DType::BF16 => "i16",
        DType::I32 | DType::U32 => "i32",
        DType::I64 | DType::U64 => "i64",
        DType::F16 => "f16",
        DType::F32 | DType::C64 => "f32",
        DType::F64 | DType::C128 => "f64",
    }
}

/// The MLIR type of elements in memory.
fn stored(dtype: DType) -> &'static str {
    if dtype == DType::I1 { "i8" } else { element(dtype) }
}

/// The MLIR type of a value.
fn mlir(ty: Type) -> String {
    lanes_of(element(ty.dtype), ty.lanes)
}

fn lanes_of(element: &str, lanes: usize) -> String {
    if lanes == 1 { element.to_string() } else { format!("vector<{lanes}x{element}>") }
}
