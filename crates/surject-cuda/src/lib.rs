//! Programs on an NVIDIA GPU: what is run, on what, and in which memory.
//!
//! * [`Plan`]: a program as steps — kernels with their grids and tensors, copies, library operations that the host does,
//!   loops of so many rounds, loops and choices that the host decides by a scalar of the device — with its PTX, its constants and a place for
//!   every tensor. It prints. `surject-gpu` makes it of a program.
//! * [`call`]: calls of cuFFT, cuBLAS and cuSOLVER, in their conventions; [`settle()`] decides when a plan is loaded which
//!   of them the device does, and leaves the others to the host.
//! * [`in_place`](fn@in_place): what is made only to be copied is made where the copy goes.
//! * [`memory`]: the places: tensors that live at different times share memory; the peak is known before anything runs.
//! * [`Device`]: what a plan needs of a machine. [`Driver`] is one by CUDA's driver, which is loaded when it is asked
//!   for: a build needs no toolkit, and a machine without a driver gives [`DeviceError::NoDriver`]. [`Simulated`] is
//!   another one, which interprets PTX, for tests and dry runs.
//! * [`Pooled`]: a device that keeps memory that was given back for those who ask next.
//! * [`Session`]: a plan on a device. Constants go there once, arguments before a run, results come back after it.
//!
//! `papers/gpu` has what was measured on a GPU.

mod alternate;
pub mod call;
mod device;
mod driver;
mod in_place;
mod map;
pub mod memory;
mod name;
mod order;
mod plan;
mod pool;
pub mod probe;
mod session;
mod settle;
mod simulated;
mod stored;

pub use call::{Call, Library, Use};
pub use device::{
    Device, DeviceError, DeviceInfo, Event, Mark, Memory, Module, Recording, Scope, Shape, Stream, View,
};
pub use driver::Driver;
pub use in_place::in_place;
pub use map::TensorMap;
pub use name::DeviceName;
pub use plan::{CallStep, HostStep, Kernel, Place, Plan, PlanError, STREAMS, Step, Tensor, TensorId};
pub use pool::Pooled;
pub use session::{Counts, Host, Interpreter, LaunchTime, RunError, Session};
pub use settle::settle;
pub use simulated::{Operation, Simulated};
