//! Removes operations whose results nobody uses. Every operation that an export writes is free of effects, but for
//! assertions, which have no result.

use std::collections::HashSet;
use surject_stablehlo::{Module, Region, ValueId};

pub(super) fn sweep(module: &mut Module) {
    for function in &mut module.functions {
        region(&mut function.body, &mut HashSet::new());
    }
}

/// Operations last to first: those that define a used value are kept, and use their operands in turn. What a nested
/// region uses from outside is defined before the operation that holds it.
fn region(region_: &mut Region, used: &mut HashSet<ValueId>) {
    let mut kept = Vec::new();
    let mut last = true;
    for mut op in region_.ops.drain(..).rev() {
        if !std::mem::take(&mut last)
            && !op.results.is_empty()
            && !op.results.iter().any(|r| used.contains(r))
        {
            continue;
        }
        used.extend(op.operands.iter().copied());
        op.regions.iter_mut().for_each(|r| region(r, used));
        kept.push(op);
    }
    kept.reverse();
    region_.ops = kept;
}
