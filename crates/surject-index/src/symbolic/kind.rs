//! What is guaranteed of sizes, and how guarantees go through arithmetic (seed 002; reference/extents.md, section
//! 3.4).
//!
//! Nothing here gives an expression away without its guarantee: [`ShapeExtent::require_exact`] is the door to a shape
//! that a run is built from, [`ShapeExtent::bound`] the one to a bound.

use super::facts::{Fact, Facts, Relation};
use crate::{Extent, ShapeExtent, Verdict};
use std::fmt;
use thiserror::Error;

/// What was found where an exact size was needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// An exact size that is not a constant, where a constant was needed.
    Symbolic(Extent),
    /// An upper bound.
    UpperBound(Extent),
    /// Nothing.
    Unknown,
}

/// A size that is less than what its user needs.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{primitive}` needs {needed} for {field}; {observed}")]
pub struct UnsupportedDynamicShape {
    /// The operation.
    pub primitive: String,
    /// The part of it that needs the size, as `shape[0]` or `slice_sizes[1]`.
    pub field: String,
    /// What it needs: an exact size, or a constant one.
    pub needed: &'static str,
    /// What was found.
    pub observed: Observed,
}

/// Two statements about one axis that cannot both be true.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the size `{left}` and the size `{right}` cannot be of one axis")]
pub struct Clash {
    /// The one.
    pub left: ShapeExtent,
    /// The other.
    pub right: ShapeExtent,
}

/// What two statements about one axis say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The stronger statement.
    pub extent: ShapeExtent,
    /// What a run must check for it, where the facts do not say so.
    pub guard: Option<Fact>,
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observed::Symbolic(extent) => write!(f, "the size is symbolic: `{extent}`"),
            Observed::UpperBound(extent) => write!(f, "only an upper bound is known: `{extent}`"),
            Observed::Unknown => f.write_str("the size is unknown"),
        }
    }
}

/// `= n`, `<= n` or `?`
impl fmt::Display for ShapeExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeExtent::Exact(extent) => write!(f, "= {extent}"),
            ShapeExtent::UpperBound(extent) => write!(f, "<= {extent}"),
            ShapeExtent::Unknown => f.write_str("?"),
        }
    }
}

impl From<Extent> for ShapeExtent {
    fn from(extent: Extent) -> ShapeExtent {
        ShapeExtent::Exact(extent)
    }
}

use ShapeExtent::{Exact, Unknown, UpperBound};

impl ShapeExtent {
    /// Is the true size known as an expression? It need not be a constant.
    pub fn is_exact(&self) -> bool {
        matches!(self, Exact(_))
    }

    /// An expression that the size is at most.
    pub fn bound(&self) -> Option<&Extent> {
        match self {
            Exact(extent) | UpperBound(extent) => Some(extent),
            Unknown => None,
        }
    }

    /// The true size, for the shape parameter `field` of `primitive`.
    ///
    /// # Errors
    /// An upper bound, or nothing, is known instead.
    pub fn require_exact(&self, primitive: &str, field: &str) -> Result<&Extent, UnsupportedDynamicShape> {
        let observed = match self {
            Exact(extent) => return Ok(extent),
            UpperBound(extent) => Observed::UpperBound(extent.clone()),
            Unknown => Observed::Unknown,
        };
        let (primitive, field) = (primitive.to_string(), field.to_string());
        Err(UnsupportedDynamicShape { primitive, field, needed: "the exact size", observed })
    }

    /// The true size as a number.
    ///
    /// # Errors
    /// The size is symbolic, or less than exact.
    pub fn require_constant(&self, primitive: &str, field: &str) -> Result<u64, UnsupportedDynamicShape> {
        let needed = "a constant size";
        let fail = |observed| {
            let (primitive, field) = (primitive.to_string(), field.to_string());
            UnsupportedDynamicShape { primitive, field, needed, observed }
        };
        match self.require_exact(primitive, field) {
            Ok(Extent::Const(value)) => Ok(*value),
            Ok(extent) => Err(fail(Observed::Symbolic(extent.clone()))),
            Err(error) => Err(fail(error.observed)),
        }
    }

    /// The size of both, one after the other.
    pub fn sum(&self, other: &ShapeExtent) -> ShapeExtent {
        self.growing(other, Extent::sum)
    }

    /// The size of the axis that two axes are merged into.
    pub fn product(&self, other: &ShapeExtent) -> ShapeExtent {
        let zero = Exact(Extent::Const(0));
        if *self == zero || *other == zero { zero } else { self.growing(other, Extent::product) }
    }

    /// `self - other`. A bound of what is taken away says nothing: at least nothing is taken away.
    pub fn difference(&self, other: &ShapeExtent) -> ShapeExtent {
        match (self, other) {
            (Exact(a), Exact(b)) => Exact(Extent::difference(a.clone(), b.clone())),
            (UpperBound(a), Exact(b)) => UpperBound(Extent::difference(a.clone(), b.clone())),
            (Exact(a) | UpperBound(a), UpperBound(_) | Unknown) => UpperBound(a.clone()),
            (Unknown, _) => Unknown,
        }
    }

