//! The run itself: agents take steps until they wait or end.

use super::agent::{Agent, Copy, Lanes, Stamp, State, Turn};
use super::code::{Step, steps};
use super::count::{Event, Open};
use super::memory::{Kind, Object, Tensor};
use super::{Counts, Fault, FaultKind, Options, Order};
use crate::{
    Affine, Guard, Kernel, Level, MatMulSizes, Mem, Op, Place, Source, Space, Statement, Tile, Type, Value,
    print_statement,
};
use std::collections::{BTreeMap, VecDeque};
use surject_ir::{AccOp, BinaryOp, DType, Scalar, eval};

type Done<T> = Result<T, FaultKind>;

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
    result.map(|()| counts).map_err(|(at, agent, kind)| {
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

struct Machine<'k> {
    kernel: &'k Kernel,
    options: &'k Options,
    steps: Vec<Step<'k>>,
    objects: Vec<Object>,
    agents: BTreeMap<u64, Agent>,
    /// Agents that can go on.
    ready: VecDeque<u64>,
    /// The number of the next agent, and of the next run of a parallel loop.
    next: u64,
    random: u64,
    counts: Counts,
    open: Open,
}

impl<'k> Machine<'k> {
    fn new(kernel: &'k Kernel, options: &'k Options) -> Machine<'k> {
        let random = match options.order {
            Order::Shuffled(seed) => seed.wrapping_mul(2).wrapping_add(1),
            Order::Forward | Order::Backward => 1,
        };
        Machine {
            kernel,
            options,
            steps: steps(kernel),
            objects: Vec::new(),
            agents: BTreeMap::new(),
            ready: VecDeque::new(),
            next: 1,
            random,
            counts: Counts::default(),
            open: Open::default(),
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
            self.objects.push(Object::new(&memory.name, memory.space, tensor));
        }
        Ok(())
    }

    /// Runs everything. An error has the number of its step, and who took it.
    fn all(&mut self) -> Result<(), (usize, String, FaultKind)> {
        loop {
            if let Some(id) = self.ready.pop_front() {
                let Some(mut agent) = self.agents.remove(&id) else { continue };
                let done = self.go(&mut agent);
                let at = agent.at;
                match done {
                    Ok(true) => self.ended(agent).map_err(|kind| (at, String::new(), kind))?,
                    Ok(false) => _ = self.agents.insert(id, agent),
                    Err(kind) => {
                        let who = self.stamp(&mut agent).to_string();
                        return Err((at, who, kind));
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
            if self.counts.statements >= self.options.steps {
                return Err(FaultKind::Steps(self.options.steps));
            }
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
                    turn.next = turn.next.checked_add(*step).ok_or(FaultKind::Overflow)?;
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
        let (low, high) = (affine(agent, low, 0)?, affine(agent, high, 0)?);
        let by = usize::try_from(*step).map_err(|_| FaultKind::Overflow)?;
        let mut iterations: Vec<i64> = (low..high).step_by(by).collect();
        if iterations.is_empty() {
            return Ok(false);
        }
        self.arrange(&mut iterations);
        self.next += 1;
        let instance = self.next;
        // Tasks and blocks cannot wait for each other, so one runs at a time.
        let alone = matches!(level, Level::Task | Level::Block);
        let first = if alone { iterations.drain(..1).collect() } else { std::mem::take(&mut iterations) };
        iterations.reverse();
        agent.waiting = iterations;
        agent.state = State::Children { left: first.len(), all: first.len() };
        for iteration in first {
            self.begin(agent, instance, iteration);
        }
        Ok(true)
    }

    /// Begins an iteration of the parallel loop where an agent stands.
    fn begin(&mut self, agent: &Agent, instance: u64, iteration: i64) {
        let Step::Spawn { statement: Statement { op: Op::For { body, .. }, .. }, level, .. } =
            self.steps[agent.at]
        else {
            return;
        };
        self.next += 1;
        let mut child = agent.child(self.next, level, instance, iteration, agent.at + 1);
        child.set(body.params[0], index(iteration));
        self.ready.push_back(child.id);
        self.agents.insert(child.id, child);
    }

    /// Puts agents in the order that was asked for.
    fn arrange<T>(&mut self, agents: &mut [T]) {
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
        if !agent.copies.is_empty() || !agent.groups.is_empty() {
            return Err(FaultKind::Copies);
        }
        if agent.level == Some(Level::Block) {
            self.open.close(self.options.banks, &mut self.counts);
        }
        let Some(id) = agent.parent else { return Ok(()) };
        let Some(mut parent) = self.agents.remove(&id) else { return Ok(()) };
        if let State::Children { left, all } = parent.state {
            match (left, parent.waiting.pop()) {
                (1, Some(iteration)) => self.begin(&parent, agent.instance, iteration),
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

    /// Lets those go on that wait for each other, where all of them are there.
    fn release(&mut self) -> Result<(), (usize, String, FaultKind)> {
        let waiting: Vec<u64> =
            self.agents.values().filter(|a| a.state == State::Exchange).map(|a| a.id).collect();
        for &id in &waiting {
            if let Some(warp) = self.warp(id) {
                return self.exchange(&warp);
            }
        }
        let at_barrier = self.agents.values().find_map(|a| match a.state {
            State::Barrier(level) => Some((a.id, level)),
            _ => None,
        });
        let found = at_barrier.or(waiting.first().map(|&id| (id, Level::Warp)));
        let Some((id, level)) = found else {
            return Err((0, String::new(), FaultKind::Undefined));
        };
        let Some(group) = self.around(id, level) else { return self.diverge(id, level, "others") };
        let members: Vec<u64> =
            self.agents.keys().copied().filter(|&a| a != group && self.is_inside(a, group)).collect();
        let at = self.agents[&id].at;
        for &member in &members {
            let agent = &self.agents[&member];
            match agent.state {
                State::Children { left, all } if left == all => {}
                State::Barrier(other) if other == level && agent.at == at => {}
                State::Children { .. } => return self.diverge(id, level, "one that has ended"),
                _ => return self.diverge(id, level, "one that waits elsewhere"),
            }
        }
        if let State::Children { left, all } = self.agents[&group].state
            && left != all
        {
            return self.diverge(id, level, "one that has ended");
        }
        self.counts.barriers += 1;
        if let Some(group) = self.agents.get_mut(&group) {
            group.epoch += 1;
        }
        let mut released = Vec::new();
        for member in members {
            if let Some(agent) = self.agents.get_mut(&member) {
                agent.forget_stamp();
                if matches!(agent.state, State::Barrier(_)) {
                    (agent.state, agent.at) = (State::Ready, agent.at + 1);
                    released.push(member);
                }
            }
        }
        self.arrange(&mut released);
        self.ready.extend(released);
        Ok(())
    }

    fn diverge(&mut self, id: u64, level: Level, missing: &str) -> Result<(), (usize, String, FaultKind)> {
        let (group, missing) = (level.to_string(), missing.to_string());
        let at = self.agents[&id].at;
        let mut agent = self.agents[&id].clone();
        let who = self.stamp(&mut agent).to_string();
        Err((at, who, FaultKind::Divergence { group, missing }))
    }

    /// The agent of a level around another one.
    fn around(&self, id: u64, level: Level) -> Option<u64> {
        let mut agent = self.agents.get(&id)?;
        loop {
            agent = self.agents.get(&agent.parent?)?;
            if agent.level == Some(level) {
                return Some(agent.id);
            }
        }
    }

    fn is_inside(&self, id: u64, group: u64) -> bool {
        let parent = |id: &u64| self.agents.get(id).and_then(|a| a.parent);
        std::iter::successors(Some(id), parent).any(|a| a == group)
    }

    /// The threads of a warp, by number, if all of them wait for the same exchange.
    fn warp(&self, id: u64) -> Option<Vec<u64>> {
        let first = self.agents.get(&id)?;
        let parent = self.agents.get(&first.parent?)?;
        let State::Children { all, .. } = parent.state else { return None };
        let of = |a: &Agent| self.lane_of(a, parent.level);
        let mut members: Vec<&Agent> =
            self.agents.values().filter(|a| a.instance == first.instance && of(a).0 == of(first).0).collect();
        members.sort_by_key(|a| of(a).1);
        let whole = match parent.level {
            Some(Level::Warp) => all,
            _ => self.options.warp.min(all - (of(first).0 as usize * self.options.warp).min(all)),
        };
        let ready = members.iter().all(|a| a.state == State::Exchange && a.at == first.at);
        (ready && members.len() == whole).then(|| members.iter().map(|a| a.id).collect())
    }

    /// The warp of a thread, and its number there.
    fn lane_of(&self, agent: &Agent, parent: Option<Level>) -> (i64, i64) {
        match parent {
            Some(Level::Warp) => (0, agent.iteration),
            _ => {
                let warp = self.options.warp.max(1) as i64;
                (agent.iteration.div_euclid(warp), agent.iteration.rem_euclid(warp))
            }
        }
    }

    fn exchange(&mut self, warp: &[u64]) -> Result<(), (usize, String, FaultKind)> {
        let at = self.agents[&warp[0]].at;
        let Step::Do(Statement { results, op: Op::Exchange(source, value) }) = self.steps[at] else {
            return Err((at, String::new(), FaultKind::Undefined));
        };
        let values: Vec<Lanes> = warp.iter().map(|id| copy(&self.agents[id], *value)).collect();
        for (number, id) in warp.iter().enumerate() {
            let from = match source {
                Source::Xor(bits) => Some(number ^ bits),
                Source::Up(by) => number.checked_sub(*by).or(Some(number)),
                Source::Down(by) => Some(number + by).filter(|&n| n < warp.len()).or(Some(number)),
                Source::Thread(thread) => {
                    self.agents[id].index(*thread).and_then(|t| usize::try_from(t).ok())
                }
            };
            let Some(lanes) = from.and_then(|from| values.get(from)) else {
                return self.diverge(*id, Level::Warp, "the one whose value is asked for");
            };
            if let Some(agent) = self.agents.get_mut(id) {
                agent.set(results[0], lanes.clone());
                (agent.state, agent.at) = (State::Ready, at + 1);
            }
        }
        let mut released = warp.to_vec();
        self.arrange(&mut released);
        self.ready.extend(released);
        Ok(())
    }

    /// Who an agent is, at this time.
    fn stamp(&self, agent: &mut Agent) -> Stamp {
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

    /// Runs a statement without regions.
    fn statement(&mut self, agent: &mut Agent, statement: &Statement) -> Done<()> {
        let result = statement.results.first().copied();
        let ty = result.map_or(Type::index(), |v| self.kernel.ty(v));
        let lanes = match &statement.op {
            Op::Load { place, fill, .. } => {
                let elements = self.elements(agent, place, ty.lanes)?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Read)?;
                let object = self.object(agent, place.mem)?;
                let loaded: Done<Vec<Scalar>> =
                    elements.iter().map(|at| at.map_or(Ok(*fill), |at| object.load(at, &who))).collect();
                loaded?
            }
            Op::Store { place, value, .. } => {
                let values = copy(agent, *value);
                let elements = self.elements(agent, place, values.as_slice().len())?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Write)?;
                let object = self.object(agent, place.mem)?;
                for (at, &value) in elements.into_iter().zip(values.as_slice()) {
                    if let Some(at) = at {
                        object.store(at, value, &who)?;
                    }
                }
                return Ok(());
            }
            Op::Atomic { op, place, value } => {
                let values = copy(agent, *value);
                let elements = self.elements(agent, place, values.as_slice().len())?;
                let who = self.stamp(agent);
                self.count(agent, place.mem, &elements, Kind::Atomic)?;
                let object = self.object(agent, place.mem)?;
                for (at, &value) in elements.into_iter().zip(values.as_slice()) {
                    let Some(at) = at else { continue };
                    let element = object.element(at)?;
                    object.order(element, Kind::Atomic, &who)?;
                    let old = object.tensor.get(element);
                    let old =
                        old.ok_or_else(|| FaultKind::Unwritten { memory: object.name.clone(), element })?;
                    let new = eval::acc(*op, old, value).ok_or(FaultKind::Undefined)?;
                    object.tensor.set(element, new);
                }
                return Ok(());
            }
            Op::Alloc(mem) => {
                let memory = self.kernel.mem(*mem);
                let elements = affine(agent, &memory.elements, 0)?;
                let elements = usize::try_from(elements).map_err(|_| FaultKind::Overflow)?;
                agent.memory[mem.0 as usize] = Some(self.objects.len());
                let tensor = Tensor::unwritten(memory.dtype, elements);
                self.objects.push(Object::new(&memory.name, memory.space, tensor));
                return Ok(());
            }
            Op::Prefetch { .. } => return Ok(()),
            Op::AsyncCopy { from, to, elements } => return self.copy_begins(agent, from, to, *elements),
            Op::AsyncCommit => {
                let group = std::mem::take(&mut agent.copies);
                agent.groups.push(group);
                return Ok(());
            }
            Op::AsyncWait(left) => {
                let over = agent.groups.len().saturating_sub(*left);
                for Copy { object, first, elements } in agent.groups.drain(..over).flatten() {
                    for i in 0..elements.len() {
                        if let Some(element) = elements.get(i) {
                            self.objects[object].tensor.set(first + i, element);
                        }
                    }
                }
                return Ok(());
            }
            Op::MatMul { sizes, acc, a, b } => return self.matmul(agent, *sizes, [acc, a, b]),
            op => {
                let lanes = pure(agent, op, ty)?;
                self.counts.flops += flops(op, &lanes, agent);
                lanes
            }
        };
        if let Some(result) = result {
            agent.set(result, Lanes::of(lanes));
        }
        Ok(())
    }

    fn object(&mut self, agent: &Agent, mem: Mem) -> Done<&mut Object> {
        agent.memory[mem.0 as usize].map(|o| &mut self.objects[o]).ok_or(FaultKind::Undefined)
    }

    /// The element of each lane, where it has one.
    fn elements(&self, agent: &Agent, place: &Place, lanes: usize) -> Done<Vec<Option<i128>>> {
        let mask = place.mask.map(|mask| agent.lanes(mask));
        let offset = place.offset.map(|offset| agent.lanes(offset));
        let mut elements = Vec::with_capacity(lanes);
        for lane in 0..lanes {
            let exists = mask.is_none_or(|mask| mask.get(lane).is_some_and(|m| m.is_true()))
                && holds(agent, &place.guards, lane)?;
            elements.push(match exists {
                false => None,
                true => {
                    let at = i128::from(affine(agent, &place.at, lane)?);
                    let further = offset.and_then(|o| o.get(if o.len() == 1 { 0 } else { lane }));
                    Some(at + further.and_then(|s| s.as_i128()).unwrap_or(0))
                }
            });
        }
        Ok(elements)
    }

    /// Counts an access to memory.
    fn count(&mut self, agent: &mut Agent, mem: Mem, elements: &[Option<i128>], kind: Kind) -> Done<()> {
        let Some(object) = agent.memory[mem.0 as usize] else { return Err(FaultKind::Undefined) };
        let (space, size) = (self.objects[object].space, self.objects[object].tensor.dtype().size());
        let bytes = (elements.iter().flatten().count() * size) as u64;
        if let Some(traffic) = self.counts.traffic(space) {
            traffic.loaded += if kind == Kind::Write { 0 } else { bytes };
            traffic.stored += if kind == Kind::Read { 0 } else { bytes };
        }
        if !matches!(space, Space::Global | Space::Shared) {
            return Ok(());
        }
        let time = agent.visits.entry(agent.at).or_default();
        *time += 1;
        let (time, statement) = (*time, agent.at);
        let parent = agent.parent.and_then(|p| self.agents.get(&p)).and_then(|p| p.level);
        let warp = match agent.level {
            Some(Level::Thread) => (agent.instance, self.lane_of(agent, parent).0),
            // The lanes of a vector are one access.
            _ => (agent.id, -1),
        };
        let event = Event { warp, statement, time };
        let unit = if space == Space::Global { self.options.sector } else { self.options.word }.max(1);
        for &element in elements.iter().flatten() {
            if let Ok(element) = usize::try_from(element) {
                self.open.note(space, event, object, element * size / unit);
            }
        }
        Ok(())
    }

    /// A copy in the background begins: what is read is read now, and what is written is undefined until it is over.
    fn copy_begins(&mut self, agent: &mut Agent, from: &Place, to: &Place, elements: usize) -> Done<()> {
        let who = self.stamp(agent);
        let ends = [self.elements(agent, from, 1)?[0], self.elements(agent, to, 1)?[0]];
        let [Some(source), Some(target)] = ends else { return Ok(()) };
        let numbers = |first: i128| (0..elements as i128).map(|i| Some(first + i)).collect::<Vec<_>>();
        self.count(agent, from.mem, &numbers(source), Kind::Read)?;
        self.count(agent, to.mem, &numbers(target), Kind::Write)?;
        let object = self.object(agent, from.mem)?;
        let read: Done<Vec<Scalar>> = (0..elements as i128).map(|i| object.load(source + i, &who)).collect();
        let elements = Tensor::of(&read?);
        let Some(number) = agent.memory[to.mem.0 as usize] else { return Err(FaultKind::Undefined) };
        let object = &mut self.objects[number];
        let first = object.element(target)?;
        for i in 0..elements.len() {
            let element = object.element(target + i as i128)?;
            object.order(element, Kind::Write, &who)?;
            object.tensor.forget(element);
        }
        agent.copies.push(Copy { object: number, first, elements });
        Ok(())
    }

    /// `acc += a · b`: each sum from its first term to its last, in the type of `acc`.
    fn matmul(&mut self, agent: &mut Agent, sizes: MatMulSizes, [acc, a, b]: [&Tile; 3]) -> Done<()> {
        let who = self.stamp(agent);
        let MatMulSizes { m, n, k } = sizes;
        let dtype = self.kernel.mem(acc.mem).dtype;
        let first = |tile: &Tile| affine(agent, &tile.at, 0).map(i128::from);
        let (acc_at, a_at, b_at) = (first(acc)?, first(a)?, first(b)?);
        let element = |tile: &Tile, at: i128, row: usize, column: usize| {
            at + row as i128 * i128::from(tile.row) + column as i128 * i128::from(tile.column)
        };
        let all = |tile: &Tile, at: i128, rows: usize, columns: usize| -> Vec<Option<i128>> {
            (0..rows * columns).map(|i| Some(element(tile, at, i / columns, i % columns))).collect()
        };
        let (left, right, sums) = (all(a, a_at, m, k), all(b, b_at, k, n), all(acc, acc_at, m, n));
        self.count(agent, a.mem, &left, Kind::Read)?;
        self.count(agent, b.mem, &right, Kind::Read)?;
        self.count(agent, acc.mem, &sums, Kind::Atomic)?;
        let mut load = |tile: &Tile, at: &[Option<i128>]| -> Done<Vec<Scalar>> {
            let object = self.object(agent, tile.mem)?;
            at.iter().flatten().map(|&at| Ok(eval::convert(dtype, object.load(at, &who)?))).collect()
        };
        let (left, right, mut values) = (load(a, &left)?, load(b, &right)?, load(acc, &sums)?);
        for i in 0..m {
            for j in 0..n {
                for t in 0..k {
                    let term = eval::binary(BinaryOp::Mul, left[i * k + t], right[t * n + j]);
                    let sum = term.and_then(|term| eval::acc(AccOp::Add, values[i * n + j], term));
                    values[i * n + j] = sum.ok_or(FaultKind::Undefined)?;
                }
            }
        }
        self.counts.flops += 2 * (m * n * k) as u64;
        let object = self.object(agent, acc.mem)?;
        for (at, value) in sums.into_iter().flatten().zip(values) {
            object.store(at, value, &who)?;
        }
        Ok(())
    }
}

/// A copy of a value.
fn copy(agent: &Agent, value: Value) -> Lanes {
    agent.values[value.0 as usize].clone().unwrap_or(Lanes::One(Scalar::zero(DType::I64)))
}

fn index(value: i64) -> Lanes {
    Lanes::One(Scalar::from_i128(DType::I64, value.into()))
}

fn affine(agent: &Agent, affine: &Affine, lane: usize) -> Done<i64> {
    affine.at(lane, &|v| agent.index(v)).ok_or(FaultKind::Overflow)
}

fn holds(agent: &Agent, guards: &[Guard], lane: usize) -> Done<bool> {
    for guard in guards {
        let at = affine(agent, &guard.expr, lane)?;
        if at < 0 || at >= affine(agent, &guard.bound, lane)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The lanes of an operation that does nothing else.
fn pure(agent: &Agent, op: &Op, ty: Type) -> Done<Vec<Scalar>> {
    let lanes = |value: &Value| agent.lanes(*value);
    let each = |x: &Value, f: &dyn Fn(Scalar) -> Option<Scalar>| -> Option<Vec<Scalar>> {
        lanes(x).iter().map(|&x| f(x)).collect()
    };
    let found = match op {
        Op::Splat(value) => Some(vec![*value; ty.lanes]),
        Op::Constant(values) => Some(values.clone()),
        Op::Index(expr) => {
            let mut values = Vec::with_capacity(ty.lanes);
            for lane in 0..ty.lanes {
                values.push(Scalar::from_i128(ty.dtype, affine(agent, expr, lane)?.into()));
            }
            Some(values)
        }
        Op::Holds(guards) => {
            let mut values = Vec::with_capacity(ty.lanes);
            for lane in 0..ty.lanes {
                values.push(Scalar::bool(holds(agent, guards, lane)?));
            }
            Some(values)
        }
        Op::Unary(op, x) => each(x, &|x| eval::unary(*op, x)),
        Op::Binary(op, x, y) => {
            lanes(x).iter().zip(lanes(y)).map(|(&x, &y)| eval::binary(*op, x, y)).collect()
        }
        Op::Fma(x, y, z) => {
            let terms = lanes(x).iter().zip(lanes(y)).zip(lanes(z));
            Some(terms.map(|((&x, &y), &z)| fma(x, y, z)).collect())
        }
        Op::Select(c, x, y) => {
            let sides = lanes(c).iter().zip(lanes(x)).zip(lanes(y));
            Some(sides.map(|((c, &x), &y)| if c.is_true() { x } else { y }).collect())
        }
        Op::Convert(x) => each(x, &|x| Some(eval::convert(ty.dtype, x))),
        Op::Bitcast(x) => each(x, &|x| eval::bitcast(ty.dtype, x)),
        Op::ReducePrecision(exponent, mantissa, x) => {
            each(x, &|x| eval::reduce_precision(*exponent, *mantissa, x))
        }
        Op::Broadcast(x) => lanes(x).first().map(|&x| vec![x; ty.lanes]),
        Op::Shuffle(x, y, order) => {
            let both: Vec<Scalar> = lanes(x).iter().chain(lanes(y)).copied().collect();
            order.iter().map(|&lane| both.get(lane).copied()).collect()
        }
        Op::Extract(x, lane) => lanes(x).get(*lane).map(|&x| vec![x]),
        Op::Insert(x, lane, scalar) => {
            let mut values = lanes(x).to_vec();
            match (values.get_mut(*lane), lanes(scalar).first()) {
                (Some(place), Some(&scalar)) => {
                    *place = scalar;
                    Some(values)
                }
                _ => None,
            }
        }
        Op::ReduceLanes(op, x) => {
            let mut all = lanes(x).iter().copied();
            let first = all.next();
            let joined = first.and_then(|first| all.try_fold(first, |sum, x| eval::acc(*op, sum, x)));
            joined.map(|joined| vec![joined])
        }
        _ => None,
    };
    found.ok_or(FaultKind::Undefined)
}

/// `x * y + z`, rounded once.
fn fma(x: Scalar, y: Scalar, z: Scalar) -> Scalar {
    let [a, b, c] = [x, y, z].map(Scalar::as_f64);
    match x.dtype() {
        DType::F64 => Scalar::from_f64(DType::F64, a.mul_add(b, c)),
        dtype => Scalar::from_f64(dtype, f64::from((a as f32).mul_add(b as f32, c as f32))),
    }
}

/// The operations on floats that a statement without memory is.
fn flops(op: &Op, lanes: &[Scalar], agent: &Agent) -> u64 {
    let floats = if lanes.first().is_some_and(|l| l.dtype().is_float()) { lanes.len() as u64 } else { 0 };
    match op {
        Op::Unary(..) | Op::Binary(..) => floats,
        Op::Fma(..) => 2 * floats,
        Op::ReduceLanes(_, x) => floats * (agent.lanes(*x).len() as u64).saturating_sub(1),
        _ => 0,
    }
}
