//! Programs that check themselves: `check.expect_*` operations, and `custom_call @check.*`.

use crate::error::{LiftError, Place};
use crate::import::cx::Cx;
use crate::import::state::{Lifter, Result, Seen, Source};
use crate::import::types::{self, Literal};
use crate::import::{ImportOptions, plain, selected};
use std::fmt;
use surject_index::{IndexMap, Space};
use surject_ir::{
    AccOp, BinaryOp, Buffer, DType, FieldId, Program, Scalar, Statement, StatementKind, TensorType, UnaryOp,
    Var,
};
use surject_stablehlo::{Attribute, Function, Module, Op, Region};

/// How two tensors are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckKind {
    /// Equal elements; floats by IEEE equality, so +0 equals −0 and no NaN equals anything.
    Eq,
    /// Each part of each element differs by at most the tolerance; infinities must be equal, NaN equals NaN, and
    /// integers and booleans must be equal.
    AlmostEq {
        /// The largest absolute difference.
        tolerance: f64,
    },
    /// The distance of each element, in units of last place (of the worse part of a complex number), lies in a
    /// range. NaN equals NaN, equal infinities are at distance 0, and the way from a negative to a positive number
    /// goes through zero. Integers and booleans must be equal.
    Close {
        /// The smallest distance.
        min_ulp: u64,
        /// The largest distance.
        max_ulp: u64,
    },
    /// Whether all checks inside a loop or branch hold.
    Inside,
}

/// A comparison of two results of the checked function.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// How they are compared.
    pub kind: CheckKind,
    /// The result under test.
    pub got: usize,
    /// The result expected.
    pub want: usize,
    /// Where the check stands.
    pub place: Place,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckOutcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed {
        /// What differs first, and how many elements do.
        reason: String,
    },
}

/// A function with checks, as a program of one function whose results are what the checks compare.
#[derive(Clone, Debug)]
pub struct CheckedFunction {
    /// The program; it has no parameters.
    pub program: Program,
    /// The checks in the order of the text, at least one.
    pub checks: Vec<Check>,
}

/// The functions of a module with checks, by name: each with its program, or the reason why there is none.
pub type CheckedFunctions = Vec<(String, std::result::Result<CheckedFunction, LiftError>)>;

/// A check operation that was met while a function was lifted.
pub(crate) struct PendingCheck {
    kind: CheckKind,
    got: Var,
    want: Var,
    place: Place,
}

/// Every public function of the module (or the named one) with check operations, each with its program or the
/// reason why there is none. Functions without checks are left out unless one of them is asked for by name.
pub fn import_checks(
    module: &Module,
    options: &ImportOptions<'_>,
) -> std::result::Result<CheckedFunctions, LiftError> {
    let module = &*plain(module)?;
    let source = Source::new(options.file, options.source);
    let mut all = Vec::new();
    for function in selected(module, options)? {
        let mut lifter = Lifter::new(module, &source, &function.name);
        lifter.checks = Some(Vec::new());
        let lifted = watch(&mut lifter, module, function).and_then(|()| lifter.body(function));
        let checks = lifter.checks.take().unwrap_or_default();
        let result = match lifted {
            Err(error) => Err(error),
            Ok(()) => {
                let checks = with_flags(&mut lifter, checks, function);
                if checks.is_empty() && options.function.is_none() {
                    continue;
                }
                finish(lifter, checks, function)
            }
        };
        all.push((function.name.clone(), result));
    }
    Ok(all)
}

/// The checks, with one for each loop or branch that has checks inside.
fn with_flags(
    lifter: &mut Lifter<'_>,
    mut checks: Vec<PendingCheck>,
    function: &surject_stablehlo::Function,
) -> Vec<PendingCheck> {
    let flags = std::mem::take(&mut lifter.flags);
    for got in flags {
        let place = Place { span: function.span, location: function.location.clone() };
        let ty = TensorType::scalar(DType::I1);
        let field = lifter.function.fields.constant(&ty.space, Scalar::from_i128(DType::I1, 1));
        let want = lifter.new_var("", ty);
        let kind = StatementKind::Store { target: want, field };
        lifter.function.body.statements.push(Statement { kind, origin: None });
        checks.push(PendingCheck { kind: CheckKind::Inside, got, want, place });
    }
    checks
}

