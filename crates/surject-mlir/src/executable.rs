//! Whole programs as machine code.

use crate::jit::{self, CompileTimes, CompiledModule, JitOptions};
use crate::{MlirError, Processor, cache, stored};
use std::sync::{Mutex, PoisonError};
use surject_codegen::{CodegenError, Lent, LoweredModule, Plan, Target};
use surject_index::Extent;
use surject_ir::{Buffer, Program, TensorType};
use surject_runtime::memory::{ALIGN, Block};
use surject_runtime::{DType, Entry, Subnormals};
use thiserror::Error;

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The machine that code is generated for. It must be this one, or one that can do less.
    pub target: Target,
    /// How the module is compiled.
    pub jit: JitOptions,
    /// How the program is lowered.
    pub lower: surject_codegen::Options,
    /// What runs do with subnormal numbers. The code is the same.
    pub subnormals: Subnormals,
}

impl Default for CompileOptions {
    /// For this machine.
    fn default() -> CompileOptions {
        CompileOptions::of(Target::host(), Processor::Host)
    }
}

impl CompileOptions {
    /// For a machine and a processor, with the kernels that a CPU's strategies take.
    pub fn of(target: Target, processor: Processor) -> CompileOptions {
        let scheduled = Some(surject_cpu::chosen(&target));
        CompileOptions {
            lower: surject_codegen::Options { scheduled, ..Default::default() },
            target,
            jit: JitOptions { processor, ..JitOptions::default() },
            subnormals: Subnormals::default(),
        }
    }
}

