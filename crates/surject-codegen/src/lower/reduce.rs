//! Reductions: loops over their terms, accumulators, and how what is in lanes comes together.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::{Guard, GuardFact, LoopId};
use crate::expression::compose::joining;
use crate::expression::dag::{Node, NodeId};
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId, Steps, Val};
use crate::lower::keys;
use crate::machine::elem::Elem;
use crate::schedule::blocks::{self, Level};
use crate::schedule::{ReducePlan, node_cost};
use surject_ir::{AccOp, BinaryOp, DType};

/// A loop over terms in lanes.
#[derive(Clone, Copy)]
pub(crate) struct Vectors {
    pub(crate) l: LoopId,
    /// The terms that are in whole vectors.
    pub(crate) main: i64,
    pub(crate) lanes: usize,
}

impl Emitter<'_> {
    /// Has a reduction so few and so short terms, all of them there, that a loop over them would be most of the work? Rows
    /// that are summed some at a time are: a processor foresees by the place of a load in the code what is read next, and
    /// one place for rows that lie apart is none.
    pub(crate) fn few_terms(&self, loops: &[LoopId], body: NodeId, scope: ScopeId) -> bool {
        const TERMS: i64 = 9;
        const ROWS: i64 = 4;
        const NODES: usize = 8;
        let terms: i64 = loops.iter().map(|&l| self.dag.extent(l)).product();
        let nodes = self.dag.reachable(&[body]);
        let there = |guards: &[Guard]| guards.iter().all(|g| self.fact(g, scope) == GuardFact::Always);
        let windows = || nodes.iter().any(|&n| !self.dag[n].node.guards().is_empty());
        (2..=TERMS).contains(&terms)
            && nodes.len() <= NODES
            && (terms >= ROWS || windows())
            && nodes.iter().all(|&n| {
                let node = &self.dag[n].node;
                !matches!(node, Node::Reduce { .. } | Node::Gather { .. }) && there(node.guards())
            })
    }

    /// Opens the loops of a nest that is summed so. A loop that is cut into blocks is two.
    fn open_levels(&mut self, scope: ScopeId, order: &[LoopId], levels: &[Level]) -> Vec<OpenLoop> {
        let mut scopes: Vec<OpenLoop> = Vec::new();
        for (&l, level) in order.iter().zip(levels) {
            let outer = scopes.last().map_or(scope, |s| s.scope);
            let (blocks, bounds) =
                self.open_blocks(outer, Steps { low: 0, high: self.dag.extent(l), step: 1 }, level, None);
            let anew = if blocks.is_empty() { level.anew } else { true };
            scopes.extend(blocks);
            let outer = scopes.last().map_or(scope, |s| s.scope);
            let (scope, iv) = self.open_loop(outer, l, 1);
            scopes.push(OpenLoop { scope, iv, bounds, anew });
        }
        scopes
    }

    /// Opens the loops over the blocks of a loop with these steps, and gives the bounds of the loop in the
    /// innermost of them. `until`: where it ends, if that is known at run time only.
    fn open_blocks(
        &mut self,
        outer: ScopeId,
        Steps { low, high, step }: Steps,
        level: &Level,
        until: Option<Value>,
    ) -> (Vec<OpenLoop>, Bounds) {
        let mut all: Vec<OpenLoop> = Vec::new();
        let (mut outer, mut bounds) = (outer, self.whole(low, high, step));
        if let Some(until) = until {
            bounds.high = until;
        }
        for block in level.blocks.iter().map(|block| block * step).filter(|&block| block < high - low) {
            bounds.step = self.int(block);
            let scope = self.open(outer, Vec::new(), None);
            let (iv, anew) = (self.name(), !all.is_empty() || level.anew);
            let end = self.arith(scope, "arith.addi", iv, bounds.step);
            let end = self.arith(scope, "arith.minsi", end, bounds.high);
            let inside = Bounds { low: iv, high: end, step: self.int(step) };
            all.push(OpenLoop { scope, iv, bounds: std::mem::replace(&mut bounds, inside), anew });
            outer = scope;
        }
        (all, bounds)
    }

    /// Reductions along the same loops, in one nest of them.
    pub(crate) fn reduce(&mut self, group: &[NodeId], at: At) -> Result<Vec<Value>, CodegenError> {
        let dag = self.dag;
        let terms = group.iter().filter_map(|&id| match &dag[id].node {
            &Node::Reduce { op, body, .. } => Some(Term { op, body, dtype: dag[id].dtype }),
            _ => None,
        });
        let terms: Vec<Term> = terms.collect();
        let plan = group.first().map_or_else(ReducePlan::default, |&id| self.plan(id));
        let around = std::mem::replace(&mut self.passes, group.to_vec());
        let values = if at.lanes == 1 && plan.lanes > 1 {
            self.reduce_lanes(&terms, &plan, at)?
        } else {
            let steps: Vec<i64> = plan.order.iter().map(|&l| dag.extent(l)).collect();
            let scopes = self.open_levels(at.scope, &plan.order, &in_blocks(&terms, &steps, blocks::TERMS));
            let wide = self.accumulators(&terms, at.lanes);
            let inner = scopes.last().map_or(at.scope, |s| s.scope);
            let levels = self.levels(&scopes, terms.len());
            let last = levels.last().cloned().unwrap_or_else(|| wide.iter().map(|w| w.init).collect());
            let mut next = Vec::new();
            for (term, into) in terms.iter().zip(&last) {
                let at = At { scope: inner, lanes: at.lanes };
                next.push(self.accumulate(term.op, term.body, term.dtype, *into, at)?);
            }
            let next = self.close_nest(&scopes, &levels, &wide, next)?;
            terms.iter().zip(next).map(|(t, x)| self.accumulated(t.op, t.dtype, x, at)).collect()
        };
        self.passes = around;
        Ok(terms.iter().zip(values).map(|(t, x)| self.round_half(at, t.dtype, x)).collect())
    }

    fn accumulators(&mut self, terms: &[Term], lanes: usize) -> Vec<Accumulator> {
        terms.iter().map(|t| Accumulator::new(self, t.op, t.dtype, lanes)).collect()
    }

    /// Names for what every loop of a nest carries.
    pub(crate) fn levels(&mut self, scopes: &[OpenLoop], count: usize) -> Vec<Vec<Value>> {
        scopes.iter().map(|_| (0..count).map(|_| self.name()).collect()).collect()
    }

    /// Closes the loops of a nest, which carry values.
    pub(crate) fn close_nest(
        &mut self,
        scopes: &[OpenLoop],
        levels: &[Vec<Value>],
        wide: &[Accumulator],
        next: Vec<Value>,
    ) -> Result<Vec<Value>, CodegenError> {
        let mut next = next;
        for (depth, open) in scopes.iter().enumerate().rev() {
            let outer = depth.checked_sub(1).map(|outer| (&levels[outer], scopes[outer].scope));
            let carried: Vec<Carried> = wide
                .iter()
                .enumerate()
                .map(|(i, w)| Carried {
                    name: levels[depth][i],
                    init: *outer.filter(|_| !open.anew).map_or(&w.init, |outer| &outer.0[i]),
                    ty: w.elem.ty(w.lanes),
                    next: next[i],
                })
                .collect();
            next = self.close_loop(open.scope, open.iv, &open.bounds, &carried);
            if let Some((before, scope)) = outer.filter(|_| open.anew) {
                next = self.joined_all(wide, before, &next, scope)?;
            }
        }
        Ok(next)
    }

    /// Accumulators joined with others, one by one.
    fn joined_all(
        &mut self,
        wide: &[Accumulator],
        into: &[Value],
        more: &[Value],
        scope: ScopeId,
    ) -> Result<Vec<Value>, CodegenError> {
        let all = wide.iter().zip(into.iter().zip(more));
        all.map(|(w, (x, y))| self.join_accumulators(w.op, w.dtype, *x, *y, At { scope, lanes: w.lanes }))
            .collect()
    }

    /// Reductions whose last loop is done in lanes: vectors of partial results.
    fn reduce_lanes(
        &mut self,
        terms: &[Term],
        plan: &ReducePlan,
        at: At,
    ) -> Result<Vec<Value>, CodegenError> {
        let Some((&last, outer)) = plan.order.split_last() else {
            return Err(CodegenError::malformed("a reduction without a loop"));
        };
        let (extent, lanes) = (self.dag.extent(last), plan.lanes);
        let main = extent - extent % lanes as i64;
        let vectors = (extent + lanes as i64 - 1) / lanes as i64;
        let steps: Vec<i64> = outer.iter().map(|&l| self.dag.extent(l)).chain([vectors]).collect();
        let in_blocks = in_blocks(terms, &steps, blocks::STEPS);
        let scopes = self.open_levels(at.scope, outer, &in_blocks);
        let own = &in_blocks[outer.len()];
        let inner = scopes.last().map_or(at.scope, |s| s.scope);
        let wide = self.accumulators(terms, lanes);
        let levels = self.levels(&scopes, terms.len());
        let neutral: Vec<Value> = wide.iter().map(|w| w.init).collect();
        let before = levels.last().filter(|_| own.anew);
        let mut next = levels.last().filter(|_| !own.anew).unwrap_or(&neutral).clone();
        let mut begin = 0;
        if let Some(part) = self.part_beside(terms, last, main, lanes) {
            let all = Vectors { l: last, main: part, lanes };
            next = self.side_by_side(terms, &wide, next, (inner, all, own))?;
            begin = STREAMS * part;
        }
        let end = match begin {
            0 => self.end_of_terms(terms, Vectors { l: last, main, lanes }, inner)?,
            _ => None,
        };
        // Whole vectors, then what is left: lanes beyond the end keep what they have.
        for (low, high) in [(begin, main), (main, extent)] {
            if low == high {
                continue;
            }
            let until = end.as_ref().filter(|_| high == main).map(|e| e.until);
            let (blocks, bounds) =
                self.open_blocks(inner, Steps { low, high, step: lanes as i64 }, own, until);
            let (scope, iv) = self.open_loop(blocks.last().map_or(inner, |b| b.scope), last, lanes);
            self.activate(scope, (high - low) as usize, lanes);
            let pairs = |t: &Term| self.reads_pairs(t.op, t.body, t.dtype, last);
            if high == main && terms.iter().all(pairs) {
                self.set_pairs(scope);
            }
            let mut carried = Vec::new();
            for ((term, wide), init) in terms.iter().zip(&wide).zip(next) {
                let (name, e) = (self.name(), wide.elem);
                let at = At { scope, lanes };
                let mut joined = self.accumulate(term.op, term.body, term.dtype, name, at)?;
                if let Some(mask) = self.mask(scope, std::iter::once(last).collect()) {
                    joined = self.select(at, mask, joined, name, e);
                }
                carried.push(Carried { name, init, ty: e.ty(lanes), next: joined });
            }
            next = self.close_blocks((scope, iv), &bounds, &blocks, &wide, carried)?;
            if let Some(end) = end.as_ref().filter(|_| high == main) {
                self.keep_tail(end, Vectors { l: last, main, lanes }, inner);
            }
        }
        if let Some(before) = before {
            next = self.joined_all(&wide, before, &next, inner)?;
        }
        let next = self.close_nest(&scopes, &levels, &wide, next)?;
        let at = At { scope: at.scope, lanes };
        terms.iter().zip(next).map(|(t, x)| self.horizontal(t.op, t.dtype, x, at)).collect()
    }

    /// Closes a loop in lanes that sums, and the loops over its blocks: every block begins anew.
    fn close_blocks(
        &mut self,
        (scope, iv): (ScopeId, Value),
        bounds: &Bounds,
        blocks: &[OpenLoop],
        wide: &[Accumulator],
        mut carried: Vec<Carried>,
    ) -> Result<Vec<Value>, CodegenError> {
        let first: Vec<Value> = carried.iter().map(|c| c.init).collect();
        let (mut scope, mut iv, mut bounds) = (scope, iv, bounds);
        for around in blocks.iter().rev() {
            carried.iter_mut().zip(wide.iter().cycle()).for_each(|(c, w)| c.init.clone_from(&w.init));
            let own = self.close_loop(scope, iv, bounds, &carried);
            let at = |w: &Accumulator| At { scope: around.scope, lanes: w.lanes };
            for ((c, own), w) in carried.iter_mut().zip(&own).zip(wide.iter().cycle()) {
                c.name = self.name();
                c.next = self.join_accumulators(w.op, w.dtype, c.name, *own, at(w))?;
            }
            (scope, iv, bounds) = (around.scope, around.iv, &around.bounds);
        }
        carried.iter_mut().zip(first).for_each(|(c, init)| c.init = init);
        Ok(self.close_loop(scope, iv, bounds, &carried))
    }

    /// The elements of each part of a reduction that is read in some places at once: what comes from far away, element
    /// by element, without conditions.
    fn part_beside(&self, terms: &[Term], last: LoopId, main: i64, lanes: usize) -> Option<i64> {
        let bodies: Vec<NodeId> = terms.iter().map(|t| t.body).collect();
        let (mut far, mut cost) = (0, 0.0);
        for n in self.dag.reachable(&bodies) {
            let data = &self.dag[n];
            if !data.deps.contains(last) {
                continue;
            }
            cost += node_cost(self.dag, n);
            match &data.node {
                Node::Load { address, guards, .. } if guards.is_empty() && address.coeff(last) == 1 => {
                    far += usize::from(self.is_far(address));
                }
                Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_) => {}
                _ => return None,
            }
        }
        let wide = terms.iter().map(|t| Elem::of(t.dtype).size()).max()?;
        let least = if self.prefetches { PART } else { ALONE };
        let part = main / STREAMS / lanes as i64 * lanes as i64;
        let cheap = self.tables >= 16 || cost < DEAR;
        let fits = cheap && terms.len() <= 2 && STREAMS as usize * terms.len() * lanes * wide <= MOST;
        let pairs = terms.iter().any(|t| self.reads_pairs(t.op, t.body, t.dtype, last));
        (far == 1 && fits && !pairs && self.term_cache.is_none() && part * wide as i64 >= least)
            .then_some(part)
    }

    /// The parts of a reduction side by side, each with accumulators of its own, which are joined in the end.
    fn side_by_side(
        &mut self,
        terms: &[Term],
        wide: &[Accumulator],
        first: Vec<Value>,
        (outer, part, level): (ScopeId, Vectors, &Level),
    ) -> Result<Vec<Value>, CodegenError> {
        let Vectors { l: last, main: part, lanes } = part;
        let (blocks, bounds) =
            self.open_blocks(outer, Steps { low: 0, high: part, step: lanes as i64 }, level, None);
        let (scope, iv) = self.open_loop(blocks.last().map_or(outer, |b| b.scope), last, lanes);
        let mut carried = Vec::new();
        for stream in 0..STREAMS {
            let offset = self.int(stream * part);
            let place = self.arith(scope, "arith.addi", iv, offset);
            let own = self.open(scope, vec![(last, place)], Some((last, lanes)));
            for ((term, wide), first) in terms.iter().zip(wide).zip(&first) {
                let (name, at) = (self.name(), At { scope: own, lanes });
                let next = self.accumulate(term.op, term.body, term.dtype, name, at)?;
                let init = *if stream == 0 { first } else { &wide.init };
                carried.push(Carried { name, init, ty: wide.elem.ty(lanes), next });
            }
            self.close_plain(own);
        }
        let all = self.close_blocks((scope, iv), &bounds, &blocks, wide, carried)?;
        let mut joined = all[..terms.len()].to_vec();
        for more in all[terms.len()..].chunks(terms.len()) {
            joined = self.joined_all(wide, &joined, more, outer)?;
        }
        Ok(joined)
    }

    /// Can the lanes of a reduction be in any order, and is what it reads along its last loop all `bf16`, side by side?
    /// Then pairs of elements are read as words.
    fn reads_pairs(&self, op: AccOp, body: NodeId, dtype: DType, last: LoopId) -> bool {
        let cached = self.term_cache.as_ref().is_some_and(|s| s.0.body == body);
        // Keys of `bf16` are made of what lies side by side.
        if cached || keys::of(op, dtype).is_some() || cfg!(target_endian = "big") {
            return false;
        }
        let mut loads = 0;
        let fits = self.dag.reachable(&[body]).into_iter().all(|n| match &self.dag[n].node {
            _ if !self.dag[n].deps.contains(last) => true,
            Node::Load { address, guards, .. } => {
                loads += 1;
                guards.is_empty() && address.coeff(last) == 1 && self.dag[n].dtype == DType::BF16
            }
            Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_) => true,
            _ => false,
        });
        fits && loads > 0
    }

    /// Joins the lanes, halves first, so that the order is always the same.
    pub(crate) fn horizontal(
        &mut self,
        op: AccOp,
        dtype: DType,
        x: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        let e = keys::of(op, dtype).map_or(Elem::of(dtype), |k| k.elem());
        let (mut lanes, mut value) = (at.lanes, x);
        while lanes > 1 {
            let half = lanes / 2;
            let [a, b] = [0, half].map(|first| self.some_lanes(at.scope, value, (e, lanes), first, half));
            if half == 1 {
                let at = At { scope: at.scope, lanes: 1 };
                let joined = self.join_accumulators(op, dtype, a, b, at)?;
                return Ok(self.accumulated(op, dtype, joined, at));
            }
            value = self.join_accumulators(op, dtype, a, b, At { scope: at.scope, lanes: half })?;
            lanes = half;
        }
        Ok(self.accumulated(op, dtype, value, At { scope: at.scope, lanes }))
    }

    /// Joins two accumulators.
    pub(crate) fn join_accumulators(
        &mut self,
        op: AccOp,
        dtype: DType,
        x: Value,
        y: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        match keys::of(op, dtype) {
            Some(kind) => Ok(kind.join(self, x, y, at)),
            None => self.join_values(op, dtype, x, y, at),
        }
    }

    /// The value of an accumulator.
    pub(crate) fn accumulated(&mut self, op: AccOp, dtype: DType, x: Value, at: At) -> Value {
        match keys::of(op, dtype) {
            Some(kind) => kind.value(self, x, at),
            None => x,
        }
    }

    /// Joins the value of the body to the accumulator of a reduction.
    pub(crate) fn accumulate(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        into: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        let Some(kind) = keys::of(op, dtype) else { return self.join(op, body, dtype, into, at) };
        let value = self.term(body, at)?;
        let key = kind.key(self, value, at);
        Ok(kind.join(self, into, key, at))
    }

    /// The value of the body, which is kept where it is needed again.
    fn term(&mut self, body: NodeId, at: At) -> Result<Value, CodegenError> {
        let value = self.operand(body, at)?;
        if let Some((term_cache, pointer)) = self.term_cache.clone().filter(|s| s.0.body == body) {
            let kept = Val { ssa: value, lanes: at.lanes };
            // It is read again soon.
            let streams = std::mem::take(&mut self.streams);
            self.store(pointer, term_cache.dtype, &term_cache.address, &kept, at);
            self.streams = streams;
        }
        Ok(value)
    }

    /// Joins the value of the body to an accumulator. A product that is summed is fused.
    fn join(
        &mut self,
        op: AccOp,
        body: NodeId,
        dtype: DType,
        into: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        // A product that is kept is needed by itself.
        let kept = self.term_cache.as_ref().is_some_and(|s| s.0.body == body);
        let fused = matches!(dtype, DType::F32 | DType::F64) && !kept;
        if let (AccOp::Add, true, &Node::Binary(BinaryOp::Mul, x, y)) = (op, fused, &self.dag[body].node) {
            let (x, y) = (self.operand(x, at)?, self.operand(y, at)?);
            return Ok(self.op(at.scope, Op::same("math.fma", [x, y, into], Elem::of(dtype).ty(at.lanes))));
        }
        let value = self.term(body, at)?;
        self.join_values(op, dtype, into, value, at)
    }

    /// Joins two partial results. Sums of halves are kept in `f32`.
    pub fn join_values(
        &mut self,
        op: AccOp,
        dtype: DType,
        x: Value,
        y: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        let wide = if dtype.is_float() && dtype != DType::F64 { DType::F32 } else { dtype };
        self.binary(at, joining(op)?, wide, x, y)
    }
}

