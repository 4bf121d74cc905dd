//! Chains: the products of some rows go into a window of shared memory, rows are computed there, and multiplied.
//!
//! The phases of a block follow each other: which tiles of the first sums are needed, these sums, the rows, which tiles
//! of weights are not zero, the last sums. Threads wait for each other between them.

mod kernels;
mod listed;
mod online;

pub use kernels::ChainKernels;

use crate::kernels::chain::RowDigit;
use crate::kernels::contraction::SubTile;
use listed::lower_listed;
use online::lower_online;

use super::super::chain::{Chain, ChainTiles, FLAGS, Phase};
use super::super::contraction::{Condition, Contraction, GROUP_ROWS, Share, Tiles, WARP, WIDEST};
use super::super::expression::{Expression, Tensor};
use super::super::schedule::{Axis, Directive, Resolved, Schedule, resolve};
use super::contraction::{Listed, Picked, Turns};
use super::{Launch, LowerError, Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Buf, Node};
use listed::{Flags, for_each_tile, write_down};
use std::collections::{BTreeMap, HashMap};
use surject_ir::{BinaryOp, DType, Scalar};
use surject_kernel::{Access, Affine, Builder, Guard, Level, LoopKind, Mem, Place, Space, Type};

/// Rows of a tensor in shared memory, in the place of the tensor.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The loops over rows, whose part of an address the row of the window replaces.
    rows: Vec<LoopId>,
    /// Elements of a row.
    columns: i64,
    /// The row of the window.
    row: Row,
}

/// The row of a window.
#[derive(Clone, Debug)]
enum Row {
    /// Where a loop is, behind its first row.
    Of(LoopId, Affine),
    /// This one.
    At(Affine),
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a chain")
}

/// The most parts of a row that are written out.
const WRITTEN: i64 = 64;

/// The memory that the phases share.
struct Shared {
    parameters: HashMap<Tensor, Mem>,
    tensors: Vec<Tensor>,
    /// The first sums and the rows.
    windows: [Mem; 2],
}

/// The kernel of a chain; with what says which values are finite.
pub(crate) fn lower_chain(
    name: &str,
    chain: &Chain,
    tiles: &ChainTiles,
    finite: Option<&Expression>,
) -> Result<Launch, LowerError> {
    let mut b = Builder::new(name);
    let cut = chain.tiles(tiles).map_err(CodegenError::malformed)?;
    let resolved = |expression: &Expression, tiles: &Tiles| {
        resolve(expression, &Schedule { directives: vec![Directive::Contract(tiles.clone())] })
    };
    let first = resolved(&chain.first.expression, &cut[0])?;
    let middle = resolve(&chain.middle.expression, &of_rows(&chain.middle)?)?;
    let last = match (&chain.last, cut.get(1)) {
        (Some(last), Some(tiles)) => Some((last, resolved(&last.expression, tiles)?)),
        _ => None,
    };
    let mut shared = parameters(&mut b, chain, finite);
    let mut lowering = Lowering::new(&chain.first.expression, &first, b, BTreeMap::new());
    let mut digits = open_rows(&mut lowering, chain, tiles.rows, 1)?;
    digits.pop();
    let alloc = |b: &mut Builder, name: &str, phase: &Phase| {
        let dtype = phase.expression.dag[phase.expression.outputs[0].root].dtype;
        b.alloc(name, dtype, tiles.rows * chain.columns, Space::Shared)
    };
    shared.windows[0] = alloc(&mut lowering.b, "scores", &chain.first);
    shared.windows[1] = match chain.window_bytes().weights {
        0 => shared.windows[0],
        _ => alloc(&mut lowering.b, "weights", &chain.middle),
    };
    let block = Block { chain, tiles, digits, shared: &shared };
    let mut b = block.sums(lowering, &first)?;
    b = block.rows(b, &middle)?;
    if let Some((last, resolved)) = &last {
        b = block.products(b, (last, resolved), finite)?;
    }
    b.close_for(&[]);
    Ok(Launch { kernel: b.finish(), tensors: shared.tensors })
}

