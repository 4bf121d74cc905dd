//! Dimension constraints. The order is flat with a bottom and no joins, and that asymmetry is the algorithm: a lower bound
//! by an atom is an equation, an upper bound is remembered, and two different upper bounds meet at the unit.

use super::{Solver, Task};
use crate::dim::{Dim, DimTerm, DimVar};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;

impl Solver {
    pub(super) fn find(&mut self, mut var: u32) -> u32 {
        while self.dims[var as usize].parent != var {
            let parent = self.dims[var as usize].parent;
            let grand = self.dims[parent as usize].parent;
            self.dims[var as usize].parent = grand;
            var = grand;
        }
        var
    }

    pub(super) fn find_const(&self, mut var: u32) -> u32 {
        while self.dims[var as usize].parent != var {
            var = self.dims[var as usize].parent;
        }
        var
    }

    /// The value of a term or its root, and why it is that.
    fn view(&mut self, term: DimTerm) -> (DimTerm, Fact) {
        match term {
            DimTerm::Known(_) => (term, Fact::TRIVIAL),
            DimTerm::Var(var) => {
                let root = self.find(var.0);
                let state = &self.dims[root as usize];
                match state.value {
                    Some(value) => (DimTerm::Known(value), state.why),
                    None => (DimTerm::Var(DimVar(root)), state.why),
                }
            }
        }
    }

    pub(super) fn clash(&mut self, a: Dim, b: Dim, fact: Fact) -> ShapeError {
        self.clashed = super::explain::Clash { dims: Some((a, b)), row: None, fact: Some(fact) };
        if let Some(error) = self.undecided_clash(a, b, fact) {
            return error;
        }
        let (kind, what) = if a.extent() != b.extent() {
            (ShapeErrorKind::SizeMismatch, "sizes differ")
        } else {
            (ShapeErrorKind::BasisClash, "bases differ")
        };
        self.error(kind, format!("dimension mismatch: `{a}` against `{b}` ({what})"), fact)
    }

    pub(super) fn dim_eq(&mut self, a: DimTerm, b: DimTerm, fact: Fact) -> Result<(), ShapeError> {
        let ((a, why_a), (b, why_b)) = (self.view(a), self.view(b));
        match (a, b) {
            (DimTerm::Known(x), DimTerm::Known(y)) if self.is_one(x, y) => Ok(()),
            (DimTerm::Known(x), DimTerm::Known(y)) => {
                let fact = self.facts.follows(fact, why_a);
                let fact = self.facts.follows(fact, why_b);
                Err(self.clash(x, y, fact))
            }
            (DimTerm::Known(x), DimTerm::Var(v)) => {
                let fact = self.facts.follows(fact, why_a);
                self.bind_dim(v.0, x, fact)
            }
            (DimTerm::Var(v), DimTerm::Known(x)) => {
                let fact = self.facts.follows(fact, why_b);
                self.bind_dim(v.0, x, fact)
            }
            (DimTerm::Var(v), DimTerm::Var(w)) => self.unite(v.0, w.0, fact),
        }
    }

