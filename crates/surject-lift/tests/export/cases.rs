//! The programs of the repository and the public cases, as they are imported and after the e-graph.

use crate::{folders, inputs, program, round_trip, tolerance};
use std::path::Path;
use surject_egraph::{Options, optimise};
use surject_ir::Program;

fn all(kind: &str, change: impl Fn(Program) -> Result<Program, String>) {
    let folders = folders();
    assert!(!folders.is_empty());
    let mut failures = Vec::new();
    for folder in &folders {
        let result = program(folder).and_then(&change).and_then(|program| {
            let part = |p: Option<&Path>| {
                p.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
            };
            let name = format!("{}-{kind}/{}", part(folder.parent()), part(Some(folder)));
            round_trip(&name, &program, &inputs(folder), tolerance(&program)).map(|_| ())
        });
        if let Err(error) = result {
            failures.push(format!("{}: {error}", folder.display()));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), folders.len(), failures.join("\n"));
}

#[test]
fn imported_programs_go_back() {
    all("imported", Ok);
}

#[test]
fn optimised_programs_go_back() {
    let options = Options::default();
    all("optimised", |program| Ok(optimise(&program, &options).map_err(|e| e.to_string())?.program));
}
