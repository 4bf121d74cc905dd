//! Values to try a rule on: the numbers that it mentions and what is near to them, every magnitude of the element
//! type, its ends and its special values.

use super::rng::Rng;
use crate::ast::{Argument, Pattern, PatternKind, Rule};
use surject_ir::{AccOp, DType, Scalar};

/// The values of one element type.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// Small numbers, the numbers of the rule and their neighbours, ends, special values: the most telling first.
    pub core: Vec<Scalar>,
    /// Numbers of every magnitude.
    pub sweep: Vec<Scalar>,
    /// Infinities and NaN, where the rule does not exclude them.
    pub special: Vec<Scalar>,
}

/// The numbers that a rule mentions, and what is computed from one or two of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// As they stand in the rule, without 0, 1 and −1.
    pub own: Vec<f64>,
    /// What a computation on the way to them starts from: doubles, halves, squares, roots, logarithms, sums.
    derived: Vec<f64>,
}

impl Numbers {
    /// Of both sides and the conditions.
    pub fn of(rule: &Rule) -> Numbers {
        let mut own = Vec::new();
        mentioned(&rule.left, &mut own);
        mentioned(&rule.right, &mut own);
        let conditions = rule.conditions.iter().flat_map(|c| &c.args);
        own.extend(conditions.filter_map(|a| if let Argument::Number(x, _) = a { Some(*x) } else { None }));
        own.retain(|x| x.is_finite() && !matches!(x.abs(), 0.0 | 1.0));
        own.iter_mut().for_each(|x| *x = x.abs());
        own.sort_by(f64::total_cmp);
        own.dedup();
        own.truncate(8);
        let mut derived = Vec::new();
        for &c in &own {
            derived.extend([2.0 * c, c / 2.0, 10.0 * c, 1000.0 * c, c * c, c.sqrt(), 1.0 / c]);
            derived.extend([c.ln(), c.exp(), c.exp2(), c.log2(), c.tanh(), c.atanh(), c * c * c, c.cbrt()]);
        }
        for (i, &a) in own.iter().enumerate() {
            for &b in &own[..i] {
                derived.extend([a + b, a - b, a * b, a / b, (a + b) / 2.0]);
            }
        }
        derived.retain(|x| x.is_finite());
        Numbers { own, derived }
    }
}

fn mentioned(pattern: &Pattern, found: &mut Vec<f64>) {
    if let PatternKind::Number(value) = &pattern.kind {
        found.push(*value);
    }
    pattern.children().into_iter().for_each(|c| mentioned(c, found));
}

impl Pool {
    /// The values of a type; infinities and NaN where `special` says so.
    pub fn new(dtype: DType, numbers: &Numbers, special: bool) -> Pool {
        let mut rng = Rng::new(7 + dtype as u64);
        let mut pool = match dtype {
            DType::I1 => Pool {
                core: vec![Scalar::bool(false), Scalar::bool(true)],
                sweep: Vec::new(),
                special: Vec::new(),
            },
            d if d.is_float() => floats(d, numbers, special, &mut rng),
            d if d.is_complex() => complex(d, numbers, special),
            d => integers(d, numbers, &mut rng),
        };
        let mut seen = std::collections::HashSet::new();
        pool.core.retain(|v| seen.insert(*v));
        pool.sweep.retain(|v| seen.insert(*v));
        pool
    }

    /// Any of them, the core half of the time.
    pub fn any(&self, rng: &mut Rng) -> Option<Scalar> {
        match rng.below(8) {
            0 if !self.special.is_empty() => rng.pick(&self.special),
            1..=4 => rng.pick(&self.sweep).or_else(|| rng.pick(&self.core)),
            _ => rng.pick(&self.core),
        }
    }
}

/// The float after this one, or before it.
pub(super) fn next(x: Scalar, up: bool) -> Scalar {
    let dtype = x.dtype();
    let sign = 1u128 << (dtype.bits() - 1);
    let size = x.bits() & !sign;
    let negative = x.bits() & sign != 0;
    let bits = match (size, negative == up) {
        (0, _) => 1 | if up { 0 } else { sign },
        (_, true) => (size - 1) | (x.bits() & sign),
        (_, false) => (size + 1) | (x.bits() & sign),
    };
    Scalar::from_bits(dtype, bits)
}

