//! The text form of regions, statements and loops.

use super::lexer::Token;
use super::{MAX_NESTING, Parsed, Parser};
use crate::{Level, LoopKind, Op, Region, Statement, Type, Value};
use surject_ir::Scalar;

impl Parser {
    /// `{ … }`: a region with these parameters.
    pub(super) fn braces(&mut self, params: Vec<Value>) -> Parsed<Region> {
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

    /// What stands behind `for`.
    pub(super) fn for_loop(&mut self) -> Parsed<Op> {
        let known = self.values.clone();
        let variable = (self.lexed.at(), self.lexed.value_number()?);
        self.lexed.need(Token::Equals)?;
        let low = self.affine()?;
        self.lexed.keyword_or("to", "`to`")?;
        let high = self.affine()?;
        let step = if self.lexed.keyword("step") { self.signed("the step")? } else { 1 };
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
