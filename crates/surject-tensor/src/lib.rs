//! Tensors without shapes: the expression graph, shape and loop inference, differentiation by slots, and assignments as
//! a program.

mod declared;
pub mod dot;
pub mod elaborate;
pub mod error;
mod explain;
pub mod graph;
pub mod inline;
pub mod lower;
pub mod operator;
pub mod prelude;
mod render;
pub mod report;
pub mod spec;
pub mod tensor;
pub mod value;

pub use elaborate::{Function, Session};
pub use error::{TensorError, TensorErrorKind};
pub use graph::{Action, Graph, Kind, Node, NodeId, NodeKind, RowSizes, Site, SizeRef, Sizes, Step, StepId};
pub use inline::Layer;
pub use lower::{LowerOptions, Lowered, Port, lower};
pub use operator::Operator;
pub use report::{Report, report, report_as};
pub use tensor::Tensor;
pub use value::{Number, Size, SpecValue, Value};
