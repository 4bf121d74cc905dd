//! Random schedules that fit.

use std::cell::RefCell;
use std::rc::Rc;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_ir::testing::Rng;
use surject_kernel::Level;

/// A machine whose schedules are random.
pub struct Random(Rc<RefCell<Rng>>);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(Rc::new(RefCell::new(Rng::new(seed))))
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

struct Guesses(Rc<RefCell<Rng>>);

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
            let of = |end: &str, extent| Part { name: format!("{}.{end}", part.name), extent, ..part.clone() };
            all.extend([of("o", (part.extent + by - 1) / by), of("i", by)]);
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

impl Strategy for Guesses {
    fn name(&self) -> &'static str {
        "guesses"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let rng = &mut *self.0.borrow_mut();
        let mut directives = Vec::new();
        let part = |name: String, extent, parallel| Part { name, extent, parallel };
        let loops = expression.loops().into_iter().map(|l| part(l.name, l.extent, l.parallel)).collect();
        let points = nest(rng, loops, &mut directives);
        // Loops over points that meet keep their order: which of their values stays is that of the last.
        let mut levels = vec![*rng.pick(&[Level::Task, Level::Block])];
        if levels[0] == Level::Block {
            levels.extend([Level::Warp, Level::Thread]);
        }
        let shared = rng.below(points.len().min(levels.len()) + 1);
        let shared = points.iter().take(shared).take_while(|p| p.parallel).count();
        for (point, &level) in points.iter().take(shared).zip(&levels) {
            directives.push(Directive::Parallel(point.name.clone(), level));
        }
        let lanes = |p: &Part| (2..=16).contains(&p.extent);
        let mut vectorised = false;
        if let Some(last) = points.iter().skip(shared).next_back().filter(|p| lanes(p) && p.parallel)
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
            if let Some(last) = inner.last().filter(|p| lanes(p)) {
                match rng.below(3) {
                    0 if !vectorised && reductions.len() == 1 => {
                        directives.push(Directive::Vectorise(last.name.clone()));
                    }
                    1 => directives.push(Directive::Unroll(last.name.clone())),
                    _ => {}
                }
            }
        }
        Ok(Proposal { schedule: Schedule { directives }, cost: 0.0 })
    }
}
