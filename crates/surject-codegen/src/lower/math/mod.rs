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
mod next;
pub(crate) mod pieces;
mod power;
pub(crate) mod remainder;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod trigonometric;

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::lower::emit::{At, Emitter};
use crate::lower::math::formula::{B, F, Pen};
use crate::machine::elem::Elem;
use surject_ir::{BinaryOp, DType, UnaryOp};

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

/// A transcendental function of a float.
pub fn unary(em: &mut Emitter<'_>, at: At, op: UnaryOp, e: Elem, x: Value) -> Result<Value, CodegenError> {
    use UnaryOp::*;
    let name = match op {
        Exp | Expm1 | Log | Log1p | Logistic | Cbrt | Sin | Cos | Tan | Tanh | Acos | Acosh | Asin
        | Asinh | Atan | Atanh | Cosh | Sinh | Erf | Erfc | ErfInv | Lgamma | Digamma => op.name(),
        // A few values gain nothing from the instruction that others begin with.
        Rsqrt if e == Elem::F32 && em.tables >= EIGHT && at.lanes >= em.tables => op.name(),
        Rsqrt => {
            let root = em.un(at, "math.sqrt", x, e);
            let one = em.float(at, e, 1.0);
            return Ok(em.bin(at, "arith.divf", one, root, e));
        }
        _ => return Err(CodegenError::malformed(format!("`{op}` of a float"))),
    };
    let function = format!("surject_{name}_{}", e.name());
    let Some(method) = Method::of(op, e, em.tables) else { return Ok(em.call(at, &function, &[x], e)) };
    // A few values gain nothing from tables.
    let Some(short) = method.short.filter(|s| at.lanes >= s.pieces) else {
        return Ok(by_method(em, at, &method, &function, e, x));
    };
    let lanes = if short.pieces > 0 { short.pieces } else { at.lanes };
    Ok(in_parts(em, at, e, &[x], lanes, |em, at, args| {
        let (value, beyond) = {
            let pen = Pen::new(em, at);
            let (value, beyond) = (short.formula)(pen.value(args[0], e));
            (value.ssa(), beyond.ssa())
        };
        // The rest is rare, and has a branch of its own.
        em.branch_where(at, beyond, value, e, |em, at| by_method(em, at, &method, &function, e, args[0]))
    }))
}

/// A function of a float by a method; what that leaves over is done by the function of the run time.
fn by_method(em: &mut Emitter<'_>, at: At, method: &Method, function: &str, e: Elem, x: Value) -> Value {
    let lanes = match method {
        m if m.pieces > 0 => m.pieces,
        m if m.wide => DOUBLE_LANES,
        _ => at.lanes,
    };
    if method.pieces > 0 && at.lanes < lanes {
        // Lanes that do not count are filled up.
        let ty = e.ty(lanes);
        let full = if at.lanes == 1 {
            em.op(at.scope, Op::cast("vector.broadcast", x, e.ty(1), ty))
        } else {
            let order = (0..lanes).map(|i| (i % at.lanes) as i64).collect();
            em.op(at.scope, Op::Shuffle { sides: [x, x], order, ty: e.ty(at.lanes) })
        };
        let value = by_method(em, At { lanes, ..at }, method, function, e, full);
        return em.some_lanes(at.scope, value, (e, lanes), 0, at.lanes);
    }
    in_parts(em, at, e, &[x], lanes, |em, at, args| {
        let (mut value, beyond, mirror) = {
            let pen = Pen::new(em, at);
            let x = pen.value(args[0], e);
            let beyond = method.bound.map(|bound| {
                let size = x.abs();
                (size.gt(bound) & size.lt(f64::INFINITY)).ssa()
            });
            let x = if method.wide { x.widen() } else { x };
            let mirror = method.mirror.map(|m| (m.formula, (m.applies)(x).ssa(), x.ssa()));
            ((method.formula)(x).ssa(), beyond, mirror)
        };
        let own = if method.wide { Elem::F64 } else { e };
        if let Some((formula, applies, x)) = mirror {
            value = em.branch_where(at, applies, value, own, |em, at| {
                let pen = Pen::new(em, at);
                formula(pen.value(x, own), pen.value(value, own)).ssa()
            });
        }
        if own != e {
            value = Pen::new(em, at).value(value, own).narrow().ssa();
        }
        match beyond {
            None => value,
            Some(beyond) => {
                em.branch_where(at, beyond, value, e, |em, at| em.call(at, function, &[args[0]], e))
            }
        }
    })
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

/// `x^y` or the angle of the point `(y, x)`, of floats.
pub fn binary(em: &mut Emitter<'_>, at: At, op: BinaryOp, e: Elem, x: Value, y: Value) -> Value {
    let is_power = op == BinaryOp::Pow;
    let (formula, wide) = of_two(op, e);
    let long = |em: &mut Emitter<'_>, at: At, args: &[Value]| {
        let pen = Pen::new(em, at);
        let [x, y] = [&args[0], &args[1]].map(|name| pen.value(*name, e));
        if wide && e == Elem::F32 {
            return formula(x.widen(), y.widen()).narrow().ssa();
        }
        formula(x, y).ssa()
    };
    let by_table = is_power && e == Elem::F32 && em.tables.min(at.lanes) >= table::PIECES;
    if !by_table {
        return in_parts(em, at, e, &[x, y], if wide { DOUBLE_LANES } else { at.lanes }, long);
    }
    in_parts(em, at, e, &[x, y], table::PIECES, |em, at, args| {
        let (value, beyond) = {
            let pen = Pen::new(em, at);
            let (value, beyond) = pieces::pow(pen.value(args[0], e), pen.value(args[1], e));
            (value.ssa(), beyond.ssa())
        };
        em.branch_where(at, beyond, value, e, |em, at| long(em, at, args))
    })
}

