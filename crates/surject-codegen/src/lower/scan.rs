//! Emits scans ([`crate::schedule::scan`]): one step an output, in lanes across lines, or in blocks along one.

use crate::code::Value;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Dag, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId, Steps, Val};
use crate::lower::kernel::{Kernel, bind_pointers, finish, written};
use crate::lower::keys::{self, Keys};
use crate::lower::row::Row;
use crate::lower::units::{clip, close_all, open_outer};
use crate::machine::elem::Elem;
use crate::schedule::scan::{Lanes, Scan, side_by_side};
use crate::schedule::units::{Grain, units};
use crate::schedule::{Schedule, blocks};
use crate::{CodegenError, Target};
use surject_ir::{AccOp, DType};

/// Steps of a block of a line, at least.
const BLOCK: i64 = 32;

impl Scan {
    /// The position at a step: the step itself, or from behind what is left of `last`.
    fn position(&self, em: &mut Emitter<'_>, scope: ScopeId, step: Value, last: i64) -> Value {
        if !self.backwards {
            return step;
        }
        let last = em.int(last);
        em.arith(scope, "arith.subi", last, step)
    }
}

/// How fast a scan goes on.
struct Pace {
    /// The lanes of a vector.
    lanes: usize,
    /// Cycles of a point.
    cycles: f64,
}

