//! How a contraction is cut: panels, blocks of rows, groups of columns, tasks.

use crate::Target;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::machine::ALIGN;
use crate::machine::elem::Elem;
use crate::schedule::contraction::pack::Pack;
use crate::schedule::contraction::pairs::{Kind, MARK, Pairs};
use crate::schedule::contraction::windows::{Reads, Terms, Windows, is_tensor, windows};
use crate::schedule::contraction::{Contraction, TileSize, matrix, product};

/// The sizes that both kernels agree on.
pub(crate) struct Sizes {
    lanes: i64,
    pub(crate) width: i64,
    pub(crate) high: i64,
    pub(crate) rows: i64,
    pub(crate) sum: i64,
    /// Panels of the lane loop; the last one may be partly filled.
    pub(crate) panels: i64,
    /// Panels of all column loops.
    pub(crate) all_panels: i64,
    pub(crate) batch: i64,
    /// Rows packed at once, a multiple of `high`; blocks of them.
    pub(crate) block: i64,
    pub(crate) blocks: i64,
    /// Column groups, and panels of each.
    pub(crate) groups: i64,
    pub(crate) group: i64,
    /// Panels that a row tile is multiplied with one after the other: of registers for tiles one, which stays near by.
    pub(crate) beside: i64,
    pub(crate) tasks: i64,
    /// Workers that run the tasks at the same time, at most.
    pub(crate) workers: i64,
    pub(crate) elem: Elem,
    /// Elements behind a panel.
    pub(crate) mark: i64,
    /// Has the last panel of columns only those that exist?
    pub(crate) tight: bool,
    /// Terms of a pass over all columns of a group, whose tiles are kept in memory; 0: tiles stay in registers for
    /// the whole sum.
    pub(crate) pass: i64,
    /// Do all blocks of rows take their turn with a group of columns before the next one does?
    pub(crate) by_groups: bool,
    /// Bytes of the nearest cache.
    pub(crate) nearest: i64,
}

/// How the work of a contraction is divided between tasks: batches, blocks of rows, and panels of columns.
struct Division<'a> {
    c: &'a Contraction,
    target: &'a Target,
    batch: i64,
    blocks: i64,
    rows: i64,
    sum: i64,
    all_panels: i64,
    width: i64,
    elem: Elem,
}

impl Division<'_> {
    /// Tasks that are enough for every thread.
    fn most(&self) -> i64 {
        4 * self.target.threads as i64
    }

    fn flops(&self) -> f64 {
        let columns = self.all_panels * self.width;
        2.0 * self.batch as f64 * self.rows as f64 * self.sum as f64 * columns as f64
    }

    /// Tasks of long work, which has more of them: a thread that is held up leaves more of it to the others.
    fn more(&self) -> i64 {
        ((self.flops() / TASK_FLOPS) as i64).min(4 * self.most())
    }

    /// Groups of columns, so that there is work for every thread.
    fn groups(&self) -> i64 {
        let (batch, all_panels, most) = (self.batch, self.all_panels, self.most());
        let (blocks, threads) = (batch * self.blocks, self.target.threads as i64);
        if blocks >= 2 * threads {
            let long = threads > 1 && !self.c.streams;
            let most = if long { (all_panels / GROUP).max(1) } else { 1 };
            (self.more() / blocks).clamp(1, most)
        } else if self.c.streams {
            // As many for every thread, each of whole pages.
            let pages = all_panels * self.width * self.elem.size() as i64 / PAGE;
            let all = (pages / batch).min(most / batch).max(threads);
            (all / threads * threads).clamp(1, all_panels)
        } else {
            (most / blocks).clamp(1, all_panels)
        }
    }

    /// The tasks for so many items.
    fn tasks(&self, items: i64) -> i64 {
        let little = self.flops() < self.target.thresholds.contraction_flops;
        match self.target.threads <= 1 || little {
            true => 1,
            false if self.c.streams => items.min(self.most()),
            false => items.min(self.most().max(self.more())),
        }
    }
}

impl Sizes {
    pub(crate) fn new(dag: &Dag, c: &Contraction, target: &Target) -> Sizes {
        let sizes = Sizes::with_blocks(dag, c, target, FAR_ROWS);
        let panel = sizes.column_panel() * sizes.elem.size() as i64;
        let from_cache = !stays(target, panel) && sizes.all_panels * panel <= target.llc_share_bytes as i64;
        let row_bytes = sizes.sum * sizes.elem.size() as i64;
        let many = rows_held(target, row_bytes, sizes.width, sizes.all_panels) >= FAR_ROWS;
        if sizes.pass > 0 || !from_cache || many || windows(dag, c, &sizes).is_some() {
            return sizes;
        }
        // Rows are packed: few at once, for a panel of columns comes from a cache for every few tiles anyway.
        Sizes::with_blocks(dag, c, target, PACKED_ROWS)
    }

