//! Lines and elements of a tensor that indices choose are asked for ahead.
//!
//! Nothing but the indices says where memory is read next. So where a line of something far away is chosen, the line of some
//! positions further is asked for: whole, as far as a page goes, and so early that a page is under way. What goes past the
//! caches waits in the second one meanwhile. On a Zen 4 lines of 64 bytes to 16 KiB take 0.4 to 0.8 of the time that they take
//! if the next 512 bytes are asked for, and 0.6 to 0.9 of it where results go through the caches.
//!
//! Elements of what the last cache does not hold take 0.5 to 0.75 of the time if those of 128 positions further are asked for,
//! and updates of such elements 0.4 to 0.75. In sorted order and from few places they would take up to 1.9 times as long, so
//! it is looked at whether they are near to those at hand.

use crate::CodegenError;
use crate::Target;
use crate::address::{Lin, LoopId};
use crate::ahead::{Ask, Asks, prefetch};
use crate::dag::{Buf, Dag, Node, NodeId};
use crate::emit::{At, Elem, Emitter, ScopeId};
use crate::stream::{LINE, STAYS};
use std::collections::HashMap;
use surject_ir::BinaryOp;

/// Bytes that are under way, and the most that is asked for of a line.
const AHEAD: i64 = 4096;

/// So many times the second cache is far away where lines are chosen, and such a part of the last one where elements are.
const FAR: i64 = 4;

/// A loop is long if it has so many times the positions that are skipped.
const LONG: i64 = 8;

/// So many positions ahead at most: elements that lie anywhere are asked for that early.
const ELEMENTS: i64 = 128;

/// Lines of a tensor that are chosen, and the scopes in which they have been asked for.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Into which cache they come.
    what: Ask,
    /// Where neighbours are chosen apart: from how many elements further on one is asked for, if they lie in more than the
    /// last cache has for them.
    apart: Option<i64>,
    asked: Vec<ScopeId>,
}

/// What is chosen of tensors that are far away, by tensor and place of the line.
pub(crate) type Lines = HashMap<(Buf, NodeId), Chosen>;

/// The lines that a kernel chooses from what is far away.
pub(crate) fn far(dag: &Dag, roots: &[NodeId], target: &Target, when: Asks<'_>) -> Lines {
    let last = if target.eager { 0.0 } else { target.last_bytes as f64 };
    let [near, least] = far_bytes(target);
    let far = dag.reachable(roots, true).into_iter().filter_map(|n| {
        let Node::Gather { buf, address, offset, .. } = &dag[n].node else { return None };
        let (most, chosen_by) = (most(dag, *offset)?, dag.reachable(&[*offset], true));
        let end = most.checked_add(address.range(&dag.extents)?.1)?;
        let size = Elem::in_memory(dag[n].dtype).size() as i64;
        let what = if 2.0 * dag.bytes(n) < STAYS * last { Ask::Now } else { Ask::Soon };
        let wide = most.saturating_mul(size) > least;
        // Coordinates that are computed are seldom far from the one before, and are not worth computing twice.
        let computed = chosen_by.iter().any(|&n| dag[n].dtype.is_float());
        let apart =
            (wide && !computed).then_some(if target.eager { 1 } else { target.cache_bytes as i64 / size });
        // Of what a chain has between its kernels no more is there than the part at hand.
        let there = chosen_by.iter().chain([&n]).all(|&n| match dag[n].node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => when(buf).is_some(),
            _ => true,
        });
        let chosen = Chosen { what, apart, asked: Vec::new() };
        (end.saturating_mul(size) > near && there).then_some(((*buf, *offset), chosen))
    });
    far.collect()
}

/// The largest value of the place of a line: a sum of products of numbers that are moved to where a tensor has elements.
fn most(dag: &Dag, n: NodeId) -> Option<i64> {
    match &dag[n].node {
        Node::Const(value) => value.as_i128().and_then(|value| i64::try_from(value).ok()),
        Node::Convert(x) => most(dag, *x),
        Node::Binary(BinaryOp::Min, x, y) => most(dag, *y).or_else(|| most(dag, *x)),
        Node::Binary(BinaryOp::Add, x, y) => most(dag, *x)?.checked_add(most(dag, *y)?),
        Node::Binary(BinaryOp::Mul, x, y) => most(dag, *x)?.checked_mul(most(dag, *y)?),
        _ => None,
    }
}

/// A tensor of more bytes is far away: one of which lines are chosen, and one of which elements are.
pub(crate) fn far_bytes(target: &Target) -> [i64; 2] {
    if target.eager {
        return [0; 2];
    }
    [FAR.saturating_mul(target.cache_bytes as i64), target.last_bytes as i64 / FAR]
}

/// How many lines of so many bytes are a page; of elements, as many as are asked for.
pub(crate) fn later(bytes: i64) -> i64 {
    ((AHEAD + bytes - 1) / bytes.max(1)).min(ELEMENTS)
}

/// Asks for a line of so many bytes, as far as a page goes.
pub(crate) fn ask(em: &mut Emitter<'_>, scope: ScopeId, (start, bytes): (&str, i64), elem: Elem, what: Ask) {
    let asked = bytes.min(AHEAD);
    // A line of so many bytes ends where one of memory does, or has elements in one more.
    let ends = if asked % LINE == 0 || LINE % asked == 0 { None } else { Some(asked - 1) };
    for byte in (0..asked).step_by(LINE as usize).chain(ends) {
        prefetch(em, scope, (start, byte / elem.size() as i64), elem, what);
    }
}

