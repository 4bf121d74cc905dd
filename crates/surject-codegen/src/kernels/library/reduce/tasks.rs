//! Reductions with a function of their own on machines of tasks.
//!
//! Where neighbouring elements of the result fill vectors they are reduced in lanes ([`super::lanes`]). Where there are few
//! elements, and the function only chooses between its arguments, long lines are first cut into parts, which are elements of
//! their own; what these were reduced to is joined one element after the other ([`super::each`]).

use super::super::scalar::ScalarFunction;
use super::super::{Kernels, Lowered};
use super::Reduction;
use super::each::Each;
use super::lanes::InLanes;
use super::merged::{Merged, Parts};
use crate::expression::uses;
use crate::kernels::expression::Tensor;
use surject_index::Space;
use surject_ir::{DType, TensorType, Var};

/// The bytes of the elements that fill a vector in lanes.
const ELEMENT: usize = 4;

impl Kernels<'_> {
    /// A reduction on a machine of tasks.
    pub(super) fn reduce_on_tasks(&mut self, reduction: &Reduction<'_>) -> Lowered<()> {
        /// Vectors for every thread; fewer elements are less than the parts of lines.
        const VECTORS: i64 = 2;
        let function = ScalarFunction::of(self.call.function, reduction.join)?;
        let axes = Merged::of(&self.call, reduction)?;
        let (lanes, threads) = ((self.machine.vector_bytes() / ELEMENT) as i64, self.threads());
        let fits = |&v: &Var| !self.dtype(v).is_complex() && self.dtype(v).size() <= 8;
        let is_empty = reduction.shape.contains(&0);
        let in_lanes =
            lanes > 1 && !is_empty && !axes.reduced.is_empty() && reduction.operands.iter().all(fits);
        // Of some results nobody reads one.
        let read = uses::read(self.call.function, self.call.targets);
        let targets = self.call.targets.iter();
        let results: Vec<Option<Tensor>> =
            targets.map(|t| read.contains(t).then_some(Tensor::Var(*t))).collect();
        let lined = axes.clone().with_short_rows(lanes - 1);
        let neighbours = lined.neighbours();
        let all: i64 = lined.sizes(&lined.kept()).iter().product();
        let are_few = neighbours == lanes && all < neighbours * VECTORS * threads;
        // What is chosen may be compared with the initial values more than once.
        let size = self.dtype(reduction.operands[0]).size() as i64;
        let cut = (in_lanes && function.chooses() && (are_few || neighbours < lanes))
            .then(|| axes.clone().with_short_rows(lanes).cut(lanes, threads, size));
        match cut.flatten() {
            Some(parts) => self.reduce_parts(
                reduction,
                &function,
                (&axes, &parts),
                &InLanes { lanes, results: &results },
            ),
            None if in_lanes && neighbours >= lanes => {
                let by = InLanes { lanes, results: &results };
                self.reduce_in_lanes(reduction, &function, &lined, &by)
            }
            None => {
                let each = Each { axes: &axes, parts: None, results: &results };
                self.reduce_each(reduction, &function, &each)
            }
        }
    }

    /// Reduces parts of lines, and then what these were reduced to.
    fn reduce_parts(
        &mut self,
        reduction: &Reduction<'_>,
        function: &ScalarFunction,
        (axes, parts): (&Merged, &Parts),
        &InLanes { lanes, results }: &InLanes<'_>,
    ) -> Lowered<()> {
        let sizes: Vec<u64> = parts.axes.sizes(&parts.axes.kept()).iter().map(|&n| n as u64).collect();
        let types = reduction.operands.iter().map(|&v| TensorType::new(self.dtype(v), Space::of(&sizes)));
        let types: Vec<TensorType> = types.collect();
        let own: Vec<Option<Tensor>> = types.into_iter().map(|ty| Some(self.temporary(ty))).collect();
        self.reduce_in_lanes(reduction, function, &parts.axes, &InLanes { lanes, results: &own })?;
        let of_parts: Vec<Tensor> = own.into_iter().flatten().collect();
        let each = Each { axes, parts: Some((parts, &of_parts)), results };
        self.reduce_each(reduction, function, &each)
    }

    pub(super) fn dtype(&self, var: Var) -> DType {
        self.call.function.ty(var).dtype
    }
}
