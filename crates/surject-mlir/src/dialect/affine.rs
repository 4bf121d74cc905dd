//! Index maps as affine maps and sets.

use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{
    MlirAffineExpr, mlirAffineBinaryOpExprGetLHS, mlirAffineBinaryOpExprGetRHS,
    mlirAffineConstantExprGetValue, mlirAffineDimExprGetPosition, mlirAffineExprIsAAdd,
    mlirAffineExprIsAConstant, mlirAffineExprIsADim, mlirAffineExprIsAMul, mlirAffineMapAttrGetValue,
    mlirAffineMapGetNumDims, mlirAffineMapGetNumResults, mlirAffineMapGetNumSymbols, mlirAffineMapGetResult,
    mlirAttributeIsAAffineMap, mlirAttributeIsAIntegerSet, mlirIntegerSetAttrGetValue,
    mlirIntegerSetGetConstraint, mlirIntegerSetGetNumConstraints, mlirIntegerSetGetNumDims,
    mlirIntegerSetGetNumSymbols, mlirIntegerSetIsConstraintEq,
};
use surject_index::{Affine, Extent, Guard, IndexMap};

fn names(rank: usize) -> Vec<String> {
    (0..rank).map(|axis| format!("d{axis}")).collect()
}

/// `affine_map<(d0, d1) -> (…)>`
pub(super) fn map(map: &IndexMap) -> String {
    let names = names(map.domain().rank());
    let components: Vec<_> = map.components().iter().map(|c| c.display(&names).to_string()).collect();
    format!("affine_map<({}) -> ({})>", names.join(", "), components.join(", "))
}

/// `affine_set<(d0, d1) : (g >= 0, n - 1 - g >= 0, …)>`: two conditions per guard. `None` where a bound is symbolic or
/// does not fit.
pub(super) fn guards(map: &IndexMap) -> Option<String> {
    let names = names(map.domain().rank());
    let mut conditions = Vec::new();
    for guard in map.guards() {
        let last = i64::try_from(guard.bound.as_const()?).ok()?.checked_sub(1)?;
        let rest = Affine::fixed(guard.expr.rank(), last).add_scaled(&guard.expr, -1)?;
        conditions.push(format!("{} >= 0", guard.expr.display(&names)));
        conditions.push(format!("{} >= 0", rest.display(&names)));
    }
    Some(format!("affine_set<({}) : ({})>", names.join(", "), conditions.join(", ")))
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
