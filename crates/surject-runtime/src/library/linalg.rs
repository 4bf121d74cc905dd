//! Cholesky factors and triangular systems, by `nalgebra`, batch elements in parallel.

use super::{Element, LibraryError, dtype_of_code, for_each_chunk, product, raw, raw_mut, view, view_mut};
use crate::{Buffer, DType};
use nalgebra::{Cholesky, ComplexField, DMatrix};
use num_complex::Complex;

const SUPPORTED: &str = "f32, f64, c64 and c128";

/// Which form of the matrix a triangular system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransposeA {
    /// The matrix itself.
    NoTranspose,
    /// Its transpose.
    Transpose,
    /// Its conjugate transpose.
    Adjoint,
}

/// What a triangular system looks like; the meaning of StableHLO's `triangular_solve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TriangularSolve {
    /// Solve `op(a) x = b`; otherwise `x op(a) = b`.
    pub left_side: bool,
    /// Read the lower triangle of `a` (before `op`); otherwise the upper one.
    pub lower: bool,
    /// Take ones for the diagonal and do not read it.
    pub unit_diagonal: bool,
    /// What `op` is.
    pub transpose_a: TransposeA,
}

/// The Cholesky factor of every matrix of `a`, of shape `[…, n, n]`: `l` with `a = l l*` if `lower`, otherwise
/// `u` with `a = u* u`. Only that triangle of `a` is read, and the imaginary part of the diagonal is not; the
/// other triangle of the result is zero. A matrix that is not positive definite gives NaNs in its triangle.
pub fn cholesky(a: &Buffer, lower: bool) -> Result<Buffer, LibraryError> {
    let n = square("cholesky", a)?;
    let mut out = Buffer::zeros(a.dtype(), a.shape());
    match a.dtype() {
        DType::F32 => cholesky_of::<f32>(view(a), view_mut(&mut out), n, lower),
        DType::F64 => cholesky_of::<f64>(view(a), view_mut(&mut out), n, lower),
        DType::C64 => cholesky_of::<Complex<f32>>(view(a), view_mut(&mut out), n, lower),
        DType::C128 => cholesky_of::<Complex<f64>>(view(a), view_mut(&mut out), n, lower),
        dtype => return Err(LibraryError::DType { kernel: "cholesky", dtype, supported: SUPPORTED }),
    }
    Ok(out)
}

/// Solves the triangular systems of `a`, of shape `[…, n, n]`, for `b`, of shape `[…, n, m]` (left side) or
/// `[…, m, n]` (right side) with the same leading axes; the result has the shape of `b`. A zero on the diagonal
/// gives infinities or NaNs.
pub fn triangular_solve(a: &Buffer, b: &Buffer, system: TriangularSolve) -> Result<Buffer, LibraryError> {
    let kernel = "triangular_solve";
    let n = square(kernel, a)?;
    let (rank, shape) = (a.shape().len(), b.shape());
    let axis = if system.left_side { rank - 2 } else { rank - 1 };
    if shape.len() != rank || shape[..rank - 2] != a.shape()[..rank - 2] || shape[axis] != n {
        let reason = format!("does not fit a matrix of the shape {:?}", a.shape());
        return Err(LibraryError::Shape { kernel, shape: shape.to_vec(), reason });
    }
    if a.dtype() != b.dtype() {
        let supported = "the element type of the matrix is wanted; f32, f64, c64 and c128";
        return Err(LibraryError::DType { kernel, dtype: b.dtype(), supported });
    }
    let mut out = b.clone();
    match a.dtype() {
        DType::F32 => solve_of::<f32>(view(a), view_mut(&mut out), n, system),
        DType::F64 => solve_of::<f64>(view(a), view_mut(&mut out), n, system),
        DType::C64 => solve_of::<Complex<f32>>(view(a), view_mut(&mut out), n, system),
        DType::C128 => solve_of::<Complex<f64>>(view(a), view_mut(&mut out), n, system),
        dtype => return Err(LibraryError::DType { kernel, dtype, supported: SUPPORTED }),
    }
    Ok(out)
}

