//! Blocks of cut loops of which only the program knows whether they are whole.

use super::{Frame, Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{LoopId, LoopSet};
use surject_ir::BinaryOp;
use surject_kernel::{Affine, Builder, Guard, Value};

/// Loops whose block here may be the last one, and whether all of these blocks are whole; `None`: that is known.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    of: LoopSet,
    are_whole: Option<Value>,
}

impl Ends {
    /// The same with one more loop, whose block is whole where a guard holds.
    pub(super) fn and(self, b: &mut Builder, of: LoopId, is_whole: Guard) -> Ends {
        let is_whole = b.holds(vec![is_whole], 1);
        let are_whole = match self.are_whole {
            Some(others) => b.binary(BinaryOp::And, others, is_whole),
            None => is_whole,
        };
        Ends { of: self.of.union(std::iter::once(of).collect()), are_whole: Some(are_whole) }
    }
}

impl Lowering<'_> {
    /// Where so many iterations of a loop exist, from the first on.
    pub(super) fn is_whole(&self, of: LoopId, first: &Affine, count: i64) -> Lowered<Guard> {
        let extent = self.expression.dag.extent(of);
        let behind = Affine::from(extent - count).plus(first, -1);
        let behind = behind.ok_or_else(|| CodegenError::overflow("the end of a block"))?;
        Ok(Guard { expr: behind, bound: extent.into() })
    }

    /// Does the same where blocks are whole, without guards for their loops, and where one of them is the last one: what it gives.
    pub(super) fn by_ends(
        &mut self,
        ends: Ends,
        mut f: impl FnMut(&mut Self) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let Some(are_whole) = ends.are_whole else { return f(self) };
        let outside = self.outside();
        self.b.open_if(are_whole);
        self.frames.push(Frame::default());
        self.whole = self.whole.union(ends.of);
        let values = f(self)?;
        self.return_to(&outside);
        self.b.open_else(&values);
        self.frames.push(Frame::default());
        let values = f(self)?;
        self.return_to(&outside);
        Ok(self.b.close_if(&values))
    }
}
