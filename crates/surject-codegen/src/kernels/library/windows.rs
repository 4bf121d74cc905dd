//! Operations that slide a window: reductions of windows with a function of their own, and select-and-scatter. Windows
//! that are the whole line before an element, or after it, are scans.

use super::moves::all;
use super::points::{Maker, elements};
use super::shared::{buffers, each, load, open_threads, store};
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::kernels::expression::Tensor;
use surject_ir::{BinaryOp, Var, Window};
use surject_kernel::{Affine, Level, LoopKind, Op, Value};

/// Where an element of a window lies in the operand, and whether there is one: not in the padding and in holes.
pub(super) struct Found {
    pub(super) exists: Option<Value>,
    /// The number of the element, anything where there is none.
    pub(super) element: Value,
}

/// Where element `element` of window `at` lies in a tensor of these sizes.
pub(super) fn find(
    maker: &mut Maker<'_>,
    window: &Window,
    shape: &[i64],
    at: &[Value],
    element: &[Value],
) -> Found {
    let zero = maker.int(0);
    let (mut exists, mut position) = (Vec::new(), Vec::new());
    for (axis, &size) in shape.iter().enumerate() {
        let start = maker.scaled(at[axis], window.strides[axis] as i64);
        let step = maker.scaled(element[axis], window.window_dilations[axis] as i64);
        let padding = maker.int(window.padding[axis].0);
        let reached = maker.add(start, step);
        let place = maker.sub(reached, padding);
        exists.push(maker.compare(BinaryOp::Ge, place, zero));
        let base = window.base_dilations[axis] as i64;
        let mut place = maker.b.binary(BinaryOp::Max, place, zero);
        if base > 1 {
            let rest = maker.remainder(place, base);
            exists.push(maker.compare(BinaryOp::Eq, rest, zero));
            place = maker.quotient(place, base);
        }
        let size = maker.int(size);
        exists.push(maker.compare(BinaryOp::Lt, place, size));
        position.push(place);
    }
    let element = maker.ravel(&position, shape);
    Found { exists: all(maker, exists), element }
}

/// Lines of windows: along which axis, and whether they go from their element to the end.
pub(super) struct Line {
    pub(super) axis: usize,
    pub(super) from_the_end: bool,
}

pub(super) fn signed(sizes: &[u64]) -> Vec<i64> {
    sizes.iter().map(|&n| n as i64).collect()
}

/// The position of an element in a window, and what is carried from one to the next.
type OfElement<'a> = dyn FnMut(&mut Maker<'_>, &[Affine], Vec<Value>) -> Lowered<Vec<Value>> + 'a;

/// Makes the kernel for the elements of windows, in row-major order: those of axes from `unrolled` on are written out, and loops run
/// over the others.
pub(super) struct Elements<'a> {
    pub(super) sizes: &'a [i64],
    pub(super) unrolled: usize,
}

impl Elements<'_> {
    /// What is carried behind the last element.
    pub(super) fn each(
        &self,
        maker: &mut Maker<'_>,
        state: Vec<Value>,
        body: &mut OfElement<'_>,
    ) -> Lowered<Vec<Value>> {
        self.along_axes(maker, &mut Vec::new(), state, body)
    }

    fn along_axes(
        &self,
        maker: &mut Maker<'_>,
        element: &mut Vec<Affine>,
        state: Vec<Value>,
        body: &mut OfElement<'_>,
    ) -> Lowered<Vec<Value>> {
        let axis = element.len();
        let Some(&size) = self.sizes.get(axis) else { return body(maker, element, state) };
        let mut state = state;
        if axis >= self.unrolled || size == 1 {
            for at in 0..size {
                element.push(at.into());
                state = self.along_axes(maker, element, state, body)?;
                element.pop();
            }
            return Ok(state);
        }
        let (at, carried) = maker.b.open_for(0, size, 1, LoopKind::Serial, &state);
        element.push(at.into());
        let next = self.along_axes(maker, element, carried, body)?;
        element.pop();
        Ok(maker.b.close_for(&next))
    }
}

