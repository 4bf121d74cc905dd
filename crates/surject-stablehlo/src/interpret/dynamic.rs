//! Operations whose sizes are values. Buffers carry their shapes, so that a dynamic program runs as it stands.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{broadcast, dims, iota, pad, reshape, sizes, slice};
use super::value::Tensor;
use crate::types::{Dim, ElementType};

impl Call<'_, '_> {
    /// The integers of an operand, as sizes.
    fn sizes_of(&self, i: usize) -> Result<Vec<usize>> {
        sizes(&self.tensor(i)?.int_elements()?, "sizes")
    }

    pub(crate) fn get_dimension_size(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let dim = self.dim("dimension")?;
        let size = *tensor
            .shape
            .get(dim)
            .ok_or_else(|| Error::invalid(format!("dimension {dim} of {}", tensor.ty())))?;
        one(Tensor::ints(self.result_element(0)?, &[], vec![size as i64])?)
    }

    /// The elements below the new size.
    pub(crate) fn set_dimension_size(&mut self) -> Values {
        let tensor = self.tensor(0)?;
        let dim = self.dim("dimension")?;
        let size = self.tensor(1)?.int()?;
        let mut limit: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
        let wrong = || Error::invalid(format!("size {size} for dimension {dim} of {}", tensor.ty()));
        *limit.get_mut(dim).ok_or_else(wrong)? = size;
        let rank = limit.len();
        if let Dim::Static(n) = self.result_type(0)?.shape[dim]
            && n != size
        {
            return Err(wrong());
        }
        one(slice(tensor, &vec![0; rank], &limit, &vec![1; rank], self.result_element(0)?)?)
    }

    pub(crate) fn dynamic_broadcast_in_dim(&mut self) -> Values {
        let shape = self.sizes_of(1)?;
        let dims = dims(self.op.ints("broadcast_dimensions")?, shape.len(), "broadcast_dimensions")?;
        one(broadcast(self.tensor(0)?, &dims, &shape, self.result_element(0)?)?)
    }

    pub(crate) fn dynamic_iota(&mut self) -> Values {
        one(iota(&self.sizes_of(0)?, self.dim("iota_dimension")?, self.result_element(0)?)?)
    }

    pub(crate) fn dynamic_reshape(&mut self) -> Values {
        let shape = self.sizes_of(1)?;
        let element = self.result_element(0)?;
        one(reshape(self.take(0)?, shape, element)?)
    }

    pub(crate) fn dynamic_pad(&mut self) -> Values {
        let amounts = |i: usize| self.tensor(i)?.int_elements();
        let (low, high, interior) = (amounts(2)?, amounts(3)?, amounts(4)?);
        one(pad(self.tensor(0)?, self.tensor(1)?, &low, &high, &interior, self.result_element(0)?)?)
    }

    pub(crate) fn real_dynamic_slice(&mut self) -> Values {
        let bounds = |i: usize| self.tensor(i)?.int_elements();
        let (start, limit, strides) = (bounds(1)?, bounds(2)?, bounds(3)?);
        one(slice(self.tensor(0)?, &start, &limit, &strides, self.result_element(0)?)?)
    }
}

/// The shape as a tensor of integers.
pub(crate) fn shape_of(tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
    let sizes: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
    Tensor::ints(element, &[sizes.len()], sizes)
}
