//! Running rules to saturation, or to a bound.

use crate::algebra::Graph;
use crate::apply::{Env, fire};
use crate::build::field;
use crate::compiled::{Compiled, Left};
use crate::conditions::bound;
use crate::error::EgraphError;
use crate::index_match;
use crate::lang::{Node, Op};
use egg::{ENodeOrVar, Id, Language, Pattern, Searcher, Subst, Var};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Where to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// E-nodes of one block.
    pub nodes: usize,
    /// Rounds of one phase.
    pub iterations: usize,
    /// Rounds of an optional phase.
    pub optional_iterations: usize,
    /// Time of one phase.
    pub time: Duration,
    /// An optional phase may grow the graph of the phase before by this factor.
    pub growth: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            nodes: 200_000,
            iterations: 40,
            optional_iterations: 12,
            time: Duration::from_secs(10),
            growth: 4,
        }
    }
}

/// Why a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No rule adds anything.
    Saturated,
    /// Too many nodes.
    Nodes,
    /// Too many rounds.
    Iterations,
    /// Too much time.
    Time,
}

/// What a phase did.
#[derive(Clone, Debug)]
pub struct PhaseStats {
    /// Its name.
    pub name: String,
    /// Rounds.
    pub iterations: usize,
    /// E-nodes afterwards, leaves included.
    pub nodes: usize,
    /// Classes afterwards.
    pub classes: usize,
    /// How often each rule equated two classes that were not equal yet.
    pub firings: BTreeMap<String, usize>,
    /// Why it ended.
    pub stop: Stop,
    /// How long it took.
    pub time: Duration,
}

/// One rewriting that was done: the ids are those of the moment, so explanations can name the terms.
#[derive(Clone, Debug)]
pub struct Firing {
    /// The rule.
    pub rule: String,
    /// The class that matched.
    pub from: Id,
    /// The class that was built.
    pub to: Id,
}

/// Runs rules until nothing changes or a bound is met. `log` receives every firing.
pub fn saturate(
    egraph: &mut Graph,
    name: &str,
    rules: &[Compiled],
    bounds: &Bounds,
    log: &mut Vec<Firing>,
) -> Result<PhaseStats, EgraphError> {
    let start = Instant::now();
    let mut firings: BTreeMap<String, usize> = BTreeMap::new();
    let mut fired: HashSet<(usize, Vec<Id>)> = HashSet::new();
    let mut iterations = 0;
    egraph.rebuild();
    let stop = loop {
        if iterations >= bounds.iterations {
            break Stop::Iterations;
        }
        iterations += 1;
        let mut matches: Vec<Match> = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            search(egraph, number, rule, &fired, &mut matches);
        }
        let before = (egraph.total_number_of_nodes(), egraph.number_of_classes());
        let mut changed = false;
        let mut bound_met = None;
        for (count, Match { number, root, env, key, subst }) in matches.into_iter().enumerate() {
            let rule = &rules[number];
            if let Some(new) = fire(egraph, rule, env, root) {
                let from = match &rule.left {
                    Left::Maps(forms) if egraph.are_explanations_enabled() => {
                        instantiate(egraph, &forms[usize::from(key[1])].0, &subst)
                    }
                    _ => root,
                };
                fired.insert((number, key));
                changed |= union(egraph, rule, from, new, &mut firings, log)?;
            }
            // The number of nodes is a walk over every class: asked now and then.
            if count % 256 == 255 {
                bound_met = over(egraph, bounds, start);
            }
            if bound_met.is_some() {
                break;
            }
        }
        for rule in rules {
            if let (Left::Index(left), None) = (&rule.left, bound_met) {
                for (root, new) in index_match::rewrite(egraph, rule, left) {
                    changed |= union(egraph, rule, root, new, &mut firings, log)?;
                }
                bound_met = over(egraph, bounds, start);
            }
        }
        egraph.rebuild();
        if let Some(what) = egraph.analysis.clash.take() {
            return Err(EgraphError::Clash { rule: name.to_string(), what });
        }
        if let Some(stop) = bound_met.or_else(|| over(egraph, bounds, start)) {
            break stop;
        }
        if !changed && before == (egraph.total_number_of_nodes(), egraph.number_of_classes()) {
            break Stop::Saturated;
        }
    };
    Ok(PhaseStats {
        name: name.to_string(),
        iterations,
        nodes: egraph.total_number_of_nodes(),
        classes: egraph.number_of_classes(),
        firings,
        stop,
        time: start.elapsed(),
    })
}

