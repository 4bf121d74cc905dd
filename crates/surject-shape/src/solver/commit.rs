//! What closing commits: leaves and what feeds them upwards, the rest downwards, and rows that equations hold together.

use super::close::Scope;
use super::{Order, Solver, Task};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use crate::row::RowVar;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// How many sizes are tried for an axis that nothing determines.
const SIZES: usize = 16;
/// How many lengths are tried for a row.
const LENGTHS: u32 = 8;

impl Solver {
    fn commit(&mut self, var: u32, value: Dim, why: Fact) {
        self.choices.commit();
        self.queue.push_back(Task::DimEq(DimVar(var).into(), value.into(), why));
    }

    fn is_open(&self, var: u32) -> bool {
        let state = &self.dims[var as usize];
        state.parent == var && state.value.is_none()
    }

    /// Stage 4: leaf axes take their bounds. Where two of them would make one axis of two sizes, that is an error.
    ///
    /// A leaf without a bound of its own takes it from the axes it is made from, or that are made from it: these go to
    /// their bounds then, and arithmetic gives the leaf its size.
    pub(super) fn leaf_dims_with_bound(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let mut leaves: Vec<(u32, Dim)> = Vec::new();
        for &var in &scope.dims {
            let state = &self.dims[var as usize];
            if let (true, true, Some(upper)) = (self.is_open(var), state.flags.leaf, state.upper) {
                leaves.push((var, upper));
            }
        }
        let too_small = self.pushed(&leaves)?;
        for var in &too_small {
            let why = self.dims[*var as usize].upper_why;
            self.commit(*var, Dim::Unit, why);
        }
        leaves.retain(|(var, _)| !too_small.contains(var));
        // Those of which arithmetic says something may have to give way; the others do not.
        let (counted, plain): (Vec<_>, Vec<_>) =
            leaves.into_iter().partition(|(var, _)| self.domains.contains_key(var));
        for (var, bound) in &plain {
            let why = self.dims[*var as usize].upper_why;
            self.commit(*var, *bound, why);
        }
        if !plain.is_empty() || !too_small.is_empty() {
            return Ok(());
        }
        match counted.as_slice() {
            [] => {}
            [(var, bound)] => {
                self.up_or_unit(*var, *bound);
                return Ok(());
            }
            [(first, of_first), ..] => {
                // All of them, or one at a time.
                if self.choose(2, false) == 0 {
                    for (var, bound) in &counted {
                        let why = self.dims[*var as usize].upper_why;
                        let why = self.choice_fact(|s| s.dim_is(*var, *bound), why);
                        self.commit(*var, *bound, why);
                    }
                } else {
                    self.up_or_unit(*first, *of_first);
                }
                return Ok(());
            }
        }
        if let Some((var, bound)) = self.feeder(scope) {
            self.up_or_unit(var, bound);
        }
        Ok(())
    }

    /// The bound, or the unit if that is refuted.
    fn up_or_unit(&mut self, var: u32, bound: Dim) {
        let value = if self.choose(2, false) == 0 { bound } else { Dim::Unit };
        let why = self.dims[var as usize].upper_why;
        let why = self.choice_fact(|s| s.dim_is(var, value), why);
        self.commit(var, value, why);
    }

    /// An axis with a bound that is no leaf itself, and that a leaf gets its size from.
    fn feeder(&self, scope: &Scope) -> Option<(u32, Dim)> {
        if self.domains.is_empty() {
            return None;
        }
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let open_leaf = |var: &u32| self.is_open(*var) && self.dims[*var as usize].flags.leaf;
        let mut work: Vec<u32> = scope.dims.iter().copied().filter(open_leaf).collect();
        while let Some(var) = work.pop() {
            if !seen.insert(var) {
                continue;
            }
            let state = &self.dims[var as usize];
            // The bounds of what is above are bounds; through a relation all of its axes depend on each other.
            let mut near: Vec<DimTerm> = state.above.iter().map(|(sup, _)| DimVar(*sup).into()).collect();
            for number in &state.relations {
                let relation = &self.relations[*number as usize];
                if !relation.done {
                    let (dims, rows) = relation.terms();
                    near.extend(dims);
                    near.extend(rows.into_iter().flat_map(|row| self.row(row).dims().collect::<Vec<_>>()));
                }
            }
            for term in near {
                if let DimTerm::Var(next) = self.dim(term) {
                    work.push(next.0);
                }
            }
        }
        let fed = |var: &u32| {
            let two = self.domains.get(var).is_some_and(|d| d.single().is_none());
            two.then(|| Some((*var, self.dims[*var as usize].upper?)))?
        };
        seen.iter().find_map(fed)
    }

