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

/// A result whose ledger is empty has the same bits, whatever else has fired, on every type and on special values.
#[test]
fn an_empty_ledger_means_the_same_bits() {
    let (mut empty, mut fired) = (0, 0);
    for seed in 0..200 {
        let size = 4 + seed as usize % 40;
        let program = random_program_with(seed, size, &testing::Options::everything());
        let o = optimise(&program, &Options::default()).unwrap();
        if !o.report.ledger().is_empty() {
            continue;
        }
        empty += 1;
        let noted = ["add-zero", "acc-acc", "acc-set", "factor", "constant-fibre"];
        fired += usize::from(o.report.firings().keys().any(|rule| noted.contains(rule)));
        let args = random_args(&program.functions[0], seed);
        let run = |p| surject_ir::interp::run(p, "main", &args).unwrap();
        for (e, f) in run(&program).iter().zip(&run(&o.program)) {
            let d = difference(e, f);
            assert!(d <= 0.0, "seed {seed}, size {size}: differs by {d}\n{}", o.report);
        }
    }
    assert!(empty > 20, "{empty} programs");
    eprintln!("{empty} programs with an empty ledger, {fired} of them with laws that were not needed");
}
