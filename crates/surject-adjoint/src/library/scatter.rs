//! Scatters.

use super::indexed::gather_dims;
use super::{Joined, joined};
use crate::options::Ties;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{BinaryOp, DType, FieldId, LibOp, Region, Scalar, ScatterDims, Var};

impl Sweep {
    /// Sums pass the cotangent on; where elements are replaced, only the last update of a position gets it, and the
    /// input gets nothing there; extrema go to who they come from; products need positions that are written once.
    pub(crate) fn reverse_scatter(
        &mut self,
        dims: &ScatterDims,
        unique: bool,
        args: &[Var],
        region: &Region,
        output: Var,
        c: FieldId,
    ) -> Result<()> {
        let (input, indices, updates) = (args[0], args[1], args[2]);
        let Some((kind, _)) = joined(&self.f.fields, region) else {
            return Err(self.unsupported("its body is not one operation of its parameters"));
        };
        let op =
            |unique| LibOp::Scatter { dims: dims.clone(), indices_are_sorted: false, unique_indices: unique };
        match kind {
            Joined::Old => self.contribute(input, c),
            Joined::Op(BinaryOp::Add) => {
                self.contribute(input, c);
                if self.smooth(updates) {
                    let term = self.gathered(dims, indices, updates, c)?;
                    self.contribute(updates, term);
                }
            }
            Joined::New => {
                if self.smooth(updates) {
                    let mut term = self.gathered(dims, indices, updates, c)?;
                    if !unique {
                        let last = self.last_written(dims, input, indices, updates)?;
                        term = self.masked(last, term)?;
                    }
                    self.contribute(updates, term);
                }
                if self.smooth(input) {
                    let dtype = self.dtype(c);
                    let c = self.stored(&self.part_name(), c);
                    let nothing = self.zeros_like("nothing", updates);
                    let join = self.join(dtype, None)?;
                    let name = self.cotangent_name(input);
                    let rest = self.call_one(&name, op(unique), vec![c, indices, nothing], vec![join])?;
                    let rest = self.f.tensor(rest);
                    self.contribute(input, rest);
                }
            }
            Joined::Op(BinaryOp::Mul) if unique => {
                if self.smooth(updates) {
                    let before = self.f.tensor(input);
                    let product = self.mul(c, before)?;
                    let term = self.gathered(dims, indices, updates, product)?;
                    self.contribute(updates, term);
                }
                if self.smooth(input) {
                    let dtype = self.dtype(c);
                    let c = self.stored(&self.part_name(), c);
                    let join = self.join(dtype, Some(BinaryOp::Mul))?;
                    let name = self.cotangent_name(input);
                    let term = self.call_one(&name, op(true), vec![c, indices, updates], vec![join])?;
                    let term = self.f.tensor(term);
                    self.contribute(input, term);
                }
            }
            Joined::Op(BinaryOp::Max | BinaryOp::Min) if self.ties != Ties::First => {
                self.scattered_extremum(dims, [input, indices, updates], output, c)?;
            }
            Joined::Op(op) => {
                let why = if op == BinaryOp::Mul { " of positions that may repeat" } else { "" };
                return Err(self.unsupported(format!("its body is `{op}`{why}")));
            }
        }
        Ok(())
    }

    /// Where updates join by an extremum, the old element and the updates that equal the result get the cotangent: in
    /// equal parts, or each the whole of it.
    fn scattered_extremum(
        &mut self,
        dims: &ScatterDims,
        [input, indices, updates]: [Var; 3],
        output: Var,
        c: FieldId,
    ) -> Result<()> {
        let (old, new, result) = (self.f.tensor(input), self.f.tensor(updates), self.f.tensor(output));
        let kept = self.binary(BinaryOp::Eq, old, result)?;
        let reached = self.gathered(dims, indices, updates, result)?;
        let chosen = self.binary(BinaryOp::Eq, new, reached)?;
        let share = match self.ties {
            Ties::Split | Ties::Jax => {
                let dtype = self.dtype(c);
                let wide = if dtype.bits() == 16 { DType::F32 } else { dtype };
                let ones = |s: &mut Sweep, x: FieldId, mask: FieldId| {
                    let space = s.space(x);
                    let one = s.f.fields.constant(&space, Scalar::one(wide));
                    s.masked(mask, one)
                };
                let (base, terms) = (ones(self, old, kept)?, ones(self, new, chosen)?);
                let name = self.part_name();
                let (base, terms) = (self.stored(&name, base), self.stored(&name, terms));
                let op =
                    LibOp::Scatter { dims: dims.clone(), indices_are_sorted: false, unique_indices: false };
                let join = self.join(wide, Some(BinaryOp::Add))?;
                let count = self.call_one(&name, op, vec![base, indices, terms], vec![join])?;
                let count = self.f.tensor(count);
                let whole = self.convert(wide, c);
                let share = self.div(whole, count)?;
                let share = self.convert(dtype, share);
                self.stored_field(&name, share)
            }
            _ => c,
        };
        if self.smooth(input) {
            let term = self.masked(kept, share)?;
            self.contribute(input, term);
        }
        if self.smooth(updates) {
            let term = self.gathered(dims, indices, updates, share)?;
            let term = self.masked(chosen, term)?;
            self.contribute(updates, term);
        }
        Ok(())
    }

