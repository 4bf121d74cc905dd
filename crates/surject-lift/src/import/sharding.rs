//! Programs for several devices. On one device constraints do nothing, and a computation that is divided by hand is written out
//! for all devices before it comes here (`surject_stablehlo::expand_devices`). In a program that is written again both are kept:
//! a constraint, and what devices do together, are calls that no rule crosses.

use super::control;
use super::cx::Cx;
use super::state::{Lifter, Result, Value};
use crate::error::LiftError;
use std::collections::HashSet;
use std::sync::Arc;
use surject_index::Space;
use surject_ir::{DeviceOp, LibOp, Scalar, ShardedDim, Sharding};
use surject_stablehlo::{
    Attribute, Attributes, Function, MeshAxis, Module, Op, Param, Region, ResultDecl, Type, ValueId,
    Visibility,
};

/// A manual computation whose body is a function of its own, `body`.
pub(crate) const MANUAL: &str = "surject.manual_computation";

/// What the names of these functions start with.
pub(crate) const BODY: &str = "surject_manual_computation_";

/// The module with the body of every manual computation as a function of its own, and the names of these.
pub(super) fn outlined(module: &Module) -> (Module, Vec<String>) {
    let mut module = module.clone();
    let mut bodies = Vec::new();
    let mut functions = std::mem::take(&mut module.functions);
    let names: HashSet<String> = functions.iter().map(|f| f.name.clone()).collect();
    let mut made = Vec::new();
    for function in &mut functions {
        outline(&module, &mut function.body, &names, &mut made);
    }
    bodies.extend(made.iter().map(|f| f.name.clone()));
    functions.extend(made);
    module.functions = functions;
    (module, bodies)
}

fn outline(module: &Module, region: &mut Region, names: &HashSet<String>, made: &mut Vec<Function>) {
    for op in &mut region.ops {
        op.regions.iter_mut().for_each(|inner| outline(module, inner, names, made));
        if op.name != "sdy.manual_computation" || op.regions.len() != 1 {
            continue;
        }
        let mut number = made.len();
        let name = |number: usize| format!("{BODY}{number}");
        while names.contains(&name(number)) || made.iter().any(|f| f.name == name(number)) {
            number += 1;
        }
        let body = op.regions.remove(0);
        let results = body.terminator().map_or(&[][..], |last| &last.operands);
        let results =
            results.iter().map(|v| ResultDecl { ty: module.ty(*v).clone(), attributes: Attributes::new() });
        let param = |(value, ty): &(ValueId, Type)| Param {
            value: *value,
            ty: ty.clone(),
            attributes: Attributes::new(),
        };
        made.push(Function {
            name: name(number),
            visibility: Visibility::Private,
            explicit_public: false,
            params: body.params.iter().map(param).collect(),
            results: results.collect(),
            attributes: Attributes::new(),
            span: op.span,
            location: op.location.clone(),
            body,
        });
        // Meshes are looked up while the module is at hand: a program has none.
        for key in ["in_shardings", "out_shardings"] {
            if let Some(Attribute::Opaque(text)) = op.attributes.get(key)
                && let Some(text) = module.with_meshes(text)
            {
                op.attributes.set(key, Attribute::Opaque(text));
            }
        }
        op.name = MANUAL.into();
        op.attributes.set("body", Attribute::symbol(name(number)));
    }
}

/// The operation as a call that is written again as it stands.
pub(super) fn kept(cx: &mut Cx<'_, '_>) -> Result<()> {
    let op = cx.op;
    let mut values = (0..op.operands.len()).map(|i| cx.value(i)).collect::<Result<Vec<_>>>()?;
    let args = values.iter_mut().map(|v| cx.lift.materialise(op, v)).collect::<Result<Vec<_>>>()?;
    let results = (0..op.results.len()).map(|i| cx.result_type(i)).collect::<Result<Vec<_>>>()?;
    if results.iter().any(|ty| ty.space.sizes().is_none()) {
        return Err(cx.unsupported("what devices do together, with sizes that a call gives"));
    }
    // Meshes are looked up while the module is at hand: a program has none.
    let by_axes = matches!(op.attributes.get("replica_groups"), Some(Attribute::Opaque(_)));
    let listed = cx.lift.module.with_listed_groups(op);
    if by_axes && listed.is_none() {
        return Err(cx.unsupported("groups along the axes of a mesh that are no lists of devices"));
    }
    let text = Arc::from(alone(cx.lift.module, listed.as_ref().unwrap_or(op)));
    let targets = cx.call(LibOp::Devices { op: DeviceOp { text, results } }, args, Vec::new())?;
    control::bind_all(cx, targets.into_iter().map(Value::Var).collect())
}

