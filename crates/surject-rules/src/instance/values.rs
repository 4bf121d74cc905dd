//! Random elements, as ordinary or as special as the flags of a rule allow.

use super::pool::{Numbers, Pool};
use super::rng::Rng;
use super::{Drawing, Values};
use crate::ast::{Exactness, Flags};
use std::collections::BTreeMap;
use surject_ir::{Buffer, DType, Scalar};

/// How the elements of an instance are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Small whole numbers and zeros of both signs.
    Small,
    /// Floats of ordinary size with every digit in use; integers of the whole range unless that overflows.
    Ordinary,
    /// Floats of different sizes, so that sums round.
    Mixed,
    /// Infinities, NaN and zeros among ordinary ones.
    Special,
    /// The largest and the smallest magnitudes.
    Extreme,
    /// Those of a [`Pool`], and what has been drawn before.
    Telling,
}

impl Drawing<'_, '_> {
    /// Values for every parameter.
    pub(super) fn draw_values(&mut self) -> Option<Vec<Buffer>> {
        let (class, flags) = (self.lowered.rule.class, self.lowered.rule.flags);
        let complex = self.types.iter().any(|d| d.is_complex());
        let mut modes = vec![Mode::Small, Mode::Ordinary, Mode::Ordinary];
        let every = class == Exactness::Exact || self.kind == Values::Wide;
        if every {
            modes.push(Mode::Mixed);
        }
        // Complex products of infinities say nothing of a rule that holds over the reals.
        if !flags.finite && (class == Exactness::Exact || !complex) {
            modes.push(Mode::Special);
        }
        if !flags.no_overflow && every {
            modes.push(Mode::Extreme);
        }
        // In index notation the directed instances have these.
        if self.kind == Values::Wide && self.lowered.rule.is_map_notation() {
            modes.push(Mode::Telling);
        }
        let mode = self.rng.pick(&modes)?;
        let params = self.function.params.clone();
        if mode == Mode::Telling {
            return self.draw_telling();
        }
        let buffer = |var| {
            let ty = self.function.ty(var).clone();
            let shape: Vec<usize> = ty.space.sizes()?.iter().map(|&n| n as usize).collect();
            let count = shape.iter().product();
            let values: Vec<Scalar> =
                (0..count).map(|_| element(&mut self.rng, ty.dtype, mode, flags)).collect();
            Buffer::from_scalars(ty.dtype, &shape, &values)
        };
        params.into_iter().map(buffer).collect()
    }

    /// Values of pools, at times those of other elements.
    fn draw_telling(&mut self) -> Option<Vec<Buffer>> {
        let rule = self.lowered.rule;
        let numbers = Numbers::of(rule);
        let mut pools: BTreeMap<DType, (Pool, Vec<Scalar>)> = BTreeMap::new();
        let mut args = Vec::new();
        for var in self.function.params.clone() {
            let ty = self.function.ty(var).clone();
            let shape: Vec<usize> = ty.space.sizes()?.iter().map(|&n| n as usize).collect();
            let complex = ty.dtype.is_complex() && rule.class != Exactness::Exact;
            let pool = || (Pool::new(ty.dtype, &numbers, !rule.flags.finite && !complex), Vec::new());
            let (pool, seen) = pools.entry(ty.dtype).or_insert_with(pool);
            let mut values: Vec<Scalar> = Vec::new();
            for _ in 0..shape.iter().product() {
                let earlier = if self.rng.chance(1, 3) { self.rng.pick(seen) } else { None };
                let value = earlier.or_else(|| pool.any(&mut self.rng))?;
                seen.push(value);
                values.push(value);
            }
            args.push(Buffer::from_scalars(ty.dtype, &shape, &values)?);
        }
        Some(args)
    }
}

