//! Memory of a warp that matrices are summed in: its elements lie in registers of the threads, as the products of matrices
//! leave them.
//!
//! A warp may fill such a memory, sum products in it, and compute with its elements; each in this form:
//!
//! ```text
//! for %e = 0 to ELEMENTS { store %value, acc[%e] }
//! matmul (m, n, k) acc[0] by (n, 1), …
//! for %i = 0 to m { … for %j = 0 to n step 2 { … %x = load acc[n*%i + %j + lane] : f32x2  … } }
//! ```
//!
//! What stands around the load each thread does for the pairs of elements that it has. It may store another pair in the
//! place of the one that it has loaded.

use super::{Agent, Done, KernelWriter, Writer, element};
use surject_ir::DType;
use surject_kernel::{
    Affine, Kernel, LoopKind, MatMulSizes, Mem, Op, Region, Space, Statement, Term, Tile, Value,
};

/// Elements side by side that a thread has of a row.
const PAIR: i64 = 2;

/// Which columns the threads of a warp have of two products by matrix units that are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// The first product has the first eight, of which a thread has a pair.
    InOrder,
    /// The first product has the even ones and the second one the odd ones, so that a thread has four neighbours: bytes of
    /// neighbours come together where they lie next to each other in shared memory.
    Alternating,
}

impl Columns {
    /// How products leave the sums of a right factor: one of bytes whose columns lie next to each other.
    fn of(kernel: &Kernel, sizes: MatMulSizes, right: &Tile) -> Columns {
        let of_bytes = kernel.mem(right.mem).dtype.size() == 1 && right.column == 1 && right.row != 1;
        if of_bytes && sizes.n.is_multiple_of(16) { Columns::Alternating } else { Columns::InOrder }
    }
}

/// How the threads of a warp share a matrix of sums.
#[derive(Clone, Debug)]
pub(super) struct Fragments {
    /// The registers, elements of a thread.
    pub(super) name: String,
    pub(super) dtype: DType,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) order: Columns,
}

/// The sums of a warp: what products are summed into and lies in registers of the warp.
pub(super) struct Sums {
    mem: Mem,
    sizes: MatMulSizes,
    order: Columns,
}

/// All sums of warps of a kernel.
pub(super) fn sums(kernel: &Kernel) -> Vec<Sums> {
    fn find(kernel: &Kernel, region: &Region, found: &mut Vec<Sums>) {
        for statement in &region.body {
            if let Op::MatMul { sizes, acc, b, .. } = &statement.op
                && kernel.mem(acc.mem).space == Space::Register
                && !found.iter().any(|f| f.mem == acc.mem)
            {
                let order = Columns::of(kernel, *sizes, b);
                found.push(Sums { mem: acc.mem, sizes: *sizes, order });
            }
            statement.op.regions().for_each(|r| find(kernel, r, found));
        }
    }
    let mut found = Vec::new();
    find(kernel, &kernel.body, &mut found);
    found
}

/// A loop from 0 to a number, in such steps, that carries nothing.
fn simple(statement: &Statement, by: i64) -> Option<(Value, i64, &Region)> {
    match &statement.op {
        Op::For { low, high, step, kind: LoopKind::Serial | LoopKind::Unrolled, inits, body }
            if inits.is_empty() && *step == by && low.as_constant() == Some(0) =>
        {
            Some((*body.params.first()?, high.as_constant()?, body))
        }
        _ => None,
    }
}

