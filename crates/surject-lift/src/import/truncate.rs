//! Operations that keep the first elements along an axis, as many as the data of a run says: `set_dimension_size`, and
//! `real_dynamic_slice` from the start (seed 002, `DynamicTruncate`; reference/extents.md, section 2.3). The size is declared,
//! and bounded by the size before.

use super::cx::Cx;
use super::sizes::{depends_on_data, number};
use super::state::{Result, Value};
use super::types;
use surject_index::{Extent, Fact, Relation, ScalarSemantics};
use surject_ir::LibOp;

/// Lifts such an operation; `false` where its sizes do not depend on data, or where one program has no name for them: in a
/// loop or a branch, or where it is imported for one call.
pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<bool> {
    if cx.lift.in_region() || cx.lift.mapped.is_some() || cx.lift.sizes.given.is_some() {
        return Ok(false);
    }
    let own = match &*cx.op.name {
        "stablehlo.set_dimension_size" | "stablehlo.real_dynamic_slice" => cx.operand_type(0)?.space,
        _ => return Ok(false),
    };
    let found = match &*cx.op.name {
        "stablehlo.set_dimension_size" => {
            let axis = cx.attr(cx.op.int("dimension"))?;
            let axis = types::axis(cx.op, axis, own.rank(), "dimension")?;
            cx.known(1)?.and_then(|known| known.elements.first().cloned()).map(|size| (axis, size))
        }
        _ => kept(cx, own.extents())?,
    };
    let Some((axis, size)) = found else { return Ok(false) };
    if !depends_on_data(std::slice::from_ref(&size)) || cx.lift.by_scalar(&size).is_some() {
        return Ok(false);
    }
    let scalar = cx.lift.size_field(cx.op, &size)?;
    let scalar = cx.stored(scalar);
    let name = cx.lift.new_size("u");
    let before = own.extent(axis).clone();
    let op = LibOp::DynamicTruncate { axis, semantics: ScalarSemantics::IntegerSize, size: name.clone() };
    cx.lift.sizes.truncated.push(Fact::new(name, Relation::Le, before));
    cx.lift.learn(cx.op)?;
    let operand = cx.var(0)?;
    let targets = cx.call(op, vec![operand, scalar], Vec::new())?;
    let ty = cx.lift.function.ty(targets[0]).clone();
    if let Some(declared) = cx.lift.module.tensor(cx.op.results[0]).cloned() {
        cx.lift.claim(cx.op, "the result", &declared, ty.space.extents().to_vec())?;
    }
    cx.lift.sizes.types.insert(cx.op.results[0], ty);
    cx.bind(0, Value::Var(targets[0]))?;
    Ok(true)
}

/// The axis of which only the first elements are kept, and how many: everything of the others, from the start, in steps of 1.
fn kept(cx: &mut Cx<'_, '_>, own: &[Extent]) -> Result<Option<(usize, Extent)>> {
    let (Some(starts), Some(limits), Some(strides)) = (cx.known(1)?, cx.known(2)?, cx.known(3)?) else {
        return Ok(None);
    };
    let is = |elements: &[Extent], value: i128| elements.iter().all(|e| number(e) == Some(value));
    if !is(&starts.elements, 0) || !is(&strides.elements, 1) || limits.elements.len() != own.len() {
        return Ok(None);
    }
    let cut: Vec<usize> =
        (0..own.len()).filter(|&a| !cx.lift.same(&limits.elements[a], &own[a]).is_yes()).collect();
    Ok(match cut[..] {
        [axis] => Some((axis, limits.elements[axis].clone())),
        _ => None,
    })
}
