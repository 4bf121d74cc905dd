//! Which rules the terms of an e-graph rest on.
//!
//! Every class stands for one value: that of the term it was made for. A node that a rule adds to a class has that value
//! by the rule, and by whatever the nodes rest on that the rule matched; that set of rules is kept beside the node.
//! Where two classes that stood for values of their own are equated, by a rule or because their nodes became equal, the
//! class keeps what that rests on. Of several derivations the first one counts, as one is enough. So a term that is
//! extracted holds by the rules of its nodes and of their classes, and by no other.

use crate::algebra::Graph;
use crate::build::field;
use crate::lang::Node;
use egg::{Id, Justification, Language};
use rustc_hash::FxHashMap as HashMap;
use std::cell::Cell;

/// A set of rules, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tags(u128);

impl Tags {
    /// No rule.
    pub const NONE: Tags = Tags(0);
    /// Every rule.
    pub const ALL: Tags = Tags(u128::MAX);
    /// Rules that can be told apart; those with a higher number share the last place.
    pub const COUNT: usize = 128;

    /// The rule with this number.
    pub fn of(number: usize) -> Tags {
        Tags(1 << number.min(Tags::COUNT - 1))
    }

    /// Those of both sets.
    pub fn and(self, other: Tags) -> Tags {
        Tags(self.0 | other.0)
    }

    /// Those of this set that are not in the other.
    pub fn without(self, other: Tags) -> Tags {
        Tags(self.0 & !other.0)
    }

    /// Is a rule in both sets?
    pub fn meets(self, other: Tags) -> bool {
        self.0 & other.0 != 0
    }

    /// Is there none?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The numbers of the rules.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..Tags::COUNT).filter(move |n| self.0 >> n & 1 == 1)
    }
}

/// What the nodes of an e-graph rest on.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The rules that are followed.
    pub followed: Tags,
    /// What was used since this was last cleared: nodes that a condition or a constructor has looked at.
    pub used: Tags,
    /// What the equation that is made next rests on.
    equating: Tags,
    /// What the merge that is under way rests on.
    merging: Cell<Tags>,
    /// The nodes that rules have added, by the ids that they got.
    ids: HashMap<Id, Tags>,
    /// The same as the nodes stand in their classes.
    nodes: HashMap<Node, Tags>,
    /// How many ids there are.
    made: usize,
}

impl Provenance {
    /// What a node, as it stands in its class, rests on there.
    pub fn of(&self, node: &Node) -> Tags {
        if self.nodes.is_empty() { Tags::NONE } else { self.nodes.get(node).copied().unwrap_or_default() }
    }

    /// Notes a new id.
    pub fn make(&mut self, id: Id) {
        self.made = self.made.max(usize::from(id) + 1);
    }

    /// How many ids there are: those made from now on are not below.
    pub fn made(&self) -> usize {
        self.made
    }

    /// What the merge under way rests on; asked once.
    pub fn take_merging(&self) -> Tags {
        self.merging.take()
    }
}

/// What equating the parts of a class rests on.
pub fn of_class(egraph: &Graph, id: Id) -> Tags {
    field(egraph, id).map_or(Tags::NONE, |f| f.rests)
}

/// What a node, as it stands in its class or with the classes of now for children, and its class rest on.
pub fn of_node(egraph: &Graph, node: &Node, class: Id) -> Tags {
    let found = node.clone().map_children(|c| egraph.find(c));
    let provenance = &egraph.analysis.provenance;
    provenance.of(node).and(provenance.of(&found)).and(of_class(egraph, class))
}

/// What it rests on that a class is the constant that it is.
pub fn of_constant(egraph: &Graph, class: Id) -> Tags {
    let known = field(egraph, class).and_then(|f| f.constant.map(|value| (f.space, value)));
    known.map_or(Tags::NONE, |(space, value)| {
        let node = Node::Const(space, value.dtype(), value.bits());
        of_node(egraph, &node, class)
    })
}

/// Notes that a class was looked at for the constant that it is.
pub fn use_constant(egraph: &mut Graph, class: Id) {
    let tags = of_constant(egraph, class);
    egraph.analysis.provenance.used = egraph.analysis.provenance.used.and(tags);
}

