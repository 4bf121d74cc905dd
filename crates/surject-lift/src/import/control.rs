//! Control flow, calls, and the glue of tuples and tokens.

use super::cx::{Cx, fill};
use super::state::{Result, Value};
use super::types;
use crate::error::{LiftError, Place};
use surject_index::{
    Affine, Extent, Fact, IndexMap, Observed, Relation, ScalarSemantics, ShapeExtent, Space,
    UnsupportedDynamicShape,
};
use surject_ir::{BinaryOp, Block, DType, LibOp, Region, Scalar, Statement, StatementKind, TensorType, Var};

/// Binds the results to values, which must have the declared types.
pub(super) fn bind_all(cx: &mut Cx<'_, '_>, values: Vec<Value>) -> Result<()> {
    let values = types::counted(cx.op, values, cx.op.results.len(), "the value of the operation")?;
    for (i, value) in values.into_iter().enumerate() {
        if let Some(found) = cx.lift.type_of(&value) {
            if cx.lift.sizes.dynamic {
                claimed(cx, i, &found)?;
            } else {
                let declared = cx.result_type(i)?;
                if found != declared {
                    return Err(
                        cx.invalid(format!("result {i} has type {declared}, its value has type {found}"))
                    );
                }
            }
        }
        cx.bind(i, value)?;
    }
    Ok(())
}

/// The type of result `i` of a module with `?`, which has a value of this type.
fn claimed(cx: &mut Cx<'_, '_>, i: usize, found: &TensorType) -> Result<TensorType> {
    let declared = cx.op.results.get(i).and_then(|&id| cx.lift.module.tensor(id));
    let Some(declared) = declared else {
        return Err(cx.invalid(format!("result {i} is no tensor, its value has type {found}")));
    };
    if types::dynamic(cx.op, declared)? != found.dtype {
        return Err(cx.invalid(format!("result {i} has type {declared}, its value has type {found}")));
    }
    let extents = found.space.extents().to_vec();
    let space = cx.lift.claim(cx.op, &format!("result {i}"), declared, extents)?;
    Ok(TensorType::new(found.dtype, space))
}

