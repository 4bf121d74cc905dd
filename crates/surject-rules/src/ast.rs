//! What a rule file says, as data.

use crate::soundness::Soundness;
use std::fmt;
use surject_ir::{AccOp, BinaryOp, UnaryOp};

/// A byte range of the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A parsed rule file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    /// The name of the file, for messages.
    pub name: String,
    /// Its text.
    pub source: String,
    /// The rules in the order of the file.
    pub rules: Vec<Rule>,
}

/// One rewrite rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in the file.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// How exact it is.
    pub class: Exactness,
    /// What must hold, or be waived, for the class to be true.
    pub flags: Flags,
    /// The phase it runs in; rules without one run with the other rules of their file.
    pub phase: Option<String>,
    /// The pattern that is searched.
    pub left: Pattern,
    /// The pattern that is added.
    pub right: Pattern,
    /// Is it written `<=>`, to be used in both directions?
    pub both_ways: bool,
    /// Conditions; all must be certain.
    pub conditions: Vec<Condition>,
    /// Maps and fields computed from what matched.
    pub bindings: Vec<Binding>,
    /// Where the rule stands.
    pub span: Span,
    /// What interpretation says of it, once [`crate::check`] has asked; so that it is asked once.
    pub soundness: Option<Soundness>,
}

/// How far the two sides may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exactness {
    /// Bit for bit equal.
    Exact,
    /// Equal up to the order of sums and products.
    Reassociates,
    /// Equal over the reals; floats round differently.
    Rounds,
    /// Equal over the reals while no value on the way overflows or underflows: a finite result may become infinite, NaN or
    /// zero. What asks for this asks for all [`Flags`].
    Overflows,
}

/// What must hold, or be waived, for the exactness class of a rule to be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// The sign of a zero may change.
    pub zero_sign: bool,
    /// The values are finite.
    pub finite: bool,
    /// No intermediate value overflows.
    pub no_overflow: bool,
}

/// A pattern and where it stands.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it matches or builds.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a pattern.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// A constant: matches a field that is this value everywhere, in any element type.
    Number(f64),
    /// `#k`: a number of points that a binding computed (right side only).
    Count(String),
    /// `?x` or `?x[k, l]`: a field. In index notation it depends on no named axis but those listed.
    Var {
        /// The name without `?`.
        name: String,
        /// The named axes it may depend on; `None` when no list is written.
        axes: Option<Vec<String>>,
    },
    /// `(op a)`, `(op a b)` or `(select c a b)`.
    Apply {
        /// The operation.
        op: Operator,
        /// Its operands.
        args: Vec<Pattern>,
    },
    /// `(sum [k] body)`: index notation for an accumulation over named axes.
    Reduce {
        /// The operator.
        op: AccOp,
        /// The axes that are reduced; each stands for any number of axes, none of them empty.
        axes: Vec<String>,
        /// What is accumulated.
        body: Box<Pattern>,
    },
    /// `(read M x)`: map notation.
    Read {
        /// The map.
        map: MapPattern,
        /// The field that is read.
        of: Box<Pattern>,
    },
    /// `(acc ⊕ M x)`: map notation.
    Acc {
        /// The operator.
        op: AccOperator,
        /// The map.
        map: MapPattern,
        /// The field that is accumulated.
        of: Box<Pattern>,
    },
    /// `(stablehlo.NAME [attr = value, …] x …)`.
    StableHlo {
        /// The name after `stablehlo.`.
        name: String,
        /// Attributes by name; values as written.
        attributes: Vec<(String, String)>,
        /// The operands.
        args: Vec<Pattern>,
    },
}

/// The operation of an `Apply`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// A unary operation.
    Unary(UnaryOp),
    /// A binary operation.
    Binary(BinaryOp),
    /// `select`.
    Select,
    /// `?o`: any operation with this number of operands; the same name matches the same operation. A name that
    /// is also the operator of an `Acc` stands for its pointwise form.
    Var(String),
}

/// The operator of an `Acc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccOperator {
    /// A known operator.
    Known(AccOp),
    /// `?o`: any operator but `set`.
    Var(String),
}

