//! Pages of error codes: what each example gives, and whether the pages are complete.

use crate::blocks::{Block, Paper};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use surject_lift::{ImportOptions, import};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The Markdown files of `docs/errors` by name, with their text.
pub fn pages() -> Result<BTreeMap<String, String>, String> {
    let folder = root().join("docs/errors");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|x| x == "md"));
    paths
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok((name, read(&path)?))
        })
        .collect()
}

/// The error codes that a text mentions: `SJ` and four digits.
pub fn codes(text: &str) -> BTreeSet<String> {
    let candidates = text.match_indices("SJ0").filter_map(|(at, _)| text.get(at..at + 6));
    candidates.filter(|c| c[2..].bytes().all(|b| b.is_ascii_digit())).map(str::to_string).collect()
}

/// The error codes that the sources of the crates mention.
pub fn codes_of_sources() -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            let source = path.components().any(|c| c.as_os_str() == "src");
            let crates = folder.ends_with("crates");
            if path.is_dir() && (source || crates || path.ends_with("src")) {
                folders.push(path);
            } else if source && path.extension().is_some_and(|x| x == "rs") {
                found.extend(codes(&read(&path)?));
            }
        }
    }
    Ok(found)
}

/// Checks an example: it gives the error code that its heading starts with. Other blocks are text.
pub fn check(block: &Block) -> Result<(), String> {
    let found = match block.kind.as_str() {
        "stablehlo" => code_of_module(&block.text),
        "rules" => {
            let checked = surject_rules::parse("example.rules", &block.text);
            checked.and_then(|mut file| surject_rules::check(&mut file)).err().map(|e| e.code)
        }
        "gradient" => code_of_gradient(&block.text),
        _ => return Ok(()),
    };
    let expected = block.heading.split_whitespace().next().unwrap_or_default();
    match found {
        Some(code) if code == expected => Ok(()),
        Some(code) => Err(format!("{}: the example of {expected} gives {code}", block.place)),
        None => Err(format!("{}: the example of {expected} is accepted", block.place)),
    }
}

/// The code that a module is refused with.
fn code_of_module(text: &str) -> Option<&'static str> {
    let module = match surject_stablehlo::parse_and_verify(text) {
        Ok(module) => module,
        Err(diagnostic) => return Some(diagnostic.code),
    };
    let options = ImportOptions { file: "example.mlir", source: text.as_bytes(), function: Some("main") };
    import(&module, &options).err().map(|e| e.diagnostic().code)
}

/// The code that the gradient of a program is refused with.
fn code_of_gradient(text: &str) -> Option<&'static str> {
    let program = surject_ir::parse(text).ok()?;
    surject_adjoint::gradient(&program, "main", &surject_adjoint::Options::default()).err().map(|e| e.code())
}

/// The codes that have a section of their own in a page.
pub fn sections(page: &Paper) -> impl Iterator<Item = String> {
    page.headings
        .iter()
        .filter_map(|h| Some(h.split_whitespace().next()?.to_string()))
        .filter(|h| codes(h).contains(h))
}
