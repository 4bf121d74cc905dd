//! Module text → machine code in this process.
//!
//! # The input
//!
//! A module of explicit `func`, `scf`, `vector`, `memref`, `arith`, `math`, `complex`, `cf` and `llvm` operations,
//! lowered by a pipeline of [`crate::pipelines`]. Functions are `func.func` or `llvm.func` and take `i64` and `!llvm.ptr` only, so that their C
//! ABI is that of the signature. Forms to rely on, each with a test in `tests/mlir/jit.rs`:
//!
//! * **Kernels** are functions `(%task: i64, %worker: i64, %pointers: !llvm.ptr)`, where `%pointers` is an array of data
//!   pointers: `llvm.getelementptr %pointers[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr` and `llvm.load` give one.
//! * **A pointer becomes a memref** in two lines, through a descriptor whose only field that matters is the aligned
//!   pointer; everything else folds away (a memref of static shape, or a dynamic one-dimensional memref whose size
//!   nobody asks, reads no other field):
//!
//!   ```mlir
//!   %u = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//!   %d = llvm.insertvalue %p, %u[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
//!   %m = builtin.unrealized_conversion_cast %d
//!          : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> to memref<?xf32>
//!   ```
//!
//! * **The thread pool** is called with the address of a kernel:
//!
//!   ```mlir
//!   func.func private @surject_parallel(!llvm.ptr, i64, i64, !llvm.ptr)
//!   %f = func.constant @kernel : (i64, i64, !llvm.ptr) -> ()
//!   %k = builtin.unrealized_conversion_cast %f : (i64, i64, !llvm.ptr) -> () to !llvm.ptr
//!   func.call @surject_parallel(%k, %tasks, %workers, %pointers) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()
//!   ```
//!
//! * **The entry** is `func.func @NAME(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
//!   %constants: !llvm.ptr)`; `%args`, `%results` and `%constants` are arrays of data pointers.
//! * **Booleans in memory** are bytes: use `memref<?xi8>`. A `memref<?xi1>` is loaded and stored in bits by vector
//!   operations.

use crate::cache::{self, Key};
use crate::code;
use crate::guard::on_large_stack;
use crate::llvm::{Linked, LlvmModule, Machine, Output};
use crate::pipelines::{Kind, Pipeline};
use crate::session::{Session, printed};
use crate::symbols;
use crate::{MlirError, Processor, Stage};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use surject_codegen::Part;
use surject_runtime::Entry;
use surject_runtime::pool::threads;

/// The optimisation level of parts in which no time is spent: loops are cleaned up, and then every instruction is taken
/// by itself.
pub const LEAST: u8 = 1;

/// How a module is compiled.
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// The optimisation level, 0 to 3: none, the least ([`LEAST`]), what explicit code needs, all that LLVM has.
    pub opt_level: u8,
    /// Keep the LLVM IR and the assembly in the result.
    pub dump: bool,
    /// The folder of compiled modules; where there is none, that of the environment variable `SURJECT_CACHE`, if it
    /// is set. What was compiled in this process is found in memory.
    pub cache: Option<PathBuf>,
    /// The processor that code is for. What is linked into this process is for the one at hand, or one that has less.
    pub processor: Processor,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions { opt_level: 2, dump: false, cache: None, processor: Processor::Host }
    }
}

/// Where the time of a compilation went: of parts that are compiled side by side, that of a thread, on average.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileTimes {
    /// Creating the MLIR context.
    pub context: Duration,
    /// Building the module, or parsing its text, and verifying it.
    pub parse: Duration,
    /// The MLIR passes.
    pub passes: Duration,
    /// Translation to LLVM IR and its optimisation.
    pub optimize: Duration,
    /// Machine code.
    pub codegen: Duration,
    /// Linking into the process.
    pub link: Duration,
}

impl CompileTimes {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.context + self.parse + self.passes + self.optimize + self.codegen + self.link
    }

    /// What each of so many threads has of the times of some parts.
    fn shared<'a>(parts: impl Iterator<Item = &'a CompileTimes>, threads: usize) -> CompileTimes {
        let mut all = CompileTimes::default();
        for part in parts {
            all.context += part.context;
            all.parse += part.parse;
            all.passes += part.passes;
            all.optimize += part.optimize;
            all.codegen += part.codegen;
            all.link += part.link;
        }
        let each = |time: Duration| time / u32::try_from(threads).unwrap_or(1).max(1);
        CompileTimes {
            context: each(all.context),
            parse: each(all.parse),
            passes: each(all.passes),
            optimize: each(all.optimize),
            codegen: each(all.codegen),
            link: each(all.link),
        }
    }
}

