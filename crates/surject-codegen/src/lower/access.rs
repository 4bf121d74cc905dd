//! Text of loads and stores: addresses, guards, lanes, and the types of memory.

use crate::code::{Index, Op, Value};
use crate::expression::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::expression::dag::NodeId;
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::machine::elem::{Elem, Type};
use crate::schedule::NEAR;
use surject_ir::DType;

impl Emitter<'_> {
    /// Do the guards hold? An `i1` per lane.
    pub fn predicate(&mut self, guards: &[Guard], at: At) -> Val {
        let deps = guards.iter().fold(LoopSet::default(), |s, g| s.union(g.expr.loops()));
        let home = self.home(at.scope, deps);
        let lanes = self.lanes(home, deps);
        let key = (guards.to_vec(), lanes);
        if let Some(name) = self.known_predicate(home, &key) {
            return Val { ssa: name, lanes };
        }
        let mut all: Option<Val> = None;
        for guard in guards {
            let holds = self.guard(guard, home);
            all = Some(match all {
                None => holds,
                Some(other) => {
                    let lanes = other.lanes.max(holds.lanes);
                    let at = At { scope: home, lanes };
                    let (a, b) = (self.spread(&other, Elem::I1, at), self.spread(&holds, Elem::I1, at));
                    let ssa = self.bin(at, "arith.andi", a, b, Elem::I1);
                    Val { ssa, lanes }
                }
            });
        }
        let value = all.unwrap_or(Val { ssa: Value::NONE, lanes: 0 });
        let value =
            if value.lanes == 0 { Val { ssa: self.constant(Elem::I1, 1, lanes), lanes } } else { value };
        let ssa = self.spread(&value, Elem::I1, At { scope: home, lanes });
        self.keep_predicate(home, key, ssa);
        Val { ssa, lanes }
    }

    /// `0 ≤ e < n` as one unsigned comparison.
    fn guard(&mut self, guard: &Guard, scope: ScopeId) -> Val {
        let home = self.home(scope, guard.expr.loops());
        let lanes = self.lanes(home, guard.expr.loops());
        let range = guard.expr.range(&self.dag.extents);
        let small = i64::from(i32::MIN)..i64::from(i32::MAX) - 64 * 64;
        let fits = range.is_some_and(|r| small.contains(&r.low) && small.contains(&r.high));
        let elem = if lanes > 1 && fits && small.contains(&guard.bound) { Elem::I32 } else { Elem::I64 };
        let value = self.lin_vector(&guard.expr, elem, At { scope: home, lanes });
        let bound = self.constant(elem, guard.bound as u64, lanes);
        let ssa = self.cmpi(At { scope: home, lanes }, "ult", value, bound, elem);
        Val { ssa, lanes }
    }

    /// The address of an element.
    pub(crate) fn element(&mut self, pointer: Value, address: Value, elem: Elem, scope: ScopeId) -> Value {
        self.op(scope, Op::Element { pointer, index: Index::At(address), of: elem.ty(1) })
    }

    /// The address of the element that a tensor has at positions of loops that do not run in this scope.
    pub(crate) fn corner(
        &mut self,
        pointer: Value,
        (address, elem): (&Lin, Elem),
        at: Vec<(LoopId, Value)>,
        scope: ScopeId,
    ) -> Value {
        let corner = self.open(scope, at, None);
        let place = self.lin(address, corner);
        let element = self.element(pointer, place, elem, corner);
        self.close_plain(corner);
        element
    }

    /// Loads a vector of `bf16` as words that hold two each: those in the upper halves are floats but for the lower
    /// halves, the others are shifted to there.
    fn load_pairs(&mut self, pointer: Value, base: Value, At { scope, lanes }: At) -> Value {
        let from = self.element(pointer, base, Elem::I16, scope);
        let at = At { scope, lanes: lanes / 2 };
        let (i, words) = (Elem::I32, Elem::I32.ty(lanes / 2));
        let pairs = self.op(scope, Op::aligned_load(from, words, 2));
        let (sixteen, upper) = (self.integer(at, i, 16), self.integer(at, i, -0x10000));
        let even = self.bin(at, "arith.shli", pairs, sixteen, i);
        let odd = self.bin(at, "arith.andi", pairs, upper, i);
        let order = (0..lanes as i64).collect();
        let both = self.op(scope, Op::Shuffle { sides: [even, odd], order, ty: words });
        self.cast(At { scope, lanes }, "arith.bitcast", both, i, Elem::F32)
    }

    /// Stores a vector of `bf16` that [`Emitter::load_pairs`] has loaded, or what was computed of such.
    fn store_as_pairs(&mut self, to: Value, value: Value, At { scope, lanes }: At) {
        let (i, half) = (Elem::I32, lanes / 2);
        let bits = self.cast(At { scope, lanes }, "arith.bitcast", value, Elem::F32, i);
        let [even, odd] = [0, half].map(|first| self.some_lanes(scope, bits, (i, lanes), first, half));
        let at = At { scope, lanes: half };
        let sixteen = self.integer(at, i, 16);
        let low = self.bin(at, "arith.shrui", even, sixteen, i);
        let words = self.bin(at, "arith.ori", low, odd, i);
        // The words lie as their halves do.
        let (bytes, halves) = (i.ty(half), Elem::I16.ty(lanes));
        let halves = self.op(scope, Op::cast("vector.bitcast", words, bytes, halves));
        self.put(halves, to, (Elem::I16, lanes), scope);
    }

    /// Loads an element, or a vector of them, in its register type.
    pub fn load(&mut self, pointer: Value, dtype: DType, address: &Lin, guards: &[Guard], at: At) -> Value {
        let (memory, At { scope, lanes }) = (Elem::in_memory(dtype), at);
        let facts: Vec<GuardFact> = guards.iter().map(|g| self.fact(g, scope)).collect();
        if facts.contains(&GuardFact::Never) {
            // The value is not used.
            return self.constant(Elem::of(dtype), 0, lanes);
        }
        let guards: Vec<Guard> = guards
            .iter()
            .zip(facts)
            .filter(|(_, fact)| *fact == GuardFact::Sometimes)
            .map(|(guard, _)| guard.clone())
            .collect();
        let guards = guards.as_slice();
        let base = self.lin(address, scope);
        let stride = self.vector_loop(scope, address.loops()).map_or(0, |(l, _)| address.coeff(l));
        let base = self.held_inside(base, stride, guards, at);
        if lanes == 1 {
            let from = self.element(pointer, base, memory, scope);
            let raw = self.op(scope, Op::load(from, memory.ty(1)));
            return self.widen(dtype, raw, at);
        }
        let mask = self.guarded_lanes(address, guards, at);
        if mask.is_none() && stride == 1 && dtype == DType::BF16 && self.in_pairs(scope) {
            return self.load_pairs(pointer, base, at);
        }
        let raw = self.lanes_apart(pointer, (address, base), (stride, mask), memory, at);
        self.widen(dtype, raw, at)
    }

    /// The lanes of a load that exist and whose guards hold; `None`: all do.
    fn guarded_lanes(&mut self, address: &Lin, guards: &[Guard], at: At) -> Option<Value> {
        let active = self.mask(at.scope, address.loops());
        if guards.is_empty() {
            return active;
        }
        let holds = self.predicate(guards, at);
        let holds = self.spread(&holds, Elem::I1, at);
        let Some(active) = active else { return Some(holds) };
        Some(self.op(at.scope, Op::same("arith.andi", [holds, active], Elem::I1.ty(at.lanes))))
    }

    /// Loads a vector whose elements lie so far apart (0: anywhere), from an address on, those of a mask alone, in the way that
    /// fits how they lie: as neighbours, from vectors that hold all that is between, or one by one.
    fn lanes_apart(
        &mut self,
        pointer: Value,
        (address, base): (&Lin, Value),
        (stride, mask): (i64, Option<Value>),
        memory: Elem,
        at: At,
    ) -> Value {
        let At { scope, lanes } = at;
        match (stride, mask) {
            (1, mask) => {
                let from = self.element(pointer, base, memory, scope);
                self.neighbours(from, mask, (memory, lanes), scope)
            }
            (-1, mask) => {
                let back = self.int(1 - lanes as i64);
                let first = self.arith(scope, "arith.addi", base, back);
                let from = self.element(pointer, first, memory, scope);
                let order: Vec<i64> = (0..lanes as i64).rev().collect();
                let mask = mask.map(|mask| self.shuffled((mask, mask), &order, (Elem::I1, lanes), scope));
                let loaded = self.neighbours(from, mask, (memory, lanes), scope);
                self.shuffled((loaded, loaded), &order, (memory, lanes), scope)
            }
            (stride, mask) if (2..=NEAR).contains(&stride.abs()) && lanes % 2 == 0 => {
                self.near(pointer, base, memory, (stride, mask), at)
            }
            (stride, None) if stride != 0 => {
                let start = self.element(pointer, base, memory, scope);
                let places = (0..lanes as i64).map(|i| self.int(i * stride)).collect();
                self.one_by_one(start, places, memory, at)
            }
            (_, mask) => {
                let mask = mask.unwrap_or_else(|| self.constant(Elem::I1, 1, lanes));
                let pointers = self.lane_pointers(pointer, address, memory, at);
                let other = self.constant(memory, 0, lanes);
                let (ty, size) = (memory.ty(lanes), memory.size());
                self.op(scope, Op::Gather { pointers, mask, other, ty, alignment: size })
            }
        }
    }

    /// Where an element is or a vector begins, and where none of its lanes exists, the beginning of the tensor: a masked load
    /// from memory that is not there takes 1000 cycles, though it loads nothing (Zen 4).
    fn held_inside(&mut self, base: Value, stride: i64, guards: &[Guard], at: At) -> Value {
        let alike = |g: &&Guard| self.lanes(at.scope, g.expr.loops()) == 1;
        let all: Vec<Guard> = guards.iter().filter(alike).cloned().collect();
        if all.is_empty() {
            return base;
        }
        let inside = self.predicate(&all, At { lanes: 1, ..at }).ssa;
        let first = self.int(if stride < 0 { (1 - at.lanes as i64) * stride } else { 0 });
        self.pick_number(at.scope, inside, base, first)
    }

    /// Loads the elements so far after an address, for a node. An offset that all lanes have in common moves the
    /// tensor.
    pub(crate) fn gather(
        &mut self,
        pointer: Value,
        node: NodeId,
        (address, guards): (&Lin, &[Guard]),
        (offset, elem): (Val, Elem),
        at: At,
    ) -> Value {
        let (dtype, At { scope, lanes }) = (self.dag[node].dtype, at);
        let memory = Elem::in_memory(dtype);
        if offset.lanes == 1 {
            let far = self.as_place(offset.ssa, elem, scope);
            let start = self.element(pointer, far, memory, scope);
            return self.load(start, dtype, address, guards, at);
        }
        let base = self.lin(address, scope);
        let start = self.element(pointer, base, memory, scope);
        let deps = self.dag[node].deps;
        let mut places = self.chosen_places(offset.ssa, (address, elem), at);
        if let Some(mask) = self.mask(scope, deps) {
            // Where there is no lane, the element of the first one.
            let none = self.constant(elem, 0, lanes);
            places = self.select(at, mask, places, none, elem);
        }
        if !guards.is_empty() {
            // Outside, the first element of the tensor.
            let holds = self.predicate(guards, at);
            let holds = self.spread(&holds, Elem::I1, at);
            let zero = self.int(0);
            let back = self.arith(scope, "arith.subi", zero, base);
            let ssa = match elem {
                Elem::I64 => back,
                _ => self.op(scope, Op::cast("arith.trunci", back, Type::I64, elem.ty(1))),
            };
            let back = self.spread(&Val { ssa, lanes: 1 }, elem, at);
            places = self.select(at, holds, places, back, elem);
        }
        let raw = self.elements(start, places, elem, memory, at);
        self.widen(dtype, raw, at)
    }

    /// A place that indices say, as `i64`.
    pub(crate) fn as_place(&mut self, place: Value, elem: Elem, scope: ScopeId) -> Value {
        match elem {
            Elem::I64 => place,
            _ => self.op(scope, Op::cast("arith.extsi", place, elem.ty(1), Type::I64)),
        }
    }

    /// Where chosen elements are from the address of the first lane on.
    pub(crate) fn chosen_places(&mut self, offset: Value, (address, elem): (&Lin, Elem), at: At) -> Value {
        let distance = self.vector_loop(at.scope, address.loops()).map_or(0, |(l, _)| address.coeff(l));
        if distance == 0 {
            return offset;
        }
        let steps = self.steps(elem, distance, at.lanes);
        self.op(at.scope, Op::same("arith.addi", [offset, steps], elem.ty(at.lanes)))
    }

    /// Loads the elements at some places one by one.
    fn elements(&mut self, start: Value, places: Value, elem: Elem, memory: Elem, at: At) -> Value {
        let all = self.each_lane(places, elem, at);
        self.one_by_one(start, all, memory, at)
    }

    /// The lanes of a vector of integers, as `i64`.
    pub(crate) fn each_lane(&mut self, places: Value, elem: Elem, at: At) -> Vec<Value> {
        let At { scope, lanes } = at;
        let mut all = Vec::with_capacity(lanes);
        if elem == Elem::I32 && lanes >= 4 {
            // Two of them leave a vector at once.
            let (from, to) = (elem.ty(lanes), Elem::I64.ty(lanes / 2));
            let pairs = self.op(scope, Op::cast("vector.bitcast", places, from, to));
            let bits = self.int(32);
            for i in 0..lanes / 2 {
                let pair = self.op(scope, Op::Extract { vector: pairs, lane: i, ty: to });
                let low = self.op(scope, Op::cast("arith.trunci", pair, Type::I64, Elem::I32.ty(1)));
                all.push(self.op(scope, Op::cast("arith.extsi", low, Elem::I32.ty(1), Type::I64)));
                all.push(self.arith(scope, "arith.shrsi", pair, bits));
            }
        } else {
            for i in 0..lanes {
                let place = self.op(scope, Op::Extract { vector: places, lane: i, ty: elem.ty(lanes) });
                all.push(self.as_place(place, elem, scope));
            }
        }
        all
    }

    /// Loads an element for each lane by itself: on the machines at hand that is faster than their instruction for it
    /// (a Zen 4 takes 0.45 of the time).
    fn one_by_one(&mut self, start: Value, places: Vec<Value>, memory: Elem, at: At) -> Value {
        let mut loaded = Vec::with_capacity(at.lanes);
        for place in places {
            let from = self.element(start, place, memory, at.scope);
            loaded.push(self.op(at.scope, Op::load(from, memory.ty(1))));
        }
        self.op(at.scope, Op::FromElements(loaded, memory.ty(at.lanes)))
    }

    /// Loads elements that lie a few elements apart: what they lie in as two vectors, of which they are chosen. The
    /// vectors begin and end with elements that are asked for, so nothing outside the tensor is touched.
    fn near(
        &mut self,
        pointer: Value,
        base: Value,
        memory: Elem,
        (stride, mask): (i64, Option<Value>),
        at: At,
    ) -> Value {
        let At { scope, lanes } = at;
        let (count, distance) = (lanes as i64, stride.abs());
        let (span, half) = (distance * (count - 1) + 1, distance * count / 2);
        let first = if stride > 0 { 0 } else { 1 - span };
        let none = mask.map(|_| self.constant(Elem::I1, 0, lanes));
        let parts = [0, span - half].map(|start| {
            let begin = self.int(first + start);
            let position = self.arith(scope, "arith.addi", base, begin);
            let from = self.element(pointer, position, memory, scope);
            // What lies between the elements is not asked for.
            let mask = mask.zip(none).map(|(mask, none)| {
                let lane = |e: i64| match e % distance {
                    0 if stride > 0 => e / distance,
                    0 => count - 1 - e / distance,
                    _ => count,
                };
                let order: Vec<i64> = (start..start + half).map(lane).collect();
                self.shuffled((mask, none), &order, (Elem::I1, lanes), scope)
            });
            self.neighbours(from, mask, (memory, half as usize), scope)
        });
        let mut order: Vec<i64> = (0..count)
            .map(|i| distance * i)
            .map(|i| if i < half { i } else { i - (span - half) + half })
            .collect();
        if stride < 0 {
            order.reverse();
        }
        self.shuffled((parts[0], parts[1]), &order, (memory, half as usize), scope)
    }

    /// Loads neighbours, those that a mask has.
    pub(crate) fn neighbours(
        &mut self,
        from: Value,
        mask: Option<Value>,
        (elem, lanes): (Elem, usize),
        scope: ScopeId,
    ) -> Value {
        let (ty, size) = (elem.ty(lanes), elem.size());
        let Some(mask) = mask else {
            return self.op(scope, Op::aligned_load(from, ty, size));
        };
        let other = self.constant(elem, 0, lanes);
        self.op(scope, Op::MaskedLoad { pointer: from, mask, other, ty, alignment: size })
    }

    /// Lanes of two vectors, which are numbered one after the other.
    pub(crate) fn shuffled(
        &mut self,
        (a, b): (Value, Value),
        order: &[i64],
        (elem, lanes): (Elem, usize),
        scope: ScopeId,
    ) -> Value {
        self.op(scope, Op::Shuffle { sides: [a, b], order: order.to_vec(), ty: elem.ty(lanes) })
    }

    /// Numbers of 32 bits that are not negative, in 64. It is a shuffle: LLVM would move a conversion of what was chosen into
    /// all that was chosen from, of which a vector then holds half as many.
    pub(crate) fn doubled(&mut self, value: Value, At { scope, lanes }: At) -> Value {
        let order: Vec<i64> = (0..lanes as i64).flat_map(|i| [i, lanes as i64 + i]).collect();
        let zero = self.constant(Elem::I32, 0, lanes);
        let pairs = self.shuffled((value, zero), &order, (Elem::I32, lanes), scope);
        self.op(scope, Op::cast("vector.bitcast", pairs, Elem::I32.ty(2 * lanes), Elem::I64.ty(lanes)))
    }

    /// Stores the values of two neighbours in every lane, whose places follow each other.
    pub(crate) fn store_pairs(
        &mut self,
        pointer: Value,
        dtype: DType,
        address: &Lin,
        values: [&Val; 2],
        at: At,
    ) {
        let (memory, At { scope, lanes }) = (Elem::in_memory(dtype), at);
        let [a, b] = values.map(|value| {
            let value = self.spread(value, Elem::of(dtype), at);
            self.narrow(dtype, value, at)
        });
        let order: Vec<i64> = (0..lanes as i64).flat_map(|i| [i, lanes as i64 + i]).collect();
        let both = self.shuffled((a, b), &order, (memory, lanes), scope);
        let base = self.lin(address, scope);
        let to = self.element(pointer, base, memory, scope);
        let (size, wide) = (memory.size(), memory.ty(2 * lanes));
        let Some(mask) = self.mask(scope, address.loops()) else {
            return self.put(both, to, (memory, 2 * lanes), scope);
        };
        let mask = self.shuffled((mask, mask), &order, (Elem::I1, lanes), scope);
        self.run(scope, Op::MaskedStore { value: both, pointer: to, mask, ty: wide, alignment: size });
    }

    /// A pointer per lane. Lanes outside the guards may point anywhere.
    fn lane_pointers(&mut self, pointer: Value, address: &Lin, memory: Elem, at: At) -> Value {
        let indices = self.lin_vector(address, Elem::I64, at);
        let lanes = at.lanes;
        self.op(at.scope, Op::Element { pointer, index: Index::Each(indices, lanes), of: memory.ty(1) })
    }

    /// Stores a value of register type.
    pub fn store(&mut self, pointer: Value, dtype: DType, address: &Lin, value: &Val, at: At) {
        let (memory, At { scope, lanes }) = (Elem::in_memory(dtype), at);
        let (ty, size) = (memory.ty(lanes), memory.size());
        let value = self.spread(value, Elem::of(dtype), at);
        let base = self.lin(address, scope);
        if dtype == DType::BF16 && lanes > 1 && self.in_pairs(scope) {
            let to = self.element(pointer, base, memory, scope);
            return self.store_as_pairs(to, value, at);
        }
        let raw = self.narrow(dtype, value, at);
        if lanes == 1 {
            let to = self.element(pointer, base, memory, scope);
            return self.run(scope, Op::store(raw, to, ty));
        }
        let stride = self.vector_loop(scope, address.loops()).map_or(0, |(l, _)| address.coeff(l));
        let active = self.mask(scope, address.loops());
        if stride == 1 {
            let to = self.element(pointer, base, memory, scope);
            if let Some(mask) = active {
                let store = Op::MaskedStore { value: raw, pointer: to, mask, ty, alignment: size };
                return self.run(scope, store);
            }
            return self.put(raw, to, (memory, lanes), scope);
        }
        let Some(mask) = active else {
            // As what is loaded, one by one.
            let start = self.element(pointer, base, memory, scope);
            for i in 0..lanes {
                let place = self.int(i as i64 * stride);
                let to = self.element(start, place, memory, scope);
                let one = self.op(scope, Op::Extract { vector: raw, lane: i, ty });
                self.run(scope, Op::store(one, to, memory.ty(1)));
            }
            return;
        };
        let pointers = self.lane_pointers(pointer, address, memory, at);
        self.run(scope, Op::Scatter { value: raw, pointers, mask, ty, alignment: size });
    }

    /// A value of memory type in its register type.
    pub fn widen(&mut self, dtype: DType, raw: Value, at: At) -> Value {
        let At { scope, lanes } = at;
        match dtype {
            DType::I1 => {
                let zero = self.constant(Elem::I8, 0, lanes);
                self.cmpi(at, "ne", raw, zero, Elem::I8)
            }
            DType::F16 => {
                let (from, to) = (Elem::F16.ty(lanes), Elem::F32.ty(lanes));
                self.op(scope, Op::cast("arith.extf", raw, from, to))
            }
            DType::BF16 => {
                let (from, to) = (Elem::I16.ty(lanes), Elem::I32.ty(lanes));
                let wide = self.op(scope, Op::cast("arith.extui", raw, from, to));
                let shift = self.constant(Elem::I32, 16, lanes);
                let bits = self.op(scope, Op::same("arith.shli", [wide, shift], to));
                self.op(scope, Op::cast("arith.bitcast", bits, to, Elem::F32.ty(lanes)))
            }
            _ => raw,
        }
    }

    /// A value of register type in its memory type. A half is exactly representable already.
    pub fn narrow(&mut self, dtype: DType, value: Value, at: At) -> Value {
        let At { scope, lanes } = at;
        match dtype {
            DType::I1 => {
                let (from, to) = (Elem::I1.ty(lanes), Elem::I8.ty(lanes));
                self.op(scope, Op::cast("arith.extui", value, from, to))
            }
            DType::F16 => {
                let (from, to) = (Elem::F32.ty(lanes), Elem::F16.ty(lanes));
                self.op(scope, Op::cast("arith.truncf", value, from, to))
            }
            DType::BF16 => {
                let (float, int) = (Elem::F32.ty(lanes), Elem::I32.ty(lanes));
                let bits = self.op(scope, Op::cast("arith.bitcast", value, float, int));
                let shift = self.constant(Elem::I32, 16, lanes);
                let high = self.op(scope, Op::same("arith.shrui", [bits, shift], int));
                self.op(scope, Op::cast("arith.trunci", high, int, Elem::I16.ty(lanes)))
            }
            _ => value,
        }
    }
}
