//! Scans: reductions over windows that grow by one term from one output to the next.
//!
//! A reduction over `w` at the output `i` whose terms depend on `i + w` alone, and are the neutral element wherever
//! a term leaves the window, is `y[i] = y[i - 1] ⊕ term`, or from the other end `y[i] = y[i + 1] ⊕ term`: one step
//! an output instead of one a term. Nothing is subtracted.
//!
//! Lanes lie across, along a loop whose neighbours lie next to each other in memory; then no order is changed but that of
//! the operands. Where that is the loop of the scan itself, a vector is scanned in its registers, by as many steps as its
//! number of lanes has bits, and joined with what came before it: lines of `f32` take a fifth of the time of one element
//! after the other, whose steps wait for each other.
//!
//! Long lines of floats are summed in blocks ([`crate::blocks`]): each begins anew, and what came before it is added to all
//! of its results. That is one addition more for each, of which no step waits for another.

use crate::CodegenError;
use crate::Target;
use crate::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::blocks;
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{At, Bounds, Carried, Elem, Emitter, ScopeId, Val};
use crate::keys::{self, Keys};
use crate::row::{Kernel, Row, bind_pointers, finish, written};
use crate::schedule::{Output, Schedule, node_cost};
use crate::stash;
use crate::units::{Grain, clip, open_outer, units};
use surject_ir::{AccOp, DType, FieldId};

/// A scan.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The reduction.
    pub node: NodeId,
    /// The term that an output adds to that before it.
    pub step: NodeId,
    /// The operator.
    pub op: AccOp,
    /// The loop that is run through in order.
    pub along: LoopId,
    /// From the last output to the first?
    pub backwards: bool,
}

/// Windows shorter than this are not worth a loop in order.
const SHORT: i64 = 3;
/// Lines of so many elements are scanned in lanes.
const LONG: i64 = 8;
/// Steps of a block of a line, at least.
const BLOCK: i64 = 32;
/// Cycles of scalar code that are better done in lanes, at the price of a store and a load.
const COSTLY: f64 = 12.0;

/// What a kernel with a scan becomes.
pub enum Found {
    /// The kernel of the scan, and of what is computed from it point by point.
    Scan(Scan),
    /// The scan is stored first: it is read in another order, more than once, or beside other reductions.
    First(FieldId),
}

/// Finds a reduction that is a scan; the term of its step is added to the graph. `top` is the field of the kernel.
pub fn find(dag: &mut Dag, outputs: &[Output], outer: &[LoopId], top: FieldId) -> Option<Found> {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let reduces = |node: &Node| matches!(node, Node::Reduce { .. });
    if !dag.iter().any(|(_, data)| reduces(&data.node)) {
        return None;
    }
    let all = dag.reachable(&roots, true);
    let reductions: Vec<NodeId> = all.into_iter().filter(|&n| reduces(&dag[n].node)).collect();
    let alone = matches!((outputs, &reductions[..]), ([Output { join: None, .. }], [_]));
    let over: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    for node in reductions {
        let Some((scan, field)) = scan(dag, node) else { continue };
        let own = alone && dag[node].deps == over;
        let in_lanes = scan.lanes(dag, outputs, outer) != Lanes::None;
        if own && (field == top || in_lanes || !epilogue(dag, outputs, node)) {
            return Some(Found::Scan(scan));
        }
        if field != top {
            return Some(Found::First(field));
        }
    }
    None
}

/// What lies in the lanes of a scan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// Neighbours along a loop beside that of the scan.
    Across(LoopId),
    /// Neighbours along the loop of the scan.
    Along,
    /// Nothing: lines are done element by element.
    None,
}

impl Scan {
    /// Lanes lie along a loop whose neighbours lie next to each other.
    pub fn lanes(&self, dag: &Dag, outputs: &[Output], order: &[LoopId]) -> Lanes {
        let mut neighbours =
            order.iter().copied().filter(|&l| outputs.iter().all(|o| o.address.coeff(l) == 1));
        match neighbours.next() {
            Some(l) if l != self.along => Lanes::Across(l),
            Some(l) if dag.extent(l) >= LONG => Lanes::Along,
            _ => Lanes::None,
        }
    }

    /// The position at a step: the step itself, or from behind what is left of `last`.
    fn position(&self, em: &mut Emitter<'_>, scope: ScopeId, step: &str, last: i64) -> String {
        if !self.backwards {
            return step.to_string();
        }
        let last = em.int(last);
        em.op(scope, &format!("arith.subi {last}, {step} : i64"))
    }

