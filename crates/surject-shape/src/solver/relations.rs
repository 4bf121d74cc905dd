//! Relations between the sizes of several dimensions: concatenation, affine axes, and (in `totals`) numbers of
//! elements. A relation waits until all but one of its unknowns are known.

use super::{Order, Solver, Task};
use crate::constraint::{Elems, Kernel};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::Row;

#[derive(Clone, Debug)]
pub(super) enum Law {
    Concat { target: DimTerm, parts: Vec<DimTerm> },
    Affine { input: DimTerm, stride: u64, over: DimTerm, kernel: Option<Kernel> },
    Total { elems: Elems, rows: Vec<Row>, divided_by: Vec<DimTerm> },
    Exact { dims: Vec<DimTerm>, rows: Vec<Row> },
}

#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) law: Law,
    pub(super) fact: Fact,
    pub(super) done: bool,
    queued: bool,
    watched_dims: Vec<u32>,
    watched_rows: Vec<u32>,
}

impl Relation {
    /// The dimensions and rows it relates.
    pub(super) fn terms(&self) -> (Vec<DimTerm>, Vec<Row>) {
        match &self.law {
            Law::Concat { target, parts } => (parts.iter().copied().chain([*target]).collect(), Vec::new()),
            Law::Affine { input, over, kernel, .. } => {
                ([*input, *over].into_iter().chain(kernel.map(|k| k.size)).collect(), Vec::new())
            }
            Law::Total { elems, rows, divided_by } => {
                let mut dims = divided_by.clone();
                if let Elems::Strided { var, .. } = elems {
                    dims.push(*var);
                }
                (dims, rows.clone())
            }
            Law::Exact { dims, rows } => (dims.clone(), rows.clone()),
        }
    }
}

impl Solver {
    pub(super) fn post_relation(&mut self, law: Law, fact: Fact) {
        let number = self.relations.len() as u32;
        if let Law::Total { elems: Elems::Strided { var, .. }, .. } = &law {
            self.mark_dim(*var, super::Flags { numerator: true, ..super::Flags::default() }, fact);
        }
        self.relations.push(Relation {
            law,
            fact,
            done: false,
            queued: true,
            watched_dims: Vec::new(),
            watched_rows: Vec::new(),
        });
        self.waiting.push(number);
        self.queue.push_back(Task::Relation(number));
    }

    pub(super) fn wake_relation(&mut self, number: u32) {
        let relation = &mut self.relations[number as usize];
        if !relation.done && !relation.queued {
            relation.queued = true;
            self.queue.push_back(Task::Relation(number));
        }
    }

    /// Whether a relation with this variable is still waiting.
    pub(super) fn has_waiting_relation(&self, root: u32) -> bool {
        self.dims[root as usize].relations.iter().any(|r| !self.relations[*r as usize].done)
    }

    /// Whether the size of the variable follows from others by a waiting relation.
    pub(super) fn is_derived(&self, root: u32) -> bool {
        self.dims[root as usize].relations.iter().any(|r| {
            let relation = &self.relations[*r as usize];
            let target = match relation.law {
                Law::Concat { target, .. } => target,
                Law::Affine { input, .. } => input,
                _ => return false,
            };
            !relation.done && matches!(target, DimTerm::Var(v) if self.find_const(v.0) == root)
        })
    }

    pub(super) fn relation(&mut self, number: u32) -> Result<(), ShapeError> {
        let relation = &mut self.relations[number as usize];
        relation.queued = false;
        if relation.done {
            return Ok(());
        }
        let (law, fact) = (relation.law.clone(), relation.fact);
        if let Law::Affine { input, stride, over, kernel } = &law
            && (*stride > 1 || kernel.is_some_and(|k| !k.padded))
        {
            self.no_unit(*input, fact);
            let window = kernel.filter(|k| !k.padded).map(|k| k.size);
            for term in std::iter::once(*over).chain(window) {
                let mut fact = fact;
                if self.known(term, &mut fact).is_ok_and(|dim| dim.size() == Some(0)) {
                    return Err(self.error(ShapeErrorKind::Stride, "a strided axis without positions", fact));
                }
            }
        }
        if let Some(done) = self.symbolic_law(&law, fact)? {
            self.relations[number as usize].done = done;
            if !done {
                self.watch(number);
            }
            return Ok(());
        }
        if self.repeats(&law) && self.solved_alone(&law, fact)? {
            self.watch(number);
            return Ok(());
        }
        let done = match &law {
            Law::Concat { target, parts } => self.concat(number, *target, parts, fact)?,
            Law::Affine { input, stride, over, kernel } => {
                self.affine(*input, *stride, *over, *kernel, fact)?
            }
            Law::Total { elems, rows, divided_by } => self.total(*elems, rows, divided_by, fact)?,
            Law::Exact { dims, rows } => self.exact(dims, rows, fact)?,
        };
        self.relations[number as usize].done = done;
        if !done {
            self.watch(number);
        }
        Ok(())
    }

