//! Results that do not fit in the caches go past them.
//!
//! A store into a line that no cache has fetches the line first, for nothing if all of it is stored. Where a kernel of
//! the row emitter stores more than the caches hold, it stores whole lines past them: of a copy of 64 MiB that saves a
//! third of the traffic, and a block that is transposed waits for no line that it ends in. (Tiles of products compute for
//! longer than they store, and gain nothing from it.) A line that is stored in part goes through the caches, so rows are
//! done from line to line where they do not all begin with one.
//!
//! So are rows that leave the nearest caches alone, of kernels that do little but move them: a vector that lies across two
//! lines is stored twice. It goes 1.1 to 1.7 times as fast with rows of 250 to 1000 elements (Sapphire Rapids).

use crate::CodegenError;
use crate::Target;
use crate::address::{Lin, LoopId, LoopSet};
use crate::ahead::{Ask, prefetch};
use crate::dag::{Dag, Node, NodeId};
use crate::emit::{At, Bounds, Elem, Emitter, ScopeId, Val};
use crate::row::Row;
use crate::schedule::{Output, Schedule};
use crate::units::clip;

/// Bytes of a line of memory.
pub(crate) const LINE: i64 = 64;

/// The part of the last cache that stays.
pub(crate) const STAYS: f64 = 0.75;

/// The least bytes of a store that goes past the caches.
const LEAST: usize = 16;

/// Lines of a row that is done from line to line past the caches, and of a part of it.
const PAST: (i64, i64) = (6, 2);

/// Lines of one that stays in them, and of a part of it.
const NEAR: (i64, i64) = (8, 8);

/// Bytes between an end of a row and the one that is asked for meanwhile.
const AHEAD: i64 = 4096;

/// The bytes of the elements that a kernel writes.
pub(crate) fn written(dag: &Dag, outputs: &[Output]) -> f64 {
    outputs.iter().map(|o| dag.points(o.address.loops()) * size(dag, o) as f64).sum()
}

/// Is more written than the caches hold, each element once, with as much that is read? Something else is always there: what
/// fills more than three quarters of them comes from memory again. Copies in whole lines do not wait for that where the last
/// cache is distant ([`Target::distant`]).
fn is_worth(dag: &Dag, outputs: &[Output], last: LoopId, target: &Target) -> bool {
    /// So many times what the second caches hold goes past a distant one.
    const SECOND: usize = 4;
    let once = outputs.iter().all(|o| o.join.is_none());
    let written = written(dag, outputs);
    let copies = reads(dag, outputs, written);
    let moved = if copies { 2.0 * written } else { written };
    let mut most = STAYS * target.last_bytes as f64;
    if copies && target.distant && begin_alike(dag, outputs, last) {
        most = most.min((SECOND * target.threads * target.second_bytes()) as f64);
    }
    target.streams && once && (target.eager || moved >= most)
}

/// Is nothing read that counts, by several threads, and does the last cache take in enough of what is written? The other
/// way, by which lines are fetched, is then free ([`Target::narrow`]).
fn is_absorbed(dag: &Dag, outputs: &[Output], target: &Target) -> bool {
    /// So many times what the last cache holds.
    const MOST: f64 = 2.25;
    let written = written(dag, outputs);
    let fits = written <= MOST * target.last_bytes as f64;
    target.narrow && target.threads > 1 && fits && !reads(dag, outputs, written)
}

/// Is anything read that counts beside so many bytes?
fn reads(dag: &Dag, outputs: &[Output], bytes: f64) -> bool {
    /// A part of them that does not count.
    const LITTLE: f64 = 1.0 / 16.0;
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    dag.reachable(&roots, true).into_iter().any(|n| match &dag[n].node {
        Node::Load { address, .. } => {
            dag.points(address.loops()) * Elem::in_memory(dag[n].dtype).size() as f64 > LITTLE * bytes
        }
        Node::Gather { .. } => true,
        _ => false,
    })
}