    /// Is the term of a step better computed in lanes, and stored first?
    pub fn costly(&self, dag: &Dag) -> bool {
        let work: f64 = dag.reachable(&[self.step], true).into_iter().map(|n| node_cost(dag, n)).sum();
        work >= COSTLY
    }
}

/// Is much computed from a scan?
fn epilogue(dag: &Dag, outputs: &[Output], node: NodeId) -> bool {
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let after = dag.reachable(&roots, false).into_iter().filter(|&n| n != node);
    after.map(|n| node_cost(dag, n)).sum::<f64>() >= COSTLY
}

/// A reduction as a scan along a loop that it depends on, and its field.
fn scan(dag: &mut Dag, node: NodeId) -> Option<(Scan, FieldId)> {
    let Node::Reduce { op, loops, body, field } = dag[node].node.clone() else { return None };
    let &[w] = &loops[..] else { return None };
    if dag.extent(w) < SHORT {
        return None;
    }
    let deps = dag[node].deps;
    let along = (0..dag.extents.len()).map(|l| LoopId(l as u8)).filter(|&l| deps.contains(l));
    let along: Vec<LoopId> = along.filter(|&l| dag.extent(l) > 1).collect();
    // Terms that vanish nowhere leave no window.
    if along.is_empty() || !matches!(dag[body].node, Node::Guarded { .. }) {
        return None;
    }
    // Where the output runs against the window, the window is run through from its end.
    let end = Lin::var(w).times(-1)?.plus(&Lin::constant(dag.extent(w) - 1), 1)?;
    for flipped in [false, true] {
        let body = if flipped { stash::substituted(dag, body, w, &end)? } else { body };
        for &along in along.iter().filter(|&&l| slides(dag, body, l, w)) {
            let (length, window) = (dag.extent(along), dag.extent(w));
            // Positions `t = i + w`: what is dropped, and what the first output has beside its own term.
            let forwards = (0, (window - 2).max(length - 2));
            let backwards = (window.min(length), length + window - 2);
            for (span, backwards) in [(forwards, false), (backwards, true)] {
                if vanishes(dag, body, along, op, span) {
                    let at = Lin::constant(if backwards { 0 } else { window - 1 });
                    let step = stash::substituted(dag, body, w, &at)?;
                    return Some((Scan { node, step, op, along, backwards }, field));
                }
            }
        }
    }
    None
}

/// Do the terms depend on `along + w` alone?
fn slides(dag: &Dag, body: NodeId, along: LoopId, w: LoopId) -> bool {
    let same = |lin: &Lin| lin.coeff(along) == lin.coeff(w);
    let all = |guards: &[Guard]| guards.iter().all(|g| same(&g.expr));
    dag.reachable(&[body], true).iter().all(|&n| match &dag[n].node {
        Node::Load { address, guards, .. } => same(address) && all(guards),
        Node::Index(lin) => same(lin),
        Node::Guarded { guards, .. } => all(guards),
        Node::Reduce { .. } | Node::Gather { .. } | Node::Param(..) => false,
        _ => true,
    })
}

/// Does the term change nothing wherever `along + w` lies in a span?
fn vanishes(dag: &Dag, body: NodeId, along: LoopId, op: AccOp, span: (i64, i64)) -> bool {
    let Node::Guarded { guards, fill, .. } = &dag[body].node else { return false };
    if span.0 > span.1 || !op.absorbs(*fill) {
        return false;
    }
    // The loop `along` alone runs through the span.
    let mut extents = dag.extents.clone();
    extents[along.0 as usize] = span.1 - span.0 + 1;
    guards.iter().any(|g| {
        let (c, mut expr) = (g.expr.coeff(along), g.expr.clone());
        expr.terms.retain(|t| t.0 == along || t.1 != c || dag.extent(t.0) == 1);
        // Another loop with the same coefficient is the window; a guard with any other loop says nothing here.
        let only = g.expr.terms.iter().all(|t| t.0 == along || t.1 == c) && g.expr.terms.len() <= 2;
        let moved = c.checked_mul(span.0).and_then(|m| expr.offset.checked_add(m));
        match moved {
            Some(offset) if only => {
                expr.offset = offset;
                Guard { expr, bound: g.bound }.fact(&extents) == GuardFact::Never
            }
            _ => false,
        }
    })
}

