//! Random well-typed StableHLO programs: the interpreter of `surject-stablehlo`, import on the interpreter of programs, native
//! code, and both of the optimised program give the same.
//!
//! `SEEDS=0..10000 cargo test -p surject-tests agreement -- --nocapture` runs as many; without it there are a few. Operations
//! that jump (comparisons, rounding, sorting) take values that every order of additions gives exactly.

mod program;

use program::{Value, program};
use std::collections::HashMap;
use surject::ir::Buffer;
use surject::stablehlo::interpret::Value as SpecValue;
use surject::{Backend, OptimiseOptions, Runner, StageTimes, lift, optimise, stablehlo};

/// Numbers of a result.
fn numbers(buffer: &Buffer) -> Vec<f64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect()
}

fn wanted(value: &SpecValue) -> Vec<f64> {
    let tensor = value.as_tensor().expect("a tensor");
    let ints = || tensor.to_i64s().map(|v| v.into_iter().map(|n| n as f64).collect());
    tensor.to_f64s().or_else(ints).expect("numbers")
}

/// Where two results differ.
fn difference(found: &[Vec<f64>], wanted: &[Vec<f64>], types: &[Value]) -> Option<String> {
    if found.len() != wanted.len() {
        return Some(format!("{} results where {} are expected", found.len(), wanted.len()));
    }
    for (i, ((a, b), ty)) in found.iter().zip(wanted).zip(types).enumerate() {
        let tolerance = match ty.dtype {
            _ if ty.exact => 0.0,
            "f32" => 1e-4,
            "f64" => 1e-10,
            _ => 0.0,
        };
        let scale =
            b.iter().filter(|v| v.is_finite()).fold(1f64, |m, v| m.max(v.abs())).max(ty.bound.min(1e3));
        let near = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * scale;
        if a.len() != b.len() {
            return Some(format!("result {i} has {} elements where {} are expected", a.len(), b.len()));
        }
        if let Some(at) = (0..a.len()).find(|&at| !near(a[at], b[at])) {
            return Some(format!(
                "result {i} ({}) at {at}: {:?} where {:?} is expected",
                ty.ty(),
                a[at],
                b[at]
            ));
        }
    }
    None
}

/// What differs of the program of a seed.
fn check(seed: u64) -> Result<(), String> {
    let (text, types) = program(seed);
    let module = stablehlo::parse_and_verify(&text).map_err(|d| d.render("program.mlir", &text))?;
    let spec = stablehlo::interpret::run(&module, "main", Vec::new()).map_err(|e| format!("spec: {e}"))?;
    let spec: Vec<Vec<f64>> = spec.iter().map(wanted).collect();
    let options = lift::ImportOptions { file: "program.mlir", source: text.as_bytes(), ..Default::default() };
    let imported = lift::import(&module, &options).map_err(|e| format!("import: {e}"))?;
    let optimised =
        optimise(&imported, &OptimiseOptions::default()).map_err(|e| format!("optimise: {}", e.message))?;
    for (program, what) in [(imported, "as imported"), (optimised.program, "optimised")] {
        for (backend, name) in [(Backend::Interp, "interp"), (Backend::Cpu, "cpu")] {
            let failed = |e: surject::Failure| format!("{name}, {what}: {}", e.message);
            let mut runner =
                Runner::new(program.clone(), "main", backend, &mut StageTimes::default()).map_err(failed)?;
            let found = runner.run(&[]).map_err(failed)?;
            let found: Vec<Vec<f64>> = found.iter().map(numbers).collect();
            if let Some(difference) = difference(&found, &spec, &types) {
                return Err(format!("{name}, {what}: {difference}"));
            }
        }
    }
    Ok(())
}

/// What differs of the programs of these seeds, and how often each operation was met.
pub(crate) fn compared(seeds: std::ops::Range<u64>) -> (Vec<String>, HashMap<String, usize>) {
    let (mut faults, mut operations): (Vec<String>, HashMap<String, usize>) = Default::default();
    let from = seeds.start;
    for seed in seeds {
        for word in program(seed).0.split_whitespace().filter(|w| w.contains("stablehlo.")) {
            let name = word.trim_matches(|c: char| !c.is_alphabetic());
            *operations.entry(name.split(['(', '"']).next().unwrap_or(name).to_string()).or_default() += 1;
        }
        if let Err(fault) = check(seed) {
            println!("seed {seed}: {fault}");
            faults.push(format!("seed {seed}: {fault}"));
        }
        if seed % 500 == 499 {
            println!("{} programs, {} differ", seed + 1 - from, faults.len());
        }
    }
    (faults, operations)
}

#[test]
fn back_ends_agree_on_random_programs() {
    let asked = std::env::var("SEEDS").unwrap_or_else(|_| "0..60".into());
    let seed = |text: &str| text.parse::<u64>().expect("a seed");
    let (from, to) = asked.split_once("..").map(|(a, b)| (seed(a), seed(b))).expect("FROM..TO");
    let (faults, operations) = compared(from..to);
    assert!(operations.len() > 20, "{operations:?}");
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), to - from, faults.join("\n"));
}