/// Notes that a class and any of its nodes were looked at.
pub fn use_class(egraph: &mut Graph, id: Id) {
    let class = egraph.find(id);
    let provenance = &egraph.analysis.provenance;
    let nodes = egraph[class].nodes.iter().map(|n| provenance.of(n));
    let tags = nodes.fold(of_class(egraph, class), Tags::and);
    egraph.analysis.provenance.used = egraph.analysis.provenance.used.and(tags);
}

/// Notes that a node of a class was looked at.
pub fn use_node(egraph: &mut Graph, node: &Node, class: Id) {
    let tags = of_node(egraph, node, class);
    egraph.analysis.provenance.used = egraph.analysis.provenance.used.and(tags);
}

/// A class that a rule has built, and what it rests on as a value of the class that matched.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// The class.
    pub id: Id,
    /// The rules.
    pub tags: Tags,
}

/// Notes what a rule has built: everything that was made since there were `before` ids, from what `matched` rests on.
pub fn built(egraph: &mut Graph, id: Id, before: usize, matched: Tags) -> Built {
    let tags = Tags(matched.and(egraph.analysis.provenance.used).0 & egraph.analysis.provenance.followed.0);
    if usize::from(id) >= before && alone(egraph, id) && !tags.is_empty() {
        let node = egraph.id_to_node(id).clone().map_children(|c| egraph.find(c));
        egraph.analysis.provenance.ids.insert(id, tags);
        egraph.analysis.provenance.nodes.entry(node).or_insert(tags);
    }
    Built { id, tags }
}

/// Equates a class with what a rule has built for it.
pub fn equate(egraph: &mut Graph, root: Id, built: Built, rule: &str) -> bool {
    let Built { id, tags } = built;
    // A class of the one node that was built has no value of its own yet: what the node rests on says it all.
    let own = egraph.analysis.provenance.ids.contains_key(&id) && alone(egraph, id);
    egraph.analysis.provenance.equating = if own { Tags::NONE } else { tags };
    let changed = egraph.union_trusted(root, id, rule);
    egraph.analysis.provenance.equating = Tags::NONE;
    changed
}

fn alone(egraph: &Graph, id: Id) -> bool {
    egraph.find(id) == id && egraph[id].nodes.len() == 1
}

/// Equates a class with the constant that it is known to be.
pub fn fold(egraph: &mut Graph, class: Id, constant: Id) {
    let mut tags = of_class(egraph, class);
    for node in &egraph[class].nodes {
        tags = tags.and(egraph.analysis.provenance.of(node));
        for &child in node.fields() {
            tags = tags.and(of_class(egraph, child)).and(of_constant(egraph, child));
        }
    }
    egraph.analysis.provenance.equating = tags;
    egraph.union_trusted(class, constant, "constant-folding");
    egraph.analysis.provenance.equating = Tags::NONE;
}

/// Before two ids are equated.
pub fn before_union(egraph: &Graph, a: Id, b: Id, why: &Option<Justification>) {
    if egraph.find(a) == egraph.find(b) {
        return;
    }
    let provenance = &egraph.analysis.provenance;
    let tags = match why {
        Some(Justification::Congruence) => {
            let own = |id: &Id| provenance.ids.get(id).copied().unwrap_or_default();
            let fields = egraph.id_to_node(a).fields().iter().map(|&c| of_class(egraph, c));
            fields.fold(own(&a).and(own(&b)), Tags::and)
        }
        _ => provenance.equating,
    };
    provenance.merging.set(tags);
}

/// After a rebuild: the nodes as they stand in their classes now.
pub fn rebuilt(egraph: &mut Graph) {
    let ids = std::mem::take(&mut egraph.analysis.provenance.ids);
    let mut nodes = std::mem::take(&mut egraph.analysis.provenance.nodes);
    nodes.clear();
    for (&id, &tags) in &ids {
        let node = egraph.id_to_node(id).clone().map_children(|c| egraph.find(c));
        nodes.entry(node).or_insert(tags);
    }
    egraph.analysis.provenance.ids = ids;
    egraph.analysis.provenance.nodes = nodes;
}
