//! Loops over points whose iterations run in step: each has values of its own, and reductions run once for all of them.
//!
//! What iterations have in common, such as the elements of a row that several columns need, is one value: the builder of
//! kernels knows it.

use super::parts::{Opened, Part};
use super::reduce::{PartialSums, sums_floats};
use super::{Lowered, Lowering, Reduction};
use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Axis, AxisKind};
use std::collections::HashMap;
use surject_ir::AccOp;
use surject_kernel::{Affine, LoopKind, Place, Space, Value};

/// What one of the iterations knows that the others do not.
pub(super) struct Own {
    /// Which iteration of each loop it is.
    numbers: Vec<(LoopId, i64)>,
    frames: Vec<super::Frame>,
    places: HashMap<LoopId, Affine>,
}

impl Own {
    /// The iteration, as far as values that depend on these loops see it.
    fn seen_by(&self, deps: LoopSet) -> Vec<i64> {
        self.numbers.iter().filter(|n| deps.contains(n.0)).map(|n| n.1).collect()
    }

    /// The values that the innermost of its loops has.
    fn known(&self) -> Vec<NodeId> {
        self.frames.last().map(|f| f.values.keys().copied().collect()).unwrap_or_default()
    }

    fn value(&self, id: NodeId) -> Option<Value> {
        self.frames.last()?.values.get(&id).copied()
    }

    /// The same, to learn more.
    fn copy(&self) -> Own {
        let frames = self.frames.iter().map(|f| super::Frame { binds: f.binds, values: f.values.clone() });
        Own { numbers: self.numbers.clone(), frames: frames.collect(), places: self.places.clone() }
    }
}

