//! Compiled programs against the reference interpreter.

mod contractions;
mod harness;
mod library;
mod rows;
