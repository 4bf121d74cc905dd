//! What the arithmetic of sizes forces: sums and scales solved together, numbers of elements, and the bounds of axes.
//!
//! Relations that share open variables are looked at as a group. What is found is forced, so nothing here is a guess; it is
//! not looked for with every constraint that is added, but before closing and again after each of its choices.

use super::Solver;
use super::domains::{Domain, Product, System};
use super::linear::Linear;
use super::relations::Law;
use crate::constraint::Elems;
use crate::dim::{Basis, Dim, DimTerm, DimVar, fuse};
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Fact;
use std::collections::{BTreeMap, HashMap};

/// Relations that share open variables.
#[derive(Default)]
struct Group {
    equations: Vec<Linear>,
    products: Vec<(Product, Fact)>,
}

impl Group {
    fn variables(&self) -> Vec<u32> {
        let linear = self.equations.iter().flat_map(|e| e.terms.keys().copied());
        let products = self.products.iter().flat_map(|(p, _)| p.factors.keys().copied().chain(p.times));
        let mut all: Vec<u32> = linear.chain(products).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Solver {
    /// Finds what sums, scales and numbers of elements force together, which is not looked for while constraints are added.
    ///
    /// # Errors
    /// A contradiction.
    pub(crate) fn settle(&mut self) -> Result<(), ShapeError> {
        if let Some(failed) = &self.failed {
            return Err((**failed).clone());
        }
        let result = self.deduce();
        self.keep_failure(result)
    }

    /// Binds what the waiting relations force together.
    pub(super) fn deduce(&mut self) -> Result<(), ShapeError> {
        loop {
            let waiting = std::mem::take(&mut self.waiting);
            let groups = self.groups(&waiting);
            self.waiting.extend(waiting);
            self.domains.clear();
            let mut found = false;
            for group in groups {
                found |= self.deduce_group(group)?;
            }
            if !found {
                return Ok(());
            }
            self.propagate()?;
        }
    }

    /// The waiting relations, those with variables in common together, in the order of their first ones.
    fn groups(&mut self, waiting: &[u32]) -> Vec<Group> {
        let mut parts: Vec<Group> = Vec::new();
        let mut waiting: Vec<u32> = waiting.to_vec();
        waiting.sort_unstable();
        for number in waiting {
            let relation = &self.relations[number as usize];
            if relation.done {
                continue;
            }
            let (law, fact) = (relation.law.clone(), relation.fact);
            let mut group = Group::default();
            if let Some(equation) = self.linear(&law, fact) {
                group.equations.push(equation);
            } else if let Some(product) = self.product(&law, fact) {
                group.products.push(product);
            } else {
                continue;
            }
            parts.push(group);
        }
        // Each variable names a group; groups that meet become the first of them.
        let mut of: HashMap<u32, usize> = HashMap::new();
        let mut parent: Vec<usize> = (0..parts.len()).collect();
        let find = |parent: &[usize], mut at: usize| {
            while parent[at] != at {
                at = parent[at];
            }
            at
        };
        for (number, part) in parts.iter().enumerate() {
            for var in part.variables() {
                let here = find(&parent, number);
                let there = find(&parent, *of.entry(var).or_insert(here));
                parent[here.max(there)] = here.min(there);
            }
        }
        let mut joined: BTreeMap<usize, Group> = BTreeMap::new();
        for (number, part) in parts.into_iter().enumerate() {
            let group = joined.entry(find(&parent, number)).or_default();
            group.equations.extend(part.equations);
            group.products.extend(part.products);
        }
        joined.into_values().collect()
    }

    /// A number of elements as a product over what is open.
    fn product(&mut self, law: &Law, mut fact: Fact) -> Option<(Product, Fact)> {
        let Law::Total { elems, rows, divided_by } = law else { return None };
        let mut product =
            Product { factors: BTreeMap::new(), known: 1, number: 1, times: None, divides: false };
        match *elems {
            Elems::Number(n) => product.number = n,
            Elems::Strided { coefficient, var } => match self.known(var, &mut fact) {
                Ok(dim) => product.number = coefficient.checked_mul(dim.size()?)?,
                Err(DimVar(root)) => (product.number, product.times) = (coefficient, Some(root)),
            },
        }
        let mut terms = divided_by.clone();
        for row in rows {
            let (row, why) = self.resolve(row.clone(), fact);
            fact = why;
            terms.extend(row.dims());
            product.divides |= row.var.is_some();
        }
        for term in terms {
            match self.known(term, &mut fact) {
                Ok(dim) => product.known = product.known.checked_mul(dim.size()?)?,
                Err(DimVar(root)) => *product.factors.entry(root).or_insert(0) += 1,
            }
        }
        Some((product, fact))
    }

    /// The sizes that a variable may have before any relation is looked at.
    fn domain_of(&self, root: u32) -> Domain {
        let state = &self.dims[root as usize];
        match state.upper.map(Dim::size) {
            Some(Some(upper)) => {
                let unit = (!state.is_atom()).then_some(1);
                let sizes = unit.into_iter().chain([upper]);
                Domain::of(sizes.filter(|s| (state.at_least..=state.at_most).contains(s)).collect())
            }
            // A symbolic bound names no size.
            Some(None) | None => {
                let least = state.at_least.max(u64::from(!state.may_be_empty()));
                Domain::interval(least, state.at_most)
            }
        }
    }

    /// Whether something was found.
    fn deduce_group(&mut self, group: Group) -> Result<bool, ShapeError> {
        let mut fact = Fact::TRIVIAL;
        let of_equations = group.equations.iter().map(|e| e.fact);
        for why in of_equations.chain(group.products.iter().map(|p| p.1)).collect::<Vec<_>>() {
            fact = self.facts.follows(fact, why);
        }
        let variables = group.variables();
        let mut domains: BTreeMap<u32, Domain> = BTreeMap::new();
        for &var in &variables {
            let state = &self.dims[var as usize];
            for why in [state.upper_why, state.at_least_why, state.at_most_why, state.why] {
                fact = self.facts.follows(fact, why);
            }
            let mut domain = self.domain_of(var);
            let full = group.equations.iter().any(|e| e.full && e.terms.contains_key(&var));
            if (full && domain.least == 0 && domain.without_zero().is_err()) || domain.is_empty() {
                return Err(self.no_sizes(&group, fact));
            }
            domains.insert(var, domain);
        }
        let mut equations = group.equations.clone();
        equations.extend(self.eliminated(&group.equations));
        for equation in &equations {
            let positive = equation.terms.values().all(|c| *c > 0);
            let negative = equation.terms.values().all(|c| *c < 0);
            let whole = equation.terms.keys().all(|v| domains[v].least > 0);
            if equation.constant == 0 && !equation.terms.is_empty() && (positive || negative) && whole {
                let text = "occurs check failed: an axis would be a part or a multiple of itself";
                return Err(self.error(ShapeErrorKind::Occurs, text, fact));
            }
        }
        let products = group.products.iter().map(|p| p.0.clone()).collect();
        let mut below = Vec::new();
        for &var in &variables {
            for (sup, why) in self.dims[var as usize].above.clone() {
                let sup = self.find(sup);
                if domains.contains_key(&sup) && sup != var {
                    fact = self.facts.follows(fact, why);
                    below.push((var, sup));
                }
            }
        }
        let system = System { equations, products, below };
        if system.narrow(&mut domains).is_err() {
            return Err(self.no_sizes(&group, fact));
        }
        let mut found = false;
        for (var, domain) in &domains {
            if let Some(size) = domain.single() {
                found |= self.sized(*var, size, fact)?;
            }
        }
        self.domains.extend(domains);
        Ok(found)
    }

    fn no_sizes(&self, group: &Group, fact: Fact) -> ShapeError {
        let kind = group.equations.first().map_or(ShapeErrorKind::TotalElems, |e| e.kind);
        let text = match kind {
            ShapeErrorKind::Concat => "concatenation: no sizes of the components add up",
            ShapeErrorKind::Stride => "no sizes in whole numbers fit the strides and kernels together",
            _ => "number of elements: no sizes have this product",
        };
        self.error(kind, text, fact)
    }

    /// An open axis has this size, whatever its basis. Whether that was news.
    pub(super) fn sized(&mut self, var: u32, size: u64, fact: Fact) -> Result<bool, ShapeError> {
        let root = self.find(var);
        let state = &self.dims[root as usize];
        if state.value.is_some() {
            return Ok(false);
        }
        if let Some(upper) = state.upper {
            let fact = self.facts.follows(fact, state.upper_why);
            let is_upper = match upper.size() {
                Some(of_upper) => of_upper == size,
                None => {
                    if let Some(error) = self.undecided_clash(
                        Dim::of(size.into(), upper.basis().unwrap_or(Basis::DEFAULT)),
                        upper,
                        fact,
                    ) {
                        return Err(error);
                    }
                    self.given.same(&size.into(), &upper.extent()).is_yes()
                }
            };
            return match (is_upper, size) {
                (true, 1) => self.settled(root, size, fact),
                (true, _) => self.bind_dim(root, upper, fact).map(|()| true),
                (false, 1) => self.bind_dim(root, Dim::Unit, fact).map(|()| true),
                (false, _) => Err(self.clash(Dim::new(size), upper, fact)),
            };
        }
        if size == 0 {
            return self.bind_dim(root, Dim::new(0), fact).map(|()| true);
        }
        let news = state.at_least < size && size >= 2 || state.at_most > size;
        if state.at_most > size {
            let state = &mut self.dims[root as usize];
            (state.at_most, state.at_most_why) = (size, fact);
            self.within(root)?;
        }
        if size >= 2 {
            self.at_least(DimVar(root).into(), size, fact)?;
        }
        let settled = self.settled(root, size, fact)?;
        Ok(news || settled)
    }

    /// Binds an open axis of a known size, if its basis follows or closing has to settle it.
    fn settled(&mut self, root: u32, size: u64, mut fact: Fact) -> Result<bool, ShapeError> {
        let root = self.find(root);
        if self.dims[root as usize].value.is_some() {
            return Ok(true);
        }
        let mut candidates = self.with_basis(root, size, &mut fact);
        if let [only] = candidates[..] {
            return self.bind_dim(root, only, fact).map(|()| true);
        }
        if self.stage < 4 {
            return Ok(false);
        }
        candidates.dedup();
        let value = self.likeliest(root, candidates);
        self.bind_dim(root, value, fact).map(|()| true)
    }

    /// Of what an axis of a known size can be, one: a leaf is its bound, and what broadcasts somewhere is a unit.
    pub(super) fn likeliest(&mut self, root: u32, mut candidates: Vec<Dim>) -> Dim {
        let root = self.find(root);
        let state = &self.dims[root as usize];
        let first = match (state.flags.leaf, state.upper) {
            (true, Some(upper)) => Some(upper),
            (_, upper) => (upper.is_some() || !state.above.is_empty()).then_some(Dim::Unit),
        };
        if let Some(at) = first.and_then(|f| candidates.iter().position(|c| *c == f)) {
            candidates[..=at].rotate_right(1);
        }
        let chosen = self.choose(candidates.len(), false);
        candidates.get(chosen).copied().unwrap_or(Dim::Unit)
    }

    /// What an axis of this size can be, the likeliest first, as far as its relations say; one is what it has to be.
    pub(super) fn with_basis(&mut self, root: u32, size: u64, fact: &mut Fact) -> Vec<Dim> {
        if size == 0 {
            return vec![Dim::new(0)];
        }
        let (mut likeliest, mut is_part) = (Basis::DEFAULT, false);
        for i in 0..self.dims[root as usize].relations.len() {
            let number = self.dims[root as usize].relations[i];
            let relation = &self.relations[number as usize];
            if relation.done {
                continue;
            }
            let (law, why) = (relation.law.clone(), relation.fact);
            let (whole, parts): (DimTerm, Vec<DimTerm>) = match &law {
                Law::Concat { target, parts } => (*target, parts.clone()),
                Law::Affine { input, over, kernel, .. } => {
                    let size = kernel.filter(|k| !k.padded).map(|k| k.size);
                    (*input, std::iter::once(*over).chain(size).collect())
                }
                _ => continue,
            };
            let mut why = why;
            let is_here = |s: &Solver, term: DimTerm| s.dim(term) == DimTerm::Var(DimVar(root));
            let mut known = Vec::new();
            for part in &parts {
                if let Ok(dim) = self.known(*part, &mut why) {
                    known.push(dim);
                }
            }
            let others = fuse(known.iter().copied()).unwrap_or(Basis::DEFAULT);
            if is_here(self, whole) {
                // What is made from parts has their basis, and it is no unit, unless it is a single part.
                if others != Basis::DEFAULT {
                    likeliest = others;
                }
            } else if let Ok(Dim::Size { basis, .. }) = self.known(whole, &mut why) {
                if basis == Basis::DEFAULT && size >= 2 {
                    *fact = self.facts.follows(*fact, why);
                    return vec![Dim::new(size)];
                }
                (likeliest, is_part) = (basis, true);
            }
        }
        let mut all = vec![Dim::Size { size, basis: likeliest }, Dim::new(size)];
        if size == 1 && !self.dims[root as usize].atom {
            // What no sum or scale reads makes no claim.
            all.insert(if is_part { all.len() } else { 0 }, Dim::Unit);
        }
        all.dedup();
        if all.len() == 1 {
            // The basis is not determined all the same.
            all.push(all[0]);
        }
        all
    }
}
