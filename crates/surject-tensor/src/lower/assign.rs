//! One assignment as stores: for every piece of the product space the value at its points, accumulated along the index
//! map of the target.
//!
//! Where an index may leave a tensor (padding), the value that is accumulated is the neutral element: either the tensor
//! is read with a fill that makes it so, or the whole value is replaced outside.

use super::fetch::{impossible, internal};
use super::primitive::Scalars;
use super::{Builder, words};
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{NodeId, NodeKind, StepId};
use crate::operator::{Cell, Rule, Term};
use std::collections::HashSet;
use std::sync::Arc;
use surject_index::{Affine, Extent, Fill, IndexMap, Space};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, LibOp, Scalar, Statement, StatementKind, Var};
use surject_notation::source::{Accumulator, Slot};
use surject_projection::{
    Access, Index, Piece, ProjectionError, Projections, injective, lacking, surjective,
};

/// How an accumulator of the notation is carried out.
enum Joining {
    /// By an accumulation; `with_previous` joins its result with what the target holds.
    Accumulate { op: AccOp, with_previous: BinaryOp, neutral: f64 },
    /// Truth values are accumulated: any or all.
    Truth { op: AccOp },
    /// Position by position, each written at most once.
    Once { primitive: &'static str, neutral: f64 },
    /// The value replaces what the target holds, each position written at most once.
    Write,
}

fn joining(accumulator: Accumulator) -> Joining {
    use Accumulator as A;
    let accumulate = |op, with_previous, neutral| Joining::Accumulate { op, with_previous, neutral };
    match accumulator {
        A::Set => Joining::Write,
        A::Add => accumulate(AccOp::Add, BinaryOp::Add, 0.0),
        A::Sub => accumulate(AccOp::Add, BinaryOp::Sub, 0.0),
        A::Mul => accumulate(AccOp::Mul, BinaryOp::Mul, 1.0),
        A::Div => accumulate(AccOp::Mul, BinaryOp::Div, 1.0),
        A::Max => accumulate(AccOp::Max, BinaryOp::Max, f64::NEG_INFINITY),
        A::Min => accumulate(AccOp::Min, BinaryOp::Min, f64::INFINITY),
        A::Or => Joining::Truth { op: AccOp::Or },
        A::And => Joining::Truth { op: AccOp::And },
        A::Pow => Joining::Once { primitive: "pow", neutral: 1.0 },
        A::Mod => Joining::Once { primitive: "mod", neutral: 0.0 },
        A::ReluGate => Joining::Once { primitive: "relu_gate", neutral: 1.0 },
        A::Satur01Gate => Joining::Once { primitive: "satur01_gate", neutral: 0.5 },
    }
}

impl Builder<'_> {
    /// Carries out one assignment of a step.
    pub(super) fn rule(&mut self, step: StepId, rule: &Rule) -> Result<(), TensorError> {
        let projections = self.data.projections(step)?;
        let (target, slot) = self.data.resolve(step, rule.target)?;
        self.fetch_cells(step, &rule.value)?;
        if words::is_word_rule(rule) {
            return self.word_rule(step, rule, target, slot, &projections);
        }
        for cell in rule.value.cells() {
            let node = self.data.resolve(step, cell)?.0;
            self.refuse_words(node)?;
        }
        let pieces = self.pieces(step, &projections).map_err(|e| {
            let step = &self.data.steps[step.0 as usize];
            self.data.explained_step(TensorError::from(e), step)
        })?;
        let assignment = Assignment {
            step,
            rule,
            space: self.local_space(target, step, slot, &projections)?,
            joining: joining(rule.accumulator),
            // What the decisions on the map of the target ask for: pieces that write there.
            written: pieces
                .iter()
                .filter_map(|p| Some(Piece { result: access(p, slot)?.clone(), ..p.clone() }))
                .collect(),
            projections,
            pieces,
            slot,
        };
        assignment.run(self, target)
    }

