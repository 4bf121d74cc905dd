//! StableHLO text in plain Rust: parser, printer, verifier; no MLIR needed.
//!
//! The data model is [`Module`] → [`Function`] → [`Region`] → [`Op`], values are [`ValueId`]s with a type in the
//! module's table, and attributes are typed ([`Attribute`]) with defaults filled in. What is known of each
//! operation stands in one [`table`] that drives reading, printing and checking.

mod access;
pub mod artifact;
mod attr;
pub mod builder;
mod dense;
pub mod diagnostic;
pub mod float;
mod hash;
pub mod interpret;
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
    OutputOperandAlias, ResultAccuracy, ScatterDims, WindowAttrs,
};
pub use dense::{DenseData, DenseElements};
pub use diagnostic::{Diagnostic, Span};
pub use module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, ValueInfo, Visibility};
pub use parse::{MAX_NESTING, check, parse};
pub use print::{Options, print, print_generic, print_with};
pub use quantized::QuantizedType;
pub use sharding::Mesh;
pub use refine::refine;
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