/// Registers of values that are scanned side by side: a step waits for the one before it, and a line of memory that is
/// far from the next should be one of several. Where a step is long, there is no room for so many.
fn side_by_side(dag: &Dag, roots: &[NodeId]) -> usize {
    const SHORT: usize = 16;
    if dag.reachable(roots, true).len() <= SHORT { 8 } else { 2 }
}

/// Writes the kernel of a scan: the loop in order is innermost, around it one loop in lanes.
pub fn emit(
    dag: &Dag,
    outputs: &[Output],
    scan: &Scan,
    schedule: &Schedule,
    target: &Target,
) -> Result<Kernel, CodegenError> {
    let mut em = Emitter::new(dag);
    em.tables = schedule.tables;
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).chain([scan.step]).collect();
    let buffers = bind_pointers(&mut em, &written(outputs), &roots);
    let mut order: Vec<LoopId> = schedule.order.iter().copied().filter(|&l| l != scan.along).collect();
    let size = outputs.iter().map(|o| dag[o.root].dtype).chain([dag[scan.node].dtype]);
    let size = size.map(|dtype| Elem::of(dtype).size()).max().unwrap_or(4).max(2);
    let register = target.lanes_bytes / size;
    let length = |l: LoopId| usize::try_from(dag.extent(l)).unwrap_or(1).max(1);
    let way = scan.lanes(dag, outputs, &schedule.order);
    // A step waits for the one before it; of a vector that is scanned in its lanes, only what joins it with the next one.
    let (lanes, cycles) = match way {
        Lanes::Across(l) => {
            let lanes = 1 << (side_by_side(dag, &roots) * register).min(length(l)).ilog2();
            if lanes > 1 {
                order.retain(|&k| k != l);
                order.push(l);
            }
            (lanes, 6.0 / lanes.min(2 * register) as f64)
        }
        Lanes::Along => {
            let lanes = length(scan.along).next_power_of_two().min(register);
            (lanes, (8.0 + 2.0 * f64::from(lanes.ilog2())) / lanes as f64)
        }
        Lanes::None => (1, 6.0),
    };
    let across = if way == Lanes::Along { 1 } else { lanes };
    let free: LoopSet = order.iter().copied().collect();
    let points: f64 = schedule.order.iter().map(|&l| dag.extent(l) as f64).product();
    let plan = Schedule {
        order: order.clone(),
        lanes: across,
        cycles: cycles * points,
        short: None,
        braid: None,
        ..schedule.clone()
    };
    let units = units(dag, &order, &plan, target, (free, &Grain::ROWS));
    let row = Row { outputs, schedule: &plan, braided: None };
    let text = format!(
        "scan {} {} along {} of {:?}, lanes {lanes}{}, tasks {}",
        scan.op,
        if scan.backwards { "backwards" } else { "forwards" },
        dag.extent(scan.along),
        order.iter().map(|&l| dag.extent(l)).collect::<Vec<_>>(),
        if way == Lanes::Along { " along it" } else { "" },
        units.tasks
    );
    let sums = Sums::of(scan.op, dag[scan.node].dtype);
    let line = |em: &mut Emitter<'_>, scope: ScopeId, across: usize| match way {
        Lanes::Along => row.line_in_lanes(em, scope, scan, (&sums, lanes)),
        _ => row.line_by_steps(em, scope, scan, (&sums, across)),
    };
    let Some((&last, outer)) = order.split_last() else {
        let root = em.root();
        line(&mut em, root, 1)?;
        return finish(em, buffers, 1, written(outputs), text);
    };
    let (mut closing, range) = open_outer(&mut em, &units, outer);
    let scope = closing.last().map_or(em.root(), |c| c.0);
    let extent = dag.extent(last);
    let main = extent - extent % across as i64;
    if main > 0 {
        let bounds = clip(&mut em, scope, &range, (0, main), across as i64);
        let (inner, iv) = em.open_loop(scope, last, across);
        line(&mut em, inner, across)?;
        em.close_loop(inner, &iv, &bounds, &[]);
    }
    if main < extent {
        let (inner, iv, rest) = em.open_rest(scope, last, (extent - main) as usize);
        let bounds = clip(&mut em, scope, &range, (main, extent), rest as i64);
        line(&mut em, inner, rest)?;
        em.close_loop(inner, &iv, &bounds, &[]);
    }
    while let Some((scope, iv, bounds)) = closing.pop() {
        em.close_loop(scope, &iv, &bounds, &[]);
    }
    finish(em, buffers, units.tasks, written(outputs), text)
}

