//! How operations compute sizes: integers from sizes alone become expressions, comparisons of them facts, and assertions
//! what a run checks (reference/extents.md, section 2.4).

use super::cx::Cx;
use super::sizes::{Known, MAX_ELEMENTS, depends_on_data, integer, number};
use super::state::{Lifter, Result, Value};
use super::types;
use crate::error::{LiftError, Place};
use std::sync::Arc;
use surject_index::{Extent, Fact, Observed, Relation, UnsupportedDynamicShape, Verdict};
use surject_ir::{DType, Scalar, TensorType};
use surject_stablehlo as hlo;
use surject_stablehlo::Attribute;

impl Cx<'_, '_> {
    /// The elements of a small integer operand, as expressions over sizes.
    pub(crate) fn known(&mut self, i: usize) -> Result<Option<Known>> {
        let value = self.value(i)?;
        let tracked = |elements: Vec<Extent>| Ok(Some(Known { elements: elements.into(), tracked: true }));
        match &value {
            Value::Sizes { elements, .. } => {
                return Ok(Some(Known { elements: elements.clone(), tracked: true }));
            }
            Value::Splat(space, scalar) if space.rank() <= 2 && is_integer(scalar.dtype()) => {
                let count = space.points().filter(|&n| n <= MAX_ELEMENTS);
                let Some((count, value)) = count.zip(scalar.as_i128().and_then(integer)) else {
                    return Ok(None);
                };
                return tracked(vec![value; count as usize]);
            }
            Value::Var(_) => {}
            _ => return Ok(None),
        }
        if let Some(elements) = self.lift.sizes.beside.get(&self.op.operands[i]) {
            return Ok(Some(Known { elements: elements.clone(), tracked: true }));
        }
        let Value::Var(var) = value else { return Ok(None) };
        let ty = self.lift.function.ty(var).clone();
        let count = ty.space.points().filter(|&n| n <= MAX_ELEMENTS && ty.space.rank() <= 2);
        let Some(count) = count.filter(|_| is_integer(ty.dtype)) else { return Ok(None) };
        let elements: Vec<Extent> = (0..count as usize).map(|k| self.lift.named(var, k)).collect();
        Ok(Some(Known { elements: elements.into(), tracked: false }))
    }

    /// What a condition says of sizes, where it is one of sizes.
    pub(crate) fn condition(&self, i: usize) -> Result<Option<Arc<[Fact]>>> {
        Ok(match self.value(i)? {
            Value::Condition(facts) => Some(facts),
            Value::Splat(space, scalar) if space.rank() == 0 && scalar.dtype() == DType::I1 => {
                Some(if scalar == Scalar::bool(true) { Arc::from([]) } else { Arc::from([never()]) })
            }
            _ => None,
        })
    }

    /// Sizes that an operand gives, exact: each is at least 0, which a run checks where it is not certain.
    pub(crate) fn sizes_of(&mut self, i: usize, field: &str) -> Result<Vec<Extent>> {
        let mut sizes = self.integers_of(i, field)?;
        for (k, size) in sizes.iter_mut().enumerate() {
            let field = format!("{field}[{k}]");
            match self.lift.by_scalar(size) {
                Some(exact) => *size = exact,
                None => return Err(self.lift.undecided(self.op, &field, size, None)),
            }
            if size.as_const().is_none() {
                let fact = Fact::new(Extent::Const(0), Relation::Le, size.clone());
                self.lift.require(self.op, &field, fact)?;
            }
        }
        Ok(sizes)
    }

    /// Integers that an operand gives, as expressions.
    pub(crate) fn integers_of(&mut self, i: usize, field: &str) -> Result<Vec<Extent>> {
        match self.known(i)? {
            Some(known) => Ok(known.elements.to_vec()),
            None => {
                let shape = UnsupportedDynamicShape {
                    primitive: self.op.name.to_string(),
                    field: field.to_string(),
                    needed: "the exact size",
                    observed: Observed::Unknown,
                };
                let place = Place::of(self.op);
                Err(LiftError::Dynamic { shape: Box::new(shape), fact: None, place })
            }
        }
    }