/// A map in map notation, and where it stands.
#[derive(Clone, Debug)]
pub struct MapPattern {
    /// What it matches or builds.
    pub kind: MapKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a map.
#[derive(Clone, Debug)]
pub enum MapKind {
    /// `?M`
    Var(String),
    /// `(compose N M)`: first `M`, then `N` (right side only, as the two that follow).
    Compose(Box<MapPattern>, Box<MapPattern>),
    /// `(inverse M fill)`: the inverse on the image, with a fill for positions outside.
    Inverse(Box<MapPattern>, Option<FillPattern>),
    /// `(identity x)`: the identity of the space of a field.
    Identity(Box<Pattern>),
}

/// The fill of an inverse.
#[derive(Clone, Debug)]
pub enum FillPattern {
    /// `(neutral ?o)` or `(neutral +)`: the neutral element of an operator.
    Neutral(AccOperator),
    /// A number.
    Number(f64),
}

/// `where [not] NAME arg…`
#[derive(Clone, Debug)]
pub struct Condition {
    /// Which question is asked.
    pub name: ConditionName,
    /// Is the opposite wanted? Only a certain *no* satisfies `not`.
    pub negated: bool,
    /// The arguments; their number and sorts are those of [`ConditionName::signature`].
    pub args: Vec<Argument>,
    /// Where it stands.
    pub span: Span,
}

/// An argument of a condition or binding.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A variable, `?name`: a field, a map or an operator, by its place in the patterns.
    Var(String, Span),
    /// A word: an operator, an element type or a class of element types.
    Word(String, Span),
    /// A number.
    Number(f64, Span),
}

/// The sort an argument must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A field variable.
    Field,
    /// A map variable.
    Map,
    /// An operator: a variable or a word.
    Operator,
    /// A word: an element type, or `float`, `int`, `signed`, `unsigned`, `complex`, `bool`.
    DTypeClass,
    /// A number.
    Number,
}

/// Declares the conditions with their names and signatures.
macro_rules! conditions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal [$($sort:ident),*],)*) => {
        /// The questions a condition can ask.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ConditionName { $($(#[$doc])* $variant,)* }

        impl ConditionName {
            /// Every condition.
            pub const ALL: &'static [ConditionName] = &[$(ConditionName::$variant,)*];

            /// The word in a rule file.
            pub const fn name(self) -> &'static str {
                match self { $(ConditionName::$variant => $name,)* }
            }

            /// The sorts of its arguments.
            pub const fn signature(self) -> &'static [Sort] {
                match self { $(ConditionName::$variant => &[$(Sort::$sort),*],)* }
            }
        }
    };
}

conditions! {
    /// Is the map the identity of its domain?
    Identity = "identity" [Map],
    /// Is the map without guards?
    Total = "total" [Map],
    /// Do different points have different positions?
    Injective = "injective" [Map],
    /// Is every position reached?
    Surjective = "surjective" [Map],
    /// Total, injective and surjective?
    Bijective = "bijective" [Map],
    /// Do the fills of two maps agree bit for bit, or is one of them total?
    FillsAgree = "fills-agree" [Map, Map],
    /// Does the operation map the fill of the map to the fill, bit for bit (`o(fill, fill) = fill`)?
    MapsFill = "maps-fill" [Operator, Map],
    /// Does the first operation distribute over the second, for the element type at hand?
    Distributes = "distributes" [Operator, Operator],
    /// Is the operation commutative?
    Commutative = "commutative" [Operator],
    /// Is `x ∘ x = x`?
    Idempotent = "idempotent" [Operator],
    /// Is the operation monotone as computed?
    Monotone = "monotone" [Operator],
    /// Has the field an element type of this class?
    DType = "dtype" [Field, DTypeClass],
    /// Is the field this constant everywhere?
    Constant = "constant" [Field, Number],
    /// Is no value of the field `-0.0`?
    NoNegativeZero = "no-negative-zero" [Field],
    /// Is `e ⊕ x = x` bit for bit, for the value `e` that an accumulation starts from and every value of the field? It is
    /// not where a sum starts from `+0.0` and the value may be `-0.0`.
    StartsAs = "starts-as" [Operator, Field],
    /// May the second field leave a sum of `f t g` along the map (`t` is `mul` or `div`), and no finite sum becomes infinite,
    /// NaN or zero for it? See [`surject_ir::range::Range::leaves`].
    StaysFinite = "stays-finite" [Operator, Field, Field, Map],
}

impl ConditionName {
    /// The condition of this name.
    pub fn from_name(name: &str) -> Option<ConditionName> {
        ConditionName::ALL.iter().copied().find(|c| c.name() == name)
    }
}

/// `let … = …`, and where it stands.
#[derive(Clone, Debug)]
pub struct Binding {
    /// What is computed.
    pub kind: BindingKind,
    /// Where it stands.
    pub span: Span,
}

