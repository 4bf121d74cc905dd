//! Factors of products that are better stored before the product is made.

use super::LONG;
use crate::Cpu;
use crate::strategies;
use surject_codegen::kernels::contraction::{Factor, Layout, Side, StoredFactor};
use surject_codegen::kernels::expression::{Expression, LoopInfo};

/// The products below which a kernel that does several assignments at once saves more.
const FEW: f64 = 3e7;

/// The fewest results that need an element of a factor: beside their products it does not count that it is stored and loaded.
const SHARED: f64 = 48.0;

/// The same where the factor is stored once for all iterations of a loop.
const SHARED_IN_LOOPS: f64 = 16.0;

/// The factors that tiles would compute again and again, or of rows whose terms lie far apart, if many results need them.
/// Measured beside the code generator before with AVX2 (Zen 3): norms of rows 1.03 to 1.15 times its speed. What is converted from 16 bits
/// is at 0.92 to 0.97 once it is stored, and smaller products lose on two threads.
pub(crate) fn factors_first(cpu: &Cpu, expression: &Expression, in_ranges: bool) -> Vec<StoredFactor> {
    if expression.unit_factors().is_some() {
        return Vec::new();
    }
    let reductions = expression.reductions();
    let [sum] = &reductions[..] else { return Vec::new() };
    let Some([left, right]) = expression.factors().filter(|_| sum.sums_products) else { return Vec::new() };
    let terms: Vec<LoopInfo> = sum.loops.iter().filter_map(|term| expression.find(term)).collect();
    let loops = expression.loops();
    let extents =
        |loops: &mut dyn Iterator<Item = &LoopInfo>| loops.map(|l| l.extent as f64).product::<f64>();
    let products = extents(&mut loops.iter().chain(&terms));
    let is_shared = |factor: &Factor| {
        let fewest = if factor.access.invariant { SHARED_IN_LOOPS } else { SHARED };
        extents(&mut loops.iter().filter(|l| !factor.loops.contains(&l.name))) >= fewest
    };
    // The terms of few columns are the lanes: they lie next to each other.
    if in_ranges && let Some(term) = strategies::dots::term(cpu, expression) {
        let lies = right.operations == 0 && right.access.stride(&term) == 1;
        let stored = StoredFactor { side: Side::Right, layout: Layout::Terms };
        return if lies { Vec::new() } else { vec![stored] };
    }
    let is_far = strategies::is_far(&left.access, &terms);
    // Ranges of rows have a panel of what is computed, if it is loaded in order.
    let in_order = !is_far && terms.iter().any(|l| left.access.stride(&l.name) == 1);
    let has_panel = in_ranges && in_order;
    let of_rows = left.operations > 0 && !has_panel || is_far && extents(&mut terms.iter()) < LONG as f64;
    // Ranges of rows read columns where they lie.
    let is_next = |l: &LoopInfo| l.extent > 1 && right.access.stride(&l.name) == 1;
    let lies = loops.iter().any(is_next) && !strategies::is_far(&right.access, &terms);
    let of_columns = match in_ranges {
        true => right.operations > 0 || !lies,
        false => right.operations > 0 && expression.has_formulas(),
    };
    let sides = [(Side::Left, of_rows, left), (Side::Right, of_columns, right)].into_iter();
    let first =
        sides.filter(|(_, first, factor)| (products >= FEW || in_ranges) && *first && is_shared(factor));
    let stored = |side| {
        let has_panels = in_ranges && side == Side::Right;
        let panel = has_panels.then(|| strategies::ranges::panel(cpu, expression)).flatten();
        let layout = match (side, panel) {
            (Side::Left, _) => Layout::Terms,
            (Side::Right, Some(columns)) => Layout::Panels(columns),
            (Side::Right, None) => Layout::Columns,
        };
        StoredFactor { side, layout }
    };
    first.map(|(side, ..)| stored(side)).collect()
}
