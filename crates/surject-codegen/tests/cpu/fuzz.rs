//! Random programs, compiled and interpreted.

use crate::harness::*;
use surject_codegen::{CodegenError, Target, Thresholds};
use surject_ir::testing::{Options, random_args, random_program_with};
use surject_ir::{DType, interp};

/// Compares programs of these seeds; gives how many were compared and how many are not supported. Loops run a few times
/// only.
fn compare_seeds(
    seeds: std::ops::Range<u64>,
    size: usize,
    options: &Options,
) -> Result<(usize, usize), String> {
    let (mut compared, mut unsupported) = (0, 0);
    for seed in seeds {
        let program = random_program_with(seed, size, options);
        let args = random_args(&program.functions[0], seed);
        let limits = interp::Limits { iterations: Some(200) };
        let Ok(expected) = interp::run_within(&program, "main", &args, limits) else { continue };
        let target = match seed % 4 {
            0 => Target::generic(),
            1 => Target::wide(),
            2 => half_lines(),
            _ => Target::host(),
        };
        let thresholds = if seed / 4 % 2 == 1 { Thresholds::least() } else { Thresholds::measured() };
        let target =
            Target { thresholds, has_non_temporal_stores: Target::host().has_non_temporal_stores, ..target };
        let module = match lower(&program, "main", &target) {
            Ok(module) => module,
            Err(error @ CodegenError::Unsupported { .. }) => {
                eprintln!("seed {seed}: {error}");
                unsupported += 1;
                continue;
            }
            Err(error) => return Err(format!("seed {seed}: {error}\n{}", surject_ir::print(&program))),
        };
        let found = execute(&module, &args);
        compared += 1;
        for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
            if let Err(error) = compare(a, b, 1e-3) {
                let program = surject_ir::print(&program);
                return Err(format!(
                    "seed {seed}, result {i}, {target:?}: {error}\n{program}\n{}",
                    module.plan
                ));
            }
        }
    }
    Ok((compared, unsupported))
}

#[test]
fn random_programs() {
    // More with `SURJECT_FUZZ=FROM..TO`.
    let range = std::env::var("SURJECT_FUZZ").ok().and_then(|v| {
        let (from, to) = v.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let range = range.unwrap_or(0..25);
    let few = Options { dtypes: vec![DType::F32, DType::I32, DType::I1], ..Options::default() };
    let all = Options { dtypes: DType::ALL.to_vec(), regions: true, ..Options::default() };
    let large =
        Options { dtypes: vec![DType::F32, DType::F32, DType::BF16, DType::I32, DType::I1], ..all.clone() };
    let large = Options { large: true, ..large };
    for (size, options) in [(6, few), (14, Options::default()), (8, all), (8, large)] {
        let (compared, refused) =
            compare_seeds(range.clone(), size, &options).unwrap_or_else(|e| panic!("{e}"));
        let all = range.end.saturating_sub(range.start) as usize;
        eprintln!("{compared} of {all} programs agree, {refused} are refused");
        assert!(refused * 3 <= all, "{refused} of {all} programs are refused");
    }
}

/// A product of complex numbers is not the product of their parts: pulled or pushed, it is refused. A sum is not.
#[test]
fn complex_products_are_refused() {
    for (op, compiled) in [("+", true), ("*", false), ("max", false)] {
        for at in ["[0]", "[2*i + 1]"] {
            let text =
                format!("func main(x: c64[3]) -> (y) {{\n  y : c64[7] =:{op} over i<3 at {at}: x[i]\n}}\n");
            let program = surject_ir::parse(&text).expect("the program is well formed");
            let lowered = lower(&program, "main", &Target::generic());
            match lowered {
                Ok(_) => assert!(compiled, "{op} at {at}"),
                Err(CodegenError::Unsupported { .. }) => assert!(!compiled, "{op} at {at}"),
                Err(error) => panic!("{op} at {at}: {error}"),
            }
        }
    }
}

/// A window over complex numbers with holes is taken apart by remainders: both parts are summed.
#[test]
fn windows_over_complex_holes() {
    let text = "func main(x: c64[3]) -> (y) {
  let t : c64[7] =: over i<7: select((+ over i<3 at [2*i + 2]: true), (+ over i<3 at [2*i + 2]: x[i]), c64(1.875, -1.25))
  y : c64[7] =:+ over i<7, k<2 at [i]: (t[i + k - 2] where 0 <= i + k - 2 < 7 else c64(0.0, 0.0))
}
";
    let program = surject_ir::parse(text).expect("the program is well formed");
    check(program.functions[0].clone());
}
