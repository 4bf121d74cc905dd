//! The interpreter.

mod cases;
mod npy;
mod random;