    pub(super) fn dim_le(&mut self, sub: DimTerm, sup: DimTerm, fact: Fact) -> Result<(), ShapeError> {
        let ((sub, why_sub), (sup, why_sup)) = (self.view(sub), self.view(sup));
        match (sub, sup) {
            (DimTerm::Known(Dim::Unit), _) => Ok(()),
            (DimTerm::Known(x), DimTerm::Known(y)) if self.is_one(x, y) => Ok(()),
            (DimTerm::Known(x), DimTerm::Known(y)) => {
                let fact = self.facts.follows(fact, why_sub);
                let fact = self.facts.follows(fact, why_sup);
                Err(self.clash(x, y, fact))
            }
            (DimTerm::Known(x), DimTerm::Var(v)) => {
                let fact = self.facts.follows(fact, why_sub);
                self.bind_dim(v.0, x, fact)
            }
            (DimTerm::Var(v), DimTerm::Known(Dim::Unit)) => {
                let fact = self.facts.follows(fact, why_sup);
                self.bind_dim(v.0, Dim::Unit, fact)
            }
            (DimTerm::Var(v), DimTerm::Known(y)) => {
                let fact = self.facts.follows(fact, why_sup);
                self.add_upper(v.0, y, fact)
            }
            (DimTerm::Var(v), DimTerm::Var(w)) if v == w => Ok(()),
            (DimTerm::Var(v), DimTerm::Var(w)) => {
                let lower = &self.dims[v.0 as usize];
                if lower.is_atom() {
                    let fact = self.facts.follows(fact, lower.at_least_why);
                    return self.unite(v.0, w.0, fact);
                }
                self.dims[v.0 as usize].above.push((w.0, fact));
                self.dims[w.0 as usize].below.push((v.0, fact));
                if let Some(upper) = self.dims[w.0 as usize].upper {
                    let fact = self.facts.follows(fact, self.dims[w.0 as usize].upper_why);
                    self.add_upper(v.0, upper, fact)?;
                }
                Ok(())
            }
        }
    }

    /// `var ⊑ dim` for an atom.
    pub(super) fn add_upper(&mut self, var: u32, dim: Dim, fact: Fact) -> Result<(), ShapeError> {
        let root = self.find(var);
        let state = &self.dims[root as usize];
        if let Some(value) = state.value {
            if value.broadcasts_to(dim) || self.is_one(value, dim) {
                return Ok(());
            }
            let fact = self.facts.follows(fact, state.why);
            return Err(self.clash(value, dim, fact));
        }
        match state.upper {
            Some(upper) if self.is_one(upper, dim) => Ok(()),
            Some(upper) => {
                let why = self.facts.follows(fact, self.dims[root as usize].upper_why);
                // Sizes that may be equal do not meet at the unit: that would be a decision on ignorance.
                if let Some(error) = self.undecided_clash(upper, dim, why) {
                    return Err(error);
                }
                let state = &self.dims[root as usize];
                if state.is_atom() {
                    let why = self.facts.follows(why, state.at_least_why);
                    return Err(self.clash(upper, dim, why));
                }
                self.bind_dim(root, Dim::Unit, why)
            }
            None => {
                let state = &mut self.dims[root as usize];
                state.upper = Some(dim);
                state.upper_why = fact;
                if state.is_atom() {
                    let fact = self.facts.follows(fact, self.dims[root as usize].at_least_why);
                    return self.bind_dim(root, dim, fact);
                }
                self.pass_upper_to(root, 0, dim, fact);
                self.wake_relations(root);
                Ok(())
            }
        }
    }

    /// Hands an upper bound to the variables below, from the `from`-th on.
    fn pass_upper_to(&mut self, root: u32, from: usize, dim: Dim, fact: Fact) {
        for i in from..self.dims[root as usize].below.len() {
            let (sub, edge) = self.dims[root as usize].below[i];
            let fact = self.facts.follows(edge, fact);
            self.queue.push_back(Task::Upper(sub, dim, fact));
        }
    }

    fn wake_relations(&mut self, root: u32) {
        for i in 0..self.dims[root as usize].relations.len() {
            let relation = self.dims[root as usize].relations[i];
            self.wake_relation(relation);
        }
    }

