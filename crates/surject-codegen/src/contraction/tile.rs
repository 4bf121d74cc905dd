//! One tile: the loop over the sum with the tile in registers, and what is stored of it.

use super::Tiles;
use super::direct::Target;
use super::sizes;
use super::windows::Reads;
use crate::CodegenError;
use crate::ahead::{Ask, prefetch};
use crate::dag::{Node, NodeId};
use crate::emit::{At, Bounds, Carried, Elem, Emitter, ScopeId, Val};
use crate::pack::digits;
use surject_ir::{AccOp, BinaryOp};

/// How the terms of a tile are summed.
#[derive(Clone, Copy)]
pub(super) struct Inner<'a> {
    /// So many columns exist.
    pub(super) active: i64,
    /// The rows.
    pub(super) high: usize,
    /// So many terms are added to the tile that is in memory; all of them make a new one.
    pub(super) terms: Option<&'a str>,
    /// Pairs of halves are multiplied in `f32`.
    pub(super) exact: bool,
    /// The rows are not in a panel.
    pub(super) reads: Option<&'a Reads>,
}

/// Where a tile comes from and goes to: the names of pointers and numbers.
#[derive(Clone, Copy)]
struct Ends<'a> {
    rows: &'a str,
    columns: &'a str,
    /// Elements from the columns of one term to those of the next.
    stride: &'a str,
    /// The number of terms, of rows that are not in a panel that of the innermost loop.
    count: &'a str,
    tile: &'a str,
    /// Elements from one row of the tile to the next.
    apart: &'a str,
}

