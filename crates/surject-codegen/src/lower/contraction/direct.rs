//! Tiles that go straight from registers to the output.
//!
//! Where the stored field is the sum itself, and the rows of a tile are equally far apart in the output, there is
//! nothing to be done between the two. Only a tile at an end goes through memory, because a part of it is not stored.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::lower::contraction::Tiles;
use crate::lower::contraction::panels::Part;
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::{Elem, Type};

/// Where a tile goes.
pub(crate) struct Target {
    /// The address of its first element.
    pub(crate) tile: Value,
    /// Elements from one row to the next.
    pub(crate) pitch: Value,
    /// Is it the output? Then there is nothing more to do.
    pub(crate) direct: Option<Value>,
}

impl Tiles<'_> {
    /// Is what is stored the sum itself, column by column?
    fn is_plain_sum(&self) -> bool {
        let (output, c) = (self.output, self.c);
        output.root == c.node
            && output.join.is_none()
            && output.address.coeff(c.lane) == 1
            && Elem::in_memory(self.dag[output.root].dtype) == self.sizes.elem
            && self.sizes.pass == 0
    }

    /// The share of the tiles that do not go straight to the output.
    pub(crate) fn through_memory(&self) -> f64 {
        let (s, c) = (&self.sizes, self.c);
        let Some(&last) = c.rows.last().filter(|_| self.is_plain_sum()) else { return 1.0 };
        // Of the tiles that a loop is cut into, the last may be cut off, and where it goes on, so may the first.
        let cut = |extent: i64, size: i64, ends: i64| match extent % size {
            0 => 0.0,
            _ => (ends * size) as f64 / extent as f64,
        };
        let ends = if c.rows.len() == 1 || c.filled.is_some() { 1 } else { 2 };
        let rows = cut(self.dag.extent(last), s.high, ends);
        (rows + cut(self.dag.extent(c.lane), s.width, 1)).min(1.0)
    }

    /// Where the tile of some rows of an item and a panel goes: the output, if it is whole.
    pub(crate) fn target(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        part: &Part<'_>,
        tile: Value,
        (row_iv, panel): (Value, Value),
    ) -> Result<Target, CodegenError> {
        let (s, c, output) = (&self.sizes, self.c, self.output);
        let pitch = em.int(s.width);
        let in_memory = Target { tile, pitch, direct: None };
        let Some(&last) = c.rows.last() else { return Ok(in_memory) };
        if !self.is_plain_sum() {
            return Ok(in_memory);
        }
        let at = em.open(scope, Vec::new(), None);
        let distance = self.times(em, at, row_iv, s.high);
        let first = em.arith(at, "arith.addi", part.first_row, distance);
        let digit = self.bind_rows(em, at, first);
        em.bind(at, last, digit);
        let column = self.times(em, at, panel, s.width);
        em.bind(at, c.lane, column);
        let start = em.lin(&output.address, at);
        let pointer = em.pointer(self.output.to)?;
        let place = self.offset(em, at, pointer, start);

        // All of its rows are in one loop, in this item and in the output; and so are its columns.
        let high = em.int(s.high);
        let end = em.arith(at, "arith.addi", digit, high);
        let extent = em.int(self.dag.extent(last));
        let mut whole = em.compare(at, "sle", end, extent);
        let end = em.arith(at, "arith.addi", distance, high);
        let here = em.compare(at, "sle", end, part.here);
        whole = em.bin(At { scope: at, lanes: 1 }, "arith.andi", whole, here, Elem::I1);
        let full = self.dag.extent(c.lane) / s.width;
        if self.dag.extent(c.lane) % s.width != 0 {
            let full = em.int(full);
            let inside = em.compare(at, "slt", panel, full);
            whole = em.bin(At { scope: at, lanes: 1 }, "arith.andi", whole, inside, Elem::I1);
        }
        let there = em.int(output.address.coeff(last));
        let tile =
            em.op(at, Op::Select { condition: (whole, Type::I1), values: [place, tile], ty: Type::Pointer });
        let pitch = em.pick_number(at, whole, there, pitch);
        em.close_plain(at);
        Ok(Target { tile, pitch, direct: Some(whole) })
    }
}
