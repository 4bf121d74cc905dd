//! Addresses and bounds: sums of products of index values, and conditions on them.

use crate::Value;
use std::fmt;

/// A product `factor * v₁ * … * vₙ` of a number and values of type `i64`.
///
/// One of the values may be a loop variable; the others are sizes. So an address stays affine in the loops, and its
/// strides may be symbolic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// The values, sorted; at least one.
    pub values: Vec<Value>,
    /// The number; never 0.
    pub factor: i64,
}

/// `Σ terms + lane * l + offset`, where `l` is the number of the lane, from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    /// The terms, sorted by their values, which differ.
    pub terms: Vec<Term>,
    /// How much each lane adds.
    pub lane: i64,
    /// The constant.
    pub offset: i64,
}

/// The condition `0 ≤ expr < bound`, of every lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// The expression.
    pub expr: Affine,
    /// The bound.
    pub bound: Affine,
}

impl From<i64> for Affine {
    fn from(offset: i64) -> Affine {
        Affine { offset, ..Affine::default() }
    }
}

impl From<Value> for Affine {
    fn from(value: Value) -> Affine {
        Affine { terms: vec![Term { values: vec![value], factor: 1 }], ..Affine::default() }
    }
}

impl Affine {
    /// The number of the lane, times a factor.
    pub fn lane(factor: i64) -> Affine {
        Affine { lane: factor, ..Affine::default() }
    }

    /// The number that this is, where it is one.
    pub fn as_constant(&self) -> Option<i64> {
        (self.terms.is_empty() && self.lane == 0).then_some(self.offset)
    }

    /// The values it needs, some of them repeatedly.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.terms.iter().flat_map(|t| t.values.iter().copied())
    }

    /// `self + factor * other`; `None` where a number does not fit in 64 bits.
    pub fn plus(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let mut sum = self.clone();
        for term in &other.terms {
            let by = term.factor.checked_mul(factor)?;
            match sum.terms.binary_search_by(|t| t.values.cmp(&term.values)) {
                Ok(at) => sum.terms[at].factor = sum.terms[at].factor.checked_add(by)?,
                Err(at) => sum.terms.insert(at, Term { values: term.values.clone(), factor: by }),
            }
        }
        sum.terms.retain(|t| t.factor != 0);
        sum.lane = sum.lane.checked_add(other.lane.checked_mul(factor)?)?;
        sum.offset = sum.offset.checked_add(other.offset.checked_mul(factor)?)?;
        Some(sum)
    }

    /// `factor * self`; `None` where a number does not fit.
    pub fn times(&self, factor: i64) -> Option<Affine> {
        Affine::default().plus(self, factor)
    }

    /// The product with a value; `None` where lanes differ, whose product would be no affine expression.
    pub fn times_value(&self, by: Value) -> Option<Affine> {
        let mut product = Affine::default();
        let constant = (self.offset != 0).then(|| Term { values: Vec::new(), factor: self.offset });
        for mut term in self.terms.iter().cloned().chain(constant) {
            term.values.push(by);
            term.values.sort_unstable();
            product = product.plus(&Affine { terms: vec![term], ..Affine::default() }, 1)?;
        }
        (self.lane == 0).then_some(product)
    }

    /// The value at a lane; `None` where it does not fit in 64 bits.
    pub fn at(&self, lane: usize, value: &dyn Fn(Value) -> Option<i64>) -> Option<i64> {
        let mut sum = i64::try_from(lane).ok()?.checked_mul(self.lane)?.checked_add(self.offset)?;
        for term in &self.terms {
            let product = |product: i64, &v: &Value| product.checked_mul(value(v)?);
            sum = sum.checked_add(term.values.iter().try_fold(term.factor, product)?)?;
        }
        Some(sum)
    }

    /// The same with other values; `None` where a number does not fit.
    pub fn renamed(&self, name: &dyn Fn(Value) -> Value) -> Option<Affine> {
        let mut result = Affine { terms: Vec::new(), ..self.clone() };
        for term in &self.terms {
            let mut values: Vec<Value> = term.values.iter().map(|&v| name(v)).collect();
            values.sort_unstable();
            let term = Term { values, factor: term.factor };
            result = result.plus(&Affine { terms: vec![term], ..Affine::default() }, 1)?;
        }
        Some(result)
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(i64, String)> = Vec::new();
        for term in &self.terms {
            let names: Vec<String> = term.values.iter().map(Value::to_string).collect();
            parts.push((term.factor, names.join("*")));
        }
        if self.lane != 0 {
            parts.push((self.lane, "lane".to_string()));
        }
        for (i, (factor, product)) in parts.iter().enumerate() {
            let sign = match (i, *factor < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            match factor.unsigned_abs() {
                1 => write!(f, "{sign}{product}")?,
                size => write!(f, "{sign}{size}*{product}")?,
            }
        }
        match self.offset {
            offset if parts.is_empty() => write!(f, "{offset}"),
            0 => Ok(()),
            offset if offset < 0 => write!(f, " - {}", offset.unsigned_abs()),
            offset => write!(f, " + {offset}"),
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0 <= {} < {}", self.expr, self.bound)
    }
}
