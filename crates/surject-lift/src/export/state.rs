//! What is known of the function that is being exported, and small steps on its fields: which axes a field really
//! depends on, the same field over fewer axes, reads pulled out of pointwise expressions.

use super::error::{ExportError, ExportPlace};
use super::plan::Plan;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use surject_index::{Affine, Component, Extent, Fact, Fill, Guard, IndexMap, Space};
use surject_ir::range::{Range, Ranges};
use surject_ir::{
    BinaryOp, Buffer, DType, Field, FieldId, FieldKind, Function, Scalar, SizeGuarantees, Statement,
    StatementKind, Var, eval,
};
use surject_stablehlo::{Diagnostic, ValueId};

pub(super) type Result<T> = std::result::Result<T, ExportError>;

/// How a variable is computed, where that can be repeated.
#[derive(Clone)]
pub(super) enum Definition {
    Field(FieldId),
    Constant(Arc<Buffer>),
}

/// The values that are known in one region.
#[derive(Default)]
pub(super) struct Scope {
    /// The value of a field.
    pub(super) memo: HashMap<FieldId, ValueId>,
    /// The value of a size, as an `i64` of rank 0.
    pub(super) sizes: HashMap<surject_index::Extent, ValueId>,
    /// May values of outer regions not be used here?
    pub(super) isolated: bool,
}

/// How a value was made, for shortening chains of moves.
#[derive(Clone)]
pub(super) enum Made {
    Reshape(ValueId),
    Transpose(ValueId, Vec<usize>),
    /// Operand and padding value, low, high and interior padding.
    Pad([ValueId; 2], [Vec<i64>; 3]),
}

pub(super) struct State {
    /// A copy of the function; its arena grows by the fields that plans need.
    pub(super) function: Function,
    /// The value of a variable, and the depth of the scope that defines it.
    pub(super) vars: HashMap<Var, (ValueId, usize)>,
    pub(super) definitions: HashMap<Var, Definition>,
    pub(super) scopes: Vec<Scope>,
    pub(super) plans: HashMap<FieldId, Rc<Plan>>,
    pub(super) made: HashMap<ValueId, Made>,
    pub(super) place: ExportPlace,
    /// Has the function symbolic sizes?
    pub(super) symbolic: bool,
    /// What is guaranteed of its sizes.
    pub(super) bounds: SizeGuarantees,
    /// What a run must check of sizes that data gives, and who needs it.
    pub(super) late: Vec<(Fact, String)>,
    /// The axes that each field depends on, for a prefix of the arena.
    deps: Vec<Vec<bool>>,
    /// What is known of the values of fields.
    ranges: Ranges,
    /// More fields than this mean that plans do not come to an end.
    limit: usize,
}

impl State {
    pub(super) fn new(function: &Function) -> State {
        let place = ExportPlace { function: function.name.clone(), ..ExportPlace::default() };
        State {
            limit: function.fields.len() * 64 + 65_536,
            function: function.clone(),
            vars: HashMap::new(),
            definitions: HashMap::new(),
            scopes: vec![Scope::default()],
            plans: HashMap::new(),
            made: HashMap::new(),
            place,
            symbolic: surject_ir::bind::is_symbolic(function),
            bounds: function.size_guarantees(),
            late: Vec::new(),
            deps: Vec::new(),
            ranges: Ranges::default(),
        }
    }

    /// What the values of a field may be.
    pub(super) fn range(&mut self, field: FieldId) -> Range {
        self.ranges.of(&self.function, field)
    }

