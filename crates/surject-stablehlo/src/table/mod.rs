//! What is known of each operation, as data: one row an operation, which drives the parser, the printer, the
//! defaults, the verifier and the coverage listing. The rows stand in `table/rows.rs` and `table/chlo.rs`.

use std::collections::HashMap;
use std::sync::OnceLock;

use rustc_hash::FxBuildHasher;

mod chlo;
mod rows;
mod sdy;

/// How many of something an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least.
    pub min: usize,
    /// At most; `usize::MAX` for any number.
    pub max: usize,
}

impl Arity {
    /// Exactly `n`.
    pub const fn exactly(n: usize) -> Arity {
        Arity { min: n, max: n }
    }

    /// `n` or more.
    pub const fn at_least(n: usize) -> Arity {
        Arity { min: n, max: usize::MAX }
    }

    /// Whether `n` is in range.
    pub fn allows(self, n: usize) -> bool {
        self.min <= n && n <= self.max
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.min, self.max) {
            (0, usize::MAX) => f.write_str("any number of"),
            (min, usize::MAX) => write!(f, "at least {min}"),
            (min, max) if min == max => write!(f, "{min}"),
            (min, max) => write!(f, "{min} to {max}"),
        }
    }
}

/// What an attribute holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the variants are the names of the attribute kinds
pub enum AttrKind {
    /// `array<i64: …>` (older text: `dense<…> : tensor<nxi64>`)
    I64s,
    /// `array<i1: …>`
    Bools,
    I64,
    I32,
    U64,
    Bool,
    F32,
    F64,
    Str,
    Unit,
    /// `dense<…>`
    Dense,
    /// `dense<…> : tensor<nx2xi64>`
    Pairs,
    /// An enumeration of [`enum_values`].
    Enum(&'static str),
    /// A list of them.
    Enums(&'static str),
    Dot,
    Conv,
    Gather,
    Scatter,
    Channel,
    DotAlgorithm,
    ResultAccuracy,
    Symbol,
    Dict,
    Array,
    Any,
}

/// What holds where the text leaves an attribute out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// An error.
    Required,
    /// Nothing: absence means something of its own.
    Optional,
    /// The boolean.
    Bool(bool),
    /// The integer.
    Int(i64),
    /// As many ones as operand 0 has dimensions (all but two of them for a convolution).
    Ones,
    /// As many `false` as a convolution has spatial dimensions.
    Falses,
    /// As many pairs of zeros as operand 0 has dimensions (all but two of them for a convolution).
    ZeroPairs,
    /// The first value of the enumeration.
    First,
}

/// An attribute of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttrSpec {
    /// Name.
    pub name: &'static str,
    /// What it holds.
    pub kind: AttrKind,
    /// What holds without it.
    pub absent: Absent,
}

/// How the types are written after the colon of a pretty form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// `T` where all operands and results have that type, else `(T) -> U`.
    Same,
    /// `(T) -> U`
    Functional,
    /// `T, U -> V`
    Arrow,
    /// One type for all operands; no results.
    Operand,
    /// The types of the operands; no results.
    Operands,
}

/// The pretty form of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// None: printed generically.
    Generic,
    /// Operands, then `label = value` for attributes, then an attribute dictionary, then the types.
    Listed {
        /// Labels and attribute names, in order.
        labels: &'static [(&'static str, &'static str)],
        /// The types.
        types: Types,
        /// Whether operands and labels stand in parentheses.
        parenthesised: bool,
    },
    /// `dense<…> : T`
    Constant,
    /// `LT, %a, %b, FLOAT : (T, T) -> U`
    Compare,
    /// `%p, %a, %b : P, T`
    Select,
    /// `%re, %im : T`, the operand types derived.
    Complex,
    /// `%x, format = e8m7 : T`
    ReducePrecision,
    /// `%x [0:4, 1:8:2] : (T) -> U`
    Slice,
    /// `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […], algorithm = <…>`
    DotGeneral,
    /// `(%x, %k) dim_numbers = […], window = {…} {…}`
    Convolution,
    /// `(%x init: %i) applies op across dimensions = [0]`, or with a `reducer`
    Reduce,
    /// `(%i = %a) : T cond {…} do {…}`
    While,
    /// `(%a) inits (%b) dimension=0 attributes {…} {…} : (T, U) -> (V, U)`
    Scan,
    /// `%a, %b : tuple<T, U>`
    Tuple,
    /// `%t[0] : (tuple<T>) -> T`
    GetTupleElement,
    /// `%a, %b : T, U` as results of the same types, or `()`
    Barrier,
    /// `@target(%a) {…} : (T) -> U`
    CustomCall,
    /// `"name" %a {…} : (T) -> U`
    Composite,
    /// `@callee(%a) : (T) -> U`
    Call,
    /// `%a, %b : T, U`, or nothing
    Return,
    /// `%x, dense<…> : T, tolerance = 0.1`
    CheckConst,
    /// `@name = <…>`
    Mesh,
    /// Attributes in brackets, the operand, then other attributes behind it: `{"x"} %a out_sharding=<…> : T`
    Sharded {
        /// What stands before the operand.
        before: &'static [Piece],
        /// What stands behind it.
        after: &'static [Piece],
    },
    /// `<"name">(%a) in_shardings=[…] (%b: T) {…} : (T) -> U`: a call of a body that stands there.
    Computation {
        /// What stands between the operands and the arguments of the body.
        pieces: &'static [Piece],
    },
}

