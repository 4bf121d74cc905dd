//! Which tiles a machine copies in boxes (TMA): those of loads whose tensor has a map that `cuTensorMapEncodeTiled` takes.
//! A condition that is not known to hold refuses.

use super::{Contraction, GROUP_TERMS};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::kernels::expression::Expression;
use surject_kernel::TensorMap;

/// A tensor as boxes of a side of a product are copied of it.
#[derive(Clone, Debug)]
pub(crate) struct SideMap {
    /// The loop along each dimension: that of neighbours, that of lines, and those in which a box has one element.
    pub(crate) loops: Vec<LoopId>,
    pub(crate) map: TensorMap,
}

/// The map of the left or the right value. Boxes have 64 neighbours; where these are terms, they have all rows or columns of a
/// tile, else all terms of it.
pub(crate) fn side_map(expression: &Expression, c: &Contraction, number: usize) -> Result<SideMap, String> {
    let (node, own) = [(c.parts.left, c.loops[0]), (c.parts.right, c.loops[1])][number];
    let (address, dtype) = plain(expression, node)?;
    // Several loops over rows are one dimension where the rows of all of them follow each other.
    let rows = if number == 0 { &c.rows[..] } else { &[] };
    let follow = |pair: &[LoopId]| {
        let next = address.coeff(pair[1]).checked_mul(expression.dag.extent(pair[1]));
        next == Some(address.coeff(pair[0])) || expression.dag.extent(pair[0]) == 1
    };
    if !rows.windows(2).all(follow) {
        return Err("rows of several loops that do not follow each other in memory".into());
    }
    let all_rows = rows.iter().try_fold(1i64, |all, &l| all.checked_mul(expression.dag.extent(l)));
    let all_rows = all_rows.ok_or("more rows than are counted")?;
    if address.offset != 0 {
        return Err("a tensor that is read from a later element on".into());
    }
    let by_terms = c.bring[number].by_terms;
    let (next, across) = if by_terms { (c.loops[2], own) } else { (own, c.loops[2]) };
    let mut loops = vec![next, across];
    let extent = |l: LoopId| if rows.contains(&l) { all_rows } else { expression.dag.extent(l) };
    let others =
        address.terms.iter().map(|t| t.0).filter(|l| *l != next && *l != across && !rows.contains(l));
    loops.extend(others.filter(|&l| extent(l) > 1));
    let lines = if by_terms { c.tiles.tile[number] } else { GROUP_TERMS };
    let mut sizes = vec![1; loops.len()];
    (sizes[0], sizes[1]) = (GROUP_TERMS, lines);
    let map = TensorMap {
        extents: loops.iter().map(|&l| extent(l)).collect(),
        strides: loops.iter().map(|&l| address.coeff(l)).collect(),
        sizes,
    };
    map.check(dtype)?;
    Ok(SideMap { loops, map })
}

/// The address and the type of a load of elements that all exist.
fn plain(
    expression: &Expression,
    node: NodeId,
) -> Result<(&crate::expression::address::Lin, surject_ir::DType), String> {
    match &expression.dag[node].node {
        Node::Load { address, guards, .. } if guards.is_empty() => Ok((address, expression.dag[node].dtype)),
        _ => Err("boxes are copied of tensors as they are, not of what is computed or guarded".into()),
    }
}
