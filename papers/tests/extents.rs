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
        let tests = cells[3];
        if tests.is_empty() {
            assert!(!cells[2].is_empty(), "{row}");
            continue;
        }
        for test in tests.split(", ").filter(|t| t.contains('`')) {
            let (short, rest) = test.split_once(" `").unwrap_or_else(|| panic!("{row}"));
            let name = rest.split('`').next().unwrap();
            let declared = format!("fn {name}(");
            let found = place(short).iter().any(|f| std::fs::read_to_string(f).unwrap().contains(&declared));
            assert!(found, "{short} has no test {name}");
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
