//! Scalar functions that the interpreter and compiled code share, so that both compute the same bits.
//!
//! The functions of this module take and give `f64`; those of [`single`] compute in `f64` and round once.
//! Every function `name` has two C entries, `surject_NAME_f32` and `surject_NAME_f64` ([`entries`]), with the
//! same arguments.
//!
//! Most come from the crate `libm`; its elementary functions agree with those of the standard library to a
//! relative 4e-16 (tested). [`erf_inv`] is tested to 4e-16 at reference points and 1e-15 in the tails,
//! [`digamma`] to 2e-15 (absolute where its value is below 1). Outside their domain functions give NaN, at a pole
//! an infinity, as C99 says.

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),+) = $with:path, $c32:ident, $c64:ident;)*) => {
        $($(#[$doc])* pub fn $name($($arg: f64),+) -> f64 { $with($($arg),+) })*

        /// The same functions for `f32`: computed in `f64`, rounded once.
        pub mod single {
            $($(#[$doc])* pub fn $name($($arg: f32),+) -> f32 { super::$name($($arg as f64),+) as f32 })*
        }

        /// The entries for compiled code.
        pub mod entries {
            $(
                #[doc = concat!("`", stringify!($name), "` for `f32`.")]
                pub extern "C" fn $c32($($arg: f32),+) -> f32 { super::single::$name($($arg),+) }
                #[doc = concat!("`", stringify!($name), "` for `f64`.")]
                pub extern "C" fn $c64($($arg: f64),+) -> f64 { super::$name($($arg),+) }
            )*
        }

        /// Names and addresses of the C entries.
        pub(crate) const SYMBOLS: &[crate::library::Symbol] = &[
            $(
                crate::library::Symbol::new(stringify!($c32), entries::$c32 as *const ()),
                crate::library::Symbol::new(stringify!($c64), entries::$c64 as *const ()),
            )*
        ];

        /// The number of functions.
        #[cfg(test)]
        const COUNT: usize = [$(stringify!($name)),*].len();
    };
}

functions! {
    /// The sine of an angle in radians.
    sin(x) = libm::sin, surject_sin_f32, surject_sin_f64;
    /// The cosine of an angle in radians.
    cos(x) = libm::cos, surject_cos_f32, surject_cos_f64;
    /// The tangent of an angle in radians.
    tan(x) = libm::tan, surject_tan_f32, surject_tan_f64;
    /// The inverse of the sine, in `[-pi/2, pi/2]`.
    asin(x) = libm::asin, surject_asin_f32, surject_asin_f64;
    /// The inverse of the cosine, in `[0, pi]`.
    acos(x) = libm::acos, surject_acos_f32, surject_acos_f64;
    /// The inverse of the tangent, in `[-pi/2, pi/2]`.
    atan(x) = libm::atan, surject_atan_f32, surject_atan_f64;
    /// The angle of the point `(x, y)`, in `[-pi, pi]`.
    atan2(y, x) = libm::atan2, surject_atan2_f32, surject_atan2_f64;
    /// The hyperbolic sine.
    sinh(x) = libm::sinh, surject_sinh_f32, surject_sinh_f64;
    /// The hyperbolic cosine.
    cosh(x) = libm::cosh, surject_cosh_f32, surject_cosh_f64;
    /// The hyperbolic tangent.
    tanh(x) = libm::tanh, surject_tanh_f32, surject_tanh_f64;
    /// The inverse of the hyperbolic sine.
    asinh(x) = libm::asinh, surject_asinh_f32, surject_asinh_f64;
    /// The inverse of the hyperbolic cosine, not negative; NaN below 1.
    acosh(x) = crate::special::acosh, surject_acosh_f32, surject_acosh_f64;
    /// The inverse of the hyperbolic tangent.
    atanh(x) = libm::atanh, surject_atanh_f32, surject_atanh_f64;
    /// `e^x`.
    exp(x) = libm::exp, surject_exp_f32, surject_exp_f64;
    /// `2^x`.
    exp2(x) = libm::exp2, surject_exp2_f32, surject_exp2_f64;
    /// `e^x - 1`, exact near 0.
    expm1(x) = libm::expm1, surject_expm1_f32, surject_expm1_f64;
    /// The natural logarithm.
    log(x) = libm::log, surject_log_f32, surject_log_f64;
    /// The logarithm to base 2.
    log2(x) = libm::log2, surject_log2_f32, surject_log2_f64;
    /// `log(1 + x)`, exact near 0.
    log1p(x) = libm::log1p, surject_log1p_f32, surject_log1p_f64;
    /// `1 / (1 + e^-x)`.
    logistic(x) = crate::special::logistic, surject_logistic_f32, surject_logistic_f64;
    /// The cube root.
    cbrt(x) = libm::cbrt, surject_cbrt_f32, surject_cbrt_f64;
    /// `x^y`.
    pow(x, y) = libm::pow, surject_pow_f32, surject_pow_f64;
    /// The remainder of `x / y` with the sign of `x`.
    fmod(x, y) = libm::fmod, surject_fmod_f32, surject_fmod_f64;
    /// `sqrt(x^2 + y^2)` without overflow.
    hypot(x, y) = libm::hypot, surject_hypot_f32, surject_hypot_f64;
    /// The error function.
    erf(x) = libm::erf, surject_erf_f32, surject_erf_f64;
    /// `1 - erf(x)`, exact for large `x`.
    erfc(x) = crate::special::erfc, surject_erfc_f32, surject_erfc_f64;
    /// The inverse of the error function; infinite at 1 and -1.
    erf_inv(x) = crate::special::erf_inv, surject_erf_inv_f32, surject_erf_inv_f64;
    /// The logarithm of the absolute value of the gamma function.
    lgamma(x) = libm::lgamma, surject_lgamma_f32, surject_lgamma_f64;
    /// The derivative of the logarithm of the gamma function; NaN at its poles 0, -1, -2, ….
    digamma(x) = crate::special::digamma, surject_digamma_f32, surject_digamma_f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_entries_a_function() {
        assert_eq!(SYMBOLS.len(), 2 * COUNT);
    }

    #[test]
    fn agrees_with_the_standard_library() {
        type F = fn(f64) -> f64;
        let pairs: &[(F, F)] = &[
            (sin, f64::sin),
            (cos, f64::cos),
            (tan, f64::tan),
            (asin, f64::asin),
            (acos, f64::acos),
            (atan, f64::atan),
            (sinh, f64::sinh),
            (cosh, f64::cosh),
            (tanh, f64::tanh),
            // That of std loses digits near -1.
            (atanh, |x| 0.5 * (x.ln_1p() - (-x).ln_1p())),
            (exp, f64::exp),
            (exp2, f64::exp2),
            (expm1, f64::exp_m1),
            (log, f64::ln),
            (log2, f64::log2),
            (log1p, f64::ln_1p),
            (cbrt, f64::cbrt),
        ];
        for (k, (ours, theirs)) in pairs.iter().enumerate() {
            for i in -400..=400 {
                let x = i as f64 * 0.0137;
                let (a, b) = (ours(x), theirs(x));
                assert!(
                    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 4e-16 * b.abs(),
                    "{k}: {x} {a} {b}"
                );
            }
        }
        assert_eq!(pow(2.0, 0.5), 2f64.powf(0.5));
        assert_eq!(fmod(-7.5, 2.0), -1.5);
        assert_eq!(atan2(-0.0, -1.0), -std::f64::consts::PI);
    }

    #[test]
    fn single_precision_rounds_once() {
        assert_eq!(single::erf(0.5), 0.520_499_9_f32);
        assert_eq!(single::pow(3.0, 4.0), 81.0);
        assert!(single::log(-1.0).is_nan());
        assert_eq!(single::log(0.0), f32::NEG_INFINITY);
        assert_eq!(entries::surject_cbrt_f32(27.0), 3.0);
        assert_eq!(entries::surject_lgamma_f64(5.0), 24f64.ln());
    }
}
