//! Windows abreast: some neighbours along a loop at the same time, so that what their windows share is loaded once.
//!
//! Where each channel is summed over windows of its own (a depthwise convolution), the channels lie in lanes, and a term
//! needs two loads: two thirds of the time are loads. Of eight windows side by side, the factors are loaded once for all
//! of them, and so is an element that several windows have. 5 x 5 windows of 240 channels take a tenth of the time
//! (Zen 4).
//!
//! The loop over the windows is cut into blocks. In the first and the last of them it is known when the code is written
//! which terms lie outside; in those between, none do. Whether the rows of a window lie inside is looked at once for a
//! block. Outside, the terms are what the fill makes of them: nothing is left out, as 0 times infinity is not 0.

use crate::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{At, Elem, Emitter, ScopeId, Val};
use crate::row::{self, Row};
use crate::schedule::{Output, Schedule};
use crate::units::{Units, clip, open_outer};
use crate::value::Accumulator;
use crate::{CodegenError, Target};
use std::collections::HashMap;
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

/// How windows lie abreast.
#[derive(Clone, Debug)]
pub struct Abreast {
    /// The loop over the windows; the loop in lanes comes after it.
    pub(crate) along: LoopId,
    /// Windows of a block.
    windows: i64,
    /// The sum over a window, and its loops: those that are loops, and the one whose terms are written out.
    sum: NodeId,
    looped: Vec<LoopId>,
    written: LoopId,
    /// A term, where all conditions hold and where one does not.
    inside: NodeId,
    outside: NodeId,
    /// Conditions on the window and the written loop, and those on other loops.
    within: Vec<Guard>,
    rows: Vec<Guard>,
    /// The windows all of whose terms meet the conditions on them.
    whole: (i64, i64),
    /// Does the cache of a thread hold what is read? Then some channels are done of all windows, and the factors stay in
    /// registers' reach; else all channels of some windows, as they lie in memory.
    near: bool,
}

/// What becomes of a kernel whose windows lie abreast.
pub(crate) enum Found {
    /// This is its schedule.
    Schedule(Box<Schedule>),
    /// Factors are stored first, with neighbours along a loop side by side.
    First(NodeId, LoopId),
}