    /// Remembers which statement is being exported.
    pub(super) fn at(&mut self, statement: &Statement) {
        let names: Vec<&str> = statement.targets().iter().map(|&v| self.function.name_of(v)).collect();
        self.place.statement = names.join(", ");
        self.place.origin = statement.origin.clone();
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let range = self.range(*field);
                self.ranges.know(*target, range);
                self.definitions.insert(*target, Definition::Field(*field));
            }
            StatementKind::Constant { target, value } => {
                self.definitions.insert(*target, Definition::Constant(value.clone()));
            }
            _ => {}
        }
    }

    pub(super) fn unsupported(&self, operation: &str, detail: impl Into<String>) -> ExportError {
        ExportError::Unsupported {
            operation: operation.to_string(),
            detail: detail.into(),
            place: self.place.clone(),
        }
    }

    pub(super) fn malformed(&self, message: impl Into<String>) -> ExportError {
        ExportError::Malformed { message: message.into(), place: self.place.clone() }
    }

    pub(super) fn diagnostic(&self, diagnostic: Diagnostic) -> ExportError {
        self.malformed(diagnostic.to_string())
    }

    /// A result of the arena's constructors or of map arithmetic, which hold by construction here.
    pub(super) fn ok<T, E: ToString>(&self, result: std::result::Result<T, E>) -> Result<T> {
        result.map_err(|e| self.malformed(e.to_string()))
    }

    pub(super) fn field(&self, id: FieldId) -> &Field {
        &self.function.fields[id]
    }

    pub(super) fn space(&self, id: FieldId) -> Space {
        self.field(id).space.clone()
    }

    pub(super) fn dtype(&self, id: FieldId) -> DType {
        self.field(id).dtype
    }

    /// The sizes of a space.
    pub(super) fn sizes(&self, space: &Space) -> Result<Vec<i64>> {
        space.sizes().ok_or_else(|| {
            self.unsupported("symbolic shape", format!("the space {space} has sizes that are not constant"))
        })
    }

    /// Fails where plans grow without end.
    pub(super) fn bounded(&self) -> Result<()> {
        if self.function.fields.len() > self.limit {
            return Err(self.malformed("the plan of a field does not come to an end"));
        }
        Ok(())
    }

    /// The lowest scope whose values may be used.
    pub(super) fn floor(&self) -> usize {
        self.scopes.iter().rposition(|s| s.isolated).unwrap_or(0)
    }

    /// `read map of`, with reads of reads and of constants joined.
    pub(super) fn read(&mut self, map: IndexMap, of: FieldId) -> Result<FieldId> {
        let (mut map, mut of) = (map, of);
        loop {
            match &self.field(of).kind {
                FieldKind::Read { map: inner, of: x } => match map.then(inner) {
                    Ok(joined) => (map, of) = (joined, *x),
                    Err(_) => break,
                },
                FieldKind::Const(value) => {
                    let value = *value;
                    if map.fill().is_none_or(|f| f.0 == value.bits()) {
                        return Ok(self.function.fields.constant(map.domain(), value));
                    }
                    break;
                }
                _ => break,
            }
        }
        let field = self.function.fields.read(map, of);
        self.ok(field)
    }

    pub(super) fn constant(&mut self, space: &Space, value: Scalar) -> FieldId {
        self.function.fields.constant(space, value)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<FieldId> {
        let field = self.function.fields.binary(op, x, y);
        self.ok(field)
    }

    /// The axes (of extent other than 1) that a field depends on; a superset is allowed.
    pub(super) fn deps(&mut self, id: FieldId) -> Vec<bool> {
        while self.deps.len() <= id.0 as usize {
            let next = FieldId(self.deps.len() as u32);
            let field = self.field(next);
            let rank = field.space.rank();
            let real = |a: usize| field.space.extent(a).as_const() != Some(1);
            let mut set = vec![false; rank];
            match &field.kind {
                FieldKind::Tensor(_) => (0..rank).for_each(|a| set[a] = real(a)),
                FieldKind::Const(_) => {}
                FieldKind::Index { axis } => set[*axis] = real(*axis),
                FieldKind::Read { map, of } => {
                    let below = &self.deps[of.0 as usize];
                    let used = map.components().iter().zip(below).filter(|(_, d)| **d).map(|(c, _)| c);
                    for expr in used.chain(map.guards().iter().map(|g| &g.expr)) {
                        expr.used_axes().for_each(|a| set[a] = true);
                    }
                }
                FieldKind::Acc { map, of, .. } => {
                    let below = &self.deps[of.0 as usize];
                    let kept = kept_axes(map);
                    for (a, dep) in set.iter_mut().enumerate() {
                        *dep = match &kept {
                            Some(kept) => kept[a].is_some_and(|p| below[p]),
                            None => real(a),
                        };
                    }
                }
                kind => {
                    for child in kind.children() {
                        let below = &self.deps[child.0 as usize];
                        set.iter_mut().zip(below).for_each(|(a, b)| *a |= b);
                    }
                }
            }
            self.deps.push(set);
        }
        self.deps[id.0 as usize].clone()
    }

    /// The field that a stored tensor was computed as, as far as that is known.
    pub(super) fn resolved(&self, field: FieldId) -> FieldId {
        let mut field = field;
        while let FieldKind::Tensor(var) = self.field(field).kind
            && let Some(Definition::Field(of)) = self.definitions.get(&var)
        {
            field = *of;
        }
        field
    }

    /// The pointwise nodes above the first reads, tensors, … of a field, and those leaves, children first.
    fn spine(&self, root: FieldId) -> Vec<FieldId> {
        let mut seen = vec![root];
        let mut next = 0;
        let mut known: std::collections::HashSet<FieldId> = seen.iter().copied().collect();
        while next < seen.len() {
            let kind = &self.field(seen[next]).kind;
            if kind.is_pointwise() {
                seen.extend(kind.children().filter(|c| known.insert(*c)).collect::<Vec<_>>());
            }
            next += 1;
        }
        seen.sort_unstable();
        seen
    }

    /// A pointwise node over other children.
    fn again(&mut self, field: &Field, new: &HashMap<FieldId, FieldId>) -> Result<FieldId> {
        let made = self.function.fields.again(field, |id| new.get(&id).copied().unwrap_or(id));
        self.ok(made)
    }

    /// `read section f` for a total map, pushed down to the leaves of the pointwise expression.
    pub(super) fn rebuild(&mut self, f: FieldId, section: &IndexMap) -> Result<FieldId> {
        if section.is_identity() {
            return Ok(f);
        }
        let domain = section.domain().clone();
        let mut new = HashMap::new();
        for id in self.spine(f) {
            let field = self.field(id).clone();
            let made = match &field.kind {
                FieldKind::Const(value) => self.constant(&domain, *value),
                FieldKind::Index { axis } => match section.components()[*axis].component() {
                    Component::Iter(a) => {
                        let index = self.function.fields.index(&domain, a, field.dtype);
                        self.ok(index)?
                    }
                    Component::Fixed(c) => {
                        self.constant(&domain, Scalar::from_i128(field.dtype, i128::from(c)))
                    }
                    Component::Affine(_) => self.read(section.clone(), id)?,
                },
                FieldKind::Tensor(_) | FieldKind::Read { .. } | FieldKind::Acc { .. } => {
                    self.read(section.clone(), id)?
                }
                _ => self.again(&field, &new)?,
            };
            new.insert(id, made);
        }
        Ok(new[&f])
    }

    /// The field over some axes of its space, in this order; the axes that are left out must not matter to it.
    pub(super) fn over(&mut self, f: FieldId, order: &[usize]) -> Result<FieldId> {
        let space = self.space(f);
        if let FieldKind::Const(value) = self.field(f).kind {
            // It has no first positions to be taken, also where there may be none.
            return Ok(self.constant(&space.select(order), value));
        }
        let components = section(&space, order);
        let section = self.total(space.select(order), space, components);
        let section = self.ok(section)?;
        self.rebuild(f, &section)
    }

    /// Can axes be left out by taking the first position of each? One that may be empty has none.
    pub(super) fn can_leave_out(&self, f: FieldId, order: &[usize]) -> bool {
        let space = &self.field(f).space;
        (0..space.rank()).all(|a| order.contains(&a) || self.is_positive(space.extent(a)))
    }

    /// The axes that a field depends on, in the order in which the tensor that it mainly reads has them.
    pub(super) fn natural_order(&mut self, f: FieldId) -> Vec<usize> {
        let deps = self.deps(f);
        let mut best: Vec<usize> = Vec::new();
        for id in self.spine(f) {
            let field = self.field(id);
            let mut order: Vec<usize> = match &field.kind {
                FieldKind::Tensor(_) | FieldKind::Acc { .. } => (0..deps.len()).collect(),
                FieldKind::Read { map, .. } => map.components().iter().flat_map(digits).collect(),
                _ => continue,
            };
            order.retain(|&a| deps[a]);
            let mut seen = vec![false; deps.len()];
            order.retain(|&a| !std::mem::replace(&mut seen[a], true));
            if order.len() > best.len() {
                best = order;
            }
        }
        best.extend((0..deps.len()).filter(|a| deps[*a] && !best.contains(a)).collect::<Vec<_>>());
        best
    }

    /// A field as one read: `read map x`, pointwise operations on reads along one map pulled into `x`.
    pub(super) fn hoist(&mut self, f: FieldId) -> Result<Option<(IndexMap, FieldId)>> {
        let spine = self.spine(f);
        let mut common: Option<IndexMap> = None;
        for &id in &spine {
            match &self.field(id).kind {
                FieldKind::Read { map, .. } => {
                    let plain = map.with_fill(Fill(0));
                    if common.get_or_insert_with(|| plain.clone()) != &plain {
                        return Ok(None);
                    }
                }
                FieldKind::Const(_) => {}
                kind if kind.is_pointwise() => {}
                _ => return Ok(None),
            }
        }
        let Some(map) = common else {
            return Ok(None);
        };
        let mut new: HashMap<FieldId, FieldId> = HashMap::new();
        let mut outside: HashMap<FieldId, Scalar> = HashMap::new();
        for id in spine {
            let field = self.field(id).clone();
            let (made, fill) = match &field.kind {
                FieldKind::Read { map, of } => {
                    (*of, Some(Scalar::from_bits(field.dtype, map.fill().map_or(0, |f| f.0))))
                }
                FieldKind::Const(value) => (self.constant(map.codomain(), *value), Some(*value)),
                _ => (self.again(&field, &new)?, evaluate(&field, &outside)),
            };
            match fill {
                Some(value) => _ = outside.insert(id, value),
                None if map.is_total() => _ = outside.insert(id, Scalar::zero(field.dtype)),
                None => return Ok(None),
            }
            new.insert(id, made);
        }
        let (map, mut of) = (map.with_fill(Fill(outside[&f].bits())), new[&f]);
        let mut map = map;
        while let FieldKind::Read { map: inner, of: x } = &self.field(of).kind {
            match map.then(inner) {
                Ok(joined) => (map, of) = (joined, *x),
                Err(_) => break,
            }
        }
        Ok(Some((map, of)))
    }
}

