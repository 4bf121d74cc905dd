//! Scatters, select-and-scatters and scans on machines of few tasks: updates are joined one after the other in memory, which
//! takes as many steps as there are updates.

use super::moves::all;
use super::points::{Maker, elements};
use super::scatter::Scatter;
use super::windows::{find, signed};
use super::{Kernels, Lowered};
use crate::CodegenError;
use crate::expression::gather::strides;
use crate::kernels::expression::Tensor;
use crate::kernels::library::windows::Line;
use crate::kernels::machine::Spread;
use surject_ir::{BinaryOp, DType, Scalar, Var, Window};
use surject_kernel::{Access, Affine, Guard, LoopKind, Op, Place, Space, Type, Value};

pub(super) fn overflow() -> CodegenError {
    CodegenError::overflow("a position")
}

/// Neighbours in vectors of one width.
#[derive(Clone, Copy)]
pub(super) struct Vectors {
    /// The lanes of each.
    pub(super) lanes: i64,
    /// The first neighbour.
    pub(super) first: i64,
    /// How many vectors there are.
    pub(super) count: i64,
}

impl Vectors {
    /// One element.
    const ONE: Vectors = Vectors { lanes: 1, first: 0, count: 1 };
}

/// So many neighbours in vectors.
pub(super) fn pieces(count: i64, widest: i64) -> Vec<Vectors> {
    let mut found = Vec::new();
    let (mut first, mut lanes) = (0, widest.max(1));
    while lanes > 0 {
        let vectors = (count - first) / lanes;
        if vectors > 0 {
            found.push(Vectors { lanes, first, count: vectors });
            first += vectors * lanes;
        }
        lanes /= 2;
    }
    found
}

/// The lanes of a vector, from its first element on.
fn lanes_from(first: Affine, lanes: i64) -> Option<Affine> {
    if lanes == 1 { Some(first) } else { first.plus(&Affine::lane(1), 1) }
}

