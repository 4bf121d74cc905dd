//! Reading the text form of kernels that [`crate::print()`] writes.
//!
//! Types stand behind every operation that has results, so nothing is inferred here; [`crate::verify()`] compares them
//! with the operands.

mod boxes;
mod lexer;

use crate::{
    Access, Affine, Factors, Guard, Kernel, Level, LoopKind, MatMulSizes, Mem, Memory, Op, Place, Region,
    Source, Space, Statement, Team, Temporality, Tile, Type, Value,
};
use lexer::{Lexed, Token};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, ParseError, Scalar, UnaryOp, literal};

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
        let name = self.lexed.identifier("the name of the kernel")?;
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
            let name = parser.lexed.identifier("a size `%n` or the name of a tensor")?;
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
        let name = self.lexed.identifier("the name of a memory")?;
        match self.memory.get(&name) {
            Some(&mem) => Ok(mem),
            None => self.lexed.fault(at, format!("no memory here is called `{name}`")),
        }
    }

    /// `4*%1*%2 + lane - 3`
    fn affine(&mut self) -> Parsed<Affine> {
        let at = self.lexed.at();
        let mut sum = Affine::default();
        let mut sign = if self.lexed.take(&Token::Minus) { -1 } else { 1 };
        loop {
            let product = self.product()?;
            sum = match sum.plus(&product, sign) {
                Some(sum) => sum,
                None => return self.lexed.fault(at, "a number of this expression does not fit in 64 bits"),
            };
            sign = match () {
                () if self.lexed.take(&Token::Plus) => 1,
                () if self.lexed.take(&Token::Minus) => -1,
                () => return Ok(sum),
            };
        }
    }

    fn product(&mut self) -> Parsed<Affine> {
        let at = self.lexed.at();
        let mut product = Affine::from(1);
        loop {
            let next = if self.lexed.peeks_value() {
                let value = self.value()?;
                product.times_value(value)
            } else if self.lexed.keyword("lane") {
                product.as_constant().map(Affine::lane)
            } else {
                let number = self.lexed.integer("a number, a value or `lane`")?;
                product.times(number)
            };
            product = match next {
                Some(next) => next,
                None => return self.lexed.fault(at, "this is no product of numbers and values that fits"),
            };
            if !self.lexed.take(&Token::Star) {
                return Ok(product);
            }
        }
    }

    /// `0 <= %1 < 4 and 0 <= …`
    fn guards(&mut self) -> Parsed<Vec<Guard>> {
        let mut guards = Vec::new();
        loop {
            let at = self.lexed.at();
            if self.lexed.integer("`0 <=`")? != 0 {
                return self.lexed.fault(at, "a guard begins with `0 <=`");
            }
            self.lexed.need(Token::AtMost)?;
            let expr = self.affine()?;
            self.lexed.need(Token::Less)?;
            guards.push(Guard { expr, bound: self.affine()? });
            if !self.lexed.keyword("and") {
                return Ok(guards);
            }
        }
    }

    fn place(&mut self) -> Parsed<Place> {
        let mem = self.mem()?;
        let at = self.index()?;
        let mut place = Place::new(mem, at);
        if self.lexed.keyword("offset") {
            place.offset = Some(self.value()?);
        }
        if self.lexed.keyword("where") {
            place.guards = self.guards()?;
        }
        if self.lexed.keyword("mask") {
            place.mask = Some(self.value()?);
        }
        Ok(place)
    }

    /// `[4*%1]`
    fn index(&mut self) -> Parsed<Affine> {
        self.lexed.need(Token::OpenBracket)?;
        let at = self.affine()?;
        self.lexed.need(Token::CloseBracket)?;
        Ok(at)
    }

    fn temporality(&mut self) -> Temporality {
        match self.lexed.keyword("nontemporal") {
            true => Temporality::NonTemporal,
            false => Temporality::Normal,
        }
    }

    fn tile(&mut self) -> Parsed<Tile> {
        let mem = self.mem()?;
        let at = self.index()?;
        self.lexed.keyword_or("by", "`by`")?;
        self.lexed.need(Token::Open)?;
        let row = self.signed()?;
        self.lexed.need(Token::Comma)?;
        let column = self.signed()?;
        self.lexed.need(Token::Close)?;
        let interleaved = if self.lexed.keyword("interleaved") { self.count("a number of rows")? } else { 1 };
        Ok(Tile { mem, at, row, column, interleaved })
    }

    fn signed(&mut self) -> Parsed<i64> {
        let negative = self.lexed.take(&Token::Minus);
        let number = self.lexed.integer("an integer")?;
        Ok(if negative { -number } else { number })
    }

    fn count(&mut self, what: &str) -> Parsed<usize> {
        let at = self.lexed.at();
        let number = self.lexed.integer(what)?;
        usize::try_from(number).or_else(|_| self.lexed.fault(at, format!("expected {what}")))
    }

    /// The text of an element; its type is known later.
    fn element(&mut self) -> Parsed<(usize, String)> {
        let at = self.lexed.at();
        let sign = if self.lexed.take(&Token::Minus) { "-" } else { "" };
        if self.lexed.keyword("bits") {
            self.lexed.need(Token::Open)?;
            let bits = self.lexed.hexadecimal()?;
            self.lexed.need(Token::Close)?;
            return Ok((at, format!("bits {bits}")));
        }
        let text = match self.lexed.number_text() {
            Some(text) => text,
            None => self.lexed.identifier("an element")?,
        };
        Ok((at, format!("{sign}{text}")))
    }

    /// An element of a type.
    fn scalar(&self, dtype: DType, (at, text): &(usize, String)) -> Parsed<Scalar> {
        let scalar = match text.as_str() {
            "true" | "false" if dtype == DType::I1 => Some(Scalar::bool(text == "true")),
            "inf" | "-inf" if dtype.is_float() => {
                Some(Scalar::from_f64(dtype, text.parse().unwrap_or(f64::INFINITY)))
            }
            _ => match text.strip_prefix("bits ") {
                Some(bits) => bits.parse().ok().map(|bits: u128| Scalar::from_bits(dtype, bits)),
                None => literal::number(dtype, text),
            },
        };
        scalar.map_or_else(|| self.lexed.fault(*at, format!("`{text}` is no element of type {dtype}")), Ok)
    }

    fn braces(&mut self, params: Vec<Value>) -> Parsed<Region> {
        let at = self.lexed.at();
        self.lexed.need(Token::OpenBrace)?;
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.lexed.fault(at, format!("regions nest deeper than {MAX_NESTING}"));
        }
        let mut region = Region { params, ..Region::default() };
        let known = self.values.clone();
        loop {
            if self.lexed.keyword("yield") {
                loop {
                    region.yields.push(self.value()?);
                    if !self.lexed.take(&Token::Comma) {
                        break;
                    }
                }
                self.lexed.need(Token::CloseBrace)?;
                break;
            }
            if self.lexed.take(&Token::CloseBrace) {
                break;
            }
            let statement = self.statement()?;
            region.body.push(statement);
        }
        // What is defined inside is not seen outside.
        self.values = known;
        self.nesting -= 1;
        Ok(region)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let mut numbers = Vec::new();
        if self.lexed.peeks_value() {
            loop {
                numbers.push((self.lexed.at(), self.lexed.value_number()?));
                if !self.lexed.take(&Token::Comma) {
                    break;
                }
            }
            self.lexed.need(Token::Equals)?;
        }
        let at = self.lexed.at();
        let name = self.lexed.operation()?;
        let mut operation = self.operation(at, &name)?;
        let mut types = Vec::new();
        if !numbers.is_empty() {
            self.lexed.need(Token::Colon)?;
            loop {
                types.push(self.ty()?);
                if !self.lexed.take(&Token::Comma) {
                    break;
                }
            }
        }
        if types.len() != numbers.len() {
            let message = format!("{} results have {} types", numbers.len(), types.len());
            return self.lexed.fault(at, message);
        }
        if let Some(elements) = operation.elements.take() {
            let Some(ty) = types.first() else {
                return self.lexed.fault(at, format!("`{name}` has a result, and `: type` behind it"));
            };
            let scalars: Parsed<Vec<Scalar>> = elements.iter().map(|e| self.scalar(ty.dtype, e)).collect();
            let scalars = scalars?;
            match (&mut operation.op, scalars.first()) {
                (Op::Splat(value) | Op::Load { fill: value, .. }, first) => {
                    *value = first.copied().unwrap_or_else(|| Scalar::zero(ty.dtype));
                }
                (Op::Constant(values), _) => *values = scalars,
                _ => {}
            }
        }
        let mut results = Vec::new();
        for (number, ty) in numbers.into_iter().zip(types) {
            results.push(self.define_number(number, ty)?);
        }
        Ok(Statement { results, op: operation.op })
    }

    /// An operation behind its name.
    /// It is long because it is flat: one arm an operation.
    fn operation(&mut self, at: usize, name: &str) -> Parsed<Operation> {
        let nothing = Scalar::zero(DType::I1);
        let op = match name {
            "splat" => {
                return Ok(Operation { op: Op::Splat(nothing), elements: Some(vec![self.element()?]) });
            }
            "constant" => {
                let mut elements = Vec::new();
                self.lexed.need(Token::OpenBracket)?;
                self.separated(Token::CloseBracket, |p| p.element().map(|e| elements.push(e)))?;
                return Ok(Operation { op: Op::Constant(Vec::new()), elements: Some(elements) });
            }
            "load" => {
                let place = self.place()?;
                let fill = if self.lexed.keyword("else") { vec![self.element()?] } else { Vec::new() };
                let temporality = self.temporality();
                let op = Op::Load { place, fill: nothing, temporality };
                return Ok(Operation { op, elements: Some(fill) });
            }
            "index" => Op::Index(self.affine()?),
            "holds" => Op::Holds(self.guards()?),
            "fma" => {
                let [x, y, z] = self.operands()?;
                Op::Fma(x, y, z)
            }
            "lookup" => {
                let [x, y, at] = self.operands()?;
                Op::Lookup(x, y, at)
            }
            "scale" => {
                let [x, n] = self.operands()?;
                Op::Scale(x, n)
            }
            "select" => {
                let [c, x, y] = self.operands()?;
                Op::Select(c, x, y)
            }
            "convert" => Op::Convert(self.value()?),
            "bitcast" => Op::Bitcast(self.value()?),
            "broadcast" => Op::Broadcast(self.value()?),
            "reduce_precision" => {
                let exponent = self.count("bits of the exponent")? as u32;
                self.lexed.need(Token::Comma)?;
                let mantissa = self.count("bits of the mantissa")? as u32;
                self.lexed.need(Token::Comma)?;
                Op::ReducePrecision(exponent, mantissa, self.value()?)
            }
            "shuffle" => {
                let ([x, y], mut order) = (self.operands()?, Vec::new());
                self.lexed.need(Token::OpenBracket)?;
                self.separated(Token::CloseBracket, |p| {
                    p.count("the number of a lane").map(|l| order.push(l))
                })?;
                Op::Shuffle(x, y, order)
            }
            "extract" => {
                let (x, lane) = self.lane()?;
                Op::Extract(x, lane)
            }
            "insert" => {
                let scalar = self.value()?;
                self.lexed.need(Token::Comma)?;
                let (x, lane) = self.lane()?;
                Op::Insert(x, lane, scalar)
            }
            "reduce" => {
                let op = self.acc_op()?;
                Op::ReduceLanes(op, self.value()?)
            }
            "exchange" => {
                let x = self.value()?;
                let source = match self.lexed.identifier("xor, up, down or thread")?.as_str() {
                    "xor" => Source::Xor(self.count("bits")?),
                    "up" => Source::Up(self.count("a number of threads")?),
                    "down" => Source::Down(self.count("a number of threads")?),
                    "thread" => Source::Thread(self.value()?),
                    other => return self.lexed.fault(at, format!("`{other}` is no way to exchange values")),
                };
                Op::Exchange(source, x)
            }
            "store" => {
                let value = self.value()?;
                self.lexed.need(Token::Comma)?;
                let place = self.place()?;
                Op::Store { place, value, temporality: self.temporality() }
            }
            "atomic" => {
                let op = self.acc_op()?;
                let value = self.value()?;
                self.lexed.need(Token::Comma)?;
                Op::Atomic { op, place: self.place()?, value }
            }
            "alloc" => {
                let at = self.lexed.at();
                let name = self.lexed.identifier("the name of the memory")?;
                self.lexed.need(Token::Colon)?;
                let space = self.named("worker, shared, stack or register", Space::from_name)?;
                Op::Alloc(self.memory((at, name), space, Access::ReadWrite)?)
            }
            "prefetch" => {
                let access = self.named("read or write", Access::from_name)?;
                Op::Prefetch { mem: self.mem()?, at: self.index()?, write: access.writes() }
            }
            "async_copy" => {
                let elements = self.count("a number of elements")?;
                self.lexed.need(Token::Comma)?;
                let from = self.place()?;
                self.lexed.need(Token::Comma)?;
                Op::AsyncCopy { from, to: self.place()?, elements }
            }
            "box_copy" | "phase_init" | "phase_arrive" | "phase_expect" | "phase_wait" => self.boxes(name)?,
            "async_commit" => Op::AsyncCommit,
            "async_wait" => Op::AsyncWait(self.count("a number of groups")?),
            "barrier" => Op::Barrier(self.named("block or warp", Level::from_name)?),
            "matmul" => {
                let team = if self.lexed.keyword("group") { Team::Group } else { Team::One };
                let factors = [Factors::Tf32, Factors::Flushed].into_iter();
                let factors = factors.filter(|f| self.lexed.keyword(f.name())).last().unwrap_or(Factors::Own);
                self.lexed.need(Token::Open)?;
                let m = self.count("a number of rows")?;
                self.lexed.need(Token::Comma)?;
                let n = self.count("a number of columns")?;
                self.lexed.need(Token::Comma)?;
                let k = self.count("a number of terms")?;
                self.lexed.need(Token::Close)?;
                let acc = self.tile()?;
                self.lexed.need(Token::Comma)?;
                let a = self.tile()?;
                self.lexed.need(Token::Comma)?;
                Op::MatMul { sizes: MatMulSizes { m, n, k }, factors, team, acc, a, b: self.tile()? }
            }
            "for" => self.for_loop()?,
            "if" => {
                let condition = self.value()?;
                let then = self.braces(Vec::new())?;
                let otherwise =
                    if self.lexed.keyword("else") { self.braces(Vec::new())? } else { Region::default() };
                Op::If { condition, then, otherwise }
            }
            _ => match (UnaryOp::from_name(name), BinaryOp::from_name(name)) {
                (Some(op), _) => Op::Unary(op, self.value()?),
                (None, Some(op)) => {
                    let [x, y] = self.operands()?;
                    Op::Binary(op, x, y)
                }
                (None, None) => return self.lexed.fault(at, format!("there is no operation `{name}`")),
            },
        };
        Ok(Operation { op, elements: None })
    }

    /// Values with commas between.
    fn operands<const N: usize>(&mut self) -> Parsed<[Value; N]> {
        let mut values = [Value(0); N];
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.lexed.need(Token::Comma)?;
            }
            *value = self.value()?;
        }
        Ok(values)
    }

    /// `%1[3]`
    fn lane(&mut self) -> Parsed<(Value, usize)> {
        let x = self.value()?;
        self.lexed.need(Token::OpenBracket)?;
        let lane = self.count("the number of a lane")?;
        self.lexed.need(Token::CloseBracket)?;
        Ok((x, lane))
    }

    fn acc_op(&mut self) -> Parsed<AccOp> {
        let at = self.lexed.at();
        let name = self.lexed.operation()?;
        AccOp::from_name(&name)
            .map_or_else(|| self.lexed.fault(at, format!("`{name}` is no operator of a reduction")), Ok)
    }

    fn for_loop(&mut self) -> Parsed<Op> {
        let known = self.values.clone();
        let variable = (self.lexed.at(), self.lexed.value_number()?);
        self.lexed.need(Token::Equals)?;
        let low = self.affine()?;
        self.lexed.keyword_or("to", "`to`")?;
        let high = self.affine()?;
        let step = if self.lexed.keyword("step") { self.lexed.integer("the step")? } else { 1 };
        let kind = if self.lexed.keyword("unrolled") {
            LoopKind::Unrolled
        } else if self.lexed.keyword("parallel") {
            self.lexed.need(Token::Open)?;
            let level = self.named("task, block, warp or thread", Level::from_name)?;
            self.lexed.need(Token::Close)?;
            LoopKind::Parallel(level)
        } else {
            LoopKind::Serial
        };
        let (mut inside, mut inits) = (Vec::new(), Vec::new());
        if self.lexed.keyword("carry") {
            self.lexed.need(Token::Open)?;
            self.separated(Token::Close, |parser| {
                inside.push((parser.lexed.at(), parser.lexed.value_number()?));
                parser.lexed.need(Token::Equals)?;
                inits.push(parser.value()?);
                Ok(())
            })?;
        }
        let mut params = vec![self.define_number(variable, Type::index())?];
        for (number, &init) in inside.into_iter().zip(&inits) {
            let ty = self.kernel.ty(init);
            params.push(self.define_number(number, ty)?);
        }
        let body = self.braces(params)?;
        self.values = known;
        Ok(Op::For { low, high, step, kind, inits, body })
    }
}

/// An operation, and the elements whose type is known when its results are.
struct Operation {
    op: Op,
    elements: Option<Vec<(usize, String)>>,
}
