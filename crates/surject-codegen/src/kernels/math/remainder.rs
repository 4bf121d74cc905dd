//! The remainder of a division of floats, which is exact.

use crate::kernels::math::formula::{B, F};

/// Quotients below this are numbers of an `f64` with all their digits before the point.
const MOST: f64 = 4_503_599_627_370_496.0;

/// `x − n y` of two `f64`, where `n` is `x / y` without what is behind the point; and where this is not it: for large
/// quotients, and where something is infinite, no number, or a division by zero.
pub fn remainder<'p>(x: F<'p>, y: F<'p>) -> (F<'p>, B<'p>) {
    let (size, by) = (x.abs(), y.abs());
    let quotient = size / by;
    // A quotient that was rounded up to an integer leaves less than nothing. Both are exact: multiples of the last digit of
    // the divisor that are not larger than it.
    let rest = (-quotient.floor()).fma(by, size);
    let rest = rest.lt(0.0).pick(rest + by, rest);
    (rest.with_sign(x), !quotient.lt(MOST) | by.equal(f64::INFINITY))
}
