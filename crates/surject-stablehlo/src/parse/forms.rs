//! The pretty forms: which one an operation has, and those that are a line of operands, attributes and types.

use smallvec::smallvec;

use super::attrs::{enumeration, number_of_type};
use super::cursor::Result;
use super::{Parser, TypeVec};
use crate::attr::{Attribute, Attributes};
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::{Op, ValueId};
use crate::normalise::merge;
use crate::table::{AttrKind, Form, OpSpec, Types, lookup};
use crate::types::{ElementType, TensorType, Type};

impl<'s> Parser<'s> {
    /// An operation that starts with its bare name.
    pub(super) fn pretty(&mut self) -> Result<(Op, TypeVec)> {
        self.c.ws();
        let start = self.c.pos;
        let word = self.c.word("an operation or '}'")?;
        let name = match word {
            "return" => "func.return",
            "call" => "func.call",
            _ => word,
        };
        let Some(spec) = lookup(name) else {
            if let Some(read) = self.foreign(name) {
                return read;
            }
            return self.unknown_pretty(word, start);
        };
        let mut op = Op::new(spec.name);
        let results = match spec.form {
            Form::Generic => {
                let span = Span::new(start, self.c.pos);
                return Err(Diagnostic::new(codes::UNKNOWN_OP, span, format!("'{name}' has no pretty form"))
                    .expected(format!(
                        "the generic form: \"{name}\"(%operands) <{{attributes}}> : (types) -> types"
                    )));
            }
            Form::Listed { labels, types, parenthesised } => {
                self.listed(&mut op, spec, labels, types, parenthesised)?
            }
            Form::Constant => self.constant(&mut op)?,
            Form::Compare => self.compare(&mut op)?,
            Form::Select => self.select(&mut op)?,
            Form::Complex => self.complex_op(&mut op)?,
            Form::ReducePrecision => self.reduce_precision(&mut op)?,
            Form::Slice => self.slice(&mut op)?,
            Form::DotGeneral => self.dot_general(&mut op)?,
            Form::Convolution => self.convolution(&mut op)?,
            Form::Reduce => self.reduce(&mut op)?,
            Form::While => self.while_op(&mut op)?,
            Form::Scan => self.scan_op(&mut op)?,
            Form::Tuple => self.tuple(&mut op)?,
            Form::GetTupleElement => self.get_tuple_element(&mut op)?,
            Form::Barrier => self.barrier(&mut op)?,
            Form::CustomCall => self.custom_call(&mut op)?,
            Form::Composite => self.composite(&mut op)?,
            Form::Call => self.call(&mut op)?,
            Form::Return => self.return_op(&mut op)?,
            Form::CheckConst => self.check_const(&mut op)?,
            Form::Mesh => self.mesh(&mut op)?,
            Form::Sharded { before, after } => self.sharded(&mut op, before, after)?,
            Form::Computation { pieces } => self.computation(&mut op, pieces)?,
        };
        Ok((op, results))
    }

    /// Unknown operations are read only in the generic form.
    fn unknown_pretty(&mut self, word: &'s str, start: usize) -> Result<(Op, TypeVec)> {
        let span = Span::new(start, self.c.pos);
        if !word.contains('.') {
            self.c.pos = start;
            return Err(self.c.unexpected("an operation or '}'"));
        }
        // An operation of a dialect that is not read here may be written in any way.
        let dialect = word.split('.').next().unwrap_or("");
        let known = crate::table::all().any(|row| row.name.split('.').next() == Some(dialect));
        let code = if known { codes::UNKNOWN_OP } else { codes::UNSUPPORTED };
        let error = Diagnostic::new(code, span, format!("unknown operation '{word}'"));
        Err(match closest(word) {
            Some(name) => {
                error.help(format!("is '{name}' meant? unknown operations are read in the generic form only"))
            }
            None => error.help(format!(
                "unknown operations are read in the generic form only: \"{word}\"(…) : … -> …"
            )),
        })
    }

