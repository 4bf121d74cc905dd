//! Factorisations: LU, QR, eigenvalues, singular values, tridiagonal systems.
//!
//! Each rule is the transpose of the derivative that JAX has for the factorisation; where JAX has none, there is none here.
//! `A'` stands for the cotangent of `A`, `F o X` for the product element by element, `A*` for the conjugate and `A^H` for the
//! transposed one. Cotangents of complex matrices are those of JAX: a linear map is transposed, not conjugated.

use super::linalg::Triangle;
use crate::sweep::{Result, Sweep};
use surject_index::{Affine, Extent, Guard, IndexMap, Space};
use surject_ir::{
    AccOp, BinaryOp, DType, FieldId, FieldKind, LibOp, Routine, Scalar, StatementKind, Transpose, UnaryOp,
    Var,
};

/// `x op(a) = b` or `op(a) x = b` for the upper triangle.
fn upper(left_side: bool, transpose: Transpose) -> LibOp {
    LibOp::TriangularSolve { left_side, lower: false, unit_diagonal: false, transpose }
}

fn lower(left_side: bool, transpose: Transpose) -> LibOp {
    LibOp::TriangularSolve { left_side, lower: true, unit_diagonal: false, transpose }
}

impl Sweep {
    /// The reverse of a routine of LAPACK.
    pub(super) fn reverse_lapack(
        &mut self,
        routine: Routine,
        targets: &[Var],
        args: &[Var],
        cotangents: &[Option<FieldId>],
    ) -> Result<()> {
        let of = |i: usize| cotangents.get(i).copied().flatten();
        match routine {
            Routine::Lu => match of(0) {
                Some(c) => self.reverse_lu(targets[0], targets[2], args[0], c),
                None => Ok(()),
            },
            Routine::Qr if of(1).is_some() => {
                Err(self.unsupported("of `tau` beside the product of reflectors"))
            }
            Routine::Qr => match of(0) {
                Some(c) => self.reverse_qr([targets[0], targets[1]], args[0], c, None),
                None => Ok(()),
            },
            Routine::PivotedQr if of(2).is_some() => {
                Err(self.unsupported("of `tau` beside the product of reflectors"))
            }
            Routine::PivotedQr => match of(0) {
                Some(c) => self.reverse_qr([targets[0], targets[2]], args[0], c, Some(targets[1])),
                None => Ok(()),
            },
            Routine::HouseholderProduct => match of(0) {
                Some(c) => self.reverse_reflectors(targets[0], args, c),
                None => Ok(()),
            },
            Routine::Eigh { lower } => self.reverse_eigh(lower, targets, args[0], [of(0), of(1)]),
            Routine::Svd { .. } => self.reverse_svd(targets, args[0], [of(0), of(1), of(2)]),
            Routine::Eig if of(1).or(of(2)).is_some() => {
                Err(self.unsupported("of eigenvectors of matrices that are not Hermitian"))
            }
            Routine::Eig => match of(0) {
                Some(c) => self.reverse_eig(targets[2], args[0], c),
                None => Ok(()),
            },
            Routine::TridiagonalSolve => match of(0) {
                Some(c) => self.reverse_tridiagonal(targets[0], args, c),
                None => Ok(()),
            },
            other => Err(self.unsupported(format!("of the routine `{}`", other.name()))),
        }
    }

