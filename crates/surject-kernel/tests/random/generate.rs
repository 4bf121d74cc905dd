//! Random kernels of everything that the IR has, which the verifier accepts.
//!
//! A kernel is made from a list of numbers, each of which is a choice, so that a list that is shorter or has smaller numbers
//! is a smaller kernel. Accesses are guarded mostly, so that many kernels run to their end; that others are faults is what
//! the interpreter finds.

use crate::features::Variant;
use std::collections::HashSet;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};
use surject_kernel::interpret::Tensor;
use surject_kernel::{
    Access, Affine, BoxCopy, Factors, Guard, Kernel, Level, LoopKind, MatMulSizes, Mem, Memory, Op,
    PhaseBarrier, Phasing, Place, Region, Source, Space, Statement, Team, Temporality, TensorMap, Term, Tile,
    Type, Value,
};

/// Names of kernels and memory: usual ones, words of the text form, and what is no word.
const NAMES: [&str; 32] = [
    "x",
    "y",
    "out",
    "v0",
    "tile_1",
    "lane",
    "where",
    "else",
    "mask",
    "offset",
    "for",
    "yield",
    "kernel",
    "bits",
    "inf",
    "true",
    "f32",
    "size",
    "read",
    "nontemporal",
    "",
    "a b",
    "ünï",
    "back`quote",
    "back\\slash",
    "new\nline",
    "%1",
    "0x1f",
    "x-y",
    "// no comment",
    "\"",
    "tab\t\r",
];

/// Numbers that choose, one after the other; zeros when there are no more.
pub struct Choices<'c> {
    numbers: &'c [u32],
    next: usize,
}

impl<'c> Choices<'c> {
    pub fn new(numbers: &'c [u32]) -> Choices<'c> {
        Choices { numbers, next: 0 }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.numbers.get(self.next - 1).copied().unwrap_or(0)
    }

    fn is_over(&self) -> bool {
        self.next >= self.numbers.len()
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.number() as usize % end.max(1)
    }

    /// Does it hold, once in so many times?
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        if all.is_empty() { None } else { Some(all[self.below(all.len())].clone()) }
    }

    fn bits(&mut self) -> u64 {
        u64::from(self.number()) << 32 | u64::from(self.number())
    }
}

/// A kernel, and what it may be run with.
pub struct Generated {
    pub kernel: Kernel,
    pub sizes: Vec<i64>,
    pub tensors: Vec<Tensor>,
}

/// The kernel that some numbers choose.
pub fn kernel(numbers: &[u32]) -> Generated {
    let generator = Generator {
        choices: Choices::new(numbers),
        kernel: Kernel::new(""),
        bodies: vec![Vec::new()],
        values: Vec::new(),
        made: Vec::new(),
        levels: Vec::new(),
        barriers: Vec::new(),
        written: HashSet::new(),
        names: HashSet::new(),
    };
    generator.kernel()
}

struct Generator<'c> {
    choices: Choices<'c>,
    kernel: Kernel,
    /// The statements of the regions around this place.
    bodies: Vec<Vec<Statement>>,
    /// The values that are defined here.
    values: Vec<Value>,
    /// The memory that exists here, and inside of how many parallel loops it is made.
    made: Vec<(Mem, usize)>,
    levels: Vec<Level>,
    /// Memory of barriers with phases, which nothing else may use.
    barriers: Vec<Mem>,
    /// Memory of which all elements are written.
    written: HashSet<Mem>,
    names: HashSet<String>,
}

/// How deep regions nest.
const DEPTH: usize = 5;

