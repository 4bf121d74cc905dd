//! Reading assignments.

use super::scan::Parser;
use super::{
    Accumulator, Argument, Assignment, BinaryOp, Expr, ExprKind, Logic, Number, Part, Primitive,
    SpecArgument, UnaryOp,
};
use crate::{NotationError, NotationErrorKind as Wrong, Span};

/// The primitive that an expression applies at its outermost place; otherwise the expression is copied.
pub(super) fn outermost(expr: &Expr) -> (&'static str, Vec<&Expr>) {
    match &expr.kind {
        ExprKind::Binary(op, a, b) => match infix_primitive(*op) {
            Some(name) => (name, vec![a, b]),
            None => ("identity", vec![expr]),
        },
        ExprKind::Unary(UnaryOp::Neg, a)
            if !matches!(a.kind, ExprKind::Number(Number::Int(_) | Number::Float(_), _)) =>
        {
            ("neg", vec![a])
        }
        ExprKind::Call(f, arguments) => match (&f.kind, plain(arguments)) {
            (ExprKind::Name(name), Some(values)) => match Primitive::of_name(name) {
                Some(primitive) if primitive.arity == values.len() => (primitive.name, values),
                _ => ("identity", vec![expr]),
            },
            _ => ("identity", vec![expr]),
        },
        _ => ("identity", vec![expr]),
    }
}

/// The arguments, if all stand without a key.
fn plain(arguments: &[Argument]) -> Option<Vec<&Expr>> {
    arguments.iter().map(|a| a.key.is_none().then_some(&a.value)).collect()
}

/// The primitive of a sign that is one at the outermost place of an assignment.
pub(super) fn infix_primitive(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Mul | BinaryOp::PointDiv | BinaryOp::PointPow => None,
        op => op.primitive(),
    }
}

impl Parser<'_> {
    /// Whether an assignment goes on after its target.
    pub(super) fn sees_assignment(&self) -> bool {
        self.sees("=") && !self.sees("==")
    }

    /// The rest of an assignment after its target, without the `;`.
    pub(super) fn assignment(&mut self, target: Expr) -> Result<Assignment, NotationError> {
        let start = target.span.start;
        let whole = match &target.kind {
            ExprKind::Binary(BinaryOp::Slice, of, index) if matches!(index.kind, ExprKind::Name(_)) => of,
            _ => &target,
        };
        let assignable = match &whole.kind {
            ExprKind::Name(_) | ExprKind::Define(_) => true,
            ExprKind::Part(of, Part::Grad | Part::Value | Part::Merge) => {
                matches!(of.kind, ExprKind::Name(_))
            }
            _ => false,
        };
        if !assignable {
            let error = NotationError::new(Wrong::Target, target.span, "this cannot be assigned");
            return Err(error.with_help(
                "assign a name, `name.grad`, `{ name }` for a new tensor, or a slice of these: `name @| index`",
            ));
        }
        let (reset, accumulator) = self.accumulation()?;
        let right = self.expr()?;
        let (name, arguments) = outermost(&right);
        let arguments: Vec<Expr> = arguments.into_iter().cloned().collect();
        arguments.iter().try_for_each(Expr::check_value)?;
        let Some(primitive) = Primitive::of_name(name) else {
            return Err(NotationError::new(Wrong::Unexpected, right.span, "no primitive of this name"));
        };
        let logic = self.logic()?;
        let span = self.since(start);
        self.check_logic(primitive, logic.as_ref(), right.span)?;
        Ok(Assignment { target, reset, accumulator, primitive, arguments, logic, span })
    }

    /// `=`, `:` and the sign of the accumulator, without blanks between them.
    fn accumulation(&mut self) -> Result<(bool, Accumulator), NotationError> {
        let after = self.rest().strip_prefix('=').unwrap_or_default();
        let reset = after.starts_with(':');
        let signs = after.strip_prefix(':').unwrap_or(after);
        // A division sign may also begin a comment.
        let comment = signs.starts_with("//") || signs.starts_with("/*");
        let found = Accumulator::TABLE.into_iter().find(|(sign, _)| !comment && signs.starts_with(sign));
        let length = 1 + usize::from(reset) + found.map_or(0, |(sign, _)| sign.len());
        match found {
            None if !reset => {
                let error = NotationError::new(Wrong::Unexpected, self.here(), "`=` alone does not write");
                let error = error.expecting(&["`=:`", "`=+`", "`=:+`", "another accumulator"]);
                Err(error.with_help("`x =: …` writes, `x =+ …` accumulates, `let x = …;` gives a name"))
            }
            _ => {
                self.advance(length)?;
                Ok((reset, found.map_or(Accumulator::Set, |(_, accumulator)| accumulator)))
            }
        }
    }

    /// `~logic:` and what follows, if it stands here.
    pub(super) fn logic(&mut self) -> Result<Option<Logic>, NotationError> {
        if !self.eat("~")? {
            return Ok(None);
        }
        if !self.eat_word("logic")? {
            return Err(self.unexpected("only `~logic:` can stand here", &["`logic:`"]));
        }
        if !self.eat(":")? {
            return Err(self.unexpected("a colon is missing", &["`:`"]));
        }
        let kinds = &["`\".\"`", "`\"@\"`", "`\"T\"`", "a spec in quotes", "the name of a spec"];
        if let Some((text, span)) = self.string()? {
            return Ok(Some(match text.trim() {
                "." => Logic::Pointwise,
                "@" => Logic::Compose,
                "T" => Logic::Transpose,
                _ => Logic::Spec(self.spec_of(text, span)?),
            }));
        }
        if self.word().is_none() {
            return Err(self.unexpected("the logic is missing", kinds));
        }
        Ok(Some(Logic::Spec(SpecArgument::Name(self.name("the logic")?))))
    }

    /// Refuses a logic that does not fit what is computed, or its absence where nothing else decides.
    fn check_logic(
        &self,
        primitive: Primitive,
        logic: Option<&Logic>,
        span: Span,
    ) -> Result<(), NotationError> {
        let Primitive { name, arity } = primitive;
        match logic {
            None if self.operands.is_none() && matches!(name, "mul" | "div" | "pow") => {
                let message = "nothing says how the axes of these operands meet";
                let error = NotationError::new(Wrong::NoLogic, span, message);
                Err(error.with_help(
                    "add `~logic:\".\"` (pointwise), `~logic:\"@\"` (compose) or `~logic:\"spec\"`; or write `*.`, \
                     which is a pointwise tensor operation",
                ))
            }
            Some(Logic::Compose) if matches!(name, "div" | "pow" | "where" | "mul3") => {
                let error = NotationError::new(Wrong::Logic, span, format!("`{name}` does not compose"));
                Err(error.with_help(
                    "`\"@\"` reads the first operand as a function of the second, and of three takes `fma`: \
                     use `\".\"` or a spec",
                ))
            }
            Some(logic) => fits(logic, arity, "assignment", span),
            None => Ok(()),
        }
    }
}

/// Refuses a logic for another number of operands.
pub(super) fn fits(logic: &Logic, arity: usize, what: &str, span: Span) -> Result<(), NotationError> {
    let wrong = |message: &str| Err(NotationError::new(Wrong::Logic, span, message));
    match logic {
        Logic::Compose if arity == 1 => wrong("`\"@\"` composes two operands, and there is one"),
        Logic::Transpose if arity != 1 => wrong("`\"T\"` transposes one operand, and there are more"),
        Logic::Spec(SpecArgument::Literal(spec, _)) => {
            spec.as_ref().clone().with_arity(what, arity).map(|_| ())
        }
        _ => Ok(()),
    }
}
