//! Emits windows that are unrolled and jammed ([`crate::schedule::unroll_jam`]).

use crate::CodegenError;
use crate::code::Value;
use crate::expression::address::{Guard, GuardFact, Lin, LoopId};
use crate::expression::dag::{Dag, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId, Val};
use crate::lower::reduce::Accumulator;
use crate::lower::row::Row;
use crate::lower::units::{TaskRange, clip, close_all, open_outer};
use crate::machine::elem::Elem;
use crate::schedule::units::Units;
use crate::schedule::unroll_jam::UnrollJam;
use surject_ir::AccOp;

/// A position of the loop over the windows.
#[derive(Clone, Copy)]
enum Place {
    Known(i64),
    Varies(Value),
}

impl Place {
    /// The position of the window that comes so many after it.
    fn position(self, em: &mut Emitter<'_>, scope: ScopeId, window: i64) -> Value {
        match self {
            Place::Known(first) => em.int(first + window),
            Place::Varies(first) => {
                let offset = em.int(window);
                em.arith(scope, "arith.addi", first, offset)
            }
        }
    }

    /// Do all conditions on a window that comes so many after it hold for a written term? In blocks whose place varies they do.
    fn is_inside(self, dag: &Dag, unroll_jam: &UnrollJam, window: usize, term: usize) -> bool {
        let Place::Known(first) = self else { return true };
        unroll_jam.within.iter().all(|g| {
            let at = g.expr.substitute(unroll_jam.along, &Lin::constant(first + window as i64));
            let at = at.and_then(|at| at.substitute(unroll_jam.written, &Lin::constant(term as i64)));
            at.is_some_and(|expr| Guard { expr, bound: g.bound }.fact(&dag.extents) == GuardFact::Always)
        })
    }
}

