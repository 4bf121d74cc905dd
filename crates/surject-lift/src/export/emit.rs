//! Writing the operation that a plan says.

use super::plan::{How, Plan, Precision};
use super::state::{Definition, Result};
use super::writer::{Writer, binary_name, element};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar, UnaryOp, Window};
use surject_stablehlo::builder::OpBuilder;
use surject_stablehlo::{Attribute, ConvAttrs, DenseElements, DotDims, ScatterDims, Type, ValueId};

/// The name of a unary operation.
pub(super) fn unary_name(op: UnaryOp) -> &'static str {
    use UnaryOp::*;
    match op {
        Neg => "stablehlo.negate",
        Abs => "stablehlo.abs",
        Sign => "stablehlo.sign",
        Exp => "stablehlo.exponential",
        Expm1 => "stablehlo.exponential_minus_one",
        Log => "stablehlo.log",
        Log1p => "stablehlo.log_plus_one",
        Logistic => "stablehlo.logistic",
        Sqrt => "stablehlo.sqrt",
        Rsqrt => "stablehlo.rsqrt",
        Cbrt => "stablehlo.cbrt",
        Sin => "stablehlo.sine",
        Cos => "stablehlo.cosine",
        Tan => "stablehlo.tan",
        Tanh => "stablehlo.tanh",
        Acos => "chlo.acos",
        Acosh => "chlo.acosh",
        Asin => "chlo.asin",
        Asinh => "chlo.asinh",
        Atan => "chlo.atan",
        Atanh => "chlo.atanh",
        Cosh => "chlo.cosh",
        Sinh => "chlo.sinh",
        Erf => "chlo.erf",
        Erfc => "chlo.erfc",
        ErfInv => "chlo.erf_inv",
        Lgamma => "chlo.lgamma",
        Digamma => "chlo.digamma",
        Floor => "stablehlo.floor",
        Ceil => "stablehlo.ceil",
        RoundEven => "stablehlo.round_nearest_even",
        RoundAway => "stablehlo.round_nearest_afz",
        IsFinite => "stablehlo.is_finite",
        Not => "stablehlo.not",
        Popcount => "stablehlo.popcnt",
        CountLeadingZeros => "stablehlo.count_leading_zeros",
        Real => "stablehlo.real",
        Imag => "stablehlo.imag",
    }
}

/// The direction of a comparison.
pub(super) fn direction(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Eq => "EQ",
        BinaryOp::Ne => "NE",
        BinaryOp::Lt => "LT",
        BinaryOp::Le => "LE",
        BinaryOp::Gt => "GT",
        BinaryOp::Ge => "GE",
        _ => return None,
    })
}

/// `precision = [HIGHEST, HIGHEST]`
pub(super) fn highest() -> Attribute {
    let one = Attribute::enumeration("precision", "HIGHEST");
    Attribute::Array(vec![one.clone(), one])
}

pub(super) fn signed(list: &[u64]) -> Vec<i64> {
    list.iter().map(|&n| n as i64).collect()
}

/// The attributes of a window.
pub(super) fn windowed<'f, 'm>(op: OpBuilder<'f, 'm>, window: &Window, dilations: bool) -> OpBuilder<'f, 'm> {
    let op = op
        .ints("window_dimensions", signed(&window.sizes))
        .ints("window_strides", signed(&window.strides))
        .attr("padding", Attribute::Dense(DenseElements::pairs(&window.padding)));
    match dilations {
        true => op
            .ints("base_dilations", signed(&window.base_dilations))
            .ints("window_dilations", signed(&window.window_dilations)),
        false => op,
    }
}

