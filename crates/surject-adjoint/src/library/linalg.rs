//! Cholesky factors and triangular systems of real matrices.

use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, LibOp, Transpose, Var};

/// A triangle of a matrix.
#[derive(Clone, Copy)]
pub(super) struct Triangle {
    pub(super) lower: bool,
    /// The factor of the diagonal.
    pub(super) diagonal: f64,
}

impl Sweep {
    /// For `A = L Lᵀ` the cotangent of the symmetric `A` is `L⁻ᵀ Φ(Lᵀ L̄) L⁻¹`, where `Φ` keeps the lower triangle and
    /// half the diagonal. Only one triangle of `A` is read: its elements off the diagonal stand for two.
    pub(crate) fn reverse_cholesky(
        &mut self,
        lower: bool,
        factor: Var,
        operand: Var,
        c: FieldId,
    ) -> Result<()> {
        if !self.smooth(operand) {
            return Ok(());
        }
        self.real_only(factor)?;
        // For the upper factor everything is transposed.
        let l = self.f.tensor(factor);
        let (l, c) = if lower { (l, c) } else { (self.transposed(l)?, self.transposed(c)?) };
        let c = self.triangle(c, Triangle { lower: true, diagonal: 1.0 })?;
        let l = self.stored(&self.part_name(), l);
        let l_field = self.f.tensor(l);
        let lt = self.transposed(l_field)?;
        let product = self.matmul(lt, c)?;
        let phi = self.triangle(product, Triangle { lower: true, diagonal: 0.5 })?;
        let phi = self.stored(&self.part_name(), phi);
        let solve = |left_side, transpose| LibOp::TriangularSolve {
            left_side,
            lower: true,
            unit_diagonal: false,
            transpose,
        };
        // L⁻ᵀ Φ, then its product with L⁻¹ from the right.
        let name = self.part_name();
        let left = self.call_one(&name, solve(true, Transpose::Transpose), vec![l, phi], Vec::new())?;
        let both = self.call_one(&name, solve(false, Transpose::No), vec![l, left], Vec::new())?;
        let s = self.f.tensor(both);
        let st = self.transposed(s)?;
        let sum = self.add(s, st)?;
        let term = self.triangle(sum, Triangle { lower, diagonal: 0.5 })?;
        self.contribute(operand, term);
        Ok(())
    }

    /// For `op(A) X = B`: the cotangent of `B` solves the transposed system, that of `op(A)` is `−B̄ Xᵀ`; for
    /// `X op(A) = B` it is `−Xᵀ B̄`. Only one triangle of `A` is read.
    pub(crate) fn reverse_triangular_solve(
        &mut self,
        op: &LibOp,
        solution: Var,
        args: &[Var],
        c: FieldId,
    ) -> Result<()> {
        let &LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } = op else {
            return Ok(());
        };
        let (a, b) = (args[0], args[1]);
        let dtype = self.f.ty(a).dtype;
        let transposed = match transpose {
            Transpose::No => false,
            Transpose::Transpose => true,
            Transpose::Adjoint if dtype.is_complex() => {
                return Err(self.unsupported("of the conjugate of a complex matrix"));
            }
            Transpose::Adjoint => true,
        };
        let back = LibOp::TriangularSolve {
            left_side,
            lower,
            unit_diagonal,
            transpose: if transposed { Transpose::No } else { Transpose::Transpose },
        };
        let c = self.stored(&self.part_name(), c);
        let name = self.cotangent_name(b);
        let cotangent = self.call_one(&name, back, vec![a, c], Vec::new())?;
        let cotangent = self.f.tensor(cotangent);
        self.contribute(b, cotangent);
        if self.smooth(a) {
            let x = self.f.tensor(solution);
            let (left, right) = match left_side {
                true => (cotangent, self.transposed(x)?),
                false => (self.transposed(x)?, cotangent),
            };
            let product = self.matmul(left, right)?;
            let product = if transposed { self.transposed(product)? } else { product };
            let minus = self.neg(product)?;
            let diagonal = if unit_diagonal { 0.0 } else { 1.0 };
            let term = self.triangle(minus, Triangle { lower, diagonal })?;
            self.contribute(a, term);
        }
        Ok(())
    }

    pub(super) fn real_only(&self, var: Var) -> Result<()> {
        match self.f.ty(var).dtype.is_complex() {
            true => Err(self.unsupported("of complex matrices")),
            false => Ok(()),
        }
    }

    /// The matrices of the last two axes, transposed.
    pub(super) fn transposed(&mut self, x: FieldId) -> Result<FieldId> {
        let space = self.space(x);
        let rank = space.rank();
        let axes: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
        let map = IndexMap::projection(&space.select(&axes), &axes);
        self.read(map, x)
    }

    /// The products of the matrices of the last two axes, stored.
    pub(super) fn matmul(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        let (left, right) = (self.space(x), self.space(y));
        let rank = left.rank();
        let extents: Vec<Extent> =
            left.extents()[..rank - 1].iter().chain(right.extents().get(rank - 1)).cloned().collect();
        // The product space: batch, row, column, then what is summed.
        let space =
            Space::new(extents.into_iter().chain([left.extent(rank - 1).clone()]).collect::<Vec<_>>());
        let axis = |a: usize| Affine::axis(rank + 1, a);
        let batch = || (0..rank - 2).map(axis);
        let to_left = batch().chain([axis(rank - 2), axis(rank)]).collect();
        let to_right = batch().chain([axis(rank), axis(rank - 1)]).collect();
        let to_left = self.mapped(IndexMap::total(space.clone(), left, to_left))?;
        let to_right = self.mapped(IndexMap::total(space.clone(), right, to_right))?;
        let to_result = IndexMap::projection(&space, &(0..rank).collect::<Vec<_>>());
        let (x, y) = (self.read(to_left, x)?, self.read(to_right, y)?);
        let product = self.mul(x, y)?;
        let sum = self.acc(AccOp::Add, to_result, product)?;
        Ok(self.stored_field(&self.part_name(), sum))
    }

    /// A triangle of matrices, the rest zero, with the diagonal multiplied by a factor.
    pub(super) fn triangle(&mut self, x: FieldId, triangle: Triangle) -> Result<FieldId> {
        let space = self.space(x);
        let rank = space.rank();
        let (row, column) = (
            self.f.fields.index(&space, rank - 2, DType::I32),
            self.f.fields.index(&space, rank - 1, DType::I32),
        );
        let (row, column) = (self.typed(row)?, self.typed(column)?);
        let inside = self.binary(if triangle.lower { BinaryOp::Gt } else { BinaryOp::Lt }, row, column)?;
        let diagonal = self.binary(BinaryOp::Eq, row, column)?;
        let scaled = self.scale(triangle.diagonal, x)?;
        let on = self.masked(diagonal, scaled)?;
        self.select(inside, x, on)
    }
}
