//! A rule as terms whose places have an element type and a space, with what the rule says of both.
//!
//! The names of the rule have been checked. Spaces are classes of a union-find: the left side and the conditions
//! say which spaces are equal; the rest of the rule may not ask for more.

use crate::ast::*;
use crate::error::RuleError;
use crate::semantics::{Operation, in_class};
use crate::typing::{Constraint, OpPlace, Place, Types, Typing};
use std::collections::BTreeMap;
use surject_ir::{AccOp, BinaryOp, DType};

/// A class of spaces that are equal.
pub(crate) type SpaceVar = usize;

/// A pattern with its element type, its space and its parts.
#[derive(Debug)]
pub(crate) struct Term<'a> {
    pub pattern: &'a Pattern,
    pub ty: Place,
    pub space: SpaceVar,
    pub args: Vec<Term<'a>>,
    pub map: Option<MapTerm<'a>>,
}

/// A map and the spaces it connects.
#[derive(Debug)]
pub(crate) struct MapTerm<'a> {
    pub kind: MapTermKind<'a>,
    pub ends: Ends,
}

#[derive(Debug)]
pub(crate) enum MapTermKind<'a> {
    Var(&'a str),
    Compose(Box<MapTerm<'a>>, Box<MapTerm<'a>>),
    Inverse(Box<MapTerm<'a>>, Option<&'a FillPattern>),
    Identity(Box<Term<'a>>),
}

/// The domain and the codomain of a map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub domain: SpaceVar,
    pub codomain: SpaceVar,
}

/// Classes of spaces.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    parent: Vec<SpaceVar>,
    /// What stands in a message for the class; empty for a space that takes any form.
    names: Vec<Vec<String>>,
}

impl Spaces {
    fn fresh(&mut self, name: Option<String>) -> SpaceVar {
        self.parent.push(self.parent.len());
        self.names.push(name.into_iter().collect());
        self.parent.len() - 1
    }

    /// The class.
    pub fn find(&self, mut space: SpaceVar) -> SpaceVar {
        while self.parent[space] != space {
            space = self.parent[space];
        }
        space
    }

    fn union(&mut self, a: SpaceVar, b: SpaceVar) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parent[b] = a;
            let names = std::mem::take(&mut self.names[b]);
            self.names[a].extend(names);
        }
    }

    fn describe(&self, space: SpaceVar) -> String {
        let mut names = self.names[self.find(space)].clone();
        names.sort_by_key(|n| !n.starts_with("the space"));
        names.first().cloned().unwrap_or_else(|| "another space".to_string())
    }
}

/// A rule with types and spaces.
#[derive(Debug)]
pub(crate) struct Lowered<'a> {
    pub rule: &'a Rule,
    pub left: Term<'a>,
    pub right: Term<'a>,
    pub typing: Typing,
    /// Where each constraint of the typing comes from.
    pub origins: Vec<Span>,
    /// How many constraints the left side and the conditions make; then those of the right side.
    pub left_constraints: usize,
    pub spaces: Spaces,
    pub fields: BTreeMap<&'a str, (Place, SpaceVar)>,
    pub maps: BTreeMap<&'a str, Ends>,
    pub ops: BTreeMap<&'a str, OpPlace>,
}

struct Lowering<'a> {
    typing: Typing,
    origins: Vec<Span>,
    spaces: Spaces,
    fields: BTreeMap<&'a str, (Place, SpaceVar)>,
    maps: BTreeMap<&'a str, Ends>,
    ops: BTreeMap<&'a str, OpPlace>,
    /// In index notation the space of a pattern is made of its axes, which have been checked.
    index_notation: bool,
    /// Has the left side been read? From then on different spaces stay different.
    rigid: bool,
}

