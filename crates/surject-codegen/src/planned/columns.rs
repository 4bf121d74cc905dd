//! Reductions down long columns.
//!
//! Walking down a column takes one piece of every row, and every row lies in another page. So rows are joined to sums in memory,
//! some at a time: what is kept there is then read and written once for all of them. Rows that come from far away lie far
//! apart, an eighth of all rows: `f32[65536,256]` takes a third of the time that eight neighbours take (Zen 4, one thread). The
//! expression says so: its reduction has a loop over places outside of one over the rows of a place, and what eight leave over is a
//! reduction by itself. The strategy of a machine knows it by that.
//!
//! That is worth it for rows of a few registers: `f32[96153,104]` takes a fifth to a quarter of the time that walking down
//! takes (Zen 3). But columns that stay near are walked down, by a task that goes on with what it read, and so are rows that
//! one vector holds.
//!
//! Threads that each take a piece of every row read slower than those that each take whole rows: what is far away is
//! cut into parts, each with a target of its own ([`Columns::parts`]; the same tensor, two threads: 2.4 times as fast).
//!
//! Sums of floats down very long columns are made in blocks ([`crate::expression::partial_sums`]), each with a target of its own.
//!
//! A task that takes some rows through several kernels (`fuse`) joins them one by one to a target of its own, or to several
//! for the same reason.

use crate::CodegenError;
use crate::Target;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::rewrite;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::planned::recipe::Recipe;
use crate::planned::rows;
use crate::schedule;
use crate::schedule::columns::{Columns, ROWS};
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
pub(crate) fn kernel(dag: &Dag, output: &Output, outer: &[LoopId], target: &Target) -> Option<Kernel> {
    let schedule = schedule::choose(dag, std::slice::from_ref(output), outer, target);
    let (dag_of_rows, output_of_rows) = in_places(dag, output, outer, target)?;
    let recipe = Columns::new(dag, output, outer, target).map(|c| Arc::new(Recipe::Columns(c)));
    Some(Kernel { recipe, ..rows::alone(dag_of_rows, vec![output_of_rows], &schedule) })
}

/// The reduction with a loop over the rows of a place, and inside of it one over places; what they leave over is one by itself.
fn in_places(dag: &Dag, output: &Output, outer: &[LoopId], target: &Target) -> Option<(Dag, Output)> {
    let Node::Reduce { op, loops, body, field } = dag[output.root].node.clone() else { return None };
    let &[rows] = &loops[..] else { return None };
    let (extent, dtype) = (dag.extent(rows), dag[output.root].dtype);
    if extent < 2 * ROWS {
        return None;
    }
    let last = outer.iter().copied().find(|&l| output.address.coeff(l).abs() == 1);
    let places = last.map_or(1, |last| places(dag, body, rows, last, target));
    let count = extent / places;
    let mut both = dag.clone();
    // The reduction over rows from a number on: so many, so far apart, of as many again.
    let some = |dag: &mut Dag, steps: &[(i64, i64)], first: i64| -> Option<NodeId> {
        let (mut number, mut loops) = (Lin::constant(first), Vec::new());
        for &(count, stride) in steps.iter().filter(|s| s.0 > 1) {
            loops.push(dag.add_loop(count)?);
            number = number.plus(&Lin::var(loops[loops.len() - 1]), stride)?;
        }
        let body = rewrite::substituted(dag, body, rows, &number)?;
        match loops.is_empty() {
            true => Some(body),
            false => Some(dag.add(Node::Reduce { op, loops, body, field }, dtype)),
        }
    };
    let mut root = some(&mut both, &[(count, 1), (places, count)], 0)?;
    if extent > count * places {
        let rest = some(&mut both, &[(extent - count * places, 1)], count * places)?;
        root = both.binary(op.binary()?, root, rest);
    }
    Some((both, Output { root, join: None, ..output.clone() }))
}

impl Columns {
    /// What a task joins to its target: a row. The loop over rows is the first.
    pub(crate) fn joined(&self) -> Pulled {
        let outer = std::iter::once(self.rows()).chain(self.outer().iter().copied()).collect();
        Pulled { dag: self.dag.clone(), outer, outputs: vec![self.output.clone()] }
    }

    /// What makes the target neutral; its first loop has one iteration.
    pub(crate) fn start(&self) -> Result<Pulled, CodegenError> {
        let mut dag = self.dag.clone();
        let one = dag.add_loop(1).ok_or_else(|| CodegenError::overflow("loops"))?;
        let root = dag.constant(self.op.neutral(dag[self.output.root].dtype));
        let outputs = vec![Output { root, join: None, ..self.output.clone() }];
        Ok(Pulled { dag, outer: std::iter::once(one).chain(self.outer().iter().copied()).collect(), outputs })
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
        Ok(rows::whole(dag, outputs, schedule, outer.iter().copied().collect()))
    }
}
