//! Products that tiles are not for. A vector times a large matrix is a reduction down long columns: no tile reads the
//! matrix in the order of memory. With very few columns, or rows, tiles would have vectors of few lanes, and each row
//! of one a load for every term: sums of the terms in lanes, one for each element, are left to the row emitter, a block
//! of them at a time, so that what is loaded serves all rows, or all columns, of the block.

use crate::Target;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::expression::solve::gcd;
use crate::machine::elem::Elem;
use crate::normalise::pulled::Pulled;
use crate::schedule::Schedule;
use crate::schedule::contraction::windows::{SETS_BYTES, WAYS};
use crate::schedule::contraction::{Contraction, cost, product};
use crate::schedule::non_temporal::LINE;
use surject_ir::{DType, FieldId};

/// Cycles in which the lanes of a sum are joined, and in which an element is stored along the sum first.
const JOIN: f64 = 4.0;

const STORE: f64 = 1.25;

/// Cycles for a vector of terms where a window is summed, and for a step of the loops around it, which all of the few share.
const SHARED: f64 = 0.6;

const TURN: f64 = 4.0;

/// Cycles in which a vector comes from the second cache.
const FAR: f64 = 3.0;

/// Fewer rows are no long tensor that is read once.
const ROWS: i64 = 16;

/// Rows of a block, at most.
const ROWS_OF_BLOCK: i64 = 4;

/// A product whose elements are sums in lanes.
pub(crate) enum Dots {
    /// The terms of both factors lie side by side.
    Ready(Block),
    /// Before they do, this factor is stored over these loops.
    Stored(NodeId, Vec<LoopId>),
}

/// The loops of the elements that are summed together: all of the few, and some steps of a loop of the many.
pub(crate) struct Block {
    few: Vec<LoopId>,
    row: LoopId,
    rows: i64,
}

impl Contraction {
    /// The accumulation, if it is one row times a matrix that does not stay in a cache and lies in memory row by row.
    pub(crate) fn vector_by_matrix(&self, dag: &Dag, target: &Target) -> Option<FieldId> {
        let Node::Reduce { field, .. } = dag[self.node].node else { return None };
        let Node::Load { address, guards, .. } = &dag[self.factors[1]].node else { return None };
        let float = matches!(dag[self.node].dtype, DType::F32 | DType::F64);
        let alone = [&self.rows, &self.batch].into_iter().all(|loops| product(dag, loops) == 1);
        let far = 2.0 * dag.bytes(self.factors[1]) > target.l2_share_bytes as f64;
        (float && alone && far && guards.is_empty() && address.coeff(self.lane) == 1).then_some(field)
    }

