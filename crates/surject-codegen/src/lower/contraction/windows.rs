//! Emits the reads of rows of windows where they lie ([`crate::schedule::contraction::windows`]).

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::{Interval, Lin, LoopSet};
use crate::lower::contraction::Tiles;
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::machine::elem::Elem;
use crate::schedule::contraction::windows::Windows;

/// The rows of a tile, where they lie.
pub(crate) struct Place {
    /// Can they be read there? `None`: always.
    pub(crate) inside: Option<Value>,
    /// The address of the first element, if so.
    pub(crate) from: Value,
    /// So many rows earlier begins the tile.
    pub(crate) earlier: Option<Value>,
}

impl Place {
    /// The same rows, from another element on.
    pub(crate) fn beginning(&self, from: Value) -> Place {
        Place { inside: self.inside, from, earlier: self.earlier }
    }
}

impl Tiles<'_> {
    /// How a tile from a row on reads its rows where they lie.
    pub(crate) fn place(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        windows: &Windows,
        first_row: Value,
    ) -> Result<Place, CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let rows = em.open(scope, Vec::new(), None);
        let last = self.bind_rows(em, rows, first_row);
        let room = em.int(self.dag.extent(windows.last) - s.high);
        let start = em.arith(rows, "arith.minsi", last, room);
        em.bind(rows, windows.last, start);
        let mut holds = em.compare(rows, "eq", last, start);
        let moving: LoopSet = c.sum.iter().copied().collect();
        let fixed = |lin: &Lin| Lin {
            terms: lin.terms.iter().copied().filter(|t| !moving.contains(t.0)).collect(),
            offset: lin.offset,
        };
        let mut extents = self.dag.extents.clone();
        extents[windows.last.0 as usize] = s.high;
        for guard in &windows.guards {
            // How far the expression moves inside the tile.
            let terms = guard.expr.terms.iter().copied();
            let terms = terms.filter(|t| moving.contains(t.0) || t.0 == windows.last).collect();
            let Interval { low, high } = Lin { terms, offset: 0 }
                .range(&extents)
                .ok_or_else(|| CodegenError::overflow("an address"))?;
            let first = em.lin(&fixed(&guard.expr), rows);
            for (by, predicate, bound) in [(low, "sge", 0), (high, "slt", guard.bound)] {
                let (by, bound) = (em.int(by), em.int(bound));
                let end = em.arith(rows, "arith.addi", first, by);
                let inside = em.compare(rows, predicate, end, bound);
                holds = em.bin(At { scope: rows, lanes: 1 }, "arith.andi", holds, inside, Elem::I1);
            }
        }
        let first = em.lin(&fixed(&windows.address), rows);
        let pointer = em.pointer(windows.buf)?;
        let from = self.offset(em, rows, pointer, first);
        let earlier = em.arith(rows, "arith.subi", last, start);
        em.close_plain(rows);
        let (inside, earlier) = if windows.always { (None, Some(earlier)) } else { (Some(holds), None) };
        Ok(Place { inside, from, earlier })
    }
}
