//! Pretty forms of the `arith`, `shape` and `tensor` operations that programs with dynamic shapes hold beside those of
//! StableHLO. They are printed generically.

use smallvec::smallvec;

use super::cursor::Result;
use super::{Parser, TypeVec};
use crate::attr::Attribute;
use crate::dense::DenseElements;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Op;
use crate::types::{ElementType, TensorType, Type};

/// How operands, attributes and types are written.
#[derive(Clone, Copy)]
enum Form {
    /// `%a, %b : T`, the result of the same type
    Same,
    /// `%a : T to U`
    Cast,
    /// `%a, %b : T, U -> V`
    Arrow,
    /// `%a, %b : T, U`, the result of the type given here
    Gives(&'static str),
    /// `1 : index`, or `dense<…> : T`
    Constant,
    /// `slt, %a, %b : T`
    Compare(&'static [&'static str]),
    /// `%c, %a, %b : T`
    Select,
    /// `%t, %i : T`
    Dim,
    /// `%t[%i, %j] : T`
    Extract,
    /// `%a, %b : T`, the operands of the element type
    Elements,
    /// `[1, 2] : T`
    ConstShape,
}

const INTEGER: &[&str] = &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const FLOAT: &[&str] = &[
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
    "uno", "true",
];

fn form(name: &str) -> Option<Form> {
    Some(match name {
        "arith.constant" => Form::Constant,
        "arith.cmpi" => Form::Compare(INTEGER),
        "arith.cmpf" => Form::Compare(FLOAT),
        "arith.select" => Form::Select,
        "arith.index_cast"
        | "arith.index_castui"
        | "arith.extsi"
        | "arith.extui"
        | "arith.trunci"
        | "arith.sitofp"
        | "arith.uitofp"
        | "arith.fptosi"
        | "arith.fptoui"
        | "arith.extf"
        | "arith.truncf"
        | "arith.bitcast"
        | "tensor.cast"
        | "builtin.unrealized_conversion_cast" => Form::Cast,
        "arith.addi" | "arith.subi" | "arith.muli" | "arith.divsi" | "arith.divui" | "arith.ceildivsi"
        | "arith.ceildivui" | "arith.floordivsi" | "arith.remsi" | "arith.remui" | "arith.andi"
        | "arith.ori" | "arith.xori" | "arith.shli" | "arith.shrsi" | "arith.shrui" | "arith.maxsi"
        | "arith.maxui" | "arith.minsi" | "arith.minui" | "arith.addf" | "arith.subf" | "arith.mulf"
        | "arith.divf" | "arith.remf" | "arith.negf" | "arith.maximumf" | "arith.minimumf"
        | "arith.maxnumf" | "arith.minnumf" => Form::Same,
        "shape.shape_of"
        | "shape.broadcast"
        | "shape.num_elements"
        | "shape.get_extent"
        | "shape.dim"
        | "shape.rank"
        | "shape.concat"
        | "shape.to_extent_tensor"
        | "shape.index_to_size"
        | "shape.value_of" => Form::Arrow,
        "shape.cstr_broadcastable" | "shape.cstr_eq" => Form::Gives("!shape.witness"),
        "shape.from_extents" => Form::Gives("!shape.shape"),
        "shape.const_shape" => Form::ConstShape,
        "tensor.dim" => Form::Dim,
        "tensor.extract" => Form::Extract,
        "tensor.from_elements" | "tensor.splat" => Form::Elements,
        _ => return None,
    })
}

impl<'s> Parser<'s> {
    /// The operation of another dialect whose name has been read; none without moving where its form is not known.
    pub(super) fn foreign(&mut self, name: &str) -> Option<Result<(Op, TypeVec)>> {
        form(name).map(|form| self.foreign_op(name, form))
    }

