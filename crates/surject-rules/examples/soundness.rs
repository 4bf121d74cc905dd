//! Interprets every rule of a file on many random instances: `soundness FILE [N]` prints for each rule how many of
//! N instances agreed, did not count, differed, were not found, and the time.

use std::time::Instant;
use surject_rules::{Trial, check_static, instantiate, parse, trial, verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: soundness FILE [N]")?;
    let count: u64 = args.next().map_or(Ok(1000), |n| n.parse())?;
    let source = std::fs::read_to_string(&path)?;
    let file = parse(&path, &source)
        .and_then(|f| check_static(&f).map(|()| f))
        .map_err(|e| e.render(&path, &source))?;
    println!(
        "{:<28} {:>8} {:>8} {:>8} {:>8} {:>9}",
        "rule", "agreed", "skipped", "differed", "none", "seconds"
    );
    let mut sound = true;
    for rule in &file.rules {
        let start = Instant::now();
        let [mut agreed, mut skipped, mut differed, mut none] = [0u64; 4];
        for seed in 0..count {
            let Some(instance) = instantiate(rule, seed) else {
                none += 1;
                continue;
            };
            match trial(rule, &instance) {
                Trial::Agrees => agreed += 1,
                Trial::Skipped => skipped += 1,
                Trial::Differs(_) => differed += 1,
            }
        }
        sound &= differed == 0;
        let seconds = start.elapsed().as_secs_f64();
        println!("{:<28} {agreed:>8} {skipped:>8} {differed:>8} {none:>8} {seconds:>9.3}", rule.name);
    }
    for rule in &file.rules {
        match verify(rule) {
            Ok(found) if found.unsound.is_empty() => {}
            Ok(found) => {
                let kinds: Vec<String> = found.unsound.iter().map(ToString::to_string).collect();
                println!("{}: not for {}", rule.name, kinds.join(", "));
            }
            Err(error) => print!("{}", error.render(&path, &source)),
        }
    }
    if sound { Ok(()) } else { Err("some instances differ".into()) }
}
