//! Row constraints: flanks are aligned at their outer edges, and the variable at the marker takes the rest.

use super::{NO_LIMIT, Order, Pending, Solver, Task};
use crate::dim::DimTerm;
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::{Row, RowVar};

impl Solver {
    pub(super) fn post_row(&mut self, order: Order, a: Row, b: Row, fact: Fact) {
        if let (Order::Below, Some(sub), Some(sup)) = (order, a.var, b.var) {
            let surplus = |x: &[DimTerm], y: &[DimTerm]| x.len() as i64 - y.len() as i64;
            self.rank.below(sub, sup, [surplus(&a.lead, &b.lead), surplus(&a.trail, &b.trail)], fact);
        }
        let number = self.pending.len() as u32;
        let source = self.facts.number(fact);
        let watched = [None; 2];
        let taken = [0; 2];
        self.pending.push(Pending { order, a, b, fact, done: false, queued: true, watched, source, taken });
        self.queue.push_back(Task::Row(number));
    }

    /// Substitutes what is bound.
    pub(super) fn resolve(&mut self, mut row: Row, mut fact: Fact) -> (Row, Fact) {
        while let Some(var) = row.var {
            let state = &self.rows[var.0 as usize];
            let Some(value) = &state.value else { break };
            row.splice(value);
            fact = self.facts.follows(fact, state.why);
        }
        (row, fact)
    }

    /// Whether the row goes through a marker that an equation placed.
    fn is_loose(&self, row: &Row) -> bool {
        let mut var = row.var;
        while let Some(v) = var {
            let state = &self.rows[v.0 as usize];
            let Some(value) = &state.value else { return false };
            if state.loose {
                return true;
            }
            var = value.var;
        }
        false
    }

    pub(super) fn row_constraint(&mut self, number: u32) -> Result<(), ShapeError> {
        let pending = &mut self.pending[number as usize];
        pending.queued = false;
        if pending.done {
            return Ok(());
        }
        let (order, fact) = (pending.order, pending.fact);
        if self.exact_markers && order == Order::Below && self.stage == 1 {
            let pending = &self.pending[number as usize];
            if self.is_loose(&pending.a) || self.is_loose(&pending.b) {
                self.postponed.push(number);
                return Ok(());
            }
        }
        let pending = &mut self.pending[number as usize];
        let (a, b) = (std::mem::take(&mut pending.a), std::mem::take(&mut pending.b));
        let (a, fact) = self.resolve(a, fact);
        let (b, fact) = self.resolve(b, fact);
        let rest = match order {
            Order::Equal => self.rows_equal(number, a, b, fact)?,
            Order::Below => self.row_below(number, a, b, fact)?,
        };
        match rest {
            None => self.pending[number as usize].done = true,
            Some((a, b, fact)) => {
                let vars = [a.var, b.var];
                let pending = &mut self.pending[number as usize];
                (pending.a, pending.b, pending.fact) = (a, b, fact);
                let watched = std::mem::replace(&mut pending.watched, vars);
                for var in vars.into_iter().flatten() {
                    if !watched.contains(&Some(var)) {
                        self.rows[var.0 as usize].watch.push(number);
                    }
                }
                if order == Order::Below {
                    self.limit_by(number)?;
                }
            }
        }
        Ok(())
    }

