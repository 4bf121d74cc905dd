//! Rules in index notation.
use crate::algebra::Graph;
use crate::compiled::Compiled;
use egg::Id;
use surject_rules::Pattern;

/// The classes that match the left side, each with the class of the right side.
pub fn rewrite(_egraph: &mut Graph, _rule: &Compiled, _left: &Pattern) -> Vec<(Id, Id)> {
    Vec::new()
}
