//! What a kernel takes, as a roofline says: the time that its traffic or its operations need at least, and how much of
//! the machine it keeps busy.
//!
//! The figures of machines are NVIDIA's (A100 and H100 data sheets and tuning guides), and what `papers/gpu` measured.

pub(crate) mod chain;
pub(crate) mod contraction;
mod scan;

use crate::Gpu;
use std::collections::HashMap;
use std::fmt;
use surject_codegen::kernels::expression::{Expression, Reduction};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_codegen::kernels::transpose::Transposers;
use surject_kernel::Level;

/// How an expression is shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// Blocks.
    pub blocks: f64,
    /// Threads of a block.
    pub threads: f64,
    /// Elements that a thread accesses at once.
    pub lanes: f64,
    /// The loops along which the threads of a warp are neighbours.
    pub along: Vec<String>,
    /// The loop along which they are where they load what goes through shared memory.
    pub across: Option<String>,
    /// Scalar operations that are done beside those of the expression.
    pub repeated: f64,
    /// Neighbours are so few, and then those along the other loop, where that is what lies next to them.
    pub short: Option<i64>,
}

impl Work {
    /// How a schedule shares an expression.
    pub fn of(expression: &Expression, schedule: &Schedule) -> Work {
        let reductions = expression.reductions();
        let names = expression.loops().into_iter().map(|l| l.name);
        let names = names.chain(reductions.iter().flat_map(|r| r.loops.clone()));
        // Each loop, and the loop of the expression that it is a part of.
        let mut loops: HashMap<String, (f64, String)> = HashMap::new();
        for name in names {
            let extent = expression.find(&name).map_or(1, |l| l.extent);
            loops.insert(name.clone(), (extent as f64, name));
        }
        let mut work = Work {
            blocks: 1.0,
            threads: 1.0,
            lanes: f64::INFINITY,
            along: Vec::new(),
            across: None,
            repeated: 0.0,
            short: None,
        };
        let (mut warps, mut points) = (1.0, 1.0);
        for directive in &schedule.directives {
            let found = |name: &String| loops.get(name).cloned().unwrap_or((1.0, name.clone()));
            match directive {
                Directive::Split(name, by) => {
                    let (extent, of) = found(name);
                    loops.insert(format!("{name}.o"), ((extent / *by as f64).ceil(), of.clone()));
                    loops.insert(format!("{name}.i"), (*by as f64, of));
                }
                Directive::Parallel(name, Level::Block) => work.blocks *= found(name).0,
                // Every loop that warps share is shared by the same ones.
                Directive::Parallel(name, Level::Warp) => warps = found(name).0,
                Directive::Transpose(tile) => {
                    let all: f64 = expression.loops().iter().map(|l| l.extent as f64).product();
                    let mut blocks = all;
                    for (name, by) in tile.loops.iter().zip(tile.tile) {
                        let extent = found(name).0;
                        blocks *= (extent / by as f64).ceil() / extent;
                    }
                    work.blocks = blocks;
                    let warps = match tile.by {
                        Transposers::Warps(warps) => warps,
                        Transposers::Tiles(_) => 1,
                    };
                    work.threads = (32 * warps) as f64;
                    // Each thread loads all of its elements before it stores the first.
                    let elements = (tile.tile[0] * tile.tile[1]) as f64;
                    work.lanes = (elements / work.threads).max(1.0);
                    work.along = vec![tile.loops[0].clone()];
                    work.across = Some(tile.loops[1].clone());
                    work.short = (tile.tile[0] < 32).then_some(tile.tile[0]);
                    return work;
                }
                Directive::Parallel(name, Level::Thread) => {
                    let (extent, of) = found(name);
                    // Threads have a part of each of several loops over points.
                    let is_point = expression.loops().iter().any(|l| l.name == of);
                    points *= if is_point { extent } else { 1.0 };
                    work.threads = if is_point { points } else { extent };
                    work.along.push(of);
                }
                Directive::Vectorise(name) => work.lanes = work.lanes.min(found(name).0),
                Directive::Parallel(..)
                | Directive::Order(_)
                | Directive::Unroll(_)
                | Directive::Jam(_)
                | Directive::Fma(_)
                | Directive::Pack { .. }
                | Directive::Contract(_)
                | Directive::Scan(_) => {}
            }
        }
        // What no thread shares and no thread has for itself, every thread computes.
        let own = |r: &&Reduction| !r.loops.iter().chain(&r.outer).any(|l| work.along.contains(l));
        let repeated: f64 = reductions.iter().filter(own).map(|r| r.operations).sum();
        work.repeated = repeated * (work.threads - 1.0);
        work.threads *= warps;
        work.lanes = if work.lanes.is_finite() { work.lanes } else { 1.0 };
        work
    }
}