impl Tiles<'_> {
    /// The loop over the sum, with the tile in registers, and the tile into memory.
    ///
    /// Where a term is nothing but a product, that is a function, which contractions share: it has the registers to
    /// itself, and it is compiled once.
    pub(super) fn tile(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (rows, columns): (&str, &str),
        to: &Target,
        inner: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        if c.matrix && inner.high == c.tile.2 {
            return self.in_registers(em, scope, (rows, columns), to, inner);
        }
        let Target { tile, apart, .. } = to;
        let Node::Reduce { op, body, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        let packed = if s.tight { inner.active } else { s.width };
        let stride = em.int(self.in_place.as_ref().map_or(packed, |p| p.stride));
        let terms = inner.reads.and_then(|r| r.nest.last()).map_or(s.sum, |innermost| innermost.0);
        let count = inner.terms.map_or_else(|| em.int(terms), str::to_string);
        if op != AccOp::Add || !self.is_product(body) {
            let ends = Ends { rows, columns, stride: &stride, count: &count, tile, apart };
            return self.terms(em, scope, ends, inner);
        }
        let (lanes, vectors, high) = (c.tile.0, c.tile.1, inner.high);
        let mut name = format!("@tile_{}_{high}x{vectors}x{lanes}", s.elem.name());
        for (holds, word) in
            [(c.pairs.is_some(), "_pairs"), (inner.exact, "_exact"), (inner.terms.is_some(), "_more")]
        {
            name.push_str(if holds { word } else { "" });
        }
        if inner.active != s.width {
            name.push_str(&format!("_{}", inner.active));
        }
        if let Some(reads) = inner.reads {
            // The distances are part of the text.
            let number = |n: i64| n.to_string().replace('-', "m");
            if reads.are_dense(high) {
                name.push_str("_dense");
            } else {
                name.push_str(&format!("_by_{}", number(reads.step)));
                let (last, outer) = reads.nest.split_last().map_or((1, &[][..]), |(l, outer)| (l.1, outer));
                for (extent, stride) in outer {
                    name.push_str(&format!("_{extent}x{}", number(*stride)));
                }
                name.push_str(&format!("_x{}", number(last)));
            }
            let outer = reads.columns.split_last().map_or(&[][..], |c| c.1);
            outer.iter().for_each(|&by| name.push_str(&format!("_c{}", number(by))));
        }
        let mut own = Emitter::new(self.dag);
        let root = own.root();
        let ends = Ends {
            rows: "%rows",
            columns: "%columns",
            stride: "%stride",
            count: "%count",
            tile: "%tile",
            apart: "%apart",
        };
        self.terms(&mut own, root, ends, inner)?;
        let (text, _) = own.finish();
        em.declarations.insert(format!(
            "llvm.func internal {name}(%rows: !llvm.ptr, %columns: !llvm.ptr, %stride: i64, %count: i64, \
             %tile: !llvm.ptr, %apart: i64) {{\n{text}llvm.return\n}}"
        ));
        em.line(
            scope,
            &format!(
                "llvm.call {name}({rows}, {columns}, {stride}, {count}, {tile}, {apart}) : \
                 (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, i64) -> ()"
            ),
        );
        Ok(())
    }

    /// Is a term the product of the two factors?
    pub(super) fn is_product(&self, body: NodeId) -> bool {
        let [x, y] = self.c.factors;
        match self.dag[body].node {
            Node::Binary(BinaryOp::Mul, a, b) => (a, b) == (x, y) || (b, a) == (x, y),
            _ => false,
        }
    }

    fn terms(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        Ends { rows, columns, stride, count, tile, apart }: Ends<'_>,
        Inner { active, high, terms, exact, reads }: Inner<'_>,
    ) -> Result<(), CodegenError> {
        let (s, c) = (&self.sizes, self.c);
        let most = c.tile.0;
        // Vectors beyond the last column are not computed, and the last one has no more lanes than it takes.
        let all = sizes::vectors(active, most);
        let (vectors, name, size) = (all.len(), s.elem.name(), s.elem.size());
        let types: Vec<String> = all.iter().map(|&lanes| s.elem.ty(lanes)).collect();
        let Node::Reduce { op, body, .. } = self.dag[c.node].node else {
            return Err(CodegenError::malformed("a contraction that reduces nothing"));
        };
        let dtype = self.dag[c.node].dtype;
        let zeros: Vec<String> = all.iter().map(|&lanes| em.scalar(op.neutral(dtype), lanes)).collect();
        let mut before = Vec::new();
        let places = |em: &mut Emitter<'_>| -> Vec<String> {
            let mut places = Vec::new();
            let mut row = tile.to_string();
            for i in 0..high * vectors {
                if i > 0 && i % vectors == 0 {
                    row = self.offset(em, scope, &row, apart);
                }
                let ahead = i % vectors * most;
                places.push(em.op(
                    scope,
                    &format!("llvm.getelementptr {row}[{ahead}] : (!llvm.ptr) -> !llvm.ptr, {name}"),
                ));
            }
            places
        };
        for (i, from) in if terms.is_some() { places(em) } else { Vec::new() }.iter().enumerate() {
            let ty = &types[i % vectors];
            before.push(
                em.op(scope, &format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}")),
            );
        }
        // The same columns in the next pass: what lies between is less than a cache holds.
        let ahead = terms.map(|_| self.times(em, scope, stride, s.pass));
        // The loops over the sum, outermost first: how often, and how far the rows are then.
        let levels: Vec<(String, i64)> = match reads {
            Some(Reads { nest, .. }) => {
                let counts = nest.iter().enumerate();
                let count = |(i, &(n, stride)): (usize, &(i64, i64))| match i + 1 == nest.len() {
                    true => (count.to_string(), stride),
                    false => (em.int(n), stride),
                };
                counts.map(count).collect()
            }
            None => vec![(count.to_string(), high as i64)],
        };
        let step = reads.map_or(1, |r| r.step);
        let dense = reads.is_some_and(|r| r.are_dense(high));
        let ahead_of_row: Vec<String> = if dense {
            (0..high).map(|row| self.times(em, scope, count, row as i64)).collect()
        } else {
            Vec::new()
        };
        let mut open: Vec<(ScopeId, Vec<String>)> = Vec::new();
        for _ in &levels {
            let outer = open.last().map_or(scope, |o| o.0);
            let names = (0..high * vectors + 2).map(|_| em.name()).collect();
            open.push((em.open(outer, Vec::new(), None), names));
        }
        let Some((inner, names)) = open.last().cloned() else {
            return Err(CodegenError::malformed("a contraction that sums nothing"));
        };
        let [a, b] = [0, 1].map(|i| names[high * vectors + i].clone());
        if let Some(ahead) = ahead {
            let next = self.offset(em, inner, &b, &ahead);
            for line in (0..all.iter().sum()).step_by(64 / size) {
                prefetch(em, inner, (&next, line as i64), s.elem, Ask::Soon);
            }
        }
        let mut vector = Vec::new();
        for (v, (&lanes, ty)) in all.iter().zip(&types).enumerate() {
            let exist = usize::try_from(active).unwrap_or(0).saturating_sub(v * most).min(lanes);
            let from = em.op(
                inner,
                &format!("llvm.getelementptr {b}[{}] : (!llvm.ptr) -> !llvm.ptr, {name}", v * most),
            );
            let load = if exist == lanes {
                format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}")
            } else {
                let (mask, none) = (em.first_lanes(exist, lanes), em.constant(s.elem, 0, lanes));
                format!(
                    "llvm.intr.masked.load {from}, {mask}, {none} {{alignment = {size} : i32}} : (!llvm.ptr, {}, {ty}) \
                     -> {ty}",
                    Elem::I1.ty(lanes)
                )
            };
            vector.push(em.op(inner, &load));
        }
        let mut next: Vec<String> = vec![String::new(); high * vectors];
        for row in 0..high {
            let place = row as i64 * step;
            let from = match ahead_of_row.get(row) {
                Some(place) => self.offset(em, inner, &a, place),
                None => em.op(
                    inner,
                    &format!("llvm.getelementptr {a}[{place}] : (!llvm.ptr) -> !llvm.ptr, {name}"),
                ),
            };
            let single = em.op(inner, &format!("llvm.load {from} : !llvm.ptr -> {name}"));
            let wide = em.op(inner, &format!("vector.broadcast {single} : {name} to {}", types[0]));
            // The last vector may have fewer lanes. It goes first: after the others it would be made where the element of
            // the row lies, which is free then, and all sums would move from register to register.
            for (v, (column, ty)) in vector.iter().zip(&types).enumerate().rev() {
                let (lanes, at) = (all[v], row * vectors + v);
                let value = match lanes == all[0] {
                    true => wide.clone(),
                    false => em.op(
                        inner,
                        &format!(
                            "vector.extract_strided_slice {wide} {{offsets = [0], sizes = [{lanes}], strides = [1]}} : {} to {ty}",
                            types[0]
                        ),
                    ),
                };
                let into = names[at].clone();
                if let Some(pairs) = c.pairs {
                    let factors = (value.as_str(), column.as_str());
                    next[at] = if exact {
                        pairs.multiply_add_exactly(em, inner, factors, &into, lanes)
                    } else {
                        pairs.multiply_add(em, inner, factors, &into, lanes)?
                    };
                    continue;
                }
                if op == AccOp::Add && self.is_product(body) {
                    // In the same order whatever the order in the term: it is the same function.
                    let float = s.elem != s.elem.int();
                    let fused = format!("math.fma {value}, {column}, {into} : {ty}");
                    next[at] = if float {
                        em.op(inner, &fused)
                    } else {
                        let product = em.op(inner, &format!("arith.muli {value}, {column} : {ty}"));
                        em.op(inner, &format!("arith.addi {into}, {product} : {ty}"))
                    };
                    continue;
                }
                // The values of this row and these columns are known here; the rest of the term is arithmetic.
                let part = em.open(inner, vec![(c.lane, String::new())], Some((c.lane, lanes)));
                em.seed(part, c.factors[0], Val { ssa: value.clone(), lanes });
                em.seed(part, c.factors[1], Val { ssa: column.clone(), lanes });
                next[at] = em.join_term(op, body, dtype, &into, At { scope: part, lanes })?;
                em.close_plain(part);
            }
        }
        // The columns go on where they are; the rows of an outer loop go on from where they began.
        let mut columns_then = self.offset(em, inner, &b, stride);
        let outermost: Vec<String> = (0..high * vectors)
            .map(|i| before.get(i).unwrap_or(&zeros[i % vectors]).clone())
            .chain([rows.to_string(), columns.to_string()])
            .collect();
        let pointer = "!llvm.ptr".to_string();
        let mut sums = Vec::new();
        for (depth, (count, by)) in levels.iter().enumerate().rev() {
            let (level, names) = &open[depth];
            let by = em.int(*by);
            let rows_then = self.offset(em, *level, &names[high * vectors], &by);
            let inits = if depth == 0 { &outermost } else { &open[depth - 1].1 };
            next.extend([rows_then, columns_then.clone()]);
            let carried = names.iter().zip(inits).zip(std::mem::take(&mut next)).enumerate();
            let carried: Vec<Carried> = carried
                .map(|(i, ((name, init), next))| Carried {
                    name: name.clone(),
                    init: init.clone(),
                    ty: if i < high * vectors { types[i % vectors].clone() } else { pointer.clone() },
                    next,
                })
                .collect();
            let bounds = Bounds { low: em.int(0), high: count.clone(), step: em.int(1) };
            let number = em.name();
            sums = em.close_loop(*level, &number, &bounds, &carried);
            next = sums[..high * vectors].to_vec();
            columns_then = sums[high * vectors + 1].clone();
            let by = depth.checked_sub(1).and_then(|outer| reads?.columns.get(outer));
            if let (Some(&by), Some((outer, names))) = (by, depth.checked_sub(1).map(|d| &open[d])) {
                let by = em.int(by);
                columns_then = self.offset(em, *outer, &names[high * vectors + 1], &by);
            }
        }
        for (i, (sum, to)) in sums.iter().zip(places(em)).enumerate() {
            let ty = &types[i % vectors];
            em.line(scope, &format!("llvm.store {sum}, {to} {{alignment = {size} : i64}} : {ty}, !llvm.ptr"));
        }
        Ok(())
    }

    /// Evaluates the rest of the stored field on the tile, as far as it lies inside.
    pub(super) fn store(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        first_row: &str,
        panel: &str,
        tile: &str,
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
            Some((last, digit)) => (em.int(self.dag.extent(*last)), digit.clone()),
            None => (em.int(s.rows), first_row.to_string()),
        };
        let high = em.int(s.high);
        let left = em.op(scope, &format!("arith.subi {count}, {from} : i64"));
        let here = em.op(scope, &format!("arith.minsi {left}, {high} : i64"));
        let line = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let row = em.op(line, &format!("arith.addi {from}, {iv} : i64"));
        match outside {
            Some((last, _)) => em.bind(line, last, row),
            None => {
                for (&l, digit) in c.rows.iter().zip(digits(em, line, &c.rows, &row)) {
                    em.bind(line, l, digit);
                }
            }
        }
        let base = self.times(em, line, panel, s.width);
        let start = self.times(em, line, &iv, s.width);
        let from = self.offset(em, line, tile, &start);
        let (full, rest) = (extent / s.width, extent % s.width);
        let whole = em.int(full);
        for (inside, width) in [(true, s.width), (false, rest)] {
            if width == 0 || (inside && full == 0) {
                continue;
            }
            let part = em.open(line, Vec::new(), None);
            let lanes = c.tile.0 as i64;
            let main = width - width % lanes;
            let rest = (width - main).unsigned_abs().next_power_of_two() as i64;
            for (step, low, high) in [(lanes, 0, main), (rest, main, width)] {
                if low < high {
                    self.line(em, part, (&base, &from), (step, low, high))?;
                }
            }
            if rest == 0 || full == 0 {
                em.close_plain(part);
            } else {
                let predicate = if inside { "ult" } else { "uge" };
                let holds = em.op(line, &format!("arith.cmpi {predicate}, {panel}, {whole} : i64"));
                em.close_if(part, &holds);
            }
        }
        let bounds = Bounds { low: em.int(0), high: here, step: em.int(1) };
        em.close_loop(line, &iv, &bounds, &[]);
        Ok(())
    }

    /// One row of a tile, in vectors; the last may be beyond the end in part.
    fn line(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (base, from): (&str, &str),
        (step, low, high): (i64, i64, i64),
    ) -> Result<(), CodegenError> {
        let c = self.c;
        let dtype = self.dag[c.node].dtype;
        let lanes = step as usize;
        let at_loop = em.open(scope, Vec::new(), None);
        let iv = em.name();
        let position = em.op(at_loop, &format!("arith.addi {base}, {iv} : i64"));
        let vector = (lanes > 1).then_some((c.lane, lanes));
        let inner = em.open(at_loop, vec![(c.lane, position)], vector);
        em.activate(inner, (high - low) as usize, lanes);
        let at = At { scope: inner, lanes };
        let pointer = self.offset(em, inner, from, &iv);
        let (ty, size) = (self.sizes.elem.ty(lanes), self.sizes.elem.size());
        let sum =
            em.op(inner, &format!("llvm.load {pointer} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}"));
        let sum = em.round_half(at, dtype, sum);
        em.seed(inner, c.node, Val { ssa: sum, lanes });
        let value = em.value(self.output.root, inner)?;
        let to = em.pointer(self.output.to)?;
        em.store(&to, self.dag[self.output.root].dtype, &self.output.address, &value, at);
        em.close_plain(inner);
        let bounds = Bounds { low: em.int(low), high: em.int(high), step: em.int(step) };
        em.close_loop(at_loop, &iv, &bounds, &[]);
        Ok(())
    }
}
