//! Conversions of floats to the nearest integers there are.

use crate::Elem;

/// To which floats an argument is brought so that the machine's own conversion, which saturates nowhere, gives the nearest
/// integer; what is not a number is to become 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The least integer.
    pub low: f64,
    /// The last float below the end.
    pub last: f64,
    /// The end: one more than the largest integer.
    pub end: f64,
    /// Are integers finer than floats at the end? Then what lies there or beyond it is [`Saturation::largest`].
    pub is_coarse: bool,
    /// The bits of the largest integer.
    pub largest: u64,
}

impl Saturation {
    /// Of `f32`, or halves as `f32`, or `f64`, to integers of so many bits.
    ///
    /// ```
    /// use surject_code::{Elem, Saturation};
    ///
    /// let bytes = Saturation::of(Elem::F32, Elem::I8, true);
    /// assert_eq!((bytes.low, bytes.last, bytes.is_coarse), (-128.0, 127.0, false));
    /// let words = Saturation::of(Elem::F32, Elem::I32, false);
    /// assert_eq!((words.last, words.largest), (4294967040.0, 0xffff_ffff));
    /// ```
    pub fn of(floats: Elem, integers: Elem, signed: bool) -> Saturation {
        let digits = integers.bits() as i32 - i32::from(signed);
        let mantissa = if floats == Elem::F64 { 53 } else { 24 };
        let end = 2f64.powi(digits);
        let is_coarse = digits > mantissa;
        Saturation {
            low: if signed { -end } else { 0.0 },
            last: if is_coarse { end - 2f64.powi(digits - mantissa) } else { end - 1.0 },
            end,
            is_coarse,
            largest: u64::MAX >> (64 - digits),
        }
    }
}
