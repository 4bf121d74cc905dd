//! NVIDIA GPUs for the kernel IR: what a machine can do, and the strategies that are a GPU's own.
//!
//! [`Gpu`] is a machine of [`surject_codegen::kernels`]. Its strategies schedule one expression at a time:
//!
//! * `points`: each thread computes points of its own; neighbours in memory are neighbours in a warp;
//! * `vectors`: the same with as many points a thread as lie in 16 bytes;
//! * `warps`: the threads of a warp share the terms of reductions that run along memory, and the points of the same row;
//! * `blocks`: the same with all threads of a block, which meet in shared memory;
//! * `tiles`: sums of products with tiles in shared memory and sums in registers;
//! * `serial`: one thread, which every expression allows.
//!
//! Short rows stay in registers from one pass over them to the next. The cheapest by the [model] wins.
//!
//! Kernels run on the interpreter of kernels, which finds races and divergence, and counts sectors and bank conflicts.
//! [`write`] writes them as MLIR, and [`compile`] makes PTX of that.

pub mod compile;
pub mod model;
mod strategies;
pub mod write;

use strategies::{Contractions, Points, Rows, Serial};
use surject_codegen::kernels::machine::{Machine, Strategy};

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
    /// The bytes of a sector of global memory.
    pub sector: i64,
    /// Bytes of global memory in a second.
    pub bandwidth: f64,
    /// Scalar operations on `f32` in a second; a fused product and sum is one.
    pub rate: f64,
    /// Cycles in a second.
    pub clock: f64,
}

impl Gpu {
    /// The GPUs with a name: figures of A100 and H100 (NVIDIA's tuning guides).
    pub const ALL: [Gpu; 2] = [
        Gpu {
            name: "sm_80",
            multiprocessors: 108,
            warp: 32,
            block: 128,
            warps: 64,
            sector: 32,
            bandwidth: 1.555e12,
            rate: 9.75e12,
            clock: 1.41e9,
        },
        Gpu {
            name: "sm_90a",
            multiprocessors: 132,
            warp: 32,
            block: 128,
            warps: 64,
            sector: 32,
            bandwidth: 3.35e12,
            rate: 33.5e12,
            clock: 1.98e9,
        },
    ];

    /// The GPU of this name.
    pub fn named(name: &str) -> Option<Gpu> {
        Gpu::ALL.into_iter().find(|gpu| gpu.name == name)
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

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        let gpu = || self.clone();
        vec![
            Box::new(Contractions(gpu())),
            Box::new(Points { gpu: gpu(), vectors: true }),
            Box::new(Points { gpu: gpu(), vectors: false }),
            Box::new(Rows { gpu: gpu(), block: false }),
            Box::new(Rows { gpu: gpu(), block: true }),
            Box::new(Serial(gpu())),
        ]
    }
}
