//! StableHLO in plain Rust: text and portable artifacts read and written, checked, refined, interpreted; no MLIR
//! needed.
//!
//! The data model is [`Module`] → [`Function`] → [`Region`] → [`Op`], values are [`ValueId`]s with a type in the
//! module's table, and attributes are typed ([`Attribute`]) with defaults filled in. What is known of each
//! operation stands in one [`table`] that drives reading, printing and checking.
//!
//! [`parse`] reads text, in the pretty and in the generic form, artifacts (MLIR bytecode with VHLO, as `jax.export` and
//! `stablehlo-translate` write it), and files that `jax.export` saved. [`print`](fn@print) and [`print_generic`] give
//! the text that MLIR gives, [`artifact::write`] an artifact for a version of StableHLO, and [`refine`](fn@refine()) a
//! program with static shapes for given types of its arguments. [`interpret`] runs programs.
//!
//! ```
//! use surject_stablehlo::{artifact, parse, print, refine};
//!
//! let text = "func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
//!   %0 = stablehlo.add %arg0, %arg0 : tensor<?xf32>
//!   return %0 : tensor<?xf32>
//! }";
//! let bytes = artifact::write(&parse(text)?, Some("1.0.0".parse()?))?;
//! let refined = refine(&parse(&bytes)?, &refine::parse_types("tensor<3xf32>")?)?;
//! assert!(print(&refined).contains("stablehlo.add %arg0, %arg0 : tensor<3xf32>"));
//! # Ok::<(), surject_stablehlo::Diagnostic>(())
//! ```
//!
//! A wrong program is refused with the number of the constraint that it violates, and all mistakes of a file are told at once:
//!
//! ```
//! use surject_stablehlo::check;
//!
//! let text = "func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
//!   %0 = stablehlo.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
//!   %1 = stablehlo.transpose %a, dims = [1] : (tensor<2xf32>) -> tensor<2xf32>
//!   return %0 : tensor<2xf32>
//! }";
//! let errors = check(text);
//! let told: Vec<String> = errors.iter().map(|error| error.render("wrong.mlir", text)).collect();
//! assert!(told[0].contains("wrong.mlir:2:") && told[1].contains("wrong.mlir:3:"), "{told:?}");
//! ```
//!
//! Programs run, here on two simulated devices that add up what they have:
//!
//! ```
//! use surject_stablehlo::interpret::{Value, run};
//! use surject_stablehlo::parse_and_verify;
//!
//! let module = parse_and_verify(
//!     r#"module attributes {mhlo.num_partitions = 2 : i32} {
//!   sdy.mesh @mesh = <["x"=2]>
//!   func.func @main() -> tensor<2xi32> {
//!     %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
//!     %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%part: tensor<2xi32>) {
//!       %1 = "stablehlo.all_reduce"(%part) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
//!       ^bb0(%a: tensor<i32>, %b: tensor<i32>):
//!         %2 = stablehlo.add %a, %b : tensor<i32>
//!         stablehlo.return %2 : tensor<i32>
//!       }) : (tensor<2xi32>) -> tensor<2xi32>
//!       sdy.return %1 : tensor<2xi32>
//!     } : (tensor<4xi32>) -> tensor<2xi32>
//!     return %0 : tensor<2xi32>
//!   }
//! }"#,
//! )?;
//! let results = run(&module, "main", Vec::new())?;
//! assert_eq!(results[0].as_tensor().and_then(|t| t.to_i64s()), Some(vec![4, 6]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What differs from the specification
//!
//! * Running: the page of [`interpret`] says what holds where the specification leaves something open, and where XLA differs.
//! * Types of the reference that no operation takes (`memref`, `vector`) are read and kept, and refused where a value has one.
//! * [`expand`] and [`expand_devices`] write programs with other operations: element types that are not computed with become wider
//!   ones, what is divided among devices becomes a program of one. What has no meaning then is an error that names it.
//!
//! # Operations
//!
//! Written by a test from the [`table`] that drives reading, printing and checking; `rule` is what is checked beside the number of
//! operands and the attributes.
//!
#![doc = include_str!("table/coverage.md")]

mod access;
pub mod artifact;
mod attr;
pub mod builder;
mod dense;
pub mod diagnostic;
mod expand;
pub mod float;
pub mod interpret;
pub mod lapack;
mod module;
mod name;
mod normalise;
mod parse;
mod print;
mod quantized;
pub mod refine;
mod same;
mod sharding;
pub mod table;
mod types;
mod verify;

pub use attr::{
    Attribute, Attributes, ChannelHandle, ConvAttrs, ConvDims, DotAlgorithm, DotDims, GatherDims,
    OutputOperandAlias, RaggedDims, ResultAccuracy, ScatterDims, WindowAttrs,
};
pub use dense::{DenseData, DenseElements};
pub use diagnostic::{Diagnostic, Span};
pub use expand::{expand, expand_devices, has_shards};
pub use module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, ValueInfo, Values, Visibility};
pub use name::OpName;
pub use parse::{MAX_NESTING, check, parse};
pub use print::{Options, print, print_generic, print_with};
pub use quantized::QuantizedType;
pub use refine::refine;
pub use sharding::{HloSharding, ManualComputation, Mesh, MeshAxis, ShardedDim, Subgroup, TensorSharding};
pub use types::{Dim, ElementClass, ElementType, FunctionType, TensorType, Type};
pub use verify::{Inference, verify};

/// Reads text and checks it; the first error.
pub fn parse_and_verify(source: impl AsRef<[u8]>) -> Result<Module, Diagnostic> {
    let module = parse(source)?;
    match verify(&module) {
        Ok(()) => Ok(module),
        Err(errors) => Err(errors.into_iter().next().unwrap_or_else(|| {
            Diagnostic::new(diagnostic::codes::OP_TYPE, Span::default(), "the module is not valid")
        })),
    }
}
