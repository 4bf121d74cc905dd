//! The dialects `check` and `interpreter`: expectations on values, probes, and programs that run side by side.

use super::error::{Error, ErrorKind, Result};
use super::machine::{Call, Values};
use super::number::{C, Scalar};
use super::value::{Budget, Tensor, Value};
use super::Work;
use super::world::Feed;
use crate::attr::Attribute;
use crate::float;
use crate::types::ElementType;

/// How near a value has to be to what is expected.
#[derive(Clone, Copy)]
enum Near {
    /// Equal; as floats compare, so that NaN equals nothing.
    Equal,
    /// At most so far; infinities are equal or not, NaN equals NaN.
    Within(f64),
    /// So many units in the last place at least and at most; NaN equals NaN.
    Ulps(u64, u64),
}

/// Where the bits of a float stand in the order of its values.
fn ordered(element: &ElementType, v: f64) -> i128 {
    let bits = float::encode(element, v).unwrap_or(0);
    let width = element.bits().unwrap_or(64);
    let sign = 1u64 << (width - 1);
    let magnitude = i128::from(bits & !sign);
    if bits & sign == 0 { magnitude } else { -magnitude }
}

impl Near {
    fn floats(self, element: &ElementType, a: f64, b: f64) -> bool {
        match self {
            Near::Equal => a == b,
            _ if a.is_nan() || b.is_nan() => a.is_nan() && b.is_nan(),
            Near::Within(tolerance) => match a.is_infinite() || b.is_infinite() {
                true => a == b,
                false => (a - b).abs() <= tolerance,
            },
            Near::Ulps(least, most) => {
                if a.is_infinite() != b.is_infinite() {
                    return false;
                }
                let distance = (ordered(element, a) - ordered(element, b)).unsigned_abs();
                (u128::from(least)..=u128::from(most)).contains(&distance)
            }
        }
    }

    fn holds(self, element: &ElementType, a: Scalar, b: Scalar) -> bool {
        match (a, b) {
            (Scalar::I(a), Scalar::I(b)) => match self {
                Near::Equal => a == b,
                Near::Within(tolerance) => (a as f64 - b as f64).abs() <= tolerance,
                Near::Ulps(least, most) => (least..=most).contains(&a.abs_diff(b)),
            },
            (Scalar::C(C { re, im }), Scalar::C(b)) => {
                let part = element.real_part();
                self.floats(&part, re, b.re) && self.floats(&part, im, b.im)
            }
            (a, b) => self.floats(element, a.float(), b.float()),
        }
    }
}

/// An error where two tensors differ, with the first position where they do.
fn compare(found: &Tensor, wanted: &Tensor, near: Near) -> Result<()> {
    let fail = |message: String| Err(Error::new(ErrorKind::Check, message));
    if found.shape != wanted.shape || found.element != wanted.element {
        return fail(format!("{} where {} is expected", found.ty(), wanted.ty()));
    }
    let (a, b) = (found.elements()?, wanted.elements()?);
    let n = found.len();
    let differs = |i: &usize| !near.holds(&found.element, a.at(*i), b.at(*i));
    let Some(first) = (0..n).find(differs) else { return Ok(()) };
    let count = (first..n).filter(differs).count();
    let mut index = Vec::new();
    for (size, stride) in found.shape.iter().zip(super::value::strides(&found.shape)) {
        index.push(first / stride % size);
    }
    fail(format!(
        "found {} where {} is expected at index {index:?}; {count} of {n} elements differ",
        text(&found.element, a.at(first)),
        text(&found.element, b.at(first))
    ))
}

fn text(element: &ElementType, value: Scalar) -> String {
    match value {
        Scalar::I(v) if *element == ElementType::U64 => (v as u64).to_string(),
        Scalar::I(v) => v.to_string(),
        Scalar::F(v) => format!("{v:?}"),
        Scalar::C(v) => format!("({:?}, {:?})", v.re, v.im),
    }
}

/// Tolerance of `expect_almost_eq` where none is given.
const TOLERANCE: f64 = 1e-4;

