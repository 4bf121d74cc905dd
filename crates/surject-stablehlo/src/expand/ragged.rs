//! `chlo.ragged_dot` as products of all rows, of which each group keeps its own.

use super::{Expander, Numbers, Result, Rewrite};
use crate::attr::{Attribute, DotDims, RaggedDims};
use crate::dense::DenseElements;
use crate::module::{Module, Op, ValueId};
use crate::types::{Dim, ElementType, TensorType};

pub(super) struct Ragged;

impl Rewrite for Ragged {
    fn meets(&self, module: &Module) -> bool {
        super::holds(module, "chlo.ragged_dot")
    }

    fn element(&self, _: &ElementType) -> Option<ElementType> {
        None
    }

    fn entry(&self, _: &mut Expander<'_>, _: ValueId) -> Result<Option<ValueId>> {
        Ok(None)
    }

    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()> {
        if op.name == "chlo.ragged_dot" { ragged_dot(ex, op) } else { ex.keep(op) }
    }
}

/// A shape whose sizes are known.
fn sizes(ex: &Expander<'_>, value: ValueId) -> Result<Vec<i64>> {
    let ty = ex.tensor(value)?;
    ty.static_shape().ok_or_else(|| ex.refused(format!("the dynamic shape of {ty}")))
}

fn ragged_dot(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let numbers = op.ragged_dims().ok_or_else(|| ex.refused("dimension numbers that cannot be read"))?;
    let (&[lhs, rhs, groups], &[result]) = (op.operands.as_slice(), op.results.as_slice()) else {
        return Err(ex.refused("operands that are not counted"));
    };
    let [lhs, rhs, groups] = [lhs, rhs, groups].map(|v| ex.now(v));
    let out = ex.tensor(result)?;
    let made = if numbers.dot.batch_lhs.contains(&numbers.ragged) {
        dot(ex, lhs, rhs, numbers.dot, out)?
    } else {
        let ranges = ranges(ex, lhs, groups, numbers.ragged)?;
        match numbers.dot.contract_lhs.iter().position(|d| *d == numbers.ragged) {
            Some(pair) => contracted(ex, [lhs, rhs], &numbers, pair, &ranges, out)?,
            None => free(ex, [lhs, rhs], &numbers, &ranges, out)?,
        }
    };
    ex.values.insert(result, made);
    Ok(())
}

fn dot(ex: &mut Expander<'_>, lhs: ValueId, rhs: ValueId, dims: DotDims, ty: TensorType) -> Result<ValueId> {
    ex.emit(
        "stablehlo.dot_general",
        &[lhs, rhs],
        ty,
        vec![("dot_dimension_numbers", Attribute::Dot(Box::new(dims)))],
    )
}

/// Where the rows of each group start and end.
fn ranges(ex: &mut Expander<'_>, lhs: ValueId, groups: ValueId, along: i64) -> Result<Vec<[ValueId; 2]>> {
    let shape = sizes(ex, groups)?;
    let count = shape.last().copied().unwrap_or(1);
    if shape.iter().product::<i64>() != count {
        return Err(ex.refused("group sizes that differ in a batch"));
    }
    let rows = usize::try_from(along).ok().and_then(|d| sizes(ex, lhs).ok()?.get(d).copied());
    let rows = rows.ok_or_else(|| ex.refused(format!("the ragged dimension {along}")))?;
    let groups = ex.convert(groups, &ElementType::I64)?;
    let groups =
        ex.emit("stablehlo.reshape", &[groups], TensorType::new(&[count], ElementType::I64), Vec::new())?;
    let (zero, end) = (
        ex.constant(&ElementType::I64, Numbers::Ints(&[0]), false)?,
        ex.constant(&ElementType::I64, Numbers::Ints(&[rows]), false)?,
    );
    let mut start = zero;
    let mut ranges = Vec::new();
    for g in 0..count {
        let size = slice(ex, groups, 0, g)?;
        let size =
            ex.emit("stablehlo.reshape", &[size], TensorType::new(&[], ElementType::I64), Vec::new())?;
        let size = ex.same("stablehlo.maximum", &[size, zero])?;
        let size = ex.same("stablehlo.minimum", &[size, end])?;
        let next = ex.same("stablehlo.add", &[start, size])?;
        let next = ex.same("stablehlo.minimum", &[next, end])?;
        ranges.push([start, next]);
        start = next;
    }
    Ok(ranges)
}

/// The part of one along a dimension, which stays.
fn slice(ex: &mut Expander<'_>, x: ValueId, dim: usize, at: i64) -> Result<ValueId> {
    let (ty, mut limits) = (ex.tensor(x)?, sizes(ex, x)?);
    let mut starts = vec![0; limits.len()];
    (starts[dim], limits[dim]) = (at, at + 1);
    let mut shape = ty.shape.clone();
    shape[dim] = Dim::Static(1);
    let strides = vec![1; limits.len()];
    let attributes = vec![
        ("start_indices", Attribute::I64s(starts)),
        ("limit_indices", Attribute::I64s(limits)),
        ("strides", Attribute::I64s(strides)),
    ];
    ex.emit("stablehlo.slice", &[x], TensorType { shape, ..ty }, attributes)
}

