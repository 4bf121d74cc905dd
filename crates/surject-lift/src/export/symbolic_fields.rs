//! Fields with symbolic sizes: what a plan says, written as dynamic operations. Reads that are no broadcast, transposition or
//! slice gather single elements at computed positions.

use super::plan::{How, Precision};
use super::state::{Result, State, over};
use super::writer::{Writer, binary_name, element};
use surject_index::{Affine, Component, Extent, IndexMap, Space};
use surject_ir::{AccOp, DType, FieldId, Scalar, UnaryOp};
use surject_stablehlo::{Attribute, DotDims, GatherDims, ScatterDims, Type, ValueId};

/// The axis that each component is, where a map is a selection of axes without repetition; `None` for axes of extent 1.
fn selection(st: &State, map: &IndexMap) -> Option<Vec<Option<usize>>> {
    let mut seen = vec![false; map.domain().rank()];
    let axis = |(component, extent): (&Affine, &Extent)| match component.component() {
        Component::Iter(a)
            if st.are_one(map.domain().extent(a), extent) && !std::mem::replace(&mut seen[a], true) =>
        {
            Some(Some(a))
        }
        Component::Fixed(0) if extent.as_const() == Some(1) => Some(None),
        _ => None,
    };
    map.components().iter().zip(map.codomain().extents()).map(axis).collect()
}

/// Start and step along the one axis of each component, where every component has one of its own.
fn slices(map: &IndexMap) -> Option<Vec<(usize, i64, i64)>> {
    let mut last = None;
    let one = |component: &Affine| {
        let mut used = component.used_axes();
        let (axis, None) = (used.next()?, used.next()) else { return None };
        let step = component.coeffs[axis];
        let in_order = last.is_none_or(|l| l < axis);
        last = Some(axis);
        (in_order && step > 0 && component.offset >= 0).then_some((axis, component.offset, step))
    };
    map.components().iter().map(one).collect()
}

impl Writer<'_, '_> {
    /// Axis `i` of the operand is axis `dims[i]` of the result; `dims` increase.
    pub(super) fn spread_over(
        &mut self,
        value: ValueId,
        dims: &[usize],
        dtype: DType,
        space: &Space,
    ) -> Result<ValueId> {
        if dims.len() == space.rank() {
            return Ok(value);
        }
        if let Some(shape) = space.sizes() {
            let built = self
                .op("stablehlo.broadcast_in_dim")
                .operand(value)
                .ints("broadcast_dimensions", dims.iter().map(|&d| d as i64).collect::<Vec<_>>())
                .result(Type::tensor(&shape, element(dtype)))
                .value();
            return self.done(built);
        }
        let shape = self.sizes(space.extents())?;
        let ty = self.sized(dtype, space);
        let built = self
            .op("stablehlo.dynamic_broadcast_in_dim")
            .operands([value, shape])
            .ints("broadcast_dimensions", dims.iter().map(|&d| d as i64).collect::<Vec<_>>())
            .result(ty)
            .value();
        self.done(built)
    }

    /// A number at every position of a space.
    fn everywhere(&mut self, value: Scalar, space: &Space) -> Result<ValueId> {
        let scalar = self.splat(&[], value)?;
        self.spread_over(scalar, &[], value.dtype(), space)
    }

    fn line(&mut self, space: &Space, axis: usize, dtype: DType) -> Result<ValueId> {
        let built = match space.sizes() {
            Some(shape) => return self.iota(&shape, element(dtype), axis),
            None => {
                let shape = self.sizes(space.extents())?;
                let ty = self.sized(dtype, space);
                let op = self.op("stablehlo.dynamic_iota").operand(shape);
                op.attr("iota_dimension", Attribute::i64(axis as i64)).result(ty).value()
            }
        };
        self.done(built)
    }

