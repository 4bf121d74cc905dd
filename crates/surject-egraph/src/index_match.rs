//! Rules in index notation: matching.
//!
//! A name stands for any number of axes; axes that no name accounts for are batch axes. The walk carries, for every
//! class it visits, the map from the *context* (the axes of the matched class, then those that reductions bind) to
//! the class's space. It descends through reads into accumulations. At the end every axis of the context gets a
//! label, and every variable becomes a field over only the axes it depends on.

use crate::algebra::{Axes, Graph, deps_through};
use crate::apply::{Bound, Env, allowed};
use crate::build::{field, read, space_of};
use crate::compiled::Compiled;
use crate::conditions::{holds, is_constant};
use crate::index_build::build;
use crate::index_label::{Labelling, labellings};
use crate::lang::{Node, Op};
use crate::provenance::{Built, Tags, built, of_class, of_constant, use_class};
use egg::Id;
use surject_index::{Affine, Component, Extent, IndexMap, Space};
use surject_ir::AccOp;
use surject_rules::{Operator, Pattern, PatternKind};

/// Matches of one pattern at one class, at most.
const MAX_MATCHES: usize = 32;
/// Reads followed from a class into an accumulation, at most.
const MAX_READS: usize = 8;

/// An axis as a rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// An axis of the matched class that no name accounts for.
    Batch(usize),
    /// The axis at a place of the group of a name.
    Named(usize, usize),
}

/// A field over some axes of a rule, in order.
pub type Value = (Id, Vec<Axis>);

/// An axis of the context.
#[derive(Clone, Debug)]
pub struct ContextAxis {
    /// Its extent.
    pub extent: Extent,
    /// The reduction that binds it; none for an axis of the matched class.
    pub binder: Option<usize>,
}

/// An occurrence of a variable.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The variable.
    pub name: String,
    /// The names it may depend on.
    pub names: Vec<String>,
    /// The class it stands for, read along `map`.
    pub class: Id,
    /// From the context to the space of the class.
    pub map: IndexMap,
    /// The reductions around it, the innermost last.
    pub inside: Vec<usize>,
}

/// What a match has met so far.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The axes of the matched class, then those that reductions bind.
    pub context: Vec<ContextAxis>,
    /// The names that each reduction binds.
    pub binders: Vec<Vec<String>>,
    /// The variables.
    pub occurrences: Vec<Occurrence>,
    ops: Vec<(String, Op)>,
    /// What the nodes that matched rest on.
    tags: Tags,
}

impl State {
    /// The reduction that a name speaks of inside of some reductions; none where it is free.
    pub fn binder_of(&self, name: &str, inside: &[usize]) -> Option<usize> {
        inside.iter().rev().copied().find(|&b| self.binders[b].iter().any(|n| n == name))
    }
}

/// How far below a class a left side looks.
pub fn reach(left: &Pattern) -> usize {
    let below = left.children().into_iter().map(reach).max();
    match left.kind {
        PatternKind::Reduce { .. } => 1 + MAX_READS + below.unwrap_or(0),
        _ => below.map_or(0, |b| b + 1),
    }
}

/// How often these classes match the left side, and where the conditions hold as well, the class of the right side.
pub fn rewrite(
    egraph: &mut Graph,
    rule: &Compiled,
    left: &Pattern,
    classes: impl Iterator<Item = Id>,
) -> (usize, Vec<(Id, Built)>) {
    let (mut matched, mut result) = (0, Vec::new());
    for root in classes {
        if !may_match(egraph, left, root) {
            continue;
        }
        let Some(space) = space_of(egraph, root).cloned() else { continue };
        let context = space.extents().iter().map(|e| ContextAxis { extent: e.clone(), binder: None });
        let state = State { context: context.collect(), ..State::default() };
        let map = IndexMap::identity(&space);
        let states = Matcher { egraph }.matches(left, root, &map, state, &[], true);
        matched += states.len();
        for state in states {
            let before = egraph.analysis.provenance.made();
            egraph.analysis.provenance.used = Tags::NONE;
            if let Some(new) = apply(egraph, rule, root, &space, &state) {
                result.push((root, built(egraph, new, before, rule.tags.and(state.tags))));
            }
        }
    }
    (matched, result)
}

