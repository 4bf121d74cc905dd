//! Library calls that are better said as assignments: gathers and scatters, and sorts, windows and reductions of one
//! element.
//!
//! A gather commutes with what is computed point by point: of a few elements of a tensor that nothing else needs, only
//! these few are computed, from what is gathered. A scatter into one value everywhere, at most one update an element,
//! is an assignment: an element is the update where its index is met, else the value. Both are exact.

use crate::live::{nested, tensors};
use crate::placed::{self, Known};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, Function, GatherDims, LibOp, Program, Region, Scalar,
    ScatterDims, Statement, StatementKind, TensorType, Var,
};

/// A gather of more than one element of so many is left as it is.
const FEW: u64 = 4;
/// The most tensors that are gathered from in place of one.
const LEAVES: usize = 3;

/// The program with such gathers and scatters as assignments; `None` where there are none.
pub fn assign(program: &Program) -> Option<Program> {
    let mut changed = false;
    let functions = program
        .functions
        .iter()
        .map(|function| {
            let mut facts = Facts::default();
            facts.block(function, &function.body);
            let mut rewriter = Rewriter {
                f: function.clone(),
                facts,
                stored: HashMap::new(),
                known: Known::default(),
                changed: false,
            };
            let body = rewriter.block(&function.body);
            changed |= rewriter.changed;
            rewriter.f.body = body;
            rewriter.f
        })
        .collect();
    changed.then(|| Program { name: program.name.clone(), functions })
}

/// Which variables of a function are one value everywhere, and how often variables are used.
#[derive(Default)]
struct Facts {
    splats: HashMap<Var, Scalar>,
    uses: HashMap<Var, usize>,
}

impl Facts {
    fn block(&mut self, f: &Function, block: &Block) {
        let used = |uses: &mut HashMap<Var, usize>, vars: &[Var]| {
            vars.iter().for_each(|v| *uses.entry(*v).or_default() += 1);
        };
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    if let FieldKind::Const(value) = f.fields[*field].kind {
                        self.splats.insert(*target, value);
                    }
                    used(&mut self.uses, &tensors(f, *field));
                }
                StatementKind::Constant { .. } => {}
                StatementKind::Call { args, .. } => used(&mut self.uses, args),
                StatementKind::While { inits, .. } => used(&mut self.uses, inits),
                StatementKind::If { index, .. } => used(&mut self.uses, &[*index]),
            }
            statement.regions().iter().for_each(|r| self.block(f, &r.body));
        }
        used(&mut self.uses, &block.results);
    }
}

struct Rewriter {
    f: Function,
    facts: Facts,
    /// The stores of the block at hand: what is computed outside of a loop is not computed again inside.
    stored: HashMap<Var, FieldId>,
    known: Known,
    changed: bool,
}

