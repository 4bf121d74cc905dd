//! Logarithms and powers of an `f32` by tables.
//!
//! A number is a power of two and a factor near 1; of sixteen pieces of the range of that factor each has a number that
//! is nearly its inverse. What the product of both is from 1 is small, so the polynomials are short, and nothing is
//! divided. They serve where the argument is a normal number; the others are rare, and are left to the longer formulas.

use crate::kernels::math::formula::{B, F, N};
use crate::kernels::math::logarithm::one_more;

/// A normal number as `2^k z` with `z` in `[0.7, 1.4)`, and the piece that `z` is in. The piece of 1 lies around it, so
/// that its logarithm, which is exact there, is the polynomial alone.
struct Split<'p> {
    k: F<'p>,
    /// The exponent, as the bits of a float have it.
    exponent: N<'p>,
    z: F<'p>,
    /// The bits of a number without its exponent, in order of `z`.
    place: N<'p>,
}

/// The bits of the least `z`.
const LEAST: i64 = 0x3f33_0000;

fn split(x: F<'_>) -> Split<'_> {
    let bits = x.bits();
    let above = bits - LEAST;
    let exponent = above & -0x80_0000;
    Split { k: above.halve(23).to_float(), exponent, z: (bits - exponent).as_bits(), place: above }
}

/// Is it no positive normal number below `2^end`?
pub fn is_outside(x: F<'_>, end: i64) -> B<'_> {
    !(x.bits() - 0x80_0000).below((end + 126) << 23)
}

/// Nearly the inverse of the numbers of a piece, and minus its logarithm, which is nearly an `f32`.
#[rustfmt::skip]
static INVERSE: [f32; 16] = [
    1.3991581, 1.3400596, 1.2865453, 1.236972, 1.1908499, 1.1479026, 1.1081334, 1.0713822,
    1.0363605, 1.0, 0.94808525, 0.8950551, 0.8477693, 0.8048529, 0.7666198, 0.7313842,
];

#[rustfmt::skip]
static LOG: [f32; 16] = [
    -0.3358707, -0.29271412, -0.25196055, -0.21266644, -0.17466725, -0.13793646, -0.10267701, -0.06894956,
    -0.03571506, 0.0, 0.053310856, 0.11086998, 0.16514671, 0.21709575, 0.2657643, 0.31281635,
];

/// `(log(1 + r) − r) / r²` for `|r| ≤ 0.0297`, to 2^-31 of the logarithm.
const REST: [f64; 4] = [0.20025328362991904, -0.25018244410411783, 0.333333235978965, -0.499999960241931];

/// `log x` of what was split, with what is to be added to `z`.
fn log_of<'p>(s: &Split<'p>, more: Option<F<'p>>) -> F<'p> {
    let piece = s.place.shr(19).piece();
    let inverse = piece.take(&INVERSE);
    let r = s.z.fma(inverse, -1.0);
    let r = more.map_or(r, |more| more.fma(inverse, r));
    let whole = s.k.fma(std::f64::consts::LN_2, piece.take(&LOG));
    whole + (r * r).fma(r.poly(&REST), r)
}

/// The natural logarithm, and where this is not it.
pub fn log(x: F<'_>) -> (F<'_>, B<'_>) {
    (log_of(&split(x), None), is_outside(x, 128))
}

/// `log(1 + x)`, with what `1 + x` lost; and where this is not it.
pub fn log1p(x: F<'_>) -> (F<'_>, B<'_>) {
    let (u, lost) = one_more(x);
    let s = split(u);
    // 2^-k
    let scale = (s.exponent.number(0x3f80_0000) - s.exponent).as_bits();
    let y = log_of(&s, Some(lost * scale));
    // Keeps −0.
    (x.equal(0.0).pick(x, y), is_outside(u, 127))
}

/// The inverses of half as wide pieces with so few digits that products with them, less 1, are exact. Minus the
/// logarithms to base 2 in two parts, the first of few digits, and that of the number e.
#[rustfmt::skip]
static SHORT_INVERSE: [f32; 32] = [
    1.40625, 1.375, 1.34375, 1.3125, 1.3125, 1.28125, 1.25, 1.21875,
    1.1875, 1.1875, 1.15625, 1.125, 1.125, 1.09375, 1.09375, 1.0625,
    1.03125, 1.03125, 1.0, 1.0, 0.96875, 0.9375, 0.90625, 0.875,
    0.859375, 0.84375, 0.8125, 0.796875, 0.78125, 0.75, 0.734375, 0.71875,
];

#[rustfmt::skip]
static LOG2: [[f32; 32]; 2] = [
    [
        -0.4918518, -0.45942688, -0.42626953, -0.39231873, -0.39231873, -0.3575592, -0.32192993, -0.2854004,
        -0.2479248, -0.2479248, -0.2094574, -0.16992188, -0.16992188, -0.12928772, -0.12928772, -0.08746338,
        -0.044387817, -0.044387817, 0.0, 0.0, 0.045806885, 0.09310913, 0.14201355, 0.19264221,
        0.21864319, 0.24511719, 0.29956055, 0.32757568, 0.35614014, 0.41503906, 0.44540405, 0.47644043,
    ],
    [
        -1.2896891e-06, -4.7387543e-06, 4.776548e-06, 1.3028072e-06, 1.3028072e-06, 7.1994837e-06, 1.8367533e-06, -1.8282373e-06,
        -2.708756e-06, -2.708756e-06, 4.031832e-06, -3.1264424e-06, -3.1264424e-06, 4.7027816e-06, 4.7027816e-06, 5.376559e-07,
        -6.3019756e-06, -6.3019756e-06, 0.0, 0.0, -3.1951524e-06, 2.735321e-07, 5.455068e-06, 2.8660284e-06,
        -2.9020011e-06, -4.6896635e-06, -2.650161e-07, -1.0255652e-06, 3.6735066e-06, -1.5632212e-06, 7.095588e-06, -2.3857444e-06,
    ],
];

const LOG2_E: [f64; 2] = [1.4426950216293335, 1.9259629911266175e-08];

/// `(log₂(1 + r) − r log₂ e) / r²` for `|r| ≤ 0.0235`, to 2^-33 of the logarithm.
const REST2: [f64; 4] = [0.2881861860471088, -0.360830258936269, 0.48089849176588423, -0.7213475002728018];

/// `2^r` for `|r| ≤ ½`, to 2^-29.
const EXP2: [f64; 7] = [
    0.0001547592746916347,
    0.0013400309820790443,
    0.009618005309496495,
    0.055503276761260614,
    0.2402265133322407,
    0.6931472063191493,
    1.0,
];

/// `x^y` within two units in the last place, and where this is not it: of positive normal numbers powers that are too.
pub fn pow<'p>(x: F<'p>, y: F<'p>) -> (F<'p>, B<'p>) {
    // log₂ x as the sum of two numbers: an error of it counts a hundredfold.
    let s = split(x);
    let piece = s.place.shr(18).piece();
    let r = s.z.fma(piece.take_of_two(&SHORT_INVERSE), -1.0);
    let linear = r * LOG2_E[0];
    let lost = r.fma(LOG2_E[1], r.fma(LOG2_E[0], -linear));
    let lost = (r * r).fma(r.poly(&REST2), lost);
    let [whole, low] = LOG2.each_ref().map(|part| piece.take_of_two(part));
    let whole = s.k + whole;
    let sum = whole + linear;
    let rest = (linear - (sum - whole)) + (lost + low);
    let high = sum + rest;
    let low = rest - (high - sum);
    // Its product with y, and the power of two.
    let product = y * high;
    let lost = y.fma(low, y.fma(high, -product));
    let (n, integer) = product.nearest(1.0);
    let power = ((product - n) + lost).poly(&EXP2);
    let power = (power.bits() + integer.shl(23)).as_bits();
    (power, is_outside(x, 128) | !product.abs().lt(125.0))
}
