//! Tokens of the text form, and errors with their place.

use logos::Logos;
use std::fmt;
use surject_ir::{ParseError, literal};

/// An error at a byte of the text.
#[derive(Debug)]
pub(super) struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    /// Finds line and column.
    pub(super) fn in_text(self, text: &str) -> ParseError {
        ParseError::at(text, self.at, self.message)
    }
}

/// A token.
#[derive(Logos, Clone, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip r"//[^\n]*")]
pub(super) enum Token {
    #[regex(r"%[0-9]+", |lex| lex.slice()[1..].parse().ok())]
    Value(u32),
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", |lex| lex.slice().to_string())]
    Word(String),
    #[regex(r"`([^`\\\n]|\\[^\n])*`", |lex| literal::unquoted(lex.slice(), '`'))]
    Quoted(String),
    #[regex(r"0x[0-9a-fA-F]+", |lex| u128::from_str_radix(&lex.slice()[2..], 16).ok())]
    Bits(u128),
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", |lex| lex.slice().to_string())]
    Number(String),
    #[token("<=")]
    AtMost,
    #[token("<")]
    Less,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Value(number) => write!(f, "`%{number}`"),
            Token::Word(text) | Token::Quoted(text) | Token::Number(text) => write!(f, "`{text}`"),
            Token::Bits(bits) => write!(f, "`{bits:#x}`"),
            Token::AtMost => f.write_str("`<=`"),
            Token::Less => f.write_str("`<`"),
            Token::Equals => f.write_str("`=`"),
            Token::Plus => f.write_str("`+`"),
            Token::Minus => f.write_str("`-`"),
            Token::Star => f.write_str("`*`"),
            Token::Comma => f.write_str("`,`"),
            Token::Colon => f.write_str("`:`"),
            Token::Open => f.write_str("`(`"),
            Token::Close => f.write_str("`)`"),
            Token::OpenBracket => f.write_str("`[`"),
            Token::CloseBracket => f.write_str("`]`"),
            Token::OpenBrace => f.write_str("`{`"),
            Token::CloseBrace => f.write_str("`}`"),
        }
    }
}

/// All tokens of a text, and how many of them are read.
#[derive(Debug)]
pub(super) struct Lexed {
    tokens: Vec<(Token, usize)>,
    next: usize,
    end: usize,
}

impl Lexed {
    pub(super) fn new(text: &str) -> Result<Lexed, ParseError> {
        let mut tokens = Vec::new();
        for (token, span) in Token::lexer(text).spanned() {
            match token {
                Ok(token) => tokens.push((token, span.start)),
                Err(()) => {
                    let message = format!("`{}` is no part of a kernel's text", &text[span.clone()]);
                    return Err(Fault { at: span.start, message }.in_text(text));
                }
            }
        }
        Ok(Lexed { tokens, next: 0, end: text.trim_end().len() })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|t| &t.0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek().is_none()
    }

    /// The byte at which the next token begins.
    pub(super) fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |t| t.1)
    }

    pub(super) fn fault<T>(&self, at: usize, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault { at, message: message.into() })
    }

    /// The error that something else stands here.
    fn expected<T>(&self, what: &str) -> Result<T, Fault> {
        let found = self.peek().map_or_else(|| "the end".to_string(), Token::to_string);
        self.fault(self.at(), format!("expected {what}, found {found}"))
    }

    /// Takes a token, if it is next.
    pub(super) fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    pub(super) fn need(&mut self, token: Token) -> Result<(), Fault> {
        if self.take(&token) { Ok(()) } else { self.expected(&token.to_string()) }
    }

    /// Takes this word, if it is next.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if found == word);
        self.next += usize::from(found);
        found
    }

    pub(super) fn keyword_or(&mut self, word: &str, what: &str) -> Result<(), Fault> {
        if self.keyword(word) { Ok(()) } else { self.expected(what) }
    }

    pub(super) fn identifier(&mut self, what: &str) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.next += 1;
                Ok(word)
            }
            _ => self.expected(what),
        }
    }

    /// A name, which may be any text between backquotes.
    pub(super) fn name(&mut self, what: &str) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// The name of an operation or operator.
    pub(super) fn operation(&mut self) -> Result<String, Fault> {
        for (token, name) in [(Token::Plus, "+"), (Token::Star, "*")] {
            if self.take(&token) {
                return Ok(name.to_string());
            }
        }
        self.identifier("an operation")
    }

    pub(super) fn peeks_value(&self) -> bool {
        matches!(self.peek(), Some(Token::Value(_)))
    }

    pub(super) fn value_number(&mut self) -> Result<u32, Fault> {
        match self.peek() {
            Some(&Token::Value(number)) => {
                self.next += 1;
                Ok(number)
            }
            _ => self.expected("a value such as `%1`"),
        }
    }

    /// An integer without a sign.
    pub(super) fn integer(&mut self, what: &str) -> Result<u64, Fault> {
        let number = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok(),
            _ => None,
        };
        match number {
            Some(number) => {
                self.next += 1;
                Ok(number)
            }
            None => self.expected(what),
        }
    }

    pub(super) fn number_text(&mut self) -> Option<String> {
        match self.peek() {
            Some(Token::Number(text)) => {
                let text = text.clone();
                self.next += 1;
                Some(text)
            }
            _ => None,
        }
    }

    pub(super) fn hexadecimal(&mut self) -> Result<u128, Fault> {
        match self.peek() {
            Some(&Token::Bits(bits)) => {
                self.next += 1;
                Ok(bits)
            }
            _ => self.expected("bits such as `0x7fc00000`"),
        }
    }
}
