//! Sums of products by tiles: blocks bring tiles of both values into shared memory, and each thread sums the products of
//! some rows and columns in registers.
//!
//! A warp has some rows of the tile, which all of its threads read at once; the columns of its threads lie next to each
//! other. Where a value lies along its terms in memory, the threads of a warp bring terms, else rows or columns.

use super::super::contraction::{Contraction, Share, WARP};
use super::{Lowered, Lowering, joined_in};
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Node, NodeId};
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Affine, Guard, Level, LoopKind, MatMulSizes, Mem, Op, Place, Space, Tile, Type, Value};

/// Elements between the rows of a tile, so that they lie in other banks: as many as are accessed at once.
const PAD: i64 = 4;

/// The most blocks in a dimension of a grid that is not the first.
const GRID: i64 = 65_535;

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
    /// The terms of a row or a column lie next to each other, and so many elements apart from those of the next; else
    /// the rows or columns of a term do.
    by_terms: bool,
    pitch: i64,
}

impl Side {
    /// The element of a row or column and a term.
    fn element(&self, own: &Affine, term: &Affine) -> Option<Affine> {
        if self.by_terms { term.plus(own, self.pitch) } else { own.plus(term, self.pitch) }
    }
}

impl Lowering<'_> {
    /// The kernel of a sum of products.
    pub(super) fn contraction(&mut self, c: &Contraction) -> Lowered<()> {
        let expression = self.expression;
        let [m, n, _] = c.loops;
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
        let first = others.iter().position(|&l| extent(l) <= GRID).map(|at| others.remove(at));
        if let Some(first) = first {
            let number = blocks(self, extent(first));
            self.set(first, number.into());
            opened += 1;
        }
        let (row_tile, column_tile) = (blocks(self, tiles(m, rows)), blocks(self, tiles(n, columns)));
        opened += 2;
        for &l in &others {
            let (number, _) = self.b.open_for(0, extent(l), 1, LoopKind::Serial, &[]);
            self.opened.push(LoopKind::Serial);
            self.set(l, number.into());
            opened += 1;
        }
        let dtype = |n: NodeId| expression.dag[n].dtype;
        let by_terms = matches!(c.tiles.share, Share::Warp(_));
        let side = |b: &mut Self, name: &str, node: NodeId, own: LoopId, tile: Value, size: i64| {
            let (long, pitch) = if by_terms { (size, terms + 2 * PAD) } else { (terms, size + PAD) };
            let mem = b.b.alloc(name, dtype(node), long * pitch, Space::Shared);
            let first = Affine::from(tile).times(size).ok_or_else(|| CodegenError::overflow("a tile"))?;
            Ok::<Side, CodegenError>(Side { node, mem, own, first, size, by_terms, pitch })
        };
        let left = side(self, "left", c.parts.left, m, row_tile, rows)?;
        let right = side(self, "right", c.parts.right, n, column_tile, columns)?;
        match c.tiles.share {
            Share::Thread(share) => self.by_threads(c, share, (&left, &right))?,
            Share::Warp(rows) => self.by_warps(c, rows, (&left, &right))?,
        }
        (0..opened).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The loops of the sum, those around the one that is cut, and how many tiles that has.
    fn loops_of_sum(&self, c: &Contraction) -> Lowered<Vec<(Option<LoopId>, i64)>> {
        let dag = &self.expression.dag;
        let Node::Reduce { loops, .. } = &dag[c.parts.sum].node else {
            return Err(CodegenError::malformed("a sum that is none"));
        };
        let (k, terms) = (c.loops[2], c.tiles.tile[2]);
        let around = loops.iter().filter(|&&l| l != k).map(|&l| (Some(l), dag.extent(l)));
        Ok(around.chain([(None, (dag.extent(k) + terms - 1) / terms)]).collect())
    }

    /// Each thread sums products in registers.
    fn by_threads(&mut self, c: &Contraction, share: [i64; 2], sides: (&Side, &Side)) -> Lowered<()> {
        let (k, terms, warps) = (c.loops[2], c.tiles.tile[2], c.tiles.warps());
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let agents = Agents { warp, thread, warps };
        // The sums, row by row.
        let joined = joined_in(self.expression.dag[c.parts.sum].dtype, AccOp::Add);
        let [rows, lanes] = share;
        let zero = self.b.splat(Scalar::zero(joined), lanes as usize);
        let mut sums = vec![zero; (rows * groups(c, lanes)) as usize];
        let loops = self.loops_of_sum(c)?;
        for &(l, count) in &loops {
            let (number, carried) = self.b.open_for(0, count, 1, LoopKind::Serial, &sums);
            sums = carried;
            match l {
                Some(l) => self.set(l, number.into()),
                None => {
                    let first = Affine::from(number).times(terms);
                    let first = first.ok_or_else(|| CodegenError::overflow("a tile"))?;
                    self.bring_both(sides, (k, &first, terms), &agents)?;
                    sums = self.products((share, c), sides, joined, &agents, sums)?;
                }
            }
        }
        for _ in &loops {
            sums = self.b.close_for(&sums);
        }
        self.results((share, c), sides, &agents, sums)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// The matrix units of each warp sum products of some rows. The sums go through shared memory to the threads, which
    /// compute what depends on them.
    fn by_warps(&mut self, c: &Contraction, rows: i64, (left, right): (&Side, &Side)) -> Lowered<()> {
        let overflow = || CodegenError::overflow("a tile");
        let (k, [all_rows, columns, terms]) = (c.loops[2], c.tiles.tile);
        let (warps, joined) = (c.tiles.warps(), DType::F32);
        let pitch = columns + PAD;
        let sums = self.b.alloc("sums", joined, all_rows * pitch, Space::Shared);
        let (warp, _) = self.b.open_for(0, warps, 1, LoopKind::Parallel(Level::Warp), &[]);
        let acc = self.b.alloc("acc", joined, rows * columns, Space::Register);
        let zero = self.b.splat(Scalar::zero(joined), 1);
        let (element, _) = self.b.open_for(0, rows * columns, 1, LoopKind::Serial, &[]);
        self.b.store(Place::new(acc, element), zero);
        self.b.close_for(&[]);
        let own = Affine::from(warp).times(rows).ok_or_else(overflow)?;
        let loops = self.loops_of_sum(c)?;
        for &(l, count) in &loops {
            let (number, _) = self.b.open_for(0, count, 1, LoopKind::Serial, &[]);
            if let Some(l) = l {
                self.set(l, number.into());
                continue;
            }
            let first = Affine::from(number).times(terms).ok_or_else(overflow)?;
            let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
            let (depth, agents) = (self.frames.len(), Agents { warp, thread, warps });
            self.bring_both((left, right), (k, &first, terms), &agents)?;
            self.frames.truncate(depth);
            self.b.close_for(&[]);
            let a = own.times(left.pitch).ok_or_else(overflow)?;
            let tile = |mem: Mem, at: Affine, row: i64, column: i64| Tile { mem, at, row, column };
            self.b.effect(Op::MatMul {
                sizes: MatMulSizes { m: rows as usize, n: columns as usize, k: terms as usize },
                acc: tile(acc, 0.into(), columns, 1),
                a: tile(left.mem, a, left.pitch, 1),
                b: tile(right.mem, 0.into(), 1, right.pitch),
            });
        }
        loops.iter().for_each(|_| _ = self.b.close_for(&[]));
        let (row, _) = self.b.open_for(0, rows, 1, LoopKind::Serial, &[]);
        let (column, _) = self.b.open_for(0, columns, 1, LoopKind::Serial, &[]);
        let from = Affine::from(column).plus(&Affine::from(row), columns).ok_or_else(overflow)?;
        let line = own.plus(&Affine::from(row), 1).ok_or_else(overflow)?;
        let to = Affine::from(column).plus(&line, pitch).ok_or_else(overflow)?;
        let value = self.b.load(Place::new(acc, from), Type::scalar(joined));
        self.b.store(Place::new(sums, to), value);
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        // Every thread has some columns of all rows of its warp.
        let (thread, _) = self.b.open_for(0, WARP, 1, LoopKind::Parallel(Level::Thread), &[]);
        let (row, _) = self.b.open_for(0, rows, 1, LoopKind::Serial, &[]);
        let lanes = columns / WARP;
        let line = own.plus(&Affine::from(row), 1).ok_or_else(overflow)?;
        let mut side = Affine::from(thread).times(lanes).ok_or_else(overflow)?;
        if lanes > 1 {
            side = side.plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
            self.lanes = Some((right.own, lanes as usize));
        }
        let at = side.plus(&line, pitch).ok_or_else(overflow)?;
        self.set(left.own, left.first.plus(&line, 1).ok_or_else(overflow)?);
        self.set(right.own, right.first.plus(&side, 1).ok_or_else(overflow)?);
        let value = self.b.load(Place::new(sums, at), Type::vector(joined, lanes as usize));
        let value = self.b.convert(value, self.expression.dag[c.parts.sum].dtype);
        if let Some(frame) = self.frames.last_mut() {
            frame.values.insert(c.parts.sum, value);
        }
        self.store()?;
        (0..3).for_each(|_| _ = self.b.close_for(&[]));
        Ok(())
    }

    /// Brings the tiles of both values, between barriers: after the tiles before were read, and before these are.
    fn bring_both(
        &mut self,
        (left, right): (&Side, &Side),
        terms: (LoopId, &Affine, i64),
        agents: &Agents,
    ) -> Lowered<()> {
        self.b.effect(Op::Barrier(Level::Block));
        self.bring(left, terms, agents)?;
        self.bring(right, terms, agents)?;
        self.b.effect(Op::Barrier(Level::Block));
        Ok(())
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
        let lanes = if fits && PAD % most == 0 && !side.by_terms { most } else { 1 };
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
                let mut to = side.element(&own, &term).ok_or_else(overflow)?;
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
        ([rows, lanes], c): ([i64; 2], &Contraction),
        (left, right): (&Side, &Side),
        joined: DType,
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<Vec<Value>> {
        /// Terms that are written out.
        const TERMS: i64 = 4;
        let overflow = || CodegenError::overflow("a tile");
        let dtype = |side: &Side| self.expression.dag[side.node].dtype;
        let (left_type, right_type) = (dtype(left), dtype(right));
        let at_once = WIDEST / left_type.size().max(1) as i64;
        let at_once = if rows % at_once == 0 && PAD % at_once == 0 { at_once } else { 1 };
        let (number, mut sums) = self.b.open_for(0, c.tiles.tile[2], TERMS, LoopKind::Serial, &sums);
        for term in 0..TERMS {
            let of_term = |side: &Side| {
                let term = Affine::from(number).plus(&Affine::from(term), 1)?;
                term.times(side.pitch)
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
            for group in 0..groups(c, lanes) {
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
        ([rows, lanes], c): ([i64; 2], &Contraction),
        (left, right): (&Side, &Side),
        agents: &Agents,
        sums: Vec<Value>,
    ) -> Lowered<()> {
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

/// How often the columns of a thread repeat: those of the other threads of its warp lie between.
fn groups(c: &Contraction, lanes: i64) -> i64 {
    c.tiles.tile[1] / (WARP * lanes)
}

/// Who brings tiles.
struct Agents {
    warp: Value,
    thread: Value,
    warps: i64,
}
