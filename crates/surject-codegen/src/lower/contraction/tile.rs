//! One tile: the function that sums it, and what is stored of it.

use crate::CodegenError;
use crate::code::{Op, Symbol, Value};
use crate::expression::dag::{Node, NodeId};
use crate::lower::contraction::Tiles;
use crate::lower::contraction::direct::Target;
use crate::lower::emit::{At, Bounds, Emitter, ScopeId, Val};
use crate::lower::units::decode;
use crate::machine::elem::Type;
use crate::schedule::contraction::windows::{Reads, Terms};
use surject_ir::{AccOp, BinaryOp};

/// How the terms of a tile are summed.
#[derive(Clone, Copy)]
pub(crate) struct Inner<'a> {
    /// So many columns exist.
    pub(crate) active: i64,
    /// The rows.
    pub(crate) high: usize,
    /// So many terms are added to the tile that is in memory; all of them make a new one.
    pub(crate) terms: Option<Value>,
    /// So many terms make a new tile, where the others are zeros.
    pub(crate) count: Option<Value>,
    /// Pairs of halves are multiplied in `f32`.
    pub(crate) exact: bool,
    /// The rows are not in a panel.
    pub(crate) reads: Option<&'a Reads>,
}

/// Where a tile comes from and goes to: the names of pointers and numbers.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) rows: Value,
    pub(crate) columns: Value,
    /// Elements from the columns of one term to those of the next.
    pub(crate) stride: Value,
    /// The number of terms, of rows that are not in a panel that of the innermost loop.
    pub(crate) count: Value,
    pub(crate) tile: Value,
    /// Elements from one row of the tile to the next.
    pub(crate) pitch: Value,
}

