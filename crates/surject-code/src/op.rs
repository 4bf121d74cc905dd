//! Operations.

use crate::{Literal, Symbol, Type, Value};
use surject_kernel::Temporality;

/// An operation and the values it defines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Statement {
    /// The values it defines.
    pub results: Vec<Value>,
    /// What it does.
    pub op: Op,
}

/// Statements, and what the operation around them gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// Values with their types.
    pub yields: Vec<(Value, Type)>,
}

impl Block {
    /// One operation without results.
    pub fn of(op: Op) -> Block {
        Block { statements: vec![Statement { results: Vec::new(), op }], yields: Vec::new() }
    }
}

/// A value that a loop carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Carry {
    /// What it is in an iteration.
    pub name: Value,
    /// What it is before the first one.
    pub init: Value,
    /// Its type.
    pub ty: Type,
}

/// Which element an address is that of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// That of a known number.
    Number(i64),
    /// That of a number, an `i64`.
    At(Value),
    /// In each of so many lanes that of a number, an `i64`.
    Each(Value, usize),
}

/// Is it asked for to be read or to be written?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prefetched {
    /// To be read, as soon as it may: 3 is at once.
    Read(u8),
    /// To be written.
    Written(u8),
}

/// What is done. Names are those of MLIR's operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// `arith.constant`.
    Constant(Literal),
    /// `llvm.mlir.constant` of an `i8`: the number of a register.
    Register(i8),
    /// An operation on values of one type, which its result has too.
    Same {
        /// Such as `arith.addi` or `math.fma`.
        name: &'static str,
        /// One to three.
        operands: Vec<Value>,
        /// Their type.
        ty: Type,
    },
    /// `arith.cmpi`, `arith.cmpf` or `llvm.icmp`.
    Compare {
        /// Its name.
        name: &'static str,
        /// Such as `slt`.
        predicate: &'static str,
        /// Both sides.
        sides: [Value; 2],
        /// Their type.
        ty: Type,
    },
    /// `arith.select`.
    Select {
        /// One truth, or one for each lane.
        condition: (Value, Type),
        /// What it is where the condition holds, and where not.
        values: [Value; 2],
        /// Their type.
        ty: Type,
    },
    /// A conversion of one value.
    Cast {
        /// Such as `arith.extf`, `vector.bitcast` or `vector.broadcast`.
        name: &'static str,
        /// The value.
        value: Value,
        /// Its type.
        from: Type,
        /// That of the result.
        to: Type,
    },
    /// `vector.shuffle` of two vectors of one type.
    Shuffle {
        /// The vectors, whose elements are numbered through.
        sides: [Value; 2],
        /// Which elements the result has.
        order: Vec<i64>,
        /// The type of either side.
        ty: Type,
    },
    /// `vector.extract`.
    Extract {
        /// The vector.
        vector: Value,
        /// Which element.
        lane: usize,
        /// The type of the vector.
        ty: Type,
    },
    /// `vector.insert`.
    Insert {
        /// The element.
        value: Value,
        /// The vector.
        vector: Value,
        /// Where.
        lane: usize,
        /// The type of the vector.
        ty: Type,
    },
    /// `vector.extract_strided_slice`: the first lanes.
    First {
        /// The vector.
        vector: Value,
        /// Its type.
        from: Type,
        /// That of the result.
        to: Type,
    },
    /// `vector.from_elements`.
    FromElements(Vec<Value>, Type),
    /// `vector.reduction`.
    Reduction {
        /// Such as `or`.
        kind: &'static str,
        /// The vector.
        vector: Value,
        /// Its type.
        ty: Type,
    },
    /// `llvm.getelementptr`.
    Element {
        /// Where the first element is.
        pointer: Value,
        /// Which one it is the address of.
        index: Index,
        /// The type of elements.
        of: Type,
    },
    /// `llvm.load`.
    Load {
        /// Where.
        pointer: Value,
        /// What.
        ty: Type,
        /// The bytes that the address is a multiple of; those of the type without it.
        alignment: Option<usize>,
        /// Does it go past the caches?
        temporality: Temporality,
    },
    /// `llvm.atomicrmw`: joins what is at an address with a value, in no order with other accesses.
    AtomicRmw {
        /// Such as `add` or `umax`.
        kind: &'static str,
        /// Where.
        pointer: Value,
        /// With what.
        value: Value,
        /// Its type.
        ty: Type,
    },
    /// `llvm.store`.
    Store {
        /// What.
        value: Value,
        /// Where.
        pointer: Value,
        /// Its type.
        ty: Type,
        /// The bytes that the address is a multiple of; those of the type without it.
        alignment: Option<usize>,
        /// Does it go past the caches?
        temporality: Temporality,
    },
    /// `llvm.intr.masked.load`.
    MaskedLoad {
        /// Where.
        pointer: Value,
        /// Which lanes.
        mask: Value,
        /// What the others have.
        other: Value,
        /// The type.
        ty: Type,
        /// The bytes that the address is a multiple of.
        alignment: usize,
    },
    /// `llvm.intr.masked.store`.
    MaskedStore {
        /// What.
        value: Value,
        /// Where.
        pointer: Value,
        /// Which lanes.
        mask: Value,
        /// The type.
        ty: Type,
        /// The bytes that the address is a multiple of.
        alignment: usize,
    },
    /// `llvm.intr.masked.gather`.
    Gather {
        /// Where each lane is.
        pointers: Value,
        /// Which lanes.
        mask: Value,
        /// What the others have.
        other: Value,
        /// The type.
        ty: Type,
        /// The bytes that addresses are multiples of.
        alignment: usize,
    },
    /// `llvm.intr.masked.scatter`.
    Scatter {
        /// What.
        value: Value,
        /// Where each lane goes.
        pointers: Value,
        /// Which lanes.
        mask: Value,
        /// The type.
        ty: Type,
        /// The bytes that addresses are multiples of.
        alignment: usize,
    },
    /// `llvm.alloca`.
    Alloca {
        /// How many elements.
        count: Value,
        /// Their type.
        of: Type,
        /// The bytes that the address is a multiple of.
        alignment: Option<usize>,
    },
    /// `llvm.intr.memcpy`.
    Copy {
        /// Where to.
        to: Value,
        /// Where from.
        from: Value,
        /// How much.
        bytes: Value,
    },
    /// `llvm.intr.memset`.
    Fill {
        /// Where.
        to: Value,
        /// With this `i8`.
        byte: Value,
        /// How much.
        bytes: Value,
    },
    /// `llvm.intr.prefetch`.
    Prefetch(Value, Prefetched),
    /// `llvm.call_intrinsic`.
    Intrinsic {
        /// Its name in LLVM.
        name: String,
        /// Values and their types.
        operands: Vec<(Value, Type)>,
        /// What it gives.
        result: Option<Type>,
    },
    /// `llvm.call`.
    Call {
        /// Of which function.
        function: Symbol,
        /// Values and their types.
        operands: Vec<(Value, Type)>,
        /// What it gives.
        result: Option<Type>,
    },
    /// `llvm.mlir.addressof`.
    AddressOf(Symbol),
    /// `scf.for`.
    For {
        /// The variable, an `i64`.
        variable: Value,
        /// From, up to, and by how much.
        bounds: [Value; 3],
        /// What goes from one iteration to the next.
        carried: Vec<Carry>,
        /// An iteration, which yields what the next one gets.
        body: Block,
    },
    /// `scf.if`.
    If {
        /// One truth.
        condition: Value,
        /// Where it holds.
        then: Block,
        /// Where not; the types of what both yield are those of the results.
        otherwise: Block,
    },
    /// `scf.while`.
    While {
        /// What goes from one iteration to the next.
        carried: Vec<Carry>,
        /// What is done first, and yields what an iteration gets.
        before: Block,
        /// Does another iteration follow?
        condition: Value,
        /// What an iteration gets.
        parameters: Vec<(Value, Type)>,
        /// An iteration, which yields what is carried.
        after: Block,
    },
    /// `scf.index_switch`, without results.
    Switch {
        /// A number.
        value: Value,
        /// One block for each number; the last one also for all others.
        cases: Vec<Block>,
    },
}

