//! Kernels: parameters, memory, regions and statements.

use crate::{Access, Affine, BoxCopy, Guard, Level, PhaseBarrier, Phasing, Space, Type};
use std::fmt;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, named};

/// A value: the result of a statement, a parameter of a region, or a size. Each is defined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// A piece of memory: a parameter of the kernel, or what an `alloc` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mem(pub u32);

/// What a piece of memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name; no two of a kernel are the same.
    pub name: String,
    /// Its elements.
    pub dtype: DType,
    /// How many there are.
    pub elements: Affine,
    /// Where it lies.
    pub space: Space,
    /// What the kernel does to it.
    pub access: Access,
}

/// A kernel: a function of sizes and of tensors in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its sizes, values of type `i64`.
    pub sizes: Vec<Value>,
    /// Its tensors, of space `global`.
    pub params: Vec<Mem>,
    /// Every piece of memory, by number.
    pub memory: Vec<Memory>,
    /// The type of every value, by number.
    pub types: Vec<Type>,
    /// What it does.
    pub body: Region,
}

/// Statements, and what surrounds them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    /// The values that the statement around it provides: a loop variable first.
    pub params: Vec<Value>,
    /// The statements, in order.
    pub body: Vec<Statement>,
    /// The values that the statement around it gets.
    pub yields: Vec<Value>,
}

/// An operation and its results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The values it defines.
    pub results: Vec<Value>,
    /// What it does.
    pub op: Op,
}

/// Elements of memory, one for each lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The memory.
    pub mem: Mem,
    /// The number of the element.
    pub at: Affine,
    /// A further part of the number that is known at run time only: an integer, for all lanes or one for each.
    pub offset: Option<Value>,
    /// Where there are elements: elsewhere a load gives its `fill`, and a store does nothing.
    pub guards: Vec<Guard>,
    /// An `i1` for each lane, which has no element where it does not hold.
    pub mask: Option<Value>,
}

impl Place {
    /// Elements of a memory that all exist.
    pub fn new(mem: Mem, at: impl Into<Affine>) -> Place {
        Place { mem, at: at.into(), offset: None, guards: Vec::new(), mask: None }
    }
}

/// Is what is accessed used again soon?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Temporality {
    /// Perhaps: it goes through the caches.
    #[default]
    Normal,
    /// No: it goes past the caches where the machine can do that.
    NonTemporal,
}

/// How the iterations of a loop run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// One after the other.
    Serial,
    /// One after the other, without a loop at run time: the bounds are numbers.
    Unrolled,
    /// In any order and at the same time, by the agents of a level.
    Parallel(Level),
}

/// Which thread's value an exchange gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// That of the thread whose number differs in these bits.
    Xor(usize),
    /// That of the thread so many numbers below; its own where there is none.
    Up(usize),
    /// That of the thread so many numbers above; its own where there is none.
    Down(usize),
    /// That of the thread with this number.
    Thread(Value),
}

/// A matrix in memory, for a matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The memory.
    pub mem: Mem,
    /// Its first element.
    pub at: Affine,
    /// Elements from one row to the next; from one group of rows to the next where several are interleaved.
    pub row: i64,
    /// Elements from one column to the next.
    pub column: i64,
    /// How many rows are interleaved: their elements of a column lie next to each other.
    pub interleaved: usize,
}

