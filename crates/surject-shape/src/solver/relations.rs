//! Relations between the sizes of several dimensions: concatenation, affine axes, and (in `totals`) numbers of
//! elements. A relation waits until all but one of its unknowns are known.

use super::{Order, Solver, Task};
use crate::constraint::{Elems, Kernel};
use crate::dim::{Basis, Dim, DimTerm, DimVar, fuse};
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

    fn concat(
        &mut self,
        number: u32,
        target: DimTerm,
        parts: &[DimTerm],
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let (mut sum, mut known, mut open) = (0u64, Vec::new(), Vec::new());
        for part in parts {
            match self.known(*part, &mut fact) {
                Ok(dim) => {
                    sum = sum.saturating_add(dim.size());
                    known.push(dim);
                }
                Err(var) => open.push(var),
            }
        }
        let basis = fuse(known.iter().copied()).map_err(|clash| {
            let text =
                format!("concatenation: conflicting bases `{}` and `{}`", clash.0.name(), clash.1.name());
            self.error(ShapeErrorKind::BasisClash, text, fact)
        })?;
        match (self.known(target, &mut fact), open.as_slice()) {
            (Ok(dim), []) => {
                if dim.size() != sum {
                    return Err(self.error(
                        ShapeErrorKind::Concat,
                        format!(
                            "concatenation: the components have {sum} positions together, the axis has {}",
                            dim.size()
                        ),
                        fact,
                    ));
                }
                let ours = Dim::Size { size: sum, basis };
                if dim != Dim::Unit && dim != ours {
                    return Err(self.clash(ours, dim, fact));
                }
                Ok(true)
            }
            (Err(var), []) => {
                let value = match known.as_slice() {
                    [single] => *single,
                    _ => Dim::Size { size: sum, basis },
                };
                self.bind_dim(var.0, value, fact)?;
                Ok(true)
            }
            (Ok(dim), open) => {
                let spare = dim.size().checked_sub(sum);
                let least: u64 =
                    open.iter().map(|v| u64::from(!self.dims[v.0 as usize].flags.discardable)).sum();
                let Some(spare) = spare.filter(|s| *s >= least) else {
                    return Err(self.error(
                        ShapeErrorKind::Concat,
                        format!("concatenation: components exceed the concatenated size {}", dim.size()),
                        fact,
                    ));
                };
                let [var] = open else { return Ok(false) };
                let named = dim.basis().filter(|b| *b != Basis::DEFAULT);
                let rest = match named {
                    // The named basis came from a known component, so that of the rest is not determined.
                    Some(n) if known.iter().any(|k| k.basis() == Some(n)) => {
                        if self.stage < 4 && self.dims[var.0 as usize].upper.is_none() && spare > 0 {
                            return Ok(false);
                        }
                        let upper = self.dims[var.0 as usize].upper.filter(|u| u.size() == spare);
                        upper.unwrap_or(Dim::Size { size: spare, basis: n })
                    }
                    Some(n) => Dim::Size { size: spare, basis: n },
                    None if spare == 1 && self.stage < 4 => return Ok(false),
                    None => Dim::new(spare),
                };
                self.bind_dim(var.0, rest, fact)?;
                Ok(false)
            }
            (Err(var), _) => {
                if self.stage >= 4 {
                    return self.cancel(number, var.0, parts, fact);
                }
                Ok(false)
            }
        }
    }

    /// Two concatenations make the same axis: what they have in common cancels.
    fn cancel(
        &mut self,
        number: u32,
        target: u32,
        parts: &[DimTerm],
        fact: Fact,
    ) -> Result<bool, ShapeError> {
        for i in 0..self.dims[target as usize].relations.len() {
            let other = self.dims[target as usize].relations[i];
            let relation = &self.relations[other as usize];
            let Law::Concat { target: DimTerm::Var(t), parts: theirs } = &relation.law else { continue };
            if other == number || relation.done || self.find_const(t.0) != target {
                continue;
            }
            let (theirs, other_fact) = (theirs.clone(), relation.fact);
            let mut right: Vec<DimTerm> = theirs.iter().map(|p| self.dim(*p)).collect();
            let mut left = Vec::new();
            let mut common = 0;
            for part in parts.iter().map(|p| self.dim(*p)) {
                match right.iter().position(|p| *p == part) {
                    Some(at) => {
                        right.swap_remove(at);
                        common += 1;
                    }
                    None => left.push(part),
                }
            }
            let fact = self.facts.follows(fact, other_fact);
            if common == 0 && left.len() > 1 && right.len() > 1 {
                continue;
            }
            match (left.as_slice(), right.as_slice()) {
                ([], []) => {}
                ([a], [b]) => self.queue.push_back(Task::DimEq(*a, *b, fact)),
                ([one], many) | (many, [one]) if !many.is_empty() => {
                    let law = Law::Concat { target: *one, parts: many.to_vec() };
                    self.post_relation(law, fact);
                }
                _ => continue,
            }
            // The other concatenation still defines the axis.
            return Ok(true);
        }
        Ok(false)
    }

    fn affine(
        &mut self,
        input: DimTerm,
        stride: u64,
        over: DimTerm,
        kernel: Option<Kernel>,
        mut fact: Fact,
    ) -> Result<bool, ShapeError> {
        let input = self.known(input, &mut fact);
        let over = self.known(over, &mut fact);
        let window = kernel.filter(|k| !k.padded).map(|k| (k.dilation, self.known(k.size, &mut fact)));
        let named = [input.ok(), over.ok(), window.and_then(|w| w.1.ok())];
        let basis = fuse(named.into_iter().flatten()).map_err(|clash| {
            let text = format!(
                "convolution: conflicting dimension bases `{}` and `{}` between axis, stride and kernel",
                clash.0.name(),
                clash.1.name()
            );
            self.error(ShapeErrorKind::BasisClash, text, fact)
        })?;
        // What the window adds to stride times the positions: the span less one stride, or nothing.
        let span = |dilation: u64, k: u64| k.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
        let size_of = |over: u64, window: Option<(u64, u64)>| match window {
            None => Some(stride.saturating_mul(over)),
            Some((dilation, k)) => {
                Some(stride.saturating_mul(over.checked_sub(1)?).saturating_add(span(dilation, k)))
            }
        };
        let known_window = match window {
            None => Some(None),
            Some((dilation, Ok(k))) => Some(Some((dilation, k.size()))),
            Some((_, Err(_))) => None,
        };
        let sized = |size: u64| Dim::Size { size, basis };
        match (input, over, known_window) {
            (Ok(i), Ok(o), Some(w)) => match size_of(o.size(), w) {
                Some(size) if size == i.size() && (i.basis().is_none() || i.basis() == Some(basis)) => {
                    Ok(true)
                }
                Some(size) => Err(self.clash(sized(size), i, fact)),
                None => Err(self.error(ShapeErrorKind::Stride, "a strided axis without positions", fact)),
            },
            (Err(var), Ok(o), Some(w)) => {
                let Some(size) = size_of(o.size(), w) else {
                    return Err(self.error(ShapeErrorKind::Stride, "a strided axis without positions", fact));
                };
                let value = if stride == 1 && w.is_none() { o } else { sized(size) };
                self.bind_dim(var.0, value, fact)?;
                Ok(true)
            }
            (Ok(i), Err(var), Some(w)) => {
                let from = match w {
                    None => i.size(),
                    Some((dilation, k)) => match i.size().checked_sub(span(dilation, k)) {
                        Some(room) => room.saturating_add(stride),
                        None => {
                            let text = format!(
                                "the kernel spans {} positions of an axis of {}",
                                span(dilation, k),
                                i.size()
                            );
                            return Err(self.error(ShapeErrorKind::Stride, text, fact));
                        }
                    },
                };
                if !from.is_multiple_of(stride) {
                    let text = format!(
                        "incompatible stride: {} positions do not divide by the stride {stride}",
                        i.size()
                    );
                    return Err(self.error(ShapeErrorKind::Stride, text, fact));
                }
                self.bind_dim(var.0, self.of_size(var, from / stride, basis), fact)?;
                Ok(true)
            }
            (Ok(i), Ok(o), None) => {
                let Some((dilation, Err(var))) = window else { return Ok(false) };
                let reach = stride.saturating_mul(o.size().saturating_sub(1)).saturating_add(1);
                match i.size().checked_sub(reach).filter(|room| room.is_multiple_of(dilation)) {
                    Some(room) => {
                        self.bind_dim(var.0, self.of_size(var, room / dilation + 1, basis), fact)?
                    }
                    None => {
                        let text = format!(
                            "cannot infer the kernel: {} positions are read from an axis of {}",
                            reach,
                            i.size()
                        );
                        return Err(self.error(ShapeErrorKind::Stride, text, fact));
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A dimension of a size that arithmetic found: its bound, if that has this size.
    pub(super) fn of_size(&self, var: DimVar, size: u64, basis: Basis) -> Dim {
        self.dims[var.0 as usize].upper.filter(|u| u.size() == size).unwrap_or(Dim::Size { size, basis })
    }

    pub(super) fn equal_rows(&mut self, a: Row, b: Row, fact: Fact) {
        self.post_row(Order::Equal, a, b, fact);
    }
}
