//! Index specs: which axes of the operands and of the result of an operation are one axis.
//!
//! # The notation
//!
//! ```text
//! spec      := shape (";" shape)* "=>" shape (";" shape)* operands on the left, the result on the right
//! shape     := [row "|"] [row "->"] row                  batch | input -> output
//! row       := axes [(rowvar | "<>") axes]               a leading flank, the row variable, a trailing flank
//! rowvar    := "..." | ".." NAME ".."                    `...` is `..batch..`, `..input..` or `..output..` by its row
//! axes      := axis*                                     in multi-character mode separated by `,` or blanks
//! axis      := LABEL | "_" | INDEX | affine | concat     in a shape also "unit" | size | LABEL "=" size
//! size      := (NUMBER | NAME | "{" expression "}") [":" (BASIS | "*")]
//! affine    := [coefficient "*"] LABEL [mark] ("+" OFFSET | "+" [coefficient "*"] LABEL)*
//! mark      := "=" | "<"                                 padded | valid (no padding)
//! coefficient := NUMBER | NAME                           a NAME is a number of the host program
//! concat    := component ("^" component)+                component := LABEL | SIZE
//! ```
//!
//! * **Modes.** A text is read in *multi-character* mode if it contains one of `, * + ^ & < :` or an `=` that is
//!   not part of `=>`; then labels are words. Otherwise it is read in *single-character* mode: every letter is a
//!   label of its own, a run of digits is one number, and blanks mean nothing. `abc` has three axes, `abc,` has one.
//!   Names of row variables are words in both modes.
//! * **Rows.** An omitted row is *empty*, never polymorphic: `ij` has no batch and no input axes.
//! * **Closed rows.** A row without a row variable has all its axes in the trailing flank. `<>` is a marker at which
//!   nothing grows: `3,<>,2,4` has a leading flank `3` and a trailing flank `2,4`. Only what broadcasts asks where
//!   the marker is: the flanks of the smaller row meet the flanks of the larger one, each from its outer edge.
//! * **Row variables.** One name is one variable, in whichever rows it stands: `..b..|->; => ..b..` moves axes
//!   from batch to output. A name is either a dimension variable or a row variable, not both.
//! * **Numbers.** In a spec a number is a *fixed index*: the position of an axis that is read or written, and so
//!   a lower bound of its size. In a shape ([`ShapeSpec::parse`]) it is a *size*, and `4:rgb` gives it a basis;
//!   `1:*` is the claim-free unit, and so is the word `unit`, which is how results show it; a shape with that word is
//!   read in multi-character mode. A size is at least 1. A component of a concatenation that is a number is a size.
//! * **Symbolic sizes.** In a shape `{2*n + 1}` is a size that is an expression over declared sizes, with a basis as in
//!   `{n}:time`. A label that is the name of a declared size is that size, and `n:time` gives it a basis.
//! * **Labels with sizes.** In a shape `batch=b` is an axis of the label `batch` and the size `b`, as `batch=64` is one of 64
//!   positions; what stands after the `=` is a size, as anywhere else, and `batch` again in that shape is the same size. Such
//!   a shape declares its sizes: a bare name in it is a size too, unless it is one of its labels, and only `_` is inferred
//!   ([`ShapeSpec::declared_sizes`]).
//! * **Placeholders.** Each `_` is an axis of its own that meets no other.
//! * **Affine axes.** `stride*over+offset+dilation*kernel`: the axis at the loops `over` and `kernel` is at
//!   position `stride·over + offset + dilation·kernel`, with `0 ≤ offset < stride`. There may be several kernels,
//!   `4*i<+2*j+k`: each adds its term to the position, and as a valid one `dilation·(kernel - 1)` to the size.
//!   The padding mark is that of all of them. Without a mark an axis with a
//!   kernel takes the padding of its surroundings ([`Spec::resolve_padding`]), or is an error.
//! * **Several results** cut one operand, as in `a^b => a; b`: each result takes the components that it names. This
//!   is for `let [p, q] = x ++^ "a^b => a; b";` only; every other operation has one result.
//! * **Captures.** Names after a spec bind sizes: of the axis of that label, or of the product of a row variable.
//! * Parentheses group nothing, and are an error: in other notations they flatten axes, which no spec does.
//!
//! Labels live in one spec: using the spec again means fresh axes.

mod names;
mod parse;
mod print;

pub use names::{Capture, CaptureTarget};
pub use print::Style;

use crate::{NotationError, Span};

/// Whether labels are single characters or words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Every letter is a label.
    SingleChar,
    /// Labels are words, separated by commas or blanks.
    MultiChar,
}

impl Mode {
    /// The mode in which a text is read.
    pub fn of(text: &str) -> Mode {
        let forces = |(at, c): (usize, char)| match c {
            ',' | '*' | '+' | '^' | '&' | '<' | ':' => true,
            '=' => !text[at + 1..].starts_with('>'),
            _ => false,
        };
        if text.char_indices().any(forces) { Mode::MultiChar } else { Mode::SingleChar }
    }
}

/// The three kinds of axes of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Before `|`.
    Batch,
    /// Before `->`.
    Input,
    /// The rest.
    Output,
}

impl Kind {
    /// The kinds in the order of the notation.
    pub const ALL: [Kind; 3] = [Kind::Batch, Kind::Input, Kind::Output];

    /// The name, which is the name of the row variable that `...` stands for.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Batch => "batch",
            Kind::Input => "input",
            Kind::Output => "output",
        }
    }
}