/// Opens the loop over blocks: the digits of the first row of each, of the fastest of which a block has some, the fastest
/// one first; then the number of the block among those of the same rows.
fn open_rows(w: &mut Lowering<'_>, chain: &Chain, rows: i64, beside: i64) -> Lowered<Vec<Affine>> {
    let mut sizes: Vec<i64> = chain.digits.iter().rev().map(|d| d.values).collect();
    if let Some(fastest) = sizes.last_mut() {
        *fastest /= rows;
    }
    sizes.push(beside);
    let mut digits = w.open_grid(&sizes)?;
    let number = digits.pop();
    digits.reverse();
    if let Some(fastest) = digits.first_mut() {
        *fastest = fastest.times(rows).ok_or_else(overflow)?;
    }
    digits.extend(number);
    Ok(digits)
}

/// The parameters: what the expressions load that is no window, and what the last one stores.
fn parameters(b: &mut Builder, chain: &Chain, finite: Option<&Expression>) -> Shared {
    let mut found: BTreeMap<Tensor, (DType, i64, Access)> = BTreeMap::new();
    let expressions = chain.expressions();
    for (number, expression) in expressions.iter().enumerate() {
        let is_last = number + 1 == expressions.len();
        for &(tensor, dtype, elements) in expression.memory.values() {
            let access = if tensor == Tensor::Target { Access::Write } else { Access::Read };
            let between = chain.between.iter().any(|&var| tensor == Tensor::Var(var));
            if !between && (is_last || access == Access::Read) {
                found.insert(tensor, (dtype, elements, access));
            }
        }
    }
    if let Some(flags) = finite
        && let Some(&(tensor, dtype, elements)) = flags.memory.get(&FLAGS)
    {
        found.insert(tensor, (dtype, elements, Access::Read));
    }
    memories(b, found)
}

/// Parameters of a kernel.
fn memories(b: &mut Builder, found: BTreeMap<Tensor, (DType, i64, Access)>) -> Shared {
    let mut shared = Shared { parameters: HashMap::new(), tensors: Vec::new(), windows: [Mem(0); 2] };
    for (tensor, (dtype, elements, access)) in found {
        let name = match tensor {
            Tensor::Var(var) => format!("v{}", var.0),
            Tensor::Target => "out".to_string(),
            Tensor::Temporary(number) => format!("t{number}"),
        };
        shared.parameters.insert(tensor, b.parameter(name, dtype, elements, access));
        shared.tensors.push(tensor);
    }
    shared
}

/// The schedule of a row: the threads of a warp share it, and keep their parts in registers.
fn of_rows(phase: &Phase) -> Result<Schedule, CodegenError> {
    let expression = &phase.expression;
    let mut names = vec![expression.name(phase.along)];
    for n in expression.nodes() {
        if let Node::Reduce { loops, .. } = &expression.dag[n].node {
            let all: Vec<String> = loops.iter().map(|&l| expression.name(l)).collect();
            names.extend(all.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
        }
    }
    let columns = expression.dag.extent(phase.along);
    let most = WIDEST / expression.element_bytes().max(1) as i64;
    let lanes = if columns % most.max(1) == 0 && columns >= WARP * most { most.max(1) } else { 1 };
    if columns > WRITTEN * WARP * lanes {
        return Err(CodegenError::unsupported(format!("rows of {columns} elements in a chain")));
    }
    let mut directives = Vec::new();
    for name in &names {
        let (outer, inner) = (format!("{name}.o"), format!("{name}.i"));
        directives.push(Directive::Split(name.clone(), WARP * lanes));
        let mut order = vec![outer.clone()];
        if lanes > 1 {
            directives.push(Directive::Split(inner.clone(), lanes));
            order.extend([format!("{inner}.o"), format!("{inner}.i")]);
            directives.push(Directive::Vectorise(format!("{inner}.i")));
        } else {
            order.push(inner);
        }
        directives.push(Directive::Parallel(order[1].clone(), Level::Thread));
        directives.push(Directive::Unroll(outer));
        if *name == names[0] {
            let others = expression.loops.iter().filter(|&&l| l != phase.along);
            let others: Vec<String> = others.map(|&l| expression.name(l)).collect();
            order.splice(0..0, others.iter().cloned());
            directives.push(Directive::Order(order));
            // Which row it is the block knows.
            directives.extend(others.into_iter().map(|name| Directive::Parallel(name, Level::Block)));
            continue;
        }
        directives.push(Directive::Order(order));
    }
    Ok(Schedule { directives })
}

/// A block with its rows.
struct Block<'a> {
    chain: &'a Chain,
    tiles: &'a ChainTiles,
    /// Where the first row of the block is, in digits, the fastest one first.
    digits: Vec<Affine>,
    shared: &'a Shared,
}

