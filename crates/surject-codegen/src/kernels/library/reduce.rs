//! Reductions with a function of their own, over several tensors at once: every element of the result is a point, which
//! takes its terms in row-major order.

use super::points::elements;
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_kernel::Value;

impl Kernels<'_> {
    pub(super) fn reduce(&mut self, axes: &[usize]) -> Lowered<()> {
        let n = self.call.args.len() / 2;
        let (operands, inits) = self.call.args.split_at(n);
        let targets = self.call.targets;
        let shape = self.sizes(Tensor::Var(operands[0]))?;
        let pick = |reduced: bool| -> Vec<usize> {
            (0..shape.len()).filter(|a| axes.contains(a) == reduced).collect()
        };
        let (kept, reduced) = (pick(false), pick(true));
        let sizes = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|&a| shape[a]).collect() };
        let (out, terms) = (sizes(&kept), sizes(&reduced));
        let join = &self.call.regions[0];
        self.kernel(elements(&out)?, |maker, point| {
            let zero = maker.int(0);
            let mut values = Vec::new();
            for &init in inits {
                values.push(maker.read(Tensor::Var(init), zero)?);
            }
            let at = maker.unravel(point, &out);
            let values = maker.fold(elements(&terms)?, &values, |maker, number, old| {
                let term = maker.unravel(number, &terms);
                let mut position = vec![zero; shape.len()];
                kept.iter().zip(&at).for_each(|(&a, &p)| position[a] = p);
                reduced.iter().zip(&term).for_each(|(&a, &p)| position[a] = p);
                let element = maker.ravel(&position, &shape);
                let mut arguments: Vec<Value> = old.to_vec();
                for &operand in operands {
                    arguments.push(maker.read(Tensor::Var(operand), element)?);
                }
                maker.apply(join, &arguments)
            })?;
            targets
                .iter()
                .zip(values)
                .try_for_each(|(&target, value)| maker.write(Tensor::Var(target), point, value))
        })
    }
}
