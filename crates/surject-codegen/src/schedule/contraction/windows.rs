//! Rows that tiles read where they lie.
//!
//! A tile broadcasts single elements of its rows, so they may lie anywhere, as long as the rows of a tile are equally
//! far apart: then no element is moved, and the tile is a nest of loops over the sum. That is so for tiles that lie
//! inside all guards, and in one loop; others have packed rows, or the tensor is stored with a halo first (`halo`) and
//! has no guards. Where there are none a tile that would go on beyond
//! the end of the loop begins earlier instead, so that none is packed.
//!
//! Rows of a matrix gain from that whatever they are multiplied with, as long as the nearest cache has room for a line
//! of each. A row of a convolution is a window, and windows overlap: packed, an element is there once for every window
//! that has it, which costs more than the products where there are few columns.

use crate::expression::address::{Guard, GuardFact, Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::machine::elem::Elem;
use crate::schedule::contraction::Contraction;
use crate::schedule::contraction::sizes::Sizes;
use crate::schedule::non_temporal::LINE;
use surject_ir::DType;

/// More panels of columns than these are worth packed rows, unless the rows lie as well as packed ones.
const FEW_PANELS: i64 = 4;

/// Terms up to which rows that lie side by side are read from places that evict each other.
const FEW_TERMS: i64 = 32;

/// Terms that are a line of memory at least.
const LINE_TERMS: i64 = 16;

/// Terms that are so far apart share a line with the next.
const NEAR_TERMS: i64 = 8;

/// Addresses that are multiples of this apart share a set of the nearest cache, and lines that a set may have to hold.
pub(crate) const SETS_BYTES: i64 = 4096;

pub(crate) const WAYS: i64 = 4;

/// Lines that a set holds.
const SET_LINES: i64 = 8;

/// Are the terms of a row next to each other in memory? A tile then reads as many lines as it has rows, each to its
/// end.
fn has_contiguous_terms(nest: &[Terms]) -> bool {
    nest.last().is_some_and(|terms| terms.stride == 1 && terms.count >= LINE_TERMS)
}

/// The order of the summed loops in which the terms of a row are next to each other in memory, if there is one. Tiles
/// that read rows where they lie read the lines of memory once then: where the weights of a convolution lie as
/// `[out, in, y, x]` and are summed as `[y, x, in]`, each is read nine times from a cache further away.
pub(crate) fn in_memory_order(dag: &Dag, factor: NodeId, sum: &[LoopId]) -> Option<Vec<LoopId>> {
    let Node::Load { address, .. } = &dag[factor].node else { return None };
    let mut order = sum.to_vec();
    order.sort_by_key(|&l| std::cmp::Reverse(address.coeff(l)));
    let nest = nest(dag, address, &order)?;
    // Several terms of a line after each other are as good.
    let near = nest.last().is_some_and(|t| t.count > 1 && (2..=NEAR_TERMS).contains(&t.stride));
    (has_contiguous_terms(&nest) || near).then_some(order)
}

/// Terms along a loop over a sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) count: i64,
    /// How many elements lie from one to the next.
    pub(crate) stride: i64,
}

/// Loops over the sum, outermost first. Loops that run through memory as one are one.
fn nest(dag: &Dag, address: &Lin, sum: &[LoopId]) -> Option<Vec<Terms>> {
    let mut nest: Vec<Terms> = Vec::new();
    for &l in sum.iter().filter(|&&l| dag.extent(l) > 1) {
        let Terms { count, stride } = Terms::along(dag, address, l);
        match nest.last_mut() {
            Some(outer) if outer.stride == stride.checked_mul(count)? => {
                *outer = Terms { count: outer.count * count, stride };
            }
            _ => nest.push(Terms { count, stride }),
        }
    }
    Some(nest)
}

impl Terms {
    fn along(dag: &Dag, address: &Lin, l: LoopId) -> Terms {
        Terms { count: dag.extent(l), stride: address.coeff(l) }
    }
}

