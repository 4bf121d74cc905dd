//! Writing single operations: shapes, constants, moves of elements. Moves that cancel or join are shortened here.

use super::error::ExportError;
use super::state::{Made, Result, State};
use surject_ir::{AccOp, BinaryOp, Buffer, DType, Scalar};
use surject_stablehlo::builder::{FunctionBuilder, OpBuilder};
use surject_stablehlo::{Attribute, Diagnostic, ElementType, Region, Span, Type, ValueId, diagnostic};

/// Writes operations into a function.
pub(super) struct Writer<'b, 'm> {
    pub(super) b: &'b mut FunctionBuilder<'m>,
    pub(super) st: &'b mut State,
}

/// The element type in StableHLO.
pub fn element(dtype: DType) -> ElementType {
    match dtype {
        DType::I1 => ElementType::I1,
        DType::I8 => ElementType::I8,
        DType::I16 => ElementType::I16,
        DType::I32 => ElementType::I32,
        DType::I64 => ElementType::I64,
        DType::U8 => ElementType::U8,
        DType::U16 => ElementType::U16,
        DType::U32 => ElementType::U32,
        DType::U64 => ElementType::U64,
        DType::F16 => ElementType::F16,
        DType::BF16 => ElementType::BF16,
        DType::F32 => ElementType::F32,
        DType::F64 => ElementType::F64,
        DType::C64 => ElementType::C64,
        DType::C128 => ElementType::C128,
    }
}

/// The operation that joins two elements. On `i1`, sums and products are written as what they are.
pub(super) fn joining(op: AccOp, dtype: DType) -> Option<&'static str> {
    op.binary().map(|op| binary_name(op, dtype)).filter(|n| n.starts_with("stablehlo."))
}

/// The name of a binary operation; comparisons are `stablehlo.compare`.
pub(super) fn binary_name(op: BinaryOp, dtype: DType) -> &'static str {
    use BinaryOp::*;
    match op {
        Add | Max if dtype.is_bool() => "stablehlo.or",
        Mul | Min if dtype.is_bool() => "stablehlo.and",
        Add => "stablehlo.add",
        Sub => "stablehlo.subtract",
        Mul => "stablehlo.multiply",
        Div => "stablehlo.divide",
        Rem => "stablehlo.remainder",
        Max => "stablehlo.maximum",
        Min => "stablehlo.minimum",
        Pow => "stablehlo.power",
        Atan2 => "stablehlo.atan2",
        NextAfter => "chlo.next_after",
        And => "stablehlo.and",
        Or => "stablehlo.or",
        Xor => "stablehlo.xor",
        Shl => "stablehlo.shift_left",
        ShrArith => "stablehlo.shift_right_arithmetic",
        ShrLogical => "stablehlo.shift_right_logical",
        Complex => "stablehlo.complex",
        Eq | Ne | Lt | Le | Gt | Ge => "stablehlo.compare",
    }
}

fn is_identity(order: &[usize]) -> bool {
    order.iter().enumerate().all(|(i, &a)| i == a)
}

fn axes(list: &[usize]) -> Vec<i64> {
    list.iter().map(|&a| a as i64).collect()
}

