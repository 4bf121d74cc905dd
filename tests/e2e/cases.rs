//! Every program on every back end, as imported and optimised, against the outputs JAX computed.

use crate::support::{Case, cases, surject};
use surject::Status;

/// May a program be unsupported? Only for what these operations and types stand for.
fn may_be_unsupported(case: &Case) -> bool {
    let text = std::fs::read_to_string(&case.program).expect("the program is readable");
    ["stablehlo.fft", "custom_call @lapack", "complex<f", "stablehlo.cholesky"]
        .iter()
        .any(|w| text.contains(w))
}

fn run_all(options: &[&str]) {
    let (mut failures, mut unsupported, mut passed) = (Vec::new(), Vec::new(), 0);
    for case in cases() {
        let narrow =
            std::fs::read_to_string(&case.program).is_ok_and(|t| t.contains("bf16") || t.contains("xf16"));
        let tolerance = if narrow { "2e-2" } else { "1e-5" };
        let mut words = vec!["run", case.program.as_str(), "--rtol", tolerance, "--atol", tolerance];
        words.extend(options);
        case.inputs.iter().for_each(|i| words.extend(["-i", i]));
        case.outputs.iter().for_each(|o| words.extend(["--expect", o]));
        match surject(&words) {
            Ok(_) => passed += 1,
            Err(f) if f.status == Status::Unsupported && may_be_unsupported(&case) => {
                unsupported.push(case.name)
            }
            Err(f) => failures.push(format!("{}: {f}", case.name)),
        }
    }
    println!("{passed} passed, unsupported: {unsupported:?}");
    assert!(failures.is_empty(), "{} programs failed:\n{}", failures.len(), failures.join("\n"));
    assert!(passed >= 14, "only {passed} programs ran");
}

#[test]
fn interpreter_without_rewriting() {
    run_all(&["--backend", "interp", "--no-opt"]);
}

#[test]
fn interpreter_with_rewriting() {
    run_all(&["--backend", "interp"]);
}

#[test]
fn cpu_without_rewriting() {
    run_all(&["--backend", "cpu", "--no-opt"]);
}

#[test]
fn cpu_with_rewriting() {
    run_all(&["--backend", "cpu"]);
}

#[test]
fn kernels_of_every_machine() {
    for machine in ["generic", "avx2", "avx512", "sm_90a"] {
        run_all(&["--backend", "kernel", "--machine", machine, "--no-opt"]);
        run_all(&["--backend", "kernel", "--machine", machine]);
    }
}

/// What is exported imports again and still computes the same.
#[test]
fn exported_programs_run() {
    let folder = std::env::temp_dir().join(format!("surject-export-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let mut failures = Vec::new();
    for case in cases() {
        let file = folder.join(format!("{}.mlir", case.name));
        let file = file.to_str().expect("paths are text");
        let exported = match surject(&["opt", &case.program, "-o", file]) {
            Err(f) if f.status == Status::Unsupported && may_be_unsupported(&case) => continue,
            other => other,
        };
        let mut words =
            vec!["run", file, "--backend", "interp", "--no-opt", "--rtol", "2e-2", "--atol", "2e-2"];
        case.inputs.iter().for_each(|i| words.extend(["-i", i]));
        case.outputs.iter().for_each(|o| words.extend(["--expect", o]));
        if let Err(f) = exported.and_then(|_| surject(&words)) {
            failures.push(format!("{}: {f}", case.name));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder is ours");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
