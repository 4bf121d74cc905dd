//! A spinner for work that takes more than a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long work may take before it is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A stage of the work; the spinner goes when it is dropped.
#[derive(Debug)]
pub struct Stage {
    started: Instant,
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Stage {
    /// Begins a stage. Where standard error is not a terminal a line is printed instead of a spinner.
    pub fn begin(name: &str) -> Stage {
        let (done, finished) = channel();
        let name = name.to_string();
        let show = move || {
            if finished.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            if !std::io::stderr().is_terminal() {
                eprintln!("{name} …");
                return;
            }
            let spinner = ProgressBar::new_spinner().with_message(name);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                spinner.set_style(style);
            }
            spinner.enable_steady_tick(Duration::from_millis(100));
            // The stage is over when its sender is gone.
            let _ = finished.recv();
            spinner.finish_and_clear();
        };
        // Without a thread the work goes on, only unseen.
        let shown = std::thread::Builder::new().name("progress".into()).spawn(show).ok();
        Stage { started: Instant::now(), shown: shown.map(|thread| (done, thread)) }
    }

    /// Ends the stage and says how long it took, in milliseconds.
    pub fn end(self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.shown.take() {
            drop(done);
            // A panic of the spinner is not the work's business.
            let _ = thread.join();
        }
    }
}

/// Runs a stage and returns its result with its time in milliseconds.
pub fn stage<T>(name: &str, work: impl FnOnce() -> T) -> (T, f64) {
    let stage = Stage::begin(name);
    let result = work();
    let time = stage.end();
    (result, time)
}
