//! Literals: brackets that say which row their axis belongs to.

use super::Session;
use super::expr::number;
use crate::error::TensorError;
use crate::tensor::Tensor;
use crate::value::{Number, Value};
use surject_notation::Span;
use surject_notation::source::{Expr, ExprKind, UnaryOp};
use surject_notation::spec::Kind;
use surject_shape::{Dim, GroundShape};

/// An axis of a constant: its row, its size, its basis.
pub(super) type LiteralAxis = (Kind, usize, Option<String>);

impl Session {
    #[inline(never)]
    pub(super) fn literal(
        &mut self,
        expr: &Expr,
        kind: Kind,
        items: &[Expr],
        basis: Option<&str>,
        label: Option<&str>,
    ) -> Result<Value, TensorError> {
        let mut values = Vec::new();
        if let Some(axes) = self.leaves(expr, &mut values) {
            return Ok(self.constant(&axes, values, expr.span, label)?.into());
        }
        let tensors = items.iter().map(|item| self.tensor_expr(item)).collect::<Result<Vec<_>, _>>()?;
        let site = self.site(expr.span, label);
        let stacked = self.graph.stack(kind, basis, &tensors.iter().collect::<Vec<_>>(), site);
        Ok(stacked.map_err(|error| self.here(error, expr.span))?.into())
    }

    /// The axes of a literal all of whose leaves are numbers, and the numbers in memory order. Nothing if it is not one:
    /// then it is a block of tensors.
    fn leaves(&self, expr: &Expr, values: &mut Vec<f64>) -> Option<Vec<LiteralAxis>> {
        match &expr.kind {
            ExprKind::Literal { kind, items, basis } => {
                let mut inner: Option<Vec<LiteralAxis>> = None;
                for item in items {
                    let axes = self.leaves(item, values)?;
                    match &inner {
                        Some(first) if *first != axes => return None,
                        Some(_) => {}
                        None => inner = Some(axes),
                    }
                }
                let mut axes = vec![(*kind, items.len(), basis.clone())];
                axes.extend(inner?);
                in_memory_order(&axes).then_some(axes)
            }
            _ => {
                let number = self.plain_number(expr)?;
                values.push(number.value);
                Some(number.basis.map(|basis| (Kind::Output, 1, Some(basis))).into_iter().collect())
            }
        }
    }

    fn plain_number(&self, expr: &Expr) -> Option<Number> {
        match &expr.kind {
            ExprKind::Number(n, basis) => Some(number(*n, basis.clone())),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let n = self.plain_number(inner)?;
                Some(Number { value: -n.value, ..n })
            }
            ExprKind::Unary(UnaryOp::EmbedFloat | UnaryOp::EmbedInt, inner) => self.plain_number(inner),
            ExprKind::Name(name) => match self.lookup(name).ok()?? {
                Value::Number(n) => Some(n),
                _ => None,
            },
            _ => None,
        }
    }

    /// Values written out.
    pub(super) fn constant(
        &mut self,
        axes: &[LiteralAxis],
        values: Vec<f64>,
        span: Span,
        label: Option<&str>,
    ) -> Result<Tensor, TensorError> {
        let mut shape = GroundShape::default();
        for (kind, size, basis) in axes {
            let dim = match basis {
                Some(basis) => Dim::with_basis(*size as u64, basis),
                None => Dim::new(*size as u64),
            };
            let row = match kind {
                Kind::Batch => &mut shape.batch,
                Kind::Input => &mut shape.input,
                Kind::Output => &mut shape.output,
            };
            row.trail.push(dim);
        }
        let slice = self.frame().text.slice(span);
        let site = self.site(span, Some(label.unwrap_or(&slice)));
        self.graph.data(&shape, values, site).map_err(|error| self.here(error, span))
    }
}

/// Whether the axes stand as the numbers do: batch, output, input. Axes of size one stand anywhere.
fn in_memory_order(axes: &[LiteralAxis]) -> bool {
    let order = |kind: Kind| match kind {
        Kind::Batch => 0,
        Kind::Output => 1,
        Kind::Input => 2,
    };
    let wide = axes.iter().filter(|(_, size, _)| *size != 1);
    wide.clone().zip(wide.skip(1)).all(|((a, ..), (b, ..))| order(*a) <= order(*b))
}
