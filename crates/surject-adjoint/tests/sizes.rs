//! Gradients of programs with symbolic sizes (seed 002, "AD Contract"): a graph of exact sizes, or a typed error; never a
//! panic. Bound to a call they are what the gradient of the program of that call is.

use std::path::Path;
use surject_adjoint::{Mode, Options, gradient};
use surject_index::Space;
use surject_ir::{Buffer, DType, Program, Scalar, TensorType, interp};
use surject_lift::{ImportOptions, import, import_for};

fn buffer(shape: &[usize], from: usize) -> Buffer {
    let count: usize = shape.iter().product();
    let value = |k: usize| Scalar::from_f64(DType::F32, ((k * 7 + from * 5) % 11) as f64 / 8.0 - 0.5);
    Buffer::from_scalars(DType::F32, shape, &(0..count).map(value).collect::<Vec<_>>()).unwrap()
}

fn types(arguments: &[Buffer]) -> Vec<TensorType> {
    let space = |b: &Buffer| Space::of(&b.shape().iter().map(|&n| n as u64).collect::<Vec<_>>());
    arguments.iter().map(|b| TensorType::new(b.dtype(), space(b))).collect()
}

fn run(program: &Program, arguments: &[Buffer]) -> Result<Vec<Buffer>, String> {
    surject_ir::verify(program).map_err(|e| e.to_string())?;
    interp::run(program, "main", arguments).map_err(|e| e.to_string())
}

/// The gradient of the symbolic program, bound, against that of the program of the call: what differs. `None` where the
/// symbolic program is refused.
fn compared(name: &str, shapes: &[&[usize]]) -> Result<Option<()>, String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic").join(format!("{name}.mlir"));
    let text = std::fs::read(path).map_err(|e| e.to_string())?;
    let module = surject_stablehlo::parse_and_verify(&text).map_err(|d| d.render(name, &text))?;
    let options = ImportOptions { file: name, source: &text, function: Some("main") };
    let symbolic = import(&module, &options).map_err(|e| e.to_string())?;
    let vjp = Options { mode: Mode::Vjp, ..Options::default() };
    let derived = match gradient(&symbolic, "main", &vjp) {
        Ok(derived) => derived,
        Err(_) => return Ok(None),
    };
    surject_ir::verify(&derived).map_err(|e| format!("the gradient does not verify: {e}"))?;
    let mut arguments: Vec<Buffer> = shapes.iter().enumerate().map(|(k, s)| buffer(s, k)).collect();
    let plain = import_for(&module, &options, &types(&arguments)).map_err(|e| e.to_string())?;
    let results = run(&plain, &arguments)?;
    let expected = gradient(&plain, "main", &vjp).map_err(|e| e.to_string())?;
    arguments.extend(
        results.iter().filter(|r| r.dtype() == DType::F32).enumerate().map(|(k, r)| buffer(r.shape(), k + 3)),
    );
    let expected = run(&expected, &arguments)?;
    let bound =
        surject_ir::bind(derived.main().ok_or("no function")?, &arguments).map_err(|e| e.to_string())?;
    let found = run(&Program { name: String::new(), functions: vec![bound] }, &arguments)?;
    for (a, b) in found.iter().zip(&expected) {
        let report = surject_runtime::compare::compare(a, b, 1e-4, 1e-5);
        if !report.passed() {
            return Err(format!("{report}"));
        }
    }
    Ok(Some(()))
}

#[test]
fn gradients_of_symbolic_programs() {
    let cases: [(&str, &[&[usize]]); 18] = [
        ("elementwise", &[&[2, 3], &[2, 3]]),
        ("broadcast", &[&[2], &[3]]),
        ("concat", &[&[2, 3], &[4, 3]]),
        ("contract", &[&[2, 3], &[3, 4]]),
        ("einsum", &[&[2, 3, 4], &[2, 4, 2]]),
        ("softmax", &[&[2, 3]]),
        ("layernorm", &[&[2, 3], &[3], &[3]]),
        ("attention", &[&[1, 2, 2, 4], &[1, 2, 2, 4], &[1, 2, 2, 4]]),
        ("outer_sum", &[&[2, 3]]),
        ("pad", &[&[2, 3]]),
        ("strided", &[&[5]]),
        ("maxpool", &[&[2, 4]]),
        ("size_as_value", &[&[4]]),
        ("flatten", &[&[2, 3]]),
        ("block", &[&[2, 2, 4], &[4, 6], &[6, 4]]),
        ("conv", &[&[1, 4, 3, 3], &[3, 2, 3, 4]]),
        ("cumsum", &[&[3, 2]]),
        ("scan", &[&[3, 2], &[2, 2]]),
    ];
    let (mut failures, mut refused) = (Vec::new(), Vec::new());
    for (name, shapes) in cases {
        match compared(name, shapes) {
            Ok(Some(())) => {}
            Ok(None) => refused.push(name),
            Err(what) => failures.push(format!("{name}: {what}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // What became a gather or an update at computed positions on import.
    assert_eq!(refused, ["concat", "strided", "flatten", "block", "conv", "cumsum", "scan"]);
}
