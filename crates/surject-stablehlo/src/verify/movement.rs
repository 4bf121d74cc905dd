//! Rules of sources and of operations that move data without looking at it.

use super::infer::Want;
use super::shape::{Ext, extents, fits, product};
use super::{Checked, Result};
use crate::attr::Attribute;
use crate::table::Elements;
use crate::types::{ElementClass, ElementType, TensorType, Type};

impl<'a> Checked<'a> {
    pub(super) fn constant(&self) -> Result<Vec<Want>> {
        let value = match self.op.attribute("value")? {
            Attribute::Dense(value) => value,
            Attribute::Opaque(_) => return Ok(vec![Want::Any]),
            other if self.op.name == "stablehlo.constant" => {
                return Err(self
                    .attr_error(format!("'value' is {}", other.describe()))
                    .expected("dense elements"));
            }
            _ => return Ok(vec![Want::Any]),
        };
        // A quantized constant is written with its storage type.
        if let Some(result) = self.op.results.first().and_then(|v| self.module.tensor(*v))
            && let Some(q) = result.element.quantized()
        {
            let stored = value.ty.element == q.storage
                || (value.ty.element.is_integer() && value.ty.element.bits() == Some(q.storage_bits));
            if !stored {
                return Err(self
                    .type_error(format!("the elements have type {}", value.ty))
                    .expected(format!("the storage type of {result}"))
                    .constraint(1));
            }
            return Ok(vec![Want::shape(extents(&value.ty), 1)]);
        }
        let ty = Type::Tensor(value.ty.clone());
        // A constant has the type of its elements, whatever its encoding.
        match self.op.results.first().map(|v| self.module.ty(*v)) {
            Some(Type::Tensor(t)) if t.element == value.ty.element && t.shape == value.ty.shape => {
                Ok(vec![Want::Any])
            }
            Some(found) => Err(self
                .type_error(format!("the result has type {found}"))
                .expected(ty.to_string())
                .constraint(1)),
            None => Ok(vec![Want::Like(ty, 1)]),
        }
    }

    pub(super) fn iota(&self) -> Result<Vec<Want>> {
        let result = self.result(0)?;
        self.element_class("the result", result, Elements::NotBool)?;
        self.dims(1, "iota_dimension", &[self.op.int("iota_dimension")?], result.rank())?;
        Ok(vec![Want::Any])
    }

    pub(super) fn broadcast_in_dim(&self) -> Result<Vec<Want>> {
        let (operand, result) = (self.operand(0)?, self.result(0)?);
        let dims = self.op.ints("broadcast_dimensions")?;
        self.broadcast_dims(operand, result, dims)?;
        Ok(vec![Want::Any])
    }

    /// (C1) to (C6) of broadcasts into the dimensions of the result.
    pub(super) fn broadcast_dims(
        &self,
        operand: &TensorType,
        result: &TensorType,
        dims: &[i64],
    ) -> Result<()> {
        let per_axis = |t: &TensorType| t.element.quantized().is_some_and(|q| q.is_per_axis());
        match (operand.element.quantized(), result.element.quantized()) {
            (Some(a), Some(b)) if a.is_per_axis() && b.is_per_axis() => {
                if !a.same_but_dimension(b, false) {
                    return Err(self
                        .type_error(format!("the result has type {result}"))
                        .expected(format!("the storage and expressed type of {operand}"))
                        .constraint(1));
                }
            }
            _ => self.same_element(1, "the result", result, &operand.element)?,
        }
        self.length(2, "broadcast_dimensions", dims.len(), operand.rank(), "dimensions of the operand")?;
        self.dims(3, "broadcast_dimensions", dims, result.rank())?;
        self.unique(4, "broadcast_dimensions", dims)?;
        let (from, to) = (extents(operand), extents(result));
        for (i, dim) in dims.iter().enumerate() {
            let target = to[*dim as usize];
            let lost = from[i].size.is_some()
                && target.size.is_none()
                && self.op.name == "stablehlo.broadcast_in_dim";
            if from[i].size != Some(1) && (lost || !from[i].fits(target)) {
                return Err(self
                    .type_error(format!(
                        "dimension {i} of {operand} is broadcast to dimension {dim} of {result}"
                    ))
                    .expected("size 1, or the size of the result")
                    .constraint(5));
            }
        }
        if per_axis(result)
            && let (Some(a), Some(b)) = (operand.element.quantized(), result.element.quantized())
            && let (Some(from_dim), Some(to_dim)) = (a.dimension, b.dimension)
        {
            let mapped = usize::try_from(from_dim).ok().and_then(|d| dims.get(d)).copied();
            let spread =
                usize::try_from(from_dim).ok().and_then(|d| from.get(d)).is_some_and(|e| e.size == Some(1));
            let same = b.scales.iter().all(|s| Some(s) == a.scales.first())
                && b.zero_points.iter().all(|z| Some(z) == a.zero_points.first());
            if mapped != Some(to_dim) || (spread && !same) {
                return Err(self
                    .type_error(format!("{operand} is broadcast to {result}"))
                    .expected("the quantization dimension mapped by 'broadcast_dimensions', one scale spread as it is")
                    .constraint(6));
            }
            if !spread && !a.same_but_dimension(b, true) {
                return Err(self
                    .type_error(format!("the result has type {result}"))
                    .expected(format!("the scales and zero points of {operand}"))
                    .constraint(1));
            }
        }
        Ok(())
    }

