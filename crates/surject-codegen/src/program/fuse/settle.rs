//! Whether and how some kernels are fused: rows at a time, tasks, and what that saves.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::expression::solve::gcd;
use crate::planned::recipe::{Access, BlockColumns};
use crate::program::fuse::{Chain, Estimate, FAR, MEETING, MEMORY, Member, NEAR, World, in_place_between};
use crate::program::memory::bytes;
use std::collections::HashSet;

/// What fusing some kernels does to the bytes they move.
#[derive(Default)]
struct Shared {
    /// What is written and read inside and nowhere else, and the bytes of a part of each.
    between: Vec<(Buf, i64)>,
    /// Cycles that moving what one member writes and others read takes.
    moved: f64,
    /// Cycles that reading what several members read takes again: if it does not fit in the caches of the threads, it comes from
    /// afar for each of them, unless the parts of a range do fit.
    again: f64,
    /// The bytes of a part of all that is cut.
    part: i64,
}

impl Shared {
    fn of(members: &[Member], parts: i64, world: &World<'_>) -> Result<Shared, CodegenError> {
        let threads = world.target.threads.max(1) as u64;
        let near = world.target.l2_share_bytes as u64;
        let mut shared = Shared::default();
        let mut seen: HashSet<Buf> = HashSet::new();
        for (i, member) in members.iter().enumerate() {
            for &Access { buf, write, share } in &member.accesses {
                let Some(share) = share else { continue };
                if seen.insert(buf) {
                    shared.part += share;
                }
                let touching: Vec<usize> =
                    members.iter().enumerate().filter(|(_, m)| m.touches(buf)).map(|(j, _)| j).collect();
                if touching.first() != Some(&i) || touching.len() == 1 {
                    continue;
                }
                let size = bytes(&world.types[buf.0 as usize])?;
                if !write {
                    let written = members.iter().any(|m| m.accesses.iter().any(|a| a.buf == buf && a.write));
                    if !written && size > near * threads {
                        shared.again += (touching.len() - 1) as f64 * size as f64 / FAR;
                    }
                    continue;
                }
                let reads_first = member.accesses.iter().any(|a| a.buf == buf && !a.write);
                let pace = match size {
                    _ if size > world.target.llc_share_bytes as u64 => MEMORY,
                    _ if size > near => FAR,
                    _ => NEAR,
                };
                shared.moved += touching.len() as f64 * size as f64 / pace;
                let inside = world.touched.get(&buf) == Some(&touching.len()) && !world.kept.contains(&buf);
                let whole = share.checked_mul(parts).is_some_and(|n| n as u64 == size);
                if inside && whole && !reads_first && !shared.between.iter().any(|b| b.0 == buf) {
                    shared.between.push((buf, share));
                }
            }
        }
        Ok(shared)
    }
}

/// Kernels that may be fused, of which a number of rows at a time is still to be chosen (`most`).
struct Plan<'a> {
    members: &'a [Member],
    world: &'a World<'a>,
    shared: Shared,
    threads: i64,
    /// The rows of all, those of a segment, and the least at a time.
    parts: i64,
    segment: i64,
    step: i64,
    /// Cycles of all kernels, of those with one task, and how many have several.
    cycles: f64,
    single: f64,
    several: usize,
    /// Cycles that members lose in ranges.
    lost: f64,
    /// What lies between and is written in place of what else does.
    in_place: Vec<(Buf, Buf)>,
    /// Does a member have tiles?
    tiled: bool,
}