    /// Sizes with blocks of at most so many rows.
    fn with_blocks(dag: &Dag, c: &Contraction, target: &Target, most_rows: i64) -> Sizes {
        let TileSize { lanes, vectors, high } = c.tile;
        let (width, high) = ((lanes * vectors) as i64, high as i64);
        let elem = Elem::of(dag[c.node].dtype);
        let (mut rows, sum, batch) = (product(dag, &c.rows), c.terms(dag), product(dag, &c.batch));
        if let (Some(filled), Some((_, outer))) = (c.filled, c.rows.split_last()) {
            rows = product(dag, outer) * filled;
        }
        let panels = (dag.extent(c.lane) + width - 1) / width;
        let all_panels = panels * product(dag, &c.columns);
        let (most, nearest) = (4 * target.threads as i64, target.l1_bytes as i64);
        let row_bytes = sum * elem.size() as i64;
        let held = rows_held(target, row_bytes, width, all_panels);
        let cached = (held.min(most_rows) / high).max(1);
        // Enough blocks for every thread, if there are enough rows.
        let tiles = (rows + high - 1) / high;
        let wanted = (most + batch - 1) / batch;
        // Few rows stay together, so that columns are read once, if there are panels enough for every task.
        let together = tiles <= 2 * cached && all_panels >= wanted;
        let panel_bytes = (width * sum * elem.size() as i64).max(1);
        // Columns that half of the shared cache does not hold: each block would have all of them from memory.
        let near = target.llc_share_bytes as i64 / 2;
        let far = !c.streams && !together && all_panels * panel_bytes > near;
        // As many rows as half of the second cache has room for, beside a panel of columns.
        let half = (target.l2_bytes() / 2) as i64;
        let cached = if far { cached.max(NEAR_ROWS.min(half / row_bytes.max(1)) / high) } else { cached };
        let block = if together { tiles } else { cached.min((tiles + wanted - 1) / wanted) }.max(1) * high;
        let blocks = (rows + block - 1) / block;
        let (pass, block, blocks) = match c.streams {
            true => (PASS, (rows + high - 1) / high * high, 1),
            false => (0, block, blocks),
        };
        let division = Division { c, target, batch, blocks, rows, sum, all_panels, width, elem };
        let groups = division.groups();
        let groups = if far { groups.max((all_panels * panel_bytes + near - 1) / near) } else { groups };
        let group = (all_panels + groups - 1) / groups;
        let groups = (all_panels + group - 1) / group;
        let beside = if c.streams || c.matrix { 1 } else { (NEAR / panel_bytes).clamp(1, group) };
        let tasks = division.tasks(batch * blocks * groups);
        let marks = c.triangle.has_marks(dag[c.node].dtype);
        // Of which size on the last panel is worth having only the columns that exist.
        let least = if 8 * panel_bytes <= 3 * nearest { 3 * nearest / 2 } else { LARGE * nearest };
        let tight = all_panels == panels
            && batch == 1
            && c.pairs.is_none()
            && !marks
            && (c.grouped || panels * panel_bytes >= least)
            && dag.extent(c.lane) % width != 0
            && Pack::may_be_tight(dag, c.factors[1], c.lane);
        Sizes {
            lanes: lanes as i64,
            width,
            high,
            rows,
            sum,
            panels,
            all_panels,
            batch,
            block,
            blocks,
            groups,
            group,
            beside,
            tasks,
            workers: tasks.min(target.threads as i64).max(1),
            elem,
            mark: if c.has_halves() || marks { MARK } else { 0 },
            tight,
            pass,
            by_groups: far,
            nearest,
        }
    }

    /// Those of a kernel that packs panels of columns as it needs them, where each is needed for one block of rows.
    pub(crate) fn for_fresh_columns(self) -> Option<Sizes> {
        (self.pass == 0 && self.blocks == 1).then_some(Sizes { tight: false, ..self })
    }

    /// Those of a kernel that packs as many panels side by side as stay near.
    pub(crate) fn beside(self, target: &Target) -> Sizes {
        let panel = (self.column_panel() * self.elem.size() as i64).max(1);
        Sizes { beside: (2 * target.l2_share_bytes as i64 / panel).clamp(1, self.group), ..self }
    }

