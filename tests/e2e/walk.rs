//! The walk in `ARCHITECTURE.md` shows what the command prints, and the layers that it names use only those before them.

use crate::support::{own_case, root, surject};
use std::path::{Path, PathBuf};

/// The program of a walk.
#[derive(Clone, Copy)]
enum Walk {
    Softmax,
    Convolution,
}

/// The texts of the walks, in order: the mark before each, the program, and the words of the command.
const STAGES: [(&str, Walk, &[&str]); 6] = [
    ("program", Walk::Softmax, &["--emit", "program"]),
    ("schedule", Walk::Softmax, &["--emit", "schedule", "--machine", "sm_90a"]),
    ("kernel", Walk::Softmax, &["--emit", "kernel", "--machine", "sm_90a"]),
    ("convolution, program", Walk::Convolution, &["--emit", "program"]),
    ("convolution, schedule", Walk::Convolution, &["--emit", "schedule", "--machine", "avx2"]),
    ("convolution, kernel", Walk::Convolution, &["--emit", "kernel", "--machine", "avx2"]),
];

/// The page with the texts that the command prints now.
fn page(page: &str) -> String {
    let mut text = page.to_string();
    for (name, walk, words) in STAGES {
        let program = match walk {
            Walk::Softmax => own_case("softmax").program,
            Walk::Convolution => root().join("tests/suite/conv3x3/program.mlir").display().to_string(),
        };
        let words: Vec<&str> = ["opt", &program].iter().chain(words).copied().collect();
        let printed = surject(&words).unwrap_or_else(|failure| panic!("{failure}"));
        // Places in the source depend on where the repository lies.
        let lines: Vec<&str> = printed.trim().lines().map(|l| l.split(" @ ").next().unwrap_or(l)).collect();
        let mark = format!("<!-- walk: {name} -->\n```\n");
        let start = text.find(&mark).unwrap_or_else(|| panic!("no mark {mark}")) + mark.len();
        let end = start + text[start..].find("```").expect("the text ends");
        text.replace_range(start..end, &format!("{}\n", lines.join("\n")));
    }
    text
}

/// `SURJECT_UPDATE=1` writes the page anew.
#[test]
fn the_walk_shows_what_the_command_prints() {
    let path = root().join("ARCHITECTURE.md");
    let found = std::fs::read_to_string(&path).expect("the page is readable");
    let expected = page(&found);
    if std::env::var_os("SURJECT_UPDATE").is_some() {
        std::fs::write(&path, &expected).expect("the page is writable");
        return;
    }
    assert!(found == expected, "ARCHITECTURE.md is out of date: run this test with SURJECT_UPDATE=1");
}

/// The folders of the code generator are layers: a file uses those of its own and of the layers before it, in the order in
/// which the front page names them.
#[test]
fn folders_of_the_code_generator_use_only_those_before_them() {
    let folder = root().join("crates/surject-codegen/src");
    let front = std::fs::read_to_string(folder.join("lib.rs")).expect("the front page is readable");
    let order: Vec<&str> = front.lines().filter_map(|l| l.split_once(". `")?.1.split('`').next()).collect();
    let expected =
        ["machine", "expression", "normalise", "schedule", "lower", "materialise", "library", "program"];
    assert_eq!(order, expected);
    // Kernels of the kernel IR stand on the layers up to `lower`; the layers behind it take them.
    let lower = order.iter().position(|l| *l == "lower").expect("a layer");
    let mut files = uses_none_of(&folder, "kernels", &order[lower + 1..]);
    for (i, layer) in order.iter().enumerate() {
        let mut later = order[i + 1..].to_vec();
        later.extend((i <= lower).then_some("kernels"));
        files += uses_none_of(&folder, layer, &later);
    }
    assert!(files > 100, "{files} files");
}

/// Checks that no file of a layer uses one of these; how many files there are.
fn uses_none_of(folder: &Path, layer: &str, others: &[&str]) -> usize {
    let mut work: Vec<PathBuf> = vec![folder.join(format!("{layer}.rs")), folder.join(layer)];
    let mut files = 0;
    while let Some(path) = work.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the folder is readable");
            work.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        let code: String = text.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        files += 1;
        for other in others {
            let uses =
                code.contains(&format!("crate::{other}::")) || code.contains(&format!("crate::{other};"));
            assert!(!uses, "{} uses `{other}`, which does not come before `{layer}`", path.display());
        }
    }
    files
}

/// In the order of the front page, every layer uses only those before it.
#[test]
fn layers_use_only_those_before_them() {
    let folder = root().join("crates/surject-codegen/src");
    let front = std::fs::read_to_string(folder.join("kernels.rs")).expect("the front page is readable");
    let order: Vec<&str> = front.lines().filter_map(|l| l.split_once(". [`")?.1.split('`').next()).collect();
    let layers = [
        "expression",
        "contraction",
        "schedule",
        "machine",
        "lower",
        "stages",
        "chain",
        "library",
        "legal",
        "mlir",
        "native",
        "run",
    ];
    assert_eq!(order, layers);
    for (i, layer) in order.iter().enumerate() {
        let path = folder.join("kernels").join(format!("{layer}.rs"));
        let text = std::fs::read_to_string(path).expect("the layer is readable");
        for later in &order[i + 1..] {
            // Not a module whose name only begins so.
            let names = |path: &str| {
                let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
                text.match_indices(path).any(|(at, _)| is_end(text[at + path.len()..].chars().next()))
            };
            let uses = [format!("super::{later}"), format!("kernels::{later}")];
            assert!(!uses.iter().any(|u| names(u)), "`{layer}` uses `{later}`, which comes after it");
        }
    }
}
