//! Sizes: of rows of new tensors, in arithmetic, and what is said about them.

use super::Session;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{RowSizes, Side, SizeRef, Sizes};
use crate::tensor::Tensor;
use crate::value::{Number, Size, Value};
use std::rc::Rc;
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{BinaryOp, Expr, ExprKind};
use surject_notation::spec::Kind;
use surject_shape::{Constraint, Dim, DimTerm, Elems, Origin, Row, ShapeError, ShapeErrorKind};

impl Session {
    /// Arithmetic of numbers and sizes of the host program, where it gives one again.
    pub(super) fn host_arithmetic(
        &mut self,
        op: BinaryOp,
        x: &Value,
        y: &Value,
        span: Span,
    ) -> Result<Option<Value>, TensorError> {
        Ok(match (x, y) {
            (Value::Number(x), Value::Number(y)) if x.basis.is_none() && y.basis.is_none() => {
                numbers(op, x, y).map(Value::Number)
            }
            (Value::Size(_) | Value::Number(_), Value::Size(_) | Value::Number(_)) => match op {
                BinaryOp::Add | BinaryOp::Compose | BinaryOp::Mul => self.sizes_arithmetic(op, x, y, span)?,
                _ => None,
            },
            _ => None,
        })
    }

    /// A sum, a difference, a product or an exact quotient of two sizes.
    fn sizes_arithmetic(
        &mut self,
        op: BinaryOp,
        x: &Value,
        y: &Value,
        span: Span,
    ) -> Result<Option<Value>, TensorError> {
        let fresh = self.graph.fresh_dim();
        let strided = |whole: DimTerm, stride: u64, over: DimTerm| Constraint::Affine {
            input: whole,
            stride,
            over,
            kernel: None,
            offset: 0,
        };
        // A size that is a product is a number of elements.
        let product = |whole: DimTerm, x: DimTerm, y: DimTerm| Constraint::Total {
            elems: Elems::Strided { coefficient: 1, var: whole },
            rows: vec![Row::closed([x, y])],
            divided_by: Vec::new(),
        };
        let constraint = match (op, self.plain_dim(x, span)?, self.plain_dim(y, span)?) {
            (BinaryOp::Add, Some(x), Some(y)) => {
                Constraint::Concat { target: fresh.into(), parts: vec![x, y] }
            }
            (BinaryOp::Sub, Some(x), Some(y)) => {
                Constraint::Concat { target: x, parts: vec![y, fresh.into()] }
            }
            (BinaryOp::Compose | BinaryOp::Mul, Some(DimTerm::Known(n)), Some(d))
            | (BinaryOp::Compose | BinaryOp::Mul, Some(d), Some(DimTerm::Known(n)))
                if n.size() > Some(0) =>
            {
                strided(fresh.into(), n.size().unwrap_or_default(), d)
            }
            (BinaryOp::Compose | BinaryOp::Mul, Some(x @ DimTerm::Var(_)), Some(y @ DimTerm::Var(_))) => {
                self.graph.note_product(fresh, [x, y]);
                product(fresh.into(), x, y)
            }
            (BinaryOp::Div | BinaryOp::PointDiv, Some(d), Some(DimTerm::Known(n))) if n.size() > Some(0) => {
                strided(d, n.size().unwrap_or_default(), fresh.into())
            }
            (BinaryOp::Div | BinaryOp::PointDiv, Some(d), Some(by @ DimTerm::Var(_))) => {
                product(d, by, fresh.into())
            }
            _ => return Ok(None),
        };
        let site = self.site(span, None);
        self.graph.constrain(constraint, &site).map_err(|error| self.here(error, span))?;
        let name = site.text.unwrap_or_default();
        Ok(Some(Value::Size(Size { name, size: SizeRef::Dim(fresh) })))
    }

    fn plain_dim(&mut self, value: &Value, span: Span) -> Result<Option<DimTerm>, TensorError> {
        match value {
            Value::Number(n) => Ok(n.size().map(|n| Dim::new(n).into())),
            Value::Size(size) => Ok(Some(self.dim_of(size, span)?)),
            _ => Ok(None),
        }
    }

    /// The axis of a size; a row gives the product of its sizes.
    fn dim_of(&mut self, size: &Size, span: Span) -> Result<DimTerm, TensorError> {
        match size.size {
            SizeRef::Dim(var) => Ok(var.into()),
            SizeRef::Row(row) => {
                let var = self.graph.fresh_dim();
                let elems = Elems::Strided { coefficient: 1, var: var.into() };
                let total = Constraint::Total { elems, rows: vec![Row::open(row)], divided_by: Vec::new() };
                let site = self.site(span, None);
                self.graph.constrain(total, &site).map_err(|error| self.here(error, span))?;
                Ok(var.into())
            }
        }
    }

