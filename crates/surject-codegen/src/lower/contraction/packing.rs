//! Packing the columns of a contraction: by a kernel before it, or where a panel is needed.
//!
//! A panel takes a piece of each row of the column factor. Where rows are long each piece lies in another page, of which a
//! processor has fewer at hand than a panel has terms; so some terms of several panels are packed, then the next ones. With
//! 8 bits and 2048 columns that is 1.7 times as fast, with `f32` and 1024 rows and columns the whole product 1.1 times
//! (Sapphire Rapids, eight and 256 rows).

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::LoopId;
use crate::expression::dag::Buf;
use crate::expression::output::buffers;
use crate::lower::contraction::outlined::Given;
use crate::lower::contraction::pack::{Minor, Panel};
use crate::lower::contraction::pairs::{Least, marked};
use crate::lower::contraction::{Tiles, open_share};
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::kernel::{Kernel, finish, name_pointers};
use crate::lower::units::decode;
use crate::schedule::contraction::packed_tensors;

/// Panels that are packed at once, and of those side by side the terms of each at a time.
const PANELS: i64 = 16;

const TERMS: i64 = 8;

impl Tiles<'_> {
    /// The kernel that packs all panels.
    pub(crate) fn pack_columns(&self, columns: Buf) -> Result<Kernel, CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let mut em = self.emitter();
        let buffers = packed_tensors(self.dag, c, columns);
        name_pointers(&mut em, &buffers);
        let total = s.batch * s.all_panels;
        let bytes = total * s.sum * s.width * s.elem.size() as i64;
        let most = 4 * self.target.threads as i64;
        let tasks = if self.target.threads <= 1 { 1 } else { (bytes / 65_536).min(most).min(total).max(1) };
        let (scope, iv, bounds) = open_share(&mut em, total, tasks);
        let mut loops = c.batch.clone();
        loops.extend(&c.columns);
        let pointer = em.pointer(columns)?;
        let start = self.times(&mut em, scope, iv, s.column_panel());
        let to = self.offset(&mut em, scope, pointer, start);
        let step = em.int(PANELS);
        let until = em.arith(scope, "arith.addi", iv, step);
        let until = em.arith(scope, "arith.minsi", until, bounds.high);
        self.pack_panels(&mut em, scope, (iv, until), (&loops, to))?;
        if self.has_marks() {
            self.mark_panels(&mut em, scope, (iv, until), to)?;
        }
        em.close_loop(scope, iv, &Bounds { step, ..bounds }, &[]);
        let how = if self.terms_of_pages().is_some() { " side by side" } else { "" };
        let text = format!("pack {total} x [{} {}]{how} tasks {tasks}", s.sum, s.width);
        let mut kernel = finish(em, buffers, tasks, vec![columns], text)?;
        // Every element is read and written.
        kernel.cycles = 2.0 * bytes as f64 / crate::schedule::BYTES_A_CYCLE;
        Ok(kernel)
    }

    /// Binds the loops of panels, of which the last is left, to those of a panel, and gives its number along that.
    pub(crate) fn bind_panel(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        loops: &[LoopId],
        number: Value,
    ) -> Value {
        let panels = em.int(self.sizes.panels);
        let panel = em.arith(scope, "arith.remui", number, panels);
        let outer = em.arith(scope, "arith.divui", number, panels);
        decode(em, scope, loops, outer);
        panel
    }

    /// Panels that are needed next, one behind the other at `to`.
    pub(crate) fn pack_fresh(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (from, until): (Value, Value),
        to: Value,
    ) -> Result<(), CodegenError> {
        let c = self.c;
        if !self.outlined {
            return self.pack_panels(em, scope, (from, until), (&c.columns, to));
        }
        let tensors = buffers(self.dag, &[], &[c.factors[1]]);
        let given = Given { pointers: &[to], numbers: &[from, until], loops: &c.batch, tensors: &tensors };
        self.outlined(em, scope, ("columns", given), |em, scope, to, panels| {
            self.pack_panels(em, scope, (panels[0], panels[1]), (&c.columns, to[0]))
        })
    }

    /// Panels that lie one behind the other at `to`.
    pub(crate) fn pack_panels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (from, until): (Value, Value),
        (loops, to): (&[LoopId], Value),
    ) -> Result<(), CodegenError> {
        let each = |em: &mut Emitter<'_>, scope: ScopeId, iv: Value| {
            let panel = self.bind_panel(em, scope, loops, iv);
            let number = em.arith(scope, "arith.subi", iv, from);
            let start = self.times(em, scope, number, self.sizes.column_panel());
            (self.minor(em, scope, panel), self.offset(em, scope, to, start))
        };
        let bounds = Bounds { low: from, high: until, step: em.int(1) };
        if let Some(terms) = self.terms_of_pages() {
            return self.pack_beside(em, scope, &bounds, each, terms);
        }
        let (panel, iv) = (em.open(scope, Vec::new(), None), em.name());
        let (minor, to) = each(em, panel, iv);
        marked(em, panel, self.c, (to, self.sizes.sum * self.sizes.width), |em, least| {
            Panel { least, ..self.c.column_pack(&self.sizes).into() }.emit(em, panel, &minor, to)
        })?;
        em.close_loop(panel, iv, &bounds, &[]);
        Ok(())
    }

    /// The columns of a panel with this number along their last loop.
    fn minor(&self, em: &mut Emitter<'_>, scope: ScopeId, panel: Value) -> Minor {
        let base = self.times(em, scope, panel, self.sizes.width);
        Minor { loops: vec![self.c.lane], base, count: self.dag.extent(self.c.lane) }
    }

    /// The terms of a panel where several panels are packed side by side: each row of the column factor lies in another
    /// page, of which there are many, and one panel after the other would come back to all of them.
    pub(crate) fn terms_of_pages(&self) -> Option<i64> {
        let s = &self.sizes;
        let terms = self.c.column_pack(&self.sizes).terms_of_pages(self.dag, &[self.c.lane])?;
        let bytes = s.panels * s.column_panel() * s.elem.size() as i64;
        let least = self.target.thresholds.packed_beside_l2_shares * self.target.l2_share_bytes as f64;
        (s.panels > 1 && bytes as f64 >= least && terms >= 4 * TERMS).then_some(terms)
    }

    /// Panels between these bounds, of each of which `each` tells the columns and the place, some terms of all of them at a
    /// time.
    fn pack_beside(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        bounds: &Bounds,
        each: impl Fn(&mut Emitter<'_>, ScopeId, Value) -> (Minor, Value),
        terms: i64,
    ) -> Result<(), CodegenError> {
        let (panel_pairs, lanes) = (self.sizes.sum * self.sizes.width, self.c.tile.lanes);
        // What a panel has to tell is kept behind it until all of it is packed.
        let own = self.c.has_halves().then(|| Least::new(em, lanes));
        let (start, iv) = (em.open(scope, Vec::new(), None), em.name());
        let (_, at) = each(em, start, iv);
        Panel::from(self.c.column_pack(&self.sizes)).fill(em, start, at);
        if own.is_some() {
            Least::behind(em, start, (at, panel_pairs), lanes).start(em, start);
        }
        em.close_loop(start, iv, bounds, &[]);

        let (block, first) = (em.open(scope, Vec::new(), None), em.name());
        let (all, step) = (em.int(terms), em.int(TERMS));
        let end = em.arith(block, "arith.addi", first, step);
        let end = em.arith(block, "arith.minsi", end, all);
        let (inner, iv) = (em.open(block, Vec::new(), None), em.name());
        let (minor, at) = each(em, inner, iv);
        if let Some(own) = &own {
            own.start(em, inner);
        }
        let pack =
            Panel { pack: self.c.column_pack(&self.sizes), part: Some((first, end)), least: own.as_ref() };
        pack.emit(em, inner, &minor, at)?;
        if let Some(own) = &own {
            Least::behind(em, inner, (at, panel_pairs), lanes).join(em, inner, own);
        }
        em.close_loop(inner, iv, bounds, &[]);
        let blocks = Bounds { low: em.int(0), high: all, step };
        em.close_loop(block, first, &blocks, &[]);

        if own.is_some() {
            let (end, iv) = (em.open(scope, Vec::new(), None), em.name());
            let (_, at) = each(em, end, iv);
            Least::behind(em, end, (at, panel_pairs), lanes).mark(em, end, (at, panel_pairs));
            em.close_loop(end, iv, bounds, &[]);
        }
        Ok(())
    }
}
