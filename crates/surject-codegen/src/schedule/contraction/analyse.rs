//! Which reductions are contractions, and in which tiles.

use crate::Target;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::machine::thresholds::TileThresholds;
use crate::schedule::contraction::pack::is_steady;
use crate::schedule::contraction::pairs::Pairs;
use crate::schedule::contraction::triangle::{Triangle, triangle};
use crate::schedule::contraction::{
    Contraction, TileSize, cost, matrix, pairs, product, sizes, terms, windows,
};
use crate::schedule::refused::{Fit, Refused, need};
use surject_ir::{AccOp, BinaryOp, DType};

/// The share of the usual products that vectors make which hold the columns of several terms ([`super::terms`]).
const GROUPED: f64 = 0.7;

/// Rows that are worth tiles of more vectors.
const FEW_ROWS: i64 = 4;

/// The share of products that storing results apart leaves, at most, and the terms of a sum that take as long as that.
const APART: f64 = 0.6;

const APART_TERMS: f64 = 16.0;

/// More rows than these are packed into tiles of the usual height: columns are read less often.
const MOST_IN_LOOP: i64 = 30;

/// Results for every term of a sum up to which storing them is not what counts.
const RESULTS: i64 = 12;

/// Sums that are added to at the same time: two in a cycle, four cycles each.
const SUMS: f64 = 8.0;

/// Two thirds of a tile take at least so much longer, row by row, than all of it: of 16 registers 8 are sums then, not 12.
const LOWER: f64 = 0.93;

/// Rows of what is worth tiles of smaller vectors.
const FULL_TILE: i64 = 16;

/// The two values that a term is made of, where one depends on some loops of the output and the other on others: all
/// that depends on both is arithmetic on them.
fn factors(dag: &Dag, node: NodeId, body: NodeId) -> Option<(NodeId, NodeId)> {
    const CORE: usize = 8;
    let plain = |n: NodeId| matches!(dag[n].dtype, DType::F32 | DType::F64 | DType::I32 | DType::I64);
    let nodes = dag.reachable(&[body]);
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

/// A factor and the loops of the output that only it depends on.
struct Side {
    factor: NodeId,
    loops: Vec<LoopId>,
}

/// A reduction that may be a contraction: what there is to know of it before a tile is chosen.
struct Candidate<'a> {
    dag: &'a Dag,
    outputs: &'a [Output],
    target: &'a Target,
    node: NodeId,
    dtype: DType,
    sides: [Side; 2],
    /// The loops that both factors depend on, and those that are summed.
    batch: Vec<LoopId>,
    sum: &'a [LoopId],
    /// Products, terms of a sum.
    work: f64,
    terms: f64,
    /// From which size on there are tiles.
    least: TileThresholds,
    /// Are there so few results for every term that storing them is not what counts?
    few_results: bool,
    /// Lanes of a whole vector.
    full: usize,
    pairs: Option<Pairs>,
    /// Is it a plain sum of products?
    plain: bool,
}

/// A tile for some rows and columns, and what it was chosen for.
struct Shape {
    lanes: usize,
    vectors: usize,
    high: usize,
    /// The height where there are many rows.
    usual: usize,
    /// Are columns windows that are mostly read where they lie?
    windows: bool,
    /// May the rows of a tile be read where they lie?
    in_place_rows: bool,
    /// Are all rows in one tile?
    few: bool,
}

/// Looks at a reduction. Refused where it is no contraction, or tiles would be mostly empty.
pub fn analyse(dag: &Dag, outputs: &[Output], node: NodeId, target: &Target) -> Fit<Contraction> {
    let candidate = Candidate::of(dag, outputs, node, target)?;
    let [first, second] = &candidate.sides;
    let mut best: Option<Tiled> = None;
    for (rows, columns) in [(first, second), (second, first)] {
        for &lane in &columns.loops {
            if let Some(tiled) = candidate.tiled(rows, columns, lane)
                && best.as_ref().is_none_or(|b| tiled.time < b.time)
            {
                best = Some(tiled);
            }
        }
    }
    let mut best = best.ok_or(Refused("tiles would be mostly empty"))?.contraction;
    // The rows of a tile that do not stay in the nearest cache are read in the order of memory.
    let bytes = product(dag, candidate.sum) * (best.tile.high * Elem::of(candidate.dtype).size()) as i64;
    if 2 * bytes > target.l1_bytes as i64
        && best.pairs.is_none()
        && let Some(sum) = windows::in_memory_order(dag, best.factors[0], &best.sum)
    {
        best.sum = sum;
    }
    let mut best = matrix::in_tiles(dag, best, target);
    let op = match &dag[node].node {
        Node::Reduce { op, .. } if candidate.plain => Some(*op),
        _ => None,
    };
    best.triangle = triangle(dag, outputs, &best, op);
    Ok(best)
}

