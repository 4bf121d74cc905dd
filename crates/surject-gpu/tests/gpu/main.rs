//! Kernels of a GPU without one: as PTX on its interpreter, and through NVIDIA's assembler.

mod arithmetic;
mod assembler;
mod boxes;
mod chain_plans;
mod chains;
mod counts;
mod faults;
mod grids;
mod groups;
mod harness;
mod kernels;
mod libraries;
mod plans;
mod programs;
mod resources;
mod sorts;
mod strategies;
mod strategy_cases;
mod tf32;
mod units;
mod update;
