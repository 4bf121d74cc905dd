//! Extents: the sizes of axes, as exact expressions.
//!
//! A constant is the common case and costs one comparison of integers; a symbolic extent is a shared
//! expression over input sizes and runtime scalars (seed 002). What is *guaranteed* of a size is a matter of
//! [`ShapeExtent`], never of the form of the expression.

use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;

/// The exact size of one axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extent {
    /// A size known at compile time.
    Const(u64),
    /// A size computed at run time.
    Expr(Arc<ExtentExpr>),
}

/// How a symbolic size is computed. Arithmetic is that of the integers; a negative final value, an overflow or
/// a division by zero is an [`ExtentError`] when the expression is evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExtentExpr {
    /// A declared size: the name that an axis of an input, or of a value whose size is not exact, is given.
    Symbol(Arc<str>),
    /// The size of an axis of an input of the program.
    InputAxis {
        /// Position of the input.
        input: usize,
        /// Position of the axis.
        axis: usize,
    },
    /// A size derived from the value of a scalar input.
    RuntimeScalar {
        /// Position of the input.
        input: usize,
        /// How the value becomes a size.
        semantics: ScalarSemantics,
    },
    /// `a + b`
    Add(Extent, Extent),
    /// `a - b`
    Sub(Extent, Extent),
    /// `a * b`
    Mul(Extent, Extent),
    /// `⌊a / b⌋`, defined for `b ≥ 1`
    FloorDiv(Extent, Extent),
    /// The smaller one.
    Min(Extent, Extent),
    /// The larger one.
    Max(Extent, Extent),
}

/// How the value of a runtime scalar becomes a size (seed 002: the conversion is never a generic cast).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarSemantics {
    /// A float of rank 0: not finite gives 0, else rounded half away from zero and clamped at 0 from below.
    DynamicTruncateSize,
    /// An integer of rank 0, clamped at 0 from below.
    IntegerSize,
}

/// What is guaranteed of the size of an axis (seed 002).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapeExtent {
    /// In every admissible run the size is the value of the expression.
    Exact(Extent),
    /// In every admissible run the size is at most the value of the expression.
    UpperBound(Extent),
    /// Nothing but the existence of the axis.
    Unknown,
}

/// Why a symbolic extent has no value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExtentError {
    /// The environment does not define an atom.
    #[error("the size `{0}` is not known in this environment")]
    Unbound(String),
    /// A size would be negative.
    #[error("the size `{0}` is negative: {1}")]
    Negative(String, i128),
    /// The value does not fit.
    #[error("the size `{0}` overflows")]
    Overflow(String),
    /// A division by zero or by a negative number.
    #[error("division by zero or a negative number in the size `{0}`")]
    DivByZero(String),
}

/// Gives the atoms of symbolic extents their values.
pub trait ExtentEnv {
    /// The size of an axis of an input.
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64>;
    /// The size that a runtime scalar stands for, already converted by its semantics.
    fn runtime_scalar(&self, input: usize, semantics: ScalarSemantics) -> Option<u64>;
    /// The value of a declared size.
    fn symbol(&self, _name: &str) -> Option<u64> {
        None
    }
}

impl Extent {
    /// A constant size.
    pub const fn constant(value: u64) -> Extent {
        Extent::Const(value)
    }

    /// The size of an axis of an input.
    pub fn input_axis(input: usize, axis: usize) -> Extent {
        Extent::Expr(Arc::new(ExtentExpr::InputAxis { input, axis }))
    }

    /// A declared size.
    pub fn symbol(name: &str) -> Extent {
        Extent::Expr(Arc::new(ExtentExpr::Symbol(name.into())))
    }

    /// The value, if it is known at compile time.
    pub fn as_const(&self) -> Option<u64> {
        match self {
            Extent::Const(value) => Some(*value),
            Extent::Expr(_) => None,
        }
    }

    /// A lower bound of the value in every run where it is defined.
    pub fn at_least(&self) -> u64 {
        u64::try_from(self.least().unwrap_or(0).max(0)).unwrap_or(u64::MAX)
    }

