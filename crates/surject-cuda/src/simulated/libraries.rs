//! The libraries of a simulated device: the calls of cuFFT, cuBLAS and cuSOLVER with their conventions — matrices column by
//! column, pivots from 1, operands overwritten, what is not defined filled with what nobody expects.

use super::Simulated;
use super::queues::{Kind, Moment};
use crate::call::{Call, Diagonal, Form, Op, Operand, Routine, Side, Triangle, Use, Vectors};
use crate::{DeviceError, View};
use surject_runtime::library::{
    FftKind, LibraryError, TransposeA, TriangularSolve, cholesky, fft, lapack, routines, triangular_solve,
};
use surject_runtime::{Buffer, DType, Scalar};

/// The bytes of a workspace, whatever is called: not none, and no multiple of what tensors are aligned to.
pub(super) const WORKSPACE: u64 = 1000;

/// What stands where a library defines nothing.
const ANYTHING: f64 = 12345.0;

type Done<T> = Result<T, String>;

impl Simulated {
    /// The operands of a call, if the device has its library.
    pub(super) fn ready(&self, call: &Call) -> Result<Vec<Operand>, DeviceError> {
        let library = call.library();
        if self.missing.contains(&library) {
            return Err(DeviceError::NoLibrary { library, reason: "a simulated device without it".into() });
        }
        let refused = |reason| DeviceError::Library { library, call: call.name(), reason };
        call.operands().map_err(refused)
    }

    /// Does a call.
    pub(super) fn do_call(&mut self, call: &Call, tensors: &[View], at: &Moment) -> Result<(), DeviceError> {
        let lost = |what: String| DeviceError::Lost(format!("{} {what}", call.name()));
        let operands = self.ready(call)?;
        let Some((&workspace, views)) =
            tensors.split_last().filter(|(w, v)| w.bytes == WORKSPACE && v.len() == operands.len())
        else {
            return Err(lost(format!("with the operands {tensors:?}")));
        };
        for (i, a) in tensors.iter().enumerate() {
            for b in &tensors[..i] {
                let apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
                if a.memory == b.memory && !apart {
                    return Err(lost(format!("on operands that overlap: {a:?}, {b:?}")));
                }
            }
        }
        let mut buffers = Vec::new();
        for (operand, &view) in operands.iter().zip(views) {
            let (memory, range) = self.bytes(view)?;
            let size = [call.batch as usize, operand.elements as usize];
            if operand.usage != Use::Written && !memory.written[range.clone()].iter().all(|&w| w) {
                return Err(lost(format!("reads what was never written: {view:?}")));
            }
            let buffer = match operand.usage {
                Use::Written => Some(Buffer::zeros(operand.dtype, &size))
                    .filter(|buffer| buffer.bytes().len() == range.len()),
                Use::Read | Use::Changed => {
                    Buffer::from_bytes(operand.dtype, &size, &memory.bytes[range.clone()])
                }
            };
            buffers.push(buffer.ok_or_else(|| lost(format!("with an operand of {} bytes", view.bytes)))?);
        }
        let what = format!("`{}`", call.name());
        let usages = operands.iter().map(|operand| operand.usage).chain([Use::Changed]);
        for (&view, usage) in tensors.iter().zip(usages) {
            let kind = if usage == Use::Read { Kind::Reads } else { Kind::Writes };
            self.touch(&what, view, 0..view.bytes as usize, kind, at)?;
        }
        compute(call, &mut buffers).map_err(lost)?;
        for ((operand, &view), buffer) in operands.iter().zip(views).zip(&buffers) {
            if operand.usage != Use::Read {
                let (memory, range) = self.bytes(view)?;
                memory.bytes[range.clone()].copy_from_slice(buffer.bytes());
                memory.written[range].fill(true);
            }
        }
        // What was in the workspace is gone.
        let (memory, range) = self.bytes(workspace)?;
        memory.bytes[range.clone()].fill(0xcd);
        memory.written[range].fill(false);
        self.calls += 1;
        Ok(())
    }
}

