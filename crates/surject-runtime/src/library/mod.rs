//! Library kernels: what is called, not compiled. Each has a safe form on [`Buffer`]s, for interpreters, and a
//! C entry, for compiled code; both run the same code.
//!
//! The C entries of the whole crate stand in [`symbols`], which a JIT compiler registers. Conventions of the
//! ABI: sizes and flags are `i64` (flags 0 or 1), tensors are addresses of row-major elements aligned to their
//! type, an element type is its position in [`DType::ALL`]; inputs and outputs do not overlap. Entries that can
//! be called wrongly return an `i32`: 0, or 1 for a negative or overflowing size or an element type that the
//! kernel does not have, and then they have written nothing. No entry unwinds.

mod fft;
mod keys;
mod lapack;
mod linalg;
mod sort;

pub use fft::{FftKind, fft, surject_fft};
pub use keys::surject_sort_keys;
pub use lapack::{lapack, lapack_dtype, surject_lapack};
pub use linalg::{
    TransposeA, TriangularSolve, cholesky, surject_cholesky, surject_triangular_solve, triangular_solve,
};
pub use sort::{SortKernel, sort, surject_sort};

use crate::pool::{parallel_for, surject_parallel};
use crate::{Buffer, DType, halves, math};
use num_complex::Complex;
use std::sync::OnceLock;
use std::time::Instant;
pub use surject_lapack as routines;

/// Why a library kernel refuses its operands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum LibraryError {
    /// The kernel does not have this element type.
    #[error("{kernel}: element type {dtype} is not supported; {supported} are")]
    DType { kernel: &'static str, dtype: DType, supported: &'static str },
    /// The shapes of the operands do not fit.
    #[error("{kernel}: shape {shape:?}: {reason}")]
    Shape { kernel: &'static str, shape: Vec<usize>, reason: String },
}

/// The name and the address of an `extern "C"` function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    name: &'static str,
    address: *const (),
}

// SAFETY: the address is that of a function, which all threads may call.
unsafe impl Send for Symbol {}
// SAFETY: as above.
unsafe impl Sync for Symbol {}

impl Symbol {
    pub(crate) const fn new(name: &'static str, address: *const ()) -> Symbol {
        Symbol { name, address }
    }

    /// The name by which compiled code calls it.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Where it is.
    pub const fn address(self) -> *const () {
        self.address
    }
}

/// Every function of this crate that compiled code may call, by name: the kernels of this module, the functions
/// of [`math`], conversions of half-precision floats, and [`surject_parallel`].
pub fn symbols() -> &'static [Symbol] {
    static SYMBOLS: OnceLock<Vec<Symbol>> = OnceLock::new();
    SYMBOLS.get_or_init(|| {
        let mut all = vec![
            Symbol::new("surject_parallel", surject_parallel as *const ()),
            Symbol::new("surject_clock", surject_clock as *const ()),
            Symbol::new("surject_sort", surject_sort as *const ()),
            Symbol::new("surject_sort_keys", surject_sort_keys as *const ()),
            Symbol::new("surject_cholesky", surject_cholesky as *const ()),
            Symbol::new("surject_triangular_solve", surject_triangular_solve as *const ()),
            Symbol::new("surject_fft", surject_fft as *const ()),
            Symbol::new("surject_lapack", surject_lapack as *const ()),
        ];
        all.extend_from_slice(math::SYMBOLS);
        all.extend_from_slice(halves::SYMBOLS);
        all.sort_by_key(|s| s.name);
        all
    })
}

/// Nanoseconds of a clock that only moves forward, for profiles.
pub extern "C" fn surject_clock() -> i64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as i64
}

/// The number by which the C entries call an element type: its position in [`DType::ALL`].
pub const fn dtype_code(dtype: DType) -> i64 {
    dtype as i64
}

fn dtype_of_code(code: i64) -> Option<DType> {
    DType::ALL.get(usize::try_from(code).ok()?).copied()
}

