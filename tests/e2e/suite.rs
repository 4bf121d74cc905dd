//! The workloads of the suite at small sizes (`benches/suite.py --small`), by the kernels of every machine, on the interpreter
//! of kernels.

#[path = "../../crates/surject-codegen/tests/kernels/toy.rs"]
mod toy;

use crate::support::root;
use std::path::PathBuf;
use surject::bench::inputs;
use surject::{OptimiseOptions, Source, optimise};
use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::run::run;
use surject_codegen::kernels::schedule::Schedules;
use surject_kernel::interpret::Options;
use surject_runtime::{Buffer, compare};

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/suite")).expect("the suite is there");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    assert!(all.len() > 100, "{} programs", all.len());
    all
}

/// Runs every workload, optimised, and compares with the interpreter of programs.
fn check(machine: &dyn Machine, same: fn(&Buffer, &Buffer) -> bool) {
    let mut failures = Vec::new();
    for folder in programs() {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let source = Source::load(&folder.join("program.mlir")).unwrap_or_else(|f| panic!("{name}: {f}"));
        let program = source.program(None).unwrap_or_else(|f| panic!("{name}: {f}"));
        let program =
            optimise(&program, &OptimiseOptions::default()).unwrap_or_else(|f| panic!("{name}: {f}"));
        let program = program.program;
        let function = program.main().expect("a function");
        let args = inputs(function, Some(&folder)).unwrap_or_else(|f| panic!("{name}: {f}"));
        let expected = surject::ir::interp::run(&program, &function.name, &args).expect("the program runs");
        let found = run(&program, &function.name, &args, machine, &Options::default(), &Schedules::default());
        match found {
            Err(error) => failures.push(format!("{name}: {error}")),
            Ok((found, _)) => {
                let alike =
                    found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| same(a, b));
                if !alike {
                    failures.push(format!("{name}: other values"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", machine.name(), failures.join("\n"));
}

/// One element after the other, in the order of the loops: bit for bit.
#[test]
fn the_toy_machine_runs_the_suite() {
    check(&toy::Toy, |a, b| a.bytes() == b.bytes());
}

/// Machines that join in lanes, warps and blocks: up to the order of sums.
#[test]
fn machines_run_the_suite() {
    let same = |a: &Buffer, b: &Buffer| compare::compare(a, b, 1e-4, 1e-5).passed();
    for name in ["generic", "avx2", "sm_90a"] {
        check(&*surject::machine_named(name).expect("the machine is known"), same);
    }
}
