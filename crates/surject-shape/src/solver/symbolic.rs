//! Symbolic sizes in the order `⊑` and in arithmetic (seed 002; reference/extents.md, sections 4.2 to 4.4).
//!
//! A symbolic size is rigid: the solver gives no size a value. It is an atom of the order, also where it may be 1.
//! Whether two of them are one is asked of the facts of the problem, in three values; where a constraint depends on an
//! answer that is not known, the error says which fact would decide it.

use super::relations::Law;
use super::{Solver, Task};
use crate::constraint::Elems;
use crate::dim::{Basis, Dim, DimTerm, DimVar, fuse};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use surject_index::{Extent, Fact as SizeFact, NoQuotient, Relation, Verdict};

impl Solver {
    /// Are two known dimensions certainly one?
    pub(super) fn is_one(&self, a: Dim, b: Dim) -> bool {
        a == b
            || (a.size().is_none() || b.size().is_none())
                && a.basis() == b.basis()
                && self.given.same(&a.extent(), &b.extent()).is_yes()
    }

    /// The error where two known dimensions may be one or not.
    pub(super) fn undecided_clash(&mut self, a: Dim, b: Dim, fact: Fact) -> Option<ShapeError> {
        let symbolic = a.size().is_none() || b.size().is_none();
        if !symbolic || a.basis() != b.basis() {
            return None;
        }
        let question = SizeFact::new(a.extent(), Relation::Eq, b.extent());
        let missing = self.missing(&question)?;
        let text = format!("`{a}` and `{b}` may be one size or two: `{missing}` would decide it");
        Some(self.error(ShapeErrorKind::UndecidedSize, text, fact))
    }

    /// The fact that would decide a question, where it is not decided.
    fn missing(&self, question: &SizeFact) -> Option<SizeFact> {
        match self.given.holds(question) {
            Verdict::Unknown => Some(self.given.residual(question)),
            Verdict::Yes(()) | Verdict::No(()) => None,
        }
    }

    /// Has a known dimension certainly so many positions?
    pub(super) fn reaches(&self, dim: Dim, least: u64) -> bool {
        match dim.size() {
            Some(size) => size >= least,
            None => least == 0 || self.given.holds(&at_least(dim, least)).is_yes(),
        }
    }

    /// The error where a known dimension may have so many positions or not.
    pub(super) fn undecided_reach(&mut self, dim: Dim, least: u64, fact: Fact) -> Option<ShapeError> {
        dim.size().is_none().then_some(())?;
        let missing = self.missing(&at_least(dim, least))?;
        let text = format!("an axis of size `{dim}` may be too small: `{missing}` would decide it");
        Some(self.error(ShapeErrorKind::UndecidedSize, text, fact))
    }

    /// The expression in normal form.
    fn tidy(&self, extent: Extent) -> Extent {
        self.given.normal(&extent).and_then(|normal| normal.to_extent()).unwrap_or(extent)
    }

    /// What must hold for a law to have a solution.
    fn needs(&mut self, question: &SizeFact, what: &str, fact: Fact) -> Result<(), ShapeError> {
        match self.given.holds(question) {
            Verdict::Yes(()) => Ok(()),
            Verdict::No(()) => {
                let text = format!("{what}: `{question}` never holds");
                Err(self.error(ShapeErrorKind::SizeMismatch, text, fact))
            }
            Verdict::Unknown => {
                let missing = self.given.residual(question);
                let text = format!("{what}: `{missing}` would decide it");
                Err(self.error(ShapeErrorKind::UndecidedSize, text, fact))
            }
        }
    }

    fn quotient(&mut self, total: &Extent, factor: &Extent, fact: Fact) -> Result<Extent, ShapeError> {
        match self.given.quotient(total, factor) {
            Ok(size) => Ok(self.tidy(size)),
            Err(error) => {
                let kind = match error {
                    NoQuotient::NotDivisible(_) => ShapeErrorKind::TotalElems,
                    NoQuotient::Underdetermined(_) | NoQuotient::Undecided(_) => {
                        ShapeErrorKind::UndecidedSize
                    }
                };
                Err(self.error(kind, error.to_string(), fact))
            }
        }
    }

