//! The last sums of a chain without what a mask made zero.

use super::{Block, Shared, memories, open_rows, overflow};
use crate::CodegenError;
use crate::expression::address::Lin;
use crate::expression::dag::{Buf, Node};
use crate::kernels::chain::{Chain, ChainTiles, FLAGS, Phase, RowDigit, Scores};
use crate::kernels::contraction::{Condition, Contraction, Tiles, WARP};
use crate::kernels::expression::{Expression, Tensor};
use crate::kernels::lower::contraction::{Listed, Picked, Turns};
use crate::kernels::lower::{Launch, LowerError, Lowered, Lowering};
use crate::kernels::schedule::{Directive, Resolved, Schedule, resolve};
use std::collections::BTreeMap;
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Access, Affine, Builder, Guard, Level, LoopKind, Mem, Place, Space, Type, Value};

/// The kernel of the last sums of a chain, which leaves out what a mask made zero: tiles of which no score is needed, the
/// weight that stands for the others is zero in every row, and values are finite.
/// It is long because it is one kernel, whose parts share threads and memory.
pub(crate) fn lower_listed(
    name: &str,
    chain: &Chain,
    tiles: &Tiles,
    finite: &Expression,
) -> Result<Launch, LowerError> {
    let missing = || CodegenError::malformed("a chain without last sums or a mask");
    let (phase, condition) =
        (chain.last.as_ref().ok_or_else(missing)?, chain.condition.as_ref().ok_or_else(missing)?);
    let resolved =
        resolve(&phase.expression, &Schedule { directives: vec![Directive::Contract(tiles.clone())] })?;
    let c = resolved.contraction.as_ref().ok_or_else(missing)?;
    let mut found: BTreeMap<Tensor, (DType, i64, Access)> = BTreeMap::new();
    for &(tensor, dtype, elements) in phase.expression.memory.values() {
        let access = if tensor == Tensor::Target { Access::Write } else { Access::Read };
        found.insert(tensor, (dtype, elements, access));
    }
    let mut of_mask = Vec::new();
    if let Condition::Value(node, _) = condition {
        let dag = &chain.first.expression.dag;
        for n in dag.all_reachable(&[*node]) {
            if let Node::Load { buf, .. } = dag[n].node
                && let Some(&(tensor, dtype, elements)) = chain.first.expression.memory.get(&buf)
            {
                found.insert(tensor, (dtype, elements, Access::Read));
                of_mask.push((buf, tensor));
            }
        }
    }
    if let Some(&(tensor, dtype, elements)) = finite.memory.get(&FLAGS) {
        found.insert(tensor, (dtype, elements, Access::Read));
    }
    let mut b = Builder::new(name);
    let shared = memories(&mut b, found);
    let of_all = |memory: &mut dyn Iterator<Item = (Buf, Tensor)>| -> Lowered<BTreeMap<Buf, Mem>> {
        memory.map(|(buf, tensor)| Ok((buf, *shared.parameters.get(&tensor).ok_or_else(missing)?))).collect()
    };
    let whole =
        ChainTiles { rows: tiles.tile[0], tiles: [[0; 2]; 2], shares: [tiles.share; 2], scores: Scores::All };
    // Blocks: rows as in a chain, and tiles of columns.
    let mask = of_all(&mut of_mask.into_iter())?;
    let plain = Resolved::form(Vec::new());
    let mut of_scores = Lowering::new(&chain.first.expression, &plain, b, mask);
    let extent = phase.expression.dag.extent(c.loops[1]);
    let columns = (extent + tiles.tile[1] - 1) / tiles.tile[1];
    let mut digits = open_rows(&mut of_scores, chain, whole.rows, columns)?;
    let column = digits.pop().ok_or_else(missing)?;
    let mut row = Affine::from(0);
    for (digit, &RowDigit { step, .. }) in digits.iter().zip(&chain.digits) {
        row = row.plus(digit, step).ok_or_else(overflow)?;
    }
    let block = Block { chain, tiles: &whole, digits, shared: &shared };
    let of_last = phase.expression.memory.iter().map(|(&buf, m)| (buf, m.0));
    let memory = of_all(&mut of_last.into_iter())?;
    let weights = *shared.parameters.get(&Tensor::Var(chain.between[1])).ok_or_else(missing)?;
    block.place_rows(&mut of_scores, &chain.first, &0.into())?;
    let first = of_scores.places.get(&chain.first.row).cloned().ok_or_else(missing)?;
    let count = chain.columns / tiles.tile[2];
    let used = of_scores.b.alloc("used", DType::I64, count, Space::Shared);
    let of_weights = chain.middle.expression.dag[chain.middle.expression.outputs[0].root].dtype;
    for_each_tile(&mut of_scores, tiles.warps(), count, |w, tile, thread| {
        let start = tile.times(tiles.tile[2]).ok_or_else(overflow)?;
        let rows = (chain.first.row, &[][..], first.clone(), whole.rows);
        let mut any = w.any_needed(condition, rows, (chain.first.along, tiles.tile[2]), (&start, thread))?;
        // Every score that is thrown away is the same, and so is its weight in a row.
        let zero = w.b.splat(Scalar::zero(of_weights), 1);
        for step in 0..whole.rows / WARP {
            let own = row.plus(&Affine::from(thread), 1).and_then(|a| a.plus(&(step * WARP).into(), 1));
            let at = own.and_then(|own| start.plus(&own, chain.columns)).ok_or_else(overflow)?;
            let weight = w.b.load(Place::new(weights, at), Type::scalar(of_weights));
            let is_used = w.b.binary(BinaryOp::Ne, weight, zero);
            let is_used = w.b.convert(is_used, DType::I32);
            any = w.b.binary(BinaryOp::Or, any, is_used);
        }
        Ok((used, any, None))
    })?;
    let mut w = Lowering::new(&phase.expression, &resolved, of_scores.b, memory);
    block.place_rows(&mut w, phase, &0.into())?;
    let first = w.places.get(&phase.row).cloned().ok_or_else(missing)?;
    let mut turns = w.turns(c)?;
    let flags = Flags::of(&w, (phase, c), &turns, (finite, &shared))?;
    flags.join(&mut w, (used, count))?;
    turns.picked = Picked::Listed(write_down(&mut w, (used, count), tiles.warps())?);
    w.tile(c, (first, column), &turns)?;
    w.b.close_for(&[]);
    Ok(Launch { kernel: w.b.finish(), tensors: shared.tensors })
}