fn finish(
    lifter: Lifter<'_>,
    pending: Vec<PendingCheck>,
    function: &surject_stablehlo::Function,
) -> Result<CheckedFunction> {
    let place = Place { span: function.span, location: function.location.clone() };
    let refuse = |detail: &str| {
        let op = format!("func.func @{}", function.name);
        Err(LiftError::Unsupported { op, detail: detail.to_string(), place: place.clone() })
    };
    if !function.params.is_empty() {
        return refuse("a function with checks and parameters, for which there are no values");
    }
    if pending.is_empty() {
        return refuse("a function without checks");
    }
    let mut built = lifter.function;
    let mut checks = Vec::new();
    built.body.results.clear();
    for PendingCheck { kind, got, want, place } in pending {
        let mut result = |var: Var| {
            let at = built.body.results.iter().position(|&r| r == var);
            at.unwrap_or_else(|| {
                built.body.results.push(var);
                built.body.results.len() - 1
            })
        };
        checks.push(Check { kind, got: result(got), want: result(want), place });
    }
    Ok(CheckedFunction { program: Program { name: String::new(), functions: vec![built] }, checks })
}

/// Lifts a `check.*` operation.
pub(crate) fn op(cx: &mut Cx<'_, '_>) -> Result<()> {
    let short = cx.op.short_name();
    let name = short.strip_suffix("_const").unwrap_or(short);
    let kind = match name {
        "expect_eq" => CheckKind::Eq,
        "expect_almost_eq" => {
            let given = cx.op.attributes.get("tolerance").and_then(Attribute::as_f64);
            CheckKind::AlmostEq { tolerance: given.unwrap_or(1e-4) }
        }
        "expect_close" => close(cx, 0)?,
        "expect_serialized_eq" => return probed(cx),
        _ => return Err(cx.unsupported("this check")),
    };
    if cx.lift.checks.is_none() {
        return Ok(());
    }
    if name == short {
        let want = cx.var(1)?;
        return pend(cx, kind, want);
    }
    let value = cx.attr(cx.op.dense("value"))?;
    let ty = cx.operand_type(0)?;
    let want = match types::literal(cx.op, value, &ty)? {
        Literal::Splat(scalar) => {
            let field = cx.constant(&ty.space, scalar);
            cx.stored(field)
        }
        Literal::Dense(value) => {
            let target = cx.lift.new_var("", ty);
            cx.lift.push(cx.op, StatementKind::Constant { target, value });
            target
        }
    };
    pend(cx, kind, want)
}

/// Lifts `custom_call @check.NAME(%got, %want)`.
pub(crate) fn custom_call(cx: &mut Cx<'_, '_>, name: &str) -> Result<()> {
    let exact = !cx.operand_type(0)?.dtype.is_float() && !cx.operand_type(0)?.dtype.is_complex();
    let kind = match name {
        "expect_eq" => CheckKind::Eq,
        "eq" if exact => CheckKind::Eq,
        "eq" => CheckKind::AlmostEq { tolerance: 1e-4 },
        "expect_almost_eq" => CheckKind::AlmostEq { tolerance: 1e-3 },
        "expect_close" => close(cx, 3)?,
        _ => return Err(cx.unsupported(format!("the target `check.{name}`"))),
    };
    if !cx.op.results.is_empty() {
        return Err(cx.invalid("a check has no results"));
    }
    if cx.lift.checks.is_none() {
        return Ok(());
    }
    let want = cx.var(1)?;
    pend(cx, kind, want)
}

/// `interpreter.probe`: the value, which a check may ask for later.
pub(crate) fn probe(cx: &mut Cx<'_, '_>) -> Result<()> {
    let id = cx.attr(cx.op.string("probe_id"))?.to_string();
    if cx.lift.checks.is_some() {
        let seen = cx.var(0)?;
        match cx.lift.seen.iter().position(|seen| seen.id == id) {
            Some(at) => see(cx, at, seen)?,
            None if cx.lift.in_region() => return Err(cx.unsupported("a probe inside a region of scalars")),
            None => cx.lift.probes.entry(id).or_default().push(seen),
        }
    }
    crate::import::control::identity(cx)
}