impl Kernels<'_> {
    /// Are updates joined one after the other?
    pub(super) fn is_in_order(&self) -> bool {
        matches!(self.machine.spread(), Spread::Tasks { .. })
    }

    /// The lanes in which elements of the results are computed.
    pub(super) fn widest(&self) -> i64 {
        let sizes = self.call.targets.iter().map(|&t| self.call.function.ty(t).dtype.size());
        let bytes = sizes.max().unwrap_or(1).max(4);
        (self.machine.vector_bytes() / bytes).max(1) as i64
    }

    /// Makes the kernel of one task.
    fn task(&mut self, body: impl FnOnce(&mut Maker<'_>) -> Lowered<()>) -> Lowered<()> {
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        body(&mut maker)?;
        self.launches.push(maker.finish());
        Ok(())
    }

    /// Fills tensors of the same sizes, from others or with an element each.
    fn filled(&mut self, to: &[Var], from: &[Var], count: i64) -> Lowered<()> {
        let widest = (self.widest() * 4).min(64);
        for Vectors { lanes, first, count: vectors } in pieces(count, widest) {
            let name = format!("{}_{}", self.name, self.launches.len());
            let mut maker = Maker::new(self.call, &self.temporaries, name);
            let number = maker.open_vectors(self.machine.spread(), vectors, lanes)?;
            let at = maker.wide_position(number).times(lanes).and_then(|at| at.plus(&first.into(), 1));
            let at = at.and_then(|at| lanes_from(at, lanes)).ok_or_else(overflow)?;
            for (&to, &from) in to.iter().zip(from) {
                let one = self.call.function.ty(from).space.rank() == 0;
                let source = maker.memory(Tensor::Var(from), Access::Read)?;
                let dtype = self.call.function.ty(from).dtype;
                let value = match one {
                    true => {
                        let value = maker.b.load(Place::new(source, 0), Type::scalar(dtype));
                        maker.b.broadcast(value, lanes as usize)
                    }
                    false => {
                        maker.b.load(Place::new(source, at.clone()), Type::vector(dtype, lanes as usize))
                    }
                };
                let target = maker.memory(Tensor::Var(to), Access::Write)?;
                maker.b.store(Place::new(target, at.clone()), value);
            }
            self.launches.push(maker.finish());
        }
        Ok(())
    }

    /// Copies the inputs, and joins the updates in their order.
    pub(super) fn scatter_in_order(&mut self, scatter: &Scatter<'_>) -> Lowered<()> {
        let (targets, inputs) = (self.call.targets, scatter.inputs);
        self.filled(targets, inputs, elements(&scatter.shape)?)?;
        if elements(&scatter.shape)? == 0 || elements(&scatter.update_shape)? == 0 {
            return Ok(());
        }
        let widest = self.widest();
        let batch_shape: Vec<i64> = scatter.batch_dims.iter().map(|&d| scatter.update_shape[d]).collect();
        let window: Vec<i64> =
            scatter.dims.update_window_dims.iter().map(|&d| scatter.update_shape[d]).collect();
        // Windows are inside or outside as a whole, but for those that may overlap in parts.
        let whole = scatter.places().is_some();
        let next = whole
            && !window.is_empty()
            && scatter.window_dims.last() == scatter.shape.len().checked_sub(1).as_ref()
            && scatter.dims.update_window_dims.last() == scatter.update_shape.len().checked_sub(1).as_ref();
        let batches = elements(&batch_shape)?;
        self.task(|maker| {
            maker
                .fold(batches, &[], |maker, number, _| {
                    let batch = maker.unravel(number, &batch_shape);
                    let start = scatter.start(maker, &batch)?;
                    let zero = maker.int(0);
                    let mut first = vec![zero; scatter.update_shape.len()];
                    scatter.batch_dims.iter().zip(&batch).for_each(|(&d, &at)| first[d] = at);
                    let (target, update) =
                        (maker.ravel(&start, &scatter.shape), maker.ravel(&first, &scatter.update_shape));
                    let mut inside = Vec::new();
                    if whole {
                        for (axis, &size) in scatter.shape.iter().enumerate() {
                            let end = maker.int(size - scatter.window(axis) + 1);
                            inside.push(maker.within(start[axis], zero, end));
                        }
                    }
                    let windows = |maker: &mut Maker<'_>| -> Lowered<Vec<Value>> {
                        let lines = if next { &window[..window.len() - 1] } else { &window[..] };
                        let mut place = Vec::new();
                        for &size in lines {
                            place.push(maker.b.open_for(0, size, 1, LoopKind::Serial, &[]).0);
                        }
                        let vectors =
                            if next { pieces(window[window.len() - 1], widest) } else { vec![Vectors::ONE] };
                        for Vectors { lanes, first, count } in vectors {
                            let (vector, _) = maker.b.open_for(0, count, 1, LoopKind::Serial, &[]);
                            let own =
                                Affine::from(vector).times(lanes).and_then(|o| o.plus(&first.into(), 1));
                            let mut own: Vec<Affine> = own.into_iter().filter(|_| next).collect();
                            let mut position: Vec<Affine> = place.iter().map(|&p| p.into()).collect();
                            position.append(&mut own);
                            let part = WindowPart { start: &start, position: &position, lanes, whole };
                            scatter.join_vector(maker, targets, (target, update), &part)?;
                            maker.b.close_for(&[]);
                        }
                        place.iter().for_each(|_| _ = maker.b.close_for(&[]));
                        Ok(Vec::new())
                    };
                    match all(maker, inside) {
                        Some(inside) => maker.when(inside, &[], windows),
                        None => windows(maker),
                    }
                })
                .map(|_| ())
        })
    }

    /// The targets begin with the initial value; then every window, in order, joins its source to the element it selects.
    pub(super) fn select_and_scatter_in_order(&mut self, window: &Window) -> Lowered<()> {
        let (operand, source, init) = (self.call.args[0], self.call.args[1], self.call.args[2]);
        let target = self.call.targets[0];
        let (shape, windows) = (self.sizes(Tensor::Var(operand))?, self.sizes(Tensor::Var(source))?);
        let sizes = signed(&window.sizes);
        self.filled(&[target], &[init], elements(&shape)?)?;
        if elements(&windows)? == 0 || elements(&shape)? == 0 {
            return Ok(());
        }
        let last = shape.len().saturating_sub(1);
        let plain = !shape.is_empty()
            && sizes[last] == 1
            && [&window.strides, &window.base_dilations, &window.window_dilations]
                .iter()
                .all(|d| d[last] == 1)
            && window.padding[last] == (0, 0);
        let (lines, vectors) = match plain {
            true => (&windows[..last], pieces(windows[last], self.widest())),
            false => (&windows[..], vec![Vectors::ONE]),
        };
        let count = elements(lines)?;
        self.task(|maker| {
            maker
                .fold(count, &[], |maker, number, _| {
                    let at = maker.unravel(number, lines);
                    for &Vectors { lanes, first, count: vectors } in &vectors {
                        maker.fold(vectors, &[], |maker, vector, _| {
                            let mut at = at.clone();
                            if plain {
                                let (own, first) = (maker.scaled(vector, lanes), maker.int(first));
                                at.push(maker.add(own, first));
                            }
                            maker.select_and_join(
                                window,
                                (operand, &shape),
                                (source, &windows),
                                &at,
                                (target, lanes),
                            )?;
                            Ok(Vec::new())
                        })?;
                    }
                    Ok(Vec::new())
                })
                .map(|_| ())
        })
    }

    /// Lines of windows that grow: a running value takes one step for each element, and then the initial values of the padding
    /// come before it, or behind it.
    pub(super) fn grow_in_order(
        &mut self,
        &Line { axis, from_the_end }: &Line,
        (operands, inits): (&[Var], &[Var]),
        shape: &[i64],
    ) -> Lowered<()> {
        /// Vectors of lines side by side: steps of one do not wait for those of another.
        const BESIDE: i64 = 4;
        /// Operations of a step: a function of its own.
        const STEP: i64 = 64;
        let targets = self.call.targets;
        let (n, join) = (shape[axis], &self.call.regions[0]);
        let others: Vec<usize> = (0..shape.len()).filter(|&a| a != axis).collect();
        let step = strides(shape).ok_or_else(overflow)?;
        // Lanes are lines, along the axis whose neighbours are nearest; half of them may be those of another task.
        let widest = self.widest();
        let across = others.iter().copied().rev().find(|&a| shape[a] >= widest);
        let lines = across.map_or(1, |across| shape[across]);
        let half = (lines as u64).div_ceil(2).next_power_of_two() as i64;
        let lanes = across.map_or(1, |_| half.clamp(widest, BESIDE * widest));
        let outer: Vec<usize> = others.into_iter().filter(|&a| Some(a) != across).collect();
        let name = format!("{}_{}", self.name, self.launches.len());
        let mut maker = Maker::new(self.call, &self.temporaries, name);
        let mut sizes: Vec<i64> = outer.iter().map(|&a| shape[a]).collect();
        sizes.push((lines - 1) / lanes + 1);
        let operations = n.saturating_mul(lanes).saturating_mul(STEP);
        let number = maker.open_vectors(self.machine.spread(), elements(&sizes)?, operations)?;
        let place = maker.unravel(number, &sizes);
        let (mut base, mut guards) = (Affine::from(0), Vec::new());
        for (&a, &at) in outer.iter().zip(&place) {
            base = base.plus(&maker.wide_position(at), step[a]).ok_or_else(overflow)?;
        }
        if let (Some(across), Some(&block)) = (across, place.last()) {
            let own = maker.wide_position(block).times(lanes);
            let own = own.and_then(|own| lanes_from(own, lanes)).ok_or_else(overflow)?;
            base = base.plus(&own, step[across]).ok_or_else(overflow)?;
            guards.extend((lines % lanes > 0).then_some(Guard { expr: own, bound: lines.into() }));
        }
        let line = GrowingLine { base, guards, step: step[axis], length: n, from_the_end, lanes };
        maker.growing_line((operands, inits, targets), join, &line)?;
        self.launches.push(maker.finish());
        Ok(())
    }
}