    /// Aligns `sub ⊑ sup`; what is left is `⟨ρ⟩ ⊑ l · m · r`.
    fn row_below(
        &mut self,
        number: u32,
        mut sub: Row,
        mut sup: Row,
        mut fact: Fact,
    ) -> Result<Option<(Row, Row, Fact)>, ShapeError> {
        let missing = |x: &[DimTerm], y: &[DimTerm]| x.len().saturating_sub(y.len());
        let (lead, trail) = (missing(&sub.lead, &sup.lead), missing(&sub.trail, &sup.trail));
        if lead > 0 || trail > 0 {
            match sup.var {
                None => {
                    self.clashed.row = self.pending[number as usize].source;
                    return Err(self.error(
                        ShapeErrorKind::RankMismatch,
                        format!(
                            "too many axes: {} before and {} after the marker do not fit a closed row with {} and {}",
                            sub.lead.len(),
                            sub.trail.len(),
                            sup.lead.len(),
                            sup.trail.len()
                        ),
                        fact,
                    ));
                }
                Some(var) if sub.var == Some(var) => {
                    return Err(self.error(
                        ShapeErrorKind::RankCycle,
                        "infinite number of axes: a row would have to be longer than itself",
                        fact,
                    ));
                }
                Some(var) => {
                    self.grow(var, lead, trail, fact)?;
                    (sup, fact) = self.resolve(sup, fact);
                }
            }
        }
        for (i, (a, b)) in sub.lead.iter().zip(&sup.lead).enumerate() {
            let fact = self.site(number, fact, i, false);
            self.queue.push_back(Task::DimLe(*a, *b, fact));
        }
        for (i, (a, b)) in sub.trail.iter().rev().zip(sup.trail.iter().rev()).enumerate() {
            let fact = self.site(number, fact, i, true);
            self.queue.push_back(Task::DimLe(*a, *b, fact));
        }
        self.take(number, sub.lead.len(), sub.trail.len());
        let Some(var) = sub.var else { return Ok(None) };
        sup.lead.drain(..sub.lead.len());
        sup.trail.truncate(sup.trail.len() - sub.trail.len());
        if sup.explicit() == 0 {
            if sup.var == Some(var) {
                return Ok(None);
            }
            if sup.var.is_none() {
                self.bind_row(var, Row::empty(), fact)?;
                return Ok(None);
            }
        }
        sub = Row::open(var);
        Ok(Some((sub, sup, fact)))
    }

    /// Makes a variable longer by fresh axes: forced, because what is below it has them.
    pub(super) fn grow(
        &mut self,
        var: RowVar,
        lead: usize,
        trail: usize,
        fact: Fact,
    ) -> Result<(), ShapeError> {
        let state = &self.rows[var.0 as usize];
        let flags = state.flags;
        let grown = state.grown + (lead + trail) as u32;
        let most = state.most;
        if self.rank.suspicious(grown)
            && let Some(cycle) = self.rank.cycle(self.rows.len())
        {
            let mut fact = fact;
            for edge in cycle {
                fact = self.facts.follows(fact, edge);
            }
            return Err(self.error(
                ShapeErrorKind::RankCycle,
                "infinite number of axes: each of these rows has to be longer than the next",
                fact,
            ));
        }
        // The rest of a parameter that was grown by its use may close to nothing.
        let rest = self.fresh_row_with(super::Flags { strict: false, ..flags }, grown);
        let shrink =
            |most: u32, by: usize| if most == NO_LIMIT { most } else { most.saturating_sub(by as u32) };
        self.rows[rest.0 as usize].most = [shrink(most[0], lead), shrink(most[1], trail)];
        self.rows[rest.0 as usize].most_why = self.rows[var.0 as usize].most_why;
        let lead = (0..lead).map(|_| self.fresh_dim_with(flags).into()).collect();
        let trail = (0..trail).map(|_| self.fresh_dim_with(flags).into()).collect();
        self.bind_row(var, Row::new(lead, Some(rest), trail), fact)
    }

    pub(super) fn bind_row(&mut self, var: RowVar, value: Row, fact: Fact) -> Result<(), ShapeError> {
        let flags = self.rows[var.0 as usize].flags;
        let role_why = self.rows[var.0 as usize].role_why;
        self.mark_row(&value, flags, role_why);
        if let Some(rest) = value.var {
            self.rank.equal(var, rest, [value.lead.len() as i64, value.trail.len() as i64], fact);
        }
        self.bound_count += 1;
        let state = &mut self.rows[var.0 as usize];
        state.value = Some(value);
        state.closed = if self.stage > 1 { self.closings + 1 } else { 0 };
        state.why = fact;
        let watch = std::mem::take(&mut state.watch);
        let relations = std::mem::take(&mut state.relations);
        for number in watch {
            self.wake_row(number);
        }
        for number in relations {
            self.wake_relation(number);
        }
        Ok(())
    }

    fn wake_row(&mut self, number: u32) {
        let pending = &mut self.pending[number as usize];
        if !pending.done && !pending.queued {
            pending.queued = true;
            self.queue.push_back(Task::Row(number));
        }
    }

