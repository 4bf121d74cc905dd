//! Writes the comparison with XLA and IREE: `cargo run -p surject-papers --bin xla-comparison [JSON …]`.
//!
//! The files named, as `surject bench --out` writes them (`all.json`, `one.json`, `large.json`, `starts.json`), are stored beside the
//! page first; then the page, its table and its plots are written from what is stored.

use std::path::{Path, PathBuf};
use surject_papers::comparison::{self, data::Comparison};

fn main() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("xla-comparison");
    for file in std::env::args_os().skip(1).map(PathBuf::from) {
        let failed = |e: std::io::Error| format!("{}: {e}", file.display());
        let name = file.file_name().ok_or_else(|| format!("{}: no file", file.display()))?;
        let text = std::fs::read_to_string(&file).map_err(failed)?;
        comparison::data::Run::parse(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    comparison::write(&Comparison::read(&folder)?, &folder)
}
