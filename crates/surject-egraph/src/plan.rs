//! A plan: the term of every class, the stored classes, and what their kernels cost. Found by local search over
//! the set of stored classes, one toggle at a time; a toggle re-costs one kernel and its readers.

use crate::algebra::Algebra;
use crate::cost::CostModel;
use crate::kernel::{Kernel, Walker};
use crate::lang::Op;
use crate::terms::{Class, Term, Terms};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use surject_ir::DType;

/// A plan for one block.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The chosen term of every class.
    pub choice: Vec<Option<usize>>,
    /// Which classes are stored.
    pub stored: Vec<bool>,
    /// The kernel of every stored class.
    pub kernels: BTreeMap<Class, Kernel>,
}

/// What a search may spend and has spent: a count, so that what is found does not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// How many values of kernels may still be walked.
    pub left: usize,
    /// How many were.
    pub steps: usize,
    /// Kernels evaluated.
    pub kernels: usize,
}

impl Budget {
    /// So many steps.
    pub fn new(left: usize) -> Budget {
        Budget { left, steps: 0, kernels: 0 }
    }

    /// Spends some.
    pub fn spend(&mut self, steps: usize) {
        self.steps += steps;
        self.left = self.left.saturating_sub(steps);
    }

    /// Is nothing left?
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Where a search starts.
pub struct Start<'a> {
    /// A term for every class.
    pub choice: Vec<Option<usize>>,
    /// The stored classes; where there are none, those of the start rule.
    pub stored: Option<&'a [bool]>,
    /// Are other terms tried too?
    pub switches: bool,
}

impl Plan {
    /// The whole cost.
    pub fn cost(&self) -> f64 {
        self.kernels.values().map(|k| k.cost).sum()
    }
}

/// The search for a plan.
pub struct Search<'a> {
    pub(crate) terms: &'a Terms,
    model: &'a CostModel,
    algebra: &'a mut Algebra,
    trims: HashMap<crate::algebra::MapId, (crate::algebra::MapId, usize)>,
    pub(crate) budget: &'a mut Budget,
    pub(crate) plan: Plan,
    pub(crate) root: Vec<bool>,
    /// Kernels that read a class.
    pub(crate) readers: Vec<BTreeSet<Class>>,
    /// Kernels that evaluate a class in place.
    pub(crate) users: Vec<BTreeSet<Class>>,
    /// The classes whose chosen terms use a class.
    pub(crate) parents: Vec<Vec<Class>>,
    /// What the kernels were before a move that is on trial.
    pub(crate) undo: Option<Vec<(Class, Option<Kernel>)>>,
}

impl<'a> Search<'a> {
    /// Finds a plan for the roots. `None` when the choice of the start has a cycle or leaves a class without a term.
    pub fn run(
        terms: &'a Terms,
        roots: &[Class],
        start: Start<'_>,
        model: &'a CostModel,
        algebra: &'a mut Algebra,
        budget: &'a mut Budget,
    ) -> Option<Plan> {
        let Start { choice, stored, switches } = start;
        let count = terms.classes.len();
        let order = topological(terms, &choice, roots)?;
        let mut root = vec![false; count];
        let input = |c: Class| matches!(terms.term(&choice, c), Some(Term::Input(_)));
        for &class in roots {
            root[class] = !input(class);
        }
        let mut stored = match stored {
            Some(start) => start.to_vec(),
            None => start_rule(terms, &choice, &order, algebra),
        };
        for class in 0..count {
            stored[class] =
                root[class] || stored[class] && !terms.term(&choice, class).is_none_or(Term::is_leaf);
        }
        let plan = Plan { choice, stored, kernels: BTreeMap::new() };
        let mut search = Search {
            terms,
            model,
            algebra,
            trims: HashMap::default(),
            budget,
            plan,
            root,
            readers: vec![BTreeSet::new(); count],
            users: vec![BTreeSet::new(); count],
            parents: vec![Vec::new(); count],
            undo: None,
        };
        for &class in &order {
            let children = terms.term(&search.plan.choice, class).map_or(&[][..], Term::children);
            for &child in children {
                search.parents[child].push(class);
            }
        }
        search.build(roots);
        search.improve(&order);
        if switches {
            search.switch_terms(&order);
        }
        search.narrow(&order);
        Some(search.plan)
    }

    pub(crate) fn kernel(&mut self, class: Class) -> Kernel {
        let mut walker = Walker {
            terms: self.terms,
            choice: &self.plan.choice,
            algebra: self.algebra,
            model: self.model,
            trims: &mut self.trims,
            lenient: false,
        };
        let kernel = walker.kernel(class, &self.plan.stored);
        self.budget.kernels += 1;
        self.budget.spend(kernel.steps);
        kernel
    }

