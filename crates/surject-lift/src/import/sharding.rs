//! Programs for several devices, on one. Constraints only say where tensors lie; a computation that is divided among
//! the devices of a mesh, and what these tell each other, is lifted where the mesh has one device.

use super::control;
use super::cx::Cx;
use super::state::{Lifter, Result, Value};
use crate::error::LiftError;
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{LibOp, Scalar, ShardedDim, Sharding};
use surject_stablehlo::{Attribute, Attributes, Op};

/// An operation of Shardy.
pub(super) fn lift(cx: &mut Cx<'_, '_>) -> Result<()> {
    match cx.op.short_name() {
        "sharding_constraint" | "reshard" if cx.lift.sharded => {
            let op = cx.op;
            let mut value = cx.value(0)?;
            let text = match op.attributes.get("sharding") {
                Some(Attribute::Opaque(text)) => text.as_str(),
                _ => return Err(cx.invalid("no sharding")),
            };
            divide(cx.lift, op, &mut value, text)?;
            control::bind_all(cx, vec![value])
        }
        "sharding_constraint" | "reshard" | "propagation_barrier" | "data_flow_edge" => control::identity(cx),
        // A tensor says that it lies where another does.
        "sharding_group" => Ok(()),
        "manual_computation" => {
            match cx.lift.module.manual_devices(cx.op) {
                Some(1) => {}
                Some(count) => {
                    return Err(cx.unsupported(format!("a mesh of {count} devices where there is one")));
                }
                None => return Err(cx.unsupported("a mesh that the module does not describe")),
            }
            computation(cx)
        }
        "named_computation" => computation(cx),
        _ => Err(cx.unsupported("a collective of the partitioner")),
    }
}

/// What the attributes of a parameter or result say about where it lies, where shardings are kept.
pub(super) fn constrain<'m>(
    lift: &mut Lifter<'m>,
    op: &'m Op,
    value: &mut Value,
    attributes: &Attributes,
) -> Result<()> {
    match attributes.get("sdy.sharding") {
        Some(Attribute::Opaque(text)) if lift.sharded => divide(lift, op, value, text),
        _ => Ok(()),
    }
}

/// The value, with where its parts lie.
fn divide<'m>(lift: &mut Lifter<'m>, op: &'m Op, value: &mut Value, text: &str) -> Result<()> {
    let unsupported = || LiftError::unsupported(op, format!("the sharding {text}"));
    let (mesh, dims) = lift.module.sharding(text).ok_or_else(unsupported)?;
    let axis = |(name, size): (String, i64)| Some((Arc::from(name), u64::try_from(size).ok()?));
    let mesh = mesh.axes.into_iter().map(axis).collect::<Option<Vec<_>>>().ok_or_else(unsupported)?;
    let dim = |(axes, open): (Vec<String>, bool)| ShardedDim {
        axes: axes.into_iter().map(Arc::from).collect(),
        open,
    };
    let sharding = Sharding { mesh, dims: dims.into_iter().map(dim).collect() };
    if !sharding.is_valid() {
        return Err(unsupported());
    }
    let args = vec![lift.materialise(op, value)?];
    let cx = &mut Cx { lift, op };
    let targets = cx.call(LibOp::Constraint { sharding }, args, Vec::new())?;
    *value = Value::Var(targets[0]);
    Ok(())
}

/// The body with the operands as arguments.
fn computation(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let Some(body) = op.regions.first() else {
        return Err(cx.invalid("no body"));
    };
    let args = (0..op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    for (value, (_, ty)) in args.iter().zip(&body.params) {
        let declared = super::types::tensor(op, ty)?;
        if cx.lift.type_of(value).is_some_and(|found| found != declared) {
            return Err(cx.invalid(format!("an argument of type {declared} for an operand of another type")));
        }
    }
    let results = cx.lift.inline(op, body, args)?;
    control::bind_all(cx, results)
}

/// What processes tell each other, where each meets only itself: nothing changes.
pub(super) fn collective(cx: &mut Cx<'_, '_>) -> Result<()> {
    let one = cx.lift.module.processes() == 1;
    if cx.op.name == "stablehlo.collective_permute" {
        if !one {
            return Err(cx.unsupported("a program for several processes"));
        }
        // A process that nobody sends to has zeros.
        let pairs = cx.attr(cx.op.pairs("source_target_pairs"))?;
        if !pairs.contains(&(0, 0)) {
            let ty = cx.result_type(0)?;
            return cx.bind(0, Value::Splat(ty.space, Scalar::zero(ty.dtype)));
        }
        return control::identity(cx);
    }
    if !one && !cx.op.meets_itself() {
        return Err(cx.unsupported("groups of several processes"));
    }
    control::identity(cx)
}

/// The number of the process.
pub(super) fn process(cx: &mut Cx<'_, '_>) -> Result<()> {
    if cx.lift.module.processes() != 1 {
        return Err(cx.unsupported("a program for several processes"));
    }
    let ty = cx.result_type(0)?;
    cx.bind(0, Value::Splat(Space::scalar(), Scalar::zero(ty.dtype)))
}
