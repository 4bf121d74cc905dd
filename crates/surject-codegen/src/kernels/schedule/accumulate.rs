//! Reductions whose terms are taken in blocks: a block is joined to the results of many points before the next one is
//! looked at, and what is joined so far is in memory meanwhile.
//!
//! So what a block reads is read once, or stays near by, for all points: the rows of a large matrix in their order in memory,
//! or as much of an image as a cache has room for. Without it each point, or each tile of points, goes through all terms.

use super::{Axis, AxisKind, Nest};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::expression::{Expression, joined_in};
use crate::kernels::fault::Fault;
use surject_ir::DType;
use surject_kernel::Level;

/// The most bytes of the sums of a reduction loop, which are on the stack of a thread.
const MOST: i64 = 1 << 19;

/// Reductions whose blocks are joined to what is in memory.
#[derive(Clone, Debug)]
pub(crate) struct Accumulation {
    /// The loop over points whose iterations begin with it.
    pub(crate) at: String,
    /// The loops over the blocks, outermost first: they run outside of the loops inside of that one.
    pub(crate) blocks: Vec<Axis>,
    pub(crate) sums: Vec<Sums>,
}

/// What is in memory of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) reduction: NodeId,
    pub(crate) dtype: DType,
    /// The loops over points: how many of their iterations it has, and how many elements apart neighbours are.
    pub(crate) loops: Vec<(LoopId, i64)>,
    pub(crate) elements: i64,
    /// How many elements are next to each other in a vector.
    pub(crate) lanes: i64,
}

impl Accumulation {
    /// Is a loop of this name one over blocks, or over points inside of that where it begins?
    pub(crate) fn has_inside(&self, nests: &[Nest], name: &str) -> bool {
        let points = &nests[0].1;
        let position = |name: &str| points.iter().position(|a| a.name == name);
        let inside = position(name).zip(position(&self.at)).is_some_and(|(inner, at)| inner > at);
        inside || self.blocks.iter().any(|a| a.name == name)
    }

    /// The loops of a reduction that run inside of a loop over blocks of this name, or of all.
    pub(crate) fn inside<'a>(&self, reduction: NodeId, axes: &'a [Axis], name: &str) -> &'a [Axis] {
        let is_of = self.sums.iter().any(|s| s.reduction == reduction);
        let outer = self.blocks.iter().position(|a| a.name == name).map_or(self.blocks.len(), |at| at + 1);
        if is_of { &axes[outer..] } else { axes }
    }
}

/// The reductions over a loop, whose blocks run when an iteration of a loop over points begins.
pub(crate) fn accumulation(
    expression: &Expression,
    nests: &[Nest],
    outer: &str,
    at: &str,
) -> Result<Accumulation, Fault> {
    let (points, dag) = (&nests[0].1, &expression.dag);
    let position = points.iter().position(|a| a.name == at);
    let position = position.ok_or_else(|| Fault::of(at, format!("`{at}` is no loop over points")))?;
    if !matches!(points[position].kind, AxisKind::Serial | AxisKind::Parallel(Level::Task)) {
        return Err(Fault::of(
            at,
            format!("iterations of `{at}` do not begin one after the other, each with its sums"),
        ));
    }
    let of_gpu = |a: &&Axis| matches!(a.kind, AxisKind::Parallel(level) if level != Level::Task);
    if let Some(shared) = nests.iter().flat_map(|n| &n.1).find(of_gpu) {
        return Err(Fault::of(
            &shared.name,
            format!("agents of a GPU share `{}`, and only tasks have sums in memory", shared.name),
        ));
    }
    let mut blocks: Option<&[Axis]> = None;
    let mut sums = Vec::new();
    let inside = &points[position + 1..];
    for (reduction, axes) in nests {
        let found = axes.iter().position(|a| a.name == outer);
        let Some((reduction, last)) = reduction.zip(found) else { continue };
        let own = &axes[..=last];
        if axes.iter().any(|a| a.kind == AxisKind::Lanes) || own.iter().any(|a| a.kind != AxisKind::Serial) {
            return Err(Fault::of(
                outer,
                format!("the loops of the reduction over `{outer}` run one after the other, without lanes"),
            ));
        }
        let alike = |blocks: &[Axis]| blocks.iter().map(|a| &a.name).eq(own.iter().map(|a| &a.name));
        if !blocks.is_none_or(alike) {
            return Err(Fault::of(outer, format!("reductions over `{outer}` have other loops around it")));
        }
        blocks = Some(own);
        let is_inside = |n: &NodeId| match dag[*n].node {
            Node::Reduce { body, .. } => dag.all_reachable(&[body]).contains(&reduction),
            _ => false,
        };
        let Node::Reduce { body, .. } = dag[reduction].node else { return Err("no reduction".into()) };
        let has_inside =
            dag.all_reachable(&[body]).iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. }));
        if has_inside || expression.nodes().iter().any(is_inside) {
            return Err(Fault::of(
                outer,
                format!("the reduction over `{outer}` has another one inside, or is inside of one"),
            ));
        }
        sums.push(in_memory(expression, inside, reduction, (outer, at))?);
    }
    let blocks =
        blocks.ok_or_else(|| Fault::of(outer, format!("`{outer}` is no loop of a reduction")))?.to_vec();
    let bytes = sums.iter().map(|s| s.elements.saturating_mul(s.dtype.size() as i64));
    let bytes = bytes.fold(0i64, i64::saturating_add);
    if bytes > MOST {
        return Err(format!("sums of {bytes} bytes; a kernel has at most {MOST}").into());
    }
    Ok(Accumulation { at: at.to_string(), blocks, sums })
}

/// The memory of a reduction for all points inside of a loop.
fn in_memory(
    expression: &Expression,
    inside: &[Axis],
    reduction: NodeId,
    (outer, at): (&str, &str),
) -> Result<Sums, Fault> {
    let data = &expression.dag[reduction];
    let Node::Reduce { op, .. } = data.node else { return Err("no reduction".into()) };
    let lanes = inside.last().filter(|a| a.kind == AxisKind::Lanes);
    let mut spans: Vec<(LoopId, i64)> = Vec::new();
    for axis in inside.iter().filter(|a| a.extent > 1) {
        if spans.iter().any(|s| s.0 == axis.of) {
            continue;
        }
        let name = expression.name(axis.of);
        if !data.deps.contains(axis.of) {
            return Err(Fault::of(
                outer,
                format!("the reduction over `{outer}` does not depend on `{name}` inside of `{at}`"),
            ));
        }
        let parts = || inside.iter().filter(|a| a.of == axis.of);
        let span = parts().map(|a| a.extent).try_fold(1i64, i64::checked_mul).ok_or("too many sums")?;
        if parts().map(|a| (a.extent - 1) * a.factor).sum::<i64>() + 1 != span {
            return Err(Fault::of(
                &name,
                format!("the parts of `{name}` inside of `{at}` are no neighbours"),
            ));
        }
        spans.push((axis.of, span));
    }
    // Lanes stand last.
    spans.sort_by_key(|s| lanes.is_some_and(|l| l.of == s.0));
    let mut elements = 1i64;
    let mut loops = Vec::new();
    for (of, span) in spans.into_iter().rev() {
        loops.push((of, elements));
        elements = elements.checked_mul(span).ok_or("too many sums")?;
    }
    let dtype = joined_in(data.dtype, op);
    Ok(Sums { reduction, dtype, loops, elements, lanes: lanes.map_or(1, |l| l.extent) })
}
