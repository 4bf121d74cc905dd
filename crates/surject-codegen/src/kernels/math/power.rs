//! Powers and cube roots.

use crate::kernels::math::formula::{B, F};
use crate::kernels::math::{exponential, logarithm};

/// `2^r` for `|r| ≤ ½`, to 2^-29.
pub const EXP2: [f64; 7] = [
    0.00015345786401865048,
    0.0013399957814255587,
    0.009618489260126163,
    0.05550328711343841,
    0.24022646885831603,
    0.6931472057672613,
    1.0000000005551117,
];

/// `2^x` of an `f64` that is at most 200, to 2^-29.
pub fn exp2_short(x: F<'_>) -> F<'_> {
    let (n, integer) = x.nearest(1.0);
    (x - n).poly(&EXP2) * integer.power_of_two()
}

/// What C99 says of `x^y`, given `|x|^y` for numbers.
fn with_ends<'p>(x: F<'p>, y: F<'p>, power: F<'p>) -> F<'p> {
    let floor = y.floor();
    let half = y * 0.5;
    let odd = floor.equal(y) & half.floor().unequal(half);
    // Of an odd power the sign is that of the base, zero and infinity included.
    let signed = odd.pick(power.with_sign(x), power);
    let finite_negative = x.lt(0.0) & x.gt(f64::NEG_INFINITY);
    let undefined = finite_negative & floor.unequal(y);
    let value = undefined.pick(x.number(f64::NAN), signed);
    let value = x.unordered(y).pick(x + y, value);
    let unit = x.abs().equal(1.0) & y.abs().equal(f64::INFINITY);
    (y.equal(0.0) | x.equal(1.0) | unit).pick(x.number(1.0), value)
}

/// `x^y` of `f32` that were widened: right after rounding to `f32` up to a unit in the last place.
pub fn pow_short<'p>(x: F<'p>, y: F<'p>) -> F<'p> {
    let size = x.abs();
    let log = logarithm::log2_short(size);
    let log = size.equal(0.0).pick(x.number(f64::NEG_INFINITY), log);
    let log = size.equal(f64::INFINITY).pick(size, log);
    // Beyond these bounds an `f32` is infinite or zero.
    with_ends(x, y, exp2_short((y * log).clamp(-200.0, 200.0)))
}

/// `(atanh(s) / s − 1 − s²/3) / s⁴` in `s²` for `|s| ≤ (√2 − 1) / (√2 + 1)`, to 2^-80.
const ATANH: [f64; 9] = [
    0.05506724084049637,
    0.05211442701906606,
    0.058843374379419715,
    0.06666620200909643,
    0.07692308376924886,
    0.09090909084622897,
    0.11111111111145312,
    0.14285714285714188,
    0.2,
];

/// A number as the sum of two.
#[derive(Clone, Copy)]
struct Pair<'p>(F<'p>, F<'p>);

/// The product with what was lost.
fn product<'p>(a: F<'p>, b: F<'p>) -> Pair<'p> {
    let p = a * b;
    Pair(p, a.fma(b, -p))
}

/// The sum with what was lost.
fn sum<'p>(a: F<'p>, b: F<'p>) -> Pair<'p> {
    let s = a + b;
    let part = s - a;
    Pair(s, (a - (s - part)) + (b - part))
}

/// The sum with what was lost, where the first is zero or not the smaller one.
fn quick_sum<'p>(a: F<'p>, b: F<'p>) -> Pair<'p> {
    let s = a + b;
    Pair(s, b - (s - a))
}

