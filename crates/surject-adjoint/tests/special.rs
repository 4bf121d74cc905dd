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

/// A number that decides.
struct Dice(surject_ir::testing::Rng);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next() % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    /// A linear form.
    fn line(&mut self) -> String {
        let factor = self.pick(&["1.0", "-1.0", "2.0", "-0.5"]);
        format!("({factor} * x + {})", self.pick(&["0.0", "1.0", "-3.0"]))
    }

    /// What is positive, made of exponentials.
    fn positive(&mut self, depth: u64) -> String {
        if depth == 0 {
            let line = self.line();
            return match self.below(4) {
                0 => format!("cosh({line})"),
                1 => format!("logistic({line})"),
                _ => format!("exp({line})"),
            };
        }
        let p = self.positive(depth - 1);
        match self.below(8) {
            0 => format!("(1.0 + {p})"),
            1 => format!("({p} + 3.0)"),
            2 => format!("({p} + {})", self.positive(depth - 1)),
            3 => format!("(2.0 * {p})"),
            4 => format!("(1.0 / (2.0 + {p}))"),
            5 => format!("({p} / (1.0 + {p}))"),
            6 => format!("sqrt(1.0 + {p})"),
            _ => format!("pow({p} + 1.0, -1.5)"),
        }
    }

    /// What is bounded or grows slowly.
    fn formula(&mut self) -> String {
        let depth = 1 + self.below(3);
        let p = self.positive(depth);
        match self.below(9) {
            0 => format!("log(1.0 + {p})"),
            1 => format!("log1p({p})"),
            2 => format!("tanh({p})"),
            3 => format!("x * tanh(log1p({p}))"),
            4 => format!("exp(neg({p}))"),
            5 => format!("x / (1.0 + {p})"),
            6 => format!("atan({p})"),
            7 => format!("select(x < 10.0, {p}, 2.0)"),
            _ => p,
        }
    }
}

/// Values and derivatives of a formula in `x`.
fn values(formula: &str, dtype: DType, points: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut text = String::new();
    let mut rest = formula;
    // Numbers get their type; `x` is read.
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        if length > 0 {
            text += &format!("{}{dtype}", &rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        match &rest[..word] {
            "x" => text += "x[i]",
            "" => text.push(c),
            name => text += name,
        }
        rest = &rest[word.max(c.len_utf8())..];
    }
    let n = points.len();
    let program = format!("func main(x: {dtype}[{n}]) -> (z) {{ z : {dtype}[{n}] =: over i<{n}: {text} }}");
    let program = surject_ir::parse(&program).unwrap_or_else(|e| panic!("{program}: {e}"));
    let options = Options { mode: Mode::Vjp, ..Options::default() };
    let derived = gradient(&program, "main", &options).unwrap();
    let buffer = |values: &[f64]| {
        let scalars: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
        Buffer::from_scalars(dtype, &[n], &scalars).unwrap()
    };
    let results = interp::run(&derived, "main", &[buffer(points), buffer(&vec![1.0; n])]).unwrap();
    let list = |b: &Buffer| (0..n).map(|i| b.get(i).as_f64()).collect::<Vec<_>>();
    (list(&results[0]), list(&results[1]))
}

/// Where the exponentials of a formula overflow in `f32` and not in `f64`, and its value is right in `f32`, its gradient
/// is right too.
#[test]
fn random_formulas_of_exponentials() {
    let points: Vec<f64> = [0.0, 1.0, 10.0, 30.0, 44.0, 60.0, 87.0, 89.0, 95.0, 104.0, 110.0]
        .iter()
        .flat_map(|&v| [v, -v])
        .collect();
    let mut dice = Dice(surject_ir::testing::Rng::new(7));
    let (mut compared, mut beyond) = (0, 0);
    let mut faults = Vec::new();
    for _ in 0..600 {
        let formula = dice.formula();
        let (single, single_slope) = values(&formula, DType::F32, &points);
        let (double, double_slope) = values(&formula, DType::F64, &points);
        for (i, &x) in points.iter().enumerate() {
            let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * (1.0 + b.abs());
            if !double_slope[i].is_finite()
                || double_slope[i].abs() > 1e30
                || !close(single[i], double[i], 1e-3)
            {
                continue;
            }
            compared += 1;
            beyond += usize::from(x.abs() > 80.0);
            if !close(single_slope[i], double_slope[i], 1e-2) {
                faults.push(format!("{formula} at {x}: {} and {} in f64", single_slope[i], double_slope[i]));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {compared}:\n{}",
        faults.len(),
        faults[..faults.len().min(20)].join("\n")
    );
    assert!(beyond > 1200, "{compared} compared, {beyond} of them beyond the range of f32");
}
