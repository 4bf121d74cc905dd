//! Sums of products by the matrix unit of a CPU.
//!
//! A task copies its columns into panels, then the rows of one tile after the other, and multiplies. Terms that do not exist are
//! zeros in panels, and so are rows and columns that do not. A unit that takes subnormal factors for zeros multiplies what has
//! none: while factors are copied, the smallest of them is kept, and what has a subnormal one is multiplied as it is.

mod panels;

use super::super::contraction::units::UnitProduct;
use super::{Lowered, Lowering};
use crate::CodegenError;
use crate::expression::address::LoopId;
use surject_ir::{BinaryOp, Scalar};
use surject_kernel::{
    Affine, Factors, Guard, LoopKind, MatMulSizes, Mem, Op, Place, Space, Team, Tile, Type, Value,
};

/// The results that are computed and stored at once.
const LANES: i64 = 16;

fn overflow() -> CodegenError {
    CodegenError::overflow("a tile of a matrix unit")
}

/// The memory of a task.
#[derive(Clone, Copy)]
struct Panels {
    rows: Mem,
    columns: Mem,
    sums: Mem,
}

/// Rows or columns of a tile: the first, and how many exist.
struct Part {
    first: Affine,
    count: Affine,
}

impl Lowering<'_> {
    /// The kernel of a sum of products.
    pub(super) fn by_unit(&mut self, c: &UnitProduct) -> Lowered<()> {
        let ([m, n], [high, wide]) = (c.tiles.tile, c.tiles.task);
        let others = c.others(self.expression);
        let opened = self.open_tasks(&c.blocks(self.expression), c.tiles.each)?;
        others.iter().zip(&opened.digits).for_each(|(&l, digit)| self.set(l, digit.clone()));
        let [column_block, row_block] = &opened.digits[others.len()..] else { return Err(overflow()) };
        let mut alloc = |name: &str, dtype, elements| self.b.alloc(name, dtype, elements, Space::Stack);
        let memory = Panels {
            columns: alloc("columns", c.elements[1], wide * c.terms),
            rows: alloc("rows", c.elements[0], m * c.terms),
            sums: alloc("sums", c.joined, m * n),
        };
        let (columns, rows) = (self.expression.dag.extent(c.column), c.all_rows(self.expression));
        let first_column = column_block.times(wide).ok_or_else(overflow)?;
        let first_row = row_block.times(high).ok_or_else(overflow)?;
        let column_tiles = self.tiles_of(column_block, wide, n, columns)?;
        let row_tiles = self.tiles_of(row_block, high, m, rows)?;
        let of_columns = self.pack_columns(c, memory.columns, (&first_column, &column_tiles))?;
        let (tile, _) = self.b.open_for(0, row_tiles, 1, LoopKind::Serial, &[]);
        let first = first_row.plus(&tile.into(), m).ok_or_else(overflow)?;
        let count = self.at_most(m, (&first, rows))?;
        let part = Part { first, count };
        let of_rows = self.pack_rows(c, memory.rows, &part)?;
        let marked = of_rows.zip(of_columns).map(|(x, y)| self.b.binary(BinaryOp::Or, x, y));
        let (panel, _) = self.b.open_for(0, column_tiles, 1, LoopKind::Serial, &[]);
        self.multiply_tile(c, memory, panel, marked)?;
        let first = first_column.plus(&panel.into(), n).ok_or_else(overflow)?;
        self.results_of_unit(c, memory.sums, &part, &first)?;
        (0..2).for_each(|_| _ = self.b.close_for(&[]));
        self.close_tasks(opened);
        Ok(())
    }

    /// How many tiles of a size there are in a block.
    fn tiles_of(&mut self, block: &Affine, size: i64, by: i64, extent: i64) -> Lowered<Affine> {
        let (all, each) = (extent / by + i64::from(extent % by != 0), size / by);
        if all <= each || all % each == 0 {
            return Ok(all.min(each).into());
        }
        let before = block.times(each).ok_or_else(overflow)?;
        self.at_most(each, (&before, all))
    }

    /// Sums a tile of the rows and a panel of columns.
    fn multiply_tile(
        &mut self,
        c: &UnitProduct,
        memory: Panels,
        panel: Value,
        marked: Option<Value>,
    ) -> Lowered<()> {
        let [m, n] = c.tiles.tile;
        let zero = self.b.splat(Scalar::zero(c.joined), LANES as usize);
        let (at, _) = self.b.open_for(0, m * n, LANES, LoopKind::Serial, &[]);
        let at = Affine::from(at).plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
        self.b.store(Place::new(memory.sums, at), zero);
        self.b.close_for(&[]);
        let together = c.interleaved();
        let columns = Affine::from(panel).times(n.checked_mul(c.terms).ok_or_else(overflow)?);
        let product = |factors: Factors, columns: Affine| Op::MatMul {
            team: Team::One,
            factors,
            sizes: MatMulSizes { m: m as usize, n: n as usize, k: c.terms as usize },
            acc: Tile { mem: memory.sums, at: 0.into(), row: n, column: 1, interleaved: 1 },
            a: Tile { mem: memory.rows, at: 0.into(), row: c.terms, column: 1, interleaved: 1 },
            b: Tile {
                mem: memory.columns,
                at: columns,
                row: n * together,
                column: together,
                interleaved: together as usize,
            },
        };
        let columns = columns.ok_or_else(overflow)?;
        match marked {
            None => self.b.effect(product(c.factors(), columns)),
            Some(marked) => {
                self.b.open_if(marked);
                self.b.effect(product(Factors::Own, columns.clone()));
                self.b.open_else(&[]);
                self.b.effect(product(c.factors(), columns));
                self.b.close_if(&[]);
            }
        }
        Ok(())
    }

    /// Computes and stores what depends on the sums of a tile.
    fn results_of_unit(&mut self, c: &UnitProduct, sums: Mem, rows: &Part, first: &Affine) -> Lowered<()> {
        let (row, _) = self.b.open_for(0, rows.count.clone(), 1, LoopKind::Serial, &[]);
        let outside = self.outside();
        self.set_row_of_unit(c, rows.first.plus(&row.into(), 1).ok_or_else(overflow)?)?;
        self.whole = self.whole.union(c.rows.iter().copied().collect());
        self.with_columns(c, first, |l| {
            for at in (0..c.tiles.tile[1]).step_by(LANES as usize) {
                let outside = l.outside();
                let here = Affine::from(at).plus(&Affine::lane(1), 1).ok_or_else(overflow)?;
                l.lanes = Some((c.column, LANES as usize));
                l.set(c.column, first.plus(&here, 1).ok_or_else(overflow)?);
                let from = here.plus(&row.into(), c.tiles.tile[1]).ok_or_else(overflow)?;
                let sum = l.b.load(Place::new(sums, from), Type::vector(c.joined, LANES as usize));
                let sum = l.b.convert(sum, l.expression.dag[c.parts.sum].dtype);
                if let Some(frame) = l.frames.last_mut() {
                    frame.values.insert(c.parts.sum, sum);
                }
                l.store()?;
                l.return_to(&outside);
            }
            Ok(Vec::new())
        })?;
        self.return_to(&outside);
        self.b.close_for(&[]);
        Ok(())
    }

    /// Says where the loops over rows are.
    fn set_row_of_unit(&mut self, c: &UnitProduct, at: Affine) -> Lowered<()> {
        let group: Vec<(LoopId, i64)> = c.rows.iter().map(|&l| (l, self.expression.dag.extent(l))).collect();
        self.set_rows((*c.rows.last().ok_or_else(overflow)?, &group), at);
        Ok(())
    }

    /// Does something with the columns of a tile; where some do not exist, with guards. It gives values of both ways.
    fn with_columns(
        &mut self,
        c: &UnitProduct,
        first: &Affine,
        each: impl Fn(&mut Self) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let (extent, n) = (self.expression.dag.extent(c.column), c.tiles.tile[1]);
        self.whole_or_cut((c.column, first), extent / n * n, each)
    }

    /// Does something with what begins at a place of a loop: without guards of the loop where that is below a bound.
    fn whole_or_cut(
        &mut self,
        (l, first): (LoopId, &Affine),
        bound: i64,
        each: impl Fn(&mut Self) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let outside = self.outside();
        if !self.resolved.cut.contains(&l) || bound == 0 {
            let values = each(self)?;
            self.return_to(&outside);
            return Ok(values);
        }
        let inside = self.b.holds(vec![Guard { expr: first.clone(), bound: bound.into() }], 1);
        self.b.open_if(inside);
        self.whole = self.whole.union(std::iter::once(l).collect());
        let values = each(self)?;
        self.return_to(&outside);
        self.b.open_else(&values);
        let values = each(self)?;
        self.return_to(&outside);
        Ok(self.b.close_if(&values))
    }
}
