//! Rows of which kernels that run together do some at a time, and rows so short that each lane has one.

use crate::Cpu;
use crate::strategies::{Columns, values};
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy, choose};
use surject_codegen::kernels::native::Parts;
use surject_codegen::kernels::schedule::{Directive, Schedule};

/// The cheapest schedule whose tasks are these parts.
pub(crate) fn schedule(cpu: &Cpu, expression: &Expression, parts: &Parts) -> Result<Schedule, &'static str> {
    let cpu = Cpu { threads: 1, task_operations: f64::INFINITY, ..cpu.clone() };
    let mut proposals: Vec<Proposal> =
        cpu.strategies().iter().filter_map(|strategy| strategy.propose(expression).ok()).collect();
    proposals.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    // One point after the other goes by any parts.
    let points = Schedule { directives: values(&cpu, expression, None) };
    let all = proposals.into_iter().map(|p| p.schedule).chain([points.with_partial_sums(expression)]);
    let by_parts = |mut schedule: Schedule| {
        // Who runs the parts knows what is in the caches, and which later parts are there already.
        let is_own = |d: &Directive| match d {
            Directive::Prefetch(_) => false,
            Directive::NonTemporal => parts.alone,
            _ => true,
        };
        schedule.directives.retain(is_own);
        schedule.directives.extend(parts.ahead.iter().cloned().map(Directive::Prefetch));
        schedule.by_parts(expression, &parts.loops)
    };
    let mut fitting = all.filter_map(by_parts);
    fitting.next().ok_or("no schedule goes part by part")
}

/// Are rows so short that each lane has one, in the kernel that is made of them?
pub(crate) fn lie_in_lanes(cpu: &Cpu, expression: &Expression) -> bool {
    let chosen = || choose(cpu, expression).is_ok_and(|choice| choice.strategy == Columns::NAME);
    // Few expressions have short rows: only these have their schedules compared.
    Columns(cpu.clone()).propose(expression).is_ok() && chosen()
}