impl Pace {
    /// A step waits for the one before it; of a vector that is scanned in its lanes, only what joins it with the next one.
    fn of(dag: &Dag, outputs: &[Output], scan: &Scan, way: Lanes, target: &Target) -> Pace {
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).chain([scan.step]).collect();
        let size = outputs.iter().map(|o| dag[o.root].dtype).chain([dag[scan.node].dtype]);
        let size = size.map(|dtype| Elem::of(dtype).size()).max().unwrap_or(4).max(2);
        let register = target.vector_bytes / size;
        let length = |l: LoopId| usize::try_from(dag.extent(l)).unwrap_or(1).max(1);
        match way {
            Lanes::Across(l) => {
                let lanes = 1 << (side_by_side(dag, &roots) * register).min(length(l)).ilog2();
                Pace { lanes, cycles: 6.0 / lanes.min(2 * register) as f64 }
            }
            Lanes::Along => {
                let lanes = length(scan.along).next_power_of_two().min(register);
                Pace { lanes, cycles: (8.0 + 2.0 * f64::from(lanes.ilog2())) / lanes as f64 }
            }
            Lanes::None => Pace { lanes: 1, cycles: 6.0 },
        }
    }
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
    let way = scan.lanes(dag, outputs, &schedule.order);
    let Pace { lanes, cycles } = Pace::of(dag, outputs, scan, way, target);
    if let (Lanes::Across(l), true) = (way, lanes > 1) {
        order.retain(|&k| k != l);
        order.push(l);
    }
    let across = if way == Lanes::Along { 1 } else { lanes };
    let free: LoopSet = order.iter().copied().collect();
    let points: f64 = schedule.order.iter().map(|&l| dag.extent(l) as f64).product();
    let plan = Schedule {
        order: order.clone(),
        lanes: across,
        cycles: cycles * points,
        outer_vector: None,
        interleave: None,
        ..schedule.clone()
    };
    let units = units(dag, &order, &plan, target, (free, &Grain::rows(target)));
    let row = Row { outputs, schedule: &plan, interleaved: None };
    let extents: Vec<i64> = order.iter().map(|&l| dag.extent(l)).collect();
    let text = format!(
        "scan {} {} along {} of {extents:?}, lanes {lanes}{}, tasks {}",
        scan.op,
        if scan.backwards { "backwards" } else { "forwards" },
        dag.extent(scan.along),
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
    let (closing, range) = open_outer(&mut em, &units, outer);
    let scope = closing.last().map_or(em.root(), |c| c.scope);
    let extent = dag.extent(last);
    let main = extent - extent % across as i64;
    if main > 0 {
        let bounds = clip(&mut em, scope, &range, 0..main, across as i64);
        let (inner, iv) = em.open_loop(scope, last, across);
        line(&mut em, inner, across)?;
        em.close_loop(inner, iv, &bounds, &[]);
    }
    if main < extent {
        let (inner, iv, rest) = em.open_rest(scope, last, (extent - main) as usize);
        let bounds = clip(&mut em, scope, &range, main..extent, rest as i64);
        line(&mut em, inner, rest)?;
        em.close_loop(inner, iv, &bounds, &[]);
    }
    close_all(&mut em, closing);
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

    fn neutral(&self, em: &mut Emitter<'_>, lanes: usize) -> Value {
        match self.keys {
            Some(keys) => keys.neutral(em, lanes),
            None => em.scalar(self.op.neutral(self.dtype), lanes),
        }
    }

    /// The term of a step.
    fn term(&self, em: &mut Emitter<'_>, scan: &Scan, at: At) -> Result<Value, CodegenError> {
        let term = em.value(scan.step, at.scope)?;
        let term = em.spread(&term, Elem::of(self.dtype), at);
        Ok(self.keys.map_or(term, |keys| keys.key(em, term, at)))
    }

    fn join(&self, em: &mut Emitter<'_>, sum: Value, term: Value, at: At) -> Result<Value, CodegenError> {
        match self.keys {
            Some(keys) => Ok(keys.join(em, sum, term, at)),
            None => em.join_values(self.op, self.dtype, sum, term, at),
        }
    }

    /// What is stored, or computed with.
    fn value(&self, em: &mut Emitter<'_>, sum: Value, at: At) -> Val {
        let value = self.keys.map_or(sum, |keys| keys.value(em, sum, at));
        Val { ssa: em.round_half(at, self.dtype, value), lanes: at.lanes }
    }

    /// Opens the loop over the blocks of a line of so many steps from a number on, if it is long enough to have some.
    fn open_blocks(
        &self,
        em: &mut Emitter<'_>,
        outer: ScopeId,
        Steps { low, high, step }: Steps,
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
        (scope, iv): (ScopeId, Value),
        Steps { low, high, step }: Steps,
        blocks: Option<Blocks>,
        (sum, lanes): (Carried, usize),
    ) -> Result<Value, CodegenError> {
        let Some(blocks) = blocks else {
            let bounds = em.whole(low, high, step);
            return Ok(em.close_loop(scope, iv, &bounds, &[sum]).swap_remove(0));
        };
        let Bounds { high, step: size, .. } = &blocks.bounds;
        let end = em.arith(blocks.scope, "arith.addi", blocks.iv, *size);
        let end = em.arith(blocks.scope, "arith.minsi", end, *high);
        let bounds = Bounds { low: blocks.iv, high: end, step: em.int(step) };
        let around = Carried { name: blocks.before, ..sum.clone() };
        let own = Carried { init: self.neutral(em, lanes), ..sum };
        let own = em.close_loop(scope, iv, &bounds, &[own]).swap_remove(0);
        let next = self.join(em, blocks.before, own, At { scope: blocks.scope, lanes })?;
        let around = [Carried { next, ..around }];
        Ok(em.close_loop(blocks.scope, blocks.iv, &blocks.bounds, &around).swap_remove(0))
    }

    /// A sum of a block with what came before it.
    fn after(
        &self,
        em: &mut Emitter<'_>,
        blocks: Option<&Blocks>,
        sum: Value,
        at: At,
    ) -> Result<Value, CodegenError> {
        blocks.map_or_else(|| Ok(sum), |blocks| self.join(em, blocks.before, sum, at))
    }

    /// The scan of the lanes of a vector, from the first one or from the last.
    fn within(
        &self,
        em: &mut Emitter<'_>,
        vector: Value,
        scan: &Scan,
        at: At,
    ) -> Result<Value, CodegenError> {
        let (lanes, elem, neutral) = (at.lanes, self.elem(), self.neutral(em, at.lanes));
        let mut sums = vector;
        let place = |i: usize| if scan.backwards { lanes - 1 - i } else { i };
        for by in (0..lanes.ilog2()).map(|bit| 1 << bit) {
            // The second half of every block of twice as many lanes adds what the first half has: the first steps stay
            // inside of 128 bits, where lanes move in less time.
            let before = |i: usize| (i & by != 0).then(|| place((i & !(by - 1)) - 1));
            let order: Vec<usize> =
                (0..lanes).map(|lane| before(place(lane)).unwrap_or(lanes + lane)).collect();
            let moved = em.pick((sums, neutral), lanes, &order, elem, at);
            sums = self.join(em, moved, sums, at)?;
        }
        Ok(sums)
    }
}

