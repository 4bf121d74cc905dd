//! The contraction emitter: a sum of products of two factors, or another reduction of other arithmetic on two
//! values, with packed operands and register tiles.
//!
//! The loops over the output that only one factor depends on are its rows, or its columns; those that both depend
//! on are the batch. One loop of the column side is done in lanes. Both factors are evaluated into *panels*: for
//! every value of the summed loops, in order, the values at the rows or columns of one tile. Evaluating is what
//! the row emitter does for any value, so convolution windows, padding, transpositions and whatever stands before
//! the product need nothing special. A tile is then the same loop for every contraction: a few vectors of the
//! column panel, a broadcast of each element of the row panel, multiply and add into registers. What the stored
//! field does with the sum (bias, activation, residual) is evaluated on the tile when it is stored.
//!
//! Panels are always full: rows and columns beyond the end repeat the last one, and are not stored.

use crate::address::{Lin, LoopId, LoopSet};
use crate::dag::{Buf, Dag, Node, NodeId};
use crate::emit::{At, Bounds, Carried, Elem, Emitter, ScopeId, Val};
use crate::pack::{Minor, Pack, digits};
use crate::row::{Kernel, Share, finish, name_pointers};
use crate::schedule::{Output, Schedule};
use crate::{CodegenError, Target};
use surject_ir::{AccOp, BinaryOp, DType};

/// A contraction that is worth tiles.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The reduction.
    pub node: NodeId,
    /// The factor of the rows and that of the columns.
    pub factors: [NodeId; 2],
    /// Loops that both factors depend on.
    pub batch: Vec<LoopId>,
    /// Loops of the row side.
    pub rows: Vec<LoopId>,
    /// Loops of the column side but the last.
    pub columns: Vec<LoopId>,
    /// The loop of the column side that is done in lanes.
    pub lane: LoopId,
    /// The summed loops.
    pub sum: Vec<LoopId>,
    /// Lanes of a vector, vectors of a tile, rows of a tile.
    tile: (usize, usize, usize),
}

/// Fewer multiplications than these are left to the row emitter.
const SMALL: f64 = 30_000.0;

fn product(dag: &Dag, loops: &[LoopId]) -> i64 {
    loops.iter().map(|&l| dag.extent(l)).product()
}

/// The two values that a term is made of, where one depends on some loops of the output and the other on others: all
/// that depends on both is arithmetic on them.
fn factors(dag: &Dag, node: NodeId, body: NodeId) -> Option<(NodeId, NodeId)> {
    const CORE: usize = 8;
    let plain = |n: NodeId| matches!(dag[n].dtype, DType::F32 | DType::F64 | DType::I32 | DType::I64);
    let nodes = dag.reachable(&[body], false);
    let own = |n: NodeId| dag[n].deps.only(dag[node].deps);
    // The loops of the output that the leaves read together, joined where they meet in a leaf.
    let mut groups: Vec<LoopSet> = Vec::new();
    for &n in nodes.iter().filter(|&&n| dag[n].node.children().next().is_none()) {
        if own(n) != LoopSet::default() && !groups.contains(&own(n)) {
            groups.push(own(n));
        }
    }
    let &[a, b] = &groups[..] else { return None };
    if a.minus(b) == LoopSet::default() || b.minus(a) == LoopSet::default() {
        return None;
    }
    let mixed = |n: NodeId| own(n).minus(a) != LoopSet::default() && own(n).minus(b) != LoopSet::default();
    let (mut of_a, mut of_b, mut core) = (Vec::new(), Vec::new(), 0);
    for &n in nodes.iter().filter(|&&n| mixed(n)) {
        core += 1;
        let arithmetic =
            matches!(dag[n].node, Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_));
        if !arithmetic {
            return None;
        }
        for child in dag[n].node.children().filter(|&c| !mixed(c) && dag[c].deps != LoopSet::default()) {
            // What depends on the loops of both, or on summed ones alone, goes with the first.
            let side = if own(child).minus(a) == LoopSet::default() { &mut of_a } else { &mut of_b };
            if !side.contains(&child) {
                side.push(child);
            }
        }
    }
    match (&of_a[..], &of_b[..]) {
        (&[x], &[y])
            if core <= CORE
                && plain(x)
                && dag[x].dtype == dag[y].dtype
                && dag[x].dtype == dag[node].dtype =>
        {
            Some((x, y))
        }
        _ => None,
    }
}

