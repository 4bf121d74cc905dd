//! End-to-end tests over the command: programs, stages, and wrong input.

mod agreement;
mod bench;
mod bugs;
mod cases;
mod code;
mod command;
mod convert;
mod cuda;
mod gradients;
mod infer;
mod native;
mod polymorphic;
mod rule_files;
mod stages;
mod suite;
mod support;
mod walk;
mod wrong_input;
