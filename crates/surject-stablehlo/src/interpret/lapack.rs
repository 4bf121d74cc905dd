//! The LAPACK routines that JAX calls on a CPU, and the targets that it calls on a TPU for the same. They are computed in `f64`
//! and rounded once.

use super::error::{Error, Result};
use super::linear::{Matrices, Triangular, factors, tensor_of, triangular_solve};
use super::machine::{Call, Values};
use super::number::C;
use super::value::{Tensor, Value};
use crate::lapack::{self, Part};
use surject_lapack::Operand;

/// The results of a call; none if the target is no routine that there is here.
pub(super) fn call(call: &mut Call<'_, '_>, target: &str) -> Result<Option<Vec<Value>>> {
    match lapack::routine_name(target) {
        Some("potrf") => return call.potrf().map(Some),
        Some("trsm") => return call.trsm().map(Some),
        _ => {}
    }
    match lapack::call(call.machine.module, call.op, target) {
        None => Ok(None),
        Some(Err(detail)) => Err(Error::unsupported(detail)),
        Some(Ok(given)) => call.routine(&given).map(Some),
    }
}

impl Call<'_, '_> {
    /// A flag that is a letter.
    fn letter(&self, name: &str, letters: &str) -> Result<char> {
        lapack::letter(self.op, name, letters).map_err(Error::unsupported)
    }

    fn matrices(&self, i: usize) -> Result<Matrices> {
        lapack::column_major(self.machine.module, self.op, i).map_err(Error::unsupported)?;
        let tensor = self.tensor(i)?;
        if tensor.element.is_integer() {
            return Err(Error::unsupported(format!("matrices of type {}", tensor.ty())));
        }
        Matrices::of(tensor)
    }

    /// A routine on every matrix of a batch.
    fn routine(&mut self, given: &lapack::Call) -> Values {
        if let Some(zero) = given.zero
            && self.tensor(zero)?.int_elements()?.iter().any(|v| *v != 0)
        {
            return Err(Error::unsupported("columns that are to stay in front"));
        }
        let mut operands = Vec::new();
        let mut batch: Option<&[usize]> = None;
        for (&i, &rank) in given.operands.iter().zip(given.routine.ranks()) {
            let tensor = self.tensor(i)?;
            let split = tensor.shape.len().checked_sub(rank);
            let split =
                split.ok_or_else(|| Error::invalid(format!("operand {i} of the type {}", tensor.ty())))?;
            let (own, sizes) = tensor.shape.split_at(split);
            if tensor.element.is_integer() || batch.is_some_and(|b| b != own) {
                return Err(Error::unsupported(format!("operand {i} of the type {}", tensor.ty())));
            }
            batch = Some(own);
            operands.push((tensor.elements()?.into_complex(), sizes.to_vec()));
        }
        let batch = batch.unwrap_or_default().to_vec();
        let sizes: Vec<&[usize]> = operands.iter().map(|(_, sizes)| sizes.as_slice()).collect();
        let results = given.routine.result_sizes(&sizes).map_err(Error::invalid)?;
        let real = !self.tensor(0)?.element.is_complex();
        let mut found: Vec<Vec<C>> = vec![Vec::new(); results.len()];
        for i in 0..batch.iter().product() {
            let of = |(values, sizes): &(Vec<C>, Vec<usize>)| {
                let size: usize = sizes.iter().product();
                (i * size..(i + 1) * size, values.len())
            };
            let matrices: Vec<Operand<'_>> =
                operands.iter().map(|o| Operand { values: &o.0[of(o).0], sizes: &o.1 }).collect();
            let own = given.routine.run(real, &matrices);
            found.iter_mut().zip(own).for_each(|(all, own)| all.extend(own));
        }
        let mut out = Vec::new();
        for (i, part) in given.results.iter().enumerate() {
            let values = match *part {
                Part::Operand(operand) => {
                    let value = self.args.get(operand).cloned();
                    out.push(value.ok_or_else(|| Error::invalid(format!("operand {operand} is missing")))?);
                    continue;
                }
                Part::Result(k) => found[k].clone(),
                Part::LessOne(k) => found[k].iter().map(|z| z - 1.0).collect(),
                Part::Real(k) => found[k].iter().map(|z| C::new(z.re, 0.0)).collect(),
                Part::Imaginary(k) => found[k].iter().map(|z| C::new(z.im, 0.0)).collect(),
                Part::Zeros => vec![C::new(0.0, 0.0); batch.iter().product()],
            };
            let own: &[usize] = match *part {
                Part::Result(k) | Part::LessOne(k) | Part::Real(k) | Part::Imaginary(k) => &results[k],
                _ => &[],
            };
            let shape = [batch.as_slice(), own].concat();
            if self.result_shape(i)? != shape {
                return Err(Error::invalid(format!("result {i} has the shape {shape:?}")));
            }
            let element = self.result_element(i)?;
            out.push(Value::Tensor(match element.is_integer() {
                true => Tensor::ints(element, &shape, values.iter().map(|z| z.re as i64).collect())?,
                false => tensor_of(element, &shape, values)?,
            }));
        }
        Ok(out)
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
        Ok(vec![
            Value::Tensor(tensor_of(self.result_element(0)?, &self.result_shape(0)?, values)?),
            Value::Tensor(Tensor::ints(self.result_element(1)?, &self.result_shape(1)?, info)?),
        ])
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
        Ok(vec![Value::Tensor(triangular_solve(
            self.tensor(0)?,
            self.tensor(1)?,
            what,
            self.result_element(0)?,
        )?)])
    }
}
