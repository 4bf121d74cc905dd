//! The report on extents: every requirement has a row, every test it names exists, and no constant size is unwrapped.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Where tests of a short name stand.
fn place(short: &str) -> Vec<PathBuf> {
    let path = match short {
        "index" => "crates/surject-index/tests/extents",
        "ir" => "crates/surject-ir/tests/sizes.rs",
        "bind" => "crates/surject-ir/tests/bind.rs",
        "lift" => "crates/surject-lift/tests/dynamic.rs",
        "jax" => "crates/surject-lift/tests/polymorphic.rs",
        "shape" => "crates/surject-shape/tests/symbolic.rs",
        "e2e" => "tests/e2e/polymorphic.rs",
        "truncate" => "crates/surject-ir/tests/truncate.rs",
        "ad" => "crates/surject-adjoint/tests/sizes.rs",
        "egraph" => "crates/surject-egraph/tests/sizes.rs",
        "sj" => "crates/surject-tensor/tests/symbolic.rs",
        "projection" => "crates/surject-projection/tests/symbolic.rs",
        "contract" => "crates/surject-egraph/src/contract.rs",
        "live" => "crates/surject-egraph/src/live.rs",
        "random" => "crates/surject-adjoint/tests/random_sizes.rs",
        "report" => "papers/tests/extents.rs",
        other => panic!("no tests are called {other}"),
    };
    let path = root().join(path);
    let mut files = Vec::new();
    if path.is_dir() {
        sources(&path, &mut files)
    } else {
        files.push(path)
    }
    files
}

#[test]
fn every_requirement_has_a_row_and_every_test_exists() {
    let text = std::fs::read_to_string(root().join("papers/extents/README.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("| R")).collect();
    for number in 1..=77 {
        let name = format!("| R{number:02} ");
        assert_eq!(rows.iter().filter(|r| r.starts_with(&name)).count(), 1, "R{number:02}");
    }
    for row in &rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if cells[3].is_empty() {
            assert!(!cells[2].is_empty(), "{row}");
            continue;
        }
        exist(cells[3], row);
    }
    let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("| A-")).collect();
    for number in 1..=32 {
        let name = format!("| A-{number:02} ");
        assert_eq!(rows.iter().filter(|r| r.starts_with(&name)).count(), 1, "A-{number:02}");
    }
    for row in &rows {
        exist(row.split('|').nth(2).unwrap().trim(), row);
    }
}

/// Checks that the tests of a cell exist.
fn exist(tests: &str, row: &str) {
    for test in tests.split(", ").filter(|t| t.contains('`')) {
        let (short, rest) = test.split_once(" `").unwrap_or_else(|| panic!("{row}"));
        let name = rest.split('`').next().unwrap();
        let declared = format!("fn {name}(");
        let found = place(short).iter().any(|f| std::fs::read_to_string(f).unwrap().contains(&declared));
        assert!(found, "{short} has no test {name}");
    }
}

/// R46: the passes of the optimiser, and every file that refuses sizes, have a row that says what they need.
#[test]
fn every_pass_says_what_it_needs() {
    let text = std::fs::read_to_string(root().join("papers/extents/README.md")).unwrap();
    let table = text.split("## What passes need").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|l| l.starts_with("| ") && l.contains("`crates/"))
        .map(|l| l.split('|').map(|cell| cell.trim()).collect())
        .collect();
    for row in &rows {
        let (file, needs) = (row[2].trim_matches('`'), row[3]);
        assert!(["nothing", "rank", "verdict", "exact", "constant"].contains(&needs), "{row:?}");
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        if let Some(name) = row[1].strip_prefix('`').and_then(|n| n.strip_suffix('`')) {
            assert!(source.contains(&format!("fn {name}(")), "{file} has no `{name}`");
        }
    }
    // The passes of the optimiser run under the contract, by name: whatever changes a function there does.
    let driver = std::fs::read_to_string(root().join("crates/surject-egraph/src/optimise.rs")).unwrap();
    let body = driver.split("pub fn optimise(").nth(1).unwrap().split("\n}\n").next().unwrap();
    let mut passes = Vec::new();
    for call in ["checked(\"", "checked_program(\"", ".after(\""] {
        let calls = body.split(call).skip(1);
        passes.extend(calls.map(|rest| rest.split('"').next().unwrap().to_string()));
    }
    assert!(passes.len() >= 9, "{passes:?}");
    for pass in &passes {
        let row = format!("`{pass}`");
        assert!(rows.iter().any(|r| r[1] == row), "the pass `{pass}` does not say what it needs");
    }
    let changes = body.matches("&mut new").count();
    assert_eq!(changes, body.matches("&mut new, |f|").count(), "a pass does not run under the contract");
    // Whoever refuses a size.
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        if entry.file_name() != "surject-index" {
            sources(&entry.path().join("src"), &mut files);
        }
    }
    let crates = root().join("crates").canonicalize().unwrap();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        if ["UnsupportedDynamicShape {", "require_exact(", "require_constant("]
            .iter()
            .any(|p| text.contains(p))
        {
            let shown = file.canonicalize().unwrap();
            let shown = format!("`crates/{}`", shown.strip_prefix(&crates).unwrap().display());
            assert!(rows.iter().any(|r| r[2] == shown), "{shown} does not say what it needs");
        }
    }
}

/// Takes the tests at the end of a source away.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn no_constant_size_is_unwrapped() {
    let mut found = Vec::new();
    let crates = root().join("crates");
    for entry in std::fs::read_dir(&crates).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name == "surject-index" {
            continue;
        }
        let mut files = Vec::new();
        sources(&entry.path().join("src"), &mut files);
        for file in files {
            let shown = file.strip_prefix(&crates).unwrap().display().to_string();
            // Generators of random programs make constant sizes only.
            if shown.contains("/testing") || shown.ends_with("/tests.rs") || shown.ends_with("/oracle.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let whole = without_tests(&text);
            // A chain may be broken over lines.
            let joined: String = whole.split('\n').map(str::trim_start).collect::<Vec<_>>().join("");
            for pattern in ["as_const().unwrap", "as_const().expect", ".sizes().unwrap", ".sizes().expect"] {
                if joined.contains(pattern) {
                    found.push(format!("{shown}: {pattern}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
