//! Conditions of rules, answered in three values. *Unknown* satisfies neither a condition nor its opposite.

use crate::algebra::{Graph, MapId, Question};
use crate::apply::{Bound, Env};
use crate::build::field;
use crate::compiled::{Arg, Test};
use crate::lang::{Node, Op};
use crate::provenance::use_constant;
use egg::Id;
use surject_index::Verdict;
use surject_ir::range::{Range, terms};
use surject_ir::{AccOp, BinaryOp, DType};
use surject_rules::{
    ConditionName, commutative, distributes, idempotent, in_class, maps_fill, monotone, number,
};

/// Does the match satisfy the condition? `dtype` is the element type of the class that matched.
pub fn holds(egraph: &mut Graph, env: &Env, test: &Test, dtype: DType) -> bool {
    let verdict = verdict(egraph, env, test, dtype).unwrap_or(Verdict::Unknown);
    if test.negated { verdict.is_no() } else { verdict.is_yes() }
}

fn verdict(egraph: &mut Graph, env: &Env, test: &Test, dtype: DType) -> Option<Verdict> {
    let map = |i: usize| match test.args.get(i)? {
        Arg::Slot(slot) => env.map(*slot),
        _ => None,
    };
    let op = |i: usize| match test.args.get(i)? {
        Arg::Slot(slot) => env.op(*slot),
        Arg::Op(op) => Some(*op),
        _ => None,
    };
    let class = |i: usize| match test.args.get(i)? {
        Arg::Slot(slot) => env.field(*slot),
        _ => None,
    };
    Some(match test.name {
        ConditionName::Identity => egraph.analysis.map(map(0)?).is_identity().into(),
        ConditionName::Total => egraph.analysis.map(map(0)?).is_total().into(),
        ConditionName::Injective => egraph.analysis.ask(map(0)?, Question::Injective),
        ConditionName::Surjective => egraph.analysis.ask(map(0)?, Question::Surjective),
        ConditionName::Bijective => egraph.analysis.ask(map(0)?, Question::Bijective),
        ConditionName::FillsAgree => {
            let fill = |m: MapId| egraph.analysis.map(m).fill();
            match (fill(map(0)?), fill(map(1)?)) {
                (Some(a), Some(b)) => (a == b).into(),
                _ => Verdict::Yes(()),
            }
        }
        ConditionName::MapsFill => fills(egraph, env, test, op(0)?, map(1)?)?,
        ConditionName::Distributes => distributes(op(0)?.operation()?, op(1)?.operation()?, dtype),
        ConditionName::Commutative => commutative(op(0)?.operation()?),
        ConditionName::Idempotent => idempotent(op(0)?.operation()?, dtype),
        ConditionName::Monotone => monotone(op(0)?.operation()?, dtype),
        ConditionName::DType => match test.args.get(1)? {
            Arg::Word(word) => in_class(field(egraph, class(0)?)?.dtype, word)?.into(),
            _ => return None,
        },
        ConditionName::Constant => match test.args.get(1)? {
            Arg::Number(value) => {
                let class = class(0)?;
                use_constant(egraph, class);
                is_constant(egraph, class, *value)?.into()
            }
            _ => return None,
        },
        ConditionName::NoNegativeZero => known(!field(egraph, class(0)?)?.range.negative_zero),
        ConditionName::StartsAs => {
            let data = field(egraph, class(1)?)?;
            known(data.range.starts_as(acc_op(op(0)?)?, data.dtype))
        }
        ConditionName::StaysFinite => {
            let below = match op(0)? {
                Op::Binary(BinaryOp::Mul) => false,
                Op::Binary(BinaryOp::Div) => true,
                _ => return None,
            };
            let (f, g) = (field(egraph, class(1)?)?, field(egraph, class(2)?)?);
            let terms = terms(egraph.analysis.map(map(3)?));
            known(Range::leaves(f.range, g.range, below, f.dtype, terms))
        }
    })
}

/// What a range excludes is certain; the rest is not.
fn known(yes: bool) -> Verdict {
    if yes { Verdict::Yes(()) } else { Verdict::Unknown }
}

/// Is the class this constant, bit for bit? An unknown value is a *no* for the purpose of matching a number.
pub fn is_constant(egraph: &Graph, class: Id, value: f64) -> Option<bool> {
    let data = field(egraph, class)?;
    Some(match (data.constant, number(data.dtype, value)) {
        (Some(constant), Some(wanted)) => constant == wanted,
        _ => false,
    })
}

/// `o(fill, fill) = fill`, bit for bit, at the type of the operand.
fn fills(egraph: &Graph, env: &Env, test: &Test, op: Op, map: MapId) -> Option<Verdict> {
    let fill = egraph.analysis.map(map).fill()?;
    let operand = field(egraph, env.field(test.operand?)?)?.dtype;
    Some(maps_fill(op.operation()?, fill.0, operand))
}

/// The accumulation operator of an operation leaf.
pub fn acc_op(op: Op) -> Option<AccOp> {
    op.as_acc()
}

/// The class of a slot, as what it is.
pub fn bound(egraph: &Graph, id: Id) -> Option<Bound> {
    match &egraph[id].data {
        crate::algebra::Data::Field(_) => Some(Bound::Field(id)),
        crate::algebra::Data::Map(map) => Some(Bound::Map(*map)),
        crate::algebra::Data::Op(op) if egraph[id].nodes.iter().any(|n| matches!(n, Node::Op(_))) => {
            Some(Bound::Op(*op))
        }
        crate::algebra::Data::Op(_) => None,
    }
}
