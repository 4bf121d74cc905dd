//! A snapshot of the e-graph for extraction: dense classes, the nodes each may be written as, and a first choice
//! among them that has no cycle.

use crate::algebra::{Axes, Graph, MapId, SpaceId};
use crate::build::field;
use crate::lang::{Node, Op};
use crate::provenance::Tags;
use egg::Id;
use rustc_hash::FxHashMap as HashMap;
use std::collections::VecDeque;
use surject_index::Space;
use surject_ir::DType;

/// The number of a class in the snapshot.
pub type Class = usize;

/// A node whose operands are classes of the snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A variable.
    Input(u32),
    /// A constant.
    Const,
    /// An index.
    Index(u32),
    /// A pointwise operation; none for a choice.
    Point(Option<Op>, Vec<Class>),
    /// A read.
    Read(MapId, Class),
    /// An accumulation.
    Acc(Op, MapId, Class),
}

/// A class of the snapshot.
#[derive(Clone, Debug)]
pub struct Info {
    /// Its id in the e-graph.
    pub id: Id,
    /// Its space.
    pub space: SpaceId,
    /// Its element type.
    pub dtype: DType,
    /// The axes it may depend on.
    pub deps: Axes,
    /// Its number of points; a symbolic extent counts as [`SYMBOLIC`].
    pub points: f64,
    /// What it may be written as.
    pub terms: Vec<Term>,
    /// The rules that each of the terms rests on.
    pub tags: Vec<Tags>,
    /// The rules that it rests on whichever term it is written as.
    pub rests: Tags,
    /// After how many statements of the block its value can be known.
    pub level: u32,
}

/// The classes that some roots reach.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The classes.
    pub classes: Vec<Info>,
    /// Their numbers.
    pub numbers: HashMap<Id, Class>,
}

/// What a symbolic extent is taken for when costs are compared.
pub const SYMBOLIC: f64 = 128.0;

/// The number of points of a space, for costs.
pub fn points(space: &Space) -> f64 {
    space.extents().iter().map(|e| e.as_const().map_or(SYMBOLIC, |n| n as f64)).product()
}

impl Term {
    /// The classes it is made of.
    pub fn children(&self) -> &[Class] {
        match self {
            Term::Input(_) | Term::Const | Term::Index(_) => &[],
            Term::Point(_, xs) => xs,
            Term::Read(_, x) | Term::Acc(_, _, x) => std::slice::from_ref(x),
        }
    }

    /// Is there nothing to compute?
    pub fn is_leaf(&self) -> bool {
        self.children().is_empty()
    }
}

impl Terms {
    /// Takes the snapshot. `level` gives the number of statements after which an input exists.
    pub fn new(egraph: &Graph, roots: &[Id], level: impl Fn(u32) -> u32) -> Terms {
        let mut terms = Terms { classes: Vec::new(), numbers: HashMap::default() };
        let mut queue: VecDeque<Id> = VecDeque::new();
        for &root in roots {
            terms.enter(egraph, root, &mut queue);
        }
        while let Some(id) = queue.pop_front() {
            let number = terms.numbers[&id];
            for node in &egraph[id].nodes {
                let children: Vec<Class> =
                    node.fields().iter().filter_map(|&c| terms.enter(egraph, c, &mut queue)).collect();
                if children.len() < node.fields().len() {
                    continue;
                }
                let op = |o: Id| egraph[o].data.op();
                let term = match node {
                    Node::Input(i) => Term::Input(*i),
                    Node::Const(..) => Term::Const,
                    Node::Index(_, axis, _) => Term::Index(*axis),
                    Node::Un([o, _]) | Node::Bin([o, ..]) => Term::Point(op(*o), children),
                    Node::Sel(_) => Term::Point(None, children),
                    Node::Read([m, _]) => match egraph[*m].data.map() {
                        Some(map) => Term::Read(map, children[0]),
                        None => continue,
                    },
                    Node::Acc([o, m, _]) => match (op(*o), egraph[*m].data.map()) {
                        (Some(op), Some(map)) => Term::Acc(op, map, children[0]),
                        _ => continue,
                    },
                    Node::Map(_) | Node::Op(_) => continue,
                };
                if !children_contain(&term, number) {
                    terms.classes[number].terms.push(term);
                    terms.classes[number].tags.push(egraph.analysis.provenance.of(node));
                }
            }
        }
        terms.set_levels(level);
        terms
    }

    fn enter(&mut self, egraph: &Graph, id: Id, queue: &mut VecDeque<Id>) -> Option<Class> {
        let id = egraph.find(id);
        if let Some(&number) = self.numbers.get(&id) {
            return Some(number);
        }
        let data = field(egraph, id)?;
        let number = self.classes.len();
        self.classes.push(Info {
            id,
            space: data.space,
            dtype: data.dtype,
            deps: data.deps,
            points: points(egraph.analysis.space(data.space)),
            terms: Vec::new(),
            tags: Vec::new(),
            rests: data.rests,
            level: u32::MAX,
        });
        self.numbers.insert(id, number);
        queue.push_back(id);
        Some(number)
    }

    /// Finds the level of every class and drops the terms that need a later one: a class may equal a term over the
    /// result of a later call, and may not be computed from it.
    fn set_levels(&mut self, level: impl Fn(u32) -> u32) {
        let count = self.classes.len();
        let mut users: Vec<Vec<Class>> = vec![Vec::new(); count];
        for (number, info) in self.classes.iter().enumerate() {
            for &child in info.terms.iter().flat_map(Term::children) {
                users[child].push(number);
            }
        }
        let mut queue: VecDeque<Class> = (0..count).rev().collect();
        let mut queued = vec![true; count];
        while let Some(number) = queue.pop_front() {
            queued[number] = false;
            let best = self.classes[number].terms.iter().map(|t| self.term_level(t, &level)).min();
            let best = best.unwrap_or(u32::MAX);
            if best < self.classes[number].level {
                self.classes[number].level = best;
                for &user in &users[number] {
                    if !std::mem::replace(&mut queued[user], true) {
                        queue.push_back(user);
                    }
                }
            }
        }
        for number in 0..self.classes.len() {
            let own = self.classes[number].level;
            let (terms, tags) = (
                std::mem::take(&mut self.classes[number].terms),
                std::mem::take(&mut self.classes[number].tags),
            );
            let kept = terms.into_iter().zip(tags).filter(|(t, _)| self.term_level(t, &level) <= own);
            let (terms, tags) = kept.unzip();
            self.classes[number].terms = terms;
            self.classes[number].tags = tags;
        }
    }

    fn term_level(&self, term: &Term, level: &impl Fn(u32) -> u32) -> u32 {
        match term {
            Term::Input(i) => level(*i),
            other => other.children().iter().map(|&c| self.classes[c].level).max().unwrap_or(0),
        }
    }

    /// The term of a choice.
    pub fn term(&self, choice: &[Option<usize>], class: Class) -> Option<&Term> {
        self.classes[class].terms.get(choice[class]?)
    }
}

fn children_contain(term: &Term, class: Class) -> bool {
    term.children().contains(&class)
}
