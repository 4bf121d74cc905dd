//! The first choice of a term for every class: the least cost where every class is computed over its own space.
//!
//! Accumulations are counted once however many users they have, everything else once a user: without that, the cost
//! of a network of residual layers doubles with every layer, and what is decided inside a layer is lost in rounding.

use crate::algebra::Algebra;
use crate::cost::CostModel;
use crate::lang::Op;
use crate::provenance::Tags;
use crate::terms::{Class, Info, Term, Terms, points};
use std::collections::VecDeque;
use std::rc::Rc;

/// What the best term of a class costs.
#[derive(Clone, Debug)]
struct Best {
    /// The cost of its tree down to accumulations.
    local: f64,
    /// With every accumulation below, once.
    total: f64,
    /// The accumulations below, in order.
    accs: Rc<Vec<Class>>,
    depth: u32,
}

/// One term a class. The choice has no cycle: (cost, depth) falls strictly from a class to the classes its term is
/// made of. `None` for a class that cannot be computed. Terms that rest on a rule of `without` are not taken.
pub fn choose(terms: &Terms, model: &CostModel, algebra: &Algebra, without: Tags) -> Vec<Option<usize>> {
    fixpoint(terms, model, without, |info, term| own_cost(info, term, model, algebra))
}

/// What a term costs over the whole space of its class, its operands apart.
pub fn own_cost(info: &Info, term: &Term, model: &CostModel, algebra: &Algebra) -> f64 {
    match term {
        Term::Input(_) | Term::Const | Term::Index(_) => 0.0,
        Term::Point(op, _) => info.points * model.op(*op),
        Term::Read(..) => info.points * model.load,
        // A set is a renaming of positions; it is not free, or it would win over a read.
        Term::Acc(Op::Set, _, _) => info.points * model.simple,
        Term::Acc(_, map, _) => points(algebra.map(*map).domain()) * model.simple,
    }
}

/// The choice of the least depth, which cannot have a cycle.
pub fn shallowest(terms: &Terms) -> Vec<Option<usize>> {
    fixpoint(terms, &CostModel::default(), Tags::NONE, |_, _| 0.0)
}

fn fixpoint(
    terms: &Terms,
    model: &CostModel,
    without: Tags,
    cost: impl Fn(&Info, &Term) -> f64,
) -> Vec<Option<usize>> {
    let count = terms.classes.len();
    let mut best: Vec<Option<Best>> = vec![None; count];
    let mut choice: Vec<Option<usize>> = vec![None; count];
    let mut users: Vec<Vec<Class>> = vec![Vec::new(); count];
    for (number, info) in terms.classes.iter().enumerate() {
        for child in info.terms.iter().flat_map(Term::children) {
            users[*child].push(number);
        }
    }
    let mut queued = vec![true; count];
    let mut queue: VecDeque<Class> = (0..count).rev().collect();
    while let Some(number) = queue.pop_front() {
        queued[number] = false;
        let info = &terms.classes[number];
        let mut changed = false;
        for (place, term) in info.terms.iter().enumerate() {
            if info.tags[place].meets(without) {
                continue;
            }
            let Some(found) = tree(term, cost(info, term), &best, &choice, terms, model) else { continue };
            let better = match &best[number] {
                None => true,
                Some(b) => found.total < b.total || found.total == b.total && found.depth < b.depth,
            };
            if better {
                best[number] = Some(found);
                choice[number] = Some(place);
                changed = true;
            }
        }
        if changed {
            for &user in &users[number] {
                if !std::mem::replace(&mut queued[user], true) {
                    queue.push_back(user);
                }
            }
        }
    }
    choice
}

fn tree(
    term: &Term,
    own: f64,
    best: &[Option<Best>],
    choice: &[Option<usize>],
    terms: &Terms,
    model: &CostModel,
) -> Option<Best> {
    let (mut local, mut depth) = (own, 0);
    let mut accs: Rc<Vec<Class>> = Rc::default();
    for &child in term.children() {
        let below = best[child].as_ref()?;
        depth = depth.max(below.depth);
        let is_acc = matches!(terms.term(choice, child), Some(Term::Acc(op, _, _)) if *op != Op::Set);
        if is_acc {
            local += terms.classes[child].points * model.load;
            accs = union(&accs, &union(&below.accs, &Rc::new(vec![child])));
        } else {
            local += below.local;
            accs = union(&accs, &below.accs);
        }
    }
    // Far beyond any machine the sum stops growing.
    let local = local.min(1e300);
    let below: f64 = accs.iter().filter_map(|&a| best[a].as_ref()).map(|b| b.local).sum();
    Some(Best { local, total: (local + below).min(1e300), accs, depth: depth + 1 })
}

/// The union of two ordered lists.
fn union(a: &Rc<Vec<Class>>, b: &Rc<Vec<Class>>) -> Rc<Vec<Class>> {
    if a.is_empty() || Rc::ptr_eq(a, b) {
        return b.clone();
    }
    if b.is_empty() {
        return a.clone();
    }
    let mut result = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let next = a[i].min(b[j]);
        i += (a[i] == next) as usize;
        j += (b[j] == next) as usize;
        result.push(next);
    }
    result.extend_from_slice(&a[i..]);
    result.extend_from_slice(&b[j..]);
    Rc::new(result)
}
