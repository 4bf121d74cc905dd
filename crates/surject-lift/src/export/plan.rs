//! What becomes of a field: one StableHLO operation (or a short chain) and the fields it takes as operands. Plans
//! are made from maps and dependencies alone; nothing is written here.

use super::acc::spreads;
use super::state::{Result, State, digits};
use std::rc::Rc;
use surject_index::{Affine, Component, Extent, Fill, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, FieldId, FieldKind, Scalar, UnaryOp};
use surject_stablehlo::{Attribute, ConvAttrs, DotAlgorithm, DotDims, ElementType};

/// How exactly a `dot_general` is asked to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// As exactly as the types of its operands allow.
    Highest,
    /// With operands that are rounded to tf32.
    Tf32,
}

impl Precision {
    /// The attribute of the operation, and its name.
    pub(super) fn attribute(self) -> (&'static str, Attribute) {
        match self {
            Precision::Highest => ("precision_config", super::emit::highest()),
            Precision::Tf32 => {
                let algorithm = DotAlgorithm {
                    lhs_precision_type: ElementType::TF32,
                    rhs_precision_type: ElementType::TF32,
                    accumulation_type: ElementType::F32,
                    lhs_component_count: 1,
                    rhs_component_count: 1,
                    num_primitive_operations: 1,
                    allow_imprecise_accumulation: false,
                };
                ("algorithm", Attribute::DotAlgorithm(Box::new(algorithm)))
            }
        }
    }
}

/// How the value of a field is made from the values of other fields.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) operands: Vec<FieldId>,
    pub(super) how: How,
}

#[derive(Clone, Debug)]
pub(super) enum How {
    /// The operand itself.
    Alias,
    Splat(Scalar),
    Iota(usize),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Select,
    Convert,
    Bitcast,
    ReducePrecision(u32, u32),
    /// The operand read along a map.
    Read(IndexMap),
    /// The operands after each other along an axis.
    Concatenate(usize),
    /// The axes of the operand in this order, some of them reversed, then as the shape of the field.
    Merge {
        order: Vec<usize>,
        reversed: Vec<usize>,
    },
    /// The operand with its elements apart, along a map whose components use one axis each; the value elsewhere.
    Spread(IndexMap, Scalar),
    /// The first operand, its elements apart along `spread`, read along a guarded map; the second, a scalar, in the
    /// holes and outside.
    Pad {
        spread: Option<IndexMap>,
        read: IndexMap,
    },
    /// Operand and initial scalar; then read along `then`.
    Reduce {
        op: AccOp,
        axes: Vec<usize>,
        then: IndexMap,
    },
    /// The operand times the number of positions of axes of these sizes; then read along `then`.
    Times {
        extents: Vec<Extent>,
        then: IndexMap,
    },
    Dot {
        dims: DotDims,
        precision: Precision,
        then: IndexMap,
    },
    Convolution {
        conv: Box<ConvAttrs>,
        then: IndexMap,
    },
    ReduceWindow {
        op: AccOp,
        window: Box<surject_ir::Window>,
        then: IndexMap,
    },
    /// The operand joined into the neutral element at computed positions.
    Scatter(AccOp, IndexMap),
}

impl How {
    /// Are the shapes on the way constant as well?
    pub(super) fn is_static(&self) -> bool {
        let constant = |map: &IndexMap| map.domain().sizes().is_some() && map.codomain().sizes().is_some();
        match self {
            How::Read(map) | How::Spread(map, _) | How::Scatter(_, map) => constant(map),
            How::Pad { spread, read } => constant(read) && spread.as_ref().is_none_or(constant),
            How::Reduce { then, .. }
            | How::Dot { then, .. }
            | How::Convolution { then, .. }
            | How::ReduceWindow { then, .. } => constant(then),
            How::Times { .. } => false,
            _ => true,
        }
    }
}

