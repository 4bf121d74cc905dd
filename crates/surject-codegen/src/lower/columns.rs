//! Reductions down long columns.
//!
//! Walking down a column takes one piece of every row, and every row lies in another page. So rows are joined to the
//! target in memory order, some at a time: what is kept in the target is then read and written once for all of them.
//! The rows that are left over are the first value of the target. Rows that come from far away lie far apart, an eighth
//! of all rows: `f32[65536,256]` takes a third of the time that eight neighbours take (Zen 4, one thread).
//!
//! That is worth it for rows of a few registers: `f32[96153,104]` takes a fifth to a quarter of the time that walking down
//! takes (Zen 3). But columns that stay near are walked down, by a task that goes on with what it read, and so are rows that
//! one vector holds.
//!
//! Threads that each take a piece of every row read slower than those that each take whole rows: what is far away is
//! cut into parts, each with a target of its own ([`Columns::parts`]; the same tensor, two threads: 2.4 times as fast).
//!
//! Sums of floats down very long columns are made in blocks ([`crate::schedule::blocks`]), each with a target of its own.
//!
//! A task that takes some rows through several kernels (`fuse`) joins them one by one to a target of its own, or to several
//! for the same reason.

use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::rewrite;
use crate::lower::emit::Emitter;
use crate::lower::recipe::Recipe;
use crate::lower::row::{self, Kernel, Row};
use crate::machine::elem::Elem;
use crate::schedule::non_temporal::LINE;
use crate::schedule::prefetch::{self, Asks, When};
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::split_reduction::{self, Parts};
use crate::schedule::units::{Grain, Share, Units, units};
use crate::schedule::{self, Schedule, blocks};
use crate::{CodegenError, Target};
use std::sync::Arc;
use surject_ir::{AccOp, DType, FieldId};

/// Rows that are joined at a time.
const ROWS: i64 = 8;

/// Parts that each thread has of what is cut into parts, and the rows of each, at least.
const PARTS: i64 = 2;

const LEAST: i64 = 16 * ROWS;

/// Groups of rows that are joined to the target of a block, at least.
const JOINS: i64 = 128;

/// Finds a plain reduction down long columns that an output is made of, element by element.
pub fn find(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    schedule: &Schedule,
    target: &Target,
) -> Fit<(NodeId, FieldId)> {
    /// Shorter rows are few registers.
    const APART: i64 = 17;
    /// Longer ones take more registers than there are for them and for what is made of them.
    const HELD: i64 = 256;
    const WORTH: f64 = 65_536.0;
    let ([output], Some(&last)) = (outputs, schedule.order.last()) else {
        return Err(Refused("there are several results, or no loop"));
    };
    let over: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    // A target whose elements lie apart would be read and written in pieces for every row.
    need(schedule.lanes > 1, "no results are done in lanes")?;
    need(output.join.is_none(), "it accumulates into its target")?;
    need(output.address.coeff(last).abs() == 1, "results lie apart")?;
    // What stands inside a reduction is walked down with it, unless no cache holds the rows until then.
    let far =
        |n: &NodeId| matches!(dag[*n].node, Node::Load { .. }) && dag.bytes(*n) > target.llc_bytes as f64;
    let within = dag.all_reachable(&[output.root]).iter().any(far);
    let columns = dag.extent(last);
    let roots = [output.root];
    let nodes = if within { dag.all_reachable(&roots) } else { dag.reachable(&roots) };
    let found = nodes.into_iter().find_map(|n| {
        let Node::Reduce { loops, body, field, .. } = &dag[n].node else { return None };
        let dtype = dag[n].dtype;
        let exact = dtype.is_int() || matches!(dtype, DType::F32 | DType::F64);
        let points: f64 = loops.iter().chain(&schedule.order).map(|&l| dag.extent(l) as f64).product();
        let inside = dag.all_reachable(&[*body]);
        let strided = inside.iter().any(|&n| match &dag[n].node {
            Node::Load { address, .. } => {
                address.coeff(last) == 1 && loops.iter().all(|&l| address.coeff(l).abs() >= APART)
            }
            _ => false,
        });
        // Less than two blocks of rows are read side by side.
        let rows: i64 = loops.iter().map(|&l| dag.extent(l)).product();
        let plain = rows >= 2 * ROWS && inside.iter().all(|&n| !matches!(dag[n].node, Node::Reduce { .. }));
        let all = dag[n].deps == over;
        // Rows that one vector holds are read in order as it is. What comes from far away is still better read in several
        // places, or with what else is made of it: a sum of `f32[166666,48]` takes 0.5 of the time, and the gradient of a
        // norm of its rows 0.7 (Zen 3, one thread).
        let bytes = rows as f64 * columns as f64 * Elem::in_memory(dag[*body].dtype).size() as f64;
        let held = schedule.lanes as i64 >= columns && columns < HELD;
        let long =
            bytes > if held { target.llc_share_bytes as f64 / 2.0 } else { target.l2_share_bytes as f64 };
        (exact && strided && plain && all && long && points >= WORTH).then_some((n, *field))
    });
    found.ok_or(Refused("no reduction goes down columns that a cache does not hold"))
}