fn over(egraph: &Graph, bounds: &Bounds, start: Instant) -> Option<Stop> {
    if egraph.total_number_of_nodes() > bounds.nodes {
        Some(Stop::Nodes)
    } else if start.elapsed() > bounds.time {
        Some(Stop::Time)
    } else {
        None
    }
}

/// A match of a rule in map notation.
struct Match {
    number: usize,
    root: Id,
    env: Env,
    /// The classes that matched: a match fires once. One whose conditions fail is asked again, since what is known
    /// of its classes may grow.
    key: Vec<Id>,
    subst: Subst,
}

/// Finds the matches of a rule in map notation that have not fired.
fn search(
    egraph: &Graph,
    number: usize,
    rule: &Compiled,
    fired: &HashSet<(usize, Vec<Id>)>,
    matches: &mut Vec<Match>,
) {
    let Left::Maps(forms) = &rule.left else { return };
    for (order, (pattern, commuting)) in forms.iter().enumerate() {
        for found in pattern.search(egraph) {
            for subst in &found.substs {
                let mut env = Env::new(rule.slots.len());
                let mut key = vec![found.eclass, Id::from(order)];
                for slot in 0..rule.slots.len() {
                    if let Some(&id) = subst.get(Var::from_u32(slot as u32)) {
                        key.push(id);
                        env.0[slot] = bound(egraph, id);
                    }
                }
                let set = rule.not_set.iter().any(|&slot| env.op(slot) == Some(Op::Set));
                let commutes = |slot: &usize| match env.op(*slot) {
                    Some(Op::Binary(op)) => op.is_commutative(),
                    _ => false,
                };
                if set || !commuting.iter().all(commutes) {
                    continue;
                }
                let key = (number, key);
                if !fired.contains(&key) {
                    let (key, subst) = (key.1, subst.clone());
                    matches.push(Match { number, root: found.eclass, env, key, subst });
                }
            }
        }
    }
}

/// The term that matched, with an id of its own: a step of a proof starts from what the rule says.
fn instantiate(egraph: &mut Graph, pattern: &Pattern<Node>, subst: &Subst) -> Id {
    let mut ids: Vec<Id> = Vec::new();
    for node in pattern.ast.as_ref() {
        ids.push(match node {
            ENodeOrVar::Var(var) => subst[*var],
            ENodeOrVar::ENode(node) => {
                let node = node.clone().map_children(|c| ids[usize::from(c)]);
                egraph.add_uncanonical(node)
            }
        });
    }
    // A pattern has at least one node: its root, which comes last.
    ids.last().copied().unwrap_or_default()
}

/// Equates two classes, unless they cannot be equal: then the rule is wrong, and that is an error that names it.
fn union(
    egraph: &mut Graph,
    rule: &Compiled,
    root: Id,
    new: Id,
    firings: &mut BTreeMap<String, usize>,
    log: &mut Vec<Firing>,
) -> Result<bool, EgraphError> {
    if egraph.find(root) == egraph.find(new) {
        return Ok(false);
    }
    let ty = |id| field(egraph, id).map(|f| (f.space, f.dtype));
    if ty(root).is_none() || ty(root) != ty(new) {
        let show = |id| match field(egraph, id) {
            Some(f) => format!("{}{}", f.dtype, egraph.analysis.space(f.space)),
            None => "not a field".to_string(),
        };
        let what = format!("{} and {}", show(root), show(new));
        return Err(EgraphError::Clash { rule: rule.name.clone(), what });
    }
    egraph.union_trusted(root, new, rule.name.as_str());
    *firings.entry(rule.name.clone()).or_default() += 1;
    log.push(Firing { rule: rule.name.clone(), from: root, to: new });
    Ok(true)
}
