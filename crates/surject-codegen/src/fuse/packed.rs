//! A product and the kernel that packs its columns as one kernel.
//!
//! Where a panel of columns is needed for one block of rows, it is packed when it is needed: it stays in the cache of its
//! thread, and neither goes to memory and back, nor do the threads meet between the two. What is packed before a loop, or
//! when the module is loaded, or for several products, stays a kernel of its own.

use super::{World, conflict, recipe, touch};
use crate::CodegenError;
use crate::contraction;
use crate::dag::Buf;
use crate::recipe::Recipe;
use crate::row::Kernel;
use crate::steps::Step;
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{DType, TensorType};

/// Joins kernels among these steps.
pub(super) fn join(mut steps: Vec<Step>, world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let mut at = 0;
    while at < steps.len() {
        let found = (0..at).rev().find_map(|pack| Some((pack, columns(&steps, pack, at, world)?)));
        if let Some((pack, columns)) = found
            && let Some(step) = joined(&steps[pack], &steps[at], columns, world)?
        {
            steps[at] = step;
            steps.remove(pack);
            continue;
        }
        at += 1;
    }
    Ok(steps)
}

/// The memory of the columns of a product, if an earlier step packs them for it alone and may run as late.
fn columns(steps: &[Step], pack: usize, product: usize, world: &World<'_>) -> Option<Buf> {
    let Step::Run { kernel, buffers, .. } = &steps[product] else { return None };
    let Recipe::Tiles { scratch, .. } = recipe(&steps[product], world)?.as_ref() else { return None };
    let place = world.kernels[*kernel].buffers.iter().position(|&b| b == scratch.0)?;
    let columns = (world.memory)(buffers[place]);
    let Step::Run { writes, .. } = &steps[pack] else { return None };
    let own = writes.iter().all(|&w| (world.memory)(w) == columns)
        && !world.kept.contains(&columns)
        && world.touched.get(&columns) == Some(&2);
    let touched = touch(&steps[pack], world)?;
    let mut between = steps[pack + 1..product].iter().map(|s| touch(s, world));
    (own && between.all(|other| other.is_some_and(|other| !conflict(&touched, &other)))).then_some(columns)
}

/// The step that does both.
fn joined(
    pack: &Step,
    product: &Step,
    columns: Buf,
    world: &mut World<'_>,
) -> Result<Option<Step>, CodegenError> {
    let (Step::Run { buffers: packed, .. }, Step::Run { kernel, buffers, writes, in_place, copies, origin }) =
        (pack, product)
    else {
        return Ok(None);
    };
    let Some(recipe) = recipe(product, world).cloned() else { return Ok(None) };
    let Recipe::Tiles { dag, output, contraction: c, schedule, scratch } = recipe.as_ref() else {
        return Ok(None);
    };
    // The kernel that packs may have been made for other tensors, in the same order.
    let tensors = contraction::packed_tensors(dag, c, scratch.0);
    let mut here: HashMap<Buf, Buf> = HashMap::new();
    let of_pack = tensors.iter().zip(packed);
    let of_product = world.kernels[*kernel].buffers.iter().zip(buffers);
    for (&own, &buf) in of_pack.chain(of_product) {
        let known = *here.entry(own).or_insert(buf);
        if (world.memory)(known) != (world.memory)(buf) {
            return Ok(None);
        }
    }
    if tensors.len() != packed.len() {
        return Ok(None);
    }
    let Some((made, bytes)) = contraction::emit_fresh((dag, output), c, schedule, world.target, *scratch)?
    else {
        return Ok(None);
    };
    let Some(buffers) = made.buffers.iter().map(|b| here.get(b).copied()).collect::<Option<Vec<Buf>>>()
    else {
        return Ok(None);
    };
    let mut writes = writes.clone();
    writes.extend(here.get(&scratch.0));
    world.types[columns.0 as usize] = TensorType::new(DType::U8, Space::of(&[bytes.unsigned_abs()]));
    world.touched.insert(columns, 1);
    let cycles = world.kernels[*kernel].cycles;
    world.kernels.push(Kernel { cycles, ..made });
    let kernel = world.kernels.len() - 1;
    // Columns are read until the last tile is stored.
    let read = |b: Buf| packed.iter().any(|&p| (world.memory)(p) == (world.memory)(b));
    let in_place = in_place.iter().copied().filter(|pair| !read(pair.0)).collect();
    let (copies, origin) = (*copies, origin.clone());
    Ok(Some(Step::Run { kernel, buffers, writes, in_place, copies, origin }))
}
