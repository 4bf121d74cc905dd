//! NVIDIA GPUs for the kernel IR: what a machine can do, and the strategies that are a GPU's own.
//!
//! [`Gpu`] is a machine of [`surject_codegen::kernels`]. Its strategies schedule one expression at a time:
//!
//! * `points`: each thread computes points of its own; neighbours in memory are neighbours in a warp, and short rows share
//!   a block;
//! * `vectors`: the same with as many points a thread as lie in 16 bytes;
//! * `lines`: each thread has a short row, which it reduces and computes the points of;
//! * `warps`: the threads of a warp share the terms of reductions that run along memory, and the points of the same row;
//! * `blocks`: the same with all threads of a block, which meet in shared memory;
//! * `transposes`: points whose loads go through tiles in shared memory, so that loads and stores are coalesced;
//! * `columns`: threads are neighbours across reductions, whose terms the warps of a block share and join in shared memory;
//! * `scans`: threads run through lines in order, or those of a block share a line and exchange what comes before;
//! * `tiles`: sums of products with tiles in shared memory and sums in registers;
//! * `matrix units`: the same for factors of 8 and 16 bits and `f64`, whose products a warp sums at once;
//! * `warpgroups`: the same for 16-bit floats, by four warps at once from shared memory (sm_90a), which another warp fills
//!   (TMA) where a schedule asks for it;
//! * `serial`: one thread, which every expression allows.
//!
//! A reduction with few values is cut into parts, which a second kernel reduces. Short rows stay in registers from one pass over them to the next. The cheapest by the [model] wins.
//!
//! In plans of programs a product, rows that are computed of it, and a product of these may be one kernel
//! ([`program::chains`]): attention whose scores stay in shared memory. What a mask throws away is not summed.
//!
//! Kernels run on the interpreter of kernels, which finds races and divergence, and counts sectors and bank conflicts.
//! [`mod@write`] writes them as MLIR, and [`compile`] makes PTX of that, of which [`mod@sass`] shows the instructions;
//! [`program`] makes plans of whole programs, which `surject-cuda` runs.

pub mod compile;
pub mod model;
pub mod program;
mod rounds;
pub mod sass;
mod strategies;
pub mod write;

use strategies::{By, Columns, Contractions, Lines, Points, Rows, Scans, Serial, Transposes};
use surject_codegen::kernels::ability::Ability;
use surject_codegen::kernels::contraction::Product;
use surject_codegen::kernels::expression::{Expression, Reduction};
use surject_codegen::kernels::machine::{Machine, Spread, Strategy, choose};
use surject_codegen::kernels::running::Scanned;
use surject_codegen::kernels::schedule::Schedule;

/// A GPU: what its multiprocessors can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Its name, that of the architecture.
    pub name: &'static str,
    /// The multiprocessors.
    pub multiprocessors: i64,
    /// The threads of a warp.
    pub warp: i64,
    /// The threads of a block that computes points.
    pub block: i64,
    /// The warps that a multiprocessor runs at once.
    pub warps: i64,
    /// The bytes of shared memory that a block may have.
    pub shared: i64,
    /// The bytes of a sector of global memory.
    pub sector: i64,
    /// Bytes of global memory in a second.
    pub bandwidth: f64,
    /// Scalar operations on `f32` in a second; a fused product and sum is one.
    pub rate: f64,
    /// Products of `f16` or `bf16` that the matrix units sum in a second, by `mma.sync`.
    pub products: f64,
    /// The same by products of four warps (`wgmma`); 0 where there are none.
    pub group_products: f64,
    /// Has a GPU given right results by them? Until then only schedules of the user ask for them.
    pub group_products_confirmed: bool,
    /// The same of what they multiply, brought in boxes (TMA).
    pub boxes_confirmed: bool,
    /// Products of `f64` that they sum.
    pub doubles: f64,
    /// Cycles in a second.
    pub clock: f64,
}

impl Gpu {
    /// An H100, with all that it has.
    const HOPPER: Gpu = Gpu {
        name: "sm_90a",
        multiprocessors: 132,
        warp: 32,
        block: 128,
        warps: 64,
        shared: 227 << 10,
        sector: 32,
        bandwidth: 3.35e12,
        rate: 33.5e12,
        products: 322e12,
        group_products: 494.5e12,
        group_products_confirmed: false,
        boxes_confirmed: false,
        doubles: 33.5e12,
        clock: 1.98e9,
    };