/// The product of sizes that came through the C ABI; `None` if one is negative or the product overflows.
fn product(sizes: &[i64]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
}

/// A Rust type that is the memory layout of an element type.
///
/// # Safety
/// The layout is the one that [`DType`] describes for `DTYPE`, and every bit pattern is a value.
unsafe trait Element: Copy + Send + Sync + 'static {
    const DTYPE: DType;
    const NAN: Self;
}

macro_rules! elements {
    ($($type:ty, $dtype:ident, $nan:expr;)*) => {
        $(
            // SAFETY: plain floats, and `Complex` is `repr(C)` with the real part first.
            unsafe impl Element for $type {
                const DTYPE: DType = DType::$dtype;
                const NAN: Self = $nan;
            }
        )*
    };
}

elements! {
    f32, F32, f32::NAN;
    f64, F64, f64::NAN;
    Complex<f32>, C64, Complex::new(f32::NAN, f32::NAN);
    Complex<f64>, C128, Complex::new(f64::NAN, f64::NAN);
}

/// The elements of a buffer of that element type.
fn view<T: Element>(buffer: &Buffer) -> &[T] {
    assert_eq!(buffer.dtype(), T::DTYPE, "dispatched on the element type");
    // SAFETY: `T` is the layout of the element type, and buffers are aligned to 64 bytes.
    unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len()) }
}

/// The elements of a buffer of that element type, to be written.
fn view_mut<T: Element>(buffer: &mut Buffer) -> &mut [T] {
    assert_eq!(buffer.dtype(), T::DTYPE, "dispatched on the element type");
    // SAFETY: as in `view`; the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr().cast(), buffer.len()) }
}

/// `len` elements at an address that came through the C ABI; the address of no element may be null.
///
/// # Safety
/// Unless `len` is 0, the address is that of `len` elements, alive and not written for `'a`.
unsafe fn raw<'a, T: Element>(address: *const u8, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(address.cast(), len) } }
}

/// `len` elements to be written at an address that came through the C ABI.
///
/// # Safety
/// As for [`raw`], and nothing else uses them for `'a`.
unsafe fn raw_mut<'a, T: Element>(address: *mut u8, len: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    if len == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(address.cast(), len) } }
}

/// Cuts `out` into chunks of `size` elements (the last may be shorter) and fills them in parallel:
/// `f(number, chunk)`.
fn for_each_chunk<T: Element>(out: &mut [T], size: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    struct Start<T>(*mut T);
    // SAFETY: the tasks below use disjoint parts of an exclusively borrowed slice.
    unsafe impl<T: Send> Sync for Start<T> {}
    let (start, len, size) = (&Start(out.as_mut_ptr()), out.len(), size.max(1));
    parallel_for(len.div_ceil(size), &|task| {
        let from = task * size;
        // SAFETY: within `out`, and no other task has this number.
        f(task, unsafe { std::slice::from_raw_parts_mut(start.0.add(from), size.min(len - from)) });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_unique_and_sorted() {
        let all = symbols();
        assert!(all.windows(2).all(|w| w[0].name() < w[1].name()));
        // LLVM chooses the names of conversions of half-precision floats.
        let known = |name: &str| name.starts_with("surject_") || name.starts_with("__");
        assert!(all.iter().all(|s| known(s.name()) && !s.address().is_null()));
        let erf = all.iter().find(|s| s.name() == "surject_erf_f64").expect("erf is there");
        // SAFETY: the symbol is a function of this type.
        let erf: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(erf.address()) };
        assert_eq!(erf(0.25), math::erf(0.25));
    }

    #[test]
    fn codes_of_element_types() {
        for dtype in DType::ALL {
            assert_eq!(dtype_of_code(dtype_code(dtype)), Some(dtype));
        }
        assert_eq!(dtype_of_code(-1), None);
        assert_eq!(dtype_of_code(15), None);
    }
}