impl Rewriter {
    fn block(&mut self, block: &Block) -> Block {
        let around = std::mem::take(&mut self.stored);
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            let mut statement = statement.clone();
            if let StatementKind::Store { target, field } = statement.kind {
                self.stored.insert(target, field);
            }
            self.known.add(&self.f, &statement);
            for inner in nested(&mut statement) {
                *inner = self.block(inner);
            }
            match self.assigned(&statement) {
                Some(instead) => {
                    self.changed = true;
                    statements.extend(instead);
                }
                None => statements.push(statement),
            }
        }
        self.stored = around;
        Block { statements, results: block.results.clone() }
    }

    /// What stands in the place of a gather or a scatter.
    fn assigned(&mut self, statement: &Statement) -> Option<Vec<Statement>> {
        let StatementKind::Call { targets, op, args, regions } = &statement.kind else { return None };
        let origin = statement.origin.clone();
        if let LibOp::Sort { axis, .. } = op
            && self.f.ty(args[0]).space.extent(*axis).as_const() == Some(1)
        {
            // Lines of one element are sorted.
            let stores = targets.iter().zip(args).map(|(&target, &arg)| {
                let kind = StatementKind::Store { target, field: self.f.tensor(arg) };
                Statement { kind, origin: origin.clone() }
            });
            return Some(stores.collect());
        }
        if let (LibOp::Reduce { axes }, [join]) = (op, &regions[..]) {
            let stores = self.reduction(axes, args, join)?.into_iter().zip(targets);
            let stores = stores.map(|(field, &target)| StatementKind::Store { target, field });
            return Some(stores.map(|kind| Statement { kind, origin: origin.clone() }).collect());
        }
        let &[target] = &targets[..] else { return None };
        let splat = |var: Var| self.facts.splats.get(&var).copied();
        if let Some(field) = placed::assigned(&mut self.f, &self.known, (target, op, args, regions), splat) {
            return Some(vec![Statement { kind: StatementKind::Store { target, field }, origin }]);
        }
        match (op, &args[..], &regions[..]) {
            (LibOp::Gather { dims, slice_sizes, .. }, &[operand, indices], []) => {
                let gather = Gather { op: op.clone(), indices, origin };
                self.gather(target, operand, gather, &source(&self.f, target, operand, dims, slice_sizes)?)
            }
            (LibOp::Scatter { dims, .. }, &[input, indices, updates], [join]) => {
                let field = self.scatter([input, indices, updates], dims, join)?;
                Some(vec![Statement { kind: StatementKind::Store { target, field }, origin }])
            }
            (LibOp::ReduceWindow { window }, &[operand, init], [join]) if window.is_point() => {
                let space = self.f.ty(operand).space.clone();
                let everywhere = IndexMap::total(space, Space::scalar(), Vec::new()).ok()?;
                let init = self.f.tensor(init);
                let init = self.f.fields.read(everywhere, init).ok()?;
                let element = self.f.tensor(operand);
                let field = joined(&mut self.f, Some(join), init, element)?;
                Some(vec![Statement { kind: StatementKind::Store { target, field }, origin }])
            }
            _ => None,
        }
    }

    /// A reduction along axes of one element: each element joined to the initial values.
    fn reduction(&mut self, axes: &[usize], args: &[Var], join: &Region) -> Option<Vec<FieldId>> {
        let space = self.f.ty(*args.first()?).space.clone();
        if axes.iter().any(|&axis| space.extent(axis).as_const() != Some(1)) {
            return None;
        }
        let kept: Vec<usize> = (0..space.rank()).filter(|axis| !axes.contains(axis)).collect();
        let out = Space::new(kept.iter().map(|&axis| space.extent(axis).clone()));
        let place = |axis| match kept.iter().position(|&k| k == axis) {
            Some(k) => Affine::axis(kept.len(), k),
            None => Affine::fixed(kept.len(), 0),
        };
        let elements =
            IndexMap::total(out.clone(), space.clone(), (0..space.rank()).map(place).collect()).ok()?;
        let everywhere = IndexMap::total(out, Space::scalar(), Vec::new()).ok()?;
        let (operands, inits) = args.split_at(args.len() / 2);
        let mut values = Vec::new();
        for (vars, map) in [(inits, &everywhere), (operands, &elements)] {
            for &var in vars {
                let tensor = self.f.tensor(var);
                values.push(self.f.fields.read(map.clone(), tensor).ok()?);
            }
        }
        joined_all(&mut self.f, join, &values)
    }

    /// The gather of a tensor that is computed point by point, as what is computed of other gathers.
    fn gather(
        &mut self,
        target: Var,
        operand: Var,
        gather: Gather,
        source: &Source,
    ) -> Option<Vec<Statement>> {
        let (few, all) = (self.f.ty(target).space.points()?, self.f.ty(operand).space.points()?);
        let single = self.facts.uses.get(&operand) == Some(&1);
        let root = *self.stored.get(&operand)?;
        if !single || few.checked_mul(FEW)? > all || !self.f.fields[root].kind.is_pointwise() {
            return None;
        }
        let Cut { nodes, leaves } = self.cut(root, source)?;
        if leaves.len() > LEAVES {
            return None;
        }
        let mut statements = Vec::new();
        let mut gathered: HashMap<Var, Var> = HashMap::new();
        for leaf in leaves {
            let (name, dtype) = (self.f.name_of(leaf).to_string(), self.f.ty(leaf).dtype);
            let var = self.f.var(&name, TensorType::new(dtype, source.out().clone()));
            let kind = StatementKind::Call {
                targets: vec![var],
                op: gather.op.clone(),
                args: vec![leaf, gather.indices],
                regions: Vec::new(),
            };
            statements.push(Statement { kind, origin: gather.origin.clone() });
            gathered.insert(leaf, var);
        }
        let field = self.at(&nodes, source, &gathered)?;
        statements.push(Statement { kind: StatementKind::Store { target, field }, origin: gather.origin });
        Some(statements)
    }

    /// What a tensor is stored as, where that says each of its points by itself.
    fn below(&self, id: FieldId) -> Option<FieldId> {
        let FieldKind::Tensor(var) = self.f.fields[id].kind else { return None };
        let root = *self.stored.get(&var)?;
        (!matches!(self.f.fields[root].kind, FieldKind::Acc { .. })).then_some(root)
    }

    /// The nodes that the value at a point is made of, through stores, children first; `None` where they are many.
    fn spine(&self, root: FieldId) -> Option<Vec<FieldId>> {
        const MOST: usize = 400;
        let (mut order, mut seen) = (Vec::new(), HashSet::new());
        let mut stack = vec![(root, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
            } else if seen.insert(id) {
                stack.push((id, true));
                match self.below(id) {
                    Some(under) => stack.push((under, false)),
                    None if self.f.fields[id].kind.is_pointwise() => {
                        stack.extend(self.f.fields[id].kind.children().map(|c| (c, false)));
                    }
                    None => {}
                }
            }
            if seen.len() > MOST {
                return None;
            }
        }
        Some(order)
    }

    /// What is computed at the gathered points. `None` where the root cannot be said at them.
    fn cut(&self, root: FieldId, source: &Source) -> Option<Cut> {
        let order = self.spine(root)?;
        let mut sayable: HashSet<FieldId> = HashSet::new();
        let mut through: HashMap<FieldId, FieldId> = HashMap::new();
        for &id in &order {
            let said = match (&self.f.fields[id].kind, self.below(id)) {
                (_, Some(under)) if sayable.contains(&under) => {
                    through.insert(id, under);
                    true
                }
                // What only moves is not stored for the sake of a gather.
                (_, Some(under)) => self.f.fields[under].kind.is_pointwise(),
                (FieldKind::Tensor(_) | FieldKind::Const(_), None) => true,
                (FieldKind::Read { map, .. }, None) => source.fixes(map),
                (FieldKind::Index { axis }, None) => matches!(source.fixed.get(*axis), Some(Some(_))),
                (FieldKind::Acc { .. }, None) => false,
                (kind, None) => kind.children().all(|c| sayable.contains(&c)),
            };
            if said {
                sayable.insert(id);
            }
        }
        if !sayable.contains(&root) {
            return None;
        }
        let (mut needed, mut leaves, mut kept) = (HashSet::from([root]), Vec::new(), Vec::new());
        for &id in order.iter().rev() {
            if !needed.contains(&id) {
                continue;
            }
            let under = through.get(&id).copied();
            kept.push((id, under));
            match (&self.f.fields[id].kind, under) {
                (_, Some(under)) => _ = needed.insert(under),
                (FieldKind::Tensor(var), None) => leaves.push(*var),
                (kind, None) if kind.is_pointwise() => needed.extend(kind.children()),
                _ => {}
            }
        }
        kept.reverse();
        Some(Cut { nodes: kept, leaves })
    }

    /// The last of these nodes at the gathered points.
    fn at(
        &mut self,
        nodes: &[(FieldId, Option<FieldId>)],
        source: &Source,
        gathered: &HashMap<Var, Var>,
    ) -> Option<FieldId> {
        let mut new: HashMap<FieldId, FieldId> = HashMap::new();
        let mut last = None;
        for &(id, under) in nodes {
            let field = self.f.fields[id].clone();
            let fields = &mut self.f.fields;
            let built = match (&field.kind, under) {
                (_, Some(under)) => *new.get(&under)?,
                (FieldKind::Tensor(var), None) => {
                    let var = *gathered.get(var)?;
                    self.f.tensor(var)
                }
                (FieldKind::Read { map, of }, None) => {
                    fields.read(source.statics.then(map).ok()?, *of).ok()?
                }
                (FieldKind::Index { axis }, None) => match (*source.fixed.get(*axis)?)? {
                    Place::Axis(a) => fields.index(source.out(), a, field.dtype).ok()?,
                    Place::Zero => fields.constant(source.out(), Scalar::zero(field.dtype)),
                },
                (FieldKind::Const(value), None) => fields.constant(source.out(), *value),
                _ => fields.again(&field, |c| new.get(&c).copied().unwrap_or(c)).ok()?,
            };
            new.insert(id, built);
            last = Some(built);
        }
        last
    }

    /// A scatter as a field over its result.
    fn scatter(&mut self, args: [Var; 3], dims: &ScatterDims, join: &Region) -> Option<FieldId> {
        let [input, indices, updates] = args;
        let value = *self.facts.splats.get(&input)?;
        let space = self.f.ty(input).space.clone();
        let places = met(&self.f, args, dims)?;
        let dtype = self.f.ty(indices).dtype;
        let mut hit: Option<FieldId> = None;
        let start = self.f.tensor(indices);
        for (axis, map) in places.starts {
            // The index of the axis is a number of the type of the indices.
            let most = i128::from(space.extent(axis).as_const()?) - 1;
            if !dtype.holds(most) {
                return None;
            }
            let own = self.f.fields.index(&space, axis, dtype).ok()?;
            let wanted = self.f.fields.read(map, start).ok()?;
            let equal = self.f.fields.binary(BinaryOp::Eq, own, wanted).ok()?;
            hit = Some(match hit {
                Some(other) => self.f.fields.binary(BinaryOp::And, other, equal).ok()?,
                None => equal,
            });
        }
        let old = self.f.fields.constant(&space, value);
        let new = self.f.tensor(updates);
        let new = self.f.fields.read(places.update, new).ok()?;
        let joined = joined(&mut self.f, Some(join), old, new)?;
        match hit {
            Some(hit) => self.f.fields.select(hit, joined, old).ok(),
            None => Some(joined),
        }
    }
}

