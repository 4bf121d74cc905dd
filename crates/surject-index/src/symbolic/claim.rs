//! A claim that cannot hold, as a linear program over monomials.
//!
//! Every variable with a lower bound is written as the bound and what is above it, so that its powers and products are
//! not negative. To the facts come the definitions of floor divisions (`d·q ≤ x ≤ d·q + d - 1`) and maxima
//! (`m ≥ x_i`), products of these with variables and each other where they speak of monomials that occur, and
//! `x² ≥ x`, which integers satisfy. A contradiction in rational numbers, each monomial a variable of its own, is one.

use super::given::Given;
use super::normal::{Atom, Size, atoms, collect};
use super::poly::{Checked, Monomial, Poly};
use super::simplex::{Row, infeasible};
use std::collections::{BTreeMap, BTreeSet};

const MAX_CONSTRAINTS: usize = 90;
const MAX_MULTIPLIERS: usize = 24;
const MAX_DEGREE: usize = 4;
const MAX_PIVOTS: usize = 120;

type Form = Poly<u16>;

pub(super) struct Claim {
    /// Not negative, or zero where marked.
    constraints: BTreeSet<(Form, bool)>,
    /// Which variables are not negative.
    nonnegative: Vec<bool>,
}

impl Claim {
    /// The claim that `goal ≤ -1` under what is given, or under the part of it that has to do with the goal. `None`
    /// if a number does not fit.
    pub(super) fn new(
        given: &Given,
        goal: &Size,
        everything: bool,
        is_nonnegative: &dyn Fn(&Size) -> bool,
    ) -> Option<Claim> {
        let mut involved = atoms(goal);
        if everything {
            given.nonnegative.iter().chain(&given.zero).for_each(|size| collect(size, &mut involved));
        }
        let (nonnegative, zero) = given.relevant(&mut involved);
        let mut sizes: Vec<(Size, bool)> = nonnegative.into_iter().map(|s| (s.clone(), false)).collect();
        sizes.extend(zero.into_iter().map(|s| (s.clone(), true)));
        let mut lows: BTreeMap<Atom, Option<i128>> = BTreeMap::new();
        for atom in &involved {
            let range = given.context.atom_range(atom);
            let mut low = range.lower();
            let is_low = low.is_some_and(|low| low >= 0);
            let v = Poly::variable(atom.clone());
            match atom {
                Atom::Leaf(_) | Atom::Quotient(_) => {}
                Atom::FloorDiv(parts) => {
                    let (x, d) = (&parts.0, &parts.1);
                    // Where the divisor may be below 1, nothing is known of the quotient.
                    if d.as_const().is_some_and(|d| d < 1) || !is_nonnegative(&d.plus(-1).ok()?) {
                        lows.insert(atom.clone(), low);
                        continue;
                    }
                    let rest = x.sub(&d.mul(&v).ok()?).ok()?;
                    sizes.push((d.plus(-1).ok()?.sub(&rest).ok()?, false));
                    sizes.push((rest, false));
                    if !is_low && is_nonnegative(x) {
                        low = Some(0);
                    }
                }
                Atom::Max(operands) => {
                    for operand in operands.iter() {
                        sizes.push((v.sub(operand).ok()?, false));
                    }
                    if !is_low && operands.iter().any(is_nonnegative) {
                        low = Some(0);
                    }
                }
            }
            if let Some(high) = range.upper() {
                sizes.push((Poly::constant(high).sub(&v).ok()?, false));
            }
            lows.insert(atom.clone(), low);
        }
        sizes.push((goal.scale(-1).ok()?.plus(-1).ok()?, false));
        let numbers: BTreeMap<&Atom, u16> = lows.keys().zip(0..).collect();
        let shifted = |atom: &Atom| {
            let low = lows.get(atom).copied().flatten().unwrap_or(0);
            Poly::shifted(numbers.get(atom).copied().unwrap_or(u16::MAX), low)
        };
        let mut constraints = BTreeSet::new();
        for (size, is_zero) in &sizes {
            let form = size.substituted(shifted).ok()?;
            constraints.insert((if *is_zero { form } else { form.tightened() }, *is_zero));
        }
        let nonnegative = lows.values().map(Option::is_some).collect();
        Some(Claim { constraints, nonnegative })
    }

    /// Is it certain that it cannot hold?
    pub(super) fn refuted(mut self) -> bool {
        if self.is_contradictory() {
            return true;
        }
        // Without products first: most claims are linear, and the small program is quick.
        self.add_squares();
        if self.is_infeasible() {
            return true;
        }
        let before = self.constraints.len();
        self.add_products().is_ok() && self.constraints.len() > before && self.is_infeasible()
    }

    fn is_contradictory(&self) -> bool {
        self.constraints.iter().any(|(form, is_zero)| match form.as_const() {
            Some(value) => value < 0 || *is_zero && value != 0,
            None => *is_zero && form.content() > 0 && form.constant_term() % form.content() != 0,
        })
    }