    /// Is it a sum in lanes for each element? `None`: it has tiles.
    pub(crate) fn dots(&self, dag: &Dag, output: &Output, target: &Target) -> Option<Dots> {
        let dtype = dag[self.node].dtype;
        let float = matches!(dtype, DType::F32 | DType::F64);
        let lanes = (target.vector_bytes / Elem::of(dtype).size()) as i64;
        if !float || self.pairs.is_some() {
            return None;
        }
        let columns: Vec<LoopId> = self.columns.iter().copied().chain([self.lane]).collect();
        let sides = [(&self.rows, self.factors[0]), (&columns, self.factors[1])];
        let windowed = self.sum.iter().filter(|&&l| dag.extent(l) > 1).count() > 1;
        let lies_along = |factor: NodeId, l: LoopId| {
            let (mut node, mut alike) = (factor, true);
            loop {
                // What is not there, as around an image, is not there for all of the terms that lie side by side.
                alike &= dag[node].node.guards().iter().all(|g| windowed && g.expr.coeff(l) == 0);
                match &dag[node].node {
                    Node::Guarded { inner, .. } => node = *inner,
                    Node::Load { address, .. } => return alike && address.coeff(l) == 1,
                    _ => return false,
                }
            }
        };
        // Registers for the sums of two rows, for the terms of these, and for one of the few.
        let most = (target.vector_registers as i64 - 3) / 2;
        for ((few, own), (many, other)) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let (all, batch) = (product(dag, few), product(dag, &self.batch));
            let results = (all * product(dag, many) * batch) as f64;
            // The loop along the terms; others of the sum run around it.
            let along = self.sum.iter().copied().filter(|&l| dag.extent(l) >= lanes && lies_along(other, l));
            let Some(sum) = along.max_by_key(|&l| dag.extent(l)) else { continue };
            if all > most || product(dag, many) < ROWS {
                continue;
            }
            let around = self.sum.iter().copied().filter(|&l| l != sum);
            let loops: Vec<LoopId> =
                self.batch.iter().chain(few).copied().chain(around.clone()).chain([sum]).collect();
            let around = around.map(|l| dag.extent(l)).product::<i64>();
            let stored = match lies_along(own, sum) && !share_lines(dag, own, few) {
                true => 0.0,
                // Once for all of the others.
                false if dag[own].deps.only(loops.iter().copied().collect()) == dag[own].deps => {
                    STORE * (batch * all * around * dag.extent(sum)) as f64
                }
                false => continue,
            };
            let row = many.iter().copied().max_by_key(|&l| dag.extent(l))?;
            let rows = (target.vector_registers as i64 - 1) / (all + 1);
            let rows = rows.clamp(1, ROWS_OF_BLOCK.min(dag.extent(row)));
            let vectors = (dag.extent(sum) + lanes - 1) / lanes;
            // All of the few are read again for every block.
            let near = 4 * all * around * vectors * target.vector_bytes as i64 <= 3 * target.l1_bytes as i64;
            let (vector, turn) = match windowed {
                true => (SHARED, TURN / all as f64),
                false => (1.0 + if near { 0.0 } else { FAR / rows as f64 }, 0.0),
            };
            let rest = if windowed && dag.extent(sum) % lanes != 0 { 1 } else { 0 };
            let cycles =
                results * (around as f64 * (vector * (vectors + rest) as f64 + turn) + JOIN) + stored;
            let limits = &target.thresholds;
            let most = if windowed { limits.window_dots_time } else { limits.dots_time };
            if cycles > most * self.in_tiles(dag, output, lanes, target) {
                continue;
            }
            if stored > 0.0 {
                return Some(Dots::Stored(own, loops));
            }
            return Some(Dots::Ready(Block { few: few.clone(), row, rows }));
        }
        None
    }

    /// The cycles of its tiles, and of all that is packed for them.
    fn in_tiles(&self, dag: &Dag, output: &Output, lanes: i64, target: &Target) -> f64 {
        let products = self.points(dag) * product(dag, &self.columns) as f64 * dag.extent(self.lane) as f64;
        let lie = cost::Results::of(output.address.coeff(self.lane).abs());
        products / lanes as f64 / self.share + cost::cycles(dag, self, lie, target)
    }
}

/// Do the terms of so many of the few lie in the same sets of the nearest cache, that they do not stay there together?
fn share_lines(dag: &Dag, factor: NodeId, few: &[LoopId]) -> bool {
    let Node::Load { address, .. } = &dag[factor].node else { return false };
    let size = Elem::of(dag[factor].dtype).size() as i64;
    let alike = few.iter().map(|&l| {
        let lines = SETS_BYTES / LINE;
        let places = lines / gcd(lines, (address.coeff(l) * size).rem_euclid(SETS_BYTES) / LINE);
        (dag.extent(l) + places - 1) / places
    });
    alike.product::<i64>() > WAYS
}

/// The sizes in memory for a factor that is stored over these loops: the terms of each of the few begin with a line, and
/// not all with lines that have the same place in a cache.
pub(crate) fn lines(dag: &Dag, own: &[LoopId], factor: NodeId) -> Vec<i64> {
    let line = LINE / Elem::of(dag[factor].dtype).size() as i64;
    let mut sizes: Vec<i64> = own.iter().map(|&l| dag.extent(l)).collect();
    if let Some(last) = sizes.last_mut() {
        *last = (*last + line - 1) / line * line;
        *last += if *last / line % 2 == 0 { line } else { 0 };
    }
    sizes
}

