//! Choices that are the same at every point of a kernel: `select(c, x, y)` where `c` depends on no loop. The kernel is
//! written twice, and a run takes one side: what the other one reads and computes is left alone.

use crate::code::{Block, Op};
use crate::expression::address::LoopSet;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::Emitter;
use crate::lower::row;
use crate::schedule::{self, Schedule};
use crate::{CodegenError, Target};

/// A condition that chooses for the whole kernel.
pub(crate) fn find(dag: &Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Option<NodeId> {
    if schedule.cycles < target.thresholds.unswitched_cycles {
        return None;
    }
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    dag.all_reachable(&roots).into_iter().find_map(|n| match dag[n].node {
        Node::Select(c, ..) => {
            let everywhere = dag[c].deps == LoopSet::default() && !matches!(dag[c].node, Node::Const(_));
            (everywhere && dag[n].deps != LoopSet::default()).then_some(c)
        }
        _ => None,
    })
}

/// Writes both sides of a kernel, each by `side`.
pub(crate) fn write(
    em: &mut Emitter<'_>,
    outputs: &[Output],
    schedule: &Schedule,
    condition: NodeId,
    target: &Target,
    side: impl Fn(&mut Emitter<'_>, &row::Row<'_>) -> Result<(), CodegenError>,
) -> Result<(), CodegenError> {
    let root = em.root();
    let chosen = em.value(condition, root)?.ssa;
    let mut sides = [Block::default(), Block::default()];
    for (holds, written) in [true, false].into_iter().zip(&mut sides) {
        let (dag, outputs) = decided(em.dag, outputs, condition, holds)?;
        let reductions = schedule::choose(&dag, &outputs, &schedule.order, target).reductions;
        let schedule = Schedule { reductions, ..schedule.clone() };
        let mut inner = em.inside(&dag);
        side(&mut inner, &row::Row { outputs: &outputs, schedule: &schedule })?;
        written.statements = em.close_inside(inner);
    }
    let [then, otherwise] = sides;
    em.run(root, Op::If { condition: chosen, then, otherwise });
    Ok(())
}

/// The kernel where a condition holds, or does not.
fn decided(
    dag: &Dag,
    outputs: &[Output],
    condition: NodeId,
    holds: bool,
) -> Result<(Dag, Vec<Output>), CodegenError> {
    let (mut dag, mut outputs) = (dag.clone(), outputs.to_vec());
    loop {
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        let choice = dag.all_reachable(&roots).into_iter().find_map(|n| match dag[n].node {
            Node::Select(c, x, y) if c == condition => Some((n, if holds { x } else { y })),
            _ => None,
        });
        let Some((choice, value)) = choice else { return Ok((dag, outputs)) };
        for output in &mut outputs {
            let root = dag.replaced(output.root, choice, value);
            output.root = root.ok_or_else(|| CodegenError::overflow("an address"))?;
        }
    }
}
