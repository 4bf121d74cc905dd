//! Scatters.

use super::indexed::gather_dims;
use super::{Joined, joined};
use crate::options::Ties;
use crate::sizes::Component;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Extent, IndexMap, Space};
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
    /// wholly outside reads them. Where the updates have symbolic sizes, so have the slices of the gather (seed 002,
    /// "Scatter Transpose Policy").
    fn gathered(&mut self, dims: &ScatterDims, indices: Var, updates: Var, c: FieldId) -> Result<FieldId> {
        let (space, update_space) = (self.space(c), self.f.ty(updates).space.clone());
        let rank = space.rank();
        let mut slice_sizes = vec![Extent::Const(1); rank];
        let window = (0..rank)
            .filter(|a| !dims.inserted_window_dims.contains(a) && !dims.input_batching_dims.contains(a));
        for (axis, &from) in window.zip(&dims.update_window_dims) {
            slice_sizes[axis] = update_space.extent(from).clone();
        }
        let indexed = &dims.scatter_dims_to_operand_dims;
        let room = |axis: usize| {
            if indexed.contains(&axis) { slice_sizes[axis].clone() } else { Extent::Const(0) }
        };
        let rooms: Vec<Extent> = (0..rank).map(room).collect();
        let with_room = |a: usize| match (&rooms[a], space.extent(a)) {
            (Extent::Const(0), own) => own.clone(),
            (room, own) => Extent::sum(own.clone(), Extent::product(Extent::Const(2), room.clone())),
        };
        let padded = Space::new((0..rank).map(with_room).collect::<Vec<_>>());
        let c = self.surrounded(c, &padded, &rooms)?;
        let low: Vec<Component> = indexed.iter().map(|&a| Component::minus(&rooms[a])).collect();
        let high: Vec<Component> = indexed.iter().map(|&a| space.extent(a).clone().into()).collect();
        let clamped = self.clamped(indices, dims.index_vector_dim, &low, &high)?;
        // The positions with the zeros around do not fit every type that the positions themselves fit.
        let small = |e: &Extent| e.as_const().is_some_and(|n| n < 1 << 31);
        let wide = match self.dtype(clamped) {
            DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::I32
                if padded.extents().iter().all(small) =>
            {
                DType::I32
            }
            _ => DType::I64,
        };
        let clamped = self.convert(wide, clamped);
        let shift: Vec<Component> = indexed.iter().map(|&a| rooms[a].clone().into()).collect();
        let shifted = match shift.is_empty() {
            true => clamped,
            false => {
                let offset = self.components(clamped, dims.index_vector_dim, &shift)?;
                self.add(clamped, offset)?
            }
        };
        let shifted = self.stored("indices", shifted);
        let op = LibOp::gather(gather_dims(dims), slice_sizes, false);
        let taken = self.call_one(&self.part_name(), op, vec![c, shifted], Vec::new())?;
        Ok(self.f.tensor(taken))
    }

    /// A field in the middle of zeros, `rooms` of them before each axis.
    fn surrounded(&mut self, c: FieldId, padded: &Space, rooms: &[Extent]) -> Result<Var> {
        let rank = rooms.len();
        let zero = Scalar::zero(self.dtype(c));
        if let Some(rooms) = rooms.iter().map(Extent::as_const).collect::<Option<Vec<u64>>>() {
            let shifts = (0..rank).map(|a| Affine::strided(rank, a, 1, -(rooms[a] as i64))).collect();
            let fill = surject_index::Fill(zero.bits());
            let map = IndexMap::partial(padded.clone(), self.space(c), shifts, Vec::new(), fill);
            let map = self.mapped(map)?;
            let c = self.read(map, c)?;
            return Ok(self.stored(&self.part_name(), c));
        }
        // The positions are those of a run.
        let name = self.part_name();
        let mut args = vec![self.splat(&name, padded, zero), self.stored(&name, c)];
        for room in rooms {
            args.push(self.size(room)?);
        }
        self.call_one(&name, LibOp::DynamicUpdateSlice, args, Vec::new())
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
