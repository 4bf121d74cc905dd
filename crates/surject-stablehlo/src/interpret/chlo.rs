//! CHLO: elementwise functions with implicit broadcasting, and the operations with a formula of their own.

use super::contraction::ragged_dot;
use super::elementwise::apply_to;
use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::movement::{broadcast, concatenate, iota, reshape, slice};
use super::number::{C, Scalar, total_key};
use super::sort::sorted;
use super::value::{Tensor, Value};
use crate::attr::Attribute;
use crate::types::ElementType;

impl<'m> Call<'_, 'm> {
    pub(crate) fn chlo(&mut self, short: &str) -> Values {
        match short {
            "constant" => self.constant(),
            "constant_like" => self.constant_like(),
            "top_k" => {
                let k = self.op.int("k")?;
                let tensor = self.take(0)?;
                let index = self.result_element(1)?.clone();
                let (values, indices) = top_k(&tensor, k, true, &index)?;
                Ok(vec![Value::Tensor(values), Value::Tensor(indices)])
            }
            "ragged_dot" => self.ragged_dot(),
            "scan" => self.scan(),
            "mulhi" => self.elementwise_or_unknown(short),
            _ => match short.strip_prefix("broadcast_") {
                Some(plain) => self.broadcast_elementwise(plain),
                None => self.elementwise_or_unknown(short),
            },
        }
    }

    /// Operands of lower rank are aligned at `broadcast_dimensions`, else at the end; sizes of 1 are repeated.
    fn broadcast_elementwise(&mut self, plain: &str) -> Values {
        let operands = self.tensors(0..self.args.len())?;
        let rank = operands.iter().map(Tensor::rank).max().unwrap_or(0);
        let given = match self.op.attributes.get("broadcast_dimensions") {
            Some(Attribute::I64s(dims)) => Some(dims),
            _ => None,
        };
        let mut places: Vec<Vec<usize>> = Vec::new();
        for tensor in &operands {
            let own = tensor.rank();
            places.push(match given {
                Some(dims) if own < rank && dims.len() == own => {
                    super::movement::dims(dims, rank, "broadcast_dimensions")?
                }
                _ => (rank - own..rank).collect(),
            });
        }
        let mut shape = vec![1; rank];
        for (tensor, dims) in operands.iter().zip(&places) {
            for (size, d) in tensor.shape.iter().zip(dims) {
                if shape[*d] == 1 {
                    shape[*d] = *size;
                } else if *size != 1 && *size != shape[*d] {
                    return Err(Error::invalid(format!("sizes {} and {size} do not broadcast", shape[*d])));
                }
            }
        }
        let wide: Vec<Tensor> = operands
            .iter()
            .zip(&places)
            .map(|(tensor, dims)| broadcast(tensor, dims, &shape, &tensor.element))
            .collect::<Result<_>>()?;
        let element = self.result_element(0)?.clone();
        match apply_to(self, plain, &wide, &element)? {
            Some(tensor) => one(tensor),
            None => Err(Error::unsupported("no such operation on these elements")),
        }
    }

    fn constant_like(&mut self) -> Values {
        let element = self.result_element(0)?.clone();
        let value = match self.op.attribute("value")? {
            Attribute::Int { value, .. } => Scalar::I(*value as i64),
            Attribute::Bool(value) => Scalar::I(i64::from(*value)),
            other => match other.as_f64() {
                Some(value) => Scalar::F(value),
                None => return Err(Error::unsupported(format!("a value that is {}", other.describe()))),
            },
        };
        let tensor = self.tensor(0)?;
        let one_element = Tensor::scalar(&element, value)?;
        one(broadcast(&one_element, &[], &tensor.shape, &element)?)
    }

    fn ragged_dot(&mut self) -> Values {
        let numbers = self.op.ragged_dims();
        let numbers = numbers.ok_or_else(|| Error::invalid("dimension numbers that cannot be read"))?;
        one(ragged_dot(self.tensor(0)?, self.tensor(1)?, self.tensor(2)?, &numbers, self.result_element(0)?)?)
    }

    /// The body takes slices of the inputs and the carried values, and gives slices of the outputs and the carried values.
    fn scan(&mut self) -> Values {
        let total = self.args.len();
        let (inputs, _) = self
            .op
            .segments("operandSegmentSizes")
            .filter(|(scanned, carried)| scanned + carried == total)
            .ok_or_else(|| Error::invalid("'operandSegmentSizes' does not count its operands"))?;
        let outputs = self.op.segments("resultSegmentSizes").map_or(0, |(outputs, _)| outputs);
        let dim = self.dim("dimension")?;
        let reverse = self.op.flag("is_reverse")?;
        let scanned = self.tensors(0..inputs)?;
        let size = match scanned.first() {
            Some(tensor) => {
                *tensor.shape.get(dim).ok_or_else(|| Error::invalid(format!("dimension {dim}")))?
            }
            None => usize::try_from(self.op.int("scan_dim_size")?).unwrap_or(0),
        };
        let mut carried: Vec<Value> = self.args.drain(inputs..).collect();
        let mut slices: Vec<Vec<Tensor>> = vec![Vec::with_capacity(size.min(1 << 16)); outputs];
        for step in 0..size {
            let at = if reverse { size - 1 - step } else { step } as i64;
            let mut row = Vec::new();
            for tensor in &scanned {
                let mut low = vec![0; tensor.rank()];
                let mut high: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
                let place = low.get_mut(dim).zip(high.get_mut(dim));
                let (from, to) =
                    place.ok_or_else(|| Error::invalid(format!("dimension {dim} of {}", tensor.ty())))?;
                (*from, *to) = (at, at + 1);
                let part = slice(tensor, &low, &high, &vec![1; tensor.rank()], &tensor.element)?;
                let mut shape = part.shape.clone();
                shape.remove(dim);
                let element = part.element.clone();
                row.push(Value::Tensor(reshape(part, shape, &element)?));
            }
            row.extend(carried);
            let mut results = self.block(0, row)?;
            if results.len() < outputs {
                return Err(Error::invalid(format!(
                    "a body of {} results for {outputs} outputs",
                    results.len()
                )));
            }
            carried = results.split_off(outputs);
            for (list, result) in slices.iter_mut().zip(results) {
                let Value::Tensor(tensor) = result else {
                    return Err(Error::invalid(format!("an output that is {}", result.describe())));
                };
                let mut shape = tensor.shape.clone();
                if dim > shape.len() {
                    return Err(Error::invalid(format!(
                        "dimension {dim} of outputs of type {}",
                        tensor.ty()
                    )));
                }
                shape.insert(dim, 1);
                let element = tensor.element.clone();
                list.push(reshape(tensor, shape, &element)?);
            }
        }
        let mut out = Vec::new();
        for (i, mut list) in slices.into_iter().enumerate() {
            if reverse {
                list.reverse();
            }
            let element = self.result_element(i)?;
            out.push(Value::Tensor(match list.is_empty() {
                true => Tensor::zeros(element, &self.result_shape(i)?)?,
                false => concatenate(&list, dim, element)?,
            }));
        }
        out.extend(carried);
        Ok(out)
    }
}