/// A contraction in tiles, and an estimate of the time it takes.
struct Tiled {
    time: f64,
    contraction: Contraction,
}

/// How far a loop moves in the outputs.
fn stride(outputs: &[Output], l: LoopId) -> i64 {
    outputs.iter().map(|o| o.address.coeff(l).abs()).max().unwrap_or(0)
}

/// The part of tiles of this length that so many elements fill.
fn fill(n: i64, tile: i64) -> f64 {
    n as f64 / (((n + tile - 1) / tile).max(1) * tile) as f64
}

impl<'a> Candidate<'a> {
    /// The two factors of a reduction and their loops. Refused: it is no contraction, or too small.
    fn of(dag: &'a Dag, outputs: &'a [Output], node: NodeId, target: &'a Target) -> Fit<Candidate<'a>> {
        let Node::Reduce { op, loops, body, .. } = &dag[node].node else {
            return Err(Refused("there is no reduction"));
        };
        let dtype = dag[node].dtype;
        let suitable = dtype.is_float() || matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64);
        let (x, y) = match dag[*body].node {
            Node::Binary(BinaryOp::Mul, x, y) if *op == AccOp::Add && dag[x].deps != dag[y].deps => (x, y),
            _ => factors(dag, node, *body).ok_or(Refused("the terms are not made of two factors"))?,
        };
        let (dx, dy) = (dag[x].deps, dag[y].deps);
        need(suitable, "the element type has no tiles")?;
        let read = loops.iter().all(|&l| dx.union(dy).contains(l));
        need(read, "terms along a loop are all the same")?;
        let of = |set: LoopSet| -> Vec<LoopId> {
            let all = (0..dag.extents.len()).map(|l| LoopId(l as u8));
            all.filter(|&l| set.contains(l) && dag.extent(l) > 1).collect()
        };
        let deps = dag[node].deps;
        let by_stride = |mut loops: Vec<LoopId>| {
            loops.sort_by_key(|&l| (std::cmp::Reverse(stride(outputs, l)), l));
            loops
        };
        let both = of(LoopSet::from_iter(of(dx).into_iter().filter(|&l| dy.contains(l) && deps.contains(l))));
        let only = |a: LoopSet, b: LoopSet| -> Vec<LoopId> {
            by_stride(of(a).into_iter().filter(|&l| deps.contains(l) && !b.contains(l)).collect())
        };
        let sides = [Side { factor: x, loops: only(dx, dy) }, Side { factor: y, loops: only(dy, dx) }];
        let terms = product(dag, loops);
        let work = product(dag, &of(deps)) as f64 * terms as f64;
        let least = match dtype {
            DType::F16 | DType::BF16 => target.thresholds.half_tiles,
            _ => target.thresholds.tiles,
        };
        need(work >= least.products && terms >= 4, "there are too few products for tiles")?;
        let pairs = pairs::find(dag, (*op, *body), loops, target);
        let product_of = Node::Binary(BinaryOp::Mul, x, y);
        Ok(Candidate {
            dag,
            outputs,
            target,
            node,
            dtype,
            sides,
            batch: by_stride(both),
            sum: loops,
            work,
            terms: terms as f64,
            least,
            few_results: product(dag, &of(deps)) <= RESULTS * terms,
            full: target.vector_bytes / Elem::of(dtype).size(),
            pairs,
            plain: pairs.is_none() && *op == AccOp::Add && dag[*body].node == product_of,
        })
    }