    pub(super) fn broadcast(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let sizes = self.op.ints("broadcast_sizes")?;
        self.at_least(0, "broadcast_sizes", sizes, 0)?;
        let shape: Vec<Ext> = sizes.iter().map(|n| Ext::known(*n)).chain(extents(operand)).collect();
        Ok(vec![Want::tensor(shape, &operand.element, 0, 0)])
    }

    pub(super) fn reshape(&self) -> Result<Vec<Want>> {
        self.reshaped(self.operand(0)?, self.result(0)?)?;
        Ok(vec![Want::Any])
    }

    /// (C1) to (C3) of reshapes.
    pub(super) fn reshaped(&self, operand: &TensorType, result: &TensorType) -> Result<()> {
        self.but_dimension(operand, result)?;
        let (from, to) = (extents(operand), extents(result));
        if let (Some(a), Some(b)) = (product(&from), product(&to))
            && a != b
        {
            return Err(self
                .type_error(format!("{operand} has {a} elements, {result} has {b}"))
                .expected("as many elements")
                .constraint(2));
        }
        let (Some(a), Some(b)) = (operand.element.quantized(), result.element.quantized()) else {
            return Ok(());
        };
        let (Some(x), Some(y)) = (a.dimension, b.dimension) else { return Ok(()) };
        let (x, y) = (x as usize, y as usize);
        let equal = |p: Option<i128>, q: Option<i128>| p.is_none() || q.is_none() || p == q;
        let kept = x < from.len()
            && y < to.len()
            && equal(product(&from[..x]), product(&to[..y]))
            && from[x].fits(to[y])
            && equal(product(&from[x + 1..]), product(&to[y + 1..]));
        if kept {
            return Ok(());
        }
        Err(self
            .type_error(format!("{operand} is reshaped to {result}"))
            .expected("the quantization dimension kept, with as many elements before and behind it")
            .constraint(3))
    }

    /// (C1): the element type of the operand, but for its quantization dimension.
    fn but_dimension(&self, operand: &TensorType, result: &TensorType) -> Result<()> {
        match (operand.element.quantized(), result.element.quantized()) {
            (Some(a), Some(b)) if a.is_per_axis() && b.is_per_axis() && a.same_but_dimension(b, true) => {
                Ok(())
            }
            _ => self.same_element(1, "the result", result, &operand.element),
        }
    }

    pub(super) fn transpose(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let permutation = self.op.ints("permutation")?;
        self.length(2, "permutation", permutation.len(), operand.rank(), "dimensions of the operand")?;
        self.dims(2, "permutation", permutation, operand.rank())?;
        self.unique(2, "permutation", permutation)?;
        let from = extents(operand);
        let shape: Vec<Ext> = permutation.iter().map(|d| from[*d as usize]).collect();
        if operand.element.quantized().is_some_and(|q| q.is_per_axis()) {
            let result = self.result(0)?;
            self.but_dimension(operand, result)?;
            if let (Some(a), Some(b)) = (operand.element.quantized(), result.element.quantized())
                && let (Some(x), Some(y)) = (a.dimension, b.dimension)
                && usize::try_from(y).ok().and_then(|y| permutation.get(y)) != Some(&x)
            {
                return Err(self
                    .type_error(format!("{operand} is transposed to {result} by {permutation:?}"))
                    .expected("the quantization dimension moved with its dimension")
                    .constraint(4));
            }
            return Ok(vec![Want::shape(shape, 3)]);
        }
        Ok(vec![Want::tensor(shape, &operand.element, 3, 1)])
    }

