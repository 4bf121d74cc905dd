//! Random maps and fields for the variables of a rule in map notation, chosen so that its conditions can hold and
//! its bindings can be computed; and the decision whether they do.

use super::maps::{self, Want};
use super::{Drawing, certain};
use crate::ast::{Argument, Binding, BindingKind, Condition, ConditionName, Operator, PatternKind};
use crate::lower::{Ends, MapTerm, MapTermKind, SpaceVar, Term};
use crate::semantics::{Operation, maps_fill, number};
use std::collections::BTreeMap;
use surject_index::{Affine, IndexMap, Space, Verdict};
use surject_ir::range::{Range, Ranges, terms};
use surject_ir::{AccOp, BinaryOp, DType, FieldId, FieldKind, Scalar};

impl<'l, 'a> Drawing<'l, 'a> {
    /// Draws every map, and the fields that bindings and conditions speak of.
    pub(super) fn draw_maps(&mut self) -> Option<()> {
        let lowered = self.lowered;
        let rule = lowered.rule;
        let wants = self.wants();
        let mut fills: BTreeMap<&str, DType> = BTreeMap::new();
        read_types(&lowered.left, &mut |name, place| {
            fills.entry(name).or_insert(self.types[place]);
        });
        let shared = self.rng.chance(1, 2).then(|| self.rng.next());
        // Maps that a binding drops axes from, or factors through another, are made to allow it.
        let mut later: Vec<(&'a str, &'a str)> = Vec::new();
        for binding in &rule.bindings {
            match &binding.kind {
                BindingKind::Drop { from_map, from_field, field, .. } => {
                    self.draw_droppable(from_map, from_field, field, &wants)?;
                }
                BindingKind::Through { n, m, .. } if self.rng.chance(3, 4) => later.push((n, m)),
                _ => {}
            }
        }
        let computed: Vec<&str> = rule.bindings.iter().flat_map(results).collect();
        let is_later = |name: &str| later.iter().any(|(n, m)| *n == name && n != m);
        let mut open: Vec<&'a str> = lowered.maps.keys().copied().collect();
        open.retain(|&name| !computed.contains(&name) && !is_later(name) && !self.maps.contains_key(name));
        self.rng.shuffle(&mut open);
        for name in open {
            let want = wants.get(name).copied().unwrap_or_default();
            let fill = match fills.get(name) {
                Some(&dtype) => self.fill(dtype, shared),
                None => 0,
            };
            let Ends { domain, codomain } = lowered.maps[name];
            let (domain, codomain) = (self.space(domain).cloned(), self.space(codomain).cloned());
            let map = maps::map(&mut self.rng, &self.size, domain.as_ref(), codomain.as_ref(), want, fill)?;
            self.set_map(name, map)?;
        }
        for (n, m) in later {
            if self.maps.contains_key(n) {
                continue;
            }
            let m = self.maps.get(m)?.clone();
            let codomain = self.space(lowered.maps[n].codomain).cloned();
            let want = Want { total: true, ..Want::default() };
            let k = maps::map(&mut self.rng, &self.size, Some(m.codomain()), codomain.as_ref(), want, 0)?;
            self.set_map(n, m.then(&k).ok()?)?;
        }
        for binding in &rule.bindings {
            // The field over the domain is a read of one over the codomain.
            if let BindingKind::Unread { result, field, map } = &binding.kind
                && let Some(map) = self.maps.get(map.as_str()).cloned()
            {
                let dtype = self.types[lowered.fields.get(field.as_str())?.0];
                let h = self.tensor(result, dtype, map.codomain().clone());
                let h = self.small_factor(field, h);
                self.fields.insert(result, h);
                let g = self.function.fields.read(map, h).ok()?;
                self.meanings.push(format!("?{field} = what ?{result} is read to"));
                self.fields.insert(field, g);
            }
        }
        for condition in &rule.conditions {
            self.draw_bounded(condition);
            if let (ConditionName::Constant, false, [Argument::Var(name, _), Argument::Number(value, _)]) =
                (condition.name, condition.negated, &condition.args[..])
            {
                let (ty, space) = *lowered.fields.get(name.as_str())?;
                let value = number(self.types[ty], *value)?;
                let space = self.space_or_draw(space);
                let field = self.function.fields.constant(&space, value);
                self.fields.insert(name, field);
            }
        }
        Some(())
    }

