//! Library operations as kernels, on a machine of tasks, on one of threads, and on one with vectors.

use crate::toy::Toy;
use std::collections::BTreeSet;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::library::Call;
use surject_codegen::kernels::machine::{Machine, Spread, Strategy};
use surject_codegen::kernels::run::{assignments, calls, kernels, run};
use surject_codegen::kernels::running::Scanned;
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::testing::random_args;
use surject_ir::{Buffer, Program, interp};
use surject_kernel::interpret::Options;

/// The toy machine, with threads in blocks for library operations.
struct Threads;

impl Machine for Threads {
    fn name(&self) -> &str {
        "threads"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        Toy.strategies()
    }

    fn spread(&self) -> Spread {
        Spread::Threads { block: 32 }
    }
}

/// The toy machine, with vectors for library operations.
struct Vectors;

impl Machine for Vectors {
    fn name(&self) -> &str {
        "vectors"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        Toy.strategies()
    }

    fn vector_bytes(&self) -> usize {
        16
    }
}

/// Runs a program on all machines; the results are those of the interpreter bit for bit.
fn agrees(program: &Program, args: &[Buffer]) {
    let expected = interp::run(program, "main", args).unwrap();
    for machine in [&Toy as &dyn Machine, &Threads, &Vectors] {
        let found = run(program, "main", args, machine, &Options::default(), &Schedules::default());
        let (found, _) =
            found.unwrap_or_else(|error| panic!("{}: {}: {error}", program.name, machine.name()));
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.bytes(), expected.bytes(), "{} on {}", program.name, machine.name());
        }
    }
}

#[test]
fn every_operation_gives_what_the_interpreter_gives() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/library");
    let mut operations = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let program = surject_ir::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let function = program.function("main").unwrap();
        let made: Vec<(String, Call<'_>)> = calls(function);
        assert!(!made.is_empty(), "{}", path.display());
        operations.extend(made.iter().map(|(_, call)| call.op.name()));
        for seed in 0..20 {
            let mut args = random_args(function, seed);
            if program.name == "scatter_unique" {
                // It promises that no two updates meet: one window lies outside.
                let start = |k: i32| (k - 3 + seed as i32) * 3 - 4;
                let bytes: Vec<u8> = (0..3).flat_map(|k| start(k).to_le_bytes()).collect();
                args[1].bytes_mut().copy_from_slice(&bytes);
            }
            agrees(&program, &args);
        }
    }
    let all = [
        "dynamic_update_slice",
        "gather",
        "reduce",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "sort",
    ];
    assert_eq!(operations.into_iter().collect::<Vec<_>>(), all);
}

/// The toy machine, where scans are made in blocks of so many elements.
struct Blocks(i64);

impl Machine for Blocks {
    fn name(&self) -> &str {
        "blocks"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        Toy.strategies()
    }

    fn scan_block(&self, _: &Expression, _: &Scanned) -> Option<i64> {
        Some(self.0)
    }
}

#[test]
fn scans_in_blocks_give_what_the_interpreter_gives() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/scans");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let program = surject_ir::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let function = program.function("main").unwrap();
        for block in 2..12 {
            let field = assignments(function).into_iter().next_back().unwrap().1;
            let made = kernels(function, field, &Blocks(block), "y", &Schedules::default()).unwrap();
            let names: Vec<&str> = made.kernels.iter().map(|made| made.launch.kernel.name.as_str()).collect();
            assert!(names.starts_with(&["y_0_sums", "y_0_before", "y_0"]), "{}: {names:?}", path.display());
            let args = random_args(function, block as u64);
            let expected = interp::run(&program, "main", &args).unwrap();
            let (options, given) = (Options::default(), Schedules::default());
            let (found, _) = run(&program, "main", &args, &Blocks(block), &options, &given).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                // Sums of 16-bit floats are made in f32 here, and rounded once.
                let tolerance = if program.name == "halves" { 0.05 } else { 0.0 };
                let report = surject_runtime::compare::compare(found, expected, tolerance, tolerance);
                assert!(report.passed(), "{} in blocks of {block}: {report}", program.name);
            }
        }
    }
}

#[test]
fn what_has_no_kernel_says_why() {
    let text = "program p\n\nfunc main(x: c64[4]) -> (y, z) {\n  y : c64[4] = call fft{kind=fft, lengths=[4]}(x)\n  \
                z : c64[4] = call sort{axis=0, stable=true}(y) {\n    \
                region(a: c64[], b: c64[]) -> (c) {\n      c : i1[] =: real(a) < real(b)\n    }\n  }\n}\n";
    let program = surject_ir::parse(text).unwrap();
    let function = program.function("main").unwrap();
    assert!(calls(function).is_empty());
    let refused = function.body.statements.iter().filter_map(|s| Call::of(function, s)?.refusal());
    let refused: Vec<String> = refused.collect();
    assert_eq!(refused, ["`fft` has no kernels", "a complex number in a comparator"]);
}
