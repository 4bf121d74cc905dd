//! Compiled programs against the reference interpreter.

mod abreast;
mod assignments;
mod braids;
mod complex;
mod contractions;
mod drawn;
mod fused;
mod fuzz;
mod harness;
mod library;
mod limits;
mod lines;
mod math;
mod math_double;
mod memory;
mod phases;
mod plans;
mod pointwise;
mod quotients;
mod rows;
mod scatters;
mod selections;
mod sorts;
mod sums;
