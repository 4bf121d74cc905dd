//! Relative cotangents: `c · y` instead of the cotangent `c` of a value `y`.
//!
//! An exponential overflows long before what is made of it does: in `1 / (1 + e^(−x))` the quotient goes to 0, its
//! derivative by the exponential too, and the derivative of the exponential to infinity. Their product is NaN in
//! floats where the derivative has a limit. In relative form nothing overflows:
//!
//! | value | relative cotangent `r` of `y` passes on |
//! |---|---|
//! | `y = e^x` | `r` to `x`, as a whole cotangent |
//! | `y = a · b`, `y = a / b` | `r` to `a` and `±r` to `b`, relative |
//! | `y = aᵖ`, roots | `p · r` to `a`, relative |
//! | `y = a + b`, both positive | `r · a/y` to `a`, relative; the share `a/y` of the only infinite term is 1 |
//! | `y = log a` | takes a whole cotangent `c` and passes on `c` to `a`, relative |
//!
//! A value takes its cotangent in relative form if all that it is made of does ([`Sweep::accepts`]): then the form
//! ends in exponentials, where it is a whole cotangent again. Sums are taken apart only where all terms are positive,
//! so that no share exceeds 1.
//!
//! Three quotients of positive terms need not even the shares, because the quotient says what they are:
//! `k/(l + e)`, `a/(a + b)` and `(a − b)/(a + b)`: the logistic function and the hyperbolic tangent as they are written
//! with exponentials.

use crate::sweep::{Result, Sweep};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar, StatementKind, UnaryOp, Var};

/// Chains of definitions are followed this far.
const DEPTH: usize = 12;

/// A cotangent in one of its two forms.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Term {
    /// The cotangent itself.
    Whole(FieldId),
    /// The cotangent times the value it belongs to.
    Relative(FieldId),
}

impl Sweep {
    /// The field that defines a variable of the block at hand; other fields are themselves.
    pub(crate) fn look(&self, mut field: FieldId) -> FieldId {
        for _ in 0..DEPTH {
            let Some(root) = self.definition(field) else { break };
            field = root;
        }
        field
    }

    /// The stored field behind a tensor of the block at hand.
    fn definition(&self, field: FieldId) -> Option<FieldId> {
        let FieldKind::Tensor(var) = self.f.fields[field].kind else { return None };
        self.stored_at(var).filter(|_| self.local.contains(&var))
    }

    /// The field that a variable stores, wherever it is defined.
    fn stored_at(&self, var: Var) -> Option<FieldId> {
        match self.definitions.get(&var)?.1.kind {
            StatementKind::Store { field, .. } => Some(field),
            _ => None,
        }
    }

    /// The field behind variables and reads, wherever they are defined: what the elements are, not where.
    pub(crate) fn origin_of(&self, mut field: FieldId) -> FieldId {
        for _ in 0..2 * DEPTH {
            field = match self.f.fields[field].kind {
                FieldKind::Tensor(var) => match self.stored_at(var) {
                    Some(root) => root,
                    None => break,
                },
                FieldKind::Read { of, ref map } if map.is_total() => of,
                _ => break,
            };
        }
        field
    }

    /// The number that all elements of a field equal, where it is a constant.
    pub(crate) fn number_of(&self, field: FieldId) -> Option<f64> {
        let field = self.origin_of(field);
        let scalar = self.const_of(field)?;
        scalar.dtype().is_float().then(|| scalar.as_f64())
    }

    /// Is it a real number?
    fn is_real(&self, field: FieldId) -> bool {
        self.dtype(field).is_float()
    }

    /// Does a derivative flow through a field, and does all of it end in exponentials on the way of products, roots
    /// and positive sums?
    pub(crate) fn accepts(&mut self, field: FieldId) -> bool {
        self.is_real(field) && self.is_smooth(field) && self.ends_in_exponentials(field, DEPTH)
    }