/// Looks at a reduction. `None` where it is no contraction, or tiles would be mostly empty.
pub fn analyse(dag: &Dag, outputs: &[Output], node: NodeId, target: &Target) -> Option<Contraction> {
    let Node::Reduce { op, loops, body, .. } = &dag[node].node else { return None };
    let dtype = dag[node].dtype;
    let suitable = dtype.is_float() || matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let (x, y) = match dag[*body].node {
        Node::Binary(BinaryOp::Mul, x, y) if *op == AccOp::Add && dag[x].deps != dag[y].deps => (x, y),
        _ => factors(dag, node, *body)?,
    };
    let (dx, dy) = (dag[x].deps, dag[y].deps);
    if !suitable || loops.iter().any(|&l| !dx.union(dy).contains(l)) {
        return None;
    }
    let of = |set: LoopSet| -> Vec<LoopId> {
        let all = (0..dag.extents.len()).map(|l| LoopId(l as u8));
        all.filter(|&l| set.contains(l) && dag.extent(l) > 1).collect()
    };
    let deps = dag[node].deps;
    let stride = |l: LoopId| outputs.iter().map(|o| o.address.coeff(l).abs()).max().unwrap_or(0);
    let by_stride = |mut loops: Vec<LoopId>| {
        loops.sort_by_key(|&l| (std::cmp::Reverse(stride(l)), l));
        loops
    };
    let both = of(LoopSet::from_iter(of(dx).into_iter().filter(|&l| dy.contains(l) && deps.contains(l))));
    let only = |a: LoopSet, b: LoopSet| -> Vec<LoopId> {
        by_stride(of(a).into_iter().filter(|&l| deps.contains(l) && !b.contains(l)).collect())
    };
    let sides = [(x, only(dx, dy)), (y, only(dy, dx))];
    let work = product(dag, &of(deps)) as f64 * product(dag, loops) as f64;
    // Sums of halves are not rounded term by term in tiles: the eager ones are to be compared.
    let eager = target.eager && !matches!(dtype, DType::F16 | DType::BF16);
    if work < if eager { 64.0 } else { SMALL } || product(dag, loops) < 4 {
        return None;
    }
    let lanes = target.lanes_bytes / Elem::of(dtype).size();
    let mut best: Option<(f64, Contraction)> = None;
    for (rows, columns) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
        for &lane in &columns.1 {
            let extent = dag.extent(lane);
            let vectors = if extent > lanes as i64 { 2 } else { 1 };
            let high = match (target.registers >= 32, vectors) {
                (true, 2) => 8,
                (true, _) => 16,
                (false, 2) => 4,
                (false, _) => 8,
            };
            let count = product(dag, &rows.1);
            let fill = |n: i64, tile: i64| n as f64 / (((n + tile - 1) / tile).max(1) * tile) as f64;
            let unit = if stride(lane) == 1 { 1.0 } else { 0.6 };
            let score = fill(extent, (lanes * vectors) as i64) * fill(count, high as i64) * unit;
            let least = if eager { 0.0 } else { 0.3 };
            if score > least && best.as_ref().is_none_or(|b| score > b.0) {
                let contraction = Contraction {
                    node,
                    factors: [rows.0, columns.0],
                    batch: by_stride(both.clone()),
                    rows: rows.1.clone(),
                    columns: columns.1.iter().copied().filter(|&l| l != lane).collect(),
                    lane,
                    sum: loops.clone(),
                    tile: (lanes, vectors, high),
                };
                best = Some((score, contraction));
            }
        }
    }
    best.map(|b| b.1)
}

/// The sizes that both kernels agree on.
struct Sizes {
    width: i64,
    high: i64,
    rows: i64,
    sum: i64,
    /// Panels of the lane loop; the last one may be partly filled.
    panels: i64,
    /// Panels of all column loops.
    all_panels: i64,
    batch: i64,
    /// Rows packed at once, a multiple of `high`; blocks of them.
    block: i64,
    blocks: i64,
    /// Column groups, and panels of each.
    groups: i64,
    group: i64,
    tasks: i64,
    elem: Elem,
}