    /// Operands, `label = value`, dictionary, types.
    fn listed(
        &mut self,
        op: &mut Op,
        spec: &'static OpSpec,
        labels: &'static [(&'static str, &'static str)],
        types: Types,
        parenthesised: bool,
    ) -> Result<TypeVec> {
        if parenthesised {
            self.c.expect("(")?;
        }
        op.operands = self.operands()?;
        let mut first = op.operands.is_empty();
        loop {
            // A comma stands before each label but the first of an operation without operands.
            if !std::mem::take(&mut first) && !self.c.eat(",") {
                break;
            }
            let word = self.c.peek_word();
            let Some((label, attribute)) = labels.iter().find(|(label, _)| *label == word) else {
                if op.operands.is_empty() && op.attributes.is_empty() {
                    break;
                }
                let wanted: Vec<String> = labels.iter().map(|(label, _)| format!("'{label} = …'")).collect();
                let wanted = if wanted.is_empty() { "a value".to_string() } else { wanted.join(" or ") };
                return Err(self.c.unexpected(wanted));
            };
            self.c.pos += label.len();
            self.c.expect("=")?;
            let kind = spec.attribute(attribute).map_or(AttrKind::Any, |a| a.kind);
            let value = self.bare_value(kind)?;
            if op.attributes.set(*attribute, value).is_some() {
                return Err(self.c.unexpected(format!("'{label}' only once")));
            }
        }
        if parenthesised {
            self.c.expect(")")?;
        }
        self.dictionary_into(op)?;
        self.types(op, types)
    }

    /// `{…}` before the types, merged.
    pub(super) fn dictionary_into(&mut self, op: &mut Op) -> Result<()> {
        if self.c.peek() == b'{' {
            let span = Span::new(self.c.pos, self.c.pos + 1);
            let attributes = self.dictionary_of(&op.name)?;
            merge(&mut op.attributes, attributes, span)?;
        }
        Ok(())
    }

    /// The attributes of an operation, whose comparisons are those of its dialect.
    pub(super) fn dictionary_of(&mut self, op: &str) -> Result<Attributes> {
        self.comparisons.clear();
        let attributes = self.dictionary()?;
        let of_chlo = op.starts_with("chlo.");
        let other = self.comparisons.iter().find(|(_, chlo)| *chlo != of_chlo);
        match other.filter(|_| of_chlo || op.starts_with("stablehlo.")) {
            Some((span, _)) => {
                let (own, other) = if of_chlo { ("chlo", "stablehlo") } else { ("stablehlo", "chlo") };
                let message = format!("'{op}' compares by an attribute of '{other}'");
                Err(Diagnostic::new(codes::ATTRIBUTE, *span, message).expected(format!("#{own}<…>")))
            }
            None => Ok(attributes),
        }
    }

    /// An attribute's value as pretty forms write it, without the type that its kind implies.
    pub(super) fn bare_value(&mut self, kind: AttrKind) -> Result<Attribute> {
        Ok(match kind {
            AttrKind::I64s => Attribute::I64s(self.c.int_list()?),
            AttrKind::I64 => Attribute::i64(self.c.int()?),
            AttrKind::I32 => number_of_type(&self.c.number()?, ElementType::I32)?,
            AttrKind::U64 => {
                let value = number_of_type(&self.c.number()?, ElementType::U64)?;
                self.optional_number_type()?;
                value
            }
            AttrKind::F64 => {
                let value = number_of_type(&self.c.number()?, ElementType::F64)?;
                self.optional_number_type()?;
                value
            }
            AttrKind::Bool => Attribute::Bool(self.boolean()?),
            // A colon after the string leads on to the types of the operation.
            AttrKind::Str => Attribute::String(String::from_utf8_lossy(&self.c.string()?).into_owned()),
            AttrKind::Enum(kind) => self.bare_enumeration(kind)?,
            AttrKind::Enums(kind) => self.bare_enumerations(kind)?,
            _ => self.attribute()?,
        })
    }

    /// `: i64` after a number, unless the colon leads on to the types of the operation.
    fn optional_number_type(&mut self) -> Result<()> {
        let before = self.c.pos;
        if self.c.eat(":") {
            let word = self.c.peek_word();
            if ElementType::from_keyword(word).is_some() {
                self.c.pos += word.len();
            } else {
                self.c.pos = before;
            }
        }
        Ok(())
    }

    fn bare_enumeration(&mut self, kind: &str) -> Result<Attribute> {
        self.c.ws();
        let start = self.c.pos;
        let word = self.c.word(&format!("a {}", kind.replace('_', " ")))?;
        enumeration(kind, word, Span::new(start, self.c.pos))
    }

    /// `[DEFAULT, HIGHEST]`
    pub(super) fn bare_enumerations(&mut self, kind: &str) -> Result<Attribute> {
        let mut items = Vec::new();
        self.c.expect("[")?;
        if !self.c.eat("]") {
            loop {
                items.push(if self.c.peek() == b'#' {
                    self.attribute()?
                } else {
                    self.bare_enumeration(kind)?
                });
                if !self.c.eat(",") {
                    break;
                }
            }
            self.c.expect("]")?;
        }
        Ok(Attribute::Array(items))
    }

