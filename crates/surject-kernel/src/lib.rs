//! The kernel IR: what lies between the index maps of an assignment and the code of a machine.
//!
//! # Semantics
//!
//! A **kernel** is a function of sizes (`i64`) and of tensors in global memory. It has a body of statements, which run
//! one after the other. A statement defines values, each once; a value is used below its definition, in the region that
//! defines it or further inside. A value has an element type and lanes; an operation on vectors does the same in every
//! lane, with the meaning that the operation has for programs ([`surject_ir::eval`]).
//!
//! **Memory** is a list of elements of one type. What nothing has written is undefined, and reading it is an error. A
//! load or a store names its elements by an *affine* expression over index values, one element a lane, and may have
//! guards, a mask and an offset that is known at run time only. Where a guard fails or the mask does not hold there is
//! no access: a load gives its fill, a store does nothing. Any other access outside of the memory is an error. Guards
//! and addresses are expressions, not code, so that passes can reason about them; strides and bounds may be sizes, so
//! that one kernel serves many shapes.
//!
//! **Levels of parallelism.** The iterations of a `parallel(level)` loop are run by agents of that level, in any order
//! and at the same time; the loop ends when all of them have ended. On a CPU an agent is a `task`. On a GPU it is a
//! `block`, which loops one inside of the other number in several dimensions, in it a `warp` or a `thread`, and in a warp a `thread`. What stands inside of a block but outside of its
//! loop over threads is done once for the block. Threads and warps are numbered in the order of their loop, from 0 on, whatever
//! its variable is.
//!
//! **Levels of memory.** `global` memory is seen by everybody, `shared` by the agents inside of the block that made it,
//! `worker` by the task that made it; `stack` and `register` belong to the agent that made them alone.
//!
//! **Order.** Two accesses to an element, one of which writes, are a *race*, an error, unless both are atomic or
//! something orders them: one comes before the other in one agent; a common outer agent runs the loop of one after the
//! loop of the other; or a barrier that both agents take part in lies between. `barrier block` waits for all threads of
//! the block, `barrier warp` for those of the warp; that one of them does not come, or comes to another barrier, is an
//! error. An `exchange` gives every thread of a warp a value of another one; all of them take part.
//!
//! **Copies in the background.** `async_copy` reads its elements when it begins. What it writes is undefined until an
//! `async_wait` of the same agent is through; `async_commit` ends a group of copies, and `async_wait n` waits until at
//! most `n` groups are left. What an iteration of a loop over threads leaves under way passes to the iteration of the same
//! number in the next loop over threads of the same outer agent. No other agent ends before its copies.
//!
//! **Boxes in the background.** A *barrier with phases* is an element of shared `i64` memory that nothing else uses. The block
//! makes it, outside of its warps, with `phase_init n`: its first phase, number 0, begins. A phase is over when `n` warps have
//! arrived and all bytes that were expected have come; the next one begins at once. `phase_arrive` arrives, `phase_expect b`
//! arrives and expects `b` bytes more, both once for the warp. `phase_wait p` waits until a phase whose number has the lowest bit
//! `p` is over: it goes on at once where the running phase has the other one. More arrivals or bytes than a phase waits for are
//! errors, and so is a phase that is waited for and never over. `box_copy` copies a box of a tensor to shared memory: the
//! elements at `at[d] + i[d]` along each dimension `d`, for `i[d]` from 0 on to the size of the box; those outside of the extents
//! of the tensor are zero. It is done by an agent of its own: it reads and writes at any time after what its warp did before,
//! and then the bytes of the whole box come to the phase that its barrier is in. What a warp did before it arrived, and what
//! copies did whose bytes came, comes before what a warp does that has waited for this phase; nothing else of this orders
//! accesses. What a copy writes is undefined until then.
//!
//! **Products of matrices** round no product before it is summed, in the type of the sums, in which integers wrap. The interpreter
//! sums from the first term to the last; matrix units have an order of their own, and may take sums that are subnormal for zeros.
//! Where rows of a matrix are *interleaved* by `p`, the elements of `p` rows in a column lie next to each other, then those of the
//! next column: so a unit takes several terms at once. A `matmul flushed` takes factors that are subnormal for zeros.
//! A `matmul tf32` rounds the elements of both operands, which are `f32`, to 10 bits of mantissa, to nearest even, first. Four warps do a
//! `matmul group` together: each has 16 rows of `a` and of the sum, which lie below those of the warp before it, and all have
//! the same `b`.
//!
//! **Prefetches** have no effect but on time, and may name any element.
//!
//! # Where things are
//!
//! [`Kernel`] and its parts; [`Builder`], which places every value as far outside as its operands allow; [`print()`] and
//! [`parse()`], the text form; [`verify()`], which says which kernels are well formed; and [`interpret`], which runs a
//! kernel without any machine, finds the errors named above, and counts traffic, sectors, bank conflicts and operations.

mod affine;
mod boxes;
mod build;
pub mod interpret;
mod kernel;
pub mod parse;
pub mod print;
mod renumber;
pub mod rewrite;
mod types;
pub mod verify;

pub use affine::{Affine, Guard, Term};
pub use boxes::{BoxCopy, PhaseBarrier, Phasing, TensorMap};
pub use build::Builder;
pub use kernel::{
    Factors, Kernel, LoopKind, MatMulSizes, Mem, Memory, Op, Part, PartMut, Place, Region, Source, Statement,
    Team, Temporality, Tile, Value, Wanted, halves,
};
pub use parse::parse;
pub use print::{print, print_statement};
pub use surject_ir::ParseError;
pub use types::{Access, Level, Space, Type};
pub use verify::{VerifyError, verify};
