//! Functions of complex numbers at special points: zeros, infinities, NaN, huge and tiny numbers, in either part.
//!
//! The values stand in `complex_values.txt`, which `complex_values.py` writes with mpmath and a C library that follows
//! Annex G of C99.

use crate::{BinaryOp, DType, Scalar, UnaryOp};
use num_complex::Complex;

type C = Complex<f64>;

/// A function at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct ComplexValue {
    /// Its name.
    pub name: &'static str,
    /// One argument, or two.
    pub args: Vec<C>,
    value: [f64; 2],
    /// Is only the size of the part known, and not its sign?
    unsigned: [bool; 2],
}

/// The values of the file.
pub fn complex_values() -> Vec<ComplexValue> {
    let number = |word: &str| word.trim_start_matches('~').parse::<f64>().expect("a number");
    let lines = include_str!("complex_values.txt").lines();
    lines
        .map(|line| {
            let (name, rest) = line.split_once(' ').expect("a name");
            let words: Vec<&str> = rest.split(' ').collect();
            let (args, value) = words.split_at(words.len() - 2);
            ComplexValue {
                name,
                args: args.chunks(2).map(|part| C::new(number(part[0]), number(part[1]))).collect(),
                value: [number(value[0]), number(value[1])],
                unsigned: [value[0].starts_with('~'), value[1].starts_with('~')],
            }
        })
        .collect()
}

impl ComplexValue {
    /// The operation, if it has one argument.
    pub fn unary(&self) -> Option<UnaryOp> {
        UnaryOp::from_name(self.name)
    }

    /// The operation, if it has two arguments.
    pub fn binary(&self) -> Option<BinaryOp> {
        BinaryOp::from_name(self.name)
    }

    /// The arguments in a complex type, unless it does not have them.
    pub fn args(&self, dtype: DType) -> Option<Vec<Scalar>> {
        let scalars = self.args.iter().map(|&z| {
            let scalar = Scalar::from_complex(dtype, z);
            let back = scalar.as_complex();
            let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
            (same(back.re, z.re) && same(back.im, z.im)).then_some(scalar)
        });
        scalars.collect()
    }

    /// What is wrong with a value that was found. NaN, infinities and zeros are those of the file; everything else is
    /// within some units in the last place of the larger part.
    pub fn fault(&self, found: Scalar) -> Option<String> {
        let dtype = found.dtype();
        let (found, double) = (found.as_complex(), dtype == DType::C128);
        let (epsilon, least) = if double {
            (f64::EPSILON, f64::MIN_POSITIVE)
        } else {
            (f32::EPSILON.into(), f32::MIN_POSITIVE.into())
        };
        let value = self.value.map(|v| if double { v } else { f64::from(v as f32) });
        let scale = value.iter().map(|v| v.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let power = self.binary() == Some(BinaryOp::Pow);
        let mut units = 8.0;
        if power && self.args.iter().all(|z| z.re.is_finite() && z.im.is_finite()) {
            // The exponent y log x is rounded, and then it is an angle.
            let exponent = self.args[1] * self.args[0].ln();
            units += if exponent.norm().is_finite() { 4.0 * exponent.norm() } else { 0.0 };
        }
        let wrong = |k: usize, found: f64| {
            let expected = value[k];
            if expected.is_nan() || found.is_nan() {
                return expected.is_nan() != found.is_nan();
            }
            let sign = !self.unsigned[k] && expected.is_sign_negative() != found.is_sign_negative();
            if expected.is_infinite() || (expected == 0.0 && !power) {
                return found.abs() != expected.abs() || sign;
            }
            (found - expected).abs() > epsilon * (units * scale + least)
        };
        (wrong(0, found.re) || wrong(1, found.im)).then(|| {
            let args: Vec<String> = self.args.iter().map(|z| format!("{z:e}")).collect();
            let open = |k: usize| if self.unsigned[k] { "±" } else { "" };
            format!(
                "{dtype} {}({}) is {:e}, {:e}; expected {}{:e}, {}{:e}",
                self.name,
                args.join(", "),
                found.re,
                found.im,
                open(0),
                value[0],
                open(1),
                value[1]
            )
        })
    }
}
