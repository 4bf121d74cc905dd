//! Kernels of the kernel IR as parts of compiled programs.

use super::contraction::StoredFactor;
use super::expression::Expression;
use super::legal::{Arithmetic, legal_for};
use super::machine::Machine;
use super::mlir::WriteError;
use super::schedule::{Ahead, PartLoop, Schedule, Schedules};
use crate::CodegenError;
use crate::code::{Declaration, Statement};
use std::fmt;
use std::sync::Arc;
use surject_kernel::Kernel;

/// What the tasks of a kernel do: the body of a function `(%task: i64, %worker: i64, %table: !llvm.ptr)`.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// What each does.
    pub body: Vec<Statement>,
    /// How many there are; `None`: that depends on sizes that a run gives.
    pub count: Option<i64>,
    /// The functions of the runtime that it calls.
    pub calls: Vec<Declaration>,
}

/// A machine whose kernels become code of this process.
pub trait Native: Machine {
    /// What it has beside the arithmetic of every machine.
    fn arithmetic(&self) -> Arithmetic;

    /// The tasks of a kernel, in the operations that [`legal_for`] leaves for it.
    fn tasks(&self, kernel: &Kernel) -> Result<Tasks, WriteError>;

    /// The tasks of a kernel from one number on to another, one after the other: the body of a function
    /// `(%low: i64, %high: i64, %table: !llvm.ptr)`.
    fn range_of_tasks(&self, kernel: &Kernel) -> Result<Tasks, WriteError> {
        let message = "the machine runs all tasks of a kernel".to_string();
        Err(WriteError { kernel: kernel.name.clone(), statement: None, message })
    }

    /// Is an expression better one kernel of the machine's choice, before it is decided what of it is stored, or summed in parts? An
    /// error says why not.
    fn takes(&self, expression: &Expression) -> Result<(), &'static str>;

    /// The factors of a sum of products that are better stored before it is made, so that [`Native::takes`] may take it, and others
    /// may run some rows of it at a time.
    fn stores_first(&self, _: &Expression, _in_ranges: bool) -> Vec<StoredFactor> {
        Vec::new()
    }

    /// The schedule of rows of which kernels that run together do some at a time: its tasks are these parts.
    fn parts_of_rows(&self, _: &Expression, _: &Parts) -> Result<Schedule, &'static str> {
        Err("kernels of the machine run by themselves")
    }

    /// The rows of a tile, if others can run some rows of this product at a time, which are a loop of this name, and all columns of
    /// them.
    fn rows_of_tile(&self, _: &Expression, _rows: &str) -> Result<i64, &'static str> {
        Err("kernels of the machine run by themselves")
    }

    /// The schedule of such a product whose tasks are the iterations of all of these loops but the last, which is that of rows, and
    /// ranges of so many rows.
    fn ranges_of_rows(
        &self,
        _: &Expression,
        _loops: &[String],
        _most: i64,
    ) -> Result<Schedule, &'static str> {
        Err("kernels of the machine run by themselves")
    }

    /// Are these rows so short that each lane has one? Then what is computed from
    /// their sums is in lanes too, and no part of them is better stored first.
    fn has_rows_in_lanes(&self, expression: &Expression) -> bool;
}

/// What others run of an expression at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The loops whose iterations are parts, outermost first.
    pub loops: Vec<PartLoop>,
    /// Does nothing else touch the results while a range of parts runs?
    pub alone: bool,
    /// What is prefetched meanwhile.
    pub ahead: Vec<Ahead>,
}

/// Which assignments of a compiled program have kernels of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// Those of which that is decided, with what is stored and what runs together.
    Chosen,
    /// All, each by itself.
    All,
}

/// How the kernel IR makes kernels of a compiled program.
#[derive(Clone)]
pub struct Scheduled {
    /// Whose strategies choose the schedules that are not given, and who writes the kernels.
    pub machine: Arc<dyn Native + Send + Sync>,
    /// The schedules of the user, by the names of kernels (`surject opt --emit schedule` prints them).
    pub schedules: Arc<Schedules>,
    /// Which assignments have kernels of their own.
    pub which: Which,
}

impl fmt::Debug for Scheduled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduled({}, {:?}, {:?})", self.machine.name(), self.which, self.schedules)
    }
}

impl Scheduled {
    /// A kernel in the arithmetic of the machine.
    fn legal(&self, kernel: &Kernel) -> Result<Kernel, CodegenError> {
        legal_for(kernel, self.machine.arithmetic())
            .map_err(|error| CodegenError::unsupported(error.to_string()))
    }

    /// A range of the tasks of a kernel.
    pub(crate) fn range_of_tasks(&self, kernel: &Kernel) -> Result<Tasks, CodegenError> {
        let written = self.machine.range_of_tasks(&self.legal(kernel)?);
        written.map_err(|error| CodegenError::unsupported(error.to_string()))
    }

    /// The tasks of a kernel, of which the number is known.
    pub(crate) fn tasks(&self, kernel: &Kernel) -> Result<(Tasks, i64), CodegenError> {
        let written = self.machine.tasks(&self.legal(kernel)?);
        let tasks = written.map_err(|error| CodegenError::unsupported(error.to_string()))?;
        let unknown = || format!("kernel `{}`, whose tasks are as many as a run says", kernel.name);
        let count = tasks.count.ok_or_else(|| CodegenError::unsupported(unknown()))?;
        Ok((tasks, count))
    }
}
