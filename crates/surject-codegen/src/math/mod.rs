//! Transcendental functions.
//!
//! Most functions are written as vector code, by [formulas](formula) that know nothing of scopes and loops: the
//! argument is reduced, a polynomial is evaluated with fused multiply-adds, and what lies outside the range of the
//! reduction is put right by selects. NaN gives NaN, infinities their limits, subnormal arguments and results are kept.
//! Functions of `f32` that are not at the heart of neural networks are computed in `f64` and rounded once; some that are
//! come from tables in registers, where a machine can look those up lane by lane.
//! Everything else calls the functions of [`surject_runtime::math`], lane by lane; so do angles that are too large for
//! the reduction, in a branch of their own.

// Coefficients stand as they were computed or published.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

mod error_function;
mod exponential;
mod formula;
mod gamma;
mod logarithm;
mod power;
mod table;
mod trigonometric;

use crate::CodegenError;
use crate::emit::{At, Elem, Emitter};
use formula::{F, Pen};
use surject_ir::{BinaryOp, UnaryOp};

/// Lanes of a formula in `f64`: more at once would need more registers than there are.
const DOUBLE_LANES: usize = 16;

/// How a function is computed.
struct Method {
    formula: fn(F<'_>) -> F<'_>,
    /// In `f64`, whatever the type of the argument?
    wide: bool,
    /// Arguments of a larger absolute value are left to the run time.
    bound: Option<f64>,
    /// A formula in `f32` that serves for arguments up to [`trigonometric::BOUND_SHORT`].
    short: Option<fn(F<'_>) -> F<'_>>,
    /// Does it use tables, and so as many lanes as those have pieces?
    tables: bool,
}

impl Method {
    /// The same with a formula for what is not large.
    fn short(self, formula: fn(F<'_>) -> F<'_>) -> Method {
        Method { short: Some(formula), ..self }
    }

    fn of(op: UnaryOp, e: Elem, tables: bool) -> Option<Method> {
        use UnaryOp::*;
        use {error_function as error, exponential as exp, logarithm as log, trigonometric as angle};
        let double = e == Elem::F64;
        let own = |formula| Some(Method { formula, wide: double, bound: None, short: None, tables: false });
        let wide = |formula| Some(Method { formula, wide: true, bound: None, short: None, tables: false });
        let up_to = |formula, bound| {
            Some(Method { formula, wide: true, bound: Some(bound), short: None, tables: false })
        };
        let by_table =
            |formula| Some(Method { formula, wide: false, bound: None, short: None, tables: true });
        if tables && !double {
            match op {
                Tanh => return by_table(table::tanh),
                Erf => return by_table(table::erf),
                Erfc => return by_table(table::erfc),
                _ => {}
            }
        }
        match op {
            Exp => own(exp::exp),
            Expm1 => own(exp::expm1),
            Logistic => own(exp::logistic),
            Tanh => own(exp::tanh),
            Log => own(log::log),
            Log1p => own(log::log1p),
            Sinh => wide(if double { exp::sinh } else { exp::sinh_short }),
            Cosh => wide(if double { exp::cosh } else { exp::cosh_short }),
            Asinh => wide(if double { log::asinh } else { log::asinh_short }),
            Acosh => wide(if double { log::acosh } else { log::acosh_short }),
            Atanh => wide(if double { log::atanh } else { log::atanh_short }),
            Erf if double => own(error::erf_double),
            Erfc if double => own(error::erfc_double),
            Sin if double => up_to(|x| angle::sin(x, true), angle::BOUND_DOUBLE),
            Cos if double => up_to(|x| angle::cos(x, true), angle::BOUND_DOUBLE),
            Tan if double => up_to(|x| angle::tan(x, true), angle::BOUND_DOUBLE),
            Sin => up_to(|x| angle::sin(x, false), angle::BOUND).map(|m| m.short(angle::sin_short)),
            Cos => up_to(|x| angle::cos(x, false), angle::BOUND).map(|m| m.short(angle::cos_short)),
            Tan => up_to(|x| angle::tan(x, false), angle::BOUND),
            _ if double => None,
            Atan => wide(angle::atan),
            Asin => wide(angle::asin),
            Acos => wide(angle::acos),
            Cbrt => wide(power::cbrt_short),
            Lgamma => wide(gamma::lgamma),
            Digamma => wide(gamma::digamma),
            Erfc => wide(error::erfc),
            Erf => own(error::erf),
            ErfInv => own(error::erf_inv),
            _ => None,
        }
    }
}

/// A transcendental function of a float.
pub fn unary(em: &mut Emitter<'_>, at: At, op: UnaryOp, e: Elem, x: &str) -> Result<String, CodegenError> {
    use UnaryOp::*;
    let name = match op {
        Exp | Expm1 | Log | Log1p | Logistic | Cbrt | Sin | Cos | Tan | Tanh | Acos | Acosh | Asin
        | Asinh | Atan | Atanh | Cosh | Sinh | Erf | Erfc | ErfInv | Lgamma | Digamma => op.name(),
        _ => return Err(CodegenError::malformed(format!("`{op}` of a float"))),
    };
    let function = format!("surject_{name}_{}", e.name());
    let Some(method) = Method::of(op, e, em.tables) else { return Ok(em.call(at, &function, &[x], e)) };
    if let Some(formula) = method.short {
        // What is larger is rare, and has a branch of its own.
        let (value, beyond) = {
            let pen = Pen::new(em, at);
            let x = pen.value(x, e);
            let size = x.abs();
            let beyond = (size.gt(trigonometric::BOUND_SHORT) & size.lt(f64::INFINITY)).ssa();
            (formula(x).ssa(), beyond)
        };
        let rest = Method { short: None, ..method };
        return Ok(
            em.branch_where(at, &beyond, &value, e, |em, at| by_method(em, at, &rest, &function, e, x))
        );
    }
    Ok(by_method(em, at, &method, &function, e, x))
}

/// A function of a float by a method; what that leaves over is done by the function of the run time.
fn by_method(em: &mut Emitter<'_>, at: At, method: &Method, function: &str, e: Elem, x: &str) -> String {
    let lanes = match method {
        m if m.tables => table::PIECES,
        m if m.wide => DOUBLE_LANES,
        _ => at.lanes,
    };
    if method.tables && at.lanes < lanes {
        // Lanes that do not count are filled up.
        let ty = e.ty(lanes);
        let full = if at.lanes == 1 {
            em.op(at.scope, &format!("vector.broadcast {x} : {} to {ty}", e.name()))
        } else {
            let order: Vec<String> = (0..lanes).map(|i| (i % at.lanes).to_string()).collect();
            let own = e.ty(at.lanes);
            em.op(at.scope, &format!("vector.shuffle {x}, {x} [{}] : {own}, {own}", order.join(", ")))
        };
        let value = by_method(em, At { lanes, ..at }, method, function, e, &full);
        return if at.lanes == 1 {
            em.op(at.scope, &format!("vector.extract {value}[0] : {} from {ty}", e.name()))
        } else {
            em.op(at.scope, &format!(
                "vector.extract_strided_slice {value} {{offsets = [0], sizes = [{}], strides = [1]}} : {ty} to {}",
                at.lanes,
                e.ty(at.lanes)
            ))
        };
    }
    in_parts(em, at, e, &[x], lanes, |em, at, args| {
        let (value, beyond) = {
            let pen = Pen::new(em, at);
            let x = pen.value(&args[0], e);
            let beyond = method.bound.map(|bound| {
                let size = x.abs();
                (size.gt(bound) & size.lt(f64::INFINITY)).ssa()
            });
            let value = (method.formula)(if method.wide { x.widen() } else { x });
            ((if method.wide && e == Elem::F32 { value.narrow() } else { value }).ssa(), beyond)
        };
        match beyond {
            None => value,
            Some(beyond) => {
                em.branch_where(at, &beyond, &value, e, |em, at| em.call(at, function, &[&args[0]], e))
            }
        }
    })
}

/// `x^y` or the angle of the point `(y, x)`, of floats.
pub fn binary(em: &mut Emitter<'_>, at: At, op: BinaryOp, e: Elem, x: &str, y: &str) -> String {
    let formula: Option<for<'p> fn(F<'p>, F<'p>) -> F<'p>> = match (op, e) {
        (BinaryOp::Pow, Elem::F64) => Some(power::pow),
        (BinaryOp::Pow, _) => Some(power::pow_short),
        (BinaryOp::Atan2, Elem::F32) => Some(trigonometric::atan2),
        _ => None,
    };
    let Some(formula) = formula else {
        let name = if op == BinaryOp::Rem { "fmod" } else { op.name() };
        return em.call(at, &format!("surject_{name}_{}", e.name()), &[x, y], e);
    };
    in_parts(em, at, e, &[x, y], DOUBLE_LANES, |em, at, args| {
        let pen = Pen::new(em, at);
        let [x, y] = [&args[0], &args[1]].map(|name| pen.value(name, e).widen());
        let value = formula(x, y);
        (if e == Elem::F32 { value.narrow() } else { value }).ssa()
    })
}

/// Does something with parts of at most so many lanes, one after the other.
fn in_parts(
    em: &mut Emitter<'_>,
    at: At,
    e: Elem,
    args: &[&str],
    lanes: usize,
    mut formula: impl FnMut(&mut Emitter<'_>, At, &[String]) -> String,
) -> String {
    if at.lanes <= lanes {
        let args: Vec<String> = args.iter().map(|a| a.to_string()).collect();
        return formula(em, at, &args);
    }
    let (whole, part) = (e.ty(at.lanes), e.ty(lanes));
    let mut result = em.constant(e, 0, at.lanes);
    for offset in (0..at.lanes).step_by(lanes) {
        let args: Vec<String> = args
            .iter()
            .map(|a| {
                em.op(at.scope, &format!(
                    "vector.extract_strided_slice {a} {{offsets = [{offset}], sizes = [{lanes}], strides = [1]}} \
                     : {whole} to {part}"
                ))
            })
            .collect();
        let value = formula(em, At { scope: at.scope, lanes }, &args);
        result = em.op(at.scope, &format!(
            "vector.insert_strided_slice {value}, {result} {{offsets = [{offset}], strides = [1]}} : {part} into {whole}"
        ));
    }
    result
}

impl Emitter<'_> {
    /// A value that is known, or where a condition holds in any lane another one in all of them.
    fn branch_where(
        &mut self,
        at: At,
        condition: &str,
        known: &str,
        e: Elem,
        other: impl FnOnce(&mut Self, At) -> String,
    ) -> String {
        let any = if at.lanes == 1 {
            condition.to_string()
        } else {
            let ty = Elem::I1.ty(at.lanes);
            self.op(at.scope, &format!("vector.reduction <or>, {condition} : {ty} into i1"))
        };
        let scope = self.open(at.scope, Vec::new(), None);
        let value = other(self, At { scope, lanes: at.lanes });
        self.close_either(scope, &any, &e.ty(at.lanes), &value, known)
    }
}
