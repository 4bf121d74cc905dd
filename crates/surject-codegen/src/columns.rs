//! Reductions down long columns.
//!
//! Walking down a column takes one piece of every row, and every row lies in another page. So rows are joined to the
//! target in memory order, some at a time: what is kept in the target is then read and written once for all of them.
//! The rows that are left over are the first value of the target.

use crate::address::{Lin, LoopId, LoopSet};
use crate::dag::{Dag, Node, NodeId};
use crate::row::{self, Kernel};
use crate::schedule::{self, Output, Schedule};
use crate::stash;
use crate::{CodegenError, Target};
use surject_ir::{DType, FieldId};

/// Rows that are joined at a time.
const ROWS: i64 = 8;

/// Finds a plain reduction down long columns that an output is made of, element by element.
pub fn find(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    schedule: &Schedule,
) -> Option<(NodeId, FieldId)> {
    const APART: i64 = 256;
    const WORTH: f64 = 65_536.0;
    let ([output], Some(&last)) = (outputs, schedule.order.last()) else { return None };
    let over: LoopSet = outer.iter().copied().filter(|&l| dag.extent(l) > 1).collect();
    if schedule.lanes == 1 || output.join.is_some() {
        return None;
    }
    dag.reachable(&[output.root], false).into_iter().find_map(|n| {
        let Node::Reduce { loops, body, field, .. } = &dag[n].node else { return None };
        let dtype = dag[n].dtype;
        let exact = dtype.is_int() || matches!(dtype, DType::F32 | DType::F64);
        let points: f64 = loops.iter().chain(&schedule.order).map(|&l| dag.extent(l) as f64).product();
        let inside = dag.reachable(&[*body], true);
        let strided = inside.iter().any(|&n| match &dag[n].node {
            Node::Load { address, .. } => {
                address.coeff(last) == 1 && loops.iter().all(|&l| address.coeff(l).abs() >= APART)
            }
            _ => false,
        });
        // A few rows are read side by side anyway.
        let rows: i64 = loops.iter().map(|&l| dag.extent(l)).product();
        let plain = rows > ROWS && inside.iter().all(|&n| !matches!(dag[n].node, Node::Reduce { .. }));
        let all = dag[n].deps == over;
        (exact && strided && plain && all && points >= WORTH).then_some((n, *field))
    })
}

/// The kernels of an output that is such a reduction, if its rows are one loop and many.
pub fn kernels(
    dag: &Dag,
    output: &Output,
    outer: &[LoopId],
    target: &Target,
) -> Result<Option<Vec<Kernel>>, CodegenError> {
    let Node::Reduce { op, loops, body, field } = dag[output.root].node.clone() else { return Ok(None) };
    let &[l] = &loops[..] else { return Ok(None) };
    let (extent, dtype) = (dag.extent(l), dag[output.root].dtype);
    if extent < 4 * ROWS {
        return Ok(None);
    }
    let (main, rest) = (extent / ROWS, extent % ROWS);
    // The reduction over so many rows from `number` on, which is counted by a new loop.
    let some = |dag: &mut Dag, count: i64, first: &Lin| -> Option<NodeId> {
        let r = dag.add_loop(count)?;
        let number = first.plus(&Lin::var(r), 1)?;
        let body = stash::substituted(dag, body, l, &number)?;
        Some(dag.add(Node::Reduce { op, loops: vec![r], body, field }, dtype))
    };
    let mut first = dag.clone();
    let start = if rest == 0 {
        Some(first.constant(op.neutral(dtype)))
    } else {
        some(&mut first, rest, &Lin::constant(main * ROWS))
    };
    let mut then = dag.clone();
    then.extents[l.0 as usize] = main;
    let rows = Lin::var(l).times(ROWS).and_then(|lin| some(&mut then, ROWS, &lin));
    let (Some(start), Some(rows)) = (start, rows) else { return Ok(None) };
    let free: LoopSet = outer.iter().copied().collect();
    let mut all = outer.to_vec();
    all.push(l);
    let mut kernels = Vec::new();
    for (dag, root, loops, join) in [(first, start, outer.to_vec(), None), (then, rows, all, Some(op))] {
        let outputs = [Output { root, join, ..output.clone() }];
        let mut schedule = schedule::choose(&dag, &outputs, &loops, target);
        // Loops that tasks may be cut along stand outside; the loop in lanes stays last.
        if schedule.lanes == 1 {
            schedule.order.sort_by_key(|&l| !free.contains(l));
        } else if let Some((_, outside)) = schedule.order.split_last_mut() {
            outside.sort_by_key(|&l| !free.contains(l));
        }
        kernels.push(row::emit(&dag, &outputs, &schedule, target, free, None)?);
    }
    Ok(Some(kernels))
}
