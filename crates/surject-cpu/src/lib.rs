//! CPUs for the kernel IR: what a machine can do, and the strategies that are a CPU's own.
//!
//! [`Cpu`] is a machine of [`surject_codegen::kernels`]. Its strategies schedule one expression at a time:
//!
//! * `units`: the matrix unit of the CPU multiplies tiles of narrow elements, from panels;
//! * `tiles`: sums of several rows and several vectors of results are in registers together, where rows need the same elements,
//!   which are packed into panels;
//! * `blocks`: long sums of few results: tiles whose terms are taken in blocks, the sums being in memory meanwhile;
//! * `ranges`: each task has a range of rows, and a panel of their factor where it is computed;
//! * `streams`: few rows times a large matrix: some terms of all columns are summed before the next ones;
//! * `windows`: windows side by side, of one channel each, which share what is loaded;
//! * `scans`: lines are scanned in order, in lanes;
//! * `transposes`: what lies along another loop than the results is transposed in registers;
//! * `columns`: where rows are short, each lane has one;
//! * `down`: rows that are summed down long columns are read in the order of memory, in several places at once;
//! * `rows`: the loop along which results lie next to each other is done in lanes, other loops are tasks;
//! * `dots`: where reductions run along memory, their terms are summed in lanes, and results are in lanes beside; of products with few
//!   columns the sums of some rows and all columns run in step;
//! * `scalar`: element by element, which every expression allows.
//!
//! [`write`](mod@write) is the way from a kernel to code of MLIR, which `surject-mlir` compiles: by itself, or as a part of a
//! compiled program ([`Native`]).

mod strategies;
mod taken;
pub mod write;

use std::sync::Arc;
use strategies::{
    Blocks, Columns, Dots, Down, Ranges, Refined, Rows, Scalar, Scans, Streams, Tiles, Transposes, Units,
    Windows,
};
use surject_codegen::kernels::ability::Ability;
use surject_codegen::kernels::contraction::StoredFactor;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::legal::Arithmetic;
use surject_codegen::kernels::machine::{FarBytes, Machine, Spread, Strategy};
use surject_codegen::kernels::native::{Native, Parts, Scheduled, Tasks};
use surject_codegen::kernels::running::Scanned;
use surject_codegen::kernels::schedule::Schedule;
use surject_codegen::{Target, Which};
use surject_kernel::Kernel;

/// A CPU: what its cores can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Its name.
    pub name: &'static str,
    /// The bytes of a vector register; 0: it has no vectors.
    pub vector_bytes: usize,
    /// How many vector registers there are.
    pub vector_registers: i64,
    /// Does it add a product to a sum in one operation?
    pub has_fma: bool,
    /// Of a table of how many entries does each lane of a vector take one by one instruction?
    pub lane_permute_width: usize,
    /// Has it instructions that compare and shift 64-bit integers in lanes, as it has for those of 32 (`vpmaxsq`, `vpsraq`)?
    pub has_wide_integers: bool,
    /// Has it an instruction that multiplies pairs of 16-bit integers and adds the two products (`pmaddwd`)?
    pub has_pmaddwd: bool,
    /// Has it an instruction that multiplies pairs of `bf16` and adds the two products in `f32` (`vdpbf16ps`)?
    pub has_bf16_dot: bool,
    /// Has it stores that go past the caches?
    pub has_non_temporal_stores: bool,
    /// Are lines that are only written, and that the last cache takes in, fetched the other way for free (Zen)?
    pub has_asymmetric_writes: bool,
    /// Do prefetches of the terms of long reductions pay, beside those of the hardware? (Not on a Zen 4: sums of rows that its last
    /// cache holds take 1.1 times as long with them.)
    pub prefetches_terms: bool,
    /// The bytes of its second cache.
    pub second_cache: usize,
    /// The bytes of the last cache, which all threads share.
    pub last_cache: usize,
    /// Has it registers for tiles of integers of 8 bits, with sums of 32 (AMX)?
    pub has_byte_tiles: bool,
    /// Has it registers for tiles of pairs of `bf16`, with sums in `f32`?
    pub has_bf16_tiles: bool,
    /// The threads that share tasks.
    pub threads: usize,
    /// Scalar operations that a task has at least: fewer are not worth sharing out. Infinite: nothing is shared.
    pub task_operations: f64,
}

impl Cpu {
    /// No vectors.
    const GENERIC: Cpu = Cpu {
        name: "generic",
        vector_bytes: 0,
        vector_registers: 0,
        has_fma: false,
        lane_permute_width: 0,
        has_wide_integers: false,
        has_pmaddwd: false,
        has_bf16_dot: false,
        has_non_temporal_stores: false,
        has_asymmetric_writes: false,
        prefetches_terms: true,
        second_cache: 1 << 20,
        last_cache: 32 << 20,
        has_byte_tiles: false,
        has_bf16_tiles: false,
        threads: 8,
        task_operations: 65_536.0,
    };

