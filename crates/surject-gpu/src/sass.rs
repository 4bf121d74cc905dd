//! From PTX to the instructions of a GPU, by NVIDIA's assembler and disassembler where they are installed.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Why there are no instructions.
#[derive(Debug, thiserror::Error)]
pub enum SassError {
    /// A tool is not there, or cannot be run.
    #[error(
        "`{}` could not be run: {error}\n  = help: `pip install {package}` in a virtual environment that is active, \
         or say where it is with {variable}",
        tool.display()
    )]
    Tool {
        /// The tool.
        tool: PathBuf,
        /// The Python package that has it.
        package: &'static str,
        /// What says where it is.
        variable: &'static str,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file between the tools cannot be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A tool refuses what it gets.
    #[error("`{tool}` refuses the kernels:\n{message}")]
    Refused {
        /// The tool.
        tool: &'static str,
        /// What it says.
        message: String,
    },
}

/// A tool of NVIDIA's.
#[derive(Clone, Copy, Debug)]
struct Tool {
    name: &'static str,
    package: &'static str,
    variable: &'static str,
}

const ASSEMBLER: Tool = Tool { name: "ptxas", package: "nvidia-cuda-nvcc", variable: "SURJECT_PTXAS" };
const DISASSEMBLER: Tool =
    Tool { name: "nvdisasm", package: "nvidia-cuda-nvdisasm", variable: "SURJECT_NVDISASM" };

impl Tool {
    /// Where it is: where a variable says, in the packages of the virtual environment, else on the path.
    fn path(self) -> PathBuf {
        if let Some(path) = std::env::var_os(self.variable) {
            return path.into();
        }
        let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
        let pythons = environment.and_then(|root| std::fs::read_dir(root.join("lib")).ok());
        let places = pythons.into_iter().flatten().flatten().flat_map(|python| {
            let nvidia = python.path().join("site-packages/nvidia");
            ["cu13", "cuda_nvcc", "cuda_nvdisasm"].map(|part| nvidia.join(part).join("bin").join(self.name))
        });
        places.into_iter().find(|path| path.is_file()).unwrap_or_else(|| self.name.into())
    }

    fn run(self, arguments: &[&std::ffi::OsStr]) -> Result<Output, SassError> {
        let tool = self.path();
        let Tool { package, variable, .. } = self;
        let output = Command::new(&tool).args(arguments).output();
        let output = output.map_err(|error| SassError::Tool { tool, package, variable, error })?;
        if output.status.success() {
            return Ok(output);
        }
        let said = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text).into_owned());
        let lines: Vec<&str> = said.iter().flat_map(|text| text.lines()).take(12).collect();
        Err(SassError::Refused { tool: self.name, message: lines.join("\n") })
    }
}

/// The instructions of PTX for an architecture, such as `sm_80`, as `nvdisasm` writes them.
///
/// Errors: a tool that is not installed, PTX that the assembler refuses, no room for files between them.
pub fn sass(ptx: &str, architecture: &str) -> Result<String, SassError> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("surject-sass-{}-{number}", std::process::id()));
    let file = |path: &PathBuf, error| SassError::File { path: path.clone(), error };
    std::fs::create_dir_all(&directory).map_err(|error| file(&directory, error))?;
    let made = || {
        let (source, binary) = (directory.join("kernels.ptx"), directory.join("kernels.cubin"));
        std::fs::write(&source, ptx).map_err(|error| file(&source, error))?;
        let target = format!("-arch={architecture}");
        ASSEMBLER.run(&[target.as_ref(), "-o".as_ref(), binary.as_ref(), source.as_ref()])?;
        let output = DISASSEMBLER.run(&["-c".as_ref(), binary.as_ref()])?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let made = made();
    // What is left there says nothing of the kernels.
    let _ = std::fs::remove_dir_all(&directory);
    made
}
