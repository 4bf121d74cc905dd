//! Programs on the interpreter of kernels: code generation without a machine.
//!
//! Assignments and library operations are evaluated by kernels; control flow is that of the reference interpreter, and so
//! are the library operations that have no kernels.

use super::ability::Ability;
use super::branches::joined;
use super::expression::{Assignment, Expression, Tensor, assignment};
use super::library::{Call, LibraryKernels};
use super::lower::{Launch, lower};
use super::machine::{Machine, allows, choose};
use super::quotients;
use super::schedule::{Schedule, Schedules};
use super::stages::Stages;
use super::strided::runs;
use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::expression::uses;
use std::collections::HashMap;
use std::sync::Arc;
use surject_ir::interp::{self, Assignments, InterpError};
use surject_ir::{Buffer, FieldId, Function, Program, Statement, StatementKind, TensorType, Var};
use surject_kernel::Kernel;
use surject_kernel::interpret::{self, Counts, Options};

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct Made {
    /// How its schedule was chosen, as text.
    pub choice: String,
    /// What the machine's model says of it, in cycles; nothing of a schedule that was given.
    pub cost: Option<f64>,
    /// The schedule.
    pub schedule: Schedule,
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
                // Its scalar functions are parts of its kernels.
                StatementKind::Call { .. } if has_kernels(function, statement) => {}
                StatementKind::Call { regions, .. } | StatementKind::If { branches: regions, .. } => {
                    work.extend(regions.iter().map(|r| &r.body));
                }
                StatementKind::While { cond, body, .. } => work.extend([&body.body, &cond.body]),
            }
        }
    }
    found
}

/// The library operations of a function that have kernels, those inside of its control flow too, with the names of the
/// first variables they define.
pub fn calls(function: &Function) -> Vec<(String, Call<'_>)> {
    let mut found = Vec::new();
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        for statement in &block.statements {
            let call = Call::of(function, statement).filter(|call| call.refusal().is_none());
            match call.as_ref().and_then(|call| call.targets.first()) {
                Some(&target) => found.extend(call.map(|call| (function.name_of(target).to_string(), call))),
                None => work.extend(statement.regions().iter().map(|r| &r.body)),
            }
        }
    }
    found
}

fn has_kernels(function: &Function, statement: &Statement) -> bool {
    Call::of(function, statement).is_some_and(|call| call.refusal().is_none())
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

/// The kernels of an assignment for a machine. Kernel `n` is called `NAME_n`, and the first stage of one in two stages
/// `NAME_n_parts`; a scan in blocks also has `NAME_n_sums`, `NAME_n_before` and `NAME_n_rest`. A schedule that is given for
/// `NAME_n` is taken instead of the machine's choice.
pub fn kernels(
    function: &Function,
    field: FieldId,
    machine: &dyn Machine,
    name: &str,
    given: &Schedules,
) -> Result<Kernels, CodegenError> {
    let Assignment { expressions, mut temporaries } = assignment(function, field)?;
    let mut kernels = Vec::new();
    for (i, expression) in expressions.iter().enumerate() {
        let name = format!("{name}_{i}");
        let given = given.get(&name).cloned();
        // The temporaries stand behind the variables and the target.
        let buf = |number: usize| Buf((function.vars.len() + 1 + number) as u32);
        let scanned = expression.scanned().filter(|_| given.is_none());
        let block = scanned.and_then(|scanned| machine.scan_block(expression, &scanned));
        if let Some(block) = block {
            let numbers = [temporaries.len(), temporaries.len() + 1].map(|number| (number, buf(number)));
            if let Some(scan) = expression.in_scan_blocks(block, numbers)? {
                temporaries.extend([scan.temporary.clone(), scan.temporary]);
                kernels.push(one(&scan.sums, machine, &format!("{name}_sums"), None)?);
                kernels.push(one(&scan.before, machine, &format!("{name}_before"), None)?);
                for (expression, part) in scan.results.iter().zip(["", "_rest"]) {
                    kernels.push(one(expression, machine, &format!("{name}{part}"), None)?);
                }
                continue;
            }
        }
        let stages = match machine.stages(expression).filter(|_| given.is_none()) {
            Some((cut, parts)) => {
                let number = temporaries.len();
                expression.in_stages((&cut, parts), (number, buf(number)))?
            }
            None => None,
        };
        match stages {
            Some(Stages { first, second, temporary }) => {
                temporaries.push(temporary);
                kernels.push(one(&first, machine, &format!("{name}_parts"), None)?);
                kernels.push(one(&second, machine, &name, None)?);
            }
            None => kernels.push(one(expression, machine, &name, given)?),
        }
    }
    Ok(Kernels { kernels, temporaries })
}

/// The kernel of an expression, by the machine's choice.
pub fn kernel(expression: &Expression, machine: &dyn Machine, name: &str) -> Result<Made, CodegenError> {
    one(expression, machine, name, None)
}

/// The kernel of an expression by a schedule.
pub fn kernel_by(
    expression: &Expression,
    machine: &dyn Machine,
    name: &str,
    schedule: Schedule,
) -> Result<Made, CodegenError> {
    one(expression, machine, name, Some(schedule))
}

fn one(
    expression: &Expression,
    machine: &dyn Machine,
    name: &str,
    given: Option<Schedule>,
) -> Result<Made, CodegenError> {
    let malformed =
        |error: &dyn std::fmt::Display| CodegenError::malformed(format!("the kernel `{name}`: {error}"));
    let (choice, cost, schedule) = match given {
        Some(schedule) => (format!("// given\n{schedule}"), None, schedule),
        None => {
            let choice = choose(machine, expression)?;
            (choice.to_string(), Some(choice.proposal.cost), choice.proposal.schedule)
        }
    };
    let expected =
        machine.expects(expression, &schedule).map_or(String::new(), |text| format!("// {text}\n"));
    let choice = expected + &choice;
    allows(machine, &schedule).map_err(|error| malformed(&error))?;
    let mut launch = lower(name, expression, &schedule).map_err(|error| malformed(&error))?;
    if machine.abilities().contains(&Ability::Fma) {
        launch.kernel = quotients::exact(launch.kernel);
    }
    if machine.vector_bytes() > 0 {
        launch.kernel = joined(runs(launch.kernel, machine.vector_bytes()));
    }
    surject_kernel::verify(&launch.kernel).map_err(|error| CodegenError::malformed(error.to_string()))?;
    Ok(Made { choice, cost, schedule, launch })
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
    let (made, library) = (HashMap::new(), HashMap::new());
    let mut host = Host { machine, executor, given, names, made, library };
    interp::run_with(program, function, arguments, &mut host)
}

struct Host<'a> {
    machine: &'a dyn Machine,
    executor: &'a mut dyn Executor,
    given: &'a Schedules,
    names: HashMap<FieldId, String>,
    /// The kernels of fields, which loops run again and again.
    made: HashMap<FieldId, Arc<Kernels>>,
    /// The kernels of library operations, by the first variable that each defines; `None`: the interpreter's.
    library: HashMap<Var, Option<Arc<LibraryKernels>>>,
}

