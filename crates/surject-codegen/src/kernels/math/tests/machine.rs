//! A machine in software that runs formulas for any processor, many elements at once.
//!
//! It is written to as an emitter is, so what it runs is the very text that compiled code is made of, with the
//! instructions of machines that the tests may not run on.

use crate::code::{Op, Value};
use crate::kernels::math::formula::Paper;
use crate::machine::elem::{Elem, Type};
use Register::*;

/// A register: one value an element.
#[derive(Clone, Debug)]
pub enum Register {
    Truths(Vec<bool>),
    Words(Vec<u32>),
    Doubles(Vec<u64>),
    /// A table in a register of its own.
    List(Vec<f32>),
}

/// A step: the operation, its operands and its types.
#[derive(Debug)]
enum Step {
    Literal(Elem, u64),
    List(Vec<f32>),
    Operation { name: String, operands: Vec<usize>, from: Elem, to: Elem },
}

/// Records the steps of a formula, and runs them.
#[derive(Debug, Default)]
pub struct Machine {
    steps: Vec<Step>,
    elems: Vec<Elem>,
}

impl Machine {
    fn push(&mut self, step: Step, e: Elem) -> Value {
        self.steps.push(step);
        self.elems.push(e);
        Value::numbered(self.steps.len() as u32 - 1)
    }

    /// The name of the next argument, which are the first steps.
    pub fn argument(&mut self, e: Elem) -> Value {
        self.push(Step::Literal(e, 0), e)
    }

    /// The registers of these names, given the arguments.
    pub fn run(&self, arguments: &[Register], names: &[Value]) -> Vec<Register> {
        let count = match &arguments[0] {
            Words(x) => x.len(),
            Doubles(x) => x.len(),
            _ => unreachable!("arguments are floats"),
        };
        let mut registers: Vec<Register> = arguments.to_vec();
        for step in &self.steps[arguments.len()..] {
            let value = match step {
                Step::Literal(Elem::I1, bits) => Truths(vec![*bits != 0; count]),
                Step::Literal(Elem::F32 | Elem::I32, bits) => Words(vec![*bits as u32; count]),
                Step::Literal(Elem::F64 | Elem::I64, bits) => Doubles(vec![*bits; count]),
                // Masks and modes of instructions.
                Step::Literal(..) => Truths(Vec::new()),
                Step::List(entries) => List(entries.clone()),
                Step::Operation { name, operands, from, to } => {
                    let operands: Vec<&Register> = operands.iter().map(|&i| &registers[i]).collect();
                    // SAFETY: it is asked whether the machine has what the function may use.
                    match is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
                        true => unsafe { operation_wide(name, &operands, *from, *to) },
                        false => operation(name, &operands, *from, *to),
                    }
                }
            };
            registers.push(value);
        }
        names.iter().map(|name| registers[name.number()].clone()).collect()
    }
}

impl Paper for Machine {
    fn write(&mut self, op: Op) -> Value {
        let elem = |ty: Type| match ty {
            Type::Lanes(elem, _) => elem,
            other => panic!("type `{other}`"),
        };
        let (name, operands, to) = match op {
            Op::Same { name, operands, ty } => (name.to_string(), operands, elem(ty)),
            Op::Compare { name, predicate, sides, .. } => {
                (format!("{name} {predicate}"), sides.to_vec(), Elem::I1)
            }
            Op::Select { condition, values: [a, b], ty } => {
                ("arith.select".to_string(), vec![condition.0, a, b], elem(ty))
            }
            Op::Cast { name, value, to, .. } => (name.to_string(), vec![value], elem(to)),
            Op::Intrinsic { name, operands, result } => {
                let operands = operands.iter().map(|o| o.0).collect();
                (name, operands, elem(result.expect("a result")))
            }
            other => panic!("formulas have no {other:?}"),
        };
        let operands: Vec<usize> = operands.iter().map(|o| o.number()).collect();
        let from = self.elems[operands[0]];
        self.push(Step::Operation { name, operands, from, to }, to)
    }

    fn literal(&mut self, elem: Elem, bits: u64, _: usize) -> Value {
        self.push(Step::Literal(elem, bits), elem)
    }

    fn list(&mut self, values: &[f32]) -> Value {
        self.push(Step::List(values.to_vec()), Elem::F32)
    }

    fn part(&mut self, value: Value, all: usize, first: usize, lanes: usize) -> Value {
        assert_eq!((first, lanes), (0, all), "a machine runs what is one register wide");
        value
    }

    fn join(&mut self, parts: Vec<Value>) -> Value {
        parts[0]
    }
}

#[target_feature(enable = "avx2,fma")]
fn operation_wide(name: &str, operands: &[&Register], from: Elem, to: Elem) -> Register {
    operation(name, operands, from, to)
}

#[inline(always)]
fn map<A: Copy, R>(a: &[A], f: impl Fn(A) -> R) -> Vec<R> {
    a.iter().map(|&a| f(a)).collect()
}

