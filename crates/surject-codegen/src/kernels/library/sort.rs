//! Sorts: runs of 1, 2, 4, … elements are merged. Every element is a point, which finds its place in the merged run by a
//! binary search in the other one; equal elements keep their order.

use super::points::{Maker, elements};
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use surject_ir::BinaryOp;
use surject_kernel::Value;

/// The lines that are sorted.
pub(super) struct Lines {
    /// The elements of a line.
    pub(super) count: i64,
    /// From one element of a line to the next.
    pub(super) step: i64,
    /// The elements of the tensor.
    pub(super) total: i64,
}

/// Does an element come before another? Of every tensor there is one of the first element, and one of the other.
type Less<'f, 'a> = &'f dyn Fn(&mut Maker<'a>, &[Value]) -> Lowered<Value>;

impl<'a> Kernels<'a> {
    pub(super) fn sort(&mut self, axis: usize) -> Lowered<()> {
        let args: Vec<Tensor> = self.call.args.iter().copied().map(Tensor::Var).collect();
        let targets: Vec<Tensor> = self.call.targets.iter().copied().map(Tensor::Var).collect();
        let shape = self.call.function.ty(self.call.args[0]).space.sizes();
        let shape = shape.ok_or_else(|| crate::CodegenError::unsupported("a sort of symbolic sizes"))?;
        let lines = Lines {
            count: shape[axis],
            step: elements(&shape[axis + 1..])?.max(1),
            total: elements(&shape)?,
        };
        let less = &self.call.regions[0];
        let mut temporaries = Vec::new();
        if lines.count > 2 {
            for &target in self.call.targets {
                temporaries.push(self.temporary(self.call.function.ty(target).clone()));
            }
        }
        self.sort_lines(&lines, [&args, &targets, &temporaries], &|maker, arguments| {
            let answer = maker.apply(less, arguments)?;
            answer.first().copied().ok_or_else(|| crate::CodegenError::malformed("an order without a result"))
        })
    }

    /// Sorts lines of the first tensors into the second ones, by way of the third ones where a line has more than two elements.
    pub(super) fn sort_lines(
        &mut self,
        lines: &Lines,
        [args, targets, temporaries]: [&[Tensor]; 3],
        less: Less<'_, 'a>,
    ) -> Lowered<()> {
        let passes = (0..63).find(|&p| 1i64 << p >= lines.count).unwrap_or(0);
        if passes == 0 {
            return self.kernel(lines.total, |maker, point| {
                args.iter().zip(targets).try_for_each(|(&from, &to)| {
                    let value = maker.read(from, point)?;
                    maker.write(to, point, value)
                })
            });
        }
        for pass in 0..passes {
            // The last pass writes the result.
            let place = |back: i64| if (passes - 1 - pass + back) % 2 == 0 { targets } else { temporaries };
            let (from, to) = (if pass == 0 { args } else { place(1) }, place(0));
            self.merge(lines, 1 << pass, (from, to), less)?;
        }
        Ok(())
    }

    /// Merges runs of so many elements.
    fn merge(
        &mut self,
        lines: &Lines,
        run: i64,
        (from, to): (&[Tensor], &[Tensor]),
        less: Less<'_, 'a>,
    ) -> Lowered<()> {
        let Lines { count, step, total } = *lines;
        self.kernel(total, |maker, point| {
            // The element `at` of the line that begins at `first`.
            let (line, at) = line_of(maker, point, count, step);
            let pair = maker.quotient(at, 2 * run);
            let start = maker.scaled(pair, 2 * run);
            let (run_length, end_of_line) = (maker.int(run), maker.int(count));
            let middle = maker.add(start, run_length);
            let middle = maker.b.binary(BinaryOp::Min, middle, end_of_line);
            let end = maker.add(middle, run_length);
            let end = maker.b.binary(BinaryOp::Min, end, end_of_line);
            let is_first = maker.compare(BinaryOp::Lt, at, middle);
            let (low, high) =
                (maker.b.select(is_first, middle, start), maker.b.select(is_first, end, middle));
            let mut own = Vec::new();
            for &tensor in from {
                own.push(maker.read(tensor, point)?);
            }
            // Of the first run those come before that are less, of the second also those that are equal.
            let found = maker.search(run, [low, high], |maker, probe| {
                let place = maker.scaled(probe, step);
                let place = maker.add(line, place);
                let mut arguments = Vec::new();
                for (&tensor, &own) in from.iter().zip(&own) {
                    let other = maker.read(tensor, place)?;
                    arguments.push(maker.b.select(is_first, other, own));
                    arguments.push(maker.b.select(is_first, own, other));
                }
                let answer = less(maker, &arguments)?;
                Ok(maker.b.binary(BinaryOp::Eq, answer, is_first))
            })?;
            let others = maker.sub(found, low);
            let first_of_own = maker.b.select(is_first, start, middle);
            let rank = maker.sub(at, first_of_own);
            let rank = maker.add(rank, others);
            let place = maker.add(start, rank);
            let place = maker.scaled(place, step);
            let place = maker.add(line, place);
            to.iter().zip(own).try_for_each(|(&tensor, value)| maker.write(tensor, place, value))
        })
    }
}

/// The first element of the line that a point is in, and its number in the line.
fn line_of(maker: &mut Maker<'_>, point: Value, count: i64, step: i64) -> (Value, Value) {
    if step == 1 {
        let line = maker.quotient(point, count);
        let first = maker.scaled(line, count);
        return (first, maker.sub(point, first));
    }
    let inner = maker.remainder(point, step);
    let rest = maker.quotient(point, step);
    let at = maker.remainder(rest, count);
    let line = maker.quotient(rest, count);
    let first = maker.scaled(line, count * step);
    (maker.add(first, inner), at)
}
