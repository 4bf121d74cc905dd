//! Programs whose sizes are those of each call (seed 002): a `Program` with constant sizes is made for the types of the
//! arguments, compiled, and kept for the next call with these types.

use crate::pipeline::{Backend, OptimiseOptions, Runner, StageTimes, optimise};
use crate::{Failure, Source};
use std::collections::BTreeSet;
use std::sync::Arc;
use surject_index::{Extent, ExtentExpr, Space};
use surject_ir::bind::is_symbolic;
use surject_ir::{BindError, Buffer, ComputedSizes, Function, Program, TensorType, interp};
use surject_lift::{ImportOptions, LiftError};
use surject_mlir::CompileOptions;
use surject_stablehlo::diagnostic::codes;
use surject_stablehlo::{Diagnostic, Dim, Module, Type};

/// How many executables are kept unless told otherwise.
const KEPT: usize = 16;

/// The element types and shapes of buffers.
pub fn types_of(arguments: &[Buffer]) -> Vec<TensorType> {
    let one = |buffer: &Buffer| {
        let shape: Vec<u64> = buffer.shape().iter().map(|&n| n as u64).collect();
        TensorType::new(buffer.dtype(), Space::of(&shape))
    };
    arguments.iter().map(one).collect()
}

/// The values of scalar arguments that may be sizes, as bits: integers, and with `all` floats as well.
fn size_scalars_of(arguments: &[Buffer], all: bool) -> Vec<(usize, u128)> {
    let value = |(i, b): (usize, &Buffer)| {
        ((all || b.dtype().is_int()) && b.shape().is_empty() && !b.is_empty()).then(|| (i, b.get(0).bits()))
    };
    arguments.iter().enumerate().filter_map(value).collect()
}

/// The values of the scalar arguments that sizes of a module with `?` depend on. Without a program with symbolic sizes, any
/// integer may be one.
///
/// # Errors
/// The source is no module.
pub(crate) fn size_values(
    source: &Source,
    function: Option<&str>,
    arguments: &[Buffer],
) -> Result<Vec<(usize, u128)>, Failure> {
    if size_scalars_of(arguments, true).is_empty() {
        return Ok(Vec::new());
    }
    let Some(module) = source.stablehlo()?.filter(surject_lift::is_dynamic) else { return Ok(Vec::new()) };
    let program = symbolic(source, &module, function);
    Ok(values_of(program.as_ref().and_then(Program::main).map(size_scalars).as_ref(), arguments))
}

/// The values of these scalar arguments; of all integers, where it is not known which are sizes.
fn values_of(of_sizes: Option<&BTreeSet<usize>>, arguments: &[Buffer]) -> Vec<(usize, u128)> {
    let mut values = size_scalars_of(arguments, of_sizes.is_some());
    values.retain(|(i, _)| of_sizes.is_none_or(|known| known.contains(i)));
    values
}

/// The program of a module with symbolic sizes, where the module has one.
fn symbolic(source: &Source, module: &Module, function: Option<&str>) -> Option<Program> {
    if !surject_lift::is_dynamic(module) {
        return None;
    }
    let function = function.or(module.entry().map(|f| f.name.as_str()));
    let options = ImportOptions { function, ..source.import_options() };
    surject_lift::import(module, &options).ok()
}

/// The program of a module with symbolic sizes, where the data of a call gives some of these: what is made for one call
/// then depends on more than types and scalars.
pub(crate) fn with_computed_sizes(
    source: &Source,
    module: &Module,
    function: Option<&str>,
) -> Option<Program> {
    symbolic(source, module, function).filter(has_computed_sizes)
}

fn has_computed_sizes(program: &Program) -> bool {
    program.main().is_some_and(|f| f.truncations().next().is_some())
}

