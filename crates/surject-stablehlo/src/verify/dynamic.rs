//! Rules of operations whose shapes are operands. A shape that is a constant is checked as an attribute would be.

use super::infer::Want;
use super::shape::{Ext, extents};
use super::{Checked, Result};
use crate::table::Elements;
use crate::types::{ElementType, TensorType};

impl Checked<'_> {
    /// Checks that operand `i` gives the extents of the result: one integer for each, those of a constant equal.
    fn shape_operand(&self, rule: u8, i: usize) -> Result<()> {
        let (shape, result) = (self.operand(i)?, self.result(0)?);
        let what = format!("operand {i}");
        self.integer_vector(rule, &what, shape, Some(result.rank()))?;
        if let Some(sizes) = self.constant_operand(i)
            && sizes.len() == result.rank()
        {
            let wanted: Vec<Ext> = sizes.iter().map(|n| Ext::known(*n)).collect();
            // A size of -1 says nothing.
            let wanted: Vec<Ext> =
                wanted.into_iter().map(|e| if e.size < Some(0) { Ext::ANY } else { e }).collect();
            self.same_shape(rule, "the result", result, &wanted)?;
        }
        Ok(())
    }

    pub(super) fn dynamic_iota(&self) -> Result<Vec<Want>> {
        let result = self.result(0)?;
        self.element_class("the result", result, Elements::NotBool)?;
        self.shape_operand(2, 0)?;
        self.dims(1, "iota_dimension", &[self.op.int("iota_dimension")?], result.rank())?;
        Ok(vec![Want::Any])
    }

    pub(super) fn dynamic_reshape(&self) -> Result<Vec<Want>> {
        self.reshaped(self.operand(0)?, self.result(0)?)?;
        self.shape_operand(4, 1)?;
        Ok(vec![Want::Any])
    }

    pub(super) fn dynamic_broadcast_in_dim(&self) -> Result<Vec<Want>> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        let dims = self.op.ints("broadcast_dimensions")?;
        self.broadcast_dims(operand, result, dims)?;
        self.shape_operand(7, 1)?;
        let known = |name: &str| -> Result<Vec<i64>> {
            if self.op.attributes.contains(name) {
                self.op.ints(name).map(<[i64]>::to_vec)
            } else {
                Ok(Vec::new())
            }
        };
        let expanding = known("known_expanding_dimensions")?;
        let fixed = known("known_nonexpanding_dimensions")?;
        self.unique(
            8,
            "known expanding and nonexpanding dimensions",
            &[expanding.clone(), fixed.clone()].concat(),
        )?;
        self.dims(9, "known_expanding_dimensions", &expanding, operand.rank())?;
        self.dims(10, "known_nonexpanding_dimensions", &fixed, operand.rank())?;
        Ok(vec![Want::Any])
    }

    /// Checks operands `first` on: integer vectors of one type with an entry for each dimension of the operand.
    fn vectors(&self, rule: u8, first: usize, rank: usize) -> Result<()> {
        for i in first..self.op.operands.len() {
            let vector = self.operand(i)?;
            let what = format!("operand {i}");
            self.integer_vector(rule, &what, vector, Some(rank))?;
            if *vector != *self.operand(first)? {
                return Err(self
                    .type_error(format!("{what} has type {vector}"))
                    .expected(format!("{}, as operand {first}", self.operand(first)?)));
            }
        }
        Ok(())
    }

    fn rank_of_result(&self, rule: u8, operand: &TensorType) -> Result<Vec<Ext>> {
        match self.op.results.first().and_then(|v| self.module.tensor(*v)) {
            Some(result) if result.rank() != operand.rank() => Err(self
                .type_error(format!("the result has type {result}"))
                .expected(format!("{} dimensions", operand.rank()))
                .constraint(rule)),
            _ => Ok(vec![Ext::ANY; operand.rank()]),
        }
    }

    pub(super) fn dynamic_pad(&self) -> Result<Vec<Want>> {
        let (operand, value) = (self.operand(0)?, self.operand(1)?);
        self.scalar(0, "the padding value", value)?;
        self.same_element(1, "the padding value", value, &operand.element)?;
        self.vectors(2, 2, operand.rank())?;
        let mut shape = self.rank_of_result(4, operand)?;
        if let Some(interior) = self.constant_operand(4) {
            self.at_least(3, "interior_padding", &interior, 0)?;
            if let (Some(low), Some(high)) = (self.constant_operand(2), self.constant_operand(3)) {
                shape = self.padded(operand, &low, &high, &interior)?;
            }
        }
        Ok(vec![Want::tensor(shape, &operand.element, 4, 1)])
    }

    /// `real_dynamic_slice`, which the specification does not describe: as `slice`, with the indices as operands.
    pub(super) fn real_dynamic_slice(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.vectors(0, 1, operand.rank())?;
        let mut shape = self.rank_of_result(0, operand)?;
        let lists = (self.constant_operand(1), self.constant_operand(2), self.constant_operand(3));
        if let Some(strides) = &lists.2 {
            self.positive(0, "strides", strides)?;
        }
        if let (Some(starts), Some(limits), Some(strides)) = lists {
            for (i, ext) in extents(operand).into_iter().enumerate() {
                let (start, limit) = (starts[i], limits[i]);
                if start < 0 || limit < start || ext.limit().is_some_and(|n| limit > n) {
                    return Err(self
                        .type_error(format!("the slice {start}:{limit} of dimension {i} of {operand}"))
                        .expected("0 <= start <= limit <= size"));
                }
                let length = i128::from(limit) - i128::from(start);
                let stride = i128::from(strides[i]);
                shape[i] = Ext::wide((length + stride - 1) / stride);
            }
        }
        Ok(vec![Want::tensor(shape, &operand.element, 0, 0)])
    }

    pub(super) fn get_dimension_size(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        self.dims(1, "dimension", &[self.op.int("dimension")?], operand.rank())?;
        Ok(vec![Want::tensor(Vec::new(), &ElementType::I32, 0, 0)])
    }

    /// `set_dimension_size`, which the specification does not describe: the dimension becomes dynamic with its size as
    /// its bound.
    pub(super) fn set_dimension_size(&self) -> Result<Vec<Want>> {
        let (operand, size) = (self.operand(0)?, self.operand(1)?);
        self.scalar(0, "the size", size)?;
        self.same_element(0, "the size", size, &ElementType::I32)?;
        let dimension = self.op.int("dimension")?;
        self.dims(0, "dimension", &[dimension], operand.rank())?;
        let mut shape = extents(operand);
        let ext = &mut shape[dimension as usize];
        let whole = self.constant_operand(1).and_then(|v| v.first().copied());
        if whole.is_none() || whole != ext.limit() {
            *ext = Ext { size: None, bound: ext.limit() };
        } else {
            *ext = ext.limit().map_or(Ext::ANY, Ext::known);
        }
        Ok(vec![Want::tensor(shape, &operand.element, 0, 0)])
    }
}
