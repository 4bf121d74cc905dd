//! The grammar of operations: results, the generic form, regions, names of values.

use smallvec::SmallVec;

use super::cursor::Result;
use super::names::Named;
use super::{Parser, TypeVec};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Op, Region, ValueId, Values};
use crate::normalise::{merge, normalise};
use crate::types::Type;

/// A name on the left of `=`, with the number of results it stands for.
struct Target<'s> {
    name: &'s str,
    count: u32,
    span: Span,
}

type Targets<'s> = SmallVec<[Target<'s>; 1]>;

impl<'s> Parser<'s> {
    /// One operation in either form, with its results and location.
    pub(super) fn op(&mut self) -> Result<Op> {
        self.enter()?;
        let targets = if self.c.peek() == b'%' { self.targets()? } else { Targets::new() };
        self.c.ws();
        let start = self.c.pos;
        let (mut op, results) = if self.c.byte() == b'"' { self.generic()? } else { self.pretty()? };
        op.span = Span::new(start, self.c.pos);
        op.location = self.location()?;
        self.define_results(&mut op, &targets, results)?;
        let first = op.operands.first().map(|v| self.module.ty(*v));
        normalise(&mut op, first)?;
        op.attributes.shrink_to_fit();
        op.regions.shrink_to_fit();
        self.leave();
        Ok(op)
    }

    /// `%a, %b:2 =`
    fn targets(&mut self) -> Result<Targets<'s>> {
        let mut targets = Targets::new();
        loop {
            self.c.ws();
            let start = self.c.pos;
            self.c.expect("%")?;
            let name = self.c.suffix("the name of a result")?;
            let span = Span::new(start, self.c.pos);
            let mut count = 1;
            if self.c.peek() == b':' {
                self.c.pos += 1;
                let number = self.c.int()?;
                count = u32::try_from(number).ok().filter(|n| *n > 0).ok_or_else(|| {
                    Diagnostic::new(codes::ARITY, span, format!("'%{name}' stands for {number} results"))
                })?;
            }
            targets.push(Target { name, count, span });
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect("=")?;
        Ok(targets)
    }

