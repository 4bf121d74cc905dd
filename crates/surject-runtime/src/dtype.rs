//! The element types of tensors.

use crate::Scalar;
use std::fmt;
use std::str::FromStr;

/// An element type. Signless integers of StableHLO are signed; `i1` is boolean.
///
/// Layout in memory: little-endian, one element after the other, row-major; `i1` takes one byte (0 or 1);
/// a complex number is its real part followed by its imaginary part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum DType {
    I1,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
    /// `complex<f32>`
    C64,
    /// `complex<f64>`
    C128,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 15] = [
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes one element takes in a buffer.
    pub const fn size(self) -> usize {
        match self {
            DType::I1 | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// Significant bits of one element (1 for `i1`).
    pub const fn bits(self) -> u32 {
        match self {
            DType::I1 => 1,
            other => other.size() as u32 * 8,
        }
    }

    /// `f16`, `bf16`, `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// `complex<f32>` or `complex<f64>`.
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// A signed or unsigned integer of at least eight bits; `i1` is not an integer.
    pub const fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// `i8` to `i64`.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// `u8` to `u64`.
    pub const fn is_unsigned_int(self) -> bool {
        matches!(self, DType::U8 | DType::U16 | DType::U32 | DType::U64)
    }

    /// Is a whole number one of this integer type?
    pub fn holds(self, value: impl Into<i128>) -> bool {
        let value = value.into();
        Scalar::from_i128(self, value).as_i128() == Some(value)
    }

    /// `i1`.
    pub const fn is_bool(self) -> bool {
        matches!(self, DType::I1)
    }

    /// The type of the parts of a complex number; any other type is its own part.
    pub const fn part(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The name used in every text form of Surject: `i1`, `i32`, `u8`, `bf16`, `f32`, `c64`, …
    pub const fn name(self) -> &'static str {
        match self {
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C64 => "c64",
            DType::C128 => "c128",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        DType::ALL.into_iter().find(|d| d.name() == text).ok_or_else(|| {
            format!("`{text}` is not an element type (known: i1 i8 … u64 f16 bf16 f32 f64 c64 c128)")
        })
    }
}