    /// The value of an expression where a host value is asked for: lists are sizes, and sizes divide.
    pub(super) fn host(&mut self, expr: &Expr, label: Option<&str>) -> Result<Value, TensorError> {
        match &expr.kind {
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::PointDiv | BinaryOp::Sub), a, b) => {
                let (x, y) = (self.host(a, None)?, self.host(b, None)?);
                if matches!((&x, &y), (Value::Size(_) | Value::Number(_), Value::Size(_) | Value::Number(_)))
                    && !matches!((&x, &y), (Value::Number(_), Value::Number(_)))
                    && let Some(size) = self.sizes_arithmetic(*op, &x, &y, expr.span)?
                {
                    return Ok(size);
                }
                let joined = self.joined(*op, (x, a.span), (y, b.span), expr.span, label);
                joined.map_err(|error| self.placed(error, expr.span))
            }
            ExprKind::Literal { kind: Kind::Output, items, basis: None } => {
                let values = items.iter().map(|item| self.host(item, None)).collect::<Result<Vec<_>, _>>()?;
                let sizes = values.iter().all(|v| matches!(v, Value::Number(_) | Value::Size(_)));
                if sizes { Ok(Value::Sizes(Rc::new(values))) } else { self.expr(expr, label) }
            }
            _ => self.expr(expr, label),
        }
    }

    /// Refuses a size of zero.
    pub(super) fn positive(&self, size: u64, span: Span) -> Result<u64, TensorError> {
        if size > 0 {
            return Ok(size);
        }
        let error = self.wrong(TensorErrorKind::Size, span, "a size is at least 1");
        Err(error.with_help("an axis that is not there is left out: `o = []` is a row without axes"))
    }

    /// What an inline definition says of the sizes of its rows.
    pub(super) fn row_sizes(&mut self, rows: &[(Kind, Vec<Expr>)]) -> Result<Sizes, TensorError> {
        let mut sizes = Sizes::default();
        for (kind, exprs) in rows {
            let mut dims = Vec::new();
            for expr in exprs {
                let value = self.host(expr, None)?;
                self.dims_of(&value, expr.span, &mut dims)?;
            }
            *row_of(&mut sizes, *kind) = RowSizes::Sizes(dims);
        }
        Ok(sizes)
    }

    /// The axes that a value says, added to a list.
    pub(super) fn dims_of(
        &mut self,
        value: &Value,
        span: Span,
        dims: &mut Vec<DimTerm>,
    ) -> Result<(), TensorError> {
        match value {
            Value::Number(n) => match (n.size(), &n.basis) {
                (Some(size), Some(basis)) => {
                    dims.push(Dim::with_basis(self.positive(size, span)?, basis).into());
                }
                (Some(size), None) => dims.push(Dim::new(self.positive(size, span)?).into()),
                (None, _) => {
                    let message = format!("a size is a whole number, and this is {}", n.value);
                    return Err(self.wrong(TensorErrorKind::Size, span, message));
                }
            },
            Value::Size(size) => {
                let dim = self.dim_of(size, span)?;
                dims.push(dim);
            }
            Value::Sizes(values) => {
                for value in values.iter() {
                    self.dims_of(value, span, dims)?;
                }
            }
            other => {
                let message = format!("a size is needed here, and this is {}", other.sort());
                let help = "a size is a whole number, or a name that a spec captured: `\"ij => ji\" [\"i\"]`";
                return Err(self.wrong(TensorErrorKind::Sort, span, message).with_help(help));
            }
        }
        Ok(())
    }

    /// A list of sizes as a tensor with one output axis.
    pub(super) fn sizes_tensor(&mut self, values: &[Value], span: Span) -> Result<Tensor, TensorError> {
        let plain: Option<Vec<&Number>> = values
            .iter()
            .map(|v| match v {
                Value::Number(n) if n.basis.is_none() => Some(n),
                _ => None,
            })
            .collect();
        if let Some(numbers) = plain {
            return self.constant(
                &[(Kind::Output, numbers.len(), None)],
                numbers.iter().map(|n| n.value).collect(),
                span,
                None,
            );
        }
        let tensors =
            values.iter().map(|v| self.tensor_of(v.clone(), span)).collect::<Result<Vec<_>, _>>()?;
        let site = self.site(span, None);
        let stacked = self.graph.stack(Kind::Output, None, &tensors.iter().collect::<Vec<_>>(), site);
        stacked.map_err(|error| self.here(error, span))
    }
}

/// The row of a kind.
pub(super) fn row_of(sizes: &mut Sizes, kind: Kind) -> &mut RowSizes {
    match kind {
        Kind::Batch => &mut sizes.batch,
        Kind::Input => &mut sizes.input,
        Kind::Output => &mut sizes.output,
    }
}

