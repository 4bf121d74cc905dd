//! Instructions as they are run.

use crate::boxes::Phasing;

/// How the bits of a value are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As bits.
    Bits,
    Unsigned,
    Signed,
    /// `f16`, `f32` or `f64`.
    Float,
    /// `bf16`
    Brain,
    Predicate,
}

/// A type: how the bits are read, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ty {
    pub(crate) kind: Kind,
    pub(crate) bits: u32,
}

impl Ty {
    pub(crate) fn named(name: &str) -> Option<Ty> {
        let ty = |kind, bits| Some(Ty { kind, bits });
        match name {
            "pred" => return ty(Kind::Predicate, 1),
            "bf16" => return ty(Kind::Brain, 16),
            _ => {}
        }
        let kind = match name.as_bytes().first()? {
            b'b' => Kind::Bits,
            b'u' => Kind::Unsigned,
            b's' => Kind::Signed,
            b'f' => Kind::Float,
            _ => return None,
        };
        let bits: u32 = name[1..].parse().ok()?;
        let fits = match kind {
            Kind::Float => matches!(bits, 16 | 32 | 64),
            Kind::Bits => matches!(bits, 8 | 16 | 32 | 64 | 128),
            _ => matches!(bits, 8 | 16 | 32 | 64),
        };
        if fits { ty(kind, bits) } else { None }
    }

    pub(crate) fn bytes(self) -> usize {
        self.bits as usize / 8
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float | Kind::Brain)
    }

    pub(crate) fn mask(self) -> u64 {
        if self.bits >= 64 { u64::MAX } else { (1 << self.bits) - 1 }
    }
}

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    Local,
    Param,
}

/// A value that the machine gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Thread,
    Threads,
    /// The number of the block, and of blocks, in a dimension.
    Block(usize),
    Blocks(usize),
    Lane,
    Warp,
    /// Of the dimensions that are not used: 0, and 1 for sizes.
    Zero,
    One,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(usize),
    /// The other truth value.
    NotRegister(usize),
    Number(u64),
    Special(Special),
    /// The address of a variable.
    Symbol(usize),
    /// What lies at an address.
    Address(Base, i64),
    /// A place in the tensor whose map lies at an address.
    Box(Box<Operand>, Vec<Operand>),
    Vector(Vec<Operand>),
    /// Nobody wants it.
    Sink,
}

/// What an address begins with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base {
    Register(usize),
    Symbol(usize),
    Param(usize),
    Number,
}

/// Which bits of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Low,
    High,
    Wide,
}

/// Operations with one result of the type of their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Alu {
    Add,
    Sub,
    Div,
    Rem,
    Min,
    Max,
    /// NaN wins.
    MinNan,
    MaxNan,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Abs,
    Shl,
    Shr,
    Popc,
    Clz,
    Brev,
    Fma,
    MulFloat,
    Sqrt,
    Rcp,
    Bfe,
    Bfi,
    Prmt,
    Lop3,
    ShfLeft,
    ShfRight,
    CopySign,
}

/// What a conversion does with a value that its type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// It is cut off.
    Wraps,
    /// It is the nearest that there is.
    Saturates,
}

/// How threads get the elements of a matrix from shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they lie there.
    ByRows,
    /// Those of the transpose.
    Transposed,
}

/// How a conversion rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To an integer: the nearest, towards zero, down, up.
    NearestInteger,
    ZeroInteger,
    DownInteger,
    UpInteger,
    /// Nothing is lost.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// True where either is NaN.
    EqOr,
    NeOr,
    LtOr,
    LeOr,
    GtOr,
    GeOr,
    /// Is neither NaN? Is one?
    Num,
    Nan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    Compare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Xor,
    Up,
    Down,
    Index,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Ballot,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    Alu(Alu, Ty),
    /// The same on both halves of a register.
    Pair(Alu, Ty),
    /// In `f32`, with operands of this type but for the last one.
    Mixed(Alu, Ty),
    Multiply(Part, Ty),
    MultiplyAdd(Part, Ty),
    Convert {
        to: Ty,
        from: Ty,
        rounding: Rounding,
        overflow: Overflow,
    },
    /// Two floats to a pair of halves.
    ConvertPair {
        to: Ty,
    },
    SetPredicate {
        compare: Compare,
        ty: Ty,
        join: Option<Alu>,
    },
    Select(Ty),
    Move(Ty),
    Load {
        space: Space,
        ty: Ty,
    },
    Store {
        space: Space,
        ty: Ty,
    },
    Atomic {
        space: Space,
        op: Atomic,
        ty: Ty,
        result: bool,
    },
    /// A generic address of one in a space, or the other way round.
    Cvta {
        space: Space,
        to: bool,
    },
    CopyAsync {
        bytes: usize,
    },
    CopyCommit,
    /// Waits until at most so many groups are left.
    CopyWait(usize),
    Branch(usize),
    Return,
    Barrier,
    WarpBarrier,
    Shuffle(Shuffle),
    Vote(Vote),
    ActiveMask,
    LoadMatrix {
        count: usize,
        order: Order,
    },
    MatMul {
        m: usize,
        n: usize,
        k: usize,
        operands: Ty,
        /// The bits of an element that count: of tf32, which has the width of `f32`, not all.
        kept: u64,
        sum: Ty,
    },
    /// A product by four warps, of 64 rows and so many columns.
    GroupMatMul {
        n: usize,
        operands: Ty,
        sum: Ty,
    },
    GroupFence,
    GroupCommit,
    /// Waits until at most so many groups of products are left: its operand.
    GroupWait,
    /// Four warps get registers, or give them away.
    GroupRegisters,
    /// A box of a tensor begins to be copied.
    BoxCopy,
    /// Something is done at a barrier with phases.
    Phase(Phasing),
    /// Nothing that is seen here.
    Nothing,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    /// A predicate, and whether it must hold.
    pub(crate) guard: Option<(usize, bool)>,
    pub(crate) op: Op,
    pub(crate) operands: Vec<Operand>,
    pub(crate) line: usize,
}
