//! Evaluating a factor of a contraction into a panel: `width` values for every point of the summed loops.

use crate::expression::address::LoopId;
use crate::expression::dag::{Dag, Node, NodeId};
use crate::machine::elem::Elem;
use crate::schedule::NEAR;
use crate::schedule::contraction::Contraction;
use crate::schedule::contraction::pairs::Pairs;
use crate::schedule::contraction::sizes::{Sizes, elements, sum_number};

/// A factor and the form of its panels.
pub struct Pack<'a> {
    /// The factor.
    pub value: NodeId,
    /// The summed loops, in the order of the panel.
    pub sum: &'a [LoopId],
    /// The rows or columns of a panel.
    pub width: usize,
    /// Lanes of a vector.
    pub lanes: usize,
    /// The type of the elements of a panel.
    pub elem: Elem,
    /// The summed loop of which an element holds several points.
    pub pairs: Option<Pairs>,
    /// The terms of a panel: those beyond the sum are zeros.
    pub terms: i64,
    /// Do the terms of a row lie next to each other, and not the rows of a term?
    pub transposed: bool,
    /// Has a last panel that is not full only the rows or columns that exist?
    pub tight: bool,
}

/// How the values of a panel are found.
pub(crate) enum Mode {
    /// As vectors along the last loop of the rows or columns, of so many lanes.
    Along(LoopId, usize),
    /// As vectors along a summed loop, which are transposed.
    Across(LoopId),
    /// One by one.
    Single,
}

/// How the elements of a panel are found, one as another.
pub enum Packing {
    /// Next to each other.
    Along,
    /// In blocks, each of which is transposed.
    Transposed,
    /// Out of vectors in which they lie so far apart, at most.
    Near(i64),
    /// Some at a time, wherever they lie.
    Gathered,
    /// One by one.
    Single,
}

/// Pieces of rows that lie so many bytes apart lie in many pages.
const FAR: i64 = 1024;

/// Vectors of fewer lanes than these are not worth it.
const LEAST_LANES: usize = 4;

/// Is what a value reads along a loop the same element, or elements side by side?
pub fn is_steady(dag: &Dag, value: NodeId, l: LoopId) -> bool {
    farthest(dag, value, l) <= 1
}

/// How far apart the elements lie that a value reads along a loop, at most; those that lie backwards are not side by side.
fn farthest(dag: &Dag, value: NodeId, l: LoopId) -> i64 {
    let distance = dag.all_reachable(&[value]).into_iter().map(|n| match &dag[n].node {
        Node::Load { address, .. } if address.coeff(l) == -1 => 2,
        Node::Load { address, .. } => address.coeff(l).saturating_abs(),
        _ => 0,
    });
    distance.max().unwrap_or(0)
}

