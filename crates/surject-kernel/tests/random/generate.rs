//! Random kernels of everything that the IR has, which the verifier accepts.
//!
//! A kernel is made from a list of numbers, each of which is a choice, so that a list that is shorter or has smaller numbers
//! is a smaller kernel. Accesses are guarded mostly, so that many kernels run to their end; that others are faults is what
//! the interpreter finds.

mod blocks;
mod statements;

use std::collections::HashSet;
use surject_ir::{DType, Scalar};
use surject_kernel::interpret::Tensor;
use surject_kernel::{
    Access, Affine, Guard, Kernel, Level, Mem, Memory, Op, Place, Space, Statement, Temporality, Term, Type,
    Value,
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
}