impl Op {
    /// An operation on values of one type, which its result has too.
    pub fn same(name: &'static str, operands: impl Into<Vec<Value>>, ty: Type) -> Op {
        Op::Same { name, operands: operands.into(), ty }
    }

    /// A conversion.
    pub fn cast(name: &'static str, value: Value, from: Type, to: Type) -> Op {
        Op::Cast { name, value, from, to }
    }

    /// A load of what is aligned as its type.
    pub fn load(pointer: Value, ty: Type) -> Op {
        Op::Load { pointer, ty, alignment: None, temporality: Temporality::Normal }
    }

    /// A load of what is aligned to so many bytes.
    pub fn aligned_load(pointer: Value, ty: Type, alignment: usize) -> Op {
        Op::Load { pointer, ty, alignment: Some(alignment), temporality: Temporality::Normal }
    }

    /// A store of what is aligned as its type.
    pub fn store(value: Value, pointer: Value, ty: Type) -> Op {
        Op::Store { value, pointer, ty, alignment: None, temporality: Temporality::Normal }
    }

    /// A store of what is aligned to so many bytes.
    pub fn aligned_store(value: Value, pointer: Value, ty: Type, alignment: usize) -> Op {
        Op::Store { value, pointer, ty, alignment: Some(alignment), temporality: Temporality::Normal }
    }

    /// An intrinsic function of LLVM.
    pub fn intrinsic(
        name: impl Into<String>,
        operands: impl Into<Vec<(Value, Type)>>,
        result: Option<Type>,
    ) -> Op {
        Op::Intrinsic { name: name.into(), operands: operands.into(), result }
    }

    /// A call.
    pub fn call(function: Symbol, operands: impl Into<Vec<(Value, Type)>>, result: Option<Type>) -> Op {
        Op::Call { function, operands: operands.into(), result }
    }

    /// The blocks inside of it.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Op::For { body, .. } => vec![body],
            Op::If { then, otherwise, .. } => vec![then, otherwise],
            Op::While { before, after, .. } => vec![before, after],
            Op::Switch { cases, .. } => cases.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The values that its blocks get.
    pub fn parameters(&self) -> Vec<Value> {
        match self {
            Op::For { variable, carried, .. } => {
                std::iter::once(*variable).chain(carried.iter().map(|c| c.name)).collect()
            }
            Op::While { carried, parameters, .. } => {
                carried.iter().map(|c| c.name).chain(parameters.iter().map(|p| p.0)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Op::For { body, .. } => vec![body],
            Op::If { then, otherwise, .. } => vec![then, otherwise],
            Op::While { before, after, .. } => vec![before, after],
            Op::Switch { cases, .. } => cases.iter_mut().collect(),
            _ => Vec::new(),
        }
    }
}
