//! Short rows: as many at a time as there are lanes, a column of them in each vector.
//!
//! A row of ten elements fills no vector, and its sum is mostly the joining of lanes. So rows lie in lanes: a block of
//! rows is loaded as it lies in memory, or row by row, and transposed in registers; all loops along a row are written
//! out, and what is stored along a row is transposed back.

use crate::Target;
use crate::expression::address::{Guard, Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::schedule::node_cost;

/// The longest row.
pub(crate) const LONGEST: i64 = 24;

/// The longest row of which a function is evaluated that vectors are for: with rows in lanes it has as many arguments.
/// Rows that are put together of columns may be as long: element by element all of them would be looked at.
pub(crate) const LONGEST_WITH_FUNCTION: i64 = 64;

/// The longest row of which a function is evaluated for elements, of what is reduced too: one reduction waits for
/// another. And the part of the vectors of a longer one that elements may fill.
const LONGEST_CHAIN: f64 = 40.0;

const FULL: f64 = 0.8;

/// The longest row of which windows are reduced: element by element of a longer one few vectors are partly empty.
const LONGEST_OF_WINDOWS: i64 = 36;

/// Rows up to this length are put together of the vectors that a block consists of; longer ones are loaded one by one.
pub(crate) const DIRECT: i64 = 8;

/// Blocks of rows that are worth the code.
const FEWEST: i64 = 16;

/// A kernel over short rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OuterVector {
    /// The loop over rows, which is done in lanes.
    pub row: LoopId,
    /// The loop along the rows of the output or, where each column of it lies by itself, over the columns.
    pub column: Option<LoopId>,
    /// Do the columns of the output lie by themselves?
    pub strided: bool,
    /// The lanes.
    pub lanes: usize,
}

impl OuterVector {
    /// Are blocks of rows stored as the whole vectors that they consist of?
    pub(crate) fn stores_blocks(&self, dag: &Dag) -> bool {
        !self.strided && self.column.is_some_and(|column| dag.extent(column) <= DIRECT)
    }

    /// The rows of an output: those that lie one behind the other, or those of what is loaded.
    fn of(
        dag: &Dag,
        output: &Output,
        order: &[LoopId],
        (nodes, longest): (&[NodeId], i64),
    ) -> Option<OuterVector> {
        let unit = order.iter().copied().find(|&l| output.address.coeff(l) == 1)?;
        if dag.extent(unit) <= longest
            && let Some(row) = order.iter().copied().find(|&l| output.address.coeff(l) == dag.extent(unit))
        {
            return Some(OuterVector { row, column: Some(unit), strided: false, lanes: 1 });
        }
        let column = nodes.iter().find_map(|&n| match &dag[n].node {
            Node::Load { address, .. } if (2..=longest).contains(&address.coeff(unit)) => {
                order.iter().copied().find(|&l| {
                    address.coeff(l) == 1 && dag.extent(l) > 1 && dag.extent(l) <= address.coeff(unit)
                })
            }
            _ => None,
        });
        Some(OuterVector { row: unit, column, strided: true, lanes: 1 })
    }
}

/// Are the rows of a kernel short, and is something reduced along them, or are they put together or taken apart?
pub(crate) fn find(dag: &Dag, outputs: &[Output], order: &[LoopId], target: &Target) -> Option<OuterVector> {
    /// What is written out may cost so much, in cycles of one lane.
    const MOST: f64 = 4_000.0;
    /// A function costs no less.
    const FUNCTION: f64 = 15.0;
    let [output] = outputs else { return None };
    let nodes = dag.all_reachable(&[output.root]);
    // Is a function of what is reduced evaluated, of nothing else or where vectors are for others of its arguments?
    let long = |n: NodeId| {
        let function = matches!(dag[n].node, Node::Unary(..)) && node_cost(dag, n) >= FUNCTION;
        function
            && dag.reachable(&[n]).iter().any(|&r| match &dag[r].node {
                Node::Reduce { loops, .. } => {
                    let alone = dag[n].deps.minus(dag[r].deps) == LoopSet::default();
                    let row = loops.iter().map(|&l| dag.extent(l) as f64).product::<f64>();
                    let full = row / (target.vector_bytes / Elem::of(dag[n].dtype).size()) as f64;
                    alone || row <= LONGEST_CHAIN || full / full.ceil() <= FULL
                }
                _ => false,
            })
    };
    // A condition on the column is decided where the column is written out.
    let decided =
        |column: LoopId| nodes.iter().flat_map(|&n| dag[n].node.guards()).any(|g| g.expr.coeff(column) != 0);
    let longest = if nodes.iter().any(|&n| long(n)) { LONGEST_WITH_FUNCTION } else { LONGEST };
    let short = OuterVector::of(dag, output, order, (&nodes, LONGEST_WITH_FUNCTION))
        .filter(|short| !short.strided && short.column.is_some_and(decided))
        .or_else(|| OuterVector::of(dag, output, order, (&nodes, longest)))?;
    let longest = if short.column.is_some_and(decided) { longest.max(LONGEST_OF_WINDOWS) } else { longest };
    if nodes.iter().any(|&n| matches!(dag[n].node, Node::Gather { .. })) {
        return None;
    }
    let row = short.row;
    let size = nodes.iter().map(|&n| Elem::of(dag[n].dtype).size()).max().unwrap_or(4);
    let lanes = target.vector_bytes / size;
    if output.join.is_some() || lanes < 4 || dag.extent(row) < FEWEST * lanes as i64 {
        return None;
    }
    // The loops along a row: those of reductions, and that of the output.
    let mut along: LoopSet = short.column.into_iter().collect();
    let mut reduces = false;
    for &n in &nodes {
        if let Node::Reduce { loops, .. } = &dag[n].node
            && dag[n].deps.contains(row)
        {
            let points = loops.iter().try_fold(1i64, |p, &l| p.checked_mul(dag.extent(l)))?;
            if points > longest {
                return None;
            }
            along = along.union(loops.iter().copied().collect());
            reduces = true;
        }
    }
    let (mut rows, mut cost) = (false, 0.0);
    for &n in &nodes {
        if let Node::Load { address, guards, .. } = &dag[n].node
            && address.coeff(row) != 0
        {
            let stride = address.coeff(row);
            // What is only moved may leave its row nowhere, whatever guards say: other ways do that as fast.
            let guards_of_row = if reduces { guards.as_slice() } else { &[] };
            let ends = (stride > 1).then(|| reached(dag, (address, guards_of_row), (stride, along)));
            let inside = ends.is_none_or(|ends| {
                ends.is_some_and(|r| reduces || r.low.div_euclid(stride) == r.high.div_euclid(stride))
            });
            if guards.iter().any(|g| g.expr.coeff(row) != 0) || !(1..=longest).contains(&stride) || !inside {
                return None;
            }
            rows |= stride > 1;
        }
        let written: f64 =
            along.loops().filter(|&l| dag[n].deps.contains(l)).map(|l| dag.extent(l) as f64).product();
        cost += written * node_cost(dag, n).max(1.0);
    }
    let moved = short.column.is_some_and(|column| dag.extent(column) <= DIRECT || decided(column));
    let worth = if reduces { rows } else { moved && (rows || !short.strided) };
    (worth && cost <= MOST).then_some(OuterVector { lanes, ..short })
}