/// A line of windows that grow, or lines side by side in lanes.
struct GrowingLine {
    /// The first element.
    base: Affine,
    /// Which lines exist.
    guards: Vec<Guard>,
    /// The distance from one element to the next, and how many there are.
    step: i64,
    length: i64,
    /// Does it begin at its end?
    from_the_end: bool,
    lanes: i64,
}

impl GrowingLine {
    /// The element at a distance from where the line begins.
    fn element(&self, number: &Affine) -> Option<Affine> {
        let number = match self.from_the_end {
            true => Affine::from(self.length - 1).plus(number, -1)?,
            false => number.clone(),
        };
        self.base.plus(&number, self.step)
    }

    /// Values that come later in a window are behind those that come before, in the order of memory.
    fn in_order(&self, later: Vec<Value>, before: Vec<Value>) -> Vec<Value> {
        match self.from_the_end {
            true => later.into_iter().chain(before).collect(),
            false => before.into_iter().chain(later).collect(),
        }
    }
}

/// A vector of a window of updates.
struct WindowPart<'a> {
    /// Where the window begins, and the position of the vector in it.
    start: &'a [Value],
    position: &'a [Affine],
    lanes: i64,
    /// Is the window inside as a whole?
    whole: bool,
}

impl Scatter<'_> {
    /// Joins a vector of an update with the elements that it names.
    fn join_vector(
        &self,
        maker: &mut Maker<'_>,
        targets: &[Var],
        (target, update): (Value, Value),
        part: &WindowPart<'_>,
    ) -> Lowered<()> {
        let &WindowPart { start, position, lanes, whole } = part;
        let strides = |shape: &[i64]| strides(shape).ok_or_else(overflow);
        let (of_target, of_update) = (strides(&self.shape)?, strides(&self.update_shape)?);
        let (mut in_target, mut in_update) = (Affine::from(0), Affine::from(0));
        let mut inside = Vec::new();
        for (i, at) in position.iter().enumerate() {
            let (axis, d) = (self.window_dims[i], self.dims.update_window_dims[i]);
            in_target = in_target.plus(at, of_target[axis]).ok_or_else(overflow)?;
            in_update = in_update.plus(at, of_update[d]).ok_or_else(overflow)?;
        }
        if !whole {
            let zero = maker.int(0);
            for (axis, &size) in self.shape.iter().enumerate() {
                let end = maker.int(size);
                let own = match self.window_dims.iter().position(|&d| d == axis) {
                    Some(i) => {
                        let own = maker.position(position[i].clone());
                        maker.add(start[axis], own)
                    }
                    None => start[axis],
                };
                inside.push(maker.within(own, zero, end));
            }
        }
        let in_target = lanes_from(in_target, lanes).ok_or_else(overflow)?;
        let in_update = lanes_from(in_update, lanes).ok_or_else(overflow)?;
        let joins = |maker: &mut Maker<'_>| -> Lowered<Vec<Value>> {
            let (mut places, mut arguments) = (Vec::new(), Vec::new());
            for &to in targets {
                let mem = maker.memory(Tensor::Var(to), Access::ReadWrite)?;
                let place = Place { offset: Some(target), ..Place::new(mem, in_target.clone()) };
                let ty = Type::vector(maker.call.function.ty(to).dtype, lanes as usize);
                arguments.push(maker.b.load(place.clone(), ty));
                places.push(place);
            }
            for &from in self.updates {
                let mem = maker.memory(Tensor::Var(from), Access::Read)?;
                let ty = Type::vector(maker.call.function.ty(from).dtype, lanes as usize);
                let place = Place { offset: Some(update), ..Place::new(mem, in_update.clone()) };
                arguments.push(maker.b.load(place, ty));
            }
            let joined = maker.apply(self.join, &arguments)?;
            for (place, value) in places.into_iter().zip(joined) {
                let value = maker.b.broadcast(value, lanes as usize);
                maker.b.store(place, value);
            }
            Ok(Vec::new())
        };
        match all(maker, inside) {
            Some(inside) => maker.when(inside, &[], joins).map(drop),
            None => joins(maker).map(drop),
        }
    }
}

