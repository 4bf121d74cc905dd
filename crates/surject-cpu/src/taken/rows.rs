//! Rows that come from here by themselves.

use crate::Cpu;
use crate::strategies::non_temporal::{self, LINE};
use crate::strategies::{Columns, Transposes, values};
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Reduction, Stride};
use surject_codegen::kernels::machine::{Choice, Strategy, choose};
use surject_codegen::kernels::native::Parts;
use surject_codegen::kernels::schedule::{Directive, Schedule};

/// The operations, or elements that are moved, of rows below which wider vectors have not been measured.
const LITTLE: f64 = 4096.0;

/// The terms of a sum that are worth blocks.
const BLOCKS: i64 = 128;

/// Are rows made at least as fast, where they run by themselves and everything that they need is stored? Measured beside the
/// emitter's (`papers/kernels`).
pub(crate) fn takes(cpu: &Cpu, expression: &Expression) -> Result<(), &'static str> {
    if cpu.vector_bytes == 0 {
        return Err("the processor has no vectors");
    }
    let accesses = expression.accesses();
    let is_turned = |c: Choice| [Transposes::NAME, Columns::NAME].contains(&c.strategy);
    if is_transposition(expression) && choose(cpu, expression).is_ok_and(is_turned) {
        return Ok(());
    }
    // What is only moved has no operations, but elements.
    let moved: f64 = accesses.iter().filter(|a| a.stored).map(|a| a.elements).sum();
    if !cpu.has_narrow_vectors() && expression.operations().max(moved) < LITTLE {
        return Err("it has too few operations");
    }
    if expression.gathers() {
        return Err("some of what it reads is gathered");
    }
    let choice = choose(cpu, expression).ok();
    let choice = choice.as_ref();
    if non_temporal::is_worth(cpu, expression) && !choice.is_some_and(goes_past) {
        return Err("results that the caches do not hold are not stored in whole lines");
    }
    if choice.is_some_and(|c| is_moved(c, expression)) {
        return Ok(());
    }
    if expression.operations() == 0.0 && (!cpu.has_narrow_vectors() || is_in_one_piece(expression)) {
        return Err("a fill or a copy is left to the C library");
    }
    fit(cpu, expression, true)
}

/// The same of rows of which kernels that run together do some at a time.
pub(crate) fn takes_parts(
    cpu: &Cpu,
    expression: &Expression,
    parts: &Parts,
) -> Result<Schedule, &'static str> {
    if cpu.vector_bytes == 0 {
        return Err("the processor has no vectors");
    }
    if expression.operations() == 0.0 {
        return Err("a fill or a copy is left to the C library");
    }
    if expression.gathers() {
        return Err("some of what it reads is gathered");
    }
    // Its tasks are the parts.
    let cpu = Cpu { threads: 1, task_operations: f64::INFINITY, ..cpu.clone() };
    let is_part = |l: &LoopInfo| parts.loops.iter().any(|p| p.name == l.name && p.steps == 1);
    if expression.reductions().is_empty() && expression.loops().iter().all(|l| l.extent == 1 || is_part(l)) {
        let schedule = Schedule { directives: values(&cpu, expression, None) };
        return schedule.by_parts(expression, &parts.loops).ok_or("parts are no tasks");
    }
    let choice = choose(&cpu, expression).map_err(|_| "the machine has no schedule for it")?;
    if parts.alone && non_temporal::is_worth(&cpu, expression) && !goes_past(&choice) {
        return Err("results that the caches do not hold are not stored in whole lines");
    }
    if !is_moved(&choice, expression) {
        fit(&cpu, expression, parts.alone)?;
    }
    let mut schedule = choice.proposal.schedule;
    schedule.directives.retain(|d| parts.alone || *d != Directive::NonTemporal);
    schedule.directives.extend(parts.ahead.iter().cloned().map(Directive::Prefetch));
    schedule.by_parts(expression, &parts.loops).ok_or("its schedule does not go part by part")
}