impl<'a> Lowered<'a> {
    /// Reads a rule whose names are in order.
    pub fn new(rule: &'a Rule) -> Result<Lowered<'a>, RuleError> {
        let mut lowering = Lowering {
            typing: Typing::default(),
            origins: Vec::new(),
            spaces: Spaces::default(),
            fields: BTreeMap::new(),
            maps: BTreeMap::new(),
            ops: BTreeMap::new(),
            index_notation: !rule.is_map_notation(),
            rigid: false,
        };
        let left = lowering.term(&rule.left)?;
        rule.conditions.iter().for_each(|c| lowering.condition(c));
        lowering.rigid = true;
        rule.bindings.iter().try_for_each(|b| lowering.binding(b))?;
        let left_constraints = lowering.origins.len();
        let right = lowering.term(&rule.right)?;
        lowering.same_sides(rule, &left, &right)?;
        let Lowering { typing, origins, spaces, fields, maps, ops, .. } = lowering;
        Ok(Lowered { rule, left, right, typing, origins, left_constraints, spaces, fields, maps, ops })
    }
}

impl<'a> Lowering<'a> {
    fn constrain(&mut self, constraint: Constraint, span: Span) {
        self.typing.constraints.push(constraint);
        self.origins.push(span);
    }

    /// Makes two spaces one, where the rule may ask for that.
    fn equate(&mut self, a: SpaceVar, b: SpaceVar, span: Span, what: &str) -> Result<(), RuleError> {
        let (ra, rb) = (self.spaces.find(a), self.spaces.find(b));
        let known = |s: SpaceVar| !self.spaces.names[s].is_empty();
        if self.index_notation || ra == rb {
            return Ok(());
        }
        if self.rigid && known(ra) && known(rb) {
            let message = format!(
                "{what}: {} and {} are different spaces",
                self.spaces.describe(a),
                self.spaces.describe(b)
            );
            return Err(RuleError::new("SJ0222", span, message)
                .with_help("nothing in the left side or the conditions says that they are equal"));
        }
        self.spaces.union(a, b);
        Ok(())
    }

    fn op_var(&mut self, name: &'a str, operands: usize) -> OpPlace {
        match self.ops.get(name) {
            Some(&op) => op,
            None => {
                let op = self.typing.op_place(Operation::all(operands));
                self.ops.insert(name, op);
                op
            }
        }
    }

    fn field_var(&mut self, name: &'a str) -> (Place, SpaceVar) {
        if let Some(&known) = self.fields.get(name) {
            return known;
        }
        let made =
            (self.typing.place(Types::ALL), self.spaces.fresh(Some(format!("the space of `?{name}`"))));
        self.fields.insert(name, made);
        made
    }

    fn map_var(&mut self, name: &'a str) -> Ends {
        if let Some(&known) = self.maps.get(name) {
            return known;
        }
        let ends = Ends {
            domain: self.spaces.fresh(Some(format!("the domain of `?{name}`"))),
            codomain: self.spaces.fresh(Some(format!("the codomain of `?{name}`"))),
        };
        self.maps.insert(name, ends);
        ends
    }

