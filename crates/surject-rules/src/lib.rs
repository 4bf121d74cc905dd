//! Rule files: grammar, static checks, and soundness by interpretation. This crate knows nothing of e-graphs.
//!
//! A rule has a name, an exactness class, flags, a left and a right pattern, conditions, and bindings computed
//! from maps. Users write in *index notation*, where axes that are not named are batch axes:
//!
//! ```
//! let file = surject_rules::parse(
//!     "mine.rules",
//!     "rule sum-of-scaled reassociates finite
//!        (sum [k] (* ?c ?x[k])) => (* ?c (sum [k] ?x[k]))",
//! )?;
//! assert_eq!(file.rules[0].name, "sum-of-scaled");
//! # Ok::<(), surject_rules::RuleError>(())
//! ```
//!
//! The laws of the algebra are written in *map notation*: `(read ?M (read ?N ?x)) => (read (compose ?N ?M) ?x)`.
//!
//! # What a rule promises, and to whom
//!
//! [`check`] refuses a rule file whose names, element types or spaces do not fit, and rules whose sides differ on
//! some instance. What it cannot see to is the matcher's duty:
//!
//! * A named axis of index notation stands for axes that are not empty: `(max [k] (+ ?x[k] ?c))` over no point is
//!   the neutral element, not the neutral element plus `?c`. Batch axes may be empty.
//! * A rule fires for the kinds of element types that [`Soundness::admits`]: a rule that `reassociates` or `rounds`
//!   speaks of real numbers and need not hold for integers (`a * (b / c)`).
//! * Conditions hold where [`distributes`], [`idempotent`] and the other tables say so, and only with certainty.
//! * `unread` gives the one field that is read; with a map that is not surjective there are several.

mod ast;
mod check;
mod error;
mod evaluate;
mod instance;
mod lexer;
mod lower;
mod parse;
mod print;
mod semantics;
mod soundness;
mod typing;

pub use ast::{
    AccOperator, Argument, Binding, BindingKind, Condition, ConditionName, Exactness, FillPattern, Flags,
    MapKind, MapPattern, Operator, Pattern, PatternKind, Rule, RuleFile, Sort, Span,
};
pub use check::{check, check_static};
pub use error::RuleError;
pub use instance::{Instance, TypeClass, instantiate};
pub use parse::parse;
pub use semantics::{Operation, commutative, distributes, idempotent, in_class, maps_fill, monotone, number};
pub use soundness::{Difference, Soundness, Trial, trial, verify};
