//! The axes of a reduction on a machine of tasks: as few as tell apart what is kept, what is reduced, and what is a position.

use super::super::points::known;
use super::super::vectors::{are_pages, element_at, overflow};
use super::super::{Call, Lowered};
use super::Reduction;
use crate::expression::gather::strides;
use surject_ir::FieldKind;
use surject_kernel::Affine;

/// Axes that are merged; none is of one element but one whose positions are an operand.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    /// The sizes of the axes, and the elements from one to the next along each.
    pub(super) shape: Vec<i64>,
    pub(super) strides: Vec<i64>,
    /// Those that are reduced.
    pub(super) reduced: Vec<usize>,
    /// Which of these axes an axis of the operands is.
    place_of: Vec<usize>,
    /// Is the axis that is reduced, with the one before it, one of the operands, which is cut?
    is_cut: bool,
    /// Is the last axis kept, but too short for lanes? They lie along the one that is kept before it.
    pub(super) has_short_rows: bool,
}

/// What the elements of a line are cut into.
pub(super) struct Parts {
    /// The axes, of which the one before the one that is reduced numbers the parts.
    pub(super) axes: Merged,
    /// The axis that numbers the parts.
    pub(super) number: usize,
    /// The elements of all parts of a line: the others are left.
    pub(super) elements: i64,
}

impl Merged {
    pub(super) fn of(call: &Call<'_>, reduction: &Reduction<'_>) -> Lowered<Merged> {
        let is_position = |axis: usize| {
            let is_it = |kind: &FieldKind| matches!(kind, FieldKind::Index { axis: a } if *a == axis);
            reduction.operands.iter().any(|&v| known(call.function, v).is_some_and(is_it))
        };
        let is_reduced = |axis: &usize| reduction.reduced.contains(axis);
        let mut now = Merged::default();
        let mut before: Option<usize> = None;
        for (axis, &extent) in reduction.shape.iter().enumerate() {
            if extent == 1 && !is_position(axis) {
                now.place_of.push(now.shape.len().saturating_sub(1));
                continue;
            }
            let alike = before.is_some_and(|b| {
                is_reduced(&axis) == is_reduced(&b) && !is_position(axis) && !is_position(b)
            });
            match now.shape.last_mut() {
                Some(last) if alike => *last = last.checked_mul(extent).ok_or_else(overflow)?,
                _ => {
                    if is_reduced(&axis) {
                        now.reduced.push(now.shape.len());
                    }
                    now.shape.push(extent);
                }
            }
            now.place_of.push(now.shape.len() - 1);
            before = Some(axis);
        }
        now.strides = strides(&now.shape).ok_or_else(overflow)?;
        Ok(now)
    }

    pub(super) fn kept(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|a| !self.reduced.contains(a)).collect()
    }

    pub(super) fn sizes(&self, axes: &[usize]) -> Vec<i64> {
        axes.iter().map(|&a| self.shape[a]).collect()
    }

    /// How many elements of the last axis every lane has side by side.
    pub(super) fn row(&self) -> i64 {
        if self.has_short_rows { self.shape[self.shape.len() - 1] } else { 1 }
    }

    /// The axis that lanes lie along.
    pub(super) fn in_lanes(&self) -> Option<usize> {
        self.kept().iter().rev().nth(self.has_short_rows.into()).copied()
    }

    /// The elements of the result along the axis of the lanes.
    pub(super) fn neighbours(&self) -> i64 {
        self.in_lanes().map_or(1, |axis| self.shape[axis])
    }

    /// The same with lanes along the axis before the last one, where this is kept, lies inside one that is reduced, and has at
    /// most so many elements.
    pub(super) fn with_short_rows(mut self, longest: i64) -> Merged {
        if let (&[.., line, short], Some(&axis)) = (&self.shape[..], self.reduced.last()) {
            self.has_short_rows = axis + 2 == self.shape.len() && line > 1 && short <= longest;
        }
        self
    }

    /// The position of an element along an axis of the operands.
    pub(super) fn position(&self, axis: usize, at: &[Affine]) -> Lowered<Affine> {
        let place = self.place_of[axis];
        if self.is_cut && self.reduced.contains(&place) {
            return at[place].plus(&at[place - 1], self.shape[place]).ok_or_else(overflow);
        }
        Ok(at[place].clone())
    }

    /// The number of an element.
    pub(super) fn element(&self, at: &[Affine]) -> Lowered<Affine> {
        element_at(at, &self.strides)
    }

    /// A reduction of few long lines as one of many parts of them, all of the same length; the ends of the lines are left. Of
    /// `size` bytes are the elements of the first operand.
    pub(super) fn cut(&self, lanes: i64, threads: i64, size: i64) -> Option<Parts> {
        /// Parts for every thread, in vectors of them.
        const VECTORS: i64 = 2;
        /// Parts of fewer elements are not made to keep more threads busy.
        const SHORT: i64 = 256;
        let (&[at], row) = (&self.reduced[..], self.row()) else { return None };
        let (kept, inner) = (&self.shape[..at], &self.shape[at + 1..]);
        if inner.iter().product::<i64>() != row {
            return None;
        }
        let line = self.shape[at];
        let lines = kept.iter().product::<i64>().max(1);
        let vectors = (VECTORS * threads / lines).min(line / (lanes * SHORT)).max(1);
        let parts = lanes * vectors;
        let mut length = line / parts;
        if are_pages(length * row * size) {
            length -= lanes;
        }
        let axes = Merged {
            shape: [kept, &[parts, length], inner].concat(),
            strides: [&self.strides[..at], &[length * row], &self.strides[at..]].concat(),
            reduced: vec![at + 1],
            place_of: self.place_of.iter().map(|&p| if p >= at { p + 1 } else { p }).collect(),
            is_cut: true,
            has_short_rows: self.has_short_rows,
        };
        (length >= lanes).then_some(Parts { axes, number: at, elements: parts * length })
    }
}
