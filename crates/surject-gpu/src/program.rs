//! Programs as plans of a GPU: kernels, library operations on the host, loops and choices.
//!
//! Every assignment becomes kernels, but for those that are the same bytes by another shape, and so do library operations that
//! have any ([`surject_codegen::kernels::library`]); kernels of one
//! text are made once. Fourier transforms, triangular systems and factorisations are calls of NVIDIA's libraries where the
//! device has these (`libraries`). What has no kernel and no call — other library operations, and assignments whose types or
//! operations a GPU has no form for — is a step of the host, which the plan says with the
//! bytes that are copied for it and why. A loop carries its values in tensors of its own: what its body
//! yields is copied there, by way of others where one carried value becomes another. Where the number of its rounds is known
//! (`rounds`) no condition is computed. Assignments that are the same in every round stand before the loop, those that
//! depend on literals alone before the first run.

use crate::Gpu;
pub mod chains;
mod depth;
mod forms;
mod libraries;
mod loops;
mod variables;

use crate::compile::{self, CompileError};
use crate::rounds::Known;
use crate::write::{self, Written};
pub use depth::depth;
use std::collections::{HashMap, HashSet};
use surject_codegen::CodegenError;
use surject_codegen::kernels::expression::{Tensor as KernelTensor, assignment};
use surject_codegen::kernels::library::{Call, LibraryKernels};
use surject_codegen::kernels::run::{Kernels, assignments, kernels};
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{HostStep, Place, Plan, PlanError, STREAMS, Step, Tensor, TensorId, in_place, memory};
use surject_ir::{
    AccOp, Block, Buffer, FieldId, FieldKind, Function, LibOp, Program, Statement, StatementKind, TensorType,
    Var, uses,
};
use variables::{free_variables, read};

/// Why a program has no plan.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The program is not well formed.
    #[error(transparent)]
    Verify(#[from] surject_ir::VerifyError),
    /// Code generation refuses it.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// The PTX cannot be made.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The memory cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// A plan without code, and the module that its code is made of.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan; its PTX is empty.
    pub plan: Plan,
    /// The kernels, as MLIR.
    pub module: String,
}

/// The plan of a function for a GPU, with its PTX.
pub fn compile(
    program: &Program,
    function: &str,
    gpu: &Gpu,
    given: &Schedules,
) -> Result<Plan, ProgramError> {
    let Planned { mut plan, module } = planned(program, function, gpu, given)?;
    if !plan.kernels.is_empty() {
        plan.ptx = compile::ptx(&module, gpu.name)?;
    }
    Ok(plan)
}

/// The plan of a function for a GPU. Its sizes are numbers: those of a call are bound first.
pub fn planned(
    program: &Program,
    function: &str,
    gpu: &Gpu,
    given: &Schedules,
) -> Result<Planned, ProgramError> {
    surject_ir::verify(program)?;
    let found = program.function(function).ok_or_else(|| CodegenError::NoFunction(function.to_string()))?;
    if let Some(guard) = found.guards.first() {
        let what = format!("the guard `{}`: bind the sizes of the call first", guard.fact);
        return Err(CodegenError::Unsupported { what, origin: None }.into());
    }
    let names = assignments(found).into_iter().map(|(name, field)| (field, name)).collect();
    let (read, unread) = read(found);
    let planner = Planner {
        function: found,
        gpu,
        given,
        names,
        places: HashMap::new(),
        numbers: HashMap::new(),
        written: Vec::new(),
        used: HashSet::new(),
        known: Known::default(),
        once: HashSet::new(),
        skipped: HashSet::new(),
        read,
        unread,
        readers: chains::readers(found),
        chains: HashMap::new(),
        plan: Plan {
            name: if program.name.is_empty() { found.name.clone() } else { program.name.clone() },
            architecture: gpu.name.to_string(),
            tensors: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            kernels: Vec::new(),
            calls: Vec::new(),
            host: Vec::new(),
            init: Vec::new(),
            steps: Vec::new(),
            constants: Vec::new(),
            arena_bytes: 0,
            streams: STREAMS,
            ptx: String::new(),
        },
    };
    planner.plan()
}