impl Writer<'_, '_> {
    /// The value of a field, written where it is not known yet.
    pub(super) fn value(&mut self, root: FieldId) -> Result<ValueId> {
        let mut open = vec![root];
        while let Some(&id) = open.last() {
            if self.known(id).is_some() {
                open.pop();
                continue;
            }
            let plan = match self.st.field(id).kind {
                FieldKind::Tensor(var) => match self.st.definitions.get(&var).cloned() {
                    // The variable belongs to a region whose values cannot be used here: computed again.
                    Some(Definition::Field(field)) => std::rc::Rc::new(Plan::alias(field)),
                    Some(Definition::Constant(value)) => {
                        let value = self.literal(&value)?;
                        self.remember(id, value);
                        continue;
                    }
                    None => {
                        let name = self.st.function.name_of(var).to_string();
                        let detail = "the body of a library operation uses a value from outside";
                        return Err(self.st.unsupported(&name, detail));
                    }
                },
                _ => self.st.plan(id)?,
            };
            let missing: Vec<FieldId> =
                plan.operands.iter().copied().filter(|&o| self.known(o).is_none()).collect();
            if missing.is_empty() {
                let operands: Vec<ValueId> = plan.operands.iter().filter_map(|&o| self.known(o)).collect();
                let value = self.write(id, &plan.how, &operands)?;
                self.remember(id, value);
                open.pop();
            } else {
                // Every field is waited for by fields that are made of it: a longer chain goes in a circle.
                if open.len() > 8 * self.st.function.fields.len() + 64 {
                    return Err(self.st.malformed("the plan of a field needs itself"));
                }
                open.extend(missing);
            }
        }
        self.known(root).ok_or_else(|| self.st.malformed("a field without a value"))
    }

    fn known(&self, id: FieldId) -> Option<ValueId> {
        let floor = self.st.floor();
        if let FieldKind::Tensor(var) = self.st.field(id).kind
            && let Some(&(value, depth)) = self.st.vars.get(&var)
            && depth >= floor
        {
            return Some(value);
        }
        self.st.scopes[floor..].iter().rev().find_map(|s| s.memo.get(&id).copied())
    }

    fn remember(&mut self, id: FieldId, value: ValueId) {
        if let Some(scope) = self.st.scopes.last_mut() {
            scope.memo.insert(id, value);
        }
    }

    fn write(&mut self, id: FieldId, how: &How, operands: &[ValueId]) -> Result<ValueId> {
        let dtype = self.st.dtype(id);
        let space = self.st.space(id);
        if let (How::Alias, &[x]) = (how, operands) {
            return Ok(x);
        }
        if self.st.symbolic && !(self.is_static(&space, operands) && how.is_static()) {
            return self.write_symbolic(id, how, operands);
        }
        let shape = self.st.sizes(&space)?;
        let ty = Type::tensor(&shape, element(dtype));
        match (how, operands) {
            (How::Splat(value), _) => self.splat(&shape, *value),
            (How::Iota(axis), _) => self.iota(&shape, element(dtype), *axis),
            (How::Unary(op), &[x]) => self.unary(*op, x, dtype, ty),
            (How::Binary(op), &[x, y]) => {
                let from = self.dtype_of(x)?;
                match direction(*op) {
                    Some(direction) => self.compare(direction, from, x, y),
                    None => self.typed(binary_name(*op, from), operands, ty),
                }
            }
            (How::Select, &[_, _, _]) => self.typed("stablehlo.select", operands, ty),
            (How::Convert, &[_]) => self.typed("stablehlo.convert", operands, ty),
            (How::Bitcast, &[x]) => self.bitcast(x, dtype, ty),
            (How::ReducePrecision(exponent, mantissa), &[x]) => {
                let built = self
                    .op("stablehlo.reduce_precision")
                    .operand(x)
                    .attr("exponent_bits", Attribute::i32(*exponent as i32))
                    .attr("mantissa_bits", Attribute::i32(*mantissa as i32))
                    .result(ty)
                    .value();
                self.done(built)
            }
            (How::Read(map), &[x]) => self.read(map, x, dtype),
            (How::Concatenate(axis), _) => self.concatenate(operands, *axis),
            (How::Merge { order, reversed }, &[x]) => self.merge(x, order, reversed, &shape),
            (How::Spread(map, hole), &[x]) => {
                let hole = self.splat(&[], *hole)?;
                self.spread(map, x, hole)
            }
            (How::Pad { spread, read }, &[x, fill]) => {
                let apart = match spread {
                    Some(spread) => self.spread(spread, x, fill)?,
                    None => x,
                };
                self.read_or(read, apart, fill)
            }
            (How::Reduce { op, axes, then }, &[x, init]) => {
                let made = self.reduce(*op, axes, then.codomain(), x, init, dtype)?;
                self.read(then, made, dtype)
            }
            (How::Dot { dims, precision, then }, &[x, y]) => {
                let made = self.dot((dims, *precision), then.codomain(), x, y, dtype)?;
                self.read(then, made, dtype)
            }
            (How::Convolution { conv, then }, &[x, y]) => {
                let made = self.convolution(conv, then.codomain(), x, y, dtype)?;
                self.read(then, made, dtype)
            }
            (How::ReduceWindow { op, window, then }, &[x, init]) => {
                let shape = self.st.sizes(then.codomain())?;
                let region = self.joining_region(*op, dtype)?;
                let op = self.op("stablehlo.reduce_window").operands([x, init]).region(region);
                let built = windowed(op, window, true).result(Type::tensor(&shape, element(dtype))).value();
                let made = self.done(built)?;
                self.read(then, made, dtype)
            }
            (How::Scatter(op, map), &[x]) => self.scatter_along(*op, map, x, dtype),
            _ => Err(self.st.malformed("a plan with the wrong number of operands")),
        }
    }

