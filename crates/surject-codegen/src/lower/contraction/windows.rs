//! Emits the reads of rows of windows where they lie ([`crate::schedule::contraction::windows`]).

use crate::code::Value;
use crate::CodegenError;
use crate::expression::address::{Lin, LoopSet};
use crate::lower::contraction::Tiles;
use crate::lower::emit::{Emitter, ScopeId};
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
        Place { inside: self.inside.clone(), from, earlier: self.earlier.clone() }
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
        let start = em.op(rows, &format!("arith.minsi {last}, {room} : i64"));
        em.bind(rows, windows.last, start.clone());
        let mut holds = em.op(rows, &format!("arith.cmpi eq, {last}, {start} : i64"));
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
            let (low, high) = Lin { terms, offset: 0 }
                .range(&extents)
                .ok_or_else(|| CodegenError::overflow("an address"))?;
            let first = em.lin(&fixed(&guard.expr), rows);
            for (by, predicate, bound) in [(low, "sge", 0), (high, "slt", guard.bound)] {
                let (by, bound) = (em.int(by), em.int(bound));
                let end = em.op(rows, &format!("arith.addi {first}, {by} : i64"));
                let inside = em.op(rows, &format!("arith.cmpi {predicate}, {end}, {bound} : i64"));
                holds = em.op(rows, &format!("arith.andi {holds}, {inside} : i1"));
            }
        }
        let first = em.lin(&fixed(&windows.address), rows);
        let pointer = em.pointer(windows.buf)?;
        let from = self.offset(em, rows, pointer, first);
        let earlier = em.op(rows, &format!("arith.subi {last}, {start} : i64"));
        em.close_plain(rows);
        let (inside, earlier) = if windows.always { (None, Some(earlier)) } else { (Some(holds), None) };
        Ok(Place { inside, from, earlier })
    }
}
