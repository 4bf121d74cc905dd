//! Parts of tensors that are copied into memory of their own before the loops that read them: panels.
//!
//! What the loops inside of one read of a tensor is copied when an iteration of it begins, in the order in which it is read:
//! the lanes of vectors next to each other, or else what lies next to each other in the tensor. Elements that do not exist
//! have their fill there, so that the loops inside need no guards. Loops that move alike in the tensor, as those of a window and
//! of its elements do, are one in the panel: it has what windows have in common once.

use super::{Axis, AxisKind, Nest};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::expression::Expression;

/// The most bytes of all panels of a kernel, which are on the stack of a thread.
const MOST: i64 = 1 << 19;

/// A loop of a panel.
#[derive(Clone, Debug)]
pub(crate) struct PanelLoop {
    /// The loop of the expression; several where they move alike.
    pub(crate) of: Vec<LoopId>,
    /// How many of its iterations a panel has.
    pub(crate) span: i64,
    /// How many elements apart neighbours are in the panel.
    pub(crate) stride: i64,
}

/// A load that reads a panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) load: NodeId,
    /// The loop whose iterations begin with the copy.
    pub(crate) at: String,
    /// Its loops, outermost first.
    pub(crate) loops: Vec<PanelLoop>,
    pub(crate) elements: i64,
    /// How many elements are copied at once.
    pub(crate) lanes: i64,
}

/// The panels of the loads of a tensor, copied where an iteration of a loop over points begins.
pub(crate) fn panels(
    expression: &Expression,
    nests: &[Nest],
    tensor: &str,
    at: &str,
) -> Result<Vec<Panel>, String> {
    let points = &nests[0].1;
    let position = points.iter().position(|a| a.name == at);
    let position = position.ok_or_else(|| format!("`{at}` is no loop over points"))?;
    if !matches!(points[position].kind, AxisKind::Serial | AxisKind::Parallel(surject_kernel::Level::Task)) {
        return Err(format!("iterations of `{at}` do not begin one after the other, each with its copy"));
    }
    let dag = &expression.dag;
    let named = |n: &NodeId| match dag[*n].node {
        Node::Load { buf, .. } => expression.memory.get(&buf).is_some_and(|m| m.0.to_string() == tensor),
        _ => false,
    };
    let loads: Vec<NodeId> = expression.nodes().into_iter().filter(named).collect();
    if loads.is_empty() {
        return Err(format!("nothing of `{tensor}` is loaded"));
    }
    if expression
        .outputs
        .iter()
        .any(|o| expression.memory.get(&o.to).is_some_and(|m| m.0.to_string() == tensor))
    {
        return Err(format!("`{tensor}` is stored, and a copy of it would be old"));
    }
    let inside = &points[position + 1..];
    loads.into_iter().map(|load| panel(expression, nests, inside, load, at)).collect()
}

/// The panel of a load that the loops inside of one read.
fn panel(
    expression: &Expression,
    nests: &[Nest],
    inside: &[Axis],
    load: NodeId,
    at: &str,
) -> Result<Panel, String> {
    let dag = &expression.dag;
    let Node::Load { address, guards, .. } = &dag[load].node else { return Err("no load".into()) };
    let lanes = inside.last().filter(|a| a.kind == AxisKind::Lanes);
    // How far a loop moves in the tensor and in guards, where guards bound it.
    let moves = |l: LoopId| -> Vec<i64> {
        std::iter::once(address.coeff(l)).chain(guards.iter().map(|g| g.expr.coeff(l))).collect()
    };
    let bounded = |a: LoopId, b: LoopId| {
        guards.iter().any(|g| {
            let of = g.expr.loops();
            of.contains(a) && of.contains(b) && of.loops().count() == 2
        })
    };
    let mut loops: Vec<PanelLoop> = Vec::new();
    for of in dag[load].deps.loops() {
        let span = |axes: &[Axis]| axes.iter().filter(|a| a.of == of).map(|a| a.extent).product::<i64>();
        let in_points = nests[0].1.iter().any(|a| a.of == of);
        let reduced = nests[1..].iter().filter(|n| n.1.iter().any(|a| a.of == of));
        let reduced: Option<i64> = reduced.map(|n| span(&n.1)).max();
        let span = match (in_points, reduced) {
            (true, Some(_)) => {
                return Err(format!("`{}` is a loop over points and of a reduction", expression.name(of)));
            }
            (true, None) => {
                let parts = || inside.iter().filter(|a| a.of == of);
                if parts().map(|a| (a.extent - 1) * a.factor).sum::<i64>() + 1 != span(inside) {
                    let name = expression.name(of);
                    return Err(format!("the parts of `{name}` inside of `{at}` are no neighbours"));
                }
                span(inside)
            }
            (false, reduced) => reduced.unwrap_or(1),
        };
        let alike = loops.iter_mut().find(|l| {
            let is_lanes = lanes.is_some_and(|lanes| lanes.of == of || l.of.contains(&lanes.of));
            span > 1 && l.of.len() == 1 && !is_lanes && moves(l.of[0]) == moves(of) && bounded(l.of[0], of)
        });
        match alike {
            Some(l) => {
                l.span += span - 1;
                l.of.push(of);
            }
            None if span > 1 => loops.push(PanelLoop { of: vec![of], span, stride: 0 }),
            None => {}
        }
    }
    // What lies next to each other stands last.
    let key = |l: &PanelLoop| match lanes {
        Some(lanes) if l.of.contains(&lanes.of) => 0,
        _ => address.coeff(l.of[0]).unsigned_abs().max(1),
    };
    loops.sort_by_key(|l| std::cmp::Reverse(key(l)));
    let mut elements = 1i64;
    for l in loops.iter_mut().rev() {
        l.stride = elements;
        elements = elements.checked_mul(l.span).ok_or("a panel of too many elements")?;
    }
    let bytes = elements.saturating_mul(dag[load].dtype.size() as i64);
    if bytes > MOST {
        return Err(format!("a panel of {bytes} bytes; one has at most {MOST}"));
    }
    let widest = lanes.map_or(1, |l| l.extent);
    let at_once = loops.last().map_or(1, |l| {
        let divides = |&by: &i64| l.span % by == 0;
        [64, 32, 16, 8, 4, 2].into_iter().filter(|&by| by <= widest).find(divides).unwrap_or(1)
    });
    Ok(Panel { load, at: at.to_string(), loops, elements, lanes: at_once })
}