    /// What is read to a factor that is to leave a sum: small, and a divisor not zero.
    fn small_factor(&mut self, field: &str, h: FieldId) -> FieldId {
        let factor = self.lowered.rule.conditions.iter().find(|c| {
            let named = matches!(c.args.get(2), Some(Argument::Var(name, _)) if name == field);
            c.name == ConditionName::StaysFinite && !c.negated && named
        });
        let (dtype, space) = (self.function.fields[h].dtype, self.function.fields[h].space.clone());
        let Some(factor) = factor.filter(|_| dtype.is_float()) else { return h };
        let divides = self.operation(factor, 0) == Some(Operation::Binary(BinaryOp::Div));
        let [low, high] = [if divides { 0.5 } else { -2.0 }, 2.0]
            .map(|value| self.function.fields.constant(&space, Scalar::from_f64(dtype, value)));
        let above = self.function.fields.binary(BinaryOp::Max, h, low);
        above.and_then(|x| self.function.fields.binary(BinaryOp::Min, x, high)).unwrap_or(h)
    }

    /// A field whose values are such that a condition on values can be certain: without `-0.0`, or small.
    fn draw_bounded(&mut self, condition: &'a Condition) {
        let name = match (condition.name, condition.negated, &condition.args[..]) {
            (ConditionName::NoNegativeZero, false, [Argument::Var(name, _)])
            | (ConditionName::StartsAs, false, [_, Argument::Var(name, _)])
            | (ConditionName::StaysFinite, false, [_, Argument::Var(name, _), ..]) => name,
            _ => return,
        };
        let Some(&(ty, space)) = self.lowered.fields.get(name.as_str()) else { return };
        let dtype = self.types[ty];
        if self.fields.contains_key(name.as_str()) || !dtype.is_float() && !dtype.is_complex() {
            return;
        }
        let space = self.space_or_draw(space);
        let x = self.tensor(name, dtype, space.clone());
        let mut number = |value| {
            let value = Scalar::from_f64(dtype, value);
            self.function.fields.constant(&space, value)
        };
        let made = match condition.name {
            ConditionName::StaysFinite => {
                let (low, high) = (number(-2.0), number(2.0));
                let above = self.function.fields.binary(BinaryOp::Max, x, low);
                above.and_then(|x| self.function.fields.binary(BinaryOp::Min, x, high))
            }
            _ => {
                let zero = number(0.0);
                self.function.fields.binary(BinaryOp::Add, x, zero)
            }
        };
        if let Ok(made) = made {
            self.fields.insert(name, made);
        }
    }