/// A cheap look at the nodes of a class.
fn may_match(egraph: &Graph, left: &Pattern, root: Id) -> bool {
    let has = |accepts: &dyn Fn(&Node) -> bool| egraph[root].nodes.iter().any(accepts);
    let op = |o: &Id| egraph[*o].data.op();
    match &left.kind {
        PatternKind::Reduce { op: wanted, .. } => {
            has(&|n| matches!(n, Node::Acc([o, ..]) if op(o) == Some(Op::of_acc(*wanted))))
        }
        PatternKind::Apply { op: Operator::Unary(wanted), .. } => {
            has(&|n| matches!(n, Node::Un([o, _]) if op(o) == Some(Op::Unary(*wanted))))
        }
        PatternKind::Apply { op: Operator::Binary(wanted), .. } => {
            has(&|n| matches!(n, Node::Bin([o, ..]) if op(o) == Some(Op::Binary(*wanted))))
        }
        PatternKind::Apply { .. } => has(&Node::is_pointwise),
        _ => true,
    }
}

struct Matcher<'a> {
    egraph: &'a Graph,
}

impl Matcher<'_> {
    fn matches(
        &self,
        pattern: &Pattern,
        class: Id,
        map: &IndexMap,
        state: State,
        inside: &[usize],
        root: bool,
    ) -> Vec<State> {
        let class = self.egraph.find(class);
        let mut state = state;
        state.tags = state.tags.and(of_class(self.egraph, class));
        match &pattern.kind {
            PatternKind::Number(value) => {
                state.tags = state.tags.and(of_constant(self.egraph, class));
                let equal = is_constant(self.egraph, class, *value) == Some(true);
                if equal { vec![state] } else { Vec::new() }
            }
            PatternKind::Var { name, axes } => {
                state.occurrences.push(Occurrence {
                    name: name.clone(),
                    names: axes.clone().unwrap_or_default(),
                    class,
                    map: map.clone(),
                    inside: inside.to_vec(),
                });
                vec![state]
            }
            PatternKind::Apply { op, args } => self.apply(op, args, class, map, state, inside),
            PatternKind::Reduce { op, axes, body } => {
                let mut result = Vec::new();
                for (along, of, map, tags) in self.accumulations(*op, class, map, &state, root) {
                    let mut state = state.clone();
                    state.tags = state.tags.and(tags);
                    let Some((map, bound)) = self.enter(&along, &map) else { continue };
                    let binder = state.binders.len();
                    state.binders.push(axes.clone());
                    let bound = bound.into_iter().map(|extent| ContextAxis { extent, binder: Some(binder) });
                    state.context.extend(bound);
                    let mut deeper = inside.to_vec();
                    deeper.push(binder);
                    result.extend(self.matches(body, of, &map, state, &deeper, false));
                    result.truncate(MAX_MATCHES);
                }
                result
            }
            _ => Vec::new(),
        }
    }

    fn apply(
        &self,
        op: &Operator,
        args: &[Pattern],
        class: Id,
        map: &IndexMap,
        state: State,
        inside: &[usize],
    ) -> Vec<State> {
        let mut result = Vec::new();
        for node in &self.egraph[class].nodes {
            let tags = self.egraph.analysis.provenance.of(node);
            let found = match node {
                Node::Un([o, _]) | Node::Bin([o, ..]) => self.egraph[*o].data.op(),
                Node::Sel(_) => None,
                _ => continue,
            };
            let fields = node.fields();
            let mut state = state.clone();
            state.tags = state.tags.and(tags);
            let fits = fields.len() == args.len()
                && match op {
                    Operator::Unary(wanted) => found == Some(Op::Unary(*wanted)),
                    Operator::Binary(wanted) => found == Some(Op::Binary(*wanted)),
                    Operator::Select => found.is_none(),
                    Operator::Var(name) => match (found, state.ops.iter().find(|(n, _)| n == name)) {
                        (Some(found), Some((_, known))) => found == *known,
                        (Some(found), None) => {
                            state.ops.push((name.clone(), found));
                            true
                        }
                        (None, _) => false,
                    },
                };
            if !fits {
                continue;
            }
            let commutes = matches!(found, Some(Op::Binary(b)) if b.is_commutative());
            let mut orders: Vec<Vec<Id>> = vec![fields.to_vec()];
            if commutes && fields[0] != fields[1] {
                orders.push(vec![fields[1], fields[0]]);
            }
            for order in orders {
                let mut states = vec![state.clone()];
                for (arg, &operand) in args.iter().zip(&order) {
                    let mut next = Vec::new();
                    for s in states {
                        // Another operand may have added axes to the context.
                        let Some(lifted) = lift(map, &s.context) else { continue };
                        next.extend(self.matches(arg, operand, &lifted, s, inside, false));
                    }
                    next.truncate(MAX_MATCHES);
                    states = next;
                }
                result.extend(states);
            }
            if result.len() >= MAX_MATCHES {
                result.truncate(MAX_MATCHES);
                break;
            }
        }
        result
    }

    /// The accumulations that a class is, itself or behind total reads: the map, the body, and the map of the
    /// context to the accumulation.
    fn accumulations(
        &self,
        op: AccOp,
        class: Id,
        map: &IndexMap,
        state: &State,
        root: bool,
    ) -> Vec<(IndexMap, Id, IndexMap, Tags)> {
        let mut result = Vec::new();
        let Some(lifted) = lift(map, &state.context) else { return result };
        let mut stack = vec![(class, lifted, Tags::NONE)];
        let mut visited = vec![class];
        while let Some((class, map, tags)) = stack.pop() {
            let tags = tags.and(of_class(self.egraph, class));
            for node in &self.egraph[class].nodes {
                let tags = tags.and(self.egraph.analysis.provenance.of(node));
                match node {
                    Node::Acc([o, m, x]) if self.egraph[*o].data.op() == Some(Op::of_acc(op)) => {
                        if let Some(m) = self.egraph[*m].data.map() {
                            result.push((self.egraph.analysis.map(m).clone(), *x, map.clone(), tags));
                        }
                    }
                    Node::Read([m, y]) if !root && visited.len() < MAX_READS => {
                        let y = self.egraph.find(*y);
                        let Some(m) = self.egraph[*m].data.map() else { continue };
                        let m = self.egraph.analysis.map(m);
                        if !m.is_total() || visited.contains(&y) {
                            continue;
                        }
                        if let Ok(composite) = map.then(m) {
                            visited.push(y);
                            stack.push((y, composite, tags));
                        }
                    }
                    _ => {}
                }
            }
        }
        result
    }

    /// The loops of an accumulation at a point of the context: the map of the longer context into the product
    /// space, and the extents of the axes that are bound.
    fn enter(&self, along: &IndexMap, map: &IndexMap) -> Option<(IndexMap, Vec<Extent>)> {
        let product = map.fibre_product(along)?;
        let (rank, outer) = (map.domain().rank(), product.to_q.domain());
        let leading = product.to_q.is_total()
            && outer.rank() >= rank
            && outer.extents()[..rank] == *map.domain().extents()
            && product.to_q.components().iter().enumerate().all(|(i, c)| match c.component() {
                Component::Iter(axis) => axis == i,
                Component::Fixed(0) => outer.extent(i).as_const() == Some(1),
                _ => false,
            });
        leading.then(|| (product.to_p.clone(), outer.extents()[rank..].to_vec()))
    }
}

