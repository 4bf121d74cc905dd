//! Why a plan does not run: what was done, for which kernel and assignment, and what the device says.

use crate::{DeviceError, PlanError};

/// Why a plan does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A wrong number of arguments.
    #[error("there are {found} arguments where {expected} are needed")]
    Count {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// An argument of another type.
    #[error("argument {index} is {found} where {expected} is needed")]
    Type {
        /// Which one, from 0.
        index: usize,
        /// Its type.
        found: String,
        /// The type needed.
        expected: String,
    },
    /// The device fails, outside of any kernel.
    #[error("{what}: {error}")]
    Device {
        /// What was done.
        what: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// A kernel fails.
    #[error("kernel `{kernel}`, of the assignment `{assignment}`: {error}")]
    Kernel {
        /// The kernel.
        kernel: String,
        /// The assignment that it computes.
        assignment: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// A call of a library fails.
    #[error("`{call}`, of the assignment `{assignment}`: {error}")]
    Call {
        /// The call.
        call: String,
        /// The variable that it is for.
        assignment: String,
        /// What went wrong.
        error: DeviceError,
    },
    /// What the host computes fails.
    #[error("`{operation}` on the host: {error}")]
    Host {
        /// What it is.
        operation: String,
        /// What went wrong.
        error: String,
    },
    /// A result does not fit in the memory of the host.
    #[error("the result `{0}` does not fit in memory")]
    Memory(String),
}

impl RunError {
    /// Is the device gone, with all that was on it?
    pub(super) fn is_lost(&self) -> bool {
        match self {
            RunError::Device { error, .. }
            | RunError::Kernel { error, .. }
            | RunError::Call { error, .. } => {
                matches!(error, DeviceError::Lost(_))
            }
            _ => false,
        }
    }
}
