//! Fields: scalar expressions with the indices of a space free.
//!
//! The fields of a function stand in one arena, children before parents, each distinct node once. So a pass
//! over fields is a loop over ids, shared subexpressions are shared ids, and nothing recurses.

use crate::sizes::same_space;
use crate::{AccOp, BinaryOp, TypeError, UnaryOp, Var};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::{Extent, Facts, IndexMap, Space};
use surject_runtime::{DType, Scalar};

/// A field of a function's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u32);

/// A field: its space, its element type, and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The space whose indices are free in the expression.
    pub space: Space,
    /// The element type of the values.
    pub dtype: DType,
    /// The node.
    pub kind: FieldKind,
}

/// What a field is made of. Children are earlier fields of the same arena.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// A stored tensor, as a field over its own space.
    Tensor(Var),
    /// `(read M t)(p) = t(M(p))`, and the fill of `M` where a guard fails.
    Read {
        /// From this field's space to the space of `of`. The bits of its fill have this field's type.
        map: IndexMap,
        /// The field that is read.
        of: FieldId,
    },
    /// `(acc ⊕ M f)(d) = ⨁ { f(p) : M(p) = d }`. `M` is total; for `set` it is bijective.
    Acc {
        /// The operator.
        op: AccOp,
        /// From the product space (the space of `of`) to this field's space.
        map: IndexMap,
        /// The field that is accumulated.
        of: FieldId,
    },
    /// The index of an axis as a value of this field's type (an integer or float type).
    Index {
        /// The axis of the field's space.
        axis: usize,
    },
    /// One value at every point.
    Const(Scalar),
    /// A unary operation.
    Unary {
        /// The operation.
        op: UnaryOp,
        /// The operand, over the same space.
        x: FieldId,
    },
    /// A binary operation.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// The left operand, over the same space.
        x: FieldId,
        /// The right operand, over the same space.
        y: FieldId,
    },
    /// `on_true` where `cond` (an `i1` field) holds, else `on_false`; all over the same space.
    Select {
        /// The condition.
        cond: FieldId,
        /// The value where it holds.
        on_true: FieldId,
        /// The value where it does not.
        on_false: FieldId,
    },
    /// The value converted to this field's type, as StableHLO's `convert`.
    Convert {
        /// The operand, over the same space.
        x: FieldId,
    },
    /// The bits of the value read as this field's type, which has the same width.
    Bitcast {
        /// The operand, over the same space.
        x: FieldId,
    },
    /// The value rounded to a float with fewer exponent and mantissa bits, kept in its type.
    ReducePrecision {
        /// Bits of the exponent (at least 1).
        exponent: u32,
        /// Bits of the mantissa.
        mantissa: u32,
        /// The operand, a float field over the same space.
        x: FieldId,
    },
}

impl Field {
    /// Every extent in the field: of its space, its map and the guards of the map.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &Extent> {
        let map = match &self.kind {
            FieldKind::Read { map, .. } | FieldKind::Acc { map, .. } => Some(map),
            _ => None,
        };
        let of_map = map.into_iter().flat_map(|map| {
            let spaces = map.domain().extents().iter().chain(map.codomain().extents());
            spaces.chain(map.guards().iter().map(|guard| &guard.bound))
        });
        self.space.extents().iter().chain(of_map)
    }
}

