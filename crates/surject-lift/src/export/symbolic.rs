//! Programs with symbolic sizes (seed 002; reference/extents.md, section 2.3): dynamic types, sizes as integer arithmetic on
//! `get_dimension_size`, and guards as `shape_assertion`s. A type never claims more than the program knows: a size that
//! is not a constant is a `?`, with a bound where data gives it.
//!
//! The plans are those of programs with constant sizes; what is written for them needs no constant. Reads that are no
//! broadcast, transposition or slice gather single elements at computed positions.

use super::plan::How;
use super::state::{Result, State, over};
use super::writer::{Writer, binary_name, element};
use surject_index::{
    Affine, Component, Extent, ExtentExpr, Fact, Facts, IndexMap, MapError, Relation, ScalarSemantics, Space,
    Verdict,
};
use surject_ir::{AccOp, DType, FieldId, Function, Scalar, SizeGuard, UnaryOp, Var};
use surject_stablehlo::{Attribute, Dim, DotDims, GatherDims, ScatterDims, Type, ValueId};

impl State {
    /// A total map, by what is known of sizes.
    pub(super) fn total(
        &self,
        domain: Space,
        codomain: Space,
        components: Vec<Affine>,
    ) -> std::result::Result<IndexMap, MapError> {
        match self.function.size_facts() {
            Some(facts) => IndexMap::total_given(domain, codomain, components, facts),
            None => IndexMap::total(domain, codomain, components),
        }
    }

    /// Is a size certainly at least 1?
    pub(super) fn is_positive(&self, extent: &Extent) -> bool {
        match extent.as_const() {
            Some(value) => value > 0,
            None => self.function.size_facts().is_some_and(|f| f.is_positive(extent).is_yes()),
        }
    }

    fn are_one(&self, a: &Extent, b: &Extent) -> bool {
        a == b || self.function.size_facts().is_some_and(|f| f.same(a, b).is_yes())
    }

    fn holds(&self, left: &Extent, relation: Relation, right: &Extent) -> bool {
        match self.function.size_facts() {
            Some(facts) => facts.compare(left, relation, right).is_yes(),
            None => Facts::default().compare(left, relation, right).is_yes(),
        }
    }
}

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

