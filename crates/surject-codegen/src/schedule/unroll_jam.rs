//! Unroll and jam over windows: some neighbours along a loop at the same time, so that what their windows share is loaded once.
//!
//! Where each channel is summed over windows of its own (a depthwise convolution), the channels lie in lanes, and a term
//! needs two loads: two thirds of the time are loads. Of eight windows side by side, the factors are loaded once for all
//! of them, and so is an element that several windows have. 5 x 5 windows of 240 channels take a tenth of the time
//! (Zen 4).
//!
//! The loop over the windows is cut into blocks. In the first and the last of them it is known when the code is written
//! which terms lie outside; in those between, none do. Whether the rows of a window lie inside is looked at once for a
//! block. Outside, the terms are what the fill makes of them: nothing is left out, as 0 times infinity is not 0.

use crate::Target;
use crate::expression::address::{Guard, GuardFact, Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::{Schedule, cuts};
use std::collections::HashMap;
use std::ops::Range;
use surject_ir::{AccOp, BinaryOp, DType};

/// Windows of a block, at most: of what the cache of a thread holds, and of what comes from further away.
const MOST: [i64; 2] = [8, 4];

/// Terms of a window, at least and at most, and those that are written out one after the other.
const TERMS: (i64, i64) = (4, 128);

const WRITTEN: (i64, i64) = (2, 32);

/// Fewer neighbours do not lie in lanes.
const FEW: i64 = 3;

/// What is computed for a term.
const NODES: usize = 10;

/// Blocks of which it is known where they lie, at each end.
const ENDS: i64 = 2;

/// How windows are unrolled and jammed.
#[derive(Clone, Debug)]
pub struct UnrollJam {
    /// The loop over the windows; the loop in lanes comes after it.
    pub(crate) along: LoopId,
    /// Windows of a block.
    pub(crate) windows: i64,
    /// The sum over a window, and its loops: those that are loops, and the one whose terms are written out.
    pub(crate) sum: NodeId,
    pub(crate) looped: Vec<LoopId>,
    pub(crate) written: LoopId,
    /// A term, where all conditions hold and where one does not.
    pub(crate) inside: NodeId,
    pub(crate) outside: NodeId,
    /// Conditions on the window and the written loop, and those on other loops.
    pub(crate) within: Vec<Guard>,
    pub(crate) rows: Vec<Guard>,
    /// The windows all of whose terms meet the conditions on them.
    pub(crate) whole: Range<i64>,
    /// Does the cache of a thread hold what is read? Then some channels are done of all windows, and the factors stay in
    /// registers' reach; else all channels of some windows, as they lie in memory.
    pub(crate) near: bool,
}

/// What becomes of a kernel whose windows may be unrolled and jammed.
pub(crate) enum Found {
    /// This is its schedule.
    Schedule(Box<Schedule>),
    /// Factors are stored first, with neighbours along a loop side by side.
    First(NodeId, LoopId),
}

/// The only sum of a kernel, of products over windows, whose neighbours along `lane` lie side by side.
struct Windows {
    sum: NodeId,
    body: NodeId,
    /// Its loops, and how many terms it has.
    loops: Vec<LoopId>,
    terms: i64,
    /// The nodes of a term, and the addresses that it loads from.
    nodes: Vec<NodeId>,
    loads: Vec<Lin>,
    lane: LoopId,
}

/// The loop over the windows and the one whose terms are written out, with the conditions on both and those on other loops.
struct Pair {
    along: LoopId,
    written: LoopId,
    within: Vec<Guard>,
    rows: Vec<Guard>,
}

impl Windows {
    fn of(dag: &Dag, output: &Output, order: &[LoopId]) -> Fit<Windows> {
        let all = dag.all_reachable(&[output.root]);
        let mut sums = all.iter().copied().filter(|&n| matches!(dag[n].node, Node::Reduce { .. }));
        let (Some(sum), None) = (sums.next(), sums.next()) else {
            return Err(Refused("there is not one reduction"));
        };
        let gathers = all.iter().any(|&n| matches!(dag[n].node, Node::Gather { .. }));
        let Node::Reduce { op: AccOp::Add, ref loops, body, .. } = dag[sum].node else {
            return Err(Refused("the reduction is no sum"));
        };
        let product = matches!(dag[body].node, Node::Binary(BinaryOp::Mul, ..));
        let terms: i64 = loops.iter().map(|&l| dag.extent(l)).product();
        let nodes = dag.reachable(&[body]);
        let few = (TERMS.0..=TERMS.1).contains(&terms) && nodes.len() <= NODES;
        let suitable = matches!(
            dag[sum].dtype,
            DType::F32 | DType::F64 | DType::I32 | DType::I64 | DType::U32 | DType::U64
        );
        need(product, "the terms are no products")?;
        need(few, "a window has too few or too many terms")?;
        need(suitable, "the element type has no such sums")?;
        need(output.join.is_none() && !gathers, "it gathers, or accumulates into its target")?;
        let lane = order.iter().copied().find(|&l| output.address.coeff(l) == 1 && dag.extent(l) >= FEW);
        let lane = lane.ok_or(Refused("too few results lie next to each other"))?;
        // Every output has a window of its own.
        let shared = order.iter().any(|&l| dag.extent(l) > 1 && !dag[sum].deps.contains(l));
        need(!shared, "several results have one sum")?;
        let loads = nodes.iter().filter_map(|&n| match &dag[n].node {
            Node::Load { address, .. } => Some(address.clone()),
            _ => None,
        });
        let loads = loads.collect();
        Ok(Windows { sum, body, loops: loops.clone(), terms, nodes, loads, lane })
    }

    /// The factors whose neighbours lie apart, which are stored first, if there are some. `None`: others than factors alone do.
    fn strided_factors(&self, dag: &Dag) -> Option<Option<NodeId>> {
        let factors: LoopSet = self.loops.iter().copied().chain([self.lane]).collect();
        let (mut first, mut others) = (None, 0);
        for &n in &self.nodes {
            let Node::Load { address, guards, .. } = &dag[n].node else { continue };
            if !matches!(address.coeff(self.lane), 0 | 1) {
                let alone = guards.is_empty() && dag[n].deps.minus(factors) == LoopSet::default();
                first = Some(n).filter(|_| alone);
                others += 1;
            }
        }
        (others == usize::from(first.is_some())).then_some(first)
    }

    /// How the parts meet that neighbours along a loop have in common, if there are a load with such parts and one that is the
    /// same for all: those of the next window one or more terms on (`true`), or those of the next term some windows on.
    fn meets(&self, dag: &Dag, along: LoopId, written: LoopId) -> Option<bool> {
        self.loads.iter().find(|l| l.coeff(along) == 0 && l.coeff(self.lane) != 0)?;
        self.loads.iter().find_map(|l| {
            let (next, term) = (l.coeff(along).abs(), l.coeff(written).abs());
            let [direct, across] = [(next, term, dag.extent(written)), (term, next, MOST[0])]
                .map(|(far, near, most)| near > 0 && far > 0 && far % near == 0 && far / near < most);
            (l.coeff(self.lane) != 0 && (direct || across)).then_some(direct)
        })
    }

    /// Loops that may be unrolled and jammed.
    fn pair(&self, dag: &Dag, order: &[LoopId]) -> Option<Pair> {
        let over = |&&l: &&LoopId| (WRITTEN.0..=WRITTEN.1).contains(&dag.extent(l));
        let mut pairs: Vec<(LoopId, LoopId)> = order
            .iter()
            .rev()
            .filter(|&&l| l != self.lane && dag.extent(l) > 2)
            .flat_map(|&along| self.loops.iter().filter(over).map(move |&written| (along, written)))
            .filter(|&(along, written)| self.meets(dag, along, written).is_some())
            .collect();
        pairs.sort_by_key(|&(along, written)| self.meets(dag, along, written) != Some(true));
        pairs.into_iter().find_map(|(along, written)| {
            let [within, rows] = conditions(dag, &self.nodes, (along, written), self.lane)?;
            Some(Pair { along, written, within, rows })
        })
    }

    /// Does the cache of a thread hold what is read?
    fn is_near(&self, dag: &Dag, target: &Target) -> Option<bool> {
        let size = Elem::of(dag[self.sum].dtype).size() as i64;
        let bytes = |address: &Lin| {
            let Interval { low, high } = address.range(&dag.extents)?;
            high.checked_sub(low)?.checked_mul(size)
        };
        let read = self.loads.iter().map(bytes).sum::<Option<i64>>()?;
        Some(read as f64 <= target.thresholds.jammed_l2_caches * target.l2_bytes() as f64)
    }
}

/// A reason.
const CONDITIONS: &str = "the conditions on terms are not those of an edge";

/// Finds windows to unroll and jam; the terms are added to the graph.
pub(crate) fn find(dag: &mut Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Fit<Found> {
    let [output] = outputs else { return Err(Refused("there are several results")) };
    let found = Windows::of(dag, output, &schedule.order)?;
    let first = found.strided_factors(dag).ok_or(Refused("neighbours of more than one factor lie apart"))?;
    let pair = found.pair(dag, &schedule.order);
    let pair = pair.ok_or(Refused("neighbouring windows share nothing that they read"))?;
    let Pair { along, written, within, rows } = pair;
    let near = found.is_near(dag, target).ok_or(Refused("an address does not fit 64 bits"))?;
    let Windows { sum, body, lane, .. } = found;
    // As many as registers hold, with an element of each.
    let most = MOST[usize::from(!near)].min((target.vector_registers as i64 - 2) / 2);
    let extent = dag.extent(along);
    let blocks = (extent + most - 1) / most;
    let windows = (extent + blocks - 1) / blocks;
    let whole = whole(dag, &within, along).ok_or(Refused(CONDITIONS))?;
    let ends = (whole.start + windows - 1) / windows;
    let short = ends <= ENDS && extent - whole.end.max(whole.start) <= ENDS * windows;
    need(short, "too many windows lie across an edge")?;
    let [inside, outside] =
        [Holds::All, Holds::None].map(|holds| terms_where(dag, body, &found.nodes, holds));
    let (Some(inside), Some(outside)) = (inside, outside) else { return Err(Refused(CONDITIONS)) };
    need(rows.is_empty() || !dag[outside].deps.contains(along), CONDITIONS)?;
    if let Some(first) = first {
        return Ok(Found::First(first, lane));
    }
    let looped = found.loops.iter().copied().filter(|&l| l != written && dag.extent(l) > 1).collect();
    let full = target.vector_bytes / Elem::of(dag[sum].dtype).size();
    let lanes = full.min((dag.extent(lane) as usize).next_power_of_two());
    let mut order: Vec<LoopId> =
        schedule.order.iter().copied().filter(|&l| l != along && l != lane).collect();
    order.extend([along, lane]);
    let vectors = (dag.extent(lane) as f64 / lanes as f64).ceil() / dag.extent(lane) as f64;
    let vectors = vectors * order.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    let unroll_jam =
        UnrollJam { along, windows, sum, looped, written, inside, outside, within, rows, whole, near };
    Ok(Found::Schedule(Box::new(Schedule {
        order,
        lanes,
        is_transposition: false,
        reductions: HashMap::new(),
        cycles: vectors * (1.25 * found.terms as f64 + 5.0),
        unroll_jam: Some(unroll_jam),
        ..schedule.clone()
    })))
}

/// The conditions on terms: those on the window and the written loop alone, and those on neither. `None`: there are
/// others, or they belong to more than one value.
fn conditions(
    dag: &Dag,
    nodes: &[NodeId],
    (along, written): (LoopId, LoopId),
    lane: LoopId,
) -> Option<[Vec<Guard>; 2]> {
    let (mut within, mut rows) = (Vec::new(), Vec::new());
    let mut guarded = 0;
    for &n in nodes {
        guarded += usize::from(matches!(dag[n].node, Node::Guarded { .. }));
        for guard in dag[n].node.guards() {
            let of: LoopSet = guard.expr.loops();
            if guard.fact(&dag.extents) == GuardFact::Always {
                continue;
            }
            let only = of.minus([along, written].into_iter().collect()) == LoopSet::default();
            let to = match (of.contains(along), of.contains(written)) {
                (true, _) if only => &mut within,
                (false, false) if !of.contains(lane) => &mut rows,
                _ => return None,
            };
            if !to.contains(guard) {
                to.push(guard.clone());
            }
        }
    }
    (guarded == usize::from(!within.is_empty() || !rows.is_empty())).then_some([within, rows])
}

/// Which conditions of a term hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    All,
    None,
}

/// The term of a window where all of its conditions hold, or as if one of them did not.
fn terms_where(dag: &mut Dag, body: NodeId, nodes: &[NodeId], holds: Holds) -> Option<NodeId> {
    let mut ids: HashMap<NodeId, NodeId> = HashMap::new();
    for &n in nodes {
        let data = dag[n].clone();
        let at = |x: NodeId| ids.get(&x).copied().unwrap_or(x);
        let new = match data.node.mapped(&at, &|lin| Some(lin.clone()))? {
            Node::Guarded { inner, .. } if holds == Holds::All => inner,
            Node::Guarded { fill, .. } => dag.constant(fill),
            Node::Load { buf, address, .. } => {
                dag.add(Node::Load { buf, address, guards: Vec::new() }, data.dtype)
            }
            node => dag.add(node, data.dtype),
        };
        ids.insert(n, new);
    }
    ids.get(&body).copied()
}

/// The windows for all of whose terms conditions hold.
fn whole(dag: &Dag, guards: &[Guard], along: LoopId) -> Option<Range<i64>> {
    let mut whole = 0..dag.extent(along);
    for guard in guards {
        let part = cuts::always(guard, along, dag).filter(|_| guard.expr.coeff(along) > 0)?;
        whole = whole.start.max(part.start)..whole.end.min(part.end);
    }
    Some(whole)
}
