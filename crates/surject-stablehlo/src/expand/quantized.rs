//! Quantized types, by the definitions of the specification, as the interpreter has them: an operation on quantized tensors
//! is the operation on what they express, quantized again; operations that move elements move what is stored.

use super::{Expander, Numbers, Result, Rewrite};
use crate::attr::Attribute;
use crate::interpret::moves_stored;
use crate::module::{Op, ValueId};
use crate::quantized::QuantizedType;
use crate::types::{ElementType, TensorType, Type};

pub(super) struct Quantized;

/// Sums of products are made in `f64`, as the interpreter makes them, and rounded once.
const PRODUCTS: &[&str] = &["dot_general", "dot", "einsum", "unary_einsum", "convolution", "dynamic_conv"];

/// Reductions, whose body may work on another type than the operands have.
const REDUCTIONS: &[&str] = &["reduce", "reduce_window"];

impl Rewrite for Quantized {
    fn element(&self, element: &ElementType) -> Option<ElementType> {
        element.quantized().map(|q| q.storage.clone())
    }

    fn entry(&self, _: &mut Expander<'_>, _: ValueId) -> Result<Option<ValueId>> {
        Ok(None)
    }

    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()> {
        let (dialect, short) = op.name.split_once('.').unwrap_or(("", &op.name));
        let meets = op.operands.iter().chain(&op.results).any(|v| quantized(ex, *v).is_some());
        match (dialect, short) {
            ("stablehlo", "uniform_quantize") => {
                let x = expressed(ex, op.operands[0])?;
                let to = result_type(ex, op, 0)?;
                let stored = quantize(ex, x, &to)?;
                ex.values.insert(op.results[0], stored);
                Ok(())
            }
            ("stablehlo", "uniform_dequantize") => {
                let x = expressed(ex, op.operands[0])?;
                let to = result_type(ex, op, 0)?;
                let value = ex.convert(x, &to.element)?;
                ex.values.insert(op.results[0], value);
                Ok(())
            }
            ("stablehlo" | "chlo", _) if meets && short != "return" && !moves_stored(short) => {
                on_expressed(ex, op, short)
            }
            ("stablehlo", _) if REDUCTIONS.contains(&short) => reduction(ex, op),
            ("stablehlo", _) if differs_from_body(ex, op) => {
                Err(ex.refused("a body of another quantized type than the operands"))
            }
            _ => ex.keep(op),
        }
    }
}

fn quantized(ex: &Expander<'_>, value: ValueId) -> Option<QuantizedType> {
    ex.old_tensor(value)?.element.quantized().cloned()
}

fn result_type(ex: &Expander<'_>, op: &Op, i: usize) -> Result<TensorType> {
    let ty = op.results.get(i).and_then(|v| ex.old_tensor(*v));
    ty.cloned().ok_or_else(|| ex.refused("no tensor as result"))
}

/// Does a scatter or the like join in another type than its operands have?
fn differs_from_body(ex: &Expander<'_>, op: &Op) -> bool {
    let Some(element) = op.operands.first().and_then(|v| ex.old_tensor(*v)).map(|t| &t.element) else {
        return false;
    };
    let other =
        |ty: &Type| ty.as_tensor().is_some_and(|t| t.element != *element && t.element.quantized().is_some());
    matches!(op.short_name(), "scatter" | "select_and_scatter" | "all_reduce" | "reduce_scatter")
        && op.regions.iter().flat_map(|r| &r.params).any(|(_, ty)| other(ty))
}

/// Numbers of a quantized type as a scalar, or along its dimension.
fn numbers(
    ex: &mut Expander<'_>,
    element: &ElementType,
    q: &QuantizedType,
    numbers: Numbers<'_>,
) -> Result<ValueId> {
    ex.constant(element, numbers, q.is_per_axis())
}

/// What a value expresses; itself if it is not quantized.
fn expressed(ex: &mut Expander<'_>, value: ValueId) -> Result<ValueId> {
    let stored = ex.now(value);
    match quantized(ex, value) {
        Some(q) => dequantize(ex, stored, &q),
        None => Ok(stored),
    }
}

