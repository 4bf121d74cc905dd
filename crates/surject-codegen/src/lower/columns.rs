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
use crate::lower::kernel::{self, Kernel};
use crate::lower::recipe::Recipe;
use crate::lower::row::{self, Row};
use crate::lower::rows;
use crate::schedule::columns::{Columns, ROWS};
use crate::schedule::prefetch::{self, PrefetchWhen, When};
use crate::schedule::units::{Grain, Share, Units, units};
use crate::schedule::{self, Schedule};
use crate::{CodegenError, Target};
use std::sync::Arc;

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
        for &(count, stride) in steps {
            loops.push(dag.add_loop(count)?);
            number = number.plus(&Lin::var(loops[loops.len() - 1]), stride)?;
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

    let units = units(&both, &schedule.order, &schedule, target, (free, &Grain::rows(target)));
    let mut em = Emitter::new(&both);
    em.tables = schedule.tables;
    let (written, roots) = (vec![output.to], [first[0].root, then[0].root]);
    (em.prefetches, em.prefetches_next_row) = (target.prefetches, target.prefetches_next_row());
    em.far = prefetch::far(&both, (&roots, false), target, &|_| Some(When::Soon));
    let buffers = kernel::bind_pointers(&mut em, &written, &roots);
    for (outputs, schedule) in [(&first, &start), (&then, &schedule)] {
        Row { outputs, schedule }.all(&mut em, &units)?;
    }
    let summary = row::summary(&both, &roots, &schedule, units.tasks);
    let kernel = kernel::finish(em, buffers, units.tasks, written, summary)?;
    let recipe = Columns::new(dag, output, outer, target).map(|c| Arc::new(Recipe::Columns(c)));
    Ok(Some(Kernel { cycles: schedule.cycles, recipe, ..kernel }))
}

impl Columns {
    /// The kernel that joins the rows from `%low` to `%high` to the target.
    pub(crate) fn range(&self, target: &Target, when: PrefetchWhen<'_>) -> Result<Kernel, CodegenError> {
        let rows = self.rows();
        let total = self.dag.extent(rows);
        let units = Units { prefix: vec![rows], total, share: Share::Range, ..Units::WHOLE };
        let outputs = std::slice::from_ref(&self.output);
        rows::emit_units(&self.dag, outputs, &self.schedule, (units, target), None, when)
    }

    /// The kernel that makes the target neutral.
    pub(crate) fn start(&self, target: &Target) -> Result<Kernel, CodegenError> {
        let mut dag = self.dag.clone();
        let root = dag.constant(self.op.neutral(dag[self.output.root].dtype));
        let outputs = [Output { root, join: None, ..self.output.clone() }];
        let schedule = schedule::choose(&dag, &outputs, self.outer(), target);
        rows::emit_units(&dag, &outputs, &schedule, (Units::WHOLE, target), None, &|_| Some(When::Soon))
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
        rows::whole(dag, outputs, schedule, outer.iter().copied().collect(), None, target)
    }
}
