//! The expression graph on petgraph, and its drawing.

use crate::graph::{Graph, NodeId, NodeKind, StepId};
use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;
use std::collections::HashMap;

/// How a tensor takes part in the computation of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The step it takes part in.
    pub step: StepId,
    /// Its place among the operands, from one.
    pub operand: usize,
}

impl Graph {
    /// The tensors, with an edge from every operand to the result of each step. Gradients are left out: their edges are
    /// those of the graph, turned around. Assignments make cycles where a tensor is written from itself.
    pub fn petgraph(&self) -> DiGraph<NodeId, Use> {
        let data = self.0.borrow();
        let mut graph = DiGraph::new();
        let mut indices = HashMap::new();
        for (number, node) in data.nodes.iter().enumerate() {
            if !matches!(node.kind, NodeKind::Gradient(_) | NodeKind::Local(_)) {
                let id = NodeId(number as u32);
                indices.insert(id, graph.add_node(id));
            }
        }
        for (number, step) in data.steps.iter().enumerate() {
            let Some(&to) = indices.get(&step.result) else { continue };
            for (k, operand) in step.operands.iter().enumerate() {
                if let Some(&from) = indices.get(operand) {
                    graph.add_edge(from, to, Use { step: StepId(number as u32), operand: k + 1 });
                }
            }
        }
        graph
    }

    /// The graph in the DOT language: tensors with their shapes as far as they are known, edges with operators.
    pub fn dot(&self) -> String {
        let graph = self.petgraph();
        let data = self.0.borrow();
        let edge = |_: &DiGraph<NodeId, Use>, e: petgraph::graph::EdgeReference<'_, Use>| {
            let Use { step, operand } = e.weight();
            let step = &data.steps[step.0 as usize];
            let place = if step.operands.len() > 1 { format!(" {operand}") } else { String::new() };
            format!("label = {:?}", format!("{}{place}", step.operator.name))
        };
        let node = |_: &DiGraph<NodeId, Use>, (_, id): (petgraph::graph::NodeIndex, &NodeId)| {
            let node = &data.nodes[id.0 as usize];
            let shape = data.solver.ground_shape(&node.shape).map(|s| s.to_string());
            let label = match shape {
                Some(shape) if !shape.is_empty() => format!("{}\n{shape}", node.label),
                _ => node.label.clone(),
            };
            let look = match node.kind {
                NodeKind::Parameter { .. } => "box, style = filled, fillcolor = lightgoldenrod1",
                NodeKind::Input | NodeKind::Data(_) => "box, style = filled, fillcolor = lightblue",
                NodeKind::Result(_) => "ellipse",
                _ => "box",
            };
            format!("label = {label:?}, shape = {look}")
        };
        let config = [Config::EdgeNoLabel, Config::NodeNoLabel];
        // Weights are written by the two functions, so their own form does not show.
        format!("{:?}", Dot::with_attr_getters(&graph, &config, &edge, &node))
    }
}
