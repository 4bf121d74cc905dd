//! The run itself: agents take steps until they wait or end.

use super::agent::{Agent, Lanes, Spawned, Stamp, State, Turn};
use super::code::{Step, defined, steps};
use super::count::Open;
use super::memory::{Object, Tensor};
use super::phases::{Barrier, Flight, Phase};
use super::value::{affine, copy, index};
use super::{Counts, Fault, FaultKind, Options, Order};
use crate::{Access, Kernel, Level, Op, Statement, print_statement};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use surject_ir::{DType, Scalar};

pub(super) type Done<T> = Result<T, FaultKind>;

/// A run that ends with a fault: the step, who took it, and what went wrong.
pub(super) struct Stopped {
    pub(super) at: usize,
    pub(super) agent: String,
    pub(super) kind: FaultKind,
}

pub(super) fn run(
    kernel: &Kernel,
    sizes: &[i64],
    tensors: &mut [Tensor],
    options: &Options,
) -> Result<Counts, Box<Fault>> {
    let mut machine = Machine::new(kernel, options);
    let mut root = Agent::root(kernel.types.len(), kernel.memory.len());
    let outside =
        |kind| Box::new(Fault { kernel: kernel.name.clone(), statement: None, agent: String::new(), kind });
    machine.arguments(&mut root, sizes, tensors).map_err(outside)?;
    machine.agents.insert(0, root);
    machine.ready.push_back(0);
    let result = machine.all();
    for (tensor, object) in tensors.iter_mut().zip(&mut machine.objects) {
        std::mem::swap(tensor, &mut object.tensor);
    }
    let mut counts = machine.counts;
    machine.open.close(options.banks, &mut counts);
    result.map(|()| counts).map_err(|Stopped { at, agent, kind }| {
        let statement = machine.steps.get(at).and_then(statement).map(|s| print_statement(kernel, s));
        Box::new(Fault { kernel: kernel.name.clone(), statement, agent, kind })
    })
}

fn statement<'k>(step: &Step<'k>) -> Option<&'k Statement> {
    match step {
        Step::Do(statement)
        | Step::Loop { statement, .. }
        | Step::Spawn { statement, .. }
        | Step::Branch { statement, .. } => Some(statement),
        Step::Next { .. } | Step::End | Step::Leave { .. } => None,
    }
}

pub(super) struct Machine<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) options: &'k Options,
    pub(super) steps: Vec<Step<'k>>,
    /// The values that the body of the parallel loop at a step defines.
    defines: Vec<Range<usize>>,
    pub(super) objects: Vec<Object>,
    pub(super) agents: BTreeMap<u64, Agent>,
    /// Agents that can go on.
    pub(super) ready: VecDeque<u64>,
    /// The number of the next agent, and of the next run of a parallel loop.
    pub(super) next: u64,
    pub(super) random: u64,
    pub(super) counts: Counts,
    pub(super) open: Open,
    /// Steps so far, and bytes of memory.
    taken: u64,
    pub(super) bytes: usize,
    /// Does the kernel have barriers with phases? They, and boxes on their way.
    pub(super) phased: bool,
    pub(super) phases: BTreeMap<Barrier, Phase>,
    pub(super) flights: Vec<Flight>,
}

