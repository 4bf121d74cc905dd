//! `fft`, by the crate `rustfft` in `f64`, rounded once.

use rustfft::FftPlanner;

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{sizes, transpose};
use super::number::{C, Elements};
use super::value::{Tensor, count};

/// Every line along the last dimension.
fn lines(values: &mut [C], length: usize, inverse: bool) {
    if length == 0 || values.is_empty() {
        return;
    }
    let mut planner = FftPlanner::new();
    let plan = if inverse { planner.plan_fft_inverse(length) } else { planner.plan_fft_forward(length) };
    plan.process(values);
    if inverse {
        let scale = 1.0 / length as f64;
        values.iter_mut().for_each(|z| *z *= scale);
    }
}

/// Along dimensions from one on, the last first.
fn along(mut tensor: Tensor, dims: impl Iterator<Item = usize>, inverse: bool) -> Result<Tensor> {
    let rank = tensor.rank();
    for dim in dims {
        let mut swap: Vec<usize> = (0..rank).collect();
        swap.swap(dim, rank - 1);
        let turned = transpose(&tensor, &swap, &tensor.element)?;
        let mut values = turned.elements()?.into_complex();
        lines(&mut values, tensor.shape[dim], inverse);
        let turned = Tensor::of(&turned.element, &turned.shape, &Elements::C(values))?;
        tensor = transpose(&turned, &swap, &turned.element)?;
    }
    Ok(tensor)
}

impl Call<'_, '_> {
    pub(crate) fn fft(&mut self) -> Values {
        let operand = self.tensor(0)?;
        let length = sizes(self.op.ints("fft_length")?, "fft_length")?;
        let element = self.result_element(0)?.clone();
        let kind = self.op.enumeration("fft_type")?;
        let rank = operand.rank();
        let Some(first) = rank.checked_sub(length.len()).filter(|_| !length.is_empty()) else {
            return Err(Error::invalid(format!("lengths {length:?} for {}", operand.ty())));
        };
        // Everything in pairs of `f64` until the end.
        let wide = crate::types::ElementType::C128;
        let values = Elements::C(operand.elements()?.into_complex());
        let tensor = Tensor::of(&wide, &operand.shape, &values)?;
        let last = rank - 1;
        let wrong = || Error::invalid(format!("lengths {length:?} for {}", operand.ty()));
        let n = length[length.len() - 1];
        let inner = &operand.shape[first..last];
        if inner != &length[..length.len() - 1] {
            return Err(wrong());
        }
        let result = match kind {
            "FFT" | "IFFT" if operand.shape[last] == n => along(tensor, (first..rank).rev(), kind == "IFFT")?,
            "RFFT" if operand.shape[last] == n => {
                let whole = along(tensor, std::iter::once(last), false)?;
                // The other half is the conjugate of this one.
                let mut limit: Vec<i64> = whole.shape.iter().map(|n| *n as i64).collect();
                limit[last] = if n == 0 { 0 } else { n as i64 / 2 + 1 };
                let half = super::movement::slice(&whole, &vec![0; rank], &limit, &vec![1; rank], &wide)?;
                along(half, (first..last).rev(), false)?
            }
            "IRFFT" if operand.shape[last] == if n == 0 { 0 } else { n / 2 + 1 } => {
                let half = along(tensor, (first..last).rev(), true)?;
                let given = operand.shape[last];
                let values = half.elements()?.into_complex();
                let mut shape = half.shape.clone();
                shape[last] = n;
                let mut whole = Vec::with_capacity(count(&shape, &wide)?);
                for line in values.chunks_exact(given.max(1)) {
                    whole.extend((0..n).map(|i| {
                        let value = if i < given { line[i] } else { line[n - i].conj() };
                        // These are real: what they hold beside that does not count.
                        if i == 0 || 2 * i == n { C::new(value.re, 0.0) } else { value }
                    }));
                }
                let whole = Tensor::of(&wide, &shape, &Elements::C(whole))?;
                along(whole, std::iter::once(last), true)?
            }
            "FFT" | "IFFT" | "RFFT" | "IRFFT" => return Err(wrong()),
            other => return Err(Error::unsupported(format!("the kind {other}"))),
        };
        let values = result.elements()?.into_complex();
        let elements = match element.is_complex() {
            true => Elements::C(values),
            false => Elements::F(values.into_iter().map(|z| z.re).collect()),
        };
        one(Tensor::of(&element, &result.shape, &elements)?)
    }
}
