//! What the threads of a schedule do with memory, counted from the index maps: the requests of warps, the sectors and lines
//! that each touches, and those that a block touches in all its life.

use super::expression::Expression;
use super::expression::joined_in;
use super::schedule::{Axis, AxisKind, Resolved, Schedule, ScheduleError, resolve};
use crate::expression::address::{Lin, LoopSet};
use crate::expression::dag::{Buf, Node, NodeId};
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_ir::DType;
use surject_kernel::Level;

/// Sizes of a machine that accesses are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// The threads of a warp.
    pub warp: i64,
    /// The bytes of a sector of memory.
    pub sector: i64,
    /// The bytes that the nearest cache finds at once.
    pub line: i64,
    /// The bytes that a thread accesses at once at most.
    pub widest: i64,
}

/// The loads or stores of one tensor by one pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessCount {
    /// Are they stores?
    pub stored: bool,
    /// The bytes that a thread accesses at once.
    pub bytes: f64,
    /// Accesses by a whole warp at once, those of all blocks together.
    pub requests: f64,
    /// The lines and the sectors that one of them touches.
    pub lines: f64,
    /// The sectors that one of them touches.
    pub sectors: f64,
    /// The distinct sectors that a block touches.
    pub of_block: f64,
    /// The distinct sectors that all blocks touch.
    pub of_all: f64,
    /// The bytes of distinct elements that a block accesses.
    pub needed: f64,
    /// How often a thread accesses after it has waited for what it accessed before.
    pub turns: f64,
    /// The phase of the kernel they belong to: the accesses of one are under way at the same time.
    pub phase: usize,
}

/// What the threads of a schedule do.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Blocks.
    pub blocks: f64,
    /// Threads of a block.
    pub threads: i64,
    /// Accesses by pattern.
    pub accesses: Vec<AccessCount>,
    /// Scalar operations of all threads, those of a warp that is not full counted as if it were; by their weight.
    pub operations: f64,
    /// How often the threads of a warp join what they reduced, after each other; and those of a block.
    pub joins: [f64; 2],
}

impl Expression {
    /// What its threads do by a schedule that has loops: none for the forms that have their own.
    pub fn counts(
        &self,
        schedule: &Schedule,
        units: Units,
        weight: &dyn Fn(&Work) -> f64,
    ) -> Result<Option<Counts>, ScheduleError> {
        let resolved = resolve(self, schedule)?;
        let has_form = resolved.contraction.is_some()
            || resolved.multiply.is_some()
            || resolved.transpose.is_some()
            || resolved.scan.is_some();
        Ok((!has_form).then(|| Counting::new(self, &resolved, units).counts(weight)))
    }
}

/// An operation whose cost a machine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A unary operation.
    Unary(surject_ir::UnaryOp, DType),
    /// A binary operation.
    Binary(surject_ir::BinaryOp, DType),
    /// Joining a term of a reduction.
    Join(DType),
    /// A choice, a conversion, or anything else of a few instructions.
    Plain,
    /// A load or a store, with its address.
    Access,
}

/// The nest that a node is computed in: reductions, the outermost first.
type Around = Vec<NodeId>;

struct Counting<'a> {
    expression: &'a Expression,
    resolved: &'a Resolved,
    units: Units,
    /// All nodes with the reductions around them, each as often as it is computed.
    found: Vec<(NodeId, Around)>,
}

/// A loop of a nest with what an address has of it.
struct Step<'a> {
    axis: &'a Axis,
    bytes: i64,
}

/// The same tensor by the same steps: what differs is where it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pattern {
    buf: Buf,
    stored: bool,
    /// The phase, where a loop accesses it anew in every one.
    phase: Option<usize>,
    steps: Vec<(i64, i64, u8)>,
}

