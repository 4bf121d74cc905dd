//! Every law on generated terms, every node of real programs, and the law file itself.
mod support;
use support::*;
use surject_egraph::check::{check_law, check_program};
use surject_egraph::{Exactness, Options, laws};

#[test]
fn the_law_file_is_well_formed() {
    surject_rules::check_static(&laws().unwrap()).unwrap_or_else(|e| panic!("{e:?}"));
}

/// A hundred terms a law here; `examples/check_laws.rs` does the full count.
#[test]
fn laws_hold_on_generated_terms() {
    let mut wrong = Vec::new();
    for rule in &laws().unwrap().rules {
        let report = check_law(rule, 0..300).unwrap_or_else(|e| panic!("{}: {e}", rule.name));
        eprintln!(
            "{:24} {:5} terms, {:5} fired, {:6} nodes, {} wrong",
            rule.name,
            report.terms,
            report.fired,
            report.check.nodes,
            report.check.wrong.len()
        );
        wrong.extend(report.check.wrong.into_iter().take(3).map(|w| format!("{}: {w}", rule.name)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_node_of_real_programs_agrees() {
    for exactness in [Exactness::Exact, Exactness::Rounds] {
        for program in
            [mlp(4, 5, 3, 2), softmax(3, 4), layernorm(3, 4), attention(2, 3, 4, 2), blocks(1, 2, 3, 4, 2)]
        {
            let mut options = Options { exactness, ..Options::default() };
            if exactness == Exactness::Exact {
                options.waived = Default::default();
            }
            let report = check_program(&program, &inputs(&program), &options).unwrap();
            eprintln!("{} classes, {} nodes, {} skipped", report.classes, report.nodes, report.skipped);
            assert!(report.wrong.is_empty(), "{:#?}", report.wrong);
            assert!(report.missed.is_empty(), "{:#?}", report.missed);
            assert_eq!(report.skipped, 0);
        }
    }
}
