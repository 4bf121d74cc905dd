//! Emits products in registers for tiles ([`crate::schedule::contraction::matrix`]).

use crate::CodegenError;
use crate::code::{Elements, Function, Literal, Op, Symbol, Value};
use crate::expression::dag::Dag;
use crate::lower::contraction::Tiles;
use crate::lower::contraction::direct::Target as To;
use crate::lower::contraction::tile::Inner;
use crate::lower::emit::{Bounds, Carried, Emitter, ScopeId};
use crate::machine::elem::{Elem, Type};
use crate::schedule::contraction::matrix::{HIGH, SIDE};
use crate::schedule::contraction::pairs::Kind;
use crate::schedule::contraction::windows::{Reads, Terms};

/// Rows of a tile that is multiplied in `f32`.
const EXACT: usize = 8;

/// Makes the registers those of tiles, as long as the kernel runs.
pub(crate) fn open(em: &mut Emitter<'_>, scope: ScopeId) {
    let bytes = Elem::I8.ty(64);
    // All eight registers have sixteen rows of 64 bytes.
    let config = (0..64)
        .map(|byte| match byte {
            0 => 1,
            16..32 if byte % 2 == 0 => 64,
            48..56 => 16,
            _ => 0,
        })
        .collect();
    let one = em.int(1);
    let config = em.op(scope, Op::Constant(Literal::new(Elem::I8, Elements::Each(config))));
    let to = em.op(scope, Op::Alloca { count: one, of: bytes, alignment: Some(64) });
    em.run(scope, Op::aligned_store(config, to, bytes, 64));
    em.run(scope, Op::intrinsic("llvm.x86.ldtilecfg", [(to, Type::Pointer)], None));
}

/// Gives the registers back.
pub(crate) fn close(em: &mut Emitter<'_>, scope: ScopeId) {
    em.run(scope, Op::intrinsic("llvm.x86.tilerelease", [], None));
}

/// The instruction for a product, if there is one.
fn product_of(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Halves => "tdpbf16ps",
        Kind::Bytes([true, true]) => "tdpbssd",
        Kind::Bytes([true, false]) => "tdpbsud",
        Kind::Bytes([false, true]) => "tdpbusd",
        Kind::Bytes([false, false]) => "tdpbuud",
        Kind::Integers => return None,
    })
}

impl Tiles<'_> {
    /// As [`Tiles::tile`]: a function, which contractions share.
    pub(crate) fn in_registers(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (rows, columns): (Value, Value),
        to: &To,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        if inner.exact {
            return self.in_vectors(em, scope, (rows, columns), to, inner);
        }
        let Some(name) = c.pairs.and_then(|pairs| product_of(pairs.kind)) else {
            return Err(CodegenError::malformed("registers for tiles of what they do not multiply"));
        };
        let beside = (inner.active as u64).div_ceil(SIDE as u64) as usize;
        // Of a tile with few rows the lower registers hold none.
        let high = if s.rows <= SIDE as i64 { 1 } else { HIGH / SIDE };
        let function = function_of(name, high, beside);
        let size = s.elem.size() as i64;
        let pitch = self.times(em, scope, to.pitch, size);
        let [row, term, count] =
            [s.sum * size, s.width * size, s.sum / SIDE as i64].map(|number| em.int(number));
        em.call_shared(scope, function, &[rows, columns, row, term, count, to.tile, pitch]);
        Ok(())
    }

    /// The tile in `f32`, some rows after the other.
    fn in_vectors(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (rows, columns): (Value, Value),
        to: &To,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let terms = self.sizes.sum;
        let reads = Reads {
            step: terms,
            nest: vec![Terms { count: terms, stride: 1 }],
            copied: true,
            columns: Vec::new(),
        };
        for first in (0..HIGH as i64).step_by(EXACT) {
            let delta = em.int(first * terms);
            let rows = self.offset(em, scope, rows, delta);
            let delta = self.times(em, scope, to.pitch, first);
            let tile = self.offset(em, scope, to.tile, delta);
            let part = To { tile, pitch: to.pitch, direct: None };
            let inner = Inner { high: EXACT, reads: Some(&reads), ..inner };
            self.tile(em, scope, (rows, columns), &part, inner)?;
        }
        Ok(())
    }
}

/// The function for a tile of so many registers above and beside each other. Its parameters are the rows, the columns, the
/// bytes from a row to the next and from the columns of a term to those of the next, how many registers the terms fill, the
/// tile, and the bytes from a row of it to the next.
fn function_of(product: &str, high: usize, beside: usize) -> Function {
    const P: Type = Type::Pointer;
    const N: Type = Type::I64;
    let none = Dag::default();
    let mut em = Emitter::new(&none);
    let [rows, columns, row, term, count, tile, pitch] = [P, P, N, N, N, P, N].map(|ty| em.parameter(ty));
    let (root, number) = (em.root(), Elem::I8.ty(1));
    let intrinsic = |em: &mut Emitter<'_>, scope: ScopeId, name: &str, given: &[(Value, Type)]| {
        em.run(scope, Op::intrinsic(format!("llvm.x86.{name}"), given, None));
    };
    let step = |em: &mut Emitter<'_>, scope: ScopeId, from: Value, bytes: Value| {
        em.element(from, bytes, Elem::I8, scope)
    };
    // Sums are in the first registers; rows and columns in the last four.
    let registers = [0, 1, 2, 3, 4, 5, 6, 7].map(|register| (em.op(root, Op::Register(register)), number));
    let [zero, one, side, line] = [0, 1, SIDE as i64, 4 * SIDE as i64].map(|number| em.int(number));
    let [all_rows, all_terms, all_apart] =
        [row, term, pitch].map(|distance| em.arith(root, "arith.muli", distance, side));
    let sum = |high: usize, column: usize| registers[high * beside + column];
    for &register in &registers[..high * beside] {
        intrinsic(&mut em, root, "tilezero", &[register]);
    }
    let body = em.open(root, Vec::new(), None);
    let [iv, x0, y0] = [(); 3].map(|()| em.name());
    let (x1, y1) = (step(&mut em, body, x0, all_rows), step(&mut em, body, y0, line));
    // What a product needs is read right before it: the first products go on while the others are read. Rows pass by
    // once, and are not to drive the columns out of the nearest cache.
    for (high, x) in [x0, x1].into_iter().take(high).enumerate() {
        intrinsic(&mut em, body, "tileloaddt164", &[registers[4 + high], (x, P), (row, N)]);
        for (column, y) in [y0, y1].into_iter().take(beside).enumerate() {
            if high == 0 {
                intrinsic(&mut em, body, "tileloadd64", &[registers[6 + column], (y, P), (term, N)]);
            }
            let factors = [sum(high, column), registers[4 + high], registers[6 + column]];
            intrinsic(&mut em, body, product, &factors);
        }
    }
    let (x, y) = (step(&mut em, body, x0, line), step(&mut em, body, y0, all_terms));
    let carried = [(x0, rows, x), (y0, columns, y)];
    let carried = carried.map(|(name, init, next)| Carried { name, init, ty: P, next });
    em.close_loop(body, iv, &Bounds { low: zero, high: count, step: one }, &carried);
    let lower = step(&mut em, root, tile, all_apart);
    for (high, place) in [tile, lower].into_iter().take(high).enumerate() {
        for (column, delta) in [zero, line].into_iter().take(beside).enumerate() {
            let to = step(&mut em, root, place, delta);
            intrinsic(&mut em, root, "tilestored64", &[sum(high, column), (to, P), (pitch, N)]);
        }
    }
    em.finish_function(Symbol::Named(format!("tile_{product}_{high}x{beside}"))).0
}
