//! One element of a tensor: a type and its bits.

use crate::DType;
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt;

/// A typed element, compared and hashed by its bits (so `-0.0` differs from `0.0` and a NaN equals itself).
///
/// The bits of types narrower than 128 bits stand in the low bits, the rest is zero. A complex number
/// holds its real part in the lower half of its width and the imaginary part above it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scalar {
    dtype: DType,
    bits: u128,
}

impl Scalar {
    /// The element of `dtype` with these bits; bits beyond the width are cleared.
    pub fn from_bits(dtype: DType, bits: u128) -> Scalar {
        let mask = if dtype.bits() == 128 { u128::MAX } else { (1 << dtype.bits()) - 1 };
        Scalar { dtype, bits: bits & mask }
    }

    /// Reads an element from its little-endian bytes (`dtype.size()` of them).
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Scalar {
        let mut wide = [0u8; 16];
        wide[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
        Scalar::from_bits(dtype, u128::from_le_bytes(wide))
    }

    /// The little-endian bytes; the first `dtype().size()` of them count.
    pub fn to_bytes(self) -> [u8; 16] {
        self.bits.to_le_bytes()
    }

    /// The element type.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The bits, zero-extended.
    pub fn bits(self) -> u128 {
        self.bits
    }

    /// An integer converted to `dtype`: wraps in integers, rounds to nearest even in floats, is `≠ 0` for `i1`.
    pub fn from_i128(dtype: DType, value: i128) -> Scalar {
        let bits = match dtype {
            DType::I1 => (value != 0) as u128,
            DType::F16 => f16::from_f64(value as f64).to_bits() as u128,
            DType::BF16 => bf16::from_f64(value as f64).to_bits() as u128,
            DType::F32 => (value as f32).to_bits() as u128,
            DType::F64 => (value as f64).to_bits() as u128,
            DType::C64 => (value as f32).to_bits() as u128,
            DType::C128 => (value as f64).to_bits() as u128,
            _ => value as u128,
        };
        Scalar::from_bits(dtype, bits)
    }

    /// A float converted to `dtype`: rounds to nearest even in floats, saturates in integers (NaN gives 0),
    /// is `≠ 0` for `i1`.
    pub fn from_f64(dtype: DType, value: f64) -> Scalar {
        let bits = match dtype {
            DType::I1 => (value != 0.0) as u128,
            DType::I8 => value as i8 as u128,
            DType::I16 => value as i16 as u128,
            DType::I32 => value as i32 as u128,
            DType::I64 => value as i64 as u128,
            DType::U8 => value as u8 as u128,
            DType::U16 => value as u16 as u128,
            DType::U32 => value as u32 as u128,
            DType::U64 => value as u64 as u128,
            DType::F16 => f16::from_f64(value).to_bits() as u128,
            DType::BF16 => bf16::from_f64(value).to_bits() as u128,
            DType::F32 | DType::C64 => (value as f32).to_bits() as u128,
            DType::F64 | DType::C128 => value.to_bits() as u128,
        };
        Scalar::from_bits(dtype, bits)
    }

    /// A complex number; `dtype` is one of the complex types, any other takes the real part.
    pub fn from_complex(dtype: DType, value: Complex<f64>) -> Scalar {
        match dtype {
            DType::C64 => Scalar::from_bits(
                dtype,
                (value.re as f32).to_bits() as u128 | ((value.im as f32).to_bits() as u128) << 32,
            ),
            DType::C128 => {
                Scalar::from_bits(dtype, value.re.to_bits() as u128 | (value.im.to_bits() as u128) << 64)
            }
            _ => Scalar::from_f64(dtype, value.re),
        }
    }

    /// A truth value.
    pub fn bool(value: bool) -> Scalar {
        Scalar { dtype: DType::I1, bits: value as u128 }
    }

    /// Zero (positive zero, false).
    pub fn zero(dtype: DType) -> Scalar {
        Scalar { dtype, bits: 0 }
    }

    /// One (true).
    pub fn one(dtype: DType) -> Scalar {
        Scalar::from_i128(dtype, 1)
    }

    /// The value as an integer if the type is an integer or `i1`.
    pub fn as_i128(self) -> Option<i128> {
        Some(match self.dtype {
            DType::I1 => self.bits as i128,
            DType::I8 => self.bits as u8 as i8 as i128,
            DType::I16 => self.bits as u16 as i16 as i128,
            DType::I32 => self.bits as u32 as i32 as i128,
            DType::I64 => self.bits as u64 as i64 as i128,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => self.bits as i128,
            _ => return None,
        })
    }

    /// The value as `f64`, exactly for floats; integers round; a complex number gives its real part.
    pub fn as_f64(self) -> f64 {
        match self.dtype {
            DType::F16 => f16::from_bits(self.bits as u16).to_f64(),
            DType::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            DType::F32 | DType::C64 => f32::from_bits(self.bits as u32) as f64,
            DType::F64 | DType::C128 => f64::from_bits(self.bits as u64),
            _ => self.as_i128().map_or(0.0, |v| v as f64),
        }
    }

    /// The value as a complex number.
    pub fn as_complex(self) -> Complex<f64> {
        let im = match self.dtype {
            DType::C64 => f32::from_bits((self.bits >> 32) as u32) as f64,
            DType::C128 => f64::from_bits((self.bits >> 64) as u64),
            _ => 0.0,
        };
        Complex::new(self.as_f64(), im)
    }

    /// Is it true (for `i1`), or not zero?
    pub fn is_true(self) -> bool {
        self.bits != 0
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::I1 => write!(f, "{}", self.is_true()),
            d if d.is_complex() => write!(f, "{:?}{d}", self.as_complex()),
            d if d.is_float() => write!(f, "{:?}{d}", self.as_f64()),
            d => write!(f, "{}{d}", self.as_i128().unwrap_or_default()),
        }
    }
}