impl Plan {
    pub(super) fn new(how: How, operands: impl Into<Vec<FieldId>>) -> Plan {
        Plan { operands: operands.into(), how }
    }

    pub(super) fn alias(field: FieldId) -> Plan {
        Plan::new(How::Alias, [field])
    }
}

impl State {
    /// The plan of a field other than a tensor.
    pub(super) fn plan(&mut self, id: FieldId) -> Result<Rc<Plan>> {
        if let Some(plan) = self.plans.get(&id) {
            return Ok(plan.clone());
        }
        self.bounded()?;
        let plan = Rc::new(self.plan_new(id)?);
        self.plans.insert(id, plan.clone());
        Ok(plan)
    }

    fn plan_new(&mut self, id: FieldId) -> Result<Plan> {
        let field = self.field(id).clone();
        if field.space.is_empty() {
            return Ok(Plan::new(How::Splat(Scalar::zero(field.dtype)), []));
        }
        Ok(match field.kind {
            FieldKind::Tensor(_) => return Err(self.malformed("a tensor has no plan")),
            FieldKind::Const(value) => Plan::new(How::Splat(value), []),
            FieldKind::Index { axis } => Plan::new(How::Iota(axis), []),
            FieldKind::Read { map, of } => {
                let joined = self.read(map.clone(), of)?;
                if joined != id { Plan::alias(joined) } else { Plan::new(How::Read(map), [of]) }
            }
            FieldKind::Acc { op, map, of } => self.plan_acc(id, op, &map, of)?,
            FieldKind::Unary { op, x } => Plan::new(How::Unary(op), [x]),
            FieldKind::Binary { op, x, y } => match self.plan_pieces(id, op)? {
                Some(plan) => plan,
                None => match self.plan_initial(op, x, y)? {
                    Some(plan) => plan,
                    None => Plan::new(How::Binary(op), [x, y]),
                },
            },
            FieldKind::Select { cond, on_true, on_false } => {
                match self.plan_padded(cond, on_true, on_false)? {
                    Some(plan) => plan,
                    None => Plan::new(How::Select, [cond, on_true, on_false]),
                }
            }
            FieldKind::Convert { x } => match self.plan_rounded(x, field.dtype)? {
                Some(plan) => plan,
                None => Plan::new(How::Convert, [x]),
            },
            FieldKind::Bitcast { x } => Plan::new(How::Bitcast, [x]),
            FieldKind::ReducePrecision { exponent, mantissa, x } => {
                Plan::new(How::ReducePrecision(exponent, mantissa), [x])
            }
        })
    }

