//! Loops in parts: iterations that are written out, and the last one of a loop whose split does not divide it, by itself,
//! so that all others need no guards.

use super::triangle::Between;
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Axis, AxisKind};
use crate::schedule::cuts::always;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use surject_kernel::{Affine, Guard, Level, Term, Value};

/// The most iterations that are written out; more stay a loop that is unrolled.
const WRITTEN: i64 = 64;

/// Iterations of a loop that are computed alike.
pub(super) enum Part {
    /// So many from one on, as a loop; all of them are whole where the loop is the outer one of a split.
    Loop { first: i64, count: i64, whole: bool },
    /// Some blocks of a loop, all of them whole where this says so.
    Piece { blocks: Range<i64>, whole: bool },
    /// One, by its number.
    One(i64),
    /// The last one of an outer loop, inside of which this many iterations are left.
    Rest { number: i64, left: i64 },
    /// As many as a value says, all of them whole where this says so.
    Some { count: Affine, whole: bool },
    /// Those from one on, before another one; the last one of all has fewer iterations inside.
    Uneven { range: (Affine, Affine) },
    /// Those from one on, before another one, all of them whole where this says so. `tail`: they lie in a tail of results, which this
    /// position has too. `between`: what is known of the terms of a reduction that are left out.
    Between { range: (Affine, Affine), whole: bool, tail: Option<Value>, between: Option<Between> },
    /// That of this number, where a condition holds: it is the last one of all, with this many iterations inside.
    RestIf { condition: Value, number: Affine, left: i64 },
}

/// Iterations from one on, before another one, of a loop that runs them one after the other, as [`Part::Between`] has them.
pub(super) struct Stretch {
    pub(super) range: (Affine, Affine),
    pub(super) whole: bool,
    pub(super) tail: Option<Value>,
}

impl Part {
    /// Its iterations, which are cut into blocks of so many; `None` where they are no more than these, or no such stretch.
    pub(super) fn longer_than(&self, size: i64) -> Option<Stretch> {
        match self {
            &Part::Loop { first, count, whole } if size < count => {
                Some(Stretch { range: (first.into(), (first + count).into()), whole, tail: None })
            }
            Part::Between { range, whole, tail, .. } => {
                Some(Stretch { range: range.clone(), whole: *whole, tail: *tail })
            }
            _ => None,
        }
    }
}

/// What was opened for a part.
pub(super) enum Opened {
    /// Nothing.
    Nothing,
    /// A loop that carries these values inside.
    Loop(Vec<Value>),
    /// A condition.
    Condition,
}

/// What is known outside of a loop.
pub(super) struct Outside {
    depth: usize,
    lanes: Option<(LoopId, usize)>,
    places: HashMap<LoopId, Affine>,
    whole: LoopSet,
    rest: HashMap<LoopId, i64>,
    short: HashMap<LoopId, Value>,
    pieces: HashMap<LoopId, Range<i64>>,
    tails: Vec<(LoopId, Value)>,
}

impl Outside {
    /// How many frames there are.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

impl Lowering<'_> {
    pub(super) fn outside(&self) -> Outside {
        Outside {
            depth: self.frames.len(),
            lanes: self.lanes,
            places: self.places.clone(),
            whole: self.whole,
            rest: self.rest.clone(),
            short: self.short.clone(),
            pieces: self.pieces.clone(),
            tails: self.tails.clone(),
        }
    }

    /// Forgets what is known since.
    pub(super) fn return_to(&mut self, outside: &Outside) {
        self.frames.truncate(outside.depth);
        self.lanes = outside.lanes;
        self.places.clone_from(&outside.places);
        self.whole = outside.whole;
        self.rest.clone_from(&outside.rest);
        self.short.clone_from(&outside.short);
        self.pieces.clone_from(&outside.pieces);
        self.tails.clone_from(&outside.tails);
    }

