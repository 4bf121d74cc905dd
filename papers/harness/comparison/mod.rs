//! The comparison with XLA and IREE: pages and plots from the JSON that `surject bench` writes.
//!
//! * the JSON, as `surject::bench::run` documents it ([`data`]);
//! * the text, every figure of which is computed from the JSON ([`page`]);
//! * bars, one row a program ([`plot`]).

pub mod data;
pub mod page;
pub mod plot;

use data::Comparison;
use std::path::Path;

/// Writes every file of the paper into a folder: `README.md`, `table.md`, and the plots.
pub fn write(comparison: &Comparison, folder: &Path) -> Result<(), String> {
    let files = files(comparison)?;
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// The files of the paper: names and texts.
pub fn files(comparison: &Comparison) -> Result<Vec<(String, String)>, String> {
    let mut files = vec![
        ("README.md".to_string(), page::page(comparison)),
        ("table.md".to_string(), page::table(comparison)),
    ];
    for (name, bars) in page::plots(comparison) {
        files.push((name, bars.draw()?));
    }
    Ok(files)
}
