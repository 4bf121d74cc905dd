//! Emits products of pairs of narrow values ([`crate::schedule::contraction::pairs`]).

use crate::CodegenError;
use crate::code::{Index, Op, Value};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::{Elem, Type};
use crate::schedule::contraction::Contraction;
use crate::schedule::contraction::pairs::{Kind, MARK, Pairs};

impl Pairs {
    /// Bits of panel elements as integers.
    fn bits(self, em: &mut Emitter<'_>, scope: ScopeId, value: Value, lanes: usize) -> Value {
        match self.kind {
            Kind::Integers | Kind::Bytes(_) => value,
            Kind::Halves => cast(em, scope, value, (Elem::F32, lanes), (Elem::I32, lanes)),
        }
    }

    /// The element of so many values as it holds, the first one low.
    pub fn join(self, em: &mut Emitter<'_>, scope: ScopeId, values: &[Value], lanes: usize) -> Value {
        let (ty, bits) = (Elem::I32.ty(lanes), 32 / self.points() as u64);
        let mut all: Option<Value> = None;
        for (value, place) in values.iter().zip((0..).step_by(bits as usize)) {
            let mut value = self.bits(em, scope, *value, lanes);
            if self.kind == Kind::Halves {
                // It is in the upper bits.
                let upper = em.constant(Elem::I32, bits, lanes);
                value = em.op(scope, Op::same("arith.shrui", [value, upper], ty));
            } else {
                let mask = em.constant(Elem::I32, (1 << bits) - 1, lanes);
                value = em.op(scope, Op::same("arith.andi", [value, mask], ty));
            }
            let place = em.constant(Elem::I32, place, lanes);
            let value = em.op(scope, Op::same("arith.shli", [value, place], ty));
            all = Some(match all {
                Some(all) => em.op(scope, Op::same("arith.ori", [all, value], ty)),
                None => value,
            });
        }
        let all = all.unwrap_or_else(|| em.constant(Elem::I32, 0, lanes));
        cast(em, scope, all, (Elem::I32, lanes), (self.elem(), lanes))
    }

    /// Elements of neighbours in a vector of so many times as many lanes.
    pub fn neighbours(self, em: &mut Emitter<'_>, scope: ScopeId, value: Value, lanes: usize) -> Value {
        let many = self.points() * lanes;
        let few = if self.points() == 4 { Elem::I8 } else { Elem::I16 };
        let wide = Elem::I32.ty(many);
        let mut value = self.bits(em, scope, value, many);
        if self.kind == Kind::Halves {
            let sixteen = em.constant(Elem::I32, 16, many);
            value = em.op(scope, Op::same("arith.shrui", [value, sixteen], wide));
        }
        let narrow = em.op(scope, Op::cast("arith.trunci", value, wide, few.ty(many)));
        cast(em, scope, narrow, (few, many), (self.elem(), lanes))
    }

    /// `into` and the sums of the products of pairs.
    pub(crate) fn multiply_add(
        self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (x, y): (Value, Value),
        into: Value,
        lanes: usize,
    ) -> Result<Value, CodegenError> {
        let ty = self.elem().ty(lanes);
        if let Kind::Bytes(_) = self.kind {
            return Err(CodegenError::malformed("products of bytes outside the registers for tiles"));
        }
        if self.kind == Kind::Halves {
            let pairs = Type::Bf16(2 * lanes);
            let [x, y] = [x, y].map(|v| em.op(scope, Op::cast("vector.bitcast", v, ty, pairs)));
            let name = format!("llvm.x86.avx512bf16.dpbf16ps.{}", 32 * lanes);
            return Ok(em.op(scope, Op::intrinsic(name, [(into, ty), (x, pairs), (y, pairs)], Some(ty))));
        }
        let halves = Elem::I16.ty(2 * lanes);
        let [x, y] = [x, y].map(|v| cast(em, scope, v, (Elem::I32, lanes), (Elem::I16, 2 * lanes)));
        let name = match lanes {
            16 => "llvm.x86.avx512.pmaddw.d.512",
            8 => "llvm.x86.avx2.pmadd.wd",
            _ => "llvm.x86.sse2.pmadd.wd",
        };
        let sum = em.op(scope, Op::intrinsic(name, [(x, halves), (y, halves)], Some(ty)));
        Ok(em.op(scope, Op::same("arith.addi", [into, sum], ty)))
    }

    /// As [`Pairs::multiply_add`] of halves, with whatever factors.
    pub(crate) fn multiply_add_exactly(
        self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (x, y): (Value, Value),
        into: Value,
        lanes: usize,
    ) -> Value {
        let ty = Elem::I32.ty(lanes);
        let (sixteen, upper) =
            (em.constant(Elem::I32, 16, lanes), em.constant(Elem::I32, 0xffff_0000, lanes));
        let parts = [x, y].map(|v| {
            let bits = self.bits(em, scope, v, lanes);
            let first = em.op(scope, Op::same("arith.shli", [bits, sixteen], ty));
            let second = em.op(scope, Op::same("arith.andi", [bits, upper], ty));
            [first, second].map(|v| cast(em, scope, v, (Elem::I32, lanes), (Elem::F32, lanes)))
        });
        let [[x0, x1], [y0, y1]] = parts;
        let ty = Elem::F32.ty(lanes);
        let sum = em.op(scope, Op::same("math.fma", [x0, y0, into], ty));
        em.op(scope, Op::same("math.fma", [x1, y1, sum], ty))
    }
}

