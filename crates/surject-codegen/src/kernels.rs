//! Kernels in the kernel IR, by layers; each file is one, and uses only those before it.
//!
//! 1. [`expression`]: what a kernel computes. An assignment becomes expressions over loops: reads are composed into
//!    addresses, accumulations are reductions, and what has no such form is stored first, or sent to its target.
//! 2. [`contraction`]: which expressions are sums of products, and how those are cut into tiles; [`transpose`]: which
//!    loads of points go through tiles in shared memory.
//! 3. [`schedule`]: in which loops an expression is computed: a list of directives with a text form, checked against
//!    the expression; [`counts`]: what its threads do with memory then.
//! 4. [`machine`]: strategies propose schedules with a cost; the cheapest wins, and what lost says why.
//! 5. [`lower`]: an expression and its schedule become a kernel of [`surject_kernel`].
//! 6. [`stages`]: a reduction with few values becomes two expressions, one for its parts; [`scan`]: a scan becomes
//!    reductions of its blocks.
//! 7. [`chain`]: a product, rows that are computed of it, and a product of these as one kernel.
//! 8. [`library`]: library operations become kernels over independent points.
//! 9. [`legal`]: kernels in operations that machines have: arithmetic, and no functions.
//! 10. [`mlir`]: what writers from kernels to MLIR have in common; they are the machines' own.
//! 11. [`native`]: kernels as parts of compiled programs.
//! 12. [`run`]: a program runs on the interpreter of kernels, or on another executor, one assignment after the other.
//!
//! Programs that are compiled for a CPU take from here the kernels that are at least as fast as the others
//! ([`native::Native::takes`]) and those that the user schedules, or all ([`native::Which`]). The others are made beside this, by
//! the layers `schedule` and `lower`.

pub mod chain;
pub mod contraction;
pub mod counts;
pub mod expression;
pub mod legal;
pub mod library;
pub mod lower;
pub mod machine;
pub mod mlir;
pub mod native;
pub mod run;
pub mod running;
pub mod scan;
pub mod schedule;
pub mod stages;
pub mod transpose;
