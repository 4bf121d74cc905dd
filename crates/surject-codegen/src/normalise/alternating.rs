//! Phases side by side: what two of them store lies alternately in memory, and is stored together.

use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node};
use crate::expression::output::Output;
use crate::normalise::pulled::Pulled;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Sums of more terms may be better in tiles, which store one output; those of still more are.
const FEW_TERMS: i64 = 9;

const MOST_TERMS: i64 = 16;

/// The phases, two of them as one where every element of the second follows one of the first: they are stored together.
/// Long sums that have tiles are not, `is_product` says which.
pub(crate) fn paired(phases: Vec<Pulled>, is_product: &dyn Fn(&Pulled) -> bool) -> Vec<Pulled> {
    let mut all: Vec<Pulled> = Vec::new();
    for phase in phases {
        let both = |before: &Pulled| {
            let (both, rest, terms) = pair(before, &phase)?;
            (terms <= FEW_TERMS || !is_product(before)).then_some((both, rest))
        };
        match all.iter().enumerate().find_map(|(i, before)| Some((i, both(before)?))) {
            Some((i, (both, rest))) => {
                all[i] = both;
                all.extend(rest);
            }
            None => all.push(phase),
        }
    }
    all
}

/// Two phases as one, what the first has more, the last of a loop, and the terms of the longest sum.
fn pair(first: &Pulled, second: &Pulled) -> Option<(Pulled, Option<Pulled>, i64)> {
    let ([x], [y]) = (&first.outputs[..], &second.outputs[..]) else { return None };
    let (a, b) = (&first.dag, &second.dag);
    let longer: Vec<LoopId> = first.outer.iter().copied().filter(|&l| a.extent(l) != b.extent(l)).collect();
    let rest = match longer[..] {
        [] => None,
        [l] if a.extent(l) == b.extent(l) + 1 && x.address.coeff(l) == 2 => Some(last_of(first, l)?),
        _ => return None,
    };
    let follows = x.address.plus(&Lin::constant(1), 1)? == y.address;
    let beside = x.address.terms.iter().any(|t| t.1 == 2);
    if first.outer != second.outer || !follows || !beside || (x.join, y.join) != (None, None) {
        return None;
    }
    let mut dag = first.dag.clone();
    longer.iter().for_each(|l| dag.extents[l.0 as usize] = b.extent(*l));
    // The loops of reductions are others.
    let mut longest = 0;
    let mut names: HashMap<LoopId, LoopId> = first.outer.iter().map(|&l| (l, l)).collect();
    for n in b.all_reachable(&[y.root]) {
        let mut inside: Vec<LoopId> = b[n].deps.loops().collect();
        if let Node::Reduce { loops, .. } = &b[n].node {
            inside.extend(loops);
            longest = longest.max(loops.iter().map(|&l| b.extent(l)).product());
            if longest > MOST_TERMS {
                return None;
            }
        }
        for l in inside {
            if let Entry::Vacant(name) = names.entry(l) {
                name.insert(dag.add_loop(b.extent(l))?);
            }
        }
    }
    let root = dag.import(b, y.root, &|lin| {
        let start = Lin::constant(lin.offset);
        lin.terms.iter().try_fold(start, |sum, (l, c)| sum.plus(&Lin::var(*names.get(l)?), *c))
    })?;
    let second = Output { root, ..y.clone() };
    Some((Pulled { dag, outer: first.outer.clone(), outputs: vec![x.clone(), second] }, rest, longest))
}

/// What a kernel of one output does at the last value of a loop.
fn last_of(pulled: &Pulled, l: LoopId) -> Option<Pulled> {
    let output = pulled.outputs.first()?;
    let last = Lin::constant(pulled.dag.extent(l) - 1);
    let mut dag = Dag::default();
    dag.extents.clone_from(&pulled.dag.extents);
    dag.extents[l.0 as usize] = 1;
    let root = dag.import(&pulled.dag, output.root, &|lin| lin.substitute(l, &last))?;
    let outputs = vec![Output { address: output.address.substitute(l, &last)?, root, ..output.clone() }];
    let outer = pulled.outer.iter().copied().filter(|&k| k != l).collect();
    Some(Pulled { dag, outer, outputs })
}
