//! The bundle: an archive of the stripped compiler, the runner, programs with inputs and expected outputs, and `gpu.sh`.

use crate::setup;
use crate::shell::{self, Outcome, cargo, program, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The archive must not be larger, in bytes.
const LIMIT: u64 = 60 << 20;

/// Programs of `tests/programs` that the runner runs without the compiler, and for what they are compiled.
const ARCHIVES: [(&str, &str); 6] = [
    ("softmax", "cuda:sm_80"),
    ("softmax", "cuda:sm_90a"),
    ("bf16_matmul", "cuda:sm_90a"),
    ("recurrent_scan", "cuda:sm_90a"),
    ("transformer_block", "cuda:sm_90a"),
    ("mlp_train_step", "cuda:sm_80"),
];

/// Arguments of `cargo xtask gpu bundle`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the archive is written.
    #[arg(long, value_name = "FILE", default_value = "target/surject-gpu.tar.xz")]
    out: PathBuf,
    /// Pack binaries of the profile `dev`, which compile slowly: to try the bundle itself.
    #[arg(long)]
    dev: bool,
    /// Leave the archive out: the folder beside it is enough.
    #[arg(long)]
    no_archive: bool,
}

/// Builds and packs.
pub fn run(arguments: &Arguments) -> Outcome {
    let profile: &[&str] = if arguments.dev { &[] } else { &["--release"] };
    let build = ["build", "--package", "surject", "--package", "surject-run", "--bins", "--lib"];
    shell::run(&mut cargo(&[&build[..], profile].concat()))?;
    let built = target().join(if arguments.dev { "debug" } else { "release" });
    let out = root().join(&arguments.out);
    let parent = out.parent().ok_or("the archive has no folder")?.to_path_buf();
    let folder = parent.join("surject-gpu");
    let _ = std::fs::remove_dir_all(&folder);
    for name in ["bin", "cases", "suite", "archives", "include"] {
        make(&folder.join(name))?;
    }
    for name in ["surject", "surject-run"] {
        let (from, to) = (built.join(name), folder.join("bin").join(name));
        shell::run(Command::new("strip").arg("-o").arg(&to).arg(&from))?;
        libraries(&to, &folder.join("lib"))?;
    }
    for name in ["gpu.sh", "gpu.py"] {
        copy(&root().join("benches/gpu").join(name), &folder.join(name))?;
    }
    std::fs::write(folder.join("revision"), revision()).map_err(|e| format!("{}: {e}", folder.display()))?;
    copy(&root().join("crates/surject-run/include/surject.h"), &folder.join("include/surject.h"))?;
    copy(&built.join("libsurject_run.so"), &folder.join("bin/libsurject_run.so"))?;
    shell::run(Command::new("strip").arg(folder.join("bin/libsurject_run.so")))?;
    let shared =
        std::env::var_os("SURJECT_CASES").map_or_else(|| root().join("../shared/cases/jax"), PathBuf::from);
    let count = cases(&root().join("tests/programs"), &folder.join("cases/programs"))?
        + cases(&shared, &folder.join("cases/jax"))?;
    let python = setup::jax()?;
    let exported = ["benches/libraries.py", &folder.join("libraries").to_string_lossy()].map(String::from);
    shell::run(&mut program(&python, &exported.each_ref().map(String::as_str)))?;
    let exported = ["benches/products.py", &folder.join("products").to_string_lossy()].map(String::from);
    shell::run(&mut program(&python, &exported.each_ref().map(String::as_str)))?;
    let workloads = suite(&folder.join("suite"))?;
    for (name, target) in ARCHIVES {
        let from = root().join("tests/programs").join(name).join("program.mlir");
        let to = folder.join("archives").join(format!("{name}.{}.sjx", target.replace(':', "-")));
        let mut command = Command::new(built.join("surject"));
        shell::run(command.arg("compile").arg(from).arg("-o").arg(to).args(["--target", target]))?;
    }
    eprintln!("{}: {count} cases, {workloads} workloads of the suite", folder.display());
    dry_run(&folder)?;
    if arguments.no_archive {
        return Ok(());
    }
    let mut tar = Command::new("tar");
    tar.env("XZ_OPT", "-6 -T0").arg("-C").arg(&parent).arg("-cJf").arg(&out).arg("surject-gpu");
    shell::run(&mut tar)?;
    let bytes = std::fs::metadata(&out).map_err(|e| format!("{}: {e}", out.display()))?.len();
    eprintln!("{}: {:.1} MiB", out.display(), bytes as f64 / f64::from(1 << 20));
    match bytes <= LIMIT {
        true => Ok(()),
        false => Err(format!("the bundle has {bytes} bytes, and may have {LIMIT}")),
    }
}