    /// Elements of the panels that a worker has at once, if it packs them as it needs them.
    pub(crate) fn columns_beside(&self) -> i64 {
        self.beside * self.column_panel()
    }

    /// Those of a kernel that does a range of at most so many rows.
    pub(crate) fn for_range(self, most: i64) -> Sizes {
        let block = (most + self.high - 1) / self.high * self.high;
        let panel_bytes = (self.width * self.sum * self.elem.size() as i64).max(1);
        let beside = (NEAR / panel_bytes).clamp(1, self.all_panels);
        let (groups, group, tasks, workers) = (1, self.all_panels, 1, 1);
        Sizes { beside, block, groups, group, tasks, workers, pass: 0, ..self }
    }

    /// Are there so few rows that columns which are windows are read where they lie?
    pub(crate) fn has_few_rows(&self) -> bool {
        self.rows <= WINDOW_TILES * self.high
    }

    /// The columns of whole vectors that hold so many.
    pub(crate) fn columns_of_rest(&self, rest: i64) -> i64 {
        covered(rest, self.lanes as usize)
    }

    /// Elements of packed columns that do not exist and are not there.
    pub(crate) fn left_out(&self, extent: i64) -> i64 {
        if self.tight { (self.panels * self.width - extent) * self.sum } else { 0 }
    }

    /// Elements from one panel of columns to the next.
    pub(crate) fn column_panel(&self) -> i64 {
        self.sum * self.width + self.mark
    }

    /// Elements from one panel of rows to the next.
    pub(crate) fn row_panel(&self) -> i64 {
        self.sum * self.high + self.mark
    }

    /// Elements of the packed rows of a block.
    pub(crate) fn rows_in_panels(&self) -> i64 {
        self.block / self.high * self.row_panel()
    }

    /// Elements that a worker has to itself: packed rows, and the tiles that are kept from one pass to the next. No
    /// line of a cache is shared by two workers.
    pub(crate) fn own(&self) -> i64 {
        let line = ALIGN as i64 / self.elem.size() as i64;
        let kept = if self.pass > 0 { self.group * self.width * self.block } else { 0 };
        (self.rows_in_panels() + kept + line - 1) / line * line
    }
}

/// The rows of a block that stays in the second cache. Columns that do not stay there as well come from further away
/// once for each block: then it is worth as much of that cache as a panel of them leaves.
fn rows_held(target: &Target, row_bytes: i64, width: i64, panels: i64) -> i64 {
    let (one_of_many, panel_bytes) = (target.l2_share_bytes as i64, width * row_bytes);
    let all_stay = panels * panel_bytes <= 2 * one_of_many;
    let bytes = if all_stay { one_of_many } else { (3 * one_of_many - panel_bytes).max(one_of_many) };
    let most = if all_stay || stays(target, panel_bytes) { NEAR_ROWS } else { FAR_ROWS };
    (bytes / row_bytes.max(1)).min(most)
}

/// Does a panel of columns stay in the nearest cache, all or most of it?
fn stays(target: &Target, panel_bytes: i64) -> bool {
    2 * panel_bytes <= 3 * target.l1_bytes as i64
}

/// The lanes of the smallest vector that holds so many columns, or of the largest there is.
pub(crate) fn fitting(columns: i64, lanes: usize) -> usize {
    let mut fitting = lanes;
    while fitting > LEAST_LANES && columns <= fitting as i64 / 2 {
        fitting /= 2;
    }
    fitting
}

/// The lanes of the vectors that hold so many columns: all there are, but for a last one of no more than it takes.
pub(crate) fn vectors(columns: i64, lanes: usize) -> Vec<usize> {
    let columns = usize::try_from(columns).unwrap_or(0);
    let mut vectors = vec![lanes; columns / lanes];
    if columns % lanes > 0 {
        vectors.push(fitting((columns % lanes) as i64, lanes));
    }
    vectors
}

/// The columns of the vectors that hold so many.
pub(crate) fn covered(columns: i64, lanes: usize) -> i64 {
    vectors(columns, lanes).iter().sum::<usize>() as i64
}

impl Contraction {
    /// Are its factors taken in pairs of halves?
    pub(crate) fn has_halves(&self) -> bool {
        self.pairs.is_some_and(|p| p.kind == Kind::Halves)
    }

    /// The terms of a panel: the points of the sum, those of an element counted once, and for registers for tiles some
    /// more, which are zeros.
    pub(crate) fn terms(&self, dag: &Dag) -> i64 {
        let terms = self.sum.iter().map(|&l| elements(dag, l, self.pairs)).product();
        if self.matrix { matrix::whole(terms) } else { terms }
    }

