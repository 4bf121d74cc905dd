//! Every program of the public jax cases is imported, interpreted and compared with what jax computed.
//!
//! The cases lie outside the repository, in the folder that `SURJECT_CASES` names; without them the test says so
//! and passes.

mod common;

use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType};
use surject_lift::{ImportOptions, import};
use surject_runtime::{compare::compare, npy};

fn cases() -> Option<Vec<PathBuf>> {
    let root = std::env::var("SURJECT_CASES")
        .unwrap_or_else(|_| format!("{}/../../../shared/cases/jax", env!("CARGO_MANIFEST_DIR")));
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("program.mlir").is_file())
        .collect();
    folders.sort();
    Some(folders)
}

/// `STEM0`, `STEM1`, …, each `.npy` or `.bf16.npy`.
fn tensors(folder: &Path, stem: &str) -> Vec<Buffer> {
    let file = |i: usize| {
        let names = [format!("{stem}{i}.npy"), format!("{stem}{i}.bf16.npy")];
        names.into_iter().map(|n| folder.join(n)).find(|path| path.is_file())
    };
    (0..).map_while(|i| file(i).map(|path| npy::read(path).unwrap())).collect()
}

fn check(folder: &Path) -> Result<(), String> {
    let text = std::fs::read(folder.join("program.mlir")).map_err(|e| e.to_string())?;
    let module = surject_stablehlo::parse(&text).map_err(|d| d.render("program.mlir", &text))?;
    let options = ImportOptions { file: "program.mlir", source: &text, ..ImportOptions::default() };
    let program = import(&module, &options).map_err(|e| e.diagnostic().render("program.mlir", &text))?;
    common::assert_kernels(&program);
    surject_ir::verify(&program).map_err(|e| format!("{e}"))?;
    // XLA keeps more digits than 16-bit types in between have, where we round.
    let function = program.main().ok_or("no function")?;
    let half = function.vars.iter().any(|v| matches!(v.ty.dtype, DType::F16 | DType::BF16));
    let tolerance = if half { 2e-2 } else { 1e-5 };
    let name = &function.name;
    let results =
        surject_ir::interp::run(&program, name, &tensors(folder, "in")).map_err(|e| e.to_string())?;
    let expected = tensors(folder, "out");
    if results.len() != expected.len() {
        return Err(format!("{} results where {} are expected", results.len(), expected.len()));
    }
    for (i, (got, want)) in results.iter().zip(&expected).enumerate() {
        let comparison = compare(got, want, tolerance, tolerance);
        if !comparison.passed() {
            return Err(format!("result {i}: {comparison}"));
        }
    }
    Ok(())
}

#[test]
fn all_cases_agree_with_jax() {
    let Some(folders) = cases() else {
        eprintln!("skipped: SURJECT_CASES names no folder of cases");
        return;
    };
    let mut failures = Vec::new();
    for folder in &folders {
        if let Err(error) = check(folder) {
            failures.push(format!("{}: {error}", folder.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), folders.len(), failures.join("\n"));
}

/// What a compiler's own front end has printed is valid: it is read, and what it means is at worst not supported.
#[test]
fn valid_text_is_at_worst_not_supported() {
    let Some(mut folders) = cases() else {
        eprintln!("skipped: SURJECT_CASES names no folder of cases");
        return;
    };
    let bugs = folders.first().and_then(|f| Some(f.parent()?.parent()?.join("bugs")));
    let entries = bugs.into_iter().filter_map(|bugs| std::fs::read_dir(bugs).ok()).flatten();
    folders.extend(entries.filter_map(|e| Some(e.ok()?.path())));
    let mut failures = Vec::new();
    for folder in &folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read(folder.join("program.mlir")) else { continue };
        let module = match surject_stablehlo::parse_and_verify(&text) {
            Ok(module) => module,
            Err(error) => {
                failures.push(error.render(&name, &text));
                continue;
            }
        };
        let printed = surject_stablehlo::print_generic(&module);
        match surject_stablehlo::parse(&printed) {
            Ok(again) if module.same(&again) => {}
            Ok(_) => failures.push(format!("{name}: the generic form says something else")),
            Err(error) => failures.push(error.render(&name, &printed)),
        }
        let options = ImportOptions { file: &name, source: &text, ..ImportOptions::default() };
        match import(&module, &options) {
            Err(error) if error.exit_status() != 3 => failures.push(error.diagnostic().render(&name, &text)),
            Err(error) => println!("{name}: {error}"),
            Ok(_) => {}
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), folders.len(), failures.join("\n"));
}

/// Numbers of a program changed at random: whatever comes out is refused with an error or passes the verifier.
#[test]
fn broken_programs_are_refused() {
    let Some(folders) = cases() else {
        eprintln!("skipped: SURJECT_CASES names no folder of cases");
        return;
    };
    let mut random = common::Random(1);
    let (mut read, mut lifted) = (0, 0);
    for folder in &folders {
        let text = std::fs::read(folder.join("program.mlir")).unwrap();
        let digits: Vec<usize> = (0..text.len()).filter(|&i| text[i].is_ascii_digit()).collect();
        for _ in 0..100 {
            let mut broken = text.clone();
            for _ in 0..random.int(1, 2) {
                let at = digits[random.int(0, digits.len() as i64 - 1) as usize];
                broken[at] = b'0' + random.int(0, 5) as u8;
            }
            let Ok(module) = surject_stablehlo::parse(&broken) else {
                continue;
            };
            read += 1;
            if let Ok(program) = import(&module, &ImportOptions::default()) {
                lifted += 1;
                if let Err(error) = surject_ir::verify(&program) {
                    panic!("{error}\n{}", String::from_utf8_lossy(&broken));
                }
            }
        }
    }
    eprintln!("{read} programs read, {lifted} of them lifted");
    assert!(lifted > 0);
}
