//! Can the loops of a schedule run as they stand?

use super::{Axis, AxisKind, BLOCK, MAX_JAMMED, MAX_LANES};
use crate::expression::dag::NodeId;
use crate::kernels::contraction::WARP;
use crate::kernels::expression::Expression;
use surject_kernel::Level;

/// The loops over the points, or those of a reduction, outermost first.
pub(crate) type Nest = (Option<NodeId>, Vec<Axis>);

/// A loop that cannot run as it stands.
pub(super) struct Unfit {
    pub(super) name: String,
    pub(super) message: String,
}

/// How many threads and how many warps share loops, if any do.
pub(super) struct Sharing {
    pub(super) threads: Option<i64>,
    pub(super) warps: Option<i64>,
}

/// Can the loops run as they stand now? The nest of the points is the first.
pub(super) fn check(expression: &Expression, nests: &[Nest]) -> Result<Sharing, Unfit> {
    let mut check = Check { expression, nests, threads: None, warps: None, lanes: None };
    for (reduction, axes) in nests {
        let mut nest = NestCheck { reduction: *reduction, axes, levels: Vec::new() };
        for (i, axis) in axes.iter().enumerate() {
            let unfit = |message: String| Unfit { name: axis.name.clone(), message };
            check.axis(&mut nest, i, axis).map_err(unfit)?;
        }
    }
    Ok(Sharing { threads: check.threads.map(|t| t.1), warps: check.warps.map(|w| w.1) })
}

/// What is known of the loops looked at so far.
struct Check<'a> {
    expression: &'a Expression,
    nests: &'a [Nest],
    /// A loop over threads and one over warps, and how many share them.
    threads: Option<(&'a str, i64)>,
    warps: Option<(&'a str, i64)>,
    /// The lanes of the points.
    lanes: Option<&'a Axis>,
}

/// A nest of loops, and the levels of its parallel loops over tasks and blocks so far.
struct NestCheck<'a> {
    reduction: Option<NodeId>,
    axes: &'a [Axis],
    levels: Vec<Level>,
}

impl<'a> Check<'a> {
    /// Checks the loop of this number; an error says what is wrong with it.
    fn axis(&mut self, nest: &mut NestCheck<'a>, i: usize, axis: &'a Axis) -> Result<(), String> {
        let name = &axis.name;
        let at_once = matches!(axis.kind, AxisKind::Parallel(_) | AxisKind::Lanes | AxisKind::Jammed);
        if at_once && nest.reduction.is_none() && !self.expression.free.contains(axis.of) {
            return Err(format!(
                "iterations of `{name}` store the same elements: they run one after the other"
            ));
        }
        match axis.kind {
            AxisKind::Parallel(level @ (Level::Thread | Level::Warp)) => self.shared(nest, axis, level),
            AxisKind::Parallel(level) => nest.outer(i, axis, level),
            AxisKind::Lanes => self.vectorised(nest, i, axis),
            AxisKind::Jammed => self.jammed(nest, i, axis),
            AxisKind::Ranged => nest.ranged(i, axis),
            AxisKind::Serial | AxisKind::Unrolled => Ok(()),
        }
    }

    /// A loop that the threads or the warps of a block share.
    fn shared(&mut self, nest: &NestCheck<'a>, axis: &'a Axis, level: Level) -> Result<(), String> {
        let name = &axis.name;
        let blocks = |a: &Axis| matches!(a.kind, AxisKind::Parallel(Level::Block));
        if !self.nests[0].1.iter().any(blocks) {
            return Err(format!("the {level}s of `{name}` stand inside of a loop over blocks"));
        }
        let alike = || nest.axes.iter().filter(|a| a.kind == axis.kind);
        if (level == Level::Warp || nest.reduction.is_some()) && alike().count() > 1 {
            return Err(format!("`{name}` is not the only loop over {level}s"));
        }
        let all_extents = alike().try_fold(1i64, |n, a| n.checked_mul(a.extent));
        let extent = all_extents.filter(|&n| n <= BLOCK);
        let Some(extent) = extent.or((alike().count() == 1).then_some(axis.extent)) else {
            return Err(format!("a block has {BLOCK} threads at most, and `{name}` has more with others"));
        };
        let shared = if level == Level::Thread { &mut self.threads } else { &mut self.warps };
        if let Some((other, others)) = shared.filter(|other| other.1 != extent) {
            return Err(format!("`{name}` has {extent} {level}s, and `{other}` has {others}"));
        }
        *shared = Some((name, extent));
        match nest.reduction {
            Some(reduction) => self.shared_reduction(reduction, axis, level, extent),
            None => Ok(()),
        }
    }

