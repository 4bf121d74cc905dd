//! The code of whole programs on its interpreter, for processors that the tests do not run on: no access out of bounds, no
//! race, every result written, and the values of the reference interpreter.

use crate::native::prepared;
use crate::suite::programs;
use crate::support::cases;
use std::path::Path;
use surject::ir::interp;
use surject_codegen::code::interpret::Options;
use surject_codegen::interpret::InterpretError;
use surject_codegen::{Options as Lowering, Target, Thresholds, lower};
use surject_runtime::compare::compare;

#[test]
fn code_of_all_programs_does_what_it_may() {
    let (mut failures, mut limits, mut ran) = (Vec::new(), Vec::new(), 0);
    let cases = cases().into_iter().filter_map(|case| Some(Path::new(&case.program).parent()?.to_path_buf()));
    for folder in programs().into_iter().chain(cases) {
        let (program, args) = prepared(&folder);
        let function = &program.main().expect("a function").name;
        let expected = interp::run(&program, function, &args).expect("it runs on the interpreter");
        for name in Target::NAMES {
            for (sizes, thresholds) in [("measured", Thresholds::measured()), ("least", Thresholds::least())]
            {
                let target = Target { thresholds, ..Target::named(name).expect("it has this name") };
                let what = format!("{} on {name}, {sizes} thresholds", folder.display());
                let scheduled = Some(surject_cpu::chosen(&target));
                let lowering = Lowering { scheduled, ..Lowering::default() };
                let lowered = lower(&program, function, &target, &lowering);
                let lowered = lowered.unwrap_or_else(|e| panic!("{what}: {e}"));
                let found = match lowered.interpret(&args, Options { seed: 1, ..Options::default() }) {
                    Ok(found) => found,
                    Err(InterpretError::Fault(fault)) if fault.is_limit() => {
                        limits.push(format!("{what}: {}", fault.kind));
                        continue;
                    }
                    Err(error) => {
                        failures.push(format!("{what}: {error}"));
                        continue;
                    }
                };
                ran += 1;
                for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                    let report = compare(a, b, 2e-3, 1e-3);
                    if !report.passed() {
                        failures.push(format!("{what}: result {i}: {report}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} faults\n{}", failures.len(), failures.join("\n"));
    assert!(limits.is_empty() && ran > 700, "{ran} ran, not\n{}", limits.join("\n"));
}
