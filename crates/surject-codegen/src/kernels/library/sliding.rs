//! Reductions of windows with a function of their own on a CPU: neighbouring windows are the lanes of vectors, each of which joins its
//! elements in row-major order. Windows that grow by one element from each to the next are done in another way ([`Lines`]) where the
//! initial values, joined with themselves, stay what they are: then padding changes nothing. That is found out when it runs.

use super::growing::Lines;
use super::moves::all;
use super::points::{Maker, elements};
use super::tasks::Share;
use super::vectors::{element_at, overflow};
use super::windows::{Elements, signed};
use super::{Kernels, Lowered};
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use std::ops::Range;
use surject_ir::{BinaryOp, DType, FieldKind, Function, Region, Scalar, StatementKind, UnaryOp, Var, Window};
use surject_kernel::{Access, Affine, Guard, Op, Place, Type, Value};

/// The operands of a reduction of windows, and the function that joins them.
#[derive(Clone, Copy)]
pub(super) struct Joins<'a> {
    pub(super) operands: &'a [Var],
    pub(super) targets: &'a [Var],
    pub(super) join: &'a Region,
}

/// Neighbouring windows along an axis of the result, in lanes.
#[derive(Clone, Copy)]
struct Beside {
    axis: usize,
    lanes: i64,
}

/// The windows of a call.
struct Windows<'a> {
    joins: Joins<'a>,
    window: &'a Window,
    /// The sizes of an operand, of a result and of a window.
    shape: &'a [i64],
    out: &'a [i64],
    sizes: Vec<i64>,
    beside: Option<Beside>,
}

/// An element of windows side by side.
struct Element {
    /// Where it is loaded from: somewhere in the operand, where it is no element of it.
    place: Affine,
    /// Where lanes load nothing.
    guards: Vec<Guard>,
    /// Is it an element of the operand, in each lane? `None`: it is.
    exists: Option<Value>,
}

/// The lanes of a block of neighbours. The last block ends with the last neighbour: those that the block before it has are not stored
/// again.
pub(super) struct Block {
    /// The first neighbour.
    pub(super) first: Affine,
    pub(super) stored: Vec<Guard>,
}

impl Kernels<'_> {
    /// The lanes for so many neighbours among some outputs: several registers, which hide how long a step takes, as long as every
    /// thread has a block of them.
    pub(super) fn beside(&self, neighbours: i64, outputs: i64) -> i64 {
        /// Registers that are joined side by side.
        const REGISTERS: i64 = 4;
        let widest = self.widest();
        let share = (outputs / self.threads()).max(widest);
        1 << neighbours.min(REGISTERS * widest).min(share).max(1).ilog2()
    }

    /// Reductions of windows, in order.
    pub(super) fn reduce_window_in_order(
        &mut self,
        window: &Window,
        (operands, inits): (&[Var], &[Var]),
        shape: &[i64],
        out: &[i64],
    ) -> Lowered<()> {
        if elements(out)? == 0 {
            return Ok(());
        }
        let joins = Joins { operands, targets: self.call.targets, join: &self.call.regions[0] };
        let windows = self.windows(joins, window, shape, out);
        let all_elements = out.iter().chain(&windows.sizes).fold(8i64, |n, &size| n.saturating_mul(size));
        let work = all_elements.saturating_mul(operands.len() as i64);
        let lines = Lines::of(window, shape);
        let Some(lines) = lines else {
            let tasks = self.tasks(work, elements(&windows.blocks())?);
            return self.of_tasks(tasks, |maker, share| {
                let first = maker.initial(inits)?;
                windows.make(maker, share, &first)
            });
        };
        let way = self.way(&lines);
        let tasks = self.tasks(lines.work(operands.len())?, lines.parts(&way));
        let widest = self.widest();
        self.of_tasks(tasks, |maker, share| {
            let first = maker.initial(inits)?;
            let Some(stays) = maker.stays(joins.join, &first)? else { return Ok(()) };
            maker.b.open_if(stays);
            lines.make(maker, share, (&joins, &first), (way, widest))?;
            maker.b.open_else(&[]);
            windows.make(maker, share, &first)?;
            maker.b.close_if(&[]);
            Ok(())
        })
    }

    fn windows<'a>(
        &self,
        joins: Joins<'a>,
        window: &'a Window,
        shape: &'a [i64],
        out: &'a [i64],
    ) -> Windows<'a> {
        /// Fewer windows do not lie in lanes.
        const FEW: i64 = 4;
        let axis = (0..out.len()).rev().find(|&axis| out[axis] != 1);
        let fits = |axis: &usize| out[*axis] >= FEW && window.base_dilations[*axis] == 1;
        let axis = axis.filter(fits).filter(|_| self.widest() > 1 && !shape.contains(&0));
        let beside =
            axis.map(|axis| Beside { axis, lanes: self.beside(out[axis], out.iter().product::<i64>()) });
        Windows { joins, window, shape, out, sizes: signed(&window.sizes), beside }
    }
}