#[inline(always)]
fn zip<A: Copy, B: Copy, R>(a: &[A], b: &[B], f: impl Fn(A, B) -> R) -> Vec<R> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

/// The bits of a function of floats.
macro_rules! floats {
    ($operands:expr, |$a:ident| $value:expr) => {
        match $operands[0] {
            Words(a) => Words(map(a, |a| {
                let $a = f32::from_bits(a);
                f32::to_bits($value)
            })),
            Doubles(a) => Doubles(map(a, |a| {
                let $a = f64::from_bits(a);
                f64::to_bits($value)
            })),
            other => panic!("{other:?}"),
        }
    };
    ($operands:expr, |$a:ident, $b:ident| $value:expr) => {
        match ($operands[0], $operands[1]) {
            (Words(a), Words(b)) => Words(zip(a, b, |a, b| {
                let ($a, $b) = (f32::from_bits(a), f32::from_bits(b));
                f32::to_bits($value)
            })),
            (Doubles(a), Doubles(b)) => Doubles(zip(a, b, |a, b| {
                let ($a, $b) = (f64::from_bits(a), f64::from_bits(b));
                f64::to_bits($value)
            })),
            other => panic!("{other:?}"),
        }
    };
}

/// A comparison of floats.
macro_rules! compared {
    ($operands:expr, |$a:ident, $b:ident| $value:expr) => {
        match ($operands[0], $operands[1]) {
            (Words(a), Words(b)) => Truths(zip(a, b, |a, b| {
                let ($a, $b) = (f32::from_bits(a), f32::from_bits(b));
                $value
            })),
            (Doubles(a), Doubles(b)) => Truths(zip(a, b, |a, b| {
                let ($a, $b) = (f64::from_bits(a), f64::from_bits(b));
                $value
            })),
            other => panic!("{other:?}"),
        }
    };
}

/// A function of integers.
macro_rules! integers {
    ($operands:expr, |$a:ident, $b:ident| $value:expr) => {
        match ($operands[0], $operands[1]) {
            (Words(a), Words(b)) => Words(zip(a, b, |$a, $b| $value)),
            (Doubles(a), Doubles(b)) => Doubles(zip(a, b, |$a, $b| $value)),
            (Truths(a), Truths(b)) => Truths(zip(a, b, |a, b| {
                let ($a, $b) = (u32::from(a), u32::from(b));
                $value != 0
            })),
            other => panic!("{other:?}"),
        }
    };
}