/// The tensors of some kernels while these run.
struct Tensors<'a> {
    /// The tensors that are stored so far.
    value: &'a dyn Fn(Var) -> Option<Arc<Buffer>>,
    /// What the kernels write, and of what type it is.
    written: Vec<(Tensor, TensorType)>,
    memory: HashMap<Tensor, interpret::Tensor>,
}

impl Tensors<'_> {
    fn take(&mut self, tensor: Tensor) -> Result<interpret::Tensor, InterpError> {
        if let Some(found) = self.memory.remove(&tensor) {
            return Ok(found);
        }
        match (self.written.iter().find(|w| w.0 == tensor), tensor) {
            (Some((_, ty)), _) => unwritten(ty),
            (None, Tensor::Var(var)) => Ok(parts_of(&*(self.value)(var).ok_or(InterpError::Undefined(var))?)),
            (None, _) => Err(InterpError::Malformed("a tensor without a type".into())),
        }
    }

    fn launch(&mut self, launch: &Launch, executor: &mut dyn Executor) -> Result<(), InterpError> {
        let tensors = launch.tensors.iter().map(|&tensor| self.take(tensor));
        let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
        executor.execute(&launch.kernel, &mut tensors).map_err(InterpError::Assignment)?;
        self.memory.extend(launch.tensors.iter().copied().zip(tensors));
        Ok(())
    }

    /// What was written, as a buffer of its type.
    fn result(&mut self, tensor: Tensor, ty: &TensorType) -> Result<Buffer, InterpError> {
        let found = self.take(tensor)?;
        let unwritten = || InterpError::Assignment("an element of a result is never written".into());
        let buffer = found.to_buffer(&[found.len()]).ok_or_else(unwritten)?;
        let other = || InterpError::Malformed("a result of another size".into());
        buffer.recast(ty.dtype, &shape(ty)?).ok_or_else(other)
    }
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
        let temporaries = kernels.temporaries.iter().cloned().enumerate();
        let mut written: Vec<_> = temporaries.map(|(i, ty)| (Tensor::Temporary(i), ty)).collect();
        written.push((Tensor::Target, target.clone()));
        let mut tensors = Tensors { value, written, memory: HashMap::new() };
        for made in &kernels.kernels {
            tensors.launch(&made.launch, self.executor)?;
        }
        tensors.result(Tensor::Target, &target)
    }

    fn call(
        &mut self,
        function: &Function,
        statement: &Statement,
        value: &dyn Fn(Var) -> Option<Arc<Buffer>>,
    ) -> Option<Result<Vec<Buffer>, InterpError>> {
        let call = Call::of(function, statement)?;
        let &first = call.targets.first()?;
        let kernels = match self.library.get(&first) {
            Some(kernels) => kernels.clone(),
            None if call.refusal().is_some() => None,
            None => match call.kernels(self.machine, function.name_of(first)) {
                Ok(made) => Some(Arc::new(made)),
                Err(error) => return Some(Err(refused(error))),
            },
        };
        self.library.insert(first, kernels.clone());
        let kernels = kernels?;
        let temporaries = kernels.temporaries.iter().cloned().enumerate();
        let mut written: Vec<_> = temporaries.map(|(i, ty)| (Tensor::Temporary(i), ty)).collect();
        written.extend(call.targets.iter().map(|&var| (Tensor::Var(var), function.ty(var).clone())));
        let mut tensors = Tensors { value, written, memory: HashMap::new() };
        let mut run = || {
            kernels.launches.iter().try_for_each(|launch| tensors.launch(launch, self.executor))?;
            // Results that nobody reads need not be written.
            let read = uses::read(function, call.targets);
            let result = |&var: &Var| match read.contains(&var) {
                true => tensors.result(Tensor::Var(var), function.ty(var)),
                false => Ok(Buffer::zeros(function.ty(var).dtype, &shape(function.ty(var))?)),
            };
            call.targets.iter().map(result).collect()
        };
        Some(run())
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
