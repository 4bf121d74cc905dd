//! Rules in the form the engine runs: names resolved to slots, left sides as e-graph patterns.

use crate::error::EgraphError;
use crate::lang::{Node, Op};
use crate::matching::Head;
use crate::provenance::Tags;
use egg::{ENodeOrVar, Id, Pattern as EggPattern, RecExpr, Var};
use surject_ir::AccOp;
use surject_rules::{
    AccOperator, Argument, BindingKind, ConditionName, Exactness, FillPattern, Flags, MapKind, MapPattern,
    Operator, Pattern, PatternKind, Rule, Sort, Soundness,
};

/// A slot of the environment of a match.
pub type Slot = usize;

/// A term to build.
#[derive(Clone, Debug)]
pub enum Build {
    /// A number, in the type and space of its place.
    Number(f64),
    /// A number of points.
    Count(Slot),
    /// A field that was matched or bound.
    Var(Slot),
    /// A unary operation.
    Un(OpRef, Box<Build>),
    /// A binary operation.
    Bin(OpRef, Box<Build>, Box<Build>),
    /// A choice.
    Sel(Box<Build>, Box<Build>, Box<Build>),
    /// `read`
    Read(MapRef, Box<Build>),
    /// `acc`
    Acc(OpRef, MapRef, Box<Build>),
    /// An accumulation over named axes, in index notation.
    Reduce(AccOp, Vec<String>, Box<Build>),
}

/// An operation of a rule.
#[derive(Clone, Copy, Debug)]
pub enum OpRef {
    /// A known one.
    Known(Op),
    /// A variable.
    Var(Slot),
}

/// A map of a right side.
#[derive(Clone, Debug)]
pub enum MapRef {
    /// A variable.
    Var(Slot),
    /// First the second, then the first.
    Compose(Box<MapRef>, Box<MapRef>),
    /// The inverse on the image.
    Inverse(Box<MapRef>, Option<FillRef>),
    /// The identity of the space of a field.
    Identity(Box<Build>),
}

/// A fill of an inverse.
#[derive(Clone, Copy, Debug)]
pub enum FillRef {
    /// The neutral element of an operator.
    Neutral(OpRef),
    /// A number.
    Number(f64),
}

/// A condition.
#[derive(Clone, Debug)]
pub struct Test {
    /// The question.
    pub name: ConditionName,
    /// Is the opposite wanted?
    pub negated: bool,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// For `maps-fill`: an operand of the operation, where one has a name.
    pub operand: Option<Slot>,
}

/// An argument of a condition.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A slot.
    Slot(Slot),
    /// An operation.
    Op(Op),
    /// A class of element types.
    Word(String),
    /// A number.
    Number(f64),
}

/// A computation on maps and fields.
#[derive(Clone, Debug)]
pub enum Bind {
    /// `to_q, to_p = fibre n m`
    Fibre([Slot; 4]),
    /// `h = unread g m`
    Unread([Slot; 3]),
    /// `k = through n m`
    Through([Slot; 3]),
    /// `n, y, k = drop m x`
    Drop([Slot; 5]),
}

/// A rule in one direction.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: Exactness,
    /// Its flags.
    pub flags: Flags,
    /// The phase it names.
    pub phase: Option<String>,
    /// Names of slots; egg variables are `?0`, `?1`, ….
    pub slots: Vec<String>,
    /// How it is searched.
    pub left: Left,
    /// What is added.
    pub right: Build,
    /// The rule in what terms rest on.
    pub tags: Tags,
    /// Is it a rule of the user?
    pub own: bool,
    /// What interpretation says of it; none for the laws, whose conditions name their element types.
    pub soundness: Option<Soundness>,
    /// Operators of accumulations: any but `set`.
    pub not_set: Vec<Slot>,
    /// Conditions on the match.
    pub tests: Vec<Test>,
    /// Computations, in order.
    pub binds: Vec<Bind>,
}

/// How a rule is searched.
#[derive(Clone, Debug)]
pub enum Left {
    /// Map notation, or pointwise operations alone: one form per order of the operands of commutative operations.
    Maps(Vec<Form>),
    /// Index notation: matched by walking the class.
    Index(Pattern),
}

/// A left side with its operands in one order.
#[derive(Clone, Debug)]
pub struct Form {
    /// The pattern.
    pub pattern: EggPattern<Node>,
    /// Its head, for a quick no.
    pub head: Head,
    /// The operation variables that must be commutative for this order.
    pub commuting: Vec<Slot>,
}