#[inline(always)]
fn operation(name: &str, operands: &[&Register], from: Elem, to: Elem) -> Register {
    match name {
        "arith.addf" => floats!(operands, |a, b| a + b),
        "arith.subf" => floats!(operands, |a, b| a - b),
        "arith.mulf" => floats!(operands, |a, b| a * b),
        "arith.divf" => floats!(operands, |a, b| a / b),
        "arith.negf" => floats!(operands, |a| -a),
        "math.absf" => floats!(operands, |a| a.abs()),
        "math.sqrt" => floats!(operands, |a| a.sqrt()),
        "math.floor" => floats!(operands, |a| a.floor()),
        "math.copysign" => floats!(operands, |a, b| a.copysign(b)),
        "math.fma" => match (operands[0], operands[1], operands[2]) {
            (Words(a), Words(b), Words(c)) => {
                let f = f32::from_bits;
                Words(
                    a.iter().zip(b).zip(c).map(|((&a, &b), &c)| f(a).mul_add(f(b), f(c)).to_bits()).collect(),
                )
            }
            (Doubles(a), Doubles(b), Doubles(c)) => {
                let f = f64::from_bits;
                let values = a.iter().zip(b).zip(c);
                Doubles(values.map(|((&a, &b), &c)| f(a).mul_add(f(b), f(c)).to_bits()).collect())
            }
            other => panic!("{other:?}"),
        },
        "arith.cmpf olt" => compared!(operands, |a, b| a < b),
        "arith.cmpf ogt" => compared!(operands, |a, b| a > b),
        "arith.cmpf ole" => compared!(operands, |a, b| a <= b),
        "arith.cmpf oge" => compared!(operands, |a, b| a >= b),
        "arith.cmpf oeq" => compared!(operands, |a, b| a == b),
        "arith.cmpf une" => compared!(operands, |a, b| a != b),
        "arith.cmpf uno" => compared!(operands, |a, b| a.is_nan() || b.is_nan()),
        "arith.cmpi ult" => match (operands[0], operands[1]) {
            (Words(a), Words(b)) => Truths(zip(a, b, |a, b| a < b)),
            (Doubles(a), Doubles(b)) => Truths(zip(a, b, |a, b| a < b)),
            other => panic!("{other:?}"),
        },
        "arith.cmpi eq" => match (operands[0], operands[1]) {
            (Words(a), Words(b)) => Truths(zip(a, b, |a, b| a == b)),
            (Doubles(a), Doubles(b)) => Truths(zip(a, b, |a, b| a == b)),
            other => panic!("{other:?}"),
        },
        "arith.select" => {
            let Truths(c) = operands[0] else { panic!("{:?}", operands[0]) };
            match (operands[1], operands[2]) {
                (Words(a), Words(b)) => {
                    Words(c.iter().zip(a).zip(b).map(|((&c, &a), &b)| if c { a } else { b }).collect())
                }
                (Doubles(a), Doubles(b)) => {
                    Doubles(c.iter().zip(a).zip(b).map(|((&c, &a), &b)| if c { a } else { b }).collect())
                }
                other => panic!("{other:?}"),
            }
        }
        "arith.addi" => integers!(operands, |a, b| a.wrapping_add(b)),
        "arith.subi" => integers!(operands, |a, b| a.wrapping_sub(b)),
        "arith.andi" => integers!(operands, |a, b| a & b),
        "arith.ori" => integers!(operands, |a, b| a | b),
        "arith.xori" => integers!(operands, |a, b| a ^ b),
        "arith.shli" => integers!(operands, |a, b| a << b),
        "arith.shrui" => integers!(operands, |a, b| a >> b),
        "arith.shrsi" => match (operands[0], operands[1]) {
            (Words(a), Words(b)) => Words(zip(a, b, |a, b| (a as i32 >> b) as u32)),
            (Doubles(a), Doubles(b)) => Doubles(zip(a, b, |a, b| (a as i64 >> b) as u64)),
            other => panic!("{other:?}"),
        },
        "arith.bitcast" => operands[0].clone(),
        "arith.extf" | "arith.truncf" | "arith.fptosi" | "arith.sitofp" => match (operands[0], from, to) {
            (Words(a), Elem::F32, Elem::F64) => Doubles(map(a, |a| f64::from(f32::from_bits(a)).to_bits())),
            (Doubles(a), Elem::F64, Elem::F32) => Words(map(a, |a| (f64::from_bits(a) as f32).to_bits())),
            (Words(a), Elem::F32, Elem::I32) => Words(map(a, |a| f32::from_bits(a) as i32 as u32)),
            (Words(a), Elem::I32, Elem::F32) => Words(map(a, |a| (a as i32 as f32).to_bits())),
            (Doubles(a), Elem::F64, Elem::I64) => Doubles(map(a, |a| f64::from_bits(a) as i64 as u64)),
            (Doubles(a), Elem::I64, Elem::F64) => Doubles(map(a, |a| (a as i64 as f64).to_bits())),
            other => panic!("{name}: {other:?}"),
        },
        _ => intrinsic(name, operands),
    }
}

/// Instructions of processors.
fn intrinsic(name: &str, operands: &[&Register]) -> Register {
    match (name, operands) {
        ("llvm.x86.avx512.permvar.sf.512", [List(table), Words(n)]) => {
            Words(map(n, |n| table[n as usize & 15].to_bits()))
        }
        ("llvm.x86.avx512.vpermi2var.ps.512", [List(low), Words(n), List(high)]) => {
            Words(map(n, |n| [low, high][n as usize >> 4 & 1][n as usize & 15].to_bits()))
        }
        ("llvm.x86.avx512.mask.scalef.ps.512", [Words(y), Words(n), ..]) => Words(zip(y, n, |y, n| {
            let n = f64::from(f32::from_bits(n)).floor();
            // Exact in this type, and rounded once.
            ((f64::from(f32::from_bits(y)) * n.clamp(-800.0, 800.0).exp2()) as f32).to_bits()
        })),
        ("llvm.x86.avx512.mask.scalef.pd.512", [Doubles(y), Doubles(n), ..]) => Doubles(zip(y, n, |y, n| {
            let (y, n) = (f64::from_bits(y), f64::from_bits(n).floor());
            // What is rounded is rounded by the last product.
            let first =
                if n < 0.0 { (n + 1022.0).clamp(-1022.0, 0.0) } else { (n - 1023.0).clamp(0.0, 1023.0) };
            let second = (n - first).clamp(-1022.0, 1023.0);
            (y * first.exp2() * second.exp2()).to_bits()
        })),
        ("llvm.x86.avx512.rsqrt14.ps.512", [Words(x), ..]) => Words(map(x, |x| near_inverse_root(x, 14))),
        ("llvm.x86.avx.rsqrt.ps.256", [Words(x)]) => Words(map(x, |x| {
            let tiny = f32::from_bits(x).abs() < f32::MIN_POSITIVE;
            near_inverse_root(if tiny { x & 1 << 31 } else { x }, 12)
        })),
        other => panic!("{other:?}"),
    }
}

/// The inverse of the square root with so many digits.
fn near_inverse_root(x: u32, digits: u32) -> u32 {
    let root = (1.0 / f64::from(f32::from_bits(x)).sqrt()) as f32;
    if !root.is_finite() || root == 0.0 {
        root.to_bits()
    } else {
        root.to_bits() & (u32::MAX << (23 - digits))
    }
}
