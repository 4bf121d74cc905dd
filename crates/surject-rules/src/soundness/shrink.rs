//! The smallest counterexample: one position of the batch, short axes, then simple values. In map notation small
//! spaces are drawn again.

use super::compare::Trial;
use super::{Counterexample, compare, trial};
use crate::ast::{PatternKind, Rule};
use crate::instance::{Instance, Shape, Size, Values, assemble, draw, simpler};
use crate::lower::{Lowered, Term};
use std::collections::BTreeMap;
use surject_ir::{Buffer, DType};

/// The seeds that are tried for each size.
const SEEDS: u64 = 1000;

/// The evaluations spent on simpler values.
const EVALUATIONS: usize = 3000;

/// The evaluations spent on shorter axes.
const CUTS: usize = 300;

/// A counterexample of the same class of element types, as small as it is found to be.
pub(super) fn smallest(rule: &Rule, found: Counterexample) -> Counterexample {
    let Ok(lowered) = Lowered::new(rule) else { return found };
    let loses = found.worst.is_some();
    let differs = |instance: &Instance| match loses {
        false => matches!(trial(rule, instance), Trial::Differs(_)),
        true => compare::worst(rule, instance).is_some(),
    };
    let mut smallest = match found.instance.shape.is_some() {
        true => shorter(&lowered, found.instance, found.worst, rule, &differs),
        false => redrawn(rule, &lowered, found.instance, &differs),
    };
    simplify(&mut smallest, &differs);
    let worst = if loses { compare::worst(rule, &smallest) } else { None };
    Counterexample { instance: smallest, worst }
}

/// How hard a counterexample is to read.
fn weight(instance: &Instance) -> (usize, usize, usize, usize) {
    let elements: usize = instance.args.iter().map(Buffer::len).sum();
    let ranks: usize = instance.args.iter().map(|b| b.shape().len()).sum();
    let words: usize = instance.meanings.iter().map(String::len).sum();
    // The types that everyone knows, where they show it.
    let known = |b: &&Buffer| matches!(b.dtype(), DType::F32 | DType::F64 | DType::I32 | DType::I1);
    let rare = instance.args.len() - instance.args.iter().filter(known).count();
    (elements, ranks, rare, words)
}

/// Drawn again over small spaces.
fn redrawn(
    rule: &Rule,
    lowered: &Lowered<'_>,
    found: Instance,
    differs: &dyn Fn(&Instance) -> bool,
) -> Instance {
    let seeds = SEEDS * 32 / (rule.left.size() + rule.right.size()).max(32) as u64;
    let of_size = |size: &Size| {
        (0..seeds)
            .filter_map(|seed| draw(lowered, seed, *size, Values::Wide))
            .filter(|i| i.class == found.class && differs(i))
            .min_by_key(weight)
    };
    let smaller = Size::LEVELS.iter().find_map(of_size);
    smaller.filter(|i| weight(i) < weight(&found)).unwrap_or(found)
}

/// The indices that are kept of an axis of a tensor.
type Kept = Vec<usize>;

/// One position of the batch, and axes as short as they may be.
fn shorter(
    lowered: &Lowered<'_>,
    found: Instance,
    worst: Option<usize>,
    rule: &Rule,
    differs: &dyn Fn(&Instance) -> bool,
) -> Instance {
    let mut smallest = found;
    let position = match worst {
        Some(at) => smallest.function.fields[smallest.left].space.iter_points().and_then(|mut p| p.nth(at)),
        None => match trial(rule, &smallest) {
            Trial::Differs(difference) => Some(difference.position),
            _ => None,
        },
    };
    let batch = smallest.shape.as_ref().map_or(0, |s| s.batch.len());
    if let Some(position) = position.filter(|p| p.len() >= batch) {
        let at: Vec<usize> = position[..batch].iter().map(|&i| i as usize).collect();
        let narrow = restrict(lowered, &smallest, Some(&at), &BTreeMap::new());
        smallest = narrow.filter(differs).unwrap_or(smallest);
    }
    let mut cuts = CUTS;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        let Some(axes) = smallest.shape.as_ref().map(|s| s.axes.clone()) else { break };
        for (name, extents) in axes {
            for (place, &extent) in extents.iter().enumerate() {
                let n = extent as usize;
                let ranges = [
                    0..1,
                    n.saturating_sub(1)..n,
                    0..2,
                    0..3,
                    0..n / 2,
                    n / 2..n,
                    0..n * 3 / 4,
                    0..n.max(1) - 1,
                ];
                for range in ranges.into_iter().filter(|r| r.end <= n && !r.is_empty() && r.len() < n) {
                    if cuts == 0 {
                        return smallest;
                    }
                    cuts -= 1;
                    let mut kept: Vec<Option<Vec<usize>>> = vec![None; extents.len()];
                    kept[place] = Some(range.collect());
                    let keep = BTreeMap::from([(name.clone(), kept)]);
                    if let Some(cut) = restrict(lowered, &smallest, None, &keep).filter(differs) {
                        smallest = cut;
                        changed = true;
                        break;
                    }
                }
                if changed {
                    break;
                }
            }
            if changed {
                break;
            }
        }
    }
    smallest
}

