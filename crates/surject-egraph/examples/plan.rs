//! Optimises StableHLO files and prints what was done, or with `TIMES=1` only how long it took:
//! `cargo run --release -p surject-egraph --example plan FILE...`.

use surject_egraph::{Options, optimise};
use surject_lift::{ImportOptions, import};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path)?;
        let module = surject_stablehlo::parse_and_verify(&text).map_err(|e| format!("{path}: {e:?}"))?;
        let program = import(&module, &ImportOptions { function: None, file: &path, source: &text })?;
        let report = optimise(&program, &Options::default())?.report;
        if std::env::var_os("TIMES").is_none() {
            println!("{report}");
        }
        let (before, after) = report.stores();
        let cost: f64 = report.blocks.iter().map(|b| b.plan.cost).sum();
        println!(
            "{path}: {before} -> {after} stores, cost {cost:.5e}, {:.1} ms",
            report.time.as_secs_f64() * 1e3
        );
    }
    Ok(())
}