    pub(super) fn reverse(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let dims = self.op.ints("dimensions")?;
        self.unique(2, "dimensions", dims)?;
        self.dims(3, "dimensions", dims, operand.rank())?;
        Ok(vec![Want::tensor(extents(operand), &operand.element, 1, 1)])
    }

    pub(super) fn slice(&self) -> Result<Vec<Want>> {
        let operand = self.operand(0)?;
        let (starts, limits) = (self.op.ints("start_indices")?, self.op.ints("limit_indices")?);
        let strides = self.op.ints("strides")?;
        for (name, list) in [("start_indices", starts), ("limit_indices", limits), ("strides", strides)] {
            self.length(2, name, list.len(), operand.rank(), "dimensions of the operand")?;
        }
        let mut shape = Vec::new();
        for (i, ext) in extents(operand).into_iter().enumerate() {
            let (start, limit, stride) = (starts[i], limits[i], strides[i]);
            let wrong = |rule: u8, expected: String| {
                let message = format!("the slice {start}:{limit}:{stride} of dimension {i} of {operand}");
                Err(self.attr_error(message).expected(expected).constraint(rule))
            };
            if start < 0 || limit < start || ext.limit().is_some_and(|size| limit > size) {
                let size = ext.limit().map_or("?".into(), |n| n.to_string());
                return wrong(3, format!("0 <= start <= limit <= {size}"));
            }
            if stride < 1 {
                return wrong(4, "a stride above 0".into());
            }
            let length = i128::from(limit) - i128::from(start);
            shape.push(Ext::wide((length + i128::from(stride) - 1) / i128::from(stride)));
        }
        Ok(vec![Want::tensor(shape, &operand.element, 5, 1)])
    }

    pub(super) fn concatenate(&self) -> Result<Vec<Want>> {
        if self.op.operands.is_empty() {
            return Err(self.type_error("no operands").expected("at least one").constraint(3));
        }
        let operands = self.operands(0..self.op.operands.len())?;
        let first = operands[0];
        let dimension = self.op.int("dimension")?;
        self.dims(4, "dimension", &[dimension], first.rank())?;
        let at = dimension as usize;
        let mut shape = extents(first);
        let mut total = Ext::known(0);
        for (i, operand) in operands.iter().enumerate() {
            self.same_element(1, format_args!("operand {i}"), operand, &first.element)?;
            let found = extents(operand);
            let mut wanted = shape.clone();
            if found.len() == wanted.len() {
                wanted[at] = found[at];
            }
            self.same_shape(2, format_args!("operand {i}"), operand, &wanted)?;
            for (d, ext) in found.iter().enumerate().filter(|(d, _)| *d != at) {
                shape[d] = shape[d].merge(*ext);
            }
            let sum = |a: Option<i64>, b: Option<i64>| Some(a?.saturating_add(b?));
            total = match sum(total.size, found[at].size) {
                Some(size) => Ext::known(size),
                None => Ext { size: None, bound: sum(total.limit(), found[at].limit()) },
            };
        }
        shape[at] = total;
        Ok(vec![Want::tensor(shape, &first.element, 6, 5)])
    }

    pub(super) fn pad(&self) -> Result<Vec<Want>> {
        let (operand, value) = (self.operand(0)?, self.operand(1)?);
        self.scalar(0, "the padding value", value)?;
        self.same_element(1, "the padding value", value, &operand.element)?;
        let (low, high) = (self.op.ints("edge_padding_low")?, self.op.ints("edge_padding_high")?);
        let interior = self.op.ints("interior_padding")?;
        let shape = self.padded(operand, low, high, interior)?;
        Ok(vec![Want::tensor(shape, &operand.element, 4, 1)])
    }

    /// (C2) to (C4) of paddings.
    pub(super) fn padded(
        &self,
        operand: &TensorType,
        low: &[i64],
        high: &[i64],
        interior: &[i64],
    ) -> Result<Vec<Ext>> {
        for (name, list) in
            [("edge_padding_low", low), ("edge_padding_high", high), ("interior_padding", interior)]
        {
            self.length(2, name, list.len(), operand.rank(), "dimensions of the operand")?;
        }
        self.at_least(3, "interior_padding", interior, 0)?;
        let mut shape = Vec::new();
        for (i, ext) in extents(operand).into_iter().enumerate() {
            let wide = |list: &[i64]| i128::from(list[i]);
            let size = |n: i128| wide(low) + n + (n - 1).max(0) * wide(interior) + wide(high);
            if let Some(known) = ext.size
                && size(i128::from(known)) < 0
            {
                let padded = size(i128::from(known));
                return Err(self
                    .attr_error(format!("dimension {i} of {operand} is padded to the negative size {padded}"))
                    .constraint(4));
            }
            shape.push(ext.map(size));
        }
        Ok(shape)
    }