/// A probe that may run several times sees a value.
fn see(cx: &mut Cx<'_, '_>, at: usize, value: Var) -> Result<()> {
    let Seen { asked, vars, .. } = cx.lift.seen[at].clone();
    let (value, count) = (cx.lift.function.tensor(value), cx.lift.function.tensor(vars[0]));
    let (ty, counter) = (cx.field_type(value), cx.field_type(count));
    let mut now = Vec::new();
    let one = cx.constant(&counter.space, Scalar::from_i128(DType::I64, 1));
    let next = cx.binary(BinaryOp::Add, count, one)?;
    now.push(cx.stored(next));
    for (iteration, &slot) in asked.iter().zip(&vars[1..]) {
        if *cx.lift.function.ty(slot) != ty {
            return Err(cx.unsupported("a probe of values of several types"));
        }
        let number = cx.constant(&counter.space, Scalar::from_i128(DType::I64, i128::from(*iteration)));
        let is = cx.binary(BinaryOp::Eq, count, number)?;
        let is = spread(cx, is, &ty)?;
        let old = cx.lift.function.tensor(slot);
        let kept = cx.select(is, value, old)?;
        now.push(cx.stored(kept));
    }
    cx.lift.seen[at].vars = now;
    Ok(())
}

/// A scalar over the space of a type.
fn spread(cx: &mut Cx<'_, '_>, scalar: FieldId, ty: &TensorType) -> Result<FieldId> {
    let scalar = cx.temp(scalar);
    let map = cx.total(ty.space.clone(), Space::scalar(), Vec::new())?;
    let read = cx.lift.function.fields.read(map, scalar);
    cx.typed(read)
}

/// Follows the probes that run inside of loops, branches and functions, and that checks ask for.
fn watch(lifter: &mut Lifter<'_>, module: &Module, entry: &Function) -> Result<()> {
    fn all<'m>(region: &'m Region, nested: bool, ops: &mut Vec<(&'m Op, bool)>) {
        for op in &region.ops {
            ops.push((op, nested));
            op.regions.iter().for_each(|r| all(r, true, ops));
        }
    }
    let mut ops = Vec::new();
    for function in &module.functions {
        all(&function.body, function.name != entry.name, &mut ops);
    }
    let named = |op: &Op, name: &str, id: &str| op.name == name && op.string("probe_id") == Ok(id);
    let mut followed: Vec<&str> = Vec::new();
    for (op, nested) in &ops {
        let Ok(id) = op.string("probe_id") else { continue };
        if op.name != "interpreter.probe" || !nested || followed.contains(&id) {
            continue;
        }
        let asks = ops.iter().filter(|(op, _)| named(op, "check.expect_serialized_eq", id));
        let mut asked: Vec<i64> = asks.map(|(op, _)| iteration(op)).collect();
        asked.sort_unstable();
        asked.dedup();
        let Some(ty) = op.operands.first().and_then(|v| module.values.get(v.index())) else { continue };
        let ty = types::tensor(op, &ty.ty)?;
        followed.push(id);
        lifter.watch(id, asked, &ty);
    }
    Ok(())
}

fn iteration(op: &Op) -> i64 {
    op.attributes.get("iteration").and_then(Attribute::as_i64).unwrap_or(0)
}

/// `check.expect_serialized_eq`: the value is what a probe of this name has seen.
fn probed(cx: &mut Cx<'_, '_>) -> Result<()> {
    if cx.lift.checks.is_none() {
        return Ok(());
    }
    let id = cx.attr(cx.op.string("probe_id"))?;
    let iteration = iteration(cx.op);
    if let Some(Seen { asked, vars, .. }) = cx.lift.seen.iter().find(|seen| seen.id == id).cloned() {
        let want = asked.iter().position(|n| *n == iteration).and_then(|at| vars.get(1 + at).copied());
        let want = want.ok_or_else(|| cx.invalid(format!("a value number {iteration}")))?;
        pend(cx, CheckKind::Close { min_ulp: 0, max_ulp: 0 }, want)?;
        // The probe has run as often.
        let count = cx.lift.function.tensor(vars[0]);
        let space = cx.space(count);
        let number = cx.constant(&space, Scalar::from_i128(DType::I64, i128::from(iteration)));
        let enough = cx.binary(BinaryOp::Gt, count, number)?;
        let enough = cx.stored(enough);
        cx.lift.flags.push(enough);
        return Ok(());
    }
    let seen = cx.lift.probes.get(id).zip(usize::try_from(iteration).ok());
    match seen.and_then(|(seen, i)| seen.get(i).copied()) {
        Some(want) => pend(cx, CheckKind::Close { min_ulp: 0, max_ulp: 0 }, want),
        None => Err(cx.invalid(format!("no probe '{id}' has seen a value number {iteration}"))),
    }
}