/// What a library does with its operands, each of them a batch of flat parts.
fn compute(call: &Call, operands: &mut [Buffer]) -> Done<()> {
    let batch = call.batch as usize;
    match call.routine {
        Routine::Fft { form, ref lengths, inner } => transform(form, lengths, inner as usize, operands),
        Routine::Potrf { triangle, n } => potrf(triangle, n as usize, operands),
        Routine::Trsm { side, triangle, op, diagonal, m, n } => {
            let (m, n) = (m as usize, n as usize);
            let own = if side == Side::Left { m } else { n };
            let system = TriangularSolve {
                left_side: side == Side::Left,
                lower: triangle == Triangle::Lower,
                unit_diagonal: diagonal == Diagonal::Ones,
                transpose_a: match op {
                    Op::None => TransposeA::NoTranspose,
                    Op::Transpose => TransposeA::Transpose,
                    Op::Adjoint => TransposeA::Adjoint,
                },
            };
            let (a, b) = (rows(&operands[0], own, own)?, rows(&operands[1], m, n)?);
            let x = triangular_solve(&a, &b, system).map_err(said)?;
            put(&mut operands[1], &columns(&x, m, n)?)
        }
        Routine::GetrfBatched { n } => {
            let call = Call { routine: Routine::Getrf { m: n, n }, ..call.clone() };
            compute(&call, operands)
        }
        Routine::Getrf { m, n } => {
            let a = rows(&operands[0], m as usize, n as usize)?;
            let found = lapack(routines::Routine::Lu, &[&a]).map_err(said)?;
            put(&mut operands[0], &columns(&found[0], m as usize, n as usize)?)?;
            put(&mut operands[1], &found[1])?;
            put(&mut operands[2], &found[3])
        }
        Routine::Geqrf { m, n } | Routine::GeqrfBatched { m, n } => {
            let a = rows(&operands[0], m as usize, n as usize)?;
            let found = lapack(routines::Routine::Qr, &[&a]).map_err(said)?;
            put(&mut operands[0], &columns(&found[0], m as usize, n as usize)?)?;
            put(&mut operands[1], &found[1])
        }
        Routine::Orgqr { m, n, k } => {
            let a = rows(&operands[0], m as usize, n as usize)?;
            let tau = shaped(&operands[1], &[batch, k as usize])?;
            let found = lapack(routines::Routine::HouseholderProduct, &[&a, &tau]).map_err(said)?;
            put(&mut operands[0], &columns(&found[0], m as usize, n as usize)?)
        }
        Routine::Ormqr { side, op, m, n, k } => {
            let (m, n, k) = (m as usize, n as usize, k as usize);
            let left = side == Side::Left;
            let q = rows(&operands[0], if left { m } else { n }, k)?;
            let tau = shaped(&operands[1], &[batch, k])?;
            let c = rows(&operands[2], m, n)?;
            let routine = routines::Routine::MultiplyQ { left, adjoint: op != Op::None };
            let found = lapack(routine, &[&q, &tau, &c]).map_err(said)?;
            put(&mut operands[2], &columns(&found[0], m, n)?)
        }
        Routine::Syevd { triangle, n } => {
            let a = rows(&operands[0], n as usize, n as usize)?;
            let routine = routines::Routine::Eigh { lower: triangle == Triangle::Lower };
            let found = lapack(routine, &[&a]).map_err(said)?;
            put(&mut operands[0], &columns(&found[0], n as usize, n as usize)?)?;
            put(&mut operands[1], &found[1])?;
            put(&mut operands[2], &found[2])
        }
        Routine::Gesvd { vectors, m, n } => {
            let (m, n, full) = (m as usize, n as usize, vectors == Vectors::All);
            let a = rows(&operands[0], m, n)?;
            let found = lapack(routines::Routine::Svd { full }, &[&a]).map_err(said)?;
            put(&mut operands[1], &found[0])?;
            put(&mut operands[2], &columns(&found[1], m, if full { m } else { n })?)?;
            put(&mut operands[3], &columns(&found[2], n, n)?)?;
            put(&mut operands[4], &found[3])?;
            fill(&mut operands[0], |_| true);
            Ok(())
        }
    }
}

/// The Cholesky factor, in one triangle; where there is none, anything, and an `info`.
fn potrf(triangle: Triangle, n: usize, operands: &mut [Buffer]) -> Done<()> {
    let a = rows(&operands[0], n, n)?;
    let lower = triangle == Triangle::Lower;
    let found = cholesky(&a, lower).map_err(said)?;
    for matrix in 0..found.shape()[0] {
        let is_nan = |k: usize| found.get(matrix * n * n + k).as_complex().is_nan();
        operands[1].set(matrix, Scalar::from_i128(DType::I32, i128::from((0..n * n).any(is_nan))));
    }
    let info = operands[1].clone();
    let factor = columns(&found, n, n)?;
    put(&mut operands[0], &factor)?;
    // Column by column: the first of the two positions is the column.
    fill(&mut operands[0], |k| {
        let (column, row) = (k % (n * n) / n, k % n);
        let other = if lower { row < column } else { row > column };
        other || info.get(k / (n * n)).as_i128() != Some(0)
    });
    Ok(())
}

