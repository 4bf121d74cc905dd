//! From StableHLO to [`Program`].
//!
//! Elementwise operations, data movement, contractions and reductions become stored fields ([`elementwise`],
//! [`movement`], [`contraction`], [`reduction`]); what depends on data or is an algorithm becomes a library call
//! ([`library`]); loops and branches stay what they are ([`control`]). Calls are inlined, also inside regions.
//!
//! Constants whose elements are equal are never stored: they become constant fields where they are used.
//!
//! # What is ignored, knowingly
//!
//! * Attributes of other dialects on modules, functions, parameters, results and operations: `mhlo.*` (partitions,
//!   replicas, layouts, frontend attributes), `sdy.*` and module-level `sdy.mesh` (sharding: there is one device, see
//!   [`sharding`]),
//!   `jax.*` (names of results, global constants), `tf.aliasing_output` and `jax.buffer_donor` (donation: a program
//!   has values, no buffers).
//! * `output_operand_aliases` and layouts of custom calls, except where a LAPACK routine would read the transposed
//!   matrix.
//! * `precision_config`, `algorithm` and `result_accuracy`: everything is computed at least as exactly as they ask. An
//!   algorithm with one product of tf32 rounds its operands so, so that matrix units can take them.
//! * `indices_are_sorted` and `unique_indices` are kept as promises of the program.
//! * Check operations, which [`crate::import_checks`] reads, and `interpreter.print`.

mod batch_norm;
mod chlo;
mod complex;
mod contraction;
pub(crate) mod control;
mod custom_call;
pub(crate) mod cx;
mod elementwise;
mod lapack;
mod library;
mod movement;
mod pointwise;
mod random;
mod reduction;
mod shapes;
mod sharding;
mod single;
mod size_data;
mod size_ops;
mod sizes;
mod special;
pub(crate) mod state;
mod truncate;
pub(crate) mod types;
pub(crate) use sharding::{BODY, MANUAL};

use crate::check;
use crate::error::{LiftError, Place};
use cx::Cx;
use state::{Lifter, Result, Source};
use std::borrow::Cow;
use surject_ir::{Program, TensorType};
use surject_stablehlo::{Diagnostic, Function, Module, Op, Visibility};

/// What to import and how to name the places it comes from.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportOptions<'a> {
    /// The one function to import; all public ones without it.
    pub function: Option<&'a str>,
    /// The name of the file, for the origins of statements.
    pub file: &'a str,
    /// The text of the file, from which line and column of a statement's origin are counted. May be empty.
    pub source: &'a [u8],
}

/// Imports the public functions of a module (or the one that is asked for).
///
/// The module should have passed its verifier. One that has not gives an error as well where it does not make
/// sense, but what the error says may be less to the point.
///
/// A `?` of a parameter becomes a declared size, and what the module computes from sizes exact expressions over these
/// (seed 002; reference/extents.md, section 2.4). What the module needs of sizes becomes guards of the function.
///
/// # Errors
/// Beside what is not valid or not supported: a size that is not known well enough for its use, with the operation, the
/// field and, where there is one, the fact that would decide it ([`LiftError::Dynamic`]).
pub fn import(module: &Module, options: &ImportOptions<'_>) -> std::result::Result<Program, LiftError> {
    imported(&*plain(module)?, options, None)
}

/// As [`import`], with where tensors lie on a mesh of devices, and what the devices do together: for a program that is exported
/// again, and divided by XLA's partitioner. What is divided by hand (`sdy.manual_computation`) becomes a function of its own, which
/// is optimised by itself.
///
/// # Errors
/// As [`import`]; shardings that cannot be read.
pub fn import_sharded(
    module: &Module,
    options: &ImportOptions<'_>,
) -> std::result::Result<Program, LiftError> {
    let (module, bodies) = sharding::outlined(module);
    let module = surject_stablehlo::expand(&module).map_err(|d| refused(&d))?;
    imported(&module, options, Some(&bodies))
}

/// `bodies`: the functions that hold what is divided by hand, where shardings are kept.
fn imported(
    module: &Module,
    options: &ImportOptions<'_>,
    bodies: Option<&[String]>,
) -> std::result::Result<Program, LiftError> {
    let sharded = bodies.is_some();
    let source = Source::new(options.file, options.source);
    let mut program = Program { name: module.name.clone().unwrap_or_default(), functions: Vec::new() };
    let bodies = bodies.into_iter().flatten().filter_map(|name| module.function(name));
    for function in selected(module, options)?.into_iter().chain(bodies) {
        let mut lifter = Lifter::new(module, &source, &function.name);
        lifter.sharded = sharded;
        lifter.body(function)?;
        program.functions.push(lifter.function);
    }
    Ok(program)
}

