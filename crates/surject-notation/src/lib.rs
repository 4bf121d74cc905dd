//! The notation of tensor programs.
//!
//! Two texts describe a tensor program, and both are read here, once, for every consumer (the `.sj` files, the
//! macros over the same grammar, and the command):
//!
//! * [`spec`] — which axes of an operation are one axis: `... s|h d; ... t|h d => ... s|t->h`;
//! * [`source`] — programs of tensors and assignments: `let y = relu({ w } * x + { b });`.
//!
//! This crate knows nothing of sizes that are inferred, of loops, or of element types: it gives trees with
//! positions, or one [`NotationError`] that points at the place. What the trees mean is said at each type; which
//! constraints they give is the matter of the crates above.
//!
//! ```
//! use surject_notation::Spec;
//!
//! let spec = Spec::parse("ij;jk=>ik")?;
//! assert_eq!(spec.operands.len(), 2);
//! assert_eq!(spec.to_string(), "ij;jk=>ik");
//!
//! let wrong = Spec::parse("ij;jk=ik").unwrap_err();
//! assert_eq!(wrong.code(), "SJ0510");
//! # Ok::<(), surject_notation::NotationError>(())
//! ```

pub mod error;
pub mod source;
pub mod span;
pub mod spec;

pub use error::{NotationError, NotationErrorKind};
pub use span::Span;
pub use spec::{ShapeSpec, Spec};
