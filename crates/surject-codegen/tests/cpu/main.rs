//! Compiled programs against the reference interpreter.

mod contractions;
mod fuzz;
mod harness;
mod library;
mod plans;
mod pointwise;
mod rows;
