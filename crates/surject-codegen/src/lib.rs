//! Kernels from index maps: loop nests, memory plan and MLIR text. This crate links no MLIR.
//!
//! [`lower`] turns a function of a [`Program`] into one MLIR module. Kernels are derived from nothing but the index
//! maps of the assignments:
//!
//! * `build` composes every read into the addresses of the loads below it and turns every accumulation inside a
//!   stored field into a reduction over loops of its own, by base change (`solve`). What has no such form, or would
//!   be evaluated much more often in place, is stored on its own first (`store`); what cannot be pulled at all is
//!   pushed: the target is filled with the neutral element and the product space is looped over (`push`).
//! * `phase` takes an output apart by the remainders of its positions, where windows run over tensors with holes:
//!   each phase has a kernel that visits no hole; two whose elements alternate are one (`paired`).
//! * `schedule` merges and orders loops and chooses which of them is done in lanes; `row` writes the kernel,
//!   whose work `units` cuts. A value is written where the loops it depends on are known (`emit`, `value`).
//! * `contraction` writes sums of products with packed operands (`pack`) and register tiles; `turned` moves
//!   blocks through registers where loads and stores run along different loops; `stash` keeps the terms of a
//!   reduction along a row for the output, and cuts long reductions into parts.
//! * `columns` joins rows to the target some at a time, where a reduction would walk down long columns.
//! * `short` has short rows in lanes: blocks of them are transposed in registers. `braid` has several short rows in one
//!   vector, where nothing is reduced: its lanes are picked from what lies in memory as a run. `keys` compares floats as integers
//!   where only the largest or the smallest counts.
//! * `gather` makes gathers expressions: those of single elements compute their indices, and what is computed from a
//!   gather along its lines takes the elements from where they are. What is stored only to be gathered from, and seldom,
//!   is computed where it is gathered (`drawn`).
//! * `again` stores first what a kernel would compute again and again, `lone` the sums of rows whose rest is then done in
//!   lanes; `periodic` writes out what repeats beside short
//!   rows, `renumber` reads reshapes without a common refinement in place, and `unswitch` writes a kernel twice where one
//!   condition chooses for all of its points.
//! * `framed` stores a tensor with what windows read outside of it, where most tiles of a product lie at a border.
//! * `stream` stores results that the caches do not hold past them, rows from line to line of memory, blocks (`turned`)
//!   through a tile where their rows do not begin with a line. `runs` leaves long runs of one byte, or of a tensor's
//!   elements, to the C library.
//! * `positions` does arithmetic on positions before there is code.
//! * `scan` writes reductions over windows that grow by one term an output in one step an output; beside others they are
//!   stored first.
//! * `fuse` runs kernels together that need of each other no more than the same rows (`recipe`): a task takes some rows
//!   through all of them, and what lies between stays in its cache. Kernels over the same points are one.
//! * `hoist` takes what a loop repeats in vain out of it, and what depends on literals alone out of every run;
//!   `coalesce` gives one memory to values that become each other, as far as their lives (`live`) allow (`inplace`),
//!   and `swap` lets two of a loop change places.
//! * `passed` makes assignments of large results that nothing stores.
//! * `library` writes library operations (in it `network` sorts short lines), `steps` control flow, `memory` the static
//!   memory plan, for which `order` may change the order of the steps and `thrift` end a chain, `host` the module.
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

mod abreast;
mod access;
mod address;
mod again;
mod ahead;
mod blocks;
mod braid;
mod build;
mod coalesce;
mod cold;
mod columns;
mod complex;
mod condition;
mod contraction;
mod dag;
mod divide;
mod drawn;
mod elem;
mod emit;
mod error;
mod facts;
mod framed;
mod fuse;
mod gather;
mod halves;
mod hoist;
mod host;
mod inline;
mod inplace;
pub mod kernels;
mod keys;
mod library;
mod lines;
mod live;
mod lone;
mod math;
mod memory;
mod narrow;
mod order;
mod pack;
mod paired;
mod passed;
mod periodic;
mod phase;
mod pieces;
mod plan;
mod pointwise;
mod positions;
mod push;
mod recipe;
mod renumber;
mod row;
mod runs;
mod scan;
mod schedule;
mod short;
mod solve;
mod stash;
mod steps;
mod store;
mod stream;
mod swap;
mod target;
mod thrift;
mod turned;
mod units;
mod unswitch;
mod uses;
mod value;
mod vectors;

pub use error::CodegenError;
pub use memory::Lent;
pub use plan::{KernelPlan, Plan};
pub use target::Target;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its text.
    pub text: String,
    /// Is next to no time of a run spent in it? Then it is compiled with the least effort.
    pub cold: bool,
}

impl Part {
    /// A module on whose speed it depends.
    pub fn hot(text: impl Into<String>) -> Part {
        Part { text: text.into(), cold: false }
    }
}

/// How a function is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Measures every run of a kernel.
    pub profile: bool,
}

/// Lowers a function of a program for a machine. The program must satisfy `surject_ir::verify`.
pub fn lower(program: &Program, function: &str, target: &Target) -> Result<LoweredModule, CodegenError> {
    lower_with(program, function, target, Options::default())
}

/// As [`lower`], with options.
pub fn lower_with(
    program: &Program,
    function: &str,
    target: &Target,
    options: Options,
) -> Result<LoweredModule, CodegenError> {
    let found = program.function(function).ok_or_else(|| CodegenError::NoFunction(function.to_string()))?;
    if let Some(guard) = found.guards.first() {
        let what = format!("the guard `{}`: bind the sizes of the call first", guard.fact);
        return Err(CodegenError::unsupported(what));
    }
    let found = &*passed::stored(found)?;
    let thrift::Settled { mut lowered, donations, mut memory, .. } = thrift::settle(found, target)?;
    lowered.renumber();
    cold::mark(&mut lowered);
    if options.profile {
        memory.arena_bytes = memory.arena_bytes.next_multiple_of(memory::ALIGN);
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