/// In how many places of the tensors the rows lie that are joined at a time. What comes from far away comes from several;
/// from fewer where rows are short, and values that each row has one of come from as many besides.
fn places(dag: &Dag, body: NodeId, rows: LoopId, last: LoopId, target: &Target) -> i64 {
    const SHORT: i64 = 64;
    if dag.bytes(body) <= 2.0 * target.l2_share_bytes as f64 {
        return 1;
    }
    let of_a_row = |n: &NodeId| {
        let (loads, deps) = (matches!(dag[*n].node, Node::Load { .. }), dag[*n].deps);
        loads && deps.contains(rows) && !deps.contains(last)
    };
    let beside = dag.extent(last) <= SHORT && dag.all_reachable(&[body]).iter().any(of_a_row);
    if beside { ROWS / 2 } else { ROWS }
}

/// The kernel of an output that is such a reduction, if its rows are one loop and many.
pub fn kernel(
    dag: &Dag,
    output: &Output,
    outer: &[LoopId],
    target: &Target,
) -> Result<Option<Kernel>, CodegenError> {
    let Node::Reduce { op, loops, body, field } = dag[output.root].node.clone() else { return Ok(None) };
    let &[rows] = &loops[..] else { return Ok(None) };
    let (extent, dtype) = (dag.extent(rows), dag[output.root].dtype);
    if extent < 2 * ROWS {
        return Ok(None);
    }
    let (main, rest) = (extent / ROWS, extent % ROWS);
    let mut both = dag.clone();
    // The reduction over rows from a number on: so many, so far apart, of as many again.
    let some = |dag: &mut Dag, steps: &[(i64, i64)], first: &Lin| -> Option<NodeId> {
        let (mut number, mut loops) = (first.clone(), Vec::new());
        for &(count, apart) in steps {
            loops.push(dag.add_loop(count)?);
            number = number.plus(&Lin::var(loops[loops.len() - 1]), apart)?;
        }
        let body = rewrite::substituted(dag, body, rows, &number)?;
        Some(dag.add(Node::Reduce { op, loops, body, field }, dtype))
    };
    let start = if rest == 0 {
        Some(both.constant(op.neutral(dtype)))
    } else {
        some(&mut both, &[(rest, 1)], &Lin::constant(main * ROWS))
    };
    let (Some(start), Some(block)) = (start, both.add_loop(main)) else { return Ok(None) };
    let last = outer.iter().copied().find(|&l| output.address.coeff(l).abs() == 1);
    let places = last.map_or(1, |last| places(dag, body, rows, last, target));
    let count = ROWS / places;
    let mut steps = vec![(places, main * count), (count, 1)];
    steps.retain(|s| s.0 > 1);
    let Some(joined) = Lin::var(block).times(count).and_then(|first| some(&mut both, &steps, &first)) else {
        return Ok(None);
    };

    // Loops that tasks may be cut along stand outside; the loop in lanes stays last.
    let free: LoopSet = outer.iter().copied().collect();
    let first = [Output { root: start, join: None, ..output.clone() }];
    let then = [Output { root: joined, join: Some(op), ..output.clone() }];
    let mut schedule = schedule::choose(&both, &then, &[outer, &[block]].concat(), target);
    let plain = schedule.is_plain();
    let Some((last, outside)) = schedule.order.split_last_mut() else { return Ok(None) };
    if *last == block || !plain {
        return Ok(None);
    }
    outside.sort_by_key(|&l| !free.contains(l));
    let mut order = schedule.order.clone();
    order.retain(|&l| l != block);
    let reductions = schedule::choose(&both, &first, outer, target).reductions;
    let start = Schedule { order, reductions, ..schedule.clone() };

    let units = units(&both, &schedule.order, &schedule, target, (free, &Grain::ROWS));
    let mut em = Emitter::new(&both);
    em.tables = schedule.tables;
    let (written, roots) = (vec![output.to], [first[0].root, then[0].root]);
    (em.asks, em.asks_next) = (target.prefetches, target.prefetches_next_row());
    em.far = prefetch::far(&both, (&roots, false), target, &|_| Some(When::Soon));
    let buffers = row::bind_pointers(&mut em, &written, &roots);
    for (outputs, schedule) in [(&first, &start), (&then, &schedule)] {
        Row { outputs, schedule, interleaved: None }.all(&mut em, &units)?;
    }
    let summary = row::summary(&both, &roots, &schedule, units.tasks);
    let kernel = row::finish(em, buffers, units.tasks, written, summary)?;
    let recipe = Columns::new(dag, output, outer, target).map(|c| Arc::new(Recipe::Columns(c)));
    Ok(Some(Kernel { cycles: schedule.cycles, recipe, ..kernel }))
}

