//! cuFFT, cuBLAS and cuSOLVER, each loaded when a plan asks for it: neither a build nor a start needs them.
//!
//! A factorisation is one call for each matrix of a batch; Cholesky factors, triangular systems, and small matrices for LU
//! and QR are one call for all of them. Every stream has handles of its own, as a handle has one workspace.

mod batched;
mod solver;

use crate::DeviceError;
use crate::call::{Call, Diagonal, Form, Library, Op, Routine, Side, Triangle};
use cudarc::cublas::sys as blas;
use cudarc::cufft::sys as fft;
use cudarc::cusolver::sys as solve;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use std::collections::HashMap;
use std::ffi::{c_int, c_longlong};
use surject_ir::DType;

/// The libraries that are open, by their handles.
#[derive(Default)]
pub(super) struct Libraries {
    blas: HashMap<CUstream, blas::cublasHandle_t>,
    solver: HashMap<CUstream, solve::cusolverDnHandle_t>,
    /// The plans of Fourier transforms, and the bytes of their workspaces. They stay until all is closed: recordings use
    /// what belongs to them.
    transforms: HashMap<Call, (fft::cufftHandle, u64)>,
}

/// The error of a status that is not success.
fn refused(call: &Call, status: impl std::fmt::Debug) -> DeviceError {
    DeviceError::Library { library: call.library(), call: call.to_string(), reason: format!("{status:?}") }
}

/// A size, which [`Call::operands`] has bounded.
fn int(size: u64) -> c_int {
    c_int::try_from(size).unwrap_or(c_int::MAX)
}

/// The functions that a call needs: the bindings end the process where one of them is missing, so they are looked for before.
fn functions(call: &Call) -> Vec<String> {
    let own = call.name();
    let all = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<String>>();
    let mut names = match call.library() {
        Library::Cublas => {
            let own = if call.is_batched() { own } else { own + "_v2" };
            return [all(&["cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2"]), vec![own]].concat();
        }
        Library::Cufft => all(&[
            "cufftCreate",
            "cufftDestroy",
            "cufftMakePlanMany64",
            "cufftSetAutoAllocation",
            "cufftSetStream",
            "cufftSetWorkArea",
        ]),
        Library::Cusolver => {
            let size = (!call.is_batched()).then(|| format!("{own}_bufferSize"));
            let mut names = all(&["cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream"]);
            names.extend(size);
            names
        }
    };
    names.push(own);
    names
}

/// Is a library there, and may it be used?
pub(super) fn find(library: Library) -> Result<(), DeviceError> {
    if !library.is_allowed() {
        let reason = format!("{} leaves it out", Library::ALLOWED);
        return Err(DeviceError::NoLibrary { library, reason });
    }
    // SAFETY: it only tries to load the library.
    let (found, name) = unsafe {
        match library {
            Library::Cublas => (blas::is_culib_present(), "cublas"),
            Library::Cufft => (fft::is_culib_present(), "cufft"),
            Library::Cusolver => (solve::is_culib_present(), "cusolver"),
        }
    };
    let reason = || {
        format!(
            "no version of `lib{name}.so` loads, with the libraries that it needs itself; LD_LIBRARY_PATH says where they are"
        )
    };
    if found { Ok(()) } else { Err(DeviceError::NoLibrary { library, reason: reason() }) }
}

/// Is the library of a call there, with all functions that it needs?
fn complete(call: &Call) -> Result<(), DeviceError> {
    let library = call.library();
    find(library)?;
    // SAFETY: the library was found; a symbol is only looked up.
    let has = |name: &String| unsafe {
        let open = match library {
            Library::Cublas => blas::culib(),
            Library::Cufft => fft::culib(),
            Library::Cusolver => solve::culib(),
        };
        open.get::<*const ()>(name.as_bytes()).is_ok()
    };
    match functions(call).into_iter().find(|name| !has(name)) {
        None => Ok(()),
        Some(name) => Err(DeviceError::NoLibrary { library, reason: format!("it has no function `{name}`") }),
    }
}

impl Libraries {
    /// Opens what a call needs; the bytes of its workspace.
    pub(super) fn prepare(&mut self, call: &Call, stream: CUstream) -> Result<u64, DeviceError> {
        let library = call.library();
        call.operands().map_err(|reason| DeviceError::Library { library, call: call.to_string(), reason })?;
        complete(call)?;
        match &call.routine {
            Routine::Fft { form, lengths, inner } => self.transform(call, *form, lengths, *inner, stream),
            Routine::Trsm { .. } | Routine::GetrfBatched { .. } | Routine::GeqrfBatched { .. } => {
                self.blas(call, stream).map(|_| batched::workspace(call))
            }
            _ => {
                let handle = self.solver(call, stream)?;
                if call.is_batched() {
                    return Ok(batched::workspace(call));
                }
                solver::workspace(handle, call)
            }
        }
    }

