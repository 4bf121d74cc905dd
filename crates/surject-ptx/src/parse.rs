//! The text form: variables, kernels, instructions.

use crate::PtxError;
use crate::code::{Base, Instruction, Op, Operand, Space, Special, Ty};
use crate::decode::decode;
use crate::lexer::{Token, error, tokens};
use std::collections::HashMap;

/// What a text has.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) text: String,
}

impl Module {
    /// The names of its kernels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|k| k.name.as_str())
    }

    pub(crate) fn line(&self, line: usize) -> String {
        self.text.lines().nth(line.wrapping_sub(1)).unwrap_or("").trim().to_string()
    }
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) space: Space,
    /// `None`: what the launch gives.
    pub(crate) bytes: Option<usize>,
    pub(crate) align: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) params: Vec<(String, usize)>,
    pub(crate) registers: Vec<String>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) code: Vec<Instruction>,
    /// The threads of a block, where the text says so.
    pub(crate) threads: Option<u32>,
}

/// Reads a text.
pub fn parse(text: &str) -> Result<Module, PtxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { text, tokens, at: 0 };
    let (mut variables, mut kernels) = (Vec::new(), Vec::new());
    while let Some(token) = parser.peek() {
        match token {
            Token::Directive(name) => match name.as_str() {
                ".version" | ".address_size" => {
                    parser.next();
                    parser.next();
                }
                ".target" => {
                    parser.next();
                    parser.next();
                    while parser.take(&Token::Comma) {
                        parser.next();
                    }
                }
                ".visible" | ".extern" | ".weak" => _ = parser.next(),
                ".entry" => {
                    parser.next();
                    kernels.push(parser.kernel(variables.clone())?);
                }
                ".shared" => variables.push(parser.variable()?),
                other => return Err(parser.fault(format!("`{other}` is not known outside of kernels"))),
            },
            _ => return Err(parser.fault("expected a directive")),
        }
    }
    Ok(Module { kernels, text: text.to_string() })
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, usize)>,
    at: usize,
}

/// Names of a kernel.
#[derive(Default)]
struct Names {
    registers: HashMap<String, usize>,
    list: Vec<String>,
    /// Labels by the braces around them, as these are numbered, and the braces around what is read.
    labels: HashMap<(usize, String), usize>,
    around: Vec<usize>,
}

impl Names {
    fn label(&self, name: &str) -> Option<usize> {
        self.around.iter().rev().find_map(|&braces| self.labels.get(&(braces, name.to_string())).copied())
    }

