//! The interpreter.

mod brute;
mod cases;
mod conformance;
mod coverage;
mod dynamic;
mod npy;
mod parallel;
mod random;
