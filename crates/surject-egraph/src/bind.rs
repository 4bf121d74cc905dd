//! Computations on fields that bindings of rules ask for: the field behind a read, and a field without the axes it
//! does not depend on.

use crate::algebra::{Graph, MapId};
use crate::build::{bin, constant, field, index, read, sel, un};
use crate::lang::{Node, Op};
use crate::provenance::{use_class, use_constant};
use egg::Id;
use surject_index::{Affine, Component, IndexMap, Space};

/// How deep `unread` looks through pointwise operations.
pub const MAX_DEPTH: usize = 8;

/// The class `h` with `read map h = g`; `None` when `g` is not seen to be one. The map must be total and
/// surjective, so that there is only one.
pub fn unread(egraph: &mut Graph, g: Id, map: MapId) -> Option<Id> {
    let m = egraph.analysis.map(map).clone();
    let g_space = field(egraph, g)?.space;
    if !m.is_total() || egraph.analysis.space(g_space) != m.domain() || !m.surjective().is_yes() {
        return None;
    }
    unread_at(egraph, g, &m, MAX_DEPTH, &mut Vec::new())
}

fn unread_at(egraph: &mut Graph, g: Id, m: &IndexMap, depth: usize, visiting: &mut Vec<Id>) -> Option<Id> {
    let g = egraph.find(g);
    let data = field(egraph, g)?.clone();
    let space = egraph.analysis.space_id(m.codomain());
    if let Some(value) = data.constant {
        use_constant(egraph, g);
        return Some(constant(egraph, space, value));
    }
    if m.is_identity() {
        return Some(g);
    }
    // What separates points of one fibre is not read through the map: `deps` says so at once for projections.
    if m.free_axes().iter().any(|&a| data.deps.contains(a)) || depth == 0 || visiting.contains(&g) {
        return None;
    }
    visiting.push(g);
    let nodes = egraph[g].nodes.clone();
    // That the class depends on few axes may be known by any of its nodes.
    use_class(egraph, g);
    let found = nodes.iter().find_map(|node| match node {
        Node::Read([k, y]) => {
            let k = egraph.analysis.map(egraph[*k].data.map()?).clone();
            let factor = k.through(m)?;
            read(egraph, &factor, *y)
        }
        Node::Input(_) => {
            let factor = IndexMap::identity(m.domain()).through(m)?;
            read(egraph, &factor, g)
        }
        Node::Index(_, axis, dtype) => {
            let is_axis = |c: &Affine| c.component() == Component::Iter(*axis as usize);
            let place = m.components().iter().position(is_axis)?;
            Some(index(egraph, space, place, *dtype))
        }
        Node::Un([o, x]) => {
            let op = egraph[*o].data.op()?;
            let x = unread_at(egraph, *x, m, depth - 1, visiting)?;
            un(egraph, op, x)
        }
        Node::Bin([o, x, y]) => {
            let Op::Binary(op) = egraph[*o].data.op()? else { return None };
            let x = unread_at(egraph, *x, m, depth - 1, visiting)?;
            let y = unread_at(egraph, *y, m, depth - 1, visiting)?;
            bin(egraph, op, x, y)
        }
        Node::Sel([c, t, f]) => {
            let c = unread_at(egraph, *c, m, depth - 1, visiting)?;
            let t = unread_at(egraph, *t, m, depth - 1, visiting)?;
            let f = unread_at(egraph, *f, m, depth - 1, visiting)?;
            sel(egraph, c, t, f)
        }
        _ => None,
    });
    visiting.pop();
    found
}

/// The embedding of the axes of a space that are kept: the others stand at 0. And the number of points left out.
fn keep(space: &Space, kept: &[usize]) -> Option<(IndexMap, u64)> {
    let rank = kept.len();
    let component = |axis: usize| match kept.iter().position(|&k| k == axis) {
        Some(place) => Affine::axis(rank, place),
        None => Affine::fixed(rank, 0),
    };
    let components = (0..space.rank()).map(component).collect();
    let mut count = 1u64;
    for axis in (0..space.rank()).filter(|a| !kept.contains(a)) {
        count = count.checked_mul(space.extent(axis).as_const()?)?;
    }
    let map = IndexMap::total(space.select(kept), space.clone(), components).ok()?;
    Some((map, count))
}

/// `map` and `x` without the axes that neither uses, and the number of points of those axes (at least 2).
pub fn drop_axes(egraph: &mut Graph, map: MapId, x: Id) -> Option<(MapId, Id, u64)> {
    let m = egraph.analysis.map(map).clone();
    let deps = field(egraph, x)?.deps;
    let used = |a: usize| deps.contains(a) || m.components().iter().any(|c| c.coeffs[a] != 0);
    let kept: Vec<usize> = (0..m.domain().rank()).filter(|&a| used(a)).collect();
    let (embed, count) = keep(m.domain(), &kept)?;
    if count < 2 {
        return None;
    }
    // That the field depends on few axes may be known by any node of its class.
    use_class(egraph, x);
    let map = egraph.analysis.map_id(&embed.then(&m).ok()?);
    let y = read(egraph, &embed, x)?;
    Some((map, y, count))
}
