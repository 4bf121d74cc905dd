//! The LAPACK routines that JAX calls on a CPU, and the targets that it calls on a TPU for the same. Results are those of the
//! routines up to the signs and phases that these leave open; they are computed in `f64` and rounded once.

use super::error::{Error, Result};
use super::factor;
use super::linear::{Matrices, Triangular, factors, tensor_of, triangular_solve};
use super::machine::{Call, Values};
use super::number::C;
use super::value::{Tensor, Value};
use crate::attr::Attribute;

/// The routine of a target of the name `lapack_sgetrf_ffi`, without the letter of its type.
fn routine(target: &str) -> Option<&str> {
    let name = target.strip_prefix("lapack_")?;
    let name = name.strip_suffix("_ffi").unwrap_or(name);
    let rest = name.strip_prefix(['s', 'd', 'c', 'z'])?;
    Some(rest)
}

/// The results of a call; none if the target is no routine that there is here.
pub(super) fn call(call: &mut Call<'_, '_>, target: &str) -> Result<Option<Vec<Value>>> {
    let found = match target {
        "LuDecomposition" => call.lu(true),
        "Qr" => call.qr(),
        "ProductOfElementaryHouseholderReflectors" => call.orgqr(),
        "tridiagonal_solve_perturbed_ffi" => return Ok(None),
        _ => match routine(target) {
            Some("potrf") => call.potrf(),
            Some("trsm") => call.trsm(),
            Some("getrf") => call.lu(false),
            Some("geqrf") => call.qr(),
            Some("orgqr" | "ungqr") => call.orgqr(),
            Some("ormqr" | "unmqr") => call.ormqr(),
            Some("syevd" | "heevd") => call.eigh(),
            Some("gesdd" | "gesvd") => call.svd(),
            Some("geev") => call.eig(),
            Some("gees") => return call.schur(),
            Some("gehrd") => call.hessenberg(),
            Some("gtsv") => call.tridiagonal_solve(),
            _ => return Ok(None),
        },
    };
    found.map(Some)
}

impl Call<'_, '_> {
    /// A flag that is a letter.
    fn letter(&self, name: &str, letters: &str) -> Result<char> {
        let value = self.configuration(name).and_then(Attribute::as_i64);
        let letter = value.and_then(|v| u8::try_from(v).ok()).map(char::from);
        letter.filter(|c| letters.contains(*c)).ok_or_else(|| {
            let found = value.map_or("missing".into(), |v| v.to_string());
            Error::unsupported(format!("the flag '{name}' is {found}, not one of the letters {letters}"))
        })
    }

    /// Matrices in the column-major layout that LAPACK reads; in another one it would see the transposed ones.
    fn matrices(&self, i: usize) -> Result<Matrices> {
        let tensor = self.tensor(i)?;
        let rank = tensor.rank() as i64;
        if let Some(Attribute::Array(layouts)) = self.op.attributes.get("operand_layouts") {
            let layout = match layouts.get(i) {
                Some(Attribute::Dense(order)) => order.to_i64s(),
                _ => None,
            };
            if layout.is_none_or(|l| l.get(..2) != Some(&[rank - 2, rank - 1])) {
                return Err(Error::unsupported(format!("operand {i} is not in column-major layout")));
            }
        }
        if tensor.element.is_integer() {
            return Err(Error::unsupported(format!("matrices of type {}", tensor.ty())));
        }
        Matrices::of(tensor)
    }

    /// A result of the declared type.
    fn numbers(&self, i: usize, values: Vec<C>) -> Result<Value> {
        Ok(Value::Tensor(tensor_of(self.result_element(i)?, &self.result_shape(i)?, values)?))
    }

    fn integers(&self, i: usize, values: Vec<i64>) -> Result<Value> {
        Ok(Value::Tensor(Tensor::ints(self.result_element(i)?, &self.result_shape(i)?, values)?))
    }