/// A transform of the axes between the batch and the inner numbers, without a scale.
fn transform(form: Form, lengths: &[u64], inner: usize, operands: &mut [Buffer]) -> Done<()> {
    let lengths: Vec<usize> = lengths.iter().map(|&n| n as usize).collect();
    let batch = operands[0].shape()[0];
    let mut axes = lengths.clone();
    let last = axes.len() - 1;
    if form == Form::ToReal {
        axes[last] = axes[last] / 2 + 1;
    }
    let count: usize = axes.iter().product();
    // The inner numbers become part of the batch.
    let moved = permuted(&operands[0], [batch, count, inner], [0, 2, 1])?;
    let input = shaped(&moved, &[&[batch * inner], &axes[..]].concat())?;
    let kind = match form {
        Form::Forward => FftKind::Fft,
        Form::Inverse => FftKind::Ifft,
        Form::FromReal => FftKind::Rfft,
        Form::ToReal => FftKind::Irfft,
    };
    let mut found = fft(&input, kind, &lengths).map_err(said)?;
    if matches!(form, Form::Inverse | Form::ToReal) {
        let scale = lengths.iter().product::<usize>() as f64;
        for i in 0..found.len() {
            let value = found.get(i).as_complex() * scale;
            found.set(i, number(found.dtype(), value));
        }
    }
    let count = found.len() / (batch * inner);
    let back = permuted(&found, [batch, inner, count], [0, 2, 1])?;
    put(&mut operands[1], &back)?;
    if form == Form::ToReal {
        fill(&mut operands[0], |_| true);
    }
    Ok(())
}

fn number(dtype: DType, value: num_complex::Complex<f64>) -> Scalar {
    match dtype.is_complex() {
        true => Scalar::from_complex(dtype, value),
        false => Scalar::from_f64(dtype, value.re),
    }
}

fn said(error: LibraryError) -> String {
    error.to_string()
}

fn shaped(buffer: &Buffer, shape: &[usize]) -> Done<Buffer> {
    buffer
        .clone()
        .reshaped(shape)
        .ok_or_else(|| format!("with {:?} where {shape:?} is needed", buffer.shape()))
}

/// The axes of a tensor in another order.
fn permuted(buffer: &Buffer, sizes: [usize; 3], order: [usize; 3]) -> Done<Buffer> {
    let from = shaped(buffer, &sizes)?;
    let mut to = Buffer::zeros(buffer.dtype(), &order.map(|axis| sizes[axis]));
    let [n0, n1, n2] = order.map(|axis| sizes[axis]);
    for at in 0..n0 * n1 * n2 {
        let mut position = [0; 3];
        for (axis, index) in order.into_iter().zip([at / (n1 * n2), at / n2 % n1, at % n2]) {
            position[axis] = index;
        }
        to.set(at, from.get((position[0] * sizes[1] + position[1]) * sizes[2] + position[2]));
    }
    Ok(to)
}

/// Matrices of `m` rows that lie column by column, row by row.
fn rows(buffer: &Buffer, m: usize, n: usize) -> Done<Buffer> {
    permuted(buffer, [buffer.shape()[0], n, m], [0, 2, 1])
}

/// Matrices of `m` rows that lie row by row, column by column.
fn columns(buffer: &Buffer, m: usize, n: usize) -> Done<Buffer> {
    permuted(buffer, [buffer.len() / (m * n).max(1), m, n], [0, 2, 1])
}

fn put(to: &mut Buffer, from: &Buffer) -> Done<()> {
    if to.dtype() != from.dtype() || to.len() != from.len() {
        return Err(format!("gives {}{:?}", from.dtype(), from.shape()));
    }
    to.bytes_mut().copy_from_slice(from.bytes());
    Ok(())
}

/// Puts anything where the predicate holds of an element's number.
fn fill(to: &mut Buffer, is_undefined: impl Fn(usize) -> bool) {
    let value = number(to.dtype(), num_complex::Complex::new(ANYTHING, -ANYTHING));
    (0..to.len()).filter(|&k| is_undefined(k)).for_each(|k| to.set(k, value));
}
