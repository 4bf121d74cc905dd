//! Library operations that NVIDIA's libraries have: calls of them, with kernels that bring tensors into their conventions
//! and back.
//!
//! A tensor of matrices row by row is, to a library, one of their transposes. Where an operation on the transpose is one of
//! the same kind — triangular systems, Cholesky factors, eigenvectors, singular values of wide matrices — nothing is
//! moved; elsewhere a kernel transposes. The kernels are derived from assignments like all others.

mod transforms;

use super::{Planner, ProgramError};
use std::collections::HashMap;
use surject_codegen::CodegenError;
use surject_codegen::kernels::expression::Tensor as KernelTensor;
use surject_codegen::kernels::lower::Launch;
use surject_codegen::kernels::run::{Kernels, kernels};
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::call::{Call, Diagonal, Op, Routine, Side, Triangle, Vectors};
use surject_cuda::{CallStep, Place, Step, Tensor, TensorId};
use surject_ir::{
    BinaryOp, DType, LibOp, Routine as Lapack, Scalar, Statement, StatementKind, Transpose, Var,
};
use surject_kernel::{Access, Affine, Builder, Guard, Level, LoopKind, Place as At, Type};

/// Why no library does an operation.
enum Refused {
    /// It does not have it, or not in these sizes.
    Reason(String),
    /// Planning fails.
    Error(ProgramError),
}

impl From<ProgramError> for Refused {
    fn from(error: ProgramError) -> Refused {
        Refused::Error(error)
    }
}

impl From<CodegenError> for Refused {
    fn from(error: CodegenError) -> Refused {
        match error {
            CodegenError::Unsupported { what, .. } => Refused::Reason(what),
            other => Refused::Error(other.into()),
        }
    }
}

fn malformed(what: String) -> Refused {
    Refused::Error(CodegenError::Malformed { what, origin: None }.into())
}

fn no<T>(reason: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Reason(reason.into()))
}

impl Planner<'_> {
    /// An operation that a library of the device may have: both forms of it, or a step of the host that says why there is
    /// only that.
    pub(super) fn library(
        &mut self,
        statement: &Statement,
        op: &LibOp,
        args: &[Var],
        targets: &[Var],
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let mut host = Vec::new();
        let operation = match op {
            LibOp::Lapack { routine } => routine.name(),
            other => other.name(),
        };
        self.host(statement, operation, None, &mut host)?;
        let name = targets.first().map_or("call", |&t| self.function.name_of(t)).to_string();
        let mut made = Calls { planner: self, name, steps: Vec::new() };
        match made.operation(op, args, targets) {
            Ok(()) => {
                let device = made.steps;
                steps.push(Step::Either { device, host });
                Ok(())
            }
            Err(Refused::Reason(reason)) => {
                if let Some(step) = self.plan.host.last_mut() {
                    step.reason = Some(reason);
                }
                steps.extend(host);
                Ok(())
            }
            Err(Refused::Error(error)) => Err(error),
        }
    }
}

/// The steps of an operation.
struct Calls<'p, 'a> {
    planner: &'p mut Planner<'a>,
    /// The variable that it defines first.
    name: String,
    steps: Vec<Step>,
}

/// Matrices: how many, their rows and columns, and the type of their elements.
#[derive(Clone, Copy)]
struct Matrices {
    batch: u64,
    m: u64,
    n: u64,
    dtype: DType,
}

impl Matrices {
    fn of(self, m: u64, n: u64) -> Matrices {
        Matrices { m, n, ..self }
    }
}