    /// The contraction whose rows are numbered one by one: none is filled up, and tiles have the usual height.
    pub(crate) fn by_rows(&self) -> Contraction {
        let tile = TileSize { high: self.usual, ..self.tile };
        Contraction { filled: None, tile, ..self.clone() }
    }

    /// The rows of a tile where they are numbered one by one.
    pub fn high(&self) -> i64 {
        self.usual as i64
    }

    /// An estimate of the cycles of one core: a multiply-add of a vector each, of a register for tiles some of them;
    /// those beyond the end included.
    pub(crate) fn cycles(&self, s: &Sizes, extent: i64) -> f64 {
        let rows = (s.rows + s.high - 1) / s.high * s.high;
        let columns = s.all_panels / s.panels * covered(extent, s.lanes as usize);
        let at_once = self.tile.lanes as f64 * if self.matrix { matrix::VECTORS } else { 1.0 };
        s.batch as f64 * rows as f64 * s.sum as f64 * columns as f64 / at_once
    }
}

/// Packed columns whose last panel is worth code of its own are so many times as large as the nearest cache: it takes
/// more time where panels crowd that; where they are small, all that does not stay in it is worth it.
const LARGE: i64 = 8;

/// Smaller vectors than these cost no less.
const LEAST_LANES: usize = 4;

/// Rows of a block, at most: where all columns or those of a panel stay near by, and where they do not. Rows of the
/// output are often each in a page of its own, and a processor has the places of about as many at hand: with twice as
/// many rows 4000 x 64 x 4000 takes 1.2 times as long (Sapphire Rapids).
const NEAR_ROWS: i64 = 64;

const FAR_ROWS: i64 = 192;

/// Rows of a block that is packed where a panel of columns does not stay in the nearest cache, fewer than [`FAR_ROWS`]
/// rows stay beside it in the second, and all columns stay in one that is shared.
const PACKED_ROWS: i64 = 32;

/// Work of a task where there is a lot of it: about a quarter of a millisecond.
const TASK_FLOPS: f64 = 3e7;

/// Panels of a group at least, where work is divided for that reason alone: the rows of a block are read for each.
const GROUP: i64 = 8;

/// Terms of a pass where columns are streamed: as many rows are read side by side, each from its start to its end.
const PASS: i64 = 16;

/// Bytes that lie together in memory.
const PAGE: i64 = 4096;

/// More rows than these are worth packed columns; and more than a few where the sum is short, for all that is kept is
/// stored once more in the end.
const STREAM_ROWS: i64 = 128;

const FEW_ROWS: i64 = 16;

const LONG_SUM: i64 = 256;

/// Are there so few rows that a contraction is all about reading the columns once, and those lie next to each other in
/// long rows? Then a tile that runs through the whole sum would touch another page with every term. `body` is the
/// factor of the columns.
pub(crate) fn streams(
    dag: &Dag,
    body: NodeId,
    lane: LoopId,
    sum: &[LoopId],
    rows: i64,
    target: &Target,
) -> bool {
    let Node::Load { address, guards, .. } = &dag[body].node else { return false };
    let summed: Vec<LoopId> = sum.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    let ([sum], true) = (&summed[..], guards.is_empty()) else { return false };
    let dtype = dag[body].dtype;
    let elem = Elem::of(dtype);
    let plain =
        matches!(elem, Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64) && Elem::in_memory(dtype) == elem;
    let (width, size) = (dag.extent(lane), elem.size() as i64);
    let limits = &target.thresholds;
    let long = width * size >= limits.streamed_row_bytes
        && width * dag.extent(*sum) * size >= target.l2_shares(limits.streamed_l2_shares);
    let by_rows = address.coeff(lane) == 1 && address.coeff(*sum) >= width;
    let few = rows <= FEW_ROWS || rows <= STREAM_ROWS && dag.extent(*sum) >= LONG_SUM;
    plain && by_rows && few && dag.extent(*sum) >= PASS && long
}

/// A column factor that tiles read where it lies.
pub(crate) struct InPlace {
    /// The tensor.
    pub(crate) buf: Buf,
    /// The position of an element.
    pub(crate) address: Lin,
    /// The distance from one point of the summed loop to the next, of several of the last.
    pub(crate) stride: i64,
    /// How both factors are read where several loops are summed.
    pub(crate) nested: Option<Reads>,
}

