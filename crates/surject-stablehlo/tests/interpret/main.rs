//! The interpreter.

mod cases;
mod conformance;
mod dynamic;
mod npy;
mod parallel;
mod random;
