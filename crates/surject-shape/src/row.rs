//! Rows: two flanks of dimensions and the marker between them, where a row grows.

use crate::dim::{Dim, DimTerm};
use std::fmt;

/// An unknown stretch of axes of one solver; it stands at the marker of a row term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RowVar(pub(crate) u32);

/// A row term `l · ⟨ρ⟩ · r` (open) or `l · ⋄ · r` (closed).
///
/// The leading flank is anchored at the front, the trailing flank at the back. Substituting the variable splices the
/// flanks of its value between those of the host, so a flank never moves away from its edge.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Row {
    /// The leading flank.
    pub lead: Vec<DimTerm>,
    /// The variable at the marker; `None` is a closed marker.
    pub var: Option<RowVar>,
    /// The trailing flank.
    pub trail: Vec<DimTerm>,
}

impl Row {
    /// The empty row, the bottom of the order.
    pub fn empty() -> Row {
        Row::default()
    }

    /// A row that is nothing but a variable.
    pub fn open(var: RowVar) -> Row {
        Row { lead: Vec::new(), var: Some(var), trail: Vec::new() }
    }

    /// A closed row with all its axes in the trailing flank, as literals have them.
    pub fn closed(dims: impl IntoIterator<Item = impl Into<DimTerm>>) -> Row {
        Row { lead: Vec::new(), var: None, trail: dims.into_iter().map(Into::into).collect() }
    }

    /// A row of two flanks with the given marker.
    pub fn new(lead: Vec<DimTerm>, var: Option<RowVar>, trail: Vec<DimTerm>) -> Row {
        Row { lead, var, trail }
    }

    /// The number of axes that are written out.
    pub fn explicit(&self) -> usize {
        self.lead.len() + self.trail.len()
    }

    /// The axes that are written out, in order, without the marker.
    pub fn dims(&self) -> impl Iterator<Item = DimTerm> + '_ {
        self.lead.iter().chain(&self.trail).copied()
    }

    /// Puts the value of the variable at the marker.
    pub fn splice(&mut self, value: &Row) {
        self.lead.extend_from_slice(&value.lead);
        if !value.trail.is_empty() {
            let mut trail = Vec::with_capacity(value.trail.len() + self.trail.len());
            trail.extend_from_slice(&value.trail);
            trail.extend_from_slice(&self.trail);
            self.trail = trail;
        }
        self.var = value.var;
    }
}

/// A row without variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct GroundRow {
    /// The leading flank.
    pub lead: Vec<Dim>,
    /// The trailing flank.
    pub trail: Vec<Dim>,
}

impl GroundRow {
    /// The axes in order, without the marker.
    pub fn flat(&self) -> Vec<Dim> {
        self.lead.iter().chain(&self.trail).copied().collect()
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.lead.len() + self.trail.len()
    }

    /// Equality of rows is blind to the marker.
    pub fn same_axes(&self, other: &GroundRow) -> bool {
        self.rank() == other.rank()
            && self.lead.iter().chain(&self.trail).eq(other.lead.iter().chain(&other.trail))
    }

    /// The order: each flank fits into the other's flank at its edge, axis for axis. The axes of the larger row that
    /// are not reached meet units inserted at the marker of the smaller one, which asks nothing of them.
    pub fn broadcasts_to(&self, other: &GroundRow) -> bool {
        self.lead.len() <= other.lead.len()
            && self.trail.len() <= other.trail.len()
            && self.lead.iter().zip(&other.lead).all(|(a, b)| a.broadcasts_to(*b))
            && self.trail.iter().rev().zip(other.trail.iter().rev()).all(|(a, b)| a.broadcasts_to(*b))
    }
}

/// `3,<>,4:rgb`.
impl fmt::Display for GroundRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dim in &self.lead {
            write!(f, "{dim},")?;
        }
        f.write_str("<>")?;
        for dim in &self.trail {
            write!(f, ",{dim}")?;
        }
        Ok(())
    }
}
