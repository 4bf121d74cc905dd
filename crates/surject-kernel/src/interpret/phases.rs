//! Barriers with phases, and boxes that are copied in the background.
//!
//! A box arrives as late as it can: when nobody else can go on. So what is read before it is waited for is undefined, in
//! any order of agents.

use super::agent::{Agent, Known, State};
use super::memory::Kind;
use super::run::{Done, Machine};
use super::value::affine;
use super::{FaultKind, Order};
use crate::{BoxCopy, PhaseBarrier, Phasing};
use surject_ir::Scalar;

/// Which barrier: an object, and the number of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Barrier {
    object: usize,
    element: usize,
}

/// A barrier in a run.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    /// Arrivals that every phase waits for.
    count: u32,
    /// The number of the phase that runs.
    number: u64,
    /// What it still waits for.
    arrivals: u32,
    bytes: u32,
    /// What comes before its end, and what came before that of the phase before it.
    open: Known,
    over: Known,
}

/// The elements of a box.
struct Elements {
    /// Where each is in the tensor, if it is inside.
    inside: Vec<Option<i128>>,
    /// Where each goes.
    places: Vec<i128>,
}

/// A box on its way.
#[derive(Debug)]
pub(super) struct Flight {
    object: usize,
    elements: Vec<(usize, Scalar)>,
    bytes: u32,
    to: Barrier,
    /// What comes before its end: itself, and what its warp did before.
    known: Known,
}

impl Phase {
    fn is_over(&self, parity: bool) -> bool {
        (self.number & 1 == 1) != parity
    }

    /// Ends the phase that runs if everything has come that it waits for.
    fn advance(&mut self) {
        if (self.arrivals, self.bytes) == (0, 0) {
            self.over = std::mem::take(&mut self.open);
            self.number += 1;
            self.arrivals = self.count;
        }
    }
}