/// What a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The time, in seconds.
    pub seconds: f64,
    /// The time of the traffic that is needed, at the full bandwidth.
    pub memory: f64,
    /// The time of the operations, at the full rate.
    pub arithmetic: f64,
    /// Bytes that are needed over bytes of the sectors that are touched.
    pub coalescing: f64,
    /// The part of the threads that the machine needs to be busy.
    pub busy: f64,
}

impl Model {
    /// The time that the machine needs at least, over the time of the kernel: 1 is the roof.
    pub fn share(&self) -> f64 {
        self.memory.max(self.arithmetic) / self.seconds
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} us, of which traffic needs {:.2} and operations {:.2}; coalescing {:.2}; {:.0} % of the roof",
            self.seconds * 1e6,
            self.memory * 1e6,
            self.arithmetic * 1e6,
            self.coalescing,
            self.share() * 100.0
        )
    }
}

/// The time from the launch of a kernel to its first instruction, and from its last one to the next launch: of the
/// smallest kernels of a recording (`papers/gpu`).
const LAUNCH: f64 = 1e-6;
/// The bytes that a multiprocessor must have under way so that memory is busy (Little's law with some 600 cycles).
const UNDER_WAY: f64 = 24.0 * 1024.0;
/// The time of an access to the caches, in that of an operation.
const ACCESS: f64 = 4.0;
/// The cycles from one operation of a thread to the next that depends on it.
const LATENCY: f64 = 4.0;

/// The time of an expression by a schedule.
pub fn model(gpu: &Gpu, expression: &Expression, schedule: &Schedule) -> Model {
    if let [Directive::Contract(tiles)] = &schedule.directives[..] {
        return contraction::model(gpu, expression, tiles);
    }
    if let [Directive::Scan(running)] = &schedule.directives[..] {
        return scan::model(gpu, expression, running);
    }
    let work = &Work::of(expression, schedule);
    let traffic = expression.traffic();
    let needed: f64 = traffic.iter().map(|t| t.1).sum();
    let coalescing = coalescing(gpu, expression, work);
    let memory = needed / gpu.bandwidth;
    let operations = expression.operations() + work.repeated;
    let arithmetic = operations / gpu.rate;
    // What is under way: each thread has its lanes, and a few loads at once.
    let threads = work.blocks * work.threads;
    let resident = threads.min(gpu.threads());
    let bytes = expression.element_bytes() as f64 * work.lanes * 2.0;
    let multiprocessors = work.blocks.min(gpu.multiprocessors as f64);
    let wanted = UNDER_WAY * gpu.multiprocessors as f64;
    let fed = (resident * bytes / wanted).min(1.0).min(multiprocessors / gpu.multiprocessors as f64);
    // The last blocks leave some multiprocessors idle.
    let waves = (threads / gpu.threads()).max(1e-9);
    let tail = if waves > 1.0 { waves / waves.ceil() } else { 1.0 };
    let moved = memory / (coalescing * fed.max(1e-6) * tail);
    let lanes = (gpu.rate / gpu.clock).max(1.0);
    let rate = gpu.clock * (resident / LATENCY).min(lanes);
    let computed = operations / rate.max(1.0) / tail;
    // What is read from the caches, or from shared memory.
    let accessed = expression.operations() * ACCESS / rate.max(1.0) / tail;
    let seconds = LAUNCH + moved.max(computed).max(accessed);
    Model { seconds, memory, arithmetic, coalescing, busy: fed * tail }
}

/// The bytes that are needed over those of the sectors that warps touch. What does not depend on any loop along which the
/// threads of a warp are neighbours is one element for all of them, which stays in the cache.
fn coalescing(gpu: &Gpu, expression: &Expression, work: &Work) -> f64 {
    if work.along.is_empty() {
        return expression.element_bytes() as f64 / gpu.sector as f64;
    }
    let (mut needed, mut touched) = (0.0, 0.0);
    for access in expression.accesses() {
        let strides = work.along.iter().map(|name| access.stride(name).abs()).filter(|&s| s != 0);
        let mut stride = strides.min().unwrap_or(0);
        if let Some(across) = work.across.as_ref().map(|name| access.stride(name).abs()) {
            match work.short {
                // Few neighbours, and behind them those along the other loop.
                Some(few) if access.stored && stride == 1 && across != few => stride = across / few.max(1),
                _ if !access.stored && across != 0 && across < stride => stride = across,
                _ => {}
            }
        }
        let bytes = access.elements * access.bytes as f64;
        let most = (gpu.sector / (access.bytes as i64).max(1)).max(1);
        needed += bytes;
        touched += bytes * stride.clamp(1, most) as f64;
    }
    if touched > 0.0 { needed / touched } else { 1.0 }
}
