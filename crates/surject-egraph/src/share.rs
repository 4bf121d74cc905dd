//! Sharing: terms chosen class by class do not see that another class, which is needed anyway, is a read away. This
//! pass counts every class once and changes one term at a time: a transposed contraction becomes a read of the one
//! that exists.

use crate::algebra::Algebra;
use crate::choose::own_cost;
use crate::cost::CostModel;
use crate::lang::Op;
use crate::plan::topological;
use crate::provenance::Tags;
use crate::terms::{Class, Term, Terms};
use surject_ir::BinaryOp;

/// Elements of a vector of the widest machine.
const LANES: u64 = 16;

/// How often every class is looked at.
const PASSES: usize = 3;

/// Improves a choice without a cycle; the result has none either. Terms that rest on a rule of `without` are not taken.
pub fn share(
    terms: &Terms,
    roots: &[Class],
    choice: &mut [Option<usize>],
    model: &CostModel,
    algebra: &Algebra,
    without: Tags,
) {
    let every: Vec<Class> = (0..terms.classes.len()).filter(|&c| choice[c].is_some()).collect();
    for _ in 0..PASSES {
        let Some(order) = topological(terms, choice, roots) else { return };
        let Some(all) = topological(terms, choice, &every) else { return };
        let mut sharing = Sharing::new(terms, roots, choice, model, algebra, &order);
        sharing.without = without;
        sharing.place(&all);
        // What nobody needs yet may be a read away from what is needed: its user sees that only if it has that term.
        for &class in &all {
            if sharing.uses[class] == 0 && terms.classes[class].terms.len() > 1 {
                sharing.prefer(class);
            }
        }
        let mut changed = false;
        for &class in order.iter().rev() {
            if sharing.uses[class] > 0 && terms.classes[class].terms.len() > 1 && !sharing.product[class] {
                changed |= sharing.improve(class);
            }
        }
        if !changed {
            break;
        }
    }
    settle(terms, roots, choice, algebra);
}

/// Stores contractions with the longer of two axes last, where both orders are known: a vector holds neighbours along
/// the last axis. Its readers go through it in the order of theirs either way.
fn settle(terms: &Terms, roots: &[Class], choice: &mut [Option<usize>], algebra: &Algebra) {
    let Some(order) = topological(terms, choice, roots) else { return };
    let last = |class: Class| {
        let extents = algebra.space(terms.classes[class].space).extents();
        // Nothing is known of a symbolic axis, which comes before the others.
        extents.last().and_then(|e| e.as_const())
    };
    for &class in order.iter().rev() {
        let contracts = |c: Class| match terms.term(choice, c) {
            Some(Term::Acc(Op::Binary(BinaryOp::Add), _, body)) => {
                is_contraction(terms, terms.term(choice, *body))
            }
            _ => false,
        };
        if roots.contains(&class) || last(class) >= Some(LANES) || !contracts(class) {
            continue;
        }
        let moved = |term: &Term| match term {
            Term::Read(map, from) => {
                let axes = algebra.map(*map).is_projection();
                let whole = axes.is_some_and(|axes| axes.len() == algebra.map(*map).domain().rank());
                whole && last(*from) >= Some(LANES) && !order.contains(from) && contracts(*from)
            }
            _ => false,
        };
        if let Some(place) = terms.classes[class].terms.iter().position(moved) {
            let before = choice[class].replace(place);
            if topological(terms, choice, roots).is_none() {
                choice[class] = before;
            }
        }
    }
}

/// A product in which each factor leaves out an axis that the other depends on.
fn is_contraction(terms: &Terms, body: Option<&Term>) -> bool {
    let Some(Term::Point(Some(Op::Binary(BinaryOp::Mul)), factors)) = body else { return false };
    let deps = |c: Class| terms.classes[c].deps;
    match factors[..] {
        [a, b] => !deps(a).without(deps(b)).is_empty() && !deps(b).without(deps(a)).is_empty(),
        _ => false,
    }
}

struct Sharing<'a> {
    terms: &'a Terms,
    choice: &'a mut [Option<usize>],
    model: &'a CostModel,
    algebra: &'a Algebra,
    /// How many chosen terms of reachable classes use a class; roots are used once more.
    uses: Vec<u32>,
    /// The products of contractions, which keep their form.
    product: Vec<bool>,
    /// The classes with a term, operands before their users, and where each stands.
    order: Vec<Class>,
    position: Vec<usize>,
    /// The classes that the last search for a cycle met.
    met: Vec<Class>,
    seen: Vec<bool>,
    /// Terms that rest on one of these rules are not taken.
    without: Tags,
}