    /// The pieces of a step. Assignments that take each element from one operand need one of them in each piece, all
    /// others need all.
    pub(super) fn pieces(
        &self,
        step: StepId,
        projections: &Projections,
    ) -> Result<Vec<Piece>, ProjectionError> {
        let operands = |rule: &Rule| {
            let cells = rule.value.cells().into_iter();
            cells.filter(|c| matches!(c, Cell::Value(Slot::Rhs(_)))).collect::<HashSet<_>>().len()
        };
        let operator = &self.data.steps[step.0 as usize].operator;
        let block = operator.arity.is_none_or(|n| n > 1) && operator.forward.iter().all(|r| operands(r) == 1);
        if block { projections.pieces() } else { projections.joint_pieces() }
    }

    /// Makes what the value reads, as far as it has no version yet.
    fn fetch_cells(&mut self, step: StepId, value: &Term) -> Result<(), TensorError> {
        for cell in value.cells() {
            let (node, _) = self.data.resolve(step, cell)?;
            if !self.is_number(node) && !self.current.contains_key(&node) {
                self.value(node)?;
            }
        }
        Ok(())
    }

    /// The space of a tensor as the index maps of a step see it: without the axis of a slice.
    fn local_space(
        &self,
        node: NodeId,
        step: StepId,
        slot: Slot,
        projections: &Projections,
    ) -> Result<Space, TensorError> {
        let space = self.space(node)?;
        let axes = external_axes(projections, slot);
        if axes.is_empty() {
            return Ok(space);
        }
        let kept: Vec<usize> = (0..space.rank()).filter(|a| !axes.contains(a)).collect();
        if self.data.steps[step.0 as usize].index.is_none() {
            return Err(self.wrong(
                step,
                TensorErrorKind::Unsupported,
                "nothing gives the position of the slice".to_string(),
                "slice with `@|` and a static index",
            ));
        }
        Ok(space.select(&kept))
    }

    /// The newest version of a tensor as the index maps of a step see it.
    pub(super) fn seen(
        &mut self,
        node: NodeId,
        step: StepId,
        slot: Slot,
        projections: &Projections,
    ) -> Result<Var, TensorError> {
        let then = if self.backward { self.read.get(&(step, node)).copied() } else { None };
        let var = then.unwrap_or_else(|| self.current[&node]);
        let axes = external_axes(projections, slot);
        match axes.first() {
            None => Ok(var),
            Some(axis) => self.sliced(var, step, *axis),
        }
    }

    /// The start indices of a slice: the position along its axis, zero elsewhere.
    fn starts(&mut self, step: StepId, rank: usize, axis: usize) -> Result<Vec<Var>, TensorError> {
        let index = self.data.steps[step.0 as usize].index;
        let position = match index {
            Some(index) => self.value(index)?,
            None => return Err(impossible("a slice without a position".to_string())),
        };
        let zero = self.function.fields.constant(&Space::scalar(), Scalar::zero(DType::I32));
        let zero = self.plain_store("zero", zero);
        Ok((0..rank).map(|a| if a == axis { position } else { zero }).collect())
    }

    fn sliced(&mut self, var: Var, step: StepId, axis: usize) -> Result<Var, TensorError> {
        let ty = self.function.ty(var).clone();
        let cut = cut_at(&ty.space, axis);
        let rank = cut.rank();
        let starts = self.starts(step, rank, axis)?;
        let slice = self.slice_at(var, &cut, starts)?;
        let kept: Vec<usize> = (0..rank).filter(|a| *a != axis).collect();
        let map = insert_axis(&cut.select(&kept), &cut, axis)?;
        let tensor = self.function.tensor(slice);
        let field = self.function.fields.read(map, tensor).map_err(internal)?;
        Ok(self.plain_store("slice", field))
    }

    /// Puts a tensor back at the place where its version before was sliced.
    pub(super) fn put_back(
        &mut self,
        node: NodeId,
        step: StepId,
        axis: usize,
        part: FieldId,
    ) -> Result<(), TensorError> {
        let whole = match self.current.get(&node) {
            Some(var) => *var,
            None => self.filled(node, 0.0)?,
        };
        let ty = self.function.ty(whole).clone();
        let cut = cut_at(&ty.space, axis);
        let rank = cut.rank();
        let kept: Vec<usize> = (0..rank).filter(|a| *a != axis).collect();
        let map = IndexMap::projection(&cut, &kept);
        let update = self.function.fields.read(map, part).map_err(internal)?;
        let update = self.plain_store("update", update);
        let mut args = vec![whole, update];
        args.extend(self.starts(step, rank, axis)?);
        let result = self.function.var("updated", ty);
        self.call(LibOp::DynamicUpdateSlice, args, result);
        self.current.insert(node, result);
        Ok(())
    }

