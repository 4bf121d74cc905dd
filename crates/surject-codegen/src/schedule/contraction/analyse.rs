//! Which reductions are contractions, and in which tiles.

use crate::Target;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::contraction::pack::is_steady;
use crate::schedule::contraction::{Contraction, cost, matrix, pairs, product, sizes, terms, windows};
use surject_ir::{AccOp, BinaryOp, DType};

/// The share of the usual products that vectors make which hold the columns of several terms ([`super::terms`]).
const GROUPED: f64 = 0.7;

/// Fewer multiplications than these are left to the row emitter.
const SMALL: f64 = 4_000.0;

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
    let eager = target.treats_all_as_large && !matches!(dtype, DType::F16 | DType::BF16);
    if work < if eager { 64.0 } else { SMALL } || product(dag, loops) < 4 {
        return None;
    }
    let few_results = product(dag, &of(deps)) <= RESULTS * product(dag, loops);
    let terms = product(dag, loops) as f64;
    let full = target.vector_bytes / Elem::of(dtype).size();
    let windowed = loops.iter().filter(|&&l| dag.extent(l) > 1).count() > 1;
    let pairs = pairs::find(dag, (*op, *body), loops, target);
    let plain = pairs.is_none() && *op == AccOp::Add && dag[*body].node == Node::Binary(BinaryOp::Mul, x, y);
    let mut best: Option<(f64, Contraction)> = None;
    for (rows, columns) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
        for &lane in &columns.1 {
            let extent = dag.extent(lane);
            let count = product(dag, &rows.1);
            // Few columns with many rows are multiplied in smaller vectors.
            let small = pairs.is_none() && count >= FULL_TILE;
            let lanes = if small { sizes::fitting(extent, full) } else { full };
            let many = target.vector_registers >= 32;
            let wide = many && pairs.is_none();
            // Columns that are windows are mostly read where they lie.
            let windows =
                windowed && is_steady(dag, columns.0, lane) && windows::is_tensor(dag, (columns.0, dtype));
            // The rows of a tile that lies in one loop of theirs.
            let last = rows.1.last().map_or(1, |&l| dag.extent(l));
            let in_loop = count <= MOST_IN_LOOP && windows::is_tensor(dag, (rows.0, dtype));
            let alike = if in_loop { last } else { count };
            let vectors = match (extent as usize).div_ceil(lanes) {
                // Three hold what two would leave a single one of, which waits for loads.
                3 if wide => 3,
                0 | 1 => 1,
                // Few rows have more vectors, for sums enough to wait for none.
                n if wide && n > 3 && (2 - i64::from(windows)..=FEW_ROWS).contains(&alike) => {
                    if n.div_ceil(4) * 4 <= n.div_ceil(3) * 3 { 4 } else { 3 }
                }
                _ => 2,
            };
            let fill = |n: i64, tile: i64| n as f64 / (((n + tile - 1) / tile).max(1) * tile) as f64;
            let usual = match (many, vectors) {
                (true, 4) => 6,
                (true, 2 | 3) => 8,
                (true, _) => 16,
                // Lower ones have just sums enough to wait for none, but do not leave as much of the last tile empty.
                (false, 2) if fill(alike, 6) < LOWER * fill(alike, 4) => 4,
                (false, 2) => 6,
                (false, _) => 8,
            };
            // Storing results apart counts the more, the fewer terms they have.
            let (unit, short) = match stride(lane) {
                1 => (1.0, 1.0),
                _ => (APART, (terms / (terms + APART_TERMS) / APART).min(1.0)),
            };
            let panels =
                product(dag, &columns.1) / extent * ((extent as usize).div_ceil(lanes * vectors) as i64);
            let in_place = windows::is_plain(dag, (rows.0, dtype), &rows.1, loops, panels);
            let apart = windows::are_few(panels) && windows::is_tensor(dag, (rows.0, dtype));
            // Are all rows in one tile?
            let few = (count as usize) < usual && (vectors > 1 || windows);
            let high = match &rows.1[..] {
                _ if in_place || few => even(count, usual),
                // Tiles that all lie in one loop of the rows, if they are hardly lower for it.
                [_, .., _] if apart => {
                    let high = even(last, usual);
                    if 2 * high >= usual || (high * vectors) as f64 >= SUMS { high } else { usual }
                }
                _ => usual,
            };
            // A vector of half the lanes takes about half the time, a smaller one no less.
            let pace = (2.0 * lanes as f64 / full as f64).min(1.0);
            // But where a whole one is no slower, other tiles than these are looked for.
            let slower = if target.full_rate_vectors { lanes as f64 / full as f64 / pace } else { 1.0 };
            // Of two that are as good, the one with whole panels.
            let whole = if vectors == 1 { 1.0 } else { 0.9 + 0.1 * fill(extent, (lanes * vectors) as i64) };
            // A last vector of half the lanes beside others takes half the time; by itself it waits for loads.
            let used =
                fill(extent, if extent > lanes as i64 { (lanes as i64 / 2).max(1) } else { lanes as i64 });
            let busy = if vectors > 1 || few { ((high * vectors) as f64 / SUMS).min(1.0) } else { 1.0 };
            let steady = is_steady(dag, columns.0, lane);
            let gathered = if !steady && few && pairs.is_none() { 0.3 } else { 1.0 };
            let streams = sizes::streams(dag, columns.0, lane, loops, count, target);
            // Where memory is what counts, tiles are as high as each other.
            let (tall, usual) =
                if streams { (even(count, usual), even(count, usual)) } else { (high, usual) };
            let mut contraction = Contraction {
                node,
                factors: [rows.0, columns.0],
                batch: by_stride(both.clone()),
                rows: rows.1.clone(),
                columns: columns.1.iter().copied().filter(|&l| l != lane).collect(),
                lane,
                sum: loops.clone(),
                tile: (lanes, vectors, tall),
                usual,
                pairs,
                matrix: false,
                streams,
                share: 0.0,
                grouped: plain && vectors == 1 && terms::together(extent, full, target).is_some(),
                filled: filled(dag, (rows.0, apart), &rows.1, loops, (lanes, tall, product(dag, &columns.1))),
            };
            let (pace, frame) = match cost::grouped(dag, &contraction, target) {
                Some(cycles) => (pace.max(GROUPED), cycles),
                None => (pace, 0.0),
            };
            let share = used * fill(count, high as i64) * pace * whole * busy;
            contraction.share = share * slower;
            let score = share * unit;
            let score = if streams { score.max(0.5) } else { score };
            let least = match few {
                _ if eager => 0.0,
                true if windows => 0.06,
                _ => 0.3,
            };
            if score > least {
                // Of long sums for few results it matters what is packed, and not how results are stored.
                let time = if few_results && pairs.is_none() && !streams {
                    work / full as f64 / (share * slower)
                        + cost::cycles(dag, &contraction, stride(lane) != 1, target)
                } else {
                    let packed = if steady { 0.0 } else { cost::packing(dag, &contraction, target) };
                    work / full as f64 / (score * short * slower * gathered) + frame + packed
                };
                if best.as_ref().is_none_or(|b| time < b.0) {
                    best = Some((time, contraction));
                }
            }
        }
    }
    let mut best = best?.1;
    // The rows of a tile that do not stay in the nearest cache are read in the order of memory.
    let bytes = product(dag, loops) * (best.tile.2 * Elem::of(dtype).size()) as i64;
    if 2 * bytes > target.l1_bytes as i64
        && best.pairs.is_none()
        && let Some(sum) = windows::in_memory_order(dag, best.factors[0], &best.sum)
    {
        best.sum = sum;
    }
    Some(matrix::in_tiles(dag, best, target))
}

/// The height of as many tiles as rows need, where these are shared between the tiles.
fn even(rows: i64, usual: usize) -> usize {
    let tiles = (rows as usize).div_ceil(usual).max(1);
    (rows as usize).div_ceil(tiles).max(1)
}

/// The extent to fill the last loop of the rows up to, where the rows of a tile would differ in several loops and could
/// only be evaluated one by one, which takes as long as some vectors of columns, or could not be read where they lie.
/// `x` is their factor; may its rows lie where they are?
fn filled(
    dag: &Dag,
    (x, apart): (NodeId, bool),
    rows: &[LoopId],
    sum: &[LoopId],
    (lanes, high, columns): (usize, usize, i64),
) -> Option<i64> {
    const WASTE: f64 = 0.15;
    const MOST: f64 = 1.0;
    /// Of its products, what packing the rows of a tile costs.
    const CROSSING: f64 = 0.3;
    const VECTORS: f64 = 2.0;
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
    let few = if across { apart && waste <= CROSSING * (high - 1) as f64 / extent as f64 } else { little };
    (!outer.is_empty() && filled != extent && few).then_some(filled)
}