/// [`cholesky`] for compiled code: `input` and `output` are `batch x n x n`, of the element type with code
/// `dtype` (f32, f64, c64, c128); `lower` is 0 or 1. Returns 0, or 1 if it was called wrongly.
///
/// # Safety
/// The tensors have that size and do not overlap.
pub unsafe extern "C" fn surject_cholesky(
    dtype: i64,
    input: *const u8,
    output: *mut u8,
    batch: i64,
    n: i64,
    lower: i64,
) -> i32 {
    let Some(len) = product(&[batch, n, n, 16]).map(|bytes| bytes / 16) else { return 1 };
    let (n, lower) = (n as usize, lower != 0);
    // SAFETY: the caller's promise.
    unsafe {
        match dtype_of_code(dtype) {
            Some(DType::F32) => cholesky_of::<f32>(raw(input, len), raw_mut(output, len), n, lower),
            Some(DType::F64) => cholesky_of::<f64>(raw(input, len), raw_mut(output, len), n, lower),
            Some(DType::C64) => cholesky_of::<Complex<f32>>(raw(input, len), raw_mut(output, len), n, lower),
            Some(DType::C128) => cholesky_of::<Complex<f64>>(raw(input, len), raw_mut(output, len), n, lower),
            _ => return 1,
        }
    }
    0
}

/// [`triangular_solve`] for compiled code: `a` is `batch x n x n`; `b` and `output` are `batch x n x m` if
/// `left_side`, else `batch x m x n`. The flags are 0 or 1, `transpose` is 0 (none), 1 (transpose) or 2
/// (adjoint), `dtype` the code of f32, f64, c64 or c128. Returns 0, or 1 if it was called wrongly.
///
/// # Safety
/// The tensors have that size and do not overlap.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn surject_triangular_solve(
    dtype: i64,
    a: *const u8,
    b: *const u8,
    output: *mut u8,
    batch: i64,
    n: i64,
    m: i64,
    left_side: i64,
    lower: i64,
    unit_diagonal: i64,
    transpose: i64,
) -> i32 {
    /// # Safety
    /// As for [`surject_triangular_solve`].
    unsafe fn run<T: Element + ComplexField>(
        (a, b, output): (*const u8, *const u8, *mut u8),
        (matrices, sides): (usize, usize),
        n: usize,
        system: TriangularSolve,
    ) {
        // SAFETY: the caller's promise.
        let (a, b, output) =
            unsafe { (raw::<T>(a, matrices), raw::<T>(b, sides), raw_mut::<T>(output, sides)) };
        output.copy_from_slice(b);
        solve_of(a, output, n, system);
    }
    let transpose_a = match transpose {
        0 => TransposeA::NoTranspose,
        1 => TransposeA::Transpose,
        2 => TransposeA::Adjoint,
        _ => return 1,
    };
    let (Some(matrices), Some(sides)) = (product(&[batch, n, n, 16]), product(&[batch, n, m, 16])) else {
        return 1;
    };
    let (pointers, sizes, n) = ((a, b, output), (matrices / 16, sides / 16), n as usize);
    let system = TriangularSolve {
        left_side: left_side != 0,
        lower: lower != 0,
        unit_diagonal: unit_diagonal != 0,
        transpose_a,
    };
    // SAFETY: the caller's promise.
    unsafe {
        match dtype_of_code(dtype) {
            Some(DType::F32) => run::<f32>(pointers, sizes, n, system),
            Some(DType::F64) => run::<f64>(pointers, sizes, n, system),
            Some(DType::C64) => run::<Complex<f32>>(pointers, sizes, n, system),
            Some(DType::C128) => run::<Complex<f64>>(pointers, sizes, n, system),
            _ => return 1,
        }
    }
    0
}

/// `n` of a shape `[…, n, n]`.
fn square(kernel: &'static str, a: &Buffer) -> Result<usize, LibraryError> {
    match a.shape() {
        [.., rows, columns] if rows == columns => Ok(*rows),
        shape => {
            let reason = "the last two axes are not those of a square matrix".to_owned();
            Err(LibraryError::Shape { kernel, shape: shape.to_vec(), reason })
        }
    }
}

