//! Long sums in blocks ([`crate::expression::partial_sums`]): which loops have them.

use super::{Accumulation, Axis, AxisKind, Directive, Nest, Schedule, fits, resolve};
use crate::expression::dag::Node;
use crate::expression::partial_sums::{BLOCKS, STEPS, TERMS, TERMS_OF_TILES, levels, round};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use std::collections::HashSet;

/// Can the loop of a name be summed in such blocks?
pub(super) fn check(
    expression: &Expression,
    nests: &[Nest],
    name: &str,
    blocks: &[i64],
) -> Result<(), Fault> {
    let dag = &expression.dag;
    let sums = |nest: &&Nest| match nest.0.map(|n| &dag[n]) {
        Some(data) => matches!(data.node, Node::Reduce { op, .. } if round(op, data.dtype)),
        None => false,
    };
    let mut found = false;
    for (_, axes) in nests.iter().filter(sums) {
        let Some(at) = axes.iter().position(|a| a.name == name) else { continue };
        if !matches!(axes[at].kind, AxisKind::Serial | AxisKind::Unrolled) {
            return Err(Fault::of(name, format!("the terms of `{name}` are not summed one after the other")));
        }
        if at == 0 && blocks.is_empty() {
            return Err(Fault::of(
                name,
                format!("`{name}` is the outermost loop of its sum: say of how many iterations a block is"),
            ));
        }
        found = true;
    }
    if !found {
        return Err(Fault::of(name, format!("no sum of floats has a loop `{name}`")));
    }
    match blocks.windows(2).all(|pair| pair[0] > pair[1]) {
        true => Ok(()),
        false => Err("blocks are of smaller ones, the largest first".into()),
    }
}

impl Schedule {
    /// The same, where long sums of floats are made in blocks.
    pub fn with_partial_sums(self, expression: &Expression) -> Schedule {
        self.with_blocks_of(TERMS, expression)
    }

    /// The same of tiles, whose sums fill the registers: those of all blocks are in memory.
    pub fn with_partial_sums_of_tiles(self, expression: &Expression) -> Schedule {
        self.with_blocks_of(TERMS_OF_TILES, expression)
    }

    /// The same in blocks of about so many terms.
    fn with_blocks_of(mut self, terms: i64, expression: &Expression) -> Schedule {
        let is_long = expression.nodes().into_iter().any(|n| {
            let data = &expression.dag[n];
            matches!(&data.node, Node::Reduce { op, loops, .. } if round(*op, data.dtype)
                && loops.iter().map(|&l| expression.dag.extent(l)).product::<i64>() >= 2 * terms)
        });
        let Some(resolved) = is_long.then(|| resolve(expression, &self).ok()).flatten() else { return self };
        let mut sums: Vec<_> = resolved.reductions.into_iter().collect();
        sums.sort_by_key(|(n, _)| *n);
        let mut said: HashSet<String> = HashSet::new();
        for (sum, axes) in sums {
            let data = &expression.dag[sum];
            if !matches!(data.node, Node::Reduce { op, .. } if round(op, data.dtype)) {
                continue;
            }
            let is_apart = |a: &&Accumulation| a.sums.iter().any(|s| s.reduction == sum);
            let apart = resolved.values.accumulations.iter().find(is_apart);
            let in_lanes = axes.iter().any(|a| a.kind == AxisKind::Lanes);
            // Sums in memory are those of blocks already.
            let axes = apart.map_or(&axes[..], |a| &a.blocks);
            let wanted = match apart {
                Some(_) => BLOCKS,
                None if in_lanes => STEPS,
                None => terms,
            };
            let loops: Vec<&Axis> = axes.iter().filter(|a| a.kind != AxisKind::Lanes).collect();
            let steps: Vec<i64> = loops.iter().map(|a| a.extent).collect();
            for (axis, level) in loops.into_iter().zip(levels(&steps, wanted)) {
                let name = &axis.name;
                if (level.anew || !level.blocks.is_empty()) && said.insert(name.clone()) {
                    let whole = level.anew.then(Vec::new);
                    let blocks = Some(level.blocks).filter(|blocks| !blocks.is_empty());
                    let all = whole.into_iter().chain(blocks);
                    let new = all.map(|blocks| Directive::Partial { name: name.clone(), blocks });
                    let before = self.directives.len();
                    self.directives.extend(new);
                    if fits(expression, &self).is_err() {
                        self.directives.truncate(before);
                    }
                }
            }
        }
        self
    }
}
