//! Every program that JAX exported (under `SURJECT_CASES`, or the shared cases) gives JAX's results.

use std::path::{Path, PathBuf};

use surject_stablehlo::ElementType;
use surject_stablehlo::interpret::{Tensor, Value, run};
use surject_stablehlo::parse_and_verify;

use super::npy;

fn arrays(folder: &Path, name: &str) -> Vec<Tensor> {
    (0..)
        .map_while(|i| {
            let plain = folder.join(format!("{name}{i}.npy"));
            let short = folder.join(format!("{name}{i}.bf16.npy"));
            if let Ok(bytes) = std::fs::read(short) {
                let tensor = npy::read(&bytes);
                return Tensor::new(ElementType::BF16, tensor.shape(), tensor.bytes().to_vec());
            }
            std::fs::read(plain).ok().map(|bytes| npy::read(&bytes))
        })
        .collect()
}

/// What is wrong with a result, if anything is. `short`: the program computes in 16 bits, where XLA leaves out roundings.
fn differs(found: &Tensor, wanted: &Tensor, short: bool) -> Option<String> {
    if found.shape() != wanted.shape() || found.element() != wanted.element() {
        return Some(format!("{} for {}", found.ty(), wanted.ty()));
    }
    if found.bytes() == wanted.bytes() {
        return None;
    }
    let tolerance = if short { 2e-2 } else { 1e-5 };
    let (a, b) = (found.to_complex()?, wanted.to_complex()?);
    let near = |a: f64, b: f64| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance + tolerance * b.abs()
    };
    let exact = found.element().is_integer();
    let bad = a.iter().zip(&b).position(|(a, b)| exact || !near(a.0, b.0) || !near(a.1, b.1))?;
    Some(format!("{:?} for {:?} at {bad}", a[bad], b[bad]))
}

fn check(folder: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join("program.mlir")).map_err(|e| e.to_string())?;
    let module = parse_and_verify(&text).map_err(|e| e.render("program.mlir", &text))?;
    let args = arrays(folder, "in").into_iter().map(Value::Tensor).collect();
    let results = run(&module, "main", args).map_err(|e| e.diagnostic().render("program.mlir", &text))?;
    let wanted = arrays(folder, "out");
    let short = text.contains("f16>");
    if wanted.len() != results.len() {
        return Err(format!("{} results for {}", results.len(), wanted.len()));
    }
    for (i, (found, wanted)) in results.iter().zip(&wanted).enumerate() {
        if let Some(difference) = differs(found.as_tensor().unwrap(), wanted, short) {
            return Err(format!("result {i}: {difference}"));
        }
    }
    Ok(())
}

#[test]
fn cases_of_jax_agree() {
    let root = std::env::var_os("SURJECT_CASES")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/jax"));
    let Ok(entries) = std::fs::read_dir(&root) else {
        eprintln!("no cases under {}: skipped", root.display());
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in entries.flatten().filter(|e| e.path().join("program.mlir").exists()) {
        count += 1;
        if let Err(error) = check(&entry.path()) {
            wrong.push(format!("{}: {error}", entry.path().display()));
        }
    }
    assert!(count > 0 && wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
