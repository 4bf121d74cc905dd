//! Emits products of pairs of narrow values ([`crate::schedule::contraction::pairs`]).

use crate::code::Value;
use crate::CodegenError;
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Elem;
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
                value = em.op(scope, &format!("arith.shrui {value}, {upper} : {ty}"));
            } else {
                let mask = em.constant(Elem::I32, (1 << bits) - 1, lanes);
                value = em.op(scope, &format!("arith.andi {value}, {mask} : {ty}"));
            }
            let place = em.constant(Elem::I32, place, lanes);
            let value = em.op(scope, &format!("arith.shli {value}, {place} : {ty}"));
            all = Some(match all {
                Some(all) => em.op(scope, &format!("arith.ori {all}, {value} : {ty}")),
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
            value = em.op(scope, &format!("arith.shrui {value}, {sixteen} : {wide}"));
        }
        let narrow = em.op(scope, &format!("arith.trunci {value} : {wide} to {}", few.ty(many)));
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
            let pairs = format!("vector<{}xbf16>", 2 * lanes);
            let [x, y] = [x, y].map(|v| em.op(scope, &format!("vector.bitcast {v} : {ty} to {pairs}")));
            return Ok(em.op(
                scope,
                &format!(
                    "llvm.call_intrinsic \"llvm.x86.avx512bf16.dpbf16ps.{}\"({into}, {x}, {y}) : \
                     ({ty}, {pairs}, {pairs}) -> {ty}",
                    32 * lanes
                ),
            ));
        }
        let halves = Elem::I16.ty(2 * lanes);
        let [x, y] = [x, y].map(|v| cast(em, scope, v, (Elem::I32, lanes), (Elem::I16, 2 * lanes)));
        let name = match lanes {
            16 => "avx512.pmaddw.d.512",
            8 => "avx2.pmadd.wd",
            _ => "sse2.pmadd.wd",
        };
        let sum = em.op(
            scope,
            &format!("llvm.call_intrinsic \"llvm.x86.{name}\"({x}, {y}) : ({halves}, {halves}) -> {ty}"),
        );
        Ok(em.op(scope, &format!("arith.addi {into}, {sum} : {ty}")))
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
            let first = em.op(scope, &format!("arith.shli {bits}, {sixteen} : {ty}"));
            let second = em.op(scope, &format!("arith.andi {bits}, {upper} : {ty}"));
            [first, second].map(|v| cast(em, scope, v, (Elem::I32, lanes), (Elem::F32, lanes)))
        });
        let [[x0, x1], [y0, y1]] = parts;
        let ty = Elem::F32.ty(lanes);
        let sum = em.op(scope, &format!("math.fma {x0}, {y0}, {into} : {ty}"));
        em.op(scope, &format!("math.fma {x1}, {y1}, {sum} : {ty}"))
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
    em.op(scope, &format!("{name} {value} : {} to {}", from.ty(many), to.ty(lanes)))
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
        let pointer =
            em.op(root, &format!("llvm.alloca {bytes} x i8 {{alignment = 64 : i64}} : (i64) -> !llvm.ptr"));
        Least { pointer, lanes }
    }

    /// That behind a panel of so many pairs, where the mark will be.
    pub(crate) fn behind(
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (panel, count): (Value, i64),
        lanes: usize,
    ) -> Least {
        let to = format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32");
        Least { pointer: em.op(scope, &to), lanes }
    }

    fn load(&self, em: &mut Emitter<'_>, scope: ScopeId, pairs: usize) -> Value {
        let ty = Elem::I16.ty(2 * pairs);
        em.op(scope, &format!("llvm.load {} {{alignment = 4 : i64}} : !llvm.ptr -> {ty}", self.pointer))
    }

    fn store(&self, em: &mut Emitter<'_>, scope: ScopeId, least: Value, pairs: usize) {
        let ty = Elem::I16.ty(2 * pairs);
        em.line(
            scope,
            &format!("llvm.store {least}, {} {{alignment = 4 : i64}} : {ty}, !llvm.ptr", self.pointer),
        );
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
        let bits = em.op(scope, &format!("llvm.bitcast {pairs} : {} to {halves}", elem.ty(many)));
        let size = em.op(scope, &format!("arith.andi {bits}, {size} : {halves}"));
        let below = em.op(scope, &format!("arith.subi {size}, {one} : {halves}"));
        let least = self.load(em, scope, many);
        let least = em.op(scope, &format!("arith.minui {least}, {below} : {halves}"));
        self.store(em, scope, least, many);
    }

    /// Joins what another one has kept.
    pub(crate) fn join(&self, em: &mut Emitter<'_>, scope: ScopeId, other: &Least) {
        let [x, y] = [self, other].map(|least| least.load(em, scope, self.lanes));
        let least = em.op(scope, &format!("arith.minui {x}, {y} : {}", Elem::I16.ty(2 * self.lanes)));
        self.store(em, scope, least, self.lanes);
    }

    /// Writes behind a panel of so many pairs of halves whether one of the halves is subnormal.
    pub(crate) fn mark(&self, em: &mut Emitter<'_>, scope: ScopeId, (panel, count): (Value, i64)) {
        let (least, halves) = (self.load(em, scope, self.lanes), Elem::I16.ty(2 * self.lanes));
        let least = em.op(scope, &format!("vector.reduction <minui>, {least} : {halves} into i16"));
        let subnormal = em.constant(Elem::I16, 0x7f, 1);
        let any = em.op(scope, &format!("arith.cmpi ult, {least}, {subnormal} : i16"));
        let any = em.op(scope, &format!("arith.extui {any} : i1 to i32"));
        let to =
            em.op(scope, &format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32"));
        em.line(scope, &format!("llvm.store {any}, {to} : i32, !llvm.ptr"));
    }
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
        let from =
            em.op(scope, &format!("llvm.getelementptr {panel}[{count}] : (!llvm.ptr) -> !llvm.ptr, i32"));
        em.op(scope, &format!("llvm.load {from} : !llvm.ptr -> i32"))
    });
    let both = em.op(scope, &format!("arith.ori {x}, {y} : i32"));
    let zero = em.constant(Elem::I32, 0, 1);
    em.op(scope, &format!("arith.cmpi ne, {both}, {zero} : i32"))
}
