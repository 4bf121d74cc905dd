//! A bar that shows how far a training run is.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar on standard error; silent where that is not a terminal.
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of so many steps.
    pub fn new(steps: usize) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::silent();
        }
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    /// No bar.
    pub fn silent() -> Progress {
        Progress(ProgressBar::hidden())
    }

    /// One step is done.
    pub fn advance(&self) {
        self.0.inc(1);
    }

    /// Shows a text beside the bar.
    pub fn say(&self, message: &str) {
        self.0.set_message(message.to_string());
    }

    /// Runs `print` with the bar out of the way.
    pub fn around<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
