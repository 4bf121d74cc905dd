//! The reference interpreter: what a [`Program`] means, computed in the plainest way that is not wasteful.
//!
//! Every accumulation of a stored field is materialised over its own space by a loop over its product space in
//! row-major order; everything else is evaluated point by point from a tape, so that no product space takes
//! memory. Sums and products of `f16` and `bf16` are accumulated in `f32` and rounded once.
//!
//! Symbolic extents take their values from the arguments.

mod error;
mod library;
#[cfg(test)]
mod oracle;
mod plan;
mod region;
mod tape;
mod truncate;
mod windows;

pub use error::InterpError;
pub use truncate::computed_sizes;

use crate::bind::Arguments;
use crate::{
    Block, Buffer, Call, ComputedSizes, DType, FieldId, Fields, Function, LibOp, Program, Region, Scalar,
    Statement, StatementKind, Var,
};
use plan::Plan;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use surject_index::{Extent, ExtentEnv, ScalarSemantics, Space};
use truncate::truncate;

/// The largest tensor that the interpreter makes, in bytes.
const MAX_BYTES: usize = 1 << 36;

/// How far a run may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The number of iterations of all loops together; unlimited if absent.
    pub iterations: Option<u64>,
}

/// Runs a function on these arguments.
///
/// The program is verified first.
pub fn run(program: &Program, function: &str, args: &[Buffer]) -> Result<Vec<Buffer>, InterpError> {
    run_within(program, function, args, Limits::default())
}

/// As [`run`], within limits.
pub fn run_within(
    program: &Program,
    function: &str,
    args: &[Buffer],
    limits: Limits,
) -> Result<Vec<Buffer>, InterpError> {
    started(program, function, args, limits)?.results()
}

/// Evaluates the assignments of a run in place of the interpreter, and library operations where it can.
pub trait Assignments {
    /// The value of a stored field of a function, where `value` gives the tensors that are stored so far.
    fn evaluate(
        &mut self,
        function: &Function,
        field: FieldId,
        value: &dyn Fn(Var) -> Option<Arc<Buffer>>,
    ) -> Result<Buffer, InterpError>;

    /// The results of a statement that calls a library operation; `None` leaves it to the interpreter.
    fn call(
        &mut self,
        _function: &Function,
        _statement: &Statement,
        _value: &dyn Fn(Var) -> Option<Arc<Buffer>>,
    ) -> Option<Result<Vec<Buffer>, InterpError>> {
        None
    }
}

/// As [`run`], where somebody else evaluates the assignments; control flow stays here, and what is left of library operations.
pub fn run_with<'a>(
    program: &'a Program,
    function: &str,
    args: &'a [Buffer],
    assignments: &'a mut dyn Assignments,
) -> Result<Vec<Buffer>, InterpError> {
    let mut machine = started(program, function, args, Limits::default())?;
    machine.assignments = Some(assignments);
    machine.results()
}

/// A run of a function that is well formed, before its first statement.
fn started<'a>(
    program: &'a Program,
    function: &str,
    args: &'a [Buffer],
    limits: Limits,
) -> Result<Machine<'a>, InterpError> {
    let function = program.function(function).ok_or_else(|| InterpError::NoFunction(function.to_string()))?;
    crate::verify::function(function)?;
    Machine::new(function, args, limits)
}

/// The value of one field of a function, where `tensors` gives the stored tensors it reads. Symbolic extents
/// have no value here. The function is not verified: a malformed field is an error or a wrong value.
pub fn field(
    function: &Function,
    field: FieldId,
    tensors: &HashMap<Var, Arc<Buffer>>,
) -> Result<Buffer, InterpError> {
    // The work is that of the field: a pass asks this for many fields of a function with many variables.
    let mut machine = Machine {
        function,
        args: &[],
        values: Vec::new(),
        given: Some(tensors),
        assignments: None,
        plans: HashMap::new(),
        computed: ComputedSizes::new(),
        iterations: 0,
        limits: Limits::default(),
    };
    machine.field(field).map(Arc::unwrap_or_clone)
}

/// One run of a function.
struct Machine<'a> {
    function: &'a Function,
    args: &'a [Buffer],
    /// The values of the variables that are defined so far, by [`Var`].
    values: Vec<Option<Arc<Buffer>>>,
    /// Values from outside, where one field is evaluated instead of a function.
    given: Option<&'a HashMap<Var, Arc<Buffer>>>,
    /// Who evaluates assignments, if not this.
    assignments: Option<&'a mut dyn Assignments>,
    /// How each stored field is computed, so that a loop plans it once.
    plans: HashMap<FieldId, Rc<Plan>>,
    /// The sizes that data has given so far.
    computed: ComputedSizes,
    iterations: u64,
    limits: Limits,
}

