//! Tests, the cross-check against XLA, and benches.

use std::path::{Path, PathBuf};

use crate::setup;
use crate::shell::{Outcome, cargo, program, root, run};

/// Everything a change must pass.
pub fn everything(with_xla: bool) -> Outcome {
    setup::packages()?;
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    if with_xla {
        let python = setup::jax()?;
        setup::assembler()?;
        // One build, with the features of the whole workspace, is what both XLA and the tests run:
        // a binary built by itself would be another gigabyte of the same libraries.
        run(&mut cargo(&["build", "--workspace", "--tests", "--bins"]))?;
        cross_check(&python)?;
        run_fuzz(&python, "0..40", "debug")?;
        for script in [
            &["tests/xla/harnesses.py", "--count", "300"][..],
            &["tests/xla/saved.py"],
            &["tests/xla/malformed.py"],
        ] {
            run(program(&python, script).env("SURJECT_BIN", binary("debug")))?;
        }
    }
    // Last, so that the closing lines are those of the test runner.
    run(&mut cargo(&["test", "--workspace", "--no-fail-fast"]))
}

/// Exports every public program and lets XLA run it.
pub fn xla() -> Outcome {
    setup::packages()?;
    let python = setup::jax()?;
    run(&mut cargo(&["build", "--package", "surject", "--bin", "surject"]))?;
    cross_check(&python)
}

fn cross_check(python: &Path) -> Outcome {
    for script in ["tests/xla/cross_check.py", "tests/xla/starts.py", "tests/xla/sharded.py"] {
        run(program(python, &[script]).env("SURJECT_BIN", binary("debug")))?;
    }
    Ok(())
}

/// Random JAX programs against XLA, of the seeds of a range.
pub fn fuzz(seeds: &str) -> Outcome {
    setup::packages()?;
    let python = setup::jax()?;
    run(&mut cargo(&["build", "--release", "--package", "surject", "--bin", "surject"]))?;
    run_fuzz(&python, seeds, "release")
}

fn run_fuzz(python: &Path, seeds: &str, profile: &str) -> Outcome {
    run(program(python, &["tests/xla/fuzz.py", seeds]).env("SURJECT_BIN", binary(profile)))
}

/// The criterion benches, then both sides in one run.
pub fn bench(criterion: bool, workloads: &[String]) -> Outcome {
    setup::packages()?;
    let python = setup::jax()?;
    if criterion {
        run(&mut cargo(&["bench", "--package", "surject-benches"]))?;
    }
    run(&mut cargo(&["build", "--release", "--package", "surject", "--bin", "surject"]))?;
    let mut args = vec!["benches/against_xla.py"];
    args.extend(workloads.iter().map(String::as_str));
    run(program(python, &args).env("SURJECT_BIN", binary("release")))
}

/// Makes the example programs again.
pub fn programs() -> Outcome {
    let python = setup::jax()?;
    run(&mut program(python, &["tests/programs/make.py"]))
}

fn binary(profile: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    target.join(profile).join("surject")
}

#[cfg(test)]
mod tests {
    use crate::shell::root;
    use serde_json::Value;
    use std::path::Path;
    use std::process::Command;

    /// A library that says `test = false` has no unit tests, which would never run; one without unit tests says it, or it is built
    /// twice.
    #[test]
    fn unit_tests_are_run() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root());
        let output = cargo.output().expect("cargo");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let packages = metadata["packages"].as_array().expect("packages");
        let targets = packages.iter().flat_map(|package| package["targets"].as_array().expect("targets"));
        let (mut libraries, mut faults) = (0, Vec::new());
        for target in targets {
            let path = Path::new(target["src_path"].as_str().expect("a path"));
            if !path.ends_with("src/lib.rs") {
                continue;
            }
            libraries += 1;
            let is_built = target["test"] == true;
            if has_tests(path.parent().expect("a folder")) != is_built {
                faults.push(format!("{}: test = {is_built}", path.display()));
            }
        }
        assert!(faults.is_empty() && libraries > 20, "{libraries} libraries, {faults:#?}");
    }

    fn has_tests(folder: &Path) -> bool {
        std::fs::read_dir(folder).expect("a folder").any(|entry| {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                return has_tests(&path);
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            path.extension().is_some_and(|e| e == "rs")
                && text.lines().any(|line| matches!(line.trim(), "#[test]" | "proptest! {"))
        })
    }
}