/// Imports one function for arguments of these types: every size is a number, and what the module needs of sizes is
/// checked here. The program has no symbolic size.
///
/// # Errors
/// As [`import`]; sizes that the module does not allow ([`LiftError::Sizes`]).
pub fn import_for(
    module: &Module,
    options: &ImportOptions<'_>,
    arguments: &[TensorType],
) -> std::result::Result<Program, LiftError> {
    let module = &*plain(module)?;
    let source = Source::new(options.file, options.source);
    let mut program = Program { name: module.name.clone().unwrap_or_default(), functions: Vec::new() };
    let selected = selected(module, options)?;
    let function = options.function.map_or_else(|| module.entry(), |name| module.function(name));
    let function = selected.into_iter().find(|f| function.is_none_or(|wanted| wanted.name == f.name));
    if let Some(function) = function {
        let mut lifter = Lifter::new(module, &source, &function.name);
        lifter.sizes.given = Some(arguments.to_vec());
        lifter.body(function)?;
        program.functions.push(lifter.function);
    }
    Ok(program)
}

/// The module in the element types that programs have: quantized tensors as what is stored, 4-bit integers as `i8`, small
/// floats as `f32`.
pub(crate) fn plain(module: &Module) -> std::result::Result<Cow<'_, Module>, LiftError> {
    let expanded = surject_stablehlo::expand_devices(module).and_then(|module| match module {
        Cow::Borrowed(module) => surject_stablehlo::expand(module),
        Cow::Owned(module) => Ok(Cow::Owned(surject_stablehlo::expand(&module)?.into_owned())),
    });
    expanded.map_err(|d| refused(&d))
}

/// What keeps a module from being expanded.
fn refused(d: &Diagnostic) -> LiftError {
    let (op, detail) = d.message.split_once("': ").unwrap_or(("func.func", &d.message));
    LiftError::Unsupported {
        op: op.trim_start_matches('\'').to_string(),
        detail: detail.to_string(),
        place: Place { span: d.span, location: None },
    }
}

/// Has a value of the module a shape with a `?`?
pub fn is_dynamic(module: &Module) -> bool {
    sizes::Sizes::are_dynamic(module)
}

/// The functions that the options ask for: the named one, else the public ones, else (in a module without public
/// functions) the first.
pub(crate) fn selected<'m>(module: &'m Module, options: &ImportOptions<'_>) -> Result<Vec<&'m Function>> {
    let known = || module.functions.iter().map(|f| f.name.clone()).collect();
    if let Some(name) = options.function {
        return match module.function(name) {
            Some(function) => Ok(vec![function]),
            None => Err(LiftError::NoFunction { name: name.to_string(), known: known() }),
        };
    }
    let public: Vec<&Function> = module
        .functions
        .iter()
        .filter(|f| f.visibility == Visibility::Public && !f.is_declaration())
        .collect();
    if !public.is_empty() {
        return Ok(public);
    }
    match module.entry() {
        Some(function) => Ok(vec![function]),
        None => Err(LiftError::NoFunction { name: String::from("main"), known: known() }),
    }
}

/// Lifts one operation.
pub(crate) fn dispatch<'m>(lift: &mut Lifter<'m>, op: &'m Op) -> Result<()> {
    loop {
        let merged = lift.sizes.merged;
        let known = (lift.function.vars.len(), lift.function.guards.len());
        let lifted = lift_one(lift, op);
        if lift.sizes.merged == merged {
            return lifted;
        }
        // Two sizes became one on the way, before anything was computed: what was made since may still have both.
        lift.forget_computations(op, known)?;
    }
}

