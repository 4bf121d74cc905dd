//! The generic form is MLIR's: where `mlir-opt-22` is installed, it reads what is printed, and what it prints is the
//! same module. Skipped, and said so, where it is not.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use surject_stablehlo::{parse, print_generic};

fn programs() -> Vec<PathBuf> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases =
        std::env::var_os("SURJECT_CASES").map_or(crate_root.join("../../../shared/cases/jax"), PathBuf::from);
    let cases =
        std::fs::read_dir(cases).into_iter().flatten().flatten().map(|e| e.path().join("program.mlir"));
    let own =
        std::fs::read_dir(crate_root.join("tests/pass")).into_iter().flatten().flatten().map(|e| e.path());
    cases.chain(own).filter(|p| p.exists()).collect()
}

/// What `mlir-opt-22` makes of a text; `None` if the program is not installed.
fn through_mlir(text: &str) -> Option<Result<String, String>> {
    let mut child = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "--mlir-print-op-generic", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    let text = text.to_string();
    // Written beside the reading below, so that neither side waits for the other.
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok();
    Some(match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    })
}

#[test]
fn mlir_reads_the_generic_form() {
    for path in programs() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let module =
            parse(&text).unwrap_or_else(|e| panic!("{}", e.render(&path.display().to_string(), &text)));
        let Some(result) = through_mlir(&print_generic(&module)) else {
            eprintln!("mlir-opt-22 is not installed: skipped");
            return;
        };
        let back = result.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let again = parse(&back).unwrap_or_else(|e| panic!("{}", e.render("mlir-opt-22", &back)));
        // Quantized types are kept as text, and MLIR spells their scales anew: reading is all that is compared.
        assert!(text.contains("!quant") || module.same(&again), "{}\n{back}", path.display());
    }
}