/// `(stored - zero point) * scale` in the expressed type.
fn dequantize(ex: &mut Expander<'_>, stored: ValueId, q: &QuantizedType) -> Result<ValueId> {
    let wide = if q.storage_bits <= 16 { ElementType::I32 } else { ElementType::I64 };
    let mut x = ex.convert(stored, &wide)?;
    if q.zero_points.iter().any(|z| *z != 0) {
        let zero = numbers(ex, &wide, q, Numbers::Ints(&q.zero_points))?;
        x = ex.broadcast("chlo.broadcast_subtract", x, zero, q.dimension)?;
    }
    let x = ex.convert(x, &q.expressed)?;
    let scale = numbers(ex, &q.expressed, q, Numbers::Floats(&q.scales))?;
    ex.broadcast("chlo.broadcast_multiply", x, scale, q.dimension)
}

/// `value / scale + zero point`, held within the bounds of storage, to the nearest integer, ties to even.
fn quantize(ex: &mut Expander<'_>, x: ValueId, to: &TensorType) -> Result<ValueId> {
    let Some(q) = to.element.quantized().cloned() else { return ex.convert(x, &to.element) };
    let x = ex.convert(x, &q.expressed)?;
    let scale = numbers(ex, &q.expressed, &q, Numbers::Floats(&q.scales))?;
    let mut x = ex.broadcast("chlo.broadcast_divide", x, scale, q.dimension)?;
    if q.zero_points.iter().any(|z| *z != 0) {
        let points: Vec<f64> = q.zero_points.iter().map(|z| *z as f64).collect();
        let zero = numbers(ex, &q.expressed, &q, Numbers::Floats(&points))?;
        x = ex.broadcast("chlo.broadcast_add", x, zero, q.dimension)?;
    }
    let (low, high) = (ex.number(x, q.storage_min as f64)?, ex.number(x, q.storage_max as f64)?);
    let ty = ex.tensor(x)?;
    let x = ex.emit("stablehlo.clamp", &[low, x, high], ty, Vec::new())?;
    let x = ex.same("stablehlo.round_nearest_even", &[x])?;
    // What the expressed type cannot tell from the bound beyond it is held by the conversion; NaN becomes 0.
    ex.convert(x, &q.storage)
}

/// The operation on what its operands express, quantized as its results ask.
fn on_expressed(ex: &mut Expander<'_>, op: &Op, short: &str) -> Result<()> {
    if !op.regions.is_empty() {
        return Err(ex.refused("regions on quantized tensors"));
    }
    let wide = PRODUCTS.contains(&short);
    let mut operands = Vec::new();
    for operand in &op.operands {
        let mut x = expressed(ex, *operand)?;
        if wide && ex.tensor(x)?.element.is_float() {
            x = ex.convert(x, &ElementType::F64)?;
        }
        operands.push(x);
    }
    let mut new = op.clone();
    new.operands = operands.into();
    if wide {
        new.attributes.remove("algorithm");
    }
    if new.attributes.contains("compare_type") {
        new.attributes.set("compare_type", Attribute::enumeration("comparison_type", "FLOAT"));
    }
    let mut declared = Vec::new();
    for result in &mut new.results {
        let Some(ty) = ex.old_tensor(*result).cloned() else { continue };
        let own = ty.element.quantized().map_or_else(|| ty.element.clone(), |q| q.expressed.clone());
        let element = if wide && own.is_float() { ElementType::F64 } else { own.clone() };
        let id = ex.new.new_value(Type::Tensor(TensorType { element, ..ty.clone() }.into()), "");
        declared.push((*result, id, own, ty));
        *result = id;
    }
    ex.out.push(new);
    for (result, id, own, ty) in declared {
        let value = ex.convert(id, &own)?;
        let value = quantize(ex, value, &ty)?;
        ex.values.insert(result, value);
    }
    Ok(())
}

/// A reduction; its operands in the types of its body.
fn reduction(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let wanted: Vec<Type> = op.regions.iter().flat_map(|r| &r.params).map(|(_, ty)| ty.clone()).collect();
    let mut changed = Vec::new();
    for (operand, want) in op.operands.iter().zip(&wanted) {
        let (Some(own), Some(want)) = (ex.old_tensor(*operand).cloned(), want.as_tensor()) else { continue };
        let differs = own.element != want.element;
        if differs && (own.element.quantized().is_some() || want.element.quantized().is_some()) {
            let x = expressed(ex, *operand)?;
            let to = TensorType { element: want.element.clone(), ..own };
            changed.push((*operand, quantize(ex, x, &to)?));
        }
    }
    let mut new = ex.copied(op)?;
    for (i, operand) in op.operands.iter().enumerate() {
        if let Some((_, value)) = changed.iter().find(|(old, _)| old == operand) {
            new.operands[i] = *value;
        }
    }
    ex.out.push(new);
    Ok(())
}
