//! Rules in index notation: which axes of a match a name stands for.
//!
//! A name that occurs outside and inside of a reduction speaks of two groups of axes with the same extents: in
//! `(- ?x[k] (log (sum [k] (exp ?x[k]))))` the last axis of the matched class, and the one that the sum binds. An axis of
//! the matched class that the inner occurrence depends on as well is a batch axis.

use crate::algebra::{Graph, deps_through};
use crate::build::field;
use crate::index_build::Shape;
use crate::index_match::{Axis, Occurrence, State};
use surject_index::{Extent, Space};

/// Labellings of one match, at most.
const MAX_LABELLINGS: usize = 24;

/// What an axis of the context is: a batch axis, or the axis at a place of the group of a name.
type Label = Option<(usize, usize)>;

/// A label for every axis of the context.
#[derive(Clone, Debug)]
pub struct Labelling {
    /// The names of the rule.
    pub names: Vec<String>,
    /// The label of every axis of the context.
    pub labels: Vec<Label>,
}

impl Labelling {
    /// The axes that a name stands for where this reduction binds it, or where it is free, in the order of the group.
    pub fn instance(&self, state: &State, name: usize, binder: Option<usize>) -> Vec<usize> {
        let mine =
            |&a: &usize| self.labels[a].is_some_and(|l| l.0 == name) && state.context[a].binder == binder;
        let mut axes: Vec<usize> = (0..self.labels.len()).filter(mine).collect();
        axes.sort_by_key(|&a| self.labels[a].map(|l| l.1));
        axes
    }

    /// The axes of the match.
    pub fn shape(&self, state: &State, space: &Space) -> Shape {
        let extents = |name: usize| {
            let binders = self.binders(state, name);
            let axes = binders.first().map(|&b| self.instance(state, name, b)).unwrap_or_default();
            axes.into_iter().map(|a| state.context[a].extent.clone()).collect()
        };
        let axis = |axis: usize| match self.labels[axis] {
            None => Axis::Batch(axis),
            Some((name, place)) => Axis::Named(name, place),
        };
        Shape {
            space: space.clone(),
            root: (0..space.rank()).map(axis).collect(),
            names: self.names.clone(),
            extents: (0..self.names.len()).map(extents).collect(),
        }
    }

    /// Where a name occurs: in which reductions, and free. What is bound comes first: all of its axes belong to the
    /// group, while an axis of the matched class may be a batch axis as well.
    fn binders(&self, state: &State, name: usize) -> Vec<Option<usize>> {
        let name = &self.names[name];
        let mut result: Vec<Option<usize>> =
            (0..state.binders.len()).filter(|&b| state.binders[b].contains(name)).map(Some).collect();
        if free_names(state).contains(name) {
            result.push(None);
        }
        result
    }
}

/// The labellings of a match, the likeliest first. An axis gets, of the names that account for every occurrence
/// depending on it, the one with the fewest variables; where a name occurs in several places, its axes there are
/// matched by their extents.
pub fn labellings(egraph: &Graph, state: &State) -> Option<Vec<Labelling>> {
    let mut names: Vec<String> = free_names(state);
    for name in state.binders.iter().flatten() {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let of_axes = label(egraph, state, &names)?;
    let labels = vec![None; of_axes.len()];
    let mut result = vec![Labelling { names, labels }];
    for name in 0..result[0].names.len() {
        let mut group: Option<Vec<Extent>> = None;
        for binder in result[0].binders(state, name) {
            let mine = |&a: &usize| of_axes[a] == Some(name) && state.context[a].binder == binder;
            let axes: Vec<usize> = (0..of_axes.len()).filter(mine).collect();
            let extents: Vec<Extent> = axes.iter().map(|&a| state.context[a].extent.clone()).collect();
            let orders = match &group {
                None => {
                    group = Some(extents);
                    vec![axes]
                }
                Some(group) if binder.is_some() && group.len() != axes.len() => return None,
                Some(group) => orders(state, &axes, group),
            };
            let mut next = Vec::new();
            for labelling in &result {
                for order in &orders {
                    let mut labelling = labelling.clone();
                    for (place, &axis) in order.iter().enumerate() {
                        labelling.labels[axis] = Some((name, place));
                    }
                    next.push(labelling);
                }
            }
            next.truncate(MAX_LABELLINGS);
            result = next;
        }
    }
    Some(result)
}

/// The ways to choose axes with these extents, in this order, out of some; those that keep their order come first.
fn orders(state: &State, axes: &[usize], extents: &[Extent]) -> Vec<Vec<usize>> {
    let mut result: Vec<Vec<usize>> = vec![Vec::new()];
    for extent in extents {
        let mut next = Vec::new();
        for chosen in &result {
            let free = axes.iter().filter(|a| !chosen.contains(a) && state.context[**a].extent == *extent);
            next.extend(free.map(|&a| chosen.iter().copied().chain([a]).collect::<Vec<usize>>()));
        }
        // Before the cut: what has few inversions is likelier.
        next.sort_by_key(|order| inversions(order));
        next.truncate(MAX_LABELLINGS);
        result = next;
    }
    result
}

fn inversions(order: &[usize]) -> usize {
    let pairs = (0..order.len()).flat_map(|i| (i + 1..order.len()).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| order[i] > order[j]).count()
}

/// The name of every axis of the context; none for a batch axis.
fn label(egraph: &Graph, state: &State, names: &[String]) -> Option<Vec<Option<usize>>> {
    let mut dependent: Vec<Vec<&Occurrence>> = vec![Vec::new(); state.context.len()];
    for occurrence in &state.occurrences {
        let deps = deps_through(&occurrence.map, field(egraph, occurrence.class)?.deps);
        for axis in deps.iter(occurrence.map.domain().rank()) {
            dependent[axis].push(occurrence);
        }
    }
    let free = free_names(state);
    let size = |name: &String| state.occurrences.iter().filter(|o| o.names.contains(name)).count();
    let mut labels = Vec::with_capacity(state.context.len());
    for (axis, users) in state.context.iter().zip(&dependent) {
        let candidates: &[String] = match axis.binder {
            Some(binder) => &state.binders[binder],
            None => &free,
        };
        // Inside of a reduction over a name, the name does not speak of the axes outside.
        let accounts = |o: &Occurrence, name: &String| {
            o.names.contains(name) && state.binder_of(name, &o.inside) == axis.binder
        };
        let covers = |name: &&String| users.iter().all(|o| accounts(o, name));
        let best = candidates.iter().filter(covers).min_by_key(|name| size(name));
        match (best, axis.binder) {
            // An axis that nothing depends on is accounted for by being a batch axis.
            (Some(_), None) if users.is_empty() => labels.push(None),
            (Some(name), _) => labels.push(names.iter().position(|n| n == name)),
            (None, None) => labels.push(None),
            (None, Some(_)) => return None,
        }
    }
    Some(labels)
}

/// The names that some occurrence uses outside of a reduction over them.
fn free_names(state: &State) -> Vec<String> {
    let mut result: Vec<String> = Vec::new();
    for occurrence in &state.occurrences {
        for name in &occurrence.names {
            if state.binder_of(name, &occurrence.inside).is_none() && !result.contains(name) {
                result.push(name.clone());
            }
        }
    }
    result
}