/// Are the rows of a tile next to each other for each term, at places that do not evict each other from the nearest
/// cache? Packing them would only move them.
fn side_by_side(step: i64, nest: &[Terms], s: &Sizes) -> bool {
    let [Terms { count: terms, stride }] = *nest else { return false };
    let Some(bytes) = stride.checked_mul(s.elem.size() as i64).filter(|&n| n > 0) else { return false };
    // The largest power of two in the distance says how many sets are in use.
    let common = (1i64 << bytes.trailing_zeros().min(12)).max(64);
    let crowded = terms > FEW_TERMS || terms > WAYS * (SETS_BYTES / common);
    // A tile that takes little of each of its lines, of which half of the nearest cache has no room, has them from
    // further away for every other tile of the same lines again.
    let little = 8 * s.high * s.elem.size() as i64 <= 3 * LINE && 2 * terms * LINE > s.nearest;
    // Blocks that come back to their rows with every group of columns have them from a cache that is no place to jump in.
    step == 1 && !s.by_groups && !little && (common == 64 || !crowded)
}

/// Do the rows of a tile, each read to the end of its lines, evict each other from the nearest cache meanwhile?
fn conflicts_in_sets(step: i64, nest: &[Terms], s: &Sizes) -> bool {
    let bytes = step.saturating_mul(s.elem.size() as i64);
    let in_a_set = s.high / (SETS_BYTES >> bytes.trailing_zeros().clamp(6, 12));
    has_contiguous_terms(nest) && bytes != 0 && in_a_set > SET_LINES
}

/// Is a row factor a tensor along one loop, in the type of the tiles, of which no row need be packed for so many panels
/// of columns?
pub(crate) fn is_plain(
    dag: &Dag,
    (factor, dtype): (NodeId, DType),
    rows: &[LoopId],
    sum: &[LoopId],
    panels: i64,
) -> bool {
    let Node::Load { address, guards, .. } = &dag[factor].node else { return false };
    let mut summed = sum.iter().filter(|&&l| dag.extent(l) > 1).map(|&l| Terms::along(dag, address, l));
    let along = match (summed.next(), summed.next()) {
        (Some(only), None) => has_contiguous_terms(&[only]),
        _ => false,
    };
    is_tensor(dag, (factor, dtype)) && guards.is_empty() && rows.len() == 1 && (are_few(panels) || along)
}

/// May so few panels of columns be worth rows that lie where they are?
pub(crate) fn are_few(panels: i64) -> bool {
    panels <= FEW_PANELS
}

/// Is a factor a tensor in the type of the tiles, whatever the conditions?
pub(crate) fn is_tensor(dag: &Dag, (factor, dtype): (NodeId, DType)) -> bool {
    let mut node = factor;
    while let Node::Guarded { inner, .. } = &dag[node].node {
        node = *inner;
    }
    let elem = Elem::of(dtype);
    matches!(dag[node].node, Node::Load { .. })
        && matches!(elem, Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64)
        && Elem::in_memory(dag[node].dtype) == elem
}

/// How a tile reads rows that are not in a panel.
pub(crate) struct Reads {
    /// The distance from one row to the next.
    pub(crate) step: i64,
    /// The loops over the sum, outermost first: extents and distances.
    pub(crate) nest: Vec<Terms>,
    /// Are they copies, the terms of all rows one behind the other?
    pub(crate) copied: bool,
    /// The distances of the columns for these loops; none where the columns of a term follow those of the one before.
    pub(crate) columns: Vec<i64>,
}

/// The most rows of a tile whose distances are in registers all at once.
const FEW_ROWS: usize = 8;

impl Reads {
    /// Do so few rows lie one behind the other that their distance is no part of the code of a tile? All copies of rows
    /// are then read by the same code, which is a little slower.
    pub(crate) fn are_dense(&self, high: usize) -> bool {
        high <= FEW_ROWS && self.copied
    }
}

/// A row factor that tiles read where it lies.
pub(crate) struct Windows {
    /// The tensor.
    pub(crate) buf: Buf,
    pub(crate) address: Lin,
    pub(crate) guards: Vec<Guard>,
    /// The last loop of the rows.
    pub(crate) last: LoopId,
    /// Is every tile in one loop of the rows?
    pub(crate) in_one_loop: bool,
    /// Is no tile packed?
    pub(crate) always: bool,
    pub(crate) reads: Reads,
}