    /// Integers that an operand gives, which must be numbers.
    pub(crate) fn numbers_of(&mut self, i: usize, field: &str) -> Result<Vec<i64>> {
        let all = self.integers_of(i, field)?;
        let numbers = all.iter().enumerate().map(|(k, e)| {
            let value = number(e).and_then(|v| i64::try_from(v).ok());
            value.ok_or_else(|| self.lift.undecided(self.op, &format!("{field}[{k}]"), e, None))
        });
        numbers.collect()
    }
}

fn is_integer(dtype: DType) -> bool {
    dtype.is_int() && !dtype.is_bool()
}

/// Lifts an operation that computes integers from sizes alone. `false` if it is to be lifted as one on data.
pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<bool> {
    if cx.lift.mapped.is_some() || cx.op.results.len() != 1 {
        return Ok(false);
    }
    let Some(name) = cx.op.name.strip_prefix("stablehlo.") else { return Ok(false) };
    let declared = cx.lift.module.tensor(cx.op.results[0]);
    let Some(ty) = declared.filter(|t| t.rank() <= 2 && t.static_shape().is_some()) else {
        return Ok(false);
    };
    let Some(dtype) = types::dtype(&ty.element) else { return Ok(false) };
    if !is_integer(dtype) && dtype != DType::I1 {
        return Ok(false);
    }
    let ty = cx.result_type(0)?;
    let Some(count) = ty.space.points().filter(|&n| n <= MAX_ELEMENTS) else { return Ok(false) };
    if dtype == DType::I1 {
        return condition(cx, name, &ty);
    }
    let found = match name {
        "get_dimension_size" => {
            let own = cx.operand_type(0)?.space;
            let axis = cx.attr(cx.op.int("dimension"))?;
            let axis = types::axis(cx.op, axis, own.rank(), "dimension")?;
            Some((vec![own.extent(axis).clone()], true))
        }
        "constant" => literal(cx, &ty)?.map(|elements| (elements, true)),
        _ => computed(cx, name, count as usize)?,
    };
    let Some((elements, tracked)) = found else { return Ok(false) };
    let elements: Vec<Extent> = elements.into_iter().map(|e| cx.lift.tidy(e)).collect();
    // What does not fit its type is data, which wraps.
    let range = integer_range(dtype);
    let fits = |e: &Extent| number(e).is_none_or(|v| range.is_some_and(|(lo, hi)| lo <= v && v <= hi));
    if elements.len() as u64 != count || !elements.iter().all(fits) || !tracked {
        return Ok(false);
    }
    let elements: Arc<[Extent]> = elements.into();
    if depends_on_data(&elements) {
        cx.lift.sizes.beside.insert(cx.op.results[0], elements);
        return Ok(false);
    }
    if elements.is_empty() {
        cx.bind(0, Value::Splat(ty.space, Scalar::zero(dtype)))?;
        return Ok(true);
    }
    cx.bind(0, Value::Sizes { dtype, space: ty.space, elements })?;
    Ok(true)
}

/// The least and the largest number of a type.
fn integer_range(dtype: DType) -> Option<(i128, i128)> {
    let bits = Some(dtype.bits()).filter(|&b| (1..=64).contains(&b))?;
    let half = 1i128 << (bits - 1);
    Some(if dtype.is_signed_int() { (-half, half - 1) } else { (0, 2 * half - 1) })
}

fn literal(cx: &Cx<'_, '_>, ty: &TensorType) -> Result<Option<Vec<Extent>>> {
    let value = cx.attr(cx.op.dense("value"))?;
    Ok(match types::literal(cx.op, value, ty)? {
        // Equal elements are a constant wherever they are used.
        types::Literal::Splat(_) => None,
        types::Literal::Dense(buffer) => {
            (0..buffer.len()).map(|k| buffer.get(k).as_i128().and_then(integer)).collect()
        }
    })
}

