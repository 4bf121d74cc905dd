//! Square blocks: loads along one loop, stores along another, with a transposition in registers between.

use crate::CodegenError;
use crate::Target;
use crate::address::{LoopId, LoopSet};
use crate::dag::NodeId;
use crate::emit::{At, Bounds, Elem, Emitter, ScopeId, Val};
use crate::row::{Row, clip, open_outer, units};

/// Blocks of rows that are done one after the other before the next columns.
const STRIP: i64 = 8;

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
        let lanes = self.schedule.lanes as i64;
        let units = units(em.dag, &order[..order.len() - 1], self.schedule, target, free);
        let (mut closing, range) = open_outer(em, &units, outer);
        let scope = closing.last().map_or(em.root(), |c| c.0);
        let (rows, columns) = (em.dag.extent(along), em.dag.extent(*last));
        let (main_rows, main_columns) = (rows - rows % lanes, columns - columns % lanes);
        // Blocks; then what is left of the rows, all columns; what is left of the columns goes with the blocks.
        for (step, low, high) in [(lanes, 0, main_rows), (1, main_rows, rows)] {
            if low == high {
                continue;
            }
            let bounds = clip(em, scope, &range, (low, high), step);
            if step == 1 {
                let (inner, iv) = em.open_loop(scope, along, 1);
                self.line(em, inner, *last, (None, None))?;
                em.close_loop(inner, &iv, &bounds, &[]);
                continue;
            }
            // Some blocks of rows at once: loads then run on along a few rows of memory instead of touching all of
            // them line by line.
            let strip = em.open(scope, Vec::new(), None);
            let first = em.name();
            let length = em.int(STRIP * lanes);
            let end = em.op(strip, &format!("arith.addi {first}, {length} : i64"));
            let end = em.op(strip, &format!("arith.minsi {end}, {} : i64", bounds.high));
            let rows = |em: &mut Emitter<'_>, step: i64| Bounds {
                low: first.clone(),
                high: end.clone(),
                step: em.int(step),
            };
            let column_scope = em.open(strip, Vec::new(), None);
            let column = em.name();
            let block = em.open(column_scope, Vec::new(), None);
            let row = em.name();
            self.block(em, block, (along, &row), (*last, &column), loads)?;
            let blocks = rows(em, lanes);
            em.close_loop(block, &row, &blocks, &[]);
            let inner = Bounds { low: em.int(0), high: em.int(main_columns), step: em.int(lanes) };
            em.close_loop(column_scope, &column, &inner, &[]);
            if main_columns < columns {
                let (line, iv) = em.open_loop(strip, along, 1);
                let (point, point_iv, width) =
                    em.open_rest(line, *last, (columns - main_columns).unsigned_abs() as usize);
                self.point(em, point)?;
                let rest =
                    Bounds { low: em.int(main_columns), high: em.int(columns), step: em.int(width as i64) };
                em.close_loop(point, &point_iv, &rest, &[]);
                let lines = rows(em, 1);
                em.close_loop(line, &iv, &lines, &[]);
            }
            let strips = Bounds { step: length, ..bounds };
            em.close_loop(strip, &first, &strips, &[]);
        }
        while let Some((scope, iv, bounds)) = closing.pop() {
            em.close_loop(scope, &iv, &bounds, &[]);
        }
        Ok(units.tasks)
    }

    /// One block: the loads as vectors along the rows, transposed; then row by row in lanes along the columns.
    fn block(
        &self,
        em: &mut Emitter<'_>,
        scope: ScopeId,
        (along, row): (LoopId, &str),
        (last, column): (LoopId, &str),
        loads: &[NodeId],
    ) -> Result<(), CodegenError> {
        let lanes = self.schedule.lanes;
        let mut turned: Vec<(NodeId, String, String)> = Vec::new();
        for &load in loads {
            let elem = Elem::of(em.dag[load].dtype);
            let (line, ty) = (elem.ty(lanes), format!("vector<{lanes}x{lanes}x{}>", elem.name()));
            let zero = match elem {
                Elem::F16 | Elem::F32 | Elem::F64 => "0.0",
                Elem::I1 => "false",
                _ => "0",
            };
            let mut matrix = em.literal(&format!("dense<{zero}>"), &ty);
            for i in 0..lanes {
                let ahead = em.int(i as i64);
                let position = em.op(scope, &format!("arith.addi {column}, {ahead} : i64"));
                let part = em.open(scope, vec![(last, position)], None);
                let vector = em.open(part, vec![(along, row.to_string())], Some((along, lanes)));
                let value = em.value(load, vector)?;
                let value = em.spread(&value, elem, At { scope: vector, lanes });
                em.close_plain(vector);
                em.close_plain(part);
                matrix = em.op(scope, &format!("vector.insert {value}, {matrix}[{i}] : {line} into {ty}"));
            }
            let matrix = em.op(scope, &format!("vector.transpose {matrix}, [1, 0] : {ty} to {ty}"));
            turned.push((load, matrix, ty));
        }
        for i in 0..lanes {
            let ahead = em.int(i as i64);
            let position = em.op(scope, &format!("arith.addi {row}, {ahead} : i64"));
            let part = em.open(scope, vec![(along, position)], None);
            let inner = em.open(part, vec![(last, column.to_string())], Some((last, lanes)));
            for (load, matrix, ty) in &turned {
                let line = Elem::of(em.dag[*load].dtype).ty(lanes);
                let ssa = em.op(inner, &format!("vector.extract {matrix}[{i}] : {line} from {ty}"));
                em.seed(inner, *load, Val { ssa, lanes });
            }
            self.point(em, inner)?;
            em.close_plain(inner);
            em.close_plain(part);
        }
        Ok(())
    }
}
