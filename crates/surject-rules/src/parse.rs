//! The parser of rule files.
//!
//! ```text
//! file    := { rule }                       # a '#' at the start of a line or before a blank starts a comment
//! rule    := "rule" NAME class { flag } [ "phase" NAME ] pattern ("=>" | "<=>") pattern { "where" conds } { "let" binding }
//! class   := "exact" | "reassociates" | "rounds"        flag := "zero-sign" | "finite" | "no-overflow"
//! pattern := NUMBER | "#"NAME | "?"NAME [ "[" axes "]" ] | "(" op pattern { pattern } ")"
//!          | "(" ("sum"|"prod"|"max"|"min"|"and"|"or"|"xor") "[" axes "]" pattern ")"
//!          | "(" "read" map pattern ")" | "(" "acc" op map pattern ")"
//!          | "(" "stablehlo."NAME [ "[" NAME "=" VALUE { "," … } "]" ] { pattern } ")"
//! map     := "?"NAME | "(" "compose" map map ")" | "(" "inverse" map [ "(" "neutral" op ")" | NUMBER ] ")"
//!          | "(" "identity" pattern ")"
//! conds   := cond { "," cond }              cond := [ "not" ] NAME { arg }
//! binding := "?"A "," "?"B "=" "fibre" "?"N "?"M | "?"h "=" "unread" "?"g "?"M
//!          | "?"K "=" "through" "?"N "?"M | "?"N "," "?"y "," "#"k "=" "drop" "?"M "?"x
//! ```

use crate::ast::*;
use crate::error::RuleError;
use crate::lexer::{Token, TokenKind, tokenize};
use surject_ir::{AccOp, BinaryOp, UnaryOp};

/// Patterns nest at most this deep.
const MAX_DEPTH: usize = 64;

/// Parses a rule file. Names are resolved (operators, conditions); scope and types are checked by
/// [`crate::check`].
pub fn parse(name: &str, source: &str) -> Result<RuleFile, RuleError> {
    let tokens = tokenize(source)?;
    let mut parser = Parser { source, tokens: &tokens, at: 0 };
    let mut rules: Vec<Rule> = Vec::new();
    while parser.peek().is_some() {
        let rule = parser.rule()?;
        if rules.iter().any(|r| r.name == rule.name) {
            return Err(RuleError::new(
                "SJ0203",
                rule.name_span,
                format!("a rule named `{}` stands above", rule.name),
            )
            .with_help("names of rules are unique in a file, so that `--without NAME` is unambiguous"));
        }
        rules.push(rule);
    }
    Ok(RuleFile { name: name.to_string(), source: source.to_string(), rules })
}

struct Parser<'a> {
    source: &'a str,
    tokens: &'a [Token],
    at: usize,
}

