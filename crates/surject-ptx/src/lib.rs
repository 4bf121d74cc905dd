//! An interpreter of PTX: runs the code that LLVM makes of GPU kernels, for tests.
//!
//! It knows the part of the instruction set that LLVM writes for the kernels of Surject (source: NVIDIA, "PTX ISA" 8.0):
//! arithmetic of all types, memory in all spaces with vectors, divergence, barriers, exchanges and votes of a warp,
//! atomic operations, copies in the background, `ldmatrix`, `mma.sync`, `wgmma` from shared memory, and boxes of
//! tensors (`cp.async.bulk.tensor`) that arrive at barriers with phases (`mbarrier`). Anything else is an error when the text is
//! read; so is an instruction with a modifier that would change its meaning here.
//!
//! A launch runs one block after the other. Every thread has a place of its own in the code; they run one after the other
//! up to the next instruction for which they wait for each other. What a machine would not report is an error: accesses
//! outside of every tensor, reads of registers or memory that nothing has written, addresses that are not aligned,
//! barriers that not all threads reach, exchanges with threads that do not take part, copies in the background and
//! products by four warps that are read too early or never waited for.
//!
//! ```
//! use surject_ptx::{Arg, Buffer, Grid, parse, run};
//!
//! let text = ".version 8.0
//! .target sm_80
//! .address_size 64
//! .visible .entry twice(.param .u64 p) {
//!   .reg .b32 %r<3>;
//!   .reg .b64 %rd<4>;
//!   ld.param.u64 %rd1, [p];
//!   mov.u32 %r1, %tid.x;
//!   mul.wide.u32 %rd2, %r1, 4;
//!   add.s64 %rd3, %rd1, %rd2;
//!   ld.global.b32 %r2, [%rd3];
//!   add.s32 %r2, %r2, %r2;
//!   st.global.b32 [%rd3], %r2;
//!   ret;
//! }";
//! let module = parse(text).unwrap();
//! let mut buffers = vec![Buffer::of(&[1, 0, 0, 0, 5, 0, 0, 0])];
//! let grid = Grid { blocks: [1, 1, 1], threads: 2, shared: 0 };
//! run(&module, "twice", &grid, &[Arg::Buffer(0)], &mut buffers).unwrap();
//! assert_eq!(buffers[0].bytes(), [2, 0, 0, 0, 10, 0, 0, 0]);
//! ```

mod arithmetic;
mod boxes;
mod code;
mod decode;
mod group;
mod lexer;
mod machine;
mod matrix;
mod memory;
mod parse;
mod warp;

pub use boxes::TensorMap;
pub use machine::{Arg, Counts, Grid, run};
pub use memory::Buffer;
pub use parse::{Module, parse};

/// Why a text is not read, or a run is given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// The text is not PTX, or not the part of it that is known here.
    #[error("line {line}: {message}\n  {text}")]
    Text {
        /// The line, from 1 on.
        line: usize,
        /// What is expected, or not known.
        message: String,
        /// The line itself.
        text: String,
    },
    /// The launch does not fit the kernel.
    #[error("{0}")]
    Launch(String),
    /// A thread did what it must not do.
    #[error("block {block:?}, thread {thread}, line {line}: {message}\n  {text}")]
    Fault {
        /// The block.
        block: [u32; 3],
        /// The thread.
        thread: u32,
        /// The line of the instruction.
        line: usize,
        /// What is wrong.
        message: String,
        /// The line itself.
        text: String,
    },
}
