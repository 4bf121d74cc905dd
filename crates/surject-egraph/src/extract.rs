//! The plan of a block: the cheapest that is found from several starts.
//!
//! A plan is sought after every phase, from the terms that are cheapest one by one and from the plan that was best so far,
//! which stays a plan as the e-graph grows. At the end the search starts again without one rule at a time, and with one
//! rule of the user alone, on the terms that do not rest on the others: more rules offer more, and the terms that look
//! cheapest may hide what one of them alone would show. What is best then gets other terms, one at a time. All of it is
//! bounded by counts, so the same program has the same plan on every machine.

use crate::algebra::Graph;
use crate::choose::{choose, shallowest};
use crate::cost::CostModel;
use crate::plan::{Budget, Plan, Search, Start, topological};
use crate::provenance::Tags;
use crate::share::share;
use crate::terms::{Class, Term, Terms};
use egg::Id;
use std::rc::Rc;
use surject_ir::Var;

/// The steps that starting again may take, and those that other terms may take after it.
const RESTART_STEPS: usize = 100_000;

/// The terms of an e-graph at one moment, and the classes of what the block stores.
#[derive(Clone)]
pub struct Snapshot {
    /// The terms.
    pub terms: Rc<Terms>,
    /// The classes of the roots.
    pub roots: Vec<Class>,
    /// The class of every stored variable.
    pub numbered: Vec<Option<Class>>,
}

impl Snapshot {
    /// The snapshot of now. `level` gives the number of statements after which an input exists.
    pub fn new(egraph: &Graph, roots: &[Id], stored: &[(Var, Id)], level: impl Fn(u32) -> u32) -> Snapshot {
        let terms = Terms::new(egraph, roots, level);
        let number = |id: Id| terms.numbers.get(&egraph.find(id)).copied();
        let roots = roots.iter().filter_map(|&id| number(id)).collect();
        let numbered = stored.iter().map(|(_, id)| number(*id)).collect();
        Snapshot { terms: Rc::new(terms), roots, numbered }
    }
}

/// A plan, the snapshot it is for, and the phase that found it.
pub struct Best {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The plan.
    pub plan: Plan,
    /// The phase.
    pub phase: String,
}

/// The extraction of a block.
pub struct Extraction<'a> {
    model: &'a CostModel,
    /// The cheapest plan so far.
    pub best: Option<Best>,
    /// What the search may spend.
    pub budget: Budget,
}