/// An attribute in a pretty form of Shardy. What stands in brackets is an attribute of that dialect; the generic form
/// writes it with a name around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The word before `=`; empty where there is none.
    pub label: &'static str,
    /// The attribute.
    pub attribute: &'static str,
    /// How its value is written.
    pub value: PieceValue,
}

/// How the value of a [`Piece`] is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PieceValue {
    /// Text in brackets, of which the first is given; in the generic form with these before and behind it.
    Bracketed(char, &'static str, &'static str),
    /// A word; in the generic form its position in this list.
    Word(&'static [&'static str]),
    /// An integer.
    Int,
}

/// The rule of the verifier for an operation; the functions stand in `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is named after its operation or family
pub enum Rule {
    /// Only arity and attributes.
    None,
    /// All operands and results have one shape and one element type of the given kinds.
    Elementwise(Elements),
    /// As the former, but the result's element type is the given one.
    Predicate(Elements),
    /// Same shape, any element types.
    SameShape,
    /// Elementwise with an accuracy attribute.
    Accurate,
    Add,
    Convert,
    ReducePrecision,
    UniformQuantize,
    UniformDequantize,
    Abs,
    RealPart,
    Complex,
    BitcastConvert,
    Compare,
    Select,
    Clamp,
    Map,
    Constant,
    Iota,
    BroadcastInDim,
    Broadcast,
    Reshape,
    Transpose,
    Reverse,
    Slice,
    Concatenate,
    Pad,
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    DynamicGather,
    Scatter,
    TorchIndexSelect,
    DotGeneral,
    Dot,
    Einsum,
    Convolution,
    DynamicConv,
    Reduce,
    ReduceWindow,
    SelectAndScatter,
    Sort,
    Fft,
    Cholesky,
    TriangularSolve,
    Rng,
    RngBitGenerator,
    BatchNormInference,
    BatchNormTraining,
    BatchNormGrad,
    Case,
    If,
    While,
    Barrier,
    Tuple,
    GetTupleElement,
    GetDimensionSize,
    SetDimensionSize,
    DynamicBroadcastInDim,
    DynamicReshape,
    DynamicIota,
    DynamicPad,
    RealDynamicSlice,
    Call,
    Composite,
    CustomCall,
    Computation,
    AfterAll,
    Infeed,
    Outfeed,
    Send,
    Recv,
    AsyncStart,
    AsyncDone,
    AllGather,
    AllReduce,
    ReduceScatter,
    AllToAll,
    CollectiveBroadcast,
    CollectivePermute,
    CollectiveReduce,
    CrossReplicaSum,
    ProcessId,
    TopK,
    /// Two operands of the given kinds, broadcast to each other.
    ChloBroadcast(Elements),
    ChloBroadcastCompare,
    ChloBroadcastComplex,
    ChloBroadcastSelect,
    ConstantLike,
    RaggedDot,
    Scan,
    CheckPair,
    CheckConst,
}

/// Element types that an elementwise operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Any.
    Any,
    /// Floats and complex numbers (and quantized).
    FloatOrComplex,
    /// Real floats.
    Float,
    /// Integers, without booleans.
    Integer,
    /// Integers and booleans.
    IntegerOrBool,
    /// All but booleans.
    NotBool,
    /// Signed integers, floats and complex numbers.
    SignedFloatOrComplex,
    /// Everything but complex numbers.
    NotComplex,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpSpec {
    /// Full name.
    pub name: &'static str,
    /// Number of operands.
    pub operands: Arity,
    /// Number of results.
    pub results: Arity,
    /// Number of regions.
    pub regions: Arity,
    /// Attributes that it defines; others may be there too.
    pub attributes: &'static [AttrSpec],
    /// Its pretty form.
    pub form: Form,
    /// Names that MLIR gives to the results when it prints them.
    pub result_names: &'static [&'static str],
    /// What the verifier checks beyond arity and attributes.
    pub rule: Rule,
}

