//! Agents that wait for each other: barriers and exchanges.

use super::FaultKind;
use super::agent::{Agent, Known, Lanes, State};
use super::code::Step;
use super::run::{Machine, Stopped};
use super::value::copy;
use crate::{Level, Op, Source, Statement};

impl Machine<'_> {
    /// Lets those go on that wait for each other, where all of them are there.
    pub(super) fn release(&mut self) -> Result<(), Stopped> {
        let anywhere = |kind| Stopped { at: usize::MAX, agent: String::new(), kind };
        if self.phased && self.boxes_arrive().map_err(anywhere)? {
            return Ok(());
        }
        let waiting: Vec<u64> =
            self.agents.values().filter(|a| a.state == State::Exchange).map(|a| a.id).collect();
        for &id in &waiting {
            if let Some(warp) = self.warp(id) {
                return self.exchange(&warp);
            }
        }
        // The threads of one warp may wait for each other while those of another one wait for them all.
        let at_barrier = self.agents.values().filter_map(|a| match a.state {
            State::Barrier(level) => Some((a.id, level)),
            _ => None,
        });
        let at_barrier = at_barrier.min_by_key(|&(_, level)| level != Level::Warp);
        let found = at_barrier.or(waiting.first().map(|&id| (id, Level::Warp)));
        let Some((id, level)) = found else {
            if let Some((id, kind)) = self.never_over() {
                return self.give_up(id, kind);
            }
            return Err(Stopped { at: 0, agent: String::new(), kind: FaultKind::Undefined });
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
        let mut known = Known::default();
        members.iter().filter_map(|m| self.agents.get(m)).for_each(|m| known.join(&m.known));
        let mut released = Vec::new();
        for member in members {
            if let Some(agent) = self.agents.get_mut(&member) {
                agent.learn(&known);
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

    fn diverge(&mut self, id: u64, level: Level, missing: &str) -> Result<(), Stopped> {
        let (group, missing) = (level.to_string(), missing.to_string());
        self.give_up(id, FaultKind::Divergence { group, missing })
    }

    /// The fault of an agent that waits for what does not come.
    fn give_up(&mut self, id: u64, kind: FaultKind) -> Result<(), Stopped> {
        let at = self.agents[&id].at;
        let mut agent = self.agents[&id].clone();
        let agent = self.stamp(&mut agent).to_string();
        Err(Stopped { at, agent, kind })
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
    pub(super) fn lane_of(&self, agent: &Agent, parent: Option<Level>) -> (i64, i64) {
        match parent {
            Some(Level::Warp) => (0, agent.number),
            _ => {
                let warp = self.options.warp.max(1) as i64;
                (agent.number / warp, agent.number % warp)
            }
        }
    }

    fn exchange(&mut self, warp: &[u64]) -> Result<(), Stopped> {
        let at = self.agents[&warp[0]].at;
        let Step::Do(Statement { results, op: Op::Exchange(source, value) }) = self.steps[at] else {
            return Err(Stopped { at, agent: String::new(), kind: FaultKind::Undefined });
        };
        let values: Vec<Lanes> = warp.iter().map(|id| copy(&self.agents[id], *value)).collect();
        for (number, id) in warp.iter().enumerate() {
            let from = match source {
                Source::Xor(bits) => Some(number ^ bits),
                Source::Up(by) => number.checked_sub(*by).or(Some(number)),
                Source::Down(by) => number.checked_add(*by).filter(|&n| n < warp.len()).or(Some(number)),
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
}