impl<'m> Writer<'_, 'm> {
    pub(super) fn op(&mut self, name: &'static str) -> OpBuilder<'_, 'm> {
        self.b.op(name)
    }

    /// The result of building one operation.
    pub(super) fn done<T>(&self, built: std::result::Result<T, Diagnostic>) -> Result<T> {
        built.map_err(|d| self.st.diagnostic(d))
    }

    pub(super) fn shape(&self, value: ValueId) -> Vec<i64> {
        self.b.tensor(value).and_then(|t| t.static_shape()).unwrap_or_default()
    }

    pub(super) fn element(&self, value: ValueId) -> ElementType {
        self.b.tensor(value).map_or(ElementType::Other(String::new()), |t| t.element.clone())
    }

    /// The type with this shape and the element type of a value.
    pub(super) fn like(&self, value: ValueId, shape: &[i64]) -> Type {
        Type::tensor(shape, self.element(value))
    }

    /// An operation on values of one type, with a result of that type.
    pub(super) fn same(&mut self, name: &'static str, operands: &[ValueId]) -> Result<ValueId> {
        let ty = operands.first().map_or(Type::None, |&v| self.b.ty(v).clone());
        self.typed(name, operands, ty)
    }

    /// An operation without attributes.
    pub(super) fn typed(&mut self, name: &'static str, operands: &[ValueId], ty: Type) -> Result<ValueId> {
        let built = self.op(name).operands(operands.iter().copied()).result(ty).value();
        self.done(built)
    }

    pub(super) fn compare(
        &mut self,
        direction: &'static str,
        dtype: DType,
        x: ValueId,
        y: ValueId,
    ) -> Result<ValueId> {
        let ty = Type::tensor(&self.shape(x), ElementType::I1);
        let kind = match dtype {
            d if d.is_float() || d.is_complex() => "FLOAT",
            d if d.is_signed_int() => "SIGNED",
            _ => "UNSIGNED",
        };
        let built = self
            .op("stablehlo.compare")
            .operands([x, y])
            .attr("comparison_direction", Attribute::enumeration("comparison_direction", direction))
            .attr("compare_type", Attribute::enumeration("comparison_type", kind))
            .result(ty)
            .value();
        self.done(built)
    }

    pub(super) fn splat(&mut self, shape: &[i64], value: Scalar) -> Result<ValueId> {
        let dtype = value.dtype();
        let bytes = value.to_bytes();
        let built = self.b.splat(shape, element(dtype), &bytes[..dtype.size()]);
        self.done(built)
    }

    pub(super) fn literal(&mut self, value: &Buffer) -> Result<ValueId> {
        let shape: Vec<i64> = value.shape().iter().map(|&n| n as i64).collect();
        let built = self.b.constant_bytes(&shape, element(value.dtype()), value.bytes().to_vec());
        self.done(built)
    }

    pub(super) fn iota(&mut self, shape: &[i64], element: ElementType, axis: usize) -> Result<ValueId> {
        let built = self
            .op("stablehlo.iota")
            .attr("iota_dimension", Attribute::i64(axis as i64))
            .result(Type::tensor(shape, element))
            .value();
        self.done(built)
    }

    pub(super) fn reshape(&mut self, value: ValueId, shape: &[i64]) -> Result<ValueId> {
        let source = match self.st.made.get(&value) {
            Some(Made::Reshape(source)) => *source,
            _ => value,
        };
        if self.shape(source) == shape {
            return Ok(source);
        }
        let ty = self.like(source, shape);
        let made = self.typed("stablehlo.reshape", &[source], ty)?;
        self.st.made.insert(made, Made::Reshape(source));
        Ok(made)
    }

    /// Axis `order[i]` of the operand is axis `i` of the result.
    pub(super) fn transpose(&mut self, value: ValueId, order: &[usize]) -> Result<ValueId> {
        let (source, order) = match self.st.made.get(&value) {
            Some(Made::Transpose(source, first)) => (*source, order.iter().map(|&i| first[i]).collect()),
            _ => (value, order.to_vec()),
        };
        if is_identity(&order) {
            return Ok(source);
        }
        let own = self.shape(source);
        let shape: Vec<i64> = order.iter().map(|&a| own[a]).collect();
        // Nothing moves if only axes of extent 1 change places.
        let long: Vec<usize> = order.iter().copied().filter(|&a| own[a] != 1).collect();
        if long.windows(2).all(|w| w[0] < w[1]) {
            return self.reshape(source, &shape);
        }
        let ty = self.like(source, &shape);
        let built = self
            .op("stablehlo.transpose")
            .operand(source)
            .ints("permutation", axes(&order))
            .result(ty)
            .value();
        let made = self.done(built)?;
        self.st.made.insert(made, Made::Transpose(source, order));
        Ok(made)
    }

    /// Axis `i` of the operand is axis `dims[i]` of the result; `dims` increase.
    pub(super) fn broadcast(&mut self, value: ValueId, dims: &[usize], shape: &[i64]) -> Result<ValueId> {
        let count = |s: &[i64]| s.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
        if count(&self.shape(value)) == count(shape) {
            return self.reshape(value, shape);
        }
        // Axes of extent 1 that were only added to be repeated are not needed.
        let (mut value, mut dims) = (value, dims.to_vec());
        if let Some(Made::Reshape(source)) = self.st.made.get(&value) {
            let own = self.shape(value);
            let long: Vec<usize> = (0..own.len()).filter(|&a| own[a] != 1).collect();
            if self.shape(*source) == long.iter().map(|&a| own[a]).collect::<Vec<i64>>() {
                value = *source;
                dims = long.iter().map(|&a| dims[a]).collect();
            }
        }
        let ty = self.like(value, shape);
        let built = self
            .op("stablehlo.broadcast_in_dim")
            .operand(value)
            .ints("broadcast_dimensions", axes(&dims))
            .result(ty)
            .value();
        self.done(built)
    }

    /// The elements `start, start + stride, …` (`count` of them) of every axis.
    pub(super) fn slice(
        &mut self,
        value: ValueId,
        starts: &[i64],
        strides: &[i64],
        counts: &[i64],
    ) -> Result<ValueId> {
        let own = self.shape(value);
        if own == counts {
            // As many elements as there are: all of them.
            return Ok(value);
        }
        let limits: Vec<i64> = (0..own.len())
            .map(|a| if counts[a] == 0 { starts[a] } else { starts[a] + (counts[a] - 1) * strides[a] + 1 })
            .collect();
        let ty = self.like(value, counts);
        let built = self
            .op("stablehlo.slice")
            .operand(value)
            .ints("start_indices", starts)
            .ints("limit_indices", limits)
            .ints("strides", strides)
            .result(ty)
            .value();
        self.done(built)
    }

    pub(super) fn reverse(&mut self, value: ValueId, list: &[usize]) -> Result<ValueId> {
        if list.is_empty() {
            return Ok(value);
        }
        let ty = self.b.ty(value).clone();
        let built =
            self.op("stablehlo.reverse").operand(value).ints("dimensions", axes(list)).result(ty).value();
        self.done(built)
    }

    pub(super) fn pad(
        &mut self,
        value: ValueId,
        fill: ValueId,
        low: &[i64],
        high: &[i64],
        interior: &[i64],
    ) -> Result<ValueId> {
        if [low, high, interior].iter().all(|l| l.iter().all(|&n| n == 0)) {
            return Ok(value);
        }
        // Two pads with one value are one.
        if let Some(Made::Pad([source, same], [l, h, i])) = self.st.made.get(&value).cloned()
            && same == fill
            && interior.iter().all(|&n| n == 0)
            && [&l[..], &h[..], low, high].iter().all(|s| s.iter().all(|&n| n >= 0))
        {
            let sum = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(x, y)| x + y).collect::<Vec<i64>>();
            return self.pad(source, fill, &sum(&l, low), &sum(&h, high), &i);
        }
        let own = self.shape(value);
        let shape: Vec<i64> =
            (0..own.len()).map(|a| own[a] + low[a] + high[a] + (own[a] - 1).max(0) * interior[a]).collect();
        let ty = self.like(value, &shape);
        let built = self
            .op("stablehlo.pad")
            .operands([value, fill])
            .ints("edge_padding_low", low)
            .ints("edge_padding_high", high)
            .ints("interior_padding", interior)
            .result(ty)
            .value();
        let made = self.done(built)?;
        let amounts = [low.to_vec(), high.to_vec(), interior.to_vec()];
        self.st.made.insert(made, Made::Pad([value, fill], amounts));
        Ok(made)
    }

    pub(super) fn concatenate(&mut self, values: &[ValueId], axis: usize) -> Result<ValueId> {
        if let [one] = values {
            return Ok(*one);
        }
        let mut shape = values.first().map_or_else(Vec::new, |&v| self.shape(v));
        shape[axis] = values.iter().map(|&v| self.shape(v)[axis]).sum();
        let ty = values.first().map_or(Type::None, |&v| self.like(v, &shape));
        let built = self
            .op("stablehlo.concatenate")
            .operands(values.iter().copied())
            .attr("dimension", Attribute::i64(axis as i64))
            .result(ty)
            .value();
        self.done(built)
    }

    /// A region whose operations a callback adds.
    pub(super) fn region(
        &mut self,
        params: &[Type],
        body: impl FnOnce(&mut Writer<'_, 'm>, &[ValueId]) -> Result<Vec<ValueId>>,
    ) -> Result<Region> {
        let st = &mut *self.st;
        let mut failure: Option<ExportError> = None;
        let built = self.b.region(params, |b, args| {
            body(&mut Writer { b, st }, args).map_err(|error| {
                let diagnostic =
                    Diagnostic::new(diagnostic::codes::ARITY, Span::default(), error.to_string());
                failure = Some(error);
                diagnostic
            })
        });
        match failure {
            Some(error) => Err(error),
            None => self.done(built),
        }
    }

    /// The body of a reduction by one operator.
    pub(super) fn joining_region(&mut self, op: AccOp, dtype: DType) -> Result<Region> {
        let scalar = Type::tensor(&[], element(dtype));
        let name = joining(op, dtype);
        self.region(&[scalar.clone(), scalar], |w, args| match name {
            Some(name) => Ok(vec![w.same(name, args)?]),
            None => Ok(vec![args[1]]),
        })
    }
}
