//! From kernels to code for a CPU: operations of the dialects `llvm`, `scf`, `arith`, `math` and `vector`.
//!
//! # Functions
//!
//! A loop over tasks that is all that a kernel does is a function `@NAME_task(%task: i64, %worker: i64, %table: !llvm.ptr)`,
//! which the thread pool of `surject-runtime` runs for each task; what stands before the loop is computed in every task
//! again. A kernel without such a loop is one task. `%table` is an array of the addresses of the kernel's tensors, in order,
//! and behind them, where the kernel has sizes, of that of the sizes. Other loops over tasks run one task after the other,
//! which their semantics allow. So kernels are functions of the same form as those of [`surject_codegen::lower()`], and
//! whole programs are made of either ([`surject_codegen::Scheduled`]).
//!
//! By itself a kernel also has an entry `@NAME(%tensors, %results, %sizes, %constants)`, all `!llvm.ptr`: `%tensors` is the
//! table without sizes, `%sizes` an array of these, 64 bits each; the other two are not used. Tensors are aligned to their
//! elements and do not overlap.
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
//! products that its units do not do, memory whose size is known at run time only, and atomic operations that LLVM has no instruction for.

mod address;
mod control;
mod convert;
mod matrix;
mod memory;
mod nans;
mod pointers;
mod value;

use crate::Cpu;
use memory::Stack;
use pointers::Addresses;
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_codegen::code::{self, Builder, Declaration, Elem, Function, Item, Linkage, Module, Type};
use surject_codegen::kernels::mlir::Done;
use surject_codegen::kernels::native::Tasks;
use surject_ir::DType;
use surject_kernel::{Kernel, Mem, Statement, Value, print_statement};

pub use surject_codegen::kernels::mlir::WriteError;

/// The tasks of a kernel on a CPU, in the operations that [`surject_codegen::kernels::legal`] leaves.
pub fn tasks(cpu: &Cpu, kernel: &Kernel) -> Result<Tasks, WriteError> {
    let (b, [task, _worker, table]) = Builder::new();
    let mut writer = Writer::new(cpu, kernel, b);
    match writer.tasks(task, table) {
        Ok(count) => {
            let calls = writer.calls.into_iter().collect();
            Ok(Tasks { body: writer.b.finish(), count, calls })
        }
        Err(message) => Err(writer.blame(message)),
    }
}

/// The tasks of a kernel from one number on to another, one after the other, as the body of a function
/// `(%low: i64, %high: i64, %table: !llvm.ptr)`. What stands before the loop over tasks is computed once. A kernel without such a
/// loop has no range.
pub fn range_of_tasks(cpu: &Cpu, kernel: &Kernel) -> Result<Tasks, WriteError> {
    let (b, [low, high, table]) = Builder::new();
    let mut writer = Writer::new(cpu, kernel, b);
    match writer.range_of_tasks([low, high], table) {
        Ok(()) => {
            let calls = writer.calls.into_iter().collect();
            Ok(Tasks { body: writer.b.finish(), count: None, calls })
        }
        Err(message) => Err(writer.blame(message)),
    }
}

/// A module with these kernels, whose names differ, and an entry for each.
pub fn module<'a>(cpu: &Cpu, kernels: impl IntoIterator<Item = &'a Kernel>) -> Result<Module, WriteError> {
    let mut outside = BTreeSet::from([Declaration {
        name: "surject_parallel".to_string(),
        parameters: vec![Type::Pointer, Type::I64, Type::I64, Type::Pointer],
        result: None,
    }]);
    let mut items = Vec::new();
    for kernel in kernels {
        let Tasks { body, count, calls } = tasks(cpu, kernel)?;
        outside.extend(calls);
        items.push(Item::function(task(kernel, body), Linkage::Internal));
        items.push(Item::function(entry(cpu, kernel, count)?, Linkage::Public));
    }
    let outside = outside.into_iter().map(|Declaration { name, parameters, result }| Item::Outside {
        name,
        parameters,
        result,
    });
    Ok(Module { items: outside.chain(items).collect() })
}

/// The function of a task.
fn task(kernel: &Kernel, body: Vec<code::Statement>) -> Function {
    let (_, [task, worker, table]) = Builder::new();
    let parameters = vec![(task, Type::I64), (worker, Type::I64), (table, Type::Pointer)];
    Function { symbol: task_of(kernel), parameters, body }
}