    pub(crate) fn insert(&mut self, class: Class, kernel: Kernel) {
        self.remove(class);
        if let Some(undo) = &mut self.undo {
            undo.push((class, None));
        }
        for &(read, _) in &kernel.reads {
            self.readers[read].insert(class);
        }
        for &(inlined, _) in &kernel.inlined {
            self.users[inlined].insert(class);
        }
        self.plan.kernels.insert(class, kernel);
    }

    pub(crate) fn remove(&mut self, class: Class) {
        if let Some(old) = self.plan.kernels.remove(&class) {
            for &(read, _) in &old.reads {
                self.readers[read].remove(&class);
            }
            for &(inlined, _) in &old.inlined {
                self.users[inlined].remove(&class);
            }
            if let Some(undo) = &mut self.undo {
                undo.push((class, Some(old)));
            }
        }
    }

    /// Takes back every change since the trial began.
    pub(crate) fn roll_back(&mut self) {
        for (class, kernel) in self.undo.take().unwrap_or_default().into_iter().rev() {
            match kernel {
                Some(kernel) => self.insert(class, kernel),
                None => self.remove(class),
            }
            self.plan.stored[class] = self.plan.kernels.contains_key(&class);
        }
    }

    /// Stores what a kernel cannot evaluate in place. The kernels that did so read it from now on: they are queued to be made
    /// again.
    pub(crate) fn spill(&mut self, offender: Class, queue: &mut VecDeque<Class>) {
        self.plan.stored[offender] = true;
        let users: Vec<Class> = self.users[offender].iter().copied().collect();
        for user in users {
            self.remove(user);
            queue.push_back(user);
        }
    }

    /// Evaluates every kernel the roots need, storing the classes that must be. Afterwards exactly the classes with
    /// a kernel are stored.
    fn build(&mut self, roots: &[Class]) {
        let mut queue: VecDeque<Class> = roots.iter().copied().filter(|&c| self.root[c]).collect();
        while let Some(class) = queue.pop_front() {
            if !self.plan.stored[class] || self.plan.kernels.contains_key(&class) {
                continue;
            }
            let kernel = self.kernel(class);
            if let Some(offender) = kernel.offender {
                self.spill(offender, &mut queue);
                queue.push_front(class);
                continue;
            }
            queue.extend(kernel.reads.iter().map(|r| r.0));
            self.insert(class, kernel);
        }
        for class in 0..self.plan.stored.len() {
            self.plan.stored[class] = self.plan.kernels.contains_key(&class);
        }
    }

    /// Toggles classes one at a time while that helps.
    fn improve(&mut self, order: &[Class]) {
        let candidate: Vec<bool> = candidates(self.terms, &self.plan.choice, order);
        let listed = |c: &Class| candidate[*c];
        let mut queue: VecDeque<Class> = order.iter().rev().copied().filter(listed).collect();
        let mut queued = candidate.clone();
        // Moves of two steps are tried where single ones no longer help: taken early they lead to worse plans.
        let mut hard: VecDeque<Class> = VecDeque::new();
        let mut waiting = vec![false; candidate.len()];
        loop {
            let (class, single) = match (queue.pop_front(), hard.is_empty()) {
                (Some(class), _) => (class, true),
                (None, false) => (hard.pop_front().unwrap_or_default(), false),
                (None, true) => return,
            };
            if self.budget.is_spent() {
                return;
            }
            let stored = self.plan.stored[class];
            let around = match (single, stored) {
                (true, true) => self.drop_store(class),
                (true, false) => self.add_store(class),
                (false, true) => self.swap_store(class),
                (false, false) => self.absorb(class),
            };
            if single {
                queued[class] = false;
                if around.is_empty() && !std::mem::replace(&mut waiting[class], true) {
                    hard.push_back(class);
                }
            } else {
                waiting[class] = false;
            }
            for near in around {
                if candidate[near]
                    && (near != class || !single)
                    && !std::mem::replace(&mut queued[near], true)
                {
                    queue.push_back(near);
                }
            }
        }
    }

    /// Evaluates a class where it is used, if that is cheaper. Returns the classes to look at again.
    fn drop_store(&mut self, class: Class) -> Vec<Class> {
        if self.root[class] || !self.plan.kernels.contains_key(&class) {
            return Vec::new();
        }
        self.plan.stored[class] = false;
        let readers: Vec<Class> = self.readers[class].iter().copied().collect();
        let before: f64 = self.cost_of(&readers) + self.cost_of(&[class]);
        let Some(kernels) = self.recost(&readers, before) else {
            self.plan.stored[class] = true;
            return Vec::new();
        };
        self.remove(class);
        self.commit(readers, kernels)
    }

