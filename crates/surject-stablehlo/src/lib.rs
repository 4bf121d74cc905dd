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

mod access;
pub mod artifact;
mod attr;
pub mod builder;
mod dense;
pub mod diagnostic;
mod expand;
pub mod float;
mod hash;
pub mod interpret;
pub mod lapack;
mod module;
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
pub use expand::{expand, expand_devices};
pub use module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, ValueInfo, Visibility};
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
