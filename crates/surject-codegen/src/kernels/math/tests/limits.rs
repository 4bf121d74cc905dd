//! Where functions have a limit, formulas have exactly that of the interpreter.

use super::*;
use crate::machine::elem::Elem;
use surject_ir::{DType, Scalar, eval};

/// The functions of one float that are no single instruction.
pub const OPS: &[UnaryOp] = &[
    UnaryOp::Exp,
    UnaryOp::Expm1,
    UnaryOp::Log,
    UnaryOp::Log1p,
    UnaryOp::Logistic,
    UnaryOp::Tanh,
    UnaryOp::Erf,
    UnaryOp::Erfc,
    UnaryOp::ErfInv,
    UnaryOp::Sin,
    UnaryOp::Cos,
    UnaryOp::Tan,
    UnaryOp::Asin,
    UnaryOp::Acos,
    UnaryOp::Atan,
    UnaryOp::Sinh,
    UnaryOp::Cosh,
    UnaryOp::Asinh,
    UnaryOp::Acosh,
    UnaryOp::Atanh,
    UnaryOp::Rsqrt,
    UnaryOp::Cbrt,
    UnaryOp::Lgamma,
    UnaryOp::Digamma,
];

/// The limits of a function other than zero and infinity.
pub fn limits(op: UnaryOp) -> &'static [f64] {
    match op {
        UnaryOp::Tanh | UnaryOp::Erf => &[1.0, -1.0],
        UnaryOp::Logistic => &[1.0],
        UnaryOp::Expm1 => &[-1.0],
        UnaryOp::Erfc => &[2.0],
        UnaryOp::Atan => &[std::f64::consts::FRAC_PI_2, -std::f64::consts::FRAC_PI_2],
        _ => &[],
    }
}

/// A float type: its numbers in order, and what the interpreter does with them.
pub trait Float: Copy + PartialOrd + std::fmt::LowerExp + Into<f64> {
    const ELEM: Elem;
    const MANTISSA: u32;
    /// The index of infinity.
    const INFINITY: i64;
    /// The numbers from the least to the largest, NaN left out: +0 is 0, and −0 is −1.
    fn at(index: i64) -> Self;
    fn same(self, other: Self) -> bool;
    fn interpreted(op: UnaryOp, x: Self) -> Self;
    fn interpreted_of_two(op: BinaryOp, x: Self, y: Self) -> Self;
    fn run(way: &Way, arguments: &[&[Self]]) -> (Vec<Self>, Option<Vec<bool>>);
    fn rounded(value: f64) -> Self;
    fn is_tiny(self) -> bool;
}

macro_rules! float {
    ($float:ident, $bits:ident, $elem:ident, $mantissa:literal, $infinity:literal, $run:ident) => {
        impl Float for $float {
            const ELEM: Elem = Elem::$elem;
            const MANTISSA: u32 = $mantissa;
            const INFINITY: i64 = $infinity;

            fn at(index: i64) -> $float {
                let sign = 1 << ($bits::BITS - 1);
                $float::from_bits(if index < 0 { sign | (-1 - index) as $bits } else { index as $bits })
            }

            fn same(self, other: $float) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }

            fn interpreted(op: UnaryOp, x: $float) -> $float {
                let x = Scalar::from_bits(DType::$elem, x.to_bits().into());
                $float::from_bits(eval::unary(op, x).unwrap().bits() as $bits)
            }

            fn interpreted_of_two(op: BinaryOp, x: $float, y: $float) -> $float {
                let [x, y] = [x, y].map(|x| Scalar::from_bits(DType::$elem, x.to_bits().into()));
                $float::from_bits(eval::binary(op, x, y).unwrap().bits() as $bits)
            }

            fn run(way: &Way, arguments: &[&[$float]]) -> (Vec<$float>, Option<Vec<bool>>) {
                way.$run(arguments)
            }

            fn rounded(value: f64) -> $float {
                value as $float
            }

            fn is_tiny(self) -> bool {
                self.abs() < $float::MIN_POSITIVE
            }
        }
    };
}

float!(f32, u32, F32, 23, 0x7f80_0000, single);

float!(f64, u64, F64, 52, 0x7ff0_0000_0000_0000, double);

/// Has the function a limit where it has this value?
pub fn is_settled<T: Float>(op: UnaryOp, y: T) -> bool {
    let y: f64 = y.into();
    !y.is_finite() || y == 0.0 || limits(op).iter().any(|&l| T::rounded(l).into() == y)
}

/// All binades with so many mantissas each, and whatever lies around the ends of the intervals where a function is
/// settled.
pub fn grid<T: Float>(op: UnaryOp, mantissas: i64) -> Vec<T> {
    let (infinity, step) = (T::INFINITY, (1i64 << T::MANTISSA) / mantissas);
    let least = -infinity - 1;
    let mut list: Vec<i64> = (least..=infinity).step_by(step as usize).collect();
    list.push(infinity);
    let mut around = Vec::new();
    for pair in list.windows(2) {
        let settled = |i| is_settled(op, T::interpreted(op, T::at(i)));
        let (mut low, mut high) = (pair[0], pair[1]);
        let before = settled(low);
        if before == settled(high) {
            continue;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if settled(middle) == before { low = middle } else { high = middle }
        }
        around.extend((low - 64..=low + 65).map(|i| i.clamp(least, infinity)));
    }
    list.extend(around);
    let normal = 1i64 << T::MANTISSA;
    list.extend((-70..=70).flat_map(|i| [i, i + normal, i - normal]));
    list.sort();
    list.dedup();
    list.into_iter().map(T::at).chain([T::rounded(f64::NAN)]).collect()
}