    /// The elements of a field over the space of a scatter's input that its updates were written to; zero for updates
    /// that were dropped. A gather clamps where a scatter drops, so zeros are put around: an update that is partly or
    /// wholly outside reads them.
    fn gathered(&mut self, dims: &ScatterDims, indices: Var, updates: Var, c: FieldId) -> Result<FieldId> {
        let (space, update_space) = (self.space(c), self.f.ty(updates).space.clone());
        let known = |s: &Space| s.sizes().map(|v| v.iter().map(|&n| n.unsigned_abs()).collect::<Vec<u64>>());
        let (Some(sizes), Some(update_sizes)) = (known(&space), known(&update_space)) else {
            return Err(self.unsupported("tensors whose sizes are not known"));
        };
        let mut slice_sizes = vec![1u64; sizes.len()];
        let window = (0..sizes.len())
            .filter(|a| !dims.inserted_window_dims.contains(a) && !dims.input_batching_dims.contains(a));
        for (axis, &from) in window.zip(&dims.update_window_dims) {
            slice_sizes[axis] = update_sizes[from];
        }
        let indexed = &dims.scatter_dims_to_operand_dims;
        let room = |axis: usize| if indexed.contains(&axis) { slice_sizes[axis] } else { 0 };
        let padded: Vec<u64> = (0..sizes.len()).map(|a| sizes[a] + 2 * room(a)).collect();
        let rank = sizes.len();
        let shifts = (0..rank).map(|a| Affine::strided(rank, a, 1, -(room(a) as i64))).collect();
        let zero = surject_index::Fill(Scalar::zero(self.dtype(c)).bits());
        let map = IndexMap::partial(Space::of(&padded), space, shifts, Vec::new(), zero);
        let map = self.mapped(map)?;
        let c = self.read(map, c)?;
        let c = self.stored(&self.part_name(), c);
        let low: Vec<i128> = indexed.iter().map(|&a| -i128::from(room(a))).collect();
        let high: Vec<i128> = indexed.iter().map(|&a| i128::from(sizes[a])).collect();
        let clamped = self.clamped(indices, dims.index_vector_dim, &low, &high)?;
        // The positions with the zeros around do not fit every type that the positions themselves fit.
        let wide = match self.dtype(clamped) {
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::I32
                if padded.iter().all(|&n| n < 1 << 31) =>
            {
                DType::I32
            }
            _ => DType::I64,
        };
        let clamped = self.convert(wide, clamped);
        let shift: Vec<i128> = indexed.iter().map(|&a| i128::from(room(a))).collect();
        let shifted = self.shifted_by(clamped, dims.index_vector_dim, &shift)?;
        let shifted = self.stored("indices", shifted);
        let op = LibOp::Gather { dims: gather_dims(dims), slice_sizes, indices_are_sorted: false };
        let taken = self.call_one(&self.part_name(), op, vec![c, shifted], Vec::new())?;
        Ok(self.f.tensor(taken))
    }

    /// Index vectors with a number added to each component.
    fn shifted_by(&mut self, x: FieldId, vector_axis: usize, by: &[i128]) -> Result<FieldId> {
        let Some(&first) = by.first() else { return Ok(x) };
        let mut offset = self.integer(x, first);
        if by.iter().any(|&b| b != first) {
            let space = self.space(x);
            let component = self.f.fields.index(&space, vector_axis, DType::I32);
            let component = self.typed(component)?;
            for (k, &b) in by.iter().enumerate().skip(1) {
                let here = self.integer(component, k as i128);
                let here = self.binary(BinaryOp::Eq, component, here)?;
                let value = self.integer(x, b);
                offset = self.select(here, value, offset)?;
            }
        }
        self.add(x, offset)
    }

    /// Is an update the one that stays, of those that are written to its position? The numbers of the updates are
    /// scattered in their place, and each is compared with the one found there.
    fn last_written(
        &mut self,
        dims: &ScatterDims,
        input: Var,
        indices: Var,
        updates: Var,
    ) -> Result<FieldId> {
        let (space, update_space) = (self.f.ty(input).space.clone(), self.f.ty(updates).space.clone());
        let number = self.point_number(&update_space)?;
        // Counted from 1: zero is what stands where nothing is written.
        let one = self.integer(number, 1);
        let number = self.add(number, one)?;
        let dtype = self.dtype(number);
        let numbers = self.stored("number", number);
        let base = self.zeros("number", dtype, &space);
        let join = self.join(dtype, None)?;
        let op = LibOp::Scatter { dims: dims.clone(), indices_are_sorted: false, unique_indices: false };
        let written = self.call_one("number", op, vec![base, indices, numbers], vec![join])?;
        let written = self.f.tensor(written);
        let found = self.gathered(dims, indices, updates, written)?;
        self.binary(BinaryOp::Eq, found, number)
    }
}