impl Sizes {
    fn new(dag: &Dag, c: &Contraction, target: &Target) -> Sizes {
        let (lanes, vectors, high) = c.tile;
        let (width, high) = ((lanes * vectors) as i64, high as i64);
        let elem = Elem::of(dag[c.node].dtype);
        let (rows, sum, batch) = (product(dag, &c.rows), product(dag, &c.sum), product(dag, &c.batch));
        let panels = (dag.extent(c.lane) + width - 1) / width;
        let all_panels = panels * product(dag, &c.columns);
        let most = 4 * target.threads as i64;
        let row_bytes = sum * elem.size() as i64;
        let cached = (target.cache_bytes as i64 / row_bytes.max(1) / high).clamp(1, 128 / high);
        // Enough blocks for every thread, if there are enough rows.
        let tiles = (rows + high - 1) / high;
        let wanted = (most + batch - 1) / batch;
        let block = cached.min((tiles + wanted - 1) / wanted).max(1) * high;
        let blocks = (rows + block - 1) / block;
        let groups = if batch * blocks >= 2 * target.threads as i64 {
            1
        } else {
            (most / (batch * blocks)).clamp(1, all_panels)
        };
        let group = (all_panels + groups - 1) / groups;
        let groups = (all_panels + group - 1) / group;
        let items = batch * blocks * groups;
        let flops = 2.0 * batch as f64 * rows as f64 * sum as f64 * (all_panels * width) as f64;
        let tasks =
            if target.threads <= 1 || (flops < 400_000.0 && !target.eager) { 1 } else { items.min(most) };
        Sizes { width, high, rows, sum, panels, all_panels, batch, block, blocks, groups, group, tasks, elem }
    }

    /// Those of a kernel that does a range of at most so many rows.
    fn for_range(self, most: i64) -> Sizes {
        let block = (most + self.high - 1) / self.high * self.high;
        // Every task has packed rows of its own.
        Sizes { block, groups: 1, group: self.all_panels, tasks: 2, ..self }
    }
}

impl Contraction {
    /// The rows of a tile.
    pub fn high(&self) -> i64 {
        self.tile.2 as i64
    }

    /// An estimate of the cycles of one core: a multiply-add of a vector each, those beyond the end included.
    fn cycles(&self, s: &Sizes) -> f64 {
        let rows = (s.rows + s.high - 1) / s.high * s.high;
        s.batch as f64 * rows as f64 * s.sum as f64 * (s.all_panels * s.width) as f64 / self.tile.0 as f64
    }
}

/// A column factor that tiles read where it lies.
struct InPlace {
    /// The tensor.
    buf: Buf,
    /// The position of an element.
    address: Lin,
    /// The distance from one point of the summed loop to the next.
    stride: i64,
}

/// A column factor that lies as panels do, or would be read too few times to repay packing: it is a tensor in the
/// type of the tiles, with one summed loop and its columns next to each other.
fn in_place(dag: &Dag, c: &Contraction, s: &Sizes) -> Option<InPlace> {
    let Node::Load { buf, address, guards } = &dag[c.factors[1]].node else { return None };
    let summed: Vec<LoopId> = c.sum.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    let ([sum], true) = (&summed[..], guards.is_empty()) else { return None };
    let plain = matches!(s.elem, Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64)
        && Elem::in_memory(dag[c.factors[1]].dtype) == s.elem;
    let (next, whole) = (address.coeff(c.lane) == 1, dag.extent(c.lane) % s.width == 0);
    let stride = address.coeff(*sum);
    let bytes = s.batch * s.all_panels * s.width * s.sum * s.elem.size() as i64;
    let few = s.rows <= FEW_TILES * s.high || bytes <= SMALL_BYTES;
    // A stride of 0 repeats one row.
    (plain && next && stride > 0 && (whole && stride == s.width || few)).then(|| InPlace {
        buf: *buf,
        address: address.clone(),
        stride,
    })
}

/// Columns that are read by no more row tiles than these are not packed.
const FEW_TILES: i64 = 4;
/// Columns that stay in the nearest cache wherever they lie.
const SMALL_BYTES: i64 = 16_384;

/// What the contraction writes and the scratch it needs.
pub struct Scratch {
    /// Bytes of the packed columns.
    pub columns: i64,
    /// Bytes of the packed rows of all tasks.
    pub rows: i64,
}

/// The scratch memory of a contraction; `None` where it would be out of proportion.
pub fn scratch(dag: &Dag, c: &Contraction, target: &Target) -> Option<Scratch> {
    let s = Sizes::new(dag, c, target);
    let size = s.elem.size() as i64;
    let packed = s.batch.checked_mul(s.all_panels)?.checked_mul(s.sum)?.checked_mul(s.width * size)?;
    let columns = if packed < 1 << 32 && in_place(dag, c, &s).is_some() { 0 } else { packed };
    let rows = s.tasks.checked_mul(s.block)?.checked_mul(s.sum)?.checked_mul(size)?;
    (columns < 1 << 32 && rows < 1 << 32).then_some(Scratch { columns, rows })
}

