//! A schedule in a few words, for the plan of a program.

use super::{Axis, AxisKind, Schedule, resolve};
use crate::expression::address::LoopId;
use crate::expression::dag::Node;
use crate::kernels::expression::Expression;

impl Schedule {
    /// The extents of the loops over points, outermost first, with the lanes in which one is done; then the reductions, those that
    /// are alike as one entry: `[8 61/64]` and `, 2 x + [1689]`.
    pub(crate) fn described(&self, expression: &Expression) -> (String, String) {
        let resolved = resolve(expression, self).ok();
        let whole = resolved.as_ref().and_then(|r| r.values.kept.as_ref()).map(|kept| &kept.expression);
        let dag = &whole.unwrap_or(expression).dag;
        let extents = |loops: &[LoopId], axes: &[Axis]| -> String {
            let mut order: Vec<LoopId> = Vec::new();
            let all = axes.iter().map(|a| a.of).chain(loops.iter().copied());
            all.for_each(|l| {
                if dag.extent(l) != 1 && !order.contains(&l) {
                    order.push(l)
                }
            });
            let extent = |&l: &LoopId| {
                let lanes = axes.iter().find(|a| a.of == l && a.kind == AxisKind::Lanes).map(|a| a.extent);
                lanes.map_or(dag.extent(l).to_string(), |lanes| format!("{}/{lanes}", dag.extent(l)))
            };
            format!("[{}]", order.iter().map(extent).collect::<Vec<_>>().join(" "))
        };
        let points = resolved.as_ref().map_or(&[][..], |r| &r.points);
        let (loops, mut text) = (extents(&expression.loops, points), String::new());
        let mut reductions: Vec<(String, usize)> = Vec::new();
        for n in whole.unwrap_or(expression).nodes() {
            let Node::Reduce { op, loops, .. } = &dag[n].node else { continue };
            let axes = resolved.as_ref().and_then(|r| r.reductions.get(&n)).map_or(&[][..], Vec::as_slice);
            let own = format!("{op} {}", extents(loops, axes));
            match reductions.last_mut().filter(|last| last.0 == own) {
                Some(last) => last.1 += 1,
                None => reductions.push((own, 1)),
            }
        }
        for (own, count) in reductions {
            let times = if count > 1 { format!("{count} x ") } else { String::new() };
            text.push_str(&format!(", {times}{own}"));
        }
        (loops, text)
    }
}
