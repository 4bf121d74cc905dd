//! Index maps as affine maps and sets.

use melior::Context;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{
    MlirAffineExpr, mlirAffineAddExprGet, mlirAffineBinaryOpExprGetLHS, mlirAffineBinaryOpExprGetRHS,
    mlirAffineConstantExprGet, mlirAffineConstantExprGetValue, mlirAffineDimExprGet,
    mlirAffineDimExprGetPosition, mlirAffineExprIsAAdd, mlirAffineExprIsAConstant, mlirAffineExprIsADim,
    mlirAffineExprIsAMul, mlirAffineMapAttrGet, mlirAffineMapAttrGetValue, mlirAffineMapGet,
    mlirAffineMapGetNumDims, mlirAffineMapGetNumResults, mlirAffineMapGetNumSymbols, mlirAffineMapGetResult,
    mlirAffineMulExprGet, mlirAttributeIsAAffineMap, mlirAttributeIsAIntegerSet, mlirIntegerSetAttrGet,
    mlirIntegerSetAttrGetValue, mlirIntegerSetGet, mlirIntegerSetGetConstraint,
    mlirIntegerSetGetNumConstraints, mlirIntegerSetGetNumDims, mlirIntegerSetGetNumSymbols,
    mlirIntegerSetIsConstraintEq,
};
use surject_index::{Affine, Extent, Guard, IndexMap};

/// `affine_map<(d0, d1) -> (…)>`
pub(super) fn map<'c>(context: &'c Context, map: &IndexMap) -> Attribute<'c> {
    let rank = map.domain().rank();
    let mut components: Vec<_> = map.components().iter().map(|c| expression(context, c)).collect();
    let count = components.len() as isize;
    // SAFETY: the context is alive, and so are the expressions, which it made.
    unsafe {
        let map = mlirAffineMapGet(context.to_raw(), rank as isize, 0, count, components.as_mut_ptr());
        Attribute::from_raw(mlirAffineMapAttrGet(map))
    }
}

/// `affine_set<(d0, d1) : (g >= 0, n - 1 - g >= 0, …)>`: two conditions per guard. `None` where there is no guard, or a
/// bound is symbolic or does not fit.
pub(super) fn guards<'c>(context: &'c Context, map: &IndexMap) -> Option<Attribute<'c>> {
    let mut conditions = Vec::new();
    for guard in map.guards() {
        let last = i64::try_from(guard.bound.as_const()?).ok()?.checked_sub(1)?;
        let rest = Affine::fixed(guard.expr.rank(), last).add_scaled(&guard.expr, -1)?;
        conditions.push(expression(context, &guard.expr));
        conditions.push(expression(context, &rest));
    }
    if conditions.is_empty() {
        return None;
    }
    let equations = vec![false; conditions.len()];
    let (rank, count) = (map.domain().rank() as isize, conditions.len() as isize);
    // SAFETY: as in `map`; there are as many flags as conditions.
    unsafe {
        let (conditions, equations) = (conditions.as_ptr(), equations.as_ptr());
        let set = mlirIntegerSetGet(context.to_raw(), rank, 0, count, conditions, equations);
        Some(Attribute::from_raw(mlirIntegerSetAttrGet(set)))
    }
}

/// A sum of multiples of dimensions and a constant.
fn expression(context: &Context, affine: &Affine) -> MlirAffineExpr {
    let context = context.to_raw();
    let terms = affine.coeffs.iter().enumerate().filter(|term| *term.1 != 0);
    // SAFETY: the context is alive, and so are the expressions, which it made.
    unsafe {
        let constant = |value| mlirAffineConstantExprGet(context, value);
        let sum = terms
            .map(|(axis, &factor)| {
                mlirAffineMulExprGet(mlirAffineDimExprGet(context, axis as isize), constant(factor))
            })
            .reduce(|sum, term| mlirAffineAddExprGet(sum, term));
        match sum {
            None => constant(affine.offset),
            Some(sum) if affine.offset == 0 => sum,
            Some(sum) => mlirAffineAddExprGet(sum, constant(affine.offset)),
        }
    }
}

