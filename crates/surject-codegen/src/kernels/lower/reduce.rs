//! Reductions: loops that carry what is joined so far.

use super::keys::Keys;
use super::parts::{Opened, Part};
use super::{Lowered, Lowering, joined_in};
use crate::expression::address::LoopSet;
use crate::expression::compose::joining;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Axis, AxisKind};
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Builder, Level, Op, Value};

/// Terms that are written out from which on they are summed in two parts.
const APART: usize = 8;

/// A reduction that is computed.
pub(super) struct Reduction {
    pub(super) id: NodeId,
    pub(super) op: AccOp,
    /// The type in which terms are joined.
    pub(super) joined: DType,
    pub(super) body: NodeId,
    /// Its loops, those over blocks included.
    pub(super) loops: LoopSet,
    /// The lanes in which terms are joined.
    pub(super) lanes: usize,
    /// Are products added without being rounded?
    pub(super) fused: bool,
    /// The integers as which floats are compared.
    pub(super) keys: Option<Keys>,
}

impl Reduction {
    /// What is joined before the first term.
    pub(super) fn neutral(&self) -> Scalar {
        self.keys.map_or_else(|| self.op.neutral(self.joined), Keys::neutral)
    }
}

/// Are these sums of floats?
pub(super) fn sums_floats(reductions: &[Reduction]) -> bool {
    reductions.iter().all(|r| r.op == AccOp::Add && r.joined.is_float())
}

/// What some reductions join, so far. Of long sums whose terms are written out every second term is summed apart: terms wait half
/// as long for each other, and the error is smaller.
pub(super) struct PartialSums {
    /// The sums of the terms with even numbers, and of those with odd ones; nothing where they have not begun.
    sums: [Vec<Value>; 2],
    count: usize,
}

impl PartialSums {
    /// `whole` is what is joined before the first of these parts of a loop, which may be sums that are made apart.
    pub(super) fn of(whole: Vec<Value>, parts: &[Part], may_be_apart: bool) -> PartialSums {
        let apart = may_be_apart && parts.len() >= APART && parts.iter().all(|p| matches!(p, Part::One(_)));
        PartialSums { sums: [whole, Vec::new()], count: 1 + usize::from(apart) }
    }

    /// What the part with this number joins its terms to.
    pub(super) fn take(&mut self, b: &mut Builder, number: usize) -> Vec<Value> {
        let at = number % self.count;
        if at > 0 && self.sums[at].is_empty() {
            let zero = |&sum: &Value| {
                let ty = b.ty(sum);
                b.splat(AccOp::Add.neutral(ty.dtype), ty.lanes)
            };
            self.sums[at] = self.sums[0].iter().map(zero).collect();
        }
        std::mem::take(&mut self.sums[at])
    }

    /// What it has joined.
    pub(super) fn put(&mut self, number: usize, sums: Vec<Value>) {
        self.sums[number % self.count] = sums;
    }

    pub(super) fn whole(self, b: &mut Builder) -> Vec<Value> {
        let [even, odd] = self.sums;
        match odd.is_empty() {
            true => even,
            false => even.into_iter().zip(odd).map(|(x, y)| b.binary(BinaryOp::Add, x, y)).collect(),
        }
    }
}