    /// The parts of a loop over points, in order. Where tasks share the parts of a cut loop, the last ones have fewer
    /// iterations, and one of them has what is left of a vector or a block.
    pub(super) fn parts_of_points(&mut self, axis: &Axis) -> Lowered<Vec<Part>> {
        if let Some(parts) = self.triangular_points(axis)? {
            return Ok(parts);
        }
        let is_cut =
            axis.kind == AxisKind::Serial && self.is_cut_by_cpu(axis.of) && !self.whole.contains(axis.of);
        if !is_cut {
            return Ok(self.in_pieces(axis, self.parts(axis)));
        }
        if self.has_parts_inside(axis) {
            let all = Part::Some { count: self.blocks_here(axis)?, whole: false };
            return Ok(vec![if axis.extent == 1 { Part::One(0) } else { all }]);
        }
        if self.adds_all(axis) {
            return Ok(vec![Part::Some { count: self.blocks_here(axis)?, whole: true }]);
        }
        if self.stores_each(axis) {
            return Ok(vec![Part::Uneven { range: (0.into(), self.blocks_here(axis)?) }]);
        }
        let extent = self.expression.dag.extent(axis.of);
        let is_shared = axis.factor * axis.extent < extent;
        if !is_shared || !self.takes_parts(axis) {
            return Ok(self.in_pieces(axis, self.parts(axis)));
        }
        let Some(here) = self.blocks_left(axis, extent / axis.factor)? else { return Ok(self.parts(axis)) };
        let count = self.lesser(&here, &axis.extent.into()).into();
        let left = extent % axis.factor;
        if left == 0 {
            return Ok(vec![Part::Some { count, whole: true }]);
        }
        let last = Guard { expr: here.clone(), bound: axis.extent.into() };
        let condition = self.b.holds(vec![last], 1);
        Ok(vec![Part::Some { count, whole: true }, Part::RestIf { condition, number: here, left }])
    }

    /// How many iterations of a cut loop there are here, the last one of all too.
    fn blocks_here(&mut self, axis: &Axis) -> Lowered<Affine> {
        let extent = self.expression.dag.extent(axis.of);
        let is_shared = axis.factor * axis.extent < extent && axis.extent > 1;
        let left = if is_shared { self.blocks_left(axis, (extent - 1) / axis.factor + 1)? } else { None };
        Ok(left.map_or(axis.extent.into(), |left| self.lesser(&left, &axis.extent.into()).into()))
    }

    /// How many of so many blocks of a loop are left from here on, where blocks begin here.
    fn blocks_left(&self, axis: &Axis, all: i64) -> Lowered<Option<Affine>> {
        let before = self.places.get(&axis.of).and_then(|place| divided(place, axis.factor));
        let left = |before: Affine| {
            Affine::from(all).plus(&before, -1).ok_or_else(|| CodegenError::overflow("a loop"))
        };
        before.map(left).transpose()
    }

    /// Are terms of whole blocks added in the last block too? Panels have values there for what does not exist, which nobody
    /// stores. It takes little time where blocks are small, and its statements are there once.
    fn adds_all(&self, axis: &Axis) -> bool {
        /// A part of all iterations.
        const LITTLE: i64 = 32;
        let Some(accumulation) = self.adding.filter(|_| axis.factor > 1) else { return false };
        let dag = &self.expression.dag;
        let reductions = accumulation.sums.iter().map(|sums| sums.reduction).collect::<Vec<_>>();
        let is_panel = |n: NodeId| self.panels.contains_key(&n);
        let in_place = |n: &NodeId| {
            let loads = matches!(dag[*n].node, Node::Load { .. } | Node::Gather { .. });
            loads && dag[*n].deps.contains(axis.of) && !is_panel(*n)
        };
        let extent = dag.extent(axis.of);
        let more = (axis.factor - extent % axis.factor) % axis.factor;
        more * LITTLE <= extent
            && self.takes_parts(axis)
            && !dag.all_reachable_but(&reductions, is_panel).iter().any(in_place)
    }

    /// The reductions that results are made of, but those inside of others.
    pub(super) fn reductions_of_results(&self) -> Vec<NodeId> {
        let dag = &self.expression.dag;
        let roots: Vec<NodeId> = self.expression.outputs.iter().map(|o| o.root).collect();
        let mut reductions = dag.reachable(&roots);
        reductions.retain(|&n| matches!(dag[n].node, Node::Reduce { .. }));
        reductions
    }

