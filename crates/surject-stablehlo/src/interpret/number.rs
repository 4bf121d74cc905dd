//! Elements as numbers: every element type is computed in one of three classes (`i64`, `f64`, a pair of `f64`), and what
//! is computed is cut or rounded once to the element type.
//!
//! For `+ - * /` and roots of `f32` and narrower this gives the bits of arithmetic in the type itself: 53 bits are more
//! than twice 24 and two. Unsigned 64-bit integers are held by their bits.

use num_complex::Complex;

use super::error::{Error, Result};
use crate::float;
use crate::types::{ElementClass, ElementType};

/// A complex number as it is computed.
pub(crate) type C = Complex<f64>;

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    I(i64),
    F(f64),
    C(C),
}

impl Scalar {
    pub(crate) fn int(self) -> i64 {
        match self {
            Scalar::I(v) => v,
            Scalar::F(v) => v as i64,
            Scalar::C(v) => v.re as i64,
        }
    }

    pub(crate) fn float(self) -> f64 {
        match self {
            Scalar::I(v) => v as f64,
            Scalar::F(v) => v,
            Scalar::C(v) => v.re,
        }
    }

    pub(crate) fn complex(self) -> C {
        match self {
            Scalar::I(v) => C::new(v as f64, 0.0),
            Scalar::F(v) => C::new(v, 0.0),
            Scalar::C(v) => v,
        }
    }
}

/// Many elements.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    I(Vec<i64>),
    F(Vec<f64>),
    C(Vec<C>),
}

impl Elements {
    pub(crate) fn len(&self) -> usize {
        match self {
            Elements::I(v) => v.len(),
            Elements::F(v) => v.len(),
            Elements::C(v) => v.len(),
        }
    }

    pub(crate) fn into_scalars(self) -> Vec<Scalar> {
        match self {
            Elements::I(v) => v.into_iter().map(Scalar::I).collect(),
            Elements::F(v) => v.into_iter().map(Scalar::F).collect(),
            Elements::C(v) => v.into_iter().map(Scalar::C).collect(),
        }
    }

    pub(crate) fn from_scalars(element: &ElementType, scalars: &[Scalar]) -> Result<Elements> {
        Ok(match class(element)? {
            Class::I => Elements::I(scalars.iter().map(|s| s.int()).collect()),
            Class::F => Elements::F(scalars.iter().map(|s| s.float()).collect()),
            Class::C => Elements::C(scalars.iter().map(|s| s.complex()).collect()),
        })
    }

    pub(crate) fn into_complex(self) -> Vec<C> {
        match self {
            Elements::I(v) => v.into_iter().map(|v| C::new(v as f64, 0.0)).collect(),
            Elements::F(v) => v.into_iter().map(|v| C::new(v, 0.0)).collect(),
            Elements::C(v) => v,
        }
    }

    /// The element at a position; that of a single element anywhere.
    pub(crate) fn at(&self, i: usize) -> Scalar {
        let i = if self.len() == 1 { 0 } else { i };
        match self {
            Elements::I(v) => Scalar::I(v[i]),
            Elements::F(v) => Scalar::F(v[i]),
            Elements::C(v) => Scalar::C(v[i]),
        }
    }
}

/// How an element type is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    I,
    F,
    C,
}