    /// `P A = L U` with both factors in one matrix, `L` with ones on its diagonal. Both are made square with rows and columns
    /// of the identity. `A' = P^T L^-T X U^-T`, where `X` is `L^T c` below the diagonal and `c U^T` from it on.
    fn reverse_lu(&mut self, factors: Var, rows: Var, a: Var, c: FieldId) -> Result<()> {
        if !self.smooth(a) {
            return Ok(());
        }
        let packed = self.f.tensor(factors);
        let space = self.space(packed);
        let rank = space.rank();
        let (m, n) = (space.extent(rank - 2).clone(), space.extent(rank - 1).clone());
        let square =
            |n: &Extent| Space::new([&space.extents()[..rank - 2], &[n.clone(), n.clone()]].concat());
        // The rest of the larger triangle is that of the identity.
        let l = self.placed(packed, [0, 0], square(&m))?;
        let l = self.triangle(l, Triangle { lower: true, diagonal: 0.0 })?;
        let ones = self.identity_from(&square(&m), self.dtype(packed), 0)?;
        let l = self.add(l, ones)?;
        let u = self.placed(packed, [0, 0], square(&n))?;
        let mut u = self.triangle(u, Triangle { lower: false, diagonal: 1.0 })?;
        if m != n {
            let first = self.constant(&m)?;
            let ones = self.identity_from(&square(&n), self.dtype(packed), first)?;
            u = self.add(u, ones)?;
        }
        let (l, u) = (self.part(l), self.part(u));
        let (l_field, u_field) = (self.f.tensor(l), self.f.tensor(u));
        let (lt, ut) = (self.transposed(l_field)?, self.transposed(u_field)?);
        let (below, above) = (self.matmul(lt, c)?, self.matmul(c, ut)?);
        let below_diagonal = self.compare_axes(&space, BinaryOp::Gt)?;
        let x = self.select(below_diagonal, below, above)?;
        let x = self.part(x);
        let name = self.part_name();
        let x = self.call_one(&name, upper(false, Transpose::Transpose), vec![u, x], Vec::new())?;
        let x = self.call_one(&name, lower(true, Transpose::Transpose), vec![l, x], Vec::new())?;
        let term = self.rows_back((rows, 0), x)?;
        self.contribute(a, term);
        Ok(())
    }

    /// `P^T x`: row `i` becomes row `rows[i]`, where rows are counted from `first` on.
    fn rows_back(&mut self, (rows, first): (Var, i128), x: Var) -> Result<FieldId> {
        let x = self.f.tensor(x);
        let rows = self.f.tensor(rows);
        let (space, dtype) = (self.space(x), self.dtype(rows));
        let rank = space.rank();
        // Batch, row of the result, column, row of `x`.
        let points = Space::new([space.extents(), &[space.extent(rank - 2).clone()]].concat());
        let mut from: Vec<usize> = (0..rank).collect();
        from[rank - 2] = rank;
        let own: Vec<usize> = (0..rank - 2).chain([rank]).collect();
        let there = self.read(IndexMap::projection(&points, &own), rows)?;
        let here = self.f.fields.index(&points, rank - 2, dtype);
        let mut here = self.typed(here)?;
        if first != 0 {
            let first = self.integer(here, first);
            here = self.binary(BinaryOp::Add, here, first)?;
        }
        let value = self.read(IndexMap::projection(&points, &from), x)?;
        let same = self.binary(BinaryOp::Eq, there, here)?;
        let value = self.masked(same, value)?;
        let onto = IndexMap::projection(&points, &(0..rank).collect::<Vec<_>>());
        let sum = self.acc(AccOp::Add, onto, value)?;
        Ok(self.stored_field(&self.part_name(), sum))
    }

    /// `P^T x^T`, transposed: column `i` becomes column `rows[i]`.
    fn columns_back(&mut self, rows: (Var, i128), x: FieldId) -> Result<FieldId> {
        let x = self.transposed(x)?;
        let x = self.part(x);
        let back = self.rows_back(rows, x)?;
        self.transposed(back)
    }

    /// `A = Q R` by the cotangent of `R`, which stands in the upper triangle of the results. What stands below it, the
    /// reflectors, has no derivative but through their product: a cotangent of theirs that is not zero gives NaN. Where the
    /// columns of `A` were put in another order first, they are put back.
    fn reverse_qr(&mut self, results: [Var; 2], a: Var, c: FieldId, order: Option<Var>) -> Result<()> {
        if !self.smooth(a) {
            return Ok(());
        }
        let (q, r, space) = self.thin(results)?;
        let rank = space.rank();
        let (m, n) = (space.extent(rank - 2).clone(), space.extent(rank - 1).clone());
        let below = self.compare_axes(&space, BinaryOp::Gt)?;
        let zero = self.number(c, 0.0);
        let wrong = self.binary(BinaryOp::Ne, c, zero)?;
        let nan = self.number(c, f64::NAN);
        let wrong = self.binary(BinaryOp::And, below, wrong)?;
        let poison = self.select(wrong, nan, zero)?;
        let c = self.triangle(c, Triangle { lower: false, diagonal: 1.0 })?;
        let c = self.stored_field(&self.part_name(), c);
        let square = Space::new(
            [
                &space.extents()[..rank - 2],
                &[self.space(r).extent(rank - 1).clone(), self.space(r).extent(rank - 1).clone()],
            ]
            .concat(),
        );
        let first = self.slice(c, [0, 0], &square)?;
        let term = if self.space(q).extent(rank - 1) == &n {
            self.thin_qr(q, r, None, Some(first))?
        } else {
            // More columns than rows: `R = (R1, Q^H A2)`.
            let (k, all) = (self.constant(&m)?, self.constant(&n)?);
            let rest = Space::new([&space.extents()[..rank - 1], &[Extent::Const(all - k)]].concat());
            let second = self.slice(c, [0, k as i64], &rest)?;
            let packed = self.f.tensor(results[0]);
            let others = self.slice(packed, [0, k as i64], &rest)?;
            let others = self.matmul(q, others)?;
            let others = self.stored_field(&self.part_name(), others);
            let second_t = self.transposed(second)?;
            let of_q = self.matmul(others, second_t)?;
            let (of_q, conjugate) = (self.conjugate(of_q)?, self.conjugate(q)?);
            let of_q = self.stored_field(&self.part_name(), of_q);
            let left = self.thin_qr(q, r, Some(of_q), Some(first))?;
            let right = self.matmul(conjugate, second)?;
            let left = self.placed(left, [0, 0], space.clone())?;
            let right = self.placed(right, [0, -(k as i64)], space)?;
            self.add(left, right)?
        };
        let mut term = self.add(term, poison)?;
        if let Some(order) = order {
            term = self.columns_back((order, 1), term)?;
        }
        self.contribute(a, term);
        Ok(())
    }

