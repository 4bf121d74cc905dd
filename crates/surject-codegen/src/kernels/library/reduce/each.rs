//! A reduction of one element of the result after the other: of all its terms, or of what parts of a line were reduced to
//! and of the end of the line.

use super::super::points::{Maker, known};
use super::super::scalar::ScalarFunction;
use super::super::vectors::overflow;
use super::super::{Kernels, Lowered};
use super::Reduction;
use super::merged::{Merged, Parts};
use crate::kernels::expression::Tensor;
use surject_ir::{DType, FieldKind};
use surject_kernel::{Access, Affine, LoopKind, Place, Type, Value};

/// How elements are reduced one after the other.
pub(super) struct Each<'a> {
    pub(super) axes: &'a Merged,
    /// The parts of lines, and what they were reduced to.
    pub(super) parts: Option<(&'a Parts, &'a [Tensor])>,
    /// Where the results go; `None`: nobody reads one.
    pub(super) results: &'a [Option<Tensor>],
}

impl Kernels<'_> {
    pub(super) fn reduce_each(
        &mut self,
        reduction: &Reduction<'_>,
        function: &ScalarFunction,
        by: &Each<'_>,
    ) -> Lowered<()> {
        let Merged { shape, reduced, .. } = by.axes;
        let kept = by.axes.kept();
        let out = by.axes.sizes(&kept);
        let count = super::elements(&out)?;
        if count == 0 {
            return Ok(());
        }
        let terms: i64 = by.axes.sizes(reduced).iter().product();
        let work = if by.parts.is_some() { 0 } else { terms };
        let operations = work.saturating_mul(reduction.operands.len() as i64);
        self.shared_kernel(count, operations, |maker, point| {
            let mut at = vec![Affine::from(0); shape.len()];
            for (&axis, digit) in kept.iter().zip(maker.digits(point.clone(), &out)?) {
                at[axis] = digit;
            }
            let mut values = reduction.inits(maker)?;
            if let Some((Parts { axes, number, .. }, tensors)) = by.parts {
                let count = axes.shape[*number];
                let (part, carried) = maker.b.open_for(0, count, 1, LoopKind::Serial, &values);
                // The element of the result, with the number of the part in front of what lies inside of it.
                let mut of_part: Vec<Affine> = kept.iter().map(|&a| at[a].clone()).collect();
                of_part.insert(*number, part.into());
                let sizes = axes.sizes(&axes.kept());
                let element = super::element(&sizes, &of_part)?;
                let mut arguments = carried;
                for (&tensor, &operand) in tensors.iter().zip(reduction.operands) {
                    for part in maker.parts(operand) {
                        arguments.push(maker.element(tensor, part.of(&element)?)?);
                    }
                }
                let next = maker.applied(function, &arguments, &[])?;
                values = maker.b.close_for(&next);
            }
            let mut carried = values;
            for (i, &axis) in reduced.iter().enumerate() {
                let low = by.parts.filter(|_| i + 1 == reduced.len()).map_or(0, |(parts, _)| parts.elements);
                let (position, inside) = maker.b.open_for(low, shape[axis], 1, LoopKind::Serial, &carried);
                at[axis] = position.into();
                carried = inside;
            }
            let mut arguments = carried;
            arguments.extend(maker.terms(reduction, by.axes, &at)?);
            let mut next: Vec<Value> = maker.applied(function, &arguments, &[])?;
            for _ in reduced {
                next = maker.b.close_for(&next);
            }
            let mut values = next.into_iter();
            for (&operand, place) in reduction.operands.iter().zip(by.results) {
                for part in maker.parts(operand) {
                    let value = values.next().ok_or_else(overflow)?;
                    let Some(tensor) = *place else { continue };
                    let mem = maker.memory(tensor, Access::Write)?;
                    let at = part.of(&point)?;
                    maker.b.store(Place::new(mem, at), value);
                }
            }
            Ok(())
        })
    }
}

impl Maker<'_> {
    /// The parts of the terms of all operands at a position.
    fn terms(&mut self, reduction: &Reduction<'_>, axes: &Merged, at: &[Affine]) -> Lowered<Vec<Value>> {
        let mut terms = Vec::new();
        for &operand in reduction.operands {
            let dtype = self.call.function.ty(operand).dtype;
            match known(self.call.function, operand).cloned() {
                Some(FieldKind::Const(value)) => terms.push(self.b.splat(value, 1)),
                Some(FieldKind::Index { axis }) => {
                    let at = self.b.index(axes.position(axis, at)?, Type::scalar(DType::I64));
                    terms.push(self.b.convert(at, dtype));
                }
                _ => {
                    let element = axes.element(at)?;
                    for part in self.parts(operand) {
                        terms.push(self.element(Tensor::Var(operand), part.of(&element)?)?);
                    }
                }
            }
        }
        Ok(terms)
    }

    /// An element of a tensor that is only read, complex numbers as two.
    fn element(&mut self, tensor: Tensor, at: Affine) -> Lowered<Value> {
        let mem = self.memory(tensor, Access::Read)?;
        let ty = Type::scalar(self.b.memory_type(mem));
        Ok(self.b.load(Place::new(mem, at), ty))
    }
}
