//! Quantized types, by the definitions of the specification: an operation on quantized tensors is the operation on what
//! they express, quantized again. Arithmetic is that of the expressed type.

use super::error::{Error, Result};
use super::machine::{Call, Values, one};
use super::number::{Elements, round};
use super::value::{Tensor, Value, strides};
use crate::quantized::QuantizedType;
use crate::types::{ElementType, Type};

/// The index of the scale of each element.
fn scale_of(quantized: &QuantizedType, shape: &[usize]) -> Result<impl Fn(usize) -> usize + use<>> {
    let (stride, size) = match quantized.dimension {
        None => (1, 1),
        Some(dim) => {
            let dim = usize::try_from(dim).unwrap_or(usize::MAX);
            match shape.get(dim) {
                Some(size) if *size == quantized.scales.len() || *size == 0 => {
                    (strides(shape)[dim], (*size).max(1))
                }
                _ => {
                    return Err(Error::invalid(format!(
                        "{} scales along dimension {dim} of shape {shape:?}",
                        quantized.scales.len()
                    )));
                }
            }
        }
    };
    Ok(move |i: usize| i / stride % size)
}

/// `(stored - zero point) * scale` in the expressed type.
pub(crate) fn dequantize(tensor: &Tensor) -> Result<Tensor> {
    let Some(quantized) = tensor.element.quantized() else { return Ok(tensor.clone()) };
    let scale = scale_of(quantized, &tensor.shape)?;
    let expressed = &quantized.expressed;
    let values = tensor.int_elements()?;
    let value = |(i, stored): (usize, i64)| {
        let k = scale(i);
        let shifted = round(expressed, (stored - quantized.zero_points[k]) as f64);
        shifted * round(expressed, quantized.scales[k])
    };
    let values = values.into_iter().enumerate().map(value).collect();
    Tensor::of(expressed, &tensor.shape, &Elements::F(values))
}

/// The nearest stored value, ties to even: `value / scale + zero point`, each step rounded in the expressed type, held
/// within the bounds of storage.
pub(crate) fn quantize(tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
    let Some(quantized) = element.quantized() else {
        return Err(Error::invalid(format!("{element} is not quantized")));
    };
    let scale = scale_of(quantized, &tensor.shape)?;
    let expressed = &quantized.expressed;
    let tensor = super::reduce::promote(tensor, expressed)?;
    let Elements::F(values) = tensor.elements()? else {
        return Err(Error::invalid(format!("{} has no floats", tensor.ty())));
    };
    let bound = |v: i64| round(expressed, v as f64);
    let (low, high) = (bound(quantized.storage_min), bound(quantized.storage_max));
    let value = |(i, v): (usize, f64)| {
        let k = scale(i);
        let scaled = round(expressed, v / round(expressed, quantized.scales[k]));
        let shifted = round(expressed, scaled + round(expressed, quantized.zero_points[k] as f64));
        // The expressed type may round a bound to what is no longer one.
        let stored = if shifted.is_nan() { 0 } else { shifted.clamp(low, high).round_ties_even() as i64 };
        stored.clamp(quantized.storage_min, quantized.storage_max)
    };
    let values = values.into_iter().enumerate().map(value).collect();
    Tensor::of(element, &tensor.shape, &Elements::I(values))
}

/// From and to quantized types.
pub(crate) fn convert(tensor: &Tensor, element: &ElementType) -> Result<Tensor> {
    let expressed = dequantize(tensor)?;
    match element.quantized() {
        Some(_) => quantize(&expressed, element),
        None => super::reduce::convert(&expressed, element),
    }
}

/// Operations that move elements, or that have a meaning of their own on quantized tensors.
const AS_STORED: &[&str] = &[
    "constant",
    "broadcast_in_dim",
    "broadcast",
    "reshape",
    "transpose",
    "reverse",
    "slice",
    "pad",
    "concatenate",
    "bitcast_convert",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "dynamic_gather",
    "torch_index_select",
    "select",
    "get_dimension_size",
    "set_dimension_size",
    "dynamic_broadcast_in_dim",
    "dynamic_reshape",
    "dynamic_pad",
    "real_dynamic_slice",
    "uniform_quantize",
    "uniform_dequantize",
    "if",
    "case",
    "while",
    "optimization_barrier",
    "tuple",
    "get_tuple_element",
    "composite",
    "custom_call",
    "all_gather",
    "all_to_all",
    "collective_permute",
    "collective_broadcast",
    "infeed",
    "outfeed",
    "send",
    "recv",
    "async_start",
    "async_done",
    "reduce",
    "reduce_window",
    "select_and_scatter",
    "scatter",
    "sort",
    "map",
    "all_reduce",
    "reduce_scatter",
    "collective_reduce",
];

/// Whether an operation works on what is stored.
pub(crate) fn moves_stored(short: &str) -> bool {
    AS_STORED.contains(&short)
}

impl Call<'_, '_> {
    /// Whether the operation is to be done on what is expressed.
    pub(crate) fn meets_quantized(&self, short: &str) -> bool {
        let quantized = |ty: &Type| matches!(ty, Type::Tensor(ty) if ty.element.quantized().is_some());
        let values = self.op.operands.iter().chain(&self.op.results);
        let mut types = values.map(|v| self.machine.module.ty(*v));
        types.any(quantized) && !moves_stored(short)
    }

    /// The operation on what the operands express, quantized as the results ask.
    pub(crate) fn quantized(&mut self, short: &str) -> Values {
        for arg in &mut self.args {
            if let Value::Tensor(tensor) = arg {
                *tensor = dequantize(tensor)?;
            }
        }
        self.expressed = true;
        let mut results = self.stablehlo(short)?;
        self.expressed = false;
        for (i, result) in results.iter_mut().enumerate() {
            if let Value::Tensor(tensor) = result
                && self.result_element(i)?.quantized().is_some()
            {
                *tensor = quantize(tensor, self.result_element(i)?)?;
            }
        }
        Ok(results)
    }

    pub(crate) fn uniform_quantize(&mut self) -> Values {
        one(quantize(&dequantize(self.tensor(0)?)?, self.result_element(0)?)?)
    }

    pub(crate) fn uniform_dequantize(&mut self) -> Values {
        one(super::reduce::promote(&dequantize(self.tensor(0)?)?, self.result_element(0)?)?)
    }
}
