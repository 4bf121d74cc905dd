//! Extents as the verifier compares them: known, bounded or unknown.

use crate::types::{Dim, TensorType};

/// One extent: its size where it is known, otherwise its bound where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ext {
    pub size: Option<i64>,
    pub bound: Option<i64>,
}

impl Ext {
    /// Nothing is known.
    pub const ANY: Ext = Ext { size: None, bound: None };

    /// A known size.
    pub fn known(size: i64) -> Ext {
        Ext { size: Some(size), bound: None }
    }

    /// A known size that may exceed 64 bits; then it can equal none.
    pub fn wide(size: i128) -> Ext {
        Ext::known(i64::try_from(size).unwrap_or(i64::MAX))
    }

    /// The size, or else the bound.
    pub fn limit(self) -> Option<i64> {
        self.size.or(self.bound)
    }

    /// Whether the extents may be equal at run time: equal sizes, or a size within the bound of the other.
    pub fn fits(self, other: Ext) -> bool {
        match (self.size, other.size) {
            (Some(a), Some(b)) => a == b,
            (Some(a), None) => other.bound.is_none_or(|b| a <= b),
            (None, Some(b)) => self.bound.is_none_or(|a| b <= a),
            (None, None) => true,
        }
    }

    /// What is known of an extent that equals both.
    pub fn merge(self, other: Ext) -> Ext {
        if let Some(size) = self.size.or(other.size) {
            return Ext::known(size);
        }
        let bound = match (self.bound, other.bound) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Ext { size: None, bound }
    }

    /// The extent after a function that grows with its argument.
    pub fn map(self, f: impl Fn(i128) -> i128) -> Ext {
        let apply = |n: i64| i64::try_from(f(i128::from(n))).unwrap_or(i64::MAX);
        Ext { size: self.size.map(apply), bound: self.bound.map(apply) }
    }

    fn dim(self) -> Dim {
        self.size.map_or(Dim::Dynamic, Dim::Static)
    }
}

/// The extents of a type.
pub(super) fn extents(ty: &TensorType) -> Vec<Ext> {
    let ext = |(dim, bound): (&Dim, Option<i64>)| Ext { size: dim.known(), bound };
    match ty.encoding {
        None => ty.shape.iter().map(|dim| ext((dim, None))).collect(),
        Some(_) => ty.shape.iter().zip(ty.bounds()).map(ext).collect(),
    }
}

/// Whether two shapes may be equal at run time.
pub(super) fn fits(a: &[Ext], b: &[Ext]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.fits(*y))
}

/// What is known of a shape that equals both, which fit.
pub(super) fn merge(a: &[Ext], b: &[Ext]) -> Vec<Ext> {
    a.iter().zip(b).map(|(x, y)| x.merge(*y)).collect()
}

/// A tensor type of these extents, with their bounds as its encoding.
pub(super) fn tensor(shape: &[Ext], element: crate::types::ElementType) -> TensorType {
    let mut ty = TensorType::of(shape.iter().map(|e| e.dim()).collect(), element);
    if shape.iter().any(|e| e.size.is_none() && e.bound.is_some()) {
        let bound = |e: &Ext| match (e.size, e.bound) {
            (None, Some(bound)) => bound.to_string(),
            _ => "?".to_string(),
        };
        let bounds: Vec<String> = shape.iter().map(bound).collect();
        ty.encoding = Some(format!("#stablehlo.bounds<{}>", bounds.join(", ")));
    }
    ty
}

/// The product of the sizes, if all are known; a zero decides.
pub(super) fn product(shape: &[Ext]) -> Option<i128> {
    if shape.iter().any(|e| e.size == Some(0)) {
        return Some(0);
    }
    shape.iter().try_fold(1i128, |n, e| n.checked_mul(i128::from(e.size?)))
}
