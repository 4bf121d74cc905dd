//! The language of the e-graph: the algebra of `read` and `acc`, with maps, operations and constants as leaves.
//!
//! Maps and operations are *children*, not payload, so a first-order pattern has map and operation variables for
//! free; no binder appears anywhere. There is no node for a store (what is stored is decided at extraction) and
//! none for an initial value (that is a pointwise `i ⊕ acc ⊕ M f`).

use crate::algebra::{MapId, SpaceId};
use egg::{Id, Language};
use std::fmt;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_rules::Operation;

/// An operation leaf. A binary operation and the accumulation by it are the same leaf, so that a rule can use one
/// variable in both places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// A unary operation.
    Unary(UnaryOp),
    /// A binary operation, or the accumulation by it.
    Binary(BinaryOp),
    /// Conversion to this type.
    Convert(DType),
    /// The bits read as this type.
    Bitcast(DType),
    /// Rounding to this many exponent and mantissa bits.
    ReducePrecision(u32, u32),
    /// `acc set`: moves elements along a bijection.
    Set,
}

/// A node. Children of a node are e-classes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// Map, field over the map's codomain.
    Read([Id; 2]),
    /// Operation, map, field over the map's domain.
    Acc([Id; 3]),
    /// Operation, operand.
    Un([Id; 2]),
    /// Operation, operands.
    Bin([Id; 3]),
    /// Condition, value where it holds, value where it does not.
    Sel([Id; 3]),
    /// An interned map.
    Map(MapId),
    /// An operation.
    Op(Op),
    /// The index of an axis of a space, as a value of a type.
    Index(SpaceId, u32, DType),
    /// One value everywhere: space, type, bits. A constant without its space would merge classes of two spaces.
    Const(SpaceId, DType, u128),
    /// A variable defined outside the region: a parameter, a result of a call, a loop value.
    Input(u32),
}

impl Language for Node {
    type Discriminant = (u8, Option<Box<Node>>);

    fn discriminant(&self) -> Self::Discriminant {
        match self {
            Node::Read(_) => (0, None),
            Node::Acc(_) => (1, None),
            Node::Un(_) => (2, None),
            Node::Bin(_) => (3, None),
            Node::Sel(_) => (4, None),
            leaf => (5, Some(Box::new(leaf.clone()))),
        }
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Node::Read(_), Node::Read(_))
            | (Node::Acc(_), Node::Acc(_))
            | (Node::Un(_), Node::Un(_))
            | (Node::Bin(_), Node::Bin(_))
            | (Node::Sel(_), Node::Sel(_)) => true,
            (a, b) => a.children().is_empty() && a == b,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Node::Read(c) | Node::Un(c) => c,
            Node::Acc(c) | Node::Bin(c) | Node::Sel(c) => c,
            _ => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Node::Read(c) | Node::Un(c) => c,
            Node::Acc(c) | Node::Bin(c) | Node::Sel(c) => c,
            _ => &mut [],
        }
    }
}

impl Node {
    /// The children that are fields, in order.
    pub fn fields(&self) -> &[Id] {
        match self {
            Node::Read(c) | Node::Un(c) => &c[1..],
            Node::Acc(c) => &c[2..],
            Node::Bin(c) => &c[1..],
            Node::Sel(c) => c,
            _ => &[],
        }
    }

    /// Is it a map or an operation, which no field is equal to?
    pub fn is_term(&self) -> bool {
        !matches!(self, Node::Map(_) | Node::Op(_))
    }

    /// Is it evaluated point by point from operands over the same space?
    pub fn is_pointwise(&self) -> bool {
        matches!(self, Node::Un(_) | Node::Bin(_) | Node::Sel(_))
    }
}

impl Op {
    /// The leaf of an accumulation operator.
    pub fn of_acc(op: AccOp) -> Op {
        op.binary().map_or(Op::Set, Op::Binary)
    }

    /// The operation as conditions of rules speak of it; none for `set`.
    pub fn operation(self) -> Option<Operation> {
        Some(match self {
            Op::Unary(op) => Operation::Unary(op),
            Op::Binary(op) => Operation::Binary(op),
            Op::Convert(to) => Operation::Convert(to),
            Op::Bitcast(to) => Operation::Bitcast(to),
            Op::ReducePrecision(e, m) => Operation::ReducePrecision(e, m),
            Op::Set => return None,
        })
    }

    /// The accumulation operator of the leaf.
    pub fn as_acc(self) -> Option<AccOp> {
        match self {
            Op::Set => Some(AccOp::Set),
            Op::Binary(op) => AccOp::from_binary(op),
            _ => None,
        }
    }

    /// The type of the result of a unary leaf.
    pub fn unary_result(self, x: DType) -> Option<DType> {
        match self {
            Op::Unary(op) => op.result(x),
            Op::Convert(to) => Some(to),
            Op::Bitcast(to) => (to.bits() == x.bits()).then_some(to),
            Op::ReducePrecision(exponent, _) => (x.is_float() && exponent > 0).then_some(x),
            Op::Binary(_) | Op::Set => None,
        }
    }

    /// The value of a unary leaf at a scalar.
    pub fn eval_unary(self, x: Scalar) -> Option<Scalar> {
        match self {
            Op::Unary(op) => surject_ir::eval::unary(op, x),
            Op::Convert(to) => Some(surject_ir::eval::convert(to, x)),
            Op::Bitcast(to) => surject_ir::eval::bitcast(to, x),
            Op::ReducePrecision(e, m) => surject_ir::eval::reduce_precision(e, m, x),
            Op::Binary(_) | Op::Set => None,
        }
    }
}

impl From<Operation> for Op {
    fn from(operation: Operation) -> Op {
        match operation {
            Operation::Unary(op) => Op::Unary(op),
            Operation::Binary(op) => Op::Binary(op),
            Operation::Convert(to) => Op::Convert(to),
            Operation::Bitcast(to) => Op::Bitcast(to),
            Operation::ReducePrecision(e, m) => Op::ReducePrecision(e, m),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Unary(op) => write!(f, "{op}"),
            Op::Binary(op) => write!(f, "{op}"),
            Op::Convert(to) => write!(f, "convert:{to}"),
            Op::Bitcast(to) => write!(f, "bitcast:{to}"),
            Op::ReducePrecision(e, m) => write!(f, "round:e{e}m{m}"),
            Op::Set => f.write_str("set"),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Read(_) => f.write_str("read"),
            Node::Acc(_) => f.write_str("acc"),
            Node::Un(_) => f.write_str("un"),
            Node::Bin(_) => f.write_str("bin"),
            Node::Sel(_) => f.write_str("select"),
            Node::Map(m) => write!(f, "m{}", m.0),
            Node::Op(op) => write!(f, "{op}"),
            Node::Index(s, axis, d) => write!(f, "index{axis}:{d}@s{}", s.0),
            Node::Const(s, d, bits) => {
                write!(f, "{:?}@s{}", Scalar::from_bits(*d, *bits), s.0)
            }
            Node::Input(i) => write!(f, "in{i}"),
        }
    }
}