    /// The factor in one triangle, the other as it was; then which matrices have none.
    fn potrf(&mut self) -> Values {
        let lower = self.letter("uplo", "LU")? == 'L';
        let given = self.matrices(0)?;
        let tensor = self.tensor(0)?;
        let (factor, exist) = factors(tensor, lower, &tensor.element)?;
        let n = given.rows;
        let mut values = factor.elements()?.into_complex();
        for (i, value) in values.iter_mut().enumerate() {
            let (row, column) = (i / n % n, i % n);
            if if lower { column > row } else { column < row } {
                *value = given.values[i];
            }
        }
        let info = exist.into_iter().map(|e| i64::from(!e)).collect();
        Ok(vec![self.numbers(0, values)?, self.integers(1, info)?])
    }

    fn trsm(&mut self) -> Values {
        let transpose = self.letter("trans_x", "NTC")?;
        let what = Triangular {
            left: self.letter("side", "LR")? == 'L',
            lower: self.letter("uplo", "LU")? == 'L',
            unit: self.letter("diag", "NU")? == 'U',
            transpose: transpose != 'N',
            conjugate: transpose == 'C',
        };
        self.matrices(0)?;
        self.matrices(1)?;
        Ok(vec![Value::Tensor(triangular_solve(self.tensor(0)?, self.tensor(1)?, what, self.result_element(0)?)?)])
    }

    /// `getrf`: factors, pivots from 1 and where a pivot is zero. On a TPU: factors, pivots from 0 and the permutation.
    fn lu(&mut self, tpu: bool) -> Values {
        let given = self.matrices(0)?;
        let (m, n) = (given.rows, given.columns);
        let (mut values, mut pivots, mut infos, mut permutations) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for i in 0..given.batch {
            let mut a = given.get(i).to_vec();
            let (own, info) = factor::lu(&mut a, m, n);
            let mut rows: Vec<i64> = (0..m as i64).collect();
            own.iter().enumerate().for_each(|(j, p)| rows.swap(j, *p as usize - 1));
            values.extend(a);
            pivots.extend(own.iter().map(|p| p - i64::from(tpu)));
            infos.push(info);
            permutations.extend(rows);
        }
        let last = if tpu { permutations } else { infos };
        Ok(vec![self.numbers(0, values)?, self.integers(1, pivots)?, self.integers(2, last)?])
    }

    fn qr(&mut self) -> Values {
        let given = self.matrices(0)?;
        let (mut values, mut taus) = (Vec::new(), Vec::new());
        for i in 0..given.batch {
            let mut a = given.get(i).to_vec();
            taus.extend(factor::qr(&mut a, given.rows, given.columns));
            values.extend(a);
        }
        Ok(vec![self.numbers(0, values)?, self.numbers(1, taus)?])
    }

    /// Rows of the second operand, one a matrix.
    fn taus(&self) -> Result<Vec<Vec<C>>> {
        let tensor = self.tensor(1)?;
        let k = tensor.shape.last().copied().unwrap_or(0);
        let values = tensor.elements()?.into_complex();
        let batch = tensor.shape[..tensor.rank().saturating_sub(1)].iter().product::<usize>();
        Ok((0..batch).map(|i| values[i * k..(i + 1) * k].to_vec()).collect())
    }

    fn orgqr(&mut self) -> Values {
        let given = self.matrices(0)?;
        let taus = self.taus()?;
        let mut values = Vec::new();
        for i in 0..given.batch {
            let own = taus.get(i).filter(|t| t.len() <= given.rows.min(given.columns));
            let own = own.ok_or_else(|| Error::invalid("'tau' does not fit the matrices"))?;
            values.extend(factor::q_of(given.get(i), own, given.rows, given.columns));
        }
        Ok(vec![self.numbers(0, values)?])
    }

