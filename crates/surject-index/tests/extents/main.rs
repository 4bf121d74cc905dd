//! The algebra of sizes (seed 002). Which test answers which requirement of reference/extents.md, section 1, is the table of
//! `papers/extents/README.md`.
//!
//! Section 3.5 is `queries`; section 3.3 is `random` (also the order of facts and renaming); are in
//! `queries`, A-27 is maps `maps_with_symbolic_sizes_are_decided`, A-28 is ir
//! `undecided_sizes_are_refused_with_the_fact_that_decides` and its sixth program.

mod brute;
mod kinds;
mod maps;
mod queries;
mod random;
mod reference;
mod text;
