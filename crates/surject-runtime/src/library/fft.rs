//! Fourier transforms over the last axes, by `rustfft` and `realfft`.

use super::{Element, LibraryError, dtype_of_code, for_each_chunk, product, raw, raw_mut, view, view_mut};
use crate::{Buffer, DType};
use num_complex::Complex;
use realfft::RealFftPlanner;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::cell::RefCell;
use std::sync::Arc;

/// Which transform: the meaning of StableHLO's `fft`. Inverses are divided by the product of the lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftKind {
    /// Complex to complex.
    Fft,
    /// Complex to complex, inverse.
    Ifft,
    /// Real to complex: the last axis, of `n`, becomes the first `n / 2 + 1` elements of the spectrum.
    Rfft,
    /// Complex to real, inverse: the last axis, of `n / 2 + 1`, becomes one of `n`. Imaginary parts that the
    /// spectrum of a real signal cannot have (at frequency 0 and `n / 2`) are ignored.
    Irfft,
}

/// Transforms the last `lengths.len()` axes, 1 to 3 of them. `lengths` are those of the signal: the sizes of the
/// axes, except that for IRFFT the last axis of the input has `n / 2 + 1` elements.
///
/// FFT and IFFT take and give c64 or c128, RFFT takes f32 or f64 and gives c64 or c128, IRFFT the reverse.
pub fn fft(input: &Buffer, kind: FftKind, lengths: &[usize]) -> Result<Buffer, LibraryError> {
    let (rank, shape) = (lengths.len(), input.shape());
    let supported = match kind {
        FftKind::Rfft => "f32 and f64",
        _ => "c64 and c128",
    };
    let error = |reason: String| LibraryError::Shape { kernel: "fft", shape: shape.to_vec(), reason };
    if !(1..=3).contains(&rank) || shape.len() < rank {
        return Err(error(format!("transforms of 1 to 3 of the axes are possible, not of {rank}")));
    }
    let (batch, axes) = shape.split_at(shape.len() - rank);
    let mut wanted = lengths.to_vec();
    let mut result = lengths.to_vec();
    let half = lengths[rank - 1] / 2 + 1;
    match kind {
        FftKind::Rfft => result[rank - 1] = half,
        FftKind::Irfft => wanted[rank - 1] = half,
        FftKind::Fft | FftKind::Ifft => {}
    }
    if axes != wanted {
        return Err(error(format!("the last axes must be {wanted:?} for the lengths {lengths:?}")));
    }
    let result = [batch, &result].concat();
    let dtype = match (kind, input.dtype()) {
        (FftKind::Fft | FftKind::Ifft, dtype @ (DType::C64 | DType::C128)) => dtype,
        (FftKind::Rfft, DType::F32) => DType::C64,
        (FftKind::Rfft, DType::F64) => DType::C128,
        (FftKind::Irfft, dtype @ (DType::C64 | DType::C128)) => dtype.part(),
        (_, dtype) => return Err(LibraryError::DType { kernel: "fft", dtype, supported }),
    };
    if result.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d)).is_none_or(|n| n >= isize::MAX as usize)
    {
        return Err(error("the result does not fit in memory".to_owned()));
    }
    let mut out = Buffer::zeros(dtype, &result);
    match (kind, dtype.part()) {
        (FftKind::Rfft, DType::F32) => forward_real::<f32>(view(input), view_mut(&mut out), lengths),
        (FftKind::Rfft, _) => forward_real::<f64>(view(input), view_mut(&mut out), lengths),
        (FftKind::Irfft, DType::F32) => inverse_real::<f32>(view(input), view_mut(&mut out), lengths),
        (FftKind::Irfft, _) => inverse_real::<f64>(view(input), view_mut(&mut out), lengths),
        (_, DType::F32) => complex::<f32>(view(input), view_mut(&mut out), lengths, kind == FftKind::Ifft),
        (_, _) => complex::<f64>(view(input), view_mut(&mut out), lengths, kind == FftKind::Ifft),
    }
    Ok(out)
}

