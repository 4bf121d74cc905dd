//! Emits contractions ([`crate::schedule::contraction`]): packing, passes over panels, tiles.

pub(crate) mod direct;
pub(crate) mod matrix;
pub(crate) mod merge_vectors;
pub(crate) mod outlined;
pub(crate) mod pack;
pub(crate) mod packing;
pub(crate) mod pairs;
pub(crate) mod panels;
pub(crate) mod terms;
pub(crate) mod tile;
pub(crate) mod triangle;
pub(crate) mod windows;

use crate::code::{HIGH, LOW, Op, Value, WORKER};
use crate::expression::address::LoopId;
use crate::expression::dag::{Buf, Dag};
use crate::expression::output::{Output, buffers};
use crate::lower::contraction::outlined::Given;
use crate::lower::contraction::pack::{Minor, Panel};
use crate::lower::contraction::panels::{Part, Pass};
use crate::lower::emit::{Bounds, Emitter, ScopeId};
use crate::lower::in_place;
use crate::lower::kernel::{Kernel, finish, name_pointers};
use crate::lower::units::{decode, digits, share_of_task};
use crate::schedule::Schedule;
use crate::schedule::contraction::sizes::{InPlace, Sizes, in_place, in_place_beside};
use crate::schedule::contraction::windows::{Reads, Terms, Windows};
use crate::schedule::contraction::{Contraction, read_by_tiles, reads_columns_in_place, windows_of_range};
use crate::schedule::units::Share;
use crate::{CodegenError, Target};

/// The kernels: columns are packed, unless they can be read where they lie; then tiles are computed.
pub fn emit(
    dag: &Dag,
    output: &Output,
    c: &Contraction,
    schedule: &Schedule,
    target: &Target,
    (columns, rows): (Buf, Buf),
) -> Result<Vec<Kernel>, CodegenError> {
    let sizes = Sizes::new(dag, c, target);
    let emitter = Tiles::new((dag, output), c, schedule, target, sizes);
    let columns = emitter.in_place.as_ref().map_or(columns, |p| p.buf);
    let mut kernels = Vec::new();
    if emitter.in_place.is_none() {
        kernels.push(emitter.pack_columns(columns)?);
    }
    kernels.push(emitter.compute(columns, rows, Share::Task)?);
    Ok(kernels)
}

/// The kernel that packs each panel of columns when it is needed, and the bytes of the panels that are there at once;
/// `None` where a panel is needed more often than once, or need not be packed.
pub(crate) fn emit_fresh(
    (dag, output): (&Dag, &Output),
    c: &Contraction,
    schedule: &Schedule,
    target: &Target,
    (columns, rows): (Buf, Buf),
) -> Result<Option<(Kernel, i64)>, CodegenError> {
    let Some(sizes) = Sizes::new(dag, c, target).for_fresh_columns() else { return Ok(None) };
    let mut emitter = Tiles { fresh: true, ..Tiles::new((dag, output), c, schedule, target, sizes) };
    if emitter.in_place.is_some() {
        return Ok(None);
    }
    if emitter.terms_of_pages().is_some() {
        emitter.sizes = emitter.sizes.beside(target);
    }
    let sizes = &emitter.sizes;
    let bytes = sizes.workers * sizes.columns_beside() * sizes.elem.size() as i64;
    Ok(Some((emitter.compute(columns, rows, Share::Task)?, bytes)))
}

