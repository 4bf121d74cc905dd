//! Kernels in the kernel IR, by layers; each is a module with its folder, and uses only those before it (a test checks that).
//!
//! 1. [`expression`]: what a kernel computes. An assignment becomes expressions over loops: reads are composed into
//!    addresses, accumulations are reductions, and what has no such form is stored first, or sent to its target.
//! 2. `fault`: what is wrong with a directive of a schedule, and with which of its words. `inverses`: inverses of divisors; `math`: the
//!    formulas of functions.
//! 3. What an expression is: [`contraction`], a sum of products, and how it is cut into tiles; [`transpose`], loads of points
//!    that go through tiles in shared memory; [`scan`], a scan that becomes reductions of its blocks; [`running`], one that
//!    runs along its lines.
//! 4. [`schedule`]: in which loops an expression is computed: a list of directives with a text form, checked against
//!    the expression; [`counts`]: what its threads do with memory then.
//! 5. [`chain`]: a product, rows that are computed of it, and a product of these, which become one kernel.
//! 6. [`ability`]: what schedules ask of machines.
//! 7. [`machine`]: what it has, and strategies, which propose schedules with a cost; the cheapest wins, and what lost says why.
//! 8. [`lower`]: an expression and its schedule become a kernel of [`surject_kernel`], and so does a chain.
//! 9. [`strided`]: vectors whose elements lie some apart in memory become runs of neighbours.
//! 10. [`branches`]: branches on one condition become one.
//! 11. [`quotients`]: quotients of small integers by constants become products.
//! 12. [`stages`]: a reduction with few values becomes two expressions, one for its parts.
//! 13. [`library`]: library operations become kernels.
//! 14. [`legal`]: kernels in operations that machines have: arithmetic, and no functions.
//! 15. [`mlir`]: what writers from kernels to MLIR have in common; they are the machines' own.
//! 16. [`native`]: kernels as parts of compiled programs.
//! 17. [`run`]: a program runs on the interpreter of kernels, or on another executor, one assignment after the other.
//!
//! Programs that are compiled for a CPU have all their kernels from here: products and scans while it is decided what is stored, library
//! operations then too, all others once it is decided what runs together.

pub mod ability;
pub mod branches;
pub mod chain;
pub mod contraction;
pub mod counts;
pub mod expression;
mod fault;
pub(crate) mod inverses;
pub mod legal;
pub mod library;
pub mod lower;
pub mod machine;
pub(crate) mod math;
pub mod mlir;
pub mod native;
pub mod quotients;
pub mod run;
pub mod running;
pub mod scan;
pub mod schedule;
pub mod stages;
pub mod strided;
pub mod transpose;
