//! Rewrites of a kernel before it is emitted: what a reduction computes on its way is kept for the output, and a
//! long reduction into few elements is cut into parts.

use crate::Target;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::rewrite::{Rewriter, substituted};
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::{self, RowSchedule};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, FieldId};

/// A long reduction into few elements, in two kernels: the parts, and what is made of them.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The number of parts.
    pub count: i64,
    /// The element type of the parts.
    pub dtype: DType,
    /// The kernel of the parts: its graph, output and loops.
    pub first: (Dag, Output, Vec<LoopId>),
    /// The graph of the second kernel.
    pub second: Dag,
    /// Its output.
    pub output: Output,
}

/// The terms of a reduction that is worth cutting, and those of all elements together where nothing is done in lanes.
const LONG: i64 = 1 << 10;

const MANY: i64 = 1 << 17;

/// Reasons.
const ONE_THREAD: &str = "there is one thread";
const BUSY: &str = "there are results enough for all threads, or too few terms";
const SHORT: Refused = Refused("the sums are short");
const OVERFLOW: Refused = Refused("an address does not fit 64 bits");

/// The cycles of one that is worth it however many they are.
const CYCLES: f64 = 200_000.0;

/// The accumulation to be stored first where elements too few to keep the threads busy are made of several long ones:
/// one is cut, several are not.
pub fn several(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    schedule: &RowSchedule,
    target: &Target,
) -> Fit<FieldId> {
    let product = |loops: &[LoopId]| loops.iter().map(|&l| dag.extent(l)).product::<i64>();
    let points = product(outer);
    // What is done in lanes is one piece of work.
    let lanes = schedule.lanes as i64;
    need(target.threads > 1, ONE_THREAD)?;
    need(points < target.threads as i64 * lanes, BUSY)?;
    let many = if lanes > 1 { 2 * MANY } else { MANY };
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let all: Vec<NodeId> = reductions(dag, &roots).collect();
    let first = all.iter().find_map(|&n| match &dag[n].node {
        Node::Reduce { loops, body, field, .. } => {
            let work = product(loops);
            let alone = reductions(dag, &[*body]).next().is_none();
            (alone && work >= LONG && points.saturating_mul(work) >= many).then_some(*field)
        }
        _ => None,
    });
    first.filter(|_| all.len() > 1).ok_or(Refused("there are not several long reductions"))
}

/// Cuts the only reduction of a kernel where its output has too few elements to keep the threads busy, or where
/// its terms are so many that what tiles read again does not stay in a cache.
pub fn cut(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    schedule: &RowSchedule,
    target: &Target,
    buf: Buf,
) -> Fit<Parts> {
    let OnlyReduction { points, terms: work, loops } = only_reduction(dag, outputs, outer)?;
    if points == 1
        && let Some(rows) = far_rows(dag, outputs, (&loops, work), target)
    {
        return apply(dag, outputs, outer, rows, dag.extent(rows), buf).ok_or(OVERFLOW);
    }
    let longest = loops.into_iter().max_by_key(|&l| dag.extent(l)).ok_or(SHORT)?;
    let threads = target.threads as i64;
    // What is done in lanes is one piece of work.
    let lanes = schedule.lanes as i64;
    let many = points.saturating_mul(work) >= if lanes > 1 { 2 * MANY } else { MANY };
    let few = points < 2 * threads * lanes && (many || schedule.cycles >= CYCLES);
    need(target.threads > 1, ONE_THREAD)?;
    need(few, BUSY)?;
    need(work >= LONG, SHORT.0)?;
    // The divisor of the longest loop nearest to four parts a thread.
    let wanted = 4 * threads;
    // What other numbers leave over is little where the loop is long.
    let extent = dag.extent(longest);
    // As many for every thread, if there is any such number.
    let even = divisor(extent, wanted, 2 * wanted).filter(|&c| c >= threads);
    let left = (extent >= 8 * wanted).then_some(wanted);
    let count = even.filter(|c| c % threads == 0).or(left).or(even);
    let count = count.ok_or(Refused("the longest loop has no divisor near the number of parts"))?;
    apply(dag, outputs, outer, longest, count, buf).ok_or(OVERFLOW)
}

/// The loop over the rows of what one sum reads, where no cache holds that and rows are long: their sums may be made with
/// whatever else goes from row to row (`fuse`).
fn far_rows(
    dag: &Dag,
    outputs: &[Output],
    (loops, work): (&[LoopId], i64),
    target: &Target,
) -> Option<LoopId> {
    const ROWS: i64 = 64;
    const ROW: i64 = 256;
    let all = dag.all_reachable(&[outputs[0].root]);
    let loads = all.iter().filter(|&&n| matches!(dag[n].node, Node::Load { .. }));
    let far = loads.copied().any(|n| dag.bytes(n) > target.llc_share_bytes as f64);
    let rows = loops.iter().copied().max_by_key(|&l| schedule::stride(dag, &all, l))?;
    let count = dag.extent(rows);
    (far && count >= ROWS && work / count >= ROW).then_some(rows)
}

