//! Long sums in blocks: partial sums that begin anew, and are added to what is so far ([`crate::expression::partial_sums`]).

use super::parts::{Part, Stretch};
use super::{Lowered, Lowering, Reduction};
use crate::CodegenError;
use crate::expression::partial_sums;
use crate::kernels::schedule::Axis;
use surject_ir::{AccOp, BinaryOp};
use surject_kernel::{Affine, LoopKind, Value};

/// What runs a part of a loop, given what is summed so far: the sums then.
type Run<'r, 'a> = &'r mut dyn FnMut(&mut Lowering<'a>, &Part, Vec<Value>) -> Lowered<Vec<Value>>;

impl Reduction {
    /// Is it a sum of floats?
    pub(super) fn is_rounded(&self) -> bool {
        partial_sums::round(self.op, self.joined)
    }
}

/// Are all of these sums of floats?
fn are_rounded(reductions: &[Reduction]) -> bool {
    reductions.iter().all(Reduction::is_rounded)
}

impl<'a> Lowering<'a> {
    /// Does a schedule say of one of these loops that sums are made in blocks?
    pub(super) fn has_partial_sums(&self, axes: &[Axis]) -> bool {
        let values = &self.resolved.values;
        axes.iter().any(|a| values.begun_anew.contains(&a.name) || values.partial_sums.contains_key(&a.name))
    }

    /// Runs a part of the loop of a sum, in the blocks that a schedule says.
    pub(super) fn in_partial_sums(
        &mut self,
        (axis, reductions): (&Axis, &[Reduction]),
        part: &Part,
        sums: Vec<Value>,
        run: Run<'_, 'a>,
    ) -> Lowered<Vec<Value>> {
        let resolved = self.resolved;
        let blocks = resolved.values.partial_sums.get(&axis.name).filter(|_| are_rounded(reductions));
        self.blocks_of(blocks.map_or(&[][..], Vec::as_slice), part, sums, run)
    }

    /// The same in blocks of so many iterations, the largest first.
    fn blocks_of(
        &mut self,
        blocks: &[i64],
        part: &Part,
        sums: Vec<Value>,
        run: Run<'_, 'a>,
    ) -> Lowered<Vec<Value>> {
        let Some((&size, smaller)) = blocks.split_first() else { return run(self, part, sums) };
        let Some(Stretch { range, whole, tail }) = part.longer_than(size) else {
            return self.blocks_of(smaller, part, sums, run);
        };
        let (range, carried) = self.open_blocks(&range, size, &sums)?;
        let block = Part::Between { range, whole, tail, between: None };
        let next = self.anew(carried, |lowering, sums| lowering.blocks_of(smaller, &block, sums, run))?;
        Ok(self.close(&next))
    }

    /// Opens a loop over blocks of so many iterations of a range: those of a block, and what the loop carries.
    pub(super) fn open_blocks(
        &mut self,
        (first, end): &(Affine, Affine),
        size: i64,
        carried: &[Value],
    ) -> Lowered<((Affine, Affine), Vec<Value>)> {
        let overflow = || CodegenError::overflow("a block of terms");
        let (begin, carried) = self.b.open_for(first.clone(), end.clone(), size, LoopKind::Serial, carried);
        self.opened.push(LoopKind::Serial);
        let begin = Affine::from(begin);
        let past = begin.plus(&size.into(), 1).ok_or_else(overflow)?;
        let past = match end.plus(first, -1).ok_or_else(overflow)?.as_constant() {
            Some(all) if all % size == 0 => past,
            _ => self.lesser(&past, end).into(),
        };
        Ok(((begin, past), carried))
    }

    /// Sums that begin anew where a schedule says so of a loop, else those that go on.
    pub(super) fn begun_anew(
        &mut self,
        (axis, reductions): (Option<&Axis>, &[Reduction]),
        sums: Vec<Value>,
        run: impl FnOnce(&mut Self, Vec<Value>) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let begins_anew = |axis: &Axis| self.resolved.values.begun_anew.contains(&axis.name);
        match axis.is_some_and(begins_anew) && are_rounded(reductions) {
            true => self.anew(sums, run),
            false => run(self, sums),
        }
    }

    /// Sums that begin anew, and are added to those so far.
    fn anew(
        &mut self,
        so_far: Vec<Value>,
        run: impl FnOnce(&mut Self, Vec<Value>) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let zero = |&sum: &Value| {
            let ty = self.b.ty(sum);
            self.b.splat(AccOp::Add.neutral(ty.dtype), ty.lanes)
        };
        let begun = so_far.iter().map(zero).collect();
        let own = run(self, begun)?;
        Ok(so_far.into_iter().zip(own).map(|(sum, own)| self.b.binary(BinaryOp::Add, sum, own)).collect())
    }
}