/// A module compiled for this machine and mapped into this process.
pub struct CompiledModule {
    linked: Linked,
    objects: Vec<Vec<u8>>,
    /// How long it took.
    pub times: CompileTimes,
    /// The optimised LLVM IR, if [`JitOptions::dump`] was set.
    pub llvm_ir: Option<String>,
    /// The assembly, if [`JitOptions::dump`] was set.
    pub assembly: Option<String>,
}

/// Forgets the modules that were compiled in this process, for measuring what compiling costs.
pub fn forget() {
    crate::cache::forget();
}

/// Compiles a module text for this machine. Errors name the line of the text where MLIR knows one.
pub fn compile(text: &str, options: &JitOptions) -> Result<CompiledModule, MlirError> {
    compile_parts(&[Part::hot(text)], options)
}

/// Compiles modules side by side, as many at a time as there are threads, and links them into one: what one declares,
/// another may define. The first error is that of the first part that has one.
pub fn compile_parts(parts: &[Part], options: &JitOptions) -> Result<CompiledModule, MlirError> {
    let (compiled, times) = compiled(parts, options)?;
    let join = |text: fn(&Object) -> Option<&String>| -> Option<String> {
        compiled
            .iter()
            .map(text)
            .collect::<Option<Vec<&String>>>()
            .map(|all| all.into_iter().map(String::as_str).collect::<Vec<&str>>().join("\n"))
    };
    let (llvm_ir, assembly) = (join(|p| p.llvm_ir.as_ref()), join(|p| p.assembly.as_ref()));
    let module = link(compiled.into_iter().map(|p| p.object).collect())?;
    let times = CompileTimes { link: module.times.link, ..times };
    Ok(CompiledModule { times, llvm_ir, assembly, ..module })
}

/// The object files of modules, as in [`compile_parts`], for any processor.
pub(crate) fn objects(parts: &[Part], options: &JitOptions) -> Result<Vec<Vec<u8>>, MlirError> {
    Ok(compiled(parts, options)?.0.into_iter().map(|part| part.object).collect())
}

/// Modules as machine code that is not linked, and the time of it.
fn compiled(parts: &[Part], options: &JitOptions) -> Result<(Vec<Object>, CompileTimes), MlirError> {
    let side_by_side = threads().min(parts.len());
    let next = AtomicUsize::new(0);
    let some = || {
        let mut compiled = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = parts.get(number) else { return compiled };
            compiled.push((number, part(one, options)));
        }
    };
    let mut compiled: Vec<(usize, Result<Object, MlirError>)> = std::thread::scope(|scope| {
        // Where the system refuses a thread, the others have more to do.
        let others: Vec<_> = (1..side_by_side)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, || on_large_stack(some)).ok())
            .collect();
        let own = on_large_stack(some);
        let lost = |_| vec![(0, Err(MlirError::new(Stage::Codegen, "a thread of the compiler panicked")))];
        let others = others.into_iter().flat_map(|thread| thread.join().unwrap_or_else(lost));
        own.into_iter().chain(others).collect()
    });
    compiled.sort_by_key(|part| part.0);
    let compiled: Vec<Object> = compiled.into_iter().map(|part| part.1).collect::<Result<_, _>>()?;
    let times = CompileTimes::shared(compiled.iter().map(|p| &p.times), side_by_side);
    Ok((compiled, times))
}

/// Links object files of this machine.
pub(crate) fn link(objects: Vec<Vec<u8>>) -> Result<CompiledModule, MlirError> {
    let start = Instant::now();
    let slices: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    let linked = Linked::new(&slices, &symbols::table())?;
    let times = CompileTimes { link: start.elapsed(), ..CompileTimes::default() };
    Ok(CompiledModule { linked, objects, times, llvm_ir: None, assembly: None })
}

/// What machine code depends on beside the text of a module.
pub(crate) fn machine(options: &JitOptions) -> Result<String, MlirError> {
    let machine = Machine::of(options.processor, options.opt_level)?;
    let whole = Key { text: "", level: options.opt_level, machine: machine.name() }.whole();
    machine.keep();
    Ok(whole)
}

/// A module as machine code that is not linked.
struct Object {
    object: Vec<u8>,
    times: CompileTimes,
    llvm_ir: Option<String>,
    assembly: Option<String>,
}

