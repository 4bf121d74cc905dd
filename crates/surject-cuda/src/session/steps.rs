//! How the steps of a plan are done: item by item on their streams, sections as recordings once they have been done.

use super::{Last, Order, Recorded, RunError, Session};
use crate::order::{Item, SECTION, Section, Start, What};
use crate::{Device, DeviceError, PlanError, Recording, Step, TensorId, View};
use surject_ir::{Buffer, Scalar};

/// Fewer launches and copies are done one by one.
const RECORDED: u64 = 3;

/// The kernel that steps launch last.
fn last_launch(steps: &[Step]) -> Option<Last> {
    steps.iter().rev().find_map(|step| match step {
        Step::Launch { kernel, .. } => Some(Last::Kernel(*kernel)),
        Step::Repeat { body, .. } => last_launch(body),
        _ => None,
    })
}

/// Is a library called?
fn has_calls(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Call { .. } => true,
        Step::Repeat { body, .. } => has_calls(body),
        _ => false,
    })
}

impl<D: Device> Session<D> {
    /// Does a list in its order, from a stream on: it begins and ends there.
    pub(super) fn list(&mut self, steps: &[Step], order: &Order, base: u32) -> Result<(), RunError> {
        self.on(base)?;
        if let Some(start) = order.start {
            self.signal(self.events[start])?;
        }
        for item in &order.items {
            let stream = (base + item.stream) % self.plan.streams;
            self.on(stream)?;
            self.before(order, item)?;
            self.item(steps, item, stream)?;
            self.on(stream)?;
            // Nothing stands behind the event that the list may end with: a recording has to join all of its streams.
            self.made(&item.results)?;
            if let Some(event) = item.event {
                self.signal(self.events[event])?;
            }
        }
        self.on(base)?;
        for &join in &order.joins {
            self.wait_item(order, join)?;
        }
        self.arguments(&order.arguments)?;
        self.made(&order.results)
    }

    /// Waits for what an item comes after.
    fn before(&mut self, order: &Order, item: &Item) -> Result<(), RunError> {
        if let (Start::Waits, Some(start)) = (item.start, order.start) {
            self.wait_for(self.events[start])?;
        }
        for after in &item.after {
            self.wait_item(order, after.item)?;
        }
        self.arguments(&item.arguments)
    }

    fn wait_item(&mut self, order: &Order, item: usize) -> Result<(), RunError> {
        // An item that somebody waits for has an event.
        order.items[item].event.map_or(Ok(()), |event| self.wait_for(self.events[event]))
    }

    /// Waits for arguments, which one stream need not do.
    fn arguments(&mut self, arguments: &[u32]) -> Result<(), RunError> {
        for &argument in arguments {
            if let Some(&event) = self.transfers.arguments.get(argument as usize) {
                self.wait_for(event)?;
            }
        }
        Ok(())
    }

    /// Results are made.
    fn made(&mut self, results: &[u32]) -> Result<(), RunError> {
        for &result in results {
            if let Some(&event) = self.transfers.results.get(result as usize) {
                self.signal(event)?;
            }
        }
        Ok(())
    }

    fn item(&mut self, steps: &[Step], item: &Item, stream: u32) -> Result<(), RunError> {
        match &item.what {
            What::Section(range, section) => self.section(&steps[range.clone()], section, 1, stream),
            What::Step(at) => self.simple(&steps[*at]),
            What::Rounds(at, section) => match &steps[*at] {
                Step::Repeat { count, body } => self.rounds(*count, body, section, stream),
                _ => Ok(()),
            },
            What::Nested(at, orders) => self.nested(&steps[*at], orders, stream),
        }
    }

    /// A loop or a choice.
    fn nested(&mut self, step: &Step, orders: &[Order], stream: u32) -> Result<(), RunError> {
        match (step, orders) {
            (Step::Repeat { count, body }, [order]) => {
                (0..*count).try_for_each(|_| self.list(body, order, stream))
            }
            (Step::While { condition, test, body }, [first, second]) => loop {
                self.list(condition, first, stream)?;
                if !self.scalar(*test)?.is_some_and(Scalar::is_true) {
                    return Ok(());
                }
                self.list(body, second, stream)?;
            },
            (Step::Choose { index, branches }, orders) => {
                let number = self.scalar(*index)?.and_then(Scalar::as_i128).unwrap_or(-1);
                let last = branches.len().saturating_sub(1);
                let chosen = usize::try_from(number).ok().filter(|&n| n < last).unwrap_or(last);
                match (branches.get(chosen), orders.get(chosen)) {
                    (Some(branch), Some(order)) => self.list(branch, order, stream),
                    _ => Ok(()),
                }
            }
            _ => Err(PlanError("a step of which it is not settled who does it".into()).into()),
        }
    }

    /// The rounds of a loop that are more than one recording holds.
    fn rounds(&mut self, count: u64, body: &[Step], section: &Section, stream: u32) -> Result<(), RunError> {
        if section.nodes == 0 {
            return Ok(());
        }
        let together = (SECTION / section.nodes).clamp(1, count);
        (0..count / together).try_for_each(|_| self.section(body, section, together, stream))?;
        match count % together {
            0 => Ok(()),
            rest => self.section(body, section, rest, stream),
        }
    }