fn close(cx: &Cx<'_, '_>, default: u64) -> Result<CheckKind> {
    let ulps = |name: &str, default: u64| match cx.op.attributes.get(name) {
        Some(Attribute::Int { value, .. }) => {
            u64::try_from(*value).map_err(|_| cx.invalid(format!("{name} = {value}")))
        }
        _ => Ok(default),
    };
    Ok(CheckKind::Close {
        min_ulp: ulps("min_ulp_difference", 0)?,
        max_ulp: ulps("max_ulp_difference", default)?,
    })
}

fn pend(cx: &mut Cx<'_, '_>, kind: CheckKind, want: Var) -> Result<()> {
    let got = cx.var(0)?;
    if cx.lift.function.ty(got) != cx.lift.function.ty(want) {
        return Err(cx.invalid("the two tensors have different types"));
    }
    if cx.lift.in_region() {
        let holds = kind.in_program(cx, got, want)?;
        let flag = cx.stored(holds);
        cx.lift.flags.push(flag);
        return Ok(());
    }
    let place = Place { span: cx.op.span, location: cx.op.location.clone() };
    if let Some(checks) = &mut cx.lift.checks {
        checks.push(PendingCheck { kind, got, want, place });
    }
    Ok(())
}

impl Check {
    /// Compares the results of a run.
    pub fn evaluate(&self, results: &[Buffer]) -> CheckOutcome {
        let (Some(got), Some(want)) = (results.get(self.got), results.get(self.want)) else {
            return CheckOutcome::Failed { reason: String::from("the run gave too few results") };
        };
        if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
            let (a, b) = ((got.dtype(), got.shape()), (want.dtype(), want.shape()));
            return CheckOutcome::Failed {
                reason: format!("{}{:?} where {}{:?} is expected", a.0, a.1, b.0, b.1),
            };
        }
        let differ: Vec<usize> =
            (0..got.len()).filter(|&i| !self.kind.holds(got.get(i), want.get(i))).collect();
        let Some(&first) = differ.first() else {
            return CheckOutcome::Passed;
        };
        let mut index = Vec::new();
        let mut rest = first;
        for &n in got.shape().iter().rev() {
            index.insert(0, rest % n);
            rest /= n;
        }
        let (a, b) = (got.get(first), want.get(first));
        let mut reason = format!("at {index:?}: {a:?} where {b:?} is expected ({})", self.kind);
        if let CheckKind::Close { .. } = self.kind {
            match ulp_distance(a, b) {
                Some(distance) => reason += &format!(", at a distance of {distance} ulp"),
                None => reason += ", with no distance in ulp",
            }
        }
        if differ.len() > 1 {
            reason += &format!("; {} of {} elements differ", differ.len(), got.len());
        }
        CheckOutcome::Failed { reason }
    }
}

impl CheckKind {
    /// Whether all elements meet their expectation, as a value of the program: for checks inside loops and branches.
    fn in_program(self, cx: &mut Cx<'_, '_>, got: Var, want: Var) -> Result<FieldId> {
        let (a, b) = (cx.lift.function.tensor(got), cx.lift.function.tensor(want));
        let dtype = cx.dtype(a);
        let mut holds = if dtype.is_complex() && self != CheckKind::Eq {
            let mut both = Vec::new();
            for part in [UnaryOp::Real, UnaryOp::Imag] {
                let (a, b) = (cx.unary(part, a)?, cx.unary(part, b)?);
                both.push(self.elements(cx, a, b)?);
            }
            cx.binary(BinaryOp::And, both[0], both[1])?
        } else {
            self.elements(cx, a, b)?
        };
        if cx.space(holds).rank() > 0 {
            let onto = IndexMap::projection(&cx.space(holds), &[]);
            holds = cx.acc(AccOp::And, onto, holds)?;
        }
        Ok(holds)
    }

