//! Kinds of types that operations take and give: ranked tensors, tokens, tuples, which element types, and the
//! constraints on quantized types.

use super::{Checked, Result};
use crate::types::{Dim, ElementClass, ElementType, TensorType, Type};

/// How an operation takes quantized tensors.
#[derive(Clone, Copy, PartialEq)]
enum Quantized {
    No,
    PerTensor,
    PerAxis,
}

/// What else than tensors an operation takes.
#[derive(Clone, Copy, PartialEq)]
enum Others {
    /// Nothing.
    None,
    /// Tokens.
    Tokens,
    /// Tokens, tuples and futures.
    Composed,
    /// Whatever a program may hold as a value but for bare numbers.
    Values,
    /// Anything.
    All,
}

fn others(short: &str) -> Others {
    match short {
        "if"
        | "case"
        | "while"
        | "optimization_barrier"
        | "after_all"
        | "create_token"
        | "infeed"
        | "outfeed"
        | "send"
        | "recv" => Others::Tokens,
        "tuple" | "get_tuple_element" | "async_start" | "async_done" => Others::Composed,
        "custom_call" => Others::Values,
        "composite" | "return" => Others::All,
        _ => Others::None,
    }
}

fn quantized(short: &str) -> Quantized {
    match short {
        "add"
        | "bitcast_convert"
        | "broadcast_in_dim"
        | "constant"
        | "convolution"
        | "custom_call"
        | "dot_general"
        | "dynamic_broadcast_in_dim"
        | "dynamic_conv"
        | "dynamic_reshape"
        | "get_dimension_size"
        | "outfeed"
        | "send"
        | "reshape"
        | "transpose"
        | "uniform_quantize"
        | "uniform_dequantize"
        | "if"
        | "case"
        | "while"
        | "return"
        | "tuple"
        | "get_tuple_element"
        | "composite"
        | "infeed"
        | "recv"
        | "dot" => Quantized::PerAxis,
        "and"
        | "or"
        | "xor"
        | "not"
        | "shift_left"
        | "shift_right_arithmetic"
        | "shift_right_logical"
        | "count_leading_zeros"
        | "popcnt"
        | "real"
        | "imag"
        | "complex"
        | "convert"
        | "fft"
        | "rng"
        | "rng_bit_generator"
        | "partition_id"
        | "replica_id" => Quantized::No,
        _ => Quantized::PerTensor,
    }
}

/// Whether operand `i` is a shape, which may be of `index`.
fn is_shape_operand(short: &str, i: usize) -> bool {
    match short {
        "dynamic_iota" => i == 0,
        "dynamic_broadcast_in_dim" | "dynamic_reshape" => i == 1,
        "rng" => i == 2,
        "real_dynamic_slice" => i >= 1,
        "dynamic_pad" => i >= 2,
        _ => false,
    }
}

/// How many dynamic dimensions, each with a bound, a result may have that nothing but its type gives a shape.
fn bounded_dimensions(short: &str) -> Option<usize> {
    match short {
        "constant" | "iota" | "rng_bit_generator" | "infeed" | "recv" => Some(0),
        "broadcast_in_dim" | "reshape" => Some(1),
        _ => None,
    }
}