/// The lanes of the widest vectors of four registers with AVX2.
const MASKED: i64 = 32;

/// Do rows fit the strategies? `leaves` says that results leave the caches, or may.
fn fit(cpu: &Cpu, expression: &Expression, leaves: bool) -> Result<(), &'static str> {
    let accesses = expression.accesses();
    let is_wide = !cpu.has_narrow_vectors();
    if is_wide && accesses.iter().any(|a| a.guarded) {
        return Err("some of what it reads does not exist");
    }
    let is_measured = |a: &AccessInfo| [4, 8].contains(&a.bytes) || a.bytes == 1 && !a.stored;
    if !accesses.iter().all(is_measured) {
        return Err("nobody has measured results of 8 bits, and elements of 16");
    }
    if is_wide && expression.has_positions() {
        return Err("positions are values");
    }
    let reductions = expression.reductions();
    if reductions.iter().any(|r| overlaps(expression, r)) {
        return Err("its windows overlap");
    }
    let lanes = (cpu.vector_bytes / expression.element_bytes().max(1)) as i64;
    if reductions.iter().any(|r| is_long(expression, r, lanes)) {
        return Err("a long sum is made in blocks, which keeps its error small");
    }
    if !reductions.is_empty() && reductions.iter().all(|r| has_filled_loop(expression, r, lanes)) {
        // Next to the terms the results do not count, if they are what little is read and stored beside.
        let terms = |a: &AccessInfo| reductions.iter().any(|r| r.loops.iter().any(|k| a.stride(k) != 0));
        let elements = |of_terms: bool| -> f64 {
            accesses.iter().filter(|a| terms(a) == of_terms).map(|a| a.elements).sum()
        };
        if elements(false) * lanes as f64 <= elements(true) {
            return Ok(());
        }
    }
    let points: Vec<LoopInfo> = expression.loops().into_iter().filter(|l| l.extent > 1).collect();
    let next =
        |l: &&LoopInfo| expression.strides(&l.name).iter().filter(|s| s.stored).all(|s| s.elements == 1);
    let row = points.iter().find(next).ok_or("no results lie next to each other")?;
    fills(expression, row, lanes)?;
    // No instruction of AVX2 loads some of the bytes of a vector.
    if accesses.iter().any(|a| a.bytes == 1) && row.extent % MASKED != 0 {
        return Err("the last vector of its bytes is not whole");
    }
    let lines = |s: &Stride| !s.stored || s.elements * expression.element_bytes() as i64 % LINE == 0;
    let others = points.iter().filter(|l| l.name != row.name);
    let starts_lines = others.flat_map(|l| expression.strides(&l.name)).all(|s| lines(&s));
    let has_windows = reductions.iter().any(|r| r.loops.len() > 1);
    if (is_wide || has_windows) && leaves && !starts_lines && !expression.has_formulas() {
        return Err("rows begin inside of cache lines, where stores of whole lines begin behind");
    }
    let along = |r: &Reduction| r.outer.contains(&row.name) || has_filled_loop(expression, r, lanes);
    match reductions.iter().all(along) {
        true => Ok(()),
        false => Err("no terms of a reduction lie next to each other"),
    }
}

/// Is all that is stored one run of neighbours?
fn is_in_one_piece(expression: &Expression) -> bool {
    expression.loops().iter().filter(|l| l.extent > 1).count() <= 1
}

/// Are these rows taken, and are they so short that each lane has one?
pub(crate) fn lie_in_lanes(cpu: &Cpu, expression: &Expression) -> bool {
    let chosen = || choose(cpu, expression).is_ok_and(|choice| choice.strategy == Columns::NAME);
    // Few expressions have short rows: only these have their schedules compared.
    Columns(cpu.clone()).propose(expression).is_ok() && chosen() && takes(cpu, expression).is_ok()
}

