//! Reading the text form of programs that [`crate::print()`] writes.
//!
//! The fields are type-checked as they are read; [`crate::verify()`] checks the rest of a program.

mod cursor;
mod error;
mod expr;

pub use error::ParseError;

use crate::verify::MAX_NESTING;
use crate::{
    Block, Buffer, DType, FieldId, Function, LibOp, Program, Region, Scalar, SizeGuard, Statement,
    StatementKind, TensorType, Var, literal,
};
use cursor::{Cursor, Parsed};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::{Extent, Space};

/// Reads a program.
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        function: Function::default(),
        names: HashMap::new(),
        scope: Vec::new(),
        used: HashSet::new(),
        nesting: 0,
    };
    parser.program().map_err(|fault| fault.in_text(text))
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Binding {
    Var(Var),
    Let(FieldId),
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// The function that is read.
    function: Function,
    /// The names that hold here, and the order they came in.
    names: HashMap<String, Binding>,
    scope: Vec<String>,
    /// The names of all variables of the function.
    used: HashSet<String>,
    nesting: usize,
}

/// A name and where it stands.
struct Name {
    text: String,
    at: usize,
}

impl Parser<'_> {
    fn program(&mut self) -> Parsed<Program> {
        let mut program = Program::default();
        if self.cursor.keyword("program") {
            program.name = self.name("the name of the program")?.text;
        }
        while !self.cursor.end() {
            if !self.cursor.keyword("func") {
                return self.cursor.expected("`func`");
            }
            let name = self.name("the name of a function")?;
            if program.functions.iter().any(|f| f.name == name.text) {
                return self.cursor.fault(name.at, format!("the function `{}` is defined twice", name.text));
            }
            self.function = Function::new(name.text);
            self.names.clear();
            self.scope.clear();
            self.used.clear();
            let Region { params, body } = self.block()?;
            (self.function.params, self.function.body) = (params, body);
            program.functions.push(std::mem::take(&mut self.function));
        }
        Ok(program)
    }

    /// A name: a word without a meaning of its own, or any text between backquotes.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let at = self.cursor.position();
        if self.cursor.looks_at('`') {
            return Ok(Name { text: self.cursor.quoted('`')?, at });
        }
        match self.cursor.peek_word() {
            Some(word) if !literal::is_reserved(word) => {
                self.cursor.word();
                Ok(Name { text: word.to_string(), at })
            }
            Some(word) => {
                let message =
                    format!("expected {what}, found the word `{word}`, which has a meaning of its own");
                self.cursor.fault(at, format!("{message} (write it between backquotes)"))
            }
            None => self.cursor.expected(what),
        }
    }

    fn look_up(&self, name: &Name) -> Parsed<Binding> {
        match self.names.get(&name.text) {
            Some(&binding) => Ok(binding),
            None => self.cursor.fault(name.at, format!("nothing here is called `{}`", name.text)),
        }
    }

    fn variable(&mut self) -> Parsed<Var> {
        let name = self.name("a variable")?;
        match self.look_up(&name)? {
            Binding::Var(var) => Ok(var),
            Binding::Let(_) => {
                self.cursor.fault(name.at, format!("`{}` is a field, not a variable", name.text))
            }
        }
    }

    fn bind(&mut self, name: Name, binding: Binding) -> Parsed<()> {
        if self.names.contains_key(&name.text) {
            return self.cursor.fault(name.at, format!("`{}` is defined twice", name.text));
        }
        self.scope.push(name.text.clone());
        self.names.insert(name.text, binding);
        Ok(())
    }

    fn define(&mut self, name: Name, ty: TensorType) -> Parsed<Var> {
        if !self.used.insert(name.text.clone()) {
            return self.cursor.fault(name.at, format!("`{}` is defined twice", name.text));
        }
        if name.text.is_empty() {
            return self.cursor.fault(name.at, "a variable needs a name".into());
        }
        let var = self.function.var(&name.text, ty);
        self.bind(name, Binding::Var(var))?;
        Ok(var)
    }

    /// Items separated by commas up to a closing sign, the opening one being read.
    fn list<T>(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.cursor.sign(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.cursor.sign(close) {
                return Ok(items);
            }
            if !self.cursor.sign(",") {
                return self.cursor.expected(&format!("`,` or `{close}`"));
            }
        }
    }

    /// `f32[4,5]`
    fn ty(&mut self) -> Parsed<TensorType> {
        let dtype = self.dtype()?;
        self.cursor.need("[")?;
        let extents: Vec<Extent> = self.list("]", |p| p.cursor.extent())?;
        Ok(TensorType::new(dtype, Space::new(extents)))
    }

    fn dtype(&mut self) -> Parsed<DType> {
        match self.cursor.peek_word().and_then(|w| w.parse().ok()) {
            Some(dtype) => {
                self.cursor.word();
                Ok(dtype)
            }
            None => self.cursor.expected("an element type"),
        }
    }

    /// `(params) -> (results) { statements }`, of a function or a region. The names end with it.
    fn block(&mut self) -> Parsed<Region> {
        if self.nesting > MAX_NESTING {
            return self.cursor.expected("fewer regions inside each other");
        }
        self.nesting += 1;
        let known = self.scope.len();
        self.cursor.need("(")?;
        let params = self.list(")", |p| {
            let name = p.name("a parameter")?;
            p.cursor.need(":")?;
            let ty = p.ty()?;
            p.define(name, ty)
        })?;
        self.cursor.need("->")?;
        self.cursor.need("(")?;
        let results = self.list(")", |p| p.name("a result"))?;
        if self.nesting == 1 {
            self.function.params = params.clone();
            self.guards()?;
        }
        self.cursor.need("{")?;
        let mut statements = Vec::new();
        while !self.cursor.sign("}") {
            if let Some(statement) = self.statement()? {
                statements.push(statement);
            }
        }
        let result = |p: &Self, name: &Name| match p.look_up(name)? {
            Binding::Var(var) => Ok(var),
            Binding::Let(_) => p.cursor.fault(name.at, format!("`{}` is a field, not a variable", name.text)),
        };
        let results = results.iter().map(|name| result(self, name)).collect::<Parsed<Vec<_>>>()?;
        for name in self.scope.drain(known..) {
            self.names.remove(&name);
        }
        self.nesting -= 1;
        Ok(Region { params, body: Block { statements, results } })
    }

    /// `where n >= 4 @ "convolution at a.py:3", n % 2 == 0`, or nothing: what the sizes must satisfy.
    fn guards(&mut self) -> Parsed<()> {
        let at = self.cursor.position();
        if self.cursor.keyword("where") {
            loop {
                let fact = self.cursor.fact()?;
                let origin = self.origin()?;
                self.function.guards.push(SizeGuard { fact, origin });
                if !self.cursor.sign(",") {
                    break;
                }
            }
        } else if !crate::bind::is_symbolic(&self.function) {
            return Ok(());
        }
        self.function.assume().or_else(|error| self.cursor.fault(at, error.to_string()))
    }

    /// `@ "file:3:5"`, or nothing.
    fn origin(&mut self) -> Parsed<Option<Arc<str>>> {
        Ok(if self.cursor.sign("@") { Some(Arc::from(self.cursor.quoted('"')?)) } else { None })
    }

    /// A statement, or a let, which is none.
    fn statement(&mut self) -> Parsed<Option<Statement>> {
        if self.cursor.keyword("let") {
            let name = self.name("the name of a field")?;
            self.cursor.need(":")?;
            let ty = self.ty()?;
            self.cursor.need("=:")?;
            let field = self.assignment(&ty)?;
            self.bind(name, Binding::Let(field))?;
            return Ok(None);
        }
        let mut targets: Vec<(Name, TensorType)> = Vec::new();
        while !self.cursor.looks_at('=') {
            if !targets.is_empty() && !self.cursor.sign(",") {
                return self.cursor.expected("`,`, `=:` or `=`");
            }
            let name = self.name("a statement or `}`")?;
            self.cursor.need(":")?;
            targets.push((name, self.ty()?));
        }
        let at = self.cursor.position();
        let kind = if self.cursor.sign("=:") {
            let (name, ty) = self.single(targets, at)?;
            let field = self.assignment(&ty)?;
            StatementKind::Store { target: self.define(name, ty)?, field }
        } else {
            self.cursor.need("=")?;
            let at = self.cursor.position();
            match self.cursor.word() {
                Some("constant") => {
                    let (name, ty) = self.single(targets, at)?;
                    let value = Arc::new(self.literal_tensor(&ty)?);
                    StatementKind::Constant { target: self.define(name, ty)?, value }
                }
                Some("call") => {
                    let op = self.library_operation()?;
                    self.cursor.need("(")?;
                    let args = self.list(")", Self::variable)?;
                    let regions =
                        if self.cursor.looks_at('{') { self.regions("region")? } else { Vec::new() };
                    self.function
                        .assume_truncated(&op, &args)
                        .or_else(|error| self.cursor.fault(at, error.to_string()))?;
                    StatementKind::Call { targets: self.define_all(targets)?, op, args, regions }
                }
                Some("while") => {
                    self.cursor.need("(")?;
                    let inits = self.list(")", Self::variable)?;
                    self.cursor.need("{")?;
                    let cond = self.region("cond")?;
                    let body = self.region("body")?;
                    self.cursor.need("}")?;
                    StatementKind::While { targets: self.define_all(targets)?, inits, cond, body }
                }
                Some("if") => {
                    let index = self.variable()?;
                    let branches = self.regions("branch")?;
                    StatementKind::If { targets: self.define_all(targets)?, index, branches }
                }
                _ => {
                    return self.cursor.fault(at, "expected `constant`, `call`, `while` or `if`".into());
                }
            }
        };
        let origin = self.origin()?;
        Ok(Some(Statement { kind, origin }))
    }

    fn single(&mut self, targets: Vec<(Name, TensorType)>, at: usize) -> Parsed<(Name, TensorType)> {
        let mut targets = targets.into_iter();
        match (targets.next(), targets.next()) {
            (Some(target), None) => Ok(target),
            _ => self.cursor.fault(at, "this statement has exactly one target".into()),
        }
    }

    fn define_all(&mut self, targets: Vec<(Name, TensorType)>) -> Parsed<Vec<Var>> {
        targets.into_iter().map(|(name, ty)| self.define(name, ty)).collect()
    }

    fn region(&mut self, word: &'static str) -> Parsed<Region> {
        if !self.cursor.keyword(word) {
            return self.cursor.expected(&format!("`{word}`"));
        }
        self.block()
    }

    fn regions(&mut self, word: &'static str) -> Parsed<Vec<Region>> {
        self.cursor.need("{")?;
        let mut regions = Vec::new();
        while !self.cursor.sign("}") {
            regions.push(self.region(word)?);
        }
        Ok(regions)
    }

    /// `sort{axis=1, stable=true}`
    fn library_operation(&mut self) -> Parsed<LibOp> {
        let at = self.cursor.position();
        let Some(name) = self.cursor.word() else { return self.cursor.expected("a library operation") };
        let mut attributes = Vec::new();
        if self.cursor.sign("{") {
            attributes = self.list("}", |p| {
                let Some(name) = p.cursor.word() else { return p.cursor.expected("an attribute") };
                p.cursor.need("=")?;
                Ok((name.to_string(), p.cursor.attribute(0)?))
            })?;
        }
        LibOp::from_attributes(name, &attributes).or_else(|message| self.cursor.fault(at, message))
    }

    /// The elements of a literal, as a list, a splat, or hexadecimal bytes.
    fn literal_tensor(&mut self, ty: &TensorType) -> Parsed<Buffer> {
        let at = self.cursor.position();
        let sizes = ty.space.sizes().and_then(|s| s.iter().map(|&n| usize::try_from(n).ok()).collect());
        let Some(shape): Option<Vec<usize>> = sizes else {
            return self.cursor.fault(at, format!("a literal of the type {ty} has no known sizes"));
        };
        let points = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let size = ty.dtype.size();
        let result = if self.cursor.sign("[") {
            let values: Vec<Scalar> = self.list("]", |p| p.element(ty.dtype))?;
            // The count is compared before memory is asked for.
            (points == Some(values.len())).then(|| Buffer::from_scalars(ty.dtype, &shape, &values)).flatten()
        } else if self.cursor.keyword("splat") {
            let value = self.element(ty.dtype)?;
            let fits = points.and_then(|n| n.checked_mul(size)).is_some_and(|n| n <= 1 << 32);
            fits.then(|| Buffer::splat(value, &shape))
        } else if self.cursor.keyword("hex") {
            let digits = self.cursor.quoted('"')?;
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
            bytes.filter(|_| digits.len() % 2 == 0).and_then(|b| Buffer::from_bytes(ty.dtype, &shape, &b))
        } else {
            return self.cursor.expected("`[`, `splat` or `hex`");
        };
        match result {
            Some(buffer) => Ok(buffer),
            None => {
                self.cursor.fault(at, format!("these are not the elements of a literal of the type {ty}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