    fn ends_in_exponentials(&mut self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if !self.is_real(field) {
            return false;
        }
        if !self.is_smooth(field) {
            return true;
        }
        match self.f.fields[field].kind.clone() {
            FieldKind::Tensor(_) => match self.definition(field) {
                Some(root) => self.ends_in_exponentials(root, depth),
                None => false,
            },
            FieldKind::Read { ref map, of } => map.is_total() && self.ends_in_exponentials(of, depth),
            FieldKind::Convert { x } => self.ends_in_exponentials(x, depth),
            FieldKind::Unary { op, x } => match op {
                UnaryOp::Exp => !self.is_bounded_above(x, DEPTH),
                UnaryOp::Logistic | UnaryOp::Cosh => true,
                UnaryOp::Neg | UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Cbrt => {
                    self.ends_in_exponentials(x, depth)
                }
                _ => false,
            },
            FieldKind::Binary { op, x, y } => match op {
                BinaryOp::Mul | BinaryOp::Div => {
                    self.ends_in_exponentials(x, depth) && self.ends_in_exponentials(y, depth)
                }
                BinaryOp::Pow => !self.is_smooth(y) && self.ends_in_exponentials(x, depth),
                BinaryOp::Add => {
                    self.is_positive(x, depth)
                        && self.is_positive(y, depth)
                        && self.ends_in_exponentials(x, depth)
                        && self.ends_in_exponentials(y, depth)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Are the elements of a field positive by the way it is made (or zero where that underflows)?
    fn is_positive(&self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.f.fields[field].kind.clone() {
            FieldKind::Const(scalar) => scalar.dtype().is_float() && scalar.as_f64() > 0.0,
            FieldKind::Tensor(var) => self.stored_at(var).is_some_and(|root| self.is_positive(root, depth)),
            FieldKind::Read { ref map, of } => map.is_total() && self.is_positive(of, depth),
            FieldKind::Convert { x } => self.is_real(x) && self.is_positive(x, depth),
            FieldKind::Unary { op, x } => match op {
                UnaryOp::Exp | UnaryOp::Logistic | UnaryOp::Cosh => self.is_real(x),
                UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Cbrt => self.is_positive(x, depth),
                _ => false,
            },
            FieldKind::Binary { op: BinaryOp::Add | BinaryOp::Mul | BinaryOp::Div, x, y } => {
                self.is_positive(x, depth) && self.is_positive(y, depth)
            }
            FieldKind::Binary { op: BinaryOp::Pow, x, .. } => self.is_positive(x, depth),
            _ => false,
        }
    }

    /// Is it plain that the exponential of a field does not overflow? The answer decides what is written down, not what
    /// is right.
    pub(crate) fn is_bounded_above(&self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let field = self.origin_of(field);
        let small = |s: &Sweep, x: FieldId| {
            // e^11 is the largest whole power of e in f16, e^88 in f32.
            let limit = if s.dtype(x) == DType::F16 { 11.0 } else { 88.0 };
            s.number_of(x).is_some_and(|v| v <= limit)
        };
        if small(self, field) {
            return true;
        }
        match self.f.fields[field].kind.clone() {
            FieldKind::Unary { op: UnaryOp::Neg, x } => self.is_nonnegative(x, depth),
            FieldKind::Unary { op, .. } => matches!(
                op,
                UnaryOp::Tanh
                    | UnaryOp::Logistic
                    | UnaryOp::Erf
                    | UnaryOp::Sin
                    | UnaryOp::Cos
                    | UnaryOp::Sign
            ),
            FieldKind::Convert { x } => self.is_bounded_above(x, depth),
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                let below = |k: FieldId| self.number_of(k).is_some_and(|v| v <= 0.0);
                let one = |k: FieldId| self.number_of(k).is_some_and(|v| (0.0..=1.0).contains(&v));
                below(x) && self.is_nonnegative(y, depth)
                    || below(y) && self.is_nonnegative(x, depth)
                    || one(x) && self.is_bounded_above(y, depth)
                    || one(y) && self.is_bounded_above(x, depth)
            }
            FieldKind::Binary { op: BinaryOp::Div, x, y } => match self.number_of(y) {
                Some(k) if k < 0.0 => self.is_nonnegative(x, depth),
                Some(k) if k >= 1.0 => self.is_bounded_above(x, depth),
                _ => false,
            },
            // What is shifted by its maximum.
            FieldKind::Binary { op: BinaryOp::Sub, y, .. } => self.is_maximum(y, depth),
            FieldKind::Binary { op: BinaryOp::Min, x, y } => {
                self.is_bounded_above(x, depth) || self.is_bounded_above(y, depth)
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let cut = |kept: FieldId| match self.f.fields[self.origin_of(cond)].kind {
                    FieldKind::Binary { op: BinaryOp::Gt | BinaryOp::Ge, x, y } => {
                        self.same(x, kept) && small(self, y)
                    }
                    _ => false,
                };
                let other = self.is_bounded_above(on_false, depth) || cut(on_false);
                self.is_bounded_above(on_true, depth) && other
            }
            _ => false,
        }
    }

    /// Do two fields hold the same elements by the way they are made?
    fn same(&self, x: FieldId, y: FieldId) -> bool {
        self.same_within(x, y, DEPTH / 2)
    }

    fn same_within(&self, x: FieldId, y: FieldId, depth: usize) -> bool {
        let (x, y) = (self.look(x), self.look(y));
        if x == y {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let (a, b) = (&self.f.fields[x], &self.f.fields[y]);
        let alike = match (&a.kind, &b.kind) {
            (FieldKind::Unary { op: p, .. }, FieldKind::Unary { op: q, .. }) => p == q,
            (FieldKind::Binary { op: p, .. }, FieldKind::Binary { op: q, .. }) => p == q,
            (FieldKind::Convert { .. }, FieldKind::Convert { .. }) => true,
            (FieldKind::Read { map: p, .. }, FieldKind::Read { map: q, .. }) => p == q,
            _ => false,
        };
        alike
            && a.dtype == b.dtype
            && a.space == b.space
            && a.kind.children().zip(b.kind.children()).all(|(p, q)| self.same_within(p, q, depth))
    }

    pub(crate) fn is_nonnegative(&self, field: FieldId, depth: usize) -> bool {
        let Some(below) = depth.checked_sub(1) else { return false };
        let field = self.origin_of(field);
        match self.f.fields[field].kind.clone() {
            FieldKind::Unary { op: UnaryOp::Abs, .. } => true,
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                self.same(x, y) || self.is_nonnegative(x, below) && self.is_nonnegative(y, below)
            }
            FieldKind::Binary { op: BinaryOp::Add | BinaryOp::Div, x, y } => {
                self.is_nonnegative(x, below) && self.is_nonnegative(y, below)
            }
            FieldKind::Binary { op: BinaryOp::Pow, y, .. } => {
                self.number_of(y).is_some_and(|k| k % 2.0 == 0.0)
            }
            FieldKind::Binary { op: BinaryOp::Max, x, y } => {
                let none = |k: FieldId| self.number_of(k).is_some_and(|v| v >= 0.0);
                none(x) || none(y)
            }
            FieldKind::Convert { x } => self.is_real(x) && self.is_nonnegative(x, below),
            FieldKind::Acc { op: AccOp::Add, of, .. } => self.is_nonnegative(of, below),
            _ => self.is_positive(field, depth),
        }
    }

    /// Is it made from the maximum of an accumulation?
    fn is_maximum(&self, field: FieldId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.f.fields[self.origin_of(field)].kind.clone() {
            FieldKind::Acc { op: AccOp::Max, .. } => true,
            FieldKind::Convert { x } => self.is_maximum(x, depth),
            FieldKind::Binary { op: BinaryOp::Max, x, y } => {
                self.is_maximum(x, depth) || self.is_maximum(y, depth)
            }
            FieldKind::Select { on_true, on_false, .. } => {
                self.is_maximum(on_true, depth) || self.is_maximum(on_false, depth)
            }
            _ => false,
        }
    }

    /// What a node with the whole cotangent `c` passes on, where some of its operands take theirs in relative form.
    pub(crate) fn made_relative(
        &mut self,
        id: FieldId,
        z: FieldId,
        c: FieldId,
    ) -> Result<Option<Vec<(FieldId, Term)>>> {
        let kind = self.f.fields[id].kind.clone();
        Ok(match kind {
            FieldKind::Binary { op: BinaryOp::Add, x, y } if self.is_real(id) => self.log_add_exp(x, y, c)?,
            FieldKind::Unary { op: UnaryOp::Log, x } if self.accepts(x) => Some(vec![(x, Term::Relative(c))]),
            FieldKind::Unary { op: UnaryOp::Log1p, x } if self.accepts(x) && self.is_positive(x, DEPTH) => {
                let one = self.number(x, 1.0);
                let sum = self.add(one, x)?;
                let share = self.share(x, one, sum)?;
                let term = self.mul(c, share)?;
                Some(vec![(x, Term::Relative(term))])
            }
            FieldKind::Unary { op: UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Cbrt, x } if self.accepts(x) => {
                let relative = self.relative_of(c, z)?;
                Some(self.relative_node(id, z, relative)?)
            }
            FieldKind::Binary { op: BinaryOp::Pow, x, y } if self.accepts(x) && !self.is_smooth(y) => {
                let relative = self.relative_of(c, z)?;
                Some(self.relative_node(id, z, relative)?)
            }
            FieldKind::Binary { op: BinaryOp::Div, x, y } if self.is_real(id) => {
                if let Some(terms) = self.shares_of_quotient(id, z, c)? {
                    return Ok(Some(terms));
                }
                let (left, right) = (self.accepts(x), self.accepts(y));
                if !left && !right {
                    return Ok(None);
                }
                let relative = self.relative_of(c, z)?;
                let mut terms = Vec::new();
                if left {
                    terms.push((x, Term::Relative(relative)));
                } else if self.is_smooth(x) {
                    terms.push((x, Term::Whole(self.div(c, y)?)));
                }
                if right {
                    terms.extend(self.divisor(x, y, z, relative)?);
                } else if self.is_smooth(y) {
                    let minus = self.neg(c)?;
                    let slope = self.div(z, y)?;
                    terms.push((y, Term::Whole(self.mul(minus, slope)?)));
                }
                Some(terms)
            }
            _ => None,
        })
    }

    /// `max(a, b) + log1p(e^(−|a − b|))`, which is `log(e^a + e^b)`: the derivatives are `logistic(±(a − b))`, though the
    /// two parts have corners at `a = b`.
    fn log_add_exp(&mut self, x: FieldId, y: FieldId, c: FieldId) -> Result<Option<Vec<(FieldId, Term)>>> {
        for (greater, rest) in [(x, y), (y, x)] {
            let top = self.look(greater);
            let FieldKind::Binary { op: BinaryOp::Max, x: a, y: b } = self.f.fields[top].kind else {
                continue;
            };
            if top != greater && !(self.is_named(a) && self.is_named(b)) || !self.is_correction(rest, a, b) {
                continue;
            }
            let mut terms = Vec::new();
            for (own, other) in [(a, b), (b, a)] {
                if self.is_smooth(own) {
                    let distance = self.sub(own, other)?;
                    let share = self.unary(UnaryOp::Logistic, distance)?;
                    terms.push((own, Term::Whole(self.mul(c, share)?)));
                }
            }
            return Ok(Some(terms));
        }
        Ok(None)
    }

    /// Is it `log1p(e^(−|a − b|))`?
    fn is_correction(&self, field: FieldId, a: FieldId, b: FieldId) -> bool {
        let mut field = self.look(field);
        for wanted in [UnaryOp::Log1p, UnaryOp::Exp, UnaryOp::Neg, UnaryOp::Abs] {
            match self.f.fields[field].kind {
                FieldKind::Unary { op, x } if op == wanted => field = self.look(x),
                _ => return false,
            }
        }
        match self.f.fields[field].kind {
            FieldKind::Binary { op: BinaryOp::Sub, x, y } => {
                self.same(x, a) && self.same(y, b) || self.same(x, b) && self.same(y, a)
            }
            _ => {
                let alone = |own, other| self.look(own) == field && self.number_of(other) == Some(0.0);
                alone(a, b) || alone(b, a)
            }
        }
    }

    /// The relative cotangent of a value `z` with the cotangent `c`: nothing where a function that saturates gives
    /// nothing, though `z` has overflowed.
    fn relative_of(&mut self, c: FieldId, z: FieldId) -> Result<FieldId> {
        let relative = self.mul(c, z)?;
        if self.is_saturating(c) { self.absorbed(c, relative) } else { Ok(relative) }
    }

    /// What a node with the relative cotangent `r` passes on.
    pub(crate) fn relative_node(
        &mut self,
        id: FieldId,
        z: FieldId,
        r: FieldId,
    ) -> Result<Vec<(FieldId, Term)>> {
        let kind = self.f.fields[id].kind.clone();
        Ok(match kind {
            FieldKind::Convert { x } => {
                let dtype = self.dtype(x);
                vec![(x, Term::Relative(self.converted(dtype, r)?))]
            }
            FieldKind::Unary { op, x } => vec![match op {
                UnaryOp::Exp => (x, Term::Whole(r)),
                UnaryOp::Logistic => {
                    let one = self.number(z, 1.0);
                    let rest = self.sub(one, z)?;
                    (x, Term::Whole(self.mul(r, rest)?))
                }
                UnaryOp::Cosh => {
                    let ratio = self.unary(UnaryOp::Tanh, x)?;
                    (x, Term::Whole(self.mul(r, ratio)?))
                }
                UnaryOp::Sqrt => (x, Term::Relative(self.scale(0.5, r)?)),
                UnaryOp::Rsqrt => (x, Term::Relative(self.scale(-0.5, r)?)),
                UnaryOp::Cbrt => (x, Term::Relative(self.scale(1.0 / 3.0, r)?)),
                _ => (x, Term::Relative(r)),
            }],
            FieldKind::Binary { op: BinaryOp::Pow, x, y } => {
                vec![(x, Term::Relative(self.mul(y, r)?))]
            }
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                let smooth = [x, y].into_iter().filter(|&child| self.is_smooth(child));
                smooth.map(|child| (child, Term::Relative(r))).collect()
            }
            FieldKind::Binary { op: BinaryOp::Div, x, y } => {
                let mut terms = Vec::new();
                if self.is_smooth(x) {
                    terms.push((x, Term::Relative(r)));
                }
                if self.is_smooth(y) {
                    terms.extend(self.divisor(x, y, z, r)?);
                }
                terms
            }
            FieldKind::Binary { op: BinaryOp::Add, x, y } => {
                let mut terms = Vec::new();
                for (own, other) in [(x, y), (y, x)] {
                    if self.is_smooth(own) {
                        let share = self.share(own, other, z)?;
                        let mut term = self.mul(r, share)?;
                        if self.number_of(other).is_none() {
                            // Both may have underflowed, and the share be 0 / 0.
                            term = self.absorbed(r, term)?;
                        }
                        terms.push((own, Term::Relative(term)));
                    }
                }
                terms
            }
            _ => return Err(self.unsupported("a relative cotangent of what takes none")),
        })
    }

    /// What the divisor of the quotient `z = x / y` with the relative cotangent `r` gets. Where `z = k / (l + e)`, the
    /// share of `e` in the divisor is `1 − (l/k) z`.
    fn divisor(&mut self, x: FieldId, y: FieldId, z: FieldId, r: FieldId) -> Result<Vec<(FieldId, Term)>> {
        let minus = self.neg(r)?;
        if let Some(k) = self.number_of(x).filter(|&k| k != 0.0 && k.is_finite())
            && let Some((a, b)) = self.positive_sum(y)
        {
            for (constant, other) in [(a, b), (b, a)] {
                let Some(l) = self.number_of(constant) else { continue };
                if !self.accepts(other) || !(l / k).is_finite() {
                    continue;
                }
                let (one, part) = (self.number(z, 1.0), self.scale(l / k, z)?);
                let share = self.sub(one, part)?;
                return Ok(vec![(other, Term::Relative(self.mul(minus, share)?))]);
            }
        }
        Ok(vec![(y, Term::Relative(minus))])
    }

    /// The terms of a sum of two positive values, which can be named from the statement at hand.
    fn positive_sum(&mut self, field: FieldId) -> Option<(FieldId, FieldId)> {
        let sum = self.look(field);
        let FieldKind::Binary { op: BinaryOp::Add, x, y } = self.f.fields[sum].kind else { return None };
        let named = [x, y].iter().all(|&t| sum == field || self.is_named(t));
        (named && self.is_positive(x, DEPTH) && self.is_positive(y, DEPTH)).then_some((x, y))
    }

    /// Can another statement speak of it?
    fn is_named(&self, field: FieldId) -> bool {
        matches!(self.f.fields[field].kind, FieldKind::Tensor(_) | FieldKind::Const(_))
            || self.number_of(field).is_some()
    }

    /// `a/(a + b)` and `(a − b)/(a + b)` for positive `a` and `b`: the derivatives by `log a` and `log b` are
    /// `±z(1 − z)` and `±(1 − z)(1 + z)/2`.
    fn shares_of_quotient(
        &mut self,
        id: FieldId,
        z: FieldId,
        c: FieldId,
    ) -> Result<Option<Vec<(FieldId, Term)>>> {
        let FieldKind::Binary { x, y, .. } = self.f.fields[id].kind else { return Ok(None) };
        let Some((a, b)) = self.positive_sum(y) else { return Ok(None) };
        let takes = |s: &mut Sweep, t: FieldId| !s.is_smooth(t) || s.accepts(t);
        if !self.is_smooth(x) || !takes(self, a) || !takes(self, b) {
            return Ok(None);
        }
        let top = self.look(x);
        let difference = match self.f.fields[top].kind {
            FieldKind::Binary { op: BinaryOp::Sub, x: p, y: q } => Some((p, q)),
            _ => None,
        };
        let (sign, slope) = if self.same(x, a) || self.same(x, b) {
            let flipped = !self.same(x, a);
            let (own, other) = if flipped { (b, a) } else { (a, b) };
            let z = self.ratio(z, own, other)?;
            let one = self.number(z, 1.0);
            let rest = self.sub(one, z)?;
            (flipped, self.mul(z, rest)?)
        } else if let Some((p, q)) = difference
            && (self.same(p, a) && self.same(q, b) || self.same(p, b) && self.same(q, a))
        {
            // At least one is finite: a constant, or the exponentials of a number and its negative.
            if self.number_of(a).is_none() && self.number_of(b).is_none() && !self.opposite(a, b) {
                return Ok(None);
            }
            let (over, under) = (self.is_infinite(a)?, self.is_infinite(b)?);
            let saturated = self.binary(BinaryOp::Or, over, under)?;
            let one = self.number(z, 1.0);
            let z = self.select(saturated, one, z)?;
            let (above, below) = (self.add(one, z)?, self.sub(one, z)?);
            let below = self.scale(0.5, below)?;
            (!self.same(p, a), self.mul(above, below)?)
        } else {
            return Ok(None);
        };
        let plus = self.mul(c, slope)?;
        let minus = self.neg(plus)?;
        let (to_a, to_b) = if sign { (minus, plus) } else { (plus, minus) };
        let mut terms = Vec::new();
        for (term, value) in [(a, to_a), (b, to_b)] {
            if self.is_smooth(term) {
                terms.push((term, Term::Relative(value)));
            }
        }
        Ok(Some(terms))
    }

    /// Are these the exponentials of a value and its negative?
    fn opposite(&self, a: FieldId, b: FieldId) -> bool {
        let argument = |t: FieldId| match self.f.fields[self.look(t)].kind {
            FieldKind::Unary { op: UnaryOp::Exp, x } => Some(x),
            _ => None,
        };
        let negative = |t: FieldId| match self.f.fields[self.look(t)].kind {
            FieldKind::Unary { op: UnaryOp::Neg, x } => Some(x),
            _ => None,
        };
        let (Some(u), Some(v)) = (argument(a), argument(b)) else { return false };
        negative(u).is_some_and(|w| self.same(w, v)) || negative(v).is_some_and(|w| self.same(w, u))
    }

    /// `own / sum`, and 1 where `own` is infinite and `other` is not.
    fn share(&mut self, own: FieldId, other: FieldId, sum: FieldId) -> Result<FieldId> {
        let quotient = self.div(own, sum)?;
        self.ratio(quotient, own, other)
    }

    /// A share, and 1 where `own` is infinite and `other` is not.
    fn ratio(&mut self, share: FieldId, own: FieldId, other: FieldId) -> Result<FieldId> {
        if self.number_of(own).is_some() {
            return Ok(share);
        }
        let mut alone = self.is_infinite(own)?;
        if self.number_of(other).is_none() {
            let infinity = self.number(other, f64::INFINITY);
            let finite = self.binary(BinaryOp::Lt, other, infinity)?;
            alone = self.binary(BinaryOp::And, alone, finite)?;
        }
        let one = self.number(share, 1.0);
        self.select(alone, one, share)
    }

    /// Where is a positive value infinite?
    fn is_infinite(&mut self, x: FieldId) -> Result<FieldId> {
        let infinity = self.f.fields.constant(&self.space(x), Scalar::from_f64(self.dtype(x), f64::INFINITY));
        self.binary(BinaryOp::Eq, x, infinity)
    }
}