fn floats(dtype: DType, numbers: &Numbers, special: bool, rng: &mut Rng) -> Pool {
    let of = |x: f64| Scalar::from_f64(dtype, x);
    let mut core: Vec<Scalar> =
        [0.0, 1.0, -1.0, -0.0, 2.0, 0.5, -2.0, 3.0, -0.5, -3.0, 0.1, 7.0].map(of).to_vec();
    for &c in &numbers.own {
        for x in [c, -c] {
            let x = of(x);
            core.extend([x, next(x, true), next(x, false), of(x.as_f64() + 1.0), of(x.as_f64() - 1.0)]);
        }
        core.extend([2.0 * c, -2.0 * c, c / 2.0, 10.0 * c, -10.0 * c, c + 0.5, c - 0.5].map(of));
    }
    // Where functions leave the type or reach their limits.
    let thresholds = [10.0, 12.0, 17.0, 20.0, 40.0, 89.0, 100.0, 104.0, 200.0, 710.0, 750.0, 1e4];
    core.extend(thresholds.iter().flat_map(|&x| [of(x), of(-x)]));
    core.extend([1.5, -1.5, 0.25, 0.9, 1.1, -0.9, 1e-3, -1e-3, std::f64::consts::PI].map(of));
    let infinity = AccOp::Min.neutral(dtype);
    let largest = next(infinity, false);
    let least = next(of(0.0), true);
    let mantissa = match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        _ => 52,
    };
    let normal = Scalar::from_bits(dtype, 1 << mantissa);
    let whole = of(2f64.powi(mantissa + 1));
    core.extend([next(of(1.0), true), next(of(1.0), false), whole, next(whole, false), next(whole, true)]);
    for x in [largest, least, normal, next(normal, false)] {
        core.extend([x, of(-x.as_f64())]);
    }
    core.extend([largest.as_f64() / 2.0, -largest.as_f64() / 3.0].map(of));
    for &x in &numbers.derived {
        core.extend([of(x), of(-x)]);
    }
    core.retain(|v| v.as_f64().is_finite());
    // Every binade, of 64 bits every fifth.
    let (low, high) = match dtype {
        DType::F16 => (-24, 15),
        DType::BF16 => (-133, 127),
        DType::F32 => (-149, 127),
        _ => (-1074, 1023),
    };
    let step = if dtype == DType::F64 { 5 } else { 1 };
    let binade = |e: i32| {
        let x = (1.0 + rng.unit()) * 2f64.powi(e);
        of(if e & 1 == 0 { x } else { -x })
    };
    let mut sweep: Vec<Scalar> = (low..=high).step_by(step).map(binade).collect();
    rng.shuffle(&mut sweep);
    let mut ordinary: Vec<Scalar> = (0..100).map(|_| of((rng.unit() - 0.5) * 12.0)).collect();
    ordinary.extend((0..50).map(|_| of((rng.unit() - 0.5) * 600.0)));
    ordinary.extend(sweep);
    ordinary.retain(|v| v.as_f64().is_finite());
    let special = match special {
        true => vec![infinity, AccOp::Max.neutral(dtype), of(f64::NAN)],
        false => Vec::new(),
    };
    Pool { core, sweep: ordinary, special }
}

/// Parts of ordinary size: an order by parts that are rounded is not looked for here.
fn complex(dtype: DType, numbers: &Numbers, special: bool) -> Pool {
    let part = dtype.part();
    let of = |re: f64, im: f64| {
        let (re, im) = (Scalar::from_f64(part, re), Scalar::from_f64(part, im));
        Scalar::from_bits(dtype, re.bits() | im.bits() << part.bits())
    };
    let mut reals = vec![0.0, 1.0, -1.0, 2.0, -0.0, 0.5, -2.0, 3.0];
    reals.extend(numbers.own.iter().filter(|c| c.abs() < 1e6).flat_map(|&c| [c, -c, c + 1.0]));
    let mut core = Vec::new();
    for (i, &re) in reals.iter().enumerate() {
        for (j, &im) in reals.iter().enumerate() {
            if i + j < 8 || j == 0 || i == 0 {
                core.push(of(re, im));
            }
        }
    }
    let special = match special {
        true => vec![of(f64::INFINITY, 0.0), of(f64::NAN, 0.0), of(1.0, f64::NEG_INFINITY)],
        false => Vec::new(),
    };
    Pool { core, sweep: Vec::new(), special }
}

fn integers(dtype: DType, numbers: &Numbers, rng: &mut Rng) -> Pool {
    let of = |x: i128| Scalar::from_i128(dtype, x);
    let (least, largest) = (AccOp::Max.neutral(dtype), AccOp::Min.neutral(dtype));
    let (low, high) = (least.as_i128().unwrap_or(0), largest.as_i128().unwrap_or(0));
    let mut wanted: Vec<i128> = vec![0, 1, -1, 2, 3, -2, -3, 5, 7, -7];
    let whole = |x: &f64| x.abs() < 1e18;
    for c in numbers.own.iter().filter(|c| whole(c)) {
        let c = *c as i128;
        for x in [c, -c] {
            wanted.extend([x, x + 1, x - 1, 2 * x, 2 * x + 1, 10 * x, x / 2]);
        }
    }
    wanted.extend([low, high, low + 1, high - 1, low / 2, high / 2 + 1, high / 2, low / 2 - 1, 100, -100]);
    wanted.extend(numbers.derived.iter().filter(|c| whole(c)).flat_map(|&c| [c as i128, -(c as i128)]));
    let mut sweep: Vec<i128> = Vec::new();
    match dtype.bits() {
        8 => sweep.extend(low..=high),
        bits => {
            sweep.extend((1..bits).flat_map(|e| [1i128 << e, -(1i128 << e), (1i128 << e) - 1, 3i128 << e]));
            sweep.extend((0..60).map(|_| i128::from(rng.next() as i64) >> rng.below(60)));
        }
    }
    let fits = |values: Vec<i128>| -> Vec<Scalar> {
        values.into_iter().filter(|x| (low..=high).contains(x)).map(of).collect()
    };
    let (core, mut sweep) = (fits(wanted), fits(sweep));
    rng.shuffle(&mut sweep);
    Pool { core, sweep, special: Vec::new() }
}
