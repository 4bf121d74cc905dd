//! A picture of an e-graph, as DOT text.

use crate::algebra::Graph;
use crate::lang::Node;
use crate::value::describe;
use egg::Language;
use std::fmt::Write;

/// Classes with more nodes than this in all are not drawn one by one; the text says so.
const MAX_NODES: usize = 5_000;

/// The e-graph as DOT text: a box a class, an ellipse a node; maps are written out in a node's label.
pub fn dot(egraph: &Graph) -> String {
    let mut text =
        String::from("digraph egraph {\n  compound=true\n  rankdir=BT\n  node [fontname=monospace]\n");
    let mut classes: Vec<_> = egraph.classes().filter(|c| c.data.field().is_some()).collect();
    classes.sort_by_key(|c| c.id);
    let total: usize = classes.iter().map(|c| c.nodes.len()).sum();
    if total > MAX_NODES {
        let _ = writeln!(text, "  note [label=\"{total} nodes: only the first classes are drawn\"]");
    }
    let mut drawn = 0;
    for class in &classes {
        if drawn > MAX_NODES {
            break;
        }
        let id = usize::from(class.id);
        let _ =
            writeln!(text, "  subgraph cluster_{id} {{\n    label=\"{id}: {}\"", describe(egraph, class.id));
        for (place, node) in class.nodes.iter().enumerate() {
            drawn += 1;
            let _ = writeln!(text, "    n{id}_{place} [label=\"{}\"]", escape(&label(egraph, node)));
        }
        text.push_str("  }\n");
        for (place, node) in class.nodes.iter().enumerate() {
            for child in node.fields() {
                let child = usize::from(egraph.find(*child));
                let _ = writeln!(text, "  n{child}_0 -> n{id}_{place} [ltail=cluster_{child}]");
            }
        }
    }
    text.push_str("}\n");
    text
}

/// A node with its map and operation written out.
pub fn label(egraph: &Graph, node: &Node) -> String {
    let op = |id| egraph[id].data.op().map_or_else(String::new, |o| o.to_string());
    let map = |id| egraph[id].data.map().map_or_else(String::new, |m| egraph.analysis.map(m).to_string());
    match node {
        Node::Read([m, _]) => format!("read {}", map(*m)),
        Node::Acc([o, m, _]) => format!("acc {} {}", op(*o), map(*m)),
        Node::Un([o, _]) | Node::Bin([o, ..]) => op(*o),
        leaf if leaf.children().is_empty() => leaf.to_string(),
        other => other.to_string(),
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
