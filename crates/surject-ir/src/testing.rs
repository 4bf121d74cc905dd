//! Random programs and arguments, for tests: the same seed gives the same program on every machine.
//!
//! ```
//! # #[cfg(feature = "testing")] {
//! let program = surject_ir::testing::random_program(7, 20);
//! let main = program.main().unwrap();
//! let args = surject_ir::testing::random_args(main, 7);
//! surject_ir::interp::run(&program, "main", &args).unwrap();
//! # }
//! ```

mod complex_values;
mod library;
mod maps;
mod regions;
mod rng;

pub use complex_values::{ComplexValue, complex_values};
pub use rng::Rng;

use crate::{
    AccOp, BinaryOp, Buffer, DType, FieldId, Function, Program, Scalar, Statement, StatementKind, TensorType,
    UnaryOp, Var,
};
use num_complex::Complex;
use std::collections::HashMap;
use std::sync::Arc;
use surject_index::{IndexMap, Space};

/// What a random program is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// The element types of its parameters and conversions.
    pub dtypes: Vec<DType>,
    /// Only operations on floats that are continuous, with values that stay small, so that results computed in
    /// another order agree within a tolerance; and no division of integers.
    pub tame: bool,
    /// Also literals, loops, choices and library operations.
    pub regions: bool,
    /// Also extents of a few vectors, odd ones among them.
    pub large: bool,
}

impl Default for Options {
    /// Tame assignments over `f32`, `f64`, `i32` and `i1`.
    fn default() -> Options {
        Options {
            dtypes: vec![DType::F32, DType::F32, DType::F64, DType::I32, DType::I1],
            tame: true,
            regions: false,
            large: false,
        }
    }
}

impl Options {
    /// Everything the representation has.
    pub fn everything() -> Options {
        Options { dtypes: DType::ALL.to_vec(), tame: false, regions: true, large: false }
    }
}

/// A verified program of one function `main`, with about `size` operations, by the default [`Options`].
pub fn random_program(seed: u64, size: usize) -> Program {
    random_program_with(seed, size, &Options::default())
}

/// A verified program of one function `main`, with about `size` operations.
pub fn random_program_with(seed: u64, size: usize, options: &Options) -> Program {
    let mut g = Generator {
        f: Function::new("main"),
        rng: Rng::new(seed),
        options,
        pool: Vec::new(),
        bounds: HashMap::new(),
        statements: Vec::new(),
    };
    for number in 0..1 + g.rng.below(3) {
        let ty = TensorType::new(g.dtype(), g.space());
        let var = g.f.var(&format!("x{number}"), ty);
        g.f.params.push(var);
        g.know(var);
    }
    g.steps(size);
    let mut results = g.finish(1 + size / 8);
    if g.rng.chance(1, 4) {
        results.push(g.f.params[0]);
    }
    g.f.body.results = results;
    g.f.body.statements = std::mem::take(&mut g.statements);
    Program { name: String::new(), functions: vec![g.f] }
}

/// Arguments for a function: small multiples of 1/8 for floats, small integers. Symbolic sizes become 2.
pub fn random_args(function: &Function, seed: u64) -> Vec<Buffer> {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let arg = |&param: &Var| {
        let ty = function.ty(param);
        let shape: Vec<usize> =
            ty.space.extents().iter().map(|e| e.as_const().unwrap_or(2) as usize).collect();
        random_buffer(&mut rng, ty.dtype, &shape)
    };
    function.params.iter().map(arg).collect()
}

/// A tensor of small values.
pub fn random_buffer(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Buffer {
    let mut buffer = Buffer::zeros(dtype, shape);
    for i in 0..buffer.len() {
        let value = random_scalar(rng, dtype);
        buffer.set(i, value);
    }
    buffer
}

/// A small value.
pub fn random_scalar(rng: &mut Rng, dtype: DType) -> Scalar {
    let mut eighths = || (rng.below(33) as f64 - 16.0) / 8.0;
    match dtype {
        d if d.is_complex() => Scalar::from_complex(d, Complex::new(eighths(), eighths())),
        d if d.is_float() => Scalar::from_f64(d, eighths()),
        d if d.is_signed_int() => Scalar::from_i128(d, rng.below(9) as i128 - 4),
        d => Scalar::from_i128(d, rng.below(if d.is_bool() { 2 } else { 9 }) as i128),
    }
}

struct Generator<'a> {
    f: Function,
    rng: Rng,
    options: &'a Options,
    /// The fields that can be used here.
    pool: Vec<FieldId>,
    /// How large the elements of float fields can be, roughly.
    bounds: HashMap<FieldId, f64>,
    /// The statements of the block under construction.
    statements: Vec<Statement>,
}