impl Kernels<'_> {
    /// Padding and holes take part with the initial values.
    pub(super) fn reduce_window(&mut self, window: &Window) -> Lowered<()> {
        let n = self.call.args.len() / 2;
        let (operands, inits) = self.call.args.split_at(n);
        let targets = self.call.targets;
        let (shape, out) = (self.shape(operands[0])?, self.shape(targets[0])?);
        let sizes = signed(&window.sizes);
        let is_empty = elements(&shape)? == 0;
        let is_real = |v: &Var| !self.call.function.ty(*v).dtype.is_complex();
        if operands.iter().all(is_real) {
            if self.has_tasks() {
                return self.reduce_window_in_order(window, (operands, inits), &shape, &out);
            }
            if let Some(line) = self.line(window, &shape).filter(|_| !is_empty) {
                return self.scan_lines(&line, (operands, inits), &shape);
            }
        }
        let join = &self.call.regions[0];
        self.kernel(elements(&out)?, |maker, point| {
            let zero = maker.int(0);
            let first = maker.read_all(inits, zero)?;
            let at = maker.unravel(point, &out);
            let values = maker.fold(elements(&sizes)?, &first, |maker, number, old| {
                let mut arguments = old.to_vec();
                if is_empty {
                    arguments.extend(&first);
                    return maker.apply(join, &arguments);
                }
                let element = maker.unravel(number, &sizes);
                let found = find(maker, window, &shape, &at, &element);
                let mut inits = first.iter();
                for &operand in operands {
                    for part in maker.parts(operand) {
                        let at = maker.part(found.element, part);
                        arguments.push(match (found.exists, inits.next()) {
                            (Some(exists), Some(&init)) => {
                                let value = maker.read_if(exists, Tensor::Var(operand), at)?;
                                maker.b.select(exists, value, init)
                            }
                            _ => maker.read(Tensor::Var(operand), at)?,
                        });
                    }
                }
                maker.apply(join, &arguments)
            })?;
            maker.write_all(targets, point, &values)
        })
    }

    /// The axis along which every window is a line up to its element, or from it on.
    fn line(&self, window: &Window, shape: &[i64]) -> Option<Line> {
        /// Elements of a line: fewer are found sooner one by one; and the bytes of its four buffers.
        const FEW: i64 = 64;
        const BYTES: i64 = 48 << 10;
        let plain = |all: &[u64]| all.iter().all(|&n| n == 1);
        if !(plain(&window.strides) && plain(&window.base_dilations) && plain(&window.window_dilations)) {
            return None;
        }
        let mut wide = (0..shape.len()).filter(|&a| window.sizes[a] != 1 || window.padding[a] != (0, 0));
        let (Some(axis), None) = (wide.next(), wide.next()) else { return None };
        let n = shape[axis];
        let from_the_end = match window.padding[axis] {
            (before, 0) if before == n - 1 => false,
            (0, after) if after == n - 1 => true,
            _ => return None,
        };
        let dtypes = self.call.targets.iter().map(|&t| self.call.function.ty(t).dtype.size() as i64);
        let fits = n >= FEW && n.checked_mul(4 * dtypes.sum::<i64>()).is_some_and(|bytes| bytes <= BYTES);
        (fits && window.sizes[axis] as i64 == n).then_some(Line { axis, from_the_end })
    }

    /// Every line is a block, in which every element joins twice as many before it in each step. Padding takes part with
    /// the initial values, as often as there is padding: the function need only be associative.
    /// It is long because it is one kernel, whose parts share threads and memory.
    fn scan_lines(&mut self, line: &Line, (operands, inits): (&[Var], &[Var]), shape: &[i64]) -> Lowered<()> {
        let n = shape[line.axis];
        let step = elements(&shape[line.axis + 1..])?.max(1);
        let targets: Vec<Tensor> = self.call.targets.iter().copied().map(Tensor::Var).collect();
        let join = &self.call.regions[0];
        if elements(shape)? == 0 {
            return Ok(());
        }
        self.blocks(elements(shape)? / n, |maker, block| {
            let (outer, inner) = (maker.quotient(block, step), maker.remainder(block, step));
            let first = maker.scaled(outer, n * step);
            let first = maker.add(first, inner);
            // Lines of elements, and of initial values.
            let mut now = [buffers(maker, &targets, n)?, buffers(maker, &targets, n)?];
            let mut next = [buffers(maker, &targets, n)?, buffers(maker, &targets, n)?];
            let thread = open_threads(maker);
            let zero = maker.int(0);
            let mut start = Vec::new();
            for &init in inits {
                start.push(maker.read(Tensor::Var(init), zero)?);
            }
            each(maker, thread, (n, None), |maker, at| {
                let place = maker.scaled(at, step);
                let place = maker.add(first, place);
                for (i, &operand) in operands.iter().enumerate() {
                    let value = maker.read(Tensor::Var(operand), place)?;
                    store(maker, now[0][i], at, value);
                    store(maker, now[1][i], at, start[i]);
                }
                Ok(())
            })?;
            let mut distance = 1;
            while distance < n {
                maker.b.effect(Op::Barrier(Level::Block));
                each(maker, thread, (n, None), |maker, at| {
                    for (side, (now, next)) in now.iter().zip(&next).enumerate() {
                        let backwards = side == 0 && line.from_the_end;
                        let by = maker.int(if backwards { distance } else { -distance });
                        let other = maker.add(at, by);
                        let (zero, end) = (maker.int(0), maker.int(n));
                        let exists = maker.within(other, zero, end);
                        let own: Vec<Value> = now.iter().map(|&mem| load(maker, mem, at)).collect();
                        let joined = maker.when(exists, &own, |maker| {
                            let mut others: Vec<Value> =
                                now.iter().map(|&mem| load(maker, mem, other)).collect();
                            let mut own = own.clone();
                            if backwards {
                                std::mem::swap(&mut others, &mut own);
                            }
                            others.extend(own);
                            maker.apply(join, &others)
                        })?;
                        joined.into_iter().zip(next).for_each(|(value, &mem)| store(maker, mem, at, value));
                    }
                    Ok(())
                })?;
                std::mem::swap(&mut now, &mut next);
                distance *= 2;
            }
            maker.b.effect(Op::Barrier(Level::Block));
            each(maker, thread, (n, None), |maker, at| {
                let own: Vec<Value> = now[0].iter().map(|&mem| load(maker, mem, at)).collect();
                let with = |maker: &mut Maker<'_>, mut left: Vec<Value>, right: Vec<Value>| {
                    left.extend(right);
                    maker.apply(join, &left)
                };
                let joined = if line.from_the_end {
                    let joined = with(maker, start.clone(), own)?;
                    let one = maker.int(1);
                    let before = maker.sub(at, one);
                    let exists = maker.compare(BinaryOp::Ge, before, zero);
                    maker.when(exists, &joined, |maker| {
                        let padding = now[1].iter().map(|&mem| load(maker, mem, before)).collect();
                        with(maker, joined.clone(), padding)
                    })?
                } else {
                    let last = maker.int(n - 1);
                    let back = maker.sub(last, at);
                    let padding = now[1].iter().map(|&mem| load(maker, mem, back)).collect();
                    with(maker, padding, own)?
                };
                let place = maker.scaled(at, step);
                let place = maker.add(first, place);
                targets.iter().zip(joined).try_for_each(|(&target, value)| maker.write(target, place, value))
            })
        })
    }

    /// Every element of the result asks the windows around it, in their order, whether they select it.
    pub(super) fn select_and_scatter(&mut self, window: &Window) -> Lowered<()> {
        if self.has_tasks() {
            return self.select_and_scatter_in_order(window);
        }
        if self.call.function.ty(self.call.targets[0]).dtype.is_complex() {
            return Err(CodegenError::unsupported("a selection of complex numbers on threads"));
        }
        let [operand, source, init] = [0, 1, 2].map(|i| Tensor::Var(self.call.args[i]));
        let target = Tensor::Var(self.call.targets[0]);
        let (shape, windows) = (self.sizes(operand)?, self.sizes(source)?);
        let sizes = signed(&window.sizes);
        // No more windows than these along an axis have an element.
        let around: Vec<i64> = sizes
            .iter()
            .zip(&window.strides)
            .map(|(&size, &stride)| (size - 1) / stride as i64 + 1)
            .collect();
        let (select, scatter) = (&self.call.regions[0], &self.call.regions[1]);
        let has_source = elements(&windows)? > 0;
        self.kernel(elements(&shape)?, |maker, point| {
            let zero = maker.int(0);
            let first = maker.read(init, zero)?;
            if !has_source {
                return maker.write(target, point, first);
            }
            let here = maker.unravel(point, &shape);
            let joined = maker.fold(elements(&around)?, &[first], |maker, number, old| {
                let back = maker.unravel(number, &around);
                let (mut at, mut inside) = (Vec::new(), Vec::new());
                for (axis, &place) in here.iter().enumerate() {
                    let padding = maker.int(window.padding[axis].0);
                    let padded = maker.add(place, padding);
                    let stride = maker.int(window.strides[axis] as i64);
                    let last = maker.b.binary(BinaryOp::Div, padded, stride);
                    let earlier = maker.int(around[axis] - 1);
                    let earliest = maker.sub(last, earlier);
                    let number = maker.add(earliest, back[axis]);
                    let count = maker.int(windows[axis]);
                    inside.push(maker.within(number, zero, count));
                    let start = maker.scaled(number, window.strides[axis] as i64);
                    let size = maker.int(sizes[axis]);
                    let end = maker.add(start, size);
                    inside.push(maker.within(padded, start, end));
                    at.push(number);
                }
                let chosen = |maker: &mut Maker<'_>| {
                    let selected = selected(maker, window, (operand, &shape), &at, select)?;
                    let is_here = maker.compare(BinaryOp::Eq, selected, point);
                    maker.when(is_here, old, |maker| {
                        let number = maker.ravel(&at, &windows);
                        let value = maker.read(source, number)?;
                        maker.apply(scatter, &[old[0], value])
                    })
                };
                match all(maker, inside) {
                    Some(inside) => maker.when(inside, old, chosen),
                    None => chosen(maker),
                }
            })?;
            maker.write(target, point, joined[0])
        })
    }
}

/// The number of the element that a window selects; -1 where all of it is padding.
fn selected(
    maker: &mut Maker<'_>,
    window: &Window,
    (operand, shape): (Tensor, &[i64]),
    at: &[Value],
    select: &surject_ir::Region,
) -> Lowered<Value> {
    let sizes = signed(&window.sizes);
    let (none, zero) = (maker.int(-1), maker.int(0));
    let start = maker.read(operand, zero)?;
    let best = maker.fold(elements(&sizes)?, &[none, start], |maker, number, old| {
        let element = maker.unravel(number, &sizes);
        let found = find(maker, window, shape, at, &element);
        let next = |maker: &mut Maker<'_>| {
            let value = maker.read(operand, found.element)?;
            let keep = maker.apply(select, &[old[1], value])?;
            let keep = keep.first().copied().unwrap_or(none);
            let has = maker.compare(BinaryOp::Ge, old[0], zero);
            let keep = maker.and(has, keep);
            Ok(vec![maker.b.select(keep, old[0], found.element), maker.b.select(keep, old[1], value)])
        };
        match found.exists {
            Some(exists) => maker.when(exists, old, next),
            None => next(maker),
        }
    })?;
    Ok(best[0])
}
