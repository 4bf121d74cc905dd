//! Matching of patterns in map notation at one class, and the walk that finds the classes to match at.
//!
//! The matcher needs no rebuilt e-graph: it follows canonical ids, and what a pending congruence would add is found
//! after the rebuild, when the classes that it merged are dirty.

use crate::algebra::Graph;
use crate::compiled::{Compiled, Left, Slot};
use crate::lang::{Node, Op};
use crate::provenance::{Tags, of_class};
use egg::{ENodeOrVar, Id, Language};
use rustc_hash::{FxBuildHasher, FxHashMap as HashMap};

/// The kinds of nodes of a class, and the operations at their heads.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    kinds: u8,
    ops: Vec<Op>,
}

/// What the head of a pattern asks of a class.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    kinds: u8,
    op: Option<Op>,
}

/// The operation of a node.
fn root_op(egraph: &Graph, node: &Node) -> Option<Op> {
    match node {
        Node::Acc([o, ..]) | Node::Un([o, _]) | Node::Bin([o, ..]) => egraph[*o].data.op(),
        _ => None,
    }
}

fn kind(node: &Node) -> u8 {
    match node {
        Node::Read(_) => 1,
        Node::Acc(_) => 2,
        Node::Un(_) => 4,
        Node::Bin(_) => 8,
        Node::Sel(_) => 16,
        _ => 32,
    }
}

impl Profile {
    /// The profile of a class.
    pub fn of(egraph: &Graph, class: Id) -> Profile {
        let mut profile = Profile::default();
        for node in &egraph[class].nodes {
            profile.kinds |= kind(node);
            if let Some(op) = root_op(egraph, node)
                && !profile.ops.contains(&op)
            {
                profile.ops.push(op);
            }
        }
        profile
    }

    /// May a pattern with this head match?
    pub fn admits(&self, head: Head) -> bool {
        self.kinds & head.kinds != 0 && head.op.is_none_or(|op| self.ops.contains(&op))
    }
}

impl Head {
    /// The head that every class has.
    pub const ANY: Head = Head { kinds: u8::MAX, op: None };

    /// The head of a pattern.
    pub fn of(ast: &[ENodeOrVar<Node>]) -> Head {
        let Some(ENodeOrVar::ENode(node)) = ast.last() else { return Head::ANY };
        let op = match node {
            Node::Acc([o, ..]) | Node::Un([o, _]) | Node::Bin([o, ..]) => match &ast[usize::from(*o)] {
                ENodeOrVar::ENode(Node::Op(op)) => Some(*op),
                _ => None,
            },
            _ => None,
        };
        Head { kinds: kind(node), op }
    }
}

/// What each slot of a match stands for.
pub type Slots = Vec<Option<Id>>;

/// The matches of a pattern at a class, and what the nodes that matched rest on.
pub fn matches_at(egraph: &Graph, ast: &[ENodeOrVar<Node>], slots: usize, class: Id) -> Vec<(Slots, Tags)> {
    let mut search = Matches { egraph, ast, found: Vec::new(), slots: vec![None; slots], tags: Tags::NONE };
    let mut todo = vec![(ast.len() - 1, egraph.find(class))];
    search.step(&mut todo);
    search.found
}

struct Matches<'a> {
    egraph: &'a Graph,
    ast: &'a [ENodeOrVar<Node>],
    found: Vec<(Slots, Tags)>,
    slots: Slots,
    tags: Tags,
}