    /// The leaves whose bounds do not fit an axis above them; an error where the bounds of two do not fit each other.
    fn pushed(&mut self, leaves: &[(u32, Dim)]) -> Result<HashSet<u32>, ShapeError> {
        // What a leaf at its bound makes of the axes above it: the size, the leaf, and why.
        let mut made: HashMap<u32, (Dim, u32, Fact)> = HashMap::new();
        let mut too_small = HashSet::new();
        // What does not fit somewhere above.
        let mut misfits: HashSet<(u32, Dim)> = HashSet::new();
        for &(leaf, bound) in leaves {
            let mut reached: Vec<(u32, Fact)> = Vec::new();
            let mut seen: HashSet<u32> = HashSet::new();
            let mut work = vec![(leaf, self.dims[leaf as usize].upper_why)];
            let mut fits = true;
            while let Some((var, why)) = work.pop() {
                let root = self.find(var);
                let state = &self.dims[root as usize];
                if state.value.is_some() || !seen.insert(root) {
                    continue;
                }
                let counted = bound.size().is_some_and(|s| s < state.at_least || s > state.at_most);
                // Arithmetic has ruled it out.
                let counted = counted
                    || self.domains.get(&root).is_some_and(|d| bound.size().is_some_and(|s| !d.contains(s)));
                if counted || misfits.contains(&(root, bound)) {
                    fits = false;
                    break;
                }
                reached.push((root, why));
                if made.get(&root).is_some_and(|m| m.0 == bound) {
                    // Another leaf was here with the same size.
                    continue;
                }
                let above: Vec<(u32, Fact)> = state.above.clone();
                for (sup, edge) in above {
                    let why = self.facts.follows(edge, why);
                    work.push((sup, why));
                }
            }
            if !fits {
                misfits.insert((leaf, bound));
                too_small.insert(leaf);
                continue;
            }
            for (root, why) in reached {
                match made.get(&root).copied() {
                    Some((other, by, _)) if other != bound && by != leaf => {
                        let why_other = made[&root].2;
                        return Err(self.leaves_clash((by, other, why_other), (leaf, bound, why)));
                    }
                    Some(_) => {}
                    None => {
                        made.insert(root, (bound, leaf, why));
                    }
                }
            }
        }
        Ok(too_small)
    }

    /// Two leaves at their bounds make one axis of two sizes.
    fn leaves_clash(&mut self, a: (u32, Dim, Fact), b: (u32, Dim, Fact)) -> ShapeError {
        let mut sides = [a, b].map(|(leaf, bound, why)| {
            let state = &self.dims[leaf as usize];
            let what = if state.flags.param { "the parameter" } else { "the leaf" };
            let name = self.terminal_name(state.role_why).unwrap_or_default();
            (format!("{what} `{name}` takes its bound {bound}"), why, state.role_why, bound)
        });
        sides.sort_by(|x, y| x.0.cmp(&y.0));
        let [(left, why_left, role_left, x), (right, why_right, role_right, y)] = sides;
        let mut fact = Fact::TRIVIAL;
        for why in [role_left, role_right, why_left, why_right] {
            fact = self.facts.follows(fact, why);
        }
        self.choices.commit();
        self.choices.leaves_clash = true;
        let (kind, what) = match x.extent() == y.extent() {
            true => (ShapeErrorKind::BasisClash, "bases"),
            false => (ShapeErrorKind::SizeMismatch, "sizes"),
        };
        let text = format!("{left}, but {right}: both broadcast to one axis, and the {what} differ");
        self.error(kind, text, fact)
    }