    /// The types after the colon of a listed form; those of the results.
    fn types(&mut self, op: &Op, types: Types) -> Result<TypeVec> {
        match types {
            Types::Functional => self.functional(&op.name, &op.operands),
            Types::Same => self.same_types(op),
            Types::Arrow => {
                self.c.expect(":")?;
                self.c.ws();
                let start = self.c.pos;
                // Also the functional type that the generic form would have.
                if self.c.byte() == b'(' {
                    let (inputs, results) = self.signature()?;
                    self.check_inputs(&op.name, &op.operands, &inputs, start)?;
                    return Ok(results);
                }
                let inputs = self.type_list()?;
                self.check_inputs(&op.name, &op.operands, &inputs, start)?;
                self.c.expect("->")?;
                self.result_types()
            }
            Types::Operand | Types::Operands => {
                self.c.expect(":")?;
                self.c.ws();
                let start = self.c.pos;
                if self.c.byte() == b'(' {
                    let (inputs, results) = self.signature()?;
                    self.check_inputs(&op.name, &op.operands, &inputs, start)?;
                    return Ok(results);
                }
                let mut inputs = self.type_list()?;
                if inputs.len() == 1 {
                    inputs.resize(op.operands.len(), inputs[0].clone());
                }
                self.check_inputs(&op.name, &op.operands, &inputs, start)?;
                Ok(TypeVec::new())
            }
        }
    }

    /// `: T` for operands and the result, or a functional type.
    pub(super) fn same_types(&mut self, op: &Op) -> Result<TypeVec> {
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() == b'(' {
            let (inputs, results) = self.signature()?;
            self.check_inputs(&op.name, &op.operands, &inputs, start)?;
            return Ok(results);
        }
        let ty = self.ty()?;
        for value in &op.operands {
            self.check_type(*value, &ty, start)?;
        }
        Ok(smallvec![ty])
    }

    /// `{…} dense<…> : T`, or `() <{value = …}> : () -> T` where the value has another type than the result.
    fn constant(&mut self, op: &mut Op) -> Result<TypeVec> {
        if self.c.eat("(") {
            self.c.expect(")")?;
            if self.c.eat("<") {
                op.attributes = self.dictionary_of(&op.name)?;
                self.c.expect(">")?;
            }
            self.dictionary_into(op)?;
            return self.functional(&op.name, &[]);
        }
        self.dictionary_into(op)?;
        let (value, ty) = self.elements()?;
        op.attributes.set("value", value);
        Ok(smallvec![ty])
    }