    /// What a plan says, where not all sizes are constants.
    pub(super) fn write_symbolic(&mut self, id: FieldId, how: &How, operands: &[ValueId]) -> Result<ValueId> {
        let (dtype, space) = (self.st.dtype(id), self.st.space(id));
        let ty = self.sized(dtype, &space);
        match (how, operands) {
            (How::Splat(value), _) => self.everywhere(*value, &space),
            (How::Iota(axis), _) => self.line(&space, *axis, dtype),
            (How::Unary(op), &[x]) => {
                let from = self.dtype_of(x)?;
                match op {
                    UnaryOp::Sign if from.is_unsigned_int() => {
                        let one = self.everywhere(Scalar::one(from), &space)?;
                        self.typed("stablehlo.minimum", &[x, one], ty)
                    }
                    UnaryOp::Abs if from.is_unsigned_int() => Ok(x),
                    UnaryOp::Real if !from.is_complex() => Ok(x),
                    UnaryOp::Imag if !from.is_complex() => self.everywhere(Scalar::zero(dtype), &space),
                    _ => self.typed(super::emit::unary_name(*op), &[x], ty),
                }
            }
            (How::Binary(op), &[x, y]) => {
                let from = self.dtype_of(x)?;
                match super::emit::direction(*op) {
                    Some(direction) => self.compare_as(direction, from, [x, y], ty),
                    None => self.typed(binary_name(*op, from), operands, ty),
                }
            }
            (How::Select, &[_, _, _]) => self.typed("stablehlo.select", operands, ty),
            (How::Convert, &[_]) => self.typed("stablehlo.convert", operands, ty),
            (How::Bitcast, &[x]) if self.dtype_of(x)?.is_complex() == dtype.is_complex() => {
                self.typed("stablehlo.bitcast_convert", operands, ty)
            }
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
            (How::Read(map), &[x]) => self.read_symbolic(map, x, dtype),
            (How::Concatenate(axis), _) => {
                let built = self
                    .op("stablehlo.concatenate")
                    .operands(operands.iter().copied())
                    .attr("dimension", Attribute::i64(*axis as i64))
                    .result(ty)
                    .value();
                self.done(built)
            }
            (How::Reduce { op, axes, then }, &[x, init]) => {
                let region = self.joining_region(*op, dtype)?;
                let ty = self.sized(dtype, then.codomain());
                let built = self
                    .op("stablehlo.reduce")
                    .operands([x, init])
                    .ints("dimensions", axes.iter().map(|&a| a as i64).collect::<Vec<_>>())
                    .region(region)
                    .result(ty)
                    .value();
                let made = self.done(built)?;
                self.read_symbolic(then, made, dtype)
            }
            (How::Times { extents, then }, &[x]) => {
                let mut count = self.number(1)?;
                for extent in extents {
                    let size = self.size(extent)?;
                    count = self.same("stablehlo.multiply", &[count, size])?;
                }
                let scalar = Type::tensor(&[], element(dtype));
                let count = self.typed("stablehlo.convert", &[count], scalar)?;
                let count = self.spread_over(count, &[], dtype, then.codomain())?;
                let ty = self.sized(dtype, then.codomain());
                let made = self.typed("stablehlo.multiply", &[x, count], ty)?;
                self.read_symbolic(then, made, dtype)
            }
            (How::Dot { dims, precision, then }, &[x, y]) => {
                self.dot_symbolic((dims, *precision), then, [x, y], dtype)
            }
            (How::Scatter(op, map), &[x]) => self.scatter_symbolic(*op, map, x, dtype),
            _ => Err(self.st.unsupported("symbolic shape", format!("over {space}: bind the sizes first"))),
        }
    }

    fn dot_symbolic(
        &mut self,
        (dims, precision): (&DotDims, Precision),
        then: &IndexMap,
        operands: [ValueId; 2],
        dtype: DType,
    ) -> Result<ValueId> {
        let (name, value) = precision.attribute();
        let ty = self.sized(dtype, then.codomain());
        let built = self
            .op("stablehlo.dot_general")
            .operands(operands)
            .attr("dot_dimension_numbers", Attribute::Dot(Box::new(dims.clone())))
            .attr(name, value)
            .result(ty)
            .value();
        let made = self.done(built)?;
        self.read_symbolic(then, made, dtype)
    }

    fn compare_as(
        &mut self,
        direction: &'static str,
        dtype: DType,
        operands: [ValueId; 2],
        ty: Type,
    ) -> Result<ValueId> {
        let kind = match dtype {
            d if d.is_float() || d.is_complex() => "FLOAT",
            d if d.is_signed_int() => "SIGNED",
            _ => "UNSIGNED",
        };
        let built = self
            .op("stablehlo.compare")
            .operands(operands)
            .attr("comparison_direction", Attribute::enumeration("comparison_direction", direction))
            .attr("compare_type", Attribute::enumeration("comparison_type", kind))
            .result(ty)
            .value();
        self.done(built)
    }

    /// `read map x`
    pub(super) fn read_symbolic(&mut self, map: &IndexMap, x: ValueId, dtype: DType) -> Result<ValueId> {
        let space = map.domain().clone();
        if map.is_total()
            && let Some(axes) = selection(self.st, map)
        {
            return self.selected(map, &axes, x, dtype);
        }
        if map.codomain().rank() == 0 && map.is_total() {
            return self.spread_over(x, &[], dtype, &space);
        }
        // Axes that neither components nor guards use are broadcast at the end.
        let free = map.free_axes();
        let active: Vec<usize> = (0..space.rank()).filter(|a| !free.contains(a)).collect();
        if active.len() < space.rank() {
            let inner = over(map, &active);
            let inner = self.st.ok(inner)?;
            let made = self.read_symbolic(&inner, x, dtype)?;
            return self.spread_over(made, &active, dtype, &space);
        }
        if map.is_total()
            && let Some(slices) = slices(map).filter(|s| s.len() == space.rank())
        {
            return self.sliced(&slices, x, dtype, &space);
        }
        self.gathered(map, x, dtype)
    }

