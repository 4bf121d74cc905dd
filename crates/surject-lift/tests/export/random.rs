//! Random programs: every mixture of reads, accumulations and pointwise operations.

use crate::{round_trip, tolerance};
use surject_ir::testing::{Options, random_args, random_program, random_program_with};

#[test]
fn random_programs_go_back() {
    for seed in 0..400 {
        let program = random_program(seed, 4 + seed as usize % 24);
        let args = random_args(program.main().unwrap(), seed);
        if let Err(error) = round_trip(&format!("random/{seed}"), &program, &args, tolerance(&program)) {
            panic!("seed {seed}: {error}\n{}", surject_ir::print(&program));
        }
    }
}

/// Every element type, literals, loops, choices and library operations.
#[test]
fn random_programs_of_everything_go_back() {
    for seed in 0..200 {
        let program = random_program_with(seed, 4 + seed as usize % 16, &Options::everything());
        let args = random_args(program.main().unwrap(), seed);
        if let Err(error) =
            round_trip(&format!("random-everything/{seed}"), &program, &args, tolerance(&program))
        {
            panic!("seed {seed}: {error}\n{}", surject_ir::print(&program));
        }
    }
}

/// What the e-graph makes of random programs: fields nested in every way.
#[test]
fn optimised_random_programs_go_back() {
    let options = surject_egraph::Options::default();
    for seed in 1000..1150 {
        let program = random_program(seed, 4 + seed as usize % 20);
        let Ok(optimised) = surject_egraph::optimise(&program, &options) else {
            continue;
        };
        let args = random_args(program.main().unwrap(), seed);
        let name = format!("random-optimised/{seed}");
        if let Err(error) = round_trip(&name, &optimised.program, &args, tolerance(&program)) {
            panic!("seed {seed}: {error}\n{}", surject_ir::print(&optimised.program));
        }
    }
}