impl<'k> Machine<'k> {
    fn new(kernel: &'k Kernel, options: &'k Options) -> Machine<'k> {
        let random = match options.order {
            Order::Shuffled(seed) => seed.wrapping_mul(2).wrapping_add(1),
            Order::Forward | Order::Backward => 1,
        };
        let steps = steps(kernel);
        let of_spawn = |step: &Step<'_>| match step {
            Step::Spawn { statement: Statement { op: Op::For { body, .. }, .. }, .. } => defined(body),
            _ => 0..0,
        };
        Machine {
            kernel,
            options,
            defines: steps.iter().map(of_spawn).collect(),
            phased: steps.iter().any(|s| matches!(s, Step::Do(Statement { op: Op::Phase(..), .. }))),
            steps,
            objects: Vec::new(),
            agents: BTreeMap::new(),
            ready: VecDeque::new(),
            next: 1,
            random,
            counts: Counts::default(),
            open: Open::default(),
            taken: 0,
            bytes: 0,
            phases: BTreeMap::new(),
            flights: Vec::new(),
        }
    }

    /// Gives the parameters what they stand for.
    fn arguments(&mut self, root: &mut Agent, sizes: &[i64], tensors: &mut [Tensor]) -> Done<()> {
        let kernel = self.kernel;
        let wrong = |message: String| Err(FaultKind::Arguments(message));
        if sizes.len() != kernel.sizes.len() || tensors.len() != kernel.params.len() {
            return wrong(format!(
                "it has {} sizes and {} tensors, and gets {} and {}",
                kernel.sizes.len(),
                kernel.params.len(),
                sizes.len(),
                tensors.len()
            ));
        }
        for (&value, &size) in kernel.sizes.iter().zip(sizes) {
            root.set(value, Lanes::One(Scalar::from_i128(DType::I64, size.into())));
        }
        for (&mem, tensor) in kernel.params.iter().zip(tensors.iter()) {
            let memory = kernel.mem(mem);
            let elements = memory.elements.at(0, &|v| root.index(v)).ok_or(FaultKind::Overflow)?;
            if usize::try_from(elements) != Ok(tensor.len()) || memory.dtype != tensor.dtype() {
                return wrong(format!(
                    "`{}` has {elements} elements of {}, and gets {} of {}",
                    memory.name,
                    memory.dtype,
                    tensor.len(),
                    tensor.dtype()
                ));
            }
        }
        for (&mem, tensor) in kernel.params.iter().zip(tensors.iter_mut()) {
            let memory = kernel.mem(mem);
            root.memory[mem.0 as usize] = Some(self.objects.len());
            let tensor = std::mem::replace(tensor, Tensor::unwritten(memory.dtype, 0));
            let object = Object::new(&memory.name, memory.space, tensor).phased(self.phased);
            // What is only read has no races.
            self.objects.push(if memory.access == Access::Read { object.untracked() } else { object });
        }
        Ok(())
    }

    /// Runs everything.
    fn all(&mut self) -> Result<(), Stopped> {
        loop {
            if let Some(id) = self.ready.pop_front() {
                let Some(mut agent) = self.agents.remove(&id) else { continue };
                let done = self.go(&mut agent);
                let at = agent.at;
                match done {
                    Ok(true) => {
                        self.ended(agent).map_err(|kind| Stopped { at, agent: String::new(), kind })?
                    }
                    Ok(false) => _ = self.agents.insert(id, agent),
                    Err(kind) => {
                        let agent = self.stamp(&mut agent).to_string();
                        return Err(Stopped { at, agent, kind });
                    }
                }
            } else if self.agents.is_empty() {
                return Ok(());
            } else {
                self.release()?;
            }
        }
    }

    /// Takes steps until the agent waits (`false`) or ends (`true`).
    fn go(&mut self, agent: &mut Agent) -> Done<bool> {
        loop {
            self.work(1)?;
            self.counts.statements += 1;
            match self.steps[agent.at] {
                Step::End => return Ok(true),
                Step::Do(statement) => {
                    match &statement.op {
                        Op::Barrier(level) => agent.state = State::Barrier(*level),
                        Op::Exchange(..) => agent.state = State::Exchange,
                        _ => self.statement(agent, statement)?,
                    }
                    if agent.state != State::Ready {
                        return Ok(false);
                    }
                    agent.at += 1;
                }
                Step::Loop { statement, exit } => {
                    let Op::For { low, high, inits, body, .. } = &statement.op else {
                        return Err(FaultKind::Undefined);
                    };
                    let (low, high) = (affine(agent, low, 0)?, affine(agent, high, 0)?);
                    let first: Vec<Lanes> = inits.iter().map(|&v| copy(agent, v)).collect();
                    if low >= high {
                        statement.results.iter().zip(first).for_each(|(&v, lanes)| agent.set(v, lanes));
                        agent.at = exit;
                        continue;
                    }
                    agent.turns.push(Turn { next: low, high });
                    agent.set(body.params[0], index(low));
                    body.params[1..].iter().zip(first).for_each(|(&v, lanes)| agent.set(v, lanes));
                    agent.at += 1;
                }
                Step::Next { start } => {
                    let Step::Loop { statement, exit } = self.steps[start] else {
                        return Err(FaultKind::Undefined);
                    };
                    let Op::For { step, body, .. } = &statement.op else { return Err(FaultKind::Undefined) };
                    let next: Vec<Lanes> = body.yields.iter().map(|&v| copy(agent, v)).collect();
                    let Some(turn) = agent.turns.last_mut() else { return Err(FaultKind::Undefined) };
                    // What does not fit in 64 bits is not below the end.
                    turn.next = turn.next.checked_add(*step).unwrap_or(turn.high);
                    let Turn { next: iteration, high } = *turn;
                    if iteration < high {
                        agent.set(body.params[0], index(iteration));
                        body.params[1..].iter().zip(next).for_each(|(&v, lanes)| agent.set(v, lanes));
                        agent.at = start + 1;
                    } else {
                        agent.turns.pop();
                        statement.results.iter().zip(next).for_each(|(&v, lanes)| agent.set(v, lanes));
                        agent.at = exit;
                    }
                }
                Step::Branch { condition, otherwise, .. } => {
                    let holds = agent.lanes(condition).first().is_some_and(|c| c.is_true());
                    agent.at = if holds { agent.at + 1 } else { otherwise };
                }
                Step::Leave { yields, results, to } => {
                    let lanes: Vec<Lanes> = yields.iter().map(|&v| copy(agent, v)).collect();
                    results.iter().zip(lanes).for_each(|(&v, lanes)| agent.set(v, lanes));
                    agent.at = to;
                }
                Step::Spawn { exit, .. } => {
                    if self.spawn(agent)? {
                        return Ok(false);
                    }
                    agent.at = exit;
                }
            }
        }
    }

    /// Begins the iterations of the parallel loop where an agent stands; `false`: there are none.
    fn spawn(&mut self, agent: &mut Agent) -> Done<bool> {
        let Step::Spawn { statement: Statement { op: Op::For { low, high, step, .. }, .. }, level, .. } =
            self.steps[agent.at]
        else {
            return Err(FaultKind::Undefined);
        };
        let (low, high) = (i128::from(affine(agent, low, 0)?), i128::from(affine(agent, high, 0)?));
        if low >= high {
            return Ok(false);
        }
        let step = i128::from(*step).max(1);
        let count = (high - low + step - 1) / step;
        self.work(count as u128)?;
        let mut iterations: Vec<i64> = (0..count as i64).collect();
        self.arrange(&mut iterations);
        self.next += 1;
        let instance = self.next;
        // Tasks and blocks cannot wait for each other, so one runs at a time.
        let alone = matches!(level, Level::Task | Level::Block);
        let first = if alone { iterations.drain(..1).collect() } else { std::mem::take(&mut iterations) };
        iterations.reverse();
        agent.waiting = iterations;
        agent.state = State::Children { left: first.len(), all: first.len() };
        for number in first {
            self.begin(agent, instance, number)?;
        }
        Ok(true)
    }

    /// Begins the iteration with a number of the parallel loop where an agent stands.
    fn begin(&mut self, agent: &mut Agent, instance: u64, number: i64) -> Done<()> {
        let Step::Spawn { statement: Statement { op: Op::For { low, step, body, .. }, .. }, level, .. } =
            self.steps[agent.at]
        else {
            return Err(FaultKind::Undefined);
        };
        self.next += 1;
        let iteration = number.checked_mul(*step).and_then(|by| by.checked_add(affine(agent, low, 0).ok()?));
        let spawned = Spawned { level, instance, iteration: iteration.ok_or(FaultKind::Overflow)?, number };
        let mut child = agent.child(self.next, spawned, &self.defines[agent.at]);
        if level == Level::Thread {
            child.groups = agent.handed.remove(&number).unwrap_or_default();
        }
        child.set(body.params[0], index(spawned.iteration));
        self.ready.push_back(child.id);
        self.agents.insert(child.id, child);
        Ok(())
    }

    /// Counts steps that are taken now; the run is given up when there are too many.
    pub(super) fn work(&mut self, steps: u128) -> Done<()> {
        let taken = u64::try_from(steps).ok().and_then(|steps| self.taken.checked_add(steps));
        match taken.filter(|&taken| taken <= self.options.steps) {
            Some(taken) => self.taken = taken,
            None => return Err(FaultKind::Steps(self.options.steps)),
        }
        Ok(())
    }

    /// Puts agents in the order that was asked for.
    pub(super) fn arrange<T>(&mut self, agents: &mut [T]) {
        match self.options.order {
            Order::Forward => {}
            Order::Backward => agents.reverse(),
            Order::Shuffled(_) => {
                for i in (1..agents.len()).rev() {
                    self.random = self
                        .random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    agents.swap(i, (self.random >> 33) as usize % (i + 1));
                }
            }
        }
    }

    /// An agent has ended: the one that waits for it may go on.
    fn ended(&mut self, agent: Agent) -> Done<()> {
        let hands_on = agent.level == Some(Level::Thread) && agent.parent.is_some();
        if !agent.copies.is_empty() || !agent.handed.is_empty() || !agent.groups.is_empty() && !hands_on {
            return Err(FaultKind::Copies);
        }
        if agent.level == Some(Level::Block) {
            self.block_ends()?;
            self.open.close(self.options.banks, &mut self.counts);
        }
        let Some(id) = agent.parent else { return Ok(()) };
        let Some(mut parent) = self.agents.remove(&id) else { return Ok(()) };
        parent.known.join(&agent.known);
        if !agent.groups.is_empty() {
            parent.handed.insert(agent.number, agent.groups);
        }
        if let State::Children { left, all } = parent.state {
            match (left, parent.waiting.pop()) {
                (1, Some(number)) => self.begin(&mut parent, agent.instance, number)?,
                (1, None) => {
                    if let Step::Spawn { exit, .. } = self.steps[parent.at] {
                        parent.at = exit;
                    }
                    parent.state = State::Ready;
                    self.ready.push_back(id);
                }
                _ => parent.state = State::Children { left: left - 1, all },
            }
        }
        self.agents.insert(id, parent);
        Ok(())
    }

    /// Who an agent is, at this time.
    pub(super) fn stamp(&self, agent: &mut Agent) -> Stamp {
        if let Some(stamp) = agent.known_stamp() {
            return stamp;
        }
        let mut around: Vec<&Agent> = Vec::new();
        let mut parent = agent.parent;
        while let Some(found) = parent.and_then(|id| self.agents.get(&id)) {
            around.push(found);
            parent = found.parent;
        }
        around.reverse();
        agent.stamp(&around)
    }
}