/// The most bytes of a tensor that is kept between runs, or while a loop runs.
const KEPT: u64 = 16 << 20;
/// The same of one that has one value everywhere.
const SPLAT: u64 = 4 << 10;

/// The bytes of a tensor, where its sizes are numbers.
fn bytes(ty: &TensorType) -> Option<u64> {
    let elements =
        ty.space.sizes()?.iter().try_fold(1u64, |n, &size| n.checked_mul(u64::try_from(size).ok()?));
    elements?.checked_mul(ty.dtype.size() as u64)
}

struct Planner<'a> {
    function: &'a Function,
    gpu: &'a Gpu,
    given: &'a Schedules,
    names: HashMap<FieldId, String>,
    /// Which tensor a variable is.
    places: HashMap<Var, TensorId>,
    /// The kernels so far, by their text without the names of kernels and memory; `None` where the grid has no blocks.
    numbers: HashMap<String, Option<u32>>,
    written: Vec<Written>,
    /// The names of kernels so far.
    used: HashSet<String>,
    /// Scalars that are known.
    known: Known,
    /// What depends on literals alone, and is there before the first run.
    once: HashSet<Var>,
    /// What stands before the loops that assign it, or is used nowhere.
    skipped: HashSet<Var>,
    /// The variables that something reads.
    read: HashSet<Var>,
    /// Assignments that only kernels use which compute them themselves.
    unread: HashMap<Var, &'a Statement>,
    /// How many statements read a variable.
    readers: HashMap<Var, usize>,
    /// Chains, by the variable that each defines.
    chains: HashMap<Var, chains::Chosen>,
    plan: Plan,
}

