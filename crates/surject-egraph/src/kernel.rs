//! The cost of a kernel: what it takes to compute one stored class.
//!
//! The kernel of a stored class is a loop nest over its space; every other class is evaluated where it is used. The
//! walk carries the *composite map* from the loops to the class's space. A value lies in the loops up to the last
//! one that its map uses (`prefix`): a maximum over a row is computed once a row, inside the kernel.
//!
//! The same walk decides what is *legal*: an accumulation inside a kernel must be a loop nest of its own at every
//! point (its fibre product with the composite map is the point times a box), a contraction stands only at the
//! kernel's own output and its operands hold no other reduction, and the depth and size of a kernel are bounded. A
//! class that offends is stored.

use crate::algebra::{Algebra, MapId};
use crate::cost::CostModel;
use crate::lang::Op;
use crate::terms::{Class, Term, Terms};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use surject_index::{Affine, Component, Guard, IndexMap, Space};
use surject_ir::BinaryOp;

/// How deep the term of a kernel may be.
const MAX_DEPTH: usize = 160;
/// How many (class, map) pairs a kernel may evaluate.
const MAX_SIZE: usize = 1500;
/// How many accumulations may stand inside each other.
const MAX_NEST: usize = 4;

/// The largest number of terms of a reduction that may be done more than once for the same result.
const REPEATED_FIBRE: f64 = 8.0;

/// A reduction of so many terms at a point, and so many at all, is not done inside of another one: sums of 12 over the last
/// axis, summed again over the first, take 5 to 25 times as long there, and sums of 2 or 3 up to 1.4 times as long if they
/// are stored (Zen 4).
const INNER_FIBRE: f64 = 5.0;
const INNER_TERMS: f64 = 2048.0;

/// What a kernel costs and touches.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// The whole cost.
    pub cost: f64,
    /// Bytes read and written, each tensor once.
    pub bytes: f64,
    /// Scalar operations.
    pub flops: f64,
    /// The stored classes and inputs it reads, and along how many different maps.
    pub reads: Vec<(Class, usize)>,
    /// The classes it evaluates in place, and at how many points together.
    pub inlined: Vec<(Class, f64)>,
    /// How many values the walk has met: what it took to find this.
    pub steps: usize,
    /// A class that must be stored before this can be a kernel.
    pub offender: Option<Class>,
}

/// What the walk needs to know of the plan.
pub struct Walker<'a> {
    /// The classes.
    pub terms: &'a Terms,
    /// The chosen terms.
    pub choice: &'a [Option<usize>],
    /// Maps and their memoised functions.
    pub algebra: &'a mut Algebra,
    /// The constants.
    pub model: &'a CostModel,
    /// Trimmed maps, memoised over kernels.
    pub trims: &'a mut HashMap<MapId, (MapId, usize)>,
    /// Is everything allowed? So a program is measured that is as it is.
    pub lenient: bool,
}

/// A loop of a kernel: the loop around it, and how often its body runs.
#[derive(Clone, Copy, Debug)]
struct Loop {
    parent: usize,
    depth: usize,
    runs: f64,
}

/// Where a value is evaluated.
#[derive(Clone, Copy, Debug)]
struct At {
    /// The innermost loop.
    scope: usize,
    /// How deep the term is.
    depth: usize,
    /// How many accumulations stand around it.
    nest: usize,
    /// How often each run counts.
    weight: f64,
    /// Is it an operand of a contraction?
    operand: bool,
}

struct Walk<'w, 'a> {
    walker: &'w mut Walker<'a>,
    stored: &'w [bool],
    root: Class,
    /// The innermost loop of the kernel's own output.
    output: usize,
    loops: Vec<Loop>,
    seen: HashSet<(Class, MapId, usize)>,
    reads: HashMap<Class, HashSet<MapId>>,
    inlined: HashMap<Class, f64>,
    /// The classes evaluated so far, as often as they are, those above before those below.
    evaluated: Vec<Class>,
    work: f64,
    flops: f64,
    offender: Option<Class>,
}

