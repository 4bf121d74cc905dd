//! Reading specs and shapes.

use super::names;
use super::{
    Affine, Axis, AxisKind, Basis, Coefficient, Component, Kernel, Kind, Label, MAX_KERNELS, Mode, Padding,
    RowName, RowSpec, ShapeSpec, Spec,
};
use crate::{NotationError, NotationErrorKind as Wrong, Span};

/// The word for the claim-free unit in a shape.
const UNIT: &str = "unit";

/// Reads a spec.
pub(super) fn spec(text: &str, base: usize) -> Result<Spec, NotationError> {
    let mut parser = Parser::new(text, base, Meaning::Index)?;
    let mut operands = vec![parser.shape()?];
    loop {
        match parser.peek() {
            Some(Token::Semicolon) => parser.at += 1,
            Some(Token::FatArrow) => break,
            _ => {
                let end = parser.here();
                let error = NotationError::new(Wrong::EndsTooEarly, end, "the spec has no result");
                return Err(error
                    .expecting(&["`=>`", "`;`"])
                    .with_help("operands stand left of `=>`, the result right of it"));
            }
        }
        operands.push(parser.shape()?);
    }
    parser.at += 1;
    let result = parser.shape()?;
    let mut further = Vec::new();
    while parser.eat(Token::Semicolon) {
        further.push(parser.shape()?);
    }
    if parser.peek().is_some() {
        let error = NotationError::new(Wrong::Unexpected, parser.here(), "a spec has one `=>`");
        return Err(error.expecting(&["the end of the spec"]));
    }
    let spec = Spec { operands, result, further, span: Span::new(0, text.len()).shifted(base) };
    names::check(spec.shapes())?;
    Ok(spec)
}

/// Reads a shape on its own.
pub(super) fn shape(text: &str, base: usize) -> Result<ShapeSpec, NotationError> {
    let mut parser = Parser::new(text, base, Meaning::Size)?;
    let shape = parser.shape()?;
    if parser.peek().is_some() {
        let error = NotationError::new(Wrong::Unexpected, parser.here(), "a shape ends here");
        return Err(error.with_help("`;` and `=>` separate the shapes of a spec; this is one shape"));
    }
    names::check([&shape].into_iter())?;
    names::check_sizes(&shape)?;
    Ok(shape)
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Index,
    Size,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Number(u64),
    Underscore,
    /// An expression over sizes, without its braces.
    Braced(String),
    /// A row variable; `None` is `...`.
    Row(Option<String>),
    /// `<>`: the marker of a closed row.
    Closed,
    Comma,
    Star,
    Plus,
    Caret,
    Less,
    Equals,
    Colon,
    Bar,
    Arrow,
    Semicolon,
    FatArrow,
}

/// The tokens of a text with their places.
fn tokens(text: &str, meaning: Meaning) -> Result<Vec<(Token, Span)>, NotationError> {
    let mode = match meaning {
        Meaning::Size if is_word(text, UNIT) || text.contains('{') => Mode::MultiChar,
        _ => Mode::of(text),
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match c {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            ',' => (Token::Comma, 1),
            '*' => (Token::Star, 1),
            '+' => (Token::Plus, 1),
            '^' => (Token::Caret, 1),
            '<' if rest.starts_with("<>") => (Token::Closed, 2),
            '<' => (Token::Less, 1),
            ':' => (Token::Colon, 1),
            '|' => (Token::Bar, 1),
            ';' => (Token::Semicolon, 1),
            '=' if rest.starts_with("=>") => (Token::FatArrow, 2),
            '=' => (Token::Equals, 1),
            '-' if rest.starts_with("->") => (Token::Arrow, 2),
            '.' => row_variable(text, at)?,
            '_' if mode == Mode::MultiChar && word_length(rest) > 1 => {
                let span = Span::new(at, at + word_length(rest));
                let error = NotationError::new(Wrong::UnknownCharacter, span, "a label starts with a letter");
                return Err(error.with_help("`_` alone is an axis that meets no other"));
            }
            '{' if meaning == Meaning::Size => {
                let Some(length) = rest.find('}') else {
                    let span = Span::new(at, text.len());
                    let error = NotationError::new(Wrong::EndsTooEarly, span, "a size does not end");
                    return Err(error.expecting(&["`}`"]));
                };
                (Token::Braced(rest[1..length].trim().to_string()), length + 1)
            }
            '_' => (Token::Underscore, 1),
            c if c.is_ascii_digit() => {
                let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let span = Span::new(at, at + length);
                // One more than a fixed index is a size, and must fit too.
                let number = rest[..length].parse::<i64>().map_err(|_| {
                    NotationError::new(Wrong::Number, span, "the number does not fit in 63 bits")
                })?;
                let next = rest[length..].chars().next();
                if mode == Mode::MultiChar && next.is_some_and(|c| c.is_alphabetic() || c == '_') {
                    let error = NotationError::new(Wrong::Affine, span, "a number stands before a label");
                    return Err(error.with_help("a stride or dilation is written `2*o`, two axes `2, o`"));
                }
                (Token::Number(number.unsigned_abs()), length)
            }
            c if c.is_alphabetic() => {
                let length = if mode == Mode::SingleChar { c.len_utf8() } else { word_length(rest) };
                (Token::Word(rest[..length].to_string()), length)
            }
            c => return Err(unknown(c, at)),
        };
        found.push((token, Span::new(at, at + length)));
        at += length;
    }
    Ok(found)
}

