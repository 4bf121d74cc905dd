//! Random schedules that fit.

use std::cell::RefCell;
use std::rc::Rc;
use surject_codegen::kernels::expression::{Expression, Reduction};
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy};
use surject_codegen::kernels::running::{LineScan, Running, Scanned, Scanners};
use surject_codegen::kernels::schedule::{Ahead, Directive, PartLoop, Schedule, fits};
use surject_codegen::kernels::transpose::{Pieces, TransposeTile, Transposers};
use surject_ir::testing::Rng;
use surject_kernel::Level;

/// A machine whose schedules are random.
pub struct Random(Rc<RefCell<Guesser>>);

struct Guesser {
    rng: Rng,
    /// The schedules so far.
    log: String,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rc::new(RefCell::new(Guesser { rng: Rng::new(seed), log: String::new() })))
    }

    /// The schedules so far.
    pub fn log(&self) -> String {
        self.0.borrow().log.clone()
    }
}

impl Machine for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        vec![Box::new(Guesses(self.0.clone()))]
    }
}

struct Guesses(Rc<RefCell<Guesser>>);

/// A loop, or a part of one.
#[derive(Clone)]
struct Part {
    name: String,
    extent: i64,
    parallel: bool,
}

/// Splits some loops and puts all of them in a random order.
fn nest(rng: &mut Rng, parts: Vec<Part>, directives: &mut Vec<Directive>) -> Vec<Part> {
    let mut all = Vec::new();
    for part in parts {
        if part.extent > 1 && rng.chance(1, 2) {
            let by = *rng.pick(&[2i64, 3, 4, 8]);
            directives.push(Directive::Split(part.name.clone(), by));
            let of = |part: &Part, end: &str, extent| Part {
                name: format!("{}.{end}", part.name),
                extent,
                ..part.clone()
            };
            let outer = of(&part, "o", (part.extent + by - 1) / by);
            let inner = of(&part, "i", by);
            // The outer loop is split again, which need not divide it either.
            if outer.extent > 2 && rng.chance(1, 3) {
                let by = *rng.pick(&[2i64, 3, 5]);
                directives.push(Directive::Split(outer.name.clone(), by));
                all.extend([of(&outer, "o", (outer.extent + by - 1) / by), of(&outer, "i", by)]);
            } else {
                all.push(outer);
            }
            all.push(inner);
        } else {
            all.push(part);
        }
    }
    let order = rng.order(all.len());
    let all: Vec<Part> = order.into_iter().map(|i| all[i].clone()).collect();
    if !all.is_empty() {
        directives.push(Directive::Order(all.iter().map(|p| p.name.clone()).collect()));
    }
    all
}

fn fits_lanes(part: &Part) -> bool {
    (2..=16).contains(&part.extent)
}

/// Some of the innermost loops run in step; what does stands inside of everything but lanes. `true`: the last is in lanes.
fn jam(rng: &mut Rng, inner: &[&Part], directives: &mut Vec<Directive>) -> bool {
    let mut vectorised = false;
    let most = inner.iter().skip(1).take_while(|p| p.parallel && p.extent <= 8);
    let count = rng.below(3).min(most.count());
    for point in inner.iter().skip(1).take(count) {
        directives.push(Directive::Jam(point.name.clone()));
    }
    if count > 0
        && let Some(last) = inner.first().filter(|p| p.parallel && p.extent <= 16)
    {
        if fits_lanes(last) {
            directives.push(Directive::Vectorise(last.name.clone()));
            vectorised = true;
        } else {
            directives.push(Directive::Jam(last.name.clone()));
        }
    } else {
        directives.retain(|d| !matches!(d, Directive::Jam(_)));
    }
    vectorised
}

/// How values are computed: sums that are rounded once, comparisons of integers, shared inverses, terms that are kept.
fn arithmetic(
    rng: &mut Rng,
    expression: &Expression,
    reductions: &[Reduction],
    directives: &mut Vec<Directive>,
) {
    for reduction in reductions.iter().filter(|r| r.sums_products) {
        if let Some(name) = reduction.loops.first().filter(|_| rng.chance(1, 2)) {
            let with = Directive::Fma(name.clone());
            if fits(
                expression,
                &Schedule { directives: [&directives[..], std::slice::from_ref(&with)].concat() },
            )
            .is_ok()
            {
                directives.push(with);
            }
        }
    }
    let over = |r: &Reduction| r.loops.first().filter(|_| r.compares_floats).cloned().map(Directive::Keys);
    let shared = expression.loops().into_iter().filter(|l| expression.divides_along(&l.name));
    let kept = expression.keepable().into_iter().map(|(reduced, at)| Directive::Keep { reduced, at });
    let loaded = expression.accesses().into_iter().find(|a| !a.stored);
    let within = reductions.first().and_then(|r| r.loops.first()).filter(|_| rng.chance(1, 2)).cloned();
    let by = *rng.pick(&[-3, 1, 64]);
    let ahead = loaded.map(|a| {
        Directive::Prefetch(Ahead {
            tensor: a.tensor.to_string(),
            by,
            along: None,
            within,
            soon: rng.chance(1, 2),
        })
    });
    let sums = reductions.iter().filter(|r| r.sums_floats).flat_map(|r| &r.loops);
    let parts = sums.flat_map(|name| ["", ".o", ".i"].map(|end| format!("{name}{end}")));
    let parts: Vec<String> = parts.filter(|_| rng.chance(1, 2)).collect();
    let partial = parts.into_iter().map(|name| {
        let blocks = rng.pick(&[&[][..], &[1], &[2], &[3], &[4, 2]]).to_vec();
        Directive::Partial { name, blocks }
    });
    let partial: Vec<Directive> = partial.collect();
    let more: Vec<Directive> = reductions
        .iter()
        .filter_map(over)
        .chain(partial)
        .chain(shared.map(|l| Directive::Inverse(l.name)))
        .chain(kept)
        .chain([Directive::NonTemporal, Directive::SerialEpilogue])
        .chain(ahead)
        .collect();
    for with in more {
        let changed = Schedule { directives: [&directives[..], &[with]].concat() };
        if rng.chance(2, 3) && fits(expression, &changed).is_ok() {
            *directives = changed.directives;
        }
    }
}

