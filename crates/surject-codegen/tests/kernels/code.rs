//! Compiled code on its interpreter, for processors that the tests do not run on: no access out of bounds, no race, and
//! the results of the reference interpreter.

use surject_codegen::code::interpret::Options;
use surject_codegen::interpret::InterpretError;
use surject_codegen::{CodegenError, Options as Lowering, Target, Thresholds, lower};
use surject_ir::testing::random_args;
use surject_ir::{Buffer, DType, Program};
use surject_runtime::compare::compare;

/// Processors, each also with the least thresholds.
fn targets() -> impl Iterator<Item = (String, Target)> {
    Target::NAMES.into_iter().flat_map(|name| {
        let target = Target::named(name).expect("it has this name");
        let least = Target { thresholds: Thresholds::least(), ..target };
        [(name.to_string(), target), (format!("{name}, least thresholds"), least)]
    })
}

/// What is wrong with the code of a program; `Ok(false)`: it is not lowered, or the interpreter does not know all of it.
fn fault(
    program: &Program,
    args: &[Buffer],
    expected: &[Buffer],
    target: &Target,
    seed: u64,
) -> Result<bool, String> {
    let lowering = Lowering { scheduled: Some(surject_cpu::chosen(target)), ..Lowering::default() };
    let lowered = match lower(program, "main", target, &lowering) {
        Ok(lowered) => lowered,
        Err(CodegenError::Unsupported { .. }) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let found = match lowered.interpret(args, Options { seed, ..Options::default() }) {
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

/// The terms of a sum over nothing are nowhere, and are not loaded.
#[test]
fn sums_without_terms_load_nothing() {
    let text = "
func main(x: f64[1,5,3]) -> (sums) {
  let moved : f64[0,6,3] =: over i<0, j<6, k<3: x[i + 1,j - 1,k + 1]
  sums : f64[6] =:+ over i<0, j<6, k<3 at [j]: moved[i,j,k]
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    let args = random_args(program.main().expect("a function"), 0);
    let zeros = vec![Buffer::zeros(DType::F64, &[6])];
    for (name, target) in targets() {
        assert_eq!(fault(&program, &args, &zeros, &target, 0), Ok(true), "{name}");
    }
}