/// The value of a pointwise node where its children have these values.
fn evaluate(field: &Field, values: &HashMap<FieldId, Scalar>) -> Option<Scalar> {
    let at = |id: &FieldId| values.get(id).copied();
    match &field.kind {
        FieldKind::Unary { op, x } => eval::unary(*op, at(x)?),
        FieldKind::Binary { op, x, y } => eval::binary(*op, at(x)?, at(y)?),
        FieldKind::Select { cond, on_true, on_false } => {
            if at(cond)?.is_true() {
                at(on_true)
            } else {
                at(on_false)
            }
        }
        FieldKind::Convert { x } => Some(eval::convert(field.dtype, at(x)?)),
        FieldKind::Bitcast { x } => eval::bitcast(field.dtype, at(x)?),
        FieldKind::ReducePrecision { exponent, mantissa, x } => {
            eval::reduce_precision(*exponent, *mantissa, at(x)?)
        }
        _ => None,
    }
}

/// The axes of a component, those with the largest coefficient first.
pub(super) fn digits(component: &Affine) -> Vec<usize> {
    let mut axes: Vec<usize> = component.used_axes().collect();
    axes.sort_by_key(|&a| std::cmp::Reverse(component.coeffs[a].unsigned_abs()));
    axes
}

/// For every axis of the codomain the axis of the domain that it is, `None` for axes of extent 1; when the map is
/// a projection in this sense.
pub(super) fn kept_axes(map: &IndexMap) -> Option<Vec<Option<usize>>> {
    let mut seen = vec![false; map.domain().rank()];
    let axis = |(component, extent): (&Affine, &surject_index::Extent)| match component.component() {
        Component::Iter(a) if map.domain().extent(a) == extent && !std::mem::replace(&mut seen[a], true) => {
            Some(Some(a))
        }
        Component::Fixed(0) if extent.as_const() == Some(1) => Some(None),
        _ => None,
    };
    map.components().iter().zip(map.codomain().extents()).map(axis).collect()
}

/// The components of the map that puts 0 on the axes that are left out: `space.select(order) → space`.
fn section(space: &Space, order: &[usize]) -> Vec<Affine> {
    let mut components = vec![Affine::fixed(order.len(), 0); space.rank()];
    for (place, &axis) in order.iter().enumerate() {
        components[axis] = Affine::axis(order.len(), place);
    }
    components
}

/// The map over some axes of its domain; the others are not used.
pub(super) fn over(map: &IndexMap, axes: &[usize]) -> std::result::Result<IndexMap, surject_index::MapError> {
    let narrow =
        |e: &Affine| Affine { coeffs: axes.iter().map(|&a| e.coeffs[a]).collect(), offset: e.offset };
    let components = map.components().iter().map(narrow).collect();
    let guards =
        map.guards().iter().map(|g| Guard { expr: narrow(&g.expr), bound: g.bound.clone() }).collect();
    let space: Space =
        Space::new(axes.iter().map(|&a| map.domain().extent(a).clone()).collect::<Vec<Extent>>());
    match map.fill() {
        Some(fill) => IndexMap::partial(space, map.codomain().clone(), components, guards, fill),
        None => IndexMap::total(space, map.codomain().clone(), components),
    }
}