/// [`fft`] for compiled code. `kind` is 0 (FFT), 1 (IFFT), 2 (RFFT) or 3 (IRFFT), `dtype` the code of the
/// *complex* element type (c64 or c128), whichever side has it; `lengths` has `rank` entries, 1 to 3, and both
/// tensors have `batch` as their first axis and then those that [`fft`] describes. Returns 0, or 1 if it was
/// called wrongly.
///
/// # Safety
/// `lengths` has `rank` entries; the tensors have their sizes and do not overlap.
pub unsafe extern "C" fn surject_fft(
    kind: i64,
    dtype: i64,
    input: *const u8,
    output: *mut u8,
    batch: i64,
    rank: i64,
    lengths: *const i64,
) -> i32 {
    /// # Safety
    /// As for [`surject_fft`].
    unsafe fn run<T: Real>(
        kind: i64,
        input: *const u8,
        output: *mut u8,
        signal: usize,
        spectrum: usize,
        n: &[usize],
    ) where
        Complex<T>: Element,
    {
        // SAFETY: the caller's promise.
        unsafe {
            match kind {
                2 => forward_real::<T>(raw(input, signal), raw_mut(output, spectrum), n),
                3 => inverse_real::<T>(raw(input, spectrum), raw_mut(output, signal), n),
                _ => complex::<T>(raw(input, signal), raw_mut(output, signal), n, kind == 1),
            }
        }
    }
    if !(1..=3).contains(&rank) || !(0..=3).contains(&kind) {
        return 1;
    }
    // SAFETY: `rank` entries.
    let lengths = unsafe { std::slice::from_raw_parts(lengths, rank as usize) };
    let half = lengths[lengths.len() - 1].max(0) / 2 + 1;
    let spectrum = [&[16, batch], &lengths[..lengths.len() - 1], &[half]].concat();
    let (Some(signal), Some(spectrum)) = (product(&[&[16, batch], lengths].concat()), product(&spectrum))
    else {
        return 1;
    };
    let (signal, spectrum) = (signal / 16, spectrum / 16);
    // The casts are exact: none is negative.
    let n: Vec<usize> = lengths.iter().map(|&d| d as usize).collect();
    // SAFETY: the caller's promise.
    unsafe {
        match dtype_of_code(dtype) {
            Some(DType::C64) => run::<f32>(kind, input, output, signal, spectrum, &n),
            Some(DType::C128) => run::<f64>(kind, input, output, signal, spectrum, &n),
            _ => return 1,
        }
    }
    0
}

/// A float with planners, which keep the plans they have made.
trait Real: FftNum + Element {
    fn with_planners<R>(f: impl FnOnce(&mut FftPlanner<Self>, &mut RealFftPlanner<Self>) -> R) -> R;
    fn reciprocal(n: usize) -> Self;
}

macro_rules! reals {
    ($($t:ty),*) => {
        $(impl Real for $t {
            fn with_planners<R>(f: impl FnOnce(&mut FftPlanner<Self>, &mut RealFftPlanner<Self>) -> R) -> R {
                thread_local! {
                    static PLANNERS: RefCell<(FftPlanner<$t>, RealFftPlanner<$t>)> =
                        RefCell::new((FftPlanner::new(), RealFftPlanner::new()));
                }
                PLANNERS.with_borrow_mut(|(complex, real)| f(complex, real))
            }
            fn reciprocal(n: usize) -> Self {
                1.0 / n as $t
            }
        })*
    };
}

reals!(f32, f64);

/// Elements a task transforms at least, if there are as many.
const GRAIN: usize = 4096;

fn complex<T: Real>(input: &[Complex<T>], out: &mut [Complex<T>], lengths: &[usize], inverse: bool)
where
    Complex<T>: Element,
{
    out.copy_from_slice(input);
    let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
    for axis in 0..lengths.len() {
        along(out, lengths, axis, direction);
    }
    if inverse {
        let scale = T::reciprocal(lengths.iter().product());
        out.iter_mut().for_each(|z| *z = z.scale(scale));
    }
}

