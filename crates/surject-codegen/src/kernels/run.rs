//! Programs on the interpreter of kernels: code generation without a machine.
//!
//! Assignments are evaluated by kernels; control flow and library operations are those of the reference interpreter.

use super::expression::{Assignment, Expression, Tensor, assignment};
use super::lower::{Launch, lower};
use super::machine::{Machine, choose};
use super::schedule::{Schedule, Schedules};
use crate::CodegenError;
use std::collections::HashMap;
use std::sync::Arc;
use surject_ir::interp::{self, Assignments, InterpError};
use surject_ir::{Buffer, FieldId, Function, Program, StatementKind, TensorType, Var};
use surject_kernel::Kernel;
use surject_kernel::interpret::{self, Counts, Options};

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct Made {
    /// How its schedule was chosen, as text.
    pub choice: String,
    /// The kernel and its tensors.
    pub launch: Launch,
}

/// The kernels of an assignment, in order, and the types of its temporaries.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// The kernels.
    pub kernels: Vec<Made>,
    /// The types of the temporaries.
    pub temporaries: Vec<TensorType>,
}

/// The assignments of a function, those inside of its control flow too, with the names of the variables they define.
pub fn assignments(function: &Function) -> Vec<(String, FieldId)> {
    let mut found = Vec::new();
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    found.push((function.name_of(*target).to_string(), *field));
                }
                StatementKind::Constant { .. } => {}
                StatementKind::Call { regions, .. } | StatementKind::If { branches: regions, .. } => {
                    work.extend(regions.iter().map(|r| &r.body));
                }
                StatementKind::While { cond, body, .. } => work.extend([&body.body, &cond.body]),
            }
        }
    }
    found
}

/// The expressions of a function by the names of their kernels: that of the variable, and a number.
pub fn expressions(function: &Function) -> Result<Vec<(String, Expression)>, CodegenError> {
    let mut all = Vec::new();
    for (name, field) in assignments(function) {
        let found = assignment(function, field)?.expressions.into_iter().enumerate();
        all.extend(found.map(|(i, expression)| (format!("{name}_{i}"), expression)));
    }
    Ok(all)
}

/// The kernels of an assignment for a machine. Kernel `n` is called `NAME_n`; a schedule that is given for it is taken
/// instead of the machine's choice.
pub fn kernels(
    function: &Function,
    field: FieldId,
    machine: &dyn Machine,
    name: &str,
    given: &Schedules,
) -> Result<Kernels, CodegenError> {
    let Assignment { expressions, temporaries } = assignment(function, field)?;
    let mut kernels = Vec::new();
    for (i, expression) in expressions.iter().enumerate() {
        let name = format!("{name}_{i}");
        kernels.push(one(expression, machine, &name, given.get(&name).cloned())?);
    }
    Ok(Kernels { kernels, temporaries })
}

fn one(
    expression: &Expression,
    machine: &dyn Machine,
    name: &str,
    given: Option<Schedule>,
) -> Result<Made, CodegenError> {
    let (choice, schedule) = match given {
        Some(schedule) => (format!("// given\n{schedule}"), schedule),
        None => {
            let choice = choose(machine, expression)?;
            (choice.to_string(), choice.proposal.schedule)
        }
    };
    let launch = lower(name, expression, &schedule)
        .map_err(|error| CodegenError::malformed(format!("the kernel `{name}`: {error}")))?;
    surject_kernel::verify(&launch.kernel).map_err(|error| CodegenError::malformed(error.to_string()))?;
    Ok(Made { choice, launch })
}

/// Runs kernels.
pub trait Executor {
    /// Runs one on its tensors, in order; an error says what went wrong.
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [interpret::Tensor]) -> Result<(), String>;
}

/// The interpreter of kernels, and what it counted.
struct Interpreter<'a> {
    options: &'a Options,
    counts: Counts,
}

impl Executor for Interpreter<'_> {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [interpret::Tensor]) -> Result<(), String> {
        let counts = interpret::run(kernel, &[], tensors, self.options).map_err(|fault| fault.to_string())?;
        self.counts.add(&counts);
        Ok(())
    }
}

/// Runs a function of a program on the interpreter of kernels. Gives the results and what was counted.
pub fn run(
    program: &Program,
    function: &str,
    arguments: &[Buffer],
    machine: &dyn Machine,
    options: &Options,
    given: &Schedules,
) -> Result<(Vec<Buffer>, Counts), InterpError> {
    let mut interpreter = Interpreter { options, counts: Counts::default() };
    let results = run_on(program, function, arguments, machine, given, &mut interpreter)?;
    Ok((results, interpreter.counts))
}

