//! Integers below 8 bits in `i8` and `ui8`, floats below 16 bits in `f32`, which hold the same numbers. What computes is
//! rounded (wrapped) behind; sums and products of two such floats are exact in `f32` or rounded so that the second rounding
//! changes nothing.

use super::{Expander, Result, Rewrite};
use crate::attr::Attribute;
use crate::dense::{DenseData, DenseElements};
use crate::float::{self, Shape};
use crate::interpret::moves_stored;
use crate::module::{Op, ValueId};
use crate::types::{ElementType, TensorType};

pub(super) struct Narrow;

/// Beside moves: operations on such numbers whose results are such numbers.
const CLOSED: &[&str] = &[
    "maximum",
    "minimum",
    "clamp",
    "compare",
    "is_finite",
    "sign",
    "real",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_compare",
    "broadcast_select",
];

impl Rewrite for Narrow {
    fn element(&self, element: &ElementType) -> Option<ElementType> {
        use ElementType::*;
        Some(match element {
            I2 | I4 => I8,
            U2 | U4 => U8,
            F8E3M4 | F8E4M3 | F8E4M3FN | F8E4M3FNUZ | F8E4M3B11FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU
            | F6E2M3FN | F6E3M2FN | F4E2M1FN => F32,
            _ => return None,
        })
    }

    fn entry(&self, ex: &mut Expander<'_>, value: ValueId) -> Result<Option<ValueId>> {
        match narrow(ex, value) {
            Some(element) => rounded(ex, value, &element).map(Some),
            None => Ok(None),
        }
    }

    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()> {
        let (dialect, short) = op.name.split_once('.').unwrap_or(("", &op.name));
        let meets = op.operands.iter().chain(&op.results).any(|v| narrow(ex, *v).is_some());
        if !meets {
            return ex.keep(op);
        }
        let first = op.operands.first().and_then(|v| narrow(ex, *v));
        match (dialect, short) {
            (_, "constant" | "expect_eq_const" | "expect_almost_eq_const" | "constant_like") => {
                constant(ex, op)
            }
            ("check", "expect_close") if first.as_ref().is_some_and(ElementType::is_float) => close(ex, op),
            ("stablehlo", "custom_call")
                if matches!(op.string("call_target_name"), Ok("check.expect_close")) =>
            {
                match first {
                    Some(element) if element.is_float() => close(ex, op),
                    _ => ex.keep(op),
                }
            }
            ("stablehlo" | "chlo", "convert") => convert(ex, op),
            ("stablehlo", "bitcast_convert") => bitcast(ex, op),
            ("stablehlo", "shift_right_logical" | "count_leading_zeros" | "popcnt") => bits(ex, op, short),
            ("stablehlo", "shift_right_arithmetic") => signs(ex, op),
            ("stablehlo" | "chlo", _) if !moves_stored(short) && !CLOSED.contains(&short) => computed(ex, op),
            _ => ex.keep(op),
        }
    }
}

fn narrow(ex: &Expander<'_>, value: ValueId) -> Option<ElementType> {
    let element = &ex.old_tensor(value)?.element;
    Narrow.element(element).map(|_| element.clone())
}

/// The operation, its narrow results rounded.
fn computed(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    ex.keep(op)?;
    for result in &op.results {
        if let Some(element) = narrow(ex, *result) {
            let value = rounded(ex, *result, &element)?;
            ex.values.insert(*result, value);
        }
    }
    Ok(())
}