/// Does a kernel of the row emitter with this schedule store past the caches?
pub(crate) fn decide(dag: &Dag, outputs: &[Output], schedule: &mut Schedule, target: &Target) {
    let Some(&last) = schedule.order.last().filter(|&&l| is_worth(dag, outputs, l, target)) else { return };
    let [row, part] = least(PAST, target);
    let long = is_long(dag, outputs, dag.extent(last), row);
    let stores_lines = match (&schedule.short, &schedule.braid) {
        (Some(short), _) => short.stores_blocks(dag),
        (_, Some(braid)) => {
            let block = braid.rows.saturating_mul(braid.width);
            outputs.iter().all(|o| block.saturating_mul(size(dag, o)) % LINE == 0)
                && begin_alike_beside(dag, outputs, braid.touched())
        }
        (None, None) => {
            let along = outputs.iter().all(|o| o.address.coeff(last) == 1) && schedule.lanes > 1;
            along && (long || begin_alike(dag, outputs, last) || fill_lines(dag, outputs, &schedule.order))
        }
    };
    schedule.streams = stores_lines && !is_absorbed(dag, outputs, target);
    schedule.shift = (stores_lines && long).then_some(part);
}

/// Rows of a kernel that does little but move them: where they leave the nearest caches at all, parts that begin between
/// lines are done from line to line as well.
pub(crate) fn near(dag: &Dag, outputs: &[Output], schedule: &Schedule, target: &Target) -> Option<i64> {
    let &last = schedule.order.last().filter(|_| schedule.is_plain() && schedule.lanes > 1)?;
    let along = outputs.iter().all(|o| o.join.is_none() && o.address.coeff(last) == 1);
    let [row, part] = least(NEAR, target);
    let long = is_long(dag, outputs, dag.extent(last), row);
    (leaves(dag, outputs, target) && along && long).then_some(part)
}

/// Do results leave the nearest caches, and are vectors lines, so that each that lies across two is stored twice?
pub(crate) fn leaves(dag: &Dag, outputs: &[Output], target: &Target) -> bool {
    let far = target.eager || written(dag, outputs) >= target.cache_bytes as f64;
    far && target.lanes_bytes as i64 == LINE
}

fn least((row, part): (i64, i64), target: &Target) -> [i64; 2] {
    if target.eager { [1; 2] } else { [row * LINE, part * LINE] }
}

/// Do all rows along a loop begin at the same place of a line?
pub(crate) fn begin_alike(dag: &Dag, outputs: &[Output], along: LoopId) -> bool {
    begin_alike_beside(dag, outputs, std::iter::once(along).collect())
}

fn begin_alike_beside(dag: &Dag, outputs: &[Output], along: LoopSet) -> bool {
    outputs.iter().all(|o| {
        let whole = |elements: i64| elements.checked_mul(size(dag, o)).is_some_and(|bytes| bytes % LINE == 0);
        let mut others = o.address.terms.iter().filter(|t| !along.contains(t.0));
        others.all(|t| whole(t.1)) && whole(o.address.offset)
    })
}

/// Are rows parts of lines, the next one behind each? A processor puts such parts together before they leave.
fn fill_lines(dag: &Dag, outputs: &[Output], order: &[LoopId]) -> bool {
    let [.., before, last] = order else { return false };
    outputs.iter().all(|o| {
        let (length, bytes) = (dag.extent(*last), size(dag, o));
        let row = length.saturating_mul(bytes);
        let part = row >= LEAST as i64 && row <= LINE && LINE % row == 0;
        part && o.address.coeff(*before) == length && o.address.offset.saturating_mul(bytes) % row == 0
    })
}

pub(crate) fn size(dag: &Dag, output: &Output) -> i64 {
    Elem::in_memory(dag[output.root].dtype).size() as i64
}

fn is_long(dag: &Dag, outputs: &[Output], count: i64, least: i64) -> bool {
    outputs.iter().all(|o| count.saturating_mul(size(dag, o)) >= least)
}

