//! NVIDIA's assembler takes all PTX that these tests make, and what it says of registers and spills.

use crate::harness::{Collected, collect, for_all};
use crate::{chains, kernels as texts, programs};
use std::path::PathBuf;
use std::process::Command;
use surject_codegen::kernels::run::kernels;
use surject_codegen::kernels::schedule::Schedules;
use surject_gpu::Gpu;
use surject_ir::StatementKind;
use surject_ir::testing::random_args;

/// Where `ptxas` is: `SURJECT_PTXAS`, or what `cargo xtask setup` installs, or on the path.
fn ptxas() -> Option<PathBuf> {
    let runs =
        |path: &PathBuf| Command::new(path).arg("--version").output().is_ok_and(|o| o.status.success());
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut places: Vec<PathBuf> = std::env::var_os("SURJECT_PTXAS").map(PathBuf::from).into_iter().collect();
    let wheels = std::fs::read_dir(root.join(".venv/lib")).into_iter().flatten().flatten();
    for python in wheels {
        let nvidia = python.path().join("site-packages/nvidia");
        places.push(nvidia.join("cuda_nvcc/bin/ptxas"));
        places.push(nvidia.join("cu13/bin/ptxas"));
    }
    places.push("ptxas".into());
    places.into_iter().find(runs)
}

/// Products by matrix units are instructions of these, and what is not installed is an error that says what to install.
#[test]
fn instructions_are_shown() {
    let program = programs::program(
        "a: bf16[512,512], b: bf16[512,512]",
        "y : bf16[512,512] =:+ over i<512, j<512, k<512 at [i,j]: a[i,k] * b[k,j]",
    );
    let gpu = Gpu::named("sm_80").unwrap();
    let function = program.function("main").unwrap();
    let StatementKind::Store { field, .. } = function.body.statements[0].kind else {
        panic!("no assignment")
    };
    let mut collected = Collected::default();
    for made in kernels(function, field, &gpu, "k", &Schedules::default()).unwrap().kernels {
        collected.add(&made.launch.kernel).unwrap();
    }
    match surject_gpu::sass::sass(&collected.ptx(gpu.name), gpu.name) {
        Ok(text) => assert!(text.contains("HMMA.16816"), "{text}"),
        Err(error) => {
            assert!(matches!(error, surject_gpu::sass::SassError::Tool { .. }), "{error}");
            assert!(error.to_string().contains("pip install nvidia-cuda-"), "{error}");
        }
    }
}

/// What the assembler says of a kernel.
#[derive(Debug, Default)]
pub struct Use {
    pub name: String,
    pub registers: u32,
    pub spilled: u32,
    /// Bytes of static shared memory.
    pub shared: u32,
}

/// Reads what `ptxas -v` says.
fn uses(text: &str) -> Vec<Use> {
    let mut found: Vec<Use> = Vec::new();
    let number_before = |line: &str, word: &str| -> Option<u32> {
        line.split(word).next()?.split_whitespace().last()?.parse().ok()
    };
    for line in text.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1) {
            found.push(Use { name: name.split('\'').next().unwrap_or("").into(), ..Use::default() });
        }
        let Some(last) = found.last_mut() else { continue };
        if line.contains("bytes spill stores") {
            last.spilled = number_before(line, " bytes spill stores").unwrap_or(0);
        }
        if let Some(rest) = line.split("Used ").nth(1) {
            last.registers = number_before(rest, " registers").unwrap_or(0);
            last.shared = number_before(rest, " bytes smem").unwrap_or(0);
        }
    }
    found
}

/// What the assembler says of PTX; `None` where it is not installed.
pub fn assemble(ptx: &str, architecture: &str) -> Option<Vec<Use>> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let ptxas = ptxas()?;
    let directory = std::env::temp_dir().join(format!("surject-ptxas-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (source, target) = (directory.join("kernels.ptx"), directory.join("kernels.cubin"));
    std::fs::write(&source, ptx).unwrap();
    let output = Command::new(&ptxas)
        .args(["-v", "--warning-as-error", &format!("-arch={architecture}"), "-o"])
        .arg(&target)
        .arg(&source)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    std::fs::remove_dir_all(&directory).unwrap();
    Some(uses(&said))
}

/// The most registers of a thread of any kernel here: formulas of `f64` with their long ways, and chains.
const REGISTERS: u32 = 176;

#[test]
fn the_assembler_takes_every_kernel() {
    let Some(_) = ptxas() else {
        eprintln!("skipped: `ptxas` is not installed; `cargo xtask setup` installs it");
        return;
    };
    for_all(&Gpu::ALL, |gpu| {
        let mut collected = Collected::default();
        for (name, text) in texts::texts() {
            collected.add(&texts::kernel(&text)).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        for (i, (_, program, _)) in programs::programs().iter().enumerate() {
            let args = random_args(program.function("main").unwrap(), i as u64);
            collect(program, &args, gpu, &mut collected);
        }
        chains::collect_all(&mut collected);
        let uses = assemble(&collected.ptx(gpu.name), gpu.name).expect("an assembler");
        assert_eq!(uses.len(), collected.written.len());
        for kernel in &uses {
            assert_eq!(kernel.spilled, 0, "{kernel:?}");
            assert!((1..=REGISTERS).contains(&kernel.registers), "{kernel:?}");
        }
        let most = uses.iter().max_by_key(|u| u.registers).unwrap();
        eprintln!(
            "{}: {} kernels, at most {} registers ({})",
            gpu.name,
            uses.len(),
            most.registers,
            most.name
        );
    });
}