/// The number of the narrow type that a number of the wider type (or of `f64`) stands for or is nearest to.
fn rounded(ex: &mut Expander<'_>, x: ValueId, element: &ElementType) -> Result<ValueId> {
    if element.is_integer() {
        let width = element.bits().unwrap_or(8);
        let rest = f64::from(8 - width);
        return match element {
            ElementType::I2 | ElementType::I4 => {
                let x = ex.with_number("chlo.broadcast_shift_left", x, rest)?;
                ex.with_number("chlo.broadcast_shift_right_arithmetic", x, rest)
            }
            _ => ex.with_number("chlo.broadcast_and", x, f64::from((1u32 << width) - 1)),
        };
    }
    let Some(shape) = float::shape(element) else {
        return Err(ex.refused(format!("numbers of type {element}")));
    };
    let y = nearest(ex, x, &shape)?;
    let magnitude = ex.same("stablehlo.abs", &[y])?;
    let largest = ex.number(x, shape.largest)?;
    let over = ex.compared(magnitude, "GT", largest)?;
    let y = match shape.overflow {
        Some(value) if value.is_nan() => ex.where_number(over, value, y)?,
        Some(_) => {
            // Infinity, with the sign of the number.
            let infinite = ex.with_number("chlo.broadcast_multiply", y, f64::INFINITY)?;
            ex.select(over, infinite, y)?
        }
        None => {
            let (low, high) = (ex.number(x, -shape.largest)?, largest);
            let ty = ex.tensor(y)?;
            ex.emit("stablehlo.clamp", &[low, y, high], ty, Vec::new())?
        }
    };
    // No minus zero: the sum with plus zero.
    let y = if shape.signed_zero { y } else { ex.with_number("chlo.broadcast_add", y, 0.0)? };
    let nan = ex.compared(x, "NE", x)?;
    let y = match shape.nan {
        true => ex.where_number(nan, f64::NAN, y)?,
        false => ex.where_number(nan, -0.0, y)?,
    };
    if shape.signed {
        return Ok(y);
    }
    // Powers of two alone: nothing at or below zero, and no infinity.
    let least = ex.number(x, shape.least)?;
    let y = ex.broadcast("chlo.broadcast_maximum", y, least, None)?;
    let zero = ex.number(x, 0.0)?;
    let positive = ex.compared(x, "GT", zero)?;
    let (none, ty) = (ex.number(x, f64::NAN)?, ex.tensor(y)?);
    ex.emit("chlo.broadcast_select", &[positive, y, none], ty, Vec::new())
}

/// To the nearest number with so many bits behind the point, ties to even; below the least normal number to the nearest
/// multiple of the least number.
fn nearest(ex: &mut Expander<'_>, x: ValueId, shape: &Shape) -> Result<ValueId> {
    let ty = ex.tensor(x)?;
    let (int, mantissa) = match ty.element {
        ElementType::F64 => (ElementType::I64, 52u32),
        _ => (ElementType::I32, 23),
    };
    let drop = mantissa - shape.mantissa;
    let ints = TensorType { element: int, ..ty.clone() };
    let bits = ex.emit("stablehlo.bitcast_convert", &[x], ints, Vec::new())?;
    let half = (1i64 << (drop - 1)) as f64;
    let up = if shape.signed {
        let odd = ex.with_number("chlo.broadcast_shift_right_logical", bits, f64::from(drop))?;
        let odd = ex.with_number("chlo.broadcast_and", odd, 1.0)?;
        let up = ex.same("stablehlo.add", &[bits, odd])?;
        ex.with_number("chlo.broadcast_add", up, half - 1.0)?
    } else {
        ex.with_number("chlo.broadcast_add", bits, half)?
    };
    let kept = ex.with_number("chlo.broadcast_and", up, -((1i64 << drop) as f64))?;
    let normal = ex.emit("stablehlo.bitcast_convert", &[kept], ty, Vec::new())?;
    if !shape.signed {
        return Ok(normal);
    }
    let units = ex.with_number("chlo.broadcast_divide", x, shape.least)?;
    let units = ex.same("stablehlo.round_nearest_even", &[units])?;
    let small = ex.with_number("chlo.broadcast_multiply", units, shape.least)?;
    let magnitude = ex.same("stablehlo.abs", &[x])?;
    let bound = ex.number(x, shape.least_normal)?;
    let below = ex.compared(magnitude, "LT", bound)?;
    ex.select(below, small, normal)
}

