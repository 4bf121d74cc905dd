//! Rules of sources and of operations that move data without looking at it.

use super::{Checked, Result, extent};
use crate::attr::Attribute;
use crate::types::{Dim, ElementClass, ElementType, TensorType, Type};

impl Checked<'_> {
    pub(super) fn constant(&self) -> Result<()> {
        let Attribute::Dense(value) = self.op.attribute("value")? else { return Ok(()) };
        let result = self.result(0)?;
        // A quantized constant is written with its storage type.
        if result.element.class() == ElementClass::Quantized {
            return self.expect_shape("the result", result, &value.ty.shape);
        }
        self.expect_result(0, &value.ty.shape, &value.ty.element)
    }

    pub(super) fn iota(&self) -> Result<()> {
        let result = self.result(0)?;
        if result.element == ElementType::I1 {
            return Err(self
                .type_error(format!("the result has type {result}"))
                .expected("an element type other than i1"));
        }
        self.expect_dims("iota_dimension", &[self.op.int("iota_dimension")?], result.rank())
    }

    pub(super) fn dynamic_iota(&self) -> Result<()> {
        self.expect_shape_operand(0)?;
        self.iota()
    }

    /// Checks that an operand gives the extents of the result: one integer for each.
    fn expect_shape_operand(&self, i: usize) -> Result<()> {
        let (shape, result) = (self.operand(i)?, self.result(0)?);
        if !shape.element.is_integer()
            || shape.rank() != 1
            || !shape.shape[0].compatible(Dim::Static(result.rank() as i64))
        {
            return Err(self
                .type_error(format!("the shape of {result} is given by an operand of type {shape}"))
                .expected(format!("tensor<{}xi32> or another integer type", result.rank())));
        }
        Ok(())
    }

    pub(super) fn broadcast_in_dim(&self) -> Result<()> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        let dims = self.op.ints("broadcast_dimensions")?;
        self.expect_len("broadcast_dimensions", dims.len(), operand.rank(), "dimensions of the operand")?;
        self.expect_dims("broadcast_dimensions", dims, result.rank())?;
        self.expect_unique("broadcast_dimensions", dims)?;
        if operand.element != result.element && operand.element.class() != ElementClass::Quantized {
            return Err(self
                .type_error(format!("{operand} is broadcast to {result}"))
                .expected(format!("element type {}", operand.element)));
        }
        for (i, (from, to)) in operand.shape.iter().zip(dims).enumerate() {
            let target = result.shape[*to as usize];
            if *from != Dim::Static(1) && !from.compatible(target) {
                return Err(self
                    .type_error(format!("{operand} is broadcast to {result} with dims = {dims:?}"))
                    .expected(format!(
                        "dimension {i} of the operand to be 1 or that of dimension {to} of the result"
                    )));
            }
        }
        Ok(())
    }

    pub(super) fn dynamic_broadcast_in_dim(&self) -> Result<()> {
        self.expect_shape_operand(1)?;
        self.broadcast_in_dim()
    }

    pub(super) fn broadcast(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let sizes = self.op.ints("broadcast_sizes")?;
        if sizes.iter().any(|s| *s < 0) {
            return Err(self.attr_error(format!("'broadcast_sizes' = {sizes:?} holds a negative size")));
        }
        let shape: Vec<Dim> =
            sizes.iter().map(|s| Dim::Static(*s)).chain(operand.shape.iter().copied()).collect();
        self.expect_result(0, &shape, &operand.element)
    }

    pub(super) fn reshape(&self) -> Result<()> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        if operand.element.class() != ElementClass::Quantized {
            self.expect_element("the result", result, &operand.element)?;
        }
        let all_static = |t: &TensorType| t.static_shape().is_some();
        if !all_static(operand) || !all_static(result) {
            return Ok(());
        }
        let (from, to) = (operand.num_elements(), result.num_elements());
        if from == to && from.is_some() {
            return Ok(());
        }
        let count = |n: Option<u64>| n.map_or("too many".to_string(), |n| n.to_string());
        Err(self.type_error(format!("{operand} is reshaped to {result}")).expected(format!(
            "as many elements: {} are not {}",
            count(from),
            count(to)
        )))
    }

    pub(super) fn dynamic_reshape(&self) -> Result<()> {
        self.expect_shape_operand(1)?;
        self.reshape()
    }

    pub(super) fn transpose(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let permutation = self.op.ints("permutation")?;
        self.expect_len("permutation", permutation.len(), operand.rank(), "dimensions of the operand")?;
        self.expect_dims("permutation", permutation, operand.rank())?;
        self.expect_unique("permutation", permutation)?;
        let shape: Vec<Dim> = permutation.iter().map(|d| operand.shape[*d as usize]).collect();
        if operand.element.class() == ElementClass::Quantized {
            return self.expect_shape("the result", self.result(0)?, &shape);
        }
        self.expect_result(0, &shape, &operand.element)
    }

    pub(super) fn reverse(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let dims = self.op.ints("dimensions")?;
        self.expect_dims("dimensions", dims, operand.rank())?;
        self.expect_unique("dimensions", dims)?;
        self.expect_result(0, &operand.shape, &operand.element)
    }

    pub(super) fn slice(&self) -> Result<()> {
        let operand = self.operand(0)?;
        let (starts, limits) = (self.op.ints("start_indices")?, self.op.ints("limit_indices")?);
        let strides = self.op.ints("strides")?;
        for (name, list) in [("start_indices", starts), ("limit_indices", limits), ("strides", strides)] {
            self.expect_len(name, list.len(), operand.rank(), "dimensions of the operand")?;
        }
        let mut shape = Vec::new();
        for (i, dim) in operand.shape.iter().enumerate() {
            let (start, limit, stride) = (starts[i], limits[i], strides[i]);
            let size = dim.known().unwrap_or(i64::MAX);
            if start < 0 || limit < start || limit > size || stride < 1 {
                return Err(self
                    .attr_error(format!("the slice {start}:{limit}:{stride} of dimension {i} of {operand}"))
                    .expected(format!(
                        "0 <= start <= limit <= {}, stride > 0",
                        dim.known().map_or("?".into(), |n| n.to_string())
                    )));
            }
            let length = i128::from(limit) - i128::from(start);
            shape.push(extent((length + i128::from(stride) - 1) / i128::from(stride)));
        }
        self.expect_result(0, &shape, &operand.element)
    }

    pub(super) fn concatenate(&self) -> Result<()> {
        let first = self.operand(0)?;
        let dimension = self.op.int("dimension")?;
        self.expect_dims("dimension", &[dimension], first.rank())?;
        let at = dimension as usize;
        let mut shape = first.shape.clone();
        let mut total = Some(0i128);
        for i in 0..self.op.operands.len() {
            let operand = self.operand(i)?;
            self.expect_element(&format!("operand {i}"), operand, &first.element)?;
            let mut wanted = first.shape.clone();
            if operand.rank() == first.rank() {
                wanted[at] = operand.shape[at];
            }
            self.expect_shape(&format!("operand {i}"), operand, &wanted)?;
            total = total.and_then(|t| Some(t + i128::from(operand.shape[at].known()?)));
        }
        shape[at] = total.map_or(Dim::Dynamic, extent);
        self.expect_result(0, &shape, &first.element)
    }

    pub(super) fn pad(&self) -> Result<()> {
        let (operand, value) = (self.operand(0)?, self.operand(1)?);
        self.expect_scalar("the padding value", value)?;
        self.expect_element("the padding value", value, &operand.element)?;
        let (low, high) = (self.op.ints("edge_padding_low")?, self.op.ints("edge_padding_high")?);
        let interior = self.op.ints("interior_padding")?;
        for (name, list) in
            [("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)]
        {
            self.expect_len(name, list.len(), operand.rank(), "dimensions of the operand")?;
        }
        if interior.iter().any(|i| *i < 0) {
            return Err(self.attr_error(format!("'interior_padding' = {interior:?} holds a negative number")));
        }
        let mut shape = Vec::new();
        for (i, dim) in operand.shape.iter().enumerate() {
            let Some(size) = dim.known().map(i128::from) else {
                shape.push(Dim::Dynamic);
                continue;
            };
            let gaps = (size - 1).max(0) * i128::from(interior[i]);
            let padded = i128::from(low[i]) + size + gaps + i128::from(high[i]);
            if padded < 0 {
                return Err(self.attr_error(format!(
                    "dimension {i} of {operand} is padded to the negative size {padded}"
                )));
            }
            shape.push(extent(padded));
        }
        self.expect_result(0, &shape, &operand.element)
    }

    pub(super) fn get_dimension_size(&self) -> Result<()> {
        let operand = self.operand(0)?;
        self.expect_dims("dimension", &[self.op.int("dimension")?], operand.rank())?;
        self.expect_result(0, &[], &ElementType::I32)
    }

    pub(super) fn tuple(&self) -> Result<()> {
        let parts = (0..self.op.operands.len()).map(|i| self.operand_type(i).clone()).collect();
        let wanted = Type::Tuple(parts);
        let found = self.module.ty(self.op.results[0]);
        if *found == wanted {
            return Ok(());
        }
        Err(self.type_error(format!("the result has type {found}")).expected(wanted.to_string()))
    }

    pub(super) fn get_tuple_element(&self) -> Result<()> {
        let ty = self.operand_type(0);
        let Type::Tuple(parts) = ty else {
            return Err(self.type_error(format!("the operand has type {ty}")).expected("a tuple"));
        };
        let index = self.op.int("index")?;
        let Some(part) = usize::try_from(index).ok().and_then(|i| parts.get(i)) else {
            return Err(self.attr_error(format!("{ty} has no element {index}")));
        };
        let found = self.module.ty(self.op.results[0]);
        if found == part {
            return Ok(());
        }
        Err(self.type_error(format!("the result has type {found}")).expected(part.to_string()))
    }

    pub(super) fn barrier(&self) -> Result<()> {
        let operands: Vec<&Type> = (0..self.op.operands.len()).map(|i| self.operand_type(i)).collect();
        if self.result_types().iter().collect::<Vec<_>>() == operands {
            return Ok(());
        }
        Err(self.type_error("the results do not have the types of the operands"))
    }

    pub(super) fn check_pair(&self) -> Result<()> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.expect_shape("operand 1", b, &a.shape)?;
        self.expect_element("operand 1", b, &a.element)
    }

    pub(super) fn check_const(&self) -> Result<()> {
        let Attribute::Dense(value) = self.op.attribute("value")? else { return Ok(()) };
        let operand = self.operand(0)?;
        self.expect_shape("the operand", operand, &value.ty.shape)?;
        self.expect_element("the operand", operand, &value.ty.element)
    }
}
