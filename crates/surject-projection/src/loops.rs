//! The product space: which loops there are, in which order, under which names, and which of them are coupled.

use crate::classes::Classes;
use crate::equation::{AxisId, System};
use crate::error::{Kind, Place, ProjectionError};
use crate::projections::{Factor, Index, Loop, LoopId, Part, Projections};
use crate::solve::Form;
use std::collections::{BTreeMap, BTreeSet};
use surject_index::Extent;

/// The closed indices of an operation, before its loops have numbers.
pub(crate) struct Plan<'a> {
    system: &'a System,
    classes: &'a Classes<'a>,
    result: Vec<Form>,
    operands: Vec<Vec<Form>>,
    /// By root of a component: the connected component of coupled concatenations, by its first root.
    coupled: BTreeMap<usize, usize>,
}

impl<'a> Plan<'a> {
    /// A plan; `couplings` are the components of each concatenation.
    pub(crate) fn new(
        system: &'a System,
        classes: &'a Classes<'a>,
        couplings: &[Vec<usize>],
        result: Vec<Form>,
        operands: Vec<Vec<Form>>,
    ) -> Plan<'a> {
        let mut coupled: BTreeMap<usize, usize> = BTreeMap::new();
        for parts in couplings {
            let groups: BTreeSet<usize> =
                parts.iter().map(|root| *coupled.entry(*root).or_insert(*root)).collect();
            if let Some(first) = groups.first() {
                coupled.values_mut().filter(|group| groups.contains(group)).for_each(|group| *group = *first);
            }
        }
        Plan { system, classes, result, operands, coupled }
    }

    /// The tensors, the result first.
    fn tensors(&self) -> impl Iterator<Item = &Vec<Form>> {
        std::iter::once(&self.result).chain(&self.operands)
    }

    /// Could the tensor take part where this component is active? Every index that mentions its group mentions it; an
    /// affine one nothing else of the group.
    fn takes_part(&self, tensor: &[Form], component: usize) -> bool {
        let group = self.coupled.get(&component);
        tensor.iter().all(|form| {
            let roots = form.roots();
            let mut of_group = roots.iter().filter(|root| self.coupled.get(root) == group).peekable();
            match form {
                _ if of_group.peek().is_none() => true,
                Form::Concat(_) => of_group.any(|root| *root == component),
                _ => of_group.all(|root| *root == component),
            }
        })
    }

    /// Is the component nothing but positions that are skipped: the result or every operand has no element where it is
    /// active, and it is no axis by itself?
    fn is_skipped(&self, component: usize) -> bool {
        let alone = |form: &Form| !matches!(form, Form::Concat(_)) && form.roots().contains(&component);
        if self.tensors().flatten().any(alone) {
            return false;
        }
        let source =
            || self.operands.is_empty() || self.operands.iter().any(|t| self.takes_part(t, component));
        self.classes.size(component) == Ok(Extent::Const(0))
            || !self.takes_part(&self.result, component)
            || !source()
    }

    /// The factors by the roots of their loops, in the order of their first appearance, and the kind of the axis at which
    /// each loop appears first.
    fn factors(&self) -> (Vec<Vec<usize>>, BTreeMap<usize, Kind>) {
        let mut factors: Vec<Vec<usize>> = Vec::new();
        let mut by_group: BTreeMap<usize, usize> = BTreeMap::new();
        let mut kinds = BTreeMap::new();
        let axes = std::iter::once(&self.system.result).chain(&self.system.operands).flatten();
        for (form, axis) in self.tensors().flatten().zip(axes) {
            for root in form.roots() {
                if kinds.contains_key(&root) {
                    continue;
                }
                // A group all of whose components are skipped leaves a factor without loops: nothing is to be done.
                let factor = match self.coupled.get(&root) {
                    None => None,
                    Some(group) => by_group.get(group).copied(),
                };
                let factor = factor.unwrap_or_else(|| {
                    factors.push(Vec::new());
                    factors.len() - 1
                });
                if let Some(group) = self.coupled.get(&root) {
                    by_group.insert(*group, factor);
                    if self.is_skipped(root) {
                        continue;
                    }
                }
                kinds.insert(root, self.kind(*axis));
                factors[factor].push(root);
            }
        }
        (factors, kinds)
    }

    fn kind(&self, axis: AxisId) -> Kind {
        match self.system.place(axis) {
            Place::Axis { kind, .. } => *kind,
            _ => Kind::Output,
        }
    }

    /// The record of the operation.
    pub(crate) fn projections(self) -> Result<Projections, ProjectionError> {
        let (factors, kinds) = self.factors();
        let order: Vec<usize> = factors.iter().flatten().copied().collect();
        let ids: BTreeMap<usize, LoopId> =
            order.iter().enumerate().map(|(i, root)| (*root, LoopId(i))).collect();
        let names = self.names(&order, &kinds);
        let sizes = order.iter().map(|root| self.classes.size(*root)).collect::<Result<Vec<_>, _>>()?;
        let loops = names.into_iter().zip(sizes).map(|(name, size)| Loop { name, size }).collect();
        let factors = factors
            .iter()
            .map(|roots| Factor { loops: roots.iter().filter_map(|r| ids.get(r).copied()).collect() })
            .collect();
        let index = |form: &Form| match form {
            Form::Fixed(position) => Index::Fixed(*position),
            Form::External => Index::External,
            Form::Affine { terms, offset } => {
                let mut terms: Vec<(i64, LoopId)> =
                    terms.iter().filter_map(|(c, root)| Some((*c, *ids.get(root)?))).collect();
                terms.sort_unstable_by_key(|(_, id)| *id);
                Index::Affine { terms, offset: *offset }
            }
            Form::Concat(parts) => concat(parts, &ids),
        };
        let extents = |axes: &[AxisId]| {
            axes.iter().map(|id| self.classes.size(self.classes.root(*id))).collect::<Result<Vec<_>, _>>()
        };
        Ok(Projections {
            facts: self.system.facts.clone(),
            factors,
            loops,
            result: self.result.iter().map(index).collect(),
            operands: self.operands.iter().map(|t| t.iter().map(index).collect()).collect(),
            result_extents: extents(&self.system.result)?,
            operand_extents: self
                .system
                .operands
                .iter()
                .map(|axes| extents(axes))
                .collect::<Result<_, _>>()?,
        })
    }

    /// The names of the loops: labels where there are any, else letters.
    fn names(&self, order: &[usize], kinds: &BTreeMap<usize, Kind>) -> Vec<String> {
        let mut labels: BTreeMap<usize, String> = BTreeMap::new();
        for (i, identity) in self.system.identities.iter().enumerate() {
            if let Place::Label(name) = &identity.place {
                labels.entry(self.classes.root(AxisId(i))).or_insert_with(|| name.clone());
            }
        }
        let mentioned: BTreeSet<usize> = self.result.iter().flat_map(Form::roots).collect();
        let letter = |root: &usize| match kinds.get(root) {
            _ if !mentioned.contains(root) => "k",
            Some(Kind::Batch) => "b",
            Some(Kind::Input) => "i",
            _ => "o",
        };
        let mut taken: BTreeSet<String> = order.iter().filter_map(|root| labels.get(root).cloned()).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for root in order.iter().filter(|root| !labels.contains_key(root)) {
            *counts.entry(letter(root)).or_default() += 1;
        }
        let mut next: BTreeMap<&str, usize> = BTreeMap::new();
        let mut name = |root: &usize| {
            if let Some(label) = labels.get(root) {
                return label.clone();
            }
            let letter = letter(root);
            if counts.get(letter) == Some(&1) && taken.insert(letter.to_string()) {
                return letter.to_string();
            }
            // The first number that is free.
            loop {
                let number = next.entry(letter).or_default();
                let candidate = format!("{letter}{number}");
                *number += 1;
                if taken.insert(candidate.clone()) {
                    return candidate;
                }
            }
        };
        order.iter().map(&mut name).collect()
    }
}

/// A concatenated axis: components without positions left out, those that are skipped joined.
fn concat(parts: &[(usize, Extent)], ids: &BTreeMap<usize, LoopId>) -> Index {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for (root, size) in parts {
        match (ids.get(root), joined.last_mut()) {
            (Some(id), _) => joined.push(Part::Loop(*id)),
            (None, _) if *size == Extent::Const(0) => {}
            (None, Some(Part::Skip(before))) => *before = Extent::sum(before.clone(), size.clone()),
            (None, _) => joined.push(Part::Skip(size.clone())),
        }
    }
    Index::Concat(joined)
}