fn lift_one<'m>(lift: &mut Lifter<'m>, op: &'m Op) -> Result<()> {
    let cx = &mut Cx { lift, op };
    if cx.lift.sizes.dynamic {
        // What was known when the function was inlined elsewhere does not hold here.
        cx.op.results.iter().for_each(|&id| cx.lift.sizes.forget(id));
        if size_ops::lift(cx)? || truncate::lift(cx)? {
            return Ok(());
        }
        shapes::agree(cx)?;
        shapes::infer(cx)?;
    }
    if elementwise::lift(cx)? || chlo::elementwise(cx)? {
        return Ok(());
    }
    match &*op.name {
        "func.call" | "stablehlo.composite" => return control::call(cx),
        "stablehlo.optimization_barrier" => return control::identity(cx),
        name if name.starts_with("sdy.") => return sharding::lift(cx),
        sharding::MANUAL => return sharding::kept(cx),
        _ if cx.lift.mapped.is_some() => {
            return Err(cx.unsupported("the body of a `map` must be elementwise"));
        }
        _ => {}
    }
    match &*op.name {
        // Where the shape of the result is known, so is the operand that holds it.
        "stablehlo.iota" | "stablehlo.dynamic_iota" => movement::iota(cx),
        "stablehlo.broadcast_in_dim" | "stablehlo.dynamic_broadcast_in_dim" => movement::broadcast_in_dim(cx),
        "stablehlo.broadcast" => movement::broadcast(cx),
        "stablehlo.reshape" | "stablehlo.dynamic_reshape" => movement::reshape(cx),
        "stablehlo.get_dimension_size" => movement::get_dimension_size(cx),
        "stablehlo.transpose" => movement::transpose(cx),
        "stablehlo.reverse" => movement::reverse(cx),
        "stablehlo.slice" => movement::slice(cx),
        "stablehlo.concatenate" => movement::concatenate(cx),
        "stablehlo.pad" | "stablehlo.dynamic_pad" => movement::pad(cx),
        "stablehlo.real_dynamic_slice" => movement::real_dynamic_slice(cx),
        "stablehlo.set_dimension_size" => movement::set_dimension_size(cx),
        "stablehlo.dot_general" => contraction::dot_general(cx),
        "stablehlo.dot" => contraction::dot(cx),
        "stablehlo.einsum" | "stablehlo.unary_einsum" => contraction::einsum(cx),
        "stablehlo.convolution" | "stablehlo.dynamic_conv" => contraction::convolution(cx),
        "stablehlo.reduce" => reduction::reduce(cx),
        "stablehlo.reduce_window" => reduction::reduce_window(cx),
        "stablehlo.select_and_scatter" => reduction::select_and_scatter(cx),
        "stablehlo.batch_norm_inference" => batch_norm::inference(cx),
        "stablehlo.batch_norm_training" => batch_norm::training(cx),
        "stablehlo.batch_norm_grad" => batch_norm::gradient(cx),
        "stablehlo.gather" | "stablehlo.dynamic_gather" => library::gather(cx),
        "stablehlo.torch_index_select" => library::torch_index_select(cx),
        "stablehlo.scatter" => library::scatter(cx),
        "stablehlo.dynamic_slice" => library::dynamic_slice(cx),
        "stablehlo.dynamic_update_slice" => library::dynamic_update_slice(cx),
        "stablehlo.sort" => library::sort(cx),
        "stablehlo.fft" => library::fft(cx),
        "stablehlo.rng_bit_generator" => random::bits(cx),
        "stablehlo.rng" => random::numbers(cx),
        "stablehlo.cholesky" => library::cholesky(cx),
        "stablehlo.triangular_solve" => library::triangular_solve(cx),
        "chlo.top_k" => {
            let k = cx.attr(op.int("k"))?;
            chlo::top_k(cx, k, true)
        }
        "stablehlo.map" => control::map(cx),
        "stablehlo.while" => control::while_loop(cx),
        "stablehlo.if" | "stablehlo.case" => control::branch(cx),
        "stablehlo.async_start" => control::async_start(cx),
        "stablehlo.async_done" => control::async_done(cx),
        "stablehlo.tuple" => control::tuple(cx),
        "stablehlo.get_tuple_element" => control::get_tuple_element(cx),
        "stablehlo.after_all" | "stablehlo.create_token" => control::token(cx),
        "stablehlo.custom_call" => custom_call::lift(cx),
        "stablehlo.all_reduce"
        | "stablehlo.all_gather"
        | "stablehlo.all_to_all"
        | "stablehlo.reduce_scatter"
        | "stablehlo.collective_broadcast"
        | "stablehlo.collective_permute"
        | "stablehlo.collective_reduce"
        | "stablehlo.cross-replica-sum" => sharding::collective(cx),
        "stablehlo.partition_id" | "stablehlo.replica_id" => sharding::process(cx),
        "interpreter.print" => Ok(()),
        "interpreter.probe" => check::probe(cx),
        name if name.starts_with("check.") => check::op(cx),
        _ => Err(unknown(cx)),
    }
}

/// Why an operation without an arm above is not supported.
fn unknown(cx: &Cx<'_, '_>) -> LiftError {
    let short = cx.op.short_name();
    let dynamic =
        short.starts_with("dynamic_") || short.ends_with("_dimension_size") || short == "real_dynamic_slice";
    if cx.op.name.starts_with("stablehlo.") && dynamic {
        return cx.unsupported("shapes that depend on values");
    }
    match cx.op.spec() {
        Some(_) => cx.unsupported("programs have no such operation"),
        None => cx.unsupported("an operation that is not known"),
    }
}
