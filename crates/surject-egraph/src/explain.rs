//! Explanations: which rewritings lie behind a stored class, each checked again.
//!
//! An explanation lists, in order, the firings of rules on the classes that the kernel of a stored class evaluates.
//! Terms are let-bound: operands are written as the numbers of their classes, maps in full, so an explanation is as
//! long as its steps and not as the trees they speak of. Every step is replayed: the rule alone is run on the
//! left term in an e-graph of its own, and must build the right term. Where what the rule built depended on more of
//! the e-graph than that term (a constructor composed with a read found elsewhere), the two sides are compared by
//! interpretation instead.

use crate::algebra::{Graph, rebuild};
use crate::compiled::Compiled;
use crate::dot::label;
use crate::lang::Node;
use crate::plan::Plan;
use crate::provenance::Provenance;
use crate::saturate::{Bounds, Firing, Rules, saturate};
use crate::terms::{Class, Terms};
use crate::value::{Agreement, Values, class_values, differ, node_value};
use egg::{Id, Language};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use surject_ir::{DType, Scalar, Var};

/// How deep a term is replayed; what lies below stands for itself.
const DEPTH: usize = 5;
/// Steps written out for one stored class.
const MAX_STEPS: usize = 60;

/// How a step was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    Rewritten,
    Interpreted,
    Unchecked,
    Wrong,
}

/// One explanation per stored class.
pub fn explain(
    egraph: &mut Graph,
    terms: &Terms,
    plan: &Plan,
    log: &[Firing],
    rules: &[&Compiled],
    name: impl Fn(Class) -> Option<String>,
) -> Vec<String> {
    let mut by_class: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    for (step, firing) in log.iter().enumerate() {
        by_class.entry(egraph.find(firing.from)).or_default().push(step);
    }
    let inputs = |input: u32, dtype: DType, count: u64| values(dtype, count, input);
    let class_values = class_values(egraph, &inputs);
    let mut checks: HashMap<usize, Check> = HashMap::new();
    let mut result = Vec::new();
    for (&class, kernel) in &plan.kernels {
        let mut steps: BTreeSet<usize> = BTreeSet::new();
        for inlined in kernel.inlined.iter().map(|i| i.0).chain([class]) {
            let id = egraph.find(terms.classes[inlined].id);
            steps.extend(by_class.get(&id).into_iter().flatten());
        }
        for &step in &steps {
            checks.entry(step).or_insert_with(|| check(egraph, &log[step], rules, &class_values));
        }
        let title = name(class).unwrap_or_else(|| format!("class {}", terms.classes[class].id));
        result.push(write(egraph, &title, log, &steps, &checks));
    }
    result
}

fn write(
    egraph: &Graph,
    title: &str,
    log: &[Firing],
    steps: &BTreeSet<usize>,
    checks: &HashMap<usize, Check>,
) -> String {
    let count = |what: Check| steps.iter().filter(|s| checks.get(s) == Some(&what)).count();
    let mut text = format!(
        "explanation of `{title}`: {} steps, {} replayed by rewriting, {} by interpretation, {} too large to check",
        steps.len(),
        count(Check::Rewritten),
        count(Check::Interpreted),
        count(Check::Unchecked)
    );
    if count(Check::Wrong) > 0 {
        let _ = write!(text, ", {} WRONG", count(Check::Wrong));
    }
    for &step in steps.iter().take(MAX_STEPS) {
        let firing = &log[step];
        let (from, to) = (term(egraph, firing.from), term(egraph, firing.to));
        let _ = write!(text, "\n  {:<20} {from}\n  {:>20} {to}", firing.rule, "=>");
    }
    if steps.len() > MAX_STEPS {
        let _ = write!(text, "\n  … and {} more", steps.len() - MAX_STEPS);
    }
    text
}

/// A term two levels deep; operands below are the numbers of their classes.
fn term(egraph: &Graph, id: Id) -> String {
    fn go(egraph: &Graph, id: Id, depth: usize) -> String {
        let node = egraph.id_to_node(id);
        if node.fields().is_empty() {
            return match node {
                Node::Input(i) => format!("in{i}"),
                other => label(egraph, other),
            };
        }
        if depth == 0 {
            return format!("%{}", egraph.find(id));
        }
        let operands: Vec<String> = node.fields().iter().map(|&c| go(egraph, c, depth - 1)).collect();
        format!("({} {})", label(egraph, node), operands.join(" "))
    }
    go(egraph, id, 2)
}