    /// Do iterations that run in step inside of this loop store their results one after the other, so that the last block may have
    /// fewer of them?
    fn stores_each(&self, axis: &Axis) -> bool {
        let is_jammed = |a: &&Axis| a.kind == AxisKind::Jammed;
        let mut jammed = self.resolved.points.iter().filter(is_jammed);
        let is_own = |a: &Axis| a.of == axis.of && a.extent == axis.factor;
        let alone = jammed.next().is_some_and(is_own) && jammed.next().is_none();
        alone && self.takes_parts(axis) && self.has_all_sums()
    }

    /// Are all reductions in memory from which results are made here? Nothing is joined in step then.
    pub(super) fn has_all_sums(&self) -> bool {
        let reductions = self.reductions_of_results();
        let in_memory = |n: &NodeId| self.sums.contains_key(n);
        self.adding.is_none() && !reductions.is_empty() && reductions.iter().all(in_memory)
    }

    /// Is a loop cut that no agents of a GPU share?
    pub(super) fn is_cut_by_cpu(&self, of: LoopId) -> bool {
        let of_gpu = |a: &Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
        self.resolved.cut.contains(&of) && !self.resolved.points.iter().any(of_gpu)
    }

    /// Are the loops with larger steps open, and are those with smaller ones, which stand further inside, all that an
    /// iteration has?
    fn takes_parts(&self, axis: &Axis) -> bool {
        let mut further_inside = false;
        let mut inner = 1;
        for other in self.resolved.points.iter().filter(|a| a.of == axis.of) {
            match other.factor.cmp(&axis.factor) {
                Ordering::Less if further_inside => inner *= other.extent,
                Ordering::Greater if !further_inside => {}
                Ordering::Equal => further_inside = true,
                _ => return false,
            }
        }
        inner == axis.factor
    }

    /// Does a loop further inside end where the whole loop ends, so that all blocks of this one run the same statements? What
    /// is inside of a block is there once then.
    fn has_parts_inside(&self, axis: &Axis) -> bool {
        let inside = self.resolved.points.iter().skip_while(|a| a.name != axis.name);
        let mut inside = inside.skip(1).filter(|a| a.of == axis.of);
        let is_next = |a: &Axis| {
            let is_serial = a.kind == AxisKind::Serial && a.factor > 1;
            is_serial
                && a.factor * a.extent == axis.factor
                && (self.takes_parts(a) || self.has_parts_inside(a))
        };
        !self.is_cut && inside.next().is_some_and(is_next)
    }

    /// The parts of a loop, in order.
    pub(super) fn parts(&self, axis: &Axis) -> Vec<Part> {
        if let Some(&count) = self.short.get(&axis.of).filter(|_| axis.factor == 1) {
            return vec![Part::Some { count: count.into(), whole: true }];
        }
        let count = self.iterations(axis);
        match axis.kind {
            AxisKind::Unrolled if count <= WRITTEN => (0..count).map(Part::One).collect(),
            AxisKind::Serial | AxisKind::Unrolled => {
                let left = self.left(axis);
                let number = axis.extent - 1;
                let mut parts =
                    self.peeled(axis, if left.is_some() { number } else { count }, left.is_some());
                parts.extend(left.map(|left| Part::Rest { number, left }));
                parts
            }
            _ => vec![Part::Loop { first: 0, count, whole: false }],
        }
    }

    /// So many iterations of a loop: those in which all guards hold by themselves, where a schedule says so.
    fn peeled(&self, axis: &Axis, count: i64, whole: bool) -> Vec<Part> {
        let part =
            |first: i64, end: i64| (first < end).then_some(Part::Loop { first, count: end - first, whole });
        let inside =
            self.resolved.values.peeled.contains(&axis.name).then(|| self.where_guards_hold(axis)).flatten();
        let Some([first, end]) = inside.map(|inside| inside.map(|at| at.clamp(0, count))) else {
            return part(0, count).into_iter().collect();
        };
        if first >= end {
            return part(0, count).into_iter().collect();
        }
        [part(0, first), part(first, end), part(end, count)].into_iter().flatten().collect()
    }