    fn ormqr(&mut self) -> Values {
        let (given, other) = (self.matrices(0)?, self.matrices(2)?);
        let flag = |name: &str| matches!(self.configuration(name), Some(Attribute::Bool(true)));
        let (left, adjoint) = (flag("left"), flag("transpose"));
        let side = if left { other.rows } else { other.columns };
        let taus = self.taus()?;
        if given.rows != side || given.batch != other.batch || taus.iter().any(|t| t.len() > side) {
            return Err(Error::invalid("reflectors that do not fit the matrices"));
        }
        let mut values = Vec::new();
        for (i, tau) in taus.iter().enumerate() {
            let mut c = other.get(i).to_vec();
            factor::multiply_q(given.get(i), tau, given.columns, &mut c, (other.rows, other.columns), left, adjoint);
            values.extend(c);
        }
        Ok(vec![self.numbers(0, values)?])
    }

    fn eigh(&mut self) -> Values {
        let lower = self.letter("uplo", "LU")? == 'L';
        let given = self.matrices(0)?;
        let n = given.rows;
        let (mut vectors, mut values, mut infos) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..given.batch {
            let a = given.get(i);
            // Only one triangle is read.
            let whole: Vec<C> = (0..n * n)
                .map(|k| {
                    let (row, column) = (k / n, k % n);
                    match (row == column, (row > column) == lower) {
                        (true, _) => C::new(a[k].re, 0.0),
                        (_, true) => a[k],
                        _ => a[column * n + row].conj(),
                    }
                })
                .collect();
            match factor::hermitian(&whole, n) {
                Some((own, v)) => {
                    values.extend(own.into_iter().map(|v| C::new(v, 0.0)));
                    vectors.extend(v);
                    infos.push(0);
                }
                None => {
                    values.extend(vec![C::new(f64::NAN, 0.0); n]);
                    vectors.extend(whole);
                    infos.push(1);
                }
            }
        }
        Ok(vec![self.numbers(0, vectors)?, self.numbers(1, values)?, self.integers(2, infos)?])
    }

    fn svd(&mut self) -> Values {
        let given = self.matrices(0)?;
        let (m, n) = (given.rows, given.columns);
        let (u_shape, v_shape) = (self.result_shape(2)?, self.result_shape(3)?);
        let (columns, rows) = match (u_shape.last(), v_shape.len().checked_sub(2).and_then(|d| v_shape.get(d))) {
            (Some(columns), Some(rows)) if *columns <= m && *rows <= n => (*columns, *rows),
            _ => return Err(Error::invalid("results of other sizes than the matrices")),
        };
        let (mut s, mut us, mut vs, mut infos) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for i in 0..given.batch {
            match factor::svd(given.get(i), m, n) {
                Some((values, u, vh)) => {
                    s.extend(values.into_iter().map(|v| C::new(v, 0.0)));
                    us.extend((0..m * columns).map(|k| u[k / columns * m + k % columns]));
                    vs.extend_from_slice(&vh[..rows * n]);
                    infos.push(0);
                }
                None => {
                    let nan = C::new(f64::NAN, 0.0);
                    s.extend(vec![nan; m.min(n)]);
                    us.extend(vec![nan; m * columns]);
                    vs.extend(vec![nan; rows * n]);
                    infos.push(1);
                }
            }
        }
        Ok(vec![
            self.args[0].clone(),
            self.numbers(1, s)?,
            self.numbers(2, us)?,
            self.numbers(3, vs)?,
            self.integers(4, infos)?,
        ])
    }

