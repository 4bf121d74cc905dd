//! The conformance programs of `surject-stablehlo` through import: those on quantized types, small integers and small floats
//! agree as they do on the interpreter of that crate, and what is refused is one of a few operations.

use std::path::Path;
use surject_lift::{CheckOutcome, ImportOptions, import_checks};

/// What import refuses or computes less closely, by the function and a part of the message.
const KNOWN: &[(&str, &str)] = &[
    // Two numbers in a byte.
    ("", "`stablehlo.bitcast_convert` is not supported here: the bits of i8 as i4"),
    // Queues and processes side by side are the business of `spec`.
    ("", "`stablehlo.infeed` is not supported here: programs have no such operation"),
    ("", "`stablehlo.send` is not supported here: programs have no such operation"),
    (
        "collective_reduce",
        "`interpreter.run_parallel` is not supported here: programs have no such operation",
    ),
    // Logarithms of numbers next to the unit circle need more than the digits of `f64`.
    ("log_circle_f64", "elements differ"),
    ("log_plus_one_circle_f64", "elements differ"),
    // Computed in `f32`.
    ("bessel_i1e_f32", "at a distance of 2 ulp"),
    ("zeta_f32", "at a distance of 2 ulp"),
    ("polygamma_f32", "at a distance of 2 ulp"),
];

fn checked(text: &str, file: &str) -> Result<(), String> {
    let module = surject_stablehlo::parse_and_verify(text).map_err(|d| d.render(file, text))?;
    let options = ImportOptions { function: None, file, source: text.as_bytes() };
    for (name, function) in import_checks(&module, &options).map_err(|e| e.to_string())? {
        let function = function.map_err(|e| format!("@{name}: refused {e}"))?;
        surject_ir::verify(&function.program).map_err(|e| format!("@{name}: {e}"))?;
        let results =
            surject_ir::interp::run(&function.program, &name, &[]).map_err(|e| format!("@{name}: {e}"))?;
        for check in &function.checks {
            if let CheckOutcome::Failed { reason } = check.evaluate(&results) {
                return Err(format!("@{name}: {reason}"));
            }
        }
    }
    Ok(())
}

#[test]
fn programs_agree_or_are_refused_for_a_known_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../surject-stablehlo/tests/conformance");
    let (mut count, mut known, mut wrong) = (0, 0, Vec::new());
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|f| f.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "mlir"));
    files.sort();
    for path in files {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for text in std::fs::read_to_string(&path).unwrap().split("// -----\n") {
            count += 1;
            match checked(text, &file) {
                Ok(()) => {}
                Err(error) if KNOWN.iter().any(|(f, m)| error.contains(f) && error.contains(m)) => known += 1,
                Err(error) => wrong.push(format!("{file}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(known < 32, "{known} of {count}");
}