impl OpSpec {
    /// The attribute called `name`.
    pub fn attribute(&self, name: &str) -> Option<&'static AttrSpec> {
        self.attributes.iter().find(|a| a.name == name)
    }
}

/// Values of an enumeration, the default one first.
pub fn enum_values(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "precision" => &["DEFAULT", "HIGH", "HIGHEST"],
        "comparison_direction" => &["EQ", "NE", "GE", "GT", "LE", "LT"],
        "comparison_type" => &["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"],
        "transpose" => &["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT", "TRANSPOSE_INVALID"],
        "rng_algorithm" => &["DEFAULT", "THREE_FRY", "PHILOX"],
        "rng_distribution" => &["UNIFORM", "NORMAL"],
        "fft_type" => &["FFT", "IFFT", "RFFT", "IRFFT"],
        "result_accuracy_mode" => &["DEFAULT", "HIGHEST", "TOLERANCE"],
        _ => return None,
    })
}

/// All rows, in the order of the listing.
pub fn all() -> impl Iterator<Item = &'static OpSpec> {
    rows::ROWS.iter().chain(chlo::ROWS).chain(sdy::ROWS)
}

/// The row of an operation by its full name.
pub fn lookup(name: &str) -> Option<&'static OpSpec> {
    static INDEX: OnceLock<HashMap<&'static str, &'static OpSpec, FxBuildHasher>> = OnceLock::new();
    INDEX.get_or_init(|| all().map(|row| (row.name, row)).collect()).get(name).copied()
}

/// The number of the constraint that asks for at least one of something, 0 where the specification has none.
pub(crate) fn arity_constraint(name: &str, what: &str) -> u8 {
    match (name, what) {
        ("stablehlo.case", "region") | ("stablehlo.infeed", "result") | ("stablehlo.sort", "operand") => 1,
        ("stablehlo.map", "operand") | ("stablehlo.recv", "result") => 2,
        ("stablehlo.concatenate", "operand") => 3,
        _ => 0,
    }
}

/// A table of all known operations in Markdown: what is read, printed and verified.
pub fn coverage() -> String {
    let mut out = String::from("| operation | operands | results | regions | pretty form | verified |\n");
    out.push_str("|---|---|---|---|---|---|\n");
    for row in all() {
        let form = match row.form {
            Form::Generic => "generic".to_string(),
            Form::Listed { types, .. } => format!("listed, {types:?}"),
            special => {
                format!("{special:?}").split([' ', '(', '{']).next().unwrap_or_default().to_lowercase()
            }
        };
        let rule = match row.rule {
            Rule::None => "arity and attributes".to_string(),
            rule => format!("{rule:?}"),
        };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {form} | {rule} |\n",
            row.name, row.operands, row.results, row.regions
        ));
    }
    out
}

/// A row without regions and result names.
const fn op(
    name: &'static str,
    operands: Arity,
    results: Arity,
    form: Form,
    attributes: &'static [AttrSpec],
    rule: Rule,
) -> OpSpec {
    OpSpec { name, operands, results, regions: Arity::exactly(0), attributes, form, result_names: &[], rule }
}

impl OpSpec {
    const fn regions(mut self, regions: Arity) -> OpSpec {
        self.regions = regions;
        self
    }

    const fn named(mut self, names: &'static [&'static str]) -> OpSpec {
        self.result_names = names;
        self
    }
}

const fn attr(name: &'static str, kind: AttrKind, absent: Absent) -> AttrSpec {
    AttrSpec { name, kind, absent }
}

const fn required(name: &'static str, kind: AttrKind) -> AttrSpec {
    attr(name, kind, Absent::Required)
}

const fn optional(name: &'static str, kind: AttrKind) -> AttrSpec {
    attr(name, kind, Absent::Optional)
}

const fn listed(labels: &'static [(&'static str, &'static str)], types: Types) -> Form {
    Form::Listed { labels, types, parenthesised: false }
}

const fn n(count: usize) -> Arity {
    Arity::exactly(count)
}

const ANY: Arity = Arity::at_least(0);
const SOME: Arity = Arity::at_least(1);