impl<'a> Machine<'a> {
    fn new(function: &'a Function, args: &'a [Buffer], limits: Limits) -> Result<Machine<'a>, InterpError> {
        if args.len() != function.params.len() {
            return Err(InterpError::Arguments { expected: function.params.len(), found: args.len() });
        }
        let values = vec![None; function.vars.len()];
        let mut machine = Machine {
            function,
            args,
            values,
            given: None,
            assignments: None,
            plans: HashMap::new(),
            computed: ComputedSizes::new(),
            iterations: 0,
            limits,
        };
        for (&param, arg) in function.params.iter().zip(args) {
            // What has a size that data gives is compared when that is known.
            if !machine.is_late(param) {
                machine.fits(param, arg)?;
            }
            machine.values[param.0 as usize] = Some(Arc::new(arg.clone()));
        }
        Call { function, arguments: args }.check()?;
        // A size without a value ends the run before it begins.
        for (number, info) in function.vars.iter().enumerate() {
            if info.ty.space.sizes().is_none() && !machine.is_late(Var(number as u32)) {
                machine.sizes(&info.ty.space)?;
            }
        }
        Ok(machine)
    }

    /// Does a variable have a size that the data of the run gives?
    fn is_late(&self, var: Var) -> bool {
        let extents = self.function.ty(var).space.extents();
        extents.iter().any(|e| e.as_const().is_none() && self.function.mentions_computed(e))
    }

    /// Compares an argument with the type of its parameter.
    fn fits(&self, param: Var, arg: &Buffer) -> Result<(), InterpError> {
        let ty = self.function.ty(param);
        let shape: Vec<i64> = arg.shape().iter().map(|&n| n as i64).collect();
        if ty.dtype == arg.dtype() && self.sizes(&ty.space)? == shape {
            return Ok(());
        }
        Err(InterpError::Argument {
            name: self.function.name_of(param).to_string(),
            expected: ty.clone(),
            found: format!("{}{:?}", arg.dtype(), arg.shape()),
        })
    }

    /// Runs the function.
    fn results(&mut self) -> Result<Vec<Buffer>, InterpError> {
        self.block(&self.function.body)?;
        self.function.body.results.iter().map(|&r| self.value(r).map(|b| Buffer::clone(b))).collect()
    }

    fn fields(&self) -> &'a Fields {
        &self.function.fields
    }

    /// The sizes of a space in this run.
    fn sizes(&self, space: &Space) -> Result<Vec<i64>, InterpError> {
        let size = |e: &surject_index::Extent| {
            let value = e.eval(self)?;
            i64::try_from(value).map_err(|_| InterpError::TooLarge(space.to_string()))
        };
        space.extents().iter().map(size).collect()
    }

    /// The value of a variable.
    fn value(&self, var: Var) -> Result<&Arc<Buffer>, InterpError> {
        let own = self.values.get(var.0 as usize).and_then(Option::as_ref);
        own.or_else(|| self.given?.get(&var)).ok_or(InterpError::Undefined(var))
    }

    fn define(&mut self, var: Var, value: Arc<Buffer>) -> Result<(), InterpError> {
        *self.values.get_mut(var.0 as usize).ok_or(InterpError::Undefined(var))? = Some(value);
        Ok(())
    }

    fn define_all(&mut self, vars: &[Var], values: Vec<Arc<Buffer>>) -> Result<(), InterpError> {
        vars.iter().zip(values).try_for_each(|(&var, value)| self.define(var, value))
    }

    /// Runs the statements of a block.
    fn block(&mut self, block: &Block) -> Result<(), InterpError> {
        block.statements.iter().try_for_each(|s| self.statement(s).map_err(|e| e.at(&s.origin)))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), InterpError> {
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let value = self.field(*field)?;
                self.define(*target, value)
            }
            StatementKind::Constant { target, value } => self.define(*target, value.clone()),
            StatementKind::Call { targets, op, args, regions } => {
                if let Some(assignments) = &mut self.assignments {
                    let (function, values) = (self.function, &self.values);
                    let value = |var: Var| values.get(var.0 as usize).cloned().flatten();
                    if let Some(results) = assignments.call(function, statement, &value) {
                        return self.define_all(targets, results?.into_iter().map(Arc::new).collect());
                    }
                }
                if let LibOp::DynamicTruncate { axis, semantics, size } = op {
                    let size = self.truncated(*axis, *semantics, size, args)?;
                    let kept = truncate(self.value(args[0])?, *axis, size)?;
                    return self.define_all(targets, vec![Arc::new(kept)]);
                }
                let op = op.with_extents(&mut |e| e.eval(self).map(Extent::Const))?;
                let args = args.iter().map(|&a| self.value(a).cloned()).collect::<Result<Vec<_>, _>>()?;
                let results = self.call(&op, &args, regions)?;
                self.define_all(targets, results.into_iter().map(Arc::new).collect())
            }
            StatementKind::While { targets, inits, cond, body } => {
                let mut carried =
                    inits.iter().map(|&i| self.value(i).cloned()).collect::<Result<Vec<_>, _>>()?;
                loop {
                    let go_on = self.region(cond, carried.clone())?;
                    if !go_on.first().and_then(|b| first(b)).is_some_and(Scalar::is_true) {
                        return self.define_all(targets, carried);
                    }
                    self.iterations += 1;
                    if let Some(limit) = self.limits.iterations
                        && self.iterations > limit
                    {
                        return Err(InterpError::IterationLimit(limit));
                    }
                    carried = self.region(body, carried)?;
                }
            }
            StatementKind::If { targets, index, branches } => {
                let index = first(self.value(*index)?).and_then(Scalar::as_i128).unwrap_or(-1);
                let chosen = usize::try_from(index).ok().and_then(|i| branches.get(i)).or(branches.last());
                let results = match chosen {
                    Some(branch) => self.region(branch, Vec::new())?,
                    None => return Err(InterpError::Malformed("an `if` without branches".into())),
                };
                self.define_all(targets, results)
            }
        }
    }

    /// Runs a region on these values.
    fn region(&mut self, region: &Region, args: Vec<Arc<Buffer>>) -> Result<Vec<Arc<Buffer>>, InterpError> {
        self.define_all(&region.params, args)?;
        self.block(&region.body)?;
        region.body.results.iter().map(|&r| self.value(r).cloned()).collect()
    }

    /// The values of a stored field.
    fn field(&mut self, root: FieldId) -> Result<Arc<Buffer>, InterpError> {
        if let Some(assignments) = &mut self.assignments {
            let (function, values) = (self.function, &self.values);
            let value = |var: Var| values.get(var.0 as usize).cloned().flatten();
            return assignments.evaluate(function, root, &value).map(Arc::new);
        }
        let plan = match self.plans.get(&root) {
            Some(plan) => plan.clone(),
            None => {
                let plan = Rc::new(Plan::new(self, root)?);
                self.plans.insert(root, plan.clone());
                plan
            }
        };
        plan.run(self)
    }
}

