//! What the build needs from outside: MLIR 22 from Debian, and JAX in a virtual environment as the oracle.

use crate::shell::{Outcome, program, root, run, succeeds};
use std::path::{Path, PathBuf};

/// The Debian packages of the build. Polly is there because LLVM's list of static libraries names it.
const PACKAGES: [&str; 11] = [
    "libmlir-22-dev",
    "llvm-22-dev",
    "mlir-22-tools",
    "libpolly-22-dev",
    "libclang-22-dev",
    "clang-22",
    "lld-22",
    "libzstd-dev",
    "zlib1g-dev",
    "libxml2-dev",
    "libz3-dev",
];

/// The Python packages of the oracle, pinned: the text JAX prints changes between versions.
const JAX: &str = "jax[cpu]==0.10.2";
/// What JAX's own harnesses need.
const ABSL: &str = "absl-py==2.5.1";
/// What JAX needs to save exported programs.
const FLATBUFFERS: &str = "flatbuffers==25.12.19";

/// The Python packages of the other peer of `surject bench`, pinned: its flags change between versions.
const IREE: [&str; 2] = ["iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0"];

/// PyTorch, the peer of `surject bench` that is installed where it is asked for.
const TORCH: &str = "torch==2.10.0";

/// NVIDIA's assembler, pinned: tests assemble the PTX of kernels where it is installed.
const PTXAS: &str = "nvidia-cuda-nvcc-cu12==12.9.86";

/// Installs NVIDIA's assembler into the virtual environment, if it is missing.
pub fn assembler() -> Outcome {
    let python = python()?;
    let found = "import glob, sys; sys.exit(not glob.glob(sys.prefix + '/lib/*/site-packages/nvidia/cuda_nvcc/bin/ptxas'))";
    if succeeds(&mut program(&python, &["-c", found])) {
        return Ok(());
    }
    run(&mut program(&python, &["-m", "pip", "install", "--quiet", "--no-deps", PTXAS]))
}

/// Installs the Debian packages that are missing.
pub fn packages() -> Outcome {
    let missing: Vec<&str> = PACKAGES.into_iter().filter(|p| !installed(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("installing {}", missing.join(" "));
    let root_user = succeeds(&mut program("sh", &["-c", "test \"$(id -u)\" = 0"]));
    let sudo: &[&str] = if root_user { &[] } else { &["sudo"] };
    let apt = |args: &[&str]| {
        let words: Vec<&str> = sudo.iter().chain(&["apt-get"]).chain(args).copied().collect();
        run(program(words[0], &words[1..]).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-qq"])?;
    let install: Vec<&str> =
        ["install", "-y", "-qq", "--no-install-recommends"].into_iter().chain(missing).collect();
    apt(&install).map_err(|error| {
        format!(
            "{error}\nMLIR 22 comes from Debian's packages or from https://apt.llvm.org; see CONTRIBUTING.md"
        )
    })
}

fn installed(package: &str) -> bool {
    succeeds(&mut program(
        "sh",
        &["-c", &format!("dpkg-query -W -f '${{Status}}' {package} | grep -q 'ok installed'")],
    ))
}

/// The Python of the virtual environment, which is made if it is missing.
fn python() -> Outcome<PathBuf> {
    let venv = root().join(".venv");
    let python = venv.join("bin/python");
    if !succeeds(&mut program(&python, &["-c", "import pip"])) {
        let venv = venv.to_string_lossy().into_owned();
        if run(&mut program("python3", &["-m", "venv", &venv])).is_err() {
            packages_for_python()?;
            run(&mut program("python3", &["-m", "venv", "--clear", &venv]))?;
        }
    }
    Ok(python)
}

/// The Python of the virtual environment with JAX, installed if it is missing.
pub fn jax() -> Outcome<PathBuf> {
    let python = python()?;
    if !succeeds(&mut program(&python, &["-c", "import jax, ml_dtypes, absl, flatbuffers"])) {
        run(&mut program(&python, &["-m", "pip", "install", "--quiet", JAX, ABSL, FLATBUFFERS]))?;
    }
    Ok(python)
}

/// The Python of the virtual environment with every peer of `surject bench`, installed if they are missing.
pub fn peers() -> Outcome<PathBuf> {
    let python = jax()?;
    if !succeeds(&mut program(&python, &["-c", "import iree.compiler.api, iree.runtime"])) {
        let args: Vec<&str> = ["-m", "pip", "install", "--quiet"].into_iter().chain(IREE).collect();
        run(&mut program(&python, &args))?;
    }
    Ok(python)
}

/// Installs PyTorch for a Python, if it is missing.
pub fn torch(python: &Path) -> Outcome {
    if succeeds(&mut program(python, &["-c", "import torch"])) {
        return Ok(());
    }
    run(&mut program(python, &["-m", "pip", "install", "--quiet", TORCH]))
}

/// Debian keeps `venv` in a package of its own.
fn packages_for_python() -> Outcome {
    let root_user = succeeds(&mut program("sh", &["-c", "test \"$(id -u)\" = 0"]));
    let install = "apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv python3-pip";
    let (shell, args): (&str, [&str; 3]) =
        if root_user { ("env", ["sh", "-c", install]) } else { ("sudo", ["sh", "-c", install]) };
    run(&mut program(shell, &args))
}
