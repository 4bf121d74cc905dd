//! Text of loads and stores: addresses, guards, lanes, and the types of memory.

use crate::code::{Index, Op, Value};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::Elem;
use surject_ir::DType;

impl Emitter<'_> {
    /// Stores a whole vector.
    pub(crate) fn put(&mut self, vector: Value, to: Value, (elem, lanes): (Elem, usize), scope: ScopeId) {
        self.run(scope, Op::aligned_store(vector, to, elem.ty(lanes), elem.size()));
    }

    /// The address of an element.
    pub(crate) fn element(&mut self, pointer: Value, address: Value, elem: Elem, scope: ScopeId) -> Value {
        self.op(scope, Op::Element { pointer, index: Index::At(address), of: elem.ty(1) })
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