impl Planner<'_> {
    fn plan(mut self) -> Result<Planned, ProgramError> {
        for (number, &param) in self.function.params.iter().enumerate() {
            let place = Place::Argument(number as u32);
            let id = self.tensor(self.function.name_of(param), self.function.ty(param), place)?;
            self.places.insert(param, id);
            self.plan.params.push(id);
        }
        let function = self.function;
        let mut steps = self.block(&function.body)?;
        self.plan.results = self.all_typed(&function.body.results, &mut steps)?;
        self.plan.steps = steps;
        in_place(&mut self.plan);
        memory::place(&mut self.plan)?;
        self.plan.check()?;
        Ok(Planned { plan: self.plan, module: write::module(&self.written) })
    }

    /// A new tensor.
    fn tensor(&mut self, name: &str, ty: &TensorType, place: Place) -> Result<TensorId, ProgramError> {
        let sizes = ty.space.sizes().ok_or_else(|| CodegenError::Unsupported {
            what: format!("the type {ty}, whose sizes are not constant"),
            origin: None,
        })?;
        let shape = sizes.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>();
        let too_large = || CodegenError::Overflow { what: format!("`{name}`, {ty}") };
        let tensor =
            Tensor { name: name.to_string(), dtype: ty.dtype, shape: shape.ok_or_else(too_large)?, place };
        tensor.bytes().ok_or_else(too_large)?;
        let id = TensorId(self.plan.tensors.len() as u32);
        self.plan.tensors.push(tensor);
        Ok(id)
    }

    /// A new tensor of the arena.
    fn fresh(&mut self, name: &str, ty: &TensorType) -> Result<TensorId, ProgramError> {
        self.tensor(name, ty, Place::Arena(0))
    }

    /// The tensor that a variable is from here on, of the arena.
    fn define(&mut self, var: Var) -> Result<TensorId, ProgramError> {
        let id = self.fresh(self.function.name_of(var), self.function.ty(var))?;
        self.places.insert(var, id);
        Ok(id)
    }

    fn get(&self, var: Var) -> Result<TensorId, ProgramError> {
        self.places.get(&var).copied().ok_or_else(|| {
            let what = format!("`{}` is used before it is defined", self.function.name_of(var));
            CodegenError::Malformed { what, origin: None }.into()
        })
    }

    fn all(&self, vars: &[Var]) -> Result<Vec<TensorId>, ProgramError> {
        vars.iter().map(|&v| self.get(v)).collect()
    }

    /// A tensor of the type of a variable, whose place may be that of the same bytes by another type.
    fn typed(&mut self, var: Var, steps: &mut Vec<Step>) -> Result<TensorId, ProgramError> {
        let (from, ty) = (self.get(var)?, self.function.ty(var).clone());
        let tensor = self.plan.tensor(from);
        let same = ty.space.sizes().is_some_and(|sizes| {
            tensor.shape.len() == sizes.len()
                && tensor.shape.iter().zip(&sizes).all(|(&a, &b)| i64::try_from(a) == Ok(b))
        });
        if tensor.dtype == ty.dtype && same {
            return Ok(from);
        }
        let to = self.fresh(self.function.name_of(var), &ty)?;
        steps.push(Step::Copy { from, to });
        Ok(to)
    }

    fn all_typed(&mut self, vars: &[Var], steps: &mut Vec<Step>) -> Result<Vec<TensorId>, ProgramError> {
        vars.iter().map(|&v| self.typed(v, steps)).collect()
    }

    fn block(&mut self, block: &Block) -> Result<Vec<Step>, ProgramError> {
        let mut steps = Vec::new();
        self.find_chains(block);
        for statement in &block.statements {
            self.statement(statement, &mut steps)?;
        }
        Ok(steps)
    }

    fn statement(&mut self, statement: &Statement, steps: &mut Vec<Step>) -> Result<(), ProgramError> {
        let targets = statement.targets();
        if !targets.is_empty() && targets.iter().all(|target| self.skipped.contains(target)) {
            return Ok(());
        }
        match &statement.kind {
            StatementKind::Store { target, field } => {
                self.known.store(self.function, *target, *field);
                if self.unread.contains_key(target) {
                    self.once.insert(*target);
                    return Ok(());
                }
                if let Some(chosen) = self.chains.remove(target) {
                    return self.chain(*target, &chosen, steps);
                }
                if let Some(tiles) = self.masked(*target, *field) {
                    return self.store_masked(*target, *field, tiles, steps);
                }
                if self.is_once(*target, *field) {
                    return self.store_once(statement, *target, *field);
                }
                self.store(statement, *target, *field, steps)
            }
            StatementKind::Constant { target, value } => {
                if value.shape().is_empty() {
                    self.known.learn(*target, value.get(0));
                }
                self.once.insert(*target);
                let number = self.plan.constants.len() as u32;
                let (name, ty) = (self.function.name_of(*target), self.function.ty(*target));
                let id = self.tensor(name, ty, Place::Constant(number))?;
                self.plan.constants.push(Buffer::clone(value));
                self.places.insert(*target, id);
                Ok(())
            }
            StatementKind::Call { op, args, targets, .. } => self.call(statement, op, args, targets, steps),
            StatementKind::While { targets, inits, cond, body } => {
                self.repeat(targets, inits, [cond, body], steps)
            }
            StatementKind::If { targets, index, branches } => {
                let index = self.typed(*index, steps)?;
                let outputs = targets
                    .iter()
                    .map(|&t| self.define(t))
                    .collect::<Result<Vec<TensorId>, ProgramError>>()?;
                let mut lists = Vec::new();
                for branch in branches {
                    let mut list = self.block(&branch.body)?;
                    let results = self.all(&branch.body.results)?;
                    list.extend(results.iter().zip(&outputs).map(|(&from, &to)| Step::Copy { from, to }));
                    lists.push(list);
                }
                steps.push(Step::Choose { index, branches: lists });
                Ok(())
            }
        }
    }

    /// Does an assignment depend on literals alone, and is it worth its memory between the runs? One value everywhere is
    /// sooner written than copied.
    fn is_once(&self, target: Var, field: FieldId) -> bool {
        let most = match self.function.fields[field].kind {
            FieldKind::Const(_) => SPLAT,
            _ => KEPT,
        };
        bytes(self.function.ty(target)).is_some_and(|bytes| bytes <= most)
            && uses::tensors(&self.function.fields, field).iter().all(|v| self.once.contains(v))
    }

    /// What is the same bytes has the same place.
    fn same(&mut self, from: Var, to: Var) -> Result<(), ProgramError> {
        let place = self.get(from)?;
        self.places.insert(to, place);
        Ok(())
    }

    /// The variable whose bytes an assignment gives another type.
    fn copied(&self, field: FieldId) -> Option<Var> {
        let moves = matches!(
            self.function.fields[field].kind,
            FieldKind::Tensor(_) | FieldKind::Read { .. } | FieldKind::Acc { op: AccOp::Set, .. }
        );
        let made = moves.then(|| assignment(self.function, field).ok())??;
        match &made.expressions[..] {
            [only] if made.temporaries.is_empty() => only.copied(),
            _ => None,
        }
    }

    /// An assignment: kernels, or a step of the host where a GPU has no form for it.
    fn store(
        &mut self,
        statement: &Statement,
        target: Var,
        field: FieldId,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        if let Some(from) = self.copied(field) {
            return self.same(from, target);
        }
        let name = self.names.get(&field).cloned().unwrap_or_else(|| "kernel".into());
        let Kernels { kernels, temporaries } =
            match kernels(self.function, field, self.gpu, &name, self.given) {
                Ok(kernels) => kernels,
                Err(CodegenError::Unsupported { what, .. }) => {
                    return self.host(statement, "assignment", Some(what), steps);
                }
                Err(error) => return Err(error.into()),
            };
        match self.forms(kernels.iter().map(|made| &made.launch.kernel), &name) {
            Ok(forms) => {
                self.take(&forms, kernels.iter().map(|made| made.cost));
                let own = self.define(target)?;
                let between = self.temporaries(&name, &temporaries)?;
                let launches = kernels.iter().map(|made| &made.launch.tensors[..]).zip(forms);
                self.launches(launches, &HashMap::new(), Some(own), &between, steps)
            }
            Err(reason) => self.host(statement, "assignment", Some(reason), steps),
        }
    }

    /// An assignment that is done before the first run.
    fn store_once(&mut self, statement: &Statement, target: Var, field: FieldId) -> Result<(), ProgramError> {
        let mut init = std::mem::take(&mut self.plan.init);
        let done = self.store(statement, target, field, &mut init);
        self.plan.init = init;
        self.once.insert(target);
        done
    }

    /// A library operation: kernels, a copy, or a step of the host.
    fn call(
        &mut self,
        statement: &Statement,
        op: &LibOp,
        args: &[Var],
        targets: &[Var],
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let name = targets.first().map_or("kernel", |&t| self.function.name_of(t)).to_string();
        if let (LibOp::BitcastReshape { .. }, &[from], &[to]) = (op, args, targets) {
            return self.same(from, to);
        }
        if let LibOp::Fft { .. }
        | LibOp::Cholesky { .. }
        | LibOp::TriangularSolve { .. }
        | LibOp::Lapack { .. } = op
        {
            return self.library(statement, op, args, targets, steps);
        }
        let Some(call) = Call::of(self.function, statement) else {
            return self.host(statement, op.name(), None, steps);
        };
        if let Some(reason) = call.refusal() {
            return self.host(statement, op.name(), Some(reason), steps);
        }
        // In loops that fill a tensor step by step the copy goes, and only the slice is written.
        if let (LibOp::DynamicUpdateSlice, &[operand, ..], &[target]) = (op, args, targets) {
            let over = Call { in_place: &[true], ..call };
            let LibraryKernels { launches, .. } = over.kernels(self.gpu, &name)?;
            if let Ok(forms) = self.forms(launches.iter().map(|l| &l.kernel), &name) {
                let from = self.get(operand)?;
                let to = self.define(target)?;
                steps.push(Step::Copy { from, to });
                let own = HashMap::from([(target, to)]);
                let launches = launches.iter().map(|l| &l.tensors[..]).zip(forms);
                return self.launches(launches, &own, None, &[], steps);
            }
        }
        let LibraryKernels { launches, temporaries } = match call.kernels(self.gpu, &name) {
            Ok(kernels) => kernels,
            Err(CodegenError::Unsupported { what, .. }) => {
                return self.host(statement, op.name(), Some(what), steps);
            }
            Err(error) => return Err(error.into()),
        };
        match self.forms(launches.iter().map(|l| &l.kernel), &name) {
            Ok(forms) => {
                let own =
                    targets.iter().map(|&t| Ok((t, self.define(t)?))).collect::<Result<_, ProgramError>>()?;
                let between = self.temporaries(&name, &temporaries)?;
                self.launches(launches.iter().map(|l| &l.tensors[..]).zip(forms), &own, None, &between, steps)
            }
            Err(reason) => self.host(statement, op.name(), Some(reason), steps),
        }
    }

    fn temporaries(&mut self, name: &str, types: &[TensorType]) -> Result<Vec<TensorId>, ProgramError> {
        types.iter().enumerate().map(|(number, ty)| self.fresh(&format!("{name}.{number}"), ty)).collect()
    }

    /// Launches of kernels on their tensors. Those that a library operation defines are not variables before it.
    fn launches<'t>(
        &mut self,
        launches: impl Iterator<Item = (&'t [KernelTensor], Option<u32>)>,
        defined: &HashMap<Var, TensorId>,
        target: Option<TensorId>,
        between: &[TensorId],
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        for (tensors, kernel) in launches {
            // A grid without blocks computes nothing.
            let Some(kernel) = kernel else { continue };
            let missing =
                || CodegenError::Malformed { what: "a kernel without its tensors".into(), origin: None };
            let find = |tensor: &KernelTensor| match *tensor {
                KernelTensor::Var(var) => defined.get(&var).copied().map_or_else(|| self.get(var), Ok),
                KernelTensor::Target => Ok(target.ok_or_else(missing)?),
                KernelTensor::Temporary(number) => Ok(between.get(number).copied().ok_or_else(missing)?),
            };
            let tensors = tensors.iter().map(find).collect::<Result<_, ProgramError>>()?;
            steps.push(Step::Launch { kernel, tensors });
        }
        Ok(())
    }

    /// A statement that the host does.
    fn host(
        &mut self,
        statement: &Statement,
        operation: &str,
        reason: Option<String>,
        steps: &mut Vec<Step>,
    ) -> Result<(), ProgramError> {
        let inputs = free_variables(self.function, statement);
        // The host reads what kernels would have computed themselves.
        for var in
            inputs.iter().filter(|&&var| !self.places.contains_key(&var)).copied().collect::<Vec<Var>>()
        {
            if let Some(&unread) = self.unread.get(&var)
                && let StatementKind::Store { target, field } = unread.kind
            {
                self.store_once(unread, target, field)?;
            }
        }
        let own = self.all_typed(&inputs, steps)?;
        let targets = statement.targets().to_vec();
        let mut function = self.function.clone();
        function.params = inputs;
        function.guards = Vec::new();
        function.body = Block { statements: vec![statement.clone()], results: targets.clone() };
        let whole = Program { name: operation.to_string(), functions: vec![function] };
        // Through text, which holds what the statement needs and nothing else of the function.
        let text = surject_ir::print(&whole);
        let program = surject_ir::parse(&text).map_err(|error| CodegenError::Malformed {
            what: format!("a step of the host: {error}"),
            origin: statement.origin.as_deref().map(str::to_string),
        })?;
        let outputs =
            targets.iter().map(|&t| self.define(t)).collect::<Result<Vec<TensorId>, ProgramError>>()?;
        let number = self.plan.host.len() as u32;
        self.plan.host.push(HostStep { operation: operation.to_string(), reason, program });
        steps.push(Step::Host { program: number, inputs: own, outputs });
        Ok(())
    }
}
