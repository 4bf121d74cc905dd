//! What a kernel computes: a scalar expression over loops, without machine, order or memory.
//!
//! * `dag` holds the nodes, `address` affine expressions of loops and the guards on them, `output` what is stored.
//! * `build` composes every read into the addresses of the loads below it, and makes every accumulation inside of a stored
//!   field a reduction over loops of its own, by base change (`solve`). What has no such form is a `stop`, which says what
//!   must be stored first or taken apart.
//! * `polyphase` takes an output apart by the remainders of its positions, where windows run over tensors with holes: each
//!   phase visits no hole.
//! * `gather` makes gathers nodes, `complex` complex numbers pairs of nodes, `positions` and `narrow` do arithmetic on
//!   positions, `renumber` reads reshapes without a common refinement, `facts` says what values can be.
//! * `tail` finds positions along a loop beyond which a value does not change, because a guard or a mask cuts them off;
//!   `stored_tail` is what the graph keeps of those of tensors in memory. `finite_marks` say which parts of such tensors are
//!   finite.
//! * `unguarded` takes guards from loads whose elements exist without them.
//! * `partial_sums` says in which blocks long sums of floats are made.
//! * `uses` and `inline` say which variables are evaluated where they are read.

pub(crate) mod address;
pub(crate) mod build;
pub(crate) mod complex;
pub(crate) mod complex_functions;
pub(crate) mod compose;
pub(crate) mod dag;
pub(crate) mod facts;
pub(crate) mod finite_marks;
pub(crate) mod gather;
pub(crate) mod inline;
pub(crate) mod narrow;
pub(crate) mod output;
pub(crate) mod partial_sums;
pub(crate) mod polyphase;
pub(crate) mod positions;
pub(crate) mod renumber;
pub(crate) mod rewrite;
pub(crate) mod solve;
pub(crate) mod stop;
pub(crate) mod stored_tail;
pub(crate) mod tail;
pub(crate) mod unguarded;
pub(crate) mod uses;
