//! The file format: a safetensors file, whose metadata says what it is and whose tensors are code and constants.
//!
//! The metadata has `surject` (the version of the format), `kind` (`cuda` or `cpu`), `program` (a plan or an [`Image`] as
//! JSON), `constants` (their types as JSON) and `checksum` (the CRC-32 of all these and of the tensors). The tensor `code` is
//! PTX or a shared library; `constant.N` are the bytes of the constants.

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use surject_cuda::{Plan, TensorId};
use surject_runtime::{Buffer, DType};

/// The version of the format, which changes with what a plan or an image holds.
const VERSION: &str = "5";

/// The type of an argument, a result or a constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    /// The type of its elements, by name.
    pub dtype: String,
    /// Its sizes.
    pub shape: Vec<usize>,
}

impl Port {
    /// The type of a tensor of these elements and sizes.
    pub fn new(dtype: DType, shape: &[usize]) -> Port {
        Port { dtype: dtype.to_string(), shape: shape.to_vec() }
    }

    /// The type of the elements; `None` where the name is none.
    pub fn dtype(&self) -> Option<DType> {
        self.dtype.parse().ok()
    }

    /// The bytes of such a tensor; `None` where there are more than memory has.
    pub fn bytes(&self) -> Option<usize> {
        let count = self.shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size))?;
        count.checked_mul(self.dtype()?.size()).filter(|&bytes| isize::try_from(bytes).is_ok())
    }
}

impl std::fmt::Display for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        write!(f, "{}[{}]", self.dtype, sizes.join(","))
    }
}

/// A program for a processor. Its code is a shared library that calls functions of the runtime through a table
/// ([`Image::symbols`]) which the runner fills.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// The architecture that the code is for, such as `x86_64`.
    pub architecture: String,
    /// What the processor must have, by the names that Rust knows.
    pub features: Vec<String>,
    /// The types of the arguments.
    pub params: Vec<Port>,
    /// The types of the results.
    pub results: Vec<Port>,
    /// The function that runs the program.
    pub entry: String,
    /// The function that prepares the arena, where there is one.
    pub init: Option<String>,
    /// Results whose memory is lent for intermediate tensors, by number; their addresses stand behind those of the results.
    pub lent: Vec<usize>,
    /// The bytes of memory for intermediate tensors.
    pub arena_bytes: u64,
    /// The functions of the runtime that the code calls, in the order of its table.
    pub symbols: Vec<String>,
    /// Literals.
    #[serde(skip)]
    pub constants: Vec<Buffer>,
    /// The shared library.
    #[serde(skip)]
    pub library: Vec<u8>,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub enum Archive {
    /// For an NVIDIA GPU.
    Cuda(Box<Plan>),
    /// For a processor.
    Cpu(Box<Image>),
}

/// Why a file is not written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// It is no archive, or a damaged one.
    #[error("{}: this is no archive of Surject: {reason}\n  = help: `surject compile PROGRAM -o OUT.sjx` writes one", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The program cannot be stored.
    #[error("the program cannot be stored: {0}")]
    Store(String),
}

impl Archive {
    /// The types of the arguments.
    pub fn params(&self) -> Vec<Port> {
        match self {
            Archive::Cuda(plan) => ports(plan, &plan.params),
            Archive::Cpu(image) => image.params.clone(),
        }
    }

    /// The types of the results.
    pub fn results(&self) -> Vec<Port> {
        match self {
            Archive::Cuda(plan) => ports(plan, &plan.results),
            Archive::Cpu(image) => image.results.clone(),
        }
    }