impl Generator<'_> {
    fn dtype(&mut self) -> DType {
        *self.rng.pick(&self.options.dtypes)
    }

    /// Spaces have at most this many points.
    fn max_points(&self) -> u64 {
        if self.options.large { 5000 } else { 300 }
    }

    /// A size: mostly 1 to 5, now and then 0 or 6; of large programs often more.
    fn size(&mut self) -> u64 {
        if self.options.large && self.rng.chance(1, 2) {
            return *self.rng.pick(&[7, 8, 12, 15, 16, 17, 20, 31, 33, 48, 65]);
        }
        match self.rng.below(30) {
            0 => 0,
            1 => 6,
            n => 1 + n as u64 % 5,
        }
    }

    fn space(&mut self) -> Space {
        let rank = self.rng.below(4);
        let mut sizes: Vec<u64> = (0..rank).map(|_| self.size()).collect();
        while sizes.iter().product::<u64>() > self.max_points() {
            sizes.pop();
        }
        Space::of(&sizes)
    }

    fn type_of(&self, field: FieldId) -> (DType, Space) {
        (self.f.fields[field].dtype, self.f.fields[field].space.clone())
    }

    /// A value: mostly small, sometimes one with an unusual text form.
    fn scalar(&mut self, dtype: DType) -> Scalar {
        if self.options.tame || self.rng.chance(2, 3) {
            return random_scalar(&mut self.rng, dtype);
        }
        if self.rng.chance(1, 2) {
            return Scalar::from_bits(dtype, (self.rng.next() as u128) << 64 | self.rng.next() as u128);
        }
        let special = [-0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310, 1.0 / 3.0, 1e30];
        let (re, im) = (*self.rng.pick(&special), *self.rng.pick(&special));
        Scalar::from_complex(dtype, Complex::new(re, im))
    }

    /// Makes a variable usable.
    fn know(&mut self, var: Var) -> FieldId {
        let field = self.f.tensor(var);
        self.bounds.entry(field).or_insert(2.0);
        self.pool.push(field);
        field
    }

    /// Makes a field usable; a float field that may be large is squashed first.
    fn add(&mut self, field: FieldId, bound: f64) {
        let dtype = self.f.fields[field].dtype;
        let limit = if dtype == DType::F16 { 100.0 } else { 1e4 };
        let (mut field, mut bound) = (field, bound);
        if self.options.tame && dtype.is_float() && bound > limit {
            let Ok(squashed) = self.f.fields.unary(UnaryOp::Tanh, field) else { return };
            (field, bound) = (squashed, 1.0);
        }
        self.bounds.insert(field, bound);
        self.pool.push(field);
    }

    fn bound(&self, field: FieldId) -> f64 {
        self.bounds.get(&field).copied().unwrap_or(2.0)
    }

    /// Some field to go on from, preferring recent ones.
    fn some(&mut self) -> FieldId {
        let n = self.pool.len();
        let recent = n.min(4);
        let i = if self.rng.chance(1, 2) { n - 1 - self.rng.below(recent) } else { self.rng.below(n) };
        self.pool[i]
    }

    /// A field of this type and space: one that exists, a constant, an index, or something broadcast.
    fn like(&mut self, dtype: DType, space: &Space) -> FieldId {
        let fits = |g: &Self, id: FieldId| g.f.fields[id].dtype == dtype && g.f.fields[id].space == *space;
        let candidates: Vec<FieldId> = self.pool.iter().copied().filter(|&id| fits(self, id)).collect();
        if !candidates.is_empty() && self.rng.chance(3, 4) {
            return *self.rng.pick(&candidates);
        }
        if self.rng.chance(1, 2) {
            let sources: Vec<FieldId> =
                self.pool.iter().copied().filter(|&id| self.f.fields[id].dtype == dtype).collect();
            if !sources.is_empty() {
                let of = *self.rng.pick(&sources);
                let fill = self.scalar(dtype);
                let map = self.read_map_from(space, &self.f.fields[of].space.clone(), fill);
                if let Some(read) = map.and_then(|m| self.f.fields.read(m, of).ok()) {
                    self.bounds.insert(read, self.bound(of).max(2.0));
                    return read;
                }
            }
        }
        if space.rank() > 0 && !dtype.is_bool() && self.rng.chance(1, 2) {
            let axis = self.rng.below(space.rank());
            if let Ok(index) = self.f.fields.index(space, axis, dtype) {
                self.bounds.insert(index, 6.0);
                return index;
            }
        }
        let value = self.scalar(dtype);
        self.f.fields.constant(space, value)
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            match self.rng.below(if self.options.regions { 14 } else { 12 }) {
                0 | 1 => self.unary(),
                2..=4 => self.binary(),
                5 => self.select(),
                6 => self.cast(),
                7 | 8 => self.read(),
                9 => self.acc(),
                10 => self.contraction(),
                11 => {
                    let field = self.some();
                    self.store(field);
                }
                _ => self.region_statement(),
            }
        }
    }

    /// Stores the last `count` fields (at least one) and gives their variables.
    fn finish(&mut self, count: usize) -> Vec<Var> {
        let mut fields: Vec<FieldId> = self.pool.iter().rev().copied().collect();
        fields.dedup();
        fields.truncate(count.max(1));
        fields.into_iter().map(|field| self.store(field)).collect()
    }

    fn store(&mut self, field: FieldId) -> Var {
        let target = self.f.var_for("", field);
        self.statements.push(Statement::new(StatementKind::Store { target, field }));
        let bound = self.bound(field);
        let stored = self.know(target);
        self.bounds.insert(stored, bound);
        target
    }

    fn literal(&mut self) {
        let ty = TensorType::new(self.dtype(), self.space());
        let shape: Vec<usize> =
            ty.space.extents().iter().map(|e| e.as_const().unwrap_or(0) as usize).collect();
        let values: Vec<Scalar> = (0..shape.iter().product()).map(|_| self.scalar(ty.dtype)).collect();
        let Some(value) = Buffer::from_scalars(ty.dtype, &shape, &values) else { return };
        let target = self.f.var("lit", ty);
        self.statements.push(Statement::new(StatementKind::Constant { target, value: Arc::new(value) }));
        self.know(target);
    }

    fn unary(&mut self) {
        const TAME: &[UnaryOp] = &[
            UnaryOp::Neg,
            UnaryOp::Abs,
            UnaryOp::Sin,
            UnaryOp::Cos,
            UnaryOp::Tanh,
            UnaryOp::Logistic,
            UnaryOp::Erf,
            UnaryOp::Atan,
            UnaryOp::Not,
            UnaryOp::Popcount,
        ];
        const STEEP: &[UnaryOp] =
            &[UnaryOp::Exp, UnaryOp::Expm1, UnaryOp::Sinh, UnaryOp::Cosh, UnaryOp::Asinh, UnaryOp::Erfc];
        let x = self.some();
        if self.options.regions && self.options.tame && self.bound(x) <= 3.0 && self.rng.chance(1, 3) {
            let op = *self.rng.pick(STEEP);
            if let Ok(y) = self.f.fields.unary(op, x) {
                self.add(y, 25.0);
            }
            return;
        }
        let op = *self.rng.pick(if self.options.tame { TAME } else { UnaryOp::ALL });
        if let Ok(y) = self.f.fields.unary(op, x) {
            self.add(y, self.bound(x).max(2.0));
        }
    }

    fn binary(&mut self) {
        use BinaryOp::*;
        const TAME: &[BinaryOp] = &[Add, Sub, Mul, Max, Min, And, Or, Xor, Shl, Eq, Ne, Lt, Le, Gt, Ge];
        let x = self.some();
        let (dtype, space) = self.type_of(x);
        let op = *self.rng.pick(if self.options.tame { TAME } else { BinaryOp::ALL });
        if self.options.tame && op.is_comparison() && dtype.is_float() {
            return;
        }
        let y = self.like(dtype, &space);
        let (x, y) = if self.rng.chance(1, 2) { (x, y) } else { (y, x) };
        let (a, b) = (self.bound(x), self.bound(y));
        if let Ok(z) = self.f.fields.binary(op, x, y) {
            self.add(z, if op == Mul { a * b } else { a + b });
        }
    }

    fn select(&mut self) {
        let x = self.some();
        let (dtype, space) = self.type_of(x);
        let cond = self.like(DType::I1, &space);
        let y = self.like(dtype, &space);
        if let Ok(z) = self.f.fields.select(cond, x, y) {
            self.add(z, self.bound(x).max(self.bound(y)));
        }
    }

    /// A conversion, a bitcast, or fewer bits.
    fn cast(&mut self) {
        let x = self.some();
        let (from, to) = (self.f.fields[x].dtype, self.dtype());
        let discontinuous = (from.is_float() || from.is_complex()) && !to.is_float();
        if self.options.tame && discontinuous {
            return;
        }
        let bound = if from.is_float() { self.bound(x) } else { 1e9 };
        match self.rng.below(if self.options.tame { 1 } else { 4 }) {
            0 | 1 => {
                let y = self.f.fields.convert(to, x);
                self.add(y, bound);
            }
            2 => {
                let x = self.numbers(x);
                if let Ok(y) = self.f.fields.bitcast(to, x) {
                    self.add(y, f64::MAX);
                }
            }
            _ => {
                let (e, m) = (1 + self.rng.below(12) as u32, self.rng.below(30) as u32);
                if let Ok(y) = self.f.fields.reduce_precision(e, m, x) {
                    self.add(y, bound);
                }
            }
        }
    }

    /// With zeros for what is not a number: `<` orders the others only, so that a sort by it has no one result, and the
    /// bits of a NaN are whatever they are.
    fn numbers(&mut self, of: FieldId) -> FieldId {
        let (dtype, space) = self.type_of(of);
        if self.options.tame || !dtype.is_float() {
            return of;
        }
        let zero = self.f.fields.constant(&space, Scalar::zero(dtype));
        let number = self.f.fields.binary(BinaryOp::Eq, of, of);
        number.and_then(|number| self.f.fields.select(number, of, zero)).unwrap_or(of)
    }

    fn read(&mut self) {
        let of = self.some();
        let (dtype, space) = self.type_of(of);
        let fill = self.scalar(dtype);
        if let Some(field) = self.read_map(&space, fill).and_then(|m| self.f.fields.read(m, of).ok()) {
            self.add(field, self.bound(of).max(2.0));
        }
    }

    fn acc(&mut self) {
        let of = self.some();
        self.acc_of(of);
    }

    fn acc_of(&mut self, of: FieldId) {
        let (dtype, space) = self.type_of(of);
        let ops: Vec<AccOp> = AccOp::ALL.iter().copied().filter(|o| o.is_defined(dtype)).collect();
        let op = *self.rng.pick(&ops);
        let map = if op == AccOp::Set { self.permutation(&space) } else { self.acc_map(&space) };
        let points = space.points().unwrap_or(1) as f64;
        let bound = match op {
            AccOp::Add => self.bound(of) * points,
            AccOp::Mul => self.bound(of).max(1.0).powf(points),
            // Where nothing arrives the extremum is infinite.
            AccOp::Max | AccOp::Min if !map.as_ref().is_some_and(|m| m.surjective().is_yes()) => f64::MAX,
            _ => self.bound(of),
        };
        // A product of many factors overflows before it can be squashed.
        if self.options.tame && op == AccOp::Mul && bound > 1e30 && !dtype.is_int() {
            return;
        }
        if let Some(field) = map.and_then(|m| self.f.fields.acc(op, m, of).ok()) {
            self.add(field, bound);
        }
    }

    /// The product of two fields over the product of their spaces, or a part of it, accumulated.
    fn contraction(&mut self) {
        let x = self.some();
        let (dtype, left) = self.type_of(x);
        let others: Vec<FieldId> =
            self.pool.iter().copied().filter(|&y| self.f.fields[y].dtype == dtype).collect();
        let y = *self.rng.pick(&others);
        let right = self.f.fields[y].space.clone();
        // Axes of the right operand that run with an axis of the left one.
        let mut extents = left.extents().to_vec();
        let mut axes = Vec::new();
        for extent in right.extents() {
            let shared = (0..left.rank()).find(|a| left.extent(*a) == extent && !axes.contains(a));
            axes.push(match shared {
                Some(axis) if self.rng.chance(2, 3) => axis,
                _ => {
                    extents.push(extent.clone());
                    extents.len() - 1
                }
            });
        }
        let product = Space::new(extents);
        if product.points().is_none_or(|n| n > self.max_points()) {
            return;
        }
        let whole: Vec<usize> = (0..left.rank()).collect();
        let a = self.f.fields.read(IndexMap::projection(&product, &whole), x);
        let b = self.f.fields.read(IndexMap::projection(&product, &axes), y);
        let op = *self.rng.pick(&[BinaryOp::Mul, BinaryOp::Add]);
        let field = match (a, b) {
            (Ok(a), Ok(b)) => self.f.fields.binary(op, a, b),
            _ => return,
        };
        if let Ok(field) = field {
            self.bounds.insert(field, (self.bound(x) * self.bound(y)).max(4.0));
            self.acc_of(field);
        }
    }
}

#[cfg(test)]
mod tests;
