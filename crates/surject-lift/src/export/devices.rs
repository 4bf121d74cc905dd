//! What the devices of a mesh do together, written again: the operations as they were, and what is divided by hand as the region
//! of its operation.

use super::error::{ExportError, ExportPlace};
use super::state::Result;
use super::writer::Writer;
use crate::import::{BODY, MANUAL};
use std::collections::HashMap;
use surject_ir::{DeviceOp, Var};
use surject_stablehlo::{
    Attribute, Function, HloSharding, ManualComputation, Mesh, Module, Op, Region, Type, ValueId, parse,
};

/// What stands where an operation of devices will.
pub(super) const PLACE: &str = "surject.devices";

impl Writer<'_, '_> {
    pub(super) fn devices(
        &mut self,
        op: &DeviceOp,
        targets: &[Var],
        operands: Vec<ValueId>,
    ) -> Result<Vec<ValueId>> {
        let types = self.var_types(targets)?;
        let text = Attribute::String(op.text.to_string());
        let built = self.op(PLACE).operands(operands).attr("text", text).results(types).build();
        self.done(built.map(|results| results.into_vec()))
    }
}

/// The operation in its text, with the module it belongs to.
fn read(text: &str) -> Option<(Module, Op)> {
    let module = parse(text).ok()?;
    let op = module.functions.first()?.body.ops.first()?.clone();
    Some((module, op))
}

/// The number of devices that an operation is for, as far as it says.
pub(super) fn count(op: &DeviceOp) -> u64 {
    let Some((module, op)) = read(&op.text) else { return 1 };
    let manual = module.manual_computation(&op);
    let mesh = manual.as_ref().and_then(ManualComputation::mesh).map(devices);
    let sharding = op.string("mhlo.sharding").ok().and_then(|text| text.parse().ok());
    let tiles = match sharding {
        Some(HloSharding::Tiled { devices, .. }) => devices.len() as u64,
        _ => 1,
    };
    let members = ["replica_groups", "source_target_pairs"].map(|name| match op.attributes.get(name) {
        Some(Attribute::Dense(ids)) => ids.to_i64s().and_then(|ids| ids.into_iter().max()).unwrap_or(0) + 1,
        _ => 1,
    });
    members.into_iter().map(|n| u64::try_from(n).unwrap_or(1)).fold(mesh.unwrap_or(1).max(tiles), u64::max)
}

fn devices(mesh: &Mesh) -> u64 {
    mesh.axes.iter().fold(1, |n, (_, size)| n.saturating_mul(u64::try_from(*size).unwrap_or(1)))
}

/// Puts the operations where their places are, and what is divided by hand into its operations.
pub(super) fn resolve(module: &mut Module) -> Result<()> {
    let mut functions = std::mem::take(&mut module.functions);
    for function in &mut functions {
        place(module, &mut function.body)?;
    }
    let mut bodies: HashMap<String, Region> = HashMap::new();
    let divided: Vec<String> = functions.iter().flat_map(|f| named(&f.body)).collect();
    // One that nothing names any more was of no use.
    let (mut waiting, mut functions): (Vec<Function>, Vec<Function>) =
        functions.into_iter().partition(|f| divided.contains(&f.name) || f.name.starts_with(BODY));
    // A computation may be inside of another: the inner ones come first.
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|f| named(&f.body).iter().all(|name| bodies.contains_key(name)));
        let ready = ready.ok_or_else(|| malformed("a manual computation inside of itself"))?;
        let mut function = waiting.swap_remove(ready);
        fill(module, &mut function.body, &bodies)?;
        if let Some(last) = function.body.ops.last_mut() {
            last.name = "sdy.return".into();
        }
        bodies.insert(function.name, function.body);
    }
    for function in &mut functions {
        fill(module, &mut function.body, &bodies)?;
        annotate(function);
    }
    module.functions = functions;
    Ok(())
}

fn malformed(message: impl Into<String>) -> ExportError {
    ExportError::Malformed { message: message.into(), place: ExportPlace::default() }
}

