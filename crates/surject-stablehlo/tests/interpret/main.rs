//! The interpreter.

mod brute;
mod cases;
mod conformance;
mod dynamic;
mod npy;
mod parallel;
mod random;
