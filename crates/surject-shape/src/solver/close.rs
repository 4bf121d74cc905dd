//! Closing: what the constraints leave free is committed, leaves upwards to their bounds, the rest downwards.
//!
//! The stages of the seeds, each followed by propagation and by arithmetic ([`Solver::deduce`]); whenever a stage commits
//! something, the earlier ones get another turn. What is committed is in `commit`, the way back from it in `choices`.
//!
//! | stage | rows | axes |
//! |---|---|---|
//! | 3 | leaves take the length of their bound, over equations and numbers of elements, too | |
//! | 4 | leaves without a bound get no further axes | leaves take their bounds; then what a leaf gets its size from takes its bound |
//! | 5 | a number of elements goes to the rows that are left | discarded components are empty; a hole of a parameter is an error; holes of leaves take the least size that arithmetic leaves |
//! | 6 | shifted equations take their shortest overlap, every other row gets no further axes | |
//! | 7 | | the least size that arithmetic leaves |

use super::choices::{Choices, Refused};
use super::relations::Law;
use super::{NO_LIMIT, Order, Solver, Task};
use crate::constraint::Elems;
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::{Row, RowVar};
use std::collections::HashSet;

/// The variables that are being closed.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) dims: Vec<u32>,
    pub(super) rows: Vec<u32>,
    pub(super) relations: Vec<u32>,
}

impl Solver {
    /// Commits every variable.
    ///
    /// # Errors
    /// A contradiction; a parameter that nothing determines; or [`ShapeErrorKind::Undecided`] where a choice of closing
    /// was refuted and the search for another one gave up.
    pub fn close(&mut self) -> Result<(), ShapeError> {
        self.close_scope(None)
    }

    /// Commits what the given rows depend on: the open variables connected with them, and nothing else.
    ///
    /// # Errors
    /// As for [`Solver::close`].
    pub fn finish(&mut self, rows: &[Row]) -> Result<(), ShapeError> {
        self.close_scope(Some(rows))
    }

    fn scope(&mut self, rows: Option<&[Row]>) -> Scope {
        match rows {
            Some(rows) => self.component(rows),
            None => Scope {
                dims: std::mem::take(&mut self.open_dims),
                rows: std::mem::take(&mut self.open_rows),
                relations: std::mem::take(&mut self.waiting),
            },
        }
    }

    fn close_scope(&mut self, rows: Option<&[Row]>) -> Result<(), ShapeError> {
        if let Some(failed) = &self.failed {
            return Err((**failed).clone());
        }
        let saved = (!self.searching && self.leaves_choices(rows)).then(|| Box::new(self.clone()));
        let result = self.close_once(rows);
        let choices = std::mem::take(&mut self.choices);
        let result = match (result, saved) {
            (Err(error), saved)
                if error.guessed
                    && error.kind != ShapeErrorKind::MissingHidden
                    && !choices.leaves_clash
                    && !self.searching =>
            {
                self.queue.clear();
                let error = choices.told_in(error);
                match saved {
                    Some(saved) => self.close_again(*saved, rows, error, &choices),
                    None => Err(error),
                }
            }
            (Ok(()), Some(saved)) if choices.has_exclusive() => saved.is_only(rows, self, &choices),
            (result, _) => result.map_err(|error| choices.told_in(error)),
        };
        self.choices.forget();
        if result.is_ok() {
            self.closings += 1;
        }
        self.keep_failure(result)
    }

    /// Whether closing may have to take something back: arithmetic is open, or an equation of rows.
    fn leaves_choices(&self, rows: Option<&[Row]>) -> bool {
        let equation = |n: u32| {
            let pending = &self.pending[n as usize];
            !pending.done && (pending.order == Order::Equal || self.exact_markers)
        };
        match rows {
            None => {
                self.waiting.iter().any(|r| !self.relations[*r as usize].done)
                    || (0..self.pending.len() as u32).any(equation)
            }
            Some(rows) => {
                let scope = self.component(rows);
                let watched = scope.rows.iter().flat_map(|r| &self.rows[*r as usize].watch);
                !scope.relations.is_empty() || watched.copied().any(equation)
            }
        }
    }

