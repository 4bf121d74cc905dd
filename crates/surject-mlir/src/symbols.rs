//! The functions of this process that compiled code may call by name.
//!
//! The C library and its math functions (`expf`, `fmod`, `memcpy`, …) are dynamic symbols of the process and need
//! no entry here. What is listed: everything of `surject_runtime` (the thread pool, library kernels, scalar
//! functions), and the conversions between half-precision and wider floats that LLVM calls where a processor has no
//! instruction for them.

use half::{bf16, f16};
use std::ffi::{CStr, CString};
use surject_runtime::library;

/// Name and address of every function.
pub(crate) fn table() -> Vec<(CString, *const ())> {
    let own: [(&CStr, *const ()); 7] = [
        (c"__truncsfhf2", truncsfhf2 as *const ()),
        (c"__truncdfhf2", truncdfhf2 as *const ()),
        (c"__extendhfsf2", extendhfsf2 as *const ()),
        (c"__gnu_f2h_ieee", truncsfhf2 as *const ()),
        (c"__gnu_h2f_ieee", extendhfsf2 as *const ()),
        (c"__truncsfbf2", truncsfbf2 as *const ()),
        (c"__truncdfbf2", truncdfbf2 as *const ()),
    ];
    let own = own.into_iter().map(|(name, address)| (name.to_owned(), address));
    // No name of the runtime holds a null byte; one that did could not be called either.
    let runtime = library::symbols().iter().filter_map(|s| Some((CString::new(s.name()).ok()?, s.address())));
    own.chain(runtime).collect()
}

/// A half-precision number as the C ABI passes it: in the low bits of a float register.
fn in_register(bits: u16) -> f32 {
    f32::from_bits(bits.into())
}

extern "C" fn truncsfhf2(x: f32) -> f32 {
    in_register(f16::from_f32(x).to_bits())
}

extern "C" fn truncsfbf2(x: f32) -> f32 {
    in_register(bf16::from_f32(x).to_bits())
}

extern "C" fn truncdfhf2(x: f64) -> f32 {
    truncsfhf2(to_odd(x))
}

extern "C" fn truncdfbf2(x: f64) -> f32 {
    truncsfbf2(to_odd(x))
}

extern "C" fn extendhfsf2(x: f32) -> f32 {
    f16::from_bits(x.to_bits() as u16).to_f32()
}

/// Rounds to `f32` so that rounding again, to fewer bits, gives what rounding once would have: truncates, and sets
/// the last bit where something was lost.
fn to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let error = f64::from(nearest) - x;
    if error == 0.0 || !nearest.is_finite() && !x.is_finite() {
        return nearest;
    }
    // The neighbour towards zero, unless `nearest` already lies there.
    let truncated = if (error > 0.0) == (x > 0.0) { nearest.to_bits() - 1 } else { nearest.to_bits() };
    f32::from_bits(truncated | 1)
}