/// What says which values are finite.
pub(super) struct Flags {
    mem: Mem,
    dtype: DType,
    /// The tiles before those of the rows of the block.
    before: Affine,
}

impl Flags {
    /// Where the loops over rows have their places.
    pub(super) fn of(
        w: &Lowering<'_>,
        (phase, c): (&Phase, &Contraction),
        turns: &Turns,
        (finite, shared): (&Expression, &Shared),
    ) -> Lowered<Flags> {
        let missing = || CodegenError::malformed("flags without memory");
        let &(tensor, dtype, _) = finite.memory.get(&FLAGS).ok_or_else(missing)?;
        let mem = *shared.parameters.get(&tensor).ok_or_else(missing)?;
        let depends = phase.expression.dag[c.parts.right].deps;
        let mut before = Lin::default();
        for (l, step) in phase.flag_rows(depends) {
            let by = step.checked_mul(turns.count).ok_or_else(overflow)?;
            before = before.plus(&Lin::var(l), by).ok_or_else(overflow)?;
        }
        Ok(Flags { mem, dtype, before: w.affine(&before)? })
    }

    /// Joins for every tile of terms whether a value is not finite.
    fn join(&self, w: &mut Lowering<'_>, (used, count): (Mem, i64)) -> Lowered<()> {
        let (thread, _) = w.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let (turn, _) = w.b.open_for(0, (count + WARP - 1) / WARP, 1, LoopKind::Serial, &[]);
        let tile = Affine::from(thread).plus(&turn.into(), WARP).ok_or_else(overflow)?;
        let exists = w.b.holds(vec![Guard { expr: tile.clone(), bound: count.into() }], 1);
        w.b.open_if(exists);
        let is_other = self.is_not_finite(w, &tile)?;
        let is_other = w.b.convert(is_other, DType::I64);
        let own = w.b.load(Place::new(used, tile.clone()), Type::scalar(DType::I64));
        let any = w.b.binary(BinaryOp::Or, own, is_other);
        w.b.store(Place::new(used, tile), any);
        w.b.close_if(&[]);
        (0..2).for_each(|_| _ = w.b.close_for(&[]));
        Ok(())
    }

    /// Is a value of a tile of terms not finite (`i32`)?
    pub(super) fn is_not_finite(&self, w: &mut Lowering<'_>, tile: &Affine) -> Lowered<Value> {
        let at = self.before.plus(tile, 1).ok_or_else(overflow)?;
        let flag = w.b.load(Place::new(self.mem, at), Type::scalar(self.dtype));
        let zero = w.b.splat(Scalar::zero(self.dtype), 1);
        let is_other = w.b.binary(BinaryOp::Ne, flag, zero);
        Ok(w.b.convert(is_other, DType::I32))
    }
}