    /// Whether an open variable occurs twice in a sum or a scale; a concatenation that is its own component is looked at
    /// as one.
    fn repeats(&self, law: &Law) -> bool {
        let (parts, whole): (Vec<DimTerm>, Option<DimTerm>) = match law {
            Law::Concat { parts, .. } => (parts.clone(), None),
            Law::Affine { input, over, kernel, .. } => {
                let size = kernel.filter(|k| !k.padded).map(|k| k.size);
                (std::iter::once(*over).chain(size).collect(), Some(*input))
            }
            _ => return false,
        };
        let mut open: Vec<DimVar> = Vec::new();
        for term in parts.into_iter().chain(whole) {
            if let DimTerm::Var(var) = self.dim(term) {
                if open.contains(&var) {
                    return true;
                }
                open.push(var);
            }
        }
        false
    }

    /// The variable that a sum or a scale is about, if it is the only one; whether the relation waits for its basis.
    fn solved_alone(&mut self, law: &Law, fact: Fact) -> Result<bool, ShapeError> {
        let Some(equation) = self.linear(law, fact) else { return Ok(false) };
        let text = match equation.single() {
            Some((var, Some(size)))
                if size > 0 || (size == 0 && !equation.full && self.dims[var as usize].may_be_empty()) =>
            {
                let size = u64::try_from(size).unwrap_or(u64::MAX);
                self.sized(var, size, equation.fact)?;
                // Where the value is known now, the relation is looked at again.
                return Ok(self.dims[self.find_const(var) as usize].value.is_none());
            }
            Some((_, Some(0))) => {
                let text = "occurs check failed: an axis would be a multiple of itself";
                return Err(self.error(ShapeErrorKind::Occurs, text, equation.fact));
            }
            Some((_, Some(size))) => format!("an axis would have {size} positions"),
            Some((_, None)) => "no size in whole numbers".to_string(),
            None if equation.terms.is_empty() && equation.constant != 0 => {
                let text = "occurs check failed: an axis would be larger than itself";
                return Err(self.error(ShapeErrorKind::Occurs, text, equation.fact));
            }
            None => return Ok(false),
        };
        Err(self.error(equation.kind, format!("{text}: an axis occurs more than once"), equation.fact))
    }

    fn watch(&mut self, number: u32) {
        let (mut dims, rows) = self.relations[number as usize].terms();
        for row in rows {
            let row = self.row(row);
            dims.extend(row.dims());
            if let Some(var) = row.var
                && !self.relations[number as usize].watched_rows.contains(&var.0)
            {
                self.relations[number as usize].watched_rows.push(var.0);
                self.rows[var.0 as usize].relations.push(number);
            }
        }
        for dim in dims {
            if let DimTerm::Var(var) = self.dim(dim)
                && !self.relations[number as usize].watched_dims.contains(&var.0)
            {
                self.relations[number as usize].watched_dims.push(var.0);
                self.dims[var.0 as usize].relations.push(number);
            }
        }
    }

    /// The known value of a term, with the reason added to `fact`.
    pub(super) fn known(&mut self, term: DimTerm, fact: &mut Fact) -> Result<Dim, DimVar> {
        match term {
            DimTerm::Known(dim) => Ok(dim),
            DimTerm::Var(var) => {
                let root = self.find(var.0);
                match self.dims[root as usize].value {
                    Some(dim) => {
                        *fact = self.facts.follows(*fact, self.dims[root as usize].why);
                        Ok(dim)
                    }
                    None => Err(DimVar(root)),
                }
            }
        }
    }

    pub(super) fn equal_rows(&mut self, a: Row, b: Row, fact: Fact) {
        self.post_row(Order::Equal, a, b, fact);
    }
}