/// The map over a longer context.
fn lift(map: &IndexMap, context: &[ContextAxis]) -> Option<IndexMap> {
    let rank = map.domain().rank();
    if rank == context.len() {
        return Some(map.clone());
    }
    let space = Space::new(context.iter().map(|a| a.extent.clone()));
    let projection = IndexMap::projection(&space, &(0..rank).collect::<Vec<_>>());
    projection.then(map).ok()
}

/// Checks a match and builds the right side of the rule, with the first labelling of its axes that fits.
fn apply(egraph: &mut Graph, rule: &Compiled, root: Id, space: &Space, state: &State) -> Option<Id> {
    let labellings = labellings(egraph, state)?;
    labellings.iter().find_map(|labelling| apply_labelled(egraph, rule, root, space, (state, labelling)))
}

fn apply_labelled(
    egraph: &mut Graph,
    rule: &Compiled,
    root: Id,
    space: &Space,
    (state, labelling): (&State, &Labelling),
) -> Option<Id> {
    let shape = labelling.shape(state, space);
    // By name: a variable that only the left side mentions has no slot, and its occurrences agree all the same.
    let mut values: Vec<(&str, Value)> = Vec::new();
    for occurrence in &state.occurrences {
        let value = value(egraph, state, labelling, occurrence)?;
        match values.iter().find(|(name, _)| *name == occurrence.name) {
            Some((_, known)) => {
                if egraph.find(known.0) != egraph.find(value.0) || known.1 != value.1 {
                    return None;
                }
            }
            None => values.push((&occurrence.name, value)),
        }
    }
    let of = |slot: &String| values.iter().find(|(name, _)| name == slot).map(|(_, value)| value.clone());
    let values: Vec<Option<Value>> = rule.slots.iter().map(of).collect();
    let mut env = Env::new(rule.slots.len());
    for (slot, value) in values.iter().enumerate() {
        if let Some((id, _)) = value {
            env.set(slot, Bound::Field(*id));
        }
    }
    for (name, op) in &state.ops {
        if let Some(slot) = rule.slots.iter().position(|s| s == name) {
            env.set(slot, Bound::Op(*op));
        }
    }
    let dtype = field(egraph, root)?.dtype;
    if !allowed(egraph, rule, &env, dtype) || !rule.tests.iter().all(|t| holds(egraph, &env, t, dtype)) {
        return None;
    }
    build(egraph, rule, &values, &env, &shape, dtype)
}