/// Finds a row factor that is a tensor in the type of the tiles, and is multiplied with few columns.
pub(crate) fn windows(dag: &Dag, c: &Contraction, s: &Sizes) -> Option<Windows> {
    let mut guards: Vec<Guard> = Vec::new();
    let mut node = c.factors[0];
    while let Node::Guarded { guards: more, inner, .. } = &dag[node].node {
        guards.extend(more.iter().cloned());
        node = *inner;
    }
    let Node::Load { buf, address, guards: more } = &dag[node].node else { return None };
    guards.extend(more.iter().cloned());
    guards.retain(|g| g.fact(&dag.extents) != GuardFact::Always);
    guards.sort();
    guards.dedup();
    let plain = is_tensor(dag, (node, dag[c.node].dtype));
    let (&last, outer) = c.rows.split_last()?;
    let one_loop = outer.is_empty() || c.filled.is_some() || dag.extent(last) % s.high == 0;
    let alone = c.pairs.is_none() && s.pass == 0;
    if !plain || !alone || dag.extent(last) < s.high {
        return None;
    }
    let nest = nest(dag, address, &c.sum)?;
    let step = address.coeff(last);
    let (always, address) = (one_loop && guards.is_empty(), address.clone());
    let lies_well = has_contiguous_terms(&nest) || side_by_side(step, &nest, s);
    let good = (are_few(s.group) || (always && lies_well)) && !conflicts_in_sets(step, &nest, s);
    (good && !nest.is_empty()).then(|| {
        let reads = Reads { step, nest, copied: false, columns: Vec::new() };
        Windows { buf: *buf, address, guards, last, in_one_loop: one_loop, always, reads }
    })
}

impl Windows {
    /// Do all rows lie inside all guards?
    pub(crate) fn is_plain(&self) -> bool {
        self.guards.is_empty()
    }

    /// The share of the tiles that lie in one loop of rows, and not inside all guards.
    pub(crate) fn share_at_borders(&self, dag: &Dag, c: &Contraction, s: &Sizes) -> f64 {
        /// More positions than these are not counted: few of so many are at a border.
        const MOST: i64 = 1 << 14;
        let extent = dag.extent(self.last);
        let room = extent - s.high;
        // Where those tiles begin that lie in one loop, and how many do.
        let (starts, one): (Vec<i64>, f64) = match self.in_one_loop {
            true => ((0..extent).step_by(s.high as usize).map(|i| i.min(room)).collect(), 1.0),
            false => ((0..=room).collect(), (room + 1) as f64 / extent as f64),
        };
        let moving: LoopSet = c.sum.iter().copied().collect();
        let mut inside = one;
        for guard in &self.guards {
            let (fixed, within): (Vec<_>, Vec<_>) =
                guard.expr.terms.iter().copied().partition(|t| !moving.contains(t.0));
            let Some(range) = (Lin { terms: within, offset: guard.expr.offset }).range(&dag.extents) else {
                continue;
            };
            // The least and the largest value of each tile.
            let mut values = vec![range];
            for (l, by) in fixed {
                let places: Vec<Interval> = match l == self.last {
                    true => starts
                        .iter()
                        .map(|&i| Interval::one(i * by).union(Interval::one((i + s.high - 1) * by)))
                        .collect(),
                    false => (0..dag.extent(l)).map(|i| Interval::one(i * by)).collect(),
                };
                if values.len() as i64 * places.len() as i64 > MOST {
                    values.clear();
                    break;
                }
                let sums = values.iter().flat_map(|v| {
                    places.iter().map(move |p| Interval { low: v.low + p.low, high: v.high + p.high })
                });
                values = sums.collect();
            }
            let holds = values.iter().filter(|v| v.low >= 0 && v.high < guard.bound).count();
            inside *= if values.is_empty() { 1.0 } else { holds as f64 / values.len() as f64 };
        }
        one - inside
    }
}