/// The part of a row of so many elements that is loaded for an address: the least and the largest place that loops give
/// which are written out, where its guards hold. All of a block of rows is loaded, so nothing may be said of other places;
/// a guard on such loops and on others says too little.
pub(crate) fn reached(
    dag: &Dag,
    (address, guards): (&Lin, &[Guard]),
    (stride, along): (i64, LoopSet),
) -> Option<Interval> {
    /// More combinations are not looked at.
    const MOST: f64 = 4096.0;
    let place = |lin: &Lin, values: &[(LoopId, i64)]| {
        values.iter().try_fold(lin.offset, |sum, &(l, v)| lin.coeff(l).checked_mul(v)?.checked_add(sum))
    };
    let own: Vec<&Guard> = guards.iter().filter(|g| g.expr.loops().meets(along)).collect();
    if own.iter().any(|g| g.expr.loops().minus(along) != LoopSet::default()) {
        return None;
    }
    let used = own.iter().fold(address.loops(), |set, g| set.union(g.expr.loops())).only(along);
    if dag.points(used) > MOST {
        return None;
    }
    let mut ends: Option<Interval> = None;
    for values in every(dag, &used.loops().collect::<Vec<_>>()) {
        let inside = |g: &&Guard| place(&g.expr, &values).is_some_and(|v| (0..g.bound).contains(&v));
        if own.iter().all(inside) {
            let at = place(address, &values)?;
            ends = Some(ends.map_or(Interval::one(at), |ends| ends.union(Interval::one(at))));
        }
    }
    ends.filter(|r| r.high.checked_sub(r.low).is_some_and(|reach| reach < stride))
}

/// All values of some loops.
pub(crate) fn every(dag: &Dag, loops: &[LoopId]) -> Vec<Vec<(LoopId, i64)>> {
    let mut all: Vec<Vec<(LoopId, i64)>> = vec![Vec::new()];
    for &l in loops {
        let values = 0..dag.extent(l);
        all = all
            .iter()
            .flat_map(|before| values.clone().map(move |v| before.iter().copied().chain([(l, v)]).collect()))
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_guards_leave_of_a_row_is_loaded() {
        let mut dag = Dag::default();
        let [i, j, k, m] = [100, 8, 3, 5].map(|extent| dag.add_loop(extent).unwrap());
        let known: LoopSet = [j, k].into_iter().collect();
        let lin = |terms: &[(LoopId, i64)], offset| Lin { terms: terms.to_vec(), offset };
        let of = |address: &Lin, guards: &[Guard]| reached(&dag, (address, guards), (8, known));
        let window = lin(&[(i, 8), (j, 1), (k, 1)], -1);
        let inside = Guard { expr: lin(&[(j, 1), (k, 1)], -1), bound: 8 };
        // One element on either side of a row is not there.
        assert_eq!(
            (of(&window, &[]), of(&window, std::slice::from_ref(&inside))),
            (None, Some(Interval { low: 0, high: 7 }))
        );
        let rolled = lin(&[(i, 8), (j, 1)], -1);
        assert_eq!(
            of(&rolled, &[Guard { expr: lin(&[(j, 1)], -1), bound: 7 }]),
            Some(Interval { low: 0, high: 6 })
        );
        // Nothing is known of the others where a guard speaks of a loop that runs.
        assert_eq!(of(&window, &[Guard { expr: lin(&[(j, 1), (m, 1)], 0), bound: 8 }]), None);
        assert_eq!(
            of(&window, &[inside, Guard { expr: lin(&[(m, 1)], 0), bound: 3 }]),
            Some(Interval { low: 0, high: 7 })
        );
        // A condition that never holds.
        assert_eq!(of(&rolled, &[Guard { expr: lin(&[(j, 1)], 8), bound: 3 }]), None);
    }
}
