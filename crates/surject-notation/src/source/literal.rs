//! Reading literals: brackets that say which row their axis belongs to.

use super::expr::is_number;
use super::scan::Parser;
use super::{Expr, ExprKind};
use crate::spec::Kind;
use crate::{NotationError, NotationErrorKind as Wrong};

impl Parser<'_> {
    /// `[…]`, `[|…|]`, or `(…)`, which with one expression and no comma only groups.
    pub(super) fn brackets(&mut self) -> Result<Expr, NotationError> {
        let start = self.at;
        let (open, close, kind) = match () {
            () if self.sees("[|") => (2, "|]", Kind::Batch),
            () if self.sees("[") => (1, "]", Kind::Output),
            () => (1, ")", Kind::Input),
        };
        self.advance(open)?;
        let mut items = Vec::new();
        let mut separated = false;
        while !self.sees(close) {
            items.push(self.expr()?);
            if self.separator()? {
                separated = true;
            } else if !self.sees(close) {
                return Err(
                    self.unexpected("the bracket does not close", &["`,`", quoted(close), "an operator"])
                );
            }
        }
        if items.is_empty() {
            return Err(self.unexpected("a literal has at least one element", &["an expression"]));
        }
        self.advance(close.len())?;
        if kind == Kind::Input && !separated {
            let mut inner = items;
            if let Some(expr) = inner.pop() {
                return Ok(Expr { span: self.since(start), ..expr });
            }
            return Err(self.unexpected("a literal has at least one element", &["an expression"]));
        }
        let basis = self.basis()?;
        let literal = Expr::new(ExprKind::Literal { kind, items, basis }, self.since(start))?;
        if first_leaf_is_number(&literal) {
            check_constant(&literal)?;
        }
        Ok(literal)
    }
}

fn quoted(close: &str) -> &'static str {
    match close {
        "|]" => "`|]`",
        "]" => "`]`",
        _ => "`)`",
    }
}

fn first_leaf_is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal { items, .. } => items.first().is_some_and(first_leaf_is_number),
        _ => is_number(expr),
    }
}

/// Refuses a constant whose elements differ in shape, or whose rows do not nest in memory order. The elements have
/// been checked already when their own brackets closed, so that only neighbours are compared.
fn check_constant(literal: &Expr) -> Result<(), NotationError> {
    let ExprKind::Literal { kind, items, .. } = &literal.kind else { return Ok(()) };
    let Some(first) = items.first() else { return Ok(()) };
    for item in items {
        if let ExprKind::Literal { kind: inner, .. } = &item.kind
            && order(*inner) < order(*kind)
        {
            let message = format!("the {} row stands inside the {} row", inner.name(), kind.name());
            let error = NotationError::new(Wrong::Ragged, item.span, message);
            return Err(
                error.with_help("constants nest in memory order: `[| … |]`, then `[ … ]`, then `( …, )`")
            );
        }
        if !alike(first, item) {
            let error =
                NotationError::new(Wrong::Ragged, item.span, "an element of another shape than the first");
            return Err(error.with_help("the rows of a constant all have the same length, kind and basis"));
        }
    }
    Ok(())
}

/// The place of a kind in memory.
fn order(kind: Kind) -> u8 {
    match kind {
        Kind::Batch => 0,
        Kind::Output => 1,
        Kind::Input => 2,
    }
}

/// Whether two elements of a constant have the same shape; their own elements are alike already.
fn alike(a: &Expr, b: &Expr) -> bool {
    let (mut a, mut b) = (a, b);
    loop {
        match (&a.kind, &b.kind) {
            (
                ExprKind::Literal { kind: k, items: x, basis: p },
                ExprKind::Literal { kind: l, items: y, basis: q },
            ) => {
                let (Some(first), Some(second)) = (x.first(), y.first()) else { return false };
                if k != l || p != q || x.len() != y.len() {
                    return false;
                }
                (a, b) = (first, second);
            }
            _ => return is_number(a) && is_number(b) && basis(a) == basis(b),
        }
    }
}

fn basis(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Number(_, basis) => basis.as_deref(),
        ExprKind::Unary(_, inner) => basis(inner),
        _ => None,
    }
}
