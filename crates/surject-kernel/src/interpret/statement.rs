//! Statements without regions: accesses to memory, and what is computed.

use super::FaultKind;
use super::agent::{Agent, Copy, Lanes};
use super::count::Event;
use super::memory::{Kind, Object, Tensor};
use super::run::{Done, Machine};
use super::value::{affine, copy, flops, holds, pure, pure_one};
use crate::{Factors, Level, MatMulSizes, Mem, Op, Place, Space, Statement, Tile, Type};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, eval};

impl Machine<'_> {
    /// Runs a statement without regions.
    /// It is long because it is flat: one arm an operation.
    pub(super) fn statement(&mut self, agent: &mut Agent, statement: &Statement) -> Done<()> {
        let result = statement.results.first().copied();
        let ty = result.map_or(Type::index(), |v| self.kernel.ty(v));
        self.work(ty.lanes as u128 - 1)?;
        let lanes = match &statement.op {
            Op::Load { place, fill, .. } => {
                let elements = self.elements(agent, place, ty.lanes)?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Read)?;
                let object = self.object(agent, place.mem)?;
                let loaded: Done<Vec<Scalar>> =
                    elements.iter().map(|at| at.map_or(Ok(*fill), |at| object.load(at, &who))).collect();
                loaded?
            }
            Op::Store { place, value, .. } => {
                let values = copy(agent, *value);
                let elements = self.elements(agent, place, values.as_slice().len())?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Write)?;
                let object = self.object(agent, place.mem)?;
                for (at, &value) in elements.into_iter().zip(values.as_slice()) {
                    if let Some(at) = at {
                        object.store(at, value, &who)?;
                    }
                }
                return Ok(());
            }
            Op::Atomic { op, place, value } => {
                let values = copy(agent, *value);
                let elements = self.elements(agent, place, values.as_slice().len())?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Atomic)?;
                let object = self.object(agent, place.mem)?;
                for (at, &value) in elements.into_iter().zip(values.as_slice()) {
                    let Some(at) = at else { continue };
                    let element = object.element(at)?;
                    object.order(element, Kind::Atomic, &who)?;
                    let old = object.tensor.get(element);
                    let old =
                        old.ok_or_else(|| FaultKind::Unwritten { memory: object.name.clone(), element })?;
                    let new = eval::acc(*op, old, value).ok_or(FaultKind::Undefined)?;
                    object.tensor.set(element, new);
                }
                return Ok(());
            }
            Op::Alloc(mem) => {
                let memory = self.kernel.mem(*mem);
                let elements = affine(agent, &memory.elements, 0)?;
                let elements = usize::try_from(elements).map_err(|_| FaultKind::Overflow)?;
                let bytes = elements.checked_mul(memory.dtype.size());
                let bytes = bytes.and_then(|bytes| self.bytes.checked_add(bytes));
                match bytes.filter(|&bytes| bytes <= self.options.bytes) {
                    Some(bytes) => self.bytes = bytes,
                    None => return Err(FaultKind::Memory(self.options.bytes)),
                }
                agent.memory[mem.0 as usize] = Some(self.objects.len());
                let tensor = Tensor::unwritten(memory.dtype, elements);
                self.objects.push(Object::new(&memory.name, memory.space, tensor).phased(self.phased));
                return Ok(());
            }
            Op::Prefetch { .. } => return Ok(()),
            Op::AsyncCopy { from, to, elements } => return self.copy_begins(agent, from, to, *elements),
            Op::AsyncCommit => {
                let group = std::mem::take(&mut agent.copies);
                agent.groups.push(group);
                return Ok(());
            }
            Op::AsyncWait(left) => return self.copies_end(agent, *left),
            Op::BoxCopy(copy) => return self.box_begins(agent, copy),
            Op::Phase(barrier, how) => return self.phase(agent, barrier, how),
            Op::MatMul { sizes, factors, acc, a, b, .. } => {
                return self.matmul(agent, (*sizes, *factors), [acc, a, b]);
            }
            op => {
                let lanes = self.computed(agent, op, ty)?;
                result.into_iter().for_each(|result| agent.set(result, lanes.clone()));
                return Ok(());
            }
        };
        if let Some(result) = result {
            agent.set(result, Lanes::of(lanes));
        }
        Ok(())
    }

    /// The value of an operation without memory.
    fn computed(&mut self, agent: &Agent, op: &Op, ty: Type) -> Done<Lanes> {
        if let Some(one) = pure_one(agent, op, ty)? {
            self.counts.flops += flops(op, &[one], agent);
            return Ok(Lanes::One(one));
        }
        let lanes = pure(agent, op, ty)?;
        self.counts.flops += flops(op, &lanes, agent);
        Ok(Lanes::of(lanes))
    }

    pub(super) fn object(&mut self, agent: &Agent, mem: Mem) -> Done<&mut Object> {
        agent.memory[mem.0 as usize].map(|o| &mut self.objects[o]).ok_or(FaultKind::Undefined)
    }

    /// The element of each lane, where it has one.
    fn elements(&self, agent: &Agent, place: &Place, lanes: usize) -> Done<Vec<Option<i128>>> {
        let mask = place.mask.map(|mask| agent.lanes(mask));
        let offset = place.offset.map(|offset| agent.lanes(offset));
        let mut elements = Vec::with_capacity(lanes);
        for lane in 0..lanes {
            let exists = mask.is_none_or(|mask| mask.get(lane).is_some_and(|m| m.is_true()))
                && holds(agent, &place.guards, lane)?;
            elements.push(match exists {
                false => None,
                true => {
                    let at = i128::from(affine(agent, &place.at, lane)?);
                    let further = offset.and_then(|o| o.get(if o.len() == 1 { 0 } else { lane }));
                    Some(at + further.and_then(|s| s.as_i128()).unwrap_or(0))
                }
            });
        }
        Ok(elements)
    }

    /// Counts an access to memory.
    pub(super) fn count(
        &mut self,
        agent: &mut Agent,
        mem: Mem,
        elements: &[Option<i128>],
        kind: Kind,
    ) -> Done<()> {
        let Some(object) = agent.memory[mem.0 as usize] else { return Err(FaultKind::Undefined) };
        let (space, size) = (self.objects[object].space, self.objects[object].tensor.dtype().size());
        let bytes = (elements.iter().flatten().count() * size) as u64;
        if let Some(traffic) = self.counts.traffic(space) {
            traffic.loaded += if kind == Kind::Write { 0 } else { bytes };
            traffic.stored += if kind == Kind::Read { 0 } else { bytes };
        }
        if !matches!(space, Space::Global | Space::Shared) {
            return Ok(());
        }
        let time = agent.visits.entry(agent.at).or_default();
        *time += 1;
        let (time, statement) = (*time, agent.at);
        let parent = agent.parent.and_then(|p| self.agents.get(&p)).and_then(|p| p.level);
        let warp = match agent.level {
            Some(Level::Thread) => (agent.instance, self.lane_of(agent, parent).0),
            // The lanes of a vector are one access.
            _ => (agent.id, -1),
        };
        let event = Event { warp, statement, time };
        let unit = if space == Space::Global { self.options.sector } else { self.options.word }.max(1);
        let exist = self.objects[object].tensor.len();
        for &element in elements.iter().flatten() {
            // What does not exist is an error, soon.
            if let Some(element) = usize::try_from(element).ok().filter(|&element| element < exist) {
                // An element may be wider than a word.
                for number in element * size / unit..=(element * size + size - 1) / unit {
                    self.open.note(space, event, object, number);
                }
            }
        }
        Ok(())
    }

    /// A copy in the background begins: what is read is read now, and what is written is undefined until it is over.
    fn copy_begins(&mut self, agent: &mut Agent, from: &Place, to: &Place, elements: usize) -> Done<()> {
        let who = self.stamp(agent);
        let ends = [self.elements(agent, from, 1)?[0], self.elements(agent, to, 1)?[0]];
        let [Some(source), Some(target)] = ends else { return Ok(()) };
        self.work(elements as u128)?;
        let numbers = |first: i128| (0..elements as i128).map(|i| Some(first + i)).collect::<Vec<_>>();
        self.count(agent, from.mem, &numbers(source), Kind::Read)?;
        self.count(agent, to.mem, &numbers(target), Kind::Write)?;
        let object = self.object(agent, from.mem)?;
        let read: Done<Vec<Scalar>> = (0..elements as i128).map(|i| object.load(source + i, &who)).collect();
        let elements = Tensor::of(&read?);
        let Some(number) = agent.memory[to.mem.0 as usize] else { return Err(FaultKind::Undefined) };
        let object = &mut self.objects[number];
        let first = object.element(target)?;
        for i in 0..elements.len() {
            let element = object.element(target + i as i128)?;
            object.copy_begins(element, &who)?;
        }
        agent.copies.push(Copy { object: number, first, elements });
        Ok(())
    }

    /// Waits until so many groups of copies are left.
    fn copies_end(&mut self, agent: &mut Agent, left: usize) -> Done<()> {
        let who = self.stamp(agent);
        let over = agent.groups.len().saturating_sub(left);
        for Copy { object, first, elements } in agent.groups.drain(..over).flatten() {
            for i in 0..elements.len() {
                if let Some(element) = elements.get(i) {
                    self.objects[object].copy_ends(first + i, element, &who)?;
                }
            }
        }
        Ok(())
    }

    /// `acc += a · b`: each sum from its first term to its last, in the type of `acc`.
    fn matmul(
        &mut self,
        agent: &mut Agent,
        (sizes, factors): (MatMulSizes, Factors),
        [acc, a, b]: [&Tile; 3],
    ) -> Done<()> {
        let who = self.stamp(agent);
        let MatMulSizes { m, n, k } = sizes;
        for [x, y, z] in [[m, n, k], [m, k, 1], [k, n, 1], [m, n, 1]] {
            self.work((x as u128).saturating_mul(y as u128).saturating_mul(z as u128))?;
        }
        let dtype = self.kernel.mem(acc.mem).dtype;
        let first = |tile: &Tile| affine(agent, &tile.at, 0).map(i128::from);
        let (acc_at, a_at, b_at) = (first(acc)?, first(a)?, first(b)?);
        let all = |tile: &Tile, at: i128, rows: usize, columns: usize| -> Vec<Option<i128>> {
            (0..rows * columns).map(|i| Some(at + tile.offset(i / columns, i % columns))).collect()
        };
        let (left, right, sums) = (all(a, a_at, m, k), all(b, b_at, k, n), all(acc, acc_at, m, n));
        self.count(agent, a.mem, &left, Kind::Read)?;
        self.count(agent, b.mem, &right, Kind::Read)?;
        self.count(agent, acc.mem, &sums, Kind::Atomic)?;
        let mut load = |tile: &Tile, at: &[Option<i128>]| -> Done<Vec<Scalar>> {
            let object = self.object(agent, tile.mem)?;
            let one = |at: i128| -> Done<Scalar> {
                let own = object.load(at, &who)?;
                Ok(eval::convert(dtype, if factors == Factors::Flushed { flushed(own) } else { own }))
            };
            at.iter().flatten().copied().map(one).collect()
        };
        let (mut left, mut right, mut values) = (load(a, &left)?, load(b, &right)?, load(acc, &sums)?);
        if factors == Factors::Tf32 {
            let rounded = |x: &mut Scalar| *x = eval::reduce_precision(8, 10, *x).unwrap_or(*x);
            left.iter_mut().chain(&mut right).for_each(rounded);
        }
        for i in 0..m {
            for j in 0..n {
                for t in 0..k {
                    let term = eval::binary(BinaryOp::Mul, left[i * k + t], right[t * n + j]);
                    let sum = term.and_then(|term| eval::acc(AccOp::Add, values[i * n + j], term));
                    values[i * n + j] = sum.ok_or(FaultKind::Undefined)?;
                }
            }
        }
        self.counts.flops += 2 * (m * n * k) as u64;
        let object = self.object(agent, acc.mem)?;
        for (at, value) in sums.into_iter().flatten().zip(values) {
            object.store(at, value, &who)?;
        }
        Ok(())
    }
}

/// A float that is subnormal as a zero of the same sign; anything else is itself.
fn flushed(value: Scalar) -> Scalar {
    let dtype = value.dtype();
    let (exponent, sign): (u128, u128) = match dtype {
        DType::BF16 => (0x7f80, 0x8000),
        DType::F16 => (0x7c00, 0x8000),
        DType::F32 => (0x7f80_0000, 1 << 31),
        DType::F64 => (0x7ff0_0000_0000_0000, 1 << 63),
        _ => return value,
    };
    let bits = value.bits();
    if bits & exponent == 0 { Scalar::from_bits(dtype, bits & sign) } else { value }
}
