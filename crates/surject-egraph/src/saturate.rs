//! Running rules to saturation, or to a bound.
//!
//! Work is incremental: the analysis records which classes are new, were merged, or are better known, and a rule is
//! tried only at classes from which it can see one of them. Between two rebuilds the rules of the base run on what
//! they build themselves, so the number of rebuilds does not grow with the depth of the program.

use crate::algebra::{Graph, rebuild};
use crate::apply::{Bound, Env, fire};
use crate::build::field;
use crate::compiled::{Compiled, Left};
use crate::conditions::bound;
use crate::error::EgraphError;
use crate::index_match;
use crate::lang::{Node, Op};
use crate::matching::{Profile, Slots, around, matches_at, reach};
use crate::provenance::{Built, Tags, built, equate, rebuilt};
use egg::{ENodeOrVar, Id, Language};
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The base runs on what it built until one class in so many was merged; then the e-graph is rebuilt. Later would
/// repeat work on terms that a congruence makes equal, earlier would make the rebuilds cost more than the rules.
const REBUILD_SHARE: usize = 8;

/// Where to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// E-nodes of one block.
    pub nodes: usize,
    /// A large block may have more: this many times its nodes as imported.
    pub expansion: usize,
    /// Rounds of the rules of an optional phase.
    pub rounds: usize,
    /// Matches of the rules of one phase.
    pub matches: usize,
    /// An optional phase may grow the graph of the phase before by this factor.
    pub growth: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { nodes: 200_000, expansion: 20, rounds: 12, matches: 5_000_000, growth: 4 }
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
    /// Too many matches.
    Matches,
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
    /// How often the left side of each of the phase's own rules matched.
    pub matches: BTreeMap<String, usize>,
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

/// The rules of a phase.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Its own rules, then those of the base.
    pub all: &'a [Compiled],
    /// How many are its own: they run round by round, the base runs to saturation after each round.
    pub own: usize,
    /// Has the base been saturated on this e-graph before?
    pub settled: bool,
}

/// Runs rules until nothing changes or a bound is met. `log` receives every firing.
pub fn saturate(
    egraph: &mut Graph,
    name: &str,
    rules: Rules<'_>,
    bounds: &Bounds,
    log: &mut Vec<Firing>,
) -> Result<PhaseStats, EgraphError> {
    let start = Instant::now();
    rebuild(egraph);
    rebuilt(egraph);
    let fields = egraph.classes().filter(|c| c.data.field().is_some());
    let all: Vec<Id> = fields.map(|c| c.id).collect();
    let recorded = std::mem::take(&mut egraph.analysis.dirty);
    let mut run = Run {
        rules: rules.all,
        reaches: rules.all.iter().map(reach).collect(),
        bounds,
        tried: 0,
        firings: BTreeMap::new(),
        own: rules.own,
        matched: BTreeMap::new(),
        fired: HashSet::default(),
        log,
    };
    let base = rules.own..rules.all.len();
    let mut pending_own = if rules.own > 0 { all.clone() } else { Vec::new() };
    let mut pending = if rules.settled { recorded } else { all };
    let (mut rebuilds, mut rounds) = (0, 0);
    let stop = loop {
        let own = pending.is_empty();
        let stop = if own {
            if pending_own.is_empty() {
                break Stop::Saturated;
            }
            if rounds >= bounds.rounds {
                break Stop::Iterations;
            }
            rounds += 1;
            let dirty = std::mem::take(&mut pending_own);
            run.generation(egraph, 0..rules.own, &dirty)?
        } else {
            let mut dirty = std::mem::take(&mut pending);
            let enough = run.log.len() + egraph.number_of_classes() / REBUILD_SHARE;
            let stop = loop {
                let stop = run.generation(egraph, base.clone(), &dirty)?;
                dirty = std::mem::take(&mut egraph.analysis.dirty);
                if rules.own > 0 {
                    pending_own.extend(&dirty);
                }
                if dirty.is_empty() || stop.is_some() || run.log.len() > enough {
                    break stop;
                }
            };
            pending = dirty;
            stop
        };
        rebuilds += 1;
        rebuild(egraph);
        rebuilt(egraph);
        if let Some(what) = egraph.analysis.clash.take() {
            return Err(EgraphError::Clash { rule: name.to_string(), what });
        }
        if let Some(stop) = stop {
            break stop;
        }
        let dirty = std::mem::take(&mut egraph.analysis.dirty);
        if rules.own > 0 {
            pending_own.extend(&dirty);
        }
        pending.extend(dirty);
    };
    Ok(PhaseStats {
        name: name.to_string(),
        iterations: rebuilds,
        nodes: egraph.total_number_of_nodes(),
        classes: egraph.number_of_classes(),
        firings: run.firings,
        matches: run.matched,
        stop,
        time: start.elapsed(),
    })
}

/// A match of a rule in map notation.
struct Match {
    number: usize,
    /// Which of the forms of its left side.
    form: usize,
    root: Id,
    slots: Slots,
    /// What the nodes that matched rest on.
    tags: Tags,
}

/// What a match is known by: rule, form, matched class, classes of the slots.
type Key = (u32, u32, Id, Slots);

/// A phase on its way.
struct Run<'a> {
    rules: &'a [Compiled],
    /// How far below a class each rule looks.
    reaches: Vec<usize>,
    bounds: &'a Bounds,
    /// Matches so far.
    tried: usize,
    firings: BTreeMap<String, usize>,
    /// How many of the rules are the phase's own, and how often each of those matched.
    own: usize,
    matched: BTreeMap<String, usize>,
    /// A match fires once. One whose conditions fail is asked again when a class it sees is dirty.
    fired: HashSet<Key>,
    log: &'a mut Vec<Firing>,
}