impl<'m> Writer<'_, 'm> {
    /// Is everything about a field and its operands constant?
    pub(super) fn is_static(&self, space: &Space, operands: &[ValueId]) -> bool {
        let constant = |&v: &ValueId| self.b.tensor(v).is_some_and(|t| t.static_shape().is_some());
        space.sizes().is_some() && operands.iter().all(constant)
    }

    /// The type of a tensor. A size that data gives has its bound, where that is a number.
    pub(super) fn sized(&self, dtype: DType, space: &Space) -> Type {
        let dim = |extent: &Extent| match extent.as_const() {
            Some(value) => Dim::Static(value as i64),
            None => Dim::Dynamic,
        };
        let mut ty =
            surject_stablehlo::TensorType::of(space.extents().iter().map(dim).collect(), element(dtype));
        let bound = |extent: &Extent| match extent.as_const() {
            Some(_) => None,
            None => self
                .st
                .bounds
                .of(extent)
                .bound()
                .filter(|_| !self.st.bounds.of(extent).is_exact())?
                .as_const(),
        };
        let bounds: Vec<Option<u64>> = space.extents().iter().map(bound).collect();
        if bounds.iter().any(Option::is_some) {
            let text = |b: &Option<u64>| b.map_or("?".to_string(), |b| b.to_string());
            let list: Vec<String> = bounds.iter().map(text).collect();
            ty.encoding = Some(format!("#stablehlo.bounds<{}>", list.join(", ")));
        }
        Type::Tensor(ty)
    }

    /// An `i64` constant of rank 0.
    fn number(&mut self, value: i128) -> Result<ValueId> {
        self.splat(&[], Scalar::from_i128(DType::I64, value))
    }

    /// The size of an axis of a value, as an `i64` of rank 0.
    fn dimension(&mut self, value: ValueId, axis: usize) -> Result<ValueId> {
        if let Some(&Dim::Static(n)) = self.b.tensor(value).and_then(|t| t.shape.get(axis)) {
            return self.number(n.into());
        }
        let built = self
            .op("stablehlo.get_dimension_size")
            .operand(value)
            .attr("dimension", Attribute::i64(axis as i64))
            .result(Type::tensor(&[], element(DType::I32)))
            .value();
        let size = self.done(built)?;
        self.typed("stablehlo.convert", &[size], Type::tensor(&[], element(DType::I64)))
    }

    /// The value of a size, as an `i64` of rank 0.
    pub(super) fn size(&mut self, extent: &Extent) -> Result<ValueId> {
        let expr = match extent {
            Extent::Const(value) => return self.number((*value).into()),
            Extent::Expr(expr) => expr.clone(),
        };
        let floor = self.st.floor();
        if let Some(value) = self.st.scopes[floor..].iter().rev().find_map(|s| s.sizes.get(extent).copied()) {
            return Ok(value);
        }
        let Some([a, b]) = expr.operands() else {
            return Err(self.st.malformed(format!("the size `{extent}` has no value here")));
        };
        let (x, y) = (self.size(a)?, self.size(b)?);
        let value = match &*expr {
            ExtentExpr::Add(..) => self.same("stablehlo.add", &[x, y])?,
            ExtentExpr::Sub(..) => self.same("stablehlo.subtract", &[x, y])?,
            ExtentExpr::Mul(..) => self.same("stablehlo.multiply", &[x, y])?,
            ExtentExpr::Min(..) => self.same("stablehlo.minimum", &[x, y])?,
            ExtentExpr::Max(..) => self.same("stablehlo.maximum", &[x, y])?,
            _ => {
                let quotient = self.same("stablehlo.divide", &[x, y])?;
                match self.st.holds(&Extent::Const(0), Relation::Le, a) {
                    true => quotient,
                    // Division truncates: one less where there is a rest below zero.
                    false => {
                        let rest = self.same("stablehlo.remainder", &[x, y])?;
                        let (zero, one) = (self.number(0)?, self.number(1)?);
                        let below = self.compare("LT", DType::I64, rest, zero)?;
                        let less = self.same("stablehlo.subtract", &[quotient, one])?;
                        let ty = self.b.ty(quotient).clone();
                        self.typed("stablehlo.select", &[below, less, quotient], ty)?
                    }
                }
            }
        };
        self.know_size(extent, value);
        Ok(value)
    }

    fn know_size(&mut self, extent: &Extent, value: ValueId) {
        if let Some(scope) = self.st.scopes.last_mut() {
            scope.sizes.insert(extent.clone(), value);
        }
    }

    /// Scalars as a vector.
    fn vector(&mut self, scalars: &[ValueId]) -> Result<ValueId> {
        let mut parts = Vec::new();
        for &scalar in scalars {
            let ty = self.like(scalar, &[1]);
            parts.push(self.typed("stablehlo.reshape", &[scalar], ty)?);
        }
        match parts.is_empty() {
            true => self.splat(&[0], Scalar::zero(DType::I64)),
            false => self.concatenate(&parts, 0),
        }
    }

    /// Sizes as the operand of a dynamic operation.
    fn sizes(&mut self, extents: &[Extent]) -> Result<ValueId> {
        let sizes = extents.iter().map(|e| self.size(e)).collect::<Result<Vec<_>>>()?;
        self.vector(&sizes)
    }

    /// Axis `i` of the operand is axis `dims[i]` of the result; `dims` increase.
    fn spread_over(
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

    /// A scalar in the shape of a value.
    pub(super) fn in_the_shape_of(&mut self, scalar: ValueId, value: ValueId) -> Result<ValueId> {
        let Some(ty) = self.b.tensor(value).cloned() else { return Err(self.st.malformed("no tensor")) };
        if let Some(shape) = ty.static_shape() {
            return self.broadcast(scalar, &[], &shape);
        }
        let sizes = (0..ty.rank()).map(|a| self.dimension(value, a)).collect::<Result<Vec<_>>>()?;
        let shape = self.vector(&sizes)?;
        let built = self
            .op("stablehlo.dynamic_broadcast_in_dim")
            .operands([scalar, shape])
            .ints("broadcast_dimensions", Vec::<i64>::new())
            .result(Type::Tensor(ty))
            .value();
        self.done(built)
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
            (How::Dot { dims, then }, &[x, y]) => self.dot_symbolic(dims, then, [x, y], dtype),
            (How::Scatter(op, map), &[x]) => self.scatter_symbolic(*op, map, x, dtype),
            _ => Err(self.st.unsupported("symbolic shape", format!("over {space}: bind the sizes first"))),
        }
    }

    fn dot_symbolic(
        &mut self,
        dims: &DotDims,
        then: &IndexMap,
        operands: [ValueId; 2],
        dtype: DType,
    ) -> Result<ValueId> {
        let ty = self.sized(dtype, then.codomain());
        let built = self
            .op("stablehlo.dot_general")
            .operands(operands)
            .attr("dot_dimension_numbers", Attribute::Dot(dims.clone()))
            .attr("precision_config", super::emit::highest())
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
                .attr("dimension_numbers", Attribute::Gather(dims))
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
            .attr("scatter_dimension_numbers", Attribute::Scatter(dims))
            .attr("indices_are_sorted", Attribute::Bool(false))
            .attr("unique_indices", Attribute::Bool(op == AccOp::Set))
            .region(region)
            .result(ty)
            .value();
        self.done(built)
    }

    /// The sizes that a gather takes as an operand.
    pub(super) fn slice_sizes(&mut self, extents: &[Extent]) -> Result<ValueId> {
        self.sizes(extents)
    }

    /// The size that the value of a scalar stands for by its rule, as an `i64`.
    fn size_of(&mut self, scalar: ValueId, semantics: ScalarSemantics) -> Result<ValueId> {
        let dtype = self.dtype_of(scalar)?;
        let wide = Type::tensor(&[], element(DType::I64));
        let zero = self.number(0)?;
        let integer = match semantics {
            ScalarSemantics::IntegerSize => self.typed("stablehlo.convert", &[scalar], wide)?,
            ScalarSemantics::DynamicTruncateSize => {
                let truth = Type::tensor(&[], element(DType::I1));
                let finite = self.typed("stablehlo.is_finite", &[scalar], truth)?;
                let rounded = self.same("stablehlo.round_nearest_afz", &[scalar])?;
                let most = self.splat(&[], Scalar::from_f64(dtype, (1u64 << 62) as f64))?;
                let none = self.splat(&[], Scalar::zero(dtype))?;
                let rounded = self.same("stablehlo.minimum", &[rounded, most])?;
                let rounded = self.same("stablehlo.maximum", &[rounded, none])?;
                let ty = self.b.ty(scalar).clone();
                let size = self.typed("stablehlo.select", &[finite, rounded, none], ty)?;
                self.typed("stablehlo.convert", &[size], wide)?
            }
        };
        self.same("stablehlo.maximum", &[integer, zero])
    }

    /// A truncation: the first elements along an axis, physically fewer (`real_dynamic_slice`).
    pub(super) fn truncated(
        &mut self,
        (axis, semantics, size): (usize, ScalarSemantics, &Extent),
        target: Var,
        operands: &[ValueId],
        operand: Var,
    ) -> Result<ValueId> {
        let (own, ty) = (self.st.function.ty(operand).space.clone(), self.st.function.ty(target).clone());
        let kept = self.size_of(operands[1], semantics)?;
        let before = self.size(own.extent(axis))?;
        let kept = self.same("stablehlo.minimum", &[kept, before])?;
        self.know_size(size, kept);
        let (mut starts, mut limits, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for a in 0..own.rank() {
            starts.push(self.number(0)?);
            limits.push(if a == axis { kept } else { self.size(own.extent(a))? });
            steps.push(self.number(1)?);
        }
        let operands = [operands[0], self.vector(&starts)?, self.vector(&limits)?, self.vector(&steps)?];
        let to = self.sized(ty.dtype, &ty.space);
        let made = self.typed("stablehlo.real_dynamic_slice", &operands, to)?;
        if self.st.function.truncations().last().is_some_and(|t| t.target == target) {
            self.late_guards()?;
        }
        Ok(made)
    }

    /// The sizes of parameters, and assertions of what a run must check of them.
    pub(super) fn declared(&mut self, function: &Function, params: &[ValueId]) -> Result<()> {
        let mut guards: Vec<(Fact, String)> = Vec::new();
        for (input, &param) in function.params.iter().enumerate() {
            let ty = function.ty(param).clone();
            for (axis, extent) in ty.space.extents().iter().enumerate() {
                if extent.as_const().is_some() {
                    continue;
                }
                let value = self.dimension(params[input], axis)?;
                let own = Extent::input_axis(input, axis);
                self.know_size(&own, value);
                let declares = |name: &str| function.declaration(name) == Some((input, axis));
                match extent {
                    Extent::Expr(e) if matches!(&**e, ExtentExpr::Symbol(name) if declares(name)) => {
                        self.know_size(extent, value);
                    }
                    _ if *extent != own => {
                        let place = format!("axis {axis} of `{}`", function.name_of(param));
                        guards.push((Fact::new(own, Relation::Eq, extent.clone()), place));
                    }
                    _ => {}
                }
            }
            for semantics in [ScalarSemantics::IntegerSize, ScalarSemantics::DynamicTruncateSize] {
                let scalar =
                    Extent::Expr(std::sync::Arc::new(ExtentExpr::RuntimeScalar { input, semantics }));
                let fits = match semantics {
                    ScalarSemantics::IntegerSize => ty.dtype.is_int(),
                    ScalarSemantics::DynamicTruncateSize => matches!(ty.dtype, DType::F32 | DType::F64),
                };
                if fits && ty.space.rank() == 0 {
                    let value = self.size_of(params[input], semantics)?;
                    self.know_size(&scalar, value);
                }
            }
        }
        for SizeGuard { fact, origin } in &function.guards {
            guards.push((fact.clone(), origin.as_deref().unwrap_or("the program").to_string()));
        }
        let is_late =
            |fact: &Fact| function.mentions_computed(&fact.left) || function.mentions_computed(&fact.right);
        let (late, early): (Vec<_>, Vec<_>) = guards.into_iter().partition(|(fact, _)| is_late(fact));
        for (fact, origin) in early {
            self.assert(&fact, &origin)?;
        }
        self.st.late = late;
        Ok(())
    }

    /// The assertions on sizes that data gives, once it has given them.
    fn late_guards(&mut self) -> Result<()> {
        for (fact, origin) in std::mem::take(&mut self.st.late) {
            self.assert(&fact, &origin)?;
        }
        Ok(())
    }

    /// `custom_call @shape_assertion`: what JAX writes, and what refinement of shapes checks.
    fn assert(&mut self, fact: &Fact, origin: &str) -> Result<()> {
        if Facts::default().holds(fact) == Verdict::Yes(()) {
            return Ok(());
        }
        let (x, y) = (self.size(&fact.left)?, self.size(&fact.right)?);
        let holds = match fact.relation {
            Relation::Eq => self.compare("EQ", DType::I64, x, y)?,
            Relation::Ne => self.compare("NE", DType::I64, x, y)?,
            Relation::Le => self.compare("LE", DType::I64, x, y)?,
            Relation::Lt => self.compare("LT", DType::I64, x, y)?,
            Relation::Divides => {
                let rest = self.same("stablehlo.remainder", &[y, x])?;
                let zero = self.number(0)?;
                self.compare("EQ", DType::I64, rest, zero)?
            }
        };
        let message =
            format!("the sizes do not satisfy `{fact}`, which {origin} needs: the sides are {{0}} and {{1}}");
        let built = self
            .op("stablehlo.custom_call")
            .operands([holds, x, y])
            .attr("call_target_name", Attribute::String("shape_assertion".into()))
            .attr("api_version", Attribute::i32(2))
            .attr("error_message", Attribute::String(message.into()))
            .attr("has_side_effect", Attribute::Bool(true))
            .build();
        self.done(built).map(|_| ())
    }
}
