//! Index spaces: products of ranges.

use crate::Extent;
use std::fmt;
use std::sync::Arc;

/// The index space `{0..n_0-1} × … × {0..n_r-1}`. Rank 0 has one point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Space(Arc<[Extent]>);

impl Space {
    /// The product of these ranges.
    pub fn new(extents: impl IntoIterator<Item = Extent>) -> Space {
        Space(extents.into_iter().collect())
    }

    /// The product of ranges of constant size.
    pub fn of(sizes: &[u64]) -> Space {
        Space::new(sizes.iter().map(|&n| Extent::Const(n)))
    }

    /// The space with one point.
    pub fn scalar() -> Space {
        Space::of(&[])
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extents, axis by axis.
    pub fn extents(&self) -> &[Extent] {
        &self.0
    }

    /// The extent of an axis.
    pub fn extent(&self, axis: usize) -> &Extent {
        &self.0[axis]
    }

    /// The sizes, if every one is known at compile time and fits in `i64`.
    pub fn sizes(&self) -> Option<Vec<i64>> {
        self.0.iter().map(|e| e.as_const().and_then(|n| i64::try_from(n).ok())).collect()
    }

    /// The number of points, if it is known and fits.
    pub fn points(&self) -> Option<u64> {
        // A zero anywhere makes the product zero, also where another factor is large.
        let sizes = self.0.iter().map(Extent::as_const).collect::<Option<Vec<u64>>>()?;
        if sizes.contains(&0) {
            return Some(0);
        }
        sizes.into_iter().try_fold(1u64, u64::checked_mul)
    }

    /// Is it certain that there is no point?
    pub fn is_empty(&self) -> bool {
        self.0.iter().any(|e| e.as_const() == Some(0))
    }

    /// The product of two spaces, the axes of `self` first.
    pub fn product(&self, other: &Space) -> Space {
        Space::new(self.0.iter().chain(other.0.iter()).cloned())
    }

    /// The space of some axes, in the order given.
    pub fn select(&self, axes: &[usize]) -> Space {
        Space::new(axes.iter().map(|&a| self.0[a].clone()))
    }

    /// Every point in row-major order, if the sizes are known: for tests and the reference interpreter.
    pub fn iter_points(&self) -> Option<Points> {
        let sizes = self.sizes()?;
        let next = (!sizes.contains(&0)).then(|| vec![0; sizes.len()]);
        Some(Points { sizes, next })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, e) in self.0.iter().enumerate() {
            write!(f, "{}{e}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

/// The points of a space in row-major order.
#[derive(Clone, Debug)]
pub struct Points {
    sizes: Vec<i64>,
    next: Option<Vec<i64>>,
}

impl Iterator for Points {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for axis in (0..self.sizes.len()).rev() {
            following[axis] += 1;
            if following[axis] < self.sizes[axis] {
                self.next = Some(following);
                break;
            }
            following[axis] = 0;
        }
        Some(current)
    }
}
