//! The scalar primitives of the notation as fields.
//!
//! Tensors of the notation are numbers throughout: a comparison gives 1 or 0, and every number but 0 counts as true.

use surject_index::Space;
use surject_ir::{BinaryOp, DType, FieldId, Fields, Scalar, TypeError, UnaryOp};

/// Fields of one element type over one space.
pub(super) struct Scalars<'a> {
    pub(super) fields: &'a mut Fields,
    pub(super) space: Space,
    pub(super) dtype: DType,
}

type Field = Result<FieldId, TypeError>;

impl Scalars<'_> {
    /// A number everywhere.
    pub(super) fn number(&mut self, value: f64) -> FieldId {
        self.fields.constant(&self.space, Scalar::from_f64(self.dtype, value))
    }

    fn as_number(&mut self, truth: FieldId) -> Field {
        let (one, zero) = (self.number(1.0), self.number(0.0));
        self.fields.select(truth, one, zero)
    }

    fn compare(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Field {
        let truth = self.fields.binary(op, x, y)?;
        self.as_number(truth)
    }

    fn truth(&mut self, x: FieldId) -> Field {
        let zero = self.number(0.0);
        self.fields.binary(BinaryOp::Ne, x, zero)
    }

    fn recip(&mut self, x: FieldId) -> Field {
        let one = self.number(1.0);
        self.fields.binary(BinaryOp::Div, one, x)
    }

    /// A primitive applied; `None` for one that has no meaning on numbers.
    pub(super) fn apply(&mut self, name: &str, x: &[FieldId]) -> Result<Option<FieldId>, TypeError> {
        use BinaryOp as B;
        use UnaryOp as U;
        let unary = |s: &mut Self, op: UnaryOp| s.fields.unary(op, x[0]);
        let binary = |s: &mut Self, op: BinaryOp| s.fields.binary(op, x[0], x[1]);
        Ok(Some(match name {
            "identity" | "arg1" => x[0],
            "arg2" => x[1],
            "neg" => unary(self, U::Neg)?,
            "abs" => unary(self, U::Abs)?,
            "sign" => unary(self, U::Sign)?,
            "exp" => unary(self, U::Exp)?,
            "expm1" => unary(self, U::Expm1)?,
            "log" => unary(self, U::Log)?,
            "log1p" => unary(self, U::Log1p)?,
            "logistic" | "sigmoid" => unary(self, U::Logistic)?,
            "sin" => unary(self, U::Sin)?,
            "cos" => unary(self, U::Cos)?,
            "tan" => unary(self, U::Tan)?,
            "sinh" => unary(self, U::Sinh)?,
            "cosh" => unary(self, U::Cosh)?,
            "asin" => unary(self, U::Asin)?,
            "acos" => unary(self, U::Acos)?,
            "atan" => unary(self, U::Atan)?,
            "asinh" => unary(self, U::Asinh)?,
            "acosh" => unary(self, U::Acosh)?,
            "atanh" => unary(self, U::Atanh)?,
            "tanh" | "tanh_approx" => unary(self, U::Tanh)?,
            "erf" => unary(self, U::Erf)?,
            "erfc" => unary(self, U::Erfc)?,
            "erf_inv" => unary(self, U::ErfInv)?,
            "lgamma" => unary(self, U::Lgamma)?,
            "digamma" => unary(self, U::Digamma)?,
            "sqrt" => unary(self, U::Sqrt)?,
            "cbrt" => unary(self, U::Cbrt)?,
            "recip_sqrt" => unary(self, U::Rsqrt)?,
            "floor" => unary(self, U::Floor)?,
            "ceil" => unary(self, U::Ceil)?,
            "round" => unary(self, U::RoundEven)?,
            "is_finite" => {
                let finite = unary(self, U::IsFinite)?;
                self.as_number(finite)?
            }
            "recip" => self.recip(x[0])?,
            "exp2" => {
                let ln2 = self.number(std::f64::consts::LN_2);
                let scaled = self.fields.binary(B::Mul, x[0], ln2)?;
                self.fields.unary(U::Exp, scaled)?
            }
            "log2" => {
                let log = unary(self, U::Log)?;
                let by = self.number(std::f64::consts::LOG2_E);
                self.fields.binary(B::Mul, log, by)?
            }
            "relu" => {
                let zero = self.number(0.0);
                self.fields.binary(B::Max, x[0], zero)?
            }
            "satur01" => {
                let (zero, one) = (self.number(0.0), self.number(1.0));
                let low = self.fields.binary(B::Max, x[0], zero)?;
                self.fields.binary(B::Min, low, one)?
            }
            "trunc" => {
                let zero = self.number(0.0);
                let negative = self.fields.binary(B::Lt, x[0], zero)?;
                let (up, down) = (unary(self, U::Ceil)?, unary(self, U::Floor)?);
                self.fields.select(negative, up, down)?
            }
            "not" => {
                let zero = self.number(0.0);
                self.compare(B::Eq, x[0], zero)?
            }
            "add" => binary(self, B::Add)?,
            "sub" => binary(self, B::Sub)?,
            "mul" => binary(self, B::Mul)?,
            "div" => binary(self, B::Div)?,
            "mod" => binary(self, B::Rem)?,
            "pow" => binary(self, B::Pow)?,
            "atan2" => binary(self, B::Atan2)?,
            "max" => binary(self, B::Max)?,
            "min" => binary(self, B::Min)?,
            "lt" => self.compare(B::Lt, x[0], x[1])?,
            "le" => self.compare(B::Le, x[0], x[1])?,
            "gt" => self.compare(B::Gt, x[0], x[1])?,
            "ge" => self.compare(B::Ge, x[0], x[1])?,
            "eq" => self.compare(B::Eq, x[0], x[1])?,
            "ne" => self.compare(B::Ne, x[0], x[1])?,
            "or" | "and" => {
                let (a, b) = (self.truth(x[0])?, self.truth(x[1])?);
                let op = if name == "or" { B::Or } else { B::And };
                let truth = self.fields.binary(op, a, b)?;
                self.as_number(truth)?
            }
            "relu_gate" => {
                let zero = self.number(0.0);
                let open = self.fields.binary(B::Gt, x[0], zero)?;
                self.fields.select(open, x[1], zero)?
            }
            "satur01_gate" => {
                let (zero, one) = (self.number(0.0), self.number(1.0));
                let above = self.fields.binary(B::Gt, x[0], zero)?;
                let below = self.fields.binary(B::Lt, x[0], one)?;
                let open = self.fields.binary(B::And, above, below)?;
                self.fields.select(open, x[1], zero)?
            }
            "where" => {
                let truth = self.truth(x[0])?;
                self.fields.select(truth, x[1], x[2])?
            }
            "fma" => {
                let product = self.fields.binary(B::Mul, x[0], x[1])?;
                self.fields.binary(B::Add, product, x[2])?
            }
            "mul3" => {
                let product = self.fields.binary(B::Mul, x[0], x[1])?;
                self.fields.binary(B::Mul, product, x[2])?
            }
            _ => return Ok(None),
        }))
    }
}
