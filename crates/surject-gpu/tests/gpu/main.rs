//! Kernels of a GPU without one: as PTX on its interpreter, and through NVIDIA's assembler.

mod arithmetic;
mod assembler;
mod chains;
mod harness;
mod libraries;
mod kernels;
mod plans;
mod programs;
mod resources;
mod sorts;
mod strategies;
mod update;
