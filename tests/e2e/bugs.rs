//! Programs made after public bug reports of tensor compilers (`bugs/` beside the shared cases), on every back end, and
//! rule files that must be accepted or refused (`rules/`).

use crate::support::{Case, cases_below, shared, surject};
use std::path::Path;
use surject::Status;

/// What a case says about how exact its outputs are, and with which ties its gradients are taken.
struct Meta {
    rtol: String,
    atol: String,
    ties: Option<String>,
}

fn meta(case: &Case) -> Meta {
    let folder = Path::new(&case.program).parent().expect("a program lies in a folder");
    // Those that saturate have no tolerance: their outputs are exact.
    let exact = if case.name.starts_with("sat_") { "0" } else { "1e-5" };
    let mut meta = Meta { rtol: exact.into(), atol: exact.into(), ties: None };
    let Ok(text) = std::fs::read_to_string(folder.join("meta.json")) else { return meta };
    let json: serde_json::Value = serde_json::from_str(&text).expect("meta.json is JSON");
    for (key, slot) in [("rtol", &mut meta.rtol), ("atol", &mut meta.atol)] {
        if let Some(value) = json[key].as_f64() {
            *slot = value.to_string();
        }
    }
    meta.ties = json["ties"].as_str().map(str::to_string);
    meta
}

fn run(program: &str, case: &Case, meta: &Meta, options: &[&str]) -> Result<(), surject::Failure> {
    let mut words = vec!["run", program, "--rtol", &meta.rtol, "--atol", &meta.atol];
    words.extend(options);
    case.inputs.iter().for_each(|i| words.extend(["-i", i]));
    case.outputs.iter().for_each(|o| words.extend(["--expect", o]));
    surject(&words).map(|_| ())
}

/// Every program with outputs computes them, on every back end, rewritten or not. One without is read: at worst it is
/// not supported.
#[test]
fn programs_of_bug_reports() {
    let mut failures = Vec::new();
    for case in cases_below(&shared("bugs")) {
        let meta = meta(&case);
        if case.outputs.is_empty() {
            match surject(&["opt", &case.program, "--emit", "program"]) {
                Err(f) if f.status != Status::Unsupported => failures.push(format!("{}: {f}", case.name)),
                _ => {}
            }
            continue;
        }
        for backend in ["interp", "kernel", "cpu"] {
            for options in [&["--backend", backend, "--no-opt"][..], &["--backend", backend]] {
                if let Err(f) = run(&case.program, &case, &meta, options) {
                    failures.push(format!("{} {options:?}: {f}", case.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The same for gradients: their inputs are the program's and cotangents of its results.
#[test]
fn gradients_of_bug_reports() {
    let folder = std::env::temp_dir().join(format!("surject-bugs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let mut failures = Vec::new();
    for case in cases_below(&shared("bugs")) {
        let own = Path::new(&case.program).parent().expect("a program lies in a folder").join("grad");
        if !own.is_dir() {
            continue;
        }
        let meta = meta(&case);
        let written = folder.join(format!("{}.mlir", case.name));
        let written = written.to_str().expect("paths are text");
        let mut words = vec!["grad", case.program.as_str(), "--vjp", "-o", written];
        if let Some(ties) = &meta.ties {
            words.extend(["--ties", ties]);
        }
        let gradient = Case::of(&own, written);
        let ran = surject(&words).and_then(|_| {
            ["interp", "cpu"].iter().try_for_each(|b| run(written, &gradient, &meta, &["--backend", b]))
        });
        if let Err(f) = ran {
            failures.push(format!("{}: {f}", case.name));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the temporary folder is ours");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Unsound rules are refused, sound ones accepted.
#[test]
fn rules_are_judged() {
    let mut failures = Vec::new();
    for (kind, sound) in [("sound", true), ("unsound", false)] {
        let Ok(entries) = std::fs::read_dir(shared("rules").join(kind)) else {
            eprintln!("no rules in {}", shared("rules").display());
            continue;
        };
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let judged = surject(&["rules", "check", path.to_str().expect("paths are text")]);
            match judged {
                Ok(_) if sound => {}
                Err(f) if !sound && f.status == Status::BadInput => {}
                other => failures.push(format!("{name}: {other:?}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What MLIR allows and programs here never hold is not supported; what is no MLIR is bad input.
#[test]
fn other_dialects_are_not_supported() {
    let file = std::env::temp_dir().join(format!("surject-dialect-{}.mlir", std::process::id()));
    let path = file.to_str().expect("paths are text");
    for (op, status) in [("arith.addf", Status::Unsupported), ("stablehlo.ad", Status::BadInput)] {
        let text = format!(
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n  %0 = {op} %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}}"
        );
        std::fs::write(&file, text).expect("the temporary folder is writable");
        let failure = surject(&["opt", path]).expect_err("it is refused");
        assert_eq!(failure.status, status, "{failure}");
        assert!(failure.message.contains(op) && failure.message.contains(":2:8"), "{failure}");
    }
    std::fs::remove_file(&file).expect("the file is ours");
}
