//! Kernels from index maps: loop nests, memory plan and code of MLIR. This crate links no MLIR.
//!
//! [`lower()`] turns a function of a [`Program`] into one MLIR module. Kernels are derived from nothing but the index
//! maps of the assignments.
//!
//! # Layers
//!
//! Each is a folder with a front page, and uses only those before it (a test of the repository checks that):
//!
//! 1. `machine`: what code generation knows of the machine ([`Target`]).
//! 2. `expression`: what a kernel computes, as a scalar expression over loops; knows no machine and no code.
//! 3. `normalise`: equal forms with fewer or simpler loops.
//! 4. `schedule`: what is decided of a kernel before it has a schedule of directives: an estimate of its work, which sums are
//!    products, what is summed in parts, what is prefetched.
//! 5. [`kernels`]: kernels of assignments and library operations in the kernel IR, for any machine: schedules, how an expression
//!    becomes a kernel by its schedule, and passes over kernels. A machine's strategies choose the schedules ([`Options::scheduled`]).
//! 6. `planned`: what a kernel of a program is before the machine makes it, and how its work can be cut.
//! 7. `materialise`: what is stored on the way, and the kernels of an assignment.
//! 8. `library`: the kernels of a library operation, and calls of the run time.
//! 9. `program`: the kernels of a function together: order, fusion, memory, the module.
//!
//! # The module
//!
//! * `@entry(%args, %results, %arena, %constants)`, all `!llvm.ptr`: arrays of data pointers, in the order of
//!   [`LoweredModule::params`], [`LoweredModule::results`] (and behind them those of [`LoweredModule::lent`]) and
//!   [`LoweredModule::constants`]; `%arena` is a block of [`LoweredModule::arena_bytes`] bytes, aligned to 64. Tensors are aligned to their element type; nothing
//!   overlaps, except where [`LoweredModule::donations`] says so. An empty tensor needs a pointer, which is never read
//!   through.
//! * Everything is an `llvm.func` with `scf`, `arith`, `math`, `vector` and `llvm` operations inside; memory is
//!   reached through `llvm.getelementptr`, there is no memref. The dialects `arith`, `math`, `vector`, `scf` and
//!   `llvm` must be known; the passes of `convert-vector-to-llvm`, `convert-math-to-llvm`, `convert-scf-to-cf`,
//!   `convert-arith-to-llvm` and `convert-cf-to-llvm` lower it.
//! * Outside symbols: `surject_parallel` and what else [`surject_runtime::library::symbols`] names.

mod error;
mod expression;
pub mod interpret;
pub mod kernels;
mod library;
mod machine;
mod materialise;
mod normalise;
mod planned;
mod program;
mod schedule;

pub use error::CodegenError;
pub use kernels::native::{Scheduled, Which};
pub use machine::target::Target;
pub use machine::thresholds::{Thresholds, TileThresholds};
pub use planned::kernel::Form;
pub use program::memory::Lent;
pub use program::plan::{KernelPlan, Measured, Plan};
pub use surject_code as code;

use program::{cold, host, memory_limit, plan, stored};
use std::sync::Arc;
use surject_ir::{Buffer, Program, TensorType};

/// The name of the entry function of every module.
pub const ENTRY: &str = "entry";

/// The name of the function that runs once before it.
pub const INIT: &str = "init";

/// A function as an MLIR module.
#[derive(Clone, Debug)]
pub struct LoweredModule {
    /// The text of the module.
    pub text: String,
    /// The same functions as modules that can be compiled side by side and linked; one where there is little text.
    pub parts: Vec<Part>,
    /// The name of the entry function.
    pub entry: String,
    /// The name of the function that fills a part of the arena with what depends on literals alone, if there is any. It
    /// has the signature of the entry and runs once, before it; arguments and results may be null.
    pub init: Option<String>,
    /// The types of the arguments.
    pub params: Vec<TensorType>,
    /// The types of the results.
    pub results: Vec<TensorType>,
    /// For each result, the argument whose memory it may have: that argument is not read any more when the result is
    /// first written, or only element by element where it is written. No two results have the same.
    pub donations: Vec<Option<usize>>,
    /// The results whose memory holds other things before they are written. Behind the addresses of the results the
    /// entry finds one for each of these: that of the result; or, where the result has the memory of an argument, that
    /// of so many bytes of which nothing else is.
    pub lent: Vec<Lent>,
    /// The size of the arena. What it holds is kept between runs.
    pub arena_bytes: u64,
    /// The literals the module reads.
    pub constants: Vec<Arc<Buffer>>,
    /// What was decided.
    pub plan: Plan,
    /// Where in the arena a profile is kept, if one is taken: for each run of a kernel in the plan, how often it ran and
    /// its nanoseconds, each a `u64`. They only grow; they are zero if the arena is.
    pub profile: Option<u64>,
}

/// A module that is compiled by itself.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its text.
    pub text: String,
    /// The same as operations; `None`: there is only the text.
    pub code: Option<code::Module>,
    /// Is next to no time of a run spent in it? Then it is compiled with the least effort.
    pub cold: bool,
}

impl Part {
    /// A module on whose speed it depends.
    pub fn hot(text: impl Into<String>) -> Part {
        Part { text: text.into(), code: None, cold: false }
    }
}

/// How a function is lowered.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Measures every run of a kernel.
    pub profile: bool,
    /// Whose strategies and writer make the kernels of assignments; without them a function with such is an error.
    pub scheduled: Option<Scheduled>,
}

/// Lowers a function of a program for a machine. The program must satisfy `surject_ir::verify`.
pub fn lower(
    program: &Program,
    function: &str,
    target: &Target,
    options: &Options,
) -> Result<LoweredModule, CodegenError> {
    let found = program.function(function).ok_or_else(|| CodegenError::NoFunction(function.to_string()))?;
    if let Some(guard) = found.guards.first() {
        let what = format!("the guard `{}`: bind the sizes of the call first", guard.fact);
        return Err(CodegenError::unsupported(what));
    }
    let found = &*stored::stored(found)?;
    let memory_limit::Settled { mut lowered, donations, mut memory, .. } =
        memory_limit::settle(found, target, options.scheduled.as_ref())?;
    lowered.renumber();
    cold::mark(&mut lowered);
    if options.profile {
        memory.arena_bytes = memory.arena_bytes.next_multiple_of(machine::ALIGN);
    }
    let profile = options.profile.then_some(memory.arena_bytes);
    let texts = host::module(found, &lowered, &memory, target.threads, profile)?;
    memory.arena_bytes += texts.profile_bytes;
    Ok(LoweredModule {
        text: texts.whole,
        parts: texts.parts,
        entry: ENTRY.to_string(),
        params: found.params.iter().map(|&p| found.ty(p).clone()).collect(),
        results: found.result_types(),
        init: (!lowered.init.is_empty()).then(|| INIT.to_string()),
        donations,
        lent: memory.lent.clone(),
        arena_bytes: memory.arena_bytes,
        plan: plan::plan(found, &lowered, &memory, target.threads)?,
        profile,
        constants: lowered.constants.into_iter().map(|c| c.1).collect(),
    })
}