    /// A lower bound of the integer value, negative intermediate results included.
    fn least(&self) -> Option<i128> {
        let expr = match self {
            Extent::Const(value) => return Some((*value).into()),
            Extent::Expr(expr) => expr,
        };
        match &**expr {
            ExtentExpr::Symbol(_) | ExtentExpr::InputAxis { .. } | ExtentExpr::RuntimeScalar { .. } => {
                Some(0)
            }
            ExtentExpr::Add(a, b) => a.least()?.checked_add(b.least()?),
            ExtentExpr::Mul(a, b) => {
                let (a, b) = (a.least()?, b.least()?);
                if a >= 0 && b >= 0 { a.checked_mul(b) } else { None }
            }
            ExtentExpr::FloorDiv(a, b) => match b.as_const() {
                Some(b) if b > 0 => Some(a.least()?.div_euclid(b.into())),
                // A divisor is at least 1 where the quotient is defined.
                _ => (a.least()? >= 0).then_some(0),
            },
            ExtentExpr::Sub(..) => None,
            ExtentExpr::Min(a, b) => Some(a.least()?.min(b.least()?)),
            ExtentExpr::Max(a, b) => match (a.least(), b.least()) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// The value of the expression in an environment, in exact integers.
    pub fn eval(&self, env: &dyn ExtentEnv) -> Result<u64, ExtentError> {
        let value = self.eval_integer(env)?;
        if value < 0 {
            return Err(ExtentError::Negative(self.to_string(), value));
        }
        u64::try_from(value).map_err(|_| ExtentError::Overflow(self.to_string()))
    }

    /// The value as an integer, which may be negative: a side of a fact need not be a size.
    pub fn eval_integer(&self, env: &dyn ExtentEnv) -> Result<i128, ExtentError> {
        let unbound = || ExtentError::Unbound(self.to_string());
        let overflow = || ExtentError::Overflow(self.to_string());
        let expr = match self {
            Extent::Const(value) => return Ok(*value as i128),
            Extent::Expr(expr) => expr,
        };
        let both =
            |a: &Extent, b: &Extent| Ok::<_, ExtentError>((a.eval_integer(env)?, b.eval_integer(env)?));
        match &**expr {
            ExtentExpr::Symbol(name) => env.symbol(name).map(i128::from).ok_or_else(unbound),
            ExtentExpr::InputAxis { input, axis } => {
                env.input_axis(*input, *axis).map(i128::from).ok_or_else(unbound)
            }
            ExtentExpr::RuntimeScalar { input, semantics } => {
                env.runtime_scalar(*input, *semantics).map(i128::from).ok_or_else(unbound)
            }
            ExtentExpr::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b).ok_or_else(overflow)),
            ExtentExpr::Sub(a, b) => both(a, b).and_then(|(a, b)| a.checked_sub(b).ok_or_else(overflow)),
            ExtentExpr::Mul(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b).ok_or_else(overflow)),
            ExtentExpr::FloorDiv(a, b) => match both(a, b)? {
                (a, b) if b > 0 => Ok(a.div_euclid(b)),
                _ => Err(ExtentError::DivByZero(self.to_string())),
            },
            ExtentExpr::Min(a, b) => both(a, b).map(|(a, b)| a.min(b)),
            ExtentExpr::Max(a, b) => both(a, b).map(|(a, b)| a.max(b)),
        }
    }
}

impl Extent {
    /// `a mod b = a - b·⌊a / b⌋`, folded when both are constant and `b` is not zero.
    pub fn modulo(a: Extent, b: Extent) -> Extent {
        match (&a, &b) {
            (Extent::Const(x), Extent::Const(y)) if *y > 0 => Extent::Const(x % y),
            _ => Extent::difference(a.clone(), Extent::product(b.clone(), Extent::floor_div(a, b))),
        }
    }

    /// `⌈a / b⌉ = ⌊(a + b - 1) / b⌋`
    pub fn ceil_div(a: Extent, b: Extent) -> Extent {
        let above = match &b {
            Extent::Const(y) if *y > 0 => Extent::sum(a, Extent::Const(y - 1)),
            _ => Extent::difference(Extent::sum(a, b.clone()), Extent::Const(1)),
        };
        Extent::floor_div(above, b)
    }

