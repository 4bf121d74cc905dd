//! The walk in `ARCHITECTURE.md` shows what the command prints, and the layers that it names use only those before them.

use crate::support::{own_case, root, surject};

/// The texts of the walk, in order: the mark before each, and the words of the command.
const STAGES: [(&str, &[&str]); 3] = [
    ("program", &["--emit", "program"]),
    ("schedule", &["--emit", "schedule", "--machine", "sm_90a"]),
    ("kernel", &["--emit", "kernel", "--machine", "sm_90a"]),
];

/// The page with the texts that the command prints now.
fn page(page: &str) -> String {
    let case = own_case("softmax");
    let mut text = page.to_string();
    for (name, words) in STAGES {
        let words: Vec<&str> = ["opt", &case.program].iter().chain(words).copied().collect();
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

/// In the order of the front page, every layer uses only those before it.
#[test]
fn layers_use_only_those_before_them() {
    let folder = root().join("crates/surject-codegen/src");
    let front = std::fs::read_to_string(folder.join("kernels.rs")).expect("the front page is readable");
    let order: Vec<&str> = front.lines().filter_map(|l| l.split_once(". [`")?.1.split('`').next()).collect();
    let layers = ["expression", "contraction", "schedule", "machine", "lower", "stages", "legal", "run"];
    assert_eq!(order, layers);
    for (i, layer) in order.iter().enumerate() {
        let path = folder.join("kernels").join(format!("{layer}.rs"));
        let text = std::fs::read_to_string(path).expect("the layer is readable");
        for later in &order[i + 1..] {
            let uses = [format!("super::{later}"), format!("kernels::{later}")];
            assert!(!uses.iter().any(|u| text.contains(u)), "`{layer}` uses `{later}`, which comes after it");
        }
    }
}