    /// Vectors of 128 bits, which every x86-64 (SSE2) and AArch64 (NEON) has.
    const BASELINE: Cpu = Cpu { name: "baseline", vector_bytes: 16, vector_registers: 16, ..Cpu::GENERIC };

    const AVX2: Cpu = Cpu {
        name: "avx2",
        vector_bytes: 32,
        vector_registers: 16,
        has_fma: true,
        lane_permute_width: 8,
        has_pmaddwd: true,
        has_non_temporal_stores: true,
        second_cache: 512 << 10,
        ..Cpu::GENERIC
    };

    const AVX512: Cpu = Cpu {
        name: "avx512",
        vector_bytes: 64,
        vector_registers: 32,
        lane_permute_width: 16,
        has_wide_integers: true,
        has_bf16_dot: true,
        second_cache: 1 << 20,
        ..Cpu::AVX2
    };

    const AMX: Cpu = Cpu { name: "amx", has_byte_tiles: true, has_bf16_tiles: true, ..Cpu::AVX512 };

    /// The CPUs with a name, the one without vectors first, then by the bytes of these; the last one has registers for tiles.
    pub const ALL: [Cpu; 4] = [Cpu::GENERIC, Cpu::AVX2, Cpu::AVX512, Cpu::AMX];

    /// The CPU of this name.
    pub fn named(name: &str) -> Option<Cpu> {
        Cpu::ALL.into_iter().find(|cpu| cpu.name == name)
    }

    /// The CPU that is like a processor: its vectors have as many bytes, or else fewer, and it has the same units.
    pub fn like(target: &Target) -> Cpu {
        let all = [Cpu::AVX512, Cpu::AVX2, Cpu::BASELINE];
        let named = all.into_iter().find(|cpu| cpu.vector_bytes <= target.vector_bytes);
        let Some(cpu) = named else { return Cpu::GENERIC };
        let tiles = target.tiles;
        Cpu {
            name: if tiles.bytes || tiles.halves { Cpu::AMX.name } else { cpu.name },
            lane_permute_width: target.lane_permute_width,
            has_pmaddwd: target.has_pmaddwd,
            has_bf16_dot: cpu.has_bf16_dot && target.has_bf16_dot,
            has_non_temporal_stores: target.has_non_temporal_stores,
            has_asymmetric_writes: target.asymmetric_writes,
            prefetches_terms: target.prefetches || target.prefetches_far || target.prefetches_rows,
            second_cache: target.l2_bytes(),
            last_cache: target.llc_bytes,
            has_byte_tiles: tiles.bytes,
            has_bf16_tiles: tiles.halves,
            threads: target.threads.max(1),
            ..cpu
        }
    }

    /// The same CPU without the dot products, the lane permutes and the stores past the caches that a processor lacks: LLVM
    /// has no code for them there, and results are as right without them.
    pub fn on(self, target: &Target) -> Cpu {
        let has_lanes = self.vector_bytes <= target.vector_bytes;
        Cpu {
            lane_permute_width: self.lane_permute_width.min(target.lane_permute_width),
            has_pmaddwd: self.has_pmaddwd && target.has_pmaddwd && has_lanes,
            has_bf16_dot: self.has_bf16_dot && target.has_bf16_dot && has_lanes,
            has_non_temporal_stores: self.has_non_temporal_stores && target.has_non_temporal_stores,
            ..self
        }
    }

    /// What it has that a processor lacks, in words.
    pub fn lacks(&self, target: &Target) -> Option<&'static str> {
        let lacking =
            self.has_byte_tiles && !target.tiles.bytes || self.has_bf16_tiles && !target.tiles.halves;
        lacking.then_some("registers for tiles (AMX)")
    }

    /// Are vectors half a line of the caches, or less? What is done for such processors alone has not been measured with wider
    /// vectors.
    fn has_narrow_vectors(&self) -> bool {
        self.vector_bytes <= 32
    }

    /// Does it compare floats of so many bytes by their bits, as integers?
    fn compares_as_integers(&self, bytes: usize) -> bool {
        bytes < 8 || self.has_wide_integers
    }

    /// The elements of an expression in a vector, or why there is no vector of them.
    fn lanes(&self, expression: &Expression) -> Result<i64, String> {
        match self.vector_bytes / expression.element_bytes().max(1) {
            0 | 1 => Err(format!("{} has no vectors of these elements", self.name)),
            lanes => Ok(lanes as i64),
        }
    }
}

/// The kernels of a program that is compiled for a CPU: those that its strategies take.
pub fn chosen(target: &Target) -> Scheduled {
    let machine = Arc::new(Cpu::like(target));
    Scheduled { machine, schedules: Arc::default(), which: Which::Chosen }
}

