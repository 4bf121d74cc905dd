//! Kernels that evaluate their outputs point by point: on both sides of a condition that all points share, or in rows.

use crate::code::Op;
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, NodeId};
use crate::expression::output::Output;
use crate::lower::emit::Emitter;
use crate::lower::kernel::{Kernel, bind_pointers, finish, written};
use crate::lower::recipe::Recipe;
use crate::lower::row::{Row, summary};
use crate::lower::{in_place, unswitch};
use crate::machine::elem::Elem;
use crate::schedule::prefetch::{self, PrefetchWhen, When};
use crate::schedule::term_cache::TermCache;
use crate::schedule::units::{Grain, Units, units};
use crate::schedule::{Schedule, gathered_lines};
use crate::{CodegenError, Target};
use std::sync::Arc;

/// Writes a kernel. Tasks may only be cut along the loops of `free`.
pub fn emit(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    target: &Target,
    free: LoopSet,
    term_cache: Option<TermCache>,
) -> Result<Kernel, CodegenError> {
    let units = units(dag, &schedule.order, schedule, target, (free, &Grain::rows(target)));
    emit_units(dag, outputs, schedule, (units, target), term_cache, &|_| Some(When::Soon))
}

/// A kernel that knows what it was made from.
pub(crate) fn whole(
    dag: Dag,
    outputs: Vec<Output>,
    schedule: Schedule,
    free: LoopSet,
    term_cache: Option<TermCache>,
    target: &Target,
) -> Result<Kernel, CodegenError> {
    let kernel = emit(&dag, &outputs, &schedule, target, free, term_cache.clone())?;
    let recipe = Some(Arc::new(Recipe::Row { dag, outputs, schedule, free, term_cache }));
    Ok(Kernel { recipe, ..kernel })
}

/// Writes a kernel whose units of work are decided. `when` says how it prefetches what it reads.
pub(crate) fn emit_units(
    dag: &Dag,
    outputs: &[Output],
    schedule: &Schedule,
    (units, target): (Units, &Target),
    term_cache: Option<TermCache>,
    when: PrefetchWhen<'_>,
) -> Result<Kernel, CodegenError> {
    let mut em = Emitter::new(dag);
    em.tables = schedule.tables;
    // Of a row that is stored twice, what is stored is read again soon.
    em.streams = schedule.streams && term_cache.as_ref().is_none_or(|s| s.to == Buf::OWN);
    let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
    let kept = term_cache.as_ref().map(|s| s.to);
    (em.prefetches, em.prefetches_next_row) = (target.prefetches, target.prefetches_next_row());
    em.far = prefetch::far(dag, (&roots, em.streams), target, &|buf| when(buf).filter(|_| Some(buf) != kept));
    em.lines = gathered_lines::far(dag, &roots, target, when);
    em.far_stores = prefetch::far_stores(dag, outputs, target);
    let buffers = bind_pointers(&mut em, &written(outputs), &roots);
    let cached = term_cache.is_some();
    let kept_in_output = kept.is_some_and(|to| to != Buf::OWN);
    if let Some(term_cache) = term_cache.as_ref().filter(|s| s.to == Buf::OWN) {
        let (root, elem) = (em.root(), Elem::in_memory(term_cache.dtype));
        let count = em.int(term_cache.points(dag));
        let own = em.op(root, Op::Alloca { count, of: elem.ty(1), alignment: Some(64) });
        em.pointers.insert(Buf::OWN, own);
    }
    em.term_cache = term_cache.and_then(|s| em.pointers.get(&s.to).cloned().map(|pointer| (s, pointer)));
    let row = Row { outputs, schedule };
    match unswitch::find(dag, outputs, schedule, target).filter(|_| !cached) {
        Some(condition) => {
            unswitch::write(&mut em, outputs, schedule, condition, target, |em, row| row.all(em, &units))?;
        }
        None => row.all(&mut em, &units)?,
    }
    let last = schedule.order.last().copied();
    let tasks = if last.is_some() { units.tasks } else { 1 };
    let mut kernel = finish(em, buffers, tasks, written(outputs), summary(dag, &roots, schedule, tasks))?;
    kernel.cycles = if last.is_some() { schedule.cycles } else { 0.0 };
    // What is kept in the output is written before all of the row is read.
    if !kept_in_output {
        // A row in pieces is read by all of their tasks; one with cuts may compute a reduction behind a part of it.
        let whole = |l: &LoopId| units.pieces == 1 && row.cuts(dag, *l).is_empty();
        kernel.in_place = in_place::operands(dag, outputs, None, last.filter(whole));
        kernel.copies = in_place::copies(dag, outputs);
    }
    Ok(kernel)
}
