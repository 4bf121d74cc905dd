//! Running the command inside this process, and finding programs.

use clap::Parser;
use std::path::{Path, PathBuf};
use surject::{Failure, cli};

/// Runs `surject WORDS…`; its output, or how it failed. A usage error has status 2 by clap's convention.
pub fn surject(words: &[&str]) -> Result<String, Failure> {
    let words = std::iter::once("surject").chain(words.iter().copied());
    let arguments = cli::Arguments::try_parse_from(words).map_err(Failure::bad_input)?;
    let mut out = Vec::new();
    cli::execute(arguments, &mut out)?;
    Ok(String::from_utf8(out).expect("the command writes text"))
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ stands in the repository").to_path_buf()
}

/// A program with its inputs and expected outputs.
pub struct Case {
    pub name: String,
    pub program: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

/// Every case below the programs of this repository and below the shared cases, where there are any.
pub fn cases() -> Vec<Case> {
    let shared =
        std::env::var_os("SURJECT_CASES").map_or_else(|| root().join("../shared/cases/jax"), PathBuf::from);
    let mut cases = Vec::new();
    for folder in [root().join("tests/programs"), shared] {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            eprintln!("no programs in {}", folder.display());
            continue;
        };
        cases.extend(entries.flatten().filter_map(|e| case(&e.path())));
    }
    cases.sort_by(|a, b| a.program.cmp(&b.program));
    cases
}

/// The case in a folder of `tests/programs`.
pub fn own_case(name: &str) -> Case {
    case(&root().join("tests/programs").join(name)).unwrap_or_else(|| panic!("no program {name}"))
}

fn case(folder: &Path) -> Option<Case> {
    let program = folder.join("program.mlir");
    let name = folder.file_name()?.to_str()?.to_string();
    let path = |p: PathBuf| p.to_str().expect("paths are text").to_string();
    let numbered = |stem: &str| {
        (0..)
            .map_while(|i| {
                let names = [format!("{stem}{i}.npy"), format!("{stem}{i}.bf16.npy")];
                names.iter().map(|n| folder.join(n)).find(|p| p.exists()).map(path)
            })
            .collect::<Vec<_>>()
    };
    program.exists().then(|| Case {
        name,
        program: path(program.clone()),
        inputs: numbered("in"),
        outputs: numbered("out"),
    })
}
