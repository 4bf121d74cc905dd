//! The panels of columns and the tiles of rows that are one item of work.
//!
//! Mostly a tile runs through the whole sum and is stored. Where there are few rows and many columns (`Sizes::pass`)
//! that would read a few columns of every row of the column factor, and come back to each of its pages once for
//! every panel. Then some terms of all tiles are added at a time: the rows of the column factor are read from their
//! start to their end, a few side by side, and the tiles are kept in memory near by.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::{Lin, LoopSet};
use crate::expression::output::buffers;
use crate::lower::contraction::direct::Target;
use crate::lower::contraction::outlined::Given;
use crate::lower::contraction::tile::Inner;
use crate::lower::contraction::windows::Place;
use crate::lower::contraction::{Tiles, pairs};
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::schedule::contraction::read_by_tiles;

/// The names of an item of work.
pub(crate) struct Part<'a> {
    pub(crate) item: ScopeId,
    pub(crate) batch: Value,
    pub(crate) group: Value,
    pub(crate) first_row: Value,
    /// The number of rows.
    pub(crate) here: Value,
    /// Where they end, if that is in the middle of a tile though rows follow.
    pub(crate) end: Option<Value>,
    /// The bounds of the loop over row tiles.
    pub(crate) tiles: &'a Bounds,
    /// The packed rows, and the columns.
    pub(crate) rows: Value,
    pub(crate) columns: Value,
    /// A tile in memory, or all of them.
    pub(crate) tile: Value,
}

/// What is done with every tile.
#[derive(Clone, Copy)]
pub(crate) enum Pass {
    /// All terms are added, and it is stored.
    Whole,
    /// Terms from the first of these numbers on are added, as many as the second says.
    Terms(Value, Value),
    /// It is stored.
    Store,
}