/// Where values are on the way: sums of blocks of terms in memory, panels.
fn memory(
    rng: &mut Rng,
    expression: &Expression,
    reductions: &[Reduction],
    points: &[String],
    directives: &mut Vec<Directive>,
) {
    // Terms in blocks, outside of some of the points.
    let mut begins = points.to_vec();
    for name in reductions.iter().flat_map(|r| &r.loops) {
        let Some(at) = points.get(rng.below(points.len().max(1))) else { continue };
        let blocks = if rng.chance(1, 2) { format!("{name}.o") } else { name.clone() };
        let with = Directive::Accumulate { blocks: blocks.clone(), at: at.clone() };
        let accumulated = Schedule { directives: [&directives[..], &[with]].concat() };
        if rng.chance(1, 2) && fits(expression, &accumulated).is_ok() {
            *directives = accumulated.directives;
            begins.push(blocks);
        }
    }
    let loads = expression.accesses().into_iter().filter(|a| !a.stored).map(|a| a.tensor.to_string());
    let factors = ["left".to_string(), "right".to_string()];
    for tensor in factors.into_iter().chain(loads) {
        let Some(at) = begins.get(rng.below(begins.len().max(1))) else { continue };
        let with = Directive::Pack { tensor, at: at.clone() };
        let packed = Schedule { directives: [&directives[..], &[with]].concat() };
        if rng.chance(1, 2) && fits(expression, &packed).is_ok() {
            *directives = packed.directives;
        }
    }
    for name in points {
        let peeled = Schedule { directives: [&directives[..], &[Directive::Peel(name.clone())]].concat() };
        if rng.chance(1, 3) && fits(expression, &peeled).is_ok() {
            *directives = peeled.directives;
        }
    }
}

