//! A reduction down long columns that no chain has, in parts: some rows of each, and one more kernel that joins them.

use crate::expression::dag::Buf;
use crate::planned::columns;
use crate::planned::kernel::Kernel;
use crate::planned::recipe::Recipe;
use crate::planned::rows;
use crate::program::fuse::{World, recipe};
use crate::program::lowered::Step;
use crate::{CodegenError, schedule};
use surject_index::Space;
use surject_ir::TensorType;

/// Cuts reductions among these steps.
pub(super) fn cut(steps: Vec<Step>, world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let mut result = Vec::with_capacity(steps.len());
    for step in steps {
        match kernels(&step, world)? {
            Some(kernels) => result.extend(kernels),
            None => result.push(step),
        }
    }
    Ok(result)
}

/// The steps of the parts and of what is made of them.
fn kernels(step: &Step, world: &mut World<'_>) -> Result<Option<[Step; 2]>, CodegenError> {
    let Some(recipe) = recipe(step, world).cloned() else { return Ok(None) };
    let (Recipe::Columns(columns), Step::Run { kernel, buffers, origin, .. }) = (recipe.as_ref(), step)
    else {
        return Ok(None);
    };
    let next = Buf(world.types.len() as u32);
    let Some(parts) = columns.parts(next, world.target) else { return Ok(None) };
    let (dag, output, outer) = &parts.first;
    let Some(first) = columns::kernel(dag, output, outer, world.target) else { return Ok(None) };
    let outputs = vec![parts.output];
    let schedule = schedule::choose(&parts.second, &outputs, columns.outer(), world.target);
    let second = rows::alone(parts.second, outputs, &schedule);
    let own = world.kernels[*kernel].buffers.clone();
    let step = |kernel: Kernel, world: &mut World<'_>| {
        let here = |buf: &Buf| {
            if *buf == next { Some(next) } else { Some(buffers[own.iter().position(|b| b == buf)?]) }
        };
        let all: Option<Vec<Buf>> = kernel.buffers.iter().map(here).collect();
        let writes: Option<Vec<Buf>> = kernel.writes.iter().map(here).collect();
        let (Some(buffers), Some(writes)) = (all, writes) else {
            return Err(CodegenError::malformed("a part with a new tensor"));
        };
        world.kernels.push(Kernel { recipe: None, ..kernel });
        let kernel = world.kernels.len() - 1;
        Ok(Step::Run { kernel, buffers, writes, in_place: Vec::new(), copies: false, origin: origin.clone() })
    };
    let steps = [step(first, world)?, step(second, world)?];
    world.types.push(TensorType::new(parts.dtype, Space::of(&[parts.count.unsigned_abs()])));
    world.touched.insert(next, 2);
    Ok(Some(steps))
}