    /// The monomials of degree 2 and more that occur.
    fn nonlinear(&self) -> BTreeSet<Monomial<u16>> {
        let all = self.constraints.iter().flat_map(|(form, _)| form.terms());
        all.filter(|(m, _)| m.len() >= 2).map(|(m, _)| m.clone()).collect()
    }

    /// `x² ≥ x` and `x² ≥ -x` hold for integers: for variables whose square occurs, and for differences of two whose
    /// product occurs.
    fn add_squares(&mut self) {
        for monomial in self.nonlinear() {
            let [v, w] = monomial[..] else { continue };
            let x = if v == w { Ok(Poly::variable(v)) } else { Poly::variable(v).sub(&Poly::variable(w)) };
            for sign in [1, -1] {
                let form = x.as_ref().ok().and_then(|x| x.mul(x).ok()?.add(&x.scale(sign).ok()?).ok());
                self.constraints.extend(form.map(|f| (f, false)));
            }
        }
    }

    /// Products of constraints with variables that are not negative, and with each other.
    fn add_products(&mut self) -> Checked<()> {
        let wanted = self.nonlinear();
        if wanted.is_empty() {
            return Ok(());
        }
        let highest = wanted.iter().map(Vec::len).max().unwrap_or(2).min(MAX_DEGREE);
        let base: Vec<(Form, bool)> =
            self.constraints.iter().filter(|(f, _)| f.as_const().is_none()).cloned().collect();
        let speaks_of = |form: &Form, wanted: &BTreeSet<Monomial<u16>>, all: bool| {
            let mut terms = form.terms().iter().filter(|(m, _)| m.len() >= 2);
            form.degree() <= highest
                && if all {
                    terms.all(|(m, _)| wanted.contains(m))
                } else {
                    terms.any(|(m, _)| wanted.contains(m))
                }
        };
        let mut multipliers: BTreeSet<(usize, Monomial<u16>)> = BTreeSet::new();
        for monomial in &wanted {
            // The proper parts of a monomial: a bit for each of its variables.
            for part in 1..(1u32 << monomial.len().min(MAX_DEGREE)) {
                let chosen = |i: usize| part & (1 << i) != 0;
                let part: Monomial<u16> =
                    monomial.iter().enumerate().filter(|(i, _)| chosen(*i)).map(|(_, v)| *v).collect();
                if part.len() < monomial.len() {
                    multipliers.insert((part.len(), part));
                }
            }
        }
        for (_, multiplier) in multipliers.iter().take(MAX_MULTIPLIERS) {
            let is_nonnegative = self.is_nonnegative(multiplier);
            let factor = Poly::of([(multiplier.clone(), 1)])?;
            for (form, is_zero) in &base {
                if self.constraints.len() >= MAX_CONSTRAINTS || !(is_nonnegative || *is_zero) {
                    continue;
                }
                let product = form.mul(&factor)?;
                if speaks_of(&product, &wanted, false) {
                    self.constraints.insert((product, *is_zero));
                }
            }
        }
        let wanted = self.nonlinear();
        for (i, (form, is_zero)) in base.iter().enumerate() {
            for (other, other_is_zero) in &base[i + 1..] {
                if self.constraints.len() >= MAX_CONSTRAINTS {
                    return Ok(());
                }
                let product = form.mul(other)?;
                if speaks_of(&product, &wanted, true) {
                    self.constraints.insert((product, *is_zero || *other_is_zero));
                }
            }
        }
        Ok(())
    }

    /// Is a monomial never negative? Even powers are not.
    fn is_nonnegative(&self, monomial: &[u16]) -> bool {
        let known = |v: u16| self.nonnegative.get(usize::from(v)).copied().unwrap_or(false);
        monomial.chunk_by(|a, b| a == b).all(|same| same.len() % 2 == 0 || known(same[0]))
    }

    fn is_infeasible(&self) -> bool {
        if self.is_contradictory() {
            return true;
        }
        let all = self.constraints.iter().flat_map(|(form, _)| form.terms().iter().map(|(m, _)| m));
        let monomials: BTreeSet<&Monomial<u16>> = all.filter(|m| !m.is_empty()).collect();
        let row = |form: &Form, sign: i128| Row {
            constant: sign * form.constant_term(),
            coefficients: monomials.iter().map(|m| sign * form.coefficient(m)).collect(),
        };
        let mut rows = Vec::new();
        for (form, is_zero) in &self.constraints {
            rows.push(row(form, 1));
            if *is_zero {
                rows.push(row(form, -1));
            }
        }
        let free: Vec<bool> = monomials.iter().map(|m| !self.is_nonnegative(m)).collect();
        infeasible(&rows, &free, MAX_PIVOTS)
    }
}