    /// The GPUs with a name: figures of A100, H100 and B200 (NVIDIA's tuning guides and data sheets). Of a B200, NVIDIA says
    /// 148 multiprocessors at up to 1.97 GHz, 75 TFLOPS of `f32` and 37 of `f64`, 8 TB/s, and 227 KiB for a block; the
    /// 2250 TFLOPS of its matrix units are those of `tcgen05`, which is not used here. What they sum by `mma.sync`, which
    /// nothing of NVIDIA's says, is taken to be what those of an A100 sum in a cycle.
    pub const ALL: [Gpu; 3] = [
        Gpu {
            name: "sm_80",
            multiprocessors: 108,
            warp: 32,
            block: 128,
            warps: 64,
            shared: 163 << 10,
            sector: 32,
            bandwidth: 1.555e12,
            rate: 9.75e12,
            products: 156e12,
            group_products: 0.0,
            group_products_confirmed: false,
            boxes_confirmed: false,
            doubles: 9.75e12,
            clock: 1.41e9,
        },
        Gpu::HOPPER,
        Gpu {
            name: "sm_100",
            multiprocessors: 148,
            warp: 32,
            block: 128,
            warps: 64,
            shared: 227 << 10,
            sector: 32,
            bandwidth: 8e12,
            rate: 37.2e12,
            products: 297e12,
            group_products: 0.0,
            group_products_confirmed: false,
            boxes_confirmed: false,
            doubles: 18.6e12,
            clock: 1.965e9,
        },
    ];

    /// An H100 without what later architectures do not have (`wgmma`): its code runs on these too.
    const PORTABLE_HOPPER: Gpu = Gpu { name: "sm_90", group_products: 0.0, ..Gpu::HOPPER };

    /// The GPU of this name: one of [`Gpu::ALL`], or `sm_90`, which is `sm_90a` without products of four warps.
    pub fn named(name: &str) -> Option<Gpu> {
        Gpu::ALL.into_iter().chain([Gpu::PORTABLE_HOPPER]).find(|gpu| gpu.name == name)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Gpu::ALL.into_iter().chain([Gpu::PORTABLE_HOPPER]).map(|gpu| gpu.name)
    }

    /// Into how many parts the terms of a sum of products may be cut (split-K), of enough terms each: the machine has
    /// blocks for all of them at once.
    fn parts_of_terms(&self, expression: &Expression, product: &Product) -> Vec<(String, i64)> {
        /// Rows and columns of a small tile.
        const TILE: i64 = 32;
        /// Terms of a part.
        const TERMS: i64 = 64;
        /// Blocks that a multiprocessor runs at once.
        const BLOCKS: i64 = 4;
        let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
        let points: i64 = expression.loops().iter().map(|l| l.extent).product();
        let terms = product.terms.iter().map(extent).fold(1, i64::saturating_mul);
        let tiles = (points / (TILE * TILE)).max(1);
        let most = (BLOCKS * self.multiprocessors / tiles).min(terms / TERMS);
        // Of as many parts those of the shortest loop: tiles run along the longest.
        let mut loops: Vec<(i64, &String)> = product.terms.iter().map(|name| (extent(name), name)).collect();
        loops.sort();
        let mut found: Vec<(String, i64)> = Vec::new();
        let mut parts = most;
        while parts >= 2 {
            let divided = loops.iter().filter_map(|&(extent, name)| {
                let cut = (2..=parts.min(extent)).rev().find(|p| extent % p == 0)?;
                Some((name, cut))
            });
            match divided.max_by_key(|cut| cut.1) {
                Some((name, cut)) if found.last().is_none_or(|last| last.1 > cut) => {
                    found.push((name.clone(), cut));
                    parts = cut / 2 + cut % 2;
                }
                _ => break,
            }
        }
        found
    }