/// What a reduction joins.
pub(crate) struct Term {
    pub(crate) op: AccOp,
    pub(crate) body: NodeId,
    pub(crate) dtype: DType,
}

/// How reductions in one nest of loops with so many steps are run through.
fn in_blocks(terms: &[Term], steps: &[i64], wanted: i64) -> Vec<Level> {
    if terms.iter().any(|t| blocks::round(t.op, t.dtype)) && terms.iter().all(|t| t.op != AccOp::Set) {
        blocks::levels(steps, wanted)
    } else {
        vec![Level::default(); steps.len()]
    }
}

pub(crate) struct OpenLoop {
    pub(crate) scope: ScopeId,
    iv: Value,
    bounds: Bounds,
    /// Do sums begin anew with the loop, and are added to those of the loop around it in the end?
    anew: bool,
}

/// Parts that a long reduction reads side by side: a processor asks memory for more where it reads in several places. The
/// sum of 64 MiB is 1.1 to 1.3 times as fast (Sapphire Rapids).
const STREAMS: i64 = 4;

/// The least bytes of such a part: with parts of a KiB, rows that are normalised take 1.1 times as long.
const PART: i64 = 4096;

/// The same where the processor reads ahead by itself: it begins anew with every part, and parts of a page make the sums of
/// rows of 16 KiB take 1.6 times as long (Zen 4).
const ALONE: i64 = 8 * PART;

/// The cost of a term, in cycles of one lane, from which on it has no registers to spare where there are sixteen, and hides
/// what is waited for: with all parts the sum of a million `log1p` takes 1.4 times as long (Zen 3).
const DEAR: f64 = 20.0;

/// The bytes of the accumulators of all parts, at most: half of the registers.
const MOST: usize = 1024;

pub(crate) struct Accumulator {
    op: AccOp,
    dtype: DType,
    pub(crate) init: Value,
    lanes: usize,
    /// The type of a lane: that of keys, where there are keys.
    elem: Elem,
}

impl Accumulator {
    pub(crate) fn new(em: &mut Emitter<'_>, op: AccOp, dtype: DType, lanes: usize) -> Accumulator {
        match keys::of(op, dtype) {
            Some(kind) => Accumulator { op, dtype, init: kind.neutral(em, lanes), lanes, elem: kind.elem() },
            None => {
                let init = em.scalar(op.neutral(dtype), lanes);
                Accumulator { op, dtype, init, lanes, elem: Elem::of(dtype) }
            }
        }
    }
}
