//! Constructors of nodes: typed, and in a normal form that spares the laws work.
//!
//! `read` composes with the reads below it and folds constants and indices; `acc` drops unit axes from its loop
//! space and puts output axes first, in the order of the output, so that the two sides of a rule meet. Each keeps
//! the order of the terms of every sum. `None` means that the node would be ill-typed.

use crate::algebra::{Algebra, FieldData, Graph, MapId, SpaceId};
use crate::lang::{Node, Op};
use crate::provenance::{use_class, use_constant, use_node};
use egg::Id;
use surject_index::{Affine, Component, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, Scalar};

/// The data of a class that is a field.
pub fn field(egraph: &Graph, id: Id) -> Option<&FieldData> {
    egraph[id].data.field()
}

/// The space of a class that is a field.
pub fn space_of(egraph: &Graph, id: Id) -> Option<&Space> {
    field(egraph, id).map(|f| egraph.analysis.space(f.space))
}

fn add(egraph: &mut Graph, node: Node) -> Option<Id> {
    if let Some(known) = egraph.lookup(node.clone()) {
        use_node(egraph, &node, known);
        return Some(known);
    }
    Algebra::data_of(egraph, &node)?;
    Some(egraph.add(node))
}

/// The leaf of a map.
pub fn map_leaf(egraph: &mut Graph, map: MapId) -> Id {
    egraph.add(Node::Map(map))
}

/// The leaf of a map that is not interned yet.
pub fn new_map(egraph: &mut Graph, map: &IndexMap) -> (MapId, Id) {
    let id = egraph.analysis.map_id(map);
    (id, egraph.add(Node::Map(id)))
}

/// The leaf of an operation.
pub fn op_leaf(egraph: &mut Graph, op: Op) -> Id {
    egraph.add(Node::Op(op))
}

/// One value everywhere.
pub fn constant(egraph: &mut Graph, space: SpaceId, value: Scalar) -> Id {
    let node = Node::Const(space, value.dtype(), value.bits());
    if let Some(known) = egraph.lookup(node.clone()) {
        use_node(egraph, &node, known);
        return known;
    }
    egraph.add(node)
}

/// The index of an axis as a value.
pub fn index(egraph: &mut Graph, space: SpaceId, axis: usize, dtype: DType) -> Id {
    if egraph.analysis.space(space).extent(axis).as_const() == Some(1) {
        return constant(egraph, space, Scalar::zero(dtype));
    }
    egraph.add(Node::Index(space, axis as u32, dtype))
}

/// A unary operation.
pub fn un(egraph: &mut Graph, op: Op, x: Id) -> Option<Id> {
    let op = op_leaf(egraph, op);
    add(egraph, Node::Un([op, x]))
}

/// A binary operation.
pub fn bin(egraph: &mut Graph, op: BinaryOp, x: Id, y: Id) -> Option<Id> {
    let op = op_leaf(egraph, Op::Binary(op));
    add(egraph, Node::Bin([op, x, y]))
}

/// A choice.
pub fn sel(egraph: &mut Graph, cond: Id, on_true: Id, on_false: Id) -> Option<Id> {
    add(egraph, Node::Sel([cond, on_true, on_false]))
}

/// `read map x`.
pub fn read(egraph: &mut Graph, map: &IndexMap, x: Id) -> Option<Id> {
    let (id, _) = new_map(egraph, map);
    read_id(egraph, id, x)
}

/// `read map x` of an interned map.
pub fn read_id(egraph: &mut Graph, mut map: MapId, mut x: Id) -> Option<Id> {
    let codomain = space_of(egraph, x)?;
    if egraph.analysis.map(map).codomain() != codomain {
        return None;
    }
    if egraph.analysis.raw {
        let leaf = map_leaf(egraph, map);
        return add(egraph, Node::Read([leaf, x]));
    }
    // Two classes that are reads of each other would be followed for ever without the visited set.
    let mut visited = vec![egraph.find(x)];
    loop {
        if egraph.analysis.map(map).is_identity() {
            return Some(x);
        }
        if let Some(folded) = read_leaf(egraph, map, x) {
            return Some(folded);
        }
        let reads: Vec<(Id, Id, Node)> = egraph[x]
            .nodes
            .iter()
            .filter_map(|n| match n {
                Node::Read([m, y]) => Some((*m, egraph.find(*y), n.clone())),
                _ => None,
            })
            .filter(|(_, y, _)| !visited.contains(y))
            .collect();
        let step = reads.into_iter().find_map(|(m, y, node)| {
            let inner = egraph[m].data.map()?;
            Some((egraph.analysis.compose(map, inner)?, y, node))
        });
        let Some((composite, y, node)) = step else { break };
        use_node(egraph, &node, x);
        (map, x) = (composite, y);
        visited.push(y);
    }
    let leaf = map_leaf(egraph, map);
    add(egraph, Node::Read([leaf, x]))
}