    fn term(&mut self, pattern: &'a Pattern) -> Result<Term<'a>, RuleError> {
        let span = pattern.span;
        let plain = |ty, space| Term { pattern, ty, space, args: Vec::new(), map: None };
        Ok(match &pattern.kind {
            PatternKind::Number(_) | PatternKind::Count(_) | PatternKind::StableHlo { .. } => {
                plain(self.typing.place(Types::ALL), self.spaces.fresh(None))
            }
            PatternKind::Var { name, .. } => {
                let (ty, space) = self.field_var(name);
                plain(ty, space)
            }
            PatternKind::Apply { op, args } => {
                let args = args.iter().map(|a| self.term(a)).collect::<Result<Vec<_>, _>>()?;
                for pair in args.windows(2) {
                    self.equate(pair[0].space, pair[1].space, span, "the operands stand over two spaces")?;
                }
                let space = args.first().map_or_else(|| self.spaces.fresh(None), |a| a.space);
                let ty = self.result(op, &args, span);
                Term { args, ..plain(ty, space) }
            }
            PatternKind::Reduce { op, body, .. } => {
                let body = self.term(body)?;
                let ty = body.ty;
                self.constrain(Constraint::Acc(*op, ty), span);
                let space = self.spaces.fresh(None);
                Term { args: vec![body], ..plain(ty, space) }
            }
            PatternKind::Read { map, of } => {
                let (map, of) = (self.map(map)?, self.term(of)?);
                self.equate(
                    map.ends.codomain,
                    of.space,
                    span,
                    "the map does not end in the space of what is read",
                )?;
                let (ty, space) = (of.ty, map.ends.domain);
                Term { args: vec![of], map: Some(map), ..plain(ty, space) }
            }
            PatternKind::Acc { op, map, of } => {
                let (map, of) = (self.map(map)?, self.term(of)?);
                self.equate(
                    map.ends.domain,
                    of.space,
                    span,
                    "the map does not start from the space of what is accumulated",
                )?;
                let (ty, space) = (of.ty, map.ends.codomain);
                match op {
                    AccOperator::Known(op) => self.constrain(Constraint::Acc(*op, ty), span),
                    AccOperator::Var(name) => {
                        let op = self.op_var(name, 2);
                        self.typing.ops[op].retain(|op| op.as_acc().is_some());
                        self.constrain(Constraint::AccBy(op, ty), span);
                    }
                }
                Term { args: vec![of], map: Some(map), ..plain(ty, space) }
            }
        })
    }

    /// The type of an operation's result.
    fn result(&mut self, op: &'a Operator, args: &[Term<'a>], span: Span) -> Place {
        let ty = self.typing.place(Types::ALL);
        let op = match op {
            Operator::Unary(op) => self.typing.op_place(vec![Operation::Unary(*op)]),
            Operator::Binary(op) => self.typing.op_place(vec![Operation::Binary(*op)]),
            Operator::Var(name) => self.op_var(name, args.len()),
            Operator::Select => {
                if let [cond, on_true, on_false] = args {
                    let truth = self.typing.place(Types::only(DType::I1));
                    self.constrain(Constraint::Same(cond.ty, truth), span);
                    self.constrain(Constraint::Same(on_true.ty, on_false.ty), span);
                    self.constrain(Constraint::Same(on_true.ty, ty), span);
                }
                return ty;
            }
        };
        for pair in args.windows(2) {
            self.constrain(Constraint::Same(pair[0].ty, pair[1].ty), span);
        }
        if let Some(first) = args.first() {
            self.constrain(Constraint::Result(op, first.ty, ty), span);
        }
        ty
    }

