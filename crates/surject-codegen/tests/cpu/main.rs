//! Compiled programs against the reference interpreter.

mod harness;
mod library;
mod rows;