/// A reduction of rows, one row at a time.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The expression.
    pub(crate) dag: Dag,
    /// What is joined to the target for every row.
    pub(crate) output: Output,
    /// The reduction of all rows.
    whole: NodeId,
    /// How: the loop over rows is the first.
    schedule: Schedule,
    /// The reduction.
    op: AccOp,
    field: FieldId,
}

impl Columns {
    /// A target is small beside the cache of a thread, so that it stays there while rows go by.
    fn new(dag: &Dag, output: &Output, outer: &[LoopId], target: &Target) -> Option<Columns> {
        let Node::Reduce { op, loops, body, field } = &dag[output.root].node else { return None };
        let &[rows] = &loops[..] else { return None };
        let whole = output.root;
        let output = Output { root: *body, join: Some(*op), ..output.clone() };
        let mut schedule =
            schedule::choose(dag, std::slice::from_ref(&output), &[&[rows], outer].concat(), target);
        let plain = schedule.is_plain() && schedule.order.last().is_some_and(|&l| l != rows);
        schedule.order.sort_by_key(|&l| l != rows);
        let columns = Columns { dag: dag.clone(), output, whole, schedule, op: *op, field: *field };
        let small = columns.bytes()?.checked_mul(4)? <= target.l2_share_bytes as i64;
        (plain && small).then_some(columns)
    }

    /// The loops of the elements.
    pub(crate) fn outer(&self) -> &[LoopId] {
        &self.schedule.order[1..]
    }

    /// The loop over rows.
    pub(crate) fn rows(&self) -> LoopId {
        self.schedule.order[0]
    }

    fn size(&self) -> i64 {
        Elem::in_memory(self.dag[self.output.root].dtype).size() as i64
    }

