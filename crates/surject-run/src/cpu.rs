//! Programs for a processor: a shared library whose calls of the runtime go through a table.

use crate::archive::Image;
use crate::loaded::RunnerError;
use libloading::Library;
use std::io::Write;
use surject_runtime::memory::Block;
use surject_runtime::{Buffer, Entry, Subnormals, library};

/// The name of the table of runtime functions in the shared library.
const TABLE: &[u8] = b"surject_table";

/// What this processor has, of all that code for it may use: what an archive asks for, and what a runner finds.
pub fn features() -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! look {
            ($($name:tt)*) => { $(if std::is_x86_feature_detected!($name) { found.push($name); })* };
        }
        look!("sse4.2" "popcnt" "lzcnt" "movbe" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2" "avx512f" "avx512bw" "avx512cd" "avx512dq"
            "avx512vl" "avx512vnni" "avx512bf16" "avx512vbmi" "avx512vbmi2" "avx512ifma" "avx512bitalg" "avx512vpopcntdq"
            "avx512fp16" "avxvnni" "avxifma" "avxvnniint8" "avxvnniint16" "gfni" "pclmulqdq" "vpclmulqdq");
        let tiles = surject_runtime::tiles::host();
        found.extend(tiles.bytes.then_some("amx-int8"));
        found.extend(tiles.halves.then_some("amx-bf16"));
    }
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! look {
            ($($name:tt)*) => { $(if std::arch::is_aarch64_feature_detected!($name) { found.push($name); })* };
        }
        look!("neon" "fp16" "dotprod" "bf16" "i8mm" "sve");
    }
    found.sort_unstable();
    found.into_iter().map(str::to_string).collect()
}

/// A program for a processor, in this process.
pub(crate) struct CpuProgram {
    image: Image,
    entry: Entry,
    arena: Block,
    constants: Vec<*const u8>,
    /// Holds the code of `entry`; it is closed last.
    _library: Library,
}

// SAFETY: the constants are those of the image, which moves with it and whose buffers stay where they are; they are only
// read. The code may run in any thread; one at a time has `&mut`.
unsafe impl Send for CpuProgram {}

impl CpuProgram {
    pub(crate) fn new(image: Image) -> Result<CpuProgram, RunnerError> {
        if image.architecture != std::env::consts::ARCH {
            let (wanted, found) = (image.architecture, std::env::consts::ARCH);
            return Err(RunnerError::Machine(format!("the code is for {wanted}, and this is {found}")));
        }
        let own = features();
        let missing: Vec<&str> =
            image.features.iter().filter(|f| !own.contains(f)).map(String::as_str).collect();
        if !missing.is_empty() {
            return Err(RunnerError::Machine(format!("this processor lacks {}", missing.join(", "))));
        }
        let load = |error: &dyn std::fmt::Display| RunnerError::Code(error.to_string());
        let mut file =
            tempfile::Builder::new().prefix("surject-").suffix(".so").tempfile().map_err(|e| load(&e))?;
        file.write_all(&image.library).map_err(|e| load(&e))?;
        let path = file.into_temp_path();
        // SAFETY: the library is code of our compiler, and has no initialisers.
        let library = unsafe { Library::new(path.as_os_str()) }.map_err(|e| load(&e))?;
        fill(&library, &image.symbols)?;
        let entry = function(&library, &image.entry)?;
        let too_large = || RunnerError::Memory { what: "the arena".into(), bytes: image.arena_bytes };
        let bytes = usize::try_from(image.arena_bytes).map_err(|_| too_large())?;
        let mut arena = Block::unwritten(bytes).ok_or_else(too_large)?;
        let constants: Vec<*const u8> = image.constants.iter().map(Buffer::as_ptr).collect();
        if let Some(init) = &image.init {
            let init = function(&library, init)?;
            // SAFETY: as in `run`; it reads no argument and writes no result.
            unsafe { init.call(&[], &[], arena.as_mut_ptr(), &constants) };
        }
        Ok(CpuProgram { image, entry, arena, constants, _library: library })
    }

    /// Runs the program on arguments of the right types.
    pub(crate) fn run(&mut self, args: &[Buffer]) -> Result<Vec<Buffer>, RunnerError> {
        let mut results = Vec::new();
        for (i, port) in self.image.results.iter().enumerate() {
            let buffer = port.dtype().and_then(|dtype| Buffer::try_unwritten(dtype, &port.shape));
            let bytes = port.bytes().unwrap_or(0) as u64;
            results.push(buffer.ok_or_else(|| RunnerError::Memory { what: format!("result {i}"), bytes })?);
        }
        let args: Vec<*const u8> = args.iter().map(Buffer::as_ptr).collect();
        let mut addresses: Vec<*mut u8> = results.iter_mut().map(Buffer::as_mut_ptr).collect();
        for &lent in &self.image.lent {
            addresses.push(addresses.get(lent).copied().unwrap_or(std::ptr::null_mut()));
        }
        let arena = self.arena.as_mut_ptr();
        // SAFETY: the entry belongs to the library that this holds; buffers have the types that the code was made for, and
        // are aligned; results overlap with nothing; the arena has the size that was asked for.
        let run = || unsafe { self.entry.call(&args, &addresses, arena, &self.constants) };
        Subnormals::default().during(run);
        Ok(results)
    }
}

/// The function of a name.
fn function(library: &Library, name: &str) -> Result<Entry, RunnerError> {
    // SAFETY: functions that an image names are entries; who asks for one holds the library.
    let found = unsafe { library.get::<*const ()>(name.as_bytes()).map(|symbol| Entry::at(*symbol)) };
    found.map_err(|error| RunnerError::Code(error.to_string()))
}

/// Writes the addresses of the functions of the runtime into the table.
fn fill(code: &Library, symbols: &[String]) -> Result<(), RunnerError> {
    if symbols.is_empty() {
        return Ok(());
    }
    // SAFETY: the name is that of an array of as many addresses as there are symbols.
    let table = unsafe { code.get::<*mut *const ()>(TABLE) };
    let table = table.map_err(|error| RunnerError::Code(error.to_string()))?;
    for (i, name) in symbols.iter().enumerate() {
        let known = library::symbols().iter().find(|symbol| symbol.name() == name);
        let known = known.ok_or_else(|| {
            RunnerError::Code(format!(
                "the runtime has no function `{name}`: the archive is of another version"
            ))
        })?;
        // SAFETY: as above. Nothing runs yet.
        unsafe { (*table).add(i).write(known.address()) };
    }
    Ok(())
}