impl Pack<'_> {
    pub(crate) fn mode(&self, dag: &Dag, loops: &[LoopId]) -> Mode {
        let nodes = dag.all_reachable(&[self.value]);
        let steady = |l: LoopId| is_steady(dag, self.value, l);
        // The largest power of two that divides the width.
        let along = (1usize << self.width.trailing_zeros()).min(self.lanes);
        // Of several loops the last one alone tells the rows of a panel apart if its extent is a multiple of them.
        let mut gathered = None;
        if let Some((&l, outer)) = loops.split_last() {
            let fits = outer.is_empty() || dag.extent(l) % self.width as i64 == 0;
            if along > 1 && fits && dag[self.value].deps.contains(l) && steady(l) {
                return Mode::Along(l, along);
            }
            // Elements that do not lie next to each other are gathered, where the machine does so.
            let wide = nodes.iter().all(|&n| match &dag[n].node {
                Node::Load { .. } => Elem::in_memory(dag[n].dtype).size() >= 4,
                _ => true,
            });
            if along > 1
                && fits
                && dag[self.value].deps.contains(l)
                && (outer.is_empty() || wide && self.lanes >= 8)
            {
                gathered = Some(l);
            }
        }
        let across = |least: usize| {
            self.sum.iter().copied().rev().find(|&l| {
                let taken = self.pairs.is_none_or(|pairs| l == pairs.along);
                taken && self.across_lanes(dag, l) >= least && dag[self.value].deps.contains(l) && steady(l)
            })
        };
        match (across(self.lanes), gathered) {
            (Some(l), _) if self.lanes > 1 => Mode::Across(l),
            (_, Some(l)) => Mode::Along(l, along),
            _ => across(LEAST_LANES).filter(|_| self.lanes > 1).map_or(Mode::Single, Mode::Across),
        }
    }

    /// How its elements are found, for rows or columns that are the digits of these loops.
    pub fn packing(&self, dag: &Dag, loops: &[LoopId]) -> Packing {
        match self.mode(dag, loops) {
            Mode::Along(l, _) => match farthest(dag, self.value, l) {
                0..=1 => Packing::Along,
                distance @ 2..=NEAR => Packing::Near(distance),
                _ => Packing::Gathered,
            },
            Mode::Across(_) => Packing::Transposed,
            Mode::Single => Packing::Single,
        }
    }

    /// Can its rows lie one behind the other ([`Pack::transposed`]) without being found one value at a time? Elements that
    /// are next to each other along their loop must be so in a row.
    pub fn may_be_transposed(&self, dag: &Dag, loops: &[LoopId]) -> bool {
        let Some(along) = self.pairs.map(|pairs| pairs.along) else { return false };
        let next = sum_number(dag, self.sum, self.pairs, 1).coeff(along) == 1;
        next && match self.mode(dag, loops) {
            Mode::Across(_) => true,
            Mode::Along(_, lanes) => lanes == self.lanes && elements(dag, along, self.pairs) >= lanes as i64,
            Mode::Single => false,
        }
    }

    /// The points of a summed loop that an element holds.
    pub(crate) fn points(&self) -> usize {
        self.pairs.map_or(1, Pairs::points)
    }

    /// The lanes of vectors along a summed loop: a short loop has shorter ones.
    pub(crate) fn across_lanes(&self, dag: &Dag, l: LoopId) -> usize {
        let points = dag.extent(l) / self.points() as i64;
        points.checked_ilog2().map_or(1, |bits| self.lanes.min(1 << bits.min(usize::BITS - 2)))
    }

    /// The loop along which whole rows are copied, if a panel would have to turn them, or to gather their elements: the
    /// last of the sum.
    pub fn along_rows(&self, dag: &Dag, loops: &[LoopId]) -> Option<LoopId> {
        let last = self.sum.iter().copied().rev().find(|&l| dag.extent(l) > 1)?;
        let copied = match self.mode(dag, loops) {
            Mode::Across(l) => l == last,
            // Elements that are gathered.
            Mode::Along(l, _) if !is_steady(dag, self.value, l) => {
                let short = self.across_lanes(dag, last) >= LEAST_LANES;
                short && dag[self.value].deps.contains(last) && is_steady(dag, self.value, last)
            }
            _ => false,
        };
        (copied && self.pairs.is_none()).then_some(last)
    }

    /// Can a last panel that is not full have only the rows or columns that exist? Those of a factor are the points of
    /// one loop.
    pub fn may_be_tight(dag: &Dag, value: NodeId, along: LoopId) -> bool {
        is_steady(dag, value, along)
    }

    /// The terms along the one summed loop, if a panel can be packed some of them at a time, and takes a piece of a long
    /// row for each.
    pub fn terms_of_pages(&self, dag: &Dag, loops: &[LoopId]) -> Option<i64> {
        let mut long = self.sum.iter().copied().filter(|&l| dag.extent(l) > 1);
        let (Some(l), None) = (long.next(), long.next()) else { return None };
        let Mode::Along(along, lanes) = self.mode(dag, loops) else { return None };
        let far = dag.all_reachable(&[self.value]).into_iter().any(|n| match &dag[n].node {
            Node::Load { address, .. } => {
                let size = Elem::in_memory(dag[n].dtype).size() as i64;
                address.coeff(along) == 1 && address.coeff(l).saturating_mul(size) >= FAR
            }
            _ => false,
        });
        (far && lanes > 1 && !self.transposed).then(|| elements(dag, l, self.pairs))
    }
}

impl Contraction {
    /// The factor of the columns and the form of its panels.
    pub(crate) fn column_pack(&self, s: &Sizes) -> Pack<'_> {
        Pack {
            value: self.factors[1],
            sum: &self.sum,
            width: s.width as usize,
            lanes: self.tile.lanes,
            elem: s.elem,
            pairs: self.pairs,
            terms: s.sum,
            transposed: false,
            tight: s.tight,
        }
    }
}
