//! Copies the factors of a matrix unit into panels: rows one behind the other, each with its terms; columns with as many terms
//! next to each other as the unit takes at once.

use super::super::super::contraction::units::{Lies, UnitProduct};
use super::super::{Lowered, Lowering};
use super::{Part, overflow};
use crate::expression::address::LoopId;
use crate::expression::dag::NodeId;
use surject_ir::{AccOp, BinaryOp, DType, Scalar};
use surject_kernel::{Affine, LoopKind, Mem, Op, Place, Type, Value};

/// Rows, columns or groups of terms that are transposed together.
const SQUARE: i64 = 16;

/// The bytes of a vector.
const WIDEST: i64 = 64;

/// What is kept of the bits of factors of 16 bits: those without the sign.
const SIZE: i128 = 0x7fff;

/// The bits of the largest factor that is subnormal; those of each subnormal one, less one, are fewer.
const NORMAL: i128 = 0x7f;

/// A panel that is filled: with which value, in which memory, and from which element on.
struct Filling<'c> {
    c: &'c UnitProduct,
    node: NodeId,
    dtype: DType,
    mem: Mem,
    at: Affine,
}

impl<'c> Filling<'c> {
    fn at_element(&self, at: Affine) -> Filling<'c> {
        Filling { at, ..*self }
    }
}

/// Some terms of a run: the first, and how many of those that are copied together exist.
struct Group {
    first: Affine,
    exist: i64,
}

