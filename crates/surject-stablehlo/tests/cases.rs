//! Every program exported by jax (under `SURJECT_CASES`, or the shared cases) is read, verified, printed byte by
//! byte as jax printed it, and read back from both forms.

use std::path::PathBuf;

fn cases() -> Vec<(String, String)> {
    let root = std::env::var_os("SURJECT_CASES")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/jax"));
    let Ok(entries) = std::fs::read_dir(&root) else {
        eprintln!("no cases under {}: skipped", root.display());
        return Vec::new();
    };
    let mut out = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path().join("program.mlir");
        if let Ok(text) = std::fs::read_to_string(&path) {
            out.push((path.display().to_string(), text));
        }
    }
    assert!(!out.is_empty(), "no program.mlir under {}", root.display());
    out.sort();
    out
}

#[test]
fn every_case_parses() {
    for (path, text) in cases() {
        if let Err(error) = surject_stablehlo::parse(&text) {
            panic!("{}", error.render(&path, &text));
        }
    }
}

#[test]
fn every_case_prints_as_jax_does() {
    let mut different = Vec::new();
    for (path, text) in cases() {
        let module = surject_stablehlo::parse(&text).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        let printed = surject_stablehlo::print(&module);
        if printed.trim_end() != text.trim_end() {
            let line = printed.lines().zip(text.lines()).find(|(a, b)| a != b);
            different.push(format!("{path}: {line:#?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn every_case_reads_back_from_both_forms() {
    for (path, text) in cases() {
        let module = surject_stablehlo::parse(&text).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        for printed in [surject_stablehlo::print(&module), surject_stablehlo::print_generic(&module)] {
            let again = surject_stablehlo::parse(&printed)
                .unwrap_or_else(|e| panic!("{}", e.render(&path, &printed)));
            assert!(module.same(&again), "{path}\n{printed}");
        }
    }
}

#[test]
fn every_case_verifies() {
    for (path, text) in cases() {
        if let Err(error) = surject_stablehlo::parse_and_verify(&text) {
            panic!("{}", error.render(&path, &text));
        }
    }
}