/// How terms are joined.
struct Sums {
    op: AccOp,
    dtype: DType,
    keys: Option<Keys>,
}

impl Sums {
    fn of(op: AccOp, dtype: DType) -> Sums {
        Sums { op, dtype, keys: keys::of(op, dtype) }
    }

    /// The type of a sum while it grows.
    fn elem(&self) -> Elem {
        self.keys.map_or(Elem::of(self.dtype), |k| k.elem())
    }

    fn neutral(&self, em: &mut Emitter<'_>, lanes: usize) -> String {
        match self.keys {
            Some(keys) => keys.neutral(em, lanes),
            None => em.scalar(self.op.neutral(self.dtype), lanes),
        }
    }

    /// The term of a step.
    fn term(&self, em: &mut Emitter<'_>, scan: &Scan, at: At) -> Result<String, CodegenError> {
        let term = em.value(scan.step, at.scope)?;
        let term = em.spread(&term, Elem::of(self.dtype), at);
        Ok(self.keys.map_or(term.clone(), |keys| keys.key(em, &term, at)))
    }

    fn join(&self, em: &mut Emitter<'_>, sum: &str, term: &str, at: At) -> Result<String, CodegenError> {
        match self.keys {
            Some(keys) => Ok(keys.join(em, sum, term, at)),
            None => em.join_values(self.op, self.dtype, sum, term, at),
        }
    }

    /// What is stored, or computed with.
    fn value(&self, em: &mut Emitter<'_>, sum: &str, at: At) -> Val {
        let value = self.keys.map_or(sum.to_string(), |keys| keys.value(em, sum, at));
        Val { ssa: em.round_half(at, self.dtype, value), lanes: at.lanes }
    }

    /// Opens the loop over the blocks of a line of so many steps from a number on, if it is long enough to have some.
    fn open_blocks(
        &self,
        em: &mut Emitter<'_>,
        outer: ScopeId,
        (low, high, step): (i64, i64, i64),
    ) -> Option<Blocks> {
        let block = Some((high - low) / step).filter(|_| blocks::round(self.op, self.dtype));
        let block = block.and_then(|steps| blocks::halfway(steps, BLOCK))?;
        let scope = em.open(outer, Vec::new(), None);
        Some(Blocks { scope, iv: em.name(), before: em.name(), bounds: em.whole(low, high, block * step) })
    }

    /// Closes the loop over a line with these bounds and step, and that over its blocks: the sum of all.
    fn close_blocks(
        &self,
        em: &mut Emitter<'_>,
        (scope, iv): (ScopeId, &str),
        (low, high, step): (i64, i64, i64),
        blocks: Option<Blocks>,
        (sum, lanes): (Carried, usize),
    ) -> Result<String, CodegenError> {
        let Some(blocks) = blocks else {
            let bounds = em.whole(low, high, step);
            return Ok(em.close_loop(scope, iv, &bounds, &[sum]).swap_remove(0));
        };
        let Bounds { high, step: size, .. } = &blocks.bounds;
        let end = em.op(blocks.scope, &format!("arith.addi {}, {size} : i64", blocks.iv));
        let end = em.op(blocks.scope, &format!("arith.minsi {end}, {high} : i64"));
        let bounds = Bounds { low: blocks.iv.clone(), high: end, step: em.int(step) };
        let around = Carried { name: blocks.before.clone(), ..sum.clone() };
        let own = Carried { init: self.neutral(em, lanes), ..sum };
        let own = em.close_loop(scope, iv, &bounds, &[own]).swap_remove(0);
        let next = self.join(em, &blocks.before, &own, At { scope: blocks.scope, lanes })?;
        let around = [Carried { next, ..around }];
        Ok(em.close_loop(blocks.scope, &blocks.iv, &blocks.bounds, &around).swap_remove(0))
    }

    /// A sum of a block with what came before it.
    fn after(
        &self,
        em: &mut Emitter<'_>,
        blocks: Option<&Blocks>,
        sum: &str,
        at: At,
    ) -> Result<String, CodegenError> {
        blocks.map_or_else(|| Ok(sum.to_string()), |blocks| self.join(em, &blocks.before, sum, at))
    }