    pub(super) fn close_once(&mut self, rows: Option<&[Row]>) -> Result<(), ShapeError> {
        let scope = self.scope(rows);
        let result = self.close_by_stages(scope);
        self.stage = 1;
        result
    }

    /// A choice of closing was refuted: other choices, once more without guesses about markers, then by search. The markers
    /// of a program stay where they are.
    fn close_again(
        &mut self,
        saved: Solver,
        rows: Option<&[Row]>,
        error: ShapeError,
        choices: &Choices,
    ) -> Result<(), ShapeError> {
        let closings = self.closings;
        let small = saved.facts.log.len() <= super::SEARCH_LIMIT;
        let error = match small.then(|| saved.search_choices(rows, error.clone(), choices)) {
            Some(Ok(found)) => {
                *self = found;
                self.closings = closings;
                return Ok(());
            }
            Some(Err(Refused::Ambiguous(error) | Refused::Hidden(error))) => return Err(error),
            Some(Err(Refused::Exhausted(error))) => error,
            None => error,
        };
        if self.standing_markers {
            if small {
                return Err(error);
            }
            let mut fresh = saved;
            fresh.search_parts(error)?;
            fresh.close_once(rows)?;
            fresh.closings = closings;
            *self = fresh;
            return Ok(());
        }
        let mut fresh = self.rebuilt()?;
        if !self.exact_markers {
            let mut again = fresh.clone();
            if again.close_once(rows).is_ok() {
                again.closings = self.closings;
                *self = again;
                return Ok(());
            }
            let choices = std::mem::take(&mut again.choices);
            if fresh.facts.log.len() <= super::SEARCH_LIMIT
                && let Ok(found) = fresh.search_choices(rows, error.clone(), &choices)
            {
                *self = found;
                self.closings = closings;
                return Ok(());
            }
        }
        if fresh.facts.log.len() <= super::SEARCH_LIMIT {
            fresh.search(error)?;
        } else {
            fresh.search_parts(error)?;
            fresh.close_once(rows)?;
        }
        fresh.closings = self.closings;
        *self = fresh;
        Ok(())
    }

    fn close_by_stages(&mut self, mut scope: Scope) -> Result<(), ShapeError> {
        let (mut dims_seen, mut rows_seen) = (self.dims.len(), self.rows.len());
        self.stage = 2;
        // What waits elsewhere is left alone until its own scope is closed.
        let elsewhere = std::mem::replace(&mut self.waiting, std::mem::take(&mut scope.relations));
        let result = self.close_stages(&mut scope, &mut dims_seen, &mut rows_seen);
        self.waiting.extend(elsewhere);
        result
    }

    fn close_stages(
        &mut self,
        scope: &mut Scope,
        dims_seen: &mut usize,
        rows_seen: &mut usize,
    ) -> Result<(), ShapeError> {
        for number in std::mem::take(&mut self.postponed) {
            self.queue.push_back(Task::Row(number));
        }
        while self.stage <= 7 {
            let before = self.bound_count;
            self.again();
            self.propagate()?;
            self.deduce()?;
            if self.bound_count != before && self.stage > 3 {
                // What was found may be a bound of something that goes first.
                self.stage = 3;
                continue;
            }
            // Variables that propagation made belong to the scope.
            scope.dims.extend(*dims_seen as u32..self.dims.len() as u32);
            scope.rows.extend(*rows_seen as u32..self.rows.len() as u32);
            (*dims_seen, *rows_seen) = (self.dims.len(), self.rows.len());
            self.steps += (scope.dims.len() + scope.rows.len()) as u64;
            scope.rows.retain(|r| self.rows[*r as usize].value.is_none());
            let dims = std::mem::take(&mut scope.dims);
            scope.dims = dims
                .into_iter()
                .filter(|d| {
                    let root = self.find(*d);
                    root == *d && self.dims[root as usize].value.is_none()
                })
                .collect();
            match self.stage {
                3 => {
                    self.leaf_rows_with_bound(scope)?;
                    self.rows_of_equations(scope)?;
                }
                4 => {
                    self.leaf_dims_with_bound(scope)?;
                    self.leaf_rows_without_bound(scope)?;
                }
                5 => self.dims_downwards(scope, true)?,
                6 => self.remaining_rows(scope)?,
                7 => self.dims_downwards(scope, false)?,
                _ => {}
            }
            self.propagate()?;
            if self.bound_count == before {
                self.stage += 1;
            } else if self.stage > 3 {
                self.stage = 3;
            }
        }
        let open = scope.dims.iter().any(|d| self.dims[self.find_const(*d) as usize].value.is_none());
        let waiting = self.relations.iter().find(|r| !r.done && self.searching);
        if open || waiting.is_some() {
            let fact = waiting.map_or(Fact::TRIVIAL, |r| r.fact);
            return Err(self.error(ShapeErrorKind::Undecided, "not enough shape information", fact));
        }
        Ok(())
    }

