//! Sorts: runs of 1, 2, 4, … elements are merged. Every element is a point, which finds its place in the merged run by a
//! binary search in the other one; equal elements keep their order.
//!
//! Where points are threads and lines lie next to each other, a block sorts a part of a line in shared memory. In the
//! passes after it a block has a part of a merged run: it looks for what of both runs that is, and merges it there.

use super::points::{Maker, elements};
use super::shared::{buffers, each, load, open_threads, store};
use super::{Kernels, Lowered};
use crate::kernels::expression::Tensor;
use crate::kernels::machine::Spread;
use surject_ir::BinaryOp;
use surject_kernel::{Level, Mem, Op, Space, Value};

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
        // The passes of one line that a block does.
        let part = self.part(lines, args)?;
        let alone = part.map_or(0, |part| i64::from(part.trailing_zeros())).min(passes);
        for pass in 0..passes {
            if pass + 1 < alone {
                continue;
            }
            // The last pass writes the result.
            let place = |back: i64| if (passes - 1 - pass + back) % 2 == 0 { targets } else { temporaries };
            let (from, to) = (if pass == 0 || pass + 1 == alone { args } else { place(1) }, place(0));
            match part {
                Some(part) if pass + 1 == alone => self.sort_parts(lines, part, (from, to), less)?,
                Some(part) => self.merge_parts(lines, part, 1 << pass, (from, to), less)?,
                None => self.merge(lines, 1 << pass, (from, to), less)?,
            }
        }
        Ok(())
    }

    /// The elements of a line that a block sorts: as many as two buffers in shared memory have.
    fn part(&self, lines: &Lines, tensors: &[Tensor]) -> Lowered<Option<i64>> {
        /// Bytes of both buffers, and the fewest and the most elements.
        const BYTES: i64 = 48 << 10;
        const SIZES: [i64; 4] = [2048, 1024, 512, 256];
        if lines.step != 1 || lines.count < 64 || matches!(self.machine.spread(), Spread::Tasks { .. }) {
            return Ok(None);
        }
        let maker = Maker::new(self.call, &self.temporaries, String::new());
        let mut bytes = 0;
        for &tensor in tensors {
            bytes += maker.ty(tensor)?.dtype.size() as i64;
        }
        // What says where a merged part begins and ends is a few bytes more.
        let fits = |part: &i64| 2 * part * bytes + 64 <= BYTES;
        let short = |part: &i64| *part == 256 || *part < 2 * lines.count;
        Ok(SIZES.into_iter().find(|part| fits(part) && short(part)))
    }

    /// Sorts parts of lines, each by a block.
    fn sort_parts(
        &mut self,
        lines: &Lines,
        part: i64,
        (from, to): (&[Tensor], &[Tensor]),
        less: Less<'_, 'a>,
    ) -> Lowered<()> {
        let Parts { count: parts, whole } = lines.parts(part);
        self.blocks(parts * (lines.total / lines.count), |maker, block| {
            let own = Part::of(maker, block, lines, part);
            let mut buffers = [buffers(maker, from, part)?, buffers(maker, from, part)?];
            let thread = open_threads(maker);
            own.each(maker, (thread, whole), |maker, at| {
                let place = maker.add(own.first, at);
                for (&tensor, &to) in from.iter().zip(&buffers[0]) {
                    let value = maker.read(tensor, place)?;
                    store(maker, to, at, value);
                }
                Ok(())
            })?;
            let mut run = 1;
            while run < part.min(lines.count) {
                maker.b.effect(Op::Barrier(Level::Block));
                own.each(maker, (thread, whole), |maker, at| {
                    let ends = runs(maker, at, run, own.length);
                    let (place, values) = rank_in(maker, &buffers[0], (at, run), ends, less)?;
                    let values = values.into_iter().zip(&buffers[1]);
                    values.for_each(|(value, &to)| store(maker, to, place, value));
                    Ok(())
                })?;
                buffers.reverse();
                run *= 2;
            }
            maker.b.effect(Op::Barrier(Level::Block));
            own.each(maker, (thread, whole), |maker, at| {
                let place = maker.add(own.first, at);
                for (&tensor, &mem) in to.iter().zip(&buffers[0]) {
                    let value = load(maker, mem, at);
                    maker.write(tensor, place, value)?;
                }
                Ok(())
            })
        })
    }

    /// Merges runs of so many elements, a part of the merged run by a block.
    fn merge_parts(
        &mut self,
        lines: &Lines,
        part: i64,
        run: i64,
        (from, to): (&[Tensor], &[Tensor]),
        less: Less<'_, 'a>,
    ) -> Lowered<()> {
        let Parts { count: parts, whole } = lines.parts(part);
        self.blocks(parts * (lines.total / lines.count), |maker, block| {
            let own = Part::of(maker, block, lines, part);
            let buffers = buffers(maker, from, part)?;
            let integer = maker.b.ty(own.first).dtype;
            let ends = maker.b.alloc("ends", integer, 2, Space::Shared);
            // The pair of runs that the part is in, of a line.
            let at = maker.sub(own.first, own.line);
            let end_of_line = maker.int(lines.count);
            let [start, middle, end] = runs(maker, at, run, end_of_line);
            let thread = open_threads(maker);
            let number = maker.position(thread.into());
            // One thread looks where the part begins in the first run, the next one where it ends.
            let two = maker.int(2);
            let looks = maker.compare(BinaryOp::Lt, number, two);
            maker.when(looks, &[], |maker| {
                let behind = maker.b.binary(BinaryOp::Mul, number, own.length);
                let diagonal = maker.add(at, behind);
                let diagonal = maker.sub(diagonal, start);
                let found = cut(maker, from, (own.line, run), [start, middle, end], diagonal, less)?;
                store(maker, ends, number, found);
                Ok(Vec::new())
            })?;
            maker.b.effect(Op::Barrier(Level::Block));
            let (zero, one) = (maker.int(0), maker.int(1));
            let [low, high] = [zero, one].map(|n| load(maker, ends, n));
            // An order that is none may give any ends: what is accessed stays inside.
            let count = maker.sub(high, low);
            let count = maker.b.binary(BinaryOp::Max, count, zero);
            let count = maker.b.binary(BinaryOp::Min, count, own.length);
            let behind = maker.sub(at, start);
            let behind = maker.sub(behind, low);
            let (first, second) = (maker.add(start, low), maker.add(middle, behind));
            let last = maker.sub(end_of_line, one);
            own.each(maker, (thread, whole), |maker, at| {
                let is_first = maker.compare(BinaryOp::Lt, at, count);
                let further = maker.sub(at, count);
                let place = [maker.add(first, at), maker.add(second, further)];
                let place = maker.b.select(is_first, place[0], place[1]);
                let place = maker.b.binary(BinaryOp::Min, place, last);
                let place = maker.add(own.line, place);
                for (&tensor, &to) in from.iter().zip(&buffers) {
                    let value = maker.read(tensor, place)?;
                    store(maker, to, at, value);
                }
                Ok(())
            })?;
            maker.b.effect(Op::Barrier(Level::Block));
            own.each(maker, (thread, whole), |maker, at| {
                let ends = [zero, count, own.length];
                let (place, values) = rank_in(maker, &buffers, (at, part), ends, less)?;
                let place = maker.add(own.first, place);
                to.iter().zip(values).try_for_each(|(&tensor, value)| maker.write(tensor, place, value))
            })
        })
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
            let end_of_line = maker.int(count);
            let ends = runs(maker, at, run, end_of_line);
            let own =
                from.iter().map(|&tensor| maker.read(tensor, point)).collect::<Lowered<Vec<Value>>>()?;
            let other = |maker: &mut Maker<'a>, probe: Value| {
                let place = maker.scaled(probe, step);
                let place = maker.add(line, place);
                from.iter().map(|&tensor| maker.read(tensor, place)).collect()
            };
            let place = rank(maker, &own, (at, run), ends, other, less)?;
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