/// Runs a function of a program, and its kernels by an executor.
pub fn run_on(
    program: &Program,
    function: &str,
    arguments: &[Buffer],
    machine: &dyn Machine,
    given: &Schedules,
    executor: &mut dyn Executor,
) -> Result<Vec<Buffer>, InterpError> {
    let names = program.function(function).map(assignments).unwrap_or_default();
    let names = names.into_iter().map(|(name, field)| (field, name)).collect();
    let mut host = Host { machine, executor, given, names, made: HashMap::new() };
    interp::run_with(program, function, arguments, &mut host)
}

struct Host<'a> {
    machine: &'a dyn Machine,
    executor: &'a mut dyn Executor,
    given: &'a Schedules,
    names: HashMap<FieldId, String>,
    /// The kernels of fields, which loops run again and again.
    made: HashMap<FieldId, Arc<Kernels>>,
}

impl Assignments for Host<'_> {
    fn evaluate(
        &mut self,
        function: &Function,
        field: FieldId,
        value: &dyn Fn(Var) -> Option<Arc<Buffer>>,
    ) -> Result<Buffer, InterpError> {
        let kernels = match self.made.get(&field) {
            Some(kernels) => kernels.clone(),
            None => {
                let name = self.names.get(&field).map_or("kernel", String::as_str);
                let made = kernels(function, field, self.machine, name, self.given);
                let made = Arc::new(made.map_err(refused)?);
                self.made.insert(field, made.clone());
                made
            }
        };
        let data = &function.fields[field];
        let target = TensorType::new(data.dtype, data.space.clone());
        let mut memory: HashMap<Tensor, interpret::Tensor> = HashMap::new();
        for Made { launch, .. } in &kernels.kernels {
            let mut tensors = Vec::new();
            for &tensor in &launch.tensors {
                let found = memory.remove(&tensor);
                tensors.push(match (found, tensor) {
                    (Some(found), _) => found,
                    (None, Tensor::Var(var)) => parts_of(&*value(var).ok_or(InterpError::Undefined(var))?),
                    (None, Tensor::Target) => unwritten(&target)?,
                    (None, Tensor::Temporary(number)) => unwritten(&kernels.temporaries[number])?,
                });
            }
            self.executor.execute(&launch.kernel, &mut tensors).map_err(InterpError::Assignment)?;
            memory.extend(launch.tensors.iter().copied().zip(tensors));
        }
        let shape = shape(&target)?;
        let found = match memory.remove(&Tensor::Target) {
            Some(found) => found,
            None => unwritten(&target)?,
        };
        let unwritten = || InterpError::Assignment("an element of a result is never written".into());
        let buffer = found.to_buffer(&[found.len()]).ok_or_else(unwritten)?;
        let other = || InterpError::Malformed("a result of another size".into());
        buffer.recast(target.dtype, &shape).ok_or_else(other)
    }
}

/// What code generation does not support is not supported here either.
fn refused(error: CodegenError) -> InterpError {
    match error {
        CodegenError::Unsupported { what, origin } => {
            let reason = origin.map_or_else(|| what.clone(), |origin| format!("{what} (at {origin})"));
            InterpError::Unsupported { op: "store", reason }
        }
        other => InterpError::Assignment(other.to_string()),
    }
}

/// A buffer as a tensor of a kernel: a complex number is two elements.
fn parts_of(buffer: &Buffer) -> interpret::Tensor {
    let part = buffer.dtype().part();
    let count = if buffer.dtype() == part { buffer.len() } else { 2 * buffer.len() };
    match Buffer::from_bytes(part, &[count], buffer.bytes()) {
        Some(parts) => interpret::Tensor::of_buffer(&parts),
        None => interpret::Tensor::of_buffer(buffer),
    }
}

fn shape(ty: &TensorType) -> Result<Vec<usize>, InterpError> {
    let too_large = || InterpError::TooLarge(ty.to_string());
    let sizes = ty.space.sizes().ok_or_else(too_large)?;
    sizes.iter().map(|&n| usize::try_from(n).map_err(|_| too_large())).collect()
}

fn unwritten(ty: &TensorType) -> Result<interpret::Tensor, InterpError> {
    let parts = if ty.dtype.is_complex() { 2 } else { 1 };
    let count = shape(ty)?.iter().try_fold(parts, |n: usize, &size| n.checked_mul(size));
    let count = count.ok_or_else(|| InterpError::TooLarge(ty.to_string()))?;
    Ok(interpret::Tensor::unwritten(ty.dtype.part(), count))
}