    /// What each map should be, from the conditions and from where it stands.
    fn wants(&self) -> BTreeMap<&'a str, Want> {
        let rule = self.lowered.rule;
        let mut wants: BTreeMap<&'a str, Want> = BTreeMap::new();
        accumulated(&self.lowered.left, &mut |name, op| {
            let want = wants.entry(name).or_default();
            want.total = true;
            want.reduces = true;
            want.injective |= op == Some(AccOp::Set);
            want.surjective |= op == Some(AccOp::Set);
        });
        for condition in &rule.conditions {
            for arg in &condition.args {
                let Argument::Var(name, _) = arg else { continue };
                let want = wants.entry(name).or_default();
                match (condition.name, condition.negated) {
                    (ConditionName::Identity, false) => want.identity = true,
                    (ConditionName::Total, negated) => {
                        want.partial |= negated;
                        want.total |= !negated;
                    }
                    (ConditionName::Injective, false) => want.injective = true,
                    (ConditionName::Surjective, false) => want.surjective = true,
                    (ConditionName::Bijective, false) => {
                        *want = Want { total: true, injective: true, surjective: true, ..*want }
                    }
                    _ => {}
                }
            }
        }
        for binding in &rule.bindings {
            let sources = match &binding.kind {
                BindingKind::Fibre { n, m, .. } | BindingKind::Through { n, m, .. } => vec![n, m],
                BindingKind::Unread { map, .. } => vec![map],
                BindingKind::Drop { .. } => vec![],
            };
            for name in sources {
                wants.entry(name).or_default().total = true;
            }
        }
        wants
    }

    /// A map and a field with axes that neither uses.
    fn draw_droppable(
        &mut self,
        map: &'a str,
        field: &'a str,
        kept: &'a str,
        wants: &BTreeMap<&'a str, Want>,
    ) -> Option<()> {
        let ends = *self.lowered.maps.get(map)?;
        let codomain = self.space(ends.codomain).cloned();
        let want = wants.get(map).copied().unwrap_or_default();
        let small = maps::map(&mut self.rng, &self.size, None, codomain.as_ref(), want, 0)?;
        let mut order: Vec<Option<usize>> = (0..small.domain().rank()).map(Some).collect();
        for _ in 0..1 + self.rng.below(2) {
            let at = self.rng.below(order.len() as u64 + 1) as usize;
            order.insert(at, None);
        }
        let sizes = small.domain().sizes()?;
        let extents: Vec<u64> = order
            .iter()
            .map(|axis| match axis {
                Some(axis) => sizes[*axis].unsigned_abs(),
                None => 1 + self.rng.below(self.size.extent + 1),
            })
            .collect();
        let axes: Option<Vec<usize>> =
            (0..sizes.len()).map(|axis| order.iter().position(|o| *o == Some(axis))).collect();
        let projection = IndexMap::projection(&Space::of(&extents), &axes?);
        let dtype = self.types[self.lowered.fields.get(field)?.0];
        let y = self.tensor(kept, dtype, small.domain().clone());
        let x = self.function.fields.read(projection.clone(), y).ok()?;
        self.fields.insert(field, x);
        self.meanings.push(format!("?{field} = ?{kept} repeated along the axes left out"));
        self.set_map(map, projection.then(&small).ok()?)
    }

    /// A fill for reads of this type.
    fn fill(&mut self, dtype: DType, shared: Option<u64>) -> u128 {
        let flags = self.lowered.rule.flags;
        let mut values = vec![Scalar::zero(dtype), Scalar::zero(dtype), Scalar::one(dtype)];
        if !flags.finite {
            values.extend([AccOp::Max, AccOp::Min].map(|op| op.neutral(dtype)));
        }
        values.extend([AccOp::Add.neutral(dtype), Scalar::from_i128(dtype, 3)]);
        let at = shared.unwrap_or_else(|| self.rng.next());
        values[(at % values.len() as u64) as usize].bits()
    }

    pub(super) fn space(&self, space: SpaceVar) -> Option<&Space> {
        self.spaces.get(&self.lowered.spaces.find(space))
    }

    /// The space of a class, drawn if nothing has fixed it.
    pub(super) fn space_or_draw(&mut self, space: SpaceVar) -> Space {
        let class = self.lowered.spaces.find(space);
        if let Some(known) = self.spaces.get(&class) {
            return known.clone();
        }
        let drawn = maps::space(&mut self.rng, &self.size);
        self.spaces.insert(class, drawn.clone());
        drawn
    }

    /// Records a map and the spaces it connects.
    fn set_map(&mut self, name: &'a str, map: IndexMap) -> Option<()> {
        let Ends { domain, codomain } = *self.lowered.maps.get(name)?;
        for (class, space) in [(domain, map.domain()), (codomain, map.codomain())] {
            let class = self.lowered.spaces.find(class);
            if self.spaces.entry(class).or_insert_with(|| space.clone()) != space {
                return None;
            }
        }
        self.maps.insert(name, map);
        Some(())
    }

    /// Is the condition certain?
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        certain(self.verdict(condition).unwrap_or(Verdict::Unknown), condition.negated)
    }

    fn verdict(&self, condition: &Condition) -> Option<Verdict> {
        let map = |i: usize| match condition.args.get(i)? {
            Argument::Var(name, _) => self.maps.get(name.as_str()),
            _ => None,
        };
        Some(match condition.name {
            ConditionName::Identity => map(0)?.is_identity().into(),
            ConditionName::Total => map(0)?.is_total().into(),
            ConditionName::Injective => map(0)?.injective().plain(),
            ConditionName::Surjective => map(0)?.surjective().plain(),
            ConditionName::Bijective => map(0)?.bijective(),
            ConditionName::FillsAgree => match (map(0)?.fill(), map(1)?.fill()) {
                (Some(a), Some(b)) => (a == b).into(),
                _ => Verdict::Yes(()),
            },
            ConditionName::MapsFill => {
                let fill = map(1)?.fill()?;
                let (op, name) = match condition.args.first()? {
                    Argument::Var(name, _) => (*self.ops.get(name.as_str())?, Some(name.as_str())),
                    Argument::Word(word, _) => (Operation::from_word(word)?, None),
                    Argument::Number(..) => return None,
                };
                let operand = operand(&self.lowered.left, op, name)?;
                maps_fill(op, fill.0, self.types[operand])
            }
            ConditionName::Constant => match &condition.args[..] {
                [Argument::Var(name, _), Argument::Number(value, _)] => {
                    let field = &self.function.fields[*self.fields.get(name.as_str())?];
                    let wanted = number(field.dtype, *value);
                    matches!(field.kind, FieldKind::Const(found) if Some(found) == wanted).into()
                }
                _ => return None,
            },
            ConditionName::NoNegativeZero => known(!self.range(condition, 0)?.0.negative_zero),
            ConditionName::StartsAs => {
                let (range, dtype) = self.range(condition, 1)?;
                known(range.starts_as(self.operation(condition, 0)?.as_acc()?, dtype))
            }
            ConditionName::StaysFinite => {
                let below = match self.operation(condition, 0)? {
                    Operation::Binary(BinaryOp::Mul) => false,
                    Operation::Binary(BinaryOp::Div) => true,
                    _ => return None,
                };
                let ((f, dtype), (g, _)) = (self.range(condition, 1)?, self.range(condition, 2)?);
                known(Range::leaves(f, g, below, dtype, terms(map(3)?)))
            }
            // Decided with the types.
            ConditionName::Distributes
            | ConditionName::Commutative
            | ConditionName::Idempotent
            | ConditionName::Monotone
            | ConditionName::DType => match condition.negated {
                true => Verdict::No(()),
                false => Verdict::Yes(()),
            },
        })
    }

    /// What the values of the field that a condition names may be, and their type.
    fn range(&self, condition: &Condition, arg: usize) -> Option<(Range, DType)> {
        let Argument::Var(name, _) = condition.args.get(arg)? else { return None };
        let (ty, _) = self.lowered.fields.get(name.as_str())?;
        let dtype = self.types[*ty];
        let range = match self.fields.get(name.as_str()) {
            Some(&field) => Ranges::default().of(&self.function, field),
            None => Range::any(dtype),
        };
        Some((range, dtype))
    }

    /// The operation that a condition names.
    fn operation(&self, condition: &Condition, arg: usize) -> Option<Operation> {
        match condition.args.get(arg)? {
            Argument::Var(name, _) => self.ops.get(name.as_str()).copied(),
            Argument::Word(word, _) => Operation::from_word(word),
            Argument::Number(..) => None,
        }
    }

    /// Computes what a binding binds.
    pub(super) fn bind(&mut self, binding: &'a Binding) -> Option<()> {
        let map = |name: &str| self.maps.get(name).cloned();
        match &binding.kind {
            BindingKind::Fibre { to_q, to_p, n, m } => {
                let product = map(n)?.fibre_product(&map(m)?)?;
                self.set_map(to_q, product.to_q)?;
                self.set_map(to_p, product.to_p)
            }
            BindingKind::Through { result, n, m } => {
                let k = map(n)?.through(&map(m)?)?;
                self.set_map(result, k)
            }
            // Drawn with the field it is computed from.
            BindingKind::Unread { result, .. } => self.fields.contains_key(result.as_str()).then_some(()),
            BindingKind::Drop { map: result, field, count, from_map, from_field } => {
                let m = map(from_map)?;
                let x = *self.fields.get(from_field.as_str())?;
                let (kept, points) = self.unused(&m, x)?;
                let embed = embedding(m.domain(), &kept)?;
                let y = self.function.fields.read(embed.clone(), x).ok()?;
                self.fields.insert(field, y);
                self.counts.insert(count, points);
                self.set_map(result, embed.then(&m).ok()?)
            }
        }
    }

    /// The axes that a map or a field over its domain uses, and the number of points of the others (at least 2).
    fn unused(&self, map: &IndexMap, x: FieldId) -> Option<(Vec<usize>, u64)> {
        let FieldKind::Read { map: of, .. } = &self.function.fields[x].kind else { return None };
        let used = |axis: usize| map.components().iter().chain(of.components()).any(|c| c.coeffs[axis] != 0);
        let (kept, dropped): (Vec<usize>, Vec<usize>) = (0..map.domain().rank()).partition(|&a| used(a));
        let points = map.domain().select(&dropped).points()?;
        (points >= 2).then_some((kept, points))
    }
}