fn forward_real<T: Real>(input: &[T], out: &mut [Complex<T>], lengths: &[usize])
where
    Complex<T>: Element,
{
    let n = lengths[lengths.len() - 1];
    if n == 0 || out.is_empty() {
        return out.fill(Complex::new(T::zero(), T::zero())); // an empty sum
    }
    let half = n / 2 + 1;
    let plan = T::with_planners(|_, real| real.plan_fft_forward(n));
    let rows = (GRAIN / n).max(1);
    for_each_chunk(out, rows * half, &|number, out| {
        let mut signal = vec![T::zero(); n];
        let mut scratch = plan.make_scratch_vec();
        let from = number * rows;
        for (k, spectrum) in out.chunks_exact_mut(half).enumerate() {
            signal.copy_from_slice(&input[(from + k) * n..][..n]);
            let done = plan.process_with_scratch(&mut signal, spectrum, &mut scratch);
            debug_assert!(done.is_ok(), "the lengths are those of the plan");
        }
    });
    let mut lengths = lengths.to_vec();
    lengths.pop();
    lengths.push(half);
    for axis in 0..lengths.len() - 1 {
        along(out, &lengths, axis, FftDirection::Forward);
    }
}

fn inverse_real<T: Real>(input: &[Complex<T>], out: &mut [T], lengths: &[usize])
where
    Complex<T>: Element,
{
    if out.is_empty() {
        return;
    }
    let n = lengths[lengths.len() - 1];
    let half = n / 2 + 1;
    let mut spectrum = input.to_vec();
    let mut halved = lengths.to_vec();
    halved.pop();
    halved.push(half);
    for axis in 0..lengths.len() - 1 {
        along(&mut spectrum, &halved, axis, FftDirection::Inverse);
    }
    let plan = T::with_planners(|_, real| real.plan_fft_inverse(n));
    let scale = T::reciprocal(lengths.iter().product());
    let rows = (GRAIN / n).max(1);
    for_each_chunk(out, rows * n, &|number, out| {
        let mut line = vec![Complex::new(T::zero(), T::zero()); half];
        let mut scratch = plan.make_scratch_vec();
        for (k, signal) in out.chunks_exact_mut(n).enumerate() {
            line.copy_from_slice(&spectrum[(number * rows + k) * half..][..half]);
            line[0].im = T::zero();
            if n.is_multiple_of(2) {
                line[half - 1].im = T::zero();
            }
            let done = plan.process_with_scratch(&mut line, signal, &mut scratch);
            debug_assert!(done.is_ok(), "the lengths are those of the plan, and the ends are real");
            signal.iter_mut().for_each(|x| *x = *x * scale);
        }
    });
}

/// Transforms one axis in place, unscaled; `data` is a batch of tensors with these sizes.
fn along<T: Real>(data: &mut [Complex<T>], sizes: &[usize], axis: usize, direction: FftDirection)
where
    Complex<T>: Element,
{
    let (n, inner) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
    if data.is_empty() || n <= 1 {
        return;
    }
    let plan: Arc<dyn Fft<T>> = T::with_planners(|complex, _| complex.plan_fft(n, direction));
    let zero = Complex::new(T::zero(), T::zero());
    let chunk = n * inner * (GRAIN / (n * inner)).max(1);
    for_each_chunk(data, chunk, &|_, data| {
        let mut scratch = vec![zero; plan.get_inplace_scratch_len()];
        if inner == 1 {
            return plan.process_with_scratch(data, &mut scratch);
        }
        let mut line = vec![zero; n];
        for block in data.chunks_exact_mut(n * inner) {
            for i in 0..inner {
                line.iter_mut().enumerate().for_each(|(k, z)| *z = block[k * inner + i]);
                plan.process_with_scratch(&mut line, &mut scratch);
                line.iter().enumerate().for_each(|(k, z)| block[k * inner + i] = *z);
            }
        }
    });
}
