//! Transcendental functions.
//!
//! Most functions are written as vector code, by [formulas](formula) that know nothing of scopes and loops: the
//! argument is reduced, a polynomial is evaluated with fused multiply-adds, and what lies outside the range of the
//! reduction is put right by selects, or where it is rare in a branch of its own. NaN gives NaN, infinities their limits,
//! subnormal arguments and results are kept. Where a function comes near a limit other than these, what is missing is
//! rounded once, and from where on it is the limit is where the interpreter's is: `tests` run every formula for every kind
//! of machine.
//! Functions of `f32` that are not at the heart of neural networks are computed in `f64` and rounded once; some that are
//! come from tables in registers, where a machine can look those up lane by lane.
//! Everything else calls the functions of [`surject_runtime::math`], lane by lane; so do angles that are too large for
//! every reduction.

// Coefficients stand as they were computed or published.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

mod error_function;
mod exponential;
pub(crate) mod formula;
mod gamma;
mod logarithm;
pub(crate) mod pieces;
mod power;
pub(crate) mod remainder;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod trigonometric;

use crate::kernels::math::formula::{B, F};
use crate::machine::elem::Elem;
use surject_ir::{BinaryOp, UnaryOp};

/// Lanes of a formula in `f64`: more at once would need more registers than there are.
pub(crate) const DOUBLE_LANES: usize = 16;

/// Lanes of the registers of a machine with tables of eight, which no formula but that of an inverse root asks for.
const EIGHT: usize = 8;

/// How a function is computed.
pub(crate) struct Method {
    pub(crate) formula: fn(F<'_>) -> F<'_>,
    /// In `f64`, whatever the type of the argument?
    pub(crate) wide: bool,
    /// Arguments of a larger absolute value are left to the run time.
    pub(crate) bound: Option<f64>,
    /// A formula in `f32` that serves for nearly every argument.
    pub(crate) short: Option<Short>,
    /// The pieces of the tables that it uses, and so its lanes; 0 if it uses none.
    pub(crate) pieces: usize,
    /// What is done where an argument is mirrored, of which the formula gives the value of the mirror image.
    pub(crate) mirror: Option<Mirror>,
}

/// Which arguments are mirrored, and the value of these, given the argument and the value of the formula. It has a
/// branch of its own; there every value is given to it.
#[derive(Clone, Copy)]
pub(crate) struct Mirror {
    pub(crate) applies: for<'p> fn(F<'p>) -> B<'p>,
    pub(crate) formula: for<'p> fn(F<'p>, F<'p>) -> F<'p>,
}

/// A formula in `f32`, and where something else has to be done.
#[derive(Clone, Copy)]
pub(crate) struct Short {
    pub(crate) formula: for<'p> fn(F<'p>) -> (F<'p>, B<'p>),
    /// As [`Method::pieces`].
    pub(crate) pieces: usize,
}