    /// Does a call; the addresses are those of its operands and of its workspace of so many bytes.
    pub(super) fn call(
        &mut self,
        call: &Call,
        addresses: &[CUdeviceptr],
        workspace: u64,
        stream: CUstream,
    ) -> Result<(), DeviceError> {
        let operands = call.operands().map_err(|reason| refused(call, reason))?;
        let Some((&work, own)) = addresses.split_last().filter(|(_, own)| own.len() == operands.len()) else {
            return Err(refused(call, "another number of operands"));
        };
        // How far one part of the batch lies behind the other, of each operand.
        let steps: Vec<u64> = operands.iter().map(|o| o.elements * o.dtype.size() as u64).collect();
        let part = |i: u64| own.iter().zip(&steps).map(|(at, step)| at + i * step).collect::<Vec<u64>>();
        match &call.routine {
            Routine::Fft { form, inner, .. } => {
                let times = if *inner > 1 { call.batch } else { 1 };
                let (plan, _) =
                    *self.transforms.get(call).ok_or_else(|| refused(call, "it was not prepared"))?;
                // SAFETY: the plan is open, and the workspace has the bytes that it asked for.
                let set = unsafe {
                    let stream = fft::cufftSetStream(plan, stream.cast()).result();
                    stream.and_then(|()| fft::cufftSetWorkArea(plan, work as *mut _).result())
                };
                set.map_err(|e| refused(call, e.0))?;
                (0..times).try_for_each(|i| execute(call, plan, *form, &part(i)))
            }
            Routine::Trsm { .. } if call.is_batched() => {
                let handle = self.blas(call, stream)?;
                let arrays = batched::addresses(call, [own[0], own[1]], [steps[0], steps[1]], work, stream)?;
                batched::triangular(handle, call, arrays)
            }
            Routine::GetrfBatched { n } => {
                let handle = self.blas(call, stream)?;
                let [array] = batched::addresses(call, [own[0]], [steps[0]], work, stream)?;
                batched::lu(handle, call, *n, [array, own[1], own[2]])
            }
            Routine::GeqrfBatched { m, n } => {
                let handle = self.blas(call, stream)?;
                let arrays = batched::addresses(call, [own[0], own[1]], [steps[0], steps[1]], work, stream)?;
                batched::qr(handle, call, [*m, *n], arrays)?;
                batched::succeeded(call, own[2], stream)
            }
            Routine::Potrf { .. } if call.is_batched() => {
                let handle = self.solver(call, stream)?;
                let [array] = batched::addresses(call, [own[0]], [steps[0]], work, stream)?;
                batched::cholesky(handle, call, array, own[1])
            }
            Routine::Trsm { .. } => {
                let handle = self.blas(call, stream)?;
                (0..call.batch).try_for_each(|i| triangular(handle, call, &part(i)))
            }
            _ => {
                let handle = self.solver(call, stream)?;
                let work = solver::Work { address: work, bytes: workspace };
                (0..call.batch).try_for_each(|i| solver::factor(handle, call, &part(i), work))
            }
        }
    }

    /// The plan of a transform, and the bytes of its workspace.
    fn transform(
        &mut self,
        call: &Call,
        form: Form,
        lengths: &[u64],
        inner: u64,
        stream: CUstream,
    ) -> Result<u64, DeviceError> {
        let kind = match (form, call.dtype == DType::C128) {
            (Form::Forward | Form::Inverse, false) => fft::cufftType::CUFFT_C2C,
            (Form::Forward | Form::Inverse, true) => fft::cufftType::CUFFT_Z2Z,
            (Form::FromReal, false) => fft::cufftType::CUFFT_R2C,
            (Form::FromReal, true) => fft::cufftType::CUFFT_D2Z,
            (Form::ToReal, false) => fft::cufftType::CUFFT_C2R,
            (Form::ToReal, true) => fft::cufftType::CUFFT_Z2D,
        };
        if let Some(&(_, bytes)) = self.transforms.get(call) {
            return Ok(bytes);
        }
        let mut plan = 0;
        // SAFETY: the address is that of a number.
        unsafe { fft::cufftCreate(&mut plan) }.result().map_err(|e| refused(call, e.0))?;
        let mut sizes: Vec<c_longlong> = lengths.iter().map(|&n| c_longlong::from(int(n))).collect();
        let mut layout = sizes.clone();
        // Without a layout the numbers of a signal lie next to each other, and the signals one behind the other.
        let (layout, step, apart, count) = match inner {
            1 => (std::ptr::null_mut(), 1, 1, int(call.batch).into()),
            inner => (layout.as_mut_ptr(), int(inner).into(), 1, int(inner).into()),
        };
        let mut bytes = 0;
        // SAFETY: the plan was just made; the arrays have as many numbers as it has axes, and are only read.
        let made = unsafe {
            let own = fft::cufftSetAutoAllocation(plan, 0).result();
            let own = own.and_then(|()| {
                let (rank, sizes) = (sizes.len() as c_int, sizes.as_mut_ptr());
                fft::cufftMakePlanMany64(
                    plan, rank, sizes, layout, step, apart, layout, step, apart, kind, count, &mut bytes,
                )
                .result()
            });
            own.and_then(|()| fft::cufftSetStream(plan, stream.cast()).result())
        };
        if let Err(error) = made {
            // SAFETY: it was made above, and nothing else uses it.
            let _ = unsafe { fft::cufftDestroy(plan) };
            return Err(refused(call, error.0));
        }
        self.transforms.insert(call.clone(), (plan, bytes as u64));
        Ok(bytes as u64)
    }

