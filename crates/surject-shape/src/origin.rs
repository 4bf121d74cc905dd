//! Provenance: where a constraint came from, and which facts followed from which.

use crate::constraint::Constraint;
use crate::dim::DimTerm;
use crate::row::Row;
use crate::shape::Shape;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// A place in a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The name of the text.
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A tensor of this shape.
    Shape(Shape),
    /// A row, whatever its kind.
    Row(Row),
    /// An axis.
    Dim(DimTerm),
}

/// Something the user has a name for, with its shape as it was declared. A tensor has one, made once and shared by the
/// origins of all operations it takes part in; errors speak of it by this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The name as the user wrote it.
    pub name: String,
    /// What it stands for.
    pub subject: Subject,
}

impl Named {
    /// A tensor with a name.
    pub fn tensor(name: impl Into<String>, shape: &Shape) -> Arc<Named> {
        Arc::new(Named { name: name.into(), subject: Subject::Shape(shape.clone()) })
    }

    /// A row with a name, or with its text for a name.
    pub fn row(name: impl Into<String>, row: &Row) -> Arc<Named> {
        Arc::new(Named { name: name.into(), subject: Subject::Row(row.clone()) })
    }

    /// An axis with a name.
    pub fn axis(name: impl Into<String>, axis: impl Into<DimTerm>) -> Arc<Named> {
        Arc::new(Named { name: name.into(), subject: Subject::Dim(axis.into()) })
    }
}

/// Where a constraint came from.
///
/// A front end gives the tensors that an operation relates with their names, so that an error can say of which tensor
/// which axis has which size:
///
/// ```
/// # use surject_shape::{Dim, Named, Origin, Shape, Solver};
/// # use std::sync::Arc;
/// let mut solver = Solver::new();
/// let (h, b) = (Shape::closed(&[], &[], &[Dim::new(16)]), Shape::closed(&[], &[], &[Dim::new(10)]));
/// let sum = solver.fresh_shape();
/// let origin = Origin::operation("h + b").relating([
///     Named::tensor("sum", &sum),
///     Named::tensor("h", &h),
///     Named::tensor("b", &b),
/// ]);
/// let error = solver.pointwise(&[&h, &b], &sum, &Arc::new(origin)).unwrap_err();
/// assert_eq!(error.message, "output axis 1 of `h` is 16, but output axis 1 of `b` is 10");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The operation and the tensors it relates, or the text of the constraint.
    pub operation: String,
    /// The spec of the operation, where it has one.
    pub spec: Option<String>,
    /// The place it was written at.
    pub place: Option<Place>,
    /// What the operation relates and the user has names for: the result, then the operands, then axes of the spec.
    pub tensors: Vec<Arc<Named>>,
}

impl Origin {
    /// An origin that is known by its operation alone.
    pub fn operation(operation: impl Into<String>) -> Origin {
        Origin { operation: operation.into(), ..Origin::default() }
    }

    /// The same origin with the tensors that the operation relates: the result, then the operands.
    pub fn relating(self, tensors: impl IntoIterator<Item = Arc<Named>>) -> Origin {
        Origin { tensors: tensors.into_iter().collect(), ..self }
    }
}

/// ``x.con:3:1: `dim a = 3` ``.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "`{}`", self.operation)?;
        match &self.spec {
            Some(spec) => write!(f, " with the spec \"{spec}\""),
            None => Ok(()),
        }
    }
}

/// A fact of a solver: a constraint that was added, or one that follows from two others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fact(u32);

impl Fact {
    /// The fact that needs no reason.
    pub(crate) const TRIVIAL: Fact = Fact(u32::MAX);
}

/// An axis of a row constraint: how far from the outer edge it is, in both rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Site {
    /// The constraint, by its number in the log.
    pub(crate) constraint: u32,
    /// Counted from 0 at the edge.
    pub(crate) place: u16,
    /// From the end of the row rather than from its front.
    pub(crate) trail: bool,
}

