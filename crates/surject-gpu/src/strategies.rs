//! The strategies of a GPU.

use crate::Gpu;
use surject_codegen::kernels::expression::{Expression, LoopInfo};
use surject_codegen::kernels::machine::{Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_kernel::Level;

/// What an access costs, in operations, that a warp does with as few sectors as it can.
const ACCESS: f64 = 4.0;

/// The mean number of times that a warp needs as many sectors as it would if its threads accessed neighbours along these
/// loops.
fn uncoalesced(gpu: &Gpu, expression: &Expression, threads: &[&str]) -> f64 {
    let strides: Vec<i64> =
        threads.iter().flat_map(|l| expression.strides(l)).map(|s| s.elements.abs()).collect();
    let bytes = expression.element_bytes() as i64;
    let most = (gpu.sector / bytes.max(1)).max(1);
    let each: f64 = strides.iter().map(|&s| s.min(most) as f64).sum();
    each / strides.len().max(1) as f64
}

/// The time of an expression that so many threads share.
fn cost(gpu: &Gpu, expression: &Expression, threads: f64, shared: &[&str]) -> f64 {
    let access = ACCESS * (uncoalesced(gpu, expression, shared) - 1.0).max(0.0);
    expression.operations() * (1.0 + access) / threads.min(gpu.threads()).max(1.0)
}

/// Blocks share the outermost loop. Gives the number of its iterations.
fn blocks(order: &[(String, i64, bool)], directives: &mut Vec<Directive>) -> Result<f64, String> {
    match order.first() {
        Some((name, extent, true)) => {
            directives.push(Directive::Parallel(name.clone(), Level::Block));
            Ok(*extent as f64)
        }
        Some((name, ..)) => Err(format!("iterations of the outermost loop `{name}` meet")),
        None => Err("there is one point, and nothing for blocks to share".into()),
    }
}

/// The loop along which results lie next to each other; else the innermost one whose iterations are independent.
fn row(loops: &[LoopInfo], expression: &Expression) -> Option<LoopInfo> {
    let free = || loops.iter().filter(|l| l.parallel && l.extent > 1);
    let next = |l: &&LoopInfo| expression.strides(&l.name).iter().any(|s| s.stored && s.elements == 1);
    free().find(next).or_else(|| free().next_back()).cloned()
}

/// Points of their own for every thread.
pub struct Points(pub Gpu);

impl Strategy for Points {
    fn name(&self) -> &'static str {
        "points"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let loops = expression.loops();
        let row = row(&loops, expression).ok_or("no iterations are independent")?;
        let threads = self.0.block.min(row.extent);
        let mut directives = vec![Directive::Split(row.name.clone(), threads)];
        // Independent loops stand outside, those over elements that meet inside.
        let mut order: Vec<(String, i64, bool)> = Vec::new();
        for l in loops.iter().filter(|l| l.name != row.name) {
            order.push((l.name.clone(), l.extent, l.parallel));
        }
        order.push((format!("{}.o", row.name), (row.extent + threads - 1) / threads, true));
        order.sort_by_key(|l| (!l.2, std::cmp::Reverse(l.1)));
        let inner = format!("{}.i", row.name);
        let names = order.iter().map(|l| l.0.clone()).chain([inner.clone()]).collect();
        directives.push(Directive::Order(names));
        let blocks = blocks(&order, &mut directives)?;
        directives.push(Directive::Parallel(inner, Level::Thread));
        let mut cost = cost(&self.0, expression, blocks * threads as f64, &[&row.name]);
        // What is reduced for all points of a row, every thread of the row reduces.
        let repeated = expression.reductions().into_iter().filter(|r| !r.outer.contains(&row.name));
        cost += repeated.map(|r| r.operations).sum::<f64>() / blocks.min(self.0.multiprocessors as f64);
        Ok(Proposal { schedule: Schedule { directives }, cost })
    }
}

/// The threads of a warp share the terms of reductions, and the points of a row.
pub struct Warps(pub Gpu);

impl Strategy for Warps {
    fn name(&self) -> &'static str {
        "warps"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let (loops, reductions, warp) = (expression.loops(), expression.reductions(), self.0.warp);
        if reductions.is_empty() {
            return Err("there is no reduction".into());
        }
        let mut directives = Vec::new();
        let mut shared: Vec<String> = Vec::new();
        for reduction in &reductions {
            let along = |name: &&String| {
                let strides = expression.strides(name);
                let next = !strides.is_empty() && strides.iter().all(|s| s.elements == 1);
                next && expression.find(name).is_some_and(|l| l.extent >= warp)
            };
            let along = reduction.loops.iter().find(along);
            let along =
                along.ok_or_else(|| format!("no {warp} terms of a reduction lie next to each other"))?;
            if shared.contains(along) {
                continue;
            }
            directives.push(Directive::Split(along.clone(), warp));
            directives.push(Directive::Parallel(format!("{along}.i"), Level::Thread));
            shared.push(along.clone());
        }
        // Points that no reduction depends on are those of the row that is reduced.
        let row = row(&loops, expression)
            .filter(|row| row.extent >= warp && reductions.iter().all(|r| !r.outer.contains(&row.name)));
        let mut order: Vec<(String, i64, bool)> = Vec::new();
        for l in loops.iter().filter(|l| row.as_ref().is_none_or(|row| row.name != l.name)) {
            order.push((l.name.clone(), l.extent, l.parallel));
        }
        order.sort_by_key(|l| (!l.2, std::cmp::Reverse(l.1)));
        let mut names: Vec<String> = order.iter().map(|l| l.0.clone()).collect();
        if let Some(row) = &row {
            directives.push(Directive::Split(row.name.clone(), warp));
            names.extend([format!("{}.o", row.name), format!("{}.i", row.name)]);
        }
        if !names.is_empty() {
            directives.push(Directive::Order(names));
        }
        let blocks = blocks(&order, &mut directives)?;
        if let Some(row) = &row {
            directives.push(Directive::Parallel(format!("{}.i", row.name), Level::Thread));
        }
        let shared: Vec<&str> =
            shared.iter().map(String::as_str).chain(row.as_ref().map(|r| r.name.as_str())).collect();
        let cost = cost(&self.0, expression, blocks * warp as f64, &shared);
        Ok(Proposal { schedule: Schedule { directives }, cost })
    }
}

/// One thread.
pub struct Serial;

impl Strategy for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        Ok(Proposal { schedule: Schedule::default(), cost: expression.operations() })
    }
}
