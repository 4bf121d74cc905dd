//! Kernels in the kernel IR, by layers; each file is one, and uses only those before it.
//!
//! 1. [`expression`]: what a kernel computes. An assignment becomes expressions over loops: reads are composed into
//!    addresses, accumulations are reductions, and what has no such form is stored first, or sent to its target.
//! 2. [`schedule`]: in which loops an expression is computed: a list of directives with a text form, checked against
//!    the expression.
//!    [`contraction`] cuts sums of products into tiles.
//! 3. [`machine`]: strategies propose schedules with a cost; the cheapest wins, and what lost says why.
//! 4. [`lower`]: an expression and its schedule become a kernel of [`surject_kernel`].
//! 5. [`legal`]: kernels for machines that have arithmetic only.
//! 6. [`run`]: a program runs on the interpreter of kernels, one assignment after the other.
//!
//! The kernels that are compiled for a CPU today are made beside this, by the modules that write MLIR text.

pub mod contraction;
pub mod expression;
pub mod legal;
pub mod lower;
pub mod machine;
pub mod run;
pub mod schedule;
