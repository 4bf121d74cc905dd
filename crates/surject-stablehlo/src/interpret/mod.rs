//! Running programs: an interpreter, operation by operation on typed buffers.
//!
//! ```
//! use surject_stablehlo::interpret::{Tensor, Value, run};
//! use surject_stablehlo::{ElementType, parse_and_verify};
//!
//! let module = parse_and_verify(
//!     "func.func @main(%x: tensor<3xi8>) -> tensor<3xi8> {
//!        %0 = stablehlo.add %x, %x : tensor<3xi8>
//!        return %0 : tensor<3xi8>
//!      }",
//! )?;
//! let x = Tensor::from_i64s(ElementType::I8, &[3], &[1, 2, 100]).ok_or("not three elements")?;
//! let results = run(&module, "main", vec![Value::Tensor(x)])?;
//! // Integers wrap.
//! assert_eq!(results[0].as_tensor().and_then(|t| t.to_i64s()), Some(vec![2, 4, -56]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Semantics
//!
//! What the StableHLO specification says holds exactly. Where it leaves something open, this does:
//!
//! * **Integers** wrap. Division by zero has all bits set, the remainder by zero is the dividend, `min / -1` is `min`
//!   with remainder 0. A shift by the width or more gives 0, an arithmetic one the sign. Negative exponents of integer
//!   powers give the integer part. On `i1`, addition is *or* and multiplication *and*.
//! * **Floats.** `+ - * /` and roots are rounded once in the element type. Other functions are computed in `f64` and
//!   rounded once for `f32` and narrower; those of `f64` are within about one unit in the last place. `maximum` and
//!   `minimum` give NaN where an operand is NaN, and order `-0` before `+0`. Sums of `reduce` are made in row-major
//!   order in the type of the region's arguments; those of products (`dot_general`, `convolution`), Fourier transforms,
//!   normalisations and factorisations in `f64`, rounded once.
//! * **Conversions** to integers cut towards zero and saturate, NaN becomes 0; between integers they wrap; to floats
//!   they round to nearest, ties to even.
//! * **Positions.** `gather`, `dynamic_slice` and `dynamic_update_slice` move slices inside, `scatter` drops what lands
//!   outside, updates are applied in row-major order. `case` takes its last branch for an index that has none. `sort`
//!   is stable under every comparator.
//! * **Dynamic programs** run as they are: buffers carry their shapes, and a result must fit its declared type.
//! * **Quantized types**: an operation on quantized tensors is the operation on what they express, in the expressed
//!   type, quantized again; operations that only move elements move what is stored.
//! * **Random bits** are those of XLA's Philox and Threefry; `DEFAULT` is Philox. `rng` draws from a fixed stream.
//! * **Effects** happen in the order of the text, so that tokens have nothing to do. `infeed`, `outfeed`, `send` and
//!   `recv` are queues. Futures are computed at once.
//! * **Processes.** [`Interpreter::run_parallel`] runs replicas and partitions side by side; collectives exchange between
//!   them. Processes that can only wait for each other end with an error.
//! * **Calls** of `custom_call` go to [`Interpreter::target`] first, then to the targets that JAX emits.
//!
//! Where XLA differs, this has the specification's value: in the windows of `reduce_window`, padding and what dilation puts
//! between elements is the initial value, combined as an element is (XLA leaves these places out, which shows where the initial
//! value is not neutral); `scatter` drops elements that land outside (XLA drops whole windows).
//!
//! Nothing panics and nothing runs without bounds: see [`Limits`].

mod body;
mod check;
mod chlo;
mod collective;
mod contraction;
mod custom_call;
mod dynamic;
mod elementwise;
mod error;
mod fft;
mod foreign;
mod indexing;
mod lapack;
mod linear;
mod machine;
mod movement;
mod norm;
mod number;
mod quantized;
mod random;
mod reduce;
mod scalar;
mod sharding;
mod sort;
mod value;
mod world;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::module::{Function, Module, Op, Region};
use crate::types::Type;
pub use error::{Error, ErrorKind};
use machine::{Frame, Machine};
pub(crate) use quantized::moves_stored;
use value::Budget;
pub use value::{Tensor, Value};
use world::{Feed, Process, World};

