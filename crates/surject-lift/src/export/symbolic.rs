//! Programs with symbolic sizes (seed 002; reference/extents.md, section 2.3): dynamic types, sizes as integer arithmetic on
//! `get_dimension_size`, and guards as `shape_assertion`s. A type never claims more than the program knows: a size that
//! is not a constant is a `?`, with a bound where data gives it.
//!
//! The plans are those of programs with constant sizes; what is written for them needs no constant
//! ([`super::symbolic_fields`]).

use super::state::{Result, State};
use super::writer::{Writer, element};
use crate::BY_TYPE;
use surject_index::{
    Affine, Extent, ExtentExpr, Fact, Facts, IndexMap, MapError, Relation, ScalarSemantics, Space, Verdict,
};
use surject_ir::{DType, Function, Scalar, SizeGuard, Var};
use surject_stablehlo::{Attribute, Dim, Type, ValueId};

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

    pub(super) fn are_one(&self, a: &Extent, b: &Extent) -> bool {
        a == b || self.function.size_facts().is_some_and(|f| f.same(a, b).is_yes())
    }

    /// The number that bounds a size which is none: of a size that data gives by what is known of the sizes before, of a size of
    /// a parameter where its type said so. Other facts are assertions alone: JAX has no bounds in types.
    fn bound(&self, extent: &Extent) -> Option<u64> {
        if extent.as_const().is_some() {
            return None;
        }
        let known = self.bounds.of(extent);
        if known.is_exact() {
            let stated = self.function.guards.iter().filter(|guard| {
                let by_type = guard.origin.as_ref().is_some_and(|o| o.starts_with(BY_TYPE));
                by_type && guard.fact.left == *extent && guard.fact.relation == Relation::Le
            });
            return stated.filter_map(|guard| guard.fact.right.as_const()).min();
        }
        let bound = known.bound()?;
        bound.as_const().or_else(|| u64::try_from(self.function.size_facts()?.bounds(bound).1?).ok())
    }

    fn holds(&self, left: &Extent, relation: Relation, right: &Extent) -> bool {
        match self.function.size_facts() {
            Some(facts) => facts.compare(left, relation, right).is_yes(),
            None => Facts::default().compare(left, relation, right).is_yes(),
        }
    }
}

impl Writer<'_, '_> {
    /// Is everything about a field and its operands constant?
    pub(super) fn is_static(&self, space: &Space, operands: &[ValueId]) -> bool {
        let constant = |&v: &ValueId| self.b.tensor(v).is_some_and(|t| t.static_shape().is_some());
        space.sizes().is_some() && operands.iter().all(constant)
    }

    /// The type of a tensor. A size that has a bound which is a number says so.
    pub(super) fn sized(&self, dtype: DType, space: &Space) -> Type {
        let dim = |extent: &Extent| match extent.as_const() {
            Some(value) => Dim::Static(value as i64),
            None => Dim::Dynamic,
        };
        let mut ty =
            surject_stablehlo::TensorType::of(space.extents().iter().map(dim).collect(), element(dtype));
        let bound = |extent: &Extent| self.st.bound(extent);
        let bounds: Vec<Option<u64>> = space.extents().iter().map(bound).collect();
        if bounds.iter().any(Option::is_some) {
            let text = |b: &Option<u64>| b.map_or("?".to_string(), |b| b.to_string());
            let list: Vec<String> = bounds.iter().map(text).collect();
            ty.encoding = Some(format!("#stablehlo.bounds<{}>", list.join(", ")));
        }
        Type::Tensor(ty.into())
    }

    /// An `i64` constant of rank 0.
    pub(super) fn number(&mut self, value: i128) -> Result<ValueId> {
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
    pub(super) fn vector(&mut self, scalars: &[ValueId]) -> Result<ValueId> {
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
    pub(super) fn sizes(&mut self, extents: &[Extent]) -> Result<ValueId> {
        let sizes = extents.iter().map(|e| self.size(e)).collect::<Result<Vec<_>>>()?;
        self.vector(&sizes)
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
            .result(Type::Tensor(ty.into()))
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
            .attr("error_message", Attribute::String(message))
            .attr("has_side_effect", Attribute::Bool(true))
            .build();
        self.done(built).map(|_| ())
    }
}
