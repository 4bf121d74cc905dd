//! Modules that `jax.export` writes for symbolic shapes (`tests/polymorphic`): imported for the types of each call, and once
//! for all calls; equal to JAX.

use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType, Program, interp};
use surject_lift::{ImportOptions, LiftError, export_module, import, import_for, is_dynamic};
use surject_runtime::compare::compare;
use surject_stablehlo::interpret::{Tensor, Value};
use surject_stablehlo::{ElementType, Module};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic")
}

/// Where JAX makes another program for a size of 0 that it knows.
const NOT_AT_ZERO: [&str; 4] = ["argsort", "batched_slice", "branches", "reverse"];

/// The names of the cases.
fn cases() -> Vec<String> {
    let files = std::fs::read_dir(folder()).expect("the folder of cases");
    let mut names: Vec<String> = files
        .filter_map(|f| f.ok()?.file_name().into_string().ok()?.strip_suffix(".mlir").map(String::from))
        .collect();
    names.sort();
    assert!(names.len() >= 25, "{names:?}");
    names
}

struct Call {
    sizes: String,
    arguments: Vec<Buffer>,
    results: Vec<Buffer>,
    refused: bool,
}

fn buffer(value: &Json) -> Buffer {
    let dtype = match value["dtype"].as_str().expect("a dtype") {
        "float32" => DType::F32,
        "int32" => DType::I32,
        "bool" => DType::I1,
        other => panic!("{other}"),
    };
    let shape: Vec<usize> = value["shape"]
        .as_array()
        .expect("a shape")
        .iter()
        .map(|n| n.as_u64().expect("a size") as usize)
        .collect();
    let text = value["bytes"].as_str().expect("bytes");
    let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal");
    let bytes: Vec<u8> = (0..text.len() / 2).map(byte).collect();
    Buffer::from_bytes(dtype, &shape, &bytes).expect("as many bytes as elements")
}

fn calls(name: &str) -> Vec<Call> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).expect("the calls");
    let rows: Json = serde_json::from_str(&text).expect("JSON");
    let buffers = |list: &Json| list.as_array().expect("a list").iter().map(buffer).collect();
    rows.as_array()
        .expect("a list")
        .iter()
        .map(|row| Call {
            sizes: row["sizes"].to_string(),
            arguments: buffers(&row["arguments"]),
            results: buffers(&row["results"]),
            refused: row["refused"].as_bool().expect("a flag"),
        })
        .collect()
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.mlir"))).expect("the module")
}

fn parsed(name: &str, text: &str) -> Module {
    surject_stablehlo::parse_and_verify(text.as_bytes())
        .unwrap_or_else(|d| panic!("{}", d.render(name, text)))
}

fn options<'a>(name: &'a str, text: &'a str) -> ImportOptions<'a> {
    ImportOptions { file: name, source: text.as_bytes(), function: Some("main") }
}

fn types(arguments: &[Buffer]) -> Vec<surject_ir::TensorType> {
    let space = |b: &Buffer| b.shape().iter().map(|&n| n as u64).collect::<Vec<_>>();
    let ty = |b: &Buffer| surject_ir::TensorType::new(b.dtype(), surject_index::Space::of(&space(b)));
    arguments.iter().map(ty).collect()
}

fn run(program: &Program, arguments: &[Buffer]) -> Result<Vec<Buffer>, String> {
    surject_ir::verify(program).map_err(|e| e.to_string())?;
    interp::run(program, "main", arguments).map_err(|e| e.to_string())
}

/// What differs from the expected results.
fn difference(found: &[Buffer], call: &Call) -> Option<String> {
    if found.len() != call.results.len() {
        return Some(format!("{} results", found.len()));
    }
    found.iter().zip(&call.results).find_map(|(a, b)| {
        let report = compare(a, b, 1e-4, 5e-5);
        (!report.passed()).then(|| format!("{report}"))
    })
}

/// A module without the assertion that sizes are at least 1, which JAX makes of all.
fn without_assertions(text: &str) -> String {
    text.lines().filter(|l| !l.contains("@shape_assertion")).map(|l| format!("{l}\n")).collect()
}