    /// The scan of the lanes of a vector, from the first one or from the last.
    fn within(
        &self,
        em: &mut Emitter<'_>,
        vector: String,
        backwards: bool,
        at: At,
    ) -> Result<String, CodegenError> {
        let (lanes, elem, neutral) = (at.lanes, self.elem(), self.neutral(em, at.lanes));
        let mut sums = vector;
        let place = |i: usize| if backwards { lanes - 1 - i } else { i };
        for by in (0..lanes.ilog2()).map(|bit| 1 << bit) {
            // The second half of every block of twice as many lanes adds what the first half has: the first steps stay
            // inside of 128 bits, where lanes move in less time.
            let before = |i: usize| (i & by != 0).then(|| place((i & !(by - 1)) - 1));
            let order: Vec<usize> =
                (0..lanes).map(|lane| before(place(lane)).unwrap_or(lanes + lane)).collect();
            let moved = em.pick((&sums, &neutral), lanes, &order, elem, at);
            sums = self.join(em, &moved, &sums, at)?;
        }
        Ok(sums)
    }
}

/// The loop over the blocks of a line.
struct Blocks {
    scope: ScopeId,
    iv: String,
    /// The sum of all before a block.
    before: String,
    bounds: Bounds,
}

impl Row<'_> {
    /// One line of a scan, or as many as there are lanes, element by element.
    fn line_by_steps(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        scan: &Scan,
        (sums, lanes): (&Sums, usize),
    ) -> Result<(), CodegenError> {
        let init = sums.neutral(em, lanes);
        let length = em.dag.extent(scan.along);
        let blocks = sums.open_blocks(em, scope, (0, length, 1));
        let inner = em.open(blocks.as_ref().map_or(scope, |b| b.scope), Vec::new(), None);
        let (iv, state) = (em.name(), em.name());
        let position = scan.position(em, inner, &iv, length - 1);
        em.bind(inner, scan.along, position);
        let at = At { scope: inner, lanes };
        let term = sums.term(em, scan, at)?;
        let next = sums.join(em, &state, &term, at)?;
        let all = sums.after(em, blocks.as_ref(), &next, at)?;
        let sum = sums.value(em, &all, at);
        em.seed(inner, scan.node, sum);
        self.point(em, inner)?;
        let carried = Carried { name: state, init, ty: sums.elem().ty(lanes), next };
        sums.close_blocks(em, (inner, &iv), (0, length, 1), blocks, (carried, lanes)).map(drop)
    }

    /// One line of a scan, vector by vector.
    fn line_in_lanes(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        scan: &Scan,
        (sums, lanes): (&Sums, usize),
    ) -> Result<(), CodegenError> {
        let length = em.dag.extent(scan.along);
        let rest = length % lanes as i64;
        let main = length - rest;
        let mut carry = sums.neutral(em, lanes);
        // The end of the line that is not a whole vector is where a scan ends, or begins.
        let mut parts = vec![(0, main, lanes as i64), (main, length, rest)];
        if scan.backwards {
            parts.reverse();
        }
        for (low, high, active) in parts.into_iter().filter(|part| part.0 < part.1) {
            let blocks = sums.open_blocks(em, scope, (low, high, active));
            let part = em.open(blocks.as_ref().map_or(scope, |b| b.scope), Vec::new(), None);
            let (iv, state) = (em.name(), em.name());
            let position = scan.position(em, part, &iv, low + high - active);
            let inner = em.open(part, vec![(scan.along, position)], Some((scan.along, lanes)));
            em.activate(inner, active as usize, lanes);
            let at = At { scope: inner, lanes };
            let mut term = sums.term(em, scan, at)?;
            if scan.backwards && active < lanes as i64 {
                let (order, none): (Vec<usize>, _) = (
                    (0..lanes).map(|i| if (i as i64) < active { i } else { lanes + i }).collect(),
                    sums.neutral(em, lanes),
                );
                term = em.pick((&term, &none), lanes, &order, sums.elem(), at);
            }
            let before = sums.after(em, blocks.as_ref(), &state, at)?;
            let own = sums.within(em, term, scan.backwards, at)?;
            let all = sums.join(em, &before, &own, at)?;
            let end = if scan.backwards { 0 } else { lanes - 1 };
            let own = em.pick((&own, &own), lanes, &vec![end; lanes], sums.elem(), at);
            let next = sums.join(em, &state, &own, at)?;
            let sum = sums.value(em, &all, at);
            em.seed(inner, scan.node, sum);
            self.point(em, inner)?;
            em.close_plain(inner);
            let carried = Carried { name: state, init: carry, ty: sums.elem().ty(lanes), next };
            carry = sums.close_blocks(em, (part, &iv), (low, high, active), blocks, (carried, lanes))?;
        }
        Ok(())
    }
}
