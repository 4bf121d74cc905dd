//! What does not change along a sum, taken out of it: `+ x * g * r` with `r` the same for all terms is `(+ x * g) * r`.
//!
//! The law `factor` says so in the e-graph, where what is stored is decided. This pass comes after that and leaves it
//! as it is. A product that is needed as a whole elsewhere counts once in a plan, and yet a kernel computes it again
//! inside every loop: a sum does with fewer factors, and sums of one kernel that differ in what was taken out are one.
//! Where the sums of several assignments are one, it is stored.
//!
//! A factor is taken out where no finite sum can become infinite, NaN or zero for it ([`Range::leaves`]), and then only the
//! last one that terms are multiplied with: products in another order may overflow too. Under
//! [`Exactness::Overflows`](surject_rules::Exactness) (`any`) every factor is.
//!
//! Only sums are looked at of which some factor depends on every axis. The others are contractions: there a factor costs
//! least where it is, with the operand that has fewer elements.

use crate::algebra::{Axes, deps_through};
use crate::live::nested;
use std::collections::{BTreeMap, HashMap, HashSet};
use surject_index::{Affine, Component, IndexMap};
use surject_ir::range::{Range, Ranges, terms};
use surject_ir::{
    AccOp, BinaryOp, Block, DType, FieldId, FieldKind, Function, Scalar, Statement, StatementKind, TypeError,
    UnaryOp,
};

/// Products of more factors are left as they are.
const FACTORS: usize = 12;
/// A sum of so many terms for each of its values is worth a store where it is needed twice.
const TERMS: u64 = 16;

/// Takes factors out of the sums of a function; gives the number of sums that changed.
pub(crate) fn take_out(function: &mut Function, any: bool) -> Result<usize, TypeError> {
    let ranges = Ranges::of_function(function);
    let mut body = std::mem::take(&mut function.body);
    let mut sums = Sums::new(function, ranges, any);
    let done = sums.block(&mut body);
    let changed = sums.made.len();
    function.body = body;
    done.map(|()| changed)
}

/// Sums of a function, which become others.
pub(crate) struct Sums<'a> {
    pub(crate) f: &'a mut Function,
    /// What the values of fields may be.
    ranges: Ranges,
    /// May any factor leave a sum, whatever overflows?
    pub(crate) any: bool,
    /// The axes that fields depend on, as far as they are known.
    deps: Vec<Axes>,
    /// What fields became.
    new: HashMap<FieldId, FieldId>,
    /// Sums that have fewer factors than before.
    made: HashSet<FieldId>,
}

/// The factors of the terms of a sum; `true`: of their denominators.
#[derive(Default)]
pub(crate) struct Product {
    pub(crate) varying: Vec<(FieldId, bool)>,
    pub(crate) fixed: Vec<(FieldId, bool)>,
    pub(crate) negative: bool,
}

/// A field as a product.
pub(crate) enum Opened {
    Product(FieldId, FieldId),
    Quotient(FieldId, FieldId),
    Negative(FieldId),
    Factor,
}