impl<'a> Plan<'a> {
    fn of(members: &'a [Member], parts: i64, world: &'a World<'a>) -> Result<Plan<'a>, CodegenError> {
        let shared = Shared::of(members, parts, world)?;
        let kernels = || members.iter().map(|m| &world.kernels[m.kernel]);
        Ok(Plan {
            members,
            world,
            threads: world.target.threads.max(1) as i64,
            parts,
            segment: members.iter().find_map(|m| m.cut.segment).unwrap_or(parts),
            step: step(members),
            cycles: kernels().map(|k| k.cycles).sum(),
            single: kernels().filter(|k| k.tasks == 1).map(|k| k.cycles).sum(),
            several: kernels().filter(|k| k.tasks > 1).count(),
            lost: members.iter().map(|m| m.lost).sum(),
            tiled: members.iter().any(|m| m.recipe.columns(world.target).is_some()),
            in_place: in_place_between(members, &shared.between, world),
            shared,
        })
    }

    /// The most rows at a time that kernels allow, that leave ranges enough for every thread, and whose scratch memory the cache
    /// of a thread holds.
    fn most(&self) -> i64 {
        let (target, step) = (self.world.target, self.step);
        let own = self.members.iter().filter_map(|m| m.recipe.columns(target));
        let own = own.map(|c| c.rows / step * step).min();
        let even = self.parts / (4 * self.threads) / step * step;
        let mut most = own.unwrap_or(i64::MAX).min(even).min(self.segment).max(step);
        while most > step && self.scratch(most) > target.l2_share_bytes as i64 {
            most = (most / 2 / step * step).max(step);
        }
        most
    }

    /// The bytes that a worker keeps to itself.
    fn scratch(&self, most: i64) -> i64 {
        let own = |b: &&(Buf, i64)| !self.in_place.iter().any(|p| p.0 == b.0);
        self.shared.between.iter().filter(own).map(|b| b.1 * most).sum::<i64>()
    }

    fn ranges(&self, most: i64) -> i64 {
        self.parts / self.segment * ((self.segment + most - 1) / most)
    }

    fn tasks(&self, most: i64) -> i64 {
        let little = self.several == 0 && self.cycles < self.world.target.thresholds.fused_cycles;
        if self.threads == 1 || little { 1 } else { self.ranges(most).min(4 * self.threads) }
    }

    /// The bytes in which what one row after the other goes through stays: the nearest cache, or it comes again from the second.
    fn room(&self) -> i64 {
        let target = self.world.target;
        if self.tiled { 2 * target.l2_share_bytes as i64 } else { (target.l1_bytes * 2 / 3) as i64 }
    }

    fn estimate(&self, most: i64) -> Estimate {
        let (target, threads) = (self.world.target, self.threads);
        let fits = |room: i64| most.saturating_mul(self.shared.part) <= room;
        let share = if fits(self.room()) {
            1.0
        } else if fits(target.l2_share_bytes as i64 / 2) {
            1.0 - FAR / NEAR
        } else {
            0.0
        };
        let saved = self.shared.moved + share * self.shared.again;
        let mut estimate = Estimate { saved: saved / threads as f64, lost: self.lost / threads as f64 };
        if threads > 1 {
            estimate.saved += self.several.saturating_sub(1) as f64 * MEETING;
        }
        // What the kernels do that the threads would not share.
        if self.several > 0 {
            estimate.saved += self.single * (1.0 - 1.0 / self.tasks(most).min(threads) as f64);
        }
        let recipes = || self.members.iter().map(|m| &m.recipe);
        for BlockColumns { bytes, rows: block } in recipes().filter_map(|r| r.columns(target)) {
            let runs = self.parts / self.segment * ((self.segment + block - 1) / block);
            let far = if bytes > target.l2_share_bytes as i64 { 2.0 * FAR } else { 2.0 * NEAR };
            estimate.lost += (self.ranges(most) - runs).max(0) as f64 * bytes as f64 / far / threads as f64;
        }
        // Targets of their own are joined by a kernel.
        for bytes in recipes().filter_map(|r| r.joined()?.bytes()).filter(|_| self.tasks(most) > 1) {
            estimate.lost += MEETING + (bytes * self.tasks(most)) as f64 / FAR;
        }
        estimate
    }

    /// As many rows at a time as stay near and leave as many ranges for every task, `most` of them at most.
    fn balanced(&self, most: i64) -> i64 {
        let over = |n: i64, by: i64| (n + by - 1) / by;
        let count = over(self.segment, (self.room() / self.shared.part.max(1)).max(1));
        let count = over(count, 4 * self.threads) * 4 * self.threads;
        (over(over(self.segment, count), self.step) * self.step).clamp(self.step, most)
    }
}

/// The least rows at a time: whole tiles of all members, or of those that have the most rows where that are too many.
fn step(members: &[Member]) -> i64 {
    const MANY: i64 = 60;
    let steps = || members.iter().map(|m| m.recipe.step());
    let whole = steps().fold(1, |all, step| all / gcd(all, step) * step);
    if whole <= MANY { whole } else { steps().max().unwrap_or(1) }
}

/// Decides how kernels are fused; `None` where it does not pay.
pub(super) fn settle(
    members: &[Member],
    before: &[usize],
    after: &[usize],
    parts: i64,
    world: &World<'_>,
) -> Result<Option<Chain>, CodegenError> {
    let target = world.target;
    let plan = Plan::of(members, parts, world)?;
    // In parts, tiles have another form: that costs more than an element by itself is worth.
    if plan.tiled && members.iter().any(|m| m.lost > 0.0) {
        return Ok(None);
    }
    let net = |most: i64| plan.estimate(most).saved - plan.estimate(most).lost;
    let mut most = plan.most();
    let balanced = plan.balanced(most);
    if net(balanced) > net(most) || !plan.tiled {
        most = balanced;
    }
    let (estimate, tasks, shares) = (plan.estimate(most), plan.tasks(most), plan.several > 0);
    let limits = &target.thresholds;
    let few_tasks = (tasks as f64) < limits.fused_tasks_per_thread * plan.threads as f64;
    if plan.scratch(most) > 2 * target.l2_share_bytes as i64 || (shares && few_tasks) {
        return Ok(None);
    }
    let little = shares && plan.cycles < limits.fused_cycles;
    let least = if little { limits.fused_saving_of_little } else { limits.fused_saving };
    Ok((net(most) > least).then(|| Chain {
        members: Vec::new(),
        before: before.to_vec(),
        after: after.to_vec(),
        between: plan.shared.between,
        most,
        segment: plan.segment,
        tasks,
        estimate,
    }))
}