    /// The first iteration of a loop in which all guards hold that depend on it, and the one behind the last of them.
    fn where_guards_hold(&self, axis: &Axis) -> Option<[i64; 2]> {
        let dag = &self.expression.dag;
        let mut inside = [0, i64::MAX];
        // A part of a loop inside of another one begins anew.
        if axis.factor.checked_mul(axis.extent)? < dag.extent(axis.of) {
            return None;
        }
        for guard in self.expression.nodes().into_iter().flat_map(|n| dag[n].node.guards()) {
            if guard.expr.coeff(axis.of) != 0 {
                let Range { start, end } = always(guard, axis.of, dag)?;
                let first = start.checked_add(axis.factor - 1)?.div_euclid(axis.factor);
                inside = [inside[0].max(first), inside[1].min(end.div_euclid(axis.factor))];
            }
        }
        Some(inside)
    }

    /// How often a loop runs here.
    pub(super) fn iterations(&self, axis: &Axis) -> i64 {
        // What is left is that of the innermost loop; one outside of the last part runs as ever.
        match self.rest.get(&axis.of).filter(|_| axis.factor == 1) {
            Some(&left) if axis.kind != AxisKind::Lanes => left,
            _ => axis.extent,
        }
    }

    /// The parts of a loop over blocks of terms: where nothing but loops is inside, the last block is an iteration like the others,
    /// so that no code is there twice.
    pub(super) fn parts_of_terms(&self, axis: &Axis) -> Vec<Part> {
        let is_serial = |a: &Axis| a.of != axis.of || a.factor >= axis.factor || a.kind == AxisKind::Serial;
        let all = self.resolved.reductions.values().flatten().chain([axis]);
        let is_uneven = self.left(axis).is_some()
            && all.into_iter().all(|a| is_serial(a) && !self.resolved.values.peeled.contains(&a.name))
            && self.takes_rest(axis.of, axis.factor)
            && self.fills_short_panels(axis);
        if is_uneven {
            vec![Part::Uneven { range: (0.into(), axis.extent.into()) }]
        } else {
            self.parts(axis)
        }
    }

    /// The iterations that the last part of a cut loop has, where this is the loop over all of its parts. Agents of a GPU
    /// run the same statements: there all parts have guards.
    fn left(&self, axis: &Axis) -> Option<i64> {
        if axis.factor == 1 || !self.is_cut_by_cpu(axis.of) {
            return None;
        }
        let left = self.expression.dag.extent(axis.of) - axis.factor * (axis.extent - 1);
        (1..axis.factor).contains(&left).then_some(left)
    }

    /// Does a loop inside of the outer one of the only split have what is left of it, and no lanes or agents?
    fn takes_rest(&self, of: LoopId, by: i64) -> bool {
        let of_nest = |axes: &[Axis]| {
            let outer = axes.iter().position(|a| a.of == of && a.factor == by);
            axes.iter().enumerate().filter(|(_, a)| a.of == of && a.factor < by).all(|(i, a)| {
                let serial = !matches!(a.kind, AxisKind::Lanes | AxisKind::Parallel(_));
                a.extent == by && serial && outer.is_some_and(|outer| outer < i)
            })
        };
        of_nest(&self.resolved.points) && self.resolved.reductions.values().all(|axes| of_nest(axes))
    }

