//! The tree of a source.

use crate::source::Primitive;
use crate::spec::{Capture, Kind};
use crate::{ShapeSpec, Span, Spec};

/// A whole text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// What it says, in order.
    pub items: Vec<Item>,
}

/// A name where it is introduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A declaration or a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// A tensor given from outside, with its shape if it is known.
    Input {
        /// Its name.
        name: Name,
        /// Its shape.
        shape: Option<ShapeSpec>,
        /// Facts about the sizes of its shape, as they are written.
        facts: Vec<Name>,
    },
    /// A static index.
    Index {
        /// Its name.
        name: Name,
        /// The number of its values.
        range: u64,
    },
    /// Symbolic sizes.
    Sizes(Vec<Name>),
    /// Facts about symbolic sizes, as they are written.
    Where(Vec<Name>),
    /// A value with a name.
    Let {
        /// The name; `_` is none.
        name: Name,
        /// The value.
        value: Expr,
    },
    /// The results of a cut, each with a name; `_` is none.
    Cut {
        /// The names, in the order of the results.
        names: Vec<Name>,
        /// The cut: a [`SpecOp::Concat`] of one operand.
        value: Expr,
    },
    /// A function.
    Function(Function),
    /// An operator given by its assignments.
    Operation(Operation),
    /// The results of the source.
    Output(Vec<Name>),
    /// A statement that writes.
    Assign(Box<Assignment>),
    /// A value that is asked for nothing but its constraints and effects.
    Expr(Expr),
}

/// A function or a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Sizes, numbers, specs and functions, given before `()`.
    pub config: Vec<Parameter>,
    /// Whether it has a `()`, whose application makes its parameters.
    pub unit: bool,
    /// The tensors it takes, if it takes any.
    pub tensors: Vec<Name>,
    /// What it gives.
    pub body: Body,
}

/// A parameter of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its value where none is given.
    pub default: Option<Expr>,
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What comes first.
    pub items: Vec<Item>,
    /// The value; none where the function only acts.
    pub result: Option<Box<Expr>>,
}

/// An operator given by its assignments, as the seeds give them.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name.
    pub name: Name,
    /// The names of its operands, one to three.
    pub operands: Vec<Name>,
    /// How the axes of the operands and the result meet; pointwise where nothing is said.
    pub logic: Option<Logic>,
    /// What the operation writes.
    pub forward: Vec<Assignment>,
    /// What its gradient writes.
    pub gradient: Vec<Assignment>,
}

/// An accumulating assignment.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// What is written: a name, a part of a named tensor, an inline definition, or a slice of one of these.
    pub target: Expr,
    /// Whether the target starts from the neutral element (`:`), not from what it holds.
    pub reset: bool,
    /// How values that meet in one cell become one.
    pub accumulator: Accumulator,
    /// What is computed from the arguments.
    pub primitive: Primitive,
    /// The arguments, as many as the primitive takes.
    pub arguments: Vec<Expr>,
    /// How the axes meet.
    pub logic: Option<Logic>,
    /// Where it stands.
    pub span: Span,
}

/// How the axes of operands and result meet.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// `"."`: rows of one kind meet, with broadcasting.
    Pointwise,
    /// `"@"`: inputs of the first meet outputs of the second, with broadcasting.
    Compose,
    /// `"T"`: inputs and outputs change places, with broadcasting.
    Transpose,
    /// A spec: exactly as it says, without broadcasting.
    Spec(SpecArgument),
}

/// How values that meet in one cell become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Accumulator {
    /// The last one written stays.
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Mod,
    Max,
    Min,
    Or,
    And,
    ReluGate,
    Satur01Gate,
}

impl Accumulator {
    /// The accumulators with their signs, longer signs before their prefixes.
    pub(super) const TABLE: [(&'static str, Accumulator); 12] = [
        ("**", Accumulator::Pow),
        ("@^", Accumulator::Max),
        ("^^", Accumulator::Min),
        ("||", Accumulator::Or),
        ("&&", Accumulator::And),
        ("?/", Accumulator::ReluGate),
        ("?^", Accumulator::Satur01Gate),
        ("+", Accumulator::Add),
        ("-", Accumulator::Sub),
        ("*", Accumulator::Mul),
        ("/", Accumulator::Div),
        ("%", Accumulator::Mod),
    ];

    /// The sign after `=` or `=:`.
    pub fn sign(self) -> &'static str {
        Accumulator::TABLE.iter().find(|(_, a)| *a == self).map_or("", |(sign, _)| sign)
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// The height of the tree, at most [`crate::source::MAX_DEPTH`].
    pub(super) depth: u32,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number; with a basis it has one output axis of size one of that basis.
    Number(Number, Option<String>),
    /// A string that is not a spec.
    Text(String),
    /// A spec as an argument.
    Spec(SpecArgument),
    /// A tensor, a function, a host value or a size, by its name.
    Name(String),
    /// Parts one after the other along a new axis.
    Literal {
        /// The row of the axis.
        kind: Kind,
        /// The parts, at least one.
        items: Vec<Expr>,
        /// The basis of the axis.
        basis: Option<String>,
    },
    /// `{ w }`
    Define(Box<Define>),
    /// A sign before an operand.
    Unary(UnaryOp, Box<Expr>),
    /// A sign between two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// An operator with a spec.
    Einsum(SpecOp, Vec<Expr>, SpecArgument),
    /// A function applied.
    Call(Box<Expr>, Vec<Argument>),
    /// A part of a tensor.
    Part(Box<Expr>, Part),
    /// A function without a name.
    Lambda(Vec<Name>, Box<Expr>),
}

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Without a point or an exponent.
    Int(u64),
    /// With one; finite.
    Float(f64),
}