    /// Stages 5 and 7: axes without a bound. With `leaves`, only those of leaves.
    pub(super) fn dims_downwards(&mut self, scope: &Scope, leaves: bool) -> Result<(), ShapeError> {
        let open: Vec<u32> = scope.dims.iter().copied().filter(|d| self.is_open(*d)).collect();
        let waiting: Vec<u32> = open.iter().copied().filter(|d| self.has_waiting_relation(*d)).collect();
        // A component that nothing takes goes first: what is left of its axis belongs to the others.
        let may_be_empty = |var: &u32| {
            self.least(*var) == Dim::new(0) && self.domains.get(var).is_none_or(|d| d.contains(0))
        };
        let empty = waiting.iter().copied().find(may_be_empty);
        if let Some(var) = empty {
            self.downwards(var);
            return Ok(());
        }
        let hole = |s: &Solver, var: u32| {
            let state = &s.dims[var as usize];
            state.flags.param && !state.indexed
        };
        if let Some(var) = open.iter().copied().find(|var| hole(self, *var)) {
            return Err(self.hole(var));
        }
        let mut committed = false;
        let held: HashSet<u32> = waiting.iter().copied().collect();
        let mut later = Vec::new();
        for &var in &open {
            let state = &self.dims[var as usize];
            let now = !leaves || (state.flags.leaf && state.at_least == 0);
            if now && !held.contains(&var) {
                if state.flags.leaf && self.is_below_arithmetic(var) {
                    later.push(var);
                    continue;
                }
                let value = self.least(var);
                self.commit(var, value, Fact::TRIVIAL);
                committed = true;
            }
        }
        if committed {
            return Ok(());
        }
        // What a relation derives, or what a number of elements depends on, is guessed last, and one at a time. What has
        // a bound follows from what has none.
        let key = |s: &Solver, var: u32| {
            let state = &s.dims[var as usize];
            (s.is_derived(var), state.flags.numerator, state.upper.is_some())
        };
        let candidates = waiting.iter().copied().filter(|v| !leaves || self.dims[*v as usize].flags.leaf);
        if let Some(var) = candidates.min_by_key(|v| key(self, *v)) {
            if !leaves || matches!(key(self, var), (false, false, _)) {
                self.downwards(var);
            }
        } else if !leaves {
            for var in later {
                let value = self.least(var);
                self.commit(var, value, Fact::TRIVIAL);
            }
        }
        Ok(())
    }

    /// Whether an axis above gets its size from arithmetic that is still open.
    fn is_below_arithmetic(&self, var: u32) -> bool {
        if self.domains.is_empty() {
            return false;
        }
        let (mut seen, mut work) = (HashSet::new(), vec![var]);
        while let Some(var) = work.pop() {
            let root = self.find_const(var);
            if self.dims[root as usize].value.is_some() || !seen.insert(root) {
                continue;
            }
            if self.domains.contains_key(&root) {
                return true;
            }
            work.extend(self.dims[root as usize].above.iter().map(|(sup, _)| *sup));
        }
        false
    }

    /// An axis of a parameter that nothing determines.
    fn hole(&mut self, var: u32) -> ShapeError {
        let state = &self.dims[var as usize];
        let (why, role) = (state.why, state.role_why);
        let of_relation = state.relations.iter().map(|r| self.relations[*r as usize].fact);
        let near = state.above.iter().chain(&state.below).map(|e| e.1).chain(of_relation).next();
        let fact = self.facts.follows(role, why);
        let fact = near.map_or(fact, |near| self.facts.follows(fact, near));
        self.missing_hidden("the size of an axis", fact)
    }

    /// The least size that arithmetic leaves to an axis; greater ones if that is refuted.
    fn downwards(&mut self, var: u32) {
        let values = self.values_upwards(var);
        let chosen = self.choose(values.len(), false);
        let value = values.get(chosen).copied().unwrap_or_else(|| self.least(var));
        let why = self.choice_fact(|s| s.dim_is(var, value), Fact::TRIVIAL);
        self.commit(var, value, why);
    }