impl Generator<'_> {
    fn kernel(mut self) -> Generated {
        let name = self.choices.below(NAMES.len());
        self.kernel.name = NAMES[name].to_string();
        let mut sizes = Vec::new();
        for _ in 0..self.choices.below(4) {
            let value = self.kernel.value(Type::index());
            self.kernel.sizes.push(value);
            self.values.push(value);
            sizes.push(1 + self.choices.below(6) as i64);
        }
        let mut tensors = Vec::new();
        let accesses = [Access::Read, Access::ReadWrite, Access::Read, Access::ReadWrite, Access::Write];
        for _ in 0..self.choices.below(6) {
            let dtype = self.dtype();
            let access = self.choices.of(&accesses).unwrap_or(Access::Read);
            let elements = self.elements(48);
            let number = |v: Value| sizes.get(v.0 as usize).copied();
            let count = elements.at(0, &number).unwrap_or(0).max(0) as usize;
            let mem = self.memory(dtype, elements, Space::Global, access);
            self.kernel.params.push(mem);
            self.made.push((mem, 0));
            tensors.push(if access == Access::Write {
                Tensor::unwritten(dtype, count)
            } else {
                self.written.insert(mem);
                let elements: Vec<Scalar> = (0..count).map(|_| self.plain(dtype)).collect();
                if count == 0 { Tensor::unwritten(dtype, 0) } else { Tensor::of(&elements) }
            });
        }
        self.statements(0, 12);
        self.kernel.body.body = self.bodies.pop().unwrap_or_default();
        Generated { kernel: self.kernel, sizes, tensors }
    }

    fn dtype(&mut self) -> DType {
        let all: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()).collect();
        // Floats and indices more often, so that operations find operands.
        let often = [DType::F32, DType::F64, DType::I64, DType::I32];
        if self.choices.once_in(2) { self.choices.of(&all) } else { self.choices.of(&often) }
            .unwrap_or(DType::F32)
    }

    fn lanes(&mut self) -> usize {
        self.choices.of(&[1, 1, 1, 4, 2, 8, 3, 16, 5]).unwrap_or(1)
    }

    /// How many elements memory has: a number, or an expression over sizes.
    fn elements(&mut self, most: usize) -> Affine {
        let number = Affine::from(16 + self.choices.below(most) as i64);
        let sizes = self.kernel.sizes.clone();
        match self.choices.once_in(3).then(|| self.choices.of(&sizes)).flatten() {
            Some(size) => {
                let factor = 1 + self.choices.below(4) as i64;
                let term = Affine::from(size).times(factor).unwrap_or_default();
                number.plus(&term, 1).unwrap_or_default()
            }
            None => number,
        }
    }

    fn memory(&mut self, dtype: DType, elements: Affine, space: Space, access: Access) -> Mem {
        let mut name = NAMES[self.choices.below(NAMES.len())].to_string();
        if !self.names.insert(name.clone()) {
            name = format!("{name}{}", self.kernel.memory.len());
            self.names.insert(name.clone());
        }
        self.kernel.memory.push(Memory { name, dtype, elements, space, access });
        Mem(self.kernel.memory.len() as u32 - 1)
    }

    /// A value that is not special.
    fn plain(&mut self, dtype: DType) -> Scalar {
        Scalar::from_f64(dtype, (self.choices.below(19) as f64 - 5.0) / 2.0)
    }

    /// Any element, special ones more often than others.
    fn scalar(&mut self, dtype: DType) -> Scalar {
        let bits = dtype.bits();
        let special: Vec<u128> = match dtype {
            DType::I1 => vec![0, 1],
            d if d.is_float() => {
                let mantissa: u32 = match d {
                    DType::F16 => 10,
                    DType::BF16 => 7,
                    DType::F32 => 23,
                    _ => 52,
                };
                let sign = 1u128 << (bits - 1);
                let infinity = (sign - 1) >> mantissa << mantissa;
                let quiet = infinity | 1 << (mantissa - 1);
                let (normal, most) = (1u128 << mantissa, infinity - 1);
                let patterns =
                    [0, infinity, quiet, quiet | 5, infinity | 1, 1, normal - 1, normal, most, sign - 1];
                patterns.into_iter().flat_map(|pattern| [pattern, pattern | sign]).collect()
            }
            _ => vec![0, 1, u128::MAX, 1 << (bits - 1), (1 << (bits - 1)) - 1],
        };
        match self.choices.below(4) {
            0 | 1 => self.plain(dtype),
            2 => Scalar::from_bits(dtype, self.choices.of(&special).unwrap_or(0)),
            _ => Scalar::from_bits(dtype, self.choices.bits().into()),
        }
    }

    /// A statement here, and its result.
    fn emit(&mut self, op: Op, ty: Type) -> Value {
        let value = self.kernel.value(ty);
        self.push(vec![value], op);
        value
    }

    fn effect(&mut self, op: Op) {
        self.push(Vec::new(), op);
    }

    fn push(&mut self, results: Vec<Value>, op: Op) {
        self.values.extend(&results);
        self.bodies.last_mut().expect("a region is open").push(Statement { results, op });
    }

    /// A value that is defined here, of a type that fits.
    fn pick(&mut self, fits: impl Fn(Type) -> bool) -> Option<Value> {
        let all: Vec<Value> = self.values.iter().copied().filter(|&v| fits(self.kernel.ty(v))).collect();
        self.choices.of(&all)
    }

    /// A value of a type: one that is defined here, or a new one.
    fn value(&mut self, ty: Type) -> Value {
        let found = if self.choices.once_in(4) { None } else { self.pick(|found| found == ty) };
        found.unwrap_or_else(|| {
            let value = self.scalar(ty.dtype);
            self.emit(Op::Splat(value), ty)
        })
    }

    fn value_of(&mut self, fits: impl Fn(DType) -> bool) -> Value {
        let all: Vec<DType> = DType::ALL.into_iter().filter(|&d| !d.is_complex() && fits(d)).collect();
        let found = if self.choices.once_in(3) { None } else { self.pick(|ty| fits(ty.dtype)) };
        found.unwrap_or_else(|| {
            let dtype = self.choices.of(&all).expect("some type fits");
            let lanes = self.lanes();
            self.value(Type::vector(dtype, lanes))
        })
    }

    /// An expression; small numbers mostly.
    fn affine(&mut self, lanes: usize) -> Affine {
        let mut sum = Affine::from(self.choices.below(6) as i64);
        if self.choices.once_in(80) {
            let large = [i64::MIN, i64::MAX, -1, i64::MIN + 1];
            sum.offset = self.choices.of(&large).unwrap_or(0);
        }
        for _ in 0..self.choices.below(3) {
            let Some(value) = self.pick(|ty| ty == Type::index()) else { break };
            let mut values = vec![value];
            let sizes = self.kernel.sizes.clone();
            if let Some(size) = self.choices.once_in(4).then(|| self.choices.of(&sizes)).flatten() {
                values.push(size);
                values.sort_unstable();
            }
            let factor =
                if self.choices.once_in(150) { i64::MIN } else { [1, 2, 3, -1, -2][self.choices.below(5)] };
            let term = Affine { terms: vec![Term { values, factor }], ..Affine::default() };
            sum = sum.plus(&term, 1).unwrap_or(sum);
        }
        if lanes > 1 {
            sum.lane = [1, 1, 2, 0, -1][self.choices.below(5)];
        }
        sum
    }

    fn guard(&mut self, lanes: usize) -> Guard {
        let expr = self.affine(lanes);
        Guard { expr, bound: self.affine(lanes) }
    }

    /// Memory that exists here and may be used here.
    fn mem(&mut self, fits: impl Fn(&Memory) -> bool) -> Option<Mem> {
        let depth = self.levels.len();
        let own = |space: Space| matches!(space, Space::Register | Space::Stack);
        let usable = |&(mem, made): &(Mem, usize)| {
            let memory = self.kernel.mem(mem);
            let here = !own(memory.space) || made == depth;
            (here && !self.barriers.contains(&mem) && fits(memory)).then_some(mem)
        };
        let all: Vec<Mem> = self.made.iter().filter_map(usable).collect();
        let written: Vec<Mem> = all.iter().copied().filter(|mem| self.written.contains(mem)).collect();
        let some = if self.choices.once_in(6) || written.is_empty() { all } else { written };
        self.choices.of(&some)
    }

    /// Elements of a memory, which exist mostly.
    fn place(&mut self, mem: Mem, lanes: usize, masked: bool) -> Place {
        let mut place = Place::new(mem, self.affine(lanes));
        match self.choices.below(8) {
            // Small numbers exist.
            0 => {
                let at = Affine::from(self.choices.below(4) as i64);
                place.at = if lanes > 1 { at.plus(&Affine::lane(1), 1).unwrap_or_default() } else { at };
            }
            1 => {}
            _ => {
                let bound = self.kernel.mem(mem).elements.clone();
                place.guards.push(Guard { expr: place.at.clone(), bound });
            }
        }
        if self.choices.once_in(4) {
            let guard = self.guard(lanes);
            place.guards.push(guard);
        }
        if self.choices.once_in(5) {
            let lanes = if self.choices.once_in(2) { lanes } else { 1 };
            let dtype = [DType::I64, DType::I32, DType::U8][self.choices.below(3)];
            let zero = self.emit(Op::Splat(Scalar::zero(dtype)), Type::vector(dtype, lanes));
            place.offset = if self.choices.once_in(4) {
                Some(self.value(Type::vector(dtype, lanes)))
            } else {
                Some(zero)
            };
        }
        if masked && self.choices.once_in(4) {
            place.mask = Some(self.value(Type::vector(DType::I1, lanes)));
        }
        place
    }

    fn temporality(&mut self) -> Temporality {
        if self.choices.once_in(4) { Temporality::NonTemporal } else { Temporality::Normal }
    }

    /// Statements, until there are enough or no more choices.
    fn statements(&mut self, depth: usize, most: usize) {
        for _ in 0..1 + self.choices.below(most) {
            if self.choices.is_over() {
                return;
            }
            let variant = match self.choices.below(4) {
                // What brings further statements.
                0 if depth < DEPTH => Variant::For,
                _ => self.choices.of(Variant::ALL).unwrap_or(Variant::Splat),
            };
            // Where there is nothing for the operation, there is none.
            let _ = self.statement(variant, depth);
        }
    }

    /// A region of statements, which yields values of types.
    fn region(&mut self, params: Vec<Value>, yields: &[Type], depth: usize) -> Region {
        let (values, made) = (self.values.len(), self.made.len());
        self.values.extend(&params);
        self.bodies.push(Vec::new());
        if self.levels.last() == Some(&Level::Block) && self.choices.once_in(3) {
            self.pipeline();
        }
        self.statements(depth + 1, 8);
        let yields = yields.iter().map(|&ty| self.value(ty)).collect();
        let body = self.bodies.pop().unwrap_or_default();
        self.values.truncate(values);
        self.made.truncate(made);
        Region { params, body, yields }
    }

    /// A statement with an operation, with what it needs before it; `None` where it has no place here.
    /// It is long because it is flat: one arm an operation.
    fn statement(&mut self, variant: Variant, depth: usize) -> Option<()> {
        let float = |d: DType| matches!(d, DType::F32 | DType::F64);
        match variant {
            Variant::Splat => {
                let (dtype, lanes) = (self.dtype(), self.lanes());
                let value = self.scalar(dtype);
                self.emit(Op::Splat(value), Type::vector(dtype, lanes));
            }
            Variant::Constant => {
                let (dtype, lanes) = (self.dtype(), self.lanes());
                let values = (0..lanes).map(|_| self.scalar(dtype)).collect();
                self.emit(Op::Constant(values), Type::vector(dtype, lanes));
            }
            Variant::Index => {
                let integers = [DType::I64, DType::I64, DType::I32, DType::U32, DType::I8, DType::U8];
                let (dtype, lanes) = (self.choices.of(&integers)?, self.lanes());
                let affine = self.affine(lanes);
                self.emit(Op::Index(affine), Type::vector(dtype, lanes));
            }
            Variant::Holds => {
                let lanes = self.lanes();
                let guards = (0..1 + self.choices.below(2)).map(|_| self.guard(lanes)).collect();
                self.emit(Op::Holds(guards), Type::vector(DType::I1, lanes));
            }
            Variant::Unary => {
                let op = self.choices.of(UnaryOp::ALL)?;
                let x = self.value_of(|d| op.result(d).is_some());
                let ty = self.kernel.ty(x);
                self.emit(Op::Unary(op, x), ty.with(op.result(ty.dtype)?));
            }
            Variant::Binary => {
                let all: Vec<BinaryOp> =
                    BinaryOp::ALL.iter().copied().filter(|&op| op != BinaryOp::Complex).collect();
                let op = self.choices.of(&all)?;
                let x = self.value_of(|d| op.result(d, d).is_some());
                let ty = self.kernel.ty(x);
                let y = self.value(ty);
                self.emit(Op::Binary(op, x, y), ty.with(op.result(ty.dtype, ty.dtype)?));
            }
            Variant::Fma => {
                let x = self.value_of(float);
                let ty = self.kernel.ty(x);
                let (y, z) = (self.value(ty), self.value(ty));
                self.emit(Op::Fma(x, y, z), ty);
            }
            Variant::Select => {
                let x = self.value_of(|_| true);
                let ty = self.kernel.ty(x);
                let (y, c) = (self.value(ty), self.value(ty.with(DType::I1)));
                self.emit(Op::Select(c, x, y), ty);
            }
            Variant::Convert => {
                let (x, dtype) = (self.value_of(|_| true), self.dtype());
                self.emit(Op::Convert(x), self.kernel.ty(x).with(dtype));
            }
            Variant::Bitcast => {
                let x = self.value_of(|_| true);
                let ty = self.kernel.ty(x);
                let fits = |to: &DType| to.bits() == ty.dtype.bits() && !to.is_complex();
                let all: Vec<DType> = DType::ALL.into_iter().filter(fits).collect();
                let dtype = self.choices.of(&all)?;
                self.emit(Op::Bitcast(x), ty.with(dtype));
            }
            Variant::ReducePrecision => {
                let x = self.value_of(DType::is_float);
                let ty = self.kernel.ty(x);
                let (exponent, mantissa) = (1 + self.choices.below(12), self.choices.below(60));
                let (exponent, mantissa) = (exponent as u32, mantissa as u32);
                eval::reduce_precision(exponent, mantissa, Scalar::zero(ty.dtype))?;
                self.emit(Op::ReducePrecision(exponent, mantissa, x), ty);
            }
            Variant::Broadcast => {
                let (dtype, lanes) = (self.dtype(), self.lanes());
                let x = self.value(Type::scalar(dtype));
                self.emit(Op::Broadcast(x), Type::vector(dtype, lanes));
            }
            Variant::Shuffle => {
                let x = self.value_of(|_| true);
                let (a, lanes) = (self.kernel.ty(x), self.lanes());
                let y = self.value(Type::vector(a.dtype, lanes));
                let order: Vec<usize> =
                    (0..self.lanes()).map(|_| self.choices.below(a.lanes + lanes)).collect();
                let ty = Type::vector(a.dtype, order.len());
                self.emit(Op::Shuffle(x, y, order), ty);
            }
            Variant::Extract => {
                let x = self.value_of(|_| true);
                let ty = self.kernel.ty(x);
                let lane = self.choices.below(ty.lanes);
                self.emit(Op::Extract(x, lane), Type::scalar(ty.dtype));
            }
            Variant::Insert => {
                let x = self.value_of(|_| true);
                let ty = self.kernel.ty(x);
                let lane = self.choices.below(ty.lanes);
                let scalar = self.value(Type::scalar(ty.dtype));
                self.emit(Op::Insert(x, lane, scalar), ty);
            }
            Variant::Lookup => {
                let (dtype, lanes) = (self.dtype(), self.choices.of(&[1, 2, 4, 8, 16])?);
                let table = Type::vector(dtype, lanes);
                let (x, y) = (self.value(table), self.value(table));
                let at = self.value_of(DType::is_int);
                self.emit(Op::Lookup(x, y, at), self.kernel.ty(at).with(dtype));
            }
            Variant::Scale => {
                let x = self.value_of(float);
                let ty = self.kernel.ty(x);
                let n = self.value(ty);
                self.emit(Op::Scale(x, n), ty);
            }
            Variant::ReduceLanes => {
                let op = self.acc_op()?;
                let x = self.value_of(|d| op.is_defined(d));
                self.emit(Op::ReduceLanes(op, x), Type::scalar(self.kernel.ty(x).dtype));
            }
            Variant::Exchange => {
                if self.levels.last() != Some(&Level::Thread) {
                    return None;
                }
                let x = self.value_of(|_| true);
                let by = self.choices.below(3);
                let source = match self.choices.below(4) {
                    0 => Source::Xor(by),
                    1 => Source::Up(if by == 2 { usize::MAX } else { by }),
                    2 => Source::Down(if by == 2 { usize::MAX } else { by }),
                    _ => {
                        let dtype = [DType::I32, DType::I64, DType::U8][by];
                        let number = Scalar::from_i128(dtype, self.choices.below(2) as i128);
                        Source::Thread(self.emit(Op::Splat(number), Type::scalar(dtype)))
                    }
                };
                self.emit(Op::Exchange(source, x), self.kernel.ty(x));
            }
            Variant::Load => {
                let mem = self.mem(|m| m.access.reads())?;
                let (dtype, lanes) = (self.kernel.mem(mem).dtype, self.lanes());
                let place = self.place(mem, lanes, true);
                let fill = if self.choices.once_in(2) { self.scalar(dtype) } else { Scalar::zero(dtype) };
                let temporality = self.temporality();
                self.emit(Op::Load { place, fill, temporality }, Type::vector(dtype, lanes));
            }
            Variant::Store => {
                let mem = self.mem(|m| m.access.writes())?;
                let (dtype, lanes) = (self.kernel.mem(mem).dtype, self.lanes());
                let place = self.place(mem, lanes, true);
                let value = self.value(Type::vector(dtype, lanes));
                let temporality = self.temporality();
                self.effect(Op::Store { place, value, temporality });
            }
            Variant::Atomic => {
                let op = self.acc_op()?;
                let mem = self.mem(|m| m.access == Access::ReadWrite && op.is_defined(m.dtype))?;
                let (dtype, lanes) = (self.kernel.mem(mem).dtype, self.lanes());
                let place = self.place(mem, lanes, true);
                let value = self.value(Type::vector(dtype, lanes));
                self.effect(Op::Atomic { op, place, value });
            }
            Variant::Alloc => self.alloc(),
            Variant::Prefetch => {
                let mem = self.mem(|_| true)?;
                let (at, write) = (self.affine(1), self.choices.once_in(2));
                self.effect(Op::Prefetch { mem, at, write });
            }
            Variant::AsyncCopy => {
                let from = self.mem(|m| m.access.reads())?;
                let dtype = self.kernel.mem(from).dtype;
                let to = self.mem(|m| m.access.writes() && m.dtype == dtype)?;
                let (from, to) = (self.place(from, 1, false), self.place(to, 1, false));
                let elements = 1 + self.choices.below(4);
                self.effect(Op::AsyncCopy { from, to, elements });
                if !self.choices.once_in(8) {
                    self.effect(Op::AsyncCommit);
                    self.effect(Op::AsyncWait(0));
                }
            }
            Variant::AsyncCommit => {
                self.effect(Op::AsyncCommit);
                if !self.choices.once_in(6) {
                    self.effect(Op::AsyncWait(0));
                }
            }
            Variant::AsyncWait => {
                let left = self.choices.below(3);
                self.effect(Op::AsyncWait(left));
            }
            Variant::BoxCopy => self.box_copy()?,
            Variant::Phase => self.phase()?,
            Variant::Barrier => {
                let level = self.choices.of(&[Level::Block, Level::Warp])?;
                let around = self.levels.iter().rposition(|&l| l == level)?;
                if around + 1 == self.levels.len() {
                    return None;
                }
                self.effect(Op::Barrier(level));
            }
            Variant::MatMul => self.matmul()?,
            Variant::For => self.for_loop(depth)?,
            Variant::If => {
                if depth >= DEPTH {
                    return None;
                }
                let condition = self.value(Type::scalar(DType::I1));
                let types = self.types();
                let then = self.region(Vec::new(), &types, depth);
                let without = types.is_empty() && self.choices.once_in(2);
                let otherwise =
                    if without { Region::default() } else { self.region(Vec::new(), &types, depth) };
                let results = types.iter().map(|&ty| self.kernel.value(ty)).collect();
                self.push(results, Op::If { condition, then, otherwise });
            }
        }
        Some(())
    }

    /// What a region yields.
    fn types(&mut self) -> Vec<Type> {
        (0..self.choices.below(3))
            .map(|_| {
                let (dtype, lanes) = (self.dtype(), self.lanes());
                Type::vector(dtype, lanes)
            })
            .collect()
    }

    fn acc_op(&mut self) -> Option<AccOp> {
        let all: Vec<AccOp> = AccOp::ALL.iter().copied().filter(|&op| op != AccOp::Set).collect();
        self.choices.of(&all)
    }

    /// Memory, most often with something in each element.
    fn alloc(&mut self) {
        let spaces = match self.levels.last() {
            Some(Level::Task) => [Space::Stack, Space::Register, Space::Worker],
            Some(Level::Block) => [Space::Shared, Space::Shared, Space::Stack],
            _ => [Space::Stack, Space::Register, Space::Register],
        };
        let space = self.choices.of(&spaces).unwrap_or(Space::Stack);
        let (dtype, elements) = (self.dtype(), self.elements(8));
        self.make(dtype, elements, space);
    }

    fn make(&mut self, dtype: DType, elements: Affine, space: Space) -> Mem {
        let mem = self.memory(dtype, elements.clone(), space, Access::ReadWrite);
        self.made.push((mem, self.levels.len()));
        self.effect(Op::Alloc(mem));
        if !self.choices.once_in(4) {
            let value = self.value(Type::scalar(dtype));
            let variable = self.kernel.value(Type::index());
            let op = Op::Store { place: Place::new(mem, variable), value, temporality: Temporality::Normal };
            let store = Statement { results: Vec::new(), op };
            let body = Region { params: vec![variable], body: vec![store], yields: Vec::new() };
            let (low, kind, inits) = (0.into(), LoopKind::Serial, Vec::new());
            self.effect(Op::For { low, high: elements, step: 1, kind, inits, body });
            self.written.insert(mem);
        }
        mem
    }

    fn for_loop(&mut self, depth: usize) -> Option<()> {
        if depth >= DEPTH {
            return None;
        }
        let levels: &[Level] = match self.levels.last() {
            None => &[Level::Block, Level::Task],
            Some(Level::Block) => &[Level::Thread, Level::Warp, Level::Warp, Level::Block],
            Some(Level::Warp) => &[Level::Thread],
            Some(Level::Task | Level::Thread) => &[],
        };
        let level = if self.choices.once_in(4) { None } else { self.choices.of(levels) };
        let kind = match level {
            Some(level) => LoopKind::Parallel(level),
            None if self.choices.once_in(3) => LoopKind::Unrolled,
            None => LoopKind::Serial,
        };
        let low = if self.choices.once_in(4) { -2 } else { 0 };
        let (mut low, step) = (Affine::from(low), 1 + self.choices.below(5) as i64 / 2);
        let mut high = low.plus(&Affine::from((1 + self.choices.below(3) as i64) * step), 1)?;
        let sizes = self.kernel.sizes.clone();
        if kind != LoopKind::Unrolled
            && let Some(size) = self.choices.once_in(3).then(|| self.choices.of(&sizes)).flatten()
        {
            low = if self.choices.once_in(2) { Affine::from(size) } else { low };
            high = high.plus(&size.into(), 1)?;
        }
        let mut inits = Vec::new();
        if level.is_none() {
            for ty in self.types() {
                inits.push(self.value(ty));
            }
        }
        let types: Vec<Type> = inits.iter().map(|&v| self.kernel.ty(v)).collect();
        let params = [Type::index()].iter().chain(&types).map(|&ty| self.kernel.value(ty)).collect();
        self.levels.extend(level);
        let body = self.region(params, &types, depth);
        self.levels.truncate(self.levels.len() - usize::from(level.is_some()));
        let results = types.iter().map(|&ty| self.kernel.value(ty)).collect();
        self.push(results, Op::For { low, high, step, kind, inits, body });
        Some(())
    }

    fn matmul(&mut self) -> Option<()> {
        if self.levels.last() == Some(&Level::Thread) {
            return None;
        }
        let group = self.levels.last() == Some(&Level::Warp) && self.choices.once_in(2);
        let byte = |d: DType| matches!(d, DType::I8 | DType::U8);
        let a = self.mem(|m| m.access.reads())?;
        let dtype = self.kernel.mem(a).dtype;
        let b = self.mem(|m| m.access.reads() && (m.dtype == dtype || byte(m.dtype) && byte(dtype)))?;
        let acc = self.mem(|m| m.access == Access::ReadWrite)?;
        let fits =
            |f: &Factors| *f != Factors::Tf32 || [dtype, self.kernel.mem(acc).dtype] == [DType::F32; 2];
        let factors: Vec<Factors> = Factors::ALL.iter().copied().filter(fits).collect();
        let factors = self.choices.of(&factors)?;
        let [m, n, k] = [0; 3].map(|_| 1 + self.choices.below(3));
        let sizes = MatMulSizes { m: if group { 16 } else { m }, n: if group { 1 } else { n }, k };
        let mut tile = |mem: Mem, columns: usize| {
            let interleaved = [1, 1, 2, 3][self.choices.below(4)];
            let apart = [1, 1, 1, -1, 0][self.choices.below(5)];
            let (row, column) = ((columns * interleaved) as i64 * apart, interleaved as i64);
            Tile { mem, at: Affine::from(self.choices.below(3) as i64), row, column, interleaved }
        };
        let [acc, a, b] = [tile(acc, sizes.n), tile(a, k), tile(b, sizes.n)];
        let team = if group { Team::Group } else { Team::One };
        self.effect(Op::MatMul { sizes, factors, team, acc, a, b });
        Some(())
    }

    /// Something at a barrier with phases.
    fn phase(&mut self) -> Option<()> {
        let barrier = self.barrier()?;
        let how = match (self.levels.last(), self.choices.below(3)) {
            (Some(Level::Block), by) => Phasing::Init(1 + by as u32),
            (Some(Level::Warp), 0) => Phasing::Arrive,
            (Some(Level::Warp), 1) => Phasing::Expect(1 + self.choices.below(64) as u32),
            (Some(Level::Warp), _) => {
                let parity = self.choices.of(&[DType::I64, DType::U32, DType::I8])?;
                Phasing::Wait(self.value(Type::scalar(parity)))
            }
            _ => return None,
        };
        self.effect(Op::Phase(barrier, how));
        Some(())
    }

    fn barrier(&mut self) -> Option<PhaseBarrier> {
        let made = |mem: &Mem| self.made.iter().any(|m| m.0 == *mem);
        let all: Vec<Mem> = self.barriers.iter().copied().filter(made).collect();
        let mem = self.choices.of(&all)?;
        Some(PhaseBarrier { mem, at: Affine::from(self.choices.below(2) as i64) })
    }

    /// A box of a tensor, and the shared memory that it goes to.
    fn box_copy(&mut self) -> Option<()> {
        if self.levels.last() != Some(&Level::Warp) {
            return None;
        }
        let arrives = self.barrier()?;
        let from = self.mem(|m| m.space == Space::Global && m.access.reads())?;
        let dtype = self.kernel.mem(from).dtype;
        let to = self.mem(|m| m.space == Space::Shared && m.dtype == dtype)?;
        let copy = self.copy_of(from, to, arrives);
        copy.map.check(dtype).ok()?;
        self.effect(Op::BoxCopy(Box::new(copy)));
        Some(())
    }

    fn copy_of(&mut self, from: Mem, to: Mem, arrives: PhaseBarrier) -> BoxCopy {
        let line = 16 / self.kernel.mem(from).dtype.size() as i64;
        let rank = 1 + self.choices.below(2);
        let extents = [line, 2][..rank].to_vec();
        let map =
            TensorMap { extents, strides: [1, line][..rank].to_vec(), sizes: [line, 2][..rank].to_vec() };
        let at = (0..rank).map(|_| Affine::from(self.choices.below(3) as i64 - 1)).collect();
        BoxCopy { from, map, at, to, to_at: 0.into(), pitch: line, arrives }
    }

    /// A box that a warp copies and waits for, in a loop over blocks.
    fn pipeline(&mut self) {
        let Some(from) = self.mem(|m| m.space == Space::Global && m.access.reads()) else { return };
        let dtype = self.kernel.mem(from).dtype;
        let mem = self.memory(DType::I64, 2.into(), Space::Shared, Access::ReadWrite);
        self.barriers.push(mem);
        self.made.push((mem, self.levels.len()));
        self.effect(Op::Alloc(mem));
        let barrier = PhaseBarrier { mem, at: 0.into() };
        self.effect(Op::Phase(barrier.clone(), Phasing::Init(1)));
        let to = self.memory(dtype, 40.into(), Space::Shared, Access::ReadWrite);
        self.made.push((to, self.levels.len()));
        self.effect(Op::Alloc(to));
        let copy = self.copy_of(from, to, barrier.clone());
        let bytes = copy.map.elements() * dtype.size();
        let parity = self.emit(Op::Splat(Scalar::zero(DType::I64)), Type::index());
        let warp = self.kernel.value(Type::index());
        let ops = [
            Op::Phase(barrier.clone(), Phasing::Expect(bytes as u32)),
            Op::BoxCopy(Box::new(copy)),
            Op::Phase(barrier, Phasing::Wait(parity)),
        ];
        let body = ops.map(|op| Statement { results: Vec::new(), op }).to_vec();
        let body = Region { params: vec![warp], body, yields: Vec::new() };
        let (kind, inits) = (LoopKind::Parallel(Level::Warp), Vec::new());
        self.effect(Op::For { low: 0.into(), high: 1.into(), step: 1, kind, inits, body });
    }
}
