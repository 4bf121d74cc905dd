//! What a match of a rule binds, and how its right side is built.

use crate::algebra::{Graph, MapId, SpaceId};
use crate::bind::{drop_axes, unread};
use crate::build::{acc, bin, constant, field, read_id, sel, un};
use crate::compiled::{Bind, Build, Compiled, FillRef, MapRef, OpRef, Slot};
use crate::conditions::{acc_op, holds};
use crate::lang::Op;
use egg::Id;
use surject_index::Fill;
use surject_ir::{DType, Scalar};
use surject_rules::number;

/// What a slot stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// A field.
    Field(Id),
    /// A map.
    Map(MapId),
    /// An operation.
    Op(Op),
    /// A number of points.
    Count(u64),
}

/// The slots of a match.
#[derive(Clone, Debug, Default)]
pub struct Env(pub Vec<Option<Bound>>);

impl Env {
    /// No slot bound, of this many.
    pub fn new(slots: usize) -> Env {
        Env(vec![None; slots])
    }

    fn get(&self, slot: Slot) -> Option<Bound> {
        self.0.get(slot).copied().flatten()
    }

    /// The field in a slot.
    pub fn field(&self, slot: Slot) -> Option<Id> {
        match self.get(slot)? {
            Bound::Field(id) => Some(id),
            _ => None,
        }
    }

    /// The map in a slot.
    pub fn map(&self, slot: Slot) -> Option<MapId> {
        match self.get(slot)? {
            Bound::Map(id) => Some(id),
            _ => None,
        }
    }

    /// The operation in a slot.
    pub fn op(&self, slot: Slot) -> Option<Op> {
        match self.get(slot)? {
            Bound::Op(op) => Some(op),
            _ => None,
        }
    }