    /// A law in which a known size is symbolic: whether it is used up. `None` for a law over numbers.
    pub(super) fn symbolic_law(&mut self, law: &Law, mut fact: Fact) -> Result<Option<bool>, ShapeError> {
        let is_symbolic = |solver: &Solver, term: DimTerm| matches!(solver.dim(term), DimTerm::Known(dim) if dim.size().is_none());
        match law {
            Law::Concat { target, parts } => {
                if !parts.iter().chain([target]).any(|t| is_symbolic(self, *t)) {
                    return Ok(None);
                }
                self.symbolic_concat(*target, parts, fact).map(Some)
            }
            Law::Affine { input, stride, over, kernel } => {
                let window = kernel.filter(|k| !k.padded).map(|k| (k.dilation, k.size));
                let terms = [Some(*input), Some(*over), window.map(|w| w.1)];
                if *stride == 1 && window.is_none() || !terms.iter().flatten().any(|t| is_symbolic(self, *t))
                {
                    return Ok(None);
                }
                self.symbolic_affine(*input, *stride, *over, window, fact).map(Some)
            }
            Law::Total { elems, rows, divided_by } => {
                let rows: Vec<_> = rows.iter().map(|row| self.row(row)).collect();
                let mut terms: Vec<DimTerm> = rows.iter().flat_map(|row| row.dims()).collect();
                terms.extend(divided_by);
                let numerator = match elems {
                    Elems::Strided { var, .. } => Some(*var),
                    Elems::Number(_) => None,
                };
                if !terms.iter().copied().chain(numerator).any(|t| is_symbolic(self, t)) {
                    return Ok(None);
                }
                let (mut product, mut open) = (Extent::Const(1), Vec::new());
                for term in terms {
                    match self.known(term, &mut fact) {
                        Ok(dim) => product = self.tidy(times(product, dim.extent())),
                        Err(var) => open.push(var),
                    }
                }
                let open_rows: Vec<_> = rows.iter().filter_map(|row| row.var).collect();
                let number = match *elems {
                    Elems::Number(n) => Ok(Extent::Const(n)),
                    Elems::Strided { coefficient, var } => match self.known(var, &mut fact) {
                        Ok(dim) => Ok(self.tidy(times(coefficient.into(), dim.extent()))),
                        Err(var) => Err((coefficient, var)),
                    },
                };
                match (number, open_rows.as_slice(), open.as_slice()) {
                    (Ok(number), [], []) => {
                        let question = SizeFact::new(number, Relation::Eq, product);
                        self.needs(&question, "number of elements", fact)?;
                        Ok(Some(true))
                    }
                    (Ok(number), [], [var]) => {
                        let size = self.quotient(&number, &product, fact)?;
                        self.is_dim(*var, size, Basis::DEFAULT, fact);
                        Ok(Some(false))
                    }
                    (Ok(number), [row], []) if self.stage >= 3 => {
                        if self.given.same(&number, &product).is_yes() {
                            if self.stage >= 5 {
                                self.bind_empty(*row, fact)?;
                            }
                        } else if !self.has_bound(*row) || self.stage >= 5 {
                            let size = self.quotient(&number, &product, fact)?;
                            let axis = Dim::of(size, Basis::DEFAULT);
                            self.choices.commit();
                            self.bind_row(*row, crate::row::Row::closed([axis]), fact)?;
                        }
                        Ok(Some(false))
                    }
                    (Err((coefficient, var)), [], []) => {
                        let size = self.quotient(&product, &coefficient.into(), fact)?;
                        self.is_dim(var, size, Basis::DEFAULT, fact);
                        Ok(Some(false))
                    }
                    _ => Ok(Some(false)),
                }
            }
            Law::Exact { .. } => Ok(None),
        }
    }

    fn is_dim(&mut self, var: DimVar, size: Extent, basis: Basis, fact: Fact) {
        self.queue.push_back(Task::DimEq(var.into(), Dim::of(size, basis).into(), fact));
    }

    fn basis_of(&mut self, parts: &[Dim], fact: Fact) -> Result<Basis, ShapeError> {
        fuse(parts.iter().copied()).map_err(|clash| {
            let text = format!("conflicting bases `{}` and `{}`", clash.0.name(), clash.1.name());
            self.error(ShapeErrorKind::BasisClash, text, fact)
        })
    }

