//! The text form of normal forms, facts and extents: `4*n + m - 1`, `floordiv(n, 2)`, `n >= 4`.

use super::facts::{Fact, Facts, NormalForm, Relation};
use super::normal::{Atom, Size};
use crate::{Extent, ExtentExpr, ScalarSemantics};
use std::fmt;

/// An expression with this normal form: what is added first, then what is taken away.
pub(super) fn extent(size: &Size) -> Option<Extent> {
    let (mut plus, mut minus): (Option<Extent>, Option<Extent>) = (None, None);
    // The terms of the highest degree first, the constant last.
    for (monomial, coefficient) in size.terms().iter().rev() {
        let magnitude = u64::try_from(coefficient.unsigned_abs()).ok()?;
        let mut product = (magnitude != 1 || monomial.is_empty()).then_some(Extent::Const(magnitude));
        for factor in monomial {
            let factor = atom(factor)?;
            product = Some(match product {
                Some(product) => Extent::product(product, factor),
                None => factor,
            });
        }
        let product = product?;
        let side = if *coefficient > 0 { &mut plus } else { &mut minus };
        *side = Some(match (side.take(), *coefficient > 0) {
            (None, _) => product,
            (Some(sum), _) => Extent::sum(sum, product),
        });
    }
    Some(match (plus, minus) {
        (plus, None) => plus.unwrap_or(Extent::Const(0)),
        (plus, Some(minus)) => Extent::difference(plus.unwrap_or(Extent::Const(0)), minus),
    })
}

fn atom(atom: &Atom) -> Option<Extent> {
    match atom {
        Atom::Leaf(leaf) => Some(Extent::Expr(leaf.clone())),
        Atom::Quotient(_) => None,
        Atom::FloorDiv(parts) => Some(Extent::floor_div(extent(&parts.0)?, extent(&parts.1)?)),
        Atom::Max(operands) => {
            let operands: Option<Vec<Extent>> = operands.iter().map(extent).collect();
            operands?.into_iter().reduce(Extent::max)
        }
    }
}

impl fmt::Display for NormalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_extent() {
            Some(extent) => extent.fmt(f),
            None => f.write_str("?"),
        }
    }
}

/// How tightly an expression holds together: sums 0, products 1, the rest 2.
fn strength(extent: &Extent) -> u8 {
    match extent {
        Extent::Const(_) => 2,
        Extent::Expr(expr) => match &**expr {
            _ if extent.as_remainder().is_some() => 2,
            ExtentExpr::Add(..) | ExtentExpr::Sub(..) => 0,
            ExtentExpr::Mul(..) => 1,
            _ => 2,
        },
    }
}

/// The expression, in parentheses if it holds together less tightly than needed.
fn inner(f: &mut fmt::Formatter<'_>, extent: &Extent, needed: u8) -> fmt::Result {
    if strength(extent) < needed { write!(f, "({extent})") } else { write!(f, "{extent}") }
}

/// `4*n + m - 1`, `floordiv(n, 2)`, `mod(n, 2)`, `min(a, b)`, `max(a, b)`: what [`str::parse`] reads.
impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expr = match self {
            Extent::Const(value) => return write!(f, "{value}"),
            Extent::Expr(expr) => expr,
        };
        if let Some((x, d)) = self.as_remainder() {
            return write!(f, "mod({x}, {d})");
        }
        let mut infix = |a: &Extent, sign: &str, b: &Extent, needed: u8| {
            inner(f, a, needed)?;
            f.write_str(sign)?;
            inner(f, b, needed + 1)
        };
        match &**expr {
            ExtentExpr::Symbol(name) => f.write_str(name),
            ExtentExpr::InputAxis { input, axis } => write!(f, "in{input}.{axis}"),
            ExtentExpr::RuntimeScalar { input, semantics } => match semantics {
                ScalarSemantics::DynamicTruncateSize => write!(f, "truncate_size(in{input})"),
                ScalarSemantics::IntegerSize => write!(f, "size(in{input})"),
            },
            ExtentExpr::Add(a, b) => infix(a, " + ", b, 0),
            ExtentExpr::Sub(a, b) => infix(a, " - ", b, 0),
            ExtentExpr::Mul(a, b) => infix(a, "*", b, 1),
            ExtentExpr::FloorDiv(a, b) => write!(f, "floordiv({a}, {b})"),
            ExtentExpr::Min(a, b) => write!(f, "min({a}, {b})"),
            ExtentExpr::Max(a, b) => write!(f, "max({a}, {b})"),
        }
    }
}

/// `n >= 4`, `mod(n, 2) == 0`, `a == b`: what [`str::parse`] reads.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fact { left, relation, right } = self;
        let turned = left.as_const().is_some() && right.as_const().is_none();
        match relation {
            Relation::Eq => write!(f, "{left} == {right}"),
            Relation::Ne => write!(f, "{left} != {right}"),
            Relation::Le if turned => write!(f, "{right} >= {left}"),
            Relation::Lt if turned => write!(f, "{right} > {left}"),
            Relation::Le => write!(f, "{left} <= {right}"),
            Relation::Lt => write!(f, "{left} < {right}"),
            Relation::Divides => write!(f, "mod({right}, {left}) == 0"),
        }
    }
}

/// The facts, separated by commas.
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fact) in self.iter().enumerate() {
            write!(f, "{}{fact}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
