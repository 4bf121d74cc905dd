//! Checks every law on many generated terms: `cargo run --release -p surject-egraph --example check_laws [TERMS]`.
//! Prints one line a law and fails when a node does not agree with its class.

use surject_egraph::check::check_law;
use surject_egraph::laws;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let terms: u64 = std::env::args().nth(1).map_or(Ok(40_000), |n| n.parse())?;
    let mut wrong = 0;
    println!("{:<24} {:>8} {:>8} {:>10} {:>6}", "law", "terms", "fired", "nodes", "wrong");
    for rule in &laws()?.rules {
        let report = check_law(rule, 0..terms)?;
        let check = &report.check;
        println!(
            "{:<24} {:>8} {:>8} {:>10} {:>6}",
            rule.name,
            report.terms,
            report.fired,
            check.nodes,
            check.wrong.len()
        );
        for line in check.wrong.iter().take(3) {
            println!("  {line}");
        }
        wrong += check.wrong.len();
    }
    if wrong > 0 { Err(format!("{wrong} nodes do not agree").into()) } else { Ok(()) }
}