    fn foreign_op(&mut self, name: &str, form: Form) -> Result<(Op, TypeVec)> {
        let mut op = Op::new(name.to_string());
        let results = match form {
            Form::Constant => {
                self.dictionary_into(&mut op)?;
                let start = self.c.pos;
                let value = self.attribute()?;
                let ty = match &value {
                    Attribute::Int { ty, .. } | Attribute::Float { ty, .. } => Type::Scalar(ty.clone()),
                    Attribute::Bool(_) => Type::Scalar(ElementType::I1),
                    Attribute::Dense(elements) => Type::Tensor(elements.ty.clone()),
                    other => {
                        let span = Span::new(start, self.c.pos);
                        let message = format!("a constant that is {}", other.describe());
                        return Err(Diagnostic::new(codes::ATTRIBUTE, span, message)
                            .expected("a number with its type, or dense elements"));
                    }
                };
                op.attributes.set("value", value);
                smallvec![ty]
            }
            Form::ConstShape => {
                self.dictionary_into(&mut op)?;
                let sizes = self.c.int_list()?;
                let elements = DenseElements::i64s(&sizes);
                let ty = TensorType { element: ElementType::Index, ..(*elements.ty).clone() };
                op.attributes
                    .set("shape", Attribute::Dense(DenseElements { ty: ty.into(), ..elements }.canonical()));
                self.c.expect(":")?;
                smallvec![self.ty()?]
            }
            Form::Compare(predicates) => {
                self.c.ws();
                let start = self.c.pos;
                let word = self.c.word("a comparison")?;
                let Some(number) = predicates.iter().position(|p| *p == word) else {
                    let span = Span::new(start, self.c.pos);
                    return Err(Diagnostic::new(
                        codes::ATTRIBUTE,
                        span,
                        format!("'{word}' is no comparison"),
                    )
                    .expected(format!("one of {}", predicates.join(", "))));
                };
                op.attributes.set("predicate", Attribute::i64(number as i64));
                self.c.expect(",")?;
                let ty = self.typed_operands(&mut op)?;
                smallvec![match ty {
                    Type::Tensor(tensor) =>
                        TensorType { element: ElementType::I1, ..(*tensor).clone() }.into(),
                    _ => Type::Scalar(ElementType::I1),
                }]
            }
            Form::Same => smallvec![self.typed_operands(&mut op)?],
            Form::Select => {
                op.operands = self.operands()?;
                self.dictionary_into(&mut op)?;
                self.c.expect(":")?;
                let types = self.type_list()?;
                let last = types.last().cloned();
                smallvec![last.unwrap_or(Type::None)]
            }
            Form::Cast => {
                op.operands = self.operands()?;
                self.dictionary_into(&mut op)?;
                self.c.expect(":")?;
                self.c.ws();
                let start = self.c.pos;
                let types = self.type_list()?;
                self.check_inputs(name, &op.operands, &types, start)?;
                self.c.expect_word("to")?;
                self.type_list()?
            }
            Form::Arrow | Form::Gives(_) => {
                op.operands = self.operands()?;
                self.dictionary_into(&mut op)?;
                self.c.expect(":")?;
                self.c.ws();
                let start = self.c.pos;
                let types = self.type_list()?;
                self.check_inputs(name, &op.operands, &types, start)?;
                match form {
                    Form::Gives(ty) => smallvec![Type::Opaque(ty.into())],
                    _ => {
                        self.c.expect("->")?;
                        self.result_types()?
                    }
                }
            }
            Form::Dim => {
                op.operands = self.operands()?;
                self.first_type(&mut op)?;
                smallvec![Type::Scalar(ElementType::Index)]
            }
            Form::Extract => {
                op.operands = smallvec![self.operand()?];
                self.c.expect("[")?;
                op.operands.extend(self.operands()?);
                self.c.expect("]")?;
                match self.first_type(&mut op)? {
                    Type::Tensor(tensor) => smallvec![Type::Scalar(tensor.element.clone())],
                    other => smallvec![other],
                }
            }
            Form::Elements => {
                op.operands = self.operands()?;
                self.dictionary_into(&mut op)?;
                self.c.expect(":")?;
                self.c.ws();
                let start = self.c.pos;
                let ty = self.ty()?;
                if let Type::Tensor(tensor) = &ty {
                    let element = Type::Scalar(tensor.element.clone());
                    op.operands.iter().try_for_each(|v| self.check_type(*v, &element, start))?;
                }
                smallvec![ty]
            }
        };
        Ok((op, results))
    }

    /// `%a, %b {…} : T`, all operands of the type.
    fn typed_operands(&mut self, op: &mut Op) -> Result<Type> {
        op.operands = self.operands()?;
        // Flags such as `overflow<nsw>` stand behind the operands.
        let word = self.c.peek_word();
        if matches!(word, "overflow" | "fastmath") {
            self.c.pos += word.len();
            let flags = self.c.balanced()?;
            op.attributes.set(word.to_string(), Attribute::Opaque(format!("#arith.{word}{flags}")));
        }
        self.dictionary_into(op)?;
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        let ty = self.ty()?;
        op.operands.iter().try_for_each(|v| self.check_type(*v, &ty, start))?;
        Ok(ty)
    }

    /// `{…} : T`, the type of the first operand; the others are indices.
    fn first_type(&mut self, op: &mut Op) -> Result<Type> {
        self.dictionary_into(op)?;
        self.c.expect(":")?;
        self.c.ws();
        let start = self.c.pos;
        let ty = self.ty()?;
        for (i, value) in op.operands.iter().enumerate() {
            let wanted = if i == 0 { ty.clone() } else { Type::Scalar(ElementType::Index) };
            self.check_type(*value, &wanted, start)?;
        }
        Ok(ty)
    }
}