/// The program of a StableHLO module for one call: imported for the types of the arguments; where a size depends on the
/// value of a scalar argument, imported with symbolic sizes that are then bound to the arguments.
pub(crate) fn module_for(
    source: &Source,
    module: &Module,
    function: Option<&str>,
    arguments: &[Buffer],
) -> Result<Program, Failure> {
    let function = function.or(module.entry().map(|f| f.name.as_str()));
    let options = ImportOptions { function, ..source.import_options() };
    let error = match surject_lift::import_for(module, &options, &types_of(arguments)) {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    if let LiftError::Dynamic { .. } = error
        && let Ok(symbolic) = surject_lift::import(module, &options)
        && let Some(function) = symbolic.main()
    {
        match surject_ir::bind(function, arguments) {
            Ok(bound) => return Ok(Program { name: symbolic.name.clone(), functions: vec![bound] }),
            Err(failed @ BindError::Guard(_)) => {
                return Err(Failure::bad_input(format!("{}: {failed}", source.name)));
            }
            // What the module itself does not say better than the refusal.
            Err(_) => {}
        }
    }
    // What is left to make static is made so in StableHLO: shape operations, assertions, functions that are called.
    match refined(module, arguments) {
        Some(Ok(module)) if function == module.entry().map(|f| f.name.as_str()) => {
            surject_lift::import(&module, &options).map_err(|_| source.lift_failure(&error))
        }
        Some(Err(failed)) if failed.code == codes::SHAPE_ASSERTION => {
            Err(Failure::bad_input(failed.render(&source.name, &source.bytes)))
        }
        _ => Err(source.lift_failure(&error)),
    }
}

/// The entry function of a module for arguments of these shapes; `None` where there are more or fewer arguments.
fn refined(module: &Module, arguments: &[Buffer]) -> Option<Result<Module, Diagnostic>> {
    let mut types: Vec<Type> = module.entry()?.params.iter().map(|p| p.ty.clone()).collect();
    if types.len() != arguments.len() {
        return None;
    }
    for (ty, argument) in types.iter_mut().zip(arguments) {
        let Type::Tensor(tensor) = ty else { continue };
        Arc::make_mut(tensor).shape = argument.shape().iter().map(|&n| Dim::Static(n as i64)).collect();
    }
    Some(surject_stablehlo::refine(module, &types))
}

/// A function that is run for the sizes of each call.
pub struct Specialised {
    source: Source,
    origin: Origin,
    backend: Backend,
    /// Is a program optimised before it is compiled?
    pub optimised: bool,
    compile: CompileOptions,
    /// What was made, the one that was used last at the end.
    kept: Vec<(Key, Runner)>,
    limit: usize,
    made: usize,
}

/// What programs are made of.
enum Origin {
    Module {
        module: Module,
        function: Option<String>,
        /// The scalar parameters whose values are sizes, where that is known.
        scalars: Option<BTreeSet<usize>>,
    },
    Program {
        program: Program,
        function: String,
    },
}

/// The types of the arguments, the values of those that give sizes, and the sizes that data gives.
type Key = (Vec<TensorType>, Vec<(usize, u128)>, ComputedSizes);

impl Specialised {
    /// Prepares a function of a source, `main` unless another is asked for. Nothing is compiled before the first call.
    ///
    /// # Errors
    /// The source is no program.
    pub fn new(source: Source, function: Option<&str>, backend: Backend) -> Result<Specialised, Failure> {
        let origin = match source.stablehlo()? {
            Some(module) => match symbolic(&source, &module, function) {
                Some(program) if has_computed_sizes(&program) => {
                    let function = program.main().map(|f| f.name.clone()).unwrap_or_default();
                    Origin::Program { program, function }
                }
                program => {
                    let scalars = program.as_ref().and_then(Program::main).map(size_scalars);
                    Origin::Module { module, function: function.map(String::from), scalars }
                }
            },
            None => {
                let program = source.program(function)?;
                let found = function.map_or_else(|| program.main(), |name| program.function(name));
                let Some(name) = found.map(|f| f.name.clone()) else {
                    return Err(Failure::bad_input(format!("{}: there is no such function", source.name)));
                };
                Origin::Program { program, function: name }
            }
        };
        let compile = CompileOptions::default();
        let kept = Vec::new();
        Ok(Specialised { source, origin, backend, optimised: true, compile, kept, limit: KEPT, made: 0 })
    }

    /// Keeps at most this many executables, at least one: the one that was not used for longest goes first.
    pub fn keep(&mut self, limit: usize) {
        self.limit = limit.max(1);
        let surplus = self.kept.len().saturating_sub(self.limit);
        self.kept.drain(..surplus);
    }

    /// How many times a program was made, which is what a call with new types costs.
    pub fn made(&self) -> usize {
        self.made
    }

    /// How many executables are kept.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Runs the function.
    ///
    /// # Errors
    /// Arguments whose sizes the function does not allow; a program that cannot be compiled.
    pub fn run(&mut self, arguments: &[Buffer]) -> Result<Vec<Buffer>, Failure> {
        let key = (types_of(arguments), self.scalars(arguments), self.computed(arguments)?);
        let entry = match self.kept.iter().position(|(k, _)| *k == key) {
            Some(at) => self.kept.remove(at),
            None => {
                let runner = self.make(arguments, &key.2)?;
                (key, runner)
            }
        };
        while self.kept.len() >= self.limit {
            self.kept.remove(0);
        }
        self.kept.push(entry);
        match self.kept.last_mut() {
            Some((_, runner)) => runner.run(arguments),
            None => Ok(Vec::new()),
        }
    }

    /// Runs the function into buffers that have room for the largest results (seed 002: upper bounds are what memory is
    /// allocated by). Gives the real shapes; the elements of a buffer beyond these are not touched.
    ///
    /// # Errors
    /// Those of [`Specialised::run`]; a buffer of another element type or rank, or smaller than its result.
    pub fn run_into(
        &mut self,
        arguments: &[Buffer],
        into: &mut [Buffer],
    ) -> Result<Vec<Vec<usize>>, Failure> {
        let results = self.run(arguments)?;
        if results.len() != into.len() {
            let message = format!("{} buffers for {} results", into.len(), results.len());
            return Err(Failure::bad_input(message));
        }
        for (k, (result, buffer)) in results.iter().zip(into.iter()).enumerate() {
            let fits = result.dtype() == buffer.dtype()
                && result.shape().len() == buffer.shape().len()
                && result.shape().iter().zip(buffer.shape()).all(|(n, room)| n <= room);
            if !fits {
                let message = format!(
                    "result {k} is {}{:?} and does not fit a buffer of {}{:?}",
                    result.dtype(),
                    result.shape(),
                    buffer.dtype(),
                    buffer.shape()
                );
                return Err(Failure::bad_input(message));
            }
        }
        for (result, buffer) in results.iter().zip(into) {
            copy_into(result, buffer);
        }
        Ok(results.iter().map(|r| r.shape().to_vec()).collect())
    }

    /// The sizes that the data of a call gives.
    fn computed(&self, arguments: &[Buffer]) -> Result<ComputedSizes, Failure> {
        let Origin::Program { program, function } = &self.origin else { return Ok(ComputedSizes::new()) };
        let Some(function) = program.function(function) else { return Ok(ComputedSizes::new()) };
        interp::computed_sizes(function, arguments)
            .map_err(|e| Failure::bad_input(format!("{}: {e}", self.source.name)))
    }

    fn make(&mut self, arguments: &[Buffer], computed: &ComputedSizes) -> Result<Runner, Failure> {
        let (mut program, name) = match &self.origin {
            Origin::Module { module, function, .. } => {
                let program = module_for(&self.source, module, function.as_deref(), arguments)?;
                let name = program.main().map(|f| f.name.clone()).unwrap_or_default();
                (program, name)
            }
            Origin::Program { program, function } => {
                let found = program.function(function).cloned().unwrap_or_default();
                let bound = match is_symbolic(&found) {
                    true => surject_ir::bind_with(&found, arguments, computed)
                        .map_err(|e| Failure::bad_input(format!("{}: {e}", self.source.name)))?,
                    false => found,
                };
                (Program { name: program.name.clone(), functions: vec![bound] }, function.clone())
            }
        };
        if self.optimised {
            program = optimise(&program, &OptimiseOptions::default())?.program;
        }
        self.made += 1;
        Runner::with(program, &name, self.backend, &self.compile, &mut StageTimes::default())
    }

    /// The values of the scalar arguments that may give sizes.
    fn scalars(&self, arguments: &[Buffer]) -> Vec<(usize, u128)> {
        match &self.origin {
            Origin::Module { scalars: Some(of_sizes), .. } => values_of(Some(of_sizes), arguments),
            Origin::Module { module, .. } if surject_lift::is_dynamic(module) => values_of(None, arguments),
            Origin::Module { .. } => Vec::new(),
            Origin::Program { program, function } => {
                let of_sizes = program.function(function).map(size_scalars).unwrap_or_default();
                values_of(Some(&of_sizes), arguments)
            }
        }
    }
}

/// Copies a tensor to the start of every axis of a larger one.
fn copy_into(from: &Buffer, to: &mut Buffer) {
    let (shape, room) = (from.shape().to_vec(), to.shape().to_vec());
    for k in 0..from.len() {
        let (mut rest, mut at, mut stride) = (k, 0, 1);
        for axis in (0..shape.len()).rev() {
            at += rest % shape[axis] * stride;
            rest /= shape[axis];
            stride *= room[axis];
        }
        to.set(at, from.get(k));
    }
}

/// The parameters whose values are sizes.
fn size_scalars(function: &Function) -> BTreeSet<usize> {
    let mut atoms: BTreeSet<Arc<ExtentExpr>> = BTreeSet::new();
    let sizes = function.vars.iter().flat_map(|v| v.ty.space.extents());
    sizes.for_each(|e: &Extent| e.atoms(&mut atoms));
    for guard in &function.guards {
        guard.fact.left.atoms(&mut atoms);
        guard.fact.right.atoms(&mut atoms);
    }
    let input = |atom: &Arc<ExtentExpr>| match &**atom {
        ExtentExpr::RuntimeScalar { input, .. } => Some(*input),
        _ => None,
    };
    atoms.iter().filter_map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{DType, Scalar};

    /// What is compiled for a call is kept by the scalars that sizes depend on, and by no others.
    #[test]
    fn scalars_that_are_no_sizes_are_no_part_of_the_key() {
        let values = |text: &str, scalars: [i128; 2]| {
            let source = Source::new("m.mlir", text.into()).expect("a module");
            let scalar = |n| Buffer::splat(Scalar::from_i128(DType::I32, n), &[]);
            let x = Buffer::splat(Scalar::from_f64(DType::F32, 1.0), &[4]);
            let arguments = [x, scalar(scalars[0]), scalar(scalars[1])];
            let found = size_values(&source, None, &arguments).expect("a module");
            let mut whole = Specialised::new(source, None, Backend::Interp).expect("a program");
            assert_eq!(whole.scalars(&arguments), found);
            whole.run(&arguments).expect("a run");
            found
        };
        let text = |body: &str| {
            format!(
                "func.func @main(%x: tensor<?xf32>, %i: tensor<i32>, %n: tensor<i32>) -> tensor<?xf32> {{\n{body}\n}}\n"
            )
        };
        let neither = text(
            "  %i1 = stablehlo.add %i, %n : tensor<i32>
  %f = stablehlo.convert %i1 : (tensor<i32>) -> tensor<f32>
  %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %s = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %b = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %r = stablehlo.add %x, %b : tensor<?xf32>
  return %r : tensor<?xf32>",
        );
        assert_eq!(values(&neither, [1, 2]), []);
        let second = text(
            "  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %b : tensor<?xf32>",
        );
        assert_eq!(values(&second, [1, 3]), [(2, 3)]);
        assert_eq!(values(&neither.replace("?", "4"), [1, 2]), []);
    }
}