    /// Eigenvalues (real and imaginary parts apart for real matrices), left and right vectors, and what failed.
    fn eig(&mut self) -> Values {
        let given = self.matrices(0)?;
        let n = given.rows;
        let real = !self.tensor(0)?.element.is_complex();
        let (mut values, mut lefts, mut rights, mut infos) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for i in 0..given.batch {
            let Some((t, z)) = factor::schur(given.get(i), n) else {
                let nan = C::new(f64::NAN, f64::NAN);
                values.extend(vec![nan; n]);
                lefts.extend(vec![nan; n * n]);
                rights.extend(vec![nan; n * n]);
                infos.push(1);
                continue;
            };
            let scale = t.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
            values.extend((0..n).map(|k| {
                let v = t[k * n + k];
                // What rounding leaves of a real eigenvalue.
                if real && v.im.abs() <= 1e-14 * scale { C::new(v.re, 0.0) } else { v }
            }));
            lefts.extend(factor::eigenvectors(&t, &z, n, true));
            rights.extend(factor::eigenvectors(&t, &z, n, false));
            infos.push(0);
        }
        let part = |f: fn(&C) -> f64| values.iter().map(|z| C::new(f(z), 0.0)).collect::<Vec<C>>();
        let mut out = match real {
            true => vec![self.numbers(0, part(|z| z.re))?, self.numbers(1, part(|z| z.im))?],
            false => vec![self.numbers(0, values)?],
        };
        let at = out.len();
        out.push(self.numbers(at, lefts)?);
        out.push(self.numbers(at + 1, rights)?);
        out.push(self.integers(at + 2, infos)?);
        Ok(out)
    }

    /// `gees` of complex matrices: the form of real ones has blocks of two, which there is no routine for here.
    fn schur(&mut self) -> Result<Option<Vec<Value>>> {
        let given = self.matrices(0)?;
        let n = given.rows;
        if !self.tensor(0)?.element.is_complex() {
            return Ok(None);
        }
        let (mut ts, mut zs, mut values, mut infos) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for i in 0..given.batch {
            match factor::schur(given.get(i), n) {
                Some((t, z)) => {
                    values.extend((0..n).map(|k| t[k * n + k]));
                    ts.extend((0..n * n).map(|k| if k / n > k % n { C::new(0.0, 0.0) } else { t[k] }));
                    zs.extend(z);
                    infos.push(0);
                }
                None => {
                    let nan = C::new(f64::NAN, f64::NAN);
                    values.extend(vec![nan; n]);
                    ts.extend(vec![nan; n * n]);
                    zs.extend(vec![nan; n * n]);
                    infos.push(1);
                }
            }
        }
        let selected = vec![0; given.batch];
        Ok(Some(vec![
            self.numbers(0, ts)?,
            self.numbers(1, zs)?,
            self.numbers(2, values)?,
            self.integers(3, selected)?,
            self.integers(4, infos)?,
        ]))
    }

    fn hessenberg(&mut self) -> Values {
        let given = self.matrices(0)?;
        let n = given.rows;
        let (mut values, mut taus) = (Vec::new(), Vec::new());
        for i in 0..given.batch {
            let mut a = given.get(i).to_vec();
            taus.extend(factor::hessenberg(&mut a, n));
            values.extend(a);
        }
        let infos = vec![0; given.batch];
        Ok(vec![self.numbers(0, values)?, self.numbers(1, taus)?, self.integers(2, infos)?])
    }

    /// The diagonals as they were, the solution, and where a pivot is zero.
    fn tridiagonal_solve(&mut self) -> Values {
        let b = self.matrices(3)?;
        let (n, m) = (b.rows, b.columns);
        let diagonal = |i: usize| -> Result<Vec<C>> {
            let values = self.tensor(i)?.elements()?.into_complex();
            if values.len() == b.batch * n { Ok(values) } else { Err(Error::invalid("diagonals of another size")) }
        };
        let (dl, d, du) = (diagonal(0)?, diagonal(1)?, diagonal(2)?);
        let (mut values, mut infos) = (Vec::new(), Vec::new());
        for i in 0..b.batch {
            let own = i * n..(i + 1) * n;
            let mut x = b.get(i).to_vec();
            let info = factor::tridiagonal(&dl[own.clone()], &d[own.clone()], &du[own], &mut x, m);
            values.extend(x);
            infos.push(info);
        }
        let mut out: Vec<Value> = self.args[..3].to_vec();
        out.push(self.numbers(3, values)?);
        out.push(self.integers(4, infos)?);
        Ok(out)
    }
}