    /// `⌊self / other⌋`, where the size `other` is known to be at least `divisor_at_least`.
    pub fn floor_div(&self, other: &ShapeExtent, divisor_at_least: u64) -> ShapeExtent {
        match (self, other) {
            (Exact(a), Exact(b)) => Exact(Extent::floor_div(a.clone(), b.clone())),
            (UpperBound(a), Exact(b)) => UpperBound(Extent::floor_div(a.clone(), b.clone())),
            (Exact(a) | UpperBound(a), UpperBound(_) | Unknown) if divisor_at_least >= 1 => {
                UpperBound(Extent::floor_div(a.clone(), Extent::Const(divisor_at_least)))
            }
            _ => Unknown,
        }
    }

    /// The smaller of both.
    pub fn min(&self, other: &ShapeExtent) -> ShapeExtent {
        match (self, other) {
            (Unknown, Exact(a) | UpperBound(a)) | (Exact(a) | UpperBound(a), Unknown) => {
                UpperBound(a.clone())
            }
            _ => self.growing(other, Extent::min),
        }
    }

    /// The larger of both.
    pub fn max(&self, other: &ShapeExtent) -> ShapeExtent {
        self.growing(other, Extent::max)
    }

    /// The size of an axis of this size after `DynamicTruncate` by a runtime scalar, whose size is given where the
    /// scalar can be named (`truncate_size(in1)`). The size before is only a bound of it.
    pub fn truncated(&self, size: Option<&Extent>) -> ShapeExtent {
        match size {
            Some(size) => self.min(&Exact(size.clone())),
            None => self.bound().map_or(Unknown, |bound| UpperBound(bound.clone())),
        }
    }

    /// An operation that never falls when an operand grows.
    fn growing(&self, other: &ShapeExtent, f: fn(Extent, Extent) -> Extent) -> ShapeExtent {
        match (self, other) {
            (Exact(a), Exact(b)) => Exact(f(a.clone(), b.clone())),
            (Unknown, _) | (_, Unknown) => Unknown,
            (Exact(a) | UpperBound(a), Exact(b) | UpperBound(b)) => UpperBound(f(a.clone(), b.clone())),
        }
    }

    /// What two true statements about one axis say together. Operands of an elementwise operation have one size, so
    /// that an upper bound of the one becomes exact only with the guard that the sizes are equal, which is the
    /// caller's to record.
    ///
    /// # Errors
    /// They cannot both be true.
    pub fn meet(&self, other: &ShapeExtent, facts: &Facts) -> Result<Meeting, Clash> {
        let clash = || Clash { left: self.clone(), right: other.clone() };
        let needs = |left: &Extent, relation, right: &Extent| match facts.compare(left, relation, right) {
            Verdict::Yes(()) => Ok(None),
            Verdict::No(()) => Err(clash()),
            Verdict::Unknown => Ok(Some(Fact::new(left.clone(), relation, right.clone()))),
        };
        let (extent, guard) = match (self, other) {
            (Exact(a), Exact(b)) => {
                let (small, large) = if size_of(b) < size_of(a) { (b, a) } else { (a, b) };
                (Exact(small.clone()), needs(small, Relation::Eq, large)?)
            }
            (Exact(a), UpperBound(b)) | (UpperBound(b), Exact(a)) => {
                (Exact(a.clone()), needs(a, Relation::Le, b)?)
            }
            (UpperBound(a), UpperBound(b)) => (UpperBound(least(a, b, facts)), None),
            (known, Unknown) | (Unknown, known) => (known.clone(), None),
        };
        Ok(Meeting { extent, guard })
    }

    /// What is true of an axis that is either the one or the other: a result of branches.
    pub fn join(&self, other: &ShapeExtent, facts: &Facts) -> ShapeExtent {
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            (Exact(a), Exact(b)) if facts.same(a, b).is_yes() => {
                Exact(if size_of(b) < size_of(a) { b.clone() } else { a.clone() })
            }
            (Exact(a) | UpperBound(a), Exact(b) | UpperBound(b)) => UpperBound(greatest(a, b, facts)),
        }
    }

    /// Does every run that satisfies `self` satisfy `other` (`self ⊑ other`)?
    pub fn implies(&self, other: &ShapeExtent, facts: &Facts) -> Verdict {
        match (self, other) {
            (_, Unknown) => Verdict::Yes(()),
            (Exact(a), Exact(b)) => facts.same(a, b),
            (Exact(a), UpperBound(b)) => facts.compare(a, Relation::Le, b),
            // A smaller bound is a stronger statement; a larger one says nothing against the other.
            (UpperBound(a), UpperBound(b)) if facts.compare(a, Relation::Le, b).is_yes() => Verdict::Yes(()),
            // A size of at most 0 is 0.
            (UpperBound(a), Exact(b)) if a == b && a.as_const() == Some(0) => Verdict::Yes(()),
            _ => Verdict::Unknown,
        }
    }
}

/// The number of nodes and the expression, to prefer the smaller one in a fixed order.
fn size_of(extent: &Extent) -> (usize, &Extent) {
    (extent.nodes(), extent)
}

fn least(a: &Extent, b: &Extent, facts: &Facts) -> Extent {
    if facts.compare(a, Relation::Le, b).is_yes() {
        a.clone()
    } else if facts.compare(b, Relation::Le, a).is_yes() {
        b.clone()
    } else {
        Extent::min(a.clone(), b.clone())
    }
}

fn greatest(a: &Extent, b: &Extent, facts: &Facts) -> Extent {
    if facts.compare(a, Relation::Le, b).is_yes() {
        b.clone()
    } else if facts.compare(b, Relation::Le, a).is_yes() {
        a.clone()
    } else {
        Extent::max(a.clone(), b.clone())
    }
}
