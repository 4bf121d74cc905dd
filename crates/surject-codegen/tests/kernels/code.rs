//! Compiled code on its interpreter, for processors that the tests do not run on: no access out of bounds, no race, and
//! the results of the reference interpreter.

use surject_codegen::code::interpret::Options;
use surject_codegen::interpret::InterpretError;
use surject_codegen::{CodegenError, Target, lower};
use surject_ir::{Buffer, Program};
use surject_runtime::compare::compare;

/// Processors, each also as if everything were large.
fn targets() -> Vec<(&'static str, Target)> {
    let generic = Target { threads: 3, ..Target::generic() };
    let avx2 = Target {
        vector_bytes: 32,
        lane_permute_width: 8,
        has_pmaddwd: true,
        has_non_temporal_stores: true,
        prefetches_rows: true,
        ..generic
    };
    let avx512 = Target {
        vector_bytes: 64,
        vector_registers: 32,
        lane_permute_width: 16,
        has_bf16_dot: true,
        full_rate_vectors: true,
        mesh_llc: true,
        ..avx2
    };
    let large = |target| Target { treats_all_as_large: true, ..target };
    vec![
        ("generic", generic),
        ("avx2", avx2),
        ("avx512", avx512),
        ("generic, large", large(generic)),
        ("avx2, large", large(avx2)),
        ("avx512, large", large(avx512)),
    ]
}

/// What is wrong with the code of a program; `Ok(false)`: it is not lowered, or the interpreter does not know all of it.
fn fault(program: &Program, args: &[Buffer], expected: &[Buffer], target: &Target, seed: u64) -> Result<bool, String> {
    let lowered = match lower(program, "main", target) {
        Ok(lowered) => lowered,
        Err(CodegenError::Unsupported { .. }) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let found = match lowered.interpret(args, Options { seed }) {
        Ok(found) => found,
        Err(InterpretError::Fault(fault)) if fault.is_limit() => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let differs = found.iter().zip(expected).enumerate().find_map(|(i, (a, b))| {
        let report = compare(a, b, 1e-3, 1e-3);
        (!report.passed()).then(|| format!("result {i}: {report}"))
    });
    differs.map_or(Ok(true), Err)
}

#[test]
fn code_of_random_programs_does_what_it_may() {
    let (mut ran, mut faults) = (0, Vec::new());
    for (seed, program, args, expected) in super::programs(150) {
        for (name, target) in targets() {
            match fault(&program, &args, &expected, &target, seed) {
                Ok(whole) => ran += usize::from(whole),
                Err(error) => faults.push(format!("program {seed} on {name}: {error}")),
            }
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(ran > 600, "{ran}");
}