impl Walker<'_> {
    /// The kernel of a class, if these classes are stored.
    pub fn kernel(&mut self, root: Class, stored: &[bool]) -> Kernel {
        let info = &self.terms.classes[root];
        let space = self.algebra.space(info.space).clone();
        let (model, own) = (self.model.clone(), info.points * info.dtype.size() as f64);
        let identity = self.algebra.map_id(&IndexMap::identity(&space));
        let mut walk = Walk {
            walker: self,
            stored,
            root,
            output: 0,
            loops: vec![Loop { parent: 0, depth: 0, runs: 1.0 }],
            seen: HashSet::default(),
            reads: HashMap::default(),
            inlined: HashMap::default(),
            evaluated: Vec::new(),
            work: 0.0,
            flops: 0.0,
            offender: None,
        };
        let scope = walk.nest(0, &space);
        walk.output = scope;
        let at = At { scope, depth: 0, nest: 0, weight: 1.0, operand: false };
        walk.define(root, identity, at);
        let (reads, inlined, offender) = (walk.reads, walk.inlined, walk.offender);
        let steps = walk.seen.len() + walk.evaluated.len();
        let (work, flops) = (walk.work, walk.flops);
        let mut reads: Vec<(Class, usize)> = reads.into_iter().map(|(c, maps)| (c, maps.len())).collect();
        reads.sort_unstable();
        let mut inlined: Vec<(Class, f64)> = inlined.into_iter().filter(|i| i.0 != root).collect();
        inlined.sort_unstable_by_key(|i| i.0);
        let size = |c: Class| self.terms.classes[c].points * self.terms.classes[c].dtype.size() as f64;
        let bytes = own + reads.iter().map(|&(c, _)| size(c)).sum::<f64>();
        let cost = work + model.byte * bytes + model.launch;
        let cost = if offender.is_some() { f64::INFINITY } else { cost };
        Kernel { cost, bytes, flops, reads, inlined, steps, offender }
    }
}

impl Walk<'_, '_> {
    /// Loops over the axes of a space inside a scope.
    fn nest(&mut self, mut scope: usize, space: &Space) -> usize {
        for extent in space.extents() {
            let Loop { depth, runs, .. } = self.loops[scope];
            let extent = extent.as_const().map_or(crate::terms::SYMBOLIC, |n| n as f64);
            self.loops.push(Loop { parent: scope, depth: depth + 1, runs: runs * extent });
            scope = self.loops.len() - 1;
        }
        scope
    }

    /// The loop of the scope at this depth.
    fn prefix(&self, mut scope: usize, depth: usize) -> usize {
        while self.loops[scope].depth > depth {
            scope = self.loops[scope].parent;
        }
        scope
    }

    /// Drops the loops after the last one that the map uses.
    fn trim(&mut self, map: MapId, scope: usize) -> (MapId, usize) {
        let (map, used) = match self.walker.trims.get(&map) {
            Some(&known) => known,
            None => {
                let m = self.walker.algebra.map(map).clone();
                let trimmed = trimmed(&m);
                let id = self.walker.algebra.map_id(&trimmed);
                self.walker.trims.insert(map, (id, trimmed.domain().rank()));
                (id, trimmed.domain().rank())
            }
        };
        (map, self.prefix(scope, used))
    }

    /// The share of its points at which a map reads: a part of a concatenation is loaded where it lies, and nowhere
    /// else.
    fn share(&self, map: MapId) -> f64 {
        let map = self.walker.algebra.map(map);
        let met = |guard: &Guard| {
            let bound = i64::try_from(guard.bound.as_const()?).ok()?;
            let (low, high) = guard.expr.range(map.domain())?;
            let met = high.min(bound - 1).checked_sub(low.max(0))?.checked_add(1)?;
            Some(met.max(0) as f64 / high.checked_sub(low)?.checked_add(1)? as f64)
        };
        map.guards().iter().map(|guard| met(guard).unwrap_or(1.0)).product()
    }

    fn offend(&mut self, class: Class) {
        if self.walker.lenient {
            return;
        }
        // The root itself is always a kernel; what is above the offender cannot be blamed on it.
        if class != self.root && !self.stored[class] {
            self.offender.get_or_insert(class);
        }
    }

    /// The class that this kernel evaluates most often, and at least twice: a grid of which a step reads several
    /// neighbours, again and again over the steps. Of several the one that the others are made for.
    fn most_repeated(&self) -> Option<Class> {
        let mut times: HashMap<Class, usize> = HashMap::default();
        for &class in &self.evaluated {
            *times.entry(class).or_default() += 1;
        }
        let worth = |class: Class| {
            let term = self.walker.terms.term(self.walker.choice, class);
            class != self.root && matches!(term, Some(Term::Point(..) | Term::Acc(..)))
        };
        let mut best: Option<(usize, Class)> = None;
        for &class in &self.evaluated {
            let count = times[&class];
            if count > 1 && worth(class) && best.is_none_or(|b| count > b.0) {
                best = Some((count, class));
            }
        }
        best.map(|b| b.1)
    }

