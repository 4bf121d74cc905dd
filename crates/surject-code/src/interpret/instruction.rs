//! Instructions of processors, and other intrinsic functions of LLVM.

use super::arithmetic::{float, own};
use super::{Done, FaultKind};
use crate::{Elem, Type};
use half::bf16;

/// What an intrinsic function gives.
pub(super) fn run(name: &str, operands: &[&[u64]], types: &[Type]) -> Done<Vec<u64>> {
    let unknown = || FaultKind::Unknown(format!("the instruction `{name}`"));
    if let Some(rest) = name.strip_prefix("llvm.fptosi.sat.").or(name.strip_prefix("llvm.fptoui.sat.")) {
        return saturated(name.starts_with("llvm.fptosi"), rest, operands, types).ok_or_else(unknown)?;
    }
    if name.starts_with("llvm.x86.avx512bf16.dpbf16ps.") {
        return Ok(bf16_dot(operands[0], operands[1], operands[2]));
    }
    if let (Some(_), [y, n, ..]) = (name.strip_prefix("llvm.x86.avx512.mask.scalef.ps."), operands) {
        let one = |(&y, &n): (&u64, &u64)| {
            let n = float(Elem::F32, n)?.floor();
            // Exact in this type, and rounded once.
            Ok(u64::from(((float(Elem::F32, y)? * n.clamp(-800.0, 800.0).exp2()) as f32).to_bits()))
        };
        return y.iter().zip(*n).map(one).collect();
    }
    if let (Some(_), [y, n, ..]) = (name.strip_prefix("llvm.x86.avx512.mask.scalef.pd."), operands) {
        let one = |(&y, &n): (&u64, &u64)| scaled(f64::from_bits(y), f64::from_bits(n).floor());
        return Ok(y.iter().zip(*n).map(one).collect());
    }
    match (name, operands) {
        ("llvm.x86.sse.sfence", _) => Ok(Vec::new()),
        ("llvm.x86.avx512.permvar.sf.512", [table, n]) => {
            Ok(n.iter().map(|&n| table[n as usize & 15]).collect())
        }
        ("llvm.x86.avx512.vpermi2var.ps.512", [low, n, high]) => {
            Ok(n.iter().map(|&n| [low, high][n as usize >> 4 & 1][n as usize & 15]).collect())
        }
        ("llvm.x86.avx512.rsqrt14.ps.512", [x, ..]) => {
            Ok(x.iter().map(|&x| inverse_root(x as u32, 14)).collect())
        }
        ("llvm.x86.avx.rsqrt.ps.256", [x]) => Ok(x
            .iter()
            .map(|&x| {
                let tiny = f32::from_bits(x as u32).abs() < f32::MIN_POSITIVE;
                inverse_root(if tiny { x as u32 & 1 << 31 } else { x as u32 }, 12)
            })
            .collect()),
        ("llvm.x86.sse2.pmadd.wd" | "llvm.x86.avx2.pmadd.wd" | "llvm.x86.avx512.pmaddw.d.512", [x, y]) => {
            let product = |(x, y): (&u64, &u64)| i64::from(*x as i16) * i64::from(*y as i16);
            let products: Vec<i64> = x.iter().zip(*y).map(product).collect();
            Ok(products.chunks(2).map(|pair| own(Elem::I32, pair.iter().sum::<i64>() as u64)).collect())
        }
        _ => Err(unknown()),
    }
}

/// `y` times two to the power of `n`.
fn scaled(y: f64, n: f64) -> u64 {
    // What is rounded is rounded by the last product.
    let first = if n < 0.0 { (n + 1022.0).clamp(-1022.0, 0.0) } else { (n - 1023.0).clamp(0.0, 1023.0) };
    let second = (n - first).clamp(-1022.0, 1023.0);
    (y * first.exp2() * second.exp2()).to_bits()
}

/// The inverse of the square root with so many digits.
fn inverse_root(x: u32, digits: u32) -> u64 {
    let root = (1.0 / f64::from(f32::from_bits(x)).sqrt()) as f32;
    u64::from(match root.is_finite() && root != 0.0 {
        true => root.to_bits() & (u32::MAX << (23 - digits)),
        false => root.to_bits(),
    })
}

/// Sums of products of pairs of `bf16`, on top of `f32`: the odd product first. Subnormal numbers are zeros.
fn bf16_dot(into: &[u64], x: &[u64], y: &[u64]) -> Vec<u64> {
    let flushed = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
    let of = |bits: u64| flushed(bf16::from_bits(bits as u16).to_f32());
    let one = |(i, &into): (usize, &u64)| {
        let mut sum = flushed(f32::from_bits(into as u32));
        for part in [2 * i + 1, 2 * i] {
            sum = flushed(of(x[part]).mul_add(of(y[part]), sum));
        }
        u64::from(sum.to_bits())
    };
    into.iter().enumerate().map(one).collect()
}

/// Floats as integers: the nearest one towards zero that there is, and 0 for NaN. `rest` names the types.
fn saturated(signed: bool, rest: &str, operands: &[&[u64]], types: &[Type]) -> Option<Done<Vec<u64>>> {
    let integer = rest.split('.').next()?;
    let bits: u32 = integer.rsplit('i').next()?.parse().ok()?;
    let Type::Lanes(from, _) = *types.first()? else { return None };
    let most = 2f64.powi(bits as i32 - i32::from(signed));
    let one = |&x: &u64| {
        let value = float(from, x)?.trunc();
        let all = u64::MAX >> (64 - bits);
        Ok(match value {
            v if v.is_nan() => 0,
            v if signed && v >= most => all >> 1,
            v if signed && v < -most => 1 << (bits - 1),
            v if signed => v as i64 as u64 & all,
            v if v >= most => all,
            v => v.max(0.0) as u64,
        })
    };
    Some(operands.first()?.iter().map(one).collect())
}
