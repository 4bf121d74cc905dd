//! The kernels of a function together: their order, fusion, memory, and the module.
//!
//! * `stored` makes assignments of large results that nothing stores, `steps` walks control flow, `hoist` takes out of a
//!   loop what it repeats in vain, `swap` lets two of its variables change places.
//! * `scheduled` puts kernels of the kernel IR in place of others, `rows_of_ir` in place of rows that run by themselves.
//! * `fuse` runs kernels together, `order` changes the order of the steps, `memory_limit` ends a chain of fused kernels where
//!   their memory would exceed that of the kernels alone.
//! * `live`, `coalesce` and `memory` plan memory, `plan` describes what was decided, `host` writes the module, `cold` marks
//!   kernels that are compiled with the least effort.

pub(crate) mod coalesce;
pub(crate) mod cold;
pub(crate) mod fuse;
pub(crate) mod hoist;
pub(crate) mod host;
pub(crate) mod live;
pub(crate) mod lowered;
pub(crate) mod memory;
pub(crate) mod memory_limit;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod rows_of_ir;
pub(crate) mod scheduled;
pub(crate) mod steps;
pub(crate) mod stored;
pub(crate) mod swap;
