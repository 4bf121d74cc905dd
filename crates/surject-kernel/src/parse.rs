//! Reading the text form of kernels that [`crate::print()`] writes.
//!
//! Types stand behind every operation that has results, so nothing is inferred here; [`crate::verify()`] compares them
//! with the operands.

mod boxes;
mod elements;
mod lexer;
mod operations;
mod places;
mod statements;

use crate::{Access, Kernel, Mem, Memory, Space, Type, Value};
use lexer::{Lexed, Token};
use std::collections::HashMap;
use surject_ir::{DType, ParseError};

/// Reads kernels, one after the other.
pub fn parse(text: &str) -> Result<Vec<Kernel>, ParseError> {
    let mut parser = Parser::new(text)?;
    let mut kernels = Vec::new();
    while !parser.lexed.at_end() {
        kernels.push(parser.kernel().map_err(|fault| fault.in_text(text))?);
    }
    Ok(kernels)
}

type Parsed<T> = Result<T, lexer::Fault>;

/// How deep regions may nest.
const MAX_NESTING: usize = 100;

struct Parser {
    lexed: Lexed,
    kernel: Kernel,
    /// The values by their numbers in the text, and whether they are defined at this place.
    values: HashMap<u32, Value>,
    memory: HashMap<String, Mem>,
    nesting: usize,
}

impl Parser {
    fn new(text: &str) -> Result<Parser, ParseError> {
        let lexed = Lexed::new(text)?;
        Ok(Parser {
            lexed,
            kernel: Kernel::new(""),
            values: HashMap::new(),
            memory: HashMap::new(),
            nesting: 0,
        })
    }

    fn kernel(&mut self) -> Parsed<Kernel> {
        self.values.clear();
        self.memory.clear();
        self.lexed.keyword_or("kernel", "`kernel`")?;
        let name = self.lexed.name("the name of the kernel")?;
        self.kernel = Kernel::new(name);
        self.lexed.need(Token::Open)?;
        self.separated(Token::Close, |parser| {
            if parser.lexed.peeks_value() {
                let value = parser.define(Type::index())?;
                parser.lexed.need(Token::Colon)?;
                parser.lexed.keyword_or("size", "`size`")?;
                parser.kernel.sizes.push(value);
                return Ok(());
            }
            let at = parser.lexed.at();
            let name = parser.lexed.name("a size `%n` or the name of a tensor")?;
            parser.lexed.need(Token::Colon)?;
            let access = parser.named("read, write or readwrite", Access::from_name)?;
            let mem = parser.memory((at, name), Space::Global, access)?;
            parser.kernel.params.push(mem);
            Ok(())
        })?;
        self.kernel.body = self.braces(Vec::new())?;
        Ok(std::mem::replace(&mut self.kernel, Kernel::new("")))
    }

    /// `f32[1024]`, of memory with this name.
    fn memory(&mut self, (at, name): (usize, String), space: Space, access: Access) -> Parsed<Mem> {
        let dtype = self.dtype()?;
        self.lexed.need(Token::OpenBracket)?;
        let elements = self.affine()?;
        self.lexed.need(Token::CloseBracket)?;
        let mem = Mem(self.kernel.memory.len() as u32);
        if self.memory.insert(name.clone(), mem).is_some() {
            return self.lexed.fault(at, format!("the memory `{name}` is defined twice"));
        }
        self.kernel.memory.push(Memory { name, dtype, elements, space, access });
        Ok(mem)
    }

    /// Items with commas between, up to a token.
    fn separated(&mut self, end: Token, mut item: impl FnMut(&mut Parser) -> Parsed<()>) -> Parsed<()> {
        if self.lexed.take(&end) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.lexed.take(&end) {
                return Ok(());
            }
            self.lexed.need(Token::Comma)?;
        }
    }

    fn named<T>(&mut self, what: &str, of: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        let at = self.lexed.at();
        let word = self.lexed.identifier(what)?;
        match of(&word) {
            Some(found) => Ok(found),
            None => self.lexed.fault(at, format!("expected {what}, found `{word}`")),
        }
    }

    fn dtype(&mut self) -> Parsed<DType> {
        self.named("an element type", |word| word.parse().ok().filter(|d: &DType| !d.is_complex()))
    }

    fn ty(&mut self) -> Parsed<Type> {
        self.named("a type such as `f32` or `f32x8`", |word| word.parse().ok())
    }

    /// A value that is defined here.
    fn define(&mut self, ty: Type) -> Parsed<Value> {
        let (at, number) = (self.lexed.at(), self.lexed.value_number()?);
        self.define_number((at, number), ty)
    }

    fn define_number(&mut self, (at, number): (usize, u32), ty: Type) -> Parsed<Value> {
        let value = self.kernel.value(ty);
        match self.values.insert(number, value) {
            None => Ok(value),
            Some(_) => self.lexed.fault(at, format!("%{number} is defined twice")),
        }
    }

    fn value(&mut self) -> Parsed<Value> {
        let (at, number) = (self.lexed.at(), self.lexed.value_number()?);
        match self.values.get(&number) {
            Some(&value) => Ok(value),
            None => self.lexed.fault(at, format!("%{number} is not defined before this place")),
        }
    }

    fn mem(&mut self) -> Parsed<Mem> {
        let at = self.lexed.at();
        let name = self.lexed.name("the name of a memory")?;
        match self.memory.get(&name) {
            Some(&mem) => Ok(mem),
            None => self.lexed.fault(at, format!("no memory here is called `{name}`")),
        }
    }
}
