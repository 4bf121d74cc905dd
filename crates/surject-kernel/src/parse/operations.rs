//! The text form of operations.

use super::lexer::Token;
use super::{Parsed, Parser};
use crate::{Access, Factors, Level, MatMulSizes, Op, Region, Source, Space, Team, Value, Wanted};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};

/// An operation, and the elements whose type is known when its results are.
pub(super) struct Operation {
    pub(super) op: Op,
    pub(super) elements: Option<Vec<(usize, String)>>,
}

impl Parser {
    /// An operation behind its name.
    /// It is long because it is flat: one arm an operation.
    pub(super) fn operation(&mut self, at: usize, name: &str) -> Parsed<Operation> {
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
                let exponent = self.word("bits of the exponent")?;
                self.lexed.need(Token::Comma)?;
                let mantissa = self.word("bits of the mantissa")?;
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
                let name = self.lexed.name("the name of the memory")?;
                self.lexed.need(Token::Colon)?;
                let space = self.named("worker, shared, stack or register", Space::from_name)?;
                Op::Alloc(self.memory((at, name), space, Access::ReadWrite)?)
            }
            "prefetch" => {
                let wanted = self.named("read, soon or write", Wanted::from_name)?;
                Op::Prefetch { mem: self.mem()?, at: self.index()?, wanted }
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
                let mut factors = [Factors::Tf32, Factors::Flushed].into_iter();
                let factors = factors.find(|f| self.lexed.keyword(f.name())).unwrap_or(Factors::Own);
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
    pub(super) fn operands<const N: usize>(&mut self) -> Parsed<[Value; N]> {
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
    pub(super) fn lane(&mut self) -> Parsed<(Value, usize)> {
        let x = self.value()?;
        self.lexed.need(Token::OpenBracket)?;
        let lane = self.count("the number of a lane")?;
        self.lexed.need(Token::CloseBracket)?;
        Ok((x, lane))
    }

    pub(super) fn acc_op(&mut self) -> Parsed<AccOp> {
        let at = self.lexed.at();
        let name = self.lexed.operation()?;
        AccOp::from_name(&name)
            .map_or_else(|| self.lexed.fault(at, format!("`{name}` is no operator of a reduction")), Ok)
    }
}