impl Maker<'_> {
    /// The initial values.
    fn initial(&mut self, inits: &[Var]) -> Lowered<Vec<Value>> {
        let mut first = Vec::new();
        for &init in inits {
            let mem = self.memory(Tensor::Var(init), Access::Read)?;
            let ty = Type::scalar(self.call.function.ty(init).dtype);
            first.push(self.b.load(Place::new(mem, 0), ty));
        }
        Ok(first)
    }

    /// Are the initial values, joined with themselves, what they were? `None`: there are none.
    fn stays(&mut self, join: &Region, first: &[Value]) -> Lowered<Option<Value>> {
        let twice: Vec<Value> = first.iter().chain(first).copied().collect();
        let joined = self.apply(join, &twice)?;
        let same = first.iter().zip(joined).map(|(&x, y)| self.has_same_bits(x, y)).collect();
        Ok(all(self, same))
    }

    /// Has a value the bits of another one?
    fn has_same_bits(&mut self, x: Value, y: Value) -> Value {
        let ty = self.b.ty(x);
        if !ty.dtype.is_float() {
            return self.compare(BinaryOp::Eq, x, y);
        }
        let bits = match ty.dtype.size() {
            1 => DType::U8,
            2 => DType::U16,
            4 => DType::U32,
            _ => DType::U64,
        };
        let [x, y] = [x, y].map(|value| self.b.pure(Op::Bitcast(value), ty.with(bits)));
        self.compare(BinaryOp::Eq, x, y)
    }

    /// The block of a number, of so many neighbours in lanes.
    pub(super) fn block(&mut self, number: &Affine, neighbours: i64, lanes: i64) -> Lowered<Block> {
        let first = number.times(lanes).ok_or_else(overflow)?;
        if neighbours % lanes == 0 {
            return Ok(Block { first, stored: Vec::new() });
        }
        let begin = self.b.index(first.clone(), Type::index());
        let last = self.b.splat(Scalar::from_i128(DType::I64, (neighbours - lanes).into()), 1);
        let begin = Affine::from(self.b.binary(BinaryOp::Min, begin, last));
        let own =
            begin.plus(&first, -1).and_then(|own| own.plus(&Affine::lane(1), 1)).ok_or_else(overflow)?;
        Ok(Block { first: begin, stored: vec![Guard { expr: own, bound: lanes.into() }] })
    }

    /// Values in so many lanes.
    pub(super) fn in_lanes(&mut self, values: &[Value], lanes: i64) -> Vec<Value> {
        values.iter().map(|&value| self.b.broadcast(value, lanes as usize)).collect()
    }
}

impl Joins<'_> {
    /// Stores results there.
    pub(super) fn store(
        &self,
        maker: &mut Maker<'_>,
        at: &Affine,
        stored: &[Guard],
        values: &[Value],
    ) -> Lowered<()> {
        for (&target, &value) in self.targets.iter().zip(values) {
            let mem = maker.memory(Tensor::Var(target), Access::ReadWrite)?;
            maker.b.store(Place { guards: stored.to_vec(), ..Place::new(mem, at.clone()) }, value);
        }
        Ok(())
    }

    /// What a function makes of two elements, in so many lanes.
    pub(super) fn joined(
        &self,
        maker: &mut Maker<'_>,
        arguments: &[Value],
        lanes: i64,
    ) -> Lowered<Vec<Value>> {
        let joined = maker.apply(self.join, arguments)?;
        Ok(maker.in_lanes(&joined, lanes))
    }
}

