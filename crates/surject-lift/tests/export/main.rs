//! Programs written as StableHLO and read back compute the same.
//!
//! With `SURJECT_EXPORT_TO` the texts, arguments and results of every program are kept in that folder, to be run by
//! another compiler.

mod cases;
mod fields;
mod random;
mod starts;
mod text;
mod tf32;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use surject_ir::{Buffer, DType, Program};
use surject_lift::{ImportOptions, export, import};
use surject_runtime::{compare::compare, npy};
use surject_stablehlo::Op;

/// The program of the text of a module.
pub fn lift(text: &[u8]) -> Result<Program, String> {
    let module = surject_stablehlo::parse(text).map_err(|d| d.render("module", text))?;
    surject_stablehlo::verify(&module).map_err(|d| d[0].render("module", text))?;
    let options = ImportOptions { file: "module", source: text, ..ImportOptions::default() };
    let program = import(&module, &options).map_err(|e| e.diagnostic().render("module", text))?;
    surject_ir::verify(&program).map_err(|e| e.to_string())?;
    Ok(program)
}

/// Folders that hold a `program.mlir`: those of the repository, and the public cases where they are.
pub fn folders() -> Vec<PathBuf> {
    let here = env!("CARGO_MANIFEST_DIR");
    let cases =
        std::env::var("SURJECT_CASES").unwrap_or_else(|_| format!("{here}/../../../shared/cases/jax"));
    let mut all = Vec::new();
    for root in [format!("{here}/../../tests/programs"), cases] {
        let entries = std::fs::read_dir(root).into_iter().flatten();
        all.extend(entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.join("program.mlir").is_file()));
    }
    all.sort();
    all
}

/// The program of a folder.
pub fn program(folder: &Path) -> Result<Program, String> {
    lift(&std::fs::read(folder.join("program.mlir")).map_err(|e| e.to_string())?)
}

/// `in0`, `in1`, … of a folder.
pub fn inputs(folder: &Path) -> Vec<Buffer> {
    let file = |i: usize| {
        let names = [format!("in{i}.npy"), format!("in{i}.bf16.npy")];
        names.into_iter().map(|n| folder.join(n)).find(|path| path.is_file())
    };
    (0..).map_while(|i| file(i).map(|path| npy::read(path).unwrap())).collect()
}

/// The results of the first function.
pub fn run(program: &Program, args: &[Buffer]) -> Result<Vec<Buffer>, String> {
    let name = &program.main().ok_or("no function")?.name;
    surject_ir::interp::run(program, name, args).map_err(|e| e.to_string())
}

/// Keeps a program and what it computes, if that is asked for.
fn keep(name: &str, text: &str, args: &[Buffer], results: &[Buffer]) {
    let Ok(to) = std::env::var("SURJECT_EXPORT_TO") else {
        return;
    };
    let to = Path::new(&to).join(name);
    std::fs::create_dir_all(&to).unwrap();
    std::fs::write(to.join("program.mlir"), text).unwrap();
    for (stem, list) in [("in", args), ("out", results)] {
        for (i, buffer) in list.iter().enumerate() {
            let end = if buffer.dtype() == DType::BF16 { "bf16.npy" } else { "npy" };
            npy::write(to.join(format!("{stem}{i}.{end}")), buffer).unwrap();
        }
    }
}

/// Every reduction by an operator starts from the neutral element: an implementation may use the initial value more
/// than once.
fn starts_are_neutral(text: &str) -> Result<(), String> {
    let module = surject_stablehlo::parse(text).map_err(|d| d.render("module", text))?;
    let mut open: Vec<&Op> = module.functions.iter().flat_map(|f| &f.body.ops).collect();
    let mut constants = HashMap::new();
    let mut reductions = Vec::new();
    while let Some(op) = open.pop() {
        open.extend(op.regions.iter().flat_map(|r| &r.ops));
        match op.short_name() {
            "constant" => _ = constants.insert(op.results[0], op.dense("value").map_err(|d| d.to_string())?),
            "reduce" | "reduce_window" => reductions.push((op, &op.regions[0], op.operands.len() / 2)),
            "select_and_scatter" => reductions.push((op, &op.regions[1], 2)),
            _ => {}
        }
    }
    for (op, body, inputs) in reductions {
        let n = body.params.len() / 2;
        let last = body.terminator().ok_or("a body without an end")?;
        for (i, yielded) in last.operands.iter().enumerate() {
            let join = body.ops.iter().find(|o| o.results[..] == [*yielded]);
            let arguments = [body.params[i].0, body.params[n + i].0];
            let Some(join) = join.filter(|o| o.operands.iter().all(|v| arguments.contains(v))) else {
                continue;
            };
            let start =
                constants.get(&op.operands[inputs + i]).filter(|value| value.is_splat() || value.len() == 1);
            let start = start.ok_or_else(|| format!("{} starts from no constant", op.name))?;
            let float = start.ty.element.is_float();
            let value = match (start.get_f64(0), start.get_i64(0)) {
                (Some(value), _) if float => value,
                (_, Some(value)) => value as f64,
                // Complex numbers are looked at in texts.
                _ => continue,
            };
            // The ends of the types of integers are far from 0.
            let far = |value: f64| value.abs() >= 127.0 || value == 0.0;
            let neutral = match join.short_name() {
                "add" | "xor" => value.to_bits() == 0,
                "or" => value == 0.0,
                "multiply" => value == 1.0,
                "maximum" => {
                    if float {
                        value == f64::NEG_INFINITY
                    } else {
                        far(value) && value <= 0.0
                    }
                }
                "minimum" => {
                    if float {
                        value == f64::INFINITY
                    } else {
                        far(value) && value != 0.0
                    }
                }
                "and" => value == -1.0 || value == 1.0 || far(value),
                _ => true,
            };
            if !neutral {
                return Err(format!("{} by {} starts from {value}", op.name, join.name));
            }
        }
    }
    Ok(())
}

/// Exports a program, imports the text and compares the results of both; gives the text.
pub fn round_trip(name: &str, program: &Program, args: &[Buffer], tolerance: f64) -> Result<String, String> {
    let text = export(program).map_err(|e| e.to_string())?;
    starts_are_neutral(&text).map_err(|e| format!("{e}\n{text}"))?;
    let again = lift(text.as_bytes())?;
    let (expected, actual) = (run(program, args)?, run(&again, args)?);
    keep(name, &text, args, &expected);
    if expected.len() != actual.len() {
        return Err(format!("{} results where {} are expected\n{text}", actual.len(), expected.len()));
    }
    for (i, (want, got)) in expected.iter().zip(&actual).enumerate() {
        let comparison = compare(got, want, tolerance, tolerance);
        if !comparison.passed() {
            return Err(format!("result {i}: {comparison}\n{text}"));
        }
    }
    Ok(text)
}

/// The tolerance for a program: its sums are taken in another order.
pub fn tolerance(program: &Program) -> f64 {
    let half =
        |f: &surject_ir::Function| f.vars.iter().any(|v| matches!(v.ty.dtype, DType::F16 | DType::BF16));
    if program.functions.iter().any(half) { 2e-2 } else { 1e-5 }
}