impl Run<'_> {
    /// Tries some of the rules wherever they see a dirty class, once.
    fn generation(
        &mut self,
        egraph: &mut Graph,
        numbers: std::ops::Range<usize>,
        dirty: &[Id],
    ) -> Result<Option<Stop>, EgraphError> {
        let reach = self.reaches[numbers.clone()].iter().copied().max().unwrap_or(0);
        let places = around(egraph, dirty, reach);
        let mut matches: Vec<Match> = Vec::new();
        for &(class, distance) in &places {
            let profile = Profile::of(egraph, class);
            for number in numbers.clone().filter(|&n| self.reaches[n] >= distance) {
                self.search(egraph, number, class, &profile, &mut matches);
            }
        }
        self.tried += matches.len();
        for (count, Match { number, form, root, slots, tags }) in matches.into_iter().enumerate() {
            let rule = &self.rules[number];
            if number < self.own {
                *self.matched.entry(rule.name.clone()).or_default() += 1;
            }
            let mut env = Env::new(rule.slots.len());
            for (slot, id) in slots.iter().enumerate() {
                if let Some(bound) = id.and_then(|id| bound(egraph, id)) {
                    // An operation or a map is what it is; a field goes by its class.
                    env.set(
                        slot,
                        if let Bound::Field(id) = bound { Bound::Field(egraph.find(id)) } else { bound },
                    );
                }
            }
            let before = egraph.analysis.provenance.made();
            egraph.analysis.provenance.used = Tags::NONE;
            if let Some(new) = fire(egraph, rule, env, root) {
                let new = built(egraph, new, before, rule.tags.and(tags));
                let from = match &rule.left {
                    Left::Maps(forms) if egraph.are_explanations_enabled() => {
                        instantiate(egraph, forms[form].pattern.ast.as_ref(), &slots)
                    }
                    _ => root,
                };
                self.fired.insert((number as u32, form as u32, root, slots));
                self.union(egraph, rule, from, new)?;
            }
            if count % 64 == 63
                && let Some(stop) = self.over(egraph)
            {
                return Ok(Some(stop));
            }
        }
        for number in numbers {
            let rule = &self.rules[number];
            if let Left::Index(left) = &rule.left {
                let near = places.iter().filter(|p| p.1 <= self.reaches[number]).map(|p| egraph.find(p.0));
                let near: Vec<Id> = near.collect();
                let (matched, rewritten) = index_match::rewrite(egraph, rule, left, near.into_iter());
                self.tried += matched;
                if matched > 0 && number < self.own {
                    *self.matched.entry(rule.name.clone()).or_default() += matched;
                }
                for (root, new) in rewritten {
                    self.union(egraph, rule, root, new)?;
                }
                if let Some(stop) = self.over(egraph) {
                    return Ok(Some(stop));
                }
            }
        }
        Ok(self.over(egraph))
    }

    fn over(&self, egraph: &Graph) -> Option<Stop> {
        // The number of interned nodes is never less than that of the nodes of all classes, which is a walk.
        if egraph.total_size() > self.bounds.nodes && egraph.total_number_of_nodes() > self.bounds.nodes {
            Some(Stop::Nodes)
        } else if self.tried > self.bounds.matches {
            Some(Stop::Matches)
        } else {
            None
        }
    }

    /// Finds the matches of a rule in map notation at a class that have not fired.
    fn search(&self, egraph: &Graph, number: usize, class: Id, profile: &Profile, matches: &mut Vec<Match>) {
        let rule = &self.rules[number];
        let Left::Maps(forms) = &rule.left else { return };
        for (form, f) in forms.iter().enumerate().filter(|(_, f)| profile.admits(f.head)) {
            for (slots, tags) in matches_at(egraph, f.pattern.ast.as_ref(), rule.slots.len(), class) {
                let op = |slot: usize| slots[slot].and_then(|id| egraph[id].data.op());
                let commutes = |slot: &usize| matches!(op(*slot), Some(Op::Binary(b)) if b.is_commutative());
                if rule.not_set.iter().any(|&slot| op(slot) == Some(Op::Set))
                    || !f.commuting.iter().all(commutes)
                {
                    continue;
                }
                let key = (number as u32, form as u32, class, slots);
                if !self.fired.contains(&key) {
                    matches.push(Match { number, form, root: class, slots: key.3, tags });
                }
            }
        }
    }

    /// Equates two classes, unless they cannot be equal: then the rule is wrong, and that is an error that names it.
    fn union(
        &mut self,
        egraph: &mut Graph,
        rule: &Compiled,
        root: Id,
        built: Built,
    ) -> Result<(), EgraphError> {
        let new = built.id;
        if egraph.find(root) == egraph.find(new) {
            return Ok(());
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
        equate(egraph, root, built, rule.name.as_str());
        *self.firings.entry(rule.name.clone()).or_default() += 1;
        self.log.push(Firing { rule: rule.name.clone(), from: root, to: new });
        Ok(())
    }
}

/// The term that matched, with an id of its own: a step of a proof starts from what the rule says.
fn instantiate(egraph: &mut Graph, pattern: &[ENodeOrVar<Node>], slots: &Slots) -> Id {
    let mut ids: Vec<Id> = Vec::new();
    for node in pattern {
        ids.push(match node {
            // Every variable of a pattern is bound by its match.
            ENodeOrVar::Var(var) => var.as_u32().and_then(|slot| slots[slot as usize]).unwrap_or_default(),
            ENodeOrVar::ENode(node) => {
                let node = node.clone().map_children(|c| ids[usize::from(c)]);
                egraph.add_uncanonical(node)
            }
        });
    }
    // A pattern has at least one node: its root, which comes last.
    ids.last().copied().unwrap_or_default()
}
