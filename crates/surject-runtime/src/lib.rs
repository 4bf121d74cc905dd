//! What every back end needs at run time and knows nothing of programs: element types, buffers, npy files,
//! the thread pool, and library kernels behind a C ABI.

mod buffer;
pub mod caches;
pub mod compare;
mod dtype;
mod entry;
mod halves;
pub mod library;
pub mod math;
pub mod memory;
pub mod npy;
pub mod pool;
mod scalar;
mod special;
pub mod stack;
mod subnormals;
pub mod tiles;

pub use buffer::Buffer;
pub use dtype::DType;
pub use entry::Entry;
pub use scalar::Scalar;
pub use subnormals::Subnormals;