    /// A loop of a reduction that so many threads or warps share. In a warp threads exchange values, those of several
    /// warps meet in memory of the block.
    fn shared_reduction(
        &self,
        reduction: NodeId,
        axis: &Axis,
        level: Level,
        extent: i64,
    ) -> Result<(), String> {
        let name = &axis.name;
        if level == Level::Warp {
            if extent > BLOCK / WARP {
                return Err(format!(
                    "a reduction is shared by {} warps of a block at most; `{name}` has {extent}",
                    BLOCK / WARP
                ));
            }
            if !self.has(Level::Thread) {
                return Err(format!(
                    "warps that share the reduction over `{name}` have threads: make a loop parallel"
                ));
            }
        } else {
            let most = if self.has(Level::Warp) { WARP } else { BLOCK };
            let exchanges = extent <= WARP && extent.count_ones() == 1;
            if !(exchanges || extent <= most && extent % WARP == 0) {
                return Err(format!(
                    "a reduction is shared by 2, 4, 8, 16 or {WARP} threads of a warp, or by whole warps of a \
                     block, {BLOCK} threads at most; `{name}` has {extent}"
                ));
            }
        }
        // Each agent has a value of its own of what depends on a loop that they share.
        let deps = self.expression.dag[reduction].deps;
        match self.axes().find(|other| other.kind == axis.kind && deps.contains(other.of)) {
            Some(Axis { name: other, .. }) => Err(format!(
                "the reduction over `{name}` depends on `{other}`, of which each {level} has a part"
            )),
            None => Ok(()),
        }
    }

    /// A loop whose iterations are lanes. Reductions that are vectorised beside each other do not meet; lanes of the points
    /// meet those that depend on them.
    fn vectorised(&mut self, nest: &NestCheck<'a>, i: usize, axis: &'a Axis) -> Result<(), String> {
        let (name, extent) = (&axis.name, axis.extent);
        if i + 1 != nest.axes.len() {
            return Err(format!("`{name}` is vectorised, and is not the innermost loop"));
        }
        if !(2..=MAX_LANES).contains(&extent) {
            return Err(format!(
                "`{name}` runs {extent} times, and a vector has 2 to {MAX_LANES} lanes; split it first"
            ));
        }
        let Some(reduction) = nest.reduction else {
            self.lanes = Some(axis);
            return Ok(());
        };
        match self.lanes.filter(|p| self.expression.dag[reduction].deps.contains(p.of)) {
            Some(point) => Err(format!("`{}` is vectorised already", point.name)),
            None => Ok(()),
        }
    }

    /// A loop whose iterations run in step: those inside of it are in step too, or lanes.
    fn jammed(&self, nest: &NestCheck<'a>, i: usize, axis: &'a Axis) -> Result<(), String> {
        let name = &axis.name;
        if nest.reduction.is_some() {
            return Err(format!("`{name}` is a loop of a reduction, and loops over points are jammed"));
        }
        let other = |a: &&Axis| !matches!(a.kind, AxisKind::Jammed | AxisKind::Lanes);
        if let Some(inner) = nest.axes[i..].iter().find(other) {
            return Err(format!("`{name}` is jammed, and `{}` inside of it is not", inner.name));
        }
        let all = nest.axes.iter().filter(|a| a.kind == AxisKind::Jammed);
        let all = all.fold(1i64, |n, a| n.saturating_mul(a.extent));
        if all > MAX_JAMMED {
            return Err(format!("{all} iterations are jammed; at most {MAX_JAMMED} are"));
        }
        let of_gpu = |a: &Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
        match self.axes().find(|a| of_gpu(a)) {
            Some(shared) => Err(format!("`{name}` is jammed, and agents of a GPU share `{}`", shared.name)),
            None => Ok(()),
        }
    }

    fn axes(&self) -> impl Iterator<Item = &'a Axis> + use<'a> {
        self.nests.iter().flat_map(|n| &n.1)
    }

    /// Is any loop shared by agents of this level?
    fn has(&self, level: Level) -> bool {
        self.axes().any(|a| a.kind == AxisKind::Parallel(level))
    }
}

impl NestCheck<'_> {
    /// A loop over tasks or blocks, which stands outside of all that are not parallel.
    fn outer(&mut self, i: usize, axis: &Axis, level: Level) -> Result<(), String> {
        let name = &axis.name;
        if self.reduction.is_some() {
            return Err(format!("`{name}` is a loop of a reduction, which only threads and warps share"));
        }
        if self.levels.len() != i {
            return Err(format!("the loop `{name}` is parallel and stands inside of one that is not"));
        }
        let fits = match self.levels.last() {
            None => matches!(level, Level::Task | Level::Block),
            Some(outer) => level == *outer,
        };
        if !fits {
            let outer = self.levels.last().map_or("nothing".to_string(), |l| format!("a loop over {l}s"));
            return Err(format!("`{name}` is a loop over {level}s, and around it is {outer}"));
        }
        self.levels.push(level);
        Ok(())
    }

    /// The loop that a range is of: the outermost one over points.
    fn ranged(&self, i: usize, axis: &Axis) -> Result<(), String> {
        match self.reduction.is_none() && i == 0 && axis.factor == 1 {
            true => Ok(()),
            false => {
                Err(format!("a range is of the outermost loop over points, which `{}` is not", axis.name))
            }
        }
    }
}