/// The field that an occurrence stands for, over only the axes it depends on.
fn value(egraph: &mut Graph, state: &State, labelling: &Labelling, occurrence: &Occurrence) -> Option<Value> {
    let data = field(egraph, occurrence.class)?;
    let (space, own) = (data.space, data.deps);
    let deps = deps_through(&occurrence.map, own);
    if !Axes::all(egraph.analysis.space(space)).without(own).is_empty() {
        use_class(egraph, occurrence.class);
    }
    let rank = occurrence.map.domain().rank();
    let mut axes: Vec<(Axis, usize)> = Vec::new();
    for (axis, label) in labelling.labels.iter().enumerate().take(rank) {
        if state.context[axis].binder.is_none() && label.is_none() && deps.contains(axis) {
            axes.push((Axis::Batch(axis), axis));
        }
    }
    for name in &occurrence.names {
        let group = labelling.names.iter().position(|n| n == name)?;
        let binder = state.binder_of(name, &occurrence.inside);
        for (place, axis) in labelling.instance(state, group, binder).into_iter().enumerate() {
            if axis < rank && deps.contains(axis) {
                axes.push((Axis::Named(group, place), axis));
            }
        }
    }
    axes.sort_unstable();
    if (0..rank).any(|a| deps.contains(a) && !axes.iter().any(|&(_, x)| x == a)) {
        return None;
    }
    let domain = occurrence.map.domain().clone();
    let small = Space::new(axes.iter().map(|&(_, a)| domain.extent(a).clone()));
    if domain.is_empty() {
        return None;
    }
    let component = |axis: usize| match axes.iter().position(|&(_, a)| a == axis) {
        Some(place) => Affine::axis(axes.len(), place),
        None => Affine::fixed(axes.len(), 0),
    };
    let embed = IndexMap::total(small, domain, (0..rank).map(component).collect()).ok()?;
    let map = embed.then(&occurrence.map).ok()?;
    let id = read(egraph, &map, occurrence.class)?;
    Some((id, axes.into_iter().map(|(axis, _)| axis).collect()))
}