    pub(super) fn missing_hidden(&self, what: &str, fact: Fact) -> ShapeError {
        let text = format!(
            "You forgot to specify the hidden dimension(s): nothing determines {what} of a parameter"
        );
        // That nothing determines it is no contradiction.
        ShapeError { guessed: true, ..self.error(ShapeErrorKind::MissingHidden, text, fact) }
    }

    /// Stage 3: leaf rows take the length of their bound; their axes follow in stage 4.
    fn leaf_rows_with_bound(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let mut chosen = Vec::new();
        self.begin_soft_bounds();
        for &row in &scope.rows {
            let state = &self.rows[row as usize];
            if state.flags.leaf && state.value.is_none() && !self.row_is_shared_out(row) {
                chosen.extend(self.length_of_bound(row).map(|flanks| (row, flanks)));
            }
        }
        for (row, flanks) in chosen {
            self.choices.commit();
            let why = self.rows[row as usize].most_why;
            self.bind_to_length(row, flanks, why)?;
        }
        Ok(())
    }

    /// Forgets the bounds of rows by what is written out above them.
    pub(super) fn begin_soft_bounds(&mut self) {
        self.soft_bounds.begin(self.rows.len());
    }

    /// The flanks of the bound of a row, where there is one.
    pub(super) fn length_of_bound(&mut self, row: u32) -> Option<[u32; 2]> {
        let soft = self.soft_bounds.of(row, &self.rows, &self.pending);
        let flank = |f: usize| match (self.rows[row as usize].most[f], soft) {
            (NO_LIMIT, None) => None,
            (NO_LIMIT, Some(soft)) => Some(soft[f]),
            (most, _) => Some(most),
        };
        Some([flank(0)?, flank(1)?])
    }

    /// Gives a row so many axes.
    pub(super) fn bind_to_length(
        &mut self,
        row: u32,
        [lead, trail]: [u32; 2],
        why: Fact,
    ) -> Result<(), ShapeError> {
        let flags = self.rows[row as usize].flags;
        let lead = (0..lead).map(|_| self.fresh_dim_with(flags).into()).collect();
        let trail = (0..trail).map(|_| self.fresh_dim_with(flags).into()).collect();
        self.bind_row(RowVar(row), Row::new(lead, None, trail), why)
    }

    /// Whether the elements or axes of several rows are shared out, so that a row may not take what its bound permits.
    fn row_is_shared_out(&self, row: u32) -> bool {
        self.rows[row as usize].relations.iter().any(|number| {
            let relation = &self.relations[*number as usize];
            match &relation.law {
                _ if relation.done => false,
                Law::Exact { .. } => true,
                Law::Total { elems: Elems::Number(1), .. } => true,
                _ => false,
            }
        })
    }

    pub(super) fn row_has_waiting_relation(&self, row: u32) -> bool {
        self.rows[row as usize].relations.iter().any(|r| !self.relations[*r as usize].done)
    }

    /// Stage 4: leaf rows about which nothing is known get no further axes.
    fn leaf_rows_without_bound(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        for &row in &scope.rows {
            let state = &self.rows[row as usize];
            if !state.flags.leaf || state.value.is_some() || self.row_has_waiting_relation(row) {
                continue;
            }
            if state.flags.strict {
                let fact = self.closing_fact(row);
                return Err(self.missing_hidden("the axes", fact));
            }
            self.choices.commit();
            self.bind_row(RowVar(row), Row::empty(), Fact::TRIVIAL)?;
        }
        Ok(())
    }