    pub(super) fn call(&mut self, op: LibOp, args: Vec<Var>, target: Var) {
        let kind = StatementKind::Call { targets: vec![target], op, args, regions: Vec::new() };
        self.function.body.statements.push(Statement { kind, origin: None });
    }

    pub(super) fn plain_store(&mut self, name: &str, field: FieldId) -> Var {
        let var = self.function.var_for(name, field);
        self.function.body.statements.push(Statement::new(StatementKind::Store { target: var, field }));
        var
    }
}

/// The map that reads a tensor with an axis of size one as if the axis were not there.
fn insert_axis(from: &Space, to: &Space, axis: usize) -> Result<IndexMap, TensorError> {
    let rank = from.rank();
    let mut components: Vec<Affine> = (0..rank).map(|a| Affine::axis(rank, a)).collect();
    components.insert(axis, Affine::fixed(rank, 0));
    IndexMap::total(from.clone(), to.clone(), components).map_err(|e| impossible(e.to_string()))
}

/// The sizes of the slice at one position of an axis.
fn cut_at(space: &Space, axis: usize) -> Space {
    let sizes = space.extents().iter().enumerate();
    Space::new(sizes.map(|(a, n)| if a == axis { Extent::Const(1) } else { n.clone() }))
}

/// The axes of a slot whose position is given from outside.
fn external_axes(projections: &Projections, slot: Slot) -> Vec<usize> {
    let indices = match slot {
        Slot::Lhs => Some(&projections.result),
        Slot::Rhs(k) => projections.operands.get(usize::from(k).wrapping_sub(1)),
    };
    let axes = indices.into_iter().flatten().enumerate();
    axes.filter(|(_, index)| matches!(index, Index::External)).map(|(axis, _)| axis).collect()
}

pub(super) fn access(piece: &Piece, slot: Slot) -> Option<&Access> {
    match slot {
        Slot::Lhs => Some(&piece.result),
        Slot::Rhs(k) => piece.operands.get(usize::from(k).checked_sub(1)?)?.as_ref(),
    }
}

/// One assignment while it is carried out.
struct Assignment<'r> {
    step: StepId,
    rule: &'r Rule,
    projections: Arc<Projections>,
    pieces: Vec<Piece>,
    /// The same pieces with the access of the target as their result.
    written: Vec<Piece>,
    slot: Slot,
    /// The space of the target, as the index maps see it.
    space: Space,
    joining: Joining,
}

/// What the pieces of an assignment write.
struct Written {
    /// The accumulated values.
    value: FieldId,
    /// Where anything is written; `None`: everywhere.
    mask: Option<FieldId>,
}

