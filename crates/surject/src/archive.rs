//! Programs as archives, which `surject-run` runs without a compiler.

use crate::{Failure, cuda};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_ir::{Program, TensorType};
use surject_mlir::{CompileOptions, Executable};
use surject_run::{Archive, Image, Port, features};
use surject_runtime::library;

/// What an archive is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// NVIDIA GPUs of an architecture.
    Cuda(Gpu),
    /// Processors like this one.
    Cpu,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let gpus: Vec<&str> = Gpu::ALL.iter().map(|gpu| gpu.name).collect();
        let known = || format!("cpu:host or cuda: and one of {}", gpus.join(", "));
        match text.split_once(':') {
            Some(("cpu", "host")) => Ok(Target::Cpu),
            Some(("cpu", other)) => {
                Err(format!("`{other}`: native code is that of this processor; known are {}", known()))
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
        Target::Cpu => {
            let executable = surject_mlir::compile(program, function, &CompileOptions::default());
            image(function, &executable.map_err(Failure::unsupported)?)
                .map(|image| Archive::Cpu(Box::new(image)))
        }
    }
}

/// An executable as a shared library and what runs it.
fn image(name: &str, executable: &Executable) -> Result<Image, Failure> {
    let lowered = executable.lowered();
    let objects = executable.module().objects();
    let symbols = called(objects);
    Ok(Image {
        name: name.to_string(),
        architecture: std::env::consts::ARCH.to_string(),
        features: features(),
        params: ports(&lowered.params)?,
        results: ports(&lowered.results)?,
        entry: lowered.entry.clone(),
        init: lowered.init.clone(),
        lent: lowered.lent.iter().map(|lent| lent.result).collect(),
        arena_bytes: lowered.arena_bytes,
        library: link(objects, &symbols)?,
        symbols,
        constants: lowered.constants.iter().map(|c| c.as_ref().clone()).collect(),
    })
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
        let jump = match std::env::consts::ARCH {
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