/// What a range excludes is certain; the rest is not.
fn known(yes: bool) -> Verdict {
    if yes { Verdict::Yes(()) } else { Verdict::Unknown }
}

/// The axes of a space that are kept, the others at 0.
fn embedding(space: &Space, kept: &[usize]) -> Option<IndexMap> {
    let component = |axis: usize| match kept.iter().position(|&k| k == axis) {
        Some(place) => Affine::axis(kept.len(), place),
        None => Affine::fixed(kept.len(), 0),
    };
    let components = (0..space.rank()).map(component).collect();
    IndexMap::total(space.select(kept), space.clone(), components).ok()
}

/// The names a binding binds.
fn results(binding: &Binding) -> Vec<&str> {
    match &binding.kind {
        BindingKind::Fibre { to_q, to_p, .. } => vec![to_q, to_p],
        BindingKind::Through { result, .. } => vec![result],
        BindingKind::Unread { .. } => Vec::new(),
        BindingKind::Drop { map, .. } => vec![map],
    }
}

/// Calls `found` with every map variable that something is read along and the place of its type.
fn read_types<'a>(term: &Term<'a>, found: &mut dyn FnMut(&'a str, usize)) {
    if let (PatternKind::Read { .. }, Some(MapTerm { kind: MapTermKind::Var(name), .. })) =
        (&term.pattern.kind, &term.map)
    {
        found(name, term.ty);
    }
    term.args.iter().for_each(|arg| read_types(arg, found));
}

/// Calls `found` with every map variable that something is accumulated along, and the operator where it is known.
fn accumulated<'a>(term: &Term<'a>, found: &mut dyn FnMut(&'a str, Option<AccOp>)) {
    if let (PatternKind::Acc { op, .. }, Some(MapTerm { kind: MapTermKind::Var(name), .. })) =
        (&term.pattern.kind, &term.map)
    {
        found(name, crate::lower::acc_operator(op, |_| None));
    }
    term.args.iter().for_each(|arg| accumulated(arg, found));
}

/// The place of the type of the operands of an operation, found by its variable or by itself.
fn operand(term: &Term<'_>, op: Operation, name: Option<&str>) -> Option<usize> {
    if let PatternKind::Apply { op: here, .. } = &term.pattern.kind {
        let matches = match here {
            Operator::Var(var) => name == Some(var),
            Operator::Unary(known) => name.is_none() && op == Operation::Unary(*known),
            Operator::Binary(known) => name.is_none() && op == Operation::Binary(*known),
            Operator::Select => false,
        };
        if matches {
            return term.args.first().map(|a| a.ty);
        }
    }
    term.args.iter().find_map(|a| operand(a, op, name))
}