/// Integers that are computed from others, and whether that is known rather than only named.
fn computed(cx: &mut Cx<'_, '_>, name: &str, count: usize) -> Result<Option<(Vec<Extent>, bool)>> {
    const MOVES: [&str; 5] = ["reshape", "concatenate", "convert", "broadcast_in_dim", "slice"];
    const ARITHMETIC: [&str; 10] = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "remainder",
        "maximum",
        "minimum",
        "negate",
        "clamp",
        "sign",
    ];
    let moves = MOVES.contains(&name);
    if name == "select" {
        return chosen(cx);
    }
    if !moves && !ARITHMETIC.contains(&name) {
        return Ok(None);
    }
    let mut operands = Vec::new();
    for i in 0..cx.op.operands.len() {
        let Some(known) = cx.known(i)? else { return Ok(None) };
        operands.push(known);
    }
    let Some(first) = operands.first() else { return Ok(None) };
    let tracked = moves || operands.iter().any(|k| k.tracked);
    let elements = match name {
        "reshape" | "convert" => first.elements.to_vec(),
        "broadcast_in_dim" if first.elements.len() == 1 => vec![first.elements[0].clone(); count],
        // Which axis the elements lie along matters for matrices alone.
        "broadcast_in_dim" if first.elements.len() == count => first.elements.to_vec(),
        "broadcast_in_dim" => return Ok(None),
        "concatenate" if cx.op.int("dimension").ok() != Some(0) => return Ok(None),
        "slice" if cx.operand_type(0)?.space.rank() != 1 => return Ok(None),
        "concatenate" => operands.iter().flat_map(|k| k.elements.iter().cloned()).collect(),
        "slice" => {
            let (starts, strides) = (cx.ints("start_indices", 1)?, cx.ints("strides", 1)?);
            let at = |k: usize| starts[0].checked_add(strides[0].checked_mul(k as i64)?);
            let element = |k| at(k).and_then(|p| first.elements.get(usize::try_from(p).ok()?).cloned());
            match (0..count).map(element).collect() {
                Some(elements) => elements,
                None => return Ok(None),
            }
        }
        _ => {
            let one = |k: usize| {
                let operand = |i: usize| {
                    let elements = &operands.get(i)?.elements;
                    elements.get(if elements.len() == 1 { 0 } else { k })
                };
                arithmetic(cx.lift, name, operand(0)?, operand(1), operand(2))
            };
            match (0..count).map(one).collect() {
                Some(elements) => elements,
                None => return Ok(None),
            }
        }
    };
    Ok(Some((elements, tracked)))
}

/// `select` with a condition that is decided.
fn chosen(cx: &mut Cx<'_, '_>) -> Result<Option<(Vec<Extent>, bool)>> {
    let Some(facts) = cx.condition(0)? else { return Ok(None) };
    let side = match decided(cx.lift, &facts) {
        Some(true) => 1,
        Some(false) => 2,
        None => return either(cx, &facts),
    };
    Ok(cx.known(side)?.map(|k| (k.elements.to_vec(), k.tracked)))
}

/// A choice that depends on the sizes, as arithmetic: `b + (a - b)*[facts]`, where `[facts]` is 1 if they hold and else 0.
fn either(cx: &mut Cx<'_, '_>, facts: &[Fact]) -> Result<Option<(Vec<Extent>, bool)>> {
    let (Some(a), Some(b)) = (cx.known(1)?, cx.known(2)?) else { return Ok(None) };
    let lift = &*cx.lift;
    let (zero, one) = (Extent::Const(0), Extent::Const(1));
    let mut holds = one.clone();
    for fact in facts.iter().filter(|f| !lift.sizes.facts.holds(f).is_yes()) {
        let (up, down) = (lift.minus(&fact.right, &fact.left), lift.minus(&fact.left, &fact.right));
        let clamped = |size: &Extent| lift.smaller(&lift.larger(size, &zero), &one);
        let differs = || lift.smaller(&lift.larger(&up, &down), &one);
        let this = match fact.relation {
            Relation::Lt => clamped(&up),
            Relation::Le => clamped(&lift.plus(&up, &one)),
            Relation::Ne => differs(),
            Relation::Eq => lift.minus(&one, &differs()),
            Relation::Divides => return Ok(None),
        };
        holds = lift.times(&holds, &this);
    }
    let one = |(a, b): (&Extent, &Extent)| lift.plus(b, &lift.times(&lift.minus(a, b), &holds));
    let elements: Vec<Extent> = a.elements.iter().zip(b.elements.iter()).map(one).collect();
    Ok(Some((elements, a.tracked && b.tracked)))
}

