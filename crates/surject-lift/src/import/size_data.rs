//! Sizes as data: expressions, lists of them and statements about them, written out where a program uses them as values.

use super::sizes::{is_data, number};
use super::state::{Lifter, Result};
use crate::error::LiftError;
use surject_index::{Affine, Extent, ExtentExpr, Fact, IndexMap, Relation, Space, Verdict};
use surject_ir::{BinaryOp, DType, FieldId, Function, Scalar, TensorType, TypeError, Var};
use surject_stablehlo::Op;

impl<'m> Lifter<'m> {
    /// The value of an expression as an `i64` of rank 0.
    pub(crate) fn size_field(&mut self, op: &Op, extent: &Extent) -> Result<FieldId> {
        let mut function = std::mem::take(&mut self.function);
        let data = &self.sizes.data;
        let mut atom = |function: &mut Function, atom: &ExtentExpr| match atom {
            ExtentExpr::Symbol(name) if is_data(atom) => {
                let &(var, k) =
                    data.get(name).ok_or_else(|| LiftError::invalid(op, "a size without a value"))?;
                let field = element(function, op, var, k)?;
                Ok(Some(function.fields.convert(DType::I64, field)))
            }
            _ => Ok(None),
        };
        let field = function.size_field(extent, &mut atom);
        self.function = function;
        field.map_err(|error| match error {
            SizeError::Lift(error) => *error,
            SizeError::Type(error) => LiftError::unsupported(op, error.to_string()),
        })
    }

    /// Integers that are known as expressions, as data.
    pub(crate) fn sizes_field(&mut self, op: &Op, ty: &TensorType, elements: &[Extent]) -> Result<FieldId> {
        let mut whole: Option<FieldId> = None;
        for (k, extent) in elements.iter().enumerate() {
            let field = match number(extent) {
                Some(value) => {
                    self.function.fields.constant(&Space::scalar(), Scalar::from_i128(ty.dtype, value))
                }
                None => {
                    let field = self.size_field(op, extent)?;
                    self.function.fields.convert(ty.dtype, field)
                }
            };
            let built = self.placed(ty, k, field, whole);
            whole = Some(built.map_err(|e| LiftError::unsupported(op, e.to_string()))?);
        }
        Ok(whole.unwrap_or_else(|| self.function.fields.constant(&ty.space, Scalar::zero(ty.dtype))))
    }

    /// `field` at position `k`, `rest` elsewhere.
    fn placed(
        &mut self,
        ty: &TensorType,
        k: usize,
        field: FieldId,
        rest: Option<FieldId>,
    ) -> std::result::Result<FieldId, surject_ir::TypeError> {
        if ty.space.rank() == 0 {
            return Ok(field);
        }
        let fields = &mut self.function.fields;
        let everywhere = match fields[field].kind {
            surject_ir::FieldKind::Const(value) => fields.constant(&ty.space, value),
            _ => fields.read(IndexMap::projection(&ty.space, &[]), field)?,
        };
        let Some(rest) = rest else { return Ok(everywhere) };
        let mut index = fields.index(&ty.space, 0, DType::I64)?;
        if let Some(&[_, columns]) = ty.space.sizes().as_deref() {
            let (columns, behind) = (
                fields.constant(&ty.space, Scalar::from_i128(DType::I64, columns.into())),
                fields.index(&ty.space, 1, DType::I64)?,
            );
            let row = fields.binary(BinaryOp::Mul, index, columns)?;
            index = fields.binary(BinaryOp::Add, row, behind)?;
        }
        let here = fields.constant(&ty.space, Scalar::from_i128(DType::I64, k as i128));
        let here = fields.binary(BinaryOp::Eq, index, here)?;
        fields.select(here, everywhere, rest)
    }

    /// A statement about sizes as an `i1` of rank 0.
    pub(crate) fn condition_field(&mut self, op: &Op, facts: &[Fact]) -> Result<FieldId> {
        let unsupported = |e: surject_ir::TypeError| LiftError::unsupported(op, e.to_string());
        let mut all = self.function.fields.constant(&Space::scalar(), Scalar::bool(true));
        for (k, fact) in facts.iter().enumerate() {
            let field = match self.sizes.facts.holds(fact) {
                Verdict::Yes(()) => continue,
                Verdict::No(()) => self.function.fields.constant(&Space::scalar(), Scalar::bool(false)),
                Verdict::Unknown => {
                    let (x, y) = (self.size_field(op, &fact.left)?, self.size_field(op, &fact.right)?);
                    let operator = match fact.relation {
                        Relation::Eq => BinaryOp::Eq,
                        Relation::Ne => BinaryOp::Ne,
                        Relation::Le => BinaryOp::Le,
                        Relation::Lt => BinaryOp::Lt,
                        Relation::Divides => {
                            let rest = self.function.fields.binary(BinaryOp::Rem, y, x);
                            let zero = Scalar::from_i128(DType::I64, 0);
                            let zero = self.function.fields.constant(&Space::scalar(), zero);
                            let rest = rest.map_err(unsupported)?;
                            let field = self.function.fields.binary(BinaryOp::Eq, rest, zero);
                            all = match k {
                                0 => field.map_err(unsupported)?,
                                _ => {
                                    let field = field.map_err(unsupported)?;
                                    let both = self.function.fields.binary(BinaryOp::And, all, field);
                                    both.map_err(unsupported)?
                                }
                            };
                            continue;
                        }
                    };
                    self.function.fields.binary(operator, x, y).map_err(unsupported)?
                }
            };
            all = match k {
                0 => field,
                _ => self.function.fields.binary(BinaryOp::And, all, field).map_err(unsupported)?,
            };
        }
        Ok(all)
    }
}

/// Why a size has no value as data.
enum SizeError {
    Lift(Box<LiftError>),
    Type(TypeError),
}

impl From<TypeError> for SizeError {
    fn from(error: TypeError) -> SizeError {
        SizeError::Type(error)
    }
}

impl From<LiftError> for SizeError {
    fn from(error: LiftError) -> SizeError {
        SizeError::Lift(Box::new(error))
    }
}

/// One element of a vector (or of a scalar), of rank 0.
fn element(function: &mut Function, op: &Op, var: Var, k: usize) -> Result<FieldId> {
    let of = function.tensor(var);
    let own = function.ty(var).space.clone();
    if own.rank() == 0 {
        return Ok(of);
    }
    let mut rest = k as i64;
    let mut at = Vec::new();
    let Some(sizes) = own.sizes() else {
        return Err(LiftError::invalid(op, "a symbolic vector of sizes"));
    };
    for &size in sizes.iter().rev() {
        at.insert(0, Affine::fixed(0, rest % size.max(1)));
        rest /= size.max(1);
    }
    let map = IndexMap::total(Space::scalar(), own, at);
    let map = map.map_err(|e| LiftError::invalid(op, e.to_string()))?;
    function.fields.read(map, of).map_err(|e| LiftError::invalid(op, e.to_string()))
}
