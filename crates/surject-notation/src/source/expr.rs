//! Reading expressions.

use super::scan::Parser;
use super::{
    Argument, BinaryOp, Define, Expr, ExprKind, MAX_DEPTH, Name, Number, Part, Primitive, Slot, SpecArgument,
    SpecOp, UnaryOp,
};
use crate::spec::Kind;
use crate::{NotationError, NotationErrorKind as Wrong, Span, Spec};

/// How tightly signs bind, loosest first. The printer puts parentheses by the same levels.
pub(super) mod level {
    pub(in crate::source) const LAMBDA: u8 = 0;
    pub(in crate::source) const OR: u8 = 1;
    pub(in crate::source) const AND: u8 = 2;
    pub(in crate::source) const COMPARE: u8 = 3;
    pub(in crate::source) const ADD: u8 = 4;
    pub(in crate::source) const MUL: u8 = 5;
    pub(in crate::source) const SLICE: u8 = 6;
    pub(in crate::source) const PREFIX: u8 = 7;
    pub(in crate::source) const POWER: u8 = 8;
    pub(in crate::source) const POSTFIX: u8 = 9;
}

/// What a sign between operands is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Infix {
    Binary(BinaryOp),
    Spec(SpecOp),
}

/// The signs between operands; longer ones before their prefixes.
pub(super) const INFIX: [(&str, Infix, u8); 21] = [
    ("+++", Infix::Spec(SpecOp::OuterSum), level::ADD),
    ("++^", Infix::Spec(SpecOp::Concat), level::ADD),
    ("@^+", Infix::Spec(SpecOp::Tropical), level::ADD),
    ("@^^", Infix::Spec(SpecOp::Max), level::ADD),
    ("**.", Infix::Binary(BinaryOp::PointPow), level::POWER),
    ("++", Infix::Spec(SpecOp::Einsum1), level::ADD),
    ("+*", Infix::Spec(SpecOp::Einsum), level::ADD),
    ("**", Infix::Binary(BinaryOp::Pow), level::POWER),
    ("*.", Infix::Binary(BinaryOp::Mul), level::MUL),
    ("/.", Infix::Binary(BinaryOp::PointDiv), level::MUL),
    ("||", Infix::Binary(BinaryOp::Or), level::OR),
    ("&&", Infix::Binary(BinaryOp::And), level::AND),
    ("==", Infix::Binary(BinaryOp::Equal), level::COMPARE),
    ("!=", Infix::Binary(BinaryOp::NotEqual), level::COMPARE),
    ("@|", Infix::Binary(BinaryOp::Slice), level::SLICE),
    ("<", Infix::Binary(BinaryOp::Less), level::COMPARE),
    ("+", Infix::Binary(BinaryOp::Add), level::ADD),
    ("-", Infix::Binary(BinaryOp::Sub), level::ADD),
    ("*", Infix::Binary(BinaryOp::Compose), level::MUL),
    ("/", Infix::Binary(BinaryOp::Div), level::MUL),
    ("%", Infix::Binary(BinaryOp::Mod), level::MUL),
];

const STARTS: &[&str] = &["a name", "a number", "a literal", "`{`", "`(`", "`-`"];

impl Expr {
    /// An expression, if it is not too deep.
    pub(super) fn new(kind: ExprKind, span: Span) -> Result<Expr, NotationError> {
        kind.children().into_iter().try_for_each(Expr::check_value)?;
        let deepest = kind.children().iter().map(|e| e.depth).max().unwrap_or(0);
        if deepest == MAX_DEPTH {
            let message = format!("an expression deeper than {MAX_DEPTH}");
            let error = NotationError::new(Wrong::TooDeep, span, message);
            return Err(error.with_help("give inner parts names with `let`"));
        }
        Ok(Expr { kind, span, depth: deepest + 1 })
    }

    /// Refuses what only an assignment can have at its outermost place.
    pub(super) fn check_value(&self) -> Result<(), NotationError> {
        if !matches!(self.kind, ExprKind::Binary(BinaryOp::Pow, ..)) {
            return Ok(());
        }
        let error = NotationError::new(Wrong::Operators, self.span, "`**` is a primitive of assignments");
        Err(error.with_help("in an expression a power is `x **. 2`"))
    }
}

