//! Every operation of the table is run by some program of these tests.

use std::path::Path;

use surject_stablehlo::table;

/// Operations that compute nothing here, or of which only an error is known: what else would be unsupported.
const WITHOUT: &[&str] = &["chlo._asin_acos_kernel", "stablehlo.collective_reduce", "stablehlo.cross-replica-sum"];

fn read(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "mlir" || e == "rs") && !path.ends_with("coverage.rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_operation_is_run() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut text = String::new();
    read(&tests.join("conformance"), &mut text);
    read(&tests.join("interpret"), &mut text);
    let known = |name: &str| {
        let name = name.strip_prefix("func.").unwrap_or(name);
        ["(", " ", "\"", ":", "\\"].iter().any(|end| text.contains(&format!("{name}{end}")))
    };
    let missing: Vec<&str> = table::all()
        .map(|spec| spec.name)
        .filter(|name| !name.starts_with("sdy.") && !WITHOUT.contains(name) && !known(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
