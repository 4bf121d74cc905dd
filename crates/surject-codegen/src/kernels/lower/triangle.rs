//! Loops that end at tails ([`crate::kernels::schedule`]).

use super::jam::Own;
use super::parts::Part;
use super::reduce::Reduction;
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::NodeId;
use crate::expression::stored_tail::Side;
use crate::expression::tail::{Digit, Edge, Tail};
use crate::kernels::schedule::{Accumulation, Axis, TailTerms, Triangle, is_zero};
use surject_ir::{BinaryOp, Scalar};
use surject_kernel::{Affine, Type, Value};

/// The iterations of a loop that lie in no tail.
pub(super) struct Between {
    first: Affine,
    end: Affine,
    /// How many there are with those of tails.
    all: i64,
    /// A position in the tail at each side, if there is one.
    tails: Vec<(Side, Value)>,
}

impl Between {
    fn range(&self) -> (Affine, Affine) {
        (self.first.clone(), self.end.clone())
    }
}

fn overflow() -> CodegenError {
    CodegenError::overflow("the edge of a tail")
}

impl<'a> Lowering<'a> {
    /// The loops whose iterations here lie in a tail of results.
    pub(super) fn in_tail(&self) -> LoopSet {
        self.tails.iter().map(|t| t.0).collect()
    }

    /// What is stored here: in a tail the same everywhere.
    pub(super) fn result(&mut self, root: NodeId) -> Lowered<Value> {
        match self.tails.last() {
            Some(&(l, at)) => self.value_at(root, l, at),
            None => self.value(root),
        }
    }