    /// The tile for some rows and columns, one loop of which lies in lanes.
    fn shape(&self, rows: &Side, columns: &Side, lane: LoopId) -> Shape {
        let (dag, target) = (self.dag, self.target);
        let (extent, count) = (dag.extent(lane), product(dag, &rows.loops));
        // Few columns with many rows are multiplied in smaller vectors.
        let small = self.pairs.is_none() && count >= FULL_TILE;
        let lanes = if small { sizes::fitting(extent, self.full) } else { self.full };
        let many = target.vector_registers >= 32;
        let windowed = self.sum.iter().filter(|&&l| dag.extent(l) > 1).count() > 1;
        let windows = windowed
            && is_steady(dag, columns.factor, lane)
            && windows::is_tensor(dag, (columns.factor, self.dtype));
        let lies = windows::is_tensor(dag, (rows.factor, self.dtype));
        // The rows of a tile that lies in one loop of theirs.
        let last = rows.loops.last().map_or(1, |&l| dag.extent(l));
        let alike = if count <= MOST_IN_LOOP && lies { last } else { count };
        // One row is worth more vectors where columns are read where they lie.
        let least = if windows { 1 } else { 2 };
        let vectors = self.vectors((extent as usize).div_ceil(lanes), alike, least);
        let usual = match (many, vectors) {
            (true, 4) => 6,
            (true, 2 | 3) => 8,
            (true, _) => 16,
            // Lower ones have just sums enough to wait for none, but do not leave as much of the last tile empty.
            (false, 2) if fill(alike, 6) < LOWER * fill(alike, 4) => 4,
            (false, 2) => 6,
            (false, _) => 8,
        };
        let panels = (extent as usize).div_ceil(lanes * vectors) as i64;
        let panels = product(dag, &columns.loops) / extent * panels;
        let in_place = windows::is_plain(dag, (rows.factor, self.dtype), &rows.loops, self.sum, panels);
        let in_place_rows = windows::are_few(panels) && lies;
        let few = (count as usize) < usual && (vectors > 1 || windows);
        let high = match &rows.loops[..] {
            _ if in_place || few => even(count, usual),
            // Tiles that all lie in one loop of the rows, if they are hardly lower for it.
            [_, .., _] if in_place_rows => {
                let high = even(last, usual);
                if 2 * high >= usual || (high * vectors) as f64 >= SUMS { high } else { usual }
            }
            _ => usual,
        };
        Shape { lanes, vectors, high, usual, windows, in_place_rows, few }
    }

    /// The vectors of a tile, of those that the columns fill, for so many rows, of which few are at least `least`.
    fn vectors(&self, filled: usize, rows: i64, least: i64) -> usize {
        let wide = self.target.vector_registers >= 32 && self.pairs.is_none();
        match filled {
            // Three hold what two would leave a single one of, which waits for loads.
            3 if wide => 3,
            0 | 1 => 1,
            // Few rows have more vectors, for sums enough to wait for none.
            n if wide && n > 3 && (least..=FEW_ROWS).contains(&rows) => {
                if n.div_ceil(4) * 4 <= n.div_ceil(3) * 3 { 4 } else { 3 }
            }
            _ => 2,
        }
    }

    /// The contraction with a loop in lanes, and its time; `None`: tiles would be mostly empty.
    fn tiled(&self, rows: &Side, columns: &Side, lane: LoopId) -> Option<Tiled> {
        let (dag, target) = (self.dag, self.target);
        let shape = self.shape(rows, columns, lane);
        let mut contraction = self.contraction(rows, columns, lane, &shape);
        let (extent, count) = (dag.extent(lane), product(dag, &rows.loops));
        let Shape { lanes, vectors, high, few, .. } = shape;
        // A vector of half the lanes takes about half the time, a smaller one no less.
        let pace = (2.0 * lanes as f64 / self.full as f64).min(1.0);
        // But where a whole one is no slower, other tiles than these are looked for.
        let slower = if target.full_rate_vectors { lanes as f64 / self.full as f64 / pace } else { 1.0 };
        // Of two that are as good, the one with whole panels.
        let whole = if vectors == 1 { 1.0 } else { 0.9 + 0.1 * fill(extent, (lanes * vectors) as i64) };
        // A last vector of half the lanes beside others takes half the time; by itself it waits for loads.
        let used = fill(extent, if extent > lanes as i64 { (lanes as i64 / 2).max(1) } else { lanes as i64 });
        let busy = if vectors > 1 || few { ((high * vectors) as f64 / SUMS).min(1.0) } else { 1.0 };
        let (pace, frame) = match cost::grouped(dag, &contraction, target) {
            Some(cycles) => (pace.max(GROUPED), cycles),
            None => (pace, 0.0),
        };
        let share = used * fill(count, high as i64) * pace * whole * busy;
        contraction.share = share * slower;
        // Storing results apart counts the more, the fewer terms they have.
        let beside = stride(self.outputs, lane) == 1;
        let (unit, short) = match beside {
            true => (1.0, 1.0),
            false => (APART, (self.terms / (self.terms + APART_TERMS) / APART).min(1.0)),
        };
        let score = share * unit;
        let score = if contraction.streams { score.max(0.5) } else { score };
        let least = match few {
            true if shape.windows => self.least.window_score,
            _ => self.least.score,
        };
        if score <= least {
            return None;
        }
        let products = self.work / self.full as f64;
        // Of long sums for few results it matters what is packed, and not how results are stored.
        let time = if self.few_results && self.pairs.is_none() && !contraction.streams {
            products / (share * slower)
                + cost::cycles(dag, &contraction, cost::Results::of(stride(self.outputs, lane)), target)
        } else {
            let steady = is_steady(dag, columns.factor, lane);
            let gathered = if !steady && few && self.pairs.is_none() { 0.3 } else { 1.0 };
            let packed = if steady { 0.0 } else { cost::packing(dag, &contraction, target) };
            products / (score * short * slower * gathered) + frame + packed
        };
        Some(Tiled { time, contraction })
    }