impl Emitter<'_> {
    /// Asks for the line that is chosen some positions later, where `offset` says which one is read here.
    pub(crate) fn ask_for_line(
        &mut self,
        (buf, pointer): (Buf, &str),
        (address, offset): (&Lin, NodeId),
        elem: Elem,
        at: At,
    ) -> Result<(), CodegenError> {
        let deps = self.dag[offset].deps;
        let home = self.home(at.scope, deps);
        let open = |chosen: &&Chosen| !chosen.asked.contains(&home);
        let chosen = self.lines.get(&(buf, offset)).filter(open);
        let Some(&Chosen { what, apart, .. }) = chosen else { return Ok(()) };
        if self.lanes(home, deps) > 1 {
            return match apart {
                Some(apart) => self.ask_for_elements(pointer, (address, offset, apart), elem, at),
                None => Ok(()),
            };
        }
        if home == at.scope {
            return Ok(());
        }
        // The part of the address that is known, and what is read from there on.
        let (mut start, mut inner) = (address.clone(), address.clone());
        start.terms.retain(|t| self.is_bound(home, t.0));
        inner.terms.retain(|t| !self.is_bound(home, t.0));
        inner.offset = 0;
        let Some((low, high)) = inner.range(&self.dag.extents) else { return Ok(()) };
        let (size, span) = (elem.size() as i64, high - low + 1);
        if low < 0 || span as f64 > 2.0 * self.dag.points(inner.loops()) {
            return Ok(());
        }
        let bytes = span.saturating_mul(size);
        let Some((l, later)) = self.further(offset, home, bytes) else { return Ok(()) };
        let there = self.further_on(home, l, later, 1);
        let next = self.open(home, vec![(l, there)], None);
        let place = self.value(offset, next)?.ssa;
        let place = self.as_place(place, Elem::of(self.dag[offset].dtype), next);
        let start = self.lin(&start, next);
        let start = self.op(next, &format!("arith.addi {start}, {place} : i64"));
        let start = self.element(pointer, &start, elem, next);
        // Few short lines are under way to the first cache at the same time.
        let what = if bytes < LINE { Ask::Soon } else { what };
        ask(self, next, (&start, bytes), elem, what);
        self.close_plain(next);
        if let Some(chosen) = self.lines.get_mut(&(buf, offset)) {
            chosen.asked.push(home);
        }
        Ok(())
    }

    /// Asks for the elements that lanes choose some positions later, each by itself. Not where all of them are near to
    /// those that are chosen here, as they are in sorted order.
    fn ask_for_elements(
        &mut self,
        pointer: &str,
        (address, offset, apart): (&Lin, NodeId, i64),
        elem: Elem,
        at: At,
    ) -> Result<(), CodegenError> {
        let At { scope, lanes } = at;
        let deps = self.dag[offset].deps;
        let Some((l, _)) = self.vector_loop(scope, deps).filter(|v| v.1 == lanes) else { return Ok(()) };
        // Not for what is left of a loop.
        if self.dag.extent(l) < LONG / 2 * ELEMENTS
            || self.mask(scope, deps).is_some()
            || self.short.is_some()
        {
            return Ok(());
        }
        let there = self.further_on(scope, l, ELEMENTS, lanes);
        let next = self.open(scope, vec![(l, there)], Some((l, lanes)));
        let (own, ahead, places) = (at, At { scope: next, lanes }, Elem::of(self.dag[offset].dtype));
        let (here, there) = (self.value(offset, scope)?, self.value(offset, next)?);
        let (here, there) = (self.spread(&here, places, own), self.spread(&there, places, ahead));
        let moved = self.bin(ahead, "arith.subi", &there, &here, places);
        let [low, span] = [apart, 2 * apart].map(|n| self.constant(places, n as u64, lanes));
        let moved = self.bin(ahead, "arith.addi", &moved, &low, places);
        let far = self.cmpi(ahead, "ugt", &moved, &span, places);
        let any = format!("vector.reduction <or>, {far} : {} into i1", Elem::I1.ty(lanes));
        let any = self.op(next, &any);
        let asked = self.open(next, Vec::new(), None);
        let there = self.chosen_places(there, (address, places), At { scope: asked, lanes });
        let first = self.lin(address, next);
        let first = self.element(pointer, &first, elem, asked);
        for place in self.each_lane(&there, places, At { scope: asked, lanes }) {
            let element = self.element(&first, &place, elem, asked);
            prefetch(self, asked, (&element, 0), elem, Ask::Soon);
        }
        self.close_if(asked, &any);
        self.close_plain(next);
        Ok(())
    }

    /// So many positions further on in a loop, or the last of them that has as many lanes.
    fn further_on(&mut self, scope: ScopeId, l: LoopId, later: i64, lanes: usize) -> String {
        let (step, last) = (self.int(later), self.int(self.dag.extent(l) - lanes as i64));
        let here = self.lin(&Lin::var(l), scope);
        let there = self.op(scope, &format!("arith.addi {here}, {step} : i64"));
        self.op(scope, &format!("arith.minsi {there}, {last} : i64"))
    }

    /// The loop along which lines of so many bytes are chosen until a page is under way, and how many positions that takes.
    /// What is beyond the end of a loop is asked for by nobody, so it is long, if there is such a one.
    fn further(&self, offset: NodeId, home: ScopeId, bytes: i64) -> Option<(LoopId, i64)> {
        let deps = self.dag[offset].deps;
        let (mut run, mut short) = (bytes.max(1), None);
        for (l, _) in self.turns(home).filter(|turn| deps.contains(turn.0)) {
            let (extent, later) = (self.dag.extent(l), later(run));
            if extent >= LONG * later {
                return Some((l, later));
            }
            short = short.or((extent >= 2 * later).then_some((l, later)));
            run = run.saturating_mul(extent);
        }
        short
    }
}