/// How much a run may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of tensors that are alive at the same time, over all processes.
    pub bytes: u64,
    /// Operations and elements computed, of each process.
    pub steps: u64,
    /// Calls and regions inside each other.
    pub depth: usize,
}

/// 8 GiB, 2^36 steps, 200 levels.
impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 8 << 30, steps: 1 << 36, depth: 200 }
    }
}

/// Bytes of stack that a level of calls and regions may take.
const STACK_A_LEVEL: usize = 256 << 10;

/// A `custom_call` as its target sees it.
#[derive(Debug)]
pub struct Request<'a> {
    /// The operation, with its attributes.
    pub op: &'a Op,
    /// The operands.
    pub operands: &'a [Value],
    /// Types of the results.
    pub results: Vec<&'a Type>,
}

/// What computes a `custom_call`: the results, or what is wrong.
pub type Target = Arc<dyn Fn(&Request<'_>) -> std::result::Result<Vec<Value>, String> + Send + Sync>;

/// What a run leaves.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Results of the function; of several processes one after the other.
    pub results: Vec<Value>,
    /// What went to `outfeed`, in order.
    pub outfeed: Vec<Vec<Value>>,
    /// What `interpreter.probe` saw, by its name, in order.
    pub probes: BTreeMap<String, Vec<Value>>,
    /// What `interpreter.print` was given.
    pub printed: Vec<String>,
}

/// What one process runs.
#[derive(Clone, Copy)]
pub(crate) enum Work<'m> {
    Function(&'m Function),
    /// A region that takes nothing from outside.
    Region(&'m Region),
}

/// The work of processes with its arguments: a row for each replica, in it one for each partition.
type Row<'m> = Vec<(Work<'m>, Vec<Value>)>;

/// An interpreter of a module.
pub struct Interpreter<'m> {
    module: &'m Module,
    limits: Limits,
    targets: HashMap<String, Target>,
    infeed: Vec<Vec<Value>>,
}

impl std::fmt::Debug for Interpreter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interpreter").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// Runs a function of a module on one process; its results.
pub fn run(module: &Module, function: &str, args: Vec<Value>) -> std::result::Result<Vec<Value>, Error> {
    Ok(Interpreter::new(module).run(function, args)?.results)
}

impl<'m> Interpreter<'m> {
    /// An interpreter with the default limits.
    pub fn new(module: &'m Module) -> Interpreter<'m> {
        Interpreter { module, limits: Limits::default(), targets: HashMap::new(), infeed: Vec::new() }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Interpreter<'m> {
        self.limits = limits;
        self
    }

    /// Says what computes the calls of a target; it goes before what is built in.
    pub fn target(
        mut self,
        name: &str,
        compute: impl Fn(&Request<'_>) -> std::result::Result<Vec<Value>, String> + Send + Sync + 'static,
    ) -> Interpreter<'m> {
        self.targets.insert(name.to_string(), Arc::new(compute));
        self
    }

    /// Adds what an `infeed` will give, without its token.
    pub fn infeed(mut self, values: Vec<Value>) -> Interpreter<'m> {
        self.infeed.push(values);
        self
    }

    /// Runs a function on one process.
    pub fn run(&self, function: &str, args: Vec<Value>) -> std::result::Result<Outcome, Error> {
        let function = self.function(function)?;
        self.run_grid(&[vec![(Work::Function(function), args)]])
    }

    /// Runs functions side by side, one a process: a row for each replica, in it a function with its arguments for each
    /// partition. All rows are equally long.
    pub fn run_parallel(&self, programs: &[Vec<(&str, Vec<Value>)>]) -> std::result::Result<Outcome, Error> {
        let mut grid = Vec::new();
        for row in programs {
            let named =
                row.iter().map(|(name, args)| Ok((Work::Function(self.function(name)?), args.clone())));
            grid.push(named.collect::<std::result::Result<Vec<_>, Error>>()?);
        }
        self.run_grid(&grid)
    }