    /// Stores a pointwise user of a class in its place, if that is cheaper: the scaling of a contraction's result
    /// goes into its epilogue. One toggle after the other would pass through a dearer plan.
    fn swap_store(&mut self, class: Class) -> Vec<Class> {
        if self.root[class] || !self.plan.kernels.contains_key(&class) {
            return Vec::new();
        }
        let parents: Vec<Class> = self.parents[class].clone();
        for parent in parents {
            let term = self.terms.term(&self.plan.choice, parent);
            if self.plan.stored[parent] || !matches!(term, Some(Term::Point(..))) {
                continue;
            }
            let mut all: BTreeSet<Class> = self.readers[class].clone();
            all.extend(&self.users[parent]);
            let all: Vec<Class> = all.into_iter().filter(|&c| c != class).collect();
            let before = self.cost_of(&all) + self.cost_of(&[class]);
            self.plan.stored[class] = false;
            self.plan.stored[parent] = true;
            let mut changed = all;
            changed.push(parent);
            match self.recost(&changed, before) {
                Some(kernels) => {
                    self.remove(class);
                    return self.commit(changed, kernels);
                }
                None => {
                    self.plan.stored[class] = true;
                    self.plan.stored[parent] = false;
                }
            }
        }
        Vec::new()
    }

    /// Stores a class that kernels evaluate in place, if that is cheaper.
    fn add_store(&mut self, class: Class) -> Vec<Class> {
        let users: Vec<Class> = self.users[class].iter().copied().collect();
        // What is evaluated once at each of its points is not evaluated less often by a kernel of its own.
        let runs: f64 = users.iter().map(|&user| self.runs(user, class)).sum();
        if users.is_empty() || runs <= self.terms.classes[class].points {
            return Vec::new();
        }
        let least = self.model.launch + 2.0 * self.model.byte * self.size(class);
        if self.saving(class, &users, least) <= least {
            return Vec::new();
        }
        let before = self.cost_of(&users);
        self.plan.stored[class] = true;
        let mut all = users;
        all.push(class);
        let Some(kernels) = self.recost(&all, before) else {
            self.plan.stored[class] = false;
            return Vec::new();
        };
        self.commit(all, kernels)
    }

    /// Stores a class together with evaluating in it what only it reads, if both together are cheaper: a
    /// normalised row is stored, and its maximum and sum become part of its kernel.
    fn absorb(&mut self, class: Class) -> Vec<Class> {
        let users: Vec<Class> = self.users[class].iter().copied().collect();
        let mut inner: BTreeSet<Class> = BTreeSet::new();
        for user in &users {
            let reads = self.plan.kernels.get(user).map_or(&[][..], |k| &k.reads);
            inner.extend(reads.iter().map(|r| r.0).filter(|&r| !self.root[r] && self.plan.stored[r]));
        }
        if inner.is_empty() || users.len() > 8 {
            return Vec::new();
        }
        let below = self.stored_below(class);
        let near = |&r: &Class| {
            below.contains(&r) && self.readers[r].iter().all(|u| users.contains(u) || inner.contains(u))
        };
        let inner: Vec<Class> = inner.iter().copied().filter(near).collect();
        if inner.is_empty() || inner.len() > 16 {
            return Vec::new();
        }
        // What is dropped saves a kernel and the bytes that it writes and others read.
        let CostModel { launch, byte, .. } = *self.model;
        let dropped = |&r: &Class| launch + byte * self.size(r) * (1.0 + self.readers[r].len() as f64);
        let dropped: f64 = inner.iter().map(dropped).sum();
        let least = launch + 2.0 * byte * self.size(class);
        if dropped <= least && self.saving(class, &users, least) + dropped <= least {
            return Vec::new();
        }
        self.undo = Some(Vec::new());
        self.plan.stored[class] = true;
        let mut all = users;
        all.push(class);
        let mut around = match self.recost(&all, f64::MAX) {
            Some(kernels) => self.commit(all, kernels),
            None => {
                self.undo = None;
                self.plan.stored[class] = false;
                return Vec::new();
            }
        };
        for &read in &inner {
            around.extend(self.drop_store(read));
        }
        if self.is_cheaper() {
            self.undo = None;
            return around;
        }
        self.roll_back();
        Vec::new()
    }

