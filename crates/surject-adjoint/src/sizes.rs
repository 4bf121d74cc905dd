//! Symbolic sizes in derivatives (seed 002, "AD Contract"): as data, as bounds of indices, as sizes of slices. What cannot
//! be done with them is an error that names the operation, its part, and what is known of the size.

use crate::AdjointError;
use crate::sweep::{Result, Sweep};
use surject_index::{Extent, Fact, IndexMap, Observed, ShapeExtent, Space, UnsupportedDynamicShape};
use surject_ir::{BinaryOp, DType, FieldId, GatherDims, LibOp, TypeError, Var};

/// A number for one component of index vectors: one that is known, or a size of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Number(i128),
    Size(Extent),
}

impl From<Extent> for Component {
    fn from(extent: Extent) -> Component {
        match extent.as_const() {
            Some(value) => Component::Number(value.into()),
            None => Component::Size(extent),
        }
    }
}

impl Component {
    pub(crate) fn is_size(&self) -> bool {
        matches!(self, Component::Size(_))
    }

    /// The negative of a size.
    pub(crate) fn minus(extent: &Extent) -> Component {
        match extent.as_const() {
            Some(value) => Component::Number(-i128::from(value)),
            None => Component::Size(Extent::difference(Extent::Const(0), extent.clone())),
        }
    }
}

/// A space with constant sizes, or the first axis that has none.
pub(crate) fn constant_sizes(space: &Space) -> std::result::Result<Vec<u64>, (usize, Extent)> {
    let one = |(axis, e): (usize, &Extent)| e.as_const().ok_or_else(|| (axis, e.clone()));
    space.extents().iter().enumerate().map(one).collect()
}

impl Sweep {
    /// The error for a size that the reverse of the statement at hand needs as a number.
    pub(crate) fn needs_constant(&self, field: impl Into<String>, extent: &Extent) -> AdjointError {
        let observed = match self.guarantees.of(extent) {
            ShapeExtent::Exact(size) => Observed::Symbolic(size),
            ShapeExtent::UpperBound(bound) => Observed::UpperBound(bound),
            ShapeExtent::Unknown => Observed::Unknown,
        };
        self.dynamic(field.into(), "a constant size", observed, None)
    }

    /// The error for sizes of which too little is known.
    pub(crate) fn undecided(&self, field: impl Into<String>, fact: &Fact) -> AdjointError {
        let observed = Observed::Symbolic(fact.left.clone());
        self.dynamic(field.into(), "a decision", observed, Some(Box::new(fact.clone())))
    }

    fn dynamic(
        &self,
        field: String,
        needed: &'static str,
        observed: Observed,
        fact: Option<Box<Fact>>,
    ) -> AdjointError {
        let (primitive, variable) = self.subject();
        let shape = UnsupportedDynamicShape { primitive, field, needed, observed };
        AdjointError::Dynamic { shape: Box::new(shape), fact, variable, origin: self.origin.clone() }
    }

    /// The value of a size, as an `i64` of rank 0 that is stored.
    pub(crate) fn size(&mut self, extent: &Extent) -> Result<Var> {
        let nothing = &mut |_: &mut surject_ir::Function, _: &surject_index::ExtentExpr| Ok(None);
        let field: std::result::Result<FieldId, TypeError> = self.f.size_field(extent, nothing);
        let field = self.typed(field)?;
        Ok(self.stored("size", field))
    }

    /// The value of a size at every point of a space, as an element of a type.
    pub(crate) fn size_over(&mut self, extent: &Extent, space: &Space, dtype: DType) -> Result<FieldId> {
        let size = self.size(extent)?;
        let size = self.f.tensor(size);
        let size = self.convert(dtype, size);
        self.read(IndexMap::projection(space, &[]), size)
    }

    /// One number for each component of index vectors, as a field like `x`.
    pub(crate) fn components(
        &mut self,
        x: FieldId,
        vector_axis: usize,
        values: &[Component],
    ) -> Result<FieldId> {
        let Some(first) = values.first() else { return Ok(self.integer(x, 0)) };
        let mut field = self.component(x, first)?;
        if values.iter().all(|v| v == first) {
            return Ok(field);
        }
        let space = self.space(x);
        let component = self.f.fields.index(&space, vector_axis, DType::I32);
        let component = self.typed(component)?;
        for (k, value) in values.iter().enumerate().skip(1) {
            let here = self.integer(component, k as i128);
            let here = self.binary(BinaryOp::Eq, component, here)?;
            let value = self.component(x, value)?;
            field = self.select(here, value, field)?;
        }
        Ok(field)
    }

    fn component(&mut self, x: FieldId, value: &Component) -> Result<FieldId> {
        match value {
            Component::Number(value) => Ok(self.integer(x, *value)),
            Component::Size(extent) => {
                let (space, dtype) = (self.space(x), self.dtype(x));
                self.size_over(extent, &space, dtype)
            }
        }
    }

    /// Integers as `i64`, in which sizes of a run are compared. What does not fit is larger than any size.
    pub(crate) fn wide(&mut self, x: FieldId) -> Result<FieldId> {
        let x = match self.dtype(x) {
            DType::U64 => {
                let most = self.integer(x, i64::MAX.into());
                self.binary(BinaryOp::Min, x, most)?
            }
            _ => x,
        };
        Ok(self.convert(DType::I64, x))
    }

    /// The slice of these sizes at scalar starts, which are clamped so that it lies inside.
    pub(crate) fn slice_at(&mut self, name: &str, of: Var, sizes: &Space, starts: &[Var]) -> Result<Var> {
        if let Ok(sizes) = constant_sizes(sizes) {
            let args = [of].iter().chain(starts).copied().collect();
            return self.call_one(name, LibOp::DynamicSlice { sizes }, args, Vec::new());
        }
        let rank = starts.len();
        let vector = Space::of(&[rank as u64]);
        let axis = self.f.fields.index(&vector, 0, DType::I32);
        let axis = self.typed(axis)?;
        let mut indices: Option<FieldId> = None;
        for (k, &start) in starts.iter().enumerate() {
            let start = self.f.tensor(start);
            let start = self.wide(start)?;
            let start = self.read(IndexMap::projection(&vector, &[]), start)?;
            indices = Some(match indices {
                None => start,
                Some(rest) => {
                    let here = self.integer(axis, k as i128);
                    let here = self.binary(BinaryOp::Eq, axis, here)?;
                    self.select(here, start, rest)?
                }
            });
        }
        let Some(indices) = indices else { return Err(self.unsupported("a slice without axes")) };
        let indices = self.stored("starts", indices);
        let dims = GatherDims {
            offset_dims: (0..rank).collect(),
            start_index_map: (0..rank).collect(),
            ..GatherDims::default()
        };
        let op = LibOp::gather(dims, sizes.extents().to_vec(), false);
        self.call_one(name, op, vec![of, indices], Vec::new())
    }
}