    /// The contraction in tiles of a shape; the share of products is still to be said.
    fn contraction(&self, rows: &Side, columns: &Side, lane: LoopId, shape: &Shape) -> Contraction {
        let (dag, target) = (self.dag, self.target);
        let count = product(dag, &rows.loops);
        let streams = sizes::streams(dag, columns.factor, lane, self.sum, count, target);
        // Where memory is what counts, tiles are as high as each other.
        let (high, usual) = match streams {
            true => (even(count, shape.usual), even(count, shape.usual)),
            false => (shape.high, shape.usual),
        };
        let tile = TileSize { lanes: shape.lanes, vectors: shape.vectors, high };
        let together = terms::together(dag.extent(lane), self.full, target);
        Contraction {
            node: self.node,
            factors: [rows.factor, columns.factor],
            batch: self.batch.clone(),
            rows: rows.loops.clone(),
            columns: columns.loops.iter().copied().filter(|&l| l != lane).collect(),
            lane,
            sum: self.sum.to_vec(),
            tile,
            usual,
            pairs: self.pairs,
            matrix: false,
            streams,
            share: 0.0,
            grouped: self.plain && tile.vectors == 1 && together.is_some(),
            triangle: Triangle::default(),
            filled: filled(dag, rows, self.sum, &Shape { high, ..*shape }, product(dag, &columns.loops)),
        }
    }
}

/// The height of as many tiles as rows need, where these are shared between the tiles.
fn even(rows: i64, usual: usize) -> usize {
    let tiles = (rows as usize).div_ceil(usual).max(1);
    (rows as usize).div_ceil(tiles).max(1)
}

/// The extent to fill the last loop of the rows up to, where the rows of a tile would differ in several loops and could
/// only be evaluated one by one, which takes as long as some vectors of columns, or could not be read where they lie.
/// There are so many columns.
fn filled(
    dag: &Dag,
    rows: &Side,
    sum: &[LoopId],
    &Shape { lanes, high, in_place_rows, .. }: &Shape,
    columns: i64,
) -> Option<i64> {
    const WASTE: f64 = 0.15;
    const MOST: f64 = 1.0;
    /// Of its products, what packing the rows of a tile costs.
    const CROSSING: f64 = 0.3;
    const VECTORS: f64 = 2.0;
    let (x, rows) = (rows.factor, &rows.loops[..]);
    let (&last, outer) = rows.split_last()?;
    let (extent, high) = (dag.extent(last), high as i64);
    let across =
        sum.iter().any(|&l| is_steady(dag, x, l) && dag.extent(l) >= lanes as i64 && dag[x].deps.contains(l));
    let filled = (extent + high - 1) / high * high;
    let waste = (filled - extent) as f64 / extent as f64;
    // Of more rows than terms most are windows that lie inside, and are not evaluated at all, if a tile is no longer
    // than the loop.
    let long = product(dag, sum) > product(dag, rows) || extent < high;
    let little = waste <= WASTE || long && waste <= MOST && waste * columns as f64 <= VECTORS * lanes as f64;
    let few =
        if across { in_place_rows && waste <= CROSSING * (high - 1) as f64 / extent as f64 } else { little };
    (!outer.is_empty() && filled != extent && few).then_some(filled)
}