    /// How long the sub side of `⟨ρ⟩ ⊑ l · m · r` can be.
    fn limit_by(&mut self, number: u32) -> Result<(), ShapeError> {
        let pending = &self.pending[number as usize];
        let Some(var) = pending.a.var else { return Ok(()) };
        if pending.b.var == Some(var) {
            return Ok(());
        }
        let (inner, why) = match pending.b.var {
            None => ([0, 0], Fact::TRIVIAL),
            Some(sup) => (self.rows[sup.0 as usize].most, self.rows[sup.0 as usize].most_why),
        };
        let plus = |flank: &[DimTerm], inner: u32| inner.saturating_add(flank.len() as u32);
        let most = [plus(&pending.b.lead, inner[0]), plus(&pending.b.trail, inner[1])];
        let fact = pending.fact;
        let state = &mut self.rows[var.0 as usize];
        let new = [state.most[0].min(most[0]), state.most[1].min(most[1])];
        if new == state.most {
            return Ok(());
        }
        state.most = new;
        let old = state.most_why;
        let fact = self.facts.follows(fact, why);
        self.rows[var.0 as usize].most_why = self.facts.follows(fact, old);
        if new == [0, 0] {
            let why = self.rows[var.0 as usize].most_why;
            return self.bind_row(var, Row::empty(), why);
        }
        self.queue.push_back(Task::Limit(var.0));
        Ok(())
    }

    /// Hands a new limit to the rows below.
    pub(super) fn pass_limit(&mut self, var: u32) -> Result<(), ShapeError> {
        let mut i = 0;
        while i < self.rows[var as usize].watch.len() {
            let number = self.rows[var as usize].watch[i];
            i += 1;
            let pending = &self.pending[number as usize];
            if !pending.done
                && !pending.queued
                && pending.order == Order::Below
                && pending.b.var == Some(RowVar(var))
            {
                self.limit_by(number)?;
            }
        }
        Ok(())
    }

    /// What a row constraint says of the axis that is `place` axes from the edge of what is left of it.
    fn site(&mut self, number: u32, fact: Fact, place: usize, trail: bool) -> Fact {
        let pending = &self.pending[number as usize];
        let place = place + usize::from(pending.taken[usize::from(trail)]);
        self.facts.at(fact, pending.source, place, trail)
    }

    /// So many axes of a row constraint are used up.
    fn take(&mut self, number: u32, lead: usize, trail: usize) {
        let taken = &mut self.pending[number as usize].taken;
        let more = |old: u16, by: usize| old.saturating_add(u16::try_from(by).unwrap_or(u16::MAX));
        *taken = [more(taken[0], lead), more(taken[1], trail)];
    }

    fn pair(&mut self, a: DimTerm, b: DimTerm, fact: Fact) {
        if a != b {
            self.queue.push_back(Task::DimEq(a, b, fact));
        }
    }

    fn wrong_rank(&mut self, number: u32, a: &Row, b: &Row, fact: Fact) -> ShapeError {
        self.clashed.row = self.pending[number as usize].source;
        self.error(
            ShapeErrorKind::RankMismatch,
            format!("number of axes mismatch: {} against {}", a.explicit(), b.explicit()),
            fact,
        )
    }

