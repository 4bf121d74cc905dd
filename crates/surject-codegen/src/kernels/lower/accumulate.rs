//! Reductions whose terms are taken in blocks: what is joined so far is in memory ([`crate::kernels::schedule`]).

use super::jam::Own;
use super::parts::{Part, Stretch};
use super::{Lowered, Lowering, Reduction};
use crate::CodegenError;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::schedule::{Accumulation, Axis, Sums};
use surject_ir::{BinaryOp, DType};
use surject_kernel::{Affine, LoopKind, Mem, Place, Space, Type, Value};

/// What is joined so far of a reduction.
pub(super) struct InMemory<'a> {
    sums: &'a Sums,
    mem: Mem,
    /// The type in which they are joined: that of integers where floats are compared as such.
    dtype: DType,
    /// The iterations of its loops with which it begins.
    first: Vec<Affine>,
}

fn overflow() -> CodegenError {
    CodegenError::overflow("sums in memory")
}

fn unknown() -> CodegenError {
    CodegenError::malformed("sums that nobody began")
}

impl<'a> Lowering<'a> {
    /// Runs all blocks of the reductions that are accumulated where an iteration of a loop over points begins, for the
    /// points of the loops inside of it.
    pub(super) fn accumulate(&mut self, name: &str, axes: &[Axis], inside: usize) -> Lowered<()> {
        let resolved = self.resolved;
        for accumulation in resolved.values.accumulations.iter().filter(|a| a.at == name) {
            for sums in &accumulation.sums {
                self.begin_sums(sums)?;
            }
            let outside = self.outside();
            self.blocks(accumulation, 0, &axes[inside..])?;
            self.return_to(&outside);
        }
        Ok(())
    }

    /// Memory of neutral elements.
    fn begin_sums(&mut self, sums: &'a Sums) -> Lowered<()> {
        let (reduction, _) = self.block_of_axes(0, sums.reduction)?;
        let first = sums.loops.iter().map(|l| self.places.get(&l.0).cloned().unwrap_or_default()).collect();
        let mem = self.neutral_memory(sums, &reduction)?;
        let dtype = reduction.neutral().dtype();
        self.sums.insert(sums.reduction, InMemory { sums, mem, dtype, first });
        Ok(())
    }

    fn neutral_memory(&mut self, sums: &Sums, reduction: &Reduction) -> Lowered<Mem> {
        let neutral = reduction.neutral();
        let mem = self.b.alloc("sums", neutral.dtype(), sums.elements, Space::Stack);
        let none = self.b.splat(neutral, sums.lanes as usize);
        self.for_all_sums(sums, |lowering, at| lowering.b.store(Place::new(mem, at), none))?;
        Ok(mem)
    }

    /// Does something with the sums of a vector, one vector after the other.
    fn for_all_sums(&mut self, sums: &Sums, each: impl FnOnce(&mut Self, Affine)) -> Lowered<()> {
        let (number, _) = self.b.open_for(0, sums.elements / sums.lanes, 1, LoopKind::Serial, &[]);
        let at = Affine::from(number).times(sums.lanes).ok_or_else(overflow)?;
        let at = if sums.lanes > 1 { at.plus(&Affine::lane(1), 1).ok_or_else(overflow)? } else { at };
        each(self, at);
        self.b.close_for(&[]);
        Ok(())
    }

    /// Runs blocks whose sums of floats begin anew, in memory of their own, and are added to those so far.
    fn in_own_sums(
        &mut self,
        accumulation: &'a Accumulation,
        run: impl FnOnce(&mut Self) -> Lowered<()>,
    ) -> Lowered<()> {
        let mut so_far = Vec::new();
        for sums in &accumulation.sums {
            let (reduction, _) = self.block_of_axes(0, sums.reduction)?;
            if reduction.is_rounded() {
                let own = self.neutral_memory(sums, &reduction)?;
                so_far.push((sums, self.put_sums(sums.reduction, own)?, own));
            }
        }
        run(self)?;
        for (sums, so_far, own) in so_far {
            let ty = Type::vector(sums.dtype, sums.lanes as usize);
            self.for_all_sums(sums, |lowering, at| {
                let [all, block] = [so_far, own].map(|mem| lowering.b.load(Place::new(mem, at.clone()), ty));
                let all = lowering.b.binary(BinaryOp::Add, all, block);
                lowering.b.store(Place::new(so_far, at), all);
            })?;
            self.put_sums(sums.reduction, so_far)?;
        }
        Ok(())
    }

