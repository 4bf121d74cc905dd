//! From kernels to MLIR: a `gpu.module` with one function, in the dialects `llvm`, `nvvm`, `arith` and `scf`.
//!
//! # Agents
//!
//! The iterations of the loops over blocks, one inside of the other, are the blocks of the grid, the innermost loop its
//! first dimension; without such a loop there is one block. Where a grid has too few dimensions for them, or one that is
//! too short, all of them lie in the first dimension, one after the other. A block has
//! as many threads as its loops over threads and warps need at most; where one needs fewer, the others pass by. What
//! stands inside of a block and outside of its loops over threads is computed by every thread, and what it writes one
//! thread writes; a barrier stands where that, or the end of a loop over threads, must be seen.
//!
//! # Memory
//!
//! Tensors are pointers to global memory that are aligned to 16 bytes and do not overlap; up to the next multiple of 16
//! bytes behind their end there is memory that may be read, which LLVM uses to load several elements at once. Elements of `i1` are bytes.
//! Shared memory is static up to 48 KiB and else dynamic ([`Launch::shared`]); `stack` and `register` memory are
//! `alloca`s, which LLVM puts into registers where every address is known.
//!
//! # Limits
//!
//! What has no form here is a [`WriteError`]: loops over tasks, a number of threads that is known at run time only, more
//! than 1024 threads, memory of a size that is known at run time only, atomic operations on 8 and 16 bits.

mod access;
mod boxes;
mod control;
mod fragments;
mod group;
mod matrix;
mod text;
mod value;

pub use surject_codegen::kernels::mlir::WriteError;

pub use boxes::MapParameter;

use fragments::Fragments;
use group::Layouts;
use std::collections::HashMap;
use std::fmt::Write as _;
use surject_codegen::kernels::mlir::{Done, element};
use surject_ir::DType;
use surject_kernel::{
    Access, Affine, Guard, Kernel, Level, LoopKind, Mem, Op, Region, Space, Statement, Value,
};
use text::{KernelWriter, Text, lanes_of};

/// A kernel as MLIR, and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The function and what it refers to; [`module`] puts it into a module.
    pub text: String,
    /// How it is launched.
    pub launch: Launch,
}

/// How a kernel is launched. Its arguments are its sizes (64 bits each), pointers to its tensors, and maps of tensors, in
/// order.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The name of the function.
    pub name: String,
    /// The loops over blocks, the innermost one first: from, up to, and by how much.
    pub blocks: Vec<(Affine, Affine, i64)>,
    /// Do all of them lie in the first dimension of the grid? Else each has a dimension, and there are at most three.
    pub linear: bool,
    /// The threads of a block.
    pub threads: i64,
    /// The bytes of shared memory that the launch gives to each block.
    pub shared: i64,
    /// The maps that it gets.
    pub maps: Vec<MapParameter>,
}

impl Launch {
    /// The number of blocks in each of three dimensions, given the value of each size; `None` where it does not fit.
    pub fn grid(&self, size: &dyn Fn(Value) -> Option<i64>) -> Option<[i64; 3]> {
        let mut grid = [1i64; 3];
        for (number, (low, high, step)) in self.blocks.iter().enumerate() {
            let (low, high) = (low.at(0, size)?, high.at(0, size)?);
            let count = high.checked_sub(low)?.max(0).checked_add(step - 1)? / step;
            let blocks = grid.get_mut(if self.linear { 0 } else { number })?;
            *blocks = blocks.checked_mul(count)?;
        }
        Some(grid)
    }
}

/// The bytes of static shared memory that a block may have.
const STATIC_SHARED: i64 = 48 * 1024;
/// The most threads of a block.
const MAX_THREADS: i64 = 1024;
/// The threads of a warp.
const WARP: i64 = 32;
/// The most blocks in a dimension of a grid that is not the first.
const MAX_BLOCKS: i64 = 65_535;

/// Writes a kernel in the operations that [`surject_codegen::kernels::legal`] leaves.
pub fn write(kernel: &Kernel) -> Result<Written, WriteError> {
    let mut writer = Writer::new(kernel);
    let written = writer.kernel();
    written.map_err(|message| writer.text.blame(message))
}