/// Writes so many windows at a place.
type Inside<'a> = &'a dyn Fn(&mut Emitter<'_>, ScopeId, Place, i64) -> Result<(), CodegenError>;

/// The lanes of a block: the first one, and how many exist.
struct Lanes {
    first: Value,
    active: usize,
}

impl Row<'_> {
    /// All that a kernel computes whose windows are unrolled and jammed.
    pub(crate) fn all_unrolled(
        &self,
        em: &mut Emitter<'_>,
        units: &Units,
        unroll_jam: &UnrollJam,
    ) -> Result<(), CodegenError> {
        let [outer @ .., _, _] = self.schedule.order.as_slice() else {
            return Err(CodegenError::malformed("unrolled windows in less than two loops"));
        };
        let (closing, range) = open_outer(em, units, outer);
        let scope = closing.last().map_or(em.root(), |c| c.scope);
        if unroll_jam.near {
            self.channels(em, scope, &range, &|em, scope, lanes| {
                self.blocks(em, scope, unroll_jam, &|em, scope, place, count| {
                    self.unrolled_block(em, scope, unroll_jam, (place, count, lanes))
                })
            })?;
        } else {
            self.blocks(em, scope, unroll_jam, &|em, scope, place, count| {
                self.channels(em, scope, &range, &|em, scope, lanes| {
                    self.unrolled_block(em, scope, unroll_jam, (place, count, lanes))
                })
            })?;
        }
        close_all(em, closing);
        Ok(())
    }

    /// The loop in lanes.
    fn channels(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        range: &TaskRange,
        inside: &dyn Fn(&mut Emitter<'_>, ScopeId, &Lanes) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let extent = self.schedule.order.last().map_or(1, |&l| em.dag.extent(l));
        let width = self.schedule.lanes as i64;
        let main = extent - extent % width;
        for (low, high, active) in [(0, main, width), (main, extent, extent - main)] {
            if low == high {
                continue;
            }
            let bounds = clip(em, scope, range, low..high, width);
            let inner = em.open(scope, Vec::new(), None);
            let first = em.name();
            inside(em, inner, &Lanes { first, active: active as usize })?;
            em.close_loop(inner, first, &bounds, &[]);
        }
        Ok(())
    }

    /// The loop over the windows, in blocks of so many.
    fn blocks(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        unroll_jam: &UnrollJam,
        inside: Inside<'_>,
    ) -> Result<(), CodegenError> {
        let (count, whole) = (unroll_jam.windows, &unroll_jam.whole);
        let (low, high) = (whole.start, whole.end);
        let extent = em.dag.extent(unroll_jam.along);
        let mut at = 0;
        while at < extent {
            // As many as there are in which nothing lies outside.
            let blocks = if at >= low { (high - at) / count } else { 0 };
            if blocks > 1 {
                let inner = em.open(scope, Vec::new(), None);
                let place = em.name();
                inside(em, inner, Place::Varies(place), count)?;
                let bounds = em.whole(at, at + blocks * count, count);
                em.close_loop(inner, place, &bounds, &[]);
                at += blocks * count;
            } else {
                let count = count.min(extent - at);
                let known = em.open(scope, Vec::new(), None);
                inside(em, known, Place::Known(at), count)?;
                em.close_plain(known);
                at += count;
            }
        }
        Ok(())
    }

    /// Some windows side by side.
    fn unrolled_block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        unroll_jam: &UnrollJam,
        (place, count, lanes): (Place, i64, &Lanes),
    ) -> Result<(), CodegenError> {
        let (dag, dtype) = (em.dag, em.dag[unroll_jam.sum].dtype);
        let width = self.schedule.lanes;
        let types = vec![Elem::of(dtype).ty(width); count as usize];
        let positions: Vec<Value> = (0..count).map(|w| place.position(em, scope, w)).collect();
        // The loops carry the sums of all windows.
        let wide: Vec<Accumulator> =
            (0..count).map(|_| Accumulator::new(em, AccOp::Add, dtype, width)).collect();
        let nest = em.open_nest(scope, &unroll_jam.looped);
        let inner = nest.last().map_or(scope, |l| l.scope);
        let levels = em.levels(&nest, wide.len());
        let neutral: Vec<Value> = wide.iter().map(|w| w.init).collect();
        let sums = levels.last().unwrap_or(&neutral);
        let holds = self.rows_hold(em, inner, &unroll_jam.rows);
        let lane = self.schedule.order.last().copied().unwrap_or(unroll_jam.along);
        let bind = |w: usize, n: Value| vec![(unroll_jam.along, positions[w]), (unroll_jam.written, n)];
        let terms: Vec<Value> = (0..em.dag.extent(unroll_jam.written)).map(|n| em.int(n)).collect();
        let joined =
            |em: &mut Emitter<'_>, scope: ScopeId, (w, n): (usize, usize), body: NodeId, sum: Value| {
                let (own, at) = self.unrolled_lanes(em, scope, (bind(w, terms[n]), lane), lanes);
                let sum = em.join_term(AccOp::Add, body, dtype, sum, at);
                em.close_plain(at.scope);
                em.close_plain(own);
                sum
            };
        let there = |em: &mut Emitter<'_>, scope: ScopeId| {
            let mut sums = sums.clone();
            for n in 0..terms.len() {
                for (w, sum) in sums.iter_mut().enumerate() {
                    let body = if place.is_inside(dag, unroll_jam, w, n) {
                        unroll_jam.inside
                    } else {
                        unroll_jam.outside
                    };
                    *sum = joined(em, scope, (w, n), body, *sum)?;
                }
            }
            Ok::<_, CodegenError>(sums)
        };
        let next = match holds {
            None => there(em, inner)?,
            Some(holds) => {
                let [yes, no] = [(); 2].map(|()| em.open(inner, Vec::new(), None));
                let inside = there(em, yes)?;
                // All windows have the same terms there.
                let mut all = neutral[0];
                for n in 0..terms.len() {
                    all = joined(em, no, (0, n), unroll_jam.outside, all)?;
                }
                let at = At { scope: no, lanes: width };
                let outside = sums.iter().map(|sum| em.join_values(AccOp::Add, dtype, *sum, all, at));
                let outside = outside.collect::<Result<Vec<_>, _>>()?;
                em.close_sides([yes, no], holds, &types, [&inside, &outside])
            }
        };
        let next = em.close_nest(&nest, &levels, &wide, next)?;
        self.sums_of_windows(em, scope, unroll_jam, (&positions, next), lanes)
    }

    /// Stores what is made of the sums of some windows.
    fn sums_of_windows(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        unroll_jam: &UnrollJam,
        (positions, sums): (&[Value], Vec<Value>),
        lanes: &Lanes,
    ) -> Result<(), CodegenError> {
        let lane = self.schedule.order.last().copied().unwrap_or(unroll_jam.along);
        for (position, ssa) in positions.iter().zip(sums) {
            let binds = vec![(unroll_jam.along, *position)];
            let (own, at) = self.unrolled_lanes(em, scope, (binds, lane), lanes);
            em.seed(at.scope, unroll_jam.sum, Val { ssa, lanes: self.schedule.lanes });
            self.point(em, at.scope)?;
            em.close_plain(at.scope);
            em.close_plain(own);
        }
        Ok(())
    }

    /// The scope of some lanes, inside one that binds loops.
    fn unrolled_lanes(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (binds, lane): (Vec<(LoopId, Value)>, LoopId),
        lanes: &Lanes,
    ) -> (ScopeId, At) {
        let width = self.schedule.lanes;
        let own = em.open(scope, binds, None);
        let inner = em.open(own, vec![(lane, lanes.first)], Some((lane, width)));
        em.activate(inner, lanes.active, width);
        (own, At { scope: inner, lanes: width })
    }

    /// Do conditions on rows hold? `None`: there are none.
    fn rows_hold(&self, em: &mut Emitter<'_>, scope: ScopeId, rows: &[Guard]) -> Option<Value> {
        let at = At { scope, lanes: 1 };
        let mut all: Option<Value> = None;
        for guard in rows {
            let value = em.lin(&guard.expr, scope);
            let bound = em.int(guard.bound);
            let holds = em.cmpi(at, "ult", value, bound, Elem::I64);
            all = Some(match all {
                Some(before) => em.bin(at, "arith.andi", before, holds, Elem::I1),
                None => holds,
            });
        }
        all
    }
}