/// As [`cut`], for a product whose panels are too long: parts of about a thousand terms.
pub fn cut_panels(dag: &Dag, outputs: &[Output], outer: &[LoopId], target: &Target, buf: Buf) -> Fit<Parts> {
    const TERMS: i64 = 1024;
    let OnlyReduction { points, terms: work, mut loops } = only_reduction(dag, outputs, outer)?;
    // A panel of columns and one of rows, as wide as tiles are.
    let long = work * (target.vector_bytes as i64 * 2 + 32) >= 2 * target.l2_share_bytes as i64;
    need(long, "a panel stays in a cache")?;
    // The longest loop, and one along which elements lie side by side last: vectors of them are packed.
    let all = dag.all_reachable(&[outputs[0].root]);
    let side_by_side = |l: LoopId| {
        all.iter().any(|&n| matches!(&dag[n].node, Node::Load { address, .. } if address.coeff(l).abs() == 1))
    };
    loops.sort_by_key(|&l| (side_by_side(l), std::cmp::Reverse(dag.extent(l))));
    let found = loops.into_iter().find_map(|l| {
        let count = divisor(dag.extent(l), work / TERMS, 2 * work / TERMS)?;
        (work / count <= 4 * TERMS).then_some((l, count))
    });
    let (l, count) = found.ok_or(Refused("no loop has a divisor near the number of parts"))?;
    // Parts are written and read once; that must be little beside the terms of a square output.
    let side = (points as f64).sqrt();
    let worth = 4.0 * (count as f64) * points as f64 <= 2.0 * side * work as f64;
    need(worth, "the parts are many beside the terms")?;
    apply(dag, outputs, outer, l, count, buf).ok_or(OVERFLOW)
}

/// As [`cut`], for a sum of products over two loops that only the two together depend on, such as the sum of all rows
/// of a product: the parts along a loop that one factor has alone are a product with rows and columns, which has tiles.
pub fn cut_rows(dag: &Dag, outputs: &[Output], outer: &[LoopId], buf: Buf) -> Fit<Parts> {
    /// Parts, the terms of each, and the terms of all that are worth it; the most elements of the parts.
    const LEAST: i64 = 16;
    const WORTH: i64 = 100_000;
    const MOST: i64 = 1 << 20;
    let OnlyReduction { points, terms: work, loops } = only_reduction(dag, outputs, outer)?;
    let body = dag.all_reachable(&[outputs[0].root]).into_iter().find_map(|n| match &dag[n].node {
        Node::Reduce { op: AccOp::Add, body, .. } => Some(*body),
        _ => None,
    });
    let body = body.ok_or(Refused("the reduction is no sum"))?;
    let Node::Binary(BinaryOp::Mul, x, y) = dag[body].node else {
        return Err(Refused("the terms are no products"));
    };
    let (x, y) = (dag[x].deps, dag[y].deps);
    let over: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    // The output runs along the loops of one factor, the sum along one of the other and along some of both.
    let (mine, other) = match (x.meets(over), y.meets(over)) {
        (false, true) => (x, y),
        (true, false) => (y, x),
        _ => return Err(Refused("the results do not run along one factor alone")),
    };
    let alone = loops.iter().copied().filter(|&l| mine.contains(l) && !other.contains(l));
    let l = alone.max_by_key(|&l| dag.extent(l));
    let l = l.ok_or(Refused("no summed loop is that of one factor alone"))?;
    let (count, all) = (dag.extent(l), points.checked_mul(work).ok_or(OVERFLOW)?);
    let worth = all >= WORTH && count >= LEAST && points >= LEAST && work / count >= LEAST;
    need(worth, SHORT.0)?;
    need(count.checked_mul(points).ok_or(OVERFLOW)? <= MOST, "the parts are many beside the terms")?;
    apply(dag, outputs, outer, l, count, buf).ok_or(OVERFLOW)
}

/// The divisor of a number that is nearest to another, and not 1 nor above a limit.
fn divisor(n: i64, wanted: i64, most: i64) -> Option<i64> {
    (2..=most.min(n)).filter(|c| n % c == 0).min_by_key(|c| (c - wanted).abs())
}

