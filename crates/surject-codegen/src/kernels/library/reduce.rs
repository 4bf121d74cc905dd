//! Reductions with a function of their own, over several tensors at once.
//!
//! Every element of the result is a point, which takes its terms in row-major order. On a machine of threads, where there
//! are few elements and many terms, every element is a block: each of its threads joins neighbouring terms, and then the
//! parts are joined in their order. StableHLO asks that the function and the initial values form a monoid.

use super::points::{Maker, elements};
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::kernels::expression::Tensor;
use crate::kernels::machine::Spread;
use surject_ir::{Region, Var};
use surject_kernel::{Affine, Level, LoopKind, Place, Space, Type, Value};

/// Where there are fewer elements than this, threads share the terms of each.
const FEW_ELEMENTS: i64 = 4096;
/// If there are at least so many terms.
const MANY_TERMS: i64 = 256;

/// The operands and axes of a reduction.
struct Reduction<'a> {
    operands: &'a [Var],
    inits: &'a [Var],
    join: &'a Region,
    /// The sizes of an operand.
    shape: Vec<i64>,
    kept: Vec<usize>,
    reduced: Vec<usize>,
}

impl Reduction<'_> {
    fn sizes(&self, axes: &[usize]) -> Vec<i64> {
        axes.iter().map(|&a| self.shape[a]).collect()
    }

    fn inits(&self, maker: &mut Maker<'_>) -> Lowered<Vec<Value>> {
        let zero = maker.int(0);
        self.inits.iter().map(|&init| maker.read(Tensor::Var(init), zero)).collect()
    }

    /// Joins term `number` of the element of the result at `at` with what is joined so far.
    fn term(&self, maker: &mut Maker<'_>, at: &[Value], number: Value, old: &[Value]) -> Lowered<Vec<Value>> {
        let term = maker.unravel(number, &self.sizes(&self.reduced));
        let mut position = vec![number; self.shape.len()];
        self.kept.iter().zip(at).for_each(|(&a, &p)| position[a] = p);
        self.reduced.iter().zip(&term).for_each(|(&a, &p)| position[a] = p);
        let element = maker.ravel(&position, &self.shape);
        let mut arguments = old.to_vec();
        for &operand in self.operands {
            arguments.push(maker.read(Tensor::Var(operand), element)?);
        }
        maker.apply(self.join, &arguments)
    }
}

impl Kernels<'_> {
    pub(super) fn reduce(&mut self, axes: &[usize]) -> Lowered<()> {
        let (operands, inits) = self.call.args.split_at(self.call.args.len() / 2);
        let shape = self.sizes(Tensor::Var(operands[0]))?;
        let (reduced, kept) = (0..shape.len()).partition(|a| axes.contains(a));
        let join = &self.call.regions[0];
        let reduction = Reduction { operands, inits, join, shape, kept, reduced };
        let out = reduction.sizes(&reduction.kept);
        let (count, terms) = (elements(&out)?, elements(&reduction.sizes(&reduction.reduced))?);
        let targets = self.call.targets;
        if let Spread::Threads { block } = self.machine.spread()
            && (1..FEW_ELEMENTS).contains(&count)
            && terms >= MANY_TERMS
        {
            return self.reduce_in_blocks(&reduction, &out, terms, block);
        }
        self.kernel(count, |maker, point| {
            let first = reduction.inits(maker)?;
            let at = maker.unravel(point, &out);
            let values =
                maker.fold(terms, &first, |maker, number, old| reduction.term(maker, &at, number, old))?;
            targets
                .iter()
                .zip(values)
                .try_for_each(|(&target, value)| maker.write(Tensor::Var(target), point, value))
        })
    }

    /// Every element is a block.
    fn reduce_in_blocks(
        &mut self,
        reduction: &Reduction<'_>,
        out: &[i64],
        terms: i64,
        block: i64,
    ) -> Lowered<()> {
        // The terms of a thread follow one another, and so do the parts: about as many of each.
        let terms_each = (terms.isqrt() + 1).max((terms - 1) / block + 1);
        let parts = (terms - 1) / terms_each + 1;
        let targets = self.call.targets;
        self.blocks(elements(out)?, |maker, point| {
            let first = reduction.inits(maker)?;
            let at = maker.unravel(point, out);
            let mut shared = Vec::new();
            for (i, &operand) in reduction.operands.iter().enumerate() {
                let dtype = maker.call.function.ty(operand).dtype;
                shared.push((maker.b.alloc(format!("parts{i}"), dtype, parts, Space::Shared), dtype));
            }
            let (thread, _) = maker.b.open_for(0, parts, 1, LoopKind::Parallel(Level::Thread), &[]);
            let values = maker.fold_numbers(terms_each, &first, |maker, number, old| {
                let number = Affine::from(number).plus(&thread.into(), terms_each);
                let number = number.ok_or_else(|| CodegenError::overflow("a position"))?;
                let here = maker.position(number.clone());
                if terms % terms_each == 0 {
                    return reduction.term(maker, &at, here, old);
                }
                let exists = maker.below(number, terms);
                maker.when(exists, old, |maker| reduction.term(maker, &at, here, old))
            })?;
            for (&(mem, _), value) in shared.iter().zip(values) {
                maker.b.store(Place::new(mem, thread), value);
            }
            maker.b.close_for(&[]);
            let values = maker.fold_numbers(parts, &first, |maker, number, old| {
                let mut arguments = old.to_vec();
                for &(mem, dtype) in &shared {
                    arguments.push(maker.b.load(Place::new(mem, number), Type::scalar(dtype)));
                }
                maker.apply(reduction.join, &arguments)
            })?;
            targets
                .iter()
                .zip(values)
                .try_for_each(|(&target, value)| maker.write(Tensor::Var(target), point, value))
        })
    }
}