    /// Into how many parts any other reduction may be cut.
    fn parts_of_reduction(&self, expression: &Expression, reduction: &Reduction) -> Vec<(String, i64)> {
        let loops = reduction.loops.iter().filter_map(|name| expression.find(name));
        let Some(longest) = loops.max_by_key(|l| l.extent) else { return Vec::new() };
        let values = reduction.outer.iter().filter_map(|name| expression.find(name));
        let values: i64 = values.map(|l| l.extent).product();
        let strides = expression.strides(&longest.name);
        let along = !strides.is_empty() && strides.iter().all(|s| s.elements == 1);
        // A block reduces what lies next to each other, else a thread.
        let (wanted, least) = match along {
            true => (2 * self.multiprocessors / values.max(1), 1024),
            false => (self.multiprocessors * self.warp * 16 / values.max(1), 32),
        };
        let (mut parts, mut found) = (1, Vec::new());
        while parts < wanted && longest.extent % (2 * parts) == 0 && longest.extent / (2 * parts) >= least {
            parts *= 2;
            found.push((longest.name.clone(), parts));
        }
        // Few of them are enough to find the best.
        found.into_iter().rev().step_by(2).take(3).collect()
    }

    /// The modelled time of an expression, in cycles.
    fn cycles(&self, expression: &Expression) -> Option<f64> {
        Some(choose(self, expression).ok()?.proposal.cost)
    }

    /// The threads that it runs at once.
    fn threads(&self) -> f64 {
        (self.multiprocessors * self.warps * self.warp) as f64
    }
}

impl Machine for Gpu {
    fn name(&self) -> &str {
        self.name
    }

    fn abilities(&self) -> Vec<Ability> {
        use Ability::{Blocks, Boxes, Fma, GroupProducts, Threads, Vectors, WarpProducts, Warps};
        let by_groups = [GroupProducts, Boxes].into_iter().filter(|_| self.group_products > 0.0);
        [Blocks, Warps, Threads, Vectors, Fma, WarpProducts].into_iter().chain(by_groups).collect()
    }

    /// A line that a block scans at once needs no blocks, nor do lines that are as many as the machine has threads. What
    /// comes before the blocks is few enough to be a reduction each.
    fn scan_block(&self, expression: &Expression, scanned: &Scanned) -> Option<i64> {
        /// What comes before this many blocks takes less than their results.
        const BLOCKS: i64 = 2048;
        let length = scanned.length;
        if Scans::is_next(expression, &scanned.along) {
            let block = if length > BLOCKS * Scans::LINE { Scans::LONGEST } else { Scans::LINE };
            return (length > Scans::LONGEST).then_some(block);
        }
        let lines: f64 = expression.loops().iter().map(|l| l.extent as f64).product::<f64>() / length as f64;
        let block = (lines * length as f64 / Scans::THREADS) as i64;
        let block = (block.max(length / BLOCKS).max(16) as u64).next_power_of_two() as i64;
        (lines < Scans::THREADS && 4 * block <= length).then_some(block)
    }

    fn spread(&self) -> Spread {
        Spread::Threads { block: 256 }
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let gpu = || self.clone();
        vec![
            Box::new(Contractions { gpu: gpu(), by: By::Groups }),
            Box::new(Contractions { gpu: gpu(), by: By::Units }),
            Box::new(Contractions { gpu: gpu(), by: By::Threads }),
            Box::new(Points { gpu: gpu(), vectors: true }),
            Box::new(Points { gpu: gpu(), vectors: false }),
            Box::new(Lines(gpu())),
            Box::new(Transposes(gpu())),
            Box::new(Scans(gpu())),
            Box::new(Columns(gpu())),
            Box::new(Rows { gpu: gpu(), block: false }),
            Box::new(Rows { gpu: gpu(), block: true }),
            Box::new(Serial(gpu())),
        ]
    }

    /// Where the values of a reduction are too few to keep the machine busy, and the model says that two kernels are faster
    /// than one.
    fn stages(&self, expression: &Expression) -> Option<(String, i64)> {
        let reductions = expression.reductions();
        let [reduction] = &reductions[..] else { return None };
        let cuts = match expression.product().filter(|p| !p.rows.is_empty() && !p.columns.is_empty()) {
            Some(product) => self.parts_of_terms(expression, &product),
            None => self.parts_of_reduction(expression, reduction),
        };
        if cuts.is_empty() {
            return None;
        }
        let whole = self.cycles(expression)?;
        let timed = cuts.into_iter().filter_map(|(name, parts)| {
            let [first, second] = expression.stages(&name, parts)?;
            Some((self.cycles(&first)? + self.cycles(&second)?, (name, parts)))
        });
        let (cycles, best) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (cycles < whole).then_some(best)
    }

    fn expects(&self, expression: &Expression, schedule: &Schedule) -> Option<String> {
        Some(model::model(self, expression, schedule).to_string())
    }
}
