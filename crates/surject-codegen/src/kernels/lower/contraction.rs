//! Sums of products by tiles: blocks bring tiles of both values into shared memory, and each thread sums the products of
//! some rows and columns in registers.
//!
//! A warp has some rows of the tile, which all of its threads read at once; the columns of its threads lie next to each
//! other. Where a value lies along its terms in memory, the threads of a warp bring terms, else rows or columns.

use super::super::contraction::Contraction;
use super::super::schedule::WARP;
use super::{Frame, Lowered, Lowering, joined_in};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Node, NodeId};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Guard, Level, LoopKind, Mem, Op, Place, Space, Type, Value};

/// Elements between the rows of a tile, so that they lie in other banks: as many as are accessed at once.
const PAD: i64 = 4;

/// The bytes that a thread accesses at once.
const WIDEST: i64 = 16;

/// A value that is brought into shared memory.
struct Side {
    node: NodeId,
    mem: Mem,
    /// Its own loop, the first row or column of the tile, and how many there are.
    own: LoopId,
    first: Affine,
    size: i64,
}

impl Side {
    /// The elements from the values of one term to those of the next.
    fn pitch(&self) -> i64 {
        self.size + PAD
    }
}

impl Lowering<'_> {
    /// The kernel of a sum of products.
    pub(super) fn contraction(&mut self, c: &Contraction) -> Lowered<()> {
        let expression = self.expression;
        let [m, n, k] = c.loops;
        let [rows, columns, terms] = c.tiles.tile;
        let extent = |l: LoopId| expression.dag.extent(l);
        let tiles = |l: LoopId, by: i64| (extent(l) + by - 1) / by;
        // Blocks: one further loop over points, tiles of rows, tiles of columns. Other loops run in the block.
        let mut others: Vec<LoopId> =
            expression.loops.iter().copied().filter(|l| ![m, n].contains(l)).collect();
        others.sort_by_key(|&l| std::cmp::Reverse(extent(l)));
        let mut opened = 0;
        let blocks =
            |b: &mut Self, count: i64| b.b.open_for(0, count, 1, LoopKind::Parallel(Level::Block), &[]).0;
        if let Some(&first) = others.first() {
            let number = blocks(self, extent(first));
            self.set(first, number.into());
            opened += 1;
        }
        let (row_tile, column_tile) = (blocks(self, tiles(m, rows)), blocks(self, tiles(n, columns)));
        opened += 2;
        for &l in others.iter().skip(1) {
            let (number, _) = self.b.open_for(0, extent(l), 1, LoopKind::Serial, &[]);
            self.opened.push(LoopKind::Serial);
            self.set(l, number.into());
            opened += 1;
        }
        let dtype = |n: NodeId| expression.dag[n].dtype;
        let side = |b: &mut Self, name: &str, node: NodeId, own: LoopId, tile: Value, size: i64| {
            let elements = terms * (size + PAD);
            let mem = b.b.alloc(name, dtype(node), elements, Space::Shared);
            let first = Affine::from(tile).times(size).ok_or_else(|| CodegenError::overflow("a tile"))?;
            Ok::<Side, CodegenError>(Side { node, mem, own, first, size })
        };
        let left = side(self, "left", c.parts.left, m, row_tile, rows)?;
        let right = side(self, "right", c.parts.right, n, column_tile, columns)?;
        let warps = c.tiles.warps();
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        // The sums, row by row.
        let joined = joined_in(dtype(c.parts.sum), AccOp::Add);
        let [own_rows, lanes] = c.tiles.thread;
        let zero = self.b.splat(Scalar::zero(joined), lanes as usize);
        let mut sums = vec![zero; (own_rows * c.tiles.groups()) as usize];
        // Further loops of the sum stand around that over tiles.
        let Node::Reduce { loops, .. } = &expression.dag[c.parts.sum].node else {
            return Err(CodegenError::malformed("a sum that is none"));
        };
        let around: Vec<LoopId> = loops.iter().copied().filter(|&l| l != k).collect();
        let mut serial = 0;
        for (l, count) in around.iter().map(|&l| (Some(l), extent(l))).chain([(None, tiles(k, terms))]) {
            let (number, carried) = self.b.open_for(0, count, 1, LoopKind::Serial, &sums);
            sums = carried;
            serial += 1;
            match l {
                Some(l) => self.set(l, number.into()),
                None => {
                    let first = Affine::from(number).times(terms);
                    let first = first.ok_or_else(|| CodegenError::overflow("a tile"))?;
                    // What the tiles before were read for is over.
                    self.b.effect(Op::Barrier(Level::Block));
                    self.bring(&left, (k, &first, terms), &agents)?;
                    self.bring(&right, (k, &first, terms), &agents)?;
                    self.b.effect(Op::Barrier(Level::Block));
                    sums = self.products(c, (&left, &right), joined, &agents, sums)?;
                }
            }
        }
        for _ in 0..serial {
            sums = self.b.close_for(&sums);
        }
        self.results(c, (&left, &right), &agents, sums)?;
        (0..opened + 2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// Says where a loop is.
    fn set(&mut self, l: LoopId, at: Affine) {
        self.places.insert(l, at);
        self.frames.push(Frame { binds: std::iter::once(l).collect(), values: HashMap::new() });
    }

    /// Brings a tile of a value into shared memory: `terms` of the loop `k` from the first on.
    fn bring(
        &mut self,
        side: &Side,
        (k, first, terms): (LoopId, &Affine, i64),
        agents: &Agents,
    ) -> Lowered<()> {
        let dag = &self.expression.dag;
        let strides = |l: LoopId| -> Vec<i64> {
            let nodes = dag.reachable(&[side.node], true);
            let loads = nodes.into_iter().filter_map(|n| match &dag[n].node {
                Node::Load { address, .. } => Some(address.coeff(l)),
                _ => None,
            });
            loads.filter(|&s| s != 0).collect()
        };
        let next = |l: LoopId| {
            let all = strides(l);
            !all.is_empty() && all.iter().all(|&s| s == 1)
        };
        let dtype = dag[side.node].dtype;
        let along_terms = next(k) && !next(side.own);
        // Several at once where they lie next to each other and rows begin at multiples of them.
        let most = WIDEST / dtype.size().max(1) as i64;
        let fits = next(side.own) && dag.extent(side.own) % most == 0 && side.size % (WARP * most) == 0;
        let lanes = if fits && PAD % most == 0 { most } else { 1 };
        let (across, along) = match along_terms {
            true => (side.size, terms / WARP),
            false => (terms, side.size / (WARP * lanes)),
        };
        let total = dag.extent(k);
        let cut = total % terms != 0;
        let overflow = || CodegenError::overflow("a tile");
        for s in 0..(across + agents.warps - 1) / agents.warps {
            for t in 0..along {
                let by_warp = Affine::from(agents.warp)
                    .plus(&Affine::from(s * agents.warps), 1)
                    .ok_or_else(overflow)?;
                let by_thread = Affine::from(agents.thread).times(lanes).ok_or_else(overflow)?;
                let by_thread = by_thread.plus(&Affine::from(t * WARP * lanes), 1).ok_or_else(overflow)?;
                let (own, term) = if along_terms { (by_warp, by_thread) } else { (by_thread, by_warp) };
                let (depth, outside) = (self.frames.len(), self.lanes);
                let mut at = side.first.plus(&own, 1).ok_or_else(overflow)?;
                if lanes > 1 {
                    at = at.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                    self.lanes = Some((side.own, lanes as usize));
                }
                self.set(side.own, at);
                self.set(k, first.plus(&term, 1).ok_or_else(overflow)?);
                let value = self.value(side.node)?;
                let mut value = self.b.broadcast(value, lanes as usize);
                if cut {
                    // Terms that do not exist are zero on both sides.
                    let guard = Guard { expr: self.affine(&Lin::var(k))?, bound: total.into() };
                    let exists = self.b.holds(vec![guard], lanes as usize);
                    let zero = self.b.splat(Scalar::zero(dtype), lanes as usize);
                    value = self.b.select(exists, value, zero);
                }
                let mut to = own.plus(&term, side.pitch()).ok_or_else(overflow)?;
                if lanes > 1 {
                    to = to.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                }
                self.b.store(Place::new(side.mem, to), value);
                self.frames.truncate(depth);
                self.lanes = outside;
            }
        }
        Ok(())
    }

    /// Adds the products of a tile to the sums.
    fn products(
        &mut self,
        c: &Contraction,
        (left, right): (&Side, &Side),
        joined: DType,
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<Vec<Value>> {
        /// Terms that are written out.
        const TERMS: i64 = 4;
        let [rows, lanes] = c.tiles.thread;
        let overflow = || CodegenError::overflow("a tile");
        let dtype = |side: &Side| self.expression.dag[side.node].dtype;
        let (left_type, right_type) = (dtype(left), dtype(right));
        let at_once = WIDEST / left_type.size().max(1) as i64;
        let at_once = if rows % at_once == 0 && PAD % at_once == 0 { at_once } else { 1 };
        let (number, mut sums) = self.b.open_for(0, c.tiles.tile[2], TERMS, LoopKind::Serial, &sums);
        for term in 0..TERMS {
            let of_term = |side: &Side| {
                let term = Affine::from(number).plus(&Affine::from(term), 1)?;
                term.times(side.pitch())
            };
            let mut values = Vec::new();
            for row in (0..rows).step_by(at_once as usize) {
                let own = Affine::from(agents.warp).times(rows).ok_or_else(overflow)?;
                let at = of_term(left).and_then(|t| t.plus(&own, 1)).and_then(|t| t.plus(&row.into(), 1));
                let mut at = at.ok_or_else(overflow)?;
                if at_once > 1 {
                    at = at.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                }
                let some = self.b.load(Place::new(left.mem, at), Type::vector(left_type, at_once as usize));
                for lane in 0..at_once {
                    let one = match at_once {
                        1 => some,
                        _ => self.b.pure(Op::Extract(some, lane as usize), Type::scalar(left_type)),
                    };
                    values.push(self.b.broadcast(one, lanes as usize));
                }
            }
            for group in 0..c.tiles.groups() {
                let own = Affine::from(agents.thread).times(lanes).ok_or_else(overflow)?;
                let at = of_term(right)
                    .and_then(|t| t.plus(&own, 1))
                    .and_then(|t| t.plus(&Affine::from(group * WARP * lanes), 1));
                let mut at = at.ok_or_else(overflow)?;
                if lanes > 1 {
                    at = at.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                }
                let other = self.b.load(Place::new(right.mem, at), Type::vector(right_type, lanes as usize));
                for (row, &value) in values.iter().enumerate() {
                    let sum = &mut sums[group as usize * rows as usize + row];
                    *sum = if left_type == joined && matches!(joined, DType::F32 | DType::F64) {
                        let ty = self.b.ty(*sum);
                        self.b.pure(Op::Fma(value, other, *sum), ty)
                    } else {
                        let product = self.b.binary(BinaryOp::Mul, value, other);
                        let product = self.b.convert(product, joined);
                        self.b.binary(BinaryOp::Add, *sum, product)
                    };
                }
            }
        }
        Ok(self.b.close_for(&sums))
    }

    /// Computes and stores what depends on the sums.
    fn results(
        &mut self,
        c: &Contraction,
        (left, right): (&Side, &Side),
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<()> {
        let [rows, lanes] = c.tiles.thread;
        let overflow = || CodegenError::overflow("a tile");
        let dtype = self.expression.dag[c.parts.sum].dtype;
        for (i, sum) in sums.into_iter().enumerate() {
            let (group, row) = (i as i64 / rows, i as i64 % rows);
            let own = Affine::from(agents.warp).times(rows).and_then(|a| a.plus(&row.into(), 1));
            let row = own.and_then(|own| left.first.plus(&own, 1)).ok_or_else(overflow)?;
            let own = Affine::from(agents.thread).times(lanes);
            let own = own.and_then(|a| a.plus(&Affine::from(group * WARP * lanes), 1));
            let column = own.and_then(|own| right.first.plus(&own, 1)).ok_or_else(overflow)?;
            let (depth, outside) = (self.frames.len(), self.lanes);
            self.set(left.own, row);
            if lanes > 1 {
                self.lanes = Some((right.own, lanes as usize));
                self.set(right.own, column.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
            } else {
                self.set(right.own, column);
            }
            let value = self.b.convert(sum, dtype);
            if let Some(frame) = self.frames.last_mut() {
                frame.values.insert(c.parts.sum, value);
            }
            self.store()?;
            self.frames.truncate(depth);
            self.lanes = outside;
        }
        Ok(())
    }
}

/// Who brings tiles.
struct Agents {
    warp: Value,
    thread: Value,
    warps: i64,
}
