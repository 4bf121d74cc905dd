//! Square blocks: loads along one loop, stores along another, with a transposition in registers between.

use crate::CodegenError;
use crate::Target;
use crate::address::{LoopId, LoopSet};
use crate::dag::{Node, NodeId};
use crate::emit::{At, Bounds, Elem, Emitter, ScopeId, Val};
use crate::row::{Row, clip, open_outer, units};

/// Blocks of rows that are done one after the other before the next columns.
const STRIP: i64 = 16;

/// Rows are few where there are more than so many times as many.
const FEW: i64 = 32;

/// Bytes that are loaded at once: vectors are put together of such chunks, and transposed within them.
const CHUNK: usize = 16;

/// A block of a kernel: rows from `row` on, columns from `column` on.
struct Block<'a> {
    row: &'a str,
    column: &'a str,
    /// The first of its rows that is stored; those before it were.
    first: usize,
    /// The lanes of a row, and how many of them exist.
    lanes: usize,
    active: usize,
}

impl Row<'_> {
    /// Writes the loops of a schedule whose last loop but one is the one that loads run along. Gives the number of
    /// tasks.
    pub(crate) fn turned(
        &self,
        em: &mut Emitter<'_>,
        along: LoopId,
        loads: &[NodeId],
        target: &Target,
        free: LoopSet,
    ) -> Result<i64, CodegenError> {
        let order = &self.schedule.order;
        let [outer @ .., _, last] = order.as_slice() else {
            return Err(CodegenError::malformed("a block with less than two loops"));
        };
        let (lanes, full) = (self.schedule.lanes as i64, self.schedule.lanes);
        let units = units(em.dag, &order[..order.len() - 1], self.schedule, target, free);
        let (mut closing, range) = open_outer(em, &units, outer);
        let scope = closing.last().map_or(em.root(), |c| c.0);
        let (rows, columns) = (em.dag.extent(along), em.dag.extent(*last));
        let (main_rows, main_columns) = (rows - rows % lanes, columns - columns % lanes);
        let rest = (columns - main_columns).unsigned_abs() as usize;
        // Whole blocks of rows; then the last rows, as a block that ends with them. A piece of the rows is whole
        // blocks, so that one task has all of the last rows.
        for (low, high) in [(0, main_rows), (main_rows, rows)] {
            if low == high {
                continue;
            }
            // A few rows among many are done line by line, which is less code.
            if low > 0 && (rows - main_rows) * FEW < rows {
                let bounds = clip(em, scope, &range, (low, high), 1);
                let (inner, iv) = em.open_loop(scope, along, 1);
                self.line(em, inner, *last, (None, None), true)?;
                em.close_loop(inner, &iv, &bounds, &[]);
                continue;
            }
            let bounds = clip(em, scope, &range, (low, high), lanes);
            // Some blocks of rows at once: loads then run on along a few rows of memory instead of touching all of
            // them line by line.
            let strip = em.open(scope, Vec::new(), None);
            let first = em.name();
            let length = em.int(STRIP * lanes);
            let end = em.op(strip, &format!("arith.addi {first}, {length} : i64"));
            let end = em.op(strip, &format!("arith.minsi {end}, {} : i64", bounds.high));
            let skipped = if low == 0 { 0 } else { (lanes - (rows - main_rows)) as usize };
            let blocks = |em: &mut Emitter<'_>, scope: ScopeId, column: &str, lanes: usize, active: usize| {
                let inner = em.open(scope, Vec::new(), None);
                let iv = em.name();
                let row = if low == 0 { iv.clone() } else { em.int(rows - full as i64) };
                let block = Block { row: &row, column, first: skipped, lanes, active };
                self.block(em, inner, along, *last, loads, &block)?;
                let steps = Bounds { low: first.clone(), high: end.clone(), step: em.int(full as i64) };
                em.close_loop(inner, &iv, &steps, &[]);
                Ok::<(), CodegenError>(())
            };
            if main_columns > 0 {
                let column_scope = em.open(strip, Vec::new(), None);
                let column = em.name();
                blocks(em, column_scope, &column, full, full)?;
                let inner = Bounds { low: em.int(0), high: em.int(main_columns), step: em.int(lanes) };
                em.close_loop(column_scope, &column, &inner, &[]);
            }
            if rest > 0 {
                let column = em.int(main_columns);
                blocks(em, strip, &column, rest.next_power_of_two().max(2), rest)?;
            }
            let strips = Bounds { step: length, ..bounds };
            em.close_loop(strip, &first, &strips, &[]);
        }
        while let Some((scope, iv, bounds)) = closing.pop() {
            em.close_loop(scope, &iv, &bounds, &[]);
        }
        Ok(units.tasks)
    }

    /// One block: the loads along the rows, transposed; then row by row in lanes along the columns.
    fn block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        along: LoopId,
        last: LoopId,
        loads: &[NodeId],
        block: &Block<'_>,
    ) -> Result<(), CodegenError> {
        let Block { row, column, first, lanes, active } = *block;
        let mut turned: Vec<(NodeId, Vec<String>)> = Vec::new();
        for &load in loads {
            turned.push((load, self.transposed(em, scope, along, last, load, block)?));
        }
        for i in first..self.schedule.lanes {
            let ahead = em.int(i as i64);
            let position = em.op(scope, &format!("arith.addi {row}, {ahead} : i64"));
            let part = em.open(scope, vec![(along, position)], None);
            let inner = em.open(part, vec![(last, column.to_string())], Some((last, lanes)));
            em.activate(inner, active, lanes);
            for (load, rows) in &turned {
                let (dtype, raw) = (em.dag[*load].dtype, rows[i].clone());
                let ssa = em.widen(dtype, raw, At { scope: inner, lanes });
                em.seed(inner, *load, Val { ssa, lanes });
            }
            self.point(em, inner)?;
            em.close_plain(inner);
            em.close_plain(part);
        }
        Ok(())
    }

    /// The rows of a block of a load whose elements lie next to each other along the columns of memory: each a
    /// vector of memory type along the last loop. Those before the first that is stored may be missing.
    ///
    /// A vector of `lanes` elements is put together from chunks of `size` elements of so many lines; `size` such
    /// vectors are transposed chunk by chunk, and are then `size` rows.
    fn transposed(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        along: LoopId,
        last: LoopId,
        load: NodeId,
        block: &Block<'_>,
    ) -> Result<Vec<String>, CodegenError> {
        let malformed = || CodegenError::malformed("a block of something that is not loaded");
        let Node::Load { buf, address, .. } = em.dag[load].node.clone() else { return Err(malformed()) };
        let pointer = em.pointers.get(&buf).cloned().ok_or_else(malformed)?;
        let elem = Elem::in_memory(em.dag[load].dtype);
        let (rows, lanes) = (self.schedule.lanes, block.lanes);
        let size = (CHUNK / elem.size()).min(lanes).min(rows);
        let zero = match elem {
            Elem::F16 | Elem::F32 | Elem::F64 => "dense<0.0>",
            _ => "dense<0>",
        };
        // Line by line, so that a line of memory is read at once.
        let mut chunks: Vec<Vec<String>> = vec![Vec::new(); rows / size];
        let binds = vec![(last, block.column.to_string()), (along, block.row.to_string())];
        let corner = em.open(scope, binds, None);
        let place = em.lin(&address, corner);
        let base = em.element(&pointer, &place, elem, corner);
        em.close_plain(corner);
        // The next block; and where memory is touched in a way that LLVM cannot analyse, it does not compare every
        // load of a block with every store, which takes longer than all else.
        let next = em.int(rows as i64);
        let next = em.element(&base, &next, elem, scope);
        em.line(
            scope,
            &format!(
                "\"llvm.intr.prefetch\"({next}) <{{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}}> : (!llvm.ptr) -> ()"
            ),
        );
        for line in 0..lanes {
            for (k, chunk) in chunks.iter_mut().enumerate() {
                if line >= block.active || (k + 1) * size <= block.first {
                    chunk.push(em.literal(zero, &elem.ty(size)));
                    continue;
                }
                let ahead = (line as i64).checked_mul(address.coeff(last)).ok_or_else(malformed)?;
                let ahead = em.int(ahead.checked_add((k * size) as i64).ok_or_else(malformed)?);
                let from = em.element(&base, &ahead, elem, scope);
                let (ty, bytes) = (elem.ty(size), elem.size());
                let load = format!("llvm.load {from} {{alignment = {bytes} : i64}} : !llvm.ptr -> {ty}");
                chunk.push(em.op(scope, &load));
            }
        }
        let mut result = Vec::with_capacity(rows);
        for (k, chunk) in chunks.into_iter().enumerate() {
            if (k + 1) * size <= block.first {
                result.extend(std::iter::repeat_n(String::new(), size));
                continue;
            }
            let mut lines: Vec<String> = Vec::with_capacity(size);
            for r in 0..size {
                let mut parts: Vec<String> = chunk.iter().skip(r).step_by(size).cloned().collect();
                let mut width = size;
                while parts.len() > 1 {
                    let all: Vec<usize> = (0..2 * width).collect();
                    let pairs: Vec<(String, String)> =
                        parts.chunks_exact(2).map(|p| (p[0].clone(), p[1].clone())).collect();
                    parts =
                        pairs.iter().map(|(a, b)| shuffle(em, scope, (a, b), &all, elem, width)).collect();
                    width *= 2;
                }
                lines.extend(parts);
            }
            // Interleaving the halves of a list as often as it can be halved transposes it.
            let mut step = 1;
            while step < size {
                let mut next = Vec::with_capacity(size);
                for i in 0..size / 2 {
                    for half in [0, size / 2] {
                        let mask: Vec<usize> = (0..lanes / size)
                            .flat_map(|q| (0..size / 2).map(move |j| q * size + half + j))
                            .flat_map(|lane| [lane, lanes + lane])
                            .collect();
                        let pair = (lines[i].as_str(), lines[i + size / 2].as_str());
                        next.push(shuffle(em, scope, pair, &mask, elem, lanes));
                    }
                }
                lines = next;
                step *= 2;
            }
            result.extend(lines);
        }
        Ok(result)
    }
}

/// Elements of two vectors of so many lanes.
fn shuffle(
    em: &mut Emitter<'_>,
    scope: ScopeId,
    (a, b): (&str, &str),
    mask: &[usize],
    elem: Elem,
    lanes: usize,
) -> String {
    let (list, ty) = (mask.iter().map(|i| i.to_string()).collect::<Vec<_>>().join(", "), elem.ty(lanes));
    em.op(scope, &format!("vector.shuffle {a}, {b} [{list}] : {ty}, {ty}"))
}