/// Arithmetic of two numbers.
fn numbers(op: BinaryOp, x: &Number, y: &Number) -> Option<Number> {
    let (a, b) = (x.value, y.value);
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Compose | BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::PointDiv => a / b,
        BinaryOp::PointPow => a.powf(b),
        _ => return None,
    };
    let whole = x.whole && y.whole && value.fract() == 0.0 && value.abs() < 9.007_199_254_740_992e15;
    Some(Number { value, whole, basis: None })
}

impl Session {
    /// The value of a size, where it is known.
    fn known_size(&self, value: &Value) -> Option<u64> {
        match value {
            Value::Number(n) => n.size(),
            Value::Size(size) => self.graph.size_of(size.size),
            _ => None,
        }
    }

    /// What is said about sizes here contradicts what is known of them.
    fn contradiction(&self, message: String, span: Span) -> TensorError {
        let site = self.site(span, None);
        let operation = site.text.unwrap_or_default();
        let origin = Arc::new(Origin { operation, place: site.place, ..Origin::default() });
        let error = ShapeError { labels: vec![origin], ..ShapeError::new(ShapeErrorKind::Stride, message) };
        self.here(error.into(), span)
    }

    /// `set_equal(a, b)`: two sizes are the same.
    pub(super) fn set_equal(
        &mut self,
        a: &Value,
        b: &Value,
        spans: [Span; 2],
        span: Span,
    ) -> Result<(), TensorError> {
        let product = |value: &Value| matches!(value, Value::Size(size) if self.graph.is_product(size.size));
        let side = |value: &Value| {
            let (name, size) = match value {
                Value::Size(size @ Size { size: SizeRef::Row(_), .. }) => {
                    (format!("the product of the sizes of `{}`", size.name), Ok(size.size))
                }
                Value::Size(size) => (format!("`{}`", size.name), Ok(size.size)),
                Value::Number(n) => ("the number".to_string(), Err(n.size()?)),
                _ => return None,
            };
            Some(Side { name, size })
        };
        // Of a product no axis has the size, so that an error has to name it.
        let sides = match (side(a), side(b)) {
            (Some(x), Some(y)) if product(a) || product(b) => Some([x, y]),
            _ => None,
        };
        let mut dims = Vec::new();
        for (value, at) in [a, b].into_iter().zip(spans) {
            self.dims_of(value, at, &mut dims)?;
        }
        let [a, b] = dims[..] else {
            let message = "`set_equal` takes two sizes";
            return Err(self.wrong(TensorErrorKind::Arguments, span, message));
        };
        let site = self.site(span, None);
        let said = self.graph.constrain_said(Constraint::DimEq(a, b), &site, sides);
        said.map_err(|error| self.here(error, span))
    }

    /// `set_scale(a, b, factor)`: `a = factor · b`.
    pub(super) fn set_scale(
        &mut self,
        a: &Value,
        b: &Value,
        factor: &Number,
        span: Span,
    ) -> Result<(), TensorError> {
        let name = |value: &Value| match value {
            Value::Size(size) => format!("`{}`", size.name),
            _ => "the number".to_string(),
        };
        let stride = |message: String| Err(self.contradiction(message, span));
        let is_row = |value: &Value| matches!(value, Value::Size(Size { size: SizeRef::Row(_), .. }));
        if is_row(a) || is_row(b) {
            let row = if is_row(a) { a } else { b };
            let message = format!("`set_scale` takes sizes of axes, and {} is that of a row", name(row));
            return Err(self
                .wrong(TensorErrorKind::Sort, span, message)
                .with_help("capture a label instead"));
        }
        let Some(factor) = factor.size().filter(|f| *f >= 1) else {
            let message =
                format!("the factor of `set_scale` is a whole number, at least 1, and not {}", factor.value);
            return Err(self.wrong(TensorErrorKind::Size, span, message));
        };
        match (self.known_size(a), self.known_size(b)) {
            (Some(x), Some(y)) if y.checked_mul(factor) != Some(x) => {
                return stride(format!(
                    "{} is {x} and {} is {y}, which is not {x} = {factor}·{y}",
                    name(a),
                    name(b)
                ));
            }
            (Some(x), None) if x % factor != 0 => {
                return stride(format!("{} is {x}, which {factor} does not divide", name(a)));
            }
            _ => {}
        }
        let mut dims = Vec::new();
        for value in [a, b] {
            self.dims_of(value, span, &mut dims)?;
        }
        let [input, over] = dims[..] else {
            let message = "`set_scale` takes two sizes and a factor";
            return Err(self.wrong(TensorErrorKind::Arguments, span, message));
        };
        let constraint = Constraint::Affine { input, stride: factor, over, kernel: None, offset: 0 };
        let site = self.site(span, None);
        self.graph.constrain(constraint, &site).map_err(|error| self.here(error, span))
    }
}
