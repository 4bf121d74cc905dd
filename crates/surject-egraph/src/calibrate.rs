//! Measuring the constants of the cost model on this machine.

use crate::cost::CostModel;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Elements of the arrays that fit the first caches.
const SMALL: usize = 1 << 12;
/// Elements of the arrays that do not fit any cache.
const LARGE: usize = 1 << 24;

/// Measures what memory, divisions and starting a kernel cost in units of an addition. Functions such as `exp` keep
/// their default ratio: the vector mathematics of compiled code is not that of this crate. Takes about a second.
pub fn calibrate() -> CostModel {
    let mut model = CostModel::default();
    let (a, b) = (vec![1.5f32; SMALL], vec![0.75f32; SMALL]);
    let mut out = vec![0f32; SMALL];
    let each = |d: Duration| d.as_secs_f64() / SMALL as f64;
    let add = each(best(200, || {
        for ((o, &x), &y) in out.iter_mut().zip(&a).zip(&b) {
            *o = x + y;
        }
        black_box(&mut out);
    }));
    let divide = each(best(200, || {
        for ((o, &x), &y) in out.iter_mut().zip(&a).zip(&b) {
            *o = x / y;
        }
        black_box(&mut out);
    }));
    let source = vec![1u8; LARGE];
    let mut target = vec![0u8; LARGE];
    let copy = best(5, || {
        target.copy_from_slice(&source);
        black_box(&mut target);
    });
    // A copy reads and writes every byte.
    let byte = copy.as_secs_f64() / (2.0 * LARGE as f64);
    let launch = launch_seconds();
    // An addition loads twice and stores once; what is left of it is the unit.
    let unit = (add / 2.0).max(1e-13);
    let ratio = |seconds: f64, low: f64, high: f64| (seconds / unit).clamp(low, high);
    model.byte = ratio(byte, 0.05, 100.0);
    model.divide = ratio((divide - add).max(0.0) + unit, 1.0, 50.0);
    model.launch = ratio(launch, 100.0, 1e7);
    model
}

/// Handing work to another thread and waiting for it, which is what a kernel costs before its first element.
fn launch_seconds() -> f64 {
    let (send, receive) = std::sync::mpsc::channel::<u32>();
    let (answer, wait) = std::sync::mpsc::channel::<u32>();
    let worker = std::thread::spawn(move || {
        for job in receive {
            if answer.send(job).is_err() {
                break;
            }
        }
    });
    let time = best(500, || {
        if send.send(1).is_ok() {
            let _ = black_box(wait.recv());
        }
    });
    drop(send);
    let _ = worker.join();
    time.as_secs_f64()
}

/// The shortest of some runs: the one that was disturbed least.
fn best(runs: usize, mut work: impl FnMut()) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        work();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}
