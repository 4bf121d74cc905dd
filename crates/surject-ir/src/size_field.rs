//! The value of a size as data.

use crate::{AccOp, BinaryOp, FieldId, Function, TypeError, UnaryOp};
use surject_index::{Extent, ExtentEnv, ExtentExpr, Facts, IndexMap, ScalarSemantics, Space};
use surject_runtime::{DType, Scalar};

/// No size has a value here.
struct NoSizes;

impl ExtentEnv for NoSizes {
    fn input_axis(&self, _: usize, _: usize) -> Option<u64> {
        None
    }

    fn runtime_scalar(&self, _: usize, _: ScalarSemantics) -> Option<u64> {
        None
    }
}

/// The value of a size or scalar as an `i64` of rank 0, where it is not the one that a function knows by itself.
pub type AtomField<'a, E> = dyn FnMut(&mut Function, &ExtentExpr) -> Result<Option<FieldId>, E> + 'a;

impl Function {
    /// The integer that a symbolic expression is in a run, as an `i64` of rank 0. It may be negative; what is larger than
    /// any tensor wraps.
    ///
    /// `atom` gives the sizes and scalars that the function does not know by itself; for those that it gives nothing for,
    /// it is the number of positions along an axis of that size, or the value of a scalar parameter.
    ///
    /// # Errors
    /// Those of `atom`, and a scalar parameter that is none.
    pub fn size_field<E: From<TypeError>>(
        &mut self,
        extent: &Extent,
        atom: &mut AtomField<'_, E>,
    ) -> Result<FieldId, E> {
        let scalar = Space::scalar();
        let constant = |value: i128| Scalar::from_i128(DType::I64, value);
        let expr = match (extent, extent.eval_integer(&NoSizes)) {
            // It may be negative.
            (_, Ok(value)) => return Ok(self.fields.constant(&scalar, constant(value))),
            (Extent::Const(value), Err(_)) => {
                return Ok(self.fields.constant(&scalar, constant((*value).into())));
            }
            (Extent::Expr(expr), Err(_)) => expr,
        };
        if let Some([a, b]) = expr.operands() {
            let (x, y) = (self.size_field(a, atom)?, self.size_field(b, atom)?);
            let fields = &mut self.fields;
            let operator = match &**expr {
                ExtentExpr::Add(..) => BinaryOp::Add,
                ExtentExpr::Sub(..) => BinaryOp::Sub,
                ExtentExpr::Mul(..) => BinaryOp::Mul,
                ExtentExpr::Min(..) => BinaryOp::Min,
                ExtentExpr::Max(..) => BinaryOp::Max,
                _ => {
                    // Division truncates: one less where there is a rest below zero.
                    let quotient = fields.binary(BinaryOp::Div, x, y)?;
                    let rest = fields.binary(BinaryOp::Rem, x, y)?;
                    let (zero, one) =
                        (fields.constant(&scalar, constant(0)), fields.constant(&scalar, constant(1)));
                    let below = fields.binary(BinaryOp::Lt, rest, zero)?;
                    let less = fields.binary(BinaryOp::Sub, quotient, one)?;
                    return Ok(fields.select(below, less, quotient)?);
                }
            };
            return Ok(fields.binary(operator, x, y)?);
        }
        if let Some(field) = atom(self, expr)? {
            return Ok(field);
        }
        match &**expr {
            ExtentExpr::RuntimeScalar { input, semantics } if *input < self.params.len() => {
                let field = self.tensor(self.params[*input]);
                Ok(self.scalar_size(field, *semantics)?)
            }
            _ => {
                // As many as there are positions.
                let line = Space::new([extent.clone()]);
                let one = self.fields.constant(&line, constant(1));
                Ok(self.fields.acc(AccOp::Add, IndexMap::projection(&line, &[]), one)?)
            }
        }
    }

    /// The size that the value of a scalar stands for by a rule, as an `i64`.
    fn scalar_size(&mut self, x: FieldId, semantics: ScalarSemantics) -> Result<FieldId, TypeError> {
        let fields = &mut self.fields;
        let space = fields[x].space.clone();
        let zero = fields.constant(&space, Scalar::zero(DType::I64));
        let integer = match semantics {
            ScalarSemantics::IntegerSize => fields.convert(DType::I64, x),
            ScalarSemantics::DynamicTruncateSize => {
                let dtype = fields[x].dtype;
                let finite = fields.unary(UnaryOp::IsFinite, x)?;
                let rounded = fields.unary(UnaryOp::RoundAway, x)?;
                // Larger than any tensor, and within the range of the integers.
                let most = fields.constant(&space, Scalar::from_f64(dtype, (1u64 << 62) as f64));
                let rounded = fields.binary(BinaryOp::Min, rounded, most)?;
                let none = fields.constant(&space, Scalar::zero(dtype));
                let rounded = fields.binary(BinaryOp::Max, rounded, none)?;
                let size = fields.select(finite, rounded, none)?;
                fields.convert(DType::I64, size)
            }
        };
        fields.binary(BinaryOp::Max, integer, zero)
    }

    /// What the fields of the function may assume of sizes.
    pub fn size_facts(&self) -> Option<&Facts> {
        self.fields.facts()
    }
}
