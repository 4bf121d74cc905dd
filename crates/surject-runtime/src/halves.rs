//! Conversions between half-precision and wider floats, which LLVM calls where a processor has no instruction for them.

use crate::library::Symbol;
use half::{bf16, f16};

/// The functions, by the names that LLVM knows.
pub(crate) const SYMBOLS: &[Symbol] = &[
    Symbol::new("__truncsfhf2", truncsfhf2 as *const ()),
    Symbol::new("__truncdfhf2", truncdfhf2 as *const ()),
    Symbol::new("__extendhfsf2", extendhfsf2 as *const ()),
    Symbol::new("__gnu_f2h_ieee", truncsfhf2 as *const ()),
    Symbol::new("__gnu_h2f_ieee", extendhfsf2 as *const ()),
    Symbol::new("__truncsfbf2", truncsfbf2 as *const ()),
    Symbol::new("__truncdfbf2", truncdfbf2 as *const ()),
];

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
