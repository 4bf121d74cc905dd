//! Operators: how operands and result meet, what the forward pass writes, what the gradient writes.
//!
//! An operator is a text, the `op` item of the notation: `op mul(a, b) { v =:+ v1 * v2 } grad { g1 =+ g * v2; … }`.
//! Its assignments name tensors by *slot* (seed 003): the result, an operand, or a local tensor that claims a slot by
//! its name. All of them are addressed by the index maps of the one operation, so a gradient needs no inference of
//! its own.

use crate::error::{TensorError, TensorErrorKind};
use std::sync::Arc;
use surject_notation::Span;
use surject_notation::source::{
    Accumulator, Assignment, Expr, ExprKind, Logic, Number, Operation, Primitive, Slot, UnaryOp,
};

/// The primitive that takes a word of random bits apart.
pub(crate) const CONVERSION: &str = "uint4x32_to_prec_uniform";

/// An operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// The name, as errors and graphs show it.
    pub name: String,
    /// The number of operands; `None` takes any number of them.
    pub arity: Option<usize>,
    /// How operands and result meet; `None`: pointwise, unless the use says otherwise.
    pub logic: Option<Logic>,
    /// Tensors that the assignments make: a name, and the slot whose shape and index map they have.
    pub locals: Vec<(String, Slot)>,
    /// What the forward pass writes.
    pub forward: Vec<Rule>,
    /// What the gradient writes; nothing: the result does not depend smoothly on its operands.
    pub gradient: Vec<Rule>,
}

/// An assignment of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What is written.
    pub target: Cell,
    /// Whether the target starts from the neutral element.
    pub reset: bool,
    /// How values that meet in one position become one.
    pub accumulator: Accumulator,
    /// What is written there, for each point of the product space.
    pub value: Term,
}

/// A tensor that an assignment of an operator names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// The value of the result or of an operand.
    Value(Slot),
    /// The gradient of the result or of an operand.
    Gradient(Slot),
    /// A local tensor, by its place in [`Operator::locals`].
    Local(usize),
}

/// A scalar expression at a point of the product space.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A tensor, read by the index map of its slot.
    Cell(Cell),
    /// A number.
    Number(f64),
    /// A primitive applied.
    Apply(Primitive, Vec<Term>),
}

impl Term {
    /// The tensors that are read.
    pub fn cells(&self) -> Vec<Cell> {
        match self {
            Term::Cell(cell) => vec![*cell],
            Term::Number(_) => Vec::new(),
            Term::Apply(_, terms) => terms.iter().flat_map(Term::cells).collect(),
        }
    }
}

impl Operator {
    /// The operator that an `op` item says.
    ///
    /// # Errors
    /// A name that is neither an operand nor a slot; an expression that is not made of primitives.
    pub fn of_item(item: &Operation) -> Result<Operator, TensorError> {
        let mut reader = Reader { item, locals: Vec::new() };
        let forward = item.forward.iter().map(|a| reader.rule(a)).collect::<Result<_, _>>()?;
        let gradient = item.gradient.iter().map(|a| reader.rule(a)).collect::<Result<_, _>>()?;
        Ok(Operator {
            name: item.name.text.clone(),
            arity: Some(item.operands.len()),
            logic: item.logic.clone(),
            locals: reader.locals,
            forward,
            gradient,
        })
    }

    /// The concatenation of any number of operands: each is added up where its component is active.
    pub fn concatenation(operands: usize) -> Operator {
        let slots = || (1..=operands).map(|k| Slot::Rhs(k as u8));
        let rule = |target, reset, cell| Rule {
            target,
            reset,
            accumulator: Accumulator::Add,
            value: Term::Cell(cell),
        };
        Operator {
            name: "concat".to_string(),
            arity: Some(operands),
            logic: None,
            locals: Vec::new(),
            forward: slots()
                .map(|s| rule(Cell::Value(Slot::Lhs), s == Slot::Rhs(1), Cell::Value(s)))
                .collect(),
            gradient: slots().map(|s| rule(Cell::Gradient(s), false, Cell::Gradient(Slot::Lhs))).collect(),
        }
    }

    /// A single assignment outside of any operator: the target is the result, what it reads are operands.
    pub fn assignment(reset: bool, accumulator: Accumulator, value: Term) -> Operator {
        let arity = value
            .cells()
            .into_iter()
            .filter_map(|c| match c {
                Cell::Value(Slot::Rhs(k)) => Some(usize::from(k)),
                _ => None,
            })
            .max()
            .unwrap_or(0);
        Operator {
            name: format!("={}{}", if reset { ":" } else { "" }, accumulator.sign()),
            arity: Some(arity),
            logic: None,
            locals: Vec::new(),
            forward: vec![Rule { target: Cell::Value(Slot::Lhs), reset, accumulator, value }],
            gradient: Vec::new(),
        }
    }

    /// Whether it makes several numbers of each word of random bits.
    pub(crate) fn converts_words(&self) -> bool {
        let converts = |rule: &Rule| matches!(&rule.value, Term::Apply(p, _) if p.name == CONVERSION);
        self.forward.iter().any(converts)
    }

    /// The same operator behind a shared pointer.
    pub fn shared(self) -> Arc<Operator> {
        Arc::new(self)
    }
}