impl<'a> Sums<'a> {
    pub(crate) fn new(f: &'a mut Function, ranges: Ranges, any: bool) -> Sums<'a> {
        Sums { f, ranges, any, deps: Vec::new(), new: HashMap::new(), made: HashSet::new() }
    }

    fn block(&mut self, block: &mut Block) -> Result<(), TypeError> {
        for statement in &mut block.statements {
            for inner in nested(statement) {
                self.block(inner)?;
            }
            if let StatementKind::Store { field, .. } = &mut statement.kind {
                *field = self.field(*field)?;
            }
        }
        self.share(block)
    }

    /// A field with other sums in it.
    fn field(&mut self, root: FieldId) -> Result<FieldId, TypeError> {
        for id in self.f.fields.reachable(&[root]) {
            if self.new.contains_key(&id) {
                continue;
            }
            let node = self.f.fields[id].clone();
            let same = self.f.fields.again(&node, |c| self.new.get(&c).copied().unwrap_or(c))?;
            let sum = self.sum(same)?.unwrap_or(same);
            self.new.insert(id, sum);
        }
        Ok(self.new.get(&root).copied().unwrap_or(root))
    }

    /// A sum without the factors that do not change along it; `None`: it is no sum, or has none.
    fn sum(&mut self, id: FieldId) -> Result<Option<FieldId>, TypeError> {
        let sum = &self.f.fields[id];
        let FieldKind::Acc { op: AccOp::Add, map, of } = &sum.kind else { return Ok(None) };
        let (map, of) = (map.clone(), *of);
        let Some(section) = section(&map) else { return Ok(None) };
        if !matches!(sum.dtype, DType::F32 | DType::F64) || !map.surjective().is_yes() {
            return Ok(None);
        }
        let Some(Product { mut varying, fixed, negative }) = self.product(of, &map.free_axes())? else {
            return Ok(None);
        };
        let whole = Axes::all(map.domain());
        let is_whole =
            |sums: &mut Self, f: &(FieldId, bool)| !f.1 && whole.without(sums.deps(f.0)).is_empty();
        if fixed.is_empty() || !varying.iter().any(|f| is_whole(self, f)) {
            return Ok(None);
        }
        if !self.any {
            return self.without_last(&map, &section, of);
        }
        // In one order, so that the same factors are the same product; denominators come last.
        varying.sort_by_key(|f| (f.1, f.0));
        let mut terms = varying[0].0;
        for &(factor, below) in &varying[1..] {
            terms = self.f.fields.binary(if below { BinaryOp::Div } else { BinaryOp::Mul }, terms, factor)?;
        }
        let sum = self.f.fields.acc(AccOp::Add, map, terms)?;
        self.made.insert(sum);
        let mut result = sum;
        for (factor, below) in fixed {
            let factor = self.read(&section, factor)?;
            result =
                self.f.fields.binary(if below { BinaryOp::Div } else { BinaryOp::Mul }, result, factor)?;
        }
        if negative {
            result = self.f.fields.unary(UnaryOp::Neg, result)?;
        }
        Ok(Some(result))
    }

    /// A sum without what its terms are multiplied with or divided by last, as long as that does not change along it and may
    /// leave it.
    fn without_last(
        &mut self,
        map: &IndexMap,
        section: &IndexMap,
        of: FieldId,
    ) -> Result<Option<FieldId>, TypeError> {
        let (along, count, dtype) = (map.free_axes(), terms(map), self.f.fields[of].dtype);
        let (mut inside, mut outside, mut negative) = (of, Vec::new(), false);
        // What was found when the last factor was: a sign alone is no reason to change a sum.
        let mut found = None;
        loop {
            let (next, factor) = match self.opened(inside)? {
                Opened::Product(x, y) if self.may_leave(&along, (x, y), false, (dtype, count)) => {
                    (x, (y, false))
                }
                Opened::Product(x, y) if self.may_leave(&along, (y, x), false, (dtype, count)) => {
                    (y, (x, false))
                }
                Opened::Quotient(x, y) if self.may_leave(&along, (x, y), true, (dtype, count)) => {
                    (x, (y, true))
                }
                Opened::Negative(x) => {
                    (inside, negative) = (x, !negative);
                    continue;
                }
                _ => break,
            };
            inside = next;
            outside.push(factor);
            found = Some((inside, negative));
        }
        let Some((inside, negative)) = found else { return Ok(None) };
        let sum = self.f.fields.acc(AccOp::Add, map.clone(), inside)?;
        self.made.insert(sum);
        let mut result = sum;
        for (factor, below) in outside.into_iter().rev() {
            let factor = self.read(section, factor)?;
            result =
                self.f.fields.binary(if below { BinaryOp::Div } else { BinaryOp::Mul }, result, factor)?;
        }
        if negative {
            result = self.f.fields.unary(UnaryOp::Neg, result)?;
        }
        // A sum is never -0.0.
        if self.range(result).negative_zero {
            let zero = self.f.fields.constant(map.codomain(), Scalar::zero(dtype));
            result = self.f.fields.binary(BinaryOp::Add, result, zero)?;
        }
        Ok(Some(result))
    }

    /// May a factor leave the sum of products, or quotients, with these terms? It is the same along the sum.
    fn may_leave(
        &mut self,
        along: &[usize],
        (terms, factor): (FieldId, FieldId),
        below: bool,
        (dtype, count): (DType, Option<u64>),
    ) -> bool {
        let deps = self.deps(factor);
        !along.iter().any(|&a| deps.contains(a))
            && Range::leaves(self.range(terms), self.range(factor), below, dtype, count)
    }

    /// What the values of a field may be.
    pub(crate) fn range(&mut self, id: FieldId) -> Range {
        self.ranges.of(self.f, id)
    }

    /// The factors of a field, those apart that depend on none of these axes. `None`: there are too many.
    pub(crate) fn product(&mut self, of: FieldId, along: &[usize]) -> Result<Option<Product>, TypeError> {
        let mut product = Product::default();
        let mut open = vec![(of, false)];
        while let Some((id, below)) = open.pop() {
            if product.varying.len() + product.fixed.len() + open.len() >= FACTORS {
                return Ok(None);
            }
            let deps = self.deps(id);
            if !along.iter().any(|&a| deps.contains(a)) {
                product.fixed.push((id, below));
                continue;
            }
            match self.opened(id)? {
                Opened::Product(x, y) => open.extend([(y, below), (x, below)]),
                Opened::Quotient(x, y) => open.extend([(y, !below), (x, below)]),
                Opened::Negative(x) => {
                    product.negative = !product.negative;
                    open.push((x, below));
                }
                Opened::Factor => product.varying.push((id, below)),
            }
        }
        Ok(Some(product))
    }

    /// A field as a product of others over the same space, behind reads too.
    pub(crate) fn opened(&mut self, id: FieldId) -> Result<Opened, TypeError> {
        let (map, of) = self.behind(id);
        Ok(match self.f.fields[of].kind {
            FieldKind::Binary { op: BinaryOp::Mul, x, y } => {
                Opened::Product(self.read(&map, x)?, self.read(&map, y)?)
            }
            FieldKind::Binary { op: BinaryOp::Div, x, y } => {
                Opened::Quotient(self.read(&map, x)?, self.read(&map, y)?)
            }
            FieldKind::Unary { op: UnaryOp::Neg, x } => Opened::Negative(self.read(&map, x)?),
            _ => Opened::Factor,
        })
    }

    /// What a field reads, and where.
    pub(crate) fn behind(&self, id: FieldId) -> (IndexMap, FieldId) {
        match &self.f.fields[id].kind {
            FieldKind::Read { map, of } if map.is_total() => (map.clone(), *of),
            _ => (IndexMap::identity(&self.f.fields[id].space), id),
        }
    }

    /// A field at other positions: behind reads what these read, and a constant wherever it is.
    pub(crate) fn read(&mut self, map: &IndexMap, of: FieldId) -> Result<FieldId, TypeError> {
        let (mut map, mut of) = (map.clone(), of);
        while let FieldKind::Read { map: next, of: behind } = &self.f.fields[of].kind
            && next.is_total()
            && let Ok(both) = map.then(next)
        {
            (map, of) = (both, *behind);
        }
        match self.f.fields[of].kind {
            FieldKind::Const(value) => Ok(self.f.fields.constant(map.domain(), value)),
            _ => self.f.fields.read(map, of),
        }
    }

    /// The axes that a field may depend on.
    pub(crate) fn deps(&mut self, id: FieldId) -> Axes {
        for next in self.deps.len()..=id.0 as usize {
            let field = &self.f.fields[FieldId(next as u32)];
            let of = |x: &FieldId| self.deps[x.0 as usize];
            let deps = match &field.kind {
                FieldKind::Const(_) => Axes::NONE,
                FieldKind::Index { axis } => Axes::NONE.with(*axis),
                FieldKind::Read { map, of: x } => deps_through(map, of(x)),
                FieldKind::Tensor(_) | FieldKind::Acc { .. } => Axes::all(&field.space),
                kind => kind.children().fold(Axes::NONE, |all, x| all.union(of(&x))),
            };
            self.deps.push(deps);
        }
        self.deps[id.0 as usize]
    }

    /// Stores sums that several assignments of a block share.
    fn share(&mut self, block: &mut Block) -> Result<(), TypeError> {
        let mut users: BTreeMap<FieldId, Vec<usize>> = BTreeMap::new();
        for (at, statement) in block.statements.iter().enumerate() {
            let StatementKind::Store { field, .. } = statement.kind else { continue };
            let reached = self.f.fields.reachable(&[field]);
            for id in reached.into_iter().filter(|id| self.made.contains(id) && self.is_long(*id)) {
                users.entry(id).or_default().push(at);
            }
        }
        users.retain(|_, at| at.len() > 1);
        // Sums inside of others come first.
        let mut stored: HashMap<FieldId, FieldId> = HashMap::new();
        let mut early: Vec<(usize, Statement)> = Vec::new();
        let mut gone: HashSet<usize> = HashSet::new();
        for (sum, at) in users {
            let field = replaced(self.f, sum, &stored)?;
            let own = at.iter().copied().find_map(|k| match block.statements[k].kind {
                StatementKind::Store { target, field } if field == sum => Some((k, target)),
                _ => None,
            });
            let (target, origin) = match own {
                Some((k, target)) => {
                    gone.insert(k);
                    (target, block.statements[k].origin.clone())
                }
                None => (self.f.var_for("sum", field), block.statements[at[0]].origin.clone()),
            };
            early.push((at[0], Statement { kind: StatementKind::Store { target, field }, origin }));
            stored.insert(sum, self.f.tensor(target));
        }
        if early.is_empty() {
            return Ok(());
        }
        let mut statements = Vec::with_capacity(block.statements.len() + early.len());
        for (at, mut statement) in std::mem::take(&mut block.statements).into_iter().enumerate() {
            statements.extend(early.iter().filter(|e| e.0 == at).map(|e| e.1.clone()));
            if gone.contains(&at) {
                continue;
            }
            if let StatementKind::Store { field, .. } = &mut statement.kind {
                *field = replaced(self.f, *field, &stored)?;
            }
            statements.push(statement);
        }
        block.statements = statements;
        Ok(())
    }

    /// Has a sum many terms?
    fn is_long(&self, id: FieldId) -> bool {
        let FieldKind::Acc { map, .. } = &self.f.fields[id].kind else { return false };
        match (map.domain().points(), map.codomain().points()) {
            (Some(terms), Some(values)) => terms >= values.saturating_mul(TERMS),
            _ => false,
        }
    }
}

/// A field with other fields in the place of some.
pub(crate) fn replaced(
    f: &mut Function,
    root: FieldId,
    others: &HashMap<FieldId, FieldId>,
) -> Result<FieldId, TypeError> {
    let mut new: HashMap<FieldId, FieldId> = HashMap::new();
    for id in f.fields.reachable(&[root]) {
        let node = f.fields[id].clone();
        let made = match others.get(&id) {
            Some(&other) => other,
            None => f.fields.again(&node, |c| new.get(&c).copied().unwrap_or(c))?,
        };
        new.insert(id, made);
    }
    Ok(new.get(&root).copied().unwrap_or(root))
}

/// Changes sums of a function one at a time, until none is left that `look` finds anything at; gives their number. `look`
/// is given a field and that which is stored, `write` the statement that has the field first.
pub(crate) fn change_sums<T>(
    function: &mut Function,
    any: bool,
    look: impl Fn(&mut Sums<'_>, FieldId, FieldId) -> Result<Option<T>, TypeError>,
    write: impl Fn(&mut Sums<'_>, &mut Block, usize, &T) -> Result<bool, TypeError>,
) -> Result<usize, TypeError> {
    let ranges = Ranges::of_function(function);
    let mut body = std::mem::take(&mut function.body);
    let done = change_block(&mut Sums::new(function, ranges, any), &mut body, &look, &write);
    function.body = body;
    done
}

fn change_block<T>(
    sums: &mut Sums<'_>,
    block: &mut Block,
    look: &impl Fn(&mut Sums<'_>, FieldId, FieldId) -> Result<Option<T>, TypeError>,
    write: &impl Fn(&mut Sums<'_>, &mut Block, usize, &T) -> Result<bool, TypeError>,
) -> Result<usize, TypeError> {
    let mut count = 0;
    for statement in &mut block.statements {
        for inner in nested(statement) {
            count += change_block(sums, inner, look, write)?;
        }
    }
    while let Some((at, found)) = first(sums, block, look)?
        && write(sums, block, at, &found)?
    {
        count += 1;
    }
    Ok(count)
}

/// What is found first in a block, and the first statement that has it.
fn first<T>(
    sums: &mut Sums<'_>,
    block: &Block,
    look: &impl Fn(&mut Sums<'_>, FieldId, FieldId) -> Result<Option<T>, TypeError>,
) -> Result<Option<(usize, T)>, TypeError> {
    for (at, statement) in block.statements.iter().enumerate() {
        let StatementKind::Store { field, .. } = statement.kind else { continue };
        for id in sums.f.fields.reachable(&[field]) {
            if let Some(found) = look(sums, id, field)? {
                return Ok(Some((at, found)));
            }
        }
    }
    Ok(None)
}

/// A sum that is stored from a statement on: as it is already, or by a statement before that one.
pub(crate) fn stored_before(sums: &mut Sums<'_>, block: &mut Block, at: usize, part: FieldId) -> FieldId {
    let known = block.statements[..at].iter().find_map(|s| match s.kind {
        StatementKind::Store { target, field } => (field == part).then_some(target),
        _ => None,
    });
    let target = known.unwrap_or_else(|| sums.f.var_for("sum", part));
    if known.is_none() {
        let origin = block.statements[at].origin.clone();
        block.statements.insert(at, Statement { kind: StatementKind::Store { target, field: part }, origin });
    }
    sums.f.tensor(target)
}

/// Puts a field in the place of another in all that a block stores.
pub(crate) fn put_instead(
    f: &mut Function,
    block: &mut Block,
    id: FieldId,
    other: FieldId,
) -> Result<(), TypeError> {
    let new = HashMap::from([(id, other)]);
    for statement in &mut block.statements {
        if let StatementKind::Store { field, .. } = &mut statement.kind {
            *field = replaced(f, *field, &new)?;
        }
    }
    Ok(())
}

/// The axes of its domain that a map keeps, by its components; `None` among them: the only position of an axis. `None`
/// where it does anything else.
pub(crate) fn kept(map: &IndexMap) -> Option<Vec<Option<usize>>> {
    let mut axes = Vec::new();
    for component in map.components() {
        match component.component() {
            Component::Iter(axis) if !axes.contains(&Some(axis)) => axes.push(Some(axis)),
            Component::Fixed(0) => axes.push(None),
            _ => return None,
        }
    }
    Some(axes)
}

/// A point of every fibre of a map whose components are each an axis of its domain, or the only position of one.
pub(crate) fn section(map: &IndexMap) -> Option<IndexMap> {
    let rank = map.codomain().rank();
    let mut places: Vec<Option<usize>> = vec![None; map.domain().rank()];
    for (place, axis) in kept(map)?.into_iter().enumerate() {
        if let Some(axis) = axis {
            places[axis] = Some(place);
        }
    }
    let component = |place: &Option<usize>| place.map_or(Affine::fixed(rank, 0), |p| Affine::axis(rank, p));
    IndexMap::total(map.codomain().clone(), map.domain().clone(), places.iter().map(component).collect()).ok()
}