/// `x` where the place along a dimension lies in the range, else `other`.
fn within(
    ex: &mut Expander<'_>,
    [start, end]: [ValueId; 2],
    dim: usize,
    x: ValueId,
    other: ValueId,
) -> Result<ValueId> {
    let ty = TensorType { element: ElementType::I64, ..ex.tensor(x)? };
    let at = ex.emit("stablehlo.iota", &[], ty, vec![("iota_dimension", Attribute::i64(dim as i64))])?;
    let (behind, before) = (ex.compared(at, "GE", start)?, ex.compared(at, "LT", end)?);
    let inside = ex.same("stablehlo.and", &[behind, before])?;
    ex.select(inside, x, other)
}

fn zeros(ex: &mut Expander<'_>, ty: &TensorType) -> Result<ValueId> {
    let zero = vec![0; ty.element.bytes().unwrap_or(1)];
    let dense = DenseElements::splat(ty.clone(), &zero)
        .ok_or_else(|| ex.refused(format!("a result of type {ty}")))?;
    ex.emit("stablehlo.constant", &[], ty.clone(), vec![("value", Attribute::Dense(dense))])
}

/// The ragged dimension is contracted: each group has a product of its own, of operands that are zero elsewhere.
fn contracted(
    ex: &mut Expander<'_>,
    [lhs, rhs]: [ValueId; 2],
    numbers: &RaggedDims,
    pair: usize,
    ranges: &[[ValueId; 2]],
    out: TensorType,
) -> Result<ValueId> {
    let other = numbers.dot.contract_rhs.get(pair).and_then(|d| usize::try_from(*d).ok());
    let other = other.ok_or_else(|| ex.refused("contracting dimensions that do not pair"))?;
    let mut one = out.clone();
    one.shape.first_mut().map(|n| *n = Dim::Static(1)).ok_or_else(|| ex.refused("a result of rank 0"))?;
    let product = TensorType { shape: one.shape[1..].to_vec(), ..out.clone() };
    let (types, mut parts) = ([ex.tensor(lhs)?, ex.tensor(rhs)?], Vec::new());
    let nothing = [zeros(ex, &types[0])?, zeros(ex, &types[1])?];
    for range in ranges {
        let a = within(ex, *range, numbers.ragged as usize, lhs, nothing[0])?;
        let b = within(ex, *range, other, rhs, nothing[1])?;
        let own = dot(ex, a, b, numbers.dot.clone(), product.clone())?;
        parts.push(ex.emit("stablehlo.reshape", &[own], one.clone(), Vec::new())?);
    }
    ex.emit("stablehlo.concatenate", &parts, out, vec![("dimension", Attribute::i64(0))])
}

/// The ragged dimension stays: each group meets its own part of the right operand.
fn free(
    ex: &mut Expander<'_>,
    [lhs, rhs]: [ValueId; 2],
    numbers: &RaggedDims,
    ranges: &[[ValueId; 2]],
    out: TensorType,
) -> Result<ValueId> {
    let group = numbers.group.and_then(|d| usize::try_from(d).ok());
    let ty = ex.tensor(rhs)?;
    let group = group.filter(|d| *d < ty.shape.len());
    let group = group.ok_or_else(|| ex.refused("no group dimension of the right operand"))?;
    // Without the group dimension.
    let lower = |list: &[i64]| list.iter().map(|d| d - i64::from(*d > group as i64)).collect();
    let dims = DotDims {
        batch_rhs: lower(&numbers.dot.batch_rhs),
        contract_rhs: lower(&numbers.dot.contract_rhs),
        ..numbers.dot.clone()
    };
    let mut shape = ty.shape.clone();
    shape.remove(group);
    let part = TensorType { shape, ..ty };
    // Behind the batch, the ragged dimension stands among the free ones.
    let is_free = |d: &i64| !dims.batch_lhs.contains(d) && !dims.contract_lhs.contains(d);
    let along = dims.batch_lhs.len() + (0..numbers.ragged).filter(is_free).count();
    let mut rows = zeros(ex, &out)?;
    for (g, range) in ranges.iter().enumerate() {
        let own = slice(ex, rhs, group, g as i64)?;
        let own = ex.emit("stablehlo.reshape", &[own], part.clone(), Vec::new())?;
        let product = dot(ex, lhs, own, dims.clone(), out.clone())?;
        rows = within(ex, *range, along, product, rows)?;
    }
    Ok(rows)
}