    /// `LT, %a, %b, FLOAT : (T, T) -> U`
    fn compare(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.attributes.set("comparison_direction", self.bare_enumeration("comparison_direction")?);
        self.c.expect(",")?;
        op.operands = self.operands()?;
        if self.c.eat(",") {
            op.attributes.set("compare_type", self.bare_enumeration("comparison_type")?);
        }
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `%p, %a, %b : P, T`, or a functional type
    fn select(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands()?;
        self.dictionary_into(op)?;
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() == b'(' {
            let (inputs, results) = self.signature()?;
            self.check_inputs(&op.name, &op.operands, &inputs, start)?;
            return Ok(results);
        }
        let types = self.type_list()?;
        let [predicate, branch] = types.as_slice() else {
            let span = Span::new(start, self.c.pos);
            return Err(Diagnostic::new(
                codes::ARITY,
                span,
                format!("'{}' with {} types", op.name, types.len()),
            )
            .expected("the type of the predicate and that of the branches"));
        };
        let inputs = [predicate.clone(), branch.clone(), branch.clone()];
        self.check_inputs(&op.name, &op.operands, &inputs, start)?;
        Ok(smallvec![branch.clone()])
    }

    /// `%re, %im : tensor<…xcomplex<f32>>`
    fn complex_op(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands()?;
        self.dictionary_into(op)?;
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        if self.c.byte() == b'(' {
            let (inputs, results) = self.signature()?;
            self.check_inputs(&op.name, &op.operands, &inputs, start)?;
            return Ok(results);
        }
        let ty = self.ty()?;
        if let Type::Tensor(tensor) = &ty {
            let part =
                Type::Tensor(TensorType { element: tensor.element.real_part(), ..(**tensor).clone() }.into());
            for value in &op.operands {
                self.check_type(*value, &part, start)?;
            }
        }
        Ok(smallvec![ty])
    }

    /// `%x, format = e8m7 : T`
    fn reduce_precision(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands()?;
        if self.c.eat(",") {
            self.c.expect_word("format")?;
            self.c.expect("=")?;
            self.c.ws();
            let start = self.c.pos;
            let word = self.c.word("a format, for example 'e8m7'")?;
            let parts = word.strip_prefix('e').and_then(|rest| rest.split_once('m'));
            let bits = parts.and_then(|(e, m)| Some((e.parse().ok()?, m.parse().ok()?)));
            let (exponent, mantissa): (i32, i32) = bits.ok_or_else(|| {
                let span = Span::new(start, self.c.pos);
                Diagnostic::new(codes::ATTRIBUTE, span, format!("'{word}' is no format"))
                    .expected("a format like 'e8m7'")
            })?;
            op.attributes.set("exponent_bits", Attribute::i32(exponent));
            op.attributes.set("mantissa_bits", Attribute::i32(mantissa));
        }
        self.dictionary_into(op)?;
        self.same_types(op)
    }

    /// `%x [0:4, 1:8:2] : (T) -> U`
    fn slice(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = vec![self.operand()?].into();
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.c.list("[", "]", |c| {
            starts.push(c.int()?);
            c.expect(":")?;
            limits.push(c.int()?);
            strides.push(if c.eat(":") { c.int()? } else { 1 });
            Ok(())
        })?;
        op.attributes.set("start_indices", Attribute::I64s(starts));
        op.attributes.set("limit_indices", Attribute::I64s(limits));
        op.attributes.set("strides", Attribute::I64s(strides));
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `%a, %b : tuple<T, U>`
    fn tuple(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = self.operands()?;
        self.dictionary_into(op)?;
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        let ty = self.ty()?;
        let Type::Tuple(parts) = &ty else {
            let span = Span::new(start, self.c.pos);
            return Err(Diagnostic::new(codes::TYPE, span, format!("'{}' of type {ty}", op.name))
                .expected("a tuple type"));
        };
        self.check_inputs(&op.name, &op.operands, parts, start)?;
        Ok(smallvec![ty])
    }

    /// `%t[0] : (tuple<T>) -> T`
    fn get_tuple_element(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.operands = vec![self.operand()?].into();
        self.c.expect("[")?;
        let index = number_of_type(&self.c.number()?, ElementType::I32)?;
        op.attributes.set("index", index);
        self.c.expect("]")?;
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// `{…} %a, %b : T, U`, or `()`
    fn barrier(&mut self, op: &mut Op) -> Result<TypeVec> {
        self.dictionary_into(op)?;
        if self.c.eat("(") {
            self.c.expect(")")?;
            return Ok(TypeVec::new());
        }
        op.operands = self.operands()?;
        self.types_of_operands(op)
    }

    /// `: T, U` for the operands, one each.
    pub(super) fn types_of_operands(&mut self, op: &Op) -> Result<TypeVec> {
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        let types = self.type_list()?;
        self.check_inputs(&op.name, &op.operands, &types, start)?;
        Ok(types)
    }

    /// `%x, dense<…> : T, tolerance = 0.1`
    fn check_const(&mut self, op: &mut Op) -> Result<TypeVec> {
        let value = self.operand()?;
        op.operands = vec![value].into();
        self.c.expect(",")?;
        self.c.ws();
        let start = self.c.pos;
        let (elements, ty) = self.elements()?;
        op.attributes.set("value", elements);
        self.check_constant_type(value, &ty, start)?;
        if self.c.eat(",") {
            self.c.expect_word("tolerance")?;
            self.c.expect("=")?;
            let tolerance = self.bare_value(AttrKind::F64)?;
            op.attributes.set("tolerance", tolerance);
        }
        self.dictionary_into(op)?;
        Ok(TypeVec::new())
    }

    /// A value that is checked against a constant may be known with fewer static extents than the constant.
    fn check_constant_type(&self, value: ValueId, ty: &Type, start: usize) -> Result<()> {
        match (self.module.ty(value), ty) {
            (Type::Tensor(known), Type::Tensor(given)) if known.compatible(given) => Ok(()),
            _ => self.check_type(value, ty, start),
        }
    }
}

/// The known operation whose name is nearest, within two edits.
fn closest(word: &str) -> Option<&'static str> {
    if word.len() > 60 {
        return None;
    }
    let scored = crate::table::all().map(|row| (distance(word, row.name), row.name));
    scored.filter(|(d, _)| *d <= 2).min().map(|(_, name)| name)
}

/// Edits (insertions, deletions, replacements) between two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
