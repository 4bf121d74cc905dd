//! The loads of a block, transposed in registers.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::address::LoopId;
use crate::expression::dag::{Node, NodeId};
use crate::lower::emit::{At, Emitter, ScopeId};
use crate::lower::prefetch::prefetch;
use crate::lower::register_transpose::CHUNK;
use crate::lower::row::Row;
use crate::lower::transpose::Block;
use crate::lower::transpose::along::Along;
use crate::machine::elem::Elem;
use crate::schedule::prefetch::PrefetchHint;

impl Row<'_> {
    /// The rows of a block of a load whose elements lie next to each other along the columns of memory: each a
    /// vector of memory type along the last loop. Those before the first that is stored may be missing.
    ///
    /// A vector of `lanes` elements is put together from chunks of `size` elements of so many lines; `size` such
    /// vectors are transposed chunk by chunk, and are then `size` rows.
    pub(super) fn transposed(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        rows_of: &Along,
        last: LoopId,
        load: NodeId,
        block: &Block,
    ) -> Result<Vec<Value>, CodegenError> {
        let malformed = || CodegenError::malformed("a block of something that is not loaded");
        let Node::Load { buf, address, .. } = em.dag[load].node.clone() else { return Err(malformed()) };
        let pointer = em.pointers.get(&buf).cloned().ok_or_else(malformed)?;
        let elem = Elem::in_memory(em.dag[load].dtype);
        let (along, rows, lanes) = (rows_of.all, rows_of.block, block.lanes);
        let size = (CHUNK / elem.size()).min(lanes).min(rows);
        let binds = vec![(last, block.column), (along, block.row)];
        let base = em.corner(pointer, (&address, elem), binds, scope);
        // The next block; and where memory is touched in a way that LLVM cannot analyse, it does not compare every
        // load of a block with every store, which takes longer than all else.
        prefetch(em, scope, (base, rows as i64), elem, PrefetchHint::Now);
        let distance = address.coeff(last);
        if block.reach.far {
            for line in (0..lanes as i64).filter(|line| *line < block.active as i64) {
                let offset = (lanes as i64 + line).checked_mul(distance).ok_or_else(malformed)?;
                prefetch(em, scope, (base, offset), elem, PrefetchHint::Soon);
            }
        }
        if !block.reach.meet && block.first == 0 && lanes == block.active && lanes % rows == 0 {
            let lines: Option<Vec<i64>> = (0..lanes as i64).map(|line| line.checked_mul(distance)).collect();
            let lines = lines.ok_or_else(malformed)?;
            let lines = lines.iter().map(|&offset| {
                let offset = em.int(offset);
                let from = em.element(base, offset, elem, scope);
                em.neighbours(from, None, (elem, rows), scope)
            });
            let lines: Vec<Value> = lines.collect();
            let squares: Vec<_> =
                lines.chunks(rows).map(|lines| square(em, scope, lines, size, elem)).collect();
            let of_row = |row: usize| squares.iter().map(|square| square[row]).collect();
            let joined = (0..rows).flat_map(|row| em.joined(of_row(row), rows, elem, At { scope, lanes }));
            return Ok(joined.collect());
        }
        // Line by line, so that a line of memory is read at once.
        let mut chunks: Vec<Vec<Value>> = vec![Vec::new(); rows / size];
        for line in 0..lanes {
            for (k, chunk) in chunks.iter_mut().enumerate() {
                if line >= block.active || (k + 1) * size <= block.first {
                    chunk.push(em.constant(elem, 0, size));
                    continue;
                }
                let offset = (line as i64).checked_mul(distance).ok_or_else(malformed)?;
                let offset = em.int(offset.checked_add((k * size) as i64).ok_or_else(malformed)?);
                let from = em.element(base, offset, elem, scope);
                let (ty, bytes) = (elem.ty(size), elem.size());
                chunk.push(em.op(scope, Op::aligned_load(from, ty, bytes)));
            }
        }
        let mut result = Vec::with_capacity(rows);
        for (k, chunk) in chunks.into_iter().enumerate() {
            if (k + 1) * size <= block.first {
                result.extend(std::iter::repeat_n(Value::NONE, size));
                continue;
            }
            result.extend(em.transposed_chunks(chunk, size, lanes, elem, scope));
        }
        Ok(result)
    }
}

/// The columns of as many whole lines as each has elements: transposed in chunks of so many elements, and chunk by chunk.
fn square(em: &mut Emitter<'_>, scope: ScopeId, lines: &[Value], size: usize, elem: Elem) -> Vec<Value> {
    let lanes = lines.len();
    let at = At { scope, lanes };
    // Of each group of lines the columns of a chunk: in the vector `t` of a group, chunk `q` has column `q · size + t`.
    let groups: Vec<Vec<Value>> =
        lines.chunks(size).map(|group| em.interleaved(group.to_vec(), size, lanes, elem, at)).collect();
    let mut columns = vec![Value::NONE; lanes];
    for t in 0..size {
        let mut vectors: Vec<Value> = groups.iter().map(|group| group[t]).collect();
        // The bits of the group and of the chunk change places, one after the other.
        let mut bit = 1;
        while bit < vectors.len() {
            let (chunks, mut next) = (vectors.len(), vectors.clone());
            for i in (0..chunks).filter(|i| i & bit == 0) {
                let pick = |half: usize| -> Vec<usize> {
                    let of = |q: usize| if q & bit == 0 { q | half } else { chunks + (q & !bit | half) };
                    (0..chunks).map(of).flat_map(|q| (0..size).map(move |e| q * size + e)).collect()
                };
                for half in [0, bit] {
                    let pair = (vectors[i], vectors[i | bit]);
                    next[i | half] = em.pick(pair, lanes, &pick(half), elem, at);
                }
            }
            vectors = next;
            bit *= 2;
        }
        for (q, vector) in vectors.into_iter().enumerate() {
            columns[q * size + t] = vector;
        }
    }
    columns
}