/// What a region of two scalars gives for two fields; the second where there is none.
pub(crate) fn joined(f: &mut Function, join: Option<&Region>, old: FieldId, new: FieldId) -> Option<FieldId> {
    let Some(join) = join else { return Some(new) };
    joined_all(f, join, &[old, new])?.pop()
}

/// What a region of scalars gives for fields over the same space.
fn joined_all(f: &mut Function, join: &Region, fields: &[FieldId]) -> Option<Vec<FieldId>> {
    if join.params.len() != fields.len() {
        return None;
    }
    let space = f.fields[*fields.first()?].space.clone();
    let mut values: HashMap<Var, FieldId> = join.params.iter().copied().zip(fields.iter().copied()).collect();
    for statement in &join.body.statements {
        let StatementKind::Store { target, field: root } = statement.kind else { return None };
        let mut made: HashMap<FieldId, FieldId> = HashMap::new();
        for id in f.fields.reachable(&[root]) {
            let field = f.fields[id].clone();
            let built = match &field.kind {
                FieldKind::Tensor(var) => *values.get(var)?,
                FieldKind::Const(value) => f.fields.constant(&space, *value),
                kind if kind.is_pointwise() => {
                    f.fields.again(&field, |c| made.get(&c).copied().unwrap_or(c)).ok()?
                }
                _ => return None,
            };
            made.insert(id, built);
        }
        values.insert(target, *made.get(&root)?);
    }
    join.body.results.iter().map(|result| values.get(result).copied()).collect()
}

