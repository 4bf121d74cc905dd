//! The constants of the cost model, and their text form.
//!
//! Costs are in units of one element of a vectorised addition, about 0.05 ns on the machine the defaults come
//! from. A calibration file has one `name value` a line; `#` starts a comment; names not given keep their default.

use crate::error::EgraphError;
use crate::lang::Op;
use std::fmt;
use surject_ir::{BinaryOp, UnaryOp};

/// Declares the constants with their names in the text form.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $default:literal,)*) => {
        /// What things cost.
        #[derive(Clone, Debug, PartialEq)]
        pub struct CostModel { $($(#[$doc])* pub $name: f64,)* }

        impl Default for CostModel {
            fn default() -> CostModel {
                CostModel { $($name: $default,)* }
            }
        }

        impl CostModel {
            fn slot(&mut self, name: &str) -> Option<&mut f64> {
                match name { $(stringify!($name) => Some(&mut self.$name),)* _ => None }
            }
        }

        impl fmt::Display for CostModel {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(writeln!(f, "{} {}", stringify!($name), self.$name)?;)*
                Ok(())
            }
        }
    };
}

constants! {
    /// A byte read or written, once a kernel and tensor.
    byte = 2.0,
    /// Starting a kernel that the threads do not share. Where they do, it is so large that their meeting does not count.
    launch = 1000.0,
    /// Loading an element.
    load = 0.5,
    /// An addition, a comparison, a choice, a conversion.
    simple = 1.0,
    /// A division, a remainder, a square root.
    divide = 6.0,
    /// An exponential or a logarithm.
    exp = 12.0,
    /// A hyperbolic tangent, an error function, a power, and every other function.
    tanh = 20.0,
    /// A multiplication and an addition in the registers of a contraction.
    fma = 0.5,
    /// How often an element of a contraction's operand is computed when it is not stored.
    repeat = 3.0,
}

impl CostModel {
    /// Reads a calibration.
    pub fn parse(text: &str) -> Result<CostModel, EgraphError> {
        let mut model = CostModel::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |what: String| EgraphError::CostModel { line: number + 1, what };
            let (name, value) = line
                .split_once(char::is_whitespace)
                .ok_or_else(|| wrong(format!("`{line}` is not `name value`")))?;
            let value: f64 = match value.trim().parse() {
                Ok(v) if f64::is_finite(v) && v >= 0.0 => v,
                _ => return Err(wrong(format!("`{}` is not a cost", value.trim()))),
            };
            let slot = model.slot(name).ok_or_else(|| wrong(format!("there is no constant `{name}`")))?;
            *slot = value;
        }
        Ok(model)
    }

    /// The cost of an operation on one element.
    pub fn op(&self, op: Option<Op>) -> f64 {
        match op {
            Some(Op::Unary(op)) => self.unary(op),
            Some(Op::Binary(op)) => self.binary(op),
            _ => self.simple,
        }
    }

    fn unary(&self, op: UnaryOp) -> f64 {
        use UnaryOp::*;
        match op {
            Neg | Abs | Sign | Floor | Ceil | RoundEven | RoundAway | IsFinite | Not | Popcount
            | CountLeadingZeros | Real | Imag => self.simple,
            Sqrt | Rsqrt => self.divide,
            Exp | Expm1 | Log | Log1p | Logistic => self.exp,
            _ => self.tanh,
        }
    }

    fn binary(&self, op: BinaryOp) -> f64 {
        use BinaryOp::*;
        match op {
            Div | Rem => self.divide,
            Pow | Atan2 => self.tanh,
            _ => self.simple,
        }
    }
}
