//! `cholesky` and `triangular_solve`: computed in `f64` and rounded once. Only the triangle that the attributes name is read.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::{C, Elements};
use super::scalar::complex::div;
use super::value::Tensor;
use crate::types::ElementType;

/// A batch of matrices.
pub(crate) struct Matrices {
    pub(crate) values: Vec<C>,
    pub(crate) batch: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Matrices {
    pub(crate) fn of(tensor: &Tensor) -> Result<Matrices> {
        let [batch @ .., rows, columns] = tensor.shape.as_slice() else {
            return Err(Error::invalid(format!("matrices are wanted where there is {}", tensor.ty())));
        };
        let batch = batch.iter().product();
        Ok(Matrices { values: tensor.elements()?.into_complex(), batch, rows: *rows, columns: *columns })
    }

    /// A matrix of the batch, row by row.
    pub(crate) fn get(&self, i: usize) -> &[C] {
        let size = self.rows * self.columns;
        &self.values[i * size..(i + 1) * size]
    }
}

/// The values as elements of a real or complex type.
pub(crate) fn tensor_of(element: &ElementType, shape: &[usize], values: Vec<C>) -> Result<Tensor> {
    let elements = match element.is_complex() {
        true => Elements::C(values),
        false => Elements::F(values.into_iter().map(|z| z.re).collect()),
    };
    Tensor::of(element, shape, &elements)
}

/// The lower factor of a Hermitian matrix of which the lower triangle is given; none if the matrix has none.
pub(crate) fn cholesky(a: &[C], n: usize) -> Option<Vec<C>> {
    let mut l = vec![C::new(0.0, 0.0); n * n];
    for j in 0..n {
        let square: f64 = (0..j).map(|k| l[j * n + k].norm_sqr()).sum();
        let rest = a[j * n + j].re - square;
        // Not `rest <= 0`: NaN has no root either.
        if !(rest > 0.0) || !rest.is_finite() {
            return None;
        }
        let root = rest.sqrt();
        l[j * n + j] = C::new(root, 0.0);
        for i in j + 1..n {
            let sum: C = (0..j).map(|k| l[i * n + k] * l[j * n + k].conj()).sum();
            l[i * n + j] = (a[i * n + j] - sum) / root;
        }
    }
    Some(l)
}

/// The conjugate transpose of a square matrix.
pub(crate) fn adjoint(a: &[C], n: usize) -> Vec<C> {
    (0..n * n).map(|i| a[i % n * n + i / n].conj()).collect()
}

/// Solves `op(A) X = B` in place for a triangle of `A` (`n` by `n`), with `B` of `m` columns.
pub(crate) fn solve(a: impl Fn(usize, usize) -> C, lower: bool, unit: bool, n: usize, b: &mut [C], m: usize) {
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        let known = if lower { 0..i } else { i + 1..n };
        for column in 0..m {
            let sum: C = known.clone().map(|k| a(i, k) * b[k * m + column]).sum();
            let rest = b[i * m + column] - sum;
            b[i * m + column] = match unit {
                true => rest,
                false if a(i, i).im == 0.0 => rest / a(i, i).re,
                false => div(rest, a(i, i)),
            };
        }
    }
}

/// What `triangular_solve` is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Triangular {
    pub(crate) left: bool,
    pub(crate) lower: bool,
    pub(crate) unit: bool,
    pub(crate) transpose: bool,
    pub(crate) conjugate: bool,
}

pub(crate) fn triangular_solve(a: &Tensor, b: &Tensor, what: Triangular, element: &ElementType) -> Result<Tensor> {
    let (left, right) = (Matrices::of(a)?, Matrices::of(b)?);
    let n = left.rows;
    let side = if what.left { right.rows } else { right.columns };
    if left.columns != n || side != n || left.batch != right.batch {
        return Err(Error::invalid(format!("a system of {} and {}", a.ty(), b.ty())));
    }
    let mut out = Vec::with_capacity(right.values.len());
    for i in 0..left.batch {
        let matrix = left.get(i);
        // op(A); X A = B is A^T X^T = B^T.
        let flips = what.transpose != !what.left;
        let entry = |r: usize, c: usize| {
            let value = if flips { matrix[c * n + r] } else { matrix[r * n + c] };
            if what.conjugate { value.conj() } else { value }
        };
        let lower = what.lower != flips;
        let (rows, columns) = (right.rows, right.columns);
        let b = right.get(i);
        if what.left {
            let mut x = b.to_vec();
            solve(entry, lower, what.unit, n, &mut x, columns);
            out.extend(x);
        } else {
            let mut x: Vec<C> = (0..rows * columns).map(|i| b[i % rows * columns + i / rows]).collect();
            solve(entry, lower, what.unit, n, &mut x, rows);
            out.extend((0..rows * columns).map(|i| x[i % columns * rows + i / columns]));
        }
    }
    tensor_of(element, &b.shape, out)
}

/// The factors of a batch of matrices, with zeros in the other triangle; NaN where a matrix has none.
pub(crate) fn factors(a: &Tensor, lower: bool, element: &ElementType) -> Result<(Tensor, Vec<bool>)> {
    let matrices = Matrices::of(a)?;
    let n = matrices.rows;
    if matrices.columns != n {
        return Err(Error::invalid(format!("square matrices are wanted where there is {}", a.ty())));
    }
    let (mut out, mut exist) = (Vec::with_capacity(matrices.values.len()), Vec::new());
    for i in 0..matrices.batch {
        let given = matrices.get(i);
        let factor = if lower { cholesky(given, n) } else { cholesky(&adjoint(given, n), n) };
        exist.push(factor.is_some());
        match factor {
            Some(l) if lower => out.extend(l),
            Some(l) => out.extend(adjoint(&l, n)),
            None => out.extend(vec![C::new(f64::NAN, f64::NAN); n * n]),
        }
    }
    Ok((tensor_of(element, &a.shape, out)?, exist))
}

impl Call<'_, '_> {
    pub(crate) fn cholesky(&mut self) -> Values {
        let lower = self.op.flag("lower")?;
        one(factors(self.tensor(0)?, lower, self.result_element(0)?)?.0)
    }

    pub(crate) fn triangular_solve(&mut self) -> Values {
        let transpose = self.op.enumeration("transpose_a")?;
        let what = Triangular {
            left: self.op.flag("left_side")?,
            lower: self.op.flag("lower")?,
            unit: self.op.flag("unit_diagonal")?,
            transpose: matches!(transpose, "TRANSPOSE" | "ADJOINT"),
            conjugate: transpose == "ADJOINT",
        };
        one(triangular_solve(self.tensor(0)?, self.tensor(1)?, what, self.result_element(0)?)?)
    }
}