/// The kernels: columns are packed, unless they can be read where they lie; then tiles are computed.
pub fn emit(
    dag: &Dag,
    output: &Output,
    to: (Buf, DType),
    c: &Contraction,
    schedule: &Schedule,
    target: &Target,
    (columns, rows): (Buf, Buf),
) -> Result<Vec<Kernel>, CodegenError> {
    let sizes = Sizes::new(dag, c, target);
    let in_place = in_place(dag, c, &sizes);
    let columns = in_place.as_ref().map_or(columns, |p| p.buf);
    let emitter = Tiles { dag, c, sizes, schedule, output, to, target, in_place };
    let mut kernels = Vec::new();
    if emitter.in_place.is_none() {
        kernels.push(emitter.pack_columns(columns)?);
    }
    kernels.push(emitter.compute(columns, rows, Share::Task)?);
    Ok(kernels)
}

/// The kernel that computes a range of at most so many rows of one batch, all columns of them.
pub(crate) fn emit_range(
    (dag, output, to): (&Dag, &Output, (Buf, DType)),
    c: &Contraction,
    schedule: &Schedule,
    target: &Target,
    (columns, rows): (Buf, Buf),
    most: i64,
) -> Result<Kernel, CodegenError> {
    let sizes = Sizes::new(dag, c, target).for_range(most);
    let in_place = in_place(dag, c, &sizes);
    let columns = in_place.as_ref().map_or(columns, |p| p.buf);
    let emitter = Tiles { dag, c, sizes, schedule, output, to, target, in_place };
    emitter.compute(columns, rows, Share::Range)
}

/// Do the tiles read the column factor where it lies?
pub(crate) fn reads_columns_in_place(dag: &Dag, c: &Contraction, target: &Target) -> bool {
    in_place(dag, c, &Sizes::new(dag, c, target)).is_some()
}

/// The bytes of columns that a block of rows is multiplied with, and the rows of a block.
pub(crate) fn columns(dag: &Dag, c: &Contraction, target: &Target) -> (i64, i64) {
    let s = Sizes::new(dag, c, target);
    (s.all_panels * s.width * s.sum * s.elem.size() as i64, s.block)
}

/// Bytes of packed rows for a range of so many rows.
pub(crate) fn row_bytes(dag: &Dag, c: &Contraction, target: &Target, most: i64) -> i64 {
    let s = Sizes::new(dag, c, target).for_range(most);
    s.block * s.sum * s.elem.size() as i64
}

/// Where the tiles read: the row factor and the rest of the stored field, but not what only the column factor reads.
pub(crate) fn read_by_tiles(dag: &Dag, output: &Output, c: &Contraction) -> Vec<NodeId> {
    let mut roots = vec![c.factors[0]];
    for id in dag.reachable(&[output.root], false) {
        match &dag[id].node {
            Node::Load { .. } => roots.push(id),
            Node::Reduce { body, .. } if id != c.node => roots.push(*body),
            _ => {}
        }
    }
    roots
}

/// What is computed at once: rows of one batch, and the panels of a group of columns.
struct Item {
    scope: ScopeId,
    /// The variable and the bounds of the loop over items.
    close: Option<(String, Bounds)>,
    batch: String,
    group: String,
    first_row: String,
    /// The number of rows.
    here: String,
}

struct Tiles<'a> {
    dag: &'a Dag,
    c: &'a Contraction,
    sizes: Sizes,
    schedule: &'a Schedule,
    output: &'a Output,
    to: (Buf, DType),
    target: &'a Target,
    in_place: Option<InPlace>,
}

/// The buffers of a kernel: some, then those that nodes load.
fn buffers(dag: &Dag, first: &[Buf], roots: &[NodeId]) -> Vec<Buf> {
    let mut buffers = first.to_vec();
    for id in dag.reachable(roots, true) {
        if let Node::Load { buf, .. } = dag[id].node
            && !buffers.contains(&buf)
        {
            buffers.push(buf);
        }
    }
    buffers
}

/// Opens a loop over a share of `total` units, and gives the loop to close and the number of a unit.
fn open_share(em: &mut Emitter<'_>, total: i64, tasks: i64) -> (ScopeId, String, Bounds) {
    let root = em.root();
    let (one, count, units) = (em.int(1), em.int(tasks), em.int(total));
    let mut bounds = Bounds { low: em.int(0), high: units.clone(), step: one.clone() };
    if tasks > 1 {
        let next = em.op(root, &format!("arith.addi %task, {one} : i64"));
        let [low, high] = ["%task", next.as_str()].map(|task| {
            let scaled = em.op(root, &format!("arith.muli {task}, {units} : i64"));
            em.op(root, &format!("arith.divui {scaled}, {count} : i64"))
        });
        bounds = Bounds { low, high, step: one };
    }
    let scope = em.open(root, Vec::new(), None);
    let iv = em.name();
    (scope, iv, bounds)
}