    fn symbolic_concat(
        &mut self,
        target: DimTerm,
        parts: &[DimTerm],
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for part in parts {
            match self.known(*part, &mut fact) {
                Ok(dim) => known.push(dim),
                Err(var) => open.push(var),
            }
        }
        let sum = known.iter().fold(Extent::Const(0), |sum, dim| Extent::sum(sum, dim.extent()));
        let sum = self.tidy(sum);
        let basis = self.basis_of(&known, fact)?;
        match (self.known(target, &mut fact), open.as_slice()) {
            (_, []) => {
                self.queue.push_back(Task::DimEq(target, Dim::of(sum, basis).into(), fact));
                Ok(true)
            }
            (Ok(dim), [var]) => {
                let spare = self.tidy(Extent::difference(dim.extent(), sum));
                let least = u64::from(!self.dims[self.find_const(var.0) as usize].may_be_empty());
                let question = SizeFact::new(Extent::Const(least), Relation::Le, spare.clone());
                self.needs(&question, "concatenation: the size of a component", fact)?;
                let whole = dim.basis().unwrap_or(Basis::DEFAULT);
                self.is_dim(*var, spare, whole, fact);
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn symbolic_affine(
        &mut self,
        input: DimTerm,
        stride: u64,
        over: DimTerm,
        window: Option<(u64, DimTerm)>,
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let over = self.known(over, &mut fact);
        let kernel = window.map(|(dilation, size)| (dilation, self.known(size, &mut fact)));
        let found = self.known(input, &mut fact);
        let known: Vec<Dim> = [over.ok(), kernel.and_then(|k| k.1.ok())].into_iter().flatten().collect();
        let basis = self.basis_of(&known, fact)?;
        let one = Extent::Const(1);
        // `factor * (size - 1)` of an axis with a position.
        let gaps =
            |factor: u64, dim: Dim| times(factor.into(), Extent::difference(dim.extent(), Extent::Const(1)));
        let positive = |dim: Dim| SizeFact::new(Extent::Const(1), Relation::Le, dim.extent());
        match (found, over, kernel) {
            (_, Ok(over), None) => {
                let size = self.tidy(times(stride.into(), over.extent()));
                self.queue.push_back(Task::DimEq(input, Dim::of(size, basis).into(), fact));
                Ok(true)
            }
            (_, Ok(over), Some((dilation, Ok(kernel)))) => {
                for dim in [over, kernel] {
                    self.needs(&positive(dim), "a window over an axis", fact)?;
                }
                let size = Extent::sum(Extent::sum(gaps(stride, over), gaps(dilation, kernel)), one);
                let size = self.tidy(size);
                self.queue.push_back(Task::DimEq(input, Dim::of(size, basis).into(), fact));
                Ok(true)
            }
            (Ok(input), Err(var), None) => {
                let size = self.quotient(&input.extent(), &stride.into(), fact)?;
                self.is_dim(var, size, input.basis().unwrap_or(Basis::DEFAULT), fact);
                Ok(false)
            }
            (Ok(input), Err(var), Some((dilation, Ok(kernel)))) => {
                let room = Extent::difference(
                    Extent::difference(input.extent(), one.clone()),
                    gaps(dilation, kernel),
                );
                let room = self.tidy(room);
                let question = SizeFact::new(Extent::Const(0), Relation::Le, room.clone());
                self.needs(&question, "the kernel fits the axis", fact)?;
                let steps = self.quotient(&room, &stride.into(), fact)?;
                let size = self.tidy(Extent::sum(steps, one));
                self.is_dim(var, size, input.basis().unwrap_or(Basis::DEFAULT), fact);
                Ok(false)
            }
            (Ok(input), Ok(over), Some((dilation, Err(var)))) => {
                let room =
                    Extent::difference(Extent::difference(input.extent(), one.clone()), gaps(stride, over));
                let room = self.tidy(room);
                let question = SizeFact::new(Extent::Const(0), Relation::Le, room.clone());
                self.needs(&question, "the kernel has a position", fact)?;
                let steps = self.quotient(&room, &dilation.into(), fact)?;
                let size = self.tidy(Extent::sum(steps, one));
                self.is_dim(var, size, input.basis().unwrap_or(Basis::DEFAULT), fact);
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

/// The product, where a factor of 1 is none: what a fact says of a size need not be the simplest form of it.
fn times(a: Extent, b: Extent) -> Extent {
    match (a.as_const(), b.as_const()) {
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => Extent::product(a, b),
    }
}

fn at_least(dim: Dim, least: u64) -> SizeFact {
    SizeFact::new(Extent::Const(least), Relation::Le, dim.extent())
}
