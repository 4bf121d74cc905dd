//! From MLIR to PTX: the passes of MLIR and the code generator of LLVM, run by `mlir-opt`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where the tools of MLIR are: below the prefix that the build takes MLIR from.
pub const PREFIX: &str = "/usr/lib/llvm-22";

/// Why there is no PTX.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The tool is not there, or cannot be run.
    #[error(
        "`{}` could not be run: {error}\n  = help: install `mlir-22-tools`, or say where MLIR 22 is with \
         MLIR_SYS_220_PREFIX",
        tool.display()
    )]
    Tool {
        /// The tool.
        tool: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The passes refuse the module: a fault of the writer.
    #[error("MLIR refuses the kernels:\n{0}")]
    Passes(String),
    /// There is no PTX in what the tool gives.
    #[error("MLIR gives no PTX")]
    Missing,
}

/// The passes, in order: from a `gpu.module` to a binary with PTX for an architecture. Loops become branches, and everything
/// LLVM's; then LLVM optimises and writes PTX of the oldest ISA that has what is used: 8.0, or 8.6 for sm_100. The passes for the dialect `gpu` are not among them: they refuse
/// LLVM's square roots and fused products, and take functions of floats from libdevice.
pub fn passes(architecture: &str) -> String {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    let isa = if digits.parse().is_ok_and(|number: u32| number >= 100) { 86 } else { 80 };
    format!(
        "builtin.module(nvvm-attach-target{{chip={architecture} features=+ptx{isa} O=3}},convert-scf-to-cf,\
         convert-cf-to-llvm,convert-arith-to-llvm,convert-nvvm-to-llvm,reconcile-unrealized-casts,\
         gpu-module-to-binary{{format=isa}})"
    )
}

/// A tool of MLIR.
fn tool(name: &str) -> PathBuf {
    let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PREFIX.into(), PathBuf::from);
    prefix.join("bin").join(name)
}

/// The PTX of a [module](crate::write::module) for an architecture, such as `sm_80`.
pub fn ptx(module: &str, architecture: &str) -> Result<String, CompileError> {
    let tool = tool("mlir-opt");
    let fail = |error| CompileError::Tool { tool: tool.clone(), error };
    let mut child = Command::new(&tool)
        .arg(format!("--pass-pipeline={}", passes(architecture)))
        .args(["-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    let mut input = child.stdin.take();
    let text = module.to_string();
    // A second thread writes, so that neither waits for the other.
    let writing =
        std::thread::spawn(move || input.take().map_or(Ok(()), |mut i| i.write_all(text.as_bytes())));
    let output = child.wait_with_output().map_err(fail)?;
    let written = writing.join();
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message: Vec<&str> = message.lines().take(12).collect();
        return Err(CompileError::Passes(message.join("\n")));
    }
    if let Ok(Err(error)) = written {
        return Err(fail(error));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    extract(&text)
}

/// The PTX in what the [`passes`] make of a module, as MLIR prints it.
pub fn extract(text: &str) -> Result<String, CompileError> {
    literal(text).ok_or(CompileError::Missing)
}

/// The string of the binary: what stands between the quotes behind the target, with its escapes read.
fn literal(text: &str) -> Option<String> {
    let (_, text) = text.split_once("gpu.binary")?;
    let text = &text[text.find("#nvvm.target")?..];
    // The target itself has strings inside of `<…>`; the binary is the first one that begins like PTX.
    let at = text.find("\"//").or_else(|| text.find("\"\\0A//"))?;
    let mut bytes = Vec::new();
    let mut rest = text[at + 1..].bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return String::from_utf8(bytes).ok().map(|s| s.trim_end_matches('\0').to_string()),
            b'\\' => {
                let high = rest.next()?;
                match high {
                    b'\\' | b'"' => bytes.push(high),
                    b'n' => bytes.push(b'\n'),
                    b't' => bytes.push(b'\t'),
                    _ => {
                        let pair = [high, rest.next()?];
                        let digits = std::str::from_utf8(&pair).ok()?;
                        bytes.push(u8::from_str_radix(digits, 16).ok()?);
                    }
                }
            }
            byte => bytes.push(byte),
        }
    }
    None
}
