//! The text form of boxes that are copied in the background, and of barriers with phases.

use super::{Parsed, Parser};
use crate::parse::lexer::Token;
use crate::{BoxCopy, Op, PhaseBarrier, Phasing, TensorMap};

impl Parser {
    /// What stands behind `box_copy` or the name of an operation of a phase.
    pub(super) fn boxes(&mut self, name: &str) -> Parsed<Op> {
        if name == "box_copy" {
            return self.box_copy().map(|copy| Op::BoxCopy(Box::new(copy)));
        }
        let barrier = self.phase_barrier()?;
        if name == "phase_arrive" {
            return Ok(Op::Phase(barrier, Phasing::Arrive));
        }
        self.lexed.need(Token::Comma)?;
        Ok(Op::Phase(
            barrier,
            match name {
                "phase_init" => Phasing::Init(self.word("a number of arrivals")?),
                "phase_expect" => Phasing::Expect(self.word("a number of bytes")?),
                _ => Phasing::Wait(self.value()?),
            },
        ))
    }

    /// `x[%1, 64*%2] of [128, 64 by 128] box [64, 64], left[0] by 64, full[%3]`
    fn box_copy(&mut self) -> Parsed<BoxCopy> {
        let from = self.mem()?;
        let (mut at, mut map) =
            (Vec::new(), TensorMap { extents: Vec::new(), strides: Vec::new(), sizes: Vec::new() });
        self.lexed.need(Token::OpenBracket)?;
        self.separated(Token::CloseBracket, |p| p.affine().map(|a| at.push(a)))?;
        self.lexed.keyword_or("of", "`of`")?;
        self.lexed.need(Token::OpenBracket)?;
        self.separated(Token::CloseBracket, |p| {
            map.extents.push(p.signed("an integer")?);
            map.strides.push(if p.lexed.keyword("by") { p.signed("an integer")? } else { 1 });
            Ok(())
        })?;
        self.lexed.keyword_or("box", "`box`")?;
        self.lexed.need(Token::OpenBracket)?;
        self.separated(Token::CloseBracket, |p| p.signed("an integer").map(|s| map.sizes.push(s)))?;
        self.lexed.need(Token::Comma)?;
        let (to, to_at) = (self.mem()?, self.index()?);
        self.lexed.keyword_or("by", "`by`")?;
        let pitch = self.signed("an integer")?;
        self.lexed.need(Token::Comma)?;
        Ok(BoxCopy { from, map, at, to, to_at, pitch, arrives: self.phase_barrier()? })
    }

    fn phase_barrier(&mut self) -> Parsed<PhaseBarrier> {
        Ok(PhaseBarrier { mem: self.mem()?, at: self.index()? })
    }
}