impl<'m> Call<'_, 'm> {
    pub(crate) fn check(&mut self, short: &str) -> Values {
        let near = match short.trim_end_matches("_const") {
            "expect_eq" => Near::Equal,
            "expect_almost_eq" => Near::Within(match self.op.attributes.contains("tolerance") {
                true => self.op.float("tolerance")?,
                false => TOLERANCE,
            }),
            "expect_close" => {
                let ulps = |name: &str| self.op.attributes.get(name).and_then(Attribute::as_i64);
                Near::Ulps(
                    ulps("min_ulp_difference").unwrap_or(0).unsigned_abs(),
                    ulps("max_ulp_difference").unwrap_or(0).unsigned_abs(),
                )
            }
            "expect_serialized_eq" => return self.check_probe(),
            _ => return Err(Error::unsupported("no such operation here")),
        };
        match self.op.attributes.get("value") {
            Some(Attribute::Dense(dense)) => {
                let wanted = Tensor::from_dense(dense);
                let wanted = wanted.ok_or_else(|| Error::unsupported(format!("elements {}", dense.ty)))?;
                let shape = wanted.shape.clone();
                compare(self.tensor(0)?, &wanted.with(self.tensor(0)?.element.clone(), shape), near)?;
            }
            _ => compare(self.tensor(0)?, self.tensor(1)?, near)?,
        }
        Ok(Vec::new())
    }

    /// The checks that tests of StableHLO call.
    pub(crate) fn check_call(&mut self, check: &str) -> Values {
        let float = !self.tensor(0)?.element.is_integer();
        let near = match check {
            "expect_eq" => Near::Equal,
            "expect_almost_eq" => Near::Within(1e-3),
            "expect_close" => Near::Ulps(0, 3),
            "eq" => if float { Near::Within(TOLERANCE) } else { Near::Equal },
            _ => return Err(Error::unsupported("no such check")),
        };
        compare(self.tensor(0)?, self.tensor(1)?, near)?;
        Ok(Vec::new())
    }

    /// The value is what a probe of this name has seen.
    fn check_probe(&mut self) -> Values {
        let id = self.op.string("probe_id")?;
        let iteration = match self.op.attributes.get("iteration") {
            Some(attribute) => attribute.as_i64().unwrap_or(0),
            None => 0,
        };
        let seen = usize::try_from(iteration).ok().and_then(|i| self.machine.process.world.probed(id, i));
        let Some(Value::Tensor(seen)) = seen else {
            let message = format!("no probe '{id}' has seen a value number {iteration}");
            return Err(Error::new(ErrorKind::Check, message));
        };
        let found = self.tensor(0)?;
        if *found == seen {
            return Ok(Vec::new());
        }
        compare(found, &seen, Near::Ulps(0, 0))?;
        Ok(Vec::new())
    }

    pub(crate) fn interpreter(&mut self, short: &str) -> Values {
        let world = self.machine.process.world;
        match short {
            "print" => {
                let value = self.args.first().cloned().unwrap_or(Value::Token);
                let line = match value.as_tensor() {
                    Some(tensor) => {
                        let scalars = tensor.scalars()?;
                        let texts: Vec<String> = scalars.iter().map(|v| text(&tensor.element, *v)).collect();
                        format!("{} [{}]", tensor.ty(), texts.join(", "))
                    }
                    None => value.describe(),
                };
                world.print(line);
                Ok(Vec::new())
            }
            "probe" => {
                let value = self.args.first().cloned().unwrap_or(Value::Token);
                world.probe(self.op.string("probe_id")?, value);
                Ok(std::mem::take(&mut self.args))
            }
            "run_parallel" => self.run_parallel(),
            _ => Err(Error::unsupported("no such operation here")),
        }
    }

    /// Programs by rows of replicas; the operands are the arguments of all, one after the other.
    fn run_parallel(&mut self) -> Values {
        let wrong = || Error::invalid("'programs' is no array of arrays of functions");
        let Attribute::Array(rows) = self.op.attribute("programs")? else { return Err(wrong()) };
        let mut args = std::mem::take(&mut self.args).into_iter();
        let mut grid = Vec::new();
        for row in rows {
            let Attribute::Array(names) = row else { return Err(wrong()) };
            let mut line = Vec::new();
            for name in names {
                let Attribute::Symbol(path) = name else { return Err(wrong()) };
                let function = self.machine.function(path.last().ok_or_else(wrong)?)?;
                let own: Vec<Value> = args.by_ref().take(function.params.len()).collect();
                line.push((Work::Function(function), own));
            }
            grid.push(line);
        }
        let interpreter = self.machine.interpreter;
        let world = interpreter.world(&grid)?;
        if let Some(Attribute::Array(names)) = self.op.attributes.get("infeed") {
            for name in names {
                let Attribute::Symbol(path) = name else {
                    return Err(Error::invalid("'infeed' is no array of functions"));
                };
                world.feed([Feed::Function(path.last().cloned().unwrap_or_default())]);
            }
        }
        let budget = Budget::current().unwrap_or_else(|| Budget::new(u64::MAX));
        let results = interpreter.run_world(&world, &grid, &budget);
        self.machine.process.world.absorb(&world);
        results
    }
}
