//! The two sides of a rule as fields of a function.

use super::Drawing;
use super::maps::space as random_space;
use crate::ast::{FillPattern, Operator, PatternKind};
use crate::lower::{MapTerm, MapTermKind, Term, acc_operator, binary};
use crate::semantics::{Operation, number};
use std::collections::BTreeSet;
use surject_index::{Fill, IndexMap, Space};
use surject_ir::{DType, FieldId, Scalar};

/// The extents of long axes.
pub(super) const LONG: [u64; 3] = [17, 64, 300];

/// In index notation, the names whose axes the space of a pattern has, after the batch axes.
pub(super) type Scope<'a> = Vec<&'a str>;

impl<'l, 'a> Drawing<'l, 'a> {
    /// Draws extents for batch axes and named axes, and a tensor for every variable. Gives the scope of the whole
    /// pattern.
    pub(super) fn draw_axes(&mut self) -> Scope<'a> {
        let size = self.size;
        let mut names: BTreeSet<&'a str> = BTreeSet::new();
        let mut free: BTreeSet<&'a str> = BTreeSet::new();
        axes_of(&self.lowered.left, &mut Vec::new(), &mut names, &mut free);
        if let Some(shape) = self.shape {
            self.batch = shape.batch.clone();
            for &name in &names {
                self.axes.insert(name, shape.axes.get(name).cloned().unwrap_or_else(|| vec![1]));
            }
            return free.into_iter().collect();
        }
        let plain = !self.lowered.rule.is_index_notation();
        self.batch = if plain {
            random_space(&mut self.rng, &size).extents().iter().filter_map(|e| e.as_const()).collect()
        } else {
            let rank = self.rng.below(size.batch + 1);
            (0..rank).map(|_| 1 + self.rng.below(size.extent)).collect()
        };
        let long = if size.long { self.rng.below(names.len() as u64) as usize } else { usize::MAX };
        for (place, name) in names.into_iter().enumerate() {
            let none = size.no_axis && self.rng.chance(1, 10);
            let rank = if none { 0 } else { 1 + self.rng.below(size.axes) };
            let mut extents: Vec<u64> = (0..rank).map(|_| 1 + self.rng.below(size.extent)).collect();
            if place == long
                && let Some(first) = extents.first_mut()
            {
                *first = self.rng.pick(&LONG).unwrap_or(*first);
            }
            self.axes.insert(name, extents);
        }
        free.into_iter().collect()
    }

    /// The space of a scope.
    fn scope_space(&self, scope: &[&str]) -> Space {
        let mut sizes = self.batch.clone();
        scope.iter().for_each(|name| sizes.extend(self.axes.get(name).into_iter().flatten()));
        Space::of(&sizes)
    }

    /// Where the axes of some names stand in the space of a scope.
    fn places(&self, scope: &[&str], names: &[&str]) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        for name in names {
            let mut start = self.batch.len();
            let mut others = scope.iter();
            loop {
                let other = others.next()?;
                let rank = self.axes.get(other)?.len();
                if other == name {
                    places.extend(start..start + rank);
                    break;
                }
                start += rank;
            }
        }
        Some(places)
    }

    /// A variable over the space of a scope.
    fn variable(
        &mut self,
        name: &'a str,
        axes: &'a [String],
        term: &Term<'a>,
        scope: &[&'a str],
    ) -> Option<FieldId> {
        if self.lowered.rule.is_map_notation() {
            if let Some(&known) = self.fields.get(name) {
                return Some(known);
            }
            let space = self.space_or_draw(term.space);
            let field = self.tensor(name, self.types[term.ty], space);
            self.fields.insert(name, field);
            return Some(field);
        }
        let names: Vec<&str> = axes.iter().map(String::as_str).collect();
        // Each variable depends on some of the batch axes, always on the same.
        if !self.fields.contains_key(name) {
            let batch: Vec<usize> = match self.shape {
                Some(shape) => match shape.batch_of.get(name) {
                    Some(known) => known.clone(),
                    None => (0..self.batch.len()).collect(),
                },
                None => (0..self.batch.len()).filter(|_| self.rng.chance(3, 4)).collect(),
            };
            self.batch_of.insert(name, batch.clone());
            let mut sizes: Vec<u64> = batch.iter().map(|&a| self.batch[a]).collect();
            names.iter().for_each(|n| sizes.extend(self.axes.get(n).into_iter().flatten()));
            let full = self.scope_space(&names);
            let wanted = self.constant_of(name, self.types[term.ty]);
            let tensor = match wanted {
                Some(value) => self.function.fields.constant(&Space::of(&sizes), value?),
                None => self.tensor(name, self.types[term.ty], Space::of(&sizes)),
            };
            // Kept over all batch axes and its own.
            let own = self.batch.len()..full.rank();
            let map = IndexMap::projection(&full, &batch.into_iter().chain(own).collect::<Vec<_>>());
            let field = self.function.fields.read(map, tensor).ok()?;
            self.fields.insert(name, field);
        }
        let field = *self.fields.get(name)?;
        let mut places: Vec<usize> = (0..self.batch.len()).collect();
        places.extend(self.places(scope, &names)?);
        let map = IndexMap::projection(&self.scope_space(scope), &places);
        self.function.fields.read(map, field).ok()
    }

    /// The constant that a condition asks a variable to be. The inner `None`: the type has no such value.
    fn constant_of(&self, name: &str, dtype: DType) -> Option<Option<Scalar>> {
        use crate::ast::{Argument, ConditionName};
        self.lowered.rule.conditions.iter().find_map(|c| match (c.name, c.negated, &c.args[..]) {
            (ConditionName::Constant, false, [Argument::Var(var, _), Argument::Number(value, _)])
                if var == name =>
            {
                Some(number(dtype, *value))
            }
            _ => None,
        })
    }

    /// Builds a pattern. In map notation the scope is not used.
    pub(super) fn build(&mut self, term: &Term<'a>, scope: &[&'a str]) -> Option<FieldId> {
        let dtype = self.types[term.ty];
        match &term.pattern.kind {
            PatternKind::Number(value) => {
                let space = self.place_of(term, scope);
                Some(self.function.fields.constant(&space, number(dtype, *value)?))
            }
            PatternKind::Count(name) => {
                let value = Scalar::from_i128(dtype, (*self.counts.get(name.as_str())?).into());
                let space = self.place_of(term, scope);
                Some(self.function.fields.constant(&space, value))
            }
            PatternKind::Var { name, axes } => {
                self.variable(name, axes.as_deref().unwrap_or_default(), term, scope)
            }
            PatternKind::Apply { op, .. } => {
                let args = term.args.iter().map(|a| self.build(a, scope)).collect::<Option<Vec<_>>>()?;
                self.apply(op, &args)
            }
            PatternKind::Reduce { op, axes, .. } => {
                let reduced: Vec<&'a str> = axes.iter().map(String::as_str).collect();
                let outer: Vec<&'a str> = scope.iter().copied().filter(|n| !reduced.contains(n)).collect();
                let inner: Vec<&'a str> = outer.iter().copied().chain(reduced).collect();
                let body = self.build(term.args.first()?, &inner)?;
                let kept: Vec<usize> = (0..self.scope_space(&outer).rank()).collect();
                let map = IndexMap::projection(&self.scope_space(&inner), &kept);
                let sum = self.function.fields.acc(*op, map, body).ok()?;
                // An axis of the same name outside is another one: the result does not depend on it.
                let mut places: Vec<usize> = (0..self.batch.len()).collect();
                places.extend(self.places(scope, &outer)?);
                let map = IndexMap::projection(&self.scope_space(scope), &places);
                self.function.fields.read(map, sum).ok()
            }
            PatternKind::Read { .. } => {
                let map = self.map(term.map.as_ref()?, dtype)?;
                let of = self.build(term.args.first()?, scope)?;
                // The bits of the fill must be a value of the type.
                if map.fill().is_some_and(|f| Scalar::from_bits(dtype, f.0).bits() != f.0) {
                    return None;
                }
                self.function.fields.read(map, of).ok()
            }
            PatternKind::Acc { op, .. } => {
                let map = self.map(term.map.as_ref()?, dtype)?;
                let of = self.build(term.args.first()?, scope)?;
                let op = acc_operator(op, |name| self.ops.get(name).copied())?;
                self.function.fields.acc(op, map, of).ok()
            }
            PatternKind::StableHlo { .. } => None,
        }
    }

    /// The space of a constant.
    fn place_of(&mut self, term: &Term<'a>, scope: &[&'a str]) -> Space {
        if self.lowered.rule.is_map_notation() {
            self.space_or_draw(term.space)
        } else {
            self.scope_space(scope)
        }
    }

    fn apply(&mut self, op: &Operator, args: &[FieldId]) -> Option<FieldId> {
        let fields = &mut self.function.fields;
        let op = match (op, args) {
            (Operator::Select, &[c, t, f]) => return fields.select(c, t, f).ok(),
            (Operator::Unary(op), _) => Operation::Unary(*op),
            (Operator::Binary(op), _) => Operation::Binary(*op),
            (Operator::Var(name), _) => *self.ops.get(name.as_str())?,
            _ => return None,
        };
        match (op, args) {
            (Operation::Unary(op), &[x]) => fields.unary(op, x).ok(),
            (Operation::Convert(to), &[x]) => Some(fields.convert(to, x)),
            (Operation::Bitcast(to), &[x]) => fields.bitcast(to, x).ok(),
            (Operation::ReducePrecision(e, m), &[x]) => fields.reduce_precision(e, m, x).ok(),
            (op, &[x, y]) => fields.binary(binary(op)?, x, y).ok(),
            _ => None,
        }
    }

    fn map(&mut self, map: &MapTerm<'a>, dtype: DType) -> Option<IndexMap> {
        match &map.kind {
            MapTermKind::Var(name) => self.maps.get(name).cloned(),
            MapTermKind::Compose(next, first) => {
                let (next, first) = (self.map(next, dtype)?, self.map(first, dtype)?);
                first.then(&next).ok()
            }
            MapTermKind::Inverse(inner, fill) => {
                let inner = self.map(inner, dtype)?;
                let fill = match fill {
                    None => return inner.inverse(Fill(0)).filter(IndexMap::is_total),
                    Some(FillPattern::Number(value)) => number(dtype, *value)?,
                    Some(FillPattern::Neutral(op)) => {
                        acc_operator(op, |name| self.ops.get(name).copied())?.neutral(dtype)
                    }
                };
                inner.inverse(Fill(fill.bits()))
            }
            MapTermKind::Identity(of) => {
                let of = self.build(of, &[])?;
                Some(IndexMap::identity(&self.function.fields[of].space))
            }
        }
    }
}

/// The axes that a pattern names, and those that stand outside every reduction over them.
pub(super) fn axes_of<'a>(
    term: &Term<'a>,
    bound: &mut Vec<&'a str>,
    names: &mut BTreeSet<&'a str>,
    free: &mut BTreeSet<&'a str>,
) {
    let depth = bound.len();
    match &term.pattern.kind {
        PatternKind::Var { axes: Some(axes), .. } => {
            for axis in axes {
                names.insert(axis);
                if !bound.contains(&axis.as_str()) {
                    free.insert(axis);
                }
            }
        }
        PatternKind::Reduce { axes, .. } => {
            names.extend(axes.iter().map(String::as_str));
            bound.extend(axes.iter().map(String::as_str));
        }
        _ => {}
    }
    term.args.iter().for_each(|arg| axes_of(arg, bound, names, free));
    bound.truncate(depth);
}
