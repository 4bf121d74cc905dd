//! Random programs: the optimised program is valid and computes the same.
mod support;
use support::difference;
use surject_egraph::check::check_program;
use surject_egraph::{Exactness, Options, optimise};
use surject_ir::testing::{self, random_args, random_program_with};

fn check(seed: u64, size: usize, generator: &testing::Options, options: &Options, tolerance: f64) {
    let program = random_program_with(seed, size, generator);
    let optimised = optimise(&program, options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let args = random_args(&program.functions[0], seed);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    let found = surject_ir::interp::run(&optimised.program, "main", &args)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    for (e, f) in expected.iter().zip(&found) {
        let d = difference(e, f);
        assert!(d <= tolerance, "seed {seed}, size {size}: differs by {d}\n{}", optimised.report);
    }
}

#[test]
fn tame_programs_agree() {
    for seed in 0..300 {
        check(seed, 4 + seed as usize % 40, &testing::Options::default(), &Options::default(), 1e-4);
    }
}

/// Without rules that reassociate and without waivers the results are equal bit for bit, on every type and on
/// special values.
#[test]
fn exact_runs_are_exact() {
    let options = Options { exactness: Exactness::Exact, waived: Default::default(), ..Options::default() };
    for seed in 0..300 {
        check(seed, 4 + seed as usize % 40, &testing::Options::everything(), &options, 0.0);
    }
}

/// Every node of the e-graphs of random programs has the value of its class, and a search of every class for every
/// rule finds nothing that the incremental one has missed. The laws that push reads down are the exception: `read`
/// composes with a read that it sees, so the same match done later may build another of several equal terms.
#[test]
fn incremental_saturation_misses_nothing() {
    let mut again = 0;
    for seed in 0..300 {
        let program = random_program_with(seed, 4 + seed as usize % 60, &testing::Options::default());
        let args = random_args(&program.functions[0], seed);
        let report = check_program(&program, &args, &Options::default()).unwrap();
        let missed: Vec<&String> = report.missed.iter().filter(|m| !m.contains(": read-")).collect();
        assert!(missed.is_empty(), "seed {seed}: {missed:#?}");
        assert!(report.wrong.is_empty(), "seed {seed}: {:#?}", report.wrong);
        again += usize::from(!report.missed.is_empty());
    }
    assert!(again <= 3, "{again} programs");
}