    /// How often a kernel evaluates a class.
    fn runs(&self, kernel: Class, class: Class) -> f64 {
        let inlined = self.plan.kernels.get(&kernel).map_or(&[][..], |k| &k.inlined);
        inlined.binary_search_by_key(&class, |i| i.0).map_or(0.0, |place| inlined[place].1)
    }

    /// The bytes of a class, stored.
    fn size(&self, class: Class) -> f64 {
        let info = &self.terms.classes[class];
        info.points * info.dtype.size() as f64
    }

    /// The most that these kernels can save where a class is stored that they evaluate: the work below it as far as it is
    /// done more than once, and what several of them read. It is not looked at further where it is above `enough`.
    fn saving(&mut self, class: Class, users: &[Class], enough: f64) -> f64 {
        let runs: f64 = users.iter().map(|&user| self.runs(user, class)).sum();
        let again = (1.0 - self.terms.classes[class].points / runs.max(1.0)).max(0.0);
        let mut saved = 0.0;
        if users.len() > 1 {
            let read = |user: &Class| self.plan.kernels.get(user).map_or(0.0, |k| k.bytes);
            saved = self.model.byte * users.iter().map(read).sum::<f64>();
        }
        let mut seen: HashSet<Class> = HashSet::default();
        let mut stack = vec![class];
        while let Some(top) = stack.pop() {
            let work = match self.terms.term(&self.plan.choice, top) {
                Some(Term::Point(op, _)) => self.model.op(*op),
                Some(Term::Acc(op, ..)) if *op != Op::Set => f64::INFINITY,
                _ => 0.0,
            };
            let children = self.terms.term(&self.plan.choice, top).map_or(&[][..], Term::children);
            let runs: f64 = users.iter().map(|&user| self.runs(user, top)).sum();
            if again > 0.0 && runs > 0.0 {
                saved += again * runs * (work + self.model.load * (1 + children.len()) as f64);
            }
            if saved > enough {
                break;
            }
            let below = children.iter().copied().filter(|&c| !self.plan.stored[c]);
            stack.extend(below.filter(|&c| seen.insert(c)));
        }
        self.budget.spend(seen.len() / 8);
        saved
    }

    /// The stored classes that a kernel of this class would read, whichever way.
    fn stored_below(&mut self, class: Class) -> BTreeSet<Class> {
        let (mut seen, mut found) = (HashSet::default(), BTreeSet::new());
        let mut stack = vec![class];
        while let Some(top) = stack.pop() {
            for &child in self.terms.term(&self.plan.choice, top).map_or(&[][..], Term::children) {
                if self.plan.stored[child] {
                    found.insert(child);
                } else if seen.insert(child) {
                    stack.push(child);
                }
            }
        }
        self.budget.spend(seen.len() / 8);
        found
    }

    /// Do the kernels that the trial has changed cost less than what was there before?
    pub(crate) fn is_cheaper(&self) -> bool {
        let mut met: HashSet<Class> = HashSet::default();
        let (mut before, mut after) = (0.0, 0.0);
        for (class, old) in self.undo.iter().flatten() {
            // The first entry of a class says what it was.
            if met.insert(*class) {
                before += old.as_ref().map_or(0.0, |k| k.cost);
                after += self.plan.kernels.get(class).map_or(0.0, |k| k.cost);
            }
        }
        after < before * (1.0 - 1e-9)
    }

    /// Stores what a value is widened from in place of the wide value: it takes less memory, widening is nothing beside
    /// reading, and whoever reads it sees how few bits there are. So it does with what is rounded to tf32.
    fn narrow(&mut self, order: &[Class]) {
        for &class in order {
            let term = self.terms.term(&self.plan.choice, class);
            let Some(Term::Point(Some(op), operand)) = term else { continue };
            let &[inner] = &operand[..] else { continue };
            let from = self.terms.classes[inner].dtype;
            let there = self.plan.stored[inner]
                || self.terms.term(&self.plan.choice, inner).is_none_or(Term::is_leaf);
            let fits = match op {
                Op::Convert(wide) => !there && !from.is_bool() && from.size() < wide.size(),
                Op::ReducePrecision(8, 10) => from == DType::F32,
                _ => false,
            };
            if !fits || self.root[class] || !self.plan.kernels.contains_key(&class) {
                continue;
            }
            let mut all = self.readers[class].clone();
            if !there {
                all.extend(&self.users[inner]);
                all.insert(inner);
            }
            all.remove(&class);
            let all: Vec<Class> = all.into_iter().collect();
            self.plan.stored[class] = false;
            self.plan.stored[inner] |= !there;
            match self.recost(&all, f64::MAX) {
                Some(kernels) => {
                    self.remove(class);
                    self.commit(all, kernels);
                }
                None => {
                    self.plan.stored[class] = true;
                    self.plan.stored[inner] &= there;
                }
            }
        }
    }