/// The elements of the wider type in the attribute `value`.
fn constant(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let mut new = ex.copied(op)?;
    if let Some(Attribute::Dense(dense)) = op.attributes.get("value")
        && let Some(element) = Narrow.element(&dense.ty.element)
    {
        let ty = TensorType { element: element.clone(), ..(*dense.ty).clone() };
        let wide = |i: u64| match element.is_float() {
            true => (dense.get_f64(i).unwrap_or(0.0) as f32).to_le_bytes().to_vec(),
            false => vec![dense.get_i64(i).unwrap_or(0) as u8],
        };
        let data = match &dense.data {
            DenseData::Splat(_) => DenseData::Splat(wide(0).into()),
            DenseData::Raw(_) => DenseData::Raw((0..dense.len()).flat_map(wide).collect::<Vec<u8>>().into()),
        };
        new.attributes.set("value", Attribute::Dense(DenseElements { ty: ty.into(), data }));
    }
    ex.out.push(new);
    Ok(())
}

fn convert(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let Some(element) = op.results.first().and_then(|v| narrow(ex, *v)) else { return ex.keep(op) };
    let from = op.operands.first().and_then(|v| ex.old_tensor(*v)).map(|t| t.element.clone());
    let mut x = ex.now(op.operands[0]);
    let value = match from {
        // The real part is what is converted.
        Some(from) if from.is_complex() => {
            let ty = TensorType { element: from.real_part(), ..ex.tensor(x)? };
            x = ex.emit("stablehlo.real", &[x], ty, Vec::new())?;
            from_float(ex, x, &element)?
        }
        Some(from) if from.is_float() || element.is_float() => from_float(ex, x, &element)?,
        _ => {
            let wide = Narrow.element(&element).unwrap_or(ElementType::I8);
            let y = ex.convert(x, &wide)?;
            rounded(ex, y, &element)?
        }
    };
    ex.values.insert(op.results[0], value);
    Ok(())
}