impl Native for Cpu {
    fn arithmetic(&self) -> Arithmetic {
        Arithmetic {
            lane_permute_width: self.lane_permute_width,
            has_truth_vectors: self.vector_bytes > 0,
            has_narrow_conversions: true,
            has_functions: true,
        }
    }

    fn tasks(&self, kernel: &Kernel) -> Result<Tasks, write::WriteError> {
        write::tasks(self, kernel)
    }

    fn range_of_tasks(&self, kernel: &Kernel) -> Result<Tasks, write::WriteError> {
        write::range_of_tasks(self, kernel)
    }

    fn parts_of_rows(&self, expression: &Expression, parts: &Parts) -> Result<Schedule, &'static str> {
        taken::parts::schedule(self, expression, parts)
    }

    fn has_rows_in_lanes(&self, expression: &Expression) -> bool {
        taken::parts::lie_in_lanes(self, expression)
    }

    fn takes(&self, expression: &Expression) -> Result<(), &'static str> {
        taken::takes(self, expression)
    }

    fn rows_of_tile(&self, expression: &Expression, rows: &str) -> Result<i64, &'static str> {
        strategies::ranges::rows_of_tile(self, expression, rows)
    }

    fn ranges_of_rows(
        &self,
        expression: &Expression,
        loops: &[String],
        most: i64,
    ) -> Result<Schedule, &'static str> {
        strategies::ranges::schedule(self, expression, loops, most)
    }

    fn stores_first(&self, expression: &Expression, in_ranges: bool) -> Vec<StoredFactor> {
        taken::stored::factors_first(self, expression, in_ranges)
    }
}

impl Machine for Cpu {
    fn name(&self) -> &str {
        self.name
    }

    fn abilities(&self) -> Vec<Ability> {
        use Ability::{Dots, Fma, Keys, Steps, TaskMemory, Tasks, Tiles, Vectors};
        let further = [
            (Vectors, self.vector_bytes > 0),
            (Fma, self.has_fma),
            (Dots, self.has_pmaddwd || self.has_bf16_dot),
            (Tiles, self.has_byte_tiles || self.has_bf16_tiles),
        ];
        let further = further.into_iter().filter_map(|(ability, has)| has.then_some(ability));
        [Tasks, TaskMemory, Steps, Keys].into_iter().chain(further).collect()
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let cpu = || self.clone();
        let refined = |strategy, refine| -> Box<dyn Strategy> { Box::new(Refined { strategy, refine }) };
        // Long sums of floats are made in blocks.
        let in_blocks = |strategy| refined(strategy, Schedule::with_partial_sums);
        let all: Vec<Box<dyn Strategy>> = vec![
            Box::new(Units(cpu())),
            refined(Box::new(Tiles(cpu())), Schedule::with_partial_sums_of_tiles),
            refined(Box::new(Blocks(cpu())), Schedule::with_partial_sums_of_tiles),
            Box::new(Ranges(cpu())),
            Box::new(Streams(cpu())),
            in_blocks(Box::new(Windows(cpu()))),
            Box::new(Scans(cpu())),
            Box::new(Transposes(cpu())),
            Box::new(Columns(cpu())),
            Box::new(Down(cpu())),
            in_blocks(Box::new(Rows(cpu()))),
            in_blocks(Box::new(Dots(cpu()))),
            in_blocks(Box::new(Scalar(cpu()))),
        ];
        // Loops end where a mask or a guard makes the rest the same, as far as they can.
        all.into_iter().map(|strategy| refined(strategy, Schedule::with_triangles)).collect()
    }

    fn spread(&self) -> Spread {
        Spread::Tasks { points: 4096, threads: self.threads as i64 }
    }

    fn vector_bytes(&self) -> usize {
        self.vector_bytes
    }

    /// Lines that the second cache does not hold, and elements of what fills a part of the last one.
    fn far_bytes(&self) -> FarBytes {
        FarBytes { of_lines: self.second_cache as i64, of_elements: self.last_cache as i64 / 4 }
    }

    /// A line that is long and has none beside it for the other threads is cut into blocks, which tasks share. Its terms are
    /// computed twice.
    fn scan_block(&self, expression: &Expression, &Scanned { length, .. }: &Scanned) -> Option<i64> {
        /// Elements of a block, whose sum is made term by term, and of a line that is worth blocks.
        const BLOCK: i64 = 1 << 12;
        const LONG: i64 = 1 << 18;
        let points: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
        let lines = points / length.max(1) as f64;
        // Next to functions the rest does not count.
        let least = if expression.has_formulas() { 4.0 } else { 2.0 };
        (least * lines <= self.threads as f64 && length >= LONG).then_some(BLOCK)
    }
}
