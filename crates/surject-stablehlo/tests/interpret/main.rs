//! The interpreter.

mod brute;
mod cases;
mod conformance;
mod coverage;
mod dynamic;
mod hostile;
mod npy;
mod parallel;
mod random;