impl Block<'_> {
    fn memory(&self, expression: &Expression, windows: &[(Tensor, Mem)]) -> Lowered<BTreeMap<Buf, Mem>> {
        let mut memory = BTreeMap::new();
        for (&buf, &(tensor, ..)) in &expression.memory {
            let window = windows.iter().find(|w| w.0 == tensor).map(|w| w.1);
            let mem = window.or_else(|| self.shared.parameters.get(&tensor).copied());
            memory.insert(buf, mem.ok_or_else(|| CodegenError::malformed("a tensor without memory"))?);
        }
        Ok(memory)
    }

    /// Says where the loops over rows are, so many rows behind the first one of the block.
    fn place_rows(&self, w: &mut Lowering<'_>, phase: &Phase, behind: &Affine) -> Lowered<()> {
        for &l in &phase.expression.loops {
            if phase.expression.dag.extent(l) == 1 && l != phase.along {
                w.set(l, 0.into());
            }
        }
        for &(l, step) in &phase.rows {
            let end = step * phase.expression.dag.extent(l);
            let mut at = if step == 1 { behind.clone() } else { Affine::from(0) };
            for (digit, &RowDigit { step: own, .. }) in self.digits.iter().zip(&self.chain.digits) {
                if step <= own && own < end {
                    at = at.plus(digit, own / step).ok_or_else(overflow)?;
                }
            }
            w.set(l, at);
        }
        Ok(())
    }

    fn window(&self, w: &Lowering<'_>, phase: &Phase, tensor: Tensor, row: Row) -> Vec<(Buf, Window)> {
        let rows: Vec<LoopId> = phase.rows.iter().map(|r| r.0).collect();
        let bufs = w.expression.memory.iter().filter(|(_, m)| m.0 == tensor).map(|(&buf, _)| buf);
        let window =
            |buf: Buf| (buf, Window { rows: rows.clone(), columns: self.chain.columns, row: row.clone() });
        bufs.map(window).collect()
    }

    /// The first sums.
    fn sums(&self, mut w: Lowering<'_>, resolved: &Resolved) -> Lowered<Builder> {
        let phase = &self.chain.first;
        let missing = || CodegenError::malformed("a product without tiles");
        let c = resolved.contraction.as_ref().ok_or_else(missing)?;
        let target = (Tensor::Target, self.shared.windows[0]);
        w.memory = self.memory(&phase.expression, &[target])?;
        self.place_rows(&mut w, phase, &0.into())?;
        let first = w.places.get(&phase.row).cloned().ok_or_else(missing)?;
        let windows = self.window(&w, phase, target.0, Row::Of(phase.row, first.clone()));
        w.windows.extend(windows);
        let columns = (self.chain.columns + c.tiles.tile[1] - 1) / c.tiles.tile[1];
        let mut turns = w.turns(c)?;
        let needed = match &self.chain.condition {
            Some(condition) => Some(self.needed(&mut w, c, condition, (&first, columns))?),
            None => None,
        };
        let memory = w.side_memory(c, stages(c, &turns))?;
        let (tile, _) = w.b.open_for(0, columns, 1, LoopKind::Serial, &[]);
        let depth = w.frames.len();
        if let Some(needed) = needed {
            turns.picked = Picked::Where(needed, tile.into(), 1);
        }
        w.tile_of_chain(c, &memory, (first, tile.into()), &turns)?;
        w.frames.truncate(depth);
        w.b.close_for(&[]);
        Ok(w.b)
    }

    /// For every tile of columns whether any of its sums is needed.
    fn needed(
        &self,
        w: &mut Lowering<'_>,
        c: &Contraction,
        condition: &Condition,
        (first, tiles): (&Affine, i64),
    ) -> Lowered<Mem> {
        let (phase, [rows, columns, _]) = (&self.chain.first, c.tiles.tile);
        let needed = w.b.alloc("needed", DType::I64, tiles, Space::Shared);
        for_each_tile(w, c.tiles.warps(), tiles, |w, tile, thread| {
            let first_column = tile.times(columns).ok_or_else(overflow)?;
            let rows = (phase.row, &[][..], first.clone(), rows);
            let any = w.any_needed(condition, rows, (phase.along, columns), (&first_column, thread))?;
            Ok((needed, any, None))
        })?;
        Ok(needed)
    }

    /// Rows, each by a warp.
    fn rows(&self, b: Builder, resolved: &Resolved) -> Lowered<Builder> {
        let phase = &self.chain.middle;
        let scores = (Tensor::Var(self.chain.between[0]), self.shared.windows[0]);
        let weights = (Tensor::Target, self.shared.windows[1]);
        let mut windows = vec![scores];
        windows.extend(self.chain.last.is_some().then_some(weights));
        let memory = self.memory(&phase.expression, &windows)?;
        let mut w = Lowering::new(&phase.expression, resolved, b, memory);
        let warps = self.warps();
        let (warp, _) = w.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = w.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let each = self.tiles.rows / warps;
        let (row, _) = w.b.open_for(0, each, 1, LoopKind::Serial, &[]);
        let own = Affine::from(warp).times(each).and_then(|a| a.plus(&row.into(), 1)).ok_or_else(overflow)?;
        w.thread = Some(thread);
        self.place_rows(&mut w, phase, &own)?;
        for window in windows {
            let found = self.window(&w, phase, window.0, Row::At(own.clone()));
            w.windows.extend(found);
        }
        w.kept = Some(HashMap::new());
        let of_row = |a: &&Axis| a.of != phase.along;
        let axes: Vec<Axis> = resolved.points.iter().filter(|a| !of_row(a)).cloned().collect();
        w.nest(&axes, 0, 0)?;
        (0..3).for_each(|_| _ = w.b.close_for(&[]));
        Ok(w.b)
    }

    fn warps(&self) -> i64 {
        match self.tiles.shares[0] {
            Share::Thread(SubTile { rows, columns: _ }) | Share::Warp(rows) => self.tiles.rows / rows.max(1),
            Share::Grid { own: SubTile { rows, columns: _ }, across } => {
                self.tiles.rows / rows.saturating_mul(WARP / across.max(1)).max(1)
            }
            Share::Warps(SubTile { rows, columns }) => {
                self.tiles.rows / rows.max(1) * (self.tiles.tiles[0][0] / columns.max(1))
            }
            Share::Group(_) => self.tiles.rows / GROUP_ROWS,
        }
    }

    /// The last sums.
    fn products(
        &self,
        b: Builder,
        (phase, resolved): (&Phase, &Resolved),
        finite: Option<&Expression>,
    ) -> Lowered<Builder> {
        let missing = || CodegenError::malformed("a product without tiles");
        let c = resolved.contraction.as_ref().ok_or_else(missing)?;
        let weights = (Tensor::Var(self.chain.between[1]), self.shared.windows[1]);
        let memory = self.memory(&phase.expression, &[weights])?;
        let mut w = Lowering::new(&phase.expression, resolved, b, memory);
        self.place_rows(&mut w, phase, &0.into())?;
        let first = w.places.get(&phase.row).cloned().ok_or_else(missing)?;
        let windows = self.window(&w, phase, weights.0, Row::Of(phase.row, first.clone()));
        w.windows.extend(windows);
        let mut turns = w.turns(c)?;
        if let Some(finite) = finite {
            let listed = self.listed(&mut w, (phase, c), &turns, finite)?;
            turns.picked = Picked::Listed(listed);
        }
        let (_, column) = (c.loops[0], c.loops[1]);
        let extent = phase.expression.dag.extent(column);
        let columns = (extent + c.tiles.tile[1] - 1) / c.tiles.tile[1];
        let memory = w.side_memory(c, stages(c, &turns))?;
        let (tile, _) = w.b.open_for(0, columns, 1, LoopKind::Serial, &[]);
        let depth = w.frames.len();
        w.tile_of_chain(c, &memory, (first, tile.into()), &turns)?;
        w.frames.truncate(depth);
        w.b.close_for(&[]);
        Ok(w.b)
    }

    /// The tiles of terms whose weights are not all zero, or whose values are not finite.
    fn listed(
        &self,
        w: &mut Lowering<'_>,
        (phase, c): (&Phase, &Contraction),
        turns: &Turns,
        finite: &Expression,
    ) -> Lowered<Listed> {
        let (rows, terms) = (self.tiles.rows, c.tiles.tile[2]);
        let window = self.shared.windows[1];
        let flags = Flags::of(w, (phase, c), turns, (finite, self.shared))?;
        let used = w.b.alloc("used", DType::I64, turns.count, Space::Shared);
        let of_weights = self.chain.middle.expression.dag[self.chain.middle.expression.outputs[0].root].dtype;
        for_each_tile(w, c.tiles.warps(), turns.count, |w, tile, thread| {
            let none = w.b.splat(Scalar::from_i128(DType::I32, 0), 1);
            let zero = w.b.splat(Scalar::zero(of_weights), 1);
            let (row, carried) = w.b.open_for(0, rows, 1, LoopKind::Serial, &[none]);
            let mut any = carried[0];
            for step in 0..(terms + WARP - 1) / WARP {
                let own = Affine::from(thread).plus(&(step * WARP).into(), 1).ok_or_else(overflow)?;
                let column = tile.times(terms).and_then(|t| t.plus(&own, 1)).ok_or_else(overflow)?;
                let at = column.plus(&row.into(), self.chain.columns).ok_or_else(overflow)?;
                let guards = vec![
                    Guard { expr: own, bound: terms.into() },
                    Guard { expr: column, bound: self.chain.columns.into() },
                ];
                let weight = w.b.load(Place { guards, ..Place::new(window, at) }, Type::scalar(of_weights));
                let is_used = w.b.binary(BinaryOp::Ne, weight, zero);
                let is_used = w.b.convert(is_used, DType::I32);
                any = w.b.binary(BinaryOp::Or, any, is_used);
            }
            let any = w.b.close_for(&[any])[0];
            let is_other = flags.is_not_finite(w, &tile)?;
            Ok((used, any, Some(is_other)))
        })?;
        write_down(w, (used, turns.count), c.tiles.warps())
    }
}

/// Stages of shared memory.
fn stages(c: &Contraction, turns: &Turns) -> i64 {
    match c.tiles.share {
        Share::Thread(_) | Share::Grid { .. } => turns.count.min(2),
        Share::Warp(_) | Share::Warps(_) | Share::Group(_) => 1,
    }
}

impl Lowering<'_> {
    /// The element of a window that stands for one of its tensor.
    pub(super) fn in_window(&self, window: &Window, address: &Lin) -> Lowered<Affine> {
        let terms = address.terms.iter().copied().filter(|t| !window.rows.contains(&t.0)).collect();
        let within = self.affine(&Lin { terms, offset: address.offset })?;
        let row = match &window.row {
            Row::At(row) => row.clone(),
            Row::Of(l, first) => {
                let at =
                    self.places.get(l).ok_or_else(|| CodegenError::malformed("a loop that is not open"))?;
                at.plus(first, -1).ok_or_else(overflow)?
            }
        };
        within.plus(&row, window.columns).ok_or_else(overflow)
    }
}
