//! Gradients at special arguments: where values overflow, saturate and tie. The expected derivatives are limits from
//! `mpmath`, and for ties those of JAX (`special/make.py` writes them).

use std::path::{Path, PathBuf};
use surject_adjoint::{Mode, Options, Ties, gradient};
use surject_ir::{Buffer, DType, Program, Scalar, interp};
use surject_lift::{ImportOptions, import};

/// A table: who gets the gradient of ties, and arguments with derivatives.
struct Table {
    ties: Ties,
    arguments: Vec<Vec<f64>>,
    derivatives: Vec<Vec<Option<f64>>>,
}

fn table(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let ties = match lines.next() {
        Some("ties jax") => Ties::Jax,
        Some("ties split") => Ties::Split,
        other => panic!("{}: {other:?}", path.display()),
    };
    let mut table = Table { ties, arguments: Vec::new(), derivatives: Vec::new() };
    for line in lines {
        let (point, derivatives) = line.split_once('|').unwrap();
        let number = |word: &str| word.parse::<f64>().ok();
        table.arguments.push(point.split_whitespace().map(|w| number(w).unwrap()).collect());
        table.derivatives.push(derivatives.split_whitespace().map(number).collect());
    }
    table
}

fn load(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).unwrap();
    let module = surject_stablehlo::parse(&text).unwrap();
    import(&module, &ImportOptions { file: "special.mlir", source: text.as_bytes(), ..Default::default() })
        .unwrap()
}

/// Where the gradient is not that of the table.
fn faults(path: &Path) -> Vec<String> {
    let table = table(&path.with_extension("txt"));
    let program = load(path);
    let options = Options { mode: Mode::Vjp, ties: table.ties, primals: false, ..Options::default() };
    let derived = match gradient(&program, "main", &options) {
        Ok(derived) => derived,
        Err(e) => return vec![e.to_string()],
    };
    let dtype = program.functions[0].ty(program.functions[0].params[0]).dtype;
    let (count, operands) = (table.arguments.len(), table.arguments[0].len());
    let buffer = |value: &dyn Fn(usize) -> f64| {
        let scalars: Vec<Scalar> = (0..count).map(|i| Scalar::from_f64(dtype, value(i))).collect();
        Buffer::from_scalars(dtype, &[count], &scalars).unwrap()
    };
    let mut faults = Vec::new();
    for cotangent in [1.0, -0.75] {
        let mut arguments: Vec<Buffer> = (0..operands).map(|k| buffer(&|i| table.arguments[i][k])).collect();
        arguments.push(buffer(&|_| cotangent));
        let results = interp::run(&derived, "main", &arguments).unwrap();
        let (relative, absolute) = if dtype == DType::F16 { (1e-2, 2e-3) } else { (1e-4, 1e-6) };
        for (k, result) in results.iter().enumerate() {
            for i in 0..count {
                let (found, Some(slope)) = (result.get(i).as_f64(), table.derivatives[i][k]) else {
                    continue;
                };
                let expected = cotangent * slope;
                let close = (found - expected).abs() <= absolute + relative * expected.abs();
                if !(close || found == expected) {
                    let point = &table.arguments[i];
                    faults.push(format!("by operand {k} at {point:?}: {found}, expected {expected}"));
                }
            }
        }
    }
    faults
}

#[test]
fn gradients_at_special_arguments() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/special");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "mlir"))
        .collect();
    paths.sort();
    let mut report = Vec::new();
    let mut count = 0;
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !only.is_empty() && name != only {
            continue;
        }
        count += 1;
        let faults = faults(&path);
        if !faults.is_empty() {
            report.push(format!(
                "{name}: {} faults\n  {}",
                faults.len(),
                faults[..faults.len().min(6)].join("\n  ")
            ));
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
    assert!(count >= 60 || !only.is_empty());
}