    /// Gives an open variable its value.
    pub(super) fn bind_dim(&mut self, root: u32, value: Dim, fact: Fact) -> Result<(), ShapeError> {
        let state = &self.dims[root as usize];
        if value.size() == Some(0) && !state.may_be_empty() {
            let fact = self.facts.follows(fact, state.why);
            return Err(self.error(ShapeErrorKind::Concat, "an axis would have no positions", fact));
        }
        // Where no index asks for it, the least size counts that axes have a position, which symbolic sizes need not have.
        let asked = state.indexed || value.size().is_some();
        if asked && !self.reaches(value, state.at_least) {
            let (at_least, why) = (state.at_least, state.at_least_why);
            let fact = self.facts.follows(fact, why);
            if let Some(error) = self.undecided_reach(value, at_least, fact) {
                return Err(error);
            }
            return Err(self.error(
                ShapeErrorKind::AtLeast,
                format!("an axis of size `{value}` is accessed at position {}", at_least - 1),
                fact,
            ));
        }
        if value.size().is_some_and(|size| size > state.at_most) {
            let why = self.facts.follows(fact, state.at_most_why);
            let text = format!("an axis of size `{value}` has {} positions by another count", state.at_most);
            return Err(self.error(ShapeErrorKind::SizeMismatch, text, why));
        }
        if let Some(upper) = state.upper
            && !value.broadcasts_to(upper)
            && !self.is_one(value, upper)
        {
            let why = state.upper_why;
            let fact = self.facts.follows(fact, why);
            return Err(self.clash(value, upper, fact));
        }
        let state = &mut self.dims[root as usize];
        let merged = state.why;
        let above = std::mem::take(&mut state.above);
        let below = std::mem::take(&mut state.below);
        state.value = Some(value);
        state.closed = if self.stage > 1 { self.closings + 1 } else { 0 };
        self.bound_count += 1;
        let fact = self.facts.follows(fact, merged);
        self.dims[root as usize].why = fact;
        if value != Dim::Unit {
            for (sup, edge) in above {
                let fact = self.facts.follows(edge, fact);
                self.queue.push_back(Task::DimEq(DimTerm::Var(DimVar(sup)), value.into(), fact));
            }
        }
        for (sub, edge) in below {
            let fact = self.facts.follows(edge, fact);
            self.queue.push_back(Task::DimLe(DimTerm::Var(DimVar(sub)), value.into(), fact));
        }
        self.wake_relations(root);
        Ok(())
    }

    /// Makes two open variables one.
    fn unite(&mut self, a: u32, b: u32, fact: Fact) -> Result<(), ShapeError> {
        if a == b {
            return Ok(());
        }
        let weight = |s: &super::DimState| s.above.len() + s.below.len() + s.relations.len();
        let (big, small) =
            if weight(&self.dims[a as usize]) >= weight(&self.dims[b as usize]) { (a, b) } else { (b, a) };
        self.dims[small as usize].parent = big;
        self.bound_count += 1;
        let taken = &mut self.dims[small as usize];
        let (above, below) = (std::mem::take(&mut taken.above), std::mem::take(&mut taken.below));
        let relations = std::mem::take(&mut taken.relations);
        let (upper, upper_why, flags) = (taken.upper, taken.upper_why, taken.flags);
        let (declared, discarded) = (taken.declared, taken.discarded);
        let (at_least, at_least_why, why) = (taken.at_least, taken.at_least_why, taken.why);
        let (at_most, at_most_why) = (taken.at_most, taken.at_most_why);
        let (indexed, role_why, atom) = (taken.indexed, taken.role_why, taken.atom);
        let fact = self.facts.follows(fact, why);
        let kept = &mut self.dims[big as usize];
        let (old_below, old_upper, old_why) = (kept.below.len(), kept.upper, kept.why);
        kept.above.extend(above);
        kept.below.extend(below);
        kept.relations.extend(relations);
        if !kept.flags.leaf {
            kept.role_why = role_why;
        }
        kept.flags = kept.flags.join(flags);
        kept.indexed |= indexed;
        kept.declared += declared;
        kept.discarded += discarded;
        self.dims[big as usize].why = self.facts.follows(fact, old_why);
        match (old_upper, upper) {
            (Some(have), _) => {
                let why = self.dims[big as usize].upper_why;
                let why = self.facts.follows(why, fact);
                self.pass_upper_to(big, old_below, have, why);
                if let Some(new) = upper {
                    let why = self.facts.follows(upper_why, fact);
                    self.queue.push_back(Task::Upper(big, new, why));
                }
            }
            (None, Some(new)) => {
                let why = self.facts.follows(upper_why, fact);
                self.dims[big as usize].upper = Some(new);
                self.dims[big as usize].upper_why = why;
                for i in 0..old_below {
                    let (sub, edge) = self.dims[big as usize].below[i];
                    let fact = self.facts.follows(edge, why);
                    self.queue.push_back(Task::Upper(sub, new, fact));
                }
            }
            (None, None) => {}
        }
        let most = at_least.max(self.dims[big as usize].at_least);
        if most > 0 {
            let why = if at_least == most { at_least_why } else { self.dims[big as usize].at_least_why };
            let why = self.facts.follows(why, fact);
            self.dims[big as usize].at_least = 0;
            self.at_least(DimVar(big).into(), most, why)?;
        }
        if at_most < self.dims[big as usize].at_most {
            self.dims[big as usize].at_most = at_most;
            self.dims[big as usize].at_most_why = self.facts.follows(at_most_why, fact);
        }
        self.within(big)?;
        if atom || self.dims[big as usize].atom {
            self.dims[big as usize].atom = false;
            let why = self.facts.follows(at_least_why, self.dims[big as usize].at_least_why);
            let why = self.facts.follows(why, fact);
            self.no_unit(DimVar(big).into(), why);
        }
        self.wake_relations(big);
        Ok(())
    }