/// What is computed at the points of a gather.
struct Cut {
    /// The nodes, children first, each with the store it looks through.
    nodes: Vec<(FieldId, Option<FieldId>)>,
    /// The tensors that are gathered from.
    leaves: Vec<Var>,
}

/// A gather, but for what it takes elements of.
struct Gather {
    op: LibOp,
    indices: Var,
    origin: Option<Arc<str>>,
}

/// Where an axis of an operand stands for sure.
#[derive(Clone, Copy)]
enum Place {
    /// At the index of this axis of the result.
    Axis(usize),
    /// At 0: it has one element.
    Zero,
}

/// Which axes of a gather's operand the indices do not move.
struct Source {
    /// Where each axis stands, where that is known.
    fixed: Vec<Option<Place>>,
    /// From the result to the operand; the axes that are not known stand at 0.
    statics: IndexMap,
}

impl Source {
    fn out(&self) -> &Space {
        self.statics.domain()
    }

    /// Does a map depend on known axes alone?
    fn fixes(&self, map: &IndexMap) -> bool {
        let known = |affine: &Affine| affine.used_axes().all(|a| matches!(self.fixed.get(a), Some(Some(_))));
        map.components().iter().all(known) && map.guards().iter().all(|g| known(&g.expr))
    }
}

fn affine(rank: usize, place: Option<Place>) -> Affine {
    match place {
        Some(Place::Axis(a)) => Affine::axis(rank, a),
        _ => Affine::fixed(rank, 0),
    }
}

