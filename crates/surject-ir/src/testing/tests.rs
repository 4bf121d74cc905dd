use super::*;
use crate::{interp, verify};

#[test]
fn random_programs_verify_and_run() {
    for seed in 0..400 {
        for options in [Options::default(), Options::everything()] {
            let program = random_program_with(seed, 5 + seed as usize % 40, &options);
            verify(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let args = random_args(&program.functions[0], seed);
            let results = interp::run(&program, "main", &args).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            if options.tame {
                let finite = |b: &Buffer| (0..b.len()).all(|i| !b.get(i).as_f64().is_nan());
                assert!(results.iter().all(finite), "seed {seed}: {results:?}");
            }
        }
    }
}

#[test]
fn every_kind_of_node_and_statement_occurs() {
    let mut seen = std::collections::HashSet::new();
    let name = |debug: String| debug.split([' ', '(', '{']).next().map(str::to_string);
    for seed in 0..100 {
        let program = random_program_with(seed, 40, &Options::everything());
        let f = &program.functions[0];
        seen.extend(f.fields.iter().filter_map(|(_, node)| name(format!("{:?}", node.kind))));
        seen.extend(f.body.statements.iter().filter_map(|s| name(format!("{:?}", s.kind))));
    }
    assert_eq!(seen.len(), 11 + 5, "{seen:?}");
}
