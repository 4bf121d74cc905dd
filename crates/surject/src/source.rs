//! Reading a program from a file, whatever form it has.

use crate::Failure;
use crate::tensor_source::TensorProgram;
use std::path::Path;
use surject_ir::Program;
use surject_lift::{ImportOptions, LiftError};
use surject_stablehlo::Module;

/// The text of a program, and the name under which messages speak of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file name.
    pub name: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The form of the text.
    pub kind: SourceKind,
}

/// The forms a program can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// StableHLO text, as JAX prints it, or a portable artifact.
    StableHlo,
    /// A module of the Surject dialect.
    Dialect,
    /// The text form of a `Program` (`.program`).
    Program,
    /// Tensors without shapes (`.sj`).
    Tensor,
    /// Kernels of the kernel IR (`.kernel`), as `--emit kernel` prints them.
    Kernels,
    /// MLIR of explicit code, as `--emit mlir` prints it: functions of the `llvm` dialect.
    ExplicitMlir,
}

impl Source {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Source, Failure> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
        Source::new(name, bytes)
    }

    /// Takes a program from memory; the name's extension and the first bytes tell its form.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>) -> Result<Source, Failure> {
        let name = name.into();
        // An artifact is its text from here on: messages give a line of that text.
        let bytes = match surject_stablehlo::artifact::is_artifact(&bytes) {
            true => {
                let module =
                    surject_stablehlo::parse(&bytes).map_err(|d| Failure::diagnosed(&d, &name, &bytes))?;
                surject_stablehlo::print(&module).into_bytes()
            }
            false => bytes,
        };
        let kind = match Path::new(&name).extension().and_then(|e| e.to_str()) {
            Some("program") => SourceKind::Program,
            Some("sj") => SourceKind::Tensor,
            Some("kernel") => SourceKind::Kernels,
            _ if contains(&bytes, b"\"surject.") => SourceKind::Dialect,
            _ if contains(&bytes, b"llvm.func ") && !contains(&bytes, b"stablehlo.") => {
                SourceKind::ExplicitMlir
            }
            _ => SourceKind::StableHlo,
        };
        Ok(Source { name, bytes, kind })
    }

    /// The text; bad UTF-8 is named with its position.
    pub fn text(&self) -> Result<&str, Failure> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let line = 1 + self.bytes[..at].iter().filter(|&&b| b == b'\n').count();
            let column = 1 + self.bytes[..at].iter().rev().take_while(|&&b| b != b'\n').count();
            Failure::bad_input(format!(
                "{}:{line}:{column}: error[SJ0101]: the byte 0x{:02x} at offset {at} is not UTF-8 text\n  \
                 = help: a program is text; StableHLO text comes from `jax.jit(f).lower(...).as_text()`",
                self.name, self.bytes[at]
            ))
        })
    }

    /// The StableHLO module, parsed and verified; `None` when the source has another form.
    pub fn stablehlo(&self) -> Result<Option<Module>, Failure> {
        if self.kind != SourceKind::StableHlo {
            return Ok(None);
        }
        // The parser takes bytes: it points at what is not UTF-8 as well.
        let module = surject_stablehlo::parse_and_verify(&self.bytes);
        module.map(Some).map_err(|d| Failure::diagnosed(&d, &self.name, &self.bytes))
    }

    /// The program of assignments: of a StableHLO module the function that is asked for, else its entry, so that
    /// what other functions need does not matter; of tensor source `main`, unless `init` is asked for.
    pub fn program(&self, function: Option<&str>) -> Result<Program, Failure> {
        match self.kind {
            SourceKind::StableHlo => {
                let module = self.stablehlo()?.unwrap_or_default();
                let function = function.or(module.entry().map(|f| f.name.as_str()));
                let options = ImportOptions { function, ..self.import_options() };
                surject_lift::import(&module, &options).map_err(|e| self.lift_failure(&e))
            }
            _ => self.other_program(function),
        }
    }

    /// As [`Source::program`], with where tensors lie on a mesh of devices: for forms that are written again.
    pub fn sharded_program(&self, function: Option<&str>) -> Result<Program, Failure> {
        match self.stablehlo()? {
            Some(module) => {
                let function = function.or(module.entry().map(|f| f.name.as_str()));
                let options = ImportOptions { function, ..self.import_options() };
                surject_lift::import_sharded(&module, &options).map_err(|e| self.lift_failure(&e))
            }
            None => self.other_program(function),
        }
    }

    /// The program of a source that is not StableHLO.
    fn other_program(&self, function: Option<&str>) -> Result<Program, Failure> {
        match self.kind {
            SourceKind::StableHlo => self.program(function),
            SourceKind::Dialect => surject_mlir::dialect::parse(self.text()?)
                .map_err(|e| Failure::bad_input(format!("{}: {e}", self.name))),
            SourceKind::Program => {
                let program = surject_ir::parse(self.text()?)
                    .map_err(|e| Failure::bad_input(format!("{}:{e}", self.name)))?;
                surject_ir::verify(&program)
                    .map_err(|e| Failure::bad_input(format!("{}: {e}", self.name)))?;
                Ok(program)
            }
            SourceKind::Kernels | SourceKind::ExplicitMlir => {
                let what = if self.kind == SourceKind::Kernels { "kernels" } else { "explicit MLIR" };
                Err(Failure::bad_input(format!(
                    "{}: this is {what}, a stage behind that of a program\n  = help: `surject opt` reads it, and takes it \
                     to the stages after it",
                    self.name
                )))
            }
            SourceKind::Tensor => {
                let mut program = self.tensor()?.lowered.program;
                let wanted = function.unwrap_or("main");
                if program.function(wanted).is_some() {
                    program.functions.retain(|f| f.name == wanted);
                }
                Ok(program)
            }
        }
    }

    /// The program of tensor source.
    pub fn tensor(&self) -> Result<TensorProgram, Failure> {
        crate::tensor_source::lower(&self.name, self.text()?)
    }

    /// How StableHLO of this source is imported: statements remember line and column.
    pub fn import_options(&self) -> ImportOptions<'_> {
        ImportOptions { function: None, file: &self.name, source: &self.bytes }
    }

    /// A lift error with the line it is about.
    pub fn lift_failure(&self, error: &LiftError) -> Failure {
        let message = error.diagnostic().render(&self.name, &self.bytes);
        if error.exit_status() == 3 { Failure::unsupported(message) } else { Failure::bad_input(message) }
    }

    /// Whether the text is StableHLO that may have a `?` in a shape; cheap, and certain where it says no.
    pub(crate) fn may_be_dynamic(&self) -> bool {
        self.kind == SourceKind::StableHlo && (contains(&self.bytes, b"<?") || contains(&self.bytes, b"x?"))
    }

    /// May data give a size of a dynamic module? A search of the bytes, which knows more than it should rather than less.
    pub(crate) fn may_truncate(&self) -> bool {
        [&b"set_dimension_size"[..], b"real_dynamic_slice"].iter().any(|name| contains(&self.bytes, name))
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|w| w == needle)
}
