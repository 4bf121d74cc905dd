//! From [`Program`] to StableHLO: the other way of [`crate::import`], for programs as they were imported and for
//! those that the e-graph has fused and rewritten.
//!
//! Every field becomes a tensor of the shape of its space. What operation it becomes is decided by maps and by the
//! axes that fields depend on, never by names or by where the program came from ([`plan`], [`acc`],
//! [`contraction`], [`window`]); only then it is written ([`emit`], [`moves`], [`writer`]). Nested accumulations are
//! values of their own, so fusion does not show in the text. Sizes that are no constants are written by [`symbolic`] and [`symbolic_fields`]. Every module is checked by the verifier of
//! `surject-stablehlo` before it is handed on.

mod acc;
mod contraction;
mod devices;
mod emit;
mod error;
mod lapack;
mod moves;
mod plan;
mod sharding;
mod starts;
mod state;
mod statements;
mod sweep;
mod symbolic;
mod symbolic_fields;
mod window;
mod writer;

pub use error::{ExportError, ExportPlace};
pub use writer::element;

use state::{Result, State};
use surject_ir::{Function, Program};
use surject_stablehlo::builder::ModuleBuilder;
use surject_stablehlo::{Attribute, Module, Visibility};
use writer::Writer;

/// The text of a program as a StableHLO module.
pub fn export(program: &Program) -> std::result::Result<String, ExportError> {
    export_module(program).map(|module| surject_stablehlo::print(&module))
}

/// A program as a StableHLO module that the verifier accepts.
pub fn export_module(program: &Program) -> std::result::Result<Module, ExportError> {
    let mut builder = ModuleBuilder::new(&program.name);
    let partitions = i32::try_from(sharding::devices(program)).unwrap_or(i32::MAX);
    for (attribute, count) in [("mhlo.num_partitions", partitions), ("mhlo.num_replicas", 1)] {
        builder.attribute(attribute, Attribute::i32(count));
    }
    for function in &program.functions {
        export_function(&mut builder, function)?;
    }
    let mut module = builder.finish();
    if program.name.is_empty() {
        module.name = None;
    }
    devices::resolve(&mut module)?;
    sweep::sweep(&mut module);
    surject_stablehlo::verify(&module).map_err(|diagnostics| ExportError::Malformed {
        message: diagnostics.first().map_or_else(String::new, |d| d.to_string()),
        place: ExportPlace::default(),
    })?;
    Ok(module)
}

fn export_function(builder: &mut ModuleBuilder, function: &Function) -> Result<()> {
    let mut state = State::new(function);
    let mut body = builder.function(&function.name, Visibility::Public);
    let mut writer = Writer { b: &mut body, st: &mut state };
    let mut params = Vec::new();
    for &param in &function.params {
        let ty = writer.ty(function.ty(param))?;
        let value = writer.b.param(ty);
        writer.define(param, value);
        params.push(value);
    }
    if writer.st.symbolic {
        writer.declared(function, &params)?;
    }
    let results = writer.block(&function.body)?;
    body.finish(results).map_err(|d| state.diagnostic(d))
}
