//! Portable artifacts: MLIR bytecode with the operations of VHLO, as `jax.export` and `stablehlo-translate` write it.

mod attributes;
mod bytes;
mod container;
mod decode;
mod elements;
mod encode;
mod enums;
mod envelope;
mod explode;
mod legalise;
mod mesh;
mod needs;
mod pool;
mod read;
mod sdy;
mod types;
mod version;
mod vhlo;
mod write;

pub(crate) use legalise::is_default;
pub use version::Version;

use crate::diagnostic::Diagnostic;
use crate::module::Module;

/// Whether bytes are an artifact, alone or in the envelope of a file that `jax.export` saved.
pub fn is_artifact(bytes: impl AsRef<[u8]>) -> bool {
    locate(bytes.as_ref()).is_some()
}

/// Where in the bytes the artifact stands.
pub(crate) fn locate(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    if bytes.starts_with(container::MAGIC) {
        return Some(0..bytes.len());
    }
    envelope::module(bytes)
}

/// Reads the module of an artifact; `range` as [`locate`] gives it.
pub(crate) fn read(bytes: &[u8], range: std::ops::Range<usize>) -> Result<Module, Diagnostic> {
    read::read(bytes, range.start, range.end)
}

/// The bytes of an artifact of a module, for readers of the given version of StableHLO and later ones. Without a
/// version, for 1.0 or the first later one that has all that the module uses.
///
/// # Errors
/// Something that the version lacks, named with the version that introduced it.
pub fn write(module: &Module, target: Option<Version>) -> Result<Vec<u8>, Diagnostic> {
    write::write(module, target)
}

/// Which version of StableHLO wrote an artifact, as it says itself: `StableHLO_v1.15.0`.
pub fn producer(bytes: impl AsRef<[u8]>) -> Result<String, Diagnostic> {
    let bytes = bytes.as_ref();
    let range = locate(bytes).unwrap_or(0..bytes.len());
    container::Container::open(bytes, range.start, range.end).map(|c| c.producer.to_string())
}