impl<'a> Sharing<'a> {
    fn new(
        terms: &'a Terms,
        roots: &[Class],
        choice: &'a mut [Option<usize>],
        model: &'a CostModel,
        algebra: &'a Algebra,
        order: &[Class],
    ) -> Sharing<'a> {
        let mut uses = vec![0; terms.classes.len()];
        let mut product = vec![false; terms.classes.len()];
        roots.iter().for_each(|&r| uses[r] += 1);
        for &class in order {
            let Some(term) = terms.term(choice, class) else { continue };
            term.children().iter().for_each(|&c| uses[c] += 1);
            if let Term::Acc(Op::Binary(BinaryOp::Add), _, body) = term {
                product[*body] |= is_contraction(terms, terms.term(choice, *body));
            }
        }
        let count = terms.classes.len();
        let (position, seen) = (vec![usize::MAX; count], vec![false; count]);
        Sharing {
            terms,
            choice,
            model,
            algebra,
            uses,
            product,
            order: Vec::new(),
            position,
            met: Vec::new(),
            seen,
            without: Tags::NONE,
        }
    }

    /// Orders the classes by the length of their longest path: neighbours in a deep program stand close together.
    fn place(&mut self, operands_first: &[Class]) {
        let mut length = vec![0usize; self.terms.classes.len()];
        for &class in operands_first {
            let below = self.children(class).iter().map(|&c| length[c] + 1).max();
            length[class] = below.unwrap_or(0);
        }
        self.order = operands_first.to_vec();
        self.order.sort_by_key(|&c| (length[c], c));
        for (place, &class) in self.order.iter().enumerate() {
            self.position[class] = place;
        }
    }

    fn children(&self, class: Class) -> &'a [Class] {
        let terms = self.terms;
        terms.term(self.choice, class).map_or(&[][..], Term::children)
    }

    fn own(&self, class: Class) -> f64 {
        let term = self.terms.term(self.choice, class);
        term.map_or(0.0, |t| own_cost(&self.terms.classes[class], t, self.model, self.algebra))
    }

    /// Takes the operands of a term away; returns the cost of what nobody needs any more.
    fn release(&mut self, class: Class) -> f64 {
        let mut freed = 0.0;
        let mut stack = vec![class];
        while let Some(top) = stack.pop() {
            freed += self.own(top);
            let terms = self.terms;
            let children = terms.term(self.choice, top).map_or(&[][..], Term::children);
            for &child in children {
                self.uses[child] -= 1;
                if self.uses[child] == 0 {
                    stack.push(child);
                }
            }
        }
        freed
    }

    /// Adds the operands of a term; returns the cost of what was not needed before.
    fn retain(&mut self, class: Class) -> f64 {
        let mut added = 0.0;
        let mut stack = vec![class];
        while let Some(top) = stack.pop() {
            added += self.own(top);
            let terms = self.terms;
            let children = terms.term(self.choice, top).map_or(&[][..], Term::children);
            for &child in children {
                self.uses[child] += 1;
                if self.uses[child] == 1 {
                    stack.push(child);
                }
            }
        }
        added
    }

    /// Does the choice lead from one of these classes to another? Only classes that stand behind it can: the walk
    /// stays between it and them, and leaves what it met in `met`.
    fn reaches(&mut self, from: &[Class], to: Class) -> bool {
        let bound = self.position[to];
        self.met.clear();
        let mut found = false;
        let mut stack: Vec<Class> = from.to_vec();
        while let Some(top) = stack.pop() {
            found |= top == to;
            if found {
                break;
            }
            if self.position[top] > bound && !std::mem::replace(&mut self.seen[top], true) {
                self.met.push(top);
                stack.extend(self.children(top));
            }
        }
        for &class in &self.met {
            self.seen[class] = false;
        }
        found
    }

    /// Keeps operands before users, now that a class has the term it has: what its operands reach behind it moves
    /// to its front.
    fn reorder(&mut self, class: Class) {
        let children = self.children(class);
        if self.reaches(children, class) || self.met.is_empty() {
            return;
        }
        let mut moved = std::mem::take(&mut self.met);
        moved.sort_by_key(|&c| self.position[c]);
        let first = self.position[class];
        let last = moved.last().map_or(first, |&c| self.position[c]);
        moved.iter().for_each(|&c| self.seen[c] = true);
        let stay: Vec<Class> = self.order[first..=last].iter().copied().filter(|&c| !self.seen[c]).collect();
        moved.iter().for_each(|&c| self.seen[c] = false);
        for (place, &c) in (first..).zip(moved.iter().chain(&stay)) {
            self.order[place] = c;
            self.position[c] = place;
        }
        self.met = moved;
    }

    /// Gives a class the term that makes the whole cheapest.
    fn improve(&mut self, class: Class) -> bool {
        let freed = self.release(class);
        let changed = self.pick(class, freed);
        self.retain(class);
        changed
    }

    /// Gives a class that nobody needs the term that would add the least.
    fn prefer(&mut self, class: Class) {
        let added = self.retain(class);
        self.release(class);
        self.pick(class, added);
    }

    /// Gives a class whose operands are released the term that adds the least, if that is less than `now`, which is
    /// what its own term adds.
    fn pick(&mut self, class: Class, now: f64) -> bool {
        let before = self.choice[class];
        let mut best = (now * (1.0 - 1e-9), before);
        for place in 0..self.terms.classes[class].terms.len() {
            let terms = self.terms;
            let term = &terms.classes[class].terms[place];
            if Some(place) == before || terms.classes[class].tags[place].meets(self.without) {
                continue;
            }
            if term.children().iter().any(|&c| self.terms.term(self.choice, c).is_none())
                || self.reaches(term.children(), class)
            {
                continue;
            }
            self.choice[class] = Some(place);
            let cost = self.retain(class);
            self.release(class);
            if cost < best.0 {
                best = (cost, Some(place));
            }
        }
        self.choice[class] = best.1;
        if best.1 == before {
            return false;
        }
        self.reorder(class);
        true
    }
}