/// The numbers of the tiles of which an element is not zero.
pub(super) fn write_down(
    w: &mut Lowering<'_>,
    (used, count_of_turns): (Mem, i64),
    warps: i64,
) -> Lowered<Listed> {
    by_one_thread(w, count_of_turns, warps, |w, listed| {
        let zero = w.integer(0);
        // Tiles may be brought before it is known that there are none.
        let (number, _) = w.b.open_for(0, count_of_turns, 1, LoopKind::Serial, &[]);
        w.b.store(Place::new(listed.numbers, number), zero);
        w.b.close_for(&[]);
        let all = append(w, (used, count_of_turns), listed, (zero, BinaryOp::Ne))?;
        w.b.store(Place::new(listed.count, 0), all);
        Ok(())
    })
}

/// The numbers of all tiles: first of those of which an element is not zero, which are counted, then of the others.
pub(super) fn put_in_order(
    w: &mut Lowering<'_>,
    (used, count_of_turns): (Mem, i64),
    warps: i64,
) -> Lowered<Listed> {
    by_one_thread(w, count_of_turns, warps, |w, listed| {
        let zero = w.integer(0);
        let all = append(w, (used, count_of_turns), listed, (zero, BinaryOp::Ne))?;
        w.b.store(Place::new(listed.count, 0), all);
        append(w, (used, count_of_turns), listed, (all, BinaryOp::Eq))?;
        Ok(())
    })
}

/// Makes a list, which one thread writes.
fn by_one_thread(
    w: &mut Lowering<'_>,
    count_of_turns: i64,
    warps: i64,
    f: impl FnOnce(&mut Lowering<'_>, Listed) -> Lowered<()>,
) -> Lowered<Listed> {
    let numbers = w.b.alloc("turns", DType::I64, count_of_turns, Space::Shared);
    let count = w.b.alloc("count", DType::I64, 1, Space::Shared);
    let (warp, _) = w.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
    let (thread, _) = w.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
    let only = [warp, thread].map(|agent| Guard { expr: agent.into(), bound: 1.into() });
    let is_first = w.b.holds(only.to_vec(), 1);
    w.b.open_if(is_first);
    let listed = Listed { numbers, count };
    f(w, listed)?;
    w.b.close_if(&[]);
    (0..2).for_each(|_| _ = w.b.close_for(&[]));
    Ok(listed)
}

/// Writes the numbers of tiles behind so many others, of which an element compares with zero: how many there are then.
fn append(
    w: &mut Lowering<'_>,
    (used, count_of_turns): (Mem, i64),
    listed: Listed,
    (behind, compare): (Value, BinaryOp),
) -> Lowered<Value> {
    let zero = w.integer(0);
    let (number, carried) = w.b.open_for(0, count_of_turns, 1, LoopKind::Serial, &[behind]);
    let is_used = w.b.load(Place::new(used, number), Type::scalar(DType::I64));
    let is_used = w.b.binary(compare, is_used, zero);
    let value = w.number(&number.into());
    let place = Place { offset: Some(carried[0]), mask: Some(is_used), ..Place::new(listed.numbers, 0) };
    w.b.store(place, value);
    let next = w.number(&Affine::from(carried[0]).plus(&1.into(), 1).ok_or_else(overflow)?);
    let next = w.b.select(is_used, next, carried[0]);
    Ok(w.b.close_for(&[next])[0])
}

/// Runs something for every tile, each by a warp, and stores whether it gives anything but zero.
pub(super) fn for_each_tile(
    w: &mut Lowering<'_>,
    warps: i64,
    tiles: i64,
    f: impl FnOnce(&mut Lowering<'_>, Affine, Value) -> Lowered<(Mem, Value, Option<Value>)>,
) -> Lowered<()> {
    let (warp, _) = w.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
    let (thread, _) = w.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
    let (turn, _) = w.b.open_for(0, (tiles + warps - 1) / warps, 1, LoopKind::Serial, &[]);
    let depth = w.frames.len();
    let tile = Affine::from(warp).plus(&turn.into(), warps).ok_or_else(overflow)?;
    let exists = w.b.holds(vec![Guard { expr: tile.clone(), bound: tiles.into() }], 1);
    w.b.open_if(exists);
    let (mem, own, also) = f(w, tile.clone(), thread)?;
    let mut any = w.any_of_warp(own);
    if let Some(also) = also {
        any = w.b.binary(BinaryOp::Or, any, also);
    }
    let any = w.b.convert(any, DType::I64);
    let only = vec![Guard { expr: thread.into(), bound: 1.into() }];
    w.b.store(Place { guards: only, ..Place::new(mem, tile) }, any);
    w.b.close_if(&[]);
    w.frames.truncate(depth);
    (0..3).for_each(|_| _ = w.b.close_for(&[]));
    Ok(())
}