/// The loop over the blocks of a line.
struct Blocks {
    scope: ScopeId,
    iv: Value,
    /// The sum of all before a block.
    before: Value,
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
        let steps = Steps { low: 0, high: length, step: 1 };
        let blocks = sums.open_blocks(em, scope, steps);
        let inner = em.open(blocks.as_ref().map_or(scope, |b| b.scope), Vec::new(), None);
        let (iv, state) = (em.name(), em.name());
        let position = scan.position(em, inner, iv, length - 1);
        em.bind(inner, scan.along, position);
        let at = At { scope: inner, lanes };
        let term = sums.term(em, scan, at)?;
        let next = sums.join(em, state, term, at)?;
        let all = sums.after(em, blocks.as_ref(), next, at)?;
        let sum = sums.value(em, all, at);
        em.seed(inner, scan.node, sum);
        self.point(em, inner)?;
        let carried = Carried { name: state, init, ty: sums.elem().ty(lanes), next };
        sums.close_blocks(em, (inner, iv), steps, blocks, (carried, lanes)).map(drop)
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
        let mut parts = vec![
            Steps { low: 0, high: main, step: lanes as i64 },
            Steps { low: main, high: length, step: rest },
        ];
        if scan.backwards {
            parts.reverse();
        }
        for steps in parts.into_iter().filter(|part| part.low < part.high) {
            let Steps { low, high, step: active } = steps;
            let blocks = sums.open_blocks(em, scope, steps);
            let part = em.open(blocks.as_ref().map_or(scope, |b| b.scope), Vec::new(), None);
            let (iv, state) = (em.name(), em.name());
            let position = scan.position(em, part, iv, low + high - active);
            let inner = em.open(part, vec![(scan.along, position)], Some((scan.along, lanes)));
            em.activate(inner, active as usize, lanes);
            let at = At { scope: inner, lanes };
            let mut term = sums.term(em, scan, at)?;
            if scan.backwards && active < lanes as i64 {
                let (order, none): (Vec<usize>, _) = (
                    (0..lanes).map(|i| if (i as i64) < active { i } else { lanes + i }).collect(),
                    sums.neutral(em, lanes),
                );
                term = em.pick((term, none), lanes, &order, sums.elem(), at);
            }
            let before = sums.after(em, blocks.as_ref(), state, at)?;
            let own = sums.within(em, term, scan, at)?;
            let all = sums.join(em, before, own, at)?;
            let end = if scan.backwards { 0 } else { lanes - 1 };
            let own = em.pick((own, own), lanes, &vec![end; lanes], sums.elem(), at);
            let next = sums.join(em, state, own, at)?;
            let sum = sums.value(em, all, at);
            em.seed(inner, scan.node, sum);
            self.point(em, inner)?;
            em.close_plain(inner);
            let carried = Carried { name: state, init: carry, ty: sums.elem().ty(lanes), next };
            carry = sums.close_blocks(em, (part, iv), steps, blocks, (carried, lanes))?;
        }
        Ok(())
    }
}