type Parsed<T> = Result<T, RuleError>;

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn text(&self, token: &Token) -> &'a str {
        &self.source[token.span.start..token.span.end]
    }

    fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|t| self.text(t) == text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.at += found as usize;
        found
    }

    fn end_span(&self) -> Span {
        Span { start: self.source.len(), end: self.source.len() }
    }

    fn unexpected<T>(&self, expected: &str) -> Parsed<T> {
        Err(match self.peek() {
            Some(t) => {
                RuleError::new("SJ0201", t.span, format!("expected {expected}, found `{}`", self.text(t)))
            }
            None => RuleError::new(
                "SJ0201",
                self.end_span(),
                format!("expected {expected}, found the end of the file"),
            ),
        })
    }

    fn expect(&mut self, text: &str) -> Parsed<Span> {
        match self.peek() {
            Some(t) if self.text(t) == text => {
                self.at += 1;
                Ok(t.span)
            }
            _ => self.unexpected(&format!("`{text}`")),
        }
    }

    fn take(&mut self, kind: TokenKind, expected: &str) -> Parsed<(&'a str, Span)> {
        match self.peek() {
            Some(t) if t.kind == kind => {
                self.at += 1;
                Ok((self.text(t), t.span))
            }
            _ => self.unexpected(expected),
        }
    }

    fn word(&mut self, expected: &str) -> Parsed<(&'a str, Span)> {
        self.take(TokenKind::Word, expected)
    }

    /// `?name`, without the question mark.
    fn variable(&mut self, expected: &str) -> Parsed<(String, Span)> {
        self.take(TokenKind::Var, expected).map(|(text, span)| (text[1..].to_string(), span))
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let start = self.expect("rule")?;
        let (name, name_span) = self.word("the name of the rule")?;
        let (class, class_span) = self.word("an exactness class (exact, reassociates, rounds, overflows)")?;
        let class: Exactness = class.parse().map_err(|e: String| RuleError::new("SJ0202", class_span, e))?;
        let mut flags = class.waives();
        let mut phase = None;
        while let Some(token) = self.peek().filter(|t| t.kind == TokenKind::Word) {
            match self.text(token) {
                "zero-sign" => flags.zero_sign = true,
                "finite" => flags.finite = true,
                "no-overflow" => flags.no_overflow = true,
                "phase" => {
                    self.at += 1;
                    phase = Some(self.word("the name of a phase")?.0.to_string());
                    continue;
                }
                other => {
                    let message = format!("`{other}` is neither a flag nor a phase");
                    return Err(RuleError::new("SJ0202", token.span, message).with_help(
                        "flags are zero-sign, finite and no-overflow; a phase is written `phase NAME`",
                    ));
                }
            }
            self.at += 1;
        }
        let left = self.pattern(0)?;
        let both_ways = match self.peek().map(|t| self.text(t)) {
            Some("=>") => false,
            Some("<=>") => true,
            _ => return self.unexpected("`=>` or `<=>`"),
        };
        self.at += 1;
        let right = self.pattern(0)?;
        let (mut conditions, mut bindings) = (Vec::new(), Vec::new());
        loop {
            if self.eat("where") {
                conditions.push(self.condition()?);
                while self.eat(",") {
                    conditions.push(self.condition()?);
                }
            } else if self.eat("let") {
                bindings.push(self.binding()?);
            } else {
                break;
            }
        }
        let span = Span { start: start.start, end: self.tokens[self.at - 1].span.end };
        let name = name.to_string();
        Ok(Rule {
            name,
            name_span,
            class,
            flags,
            phase,
            left,
            right,
            both_ways,
            conditions,
            bindings,
            span,
            soundness: None,
        })
    }

    fn pattern(&mut self, depth: usize) -> Parsed<Pattern> {
        let Some(token) = self.peek() else { return self.unexpected("a pattern") };
        if depth > MAX_DEPTH {
            return Err(RuleError::new(
                "SJ0204",
                token.span,
                format!("patterns nest at most {MAX_DEPTH} deep"),
            ));
        }
        let start = token.span.start;
        let kind = match token.kind {
            TokenKind::Number => {
                self.at += 1;
                PatternKind::Number(number(self.text(token), token.span)?)
            }
            TokenKind::Count => {
                self.at += 1;
                PatternKind::Count(self.text(token)[1..].to_string())
            }
            TokenKind::Var => {
                let (name, _) = self.variable("a variable")?;
                let axes = if self.is("[") { Some(self.axes()?) } else { None };
                PatternKind::Var { name, axes }
            }
            TokenKind::Symbol if self.eat("(") => {
                let kind = self.form(depth)?;
                self.expect(")")?;
                kind
            }
            _ => return self.unexpected("a pattern: a number, `?x`, or `(op …)`"),
        };
        Ok(Pattern { kind, span: Span { start, end: self.tokens[self.at - 1].span.end } })
    }

    /// What stands between the parentheses of a pattern.
    fn form(&mut self, depth: usize) -> Parsed<PatternKind> {
        let Some(head) = self.peek() else { return self.unexpected("an operation") };
        let word = self.text(head);
        match word {
            "read" => {
                self.at += 1;
                let map = self.map(depth + 1)?;
                return Ok(PatternKind::Read { map, of: Box::new(self.pattern(depth + 1)?) });
            }
            "acc" => {
                self.at += 1;
                let op = self.acc_operator()?;
                let map = self.map(depth + 1)?;
                return Ok(PatternKind::Acc { op, map, of: Box::new(self.pattern(depth + 1)?) });
            }
            _ => {}
        }
        if let Some(name) = word.strip_prefix("stablehlo.") {
            self.at += 1;
            let attributes = if self.is("[") { self.attributes()? } else { Vec::new() };
            let args = self.args(depth)?;
            return Ok(PatternKind::StableHlo { name: name.to_string(), attributes, args });
        }
        let reduction = self.tokens.get(self.at + 1).is_some_and(|t| self.text(t) == "[");
        if reduction && head.kind != TokenKind::Var {
            let op = reduction_operator(word).ok_or_else(|| {
                RuleError::new("SJ0205", head.span, format!("`{word}` is not a reduction"))
                    .with_help("reductions are sum, prod, max, min, and, or, xor")
            })?;
            self.at += 1;
            let axes = self.axes()?;
            return Ok(PatternKind::Reduce { op, axes, body: Box::new(self.pattern(depth + 1)?) });
        }
        self.at += 1;
        let args = self.args(depth)?;
        let op = match head.kind {
            TokenKind::Var => Operator::Var(word[1..].to_string()),
            _ => operator(word, args.len()).ok_or_else(|| {
                let operands = if args.len() == 1 { "operand" } else { "operands" };
                let message = format!("there is no operation `{word}` with {} {operands}", args.len());
                RuleError::new("SJ0205", head.span, message)
                    .with_help("operations are + - * / and the names of the text form of programs (exp, tanh, max, select, …)")
            })?,
        };
        Ok(PatternKind::Apply { op, args })
    }

    fn args(&mut self, depth: usize) -> Parsed<Vec<Pattern>> {
        let mut args = Vec::new();
        while self.peek().is_some() && !self.is(")") {
            args.push(self.pattern(depth + 1)?);
        }
        Ok(args)
    }

    fn axes(&mut self) -> Parsed<Vec<String>> {
        self.expect("[")?;
        let mut axes = Vec::new();
        while !self.is("]") {
            axes.push(self.word("the name of an axis")?.0.to_string());
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(axes)
    }

    fn attributes(&mut self) -> Parsed<Vec<(String, String)>> {
        self.expect("[")?;
        let mut attributes = Vec::new();
        while !self.is("]") {
            let (name, _) = self.word("the name of an attribute")?;
            self.expect("=")?;
            let Some(value) = self.peek() else { return self.unexpected("a value") };
            self.at += 1;
            attributes.push((name.to_string(), self.text(value).to_string()));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(attributes)
    }

    fn acc_operator(&mut self) -> Parsed<AccOperator> {
        let Some(token) = self.peek() else { return self.unexpected("an operator of an accumulation") };
        let word = self.text(token);
        let op = match token.kind {
            TokenKind::Var => AccOperator::Var(word[1..].to_string()),
            _ => AccOperator::Known(AccOp::from_name(word).ok_or_else(|| {
                RuleError::new(
                    "SJ0205",
                    token.span,
                    format!("`{word}` is not an operator of an accumulation"),
                )
                .with_help("they are + * max min and or xor set, or a variable such as `?o`")
            })?),
        };
        self.at += 1;
        Ok(op)
    }

    fn map(&mut self, depth: usize) -> Parsed<MapPattern> {
        let Some(token) = self.peek() else { return self.unexpected("a map") };
        if depth > MAX_DEPTH {
            return Err(RuleError::new(
                "SJ0204",
                token.span,
                format!("patterns nest at most {MAX_DEPTH} deep"),
            ));
        }
        let start = token.span.start;
        let kind = if token.kind == TokenKind::Var {
            MapKind::Var(self.variable("a map")?.0)
        } else {
            self.expect("(")?;
            let (word, span) = self.word("compose, inverse or identity")?;
            let kind = match word {
                "compose" => {
                    let outer = self.map(depth + 1)?;
                    MapKind::Compose(Box::new(outer), Box::new(self.map(depth + 1)?))
                }
                "inverse" => {
                    let map = Box::new(self.map(depth + 1)?);
                    MapKind::Inverse(map, self.fill()?)
                }
                "identity" => MapKind::Identity(Box::new(self.pattern(depth + 1)?)),
                other => {
                    return Err(RuleError::new("SJ0205", span, format!("`{other}` does not make a map"))
                        .with_help("maps are `?M`, `(compose N M)`, `(inverse M fill)` and `(identity x)`"));
                }
            };
            self.expect(")")?;
            kind
        };
        Ok(MapPattern { kind, span: Span { start, end: self.tokens[self.at - 1].span.end } })
    }

    fn fill(&mut self) -> Parsed<Option<FillPattern>> {
        if self.is(")") {
            return Ok(None);
        }
        if self.eat("(") {
            self.expect("neutral")?;
            let op = self.acc_operator()?;
            self.expect(")")?;
            return Ok(Some(FillPattern::Neutral(op)));
        }
        let (text, span) = self.take(TokenKind::Number, "a fill: `(neutral ?o)` or a number")?;
        Ok(Some(FillPattern::Number(number(text, span)?)))
    }

    fn condition(&mut self) -> Parsed<Condition> {
        let start = self.peek().map_or(self.end_span(), |t| t.span);
        let negated = self.eat("not");
        let (word, span) = self.word("a condition")?;
        let name = ConditionName::from_name(word).ok_or_else(|| {
            let known: Vec<&str> = ConditionName::ALL.iter().map(|c| c.name()).collect();
            RuleError::new("SJ0206", span, format!("`{word}` is not a condition"))
                .with_help(format!("conditions are {}", known.join(", ")))
        })?;
        let mut args = Vec::new();
        while args.len() < name.signature().len() {
            let Some(token) = self.peek() else { break };
            let text = self.text(token);
            args.push(match token.kind {
                TokenKind::Var => Argument::Var(text[1..].to_string(), token.span),
                TokenKind::Number => Argument::Number(number(text, token.span)?, token.span),
                TokenKind::Word if !matches!(text, "where" | "let" | "rule") => {
                    Argument::Word(text.to_string(), token.span)
                }
                TokenKind::Operator => Argument::Word(text.to_string(), token.span),
                _ => break,
            });
            self.at += 1;
        }
        if args.len() < name.signature().len() {
            let needed = name.signature().len();
            return Err(RuleError::new(
                "SJ0206",
                span,
                format!("`{word}` takes {needed} arguments, found {}", args.len()),
            ));
        }
        let span = Span { start: start.start, end: self.tokens[self.at - 1].span.end };
        Ok(Condition { name, negated, args, span })
    }

    fn binding(&mut self) -> Parsed<Binding> {
        let start = self.peek().map_or(self.end_span(), |t| t.span);
        let (first, _) = self.variable("a variable to bind")?;
        let mut names = vec![first];
        let mut count = None;
        while self.eat(",") {
            match self.peek() {
                Some(t) if t.kind == TokenKind::Count => {
                    self.at += 1;
                    count = Some(self.text(t)[1..].to_string());
                }
                _ => names.push(self.variable("a variable to bind")?.0),
            }
        }
        self.expect("=")?;
        let (word, span) = self.word("fibre, unread, through or drop")?;
        let (a, _) = self.variable("a variable")?;
        let (b, _) = self.variable("a variable")?;
        let mut names = names.into_iter();
        let kind = match (word, names.next(), names.next(), names.next(), count) {
            ("fibre", Some(to_q), Some(to_p), None, None) => BindingKind::Fibre { to_q, to_p, n: a, m: b },
            ("unread", Some(result), None, None, None) => BindingKind::Unread { result, field: a, map: b },
            ("through", Some(result), None, None, None) => BindingKind::Through { result, n: a, m: b },
            ("drop", Some(map), Some(field), None, Some(count)) => {
                BindingKind::Drop { map, field, count, from_map: a, from_field: b }
            }
            _ => {
                return Err(RuleError::new("SJ0207", span, format!("`{word}` does not bind these variables")).with_help(
                    "forms: `?A, ?B = fibre ?N ?M`, `?h = unread ?g ?M`, `?K = through ?N ?M`, `?N, ?y, #k = drop ?M ?x`",
                ));
            }
        };
        Ok(Binding { kind, span: Span { start: start.start, end: self.tokens[self.at - 1].span.end } })
    }
}

fn number(text: &str, span: Span) -> Parsed<f64> {
    text.parse().map_err(|_| RuleError::new("SJ0201", span, format!("`{text}` is not a number")))
}

fn reduction_operator(word: &str) -> Option<AccOp> {
    Some(match word {
        "sum" => AccOp::Add,
        "prod" => AccOp::Mul,
        "max" => AccOp::Max,
        "min" => AccOp::Min,
        "and" => AccOp::And,
        "or" => AccOp::Or,
        "xor" => AccOp::Xor,
        _ => return None,
    })
}

fn operator(word: &str, operands: usize) -> Option<Operator> {
    let binary = |op| (operands == 2).then_some(Operator::Binary(op));
    match word {
        "+" => binary(BinaryOp::Add),
        "-" if operands == 1 => Some(Operator::Unary(UnaryOp::Neg)),
        "-" => binary(BinaryOp::Sub),
        "*" => binary(BinaryOp::Mul),
        "/" => binary(BinaryOp::Div),
        "select" => (operands == 3).then_some(Operator::Select),
        _ if operands == 1 => UnaryOp::from_name(word).map(Operator::Unary),
        _ => BinaryOp::from_name(word).and_then(binary),
    }
}