#[test]
fn modules_are_imported_for_the_types_of_a_call() {
    let mut failures = Vec::new();
    for name in cases() {
        let text = text(&name);
        let module = parsed(&name, &text);
        assert!(is_dynamic(&module));
        let free = without_assertions(&text);
        let free_module = parsed(&name, &free);
        for call in calls(&name) {
            let mut fail = |what: String| failures.push(format!("{name} at {}: {what}", call.sizes));
            let types = types(&call.arguments);
            let imported = import_for(&module, &options(&name, &text), &types);
            let imported = match (imported, call.refused) {
                (Err(LiftError::Sizes { .. }), true) => {
                    match import_for(&free_module, &options(&name, &free), &types) {
                        // JAX takes no slice of size 1 from an axis of size 0 where it knows that size.
                        Err(_) if NOT_AT_ZERO.contains(&&*name) => continue,
                        other => other,
                    }
                }
                (Ok(_), true) => {
                    fail("a size of 0 is not refused".into());
                    continue;
                }
                (other, _) => other,
            };
            match imported {
                Err(error) => fail(error.to_string()),
                Ok(program) => {
                    let symbolic = program.functions.iter().any(surject_ir::bind::is_symbolic);
                    if symbolic {
                        fail("a size is left".into());
                    }
                    match run(&program, &call.arguments) {
                        Err(error) => fail(error),
                        Ok(found) if !call.results.is_empty() => {
                            if let Some(what) = difference(&found, &call) {
                                fail(what);
                            }
                        }
                        Ok(_) => {}
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every module on the specification's interpreter, as it stands, at every size; where it refuses a size of 0, without its
/// assertions.
#[test]
fn modules_run_on_the_specification_at_every_size() {
    let mut failures = Vec::new();
    let mut runs = 0;
    for name in cases() {
        let text = text(&name);
        let module = parsed(&name, &text);
        let free = parsed(&name, &without_assertions(&text));
        for call in calls(&name).into_iter().filter(|c| !c.results.is_empty()) {
            let value = |b: &Buffer| {
                let element = match b.dtype() {
                    DType::F32 => ElementType::F32,
                    DType::I32 => ElementType::I32,
                    other => panic!("{other}"),
                };
                Value::Tensor(Tensor::new(element, b.shape(), b.bytes().to_vec()).expect("elements"))
            };
            let arguments: Vec<Value> = call.arguments.iter().map(value).collect();
            let run = |module: &Module| {
                surject_stablehlo::interpret::run(module, "main", arguments.clone())
                    .map_err(|e| e.to_string())
            };
            if call.refused && run(&module).is_ok() {
                failures.push(format!("{name} at {}: a size of 0 is not refused", call.sizes));
            }
            let found = match run(if call.refused { &free } else { &module }) {
                // As in `modules_are_imported_for_the_types_of_a_call`.
                Err(_) if call.refused && NOT_AT_ZERO.contains(&&*name) => continue,
                Err(error) => {
                    failures.push(format!("{name} at {}: {error}", call.sizes));
                    continue;
                }
                Ok(found) => found,
            };
            let tensor = |value: &Value| match value {
                Value::Tensor(t) => {
                    let dtype = match t.ty().element {
                        ElementType::I32 => DType::I32,
                        ElementType::I1 => DType::I1,
                        _ => DType::F32,
                    };
                    Buffer::from_bytes(dtype, t.shape(), t.bytes()).expect("elements")
                }
                _ => panic!("{name}: no tensor"),
            };
            runs += 1;
            if let Some(what) = difference(&found.iter().map(tensor).collect::<Vec<_>>(), &call) {
                failures.push(format!("{name} at {}: {what}", call.sizes));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(runs >= 380, "{runs}");
}

#[test]
fn modules_are_imported_once_for_all_sizes() {
    let mut lines = Vec::new();
    let mut failures = Vec::new();
    for name in cases() {
        let text = text(&name);
        let module = parsed(&name, &text);
        let program = match import(&module, &options(&name, &text)) {
            Ok(program) => program,
            Err(error @ LiftError::Dynamic { .. }) => {
                lines.push(format!("{name}: {error}"));
                continue;
            }
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let function = program.main().expect("a function");
        let results: Vec<String> = function.result_types().iter().map(ToString::to_string).collect();
        let guards: Vec<String> = function.guards.iter().map(|g| g.fact.to_string()).collect();
        lines.push(format!("{name}: ({}) where {}", results.join(", "), guards.join(", ")));
        if let Err(error) = surject_ir::verify(&program) {
            failures.push(format!("{name}: {error}"));
            continue;
        }
        let printed = surject_ir::print(&program);
        match surject_ir::parse(&printed) {
            Ok(again) if surject_ir::print(&again) == printed => {}
            Ok(again) => {
                let again = surject_ir::print(&again);
                let unlike = printed.lines().zip(again.lines()).find(|(a, b)| a != b);
                failures.push(format!("{name}: printed otherwise: {unlike:?}"));
            }
            Err(error) => failures.push(format!("{name}: {error}\n{printed}")),
        }
        for call in calls(&name) {
            let mut fail = |what: String| failures.push(format!("{name} at {}: {what}", call.sizes));
            match surject_ir::bind(function, &call.arguments) {
                Err(surject_ir::BindError::Guard(_)) if call.refused => {}
                Err(error) => fail(error.to_string()),
                Ok(_) if call.refused => fail("a size of 0 is not refused".into()),
                Ok(bound) => {
                    let bound = Program { name: String::new(), functions: vec![bound] };
                    match run(&bound, &call.arguments).and_then(|found| {
                        let whole = run(&program, &call.arguments)?;
                        if whole == found { Ok(found) } else { Err("bound and symbolic runs differ".into()) }
                    }) {
                        Err(error) => fail(error),
                        Ok(found) => {
                            if let Some(what) = difference(&found, &call) {
                                fail(what);
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    insta::assert_snapshot!(lines.join("\n"));
}

/// Imported once, exported again: a module that the verifier takes, that is imported again, once or for each call, and
/// equals JAX. No type of it says more than the first one did. With `SURJECT_EXPORT_TO` the texts are kept in that folder, to
/// be run by JAX (`tests/polymorphic/check_export.py`).
#[test]
fn symbolic_programs_are_exported() {
    let mut failures = Vec::new();
    let keep = std::env::var("SURJECT_EXPORT_TO").ok();
    for name in cases() {
        let text = text(&name);
        let module = parsed(&name, &text);
        let Ok(program) = import(&module, &options(&name, &text)) else { continue };
        let exported = match export_module(&program) {
            Ok(exported) => exported,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let written = surject_stablehlo::print(&exported);
        if let Some(folder) = &keep {
            std::fs::write(Path::new(folder).join(format!("{name}.mlir")), &written).expect("a folder");
        }
        let again = parsed(&name, &written);
        for (before, after) in module.entry().unwrap().params.iter().zip(&again.entry().unwrap().params) {
            assert_eq!(before.ty, after.ty, "{name}: another type of a parameter");
        }
        let whole = import(&again, &options(&name, &written));
        if let Err(error) = &whole {
            failures.push(format!("{name}, imported once: {error}"));
        }
        for call in calls(&name) {
            let mut fail = |what: String| failures.push(format!("{name} at {}: {what}", call.sizes));
            let imported = import_for(&again, &options(&name, &written), &types(&call.arguments));
            match (imported, call.refused) {
                (Err(LiftError::Sizes { .. }), true) => continue,
                (Ok(_), true) => fail("a size of 0 is not refused".into()),
                (Err(error), _) => fail(error.to_string()),
                (Ok(program), false) => match run(&program, &call.arguments) {
                    Err(error) => fail(error),
                    Ok(found) => {
                        if let Some(what) = difference(&found, &call) {
                            fail(what);
                        }
                    }
                },
            }
            let Ok(whole) = &whole else { continue };
            if !call.refused {
                match run(whole, &call.arguments) {
                    Err(error) => fail(format!("imported once: {error}")),
                    Ok(found) => {
                        if let Some(what) = difference(&found, &call) {
                            fail(format!("imported once: {what}"));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