impl Writer<'_> {
    /// Makes the registers of a matrix of sums; gives whether the memory is one.
    pub(super) fn alloc_fragments(&mut self, mem: Mem) -> Done<bool> {
        let Some(&Sums { sizes, order, .. }) = self.sums.iter().find(|s| s.mem == mem) else {
            return Ok(false);
        };
        let memory = self.kernel.mem(mem).clone();
        let whole = memory.elements.as_constant() == Some((sizes.m * sizes.n) as i64);
        if self.agent != Agent::Warp || !whole || sizes.m % 16 != 0 || sizes.n % 8 != 0 {
            return Err(format!(
                "`{}`, sums of a warp that are not one matrix of 16 by 8 or more",
                memory.name
            ));
        }
        if !matches!(memory.dtype, DType::F32 | DType::F64 | DType::I32) {
            return Err(format!("`{}`, sums of a warp in {}", memory.name, memory.dtype));
        }
        let elements = (sizes.m * sizes.n) as i64 / super::WARP;
        let name = self.alloca(elements, element(memory.dtype), 16);
        let fragments = Fragments { name, dtype: memory.dtype, rows: sizes.m, columns: sizes.n, order };
        self.fragments.insert(mem, fragments);
        Ok(true)
    }

    /// The registers that a product sums in, if its tile is the whole matrix.
    pub(super) fn fragments_of(
        &self,
        sizes: MatMulSizes,
        [tile, right]: [&Tile; 2],
    ) -> Done<Option<Fragments>> {
        let Some(found) = self.fragments.get(&tile.mem) else { return Ok(None) };
        let whole = tile.at.as_constant() == Some(0) && (tile.row, tile.column) == (sizes.n as i64, 1);
        let same = found.order == Columns::of(self.kernel, sizes, right);
        if !whole || !same || (found.rows, found.columns) != (sizes.m, sizes.n) {
            return Err("a product in a part of the sums of a warp".into());
        }
        Ok(Some(found.clone()))
    }

    /// The address of a register.
    fn slot(&mut self, fragments: &Fragments, number: usize) -> String {
        let (at, ty) = (self.index(number as i64), element(fragments.dtype));
        let name = &fragments.name;
        self.op(&format!("llvm.getelementptr inbounds {name}[{at}] : (!llvm.ptr, i64) -> !llvm.ptr, {ty}"))
    }

    pub(super) fn load_slot(&mut self, fragments: &Fragments, number: usize) -> String {
        let (address, ty) = (self.slot(fragments, number), element(fragments.dtype));
        let size = fragments.dtype.size();
        self.op(&format!("llvm.load {address} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}"))
    }

    pub(super) fn store_slot(&mut self, fragments: &Fragments, number: usize, value: &str) {
        let (address, ty) = (self.slot(fragments, number), element(fragments.dtype));
        let size = fragments.dtype.size();
        self.line(&format!("llvm.store {value}, {address} {{alignment = {size} : i64}} : {ty}, !llvm.ptr"));
    }

    /// Writes a loop that fills the sums of a warp or copies them; gives whether it is one.
    pub(super) fn loop_over_fragments(&mut self, statement: &Statement) -> Done<bool> {
        if self.agent != Agent::Warp || self.fragments.is_empty() {
            return Ok(false);
        }
        let Some((outer, count, body)) = simple(statement, 1) else { return Ok(false) };
        let affine = |terms: &[(Value, i64)], lane: i64| {
            let mut terms: Vec<Term> =
                terms.iter().map(|&(v, factor)| Term { values: vec![v], factor }).collect();
            terms.sort();
            Affine { terms, lane, offset: 0 }
        };
        match &body.body[..] {
            [Statement { op: Op::Store { place, value, .. }, .. }] => {
                let Some(fragments) = self.fragments.get(&place.mem).cloned() else { return Ok(false) };
                let all = (fragments.rows * fragments.columns) as i64;
                if count != all || place.at != affine(&[(outer, 1)], 0) || self.ty(*value).lanes != 1 {
                    return Err("sums of a warp that are filled in parts".into());
                }
                let value = self.name(*value)?;
                (0..all as usize / super::WARP as usize)
                    .for_each(|number| self.store_slot(&fragments, number, &value));
                Ok(true)
            }
            [around @ .., inner] => {
                let Some((column, columns, inner)) = simple(inner, PAIR) else { return Ok(false) };
                let is_sum = |s: &&Statement| match &s.op {
                    Op::Load { place, .. } => self.fragments.contains_key(&place.mem),
                    _ => false,
                };
                let mut loads = inner.body.iter().filter(is_sum);
                let (Some(load), None) = (loads.next(), loads.next()) else { return Ok(false) };
                let Op::Load { place: from, .. } = &load.op else { return Ok(false) };
                let Some(fragments) = self.fragments.get(&from.mem).cloned() else { return Ok(false) };
                let whole = (count, columns) == (fragments.rows as i64, fragments.columns as i64);
                let dense = from.at == affine(&[(outer, columns), (column, 1)], 1);
                if !whole || !dense || self.ty(load.results[0]).lanes != PAIR as usize {
                    return Err("sums of a warp that are read in parts".into());
                }
                let into = |s: &Statement| match &s.op {
                    Op::Store { place, .. } => self.fragments.contains_key(&place.mem).then(|| place == from),
                    _ => None,
                };
                if inner.body.iter().filter_map(into).any(|same| !same) {
                    return Err("sums of a warp that are stored elsewhere than they were read".into());
                }
                let results =
                    Results { row: outer, around, column, inside: &inner.body, sum: load.results[0] };
                self.results_of_fragments(&fragments, &results)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Each thread computes with what it has.
    fn results_of_fragments(&mut self, fragments: &Fragments, results: &Results<'_>) -> Done<()> {
        self.synchronise();
        let lane = self.numbers[1].clone();
        let (two, three) = (self.index(2), self.index(3));
        let group = self.op(&format!("arith.shrui {lane}, {two} : i64"));
        let number = self.op(&format!("arith.andi {lane}, {three} : i64"));
        let neighbours = match fragments.order {
            Columns::InOrder => two,
            Columns::Alternating => self.index(4),
        };
        let pair = self.op(&format!("arith.muli {number}, {neighbours} overflow<nsw> : i64"));
        let agent = std::mem::replace(&mut self.agent, Agent::Thread { of: super::WARP, warp: true });
        for i in 0..fragments.rows / 8 {
            let down = self.index(8 * i as i64);
            let at = self.op(&format!("arith.addi {group}, {down} overflow<nsw> : i64"));
            self.define(results.row, at);
            self.statements(results.around)?;
            for j in 0..fragments.columns / 8 {
                let right = self.index(match fragments.order {
                    Columns::InOrder => 8 * j as i64,
                    Columns::Alternating => (16 * (j / 2) + 2 * (j % 2)) as i64,
                });
                let at = self.op(&format!("arith.addi {pair}, {right} overflow<nsw> : i64"));
                self.define(results.column, at);
                self.divides.insert(results.column, PAIR);
                // Units of f64 have 8 rows, the others 16.
                let slots = match (fragments.dtype, fragments.order) {
                    (DType::F64, _) => [0, 1].map(|lane| 2 * (i * (fragments.columns / 8) + j) + lane),
                    (_, Columns::InOrder) => {
                        [0, 1].map(|lane| 4 * (i / 2 * (fragments.columns / 8) + j) + 2 * (i % 2) + lane)
                    }
                    // Its first column is in the product of the even ones, the second one in that of the odd ones.
                    (_, Columns::Alternating) => [0, 1].map(|lane| {
                        4 * (i / 2 * (fragments.columns / 8) + j / 2 * 2 + lane) + 2 * (i % 2) + j % 2
                    }),
                };
                for statement in results.inside {
                    if statement.results[..] == [results.sum] {
                        let own = slots.map(|slot| self.load_slot(fragments, slot));
                        let own = self.joined(&own, element(fragments.dtype));
                        self.define(results.sum, own);
                    } else if let Op::Store { place, value, .. } = &statement.op
                        && self.fragments.contains_key(&place.mem)
                    {
                        let ty = self.ty(*value);
                        let name = self.name(*value)?;
                        for (lane, slot) in slots.into_iter().enumerate() {
                            let own = self.lane(&name, ty, lane);
                            self.store_slot(fragments, slot, &own);
                        }
                    } else {
                        self.statements(std::slice::from_ref(statement))?;
                    }
                }
            }
        }
        self.agent = agent;
        self.pending = [true; 2];
        Ok(())
    }
}

/// A loop over rows and one over columns inside of it, which read the sums of a warp.
struct Results<'k> {
    row: Value,
    /// What stands before the loop over columns.
    around: &'k [Statement],
    column: Value,
    inside: &'k [Statement],
    /// The sum that is read.
    sum: Value,
}
