//! The workloads of the suite at small sizes (`benches/suite.py --small`), by the kernels of every machine, on the interpreter
//! of kernels.

#[path = "../../crates/surject-codegen/tests/kernels/toy.rs"]
mod toy;

use crate::support::root;
use std::path::PathBuf;
use surject::bench::inputs;
use surject::ir::Program;
use surject::{OptimiseOptions, Source, optimise};
use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::run::run;
use surject_codegen::kernels::schedule::Schedules;
use surject_kernel::interpret::Options;
use surject_runtime::{Buffer, compare};

pub(crate) fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/suite")).expect("the suite is there");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    assert!(all.len() > 100, "{} programs", all.len());
    all
}

/// A machine, and whether its results are those of the interpreter bit for bit: one that joins in lanes, warps and blocks
/// sums in another order.
struct Checked {
    machine: Box<dyn Machine>,
    exact: bool,
}

impl Checked {
    fn named(name: &str) -> Checked {
        Checked { machine: surject::machine_named(name).expect("the machine is known"), exact: false }
    }

    /// What is wrong with what the kernels of a program compute.
    fn fault(&self, program: &Program, args: &[Buffer], expected: &[Buffer]) -> Option<String> {
        let function = &program.main().expect("a function").name;
        let (machine, options) = (&*self.machine, Options::default());
        let found = match run(program, function, args, machine, &options, &Schedules::default()) {
            Ok((found, _)) => found,
            Err(error) => return Some(error.to_string()),
        };
        let same = |a: &Buffer, b: &Buffer| match self.exact {
            true => a.bytes() == b.bytes(),
            false => compare::compare(a, b, 1e-4, 1e-5).passed(),
        };
        let alike = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| same(a, b));
        (!alike).then(|| "other values".to_string())
    }
}

#[test]
fn machines_run_the_suite() {
    let toy = Checked { machine: Box::new(toy::Toy), exact: true };
    let machines = [toy, Checked::named("generic"), Checked::named("avx2"), Checked::named("sm_90a")];
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
        for checked in &machines {
            let start = std::time::Instant::now();
            if let Some(fault) = checked.fault(&program, &args, &expected) {
                failures.push(format!("{name} on {}: {fault}", checked.machine.name()));
            }
            if start.elapsed().as_secs_f64() > 1.0 {
                eprintln!("{name} {} {:?}", checked.machine.name(), start.elapsed());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
