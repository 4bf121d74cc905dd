//! Programs as archives, which `surject-run` runs without a compiler.

use crate::{Failure, cuda};
use std::env::consts::ARCH;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_ir::{Program, TensorType};
use surject_mlir::{CompileOptions, Level, Processor};
use surject_run::{Archive, Image, Port, features};
use surject_runtime::library;

/// What an archive is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// NVIDIA GPUs of an architecture.
    Cuda(Gpu),
    /// Processors with all that this one has.
    Host,
    /// Processors of a class, and what they have.
    Cpu(Box<surject_codegen::Target>, &'static Level),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let gpus: Vec<&str> = Gpu::names().collect();
        let cpus = surject_codegen::Target::NAMES.map(|name| format!("cpu:{name}"));
        let known = || format!("cpu:host, {} or cuda: and one of {}", cpus.join(", "), gpus.join(", "));
        match text.split_once(':') {
            Some(("cpu", "host")) => Ok(Target::Host),
            Some(("cpu", name)) => {
                let target = surject_codegen::Target::named(name);
                match (target, Processor::named(name)) {
                    (Some(target), Some(Processor::Named(level))) => Ok(Target::Cpu(Box::new(target), level)),
                    (Some(_), _) => {
                        Err(format!("{name}: code is written for processors of this type ({ARCH}) only"))
                    }
                    _ => Err(known()),
                }
            }
            Some(("cuda", name)) => Gpu::named(name).map(Target::Cuda).ok_or_else(known),
            _ => Err(known()),
        }
    }
}

/// The archive of a function of a program; kernels of a GPU by these schedules, where there are any.
pub fn compile(
    program: &Program,
    function: &str,
    target: &Target,
    given: &Schedules,
) -> Result<Archive, Failure> {
    match target {
        Target::Cuda(gpu) => {
            cuda::plan(program, function, gpu, given).map(|plan| Archive::Cuda(Box::new(plan)))
        }
        Target::Host => image(program, function, &CompileOptions::default(), features()),
        Target::Cpu(target, level) => {
            let options = CompileOptions::of(**target, Processor::Named(level));
            image(program, function, &options, level.features().map(str::to_string).collect())
        }
    }
}

/// A function as a shared library for processors with these instruction sets, and what runs it.
fn image(
    program: &Program,
    function: &str,
    options: &CompileOptions,
    features: Vec<String>,
) -> Result<Archive, Failure> {
    let made = surject_mlir::objects(program, function, options);
    let (lowered, objects) = made.map_err(Failure::unsupported)?;
    let symbols = called(&objects);
    Ok(Archive::Cpu(Box::new(Image {
        name: function.to_string(),
        architecture: ARCH.to_string(),
        features,
        params: ports(&lowered.params)?,
        results: ports(&lowered.results)?,
        entry: lowered.entry,
        init: lowered.init,
        lent: lowered.lent.iter().map(|lent| lent.result).collect(),
        arena_bytes: lowered.arena_bytes,
        library: link(&objects, &symbols)?,
        symbols,
        constants: lowered.constants.iter().map(|c| c.as_ref().clone()).collect(),
    })))
}

fn ports(types: &[TensorType]) -> Result<Vec<Port>, Failure> {
    let port = |ty: &TensorType| {
        let sizes = ty.space.sizes()?.into_iter().map(|n| usize::try_from(n).ok());
        Some(Port::new(ty.dtype, &sizes.collect::<Option<Vec<usize>>>()?))
    };
    let all = types.iter().map(|ty| {
        port(ty).ok_or_else(|| Failure::unsupported(format!("the type {ty}, whose sizes are not constant")))
    });
    all.collect()
}

/// The functions of the runtime that object files may call: those whose names stand in them.
fn called(objects: &[Vec<u8>]) -> Vec<String> {
    let has = |name: &str| {
        let text = [&[0], name.as_bytes(), &[0]].concat();
        objects.iter().any(|object| object.windows(text.len()).any(|window| window == text))
    };
    library::symbols().iter().map(|s| s.name()).filter(|name| has(name)).map(str::to_string).collect()
}

/// Object files as a shared library. Its calls of the runtime jump through a table of addresses.
fn link(objects: &[Vec<u8>], symbols: &[String]) -> Result<Vec<u8>, Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::unsupported(format!("linking: {error}"));
    let folder = tempfile::tempdir().map_err(|e| fail(&e))?;
    let file = |name: &str| folder.path().join(name);
    let save = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).map_err(|e| fail(&e));
    let mut linker = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    linker.args(["-shared", "-fPIC", "-nostartfiles", "-o"]).arg(file("program.so"));
    save(&file("table.s"), table(symbols)?.as_bytes())?;
    linker.arg(file("table.s"));
    for (i, object) in objects.iter().enumerate() {
        let path = file(&format!("part{i}.o"));
        save(&path, object)?;
        linker.arg(path);
    }
    let output = linker.arg("-lm").output().map_err(|error| {
        fail(&format!("`cc` could not be run: {error}\n  = help: install a C compiler, or name one with CC"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(fail(&said.lines().take(8).collect::<Vec<&str>>().join("\n")));
    }
    std::fs::read(file("program.so")).map_err(|e| fail(&e))
}

/// Assembly of functions that jump to the addresses of a table, which is all zeros at first.
fn table(symbols: &[String]) -> Result<String, Failure> {
    let mut text = String::from(".text\n");
    for (i, name) in symbols.iter().enumerate() {
        let at = 8 * i;
        let jump = match ARCH {
            "x86_64" => format!("  jmp *surject_table_own+{at}(%rip)\n"),
            "aarch64" => format!(
                "  adrp x16, surject_table_own+{at}\n  ldr x16, [x16, :lo12:surject_table_own+{at}]\n  br x16\n"
            ),
            other => {
                return Err(Failure::unsupported(format!(
                    "archives are not written on processors of type {other}"
                )));
            }
        };
        let _ = write!(text, ".globl {name}\n.hidden {name}\n.type {name}, @function\n{name}:\n{jump}");
    }
    let bytes = 8 * symbols.len().max(1);
    let _ = write!(
        text,
        ".data\n.balign 8\n.globl surject_table\nsurject_table:\nsurject_table_own:\n  .zero {bytes}\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    );
    Ok(text)
}