impl<'a> Extraction<'a> {
    /// Nothing found yet; `steps` bounds the search.
    pub fn new(model: &'a CostModel, steps: usize) -> Extraction<'a> {
        Extraction { model, best: None, budget: Budget::new(steps) }
    }

    /// Looks for a plan after a phase.
    pub fn phase(&mut self, name: &str, snapshot: &Snapshot, egraph: &mut Graph) {
        let choice = self.choice(snapshot, egraph, Tags::NONE);
        let kept = self.best.as_ref().map(|best| mapped(best, snapshot, egraph, &choice));
        self.consider(
            name,
            snapshot,
            Start { choice: choice.clone(), stored: None, switches: false },
            egraph,
        );
        if let Some((terms, stored)) = kept {
            let start = Start { choice, stored: Some(&stored), switches: false };
            self.consider(name, snapshot, start, egraph);
            if let Some(choice) = terms {
                let start = Start { choice, stored: Some(&stored), switches: false };
                self.consider(name, snapshot, start, egraph);
            }
        }
    }

    /// Starts again without some rules, then gives the best plan other terms. `own` are the rules of the user.
    pub fn restart(&mut self, snapshot: &Snapshot, own: Tags, egraph: &mut Graph) {
        let outer = std::mem::replace(&mut self.budget, Budget::new(RESTART_STEPS));
        let all = snapshot.terms.classes.iter().flat_map(|c| &c.tags);
        let all: Vec<usize> = all.fold(Tags::NONE, |a, &b| a.and(b)).numbers().collect();
        let mut masks: Vec<Tags> = all.iter().map(|&n| Tags::of(n)).collect();
        let others = own.numbers().filter(|n| all.contains(n)).map(|n| own.without(Tags::of(n)));
        masks.extend(others);
        for without in masks {
            // The choice looks at every term several times.
            self.budget.spend(8 * snapshot.terms.classes.len());
            if self.budget.is_spent() {
                break;
            }
            let choice = self.choice(snapshot, egraph, without);
            self.consider("restart", snapshot, Start { choice, stored: None, switches: false }, egraph);
        }
        self.budget.left = RESTART_STEPS;
        if let Some(best) = &self.best {
            let choice = best.plan.choice.clone();
            let same = Rc::ptr_eq(&best.snapshot.terms, &snapshot.terms);
            let fallback = if same { choice } else { self.choice(snapshot, egraph, Tags::NONE) };
            let best = self.best.as_ref().map(|best| mapped(best, snapshot, egraph, &fallback));
            if let Some((Some(choice), stored)) = best {
                let start = Start { choice, stored: Some(&stored), switches: true };
                self.consider("other terms", snapshot, start, egraph);
            }
        }
        let spent = std::mem::replace(&mut self.budget, outer);
        self.budget.steps += spent.steps;
        self.budget.kernels += spent.kernels;
    }

    /// The terms that are cheapest, as far as they do not rest on these rules.
    fn choice(&self, snapshot: &Snapshot, egraph: &Graph, without: Tags) -> Vec<Option<usize>> {
        let Snapshot { terms, roots, .. } = snapshot;
        let mut choice = choose(terms, self.model, &egraph.analysis, without);
        if topological(terms, &choice, roots).is_none() {
            choice = shallowest(terms);
        }
        share(terms, roots, &mut choice, self.model, &egraph.analysis, without);
        choice
    }

    fn consider(&mut self, phase: &str, snapshot: &Snapshot, start: Start<'_>, egraph: &mut Graph) {
        let Snapshot { terms, roots, .. } = snapshot;
        let plan = Search::run(terms, roots, start, self.model, &mut egraph.analysis, &mut self.budget);
        if let Some(plan) = plan
            && self.best.as_ref().is_none_or(|known| plan.cost() < known.plan.cost() * (1.0 - 1e-9))
        {
            self.best = Some(Best { snapshot: snapshot.clone(), plan, phase: phase.to_string() });
        }
    }
}

/// The plan in a later snapshot: its terms, where they still have no cycle, and its stored classes. Classes that it does
/// not reach keep the terms of `fallback`.
fn mapped(
    best: &Best,
    now: &Snapshot,
    egraph: &Graph,
    fallback: &[Option<usize>],
) -> (Option<Vec<Option<usize>>>, Vec<bool>) {
    let (terms, old) = (&now.terms, &best.snapshot.terms);
    let number = |class: Class| terms.numbers.get(&egraph.find(old.classes[class].id)).copied();
    let mut stored = vec![false; terms.classes.len()];
    for class in best.plan.kernels.keys().filter_map(|&class| number(class)) {
        stored[class] = true;
    }
    let mut choice = fallback.to_vec();
    let mut given = vec![false; terms.classes.len()];
    let reached = topological(old, &best.plan.choice, &best.snapshot.roots).unwrap_or_default();
    for class in reached {
        let Some(term) = old.term(&best.plan.choice, class) else { continue };
        let Some(new) = number(class) else { continue };
        let Some(term) = renumbered(term, number) else { continue };
        if let Some(place) = terms.classes[new].terms.iter().position(|t| *t == term)
            && !std::mem::replace(&mut given[new], true)
        {
            choice[new] = Some(place);
        }
    }
    let fits = topological(terms, &choice, &now.roots).is_some();
    (fits.then_some(choice), stored)
}

/// A term with other numbers for its operands.
fn renumbered(term: &Term, number: impl Fn(Class) -> Option<Class>) -> Option<Term> {
    Some(match term {
        Term::Input(_) | Term::Const | Term::Index(_) => term.clone(),
        Term::Point(op, xs) => Term::Point(*op, xs.iter().map(|&x| number(x)).collect::<Option<_>>()?),
        Term::Read(map, x) => Term::Read(*map, number(*x)?),
        Term::Acc(op, map, x) => Term::Acc(*op, *map, number(*x)?),
    })
}