/// Whether a word stands in a text, and not as the name of a row variable.
fn is_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').any(|part| part == word)
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The row variable that starts at a dot.
fn row_variable(text: &str, at: usize) -> Result<(Token, usize), NotationError> {
    let rest = &text[at..];
    if rest.starts_with("...") {
        return Ok((Token::Row(None), 3));
    }
    let unclosed = |end: usize| {
        let error =
            NotationError::new(Wrong::Unexpected, Span::new(at, end), "a row variable is not complete");
        Err(error.expecting(&["`...`", "`..name..`"]))
    };
    let Some(inside) = rest.strip_prefix("..") else { return unclosed(at + 1) };
    let name_text = inside.trim_start();
    if !name_text.starts_with(char::is_alphabetic) {
        return unclosed(at + 2);
    }
    let name = &name_text[..word_length(name_text)];
    let after = name_text[name.len()..].trim_start();
    let end = text.len() - after.len();
    if !after.starts_with("..") {
        return unclosed(end);
    }
    Ok((Token::Row(Some(name.to_string())), end + 2 - at))
}

fn unknown(c: char, at: usize) -> NotationError {
    let span = Span::new(at, at + c.len_utf8());
    let error = NotationError::new(Wrong::UnknownCharacter, span, format!("a spec has no `{c}`"));
    match c {
        '(' | ')' => error.with_help("parentheses group nothing here: every axis stands on its own"),
        '&' => error.with_help("`&` is reserved; separate axes by commas"),
        '-' => error.with_help("input and output are separated by `->`; there are no negative positions"),
        _ => error,
    }
}

struct Parser {
    /// Where the text ends.
    end: usize,
    tokens: Vec<(Token, Span)>,
    at: usize,
    meaning: Meaning,
}

impl Parser {
    fn new(text: &str, base: usize, meaning: Meaning) -> Result<Parser, NotationError> {
        let mut tokens = tokens(text, meaning).map_err(|error| error.shifted(base))?;
        for (_, span) in &mut tokens {
            *span = span.shifted(base);
        }
        Ok(Parser { end: base + text.len(), tokens, at: 0, meaning })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == Some(&token);
        self.at += usize::from(found);
        found
    }

