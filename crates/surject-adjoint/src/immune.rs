//! Products with a zero cotangent.
//!
//! The derivative of an operation may be infinite or NaN where a value is singular (`√0`) or has overflowed (`e^100`
//! in `f32`), and 0 · ∞ is NaN. Two kinds of zeros stand for a derivative that vanishes whatever the other factor is:
//!
//! * **Masks.** What `select` does not choose gets the cotangent 0. Where operations that may be singular follow, that
//!   mask is laid over the result once more, so `where(x > 0, √x, 0)` has the gradient 0 where `x ≤ 0`.
//! * **Saturation.** Where a value overflows and the result stays finite, the product tends to 0: if `z · f′(z)` had
//!   another limit, `f` would grow as `log z`. So a zero cotangent from a function that saturates absorbs the
//!   derivative of what has overflowed: the gradient of GELU in `tanh` form is finite for all finite arguments.
//!
//! A zero of another kind absorbs nothing. `√x · √x` at 0 has the derivative 1 and the product 0 · ∞, and the NaN says
//! that the answer is not known.

use crate::relative::Term;
use crate::sweep::{Result, Sweep};
use std::collections::{HashMap, HashSet};
use surject_ir::{BinaryOp, FieldId, FieldKind, UnaryOp};

/// Operands are looked into this far.
const DEPTH: usize = 6;

/// Where a cotangent is zero because something else was chosen: where `cond` is not `held`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    cond: FieldId,
    held: bool,
}

/// What is known of cotangents beside their values.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    masks: HashMap<FieldId, Mask>,
    /// They are zero by their mask, but may have been multiplied with an infinity since.
    open: HashSet<FieldId>,
    /// They come from a function that saturates.
    saturating: HashSet<FieldId>,
}

impl Sweep {
    /// The mask of a cotangent.
    fn mask_of(&self, c: FieldId) -> Option<Mask> {
        if let Some(&mask) = self.notes.masks.get(&c) {
            return Some(mask);
        }
        let FieldKind::Select { cond, on_true, on_false } = self.f.fields[c].kind else { return None };
        let zero =
            |x: FieldId| self.dtype(x).is_float() && self.const_of(x).is_some_and(|s| s.as_f64() == 0.0);
        match (zero(on_true), zero(on_false)) {
            (_, true) => Some(Mask { cond, held: true }),
            (true, false) => Some(Mask { cond, held: false }),
            _ => None,
        }
    }

    /// Both masks as one.
    fn both(&mut self, a: Mask, b: Mask) -> Result<Mask> {
        if a == b {
            return Ok(a);
        }
        let held = |s: &mut Sweep, m: Mask| if m.held { Ok(m.cond) } else { s.unary(UnaryOp::Not, m.cond) };
        let (x, y) = (held(self, a)?, held(self, b)?);
        Ok(Mask { cond: self.binary(BinaryOp::And, x, y)?, held: true })
    }

    /// Lays its mask over a cotangent that may have lost it.
    pub(crate) fn settled(&mut self, c: FieldId) -> Result<FieldId> {
        let Some(mask) = self.mask_of(c).filter(|_| self.notes.open.contains(&c)) else { return Ok(c) };
        let zero = self.number(c, 0.0);
        let (kept, dropped) = if mask.held { (c, zero) } else { (zero, c) };
        self.select(mask.cond, kept, dropped)
    }

    /// The sum of terms, with what is known of all of them.
    pub(crate) fn noted_sum(&mut self, terms: &[FieldId]) -> Result<Option<FieldId>> {
        if let [term] = terms {
            return Ok(Some(*term));
        }
        let mut settled = Vec::with_capacity(terms.len());
        for &term in terms {
            settled.push(self.settled(term)?);
        }
        let Some(sum) = self.sum(&settled)? else { return Ok(None) };
        if terms.iter().all(|t| self.notes.saturating.contains(t)) {
            self.notes.saturating.insert(sum);
        }
        Ok(Some(sum))
    }