/// The kernel that computes a range of at most so many rows of one batch, all columns of them.
pub(crate) fn emit_range(
    (dag, output): (&Dag, &Output),
    c: &Contraction,
    schedule: &Schedule,
    target: &Target,
    (columns, rows): (Buf, Buf),
    most: i64,
) -> Result<Kernel, CodegenError> {
    // As the recipe says: packed columns are there, or the tensor is.
    let lies = reads_columns_in_place(dag, c, target);
    let c = &c.by_rows();
    let sizes = Sizes::new(dag, c, target).for_range(most);
    let windows = windows_of_range(dag, c, &sizes);
    let in_place = in_place_beside(dag, c, &sizes, windows.as_ref()).filter(|_| lies);
    let columns = in_place.as_ref().map_or(columns, |p| p.buf);
    // A range has no tiles at a border.
    let (outlined, border, fresh) = (false, None, false);
    let emitter =
        Tiles { dag, c, sizes, schedule, output, target, in_place, windows, outlined, border, fresh };
    emitter.compute(columns, rows, Share::Range)
}

/// What is computed at once: rows of one batch, and the panels of a group of columns.
struct Item {
    scope: ScopeId,
    /// The variable and the bounds of the loop over items.
    close: Option<(Value, Bounds)>,
    batch: Value,
    group: Value,
    first_row: Value,
    /// The number of rows.
    here: Value,
    /// Where they end, if that is in the middle of a tile though rows follow.
    end: Option<Value>,
}

struct Tiles<'a> {
    dag: &'a Dag,
    c: &'a Contraction,
    sizes: Sizes,
    schedule: &'a Schedule,
    output: &'a Output,
    target: &'a Target,
    in_place: Option<InPlace>,
    windows: Option<Windows>,
    /// Are packing rows and storing functions, as tiles are?
    outlined: bool,
    /// Tiles at a border, if others read rows where they lie, have rows that are copied along this loop.
    border: Option<(LoopId, Reads)>,
    /// Are panels of columns packed when they are needed?
    fresh: bool,
}

/// Opens a loop over a share of `total` units, and gives the loop to close and the number of a unit.
fn open_share(em: &mut Emitter<'_>, total: i64, tasks: i64) -> (ScopeId, Value, Bounds) {
    let root = em.root();
    let [low, high] =
        if tasks > 1 { share_of_task(em, total, tasks) } else { [0, total].map(|bound| em.int(bound)) };
    let bounds = Bounds { low, high, step: em.int(1) };
    let scope = em.open(root, Vec::new(), None);
    let iv = em.name();
    (scope, iv, bounds)
}

impl<'a> Tiles<'a> {
    /// Those of all rows.
    fn new(
        (dag, output): (&'a Dag, &'a Output),
        c: &'a Contraction,
        schedule: &'a Schedule,
        target: &'a Target,
        sizes: Sizes,
    ) -> Tiles<'a> {
        let (in_place, windows) =
            (in_place(dag, c, &sizes), crate::schedule::contraction::windows::windows(dag, c, &sizes));
        let (outlined, border, fresh) = (false, None, false);
        let mut tiles =
            Tiles { dag, c, sizes, schedule, output, target, in_place, windows, outlined, border, fresh };
        tiles.border = tiles.copied_rows();
        tiles.outlined = tiles.is_outlined();
        tiles
    }
}

