//! What runs and launches take, by the clock of the device.

use super::{RunError, Session};
use crate::{Device, Step};

/// What a launch of a kernel takes by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchTime {
    /// The kernel, by its number in the plan.
    pub kernel: u32,
    /// Microseconds of the device, on memory that the launch before has just used.
    pub us: f64,
}

impl<D: Device> Session<D> {
    /// As [`Session::go`], and waits; gives the milliseconds that the device took.
    pub fn timed(&mut self) -> Result<f64, RunError> {
        let doing = |error| RunError::Device { what: "measuring".into(), error };
        // All steps begin and end on this stream.
        self.on(0)?;
        let from = self.device.mark().map_err(doing)?;
        self.go()?;
        let to = self.device.mark().map_err(doing)?;
        self.device.elapsed(from, to).map_err(|error| self.late(error, "measuring"))
    }

    /// What every launch of the plan takes, each by itself, those of loops and choices once. Tensors of the plan hold
    /// anything afterwards; arguments and constants stay.
    pub fn launch_times(&mut self) -> Result<Vec<LaunchTime>, RunError> {
        // Whatever other streams still do would count.
        self.wait()?;
        self.on(0)?;
        let launches = self.plan.walk().into_iter().filter_map(|(_, step)| match step {
            Step::Launch { kernel, .. } => Some((*kernel, step.clone())),
            _ => None,
        });
        let launches: Vec<(u32, Step)> = launches.collect();
        let time = |(kernel, step): (u32, Step)| Ok(LaunchTime { kernel, us: self.launch_time(&step)? });
        launches.into_iter().map(time).collect()
    }

    /// Microseconds of a launch. Short ones are recorded several times, so that the launches themselves count little.
    fn launch_time(&mut self, step: &Step) -> Result<f64, RunError> {
        const LONG_MS: f64 = 1.0;
        const REPEATED: u32 = 20;
        const ROUNDS: u32 = 4;
        let doing = |error| RunError::Device { what: "measuring a kernel".into(), error };
        let one = self.least_ms(ROUNDS, |session| session.simple(step))?;
        if one > LONG_MS {
            return Ok(1e3 * one);
        }
        let recording = self.recorded(|session| (0..REPEATED).try_for_each(|_| session.simple(step)))?;
        let ms = self.least_ms(ROUNDS, |session| session.device.replay(recording).map_err(doing));
        self.device.forget(recording);
        Ok(1e3 * ms? / f64::from(REPEATED))
    }

    /// The least milliseconds of the device in some rounds.
    fn least_ms(
        &mut self,
        rounds: u32,
        mut run: impl FnMut(&mut Self) -> Result<(), RunError>,
    ) -> Result<f64, RunError> {
        let doing = |error| RunError::Device { what: "measuring".into(), error };
        let mut least = f64::INFINITY;
        for _ in 0..rounds {
            let from = self.device.mark().map_err(doing)?;
            run(self)?;
            let to = self.device.mark().map_err(doing)?;
            let ms = self.device.elapsed(from, to).map_err(|error| self.late(error, "measuring"))?;
            least = least.min(ms);
        }
        Ok(least)
    }
}