    /// `Q` by its cotangent, where it is the product of the reflectors of a factorisation.
    fn reverse_reflectors(&mut self, product: Var, args: &[Var], c: FieldId) -> Result<()> {
        if !self.smooth(args[0]) && !self.smooth(args[1]) {
            return Ok(());
        }
        let other = "of reflectors that are not those of `geqrf`, all of them";
        let factors = self.factors_of(args[0]);
        let found = factors.and_then(|var| self.definitions.get(&var)).map(|(_, s)| s.kind.clone());
        let Some(StatementKind::Call { op: LibOp::Lapack { routine }, targets, args: given, .. }) = found
        else {
            return Err(self.unsupported(other));
        };
        let (tau, order) = match routine {
            Routine::Qr => (targets[1], None),
            Routine::PivotedQr => (targets[2], Some(targets[1])),
            _ => return Err(self.unsupported(other)),
        };
        let (space, whole) = (self.f.ty(product).space.clone(), self.f.ty(targets[0]).space.clone());
        if tau != args[1] || !self.local.contains(&targets[0]) {
            return Err(self.unsupported(other));
        }
        let (q, r, _) = self.thin([targets[0], tau])?;
        let of_q = match self.space(q) == space {
            true => c,
            false => {
                let columns = self.space(q).extent(space.rank() - 1).clone();
                self.of_thin_q(product, &columns, c)?
            }
        };
        let term = self.thin_qr(q, r, Some(of_q), None)?;
        let mut term = self.placed(term, [0, 0], whole)?;
        if let Some(order) = order {
            term = self.columns_back((order, 1), term)?;
        }
        self.contribute(given[0], term);
        Ok(())
    }

    /// The cotangent of the first columns `Q1` of a square `Q = (Q1, Q2)`, of a matrix with fewer columns than rows. With `T`
    /// and `B` for the first and the other rows of `Q1`: `Z = B (T - I)^-1` and
    /// `dQ2 = dQ1 Z^H - (Q1 + Q2 Z) (dB - Z dT)^H` (arXiv 2409.13374, section 3.3, as JAX has it).
    fn of_thin_q(&mut self, product: Var, columns: &Extent, c: FieldId) -> Result<FieldId> {
        let whole = self.f.tensor(product);
        let space = self.space(whole);
        let rank = space.rank();
        let (m, n) = (self.constant(space.extent(rank - 1))?, self.constant(columns)?);
        let block = |rows: u64, columns: u64| {
            Space::new(
                [&space.extents()[..rank - 2], &[Extent::Const(rows), Extent::Const(columns)]].concat(),
            )
        };
        let at = n as i64;
        let (q1, q2) =
            (self.slice(whole, [0, 0], &block(m, n))?, self.slice(whole, [0, at], &block(m, m - n))?);
        let (c1, c2) = (self.slice(c, [0, 0], &block(m, n))?, self.slice(c, [0, at], &block(m, m - n))?);
        let (c1, c2) = (self.stored_field(&self.part_name(), c1), self.stored_field(&self.part_name(), c2));
        let (top, bottom) =
            (self.slice(q1, [0, 0], &block(n, n))?, self.slice(q1, [at, 0], &block(m - n, n))?);
        // Z (T - I) = B.
        let ones = self.identity_from(&block(n, n), self.dtype(whole), 0)?;
        let less = self.sub(top, ones)?;
        let z = self.divided_by(bottom, less)?;
        let conjugate = self.conjugate(z)?;
        let first = self.matmul(c2, conjugate)?;
        let q2z = self.matmul(q2, z)?;
        let around = self.add(q1, q2z)?;
        let c2t = self.transposed(c2)?;
        let of_bottom = self.matmul(c2t, around)?;
        let of_bottom = self.conjugate(of_bottom)?;
        let of_bottom = self.neg(of_bottom)?;
        let of_bottom = self.stored_field(&self.part_name(), of_bottom);
        let zt = self.transposed(z)?;
        let of_top = self.matmul(zt, of_bottom)?;
        let of_top = self.neg(of_top)?;
        let of_top = self.stored_field(&self.part_name(), of_top);
        let (of_top, of_bottom) =
            (self.placed(of_top, [0, 0], block(m, n))?, self.placed(of_bottom, [-at, 0], block(m, n))?);
        let rows = self.add(of_top, of_bottom)?;
        let sum = self.add(c1, first)?;
        let sum = self.add(sum, rows)?;
        Ok(self.stored_field(&self.part_name(), sum))
    }