/// To a narrow type without a rounding in between; integers saturate.
fn from_float(ex: &mut Expander<'_>, x: ValueId, element: &ElementType) -> Result<ValueId> {
    if element.is_float() {
        let x = ex.convert(x, &ElementType::F64)?;
        let y = rounded(ex, x, element)?;
        return ex.convert(y, &ElementType::F32);
    }
    let bits = element.bits().unwrap_or(8);
    let (wide, low, high) = match element {
        ElementType::I2 | ElementType::I4 => {
            (ElementType::I8, -(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
        }
        _ => (ElementType::U8, 0, (1i64 << bits) - 1),
    };
    let y = ex.convert(x, &wide)?;
    let (low, high) = (ex.number(y, low as f64)?, ex.number(y, high as f64)?);
    let ty = ex.tensor(y)?;
    ex.emit("stablehlo.clamp", &[low, y, high], ty, Vec::new())
}

/// Between integers of one width the bits are the number, wrapped.
fn bitcast(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let element = |v: Option<&ValueId>| v.and_then(|v| ex.old_tensor(*v)).map(|t| t.element.clone());
    let (from, to) = (element(op.operands.first()), element(op.results.first()));
    let (Some(from), Some(to)) = (from, to) else { return ex.keep(op) };
    if from == to {
        return ex.keep(op);
    }
    if !(from.is_integer() && to.is_integer() && from.bits() == to.bits()) {
        return Err(ex.refused(format!("the bits of {from} as {to}")));
    }
    let wide = Narrow.element(&to).unwrap_or(ElementType::I8);
    let x = ex.now(op.operands[0]);
    let y = ex.convert(x, &wide)?;
    let y = rounded(ex, y, &to)?;
    ex.values.insert(op.results[0], y);
    Ok(())
}

/// Operations on the bits of integers: those above the own ones are cleared first.
fn bits(ex: &mut Expander<'_>, op: &Op, short: &str) -> Result<()> {
    let Some(element) = op.operands.first().and_then(|v| narrow(ex, *v)) else { return ex.keep(op) };
    let width = element.bits().unwrap_or(8);
    let mut new = ex.copied(op)?;
    new.operands[0] =
        ex.with_number("chlo.broadcast_and", new.operands[0], f64::from((1u32 << width) - 1))?;
    ex.out.push(new);
    let mut value = op.results[0];
    if short == "count_leading_zeros" {
        value = ex.with_number("chlo.broadcast_subtract", value, f64::from(8 - width))?;
    }
    let value = rounded(ex, value, &element)?;
    ex.values.insert(op.results[0], value);
    Ok(())
}

/// Copies of the sign come in from above: with an unsigned number at the upper end of its byte.
fn signs(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let Some(element) = op.operands.first().and_then(|v| narrow(ex, *v)) else { return ex.keep(op) };
    if matches!(element, ElementType::I2 | ElementType::I4) {
        return ex.keep(op);
    }
    let rest = f64::from(8 - element.bits().unwrap_or(8));
    let (x, by) = (ex.now(op.operands[0]), ex.now(op.operands[1]));
    let x = ex.with_number("chlo.broadcast_shift_left", x, rest)?;
    let x = ex.same("stablehlo.shift_right_arithmetic", &[x, by])?;
    let x = ex.with_number("chlo.broadcast_shift_right_logical", x, rest)?;
    ex.values.insert(op.results[0], x);
    Ok(())
}

/// Distances in units of the last place: of the places of the numbers in the order of their type.
fn close(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let ulps = |name: &str| op.attributes.get(name).and_then(Attribute::as_i64);
    let call = op.name == "stablehlo.custom_call";
    let most = ulps("max_ulp_difference").unwrap_or(if call { 3 } else { 0 });
    let shape = op.operands.first().and_then(|v| narrow(ex, *v)).and_then(|e| float::shape(&e));
    let Some(shape) = shape.filter(|_| ulps("min_ulp_difference").unwrap_or(0) == 0) else {
        return Err(ex.refused("a least distance of such floats"));
    };
    let mut places = Vec::new();
    for operand in &op.operands {
        let x = ex.now(*operand);
        places.push(place(ex, x, &shape)?);
    }
    let mut new = Op {
        operands: places.into(),
        span: op.span,
        location: op.location.clone(),
        ..Op::new("check.expect_almost_eq")
    };
    let bits = (most as f64).to_bits();
    new.attributes.set("tolerance", Attribute::Float { bits, ty: ElementType::F64 });
    ex.out.push(new);
    Ok(())
}

/// Where a number stands in the order of its type, as a float; infinities and NaN stay.
fn place(ex: &mut Expander<'_>, x: ValueId, shape: &Shape) -> Result<ValueId> {
    let ty = ex.tensor(x)?;
    let magnitude = ex.same("stablehlo.abs", &[x])?;
    let ints = TensorType { element: ElementType::I32, ..ty.clone() };
    let bits = ex.emit("stablehlo.bitcast_convert", &[magnitude], ints, Vec::new())?;
    let codes = ex.with_number("chlo.broadcast_shift_right_logical", bits, f64::from(23 - shape.mantissa))?;
    let first = i64::from((shape.least_normal as f32).to_bits() >> (23 - shape.mantissa));
    let codes = ex.with_number("chlo.broadcast_subtract", codes, (first - (1 << shape.mantissa)) as f64)?;
    let normal = ex.convert(codes, &ElementType::F32)?;
    let small = ex.with_number("chlo.broadcast_divide", magnitude, shape.least)?;
    let bound = ex.number(x, shape.least_normal)?;
    let below = ex.compared(magnitude, "LT", bound)?;
    let place = ex.select(below, small, normal)?;
    let sign = ex.same("stablehlo.sign", &[x])?;
    let place = ex.same("stablehlo.multiply", &[place, sign])?;
    let finite = TensorType { element: ElementType::I1, ..ty };
    let finite = ex.emit("stablehlo.is_finite", &[x], finite, Vec::new())?;
    ex.select(finite, place, x)
}