    /// Stores a cotangent, with what is known of it.
    pub(crate) fn noted_store(&mut self, name: &str, c: FieldId) -> FieldId {
        let stored = self.stored_field(name, c);
        if let Some(mask) = self.mask_of(c) {
            self.notes.masks.insert(stored, mask);
        }
        if self.notes.open.contains(&c) {
            self.notes.open.insert(stored);
        }
        if self.notes.saturating.contains(&c) {
            self.notes.saturating.insert(stored);
        }
        stored
    }

    /// The terms that a node with the cotangent `c` passes on, made immune to zero times infinity.
    pub(crate) fn immune(
        &mut self,
        id: FieldId,
        c: FieldId,
        terms: Vec<(FieldId, Term)>,
    ) -> Result<Vec<(FieldId, Term)>> {
        let field = self.f.fields[id].clone();
        if !field.dtype.is_float() || !field.kind.is_pointwise() {
            return Ok(terms);
        }
        let (mask, open) = (self.mask_of(c), self.notes.open.contains(&c));
        let was_saturating = self.notes.saturating.contains(&c);
        let mut immune = Vec::with_capacity(terms.len());
        for (child, term) in terms {
            let (Term::Whole(mut value) | Term::Relative(mut value)) = term;
            let whole = matches!(term, Term::Whole(_));
            if self.dtype(value).is_float() && self.const_of(value).is_none() {
                if let Some(mask) = mask {
                    let own = match self.mask_of(value) {
                        Some(own) => self.both(mask, own)?,
                        None => mask,
                    };
                    self.notes.masks.insert(value, own);
                    if open || !whole || self.may_be_singular(&field.kind, child) {
                        self.notes.open.insert(value);
                    }
                } else if whole && was_saturating && self.may_overflow(&field.kind, child) {
                    value = self.absorbed(c, value)?;
                }
                if was_saturating && keeps_saturation(&field.kind) || saturates(&field.kind, child) {
                    self.notes.saturating.insert(value);
                }
            }
            immune.push((child, if whole { Term::Whole(value) } else { Term::Relative(value) }));
        }
        Ok(immune)
    }

    /// Does a cotangent come from a function that saturates?
    pub(crate) fn is_saturating(&self, c: FieldId) -> bool {
        self.notes.saturating.contains(&c)
    }

    /// A product with `c`, and zero where `c` is.
    pub(crate) fn absorbed(&mut self, c: FieldId, product: FieldId) -> Result<FieldId> {
        let (zero, none) = (self.number(product, 0.0), self.number(c, 0.0));
        let counts = self.binary(BinaryOp::Ne, c, none)?;
        self.select(counts, product, zero)
    }