    /// `a` and `b` of an expression that [`Extent::modulo`] writes.
    pub(crate) fn as_remainder(&self) -> Option<(&Extent, &Extent)> {
        let Extent::Expr(expr) = self else { return None };
        let ExtentExpr::Sub(a, Extent::Expr(product)) = &**expr else { return None };
        let ExtentExpr::Mul(b, Extent::Expr(quotient)) = &**product else { return None };
        match &**quotient {
            ExtentExpr::FloorDiv(x, d) if x == a && d == b => Some((a, b)),
            _ => None,
        }
    }

    /// Adds the sizes and scalars that the expression is computed from.
    pub fn atoms(&self, into: &mut BTreeSet<Arc<ExtentExpr>>) {
        let Extent::Expr(expr) = self else { return };
        match expr.operands() {
            Some(operands) => operands.iter().for_each(|operand| operand.atoms(into)),
            None => {
                into.insert(expr.clone());
            }
        }
    }

    /// The number of constants, sizes and operations.
    pub(crate) fn nodes(&self) -> usize {
        match self {
            Extent::Const(_) => 1,
            Extent::Expr(expr) => 1 + expr.operands().into_iter().flatten().map(Extent::nodes).sum::<usize>(),
        }
    }
}

impl ExtentExpr {
    /// The operands of an operation.
    pub fn operands(&self) -> Option<[&Extent; 2]> {
        match self {
            ExtentExpr::Symbol(_) | ExtentExpr::InputAxis { .. } | ExtentExpr::RuntimeScalar { .. } => None,
            ExtentExpr::Add(a, b)
            | ExtentExpr::Sub(a, b)
            | ExtentExpr::Mul(a, b)
            | ExtentExpr::FloorDiv(a, b)
            | ExtentExpr::Min(a, b)
            | ExtentExpr::Max(a, b) => Some([a, b]),
        }
    }

    /// The same operation of other operands; `None` for what is no operation.
    pub(crate) fn of_operands(&self, a: Extent, b: Extent) -> Option<Extent> {
        Some(match self {
            ExtentExpr::Add(..) => Extent::sum(a, b),
            ExtentExpr::Sub(..) => Extent::difference(a, b),
            ExtentExpr::Mul(..) => Extent::product(a, b),
            ExtentExpr::FloorDiv(..) => Extent::floor_div(a, b),
            ExtentExpr::Min(..) => Extent::min(a, b),
            ExtentExpr::Max(..) => Extent::max(a, b),
            ExtentExpr::Symbol(_) | ExtentExpr::InputAxis { .. } | ExtentExpr::RuntimeScalar { .. } => {
                return None;
            }
        })
    }

    /// Adds the divisors of all floor divisions in the expression.
    pub(crate) fn divisors(&self, into: &mut Vec<Extent>) {
        if let ExtentExpr::FloorDiv(_, divisor) = self {
            into.push(divisor.clone());
        }
        for operand in self.operands().into_iter().flatten() {
            if let Extent::Expr(expr) = operand {
                expr.divisors(into);
            }
        }
    }
}

/// Defines one folding constructor per binary expression.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident, $variant:ident, $fold:expr;)*) => {
        impl Extent {
            $($(#[$doc])*
            pub fn $name(a: Extent, b: Extent) -> Extent {
                if let (Extent::Const(x), Extent::Const(y)) = (&a, &b) {
                    let fold: fn(u64, u64) -> Option<u64> = $fold;
                    if let Some(value) = fold(*x, *y) {
                        return Extent::Const(value);
                    }
                }
                Extent::Expr(Arc::new(ExtentExpr::$variant(a, b)))
            })*
        }
    };
}

binary! {
    /// `a + b`, folded when both are constant.
    sum, Add, |a, b| a.checked_add(b);
    /// `a - b`, folded when both are constant and the result is not negative.
    difference, Sub, |a, b| a.checked_sub(b);
    /// `a * b`, folded when both are constant.
    product, Mul, |a, b| a.checked_mul(b);
    /// `⌊a / b⌋`, folded when both are constant and `b` is not zero.
    floor_div, FloorDiv, |a, b| a.checked_div(b);
    /// The smaller of two extents.
    min, Min, |a, b| Some(a.min(b));
    /// The larger of two extents.
    max, Max, |a, b| Some(a.max(b));
}

impl From<u64> for Extent {
    fn from(value: u64) -> Extent {
        Extent::Const(value)
    }
}
