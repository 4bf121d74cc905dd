//! What the threads of a warp do together.

use crate::code::{Op, Operand, Shuffle, Vote};
use crate::machine::{Block, State, WARP};
use std::ops::Range;

/// Who is to blame, and for what.
type Refused = (usize, String);

impl Block<'_> {
    /// Lets the threads of a warp go on that wait for each other at one instruction; gives whether there are any.
    pub(crate) fn warp(&mut self, threads: Range<usize>) -> Result<bool, Refused> {
        let first = threads.start;
        let waits: Vec<usize> = threads.clone().filter(|&t| self.threads[t].state == State::Warp).collect();
        // Those that wait at the same instruction; several groups may.
        let mut places: Vec<usize> = waits.iter().map(|&t| self.threads[t].at).collect();
        places.sort_unstable();
        places.dedup();
        let mut moved = false;
        for at in places {
            let here: Vec<usize> = waits.iter().copied().filter(|&t| self.threads[t].at == at).collect();
            let leader = here[0];
            let mask = self.mask(leader).map_err(|m| (leader, m))?;
            let members: Vec<usize> =
                (0..WARP).filter(|lane| mask >> lane & 1 == 1).map(|lane| first + lane).collect();
            for &t in &here {
                if self.mask(t).map_err(|m| (t, m))? != mask {
                    return Err((t, "threads of a warp name different members".into()));
                }
                if !members.contains(&t) {
                    return Err((t, "it is no member of those that it names".into()));
                }
            }
            if let Some(&missing) = members.iter().find(|&&t| !threads.contains(&t)) {
                return Err((leader, format!("it waits for the thread {missing}, which does not exist")));
            }
            if let Some(&ended) = members.iter().find(|&&t| self.threads[t].state == State::Ended) {
                return Err((leader, format!("it waits for the thread {ended}, which has ended")));
            }
            if here.len() < members.len() {
                continue;
            }
            self.together(&members, first)?;
            for &t in &members {
                self.threads[t].at += 1;
                self.threads[t].state = State::Ready;
            }
            moved = true;
        }
        Ok(moved)
    }

    /// The members that an instruction names.
    fn mask(&self, thread: usize) -> Result<u64, String> {
        let instruction = &self.kernel.code[self.threads[thread].at];
        let operand = match instruction.op {
            Op::WarpBarrier => instruction.operands.first(),
            Op::Shuffle(_) | Op::Vote(_) => instruction.operands.last(),
            _ => return Ok(0xffff_ffff),
        };
        let operand = operand.ok_or("an operand is missing")?;
        Ok(self.value(thread, operand)? & 0xffff_ffff)
    }

    fn together(&mut self, members: &[usize], first: usize) -> Result<(), Refused> {
        let kernel = self.kernel;
        let instruction = &kernel.code[self.threads[members[0]].at];
        let operands = &instruction.operands;
        match &instruction.op {
            Op::Shuffle(kind) => self.shuffle(*kind, operands, members, first),
            Op::Vote(kind) => {
                let mut ballot = 0u64;
                for &t in members {
                    let holds = self.value(t, &operands[1]).map_err(|m| (t, m))? & 1;
                    ballot |= holds << (t - first);
                }
                let all = members.iter().fold(0u64, |all, t| all | 1 << (t - first));
                let value = match kind {
                    Vote::All => (ballot == all).into(),
                    Vote::Any => (ballot != 0).into(),
                    Vote::Ballot => ballot,
                };
                members
                    .iter()
                    .try_for_each(|&t| self.set_register(t, &operands[0], value).map_err(|m| (t, m)))
            }
            Op::LoadMatrix { count, order } => {
                self.load_matrix(*count, *order, operands, members).map_err(|m| (members[0], m))
            }
            Op::MatMul { .. } => {
                self.counts.products += 1;
                self.multiply(&instruction.op, operands, members).map_err(|m| (members[0], m))
            }
            op @ (Op::GroupMatMul { .. }
            | Op::GroupFence
            | Op::GroupCommit
            | Op::GroupWait
            | Op::GroupRegisters) => {
                self.counts.products += u64::from(matches!(op, Op::GroupMatMul { .. }));
                self.group(op, operands, members).map_err(|m| (members[0], m))
            }
            _ => Ok(()),
        }
    }

    /// `d, a, b, c, members`: the value of another thread (PTX ISA, `shfl.sync`).
    fn shuffle(
        &mut self,
        kind: Shuffle,
        operands: &[Operand],
        members: &[usize],
        first: usize,
    ) -> Result<(), Refused> {
        let read = |block: &Self, t: usize, i: usize| block.value(t, &operands[i]).map_err(|m| (t, m));
        let mut results = Vec::new();
        for &t in members {
            let lane = (t - first) as u64;
            let (b, c) = (read(self, t, 2)? & 31, read(self, t, 3)?);
            let (clamp, segment) = (c & 31, c >> 8 & 31);
            let highest = (lane & segment) | (clamp & !segment);
            let lowest = lane & segment;
            let (other, inside) = match kind {
                Shuffle::Up => {
                    let other = lane as i64 - b as i64;
                    (other, other >= highest as i64)
                }
                Shuffle::Down => ((lane + b) as i64, lane + b <= highest),
                Shuffle::Xor => ((lane ^ b) as i64, lane ^ b <= highest),
                Shuffle::Index => {
                    let other = lowest | (b & !segment);
                    (other as i64, other <= highest)
                }
            };
            let from = if inside { first + other as usize } else { t };
            if !members.contains(&from) {
                return Err((
                    t,
                    format!("it asks for the value of the thread {from}, which does not take part"),
                ));
            }
            results.push((t, read(self, from, 1)?, inside));
        }
        for (t, value, inside) in results {
            let done = match &operands[0] {
                Operand::Vector(both) => self
                    .set_register(t, &both[0], value & 0xffff_ffff)
                    .and_then(|()| self.set_register(t, &both[1], inside.into())),
                one => self.set_register(t, one, value & 0xffff_ffff),
            };
            done.map_err(|m| (t, m))?;
        }
        Ok(())
    }
}
