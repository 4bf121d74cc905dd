//! Elements and positions in the lanes of vectors.

use crate::code::{Index, Op, Value};
use crate::library::Writer;
use crate::lower::emit::{At, ScopeId, Val};
use crate::machine::elem::Elem;
use surject_ir::DType;

/// The positions of terms.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    /// How many terms there are.
    pub(super) terms: i64,
    /// Is that of each term one more than that of the term before, or are all the same?
    pub(super) different: bool,
    /// How far those of neighbouring lanes are apart.
    pub(super) stride: i64,
}

impl Writer<'_> {
    /// A vector of elements that lie so far apart, in their register type.
    pub(super) fn lanes_of(
        &mut self,
        scope: ScopeId,
        from: (Value, Value),
        dtype: DType,
        stride: i64,
        lanes: usize,
    ) -> Value {
        self.lanes_where(At { scope, lanes }, from, dtype, (stride, None))
    }

    /// As [`Writer::lanes_of`], of the elements of a mask.
    pub(super) fn lanes_where(
        &mut self,
        at: At,
        (pointer, address): (Value, Value),
        dtype: DType,
        (stride, mask): (i64, Option<Value>),
    ) -> Value {
        let At { scope, lanes } = at;
        let memory = Elem::in_memory(dtype);
        let from = self.element(scope, pointer, address, memory);
        let (ty, alignment) = (memory.ty(lanes), memory.size());
        let (all, none) = (self.em.constant(Elem::I1, 1, lanes), self.em.constant(memory, 0, lanes));
        let load = match mask {
            None if stride == 1 => Op::aligned_load(from, ty, alignment),
            Some(mask) if stride == 1 => Op::MaskedLoad { pointer: from, mask, other: none, ty, alignment },
            _ => {
                let (mask, pointers) =
                    (mask.unwrap_or(all), self.strided_pointers(scope, from, memory, stride, lanes));
                Op::Gather { pointers, mask, other: none, ty, alignment }
            }
        };
        let raw = self.em.op(scope, load);
        self.em.widen(dtype, raw, at)
    }

    /// Stores a vector of elements that lie so far apart, or those of a mask.
    pub(super) fn store_lanes(
        &mut self,
        at: At,
        (pointer, address): (Value, Value),
        (dtype, value): (DType, Value),
        (stride, mask): (i64, Option<Value>),
    ) {
        let At { scope, lanes } = at;
        let memory = Elem::in_memory(dtype);
        let raw = self.em.narrow(dtype, value, at);
        let place = self.element(scope, pointer, address, memory);
        let (ty, alignment) = (memory.ty(lanes), memory.size());
        let store = match mask {
            None if stride == 1 => Op::aligned_store(raw, place, ty, alignment),
            Some(mask) if stride == 1 => Op::MaskedStore { value: raw, pointer: place, mask, ty, alignment },
            _ => {
                let all = self.em.constant(Elem::I1, 1, lanes);
                let (mask, pointers) =
                    (mask.unwrap_or(all), self.strided_pointers(scope, place, memory, stride, lanes));
                Op::Scatter { value: raw, pointers, mask, ty, alignment }
            }
        };
        self.em.run(scope, store);
    }

    /// Where the elements lie that are so far apart.
    fn strided_pointers(
        &mut self,
        scope: ScopeId,
        from: Value,
        memory: Elem,
        stride: i64,
        lanes: usize,
    ) -> Value {
        let steps = self.em.steps(Elem::I64, stride, lanes);
        self.em.op(scope, Op::Element { pointer: from, index: Index::Each(steps, lanes), of: memory.ty(1) })
    }

    /// The first lanes of all vectors, then the second ones, and so on.
    pub(super) fn side_by_side(
        &mut self,
        scope: ScopeId,
        mut own: Vec<Value>,
        (e, lanes): (Elem, usize),
    ) -> Value {
        let (count, last) = (own.len(), own.last().cloned().unwrap_or_default());
        if count < 2 {
            return last;
        }
        own.resize(count.next_power_of_two(), last);
        let all = lanes * own.len();
        let joined = self.em.of_parts(scope, own, e, lanes);
        let order: Vec<i64> = (0..lanes * count).map(|i| (i % count * lanes + i / count) as i64).collect();
        self.em.shuffled((joined, joined), &order, (e, all), scope)
    }

    /// The first of so many neighbours, by the number of their block. The last block ends with the last of all; what it
    /// shares with the block before it is not stored again.
    pub(super) fn block_of(
        &mut self,
        block: Value,
        length: i64,
        beside: i64,
        at: At,
    ) -> (Value, Option<Value>) {
        let At { scope, lanes } = at;
        let (count, end) = (self.em.int(beside), self.em.int(length - beside));
        let first = self.arith(scope, "arith.muli", block, count);
        let begin = self.arith(scope, "arith.minsi", first, end);
        if length % beside == 0 {
            return (begin, None);
        }
        let before = Val { ssa: self.arith(scope, "arith.subi", first, begin), lanes: 1 };
        let (before, numbers) = (self.em.spread(&before, Elem::I64, at), self.em.steps(Elem::I64, 1, lanes));
        (begin, Some(self.em.cmpi(at, "sge", numbers, before, Elem::I64)))
    }

    /// Positions for terms, from a first one on.
    pub(super) fn positions_of(
        &mut self,
        scope: ScopeId,
        first: Value,
        dtype: DType,
        Positions { terms, different, stride }: Positions,
        lanes: usize,
    ) -> Vec<Value> {
        let (one, many) = (At { scope, lanes: 1 }, At { scope, lanes });
        let elem = Elem::of(dtype);
        let start = self.em.convert(one, DType::I64, dtype, first);
        let mut start = self.em.spread(&Val { ssa: start, lanes: 1 }, elem, many);
        if stride != 0 {
            let steps = self.em.steps(elem, stride, lanes);
            start = self.em.bin(many, "arith.addi", start, steps, elem);
        }
        let mut all = vec![start];
        for k in 1..terms {
            all.push(if different {
                let further = self.em.integer(many, elem, k);
                self.em.bin(many, "arith.addi", start, further, elem)
            } else {
                start
            });
        }
        all
    }
}