    /// Fills a slot.
    pub fn set(&mut self, slot: Slot, bound: Bound) {
        if slot >= self.0.len() {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = Some(bound);
    }
}

/// The class of the right side of a rule at a match of its left side with `root`, or `None` when the rule does not
/// fire. Adds nodes, unions nothing.
pub fn fire(egraph: &mut Graph, rule: &Compiled, mut env: Env, root: Id) -> Option<Id> {
    let data = field(egraph, root)?.clone();
    if !allowed(egraph, rule, &env, data.dtype)
        || !rule.tests.iter().all(|test| holds(egraph, &env, test, data.dtype))
    {
        return None;
    }
    for bind in &rule.binds {
        solve(egraph, &mut env, bind)?;
    }
    build(egraph, &env, &rule.right, (data.space, data.dtype))
}

/// Does the rule hold for the element types of a match? Conditions of type `i1` beside fields of another type do not
/// count.
pub fn allowed(egraph: &Graph, rule: &Compiled, env: &Env, dtype: DType) -> bool {
    let Some(soundness) = &rule.soundness else { return true };
    let fields = (0..env.0.len()).filter_map(|slot| env.field(slot)).filter_map(|id| field(egraph, id));
    let types: Vec<DType> = fields.map(|f| f.dtype).chain([dtype]).collect();
    let only_bool = types.iter().all(|d| d.is_bool());
    types.iter().filter(|d| only_bool || !d.is_bool()).all(|&d| soundness.admits(d))
}

fn solve(egraph: &mut Graph, env: &mut Env, bind: &Bind) -> Option<()> {
    match bind {
        Bind::Fibre([to_q, to_p, n, m]) => {
            let (a, b) = egraph.analysis.fibre(env.map(*n)?, env.map(*m)?)?;
            env.set(*to_q, Bound::Map(a));
            env.set(*to_p, Bound::Map(b));
        }
        Bind::Unread([result, g, m]) => {
            let h = unread(egraph, env.field(*g)?, env.map(*m)?)?;
            env.set(*result, Bound::Field(h));
        }
        Bind::Through([result, n, m]) => {
            let k = egraph.analysis.through(env.map(*n)?, env.map(*m)?)?;
            env.set(*result, Bound::Map(k));
        }
        Bind::Drop([map, field, count, from_map, from_field]) => {
            let (n, y, k) = drop_axes(egraph, env.map(*from_map)?, env.field(*from_field)?)?;
            env.set(*map, Bound::Map(n));
            env.set(*field, Bound::Field(y));
            env.set(*count, Bound::Count(k));
        }
    }
    Some(())
}

fn op_of(env: &Env, op: OpRef) -> Option<Op> {
    match op {
        OpRef::Known(op) => Some(op),
        OpRef::Var(slot) => env.op(slot),
    }
}

/// Builds a term. `expected` is the space and type a number takes where nothing beside it says otherwise.
fn build(egraph: &mut Graph, env: &Env, term: &Build, expected: (SpaceId, DType)) -> Option<Id> {
    let (space, dtype) = expected;
    match term {
        Build::Number(value) => Some(constant(egraph, space, number(dtype, *value)?)),
        Build::Count(slot) => match env.get(*slot)? {
            Bound::Count(k) => {
                let value = Scalar::from_i128(dtype, k.into());
                Some(constant(egraph, space, value))
            }
            _ => None,
        },
        Build::Var(slot) => env.field(*slot),
        Build::Un(op, x) => {
            let x = build(egraph, env, x, expected)?;
            un(egraph, op_of(env, *op)?, x)
        }
        Build::Bin(op, x, y) => {
            let Op::Binary(op) = op_of(env, *op)? else { return None };
            let number = |t: &Build| matches!(t, Build::Number(_) | Build::Count(_));
            let beside = |egraph: &Graph, id| field(egraph, id).map(|f| (f.space, f.dtype));
            let (x, y) = if number(x) && !number(y) {
                let y = build(egraph, env, y, expected)?;
                let place = beside(egraph, y)?;
                (build(egraph, env, x, place)?, y)
            } else {
                let x = build(egraph, env, x, expected)?;
                let place = beside(egraph, x)?;
                (x, build(egraph, env, y, place)?)
            };
            bin(egraph, op, x, y)
        }
        Build::Sel(c, t, f) => {
            let c = build(egraph, env, c, (space, DType::I1))?;
            let t = build(egraph, env, t, expected)?;
            let f = build(egraph, env, f, expected)?;
            sel(egraph, c, t, f)
        }
        Build::Read(map, x) => {
            let map = map_of(egraph, env, map, expected)?;
            let codomain = egraph.analysis.map(map).codomain().clone();
            let codomain = egraph.analysis.space_id(&codomain);
            let x = build(egraph, env, x, (codomain, dtype))?;
            read_id(egraph, map, x)
        }
        Build::Acc(op, map, x) => {
            let map = map_of(egraph, env, map, expected)?;
            let m = egraph.analysis.map(map).clone();
            let domain = egraph.analysis.space_id(m.domain());
            let x = build(egraph, env, x, (domain, dtype))?;
            acc(egraph, acc_op(op_of(env, *op)?)?, &m, x)
        }
        Build::Reduce(..) => None,
    }
}

fn map_of(egraph: &mut Graph, env: &Env, map: &MapRef, expected: (SpaceId, DType)) -> Option<MapId> {
    match map {
        MapRef::Var(slot) => env.map(*slot),
        MapRef::Compose(next, first) => {
            let next = map_of(egraph, env, next, expected)?;
            let first = map_of(egraph, env, first, expected)?;
            egraph.analysis.compose(first, next)
        }
        MapRef::Inverse(map, fill) => {
            let map = map_of(egraph, env, map, expected)?;
            let fill = match fill {
                None => None,
                Some(FillRef::Number(value)) => Some(number(expected.1, *value)?),
                Some(FillRef::Neutral(op)) => Some(acc_op(op_of(env, *op)?)?.neutral(expected.1)),
            };
            egraph.analysis.inverse(map, fill.map(|s| Fill(s.bits())))
        }
        MapRef::Identity(of) => {
            let of = build(egraph, env, of, expected)?;
            let space = field(egraph, of)?.space;
            let map = surject_index::IndexMap::identity(egraph.analysis.space(space));
            Some(egraph.analysis.map_id(&map))
        }
    }
}