    fn blas(&mut self, call: &Call, stream: CUstream) -> Result<blas::cublasHandle_t, DeviceError> {
        if let Some(&handle) = self.blas.get(&stream) {
            return Ok(handle);
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: the address is that of a handle, which is open afterwards.
        unsafe {
            blas::cublasCreate_v2(&mut handle).result().map_err(|e| refused(call, e.0))?;
            self.blas.insert(stream, handle);
            blas::cublasSetStream_v2(handle, stream.cast()).result().map_err(|e| refused(call, e.0))?;
        }
        Ok(handle)
    }

    fn solver(&mut self, call: &Call, stream: CUstream) -> Result<solve::cusolverDnHandle_t, DeviceError> {
        if let Some(&handle) = self.solver.get(&stream) {
            return Ok(handle);
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: the address is that of a handle, which is open afterwards.
        unsafe {
            solve::cusolverDnCreate(&mut handle).result().map_err(|e| refused(call, e.0))?;
            self.solver.insert(stream, handle);
            solve::cusolverDnSetStream(handle, stream.cast()).result().map_err(|e| refused(call, e.0))?;
        }
        Ok(handle)
    }

    /// Closes all of them, while the context is there.
    pub(super) fn close(&mut self) {
        // SAFETY: they are open, and forgotten here.
        unsafe {
            for (_, (plan, _)) in self.transforms.drain() {
                let _ = fft::cufftDestroy(plan);
            }
            for handle in self.blas.drain().map(|(_, handle)| handle) {
                let _ = blas::cublasDestroy_v2(handle);
            }
            for handle in self.solver.drain().map(|(_, handle)| handle) {
                let _ = solve::cusolverDnDestroy(handle);
            }
        }
    }
}

/// Runs the plan of a transform.
fn execute(call: &Call, plan: fft::cufftHandle, form: Form, at: &[u64]) -> Result<(), DeviceError> {
    let [from, to] = [at[0], at[1]];
    let (forward, inverse) = (-1, 1);
    // SAFETY: the operands have the sizes of the plan, in memory of the device.
    let done = unsafe {
        match (form, call.dtype == DType::C128) {
            (Form::Forward, false) => fft::cufftExecC2C(plan, from as *mut _, to as *mut _, forward),
            (Form::Forward, true) => fft::cufftExecZ2Z(plan, from as *mut _, to as *mut _, forward),
            (Form::Inverse, false) => fft::cufftExecC2C(plan, from as *mut _, to as *mut _, inverse),
            (Form::Inverse, true) => fft::cufftExecZ2Z(plan, from as *mut _, to as *mut _, inverse),
            (Form::FromReal, false) => fft::cufftExecR2C(plan, from as *mut _, to as *mut _),
            (Form::FromReal, true) => fft::cufftExecD2Z(plan, from as *mut _, to as *mut _),
            (Form::ToReal, false) => fft::cufftExecC2R(plan, from as *mut _, to as *mut _),
            (Form::ToReal, true) => fft::cufftExecZ2D(plan, from as *mut _, to as *mut _),
        }
    };
    done.result().map_err(|e| refused(call, e.0))
}

/// A triangular system, as cuBLAS says it.
struct System {
    side: blas::cublasSideMode_t,
    triangle: blas::cublasFillMode_t,
    op: blas::cublasOperation_t,
    diagonal: blas::cublasDiagType_t,
    /// The size of the matrix.
    own: c_int,
    /// The sizes of the right sides.
    m: c_int,
    n: c_int,
}

/// Solves the triangular systems of one matrix.
fn triangular(handle: blas::cublasHandle_t, call: &Call, at: &[u64]) -> Result<(), DeviceError> {
    let System { side, triangle, op, diagonal, own, m, n } = system(call)?;
    macro_rules! solve {
        ($function:ident, $one:expr) => {{
            let one = $one;
            let (a, b) = (at[0] as *const _, at[1] as *mut _);
            // SAFETY: the operands have these sizes, in memory of the device; the factor lies on the host.
            unsafe { blas::$function(handle, side, triangle, op, diagonal, m, n, &one, a, own, b, m) }
        }};
    }
    let done = match call.dtype {
        DType::F32 => solve!(cublasStrsm_v2, 1.0f32),
        DType::F64 => solve!(cublasDtrsm_v2, 1.0f64),
        DType::C64 => solve!(cublasCtrsm_v2, blas::cuComplex { x: 1.0, y: 0.0 }),
        _ => solve!(cublasZtrsm_v2, blas::cuDoubleComplex { x: 1.0, y: 0.0 }),
    };
    done.result().map_err(|e| refused(call, e.0))
}

fn system(call: &Call) -> Result<System, DeviceError> {
    let Routine::Trsm { side, triangle, op, diagonal, m, n } = call.routine else {
        return Err(refused(call, "no triangular system"));
    };
    let own = int(if side == Side::Left { m } else { n });
    let (m, n) = (int(m), int(n));
    let side = match side {
        Side::Left => blas::cublasSideMode_t::CUBLAS_SIDE_LEFT,
        Side::Right => blas::cublasSideMode_t::CUBLAS_SIDE_RIGHT,
    };
    let triangle = match triangle {
        Triangle::Lower => blas::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
        Triangle::Upper => blas::cublasFillMode_t::CUBLAS_FILL_MODE_UPPER,
    };
    let op = match op {
        Op::None => blas::cublasOperation_t::CUBLAS_OP_N,
        Op::Transpose => blas::cublasOperation_t::CUBLAS_OP_T,
        Op::Adjoint => blas::cublasOperation_t::CUBLAS_OP_C,
    };
    let diagonal = match diagonal {
        Diagonal::Stored => blas::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT,
        Diagonal::Ones => blas::cublasDiagType_t::CUBLAS_DIAG_UNIT,
    };
    Ok(System { side, triangle, op, diagonal, own, m, n })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Vectors;

    /// Every routine in every type.
    fn calls() -> Vec<Call> {
        let (m, n, k) = (6, 4, 3);
        let fft = |form, inner| Routine::Fft { form, lengths: vec![4, 6], inner };
        let triangle = Triangle::Lower;
        let complex =
            [fft(Form::Forward, 1), fft(Form::Inverse, 5), fft(Form::FromReal, 1), fft(Form::ToReal, 1)];
        let every = [
            Routine::Potrf { triangle, n },
            Routine::Trsm { side: Side::Left, triangle, op: Op::Transpose, diagonal: Diagonal::Ones, m, n },
            Routine::Getrf { m, n },
            Routine::GetrfBatched { n },
            Routine::Geqrf { m, n },
            Routine::GeqrfBatched { m, n },
            Routine::Orgqr { m, n, k },
            Routine::Ormqr { side: Side::Right, op: Op::None, m, n, k },
            Routine::Syevd { triangle, n },
            Routine::Gesvd { vectors: Vectors::All, m, n },
        ];
        let types = [DType::F32, DType::F64, DType::C64, DType::C128];
        let call = |routine: &Routine, dtype| Call { routine: routine.clone(), dtype, batch: 2 };
        let one = |routine: &Routine, dtype| Call { batch: 1, ..call(routine, dtype) };
        let single = types.iter().flat_map(|&dtype| every.iter().map(move |r| one(r, dtype)));
        let transforms = types[2..].iter().flat_map(|&dtype| complex.iter().map(move |r| call(r, dtype)));
        let others = types.iter().flat_map(|&dtype| every.iter().map(move |r| call(r, dtype)));
        transforms.chain(others).chain(single).collect()
    }

    /// Where a library is, it has all functions that calls need; where it is not, or there is no GPU, that is an error.
    #[test]
    fn what_is_missing_is_an_error() {
        for call in calls() {
            call.operands().unwrap_or_else(|error| panic!("{call}: {error}"));
            let found = find(call.library());
            assert_eq!(complete(&call), found, "{call}");
            let mut libraries = Libraries::default();
            let prepared = libraries.prepare(&call, std::ptr::null_mut());
            match (found, prepared) {
                (Err(missing), prepared) => assert_eq!(prepared, Err(missing)),
                (Ok(()), Err(error)) => {
                    assert!(matches!(error, DeviceError::Library { .. }), "{call}: {error}");
                }
                (Ok(()), Ok(_)) => {}
            }
        }
    }
}
