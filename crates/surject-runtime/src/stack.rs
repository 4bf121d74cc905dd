//! The stack of the threads that run compiled code.
//!
//! Kernels keep panels and sums on the stack of the thread that runs a task. Workers of the pool have enough. The thread of
//! a caller may be of any size, so what it calls runs on a stack of its own where little is left.

/// The most bytes that the memory of a kernel takes of a stack.
pub const KERNEL: usize = 3 << 19;

/// What a call of compiled code needs at most: a kernel, and the frames around it.
const CALL: usize = KERNEL + (1 << 18);

/// The stack of a worker, and of a call for which the caller's does not reach.
pub(crate) const WORKER: usize = 2 * CALL;

/// Runs `f` where compiled code has the stack that it needs: on that of the caller, or on a new one.
pub(crate) fn with_enough<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(CALL, WORKER, f)
}