impl Emitter<'_> {
    /// Stores a whole vector, past the caches if results go there and it does not lie across lines.
    pub(crate) fn put(&mut self, vector: &str, to: &str, (elem, lanes): (Elem, usize), scope: ScopeId) {
        let (ty, size) = (elem.ty(lanes), elem.size());
        let store = |how: &str, bytes: usize| {
            format!("llvm.store {vector}, {to} {{alignment = {bytes} : i64{how}}} : {ty}, !llvm.ptr")
        };
        let line = (lanes * size).min(LINE as usize);
        if !self.streams || line < LEAST || !line.is_power_of_two() {
            return self.line(scope, &store("", size));
        }
        let ahead = self.within_line(to, line as i64, scope);
        let zero = self.int(0);
        let whole = self.op(scope, &format!("arith.cmpi eq, {ahead}, {zero} : i64"));
        let (past, near) = (store(", nontemporal", line), store("", size));
        self.line(scope, &format!("scf.if {whole} {{\n{past}\n}} else {{\n{near}\n}}"));
    }

    /// Where in a line, or a part of so many bytes, an address is.
    pub(crate) fn within_line(&mut self, pointer: &str, line: i64, scope: ScopeId) -> String {
        let address = self.op(scope, &format!("llvm.ptrtoint {pointer} : !llvm.ptr to i64"));
        let within = self.int(line - 1);
        self.op(scope, &format!("arith.andi {address}, {within} : i64"))
    }

    /// Ends a kernel whose results go past the caches: whoever is told that it has run finds them in memory.
    pub(crate) fn fence(&mut self) {
        if self.streams {
            self.line(self.root(), "llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()");
        }
    }
}

/// The lines that a part of a row begins and ends with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// They are stored in part, and asked for.
    Asked,
    /// Most are whole.
    Whole,
}

/// An end of a part of a row.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

