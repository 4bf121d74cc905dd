//! Reductions with a function of their own, over several tensors at once.
//!
//! Every element of the result is a point, which takes its terms in row-major order. On a machine of threads, where there
//! are few elements and many terms, every element is a block: each of its threads joins neighbouring terms, and then fewer
//! threads join the parts in their order. Where elements lie next to each other, so do their terms, and a block has a few of them:
//! threads are neighbours there. StableHLO asks that the function and the initial values form a monoid.

mod each;
mod lanes;
mod merged;
mod tasks;

use super::points::{Maker, Part, elements};
use super::vectors::{element_at, overflow};
use super::{Kernels, Lowered};
use crate::expression::gather::strides;
use surject_ir::{BinaryOp, DType, Region, Var};
use surject_kernel::{Affine, Level, LoopKind, Mem, Place, Space, Type, Value};

/// Where there are fewer elements than this, threads share the terms of each.
const FEW_ELEMENTS: i64 = 4096;
/// If there are at least so many terms.
const MANY_TERMS: i64 = 256;
/// The elements of a block that lie next to each other: as many as a sector of memory has, which is what is read at once.
const NEXT: i64 = 8;
/// The threads of a block.
const THREADS: i64 = 512;
/// The terms that a thread has at least.
const TERMS: i64 = 4;

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

    /// The parts of the initial values.
    fn inits(&self, maker: &mut Maker<'_>) -> Lowered<Vec<Value>> {
        let zero = maker.int(0);
        let mut inits = Vec::new();
        for &init in self.inits {
            inits.extend(maker.operand(init, zero, &[])?);
        }
        Ok(inits)
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
            arguments.extend(maker.operand(operand, element, &position)?);
        }
        maker.apply(self.join, &arguments)
    }
}

impl Kernels<'_> {
    pub(super) fn reduce(&mut self, axes: &[usize]) -> Lowered<()> {
        let (operands, inits) = self.call.args.split_at(self.call.args.len() / 2);
        let shape = self.shape(operands[0])?;
        let (reduced, kept) = (0..shape.len()).partition(|a| axes.contains(a));
        let join = &self.call.regions[0];
        let reduction = Reduction { operands, inits, join, shape, kept, reduced };
        let out = reduction.sizes(&reduction.kept);
        let (count, terms) = (elements(&out)?, elements(&reduction.sizes(&reduction.reduced))?);
        let targets = self.call.targets;
        if self.has_tasks() {
            return self.reduce_on_tasks(&reduction);
        }
        if (1..FEW_ELEMENTS).contains(&count) && terms >= MANY_TERMS {
            let across = reduction.kept.last() == Some(&(reduction.shape.len() - 1));
            let next = if across && out.last().is_some_and(|&n| n >= NEXT) { NEXT } else { 1 };
            return self.reduce_in_blocks(&reduction, &out, terms, next);
        }
        self.kernel(count, |maker, point| {
            let first = reduction.inits(maker)?;
            let at = maker.unravel(point, &out);
            let values =
                maker.fold(terms, &first, |maker, number, old| reduction.term(maker, &at, number, old))?;
            maker.write_all(targets, point, &values)
        })
    }

    /// So many elements that lie next to each other are a block.
    /// It is long because it is one kernel, whose parts share threads and memory.
    fn reduce_in_blocks(
        &mut self,
        reduction: &Reduction<'_>,
        out: &[i64],
        terms: i64,
        next: i64,
    ) -> Lowered<()> {
        let count = elements(out)?;
        // The threads that share the terms of an element, and those that then share their parts: powers of two.
        let parts = 1i64 << (THREADS / next).min(terms / TERMS).max(1).ilog2();
        let joined = 1i64 << (parts.ilog2() / 2);
        let terms_each = (terms - 1) / parts + 1;
        let targets = self.call.targets;
        self.blocks((count - 1) / next + 1, |maker, block| {
            let first = reduction.inits(maker)?;
            let memory = |maker: &mut Maker<'_>, name: &str, all: i64| {
                let parts: Vec<Part> = reduction.operands.iter().flat_map(|&v| maker.parts(v)).collect();
                let one = |(i, part): (usize, Part)| {
                    (maker.b.alloc(format!("{name}{i}"), part.dtype, all * next, Space::Shared), part.dtype)
                };
                parts.into_iter().enumerate().map(one).collect::<Vec<_>>()
            };
            let mut from = memory(maker, "parts", parts);
            let between = memory(maker, "joined", joined);
            let thread = threads(maker, parts * next);
            let (part, column) = (maker.quotient(thread.0, next), maker.remainder(thread.0, next));
            let at = {
                // A thread without an element of its own computes the last one.
                let point = maker.scaled(block, next);
                let point = maker.add(point, column);
                let last = maker.int(count - 1);
                let point = maker.compare(BinaryOp::Min, point, last);
                maker.unravel(point, out)
            };
            let begin = maker.scaled(part, terms_each);
            let values = maker.fold(terms_each, &first, |maker, number, old| {
                let here = maker.add(begin, number);
                if terms % parts == 0 {
                    return reduction.term(maker, &at, here, old);
                }
                let end = maker.int(terms);
                let exists = maker.compare(BinaryOp::Lt, here, end);
                maker.when(exists, old, |maker| reduction.term(maker, &at, here, old))
            })?;
            store(maker, &from, thread.1, &values);
            maker.b.close_for(&[]);
            // Each of fewer threads joins parts that follow each other, and the last ones what these have.
            for (to, sharing) in [(Some(between), joined), (None, 1)] {
                let thread = threads(maker, sharing * next);
                let (group, column) = (maker.quotient(thread.0, next), maker.remainder(thread.0, next));
                let each = if to.is_some() { parts / joined } else { joined };
                let begin = maker.scaled(group, each);
                let values = maker.fold(each, &first, |maker, number, old| {
                    let number = maker.add(begin, number);
                    let number = maker.scaled(number, next);
                    let at = maker.add(number, column);
                    let mut arguments = old.to_vec();
                    for &(mem, dtype) in &from {
                        let place = Place { offset: Some(at), ..Place::new(mem, 0) };
                        arguments.push(maker.b.load(place, Type::scalar(dtype)));
                    }
                    maker.apply(reduction.join, &arguments)
                })?;
                match to {
                    Some(to) => {
                        store(maker, &to, thread.1, &values);
                        maker.b.close_for(&[]);
                        from = to;
                    }
                    None => {
                        let point = maker.scaled(block, next);
                        let point = maker.add(point, column);
                        let end = maker.int(count);
                        let exists = maker.compare(BinaryOp::Lt, point, end);
                        maker.b.open_if(exists);
                        maker.write_all(targets, point, &values)?;
                        maker.b.close_if(&[]);
                        maker.b.close_for(&[]);
                    }
                }
            }
            Ok(())
        })
    }
}

/// Opens the loop over so many threads: the number of a thread as a position, and as it is.
fn threads(maker: &mut Maker<'_>, count: i64) -> (Value, Value) {
    let (thread, _) = maker.b.open_for(0, count, 1, LoopKind::Parallel(Level::Thread), &[]);
    (maker.position(thread.into()), thread)
}

/// Stores what a thread has.
fn store(maker: &mut Maker<'_>, to: &[(Mem, DType)], thread: Value, values: &[Value]) {
    for (&(mem, _), &value) in to.iter().zip(values) {
        maker.b.store(Place::new(mem, thread), value);
    }
}

/// The number of the element at a position in a box of these sizes.
fn element(sizes: &[i64], at: &[Affine]) -> Lowered<Affine> {
    element_at(at, &strides(sizes).ok_or_else(overflow)?)
}
