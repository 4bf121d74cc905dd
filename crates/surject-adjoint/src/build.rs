//! Building fields and statements, with the identities that keep derivatives readable.

use crate::sweep::{Result, Sweep};
use surject_index::{Fill, IndexMap, MapError, Space};
use surject_ir::{
    AccOp, BinaryOp, DType, FieldId, FieldKind, LibOp, Region, Scalar, StatementKind, TensorType, TypeError,
    UnaryOp, Var,
};

impl Sweep {
    /// The result of building a field. A field of a derivative fits by construction; one that does not is an error
    /// at the statement that is differentiated, not a panic.
    pub(crate) fn typed<T>(&self, built: std::result::Result<T, TypeError>) -> Result<T> {
        built.map_err(|error| match error {
            TypeError::Undecided { what, missing, .. } => self.undecided(what, &missing),
            other => self.unsupported(other.to_string()),
        })
    }

    /// The result of building a map.
    pub(crate) fn mapped(&self, built: std::result::Result<IndexMap, MapError>) -> Result<IndexMap> {
        built.map_err(|e| self.unsupported(e.to_string()))
    }

    pub(crate) fn space(&self, field: FieldId) -> Space {
        self.f.fields[field].space.clone()
    }

    pub(crate) fn dtype(&self, field: FieldId) -> DType {
        self.f.fields[field].dtype
    }