    /// Evaluates a class at the points of a map.
    fn value(&mut self, class: Class, map: MapId, at: At) {
        if self.offender.is_some() {
            return;
        }
        let (map, scope) = self.trim(map, at.scope);
        let at = At { scope, ..at };
        let leaf = matches!(self.walker.terms.term(self.walker.choice, class), Some(Term::Input(_)));
        if self.stored[class] || leaf {
            self.reads.entry(class).or_default().insert(map);
            if self.seen.insert((class, map, scope)) {
                let runs = self.loops[scope].runs * at.weight;
                // Panels of a contraction are packed whichever part an element is of.
                let share = if at.operand { 1.0 } else { self.share(map) };
                self.work += self.walker.model.load * runs * share;
            }
            return;
        }
        let term = self.walker.terms.term(self.walker.choice, class);
        if term.is_some_and(Term::is_leaf) {
            return self.define(class, map, at);
        }
        if self.seen.len() >= MAX_SIZE && !self.walker.lenient {
            let most = self.most_repeated().unwrap_or(class);
            return self.offend(most);
        }
        if at.depth >= MAX_DEPTH && !self.walker.lenient {
            return self.offend(class);
        }
        if self.seen.insert((class, map, scope)) {
            self.define(class, map, at);
        }
    }

    /// Evaluates the chosen term of a class at the points of a map.
    fn define(&mut self, class: Class, map: MapId, at: At) {
        self.evaluated.push(class);
        let runs = self.loops[at.scope].runs * at.weight;
        *self.inlined.entry(class).or_default() += runs;
        let deeper = At { depth: at.depth + 1, ..at };
        let terms = self.walker.terms;
        let Some(term) = terms.term(self.walker.choice, class) else { return self.offend(class) };
        match term {
            Term::Input(_) => {
                self.reads.entry(class).or_default().insert(map);
                self.work += self.walker.model.load * runs;
            }
            Term::Const => {}
            Term::Index(_) => self.work += self.walker.model.load * runs,
            Term::Point(op, operands) => {
                self.work += self.walker.model.op(*op) * runs;
                self.flops += runs;
                for &operand in operands {
                    self.value(operand, map, deeper);
                }
            }
            Term::Read(inner, of) => match self.composite(map, *inner) {
                Some(composite) => self.value(*of, composite, deeper),
                None => self.offend(class),
            },
            Term::Acc(op, along, of) => self.accumulate(class, (*op, *along, *of), map, deeper),
        }
    }

    /// `inner ∘ map`. Where both are partial with different fills the guards still compose; the value outside is
    /// chosen by whoever reads.
    fn composite(&mut self, map: MapId, inner: MapId) -> Option<MapId> {
        if let Some(known) = self.walker.algebra.compose(map, inner) {
            return Some(known);
        }
        let outer = self.walker.algebra.map(map).clone();
        let fill = outer.fill()?;
        let inner = self.walker.algebra.map(inner).with_fill(fill);
        let inner = self.walker.algebra.map_id(&inner);
        self.walker.algebra.compose(map, inner)
    }

    fn accumulate(&mut self, class: Class, acc: (Op, MapId, Class), map: MapId, at: At) {
        let (op, along, of) = acc;
        // At every point of the kernel's own output, each once: a contraction here is the kernel's own.
        let own = self.prefix(self.output, self.loops[at.scope].depth) == at.scope;
        let top = own
            && self.loops[at.scope].runs == self.loops[self.output].runs
            && self.walker.algebra.bijective(map);
        let nested = self.pulled(map, along);
        let (scope, inner) = match nested {
            Some((inner, reduced)) => (self.nest(at.scope, &reduced), inner),
            // What is not pulled is pushed: the target is cleared, the loops are those of the product space.
            None if class == self.root && top || self.walker.lenient => {
                let space = self.walker.algebra.map(along).domain().clone();
                let identity = self.walker.algebra.map_id(&IndexMap::identity(&space));
                (self.nest(0, &space), identity)
            }
            None => return self.offend(class),
        };
        let lenient = self.walker.lenient;
        if op != Op::Set && (at.operand || at.nest >= MAX_NEST) && !lenient {
            return self.offend(class);
        }
        // A reduction that is not hoisted to the loops it depends on is done again for every other point.
        let info = &self.walker.terms.classes[class];
        let again = self.loops[at.scope].runs > info.points && class != self.root;
        let fibre = self.loops[scope].runs / self.loops[at.scope].runs.max(1.0);
        if op != Op::Set && again && fibre > REPEATED_FIBRE && !lenient {
            return self.offend(class);
        }
        // Inside the loop of another reduction it is neither shared among threads nor done in lanes.
        let inside = !own && op != Op::Set && class != self.root;
        if inside && fibre >= INNER_FIBRE && self.loops[scope].runs >= INNER_TERMS && !lenient {
            return self.offend(class);
        }
        let runs = self.loops[scope].runs * at.weight;
        let at = At { scope, nest: at.nest + 1, ..at };
        if let Some(factors) = self.contraction(op, of, inner) {
            // Inside a row its tiles are lost and every pass over the row computes it again.
            if !top && !lenient {
                return self.offend(class);
            }
            let model = self.walker.model;
            self.flops += 2.0 * runs;
            self.work += model.fma * runs;
            self.inlined.entry(of).or_default();
            for (factor, used, small) in factors {
                // The operand is read, or computed while it is packed, over the loops that it uses.
                let domain = self.walker.algebra.map(small).domain().clone();
                let own = self.nest(0, &domain);
                let weight = model.repeat;
                let at = At { scope: own, depth: at.depth + 1, nest: at.nest, weight, operand: true };
                debug_assert_eq!(used.len(), domain.rank());
                self.value(factor, small, at);
            }
            return;
        }
        if op != Op::Set {
            self.flops += runs;
            self.work += self.walker.model.simple * runs;
        }
        self.value(of, inner, at);
    }