/// An inline definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// The name of the tensor.
    pub name: Name,
    /// Its first value.
    pub init: Option<Expr>,
    /// The sizes of its rows, where they are given.
    pub rows: Vec<(Kind, Vec<Expr>)>,
}

/// A spec, or the name of one.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecArgument {
    /// A spec with what it captures.
    Literal(Box<Spec>, Vec<Capture>),
    /// A configuration value that is a spec.
    Name(Name),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `key:` before it.
    pub key: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// Signs before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!.`: a number of the host program as a scalar.
    EmbedFloat,
    /// `!..`: a whole number of the host program as a scalar.
    EmbedInt,
    /// `!@`: a static index as a scalar.
    EmbedIndex,
}

/// Signs between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Or,
    And,
    Less,
    Equal,
    NotEqual,
    Add,
    Sub,
    /// `*`: inputs of the left operand meet outputs of the right one.
    Compose,
    /// `*.`
    Mul,
    /// `/`: pointwise; at the outermost place of an assignment the primitive.
    Div,
    /// `/.`: pointwise everywhere.
    PointDiv,
    Mod,
    /// `@|`
    Slice,
    /// `**.`
    PointPow,
    /// `**`: the primitive, at the outermost place of an assignment only.
    Pow,
}

impl BinaryOp {
    /// The primitive that the sign stands for between scalars.
    pub fn primitive(self) -> Option<&'static str> {
        Some(match self {
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Less => "lt",
            BinaryOp::Equal => "eq",
            BinaryOp::NotEqual => "ne",
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Compose | BinaryOp::Mul => "mul",
            BinaryOp::Div | BinaryOp::PointDiv => "div",
            BinaryOp::Pow | BinaryOp::PointPow => "pow",
            BinaryOp::Mod => "mod",
            BinaryOp::Slice => return None,
        })
    }
}

/// Operators with a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecOp {
    /// `+*`: products are added up.
    Einsum,
    /// `+++`: sums are added up.
    OuterSum,
    /// `@^+`: the maximum of sums.
    Tropical,
    /// `++`: added up.
    Einsum1,
    /// `@^^`: the maximum.
    Max,
    /// `++^`: pieces of concatenations are added up.
    Concat,
}

/// Parts of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Part {
    Grad,
    Value,
    Merge,
    Forward,
    Backprop,
    ZeroGrads,
}

impl Part {
    /// All parts with their names.
    pub const ALL: [(&'static str, Part); 6] = [
        ("grad", Part::Grad),
        ("value", Part::Value),
        ("merge", Part::Merge),
        ("forward", Part::Forward),
        ("backprop", Part::Backprop),
        ("zero_grads", Part::ZeroGrads),
    ];

    /// The name after the point.
    pub fn name(self) -> &'static str {
        Part::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// By which index map of an operation a tensor is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// That of the result.
    Lhs,
    /// That of an operand, counted from one to three.
    Rhs(u8),
}

impl Slot {
    /// The slot that a name claims. `v t g lhs` claim the result, `v1 t1 g1 rhs1` the first operand, and so to
    /// three; `lhs_… …_lhs rhs1_… …_rhs1` claim the same for other names, where `rhs` alone counts as `rhs1`.
    pub fn of_name(name: &str) -> Option<Slot> {
        let numbered = |rest: &str| match rest {
            "1" => Some(Slot::Rhs(1)),
            "2" => Some(Slot::Rhs(2)),
            "3" => Some(Slot::Rhs(3)),
            _ => None,
        };
        let side = |word: &str| match word {
            "lhs" => Some(Slot::Lhs),
            "rhs" => Some(Slot::Rhs(1)),
            _ => numbered(word.strip_prefix("rhs")?),
        };
        let short = |name: &str| match name {
            "v" | "t" | "g" => Some(Slot::Lhs),
            _ => numbered(name.strip_prefix(['v', 't', 'g'])?),
        };
        short(name)
            .or_else(|| side(name))
            .or_else(|| name.split_once('_').and_then(|(first, _)| side(first)))
            .or_else(|| name.rsplit_once('_').and_then(|(_, last)| side(last)))
    }
}