    fn elements(self, cx: &mut Cx<'_, '_>, a: FieldId, b: FieldId) -> Result<FieldId> {
        let dtype = cx.dtype(a);
        let equal = cx.binary(BinaryOp::Eq, a, b)?;
        if !dtype.is_float() || matches!(self, CheckKind::Eq | CheckKind::Inside) {
            return Ok(equal);
        }
        let (nan_a, nan_b) = (cx.binary(BinaryOp::Ne, a, a)?, cx.binary(BinaryOp::Ne, b, b)?);
        let nans = cx.binary(BinaryOp::And, nan_a, nan_b)?;
        let same = cx.binary(BinaryOp::Or, equal, nans)?;
        let (finite_a, finite_b) = (cx.unary(UnaryOp::IsFinite, a)?, cx.unary(UnaryOp::IsFinite, b)?);
        let finite = cx.binary(BinaryOp::And, finite_a, finite_b)?;
        match self {
            CheckKind::AlmostEq { tolerance } => {
                let (a, b) = (cx.convert(DType::F64, a), cx.convert(DType::F64, b));
                let difference = cx.binary(BinaryOp::Sub, a, b)?;
                let difference = cx.unary(UnaryOp::Abs, difference)?;
                let most = cx.number(difference, tolerance);
                let near = cx.binary(BinaryOp::Le, difference, most)?;
                let near = cx.binary(BinaryOp::And, near, finite)?;
                cx.binary(BinaryOp::Or, same, near)
            }
            CheckKind::Close { min_ulp, max_ulp } => {
                let (a, b) = (place(cx, a)?, place(cx, b)?);
                let (low, high) = (cx.binary(BinaryOp::Min, a, b)?, cx.binary(BinaryOp::Max, a, b)?);
                // The difference wraps around to itself as a number without a sign.
                let distance = cx.binary(BinaryOp::Sub, high, low)?;
                let distance = cx.bitcast(DType::U64, distance)?;
                let (least, most) = (ulps(cx, distance, min_ulp), ulps(cx, distance, max_ulp));
                let (above, below) =
                    (cx.binary(BinaryOp::Ge, distance, least)?, cx.binary(BinaryOp::Le, distance, most)?);
                let near = cx.binary(BinaryOp::And, above, below)?;
                let near = cx.binary(BinaryOp::And, near, finite)?;
                match min_ulp {
                    0 => cx.binary(BinaryOp::Or, same, near),
                    _ => Ok(near),
                }
            }
            CheckKind::Eq | CheckKind::Inside => Ok(equal),
        }
    }

    /// Does an element meet its expectation?
    fn holds(self, got: Scalar, want: Scalar) -> bool {
        if !got.dtype().is_float() && !got.dtype().is_complex() {
            return got == want;
        }
        match self {
            CheckKind::Eq | CheckKind::Inside => got.as_complex() == want.as_complex(),
            CheckKind::AlmostEq { tolerance } => parts(got).into_iter().zip(parts(want)).all(|(a, b)| {
                let (a, b) = (a.as_f64(), b.as_f64());
                a == b
                    || a.is_nan() && b.is_nan()
                    || (a - b).abs() <= tolerance && a.is_finite() && b.is_finite()
            }),
            CheckKind::Close { min_ulp, max_ulp } => {
                ulp_distance(got, want).is_some_and(|d| (min_ulp..=max_ulp).contains(&d))
            }
        }
    }
}

fn ulps(cx: &mut Cx<'_, '_>, like: FieldId, count: u64) -> FieldId {
    let space = cx.space(like);
    cx.constant(&space, Scalar::from_i128(DType::U64, count.into()))
}

/// Where the bits of a float stand in the order of its values.
fn place(cx: &mut Cx<'_, '_>, x: FieldId) -> Result<FieldId> {
    let (bits, least) = match cx.dtype(x).bits() {
        16 => (DType::I16, i128::from(i16::MIN)),
        32 => (DType::I32, i128::from(i32::MIN)),
        _ => (DType::I64, i128::from(i64::MIN)),
    };
    let x = cx.bitcast(bits, x)?;
    let x = cx.convert(DType::I64, x);
    let space = cx.space(x);
    let [zero, least] = [0, least].map(|n| cx.constant(&space, Scalar::from_i128(DType::I64, n)));
    let negative = cx.binary(BinaryOp::Lt, x, zero)?;
    let turned = cx.binary(BinaryOp::Sub, least, x)?;
    cx.select(negative, turned, x)
}

/// The parts of a number: one, or real and imaginary.
fn parts(x: Scalar) -> Vec<Scalar> {
    let part = x.dtype().part();
    if part == x.dtype() {
        return vec![x];
    }
    vec![Scalar::from_bits(part, x.bits()), Scalar::from_bits(part, x.bits() >> part.bits())]
}

/// The number of floats between two floats of one type, plus one if they differ; the larger of that for the parts
/// of complex numbers. NaN is at distance 0 from NaN; nothing else is at a distance from NaN or infinity.
fn ulp_distance(a: Scalar, b: Scalar) -> Option<u64> {
    let pairs = parts(a).into_iter().zip(parts(b));
    pairs.map(|(a, b)| part_distance(a, b)).try_fold(0, |worst, d| Some(worst.max(d?)))
}

