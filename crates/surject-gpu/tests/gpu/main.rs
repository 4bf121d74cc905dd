//! Kernels of a GPU without one: as PTX on its interpreter, and through NVIDIA's assembler.

mod arithmetic;
mod assembler;
mod harness;
mod kernels;
mod plans;
mod programs;
mod strategies;
mod update;