impl Lowering<'_> {
    /// A reduction: loops that carry what is joined so far.
    pub(super) fn reduce(&mut self, id: NodeId, op: AccOp, body: NodeId, lanes: usize) -> Lowered<Value> {
        let resolved = self.resolved;
        let axes = resolved.reductions.get(&id).map_or(&[][..], Vec::as_slice);
        let reduction = self.reduction(id, (op, body), axes, lanes);
        let next = self.all_terms(axes, std::slice::from_ref(&reduction))?;
        self.whole_reduction(id, &reduction, axes, lanes, next[0])
    }

    /// Runs loops over the terms of reductions: what each has in the end.
    pub(super) fn all_terms(&mut self, axes: &[Axis], reductions: &[Reduction]) -> Lowered<Vec<Value>> {
        let bodies: Vec<NodeId> = reductions.iter().map(|r| r.body).collect();
        self.reductions_known(&bodies, axes)?;
        let outside = self.outside();
        // A loop that is open further out runs anew.
        axes.iter().for_each(|a| _ = self.places.remove(&a.of));
        let sums = reductions.iter().map(|r| self.b.splat(r.neutral(), r.lanes)).collect();
        let next = self.terms(axes, 0, reductions, sums)?;
        self.return_to(&outside);
        Ok(next)
    }

    /// What is known of a reduction over these loops, whose value has so many lanes.
    pub(super) fn reduction(
        &self,
        id: NodeId,
        (op, body): (AccOp, NodeId),
        axes: &[Axis],
        lanes: usize,
    ) -> Reduction {
        let joined = joined_in(self.expression.dag[id].dtype, op);
        let inside = axes.iter().find(|a| a.kind == AxisKind::Lanes).map_or(lanes, |a| a.extent as usize);
        let values = &self.resolved.values;
        let keys = values.keys.contains(&id).then(|| Keys::of(op, joined)).flatten();
        let (loops, fused) = (axes.iter().map(|a| a.of).collect(), values.fused.contains(&id));
        Reduction { id, op, joined, body, loops, lanes: inside, fused, keys }
    }

    /// The value of a reduction, from what its loops have in the end.
    pub(super) fn whole_reduction(
        &mut self,
        id: NodeId,
        reduction: &Reduction,
        axes: &[Axis],
        lanes: usize,
        next: Value,
    ) -> Lowered<Value> {
        let (op, join) = (reduction.op, joining(reduction.op)?);
        let mut whole = if reduction.lanes == lanes { next } else { self.b.reduce_lanes(op, next) };
        if let Some(threads) = axes.iter().find(|a| a.kind == AxisKind::Parallel(Level::Thread)) {
            whole = self.join_threads(id, join, whole, threads.extent)?;
        }
        if axes.iter().any(|a| a.kind == AxisKind::Parallel(Level::Warp)) {
            whole = self.join_warps(id, join, whole)?;
        }
        if let Some(keys) = reduction.keys {
            whole = keys.value(&mut self.b, whole);
        }
        Ok(self.b.convert(whole, self.expression.dag[id].dtype))
    }

    /// The loops of reductions from one on, and the terms in them: what is joined in the end, given what is so far.
    pub(super) fn terms(
        &mut self,
        axes: &[Axis],
        i: usize,
        reductions: &[Reduction],
        sums: Vec<Value>,
    ) -> Lowered<Vec<Value>> {
        let bodies: Vec<NodeId> = reductions.iter().map(|r| r.body).collect();
        self.reductions_known(&bodies, &axes[i..])?;
        let Some(axis) = axes.get(i) else {
            let terms = reductions.iter().zip(sums);
            return terms.map(|(reduction, sum)| self.join_term(reduction, sum)).collect();
        };
        let outside = self.outside();
        let parts = match reductions {
            [reduction] => self.parts_of_reduction(axis, reduction, &mut [])?,
            _ => self.parts(axis),
        };
        let mut sums = PartialSums::of(sums, &parts, axes.len() - i == 1 && sums_floats(reductions));
        for (number, part) in parts.iter().enumerate() {
            let so_far = sums.take(&mut self.b, number);
            let next =
                self.in_partial_sums((axis, reductions), part, so_far, &mut |lowering, part, so_far| {
                    let opened = lowering.open_part(axis, part, &so_far)?;
                    lowering.prefetch_chosen(axis)?;
                    let next = match opened {
                        Opened::Loop(carried) => {
                            let next = lowering.terms_inside(axes, i + 1, reductions, carried)?;
                            lowering.close(&next)
                        }
                        _ => lowering.terms_inside(axes, i + 1, reductions, so_far)?,
                    };
                    lowering.return_to(&outside);
                    Ok(next)
                })?;
            sums.put(number, next);
            if let (Part::Between { between: Some(between), .. }, [reduction]) = (part, reductions) {
                self.keep_tails(&axes[i..], reduction, between)?;
            }
        }
        Ok(sums.whole(&mut self.b))
    }

    /// The same of loops inside of others: they begin anew where a schedule says so.
    fn terms_inside(
        &mut self,
        axes: &[Axis],
        i: usize,
        reductions: &[Reduction],
        sums: Vec<Value>,
    ) -> Lowered<Vec<Value>> {
        self.begun_anew((axes.get(i), reductions), sums, |lowering, sums| {
            lowering.terms(axes, i, reductions, sums)
        })
    }

    /// Joins the term of a reduction to what is so far.
    pub(super) fn join_term(&mut self, reduction: &Reduction, sum: Value) -> Lowered<Value> {
        let &Reduction { op, joined, body, loops, lanes, fused, keys, .. } = reduction;
        let guards = self.cut(loops)?;
        // What is kept is the product, rounded.
        let is_kept = self.resolved.values.kept.as_ref().is_some_and(|kept| kept.body == body);
        if let (true, true, Node::Binary(_, x, y)) =
            (fused && !is_kept, guards.is_empty(), &self.expression.dag[body].node)
        {
            let (x, y) = (self.operand(*x, lanes)?, self.operand(*y, lanes)?);
            let ty = self.b.ty(sum);
            return Ok(self.b.pure(Op::Fma(x, y, sum), ty));
        }
        let term = self.value(body)?;
        self.store_kept(body, loops, term)?;
        let mut term = self.b.convert(term, joined);
        if let Some(keys) = keys {
            term = keys.key(&mut self.b, term);
        }
        let mut term = self.b.broadcast(term, lanes);
        if !guards.is_empty() {
            let exists = self.b.holds(guards, lanes);
            let none = self.b.splat(reduction.neutral(), lanes);
            term = self.b.select(exists, term, none);
        }
        Ok(self.b.binary(joining(op)?, sum, term))
    }

    /// Stores the term of a reduction over these loops, if it is kept.
    pub(super) fn store_kept(&mut self, body: NodeId, loops: LoopSet, term: Value) -> Lowered<()> {
        let resolved = self.resolved;
        let Some(kept) = resolved.values.kept.as_ref().filter(|kept| kept.body == body) else {
            return Ok(());
        };
        let deps = self.expression.dag[body].deps.union(loops);
        let place = self.place(kept.to, &kept.address, &[], deps)?;
        let term = self.b.broadcast(term, self.lanes_of(loops));
        self.b.store(place, term);
        Ok(())
    }
}
