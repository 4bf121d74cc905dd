//! Conditions of rules, answered in three values. *Unknown* satisfies neither a condition nor its opposite.

use crate::algebra::{Graph, MapId};
use crate::apply::{Bound, Env};
use crate::build::field;
use crate::compiled::{Arg, Test};
use crate::lang::{Node, Op};
use egg::Id;
use surject_index::Verdict;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};
use surject_rules::ConditionName;

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
        ConditionName::Injective => egraph.analysis.map(map(0)?).injective().plain(),
        ConditionName::Surjective => egraph.analysis.map(map(0)?).surjective().plain(),
        ConditionName::Bijective => bijective(egraph, map(0)?),
        ConditionName::FillsAgree => {
            let fill = |m: MapId| egraph.analysis.map(m).fill();
            match (fill(map(0)?), fill(map(1)?)) {
                (Some(a), Some(b)) => (a == b).into(),
                _ => Verdict::Yes(()),
            }
        }
        ConditionName::MapsFill => maps_fill(egraph, env, test, op(0)?, map(1)?)?.into(),
        ConditionName::Distributes => distributes(op(0)?, op(1)?, dtype),
        ConditionName::Commutative => match op(0)? {
            Op::Binary(op) => op.is_commutative().into(),
            _ => Verdict::No(()),
        },
        ConditionName::Idempotent => idempotent(op(0)?, dtype).into(),
        ConditionName::Monotone => monotone(op(0)?, dtype),
        ConditionName::DType => match test.args.get(1)? {
            Arg::Word(word) => in_class(field(egraph, class(0)?)?.dtype, word)?.into(),
            _ => return None,
        },
        ConditionName::Constant => match test.args.get(1)? {
            Arg::Number(value) => is_constant(egraph, class(0)?, *value)?.into(),
            _ => return None,
        },
    })
}

fn bijective(egraph: &mut Graph, map: MapId) -> Verdict {
    if egraph.analysis.bijective(map) {
        return Verdict::Yes(());
    }
    egraph.analysis.map(map).bijective()
}

/// The number as a scalar of a type, where the type has it: `-0.0` is the zero of integers, infinities are the
/// smallest and largest integers (the neutral elements of max and min).
pub fn number(dtype: DType, value: f64) -> Option<Scalar> {
    let scalar = Scalar::from_f64(dtype, value);
    let kept = scalar.as_f64() == value || dtype.is_float() && value.is_nan();
    (kept || dtype.is_int() && value.is_infinite()).then_some(scalar)
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
fn maps_fill(egraph: &Graph, env: &Env, test: &Test, op: Op, map: MapId) -> Option<bool> {
    let fill = egraph.analysis.map(map).fill()?;
    let operand = field(egraph, env.field(test.operand?)?)?.dtype;
    let value = Scalar::from_bits(operand, fill.0);
    if value.bits() != fill.0 {
        return Some(false);
    }
    let result = match op {
        Op::Binary(op) => surject_ir::eval::binary(op, value, value)?,
        op => op.eval_unary(value)?,
    };
    // A fill that is NaN keeps its class, not its bits.
    Some(result.bits() == fill.0 && !(result.dtype().is_float() && result.as_f64().is_nan()))
}

/// `(⊕ f) ⊗ g = ⊕ (f ⊗ g)` for `⊗ = t`, `⊕ = o` over non-empty fibres, with the factor on the right. For floats
/// up to rounding and on finite values, which the class and the flags of the rule say.
fn distributes(t: Op, o: Op, dtype: DType) -> Verdict {
    let (Op::Binary(t), Op::Binary(o)) = (t, o) else { return Verdict::No(()) };
    use BinaryOp::*;
    let yes = if dtype.is_bool() {
        matches!((t, o), (And | Mul | Min, Or | Add | Max) | (Or | Add | Max, And | Mul | Min))
            || matches!((t, o), (And | Mul | Min, Xor))
    } else if dtype.is_float() {
        matches!(
            (t, o),
            (Mul | Div, Add) | (Add | Sub, Max | Min) | (Max, Min) | (Min, Max) | (Max, Max) | (Min, Min)
        )
    } else if dtype.is_complex() {
        matches!((t, o), (Mul | Div, Add))
    } else {
        matches!(
            (t, o),
            (Mul, Add) | (And, Or | Xor) | (Or, And) | (Max, Min) | (Min, Max) | (Max, Max) | (Min, Min)
        )
    };
    yes.into()
}

fn idempotent(op: Op, dtype: DType) -> bool {
    use BinaryOp::*;
    match op {
        Op::Binary(Max | Min | And | Or) => !dtype.is_complex(),
        Op::Binary(Add | Mul) => dtype.is_bool(),
        _ => false,
    }
}

/// Operations that are monotone as computed, over every value of the type. What is computed by a series (`exp`,
/// `tanh`, …) is not claimed.
fn monotone(op: Op, dtype: DType) -> Verdict {
    match op {
        Op::Unary(UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::RoundEven | UnaryOp::RoundAway)
            if dtype.is_float() =>
        {
            Verdict::Yes(())
        }
        _ => Verdict::Unknown,
    }
}

fn in_class(dtype: DType, word: &str) -> Option<bool> {
    Some(match word {
        "float" => dtype.is_float(),
        "int" => dtype.is_int(),
        "signed" => dtype.is_signed_int(),
        "unsigned" => dtype.is_unsigned_int(),
        "complex" => dtype.is_complex(),
        "bool" => dtype.is_bool(),
        name => dtype == name.parse::<DType>().ok()?,
    })
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