impl Lines {
    /// A line in parts of so many elements.
    fn parts(&self, part: i64) -> Parts {
        Parts { count: (self.count + part - 1) / part, whole: self.count % part == 0 }
    }
}

/// The parts of a line.
struct Parts {
    count: i64,
    /// Are all of them whole?
    whole: bool,
}

/// What a block has of a line.
struct Part {
    /// Its first element, and that of its line.
    first: Value,
    line: Value,
    /// Its elements, and the most that there may be.
    length: Value,
    most: i64,
}

impl Part {
    fn of(maker: &mut Maker<'_>, block: Value, lines: &Lines, most: i64) -> Part {
        let Parts { count: parts, whole } = lines.parts(most);
        let (line, number) = match parts {
            1 => (block, maker.int(0)),
            _ => (maker.quotient(block, parts), maker.remainder(block, parts)),
        };
        let line = maker.scaled(line, lines.count);
        let before = maker.scaled(number, most);
        let first = maker.add(line, before);
        let all = maker.int(most);
        let length = if whole {
            all
        } else {
            let end = maker.int(lines.count);
            let left = maker.sub(end, before);
            maker.b.binary(BinaryOp::Min, left, all)
        };
        Part { first, line, length, most }
    }

    /// Runs something for every element of the part, of which each thread has some.
    fn each<'a>(
        &self,
        maker: &mut Maker<'a>,
        (thread, whole): (Value, bool),
        f: impl FnOnce(&mut Maker<'a>, Value) -> Lowered<()>,
    ) -> Lowered<()> {
        each(maker, thread, (self.most, Some(self.length).filter(|_| !whole)), f)
    }
}

