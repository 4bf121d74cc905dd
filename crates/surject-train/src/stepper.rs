//! A step and its state.

use crate::params::type_of;
use crate::{Order, Params, Progress, TrainError};
use std::error::Error;
use std::time::{Duration, Instant};
use surject_runtime::Buffer;

/// A step of training or of evaluation: a function from buffers to buffers. What runs it, an interpreter or compiled
/// code, is no concern of this crate; closures are steps.
pub trait Step {
    /// Computes the results of `args`. `results` are those of an earlier run, to be overwritten, or empty.
    fn run(&mut self, args: &[Buffer], results: &mut Vec<Buffer>)
    -> Result<(), Box<dyn Error + Send + Sync>>;
}

impl<F, E> Step for F
where
    F: FnMut(&[Buffer], &mut Vec<Buffer>) -> Result<(), E>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn run(
        &mut self,
        args: &[Buffer],
        results: &mut Vec<Buffer>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        self(args, results).map_err(Into::into)
    }
}

/// What the arguments and results of a step are, by their places. Every argument is an input or a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The places of the inputs among the arguments.
    pub inputs: Vec<usize>,
    /// What is kept from step to step.
    pub state: Vec<State>,
    /// The places of the outputs among the results.
    pub outputs: Vec<usize>,
}

/// A tensor that is kept from step to step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Its place among the arguments.
    pub argument: usize,
    /// The place of its next value among the results; `None` when steps do not change it.
    pub result: Option<usize>,
}

impl Layout {
    /// Inputs first, then the state; outputs first, then the next state.
    pub fn in_order<'a>(inputs: usize, outputs: usize, state: impl IntoIterator<Item = &'a str>) -> Layout {
        let state = state.into_iter().enumerate().map(|(i, name)| State {
            name: name.to_string(),
            argument: inputs + i,
            result: Some(outputs + i),
        });
        Layout { inputs: (0..inputs).collect(), state: state.collect(), outputs: (0..outputs).collect() }
    }

    /// The number of arguments; an error unless each is named once.
    fn arguments(&self) -> Result<usize, TrainError> {
        let count = self.inputs.len() + self.state.len();
        let mut seen = vec![false; count];
        for place in self.inputs.iter().copied().chain(self.state.iter().map(|s| s.argument)) {
            match seen.get_mut(place) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(signature(format!("the argument {place} is named twice"))),
                None => {
                    return Err(signature(format!("there is no argument {place} among {count} arguments")));
                }
            }
        }
        let mut results: Vec<usize> = self.state.iter().filter_map(|s| s.result).collect();
        results.extend(&self.outputs);
        results.sort_unstable();
        if let Some(pair) = results.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(signature(format!("the result {} is named twice", pair[0])));
        }
        Ok(count)
    }
}

/// A step with its inputs, its state and its latest outputs. State moves from results to arguments by swapping
/// buffers: a step copies nothing and allocates nothing.
pub struct Stepper<S> {
    step: S,
    layout: Layout,
    args: Vec<Buffer>,
    results: Vec<Buffer>,
    steps: u64,
}

impl<S: Step> Stepper<S> {
    /// A stepper with these inputs and the state taken from `params` by name; `params` may have more.
    pub fn new(
        step: S,
        layout: Layout,
        inputs: Vec<Buffer>,
        params: &Params,
    ) -> Result<Stepper<S>, TrainError> {
        let count = layout.arguments()?;
        if inputs.len() != layout.inputs.len() {
            let (found, expected) = (inputs.len(), layout.inputs.len());
            return Err(signature(format!("there are {found} inputs where {expected} are needed")));
        }
        let mut args = vec![Buffer::zeros(surject_runtime::DType::F32, &[]); count];
        for (&place, input) in layout.inputs.iter().zip(inputs) {
            args[place] = input;
        }
        for state in &layout.state {
            let value = params.get(&state.name);
            args[state.argument] =
                value.ok_or_else(|| signature(format!("there is no value for `{}`", state.name)))?.clone();
        }
        Ok(Stepper { step, layout, args, results: Vec::new(), steps: 0 })
    }

