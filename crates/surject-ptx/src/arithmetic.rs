//! Arithmetic on the bits of values.

use crate::code::{Alu, Compare, Kind, Overflow, Part, Rounding, Ty};
use half::{bf16, f16};

/// A value of bits as a signed number.
pub(crate) fn signed(value: u64, ty: Ty) -> i64 {
    let unused = 64 - ty.bits;
    ((value << unused) as i64) >> unused
}

/// A float as an `f64`, which holds every one.
fn float(value: u64, ty: Ty) -> f64 {
    match (ty.kind, ty.bits) {
        (Kind::Brain, _) => bf16::from_bits(value as u16).into(),
        (_, 16) => f16::from_bits(value as u16).into(),
        (_, 32) => f32::from_bits(value as u32).into(),
        _ => f64::from_bits(value),
    }
}

/// A float rounded to a type, to the nearest.
fn rounded(value: f64, ty: Ty) -> u64 {
    match (ty.kind, ty.bits) {
        (Kind::Brain, _) => bf16::from_f32(to_odd(value)).to_bits().into(),
        (_, 16) => f16::from_f32(to_odd(value)).to_bits().into(),
        (_, 32) => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// The `f32`, or the one beside the value whose last bit is odd: rounding that rounds the value.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if near.is_nan() || f64::from(near) == value || near.to_bits() & 1 == 1 {
        return near;
    }
    let below = f64::from(near).abs() < value.abs();
    f32::from_bits(if below { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// A sum, or where that is not exact the `f64` beside it whose last bit is odd: rounding that rounds the sum.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let near = a + b;
    let part = near - a;
    let lost = (a - (near - part)) + (b - part);
    if !near.is_finite() || lost == 0.0 || near.to_bits() & 1 == 1 {
        return near;
    }
    let above = (lost > 0.0) == (near > 0.0);
    f64::from_bits(if above { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

/// The value of an operation; an error says that it has none here. It is long because it is flat: one arm an operation.
pub(crate) fn alu(op: Alu, ty: Ty, args: &[u64]) -> Result<u64, String> {
    let need = |count: usize| match args.len() >= count {
        true => Ok(()),
        false => Err(format!("{count} operands are expected")),
    };
    need(1)?;
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(0);
    let c = args.get(2).copied().unwrap_or(0);
    if matches!(
        op,
        Alu::Add | Alu::Sub | Alu::Div | Alu::Rem | Alu::Min | Alu::Max | Alu::And | Alu::Or | Alu::Xor
    ) {
        need(2)?;
    }
    if ty.is_float() {
        return of_floats(op, ty, a, b, c);
    }
    let bits = ty.bits;
    let is_signed = ty.kind == Kind::Signed;
    let (sa, sb) = (signed(a, ty), signed(b, ty));
    let (ua, ub) = (a & ty.mask(), b & ty.mask());
    let value = match op {
        Alu::Add => ua.wrapping_add(ub),
        Alu::Sub => ua.wrapping_sub(ub),
        Alu::Div | Alu::Rem if ub == 0 => return Err("a division by zero".into()),
        Alu::Div if is_signed => sa.wrapping_div(sb) as u64,
        Alu::Div => ua / ub,
        Alu::Rem if is_signed => sa.wrapping_rem(sb) as u64,
        Alu::Rem => ua % ub,
        Alu::Min if is_signed => sa.min(sb) as u64,
        Alu::Min => ua.min(ub),
        Alu::Max if is_signed => sa.max(sb) as u64,
        Alu::Max => ua.max(ub),
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Not if ty.kind == Kind::Predicate => a ^ 1,
        Alu::Not => !a,
        Alu::Neg => ua.wrapping_neg(),
        Alu::Abs => sa.wrapping_abs() as u64,
        // Amounts are clamped to the width.
        Alu::Shl => {
            let by = b & 0xffff_ffff;
            if by >= bits.into() { 0 } else { ua << by }
        }
        Alu::Shr => {
            let by = (b & 0xffff_ffff).min(bits.into());
            match is_signed {
                true => (sa >> by.min(63)) as u64,
                false => ua.checked_shr(by as u32).unwrap_or(0),
            }
        }
        Alu::Popc => ua.count_ones().into(),
        Alu::Clz => (ua.leading_zeros() - (64 - bits)).into(),
        Alu::Brev => ua.reverse_bits() >> (64 - bits),
        Alu::Bfe => {
            let (at, length) = ((b & 0xff) as u32, (c & 0xff) as u32);
            let field = if at >= bits { 0 } else { ua >> at };
            match length {
                0 => 0,
                _ if length >= bits => field,
                _ if is_signed => {
                    let unused = 64 - length;
                    (((field << unused) as i64) >> unused) as u64
                }
                _ => field & ((1 << length) - 1),
            }
        }
        Alu::Bfi => {
            need(4)?;
            let (at, length) = ((c & 0xff) as u32, (args[3] & 0xff) as u32);
            if length == 0 || at >= bits {
                ub
            } else {
                let field = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
                (ub & !(field << at)) | ((a & field) << at)
            }
        }
        Alu::Prmt => {
            need(3)?;
            let bytes = ((b & 0xffff_ffff) << 32) | (a & 0xffff_ffff);
            (0..4).fold(0, |value, i| {
                let select = c >> (4 * i) & 0xf;
                let byte = bytes >> (8 * (select & 7)) & 0xff;
                let byte = if select & 8 != 0 { if byte & 0x80 != 0 { 0xff } else { 0 } } else { byte };
                value | byte << (8 * i)
            })
        }
        Alu::Lop3 => {
            need(4)?;
            (0..bits).fold(0, |value, i| {
                let index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
                value | (args[3] >> index & 1) << i
            })
        }
        Alu::ShfLeft | Alu::ShfRight => {
            need(3)?;
            let both = ((b & 0xffff_ffff) << 32) | (a & 0xffff_ffff);
            let by = c & 31;
            if op == Alu::ShfLeft { (both << by) >> 32 } else { both >> by }
        }
        _ => return Err("floats only".into()),
    };
    Ok(value & ty.mask())
}

/// Is a number below another one, −0 being below +0?
fn is_below(a: f64, b: f64) -> bool {
    a < b || (a == b && a.is_sign_negative() && !b.is_sign_negative())
}

fn of_floats(op: Alu, ty: Ty, a: u64, b: u64, c: u64) -> Result<u64, String> {
    let (x, y) = (float(a, ty), float(b, ty));
    let sign = 1u64 << (ty.bits - 1);
    let nan = || rounded(f64::NAN, ty) & !sign;
    Ok(match op {
        Alu::Neg => a ^ sign,
        Alu::Abs => a & !sign,
        Alu::CopySign => (b & !sign) | (a & sign),
        Alu::Min | Alu::Max | Alu::MinNan | Alu::MaxNan => {
            let wins = matches!(op, Alu::MinNan | Alu::MaxNan);
            match (x.is_nan(), y.is_nan()) {
                (true, true) => nan(),
                (true, false) => {
                    if wins {
                        nan()
                    } else {
                        b
                    }
                }
                (false, true) => {
                    if wins {
                        nan()
                    } else {
                        a
                    }
                }
                _ if is_below(x, y) != matches!(op, Alu::Max | Alu::MaxNan) => a,
                _ => b,
            }
        }
        // A sum or a product of halves is exact in an `f64`, or rounded as if it were: it has more than twice the bits.
        Alu::Add if ty.bits < 64 => match ty.bits {
            32 => (x as f32 + y as f32).to_bits().into(),
            _ => rounded(x + y, ty),
        },
        Alu::Sub if ty.bits < 64 => match ty.bits {
            32 => (x as f32 - y as f32).to_bits().into(),
            _ => rounded(x - y, ty),
        },
        Alu::MulFloat if ty.bits < 64 => match ty.bits {
            32 => (x as f32 * y as f32).to_bits().into(),
            _ => rounded(x * y, ty),
        },
        Alu::Add => (x + y).to_bits(),
        Alu::Sub => (x - y).to_bits(),
        Alu::MulFloat => (x * y).to_bits(),
        Alu::Fma => {
            let z = float(c, ty);
            match ty.bits {
                64 => x.mul_add(y, z).to_bits(),
                32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
                _ => rounded(sum_to_odd(x * y, z), ty),
            }
        }
        Alu::Div => match ty.bits {
            64 => (x / y).to_bits(),
            32 => (x as f32 / y as f32).to_bits().into(),
            _ => return Err("a division of halves".into()),
        },
        Alu::Sqrt => match ty.bits {
            64 => x.sqrt().to_bits(),
            _ => (x as f32).sqrt().to_bits().into(),
        },
        Alu::Rcp => match ty.bits {
            64 => (1.0 / x).to_bits(),
            _ => (1.0 / x as f32).to_bits().into(),
        },
        _ => return Err("integers only".into()),
    })
}

/// A product of integers, and what it is added to.
pub(crate) fn product(part: Part, ty: Ty, a: u64, b: u64, c: u64) -> u64 {
    let is_signed = ty.kind == Kind::Signed;
    let wide = |v: u64| if is_signed { i128::from(signed(v, ty)) } else { i128::from(v & ty.mask()) };
    let whole = wide(a).wrapping_mul(wide(b));
    match part {
        Part::Low => (whole as u64).wrapping_add(c) & ty.mask(),
        Part::High => ((whole >> ty.bits) as u64).wrapping_add(c) & ty.mask(),
        Part::Wide => {
            let ty = Ty { bits: ty.bits * 2, ..ty };
            (whole as u64).wrapping_add(c) & ty.mask()
        }
    }
}

/// A comparison.
pub(crate) fn compare(compare: Compare, ty: Ty, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::*;
    let order = if ty.is_float() {
        float(a, ty).partial_cmp(&float(b, ty))
    } else if ty.kind == Kind::Signed {
        Some(signed(a, ty).cmp(&signed(b, ty)))
    } else {
        Some((a & ty.mask()).cmp(&(b & ty.mask())))
    };
    let Some(order) = order else {
        return !matches!(
            compare,
            Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge | Compare::Num
        );
    };
    match compare {
        Compare::Eq | Compare::EqOr => order == Equal,
        Compare::Ne | Compare::NeOr => order != Equal,
        Compare::Lt | Compare::LtOr => order == Less,
        Compare::Le | Compare::LeOr => order != Greater,
        Compare::Gt | Compare::GtOr => order == Greater,
        Compare::Ge | Compare::GeOr => order != Less,
        Compare::Num => true,
        Compare::Nan => false,
    }
}

/// A value as another type.
pub(crate) fn convert(
    value: u64,
    from: Ty,
    to: Ty,
    rounding: Rounding,
    overflow: Overflow,
) -> Result<u64, String> {
    match (from.is_float(), to.is_float()) {
        (true, true) => {
            let x = float(value, from);
            let x = match rounding {
                Rounding::NearestInteger => x.round_ties_even(),
                Rounding::ZeroInteger => x.trunc(),
                Rounding::DownInteger => x.floor(),
                Rounding::UpInteger => x.ceil(),
                Rounding::Nearest | Rounding::None => x,
            };
            if overflow == Overflow::Saturates {
                return Err("a float that saturates".into());
            }
            Ok(rounded(x, to))
        }
        (true, false) => {
            let x = float(value, from);
            let x = match rounding {
                Rounding::NearestInteger => x.round_ties_even(),
                Rounding::DownInteger => x.floor(),
                Rounding::UpInteger => x.ceil(),
                _ => x.trunc(),
            };
            // What does not fit saturates; NaN gives 0.
            let (low, high) = match to.kind {
                Kind::Signed => (-(1i128 << (to.bits - 1)), (1i128 << (to.bits - 1)) - 1),
                _ => (0, (1i128 << to.bits) - 1),
            };
            Ok(((x as i128).clamp(low, high) as u64) & to.mask())
        }
        (false, true) => Ok(match from.kind {
            Kind::Signed => of_integer(signed(value, from).into(), to),
            _ => of_integer((value & from.mask()).into(), to),
        }),
        (false, false) => {
            let wide = match from.kind {
                Kind::Signed => i128::from(signed(value, from)),
                _ => i128::from(value & from.mask()),
            };
            if overflow == Overflow::Saturates {
                let (low, high) = match to.kind {
                    Kind::Signed => (-(1i128 << (to.bits - 1)), (1i128 << (to.bits - 1)) - 1),
                    _ => (0, (1i128 << to.bits) - 1),
                };
                return Ok((wide.clamp(low, high) as u64) & to.mask());
            }
            Ok((wide as u64) & to.mask())
        }
    }
}

/// A whole number rounded once.
fn of_integer(value: i128, to: Ty) -> u64 {
    match to.bits {
        64 => (value as f64).to_bits(),
        32 => (value as f32).to_bits().into(),
        // Whole numbers of more than 53 bits are far beyond the largest `f16`.
        _ => rounded(value as f64, to),
    }
}

/// The sum of products in a float type, or in integers; for matrices.
pub(crate) fn multiply_add(a: u64, b: u64, c: u64, operands: Ty, sum: Ty) -> u64 {
    if !sum.is_float() {
        let wide = |v: u64| match operands.kind {
            Kind::Signed => signed(v, operands),
            _ => (v & operands.mask()) as i64,
        };
        return (wide(a).wrapping_mul(wide(b)).wrapping_add(signed(c, sum)) as u64) & sum.mask();
    }
    let (x, y, z) = (float(a, operands), float(b, operands), float(c, sum));
    match sum.bits {
        64 => x.mul_add(y, z).to_bits(),
        // Products of halves are exact in an `f32`.
        32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
        _ => rounded(x * y + z, sum),
    }
}
