//! Comparison of tensors within a tolerance, as `numpy.allclose` does.

use crate::{Buffer, DType, Scalar};
use std::fmt;

/// What a comparison found. `Display` prints it on one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Element type and shape of the result under test.
    pub actual: (DType, Vec<usize>),
    /// Element type and shape of what was expected.
    pub expected: (DType, Vec<usize>),
    /// The number of elements outside the tolerance; 0 if the shapes differ.
    pub mismatches: usize,
    /// The largest `|a - b|`; infinite if a NaN or an infinity faces another value.
    pub max_abs_error: f64,
    /// The largest `|a - b| / |b|` where `b` is not zero; infinite as above.
    pub max_rel_error: f64,
    /// The element furthest outside (or nearest to the edge of) the tolerance; `None` if no element differs.
    pub worst: Option<Worst>,
}

/// The element of a comparison that differs most, measured in units of its tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Its index, one number an axis.
    pub index: Vec<usize>,
    /// The value under test.
    pub actual: Scalar,
    /// The value expected.
    pub expected: Scalar,
}

impl Comparison {
    /// Are the shapes equal and all elements within the tolerance? Element types may differ.
    pub fn passed(&self) -> bool {
        self.actual.1 == self.expected.1 && self.mismatches == 0
    }
}

/// Compares element by element: `|a - b| <= atol + rtol * |b|`, where `b` is the expected value. A NaN equals
/// a NaN, an infinity equals itself only; complex numbers are compared by modulus, and one with a NaN part is
/// a NaN.
///
/// Element types may differ: the values are compared as `f64` or complex numbers, or exactly if both are
/// integers or booleans.
pub fn compare(actual: &Buffer, expected: &Buffer, rtol: f64, atol: f64) -> Comparison {
    let mut report = Comparison {
        actual: (actual.dtype(), actual.shape().to_vec()),
        expected: (expected.dtype(), expected.shape().to_vec()),
        mismatches: 0,
        max_abs_error: 0.0,
        max_rel_error: 0.0,
        worst: None,
    };
    if actual.shape() != expected.shape() {
        return report;
    }
    if actual.dtype() == expected.dtype() && actual.bytes() == expected.bytes() {
        return report;
    }
    let mut worst = None;
    let mut worst_excess = 0.0;
    for i in 0..actual.len() {
        let (a, b) = (actual.get(i), expected.get(i));
        let (error, magnitude) = distance(a, b);
        if error == 0.0 {
            continue;
        }
        let tolerance = atol + rtol * magnitude;
        let within = error <= tolerance && error.is_finite();
        report.mismatches += !within as usize;
        report.max_abs_error = report.max_abs_error.max(error);
        if magnitude != 0.0 {
            let relative = if error.is_finite() { error / magnitude } else { f64::INFINITY };
            report.max_rel_error = report.max_rel_error.max(relative);
        }
        // In units of the tolerance; an element that passes never outranks one that fails.
        let excess = if within { error / tolerance.max(error) } else { 1.0 + error / tolerance };
        if worst.is_none() || excess > worst_excess {
            worst_excess = excess;
            worst = Some((i, a, b));
        }
    }
    report.worst =
        worst.map(|(i, actual, expected)| Worst { index: unravel(i, &report.actual.1), actual, expected });
    report
}

/// `|a - b|` and `|b|`; the first is 0 for equal values (NaN included) and infinite where no finite difference
/// exists.
fn distance(a: Scalar, b: Scalar) -> (f64, f64) {
    if let (Some(a), Some(b)) = (a.as_i128(), b.as_i128()) {
        return ((a - b).unsigned_abs() as f64, b.unsigned_abs() as f64);
    }
    let (a, b) = (a.as_complex(), b.as_complex());
    let magnitude = b.re.hypot(b.im);
    if a == b || (a.is_nan() && b.is_nan()) {
        return (0.0, magnitude);
    }
    let error = (a.re - b.re).hypot(a.im - b.im);
    if a.is_finite() && b.is_finite() { (error, magnitude) } else { (f64::INFINITY, magnitude) }
}