    fn function(&self, name: &str) -> std::result::Result<&'m Function, Error> {
        self.module.function(name).ok_or_else(|| Error::invalid(format!("there is no function '@{name}'")))
    }

    fn run_grid(&self, grid: &[Row<'m>]) -> std::result::Result<Outcome, Error> {
        let budget = Budget::new(self.limits.bytes);
        let world = self.world(grid)?;
        world.feed(self.infeed.iter().cloned().map(Feed::Values));
        let results = self.run_world(&world, grid, &budget, 0)?;
        Ok(Outcome { results, ..world.outcome() })
    }

    fn world(&self, grid: &[Row<'m>]) -> std::result::Result<World, Error> {
        let partitions = grid.first().map_or(0, Vec::len);
        if partitions == 0 || grid.iter().any(|row| row.len() != partitions) {
            return Err(Error::invalid("programs that form no grid of replicas and partitions"));
        }
        Ok(World::new(grid.len(), partitions))
    }

    /// Every process in a thread of its own, inside `depth` calls and regions; the results one after the other, or the error that came first.
    fn run_world(
        &self,
        world: &World,
        grid: &[Row<'m>],
        budget: &Arc<Budget>,
        depth: usize,
    ) -> std::result::Result<Vec<Value>, Error> {
        let count = grid.iter().map(Vec::len).sum();
        let allowed = budget.begin(count, MAX_PROCESSES);
        let results = match allowed {
            true => self.run_threads(world, grid, budget, depth),
            false => Err(Error::new(ErrorKind::Limit, format!("more than {MAX_PROCESSES} processes"))),
        };
        budget.end(count);
        results
    }

    fn run_threads(
        &self,
        world: &World,
        grid: &[Row<'m>],
        budget: &Arc<Budget>,
        depth: usize,
    ) -> std::result::Result<Vec<Value>, Error> {
        let stack = (self.limits.depth + 8).saturating_mul(STACK_A_LEVEL);
        let outcomes: Vec<std::result::Result<Vec<Value>, Error>> = std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for (replica, row) in grid.iter().enumerate() {
                for (partition, (program, args)) in row.iter().enumerate() {
                    let (program, args) = (*program, args.clone());
                    let work = move || {
                        let mut ending = Ending { world, failed: true };
                        let process = Process::new(world, replica, partition);
                        let results = Budget::within(budget, || {
                            let mut machine = Machine::new(self, process, depth);
                            match program {
                                Work::Function(function) => machine.call(function, args),
                                Work::Region(region) => machine.block(&mut Frame::default(), region, args),
                            }
                        });
                        ending.failed = results.is_err();
                        results
                    };
                    let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work);
                    if thread.is_err() {
                        world.ended(true);
                    }
                    handles.push(thread);
                }
            }
            let join = |handle: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match handle {
                Ok(handle) => handle.join().unwrap_or_else(|_| {
                    Err(Error::invalid("the interpreter failed: this is a defect, please report it"))
                }),
                Err(error) => Err(Error::new(ErrorKind::Limit, format!("no thread for a process: {error}"))),
            };
            handles.into_iter().map(join).collect()
        });
        let mut results = Vec::new();
        let mut errors = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(values) => results.extend(values),
                Err(error) => errors.push(error),
            }
        }
        // Those that others wait for say more than those that wait.
        let first = errors.iter().position(|e| e.kind() != ErrorKind::Deadlock).unwrap_or(0);
        match errors.is_empty() {
            true => Ok(results),
            false => Err(errors.swap_remove(first)),
        }
    }
}

/// Tells the others that a process has ended, even where the interpreter has a defect that ends it.
struct Ending<'w> {
    world: &'w World,
    failed: bool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.world.ended(self.failed);
    }
}

/// Threads that one run may have.
const MAX_PROCESSES: usize = 256;