/// A module of one function that holds the operation, and gives its results.
fn alone(module: &Module, op: &Op) -> String {
    let mut module = module.clone();
    let params: Vec<Param> = op
        .operands
        .iter()
        .map(|v| {
            let ty = module.ty(*v).clone();
            Param { value: module.new_value(ty.clone(), ""), ty, attributes: Attributes::new() }
        })
        .collect();
    let own = Op { operands: params.iter().map(|p| p.value).collect(), location: None, ..op.clone() };
    let results =
        op.results.iter().map(|v| ResultDecl { ty: module.ty(*v).clone(), attributes: Attributes::new() });
    let results: Vec<_> = results.collect();
    let back = Op { operands: op.results.clone(), ..Op::new("func.return") };
    let body =
        Region { params: params.iter().map(|p| (p.value, p.ty.clone())).collect(), ops: vec![own, back] };
    module.functions = vec![Function {
        name: "f".into(),
        visibility: Visibility::Public,
        explicit_public: false,
        params,
        results,
        attributes: Attributes::new(),
        body,
        span: op.span,
        location: None,
    }];
    module.other.clear();
    (module.name, module.attributes) = (None, Attributes::new());
    surject_stablehlo::print_generic(&module)
}

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
    if !lift.sharded {
        return Ok(());
    }
    if let Some(Attribute::Opaque(text)) = attributes.get("sdy.sharding") {
        return divide(lift, op, value, text);
    }
    match attributes.get("mhlo.sharding") {
        Some(Attribute::String(text)) if lift.module.processes() != 1 => annotate(lift, op, value, text),
        _ => Ok(()),
    }
}

/// The value, annotated with a sharding of HLO.
fn annotate<'m>(lift: &mut Lifter<'m>, op: &'m Op, value: &mut Value, text: &str) -> Result<()> {
    let sized = lift.type_of(value).and_then(|ty| Some((ty.space.sizes()?, ty)));
    let Some((sizes, ty)) = sized else { return Ok(()) };
    let tensor = surject_stablehlo::TensorType::new(&sizes, crate::export::element(ty.dtype));
    let quoted: String =
        text.chars().flat_map(|c| (c == '"' || c == '\\').then_some('\\').into_iter().chain([c])).collect();
    let text = format!(
        "func.func @f(%0: {tensor}) -> {tensor} {{ %1 = \"stablehlo.custom_call\"(%0) <{{backend_config = \"\", \
         call_target_name = \"Sharding\"}}> {{mhlo.sharding = \"{quoted}\"}} : ({tensor}) -> {tensor} return %1 : {tensor} }}"
    );
    let args = vec![lift.materialise(op, value)?];
    let cx = &mut Cx { lift, op };
    let kept = LibOp::Devices { op: DeviceOp { text: Arc::from(text), results: vec![ty] } };
    let targets = cx.call(kept, args, Vec::new())?;
    *value = Value::Var(targets[0]);
    Ok(())
}

/// The value, with where its parts lie.
fn divide<'m>(lift: &mut Lifter<'m>, op: &'m Op, value: &mut Value, text: &str) -> Result<()> {
    let unsupported = || LiftError::unsupported(op, format!("the sharding {text}"));
    let read = lift.module.sharding(text).ok_or_else(unsupported)?;
    let axis = |(name, size): (String, i64)| Some((Arc::from(name), u64::try_from(size).ok()?));
    let part = |axis: MeshAxis| match axis.part {
        None => Arc::from(axis.name),
        Some((before, size)) => Arc::from(format!("{}:({before}){size}", axis.name)),
    };
    let dim = |dim: surject_stablehlo::ShardedDim| ShardedDim {
        axes: dim.axes.into_iter().map(part).collect(),
        open: dim.open,
        priority: dim.priority,
    };
    let ids = read.mesh.ids.iter().map(|id| u64::try_from(*id).ok()).collect::<Option<Vec<_>>>();
    let sharding = Sharding {
        mesh: read.mesh.axes.into_iter().map(axis).collect::<Option<_>>().ok_or_else(unsupported)?,
        ids: ids.ok_or_else(unsupported)?,
        dims: read.dims.into_iter().map(dim).collect(),
        replicated: read.replicated.into_iter().map(part).collect(),
        unreduced: read.unreduced.into_iter().map(part).collect(),
    };
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

/// A collective, where each process meets only itself: nothing changes.
pub(super) fn collective(cx: &mut Cx<'_, '_>) -> Result<()> {
    let one = cx.lift.module.processes() == 1;
    if cx.lift.sharded && !one {
        return kept(cx);
    }
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
    let one = cx.lift.module.processes() == 1;
    if cx.lift.sharded && !one {
        return kept(cx);
    }
    if !one {
        return Err(cx.unsupported("a program for several processes"));
    }
    let ty = cx.result_type(0)?;
    cx.bind(0, Value::Splat(Space::scalar(), Scalar::zero(ty.dtype)))
}