    fn unary(&mut self, op: UnaryOp, x: ValueId, dtype: DType, ty: Type) -> Result<ValueId> {
        let from = self.dtype_of(x)?;
        let shape = self.shape(x);
        match op {
            // Unsigned numbers have no sign operation: 0 or 1.
            UnaryOp::Sign if from.is_unsigned_int() => {
                let one = self.splat(&shape, Scalar::one(from))?;
                self.same("stablehlo.minimum", &[x, one])
            }
            UnaryOp::Abs if from.is_unsigned_int() => Ok(x),
            UnaryOp::Real if !from.is_complex() => Ok(x),
            UnaryOp::Imag if !from.is_complex() => self.splat(&shape, Scalar::zero(dtype)),
            _ => self.typed(unary_name(op), &[x], ty),
        }
    }

    /// The bits of a value as another type. Between complex numbers and 64-bit types they are put together and taken
    /// apart, which StableHLO has no single operation for.
    fn bitcast(&mut self, x: ValueId, dtype: DType, ty: Type) -> Result<ValueId> {
        let from = self.dtype_of(x)?;
        let shape = self.shape(x);
        let typed = |dtype: DType| Type::tensor(&shape, element(dtype));
        let whole = "stablehlo.bitcast_convert";
        if from.is_complex() == dtype.is_complex() {
            return self.typed(whole, &[x], ty);
        }
        let width = self.splat(&shape, Scalar::from_i128(DType::U64, 32))?;
        if dtype.is_complex() {
            let bits = self.typed(whole, &[x], typed(DType::U64))?;
            let mask = self.splat(&shape, Scalar::from_i128(DType::U64, u32::MAX.into()))?;
            let low = self.same("stablehlo.and", &[bits, mask])?;
            let high = self.same("stablehlo.shift_right_logical", &[bits, width])?;
            let mut parts = Vec::new();
            for part in [low, high] {
                let short = self.typed("stablehlo.convert", &[part], typed(DType::U32))?;
                parts.push(self.typed(whole, &[short], typed(DType::F32))?);
            }
            return self.typed("stablehlo.complex", &parts, ty);
        }
        let mut parts = Vec::new();
        for name in ["stablehlo.real", "stablehlo.imag"] {
            let part = self.typed(name, &[x], typed(DType::F32))?;
            let bits = self.typed(whole, &[part], typed(DType::U32))?;
            parts.push(self.typed("stablehlo.convert", &[bits], typed(DType::U64))?);
        }
        let high = self.same("stablehlo.shift_left", &[parts[1], width])?;
        let bits = self.same("stablehlo.or", &[parts[0], high])?;
        if dtype == DType::U64 { Ok(bits) } else { self.typed(whole, &[bits], ty) }
    }