    fn register(&mut self, name: String) {
        let next = self.list.len();
        if let std::collections::hash_map::Entry::Vacant(place) = self.registers.entry(name.clone()) {
            place.insert(next);
            self.list.push(name);
        }
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.1)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|t| t.0.clone());
        self.at += 1;
        token
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn fault(&self, message: impl Into<String>) -> PtxError {
        error(self.text, self.line(), message)
    }

    fn expect(&mut self, token: Token) -> Result<(), PtxError> {
        if self.take(&token) { Ok(()) } else { Err(self.fault(format!("expected {token:?}"))) }
    }

    fn name(&mut self) -> Result<String, PtxError> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.fault("expected a name")),
        }
    }

    fn number(&mut self) -> Result<u64, PtxError> {
        match self.peek() {
            Some(&Token::Number(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => Err(self.fault("expected a number")),
        }
    }

    /// `.shared .align 16 .b8 name[bytes];`
    fn variable(&mut self) -> Result<Variable, PtxError> {
        let (mut space, mut align, mut size) = (Space::Shared, 1, 1);
        while let Some(Token::Directive(word)) = self.peek().cloned() {
            self.at += 1;
            match word.as_str() {
                ".shared" => space = Space::Shared,
                ".local" => space = Space::Local,
                ".align" => align = self.number()? as usize,
                _ => match Ty::named(&word[1..]) {
                    Some(ty) => size = ty.bytes(),
                    None => return Err(self.fault(format!("`{word}` is not known of a variable"))),
                },
            }
        }
        let name = self.name()?;
        let mut bytes = Some(size);
        while self.take(&Token::OpenAddress) {
            bytes = match self.peek() {
                Some(Token::Number(_)) => {
                    let count = self.number()? as usize;
                    bytes.map(|b| b * count)
                }
                _ => None,
            };
            self.expect(Token::CloseAddress)?;
        }
        self.expect(Token::Semicolon)?;
        Ok(Variable { name, space, bytes, align: align.max(size) })
    }

    fn kernel(&mut self, mut variables: Vec<Variable>) -> Result<Kernel, PtxError> {
        let name = self.name()?;
        let mut params = Vec::new();
        self.expect(Token::OpenList)?;
        while !self.take(&Token::CloseList) {
            let mut bytes = 0;
            while let Some(Token::Directive(word)) = self.peek().cloned() {
                self.at += 1;
                if word == ".align" {
                    self.number()?;
                } else if let Some(ty) = Ty::named(&word[1..]) {
                    bytes = ty.bytes();
                }
            }
            let name = self.name()?;
            if self.take(&Token::OpenAddress) {
                bytes *= self.number()? as usize;
                self.expect(Token::CloseAddress)?;
            }
            params.push((name, bytes));
            self.take(&Token::Comma);
        }
        let mut threads = None;
        while let Some(Token::Directive(word)) = self.peek().cloned() {
            self.at += 1;
            let mut product = 1;
            while let Some(Token::Number(_)) = self.peek() {
                product *= self.number()? as u32;
                self.take(&Token::Comma);
            }
            if word == ".reqntid" {
                threads = Some(product);
            }
        }
        self.expect(Token::Open)?;
        let (start, mut names) = (self.at, Names::default());
        // Labels and registers may be used before they are seen: two passes.
        self.body(&mut names, &mut variables, &params, &mut None)?;
        self.at = start;
        let mut code = Some(Vec::new());
        self.body(&mut names, &mut variables, &params, &mut code)?;
        Ok(Kernel { name, params, registers: names.list, variables, code: code.unwrap_or_default(), threads })
    }

    /// What stands between braces. Without a list of instructions it finds the names.
    fn body(
        &mut self,
        names: &mut Names,
        variables: &mut Vec<Variable>,
        params: &[(String, usize)],
        code: &mut Option<Vec<Instruction>>,
    ) -> Result<(), PtxError> {
        let (mut braces, mut count) = (0, 0);
        names.around = vec![0];
        loop {
            let line = self.line();
            match self.peek().cloned() {
                None => return Err(self.fault("the kernel does not end")),
                Some(Token::Open) => {
                    self.at += 1;
                    braces += 1;
                    names.around.push(braces);
                }
                Some(Token::Close) => {
                    self.at += 1;
                    names.around.pop();
                    if names.around.is_empty() {
                        return Ok(());
                    }
                }
                Some(Token::Directive(word)) if word == ".reg" => self.registers(names)?,
                Some(Token::Directive(word)) if matches!(word.as_str(), ".local" | ".shared") => {
                    let variable = self.variable()?;
                    if !variables.contains(&variable) {
                        variables.push(variable);
                    }
                }
                Some(Token::Directive(word)) if word == ".pragma" => {
                    while !self.take(&Token::Semicolon) {
                        if self.next().is_none() {
                            return Err(self.fault("the kernel does not end"));
                        }
                    }
                }
                Some(Token::Name(name))
                    if self.tokens.get(self.at + 1).is_some_and(|t| t.0 == Token::Colon) =>
                {
                    self.at += 2;
                    let around = names.around.last().copied().unwrap_or(0);
                    names.labels.insert((around, name), count);
                }
                Some(Token::Name(_) | Token::At) => {
                    count += 1;
                    if let Some(code) = code {
                        let instruction = self.instruction(line, names, variables, params)?;
                        code.push(instruction);
                        continue;
                    }
                    while !self.take(&Token::Semicolon) {
                        if self.next().is_none() {
                            return Err(self.fault("the kernel does not end"));
                        }
                    }
                }
                Some(Token::Semicolon) => self.at += 1,
                Some(other) => return Err(self.fault(format!("{other:?} begins no instruction"))),
            }
        }
    }

    /// `.reg .b32 %r<6>, %x;`
    fn registers(&mut self, names: &mut Names) -> Result<(), PtxError> {
        self.at += 2;
        loop {
            let name = self.name()?;
            if self.take(&Token::Less) {
                let count = self.number()?;
                self.expect(Token::Greater)?;
                (0..count).for_each(|i| names.register(format!("{name}{i}")));
            } else {
                names.register(name);
            }
            if !self.take(&Token::Comma) {
                return self.expect(Token::Semicolon);
            }
        }
    }

    fn instruction(
        &mut self,
        line: usize,
        names: &Names,
        variables: &[Variable],
        params: &[(String, usize)],
    ) -> Result<Instruction, PtxError> {
        let mut guard = None;
        if self.take(&Token::At) {
            let holds = !self.take(&Token::Not);
            let name = self.name()?;
            let register = names.registers.get(&name).copied();
            guard = Some((register.ok_or_else(|| self.fault(format!("no register `{name}`")))?, holds));
        }
        let name = self.name()?;
        let mut op = decode(&name).map_err(|message| error(self.text, line, message))?;
        if let Op::Branch(target) = &mut op {
            let label = self.name()?;
            let found = names.label(&label);
            *target = found.ok_or_else(|| self.fault(format!("no label `{label}`")))?;
            self.expect(Token::Semicolon)?;
            return Ok(Instruction { guard, op, operands: Vec::new(), line });
        }
        let mut operands = Vec::new();
        while !self.take(&Token::Semicolon) {
            let mut operand = self.operand(names, variables, params)?;
            if self.take(&Token::Bar) {
                let second = self.operand(names, variables, params)?;
                operand = Operand::Vector(vec![operand, second]);
            }
            operands.push(operand);
            if !self.take(&Token::Comma) && self.peek() != Some(&Token::Semicolon) {
                return Err(self.fault("expected `,` or `;`"));
            }
        }
        match (&mut op, operands.last()) {
            (Op::CopyAsync { bytes }, _) => match operands.get(2) {
                Some(Operand::Number(count)) if operands.len() == 3 => *bytes = *count as usize,
                _ => return Err(error(self.text, line, "a copy whose size is no number")),
            },
            (Op::CopyWait(groups), Some(Operand::Number(count))) => *groups = *count as usize,
            _ => {}
        }
        Ok(Instruction { guard, op, operands, line })
    }

    fn operand(
        &mut self,
        names: &Names,
        variables: &[Variable],
        params: &[(String, usize)],
    ) -> Result<Operand, PtxError> {
        match self.peek().cloned() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Operand::Number(number))
            }
            Some(Token::Not) => {
                self.at += 1;
                match self.operand(names, variables, params)? {
                    Operand::Register(register) => Ok(Operand::NotRegister(register)),
                    _ => Err(self.fault("expected a register")),
                }
            }
            Some(Token::Open) => {
                self.at += 1;
                let mut list = Vec::new();
                while !self.take(&Token::Close) {
                    list.push(self.operand(names, variables, params)?);
                    self.take(&Token::Comma);
                }
                Ok(Operand::Vector(list))
            }
            Some(Token::OpenAddress) => {
                self.at += 1;
                let base = match self.peek().cloned() {
                    Some(Token::Number(_)) => Base::Number,
                    _ => {
                        let name = self.name()?;
                        let variable = variables.iter().position(|v| v.name == name);
                        let param = params.iter().position(|p| p.0 == name);
                        match (names.registers.get(&name), variable, param) {
                            (Some(&register), ..) => Base::Register(register),
                            (_, Some(variable), _) => Base::Symbol(variable),
                            (_, _, Some(param)) => Base::Param(param),
                            _ => return Err(self.fault(format!("`{name}` is no register and no variable"))),
                        }
                    }
                };
                let more = self.take(&Token::Plus) || base == Base::Number;
                let offset = if more { self.number()? as i64 } else { 0 };
                let address = Operand::Address(base, offset);
                if self.take(&Token::Comma) {
                    let place = match self.operand(names, variables, params)? {
                        Operand::Vector(place) => place,
                        _ => return Err(self.fault("expected a place in a tensor")),
                    };
                    self.expect(Token::CloseAddress)?;
                    return Ok(Operand::Box(Box::new(address), place));
                }
                self.expect(Token::CloseAddress)?;
                Ok(address)
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                if name == "_" {
                    return Ok(Operand::Sink);
                }
                if let Some(&register) = names.registers.get(&name) {
                    return Ok(Operand::Register(register));
                }
                if let Some(variable) = variables.iter().position(|v| v.name == name) {
                    return Ok(Operand::Symbol(variable));
                }
                // Parameters lie one behind the other, eight bytes each.
                if let Some(param) = params.iter().position(|p| p.0 == name) {
                    return Ok(Operand::Number(8 * param as u64));
                }
                match special(&name) {
                    Some(special) => Ok(Operand::Special(special)),
                    None => Err(self.fault(format!("`{name}` is no register and no variable"))),
                }
            }
            _ => Err(self.fault("expected an operand")),
        }
    }
}

/// The registers that every thread has.
fn special(name: &str) -> Option<Special> {
    Some(match name {
        "%tid.x" => Special::Thread,
        "%ntid.x" => Special::Threads,
        "%ctaid.x" => Special::Block(0),
        "%ctaid.y" => Special::Block(1),
        "%ctaid.z" => Special::Block(2),
        "%nctaid.x" => Special::Blocks(0),
        "%nctaid.y" => Special::Blocks(1),
        "%nctaid.z" => Special::Blocks(2),
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%tid.y" | "%tid.z" => Special::Zero,
        "%ntid.y" | "%ntid.z" => Special::One,
        _ => return None,
    })
}