/// A module with these kernels, whose names differ.
pub fn module<'a>(kernels: impl IntoIterator<Item = &'a Written>) -> String {
    let text: String = kernels.into_iter().map(|k| k.text.as_str()).collect();
    format!("module attributes {{gpu.container_module}} {{\n  gpu.module @kernels {{\n{text}  }}\n}}\n")
}

/// Who runs what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    /// The block, or whoever runs a kernel without blocks.
    Block,
    /// A warp.
    Warp,
    /// A thread; of how many, and of a warp or else of the block.
    Thread { of: i64, warp: bool },
}

/// A pointer: its name, and its address space.
#[derive(Clone, Debug)]
struct Pointer {
    name: String,
    space: u32,
}

impl Pointer {
    fn ty(&self) -> String {
        match self.space {
            0 => "!llvm.ptr".into(),
            space => format!("!llvm.ptr<{space}>"),
        }
    }
}

fn is_blocks(statement: &Statement) -> bool {
    matches!(statement.op, Op::For { kind: LoopKind::Parallel(Level::Block), .. })
}

/// How many blocks each loop has, where they do not fit the dimensions of a grid and lie in its first one.
fn linear(blocks: &[(Affine, Affine, i64)]) -> Done<Option<Vec<i64>>> {
    let counts: Vec<Option<i64>> = blocks.iter().map(|(low, high, step)| count(low, high, *step)).collect();
    if blocks.len() <= 3 && !counts.iter().skip(1).any(|n| n.is_some_and(|n| n > MAX_BLOCKS)) {
        return Ok(None);
    }
    let known = counts.into_iter().collect::<Option<Vec<i64>>>();
    let known = known.ok_or("more blocks than a grid has dimensions for, of sizes of run time")?;
    let all = known.iter().try_fold(1i64, |all, &n| all.checked_mul(n));
    match all {
        Some(all) if all <= i64::from(i32::MAX) => Ok(Some(known)),
        _ => Err(format!("a grid of {known:?} blocks, which is larger than a GPU has")),
    }
}

struct Writer<'k> {
    kernel: &'k Kernel,
    /// Globals of the module.
    globals: String,
    text: Text<'k>,
    /// A number that divides a value.
    divides: HashMap<Value, i64>,
    memory: HashMap<Mem, Pointer>,
    /// Sums of a warp, and how large they are.
    sums: Vec<fragments::Sums>,
    /// Those that are there.
    fragments: HashMap<Mem, Fragments>,
    /// How operands of products by four warps lie in shared memory.
    layouts: Layouts,
    /// Maps of tensors that boxes are copied of, with their names.
    maps: Vec<(MapParameter, String)>,
    /// The variable of the loop over warps that is being written.
    warp: Option<Value>,
    /// How many of its iterations, from the first one on, are where statements are written; 0: that is not known.
    warps_here: i64,
    /// Registers of a thread at the beginning, where some warps give them to others.
    registers: Option<i64>,
    agent: Agent,
    /// Threads of a block.
    threads: i64,
    /// Loops over blocks that are not written yet.
    grid: usize,
    /// How many blocks each of them has, the innermost one first, where all lie in the first dimension of the grid.
    linear: Option<Vec<i64>>,
    /// Accesses since the last barrier of the block, and of the warp, that others may have to wait for.
    pending: [bool; 2],
    /// The number of the thread, and that of the lane and of the warp, as `i64`.
    numbers: [String; 3],
    /// Bytes of shared memory so far.
    shared: i64,
    dynamic: bool,
}

