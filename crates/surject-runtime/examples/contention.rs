//! What a job costs while another process keeps processors busy: jobs of 8 tasks on one thread and on all, and how
//! many microseconds they take. Run it beside spinning processes, one for each processor but one.

use std::hint::black_box;
use std::time::Instant;
use surject_runtime::pool::{parallel_for, set_threads, threads};

/// Work that takes the same number of instructions every time.
fn work(steps: u64) {
    let mut x = 1u64;
    for i in 0..steps {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i));
    }
}

fn main() {
    let all = threads();
    println!(
        "{:>12} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "task us", "threads", "min", "median", "mean", "99 %"
    );
    // Steps a microsecond, where nothing interferes.
    let rate = (0..200)
        .map(|_| {
            let start = Instant::now();
            work(10_000);
            10_000.0 / start.elapsed().as_secs_f64() / 1e6
        })
        .fold(0.0, f64::max);
    for task in [5.0, 25.0, 100.0, 500.0, 2000.0] {
        for count in [1, all] {
            set_threads(count);
            let (mut samples, begin) = (Vec::new(), Instant::now());
            while begin.elapsed().as_secs_f64() < 1.0 {
                let start = Instant::now();
                parallel_for(8, &|_| work((task * rate) as u64));
                samples.push(start.elapsed().as_secs_f64() * 1e6);
            }
            samples.sort_by(f64::total_cmp);
            let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            let (min, median, high) = (at(0.0), at(0.5), at(0.99));
            println!("{task:>12} {count:>8} {min:>10.1} {median:>10.1} {mean:>10.1} {high:>10.1}");
        }
    }
}