fn element(rng: &mut Rng, dtype: DType, mode: Mode, flags: Flags) -> Scalar {
    if dtype.is_complex() {
        let (re, im) = (float(rng, dtype.part(), mode), float(rng, dtype.part(), mode));
        return Scalar::from_bits(dtype, re.bits() | im.bits() << dtype.part().bits());
    }
    if dtype.is_float() {
        return float(rng, dtype, mode);
    }
    if dtype.is_bool() {
        return Scalar::bool(rng.chance(1, 2));
    }
    let whole = !flags.no_overflow && mode != Mode::Small;
    let value = match whole {
        true if rng.chance(1, 8) => rng.pick(&[i64::MIN, i64::MAX, -1, 0, 1]).unwrap_or(0),
        true => rng.next() as i64,
        false if dtype.is_unsigned_int() => rng.between(0, 6),
        false => rng.between(-4, 4),
    };
    match value {
        i64::MIN => surject_ir::AccOp::Max.neutral(dtype),
        i64::MAX => surject_ir::AccOp::Min.neutral(dtype),
        value => Scalar::from_i128(dtype, value.into()),
    }
}

fn float(rng: &mut Rng, dtype: DType, mode: Mode) -> Scalar {
    let ordinary = |rng: &mut Rng| {
        // Nearly normal, and never so small that a quotient is huge.
        let sum: f64 = (0..4).map(|_| rng.unit()).sum::<f64>() - 2.0;
        let value = sum * 2.5;
        if value.abs() < 1e-3 { 0.5 } else { value }
    };
    let value = match mode {
        Mode::Small => match rng.below(10) {
            0 => -0.0,
            1 => 0.5,
            _ => rng.between(-3, 3) as f64,
        },
        Mode::Ordinary | Mode::Telling => ordinary(rng),
        Mode::Mixed => ordinary(rng) * 4f64.powi(rng.between(-4, 4) as i32),
        Mode::Special => match rng.below(10) {
            0 => f64::INFINITY,
            1 => f64::NEG_INFINITY,
            2 => f64::NAN,
            3 => 0.0,
            4 => -0.0,
            5 => rng.pick(&[1.0, -1.0]).unwrap_or(1.0),
            _ => ordinary(rng),
        },
        Mode::Extreme => {
            let (largest, least) = match dtype {
                DType::F64 => (f64::MAX, f64::MIN_POSITIVE),
                DType::F16 => (65504.0, 0.5f64.powi(14)),
                _ => (f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)),
            };
            let sign = if rng.chance(1, 2) { 1.0 } else { -1.0 };
            match rng.below(6) {
                0 => sign * largest / 2.0,
                1 => sign * largest / 3.0,
                2 => sign * least / 4.0,
                3 => sign * least * 3.0,
                _ => ordinary(rng),
            }
        }
    };
    Scalar::from_f64(dtype, value)
}

/// Values to try in place of this one, the simplest first.
pub(crate) fn simpler(value: Scalar) -> Vec<Scalar> {
    let dtype = value.dtype();
    let mut tried = vec![Scalar::zero(dtype), Scalar::one(dtype)];
    if !dtype.is_bool() {
        tried.extend([-1, 2, 3, -2, 5, 10, -10].map(|n| Scalar::from_i128(dtype, n)));
    }
    if dtype.is_float() {
        let x = value.as_f64();
        let of = |x: f64| Scalar::from_f64(dtype, x);
        tried.extend([of(0.5), of(0.1)]);
        if x.is_finite() && x != 0.0 {
            let digits = |n: i32| {
                let scale = 10f64.powi(n - 1 - x.abs().log10().floor() as i32);
                of((x * scale).round() / scale)
            };
            tried.extend([x.round(), (x * 4.0).round() / 4.0, (x * 10.0).round() / 10.0].map(of));
            tried.extend([of(x.abs()), of((x / 2.0).round()), of((x / 8.0).round()), digits(1), digits(2)]);
            tried.push(digits(3));
        }
    } else if let Some(x) = value.as_i128() {
        tried.extend([x.abs(), x / 2, x / 8, x / 10 * 10].map(|x| Scalar::from_i128(dtype, x)));
    }
    let end = tried.iter().position(|t| *t == value).unwrap_or(tried.len());
    tried.truncate(end);
    tried.retain(|t| *t != value && (t.as_complex().is_finite() || !value.as_complex().is_finite()));
    tried
}