    /// An input, to be read or overwritten.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input(&mut self, index: usize) -> &mut Buffer {
        &mut self.args[self.layout.inputs[index]]
    }

    /// The number of steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Runs the step once and takes over its new state.
    pub fn step(&mut self) -> Result<(), TrainError> {
        self.steps += 1;
        let run = self.step.run(&self.args, &mut self.results);
        run.map_err(|source| TrainError::Step { step: self.steps, source })?;
        // All is checked before anything is swapped.
        let count = self.results.len();
        for &place in &self.layout.outputs {
            if place >= count {
                return Err(signature(format!("there is no result {place} among {count} results")));
            }
        }
        for State { name, argument, result } in &self.layout.state {
            let Some(place) = *result else { continue };
            let Some(next) = self.results.get(place) else {
                return Err(signature(format!("there is no result {place} among {count} results")));
            };
            let old = &self.args[*argument];
            if (old.dtype(), old.shape()) != (next.dtype(), next.shape()) {
                let (name, found, expected) = (name.clone(), type_of(next), type_of(old));
                let from = format!("step {}, result {place}", self.steps);
                return Err(TrainError::ParameterType { from, name, found, expected });
            }
        }
        for State { argument, result, .. } in &self.layout.state {
            if let Some(place) = *result {
                std::mem::swap(&mut self.args[*argument], &mut self.results[place]);
            }
        }
        Ok(())
    }

    /// An output of the latest step; an error before the first one, or when there is no such output.
    pub fn output(&self, index: usize) -> Result<&Buffer, TrainError> {
        let place = self.layout.outputs.get(index);
        place
            .and_then(|place| self.results.get(*place))
            .ok_or_else(|| signature(format!("there is no output {index} after {} steps", self.steps)))
    }

    /// An output with one element, as a number.
    pub fn scalar(&self, index: usize) -> Result<f64, TrainError> {
        let output = self.output(index)?;
        if output.len() != 1 {
            let found = type_of(output);
            return Err(signature(format!("the output {index} is {found} where one number is needed")));
        }
        Ok(output.get(0).as_f64())
    }

    /// The state by name.
    pub fn params(&self) -> Result<Params, TrainError> {
        let mut params = Params::new();
        for state in &self.layout.state {
            params.insert(&state.name, self.args[state.argument].clone())?;
        }
        Ok(params)
    }

    /// Takes the whole state from `params` by name; `params` may have more.
    pub fn adopt(&mut self, params: &Params) -> Result<(), TrainError> {
        for State { name, argument, .. } in &self.layout.state {
            let value =
                params.get(name).ok_or_else(|| signature(format!("there is no value for `{name}`")))?;
            let old = &mut self.args[*argument];
            if (old.dtype(), old.shape()) != (value.dtype(), value.shape()) {
                let (name, found, expected) = (name.clone(), type_of(value), type_of(old));
                let from = "the parameters given".to_string();
                return Err(TrainError::ParameterType { from, name, found, expected });
            }
            old.bytes_mut().copy_from_slice(value.bytes());
        }
        Ok(())
    }

    /// Trains: for each minibatch of `order`, `load` sets the inputs, and the step runs; its output 0 is the loss. An
    /// epoch ends with a call of `after`, whose answer is shown by `bar`.
    pub fn fit(
        &mut self,
        order: &Order,
        bar: &Progress,
        mut load: impl FnMut(&mut Stepper<S>, &[usize]) -> Result<(), TrainError>,
        mut after: impl FnMut(&mut Stepper<S>, &Epoch) -> Result<String, TrainError>,
    ) -> Result<(), TrainError> {
        for (number, batches) in order.epochs().enumerate() {
            let mut epoch = Epoch { number: number + 1, loss: 0.0, time: Duration::ZERO };
            for rows in batches {
                load(self, rows)?;
                let start = Instant::now();
                self.step()?;
                epoch.time += start.elapsed();
                let loss = self.scalar(0)?;
                if !loss.is_finite() {
                    return Err(TrainError::Diverged { step: self.steps, loss });
                }
                epoch.loss += loss / batches.len() as f64;
                bar.advance();
            }
            let message = after(self, &epoch)?;
            bar.say(&message);
        }
        Ok(())
    }
}

/// What an epoch came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: usize,
    /// The mean of the losses of its steps, each taken before its update.
    pub loss: f64,
    /// The time its steps took.
    pub time: Duration,
}

fn signature(reason: String) -> TrainError {
    TrainError::Signature { reason }
}