fn cast(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    value: Value,
    (from, many): (Elem, usize),
    (to, lanes): (Elem, usize),
) -> Value {
    if from == to {
        return value;
    }
    let name = if many > 1 && from.size() != to.size() { "vector.bitcast" } else { "arith.bitcast" };
    em.op(scope, Op::cast(name, value, from.ty(many), to.ty(lanes)))
}

/// Where the smallest halves of what is packed are kept: 16-bit integers, as many as a vector holds.
///
/// Without its sign a subnormal half is 1 to 0x7f; the smallest of all, less one, tells whether one is there. Zero is then
/// the largest.
pub(crate) struct Least {
    pointer: Value,
    lanes: usize,
}

impl Least {
    /// One of its own, for vectors of so many pairs.
    pub(crate) fn new(em: &mut Emitter<'_>, lanes: usize) -> Least {
        let (root, bytes) = (em.root(), em.int(4 * MARK));
        let pointer = em.op(root, Op::Alloca { count: bytes, of: Elem::I8.ty(1), alignment: Some(64) });
        Least { pointer, lanes }
    }

    /// That behind a panel of so many pairs, where the mark will be.
    pub(crate) fn behind(
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (panel, count): (Value, i64),
        lanes: usize,
    ) -> Least {
        Least { pointer: mark(em, scope, panel, count), lanes }
    }

    fn load(&self, em: &mut Emitter<'_>, scope: ScopeId, pairs: usize) -> Value {
        let ty = Elem::I16.ty(2 * pairs);
        em.op(scope, Op::aligned_load(self.pointer, ty, 4))
    }

    fn store(&self, em: &mut Emitter<'_>, scope: ScopeId, least: Value, pairs: usize) {
        let ty = Elem::I16.ty(2 * pairs);
        em.run(scope, Op::aligned_store(least, self.pointer, ty, 4));
    }

    /// Nothing is packed yet.
    pub(crate) fn start(&self, em: &mut Emitter<'_>, scope: ScopeId) {
        let most = em.constant(Elem::I16, 0xffff, 2 * self.lanes);
        self.store(em, scope, most, self.lanes);
    }

    /// So many pairs side by side are packed.
    pub(crate) fn note(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        pairs: Value,
        (elem, many): (Elem, usize),
    ) {
        let halves = Elem::I16.ty(2 * many);
        let [size, one] = [0x7fff, 1].map(|bits| em.constant(Elem::I16, bits, 2 * many));
        let bits = em.op(scope, Op::cast("llvm.bitcast", pairs, elem.ty(many), halves));
        let size = em.op(scope, Op::same("arith.andi", [bits, size], halves));
        let below = em.op(scope, Op::same("arith.subi", [size, one], halves));
        let least = self.load(em, scope, many);
        let least = em.op(scope, Op::same("arith.minui", [least, below], halves));
        self.store(em, scope, least, many);
    }

    /// Joins what another one has kept.
    pub(crate) fn join(&self, em: &mut Emitter<'_>, scope: ScopeId, other: &Least) {
        let [x, y] = [self, other].map(|least| least.load(em, scope, self.lanes));
        let least = em.op(scope, Op::same("arith.minui", [x, y], Elem::I16.ty(2 * self.lanes)));
        self.store(em, scope, least, self.lanes);
    }

    /// Writes behind a panel of so many pairs of halves whether one of the halves is subnormal.
    pub(crate) fn mark(&self, em: &mut Emitter<'_>, scope: ScopeId, (panel, count): (Value, i64)) {
        let (least, halves) = (self.load(em, scope, self.lanes), Elem::I16.ty(2 * self.lanes));
        let least = em.op(scope, Op::Reduction { kind: "minui", vector: least, ty: halves });
        let subnormal = em.constant(Elem::I16, 0x7f, 1);
        let any = em.cmpi(At { scope, lanes: 1 }, "ult", least, subnormal, Elem::I16);
        let any = em.op(scope, Op::cast("arith.extui", any, Type::I1, Elem::I32.ty(1)));
        let to = mark(em, scope, panel, count);
        em.run(scope, Op::store(any, to, Elem::I32.ty(1)));
    }
}

/// Where the mark of a panel of so many pairs is.
fn mark(em: &mut Emitter<'_>, scope: ScopeId, panel: Value, count: i64) -> Value {
    em.op(scope, Op::Element { pointer: panel, index: Index::Number(count), of: Elem::I32.ty(1) })
}

/// Packs a panel of so many elements, and marks it if halves may be subnormal.
pub(crate) fn marked(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    c: &Contraction,
    panel: (Value, i64),
    pack: impl FnOnce(&mut Emitter<'_>, Option<&Least>) -> Result<(), CodegenError>,
) -> Result<(), CodegenError> {
    if !c.has_halves() {
        return pack(em, None);
    }
    let least = Least::new(em, c.tile.lanes);
    least.start(em, scope);
    pack(em, Some(&least))?;
    least.mark(em, scope, panel);
    Ok(())
}

/// Is one of two panels of so many pairs marked?
pub(crate) fn is_marked(em: &mut Emitter<'_>, scope: ScopeId, panels: [(Value, i64); 2]) -> Value {
    let [x, y] = panels.map(|(panel, count)| {
        let from = mark(em, scope, panel, count);
        em.op(scope, Op::load(from, Elem::I32.ty(1)))
    });
    let at = At { scope, lanes: 1 };
    let both = em.bin(at, "arith.ori", x, y, Elem::I32);
    let zero = em.constant(Elem::I32, 0, 1);
    em.cmpi(at, "ne", both, zero, Elem::I32)
}