impl FieldKind {
    /// The children, in order.
    pub fn children(&self) -> impl Iterator<Item = FieldId> + use<> {
        use FieldKind::*;
        let (a, b, c) = match *self {
            Tensor(_) | Index { .. } | Const(_) => (None, None, None),
            Read { of, .. } | Acc { of, .. } => (Some(of), None, None),
            Unary { x, .. } | Convert { x } | Bitcast { x } | ReducePrecision { x, .. } => {
                (Some(x), None, None)
            }
            Binary { x, y, .. } => (Some(x), Some(y), None),
            Select { cond, on_true, on_false } => (Some(cond), Some(on_true), Some(on_false)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// Is it evaluated point by point from operands over the same space?
    pub fn is_pointwise(&self) -> bool {
        use FieldKind::*;
        matches!(
            self,
            Unary { .. }
                | Binary { .. }
                | Select { .. }
                | Convert { .. }
                | Bitcast { .. }
                | ReducePrecision { .. }
        )
    }
}

/// The arena of a function's fields. Equal nodes have equal ids.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    nodes: Vec<Field>,
    ids: HashMap<Field, FieldId>,
    /// What is known of symbolic sizes, if anything is.
    facts: Option<Arc<Facts>>,
}

impl std::ops::Index<FieldId> for Fields {
    type Output = Field;

    fn index(&self, id: FieldId) -> &Field {
        &self.nodes[id.0 as usize]
    }
}

impl Fields {
    /// Lets constructors use these facts about symbolic sizes.
    pub(crate) fn assume(&mut self, facts: Facts) {
        self.facts = (!facts.is_empty()).then(|| Arc::new(facts));
    }

    /// Takes what another arena knows of symbolic sizes.
    pub(crate) fn inherit(&mut self, from: &Fields) {
        self.facts.clone_from(&from.facts);
    }

    /// What is known of symbolic sizes.
    pub(crate) fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is there no field?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Every field with its id, children before parents.
    pub fn iter(&self) -> impl Iterator<Item = (FieldId, &Field)> {
        self.nodes.iter().enumerate().map(|(i, f)| (FieldId(i as u32), f))
    }

    /// The fields that `roots` reach, children before parents.
    pub fn reachable(&self, roots: &[FieldId]) -> Vec<FieldId> {
        // Work in the size of what is reached, not of the arena: this is asked for every store.
        let mut seen: HashSet<FieldId> = roots.iter().copied().collect();
        let mut stack: Vec<FieldId> = seen.iter().copied().collect();
        while let Some(id) = stack.pop() {
            stack.extend(self[id].kind.children().filter(|&c| seen.insert(c)));
        }
        let mut ids: Vec<FieldId> = seen.into_iter().collect();
        ids.sort_unstable();
        ids
    }

    /// Adds a node whose space, type and children are known to fit. Prefer the checked constructors.
    fn intern(&mut self, space: Space, dtype: DType, kind: FieldKind) -> FieldId {
        let field = Field { space, dtype, kind };
        if let Some(&id) = self.ids.get(&field) {
            return id;
        }
        let id = FieldId(self.nodes.len() as u32);
        self.nodes.push(field.clone());
        self.ids.insert(field, id);
        id
    }

    /// A stored tensor as a field. `Function::tensor` fills in its type.
    pub(crate) fn tensor(&mut self, var: Var, dtype: DType, space: Space) -> FieldId {
        self.intern(space, dtype, FieldKind::Tensor(var))
    }

    /// `read map of`. The identity gives `of` itself.
    pub fn read(&mut self, map: IndexMap, of: FieldId) -> Result<FieldId, TypeError> {
        let (space, dtype) = (self[of].space.clone(), self[of].dtype);
        same_space("the codomain of a read", map.codomain(), &space, self.facts())?;
        if map.is_identity() {
            return Ok(of);
        }
        Ok(self.intern(map.domain().clone(), dtype, FieldKind::Read { map, of }))
    }

    /// `acc op map of`. The map must be total, and not be known not to be bijective for `set`.
    pub fn acc(&mut self, op: AccOp, map: IndexMap, of: FieldId) -> Result<FieldId, TypeError> {
        let (space, dtype) = (self[of].space.clone(), self[of].dtype);
        same_space("the domain of an accumulation", map.domain(), &space, self.facts())?;
        if !map.is_total() {
            return Err(TypeError::PartialAcc);
        }
        if !op.is_defined(dtype) {
            return Err(TypeError::Undefined { op: op.name(), dtypes: vec![dtype] });
        }
        let bijective = || match self.facts() {
            Some(facts) => map.bijective_given(facts),
            None => map.bijective(),
        };
        if op == AccOp::Set && !bijective().is_yes() {
            return Err(TypeError::SetNeedsBijection(map.to_string()));
        }
        Ok(self.intern(map.codomain().clone(), dtype, FieldKind::Acc { op, map, of }))
    }

    /// The index of an axis as a value.
    pub fn index(&mut self, space: &Space, axis: usize, dtype: DType) -> Result<FieldId, TypeError> {
        if axis >= space.rank() {
            return Err(TypeError::Axis { axis, space: space.clone() });
        }
        if dtype.is_bool() {
            return Err(TypeError::Undefined { op: "index", dtypes: vec![dtype] });
        }
        Ok(self.intern(space.clone(), dtype, FieldKind::Index { axis }))
    }

    /// One value at every point of a space.
    pub fn constant(&mut self, space: &Space, value: Scalar) -> FieldId {
        self.intern(space.clone(), value.dtype(), FieldKind::Const(value))
    }

    /// A unary operation.
    pub fn unary(&mut self, op: UnaryOp, x: FieldId) -> Result<FieldId, TypeError> {
        let (space, dtype) = (self[x].space.clone(), self[x].dtype);
        let result = op.result(dtype).ok_or(TypeError::Undefined { op: op.name(), dtypes: vec![dtype] })?;
        Ok(self.intern(space, result, FieldKind::Unary { op, x }))
    }

    /// A binary operation. Operands share space and type.
    pub fn binary(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId, TypeError> {
        let space = self.same_space(op.name(), x, y)?;
        let (a, b) = (self[x].dtype, self[y].dtype);
        let result = op.result(a, b).ok_or(TypeError::Undefined { op: op.name(), dtypes: vec![a, b] })?;
        Ok(self.intern(space, result, FieldKind::Binary { op, x, y }))
    }

    /// `on_true` where `cond` holds, else `on_false`.
    pub fn select(
        &mut self,
        cond: FieldId,
        on_true: FieldId,
        on_false: FieldId,
    ) -> Result<FieldId, TypeError> {
        self.same_space("select", cond, on_true)?;
        let space = self.same_space("select", on_true, on_false)?;
        let dtypes = vec![self[cond].dtype, self[on_true].dtype, self[on_false].dtype];
        if dtypes[0] != DType::I1 || dtypes[1] != dtypes[2] {
            return Err(TypeError::Undefined { op: "select", dtypes });
        }
        Ok(self.intern(space, dtypes[1], FieldKind::Select { cond, on_true, on_false }))
    }

    /// The value converted to `dtype`; the field itself if it has that type.
    pub fn convert(&mut self, dtype: DType, x: FieldId) -> FieldId {
        if self[x].dtype == dtype {
            return x;
        }
        self.intern(self[x].space.clone(), dtype, FieldKind::Convert { x })
    }

    /// The bits read as another type of the same width.
    pub fn bitcast(&mut self, dtype: DType, x: FieldId) -> Result<FieldId, TypeError> {
        let from = self[x].dtype;
        if from == dtype {
            return Ok(x);
        }
        if from.bits() != dtype.bits() {
            return Err(TypeError::Undefined { op: "bitcast", dtypes: vec![from, dtype] });
        }
        Ok(self.intern(self[x].space.clone(), dtype, FieldKind::Bitcast { x }))
    }

    /// The value rounded to fewer exponent and mantissa bits.
    pub fn reduce_precision(
        &mut self,
        exponent: u32,
        mantissa: u32,
        x: FieldId,
    ) -> Result<FieldId, TypeError> {
        let dtype = self[x].dtype;
        if !dtype.is_float() || exponent == 0 {
            return Err(TypeError::Undefined { op: "reduce_precision", dtypes: vec![dtype] });
        }
        Ok(self.intern(self[x].space.clone(), dtype, FieldKind::ReducePrecision { exponent, mantissa, x }))
    }

    /// A node like `field`, of this or another arena, over other children. Leaves stay what they are.
    pub fn again(&mut self, field: &Field, of: impl Fn(FieldId) -> FieldId) -> Result<FieldId, TypeError> {
        use FieldKind::*;
        match &field.kind {
            Tensor(_) | Index { .. } | Const(_) => {
                Ok(self.intern(field.space.clone(), field.dtype, field.kind.clone()))
            }
            Read { map, of: x } => self.read(map.clone(), of(*x)),
            Acc { op, map, of: x } => self.acc(*op, map.clone(), of(*x)),
            Unary { op, x } => self.unary(*op, of(*x)),
            Binary { op, x, y } => self.binary(*op, of(*x), of(*y)),
            Select { cond, on_true, on_false } => self.select(of(*cond), of(*on_true), of(*on_false)),
            Convert { x } => Ok(self.convert(field.dtype, of(*x))),
            Bitcast { x } => self.bitcast(field.dtype, of(*x)),
            ReducePrecision { exponent, mantissa, x } => self.reduce_precision(*exponent, *mantissa, of(*x)),
        }
    }

    fn same_space(&self, what: &'static str, x: FieldId, y: FieldId) -> Result<Space, TypeError> {
        let (a, b) = (&self[x].space, &self[y].space);
        same_space(what, b, a, self.facts())?;
        Ok(a.clone())
    }
}