#[derive(Clone, Copy, Debug)]
enum Reason {
    Added(u32),
    Follows(Fact, Fact),
    At(Fact, Site),
}

/// All facts of a solver, in an arena in which reasons stand before what follows from them, and the constraints that
/// were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) log: Vec<(Constraint, Arc<Origin>)>,
    reasons: Vec<Reason>,
    /// Axes are kept apart: for explaining an error.
    pub(crate) with_sites: bool,
}

impl Facts {
    /// The fact of a constraint that is being added.
    pub(crate) fn added(&mut self, constraint: Constraint, origin: &Arc<Origin>) -> Fact {
        self.log.push((constraint, origin.clone()));
        self.push(Reason::Added(self.log.len() as u32 - 1))
    }

    /// The number of the constraint that a fact is.
    pub(crate) fn number(&self, fact: Fact) -> Option<u32> {
        match self.reasons.get(fact.0 as usize) {
            Some(Reason::Added(number)) => Some(*number),
            _ => None,
        }
    }

    /// What follows from two facts.
    pub(crate) fn follows(&mut self, a: Fact, b: Fact) -> Fact {
        if a == b || b == Fact::TRIVIAL {
            return a;
        }
        if a == Fact::TRIVIAL {
            return b;
        }
        self.push(Reason::Follows(a, b))
    }

    /// What a row constraint says of one axis.
    pub(crate) fn at(&mut self, fact: Fact, constraint: Option<u32>, place: usize, trail: bool) -> Fact {
        match constraint {
            Some(constraint) if self.with_sites => {
                let place = u16::try_from(place).unwrap_or(u16::MAX);
                self.push(Reason::At(fact, Site { constraint, place, trail }))
            }
            _ => fact,
        }
    }

    fn push(&mut self, reason: Reason) -> Fact {
        self.reasons.push(reason);
        Fact(self.reasons.len() as u32 - 1)
    }

    /// The constraints that a fact follows from and the axes they are about, nearest first, each once.
    pub(crate) fn leaves(&self, fact: Fact, limit: usize) -> (Vec<u32>, Vec<Site>) {
        let (mut numbers, mut sites) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([fact]);
        while let Some(fact) = queue.pop_front() {
            if fact == Fact::TRIVIAL || !seen.insert(fact.0) {
                continue;
            }
            match self.reasons[fact.0 as usize] {
                Reason::Added(number) => {
                    numbers.push(number);
                    if numbers.len() == limit {
                        break;
                    }
                }
                Reason::Follows(a, b) => queue.extend([a, b]),
                Reason::At(fact, site) => {
                    sites.push(site);
                    queue.push_back(fact);
                }
            }
        }
        (numbers, sites)
    }

    /// The origins of a fact, nearest first, each once, at most `limit`.
    pub(crate) fn chain(&self, fact: Fact, limit: usize) -> Vec<Arc<Origin>> {
        let (mut found, mut seen): (Vec<Arc<Origin>>, _) = (Vec::new(), HashSet::new());
        for number in self.leaves(fact, limit.saturating_mul(8)).0 {
            let origin = &self.log[number as usize].1;
            if seen.insert(Arc::as_ptr(origin)) {
                found.push(origin.clone());
            }
        }
        found.truncate(limit);
        found
    }

    /// How many constraints a fact takes, counting repeated ones as often as they occur; `known` keeps what was counted.
    pub(crate) fn weight(&self, fact: Fact, known: &mut Vec<u32>) -> u32 {
        let of = |known: &[u32], fact: Fact| known.get(fact.0 as usize).copied().unwrap_or(0);
        for reason in &self.reasons[known.len()..] {
            let weight = match reason {
                Reason::Added(_) => 1,
                Reason::Follows(a, b) => of(known, *a).saturating_add(of(known, *b)),
                Reason::At(fact, _) => of(known, *fact),
            };
            known.push(weight);
        }
        of(known, fact)
    }
}
