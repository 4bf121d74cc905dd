//! A product and the kernel that packs its columns as one kernel.
//!
//! Where a panel of columns is needed for one block of rows, it is packed when it is needed: it stays in the cache of its
//! thread, and neither goes to memory and back, nor do the threads meet between the two. What is packed before a loop, or
//! when the module is loaded, or for several products, stays a kernel of its own.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::lower::kernel::Kernel;
use crate::lower::recipe::Recipe;
use crate::program::fuse::{World, conflict, recipe, touch};
use crate::program::lowered::Step;
use crate::schedule::contraction;
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{DType, TensorType};

/// Joins kernels among these steps.
pub(super) fn join(mut steps: Vec<Step>, world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let mut at = 0;
    while at < steps.len() {
        let found = columns(&steps[at], world).and_then(|columns| {
            let pack = pack(&steps[..at], columns, world)?;
            Some((pack, columns))
        });
        let joined = match found {
            Some((pack, columns)) => joined([&steps[pack], &steps[at]], columns, world)?.zip(Some(pack)),
            None => None,
        };
        match joined {
            Some((step, pack)) => {
                steps[at] = step;
                steps.remove(pack);
            }
            None => at += 1,
        }
    }
    Ok(steps)
}

/// The memory of the packed columns of a product that nothing else reads.
fn columns(product: &Step, world: &World<'_>) -> Option<Buf> {
    let Step::Run { kernel, buffers, .. } = product else { return None };
    let Recipe::Tiles { scratch, .. } = recipe(product, world)?.as_ref() else { return None };
    let place = world.kernels[*kernel].buffers.iter().position(|&b| b == scratch.0)?;
    let columns = (world.memory)(buffers[place]);
    (world.touched.get(&columns) == Some(&2) && !world.kept.contains(&columns)).then_some(columns)
}

/// The step before a product that packs these columns and nothing else, if it may run as late.
fn pack(before: &[Step], columns: Buf, world: &World<'_>) -> Option<usize> {
    let packs = |step: &Step| {
        let Step::Run { writes, .. } = step else { return false };
        !writes.is_empty() && writes.iter().all(|&w| (world.memory)(w) == columns)
    };
    let pack = before.iter().rposition(packs)?;
    let touched = touch(&before[pack], world)?;
    let mut between = before[pack + 1..].iter().map(|s| touch(s, world));
    between.all(|other| other.is_some_and(|other| !conflict(&touched, &other))).then_some(pack)
}

/// The step that does both; `None` where panels are needed more often than once.
fn joined(
    [pack, product]: [&Step; 2],
    columns: Buf,
    world: &mut World<'_>,
) -> Result<Option<Step>, CodegenError> {
    let Some(recipe) = recipe(product, world).cloned() else { return Ok(None) };
    let (
        Step::Run { kernel: packing, buffers: packed, .. },
        Step::Run { kernel, buffers, writes, in_place, copies, origin },
        Recipe::Tiles { dag, output, contraction: c, schedule, scratch, .. },
    ) = (pack, product, recipe.as_ref())
    else {
        return Ok(None);
    };
    // The kernel that packs may have been made for other tensors, in the same order.
    let tensors = contraction::packed_tensors(dag, c, scratch.0);
    if tensors.len() != packed.len() {
        return Ok(None);
    }
    let mut here: HashMap<Buf, Buf> = HashMap::new();
    let of_product = world.kernels[*kernel].buffers.iter().zip(buffers);
    for (&own, &buf) in tensors.iter().zip(packed).chain(of_product) {
        let known = *here.entry(own).or_insert(buf);
        if (world.memory)(known) != (world.memory)(buf) {
            return Ok(None);
        }
    }
    let made = crate::lower::contraction::emit_fresh((dag, output), c, schedule, world.target, *scratch)?;
    let Some((made, bytes)) = made else { return Ok(None) };
    let Some(buffers) = made.buffers.iter().map(|b| here.get(b).copied()).collect() else { return Ok(None) };
    // Columns are read until the last tile is stored.
    let read = |b: Buf| packed.iter().any(|&p| (world.memory)(p) == (world.memory)(b));
    let in_place = in_place.iter().copied().filter(|pair| !read(pair.0)).collect();
    let mut writes = writes.clone();
    writes.extend(here.get(&scratch.0));
    world.types[columns.0 as usize] = TensorType::new(DType::U8, Space::of(&[bytes.unsigned_abs()]));
    world.touched.insert(columns, 1);
    let cycles = made.cycles + world.kernels[*packing].cycles;
    world.kernels.push(Kernel { cycles, ..made });
    let (copies, origin) = (*copies, origin.clone());
    Ok(Some(Step::Run { kernel: world.kernels.len() - 1, buffers, writes, in_place, copies, origin }))
}