impl Block {
    /// Rows that are summed together where no product has tiles: those of a kernel that sums one row after the other, in
    /// lanes, and reads something for each that is the same for all, such as a matrix times a vector.
    pub(crate) fn of_rows(
        dag: &Dag,
        outputs: &[Output],
        schedule: &Schedule,
        target: &Target,
    ) -> Option<Block> {
        /// Fewer rows are no loop, and longer terms have more to do than to load.
        const ROWS: i64 = 16;
        const NODES: usize = 8;
        let [output] = outputs else { return None };
        let mut sums = dag.all_reachable(&[output.root]).into_iter().filter_map(|n| match &dag[n].node {
            Node::Reduce { loops, body, .. } => Some((n, loops, *body)),
            _ => None,
        });
        let (Some((sum, loops, body)), None) = (sums.next(), sums.next()) else { return None };
        let (&[l], Some(plan)) = (&loops[..], schedule.reductions.get(&sum)) else { return None };
        let row = schedule.order.last().copied()?;
        let nodes = dag.reachable(&[body]);
        let mut shared = false;
        for &n in &nodes {
            let Node::Load { address, guards, .. } = &dag[n].node else { continue };
            // What comes from far away is read in the order of memory, from the end of a row to the next.
            let near = dag.bytes(n) <= target.l2_bytes() as f64;
            if address.coeff(l) != 1 || !guards.is_empty() || !near {
                return None;
            }
            shared |= address.coeff(row) == 0;
        }
        let simple = |&n: &NodeId| {
            matches!(dag[n].node, Node::Load { .. } | Node::Unary(..) | Node::Binary(..) | Node::Const(_))
        };
        let in_lanes = schedule.lanes == 1 && plan.lanes > 1 && output.join.is_none();
        let fits = nodes.len() <= NODES && nodes.iter().all(simple) && dag[sum].deps.contains(row);
        let extent = dag.extent(row);
        let rows = (2..=ROWS_OF_BLOCK).rev().find(|n| extent % n == 0).unwrap_or(ROWS_OF_BLOCK);
        (shared && in_lanes && fits && extent >= ROWS).then(|| Block { few: Vec::new(), row, rows })
    }

    /// The expression with an output for each element of a block: that of all whole blocks, then that of the rows that
    /// are left. `None` on overflow.
    pub(crate) fn parts(&self, whole: &Pulled) -> Option<Vec<Pulled>> {
        let extent = whole.dag.extent(self.row);
        let (blocks, left) = (extent / self.rows, extent % self.rows);
        let parts = [(0, blocks, self.rows), (blocks * self.rows, 1, left)];
        let some = parts.into_iter().filter(|part| part.2 > 0);
        some.map(|(start, blocks, rows)| self.part(whole, start, blocks, rows)).collect()
    }

    /// So many blocks of so many rows, from a row on.
    fn part(&self, whole: &Pulled, start: i64, blocks: i64, rows: i64) -> Option<Pulled> {
        let mut dag = Dag::default();
        dag.extents.clone_from(&whole.dag.extents);
        dag.extents[self.row.0 as usize] = blocks;
        let block = if blocks > 1 { Lin::var(self.row) } else { Lin::default() };
        let mut outputs = Vec::new();
        // The rows of each of the few one after the other: the terms of the rows stay in registers.
        for element in 0..product(&whole.dag, &self.few) {
            let mut left = element;
            let mut places = Vec::new();
            for &l in self.few.iter().rev() {
                places.push((l, Lin::constant(left % whole.dag.extent(l))));
                left /= whole.dag.extent(l);
            }
            for row in 0..rows {
                let place = Lin::constant(start + row).plus(&block, rows)?;
                let moved = |lin: &Lin| {
                    let all = places.iter().try_fold(lin.clone(), |lin, (l, at)| lin.substitute(*l, at));
                    all?.substitute(self.row, &place)
                };
                for output in &whole.outputs {
                    let root = dag.import(&whole.dag, output.root, &moved)?;
                    outputs.push(Output { root, address: moved(&output.address)?, ..output.clone() });
                }
            }
        }
        outputs.sort_by_key(|o| o.address.offset);
        let outer = whole.outer.iter().copied().filter(|l| !self.few.contains(l)).collect();
        Some(Pulled { dag, outer, outputs })
    }
}