impl Tiles<'_> {
    fn emitter(&self) -> Emitter<'_> {
        let mut em = Emitter::new(self.dag);
        em.reductions.clone_from(&self.schedule.reductions);
        em.tables = self.schedule.tables;
        em
    }

    fn offset(&self, em: &mut Emitter<'_>, scope: ScopeId, pointer: Value, elements: Value) -> Value {
        em.element(pointer, elements, self.sizes.elem, scope)
    }

    /// `a * factor`
    fn times(&self, em: &mut Emitter<'_>, scope: ScopeId, a: Value, factor: i64) -> Value {
        let factor = em.int(factor);
        em.arith(scope, "arith.muli", a, factor)
    }

    /// As [`Tiles::bind_rows`], where the last loop is filled up.
    fn bind_outer_rows(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        row: Value,
        filled: i64,
        outer: &[LoopId],
    ) -> Value {
        let filled = em.int(filled);
        let rest = em.arith(scope, "arith.divui", row, filled);
        decode(em, scope, outer, rest);
        em.arith(scope, "arith.remui", row, filled)
    }

    /// Binds the loops of the rows but the last to the digits of a row, and gives the digit of the last.
    fn bind_rows(&self, em: &mut Emitter<'_>, scope: ScopeId, row: Value) -> Value {
        if let (Some(filled), Some((_, outer))) = (self.c.filled, self.c.rows.split_last()) {
            return self.bind_outer_rows(em, scope, row, filled, outer);
        }
        let mut places = digits(em, scope, &self.c.rows, row);
        let last = places.pop().unwrap_or(row);
        for (&l, digit) in self.c.rows.iter().zip(places) {
            em.bind(scope, l, digit);
        }
        last
    }

    /// Tiles that lie inside read whole rows, so those at a border can have copies of whole rows; turning these into a
    /// panel takes longer, and ten times the code. Tiles of one vector have a load for every product, and those of
    /// neighbours in a panel are faster, unless rows of a height like this would be transposed one or two at a time.
    fn copied_rows(&self) -> Option<(LoopId, Reads)> {
        let rows = &self.c.rows;
        let loops = if self.c.filled.is_some() { &rows[rows.len().saturating_sub(1)..] } else { rows };
        let partly = self.windows.as_ref().is_some_and(|w| !w.always);
        let one_by_one = self.sizes.high % 4 != 0;
        let along = self.c.row_pack(self.dag).along_rows(self.dag, loops);
        let along = along.filter(|_| partly && (self.c.tile.vectors > 1 || one_by_one))?;
        let terms = self.sizes.sum;
        Some((
            along,
            Reads {
                step: terms,
                nest: vec![Terms { count: terms, stride: 1 }],
                copied: true,
                columns: Vec::new(),
            },
        ))
    }

    /// Rows of the block into panels.
    fn pack_rows(&self, em: &mut Emitter<'_>, part: &Part<'_>) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let packing = em.open(part.item, Vec::new(), None);
        let number = em.name();
        let distance = self.times(em, packing, number, s.high);
        let first = em.arith(packing, "arith.addi", part.first_row, distance);
        let start = self.times(em, packing, number, s.row_panel());
        let to = self.offset(em, packing, part.rows, start);
        let minor = match (c.filled, c.rows.split_last()) {
            (Some(filled), Some((&last, outer))) => {
                let base = self.bind_outer_rows(em, packing, first, filled, outer);
                Minor { loops: vec![last], base, count: self.dag.extent(last) }
            }
            _ => Minor { loops: c.rows.clone(), base: first, count: s.rows },
        };
        // Only tiles at a border are packed, if others can do without.
        let place = match &self.windows {
            Some(windows) if !windows.always => Some(self.place(em, packing, windows, first)?),
            _ => None,
        };
        let border = em.open(packing, Vec::new(), None);
        let Minor { loops, base, count } = &minor;
        let write = |em: &mut Emitter<'_>, scope: ScopeId, to: Value, base: Value| {
            let minor = Minor { loops: loops.clone(), base, count: *count };
            pairs::marked(em, scope, c, (to, s.sum * s.high), |em, least| {
                let pack = Panel { least, ..c.row_pack(self.dag).into() };
                match self.border {
                    Some((along, _)) => pack.emit_rows(em, scope, &minor, (to, along)),
                    None => pack.emit(em, scope, &minor, to),
                }
            })
        };
        if self.outlined {
            let factor = c.factors[0];
            let loops: Vec<LoopId> = c.batch.iter().chain(&c.rows).copied().collect();
            let loops: Vec<LoopId> = loops.into_iter().filter(|l| !minor.loops.contains(l)).collect();
            let tensors = buffers(self.dag, &[], &[factor]);
            let given = Given { pointers: &[to], numbers: &[*base], loops: &loops, tensors: &tensors };
            self.outlined(em, border, ("rows", given), |em, scope, to, base| {
                write(em, scope, to[0], base[0])
            })?;
        } else {
            write(em, border, to, *base)?;
        }
        match place.and_then(|p| p.inside) {
            Some(inside) => em.close_unless(border, inside),
            None => em.close_plain(border),
        }
        em.close_loop(packing, number, part.tiles, &[]);
        Ok(())
    }

    /// The kernel that computes tiles from packed columns, or from where they lie, and from rows that it packs into `rows`.
    fn compute(&self, columns: Buf, rows: Buf, share: Share) -> Result<Kernel, CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let mut em = self.emitter();
        let mut roots = read_by_tiles(self.dag, self.output, c);
        roots.extend(self.fresh.then_some(c.factors[1]));
        let buffers = buffers(self.dag, &[self.output.to, columns, rows], &roots);
        name_pointers(&mut em, &buffers);
        let root = em.root();
        let (mut columns_pointer, rows_pointer) = (em.pointer(columns)?, em.pointer(rows)?);
        if self.fresh && s.workers > 1 {
            let own = self.times(&mut em, root, WORKER, s.columns_beside());
            columns_pointer = self.offset(&mut em, root, columns_pointer, own);
        }
        if c.matrix {
            matrix::open(&mut em, root);
        }
        let size = em.int(s.high * s.width);
        let tile = em.op(root, Op::Alloca { count: size, of: s.elem.ty(1), alignment: Some(64) });
        // Every worker has a block of packed rows.
        let block_pointer = if s.workers > 1 {
            let own = self.times(&mut em, root, WORKER, s.own());
            self.offset(&mut em, root, rows_pointer, own)
        } else {
            rows_pointer
        };

        let Item { scope: item, close, batch, group, first_row, here, end } = match share {
            Share::Task => self.open_item(&mut em),
            Share::Range => self.open_range(&mut em),
        };
        decode(&mut em, item, &c.batch, batch);
        let (high, up) = (em.int(s.high), em.int(s.high - 1));
        let padded = em.arith(item, "arith.addi", here, up);
        let tiles = em.arith(item, "arith.divui", padded, high);

        let (zero, one) = (em.int(0), em.int(1));
        let tile_bounds = Bounds { low: zero, high: tiles, step: one };
        let mut part = Part {
            item,
            batch,
            group,
            first_row,
            here,
            end,
            tiles: &tile_bounds,
            rows: block_pointer,
            columns: columns_pointer,
            tile,
        };
        if self.windows.as_ref().is_none_or(|w| !w.always) {
            self.pack_rows(&mut em, &part)?;
        }
        if s.pass == 0 {
            self.panels(&mut em, &part, Pass::Whole)?;
        } else {
            let kept = em.int(s.rows_in_panels());
            let kept = self.offset(&mut em, item, block_pointer, kept);
            part.tile = kept;
            self.passes(&mut em, &part)?;
        }
        match close {
            Some((iv, bounds)) => drop(em.close_loop(item, iv, &bounds, &[])),
            None => em.close_plain(item),
        }
        if c.matrix {
            matrix::close(&mut em, root);
        }
        let mut kernel = finish(em, buffers, s.tasks, vec![self.output.to], self.summary())?;
        kernel.writes.push(rows);
        kernel.writes.extend(self.fresh.then_some(columns));
        kernel.cycles = c.cycles(s, self.dag.extent(c.lane));
        kernel.loss = self.loss();
        kernel.in_place = in_place::operands(self.dag, std::slice::from_ref(self.output), Some(c.node), None);
        Ok(kernel)
    }

    /// The kernel in words.
    fn summary(&self) -> String {
        let (s, c) = (&self.sizes, self.c);
        format!(
            "contraction batch {} rows {}{} columns {} x {}{} sum {}{}, tile {}x{}{}, block {}, groups {}, tasks {}",
            s.batch,
            s.rows,
            match &self.windows {
                Some(windows) if windows.always => " in place",
                Some(_) => " in place inside",
                None => "",
            },
            s.all_panels / s.panels,
            self.dag.extent(c.lane),
            match (&self.in_place, s.pass) {
                (None, _) if self.fresh && self.terms_of_pages().is_some() =>
                    " packed side by side as needed",
                (None, _) if self.fresh => " packed as needed",
                (None, _) => "",
                (Some(_), 0) => " in place",
                (Some(_), _) => " in passes",
            },
            match c.pairs.map(|p| p.points()) {
                Some(2) => format!("{} pairs", s.sum),
                Some(many) => format!("{} of {many}", s.sum),
                None => s.sum.to_string(),
            },
            match (c.triangle.columns.is_empty(), self.can_skip_terms()) {
                (true, false) => "",
                (false, false) => ", triangular columns",
                (true, true) => ", triangular sum",
                (false, true) => ", triangular columns and sum",
            },
            s.high,
            s.width,
            if c.matrix { " in registers for tiles" } else { "" },
            s.block,
            s.groups,
            s.tasks
        )
    }

    /// Do the batches of a row of the output lie between it and the next, as the groups of a convolution do, and do the
    /// columns of all batches stay in a cache meanwhile?
    fn batch_is_inside(&self) -> bool {
        let s = &self.sizes;
        let columns = s.batch * s.all_panels * s.column_panel() * s.elem.size() as i64;
        if columns > self.target.l2_share_bytes as i64 {
            return false;
        }
        let strides = |loops: &[LoopId]| {
            let wide = loops.iter().filter(|&&l| self.dag.extent(l) > 1);
            wide.map(|&l| self.output.address.coeff(l).saturating_abs()).collect::<Vec<i64>>()
        };
        let (batches, rows) = (strides(&self.c.batch), strides(&self.c.rows));
        batches.iter().max().zip(rows.iter().min()).is_some_and(|(batch, row)| batch < row)
    }

    /// Opens the loop over the items of a task: a block of rows of a batch, and a group of columns.
    fn open_item(&self, em: &mut Emitter<'_>) -> Item {
        let s = &self.sizes;
        let (item, iv, bounds) = open_share(em, s.batch * s.blocks * s.groups, s.tasks);
        // Which of them an item is, by the digits of its number, the fastest first.
        let mut rest = iv;
        let mut digit = |em: &mut Emitter<'_>, count: i64| {
            let count = em.int(count);
            let own = em.arith(item, "arith.remui", rest, count);
            rest = em.arith(item, "arith.divui", rest, count);
            own
        };
        let (batch, block, group);
        if s.by_groups {
            block = digit(em, s.blocks);
            group = digit(em, s.groups);
            batch = digit(em, s.batch);
        } else {
            group = digit(em, s.groups);
            // What a task writes lies together: where rows are further apart than batches, their blocks go first.
            if self.batch_is_inside() {
                batch = digit(em, s.batch);
                block = digit(em, s.blocks);
            } else {
                block = digit(em, s.blocks);
                batch = digit(em, s.batch);
            }
        }
        let first_row = self.times(em, item, block, s.block);
        let (count, length) = (em.int(s.rows), em.int(s.block));
        let left = em.arith(item, "arith.subi", count, first_row);
        let here = em.arith(item, "arith.minsi", left, length);
        Item { scope: item, close: Some((iv, bounds)), batch, group, first_row, here, end: None }
    }

    /// The rows from `%low` to `%high`, counted through all batches, and all columns.
    fn open_range(&self, em: &mut Emitter<'_>) -> Item {
        let root = em.root();
        let scope = em.open(root, Vec::new(), None);
        let (group, count) = (em.int(0), em.int(self.sizes.rows));
        let batch = em.arith(scope, "arith.divui", LOW, count);
        let first_row = em.arith(scope, "arith.remui", LOW, count);
        let here = em.arith(scope, "arith.subi", HIGH, LOW);
        let end = em.arith(scope, "arith.addi", first_row, here);
        Item { scope, close: None, batch, group, first_row, here, end: Some(end) }
    }
}