/// A column factor that lies as panels do, or would be read too few times to repay packing: it is a tensor in the
/// type of the tiles, with its columns next to each other.
pub(crate) fn in_place(dag: &Dag, c: &Contraction, s: &Sizes) -> Option<InPlace> {
    in_place_beside(dag, c, s, windows(dag, c, s).as_ref())
}

/// As [`in_place`], where the rows are read so; `None`: they are packed.
pub(crate) fn in_place_beside(
    dag: &Dag,
    c: &Contraction,
    s: &Sizes,
    rows: Option<&Windows>,
) -> Option<InPlace> {
    let Node::Load { buf, address, guards } = &dag[c.factors[1]].node else { return None };
    if !guards.is_empty() {
        return None;
    }
    let summed: Vec<LoopId> = c.sum.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    let [sum] = &summed[..] else { return in_windows(dag, c, s, rows) };
    let plain = is_tensor(dag, (c.factors[1], dag[c.node].dtype));
    let (next, whole) = (address.coeff(c.lane) == 1, dag.extent(c.lane) % s.width == 0);
    let stride = address.coeff(*sum);
    let bytes = s.all_panels * s.width * s.sum * s.elem.size() as i64;
    let dense = stride <= s.all_panels * s.width;
    // They stay in the nearest cache, if there is little between them.
    let few = s.rows <= FEW_TILES * s.high || dense && bytes <= s.nearest;
    // A stride of 0 repeats one row.
    (plain && next && stride > 0 && (whole && stride == s.width || few || c.streams)).then(|| InPlace {
        buf: *buf,
        address: address.clone(),
        stride,
        nested: None,
    })
}

/// Columns that are windows next to each other, which are read by few rows: packed, an element is there once for every
/// window that has it.
fn in_windows(dag: &Dag, c: &Contraction, s: &Sizes, rows: Option<&Windows>) -> Option<InPlace> {
    let Node::Load { buf, address, .. } = &dag[c.factors[1]].node else { return None };
    let plain = is_tensor(dag, (c.factors[1], dag[c.node].dtype));
    let few = s.has_few_rows();
    let simple = c.pairs.is_none() && !c.matrix && !c.streams && rows.is_none_or(|w| w.always);
    if !plain || !few || !simple || address.coeff(c.lane) != 1 {
        return None;
    }
    let packed = sum_number(dag, &c.sum, None, s.high);
    let (of_rows, step) = rows.map_or((&packed, 1), |w| (&w.address, w.reads.step));
    let mut nest: Vec<(i64, i64, i64)> = Vec::new();
    for &l in c.sum.iter().filter(|&&l| dag.extent(l) > 1) {
        let (extent, row, column) = (dag.extent(l), of_rows.coeff(l), address.coeff(l));
        match nest.last_mut() {
            Some(outer)
                if outer.1 == row.checked_mul(extent)? && outer.2 == column.checked_mul(extent)? =>
            {
                *outer = (outer.0 * extent, row, column);
            }
            _ => nest.push((extent, row, column)),
        }
    }
    let columns: Vec<i64> = nest.iter().map(|n| n.2).collect();
    let stride = *columns.last()?;
    let nest = nest.into_iter().map(|(count, stride, _)| Terms { count, stride }).collect();
    let nested = Some(Reads { step, nest, copied: false, columns });
    Some(InPlace { buf: *buf, address: address.clone(), stride, nested })
}

/// Bytes of panels that stay near by while all rows of a block are multiplied with them, one panel after the other: the
/// rows of the output are written in longer pieces then.
const NEAR: i64 = 65_536;

/// Columns that are read by no more row tiles than these are not packed.
const FEW_TILES: i64 = 4;

/// As many, of columns that are windows.
const WINDOW_TILES: i64 = 8;

/// How often a summed loop is gone through: once for all points of an element.
pub fn elements(dag: &Dag, l: LoopId, pairs: Option<Pairs>) -> i64 {
    let points = pairs.filter(|p| p.along == l).map_or(1, |p| p.points() as i64);
    (dag.extent(l) + points - 1) / points
}

/// The linear number of the summed loops, counted so.
pub fn sum_number(dag: &Dag, sum: &[LoopId], pairs: Option<Pairs>, factor: i64) -> Lin {
    let mut lin = Lin::default();
    let mut stride = factor;
    for &l in sum.iter().rev() {
        let extent = elements(dag, l, pairs);
        if extent > 1 {
            lin.terms.push((l, stride));
        }
        stride *= extent;
    }
    lin.terms.sort_unstable();
    lin
}