    /// The loops of an accumulation at a point of `map`: the composite map into its product space and the axes of
    /// the fibre, where every point has the same box of terms.
    fn pulled(&mut self, map: MapId, along: MapId) -> Option<(MapId, Space)> {
        let (to_q, to_p) = self.walker.algebra.fibre(map, along)?;
        let to_q = self.walker.algebra.map(to_q);
        let (rank, outer) = (to_q.codomain().rank(), to_q.domain());
        let leading = to_q.is_total()
            && outer.rank() >= rank
            && outer.extents()[..rank] == *to_q.codomain().extents()
            && to_q.components().iter().enumerate().all(|(i, c)| match c.component() {
                Component::Iter(axis) => axis == i,
                Component::Fixed(0) => outer.extent(i).as_const() == Some(1),
                _ => false,
            });
        leading.then(|| (to_p, Space::new(outer.extents()[rank..].iter().cloned())))
    }

    /// The factors of a contraction: an accumulated product in which each factor leaves out a loop that the other
    /// uses. Each comes with the loops it uses and its composite map on those loops alone.
    #[allow(clippy::type_complexity)]
    fn contraction(&mut self, op: Op, of: Class, inner: MapId) -> Option<Vec<(Class, Vec<usize>, MapId)>> {
        if op != Op::Binary(BinaryOp::Add) || self.stored[of] {
            return None;
        }
        let Term::Point(Some(Op::Binary(BinaryOp::Mul)), factors) =
            self.walker.terms.term(self.walker.choice, of)?
        else {
            return None;
        };
        let mut result = Vec::new();
        for &factor in factors {
            let (mut class, mut map) = (factor, inner);
            while let Some(Term::Read(m, y)) =
                self.walker.terms.term(self.walker.choice, class).filter(|_| !self.stored[class])
            {
                (class, map) = (*y, self.composite(map, *m)?);
            }
            let m = self.walker.algebra.map(map).clone();
            let free = m.free_axes();
            let used: Vec<usize> = (0..m.domain().rank())
                .filter(|a| !free.contains(a) && m.domain().extent(*a).as_const() != Some(1))
                .collect();
            let small = self.walker.algebra.map_id(&on_axes(&m, &used)?);
            result.push((class, used, small));
        }
        let leaves_out = |a: usize, b: usize| result[b].1.iter().any(|x| !result[a].1.contains(x));
        (leaves_out(0, 1) && leaves_out(1, 0)).then_some(result)
    }
}

/// The map on some axes of its domain, which are all that it uses.
fn on_axes(map: &IndexMap, axes: &[usize]) -> Option<IndexMap> {
    let small = |e: &Affine| Affine { coeffs: axes.iter().map(|&a| e.coeffs[a]).collect(), offset: e.offset };
    let components = map.components().iter().map(small).collect();
    let domain = map.domain().select(axes);
    match map.fill() {
        None => IndexMap::total(domain, map.codomain().clone(), components).ok(),
        Some(fill) => {
            let guards = map.guards().iter();
            let guards = guards.map(|g| Guard { expr: small(&g.expr), bound: g.bound.clone() }).collect();
            IndexMap::partial(domain, map.codomain().clone(), components, guards, fill).ok()
        }
    }
}

/// The map without the axes of its domain after the last one it uses.
fn trimmed(map: &IndexMap) -> IndexMap {
    let free = map.free_axes();
    let used = (0..map.domain().rank()).rev().find(|a| !free.contains(a)).map_or(0, |a| a + 1);
    if used == map.domain().rank() {
        return map.clone();
    }
    on_axes(map, &(0..used).collect::<Vec<_>>()).unwrap_or_else(|| map.clone())
}