    fn cost_of(&self, classes: &[Class]) -> f64 {
        classes.iter().filter_map(|c| self.plan.kernels.get(c)).map(|k| k.cost).sum()
    }

    /// The kernels of these classes, if they cost less than `limit` together.
    fn recost(&mut self, classes: &[Class], limit: f64) -> Option<Vec<Kernel>> {
        let mut sum = 0.0;
        let mut kernels = Vec::with_capacity(classes.len());
        for &class in classes {
            let kernel = self.kernel(class);
            sum += kernel.cost;
            // A difference in the last digits is noise of the summation.
            if sum >= limit * (1.0 - 1e-9) || sum.is_nan() {
                return None;
            }
            kernels.push(kernel);
        }
        Some(kernels)
    }

    fn commit(&mut self, classes: Vec<Class>, kernels: Vec<Kernel>) -> Vec<Class> {
        let mut around = Vec::new();
        for (class, kernel) in classes.into_iter().zip(kernels) {
            around.push(class);
            around.extend(kernel.reads.iter().map(|r| r.0));
            around.extend(kernel.inlined.iter().map(|i| i.0));
            self.insert(class, kernel);
        }
        around
    }
}

/// The classes that the choice reaches from the roots, operands first; `None` when it has a cycle or a gap.
pub fn topological(terms: &Terms, choice: &[Option<usize>], roots: &[Class]) -> Option<Vec<Class>> {
    let mut state = vec![0u8; terms.classes.len()];
    let mut order = Vec::new();
    let mut stack: Vec<(Class, usize)> = Vec::new();
    for &root in roots {
        if state[root] == 0 {
            state[root] = 1;
            stack.push((root, 0));
        }
        while let Some((class, next)) = stack.pop() {
            match terms.term(choice, class)?.children().get(next) {
                Some(&child) => {
                    stack.push((class, next + 1));
                    match state[child] {
                        0 => {
                            state[child] = 1;
                            stack.push((child, 0));
                        }
                        1 => return None,
                        _ => {}
                    }
                }
                None => {
                    state[class] = 2;
                    order.push(class);
                }
            }
        }
    }
    Some(order)
}

/// The start: what is read many times per element, and every accumulation with several users.
fn start_rule(terms: &Terms, choice: &[Option<usize>], order: &[Class], algebra: &Algebra) -> Vec<bool> {
    let mut stored = vec![false; terms.classes.len()];
    let mut users = vec![0usize; terms.classes.len()];
    for &class in order {
        let Some(term) = terms.term(choice, class) else { continue };
        for &child in term.children() {
            users[child] += 1;
        }
        if let Term::Read(map, of) = term
            && !matches!(terms.term(choice, *of), Some(Term::Read(..)))
            && !algebra.map(*map).injective().is_yes()
        {
            stored[*of] = true;
        }
    }
    for &class in order {
        if users[class] > 1 && matches!(terms.term(choice, class), Some(Term::Acc(..))) {
            stored[class] = true;
        }
    }
    stored
}

/// The classes worth a store: accumulations, and pointwise values with several users, or that are read through a
/// map, or are factors of a product. What only an accumulation uses is consumed where it is made.
fn candidates(terms: &Terms, choice: &[Option<usize>], order: &[Class]) -> Vec<bool> {
    let mut result = vec![false; terms.classes.len()];
    let mut users = vec![0usize; terms.classes.len()];
    let mut consumed = vec![false; terms.classes.len()];
    for &class in order {
        let Some(term) = terms.term(choice, class) else { continue };
        let product = Some(Op::Binary(surject_ir::BinaryOp::Mul));
        let wanted = matches!(term, Term::Read(..)) || matches!(term, Term::Point(op, _) if *op == product);
        for &child in term.children() {
            users[child] += 1;
            result[child] |= wanted;
        }
        if let Term::Acc(op, _, body) = term
            && *op != Op::Set
        {
            consumed[*body] = true;
        }
        result[class] |= matches!(term, Term::Acc(..));
    }
    for &class in order {
        let term = terms.term(choice, class);
        let plain = term.is_none_or(|t| t.is_leaf() || matches!(t, Term::Read(..)));
        result[class] = !plain && (users[class] > 1 || result[class] && !consumed[class]);
    }
    result
}