impl<'a> Counting<'a> {
    fn new(expression: &'a Expression, resolved: &'a Resolved, units: Units) -> Counting<'a> {
        let mut counting = Counting { expression, resolved, units, found: Vec::new() };
        let mut work: Vec<(NodeId, Around)> =
            expression.outputs.iter().map(|o| (o.root, Vec::new())).collect();
        let mut seen: HashSet<(NodeId, Around)> = HashSet::new();
        while let Some((node, mut around)) = work.pop() {
            let data = &expression.dag[node];
            // What does not depend on the loops of a reduction is computed outside of it.
            while around.last().is_some_and(|&r| !data.deps.meets(counting.own_loops(r))) {
                around.pop();
            }
            if !seen.insert((node, around.clone())) {
                continue;
            }
            let mut inside = around.clone();
            if let Node::Reduce { .. } = data.node {
                inside.push(node);
            }
            work.extend(data.node.children().map(|c| (c, inside.clone())));
            counting.found.push((node, around));
        }
        counting
    }

    fn own_loops(&self, reduction: NodeId) -> LoopSet {
        match &self.expression.dag[reduction].node {
            Node::Reduce { loops, .. } => loops.iter().copied().collect(),
            _ => LoopSet::default(),
        }
    }

    fn own_axes(&self, reduction: NodeId) -> &'a [Axis] {
        self.resolved.reductions.get(&reduction).map_or(&[], Vec::as_slice)
    }

    /// The loops in which something is computed that depends on some loops, in reductions.
    fn axes(&self, deps: LoopSet, around: &[NodeId]) -> Vec<&'a Axis> {
        let all = around.iter().fold(deps, |all, &r| all.union(self.expression.dag[r].deps));
        let points = self.resolved.points.iter().filter(move |a| all.contains(a.of));
        let mut axes: Vec<&Axis> = points.collect();
        around.iter().for_each(|&r| axes.extend(self.own_axes(r)));
        axes
    }

    /// How often each thread runs through loops, lanes counted as one.
    fn times(axes: &[&Axis]) -> f64 {
        let own = axes.iter().filter(|a| matches!(a.kind, AxisKind::Serial | AxisKind::Unrolled));
        own.map(|a| a.extent as f64).product()
    }

    fn blocks(&self) -> f64 {
        let blocks = self.resolved.points.iter().filter(|a| a.kind == AxisKind::Parallel(Level::Block));
        blocks.map(|a| a.extent as f64).product()
    }

    fn threads(&self) -> i64 {
        self.resolved.threads.unwrap_or(1) * self.resolved.warps.unwrap_or(1)
    }

    /// Warps of all blocks.
    fn warps(&self) -> f64 {
        let of_block = (self.resolved.threads.unwrap_or(1) + self.units.warp - 1) / self.units.warp;
        self.blocks() * (of_block * self.resolved.warps.unwrap_or(1)) as f64
    }

    fn counts(&self, weight: &dyn Fn(&Work) -> f64) -> Counts {
        let dag = &self.expression.dag;
        let lanes = |axes: &[&Axis]| -> f64 {
            let lanes = axes.iter().filter(|a| a.kind == AxisKind::Lanes);
            lanes.map(|a| a.extent as f64).product()
        };
        let (mut of_thread, mut joins) = (0.0, [0.0; 2]);
        for (node, around) in &self.found {
            let data = &dag[*node];
            let axes = self.axes(data.deps, around);
            let times = Counting::times(&axes) * lanes(&axes);
            let work = match &data.node {
                Node::Const(_) | Node::Index(_) | Node::Param(..) => continue,
                Node::Load { .. } | Node::Gather { .. } => {
                    of_thread += Counting::times(&axes) * weight(&Work::Access);
                    continue;
                }
                Node::Unary(op, _) => Work::Unary(*op, data.dtype),
                Node::Binary(op, x, _) => Work::Binary(*op, dag[*x].dtype),
                Node::Reduce { op, .. } => {
                    let own = self.own_axes(*node);
                    let terms: Vec<&Axis> = own.iter().collect();
                    let each = Counting::times(&axes);
                    let by = |level| own.iter().any(|a| a.kind == AxisKind::Parallel(level));
                    joins[0] += if by(Level::Thread) { each } else { 0.0 };
                    let wide =
                        self.resolved.threads.is_some_and(|t| t > self.units.warp) && by(Level::Thread);
                    joins[1] += if by(Level::Warp) || wide { each } else { 0.0 };
                    let all = each * Counting::times(&terms) * lanes(&terms) * lanes(&axes);
                    of_thread += all * weight(&Work::Join(joined_in(data.dtype, *op)));
                    continue;
                }
                _ => Work::Plain,
            };
            of_thread += times * weight(&work);
        }
        let stored: f64 = self.stores().iter().map(|s| Counting::times(&s.2)).sum();
        of_thread += stored * weight(&Work::Access);
        Counts {
            blocks: self.blocks(),
            threads: self.threads(),
            accesses: self.accesses(),
            operations: of_thread * self.warps() * self.units.warp as f64,
            joins,
        }
    }

    /// Where results are stored, and in which loops.
    fn stores(&self) -> Vec<(Buf, &'a Lin, Vec<&'a Axis>)> {
        let points = || self.resolved.points.iter().collect();
        self.expression.outputs.iter().map(|o| (o.to, &o.address, points())).collect()
    }

    fn accesses(&self) -> Vec<AccessCount> {
        let mut patterns: HashMap<Pattern, BTreeSet<i64>> = HashMap::new();
        let mut order: Vec<(Pattern, usize, Vec<Step<'a>>, LoopSet)> = Vec::new();
        let mut add = |(buf, stored): (Buf, bool), phase: usize, address: &Lin, axes: Vec<&'a Axis>| {
            let Some(&(_, dtype, _)) = self.expression.memory.get(&buf) else { return };
            let size = dtype.size() as i64;
            let step = |axis: &'a Axis| {
                let by = address.coeff(axis.of).saturating_mul(axis.factor);
                Step { axis, bytes: by.saturating_mul(size) }
            };
            let all: Vec<Step<'a>> = axes.into_iter().map(step).collect();
            let mut steps: Vec<(i64, i64, u8)> =
                all.iter().map(|s| (s.bytes, s.axis.extent, kind(s.axis.kind))).collect();
            steps.sort_unstable();
            // What a thread loads without a loop it still has in registers in the next phase.
            let in_loop = all.iter().any(|s| s.axis.kind == AxisKind::Serial && s.axis.extent > 1);
            let pattern = Pattern { buf, stored, phase: in_loop.then_some(phase), steps };
            let begins = patterns.entry(pattern.clone()).or_default();
            if begins.is_empty() {
                order.push((pattern, phase, all, address.loops()));
            }
            begins.insert(address.offset.saturating_mul(size));
        };
        let mut phases: Vec<&Around> = Vec::new();
        for (node, around) in self.found.iter().rev() {
            let data = &self.expression.dag[*node];
            let Node::Load { buf, address, .. } = &data.node else { continue };
            let phase = phases.iter().position(|p| *p == around).unwrap_or_else(|| {
                phases.push(around);
                phases.len() - 1
            });
            add((*buf, false), phase, address, self.axes(data.deps, around));
        }
        for (buf, address, axes) in self.stores() {
            add((buf, true), phases.len(), address, axes);
        }
        let counted = order.into_iter().map(|(pattern, phase, steps, loops)| {
            let begins = patterns.remove(&pattern).unwrap_or_default();
            AccessCount { phase, ..self.access(&pattern, &steps, &begins, loops) }
        });
        counted.collect()
    }

    /// The accesses of a tensor in some loops, from several first bytes on.
    fn access(
        &self,
        pattern: &Pattern,
        steps: &[Step<'_>],
        begins: &BTreeSet<i64>,
        loops: LoopSet,
    ) -> AccessCount {
        let dtype = self.expression.memory.get(&pattern.buf).map_or(DType::F32, |m| m.1);
        let size = dtype.size() as i64;
        // Lanes that lie next to each other are one access, others one each.
        let (mut bytes, mut separate) = (size, 1);
        for s in steps.iter().filter(|s| s.axis.kind == AxisKind::Lanes && s.bytes != 0) {
            match s.bytes.saturating_abs() == size {
                true => bytes = size * s.axis.extent,
                false => separate *= s.axis.extent,
            }
        }
        let axes: Vec<&Axis> = steps.iter().map(|s| s.axis).collect();
        let begin = begins.first().copied().unwrap_or(0);
        let together = if bytes == size && separate == 1 { self.together(steps, begins, size) } else { 1 };
        bytes *= together;
        let Touched { lines, sectors } = self.of_request(steps, begin, bytes);
        let times = Counting::times(&axes) * (separate * begins.len() as i64) as f64 / together as f64;
        let waits = steps.iter().filter(|s| s.axis.kind == AxisKind::Serial);
        let whole = self.whole(loops);
        let block = AxisKind::Parallel(Level::Block);
        let of_block = || steps.iter().filter(|s| s.axis.kind != block).collect::<Vec<_>>();
        AccessCount {
            stored: pattern.stored,
            bytes: bytes as f64,
            requests: self.warps() * self.busy(pattern.stored, steps) * times,
            lines,
            sectors,
            of_block: distinct(of_block(), begins, size, self.units.sector) * whole,
            of_all: distinct(steps.iter().collect(), begins, size, self.units.sector),
            needed: distinct(of_block(), begins, size, 1) * whole,
            turns: waits.map(|s| s.axis.extent as f64).product(),
            phase: 0,
        }
    }

    /// How many iterations of a thread's innermost loop are one access: LLVM writes some of them out, and loads neighbours
    /// at once where they begin at multiples of what they have.
    fn together(&self, steps: &[Step<'_>], begins: &BTreeSet<i64>, size: i64) -> i64 {
        let own =
            |s: &&Step<'_>| matches!(s.axis.kind, AxisKind::Serial | AxisKind::Unrolled) && s.axis.extent > 1;
        let Some(inner) = steps.iter().rev().find(own).filter(|s| s.bytes == size) else { return 1 };
        let aligned = |by: i64| {
            let bytes = by * size;
            let others = steps.iter().filter(|s| !std::ptr::eq(*s, inner)).map(|s| s.bytes);
            inner.axis.extent % by == 0 && others.chain(begins.iter().copied()).all(|at| at % bytes == 0)
        };
        [4, 2].into_iter().find(|&by| by * size <= self.units.widest && aligned(by)).unwrap_or(1)
    }

    /// The part of the iterations of loops that are there, where their last block is not whole.
    fn whole(&self, loops: LoopSet) -> f64 {
        let part = |axes: &[Axis], l| -> f64 {
            let padded: i64 = axes.iter().filter(|a| a.of == l).map(|a| a.extent).product();
            self.expression.dag.extent(l) as f64 / padded.max(1) as f64
        };
        let cut = self.resolved.cut.iter().filter(|&&l| loops.contains(l));
        let nests = || std::iter::once(&self.resolved.points).chain(self.resolved.reductions.values());
        cut.filter_map(|&l| {
            let nest = nests().find(|axes| axes.iter().any(|a| a.of == l))?;
            Some(part(nest, l))
        })
        .product()
    }

    /// The part of the warps that access: loops with fewer iterations leave some idle, and what all of them have, one stores.
    fn busy(&self, stored: bool, steps: &[Step<'_>]) -> f64 {
        let warps = |threads: i64| (threads + self.units.warp - 1) / self.units.warp;
        let threads = self.resolved.threads.unwrap_or(1);
        let by = |level| steps.iter().filter(move |s| s.axis.kind == AxisKind::Parallel(level));
        let mut part = 1.0;
        // Where threads share several loops over points, those that one leaves idle are not whole warps.
        let points = self.resolved.points.iter().filter(|a| a.kind == AxisKind::Parallel(Level::Thread));
        let alone = points.count() < 2;
        match (by(Level::Thread).next(), by(Level::Thread).nth(1)) {
            (None, _) if stored => part /= warps(threads) as f64,
            (Some(only), None) if alone => {
                let factor = only.axis.factor.max(1);
                let active = (self.expression.dag.extent(only.axis.of) + factor - 1) / factor;
                part *= warps(active.clamp(1, threads)) as f64 / warps(threads) as f64;
            }
            _ => {}
        }
        if stored && by(Level::Warp).next().is_none() {
            part /= self.resolved.warps.unwrap_or(1) as f64;
        }
        part
    }

    /// What the first warp touches at once.
    fn of_request(&self, steps: &[Step<'_>], begin: i64, bytes: i64) -> Touched {
        let thread = AxisKind::Parallel(Level::Thread);
        let threads = self.resolved.threads.unwrap_or(1).min(self.units.warp);
        let together: Vec<&Axis> = self.resolved.points.iter().filter(|a| a.kind == thread).collect();
        let (mut lines, mut sectors) = (BTreeSet::new(), BTreeSet::new());
        'threads: for t in 0..threads {
            let mut at = begin;
            for s in steps.iter().filter(|s| s.axis.kind == thread) {
                let mut own = t;
                if let Some(place) = together.iter().position(|a| std::ptr::eq(*a, s.axis)) {
                    let inner: i64 = together[place + 1..].iter().map(|a| a.extent).product();
                    own = t / inner.max(1) % s.axis.extent.max(1);
                }
                // A loop that has fewer iterations leaves threads idle.
                if own.saturating_mul(s.axis.factor) >= self.expression.dag.extent(s.axis.of) {
                    continue 'threads;
                }
                at = at.saturating_add(own.saturating_mul(s.bytes));
            }
            let (first, last) = (at, at.saturating_add(bytes - 1));
            sectors.extend(first.div_euclid(self.units.sector)..=last.div_euclid(self.units.sector));
            lines.extend(first.div_euclid(self.units.line)..=last.div_euclid(self.units.line));
        }
        Touched { lines: lines.len() as f64, sectors: sectors.len() as f64 }
    }
}

/// What a request touches.
struct Touched {
    /// Lines of memory.
    lines: f64,
    /// Their sectors.
    sectors: f64,
}

fn kind(kind: AxisKind) -> u8 {
    match kind {
        AxisKind::Serial | AxisKind::Ranged => 0,
        AxisKind::Unrolled | AxisKind::Jammed => 1,
        AxisKind::Parallel(Level::Thread) => 2,
        AxisKind::Parallel(Level::Warp) => 3,
        AxisKind::Parallel(_) => 4,
        AxisKind::Lanes => 5,
    }
}

/// The distinct pieces of memory of so many bytes that some loops touch.
fn distinct(steps: Vec<&Step<'_>>, begins: &BTreeSet<i64>, size: i64, piece: i64) -> f64 {
    let mut all: Vec<(i64, i64)> = steps.iter().map(|s| (s.bytes.saturating_abs(), s.axis.extent)).collect();
    if let (Some(first), Some(last)) = (begins.first(), begins.last())
        && begins.len() > 1
    {
        all.push((last.saturating_sub(*first) / (begins.len() as i64 - 1), begins.len() as i64));
    }
    all.retain(|s| s.0 != 0 && s.1 > 1);
    all.sort_unstable();
    // Bytes that lie next to each other, or in the same sectors; and how many such pieces there are.
    let (mut run, mut pieces, mut aligned) = (size, 1.0, true);
    for (by, extent) in all {
        if by <= run.max(piece) {
            run = run.saturating_add(by.saturating_mul(extent - 1));
        } else {
            pieces *= extent as f64;
            aligned &= by % piece == 0;
        }
    }
    let piece = piece as f64;
    let each = match aligned {
        true => (run as f64 / piece).ceil(),
        // Pieces begin anywhere in a sector.
        false => 1.0 + (run - 1).max(0) as f64 / piece,
    };
    pieces * each
}