    /// `p₁ ⊕ p₂ ⊕ …` of reads that are the neutral element outside disjoint ranges of one axis: a concatenation.
    fn plan_pieces(&mut self, id: FieldId, op: BinaryOp) -> Result<Option<Plan>> {
        let dtype = self.dtype(id);
        let Some(join) = AccOp::from_binary(op).filter(|a| a.is_defined(dtype)) else {
            return Ok(None);
        };
        let neutral = join.exact_neutral(dtype);
        let space = self.space(id);
        let mut leaves = Vec::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            match self.field(next).kind {
                // Sums lean to the left as a rule: the right operand first finds soonest that it is no piece.
                FieldKind::Binary { op: o, x, y } if o == op => open.extend([x, y]),
                FieldKind::Read { .. } => leaves.push(next),
                _ => return Ok(None),
            }
            if leaves.len() + open.len() > 4096 {
                return Ok(None);
            }
        }
        let mut axis = None;
        let mut pieces = Vec::new();
        for leaf in leaves {
            let FieldKind::Read { map, of } = &self.field(leaf).kind else {
                return Ok(None);
            };
            let [guard] = map.guards() else {
                return Ok(None);
            };
            let mut used = guard.expr.used_axes();
            let (Some(a), None) = (used.next(), used.next()) else {
                return Ok(None);
            };
            let (1, Some(count)) = (guard.expr.coeffs[a], guard.bound.as_const()) else {
                return Ok(None);
            };
            let fits = *axis.get_or_insert(a) == a && map.fill() == Some(Fill(neutral.bits()));
            let start = u64::try_from(-guard.expr.offset).ok();
            let (true, Some(start)) = (fits, start) else {
                return Ok(None);
            };
            pieces.push((start, count, map.clone(), *of));
        }
        let Some(axis) = axis else {
            return Ok(None);
        };
        pieces.sort_by_key(|p| (p.0, p.1));
        let mut operands = Vec::new();
        let mut at = 0;
        let Some(end) = space.extent(axis).as_const() else { return Ok(None) };
        for (start, count, map, of) in pieces {
            if start < at {
                return Ok(None);
            }
            if start > at {
                operands.push(self.gap(&space, axis, start - at, neutral));
            }
            let part = map.restrict(axis, start, count);
            let part = self.ok(part)?;
            if !part.is_total() {
                return Ok(None);
            }
            operands.push(self.read(part, of)?);
            at = start + count;
        }
        if at < end {
            operands.push(self.gap(&space, axis, end - at, neutral));
        }
        if operands.len() < 2 {
            return Ok(None);
        }
        Ok(Some(Plan::new(How::Concatenate(axis), operands)))
    }

    /// `select (read M true) (read M x) v`, and the same with `true` and `x` spread alike: `x` padded with `v`.
    fn plan_padded(&mut self, cond: FieldId, on_true: FieldId, on_false: FieldId) -> Result<Option<Plan>> {
        let FieldKind::Read { map: here, of: mark } = self.field(cond).kind.clone() else {
            return Ok(None);
        };
        let Some((map, x)) = self.hoist(on_true)? else {
            return Ok(None);
        };
        if here.fill() != Some(Fill(0)) || here != map.with_fill(Fill(0)) {
            return Ok(None);
        }
        let Some(value) = self.scalar_of(on_false) else {
            return Ok(None);
        };
        // Symbolic ones are a choice between what is read at computed positions and the value.
        if self.symbolic {
            return Ok(None);
        }
        let is_true = |f: FieldId| matches!(self.field(f).kind, FieldKind::Const(v) if v.is_true());
        let mark = self.resolved(mark);
        if is_true(mark) {
            return Ok(Some(Plan::new(How::Pad { spread: None, read: here }, [x, value])));
        }
        let FieldKind::Acc { op: AccOp::Or, map: marked, of: one } = &self.field(mark).kind else {
            return Ok(None);
        };
        let FieldKind::Acc { map: spread, of: close, .. } = &self.field(self.resolved(x)).kind else {
            return Ok(None);
        };
        if marked != spread || !is_true(*one) || !spreads(spread) {
            return Ok(None);
        }
        let (spread, close) = (spread.clone(), *close);
        Ok(Some(Plan::new(How::Pad { spread: Some(spread), read: here }, [close, value])))
    }

    /// The scalar that a field has everywhere.
    fn scalar_of(&mut self, f: FieldId) -> Option<FieldId> {
        match &self.field(f).kind {
            FieldKind::Const(value) => {
                let value = *value;
                Some(self.constant(&Space::scalar(), value))
            }
            FieldKind::Read { map, of } if map.is_total() && map.codomain().rank() == 0 => Some(*of),
            _ => None,
        }
    }

    fn gap(&mut self, space: &Space, axis: usize, count: u64, value: Scalar) -> FieldId {
        let mut extents = space.extents().to_vec();
        extents[axis] = surject_index::Extent::Const(count);
        self.constant(&Space::new(extents), value)
    }

    /// `i ⊕ acc ⊕ M f` where the reduction starts from `i` anyhow: the reduction.
    fn plan_initial(&mut self, op: BinaryOp, x: FieldId, y: FieldId) -> Result<Option<Plan>> {
        for (init, acc) in [(x, y), (y, x)] {
            let FieldKind::Acc { op: join, .. } = self.field(acc).kind else {
                continue;
            };
            if join.binary() != Some(op) {
                continue;
            }
            let Some(scalar) = self.scalar_of(init) else {
                continue;
            };
            let FieldKind::Const(value) = self.field(scalar).kind else {
                continue;
            };
            let plan = self.plan(acc)?;
            let starts = match &plan.how {
                How::Reduce { op, .. } | How::ReduceWindow { op, .. } => *op == join,
                _ => false,
            };
            if starts && join.absorbs(value) {
                return Ok(Some(Plan::alias(acc)));
            }
        }
        Ok(None)
    }
}

