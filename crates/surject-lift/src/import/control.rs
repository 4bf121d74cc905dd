//! Control flow, calls, and the glue of tuples and tokens.

use super::cx::Cx;
use super::state::{Result, Value};
use super::types;
use surject_ir::{DType, Scalar, StatementKind, TensorType};

/// Binds the results to values, which must have the declared types.
pub(super) fn bind_all(cx: &mut Cx<'_, '_>, values: Vec<Value>) -> Result<()> {
    let values = types::counted(cx.op, values, cx.op.results.len(), "the value of the operation")?;
    for (i, value) in values.into_iter().enumerate() {
        if let Some(found) = cx.lift.type_of(&value) {
            let declared = cx.result_type(i)?;
            if found != declared {
                return Err(cx.invalid(format!("result {i} has type {declared}, its value has type {found}")));
            }
        }
        cx.bind(i, value)?;
    }
    Ok(())
}

/// `func.call` and `stablehlo.composite`: the body of the callee, inlined.
pub(super) fn call(cx: &mut Cx<'_, '_>) -> Result<()> {
    let callee = cx.attr(cx.op.callee())?;
    let args = (0..cx.op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    let declared: Vec<_> =
        cx.lift.module.function(callee).iter().flat_map(|f| &f.body.params).map(|p| &p.1).collect();
    for (i, (value, ty)) in args.iter().zip(declared).enumerate() {
        let ty = if ty.as_tensor().is_some() { Some(types::tensor(cx.op, ty)?) } else { None };
        if cx.lift.mapped.is_none() && cx.lift.type_of(value) != ty {
            return Err(cx.invalid(format!("argument {i} has not the type of the parameter of `@{callee}`")));
        }
    }
    let op = cx.op;
    let results = cx.lift.call(op, callee, args)?;
    bind_all(cx, results)
}

/// The results are the operands: barriers, annotations.
pub(super) fn identity(cx: &mut Cx<'_, '_>) -> Result<()> {
    let values = (0..cx.op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    bind_all(cx, values)
}

/// `stablehlo.map`: the body, which joins scalars, lifted over the whole space.
pub(super) fn map(cx: &mut Cx<'_, '_>) -> Result<()> {
    let ty = cx.result_type(0)?;
    let args = (0..cx.op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    if args.iter().any(|v| cx.lift.type_of(v).is_none_or(|t| t.space != ty.space)) {
        return Err(cx.invalid("the operands must have the shape of the result"));
    }
    let op = cx.op;
    let Some(body) = op.regions.first() else {
        return Err(cx.invalid("no body"));
    };
    let outer = cx.lift.mapped.replace(ty.space);
    let results = cx.lift.inline(op, body, args);
    cx.lift.mapped = outer;
    let mut results = results?.into_iter();
    let (Some(result), None) = (results.next(), results.next()) else {
        return Err(cx.invalid("the body must yield one value"));
    };
    let field = cx.value_field(&result)?;
    // A body may yield a scalar from outside.
    let space = cx.result_type(0)?.space;
    let field = if cx.space(field) == space { field } else { cx.broadcast(field, &space)? };
    cx.store(0, field)
}

/// `stablehlo.while`
pub(super) fn while_loop(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let [cond, body] = op.regions.as_slice() else {
        return Err(cx.invalid(format!("{} regions where 2 are needed", op.regions.len())));
    };
    let inits = cx.vars(0, op.operands.len())?;
    let types: Vec<TensorType> = inits.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if cond.params.len() != types.len() || body.params.len() != types.len() || op.results.len() != types.len()
    {
        return Err(cx.invalid("the carried values, the region parameters and the results differ in number"));
    }
    let cond = cx.lift.region(op, cond, Some(&types))?;
    let body = cx.lift.region(op, body, Some(&types))?;
    let yields: Vec<TensorType> = cond.body.results.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if yields != [TensorType::scalar(DType::I1)] {
        return Err(cx.invalid("the condition must yield one i1 of rank 0"));
    }
    let next: Vec<TensorType> = body.body.results.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if next != types {
        return Err(cx.invalid("the body must yield values of the types it carries"));
    }
    let mut targets = Vec::new();
    for (i, ty) in types.into_iter().enumerate() {
        if cx.result_type(i)? != ty {
            return Err(cx.invalid(format!("result {i} has not the type of the value that is carried")));
        }
        let target = cx.lift.new_var(cx.lift.module.name_of(op.results[i]), ty);
        cx.bind(i, Value::Var(target))?;
        targets.push(target);
    }
    cx.lift.push(op, StatementKind::While { targets, inits, cond, body });
    Ok(())
}

/// `stablehlo.case`, and `stablehlo.if` with the first branch for `true`.
pub(super) fn branch(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let ty = cx.operand_type(0)?;
    let expected = if op.name == "stablehlo.if" { DType::I1 } else { DType::I32 };
    if ty != TensorType::scalar(expected) || op.regions.is_empty() {
        return Err(cx.invalid(format!("needs an {expected} of rank 0 and a branch, found {ty}")));
    }
    let mut index = cx.field(0)?;
    if expected == DType::I1 {
        if op.regions.len() != 2 {
            return Err(cx.invalid(format!("{} branches where 2 are needed", op.regions.len())));
        }
        let (first, second) = (Scalar::from_i128(DType::I32, 0), Scalar::from_i128(DType::I32, 1));
        let (first, second) = (cx.constant(&ty.space, first), cx.constant(&ty.space, second));
        index = cx.select(index, first, second)?;
    }
    let index = cx.stored(index);
    let types = (0..op.results.len()).map(|i| cx.result_type(i)).collect::<Result<Vec<_>>>()?;
    let mut branches = Vec::new();
    for region in &op.regions {
        let branch = cx.lift.region(op, region, Some(&[]))?;
        let yields: Vec<TensorType> =
            branch.body.results.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
        if yields != types {
            return Err(cx.invalid("a branch yields values of other types than the results"));
        }
        branches.push(branch);
    }
    let mut targets = Vec::new();
    for (i, ty) in types.into_iter().enumerate() {
        let target = cx.lift.new_var(cx.lift.module.name_of(op.results[i]), ty);
        cx.bind(i, Value::Var(target))?;
        targets.push(target);
    }
    cx.lift.push(op, StatementKind::If { targets, index, branches });
    Ok(())
}

/// `stablehlo.tuple`
pub(super) fn tuple(cx: &mut Cx<'_, '_>) -> Result<()> {
    let parts = (0..cx.op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    cx.bind(0, Value::Tuple(parts))
}

/// `stablehlo.get_tuple_element`
pub(super) fn get_tuple_element(cx: &mut Cx<'_, '_>) -> Result<()> {
    let index = cx.attr(cx.op.int("index"))?;
    let Value::Tuple(parts) = cx.value(0)? else {
        return Err(cx.unsupported("an operand that is not made by `stablehlo.tuple`"));
    };
    let part = usize::try_from(index).ok().and_then(|i| parts.get(i).cloned());
    let part = part.ok_or_else(|| cx.invalid(format!("element {index} of a tuple of {}", parts.len())))?;
    bind_all(cx, vec![part])
}

/// `stablehlo.after_all` and `create_token`
pub(super) fn token(cx: &mut Cx<'_, '_>) -> Result<()> {
    cx.bind(0, Value::Token)
}
