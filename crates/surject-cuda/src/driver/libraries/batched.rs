//! Calls for all matrices of a batch, whose addresses stand in arrays on the device.

use super::{System, blas, int, refused, solve, system};
use crate::DeviceError;
use crate::call::{Call, Routine, Triangle};
use cudarc::driver::result;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use std::ffi::c_int;
use surject_ir::DType;

/// The bytes of the arrays of addresses: one for each operand that is a batch of matrices.
pub(super) fn workspace(call: &Call) -> u64 {
    let arrays = match call.routine {
        Routine::Trsm { .. } | Routine::GeqrfBatched { .. } => 2,
        _ => 1,
    };
    if call.is_batched() { arrays * call.batch * size_of::<CUdeviceptr>() as u64 } else { 0 }
}

/// Writes the addresses of the matrices that lie so many bytes behind each other into the workspace; where each array is.
pub(super) fn addresses<const N: usize>(
    call: &Call,
    first: [u64; N],
    steps: [u64; N],
    work: CUdeviceptr,
    stream: CUstream,
) -> Result<[u64; N], DeviceError> {
    let all: Vec<CUdeviceptr> = first
        .iter()
        .zip(steps)
        .flat_map(|(&first, step)| (0..call.batch).map(move |i| first + i * step))
        .collect();
    // SAFETY: the workspace has room for the arrays, and these stay until the stream has been waited for.
    let copied = unsafe {
        result::memcpy_htod_async(work, &all, stream).and_then(|()| result::stream::synchronize(stream))
    };
    copied.map_err(|error| super::super::failed("cuMemcpyHtoD", error))?;
    Ok(std::array::from_fn(|k| work + k as u64 * call.batch * size_of::<CUdeviceptr>() as u64))
}

/// Solves the triangular systems of all matrices.
pub(super) fn triangular(
    handle: blas::cublasHandle_t,
    call: &Call,
    arrays: [u64; 2],
) -> Result<(), DeviceError> {
    let System { side, triangle, op, diagonal, own, m, n } = system(call)?;
    let count = int(call.batch);
    macro_rules! solve {
        ($function:ident, $one:expr) => {{
            let one = $one;
            let (a, b) = (arrays[0] as *const _, arrays[1] as *const _);
            // SAFETY: the arrays have the addresses of so many operands of these sizes; the factor lies on the host.
            unsafe { blas::$function(handle, side, triangle, op, diagonal, m, n, &one, a, own, b, m, count) }
        }};
    }
    let done = match call.dtype {
        DType::F32 => solve!(cublasStrsmBatched, 1.0f32),
        DType::F64 => solve!(cublasDtrsmBatched, 1.0f64),
        DType::C64 => solve!(cublasCtrsmBatched, blas::cuComplex { x: 1.0, y: 0.0 }),
        _ => solve!(cublasZtrsmBatched, blas::cuDoubleComplex { x: 1.0, y: 0.0 }),
    };
    done.result().map_err(|e| refused(call, e.0))
}

/// The Cholesky factors of all matrices, and an `info` for each.
pub(super) fn cholesky(
    handle: solve::cusolverDnHandle_t,
    call: &Call,
    array: u64,
    info: u64,
) -> Result<(), DeviceError> {
    let Routine::Potrf { triangle, n } = call.routine else {
        return Err(refused(call, "no Cholesky factor"));
    };
    let triangle = match triangle {
        Triangle::Lower => solve::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
        Triangle::Upper => solve::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER,
    };
    let (n, count, info) = (int(n), int(call.batch), info as *mut c_int);
    // SAFETY: the array has the addresses of so many matrices of this size, and there is room for an `info` of each.
    let done = unsafe {
        match call.dtype {
            DType::F32 => {
                solve::cusolverDnSpotrfBatched(handle, triangle, n, array as *mut _, n, info, count)
            }
            DType::F64 => {
                solve::cusolverDnDpotrfBatched(handle, triangle, n, array as *mut _, n, info, count)
            }
            DType::C64 => {
                solve::cusolverDnCpotrfBatched(handle, triangle, n, array as *mut _, n, info, count)
            }
            _ => solve::cusolverDnZpotrfBatched(handle, triangle, n, array as *mut _, n, info, count),
        }
    };
    done.result().map_err(|e| refused(call, e.0))
}

/// The LU factors of all square matrices, from the addresses of theirs, to pivots and an `info` for each.
pub(super) fn lu(
    handle: blas::cublasHandle_t,
    call: &Call,
    n: u64,
    [array, pivots, info]: [u64; 3],
) -> Result<(), DeviceError> {
    let (n, count, pivots, info) = (int(n), int(call.batch), pivots as *mut c_int, info as *mut c_int);
    macro_rules! factor {
        ($function:ident) => {
            // SAFETY: the array has the addresses of so many matrices of this size, and there is room for the pivots and an
            // `info` of each.
            unsafe { blas::$function(handle, n, array as *const _, n, pivots, info, count) }
        };
    }
    let done = match call.dtype {
        DType::F32 => factor!(cublasSgetrfBatched),
        DType::F64 => factor!(cublasDgetrfBatched),
        DType::C64 => factor!(cublasCgetrfBatched),
        _ => factor!(cublasZgetrfBatched),
    };
    done.result().map_err(|e| refused(call, e.0))
}

/// The QR factors of all matrices, from the addresses of theirs and of their `tau`.
pub(super) fn qr(
    handle: blas::cublasHandle_t,
    call: &Call,
    [m, n]: [u64; 2],
    [array, tau]: [u64; 2],
) -> Result<(), DeviceError> {
    let (m, n, count) = (int(m), int(n), int(call.batch));
    // It says whether the arguments are right, and lies on the host.
    let mut info: c_int = 0;
    macro_rules! factor {
        ($function:ident) => {
            // SAFETY: the arrays have the addresses of so many operands of these sizes; the number lies on the host.
            unsafe { blas::$function(handle, m, n, array as *const _, m, tau as *const _, &mut info, count) }
        };
    }
    let done = match call.dtype {
        DType::F32 => factor!(cublasSgeqrfBatched),
        DType::F64 => factor!(cublasDgeqrfBatched),
        DType::C64 => factor!(cublasCgeqrfBatched),
        _ => factor!(cublasZgeqrfBatched),
    };
    done.result().map_err(|e| refused(call, e.0))?;
    match info {
        0 => Ok(()),
        wrong => Err(refused(call, format!("the argument {} is wrong", -wrong))),
    }
}

/// Writes an `info` of success for each matrix, of a routine that has none.
pub(super) fn succeeded(call: &Call, info: CUdeviceptr, stream: CUstream) -> Result<(), DeviceError> {
    let bytes = call.batch as usize * size_of::<c_int>();
    // SAFETY: there is room for an `info` of each matrix.
    unsafe { result::memset_d8_async(info, 0, bytes, stream) }
        .map_err(|error| super::super::failed("cuMemsetD8", error))
}
