//! The reverse of accumulations other than sums.

use crate::options::Ties;
use crate::sweep::{Result, Sweep};
use surject_index::{IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar};

impl Sweep {
    /// The cotangent of `f` for the maximum or minimum `z = acc ⊕ M f`, over the space of `f`: the elements that equal
    /// it get its cotangent as [`Ties`] says.
    pub(crate) fn extremum(
        &mut self,
        op: AccOp,
        z: FieldId,
        map: &IndexMap,
        f: FieldId,
        c: FieldId,
    ) -> Result<FieldId> {
        if self.dtype(f).is_complex() {
            return Err(self.unsupported_op(op.name(), "of complex numbers"));
        }
        let equal = self.equals_its(map, f, z)?;
        let ties = match self.ties {
            Ties::Jax if self.is_window(f) => Ties::First,
            ties => ties,
        };
        let (chosen, share) = match ties {
            Ties::All => (equal, c),
            Ties::First => (self.first_of(map, equal)?, c),
            Ties::Split | Ties::Jax => {
                let dtype = self.dtype(c);
                let wide = if dtype.bits() == 16 { DType::F32 } else { dtype };
                let space = self.space(f);
                let one = self.f.fields.constant(&space, Scalar::one(wide));
                let ones = self.masked(equal, one)?;
                let count = self.acc(AccOp::Add, map.clone(), ones)?;
                let count = self.stored_field(&self.part_name(), count);
                let cotangent = self.convert(wide, c);
                let share = self.div(cotangent, count)?;
                let share = self.convert(dtype, share);
                (equal, self.stored_field(&self.part_name(), share))
            }
        };
        let share = self.read(map.clone(), share)?;
        self.masked(chosen, share)
    }

    /// Does a field of a product space read windows: positions that are sums of indices, or padding?
    fn is_window(&self, f: FieldId) -> bool {
        match &self.f.fields[f].kind {
            FieldKind::Read { map, .. } => {
                !map.is_total() || map.components().iter().any(|c| c.used_axes().count() > 1)
            }
            _ => false,
        }
    }

    /// Where does `f` equal the value `z` of its group?
    pub(crate) fn equals_its(&mut self, map: &IndexMap, f: FieldId, z: FieldId) -> Result<FieldId> {
        let own = self.read(map.clone(), z)?;
        self.binary(BinaryOp::Eq, f, own)
    }

    /// The first point of each group at which a condition holds, in row-major order of the product space.
    pub(crate) fn first_of(&mut self, map: &IndexMap, condition: FieldId) -> Result<FieldId> {
        let space = self.space(condition);
        let number = self.point_number(&space)?;
        let none = self.f.fields.constant(&space, AccOp::Min.neutral(self.dtype(number)));
        let candidates = self.select(condition, number, none)?;
        let first = self.acc(AccOp::Min, map.clone(), candidates)?;
        let first = self.stored_field(&self.part_name(), first);
        let first = self.read(map.clone(), first)?;
        self.binary(BinaryOp::Eq, number, first)
    }

    /// The row-major number of every point of a space, as an integer field.
    pub(crate) fn point_number(&mut self, space: &Space) -> Result<FieldId> {
        let dtype = if space.points().is_some_and(|n| n < 1 << 31) { DType::I32 } else { DType::I64 };
        let mut sum = self.f.fields.constant(space, Scalar::zero(dtype));
        for (axis, size) in space.extents().iter().enumerate() {
            let index = self.f.fields.index(space, axis, dtype);
            let index = self.typed(index)?;
            let extent = match size.as_const() {
                Some(size) => self.integer(index, size.into()),
                None => self.size_over(size, space, dtype)?,
            };
            let shifted = self.mul(sum, extent)?;
            sum = self.add(shifted, index)?;
        }
        Ok(sum)
    }

    /// The cotangent of `f` for the product `z = acc * M f`: the product of the other factors. It is the quotient
    /// where no factor is zero; where one is, it gets the product of the rest and the others get nothing.
    pub(crate) fn product(&mut self, map: &IndexMap, f: FieldId, c: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(f);
        let wide = if dtype.bits() == 16 { DType::F32 } else { dtype };
        let space = self.space(f);
        let zero = self.number(f, 0.0);
        let is_zero = self.binary(BinaryOp::Eq, f, zero)?;
        let one = self.f.fields.constant(&space, Scalar::one(DType::I32));
        let ones = self.masked(is_zero, one)?;
        let zeros = self.acc(AccOp::Add, map.clone(), ones)?;
        let zeros = self.stored_field(&self.part_name(), zeros);
        let unit = self.number(f, 1.0);
        let factor = self.select(is_zero, unit, f)?;
        let factor = self.convert(wide, factor);
        let rest = self.acc(AccOp::Mul, map.clone(), factor)?;
        let rest = self.stored_field(&self.part_name(), rest);
        let c = self.convert(wide, c);
        let scaled = self.mul(c, rest)?;
        let scaled = self.stored_field(&self.part_name(), scaled);
        let (scaled, zeros) = (self.read(map.clone(), scaled)?, self.read(map.clone(), zeros)?);
        // With one zero only the zero sees a product of factors that are not.
        let (none, single) = (self.integer(zeros, 0), self.integer(zeros, 1));
        let none = self.binary(BinaryOp::Eq, zeros, none)?;
        let single = self.binary(BinaryOp::Eq, zeros, single)?;
        let quotient = self.div(scaled, factor)?;
        let quotient = self.masked(none, quotient)?;
        let alone = self.binary(BinaryOp::And, is_zero, single)?;
        let term = self.select(alone, scaled, quotient)?;
        Ok(self.convert(dtype, term))
    }
}
