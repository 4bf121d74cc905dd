//! The walk in `ARCHITECTURE.md` shows what the command prints.

use crate::support::{own_case, root, surject};

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