    fn map(&mut self, map: &'a MapPattern) -> Result<MapTerm<'a>, RuleError> {
        Ok(match &map.kind {
            MapKind::Var(name) => MapTerm { ends: self.map_var(name), kind: MapTermKind::Var(name) },
            MapKind::Compose(next, first) => {
                let (next, first) = (self.map(next)?, self.map(first)?);
                self.equate(first.ends.codomain, next.ends.domain, map.span, "the maps do not compose")?;
                let ends = Ends { domain: first.ends.domain, codomain: next.ends.codomain };
                MapTerm { kind: MapTermKind::Compose(Box::new(next), Box::new(first)), ends }
            }
            MapKind::Inverse(inner, fill) => {
                let inner = self.map(inner)?;
                let ends = Ends { domain: inner.ends.codomain, codomain: inner.ends.domain };
                if let Some(FillPattern::Neutral(AccOperator::Var(name))) = fill {
                    let op = self.op_var(name, 2);
                    self.typing.ops[op].retain(|op| op.as_acc().is_some());
                }
                MapTerm { kind: MapTermKind::Inverse(Box::new(inner), fill.as_ref()), ends }
            }
            MapKind::Identity(of) => {
                let of = self.term(of)?;
                let ends = Ends { domain: of.space, codomain: of.space };
                MapTerm { kind: MapTermKind::Identity(Box::new(of)), ends }
            }
        })
    }

    fn condition(&mut self, condition: &'a Condition) {
        let var = |i: usize| match condition.args.get(i) {
            Some(Argument::Var(name, _)) => Some(name.as_str()),
            _ => None,
        };
        match (condition.name, condition.negated, var(0)) {
            (ConditionName::Identity, false, Some(map)) => {
                let ends = self.map_var(map);
                self.spaces.union(ends.domain, ends.codomain);
            }
            (ConditionName::DType, negated, Some(field)) => {
                if let Some(Argument::Word(word, _)) = condition.args.get(1) {
                    let types = Types::of(|d| in_class(d, word) == Some(!negated));
                    let (ty, _) = self.field_var(field);
                    let allowed = self.typing.place(types);
                    self.constrain(Constraint::Same(ty, allowed), condition.span);
                }
            }
            _ => {}
        }
    }

    fn binding(&mut self, binding: &'a Binding) -> Result<(), RuleError> {
        let span = binding.span;
        match &binding.kind {
            BindingKind::Fibre { to_q, to_p, n, m } => {
                let (n, m) = (self.map_var(n), self.map_var(m));
                self.equate(n.codomain, m.codomain, span, "the maps of a fibre product end in one space")?;
                let pairs = self.spaces.fresh(Some(format!("the domain of `?{to_q}` and `?{to_p}`")));
                self.maps.insert(to_q, Ends { domain: pairs, codomain: n.domain });
                self.maps.insert(to_p, Ends { domain: pairs, codomain: m.domain });
            }
            BindingKind::Unread { result, field, map } => {
                let ((ty, space), m) = (self.field_var(field), self.map_var(map));
                self.equate(space, m.domain, span, "the field is not over the domain of the map")?;
                self.fields.insert(result, (ty, m.codomain));
            }
            BindingKind::Through { result, n, m } => {
                let (n, m) = (self.map_var(n), self.map_var(m));
                self.equate(n.domain, m.domain, span, "the maps start from one space")?;
                self.maps.insert(result, Ends { domain: m.codomain, codomain: n.codomain });
            }
            BindingKind::Drop { map, field, from_map, from_field, .. } => {
                let ((ty, space), m) = (self.field_var(from_field), self.map_var(from_map));
                self.equate(space, m.domain, span, "the field is not over the domain of the map")?;
                let kept = self.spaces.fresh(Some(format!("the domain of `?{map}`")));
                self.fields.insert(field, (ty, kept));
                self.maps.insert(map, Ends { domain: kept, codomain: m.codomain });
            }
        }
        Ok(())
    }

    /// Both sides are one field: over one space.
    fn same_sides(&mut self, rule: &Rule, left: &Term<'a>, right: &Term<'a>) -> Result<(), RuleError> {
        let (l, r) = (self.spaces.describe(left.space), self.spaces.describe(right.space));
        self.equate(left.space, right.space, rule.right.span, "the sides differ in space").map_err(|e| {
            let message = format!("the left side stands over {l}, the right side over {r}");
            RuleError::new(e.code, e.span, message)
                .with_help("nothing in the left side or the conditions says that these spaces are equal")
        })
    }
}

/// The accumulation operator that an operator of a pattern stands for.
pub(crate) fn acc_operator(op: &AccOperator, var: impl Fn(&str) -> Option<Operation>) -> Option<AccOp> {
    match op {
        AccOperator::Known(op) => Some(*op),
        AccOperator::Var(name) => var(name)?.as_acc(),
    }
}

/// The binary operation, if it is one.
pub(crate) fn binary(op: Operation) -> Option<BinaryOp> {
    match op {
        Operation::Binary(op) => Some(op),
        _ => None,
    }
}