    /// The place of the next token.
    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(Span::at(self.end), |(_, span)| *span)
    }

    /// The place of the last token that was taken.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::at(0), |(_, span)| *span)
    }

    /// Something else than what is allowed stands here.
    fn unexpected(&self, message: &str, expected: &[&'static str]) -> NotationError {
        let kind = if self.peek().is_some() { Wrong::Unexpected } else { Wrong::EndsTooEarly };
        NotationError::new(kind, self.here(), message).expecting(expected)
    }

    fn shape(&mut self) -> Result<ShapeSpec, NotationError> {
        let start = self.here();
        let mut shape = ShapeSpec::default();
        let (mut bar, mut arrow) = (false, false);
        loop {
            let mut row = self.row()?;
            let separator = self.here();
            let wrong = |what: &str| {
                let error = NotationError::new(Wrong::KindOrder, separator, what);
                Err(error.with_help("a shape is `batch|input->output`, each row written once"))
            };
            match self.peek() {
                Some(Token::Bar) if arrow => return wrong("the batch row comes before the input row"),
                Some(Token::Bar) if bar => return wrong("a shape has one batch row"),
                Some(Token::Arrow) if arrow => return wrong("a shape has one input row"),
                Some(Token::Bar) => {
                    bar = true;
                    name_ellipsis(&mut row, Kind::Batch);
                    shape.batch = row;
                }
                Some(Token::Arrow) => {
                    arrow = true;
                    name_ellipsis(&mut row, Kind::Input);
                    shape.input = row;
                }
                _ => {
                    name_ellipsis(&mut row, Kind::Output);
                    shape.output = row;
                    shape.span = Span::new(start.start, self.before().end);
                    return Ok(shape);
                }
            }
            self.at += 1;
        }
    }

    fn row(&mut self) -> Result<RowSpec, NotationError> {
        let mut row = RowSpec::default();
        let mut marked = false;
        loop {
            let span = self.here();
            match self.peek() {
                None | Some(Token::Bar | Token::Arrow | Token::Semicolon | Token::FatArrow) => {
                    return Ok(row);
                }
                Some(token @ (Token::Row(_) | Token::Closed)) => {
                    let closed = *token == Token::Closed;
                    if marked {
                        let message = match closed || row.variable.is_none() {
                            true => "a row has one marker",
                            false => "a row has one row variable",
                        };
                        let error = NotationError::new(Wrong::TwoRowVariables, span, message);
                        return Err(error.with_help("the row grows at one place only; name the other axes"));
                    }
                    marked = true;
                    if let Token::Row(name) = token {
                        row.variable = Some(RowName { name: name.clone().unwrap_or_default(), span });
                    }
                    // What stood before the marker is the leading flank.
                    row.leading = std::mem::take(&mut row.trailing);
                    self.at += 1;
                }
                Some(_) => {
                    let axis = self.axis()?;
                    row.trailing.push(axis);
                }
            }
            self.eat(Token::Comma);
        }
    }

    fn axis(&mut self) -> Result<Axis, NotationError> {
        let start = self.here();
        let next = self.tokens.get(self.at + 1).map(|(token, _)| token.clone());
        let kind = match (self.peek().cloned(), next) {
            (Some(Token::Word(_) | Token::Number(_)), Some(Token::Caret)) => self.concat()?,
            (Some(Token::Word(name)), Some(Token::Equals)) if self.gives_size() => self.labelled(name)?,
            (Some(Token::Word(_)), Some(Token::Star | Token::Plus | Token::Less | Token::Equals))
            | (Some(Token::Number(_)), Some(Token::Star | Token::Plus)) => self.affine()?,
            (Some(Token::Word(name)), Some(Token::Colon))
                if self.meaning == Meaning::Size && name != UNIT =>
            {
                self.at += 1;
                AxisKind::Extent(name, self.basis()?)
            }
            (Some(Token::Braced(text)), _) => {
                self.at += 1;
                AxisKind::Extent(text, self.basis()?)
            }
            (Some(Token::Word(name)), _) => {
                self.at += 1;
                match self.meaning {
                    Meaning::Size if name == UNIT => AxisKind::Size(1, Basis::Free),
                    _ => AxisKind::Label(name),
                }
            }
            (Some(Token::Number(0)), _) if self.meaning == Meaning::Size => return Err(no_size(start)),
            (Some(Token::Number(number)), _) => {
                self.at += 1;
                self.number(number)?
            }
            (Some(Token::Underscore), _) => {
                self.at += 1;
                AxisKind::Placeholder
            }
            (Some(Token::Comma), _) => {
                return Err(self.unexpected("an axis is missing before `,`", &["a label", "a number", "`_`"]));
            }
            _ => {
                return Err(
                    self.unexpected("no axis starts like this", &["a label", "a number", "`_`", "`...`"])
                );
            }
        };
        let span = start.to(self.before());
        let concat = |what| Err(NotationError::new(Wrong::Concat, span.to(self.here()), what));
        match (self.peek(), &kind) {
            (
                Some(Token::Plus | Token::Star | Token::Less | Token::Equals | Token::Caret),
                AxisKind::Labelled(..),
            ) => {
                let help = "an expression over sizes stands in braces, as in `time={2*n}`";
                return Err(self.unexpected("the size of the label ends here", &["`,`"]).with_help(help));
            }
            (Some(Token::Caret), AxisKind::Affine(_)) => {
                return concat("a component of a concatenation cannot be affine");
            }
            (Some(Token::Caret), _) => return concat("a component of a concatenation is a label or a size"),
            (Some(Token::Plus | Token::Star | Token::Less | Token::Equals), AxisKind::Concat(_)) => {
                return concat("a concatenation cannot be part of an affine axis");
            }
            (Some(Token::Colon), _) => {
                let help = match self.meaning {
                    Meaning::Index => "bases are named in shapes; a spec only says which axes meet",
                    Meaning::Size => "a basis follows a size, as in `4:rgb`",
                };
                return Err(self.unexpected("there is no basis here", &[]).with_help(help));
            }
            (Some(Token::Star), _) => {
                let error =
                    NotationError::new(Wrong::Affine, span.to(self.here()), "`*` joins a factor and a label");
                return Err(error.with_help("an affine axis is `stride*over+offset+dilation*kernel`"));
            }
            _ => {}
        }
        if self.meaning == Meaning::Size && matches!(kind, AxisKind::Affine(_) | AxisKind::Concat(_)) {
            let error = NotationError::new(Wrong::Affine, span, "a shape has sizes and labels only");
            return Err(error.with_help("affine axes and concatenations belong in the spec of an operation"));
        }
        Ok(Axis { kind, span })
    }

    /// Whether a label is given a size here, in a shape: `a=+k` is a padded window, which only specs have.
    fn gives_size(&self) -> bool {
        let after = self.tokens.get(self.at + 2).map(|(token, _)| token);
        self.meaning == Meaning::Size && after != Some(&Token::Plus)
    }

    /// A label with its size.
    fn labelled(&mut self, name: String) -> Result<AxisKind, NotationError> {
        let label = Label { name, span: self.here() };
        if label.name == UNIT {
            let error = NotationError::new(Wrong::Unexpected, label.span, "`unit` is a size, and no label");
            return Err(error.with_help("an axis of another size has another label"));
        }
        self.at += 2;
        let start = self.here();
        let kind = match self.peek().cloned() {
            Some(Token::Word(name)) if name == UNIT => {
                self.at += 1;
                AxisKind::Size(1, Basis::Free)
            }
            Some(Token::Word(size) | Token::Braced(size)) => {
                self.at += 1;
                AxisKind::Extent(size, self.basis()?)
            }
            Some(Token::Number(0)) => return Err(no_size(start)),
            Some(Token::Number(number)) => {
                self.at += 1;
                self.number(number)?
            }
            _ => {
                let sizes = &["a number", "the name of a size", "`{` and an expression over sizes"];
                return Err(self.unexpected("a size is missing after `=`", sizes));
            }
        };
        let size = Axis { kind, span: start.to(self.before()) };
        Ok(AxisKind::Labelled(label, Box::new(size)))
    }

    /// A number that is an axis, with its basis if it is a size.
    fn number(&mut self, number: u64) -> Result<AxisKind, NotationError> {
        if self.meaning == Meaning::Index {
            return Ok(AxisKind::Index(number));
        }
        Ok(AxisKind::Size(number, self.basis()?))
    }

    /// The basis after a size.
    fn basis(&mut self) -> Result<Basis, NotationError> {
        if !self.eat(Token::Colon) {
            return Ok(Basis::Default);
        }
        let basis = match self.peek() {
            Some(Token::Star) => Basis::Free,
            Some(Token::Word(name)) if name == "default" => Basis::Default,
            Some(Token::Word(name)) => Basis::Named(name.clone()),
            _ => return Err(self.unexpected("a basis is missing after `:`", &["a name", "`*`"])),
        };
        self.at += 1;
        Ok(basis)
    }

    fn concat(&mut self) -> Result<AxisKind, NotationError> {
        let mut parts = Vec::new();
        loop {
            let span = self.here();
            parts.push(match self.peek().cloned() {
                Some(Token::Word(name)) => Component::Label(Label { name, span }),
                Some(Token::Number(0)) => {
                    let error = NotationError::new(Wrong::Number, span, "a size is at least 1");
                    return Err(error.with_help("a component without positions is left out"));
                }
                Some(Token::Number(size)) => Component::Size(size, span),
                _ => {
                    let message = "a component of a concatenation is a label or a size";
                    return Err(NotationError::new(Wrong::Concat, span, message));
                }
            });
            self.at += 1;
            if !self.eat(Token::Caret) {
                return Ok(AxisKind::Concat(parts));
            }
        }
    }

    fn affine(&mut self) -> Result<AxisKind, NotationError> {
        let start = self.here();
        let (stride, over) = match self.term()? {
            Term::Product(stride, over) => (stride, over),
            Term::Number(_) => {
                let error =
                    NotationError::new(Wrong::Affine, start, "an affine axis starts with its outer label");
                return Err(error.with_help("write `over+offset`, or `stride*over+offset+dilation*kernel`"));
            }
        };
        let mark = self.here();
        let padding = match self.peek() {
            Some(Token::Equals) => Padding::Padded,
            Some(Token::Less) => Padding::Valid,
            _ => Padding::Unspecified,
        };
        self.at += usize::from(padding != Padding::Unspecified);
        let (mut offset, mut kernels) = (None, Vec::new());
        while self.eat(Token::Plus) {
            let span = self.here();
            match self.term()? {
                Term::Number(n) if offset.is_none() => offset = Some((n, span)),
                Term::Product(dilation, label) if kernels.len() < MAX_KERNELS => {
                    kernels.push(Kernel { dilation, label, padding });
                }
                Term::Number(_) => return Err(affine_error(span, "an affine axis has one offset")),
                Term::Product(..) => {
                    let message = format!("an affine axis has at most {MAX_KERNELS} kernels");
                    return Err(affine_error(span, &message));
                }
            }
        }
        if let Some(Token::Equals | Token::Less) = self.peek() {
            let error = affine_error(self.here(), "the padding mark stands after the outer label");
            return Err(error.with_help("write `over=+kernel` for padded, `over<+kernel` for valid"));
        }
        if padding != Padding::Unspecified && kernels.is_empty() {
            let error = affine_error(mark, "a padding mark needs a kernel").expecting(&["`+` and a kernel"]);
            return Err(error.with_help("the result of a spec follows `=>`; `o=+k` is a padded window"));
        }
        if let (Some((offset, span)), Coefficient::Number(stride)) = (offset, &stride)
            && offset >= *stride
        {
            let message = format!("the offset {offset} is not below the stride {stride}");
            let error = affine_error(span, &message);
            return Err(error.with_help("an offset chooses one of the positions that a stride steps over"));
        }
        Ok(AxisKind::Affine(Affine { stride, over, offset: offset.map_or(0, |(n, _)| n), kernels }))
    }

    /// `[coefficient*]label`, or a number.
    fn term(&mut self) -> Result<Term, NotationError> {
        let span = self.here();
        let missing = &["a label", "a factor and `*`", "an offset"];
        let first = match self.peek().cloned() {
            Some(Token::Word(name)) => Ok(Label { name, span }),
            Some(Token::Number(number)) => Err(number),
            _ => return Err(self.unexpected("a part of the affine axis is missing", missing)),
        };
        self.at += 1;
        if !self.eat(Token::Star) {
            return Ok(match first {
                Ok(label) => Term::Product(Coefficient::Number(1), label),
                Err(number) => Term::Number(number),
            });
        }
        let coefficient = match first {
            Ok(label) => Coefficient::Name(label.name),
            Err(0) => {
                return Err(NotationError::new(Wrong::Number, span, "a stride or dilation is at least 1"));
            }
            Err(number) => Coefficient::Number(number),
        };
        let place = self.here();
        match self.peek().cloned() {
            Some(Token::Word(name)) => {
                self.at += 1;
                Ok(Term::Product(coefficient, Label { name, span: place }))
            }
            _ => Err(self.unexpected("a label is missing after `*`", &["a label"])),
        }
    }
}

enum Term {
    Product(Coefficient, Label),
    Number(u64),
}

/// Zero is no size that can be written.
fn no_size(span: Span) -> NotationError {
    let error = NotationError::new(Wrong::Number, span, "a size is at least 1");
    error.with_help("an axis that is not there is left out; `_` is one of unknown size")
}

fn affine_error(span: Span, message: &str) -> NotationError {
    NotationError::new(Wrong::Affine, span, message)
}

/// Gives `...` the name of its kind.
fn name_ellipsis(row: &mut RowSpec, kind: Kind) {
    if let Some(variable) = &mut row.variable
        && variable.name.is_empty()
    {
        variable.name = kind.name().to_string();
    }
}