    /// Puts the sums of a reduction in other memory; where they were.
    fn put_sums(&mut self, reduction: NodeId, mem: Mem) -> Lowered<Mem> {
        let known = self.sums.get_mut(&reduction).ok_or_else(unknown)?;
        Ok(std::mem::replace(&mut known.mem, mem))
    }

    /// Forgets the memory that was made inside of a loop.
    pub(super) fn end_sums(&mut self, name: &str) {
        let ended = self.resolved.values.accumulations.iter().filter(|a| a.at == name);
        ended.flat_map(|a| &a.sums).for_each(|sums| _ = self.sums.remove(&sums.reduction));
    }

    /// The loops over blocks from one on, and the points inside.
    fn blocks(&mut self, accumulation: &'a Accumulation, i: usize, inside: &[Axis]) -> Lowered<()> {
        let Some(axis) = accumulation.blocks.get(i) else {
            return self.nest(inside, 0, 0);
        };
        match self.resolved.values.begun_anew.contains(&axis.name) {
            true => {
                self.in_own_sums(accumulation, |lowering| lowering.loop_of_blocks(accumulation, i, inside))
            }
            false => self.loop_of_blocks(accumulation, i, inside),
        }
    }

    fn loop_of_blocks(&mut self, accumulation: &'a Accumulation, i: usize, inside: &[Axis]) -> Lowered<()> {
        let axis = &accumulation.blocks[i];
        let sizes = self.resolved.values.partial_sums.get(&axis.name).map_or(&[][..], Vec::as_slice);
        let outside = self.outside();
        for part in self.parts_of_blocks(axis, accumulation)? {
            self.part_of_blocks(accumulation, (i, sizes), part, inside)?;
            self.return_to(&outside);
        }
        Ok(())
    }

