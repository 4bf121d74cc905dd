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
//! # What classes and flags mean
//!
//! A rule replaces what its left side matches by its right side; one written `<=>` does so both ways, and what
//! follows holds both ways. At every position of the result, for every element type that the rule can have:
//!
//! * `exact`: the same bits (any NaN is any NaN).
//! * `reassociates`, `rounds`: the same real number, and a right side that is no further from it than its own
//!   rounding explains. Each operation may be wrong by one rounding of the element type (functions by a few), so a sum
//!   may be wrong by `n·ε·Σ|terms|` of this position; a sum that cancels may lose digits, one that is exact may not.
//!   A right side that loses nearly every digit on ordinary numbers is refused. What `reassociates` must hold for any
//!   functions in place of `exp`, `sqrt` and the like; what rests on what they are (`eˣ · eʸ = eˣ⁺ʸ`) is of class
//!   `rounds`. These classes speak of real numbers:
//!   what fails for integers only does not refuse the rule, which then does not fire there.
//!   In these classes sums, differences, products, quotients and powers may leave the range of the type where those
//!   of the other side do not (`1e308 + 1e308 − 1e308`): that is what another order means. What a *function* does is no
//!   question of order: `exp` that overflows on the right side alone is a fault, and so is a NaN.
//!
//! * `overflows`: as `rounds`, with all three flags.
//!
//! Flags take positions away from this:
//!
//! * `zero-sign`: the sign of a zero in the result may change; in the classes other than `exact` it may anyway.
//! * `finite`: only positions count at which every value that the left side computes, in the element type, is
//!   finite. There the right side must be finite too, and right.
//! * `no-overflow`: for floats, only positions count at which nothing on either side overflows, and nothing but zero
//!   is computed as zero on the right. Integers wrap, as programs may want: for them, only positions count at which no
//!   operation of the left side wraps; the right side must then be right, even if it wraps on the way.
//!
//! Of a `select` the operand that is taken counts.
//!
//! # What a rule promises, and to whom
//!
//! [`check`] refuses a rule file whose names, element types or spaces do not fit, and rules whose sides differ on some
//! instance. Instances try every element type, the numbers that the rule mentions and their neighbours, every
//! magnitude, special values where flags permit them, variables that are equal or nearly so, and axes of 1, 2, 3, 17,
//! 64 and 300 points, one long axis at a time, and as many points as the rule has numbers. Advice in a message has
//! passed the same tests. What [`check`] cannot see to is the matcher's duty:
//!
//! * A named axis of index notation stands for axes that are not empty: `(max [k] (+ ?x[k] ?c))` over no point is
//!   the neutral element, not the neutral element plus `?c`. Batch axes may be empty.
//! * A rule fires for the kinds of element types that [`Soundness::admits`]: a rule that `reassociates` or `rounds`
//!   speaks of real numbers and need not hold for integers (`a * (b / c)`).
//! * Conditions hold where [`distributes`], [`idempotent`] and the other tables say so, and only with certainty.
//! * `unread` gives the one field that is read; with a map that is not surjective there are several.

mod ast;
mod check;
mod enclosure;
mod error;
mod evaluate;
mod instance;
mod lexer;
mod lower;
mod parse;
mod places;
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
pub use soundness::{Difference, Soundness, Trial, counts_everywhere, trial, verify};
