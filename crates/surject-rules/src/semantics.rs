//! What conditions of rules mean for operations, element types and numbers. Checking and matching must agree on
//! these tables: a rule is sound for the matches that they admit.

use surject_index::Verdict;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, eval};

/// What an operation variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A unary operation.
    Unary(UnaryOp),
    /// A binary operation, or the accumulation by it.
    Binary(BinaryOp),
    /// Conversion to this type.
    Convert(DType),
    /// The bits read as this type.
    Bitcast(DType),
    /// Rounding to this many exponent and mantissa bits.
    ReducePrecision(u32, u32),
}

impl Operation {
    /// The operation that a word of a condition names: as in patterns, or as the operator of an accumulation.
    pub fn from_word(word: &str) -> Option<Operation> {
        let binary = match word {
            "-" => Some(BinaryOp::Sub),
            "/" => Some(BinaryOp::Div),
            _ => AccOp::from_name(word).and_then(AccOp::binary).or_else(|| BinaryOp::from_name(word)),
        };
        binary.map(Operation::Binary).or_else(|| UnaryOp::from_name(word).map(Operation::Unary))
    }

    /// The operations with this many operands that a variable stands for. Conversions are unary operations.
    pub(crate) fn all(operands: usize) -> Vec<Operation> {
        if operands == 2 {
            return BinaryOp::ALL.iter().map(|&op| Operation::Binary(op)).collect();
        }
        let unary = UnaryOp::ALL.iter().map(|&op| Operation::Unary(op));
        let types = DType::ALL.iter().flat_map(|&d| [Operation::Convert(d), Operation::Bitcast(d)]);
        unary
            .chain(types)
            .chain([Operation::ReducePrecision(5, 10), Operation::ReducePrecision(8, 7)])
            .collect()
    }

    /// The accumulation by this operation.
    pub fn as_acc(self) -> Option<AccOp> {
        match self {
            Operation::Binary(op) => AccOp::from_binary(op),
            _ => None,
        }
    }

    /// The element type of the result for operands of this type.
    pub(crate) fn result(self, x: DType) -> Option<DType> {
        match self {
            Operation::Unary(op) => op.result(x),
            Operation::Binary(op) => op.result(x, x),
            Operation::Convert(to) => Some(to),
            Operation::Bitcast(to) => (to.bits() == x.bits()).then_some(to),
            Operation::ReducePrecision(exponent, _) => (x.is_float() && exponent > 0).then_some(x),
        }
    }

    /// `o(x)` or `o(x, x)`.
    fn at(self, x: Scalar) -> Option<Scalar> {
        match self {
            Operation::Unary(op) => eval::unary(op, x),
            Operation::Binary(op) => eval::binary(op, x, x),
            Operation::Convert(to) => Some(eval::convert(to, x)),
            Operation::Bitcast(to) => eval::bitcast(to, x),
            Operation::ReducePrecision(e, m) => eval::reduce_precision(e, m, x),
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Operation::Unary(op) => write!(f, "{op}"),
            Operation::Binary(op) => write!(f, "{op}"),
            Operation::Convert(to) => write!(f, "convert to {to}"),
            Operation::Bitcast(to) => write!(f, "bitcast to {to}"),
            Operation::ReducePrecision(e, m) => write!(f, "reduce_precision {e} {m}"),
        }
    }
}

/// The number as a scalar of a type, where the type has it: rounded to a float (`0.1` is the `f32` nearest to it, but no
/// number rounds to an infinity or to zero), exact in an integer. `-0.0` is the zero of integers, infinities are the
/// smallest and largest integers (the neutral elements of max and min).
pub fn number(dtype: DType, value: f64) -> Option<Scalar> {
    let scalar = Scalar::from_f64(dtype, value);
    let kept = scalar.as_f64() == value || dtype.is_float() && value.is_nan();
    let found = scalar.as_f64();
    let rounded = (dtype.is_float() || dtype.is_complex()) && found.is_finite() && found != 0.0;
    (kept || rounded || dtype.is_int() && value.is_infinite()).then_some(scalar)
}

/// `(⨁ f) ⊗ g = ⨁ (f ⊗ g)` for `⊗ = t`, `⊕ = o` over non-empty fibres, with the factor on the right. For floats
/// up to rounding and on finite values, which the class and the flags of the rule say.
pub fn distributes(t: Operation, o: Operation, dtype: DType) -> Verdict {
    use BinaryOp::*;
    let (Operation::Binary(t), Operation::Binary(o)) = (t, o) else { return Verdict::No(()) };
    let lattice = matches!((t, o), (Max | Min, Max | Min));
    let yes = if dtype.is_bool() {
        matches!((t, o), (And | Mul | Min, Or | Add | Max | Xor) | (Or | Add | Max, And | Mul | Min))
    } else if dtype.is_float() {
        lattice || matches!((t, o), (Mul | Div, Add) | (Add | Sub, Max | Min))
    } else if dtype.is_complex() {
        matches!((t, o), (Mul | Div, Add))
    } else {
        lattice || matches!((t, o), (Mul, Add) | (And, Or | Xor) | (Or, And))
    };
    yes.into()
}

/// Is `x ∘ x = x` for this element type?
pub fn idempotent(op: Operation, dtype: DType) -> Verdict {
    use BinaryOp::*;
    let yes = match op {
        Operation::Binary(Max | Min | And | Or) => !dtype.is_complex(),
        Operation::Binary(Add | Mul) => dtype.is_bool(),
        _ => false,
    };
    yes.into()
}

/// Is `x ∘ y = y ∘ x`?
pub fn commutative(op: Operation) -> Verdict {
    match op {
        Operation::Binary(op) => op.is_commutative().into(),
        _ => Verdict::No(()),
    }
}

/// Is the operation monotone as computed, over every value of the type? What is computed by a series (`exp`,
/// `tanh`, …) is not claimed.
pub fn monotone(op: Operation, dtype: DType) -> Verdict {
    use UnaryOp::*;
    match op {
        Operation::Unary(Floor | Ceil | RoundEven | RoundAway) if dtype.is_float() => Verdict::Yes(()),
        _ => Verdict::Unknown,
    }
}

/// Has the operation at an operand of type `dtype` the value `fill` where its operands are `fill`, bit for bit? A
/// NaN keeps its class, not its bits, so it is never certain.
pub fn maps_fill(op: Operation, fill: u128, dtype: DType) -> Verdict {
    let value = Scalar::from_bits(dtype, fill);
    let nan = |s: Scalar| (s.dtype().is_float() || s.dtype().is_complex()) && s.as_complex().is_nan();
    let same = |result: Scalar| result.bits() == fill && !nan(result);
    (value.bits() == fill && op.at(value).is_some_and(same)).into()
}

/// Is the element type in the class of this name? `None` when there is no such class.
pub fn in_class(dtype: DType, word: &str) -> Option<bool> {
    Some(match word {
        "float" => dtype.is_float(),
        "int" => dtype.is_int(),
        "signed" => dtype.is_signed_int(),
        "unsigned" => dtype.is_unsigned_int(),
        "complex" => dtype.is_complex(),
        "bool" => dtype.is_bool(),
        name => dtype == name.parse::<DType>().ok()?,
    })
}