    /// May the derivative of an operation by this operand be infinite or NaN?
    fn may_be_singular(&self, kind: &FieldKind, child: FieldId) -> bool {
        match *kind {
            FieldKind::Unary { op, x } => self.is_singular(op, x),
            FieldKind::Binary { op: BinaryOp::Div, x, y } => {
                !self.is_away_from_zero(y, DEPTH) || child == y && self.may_be_infinite(x, DEPTH)
            }
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                let other = if child == x { y } else { x };
                self.may_be_infinite(other, DEPTH)
            }
            FieldKind::Binary { op: BinaryOp::Pow, y, .. } => {
                child == y || self.number_of(y).is_none_or(|k| k < 1.0)
            }
            FieldKind::Binary { op: BinaryOp::Atan2 | BinaryOp::Rem, .. } => true,
            _ => false,
        }
    }

    /// Has the operation a derivative that is infinite somewhere?
    fn is_singular(&self, op: UnaryOp, x: FieldId) -> bool {
        use UnaryOp::*;
        match op {
            Exp | Expm1 => !self.is_bounded_above(x, DEPTH),
            Log | Sqrt | Rsqrt | Cbrt => !self.is_away_from_zero(x, DEPTH),
            Log1p | Tan | Asin | Acos | Acosh | Atanh | Cosh | Sinh | ErfInv | Lgamma | Digamma => true,
            _ => false,
        }
    }

    /// May a value be infinite or NaN though no parameter is?
    fn may_be_infinite(&self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let field = self.look(field);
        match self.f.fields[field].kind.clone() {
            FieldKind::Const(scalar) => !scalar.as_f64().is_finite(),
            FieldKind::Unary { op, x } => self.is_singular(op, x) || self.may_be_infinite(x, depth),
            FieldKind::Binary { op: BinaryOp::Div, x, y } => {
                !self.is_away_from_zero(y, depth) || self.may_be_infinite(x, depth)
            }
            FieldKind::Binary { op: BinaryOp::Pow | BinaryOp::Rem, .. } => true,
            ref kind if kind.is_pointwise() => kind.children().any(|c| self.may_be_infinite(c, depth)),
            FieldKind::Read { of, .. } => self.may_be_infinite(of, depth),
            _ => false,
        }
    }

    /// Is a value a constant other than zero, or what is not negative plus a constant, or a root of such a value?
    fn is_away_from_zero(&self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if let Some(k) = self.number_of(field) {
            return k != 0.0 && k.is_finite();
        }
        match self.f.fields[self.origin_of(field)].kind {
            FieldKind::Binary { op: BinaryOp::Add, x, y } => [(x, y), (y, x)].into_iter().any(|(k, rest)| {
                self.number_of(k).is_some_and(|k| k > 0.0) && self.is_nonnegative(rest, depth)
            }),
            FieldKind::Unary { op: UnaryOp::Sqrt | UnaryOp::Cbrt, x } | FieldKind::Convert { x } => {
                self.is_away_from_zero(x, depth)
            }
            _ => false,
        }
    }

    /// May the derivative of an operation by this operand have overflowed though all parameters are finite?
    fn may_overflow(&self, kind: &FieldKind, child: FieldId) -> bool {
        match *kind {
            FieldKind::Unary { op: UnaryOp::Exp | UnaryOp::Expm1, x } => !self.is_bounded_above(x, DEPTH),
            FieldKind::Unary { op: UnaryOp::Cosh | UnaryOp::Sinh, .. } => true,
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                self.has_overflown(if child == x { y } else { x })
            }
            FieldKind::Binary { op: BinaryOp::Pow, x, y } => {
                child == x && self.number_of(y).is_none_or(|k| k > 2.0)
            }
            _ => false,
        }
    }

    /// Is a value a power, a product or an exponential that may have overflowed?
    fn has_overflown(&self, field: FieldId) -> bool {
        match self.f.fields[self.look(field)].kind {
            FieldKind::Unary { op: UnaryOp::Exp | UnaryOp::Expm1, x } => !self.is_bounded_above(x, DEPTH),
            FieldKind::Unary { op: UnaryOp::Cosh | UnaryOp::Sinh, .. } => true,
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                self.number_of(x).is_none() && self.number_of(y).is_none()
                    || self.number_of(x).is_some() && self.is_power(y)
                    || self.number_of(y).is_some() && self.is_power(x)
            }
            FieldKind::Binary { op: BinaryOp::Pow, .. } => true,
            _ => false,
        }
    }

    /// Is a value a product of two values, or a power?
    fn is_power(&self, field: FieldId) -> bool {
        match self.f.fields[self.look(field)].kind {
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                self.number_of(x).is_none() && self.number_of(y).is_none()
            }
            FieldKind::Binary { op: BinaryOp::Pow, .. } => true,
            _ => false,
        }
    }
}

/// Does the derivative of an operation by this operand go to zero where the operand goes to infinity?
fn saturates(kind: &FieldKind, child: FieldId) -> bool {
    use UnaryOp::*;
    match kind {
        FieldKind::Unary { op, .. } => matches!(op, Tanh | Erf | Erfc | Logistic | Atan | Exp),
        FieldKind::Binary { op: BinaryOp::Div, y, .. } => *y == child,
        _ => false,
    }
}

/// Is the cotangent of the operands of an operation zero where that of its result is, but for infinite values?
fn keeps_saturation(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Unary { op, .. } => matches!(op, UnaryOp::Neg | UnaryOp::Exp | UnaryOp::Expm1),
        FieldKind::Binary { op, .. } => {
            matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow)
        }
        FieldKind::Convert { .. } => true,
        _ => false,
    }
}