/// Does one accumulator of a sum of floats get more terms than blocks have, which the emitter sums apart
/// (`surject_codegen`'s `schedule/blocks.rs`)?
fn is_long(expression: &Expression, reduction: &Reduction, lanes: i64) -> bool {
    let terms = reduction.loops.iter().filter_map(|name| expression.find(name)).map(|l| l.extent);
    let apart = if has_filled_loop(expression, reduction, lanes) { 2 * lanes } else { 1 };
    reduction.sums_floats && terms.product::<i64>() >= BLOCKS * apart
}

/// Do loads lie one behind the other along another loop than results, which vectors along results would gather? Nobody else
/// transposes them. Beside the emitter, which did, they have 0.9 to 1.6 times its speed with vectors of 256 bits (Zen 3), and 0.99
/// to 1.6 times with AVX-512 (Zen 4).
fn is_transposition(expression: &Expression) -> bool {
    /// Elements that lie so far apart are picked from vectors that hold all that is between them.
    const NEAR: i64 = 8;
    let (accesses, loops) = (expression.accesses(), expression.loops());
    let long = || loops.iter().filter(|l| l.extent > 1);
    let is_next = |l: &&LoopInfo| accesses.iter().filter(|a| a.stored).all(|a| a.stride(&l.name) == 1);
    let Some(row) = long().find(is_next) else { return false };
    let is_turned = |a: &AccessInfo| {
        let far = a.stride(&row.name).abs() > NEAR;
        !a.stored && !a.guarded && far && long().any(|l| a.stride(&l.name) == 1)
    };
    expression.reductions().is_empty() && accesses.iter().any(is_turned)
}

/// Are rows so short that each lane has one, or does each take its elements from others, some apart? Measured beside the
/// emitter's with AVX-512 (Zen 4), on one thread and on two: short rows have 0.97 to 1.08 times its speed, and as code for AVX2
/// 1.0 to 1.5 times.
fn is_moved(choice: &Choice, expression: &Expression) -> bool {
    match choice.strategy {
        Columns::NAME => true,
        Transposes::NAME => !expression.accesses().iter().any(|a| a.guarded),
        _ => false,
    }
}

/// Do results go past the caches at least as fast? Rows that are stored twice, as the terms of softmax are, do not.
fn goes_past(choice: &Choice) -> bool {
    choice.strategy == Transposes::NAME
        || choice.proposal.schedule.directives.contains(&Directive::NonTemporal)
}

/// Do vectors along a loop of a reduction have terms that lie next to each other?
fn has_filled_loop(expression: &Expression, reduction: &Reduction, lanes: i64) -> bool {
    let mut along = reduction.loops.iter().filter_map(|name| expression.find(name));
    along.any(|l| fills(expression, &l, lanes).is_ok())
}

/// Do vectors along a loop load and store elements that lie next to each other, and do some of them fill it?
fn fills(expression: &Expression, along: &LoopInfo, lanes: i64) -> Result<(), &'static str> {
    if along.extent < 2 * lanes {
        return Err("rows are short");
    }
    match expression.strides(&along.name).iter().all(|s| s.elements == 1) {
        true => Ok(()),
        false => Err("neighbours do not lie next to each other"),
    }
}

/// Do two results of a reduction share terms, as those of windows that overlap do?
fn overlaps(expression: &Expression, reduction: &Reduction) -> bool {
    let points = expression.loops();
    let accesses = expression.accesses();
    let loads = accesses.iter().filter(|a| !a.stored);
    loads.flat_map(|a| reduction.loops.iter().map(move |k| (a, k))).any(|(access, k)| {
        let step = access.stride(k).abs();
        let span = step * expression.find(k).map_or(1, |l| l.extent);
        let moves = |l: &LoopInfo| access.stride(&l.name).abs();
        step != 0 && points.iter().any(|l| l.extent > 1 && (step..span).contains(&moves(l)))
    })
}