impl Tiles<'_> {
    fn emitter(&self) -> Emitter<'_> {
        let mut em = Emitter::new(self.dag);
        em.reductions.clone_from(&self.schedule.reductions);
        em
    }

    fn pointer(&self, em: &Emitter<'_>, buf: Buf) -> Result<String, CodegenError> {
        em.pointers.get(&buf).cloned().ok_or_else(|| CodegenError::malformed("a tensor without a pointer"))
    }

    fn offset(&self, em: &mut Emitter<'_>, scope: ScopeId, pointer: &str, elements: &str) -> String {
        let ty = self.sizes.elem.name();
        em.op(
            scope,
            &format!("llvm.getelementptr {pointer}[{elements}] : (!llvm.ptr, i64) -> !llvm.ptr, {ty}"),
        )
    }

    /// `a * factor`
    fn times(&self, em: &mut Emitter<'_>, scope: ScopeId, a: &str, factor: i64) -> String {
        let factor = em.int(factor);
        em.op(scope, &format!("arith.muli {a}, {factor} : i64"))
    }

    fn pack_columns(&self, columns: Buf) -> Result<Kernel, CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let mut em = self.emitter();
        let factor = c.factors[1];
        let buffers = buffers(self.dag, &[columns], &[factor]);
        name_pointers(&mut em, &buffers);
        let total = s.batch * s.all_panels;
        let bytes = total * s.sum * s.width * s.elem.size() as i64;
        let most = 4 * self.target.threads as i64;
        let tasks = if self.target.threads <= 1 { 1 } else { (bytes / 65_536).min(most).min(total).max(1) };
        let (scope, iv, bounds) = open_share(&mut em, total, tasks);
        let mut loops = c.batch.clone();
        loops.extend(&c.columns);
        let (panels, width) = (em.int(s.panels), em.int(s.width));
        let panel = em.op(scope, &format!("arith.remui {iv}, {panels} : i64"));
        let outer = em.op(scope, &format!("arith.divui {iv}, {panels} : i64"));
        for (&l, digit) in loops.iter().zip(digits(&mut em, scope, &loops, &outer)) {
            em.bind(scope, l, digit);
        }
        let base = em.op(scope, &format!("arith.muli {panel}, {width} : i64"));
        let start = self.times(&mut em, scope, &iv, s.sum * s.width);
        let pointer = self.pointer(&em, columns)?;
        let to = self.offset(&mut em, scope, &pointer, &start);
        let minor = Minor { loops: vec![c.lane], base, count: self.dag.extent(c.lane) };
        let pack =
            Pack { value: factor, sum: &c.sum, width: s.width as usize, lanes: c.tile.0, elem: s.elem };
        pack.emit(&mut em, scope, &minor, &to)?;
        em.close_loop(scope, &iv, &bounds, &[]);
        let text = format!("pack {total} x [{} {}] tasks {tasks}", s.sum, s.width);
        let mut kernel = finish(em, buffers, tasks, columns, text)?;
        // Every element is read and written.
        kernel.cycles = 2.0 * bytes as f64 / crate::schedule::BYTES_A_CYCLE;
        Ok(kernel)
    }

    fn compute(&self, columns: Buf, rows: Buf, share: Share) -> Result<Kernel, CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let mut em = self.emitter();
        let roots = read_by_tiles(self.dag, self.output, c);
        let buffers = buffers(self.dag, &[self.to.0, columns, rows], &roots);
        name_pointers(&mut em, &buffers);
        let root = em.root();
        let (columns_pointer, rows_pointer) = (self.pointer(&em, columns)?, self.pointer(&em, rows)?);
        let size = em.int(s.high * s.width);
        let tile = em.op(
            root,
            &format!("llvm.alloca {size} x {} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr", s.elem.name()),
        );
        // Every task has a block of packed rows.
        let own = self.times(&mut em, root, "%task", if s.tasks > 1 { s.block * s.sum } else { 0 });
        let block_pointer = self.offset(&mut em, root, &rows_pointer, &own);

        let Item { scope: item, close, batch, group, first_row, here } = match share {
            Share::Task => self.open_item(&mut em),
            Share::Range => self.open_range(&mut em),
        };
        for (&l, digit) in c.batch.iter().zip(digits(&mut em, item, &c.batch, &batch)) {
            em.bind(item, l, digit);
        }
        let (high, up) = (em.int(s.high), em.int(s.high - 1));
        let padded = em.op(item, &format!("arith.addi {here}, {up} : i64"));
        let tiles = em.op(item, &format!("arith.divui {padded}, {high} : i64"));

        // Rows of the block into panels.
        let (zero, one) = (em.int(0), em.int(1));
        let tile_bounds = Bounds { low: zero.clone(), high: tiles, step: one.clone() };
        let packing = em.open(item, Vec::new(), None);
        let number = em.name();
        let ahead = em.op(packing, &format!("arith.muli {number}, {high} : i64"));
        let base = em.op(packing, &format!("arith.addi {first_row}, {ahead} : i64"));
        let start = self.times(&mut em, packing, &number, s.sum * s.high);
        let to = self.offset(&mut em, packing, &block_pointer, &start);
        let minor = Minor { loops: c.rows.clone(), base, count: s.rows };
        let pack =
            Pack { value: c.factors[0], sum: &c.sum, width: s.high as usize, lanes: c.tile.0, elem: s.elem };
        pack.emit(&mut em, packing, &minor, &to)?;
        em.close_loop(packing, &number, &tile_bounds, &[]);

        // Column panels, then row tiles.
        let low = self.times(&mut em, item, &group, s.group);
        let (step, most) = (em.int(s.group), em.int(s.all_panels));
        let end = em.op(item, &format!("arith.addi {low}, {step} : i64"));
        let end = em.op(item, &format!("arith.minsi {end}, {most} : i64"));
        let column = em.open(item, Vec::new(), None);
        let column_iv = em.name();
        let panels = em.int(s.panels);
        let panel = em.op(column, &format!("arith.remui {column_iv}, {panels} : i64"));
        let outer = em.op(column, &format!("arith.divui {column_iv}, {panels} : i64"));
        for (&l, digit) in c.columns.iter().zip(digits(&mut em, column, &c.columns, &outer)) {
            em.bind(column, l, digit);
        }
        let from_columns = match &self.in_place {
            Some(place) => {
                let base = self.times(&mut em, column, &panel, s.width);
                let sum: LoopSet = c.sum.iter().copied().collect();
                let terms = place.address.terms.iter().copied().filter(|t| !sum.contains(t.0)).collect();
                let first = Lin { terms, offset: place.address.offset };
                let part = em.open(column, vec![(c.lane, base)], None);
                let start = em.lin(&first, part);
                em.close_plain(part);
                self.offset(&mut em, column, &columns_pointer, &start)
            }
            None => {
                let batched = self.times(&mut em, column, &batch, s.all_panels);
                let number = em.op(column, &format!("arith.addi {batched}, {column_iv} : i64"));
                let start = self.times(&mut em, column, &number, s.sum * s.width);
                self.offset(&mut em, column, &columns_pointer, &start)
            }
        };

        let row = em.open(column, Vec::new(), None);
        let row_iv = em.name();
        let start = self.times(&mut em, row, &row_iv, s.sum * s.high);
        let from_rows = self.offset(&mut em, row, &block_pointer, &start);
        let (full, rest) = (self.dag.extent(c.lane) / s.width, self.dag.extent(c.lane) % s.width);
        if self.in_place.is_some() && rest != 0 {
            let whole = em.int(full);
            for (predicate, active) in [("ult", s.width), ("uge", rest)] {
                if full == 0 && active == s.width {
                    continue;
                }
                let part = em.open(row, Vec::new(), None);
                self.tile(&mut em, part, &from_rows, &from_columns, &tile, active)?;
                let holds = em.op(row, &format!("arith.cmpi {predicate}, {panel}, {whole} : i64"));
                em.close_if(part, &holds);
            }
        } else {
            self.tile(&mut em, row, &from_rows, &from_columns, &tile, s.width)?;
        }
        let ahead = em.op(row, &format!("arith.muli {row_iv}, {high} : i64"));
        let first = em.op(row, &format!("arith.addi {first_row}, {ahead} : i64"));
        self.store(&mut em, row, &first, &panel, &tile)?;
        em.close_loop(row, &row_iv, &tile_bounds, &[]);
        em.close_loop(column, &column_iv, &Bounds { low, high: end, step: one }, &[]);
        match close {
            Some((iv, bounds)) => drop(em.close_loop(item, &iv, &bounds, &[])),
            None => em.close_plain(item),
        }
        let text = format!(
            "contraction batch {} rows {} columns {} x {}{} sum {}, tile {}x{}, block {}, groups {}, tasks {}",
            s.batch,
            s.rows,
            s.all_panels / s.panels,
            self.dag.extent(c.lane),
            if self.in_place.is_some() { " in place" } else { "" },
            s.sum,
            s.high,
            s.width,
            s.block,
            s.groups,
            s.tasks
        );
        let mut kernel = finish(em, buffers, s.tasks, self.to.0, text)?;
        kernel.writes.push(rows);
        kernel.cycles = c.cycles(s);
        Ok(kernel)
    }

    /// Opens the loop over the items of a task: a block of rows of a batch, and a group of columns.
    fn open_item(&self, em: &mut Emitter<'_>) -> Item {
        let s = &self.sizes;
        let (item, iv, bounds) = open_share(em, s.batch * s.blocks * s.groups, s.tasks);
        let (groups, blocks) = (em.int(s.groups), em.int(s.blocks));
        let group = em.op(item, &format!("arith.remui {iv}, {groups} : i64"));
        let rest = em.op(item, &format!("arith.divui {iv}, {groups} : i64"));
        let block = em.op(item, &format!("arith.remui {rest}, {blocks} : i64"));
        let batch = em.op(item, &format!("arith.divui {rest}, {blocks} : i64"));
        let first_row = self.times(em, item, &block, s.block);
        let (count, length) = (em.int(s.rows), em.int(s.block));
        let left = em.op(item, &format!("arith.subi {count}, {first_row} : i64"));
        let here = em.op(item, &format!("arith.minsi {left}, {length} : i64"));
        Item { scope: item, close: Some((iv, bounds)), batch, group, first_row, here }
    }

    /// The rows from `%low` to `%high`, counted through all batches, and all columns.
    fn open_range(&self, em: &mut Emitter<'_>) -> Item {
        let root = em.root();
        let scope = em.open(root, Vec::new(), None);
        let (group, count) = (em.int(0), em.int(self.sizes.rows));
        let batch = em.op(scope, &format!("arith.divui %low, {count} : i64"));
        let first_row = em.op(scope, &format!("arith.remui %low, {count} : i64"));
        let here = em.op(scope, "arith.subi %high, %low : i64");
        Item { scope, close: None, batch, group, first_row, here }
    }

    /// The loop over the sum, with the tile in registers, and the tile into memory. So many columns exist.
    fn tile(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows: &str,
        columns: &str,
        tile: &str,
        active: i64,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let (lanes, vectors, high) = c.tile;
        let (ty, name, size) = (s.elem.ty(lanes), s.elem.name(), s.elem.size());
        let Node::Reduce { op, body, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        let dtype = self.dag[c.node].dtype;
        let zero = em.scalar(op.neutral(dtype), lanes);
        let inner = em.open(scope, Vec::new(), None);
        let k = em.name();
        let stride = self.in_place.as_ref().map_or(s.width, |p| p.stride);
        let (a, b) = (self.times(em, inner, &k, s.high), self.times(em, inner, &k, stride));
        let (a, b) = (self.offset(em, inner, rows, &a), self.offset(em, inner, columns, &b));
        let mut vector = Vec::new();
        for v in 0..vectors {
            let exist = usize::try_from(active).unwrap_or(0).saturating_sub(v * lanes).min(lanes);
            if exist == 0 {
                vector.push(em.constant(s.elem, 0, lanes));
                continue;
            }
            let from = em.op(
                inner,
                &format!("llvm.getelementptr {b}[{}] : (!llvm.ptr) -> !llvm.ptr, {name}", v * lanes),
            );
            let load = if exist == lanes {
                format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}")
            } else {
                let (mask, none) = (em.first_lanes(exist, lanes), em.constant(s.elem, 0, lanes));
                format!(
                    "llvm.intr.masked.load {from}, {mask}, {none} {{alignment = {size} : i32}} : (!llvm.ptr, {}, {ty}) \
                     -> {ty}",
                    Elem::I1.ty(lanes)
                )
            };
            vector.push(em.op(inner, &load));
        }
        let mut carried = Vec::new();
        for row in 0..high {
            let from =
                em.op(inner, &format!("llvm.getelementptr {a}[{row}] : (!llvm.ptr) -> !llvm.ptr, {name}"));
            let value = em.op(inner, &format!("llvm.load {from} : !llvm.ptr -> {name}"));
            let value = em.op(inner, &format!("vector.broadcast {value} : {name} to {ty}"));
            for column in &vector {
                // The values of this row and these columns are known here; the rest of the term is arithmetic.
                let part = em.open(inner, vec![(c.lane, String::new())], Some((c.lane, lanes)));
                em.seed(part, c.factors[0], Val { ssa: value.clone(), lanes });
                em.seed(part, c.factors[1], Val { ssa: column.clone(), lanes });
                let into = em.name();
                let next = em.join_term(op, body, dtype, &into, At { scope: part, lanes })?;
                em.close_plain(part);
                carried.push(Carried { name: into, init: zero.clone(), ty: ty.clone(), next });
            }
        }
        let bounds = Bounds { low: em.int(0), high: em.int(s.sum), step: em.int(1) };
        let sums = em.close_loop(inner, &k, &bounds, &carried);
        for (i, sum) in sums.iter().enumerate() {
            let to = em.op(
                scope,
                &format!("llvm.getelementptr {tile}[{}] : (!llvm.ptr) -> !llvm.ptr, {name}", i * lanes),
            );
            em.line(scope, &format!("llvm.store {sum}, {to} {{alignment = 64 : i64}} : {ty}, !llvm.ptr"));
        }
        Ok(())
    }

    /// Evaluates the rest of the stored field on the tile, as far as it lies inside.
    fn store(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        first_row: &str,
        panel: &str,
        tile: &str,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let extent = self.dag.extent(c.lane);
        let (count, high) = (em.int(s.rows), em.int(s.high));
        let left = em.op(scope, &format!("arith.subi {count}, {first_row} : i64"));
        let here = em.op(scope, &format!("arith.minsi {left}, {high} : i64"));
        let line = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let row = em.op(line, &format!("arith.addi {first_row}, {iv} : i64"));
        for (&l, digit) in c.rows.iter().zip(digits(em, line, &c.rows, &row)) {
            em.bind(line, l, digit);
        }
        let base = self.times(em, line, panel, s.width);
        let start = self.times(em, line, &iv, s.width);
        let from = self.offset(em, line, tile, &start);
        let (full, rest) = (extent / s.width, extent % s.width);
        let whole = em.int(full);
        for (inside, width) in [(true, s.width), (false, rest)] {
            if width == 0 || (inside && full == 0) {
                continue;
            }
            let part = em.open(line, Vec::new(), None);
            let lanes = c.tile.0 as i64;
            let main = width - width % lanes;
            let rest = (width - main).unsigned_abs().next_power_of_two() as i64;
            for (step, low, high) in [(lanes, 0, main), (rest, main, width)] {
                if low < high {
                    self.line(em, part, (&base, &from), (step, low, high))?;
                }
            }
            if rest == 0 || full == 0 {
                em.close_plain(part);
            } else {
                let predicate = if inside { "ult" } else { "uge" };
                let holds = em.op(line, &format!("arith.cmpi {predicate}, {panel}, {whole} : i64"));
                em.close_if(part, &holds);
            }
        }
        let bounds = Bounds { low: em.int(0), high: here, step: em.int(1) };
        em.close_loop(line, &iv, &bounds, &[]);
        Ok(())
    }

    /// One row of a tile, in vectors; the last may be beyond the end in part.
    fn line(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (base, from): (&str, &str),
        (step, low, high): (i64, i64, i64),
    ) -> Result<(), CodegenError> {
        let c = self.c;
        let dtype = self.dag[c.node].dtype;
        let lanes = step as usize;
        let at_loop = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let position = em.op(at_loop, &format!("arith.addi {base}, {iv} : i64"));
        let vector = (lanes > 1).then_some((c.lane, lanes));
        let inner = em.open(at_loop, vec![(c.lane, position)], vector);
        em.activate(inner, (high - low) as usize, lanes);
        let at = At { scope: inner, lanes };
        let pointer = self.offset(em, inner, from, &iv);
        let (ty, size) = (self.sizes.elem.ty(lanes), self.sizes.elem.size());
        let sum =
            em.op(inner, &format!("llvm.load {pointer} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}"));
        let sum = em.round_half(at, dtype, sum);
        em.seed(inner, c.node, Val { ssa: sum, lanes });
        let value = em.value(self.output.root, inner)?;
        let to = self.pointer(em, self.to.0)?;
        em.store(&to, self.to.1, &self.output.address, &value, at);
        em.close_plain(inner);
        let bounds = Bounds { low: em.int(low), high: em.int(high), step: em.int(step) };
        em.close_loop(at_loop, &iv, &bounds, &[]);
        Ok(())
    }
}

/// The linear number of the summed loops.
pub fn sum_number(dag: &Dag, sum: &[LoopId], factor: i64) -> Lin {
    let mut lin = Lin::default();
    let mut stride = factor;
    for &l in sum.iter().rev() {
        if dag.extent(l) > 1 {
            lin.terms.push((l, stride));
        }
        stride *= dag.extent(l);
    }
    lin.terms.sort_unstable();
    lin
}
