//! Errors as values: a code, a place in the source, what was found, what was expected, and a remedy.

use std::fmt;

/// A half-open range of byte offsets into the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset just past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end: end.max(start) }
    }

    /// Line and column (both from 1, the column counted in characters) of the start of the span.
    pub fn line_col(&self, source: impl AsRef<[u8]>) -> (usize, usize) {
        let source = source.as_ref();
        let at = self.start.min(source.len());
        let line = source[..at].iter().filter(|b| **b == b'\n').count() + 1;
        let start = line_start(source, at);
        (line, count_chars(&source[start..at]) + 1)
    }
}

/// One error of the reader or the verifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error[{code}]: {message}")]
pub struct Diagnostic {
    /// Stable code, `SJ01xx`; one meaning each, see [`codes`].
    pub code: &'static str,
    /// What is wrong, in one sentence, naming the operation where there is one.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What would have been accepted.
    pub expected: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Number of the constraint of the specification that is violated: 12 for `(C12)`.
    pub constraint: Option<u8>,
}

/// The meaning of each error code.
pub mod codes {
    /// The text ends before the construct does.
    pub const TRUNCATED: &str = "SJ0101";
    /// A token that does not fit here.
    pub const SYNTAX: &str = "SJ0102";
    /// The input is not UTF-8 text.
    pub const NOT_TEXT: &str = "SJ0103";
    /// A malformed portable artifact (MLIR bytecode).
    pub const BYTECODE: &str = "SJ0104";
    /// Types, attributes or regions are nested too deeply.
    pub const NESTING: &str = "SJ0105";
    /// A number that does not fit its type.
    pub const NUMBER: &str = "SJ0106";
    /// A malformed or unknown type.
    pub const TYPE: &str = "SJ0107";
    /// A malformed, missing or wrongly typed attribute.
    pub const ATTRIBUTE: &str = "SJ0108";
    /// Elements that do not match the shape of their tensor type.
    pub const DENSE: &str = "SJ0109";
    /// A value that is used but not defined in scope.
    pub const UNDEFINED: &str = "SJ0110";
    /// A value or symbol that is defined twice.
    pub const REDEFINED: &str = "SJ0111";
    /// An alias, resource or symbol that is not defined.
    pub const UNKNOWN_NAME: &str = "SJ0112";
    /// An operation without a pretty form, or an unknown one written in pretty form.
    pub const UNKNOWN_OP: &str = "SJ0113";
    /// A wrong number of operands, results, regions or types.
    pub const ARITY: &str = "SJ0114";
    /// A value used with a type other than its own.
    pub const VALUE_TYPE: &str = "SJ0115";
    /// A construct of MLIR that programs of this kind never hold (several blocks in a region, …).
    pub const UNSUPPORTED: &str = "SJ0116";
    /// A shape too large to count.
    pub const HUGE: &str = "SJ0117";
    /// A feature that the version of StableHLO for which an artifact is written lacks.
    pub const VERSION: &str = "SJ0118";
    /// Refinement: a shape assertion of the program fails for the given argument types.
    pub const SHAPE_ASSERTION: &str = "SJ0119";
    /// Operation verifier: types of operands or results do not satisfy the operation.
    pub const OP_TYPE: &str = "SJ0120";
    /// Operation verifier: an attribute does not satisfy the operation.
    pub const OP_ATTRIBUTE: &str = "SJ0121";
    /// Operation verifier: a region does not satisfy the operation.
    pub const OP_REGION: &str = "SJ0122";
    /// Call or return that does not match a function type.
    pub const SIGNATURE: &str = "SJ0123";
    /// A typed accessor was asked for something that the operation does not carry.
    pub const ACCESS: &str = "SJ0124";
    /// A run: an operation, a target or a use of it that the interpreter does not have.
    pub const RUN_UNSUPPORTED: &str = "SJ0140";
    /// A run: values, sizes or attributes that the operation does not allow.
    pub const RUN_INVALID: &str = "SJ0141";
    /// A run: a limit on memory, steps or depth was reached.
    pub const RUN_LIMIT: &str = "SJ0142";
    /// A run: a check or an assertion of the program does not hold.
    pub const RUN_CHECK: &str = "SJ0143";
    /// A run: processes that wait for each other, or a queue that nothing fills.
    pub const RUN_DEADLOCK: &str = "SJ0144";
}