impl Compiled {
    /// How far below the field in a slot the conditions and bindings look; `None` when they do not look at what may
    /// change.
    pub fn depth_below(&self, slot: Slot) -> Option<usize> {
        let binds = self.binds.iter().filter_map(|bind| match bind {
            Bind::Unread([_, g, _]) if *g == slot => Some(crate::bind::MAX_DEPTH),
            Bind::Drop([.., x]) if *x == slot => Some(0),
            _ => None,
        });
        use ConditionName::{Constant, NoNegativeZero, StartsAs, StaysFinite};
        let values = [Constant, NoNegativeZero, StartsAs, StaysFinite];
        let tests = self.tests.iter().filter(|t| values.contains(&t.name));
        let named =
            tests.flat_map(|t| &t.args).filter(|a| matches!(a, Arg::Slot(s) if *s == slot)).map(|_| 0);
        binds.chain(named).max()
    }
}

struct Names {
    rule: String,
    slots: Vec<String>,
    acc_ops: Vec<Slot>,
}

/// The rule in each direction it is used.
pub fn compile(rule: &Rule) -> Result<Vec<Compiled>, EgraphError> {
    let mut result = vec![one_way(rule, &rule.left, &rule.right)?];
    if rule.both_ways {
        result.push(one_way(rule, &rule.right, &rule.left)?);
    }
    Ok(result)
}

fn one_way(rule: &Rule, left: &Pattern, right: &Pattern) -> Result<Compiled, EgraphError> {
    let mut names = Names { rule: rule.name.clone(), slots: Vec::new(), acc_ops: Vec::new() };
    let mut tests = Vec::new();
    let left_form = if !rule.is_index_notation() {
        let mut forms = Vec::new();
        let by_role = rule.bindings.iter().any(|b| matches!(b.kind, BindingKind::Unread { .. }));
        for order in orders(left, by_role) {
            let mut ast = RecExpr::default();
            tests.clear();
            names.left(&order.0, &mut ast, &mut tests)?;
            let commuting = order.1.iter().map(|o| names.slot(o)).collect();
            let pattern = EggPattern::new(ast);
            forms.push(Form { head: Head::of(pattern.ast.as_ref()), pattern, commuting });
        }
        Left::Maps(forms)
    } else {
        Left::Index(left.clone())
    };
    for condition in &rule.conditions {
        let sorts = condition.name.signature();
        let args = condition.args.iter().zip(sorts).map(|(a, s)| names.arg(a, *s)).collect();
        let operand = match (condition.name, condition.args.first()) {
            (ConditionName::MapsFill, Some(Argument::Var(op, _))) => {
                operand_of(left, op).map(|x| names.slot(&x))
            }
            _ => None,
        };
        tests.push(Test { name: condition.name, negated: condition.negated, args, operand });
    }
    let binds = rule.bindings.iter().map(|b| names.bind(&b.kind)).collect();
    let right = names.right(right)?;
    Ok(Compiled {
        name: rule.name.clone(),
        class: rule.class,
        flags: rule.flags,
        phase: rule.phase.clone(),
        slots: names.slots,
        left: left_form,
        right,
        tags: Tags::NONE,
        own: false,
        soundness: None,
        not_set: names.acc_ops,
        tests,
        binds,
    })
}

/// The pattern with the operands of commutative binary operations in every order, and the operation variables
/// that stand swapped in it. Two plain variables are swapped only where the rule treats its operands differently
/// (`by_role`): elsewhere the other order matches the same terms and would only add their mirror images.
fn orders(pattern: &Pattern, by_role: bool) -> Vec<(Pattern, Vec<String>)> {
    let rebuilt = |kind| Pattern { kind, span: pattern.span };
    match &pattern.kind {
        PatternKind::Apply { op, args } => {
            let mut lists: Vec<(Vec<Pattern>, Vec<String>)> = vec![(Vec::new(), Vec::new())];
            for arg in args {
                let forms = orders(arg, by_role);
                lists = lists
                    .iter()
                    .flat_map(|(done, swapped)| {
                        forms.iter().map(move |(form, more)| {
                            (
                                done.iter().cloned().chain([form.clone()]).collect(),
                                swapped.iter().chain(more).cloned().collect(),
                            )
                        })
                    })
                    .collect();
            }
            let plain = |p: &Pattern| matches!(p.kind, PatternKind::Var { .. });
            let swaps = args.len() == 2
                && match op {
                    Operator::Binary(op) => op.is_commutative() && (by_role || !args.iter().all(plain)),
                    Operator::Var(_) => by_role,
                    _ => false,
                };
            let mut result = Vec::new();
            for (list, swapped) in lists {
                if swaps {
                    let mut other = list.clone();
                    other.reverse();
                    let mut swapped = swapped.clone();
                    if let Operator::Var(name) = op {
                        swapped.push(name.clone());
                    }
                    result.push((rebuilt(PatternKind::Apply { op: op.clone(), args: other }), swapped));
                }
                result.push((rebuilt(PatternKind::Apply { op: op.clone(), args: list }), swapped));
            }
            result
        }
        PatternKind::Read { map, of } => orders(of, by_role)
            .into_iter()
            .map(|(of, s)| (rebuilt(PatternKind::Read { map: map.clone(), of: Box::new(of) }), s))
            .collect(),
        PatternKind::Acc { op, map, of } => orders(of, by_role)
            .into_iter()
            .map(|(of, s)| {
                (rebuilt(PatternKind::Acc { op: op.clone(), map: map.clone(), of: Box::new(of) }), s)
            })
            .collect(),
        _ => vec![(pattern.clone(), Vec::new())],
    }
}

