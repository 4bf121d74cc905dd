//! The programs of `tests/conformance`: what XLA, or the formula, says of every operation.

use std::path::PathBuf;

use surject_stablehlo::interpret::run;
use surject_stablehlo::parse;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// Runs every function of a file; those that fail, and how many there are.
fn check(name: &str) {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for program in text.split("// -----\n") {
        count += 1;
        let module = match surject_stablehlo::parse_and_verify(program) {
            Ok(module) => module,
            Err(error) => {
                wrong.push(error.render(name, program));
                continue;
            }
        };
        let function = module.functions.last().unwrap();
        if let Err(error) = run(&module, &function.name, Vec::new()) {
            wrong.push(format!("@{}: {}: {error}", function.name, error.op().unwrap_or_default()));
        }
    }
    let shown: Vec<String> = wrong.iter().take(40).cloned().collect();
    assert!(wrong.is_empty() && count > 1, "{name}: {} of {count}:\n{}", wrong.len(), shown.join("\n"));
}

macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(concat!(stringify!($name), ".mlir"));
        })*

        #[test]
        fn every_file_is_run() {
            let known = [$(concat!(stringify!($name), ".mlir")),*];
            for entry in std::fs::read_dir(folder()).unwrap().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                assert!(!name.ends_with(".mlir") || known.contains(&name.as_str()), "{name}");
            }
        }
    };
}

files! {
    broadcasts
    complex
    contractions
    control
    conversions
    effects
    floats
    gathers
    integers
    library
    movement
    others
    rare
    reductions
    sorting
    transcendental
}

/// A program with one expected value changed must fail.
#[test]
fn a_wrong_value_is_found() {
    let program = "func.func @main() {
      %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      %r = stablehlo.add %0, %0 : tensor<2xi32>
      check.expect_eq_const %r, dense<[2, 5]> : tensor<2xi32>
      return
    }";
    let module = parse(program).unwrap();
    let error = run(&module, "main", Vec::new()).unwrap_err();
    let text = error.diagnostic().render("wrong.mlir", program);
    assert!(
        text.starts_with(
            "wrong.mlir:4:7: error[SJ0143]: 'check.expect_eq_const': found 4 where 5 is expected at index [1]"
        ),
        "{text}"
    );
}
