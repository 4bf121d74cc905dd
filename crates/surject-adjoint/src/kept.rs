//! Gradients that are kept from call to call (seed 002, "Ownership"): each with the guards that it was made under, used again
//! where they hold and made anew where one fails.

use crate::{AdjointError, Options, gradient};
use std::collections::BTreeSet;
use std::sync::Arc;
use surject_index::{Extent, ExtentEnv, Fact, Relation};
use surject_ir::{BindError, Buffer, Call, Function, Program, SizeGuard, bind};
use thiserror::Error;

/// How many gradients are kept unless told otherwise.
const KEPT: usize = 16;

/// Why there is no gradient for a call.
#[derive(Debug, Error)]
pub enum GradientError {
    /// The function cannot be differentiated.
    #[error(transparent)]
    Adjoint(#[from] AdjointError),
    /// The arguments do not have the sizes that the function asks for.
    #[error(transparent)]
    Sizes(#[from] Box<BindError>),
}

/// The gradient of a function for the calls that satisfy some guards.
#[derive(Clone, Debug)]
struct Kept {
    conditions: Vec<SizeGuard>,
    derived: Arc<Program>,
}

/// The gradients of one function, for the sizes of each call.
///
/// A gradient is made with symbolic sizes where that is possible: then one serves all calls. Where a fact about sizes is
/// missing that the call at hand satisfies, the gradient is made under this fact, as a guard. Where a size has to be a number,
/// it is made for the sizes of the call, and these are its guards.
#[derive(Clone, Debug)]
pub struct Gradients {
    program: Program,
    name: String,
    options: Options,
    /// The one that was used last at the end.
    kept: Vec<Kept>,
    limit: usize,
    made: usize,
}

impl Gradients {
    /// Prepares the gradients of a function. None is made before the first call.
    ///
    /// # Errors
    /// There is no such function.
    pub fn new(program: &Program, function: &str, options: &Options) -> Result<Gradients, AdjointError> {
        let Some(found) = program.function(function) else {
            let known = program.functions.iter().map(|f| f.name.clone()).collect();
            return Err(AdjointError::NoFunction { name: function.to_string(), known });
        };
        let program = Program { name: program.name.clone(), functions: vec![found.clone()] };
        let (name, options) = (function.to_string(), options.clone());
        Ok(Gradients { program, name, options, kept: Vec::new(), limit: KEPT, made: 0 })
    }

    /// Keeps at most this many gradients, at least one: the one that was not used for longest goes first.
    pub fn keep(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.kept.drain(..self.kept.len().saturating_sub(self.limit));
    }

    /// How many gradients were made.
    pub fn made(&self) -> usize {
        self.made
    }

    /// The gradient for a call of the function with these arguments (without cotangents).
    ///
    /// # Errors
    /// Sizes that the function does not allow; what has no derivative.
    pub fn of_call(&mut self, arguments: &[Buffer]) -> Result<Arc<Program>, GradientError> {
        let Some(function) = self.program.functions.first() else {
            return Err(AdjointError::NoFunction { name: self.name.clone(), known: Vec::new() }.into());
        };
        let call = Call { function, arguments };
        let holds = |kept: &Kept| kept.conditions.iter().all(|guard| call.holds(guard).is_ok());
        if let Some(at) = self.kept.iter().position(holds) {
            let found = self.kept.remove(at);
            let derived = found.derived.clone();
            self.kept.push(found);
            return Ok(derived);
        }
        let (conditions, derived) = self.make(&call)?;
        self.made += 1;
        let derived = Arc::new(derived);
        if let Some(conditions) = conditions {
            self.kept.drain(..(self.kept.len() + 1).saturating_sub(self.limit));
            self.kept.push(Kept { conditions, derived: derived.clone() });
        }
        Ok(derived)
    }

    /// A gradient for a call, with its guards; without guards where it is for this call alone.
    fn make(&self, call: &Call<'_>) -> Result<(Option<Vec<SizeGuard>>, Program), GradientError> {
        let mut program = self.program.clone();
        let mut conditions: Vec<SizeGuard> = Vec::new();
        loop {
            let (fact, primitive) = match gradient(&program, &self.name, &self.options) {
                Ok(derived) => return Ok((Some(conditions), derived)),
                Err(AdjointError::Dynamic { fact, shape, .. }) => (fact, shape.primitive),
                Err(error) => return Err(error.into()),
            };
            let Some(fact) = fact else { break };
            let guard =
                SizeGuard { fact: *fact, origin: Some(format!("the derivative of `{primitive}`").into()) };
            if conditions.contains(&guard) || call.holds(&guard).is_err() || !assumed(&mut program, &guard) {
                break;
            }
            conditions.push(guard);
        }
        let bound = bind(call.function, call.arguments).map_err(Box::new)?;
        let bound = Program { name: program.name, functions: vec![bound] };
        Ok((sizes_of(call), gradient(&bound, &self.name, &self.options)?))
    }
}

/// Adds a guard to the function of a program; not where it contradicts the others.
fn assumed(program: &mut Program, guard: &SizeGuard) -> bool {
    program.functions.iter_mut().all(|function| {
        function.guards.push(guard.clone());
        function.assume().is_ok()
    })
}

/// What the arguments of a call say of every size of the function; `None` where the data of the call gives one.
fn sizes_of(call: &Call<'_>) -> Option<Vec<SizeGuard>> {
    let Function { vars, guards, .. } = call.function;
    let mut atoms = BTreeSet::new();
    vars.iter().flat_map(|v| v.ty.space.extents()).for_each(|e| e.atoms(&mut atoms));
    for guard in guards {
        [&guard.fact.left, &guard.fact.right].into_iter().for_each(|side| side.atoms(&mut atoms));
    }
    let size = |atom| {
        let size = Extent::Expr(atom);
        let value = size.eval(call as &dyn ExtentEnv).ok()?;
        let fact = Fact::new(size, Relation::Eq, Extent::Const(value));
        Some(SizeGuard { fact, origin: Some("a derivative that was made for these sizes".into()) })
    };
    atoms.into_iter().map(size).collect()
}