/// The entry of a kernel by itself, of which the number of tasks may be known.
fn entry(cpu: &Cpu, kernel: &Kernel, count: Option<i64>) -> Result<Function, WriteError> {
    let (b, [tensors, results, sizes, constants]) = Builder::new();
    let mut writer = Writer::new(cpu, kernel, b);
    writer.entry(count, [tensors, sizes]).map_err(|message| writer.blame(message))?;
    let parameters = [tensors, results, sizes, constants].map(|value| (value, Type::Pointer)).to_vec();
    Ok(Function { symbol: code::Symbol::Named(kernel.name.clone()), parameters, body: writer.b.finish() })
}

fn task_of(kernel: &Kernel) -> code::Symbol {
    code::Symbol::Named(format!("{}_task", kernel.name))
}

/// Where a condition holds.
enum Condition {
    /// Everywhere.
    Always,
    /// In all lanes or in none: an `i1`.
    Uniform(code::Value),
    /// In some lanes: a vector of `i1`.
    Lanes(code::Value),
}

struct Writer<'k> {
    cpu: &'k Cpu,
    kernel: &'k Kernel,
    b: Builder,
    values: HashMap<Value, code::Value>,
    /// The `f32` values whose NaNs have an empty lower half.
    short_nans: HashSet<Value>,
    /// The addresses of memory.
    memory: HashMap<Mem, code::Value>,
    /// The functions of the runtime that it calls.
    calls: BTreeSet<Declaration>,
    /// Has it stores that go past the caches?
    is_past: bool,
    /// The memory on the stack.
    stack: Stack,
    /// The addresses of the innermost loop that is open.
    addresses: Addresses,
    /// The statement that has no form.
    fault: Option<String>,
}

impl<'k> Writer<'k> {
    fn new(cpu: &'k Cpu, kernel: &'k Kernel, b: Builder) -> Writer<'k> {
        Writer {
            cpu,
            kernel,
            b,
            values: HashMap::new(),
            short_nans: HashSet::new(),
            memory: HashMap::new(),
            calls: BTreeSet::new(),
            is_past: false,
            stack: Stack::default(),
            addresses: Addresses::default(),
            fault: None,
        }
    }

    /// The error of the kernel.
    fn blame(&mut self, message: String) -> WriteError {
        WriteError { kernel: self.kernel.name.clone(), statement: self.fault.take(), message }
    }

    /// The type of a value of the kernel.
    fn ty(&self, value: Value) -> surject_kernel::Type {
        self.kernel.ty(value)
    }

    /// What a value of the kernel is.
    fn value(&self, value: Value) -> Done<code::Value> {
        self.values.get(&value).copied().ok_or_else(|| format!("{value} has no value here"))
    }

    /// The same of several.
    fn values(&self, values: &[Value]) -> Done<Vec<code::Value>> {
        values.iter().map(|&v| self.value(v)).collect()
    }

    /// Writes statements; an error says at which one.
    fn statements(&mut self, statements: &[Statement]) -> Done<()> {
        let kernel = self.kernel;
        for statement in statements {
            self.statement(statement).inspect_err(|_| {
                self.fault.get_or_insert_with(|| print_statement(kernel, statement));
            })?;
        }
        Ok(())
    }

    /// A scalar in every lane; itself where there is one.
    fn broadcast(&mut self, scalar: code::Value, from: Type, lanes: usize) -> code::Value {
        let to = match from {
            Type::Pointer => Type::Pointers(lanes),
            other => other.with_lanes(lanes),
        };
        match lanes {
            1 => scalar,
            _ => self.b.op(code::Op::cast("vector.broadcast", scalar, from, to)),
        }
    }
}

/// The elements in registers: a `bf16` is its bits.
fn element(dtype: DType) -> Elem {
    match dtype {
        DType::BF16 => Elem::I16,
        DType::F16 => Elem::F16,
        other => Elem::of(other),
    }
}

/// The elements in memory.
fn stored(dtype: DType) -> Elem {
    if dtype == DType::I1 { Elem::I8 } else { element(dtype) }
}

/// The type of a value in registers.
fn of(ty: surject_kernel::Type) -> Type {
    element(ty.dtype).ty(ty.lanes)
}
