//! Kernels of the kernel IR against the reference interpreter, without MLIR.

mod code;
mod library;
mod parts;
mod random;
mod schedules;
mod strided;
mod sums;
mod toy;
mod transpositions;
mod triangles;

use surject_codegen::kernels::machine::Machine;
use surject_codegen::kernels::run::run;
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::interp::{self, InterpError};
use surject_ir::testing::{Options, random_args, random_program_with};
use surject_ir::{Buffer, Program};
use surject_kernel::interpret;

/// The results of a program on the kernels of a machine; `None`: it is not supported, as on a CPU.
/// `log` tells how kernels were made.
fn results(
    program: &Program,
    args: &[Buffer],
    machine: &dyn Machine,
    log: &dyn Fn() -> String,
) -> Option<Vec<Buffer>> {
    let (options, given) = (interpret::Options::default(), Schedules::default());
    match run(program, "main", args, machine, &options, &given) {
        Ok(found) => Some(found.0),
        Err(error) => {
            let mut inner = &error;
            while let InterpError::At { error, .. } = inner {
                inner = error;
            }
            let unsupported = matches!(inner, InterpError::Unsupported { .. });
            assert!(unsupported, "{error}\n{}\n{}", surject_ir::print(program), log());
            None
        }
    }
}

/// Programs of all kinds with their arguments and what they give.
fn programs(count: u64) -> impl Iterator<Item = (u64, Program, Vec<Buffer>, Vec<Buffer>)> {
    (0..count).filter_map(|seed| {
        let program = random_program_with(seed, 12, &Options::everything());
        let args = random_args(program.function("main")?, seed);
        // What the interpreter refuses, such as loops that do not end, is nothing to compare with.
        let limits = interp::Limits { iterations: Some(1000) };
        let expected = interp::run_within(&program, "main", &args, limits).ok()?;
        Some((seed, program, args, expected))
    })
}

/// In the order of the program, results are those of the interpreter bit for bit; those of functions of complex numbers,
/// which expressions write out, as nearly as compiled code.
#[test]
fn a_scalar_machine_gives_the_same_bits() {
    let mut compared = 0;
    for (seed, program, args, expected) in programs(1500) {
        let Some(found) = results(&program, &args, &toy::Toy, &String::new) else { continue };
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let text = surject_ir::print(&program);
            if text.contains("c64") || text.contains("c128") {
                let report = surject_runtime::compare::compare(found, expected, 1e-4, 1e-4);
                assert!(report.passed(), "result {i} of seed {seed}: {report}\n{text}");
                continue;
            }
            assert_eq!(found.bytes(), expected.bytes(), "result {i} of seed {seed}:\n{text}");
            compared += 1;
        }
    }
    assert!(compared > 1200, "only {compared} results were compared");
}

/// In any loops, lanes and tasks, they are the same but for the order of sums.
#[test]
fn random_schedules_change_no_result() {
    let mut compared = 0;
    for (seed, program, args, expected) in programs(3000) {
        let machine = random::Random::new(seed);
        let Some(found) = results(&program, &args, &machine, &|| machine.log()) else { continue };
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let report = surject_runtime::compare::compare(found, expected, 1e-4, 1e-4);
            let text = || format!("{}\n{}", surject_ir::print(&program), machine.log());
            assert!(report.passed(), "result {i} of seed {seed}: {report}\n{}", text());
            compared += 1;
        }
    }
    assert!(compared > 1200, "only {compared} results were compared");
}