/// Which axes of the operand of a gather the indices do not move (StableHLO specification, `gather`).
fn source(f: &Function, target: Var, operand: Var, dims: &GatherDims, slices: &[u64]) -> Option<Source> {
    let (out, from) = (f.ty(target).space.clone(), f.ty(operand).space.clone());
    let (rank, extents) = (out.rank(), from.sizes()?);
    if out.is_empty() || from.is_empty() {
        return None;
    }
    let batch: Vec<usize> = (0..rank).filter(|d| !dims.offset_dims.contains(d)).collect();
    let gone = |d: &usize| dims.collapsed_slice_dims.contains(d) || dims.operand_batching_dims.contains(d);
    let mut offsets = dims.offset_dims.iter();
    let mut fixed = Vec::new();
    for (axis, (&extent, &slice)) in extents.iter().zip(slices).enumerate() {
        let offset = if gone(&axis) { None } else { offsets.next().copied() };
        let batching = dims.operand_batching_dims.iter().position(|&d| d == axis);
        fixed.push(match batching {
            Some(k) => {
                let d = *dims.start_indices_batching_dims.get(k)?;
                Some(Place::Axis(*batch.get(d - usize::from(d >= dims.index_vector_dim))?))
            }
            None if extent == 1 => Some(Place::Zero),
            None if slice == extent as u64 => offset.map(Place::Axis),
            None => None,
        });
    }
    let components = fixed.iter().map(|&place| affine(rank, place)).collect();
    Some(Source { statics: IndexMap::total(out, from, components).ok()?, fixed })
}

/// Where a point of a scatter's result finds its update.
struct Met {
    /// From the result to the updates.
    update: IndexMap,
    /// The axes that an index must meet, and where it stands: maps from the result to the indices.
    starts: Vec<(usize, IndexMap)>,
}