/// The components of an affine map over `rank` axes, or what is wrong with it.
pub(super) fn components(attribute: Attribute<'_>, rank: usize) -> Result<Vec<Affine>, String> {
    let attribute = attribute.to_raw();
    // SAFETY: the attribute lives in a live context; the map is asked after the check that it is one, and its results
    // below their number.
    unsafe {
        if !mlirAttributeIsAAffineMap(attribute) {
            return Err("`map` is not an affine map".into());
        }
        let map = mlirAffineMapAttrGetValue(attribute);
        check_dims(mlirAffineMapGetNumDims(map), mlirAffineMapGetNumSymbols(map), rank, "map")?;
        (0..mlirAffineMapGetNumResults(map))
            .map(|i| linear(mlirAffineMapGetResult(map, i), rank).ok_or_else(|| not_linear("component", i)))
            .collect()
    }
}

/// The guards of an affine set over `rank` axes, or what is wrong with it.
pub(super) fn guards_of(attribute: Attribute<'_>, rank: usize) -> Result<Vec<Guard>, String> {
    let attribute = attribute.to_raw();
    // SAFETY: as in `components`.
    unsafe {
        if !mlirAttributeIsAIntegerSet(attribute) {
            return Err("`guards` is not an affine set".into());
        }
        let set = mlirIntegerSetAttrGetValue(attribute);
        check_dims(mlirIntegerSetGetNumDims(set), mlirIntegerSetGetNumSymbols(set), rank, "set of guards")?;
        let count = mlirIntegerSetGetNumConstraints(set);
        let condition = |i| {
            if mlirIntegerSetIsConstraintEq(set, i) {
                return Err(format!("condition {i} of the guards is an equation; guards are 0 <= g < n"));
            }
            linear(mlirIntegerSetGetConstraint(set, i), rank).ok_or_else(|| not_linear("condition", i))
        };
        let mut guards = Vec::new();
        for i in (0..count - count % 2).step_by(2) {
            let (expr, rest) = (condition(i)?, condition(i + 1)?);
            // expr >= 0 and rest = n - 1 - expr >= 0
            let sum = expr.add_scaled(&rest, 1).filter(|sum| sum.coeffs.iter().all(|&c| c == 0));
            let bound = sum.and_then(|sum| u64::try_from(sum.offset.checked_add(1)?).ok());
            let bound = bound.ok_or_else(|| {
                format!("conditions {i} and {} of the guards do not bound one expression: write g >= 0, n - 1 - g >= 0", i + 1)
            })?;
            guards.push(Guard { expr, bound: Extent::Const(bound) });
        }
        match count % 2 {
            0 => Ok(guards),
            _ => Err(format!("condition {} of the guards has no upper bound beside it", count - 1)),
        }
    }
}

fn check_dims(dims: isize, symbols: isize, rank: usize, what: &str) -> Result<(), String> {
    match (dims, symbols) {
        (d, 0) if d as usize == rank => Ok(()),
        (d, 0) => Err(format!("the {what} has {d} dimensions where the space has {rank}")),
        (_, s) => Err(format!("the {what} has {s} symbols; it may have dimensions only")),
    }
}

fn not_linear(what: &str, i: isize) -> String {
    format!("{what} {i} is not a sum of multiples of dimensions that fits in 64 bits")
}

/// An affine expression as coefficients; `None` for divisions, remainders, symbols and on overflow.
///
/// # Safety
/// The expression is alive.
unsafe fn linear(expr: MlirAffineExpr, rank: usize) -> Option<Affine> {
    // SAFETY: the caller's promise; each query comes after the check of the kind. Expressions are at most as deep as
    // the parser of MLIR, which is recursive too, could read.
    unsafe {
        if mlirAffineExprIsAConstant(expr) {
            return Some(Affine::fixed(rank, mlirAffineConstantExprGetValue(expr)));
        }
        if mlirAffineExprIsADim(expr) {
            let axis =
                usize::try_from(mlirAffineDimExprGetPosition(expr)).ok().filter(|&axis| axis < rank)?;
            return Some(Affine::axis(rank, axis));
        }
        let both = || {
            let left = linear(mlirAffineBinaryOpExprGetLHS(expr), rank)?;
            Some((left, linear(mlirAffineBinaryOpExprGetRHS(expr), rank)?))
        };
        if mlirAffineExprIsAAdd(expr) {
            let (left, right) = both()?;
            return left.add_scaled(&right, 1);
        }
        if mlirAffineExprIsAMul(expr) {
            let (left, right) = both()?;
            let constant = |e: &Affine| e.coeffs.iter().all(|&c| c == 0);
            let (scaled, factor) = if constant(&right) { (left, right.offset) } else { (right, left.offset) };
            return Affine::fixed(rank, 0).add_scaled(&scaled, factor);
        }
        None
    }
}
