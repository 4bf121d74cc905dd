//! The neighbours of floats.

use crate::lower::math::formula::F;

/// The smallest normal `f16`, up to which all of them are as far apart.
const NORMAL: f64 = 6.103515625e-05;

/// The largest finite `f16`.
const LARGEST: f64 = 65504.0;

/// The neighbour of `x` in the direction of `y`, of floats that have so many bits less than the type they are in: 16 for
/// `bf16`, 13 for `f16` as `f32`. `y` where they are equal, NaN where one is.
pub fn next_after<'p>(x: F<'p>, y: F<'p>, spare: u32) -> F<'p> {
    let (size, up, step) = (x.abs(), x.lt(y), 1 << spare);
    let away = (up & x.gt(0.0)) | (x.gt(y) & x.lt(0.0));
    // The bits of a float grow with its magnitude.
    let mut next = away.pick((x.bits() + step).as_bits(), (x.bits() - step).as_bits());
    let mut smallest = x.bits().number(step).as_bits();
    if spare == 13 {
        // Fewer exponents than those of `f32`.
        smallest = x.number(NORMAL / 1024.0);
        let distance = up.pick(smallest, -smallest);
        let even = size.lt(NORMAL) | (size.equal(NORMAL) & !away);
        next = even.pick((x + distance).with_sign(x), next);
        let end = size.equal(f64::INFINITY).pick(x.number(LARGEST), f64::INFINITY);
        next = next.abs().gt(LARGEST).pick(end.with_sign(x), next);
    }
    let next = x.equal(0.0).pick(smallest.with_sign(y), next);
    let next = (x.equal(y) | y.unordered(y)).pick(y, next);
    x.unordered(x).pick(x, next)
}
