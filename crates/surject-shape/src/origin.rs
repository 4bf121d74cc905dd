//! Provenance: where a constraint came from, and which facts followed from which.

use crate::dim::DimTerm;
use crate::row::Row;
use crate::shape::Shape;
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
/// assert!(error.message.contains("16") && error.message.contains("10"));
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

#[derive(Clone, Copy, Debug)]
enum Reason {
    Added(u32),
    Follows(Fact, Fact),
}

/// All facts of a solver, in an arena in which reasons stand before what follows from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    origins: Vec<Arc<Origin>>,
    reasons: Vec<Reason>,
}

impl Facts {
    /// The fact of a constraint that is being added.
    pub(crate) fn added(&mut self, origin: &Arc<Origin>) -> Fact {
        if !self.origins.last().is_some_and(|last| Arc::ptr_eq(last, origin)) {
            self.origins.push(origin.clone());
        }
        self.push(Reason::Added(self.origins.len() as u32 - 1))
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

    fn push(&mut self, reason: Reason) -> Fact {
        self.reasons.push(reason);
        Fact(self.reasons.len() as u32 - 1)
    }

    /// The origins of a fact, nearest first, each once, at most `limit`.
    pub(crate) fn chain(&self, fact: Fact, limit: usize) -> Vec<Arc<Origin>> {
        let mut found: Vec<Arc<Origin>> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut queue = std::collections::VecDeque::from([fact]);
        while let Some(fact) = queue.pop_front() {
            if fact == Fact::TRIVIAL || !seen.insert(fact.0) {
                continue;
            }
            match self.reasons[fact.0 as usize] {
                Reason::Added(origin) => {
                    let origin = &self.origins[origin as usize];
                    if !found.iter().any(|o| o == origin) {
                        found.push(origin.clone());
                        if found.len() == limit {
                            break;
                        }
                    }
                }
                Reason::Follows(a, b) => queue.extend([a, b]),
            }
        }
        found
    }
}