    /// Opens a part of a loop that carries these values.
    pub(super) fn open_part(&mut self, axis: &Axis, part: &Part, inits: &[Value]) -> Lowered<Opened> {
        let all_whole = |lowering: &mut Self| {
            lowering.whole = lowering.whole.union(std::iter::once(axis.of).collect());
        };
        match part {
            &Part::Loop { first, count, whole } => {
                let opened = self.open(axis, (first.into(), (first + count).into()), inits)?;
                if whole {
                    all_whole(self);
                }
                Ok(opened.map_or(Opened::Nothing, Opened::Loop))
            }
            Part::Some { count, whole } => {
                let opened = self.open(axis, (0.into(), count.clone()), inits)?;
                if *whole {
                    all_whole(self);
                }
                Ok(opened.map_or(Opened::Nothing, Opened::Loop))
            }
            Part::Uneven { range } => {
                let opened = self.open(axis, range.clone(), inits)?;
                let overflow = || CodegenError::overflow("a block of terms");
                let begin = self.places.get(&axis.of).ok_or_else(overflow)?;
                let here = Affine::from(self.expression.dag.extent(axis.of)).plus(begin, -1);
                let count = self.lesser(&here.ok_or_else(overflow)?, &axis.factor.into());
                self.short.insert(axis.of, count);
                all_whole(self);
                Ok(opened.map_or(Opened::Nothing, Opened::Loop))
            }
            Part::Piece { blocks, whole } => {
                self.begin_piece(axis, blocks.clone());
                let opened = self.open(axis, (blocks.start.into(), blocks.end.into()), inits)?;
                if *whole {
                    all_whole(self);
                }
                Ok(opened.map_or(Opened::Nothing, Opened::Loop))
            }
            Part::Between { range, whole, tail, .. } => {
                let opened = self.open(axis, range.clone(), inits)?;
                if *whole {
                    all_whole(self);
                }
                self.tails.extend(tail.map(|at| (axis.of, at)));
                Ok(opened.map_or(Opened::Nothing, Opened::Loop))
            }
            &Part::One(number) => {
                self.bind(axis, number.into())?;
                Ok(Opened::Nothing)
            }
            &Part::Rest { number, left } => {
                self.begin_piece(axis, number..number + 1);
                self.bind(axis, number.into())?;
                self.begin_rest(axis, left);
                Ok(Opened::Nothing)
            }
            Part::RestIf { condition, number, left } => {
                self.b.open_if(*condition);
                self.bind(axis, number.clone())?;
                self.begin_rest(axis, *left);
                Ok(Opened::Condition)
            }
        }
    }

    /// Inside of the last part of a loop, which has so many iterations.
    fn begin_rest(&mut self, axis: &Axis, left: i64) {
        if self.takes_rest(axis.of, axis.factor) {
            self.rest.insert(axis.of, left);
            self.whole = self.whole.union(std::iter::once(axis.of).collect());
        } else if self.takes_rest_in_lanes(axis.of, axis.factor) {
            self.rest.insert(axis.of, left);
        }
    }

    /// Are all iterations inside of the outer loop of a split lanes?
    fn takes_rest_in_lanes(&self, of: LoopId, by: i64) -> bool {
        let inside: Vec<&Axis> =
            self.resolved.points.iter().filter(|a| a.of == of && a.factor < by).collect();
        let of_terms = self.resolved.reductions.values().flatten().any(|a| a.of == of);
        matches!(inside[..], [axis] if axis.kind == AxisKind::Lanes && axis.extent == by) && !of_terms
    }

    /// How many lanes a loop has here. Vectors of the last part of a cut loop are as short as what is left of it allows; those
    /// of fewer than eight lanes are no faster.
    pub(super) fn lane_count(&self, axis: &Axis) -> usize {
        let all = axis.extent as usize;
        self.rest.get(&axis.of).map_or(all, |&left| (left as usize).next_power_of_two().max(8).min(all))
    }

    /// Closes a part of a loop over points.
    pub(super) fn close_part(&mut self, opened: Opened) {
        match opened {
            Opened::Nothing => {}
            Opened::Loop(_) => _ = self.close(&[]),
            Opened::Condition => _ = self.b.close_if(&[]),
        }
    }
}

/// An affine expression divided by a number that divides all of it.
fn divided(affine: &Affine, by: i64) -> Option<Affine> {
    let divides =
        affine.lane == 0 && affine.offset % by == 0 && affine.terms.iter().all(|t| t.factor % by == 0);
    let term = |t: &Term| Term { values: t.values.clone(), factor: t.factor / by };
    divides.then(|| Affine {
        terms: affine.terms.iter().map(term).collect(),
        offset: affine.offset / by,
        ..Affine::default()
    })
}
