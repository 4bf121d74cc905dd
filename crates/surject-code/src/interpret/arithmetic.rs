//! Operations of `arith`, `math` and `vector` on the bits of lanes.

use super::{Done, FaultKind, Random};
use crate::{Elem, Type};
use half::f16;

/// The bits of an element, and no others.
pub(super) fn own(elem: Elem, bits: u64) -> u64 {
    bits & (u64::MAX >> (64 - elem.bits()))
}

/// An integer with its sign.
fn signed(elem: Elem, bits: u64) -> i64 {
    let unused = 64 - elem.bits();
    ((bits << unused) as i64) >> unused
}

fn elem_of(ty: Type) -> Done<Elem> {
    match ty {
        Type::Lanes(elem, _) => Ok(elem),
        Type::Index | Type::Pointer | Type::Pointers(_) => Ok(Elem::I64),
        Type::Bf16(_) => Err(FaultKind::Unknown(format!("arithmetic of {ty}"))),
    }
}

/// A float as `f64`, which holds all of them.
pub(super) fn float(elem: Elem, bits: u64) -> Done<f64> {
    Ok(match elem {
        Elem::F16 => f64::from(f16::from_bits(bits as u16).to_f32()),
        Elem::F32 => f64::from(f32::from_bits(bits as u32)),
        Elem::F64 => f64::from_bits(bits),
        other => return Err(FaultKind::Unknown(format!("a float of {other}"))),
    })
}

/// The operations on values of one type, lane by lane.
pub(super) fn same(name: &str, ty: Type, operands: &[&[u64]], random: &mut Random) -> Done<Vec<u64>> {
    let elem = elem_of(ty)?;
    let lane = |i: usize| -> Vec<u64> { operands.iter().map(|o| o[i]).collect() };
    (0..operands.first().map_or(0, |o| o.len()))
        .map(|i| {
            let bits = match (elem, &lane(i)[..]) {
                (Elem::F32, operands) => single(name, operands),
                (Elem::F64, operands) => double(name, operands),
                (_, operands) => integer(name, elem, operands, random)?,
            };
            let bits = bits.ok_or_else(|| FaultKind::Unknown(format!("`{name}` of {elem}")))?;
            Ok(own(elem, bits))
        })
        .collect()
}

/// Functions of floats that are the same for both types.
macro_rules! floats {
    ($function:ident, $float:ty, $bits:ty) => {
        fn $function(name: &str, operands: &[u64]) -> Option<u64> {
            let of = |i: usize| <$float>::from_bits(operands[i] as $bits);
            let value = match (name, operands.len()) {
                ("arith.addf", 2) => of(0) + of(1),
                ("arith.subf", 2) => of(0) - of(1),
                ("arith.mulf", 2) => of(0) * of(1),
                ("arith.divf", 2) => of(0) / of(1),
                ("arith.negf", 1) => -of(0),
                ("arith.maximumf", 2) => match (of(0), of(1)) {
                    (a, b) if a.is_nan() || b.is_nan() => a + b,
                    (a, b) if a == b => {
                        if a.is_sign_positive() {
                            a
                        } else {
                            b
                        }
                    }
                    (a, b) => {
                        if a > b {
                            a
                        } else {
                            b
                        }
                    }
                },
                ("arith.minimumf", 2) => match (of(0), of(1)) {
                    (a, b) if a.is_nan() || b.is_nan() => a + b,
                    (a, b) if a == b => {
                        if a.is_sign_negative() {
                            a
                        } else {
                            b
                        }
                    }
                    (a, b) => {
                        if a < b {
                            a
                        } else {
                            b
                        }
                    }
                },
                ("math.absf", 1) => of(0).abs(),
                ("math.sqrt", 1) => of(0).sqrt(),
                ("math.floor", 1) => of(0).floor(),
                ("math.ceil", 1) => of(0).ceil(),
                ("math.round", 1) => of(0).round(),
                ("math.roundeven", 1) => of(0).round_ties_even(),
                ("math.copysign", 2) => of(0).copysign(of(1)),
                ("math.fma", 3) => of(0).mul_add(of(1), of(2)),
                _ => return None,
            };
            Some(u64::from(value.to_bits()))
        }
    };
}

floats!(single, f32, u32);
floats!(double, f64, u64);