impl Tiles<'_> {
    /// Some terms of all tiles at a time.
    pub(crate) fn passes(&self, em: &mut Emitter<'_>, part: &Part<'_>) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let crate::expression::dag::Node::Reduce { op, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        let (zero, lanes) = (em.int(0), c.tile.lanes);
        // The tiles of no terms.
        let neutral = em.scalar(op.neutral(self.dag[c.node].dtype), lanes);
        let clear = em.open(part.item, Vec::new(), None);
        let iv = em.name();
        let to = self.offset(em, clear, part.tile, iv);
        let (ty, size) = (s.elem.ty(lanes), s.elem.size());
        em.run(clear, Op::aligned_store(neutral, to, ty, size));
        let bounds =
            Bounds { low: zero, high: em.int(s.group * s.width * s.block), step: em.int(lanes as i64) };
        em.close_loop(clear, iv, &bounds, &[]);

        let pass = em.open(part.item, Vec::new(), None);
        let first = em.name();
        let (all, most) = (em.int(s.sum), em.int(s.pass));
        let left = em.arith(pass, "arith.subi", all, first);
        let count = em.arith(pass, "arith.minsi", left, most);
        let inner = Part { item: pass, ..*part };
        self.panels(em, &inner, Pass::Terms(first, count))?;
        em.close_loop(pass, first, &Bounds { low: zero, high: all, step: most }, &[]);
        self.panels(em, part, Pass::Store)
    }

    /// Some column panels, all row tiles, one of these panels after the other.
    pub(crate) fn panels(
        &self,
        em: &mut Emitter<'_>,
        part: &Part<'_>,
        pass: Pass,
    ) -> Result<(), CodegenError> {
        let s = &self.sizes;
        let low = self.times(em, part.item, part.group, s.group);
        let (step, most) = (em.int(s.group), em.int(s.all_panels));
        let end = em.arith(part.item, "arith.addi", low, step);
        let end = em.arith(part.item, "arith.minsi", end, most);
        let beside = em.open(part.item, Vec::new(), None);
        let beside_iv = em.name();
        let until = em.int(s.beside);
        let until = em.arith(beside, "arith.addi", beside_iv, until);
        let until = em.arith(beside, "arith.minsi", until, end);
        if self.fresh {
            self.pack_fresh(em, beside, (beside_iv, until), part.columns)?;
        }
        let row = em.open(beside, Vec::new(), None);
        let row_iv = em.name();
        let start = self.times(em, row, row_iv, s.row_panel());
        let rows = self.offset(em, row, part.rows, start);
        let place = match &self.windows {
            Some(windows) => {
                let distance = self.times(em, row, row_iv, s.high);
                let first = em.arith(row, "arith.addi", part.first_row, distance);
                Some(self.place(em, row, windows, first)?)
            }
            None => None,
        };
        let needed = match pass {
            Pass::Whole => self.needed(em, row, part, row_iv)?,
            Pass::Terms(..) | Pass::Store => None,
        };
        let column = em.open(row, Vec::new(), None);
        let column_iv = em.name();
        let panel = self.bind_panel(em, column, &self.c.columns, column_iv);
        let at = OpenTile { row, row_iv, column, column_iv, beside_iv, low, panel };
        let columns = self.columns_of_panel(em, part, &at);
        let mut from = From { rows, columns, place };
        let tile = self.tile_of_pass(em, part, &at, pass, &mut from);
        let to = self.target(em, column, part, tile, (row_iv, panel))?;
        match needed {
            Some(needed) => self.needed_sums(em, &at, &needed, &from, &to)?,
            None => self.sums(em, &at, (pass, None), &from, &to)?,
        }
        if !matches!(pass, Pass::Terms(..)) {
            self.store_tile(em, part, &at, (tile, from.place.as_ref()), &to)?;
        }
        let bounds = Bounds { low: beside_iv, high: until, step: em.int(1) };
        em.close_loop(column, column_iv, &bounds, &[]);
        em.close_loop(row, row_iv, part.tiles, &[]);
        let bounds = Bounds { low, high: end, step: em.int(s.beside) };
        em.close_loop(beside, beside_iv, &bounds, &[]);
        Ok(())
    }

    /// The pointer to the columns of a panel: where they lie, or where they are packed.
    fn columns_of_panel(&self, em: &mut Emitter<'_>, part: &Part<'_>, at: &OpenTile) -> Value {
        let (s, c) = (&self.sizes, self.c);
        let &OpenTile { column, column_iv, beside_iv, panel, .. } = at;
        if let Some(place) = &self.in_place {
            let base = self.times(em, column, panel, s.width);
            let sum: LoopSet = c.sum.iter().copied().collect();
            let terms = place.address.terms.iter().copied().filter(|t| !sum.contains(t.0)).collect();
            let first = Lin { terms, offset: place.address.offset };
            let scope = em.open(column, vec![(c.lane, base)], None);
            let start = em.lin(&first, scope);
            em.close_plain(scope);
            return self.offset(em, column, part.columns, start);
        }
        let number = if self.fresh {
            em.arith(column, "arith.subi", column_iv, beside_iv)
        } else {
            let batched = self.times(em, column, part.batch, s.all_panels);
            em.arith(column, "arith.addi", batched, column_iv)
        };
        let start = self.times(em, column, number, s.column_panel());
        self.offset(em, column, part.columns, start)
    }

    /// The tile in memory that a pass works on. Where it adds some terms, what it reads moves on to the first of them.
    fn tile_of_pass(
        &self,
        em: &mut Emitter<'_>,
        part: &Part<'_>,
        at: &OpenTile,
        pass: Pass,
        from: &mut From,
    ) -> Value {
        let s = &self.sizes;
        let &OpenTile { row, row_iv, column, column_iv, low, .. } = at;
        if matches!(pass, Pass::Whole) {
            return part.tile;
        }
        let number = em.arith(column, "arith.subi", column_iv, low);
        let above = self.times(em, column, number, s.width * s.block);
        let distance = self.times(em, column, row_iv, s.width * s.high);
        let place = em.arith(column, "arith.addi", above, distance);
        let tile = self.offset(em, column, part.tile, place);
        if let Pass::Terms(first, _) = pass {
            let stride = self.in_place.as_ref().map_or(s.width, |p| p.stride);
            let behind = self.times(em, column, first, stride);
            from.columns = self.offset(em, column, from.columns, behind);
            let behind = self.times(em, row, first, s.high);
            from.rows = self.offset(em, row, from.rows, behind);
        }
        tile
    }

    /// The sums of a tile: the last panel may have fewer columns than the others, and then has code of its own. `count`:
    /// of so many terms, if not of all.
    pub(crate) fn sums(
        &self,
        em: &mut Emitter<'_>,
        at: &OpenTile,
        (pass, count): (Pass, Option<Value>),
        from: &From,
        to: &Target,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let (full, rest) = (self.dag.extent(c.lane) / s.width, self.dag.extent(c.lane) % s.width);
        let mut widths = vec![(None, s.width)];
        // Packed columns are there in whole vectors; beyond those that lie elsewhere must not be read.
        let last = if self.in_place.is_some() || s.tight { rest } else { s.columns_of_rest(rest) };
        if matches!(pass, Pass::Store) {
            // The terms are there.
            widths.clear();
        } else if last != 0 && last != s.width {
            widths = vec![(if full == 0 { None } else { Some("uge") }, last)];
            widths.extend((full != 0).then_some((Some("ult"), s.width)));
        }
        let terms = match pass {
            Pass::Terms(_, terms) => Some(terms),
            Pass::Whole | Pass::Store => None,
        };
        let whole = em.int(full);
        for (predicate, active) in widths {
            let scope = em.open(at.column, Vec::new(), None);
            let inner = Inner { active, high: c.tile.high, terms, count, exact: false, reads: None };
            self.sum(em, scope, from, to, inner)?;
            match predicate {
                Some(predicate) => {
                    let holds = em.compare(at.column, predicate, at.panel, whole);
                    em.close_if(scope, holds);
                }
                None => em.close_plain(scope),
            }
        }
        Ok(())
    }

    /// Stores a tile that is summed, unless the sums were stored where they belong (`to`).
    fn store_tile(
        &self,
        em: &mut Emitter<'_>,
        part: &Part<'_>,
        at: &OpenTile,
        (mut tile, place): (Value, Option<&Place>),
        to: &Target,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let &OpenTile { row_iv, column, panel, .. } = at;
        let distance = self.times(em, column, row_iv, s.high);
        let first = em.arith(column, "arith.addi", part.first_row, distance);
        // A tile that begins earlier has the rows from there on.
        if let Some(earlier) = place.and_then(|p| p.earlier.as_ref()) {
            let skipped = self.times(em, column, *earlier, s.width);
            tile = self.offset(em, column, tile, skipped);
        }
        let rest = em.open(column, Vec::new(), None);
        if self.stores_outlined() {
            let tensors = buffers(self.dag, &[self.output.to], &read_by_tiles(self.dag, self.output, c)[1..]);
            let loops = [c.batch.as_slice(), &c.columns].concat();
            let (pointers, numbers) = ([tile], [first, panel]);
            let given = Given { pointers: &pointers, numbers: &numbers, loops: &loops, tensors: &tensors };
            self.outlined(em, rest, ("store", given), |em, scope, tile, at| {
                self.store(em, scope, (at[0], None), at[1], tile[0])
            })?;
        } else {
            self.store(em, rest, (first, part.end), panel, tile)?;
        }
        match &to.direct {
            Some(direct) => em.close_unless(rest, *direct),
            None => em.close_plain(rest),
        }
        Ok(())
    }

    /// The sum of a tile, by the loop that fits its factors.
    fn sum(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        from: &From,
        tile: &Target,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, packed) = (&self.sizes, (from.rows, from.columns));
        if self.c.has_halves() {
            let marked =
                pairs::is_marked(em, scope, [(packed.0, s.sum * s.high), (packed.1, s.sum * s.width)]);
            for exact in [false, true] {
                let part = em.open(scope, Vec::new(), None);
                self.tile(em, part, packed, tile, Inner { exact, ..inner })?;
                if exact { em.close_if(part, marked) } else { em.close_unless(part, marked) }
            }
            return Ok(());
        }
        let nested = self.in_place.as_ref().and_then(|p| p.nested.as_ref());
        let (Some(windows), Some(place)) = (&self.windows, &from.place) else {
            return self.tile(em, scope, packed, tile, Inner { reads: nested, ..inner });
        };
        let part = em.open(scope, Vec::new(), None);
        let there = Inner { reads: nested.or(Some(&windows.reads)), ..inner };
        self.tile(em, part, (place.from, packed.1), tile, there)?;
        let Some(inside) = &place.inside else {
            em.close_plain(part);
            return Ok(());
        };
        em.close_if(part, *inside);
        let part = em.open(scope, Vec::new(), None);
        let border = self.border.as_ref().map(|b| &b.1);
        self.tile(em, part, packed, tile, Inner { reads: border, ..inner })?;
        em.close_unless(part, *inside);
        Ok(())
    }
}

/// A tile of rows and a panel of columns, inside the loops over both.
#[derive(Clone, Copy)]
pub(crate) struct OpenTile {
    /// The loop over tiles of rows.
    row: ScopeId,
    row_iv: Value,
    /// The loop over panels of columns, of which those from `beside_iv` on are done side by side. The group begins at `low`.
    pub(crate) column: ScopeId,
    column_iv: Value,
    beside_iv: Value,
    low: Value,
    /// The number of the panel along the loop in lanes.
    pub(crate) panel: Value,
}

impl OpenTile {
    /// The same tile, in a scope inside of that of its panel.
    pub(crate) fn inside(&self, column: ScopeId) -> Self {
        Self { column, ..*self }
    }
}

/// Where a tile reads.
pub(crate) struct From {
    /// The packed rows.
    pub(crate) rows: Value,
    pub(crate) columns: Value,
    /// Where the rows lie, if they need not be packed.
    pub(crate) place: Option<Place>,
}
