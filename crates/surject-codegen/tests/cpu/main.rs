//! Compiled programs against the reference interpreter.

mod assignments;
mod complex;
mod contractions;
mod fused;
mod fuzz;
mod harness;
mod interleaved;
mod library;
mod limits;
mod lines;
mod math;
mod math_double;
mod memory;
mod plans;
mod pointwise;
mod polyphase;
mod quotients;
mod rows;
mod scatters;
mod selections;
mod sorts;
mod sums;
mod sunk_gathers;
mod triangular;
mod unroll_jam;