impl Lowering<'_> {
    /// The loops that run in step, and the lanes inside of them.
    pub(super) fn jammed(&mut self, axes: &[Axis]) -> Lowered<()> {
        if self.has_all_sums() {
            return self.store_in_loop(axes, &[]);
        }
        let in_step = axes.iter().take_while(|a| a.kind == AxisKind::Jammed).count();
        let outside = self.outside();
        let mut all: Vec<Vec<i64>> = vec![Vec::new()];
        for axis in &axes[..in_step] {
            let numbers = 0..self.iterations(axis);
            let longer = |before: &Vec<i64>| {
                let before = before.clone();
                numbers.clone().map(move |n| before.iter().copied().chain([n]).collect())
            };
            all = all.iter().flat_map(longer).collect();
        }
        let mut own = Vec::new();
        for numbers in all {
            for (axis, &number) in axes.iter().zip(&numbers) {
                self.bind(axis, number.into())?;
            }
            for axis in &axes[in_step..] {
                self.open(axis, (0.into(), axis.extent.into()), &[])?;
            }
            let numbers = axes.iter().map(|a| a.of).zip(numbers).collect();
            let frames = self.frames.split_off(outside.depth());
            own.push(Own { numbers, frames, places: self.places.clone() });
            self.return_to(&outside);
        }
        let lanes = axes[in_step..].iter().find(|a| a.kind == AxisKind::Lanes);
        self.lanes = lanes.map(|a| (a.of, self.lane_count(a)));
        if let Some(accumulation) = self.adding {
            self.add_block_in_step(accumulation, &mut own)?;
        } else {
            let roots: Vec<NodeId> = self.expression.outputs.iter().map(|o| o.root).collect();
            self.reductions_in_step(&roots, LoopSet::default(), &mut own)?;
            if self.resolved.values.serial_epilogue {
                self.return_to(&outside);
                return self.store_in_loop(axes, &own);
            }
            for own in &mut own {
                self.within(own, |lowering| lowering.store())?;
            }
        }
        self.return_to(&outside);
        Ok(())
    }

    /// Stores the results of iterations that run in step in a loop over these, from sums in memory.
    fn store_in_loop(&mut self, axes: &[Axis], all: &[Own]) -> Lowered<()> {
        let overflow = || CodegenError::overflow("sums in memory");
        let at = |number: Affine, lanes: usize| -> Lowered<Affine> {
            let first = number.times(lanes as i64).ok_or_else(overflow)?;
            if lanes > 1 { first.plus(&Affine::lane(1), 1).ok_or_else(overflow) } else { Ok(first) }
        };
        let mut sums: Vec<NodeId> = all.first().map(Own::known).unwrap_or_default();
        sums.retain(|&n| matches!(self.expression.dag[n].node, Node::Reduce { .. }));
        sums.sort_unstable();
        let mut stored = Vec::new();
        for id in sums {
            let values: Vec<Value> = all.iter().filter_map(|own| own.value(id)).collect();
            let Some(ty) = values.first().map(|&value| self.b.ty(value)) else { continue };
            let mem = self.b.alloc("sums", ty.dtype, (values.len() * ty.lanes) as i64, Space::Stack);
            for (number, value) in values.into_iter().enumerate() {
                self.b.store(Place::new(mem, at((number as i64).into(), ty.lanes)?), value);
            }
            stored.push((id, mem, ty));
        }
        let outside = self.outside();
        let in_step = axes.iter().take_while(|a| a.kind == AxisKind::Jammed).count();
        let mut number = Affine::from(0);
        for axis in &axes[..in_step] {
            let count = self.iterations(axis);
            let end = self.short.get(&axis.of).map_or(count.into(), |&count| Affine::from(count));
            let (variable, _) = self.b.open_for(0, end, 1, LoopKind::Serial, &[]);
            self.opened.push(LoopKind::Serial);
            self.bind(axis, variable.into())?;
            let outer = number.times(count).ok_or_else(overflow)?;
            number = outer.plus(&variable.into(), 1).ok_or_else(overflow)?;
        }
        for axis in &axes[in_step..] {
            self.open(axis, (0.into(), axis.extent.into()), &[])?;
        }
        for (id, mem, ty) in stored {
            let sum = self.b.load(Place::new(mem, at(number.clone(), ty.lanes)?), ty);
            let missing = || CodegenError::malformed("an iteration without a loop");
            self.frames.last_mut().ok_or_else(missing)?.values.insert(id, sum);
        }
        self.store()?;
        (0..in_step).for_each(|_| _ = self.close(&[]));
        self.return_to(&outside);
        Ok(())
    }

    /// Does something as one of the iterations.
    pub(super) fn within<T>(&mut self, own: &mut Own, f: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let depth = self.frames.len();
        self.frames.append(&mut own.frames);
        std::mem::swap(&mut self.places, &mut own.places);
        let result = f(self);
        own.frames = self.frames.split_off(depth);
        std::mem::swap(&mut self.places, &mut own.places);
        result
    }

    /// Evaluates the reductions that values need and that depend on none of these loops, for all iterations.
    fn reductions_in_step(&mut self, roots: &[NodeId], later: LoopSet, all: &mut [Own]) -> Lowered<()> {
        let dag = &self.expression.dag;
        for n in dag.reachable(roots) {
            let Node::Reduce { op, body, .. } = dag[n].node else { continue };
            let Some(first) = all.first_mut().filter(|_| !self.sums.contains_key(&n)) else { continue };
            if dag[n].deps.meets(later.union(self.in_tail()))
                || self.within(first, |l| Ok(l.cached(n).is_some()))?
            {
                continue;
            }
            self.reduce_in_step(n, (op, body), all)?;
        }
        Ok(())
    }

    fn reduce_in_step(&mut self, id: NodeId, (op, body): (AccOp, NodeId), all: &mut [Own]) -> Lowered<()> {
        let (resolved, deps) = (self.resolved, self.expression.dag[id].deps);
        let axes = resolved.reductions.get(&id).map_or(&[][..], Vec::as_slice);
        let lanes = self.lanes_of(deps);
        let reduction = self.reduction(id, (op, body), axes, lanes);
        self.reductions_in_step(&[body], axes.iter().map(|a| a.of).collect(), all)?;
        // Iterations that the reduction does not tell apart have one value.
        let mut seen: Vec<Vec<i64>> = Vec::new();
        let mut first: Vec<usize> = Vec::new();
        let number: Vec<usize> = (0..all.len())
            .map(|i| {
                let own = all[i].seen_by(deps);
                seen.iter().position(|s| *s == own).unwrap_or_else(|| {
                    seen.push(own);
                    first.push(i);
                    first.len() - 1
                })
            })
            .collect();
        let mut each: Vec<Own> = first.iter().map(|&i| all[i].copy()).collect();
        for own in &mut each {
            // A loop that is open further out runs anew.
            axes.iter().for_each(|a| _ = own.places.remove(&a.of));
        }
        let sum = self.b.splat(reduction.neutral(), reduction.lanes);
        let outside = self.outside();
        let sums = self.terms_in_step(axes, 0, &reduction, vec![sum; each.len()], &mut each)?;
        self.return_to(&outside);
        let mut whole = Vec::new();
        for sum in sums {
            whole.push(self.whole_reduction(id, &reduction, axes, lanes, sum)?);
        }
        for (own, number) in all.iter_mut().zip(number) {
            let frame = own
                .frames
                .last_mut()
                .ok_or_else(|| CodegenError::malformed("an iteration without a loop"))?;
            frame.values.insert(id, whole[number]);
        }
        Ok(())
    }

    /// The loops of a reduction from one on, and the terms of all iterations in them.
    pub(super) fn terms_in_step(
        &mut self,
        axes: &[Axis],
        i: usize,
        reduction: &Reduction,
        sums: Vec<Value>,
        each: &mut [Own],
    ) -> Lowered<Vec<Value>> {
        let later = axes[i..].iter().map(|a| a.of).collect();
        self.reductions_in_step(&[reduction.body], later, each)?;
        let Some(axis) = axes.get(i) else {
            let mut joined = Vec::new();
            for (own, sum) in each.iter_mut().zip(sums) {
                joined.push(self.within(own, |l| l.join_term(reduction, sum))?);
            }
            return Ok(joined);
        };
        let outside = self.outside();
        let parts = self.parts_of_reduction(axis, reduction, each)?;
        let apart = axes.len() - i == 1 && sums_floats(std::slice::from_ref(reduction));
        let mut sums = PartialSums::of(sums, &parts, apart);
        for (number, part) in parts.iter().enumerate() {
            let so_far = sums.take(&mut self.b, number);
            let next = self.in_partial_sums(
                (axis, std::slice::from_ref(reduction)),
                part,
                so_far,
                &mut |lowering, part, so_far| {
                    let next = lowering.part_in_step((axes, i), part, reduction, so_far, each)?;
                    lowering.return_to(&outside);
                    Ok(next)
                },
            )?;
            sums.put(number, next);
        }
        Ok(sums.whole(&mut self.b))
    }

    /// A part of the loop of this number of a reduction, and the terms of all iterations in it.
    fn part_in_step(
        &mut self,
        (axes, i): (&[Axis], usize),
        part: &Part,
        reduction: &Reduction,
        so_far: Vec<Value>,
        each: &[Own],
    ) -> Lowered<Vec<Value>> {
        let axis = &axes[i];
        let mut inner: Vec<Own> = each.iter().map(Own::copy).collect();
        let depth = self.frames.len();
        self.places.remove(&axis.of);
        let opened = self.open_part(axis, part, &so_far)?;
        // Each iteration knows where the loop is by itself.
        let bound = self.frames.split_off(depth);
        let at = self.places.get(&axis.of).cloned().unwrap_or_default();
        for own in &mut inner {
            own.frames.extend(bound.iter().map(|f| super::Frame { binds: f.binds, values: HashMap::new() }));
            let known = own.places.entry(axis.of).or_default();
            *known = known.plus(&at, 1).ok_or_else(|| CodegenError::overflow("a loop"))?;
        }
        let mut terms_inside = |lowering: &mut Self, sums: Vec<Value>| {
            lowering.begun_anew((axes.get(i + 1), std::slice::from_ref(reduction)), sums, |lowering, sums| {
                lowering.terms_in_step(axes, i + 1, reduction, sums, &mut inner)
            })
        };
        match opened {
            Opened::Loop(carried) => {
                let next = terms_inside(self, carried)?;
                Ok(self.close(&next))
            }
            _ => terms_inside(self, so_far),
        }
    }
}