impl Machine<'_> {
    fn barrier(&self, agent: &Agent, barrier: &PhaseBarrier) -> Done<Barrier> {
        let object = agent.memory[barrier.mem.0 as usize].ok_or(FaultKind::Undefined)?;
        let element = self.objects[object].element(affine(agent, &barrier.at, 0)?.into())?;
        Ok(Barrier { object, element })
    }

    fn phase_of(&mut self, at: Barrier) -> Done<&mut Phase> {
        let memory = self.objects[at.object].name.clone();
        self.phases.get_mut(&at).ok_or(FaultKind::Unwritten { memory, element: at.element })
    }

    fn wrong(&self, at: Barrier, what: String) -> FaultKind {
        FaultKind::Phase { barrier: format!("{}[{}]", self.objects[at.object].name, at.element), what }
    }

    /// Does something at a barrier with phases; who waits there gets a state.
    pub(super) fn phase(&mut self, agent: &mut Agent, barrier: &PhaseBarrier, how: &Phasing) -> Done<()> {
        let at = self.barrier(agent, barrier)?;
        match how {
            Phasing::Init(count) => {
                let count = *count;
                let (open, over) = (Known::default(), Known::default());
                let phase = Phase { count, number: 0, arrivals: count, bytes: 0, open, over };
                if self.phases.insert(at, phase).is_some() {
                    return Err(self.wrong(at, "begins twice".into()));
                }
            }
            Phasing::Arrive => self.arrive(agent, at, 0)?,
            Phasing::Expect(bytes) => self.arrive(agent, at, *bytes)?,
            Phasing::Wait(parity) => {
                let parity = agent.index(*parity).ok_or(FaultKind::Undefined)? & 1 == 1;
                let phase = self.phase_of(at)?;
                match phase.is_over(parity) {
                    true => agent.learn(&phase.over.clone()),
                    false => agent.state = State::Phase(at, parity),
                }
            }
        }
        Ok(())
    }

    fn arrive(&mut self, agent: &mut Agent, at: Barrier, bytes: u32) -> Done<()> {
        let released = agent.release();
        let phase = self.phase_of(at)?;
        let (Some(arrivals), Some(expected)) =
            (phase.arrivals.checked_sub(1), phase.bytes.checked_add(bytes))
        else {
            return Err(self.wrong(at, "gets more arrivals than it waits for".into()));
        };
        phase.open.join(&released);
        (phase.arrivals, phase.bytes) = (arrivals, expected);
        phase.advance();
        Ok(())
    }

    /// A box begins to be copied: by an agent of its own, which comes after what its warp did so far.
    pub(super) fn box_begins(&mut self, agent: &mut Agent, copy: &BoxCopy) -> Done<()> {
        let to = self.barrier(agent, &copy.arrives)?;
        self.work(copy.map.elements() as u128)?;
        self.next += 1;
        let own = self.next;
        let stamp = self.stamp(agent);
        let (who, mut known) = stamp.copy(own);
        known.note(own, 0);
        let Elements { inside, places } = self.elements_of_box(agent, copy)?;
        self.count(agent, copy.from, &inside, Kind::Read)?;
        self.count(agent, copy.to, &places.iter().copied().map(Some).collect::<Vec<_>>(), Kind::Write)?;
        let zero = Scalar::zero(self.kernel.mem(copy.from).dtype);
        let source = self.object(agent, copy.from)?;
        let mut values = Vec::with_capacity(inside.len());
        for at in &inside {
            values.push(at.map_or(Ok(zero), |at| source.load(at, &who))?);
        }
        let object = agent.memory[copy.to.0 as usize].ok_or(FaultKind::Undefined)?;
        let target = &mut self.objects[object];
        let mut elements = Vec::with_capacity(places.len());
        for (at, value) in places.into_iter().zip(values) {
            let element = target.element(at)?;
            target.order(element, Kind::Write, &who)?;
            target.tensor.forget(element);
            elements.push((element, value));
        }
        let bytes = elements.len() * zero.dtype().size();
        let bytes = u32::try_from(bytes).map_err(|_| FaultKind::Overflow)?;
        self.flights.push(Flight { object, elements, bytes, to, known });
        Ok(())
    }

    fn elements_of_box(&self, agent: &Agent, copy: &BoxCopy) -> Done<Elements> {
        let mut first = Vec::new();
        for at in &copy.at {
            first.push(affine(agent, at, 0)?);
        }
        let base = i128::from(affine(agent, &copy.to_at, 0)?);
        let (map, count) = (&copy.map, copy.map.elements());
        let (mut inside, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for number in 0..count as i64 {
            let (mut rest, mut from) = (number, Some(0i128));
            for (dimension, &size) in map.sizes.iter().enumerate() {
                let at = i128::from(first[dimension]) + i128::from(rest % size);
                rest /= size;
                let exists = (0..i128::from(map.extents[dimension])).contains(&at);
                let place = at * i128::from(map.strides[dimension]);
                from = from.filter(|_| exists).map(|from| from + place);
            }
            inside.push(from);
            let (line, along) = (number / map.sizes[0], number % map.sizes[0]);
            places.push(base + i128::from(line) * i128::from(copy.pitch) + i128::from(along));
        }
        Ok(Elements { inside, places })
    }

    /// Lets boxes arrive, where someone waits for a phase, and those go on whose phase ends; gives whether anyone goes on.
    pub(super) fn boxes_arrive(&mut self) -> Done<bool> {
        loop {
            if self.wake() {
                return Ok(true);
            }
            // What nobody waits for may come at any later time.
            let waits = self.agents.values().any(|a| matches!(a.state, State::Phase(..)));
            let count = self.flights.len();
            if count == 0 || !waits {
                return Ok(false);
            }
            let number = match self.options.order {
                Order::Forward => 0,
                Order::Backward => count - 1,
                Order::Shuffled(_) => {
                    let mut numbers: Vec<usize> = (0..count).collect();
                    self.arrange(&mut numbers);
                    numbers[0]
                }
            };
            let Flight { object, elements, bytes, to, known } = self.flights.remove(number);
            for (element, value) in elements {
                self.objects[object].tensor.set(element, value);
            }
            let phase = self.phase_of(to)?;
            let Some(left) = phase.bytes.checked_sub(bytes) else {
                return Err(self.wrong(to, format!("gets {bytes} bytes, which are more than it waits for")));
            };
            phase.bytes = left;
            phase.open.join(&known);
            phase.advance();
        }
    }

    /// Lets those go on whose phase is over.
    fn wake(&mut self) -> bool {
        let mut released = Vec::new();
        for (&id, agent) in &mut self.agents {
            let State::Phase(at, parity) = agent.state else { continue };
            if let Some(phase) = self.phases.get(&at).filter(|p| p.is_over(parity)) {
                agent.learn(&phase.over);
                (agent.state, agent.at) = (State::Ready, agent.at + 1);
                released.push(id);
            }
        }
        let any = !released.is_empty();
        self.arrange(&mut released);
        self.ready.extend(released);
        any
    }

    /// Who waits for a phase that nothing ends, and what is missing of all that are waited for.
    pub(super) fn never_over(&self) -> Option<(u64, FaultKind)> {
        let waits = self.agents.values().filter_map(|a| match a.state {
            State::Phase(at, _) => Some((a.id, at)),
            _ => None,
        });
        let waits: Vec<(u64, Barrier)> = waits.collect();
        let (id, first) = *waits.first()?;
        let mut all: Vec<Barrier> = waits.into_iter().map(|(_, at)| at).collect();
        all.sort();
        all.dedup();
        let missing = all.into_iter().filter_map(|at| {
            let (phase, name) = (self.phases.get(&at)?, &self.objects[at.object].name);
            let Phase { number, arrivals, bytes, .. } = phase;
            Some(format!("{arrivals} arrivals and {bytes} bytes at phase {number} of {name}[{}]", at.element))
        });
        let missing: Vec<String> = missing.collect();
        Some((id, self.wrong(first, format!("never ends its phase; missing are {}", missing.join(", ")))))
    }

    /// Ends a block: no box may be on its way. Its barriers are forgotten.
    pub(super) fn block_ends(&mut self) -> Done<()> {
        self.phases.clear();
        if self.flights.is_empty() { Ok(()) } else { Err(FaultKind::Copies) }
    }
}
