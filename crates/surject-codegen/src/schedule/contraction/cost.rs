//! What a contraction costs beside its products: factors that are packed, and a stored result. Of several forms the
//! cheapest is chosen.

use crate::Target;
use crate::expression::dag::{Dag, NodeId};
use crate::schedule::contraction::pack::Packing;
use crate::schedule::contraction::sizes::{Sizes, in_place};
use crate::schedule::contraction::windows::{Windows, windows};
use crate::schedule::contraction::{Contraction, terms};
use crate::schedule::halo;

/// Cycles in which an element is packed: with others next to it, in a block that is transposed, gathered, alone.
const ALONG: f64 = 0.3;

const TRANSPOSED: f64 = 0.7;

/// The same for each vector of which its elements are chosen, and for choosing them.
const NEAR: f64 = 0.1;

const GATHERED: f64 = 1.5;

const SINGLE: f64 = 2.0;

/// Cycles in which an element of the result is stored beside others, and apart from them.
const BESIDE: f64 = 0.1;

const APART: f64 = 2.0;

/// The cycles of one core in which an element is packed so.
fn element(packing: Packing) -> f64 {
    match packing {
        Packing::Along => ALONG,
        Packing::Transposed => TRANSPOSED,
        Packing::Near(distance) => NEAR * distance as f64 + NEAR,
        Packing::Gathered => GATHERED,
        Packing::Single => SINGLE,
    }
}

/// The cycles of one core in which rows are packed that are not read where they lie, as `windows` says.
pub(crate) fn rows(dag: &Dag, c: &Contraction, s: &Sizes, windows: Option<&Windows>) -> f64 {
    // Tiles at a border have packed rows even if others read them where they lie.
    let share = windows.map_or(1.0, |w| if w.is_plain() { 0.0 } else { w.share_at_borders(dag, c, s) });
    share * (s.batch * s.sum) as f64 * (s.rows * s.groups) as f64 * element(packing_of_rows(dag, c))
}

/// A tensor that is stored with a frame is read where it lies: the cycles in which it is.
fn halo(dag: &Dag, factor: NodeId, target: &Target) -> f64 {
    halo::cycles(dag, factor, target).unwrap_or(f64::INFINITY)
}

/// The cycles of one core in which columns are packed that are not read where they lie.
fn columns(dag: &Dag, c: &Contraction, s: &Sizes, target: &Target) -> f64 {
    if in_place(dag, c, s).is_some() {
        return 0.0;
    }
    let packing = c.column_pack(s).packing(dag, &[c.lane]);
    let frame = match packing {
        Packing::Along if s.has_few_rows() => halo(dag, c.factors[1], target),
        _ => f64::INFINITY,
    };
    ((s.batch * s.sum) as f64 * (s.all_panels * s.width) as f64 * element(packing)).min(frame)
}

/// The cycles of one core in which factors are packed.
pub(crate) fn packing(dag: &Dag, c: &Contraction, target: &Target) -> f64 {
    let s = Sizes::new(dag, c, target);
    let rows = rows(dag, c, &s, windows(dag, c, &s).as_ref());
    let in_one_loop = halo::run(dag, c.factors[0], &c.rows) >= s.high;
    let rows = if in_one_loop { rows.min(halo(dag, c.factors[0], target)) } else { rows };
    rows + columns(dag, c, &s, target)
}

/// How the results of a row of tiles lie.
#[derive(Clone, Copy)]
pub(crate) enum Results {
    Apart,
    SideBySide,
}

impl Results {
    /// By how far neighbours in lanes are from each other.
    pub(crate) fn of(stride: i64) -> Results {
        if stride == 1 { Results::SideBySide } else { Results::Apart }
    }
}

/// The cycles of one core for all but the products.
pub(crate) fn cycles(dag: &Dag, c: &Contraction, lie: Results, target: &Target) -> f64 {
    let s = Sizes::new(dag, c, target);
    let results = s.batch as f64 * s.rows as f64 * (s.all_panels * s.width) as f64;
    let each = match lie {
        Results::Apart => APART,
        Results::SideBySide => BESIDE,
    };
    packing(dag, c, target) + results * each
}

/// Where rows are read along their terms, and a vector holds the columns of several of them: the cycles in which what is
/// read lies so. `None`: columns are those of one term.
pub(crate) fn grouped(dag: &Dag, c: &Contraction, target: &Target) -> Option<f64> {
    /// Packed tiles at a border that are not worth a frame.
    const FEW: f64 = 0.25;
    if !c.grouped {
        return None;
    }
    let s = Sizes::new(dag, c, target);
    let w = windows(dag, c, &s)?;
    let terms = terms::together(dag.extent(c.lane), target.vector_bytes / s.elem.size(), target)?;
    let along = w.reads.nest.last().is_some_and(|t| t.stride == 1 && t.count >= terms);
    let inside = w.is_plain() || w.share_at_borders(dag, c, &s) <= FEW;
    let in_one_loop = halo::run(dag, c.factors[0], &c.rows) >= s.high;
    match (along, inside) {
        (true, true) => Some(0.0),
        (true, false) if in_one_loop => halo::cycles(dag, c.factors[0], target),
        _ => None,
    }
}

/// How rows are packed.
pub(crate) fn packing_of_rows(dag: &Dag, c: &Contraction) -> Packing {
    let loops = match c.filled {
        Some(_) => &c.rows[c.rows.len().saturating_sub(1)..],
        None => &c.rows[..],
    };
    c.row_pack(dag).packing(dag, loops)
}