/// Finds windows that lie abreast; the terms are added to the graph.
pub(crate) fn find(dag: &mut Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Option<Found> {
    let [output] = outputs else { return None };
    let all = dag.reachable(&[output.root], true);
    let mut sums = all.iter().copied().filter(|&n| matches!(dag[n].node, Node::Reduce { .. }));
    let (Some(sum), None) = (sums.next(), sums.next()) else { return None };
    let gathers = all.iter().any(|&n| matches!(dag[n].node, Node::Gather { .. }));
    let Node::Reduce { op: AccOp::Add, ref loops, body, .. } = dag[sum].node else { return None };
    let dtype = dag[sum].dtype;
    let product = matches!(dag[body].node, Node::Binary(BinaryOp::Mul, ..));
    let terms: i64 = loops.iter().map(|&l| dag.extent(l)).product();
    let nodes = dag.reachable(&[body], false);
    let fits = (TERMS.0..=TERMS.1).contains(&terms) && nodes.len() <= NODES && product;
    let suitable =
        matches!(dtype, DType::F32 | DType::F64 | DType::I32 | DType::I64 | DType::U32 | DType::U64);
    if output.join.is_some() || gathers || !fits || !suitable {
        return None;
    }
    let order = &schedule.order;
    let lane = order.iter().copied().find(|&l| output.address.coeff(l) == 1 && dag.extent(l) >= FEW)?;
    let full = target.lanes_bytes / Elem::of(dtype).size();
    let lanes = full.min((dag.extent(lane) as usize).next_power_of_two());
    let loads: Vec<Lin> = nodes
        .iter()
        .filter_map(|&n| match &dag[n].node {
            Node::Load { address, .. } => Some(address.clone()),
            _ => None,
        })
        .collect();
    // Every output has a window of its own.
    if order.iter().any(|&l| dag.extent(l) > 1 && !dag[sum].deps.contains(l)) {
        return None;
    }
    // Factors whose neighbours lie apart are stored first.
    let factors: LoopSet = loops.iter().copied().chain([lane]).collect();
    let (mut first, mut others) = (None, 0);
    for &n in &nodes {
        let Node::Load { address, guards, .. } = &dag[n].node else { continue };
        if !matches!(address.coeff(lane), 0 | 1) {
            let alone = guards.is_empty() && dag[n].deps.minus(factors) == LoopSet::default();
            first = Some(n).filter(|_| alone);
            others += 1;
        }
    }
    if others != usize::from(first.is_some()) {
        return None;
    }
    // A load that neighbours have parts of in common, and one that is the same for all. How do the parts meet?
    let meets = |along: LoopId, written: LoopId| {
        loads.iter().find(|l| l.coeff(along) == 0 && l.coeff(lane) != 0)?;
        loads.iter().find_map(|l| {
            let (next, term) = (l.coeff(along).abs(), l.coeff(written).abs());
            let [direct, across] = [(next, term, dag.extent(written)), (term, next, MOST[0])]
                .map(|(far, near, most)| near > 0 && far > 0 && far % near == 0 && far / near < most);
            (l.coeff(lane) != 0 && (direct || across)).then_some(direct)
        })
    };
    let over = |&&l: &&LoopId| (WRITTEN.0..=WRITTEN.1).contains(&dag.extent(l));
    let mut pairs: Vec<(LoopId, LoopId)> = order
        .iter()
        .rev()
        .filter(|&&l| l != lane && dag.extent(l) > 2)
        .flat_map(|&along| loops.iter().filter(over).map(move |&written| (along, written)))
        .filter(|&(along, written)| meets(along, written).is_some())
        .collect();
    pairs.sort_by_key(|&(along, written)| meets(along, written) != Some(true));
    let mut fitting = pairs.into_iter().filter_map(|pair| Some((pair, conditions(dag, &nodes, pair, lane)?)));
    let ((along, written), [within, rows]) = fitting.next()?;
    let looped: Vec<LoopId> = loops.iter().copied().filter(|&l| l != written && dag.extent(l) > 1).collect();
    let bytes = |address: &Lin| {
        let (low, high) = address.range(&dag.extents)?;
        high.checked_sub(low)?.checked_mul(Elem::of(dtype).size() as i64)
    };
    let read = loads.iter().map(bytes).sum::<Option<i64>>()?;
    let near = target.eager || read <= target.second_bytes() as i64;
    // As many as registers hold, with an element of each.
    let most = MOST[usize::from(!near)].min((target.registers as i64 - 2) / 2);
    let extent = dag.extent(along);
    let blocks = (extent + most - 1) / most;
    let windows = (extent + blocks - 1) / blocks;
    let whole = whole(dag, &within, along)?;
    let ends = (whole.0 + windows - 1) / windows;
    if ends > ENDS || extent - whole.1.max(whole.0) > ENDS * windows {
        return None;
    }
    let [inside, outside] = [true, false].map(|inside| terms_where(dag, body, &nodes, inside));
    let (inside, outside) = (inside?, outside?);
    if dag[outside].deps.contains(along) && !rows.is_empty() {
        return None;
    }
    if let Some(first) = first {
        return Some(Found::First(first, lane));
    }
    let mut order: Vec<LoopId> = order.iter().copied().filter(|&l| l != along && l != lane).collect();
    order.extend([along, lane]);
    let vectors = (dag.extent(lane) as f64 / lanes as f64).ceil() / dag.extent(lane) as f64;
    let vectors = vectors * order.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
    let abreast =
        Abreast { along, windows, sum, looped, written, inside, outside, within, rows, whole, near };
    Some(Found::Schedule(Box::new(Schedule {
        order,
        lanes,
        turned: None,
        short: None,
        braid: None,
        reductions: HashMap::new(),
        cycles: vectors * (1.25 * terms as f64 + 5.0),
        abreast: Some(abreast),
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

/// The term of a window where all of its conditions hold, or as if one of them did not.
fn terms_where(dag: &mut Dag, body: NodeId, nodes: &[NodeId], inside: bool) -> Option<NodeId> {
    let mut ids: HashMap<NodeId, NodeId> = HashMap::new();
    for &n in nodes {
        let data = dag[n].clone();
        let at = |x: NodeId| ids.get(&x).copied().unwrap_or(x);
        let new = match data.node.mapped(&at, &|lin| Some(lin.clone()))? {
            Node::Guarded { inner, .. } if inside => inner,
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
fn whole(dag: &Dag, guards: &[Guard], along: LoopId) -> Option<(i64, i64)> {
    let (mut low, mut high) = (0, dag.extent(along));
    for guard in guards {
        let [first, end] = row::always(guard, along, dag).filter(|_| guard.expr.coeff(along) > 0)?;
        (low, high) = (low.max(first), high.min(end));
    }
    Some((low, high))
}

/// A position of the loop over the windows.
#[derive(Clone, Copy)]
enum Place<'a> {
    Known(i64),
    Varies(&'a str),
}

/// Writes so many windows at a place.
type Inside<'a> = &'a dyn Fn(&mut Emitter<'_>, ScopeId, Place<'_>, i64) -> Result<(), CodegenError>;

/// The lanes of a block: the first one, and how many exist.
struct Lanes<'a> {
    first: &'a str,
    active: usize,
}

impl Row<'_> {
    /// All that a kernel computes whose windows lie abreast.
    pub(crate) fn all_abreast(
        &self,
        em: &mut Emitter<'_>,
        units: &Units,
        abreast: &Abreast,
    ) -> Result<(), CodegenError> {
        let [outer @ .., _, _] = self.schedule.order.as_slice() else {
            return Err(CodegenError::malformed("windows abreast in less than two loops"));
        };
        let (mut closing, range) = open_outer(em, units, outer);
        let scope = closing.last().map_or(em.root(), |c| c.0);
        if abreast.near {
            self.channels(em, scope, &range, &|em, scope, lanes| {
                self.blocks(em, scope, abreast, &|em, scope, place, count| {
                    self.block_abreast(em, scope, abreast, (place, count, lanes))
                })
            })?;
        } else {
            self.blocks(em, scope, abreast, &|em, scope, place, count| {
                self.channels(em, scope, &range, &|em, scope, lanes| {
                    self.block_abreast(em, scope, abreast, (place, count, lanes))
                })
            })?;
        }
        while let Some((scope, iv, bounds)) = closing.pop() {
            em.close_loop(scope, &iv, &bounds, &[]);
        }
        Ok(())
    }

    /// The loop in lanes.
    fn channels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        range: &(Option<String>, Option<String>),
        inside: &dyn Fn(&mut Emitter<'_>, ScopeId, &Lanes<'_>) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let extent = self.schedule.order.last().map_or(1, |&l| em.dag.extent(l));
        let width = self.schedule.lanes as i64;
        let main = extent - extent % width;
        for (low, high, active) in [(0, main, width), (main, extent, extent - main)] {
            if low == high {
                continue;
            }
            let bounds = clip(em, scope, range, (low, high), width);
            let inner = em.open(scope, Vec::new(), None);
            let first = em.name();
            inside(em, inner, &Lanes { first: &first, active: active as usize })?;
            em.close_loop(inner, &first, &bounds, &[]);
        }
        Ok(())
    }

    /// The loop over the windows, in blocks of so many.
    fn blocks(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        abreast: &Abreast,
        inside: Inside<'_>,
    ) -> Result<(), CodegenError> {
        let (count, (low, high)) = (abreast.windows, abreast.whole);
        let extent = em.dag.extent(abreast.along);
        let mut at = 0;
        while at < extent {
            // As many as there are in which nothing lies outside.
            let blocks = if at >= low { (high - at) / count } else { 0 };
            if blocks > 1 {
                let inner = em.open(scope, Vec::new(), None);
                let place = em.name();
                inside(em, inner, Place::Varies(&place), count)?;
                let bounds = em.whole(at, at + blocks * count, count);
                em.close_loop(inner, &place, &bounds, &[]);
                at += blocks * count;
            } else {
                let count = count.min(extent - at);
                let known = em.open(scope, Vec::new(), None);
                inside(em, known, Place::Known(at), count)?;
                em.close_plain(known);
                at += count;
            }
        }
        Ok(())
    }

    /// Some windows side by side.
    fn block_abreast(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        abreast: &Abreast,
        (place, count, lanes): (Place<'_>, i64, &Lanes<'_>),
    ) -> Result<(), CodegenError> {
        let dtype = em.dag[abreast.sum].dtype;
        let width = self.schedule.lanes;
        let types = vec![Elem::of(dtype).ty(width); count as usize];
        let positions: Vec<String> = (0..count)
            .map(|w| match place {
                Place::Known(first) => em.int(first + w),
                Place::Varies(first) => {
                    let ahead = em.int(w);
                    em.op(scope, &format!("arith.addi {first}, {ahead} : i64"))
                }
            })
            .collect();
        // The loops carry the sums of all windows.
        let wide: Vec<Accumulator> =
            (0..count).map(|_| Accumulator::new(em, AccOp::Add, dtype, width)).collect();
        let nest = em.open_nest(scope, &abreast.looped);
        let inner = nest.last().map_or(scope, |l| l.scope);
        let levels = em.levels(&nest, wide.len());
        let neutral: Vec<String> = wide.iter().map(|w| w.init.clone()).collect();
        let sums = levels.last().unwrap_or(&neutral);
        let holds = self.rows_hold(em, inner, &abreast.rows);
        let extents = &em.dag.extents;
        let known = |w: i64, n: i64| match place {
            Place::Varies(_) => true,
            Place::Known(first) => abreast.within.iter().all(|g| {
                let at = g.expr.substitute(abreast.along, &Lin::constant(first + w));
                let at = at.and_then(|at| at.substitute(abreast.written, &Lin::constant(n)));
                at.is_some_and(|expr| Guard { expr, bound: g.bound }.fact(extents) == GuardFact::Always)
            }),
        };
        let lane = self.schedule.order.last().copied().unwrap_or(abreast.along);
        let bind =
            |w: usize, n: &str| vec![(abreast.along, positions[w].clone()), (abreast.written, n.to_string())];
        let terms: Vec<String> = (0..em.dag.extent(abreast.written)).map(|n| em.int(n)).collect();
        let joined =
            |em: &mut Emitter<'_>, scope: ScopeId, (w, n): (usize, usize), body: NodeId, sum: &str| {
                let (own, at) = self.lanes_abreast(em, scope, (bind(w, &terms[n]), lane), lanes);
                let sum = em.join_term(AccOp::Add, body, dtype, sum, at);
                em.close_plain(at.scope);
                em.close_plain(own);
                sum
            };
        let there = |em: &mut Emitter<'_>, scope: ScopeId| {
            let mut sums = sums.clone();
            for n in 0..terms.len() {
                for (w, sum) in sums.iter_mut().enumerate() {
                    let body = if known(w as i64, n as i64) { abreast.inside } else { abreast.outside };
                    *sum = joined(em, scope, (w, n), body, sum)?;
                }
            }
            Ok::<_, CodegenError>(sums)
        };
        let next = match holds {
            None => there(em, inner)?,
            Some(holds) => {
                let [yes, no] = [(); 2].map(|()| em.open(inner, Vec::new(), None));
                let inside = there(em, yes)?;
                // All windows have the same terms there.
                let mut all = neutral[0].clone();
                for n in 0..terms.len() {
                    all = joined(em, no, (0, n), abreast.outside, &all)?;
                }
                let at = At { scope: no, lanes: width };
                let outside = sums.iter().map(|sum| em.join_values(AccOp::Add, dtype, sum, &all, at));
                let outside = outside.collect::<Result<Vec<_>, _>>()?;
                em.close_sides([yes, no], &holds, &types, [&inside, &outside])
            }
        };
        let next = em.close_nest(&nest, &levels, &wide, next)?;
        for (position, sum) in positions.iter().zip(next) {
            let binds = vec![(abreast.along, position.clone())];
            let (own, at) = self.lanes_abreast(em, scope, (binds, lane), lanes);
            em.seed(at.scope, abreast.sum, Val { ssa: sum, lanes: width });
            self.point(em, at.scope)?;
            em.close_plain(at.scope);
            em.close_plain(own);
        }
        Ok(())
    }

    /// The scope of some lanes, inside one that binds loops.
    fn lanes_abreast(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (binds, lane): (Vec<(LoopId, String)>, LoopId),
        lanes: &Lanes<'_>,
    ) -> (ScopeId, At) {
        let width = self.schedule.lanes;
        let own = em.open(scope, binds, None);
        let inner = em.open(own, vec![(lane, lanes.first.to_string())], Some((lane, width)));
        em.activate(inner, lanes.active, width);
        (own, At { scope: inner, lanes: width })
    }

    /// Do conditions on rows hold? `None`: there are none.
    fn rows_hold(&self, em: &mut Emitter<'_>, scope: ScopeId, rows: &[Guard]) -> Option<String> {
        let at = At { scope, lanes: 1 };
        let mut all: Option<String> = None;
        for guard in rows {
            let value = em.lin(&guard.expr, scope);
            let bound = em.int(guard.bound);
            let holds = em.cmpi(at, "ult", &value, &bound, Elem::I64);
            all = Some(match all {
                Some(before) => em.bin(at, "arith.andi", &before, &holds, Elem::I1),
                None => holds,
            });
        }
        all
    }
}
