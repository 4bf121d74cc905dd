//! One operation at hand: its operands as fields, its results as stores.

use super::state::{Lifter, Result, Value};
use super::types;
use crate::error::LiftError;
use surject_index::{Affine, Fill, IndexMap, MapError, Space};
use surject_ir::{
    AccOp, BinaryOp, DType, FieldId, FieldKind, LibOp, Region, RegionType, Scalar, StatementKind, TensorType,
    TypeError, UnaryOp, Var,
};
use surject_stablehlo::{Diagnostic, Op};

/// An operation that is being lifted.
pub(crate) struct Cx<'a, 'm> {
    pub(crate) lift: &'a mut Lifter<'m>,
    pub(crate) op: &'m Op,
}

impl<'m> Cx<'_, 'm> {
    pub(crate) fn unsupported(&self, detail: impl Into<String>) -> LiftError {
        LiftError::unsupported(self.op, detail)
    }

    pub(crate) fn invalid(&self, detail: impl Into<String>) -> LiftError {
        LiftError::invalid(self.op, detail)
    }

    /// An attribute that was asked for.
    pub(crate) fn attr<T>(&self, found: std::result::Result<T, Diagnostic>) -> Result<T> {
        found.map_err(|d| match d.expected {
            Some(expected) => self.invalid(format!("{}; expected {expected}", d.message)),
            None => self.invalid(d.message),
        })
    }

    /// A list of integers of the operation, with `count` entries.
    pub(crate) fn ints(&self, name: &str, count: usize) -> Result<Vec<i64>> {
        types::counted(self.op, self.attr(self.op.ints(name))?.to_vec(), count, name)
    }

    /// A list of distinct axes of the operation.
    pub(crate) fn axes(&self, name: &str, rank: usize) -> Result<Vec<usize>> {
        types::axes(self.op, self.attr(self.op.ints(name))?, rank, name)
    }

    pub(crate) fn map(&self, map: std::result::Result<IndexMap, MapError>) -> Result<IndexMap> {
        map.map_err(|e| match e {
            MapError::OutOfRange { axis, ref extent, missing: Some(fact), .. } => {
                let field = format!("the position along dimension {axis}");
                self.lift.undecided(self.op, &field, extent, Some(fact))
            }
            MapError::SymbolicStride { ref stride, .. } => {
                self.lift.undecided(self.op, "the stride of a dimension", stride, None)
            }
            _ => self.invalid(e.to_string()),
        })
    }

    /// A total map, by what is known of sizes.
    pub(crate) fn total(&self, domain: Space, codomain: Space, components: Vec<Affine>) -> Result<IndexMap> {
        self.map(IndexMap::total_given(domain, codomain, components, &self.lift.sizes.facts))
    }

    /// The map from a box to the positions `starts + strides * p`.
    pub(crate) fn slice_map(
        &self,
        space: Space,
        starts: &[i64],
        strides: &[i64],
        own: &Space,
    ) -> Result<IndexMap> {
        let rank = own.rank();
        let components = (0..rank).map(|a| Affine::strided(rank, a, strides[a], starts[a])).collect();
        self.total(space, own.clone(), components)
    }

    pub(crate) fn typed<T>(&self, built: std::result::Result<T, TypeError>) -> Result<T> {
        built.map_err(|e| match e {
            TypeError::Undefined { .. } | TypeError::SetNeedsBijection(_) => self.unsupported(e.to_string()),
            TypeError::Undecided { what, missing, .. } => {
                let found = missing.left.clone();
                self.lift.undecided(self.op, what, &found, Some(*missing))
            }
            _ => self.invalid(e.to_string()),
        })
    }

    // Operands.

    /// The number of operands, which must be at least `least`.
    pub(crate) fn operands(&self, least: usize) -> Result<usize> {
        let count = self.op.operands.len();
        if count < least {
            return Err(self.invalid(format!("{count} operands where at least {least} are needed")));
        }
        Ok(count)
    }

    /// An operand.
    pub(crate) fn value(&self, i: usize) -> Result<Value> {
        self.operands(i + 1)?;
        let value = self.lift.operand(self.op, self.op.operands[i])?;
        let (Some(space), Some(ty)) = (&self.lift.mapped, self.lift.type_of(&value)) else {
            return Ok(value);
        };
        // A `map` body is lifted over a whole space; what it captures from around it is still of rank 0.
        if ty.space == *space || ty.space.rank() != 0 {
            return Ok(value);
        }
        match value {
            Value::Splat(_, scalar) => Ok(Value::Splat(space.clone(), scalar)),
            other => Ok(other),
        }
    }

    /// A tensor operand as a field.
    pub(crate) fn field(&mut self, i: usize) -> Result<FieldId> {
        let value = self.value(i)?;
        let field = self.value_field(&value)?;
        match self.lift.mapped.clone() {
            Some(space) if self.space(field).rank() == 0 => self.broadcast(field, &space),
            _ => Ok(field),
        }
    }

    /// A tensor value as a field.
    pub(crate) fn value_field(&mut self, value: &Value) -> Result<FieldId> {
        match value {
            Value::Var(var) => Ok(self.lift.function.tensor(*var)),
            Value::Splat(space, scalar) => Ok(self.lift.function.fields.constant(space, *scalar)),
            Value::Sizes { dtype, space, elements } => match super::sizes::number(&elements[0]) {
                // A number stays one where it is used.
                Some(value) if elements.iter().all(|e| *e == elements[0]) => {
                    let scalar = Scalar::from_i128(*dtype, value);
                    Ok(self.lift.function.fields.constant(space, scalar))
                }
                _ => {
                    let var = self.lift.materialise(self.op, value)?;
                    Ok(self.lift.function.tensor(var))
                }
            },
            Value::Condition(facts) => {
                let field = self.lift.condition_field(self.op, facts)?;
                Ok(if self.const_of(field).is_some() { field } else { self.temp(field) })
            }
            Value::Tuple(_) | Value::Token => {
                Err(self.unsupported("a tuple or token where a tensor is needed"))
            }
        }
    }

    /// A tensor operand as a variable.
    pub(crate) fn var(&mut self, i: usize) -> Result<Var> {
        let value = self.value(i)?;
        self.lift.materialise(self.op, &value)
    }

    /// A tensor operand in another element type, as a variable.
    pub(crate) fn converted(&mut self, i: usize, dtype: DType) -> Result<Var> {
        let field = self.field(i)?;
        let field = self.convert(dtype, field);
        Ok(self.stored(field))
    }

    /// The variables of operands `from..to`.
    pub(crate) fn vars(&mut self, from: usize, to: usize) -> Result<Vec<Var>> {
        (from..to).map(|i| self.var(i)).collect()
    }

    /// The type of a tensor operand.
    pub(crate) fn operand_type(&self, i: usize) -> Result<TensorType> {
        let value = self.value(i)?;
        let ty = self.lift.type_of(&value);
        ty.ok_or_else(|| self.unsupported("a tuple or token where a tensor is needed"))
    }

    // Results.

    /// The declared type of a result.
    pub(crate) fn result_type(&self, i: usize) -> Result<TensorType> {
        let Some(&id) = self.op.results.get(i) else {
            return Err(self.invalid(format!(
                "{} results where {} are needed",
                self.op.results.len(),
                i + 1
            )));
        };
        if let Some(ty) = self.lift.sizes.types.get(&id) {
            return Ok(ty.clone());
        }
        let ty = types::tensor(self.op, self.lift.module.ty(id))?;
        match &self.lift.mapped {
            Some(space) if ty.space.rank() == 0 => Ok(TensorType::new(ty.dtype, space.clone())),
            _ => Ok(ty),
        }
    }

    /// Result `i` is this value.
    pub(crate) fn bind(&mut self, i: usize, value: Value) -> Result<()> {
        let Some(&id) = self.op.results.get(i) else {
            return Err(self.invalid(format!(
                "{} results where {} are needed",
                self.op.results.len(),
                i + 1
            )));
        };
        self.lift.bind(id, value);
        Ok(())
    }

    /// Result `i` is this field. A constant is folded into its uses, a variable gets another name; anything else
    /// is stored.
    pub(crate) fn store(&mut self, i: usize, field: FieldId) -> Result<()> {
        let found = self.field_type(field);
        let ty = self.settled(i, &found)?;
        match self.lift.function.fields[field].kind {
            FieldKind::Const(scalar) => self.bind(i, Value::Splat(ty.space, scalar)),
            // The name of a variable has its own type, which the declared one may only be equal to.
            FieldKind::Tensor(var) if ty != found => self.bind(i, Value::Var(var)),
            FieldKind::Tensor(var) => self.bind(i, Value::Var(var)),
            _ => {
                let name = self.lift.module.name_of(self.op.results[i]);
                let target = self.lift.new_var(name, ty);
                self.lift.push(self.op, StatementKind::Store { target, field });
                self.bind(i, Value::Var(target))
            }
        }
    }

    /// The declared type of result `i`, where the operands give this one: what the declaration says beyond it is checked
    /// by a run.
    pub(crate) fn settled(&mut self, i: usize, found: &TensorType) -> Result<TensorType> {
        let ty = self.result_type(i)?;
        if ty == *found {
            return Ok(ty);
        }
        let symbolic = ty.space.sizes().is_none() || found.space.sizes().is_none();
        if ty.dtype != found.dtype || ty.space.rank() != found.space.rank() || !symbolic {
            return Err(self.invalid(format!("result {i} has type {ty}, but the operands give {found}")));
        }
        for (axis, (a, b)) in found.space.extents().iter().zip(ty.space.extents()).enumerate() {
            self.lift.require_same(self.op, &format!("dimension {axis} of result {i}"), a, b)?;
        }
        Ok(ty)
    }

    /// A field that is stored on its own: an accumulation that must not be nested in another field.
    pub(crate) fn temp(&mut self, field: FieldId) -> FieldId {
        let var = self.stored(field);
        self.lift.function.tensor(var)
    }

    /// A field as a variable.
    pub(crate) fn stored(&mut self, field: FieldId) -> Var {
        if let FieldKind::Tensor(var) = self.lift.function.fields[field].kind {
            return var;
        }
        let target = self.lift.new_var("", self.field_type(field));
        self.lift.push(self.op, StatementKind::Store { target, field });
        target
    }

    /// The results are those of a library operation.
    pub(crate) fn library(&mut self, op: LibOp, args: Vec<Var>, regions: Vec<Region>) -> Result<()> {
        let types = (0..self.op.results.len()).map(|i| self.result_type(i)).collect::<Result<Vec<_>>>()?;
        let targets = self.call(op, args, regions)?;
        let found: Vec<TensorType> = targets.iter().map(|&v| self.lift.function.ty(v).clone()).collect();
        if self.lift.sizes.dynamic && found.len() == types.len() {
            for (i, found) in found.iter().enumerate() {
                self.settled(i, found)?;
            }
        } else if found != types {
            let list =
                |types: &[TensorType]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            return Err(self.invalid(format!(
                "the results are {}, declared as {}",
                list(&found),
                list(&types)
            )));
        }
        for (i, target) in targets.into_iter().enumerate() {
            self.bind(i, Value::Var(target))?;
        }
        Ok(())
    }

    /// A library operation; its rules about operands and regions are those of `LibOp::infer`. What the verifier of
    /// StableHLO has let pass and these do not is valid text that programs have no operation for.
    pub(crate) fn call(&mut self, op: LibOp, args: Vec<Var>, regions: Vec<Region>) -> Result<Vec<Var>> {
        let types_of =
            |vars: &[Var]| vars.iter().map(|&v| self.lift.function.ty(v).clone()).collect::<Vec<_>>();
        let signature =
            |r: &Region| RegionType { params: types_of(&r.params), results: types_of(&r.body.results) };
        let signatures: Vec<RegionType> = regions.iter().map(signature).collect();
        let facts = &self.lift.sizes.facts;
        let types =
            op.infer_given(&types_of(&args), &signatures, facts).map_err(|e| self.unsupported(e.reason))?;
        let name = |i: usize| self.op.results.get(i).map_or("", |&id| self.lift.module.name_of(id));
        let names: Vec<&str> = (0..types.len()).map(name).collect();
        let targets: Vec<Var> =
            types.into_iter().zip(names).map(|(ty, name)| self.lift.new_var(name, ty)).collect();
        self.lift.push(self.op, StatementKind::Call { targets: targets.clone(), op, args, regions });
        Ok(targets)
    }

    /// A region of scalars.
    pub(crate) fn scalar_region(&mut self, i: usize) -> Result<Region> {
        let Some(region) = self.op.regions.get(i) else {
            return Err(self.invalid(format!(
                "{} regions where {} are needed",
                self.op.regions.len(),
                i + 1
            )));
        };
        self.lift.region(self.op, region, None)
    }

    // Fields.

    pub(crate) fn space(&self, field: FieldId) -> Space {
        self.lift.function.fields[field].space.clone()
    }

    pub(crate) fn dtype(&self, field: FieldId) -> DType {
        self.lift.function.fields[field].dtype
    }

    pub(crate) fn field_type(&self, field: FieldId) -> TensorType {
        TensorType::new(self.dtype(field), self.space(field))
    }

    /// The element that all elements equal, where the field is a constant.
    pub(crate) fn const_of(&self, field: FieldId) -> Option<Scalar> {
        match self.lift.function.fields[field].kind {
            FieldKind::Const(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, space: &Space, value: Scalar) -> FieldId {
        self.lift.function.fields.constant(space, value)
    }

    /// A number as a constant of a field's space and type.
    pub(crate) fn number(&mut self, like: FieldId, value: f64) -> FieldId {
        let (space, dtype) = (self.space(like), self.dtype(like));
        self.constant(&space, Scalar::from_f64(dtype, value))
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, x: FieldId) -> Result<FieldId> {
        let built = self.lift.function.fields.unary(op, x);
        self.typed(built)
    }

    /// A field over the space of another one, where sizes that are one by the facts are written in two ways: later passes
    /// compare spaces by what is written.
    fn over_space_of(&mut self, x: FieldId, like: FieldId) -> Result<FieldId> {
        if !self.lift.sizes.dynamic {
            return Ok(x);
        }
        let (own, wanted) = (self.space(x), self.space(like));
        if own == wanted || own.rank() != wanted.rank() {
            return Ok(x);
        }
        if let Some(scalar) = self.const_of(x) {
            return Ok(self.constant(&wanted, scalar));
        }
        let axes = (0..own.rank()).map(|axis| Affine::axis(own.rank(), axis)).collect();
        match IndexMap::total_given(wanted, own, axes, &self.lift.sizes.facts) {
            Ok(map) => self.read(map, x),
            // The operation says what does not fit.
            Err(_) => Ok(x),
        }
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId> {
        let y = self.over_space_of(y, x)?;
        let built = self.lift.function.fields.binary(op, x, y);
        self.typed(built)
    }

    pub(crate) fn select(&mut self, cond: FieldId, on_true: FieldId, on_false: FieldId) -> Result<FieldId> {
        let cond = self.over_space_of(cond, on_true)?;
        let on_false = self.over_space_of(on_false, on_true)?;
        let built = self.lift.function.fields.select(cond, on_true, on_false);
        self.typed(built)
    }

    pub(crate) fn convert(&mut self, dtype: DType, x: FieldId) -> FieldId {
        self.lift.function.fields.convert(dtype, x)
    }

    pub(crate) fn bitcast(&mut self, dtype: DType, x: FieldId) -> Result<FieldId> {
        let built = self.lift.function.fields.bitcast(dtype, x);
        self.typed(built)
    }

    pub(crate) fn index(&mut self, space: &Space, axis: usize, dtype: DType) -> Result<FieldId> {
        let built = self.lift.function.fields.index(space, axis, dtype);
        self.typed(built)
    }

    /// `read map of`. A constant read totally stays a constant.
    pub(crate) fn read(&mut self, map: IndexMap, of: FieldId) -> Result<FieldId> {
        if let Some(scalar) = self.const_of(of)
            && *map.codomain() == self.space(of)
            && map.fill().is_none_or(|f| f.0 == scalar.bits())
        {
            return Ok(self.constant(map.domain(), scalar));
        }
        let built = self.lift.function.fields.read(map, of);
        self.typed(built)
    }

    /// A field of rank 0 at every point of a space.
    pub(crate) fn broadcast(&mut self, x: FieldId, space: &Space) -> Result<FieldId> {
        let map = self.map(IndexMap::total(space.clone(), self.space(x), Vec::new()))?;
        self.read(map, x)
    }

    pub(crate) fn acc(&mut self, op: AccOp, map: IndexMap, of: FieldId) -> Result<FieldId> {
        let built = self.lift.function.fields.acc(op, map, of);
        self.typed(built)
    }

    /// `acc op map of` in the element type of `of`. Sums and products of 16-bit floats are accumulated in `f32`
    /// and rounded once, as XLA does. The accumulation is stored first if it then stands below another operation
    /// and its map is not a projection, which is the form that can be recomputed wherever it is read.
    pub(crate) fn accumulate(&mut self, op: AccOp, map: IndexMap, of: FieldId) -> Result<FieldId> {
        let dtype = self.dtype(of);
        let wide = accumulator(dtype);
        if wide == dtype || !matches!(op, AccOp::Add | AccOp::Mul) {
            return self.acc(op, map, of);
        }
        let projection = map.is_projection().is_some();
        let of = self.convert(wide, of);
        let sum = self.acc(op, map, of)?;
        let sum = if projection { sum } else { self.temp(sum) };
        Ok(self.convert(dtype, sum))
    }

    /// `init ⊕ acc ⊕ map of`; the initial value (a scalar field) is left out where it is the neutral element.
    pub(crate) fn accumulate_from(
        &mut self,
        op: AccOp,
        init: FieldId,
        map: IndexMap,
        of: FieldId,
    ) -> Result<FieldId> {
        let dtype = self.dtype(of);
        let space = map.codomain().clone();
        let neutral = self.const_of(init) == Some(op.neutral(dtype));
        let Some(join) = op.binary().filter(|_| !neutral) else {
            return self.accumulate(op, map, of);
        };
        let wide = if matches!(op, AccOp::Add | AccOp::Mul) { accumulator(dtype) } else { dtype };
        let of = self.convert(wide, of);
        let init = self.convert(wide, init);
        let init = self.broadcast(init, &space)?;
        let projection = map.is_projection().is_some();
        let sum = self.acc(op, map, of)?;
        let sum = if projection { sum } else { self.temp(sum) };
        let joined = self.binary(join, init, sum)?;
        Ok(self.convert(dtype, joined))
    }
}

/// The bits of a scalar as the fill of a partial map.
pub(crate) fn fill(scalar: Scalar) -> Fill {
    Fill(scalar.bits())
}

/// The type in which sums and products of this type are accumulated.
pub(crate) fn accumulator(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
