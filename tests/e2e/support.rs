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

/// A folder beside the shared cases of JAX.
pub fn shared(name: &str) -> PathBuf {
    let jax =
        std::env::var_os("SURJECT_CASES").map_or_else(|| root().join("../shared/cases/jax"), PathBuf::from);
    jax.parent().map_or_else(|| PathBuf::from(name), |cases| cases.join(name))
}

/// Every case in the folders of a folder; none where there is no such folder.
pub fn cases_below(folder: &Path) -> Vec<Case> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        eprintln!("no programs in {}", folder.display());
        return Vec::new();
    };
    let mut cases: Vec<Case> = entries.flatten().filter_map(|e| case(&e.path())).collect();
    cases.sort_by(|a, b| a.program.cmp(&b.program));
    cases
}

/// Every case below the programs of this repository and below the shared cases, where there are any.
pub fn cases() -> Vec<Case> {
    let shared =
        std::env::var_os("SURJECT_CASES").map_or_else(|| root().join("../shared/cases/jax"), PathBuf::from);
    let mut cases = cases_below(&root().join("tests/programs"));
    cases.extend(cases_below(&shared));
    cases.sort_by(|a, b| a.program.cmp(&b.program));
    cases
}

/// The case in a folder of `tests/programs`.
pub fn own_case(name: &str) -> Case {
    case(&root().join("tests/programs").join(name)).unwrap_or_else(|| panic!("no program {name}"))
}

fn case(folder: &Path) -> Option<Case> {
    let program = folder.join("program.mlir");
    program.exists().then(|| Case::of(folder, program.to_str().expect("paths are text")))
}

impl Case {
    /// A program with the inputs and outputs in a folder.
    pub fn of(folder: &Path, program: &str) -> Case {
        let path = |p: PathBuf| p.to_str().expect("paths are text").to_string();
        let numbered = |stem: &str| {
            (0..)
                .map_while(|i| {
                    let names = [format!("{stem}{i}.npy"), format!("{stem}{i}.bf16.npy")];
                    names.iter().map(|n| folder.join(n)).find(|p| p.exists()).map(path)
                })
                .collect::<Vec<_>>()
        };
        Case {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            program: program.to_string(),
            inputs: numbered("in"),
            outputs: numbered("out"),
        }
    }
}
