//! What is left to do with the sum of each row.
//!
//! A reduction along rows is done in the lanes of a row, and what its result goes through, an exponential or a root, one
//! element at a time. Stored first, the results of all rows lie side by side, and that is done in lanes as well.

use crate::Target;
use crate::expression::address::LoopId;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::refused::{Fit, Refused, need};
use crate::schedule::{self, RowSchedule, node_cost};

/// Cycles of scalar code that storing a result and loading it are worth, and those of a kernel more.
const MOVED: f64 = 2.0;

const START: f64 = 200.0;

/// The least share of the whole kernel that is saved where its lanes are those of several rows;
/// [`crate::Thresholds::epilogue_share`] where it has none.
const SHARE: f64 = 0.04;

/// The reductions that are better stored first, each before those that it needs itself.
pub fn find(
    dag: &Dag,
    outputs: &[Output],
    outer: &[LoopId],
    schedule: &RowSchedule,
    target: &Target,
) -> Fit<Vec<NodeId>> {
    let [output] = outputs else { return Err(Refused("there are several results")) };
    need(output.join.is_none(), "it accumulates into its target")?;
    need(schedule.is_plain(), "blocks are transposed, or windows run in step")?;
    let direct = dag.reachable(&[output.root]);
    let is_sum = |&n: &NodeId| matches!(dag[n].node, Node::Reduce { .. });
    let mut sums: Vec<NodeId> = direct.iter().copied().filter(is_sum).collect();
    sums.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
    let every = |&n: &NodeId| outer.iter().all(|&l| dag.extent(l) == 1 || dag[n].deps.contains(l));
    let points = dag.points(outer.iter().copied().collect());
    let lanes = (target.vector_bytes / Elem::of(dag[output.root].dtype).size()) as f64;
    need(!sums.is_empty(), "there is no reduction")?;
    need(!sums.contains(&output.root), "nothing is computed from the sums")?;
    need(sums.iter().all(every), "several results have one sum")?;
    need(points >= lanes, "there are fewer results than lanes")?;
    let work: f64 = direct.iter().filter(|n| !sums.contains(n)).map(|&n| node_cost(dag, n)).sum();
    let moved = MOVED * sums.len() as f64;
    let pays = if schedule.lanes > 1 {
        // The lanes are those of several rows already: what they sum lies apart.
        let to = |&root: &NodeId| Output { root, ..output.clone() };
        let first = schedule::choose(dag, &sums.iter().map(to).collect::<Vec<_>>(), outer, target);
        let separate = first.cycles + points * (work + moved) / lanes + START;
        first.lanes <= 1 && schedule.cycles - separate > SHARE * schedule.cycles
    } else {
        let saved = points * (work * (1.0 - 1.0 / lanes) - moved) - START;
        work > 0.0 && saved > target.thresholds.epilogue_share * schedule.cycles
    };
    need(pays, "what is computed from the sums costs too little to store them")?;
    Ok(sums)
}
