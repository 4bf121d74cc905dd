//! The row emitter: outputs are evaluated point by point.
//!
//! The outer loops over the output are cut into units, which tasks share; the last loop is done in lanes, with the
//! rest element by element; reductions stand at the depth where what they depend on is known.

use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::units::{TaskRange, clip, close_all, open_outer};
use crate::machine::elem::Elem;
use crate::schedule::Schedule;
use crate::schedule::cuts::holds;
use crate::schedule::units::Units;
use std::collections::BTreeSet;
use std::ops::Range;
use surject_ir::DType;

pub(crate) struct Row<'a> {
    pub(crate) outputs: &'a [Output],
    pub(crate) schedule: &'a Schedule,
}

/// The parts of a loop of this extent that some cuts make: where each starts and ends.
fn between(cuts: &[i64], extent: i64) -> impl Iterator<Item = Range<i64>> {
    let ends = cuts.iter().copied().chain([extent]);
    [0].into_iter().chain(cuts.iter().copied()).zip(ends).map(|(start, end)| start..end)
}

/// What is done about conditions that change along the last loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// It is cut where they change: inside a part they are known.
    CutApart,
    /// They are looked at element by element.
    LookedAt,
}

impl Row<'_> {
    /// All that a kernel computes.
    pub(crate) fn all(&self, em: &mut Emitter<'_>, units: &Units) -> Result<(), CodegenError> {
        em.reductions.clone_from(&self.schedule.reductions);
        let root = em.root();
        let Some((&last, outer)) = self.schedule.order.split_last() else { return self.point(em, root) };
        let (closing, range) = open_outer(em, units, outer);
        let scope = closing.last().map_or(root, |c| c.scope);
        self.lines(em, scope, (outer, last), range)?;
        close_all(em, closing);
        Ok(())
    }

    /// The last loop, once for every part of the loops around it in which the same conditions hold: rows of a
    /// concatenation come each from one operand. Where that is too much code, once for the longest part, such as the
    /// inner rows of a stencil, and once for all others, where conditions are looked at.
    fn lines(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (outer, last): (&[LoopId], LoopId),
        range: TaskRange,
    ) -> Result<(), CodegenError> {
        const PARTS: usize = 8;
        let inner = if range.low.is_none() { self.cuts(em.dag, last).len() + 1 } else { 1 };
        let mut loops = outer.iter().map(|&l| (l, self.cuts(em.dag, l)));
        let Some((l, cuts)) = loops.find(|c| !c.1.is_empty()) else {
            return self.line(em, scope, last, range, Conditions::CutApart);
        };
        let inner = loops.map(|c| c.1.len() + 1).product::<usize>() * inner;
        let further = outer.iter().position(|&o| o == l).map_or(outer, |at| &outer[at + 1..]);
        let parts = between(&cuts, em.dag.extent(l));
        let every = (cuts.len() + 1) * inner <= PARTS;
        let parts: Vec<Range<i64>> =
            if every { parts.collect() } else { parts.max_by_key(|p| p.end - p.start).into_iter().collect() };
        let position = em.lin(&Lin::var(l), scope);
        for Range { start, end } in parts {
            let first = em.int(start);
            let offset = em.arith(scope, "arith.subi", position, first);
            let length = em.int(end - start);
            let holds = em.compare(scope, "ult", offset, length);
            let part = em.open(scope, Vec::new(), None);
            em.limit(part, l, start, end);
            self.lines(em, part, (further, last), range.clone())?;
            em.close_if(part, holds);
            if !every {
                let rest = em.open(scope, Vec::new(), None);
                self.line(em, rest, last, range.clone(), Conditions::LookedAt)?;
                em.close_unless(rest, holds);
            }
        }
        Ok(())
    }

    /// The last loop: in lanes as far as that goes, then what is left as a vector that is not full. Where the
    /// task has all of the loop, it may be cut where conditions on it change.
    pub(crate) fn line(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        range: TaskRange,
        conditions: Conditions,
    ) -> Result<(), CodegenError> {
        let cuts = if conditions == Conditions::CutApart && range.low.is_none() {
            self.cuts(em.dag, l)
        } else {
            Vec::new()
        };
        let parts: Vec<Range<i64>> = between(&cuts, em.dag.extent(l)).collect();
        let streams = em.streams;
        em.streams &= self.goes_past(em.dag, l, &parts);
        let past = em.streams;
        for Range { start, end } in parts {
            if let Some(run) = self.run(em, scope, l, start, end) {
                let bounds = clip(em, scope, &range, start..end, 1);
                self.write_run(em, scope, (l, &run), bounds)?;
                continue;
            }
            if self.is_shifted(em, l, start, end) {
                self.shifted(em, scope, l, &range, start..end)?;
                continue;
            }
            em.streams &= cuts.is_empty() || self.is_of_lines(em.dag, l, start, end);
            let lanes = self.schedule.lanes;
            let main = end - (end - start) % lanes as i64;
            if main > start {
                let bounds = clip(em, scope, &range, start..main, lanes as i64);
                let (inner, iv) = em.open_loop(scope, l, lanes);
                if !cuts.is_empty() {
                    em.limit(inner, l, start, main);
                }
                // Of two lanes there would be one word.
                if lanes > 2 && self.is_of_halves(em.dag, l) {
                    em.set_pairs(inner);
                }
                self.point(em, inner)?;
                em.close_loop(inner, iv, &bounds, &[]);
            }
            let mut from = main;
            while from < end {
                // Vectors that are not full go through the caches: lines that go past them are cut into full ones.
                let left = end - from;
                let to = from + if em.streams { 1 << left.ilog2() } else { left };
                let (inner, iv, lanes) = em.open_rest(scope, l, (to - from) as usize);
                let bounds = clip(em, scope, &range, from..to, lanes as i64);
                if !cuts.is_empty() {
                    em.limit(inner, l, from, to);
                }
                self.point(em, inner)?;
                em.close_loop(inner, iv, &bounds, &[]);
                from = to;
            }
            em.streams = past;
        }
        em.streams = streams;
        Ok(())
    }

    /// Is all that a line reads and writes along its loop `bf16`, side by side? Then the lanes may be in any order: pairs of
    /// elements are read and written as words.
    fn is_of_halves(&self, dag: &Dag, l: LoopId) -> bool {
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).collect();
        let fits = |n: NodeId| match &dag[n].node {
            _ if !dag[n].deps.contains(l) => true,
            Node::Load { address, guards, .. } => {
                guards.is_empty() && address.coeff(l) == 1 && dag[n].dtype == DType::BF16
            }
            Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Convert(_) => true,
            _ => false,
        };
        let stored = |o: &Output| {
            let root = &dag[o.root];
            o.join.is_none() && root.dtype == DType::BF16 && root.deps.contains(l) && o.address.coeff(l) == 1
        };
        !cfg!(target_endian = "big")
            && self.outputs.iter().all(stored)
            && dag.reachable(&roots).into_iter().all(fits)
    }

    /// Where conditions on a loop begin or end to hold whatever the others are. Where that would be too much code, the
    /// ends of the part that is more than half of the loop, or nothing.
    pub(crate) fn cuts(&self, dag: &Dag, l: LoopId) -> Vec<i64> {
        const PARTS: usize = 6;
        const NODES: usize = 60;
        const MOST: usize = 300;
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).collect();
        let nodes = dag.all_reachable(&roots);
        let mut cuts = BTreeSet::new();
        for &n in &nodes {
            cuts.extend(
                dag[n]
                    .node
                    .guards()
                    .iter()
                    .filter_map(|g| holds(g, l, dag))
                    .flat_map(|part| [part.start, part.end]),
            );
        }
        cuts.retain(|&c| c > 0 && c < dag.extent(l));
        let mut cuts: Vec<i64> = cuts.into_iter().collect();
        if cuts.len() >= PARTS || nodes.len() > NODES {
            let extent = dag.extent(l);
            let longest = between(&cuts, extent).max_by_key(|p| p.end - p.start);
            let long = longest.filter(|p| nodes.len() <= MOST && 2 * (p.end - p.start) > extent);
            cuts.retain(|&c| long.as_ref().is_some_and(|p| c == p.start || c == p.end));
        }
        cuts
    }

    /// The outputs at one point, or at the lanes of a vector.
    pub(crate) fn point(&self, em: &mut Emitter<'_>, scope: ScopeId) -> Result<(), CodegenError> {
        // All values before the first store: what is written may have the memory of what is read here.
        let roots: Vec<NodeId> = self.outputs.iter().map(|o| o.root).collect();
        let values = em.values(&roots, scope)?;
        if let ([re, im], [x, y]) = (self.outputs, values.as_slice())
            && let Some((l, lanes)) = em.vector_loop(scope, re.address.loops())
            && re.to == im.to
            && re.address.coeff(l) == 2
            && re.address.plus(&Lin::constant(1), 1).as_ref() == Some(&im.address)
            && (re.join, im.join) == (None, None)
        {
            let pointer = em.pointer(re.to)?;
            em.store_pairs(pointer, em.dag[re.root].dtype, &re.address, [x, y], At { scope, lanes });
            return Ok(());
        }
        for (output, mut value) in self.outputs.iter().zip(values) {
            let lanes = em.lanes(scope, output.address.loops());
            let at = At { scope, lanes };
            let part = em.dag[output.root].dtype;
            let pointer = em.pointer(output.to)?;
            if let Some(op) = output.join {
                let old = em.load(pointer, part, &output.address, &[], at);
                let new = em.spread(&value, crate::machine::elem::Elem::of(part), at);
                let joined = em.join_values(op, part, old, new, at)?;
                value = Val { ssa: em.round_half(at, part, joined), lanes };
            }
            em.prefetch_store((output.to, pointer), &output.address, Elem::in_memory(part), at);
            em.store(pointer, part, &output.address, &value, at);
        }
        Ok(())
    }
}