impl ExtentEnv for Machine<'_> {
    fn input_axis(&self, input: usize, axis: usize) -> Option<u64> {
        Arguments(self.args).input_axis(input, axis)
    }

    fn runtime_scalar(&self, input: usize, semantics: ScalarSemantics) -> Option<u64> {
        Arguments(self.args).runtime_scalar(input, semantics)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        if let Some(&size) = self.computed.get(name) {
            return Some(size);
        }
        Call { function: self.function, arguments: self.args }.symbol(name)
    }
}

/// The first element: the value of a tensor of rank 0.
fn first(buffer: &Buffer) -> Option<Scalar> {
    (!buffer.is_empty()).then(|| buffer.get(0))
}

/// A tensor of one value, unless it is too large.
fn splat(value: Scalar, sizes: &[i64]) -> Result<Buffer, InterpError> {
    let dtype: DType = value.dtype();
    let shape: Vec<usize> = sizes.iter().map(|&n| n as usize).collect();
    let bytes = if shape.contains(&0) {
        Some(0)
    } else {
        shape.iter().try_fold(dtype.size(), |n, &d| n.checked_mul(d))
    };
    match bytes {
        // A zero anywhere hides a product of the others that does not fit.
        Some(0) if shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).is_none() => {
            Err(InterpError::TooLarge(format!("{dtype}{sizes:?}")))
        }
        Some(n) if n <= MAX_BYTES => Ok(Buffer::splat(value, &shape)),
        _ => Err(InterpError::TooLarge(format!("{dtype}{sizes:?}"))),
    }
}

#[cfg(test)]
mod tests;
