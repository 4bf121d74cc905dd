//! The functions of this process that compiled code may call by name.
//!
//! The C library and its math functions (`expf`, `fmod`, `memcpy`, …) are dynamic symbols of the process and need
//! no entry here. What is listed is everything of `surject_runtime`: the thread pool, library kernels, scalar functions,
//! conversions of half-precision floats.

use std::ffi::CString;
use surject_runtime::library;

/// Name and address of every function.
pub(crate) fn table() -> Vec<(CString, *const ())> {
    // No name of the runtime holds a null byte; one that did could not be called either.
    library::symbols().iter().filter_map(|s| Some((CString::new(s.name()).ok()?, s.address()))).collect()
}