/// A variable that is an operand of the operation variable `op`.
fn operand_of(pattern: &Pattern, op: &str) -> Option<String> {
    if let PatternKind::Apply { op: Operator::Var(name), args } = &pattern.kind
        && name == op
    {
        return args.iter().find_map(|a| match &a.kind {
            PatternKind::Var { name, .. } => Some(name.clone()),
            _ => None,
        });
    }
    pattern.children().into_iter().find_map(|c| operand_of(c, op))
}

impl Names {
    fn slot(&mut self, name: &str) -> Slot {
        match self.slots.iter().position(|s| s == name) {
            Some(slot) => slot,
            None => {
                self.slots.push(name.to_string());
                self.slots.len() - 1
            }
        }
    }

    fn unsupported<T>(&self, why: impl Into<String>) -> Result<T, EgraphError> {
        Err(EgraphError::Unsupported { rule: self.rule.clone(), why: why.into() })
    }

    fn variable(&mut self, name: &str, ast: &mut RecExpr<ENodeOrVar<Node>>) -> Id {
        let slot = self.slot(name);
        ast.add(ENodeOrVar::Var(Var::from_u32(slot as u32)))
    }

    /// Adds a left side to an egg pattern.
    fn left(
        &mut self,
        pattern: &Pattern,
        ast: &mut RecExpr<ENodeOrVar<Node>>,
        tests: &mut Vec<Test>,
    ) -> Result<Id, EgraphError> {
        let node = |ast: &mut RecExpr<ENodeOrVar<Node>>, node| ast.add(ENodeOrVar::ENode(node));
        match &pattern.kind {
            PatternKind::Number(value) => {
                // A number matches a class that is this constant, whatever its space and type.
                let name = format!("={value:?}@{}", pattern.span.start);
                let id = self.variable(&name, ast);
                let slot = self.slot(&name);
                let args = vec![Arg::Slot(slot), Arg::Number(*value)];
                tests.push(Test { name: ConditionName::Constant, negated: false, args, operand: None });
                Ok(id)
            }
            PatternKind::Var { name, .. } => Ok(self.variable(name, ast)),
            PatternKind::Apply { op, args } => {
                let op = match op {
                    Operator::Unary(op) => Some(node(ast, Node::Op(Op::Unary(*op)))),
                    Operator::Binary(op) => Some(node(ast, Node::Op(Op::Binary(*op)))),
                    Operator::Var(name) if args.len() < 3 => Some(self.variable(name, ast)),
                    Operator::Var(_) | Operator::Select => None,
                };
                let args = args.iter().map(|a| self.left(a, ast, tests)).collect::<Result<Vec<_>, _>>()?;
                match (op, &args[..]) {
                    (Some(op), &[x]) => Ok(node(ast, Node::Un([op, x]))),
                    (Some(op), &[x, y]) => Ok(node(ast, Node::Bin([op, x, y]))),
                    (None, &[c, t, f]) => Ok(node(ast, Node::Sel([c, t, f]))),
                    _ => self.unsupported(format!("no operation takes {} operands", args.len())),
                }
            }
            PatternKind::Read { map, of } => {
                let map = self.left_map(map, ast)?;
                let of = self.left(of, ast, tests)?;
                Ok(node(ast, Node::Read([map, of])))
            }
            PatternKind::Acc { op, map, of } => {
                let op = match op {
                    AccOperator::Known(op) => node(ast, Node::Op(Op::of_acc(*op))),
                    AccOperator::Var(name) => {
                        let slot = self.slot(name);
                        self.acc_ops.push(slot);
                        self.variable(name, ast)
                    }
                };
                let map = self.left_map(map, ast)?;
                let of = self.left(of, ast, tests)?;
                Ok(node(ast, Node::Acc([op, map, of])))
            }
            PatternKind::Count(_) => self.unsupported("`#` stands on a left side"),
            PatternKind::Reduce { .. } => self.unsupported("the two notations stand in one rule"),
            PatternKind::StableHlo { name, .. } => self.unsupported(format!(
                "`stablehlo.{name}` is not a node of the algebra; write its assignment"
            )),
        }
    }