struct Reader<'a> {
    item: &'a Operation,
    locals: Vec<(String, Slot)>,
}

impl Reader<'_> {
    fn rule(&mut self, a: &Assignment) -> Result<Rule, TensorError> {
        if a.logic.is_some() {
            return Err(self.wrong(
                a.span,
                "an assignment inside an operator has the index maps of the operator",
                "give the `~logic` to the operator",
            ));
        }
        let terms = a.arguments.iter().map(|e| self.term(e)).collect::<Result<Vec<_>, _>>()?;
        let value = match (a.primitive.name, <[Term; 1]>::try_from(terms)) {
            ("identity", Ok([term])) => term,
            (_, Ok([term])) => Term::Apply(a.primitive, vec![term]),
            (_, Err(terms)) => Term::Apply(a.primitive, terms),
        };
        let target = match &a.target.kind {
            ExprKind::Name(name) => self.cell(name, a.target.span)?,
            ExprKind::Define(define) if define.init.is_none() && define.rows.is_empty() => {
                self.local(&define.name.text, define.name.span)?
            }
            _ => {
                return Err(self.wrong(
                    a.target.span,
                    "this is no slot",
                    "write `v`, `g1` or `{ name_rhs1 }`",
                ));
            }
        };
        Ok(Rule { target, reset: a.reset, accumulator: a.accumulator, value })
    }

    fn term(&mut self, e: &Expr) -> Result<Term, TensorError> {
        let apply = |name: &str, terms: Vec<Term>| {
            Primitive::of_name(name).filter(|p| p.arity == terms.len()).map(|p| Term::Apply(p, terms))
        };
        let term = match &e.kind {
            ExprKind::Number(Number::Int(n), None) => Some(Term::Number(*n as f64)),
            ExprKind::Number(Number::Float(x), None) => Some(Term::Number(*x)),
            ExprKind::Name(name) => Some(Term::Cell(self.cell(name, e.span)?)),
            ExprKind::Unary(UnaryOp::Neg, x) => match self.term(x)? {
                Term::Number(x) => Some(Term::Number(-x)),
                term => apply("neg", vec![term]),
            },
            ExprKind::Binary(op, x, y) => match op.primitive() {
                Some(name) => {
                    let terms = vec![self.term(x)?, self.term(y)?];
                    apply(name, terms)
                }
                None => None,
            },
            ExprKind::Call(f, arguments) => match &f.kind {
                ExprKind::Name(name) if arguments.iter().all(|a| a.key.is_none()) => {
                    let terms = arguments.iter().map(|a| self.term(&a.value)).collect::<Result<_, _>>()?;
                    apply(name, terms)
                }
                _ => None,
            },
            _ => None,
        };
        term.ok_or_else(|| {
            self.wrong(
                e.span,
                "an assignment of an operator is made of slots, numbers and primitives",
                "use `+ - * / ** %`, comparisons and the primitives by name",
            )
        })
    }

    /// The tensor of a name: an operand, a slot, or a local that was defined before.
    fn cell(&self, name: &str, span: Span) -> Result<Cell, TensorError> {
        if let Some(k) = self.item.operands.iter().position(|o| o.text == name) {
            return Ok(Cell::Value(Slot::Rhs(k as u8 + 1)));
        }
        if let Some(k) = self.locals.iter().position(|(local, _)| local == name) {
            return Ok(Cell::Local(k));
        }
        let known = |slot| match slot {
            Slot::Lhs => true,
            Slot::Rhs(k) => usize::from(k) <= self.item.operands.len(),
        };
        match (name.as_bytes().first(), Slot::of_name(name)) {
            (Some(b'g'), Some(slot)) if name.len() <= 2 && known(slot) => Ok(Cell::Gradient(slot)),
            (Some(b'v' | b't'), Some(slot)) if name.len() <= 2 && known(slot) => Ok(Cell::Value(slot)),
            (_, Some(slot)) if ["lhs", "rhs1", "rhs2", "rhs3"].contains(&name) && known(slot) => {
                Ok(Cell::Value(slot))
            }
            _ => Err(self.wrong(
                span,
                &format!("`{name}` is neither an operand nor a slot of this operator"),
                "`v` and `g` are the result and its gradient, `v1` and `g1` those of the first operand; a local tensor is defined first, as `{ name_rhs1 } =: …`",
            )),
        }
    }

    fn local(&mut self, name: &str, span: Span) -> Result<Cell, TensorError> {
        if let Some(k) = self.locals.iter().position(|(local, _)| local == name) {
            return Ok(Cell::Local(k));
        }
        let slot = Slot::of_name(name).ok_or_else(|| {
            self.wrong(
                span,
                &format!("nothing says which slot the local tensor `{name}` has"),
                "end its name with `_lhs`, `_rhs1`, `_rhs2` or `_rhs3`",
            )
        })?;
        self.locals.push((name.to_string(), slot));
        Ok(Cell::Local(self.locals.len() - 1))
    }

    fn wrong(&self, span: Span, message: &str, help: &str) -> TensorError {
        let message = format!("in the operator `{}`: {message}", self.item.name.text);
        TensorError::new(TensorErrorKind::Operator, message).with_help(help).spanning(span)
    }
}