    /// The value of a constant field.
    pub(crate) fn const_of(&self, field: FieldId) -> Option<Scalar> {
        match self.f.fields[field].kind {
            FieldKind::Const(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Is it a constant field of this number?
    fn is_number(&self, field: FieldId, value: f64) -> bool {
        self.const_of(field).is_some_and(|s| s == Scalar::from_f64(s.dtype(), value))
    }

    /// A number as a constant of the space and type of a field.
    pub(crate) fn number(&mut self, like: FieldId, value: f64) -> FieldId {
        let (space, dtype) = (self.space(like), self.dtype(like));
        self.f.fields.constant(&space, Scalar::from_f64(dtype, value))
    }

    /// An integer as a constant of the space and type of a field.
    pub(crate) fn integer(&mut self, like: FieldId, value: i128) -> FieldId {
        let (space, dtype) = (self.space(like), self.dtype(like));
        self.f.fields.constant(&space, Scalar::from_i128(dtype, value))
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, x: FieldId) -> Result<FieldId> {
        let built = self.f.fields.unary(op, x);
        self.typed(built)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId> {
        let built = self.f.fields.binary(op, x, y);
        self.typed(built)
    }

    pub(crate) fn neg(&mut self, x: FieldId) -> Result<FieldId> {
        match self.f.fields[x].kind {
            FieldKind::Unary { op: UnaryOp::Neg, x } => Ok(x),
            _ => self.unary(UnaryOp::Neg, x),
        }
    }

    pub(crate) fn add(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.binary(BinaryOp::Add, x, y)
    }

    pub(crate) fn sub(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.binary(BinaryOp::Sub, x, y)
    }

    /// The product; a factor 1 is left out.
    pub(crate) fn mul(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        if self.is_number(x, 1.0) {
            return Ok(y);
        }
        if self.is_number(y, 1.0) {
            return Ok(x);
        }
        self.binary(BinaryOp::Mul, x, y)
    }

    pub(crate) fn div(&mut self, x: FieldId, y: FieldId) -> Result<FieldId> {
        self.binary(BinaryOp::Div, x, y)
    }

    /// `factor · x`
    pub(crate) fn scale(&mut self, factor: f64, x: FieldId) -> Result<FieldId> {
        let factor = self.number(x, factor);
        self.mul(factor, x)
    }

    pub(crate) fn select(&mut self, cond: FieldId, on_true: FieldId, on_false: FieldId) -> Result<FieldId> {
        let built = self.f.fields.select(cond, on_true, on_false);
        self.typed(built)
    }

    /// `x` where the condition holds, and zero elsewhere.
    pub(crate) fn masked(&mut self, cond: FieldId, x: FieldId) -> Result<FieldId> {
        let zero = self.number(x, 0.0);
        self.select(cond, x, zero)
    }

    pub(crate) fn convert(&mut self, dtype: DType, x: FieldId) -> FieldId {
        self.f.fields.convert(dtype, x)
    }

    /// `read map of`. A constant stays a constant where it can, and a read of a read is one read where their fills
    /// agree.
    pub(crate) fn read(&mut self, map: IndexMap, of: FieldId) -> Result<FieldId> {
        if let Some(scalar) = self.const_of(of)
            && *map.codomain() == self.space(of)
            && map.fill().is_none_or(|f| f.0 == scalar.bits())
        {
            return Ok(self.f.fields.constant(map.domain(), scalar));
        }
        if let FieldKind::Read { map: inner, of: below } = &self.f.fields[of].kind
            && let Ok(composite) = map.then(inner)
        {
            let below = *below;
            let built = self.f.fields.read(composite, below);
            return self.typed(built);
        }
        let built = self.f.fields.read(map, of);
        self.typed(built)
    }

    pub(crate) fn acc(&mut self, op: AccOp, map: IndexMap, of: FieldId) -> Result<FieldId> {
        let built = self.f.fields.acc(op, map, of);
        self.typed(built)
    }

    /// The zero that positions have which no cotangent reaches, as the fill of a map.
    pub(crate) fn nothing(&self, dtype: DType) -> Fill {
        Fill(AccOp::Add.neutral(dtype).bits())
    }

    /// A new variable of this type, of which nothing depends on the parameters.
    pub(crate) fn var(&mut self, name: &str, ty: TensorType) -> Var {
        let var = self.f.var(name, ty);
        self.activity.set(var, Default::default());
        var
    }

    /// Adds a statement that came from the one at hand.
    pub(crate) fn emit(&mut self, kind: StatementKind) {
        self.out.push(surject_ir::Statement { kind, origin: self.origin.clone() });
    }

    /// Stores a field, unless it is a tensor already.
    pub(crate) fn stored(&mut self, name: &str, field: FieldId) -> Var {
        if let FieldKind::Tensor(var) = self.f.fields[field].kind {
            return var;
        }
        let ty = TensorType::new(self.dtype(field), self.space(field));
        let target = self.var(name, ty);
        self.emit(StatementKind::Store { target, field });
        target
    }

    /// Stores a field and gives it as a tensor.
    pub(crate) fn stored_field(&mut self, name: &str, field: FieldId) -> FieldId {
        let var = self.stored(name, field);
        self.f.tensor(var)
    }

    /// A tensor of equal elements.
    pub(crate) fn splat(&mut self, name: &str, space: &Space, value: Scalar) -> Var {
        let field = self.f.fields.constant(space, value);
        self.stored(name, field)
    }

    /// A tensor of zeros with the type of a variable.
    pub(crate) fn zeros_like(&mut self, name: &str, var: Var) -> Var {
        let ty = self.f.ty(var).clone();
        self.splat(name, &ty.space, Scalar::zero(ty.dtype))
    }

    /// A library call.
    pub(crate) fn call(
        &mut self,
        name: &str,
        op: LibOp,
        args: Vec<Var>,
        regions: Vec<Region>,
    ) -> Result<Vec<Var>> {
        let signatures: Vec<_> = regions.iter().map(|r| self.f.region_type(r)).collect();
        let types = self.f.result_types_of(&op, &args, &signatures);
        let types = types.map_err(|e| self.unsupported(e.to_string()))?;
        let targets: Vec<Var> = types.into_iter().map(|ty| self.var(name, ty)).collect();
        self.emit(StatementKind::Call { targets: targets.clone(), op, args, regions });
        Ok(targets)
    }

    /// A library call with one result.
    pub(crate) fn call_one(
        &mut self,
        name: &str,
        op: LibOp,
        args: Vec<Var>,
        regions: Vec<Region>,
    ) -> Result<Var> {
        let targets = self.call(name, op, args, regions)?;
        targets.first().copied().ok_or_else(|| self.unsupported("it has no result"))
    }

    /// A region that yields an operation of its two scalar parameters, or the second of them.
    pub(crate) fn join(&mut self, dtype: DType, op: Option<BinaryOp>) -> Result<Region> {
        let outer = std::mem::take(&mut self.out);
        let params: Vec<Var> = ["a", "b"].map(|n| self.var(n, TensorType::scalar(dtype))).into();
        let result = match op {
            None => params[1],
            Some(op) => {
                let (a, b) = (self.f.tensor(params[0]), self.f.tensor(params[1]));
                let joined = self.binary(op, a, b)?;
                self.stored("c", joined)
            }
        };
        let statements = std::mem::replace(&mut self.out, outer);
        Ok(Region { params, body: surject_ir::Block { statements, results: vec![result] } })
    }
}