    /// A part of a loop over blocks, so many of which are a larger block, which begins anew.
    fn part_of_blocks(
        &mut self,
        accumulation: &'a Accumulation,
        (i, sizes): (usize, &'a [i64]),
        part: Part,
        inside: &[Axis],
    ) -> Lowered<()> {
        let axis = &accumulation.blocks[i];
        if let Some((&size, smaller)) = sizes.split_first() {
            let Some(Stretch { range, whole, tail }) = part.longer_than(size) else {
                return self.part_of_blocks(accumulation, (i, smaller), part, inside);
            };
            let (range, _) = self.open_blocks(&range, size, &[])?;
            let block = Part::Between { range, whole, tail, between: None };
            self.in_own_sums(accumulation, |lowering| {
                lowering.part_of_blocks(accumulation, (i, smaller), block, inside)
            })?;
            self.close(&[]);
            return Ok(());
        }
        let opened = self.open_part(axis, &part, &[])?;
        self.adding = Some(accumulation);
        self.fill_panels(&axis.name)?;
        self.blocks(accumulation, i + 1, inside)?;
        self.adding = None;
        self.close_part(opened);
        self.panels.retain(|_, filled| !filled.is_of(&axis.name));
        Ok(())
    }

    /// Joins the terms of a block to what is in memory for a point.
    pub(super) fn add_block(&mut self, accumulation: &Accumulation) -> Lowered<()> {
        for sums in &accumulation.sums {
            let (reduction, axes) = self.block_of(accumulation, sums.reduction)?;
            let (place, ty) = self.sums_here(sums.reduction)?;
            let begin = self.beginning(&reduction, &place, ty);
            let outside = self.outside();
            let own = self.terms(axes, 0, std::slice::from_ref(&reduction), vec![begin])?[0];
            self.return_to(&outside);
            self.store_joined(&reduction, place, own);
        }
        Ok(())
    }

    /// The same for iterations that run in step.
    pub(super) fn add_block_in_step(&mut self, accumulation: &Accumulation, all: &mut [Own]) -> Lowered<()> {
        for sums in &accumulation.sums {
            let (reduction, axes) = self.block_of(accumulation, sums.reduction)?;
            let (mut begin, mut places) = (Vec::new(), Vec::new());
            for own in all.iter_mut() {
                let (place, ty) = self.within(own, |l| l.sums_here(sums.reduction))?;
                begin.push(self.beginning(&reduction, &place, ty));
                places.push(place);
            }
            let outside = self.outside();
            let next = self.terms_in_step(axes, 0, &reduction, begin, all)?;
            self.return_to(&outside);
            places.into_iter().zip(next).for_each(|(place, own)| self.store_joined(&reduction, place, own));
        }
        Ok(())
    }

    /// What a block begins with: a sum of floats anew, so that it stays small, all else with what is joined so far.
    fn beginning(&mut self, reduction: &Reduction, so_far: &Place, ty: Type) -> Value {
        match reduction.is_rounded() {
            true => self.b.splat(reduction.neutral(), ty.lanes),
            false => self.b.load(so_far.clone(), ty),
        }
    }

    /// Stores what a block has in the end: a sum that began anew is added to what is so far, which takes no register before.
    fn store_joined(&mut self, reduction: &Reduction, place: Place, own: Value) {
        let joined = match reduction.is_rounded() {
            true => {
                let so_far = self.b.load(place.clone(), self.b.ty(own));
                self.b.binary(BinaryOp::Add, so_far, own)
            }
            false => own,
        };
        self.b.store(place, joined);
    }

    /// A reduction, and its loops inside of a block.
    fn block_of(&self, accumulation: &Accumulation, id: NodeId) -> Lowered<(Reduction, &'a [Axis])> {
        self.block_of_axes(accumulation.blocks.len(), id)
    }

    /// A reduction, and its loops behind so many.
    fn block_of_axes(&self, outside: usize, id: NodeId) -> Lowered<(Reduction, &'a [Axis])> {
        let Node::Reduce { op, body, .. } = self.expression.dag[id].node else {
            return Err(CodegenError::malformed("sums of no reduction"));
        };
        let axes = self.resolved.reductions.get(&id).map_or(&[][..], Vec::as_slice);
        let lanes = self.lanes_of(self.expression.dag[id].deps);
        let inside = &axes[outside.min(axes.len())..];
        Ok((self.reduction(id, (op, body), axes, lanes), inside))
    }

    /// Where a reduction is in memory here.
    fn sums_here(&self, id: NodeId) -> Lowered<(Place, Type)> {
        let InMemory { sums, mem, dtype, first } = self.sums.get(&id).ok_or_else(unknown)?;
        let mut at = Affine::from(0);
        for (&(of, stride), first) in sums.loops.iter().zip(first) {
            let own = self.places.get(&of).ok_or_else(unknown)?.plus(first, -1).ok_or_else(overflow)?;
            at = at.plus(&own, stride).ok_or_else(overflow)?;
        }
        let lanes = self.lanes_of(self.expression.dag[id].deps);
        Ok((Place::new(*mem, at), Type::vector(*dtype, lanes)))
    }

    /// The value of a reduction all of whose blocks are joined.
    pub(super) fn load_of_sums(&mut self, id: NodeId) -> Lowered<Value> {
        let (place, ty) = self.sums_here(id)?;
        let mut whole = self.b.load(place, ty);
        if let Some(keys) = self.block_of_axes(0, id)?.0.keys {
            whole = keys.value(&mut self.b, whole);
        }
        Ok(self.b.convert(whole, self.expression.dag[id].dtype))
    }
}