impl Row<'_> {
    /// Is a part of the last loop done from line to line?
    pub(crate) fn is_shifted(&self, em: &Emitter<'_>, l: LoopId, (start, end): (i64, i64)) -> bool {
        let Some(least) = self.schedule.shift else { return false };
        let alike = self.is_of_lines(em.dag, l, (start, if em.streams { end } else { start }));
        em.streams == self.schedule.streams
            && self.schedule.short.is_none()
            && !alike
            && is_long(em.dag, self.outputs, end - start, least)
    }

    /// Do these parts of a row go past the caches? Not if one of them, larger than a line, has to go through them: its
    /// lines are fetched while the others wait, up to three times as long as if all went through.
    pub(crate) fn goes_past(&self, dag: &Dag, l: LoopId, parts: &[(i64, i64)]) -> bool {
        let little = |&(start, end): &(i64, i64)| {
            self.outputs.iter().all(|o| (end - start).saturating_mul(size(dag, o)) <= LINE)
        };
        let fits = |&part: &(i64, i64)| match self.schedule.shift {
            Some(least) => is_long(dag, self.outputs, part.1 - part.0, least),
            None => false,
        };
        let of_lines = |part: &(i64, i64)| self.is_of_lines(dag, l, *part);
        parts.len() == 1 || parts.iter().all(|part| little(part) || fits(part) || of_lines(part))
    }

    /// Does a part of every row begin and end with a line?
    pub(crate) fn is_of_lines(&self, dag: &Dag, l: LoopId, (start, end): (i64, i64)) -> bool {
        let whole = |o: &Output, at: i64| {
            at.saturating_mul(o.address.coeff(l)).saturating_mul(size(dag, o)) % LINE == 0
        };
        begin_alike(dag, self.outputs, l) && self.outputs.iter().all(|o| whole(o, start) && whole(o, end))
    }

    /// A part of the last loop from line to line of the first output. Its ends are vectors too, of which only the
    /// elements that belong there are stored.
    pub(crate) fn shifted(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        range: &(Option<String>, Option<String>),
        (start, end, ends): (i64, i64, Ends),
    ) -> Result<(), CodegenError> {
        let [output, ..] = self.outputs else {
            return Err(CodegenError::malformed("a kernel without an output"));
        };
        let elem = Elem::in_memory(em.dag[output.root].dtype);
        let line = LINE / elem.size() as i64;
        let Bounds { low, high, .. } = clip(em, scope, range, (start, end), 1);
        let pointer = em.pointer(output.to)?;
        let [to, last] = [&low, &high]
            .map(|at| em.corner(&pointer, (&output.address, elem), vec![(l, at.clone())], scope));
        // The lines that are stored in part are there when the others are stored, which would wait for them.
        let size = elem.size() as i64;
        let around =
            self.schedule.order.iter().rev().nth(1).map_or(0, |&around| output.address.coeff(around));
        let ahead = if around > 0 { (AHEAD / (around * size) + 1) * around } else { 0 };
        if ends == Ends::Asked {
            prefetch(em, scope, (&last, ahead - 1), elem, Ask::Write);
            if !self.is_of_lines(em.dag, l, (start, start)) {
                prefetch(em, scope, (&to, ahead), elem, Ask::Write);
            }
        }
        let within = em.within_line(&to, LINE, scope);
        let (all, size) = (em.int(LINE), em.int(size));
        let bytes = em.op(scope, &format!("arith.subi {all}, {within} : i64"));
        let bytes = em.op(scope, &format!("arith.remui {bytes}, {all} : i64"));
        let head = em.op(scope, &format!("arith.divui {bytes}, {size} : i64"));
        let head = em.op(scope, &format!("arith.addi {low}, {head} : i64"));
        let first = em.op(scope, &format!("arith.minsi {head}, {high} : i64"));
        self.end(em, scope, l, (&low, &first), (start, end, line), End::First)?;
        let mut from = first;
        // Past the caches goes no part of a line: what is left of the last one goes through them.
        let whole = (self.schedule.lanes as i64).max(if em.streams { line } else { 1 });
        for lanes in std::iter::once(whole).chain((whole > line).then_some(line)) {
            let step = em.int(lanes);
            let left = em.op(scope, &format!("arith.subi {high}, {from} : i64"));
            let rest = em.op(scope, &format!("arith.remsi {left}, {step} : i64"));
            let stop = em.op(scope, &format!("arith.subi {high}, {rest} : i64"));
            let (inner, iv) = em.open_loop(scope, l, lanes as usize);
            em.limit(inner, l, start, end);
            self.point(em, inner)?;
            em.close_loop(inner, &iv, &Bounds { low: from, high: stop.clone(), step }, &[]);
            from = stop;
        }
        self.end(em, scope, l, (&from, &high), (start, end, line), End::Last)
    }

    /// The elements `from..to` of the last loop, fewer than a line has: a vector of which the others do not exist.
    fn end(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        l: LoopId,
        (from, to): (&str, &str),
        (start, end, line): (i64, i64, i64),
        which: End,
    ) -> Result<(), CodegenError> {
        let some = em.op(scope, &format!("arith.cmpi slt, {from}, {to} : i64"));
        let lanes = line as usize;
        // The vector is one line: what it would store nothing of is not fetched.
        let (begin, bound, holds) = match which {
            End::First => {
                let line = em.int(line);
                (em.op(scope, &format!("arith.subi {to}, {line} : i64")), from, "sge")
            }
            End::Last => (from.to_string(), to, "slt"),
        };
        let part = em.open(scope, vec![(l, begin)], Some((l, lanes)));
        em.limit(part, l, start, end);
        let (at, ty) = (At { scope: part, lanes }, Elem::I64.ty(lanes));
        let numbers = em.lin_vector(&Lin::var(l), Elem::I64, at);
        let bound = em.spread(&Val { ssa: bound.to_string(), lanes: 1 }, Elem::I64, at);
        let there = em.op(part, &format!("arith.cmpi {holds}, {numbers}, {bound} : {ty}"));
        em.exist(part, there);
        self.point(em, part)?;
        em.close_if(part, &some);
        Ok(())
    }
}