    /// A read that selects axes: those of extent 1 dropped, the others in order, then repeated along the rest.
    fn selected(
        &mut self,
        map: &IndexMap,
        axes: &[Option<usize>],
        x: ValueId,
        dtype: DType,
    ) -> Result<ValueId> {
        let own = map.codomain();
        let long: Vec<usize> = (0..axes.len()).filter(|&j| axes[j].is_some()).collect();
        let mut value = x;
        if long.len() < axes.len() {
            let kept = own.select(&long);
            let ty = self.sized(dtype, &kept);
            value = match (kept.sizes(), self.is_static(own, &[x])) {
                (Some(_), true) => self.typed("stablehlo.reshape", &[x], ty)?,
                _ => {
                    let shape = self.sizes(kept.extents())?;
                    self.typed("stablehlo.dynamic_reshape", &[x, shape], ty)?
                }
            };
        }
        let targets: Vec<usize> = axes.iter().copied().flatten().collect();
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&i| targets[i]);
        let dims: Vec<usize> = order.iter().map(|&i| targets[i]).collect();
        if order.windows(2).any(|w| w[0] > w[1]) {
            let moved: Vec<Extent> = order.iter().map(|&i| own.extent(long[i]).clone()).collect();
            let ty = self.sized(dtype, &Space::new(moved));
            let built = self
                .op("stablehlo.transpose")
                .operand(value)
                .ints("permutation", order.iter().map(|&i| i as i64).collect::<Vec<_>>())
                .result(ty)
                .value();
            value = self.done(built)?;
        }
        self.spread_over(value, &dims, dtype, map.domain())
    }

    /// The elements `start, start + step, …` of every axis, as many as the space has.
    fn sliced(
        &mut self,
        slices: &[(usize, i64, i64)],
        x: ValueId,
        dtype: DType,
        space: &Space,
    ) -> Result<ValueId> {
        let (mut starts, mut limits, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for &(axis, start, step) in slices {
            let (first, by) = (self.number(start.into())?, self.number(step.into())?);
            let count = self.size(space.extent(axis))?;
            let length = self.same("stablehlo.multiply", &[count, by])?;
            let end = self.same("stablehlo.add", &[first, length])?;
            let rest = self.number((step - 1).into())?;
            let end = self.same("stablehlo.subtract", &[end, rest])?;
            // Nothing is read where there is nothing.
            let end = if step == 1 { end } else { self.same("stablehlo.maximum", &[end, first])? };
            starts.push(first);
            limits.push(end);
            steps.push(by);
        }
        let operands = [x, self.vector(&starts)?, self.vector(&limits)?, self.vector(&steps)?];
        let ty = self.sized(dtype, space);
        self.typed("stablehlo.real_dynamic_slice", &operands, ty)
    }

    /// An affine expression of the first axes of a space.
    fn affine_over(&mut self, expr: &Affine, space: &Space) -> Result<ValueId> {
        let mut sum: Option<ValueId> = None;
        for axis in expr.used_axes() {
            let mut term = self.line(space, axis, DType::I64)?;
            let by = expr.coeffs[axis];
            if by != 1 {
                let by = self.everywhere(Scalar::from_i128(DType::I64, by.into()), space)?;
                term = self.same("stablehlo.multiply", &[term, by])?;
            }
            sum = Some(match sum {
                Some(so_far) => self.same("stablehlo.add", &[so_far, term])?,
                None => term,
            });
        }
        let offset = Scalar::from_i128(DType::I64, expr.offset.into());
        match sum {
            Some(sum) if expr.offset == 0 => Ok(sum),
            Some(sum) => {
                let offset = self.everywhere(offset, space)?;
                self.same("stablehlo.add", &[sum, offset])
            }
            None => self.everywhere(offset, space),
        }
    }

    /// The components of a map as vectors behind the axes of its domain.
    fn positions_over(&mut self, map: &IndexMap) -> Result<ValueId> {
        let behind = map.domain().product(&Space::of(&[1]));
        let mut parts = Vec::new();
        for component in map.components() {
            parts.push(self.affine_over(&component.embed(0, 1), &behind)?);
        }
        let rank = map.components().len();
        if rank == 1 {
            return Ok(parts[0]);
        }
        let ty = self.sized(DType::I64, &map.domain().product(&Space::of(&[rank as u64])));
        let built = self
            .op("stablehlo.concatenate")
            .operands(parts)
            .attr("dimension", Attribute::i64(map.domain().rank() as i64))
            .result(ty)
            .value();
        self.done(built)
    }

    /// Single elements at computed positions, the fill where a guard fails. A gather clamps positions.
    fn gathered(&mut self, map: &IndexMap, x: ValueId, dtype: DType) -> Result<ValueId> {
        let (space, own) = (map.domain().clone(), map.codomain().clone());
        let rank = own.rank();
        let fill = Scalar::from_bits(dtype, map.fill().map_or(0, |f| f.0));
        let mut value = x;
        if rank > 0 {
            // An element is read of every axis, also where nothing of it is used: axes that may be empty get one more.
            let more: Vec<u64> = own.extents().iter().map(|e| u64::from(!self.st.is_positive(e))).collect();
            if more.contains(&1) {
                let longer = own.extents().iter().zip(&more).map(|(e, &m)| match m {
                    0 => e.clone(),
                    _ => Extent::sum(e.clone(), Extent::Const(m)),
                });
                let ty = self.sized(dtype, &Space::new(longer.collect::<Vec<_>>()));
                let nothing = self.splat(&[], Scalar::zero(dtype))?;
                let none = vec![0i64; rank];
                let built = self
                    .op("stablehlo.pad")
                    .operands([value, nothing])
                    .ints("edge_padding_low", none.clone())
                    .ints("edge_padding_high", more.iter().map(|&m| m as i64).collect::<Vec<_>>())
                    .ints("interior_padding", none)
                    .result(ty)
                    .value();
                value = self.done(built)?;
            }
            let indices = self.positions_over(map)?;
            let all: Vec<i64> = (0..rank as i64).collect();
            let dims = GatherDims {
                collapsed_slice_dims: all.clone(),
                start_index_map: all,
                index_vector_dim: space.rank() as i64,
                ..GatherDims::default()
            };
            let ty = self.sized(dtype, &space);
            let built = self
                .op("stablehlo.gather")
                .operands([value, indices])
                .attr("dimension_numbers", Attribute::Gather(Box::new(dims)))
                .ints("slice_sizes", vec![1; rank])
                .attr("indices_are_sorted", Attribute::Bool(false))
                .result(ty)
                .value();
            value = self.done(built)?;
        } else {
            value = self.spread_over(value, &[], dtype, &space)?;
        }
        let mut holds: Option<ValueId> = None;
        for guard in map.guards() {
            let number = self.affine_over(&guard.expr, &space)?;
            let zero = self.everywhere(Scalar::zero(DType::I64), &space)?;
            let end = self.size(&guard.bound)?;
            let end = self.spread_over(end, &[], DType::I64, &space)?;
            let ty = self.sized(DType::I1, &space);
            let above = self.compare_as("GE", DType::I64, [number, zero], ty.clone())?;
            let below = self.compare_as("LT", DType::I64, [number, end], ty)?;
            let both = self.same("stablehlo.and", &[above, below])?;
            holds = Some(match holds {
                Some(so_far) => self.same("stablehlo.and", &[so_far, both])?,
                None => both,
            });
        }
        let Some(holds) = holds else { return Ok(value) };
        let outside = self.everywhere(fill, &space)?;
        let ty = self.sized(dtype, &space);
        self.typed("stablehlo.select", &[holds, value, outside], ty)
    }

    /// The operand's elements joined into the neutral element at the positions of a map.
    fn scatter_symbolic(&mut self, op: AccOp, map: &IndexMap, x: ValueId, dtype: DType) -> Result<ValueId> {
        let start = self.everywhere(op.neutral(dtype), map.codomain())?;
        let indices = self.positions_over(map)?;
        let all: Vec<i64> = (0..map.codomain().rank() as i64).collect();
        let dims = ScatterDims {
            inserted_window_dims: all.clone(),
            scatter_dims_to_operand_dims: all,
            index_vector_dim: map.domain().rank() as i64,
            ..ScatterDims::default()
        };
        let region = self.joining_region(op, dtype)?;
        let ty = self.sized(dtype, map.codomain());
        let built = self
            .op("stablehlo.scatter")
            .operands([start, indices, x])
            .attr("scatter_dimension_numbers", Attribute::Scatter(Box::new(dims)))
            .attr("indices_are_sorted", Attribute::Bool(false))
            .attr("unique_indices", Attribute::Bool(op == AccOp::Set))
            .region(region)
            .result(ty)
            .value();
        self.done(built)
    }
}