/// The reductions that nodes reach, what stands inside others first.
fn reductions<'d>(dag: &'d Dag, roots: &[NodeId]) -> impl Iterator<Item = NodeId> + use<'d> {
    dag.all_reachable(roots).into_iter().filter(|&n| matches!(dag[n].node, Node::Reduce { .. }))
}

/// A kernel with one reduction.
struct OnlyReduction {
    /// The points of the output.
    points: i64,
    /// The terms of each.
    terms: i64,
    /// The summed loops.
    loops: Vec<LoopId>,
}

fn only_reduction(dag: &Dag, outputs: &[Output], outer: &[LoopId]) -> Fit<OnlyReduction> {
    const ONE: Refused = Refused("there is not one reduction into one result");
    let [output] = outputs else { return Err(ONE) };
    let mut all = reductions(dag, &[output.root]);
    let (Some(only), None) = (all.next(), all.next()) else { return Err(ONE) };
    let (dtype, Node::Reduce { loops, .. }) = (dag[only].dtype, &dag[only].node) else { return Err(ONE) };
    let exact = dtype.is_int() || dtype.is_bool() || matches!(dtype, DType::F32 | DType::F64);
    let product = |loops: &[LoopId]| loops.iter().map(|&l| dag.extent(l)).product::<i64>();
    need(exact, "parts of sums of this element type would be rounded")?;
    Ok(OnlyReduction { points: product(outer), terms: product(loops), loops: loops.clone() })
}

/// Cuts the only reduction into so many parts along a loop. The parts are the tensor `buf` of `count` rows of as many
/// elements as the reduction has values.
pub(crate) fn apply(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    l: LoopId,
    count: i64,
    buf: Buf,
) -> Option<Parts> {
    let [output] = outputs else { return None };
    let id = reductions(dag, &[output.root]).next()?;
    let Node::Reduce { op, loops, body, field } = dag[id].node.clone() else { return None };
    let dtype = dag[id].dtype;
    let inner = dag.extent(l) / count;
    let mut first = dag.clone();
    let part = first.add_loop(count)?;
    first.extents[l.0 as usize] = inner;
    // A loop over one term is none, unless there is no other.
    let over = |extent: i64, by: LoopId| -> Vec<LoopId> {
        let single = extent == 1 && loops.len() > 1;
        loops.iter().filter(|&&k| k != l || !single).map(|&k| if k == l { by } else { k }).collect()
    };
    let within = if over(inner, l).contains(&l) { Lin::var(l) } else { Lin::default() };
    let number = Lin::var(part).times(inner)?.plus(&within, 1)?;
    let root = substituted(&mut first, body, l, &number)?;
    let root = first.add(Node::Reduce { op, loops: over(inner, l), body: root, field }, dtype);
    // The values of the reduction in the order of its own loops.
    let own: Vec<LoopId> = outer.iter().copied().filter(|&l| dag[id].deps.contains(l)).collect();
    let mut place = Lin::default();
    let mut stride = 1;
    for &l in own.iter().rev() {
        place = place.plus(&Lin::var(l), stride)?;
        stride *= dag.extent(l);
    }
    let address = place.plus(&Lin::var(part), stride)?;
    let mut first_loops = vec![part];
    first_loops.extend(&own);

    let mut second = dag.clone();
    let parts = second.add_loop(count)?;
    let load = Node::Load { buf, address: place.plus(&Lin::var(parts), stride)?, guards: Vec::new() };
    let load = second.add(load, dtype);
    let mut joined = second.add(Node::Reduce { op, loops: vec![parts], body: load, field }, dtype);
    let rest = dag.extent(l) - inner * count;
    if rest > 0 {
        // What the parts leave over.
        let after = second.add_loop(rest)?;
        let within = if over(rest, after).contains(&after) { Lin::var(after) } else { Lin::default() };
        let number = within.plus(&Lin::constant(inner * count), 1)?;
        let root = substituted(&mut second, body, l, &number)?;
        let left = second.add(Node::Reduce { op, loops: over(rest, after), body: root, field }, dtype);
        joined = second.binary(op.binary()?, joined, left);
    }
    let mut rewriter = Rewriter { dag: &mut second, ids: HashMap::from([(id, joined)]) };
    for n in dag.reachable(&[output.root]) {
        if n != id && dag[n].node.children().any(|c| rewriter.ids.contains_key(&c)) {
            rewriter.copy(n, &|lin| Some(lin.clone()))?;
        }
    }
    let root_second = *rewriter.ids.get(&output.root)?;
    Some(Parts {
        count: count * stride,
        dtype,
        first: (first, Output { to: buf, address, root, join: None }, first_loops),
        second,
        output: Output { root: root_second, ..output.clone() },
    })
}