    /// The bytes of a target, whole lines.
    pub(crate) fn bytes(&self) -> Option<i64> {
        let (low, high) = self.output.address.range(&self.dag.extents)?;
        let bytes = high.checked_add(1)?.checked_mul(self.size())?;
        (low >= 0).then(|| (bytes + LINE - 1) / LINE * LINE)
    }

    /// The kernel that joins the rows from `%low` to `%high` to the target.
    pub(crate) fn range(&self, target: &Target, when: Asks<'_>) -> Result<Kernel, CodegenError> {
        let rows = self.rows();
        let total = self.dag.extent(rows);
        let units = Units { prefix: vec![rows], total, share: Share::Range, ..Units::WHOLE };
        let outputs = std::slice::from_ref(&self.output);
        row::emit_units(&self.dag, outputs, &self.schedule, (units, target), None, when)
    }

    /// The kernel that makes the target neutral.
    pub(crate) fn start(&self, target: &Target) -> Result<Kernel, CodegenError> {
        let mut dag = self.dag.clone();
        let root = dag.constant(self.op.neutral(dag[self.output.root].dtype));
        let outputs = [Output { root, join: None, ..self.output.clone() }];
        let schedule = schedule::choose(&dag, &outputs, self.outer(), target);
        row::emit_units(&dag, &outputs, &schedule, (Units::WHOLE, target), None, &|_| Some(When::Soon))
    }

    /// The reductions of parts of the rows, and what is made of them, where rows are many and far away.
    pub(crate) fn parts(&self, buf: Buf, target: &Target) -> Option<Parts> {
        let (threads, rows) = (target.threads as i64, self.rows());
        let extent = self.dag.extent(rows);
        let far = self.dag.bytes(self.output.root) > (target.threads * target.l2_share_bytes) as f64;
        let apart = Some(PARTS * threads).filter(|count| threads > 1 && far && extent >= LEAST * count);
        // Each block has rows in groups, one addition for each group.
        let block = self.block(extent, ROWS, JOINS).map(|rows| (extent + rows - 1) / rows);
        let count = apart.max(block)?;
        let outputs = [Output { root: self.whole, join: None, ..self.output.clone() }];
        split_reduction::apply(&self.dag, &outputs, self.outer(), rows, count, buf)
    }

    /// The rows of a block of so many, of which so many are added at a time; `None`: they are one.
    fn block(&self, rows: i64, at_once: i64, least: i64) -> Option<i64> {
        let round = blocks::round(self.op, self.dag[self.output.root].dtype);
        Some(blocks::halfway(rows / at_once, least)? * at_once).filter(|_| round)
    }

    /// The targets that a task has for so many rows.
    pub(crate) fn targets(&self, rows: i64) -> i64 {
        self.block(rows, 1, blocks::TERMS).map_or(1, |block| (rows + block - 1) / block)
    }

    /// The kernel that joins so many targets, which lie one behind the other, into one.
    pub(crate) fn total(
        &self,
        (from, to): (Buf, Buf),
        count: i64,
        target: &Target,
    ) -> Result<Kernel, CodegenError> {
        let mut dag = self.dag.clone();
        let dtype = dag[self.output.root].dtype;
        let stride = self.bytes().map(|bytes| bytes / self.size());
        let each = dag.add_loop(count);
        let address = each.zip(stride).and_then(|(l, stride)| self.output.address.plus(&Lin::var(l), stride));
        let (Some(each), Some(address)) = (each, address) else {
            return Err(CodegenError::malformed("parts of a reduction that no address reaches"));
        };
        let body = dag.add(Node::Load { buf: from, address, guards: Vec::new() }, dtype);
        let node = Node::Reduce { op: self.op, loops: vec![each], body, field: self.field };
        let root = dag.add(node, dtype);
        let outputs = vec![Output { to, root, join: None, ..self.output.clone() }];
        let outer = self.outer();
        let schedule = schedule::choose(&dag, &outputs, outer, target);
        row::whole(dag, outputs, schedule, outer.iter().copied().collect(), None, target)
    }
}