    fn reduce(
        &mut self,
        op: AccOp,
        axes: &[usize],
        result: &surject_index::Space,
        x: ValueId,
        init: ValueId,
        dtype: DType,
    ) -> Result<ValueId> {
        let shape = self.st.sizes(result)?;
        let region = self.joining_region(op, dtype)?;
        let built = self
            .op("stablehlo.reduce")
            .operands([x, init])
            .ints("dimensions", axes.iter().map(|&a| a as i64).collect::<Vec<_>>())
            .region(region)
            .result(Type::tensor(&shape, element(dtype)))
            .value();
        self.done(built)
    }

    fn dot(
        &mut self,
        (dims, precision): (&DotDims, Precision),
        result: &surject_index::Space,
        x: ValueId,
        y: ValueId,
        dtype: DType,
    ) -> Result<ValueId> {
        let shape = self.st.sizes(result)?;
        let (name, value) = precision.attribute();
        let built = self
            .op("stablehlo.dot_general")
            .operands([x, y])
            .attr("dot_dimension_numbers", Attribute::Dot(Box::new(dims.clone())))
            .attr(name, value)
            .result(Type::tensor(&shape, element(dtype)))
            .value();
        self.done(built)
    }

    fn convolution(
        &mut self,
        conv: &ConvAttrs,
        result: &surject_index::Space,
        x: ValueId,
        y: ValueId,
        dtype: DType,
    ) -> Result<ValueId> {
        let shape = self.st.sizes(result)?;
        let built = self
            .op("stablehlo.convolution")
            .operands([x, y])
            .attr("dimension_numbers", Attribute::Conv(Box::new(conv.dims.clone())))
            .ints("window_strides", conv.strides.clone())
            .attr("padding", Attribute::Dense(DenseElements::pairs(&conv.padding)))
            .ints("lhs_dilation", conv.lhs_dilation.clone())
            .ints("rhs_dilation", conv.rhs_dilation.clone())
            .attr("window_reversal", Attribute::Bools(conv.reversal.clone()))
            .attr("feature_group_count", Attribute::i64(conv.feature_group_count))
            .attr("batch_group_count", Attribute::i64(conv.batch_group_count))
            .attr("precision_config", highest())
            .result(Type::tensor(&shape, element(dtype)))
            .value();
        self.done(built)
    }

    /// The operand's elements joined into the neutral element at the positions of a map.
    fn scatter_along(
        &mut self,
        op: AccOp,
        map: &surject_index::IndexMap,
        x: ValueId,
        dtype: DType,
    ) -> Result<ValueId> {
        let sizes = self.st.sizes(map.domain())?;
        let target = self.st.sizes(map.codomain())?;
        let start = self.splat(&target, op.neutral(dtype))?;
        let exprs: Vec<_> = map.components().iter().collect();
        let wide = self.is_wide(&target);
        let indices = self.positions(&exprs, &sizes, wide)?;
        let all: Vec<i64> = (0..target.len() as i64).collect();
        let dims = ScatterDims {
            inserted_window_dims: all.clone(),
            scatter_dims_to_operand_dims: all,
            index_vector_dim: sizes.len() as i64,
            ..ScatterDims::default()
        };
        let region = self.joining_region(op, dtype)?;
        let built = self
            .op("stablehlo.scatter")
            .operands([start, indices, x])
            .attr("scatter_dimension_numbers", Attribute::Scatter(Box::new(dims)))
            .attr("indices_are_sorted", Attribute::Bool(false))
            .attr("unique_indices", Attribute::Bool(op == AccOp::Set))
            .region(region)
            .result(Type::tensor(&target, element(dtype)))
            .value();
        self.done(built)
    }
}
