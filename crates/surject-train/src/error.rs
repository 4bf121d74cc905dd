//! Errors of a training program.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use surject_runtime::npy::NpyError;

/// Why a training program cannot go on. Each kind has a code, explained in `docs/errors/train.md`.
#[derive(Debug, thiserror::Error)]
#[error("error[{}]: {}", self.code(), self.message())]
pub enum TrainError {
    /// A file is missing, not readable or not writable.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file of parameters is damaged, or no such file at all.
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An element type that the file format has and a buffer has not, or the other way round.
    ElementType {
        /// The tensor.
        name: String,
        /// Its element type.
        dtype: String,
    },
    /// A file lacks parameters of the program.
    MissingParameters {
        /// The file.
        path: PathBuf,
        /// The parameters that are missing.
        names: Vec<String>,
        /// The parameters there are.
        found: Vec<String>,
    },
    /// A file has parameters that the program has not.
    UnknownParameters {
        /// The file.
        path: PathBuf,
        /// The parameters that nobody asked for.
        names: Vec<String>,
    },
    /// A parameter has another shape or element type than the program's.
    ParameterType {
        /// Where it comes from: a file, or a step's result.
        from: String,
        /// The parameter.
        name: String,
        /// Its type.
        found: String,
        /// The program's type.
        expected: String,
    },
    /// One name for two parameters.
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// A split or minibatch that cannot be made.
    Batch {
        /// What was asked for and why it cannot be had.
        reason: String,
    },
    /// A step whose arguments or results are not what its signature says.
    Signature {
        /// What does not fit.
        reason: String,
    },
    /// The loss is infinite or not a number.
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The loss.
        loss: f64,
    },
    /// A step failed.
    Step {
        /// The step, counted from 1.
        step: u64,
        /// What the back end says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A plot that cannot be drawn.
    Plot {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A row of a log that does not have a value for each column.
    LogRow {
        /// The number of values.
        found: usize,
        /// The number of columns.
        expected: usize,
    },
    /// An npy file that cannot be read or written.
    Npy(#[from] NpyError),
}

impl TrainError {
    /// The code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            TrainError::Io { .. } => "SJ0701",
            TrainError::NotSafetensors { .. } => "SJ0702",
            TrainError::ElementType { .. } => "SJ0703",
            TrainError::MissingParameters { .. } => "SJ0704",
            TrainError::UnknownParameters { .. } => "SJ0705",
            TrainError::ParameterType { .. } => "SJ0706",
            TrainError::DuplicateParameter { .. } => "SJ0707",
            TrainError::Batch { .. } => "SJ0708",
            TrainError::Signature { .. } => "SJ0709",
            TrainError::Diverged { .. } => "SJ0710",
            TrainError::Step { .. } => "SJ0711",
            TrainError::Plot { .. } => "SJ0712",
            TrainError::LogRow { .. } => "SJ0713",
            TrainError::Npy(_) => "SJ0714",
        }
    }

    fn message(&self) -> String {
        match self {
            TrainError::Io { path, source } => format!("{}: {source}", path.display()),
            TrainError::NotSafetensors { path, reason } => {
                format!("{}: not a file of parameters: {reason}", path.display())
            }
            TrainError::ElementType { name, dtype } => {
                format!("the tensor `{name}` has elements of type {dtype}, which parameters cannot have here")
            }
            TrainError::MissingParameters { path, names, found } => format!(
                "{}: there is no {}\n  = note: the file has {}",
                path.display(),
                list(names),
                if found.is_empty() { "no parameters".to_string() } else { list(found) }
            ),
            TrainError::UnknownParameters { path, names } => {
                format!("{}: the program has no parameter {}", path.display(), list(names))
            }
            TrainError::ParameterType { from, name, found, expected } => {
                format!("{from}: the parameter `{name}` is {found}, the program's is {expected}")
            }
            TrainError::DuplicateParameter { name } => format!("there are two parameters named `{name}`"),
            TrainError::Batch { reason } | TrainError::Signature { reason } => reason.clone(),
            TrainError::Diverged { step, loss } => format!(
                "the loss of step {step} is {loss}\n  = help: a smaller learning rate often helps; so do inputs of a \
                 smaller range"
            ),
            TrainError::Step { step, source } => format!("step {step} failed: {source}"),
            TrainError::Plot { path, reason } => format!("{}: cannot be drawn: {reason}", path.display()),
            TrainError::LogRow { found, expected } => {
                format!("a row of {found} values for a log of {expected} columns")
            }
            TrainError::Npy(error) => error.to_string(),
        }
    }

    /// An error of the system about a file.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> TrainError {
        let path = path.into();
        |source| TrainError::Io { path, source }
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