/// The natural logarithm of a positive finite `f64` with twenty more bits.
fn long_log(x: F<'_>) -> Pair<'_> {
    let (n, m) = logarithm::split(x);
    // s = (m − 1) / (m + 1), t = s²
    let f = m - 1.0;
    let g = quick_sum(m.number(1.0), m);
    let s = f / g.0;
    let rest = (g.0.fma(-s, f) - s * g.1) / g.0;
    let t = product(s, s);
    let t = Pair(t.0, t.1 + s * rest * 2.0);
    // u = 1/3 + t q
    let q = t.0.poly(&ATANH);
    let a = product(t.0, q);
    let u = quick_sum(q.number(1.0 / 3.0), a.0);
    let u = Pair(u.0, u.1 + (a.1 + (t.1 * q + 1.850_371_707_708_594e-17)));
    // w = 1 + t u
    let v = product(t.0, u.0);
    let v = Pair(v.0, v.1 + (t.0 * u.1 + t.1 * u.0));
    let w = quick_sum(v.0.number(1.0), v.0);
    let w = Pair(w.0, w.1 + v.1);
    // log m = 2 s w
    let s2 = s + s;
    let l = product(s2, w.0);
    let l = Pair(l.0, l.1 + (s2 * w.1 + (rest + rest) * w.0));
    let whole = sum(n * exponential::LN_2_DOUBLE[0], l.0);
    let low = whole.1 + n.fma(exponential::LN_2_DOUBLE[1], l.1);
    quick_sum(whole.0, low)
}

/// `x^y` of `f64`.
pub fn pow<'p>(x: F<'p>, y: F<'p>) -> F<'p> {
    let size = x.abs();
    let log = long_log(size);
    // Where something is infinite, what was lost is not a number and does not matter.
    let log_high = size.equal(0.0).pick(x.number(f64::NEG_INFINITY), log.0);
    let log_high = size.equal(f64::INFINITY).pick(size, log_high);
    let exponent = product(y, log_high);
    let low = exponent.1 + y * log.1;
    let high = exponent.0.clamp(-746.0, 710.0);
    let low = high.equal(exponent.0).pick(low, 0.0);
    let (n, r) = exponential::reduce(high);
    let r = r + low;
    with_ends(x, y, exponential::scale(exponential::rest(r), n))
}

/// The inverse of the square root of an `f32`, from what an instruction gives near it.
pub fn inverse_root(x: F<'_>) -> F<'_> {
    let near = x.near_inverse_root();
    let y = refined(x, near);
    // At the ends y is not a number, and what it came from is right.
    y.unordered(y).pick(near, y)
}

/// The same, where that instruction takes subnormal numbers for zeros; and where this is not right: there it is not finite.
pub fn inverse_root_of_eight<'p>(x: F<'p>) -> (F<'p>, B<'p>) {
    let y = refined(x, x.near_inverse_root_of_eight());
    (y, !y.abs().lt(f64::INFINITY))
}

/// The inverse of the square root, by the square root.
pub fn inverse_of_root(x: F<'_>) -> F<'_> {
    x.number(1.0) / x.sqrt()
}

/// The inverse of the square root, from what is near it.
fn refined<'p>(x: F<'p>, near: F<'p>) -> F<'p> {
    // Of y with e = 1 − x y² the root is y (1 − e)^(−½).
    let e = (-(x * near)).fma(near, 1.0);
    (e * e.fma(0.375, 0.5)).fma(near, near)
}

/// Four thirds of the bits of 1, less what makes [`cbrt`] begin as near above as below.
const CBRT_SEED: f64 = 1_419_902_976.0;

/// `((1 − e)^(−2/3) − 1) / e` for `|e| ≤ 0.104`, to 2^-25 of the power.
const CBRT: [f64; 5] =
    [0.4273840855051147, 0.45864637003450287, 0.4938144104686381, 0.555535839971319, 0.6666666629244845];

/// The cube root of an `f32`.
pub fn cbrt(x: F<'_>) -> F<'_> {
    let size = x.abs();
    // Subnormal numbers are brought among the others.
    let tiny = size.lt(f64::from(f32::MIN_POSITIVE));
    let s = tiny.pick(size * 2f64.powi(24), size);
    // The bits of a float are nearly its logarithm: a third of them, taken from a constant, are nearly those of
    // y = s^(−1/3). The root then is s y² (1 − e)^(−2/3) with e = 1 − s y³, where an error of the product counts a third.
    let y = s.bits().to_float().fma(-1.0 / 3.0, CBRT_SEED).to_integer().as_bits();
    let near = s * y * y;
    let e = (-near).fma(y, 1.0);
    let root = (e * e.poly(&CBRT)).fma(near, near);
    let root = tiny.pick(root * 2f64.powi(-8), root);
    size.equal(f64::INFINITY).pick(size, root).with_sign(x)
}

/// `m^(−1/3)` for `m` from `√½` to `√2`, to 2^-17.
const INVERSE_ROOT: [f64; 6] = [
    -0.10806618738726702,
    0.7007510833196626,
    -1.8981614781436147,
    2.792244622087239,
    -2.485939138255288,
    1.999174950949276,
];

/// The cube root of an `f64`.
pub fn cbrt_double(x: F<'_>) -> F<'_> {
    let size = x.abs();
    // size = 2^(3 k + r) m, where r is −1, 0 or 1.
    let (n, m) = logarithm::split(size);
    let (k, whole) = n.nearest(1.0 / 3.0);
    let r = k.fma(-3.0, n);
    let (less, more) = (r.lt(0.0), r.gt(0.0));
    let factor = |below, above| less.pick(x.number(below), more.pick(x.number(above), 1.0));
    let s = m * factor(0.5, 2.0);
    // As in [`cbrt`], from nearer by.
    let y = m.poly(&INVERSE_ROOT) * factor(2f64.cbrt(), 0.5f64.cbrt());
    let near = s * y * y;
    let e = (-near).fma(y, 1.0);
    let root = (e * e.poly(&[40.0 / 81.0, 5.0 / 9.0, 2.0 / 3.0])).fma(near, near) * whole.power_of_two();
    let usual = size.gt(0.0) & size.lt(f64::INFINITY);
    usual.pick(root, size).with_sign(x)
}
