//! The routines of cuSOLVER, for each type of numbers.

use super::{int, refused};
use crate::DeviceError;
use crate::call::{Call, Op, Routine, Side, Triangle, Vectors};
use cudarc::cusolver::sys;
use std::ffi::{c_int, c_schar};
use std::ptr::null_mut;
use surject_ir::DType;

/// The workspace of a call.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

fn fill(triangle: Triangle) -> sys::cublasFillMode_t {
    match triangle {
        Triangle::Lower => sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
        Triangle::Upper => sys::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER,
    }
}

fn side_of(side: Side) -> sys::cublasSideMode_t {
    match side {
        Side::Left => sys::cublasSideMode_t::CUBLAS_SIDE_LEFT,
        Side::Right => sys::cublasSideMode_t::CUBLAS_SIDE_RIGHT,
    }
}

fn operation(op: Op) -> sys::cublasOperation_t {
    match op {
        Op::None => sys::cublasOperation_t::CUBLAS_OP_N,
        Op::Transpose => sys::cublasOperation_t::CUBLAS_OP_T,
        Op::Adjoint => sys::cublasOperation_t::CUBLAS_OP_C,
    }
}

const VECTORS: sys::cusolverEigMode_t = sys::cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR;

/// The bytes of the workspace of a call.
pub(super) fn workspace(handle: sys::cusolverDnHandle_t, call: &Call) -> Result<u64, DeviceError> {
    let mut count: c_int = 0;
    let status = match call.dtype {
        DType::F32 => f32::count(handle, &call.routine, &mut count),
        DType::F64 => f64::count(handle, &call.routine, &mut count),
        DType::C64 => sys::cuComplex::count(handle, &call.routine, &mut count),
        _ => sys::cuDoubleComplex::count(handle, &call.routine, &mut count),
    };
    status.result().map_err(|e| refused(call, e.0))?;
    Ok(count.max(0) as u64 * call.dtype.size() as u64)
}

/// Does a call for one matrix, whose operands are at these addresses.
pub(super) fn factor(
    handle: sys::cusolverDnHandle_t,
    call: &Call,
    at: &[u64],
    work: Work,
) -> Result<(), DeviceError> {
    let status = match call.dtype {
        DType::F32 => f32::factor(handle, &call.routine, at, work),
        DType::F64 => f64::factor(handle, &call.routine, at, work),
        DType::C64 => sys::cuComplex::factor(handle, &call.routine, at, work),
        _ => sys::cuDoubleComplex::factor(handle, &call.routine, at, work),
    };
    status.result().map_err(|e| refused(call, e.0))
}

/// A type of numbers.
trait Number {
    /// How many numbers the workspace of a routine has.
    fn count(handle: sys::cusolverDnHandle_t, routine: &Routine, count: &mut c_int) -> sys::cusolverStatus_t;

    /// Does a routine. It is long, where a type has it, because it is flat: one arm a routine.
    fn factor(
        handle: sys::cusolverDnHandle_t,
        routine: &Routine,
        at: &[u64],
        work: Work,
    ) -> sys::cusolverStatus_t;
}

/// The rows of the matrix that holds the reflectors of a product.
fn reflected(side: Side, m: u64, n: u64) -> c_int {
    int(if side == Side::Left { m } else { n })
}