impl Tiles<'_> {
    /// The loop over the sum, with the tile in registers, and the tile into memory.
    ///
    /// Where a term is nothing but a product, that is a function, which contractions share: it has the registers to
    /// itself, and it is compiled once.
    pub(crate) fn tile(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (rows, columns): (Value, Value),
        to: &Target,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        if c.matrix && inner.high == c.tile.high {
            return self.in_registers(em, scope, (rows, columns), to, inner);
        }
        let Target { tile, pitch, .. } = to;
        let Node::Reduce { op, body, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        let stride = em.int(self.between_terms(inner.active));
        let group = self.group(&inner);
        let terms = inner.reads.and_then(|r| r.nest.last()).map_or(s.sum, |innermost| innermost.count);
        let count = inner.terms.or(inner.count).unwrap_or_else(|| em.int(terms));
        if op != AccOp::Add || !self.is_product(body) {
            let ends = Ends { rows, columns, stride, count, tile: *tile, pitch: *pitch };
            return self.terms(em, scope, ends, inner);
        }
        let (lanes, vectors, high) = (c.tile.lanes, c.tile.vectors, inner.high);
        let mut name = format!("tile_{}_{high}x{vectors}x{lanes}", s.elem.name());
        for (holds, word) in
            [(c.pairs.is_some(), "_pairs"), (inner.exact, "_exact"), (inner.terms.is_some(), "_more")]
        {
            name.push_str(if holds { word } else { "" });
        }
        if let Some(group) = group {
            name.push_str(&format!("_{}of{}x{}", group.terms, group.count, group.stride));
        }
        if inner.active != s.width {
            name.push_str(&format!("_{}", inner.active));
        }
        name.push_str(&self.name_of_blocks(&inner));
        if let Some(reads) = inner.reads {
            // The distances are part of the text.
            let number = |n: i64| n.to_string().replace('-', "m");
            if reads.are_dense(high) && inner.count.is_none() {
                name.push_str("_dense");
            } else {
                name.push_str(&format!("_by_{}", number(reads.step)));
                let (last, outer) =
                    reads.nest.split_last().map_or((1, &[][..]), |(l, outer)| (l.stride, outer));
                for Terms { count, stride } in outer {
                    name.push_str(&format!("_{count}x{}", number(*stride)));
                }
                name.push_str(&format!("_x{}", number(last)));
            }
            let outer = reads.columns.split_last().map_or(&[][..], |c| c.1);
            outer.iter().for_each(|&by| name.push_str(&format!("_c{}", number(by))));
        }
        let mut own = Emitter::new(self.dag);
        let root = own.root();
        let ends = Ends {
            rows: own.parameter(Type::Pointer),
            columns: own.parameter(Type::Pointer),
            stride: own.parameter(Type::I64),
            count: own.parameter(Type::I64),
            tile: own.parameter(Type::Pointer),
            pitch: own.parameter(Type::I64),
        };
        self.terms(&mut own, root, ends, inner)?;
        let (function, _) = own.finish_function(Symbol::Named(name));
        em.call_shared(scope, function, &[rows, columns, stride, count, *tile, *pitch]);
        Ok(())
    }

    /// Elements from the columns of one term to those of the next, of which so many exist.
    pub(crate) fn between_terms(&self, active: i64) -> i64 {
        let packed = if self.sizes.tight { active } else { self.sizes.width };
        self.in_place.as_ref().map_or(packed, |p| p.stride)
    }

    /// Is a term the product of the two factors?
    pub(crate) fn is_product(&self, body: NodeId) -> bool {
        let [x, y] = self.c.factors;
        match self.dag[body].node {
            Node::Binary(BinaryOp::Mul, a, b) => (a, b) == (x, y) || (b, a) == (x, y),
            _ => false,
        }
    }

    /// Evaluates the rest of the stored field on the tile, as far as it lies inside, and before the row where a range of
    /// rows ends.
    pub(crate) fn store(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (first_row, end): (Value, Option<Value>),
        panel: Value,
        tile: Value,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let extent = self.dag.extent(c.lane);
        let mut outside = None;
        if let (Some(filled), Some((&last, outer))) = (c.filled, c.rows.split_last()) {
            // All rows of a tile have the same digits but the last.
            let digit = self.bind_outer_rows(em, scope, first_row, filled, outer);
            outside = Some((last, digit));
        }
        let (count, from) = match &outside {
            Some((last, digit)) => (em.int(self.dag.extent(*last)), *digit),
            None => (end.unwrap_or_else(|| em.int(s.rows)), first_row),
        };
        let high = em.int(s.high);
        let left = em.arith(scope, "arith.subi", count, from);
        let here = em.arith(scope, "arith.minsi", left, high);
        let line = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let row = em.arith(line, "arith.addi", from, iv);
        match outside {
            Some((last, _)) => em.bind(line, last, row),
            None => {
                decode(em, line, &c.rows, row);
            }
        }
        let base = self.times(em, line, panel, s.width);
        let start = self.times(em, line, iv, s.width);
        let from = self.offset(em, line, tile, start);
        let (full, rest) = (extent / s.width, extent % s.width);
        let whole = em.int(full);
        for (inside, width) in [(true, s.width), (false, rest)] {
            if width == 0 || (inside && full == 0) {
                continue;
            }
            let part = em.open(line, Vec::new(), None);
            let lanes = c.tile.lanes as i64;
            let main = width - width % lanes;
            let rest = (width - main).unsigned_abs().next_power_of_two() as i64;
            for (step, low, high) in [(lanes, 0, main), (rest, main, width)] {
                if low < high {
                    self.line(em, part, (base, from), step, low, high)?;
                }
            }
            if rest == 0 || full == 0 {
                em.close_plain(part);
            } else {
                let predicate = if inside { "ult" } else { "uge" };
                let holds = em.compare(line, predicate, panel, whole);
                em.close_if(part, holds);
            }
        }
        let bounds = Bounds { low: em.int(0), high: here, step: em.int(1) };
        em.close_loop(line, iv, &bounds, &[]);
        Ok(())
    }

    /// One row of a tile, in vectors; the last may be beyond the end in part.
    fn line(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (base, from): (Value, Value),
        step: i64,
        low: i64,
        high: i64,
    ) -> Result<(), CodegenError> {
        let c = self.c;
        let dtype = self.dag[c.node].dtype;
        let lanes = step as usize;
        let at_loop = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let position = em.arith(at_loop, "arith.addi", base, iv);
        let vector = (lanes > 1).then_some((c.lane, lanes));
        let inner = em.open(at_loop, vec![(c.lane, position)], vector);
        em.activate(inner, (high - low) as usize, lanes);
        let at = At { scope: inner, lanes };
        let pointer = self.offset(em, inner, from, iv);
        let (ty, size) = (self.sizes.elem.ty(lanes), self.sizes.elem.size());
        let sum = em.op(inner, Op::aligned_load(pointer, ty, size));
        let sum = em.round_half(at, dtype, sum);
        em.seed(inner, c.node, Val { ssa: sum, lanes });
        let value = em.value(self.output.root, inner)?;
        let to = em.pointer(self.output.to)?;
        em.store(to, self.dag[self.output.root].dtype, &self.output.address, &value, at);
        em.close_plain(inner);
        let bounds = Bounds { low: em.int(low), high: em.int(high), step: em.int(step) };
        em.close_loop(at_loop, iv, &bounds, &[]);
        Ok(())
    }
}
