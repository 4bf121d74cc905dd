//! Types of values in registers and in memory.

use std::fmt;
use surject_runtime::DType;

/// The type of a value in a register. Halves are computed in `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Elem {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Elem {
    /// The register type of an element type; that of its parts for a complex type.
    pub fn of(dtype: DType) -> Elem {
        match dtype {
            DType::I1 => Elem::I1,
            DType::I8 | DType::U8 => Elem::I8,
            DType::I16 | DType::U16 => Elem::I16,
            DType::I32 | DType::U32 => Elem::I32,
            DType::I64 | DType::U64 => Elem::I64,
            DType::F16 | DType::BF16 | DType::F32 | DType::C64 => Elem::F32,
            DType::F64 | DType::C128 => Elem::F64,
        }
    }

    /// The type in memory.
    pub fn in_memory(dtype: DType) -> Elem {
        match dtype {
            DType::I1 => Elem::I8,
            DType::BF16 => Elem::I16,
            DType::F16 => Elem::F16,
            other => Elem::of(other),
        }
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Elem::I1 | Elem::I8 => 1,
            Elem::I16 | Elem::F16 => 2,
            Elem::I32 | Elem::F32 => 4,
            Elem::I64 | Elem::F64 => 8,
        }
    }

    /// Bits.
    pub fn bits(self) -> u32 {
        if self == Elem::I1 { 1 } else { self.size() as u32 * 8 }
    }

    /// The integer type of the same width.
    pub fn int(self) -> Elem {
        match self {
            Elem::F16 => Elem::I16,
            Elem::F32 => Elem::I32,
            Elem::F64 => Elem::I64,
            other => other,
        }
    }

    /// The name in MLIR.
    pub fn name(self) -> &'static str {
        match self {
            Elem::I1 => "i1",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::F16 => "f16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    /// So many lanes of it.
    pub fn ty(self, lanes: usize) -> Type {
        Type::Lanes(self, lanes)
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// So many lanes; one is a scalar.
    Lanes(Elem, usize),
    /// An address.
    Pointer,
    /// An address in each of so many lanes.
    Pointers(usize),
    /// So many `bf16`, which only instructions for them know.
    Bf16(usize),
    /// What `scf.index_switch` chooses by.
    Index,
}

impl Type {
    /// Numbers of loops, positions and addresses within a tensor.
    pub const I64: Type = Type::Lanes(Elem::I64, 1);

    /// One truth.
    pub const I1: Type = Type::Lanes(Elem::I1, 1);

    /// How many lanes it has.
    pub fn lanes(self) -> usize {
        match self {
            Type::Lanes(_, lanes) | Type::Pointers(lanes) | Type::Bf16(lanes) => lanes,
            Type::Pointer | Type::Index => 1,
        }
    }

    /// The type of one of its lanes.
    pub fn element(self) -> Type {
        self.with_lanes(1)
    }

    /// So many lanes of the same.
    pub fn with_lanes(self, lanes: usize) -> Type {
        match self {
            Type::Lanes(elem, _) => Type::Lanes(elem, lanes),
            other => other,
        }
    }

    /// A truth for each of its lanes.
    pub fn truths(self) -> Type {
        Type::Lanes(Elem::I1, self.lanes())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Type::Lanes(elem, 1) => f.write_str(elem.name()),
            Type::Lanes(elem, lanes) => write!(f, "vector<{lanes}x{}>", elem.name()),
            Type::Pointer => f.write_str("!llvm.ptr"),
            Type::Pointers(lanes) => write!(f, "vector<{lanes}x!llvm.ptr>"),
            Type::Bf16(lanes) => write!(f, "vector<{lanes}xbf16>"),
            Type::Index => f.write_str("index"),
        }
    }
}
