//! Random kernels: what the builder places is what a direct evaluation gives; and of kernels of everything that the IR has,
//! the text form, the verifier and the interpreter hold what they promise.

mod expressions;
mod features;
mod forms;
mod generate;
mod mutate;
