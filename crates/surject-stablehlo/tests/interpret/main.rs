//! The interpreter.

mod cases;
mod npy;
