//! What it costs to hand tasks to threads: the pool of this crate against rayon, in microseconds a job.
//! `cargo run --release -p surject-runtime --example handoff [THREADS]`
//!
//! The contenders alternate in one run. "ideal" is the work divided by the threads.

use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Works for about `time` without touching memory.
fn work(iterations: u64) {
    let mut x = 1u64;
    for _ in 0..iterations {
        x = std::hint::black_box(x.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2);
    surject_runtime::pool::set_threads(threads);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .expect("the first pool of the process");
    let start = Instant::now();
    work(10_000_000);
    let a_microsecond = 1e7 / (start.elapsed().as_secs_f64() * 1e6);
    println!("{threads} threads; medians, microseconds a job");
    println!(
        "{:>5} {:>8} {:>7} | {:>9} {:>9} {:>9} {:>9}",
        "tasks", "us/task", "gap us", "ideal", "pool", "for_each", "scope"
    );
    for gap in [0u64, 200] {
        for tasks in [2usize, 4, 16] {
            for micros in [1u64, 5, 20] {
                let n = (micros as f64 * a_microsecond) as u64;
                let [mut pool, mut each, mut scope] = [const { Vec::new() }; 3];
                for _ in 0..1000 {
                    // A call that is not timed wakes the threads of this contender; then they are awake, or sleep
                    // again after the gap.
                    let time = |into: &mut Vec<Duration>, f: &dyn Fn()| {
                        f();
                        if gap > 0 {
                            std::thread::sleep(Duration::from_micros(gap));
                        }
                        let start = Instant::now();
                        f();
                        into.push(start.elapsed());
                    };
                    time(&mut pool, &|| surject_runtime::pool::parallel_for(tasks, &|_| work(n)));
                    time(&mut each, &|| (0..tasks).into_par_iter().with_max_len(1).for_each(|_| work(n)));
                    time(&mut scope, &|| rayon::scope(|s| (0..tasks).for_each(|_| s.spawn(|_| work(n)))));
                }
                let ideal = (tasks as u64 * micros) as f64 / threads as f64;
                println!(
                    "{tasks:>5} {micros:>8} {gap:>7} | {ideal:>9.1} {:>9.1} {:>9.1} {:>9.1}",
                    median(pool),
                    median(each),
                    median(scope)
                );
            }
        }
    }
}