impl Calls<'_, '_> {
    fn operation(&mut self, op: &LibOp, args: &[Var], targets: &[Var]) -> Result<(), Refused> {
        match op {
            LibOp::Fft { kind, lengths } => self.fft(*kind, lengths, args[0], targets[0]),
            LibOp::Cholesky { lower } => self.cholesky(*lower, args[0], targets[0]),
            LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
                let side = if *left_side { Side::Left } else { Side::Right };
                let triangle = if *lower { Triangle::Lower } else { Triangle::Upper };
                let diagonal = if *unit_diagonal { Diagonal::Ones } else { Diagonal::Stored };
                let op = match transpose {
                    Transpose::No => Op::None,
                    Transpose::Transpose => Op::Transpose,
                    Transpose::Adjoint => Op::Adjoint,
                };
                self.solve((side, triangle, op, diagonal), [args[0], args[1]], targets[0])
            }
            LibOp::Lapack { routine } => match *routine {
                Lapack::Lu => self.lu(args[0], targets),
                Lapack::Qr => self.qr(args[0], targets),
                Lapack::HouseholderProduct => self.product(args, targets[0]),
                Lapack::MultiplyQ { left, adjoint } => {
                    let side = if left { Side::Left } else { Side::Right };
                    self.multiply(side, adjoint, args, targets[0])
                }
                Lapack::Eigh { lower } => self.eigh(lower, args[0], targets),
                Lapack::Svd { full } => {
                    self.svd(if full { Vectors::All } else { Vectors::Thin }, args[0], targets)
                }
                Lapack::PivotedQr | Lapack::Eig | Lapack::Schur | Lapack::Hessenberg => {
                    no(format!("cuSOLVER has no `{}`", routine.name()))
                }
                Lapack::Tridiagonal { .. } | Lapack::TridiagonalSolve => {
                    no(format!("`{}` is not bound", routine.name()))
                }
            },
            _ => no(format!("`{}` has no kernels", op.name())),
        }
    }

    /// The sizes of a variable.
    fn sizes(&self, var: Var) -> Result<Vec<u64>, Refused> {
        let ty = self.planner.function.ty(var);
        let sizes = ty.space.sizes().map(|all| all.iter().map(|&n| u64::try_from(n).unwrap_or(0)).collect());
        sizes.ok_or_else(|| Refused::Reason(format!("the type {ty}, whose sizes are not constant")))
    }

    /// The matrices in the last two axes of a variable.
    fn matrices(&self, var: Var) -> Result<Matrices, Refused> {
        let sizes = self.sizes(var)?;
        let dtype = self.planner.function.ty(var).dtype;
        match sizes.as_slice() {
            [batch @ .., m, n] => Ok(Matrices { batch: batch.iter().product(), m: *m, n: *n, dtype }),
            _ => no("a tensor without matrices"),
        }
    }

    fn scratch(&mut self, purpose: &str, dtype: DType, elements: u64) -> Result<TensorId, Refused> {
        let shape = vec![usize::try_from(elements).map_err(|_| Refused::Reason("too many elements".into()))?];
        let plan = &mut self.planner.plan;
        let name = format!("{}.{purpose}", self.name);
        plan.tensors.push(Tensor { name, dtype, shape, place: Place::Arena(0) });
        Ok(TensorId(plan.tensors.len() as u32 - 1))
    }

    /// A tensor for these matrices.
    fn room(&mut self, purpose: &str, of: Matrices) -> Result<TensorId, Refused> {
        self.scratch(purpose, of.dtype, of.batch * of.m * of.n)
    }

    /// A variable's tensor, of its type.
    fn typed(&mut self, var: Var) -> Result<TensorId, Refused> {
        Ok(self.planner.typed(var, &mut self.steps)?)
    }

    /// A call on its operands, with a workspace.
    fn call(&mut self, call: Call, operands: &[TensorId]) -> Result<(), Refused> {
        call.operands().map_err(Refused::Reason)?;
        let workspace = self.scratch("workspace", DType::U8, 0)?;
        let plan = &mut self.planner.plan;
        let number = plan.calls.len() as u32;
        plan.calls.push(CallStep { call, assignment: self.name.clone() });
        let tensors = operands.iter().copied().chain([workspace]).collect();
        self.steps.push(Step::Call { call: number, tensors });
        Ok(())
    }

    /// A kernel for the only assignment of a function, whose text this is from its parameters on.
    fn assign(
        &mut self,
        purpose: &str,
        text: &str,
        inputs: &[TensorId],
        output: TensorId,
    ) -> Result<(), Refused> {
        let program = surject_ir::parse(&format!("func main{text}\n"))
            .map_err(|error| malformed(format!("{purpose}: {error}")))?;
        let function = program.main().ok_or_else(|| malformed(format!("no function in {text}")))?;
        let Some(StatementKind::Store { field, .. }) = function.body.statements.last().map(|s| &s.kind)
        else {
            return Err(malformed(format!("no assignment in {text}")));
        };
        let name = format!("{}_{purpose}", self.name);
        let Kernels { kernels, temporaries } =
            kernels(function, *field, self.planner.gpu, &name, &Schedules::default())?;
        let assignment = self.name.clone();
        let forms = self
            .planner
            .forms(kernels.iter().map(|made| &made.launch.kernel), &assignment)
            .map_err(Refused::Reason)?;
        self.planner.take(&forms, kernels.iter().map(|made| made.cost));
        let between = self.planner.temporaries(&name, &temporaries)?;
        let defined: HashMap<Var, TensorId> =
            function.params.iter().copied().zip(inputs.iter().copied()).collect();
        let launches = kernels.iter().map(|made| &made.launch.tensors[..]).zip(forms);
        Ok(self.planner.launches(launches, &defined, Some(output), &between, &mut self.steps)?)
    }

    /// Matrices of `of.m` rows, or the first so many of their columns, transposed.
    fn transposed(
        &mut self,
        purpose: &str,
        of: Matrices,
        columns: u64,
        [from, to]: [TensorId; 2],
    ) -> Result<(), Refused> {
        let Matrices { batch: b, m, n, dtype } = of;
        let text = format!(
            "(a: {dtype}[{b},{m},{n}]) -> (y) {{\n  y : {dtype}[{b},{columns},{m}] =: over b<{b}, j<{columns}, i<{m}: \
             a[b,i,j]\n}}"
        );
        self.assign(purpose, &text, &[from], to)
    }

    /// The matrices of a variable, column by column.
    fn columns(&mut self, var: Var) -> Result<(Matrices, TensorId), Refused> {
        let of = self.matrices(var)?;
        let from = self.planner.get(var)?;
        let to = self.room("columns", of)?;
        self.transposed("columns", of, of.n, [from, to])?;
        Ok((of, to))
    }

    /// Matrices column by column as those of a variable.
    fn rows(&mut self, of: Matrices, from: TensorId, target: Var) -> Result<(), Refused> {
        let to = self.planner.get(target)?;
        self.transposed("rows", of.of(of.n, of.m), of.m, [from, to])
    }

    /// A copy of a variable that a call may overwrite.
    fn copy(&mut self, var: Var) -> Result<(Matrices, TensorId), Refused> {
        let of = self.matrices(var)?;
        let from = self.planner.get(var)?;
        let to = self.room("copy", of)?;
        self.steps.push(Step::Copy { from, to });
        Ok((of, to))
    }

    fn info(&mut self, of: Matrices) -> Result<TensorId, Refused> {
        self.scratch("info", DType::I32, of.batch)
    }

    /// The factor of the transpose, which is the conjugate, is the transpose of the factor: one triangle for the other.
    fn cholesky(&mut self, lower: bool, arg: Var, target: Var) -> Result<(), Refused> {
        let (of, a) = self.copy(arg)?;
        let info = self.info(of)?;
        let triangle = if lower { Triangle::Upper } else { Triangle::Lower };
        let routine = Routine::Potrf { triangle, n: of.n };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[a, info])?;
        let Matrices { batch: b, n, dtype, .. } = of;
        let part = dtype.part();
        let nan =
            format!("bits({:#x}){part}", if part == DType::F32 { 0x7fc0_0000 } else { 0x7ff8u64 << 48 });
        let zero = format!("0.0{part}");
        let whole = |x: &str| if dtype.is_complex() { format!("complex({x}, {x})") } else { x.to_string() };
        let (nan, zero) = (whole(&nan), whole(&zero));
        let inside = if lower { "index(j)i32 <= index(i)i32" } else { "index(i)i32 <= index(j)i32" };
        let text = format!(
            "(a: {dtype}[{b},{n},{n}], info: i32[{b}]) -> (y) {{\n  y : {dtype}[{b},{n},{n}] =: over b<{b}, i<{n}, \
             j<{n}: select({inside}, select(info[b] == 0i32, a[b,i,j], {nan}), {zero})\n}}"
        );
        let to = self.planner.get(target)?;
        self.assign("triangle", &text, &[a, info], to)
    }

    /// The transposed system has the matrix on the other side, in the other triangle.
    fn solve(
        &mut self,
        (side, triangle, op, diagonal): (Side, Triangle, Op, Diagonal),
        [a, b]: [Var; 2],
        target: Var,
    ) -> Result<(), Refused> {
        let of = self.matrices(b)?;
        let side = if side == Side::Left { Side::Right } else { Side::Left };
        let triangle = if triangle == Triangle::Lower { Triangle::Upper } else { Triangle::Lower };
        let (a, from, to) = (self.typed(a)?, self.planner.get(b)?, self.planner.get(target)?);
        self.steps.push(Step::Copy { from, to });
        let routine = Routine::Trsm { side, triangle, op, diagonal, m: of.n, n: of.m };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[a, to])
    }

    fn lu(&mut self, arg: Var, targets: &[Var]) -> Result<(), Refused> {
        let (of, a) = self.columns(arg)?;
        let [pivots, order, info] = [targets[1], targets[2], targets[3]].map(|t| self.planner.get(t));
        let (pivots, order, info) = (pivots?, order?, info?);
        let routine = Routine::Getrf { m: of.m, n: of.n };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }.together(), &[a, pivots, info])?;
        self.rows(of, a, targets[0])?;
        self.order(of, pivots, order)
    }

    /// Which row of a matrix each row of its factors is, counted from 0, of the exchanges in turn: a row is followed back
    /// through them.
    fn order(&mut self, of: Matrices, pivots: TensorId, order: TensorId) -> Result<(), Refused> {
        let counted = [of.batch, of.m, of.m.min(of.n)].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let [batch, m, exchanges] = counted;
        let Some(points) = batch.checked_mul(m).filter(|&n| n < 1 << 30) else {
            return no("more rows than are counted in 32 bits");
        };
        const BLOCK: i64 = 256;
        let mut b = Builder::new(format!("{}_order", self.name));
        let read = b.parameter("pivots", DType::I32, batch * exchanges, Access::Read);
        let write = b.parameter("order", DType::I32, points, Access::Write);
        let integer = Type::scalar(DType::I32);
        let blocks = (points - 1) / BLOCK + 1;
        let (block, _) = b.open_for(0, blocks, 1, LoopKind::Parallel(Level::Block), &[]);
        let (thread, _) = b.open_for(0, BLOCK, 1, LoopKind::Parallel(Level::Thread), &[]);
        let at = Affine::from(thread).plus(&block.into(), BLOCK);
        let at = at.ok_or_else(|| malformed("a position that no kernel has".into()))?;
        if points % BLOCK != 0 {
            let exists = b.holds(vec![Guard { expr: at.clone(), bound: points.into() }], 1);
            b.open_if(exists);
        }
        let number = |b: &mut Builder, n: i64| b.splat(Scalar::from_i128(DType::I32, n.into()), 1);
        let point = b.index(at, integer);
        let (rows, count, one) = (number(&mut b, m), number(&mut b, exchanges), number(&mut b, 1));
        let (matrix, row) = (b.binary(BinaryOp::Div, point, rows), b.binary(BinaryOp::Rem, point, rows));
        let first = b.binary(BinaryOp::Mul, matrix, count);
        let (turn, carried) = b.open_for(0, exchanges, 1, LoopKind::Serial, &[row]);
        let turn = b.index(Affine::from(turn), integer);
        let last = b.binary(BinaryOp::Sub, count, one);
        // From the last exchange to the first.
        let own = b.binary(BinaryOp::Sub, last, turn);
        let offset = b.binary(BinaryOp::Add, first, own);
        let pivot = b.load(At { offset: Some(offset), ..At::new(read, 0) }, integer);
        let other = b.binary(BinaryOp::Sub, pivot, one);
        let (is_own, is_other) =
            (b.binary(BinaryOp::Eq, carried[0], own), b.binary(BinaryOp::Eq, carried[0], other));
        let stays = b.select(is_other, own, carried[0]);
        let next = b.select(is_own, other, stays);
        let found = b.close_for(&[next]);
        b.store(At { offset: Some(point), ..At::new(write, 0) }, found[0]);
        let kernel = b.finish();
        surject_kernel::verify(&kernel).map_err(|error| malformed(error.to_string()))?;
        let launch = Launch { kernel, tensors: vec![KernelTensor::Temporary(0), KernelTensor::Temporary(1)] };
        let assignment = self.name.clone();
        let forms = self.planner.forms([&launch.kernel].into_iter(), &assignment).map_err(Refused::Reason)?;
        let launches = [&launch.tensors[..]].into_iter().zip(forms);
        let none = HashMap::new();
        Ok(self.planner.launches(launches, &none, None, &[pivots, order], &mut self.steps)?)
    }

    fn qr(&mut self, arg: Var, targets: &[Var]) -> Result<(), Refused> {
        let (of, a) = self.columns(arg)?;
        let (tau, info) = (self.planner.get(targets[1])?, self.info(of)?);
        let routine = Routine::Geqrf { m: of.m, n: of.n };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }.together(), &[a, tau, info])?;
        self.rows(of, a, targets[0])
    }

    fn product(&mut self, args: &[Var], target: Var) -> Result<(), Refused> {
        let k = self.sizes(args[1])?.last().copied().unwrap_or(0);
        let (of, a) = self.columns(args[0])?;
        let (tau, info) = (self.typed(args[1])?, self.info(of)?);
        let routine = Routine::Orgqr { m: of.m, n: of.n, k };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[a, tau, info])?;
        self.rows(of, a, target)
    }

    fn multiply(&mut self, side: Side, adjoint: bool, args: &[Var], target: Var) -> Result<(), Refused> {
        let k = self.sizes(args[1])?.last().copied().unwrap_or(0);
        let q = self.matrices(args[0])?;
        // Columns behind the reflectors are not read.
        let reflectors = self.room("reflectors", q.of(q.m, k))?;
        let from = self.planner.get(args[0])?;
        self.transposed("reflectors", q, k, [from, reflectors])?;
        let (of, c) = self.columns(args[2])?;
        let (tau, info) = (self.typed(args[1])?, self.info(of)?);
        let op = match (adjoint, of.dtype.is_complex()) {
            (false, _) => Op::None,
            (true, false) => Op::Transpose,
            (true, true) => Op::Adjoint,
        };
        let routine = Routine::Ormqr { side, op, m: of.m, n: of.n, k };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[reflectors, tau, c, info])?;
        self.rows(of, c, target)
    }

    /// The transpose is the conjugate: it has the same eigenvalues, and conjugate eigenvectors.
    fn eigh(&mut self, lower: bool, arg: Var, targets: &[Var]) -> Result<(), Refused> {
        let (of, a) = self.copy(arg)?;
        let (values, info) = (self.planner.get(targets[1])?, self.planner.get(targets[2])?);
        let triangle = if lower { Triangle::Upper } else { Triangle::Lower };
        let routine = Routine::Syevd { triangle, n: of.n };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[a, values, info])?;
        if !of.dtype.is_complex() {
            return self.rows(of, a, targets[0]);
        }
        let Matrices { batch: b, n, dtype, .. } = of;
        let text = format!(
            "(a: {dtype}[{b},{n},{n}]) -> (y) {{\n  y : {dtype}[{b},{n},{n}] =: over b<{b}, i<{n}, j<{n}: \
             complex(real(a[b,j,i]), neg(imag(a[b,j,i])))\n}}"
        );
        let to = self.planner.get(targets[0])?;
        self.assign("vectors", &text, &[a], to)
    }

    /// The transpose of a wide matrix is tall, and its left vectors are the right ones.
    fn svd(&mut self, vectors: Vectors, arg: Var, targets: &[Var]) -> Result<(), Refused> {
        let of = self.matrices(arg)?;
        let all = [targets[0], targets[1], targets[2], targets[3]].map(|t| self.planner.get(t));
        let [values, left, right, info] = all;
        let (values, left, right, info) = (values?, left?, right?, info?);
        if of.n >= of.m {
            let (_, a) = self.copy(arg)?;
            let routine = Routine::Gesvd { vectors, m: of.n, n: of.m };
            let call = Call { routine, dtype: of.dtype, batch: of.batch };
            return self.call(call, &[a, values, right, left, info]);
        }
        let (_, a) = self.columns(arg)?;
        let lefts = of.of(of.m, if vectors == Vectors::All { of.m } else { of.n });
        let rights = of.of(of.n, of.n);
        let (u, v) = (self.room("left", lefts)?, self.room("right", rights)?);
        let routine = Routine::Gesvd { vectors, m: of.m, n: of.n };
        self.call(Call { routine, dtype: of.dtype, batch: of.batch }, &[a, values, u, v, info])?;
        self.rows(lefts, u, targets[1])?;
        self.rows(rights, v, targets[2])
    }
}