impl Tile {
    /// How far the element of a row and a column is from the first.
    pub fn offset(&self, row: usize, column: usize) -> i128 {
        let (group, inside) = (row / self.interleaved.max(1), row % self.interleaved.max(1));
        group as i128 * i128::from(self.row) + inside as i128 + column as i128 * i128::from(self.column)
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The same element in every lane.
    Splat(Scalar),
    /// An element for each lane.
    Constant(Vec<Scalar>),
    /// An affine expression as an integer; it wraps in narrow types.
    Index(Affine),
    /// Do all of these hold? An `i1` for each lane.
    Holds(Vec<Guard>),
    /// An operation on each lane.
    Unary(UnaryOp, Value),
    /// An operation on each lane of two values of one type.
    Binary(BinaryOp, Value, Value),
    /// `a * b + c`, rounded once.
    Fma(Value, Value, Value),
    /// The first value where the condition holds, else the second.
    Select(Value, Value, Value),
    /// The value in the element type of the result.
    Convert(Value),
    /// The bits in the element type of the result, of the same width.
    Bitcast(Value),
    /// Rounded to so many bits of exponent and mantissa.
    ReducePrecision(u32, u32, Value),
    /// A scalar in every lane.
    Broadcast(Value),
    /// Lanes of two values of one type, numbered through, one after the other.
    Shuffle(Value, Value, Vec<usize>),
    /// A lane as a scalar.
    Extract(Value, usize),
    /// The value with another scalar in a lane.
    Insert(Value, usize, Value),
    /// The lane of two values of one type, numbered through, that each lane of an integer says by its lowest bits: by as many as
    /// number all lanes, which are a power of two.
    Lookup(Value, Value, Value),
    /// The first value times two to the power of the second, which is rounded down: rounded once, whatever becomes of it.
    Scale(Value, Value),
    /// The lanes joined to a scalar, in an order that the machine chooses: where there are many, [`halves`] of them are
    /// joined first.
    ReduceLanes(AccOp, Value),
    /// The value that another thread of the warp has here. All threads of the warp take part.
    Exchange(Source, Value),
    /// Elements of memory; `fill` where there is none.
    Load {
        /// Which elements.
        place: Place,
        /// What lanes without an element have.
        fill: Scalar,
        /// Are they used again?
        temporality: Temporality,
    },
    /// Writes elements.
    Store {
        /// Which elements.
        place: Place,
        /// What is written.
        value: Value,
        /// Are they used again?
        temporality: Temporality,
    },
    /// Joins values with elements in memory, each element at once.
    Atomic {
        /// How.
        op: AccOp,
        /// Which elements.
        place: Place,
        /// With what.
        value: Value,
    },
    /// Makes memory, whose elements are undefined.
    Alloc(Mem),
    /// Asks for elements that are needed later. It has no other effect; an address outside of the memory is none.
    Prefetch {
        /// The memory.
        mem: Mem,
        /// The element.
        at: Affine,
        /// What for, and when.
        wanted: Wanted,
    },
    /// Copies elements in the background, until an [`Op::AsyncWait`]. What is copied is read when the copy begins.
    AsyncCopy {
        /// The first element that is read.
        from: Place,
        /// The first element that is written.
        to: Place,
        /// How many.
        elements: usize,
    },
    /// Ends a group of copies in the background.
    AsyncCommit,
    /// Waits until at most so many groups are under way.
    AsyncWait(usize),
    /// Copies a box of a tensor to shared memory in the background; its bytes arrive at a barrier with phases.
    BoxCopy(Box<BoxCopy>),
    /// Begins, arrives at, or waits for a phase of a barrier.
    Phase(PhaseBarrier, Phasing),
    /// Waits until all threads of the block, or of the warp, are here. What they wrote before is seen after.
    Barrier(Level),
    /// `acc += a · b` of matrices of `m × k` and `k × n` elements. A warp does it, or a task.
    MatMul {
        /// Rows of `acc` and of `a`, columns of `acc` and of `b`, the terms of a sum.
        sizes: MatMulSizes,
        /// As what the elements of `a` and `b` are multiplied.
        factors: Factors,
        /// Who does it.
        team: Team,
        /// The sum.
        acc: Tile,
        /// The left operand.
        a: Tile,
        /// The right operand.
        b: Tile,
    },
    /// A loop from `low` up to and without `high`. A serial loop carries values: the region gets them behind its
    /// variable, and yields those of the next iteration.
    For {
        /// The first value of the variable.
        low: Affine,
        /// The end.
        high: Affine,
        /// From one value to the next; at least 1.
        step: i64,
        /// How the iterations run.
        kind: LoopKind,
        /// The carried values before the first iteration.
        inits: Vec<Value>,
        /// An iteration.
        body: Region,
    },
    /// One of two regions, which yield the results.
    If {
        /// A scalar `i1`.
        condition: Value,
        /// Where it holds.
        then: Region,
        /// Where it does not.
        otherwise: Region,
    },
}

named! {
    /// Who does a matrix product.
    Team {
        /// A warp, or a task, for itself.
        One = "one",
        /// Four warps that follow each other, the first one's number a multiple of four, all at once: each its own rows of
        /// the sum.
        Group = "group",
    }
}

named! {
    /// What elements that are prefetched are for.
    Wanted {
        /// They are read at once.
        Read = "read",
        /// They are read a little later: caches that are not the nearest ones are good enough.
        Soon = "soon",
        /// They are written.
        Write = "write",
    }
}

named! {
    /// As what a matrix product multiplies the elements of its operands.
    Factors {
        /// As what they are.
        Own = "own",
        /// As elements of `f32` that are rounded to 10 bits of mantissa, to nearest even, first.
        Tf32 = "tf32",
        /// As what they are, but floats that are subnormal as zeros of the same sign.
        Flushed = "flushed",
    }
}

/// The sizes of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatMulSizes {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Terms of a sum.
    pub k: usize,
}