/// One operation on integers. `None` where its result is no expression, or not certain to be this one.
fn arithmetic(
    lift: &Lifter<'_>,
    name: &str,
    a: &Extent,
    b: Option<&Extent>,
    c: Option<&Extent>,
) -> Option<Extent> {
    let zero = Extent::Const(0);
    if let (Some(x), Some(y)) = (number(a), b.and_then(number)) {
        // Division and rest truncate.
        match name {
            "divide" => return integer(x.checked_div(y)?),
            "remainder" => return integer(x.checked_rem(y)?),
            _ => {}
        }
    }
    let holds = |l: &Extent, relation, r: &Extent| lift.sizes.facts.compare(l, relation, r).is_yes();
    let divides =
        |x: &Extent, y: &Extent| holds(&zero, Relation::Le, x) && holds(&Extent::Const(1), Relation::Le, y);
    Some(match name {
        "negate" => lift.minus(&zero, a),
        "sign" => match number(a) {
            Some(value) => integer(value.signum())?,
            None if holds(&Extent::Const(1), Relation::Le, a) => Extent::Const(1),
            None if holds(&zero, Relation::Le, a) => Extent::min(a.clone(), Extent::Const(1)),
            None if holds(a, Relation::Lt, &zero) => lift.minus(&zero, &Extent::Const(1)),
            None => return None,
        },
        "add" => lift.plus(a, b?),
        "subtract" => lift.minus(a, b?),
        "multiply" => lift.times(a, b?),
        "maximum" => lift.larger(a, b?),
        "minimum" => lift.smaller(a, b?),
        "clamp" => lift.smaller(&lift.larger(b?, a), c?),
        // Below zero, division truncates towards it.
        "divide" if divides(&lift.minus(&zero, a), b?) && !divides(a, b?) => {
            lift.minus(&zero, &lift.tidy(Extent::floor_div(lift.minus(&zero, a), b?.clone())))
        }
        "remainder" if divides(&lift.minus(&zero, a), b?) && !divides(a, b?) => {
            lift.minus(&zero, &Extent::modulo(lift.minus(&zero, a), b?.clone()))
        }
        "divide" if divides(a, b?) => lift.tidy(Extent::floor_div(a.clone(), b?.clone())),
        "remainder" if divides(a, b?) => Extent::modulo(a.clone(), b?.clone()),
        _ => return None,
    })
}

/// Lifts an operation on conditions about sizes.
fn condition(cx: &mut Cx<'_, '_>, name: &str, ty: &TensorType) -> Result<bool> {
    if ty.space.rank() != 0 {
        return Ok(false);
    }
    let found = match name {
        "compare" => match (cx.condition(0)?, cx.condition(1)?) {
            (Some(a), Some(b)) => unlike(cx, &a, &b)?,
            _ => comparison(cx)?,
        },
        "and" => match (cx.condition(0)?, cx.condition(1)?) {
            (Some(a), Some(b)) => Some(a.iter().chain(b.iter()).cloned().collect()),
            _ => None,
        },
        "not" => cx.condition(0)?.and_then(|facts| opposite(cx.lift, &facts)),
        _ => None,
    };
    let Some(facts) = found else { return Ok(false) };
    cx.bind(0, Value::Condition(facts.into()))?;
    Ok(true)
}

/// What a comparison of integers says of sizes.
fn comparison(cx: &mut Cx<'_, '_>) -> Result<Option<Vec<Fact>>> {
    let (Some(a), Some(b)) = (cx.known(0)?, cx.known(1)?) else { return Ok(None) };
    let both = [a.elements[0].clone(), b.elements[0].clone()];
    if depends_on_data(&both) || !a.tracked || !b.tracked {
        return Ok(None);
    }
    let [a, b] = both;
    Ok(Some(vec![match cx.attr(cx.op.compare_direction())? {
        "EQ" => Fact::new(a, Relation::Eq, b),
        "NE" => Fact::new(a, Relation::Ne, b),
        "LE" => Fact::new(a, Relation::Le, b),
        "LT" => Fact::new(a, Relation::Lt, b),
        "GE" => Fact::new(b, Relation::Le, a),
        "GT" => Fact::new(b, Relation::Lt, a),
        _ => return Ok(None),
    }]))
}

