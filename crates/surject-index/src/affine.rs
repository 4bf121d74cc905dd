//! Affine expressions over the axes of a space.

use crate::Space;
use std::fmt;

/// `Σ c_j · s_j + o` over the axes of a domain. One coefficient per axis of the domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    /// The coefficient of each axis.
    pub coeffs: Vec<i64>,
    /// The constant term.
    pub offset: i64,
}

/// The form of an affine expression, in the seeds' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component<'a> {
    /// A constant.
    Fixed(i64),
    /// One axis, as it is.
    Iter(usize),
    /// Anything else.
    Affine(&'a Affine),
}

impl Affine {
    /// A constant over `rank` axes.
    pub fn fixed(rank: usize, value: i64) -> Affine {
        Affine { coeffs: vec![0; rank], offset: value }
    }

    /// One axis of `rank` axes.
    pub fn axis(rank: usize, axis: usize) -> Affine {
        Affine::strided(rank, axis, 1, 0)
    }

    /// `stride * s_axis + offset` over `rank` axes.
    pub fn strided(rank: usize, axis: usize, stride: i64, offset: i64) -> Affine {
        let mut coeffs = vec![0; rank];
        coeffs[axis] = stride;
        Affine { coeffs, offset }
    }

    /// The number of axes of the domain.
    pub fn rank(&self) -> usize {
        self.coeffs.len()
    }

    /// The form of the expression.
    pub fn component(&self) -> Component<'_> {
        let mut used = self.coeffs.iter().enumerate().filter(|&(_, &c)| c != 0);
        match (used.next(), used.next()) {
            (None, _) => Component::Fixed(self.offset),
            (Some((axis, 1)), None) if self.offset == 0 => Component::Iter(axis),
            _ => Component::Affine(self),
        }
    }

    /// The axes with a coefficient that is not zero.
    pub fn used_axes(&self) -> impl Iterator<Item = usize> + '_ {
        self.coeffs.iter().enumerate().filter(|&(_, &c)| c != 0).map(|(axis, _)| axis)
    }

    /// The value at a point, clamped to the range of `i64` where it does not fit.
    pub fn eval(&self, point: &[i64]) -> i64 {
        let terms = self.coeffs.iter().zip(point);
        let value = terms
            .fold(i128::from(self.offset), |sum, (&c, &p)| sum.saturating_add(i128::from(c) * i128::from(p)));
        value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The same expression over more axes: `before` new axes in front and `after` behind, none of them used.
    pub fn embed(&self, before: usize, after: usize) -> Affine {
        let mut coeffs = vec![0; before];
        coeffs.extend_from_slice(&self.coeffs);
        coeffs.resize(before + self.coeffs.len() + after, 0);
        Affine { coeffs, offset: self.offset }
    }

    /// The smallest and largest value over a box of constant, positive extents; `None` when the extents are
    /// symbolic, zero, or the arithmetic overflows.
    pub fn range(&self, space: &Space) -> Option<(i64, i64)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for (&c, extent) in self.coeffs.iter().zip(space.extents()) {
            if c == 0 {
                continue;
            }
            let last = i64::try_from(extent.as_const()?).ok()?.checked_sub(1).filter(|&n| n >= 0)?;
            let reach = c.checked_mul(last)?;
            if reach < 0 {
                low = low.checked_add(reach)?;
            } else {
                high = high.checked_add(reach)?;
            }
        }
        Some((low, high))
    }

    /// The expression with every axis replaced by an expression: `self ∘ inner`, where `inner[j]` gives axis
    /// `j` over `rank` axes. `None` on overflow.
    pub fn substitute(&self, inner: &[Affine], rank: usize) -> Option<Affine> {
        let mut result = Affine::fixed(rank, self.offset);
        for (&c, component) in self.coeffs.iter().zip(inner) {
            if c != 0 {
                result = result.add_scaled(component, c)?;
            }
        }
        Some(result)
    }

    /// `self + factor * other`. `None` on overflow.
    pub fn add_scaled(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let coeffs = self
            .coeffs
            .iter()
            .zip(&other.coeffs)
            .map(|(a, b)| a.checked_add(b.checked_mul(factor)?))
            .collect::<Option<Vec<_>>>()?;
        Some(Affine { coeffs, offset: self.offset.checked_add(other.offset.checked_mul(factor)?)? })
    }

    /// Writes the expression with these names of axes.
    pub fn display<'a>(&'a self, names: &'a [String]) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            let mut first = true;
            for (axis, &c) in self.coeffs.iter().enumerate().filter(|&(_, &c)| c != 0) {
                let sign = match (first, c < 0) {
                    (true, true) => "-",
                    (true, false) => "",
                    (false, true) => " - ",
                    (false, false) => " + ",
                };
                f.write_str(sign)?;
                if c.unsigned_abs() != 1 {
                    write!(f, "{}*", c.unsigned_abs())?;
                }
                f.write_str(&names[axis])?;
                first = false;
            }
            match (first, self.offset) {
                (true, o) => write!(f, "{o}"),
                (false, 0) => Ok(()),
                (false, o) if o < 0 => write!(f, " - {}", o.unsigned_abs()),
                (false, o) => write!(f, " + {o}"),
            }
        })
    }
}

/// The default names of axes: `i j k l m n o p q r s`, then `d11`, `d12`, ….
pub fn axis_names(rank: usize) -> Vec<String> {
    const LETTERS: [&str; 11] = ["i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s"];
    (0..rank).map(|a| LETTERS.get(a).map_or_else(|| format!("d{a}"), |s| s.to_string())).collect()
}