    /// `x a^-1` for square matrices `a`.
    fn divided_by(&mut self, x: FieldId, a: FieldId) -> Result<FieldId> {
        let (space, x, a) = (self.space(a), self.part(x), self.part(a));
        let made =
            self.call(&self.part_name(), LibOp::Lapack { routine: Routine::Lu }, vec![a], Vec::new())?;
        let (factors, rows) = (self.f.tensor(made[0]), made[2]);
        let l = self.triangle(factors, Triangle { lower: true, diagonal: 0.0 })?;
        let ones = self.identity_from(&space, self.dtype(factors), 0)?;
        let l = self.add(l, ones)?;
        let u = self.triangle(factors, Triangle { lower: false, diagonal: 1.0 })?;
        let (l, u) = (self.part(l), self.part(u));
        let name = self.part_name();
        // P a = L U, so x a^-1 = x U^-1 L^-1 P.
        let y = self.call_one(&name, upper(false, Transpose::No), vec![u, x], Vec::new())?;
        let y = self.call_one(&name, lower(false, Transpose::No), vec![l, y], Vec::new())?;
        let y = self.f.tensor(y);
        let back = self.columns_back((rows, 0), y)?;
        Ok(self.stored_field(&self.part_name(), back))
    }

    /// The variable whose first columns a variable is.
    fn factors_of(&self, var: Var) -> Option<Var> {
        let Some((_, statement)) = self.definitions.get(&var) else { return Some(var) };
        let StatementKind::Store { field, .. } = statement.kind else { return Some(var) };
        match &self.f.fields[field].kind {
            FieldKind::Tensor(of) => Some(*of),
            FieldKind::Read { map, of } => match self.f.fields[*of].kind {
                FieldKind::Tensor(of) => {
                    let rank = map.domain().rank();
                    let same = (0..rank).map(|a| Affine::axis(rank, a));
                    // Columns behind those of the matrix are of no reflector.
                    let inside = |axis: usize| {
                        let (own, size) = (Affine::axis(rank, axis), map.codomain().extent(axis));
                        move |guard: &Guard| guard.expr == own && guard.bound == *size
                    };
                    let only_there = |guard: &Guard| (0..rank).any(|axis| inside(axis)(guard));
                    let first =
                        map.guards().iter().all(only_there) && map.components().iter().cloned().eq(same);
                    first.then_some(of)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The thin factors `Q` and `R` (square) of the results of `geqrf`, and the space of the matrix.
    fn thin(&mut self, targets: [Var; 2]) -> Result<(FieldId, FieldId, Space)> {
        let packed = self.f.tensor(targets[0]);
        let space = self.space(packed);
        let rank = space.rank();
        let (m, k) = (space.extent(rank - 2).clone(), self.f.ty(targets[1]).space.extent(rank - 2).clone());
        let batch = &space.extents()[..rank - 2];
        let tall = Space::new([batch, &[m, k.clone()]].concat());
        let square = Space::new([batch, &[k.clone(), k]].concat());
        let reflectors = self.slice(packed, [0, 0], &tall)?;
        let reflectors = self.part(reflectors);
        let op = LibOp::Lapack { routine: Routine::HouseholderProduct };
        let q = self.call_one(&self.part_name(), op, vec![reflectors, targets[1]], Vec::new())?;
        let r = self.slice(packed, [0, 0], &square)?;
        let r = self.triangle(r, Triangle { lower: false, diagonal: 1.0 })?;
        let (q, r) = (self.f.tensor(q), self.stored_field(&self.part_name(), r));
        Ok((q, r, space))
    }

    /// With `K = R' R^T - Q^T Q'` and the Hermitian `S` of its upper triangle: `A' = (Q' + Q* S) R^-T`.
    fn thin_qr(
        &mut self,
        q: FieldId,
        r: FieldId,
        of_q: Option<FieldId>,
        of_r: Option<FieldId>,
    ) -> Result<FieldId> {
        let mut k = None;
        if let Some(of_r) = of_r {
            let rt = self.transposed(r)?;
            k = Some(self.matmul(of_r, rt)?);
        }
        if let Some(of_q) = of_q {
            let qt = self.transposed(q)?;
            let product = self.matmul(qt, of_q)?;
            k = Some(match k {
                Some(k) => self.sub(k, product)?,
                None => self.neg(product)?,
            });
        }
        let Some(k) = k else { return Err(self.unsupported("without a cotangent")) };
        let k = self.stored_field(&self.part_name(), k);
        let kt = self.transposed(k)?;
        let kt = self.conjugate(kt)?;
        let (above, space) = (self.compare_axes(&self.space(k), BinaryOp::Lt)?, self.space(k));
        let s = self.select(above, k, kt)?;
        // The diagonal of R is real.
        let (diagonal, real) = (self.compare_axes(&space, BinaryOp::Eq)?, self.real_parts(k)?);
        let s = self.select(diagonal, real, s)?;
        let s = self.stored_field(&self.part_name(), s);
        let q = self.conjugate(q)?;
        let mut sum = self.matmul(q, s)?;
        if let Some(of_q) = of_q {
            sum = self.add(sum, of_q)?;
        }
        let (sum, r) = (self.part(sum), self.part(r));
        let solved =
            self.call_one(&self.part_name(), upper(false, Transpose::Transpose), vec![r, sum], Vec::new())?;
        Ok(self.f.tensor(solved))
    }

    /// `A = V diag(w) V^H`: `A' = V* (diag(w') + F o V^T V') V^T` with `F[i,j] = 1 / (w[j] - w[i])` off the diagonal. Only one
    /// triangle of `A` is read: its elements off the diagonal stand for two.
    fn reverse_eigh(
        &mut self,
        lower: bool,
        targets: &[Var],
        a: Var,
        [of_v, of_w]: [Option<FieldId>; 2],
    ) -> Result<()> {
        if !self.smooth(a) {
            return Ok(());
        }
        let (v, w) = (self.f.tensor(targets[0]), self.f.tensor(targets[1]));
        let space = self.space(v);
        let diagonal = self.compare_axes(&space, BinaryOp::Eq)?;
        let vt = self.transposed(v)?;
        let mut inner = match of_w {
            Some(c) => {
                let rows = self.along(c, &space, 2)?;
                let rows = self.convert(self.dtype(v), rows);
                self.masked(diagonal, rows)?
            }
            None => self.number(v, 0.0),
        };
        if let Some(c) = of_v {
            let product = self.matmul(vt, c)?;
            let (rows, columns) = (self.along(w, &space, 2)?, self.along(w, &space, 1)?);
            let gap = self.sub(columns, rows)?;
            let one = self.number(gap, 1.0);
            let gap = self.select(diagonal, one, gap)?;
            let gap = self.convert(self.dtype(v), gap);
            let quotient = self.div(product, gap)?;
            let zero = self.number(quotient, 0.0);
            let off = self.select(diagonal, zero, quotient)?;
            inner = self.add(inner, off)?;
        }
        let inner = self.stored_field(&self.part_name(), inner);
        let conjugate = self.conjugate(v)?;
        let left = self.matmul(conjugate, inner)?;
        let s = self.matmul(left, vt)?;
        let st = self.transposed(s)?;
        let st = self.conjugate(st)?;
        let sum = self.add(s, st)?;
        let term = self.triangle(sum, Triangle { lower, diagonal: 0.5 })?;
        self.contribute(a, term);
        Ok(())
    }

    /// `A = U diag(s) V^H` with `F[i,j] = 1 / (s[j]^2 - s[i]^2)` off the diagonal, and 0 where values are equal:
    /// `A' = U* (diag(s') + sym(F o U^T U') diag(s) + diag(s) sym(F o V^T V')) V^T`, where `sym(X) = X + X^H`; and what of `U'`
    /// and `V'` is no combination of their columns, divided by the values. The phases of complex `U` follow the diagonal.
    fn reverse_svd(
        &mut self,
        targets: &[Var],
        a: Var,
        [of_s, of_u, of_vt]: [Option<FieldId>; 3],
    ) -> Result<()> {
        if !self.smooth(a) {
            return Ok(());
        }
        let space = self.f.ty(a).space.clone();
        let rank = space.rank();
        let batch = &space.extents()[..rank - 2];
        let (m, n) = (space.extent(rank - 2).clone(), space.extent(rank - 1).clone());
        let k = self.f.ty(targets[0]).space.extent(rank - 2).clone();
        let own = |var: Var, sweep: &Self| sweep.f.ty(var).space.clone();
        let thin_u = Space::new([batch, &[m.clone(), k.clone()]].concat());
        let thin_v = Space::new([batch, &[k.clone(), n.clone()]].concat());
        if (of_u.is_some() || of_vt.is_some())
            && (own(targets[1], self) != thin_u || own(targets[2], self) != thin_v)
        {
            return Err(self.unsupported("of the vectors of full spaces of a matrix that is not square"));
        }
        let [s, u, vt] = [0, 1, 2].map(|i| self.f.tensor(targets[i]));
        let (u, vt) = (self.slice(u, [0, 0], &thin_u)?, self.slice(vt, [0, 0], &thin_v)?);
        let (ut, v_conj) = (self.transposed(u)?, self.transposed(vt)?);
        let (u_conj, vt_conj, dtype) = (self.conjugate(u)?, self.conjugate(vt)?, self.dtype(u));
        let square = Space::new([batch, &[k.clone(), k]].concat());
        let (rows, columns) = (self.along(s, &square, 2)?, self.along(s, &square, 1)?);
        let mut inner = match of_s {
            Some(c) => {
                let diagonal = self.compare_axes(&square, BinaryOp::Eq)?;
                let c = self.along(c, &square, 2)?;
                let c = self.convert(dtype, c);
                self.masked(diagonal, c)?
            }
            None => self.f.fields.constant(&square, Scalar::zero(dtype)),
        };
        let factors = [rows, columns].map(|x| self.convert(dtype, x));
        if let Some(c) = of_u {
            let product = self.matmul(ut, c)?;
            let symmetric = self.symmetric_by_gaps(product, rows, columns)?;
            let term = self.mul(symmetric, factors[1])?;
            inner = self.add(inner, term)?;
            if dtype.is_complex() {
                // Half of what the diagonal and its conjugate differ by, divided by the values.
                let (diagonal, conjugate) = (self.compare_axes(&square, BinaryOp::Eq)?, self.conj(product)?);
                let imaginary = self.sub(product, conjugate)?;
                let half = self.scale(0.5, imaginary)?;
                let (zero, one) = (self.number(rows, 0.0), self.number(rows, 1.0));
                let none = self.binary(BinaryOp::Eq, rows, zero)?;
                let values = self.select(none, one, rows)?;
                let values = self.convert(dtype, values);
                let term = self.div(half, values)?;
                let nothing = self.number(term, 0.0);
                let term = self.select(none, nothing, term)?;
                let term = self.masked(diagonal, term)?;
                inner = self.add(inner, term)?;
            }
        }
        if let Some(c) = of_vt {
            let ct = self.transposed(c)?;
            let ct = self.conjugate(ct)?;
            let product = self.matmul(vt_conj, ct)?;
            let symmetric = self.symmetric_by_gaps(product, rows, columns)?;
            let term = self.mul(factors[0], symmetric)?;
            inner = self.add(inner, term)?;
        }
        let inner = self.stored_field(&self.part_name(), inner);
        let mut left = self.matmul(u_conj, inner)?;
        if let (Some(c), true) = (of_u, m != self.space(s).extent(rank - 2).clone()) {
            let values = self.along(s, &thin_u, 1)?;
            let values = self.convert(dtype, values);
            let scaled = self.div(c, values)?;
            let scaled = self.stored_field(&self.part_name(), scaled);
            let inside = self.matmul(ut, scaled)?;
            let inside = self.matmul(u_conj, inside)?;
            let outside = self.sub(scaled, inside)?;
            left = self.add(left, outside)?;
            left = self.stored_field(&self.part_name(), left);
        }
        let mut term = self.matmul(left, vt_conj)?;
        if let (Some(c), true) = (of_vt, n != self.space(s).extent(rank - 2).clone()) {
            let values = self.along(s, &thin_v, 2)?;
            let values = self.convert(dtype, values);
            let scaled = self.div(c, values)?;
            let scaled = self.stored_field(&self.part_name(), scaled);
            let inside = self.matmul(scaled, v_conj)?;
            let inside = self.matmul(inside, vt_conj)?;
            let outside = self.sub(scaled, inside)?;
            let outside = self.stored_field(&self.part_name(), outside);
            let more = self.matmul(u_conj, outside)?;
            term = self.add(term, more)?;
        }
        self.contribute(a, term);
        Ok(())
    }

    /// `X + X^H` for `X = F o product`.
    fn symmetric_by_gaps(&mut self, product: FieldId, rows: FieldId, columns: FieldId) -> Result<FieldId> {
        let (sum, difference) = (self.add(columns, rows)?, self.sub(columns, rows)?);
        let gap = self.mul(sum, difference)?;
        let (zero, one) = (self.number(gap, 0.0), self.number(gap, 1.0));
        let equal = self.binary(BinaryOp::Eq, gap, zero)?;
        let gap = self.select(equal, one, gap)?;
        let gap = self.convert(self.dtype(product), gap);
        let quotient = self.div(product, gap)?;
        let zero = self.number(quotient, 0.0);
        let x = self.select(equal, zero, quotient)?;
        let x = self.stored_field(&self.part_name(), x);
        let xt = self.transposed(x)?;
        let xt = self.conjugate(xt)?;
        let sum = self.add(x, xt)?;
        Ok(self.stored_field(&self.part_name(), sum))
    }

    /// The eigenvalues are the diagonal of `V^-1 A V`: `A' = V^-T diag(w') V^T`, of which a real matrix takes the real part.
    fn reverse_eig(&mut self, vectors: Var, a: Var, c: FieldId) -> Result<()> {
        if !self.smooth(a) {
            return Ok(());
        }
        let v = self.f.tensor(vectors);
        let space = self.space(v);
        let vt = self.transposed(v)?;
        let c = self.along(c, &space, 2)?;
        let scaled = self.mul(c, vt)?;
        let scaled = self.part(scaled);
        // P V = L U, so V^T = U^T L^T P.
        let name = self.part_name();
        let lu = self.call(&name, LibOp::Lapack { routine: Routine::Lu }, vec![vectors], Vec::new())?;
        let x = self.call_one(&name, upper(true, Transpose::Transpose), vec![lu[0], scaled], Vec::new())?;
        let unit = LibOp::TriangularSolve {
            left_side: true,
            lower: true,
            unit_diagonal: true,
            transpose: Transpose::Transpose,
        };
        let x = self.call_one(&name, unit, vec![lu[0], x], Vec::new())?;
        let term = self.rows_back((lu[2], 0), x)?;
        let term = if self.f.ty(a).dtype.is_complex() { term } else { self.unary(UnaryOp::Real, term)? };
        self.contribute(a, term);
        Ok(())
    }

    /// `T x = b`: `b' = T^-T x'` and `T' = -b' x^T` on the three diagonals.
    fn reverse_tridiagonal(&mut self, solution: Var, args: &[Var], c: FieldId) -> Result<()> {
        let (dl, du) = (self.f.tensor(args[0]), self.f.tensor(args[2]));
        // The diagonals of T^T: what is below stands above, one place further on.
        let (below, above) = (self.neighbours(du, -1)?, self.neighbours(dl, 1)?);
        let operands = vec![self.part(below), args[1], self.part(above), self.part(c)];
        let op = LibOp::Lapack { routine: Routine::TridiagonalSolve };
        let found = self.call(&self.cotangent_name(args[3]), op, operands, Vec::new())?;
        let back = self.f.tensor(found[0]);
        self.contribute(args[3], back);
        let x = self.f.tensor(solution);
        let space = self.space(x);
        let rank = space.rank();
        let onto = IndexMap::projection(&space, &(0..rank - 1).collect::<Vec<_>>());
        for (i, step) in [(0, -1), (1, 0), (2, 1)] {
            if !self.smooth(args[i]) {
                continue;
            }
            let moved = self.placed(x, [step, 0], space.clone())?;
            let product = self.mul(back, moved)?;
            let sum = self.acc(AccOp::Add, onto.clone(), product)?;
            let term = self.neg(sum)?;
            self.contribute(args[i], term);
        }
        Ok(())
    }

    /// The conjugate of complex numbers; real ones as they are.
    fn conjugate(&mut self, x: FieldId) -> Result<FieldId> {
        if self.dtype(x).is_complex() { self.conj(x) } else { Ok(x) }
    }

    /// Complex numbers without their imaginary parts; real ones as they are.
    fn real_parts(&mut self, x: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(x);
        if !dtype.is_complex() {
            return Ok(x);
        }
        let real = self.unary(UnaryOp::Real, x)?;
        Ok(self.convert(dtype, real))
    }

    /// `x[i + step]` of the last axis, zero outside.
    fn neighbours(&mut self, x: FieldId, step: i64) -> Result<FieldId> {
        let space = self.space(x);
        let rank = space.rank();
        let components =
            (0..rank).map(|a| Affine::strided(rank, a, 1, if a == rank - 1 { step } else { 0 })).collect();
        let fill = self.nothing(self.dtype(x));
        let map = self.mapped(IndexMap::partial(space.clone(), space, components, Vec::new(), fill))?;
        self.read(map, x)
    }

    /// `x[i + rows, j + columns]` of the last two axes, over a space; zero where `x` has no such element.
    fn placed(&mut self, x: FieldId, [rows, columns]: [i64; 2], space: Space) -> Result<FieldId> {
        if rows == 0 && columns == 0 && self.space(x) == space {
            return Ok(x);
        }
        let map = self.moved(x, [rows, columns], space)?;
        self.read(map, x)
    }

    /// A block of the matrices of the last two axes, which lies inside.
    fn slice(&mut self, x: FieldId, from: [i64; 2], space: &Space) -> Result<FieldId> {
        self.placed(x, from, space.clone())
    }

    fn moved(&mut self, x: FieldId, from: [i64; 2], space: Space) -> Result<IndexMap> {
        let rank = space.rank();
        let start = |a: usize| a.checked_sub(rank - 2).map_or(0, |i| from[i]);
        let components = (0..rank).map(|a| Affine::strided(rank, a, 1, start(a))).collect();
        let fill = self.nothing(self.dtype(x));
        self.mapped(IndexMap::partial(space, self.space(x), components, Vec::new(), fill))
    }

    /// Elements of a vector along the rows (axis 2 from the end) or the columns (axis 1) of a space.
    fn along(&mut self, x: FieldId, space: &Space, from_end: usize) -> Result<FieldId> {
        let rank = space.rank();
        let axes: Vec<usize> = (0..rank - 2).chain([rank - from_end]).collect();
        self.read(IndexMap::projection(space, &axes), x)
    }

    /// How row and column of each element of a matrix compare.
    fn compare_axes(&mut self, space: &Space, op: BinaryOp) -> Result<FieldId> {
        let rank = space.rank();
        let row = self.f.fields.index(space, rank - 2, DType::I32);
        let column = self.f.fields.index(space, rank - 1, DType::I32);
        let (row, column) = (self.typed(row)?, self.typed(column)?);
        self.binary(op, row, column)
    }

    /// The identity from a row on, zero before.
    fn identity_from(&mut self, space: &Space, dtype: DType, first: u64) -> Result<FieldId> {
        let mut on = self.compare_axes(space, BinaryOp::Eq)?;
        if first > 0 {
            let row = self.f.fields.index(space, space.rank() - 2, DType::I32);
            let row = self.typed(row)?;
            let first = self.integer(row, first.into());
            let behind = self.binary(BinaryOp::Ge, row, first)?;
            on = self.binary(BinaryOp::And, on, behind)?;
        }
        let one = self.f.fields.constant(space, Scalar::from_f64(dtype, 1.0));
        self.masked(on, one)
    }

    /// A field as a tensor that a call can take.
    fn part(&mut self, field: FieldId) -> Var {
        self.stored(&self.part_name(), field)
    }

    /// A size that is a number.
    fn constant(&self, size: &Extent) -> Result<u64> {
        size.as_const().ok_or_else(|| self.unsupported("of a matrix that is not known to be square"))
    }
}
