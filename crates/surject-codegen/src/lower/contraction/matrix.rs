//! Emits products in registers for tiles ([`crate::schedule::contraction::matrix`]).

use crate::code::Value;
use crate::CodegenError;
use crate::lower::contraction::Tiles;
use crate::lower::contraction::direct::Target as To;
use crate::lower::contraction::tile::Inner;
use crate::lower::emit::{Emitter, ScopeId};
use crate::machine::elem::Elem;
use crate::schedule::contraction::matrix::{HIGH, SIDE};
use crate::schedule::contraction::pairs::Kind;
use crate::schedule::contraction::windows::Reads;
use std::fmt::Write as _;

/// Rows of a tile that is multiplied in `f32`.
const EXACT: usize = 8;

/// Makes the registers those of tiles, as long as the kernel runs.
pub(crate) fn open(em: &mut Emitter<'_>, scope: ScopeId) {
    let bytes = Elem::I8.ty(64);
    // All eight registers have sixteen rows of 64 bytes.
    let list: Vec<&str> = (0..64)
        .map(|byte| match byte {
            0 => "1",
            16..32 if byte % 2 == 0 => "64",
            48..56 => "16",
            _ => "0",
        })
        .collect();
    let one = em.int(1);
    let config = em.op(scope, &format!("arith.constant dense<[{}]> : {bytes}", list.join(", ")));
    let to =
        em.op(scope, &format!("llvm.alloca {one} x {bytes} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr"));
    em.line(scope, &format!("llvm.store {config}, {to} {{alignment = 64 : i64}} : {bytes}, !llvm.ptr"));
    em.line(scope, &format!("llvm.call_intrinsic \"llvm.x86.ldtilecfg\"({to}) : (!llvm.ptr) -> ()"));
}

/// Gives the registers back.
pub(crate) fn close(em: &mut Emitter<'_>, scope: ScopeId) {
    em.line(scope, "llvm.call_intrinsic \"llvm.x86.tilerelease\"() : () -> ()");
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
        let function = format!("@tile_{name}_{high}x{beside}");
        let text = function_of(name, high, beside);
        em.declarations.insert(format!(
            "llvm.func internal {function}(%rows: !llvm.ptr, %columns: !llvm.ptr, %row: i64, %term: i64, %count: i64, \
             %tile: !llvm.ptr, %apart: i64) {{\n{text}llvm.return\n}}"
        ));
        let size = s.elem.size() as i64;
        let apart = self.times(em, scope, to.apart, size);
        let [row, term, count] =
            [s.sum * size, s.width * size, s.sum / SIDE as i64].map(|number| em.int(number));
        let tile = &to.tile;
        em.line(
            scope,
            &format!(
                "llvm.call {function}({rows}, {columns}, {row}, {term}, {count}, {tile}, {apart}) : \
                 (!llvm.ptr, !llvm.ptr, i64, i64, i64, !llvm.ptr, i64) -> ()"
            ),
        );
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
        let reads = Reads { step: terms, nest: vec![(terms, 1)], copied: true, columns: Vec::new() };
        for first in (0..HIGH as i64).step_by(EXACT) {
            let ahead = em.int(first * terms);
            let rows = self.offset(em, scope, rows, ahead);
            let ahead = self.times(em, scope, to.apart, first);
            let tile = self.offset(em, scope, to.tile, ahead);
            let part = To { tile, apart: to.apart.clone(), direct: None };
            let inner = Inner { high: EXACT, reads: Some(&reads), ..inner };
            self.tile(em, scope, (rows, columns), &part, inner)?;
        }
        Ok(())
    }
}

/// The body of a function for a tile of so many registers above and beside each other: `%row` and `%term` are the bytes from a row
/// to the next and from the columns of a term to those of the next, and `%count` is how many registers the terms fill.
fn function_of(product: &str, high: usize, beside: usize) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        let _ = writeln!(text, "{words}");
    };
    let intrinsic = |name: &str, given: &str, types: &str| {
        format!("llvm.call_intrinsic \"llvm.x86.{name}\"({given}) : ({types}) -> ()")
    };
    let step = |to: &str, from: &str, bytes: &str| {
        format!("{to} = llvm.getelementptr {from}[{bytes}] : (!llvm.ptr, i64) -> !llvm.ptr, i8")
    };
    // Sums are in the first registers; rows and columns in the last four.
    for register in 0..8 {
        line(format!("%r{register} = llvm.mlir.constant({register} : i8) : i8"));
    }
    for number in [0, 1, SIDE, 4 * SIDE] {
        line(format!("%n{number} = arith.constant {number} : i64"));
    }
    for distance in ["row", "term", "apart"] {
        line(format!("%all_{distance} = arith.muli %{distance}, %n{SIDE} : i64"));
    }
    let sum = |high: usize, column: usize| high * beside + column;
    for register in 0..high * beside {
        line(intrinsic("tilezero", &format!("%r{register}"), "i8"));
    }
    line("%ends:2 = scf.for %i = %n0 to %count step %n1 iter_args(%x0 = %rows, %y0 = %columns) -> (!llvm.ptr, !llvm.ptr) : i64 {".to_string());
    line(step("%x1", "%x0", "%all_row"));
    line(step("%y1", "%y0", "%n64"));
    // What a product needs is read right before it: the first products go on while the others are read. Rows pass by
    // once, and are not to drive the columns out of the nearest cache.
    for high in 0..high {
        line(intrinsic("tileloaddt164", &format!("%r{}, %x{high}, %row", 4 + high), "i8, !llvm.ptr, i64"));
        for column in 0..beside {
            if high == 0 {
                let given = format!("%r{}, %y{column}, %term", 6 + column);
                line(intrinsic("tileloadd64", &given, "i8, !llvm.ptr, i64"));
            }
            let registers = format!("%r{}, %r{}, %r{}", sum(high, column), 4 + high, 6 + column);
            line(intrinsic(product, &registers, "i8, i8, i8"));
        }
    }
    line(step("%x", "%x0", "%n64"));
    line(step("%y", "%y0", "%all_term"));
    line("scf.yield %x, %y : !llvm.ptr, !llvm.ptr\n}".to_string());
    line(step("%lower", "%tile", "%all_apart"));
    for (high, place) in ["%tile", "%lower"].into_iter().take(high).enumerate() {
        for column in 0..beside {
            let to = format!("%to{}", sum(high, column));
            let ahead = if column == 0 { "%n0" } else { "%n64" };
            line(step(&to, place, ahead));
            let given = format!("%r{}, {to}, %apart", sum(high, column));
            line(intrinsic("tilestored64", &given, "i8, !llvm.ptr, i64"));
        }
    }
    text
}