/// The first elements along the last dimension in descending (or ascending) total order, and their positions; the earlier one
/// of equal elements first.
pub(crate) fn top_k(tensor: &Tensor, k: i64, largest: bool, index: &ElementType) -> Result<(Tensor, Tensor)> {
    let rank = tensor.rank();
    let Some(size) = tensor.shape.last().map(|n| *n as i64).filter(|n| (0..=*n).contains(&k)) else {
        return Err(Error::invalid(format!("the first {k} of {}", tensor.ty())));
    };
    let positions = match rank {
        0 => return Err(Error::invalid("an operand of rank 0")),
        _ if size == 0 => Tensor::zeros(index, &tensor.shape)?,
        _ => iota(&tensor.shape, rank - 1, index)?,
    };
    let unsigned = tensor.element == ElementType::U64;
    let both = [tensor.clone(), positions];
    let ordered = sorted(&both, rank - 1, |keys, a, b| {
        let order = match (keys[0][a], keys[0][b]) {
            (Scalar::I(a), Scalar::I(b)) if unsigned => (a as u64).cmp(&(b as u64)),
            (Scalar::I(a), Scalar::I(b)) => a.cmp(&b),
            (Scalar::C(C { .. }), _) => return Err(Error::unsupported("complex elements have no order")),
            (a, b) => total_key(a.float()).cmp(&total_key(b.float())),
        };
        Ok(if largest { order.is_gt() } else { order.is_lt() })
    })?;
    let mut limit: Vec<i64> = tensor.shape.iter().map(|n| *n as i64).collect();
    limit[rank - 1] = k;
    let first = |t: &Tensor| slice(t, &vec![0; rank], &limit, &vec![1; rank], &t.element);
    Ok((first(&ordered[0])?, first(&ordered[1])?))
}
