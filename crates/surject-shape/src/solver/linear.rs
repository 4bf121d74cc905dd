//! Sums and scales as linear equations over sizes, solved together.
//!
//! A concatenation is the sum of its components, a strided axis a multiple, and a valid kernel
//! `stride·over + dilation·kernel − input = stride + dilation − 1`. All are linear, with whole coefficients; a variable that
//! occurs twice is a coefficient. Elimination finds what several of them say together.

use super::Solver;
use super::relations::Law;
use crate::dim::{DimTerm, DimVar};
use crate::error::ShapeErrorKind;
use crate::origin::Fact;
use std::collections::BTreeMap;

/// More equations that hang together than this are not eliminated; intervals still go through them.
const ELIMINATED: usize = 48;

/// `Σ coefficient·variable = constant`, over the sizes of open variables.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) terms: BTreeMap<u32, i128>,
    pub(super) constant: i128,
    pub(super) fact: Fact,
    /// What is wrong where it has no solution.
    pub(super) kind: ShapeErrorKind,
    /// None of its axes may be empty: it is a stride or a kernel.
    pub(super) full: bool,
}

impl Linear {
    fn add(&mut self, var: u32, coefficient: i128) -> Option<()> {
        let term = self.terms.entry(var).or_insert(0);
        *term = term.checked_add(coefficient)?;
        if *term == 0 {
            self.terms.remove(&var);
        }
        Some(())
    }

    /// Divides by what all coefficients have in common, if the constant has it, too.
    fn reduce(&mut self) {
        let common = self.terms.values().fold(self.constant, |g, c| gcd(g, *c));
        if common > 1 {
            self.constant /= common;
            self.terms.values_mut().for_each(|c| *c /= common);
        }
    }

    /// The only variable, with its size if that is a whole number.
    pub(super) fn single(&self) -> Option<(u32, Option<i128>)> {
        let (var, coefficient) = self.terms.first_key_value()?;
        let size = (self.constant % coefficient == 0).then(|| self.constant / coefficient);
        (self.terms.len() == 1).then_some((*var, size))
    }
}

/// The greatest common divisor; that of zeros is zero.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

impl Solver {
    /// A sum or a scale as an equation over what is open; `None` for other laws and numbers that are too large.
    pub(super) fn linear(&mut self, law: &Law, fact: Fact) -> Option<Linear> {
        let (terms, constant, kind): (Vec<(DimTerm, i128)>, i128, _) = match law {
            Law::Concat { target, parts } => {
                let parts = parts.iter().map(|p| (*p, 1));
                (parts.chain([(*target, -1)]).collect(), 0, ShapeErrorKind::Concat)
            }
            Law::Affine { input, stride, over, kernel } => {
                let mut terms = vec![(*over, i128::from(*stride)), (*input, -1)];
                let mut constant = 0;
                if let Some(kernel) = kernel.filter(|k| !k.padded) {
                    terms.push((kernel.size, i128::from(kernel.dilation)));
                    constant = i128::from(*stride) + i128::from(kernel.dilation) - 1;
                }
                (terms, constant, ShapeErrorKind::Stride)
            }
            Law::Total { .. } | Law::Exact { .. } => return None,
        };
        let full = kind == ShapeErrorKind::Stride;
        let mut equation = Linear { terms: BTreeMap::new(), constant, fact, kind, full };
        for (term, coefficient) in terms {
            match self.known(term, &mut equation.fact) {
                Ok(dim) => {
                    let known = coefficient.checked_mul(i128::from(dim.size()?))?;
                    equation.constant = equation.constant.checked_sub(known)?;
                }
                Err(DimVar(root)) => equation.add(root, coefficient)?,
            }
        }
        Some(equation)
    }

    /// What follows from the equations together: each with a variable that no other has, as far as they go.
    pub(super) fn eliminated(&mut self, equations: &[Linear]) -> Vec<Linear> {
        if equations.len() < 2 || equations.len() > ELIMINATED {
            return Vec::new();
        }
        let mut rows: Vec<Linear> = equations.to_vec();
        let mut at = 0;
        while at < rows.len() {
            let Some(pivot) = rows[at].terms.keys().next().copied() else {
                at += 1;
                continue;
            };
            for other in 0..rows.len() {
                if other == at || !rows[other].terms.contains_key(&pivot) {
                    continue;
                }
                let Some(combined) = self.combined(&rows[other], &rows[at], pivot) else { return Vec::new() };
                rows[other] = combined;
            }
            at += 1;
        }
        rows
    }

    /// `a` without the variable, by a multiple of `b`; `None` where numbers become too large.
    fn combined(&mut self, a: &Linear, b: &Linear, pivot: u32) -> Option<Linear> {
        let (x, y) = (*a.terms.get(&pivot)?, *b.terms.get(&pivot)?);
        let common = gcd(x, y);
        // a·(y/g) − b·(x/g), with a positive factor for a.
        let (of_a, of_b) = if y > 0 { (y / common, x / common) } else { (-y / common, -x / common) };
        let fact = self.facts.follows(a.fact, b.fact);
        let constant = a.constant.checked_mul(of_a)?.checked_sub(b.constant.checked_mul(of_b)?)?;
        let mut sum = Linear { terms: BTreeMap::new(), constant, fact, kind: a.kind, full: false };
        for (var, c) in &a.terms {
            sum.add(*var, c.checked_mul(of_a)?)?;
        }
        for (var, c) in &b.terms {
            sum.add(*var, c.checked_mul(of_b)?.checked_neg()?)?;
        }
        sum.reduce();
        Some(sum)
    }
}