    fn define_results(&mut self, op: &mut Op, targets: &[Target<'s>], types: TypeVec) -> Result<()> {
        let named: u64 = targets.iter().map(|t| u64::from(t.count)).sum();
        if named != types.len() as u64 && !(targets.is_empty() && types.is_empty()) && !targets.is_empty() {
            let span = Span::new(targets[0].span.start, targets[targets.len() - 1].span.end);
            let message = format!("'{}' has {} result(s), but {named} are named", op.name, types.len());
            return Err(Diagnostic::new(codes::ARITY, span, message));
        }
        let mut types = types.into_iter();
        for target in targets {
            let first = ValueId(self.module.values.len() as u32);
            for (i, ty) in types.by_ref().take(target.count as usize).enumerate() {
                let id = match target.count {
                    1 => self.module.new_value(ty, target.name),
                    _ => self.module.new_value(ty, &format!("{}#{i}", target.name)),
                };
                op.results.push(id);
            }
            self.define(target.name, first, target.count, target.span)?;
        }
        // Results without a name cannot be used, but they are there.
        for ty in types {
            let id = self.module.new_value(ty, "");
            op.results.push(id);
        }
        Ok(())
    }

    /// Makes a name known in the current scope.
    pub(super) fn define(&mut self, name: &'s str, first: ValueId, count: u32, span: Span) -> Result<()> {
        if self.names.define(name, Named { first, count }) {
            return Ok(());
        }
        Err(Diagnostic::new(codes::REDEFINED, span, format!("the value '%{name}' is already defined"))
            .help("give it a name of its own: a name can be used again only after its region has ended"))
    }

    /// `%name` or `%name#1`
    pub(super) fn operand(&mut self) -> Result<ValueId> {
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() != b'%' {
            return Err(self.c.unexpected("a value, for example '%arg0'"));
        }
        self.c.pos += 1;
        let name = self.c.suffix("the name of a value")?;
        let mut index = None;
        if self.c.byte() == b'#' {
            self.c.pos += 1;
            index = Some(self.c.int()?);
        }
        let span = Span::new(start, self.c.pos);
        let Some(Named { first, count }) = self.names.get(name) else {
            self.is_poisoned(name);
            return Err(Diagnostic::new(
                codes::UNDEFINED,
                span,
                format!("the value '%{name}' is not defined here"),
            )
            .expected("a value defined earlier in this region, or in one around it")
            .help("values are defined before their use, and those of a region are not seen outside it"));
        };
        match index {
            None if count == 1 => Ok(first),
            None => {
                Err(Diagnostic::new(codes::UNDEFINED, span, format!("'%{name}' stands for {count} results"))
                    .expected(format!("one of them, '%{name}#0' to '%{name}#{}'", count - 1)))
            }
            Some(i) if (0..i64::from(count)).contains(&i) => Ok(ValueId(first.0 + i as u32)),
            Some(i) => {
                Err(Diagnostic::new(codes::UNDEFINED, span, format!("'%{name}' has no result number {i}"))
                    .expected(format!("a number below {count}")))
            }
        }
    }

    /// Operands separated by commas; possibly none.
    pub(super) fn operands(&mut self) -> Result<Values> {
        let mut operands = Values::new();
        if self.c.peek() != b'%' {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            // A comma may also lead on to the attributes of a pretty form.
            let comma = self.c.pos;
            if !self.c.eat(",") {
                return Ok(operands);
            }
            if self.c.peek() != b'%' {
                self.c.pos = comma;
                return Ok(operands);
            }
        }
    }

    /// `(%a, %b)`
    pub(super) fn operands_in_parens(&mut self) -> Result<Values> {
        self.c.expect("(")?;
        let operands = self.operands()?;
        if !self.c.eat(")") {
            return Err(self.c.unexpected("',' or ')'"));
        }
        Ok(operands)
    }

    /// Checks that an operand has the type that the text gives it; `start` is where that type stands.
    pub(super) fn check_type(&self, value: ValueId, ty: &Type, start: usize) -> Result<()> {
        let known = self.module.ty(value);
        if known == ty {
            return Ok(());
        }
        let name = self.module.name_of(value);
        let span = Span::new(start, self.c.pos);
        Err(Diagnostic::new(
            codes::VALUE_TYPE,
            span,
            format!("'%{name}' has type {known}, but is used as {ty}"),
        )
        .expected(known.to_string()))
    }

    /// `: (A, B) -> C` for the given operands; the types of the results.
    pub(super) fn functional(&mut self, name: &str, operands: &[ValueId]) -> Result<TypeVec> {
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        let (inputs, results) = self.signature()?;
        self.check_inputs(name, operands, &inputs, start)?;
        Ok(results)
    }

    /// Checks a list of operand types that starts at `start`.
    pub(super) fn check_inputs(
        &self,
        name: &str,
        operands: &[ValueId],
        types: &[Type],
        start: usize,
    ) -> Result<()> {
        if operands.len() != types.len() {
            let span = Span::new(start, self.c.pos);
            let message =
                format!("'{name}' has {} operand(s), but {} type(s) for them", operands.len(), types.len());
            return Err(Diagnostic::new(codes::ARITY, span, message));
        }
        operands.iter().zip(types).try_for_each(|(value, ty)| self.check_type(*value, ty, start))
    }

    /// `"op"(operands) <{properties}> ({regions}) {attributes} : type`
    fn generic(&mut self) -> Result<(Op, TypeVec)> {
        let name_start = self.c.pos;
        let name = String::from_utf8_lossy(&self.c.string()?).into_owned();
        let name_span = Span::new(name_start, self.c.pos);
        if name.is_empty() {
            return Err(Diagnostic::new(codes::SYNTAX, name_span, "an operation without a name"));
        }
        let mut op = Op::new(name);
        op.operands = self.operands_in_parens()?;
        if self.c.peek() == b'[' {
            let span = Span::new(self.c.pos, self.c.pos + 1);
            return Err(Diagnostic::new(
                codes::UNSUPPORTED,
                span,
                "successor blocks: regions here hold one block",
            ));
        }
        if self.c.eat("<") {
            op.attributes = self.dictionary_of(&op.name)?;
            self.c.expect(">")?;
        }
        if self.c.eat("(") {
            loop {
                let region = self.region(true, Vec::new())?;
                op.regions.push(region);
                if !self.c.eat(",") {
                    break;
                }
            }
            self.c.expect(")")?;
        }
        if self.c.peek() == b'{' {
            let more = self.dictionary_of(&op.name)?;
            merge(&mut op.attributes, more, name_span)?;
        }
        let results = self.functional(&op.name, &op.operands)?;
        Ok((op, results))
    }

    /// `{ ^bb0(%a: T): ops }`, or without a header. `params` are block arguments named before the region (as
    /// `while` does); with `header` the region may name its own.
    pub(super) fn region(&mut self, header: bool, params: Vec<(&'s str, Type, Span)>) -> Result<Region> {
        self.enter()?;
        let scope = self.names.scope();
        let mut region = Region::default();
        for (name, ty, span) in params {
            self.region_param(&mut region, name, ty, span)?;
        }
        self.c.expect("{")?;
        if header && self.c.peek() == b'^' {
            self.c.pos += 1;
            self.c.suffix("the name of a block")?;
            if self.c.eat("(") && !self.c.eat(")") {
                loop {
                    let (name, ty, span) = self.named_type()?;
                    self.region_param(&mut region, name, ty, span)?;
                    if !self.c.eat(",") {
                        break;
                    }
                }
                self.c.expect(")")?;
            }
            self.c.expect(":")?;
        }
        while !self.c.eat("}") {
            if self.c.byte() == b'^' {
                let span = Span::new(self.c.pos, self.c.pos + 1);
                return Err(Diagnostic::new(codes::UNSUPPORTED, span, "a second block in a region")
                    .help("regions of these dialects hold one block; lower branches to 'stablehlo.case' and 'while'"));
            }
            let mark = self.mark();
            if let Err(error) = self.op().and_then(|op| region.push(op)) {
                self.recover(&mark, error)?;
            }
        }
        self.names.close(scope);
        self.leave();
        region.ops.shrink_to_fit();
        Ok(region)
    }

    fn region_param(&mut self, region: &mut Region, name: &'s str, ty: Type, span: Span) -> Result<()> {
        let value = self.module.new_value(ty.clone(), name);
        region.params.push((value, ty));
        self.define(name, value, 1, span)
    }

    /// `%name: T loc(…)`
    pub(super) fn named_type(&mut self) -> Result<(&'s str, Type, Span)> {
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() != b'%' {
            return Err(self.c.unexpected("an argument, for example '%arg0: tensor<f32>'"));
        }
        self.c.pos += 1;
        let name = self.c.suffix("the name of an argument")?;
        let span = Span::new(start, self.c.pos);
        self.c.expect(":")?;
        let ty = self.ty()?;
        self.location()?;
        Ok((name, ty, span))
    }
}