/// The remainder of `x / y`, of floats.
pub fn remainder(em: &mut Emitter<'_>, at: At, e: Elem, x: Value, y: Value) -> Value {
    in_parts(em, at, e, &[x, y], DOUBLE_LANES, |em, at, args| {
        let (value, beyond) = {
            let pen = Pen::new(em, at);
            let [x, y] = [&args[0], &args[1]].map(|name| pen.value(*name, e));
            let (rest, beyond) = remainder::remainder(x.widen(), y.widen());
            (if e == Elem::F32 { rest.narrow() } else { rest }.ssa(), beyond.ssa())
        };
        em.branch_where(at, beyond, value, e, |em, at| {
            em.call(at, &format!("surject_fmod_{}", e.name()), &[args[0], args[1]], e)
        })
    })
}

/// The neighbour of a float in the direction of another.
pub fn next_after(em: &mut Emitter<'_>, at: At, dtype: DType, x: Value, y: Value) -> Value {
    let spare = match dtype {
        DType::BF16 => 16,
        DType::F16 => 13,
        _ => 0,
    };
    let pen = Pen::new(em, at);
    let [x, y] = [x, y].map(|name| pen.value(name, Elem::of(dtype)));
    next::next_after(x, y, spare).ssa()
}

/// Does something with parts of at most so many lanes, one after the other.
fn in_parts(
    em: &mut Emitter<'_>,
    at: At,
    e: Elem,
    args: &[Value],
    lanes: usize,
    mut formula: impl FnMut(&mut Emitter<'_>, At, &[Value]) -> Value,
) -> Value {
    if at.lanes <= lanes {
        return formula(em, at, args);
    }
    let mut parts = Vec::new();
    for first in (0..at.lanes).step_by(lanes) {
        let args: Vec<Value> =
            args.iter().map(|a| em.some_lanes(at.scope, *a, (e, at.lanes), first, lanes)).collect();
        parts.push(formula(em, At { scope: at.scope, lanes }, &args));
    }
    em.of_parts(at.scope, parts, e, lanes)
}

impl Emitter<'_> {
    /// Does a condition hold in any lane?
    pub(crate) fn any_lane(&mut self, at: At, condition: Value) -> Value {
        if at.lanes == 1 {
            return condition;
        }
        let ty = Elem::I1.ty(at.lanes);
        self.op(at.scope, Op::Reduction { kind: "or", vector: condition, ty })
    }

    /// A value that is known, or where a condition holds in any lane another one in all of them.
    pub(crate) fn branch_where(
        &mut self,
        at: At,
        condition: Value,
        known: Value,
        e: Elem,
        other: impl FnOnce(&mut Self, At) -> Value,
    ) -> Value {
        let any = self.any_lane(at, condition);
        let scope = self.open(at.scope, Vec::new(), None);
        let value = other(self, At { scope, lanes: at.lanes });
        self.close_either(scope, any, e.ty(at.lanes), value, known)
    }
}