    /// So many rounds of launches, copies and calls. The first time they are done one by one, which loads what is loaded late;
    /// then they are recorded, and replayed from there on.
    fn section(
        &mut self,
        steps: &[Step],
        section: &Section,
        rounds: u64,
        stream: u32,
    ) -> Result<(), RunError> {
        let key = (section.number, rounds);
        let all =
            |session: &mut Self| (0..rounds).try_for_each(|_| session.list(steps, &section.order, stream));
        let is_first = !self.recordings.contains_key(&key);
        if section.nodes.saturating_mul(rounds) < RECORDED || is_first || self.careful {
            self.recordings.entry(key).or_insert(Recorded::Done);
            return all(self);
        }
        let before = self.counts;
        let recording = match self.recordings.get(&key) {
            Some(&Recorded::As(recording)) => recording,
            Some(Recorded::Refused) => return all(self),
            Some(Recorded::Done) | None => match self.recorded(all) {
                Ok(recording) => {
                    self.recordings.insert(key, Recorded::As(recording));
                    recording
                }
                // Nothing was done: a device that does not record a call of a library may still do it.
                Err(error) if has_calls(steps) && !error.is_lost() => {
                    self.counts = before;
                    self.refused.push(error.to_string());
                    self.recordings.insert(key, Recorded::Refused);
                    self.on(stream)?;
                    return all(self);
                }
                Err(error) => return Err(error),
            },
        };
        self.on(stream)?;
        self.counts.replays += 1;
        self.last = last_launch(steps).or(self.last);
        self.device.replay(recording).map_err(|error| self.late(error, "replaying kernels"))
    }

    /// A recording of what is asked for; where that fails, none is left.
    pub(super) fn recorded(
        &mut self,
        asked: impl FnOnce(&mut Self) -> Result<(), RunError>,
    ) -> Result<Recording, RunError> {
        let doing = |error| RunError::Device { what: "recording kernels".into(), error };
        self.device.record().map_err(doing)?;
        let done = asked(self);
        let recording = self.device.recorded();
        if let (Err(_), Ok(recording)) = (&done, &recording) {
            self.device.forget(*recording);
        }
        done?;
        recording.map_err(doing)
    }

    /// A step without others in it, on the stream that is selected.
    pub(super) fn simple(&mut self, step: &Step) -> Result<(), RunError> {
        match step {
            Step::Launch { kernel, tensors } => self.launch(*kernel, tensors),
            Step::Copy { from, to } => {
                let (source, target) = (self.view(*from), self.view(*to));
                self.device.copy(source, target).map_err(|error| {
                    let what = format!("copying `{}`", self.plan.tensor(*from).name);
                    self.late(error, &what)
                })
            }
            Step::Call { call, tensors } => self.call(*call, tensors),
            Step::Host { program, inputs, outputs } => self.host(*program, inputs, outputs),
            Step::Either { .. } | Step::While { .. } | Step::Repeat { .. } | Step::Choose { .. } => {
                Err(PlanError("a step with others in it, where there is none".into()).into())
            }
        }
    }

    fn launch(&mut self, number: u32, tensors: &[TensorId]) -> Result<(), RunError> {
        let views: Vec<View> = tensors.iter().map(|&t| self.view(t)).collect();
        let kernel = &self.plan.kernels[number as usize];
        let failed = |error| RunError::Kernel {
            kernel: kernel.name.clone(),
            assignment: kernel.assignment.clone(),
            error,
        };
        let module = self.module.ok_or_else(|| failed(DeviceError::NoKernel(kernel.name.clone())))?;
        self.counts.launches += 1;
        self.device.launch(module, &kernel.name, &kernel.shape, &views).map_err(failed)?;
        if self.careful {
            self.device.synchronise().map_err(failed)?;
        }
        self.last = Some(Last::Kernel(number));
        Ok(())
    }

    fn call(&mut self, number: u32, tensors: &[TensorId]) -> Result<(), RunError> {
        let views: Vec<View> = tensors.iter().map(|&t| self.view(t)).collect();
        let step = &self.plan.calls[number as usize];
        let failed =
            |error| RunError::Call { call: step.call.name(), assignment: step.assignment.clone(), error };
        self.counts.calls += 1;
        self.device.call(&step.call, &views).map_err(failed)?;
        if self.careful {
            self.device.synchronise().map_err(failed)?;
        }
        self.last = Some(Last::Call(number));
        Ok(())
    }

    fn host(&mut self, program: u32, inputs: &[TensorId], outputs: &[TensorId]) -> Result<(), RunError> {
        let args = inputs.iter().map(|&id| self.download(id)).collect::<Result<Vec<Buffer>, RunError>>()?;
        self.counts.host += 1;
        self.counts.to_host += args.iter().map(|b| b.bytes().len() as u64).sum::<u64>();
        let step = &self.plan.host[program as usize];
        let failed = |error| RunError::Host { operation: step.operation.clone(), error };
        let results = self.host.run(program, &step.program, &args).map_err(failed)?;
        for (&id, result) in outputs.iter().zip(&results) {
            let view = self.view(id);
            let tensor = self.plan.tensor(id);
            if tensor.dtype != result.dtype() || tensor.shape != result.shape() {
                let what = format!("`{}` on the host gives another type than {tensor}", step.operation);
                return Err(PlanError(what).into());
            }
            self.counts.from_host += view.bytes;
            self.device.upload(view, result.bytes()).map_err(|error| RunError::Device {
                what: format!("copying `{}` to the device", tensor.name),
                error,
            })?;
        }
        Ok(())
    }
}