/// One line about a kernel: loops, lanes, tasks, reductions.
pub(crate) fn summary(dag: &Dag, roots: &[NodeId], schedule: &Schedule, tasks: i64) -> String {
    let loops = |order: &[LoopId], lanes: usize| -> String {
        let mut parts: Vec<String> = order.iter().map(|&l| dag.extent(l).to_string()).collect();
        if lanes > 1
            && let Some(last) = parts.last_mut()
        {
            last.push_str(&format!("/{lanes}"));
        }
        format!("[{}]", parts.join(" "))
    };
    let mut text = format!("row {} tasks {tasks}", loops(&schedule.order, schedule.lanes));
    // Those that are alike, such as the sums of a block, are one entry.
    let mut reductions: Vec<(String, usize)> = Vec::new();
    for id in dag.all_reachable(roots) {
        if let Node::Reduce { op, .. } = &dag[id].node
            && let Some(plan) = schedule.reductions.get(&id)
        {
            let inside =
                schedule.order.last().is_some_and(|&l| schedule.lanes > 1 && dag[id].deps.contains(l));
            let own = format!("{op} {}", loops(&plan.order, if inside { 1 } else { plan.lanes }));
            match reductions.last_mut().filter(|last| last.0 == own) {
                Some(last) => last.1 += 1,
                None => reductions.push((own, 1)),
            }
        }
    }
    for (own, count) in reductions {
        let times = if count > 1 { format!("{count} x ") } else { String::new() };
        text.push_str(&format!(", {times}{own}"));
    }
    text
}
