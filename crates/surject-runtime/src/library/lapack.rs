//! The routines of `surject-lapack` on batches: computed in `f64`, rounded once, batch elements in parallel.

use super::{LibraryError, dtype_of_code};
use crate::pool::parallel_for;
use crate::{Buffer, DType};
use num_complex::Complex;
use surject_lapack::{C, Kind, Operand, Routine};

const SUPPORTED: &str = "f32, f64, c64 and c128";

/// Which element type a result has, for operands of this one.
pub const fn lapack_dtype(kind: Kind, operands: DType) -> DType {
    match (kind, operands) {
        (Kind::Integer, _) => DType::I32,
        (Kind::Real, DType::C64) => DType::F32,
        (Kind::Real, DType::C128) => DType::F64,
        (Kind::Complex, DType::F32) => DType::C64,
        (Kind::Complex, DType::F64) => DType::C128,
        _ => operands,
    }
}

/// The results of a routine for every matrix: the operands have the same leading axes, and so have the results.
pub fn lapack(routine: Routine, args: &[&Buffer]) -> Result<Vec<Buffer>, LibraryError> {
    let kernel = routine.name();
    let ranks = routine.ranks();
    let wrong =
        |shape: &[usize], reason: String| LibraryError::Shape { kernel, shape: shape.to_vec(), reason };
    let first = args.first().filter(|_| args.len() == ranks.len());
    let first = first.ok_or_else(|| wrong(&[], format!("{} operands", args.len())))?;
    let dtype = first.dtype();
    if !is_supported(dtype) || args.iter().any(|a| a.dtype() != dtype) {
        return Err(LibraryError::DType { kernel, dtype, supported: SUPPORTED });
    }
    let batch = first.shape().len().checked_sub(ranks[0]).map(|split| &first.shape()[..split]);
    let mut sizes = Vec::new();
    for (arg, &rank) in args.iter().zip(ranks) {
        let shape = arg.shape();
        match shape.len().checked_sub(rank).map(|split| shape.split_at(split)) {
            Some((own, matrix)) if Some(own) == batch => sizes.push(matrix),
            _ => return Err(wrong(shape, "the operands have other leading axes".into())),
        }
    }
    let results = routine.result_sizes(&sizes).map_err(|reason| wrong(first.shape(), reason))?;
    let batch = batch.unwrap_or_default();
    let typed = routine.results().iter().zip(&results);
    let mut outputs: Vec<Buffer> = typed
        .map(|(r, own)| Buffer::zeros(lapack_dtype(r.kind, dtype), &[batch, own.as_slice()].concat()))
        .collect();
    let inputs: Vec<*const u8> = args.iter().map(|a| a.as_ptr()).collect();
    let pointers: Vec<*mut u8> = outputs.iter_mut().map(Buffer::as_mut_ptr).collect();
    // SAFETY: the buffers have these sizes, and the outputs are borrowed exclusively.
    unsafe { compute(routine, dtype, batch.iter().product(), &sizes, &inputs, &pointers) };
    Ok(outputs)
}

/// [`lapack`] for compiled code: the routine by its position in [`Routine::ALL`], `sizes` those of the matrices and vectors of
/// all operands in turn, `inputs` and `outputs` addresses, one an operand and a result; `dtype` is the code of f32, f64, c64 or
/// c128. Returns 0, or 1 if it was called wrongly.
///
/// # Safety
/// The tensors have these sizes with `batch` in front and do not overlap, and the arrays are as long as the routine says.
pub unsafe extern "C" fn surject_lapack(
    routine: i64,
    dtype: i64,
    batch: i64,
    sizes: *const i64,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> i32 {
    let routine = usize::try_from(routine).ok().and_then(|r| Routine::ALL.get(r));
    let (Some(&routine), Some(dtype), Ok(batch)) = (routine, dtype_of_code(dtype), usize::try_from(batch))
    else {
        return 1;
    };
    let ranks = routine.ranks();
    // SAFETY: the caller's promise.
    let (sizes, inputs, outputs) = unsafe {
        (
            std::slice::from_raw_parts(sizes, ranks.iter().sum()),
            std::slice::from_raw_parts(inputs, ranks.len()),
            std::slice::from_raw_parts(outputs, routine.results().len()),
        )
    };
    let Ok(sizes) = sizes.iter().map(|&n| usize::try_from(n)).collect::<Result<Vec<_>, _>>() else {
        return 1;
    };
    let mut rest = sizes.as_slice();
    let split = |&rank: &usize| {
        let (own, others) = rest.split_at(rank);
        rest = others;
        own
    };
    let sizes: Vec<&[usize]> = ranks.iter().map(split).collect();
    if !is_supported(dtype) || routine.result_sizes(&sizes).is_err() {
        return 1;
    }
    // SAFETY: the caller's promise.
    unsafe { compute(routine, dtype, batch, &sizes, inputs, outputs) };
    0
}

const fn is_supported(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128)
}