impl Matches<'_> {
    /// Matches what is left to do; leaves `todo` as it found it. The depth is the size of the pattern.
    fn step(&mut self, todo: &mut Vec<(usize, Id)>) {
        let Some((place, class)) = todo.pop() else {
            self.found.push((self.slots.clone(), self.tags));
            return;
        };
        let before = self.tags;
        self.tags = before.and(of_class(self.egraph, class));
        match &self.ast[place] {
            ENodeOrVar::Var(var) => {
                // The variables of a rule are its slots, `?0`, `?1`, ….
                let slot: Slot = var.as_u32().unwrap_or_default() as usize;
                match self.slots[slot] {
                    Some(known) if known == class => self.step(todo),
                    Some(_) => {}
                    None => {
                        self.slots[slot] = Some(class);
                        self.step(todo);
                        self.slots[slot] = None;
                    }
                }
            }
            ENodeOrVar::ENode(wanted) => {
                let egraph = self.egraph;
                for node in &egraph[class].nodes {
                    if !wanted.matches(node) {
                        continue;
                    }
                    let (depth, above) = (todo.len(), self.tags);
                    self.tags = above.and(egraph.analysis.provenance.of(node));
                    // Operations are matched first: they are the children that tell most terms apart.
                    for (&pattern, &child) in wanted.children().iter().zip(node.children()).rev() {
                        todo.push((usize::from(pattern), egraph.find(child)));
                    }
                    self.step(todo);
                    self.tags = above;
                    todo.truncate(depth);
                }
            }
        }
        self.tags = before;
        todo.push((place, class));
    }
}

/// How far below a class a rule looks, in steps from a class to its operands.
pub fn reach(rule: &Compiled) -> usize {
    match &rule.left {
        Left::Index(pattern) => crate::index_match::reach(pattern),
        Left::Maps(forms) => {
            forms.iter().map(|f| form_reach(rule, f.pattern.ast.as_ref())).max().unwrap_or(0)
        }
    }
}

fn form_reach(rule: &Compiled, ast: &[ENodeOrVar<Node>]) -> usize {
    // A pattern holds each of its terms once, however often it occurs.
    let mut depth = vec![0; ast.len()];
    let mut uses = vec![0usize; ast.len()];
    for place in (0..ast.len()).rev() {
        if let ENodeOrVar::ENode(node) = &ast[place] {
            for &child in node.children() {
                let child = usize::from(child);
                depth[child] = depth[child].max(depth[place] + 1);
                uses[child] += 1;
            }
        }
    }
    let looks = |place: usize| match &ast[place] {
        ENodeOrVar::ENode(node) if node.children().is_empty() => 0,
        ENodeOrVar::ENode(_) => depth[place],
        ENodeOrVar::Var(var) => {
            let slot = var.as_u32().unwrap_or_default() as usize;
            // The operands of a field that a binding takes apart, the value of one that is compared.
            match rule.depth_below(slot) {
                Some(below) => depth[place] + below,
                None if uses[place] > 1 => depth[place],
                None => 0,
            }
        }
    };
    (0..ast.len()).map(looks).max().unwrap_or(0)
}

/// The classes from which a dirty class is at most `reach` steps away, each with its distance, in the order of
/// their ids.
pub fn around(egraph: &Graph, dirty: &[Id], reach: usize) -> Vec<(Id, usize)> {
    let mut distance: HashMap<Id, usize> = HashMap::with_capacity_and_hasher(dirty.len() * 2, FxBuildHasher);
    let mut front: Vec<Id> = Vec::with_capacity(dirty.len());
    for &id in dirty {
        let id = egraph.find(id);
        if distance.insert(id, 0).is_none() {
            front.push(id);
        }
    }
    for step in 1..=reach {
        let mut next = Vec::new();
        for class in front {
            // Maps and operations are never merged: whoever uses a new one is new as well.
            if egraph[class].data.field().is_none() {
                continue;
            }
            for parent in egraph[class].parents() {
                let parent = egraph.find(parent);
                if let std::collections::hash_map::Entry::Vacant(entry) = distance.entry(parent) {
                    entry.insert(step);
                    next.push(parent);
                }
            }
        }
        front = next;
    }
    let mut result: Vec<(Id, usize)> =
        distance.into_iter().filter(|(id, _)| egraph[*id].data.field().is_some()).collect();
    result.sort_unstable();
    result
}