/// `func.call` and `stablehlo.composite`: the body of the callee, inlined.
pub(super) fn call(cx: &mut Cx<'_, '_>) -> Result<()> {
    let callee = cx.attr(cx.op.callee())?;
    let args = (0..cx.op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    let declared: Vec<_> =
        cx.lift.module.function(callee).iter().flat_map(|f| &f.body.params).map(|p| &p.1).collect();
    for (i, (value, ty)) in args.iter().zip(declared).enumerate() {
        if cx.lift.sizes.dynamic {
            if let (Some(found), Some(declared)) = (cx.lift.type_of(value), ty.as_tensor()) {
                if types::dynamic(cx.op, declared)? != found.dtype {
                    return Err(cx.invalid(format!("argument {i} has type {found} for {declared}")));
                }
                let extents = found.space.extents().to_vec();
                cx.lift.claim(cx.op, &format!("argument {i}"), declared, extents)?;
            }
            continue;
        }
        let ty = if ty.as_tensor().is_some() { Some(types::tensor(cx.op, ty)?) } else { None };
        if cx.lift.mapped.is_none() && cx.lift.type_of(value) != ty {
            return Err(cx.invalid(format!("argument {i} has not the type of the parameter of `@{callee}`")));
        }
    }
    let op = cx.op;
    if cx.lift.sizes.dynamic {
        let params = cx.lift.module.function(callee).map_or(&[][..], |f| &f.body.params);
        for (&operand, (param, _)) in op.operands.iter().zip(params) {
            cx.lift.sizes.pass(operand, *param);
        }
    }
    let results = cx.lift.call(op, callee, args)?;
    bind_all(cx, results)
}

/// The results are the operands: barriers, annotations.
pub(crate) fn identity(cx: &mut Cx<'_, '_>) -> Result<()> {
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
    if cx.lift.sizes.dynamic && cond.params.len() == op.operands.len() {
        let values = (0..op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
        for (&operand, (param, _)) in op.operands.iter().zip(&cond.params) {
            cx.lift.sizes.pass(operand, *param);
        }
        if super::size_ops::never_runs(cx, cond, values.clone())? {
            return bind_all(cx, values);
        }
    }
    let constant = carried_unchanged(cx, body)?;
    let inits = cx.vars(0, op.operands.len())?;
    let types: Vec<TensorType> = inits.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if cond.params.len() != types.len() || body.params.len() != types.len() || op.results.len() != types.len()
    {
        return Err(cx.invalid("the carried values, the region parameters and the results differ in number"));
    }
    for (id, _) in cond.params.iter().chain(&body.params) {
        cx.lift.sizes.forget(*id);
    }
    for (i, elements) in constant {
        for id in [cond.params[i].0, body.params[i].0] {
            cx.lift.sizes.remember(id, elements.clone());
        }
    }
    let (mut cond, held) = cx.lift.checked_region(op, cond, Some(&types))?;
    let told = cx.lift.seen_vars();
    let behind = cond.body.results.split_off(cond.body.results.len() - told.len());
    if !held.is_empty() || !cond.params.ends_with(&behind) {
        return Err(cx.unsupported("a check or a probe inside the condition of a loop"));
    }
    let (mut body, flags) = cx.lift.checked_region(op, body, Some(&types))?;
    let yields: Vec<TensorType> = cond.body.results.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if yields != [TensorType::scalar(DType::I1)] {
        return Err(cx.invalid("the condition must yield one i1 of rank 0"));
    }
    let next = &body.body.results[..body.body.results.len() - told.len()];
    let next: Vec<TensorType> = next.iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
    if next.len() != types.len() || !next.iter().zip(&types).all(|(a, b)| cx.lift.same_type(a, b)) {
        return Err(cx.invalid("the body must yield values of the types it carries"));
    }
    let mut targets = Vec::new();
    for (i, ty) in types.into_iter().enumerate() {
        if cx.lift.sizes.dynamic {
            claimed(cx, i, &ty)?;
        } else if cx.result_type(i)? != ty {
            return Err(cx.invalid(format!("result {i} has not the type of the value that is carried")));
        }
        let target = cx.lift.new_var(cx.lift.module.name_of(op.results[i]), ty);
        cx.bind(i, Value::Var(target))?;
        targets.push(target);
    }
    let mut inits = inits;
    inits.extend(told);
    targets.extend(cx.lift.see_anew());
    if !flags.is_empty() {
        // The loop carries whether the checks have held so far.
        let flag = TensorType::scalar(DType::I1);
        let yes = cx.constant(&flag.space, Scalar::from_i128(DType::I1, 1));
        inits.push(cx.stored(yes));
        cond.params.push(cx.lift.new_var("", flag.clone()));
        let so_far = cx.lift.new_var("", flag.clone());
        body.params.push(so_far);
        all_hold(cx, &mut body, [vec![so_far], flags].concat())?;
        let target = cx.lift.new_var("", flag);
        targets.push(target);
        cx.lift.flags.push(target);
    }
    cx.lift.push(op, StatementKind::While { targets, inits, cond, body });
    Ok(())
}

/// Makes it one more result of a region whether all of these hold.
fn all_hold(cx: &mut Cx<'_, '_>, region: &mut Region, flags: Vec<Var>) -> Result<()> {
    let ty = TensorType::scalar(DType::I1);
    let mut all = cx.constant(&ty.space, Scalar::from_i128(DType::I1, 1));
    for flag in flags {
        let flag = cx.lift.function.tensor(flag);
        all = cx.binary(BinaryOp::And, all, flag)?;
    }
    let target = cx.lift.new_var("", ty);
    let kind = StatementKind::Store { target, field: all };
    region.body.statements.push(Statement { kind, origin: cx.lift.origin(cx.op) });
    region.body.results.push(target);
    Ok(())
}

/// Integers that a loop carries as they are, with what is known of them: what the body yields for them are its parameters.
fn carried_unchanged(
    cx: &mut Cx<'_, '_>,
    body: &surject_stablehlo::Region,
) -> Result<Vec<(usize, std::sync::Arc<[surject_index::Extent]>)>> {
    let mut constant = Vec::new();
    let Some(last) = body.ops.last().filter(|_| cx.lift.sizes.dynamic) else { return Ok(constant) };
    for (i, (param, _)) in body.params.iter().enumerate() {
        if last.operands.get(i) == Some(param)
            && i < cx.op.operands.len()
            && let Value::Sizes { elements, .. } = cx.value(i)?
        {
            constant.push((i, elements));
        }
    }
    Ok(constant)
}

/// `stablehlo.case`, and `stablehlo.if` with the first branch for `true`. Where branches yield different symbolic sizes, the
/// size of the result is one that the data of a run gives, bounded by the largest of them.
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
    let mut types = match cx.lift.sizes.dynamic {
        true => None,
        false => Some((0..op.results.len()).map(|i| cx.result_type(i)).collect::<Result<Vec<_>>>()?),
    };
    let (mut branches, mut checks) = (Vec::new(), Vec::new());
    for region in &op.regions {
        let (branch, flags) = cx.lift.checked_region(op, region, Some(&[]))?;
        checks.push(flags);
        let told = branch.body.results.len() - cx.lift.seen_vars().len();
        let yields: Vec<TensorType> =
            branch.body.results[..told].iter().map(|&v| cx.lift.function.ty(v).clone()).collect();
        // A result of either one size or another has no exact size.
        let types = types.get_or_insert_with(|| yields.clone());
        if yields.len() != op.results.len() || types.len() != yields.len() {
            return Err(cx.invalid("a branch yields another number of values than there are results"));
        }
        let same = yields.iter().zip(types.iter()).all(|(a, b)| cx.lift.same_type(a, b));
        let may_differ = |(a, b): (&TensorType, &TensorType)| {
            cx.lift.sizes.dynamic && a.dtype == b.dtype && a.space.rank() == b.space.rank()
        };
        if !same && !yields.iter().zip(types.iter()).all(may_differ) {
            return Err(cx.invalid("a branch yields values of other types than the results"));
        }
        branches.push(branch);
    }
    let types = types.unwrap_or_default();
    let wide = widened(cx, &types, &mut branches)?;
    let mut targets = Vec::new();
    for ty in &wide {
        targets.push(cx.lift.new_var(cx.lift.module.name_of(op.results[targets.len()]), ty.types.clone()));
    }
    let mut all_targets = targets.clone();
    all_targets.extend(cx.lift.see_anew());
    if checks.iter().any(|flags| !flags.is_empty()) {
        for (branch, flags) in branches.iter_mut().zip(checks) {
            all_hold(cx, branch, flags)?;
        }
        let target = cx.lift.new_var("", TensorType::scalar(DType::I1));
        all_targets.push(target);
        cx.lift.flags.push(target);
    }
    cx.lift.push(op, StatementKind::If { targets: all_targets, index, branches });
    for (i, (mut target, wide)) in targets.into_iter().zip(wide).enumerate() {
        for (axis, sizes) in wide.chosen {
            target = truncated(cx, target, axis, index, &sizes)?;
        }
        if cx.lift.sizes.dynamic {
            let ty = cx.lift.function.ty(target).clone();
            claimed(cx, i, &ty)?;
            cx.lift.sizes.types.insert(op.results[i], ty);
        }
        cx.bind(i, Value::Var(target))?;
    }
    Ok(())
}

/// A result of branches: a type that every branch fits, and the axes along which a run chooses one of several sizes.
struct Wide {
    types: TensorType,
    chosen: Vec<(usize, Vec<Extent>)>,
}

/// Gives the results of branches with different sizes the least sizes that all of them fit (reference/extents.md, section 3.4:
/// join), with zeros beyond their own. What a run chose is cut out after the branch.
fn widened(cx: &mut Cx<'_, '_>, types: &[TensorType], branches: &mut [Region]) -> Result<Vec<Wide>> {
    let mut all = Vec::new();
    for (i, first) in types.iter().enumerate() {
        let yields: Vec<_> =
            branches.iter().map(|b| cx.lift.function.ty(b.body.results[i]).space.clone()).collect();
        let mut extents = Vec::new();
        let mut chosen = Vec::new();
        for axis in 0..first.space.rank() {
            let sizes: Vec<Extent> = yields.iter().map(|space| space.extent(axis).clone()).collect();
            let exact = |size: &Extent| ShapeExtent::Exact(size.clone());
            let facts = &cx.lift.sizes.facts;
            let joined = sizes[1..].iter().fold(exact(&sizes[0]), |all, size| all.join(&exact(size), facts));
            if !joined.is_exact() {
                if cx.lift.in_region() || cx.lift.mapped.is_some() || cx.lift.sizes.given.is_some() {
                    return Err(differing(cx, i, axis, &sizes, &joined));
                }
                chosen.push((axis, sizes.clone()));
            }
            extents.push(joined.bound().cloned().unwrap_or_else(|| sizes[0].clone()));
        }
        let ty = TensorType::new(first.dtype, Space::new(extents));
        if !chosen.is_empty() {
            for branch in branches.iter_mut() {
                pad(cx, &mut branch.body, i, &ty)?;
            }
        }
        all.push(Wide { types: if chosen.is_empty() { first.clone() } else { ty }, chosen });
    }
    Ok(all)
}

/// The refusal of a result that has one of several sizes where a program has no name for it.
fn differing(cx: &Cx<'_, '_>, i: usize, axis: usize, sizes: &[Extent], joined: &ShapeExtent) -> LiftError {
    let other = sizes.iter().find(|size| !cx.lift.same(size, &sizes[0]).is_yes()).unwrap_or(&sizes[0]);
    let fact = Fact::new(sizes[0].clone(), Relation::Eq, other.clone());
    let shape = UnsupportedDynamicShape {
        primitive: cx.op.name.to_string(),
        field: format!("result {i}, shape[{axis}]"),
        needed: "one size in every branch",
        observed: joined.bound().map_or(Observed::Unknown, |bound| Observed::UpperBound(bound.clone())),
    };
    let fact = Some(Box::new(cx.lift.sizes.facts.residual(&fact)));
    LiftError::Dynamic { shape: Box::new(shape), fact, place: Place::of(cx.op) }
}

/// Fills result `i` of a branch up to a type with zeros.
fn pad(cx: &mut Cx<'_, '_>, body: &mut Block, i: usize, ty: &TensorType) -> Result<()> {
    let own = cx.lift.function.ty(body.results[i]).space.clone();
    let rank = own.rank();
    let components = (0..rank).map(|axis| Affine::axis(rank, axis)).collect();
    let zero = fill(Scalar::zero(ty.dtype));
    let map = cx.map(IndexMap::partial(ty.space.clone(), own, components, Vec::new(), zero))?;
    let field = cx.lift.function.tensor(body.results[i]);
    let field = cx.read(map, field)?;
    let target = cx.lift.function.var_for("padded", field);
    body.statements.push(Statement::new(StatementKind::Store { target, field }));
    body.results[i] = target;
    Ok(())
}

/// The first elements along an axis of what a branch gave, as many as the branch that was taken has.
fn truncated(cx: &mut Cx<'_, '_>, x: Var, axis: usize, index: Var, sizes: &[Extent]) -> Result<Var> {
    let Some((last, rest)) = sizes.split_last() else { return Ok(x) };
    let scalar = Space::scalar();
    let mut size = cx.lift.size_field(cx.op, last)?;
    for (k, own) in rest.iter().enumerate().rev() {
        let own = cx.lift.size_field(cx.op, own)?;
        let here = cx.constant(&scalar, Scalar::from_i128(DType::I32, k as i128));
        let taken = cx.lift.function.tensor(index);
        let here = cx.binary(BinaryOp::Eq, taken, here)?;
        size = cx.select(here, own, size)?;
    }
    let size = cx.stored(size);
    let before = cx.lift.function.ty(x).space.extent(axis).clone();
    let name = cx.lift.new_size("u");
    let op = LibOp::DynamicTruncate { axis, semantics: ScalarSemantics::IntegerSize, size: name.clone() };
    cx.lift.sizes.truncated.push(Fact::new(name, Relation::Le, before));
    cx.lift.learn(cx.op)?;
    Ok(cx.call(op, vec![x, size], Vec::new())?[0])
}

/// `stablehlo.async_start`: what its body gives, at once.
pub(super) fn async_start(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let Some(body) = op.regions.first() else {
        return Err(cx.invalid("no body"));
    };
    let args = (0..op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    let results = cx.lift.inline(op, body, args)?;
    cx.bind(0, Value::Tuple(results))
}

/// `stablehlo.async_done`
pub(super) fn async_done(cx: &mut Cx<'_, '_>) -> Result<()> {
    let Value::Tuple(values) = cx.value(0)? else {
        return Err(cx.unsupported("an operand that is not made by `stablehlo.async_start`"));
    };
    bind_all(cx, values)
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