/// Where each point of a scatter's result finds the one update that it can get; `None` where it can get several or
/// that is not known (StableHLO specification, `scatter`).
fn met(f: &Function, [input, indices, updates]: [Var; 3], dims: &ScatterDims) -> Option<Met> {
    let [space, at, from] = [input, indices, updates].map(|v| f.ty(v).space.clone());
    let (extents, windows) = (space.sizes()?, from.sizes()?);
    let dtype = f.ty(indices).dtype;
    if space.is_empty() || from.is_empty() || !(dtype.is_signed_int() || dtype == DType::U32) {
        return None;
    }
    let rank = space.rank();
    let batch: Vec<usize> = (0..from.rank()).filter(|d| !dims.update_window_dims.contains(d)).collect();
    // The axes of the updates, and those of the indices but for that of the index vectors, as axes of the result.
    let mut update: Vec<Option<Place>> = windows.iter().map(|&n| (n == 1).then_some(Place::Zero)).collect();
    let mut start: Vec<Option<Place>> =
        at.sizes()?.iter().map(|&n| (n == 1).then_some(Place::Zero)).collect();
    let mut window = dims.update_window_dims.iter();
    let mut moved: Vec<(usize, usize)> = Vec::new();
    for (axis, &extent) in extents.iter().enumerate() {
        let component = dims.scatter_dims_to_operand_dims.iter().position(|&d| d == axis);
        if let Some(k) = dims.input_batching_dims.iter().position(|&d| d == axis) {
            let d = *dims.scatter_indices_batching_dims.get(k)?;
            *start.get_mut(d)? = Some(Place::Axis(axis));
            *update.get_mut(*batch.get(d - usize::from(d >= dims.index_vector_dim))?)? =
                Some(Place::Axis(axis));
        } else if dims.inserted_window_dims.contains(&axis) {
            match component {
                Some(k) => moved.push((axis, k)),
                None if extent == 1 => {}
                None => return None,
            }
        } else {
            // A whole window that nothing moves.
            let &d = window.next()?;
            if component.is_some() || windows[d] != extent {
                return None;
            }
            update[d] = Some(Place::Axis(axis));
        }
    }
    let line = |places: &[Option<Place>]| -> Option<Vec<Affine>> {
        places.iter().map(|&place| place.map(|p| affine(rank, Some(p)))).collect()
    };
    let update = IndexMap::total(space.clone(), from, line(&update)?).ok()?;
    let mut starts = Vec::new();
    for (axis, k) in moved {
        if let Some(place) = start.get_mut(dims.index_vector_dim) {
            *place = Some(Place::Zero);
        }
        let mut components = line(&start)?;
        if let Some(component) = components.get_mut(dims.index_vector_dim) {
            *component = Affine::fixed(rank, k as i64);
        }
        starts.push((axis, IndexMap::total(space.clone(), at.clone(), components).ok()?));
    }
    Some(Met { update, starts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{interp, testing};

    /// The rewritten program, which gives the same bits.
    fn rewritten(text: &str, indices: (usize, &[i32])) -> Option<String> {
        let program = surject_ir::parse(text).unwrap();
        surject_ir::verify(&program).unwrap();
        let new = assign(&program)?;
        surject_ir::verify(&new).unwrap();
        let mut args = testing::random_args(program.main().unwrap(), 7);
        for (i, &v) in indices.1.iter().enumerate() {
            args[indices.0].set(i, Scalar::from_i128(DType::I32, v.into()));
        }
        let run = |p: &Program| interp::run(p, "main", &args).unwrap();
        assert_eq!(run(&program), run(&new));
        Some(surject_ir::print(&new))
    }

    const TAKE: &str = "call gather{offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0], \
        start_indices_batching_dims=[0], start_index_map=[1], index_vector_dim=2, slice_sizes=[1,1], \
        indices_are_sorted=false}";

    #[test]
    fn an_element_of_each_row_of_a_log_softmax() {
        let text = format!(
            "func main(x: f32[3,8], labels: i32[3,1,1]) -> (y) {{
  m : f32[3] =:max over i<3, j<8 at [i]: x[i,j]
  d : f32[3,8] =: over i<3, j<8: x[i,j] - m[i]
  e : f32[3,8] =: over i<3, j<8: exp(d[i,j])
  s : f32[3] =:+ over i<3, j<8 at [i]: e[i,j]
  l : f32[3,8] =: over i<3, j<8: d[i,j] - log(s[i])
  y : f32[3,1] = {TAKE}(l, labels)
}}
"
        );
        insta::assert_snapshot!(rewritten(&text, (1, &[7, 0, 3])).unwrap());
    }

    /// What cannot be said at the gathered points is gathered from; a tensor that others need, or that only moves
    /// others, stays.
    #[test]
    fn what_stays_stored() {
        let text = |l: &str, results: &str| {
            format!(
                "func main(x: f32[3,8], b: f32[8], labels: i32[3,1,1]) -> ({results}) {{
  t : f32[3,8] =: over i<3, j<8: x[i,j] + b[j]
  l : f32[3,8] =: over i<3, j<8: {l}
  y : f32[3,1] = {TAKE}(l, labels)
}}
"
            )
        };
        insta::assert_snapshot!(rewritten(&text("exp(t[i,j]) * 2f32", "y"), (2, &[9, -4, 3])).unwrap());
        assert!(rewritten(&text("exp(t[i,j]) * 2f32", "y, l"), (2, &[1, 2, 3])).is_none());
        assert!(rewritten(&text("exp(t[i,-j + 7])", "y"), (2, &[1, 2, 3])).is_none());
        assert!(rewritten(&text("t[i,-j + 7]", "y"), (2, &[1, 2, 3])).is_none());
    }

    #[test]
    fn lines_and_windows_of_one_element() {
        let text = "func main(x: f32[3,1], i: i32[3,1], start: f32[], first: i32[]) -> (a, b, w, m, k) {
  a : f32[3,1], b : i32[3,1] = call sort{axis=1, stable=true}(x, i) {
    region(p: f32[], q: f32[], r: i32[], s: i32[]) -> (less) {
      less : i1[] =: p < q
    }
  }
  w : f32[3,1] = call reduce_window{sizes=[1,1], strides=[1,1], base_dilations=[1,1], window_dilations=[2,1], \
padding=[[0,0],[0,0]]}(x, start) {
    region(t: f32[], u: f32[]) -> (v) {
      v : f32[] =: t - u * 2f32
    }
  }
  m : f32[3], k : i32[3] = call reduce{axes=[1]}(x, i, start, first) {
    region(c: f32[], d: i32[], e: f32[], f: i32[]) -> (g, h) {
      more : i1[] =: e > c
      g : f32[] =: select(more, e, c)
      h : i32[] =: select(more, f, d)
    }
  }
}
";
        insta::assert_snapshot!(rewritten(text, (1, &[1, 2, 3])).unwrap());
    }

    #[test]
    fn rows_of_a_computed_table() {
        let text = "func main(x: f32[9,4], w: f32[4], ids: i32[2,1]) -> (y) {
  l : f32[9,4] =: over i<9, j<4: tanh(x[i,j]) * w[j] + f32(index(j)i32)
  y : f32[2,4] = call gather{offset_dims=[1], collapsed_slice_dims=[0], operand_batching_dims=[], \
start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=1, slice_sizes=[1,4], \
indices_are_sorted=false}(l, ids)
}
";
        insta::assert_snapshot!(rewritten(text, (2, &[8, 2])).unwrap());
    }

    fn put(zero: &str, join: &str) -> String {
        format!(
            "func main(labels: i32[3,1,1], u: f32[3,1]) -> (y) {{
  z : f32[3,8] =: over i<3, j<8: {zero}
  y : f32[3,8] = call scatter{{update_window_dims=[], inserted_window_dims=[1], input_batching_dims=[0], \
scatter_indices_batching_dims=[0], scatter_dims_to_operand_dims=[1], index_vector_dim=2, \
indices_are_sorted=false, unique_indices=false}}(z, labels, u) {{
    region(a: f32[], b: f32[]) -> (c) {{
      c : f32[] =: {join}
    }}
  }}
}}
"
        )
    }

    #[test]
    fn one_update_a_row() {
        insta::assert_snapshot!(rewritten(&put("0f32", "a + b"), (0, &[7, -1, 8])).unwrap());
        assert!(rewritten(&put("1.5f32", "max(a, b) * 2f32"), (0, &[0, 3, 7])).is_some());
        assert!(rewritten(&put("f32(index(j)i32)", "a + b"), (0, &[0, 3, 7])).is_none());
    }

    /// Several updates may meet one element: it stays a scatter.
    #[test]
    fn updates_that_meet() {
        let text = "func main(ids: i32[5,1], u: f32[5,4]) -> (y) {
  z : f32[9,4] =: over i<9, j<4: 0f32
  y : f32[9,4] = call scatter{update_window_dims=[1], inserted_window_dims=[0], input_batching_dims=[], \
scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], index_vector_dim=1, \
indices_are_sorted=false, unique_indices=false}(z, ids, u) {
    region(a: f32[], b: f32[]) -> (c) {
      c : f32[] =: a + b
    }
  }
}
";
        assert!(rewritten(text, (0, &[0, 1, 1, 2, 8])).is_none());
        // A single one is no other.
        let one = text.replace("[5,", "[1,");
        insta::assert_snapshot!(rewritten(&one, (0, &[4])).unwrap());
    }
}
