//! What of an assignment is stored on the way, and the kernels that come of it.
//!
//! `store` is the driver: it pulls a field, and where that stops it stores an inner field first, splits loops or pushes
//! (`push`). It asks for what a kernel would compute again and again (`recomputed`), for sums whose epilogue is better
//! done in lanes (`epilogue`), for gathers (`gathers`, `sunk_gather`), and takes the first form that fits (`forms`): a kernel of the
//! kernel IR (`from_ir`), or one of a schedule.

pub(crate) mod epilogue;
pub(crate) mod forms;
pub(crate) mod from_ir;
pub(crate) mod gathers;
pub(crate) mod push;
pub(crate) mod recomputed;
pub(crate) mod store;
pub(crate) mod sunk_gather;