impl Assignment<'_> {
    fn run(&self, b: &mut Builder<'_>, target: NodeId) -> Result<(), TensorError> {
        let written = self.pieces(b)?;
        let previous = self.previous(b, target)?;
        let field = self.joined(b, written, previous)?;
        let Some(field) = field else { return Ok(()) };
        match external_axes(&self.projections, self.slot).first() {
            Some(axis) => b.put_back(target, self.step, *axis, field),
            None => {
                let origin = &b.data.steps[self.step.0 as usize].origin;
                let place = origin.place.as_ref().map(|p| Arc::from(p.to_string()));
                b.store(target, field, place);
                Ok(())
            }
        }
    }

    /// What the target holds, where it counts.
    fn previous(&self, b: &mut Builder<'_>, target: NodeId) -> Result<Option<FieldId>, TensorError> {
        let total = surjective(&self.written, self.space.extents()).is_yes();
        let needed = match self.joining {
            Joining::Write => !self.rule.reset && !total,
            _ => !self.rule.reset,
        };
        if !needed {
            return Ok(None);
        }
        if !b.current.contains_key(&target) {
            match b.data.nodes[target.0 as usize].kind {
                // A gradient starts where its first contribution is; a result by its first assignment.
                NodeKind::Gradient(_) | NodeKind::Result(_) | NodeKind::Local(_) => return Ok(None),
                _ => {
                    b.value(target)?;
                }
            }
        }
        let var = b.seen(target, self.step, self.slot, &self.projections)?;
        Ok(Some(b.function.tensor(var)))
    }

    /// The value that positions have which no point writes.
    fn neutral(&self) -> f64 {
        match self.joining {
            Joining::Accumulate { neutral, .. } | Joining::Once { neutral, .. } => neutral,
            Joining::Truth { op } => f64::from(u8::from(op == AccOp::And)),
            Joining::Write => 0.0,
        }
    }

    /// Joins what is written with what the target holds; nothing where neither is there.
    fn joined(
        &self,
        b: &mut Builder<'_>,
        written: Option<Written>,
        previous: Option<FieldId>,
    ) -> Result<Option<FieldId>, TensorError> {
        let mut scalars =
            Scalars { fields: &mut b.function.fields, space: self.space.clone(), dtype: b.dtype };
        let neutral = scalars.number(self.neutral());
        let Some(written) = written else {
            return Ok(self.rule.reset.then_some(neutral));
        };
        let start = previous.unwrap_or(neutral);
        let value = written.value;
        let field = match &self.joining {
            Joining::Accumulate { with_previous, .. } => match (previous, with_previous) {
                (None, BinaryOp::Sub | BinaryOp::Div) => {
                    scalars.fields.binary(*with_previous, start, value).map_err(internal)?
                }
                // The accumulation starts from the neutral element by itself.
                (None, _) => value,
                (Some(previous), _) => {
                    scalars.fields.binary(*with_previous, previous, value).map_err(internal)?
                }
            },
            Joining::Truth { op } => match previous {
                None => value,
                Some(previous) => {
                    let name = if *op == AccOp::Or { "or" } else { "and" };
                    scalars.apply(name, &[previous, value]).map_err(internal)?.unwrap_or(value)
                }
            },
            Joining::Write => match written.mask {
                None => value,
                Some(mask) => scalars.fields.select(mask, value, start).map_err(internal)?,
            },
            Joining::Once { primitive, .. } => {
                let joined = scalars.apply(primitive, &[start, value]).map_err(internal)?.unwrap_or(value);
                match written.mask {
                    None => joined,
                    Some(mask) => scalars.fields.select(mask, joined, start).map_err(internal)?,
                }
            }
        };
        Ok(Some(field))
    }

    /// What all pieces write together.
    fn pieces(&self, b: &mut Builder<'_>) -> Result<Option<Written>, TensorError> {
        let once = matches!(self.joining, Joining::Write | Joining::Once { .. });
        if once {
            self.check_once(b)?;
        }
        let mut all: Option<Written> = None;
        for piece in &self.pieces {
            let Some(to) = access(piece, self.slot).cloned() else { continue };
            let Some(value) = self.value(b, piece)? else { continue };
            let op = match self.joining {
                Joining::Accumulate { op, .. } => op,
                Joining::Truth { op } => op,
                // Every value as it is, where a sum would lose the sign of a zero. What nothing is written to is masked.
                Joining::Write | Joining::Once { .. } if b.dtype.is_complex() => AccOp::Add,
                Joining::Write | Joining::Once { .. } => AccOp::Max,
            };
            let value = self.pushed(b, &to, value, op)?;
            let mask = if once { self.mask(b, piece, &to)? } else { None };
            all = Some(match all {
                None => Written { value, mask },
                Some(before) => {
                    let join = op.binary().unwrap_or(BinaryOp::Add);
                    let fields = &mut b.function.fields;
                    let value = fields.binary(join, before.value, value).map_err(internal)?;
                    let mask = match (before.mask, mask) {
                        (Some(x), Some(y)) => Some(fields.binary(BinaryOp::Or, x, y).map_err(internal)?),
                        _ => None,
                    };
                    Written { value, mask }
                }
            });
        }
        match (all, &self.joining) {
            (Some(all), Joining::Truth { .. }) => {
                let mut s =
                    Scalars { fields: &mut b.function.fields, space: self.space.clone(), dtype: b.dtype };
                let (one, zero) = (s.number(1.0), s.number(0.0));
                let value = s.fields.select(all.value, one, zero).map_err(internal)?;
                Ok(Some(Written { value, mask: None }))
            }
            (all, _) => Ok(all),
        }
    }

    /// Where values would meet, the last one written would stay; what is last is not defined.
    fn check_once(&self, b: &Builder<'_>) -> Result<(), TensorError> {
        let verdict = injective(&self.written);
        if verdict.is_yes() {
            return Ok(());
        }
        let sign = self.rule.accumulator.sign();
        if verdict.is_unknown() {
            let missing = lacking(&self.written, None);
            let facts: Vec<String> = missing.iter().map(|fact| fact.to_string()).collect();
            let needs = match facts.is_empty() {
                true => String::new(),
                false => format!(": that needs `{}`", facts.join(", ")),
            };
            return Err(b.wrong(
                self.step,
                TensorErrorKind::Accumulation,
                format!("`=:{sign}` may write some position more than once{needs}"),
                &match facts.is_empty() {
                    true => "accumulate with `=:+` or `=:@^`".to_string(),
                    false => {
                        format!("declare `where {};`, or accumulate with `=:+` or `=:@^`", facts.join(", "))
                    }
                },
            ));
        }
        Err(b.wrong(
            self.step,
            TensorErrorKind::Accumulation,
            format!("`=:{sign}` writes some position more than once, and nothing says which value stays"),
            "accumulate with `=:+` or `=:@^`, or write to a tensor that has all the axes",
        ))
    }

    /// Accumulates values along the index map of the target.
    fn pushed(
        &self,
        b: &mut Builder<'_>,
        to: &Access,
        value: FieldId,
        op: AccOp,
    ) -> Result<FieldId, TensorError> {
        let (map, back) = to.push();
        let fields = &mut b.function.fields;
        let pushed = fields.acc(op, map, value).map_err(internal)?;
        let part = fields.read(back, pushed).map_err(internal)?;
        b.in_window(part, to, op)
    }

    /// Where a piece writes; `None` if it writes everywhere.
    fn mask(&self, b: &mut Builder<'_>, piece: &Piece, to: &Access) -> Result<Option<FieldId>, TensorError> {
        if to.window().is_none() && to.is_total() && to.push().0.surjective_given(to.facts()).is_yes() {
            return Ok(None);
        }
        let truth = b.function.fields.constant(&piece.space, Scalar::bool(true));
        Ok(Some(self.pushed(b, to, truth, AccOp::Or)?))
    }

    /// The value at the points of a piece; nothing if the piece does not reach all that is read.
    fn value(&self, b: &mut Builder<'_>, piece: &Piece) -> Result<Option<FieldId>, TensorError> {
        for cell in self.rule.value.cells() {
            let (node, slot) = b.data.resolve(self.step, cell)?;
            if !b.is_number(node) && access(piece, slot).is_none() {
                return Ok(None);
            }
        }
        // Read with this fill, a tensor that is left through its edge contributes nothing.
        let harmless = match (&self.joining, &self.rule.value) {
            (Joining::Accumulate { op: AccOp::Add, .. }, term) => is_product(term).then_some(0.0),
            (Joining::Accumulate { neutral, .. }, Term::Cell(_)) => Some(*neutral),
            _ => None,
        };
        let value = self.term(b, piece, &self.rule.value, harmless.unwrap_or(0.0))?;
        let value = match self.joining {
            Joining::Truth { .. } => {
                let zero = b.function.fields.constant(&piece.space, Scalar::from_f64(b.dtype, 0.0));
                b.function.fields.binary(BinaryOp::Ne, value, zero).map_err(internal)?
            }
            _ => value,
        };
        if harmless.is_some() {
            return Ok(Some(value));
        }
        let Some(inside) = self.inside(b, piece)? else { return Ok(Some(value)) };
        let dtype = b.function.fields[value].dtype;
        let neutral = match &self.joining {
            Joining::Accumulate { op, .. } | Joining::Truth { op } => op.neutral(dtype),
            Joining::Write | Joining::Once { .. } => Scalar::zero(dtype),
        };
        let neutral = b.function.fields.constant(&piece.space, neutral);
        Ok(Some(b.function.fields.select(inside, value, neutral).map_err(internal)?))
    }

    /// Where all that is read lies inside its tensor; `None` if that is everywhere.
    fn inside(&self, b: &mut Builder<'_>, piece: &Piece) -> Result<Option<FieldId>, TensorError> {
        let mut inside = None;
        let mut seen = Vec::new();
        for cell in self.rule.value.cells() {
            let (_, slot) = b.data.resolve(self.step, cell)?;
            let Some(access) = access(piece, slot).filter(|a| !a.is_total() && !seen.contains(&slot)) else {
                continue;
            };
            seen.push(slot);
            let map = access.read_map(Fill(Scalar::bool(false).bits()));
            let fields = &mut b.function.fields;
            let truth = fields.constant(map.codomain(), Scalar::bool(true));
            let here = fields.read(map, truth).map_err(internal)?;
            inside = Some(match inside {
                None => here,
                Some(before) => fields.binary(BinaryOp::And, before, here).map_err(internal)?,
            });
        }
        Ok(inside)
    }

    fn term(
        &self,
        b: &mut Builder<'_>,
        piece: &Piece,
        term: &Term,
        fill: f64,
    ) -> Result<FieldId, TensorError> {
        match term {
            Term::Number(x) => Ok(b.function.fields.constant(&piece.space, Scalar::from_f64(b.dtype, *x))),
            Term::Cell(cell) => self.cell(b, piece, *cell, fill),
            // The notation bounds the depth of a term.
            Term::Apply(primitive, terms) => {
                let fields =
                    terms.iter().map(|t| self.term(b, piece, t, fill)).collect::<Result<Vec<_>, _>>()?;
                let dtype = b.dtype;
                let mut scalars =
                    Scalars { fields: &mut b.function.fields, space: piece.space.clone(), dtype };
                scalars.apply(primitive.name, &fields).map_err(internal)?.ok_or_else(|| {
                    b.wrong(
                        self.step,
                        TensorErrorKind::Unsupported,
                        format!("`{}` has no meaning on {dtype} tensors", primitive.name),
                        "draw random numbers with `uniform()` and `uniform_at(step)`",
                    )
                })
            }
        }
    }

    fn cell(
        &self,
        b: &mut Builder<'_>,
        piece: &Piece,
        cell: Cell,
        fill: f64,
    ) -> Result<FieldId, TensorError> {
        let (node, slot) = b.data.resolve(self.step, cell)?;
        if b.is_number(node) {
            let value = b.number_of(node)?.unwrap_or_default();
            return Ok(b.function.fields.constant(&piece.space, Scalar::from_f64(b.dtype, value)));
        }
        let Some(access) = access(piece, slot) else {
            return Err(impossible("a piece does not reach what it reads".to_string()));
        };
        let var = b.seen(node, self.step, slot, &self.projections)?;
        let var = b.window_of(var, access)?;
        let tensor = b.function.tensor(var);
        let dtype = b.function.fields[tensor].dtype;
        let fill = if dtype.is_float() { Scalar::from_f64(dtype, fill) } else { Scalar::zero(dtype) };
        let field = b.function.fields.read(access.read_map(Fill(fill.bits())), tensor).map_err(internal)?;
        Ok(b.function.fields.convert(b.dtype, field))
    }
}

/// Whether a term is a product, so that it is zero where any tensor in it is.
fn is_product(term: &Term) -> bool {
    match term {
        Term::Cell(_) => true,
        Term::Number(x) => x.is_finite(),
        Term::Apply(p, terms) => matches!(p.name, "mul" | "mul3" | "neg") && terms.iter().all(is_product),
    }
}