    /// Equality is blind to the marker: the axes are compared in order.
    fn rows_equal(
        &mut self,
        number: u32,
        mut a: Row,
        mut b: Row,
        fact: Fact,
    ) -> Result<Option<(Row, Row, Fact)>, ShapeError> {
        let (var_a, var_b) = match (a.var, b.var) {
            (None, None) => {
                if a.explicit() != b.explicit() {
                    return Err(self.wrong_rank(number, &a, &b, fact));
                }
                for (i, (x, y)) in a.dims().zip(b.dims()).enumerate() {
                    let fact = self.site(number, fact, i, false);
                    self.pair(x, y, fact);
                }
                return Ok(None);
            }
            (None, Some(_)) => return self.rows_equal_closed(number, b, a, fact),
            (Some(_), None) => return self.rows_equal_closed(number, a, b, fact),
            (Some(a), Some(b)) => (a, b),
        };
        let same = var_a == var_b;
        if same && a.explicit() != b.explicit() {
            return Err(self.error(
                ShapeErrorKind::RankCycle,
                "infinite number of axes: a row would have to be longer than itself",
                fact,
            ));
        }
        let lead = a.lead.len().min(b.lead.len());
        for (i, (x, y)) in a.lead.drain(..lead).zip(b.lead.drain(..lead)).enumerate() {
            let fact = self.site(number, fact, i, false);
            self.pair(x, y, fact);
        }
        let trail = a.trail.len().min(b.trail.len());
        let (from_a, from_b) = (a.trail.len() - trail, b.trail.len() - trail);
        for (i, (x, y)) in a.trail.drain(from_a..).zip(b.trail.drain(from_b..)).enumerate() {
            let fact = self.site(number, fact, trail - 1 - i, true);
            self.pair(x, y, fact);
        }
        self.take(number, lead, trail);
        match (a.explicit(), b.explicit()) {
            (0, 0) if same => Ok(None),
            (0, _) => self.place(var_a, b, fact),
            (_, 0) => self.place(var_b, a, fact),
            // A shifted equation, or a surplus on both sides: how the two overlap is not determined yet.
            _ if self.stage < 6 => Ok(Some((a, b, fact))),
            _ => self.overlap(a, b, fact),
        }
    }

    fn place(&mut self, var: RowVar, value: Row, fact: Fact) -> Result<Option<(Row, Row, Fact)>, ShapeError> {
        self.placed_marker = true;
        self.rows[var.0 as usize].loose = true;
        self.bind_row(var, value, fact)?;
        Ok(None)
    }

    fn rows_equal_closed(
        &mut self,
        number: u32,
        open: Row,
        closed: Row,
        fact: Fact,
    ) -> Result<Option<(Row, Row, Fact)>, ShapeError> {
        let (Some(var), Some(middle)) = (open.var, closed.explicit().checked_sub(open.explicit())) else {
            return Err(self.wrong_rank(number, &open, &closed, fact));
        };
        let flat: Vec<DimTerm> = closed.dims().collect();
        let from = open.lead.len();
        for (i, (x, y)) in open.lead.iter().zip(&flat).enumerate() {
            let fact = self.site(number, fact, i, false);
            self.pair(*x, *y, fact);
        }
        for (i, (x, y)) in open.trail.iter().rev().zip(flat.iter().rev()).enumerate() {
            let fact = self.site(number, fact, i, true);
            self.pair(*x, *y, fact);
        }
        // The variable takes the marker of the closed side, as far as that lies within it.
        let marker = closed.lead.len().clamp(from, from + middle);
        let value = Row::new(flat[from..marker].to_vec(), None, flat[marker..from + middle].to_vec());
        if middle > 0 {
            self.placed_marker = true;
            self.rows[var.0 as usize].loose = true;
        }
        self.bind_row(var, value, fact)?;
        Ok(None)
    }

    /// Two rows `l·⟨ρ⟩ = ⟨σ⟩·r` (or the mirror image) at closing: the shortest overlap without a known clash.
    fn overlap(&mut self, a: Row, b: Row, fact: Fact) -> Result<Option<(Row, Row, Fact)>, ShapeError> {
        let (front, back) = if a.lead.is_empty() { (b, a) } else { (a, b) };
        let (Some(var_front), Some(var_back)) = (front.var, back.var) else { return Ok(None) };
        let (l, r) = (&front.lead, &back.trail);
        if var_front == var_back {
            self.choices.commit();
            self.bind_row(var_front, Row::empty(), fact)?;
            return Ok(Some((front, back, fact)));
        }
        let fits = |length: &usize| {
            let start = length - r.len();
            (start..l.len()).all(|i| match (self.dim(l[i]), self.dim(r[i - start])) {
                (DimTerm::Known(x), DimTerm::Known(y)) => x == y,
                _ => true,
            })
        };
        let lengths: Vec<usize> = (l.len().max(r.len())..=l.len() + r.len()).filter(fits).collect();
        let chosen = self.choose(lengths.len(), false);
        if let Some(length) = lengths.get(chosen) {
            let after = Row::closed(r[r.len() - (length - l.len())..].iter().copied());
            let before = Row::closed(l[..length - r.len()].iter().copied());
            self.bind_row(var_front, after, fact)?;
            self.bind_row(var_back, before, fact)?;
        }
        Ok(Some((front, back, fact)))
    }
}
