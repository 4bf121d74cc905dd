//! Rules in index notation: building the right side, each part in the smallest space that holds its variables.

use crate::algebra::Graph;
use crate::apply::{Bound, Env};
use crate::build::{acc, bin, constant, field, read, sel, un};
use crate::compiled::{Build, Compiled, OpRef};
use crate::index_match::{Axis, Value};
use crate::lang::Op;
use egg::Id;
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, DType, Scalar};
use surject_rules::number;

/// The axes of a match.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The space of the matched class.
    pub space: Space,
    /// What its axes are.
    pub root: Vec<Axis>,
    /// The names of the rule.
    pub names: Vec<String>,
    /// The extents of their groups.
    pub extents: Vec<Vec<Extent>>,
}

impl Shape {
    fn extent(&self, axis: Axis) -> Extent {
        match axis {
            Axis::Batch(a) => self.space.extent(a).clone(),
            Axis::Named(group, place) => self.extents[group][place].clone(),
        }
    }

    fn space_of(&self, axes: &[Axis]) -> Space {
        Space::new(axes.iter().map(|&a| self.extent(a)))
    }
}

struct Builder<'a> {
    egraph: &'a mut Graph,
    values: &'a [Option<Value>],
    env: &'a Env,
    shape: &'a Shape,
}

/// The class of the right side, over the space of the matched class.
pub fn build(
    egraph: &mut Graph,
    rule: &Compiled,
    values: &[Option<Value>],
    env: &Env,
    shape: &Shape,
    dtype: DType,
) -> Option<Id> {
    // A named axis is never empty: a maximum over no point is not the maximum of what is moved out of it.
    if shape.space.is_empty() || shape.extents.iter().flatten().any(|e| e.at_least() == 0) {
        return None;
    }
    let mut builder = Builder { egraph, values, env, shape };
    let (id, axes) = builder.term(&rule.right, dtype)?;
    let rank = shape.space.rank();
    let place = |axis: &Axis| shape.root.iter().position(|r| r == axis);
    let components =
        axes.iter().map(|a| place(a).map(|p| Affine::axis(rank, p))).collect::<Option<Vec<_>>>()?;
    let map = IndexMap::total(shape.space.clone(), shape.space_of(&axes), components).ok()?;
    read(egraph, &map, id)
}

impl Builder<'_> {
    fn term(&mut self, term: &Build, dtype: DType) -> Option<Value> {
        let scalar = |builder: &mut Self, value: Scalar| {
            let space = builder.egraph.analysis.space_id(&Space::scalar());
            Some((constant(builder.egraph, space, value), Vec::new()))
        };
        match term {
            Build::Number(value) => scalar(self, number(dtype, *value)?),
            Build::Var(slot) => self.values.get(*slot)?.clone(),
            Build::Count(slot) => match self.env.0.get(*slot).copied().flatten()? {
                Bound::Count(k) => scalar(self, Scalar::from_i128(dtype, k.into())),
                _ => None,
            },
            Build::Un(op, x) => {
                let (x, axes) = self.term(x, dtype)?;
                let op = self.op(*op)?;
                Some((un(self.egraph, op, x)?, axes))
            }
            Build::Bin(op, x, y) => {
                let is_number = |t: &Build| matches!(t, Build::Number(_) | Build::Count(_));
                let Op::Binary(op) = self.op(*op)? else { return None };
                let (x, y) = if is_number(x) && !is_number(y) {
                    let y = self.term(y, dtype)?;
                    (self.term(x, field(self.egraph, y.0)?.dtype)?, y)
                } else {
                    let x = self.term(x, dtype)?;
                    let beside = field(self.egraph, x.0)?.dtype;
                    (x, self.term(y, beside)?)
                };
                let axes = union(&x.1, &y.1);
                let (x, y) = (self.spread(x, &axes)?, self.spread(y, &axes)?);
                Some((bin(self.egraph, op, x, y)?, axes))
            }
            Build::Sel(c, t, f) => {
                let c = self.term(c, DType::I1)?;
                let t = self.term(t, dtype)?;
                let f = self.term(f, dtype)?;
                let axes = union(&union(&c.1, &t.1), &f.1);
                let (c, t, f) = (self.spread(c, &axes)?, self.spread(t, &axes)?, self.spread(f, &axes)?);
                Some((sel(self.egraph, c, t, f)?, axes))
            }
            Build::Reduce(op, names, body) => {
                let body = self.term(body, dtype)?;
                self.reduce(*op, names, body)
            }
            Build::Read(..) | Build::Acc(..) => None,
        }
    }

    fn op(&self, op: OpRef) -> Option<Op> {
        match op {
            OpRef::Known(op) => Some(op),
            OpRef::Var(slot) => self.env.op(slot),
        }
    }

    /// The value over more axes.
    fn spread(&mut self, value: Value, axes: &[Axis]) -> Option<Id> {
        let (id, own) = value;
        let components = own
            .iter()
            .map(|a| axes.iter().position(|b| a == b).map(|p| Affine::axis(axes.len(), p)))
            .collect::<Option<Vec<_>>>()?;
        let map = IndexMap::total(self.shape.space_of(axes), self.shape.space_of(&own), components).ok()?;
        read(self.egraph, &map, id)
    }

    /// The accumulation over every axis of some names, also those on which the body does not depend.
    fn reduce(&mut self, op: AccOp, names: &[String], body: Value) -> Option<Value> {
        let mut bound: Vec<Axis> = Vec::new();
        for name in names {
            let group = self.shape.names.iter().position(|n| n == name)?;
            bound.extend((0..self.shape.extents[group].len()).map(|place| Axis::Named(group, place)));
        }
        let kept: Vec<Axis> = body.1.iter().copied().filter(|a| !bound.contains(a)).collect();
        let loops: Vec<Axis> = kept.iter().chain(&bound).copied().collect();
        let body = self.spread(body, &loops)?;
        let space = self.shape.space_of(&loops);
        let map = IndexMap::projection(&space, &(0..kept.len()).collect::<Vec<_>>());
        Some((acc(self.egraph, op, &map, body)?, kept))
    }
}

fn union(a: &[Axis], b: &[Axis]) -> Vec<Axis> {
    let mut result: Vec<Axis> = a.iter().chain(b).copied().collect();
    result.sort_unstable();
    result.dedup();
    result
}
