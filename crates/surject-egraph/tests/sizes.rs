//! Programs with symbolic sizes: what the optimiser makes of them says no more about sizes than they do (seed 002, "Compiler
//! Pass Contract"), and gives the same values.

use std::path::Path;
use surject_egraph::{Options, optimise};
use surject_ir::{Buffer, DType, Program, Scalar, interp, pass_violations};
use surject_lift::{ImportOptions, import};

fn buffer(dtype: DType, shape: &[usize]) -> Buffer {
    let count: usize = shape.iter().product();
    let values: Vec<Scalar> = (0..count)
        .map(|k| Scalar::from_f64(dtype, (k % 3) as f64 * if dtype == DType::F32 { 0.5 } else { 1.0 }))
        .collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

/// The module of a case of `tests/polymorphic`, with symbolic sizes.
fn case(name: &str) -> Program {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic").join(format!("{name}.mlir"));
    let text = std::fs::read(path).unwrap();
    let module =
        surject_stablehlo::parse_and_verify(&text).unwrap_or_else(|d| panic!("{}", d.render(name, &text)));
    let options = ImportOptions { file: name, source: &text, function: Some("main") };
    import(&module, &options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_optimiser_keeps_the_contract_of_passes() {
    let cases: [(&str, &[&[usize]]); 6] = [
        ("elementwise", &[&[2, 3], &[2, 3]]),
        ("softmax", &[&[2, 3]]),
        ("layernorm", &[&[2, 3], &[3], &[3]]),
        ("contract", &[&[2, 3], &[3, 4]]),
        ("concat", &[&[2, 3], &[4, 3]]),
        ("outer_sum", &[&[2, 3]]),
    ];
    for (name, shapes) in cases {
        let before = case(name);
        let after = optimise(&before, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}")).program;
        surject_ir::verify(&after).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (f, g) = (before.main().unwrap(), after.main().unwrap());
        let violations = pass_violations(f, g).unwrap();
        assert!(violations.is_empty(), "{name}: {}", violations[0]);
        let arguments: Vec<Buffer> = shapes.iter().map(|s| buffer(DType::F32, s)).collect();
        let bound = |program: &Program| {
            let bound = surject_ir::bind(program.main().unwrap(), &arguments)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            let bound = Program { name: String::new(), functions: vec![bound] };
            interp::run(&bound, "main", &arguments).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        for (a, b) in bound(&before).iter().zip(&bound(&after)) {
            assert!(surject_runtime::compare::compare(a, b, 1e-5, 1e-6).passed(), "{name}: {a:?} {b:?}");
        }
    }
}

/// R17, R46: over every module of `tests/polymorphic`, the optimiser keeps the contract, and so does every pass on the way:
/// one that uses a single family of rules, and one that uses all.
#[test]
fn the_contract_holds_for_every_symbolic_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic");
    let names = std::fs::read_dir(folder).unwrap();
    let name = |f: std::io::Result<std::fs::DirEntry>| f.ok()?.file_name().into_string().ok();
    let mut names: Vec<String> =
        names.filter_map(|f| Some(name(f)?.strip_suffix(".mlir")?.to_string())).collect();
    names.sort();
    assert!(names.len() >= 80);
    let mut failures = Vec::new();
    for name in names {
        let before = case(&name);
        match optimise(&before, &Options::default()) {
            Err(error) => failures.push(format!("{name}: {error}")),
            Ok(after) => {
                if let Err(error) = surject_ir::verify(&after.program) {
                    failures.push(format!("{name}: {error}"));
                }
                let (f, g) = (before.main().unwrap(), after.program.main().unwrap());
                failures.extend(pass_violations(f, g).unwrap().iter().map(|v| format!("{name}: {v}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// R36, R53: a truncation that declares a size stays where only its size is used; sizes that data gives stay bounds.
#[test]
fn truncations_are_kept() {
    let text = "\
func main(x: f32[n], s: f32[]) -> (z, w) {
  t : f32[] =: s * 2.0f32
  y : f32[u] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  z : f32[u] =: over i<u: x[i] * 1.0f32 + 0.0f32
  v : f32[u] =: over i<u: z[i] + z[i]
  w : f32[] =:+ over i<u at []: v[i]
}
";
    let before = surject_ir::parse(text).unwrap();
    surject_ir::verify(&before).unwrap();
    let after = optimise(&before, &Options::default()).unwrap().program;
    surject_ir::verify(&after).unwrap();
    let (f, g) = (before.main().unwrap(), after.main().unwrap());
    assert_eq!(pass_violations(f, g).unwrap(), []);
    assert_eq!(g.truncations().count(), 1);
    let x = buffer(DType::F32, &[5]);
    for (s, size) in [(1.0, 2), (0.0, 0), (9.0, 5)] {
        let arguments = [x.clone(), Buffer::splat(Scalar::from_f64(DType::F32, s), &[])];
        let found = interp::run(&after, "main", &arguments).unwrap();
        assert_eq!(found[0].shape(), [size]);
        assert_eq!(found, interp::run(&before, "main", &arguments).unwrap());
    }
}
