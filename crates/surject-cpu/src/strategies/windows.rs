//! Windows side by side: what neighbours share is loaded once for all of them.

use super::tiles::fitting;
use super::{Nest, fused, row, work};
use crate::Cpu;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo, Reduction};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule, fits};

/// Where each channel has sums over windows of its own (a depthwise convolution), the channels are lanes, some neighbouring
/// windows run in step, and the terms along them are written out. The first and the last windows, of which some terms do not
/// exist, are by themselves.
pub struct Windows(pub Cpu);

/// Windows that run in step, at most.
const MOST: i64 = 8;

/// Terms of a window, at least and at most, and those that are written out.
const TERMS: std::ops::RangeInclusive<i64> = 4..=128;
const WRITTEN: std::ops::RangeInclusive<i64> = 2..=32;

/// Terms all of which are written out.
const FEW: i64 = 16;

impl Windows {
    pub(crate) const NAME: &'static str = "windows";
}

/// The loop over the windows, and the loop of the reduction along them.
struct Pair {
    along: LoopInfo,
    written: LoopInfo,
}

impl Strategy for Windows {
    fn name(&self) -> &'static str {
        Windows::NAME
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let loops = expression.loops();
        let lanes = fitting(&self.0, expression, &loops)?;
        // A vector of which more than half exists is as fast as a whole one.
        let fewest = lanes / 2 + 1;
        let column = row(&loops, expression, fewest);
        let column = column.ok_or_else(|| format!("no {fewest} results lie next to each other"))?;
        let [sum] = &expression.reductions()[..] else { return Err("there is not one reduction".into()) };
        let terms: i64 = sum.loops.iter().filter_map(|l| expression.find(l)).map(|l| l.extent).product();
        if !TERMS.contains(&terms) {
            return Err(format!("a sum has {terms} terms"));
        }
        let accesses = expression.accesses();
        let next = |a: &AccessInfo| a.stored || matches!(a.stride(&column.name), 0 | 1);
        if !accesses.iter().all(next) {
            return Err("elements of neighbours do not lie next to each other".into());
        }
        let pair = pair(expression, sum, &accesses, &column);
        let Pair { along, written } = pair.ok_or("neighbouring windows share nothing that they read")?;
        // Of narrow registers two hold a line of channels: half of the windows then have as many sums.
        let registers = |copies: i64| (column.extent + copies * lanes - 1) / (copies * lanes) * copies;
        let is_narrow = self.0.vector_registers <= 16;
        let copies = if is_narrow && 10 * registers(2) <= 11 * registers(1) { 2 } else { 1 };
        let most = MOST.min(self.0.vector_registers / 2 / copies).max(1);
        let blocks = (along.extent + most - 1) / most;
        let windows = (along.extent + blocks - 1) / blocks;
        let mut order: Vec<LoopInfo> =
            loops.into_iter().filter(|l| ![&column.name, &along.name].contains(&&l.name)).collect();
        order.extend([along.clone(), column.clone()]);
        let mut nest = Nest::new(&order);
        nest.jam(&along.name, windows);
        nest.vectorise(&column.name, copies * lanes);
        // Of windows inside all terms exist, and so they do of the rows inside.
        let guarded = |name: &str| accesses.iter().any(|a| a.guarded && a.stride(name) != 0);
        let is_row = |l: &&LoopInfo| ![&column.name, &along.name].contains(&&l.name) && guarded(&l.name);
        let row = order.iter().rev().find(is_row).map(|l| l.name.clone());
        // Rows that tasks share are not known to be inside: images are shared where there are enough.
        let enough = self.0.threads > 1 && work(expression) >= 2.0 * self.0.task_operations;
        let is_inside = |image: &str| row.as_ref().is_some_and(|row| row != image);
        match &order[0] {
            image if enough && is_inside(&image.name) && image.extent >= self.0.threads as i64 => {
                nest.share_loops([&image.name].into_iter());
            }
            _ => nest.share(&self.0, work(expression)),
        }
        let mut directives = nest.directives();
        let mut terms: Vec<String> = sum.loops.iter().filter(|l| **l != written.name).cloned().collect();
        terms.push(written.name.clone());
        directives.extend((terms.len() > 1).then_some(Directive::Order(terms.clone())));
        let all = terms.iter().filter_map(|l| expression.find(l)).map(|l| l.extent).product::<i64>() <= FEW;
        directives.extend(terms.into_iter().filter(|l| all || *l == written.name).map(Directive::Unroll));
        directives.extend(fused(&self.0, expression));
        let mut schedule = Schedule { directives };
        let windows_inside = guarded(&along.name).then(|| format!("{}.o", along.name));
        for peeled in row.into_iter().chain(windows_inside) {
            schedule.directives.push(Directive::Peel(peeled));
            if fits(expression, &schedule).is_err() {
                schedule.directives.pop();
            }
        }
        fits(expression, &schedule).map_err(|error| error.to_string())?;
        // Loads of a block beside its products.
        let (across, down) = (windows as f64, written.extent as f64);
        let loads = (across + 2.0 * down) / (across * down);
        Ok(Proposal { schedule, cost: work(expression) / lanes as f64 * (0.3 + 0.4 * loads) })
    }
}

/// A loop over windows and one of the reduction that move alike in something that is loaded, where something else is the same
/// for all windows.
fn pair(
    expression: &Expression,
    sum: &Reduction,
    accesses: &[AccessInfo],
    column: &LoopInfo,
) -> Option<Pair> {
    let lanewise = |a: &&AccessInfo| !a.stored && a.stride(&column.name) != 0;
    let shares = |along: &LoopInfo, written: &LoopInfo| {
        let common = accesses.iter().filter(lanewise).any(|a| a.stride(&along.name) == 0);
        let alike = accesses.iter().filter(lanewise).any(|a| {
            let (step, term) = (a.stride(&along.name), a.stride(&written.name));
            let meets = |far: i64, near: i64, most: i64| far % near == 0 && far / near < most;
            step > 0 && term > 0 && (meets(step, term, written.extent) || meets(term, step, MOST))
        });
        common && alike
    };
    let points = expression.loops();
    let along = points
        .iter()
        .rev()
        .filter(|l| l.parallel && l.extent > 2 && l.name != column.name && sum.outer.contains(&l.name));
    let written: Vec<LoopInfo> = sum.loops.iter().filter_map(|l| expression.find(l)).collect();
    let mut pairs = along.flat_map(|along| {
        let fits = |w: &&LoopInfo| WRITTEN.contains(&w.extent) && shares(along, w);
        written.iter().filter(fits).map(move |w| Pair { along: along.clone(), written: w.clone() })
    });
    pairs.next()
}