/// The lanes that are left after each step in which the upper half of many is joined to the lower half, lane by lane: one
/// after the other, lanes would wait for each other.
pub fn halves(lanes: usize) -> Vec<usize> {
    /// Fewer lanes are joined one after the other.
    const MANY: usize = 16;
    let halves = std::iter::successors(Some(lanes / 2), |&half| Some(half / 2)).take_while(|&half| half > 0);
    if lanes >= MANY && lanes.is_power_of_two() { halves.collect() } else { Vec::new() }
}

impl Kernel {
    /// A kernel without parameters, which does nothing.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            sizes: Vec::new(),
            params: Vec::new(),
            memory: Vec::new(),
            types: Vec::new(),
            body: Region::default(),
        }
    }

    /// What a piece of memory is.
    pub fn mem(&self, mem: Mem) -> &Memory {
        &self.memory[mem.0 as usize]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.types[value.0 as usize]
    }

    /// A new value.
    pub fn value(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}

/// Something that an operation refers to.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// An operand.
    Value(&'a Value),
    /// An expression over values.
    Affine(&'a Affine),
    /// A piece of memory.
    Mem(&'a Mem),
    /// A region.
    Region(&'a Region),
}

/// The same, to be changed.
#[derive(Debug)]
pub enum PartMut<'a> {
    /// An operand.
    Value(&'a mut Value),
    /// An expression over values.
    Affine(&'a mut Affine),
    /// A piece of memory.
    Mem(&'a mut Mem),
    /// A region.
    Region(&'a mut Region),
}

/// Writes the visitor of the parts of an operation twice: once for shared references, once for mutable ones.
macro_rules! visitor {
    ($(#[$doc:meta])* $name:ident, $place:ident, $part:ident, $iter:ident $(, $mutable:tt)?) => {
        impl Place {
            fn $place(&$($mutable)? self, f: &mut dyn FnMut($part<'_>)) {
                let Place { mem, at, offset, guards, mask } = self;
                f($part::Mem(mem));
                f($part::Affine(at));
                offset.$iter().for_each(|v| f($part::Value(v)));
                for Guard { expr, bound } in guards {
                    f($part::Affine(expr));
                    f($part::Affine(bound));
                }
                mask.$iter().for_each(|v| f($part::Value(v)));
            }
        }

        impl Op {
            $(#[$doc])*
            pub fn $name(&$($mutable)? self, f: &mut dyn FnMut($part<'_>)) {
                match self {
                    Op::Splat(_) | Op::Constant(_) | Op::AsyncCommit | Op::AsyncWait(_) | Op::Barrier(_) => {}
                    Op::Index(affine) => f($part::Affine(affine)),
                    Op::Holds(guards) => {
                        for Guard { expr, bound } in guards {
                            f($part::Affine(expr));
                            f($part::Affine(bound));
                        }
                    }
                    Op::Unary(_, x)
                    | Op::Convert(x)
                    | Op::Bitcast(x)
                    | Op::ReducePrecision(_, _, x)
                    | Op::Broadcast(x)
                    | Op::Extract(x, _)
                    | Op::ReduceLanes(_, x) => f($part::Value(x)),
                    Op::Binary(_, x, y) | Op::Scale(x, y) | Op::Shuffle(x, y, _) | Op::Insert(x, _, y) => {
                        f($part::Value(x));
                        f($part::Value(y));
                    }
                    Op::Fma(x, y, z) | Op::Select(x, y, z) | Op::Lookup(x, y, z) => {
                        f($part::Value(x));
                        f($part::Value(y));
                        f($part::Value(z));
                    }
                    Op::Exchange(source, x) => {
                        if let Source::Thread(thread) = source {
                            f($part::Value(thread));
                        }
                        f($part::Value(x));
                    }
                    Op::Load { place, .. } => place.$place(f),
                    Op::Store { place, value, .. } | Op::Atomic { place, value, .. } => {
                        place.$place(f);
                        f($part::Value(value));
                    }
                    Op::Alloc(mem) => f($part::Mem(mem)),
                    Op::Prefetch { mem, at, .. } => {
                        f($part::Mem(mem));
                        f($part::Affine(at));
                    }
                    Op::AsyncCopy { from, to, .. } => {
                        from.$place(f);
                        to.$place(f);
                    }
                    Op::BoxCopy(copy) => {
                        let BoxCopy { from, at, to, to_at, arrives, .. } = &$($mutable)? **copy;
                        let PhaseBarrier { mem, at: number } = arrives;
                        at.$iter().chain([to_at, number]).for_each(|at| f($part::Affine(at)));
                        [from, to, mem].into_iter().for_each(|mem| f($part::Mem(mem)));
                    }
                    Op::Phase(PhaseBarrier { mem, at }, how) => {
                        f($part::Mem(mem));
                        f($part::Affine(at));
                        if let Phasing::Wait(parity) = how {
                            f($part::Value(parity));
                        }
                    }
                    Op::MatMul { acc, a, b, .. } => {
                        for Tile { mem, at, .. } in [acc, a, b] {
                            f($part::Mem(mem));
                            f($part::Affine(at));
                        }
                    }
                    Op::For { low, high, inits, body, .. } => {
                        f($part::Affine(low));
                        f($part::Affine(high));
                        inits.$iter().for_each(|v| f($part::Value(v)));
                        f($part::Region(body));
                    }
                    Op::If { condition, then, otherwise } => {
                        f($part::Value(condition));
                        f($part::Region(then));
                        f($part::Region(otherwise));
                    }
                }
            }
        }
    };
}

visitor!(
    /// Shows everything that the operation refers to, regions included; what is inside of regions is not shown.
    parts, place_parts, Part, iter
);
visitor!(
    /// Shows everything that the operation refers to, to be changed.
    parts_mut, place_parts_mut, PartMut, iter_mut, mut
);

impl Op {
    /// The values it needs, those of expressions included, those inside of regions not.
    pub fn operands(&self) -> Vec<Value> {
        let mut operands = Vec::new();
        self.parts(&mut |part| match part {
            Part::Value(value) => operands.push(*value),
            Part::Affine(affine) => operands.extend(affine.values()),
            Part::Mem(_) | Part::Region(_) => {}
        });
        operands
    }

    /// Its regions.
    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        let regions = match self {
            Op::For { body, .. } => [Some(body), None],
            Op::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            _ => [None, None],
        };
        regions.into_iter().flatten()
    }

    /// Does its result depend on its operands alone, and does it nothing else?
    pub fn is_pure(&self) -> bool {
        use Op::*;
        matches!(
            self,
            Splat(_)
                | Constant(_)
                | Index(_)
                | Holds(_)
                | Unary(..)
                | Binary(..)
                | Fma(..)
                | Select(..)
                | Convert(_)
                | Bitcast(_)
                | ReducePrecision(..)
                | Broadcast(_)
                | Shuffle(..)
                | Extract(..)
                | Insert(..)
                | Lookup(..)
                | Scale(..)
                | ReduceLanes(..)
        )
    }
}
