//! Gradients of imported StableHLO programs against `jax.grad` (`programs/make.py` writes them).

use std::path::{Path, PathBuf};
use surject_adjoint::{Options, gradient};
use surject_ir::{Buffer, Program, interp, print};
use surject_lift::{ImportOptions, import};
use surject_runtime::{compare, npy};

/// The programs of the folder, with their names.
fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    found.sort();
    found
}

fn load(folder: &Path) -> Program {
    let path = folder.join("program.mlir");
    let text = std::fs::read_to_string(&path).unwrap();
    let module = surject_stablehlo::parse(&text).unwrap();
    import(&module, &ImportOptions { file: "program.mlir", source: text.as_bytes(), ..Default::default() })
        .unwrap()
}

fn arrays(folder: &Path, stem: &str) -> Vec<Buffer> {
    let file = |i: &usize| folder.join(format!("{stem}{i}.npy"));
    (0..).map(|i| file(&i)).take_while(|p| p.exists()).map(|p| npy::read(p).unwrap()).collect()
}

/// What differs from JAX, or why there is no gradient.
fn check(folder: &Path) -> Result<(), String> {
    let program = load(folder);
    let derived = gradient(&program, "main", &Options::default()).map_err(|e| e.to_string())?;
    assert!(print(&derived).len() < 40 * print(&program).len() + 4000, "the gradient is too large");
    let results = interp::run(&derived, "main", &arrays(folder, "in")).map_err(|e| e.to_string())?;
    let expected: Vec<Buffer> = arrays(folder, "out").into_iter().chain(arrays(folder, "grad")).collect();
    if results.len() != expected.len() {
        return Err(format!("{} results where {} are expected", results.len(), expected.len()));
    }
    for (i, (result, expected)) in results.iter().zip(&expected).enumerate() {
        let (rtol, atol) = if result.dtype().bits() < 64 { (2e-4, 2e-4) } else { (1e-8, 1e-9) };
        let report = compare::compare(result, expected, rtol, atol);
        if !report.passed() {
            return Err(format!("result {i}: {report}"));
        }
    }
    Ok(())
}

#[test]
fn gradients_are_those_of_jax() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut faults = Vec::new();
    let mut count = 0;
    for folder in programs() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !only.is_empty() && name != only {
            continue;
        }
        count += 1;
        if let Err(fault) = check(&folder) {
            faults.push(format!("{name}: {fault}"));
        }
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    assert!(count >= 30 || !only.is_empty());
}
