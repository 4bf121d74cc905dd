//! Names of instructions.

use crate::boxes::Phasing;
use crate::code::{Alu, Atomic, Compare, Op, Order, Overflow, Part, Rounding, Shuffle, Space, Ty, Vote};

/// What matrix units read of an element of tf32: 10 bits of mantissa.
const TF32: u64 = 0xFFFF_E000;

fn space(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "shared" | "shared::cta" | "shared::cluster" => Space::Shared,
        "local" => Space::Local,
        "param" => Space::Param,
        _ => return None,
    })
}

fn compare(word: &str) -> Option<Compare> {
    Some(match word {
        "eq" => Compare::Eq,
        "ne" => Compare::Ne,
        "lt" | "lo" => Compare::Lt,
        "le" | "ls" => Compare::Le,
        "gt" | "hi" => Compare::Gt,
        "ge" | "hs" => Compare::Ge,
        "equ" => Compare::EqOr,
        "neu" => Compare::NeOr,
        "ltu" => Compare::LtOr,
        "leu" => Compare::LeOr,
        "gtu" => Compare::GtOr,
        "geu" => Compare::GeOr,
        "num" => Compare::Num,
        "nan" => Compare::Nan,
        _ => return None,
    })
}

/// The operation of a name; an error says what is not known. A branch gets its target later. It is long because it is flat:
/// one arm a name.
pub(crate) fn decode(name: &str) -> Result<Op, String> {
    if let Some(single) = name.strip_suffix("x2").filter(|n| !n.starts_with("cvt")) {
        return match decode(single)? {
            Op::Alu(alu, ty) if ty.bits == 16 => Ok(Op::Pair(alu, ty)),
            // Those of sm_100.
            Op::Alu(alu @ (Alu::Add | Alu::Sub | Alu::MulFloat | Alu::Fma), ty)
                if ty.is_float() && ty.bits == 32 =>
            {
                Ok(Op::Pair(alu, ty))
            }
            _ => Err(format!("the instruction `{name}` is not known")),
        };
    }
    let words: Vec<&str> = name.split('.').collect();
    let unknown = || format!("the instruction `{name}` is not known");
    let (first, rest) = words.split_first().ok_or_else(unknown)?;
    let has = |word: &str| rest.contains(&word);
    let last = || rest.last().and_then(|w| Ty::named(w)).ok_or_else(unknown);
    // Words that change nothing here.
    let only = |known: &[&str]| -> Result<(), String> {
        let strange = rest.iter().find(|w| !known.contains(*w) && Ty::named(w).is_none());
        strange.map_or(Ok(()), |w| Err(format!("`.{w}` of `{name}` is not known")))
    };
    let alu = |alu: Alu| -> Result<Op, String> {
        let types: Vec<Ty> = rest.iter().filter_map(|w| Ty::named(w)).collect();
        match (&types[..], rest) {
            (&[ty], _) => Ok(Op::Alu(alu, ty)),
            // Those of sm_100.
            (&[_, ty], ["rn", "f32", "f16" | "bf16"]) if matches!(alu, Alu::Add | Alu::Sub | Alu::Fma) => {
                Ok(Op::Mixed(alu, ty))
            }
            _ => Err(unknown()),
        }
    };
    match *first {
        "add" | "sub" => {
            only(&["rn"])?;
            alu(if *first == "add" { Alu::Add } else { Alu::Sub })
        }
        "mul" if last()?.is_float() => {
            only(&["rn"])?;
            alu(Alu::MulFloat)
        }
        "mul" | "mad" if !last()?.is_float() => {
            only(&["lo", "hi", "wide"])?;
            let part = match (has("lo"), has("hi")) {
                (true, _) => Part::Low,
                (_, true) => Part::High,
                _ => Part::Wide,
            };
            Ok(if *first == "mul" { Op::Multiply(part, last()?) } else { Op::MultiplyAdd(part, last()?) })
        }
        "fma" => {
            only(&["rn"])?;
            alu(Alu::Fma)
        }
        "div" => {
            only(&["rn"])?;
            alu(Alu::Div)
        }
        "rcp" => {
            only(&["rn"])?;
            alu(Alu::Rcp)
        }
        "sqrt" => {
            only(&["rn"])?;
            alu(Alu::Sqrt)
        }
        "rem" => alu(Alu::Rem),
        "min" | "max" => {
            only(&["NaN"])?;
            alu(match (*first, has("NaN")) {
                ("min", true) => Alu::MinNan,
                ("min", false) => Alu::Min,
                (_, true) => Alu::MaxNan,
                _ => Alu::Max,
            })
        }
        "and" => alu(Alu::And),
        "or" => alu(Alu::Or),
        "xor" => alu(Alu::Xor),
        "not" => alu(Alu::Not),
        "neg" => {
            only(&[])?;
            alu(Alu::Neg)
        }
        "abs" => {
            only(&[])?;
            alu(Alu::Abs)
        }
        "shl" => alu(Alu::Shl),
        "shr" => alu(Alu::Shr),
        "popc" => alu(Alu::Popc),
        "clz" => alu(Alu::Clz),
        "brev" => alu(Alu::Brev),
        "bfe" => alu(Alu::Bfe),
        "bfi" => alu(Alu::Bfi),
        "prmt" => {
            only(&[])?;
            alu(Alu::Prmt)
        }
        "lop3" => alu(Alu::Lop3),
        "copysign" => alu(Alu::CopySign),
        "shf" => {
            only(&["l", "r", "wrap"])?;
            alu(if has("l") { Alu::ShfLeft } else { Alu::ShfRight })
        }
        "cvt" => {
            if let Some(pair) = rest.iter().find_map(|w| w.strip_suffix("x2")) {
                only(&["rn", "f16x2", "bf16x2"])?;
                return Ok(Op::ConvertPair { to: Ty::named(pair).ok_or_else(unknown)? });
            }
            only(&["rn", "rni", "rzi", "rmi", "rpi", "sat"])?;
            let types: Vec<Ty> = rest.iter().filter_map(|w| Ty::named(w)).collect();
            let [to, from] = types[..] else { return Err(unknown()) };
            let rounding = match rest.first() {
                Some(&"rn") => Rounding::Nearest,
                Some(&"rni") => Rounding::NearestInteger,
                Some(&"rzi") => Rounding::ZeroInteger,
                Some(&"rmi") => Rounding::DownInteger,
                Some(&"rpi") => Rounding::UpInteger,
                _ => Rounding::None,
            };
            let overflow = if has("sat") { Overflow::Saturates } else { Overflow::Wraps };
            Ok(Op::Convert { to, from, rounding, overflow })
        }
        "setp" => {
            let found = rest.first().and_then(|w| compare(w)).ok_or_else(unknown)?;
            let join = match rest.get(1) {
                Some(&"and") => Some(Alu::And),
                Some(&"or") => Some(Alu::Or),
                Some(&"xor") => Some(Alu::Xor),
                _ => None,
            };
            Ok(Op::SetPredicate { compare: found, ty: last()?, join })
        }
        "selp" => Ok(Op::Select(last()?)),
        "mov" => Ok(Op::Move(last()?)),
        "ld" | "st" => {
            only(&[
                "global",
                "shared",
                "shared::cta",
                "local",
                "param",
                "nc",
                "v2",
                "v4",
                "v8",
                "relaxed",
                "gpu",
                "L1",
                "cs",
                "evict_first",
                "no_allocate",
                "L1::no_allocate",
                "L1::evict_first",
                "weak",
            ])?;
            let space = rest.iter().find_map(|w| space(w)).unwrap_or(Space::Generic);
            let ty = last()?;
            Ok(if *first == "ld" { Op::Load { space, ty } } else { Op::Store { space, ty } })
        }
        "atom" | "red" => {
            only(&[
                "global",
                "shared",
                "shared::cta",
                "relaxed",
                "gpu",
                "sys",
                "cta",
                "add",
                "min",
                "max",
                "and",
                "or",
                "xor",
                "exch",
                "cas",
            ])?;
            let space = rest.iter().find_map(|w| space(w)).unwrap_or(Space::Generic);
            let op = match true {
                _ if has("add") => Atomic::Add,
                _ if has("min") => Atomic::Min,
                _ if has("max") => Atomic::Max,
                _ if has("and") => Atomic::And,
                _ if has("or") => Atomic::Or,
                _ if has("xor") => Atomic::Xor,
                _ if has("exch") => Atomic::Exchange,
                _ if has("cas") => Atomic::Compare,
                _ => return Err(unknown()),
            };
            Ok(Op::Atomic { space, op, ty: last()?, result: *first == "atom" })
        }
        "cvta" => {
            let space = rest.iter().find_map(|w| space(w)).ok_or_else(unknown)?;
            Ok(Op::Cvta { space, to: has("to") })
        }
        "cp" => match rest {
            ["async", "cg" | "ca", "shared" | "shared::cta", "global"] => Ok(Op::CopyAsync { bytes: 0 }),
            ["async", "commit_group"] => Ok(Op::CopyCommit),
            ["async", "wait_group"] => Ok(Op::CopyWait(0)),
            ["async", "wait_all"] => Ok(Op::CopyWait(usize::MAX)),
            [
                "async",
                "bulk",
                "tensor",
                "1d" | "2d" | "3d" | "4d" | "5d",
                "shared::cluster" | "shared::cta",
                "global",
                "tile",
                "mbarrier::complete_tx::bytes",
            ] => Ok(Op::BoxCopy),
            _ => Err(unknown()),
        },
        "mbarrier" => match rest {
            ["init", "shared" | "shared::cta", "b64"] => Ok(Op::Phase(Phasing::Init)),
            ["arrive", "shared" | "shared::cta", "b64"] => Ok(Op::Phase(Phasing::Arrive)),
            ["arrive", "expect_tx", "shared" | "shared::cta", "b64"] => Ok(Op::Phase(Phasing::Expect)),
            ["try_wait", "parity", "shared" | "shared::cta", "b64"] => Ok(Op::Phase(Phasing::Wait)),
            _ => Err(unknown()),
        },
        "bra" => Ok(Op::Branch(0)),
        "ret" | "exit" => Ok(Op::Return),
        "bar" | "barrier" => match rest {
            ["sync"] | ["cta", "sync"] | ["sync", "aligned"] | ["cta", "sync", "aligned"] => Ok(Op::Barrier),
            ["warp", "sync"] => Ok(Op::WarpBarrier),
            _ => Err(unknown()),
        },
        "shfl" => match rest {
            ["sync", kind, "b32"] => Ok(Op::Shuffle(match *kind {
                "bfly" => Shuffle::Xor,
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "idx" => Shuffle::Index,
                _ => return Err(unknown()),
            })),
            _ => Err(unknown()),
        },
        "vote" => match rest {
            ["sync", "all", "pred"] => Ok(Op::Vote(Vote::All)),
            ["sync", "any", "pred"] => Ok(Op::Vote(Vote::Any)),
            ["sync", "ballot", "b32"] => Ok(Op::Vote(Vote::Ballot)),
            _ => Err(unknown()),
        },
        "activemask" => Ok(Op::ActiveMask),
        "ldmatrix" => {
            let count = match true {
                _ if has("x1") => 1,
                _ if has("x2") => 2,
                _ if has("x4") => 4,
                _ => return Err(unknown()),
            };
            let order = if has("trans") { Order::Transposed } else { Order::ByRows };
            Ok(Op::LoadMatrix { count, order })
        }
        "mma" => {
            let shape = rest.iter().find_map(|w| {
                let (m, rest) = w.strip_prefix('m')?.split_once('n')?;
                let (n, k) = rest.split_once('k')?;
                Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
            });
            let (m, n, k) = shape.ok_or_else(unknown)?;
            let tf32 = has("tf32");
            let types: Vec<Ty> =
                rest.iter().filter_map(|w| Ty::named(if *w == "tf32" { "f32" } else { w })).collect();
            let &[sum, a, b, c] = &types[..] else { return Err(unknown()) };
            if sum != c || a != b || !has("row") || !has("col") || has("satfinite") {
                return Err(format!("the product `{name}` is not known"));
            }
            let known = matches!(
                (m, n, k, a.bits),
                (16, 8, 16, 16) | (16, 8, 8, 16) | (16, 8, 32, 8) | (8, 8, 4, 64)
            ) || tf32 && (m, n, k) == (16, 8, 8);
            if !known {
                return Err(format!("the product `{name}` is not known"));
            }
            let kept = if tf32 { TF32 } else { u64::MAX };
            Ok(Op::MatMul { m, n, k, operands: a, kept, sum })
        }
        "wgmma" => match rest {
            ["fence", "sync", "aligned"] => Ok(Op::GroupFence),
            ["commit_group", "sync", "aligned"] => Ok(Op::GroupCommit),
            ["wait_group", "sync", "aligned"] => Ok(Op::GroupWait),
            ["mma_async", "sync", "aligned", shape, "f32", a @ ("f16" | "bf16"), b] if a == b => {
                let n = shape.strip_prefix("m64n").and_then(|s| s.strip_suffix("k16")?.parse().ok());
                let n = n.filter(|n: &usize| (8..=256).contains(n) && n.is_multiple_of(8));
                let (operands, sum) =
                    (Ty::named(a).ok_or_else(unknown)?, Ty::named("f32").ok_or_else(unknown)?);
                Ok(Op::GroupMatMul { n: n.ok_or_else(unknown)?, operands, sum })
            }
            _ => Err(unknown()),
        },
        "fence" | "membar" | "prefetch" | "discard" => Ok(Op::Nothing),
        "setmaxnreg" => match rest {
            ["inc" | "dec", "sync", "aligned", "u32"] => Ok(Op::GroupRegisters),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}