impl Lowering<'_> {
    /// Fills the panels of columns; says whether a factor is subnormal, where that matters.
    pub(super) fn pack_columns(
        &mut self,
        c: &UnitProduct,
        mem: Mem,
        (first, panels): (&Affine, &Affine),
    ) -> Lowered<Option<Value>> {
        let n = c.tiles.tile[1];
        let least = self.no_factors(c);
        let (panel, least) = self.b.open_for(0, panels.clone(), 1, LoopKind::Serial, &least);
        let first = first.plus(&panel.into(), n).ok_or_else(overflow)?;
        let at = Affine::from(panel).times(n * c.terms).ok_or_else(overflow)?;
        let filling = Filling { c, node: c.parts.right, dtype: c.elements[1], mem, at };
        let least = self.along_sum(&filling, n, &least, &|l, at, least| {
            let filling = filling.at_element(at);
            l.with_columns(c, &first, |l| match c.lies[1] {
                Lies::ByOwn => l.columns_by_own(&filling, &first, least),
                Lies::ByTerms => l.columns_by_terms(&filling, &first, least),
            })
        })?;
        let least = self.b.close_for(&least);
        Ok(self.any_subnormal(&least))
    }

    /// Fills the panel of rows; says the same.
    pub(super) fn pack_rows(&mut self, c: &UnitProduct, mem: Mem, rows: &Part) -> Lowered<Option<Value>> {
        let m = c.tiles.tile[0];
        let least = self.no_factors(c);
        let filling = Filling { c, node: c.parts.left, dtype: c.elements[0], mem, at: 0.into() };
        if c.lies[0] == Lies::ByOwn {
            let fastest = *c.rows.last().ok_or_else(overflow)?;
            let bound = c.all_rows(self.expression) / m * m;
            let least = self.along_sum(&filling, 1, &least, &|l, at, least| {
                let filling = filling.at_element(at);
                l.whole_or_cut((fastest, &rows.first), bound, |l| l.rows_by_own(&filling, &rows.first, least))
            })?;
            return Ok(self.any_subnormal(&least));
        }
        let (row, least) = self.b.open_for(0, rows.count.clone(), 1, LoopKind::Serial, &least);
        let outside = self.outside();
        self.set_row_of_unit(c, rows.first.plus(&row.into(), 1).ok_or_else(overflow)?)?;
        let of_row = filling.at_element(Affine::from(row).times(c.terms).ok_or_else(overflow)?);
        let least = self
            .along_sum(&of_row, 1, &least, &|l, at, least| l.row_by_terms(&of_row.at_element(at), least))?;
        self.return_to(&outside);
        let least = self.b.close_for(&least);
        if rows.count.as_constant().is_none() {
            let zero = self.b.splat(Scalar::zero(filling.dtype), SQUARE as usize);
            let (row, _) = self.b.open_for(rows.count.clone(), m, 1, LoopKind::Serial, &[]);
            let (term, _) = self.b.open_for(0, c.terms, SQUARE, LoopKind::Serial, &[]);
            let at = Affine::from(term).plus(&row.into(), c.terms).ok_or_else(overflow)?;
            self.put_vector(&filling, &at, zero)?;
            (0..2).for_each(|_| _ = self.b.close_for(&[]));
        }
        Ok(self.any_subnormal(&least))
    }

    /// The loops of the sum around the run of neighbours, with the place in the panel of each run: so many rows or columns
    /// have each term next to each other.
    fn along_sum(
        &mut self,
        filling: &Filling<'_>,
        beside: i64,
        least: &[Value],
        each: &impl Fn(&mut Self, Affine, &[Value]) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let (c, outside) = (filling.c, self.outside());
        let mut size = c.terms * beside;
        let (mut at, mut least) = (filling.at.clone(), least.to_vec());
        for &l in &c.around {
            let extent = self.expression.dag.extent(l);
            size /= extent;
            let (own, carried) = self.b.open_for(0, extent, 1, LoopKind::Serial, &least);
            self.set(l, own.into());
            at = at.plus(&own.into(), size).ok_or_else(overflow)?;
            least = carried;
        }
        let mut least = each(self, at, &least)?;
        for _ in &c.around {
            least = self.b.close_for(&least);
        }
        self.return_to(&outside);
        Ok(least)
    }

    /// Columns that lie next to each other: those of as many terms as the unit takes at once are interleaved.
    fn columns_by_own(
        &mut self,
        filling: &Filling<'_>,
        first: &Affine,
        least: &[Value],
    ) -> Lowered<Vec<Value>> {
        let (c, n) = (filling.c, filling.c.tiles.tile[1]);
        let together = c.interleaved();
        self.along_run(c, together, least, &|l, group, mut least| {
            let mut values = Vec::new();
            for i in 0..together {
                values.push(l.beside(filling, (c.column, first), (&group, i), n, &mut least)?);
            }
            let value = l.interleave(values);
            l.put_vector(filling, &group.first.times(n).ok_or_else(overflow)?, value)?;
            Ok(least)
        })
    }

    /// Columns whose terms lie next to each other: squares of columns and groups of terms are transposed.
    fn columns_by_terms(
        &mut self,
        filling: &Filling<'_>,
        first: &Affine,
        least: &[Value],
    ) -> Lowered<Vec<Value>> {
        let (c, n) = (filling.c, filling.c.tiles.tile[1]);
        let together = c.interleaved();
        let wide = SQUARE * together;
        self.along_run(c, wide, least, &|l, group, mut least| {
            // The panel may end before the square does.
            let left = if group.exist < wide && c.run % wide != 0 { c.run % wide } else { wide };
            for column in (0..n).step_by(SQUARE as usize) {
                let mut rows = Vec::new();
                for i in column..column + SQUARE {
                    let outside = l.outside();
                    l.set(c.column, first.plus(&i.into(), 1).ok_or_else(overflow)?);
                    let value = l.vector_of_terms(filling, &group, wide)?;
                    least = l.noted(value, &least);
                    rows.push(value);
                    l.return_to(&outside);
                }
                l.transpose_square(&mut rows, together as usize);
                for (value, number) in rows.into_iter().zip(0..left / together) {
                    let term = group.first.plus(&(number * together).into(), 1).and_then(|t| t.times(n));
                    let at = term.and_then(|t| t.plus(&(column * together).into(), 1));
                    l.put_vector(filling, &at.ok_or_else(overflow)?, value)?;
                }
            }
            Ok(least)
        })
    }

    /// A row: vectors of terms.
    fn row_by_terms(&mut self, filling: &Filling<'_>, least: &[Value]) -> Lowered<Vec<Value>> {
        let c = filling.c;
        let wide = WIDEST / filling.dtype.size().max(1) as i64;
        self.along_run(c, wide, least, &|l, group, least| {
            let left = if group.exist < wide && c.run % wide != 0 { c.run % wide } else { wide };
            let value = l.vector_of_terms(filling, &group, left)?;
            let least = l.noted(value, &least);
            l.put_vector(filling, &group.first, value)?;
            Ok(least)
        })
    }

    /// Rows that lie next to each other: squares of rows and terms are transposed.
    fn rows_by_own(&mut self, filling: &Filling<'_>, first: &Affine, least: &[Value]) -> Lowered<Vec<Value>> {
        let c = filling.c;
        let fastest = *c.rows.last().ok_or_else(overflow)?;
        self.along_run(c, SQUARE, least, &|l, group, mut least| {
            for row in (0..c.tiles.tile[0]).step_by(SQUARE as usize) {
                let own = first.plus(&row.into(), 1).ok_or_else(overflow)?;
                let mut terms = Vec::new();
                for i in 0..SQUARE {
                    terms.push(l.beside(filling, (fastest, &own), (&group, i), SQUARE, &mut least)?);
                }
                l.transpose_square(&mut terms, 1);
                for (value, i) in terms.into_iter().zip(row..) {
                    let at = group.first.plus(&(i * c.terms).into(), 1).ok_or_else(overflow)?;
                    l.put_vector(filling, &at, value)?;
                }
            }
            Ok(least)
        })
    }

    /// Groups of so many terms of a run: whole ones in a loop, then each of the others by itself.
    fn along_run(
        &mut self,
        c: &UnitProduct,
        by: i64,
        least: &[Value],
        each: &impl Fn(&mut Self, Group, Vec<Value>) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let extent = self.expression.dag.extent(c.term);
        let (whole, mut least) = (extent / by, least.to_vec());
        if whole > 0 {
            let (number, carried) = self.b.open_for(0, whole, 1, LoopKind::Serial, &least);
            let first = Affine::from(number).times(by).ok_or_else(overflow)?;
            let next = each(self, Group { first, exist: by }, carried)?;
            least = self.b.close_for(&next);
        }
        for first in (whole * by..c.run).step_by(by as usize) {
            least = each(self, Group { first: first.into(), exist: (extent - first).max(0) }, least)?;
        }
        Ok(least)
    }

    /// So many rows or columns of a term of a group as a vector: neighbours along a loop, from an iteration on; zeros where
    /// the term does not exist.
    fn beside(
        &mut self,
        filling: &Filling<'_>,
        (along, first): (LoopId, &Affine),
        (group, term): (&Group, i64),
        lanes: i64,
        least: &mut Vec<Value>,
    ) -> Lowered<Value> {
        let (own, count) = (filling.c.term, lanes as usize);
        if term >= group.exist {
            return Ok(self.b.splat(Scalar::zero(filling.dtype), count));
        }
        let outside = self.outside();
        self.lanes = Some((along, count));
        self.set(along, first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
        self.set(own, group.first.plus(&term.into(), 1).ok_or_else(overflow)?);
        self.whole = self.whole.union(std::iter::once(own).collect());
        let value = self.factor(filling, count)?;
        *least = self.noted(value, least);
        self.return_to(&outside);
        Ok(value)
    }

    /// So many terms of a group as a vector, zeros where they do not exist.
    fn vector_of_terms(&mut self, filling: &Filling<'_>, group: &Group, lanes: i64) -> Lowered<Value> {
        let (c, outside) = (filling.c, self.outside());
        let own = std::iter::once(c.term).collect();
        let zero = self.b.splat(Scalar::zero(filling.dtype), lanes as usize);
        if group.exist == 0 {
            return Ok(zero);
        }
        self.lanes = Some((c.term, lanes as usize));
        self.set(c.term, group.first.plus(&Affine::lane(1), 1).ok_or_else(overflow)?);
        if group.exist >= lanes {
            self.whole = self.whole.union(own);
        }
        let mut value = self.factor(filling, lanes as usize)?;
        let guards = self.cut(own)?;
        if !guards.is_empty() {
            let exists = self.b.holds(guards, lanes as usize);
            value = self.b.select(exists, value, zero);
        }
        self.return_to(&outside);
        Ok(value)
    }

    /// The value of a factor here, as it is in the panel.
    fn factor(&mut self, filling: &Filling<'_>, lanes: usize) -> Lowered<Value> {
        let value = self.operand(filling.node, lanes)?;
        Ok(self.b.convert(value, filling.dtype))
    }

    fn put_vector(&mut self, filling: &Filling<'_>, at: &Affine, value: Value) -> Lowered<()> {
        let at = filling.at.plus(at, 1).and_then(|at| at.plus(&Affine::lane(1), 1)).ok_or_else(overflow)?;
        self.b.store(Place::new(filling.mem, at), value);
        Ok(())
    }

    /// The first lanes of all values, then the second ones, and so on.
    fn interleave(&mut self, mut values: Vec<Value>) -> Value {
        // Values that are half of all apart become neighbours last.
        while values.len() > 1 {
            let half = values.len() / 2;
            let pairs: Vec<(Value, Value)> = (0..half).map(|i| (values[i], values[i + half])).collect();
            let joined = pairs.into_iter().map(|(x, y)| {
                let ty = self.b.ty(x);
                let order = (0..2 * ty.lanes).map(|l| l / 2 + l % 2 * ty.lanes).collect();
                self.b.pure(Op::Shuffle(x, y, order), Type::vector(ty.dtype, 2 * ty.lanes))
            });
            values = joined.collect();
        }
        values[0]
    }

    /// What is kept of factors where their size matters, before there are any: the largest number.
    fn no_factors(&mut self, c: &UnitProduct) -> Vec<Value> {
        let most = Scalar::from_i128(DType::U16, 0xffff);
        if c.flushes() { vec![self.b.splat(most, SQUARE as usize)] } else { Vec::new() }
    }

    /// Keeps the smallest of factors without their signs, less one: so zero is the largest.
    fn noted(&mut self, value: Value, least: &[Value]) -> Vec<Value> {
        let &[least] = least else { return Vec::new() };
        let ty = self.b.ty(value);
        let bits = self.b.pure(Op::Bitcast(value), ty.with(DType::U16));
        let [size, one] = [SIZE, 1].map(|n| self.b.splat(Scalar::from_i128(DType::U16, n), ty.lanes));
        let size = self.b.binary(BinaryOp::And, bits, size);
        let below = self.b.binary(BinaryOp::Sub, size, one);
        let lanes = SQUARE as usize;
        let mut parts = vec![below];
        if ty.lanes != lanes {
            let part = |from: usize| {
                let order = (from..from + lanes).collect();
                self.b.pure(Op::Shuffle(below, below, order), Type::vector(DType::U16, lanes))
            };
            parts = (0..ty.lanes).step_by(lanes).map(part).collect();
        }
        vec![parts.into_iter().fold(least, |least, part| self.b.binary(BinaryOp::Min, least, part))]
    }

    /// Is one of the factors subnormal of which the smallest is kept?
    fn any_subnormal(&mut self, least: &[Value]) -> Option<Value> {
        let &[least] = least else { return None };
        let least = self.b.reduce_lanes(AccOp::Min, least);
        let normal = self.b.splat(Scalar::from_i128(DType::U16, NORMAL), 1);
        Some(self.b.binary(BinaryOp::Lt, least, normal))
    }
}