/// The functions that the manual computations of a region name.
fn named(region: &Region) -> Vec<String> {
    let mut names = Vec::new();
    for op in &region.ops {
        if op.name == MANUAL {
            names.extend(op.symbol("body").map(String::from));
        }
        op.regions.iter().for_each(|r| names.extend(named(r)));
    }
    names
}

fn place(module: &mut Module, region: &mut Region) -> Result<()> {
    for op in &mut region.ops {
        for inner in &mut op.regions {
            place(module, inner)?;
        }
        if op.name != PLACE {
            continue;
        }
        let read = op.string("text").ok().and_then(read);
        let (other, mut new) =
            read.ok_or_else(|| malformed("the text of an operation of devices cannot be read"))?;
        if new.operands.len() != op.operands.len() || new.results.len() != op.results.len() {
            return Err(malformed("an operation of devices with other operands or results"));
        }
        new.operands.clone_from(&op.operands);
        new.results.clone_from(&op.results);
        let types: Vec<Type> = other.values.into_iter().map(|v| v.ty).collect();
        let mut values = HashMap::new();
        for region in &mut new.regions {
            rename(module, region, &mut values, &|v| types.get(v.index()).cloned().unwrap_or(Type::None));
        }
        *op = Op { span: op.span, location: op.location.clone(), ..new };
    }
    Ok(())
}

/// Gives the values of a region new names, of these types.
fn rename(
    module: &mut Module,
    region: &mut Region,
    values: &mut HashMap<ValueId, ValueId>,
    ty: &dyn Fn(ValueId) -> Type,
) {
    let fresh = |module: &mut Module, value: &mut ValueId, values: &mut HashMap<ValueId, ValueId>| {
        let new = module.new_value(ty(*value), "");
        values.insert(*value, new);
        *value = new;
    };
    region.params.iter_mut().for_each(|(param, _)| fresh(module, param, values));
    for op in &mut region.ops {
        op.operands.iter_mut().for_each(|v| *v = values.get(v).copied().unwrap_or(*v));
        op.results.iter_mut().for_each(|v| fresh(module, v, values));
        op.regions.iter_mut().for_each(|r| rename(module, r, values, ty));
    }
}

fn fill(module: &mut Module, region: &mut Region, bodies: &HashMap<String, Region>) -> Result<()> {
    for op in &mut region.ops {
        for inner in &mut op.regions {
            fill(module, inner, bodies)?;
        }
        if op.name != MANUAL {
            continue;
        }
        let body = op.symbol("body").ok().and_then(|name| bodies.get(name));
        let mut body = body.cloned().ok_or_else(|| malformed("a manual computation without its body"))?;
        let types: Vec<Type> = module.values.iter().map(|v| v.ty.clone()).collect();
        rename(module, &mut body, &mut HashMap::new(), &|v| types[v.index()].clone());
        op.regions = vec![body];
        op.name = "sdy.manual_computation".into();
        op.attributes.remove("body");
    }
    Ok(())
}

/// Says of parameters and results how they are divided, where the body says so first or last.
fn annotate(function: &mut Function) {
    let ops = &function.body.ops;
    let said = |op: &Op| match &*op.name {
        "sdy.sharding_constraint" => Some(("sdy.sharding", op.attributes.get("sharding")?.clone())),
        "stablehlo.custom_call" if op.string("call_target_name") == Ok("Sharding") => {
            Some(("mhlo.sharding", op.attributes.get("mhlo.sharding")?.clone()))
        }
        _ => None,
    };
    for param in &mut function.params {
        let first = ops.iter().find(|op| op.operands.as_slice() == [param.value] && said(op).is_some());
        if let Some((name, value)) = first.and_then(said) {
            param.attributes.set(name, value);
        }
    }
    let Some(last) = ops.last() else { return };
    for (value, result) in last.operands.iter().zip(&mut function.results) {
        let made = ops.iter().find(|op| op.results.as_slice() == [*value]);
        if let Some((name, sharding)) = made.and_then(said) {
            result.attributes.set(name, sharding);
        }
    }
}