/// The instance at one position of the batch, or at some indices of named axes.
fn restrict(
    lowered: &Lowered<'_>,
    instance: &Instance,
    batch: Option<&[usize]>,
    keep: &BTreeMap<String, Vec<Option<Vec<usize>>>>,
) -> Option<Instance> {
    let old = instance.shape.as_ref()?;
    let kept = |name: &str, place: usize, extent: u64| match keep.get(name).and_then(|k| k[place].clone()) {
        Some(kept) => kept,
        None => (0..extent as usize).collect::<Vec<_>>(),
    };
    let mut shape: Shape = old.clone();
    for (name, extents) in &mut shape.axes {
        for (place, extent) in extents.iter_mut().enumerate() {
            *extent = kept(name, place, *extent).len() as u64;
        }
    }
    if batch.is_some() {
        shape.batch.clear();
        shape.batch_of.values_mut().for_each(Vec::clear);
    }
    let mut result = assemble(lowered, &shape)?;
    for (at, &param) in result.function.params.iter().enumerate() {
        let name = result.function.name_of(param).to_string();
        let from = instance.function.params.iter().position(|&p| instance.function.name_of(p) == name)?;
        let every: Vec<usize> = (0..old.batch.len()).collect();
        let of_batch = old.batch_of.get(&name).unwrap_or(&every);
        let mut dims: Vec<Kept> = match batch {
            Some(position) => of_batch.iter().map(|&a| vec![position[a]]).collect(),
            None => of_batch.iter().map(|&a| (0..old.batch[a] as usize).collect()).collect(),
        };
        let own = axes_of(&lowered.left, &name).unwrap_or_default();
        for axis in own {
            for (place, &extent) in old.axes.get(&axis)?.iter().enumerate() {
                dims.push(kept(&axis, place, extent));
            }
        }
        copy(&instance.args[from], &mut result.args[at], &dims)?;
    }
    Some(result)
}

/// The axes that a variable is written with.
fn axes_of(term: &Term<'_>, wanted: &str) -> Option<Vec<String>> {
    match &term.pattern.kind {
        PatternKind::Var { name, axes } if name == wanted => Some(axes.clone().unwrap_or_default()),
        _ => term.args.iter().find_map(|arg| axes_of(arg, wanted)),
    }
}

/// Copies what is kept of each axis.
fn copy(from: &Buffer, to: &mut Buffer, dims: &[Kept]) -> Option<()> {
    if from.shape().len() != dims.len() {
        return None;
    }
    let count: usize = dims.iter().map(Vec::len).product();
    if count != to.len() {
        return None;
    }
    for at in 0..count {
        let (mut rest, mut offset, mut stride) = (at, 0, 1);
        for (kept, &size) in dims.iter().zip(from.shape()).rev() {
            offset += kept[rest % kept.len()] * stride;
            rest /= kept.len();
            stride *= size;
        }
        to.set(at, from.get(offset));
    }
    Some(())
}

/// Replaces elements by simpler ones as long as the sides still differ.
fn simplify(instance: &mut Instance, differs: &dyn Fn(&Instance) -> bool) {
    let mut left = EVALUATIONS;
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for param in 0..instance.args.len() {
            for at in 0..instance.args[param].len() {
                let value = instance.args[param].get(at);
                for candidate in simpler(value) {
                    if left == 0 {
                        return;
                    }
                    left -= 1;
                    instance.args[param].set(at, candidate);
                    if differs(instance) {
                        changed = true;
                        break;
                    }
                    instance.args[param].set(at, value);
                }
            }
        }
    }
}