/// The index of row-major position `i`.
fn unravel(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, &d) in shape.iter().enumerate().rev() {
        index[axis] = i % d;
        i /= d;
    }
    index
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dtype, shape) = &self.actual;
        let (other, wanted) = &self.expected;
        if shape != wanted {
            return write!(f, "shape {shape:?} of {dtype} where {wanted:?} of {other} is expected");
        }
        write!(
            f,
            "{dtype}{shape:?}: largest absolute error {:.3e}, relative {:.3e}",
            self.max_abs_error, self.max_rel_error
        )?;
        if self.mismatches > 0 {
            let all: usize = shape.iter().product();
            write!(f, "; {} of {all} elements outside the tolerance", self.mismatches)?;
        }
        if let Some(Worst { index, actual, expected }) = &self.worst {
            write!(f, "; worst at {index:?}: {actual:?}, expected {expected:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(dtype: DType, values: &[f64]) -> Buffer {
        let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
        Buffer::from_scalars(dtype, &[values.len()], &values).unwrap()
    }

    #[test]
    fn follows_numpy() {
        let nan = f64::NAN;
        let inf = f64::INFINITY;
        let cases: &[(f64, f64, f64, f64, bool)] = &[
            (1.0, 1.0 + 1e-6, 1e-5, 0.0, true),
            (1.0, 1.0 + 1e-4, 1e-5, 0.0, false),
            (0.0, 1e-7, 0.0, 1e-6, true),
            (nan, nan, 0.0, 0.0, true),
            (nan, 1.0, 1.0, 1.0, false),
            (1.0, nan, 1.0, 1.0, false),
            (inf, inf, 0.0, 0.0, true),
            (inf, -inf, 1.0, 1.0, false),
            (1.0, inf, 1.0, 1.0, false),
            (inf, 1.0, 1.0, 1.0, false),
            (-0.0, 0.0, 0.0, 0.0, true),
        ];
        for &(a, b, rtol, atol, want) in cases {
            let report = compare(&floats(DType::F64, &[a]), &floats(DType::F64, &[b]), rtol, atol);
            assert_eq!(report.passed(), want, "{a} {b}: {report}");
        }
    }

    #[test]
    fn names_the_worst_element() {
        let a = floats(DType::BF16, &[1.0, 2.0, 3.0, 4.0, 0.0, 6.0]).reshaped(&[2, 3]).unwrap();
        let b = floats(DType::F32, &[1.0, 2.0, 3.5, 4.0, 1.0, 6.0]).reshaped(&[2, 3]).unwrap();
        let report = compare(&a, &b, 1e-2, 1e-2);
        assert!(!report.passed());
        assert_eq!(report.mismatches, 2);
        assert_eq!(report.max_abs_error, 1.0);
        assert_eq!(report.max_rel_error, 1.0);
        assert_eq!(report.worst.as_ref().unwrap().index, [1, 1]);
        assert_eq!(
            report.to_string(),
            "bf16[2, 3]: largest absolute error 1.000e0, relative 1.000e0; 2 of 6 elements outside the \
             tolerance; worst at [1, 1]: 0.0bf16, expected 1.0f32"
        );
        let report = compare(&a, &floats(DType::F32, &[1.0]), 0.0, 0.0);
        assert!(!report.passed());
        assert_eq!(report.to_string(), "shape [2, 3] of bf16 where [1] of f32 is expected");
    }

    #[test]
    fn integers_are_exact() {
        let int = |v: i128, d| Buffer::splat(Scalar::from_i128(d, v), &[]);
        let max = i64::MAX as i128;
        assert!(!compare(&int(max, DType::I64), &int(max - 1, DType::I64), 0.0, 0.0).passed());
        assert!(compare(&int(max, DType::I64), &int(max, DType::U64), 0.0, 0.0).passed());
        assert!(compare(&int(1, DType::I1), &int(1, DType::F32), 0.0, 0.0).passed());
    }

    #[test]
    fn complex_numbers_by_modulus() {
        let z =
            |re, im| Buffer::splat(Scalar::from_complex(DType::C128, num_complex::Complex::new(re, im)), &[]);
        assert!(compare(&z(3.0, 4.0), &z(3.0, 4.0 + 1e-6), 1e-6, 0.0).passed());
        assert!(!compare(&z(3.0, 4.0), &z(3.0, 4.1), 1e-6, 0.0).passed());
        assert!(compare(&z(f64::NAN, 4.0), &z(3.0, f64::NAN), 0.0, 0.0).passed());
    }
}
