//! Loops in pieces: where conditions on them change, kernels that move elements are cut, and need no guards inside.
//!
//! A loop over vectors runs from the place of one change to that of the next; the vectors in which one lies are pieces by
//! themselves. A loop further out chooses for every iteration what it does inside.

use super::parts::Part;
use super::{Frame, Lowered, Lowering};
use crate::expression::address::{Guard, LoopId};
use crate::expression::dag::Node;
use crate::kernels::expression::Expression;
use crate::kernels::schedule::{Axis, AxisKind, Resolved};
use crate::schedule::cuts::always;
use std::collections::BTreeSet;
use std::ops::Range;
use surject_kernel::{Affine, Level};

/// The most places at which a loop is cut.
const MOST: usize = 8;

/// Where the loops of an expression over points may be cut: nothing is reduced, and no agents of a GPU share loops, which run
/// the same statements.
pub(super) fn is_cut(expression: &Expression, resolved: &Resolved) -> bool {
    let reduces = |n| matches!(expression.dag[n].node, Node::Reduce { .. });
    let of_gpu = |a: &Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
    !expression.nodes().into_iter().any(reduces) && !resolved.points.iter().any(of_gpu)
}

impl Lowering<'_> {
    /// Does a guard hold in all iterations of the loops that are open, or in none?
    pub(super) fn fact(&self, guard: &Guard) -> Option<bool> {
        self.fact_of_pieces(guard).or_else(|| {
            let guard =
                surject_kernel::Guard { expr: self.affine(&guard.expr).ok()?, bound: guard.bound.into() };
            self.b.is_known(&guard, self.lanes.map_or(1, |l| l.1))
        })
    }

    /// Does a guard hold in all iterations of the pieces that are open, or in none?
    fn fact_of_pieces(&self, guard: &Guard) -> Option<bool> {
        if !guard.expr.terms.iter().any(|t| self.pieces.contains_key(&t.0)) {
            return None;
        }
        let (mut low, mut high) = (guard.expr.offset, guard.expr.offset);
        for &(l, by) in &guard.expr.terms {
            let all = 0..self.expression.dag.extent(l);
            let Range { start, end } = self.pieces.get(&l).unwrap_or(&all);
            let ends = [by.checked_mul(*start)?, by.checked_mul(end.checked_sub(1)?)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        match () {
            () if low >= 0 && high < guard.bound => Some(true),
            () if high < 0 || low >= guard.bound => Some(false),
            () => None,
        }
    }

    /// Does one of these guards hold nowhere in the pieces that are open?
    pub(super) fn is_nowhere(&self, guards: &[Guard]) -> bool {
        guards.iter().any(|g| self.fact(g) == Some(false))
    }

    /// Where conditions on a loop alone change.
    fn changes(&self, l: LoopId) -> BTreeSet<i64> {
        let dag = &self.expression.dag;
        let mut found = BTreeSet::new();
        for n in self.expression.nodes() {
            let alone = |g: &&Guard| matches!(g.expr.terms[..], [(own, _)] if own == l);
            for guard in dag[n].node.guards().iter().filter(alone) {
                if let Some(Range { start, end }) = always(guard, l, dag) {
                    found.extend([start, end]);
                }
            }
        }
        found.retain(|&at| 0 < at && at < dag.extent(l));
        if self.is_cut && found.len() <= MOST { found } else { BTreeSet::new() }
    }

    /// Is this the loop over the largest blocks of another one, of which nothing is known yet?
    fn is_first(&self, axis: &Axis) -> bool {
        let new = self.places.get(&axis.of).is_none_or(|place| *place == Affine::default());
        let all = axis.factor * axis.extent >= self.expression.dag.extent(axis.of);
        new && all && !self.pieces.contains_key(&axis.of)
    }

    /// The parts of a loop over blocks, cut where conditions change.
    pub(super) fn in_pieces(&self, axis: &Axis, parts: Vec<Part>) -> Vec<Part> {
        let over_blocks = axis.kind == AxisKind::Serial && axis.factor > 1 && self.is_first(axis);
        let changes = if over_blocks { self.changes(axis.of) } else { BTreeSet::new() };
        if changes.is_empty() {
            return parts;
        }
        let by = axis.factor;
        let mut all = Vec::new();
        for part in parts {
            let Part::Loop { first: 0, count, whole } = part else {
                all.push(part);
                continue;
            };
            let ends = changes.iter().flat_map(|&at| [at / by, (at + by - 1) / by]);
            let ends: BTreeSet<i64> = ends.chain([count]).filter(|&end| 0 < end && end <= count).collect();
            let mut first = 0;
            for end in ends {
                all.push(Part::Piece { blocks: first..end, whole });
                first = end;
            }
        }
        all
    }

    /// Says that iterations of a loop are some of its blocks, if it is cut.
    pub(super) fn begin_piece(&mut self, axis: &Axis, blocks: Range<i64>) {
        if self.is_cut && self.is_first(axis) {
            let end = (blocks.end * axis.factor).min(self.expression.dag.extent(axis.of));
            self.pieces.insert(axis.of, blocks.start * axis.factor..end);
        }
    }

    /// The loops inside of one, whose iteration is known: what they do may differ from one piece of it to the next.
    pub(super) fn inside(&mut self, axes: &[Axis], i: usize, outer: usize) -> Lowered<()> {
        let axis = &axes[i];
        let known = axis.factor == 1 && matches!(axis.kind, AxisKind::Serial | AxisKind::Parallel(_));
        let known = known && axes[i + 1..].iter().all(|inner| inner.of != axis.of);
        let open = known && i + 1 < axes.len() && !self.pieces.contains_key(&axis.of);
        let changes = if open { self.changes(axis.of) } else { BTreeSet::new() };
        let (extent, outside) = (self.expression.dag.extent(axis.of), self.outside());
        let Some(place) = self.places.get(&axis.of).cloned().filter(|_| !changes.is_empty()) else {
            return self.nest(axes, i + 1, outer);
        };
        let mut first = 0;
        for &end in changes.iter().chain([&extent]) {
            if end < extent {
                let bound = Affine::from(end);
                let here = self.b.holds(vec![surject_kernel::Guard { expr: place.clone(), bound }], 1);
                self.b.open_if(here);
            }
            self.frames.push(Frame::default());
            self.pieces.insert(axis.of, first..end);
            self.nest(axes, i + 1, outer)?;
            self.return_to(&outside);
            if end < extent {
                self.b.open_else(&[]);
            }
            first = end;
        }
        changes.iter().for_each(|_| _ = self.b.close_if(&[]));
        Ok(())
    }
}