/// A read of a constant, or of an index through a total map.
fn read_leaf(egraph: &mut Graph, map: MapId, x: Id) -> Option<Id> {
    let data = field(egraph, x)?.clone();
    let m = egraph.analysis.map(map).clone();
    if let Some(value) = data.constant {
        if m.fill().is_some_and(|f| f.0 != value.bits()) {
            return None;
        }
        use_constant(egraph, x);
        let space = egraph.analysis.space_id(m.domain());
        return Some(constant(egraph, space, value));
    }
    let axis = egraph[x].nodes.iter().find_map(|n| match n {
        Node::Index(_, axis, _) => Some(*axis as usize),
        _ => None,
    })?;
    if !m.is_total() {
        return None;
    }
    use_class(egraph, x);
    let space = egraph.analysis.space_id(m.domain());
    let component = &m.components()[axis];
    match component.component() {
        Component::Fixed(c) => Some(constant(egraph, space, Scalar::from_i128(data.dtype, c.into()))),
        Component::Iter(a) => Some(index(egraph, space, a, data.dtype)),
        // Integers wrap, so the sum is exact in them; a float would round at every step.
        Component::Affine(_) if data.dtype.is_int() => affine(egraph, space, component, data.dtype),
        Component::Affine(_) => None,
    }
}

/// `Σ c·index + o` as a term.
fn affine(egraph: &mut Graph, space: SpaceId, expr: &Affine, dtype: DType) -> Option<Id> {
    let mut sum: Option<Id> = None;
    for axis in expr.used_axes() {
        let mut term = index(egraph, space, axis, dtype);
        if expr.coeffs[axis] != 1 {
            let factor = constant(egraph, space, Scalar::from_i128(dtype, expr.coeffs[axis].into()));
            term = bin(egraph, BinaryOp::Mul, term, factor)?;
        }
        sum = Some(match sum {
            Some(sum) => bin(egraph, BinaryOp::Add, sum, term)?,
            None => term,
        });
    }
    let offset = constant(egraph, space, Scalar::from_i128(dtype, expr.offset.into()));
    match sum {
        Some(sum) if expr.offset == 0 => Some(sum),
        Some(sum) => bin(egraph, BinaryOp::Add, sum, offset),
        None => Some(offset),
    }
}

/// `acc op map x`.
pub fn acc(egraph: &mut Graph, op: AccOp, map: &IndexMap, x: Id) -> Option<Id> {
    if !map.is_total() || space_of(egraph, x)? != map.domain() || !op.is_defined(field(egraph, x)?.dtype) {
        return None;
    }
    let (id, leaf) = new_map(egraph, map);
    if egraph.analysis.raw {
        let op = op_leaf(egraph, Op::of_acc(op));
        return add(egraph, Node::Acc([op, leaf, x]));
    }
    // 1 · z is not z where a complex z is infinite, so a product of one factor stays; a sum of one term is not -0.0.
    let data = field(egraph, x)?.clone();
    let joins = !data.range.starts_as(op, data.dtype);
    let started = |egraph: &mut Graph, moved: Id| match joins {
        true => {
            let space = field(egraph, moved)?.space;
            let zero = constant(egraph, space, op.neutral(data.dtype));
            bin(egraph, BinaryOp::Add, moved, zero)
        }
        false => Some(moved),
    };
    let stays = joins && op != AccOp::Add;
    if map.is_identity() && !stays {
        return started(egraph, x);
    }
    if stays {
        // Only the order of the loops is normalised.
    } else if egraph.analysis.bijective(id) {
        if let Some(inverse) = egraph.analysis.inverse(id, None) {
            let moved = read_id(egraph, inverse, x)?;
            return started(egraph, moved);
        }
    } else if op == AccOp::Set {
        return None;
    }
    let (map, x) = match loop_order(map) {
        Some(order) => (order.then(map).ok()?, read(egraph, &order, x)?),
        None => (map.clone(), x),
    };
    let (_, leaf) = new_map(egraph, &map);
    let op = op_leaf(egraph, Op::of_acc(op));
    add(egraph, Node::Acc([op, leaf, x]))
}

/// The canonical loop space of an accumulation along `map`, as a bijection onto the domain of `map`: unit axes
/// dropped; output axes first and in order, where the map is a projection. The axes that are reduced keep their
/// order, so each sum keeps the order of its terms. `None` when the loop space is canonical already.
fn loop_order(map: &IndexMap) -> Option<IndexMap> {
    let domain = map.domain();
    let unit = |axis: usize| domain.extent(axis).as_const() == Some(1);
    let mut order: Vec<usize> = Vec::with_capacity(domain.rank());
    let outputs: Option<Vec<usize>> = map
        .components()
        .iter()
        .zip(map.codomain().extents())
        .filter(|(_, e)| e.as_const() != Some(1))
        .map(|(c, e)| match c.component() {
            Component::Iter(axis) if domain.extent(axis) == e => Some(axis),
            _ => None,
        })
        .collect();
    if let Some(outputs) = outputs {
        for axis in outputs {
            if order.contains(&axis) {
                order.clear();
                break;
            }
            order.push(axis);
        }
    }
    let rest: Vec<usize> = (0..domain.rank()).filter(|&a| !unit(a) && !order.contains(&a)).collect();
    order.extend(rest);
    if order.len() == domain.rank() && order.iter().enumerate().all(|(i, &a)| i == a) {
        return None;
    }
    let space = domain.select(&order);
    let rank = order.len();
    let component = |axis: usize| match order.iter().position(|&a| a == axis) {
        Some(place) => Affine::axis(rank, place),
        None => Affine::fixed(rank, 0),
    };
    IndexMap::total(space, domain.clone(), (0..domain.rank()).map(component).collect()).ok()
}
