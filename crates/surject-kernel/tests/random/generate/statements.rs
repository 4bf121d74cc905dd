//! Statements, and the regions that they stand in.

use super::{DEPTH, Generator};
use crate::features::Variant;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};
use surject_kernel::{
    Access, Affine, Level, LoopKind, Mem, Op, Place, Region, Source, Space, Statement, Temporality, Type,
    Value, Wanted,
};

impl Generator<'_> {
    /// Statements, until there are enough or no more choices.
    pub(super) fn statements(&mut self, depth: usize, most: usize) {
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
                let (at, wanted) = (self.affine(1), self.choices.of(Wanted::ALL)?);
                self.effect(Op::Prefetch { mem, at, wanted });
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
}
