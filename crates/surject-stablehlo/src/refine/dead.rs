//! What nothing uses: operations without effects, and functions that nothing calls.

use std::collections::{HashMap, HashSet};

use crate::module::{Module, Op, Region, ValueId};

/// Whether an operation does nothing but give its results.
pub(super) fn is_pure(op: &Op) -> bool {
    let effect = match op.name.as_ref() {
        "stablehlo.custom_call" => op.flag("has_side_effect").unwrap_or(false),
        "stablehlo.infeed" | "stablehlo.outfeed" | "stablehlo.send" | "stablehlo.recv" | "stablehlo.rng"
        | "stablehlo.async_start" | "stablehlo.async_done" | "func.call" | "stablehlo.composite"
        | "stablehlo.all_gather" | "stablehlo.all_reduce" | "stablehlo.all_to_all"
        | "stablehlo.collective_broadcast" | "stablehlo.collective_permute"
        | "stablehlo.collective_reduce" | "stablehlo.reduce_scatter" | "stablehlo.cross-replica-sum" => true,
        "func.return" | "stablehlo.return" => false,
        name => !["stablehlo.", "chlo.", "arith.", "shape.", "tensor."].iter().any(|p| name.starts_with(p)),
    };
    !effect && op.regions.iter().all(|region| region.ops.iter().all(is_pure))
}

/// Removes operations whose results nothing uses, and functions that nothing refers to.
pub(super) fn remove(module: &mut Module) {
    let mut uses: HashMap<ValueId, usize> = HashMap::new();
    for function in &module.functions {
        count(&function.body, &mut uses);
    }
    for function in &mut module.functions {
        sweep(&mut function.body, &mut uses);
    }
    let Some(entry) = module.entry().map(|f| f.name.clone()) else { return };
    let mut reached: HashSet<String> = HashSet::new();
    let mut open = vec![entry];
    while let Some(name) = open.pop() {
        if reached.insert(name.clone())
            && let Some(function) = module.function(&name)
        {
            symbols(&function.body, &mut open);
        }
    }
    module.functions.retain(|f| reached.contains(&f.name));
}

fn count(region: &Region, uses: &mut HashMap<ValueId, usize>) {
    for op in &region.ops {
        op.operands.iter().for_each(|v| *uses.entry(*v).or_default() += 1);
        op.regions.iter().for_each(|r| count(r, uses));
    }
}

fn discount(op: &Op, uses: &mut HashMap<ValueId, usize>) {
    for value in &op.operands {
        if let Some(n) = uses.get_mut(value) {
            *n -= 1;
        }
    }
    op.regions.iter().for_each(|r| r.ops.iter().for_each(|op| discount(op, uses)));
}

/// Removes from the end on, so that what only a removed operation used goes as well.
fn sweep(region: &mut Region, uses: &mut HashMap<ValueId, usize>) {
    let mut kept = Vec::with_capacity(region.ops.len());
    for mut op in std::mem::take(&mut region.ops).into_iter().rev() {
        let used = op.results.iter().any(|v| uses.get(v).is_some_and(|n| *n > 0));
        let terminator = matches!(op.name.as_ref(), "func.return" | "stablehlo.return");
        if !used && !terminator && is_pure(&op) {
            discount(&op, uses);
            continue;
        }
        op.regions.iter_mut().for_each(|r| sweep(r, uses));
        kept.push(op);
    }
    kept.reverse();
    region.ops = kept;
}

/// The names of functions that operations refer to.
fn symbols(region: &Region, into: &mut Vec<String>) {
    use crate::attr::Attribute;
    fn of(value: &Attribute, into: &mut Vec<String>) {
        match value {
            Attribute::Symbol(path) => into.extend(path.first().cloned()),
            Attribute::Array(items) => items.iter().for_each(|item| of(item, into)),
            Attribute::Dict(entries) => entries.iter().for_each(|(_, value)| of(value, into)),
            _ => {}
        }
    }
    for op in &region.ops {
        op.attributes.iter().for_each(|(_, value)| of(value, into));
        op.regions.iter().for_each(|r| symbols(r, into));
    }
}