impl<'k> Writer<'k> {
    fn new(kernel: &'k Kernel) -> Writer<'k> {
        Writer {
            kernel,
            globals: String::new(),
            text: Text::new(kernel, 3),
            divides: HashMap::new(),
            memory: HashMap::new(),
            sums: fragments::sums(kernel),
            fragments: HashMap::new(),
            layouts: Layouts::new(),
            maps: Vec::new(),
            warp: None,
            warps_here: 0,
            registers: None,
            agent: Agent::Block,
            threads: 1,
            grid: 0,
            linear: None,
            pending: [false; 2],
            numbers: Default::default(),
            shared: 0,
            dynamic: false,
        }
    }

    fn kernel(&mut self) -> Done<Written> {
        let kernel = self.kernel;
        let blocks = self.blocks()?;
        self.grid = blocks.len();
        self.linear = linear(&blocks)?;
        self.threads = threads(&kernel.body)?;
        if self.threads > MAX_THREADS {
            return Err(format!("{} threads; a block has at most {MAX_THREADS}", self.threads));
        }
        self.layouts = group::layouts(kernel)?;
        self.dynamic = shared_bytes(kernel) > STATIC_SHARED;
        let mut params = self.parameters();
        params.extend(self.map_parameters()?);
        self.thread_numbers();
        self.no_effect_beside_blocks()?;
        self.statements(&kernel.body.body)?;
        let name = &kernel.name;
        if self.dynamic {
            let alignment = match (self.layouts.is_empty(), self.maps.is_empty()) {
                (false, _) => group::LINES,
                (true, false) => boxes::ALIGNMENT,
                (true, true) => 16,
            };
            let _ = writeln!(
                self.globals,
                "    llvm.mlir.global external @{name}_shared() {{addr_space = 3 : i32, alignment = {alignment} : i64}} : \
                 !llvm.array<0 x i8>"
            );
        }
        // Else the assembler spills what lives through such loops so that another block fits.
        let registers = match (self.registers, waits_in_loops(&kernel.body) >= 2) {
            (Some(most), _) => format!(", nvvm.maxnreg = {most} : i32"),
            (None, true) => ", nvvm.minctasm = 1 : i32".into(),
            (None, false) => String::new(),
        };
        let text = format!(
            "{}    llvm.func @{name}({}) attributes {{gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: {}, 1, 1>\
             {registers}}} {{\n{}      llvm.return\n    }}\n",
            self.globals,
            params.join(", "),
            self.threads,
            self.text.take()
        );
        let shared = if self.dynamic { self.shared } else { 0 };
        let linear = self.linear.is_some();
        let maps = std::mem::take(&mut self.maps).into_iter().map(|m| m.0).collect();
        let launch = Launch { name: name.clone(), blocks, linear, threads: self.threads, shared, maps };
        Ok(Written { text, launch })
    }

    /// The loops over blocks, the innermost one first.
    fn blocks(&mut self) -> Done<Vec<(Affine, Affine, i64)>> {
        let mut blocks = Vec::new();
        let mut region = &self.kernel.body;
        loop {
            let mut grids = region.body.iter().filter(|s| is_blocks(s));
            let Some(Op::For { low, high, step, body, .. }) = grids.next().map(|s| &s.op) else {
                return Ok(blocks);
            };
            if let Some(second) = grids.next() {
                self.text.fault(second);
                return Err("a second loop over blocks; a launch has one".into());
            }
            blocks.insert(0, (low.clone(), high.clone(), *step));
            region = body;
        }
    }

    /// Names the parameters; gives them as they are declared.
    fn parameters(&mut self) -> Vec<String> {
        let kernel = self.kernel;
        let mut params = Vec::new();
        for &size in &kernel.sizes {
            let name = self.fresh();
            params.push(format!("{name}: i64"));
            self.define(size, name);
        }
        for &mem in &kernel.params {
            let name = self.fresh();
            let only = if kernel.mem(mem).access == Access::Read { ", llvm.readonly" } else { "" };
            params.push(format!("{name}: !llvm.ptr<1> {{llvm.align = 16 : i64, llvm.noalias{only}}}"));
            self.memory.insert(mem, Pointer { name, space: 1 });
        }
        params
    }

    fn no_effect_beside_blocks(&mut self) -> Done<()> {
        let mut around = Some(&self.kernel.body);
        while let Some(region) = around.take() {
            around = region.body.iter().filter(|s| is_blocks(s)).flat_map(|s| s.op.regions()).next();
            let effect = |op: &Op| {
                matches!(
                    op,
                    Op::Store { .. }
                        | Op::Atomic { .. }
                        | Op::AsyncCopy { .. }
                        | Op::BoxCopy(_)
                        | Op::Phase(..)
                )
            };
            if let Some(beside) = region.body.iter().find(|s| around.is_some() && effect(&s.op)) {
                self.text.fault(beside);
                return Err("an effect beside the loop over blocks; it needs a launch of its own".into());
            }
        }
        Ok(())
    }

    fn thread_numbers(&mut self) {
        let thread = self.op("nvvm.read.ptx.sreg.tid.x : i32");
        let thread = self.op(&format!("arith.extui {thread} : i32 to i64"));
        let (five, last) = (self.index(5), self.index(WARP - 1));
        let lane = self.op(&format!("arith.andi {thread}, {last} : i64"));
        let warp = self.op(&format!("arith.shrui {thread}, {five} : i64"));
        self.numbers = [thread, lane, warp];
    }

    /// A number that divides an affine expression without its part of lanes.
    fn divisor(&self, affine: &Affine) -> i64 {
        let of = |v: &Value| self.divides.get(v).copied().unwrap_or(1);
        let terms = affine.terms.iter().map(|t| {
            t.values.iter().fold(t.factor.unsigned_abs() as i64, |product, v| product.saturating_mul(of(v)))
        });
        terms.fold(affine.offset.saturating_abs(), gcd)
    }

    /// Do guards hold at a lane? `None`: there is none.
    fn guards(&mut self, guards: &[Guard], lane: usize) -> Done<Option<String>> {
        let mut all: Option<String> = None;
        for guard in guards {
            let expr = self.affine(&guard.expr, lane)?;
            let bound = self.affine(&guard.bound, lane)?;
            let holds = self.within(guard, [&expr, &bound], 1);
            all = Some(self.and(all, holds));
        }
        Ok(all)
    }

    fn and(&mut self, a: Option<String>, b: String) -> String {
        match a {
            None => b,
            Some(a) => self.op(&format!("arith.andi {a}, {b} : i1")),
        }
    }
}

/// The MLIR type of elements in memory.
fn stored(dtype: DType) -> &'static str {
    if dtype == DType::I1 { "i8" } else { element(dtype) }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The iterations of a loop whose bounds are known.
fn count(low: &Affine, high: &Affine, step: i64) -> Option<i64> {
    let (low, high) = (low.as_constant()?, high.as_constant()?);
    Some(high.checked_sub(low)?.max(0).checked_add(step - 1)? / step)
}

/// The most threads that the loops of a region need.
fn threads(region: &Region) -> Done<i64> {
    let mut most = 1;
    for statement in &region.body {
        let mut here = 1;
        if let Op::For { low, high, step, kind: LoopKind::Parallel(level), .. } = &statement.op {
            let all = count(low, high, *step);
            let unknown = || format!("a loop over {level}s whose number is known at run time only");
            match level {
                Level::Task => return Err("a loop over tasks, which are a CPU's".into()),
                Level::Block => {}
                Level::Warp => here = all.ok_or_else(unknown)?.saturating_mul(WARP),
                Level::Thread => here = all.ok_or_else(unknown)?,
            }
        }
        for inner in statement.op.regions() {
            // The threads of a warp are counted with it.
            here = here.max(threads(inner)?);
        }
        most = most.max(here);
    }
    Ok(most)
}

/// How many serial loops there are, one inside of the other, around a barrier of the block.
fn waits_in_loops(region: &Region) -> usize {
    fn waits(region: &Region) -> Option<usize> {
        let of = |statement: &Statement| match &statement.op {
            Op::Barrier(Level::Block) => Some(0),
            Op::For { kind, body, .. } => Some(waits(body)? + usize::from(*kind == LoopKind::Serial)),
            op => op.regions().filter_map(waits).max(),
        };
        region.body.iter().filter_map(of).max()
    }
    waits(region).unwrap_or(0)
}

/// The bytes of all shared memory of a kernel.
fn shared_bytes(kernel: &Kernel) -> i64 {
    let shared = kernel.memory.iter().filter(|m| m.space == Space::Shared);
    shared.map(|m| m.elements.as_constant().unwrap_or(0).saturating_mul(m.dtype.size() as i64)).sum()
}