impl Strategy for Guesses {
    fn name(&self) -> &'static str {
        "guesses"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let guesser = &mut *self.0.borrow_mut();
        let rng = &mut guesser.rng;
        let mut directives = Vec::new();
        let part = |name: String, extent, parallel| Part { name, extent, parallel };
        let loops = expression.loops().into_iter().map(|l| part(l.name, l.extent, l.parallel)).collect();
        let points = nest(rng, loops, &mut directives);
        // Loops over points that meet keep their order: which of their values stays is that of the last.
        let levels = match rng.chance(1, 2) {
            true => vec![Level::Task; 3],
            false => vec![Level::Block, Level::Warp],
        };
        let shared = rng.below(points.len().min(levels.len()) + 1);
        let shared = points.iter().take(shared).take_while(|p| p.parallel).count();
        for (point, &level) in points.iter().take(shared).zip(&levels) {
            directives.push(Directive::Parallel(point.name.clone(), level));
        }
        // Threads share loops of one extent, in reductions those of powers of two.
        let mut threads = None;
        let inside = points.iter().skip(shared);
        let blocks = shared > 0 && levels[0] == Level::Block;
        if let Some(point) =
            inside.clone().find(|p| p.parallel && p.extent > 1).filter(|_| blocks && rng.chance(1, 2))
        {
            directives.push(Directive::Parallel(point.name.clone(), Level::Thread));
            threads = Some((point.name.clone(), point.extent));
        }
        let inner: Vec<&Part> = points.iter().skip(shared).rev().collect();
        let may_jam = threads.is_none() && (shared == 0 || levels[0] == Level::Task);
        let mut vectorised = may_jam && rng.chance(1, 2) && jam(rng, &inner, &mut directives);
        let jammed = directives.iter().any(|d| matches!(d, Directive::Jam(_)));
        if let Some(last) = points.iter().skip(shared).next_back().filter(|p| fits_lanes(p) && p.parallel)
            && threads.as_ref().is_none_or(|t| t.0 != last.name)
            && !jammed
            && rng.chance(1, 2)
        {
            directives.push(Directive::Vectorise(last.name.clone()));
            vectorised = true;
        }
        // A loop may be one of several reductions: then it is left alone.
        let reductions = expression.reductions();
        for reduction in &reductions {
            let alone = |name: &String| reductions.iter().filter(|r| r.loops.contains(name)).count() == 1;
            if !reduction.loops.iter().all(alone) {
                continue;
            }
            let extent = |name: &String| expression.find(name).map_or(1, |l| l.extent);
            let loops = reduction.loops.iter().map(|n| part(n.clone(), extent(n), false)).collect();
            let inner = nest(rng, loops, &mut directives);
            let fits = |p: &&Part| {
                p.extent > 1
                    && p.extent <= 32
                    && p.extent.count_ones() == 1
                    && threads.as_ref().is_none_or(|t| t.1 == p.extent)
            };
            // What depends on a loop that threads share is each thread's own.
            let own = threads.as_ref().is_some_and(|t| reduction.outer.iter().any(|l| t.0.starts_with(l)));
            if let Some(part) = inner.iter().find(fits).filter(|_| blocks && !own && rng.chance(1, 2)) {
                directives.push(Directive::Parallel(part.name.clone(), Level::Thread));
                // A reduction inside of this one may be shared already.
                if fits_so_far(expression, &directives) {
                    threads = Some((part.name.clone(), part.extent));
                    continue;
                }
                directives.pop();
            }
            if let Some(last) = inner.last().filter(|p| fits_lanes(p)) {
                match rng.below(3) {
                    0 if !vectorised && reductions.len() == 1 => {
                        directives.push(Directive::Vectorise(last.name.clone()));
                    }
                    1 => directives.push(Directive::Unroll(last.name.clone())),
                    _ => {}
                }
            }
        }
        arithmetic(rng, expression, &reductions, &mut directives);
        let points: Vec<String> = points.into_iter().map(|p| p.name).collect();
        memory(rng, expression, &reductions, &points, &mut directives);
        let mut schedule = Schedule { directives };
        if rng.chance(2, 3) {
            schedule = schedule.with_triangles(expression);
        }
        let schedule = by_parts(rng, expression, &schedule).unwrap_or(schedule);
        let schedule = form(rng, expression).unwrap_or(schedule);
        guesser.log.push_str(&format!("{:?}\n{schedule}", expression.loops()));
        Ok(Proposal { schedule, cost: 0.0 })
    }
}

fn fits_so_far(expression: &Expression, directives: &[Directive]) -> bool {
    fits(expression, &Schedule { directives: directives.to_vec() }).is_ok()
}

/// The same schedule where the iterations of some loops, outermost first, are tasks: of the last one several may be one.
fn by_parts(rng: &mut Rng, expression: &Expression, schedule: &Schedule) -> Option<Schedule> {
    let loops = expression.loops();
    let count = rng.below(loops.len() + 1);
    let mut parts: Vec<PartLoop> =
        loops.into_iter().take(count).map(|l| PartLoop { name: l.name, steps: 1 }).collect();
    let last = parts.last_mut()?;
    let extent = expression.find(&last.name)?.extent;
    last.steps = *rng.pick(&[1i64, 1, 2, 4]);
    if extent % last.steps != 0 {
        last.steps = 1;
    }
    // A kernel of a range has sizes.
    let is_range = |s: &Schedule| s.directives.iter().any(|d| matches!(d, Directive::Range(_)));
    schedule.by_parts(expression, &parts).filter(|parts| !is_range(parts))
}

/// A scan or a transposition in lanes, where the expression is one.
fn form(rng: &mut Rng, expression: &Expression) -> Option<Schedule> {
    if rng.chance(1, 2) {
        return None;
    }
    let lines = *rng.pick(&[1i64, 2, 3]);
    let directive = match expression.scanned() {
        Some(Scanned { along, compares_floats, .. }) => {
            let others: Vec<String> =
                expression.loops().into_iter().map(|l| l.name).filter(|name| *name != along).collect();
            let across = others.get(rng.below(others.len() + 1)).cloned();
            let lanes = *rng.pick(&[1i64, 2, 4, 8]);
            let block = rng.chance(1, 2).then(|| *rng.pick(&[1i64, 2, 3, 7]));
            let keys = compares_floats && rng.chance(1, 2);
            let by = Scanners::Lanes(LineScan { lanes, lines, block, keys });
            Directive::Scan(Running { along, across, by })
        }
        None => {
            let loops = expression.transpositions().into_iter().next()?;
            let tile = [0, 1].map(|_| *rng.pick(&[2i64, 4, 8]));
            let group = *rng.pick(&[1i64, 2, 4, 8]);
            let pieces = Pieces {
                tiles: [*rng.pick(&[1i64, 2, 3]), group * *rng.pick(&[1i64, 2, 16])],
                group,
                each: lines,
                staged: rng.chance(1, 2),
                ahead: rng.chance(1, 2),
                past: rng.chance(1, 2),
            };
            Directive::Transpose(TransposeTile { loops, tile, by: Transposers::Tasks(pieces) })
        }
    };
    let schedule = Schedule { directives: vec![directive] };
    fits(expression, &schedule).is_ok().then_some(schedule)
}