fn integer(name: &str, elem: Elem, operands: &[u64], random: &mut Random) -> Done<Option<u64>> {
    let bits = elem.bits();
    let a = operands[0];
    let b = operands.get(1).copied().unwrap_or_default();
    let (x, y) = (signed(elem, a), signed(elem, b));
    // Shifts by the width and more are left open.
    let shifted = |value: u64, random: &mut Random| if b < u64::from(bits) { value } else { random.next() };
    let wide = b.min(63) as u32;
    let smallest = x == signed(elem, 1 << (bits - 1)) && y == -1;
    let divided = |refused: bool, value: &dyn Fn() -> u64| match refused {
        true => Err(FaultKind::Division),
        false => Ok(value()),
    };
    Ok(Some(match name {
        "arith.addi" => a.wrapping_add(b),
        "arith.subi" => a.wrapping_sub(b),
        "arith.muli" => a.wrapping_mul(b),
        "arith.andi" => a & b,
        "arith.ori" => a | b,
        "arith.xori" => a ^ b,
        "arith.shli" => shifted(a << wide, random),
        "arith.shrui" => shifted(a >> wide, random),
        "arith.shrsi" => shifted((x >> wide) as u64, random),
        "arith.divui" => divided(b == 0, &|| a / b)?,
        "arith.remui" => divided(b == 0, &|| a % b)?,
        "arith.divsi" => divided(y == 0 || smallest, &|| (x / y) as u64)?,
        "arith.remsi" => divided(y == 0 || smallest, &|| (x % y) as u64)?,
        "arith.ceildivsi" => {
            divided(y == 0 || smallest, &|| (x / y + i64::from(x % y != 0 && (x < 0) == (y < 0))) as u64)?
        }
        "arith.maxsi" => x.max(y) as u64,
        "arith.minsi" => x.min(y) as u64,
        "arith.maxui" => a.max(b),
        "arith.minui" => a.min(b),
        "math.ctpop" => u64::from(a.count_ones()),
        "math.ctlz" => u64::from(a.leading_zeros() - (64 - bits)),
        _ => return Ok(None),
    }))
}

/// Comparisons, lane by lane: 1 where they hold.
pub(super) fn compare(predicate: &str, ty: Type, a: &[u64], b: &[u64]) -> Done<Vec<u64>> {
    let elem = elem_of(ty)?;
    let is_float = matches!(elem, Elem::F16 | Elem::F32 | Elem::F64);
    a.iter()
        .zip(b)
        .map(|(&a, &b)| {
            let holds = match is_float {
                true => compare_floats(predicate, float(elem, a)?, float(elem, b)?),
                false => compare_integers(predicate, [a, b], [signed(elem, a), signed(elem, b)]),
            };
            let unknown = || FaultKind::Unknown(format!("the comparison `{predicate}` of {elem}"));
            holds.map(u64::from).ok_or_else(unknown)
        })
        .collect()
}

fn compare_floats(predicate: &str, a: f64, b: f64) -> Option<bool> {
    let unordered = a.is_nan() || b.is_nan();
    Some(match predicate {
        "false" => false,
        "true" => true,
        "ord" => !unordered,
        "uno" => unordered,
        "oeq" => a == b,
        "ogt" => a > b,
        "oge" => a >= b,
        "olt" => a < b,
        "ole" => a <= b,
        "one" => !unordered && a != b,
        "ueq" => unordered || a == b,
        "ugt" => unordered || a > b,
        "uge" => unordered || a >= b,
        "ult" => unordered || a < b,
        "ule" => unordered || a <= b,
        "une" => unordered || a != b,
        _ => return None,
    })
}

fn compare_integers(predicate: &str, [a, b]: [u64; 2], [x, y]: [i64; 2]) -> Option<bool> {
    Some(match predicate {
        "eq" => a == b,
        "ne" => a != b,
        "slt" => x < y,
        "sle" => x <= y,
        "sgt" => x > y,
        "sge" => x >= y,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        _ => return None,
    })
}