    /// What is left out of a loop over points, or of a reduction.
    fn triangle(&self, reduction: Option<NodeId>, axis: &Axis) -> Option<&'a Triangle> {
        let resolved = self.resolved;
        resolved.values.triangles.iter().find(|t| t.name == axis.name && t.reduction == reduction)
    }

    /// The parts of a loop over points, if it is triangular: what lies in a tail is a part by itself.
    pub(super) fn triangular_points(&mut self, axis: &Axis) -> Lowered<Option<Vec<Part>>> {
        let Some(triangle) = self.triangle(None, axis) else { return Ok(None) };
        let mut parts = Vec::new();
        for part in self.parts(axis) {
            let Part::Loop { first: 0, count, whole } = part else {
                parts.push(part);
                continue;
            };
            let Between { first, end, all, tails } = self.between(axis, triangle, &mut [], count)?;
            let tail = |side| tails.iter().find(|t| t.0 == side).map(|t| t.1);
            let part = |first: &Affine, end: &Affine, tail| {
                let range = (first.clone(), end.clone());
                Part::Between { range, whole, tail, between: None }
            };
            parts.extend(tail(Side::Before).map(|at| part(&0.into(), &first, Some(at))));
            parts.push(part(&first, &end, None));
            parts.extend(tail(Side::After).map(|at| part(&end, &all.into(), Some(at))));
        }
        Ok(Some(parts))
    }

    /// The parts of a loop of a reduction, which may be triangular. `each`: the iterations that run in step.
    pub(super) fn parts_of_reduction(
        &mut self,
        axis: &Axis,
        reduction: &Reduction,
        each: &mut [Own],
    ) -> Lowered<Vec<Part>> {
        let parts = self.parts(axis);
        self.outside_of_tails(axis, reduction.id, parts, each)
    }

    /// The parts of a loop over blocks of terms, which may be triangular.
    pub(super) fn parts_of_blocks(&mut self, axis: &Axis, accumulation: &Accumulation) -> Lowered<Vec<Part>> {
        let parts = self.parts_of_terms(axis);
        let [sums] = &accumulation.sums[..] else { return Ok(parts) };
        self.outside_of_tails(axis, sums.reduction, parts, &mut [])
    }

    /// Parts of a loop of a reduction without what lies in tails.
    fn outside_of_tails(
        &mut self,
        axis: &Axis,
        reduction: NodeId,
        mut parts: Vec<Part>,
        each: &mut [Own],
    ) -> Lowered<Vec<Part>> {
        let Some(triangle) = self.triangle(Some(reduction), axis) else { return Ok(parts) };
        for part in &mut parts {
            match part {
                Part::Uneven { range } => *range = self.between(axis, triangle, each, axis.extent)?.range(),
                &mut Part::Loop { first: 0, count, whole } => {
                    let between = self.between(axis, triangle, each, count)?;
                    let range = between.range();
                    *part = Part::Between { range, whole, tail: None, between: Some(between) };
                }
                _ => {}
            }
        }
        Ok(parts)
    }

    /// The iterations of a loop, of so many that are whole, outside of tails. A maximum joins one of each tail too.
    fn between(
        &mut self,
        axis: &Axis,
        triangle: &'a Triangle,
        each: &mut [Own],
        count: i64,
    ) -> Lowered<Between> {
        let (mut first, mut end) = (Affine::from(0), Affine::from(count));
        let (zero, all) = (self.integer(0), self.integer(count));
        let extent = self.expression.dag.extent(axis.of);
        let mut tails = Vec::new();
        for tail in &triangle.tails {
            let edge = self.edge(&tail.edge, tail.side, &triangle.reach)?;
            let at = self.inside_tail(axis, triangle, tail.side, edge);
            let is_left_out = self.is_left_out(axis, triangle, (tail, at), each)?;
            tails.push((tail.side, at));
            // One position of the tail is inside.
            let one = matches!(triangle.terms, TailTerms::OfOne);
            let (none, bound) = match tail.side {
                Side::After => {
                    let more = self.integer(axis.factor - i64::from(!one));
                    let edge = self.b.binary(BinaryOp::Add, edge, more);
                    (all, self.in_blocks(edge, axis.factor))
                }
                Side::Before => {
                    let (less, extent) = (self.integer(i64::from(one)), self.integer(extent));
                    // All positions may lie in the tail.
                    let edge = self.b.binary(BinaryOp::Min, edge, extent);
                    let edge = self.b.binary(BinaryOp::Sub, edge, less);
                    let edge = self.b.binary(BinaryOp::Max, edge, zero);
                    (zero, self.in_blocks(edge, axis.factor))
                }
            };
            let mut bound = self.b.binary(BinaryOp::Min, bound, all);
            if let Some(is_left_out) = is_left_out {
                bound = self.b.select(is_left_out, bound, none);
            }
            match tail.side {
                Side::After => end = bound.into(),
                Side::Before => first = bound.into(),
            }
        }
        Ok(Between { first, end, all: count, tails })
    }

    /// A position in a tail with this edge, if it has one, and of these the last that is stored where results have the memory of an
    /// operand.
    fn inside_tail(&mut self, axis: &Axis, triangle: &Triangle, side: Side, edge: Value) -> Value {
        let last = self.integer(self.expression.dag.extent(axis.of) - 1);
        match side {
            Side::After => last,
            // The tail before is stored before the rest of results, but terms of it are kept after the rest.
            Side::Before if triangle.reduction.is_some() => self.integer(0),
            Side::Before => {
                let (zero, one) = (self.integer(0), self.integer(1));
                let before = self.b.binary(BinaryOp::Sub, edge, one);
                let before = self.b.binary(BinaryOp::Max, before, zero);
                self.b.binary(BinaryOp::Min, before, last)
            }
        }
    }

    /// So many positions in blocks, rounded down.
    fn in_blocks(&mut self, positions: Value, by: i64) -> Value {
        if by == 1 {
            return positions;
        }
        let by = self.integer(by);
        self.b.binary(BinaryOp::Div, positions, by)
    }

    /// Where the tail that all open iterations of other loops share meets the rest of its loop; not below zero.
    fn edge(&mut self, edge: &Edge, side: Side, reach: &[(LoopId, i64)]) -> Lowered<Value> {
        let mut sum = Affine::from(edge.offset);
        for digit in &edge.digits {
            let reach = reach.iter().find(|r| r.0 == digit.l).map_or(0, |r| r.1);
            // The tail of all is that of the iteration where it is the shortest.
            let is_last = (digit.coeff > 0) == (side == Side::After);
            let at = self.digit(digit, if is_last { reach } else { 0 })?;
            sum = sum.plus(&at, digit.coeff).ok_or_else(overflow)?;
        }
        let (sum, zero) = (self.number(&sum), self.integer(0));
        let sum = self.b.binary(BinaryOp::Max, sum, zero);
        if edge.divisor == 1 {
            return Ok(sum);
        }
        let more = self.integer(edge.divisor - 1);
        let sum = self.b.binary(BinaryOp::Add, sum, more);
        Ok(self.in_blocks(sum, edge.divisor))
    }

    /// A digit of the position along a loop, so far on from where it is known.
    fn digit(&mut self, digit: &Digit, reach: i64) -> Lowered<Affine> {
        let extent = self.expression.dag.extent(digit.l);
        let at = self.places.get(&digit.l).cloned().unwrap_or_default();
        let mut at = at.plus(&reach.into(), 1).ok_or_else(overflow)?;
        if reach > 0 && at.as_constant().is_none_or(|at| at >= extent) {
            // The last block may not be whole.
            let (last, here) = (self.integer(extent - 1), self.number(&at));
            at = self.b.binary(BinaryOp::Min, here, last).into();
        }
        if digit.modulus == extent {
            return Ok(at);
        }
        let (here, modulus) = (self.number(&at), self.integer(digit.modulus));
        Ok(self.b.binary(BinaryOp::Rem, here, modulus).into())
    }

    /// May the terms of a tail be left out, as far as only the values say? `None`: yes, whatever they are.
    fn is_left_out(
        &mut self,
        axis: &Axis,
        triangle: &'a Triangle,
        (tail, at): (&Tail, Value),
        each: &mut [Own],
    ) -> Lowered<Option<Value>> {
        let TailTerms::Zero { value, finite } = &triangle.terms else { return Ok(None) };
        let mut conditions = Vec::new();
        if !is_zero(tail.value) {
            if each.is_empty() {
                conditions.push(self.is_zero_at(*value, axis.of, at)?);
            }
            for own in each.iter_mut() {
                conditions.push(self.within(own, |l| l.is_zero_at(*value, axis.of, at))?);
            }
        }
        if let Some(mark) = finite {
            let place = self.place(mark.memory, &mark.address, &[], LoopSet::default())?;
            let ty = Type::scalar(self.b.memory_type(place.mem));
            let mark = self.b.load(place, ty);
            conditions.push(self.equals_zero(mark));
        }
        Ok(conditions.into_iter().reduce(|x, y| self.b.binary(BinaryOp::And, x, y)))
    }

    /// Is a value zero at a position along a loop?
    fn is_zero_at(&mut self, value: NodeId, l: LoopId, at: Value) -> Lowered<Value> {
        let value = self.value_at(value, l, at)?;
        Ok(self.equals_zero(value))
    }

    /// A value at a position along a loop.
    pub(super) fn value_at(&mut self, value: NodeId, l: LoopId, at: Value) -> Lowered<Value> {
        let outside = self.outside();
        self.lanes = self.lanes.filter(|lanes| lanes.0 != l);
        self.set(l, at.into());
        self.whole = self.whole.union(std::iter::once(l).collect());
        let value = self.value(value);
        self.return_to(&outside);
        value
    }

    fn equals_zero(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value);
        let zero = self.b.splat(Scalar::zero(ty.dtype), ty.lanes);
        self.b.binary(BinaryOp::Eq, value, zero)
    }

    /// Stores the terms of a reduction that are kept where its triangular loop, the first of these, left them out.
    pub(super) fn keep_tails(
        &mut self,
        axes: &[Axis],
        reduction: &Reduction,
        between: &Between,
    ) -> Lowered<()> {
        let Some((axis, inside)) = axes.split_first() else { return Ok(()) };
        let is_kept = self.resolved.values.kept.as_ref().is_some_and(|kept| kept.body == reduction.body);
        for &(side, at) in between.tails.iter().filter(|_| is_kept) {
            let range = match side {
                Side::After => (between.end.clone(), between.all.into()),
                Side::Before => (0.into(), between.first.clone()),
            };
            let outside = self.outside();
            // All terms of the tail are the same.
            let term = self.value_at(reduction.body, axis.of, at)?;
            self.places.remove(&axis.of);
            let mut loops = 0;
            for (axis, range) in
                std::iter::once((axis, range)).chain(inside.iter().map(|a| (a, (0.into(), a.extent.into()))))
            {
                loops += usize::from(self.open(axis, range, &[])?.is_some());
            }
            self.whole = self.whole.union(reduction.loops);
            self.store_kept(reduction.body, reduction.loops, term)?;
            (0..loops).for_each(|_| _ = self.close(&[]));
            self.return_to(&outside);
        }
        Ok(())
    }
}