/// Where an element is in the merged run of two, from `start` to `middle` and from there to `end`, of which it is the one
/// at a place; `other` reads another element of them.
fn rank<'a>(
    maker: &mut Maker<'a>,
    own: &[Value],
    (at, run): (Value, i64),
    [start, middle, end]: [Value; 3],
    other: impl Fn(&mut Maker<'a>, Value) -> Lowered<Vec<Value>>,
    less: Less<'_, 'a>,
) -> Lowered<Value> {
    let is_first = maker.compare(BinaryOp::Lt, at, middle);
    let (low, high) = (maker.b.select(is_first, middle, start), maker.b.select(is_first, end, middle));
    // Of the first run those come before that are less, of the second also those that are equal.
    let found = maker.search(run, [low, high], |maker, probe| {
        let mut arguments = Vec::new();
        for (other, &own) in other(maker, probe)?.into_iter().zip(own) {
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
    Ok(maker.add(start, rank))
}

/// The same of runs in shared memory, and the values of the element.
fn rank_in<'a>(
    maker: &mut Maker<'a>,
    buffers: &[Mem],
    (at, run): (Value, i64),
    ends: [Value; 3],
    less: Less<'_, 'a>,
) -> Lowered<(Value, Vec<Value>)> {
    let all = |maker: &mut Maker<'a>, at: Value| -> Vec<Value> {
        buffers.iter().map(|&mem| load(maker, mem, at)).collect()
    };
    let own = all(maker, at);
    let place = rank(maker, &own, (at, run), ends, |maker, probe| Ok(all(maker, probe)), less)?;
    Ok((place, own))
}

/// How many of the first elements of a merged run, up to `diagonal`, are of the first of two runs of a line.
fn cut<'a>(
    maker: &mut Maker<'a>,
    from: &[Tensor],
    (line, run): (Value, i64),
    [start, middle, end]: [Value; 3],
    diagonal: Value,
    less: Less<'_, 'a>,
) -> Lowered<Value> {
    let (first, second) = (maker.sub(middle, start), maker.sub(end, middle));
    let zero = maker.int(0);
    let low = maker.sub(diagonal, second);
    let low = maker.b.binary(BinaryOp::Max, low, zero);
    let high = maker.b.binary(BinaryOp::Min, diagonal, first);
    maker.search(run, [low, high], |maker, probe| {
        // Does this one of the first run come before the last one that would be of the second?
        let one = maker.int(1);
        let other = maker.sub(diagonal, probe);
        let other = maker.sub(other, one);
        let places = [(start, probe), (middle, other)].map(|(run, at)| {
            let place = maker.add(line, run);
            maker.add(place, at)
        });
        let mut arguments = Vec::new();
        for &tensor in from {
            let [first, second] = places.map(|place| maker.read(tensor, place));
            arguments.extend([second?, first?]);
        }
        let answer = less(maker, &arguments)?;
        Ok(maker.b.unary(surject_ir::UnaryOp::Not, answer))
    })
}

/// The pair of runs of so many elements that an element is in: where it begins, where the second run does, and where it
/// ends.
fn runs(maker: &mut Maker<'_>, at: Value, run: i64, end_of_line: Value) -> [Value; 3] {
    let pair = maker.quotient(at, 2 * run);
    let start = maker.scaled(pair, 2 * run);
    let run_length = maker.int(run);
    let middle = maker.add(start, run_length);
    let middle = maker.b.binary(BinaryOp::Min, middle, end_of_line);
    let end = maker.add(middle, run_length);
    [start, middle, maker.b.binary(BinaryOp::Min, end, end_of_line)]
}