    pub(super) fn tuple(&self) -> Result<Vec<Want>> {
        let wanted = Type::Tuple(self.operand_types().into());
        match self.op.results.first().map(|v| self.module.ty(*v)) {
            Some(found) if *found != wanted => Err(self
                .type_error(format!("the result has type {found}"))
                .expected(wanted.to_string())
                .constraint(1)),
            _ => Ok(vec![Want::Like(wanted, 1)]),
        }
    }

    pub(super) fn get_tuple_element(&self) -> Result<Vec<Want>> {
        let ty = self.operand_type(0);
        let Type::Tuple(parts) = ty else {
            return Err(self.type_error(format!("the operand has type {ty}")).expected("a tuple"));
        };
        let index = self.op.int("index")?;
        match usize::try_from(index).ok().and_then(|i| parts.get(i)) {
            Some(part) => Ok(vec![Want::Like(part.clone(), 2)]),
            None => Err(self.attr_error(format!("{ty} has no element {index}")).constraint(1)),
        }
    }

    pub(super) fn barrier(&self) -> Result<Vec<Want>> {
        let operands = self.operand_types();
        let results = self.result_types();
        let counted = results.len() == operands.len() || !self.counts_results();
        if !counted || results.iter().zip(&operands).any(|(a, b)| a != b) {
            return Err(self.type_error("the results do not have the types of the operands").constraint(1));
        }
        Ok(operands.into_iter().map(|ty| Want::Like(ty, 1)).collect())
    }

    pub(super) fn check_pair(&self) -> Result<Vec<Want>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        self.same_shape(0, "operand 1", b, &extents(a))?;
        self.same_element(0, "operand 1", b, &a.element)?;
        Ok(Vec::new())
    }

    pub(super) fn check_const(&self) -> Result<Vec<Want>> {
        let Attribute::Dense(value) = self.op.attribute("value")? else { return Ok(Vec::new()) };
        let operand = self.operand(0)?;
        self.same_shape(0, "the operand", operand, &extents(&value.ty))?;
        if operand.element.class() != ElementClass::Quantized {
            self.same_element(0, "the operand", operand, &value.ty.element)?;
        }
        Ok(Vec::new())
    }

    pub(super) fn process_id(&self) -> Result<Vec<Want>> {
        Ok(vec![Want::tensor(Vec::new(), &ElementType::U32, 0, 0)])
    }

    /// `torch_index_select`: slices of the operand at the indices along a dimension, for each of the batch.
    pub(super) fn torch_index_select(&self) -> Result<Vec<Want>> {
        let (operand, index) = (self.operand(0)?, self.operand(1)?);
        self.integer("the index", index)?;
        let (dim, batch) = (self.op.int("dim")?, self.op.int("batch_dims")?);
        let rank = operand.rank() as i64;
        if operand.rank() == 0 {
            return Err(self
                .type_error(format!("the operand has type {operand}"))
                .expected("at least one dimension"));
        }
        let dim = if dim < 0 { dim + rank } else { dim };
        let batch = if batch < 0 { batch + index.rank() as i64 } else { batch };
        if !(0..rank).contains(&dim) || !(0..=index.rank() as i64).contains(&batch) || batch > dim {
            return Err(self
                .attr_error(format!("'dim' = {dim}, 'batch_dims' = {batch} for {operand} and {index}"))
                .expected(
                    "dimensions of the operand, 'batch_dims' at most 'dim' and the rank of the index",
                ));
        }
        let (dim, batch) = (dim as usize, batch as usize);
        let (from, at) = (extents(operand), extents(index));
        if !fits(&from[..batch], &at[..batch]) {
            return Err(self.type_error(format!("the batch dimensions of {operand} and {index} differ")));
        }
        let shape: Vec<Ext> =
            from[..dim].iter().chain(&at[batch..]).chain(&from[dim + 1..]).copied().collect();
        Ok(vec![Want::tensor(shape, &operand.element, 0, 0)])
    }
}