impl Maker<'_> {
    /// Joins the source of a window to the element that it selects, in lanes of windows that are neighbours.
    fn select_and_join(
        &mut self,
        window: &Window,
        (operand, shape): (Var, &[i64]),
        (source, windows): (Var, &[i64]),
        at: &[Value],
        (target, lanes): (Var, i64),
    ) -> Lowered<()> {
        let (select, scatter) = (&self.call.regions[0], &self.call.regions[1]);
        let sizes = signed(&window.sizes);
        let lane = if lanes == 1 { Affine::from(0) } else { Affine::lane(1) };
        let lanes = lanes as usize;
        let integer = self.integer();
        let none = self.b.splat(Scalar::from_i128(integer, -1), lanes);
        let from = self.memory(Tensor::Var(operand), Access::Read)?;
        let ty = Type::vector(self.call.function.ty(operand).dtype, lanes);
        let empty = self.b.splat(Scalar::zero(ty.dtype), lanes);
        let best = self.fold(elements(&sizes)?, &[none, empty], |maker, number, old| {
            let element = maker.unravel(number, &sizes);
            let found = find(maker, window, shape, at, &element);
            let next = |maker: &mut Maker<'_>| {
                let place = Place { offset: Some(found.element), ..Place::new(from, lane.clone()) };
                let value = maker.b.load(place, ty);
                let here = maker.b.broadcast(found.element, lanes);
                let keep = maker.apply(select, &[old[1], value])?;
                let keep = keep.first().copied().ok_or_else(overflow)?;
                let keep = maker.b.broadcast(keep, lanes);
                let zero = maker.b.splat(Scalar::from_i128(integer, 0), lanes);
                let has = maker.compare(BinaryOp::Ge, old[0], zero);
                let keep = maker.and(has, keep);
                Ok(vec![maker.b.select(keep, old[0], here), maker.b.select(keep, old[1], value)])
            };
            match found.exists {
                Some(exists) => maker.when(exists, old, next),
                None => next(maker),
            }
        })?;
        let zero = self.b.splat(Scalar::from_i128(integer, 0), lanes);
        let has = self.compare(BinaryOp::Ge, best[0], zero);
        let to = self.memory(Tensor::Var(target), Access::ReadWrite)?;
        let dtype = self.call.function.ty(target).dtype;
        let place = Place { offset: Some(best[0]), mask: Some(has), ..Place::new(to, lane.clone()) };
        let old = self.b.load(place.clone(), Type::vector(dtype, lanes));
        let number = self.ravel(at, windows);
        let sources = self.memory(Tensor::Var(source), Access::Read)?;
        let own = Place { offset: Some(number), ..Place::new(sources, lane) };
        let own = self.b.load(own, Type::vector(dtype, lanes));
        let joined = self.apply(scatter, &[old, own])?;
        let joined = joined.first().copied().ok_or_else(overflow)?;
        let joined = self.b.broadcast(joined, lanes);
        self.b.store(place, joined);
        Ok(())
    }

    /// A line of windows that grow, or a vector of lines. Where initial values that are joined stay what they are, so do those of
    /// all padding: they come before the first element alone.
    fn growing_line(
        &mut self,
        (operands, inits, targets): (&[Var], &[Var], &[Var]),
        join: &surject_ir::Region,
        line: &GrowingLine,
    ) -> Lowered<()> {
        let lanes = line.lanes as usize;
        let mut first = Vec::new();
        for &init in inits {
            let mem = self.memory(Tensor::Var(init), Access::Read)?;
            let ty = Type::scalar(self.call.function.ty(init).dtype);
            first.push(self.b.load(Place::new(mem, 0), ty));
        }
        let twice: Vec<Value> = first.iter().chain(&first).copied().collect();
        let joined = self.apply(join, &twice)?;
        let same =
            first.iter().zip(joined).map(|(&before, after)| self.has_same_bits(before, after)).collect();
        let Some(stays) = all(self, same) else { return Ok(()) };
        self.b.open_if(stays);
        let before: Vec<Value> = first.iter().map(|&value| self.b.broadcast(value, lanes)).collect();
        let (number, carried) = self.b.open_for(0, line.length, 1, LoopKind::Serial, &before);
        let own = self.elements_of(operands, line, &number.into())?;
        let values = self.apply(join, &line.in_order(own, carried))?;
        let values: Vec<Value> = values.into_iter().map(|v| self.b.broadcast(v, lanes)).collect();
        self.store_elements(targets, line, &number.into(), &values)?;
        self.b.close_for(&values);
        self.b.open_else(&[]);
        self.growing_line_of_padding((operands, inits, targets), join, line, &first)?;
        self.b.close_if(&[]);
        Ok(())
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

    /// The elements of operands at a distance from where a line begins.
    fn elements_of(&mut self, operands: &[Var], line: &GrowingLine, number: &Affine) -> Lowered<Vec<Value>> {
        let at = line.element(number).ok_or_else(overflow)?;
        let mut values = Vec::new();
        for &operand in operands {
            let mem = self.memory(Tensor::Var(operand), Access::Read)?;
            let ty = Type::vector(self.call.function.ty(operand).dtype, line.lanes as usize);
            values
                .push(self.b.load(Place { guards: line.guards.clone(), ..Place::new(mem, at.clone()) }, ty));
        }
        Ok(values)
    }

    /// Stores the results there.
    fn store_elements(
        &mut self,
        targets: &[Var],
        line: &GrowingLine,
        number: &Affine,
        values: &[Value],
    ) -> Lowered<()> {
        let at = line.element(number).ok_or_else(overflow)?;
        for (&target, &value) in targets.iter().zip(values) {
            let mem = self.memory(Tensor::Var(target), Access::Write)?;
            let value = self.b.broadcast(value, line.lanes as usize);
            self.b.store(Place { guards: line.guards.clone(), ..Place::new(mem, at.clone()) }, value);
        }
        Ok(())
    }

    /// The same where the padding counts.
    fn growing_line_of_padding(
        &mut self,
        (operands, inits, targets): (&[Var], &[Var], &[Var]),
        join: &surject_ir::Region,
        line: &GrowingLine,
        first: &[Value],
    ) -> Lowered<()> {
        let (n, lanes) = (line.length, line.lanes as usize);
        let dtype = |maker: &Self, var: Var| maker.call.function.ty(var).dtype;
        // As many initial values joined as there can be elements of padding, and that before the first element.
        let mut padding = Vec::new();
        for &init in inits {
            let dtype = dtype(self, init);
            padding.push(self.b.alloc("padding", dtype, n, Space::Stack));
        }
        let (at, joined) = self.b.open_for(0, n, 1, LoopKind::Serial, first);
        padding.iter().zip(&joined).for_each(|(&mem, &value)| self.b.store(Place::new(mem, at), value));
        let arguments: Vec<Value> = joined.iter().chain(first).copied().collect();
        let next = self.apply(join, &arguments)?;
        self.b.close_for(&next);
        let finish = |maker: &mut Self, number: &Affine, own: &[Value]| -> Lowered<()> {
            // The windows of a line that begins at its end have their padding behind them.
            let left = Affine::from(n - 1).plus(number, -1).ok_or_else(overflow)?;
            let mut others = Vec::new();
            for (&mem, &init) in padding.iter().zip(inits) {
                let value = maker.b.load(Place::new(mem, left.clone()), Type::scalar(dtype(maker, init)));
                others.push(maker.b.broadcast(value, lanes));
            }
            let joined = maker.apply(join, &line.in_order(own.to_vec(), others))?;
            maker.store_elements(targets, line, number, &joined)
        };
        let start = self.elements_of(operands, line, &0.into())?;
        finish(self, &0.into(), &start)?;
        let (number, carried) = self.b.open_for(1, n, 1, LoopKind::Serial, &start);
        let own = self.elements_of(operands, line, &number.into())?;
        let values = self.apply(join, &line.in_order(own, carried))?;
        finish(self, &number.into(), &values)?;
        self.b.close_for(&values);
        Ok(())
    }

    /// The type of positions.
    fn integer(&mut self) -> DType {
        let zero = self.int(0);
        self.b.ty(zero).dtype
    }
}