impl Method {
    /// The same with a formula for nearly every argument.
    fn short(self, formula: for<'p> fn(F<'p>) -> (F<'p>, B<'p>)) -> Method {
        Method { short: Some(Short { formula, pieces: 0 }), ..self }
    }

    /// As [`Method::short`], by tables.
    fn short_by_table(self, formula: for<'p> fn(F<'p>) -> (F<'p>, B<'p>)) -> Method {
        Method { short: Some(Short { formula, pieces: table::PIECES }), ..self }
    }

    pub(crate) fn of(op: UnaryOp, e: Elem, tables: usize) -> Option<Method> {
        use UnaryOp::*;
        use {error_function as error, exponential as exp, logarithm as log, trigonometric as angle};
        let double = e == Elem::F64;
        let method =
            |formula, wide| Method { formula, wide, bound: None, short: None, pieces: 0, mirror: None };
        let own = |formula| Some(method(formula, double));
        let wide = |formula| Some(method(formula, true));
        let up_to = |formula, bound| Some(Method { bound: Some(bound), ..method(formula, true) });
        let by_table = |formula, pieces| Some(Method { pieces, ..method(formula, false) });
        let sixteen = tables >= table::PIECES && !double;
        let mirrored = |formula, image| {
            let mirror = Mirror { applies: gamma::is_mirrored, formula: image };
            Some(Method { mirror: Some(mirror), ..method(formula, true) })
        };
        match op {
            Tanh if sixteen => by_table(table::tanh, table::PIECES),
            Erf if sixteen => by_table(table::erf, table::PIECES),
            Erfc if sixteen => by_table(table::erfc, table::PIECES),
            Rsqrt if sixteen => by_table(power::inverse_root, table::PIECES),
            Rsqrt if tables >= EIGHT && !double => {
                let short = Short { formula: power::inverse_root_of_eight, pieces: EIGHT };
                own(power::inverse_of_root).map(|m| Method { short: Some(short), ..m })
            }
            Exp => own(exp::exp),
            Expm1 => own(exp::expm1),
            Logistic => own(exp::logistic),
            Tanh => own(exp::tanh),
            Log if sixteen => own(log::log).map(|m| m.short_by_table(pieces::log)),
            Log1p if sixteen => own(log::log1p).map(|m| m.short_by_table(pieces::log1p)),
            Log if !double => own(log::log).map(|m| m.short(log::log_normal)),
            Log1p if !double => own(log::log1p).map(|m| m.short(log::log1p_normal)),
            Log => own(log::log),
            Log1p => own(log::log1p),
            Sinh => wide(if double { exp::sinh } else { exp::sinh_short }),
            Cosh => own(if double { exp::cosh } else { exp::cosh_short }),
            Asinh => wide(if double { log::asinh } else { log::asinh_short }),
            Acosh => wide(if double { log::acosh } else { log::acosh_short }),
            Atanh => wide(if double { log::atanh } else { log::atanh_short }),
            Erf if double => own(error::erf_double),
            Erfc if double => own(error::erfc_double),
            Sin if double => up_to(|x| angle::sin(x, angle::Precision::Double), angle::BOUND_DOUBLE),
            Cos if double => up_to(|x| angle::cos(x, angle::Precision::Double), angle::BOUND_DOUBLE),
            Tan if double => up_to(|x| angle::tan(x, angle::Precision::Double), angle::BOUND_DOUBLE),
            Sin => up_to(|x| angle::sin(x, angle::Precision::Single), angle::BOUND)
                .map(|m| m.short(angle::sin_short)),
            Cos => up_to(|x| angle::cos(x, angle::Precision::Single), angle::BOUND)
                .map(|m| m.short(angle::cos_short)),
            Tan => up_to(|x| angle::tan(x, angle::Precision::Single), angle::BOUND),
            Asin => wide(if double {
                |x| angle::asin(x, angle::Precision::Double)
            } else {
                |x| angle::asin(x, angle::Precision::Single)
            }),
            Acos => wide(if double {
                |x| angle::acos(x, angle::Precision::Double)
            } else {
                |x| angle::acos(x, angle::Precision::Single)
            }),
            Atan => own(if double { angle::atan_double } else { angle::atan }),
            Cbrt => own(if double { power::cbrt_double } else { power::cbrt }),
            _ if double => None,
            Lgamma => mirrored(gamma::lgamma, gamma::lgamma_mirrored),
            Digamma => mirrored(gamma::digamma, gamma::digamma_mirrored),
            Erfc => own(error::erfc),
            Erf => own(error::erf),
            ErfInv => own(error::erf_inv),
            _ => None,
        }
    }
}

/// A formula of two arguments.
pub(crate) type OfTwo = for<'p> fn(F<'p>, F<'p>) -> F<'p>;

/// The formula of a power or an angle, and whether it is in `f64`.
pub(crate) fn of_two(op: BinaryOp, e: Elem) -> (OfTwo, bool) {
    match (op == BinaryOp::Pow, e == Elem::F64) {
        (true, true) => (power::pow, true),
        (true, false) => (power::pow_short, true),
        (false, true) => (trigonometric::atan2_double, true),
        (false, false) => (trigonometric::atan2, false),
    }
}