/// The computations on maps and fields. Each may fail, and then the rule does not fire.
#[derive(Clone, Debug)]
pub enum BindingKind {
    /// `?A, ?B = fibre ?N ?M`: the fibre product of `N : Q → D` and `M : P → D`; `A : R → Q`, `B : R → P`.
    /// Fails when it is not an affine box.
    Fibre {
        /// The name of `A`.
        to_q: String,
        /// The name of `B`.
        to_p: String,
        /// The name of `N`.
        n: String,
        /// The name of `M`.
        m: String,
    },
    /// `?h = unread ?g ?M`: the field `h` with `read M h = g`. Fails when `g` depends on more.
    Unread {
        /// The name of `h`.
        result: String,
        /// The name of `g`.
        field: String,
        /// The name of `M`.
        map: String,
    },
    /// `?K = through ?N ?M`: the map `K` with `N = K ∘ M`.
    Through {
        /// The name of `K`.
        result: String,
        /// The name of `N`.
        n: String,
        /// The name of `M`.
        m: String,
    },
    /// `?N, ?y, #k = drop ?M ?x`: map and field without the axes that neither uses, and their number of points,
    /// which is at least 2. Fails when there are no such axes.
    Drop {
        /// The name of `N`.
        map: String,
        /// The name of `y`.
        field: String,
        /// The name of `k`.
        count: String,
        /// The name of `M`.
        from_map: String,
        /// The name of `x`.
        from_field: String,
    },
}

impl Rule {
    /// Is it in map notation: does it mention a map anywhere?
    pub fn is_map_notation(&self) -> bool {
        self.left.mentions_maps() || self.right.mentions_maps()
    }

    /// Is it in index notation: does it mention named axes anywhere?
    pub fn is_index_notation(&self) -> bool {
        self.left.mentions_axes() || self.right.mentions_axes()
    }
}

impl Pattern {
    /// The direct sub-patterns.
    pub fn children(&self) -> Vec<&Pattern> {
        match &self.kind {
            PatternKind::Number(_) | PatternKind::Count(_) | PatternKind::Var { .. } => Vec::new(),
            PatternKind::Apply { args, .. } | PatternKind::StableHlo { args, .. } => args.iter().collect(),
            PatternKind::Reduce { body, .. } => vec![body],
            PatternKind::Read { of, .. } | PatternKind::Acc { of, .. } => vec![of],
        }
    }

    /// The number of patterns in it.
    pub(crate) fn size(&self) -> usize {
        1 + self.children().into_iter().map(Pattern::size).sum::<usize>()
    }

    fn mentions_maps(&self) -> bool {
        matches!(self.kind, PatternKind::Read { .. } | PatternKind::Acc { .. })
            || self.children().into_iter().any(Pattern::mentions_maps)
    }

    fn mentions_axes(&self) -> bool {
        match &self.kind {
            PatternKind::Reduce { .. } => true,
            PatternKind::Var { axes, .. } => axes.is_some(),
            _ => self.children().into_iter().any(Pattern::mentions_axes),
        }
    }
}

impl Exactness {
    /// Every class, the most exact one first.
    pub const ALL: [Exactness; 4] =
        [Exactness::Exact, Exactness::Reassociates, Exactness::Rounds, Exactness::Overflows];

    /// What rules of this class may ignore without a flag of their own.
    pub const fn waives(self) -> Flags {
        let all = matches!(self, Exactness::Overflows);
        Flags { zero_sign: all, finite: all, no_overflow: all }
    }

    /// The word in a rule file and in `--exactness`.
    pub const fn name(self) -> &'static str {
        match self {
            Exactness::Exact => "exact",
            Exactness::Reassociates => "reassociates",
            Exactness::Rounds => "rounds",
            Exactness::Overflows => "overflows",
        }
    }
}

impl std::str::FromStr for Exactness {
    type Err = String;

    fn from_str(text: &str) -> Result<Exactness, String> {
        Exactness::ALL.into_iter().find(|c| c.name() == text).ok_or_else(|| {
            format!("`{text}` is not an exactness class (exact, reassociates, rounds, overflows)")
        })
    }
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Flags {
    /// What either asks for.
    pub const fn or(self, other: Flags) -> Flags {
        Flags {
            zero_sign: self.zero_sign || other.zero_sign,
            finite: self.finite || other.finite,
            no_overflow: self.no_overflow || other.no_overflow,
        }
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = [(self.zero_sign, "zero-sign"), (self.finite, "finite"), (self.no_overflow, "no-overflow")];
        let words: Vec<&str> = set.iter().filter(|(on, _)| *on).map(|(_, word)| *word).collect();
        f.write_str(&words.join(" "))
    }
}