/// Does a scalar function consist of operations of few instructions?
fn is_arithmetic(function: &Function, region: &Region) -> bool {
    use UnaryOp::{Abs, Ceil, Floor, Neg, Not, RoundEven, Sign, Sqrt};
    let roots = region.body.statements.iter().filter_map(|statement| match statement.kind {
        StatementKind::Store { field, .. } => Some(field),
        _ => None,
    });
    let all = function.fields.reachable(&roots.collect::<Vec<_>>());
    all.into_iter().all(|id| match function.fields[id].kind {
        FieldKind::Unary { op, .. } => {
            matches!(op, Abs | Ceil | Floor | Neg | Not | RoundEven | Sign | Sqrt)
        }
        FieldKind::Binary { op, .. } => !matches!(op, BinaryOp::Pow | BinaryOp::Atan2 | BinaryOp::Rem),
        _ => true,
    })
}

impl Windows<'_> {
    /// How many windows there are along each axis, those in lanes as one.
    fn blocks(&self) -> Vec<i64> {
        let mut blocks = self.out.to_vec();
        if let Some(Beside { axis, lanes }) = self.beside {
            blocks[axis] = (blocks[axis] - 1) / lanes + 1;
        }
        blocks
    }

    /// The first axis of windows whose elements are written out where the function takes few instructions: then it is known which
    /// elements are loaded from where, and vectors of those that lie apart are picked from runs.
    fn unrolled(&self, function: &Function) -> usize {
        const WRITTEN_OUT: i64 = 16;
        let rank = self.sizes.len();
        if !is_arithmetic(function, self.joins.join) {
            return rank;
        }
        let is_short = |&axis: &usize| {
            let all = self.sizes[axis..].iter().try_fold(1i64, |n, &size| n.checked_mul(size));
            all.is_some_and(|n| n <= WRITTEN_OUT)
        };
        (0..rank).find(is_short).unwrap_or(rank)
    }

    /// The windows along an axis of which this element exists, where it is known which of them they are.
    fn existing(&self, axis: usize, element: &Affine) -> Option<Range<i64>> {
        let [stride, dilation] =
            [&self.window.strides, &self.window.window_dilations].map(|all| all[axis] as i64);
        let further =
            element.as_constant()?.checked_mul(dilation)?.checked_sub(self.window.padding[axis].0)?;
        let up = |n: i64| n.checked_add(stride - 1).map(|n| n.div_euclid(stride));
        Some(up(further.checked_neg()?)?..up(self.shape[axis].checked_sub(further)?)?)
    }

    /// Joins the elements of each window, from the initial values on.
    fn make(&self, maker: &mut Maker<'_>, share: Share, first: &[Value]) -> Lowered<()> {
        let Joins { operands, .. } = self.joins;
        let lanes = self.beside.map_or(1, |beside| beside.lanes);
        let blocks = self.blocks();
        let mine = maker.open_share(share, elements(&blocks)?)?;
        let mut windows = maker.digits(mine, &blocks)?;
        let mut stored = Vec::new();
        if let Some(Beside { axis, lanes }) = self.beside {
            let block = maker.block(&windows[axis], self.out[axis], lanes)?;
            let lane = if lanes > 1 { Affine::lane(1) } else { 0.into() };
            windows[axis] = block.first.plus(&lane, 1).ok_or_else(overflow)?;
            stored = block.stored;
        }
        let first = maker.in_lanes(first, lanes);
        let elements = Elements { sizes: &self.sizes, unrolled: self.unrolled(maker.call.function) };
        let values = elements.each(maker, first.clone(), &mut |maker, element, carried| {
            let mut arguments = carried;
            if self.shape.contains(&0) {
                arguments.extend(&first);
                return self.joins.joined(maker, &arguments, lanes);
            }
            let Element { place, guards, exists } = self.find(maker, &windows, element)?;
            for (&operand, &init) in operands.iter().zip(&first) {
                let mem = maker.memory(Tensor::Var(operand), Access::Read)?;
                let from = Place { guards: guards.clone(), ..Place::new(mem, place.clone()) };
                let value = maker.b.load(from, maker.b.ty(init));
                arguments.push(match exists {
                    Some(exists) => maker.b.select(exists, value, init),
                    None => value,
                });
            }
            self.joins.joined(maker, &arguments, lanes)
        })?;
        let to = element_at(&windows, &strides(self.out).ok_or_else(overflow)?)?;
        self.joins.store(maker, &to, &stored, &values)?;
        maker.b.close_for(&[]);
        Ok(())
    }

    /// Where an element of windows is. Where all lanes are outside of the operand or none is, another element is loaded in its stead,
    /// since a branch would take longer.
    fn find(&self, maker: &mut Maker<'_>, windows: &[Affine], element: &[Affine]) -> Lowered<Element> {
        let (mut position, mut guards, mut exists) = (Vec::new(), Vec::new(), Vec::new());
        let lanes = self.beside.map_or(1, |beside| beside.lanes as usize);
        for (axis, (number, element)) in windows.iter().zip(element).enumerate() {
            let steps = [&self.window.strides, &self.window.window_dilations, &self.window.base_dilations];
            let [stride, dilation, base] = steps.map(|all| all[axis] as i64);
            let low = Affine::from(self.window.padding[axis].0);
            let at = number.times(stride).and_then(|at| at.plus(element, dilation));
            let mut at = at.and_then(|at| at.plus(&low, -1)).ok_or_else(overflow)?;
            let int =
                |maker: &mut Maker<'_>, n: i64| maker.b.splat(Scalar::from_i128(DType::I64, n.into()), 1);
            if base != 1 {
                // What is left of a negative number is negative too.
                let place = maker.b.index(at, Type::index());
                let (by, zero) = (int(maker, base), int(maker, 0));
                let rest = maker.b.binary(BinaryOp::Rem, place, by);
                let is_element = maker.compare(BinaryOp::Eq, rest, zero);
                exists.push(maker.b.broadcast(is_element, lanes));
                at = maker.b.binary(BinaryOp::Div, place, by).into();
            }
            if base != 1 || !self.is_inside(axis) {
                let mut guard = Guard { expr: at.clone(), bound: self.shape[axis].into() };
                if at.lane != 0 {
                    if let Some(known) = self.existing(axis, element).filter(|_| stride > 1) {
                        let from_first = number.plus(&known.start.into(), -1).ok_or_else(overflow)?;
                        guard = Guard { expr: from_first, bound: (known.end - known.start).into() };
                    }
                    exists.push(maker.b.holds(vec![guard.clone()], lanes));
                    guards.push(guard);
                } else {
                    let is_inside = maker.b.holds(vec![guard], 1);
                    exists.push(maker.b.broadcast(is_inside, lanes));
                    let (zero, last) = (int(maker, 0), int(maker, self.shape[axis] - 1));
                    let place = maker.b.index(at, Type::index());
                    let place = maker.b.binary(BinaryOp::Max, place, zero);
                    at = maker.b.binary(BinaryOp::Min, place, last).into();
                }
            }
            position.push(at);
        }
        let place = element_at(&position, &strides(self.shape).ok_or_else(overflow)?)?;
        Ok(Element { place, guards, exists: all(maker, exists) })
    }

    /// Are all elements of all windows along an axis in the operand, whose elements lie side by side?
    fn is_inside(&self, axis: usize) -> bool {
        let reach = |windows: i64, by: &[u64]| (windows - 1).checked_mul(by[axis] as i64);
        let last = reach(self.out[axis], &self.window.strides)
            .zip(reach(self.sizes[axis], &self.window.window_dilations))
            .and_then(|(first, further)| {
                first.checked_add(further)?.checked_sub(self.window.padding[axis].0)
            });
        self.window.padding[axis].0 <= 0 && last.is_some_and(|last| last < self.shape[axis])
    }
}
