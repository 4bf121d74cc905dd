//! The public example programs made with JAX: optimised they compute what they computed before. The folder is
//! given by `SURJECT_CASES`; without it the tests of the package stand in.
mod support;
use support::agree;
use surject_egraph::{Options, optimise};
use surject_lift::{ImportOptions, import};

#[test]
fn programs_from_jax_agree() {
    let Some(root) = std::env::var_os("SURJECT_CASES") else { return };
    let mut failures = Vec::new();
    let mut names: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()).collect();
    names.sort();
    for dir in names {
        let name = dir.file_name().unwrap().to_string_lossy().to_string();
        let text = std::fs::read(dir.join("program.mlir")).unwrap();
        let module = match surject_stablehlo::parse_and_verify(&text) {
            Ok(m) => m,
            Err(e) => {
                failures.push(format!("{name}: parse {e:?}"));
                continue;
            }
        };
        let options = ImportOptions { function: None, file: "program.mlir", source: &text };
        let program = match import(&module, &options) {
            Ok(p) => p,
            Err(e) => {
                failures.push(format!("{name}: lift {e}"));
                continue;
            }
        };
        let result = std::panic::catch_unwind(|| {
            let optimised = optimise(&program, &Options::default()).unwrap();
            let (a, b) = optimised.report.stores();
            eprintln!("{name:28} {a:4} -> {b:3} stores, {:.1} ms", optimised.report.time.as_secs_f64() * 1e3);
            if std::env::var_os("SHOW").is_some_and(|s| name.contains(s.to_str().unwrap())) {
                eprintln!("{}{}", support::dump(&optimised.program), optimised.report);
            }
            agree(&program, &optimised.program, 1e-4);
            let report = surject_egraph::check::check_program(
                &program,
                &support::inputs(&program),
                &Options::default(),
            );
            let report = report.unwrap();
            assert!(report.wrong.is_empty(), "{name}: {:#?}", report.wrong);
            assert!(report.missed.is_empty(), "{name}: {:#?}", report.missed);
            assert!(report.nodes > 0 || a == 0, "{name}: nothing was checked");
        });
        if result.is_err() {
            failures.push(name);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
