//! The pretty forms with a grammar of their own: contractions, reductions, loops, calls.

use super::cursor::Result;
use super::{Parser, TypeVec};
use crate::attr::{Attribute, DotDims};
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Op, Region};
use crate::table::{AttrKind, Form, lookup};
use crate::types::{ElementType, TensorType, Type};

impl<'s> Parser<'s> {
    /// `%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […], algorithm = <…>`
    pub(super) fn dot_general(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands()?;
        let mut dims = DotDims::default();
        while self.c.eat(",") {
            let word = self.c.peek_word();
            self.c.pos += word.len();
            let known = matches!(word, "batching_dims" | "contracting_dims" | "precision" | "algorithm");
            if !known {
                self.c.pos -= word.len();
                return Err(self
                    .c
                    .unexpected("'batching_dims', 'contracting_dims', 'precision' or 'algorithm'"));
            }
            self.c.expect("=")?;
            match word {
                "precision" => {
                    let precision = self.bare_enumerations("precision")?;
                    op.attributes.set("precision_config", precision);
                }
                "algorithm" => {
                    let algorithm = self.dot_algorithm()?;
                    op.attributes.set("algorithm", Attribute::DotAlgorithm(Box::new(algorithm)));
                }
                _ => {
                    let lhs = self.c.int_list()?;
                    self.c.expect("x")?;
                    let rhs = self.c.int_list()?;
                    if word == "batching_dims" {
                        (dims.batch_lhs, dims.batch_rhs) = (lhs, rhs);
                    } else {
                        (dims.contract_lhs, dims.contract_rhs) = (lhs, rhs);
                    }
                }
            }
        }
        op.attributes.set("dot_dimension_numbers", Attribute::Dot(Box::new(dims)));
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `(%x, %k) dim_numbers = […]x[…]->[…], window = {…} {…} : (T, U) -> V`
    pub(super) fn convolution(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands_in_parens()?;
        self.c.expect_word("dim_numbers")?;
        self.c.expect("=")?;
        let dims = self.conv_dims()?;
        op.attributes.set("dimension_numbers", Attribute::Conv(Box::new(dims)));
        self.c.expect(",")?;
        self.c.expect_word("window")?;
        self.c.expect("=")?;
        self.c.expect("{")?;
        while !self.c.eat("}") {
            self.window_entry(op)?;
            if !self.c.eat(",") {
                self.c.expect("}")?;
                break;
            }
        }
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// One `key = […]` of a convolution's window.
    fn window_entry(&mut self, op: &mut Op) -> Result<()> {
        let word = self.c.peek_word();
        let name = match word {
            "stride" => "window_strides",
            "lhs_dilate" => "lhs_dilation",
            "rhs_dilate" => "rhs_dilation",
            "pad" => "padding",
            "reverse" => "window_reversal",
            _ => return Err(self.c.unexpected("'stride', 'pad', 'lhs_dilate', 'rhs_dilate' or 'reverse'")),
        };
        if op.attributes.contains(name) {
            return Err(self.c.unexpected(format!("'{word}' only once")));
        }
        self.c.pos += word.len();
        self.c.expect("=")?;
        let value = match word {
            "pad" => {
                let pairs = self.c.list("[", "]", |c| {
                    c.ws();
                    let start = c.pos;
                    match c.int_list()?.as_slice() {
                        [low, high] => Ok((*low, *high)),
                        other => {
                            let span = Span::new(start, c.pos);
                            let message = format!("a padding of {} numbers", other.len());
                            Err(Diagnostic::new(codes::ATTRIBUTE, span, message).expected("[low, high]"))
                        }
                    }
                })?;
                Attribute::Dense(DenseElements::pairs(&pairs))
            }
            "reverse" => {
                let mut values = Vec::new();
                self.c.expect("[")?;
                if !self.c.eat("]") {
                    loop {
                        values.push(self.boolean()?);
                        if !self.c.eat(",") {
                            break;
                        }
                    }
                    self.c.expect("]")?;
                }
                Attribute::Bools(values)
            }
            _ => Attribute::I64s(self.c.int_list()?),
        };
        op.attributes.set(name, value);
        Ok(())
    }

    /// `(%x init: %i), … applies op across dimensions = [0] : …`, or without `applies` and with a reducer after
    /// the types.
    pub(super) fn reduce(&mut self, op: &mut Op) -> Result<TypeVec> {
        let (mut inputs, mut inits) = (Vec::new(), Vec::new());
        loop {
            self.c.expect("(")?;
            inputs.push(self.operand()?);
            self.c.expect_word("init")?;
            self.c.expect(":")?;
            inits.push(self.operand()?);
            self.c.expect(")")?;
            if !self.c.eat(",") {
                break;
            }
        }
        let count = inputs.len();
        op.operands = inputs.into();
        op.operands.extend(inits);
        self.c.ws();
        let body_start = self.c.pos;
        let applied = if self.c.eat_word("applies") { Some(self.applied_op()?) } else { None };
        let body_span = Span::new(body_start, self.c.pos);
        self.c.expect_word("across")?;
        self.c.expect_word("dimensions")?;
        self.c.expect("=")?;
        let dimensions = self.c.int_list()?;
        op.attributes.set("dimensions", Attribute::I64s(dimensions));
        self.dictionary_into(op)?;
        let results = self.functional(&op.name, &op.operands)?;
        let region = match applied {
            Some(name) => self.applied_region(op, name, body_span)?,
            None => self.reducer(count)?,
        };
        op.regions.push(region);
        Ok(results)
    }

    /// The name after `applies`: an elementwise operation on two values.
    fn applied_op(&mut self) -> Result<&'static str> {
        self.c.ws();
        let start = self.c.pos;
        let quoted = self.c.byte() == b'"';
        let name =
            if quoted { self.c.raw_string()? } else { self.c.word("the operation that is applied")? };
        match lookup(name) {
            Some(spec) if matches!(spec.form, Form::Listed { .. }) && spec.operands.allows(2) => {
                Ok(spec.name)
            }
            _ => {
                let span = Span::new(start, self.c.pos);
                Err(Diagnostic::new(
                    codes::UNKNOWN_OP,
                    span,
                    format!("'{name}' cannot be applied by a reduction"),
                )
                .expected("an elementwise operation of two operands, for example 'stablehlo.add'"))
            }
        }
    }

    /// The body that `applies name` stands for: two scalars of the input's element type, combined and returned.
    fn applied_region(&mut self, op: &Op, name: &'static str, span: Span) -> Result<Region> {
        let element = op.operands.first().and_then(|v| self.module.tensor(*v)).map(|t| t.element.clone());
        let element = element.ok_or_else(|| {
            Diagnostic::new(codes::TYPE, span, format!("'{}' of a value that is no tensor", op.name))
        })?;
        let scalar = Type::Tensor(TensorType { shape: Vec::new(), element, encoding: None }.into());
        let a = self.module.new_value(scalar.clone(), "");
        let b = self.module.new_value(scalar.clone(), "");
        let c = self.module.new_value(scalar.clone(), "");
        let combine = Op { operands: vec![a, b].into(), results: vec![c].into(), span, ..Op::new(name) };
        let give_back = Op { operands: vec![c].into(), span, ..Op::new("stablehlo.return") };
        Ok(Region { params: vec![(a, scalar.clone()), (b, scalar)], ops: vec![combine, give_back] })
    }

    /// `reducer(%a: T, %b: T) (%c: U, %d: U) {…}`: a pair for each input; the block takes the first of each pair,
    /// then the second of each.
    fn reducer(&mut self, count: usize) -> Result<Region> {
        self.c.expect_word("reducer")?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..count {
            self.c.expect("(")?;
            first.push(self.named_type()?);
            self.c.expect(",")?;
            second.push(self.named_type()?);
            self.c.expect(")")?;
        }
        first.append(&mut second);
        self.region(false, first)
    }

    /// `(%i = %a, …) : T, … attributes {…} cond {…} do {…}`
    pub(super) fn while_op(&mut self, op: &mut Op) -> Result<TypeVec> {
        let mut names = Vec::new();
        self.c.expect("(")?;
        if !self.c.eat(")") {
            loop {
                self.c.ws();
                let start = self.c.pos;
                if self.c.byte() != b'%' {
                    return Err(self.c.unexpected("a loop value, for example '%iterArg = %0'"));
                }
                self.c.pos += 1;
                let name = self.c.suffix("the name of a loop value")?;
                names.push((name, Span::new(start, self.c.pos)));
                self.c.expect("=")?;
                let initial = self.operand()?;
                op.operands.push(initial);
                if !self.c.eat(",") {
                    break;
                }
            }
            if !self.c.eat(")") {
                return Err(self.c.unexpected("',' or ')'"));
            }
        }
        let types = if op.operands.is_empty() && self.c.peek() != b':' {
            TypeVec::new()
        } else {
            self.types_of_operands(op)?
        };
        if self.c.eat_word("attributes") {
            self.dictionary_into(op)?;
        }
        for word in ["cond", "do"] {
            self.c.expect_word(word)?;
            let params =
                names.iter().zip(&types).map(|((name, span), ty)| (*name, ty.clone(), *span)).collect();
            let region = self.region(false, params)?;
            op.regions.push(region);
        }
        Ok(types)
    }

    /// `(%a) inits (%b) dimension=0 attributes {…} {…} : (T, U) -> (V, U)`: the results that carry are as many as the
    /// initial values.
    pub(super) fn scan_op(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands_in_parens()?;
        self.c.expect_word("inits")?;
        let mut inits = self.operands_in_parens()?;
        self.c.expect_word("dimension")?;
        self.c.expect("=")?;
        let dimension = self.bare_value(AttrKind::I64)?;
        op.attributes.set("dimension", dimension);
        if self.c.eat_word("attributes") {
            self.dictionary_into(op)?;
        }
        let (inputs, carried) = (op.operands.len(), inits.len());
        op.operands.append(&mut inits);
        let region = self.region(true, Vec::new())?;
        op.regions.push(region);
        let results = self.functional(&op.name, &op.operands)?;
        let sizes = |first: usize| Attribute::DenseArray {
            element: ElementType::I32,
            values: vec![first as i64, carried as i64].into(),
        };
        op.attributes.set("operandSegmentSizes", sizes(inputs));
        op.attributes.set("resultSegmentSizes", sizes(results.len().saturating_sub(carried)));
        Ok(results)
    }

    /// `@target(%a) {…} : (T) -> U`
    pub(super) fn custom_call(&mut self, op: &mut Op) -> Result<TypeVec> {
        let target = self.c.symbol()?;
        op.attributes.set("call_target_name", Attribute::String(target));
        op.operands = self.operands_in_parens()?;
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `"name" %a, %b {…} : (T, U) -> V`
    pub(super) fn composite(&mut self, op: &mut Op) -> Result<TypeVec> {
        let name = String::from_utf8_lossy(&self.c.string()?).into_owned();
        op.attributes.set("name", Attribute::String(name));
        op.operands = self.operands()?;
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `@callee(%a) {…} : (T) -> U`
    pub(super) fn call(&mut self, op: &mut Op) -> Result<TypeVec> {
        let callee = self.symbol_path()?;
        op.attributes.set("callee", Attribute::Symbol(callee));
        op.operands = self.operands_in_parens()?;
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `{…} %a, %b : T, U`, or nothing
    pub(super) fn return_op(&mut self, op: &mut Op) -> Result<TypeVec> {
        self.dictionary_into(op)?;
        op.operands = self.operands()?;
        self.dictionary_into(op)?;
        if !op.operands.is_empty() {
            self.types_of_operands(op)?;
        }
        Ok(Vec::new().into())
    }
}