    /// The values of an open axis, the least first.
    fn values_upwards(&mut self, var: u32) -> Vec<Dim> {
        let least = self.least(var);
        let upper = self.dims[var as usize].upper;
        let sizes = match self.domains.get(&var) {
            Some(domain) => domain.sizes(SIZES),
            None => least.size().into_iter().collect(),
        };
        let mut all = Vec::new();
        for size in sizes {
            if least.size() == Some(size) && !(least == Dim::Unit && self.dims[var as usize].atom) {
                all.push(least);
            }
            match upper {
                Some(upper) if upper.size().is_none_or(|s| s == size) => all.extend([upper]),
                Some(_) => {}
                None => all.extend(self.with_basis(var, size, &mut { Fact::TRIVIAL })),
            }
            if size == 1 && !self.dims[var as usize].atom {
                all.push(Dim::Unit);
            }
        }
        let mut values: Vec<Dim> = Vec::new();
        for value in all {
            if !values.contains(&value) && values.len() < SIZES {
                values.push(value);
            }
        }
        if values.is_empty() {
            values.push(least);
        }
        values
    }

    /// Stage 3: where equations of rows hold a leaf, a row with a bound takes its length, and the others follow. Lengths go
    /// through equations: both sides have as many axes.
    pub(super) fn rows_of_equations(&mut self, scope: &Scope) -> Result<(), ShapeError> {
        let mut equations: BTreeSet<u32> = BTreeSet::new();
        for &row in &scope.rows {
            let watch = &self.rows[row as usize].watch;
            equations.extend(watch.iter().filter(|n| {
                let pending = &self.pending[**n as usize];
                !pending.done && pending.order == Order::Equal
            }));
        }
        if equations.is_empty() {
            return Ok(());
        }
        // Each equation: two rows and how many axes are written beside them.
        let mut sides: Vec<[(u32, i64); 2]> = Vec::new();
        for number in equations {
            let pending = &self.pending[number as usize];
            let (a, b) = (self.row(&pending.a), self.row(&pending.b));
            if let (Some(x), Some(y)) = (a.var, b.var) {
                sides.push([(x.0, a.explicit() as i64), (y.0, b.explicit() as i64)]);
            }
        }
        let rows: BTreeSet<u32> = sides.iter().flatten().map(|(row, _)| *row).collect();
        self.begin_soft_bounds();
        let mut own: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for &row in &rows {
            if let Some(flanks) = self.length_of_bound(row) {
                own.insert(row, flanks);
            }
        }
        let mut most: BTreeMap<u32, i64> =
            own.iter().map(|(r, [l, t])| (*r, i64::from(*l) + i64::from(*t))).collect();
        let mut fed: BTreeSet<u32> =
            rows.iter().copied().filter(|r| self.rows[*r as usize].flags.leaf).collect();
        for _ in 0..=sides.len() {
            for [(x, beside_x), (y, beside_y)] in &sides {
                for (x, beside_x, y, beside_y) in [(x, beside_x, y, beside_y), (y, beside_y, x, beside_x)] {
                    if let Some(n) = most.get(y).map(|n| n + beside_y - beside_x) {
                        let entry = most.entry(*x).or_insert(n);
                        *entry = (*entry).min(n);
                    }
                    if fed.contains(y) {
                        fed.insert(*x);
                    }
                }
            }
        }
        for (row, [lead, trail]) in own {
            let Some(length) = most.get(&row).and_then(|n| u32::try_from(*n).ok()) else { continue };
            if !fed.contains(&row) || self.rows[row as usize].value.is_some() {
                continue;
            }
            let shorter = self.choose((length.min(LENGTHS) + 1) as usize, false) as u32;
            let length = length - shorter;
            let trail = trail.min(length);
            let lead = lead.min(length - trail);
            let why = self.rows[row as usize].most_why;
            return self.bind_to_length(row, [lead, trail], why);
        }
        Ok(())
    }

    /// Closes a row to no axes, unless it is one that has to be determined.
    pub(super) fn bind_empty(&mut self, row: RowVar, fact: Fact) -> Result<(), ShapeError> {
        if self.rows[row.0 as usize].value.is_some() {
            return Ok(());
        }
        if self.rows[row.0 as usize].flags.strict {
            let why = self.closing_fact(row.0);
            let fact = self.facts.follows(why, fact);
            return Err(self.missing_hidden("the axes", fact));
        }
        self.choices.commit();
        self.bind_row(row, crate::row::Row::empty(), fact)
    }
}