/// Conversions.
pub(super) fn cast(name: &str, lanes: &[u64], from: Type, to: Type, random: &mut Random) -> Done<Vec<u64>> {
    match name {
        "vector.broadcast" => return Ok(vec![lanes[0]; to.lanes()]),
        "vector.bitcast" | "llvm.bitcast" => return Ok(regrouped(lanes, width(from), width(to))),
        _ => {}
    }
    let (own_elem, elem) = (elem_of(from)?, elem_of(to)?);
    lanes
        .iter()
        .map(|&bits| {
            let x = signed(own_elem, bits);
            let result = match name {
                "arith.bitcast" | "llvm.ptrtoint" | "arith.index_cast" | "arith.extui" | "arith.trunci" => {
                    bits
                }
                "arith.extsi" => x as u64,
                "arith.sitofp" if own_elem == Elem::I1 => rounded(elem, -f64::from(bits as u8))?,
                "arith.sitofp" => match elem {
                    Elem::F32 => u64::from((x as f32).to_bits()),
                    Elem::F64 => (x as f64).to_bits(),
                    _ => rounded(elem, x as f64)?,
                },
                "arith.uitofp" => match elem {
                    Elem::F32 => u64::from((bits as f32).to_bits()),
                    Elem::F64 => (bits as f64).to_bits(),
                    _ => rounded(elem, bits as f64)?,
                },
                "arith.extf" | "arith.truncf" => rounded(elem, float(own_elem, bits)?)?,
                "arith.fptosi" | "arith.fptoui" => {
                    let value = float(own_elem, bits)?.trunc();
                    let most = 2f64.powi(elem.bits() as i32 - i32::from(name == "arith.fptosi"));
                    let least = if name == "arith.fptosi" { -most } else { 0.0 };
                    match value >= least && value < most {
                        true if name == "arith.fptosi" => value as i64 as u64,
                        true => value as u64,
                        // It is left open.
                        false => random.next(),
                    }
                }
                _ => return Err(FaultKind::Unknown(format!("`{name}` from {from} to {to}"))),
            };
            Ok(own(elem, result))
        })
        .collect()
}

/// The nearest float of a type.
fn rounded(elem: Elem, value: f64) -> Done<u64> {
    Ok(match elem {
        Elem::F16 => u64::from(f16::from_f64(value).to_bits()),
        Elem::F32 => u64::from((value as f32).to_bits()),
        Elem::F64 => value.to_bits(),
        other => return Err(FaultKind::Unknown(format!("a float of {other}"))),
    })
}

/// The bytes of a lane.
pub(super) fn width(ty: Type) -> usize {
    match ty {
        Type::Lanes(elem, _) => elem.size(),
        Type::Bf16(_) => 2,
        Type::Pointer | Type::Pointers(_) | Type::Index => 8,
    }
}

/// The same bits in lanes of another width.
fn regrouped(lanes: &[u64], from: usize, to: usize) -> Vec<u64> {
    let bytes: Vec<u8> = lanes.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(from)).collect();
    bytes
        .chunks(to)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect()
}

/// All lanes as one.
pub(super) fn reduction(kind: &str, ty: Type, lanes: &[u64]) -> Done<u64> {
    let name = match kind {
        "or" => "arith.ori",
        "and" => "arith.andi",
        "xor" => "arith.xori",
        "minui" => "arith.minui",
        "maxui" => "arith.maxui",
        "minsi" => "arith.minsi",
        "maxsi" => "arith.maxsi",
        // Sums of floats depend on their order.
        _ => return Err(FaultKind::Unknown(format!("the reduction `{kind}` of {ty}"))),
    };
    let (first, others) = lanes.split_first().ok_or_else(|| FaultKind::Unknown("no lanes".into()))?;
    others
        .iter()
        .try_fold(*first, |all, &lane| Ok(same(name, ty.element(), &[&[all], &[lane]], &mut Random(0))?[0]))
}

/// What an atomic operation leaves in memory.
pub(super) fn atomic(kind: &str, ty: Type, old: u64, value: u64) -> Done<u64> {
    let name = match kind {
        "add" => "arith.addi",
        "fadd" => "arith.addf",
        "_and" => "arith.andi",
        "_or" => "arith.ori",
        "_xor" => "arith.xori",
        "max" => "arith.maxsi",
        "min" => "arith.minsi",
        "umax" => "arith.maxui",
        "umin" => "arith.minui",
        _ => return Err(FaultKind::Unknown(format!("the atomic operation `{kind}`"))),
    };
    Ok(same(name, ty, &[&[old], &[value]], &mut Random(0))?[0])
}
