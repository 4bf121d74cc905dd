//! The rank graph: which flank has to be how much longer than which.
//!
//! A cycle of positive weight means that some row would need infinitely many axes. Growing rows one template at a time
//! would run around such a cycle for ever; the graph is consulted when a row has grown suspiciously long.

use crate::origin::Fact;
use crate::row::RowVar;

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    /// The flanks of `to` are at least this much longer than those of `from`.
    longer: [i32; 2],
    fact: Fact,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct RankGraph {
    edges: Vec<Edge>,
    threshold: u32,
}

impl Default for RankGraph {
    fn default() -> RankGraph {
        RankGraph { edges: Vec::new(), threshold: 24 }
    }
}

impl RankGraph {
    /// The flanks of `sup` are at least as long as those of `sub` and the surplus.
    pub(super) fn below(&mut self, sub: RowVar, sup: RowVar, surplus: [i64; 2], fact: Fact) {
        let clip = |w: i64| w.clamp(i32::MIN as i64 / 2, i32::MAX as i64 / 2) as i32;
        self.edges.push(Edge { from: sub.0, to: sup.0, longer: [clip(surplus[0]), clip(surplus[1])], fact });
    }

    /// `var` was bound to `rest` with so many axes around it.
    pub(super) fn equal(&mut self, var: RowVar, rest: RowVar, by: [i64; 2], fact: Fact) {
        self.below(rest, var, by, fact);
        self.below(var, rest, [-by[0], -by[1]], fact);
    }

    /// Whether a row that was grown this much calls for a look at the graph. The bound doubles each time.
    pub(super) fn suspicious(&mut self, grown: u32) -> bool {
        if grown < self.threshold {
            return false;
        }
        self.threshold = self.threshold.saturating_mul(2);
        true
    }

    /// The facts of a cycle of positive weight, if there is one.
    pub(super) fn cycle(&self, rows: usize) -> Option<Vec<Fact>> {
        (0..2).find_map(|flank| self.cycle_of(flank, rows))
    }

    /// Bellman-Ford for longest paths; a positive cycle shows in the graph of predecessors.
    fn cycle_of(&self, flank: usize, rows: usize) -> Option<Vec<Fact>> {
        let mut length = vec![0i64; rows];
        let mut before: Vec<Option<usize>> = vec![None; rows];
        for round in 0..=rows {
            let mut changed = false;
            for (number, edge) in self.edges.iter().enumerate() {
                let candidate = length[edge.from as usize] + i64::from(edge.longer[flank]);
                if candidate > length[edge.to as usize] {
                    length[edge.to as usize] = candidate;
                    before[edge.to as usize] = Some(number);
                    changed = true;
                }
            }
            if !changed {
                return None;
            }
            if ((round + 1).is_power_of_two() || round == rows)
                && let Some(cycle) = self.predecessor_cycle(&before)
            {
                return Some(cycle);
            }
        }
        None
    }

    fn predecessor_cycle(&self, before: &[Option<usize>]) -> Option<Vec<Fact>> {
        let mut seen = vec![u32::MAX; before.len()];
        for start in 0..before.len() {
            let mut at = start;
            while seen[at] == u32::MAX {
                seen[at] = start as u32;
                let Some(edge) = before[at] else { break };
                at = self.edges[edge].from as usize;
            }
            if seen[at] == start as u32 && before[at].is_some() {
                let (mut facts, first) = (Vec::new(), at);
                while let Some(edge) = before[at] {
                    facts.push(self.edges[edge].fact);
                    at = self.edges[edge].from as usize;
                    if at == first {
                        return Some(facts);
                    }
                }
            }
        }
        None
    }
}
