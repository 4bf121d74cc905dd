//! The image of a map, where it is a box of arithmetic progressions (DESIGN.md section 2).

use crate::cover::first_gap;
use crate::map::gcd;
use crate::{Affine, Extent, IndexMap, Space};
use std::collections::HashSet;

/// The numbers `start, start + stride, …`, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progression {
    /// The first number.
    pub start: i64,
    /// The step; 1 where there are fewer than two numbers.
    pub stride: i64,
    /// How many there are.
    pub count: u64,
}

impl IndexMap {
    /// The positions that are reached (from a point of the guarded domain), as one progression per axis of the
    /// codomain; `None` when the image is not their product, or is not decided: symbolic sizes, or more than
    /// 2^20 points to enumerate. Exact otherwise. An empty image has the count 0 on every axis, and none when the
    /// codomain has no axis.
    pub fn image(&self) -> Option<Vec<Progression>> {
        let rank = self.codomain().rank();
        let guarded = self.guarded_box()?;
        if guarded.is_empty() {
            return (rank > 0).then(|| vec![Progression { start: 0, stride: 1, count: 0 }; rank]);
        }
        if !guarded.rest.is_empty() {
            return self.image_by_enumeration();
        }
        // Every component alone: a progression whose stride divides all coefficients, or none at all.
        let mut result = Vec::with_capacity(rank);
        let mut digits = Vec::with_capacity(rank);
        let sizes = Space::new(guarded.size.iter().map(|n| Extent::Const(n.unsigned_abs())));
        for component in self.components() {
            let (low, high) = guarded.range(&component.coeffs, component.offset)?;
            let mut coeffs = component.coeffs.clone();
            for (c, &size) in coeffs.iter_mut().zip(&guarded.size) {
                if size == 1 {
                    *c = 0;
                }
            }
            let stride = coeffs.iter().fold(0, |g, c| gcd(g, c.unsigned_abs())).max(1);
            let stride = i64::try_from(stride).ok()?;
            coeffs.iter_mut().for_each(|c| *c /= stride);
            if first_gap(coeffs.iter().copied().zip(guarded.size.iter().copied())).is_some() {
                return None;
            }
            let count = u64::try_from((high - low) / i128::from(stride) + 1).ok()?;
            result.push(Progression { start: i64::try_from(low).ok()?, stride, count });
            let digit = Affine { coeffs, offset: 0 };
            let offset = digit.range(&sizes)?.0.checked_neg()?;
            digits.push(Affine { coeffs: digit.coeffs, offset });
        }
        // Together: the digits must cover the box of the counts.
        let codomain = Space::new(result.iter().map(|p| Extent::Const(p.count)));
        let covers = IndexMap::total(sizes, codomain, digits).ok()?.surjective().is_yes();
        covers.then_some(result)
    }

    /// The image of a map with guards on several axes.
    fn image_by_enumeration(&self) -> Option<Vec<Progression>> {
        let rank = self.codomain().rank();
        let guarded = self.guarded_box()?;
        if guarded.points()? > crate::decide::ENUMERATED {
            return None;
        }
        let image: HashSet<Vec<i64>> = guarded.iter().filter_map(|p| self.apply(&p)).collect();
        if image.is_empty() {
            return (rank > 0).then(|| vec![Progression { start: 0, stride: 1, count: 0 }; rank]);
        }
        let mut result = Vec::with_capacity(rank);
        let mut product = 1usize;
        for axis in 0..rank {
            let mut values: Vec<i64> = image.iter().map(|p| p[axis]).collect();
            values.sort_unstable();
            values.dedup();
            let stride = if values.len() > 1 { values[1] - values[0] } else { 1 };
            if values.windows(2).any(|w| w[1] - w[0] != stride) {
                return None;
            }
            product = product.checked_mul(values.len())?;
            result.push(Progression { start: values[0], stride, count: values.len() as u64 });
        }
        (product == image.len()).then_some(result)
    }
}