    /// The constraints around a row, for an error about it.
    pub(super) fn closing_fact(&mut self, row: u32) -> Fact {
        let facts: Vec<Fact> =
            self.rows[row as usize].watch.iter().map(|n| self.pending[*n as usize].fact).collect();
        let why = self.rows[row as usize].role_why;
        facts.into_iter().take(4).fold(why, |all, fact| self.facts.follows(all, fact))
    }

    /// The least value of an open axis.
    pub(super) fn least(&self, var: u32) -> Dim {
        let state = &self.dims[var as usize];
        match state.at_least {
            0 | 1 if state.atom => Dim::new(1),
            // An axis that broadcasts somewhere has positions.
            0 if state.discarded > 0
                && state.may_be_empty()
                && state.upper.is_none()
                && state.above.is_empty()
                && state.below.is_empty() =>
            {
                Dim::new(0)
            }
            0 => Dim::Unit,
            1 if state.upper.is_some() || !state.above.is_empty() => Dim::Unit,
            size => Dim::new(size),
        }
    }

    /// Stage 6: equations that are still shifted take their shortest overlap, then every row gets no further axes.
    fn remaining_rows(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let before = self.bound_count;
        for &row in &scope.rows {
            for i in 0..self.rows[row as usize].watch.len() {
                let number = self.rows[row as usize].watch[i];
                let pending = &mut self.pending[number as usize];
                if !pending.done && !pending.queued && pending.order == Order::Equal {
                    pending.queued = true;
                    self.queue.push_back(Task::Row(number));
                    self.propagate()?;
                }
                if self.rows[row as usize].value.is_some() {
                    break;
                }
            }
        }
        if self.bound_count > before {
            return Ok(());
        }
        for &row in &scope.rows {
            if self.rows[row as usize].value.is_none() {
                if self.rows[row as usize].flags.strict {
                    let fact = self.closing_fact(row);
                    return Err(self.missing_hidden("the axes", fact));
                }
                self.choices.commit();
                self.bind_row(RowVar(row), Row::empty(), Fact::TRIVIAL)?;
            }
        }
        Ok(())
    }

    /// The open variables that are connected with the given rows.
    pub(super) fn component(&self, rows: &[Row]) -> Scope {
        let mut scope = Scope::default();
        let (mut seen_dims, mut seen_rows) = (HashSet::new(), HashSet::new());
        let (mut seen_pending, mut seen_relations) = (HashSet::new(), HashSet::new());
        let mut terms: Vec<DimTerm> = Vec::new();
        let mut vars: Vec<RowVar> = Vec::new();
        let mut whole: Vec<Row> = rows.to_vec();
        loop {
            if let Some(row) = whole.pop() {
                let row = self.row(row);
                terms.extend(row.dims());
                vars.extend(row.var);
            } else if let Some(term) = terms.pop() {
                let DimTerm::Var(var) = self.dim(term) else { continue };
                if !seen_dims.insert(var.0) {
                    continue;
                }
                scope.dims.push(var.0);
                let state = &self.dims[var.0 as usize];
                terms.extend(state.above.iter().chain(&state.below).map(|e| DimTerm::Var(DimVar(e.0))));
                for relation in &state.relations {
                    if !self.relations[*relation as usize].done && seen_relations.insert(*relation) {
                        scope.relations.push(*relation);
                        let (dims, rows) = self.relations[*relation as usize].terms();
                        terms.extend(dims);
                        whole.extend(rows);
                    }
                }
            } else if let Some(var) = vars.pop() {
                if !seen_rows.insert(var.0) {
                    continue;
                }
                scope.rows.push(var.0);
                let state = &self.rows[var.0 as usize];
                for number in &state.watch {
                    let pending = &self.pending[*number as usize];
                    if !pending.done && seen_pending.insert(*number) {
                        whole.extend([pending.a.clone(), pending.b.clone()]);
                    }
                }
                for relation in &state.relations {
                    if !self.relations[*relation as usize].done && seen_relations.insert(*relation) {
                        scope.relations.push(*relation);
                        let (dims, rows) = self.relations[*relation as usize].terms();
                        terms.extend(dims);
                        whole.extend(rows);
                    }
                }
            } else {
                return scope;
            }
        }
    }
}