/// One digit of a component in mixed radix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digit {
    /// The axis of the domain.
    pub(super) axis: usize,
    /// Its size.
    pub(super) size: i64,
    /// The number of positions that the digit has in the number; at least `size`.
    pub(super) radix: i64,
    /// Does the number fall as the axis grows?
    pub(super) falls: bool,
}

/// A component as `low + step · number`, where the number is written by the axes as digits, the most significant
/// first.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) low: i64,
    pub(super) step: i64,
    pub(super) digits: Vec<Digit>,
}

/// The component in mixed radix, if its axes are digits that do not overlap.
pub(super) fn number(component: &Affine, sizes: &[i64]) -> Option<Number> {
    let axes = digits(component);
    let mut low = component.offset;
    for &a in &axes {
        if component.coeffs[a] < 0 {
            low = low.checked_add(component.coeffs[a].checked_mul(sizes[a] - 1)?)?;
        }
    }
    let Some(&last) = axes.last() else {
        return Some(Number { low, step: 1, digits: Vec::new() });
    };
    let step = component.coeffs[last].checked_abs()?;
    let mut digits = Vec::new();
    let mut above: Option<i64> = None;
    for &axis in &axes {
        let c = component.coeffs[axis].checked_abs()?;
        if c % step != 0 {
            return None;
        }
        let weight = c / step;
        let radix = match above {
            None => sizes[axis],
            Some(above) if above % weight == 0 && above / weight >= sizes[axis] => above / weight,
            Some(_) => return None,
        };
        digits.push(Digit { axis, size: sizes[axis], radix, falls: component.coeffs[axis] < 0 });
        above = Some(weight);
    }
    Some(Number { low, step, digits })
}

impl Number {
    /// The count of positions of the whole number.
    pub(super) fn positions(&self) -> Option<i64> {
        self.digits.iter().try_fold(1i64, |n, d| n.checked_mul(d.radix))
    }

    /// Does the number run through all positions of an axis of this extent?
    pub(super) fn fills(&self, extent: i64) -> bool {
        self.low == 0
            && self.step == 1
            && self.digits.iter().all(|d| d.radix == d.size)
            && self.positions() == Some(extent)
    }
}

/// `p ↦ number`, row-major over groups of axes: the map that merges each group into one axis.
pub(super) fn merging(space: &Space, groups: &[Vec<usize>]) -> Option<IndexMap> {
    let rank = space.rank();
    let mut components = Vec::new();
    let mut extents = Vec::new();
    for group in groups {
        let mut component = Affine::fixed(rank, 0);
        let mut weight = 1i64;
        for &axis in group.iter().rev() {
            component.coeffs[axis] = weight;
            weight = weight.checked_mul(i64::try_from(space.extent(axis).as_const()?).ok()?)?;
        }
        components.push(component);
        extents.push(surject_index::Extent::Const(weight.unsigned_abs()));
    }
    IndexMap::total(space.clone(), Space::new(extents), components).ok()
}

/// Is the component a plain axis of the domain?
pub(super) fn whole_axis(map: &IndexMap, place: usize) -> Option<usize> {
    match map.components()[place].component() {
        Component::Iter(a) if map.domain().extent(a) == map.codomain().extent(place) => Some(a),
        _ => None,
    }
}