    fn left_map(&mut self, map: &MapPattern, ast: &mut RecExpr<ENodeOrVar<Node>>) -> Result<Id, EgraphError> {
        match &map.kind {
            MapKind::Var(name) => Ok(self.variable(name, ast)),
            _ => self.unsupported("a map of a left side is not a variable"),
        }
    }

    /// A right side.
    pub fn right(&mut self, pattern: &Pattern) -> Result<Build, EgraphError> {
        Ok(match &pattern.kind {
            PatternKind::Number(value) => Build::Number(*value),
            PatternKind::Count(name) => Build::Count(self.slot(&format!("#{name}"))),
            PatternKind::Var { name, .. } => Build::Var(self.slot(name)),
            PatternKind::Apply { op, args } => {
                let op = match op {
                    Operator::Unary(op) => Some(OpRef::Known(Op::Unary(*op))),
                    Operator::Binary(op) => Some(OpRef::Known(Op::Binary(*op))),
                    Operator::Var(name) if args.len() < 3 => Some(OpRef::Var(self.slot(name))),
                    Operator::Var(_) | Operator::Select => None,
                };
                let mut args =
                    args.iter().map(|a| self.right(a).map(Box::new)).collect::<Result<Vec<_>, _>>()?;
                match (op, args.len()) {
                    (Some(op), 1) => Build::Un(op, args.remove(0)),
                    (Some(op), 2) => Build::Bin(op, args.remove(0), args.remove(0)),
                    (None, 3) => Build::Sel(args.remove(0), args.remove(0), args.remove(0)),
                    (_, n) => return self.unsupported(format!("no operation takes {n} operands")),
                }
            }
            PatternKind::Reduce { op, axes, body } => {
                Build::Reduce(*op, axes.clone(), Box::new(self.right(body)?))
            }
            PatternKind::Read { map, of } => Build::Read(self.map(map)?, Box::new(self.right(of)?)),
            PatternKind::Acc { op, map, of } => {
                Build::Acc(self.acc_op(op), self.map(map)?, Box::new(self.right(of)?))
            }
            PatternKind::StableHlo { name, .. } => {
                return self.unsupported(format!("`stablehlo.{name}` is not a node of the algebra"));
            }
        })
    }

    fn acc_op(&mut self, op: &AccOperator) -> OpRef {
        match op {
            AccOperator::Known(op) => OpRef::Known(Op::of_acc(*op)),
            AccOperator::Var(name) => OpRef::Var(self.slot(name)),
        }
    }

    fn map(&mut self, map: &MapPattern) -> Result<MapRef, EgraphError> {
        Ok(match &map.kind {
            MapKind::Var(name) => MapRef::Var(self.slot(name)),
            MapKind::Compose(next, first) => {
                MapRef::Compose(Box::new(self.map(next)?), Box::new(self.map(first)?))
            }
            MapKind::Inverse(map, fill) => {
                let fill = fill.as_ref().map(|f| match f {
                    FillPattern::Neutral(op) => FillRef::Neutral(self.acc_op(op)),
                    FillPattern::Number(value) => FillRef::Number(*value),
                });
                MapRef::Inverse(Box::new(self.map(map)?), fill)
            }
            MapKind::Identity(of) => MapRef::Identity(Box::new(self.right(of)?)),
        })
    }

    fn arg(&mut self, arg: &Argument, sort: Sort) -> Arg {
        match arg {
            Argument::Var(name, _) => Arg::Slot(self.slot(name)),
            Argument::Number(value, _) => Arg::Number(*value),
            Argument::Word(word, _) if sort == Sort::DTypeClass => Arg::Word(word.clone()),
            Argument::Word(word, _) => {
                let known = surject_rules::Operation::from_word(word).map(Op::from);
                known.map_or_else(|| Arg::Word(word.clone()), Arg::Op)
            }
        }
    }

    fn bind(&mut self, kind: &BindingKind) -> Bind {
        match kind {
            BindingKind::Fibre { to_q, to_p, n, m } => Bind::Fibre([to_q, to_p, n, m].map(|s| self.slot(s))),
            BindingKind::Unread { result, field, map } => {
                Bind::Unread([result, field, map].map(|s| self.slot(s)))
            }
            BindingKind::Through { result, n, m } => Bind::Through([result, n, m].map(|s| self.slot(s))),
            BindingKind::Drop { map, field, count, from_map, from_field } => {
                let count = format!("#{count}");
                Bind::Drop([map, field, &count, from_map, from_field].map(|s| self.slot(s)))
            }
        }
    }
}