impl Checked<'_> {
    /// Checks the kinds of operands and results of a StableHLO operation.
    pub(super) fn kinds(&self) -> Result<()> {
        let Some(short) = self.op.name.strip_prefix("stablehlo.") else { return self.chlo_kinds() };
        for (i, value) in self.op.operands.iter().enumerate() {
            self.kind(short, ("operand", i), self.module.ty(*value), is_shape_operand(short, i))?;
        }
        for (i, value) in self.op.results.iter().enumerate() {
            let ty = self.module.ty(*value);
            self.kind(short, ("result", i), ty, false)?;
            if let Type::Tensor(tensor) = ty
                && tensor.shape.contains(&Dim::Dynamic)
                && let Some(most) = bounded_dimensions(short)
            {
                let dims = tensor.shape.iter().zip(tensor.bounds());
                let dynamic: Vec<Option<i64>> =
                    dims.filter(|(d, _)| d.known().is_none()).map(|(_, bound)| bound).collect();
                if dynamic.len() > most || dynamic.contains(&None) {
                    return Err(self.type_error(format!("result {i} has type {tensor}")).expected(
                        match most {
                            0 => "a static shape",
                            _ => "a static shape, or one dynamic dimension with a bound",
                        },
                    ));
                }
            }
        }
        Ok(())
    }

    /// Operations of CHLO take tensors of the element types of StableHLO; their rank need not be known.
    fn chlo_kinds(&self) -> Result<()> {
        if !self.op.name.starts_with("chlo.") {
            return Ok(());
        }
        let values = self.op.operands.iter().chain(&self.op.results);
        values
            .map(|v| self.module.ty(*v))
            .filter(|ty| !is_unranked(ty))
            .try_for_each(|ty| self.kind("chlo", ("value", 0), ty, false))
    }

    /// Whether an operand or a result is a tensor of unknown rank.
    pub(super) fn has_unranked(&self) -> bool {
        self.op.operands.iter().chain(&self.op.results).any(|v| is_unranked(self.module.ty(*v)))
    }

    fn kind(&self, short: &str, (role, i): (&str, usize), ty: &Type, shape: bool) -> Result<()> {
        let wrong =
            |expected: &str| Err(self.type_error(format!("{role} {i} has type {ty}")).expected(expected));
        match ty {
            Type::Tensor(tensor) => self.element_kind(short, (role, i), tensor, shape),
            Type::Token if others(short) != Others::None => Ok(()),
            Type::Tuple(parts) | Type::Future(parts)
                if matches!(others(short), Others::Composed | Others::Values | Others::All) =>
            {
                parts.iter().try_for_each(|part| self.kind(short, (role, i), part, false))
            }
            Type::Opaque(_) if others(short) == Others::Values => Ok(()),
            _ if others(short) == Others::All => Ok(()),
            _ if others(short) == Others::Values => wrong("a tensor, a token, a tuple or a buffer"),
            _ if others(short) == Others::Tokens => wrong("a ranked tensor or a token"),
            _ => wrong("a ranked tensor"),
        }
    }

    fn element_kind(
        &self,
        short: &str,
        (role, i): (&str, usize),
        tensor: &TensorType,
        shape: bool,
    ) -> Result<()> {
        let element = &tensor.element;
        let all = || others(short) == Others::All;
        let wrong =
            |expected: &str| Err(self.type_error(format!("{role} {i} has type {tensor}")).expected(expected));
        match element.class() {
            ElementClass::Quantized => {
                let how = quantized(short);
                let Some(q) = element.quantized() else { return Ok(()) };
                self.quantized_type(role, i, tensor)?;
                match how {
                    Quantized::No => wrong("an element type that is not quantized"),
                    Quantized::PerTensor if q.is_per_axis() => wrong("quantization per tensor"),
                    _ => Ok(()),
                }
            }
            ElementClass::Other if !all() => wrong("an element type of StableHLO"),
            _ if *element == ElementType::TF32 && !all() => wrong("an element type other than tf32"),
            _ if *element == ElementType::Index && !shape && !all() => {
                wrong("an element type other than index")
            }
            _ => Ok(()),
        }
    }

    /// (C5) to (C13) of quantized types; what comes before is the reader's.
    pub(super) fn quantized_type(&self, role: &str, i: usize, tensor: &TensorType) -> Result<()> {
        let Some(q) = tensor.element.quantized() else { return Ok(()) };
        let wrong = |rule: u8, message: String| {
            Err(self.type_error(format!("{role} {i} has type {tensor}: {message}")).constraint(rule))
        };
        for scale in &q.scales {
            // A scale is a number of the expressed type.
            let stored = crate::float::encode(&q.expressed, *scale)
                .and_then(|bits| crate::float::decode(&q.expressed, bits))
                .unwrap_or(*scale);
            if stored.is_nan() || stored <= 0.0 {
                return wrong(5, format!("the scale {scale} is not above 0 as {}", q.expressed));
            }
            if !stored.is_finite() {
                return wrong(6, format!("the scale {scale} is not finite as {}", q.expressed));
            }
        }
        for zero_point in &q.zero_points {
            if !(q.storage_min..=q.storage_max).contains(zero_point) {
                let (min, max) = (q.storage_min, q.storage_max);
                return wrong(7, format!("the zero point {zero_point} is not within {min}:{max}"));
            }
        }
        let Some(dimension) = q.dimension else { return Ok(()) };
        if dimension < 0 {
            return wrong(11, format!("the quantization dimension {dimension} is negative"));
        }
        let Some(size) = usize::try_from(dimension).ok().and_then(|d| tensor.shape.get(d)) else {
            return wrong(12, format!("the tensor has no dimension {dimension}"));
        };
        match size.known() {
            Some(size) if size != q.scales.len() as i64 => {
                wrong(13, format!("{} scales for {size} indices of dimension {dimension}", q.scales.len()))
            }
            _ => Ok(()),
        }
    }
}

fn is_unranked(ty: &Type) -> bool {
    matches!(ty, Type::Opaque(text) if text.starts_with("tensor<*"))
}