/// Checks a step once more.
fn check(egraph: &Graph, firing: &Firing, rules: &[&Compiled], known: &HashMap<Id, Values>) -> Check {
    if replay(egraph, firing, rules).unwrap_or(false) {
        return Check::Rewritten;
    }
    let child = |c: Id| known.get(&egraph.find(c)).cloned();
    let inputs = |input: u32, dtype: DType, count: u64| values(dtype, count, input);
    let value = |id: Id| node_value(egraph, id, egraph.id_to_node(id), &child, &inputs);
    match (value(firing.from), value(firing.to)) {
        (Some(a), Some(b)) => {
            let agreement = Agreement { tolerance: 1e-3, zero_sign: true };
            if differ(&a, &b, agreement).is_none() { Check::Interpreted } else { Check::Wrong }
        }
        _ => Check::Unchecked,
    }
}

/// Runs the rule of a step alone on its left term; does it build the right one?
fn replay(egraph: &Graph, firing: &Firing, rules: &[&Compiled]) -> Option<bool> {
    // What terms rest on goes by the ids of their e-graph.
    let mut analysis = egraph.analysis.clone();
    analysis.provenance = Provenance::default();
    let mut own = Graph::new(analysis);
    let mut copy = Copy { egraph, own: &mut own, done: HashMap::new(), classes: HashMap::new() };
    let from = copy.term(firing.from, DEPTH)?;
    // The operands of both sides are the same terms of the same classes, but for the class that is rewritten.
    let root = egraph.find(firing.from);
    let known: HashMap<Id, Id> = copy
        .done
        .iter()
        .map(|(&(id, _), &own)| (egraph.find(id), own))
        .filter(|&(class, _)| class != root)
        .collect();
    let rules: Vec<Compiled> = rules.iter().filter(|r| r.name == firing.rule).map(|r| (*r).clone()).collect();
    let bounds = Bounds { nodes: 500, rounds: 1, ..Bounds::default() };
    let rules = Rules { all: &rules, own: rules.len(), settled: false };
    saturate(&mut own, &firing.rule, rules, &bounds, &mut Vec::new()).ok()?;
    let mut copy = Copy { egraph, own: &mut own, done: HashMap::new(), classes: known };
    let to = copy.term(firing.to, DEPTH + 3)?;
    rebuild(&mut own);
    Some(own.find(from) == own.find(to))
}

/// Copies terms into another e-graph.
struct Copy<'a> {
    egraph: &'a Graph,
    own: &'a mut Graph,
    done: HashMap<(Id, usize), Id>,
    /// Classes that have a term already.
    classes: HashMap<Id, Id>,
}

impl Copy<'_> {
    fn term(&mut self, id: Id, depth: usize) -> Option<Id> {
        if let Some(&done) = self.done.get(&(id, depth)) {
            return Some(done);
        }
        if let Some(&known) = self.classes.get(&self.egraph.find(id)) {
            return Some(known);
        }
        let node = self.egraph.id_to_node(id).clone();
        let copied = if !node.is_term() || node.children().is_empty() {
            self.own.add(node)
        } else if depth == 0 {
            // What lies below is a variable, the same one for every term of its class.
            let class = self.egraph.find(id);
            let data = self.egraph[class].data.field()?;
            let space = self.own.analysis.space(data.space).clone();
            let var = Var(u32::MAX - u32::try_from(usize::from(class)).ok()?);
            let input = self.own.analysis.input_id(var, data.dtype, &space);
            self.own.add(Node::Input(input))
        } else {
            let mut children = Vec::with_capacity(node.children().len());
            for &child in node.children() {
                let is_field = self.egraph[child].data.field().is_some();
                children.push(self.term(child, if is_field { depth - 1 } else { depth })?);
            }
            let mut next = children.into_iter();
            let mut node = node;
            node.for_each_mut(|c| *c = next.next().unwrap_or(*c));
            self.own.add(node)
        };
        self.done.insert((id, depth), copied);
        Some(copied)
    }
}

/// Small values that differ from input to input.
fn values(dtype: DType, count: u64, input: u32) -> Vec<Scalar> {
    let value =
        |i: u64| (i.wrapping_mul(7919).wrapping_add(u64::from(input) * 104_729) % 17) as f64 / 4.0 - 2.0;
    (0..count).map(|i| Scalar::from_f64(dtype, value(i))).collect()
}
