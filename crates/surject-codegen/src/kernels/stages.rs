//! Reductions in two stages: parts of them are stored, and these are reduced in turn. So many agents share a reduction
//! that has few values.

use super::expression::joined_in;
use super::expression::{Expression, Tensor};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Node, NodeId};
use crate::expression::output::Output;
use std::collections::BTreeMap;
use surject_index::Space;
use surject_ir::{DType, TensorType};

/// An expression in two, and the temporary between them.
#[derive(Clone, Debug)]
pub struct Stages {
    /// Stores the parts.
    pub first: Expression,
    /// Reduces them, and computes the rest.
    pub second: Expression,
    /// The type of the parts.
    pub temporary: TensorType,
}

impl Expression {
    /// Both stages of the expression, whose only reduction is cut into so many parts along a loop, for a machine that asks
    /// what they take. `None`: there is no such reduction.
    pub fn stages(&self, name: &str, parts: i64) -> Option<[Expression; 2]> {
        /// No tensor of a function has this number.
        const OTHER: u32 = u32::MAX - 1;
        let Stages { first, second, .. } = self.in_stages((name, parts), (usize::MAX, Buf(OTHER))).ok()??;
        Some([first, second])
    }

    /// The expression in two, whose only reduction is cut into so many parts along a loop, which they divide. The
    /// temporary gets this number. `None`: there is no such reduction.
    pub(crate) fn in_stages(
        &self,
        (name, parts): (&str, i64),
        (number, buf): (usize, Buf),
    ) -> Result<Option<Stages>, CodegenError> {
        let overflow = || CodegenError::overflow("a tensor of parts");
        let mut reductions =
            self.nodes().into_iter().filter(|&n| matches!(self.dag[n].node, Node::Reduce { .. }));
        let (Some(reduction), None) = (reductions.next(), reductions.next()) else { return Ok(None) };
        let Node::Reduce { op, loops, body, field } = self.dag[reduction].node.clone() else {
            return Ok(None);
        };
        let Some(cut) = self.id(name).filter(|l| loops.contains(l)) else { return Ok(None) };
        let extent = self.dag.extent(cut);
        if parts < 2 || extent % parts != 0 || self.outputs.iter().any(|o| o.join.is_some()) {
            return Ok(None);
        }
        let dtype = self.dag[reduction].dtype;
        let joined = joined_in(dtype, op);
        // The points that the reduction depends on, as the rows of the parts.
        let points: Vec<LoopId> =
            self.loops.iter().copied().filter(|&l| self.dag[reduction].deps.contains(l)).collect();
        let (mut row, mut count) = (Lin::default(), 1i64);
        for &l in points.iter().rev() {
            row = row.plus(&Lin::var(l), count).ok_or_else(overflow)?;
            count = count.checked_mul(self.dag.extent(l)).ok_or_else(overflow)?;
        }
        let elements = count.checked_mul(parts).ok_or_else(overflow)?;
        let size = u64::try_from(elements).map_err(|_| overflow())?;
        let temporary = TensorType::new(joined, Space::of(&[size]));
        let address =
            |part: LoopId| Lin::var(part).times(count).and_then(|a| a.plus(&row, 1)).ok_or_else(overflow);
        let many = || CodegenError::malformed("more loops than a kernel has");

        let mut dag = self.dag.clone();
        let part = dag.add_loop(parts).ok_or_else(many)?;
        let term = dag.add_loop(extent / parts).ok_or_else(many)?;
        let place = Lin::var(part).times(extent / parts).and_then(|a| a.plus(&Lin::var(term), 1));
        let place = place.ok_or_else(overflow)?;
        let own = dag.import(&self.dag, body, &|lin| lin.substitute(cut, &place)).ok_or_else(overflow)?;
        let own = if dag[own].dtype == joined { own } else { dag.add(Node::Convert(own), joined) };
        let inner = loops.iter().map(|&l| if l == cut { term } else { l }).collect();
        let root = dag.add(Node::Reduce { op, loops: inner, body: own, field }, joined);
        let outer: Vec<LoopId> = std::iter::once(part).chain(points.iter().copied()).collect();
        let free = outer.iter().copied().collect();
        let outputs = vec![Output { to: buf, address: address(part)?, root, join: None }];
        let memory = BTreeMap::from([(buf, (Tensor::Temporary(number), joined, elements))]);
        let mut first = Expression { dag, loops: outer, outputs, free, memory };
        first.remember(&self.memory);

        let mut dag = self.dag.clone();
        let part = dag.add_loop(parts).ok_or_else(many)?;
        let load = Node::Load { buf, address: address(part)?, guards: Vec::new() };
        let load = dag.add(load, joined);
        let whole = dag.add(Node::Reduce { op, loops: vec![part], body: load, field }, joined);
        let whole = if joined == dtype { whole } else { dag.add(Node::Convert(whole), dtype) };
        let mut outputs = self.outputs.clone();
        for output in &mut outputs {
            output.root = dag.replaced(output.root, reduction, whole).ok_or_else(overflow)?;
        }
        let memory = BTreeMap::from([(buf, (Tensor::Temporary(number), joined, elements))]);
        let mut second = Expression { dag, loops: self.loops.clone(), outputs, free: self.free, memory };
        second.remember(&self.memory);
        Ok(Some(Stages { first, second, temporary }))
    }

    /// Takes what it uses of the memory of another expression.
    pub(super) fn remember(&mut self, memory: &BTreeMap<Buf, (Tensor, DType, i64)>) {
        let loaded = |n: NodeId| match self.dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => Some(buf),
            _ => None,
        };
        let used: Vec<Buf> =
            self.nodes().into_iter().filter_map(loaded).chain(self.outputs.iter().map(|o| o.to)).collect();
        for buf in used {
            if let Some(&known) = memory.get(&buf) {
                self.memory.insert(buf, known);
            }
        }
    }
}