/// Whether two conditions are equal or not, where at least one of them is decided.
fn unlike(cx: &Cx<'_, '_>, a: &[Fact], b: &[Fact]) -> Result<Option<Vec<Fact>>> {
    let same = match cx.attr(cx.op.compare_direction())? {
        "EQ" => true,
        "NE" => false,
        _ => return Ok(None),
    };
    let (other, decided) = match (decided(cx.lift, a), decided(cx.lift, b)) {
        (_, Some(b)) => (a, b),
        (Some(a), None) => (b, a),
        (None, None) => return Ok(None),
    };
    Ok(if same == decided { Some(other.to_vec()) } else { opposite(cx.lift, other) })
}

/// Whether all of these hold, if it is known.
fn decided(lift: &Lifter<'_>, facts: &[Fact]) -> Option<bool> {
    let answers: Vec<Verdict> = facts.iter().map(|f| lift.sizes.facts.holds(f)).collect();
    if answers.iter().all(|a| a.is_yes()) {
        return Some(true);
    }
    answers.contains(&Verdict::No(())).then_some(false)
}

/// The statement that not all of these hold, where one fact says it.
fn opposite(lift: &Lifter<'_>, facts: &[Fact]) -> Option<Vec<Fact>> {
    match decided(lift, facts) {
        Some(true) => return Some(vec![never()]),
        Some(false) => return Some(Vec::new()),
        None => {}
    }
    let open: Vec<&Fact> = facts.iter().filter(|f| !lift.sizes.facts.holds(f).is_yes()).collect();
    let [fact] = open[..] else { return None };
    let Fact { left, relation, right } = fact.clone();
    Some(vec![match relation {
        Relation::Eq => Fact::new(left, Relation::Ne, right),
        Relation::Ne => Fact::new(left, Relation::Eq, right),
        Relation::Le => Fact::new(right, Relation::Lt, left),
        Relation::Lt => Fact::new(right, Relation::Le, left),
        Relation::Divides => return None,
    }])
}

/// What never holds.
fn never() -> Fact {
    Fact::new(Extent::Const(0), Relation::Eq, Extent::Const(1))
}

/// Whether the condition of a loop is certain not to hold of the values that come in: its body never runs, and its sizes need
/// not make sense.
pub(super) fn never_runs<'m>(
    cx: &mut Cx<'_, 'm>,
    condition: &'m hlo::Region,
    inits: Vec<Value>,
) -> Result<bool> {
    let statements = cx.lift.statements_so_far();
    let results = cx.lift.inline(cx.op, condition, inits);
    cx.lift.take_back(statements);
    Ok(match results?.as_slice() {
        [Value::Condition(facts)] => decided(cx.lift, facts) == Some(false),
        _ => false,
    })
}

/// `custom_call @shape_assertion`: what the program needs of the sizes, checked by every run.
pub(super) fn assertion(cx: &mut Cx<'_, '_>) -> Result<()> {
    let Some(facts) = cx.condition(0)? else {
        return Err(cx.unsupported("a `shape_assertion` on what is not known to be a condition on sizes"));
    };
    let message = assertion_message(cx)?;
    for fact in facts.iter() {
        cx.lift.require(cx.op, "the assertion", fact.clone()).map_err(|e| match e {
            LiftError::Sizes { op, field, fact, place, .. } => {
                LiftError::Sizes { op, field, fact, message: message.clone(), place }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// The message of an assertion, with the numbers that are known in place of `{0}`, `{1}`, ….
fn assertion_message(cx: &mut Cx<'_, '_>) -> Result<Option<Box<str>>> {
    let Some(Attribute::String(message)) = cx.op.attributes.get("error_message") else { return Ok(None) };
    let mut message = message.to_string();
    for i in 1..cx.op.operands.len() {
        if let Some(known) = cx.known(i)?
            && let [element] = &*known.elements
        {
            message = message.replace(&format!("{{{}}}", i - 1), &element.to_string());
        }
    }
    Ok(Some(message.into()))
}