macro_rules! number {
    ($number:ty: $potrf:ident $potrf_size:ident, $getrf:ident $getrf_size:ident, $geqrf:ident $geqrf_size:ident,
     $orgqr:ident $orgqr_size:ident, $ormqr:ident $ormqr_size:ident, $syevd:ident $syevd_size:ident,
     $gesvd:ident $gesvd_size:ident) => {
        impl Number for $number {
            fn count(
                handle: sys::cusolverDnHandle_t,
                routine: &Routine,
                count: &mut c_int,
            ) -> sys::cusolverStatus_t {
                // SAFETY: the sizes of workspaces depend on the sizes of the operands, which are not read.
                unsafe {
                    match *routine {
                        Routine::Potrf { triangle, n } => {
                            sys::$potrf_size(handle, fill(triangle), int(n), null_mut(), int(n), count)
                        }
                        Routine::Getrf { m, n } => {
                            sys::$getrf_size(handle, int(m), int(n), null_mut(), int(m), count)
                        }
                        Routine::Geqrf { m, n } => {
                            sys::$geqrf_size(handle, int(m), int(n), null_mut(), int(m), count)
                        }
                        Routine::Orgqr { m, n, k } => sys::$orgqr_size(
                            handle,
                            int(m),
                            int(n),
                            int(k),
                            null_mut(),
                            int(m),
                            null_mut(),
                            count,
                        ),
                        Routine::Ormqr { side, op, m, n, k } => {
                            let (own, op) = (reflected(side, m, n), operation(op));
                            let (side, m, n) = (side_of(side), int(m), int(n));
                            sys::$ormqr_size(
                                handle,
                                side,
                                op,
                                m,
                                n,
                                int(k),
                                null_mut(),
                                own,
                                null_mut(),
                                null_mut(),
                                m,
                                count,
                            )
                        }
                        Routine::Syevd { triangle, n } => {
                            let (triangle, n) = (fill(triangle), int(n));
                            sys::$syevd_size(handle, VECTORS, triangle, n, null_mut(), n, null_mut(), count)
                        }
                        Routine::Gesvd { m, n, .. } => sys::$gesvd_size(handle, int(m), int(n), count),
                        Routine::Fft { .. }
                        | Routine::Trsm { .. }
                        | Routine::GetrfBatched { .. }
                        | Routine::GeqrfBatched { .. } => {
                            sys::cusolverStatus_t::CUSOLVER_STATUS_NOT_SUPPORTED
                        }
                    }
                }
            }

            fn factor(
                handle: sys::cusolverDnHandle_t,
                routine: &Routine,
                at: &[u64],
                work: Work,
            ) -> sys::cusolverStatus_t {
                let count = c_int::try_from(work.bytes / size_of::<$number>() as u64).unwrap_or(c_int::MAX);
                let (a, space) = (at[0] as *mut $number, work.address as *mut $number);
                let info = at[at.len() - 1] as *mut c_int;
                // SAFETY: the operands have the sizes of the routine, in memory of the device, and so has the workspace.
                unsafe {
                    match *routine {
                        Routine::Potrf { triangle, n } => {
                            let (triangle, n) = (fill(triangle), int(n));
                            sys::$potrf(handle, triangle, n, a, n, space, count, info)
                        }
                        Routine::Getrf { m, n } => {
                            let pivots = at[1] as *mut c_int;
                            sys::$getrf(handle, int(m), int(n), a, int(m), space, pivots, info)
                        }
                        Routine::Geqrf { m, n } => {
                            let tau = at[1] as *mut $number;
                            sys::$geqrf(handle, int(m), int(n), a, int(m), tau, space, count, info)
                        }
                        Routine::Orgqr { m, n, k } => {
                            let tau = at[1] as *const $number;
                            let (m, n, k) = (int(m), int(n), int(k));
                            sys::$orgqr(handle, m, n, k, a, m, tau, space, count, info)
                        }
                        Routine::Ormqr { side, op, m, n, k } => {
                            let (tau, c) = (at[1] as *const $number, at[2] as *mut $number);
                            let (own, op) = (reflected(side, m, n), operation(op));
                            let (side, m, n) = (side_of(side), int(m), int(n));
                            sys::$ormqr(handle, side, op, m, n, int(k), a, own, tau, c, m, space, count, info)
                        }
                        Routine::Syevd { triangle, n } => {
                            let (triangle, n, w) = (fill(triangle), int(n), at[1] as *mut _);
                            sys::$syevd(handle, VECTORS, triangle, n, a, n, w, space, count, info)
                        }
                        Routine::Gesvd { vectors, m, n } => {
                            let job = match vectors {
                                Vectors::Thin => b'S' as c_schar,
                                Vectors::All => b'A' as c_schar,
                            };
                            let (s, u, v) = (at[1] as *mut _, at[2] as *mut _, at[3] as *mut _);
                            let (m, n) = (int(m), int(n));
                            // What did not converge is asked for by nobody.
                            let rest = null_mut();
                            sys::$gesvd(handle, job, job, m, n, a, m, s, u, m, v, n, space, count, rest, info)
                        }
                        Routine::Fft { .. }
                        | Routine::Trsm { .. }
                        | Routine::GetrfBatched { .. }
                        | Routine::GeqrfBatched { .. } => {
                            sys::cusolverStatus_t::CUSOLVER_STATUS_NOT_SUPPORTED
                        }
                    }
                }
            }
        }
    };
}

number!(f32: cusolverDnSpotrf cusolverDnSpotrf_bufferSize, cusolverDnSgetrf cusolverDnSgetrf_bufferSize,
    cusolverDnSgeqrf cusolverDnSgeqrf_bufferSize, cusolverDnSorgqr cusolverDnSorgqr_bufferSize,
    cusolverDnSormqr cusolverDnSormqr_bufferSize, cusolverDnSsyevd cusolverDnSsyevd_bufferSize,
    cusolverDnSgesvd cusolverDnSgesvd_bufferSize);
number!(f64: cusolverDnDpotrf cusolverDnDpotrf_bufferSize, cusolverDnDgetrf cusolverDnDgetrf_bufferSize,
    cusolverDnDgeqrf cusolverDnDgeqrf_bufferSize, cusolverDnDorgqr cusolverDnDorgqr_bufferSize,
    cusolverDnDormqr cusolverDnDormqr_bufferSize, cusolverDnDsyevd cusolverDnDsyevd_bufferSize,
    cusolverDnDgesvd cusolverDnDgesvd_bufferSize);
number!(sys::cuComplex: cusolverDnCpotrf cusolverDnCpotrf_bufferSize, cusolverDnCgetrf cusolverDnCgetrf_bufferSize,
    cusolverDnCgeqrf cusolverDnCgeqrf_bufferSize, cusolverDnCungqr cusolverDnCungqr_bufferSize,
    cusolverDnCunmqr cusolverDnCunmqr_bufferSize, cusolverDnCheevd cusolverDnCheevd_bufferSize,
    cusolverDnCgesvd cusolverDnCgesvd_bufferSize);
number!(sys::cuDoubleComplex: cusolverDnZpotrf cusolverDnZpotrf_bufferSize,
    cusolverDnZgetrf cusolverDnZgetrf_bufferSize, cusolverDnZgeqrf cusolverDnZgeqrf_bufferSize,
    cusolverDnZungqr cusolverDnZungqr_bufferSize, cusolverDnZunmqr cusolverDnZunmqr_bufferSize,
    cusolverDnZheevd cusolverDnZheevd_bufferSize, cusolverDnZgesvd cusolverDnZgesvd_bufferSize);