    /// The archive as bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArchiveError> {
        let (kind, program, code, constants) = match self {
            Archive::Cuda(plan) => {
                ("cuda", serde_json::to_string(plan), plan.ptx.as_bytes(), &plan.constants)
            }
            Archive::Cpu(image) => {
                ("cpu", serde_json::to_string(image), &image.library[..], &image.constants)
            }
        };
        let store = |error: &dyn std::fmt::Display| ArchiveError::Store(error.to_string());
        let types: Vec<Port> = constants.iter().map(|c| Port::new(c.dtype(), c.shape())).collect();
        let program = program.map_err(|e| store(&e))?;
        let types = serde_json::to_string(&types).map_err(|e| store(&e))?;
        let data = std::iter::once(code).chain(constants.iter().map(Buffer::bytes));
        let checksum = checksum([kind, &program, &types], data);
        let metadata = HashMap::from([
            ("surject".to_string(), VERSION.to_string()),
            ("kind".to_string(), kind.to_string()),
            ("program".to_string(), program),
            ("constants".to_string(), types),
            ("checksum".to_string(), checksum),
        ]);
        let mut tensors = vec![("code".to_string(), code)];
        tensors.extend(constants.iter().enumerate().map(|(i, c)| (format!("constant.{i}"), c.bytes())));
        let views = tensors.into_iter().map(|(name, bytes)| {
            TensorView::new(Dtype::U8, vec![bytes.len()], bytes).map(|view| (name, view))
        });
        let views = views.collect::<Result<Vec<_>, _>>().map_err(|e| store(&e))?;
        let bytes = safetensors::serialize(views, Some(metadata)).map_err(|e| store(&e))?;
        // What is nested more deeply than a reader follows is refused here, not there.
        parse(&bytes).map_err(ArchiveError::Store)?;
        Ok(bytes)
    }

    /// Writes the archive.
    pub fn write(&self, path: &Path) -> Result<(), ArchiveError> {
        let bytes = self.to_bytes()?;
        std::fs::write(path, bytes).map_err(|error| ArchiveError::File { path: path.into(), error })
    }

    /// Reads an archive.
    pub fn read(path: &Path) -> Result<Archive, ArchiveError> {
        let bytes = std::fs::read(path).map_err(|error| ArchiveError::File { path: path.into(), error })?;
        parse(&bytes).map_err(|reason| ArchiveError::Format { path: path.into(), reason })
    }
}

fn ports(plan: &Plan, ids: &[TensorId]) -> Vec<Port> {
    ids.iter().map(|&id| plan.tensor(id)).map(|t| Port::new(t.dtype, &t.shape)).collect()
}

/// The CRC-32 of what an archive holds, in hexadecimal digits: code runs as it is, so damage must be found before.
fn checksum<'a>(texts: [&'a str; 3], data: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for part in texts.map(str::as_bytes).into_iter().chain(data) {
        // Bytes that move from one part to the next are damage too.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    format!("{:08x}", hasher.finalize())
}

fn parse(bytes: &[u8]) -> Result<Archive, String> {
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| e.to_string())?;
    let metadata = header.metadata().clone().unwrap_or_default();
    let get = |key: &str| metadata.get(key).ok_or_else(|| format!("it does not say its `{key}`"));
    let version = get("surject")?;
    if version != VERSION {
        return Err(format!("it has version {version} of the format, and {VERSION} is known"));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| e.to_string())?;
    let data = |name: &str| tensors.tensor(name).map(|t| t.data()).map_err(|e| format!("`{name}`: {e}"));
    let (kind, program) = (get("kind")?, get("program")?);
    let types: Vec<Port> = serde_json::from_str(get("constants")?).map_err(|e| e.to_string())?;
    let names = (0..types.len()).map(|i| format!("constant.{i}"));
    let all = std::iter::once("code".to_string()).chain(names).map(|name| data(&name));
    let all = all.collect::<Result<Vec<&[u8]>, _>>()?;
    if *get("checksum")? != checksum([kind, program, get("constants")?], all.into_iter()) {
        return Err("its checksum is not that of what it holds, so it is damaged".into());
    }
    let mut constants = Vec::new();
    for (i, port) in types.iter().enumerate() {
        let dtype = port.dtype().ok_or_else(|| format!("`{}` is no element type", port.dtype))?;
        let bytes = data(&format!("constant.{i}"))?;
        let constant = Buffer::from_bytes(dtype, &port.shape, bytes);
        constants.push(constant.ok_or_else(|| format!("constant {i} is not {port}"))?);
    }
    match kind.as_str() {
        "cuda" => {
            let mut plan: Plan = serde_json::from_str(program).map_err(|e| e.to_string())?;
            plan.ptx = String::from_utf8(data("code")?.to_vec()).map_err(|e| e.to_string())?;
            plan.constants = constants;
            plan.check().map_err(|e| e.to_string())?;
            Ok(Archive::Cuda(Box::new(plan)))
        }
        "cpu" => {
            let mut image: Image = serde_json::from_str(program).map_err(|e| e.to_string())?;
            image.library = data("code")?.to_vec();
            image.constants = constants;
            Ok(Archive::Cpu(Box::new(image)))
        }
        other => Err(format!("it is for `{other}`, and `cuda` and `cpu` are known")),
    }
}