fn part(part: &Part, options: &JitOptions) -> Result<Object, MlirError> {
    let text = part.text.as_str();
    let level = if part.cold { options.opt_level.min(LEAST) } else { options.opt_level };
    let mut times = CompileTimes::default();
    let machine = Machine::of(options.processor, level)?;
    let key = Key { text, level, machine: machine.name() };
    let cache = options.cache.as_deref();
    if let Some(object) = (!options.dump).then(|| cache::find(&key, cache)).flatten() {
        machine.keep();
        return Ok(Object { object, times, llvm_ir: None, assembly: None });
    }
    let module = lower(part, &machine, &mut times)?;
    let start = Instant::now();
    module.optimize(level, &machine)?;
    times.optimize += start.elapsed();

    let (mut llvm_ir, mut assembly) = (None, None);
    if options.dump {
        let ir = module.text();
        assembly = Some(String::from_utf8_lossy(&module.emit(&machine, Output::Assembly)?).into_owned());
        llvm_ir = Some(ir);
    }
    let start = Instant::now();
    let object = module.emit(&machine, Output::Object)?;
    times.codegen = start.elapsed();
    cache::keep(&key, cache, &object);
    drop(module);
    machine.keep();
    Ok(Object { object, times, llvm_ir, assembly })
}

/// The LLVM IR of a module text before LLVM's own optimisations.
pub fn llvm_ir(text: &str) -> Result<String, MlirError> {
    on_large_stack(|| {
        Ok(lower(&Part::hot(text), &Machine::of(Processor::Host, 2)?, &mut CompileTimes::default())?.text())
    })
}

/// A module text as MLIR prints it after reading and verifying it.
pub fn checked(text: &str) -> Result<String, MlirError> {
    on_large_stack(|| {
        let session = Session::new();
        let module = session.parse(text)?;
        Ok(printed(&module))
    })
}

/// A module of generated code as MLIR prints it after building and verifying it.
pub fn built(code: &surject_codegen::code::Module) -> Result<String, MlirError> {
    on_large_stack(|| {
        let session = Session::new();
        let (module, _) = code::module(session.context(), code)?;
        session.verify(&module)?;
        Ok(printed(&module))
    })
}

/// The module text after the passes: the `llvm` dialect.
pub fn llvm_dialect(text: &str) -> Result<String, MlirError> {
    on_large_stack(|| {
        let session = Session::new();
        let mut module = session.parse(text)?;
        session.run(&Pipeline::of(text).passes, &mut module, text)?;
        Ok(printed(&module))
    })
}

/// A module → LLVM IR.
fn lower(part: &Part, machine: &Machine, times: &mut CompileTimes) -> Result<LlvmModule, MlirError> {
    let mut start = Instant::now();
    let mut lap = |into: &mut Duration| *into = std::mem::replace(&mut start, Instant::now()).elapsed();
    let session = Session::kept();
    lap(&mut times.context);
    let text = part.text.as_str();
    let (mut module, pipeline) = match &part.code {
        Some(code) => {
            let (module, pipeline) = code::module(session.context(), code)?;
            session.verify(&module)?;
            (module, pipeline)
        }
        None => (session.parse(text)?, Pipeline::of(text)),
    };
    lap(&mut times.parse);
    session.run(&pipeline.passes, &mut module, text)?;
    lap(&mut times.passes);
    // SAFETY: the module lives until it is dropped.
    let translated = unsafe { LlvmModule::translate(module.as_operation().to_raw(), machine) };
    let translated = translated.ok_or_else(|| session.error(Stage::Translate, text))?;
    drop(module);
    if pipeline.kind == Kind::Direct {
        session.keep(text.len());
    }
    translated.allow_products(machine)?;
    translated.verify()?;
    lap(&mut times.optimize);
    Ok(translated)
}

impl CompiledModule {
    /// The address of a function of the module; `None` if there is none of this name.
    pub fn lookup(&self, name: &str) -> Option<*const ()> {
        self.linked.lookup(name).ok()
    }

    /// The object files, one for each part.
    pub fn objects(&self) -> &[Vec<u8>] {
        &self.objects
    }

    /// The entry of this name. A module whose outside symbols are not all known is refused here, with their names.
    pub fn entry(&self, name: &str) -> Result<EntryPoint<'_>, MlirError> {
        Ok(EntryPoint { function: self.entry_function(name)?, _module: self })
    }

    /// The entry as a function, valid while the module lives.
    pub(crate) fn entry_function(&self, name: &str) -> Result<Entry, MlirError> {
        let address = self.linked.lookup(name)?;
        // SAFETY: the code generator's entry has this signature (module documentation); what a caller may assume
        // of it is stated where it is called.
        Ok(unsafe { Entry::at(address) })
    }
}

/// The entry function of a compiled module.
pub struct EntryPoint<'m> {
    function: Entry,
    _module: &'m CompiledModule,
}

impl EntryPoint<'_> {
    /// Runs the function.
    ///
    /// # Safety
    /// The symbol has the entry signature of the module documentation. The pointers are as many, and each points to
    /// as many bytes and is aligned, as the code of the module expects; results and arena are not aliased.
    pub unsafe fn call(
        &self,
        args: &[*const u8],
        results: &[*mut u8],
        arena: *mut u8,
        constants: &[*const u8],
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.function.call(args, results, arena, constants) };
    }
}