impl ExprKind {
    /// The expressions directly inside.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match self {
            ExprKind::Number(..) | ExprKind::Text(_) | ExprKind::Spec(_) | ExprKind::Name(_) => Vec::new(),
            ExprKind::Literal { items, .. } | ExprKind::Einsum(_, items, _) => items.iter().collect(),
            ExprKind::Define(define) => {
                define.init.iter().chain(define.rows.iter().flat_map(|(_, sizes)| sizes)).collect()
            }
            ExprKind::Unary(_, a) | ExprKind::Part(a, _) | ExprKind::Lambda(_, a) => vec![a],
            ExprKind::Binary(_, a, b) => vec![a, b],
            ExprKind::Call(f, arguments) => {
                [f.as_ref()].into_iter().chain(arguments.iter().map(|a| &a.value)).collect()
            }
        }
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Result<Expr, NotationError> {
        self.nested(|p| p.infix(level::LAMBDA))
    }

    /// The sign between operands that comes next. `=` begins an assignment, and `==` a comparison.
    fn sign(&self) -> Option<(&'static str, Infix, u8)> {
        INFIX.into_iter().find(|(sign, ..)| self.sees(sign))
    }

    /// Operands and signs that bind at least as tightly as `floor`.
    fn infix(&mut self, floor: u8) -> Result<Expr, NotationError> {
        let start = self.at;
        let mut left = self.prefix()?;
        let mut ceiling = level::POSTFIX;
        while let Some((sign, infix, level)) = self.sign() {
            if level < floor {
                break;
            }
            let place = Span::new(self.at, self.at + sign.len());
            if level > ceiling {
                let compares = ceiling == level::AND;
                let message =
                    if compares { "comparisons do not chain" } else { "an operator with a spec ends here" };
                let error = NotationError::new(Wrong::Operators, place, message);
                return Err(error.with_help("put parentheses around the part that belongs together"));
            }
            self.advance(sign.len())?;
            left = self.nested(|p| p.operation(left, start, infix, level))?;
            ceiling = if level == level::COMPARE { level::AND } else { level };
        }
        Ok(left)
    }

    /// What follows a sign between operands.
    fn operation(
        &mut self,
        left: Expr,
        start: usize,
        infix: Infix,
        level: u8,
    ) -> Result<Expr, NotationError> {
        let op = match infix {
            Infix::Binary(op) => op,
            Infix::Spec(op) => return self.einsum(left, start, op),
        };
        let right = match level {
            level::POWER => self.infix(level::PREFIX)?,
            _ => self.infix(level + 1)?,
        };
        if op == BinaryOp::PointPow && !is_exponent(&right) {
            let error = NotationError::new(Wrong::Operators, right.span, "an exponent is a number");
            return Err(error.with_help("write `exp(y *. log(x))` for a power of two tensors"));
        }
        let span = self.since(start);
        Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
    }

    /// The rest of an operator with a spec.
    fn einsum(&mut self, left: Expr, start: usize, op: SpecOp) -> Result<Expr, NotationError> {
        let operands = match (op, left.kind) {
            (SpecOp::Concat, ExprKind::Literal { items, basis: None, .. }) => items,
            (_, kind) => vec![Expr { kind, ..left }],
        };
        let mut operands = operands;
        let (name, arity) = match op {
            SpecOp::Einsum | SpecOp::OuterSum | SpecOp::Tropical => ("einsum", 2),
            SpecOp::Einsum1 | SpecOp::Max => ("permutation", 1),
            SpecOp::Concat => ("block", operands.len()),
        };
        if arity == 2 && op != SpecOp::Concat {
            operands.push(self.infix(level::MUL)?);
        }
        let spec = self.spec_argument("a spec is missing")?;
        let spec = match spec {
            SpecArgument::Literal(spec, captures) => {
                // Whether a cut may have several results here, is seen where it is evaluated.
                let spec = match op {
                    SpecOp::Concat => spec.with_operands(name, arity)?,
                    _ => spec.with_arity(name, arity)?,
                };
                SpecArgument::Literal(Box::new(spec), captures)
            }
            named => named,
        };
        Expr::new(ExprKind::Einsum(op, operands, spec), self.since(start))
    }

    /// A spec in a string with its captures, or the name of one.
    pub(super) fn spec_argument(&mut self, missing: &str) -> Result<SpecArgument, NotationError> {
        if let Some((text, span)) = self.string()? {
            return self.spec_of(text, span);
        }
        if self.word().is_none() {
            return Err(self.unexpected(missing, &["a spec in quotes", "the name of a spec"]));
        }
        Ok(SpecArgument::Name(self.name("a spec")?))
    }

    /// A spec from its string, with the captures that follow.
    pub(super) fn spec_of(&mut self, text: &str, span: Span) -> Result<SpecArgument, NotationError> {
        let spec = Spec::parse_at(text, span.start)?;
        let mut names = Vec::new();
        if self.eat("[")? {
            while !self.eat("]")? {
                match self.string()? {
                    Some((name, span)) => names.push((name.trim().to_string(), span)),
                    None => {
                        return Err(
                            self.unexpected("a captured name is missing", &["a name in quotes", "`]`"])
                        );
                    }
                }
                if !self.separator()? && !self.sees("]") {
                    return Err(self.unexpected("captured names are separated by `,`", &["`,`", "`]`"]));
                }
            }
        }
        let captures = spec.captures(&names)?;
        Ok(SpecArgument::Literal(Box::new(spec), captures))
    }

    /// `,`, or `;` which reads alike.
    pub(super) fn separator(&mut self) -> Result<bool, NotationError> {
        Ok(self.eat(",")? || self.eat(";")?)
    }

    fn prefix(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        if self.sees("|") && !self.sees("||") && !self.sees("|]") {
            return self.lambda();
        }
        let signs = [("!..", UnaryOp::EmbedInt), ("!.", UnaryOp::EmbedFloat), ("!@", UnaryOp::EmbedIndex)];
        for (sign, op) in signs {
            if self.eat(sign)? {
                let name = self.name("the name of a host value")?;
                let inner = Expr::new(ExprKind::Name(name.text), name.span)?;
                let kind = ExprKind::Unary(op, Box::new(inner));
                return Expr::new(kind, self.since(start));
            }
        }
        if self.eat("-")? {
            let inner = self.nested(|p| p.infix(level::PREFIX))?;
            return Expr::new(ExprKind::Unary(UnaryOp::Neg, Box::new(inner)), self.since(start));
        }
        self.postfix()
    }

    fn lambda(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        self.advance(1)?;
        let names = self.names("|", "a tensor of the function")?;
        let body = self.expr()?;
        Expr::new(ExprKind::Lambda(names, Box::new(body)), self.since(start))
    }

    /// Names up to a closing sign, at least one, none twice; of results of a cut `_` may stand for several.
    pub(super) fn names(&mut self, close: &'static str, what: &str) -> Result<Vec<Name>, NotationError> {
        let mut names: Vec<Name> = Vec::new();
        loop {
            let name = self.name(what)?;
            let anonymous = close == "]" && name.text == "_";
            if !anonymous && names.iter().any(|n| n.text == name.text) {
                return Err(twice(&name));
            }
            names.push(name);
            let more = self.eat(",")?;
            if !more || self.sees(close) {
                self.expect(close, "the names do not end")?;
                return Ok(names);
            }
        }
    }

    fn postfix(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        let mut expr = self.atom()?;
        loop {
            if self.sees("(") {
                let arguments = self.nested(Parser::arguments)?;
                check_spec(&expr, &arguments)?;
                expr = Expr::new(ExprKind::Call(Box::new(expr), arguments), self.since(start))?;
            } else if self.sees(".") {
                self.advance(1)?;
                let name = self.name("a part of a tensor")?;
                let Some((_, part)) = Part::ALL.into_iter().find(|(text, _)| *text == name.text) else {
                    let message = format!("a tensor has no part `{}`", name.text);
                    let parts: Vec<String> = Part::ALL.iter().map(|(text, _)| format!("`{text}`")).collect();
                    let error = NotationError::new(Wrong::NoSuchPart, name.span, message);
                    return Err(error.with_help(format!("parts are {}", parts.join(", "))));
                };
                expr = Expr::new(ExprKind::Part(Box::new(expr), part), self.since(start))?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, NotationError> {
        self.advance(1)?;
        let mut arguments: Vec<Argument> = Vec::new();
        while !self.eat(")")? {
            let key = match self.word() {
                Some(word) if self.rest()[word.len()..].trim_start().starts_with(':') => {
                    let key = self.name("an argument")?;
                    self.advance(1)?;
                    if arguments.iter().flat_map(|a| &a.key).any(|k| k.text == key.text) {
                        return Err(twice(&key));
                    }
                    Some(key)
                }
                _ => None,
            };
            arguments.push(Argument { key, value: self.expr()? });
            if !self.eat(",")? && !self.sees(")") {
                return Err(self.unexpected("the arguments do not end", &["`,`", "`)`", "an operator"]));
            }
        }
        Ok(arguments)
    }

    fn atom(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        if let Some(number) = self.number()? {
            let basis = self.basis()?;
            return Expr::new(ExprKind::Number(number, basis), self.since(start));
        }
        if let Some((text, span)) = self.string()? {
            let kind = match text.contains("=>") {
                true => ExprKind::Spec(self.spec_of(text, span)?),
                false => ExprKind::Text(text.to_string()),
            };
            return Expr::new(kind, self.since(start));
        }
        if self.word().is_some() {
            let name = self.name("a value")?;
            self.check_slot(&name)?;
            return Expr::new(ExprKind::Name(name.text), name.span);
        }
        if self.sees("[") || self.sees("(") {
            return self.nested(Parser::brackets);
        }
        if self.sees("{") {
            return self.nested(Parser::define);
        }
        Err(self.unexpected("no value starts like this", STARTS))
    }

    /// `:BASIS` after a number or a literal.
    pub(super) fn basis(&mut self) -> Result<Option<String>, NotationError> {
        if !self.eat(":")? {
            return Ok(None);
        }
        Ok(Some(self.name("a basis")?.text))
    }

    /// A name in an operation claims a slot that the operation must have.
    fn check_slot(&self, name: &Name) -> Result<(), NotationError> {
        let (Some(operands), Some(Slot::Rhs(slot))) = (self.operands, Slot::of_name(&name.text)) else {
            return Ok(());
        };
        if usize::from(slot) <= operands {
            return Ok(());
        }
        let message = format!("`{}` claims operand {slot}, and the operation has {operands}", name.text);
        Err(NotationError::new(Wrong::NoSuchPart, name.span, message))
    }

    /// `{ name = init, o = [sizes] }`
    fn define(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        self.advance(1)?;
        let name = self.name("the name of the tensor")?;
        self.check_slot(&name)?;
        let init = if self.eat("=")? { Some(self.expr()?) } else { None };
        let mut rows: Vec<(Kind, Vec<Expr>)> = Vec::new();
        while self.separator()? && !self.sees("}") {
            let key = self.name("a row")?;
            let wrong = |message: String| {
                let error = NotationError::new(Wrong::InlineDefinition, key.span, message);
                Err(error.with_help("an inline definition is `{ name = value, i = [3], o = [4], b = [2] }`"))
            };
            let kind = match key.text.as_str() {
                "i" | "input" => Kind::Input,
                "o" | "output" => Kind::Output,
                "b" | "batch" => Kind::Batch,
                other => return wrong(format!("an inline definition has no `{other}`")),
            };
            if rows.iter().any(|(k, _)| *k == kind) {
                return wrong(format!("the {} row is given twice", kind.name()));
            }
            self.expect("=", "sizes follow `=`")?;
            rows.push((kind, self.sizes()?));
        }
        self.expect("}", "the inline definition does not end")?;
        Expr::new(ExprKind::Define(Box::new(Define { name, init, rows })), self.since(start))
    }
}

impl Parser<'_> {
    /// The sizes of a row: `[a, b]`, or one without brackets. `[]` is the empty row.
    fn sizes(&mut self) -> Result<Vec<Expr>, NotationError> {
        if !self.eat("[")? {
            return Ok(vec![self.expr()?]);
        }
        let mut sizes = Vec::new();
        while !self.eat("]")? {
            sizes.push(self.expr()?);
            if !self.separator()? && !self.sees("]") {
                return Err(self.unexpected("the sizes do not end", &["`,`", "`]`", "an operator"]));
            }
        }
        Ok(sizes)
    }
}

/// A name that a list has already.
pub(super) fn twice(name: &Name) -> NotationError {
    NotationError::new(Wrong::Twice, name.span, format!("`{}` stands twice", name.text))
}

/// Refuses a spec for another number of operands than the primitive that is called with it.
fn check_spec(callee: &Expr, arguments: &[Argument]) -> Result<(), NotationError> {
    let ExprKind::Name(name) = &callee.kind else { return Ok(()) };
    let arity = match Primitive::of_name(name) {
        Some(primitive) => primitive.arity,
        None if name == "einsum3" => 3,
        None => return Ok(()),
    };
    arguments.iter().try_for_each(|argument| match &argument.value.kind {
        ExprKind::Spec(SpecArgument::Literal(spec, _)) => {
            spec.as_ref().clone().with_arity("einsum", arity).map(|_| ())
        }
        _ => Ok(()),
    })
}

/// Whether a power is computed at compile time: a number, its negation, or a host value.
fn is_exponent(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number(_, None) | ExprKind::Name(_) => true,
        ExprKind::Unary(UnaryOp::Neg, inner) => is_exponent(inner),
        ExprKind::Unary(UnaryOp::EmbedFloat | UnaryOp::EmbedInt, _) => true,
        _ => false,
    }
}

/// Whether an expression is a number, perhaps negative.
pub(super) fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number(Number::Int(_) | Number::Float(_), _) => true,
        ExprKind::Unary(UnaryOp::Neg, inner) => is_number(inner),
        _ => false,
    }
}