/// Why a program cannot be compiled.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CompileError {
    /// The program is not well formed.
    #[error("{0}")]
    Verify(#[from] surject_ir::VerifyError),
    /// Code generation refuses it.
    #[error(transparent)]
    Codegen(#[from] CodegenError),
    /// MLIR or LLVM refuses the generated module: a defect of the code generator.
    #[error("the generated module does not compile: {0}")]
    Mlir(#[from] MlirError),
    /// A tensor or the arena is larger than memory.
    #[error("{what} of {bytes} bytes does not fit in memory")]
    Memory {
        /// What is too large.
        what: String,
        /// How large it is, as far as that can be said.
        bytes: u64,
    },
}

/// Why an executable refuses to run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// A wrong number of buffers.
    #[error("there are {found} {what}s where {expected} are needed")]
    Count {
        /// `argument` or `result`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A buffer of another type or shape.
    #[error("{what} {index} is {found} where {expected} is needed")]
    Type {
        /// `argument` or `result`.
        what: &'static str,
        /// Which one, from 0.
        index: usize,
        /// Its type.
        found: String,
        /// The type needed.
        expected: TensorType,
    },
    /// There is not so much memory for a result.
    #[error("result {index}, {ty}, does not fit in memory")]
    Memory {
        /// Which one, from 0.
        index: usize,
        /// Its type.
        ty: TensorType,
    },
}

/// A function of a program, compiled for this machine.
///
/// It may be used from several threads: the arena serves one run at a time.
pub struct Executable {
    /// A function of `module`.
    entry: Entry,
    module: CompiledModule,
    lowered: LoweredModule,
    /// The sizes of the arguments and of the results.
    shapes: [Vec<Vec<usize>>; 2],
    /// The addresses of the constants.
    constants: Pointers,
    subnormals: Subnormals,
    own: Mutex<Own>,
}

/// Memory of an executable.
struct Own {
    /// For intermediate tensors.
    arena: Block,
    /// What results lend that take over the memory of arguments, once there were any.
    spare: Option<Buffer>,
}

/// Addresses of constants, which live as long as the module that names them, and are only read.
struct Pointers(Vec<*const u8>);

// SAFETY: what they point at is never written.
unsafe impl Send for Pointers {}
// SAFETY: as above.
unsafe impl Sync for Pointers {}

/// An argument of a run.
#[derive(Debug)]
pub enum Argument<'a> {
    /// It is read.
    Read(&'a Buffer),
    /// It is given away: a result may take over its memory.
    Given(Buffer),
}

impl Argument<'_> {
    /// The tensor.
    pub fn buffer(&self) -> &Buffer {
        match self {
            Argument::Read(buffer) => buffer,
            Argument::Given(buffer) => buffer,
        }
    }
}

/// Compiles a function of a program for this machine.
pub fn compile(
    program: &Program,
    function: &str,
    options: &CompileOptions,
) -> Result<Executable, CompileError> {
    let lowered = lowered(program, function, options)?;
    let module = jit::compile_parts(&lowered.parts, &options.jit)?;
    ready(lowered, module, options.subnormals)
}

/// The object files of a function of a program, and how it is called: for the target and the processor of the options, which
/// need not be this one. Nothing of it runs.
pub fn objects(
    program: &Program,
    function: &str,
    options: &CompileOptions,
) -> Result<(LoweredModule, Vec<Vec<u8>>), CompileError> {
    let lowered = lowered(program, function, options)?;
    let objects = jit::objects(&lowered.parts, &options.jit)?;
    Ok((lowered, objects))
}

/// The code of a function of a program, whose arguments and results can be in memory.
fn lowered(
    program: &Program,
    function: &str,
    options: &CompileOptions,
) -> Result<LoweredModule, CompileError> {
    surject_ir::verify(program)?;
    let lowered = surject_codegen::lower(program, function, &options.target, &options.lower)?;
    for (what, types) in [("an argument", &lowered.params), ("a result", &lowered.results)] {
        types.iter().try_for_each(|ty| fits(what, ty))?;
    }
    Ok(lowered)
}

/// Compiles a function of the program that `make` gives, with its name, or takes the executable from the cache on disk
/// if the user has one ([`JitOptions::cache`]) and it was put there for this `source` by this very process image:
/// `source` is the text that `make` reads and everything else that what it gives depends on. An entry that is damaged
/// is made again.
pub fn compile_cached<E: From<CompileError>>(
    source: &str,
    options: &CompileOptions,
    make: impl FnOnce() -> Result<(Program, String), E>,
) -> Result<Executable, E> {
    let machine = jit::machine(&options.jit).map_err(CompileError::from)?;
    let wanted = !options.lower.profile && !options.jit.dump;
    let source = format!("{machine}{:?}\n{source}", options.target);
    let place = wanted.then(|| cache::executable(&source, options.jit.cache.as_deref())).flatten();
    if let Some((key, folder)) = &place {
        let found = cache::load(key, folder).and_then(|bytes| stored::read(&bytes));
        let linked = found.and_then(|(lowered, objects)| Some((lowered, jit::link(objects).ok()?)));
        if let Some(executable) =
            linked.and_then(|(lowered, module)| ready(lowered, module, options.subnormals).ok())
        {
            return Ok(executable);
        }
    }
    let (program, function) = make()?;
    let executable = compile(&program, &function, options)?;
    if let Some((key, folder)) = &place {
        cache::save(key, folder, &stored::write(&executable.lowered, executable.module.objects()));
    }
    Ok(executable)
}

/// An executable of a module and its machine code.
fn ready(
    lowered: LoweredModule,
    module: CompiledModule,
    subnormals: Subnormals,
) -> Result<Executable, CompileError> {
    let entry = module.entry_function(&lowered.entry)?;
    let too_large = || CompileError::Memory { what: "the arena".into(), bytes: lowered.arena_bytes };
    let bytes = usize::try_from(lowered.arena_bytes).map_err(|_| too_large())?;
    // A profile counts from zero.
    let arena = if lowered.profile.is_some() { Block::zeroed(bytes) } else { Block::unwritten(bytes) };
    let mut arena = arena.ok_or_else(too_large)?;
    let all = |types: &[TensorType]| types.iter().map(shape).collect::<Result<Vec<_>, _>>();
    let shapes = [all(&lowered.params)?, all(&lowered.results)?];
    let constants = Pointers(lowered.constants.iter().map(|b| b.as_ptr()).collect());
    if let Some(init) = &lowered.init {
        let init = module.entry_function(init)?;
        // SAFETY: as in `call`; it reads no argument and writes no result.
        unsafe { init.call(&[], &[], arena.as_mut_ptr(), &constants.0) };
    }
    let own = Mutex::new(Own { arena, spare: None });
    Ok(Executable { entry, module, lowered, shapes, constants, subnormals, own })
}

/// Can there be a buffer of this type?
fn fits(what: &str, ty: &TensorType) -> Result<(), CompileError> {
    let too_large = |bytes| CompileError::Memory { what: format!("{what} {ty}"), bytes };
    let points = ty.space.points().ok_or_else(|| too_large(u64::MAX))?;
    let bytes = points.checked_mul(ty.dtype.size() as u64).ok_or_else(|| too_large(u64::MAX))?;
    if isize::try_from(bytes).is_ok_and(|b| b < isize::MAX - 64) { Ok(()) } else { Err(too_large(bytes)) }
}

impl Executable {
    /// The types of the arguments.
    pub fn params(&self) -> &[TensorType] {
        &self.lowered.params
    }

    /// The types of the results.
    pub fn results(&self) -> &[TensorType] {
        &self.lowered.results
    }

    /// What the code generator decided.
    pub fn plan(&self) -> &Plan {
        &self.lowered.plan
    }

    /// What every run of a kernel in [`Executable::plan`] took since this was compiled: how often it ran, and
    /// nanoseconds. `None` if no profile is taken ([`surject_codegen::Options::profile`]).
    pub fn profile(&self) -> Option<Vec<(u64, u64)>> {
        let start = usize::try_from(self.lowered.profile?).ok()?;
        let runs = self.plan().lines.iter().filter(|l| l.1.is_run()).count();
        let arena = &self.own.lock().unwrap_or_else(PoisonError::into_inner).arena;
        // SAFETY: the arena ends with 16 bytes for each run, which were zeros at first, and no run is going on. They
        // are aligned because everything in the arena is.
        let slots = unsafe { std::slice::from_raw_parts(arena.as_ptr().add(start).cast::<[u64; 2]>(), runs) };
        Some(slots.iter().map(|&[count, time]| (count, time)).collect())
    }

    /// The generated module.
    pub fn text(&self) -> &str {
        &self.lowered.text
    }

    /// The machine code, and LLVM IR and assembly if they were asked for.
    pub fn module(&self) -> &CompiledModule {
        &self.module
    }

    /// What was compiled: its entries, its memory, its constants.
    pub fn lowered(&self) -> &LoweredModule {
        &self.lowered
    }

    /// How long MLIR and LLVM took.
    pub fn times(&self) -> CompileTimes {
        self.module.times
    }

    /// The bytes of memory for intermediate tensors.
    pub fn arena_bytes(&self) -> u64 {
        self.lowered.arena_bytes
    }

    /// The bytes of literal tensors.
    pub fn constant_bytes(&self) -> u64 {
        self.lowered.constants.iter().map(|c| c.len() as u64 * c.dtype().size() as u64).sum()
    }

    /// Runs the function. The results take memory of buffers that were dropped, where there is some.
    pub fn run(&self, args: &[Buffer]) -> Result<Vec<Buffer>, RunError> {
        self.check("argument", 0, args.iter())?;
        let mut results = Vec::with_capacity(self.lowered.results.len());
        for index in 0..self.lowered.results.len() {
            results.push(self.result_buffer(index)?);
        }
        self.call(args.iter().map(Buffer::as_ptr), &mut results);
        Ok(results)
    }

    fn result_buffer(&self, index: usize) -> Result<Buffer, RunError> {
        let (ty, shape) = (&self.lowered.results[index], &self.shapes[1][index]);
        Buffer::try_unwritten(ty.dtype, shape).ok_or_else(|| RunError::Memory { index, ty: ty.clone() })
    }

    /// Runs the function; a result may take over the memory of an argument that is given away
    /// ([`Executable::donations`]). With an argument of the wrong type, all that were given are dropped.
    pub fn run_with(&self, args: Vec<Argument<'_>>) -> Result<Vec<Buffer>, RunError> {
        self.check("argument", 0, args.iter().map(Argument::buffer))?;
        let pointers: Vec<*const u8> = args.iter().map(|a| a.buffer().as_ptr()).collect();
        let mut given: Vec<Option<Buffer>> = Vec::with_capacity(args.len());
        given.extend(args.into_iter().map(|a| match a {
            Argument::Read(_) => None,
            Argument::Given(buffer) => Some(buffer),
        }));
        let mut results = Vec::with_capacity(self.lowered.results.len());
        for (index, from) in self.donations().iter().enumerate() {
            let taken = from.and_then(|i| given.get_mut(i)).and_then(Option::take);
            let taken =
                taken.and_then(|b| b.recast(self.lowered.results[index].dtype, &self.shapes[1][index]));
            results.push(match taken {
                Some(taken) => taken,
                None => self.result_buffer(index)?,
            });
        }
        self.call(pointers.into_iter(), &mut results);
        Ok(results)
    }

    /// Runs the function on arguments that are all given away.
    pub fn run_owned(&self, args: Vec<Buffer>) -> Result<Vec<Buffer>, RunError> {
        self.run_with(args.into_iter().map(Argument::Given).collect())
    }

    /// For each result, the argument whose memory it takes over where that is given away: one that is not read any
    /// more when the result is first written, or only element by element where it is written.
    pub fn donations(&self) -> &[Option<usize>] {
        &self.lowered.donations
    }

    /// Buffers of the types of the results, which hold anything.
    pub fn result_buffers(&self) -> Vec<Buffer> {
        self.lowered
            .results
            .iter()
            .zip(&self.shapes[1])
            .map(|(ty, shape)| Buffer::unwritten(ty.dtype, shape))
            .collect()
    }

    /// Runs the function on buffers in place; `results` have the types of the results, and are overwritten.
    pub fn run_into(&self, args: &[&Buffer], results: &mut [Buffer]) -> Result<(), RunError> {
        self.check("argument", 0, args.iter().copied())?;
        self.check("result", 1, results.iter())?;
        self.call(args.iter().map(|b| b.as_ptr()), results);
        Ok(())
    }

    /// Runs the function. Arguments and results are of the right types; an argument is the memory of a result only
    /// where [`Executable::donations`] says so.
    fn call(&self, args: impl Iterator<Item = *const u8>, results: &mut [Buffer]) {
        let args: Vec<*const u8> = args.collect();
        let mut results: Vec<*mut u8> = results.iter_mut().map(Buffer::as_mut_ptr).collect();
        // A run that panicked (it cannot: compiled code does not unwind) would leave nothing of meaning behind.
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let Own { arena, spare } = &mut *own;
        self.lend(&args, &mut results, spare);
        // SAFETY: the entry belongs to the module that this owns. The types of all buffers are those that the module
        // was generated for, and a `Buffer` is aligned; results are exclusive borrows, so nothing overlaps but what
        // the memory plan has found may, and `lend` adds what it asks for; the arena has the size that was asked for and is held by this run alone. That
        // the generated code stays inside these buffers is the invariant of index maps: a read stays inside its tensor
        // wherever its guards hold.
        let run = || unsafe { self.entry.call(&args, &results, arena.as_mut_ptr(), &self.constants.0) };
        self.subnormals.during(run);
    }

    /// Adds the addresses of what results lend ([`LoweredModule::lent`]).
    fn lend(&self, args: &[*const u8], results: &mut Vec<*mut u8>, spare: &mut Option<Buffer>) {
        let size = |lent: &Lent| (lent.bytes as usize).next_multiple_of(ALIGN);
        let mut before = 0;
        for lent in &self.lowered.lent {
            let own = results.get(lent.result).copied().unwrap_or(std::ptr::null_mut());
            let from = self.lowered.donations.get(lent.result).copied().flatten();
            results.push(if from.and_then(|i| args.get(i)) == Some(&own.cast_const()) {
                let all = || self.lowered.lent.iter().map(size).sum();
                spare
                    .get_or_insert_with(|| Buffer::unwritten(DType::U8, &[all()]))
                    .as_mut_ptr()
                    .wrapping_add(before)
            } else {
                own
            });
            before += size(lent);
        }
    }

    /// Compares buffers with the types of the arguments (0) or of the results (1).
    fn check<'b>(
        &self,
        what: &'static str,
        side: usize,
        buffers: impl ExactSizeIterator<Item = &'b Buffer>,
    ) -> Result<(), RunError> {
        let types = if side == 0 { &self.lowered.params } else { &self.lowered.results };
        if buffers.len() != types.len() {
            return Err(RunError::Count { what, found: buffers.len(), expected: types.len() });
        }
        for (index, ((ty, shape), buffer)) in types.iter().zip(&self.shapes[side]).zip(buffers).enumerate() {
            if buffer.dtype() != ty.dtype || buffer.shape() != shape {
                let sizes: Vec<String> = buffer.shape().iter().map(usize::to_string).collect();
                let found = format!("{}[{}]", buffer.dtype(), sizes.join(","));
                return Err(RunError::Type { what, index, found, expected: ty.clone() });
            }
        }
        Ok(())
    }
}

/// The sizes of a type of an executable, which are constant.
fn shape(ty: &TensorType) -> Result<Vec<usize>, CompileError> {
    let size = |e: &Extent| e.as_const().and_then(|n| usize::try_from(n).ok());
    let sizes: Option<Vec<usize>> = ty.space.extents().iter().map(size).collect();
    sizes.ok_or_else(|| {
        let what = format!("the type {ty}, whose sizes are not constant");
        CodegenError::Unsupported { what, origin: None }.into()
    })
}