    /// Whether an open variable may have any size.
    pub(super) fn within(&mut self, root: u32) -> Result<(), ShapeError> {
        let state = &self.dims[root as usize];
        if state.at_least <= state.at_most {
            return Ok(());
        }
        let (least, most) = (state.at_least, state.at_most);
        let fact = self.facts.follows(state.at_least_why, state.at_most_why);
        let text = format!("an axis has {most} positions by one count and at least {least} by another");
        Err(self.error(ShapeErrorKind::SizeMismatch, text, fact))
    }

    /// The size is at least so much. From two on, the variable is no unit, so it equals whatever it is below.
    pub(super) fn at_least(&mut self, dim: DimTerm, size: u64, fact: Fact) -> Result<(), ShapeError> {
        let (dim, why) = self.view(dim);
        let root = match dim {
            DimTerm::Known(value) if self.reaches(value, size) => return Ok(()),
            DimTerm::Known(value) => {
                let fact = self.facts.follows(fact, why);
                if let Some(error) = self.undecided_reach(value, size, fact) {
                    return Err(error);
                }
                return Err(self.error(
                    ShapeErrorKind::AtLeast,
                    format!("an axis of size `{value}` is accessed at position {}", size - 1),
                    fact,
                ));
            }
            DimTerm::Var(var) => var.0,
        };
        let state = &mut self.dims[root as usize];
        if state.at_least >= size {
            return Ok(());
        }
        state.at_least = size;
        state.at_least_why = fact;
        self.within(root)?;
        if size < 2 {
            return Ok(());
        }
        self.equals_what_is_above(root, fact);
        Ok(())
    }

    /// The dimension is no unit, so it equals whatever it is below.
    pub(super) fn no_unit(&mut self, dim: DimTerm, fact: Fact) {
        if let (DimTerm::Var(DimVar(root)), _) = self.view(dim)
            && !std::mem::replace(&mut self.dims[root as usize].atom, true)
        {
            let old = self.dims[root as usize].at_least_why;
            self.dims[root as usize].at_least_why = self.facts.follows(old, fact);
            self.equals_what_is_above(root, fact);
        }
    }

    fn equals_what_is_above(&mut self, root: u32, fact: Fact) {
        let state = &mut self.dims[root as usize];
        let above = std::mem::take(&mut state.above);
        let upper = state.upper.map(|u| (u, state.upper_why));
        for (sup, edge) in above {
            let fact = self.facts.follows(edge, fact);
            self.queue.push_back(Task::DimEq(DimVar(root).into(), DimVar(sup).into(), fact));
        }
        if let Some((upper, why)) = upper {
            let fact = self.facts.follows(why, fact);
            self.queue.push_back(Task::DimEq(DimVar(root).into(), upper.into(), fact));
        }
    }
}