fn part_distance(a: Scalar, b: Scalar) -> Option<u64> {
    let (x, y) = (a.as_f64(), b.as_f64());
    if x == y || x.is_nan() && y.is_nan() {
        return Some(0);
    }
    if !x.is_finite() || !y.is_finite() {
        return None;
    }
    let place = |s: Scalar| {
        let sign = 1u128 << (s.dtype().bits() - 1);
        let magnitude = (s.bits() & (sign - 1)) as i128;
        if s.bits() & sign != 0 { -magnitude } else { magnitude }
    };
    u64::try_from(place(a).abs_diff(place(b))).ok()
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckKind::Eq => f.write_str("equal"),
            CheckKind::AlmostEq { tolerance } => write!(f, "within {tolerance}"),
            CheckKind::Inside => f.write_str("a check inside a loop or branch"),
            CheckKind::Close { min_ulp: 0, max_ulp } => write!(f, "within {max_ulp} ulp"),
            CheckKind::Close { min_ulp, max_ulp } => write!(f, "at a distance of {min_ulp} to {max_ulp} ulp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: CheckKind, dtype: DType, got: f64, want: f64) -> bool {
        let buffer = |v| Buffer::splat(Scalar::from_f64(dtype, v), &[2]);
        let check = Check { kind, got: 0, want: 1, place: Place::default() };
        check.evaluate(&[buffer(got), buffer(want)]) == CheckOutcome::Passed
    }

    #[test]
    fn equality_is_that_of_ieee() {
        assert!(outcome(CheckKind::Eq, DType::F32, 0.0, -0.0));
        assert!(!outcome(CheckKind::Eq, DType::F32, f64::NAN, f64::NAN));
        assert!(outcome(CheckKind::Eq, DType::I32, 7.0, 7.0));
        assert!(!outcome(CheckKind::Eq, DType::I32, 7.0, 8.0));
    }

    #[test]
    fn tolerance_is_absolute() {
        let kind = CheckKind::AlmostEq { tolerance: 0.5 };
        assert!(outcome(kind, DType::F64, 1.0, 1.5));
        assert!(!outcome(kind, DType::F64, 1.0, 1.75));
        assert!(outcome(kind, DType::F64, f64::NAN, f64::NAN));
        assert!(outcome(kind, DType::F64, f64::INFINITY, f64::INFINITY));
        assert!(!outcome(kind, DType::F64, f64::INFINITY, f64::NEG_INFINITY));
        assert!(!outcome(kind, DType::F64, f64::INFINITY, 1.0));
        assert!(!outcome(kind, DType::I8, 1.0, 2.0));
    }

    #[test]
    fn distance_goes_through_zero() {
        let f32_of = |bits: u32| Scalar::from_bits(DType::F32, bits.into());
        assert_eq!(ulp_distance(f32_of(1), f32_of(0x8000_0001)), Some(2));
        assert_eq!(ulp_distance(f32_of(0), f32_of(0x8000_0000)), Some(0));
        assert_eq!(ulp_distance(f32_of(0x7F80_0000), f32_of(0x7F7F_FFFF)), None);
        assert_eq!(ulp_distance(f32_of(0x7FC0_0000), f32_of(0x7FC0_0001)), Some(0));
        let one = Scalar::from_f64(DType::F64, 1.0);
        assert_eq!(ulp_distance(one, Scalar::from_bits(DType::F64, one.bits() + 5)), Some(5));
        let kind = CheckKind::Close { min_ulp: 1, max_ulp: 3 };
        assert!(!outcome(kind, DType::F32, 1.0, 1.0));
        assert!(outcome(kind, DType::F16, 1.0, 1.0009765625));
        // Complex numbers: the worse part.
        let z = |re: u32, im: u32| Scalar::from_bits(DType::C64, u128::from(re) | u128::from(im) << 32);
        assert_eq!(ulp_distance(z(10, 20), z(12, 27)), Some(7));
    }

    #[test]
    fn says_what_differs() {
        let values = |v: [i128; 4]| {
            let v = v.map(|v| Scalar::from_i128(DType::I32, v));
            Buffer::from_scalars(DType::I32, &[2, 2], &v).unwrap()
        };
        let check = Check { kind: CheckKind::Eq, got: 0, want: 1, place: Place::default() };
        let outcome = check.evaluate(&[values([1, 2, 3, 4]), values([1, 2, 5, 5])]);
        let reason = "at [1, 0]: 3i32 where 5i32 is expected (equal); 2 of 4 elements differ";
        assert_eq!(outcome, CheckOutcome::Failed { reason: reason.to_string() });
    }
}
