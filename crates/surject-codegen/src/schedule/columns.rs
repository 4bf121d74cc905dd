//! Which reductions go down long columns row by row (`lower/columns.rs` says how), and in which parts.

use crate::Target;
use crate::expression::address::{Interval, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::partial_sums;
use crate::machine::elem::Elem;
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::split_reduction::{self, Parts};
use crate::schedule::written::LINE;
use crate::schedule::{self, RowSchedule};
use surject_ir::{AccOp, DType, FieldId};

/// Rows that are joined at a time.
pub(crate) const ROWS: i64 = 8;

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
    schedule: &RowSchedule,
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

/// A reduction of rows, one row at a time.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The expression.
    pub(crate) dag: Dag,
    /// What is joined to the target for every row.
    pub(crate) output: Output,
    /// The reduction of all rows.
    pub(crate) whole: NodeId,
    /// How: the loop over rows is the first.
    pub(crate) schedule: RowSchedule,
    /// The reduction.
    pub(crate) op: AccOp,
    pub(crate) field: FieldId,
}

impl Columns {
    /// A target is small beside the cache of a thread, so that it stays there while rows go by.
    pub(crate) fn new(dag: &Dag, output: &Output, outer: &[LoopId], target: &Target) -> Option<Columns> {
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

    /// The type of an element.
    pub(crate) fn dtype(&self) -> DType {
        self.dag[self.output.root].dtype
    }

    /// The bytes of an element.
    pub(crate) fn size(&self) -> i64 {
        Elem::in_memory(self.dag[self.output.root].dtype).size() as i64
    }

    /// The bytes of a target, whole lines.
    pub(crate) fn bytes(&self) -> Option<i64> {
        let Interval { low, high } = self.output.address.range(&self.dag.extents)?;
        let bytes = high.checked_add(1)?.checked_mul(self.size())?;
        (low >= 0).then(|| (bytes + LINE - 1) / LINE * LINE)
    }

    /// The reductions of parts of the rows, and what is made of them, where rows are many and far away.
    pub(crate) fn parts(&self, buf: Buf, target: &Target) -> Option<Parts> {
        let (threads, rows) = (target.threads as i64, self.rows());
        let extent = self.dag.extent(rows);
        let far = self.dag.bytes(self.output.root) > (target.threads * target.l2_share_bytes) as f64;
        let by_threads = Some(PARTS * threads).filter(|count| threads > 1 && far && extent >= LEAST * count);
        // Each block has rows in groups, one addition for each group.
        let block = self.block(extent, ROWS, JOINS).map(|rows| (extent + rows - 1) / rows);
        let count = by_threads.max(block)?;
        let outputs = [Output { root: self.whole, join: None, ..self.output.clone() }];
        split_reduction::apply(&self.dag, &outputs, self.outer(), rows, count, buf)
    }

    /// The rows of a block of so many, of which so many are added at a time; `None`: they are one.
    fn block(&self, rows: i64, at_once: i64, least: i64) -> Option<i64> {
        let round = partial_sums::round(self.op, self.dag[self.output.root].dtype);
        Some(partial_sums::halfway(rows / at_once, least)? * at_once).filter(|_| round)
    }

    /// The targets that a task has for so many rows.
    pub(crate) fn targets(&self, rows: i64) -> i64 {
        self.block(rows, 1, partial_sums::TERMS).map_or(1, |block| (rows + block - 1) / block)
    }
}
