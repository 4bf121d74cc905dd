//! Closing: what the constraints leave free is committed, leaves upwards to their bounds, the rest downwards.
//!
//! The stages of the seeds, each followed by propagation; whenever a stage commits something, the earlier ones get
//! another turn. Within a stage everything is committed together, so that the order of variables does not matter.

use super::{NO_LIMIT, Order, Solver, Task};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::{Row, RowVar};
use std::collections::{HashMap, HashSet};

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
        let result = self.close_once(rows);
        let result = match result {
            Err(error)
                if error.kind != ShapeErrorKind::MissingHidden
                    && error.guessed
                    && !self.searching
                    && !self.standing_markers =>
            {
                self.queue.clear();
                self.close_again(rows, error)
            }
            other => other,
        };
        if result.is_ok() {
            self.closings += 1;
        }
        self.keep_failure(result)
    }

    fn close_once(&mut self, rows: Option<&[Row]>) -> Result<(), ShapeError> {
        let scope = self.scope(rows);
        let result = self.close_by_stages(scope);
        self.stage = 1;
        result
    }

    /// A choice of closing was refuted: once more without guesses about markers, then by search.
    fn close_again(&mut self, rows: Option<&[Row]>, error: ShapeError) -> Result<(), ShapeError> {
        let mut fresh = self.rebuilt()?;
        if !self.exact_markers {
            let mut again = fresh.clone();
            if again.close_once(rows).is_ok() {
                again.closings = self.closings;
                *self = again;
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
                3 => self.leaf_rows_with_bound(scope)?,
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
        self.error(
            ShapeErrorKind::MissingHidden,
            format!(
                "You forgot to specify the hidden dimension(s): nothing determines {what} of a parameter"
            ),
            fact,
        )
    }

    /// Stage 3: leaf rows take the length of their bound; their axes follow in stage 4.
    fn leaf_rows_with_bound(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let mut soft_bounds = std::mem::take(&mut self.soft_bounds);
        soft_bounds.begin(self.rows.len());
        let mut chosen = Vec::new();
        for &row in &scope.rows {
            let state = &self.rows[row as usize];
            if state.flags.leaf && state.value.is_none() && !self.row_has_waiting_relation(row) {
                let soft = soft_bounds.of(row, &self.rows, &self.pending);
                let flank = |f: usize| match (state.most[f], soft) {
                    (NO_LIMIT, None) => None,
                    (NO_LIMIT, Some(soft)) => Some(soft[f]),
                    (most, _) => Some(most),
                };
                if let (Some(lead), Some(trail)) = (flank(0), flank(1)) {
                    chosen.push((row, lead, trail));
                }
            }
        }
        self.soft_bounds = soft_bounds;
        for (row, lead, trail) in chosen {
            let state = &self.rows[row as usize];
            let (flags, why) = (state.flags, state.most_why);
            let lead = (0..lead).map(|_| self.fresh_dim_with(flags).into()).collect();
            let trail = (0..trail).map(|_| self.fresh_dim_with(flags).into()).collect();
            self.bind_row(RowVar(row), Row::new(lead, None, trail), why)?;
        }
        Ok(())
    }

    pub(super) fn row_has_waiting_relation(&self, row: u32) -> bool {
        self.rows[row as usize].relations.iter().any(|r| !self.relations[*r as usize].done)
    }

    /// Stage 4: leaf axes take their bounds. Where two would push different atoms to the same axis, both stay
    /// below it as units instead.
    fn leaf_dims_with_bound(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let candidates: Vec<(u32, Dim)> = scope
            .dims
            .iter()
            .filter_map(|d| {
                let state = &self.dims[*d as usize];
                (state.flags.leaf && state.parent == *d && state.value.is_none())
                    .then_some((*d, state.upper?))
            })
            .collect();
        // `None` is a clash.
        let mut pushed: HashMap<u32, Option<Dim>> = HashMap::new();
        let mut work: Vec<(u32, Option<Dim>)> =
            candidates.iter().map(|(d, atom)| (*d, Some(*atom))).collect();
        let mut clashes = Vec::new();
        while let Some((var, push)) = work.pop() {
            let root = self.find(var);
            let state = &self.dims[root as usize];
            if state.value.is_some() {
                continue;
            }
            let push = push.filter(|atom| atom.size() >= state.at_least);
            let joined = match pushed.get(&root) {
                None => push,
                Some(old) if *old == push => continue,
                Some(None) => continue,
                Some(_) => None,
            };
            pushed.insert(root, joined);
            if joined.is_none() {
                clashes.push(root);
            }
            work.extend(state.above.iter().map(|(sup, _)| (*sup, joined)));
        }
        let mut demoted: HashSet<u32> = HashSet::new();
        while let Some(var) = clashes.pop() {
            let root = self.find(var);
            if demoted.insert(root) {
                clashes.extend(self.dims[root as usize].below.iter().map(|(sub, _)| *sub));
            }
        }
        for (var, atom) in candidates {
            let value = if demoted.contains(&var) { Dim::Unit } else { atom };
            let why = self.dims[var as usize].upper_why;
            self.queue.push_back(Task::DimEq(DimVar(var).into(), value.into(), why));
        }
        Ok(())
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
            self.bind_row(RowVar(row), Row::empty(), Fact::TRIVIAL)?;
        }
        Ok(())
    }

    /// The constraints around a row, for an error about it.
    fn closing_fact(&mut self, row: u32) -> Fact {
        let facts: Vec<Fact> =
            self.rows[row as usize].watch.iter().map(|n| self.pending[*n as usize].fact).collect();
        let why = self.rows[row as usize].role_why;
        facts.into_iter().take(4).fold(why, |all, fact| self.facts.follows(all, fact))
    }

    /// Stages 5 and 7: axes without a bound. With `leaves`, only those of leaves.
    fn dims_downwards(&mut self, scope: &Scope, leaves: bool) -> Result<(), ShapeError> {
        let mut held_back = Vec::new();
        let mut committed = false;
        for &var in &scope.dims {
            let state = &self.dims[var as usize];
            if state.parent != var
                || state.value.is_some()
                || (leaves && (!state.flags.leaf || state.at_least > 0))
            {
                continue;
            }
            let waiting = self.has_waiting_relation(var);
            if state.flags.param && !waiting && state.at_least == 0 {
                let why = state.why;
                let near = state.above.iter().chain(&state.below).map(|e| e.1).next().unwrap_or(why);
                let fact = self.facts.follows(why, near);
                return Err(self.missing_hidden("the size of an axis", fact));
            }
            if waiting {
                held_back.push(var);
                continue;
            }
            let value = self.least(var);
            self.queue.push_back(Task::DimEq(DimVar(var).into(), value.into(), Fact::TRIVIAL));
            committed = true;
        }
        if committed {
            return Ok(());
        }
        // What a relation derives, or what a number of elements depends on, is guessed last, and one at a time.
        let derived = |s: &Solver, v: u32| (s.is_derived(v), s.dims[v as usize].flags.numerator);
        // A component that nothing takes goes first: what is left of its axis belongs to the others.
        let kept = |s: &Solver, v: u32| s.least(v) != Dim::new(0);
        let chosen = held_back.iter().copied().min_by_key(|v| (derived(self, *v), kept(self, *v)));
        if let Some(var) = chosen
            && (!leaves || derived(self, var) == (false, false))
        {
            let value = self.least(var);
            self.queue.push_back(Task::DimEq(DimVar(var).into(), value.into(), Fact::TRIVIAL));
        }
        Ok(())
    }

    /// The least value of an open axis.
    fn least(&self, var: u32) -> Dim {
        let state = &self.dims[var as usize];
        match state.at_least {
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