pub(crate) fn class(element: &ElementType) -> Result<Class> {
    Ok(match element.class() {
        ElementClass::Bool | ElementClass::Signed | ElementClass::Unsigned => Class::I,
        ElementClass::Quantized if element.quantized().is_some() => Class::I,
        ElementClass::Float => Class::F,
        ElementClass::Complex => Class::C,
        _ => return Err(Error::unsupported(format!("elements of type {element}"))),
    })
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Int {
    pub(crate) bits: u32,
    pub(crate) signed: bool,
}

impl Int {
    /// The integer type, or that of what is stored.
    pub(crate) fn of(element: &ElementType) -> Option<Int> {
        let element = element.quantized().map_or(element, |quantized| &quantized.storage);
        let signed = match element.class() {
            ElementClass::Signed => true,
            ElementClass::Unsigned | ElementClass::Bool => false,
            _ => return None,
        };
        Some(Int { bits: element.bits()?, signed })
    }

    /// The value modulo 2^bits.
    pub(crate) fn wrap(self, v: i64) -> i64 {
        if self.bits >= 64 {
            return v;
        }
        let shift = 64 - self.bits;
        if self.signed { v << shift >> shift } else { ((v as u64) << shift >> shift) as i64 }
    }

    pub(crate) fn min(self) -> i64 {
        if self.signed { i64::MIN >> (64 - self.bits) } else { 0 }
    }

    /// The largest value, for `ui64` its bits.
    pub(crate) fn max(self) -> i64 {
        if self.signed { i64::MAX >> (64 - self.bits) } else { (u64::MAX >> (64 - self.bits)) as i64 }
    }

    pub(crate) fn less(self, a: i64, b: i64) -> bool {
        if self.signed { a < b } else { (a as u64) < b as u64 }
    }

    pub(crate) fn wide(self, v: i64) -> i128 {
        if self.signed { v.into() } else { (v as u64).into() }
    }

    /// The nearest value of the type towards zero; NaN becomes 0.
    pub(crate) fn saturate(self, v: f64) -> i64 {
        match (self.bits, self.signed) {
            (64, true) => v as i64,
            (64, false) => v as u64 as i64,
            _ => (v as i64).clamp(self.min(), self.max()),
        }
    }
}

/// The nearest `f64` if it is the value, else of the two next to it the one whose last bit is set: a value that still
/// rounds correctly to any type of at most 51 bits.
pub(crate) fn int_to_odd(v: i128) -> f64 {
    let near = v as f64;
    let back = near as i128;
    if back == v || near.to_bits() & 1 == 1 {
        return near;
    }
    // The neighbour on the other side of the value; its last bit is set.
    let away = (near > 0.0) == (back < v);
    f64::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// A float rounded to a type; the type must be a float type.
pub(crate) fn round(element: &ElementType, v: f64) -> f64 {
    match element {
        ElementType::F64 => v,
        ElementType::F32 => f64::from(v as f32),
        ElementType::TF32 => tf32(v),
        _ => float::encode(element, v).and_then(|bits| float::decode(element, bits)).unwrap_or(v),
    }
}

fn tf32(v: f64) -> f64 {
    let bits = (v as f32).to_bits();
    if !v.is_finite() {
        return v;
    }
    let up = 0xFFF + (bits >> 13 & 1);
    f64::from(f32::from_bits((bits + up) & !0x1FFF))
}

/// What is computed, cut or rounded to the element type.
pub(crate) fn settle(element: &ElementType, value: Scalar) -> Scalar {
    match value {
        Scalar::I(v) => Scalar::I(Int::of(element).map_or(v, |int| int.wrap(v))),
        Scalar::F(v) => Scalar::F(round(element, v)),
        Scalar::C(v) if *element == ElementType::C64 => {
            Scalar::C(C::new(f64::from(v.re as f32), f64::from(v.im as f32)))
        }
        other => other,
    }
}

/// Zero, or what stands for it.
pub(crate) fn zero(element: &ElementType) -> Result<Scalar> {
    if let Some(quantized) = element.quantized() {
        return Ok(Scalar::I(quantized.zero_points.first().copied().unwrap_or(0)));
    }
    Ok(match class(element)? {
        Class::I => Scalar::I(0),
        Class::F => Scalar::F(0.0),
        Class::C => Scalar::C(C::new(0.0, 0.0)),
    })
}

/// The elements in bytes of a buffer.
pub(crate) fn read(element: &ElementType, bytes: &[u8]) -> Result<Elements> {
    use ElementType::*;
    let element = element.quantized().map_or(element, |quantized| &quantized.storage);
    macro_rules! each {
        ($n:literal, $wide:ident, $bytes:ident => $value:expr) => {
            bytes.as_chunks::<$n>().0.iter().map(|$bytes: &[u8; $n]| $value as $wide).collect()
        };
    }
    Ok(match element {
        I1 | U2 | U4 | U8 => Elements::I(bytes.iter().map(|b| i64::from(*b)).collect()),
        I2 | I4 | I8 => Elements::I(bytes.iter().map(|b| i64::from(*b as i8)).collect()),
        I16 => Elements::I(each!(2, i64, b => i16::from_le_bytes(*b))),
        U16 => Elements::I(each!(2, i64, b => u16::from_le_bytes(*b))),
        I32 => Elements::I(each!(4, i64, b => i32::from_le_bytes(*b))),
        U32 => Elements::I(each!(4, i64, b => u32::from_le_bytes(*b))),
        I64 | U64 | Index => Elements::I(each!(8, i64, b => i64::from_le_bytes(*b))),
        F64 => Elements::F(each!(8, f64, b => f64::from_le_bytes(*b))),
        F32 => Elements::F(each!(4, f64, b => f32::from_le_bytes(*b))),
        F16 | BF16 => Elements::F(
            bytes.as_chunks::<2>().0.iter().map(|b| decode(element, u16::from_le_bytes(*b).into())).collect(),
        ),
        C64 => Elements::C(
            bytes
                .as_chunks::<4>()
                .0
                .as_chunks::<2>()
                .0
                .iter()
                .map(|[re, im]| C::new(f32::from_le_bytes(*re).into(), f32::from_le_bytes(*im).into()))
                .collect(),
        ),
        C128 => Elements::C(
            bytes
                .as_chunks::<8>()
                .0
                .as_chunks::<2>()
                .0
                .iter()
                .map(|[re, im]| C::new(f64::from_le_bytes(*re), f64::from_le_bytes(*im)))
                .collect(),
        ),
        _ if element.is_float() && element.bits().is_some_and(|bits| bits <= 8) => {
            let table: Vec<f64> = (0..256).map(|bits| decode(element, bits)).collect();
            Elements::F(bytes.iter().map(|b| table[usize::from(*b)]).collect())
        }
        other => return Err(Error::unsupported(format!("elements of type {other}"))),
    })
}

fn decode(element: &ElementType, bits: u64) -> f64 {
    float::decode(element, bits).unwrap_or(f64::NAN)
}

/// The bytes of elements, each cut or rounded to the element type.
pub(crate) fn write(element: &ElementType, elements: &Elements) -> Result<Vec<u8>> {
    use ElementType::*;
    let element = element.quantized().map_or(element, |quantized| &quantized.storage);
    let wrong = || Error::invalid(format!("numbers of another kind for elements of type {element}"));
    Ok(match (element, elements) {
        (_, Elements::I(values)) => {
            let int = Int::of(element).ok_or_else(wrong)?;
            match int.bits {
                64 => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
                32 => values.iter().flat_map(|v| (*v as i32).to_le_bytes()).collect(),
                16 => values.iter().flat_map(|v| (*v as i16).to_le_bytes()).collect(),
                8 => values.iter().map(|v| *v as u8).collect(),
                _ => values.iter().map(|v| int.wrap(*v) as u8).collect(),
            }
        }
        (F64, Elements::F(values)) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        (F32, Elements::F(values)) => values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect(),
        (F16 | BF16, Elements::F(values)) => {
            values.iter().flat_map(|v| (encode(element, *v) as u16).to_le_bytes()).collect()
        }
        (_, Elements::F(values)) if element.is_float() && element.bits().is_some_and(|bits| bits <= 8) => {
            values.iter().map(|v| encode(element, *v) as u8).collect()
        }
        (C64, Elements::C(values)) => {
            values.iter().flat_map(|z| [z.re, z.im]).flat_map(|v| (v as f32).to_le_bytes()).collect()
        }
        (C128, Elements::C(values)) => {
            values.iter().flat_map(|z| [z.re, z.im]).flat_map(f64::to_le_bytes).collect()
        }
        _ => return Err(wrong()),
    })
}

fn encode(element: &ElementType, value: f64) -> u64 {
    float::encode(element, value).unwrap_or(0)
}

/// Is the first float before the second in the total order, `-NaN < -inf < … < -0 < +0 < … < inf < NaN`?
pub(crate) fn total_key(v: f64) -> i64 {
    let bits = v.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}