/// A spec: shapes of operands and of a result over shared labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The shapes left of `=>`, at least one.
    pub operands: Vec<ShapeSpec>,
    /// The shape right of `=>`; of several the first.
    pub result: ShapeSpec,
    /// The shapes after it, which only a cut into several tensors has.
    pub further: Vec<ShapeSpec>,
    /// The whole text.
    pub span: Span,
}

impl Spec {
    /// Reads a spec.
    pub fn parse(text: &str) -> Result<Spec, NotationError> {
        parse::spec(text, 0)
    }

    /// Reads a spec that stands `base` bytes into another text; places are those of that text.
    pub fn parse_at(text: &str, base: usize) -> Result<Spec, NotationError> {
        parse::spec(text, base)
    }

    /// The shapes, operands first.
    pub fn shapes(&self) -> impl Iterator<Item = &ShapeSpec> {
        self.operands.iter().chain(self.results())
    }

    /// The shapes right of `=>`.
    pub fn results(&self) -> impl Iterator<Item = &ShapeSpec> {
        [&self.result].into_iter().chain(&self.further)
    }
}

/// A shape: three rows of axes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeSpec {
    /// The batch row.
    pub batch: RowSpec,
    /// The input row.
    pub input: RowSpec,
    /// The output row.
    pub output: RowSpec,
    /// Its text.
    pub span: Span,
}

impl ShapeSpec {
    /// Reads a shape on its own: numbers are sizes, and there are neither affine axes nor concatenations.
    pub fn parse(text: &str) -> Result<ShapeSpec, NotationError> {
        parse::shape(text, 0)
    }

    /// Reads a shape that stands `base` bytes into another text; places are those of that text.
    pub fn parse_at(text: &str, base: usize) -> Result<ShapeSpec, NotationError> {
        parse::shape(text, base)
    }

    /// The row of a kind.
    pub fn row(&self, kind: Kind) -> &RowSpec {
        match kind {
            Kind::Batch => &self.batch,
            Kind::Input => &self.input,
            Kind::Output => &self.output,
        }
    }

    /// The rows in the order of the notation.
    pub fn rows(&self) -> impl Iterator<Item = (Kind, &RowSpec)> {
        Kind::ALL.into_iter().map(|kind| (kind, self.row(kind)))
    }

    /// The axes that are written out, in the order of the notation.
    pub fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.rows().flat_map(|(_, row)| row.axes())
    }
}

/// A row: two flanks, and between them the row variable. Without one the row is closed, and all its axes are in the
/// trailing flank unless `<>` says where the marker is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSpec {
    /// The axes before the row variable.
    pub leading: Vec<Axis>,
    /// The row variable at the marker.
    pub variable: Option<RowName>,
    /// The axes after it.
    pub trailing: Vec<Axis>,
}

impl RowSpec {
    /// The axes that are written out.
    pub fn axes(&self) -> impl Iterator<Item = &Axis> {
        self.leading.iter().chain(&self.trailing)
    }

    /// Nothing is written: an empty closed row.
    pub fn is_empty(&self) -> bool {
        self.variable.is_none() && self.leading.is_empty() && self.trailing.is_empty()
    }
}

/// A row variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowName {
    /// Its name; `...` has the name of its kind.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// An axis of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What is written.
    pub kind: AxisKind,
    /// Where it stands.
    pub span: Span,
}

/// What can stand for an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// A dimension variable.
    Label(String),
    /// `_`: an axis that meets no other.
    Placeholder,
    /// A fixed position; only in specs.
    Index(u64),
    /// A size with its basis; only in shapes.
    Size(u64, Basis),
    /// A size that is an expression over declared sizes, as it is written; only in shapes.
    Extent(String, Basis),
    /// A label and the size of its axes, which is a [`AxisKind::Size`] or a [`AxisKind::Extent`]; only in shapes.
    Labelled(Label, Box<Axis>),
    /// A position computed from two loops.
    Affine(Affine),
    /// Components one after the other, at least two.
    Concat(Vec<Component>),
}

/// The basis of a size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Basis {
    /// No basis is written: `default`, an ordinary basis.
    #[default]
    Default,
    /// `1:*`, the claim-free unit; written at a size above one it claims nothing more than its name.
    Free,
    /// A named basis.
    Named(String),
}

/// The most windows of one axis.
pub const MAX_KERNELS: usize = 16;

/// An affine axis `stride*over+offset+dilation*kernel`, or with more windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The factor of `over`, at least one.
    pub stride: Coefficient,
    /// The label of the outer loop.
    pub over: Label,
    /// The distance of the first position from zero, below the stride.
    pub offset: u64,
    /// The windows, in order; all of one padding.
    pub kernels: Vec<Kernel>,
}

/// The window of a convolved axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The factor of the label, at least one.
    pub dilation: Coefficient,
    /// The label of the window's loop.
    pub label: Label,
    /// Whether the window may reach beyond the axis.
    pub padding: Padding,
}

/// A label inside an affine axis or a concatenation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A factor of an affine axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Coefficient {
    /// A number, at least one.
    Number(u64),
    /// A number of the host program.
    Name(String),
}

/// The padding mark of a convolved axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// `=`: the window may reach beyond the axis, where the neutral element stands.
    Padded,
    /// `<`: the window stays inside.
    Valid,
    /// No mark: the surroundings decide.
    Unspecified,
}

/// A part of a concatenation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// A dimension variable.
    Label(Label),
    /// A part of a given size that no label walks over.
    Size(u64, Span),
}