impl Diagnostic {
    /// An error with no expectation and no help yet.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: shortened(message.into()),
            span,
            expected: None,
            help: None,
            constraint: None,
        }
    }

    /// The same error with what would have been accepted.
    pub fn expected(mut self, expected: impl Into<String>) -> Diagnostic {
        self.expected = Some(shortened(expected.into()));
        self
    }

    /// The same error as a violation of a constraint of the operation in the specification; 0 for none.
    pub fn constraint(mut self, number: u8) -> Diagnostic {
        self.constraint = (number > 0).then_some(number);
        self
    }

    /// The same error with a remedy.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The error as users see it: `file:line:col: error[CODE]: message`, the source line with a caret (a long
    /// line is cut around the column), what was expected, and the help line. Ends with a newline.
    pub fn render(&self, file_name: &str, source: impl AsRef<[u8]>) -> String {
        let source = source.as_ref();
        if crate::artifact::is_artifact(source) {
            return self.render_bytes(file_name);
        }
        let (line, column) = self.span.line_col(source);
        let mut out = format!("{file_name}:{line}:{column}: error[{}]: {}\n", self.code, self.message);
        let (excerpt, caret, width) = excerpt(source, self.span);
        let number = line.to_string();
        let gutter = " ".repeat(number.len());
        out.push_str(&format!(
            " {number} | {excerpt}\n {gutter} | {}{}\n",
            " ".repeat(caret),
            "^".repeat(width)
        ));
        if let Some(expected) = &self.expected {
            out.push_str(&format!(" {gutter} = expected: {expected}\n"));
        }
        if let Some(number) = self.constraint {
            out.push_str(&format!(
                " {gutter} = constraint: (C{number}) of the operation in the StableHLO specification\n"
            ));
        }
        if let Some(help) = &self.help {
            out.push_str(&format!(" {gutter} = help: {help}\n"));
        }
        out
    }
}

impl Diagnostic {
    /// The error in a file without lines: its place is the offset of a byte.
    fn render_bytes(&self, file_name: &str) -> String {
        let mut out = format!("{file_name}: byte {}: error[{}]: {}\n", self.span.start, self.code, self.message);
        let mut note = |name: &str, text: &str| out.push_str(&format!("  = {name}: {text}\n"));
        if let Some(expected) = &self.expected {
            note("expected", expected);
        }
        if let Some(number) = self.constraint {
            note("constraint", &format!("(C{number}) of the operation in the StableHLO specification"));
        }
        if let Some(help) = &self.help {
            note("help", help);
        }
        out
    }
}

/// Bytes of a message that are shown: types and lists in hostile input can be of any length.
const MAX_MESSAGE: usize = 1500;

fn shortened(mut text: String) -> String {
    if text.len() > MAX_MESSAGE {
        let end = (0..=MAX_MESSAGE).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Characters shown on either side of the column when a line is too long to show whole.
const EXCERPT_SIDE: usize = 100;

/// The line at the start of `span`, cut to a window around it, with the caret's position and width in characters.
fn excerpt(source: &[u8], span: Span) -> (String, usize, usize) {
    let at = span.start.min(source.len());
    let start = line_start(source, at);
    let end = at
        + source[at..]
            .iter()
            .take(4 * EXCERPT_SIDE)
            .position(|b| *b == b'\n')
            .unwrap_or((source.len() - at).min(4 * EXCERPT_SIDE));
    let before = clean(&source[start.max(at.saturating_sub(4 * EXCERPT_SIDE))..at]);
    let after = clean(&source[at..end]);
    let cut_left = start < at.saturating_sub(4 * EXCERPT_SIDE) || before.len() > EXCERPT_SIDE;
    let cut_right = after.len() > EXCERPT_SIDE || (end < source.len() && source[end] != b'\n');
    let mut line = String::new();
    if cut_left {
        line.push('…');
    }
    let kept_before = before.len().min(EXCERPT_SIDE);
    line.extend(&before[before.len() - kept_before..]);
    let caret = line.chars().count();
    line.extend(after.iter().take(EXCERPT_SIDE));
    if cut_right {
        line.push('…');
    }
    let marked = count_chars(&source[at..span.end.clamp(at, end)]);
    (line, caret, marked.clamp(1, after.len().clamp(1, EXCERPT_SIDE)))
}

/// Text for display: invalid UTF-8 and control characters replaced one for one, so that columns line up.
fn clean(bytes: &[u8]) -> Vec<char> {
    let shown = |c: char| {
        if c == '\t' {
            ' '
        } else if c.is_control() {
            '\u{fffd}'
        } else {
            c
        }
    };
    String::from_utf8_lossy(bytes).chars().map(shown).collect()
}

fn line_start(source: &[u8], at: usize) -> usize {
    source[..at].iter().rposition(|b| *b == b'\n').map_or(0, |p| p + 1)
}

/// Characters in UTF-8 text: bytes that do not continue a character.
fn count_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| (**b & 0xC0) != 0x80).count()
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
