//! StableHLO text in plain Rust: parser, printer, verifier; no MLIR needed.
//!
//! The data model is [`Module`] → [`Function`] → [`Region`] → [`Op`], values are [`ValueId`]s with a type in the
//! module's table, and attributes are typed ([`Attribute`]) with defaults filled in. What is known of each
//! operation stands in one [`table`] that drives reading, printing and checking.

mod access;
mod attr;
pub mod builder;
mod dense;
pub mod diagnostic;
pub mod float;
mod module;
mod normalise;
mod parse;
mod print;
mod same;
pub mod table;
mod types;

pub use attr::{
    Attribute, Attributes, ChannelHandle, ConvAttrs, ConvDims, DotAlgorithm, DotDims, GatherDims,
    OutputOperandAlias, ResultAccuracy, ScatterDims, WindowAttrs,
};
pub use dense::{DenseData, DenseElements};
pub use diagnostic::{Diagnostic, Span};
pub use module::{Function, Module, Op, Param, Region, ResultDecl, ValueId, ValueInfo, Visibility};
pub use parse::{MAX_NESTING, parse};
pub use print::{Options, print, print_generic, print_with};
pub use types::{Dim, ElementClass, ElementType, FunctionType, TensorType, Type};