/// Runs `gpu.sh` on a device that interprets PTX, and looks for what its JSON must have.
fn dry_run(folder: &Path) -> Outcome {
    let file = folder.with_file_name("surject-gpu-dry-run.json");
    shell::run(Command::new(folder.join("gpu.sh")).arg("--dry-run").arg("--out").arg(&file))?;
    let wrong = |what: &str| format!("{}: {what}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|e| wrong(&e.to_string()))?;
    let run: serde_json::Value = serde_json::from_str(&text).map_err(|e| wrong(&e.to_string()))?;
    for key in ["calibration", "alone", "one_stream", "suite", "frameworks", "processor"] {
        if run[key].get("unmeasured").is_none() {
            return Err(wrong(&format!("a dry run has measured `{key}`")));
        }
    }
    for (key, checks) in [
        ("correctness", &run["correctness"]),
        ("archives", &run["archives"]),
        ("libraries", &run["libraries"]["checks"]),
        ("products", &run["products"]["checks"]),
    ] {
        let all = checks.as_array().map_or(&[][..], Vec::as_slice);
        if all.is_empty() || all.iter().any(|check| check["ok"] != true) {
            return Err(wrong(&format!("`{key}` does not hold")));
        }
    }
    Ok(())
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into)
}

fn make(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

/// The commit that is packed, as Git describes it; empty where Git does not know.
fn revision() -> String {
    let words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let said = Command::new("git").arg("-C").arg(root()).args(words).output();
    said.map_or_else(|_| String::new(), |said| String::from_utf8_lossy(&said.stdout).trim().to_string())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    std::fs::copy(from, to).map(drop).map_err(|e| format!("{} to {}: {e}", from.display(), to.display()))
}

/// The shared libraries of a binary that are not those of every Linux.
fn libraries(binary: &Path, folder: &Path) -> Outcome {
    let output = Command::new("ldd").arg(binary).output().map_err(|e| format!("ldd: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    const EVERYWHERE: [&str; 8] =
        ["linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread", "librt.so", "libgcc_s"];
    for line in text.lines() {
        let Some((name, rest)) = line.trim().split_once(" => ") else { continue };
        let path = rest.split_whitespace().next().unwrap_or_default();
        if EVERYWHERE.iter().any(|known| name.starts_with(known)) || !path.starts_with('/') {
            continue;
        }
        make(folder)?;
        copy(Path::new(path), &folder.join(name))?;
    }
    Ok(())
}

/// Copies the cases of a folder: programs, inputs, expected outputs. Gives how many; none where there is no such folder.
fn cases(from: &Path, to: &Path) -> Outcome<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let folder = entry.path();
        if !folder.join("program.mlir").exists() || !folder.join("out0.npy").exists() && !has_half(&folder) {
            continue;
        }
        let own = to.join(entry.file_name());
        make(&own)?;
        for file in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|e| e == "npy" || e == "mlir") {
                copy(&path, &own.join(file.file_name()))?;
            }
        }
        count += 1;
    }
    Ok(count)
}

fn has_half(folder: &Path) -> bool {
    folder.join("out0.bf16.npy").exists()
}

/// The workloads of the suite at their own sizes, written by JAX where they are not there yet.
fn suite(to: &Path) -> Outcome<usize> {
    let own = std::env::var_os("SURJECT_SUITE").map_or_else(|| root().join("target/suite"), PathBuf::from);
    if !own.is_dir() {
        let python = setup::jax()?;
        shell::run(&mut program(&python, &["benches/suite.py"]))?;
    }
    let mut count = 0;
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(&own).into_iter().flatten().flatten().map(|e| e.path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with("_odd") || !folder.join("program.mlir").exists() {
            continue;
        }
        make(&to.join(&name))?;
        for file in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            copy(&file.path(), &to.join(&name).join(file.file_name()))?;
        }
        count += 1;
    }
    Ok(count)
}