/// Numbers that are computed as those of 64 bits and rounded once: what is near a singular matrix needs the digits.
trait Wide: Element {
    type Number: ComplexField<RealField = f64> + Copy;
    fn widen(self) -> Self::Number;
    fn narrow(number: Self::Number) -> Self;
}

macro_rules! wide {
    ($($type:ty, $number:ty, |$x:ident| $widen:expr, |$y:ident| $narrow:expr;)*) => {
        $(
            impl Wide for $type {
                type Number = $number;

                fn widen(self) -> $number {
                    let $x = self;
                    $widen
                }

                fn narrow($y: $number) -> $type {
                    $narrow
                }
            }
        )*
    };
}

wide! {
    f32, f64, |x| f64::from(x), |x| x as f32;
    f64, f64, |x| x, |x| x;
    Complex<f32>, Complex<f64>, |z| Complex::new(z.re.into(), z.im.into()), |z| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>, Complex<f64>, |z| z, |z| z;
}

fn cholesky_of<T: Wide>(a: &[T], out: &mut [T], n: usize, lower: bool) {
    for_each_chunk(out, n * n, &|number, out| {
        let a = &a[number * n * n..][..n * n];
        // `nalgebra` reads the lower triangle; the upper triangle's adjoint has the factor's adjoint.
        let at = |i: usize, j: usize| a[i * n + j].widen();
        let zero = T::Number::from_real(0.0);
        let matrix = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => zero,
            std::cmp::Ordering::Equal => T::Number::from_real(at(i, i).real()),
            std::cmp::Ordering::Greater if lower => at(i, j),
            std::cmp::Ordering::Greater => at(j, i).conjugate(),
        });
        // Complex numbers have roots of negative pivots, so the diagonal tells whether it succeeded.
        let positive = |x: T::Number| x == T::Number::from_real(x.real()) && x.real() > 0.0;
        let factor =
            Cholesky::new(matrix).map(Cholesky::unpack).filter(|l| l.diagonal().iter().all(|&x| positive(x)));
        for i in 0..n {
            for j in 0..=i {
                let place = if lower { i * n + j } else { j * n + i };
                out[place] = factor.as_ref().map_or(T::NAN, |l| {
                    let value = l[(i, j)];
                    T::narrow(if lower { value } else { value.conjugate() })
                });
            }
            // The strict other triangle.
            for j in i + 1..n {
                out[if lower { i * n + j } else { j * n + i }] = T::narrow(zero);
            }
        }
    });
}

/// Solves in place of the right-hand sides.
fn solve_of<T: Element + ComplexField>(a: &[T], b: &mut [T], n: usize, system: TriangularSolve) {
    if a.is_empty() || b.is_empty() {
        return;
    }
    let side = b.len() / (a.len() / (n * n));
    let TriangularSolve { left_side, lower, unit_diagonal, transpose_a } = system;
    // `x op(a) = b` is `op(a)^T x^T = b^T`; transposed once more or not, the triangle of `a` turns or not.
    let turned = (transpose_a != TransposeA::NoTranspose) == left_side;
    for_each_chunk(b, side, &|number, b| {
        let a = &a[number * n * n..][..n * n];
        let matrix = DMatrix::from_fn(n, n, |i, j| {
            let (i, j) = if turned { (j, i) } else { (i, j) };
            match () {
                () if i == j && unit_diagonal => T::one(),
                () if (i < j) == lower && i != j => T::zero(),
                () if transpose_a == TransposeA::Adjoint => a[i * n + j].conjugate(),
                () => a[i * n + j],
            }
        });
        let columns = b.len() / n;
        let mut x = if left_side {
            DMatrix::from_row_slice(n, columns, b)
        } else {
            DMatrix::from_column_slice(n, columns, b)
        };
        if lower != turned {
            matrix.solve_lower_triangular_unchecked_mut(&mut x);
        } else {
            matrix.solve_upper_triangular_unchecked_mut(&mut x);
        }
        if left_side {
            b.copy_from_slice(x.transpose().as_slice());
        } else {
            b.copy_from_slice(x.as_slice());
        }
    });
}
