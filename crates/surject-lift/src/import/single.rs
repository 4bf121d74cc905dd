//! Scalar functions of 16-bit floats, computed in 32 bits.
//!
//! What a reduction carries from element to element is rounded at every step, and a term below half a unit in its last
//! place is lost: the logarithm of a sum of 768 exponentials is off by 1.1 in `bf16`. The order of the elements is the
//! implementation's (StableHLO, `reduce`), and XLA's is a tree. Here the function is computed in `f32`, as sums of such
//! floats are, and what it yields is rounded once.

use super::cx::{Cx, accumulator};
use super::state::Result;
use std::collections::HashMap;
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, Region, Scalar, Statement, StatementKind, TensorType,
    UnaryOp, Var,
};

fn narrow(dtype: DType) -> bool {
    accumulator(dtype) != dtype
}

/// A function with 32-bit floats in place of those of 16 bits, if it rounds any of these and only does what can be done
/// with either.
pub(super) fn in_single(cx: &mut Cx<'_, '_>, region: &Region) -> Result<Option<Region>> {
    let mut rounds = false;
    for statement in &region.body.statements {
        let StatementKind::Store { field, .. } = statement.kind else { return Ok(None) };
        let fields = &cx.lift.function.fields;
        for id in fields.reachable(&[field]) {
            let of = |x: FieldId| fields[x].dtype;
            match &fields[id].kind {
                FieldKind::Bitcast { x } if narrow(of(*x)) || narrow(of(id)) => return Ok(None),
                FieldKind::ReducePrecision { .. } if narrow(of(id)) => return Ok(None),
                // It rounds on purpose.
                FieldKind::Convert { x } if narrow(of(id)) && of(*x).is_float() => return Ok(None),
                FieldKind::Unary { op, .. } => {
                    rounds |= narrow(of(id)) && !matches!(op, UnaryOp::Abs | UnaryOp::Neg);
                }
                FieldKind::Binary { op, .. } => {
                    rounds |= narrow(of(id)) && !matches!(op, BinaryOp::Max | BinaryOp::Min);
                }
                _ => {}
            }
        }
    }
    if !rounds {
        return Ok(None);
    }
    let mut vars: HashMap<Var, Var> = HashMap::new();
    let new = |cx: &mut Cx<'_, '_>, vars: &mut HashMap<Var, Var>, var: Var| {
        let ty = cx.lift.function.ty(var);
        let ty = TensorType::new(accumulator(ty.dtype), ty.space.clone());
        *vars.entry(var).or_insert_with(|| cx.lift.new_var("", ty))
    };
    let params = region.params.iter().map(|&p| new(cx, &mut vars, p)).collect();
    let mut body = Block::default();
    let mut done: HashMap<FieldId, FieldId> = HashMap::new();
    for statement in &region.body.statements {
        let StatementKind::Store { target, field } = statement.kind else { return Ok(None) };
        for id in cx.lift.function.fields.reachable(&[field]) {
            let old = cx.lift.function.fields[id].clone();
            let of = |x: FieldId| done.get(&x).copied().unwrap_or(x);
            let again = match old.kind {
                FieldKind::Tensor(var) => cx.lift.function.tensor(vars.get(&var).copied().unwrap_or(var)),
                FieldKind::Const(value) if narrow(old.dtype) => {
                    cx.constant(&old.space, Scalar::from_f64(DType::F32, value.as_f64()))
                }
                FieldKind::Convert { x } => cx.convert(accumulator(old.dtype), of(x)),
                _ => {
                    let built = cx.lift.function.fields.again(&old, of);
                    cx.typed(built)?
                }
            };
            done.insert(id, again);
        }
        let kind = StatementKind::Store { target: new(cx, &mut vars, target), field: done[&field] };
        body.statements.push(Statement { kind, ..statement.clone() });
    }
    body.results = region.body.results.iter().map(|v| vars.get(v).copied().unwrap_or(*v)).collect();
    Ok(Some(Region { params, body }))
}