/// # Safety
/// The addresses are those of tensors of these sizes with `batch` in front, of the supported type `dtype` and of those of the
/// results; nothing else uses the outputs.
unsafe fn compute(
    routine: Routine,
    dtype: DType,
    batch: usize,
    sizes: &[&[usize]],
    inputs: &[*const u8],
    outputs: &[*mut u8],
) {
    /// Addresses that tasks share.
    struct Shared<'a>(&'a [*const u8], &'a [*mut u8]);
    // SAFETY: the tasks read the inputs and write disjoint parts of the outputs.
    unsafe impl Sync for Shared<'_> {}
    let shared = &Shared(inputs, outputs);
    let real = !dtype.is_complex();
    parallel_for(batch, &|i| {
        let shared = &shared;
        let operands: Vec<Vec<C>> = shared
            .0
            .iter()
            .zip(sizes)
            // SAFETY: the caller's promise.
            .map(|(&from, own)| unsafe { read(dtype, from, i, own.iter().product()) })
            .collect();
        let operands: Vec<Operand<'_>> =
            operands.iter().zip(sizes).map(|(values, sizes)| Operand { values, sizes }).collect();
        let results = routine.run(real, &operands);
        for ((values, ty), &to) in results.iter().zip(routine.results()).zip(shared.1) {
            // SAFETY: the caller's promise; no other task has this number.
            unsafe { write(lapack_dtype(ty.kind, dtype), to, i, values) };
        }
    });
}

/// Part `i` of a tensor in parts of `len` elements.
///
/// # Safety
/// The tensor has this supported type and as many parts.
unsafe fn read(dtype: DType, from: *const u8, i: usize, len: usize) -> Vec<C> {
    if len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let from = from.add(i * len * dtype.size());
        match dtype {
            DType::F32 => part::<f32>(from, len).iter().map(|&x| C::new(x.into(), 0.0)).collect(),
            DType::F64 => part::<f64>(from, len).iter().map(|&x| C::new(x, 0.0)).collect(),
            DType::C64 => {
                part::<Complex<f32>>(from, len).iter().map(|z| C::new(z.re.into(), z.im.into())).collect()
            }
            _ => part::<C>(from, len).to_vec(),
        }
    }
}

/// # Safety
/// At the address are so many elements.
unsafe fn part<'a, T>(from: *const u8, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from.cast(), len) }
}

/// Writes part `i` of a tensor in parts as long as `values`.
///
/// # Safety
/// The tensor has this type and as many parts, and nothing else uses the part.
unsafe fn write(dtype: DType, to: *mut u8, i: usize, values: &[C]) {
    /// # Safety
    /// As above.
    unsafe fn each<T>(to: *mut u8, values: &[C], of: impl Fn(&C) -> T) {
        for (k, value) in values.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { to.cast::<T>().add(k).write(of(value)) };
        }
    }
    if values.is_empty() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let to = to.add(i * values.len() * dtype.size());
        match dtype {
            DType::I32 => each(to, values, |z| z.re as i32),
            DType::F32 => each(to, values, |z| z.re as f32),
            DType::F64 => each(to, values, |z| z.re),
            DType::C64 => each(to, values, |z| Complex::new(z.re as f32, z.im as f32)),
            _ => each(to, values, |z| *z),
        }
    }
}
