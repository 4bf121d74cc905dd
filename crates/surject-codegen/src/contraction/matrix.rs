//! Tiles in registers for tiles: sixteen rows of sixteen elements each (AMX).
//!
//! One instruction takes sixteen elements of every row of a register and as many terms of every column, bytes or pairs of
//! `bf16`, and adds the products to a third register. A tile of a contraction is four of those, or two. The columns lie as
//! in any panel of elements that hold several points; rows lie one behind the other, each with its terms in their order.

use super::direct::Target as To;
use super::pairs::{self, Kind, Pairs};
use super::tile::Inner;
use super::windows::Reads;
use super::{Contraction, Tiles, product};
use crate::dag::{Dag, Node};
use crate::emit::{Elem, Emitter, ScopeId};
use crate::{CodegenError, Target};
use std::fmt::Write as _;

/// Rows of a register, and elements of a row.
const SIDE: usize = 16;
/// Rows of a tile.
const HIGH: usize = 2 * SIDE;
/// Vectors that would be multiplied in the time of a term of a register: half of what there is to it.
pub(super) const VECTORS: f64 = 8.0;
/// The least number of columns that fill registers well enough. Few rows leave them mostly empty, and are still multiplied
/// in less time than it takes to fetch the columns.
const LEAST: i64 = 12;
/// Rows of a tile that is multiplied in `f32`.
const EXACT: usize = 8;

/// So many terms as whole registers.
pub(super) fn whole(terms: i64) -> i64 {
    (terms as u64).next_multiple_of(SIDE as u64) as i64
}

/// A contraction with tiles in these registers, if the machine has them and its factors fit.
pub(super) fn in_tiles(dag: &Dag, c: Contraction, target: &Target) -> Contraction {
    let Some(pairs) = c.pairs.and_then(|pairs| of_tiles(dag, &c, pairs, target)) else { return c };
    let (lanes, vectors, _) = c.tile;
    // The elements of a row lie one behind the other along the innermost loop.
    let outer = c.sum.iter().copied().filter(|&l| l != pairs.along);
    let changed = Contraction {
        sum: outer.chain([pairs.along]).collect(),
        pairs: Some(pairs),
        matrix: true,
        filled: None,
        tile: (lanes, vectors, HIGH),
        usual: HIGH,
        ..c.clone()
    };
    let wide = lanes == SIDE && product(dag, &c.rows) > 1 && dag.extent(c.lane) >= LEAST;
    if wide && !c.streams && changed.row_pack(dag).may_be_turned(dag, &c.rows) { changed } else { c }
}

/// What the elements of registers for tiles hold.
fn of_tiles(dag: &Dag, c: &Contraction, pairs: Pairs, target: &Target) -> Option<Pairs> {
    let Node::Reduce { body, .. } = dag[c.node].node else { return None };
    let Node::Binary(_, x, y) = dag[body].node else { return None };
    // The terms are products of the factors and nothing more.
    if ![[x, y], [y, x]].contains(&c.factors) {
        return None;
    }
    let kind = match pairs.kind {
        Kind::Halves if target.tiles.halves => Kind::Halves,
        Kind::Integers if target.tiles.bytes => pairs::bytes(dag, c.factors)?,
        _ => return None,
    };
    Some(Pairs { kind, ..pairs })
}

/// Makes the registers those of tiles, as long as the kernel runs.
pub(super) fn open(em: &mut Emitter<'_>, scope: ScopeId) {
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
pub(super) fn close(em: &mut Emitter<'_>, scope: ScopeId) {
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
    pub(super) fn in_registers(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (rows, columns): (&str, &str),
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
        let apart = self.times(em, scope, &to.apart, size);
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
        (rows, columns): (&str, &str),
        to: &To,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let terms = self.sizes.sum;
        let reads = Reads { step: terms, nest: vec![(terms, 1)], copied: true, columns: Vec::new() };
        for first in (0..HIGH as i64).step_by(EXACT) {
            let ahead = em.int(first * terms);
            let rows = self.offset(em, scope, rows, &ahead);
            let ahead = self.times(em, scope, &to.apart, first);
            let tile = self.offset(em, scope, &to.tile, &ahead);
            let part = To { tile, apart: to.apart.clone(), direct: None };
            let inner = Inner { high: EXACT, reads: Some(&reads), ..inner };
            self.tile(em, scope, (&rows, columns), &part, inner)?;
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