/// The functions with the tangent y = x at zero, which subnormal numbers are on.
const THROUGH_ZERO: &[UnaryOp] = &[
    UnaryOp::Expm1,
    UnaryOp::Log1p,
    UnaryOp::Tanh,
    UnaryOp::Sin,
    UnaryOp::Tan,
    UnaryOp::Asin,
    UnaryOp::Atan,
    UnaryOp::Sinh,
    UnaryOp::Asinh,
    UnaryOp::Atanh,
];

/// Has it to be exactly what the interpreter says: where that is a limit, or where the argument is subnormal and the
/// result is nothing else?
fn is_exact<T: Float>(op: UnaryOp, x: T, y: T) -> bool {
    is_settled(op, y) || (x.is_tiny() && (THROUGH_ZERO.contains(&op) || y.into().abs() == 1.0))
}

/// Up to this distance from a limit, relative to it, a function is what the interpreter says, but for the last bit of one
/// number in a hundred: what is subtracted from the limit is as near to what is missing as the interpreter's is.
const NEAR: f64 = 1.0 / 65536.0;

/// What is wrong with the values of a function.
pub fn faults<T: Float>(op: UnaryOp, way: &Way, list: &[T], expected: &[T]) -> Vec<String> {
    let (mut faults, mut near, mut off) = (Vec::new(), 0, 0);
    // So few at once that they stay in a cache.
    for (list, expected) in list.chunks(PART).zip(expected.chunks(PART)) {
        let (found, unless) = T::run(way, &[list]);
        for (i, (&x, &exact)) in list.iter().zip(expected).enumerate() {
            if unless.as_ref().is_some_and(|u| u[i]) {
                continue;
            }
            let y = found[i];
            let mut fault = |what: &str| {
                faults.push(format!("{}, {x:e}: {y:e}, expected {exact:e}: {what}", way.name));
            };
            if is_exact(op, x, exact) || is_settled(op, y) {
                if !y.same(exact) {
                    fault("limit");
                }
                continue;
            }
            let (y, exact): (f64, f64) = (y.into(), exact.into());
            for &limit in limits(op) {
                let limit: f64 = T::rounded(limit).into();
                if (exact - limit).abs() > NEAR * limit.abs() {
                    continue;
                }
                near += 1;
                off += usize::from(y != exact);
                if (y - exact).abs() > limit.abs() * 2f64.powi(-(T::MANTISSA as i32)) {
                    fault("far from the limit");
                }
            }
        }
    }
    if off * 100 > near {
        faults.push(format!("{}: {off} of {near} differ near limits", way.name));
    }
    faults
}

/// Elements that a machine does at once.
pub const PART: usize = 1 << 12;

/// Checks all functions on lists of arguments.
fn check<T: Float>(ops: &[UnaryOp], list: impl Fn(UnaryOp) -> Vec<T>) {
    let mut wrong = Vec::new();
    for &op in ops {
        let list = list(op);
        let expected: Vec<T> = list.iter().map(|&x| T::interpreted(op, x)).collect();
        for tables in TABLES {
            for way in ways(op, T::ELEM, tables) {
                let faults = faults(op, &way, &list, &expected);
                wrong.extend(faults.iter().take(4).cloned());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn limits_in_single_precision() {
    check::<f32>(OPS, |op| grid(op, 256));
}

#[test]
fn limits_in_double_precision() {
    check::<f64>(OPS, |op| grid(op, 8));
}

/// Numbers where something happens, of both signs.
fn special<T: Float>() -> Vec<T> {
    let finite = T::INFINITY - 1;
    let normal = 1i64 << T::MANTISSA;
    let sizes = [0, 1, 2, normal - 1, normal, normal + 1, finite, T::INFINITY];
    let numbers = [0.5, 1.0, 1.5, 2.0, 3.0, 0.1, 1e-10, 1e10, 127.0, 1025.0, 16_777_215.0, 16_777_216.0];
    let sizes = sizes.map(T::at).into_iter().chain(numbers.map(T::rounded));
    let both = sizes.flat_map(|x: T| [x, T::rounded(-x.into())]).collect::<Vec<T>>();
    both.into_iter().chain([T::rounded(f64::NAN)]).collect()
}

/// Powers and angles of what is special are those of the interpreter, and so is whatever is a limit.
fn check_of_two<T: Float>() {
    let list = special::<T>();
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for &x in &list {
        for &y in &list {
            xs.push(x);
            ys.push(y);
        }
    }
    let mut wrong = Vec::new();
    for op in [BinaryOp::Pow, BinaryOp::Atan2] {
        let is_limit = |x: T, y: T, z: T| {
            let ends = [x, y].map(Into::<f64>::into).iter().any(|v| *v == 0.0 || !v.is_finite());
            let z: f64 = z.into();
            ends || !z.is_finite() || z == 0.0 || (op == BinaryOp::Pow && z.abs() == 1.0)
        };
        for tables in TABLES {
            for way in ways_of_two(op, T::ELEM, tables) {
                let (found, unless) = T::run(&way, &[&xs, &ys]);
                for i in (0..xs.len()).filter(|&i| unless.as_ref().is_none_or(|u| !u[i])) {
                    let (x, y, z) = (xs[i], ys[i], found[i]);
                    let expected = T::interpreted_of_two(op, x, y);
                    if is_limit(x, y, expected) && !z.same(expected) {
                        wrong.push(format!("{}, {x:e}, {y:e}: {z:e}, expected {expected:e}", way.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}

#[test]
fn limits_of_powers_and_angles() {
    check_of_two::<f32>();
    check_of_two::<f64>();
}
