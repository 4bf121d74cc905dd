//! Printing sources. What is printed reads back as the same tree.

use super::assign::{infix_primitive, outermost};
use super::expr::{INFIX, Infix, level};
use super::{
    Assignment, BinaryOp, Body, Expr, ExprKind, Function, Item, ItemKind, Logic, Name, Number, Operation,
    Source, SpecArgument, SpecOp, UnaryOp,
};
use crate::spec::Kind;
use std::fmt;

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{}", item_text(item, 0)))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&item_text(self, 0))
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&expr_text(self, level::LAMBDA))
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&assignment_text(self))
    }
}

fn list<T>(things: &[T], text: impl Fn(&T) -> String) -> String {
    things.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn names(names: &[Name]) -> String {
    list(names, |name| name.text.clone())
}

fn value(expr: &Expr) -> String {
    expr_text(expr, level::LAMBDA)
}

/// What stands in brackets; a function in parentheses, since `[|` opens a batch row.
fn elements(items: &[Expr]) -> String {
    list(items, |item| expr_text(item, level::OR))
}

fn item_text(item: &Item, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    indent
        + &match &item.kind {
            ItemKind::Input { name, shape: None, .. } => format!("input {};", name.text),
            ItemKind::Input { name, shape: Some(shape), facts } => {
                let facts = if facts.is_empty() { String::new() } else { format!(" where {}", names(facts)) };
                format!("input {}: \"{shape}\"{facts};", name.text)
            }
            ItemKind::Index { name, range } => format!("index {} < {range};", name.text),
            ItemKind::Sizes(sizes) => format!("size {};", names(sizes)),
            ItemKind::Where(facts) => format!("where {};", names(facts)),
            ItemKind::Let { name, value: v } => format!("let {} = {};", name.text, value(v)),
            ItemKind::Cut { names: n, value: v } => format!("let [{}] = {};", names(n), value(v)),
            ItemKind::Function(function) => function_text(function, depth),
            ItemKind::Operation(operation) => operation_text(operation),
            ItemKind::Output(outputs) => format!("output {};", names(outputs)),
            ItemKind::Assign(assignment) => format!("{};", assignment_text(assignment)),
            ItemKind::Expr(expr) => format!("{};", value(expr)),
        }
}

fn function_text(function: &Function, depth: usize) -> String {
    let Function { name, config, unit, tensors, body } = function;
    let mut text = format!("fn {}", name.text);
    if !config.is_empty() {
        let parameters = list(config, |p| match &p.default {
            Some(default) => format!("{} = {}", p.name.text, value(default)),
            None => p.name.text.clone(),
        });
        text += &format!("({parameters})");
    }
    if *unit {
        text += "()";
    }
    if !tensors.is_empty() {
        text += &format!("({})", names(tensors));
    }
    match body {
        Body { items, result: Some(result) } if items.is_empty() => format!("{text} = {};", value(result)),
        Body { items, result } => {
            text += " {\n";
            for item in items {
                text += &item_text(item, depth + 1);
                text.push('\n');
            }
            let indent = "  ".repeat(depth);
            if let Some(result) = result {
                text += &format!("{indent}  {}\n", value(result));
            }
            format!("{text}{indent}}}")
        }
    }
}

fn operation_text(operation: &Operation) -> String {
    let Operation { name, operands, logic, forward, gradient } = operation;
    let block = |assignments: &[Assignment]| {
        let lines: String = assignments.iter().map(|a| format!("  {};\n", assignment_text(a))).collect();
        format!(" {{\n{lines}}}")
    };
    let mut text = format!("op {}({})", name.text, names(operands));
    text += &logic.as_ref().map_or(String::new(), logic_text);
    text += &block(forward);
    if !gradient.is_empty() {
        text += &format!(" grad{}", block(gradient));
    }
    text
}

fn logic_text(logic: &Logic) -> String {
    match logic {
        Logic::Pointwise => " ~logic:\".\"".to_string(),
        Logic::Compose => " ~logic:\"@\"".to_string(),
        Logic::Transpose => " ~logic:\"T\"".to_string(),
        Logic::Spec(spec) => format!(" ~logic:{}", spec_text(spec)),
    }
}

fn spec_text(spec: &SpecArgument) -> String {
    match spec {
        SpecArgument::Name(name) => name.text.clone(),
        SpecArgument::Literal(spec, captures) if captures.is_empty() => format!("\"{spec}\""),
        SpecArgument::Literal(spec, captures) => {
            format!("\"{spec}\" [{}]", list(captures, |c| format!("\"{}\"", c.name)))
        }
    }
}

fn assignment_text(assignment: &Assignment) -> String {
    let Assignment { target, reset, accumulator, primitive, arguments, logic, .. } = assignment;
    let colon = if *reset { ":" } else { "" };
    let right = match (primitive.name, arguments.as_slice()) {
        ("identity", [argument]) if outermost(argument).0 == "identity" && !is_identity(argument) => {
            value(argument)
        }
        (name, [a, b]) => match INFIX.into_iter().find(|(_, infix, _)| infix_is(*infix, name)) {
            Some((sign, _, level)) => infix_text(a, sign, b, level),
            None => format!("{name}({})", list(arguments, value)),
        },
        (name, _) => format!("{name}({})", list(arguments, value)),
    };
    let logic = logic.as_ref().map_or(String::new(), logic_text);
    format!("{} ={colon}{} {right}{logic}", value(target), accumulator.sign())
}

/// Whether an expression applies `identity` by name.
fn is_identity(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(..))
        && outermost(expr).1.first().is_some_and(|inner| !std::ptr::eq(*inner, expr))
}

fn infix_is(infix: Infix, primitive: &str) -> bool {
    matches!(infix, Infix::Binary(op) if infix_primitive(op) == Some(primitive))
}

fn infix_text(a: &Expr, sign: &str, b: &Expr, at: u8) -> String {
    // Comparisons do not chain; powers associate to the right; everything else to the left.
    let (left, right) = match at {
        level::COMPARE => (at + 1, at + 1),
        level::POWER => (at + 1, level::PREFIX),
        _ => (at, at + 1),
    };
    format!("{} {sign} {}", expr_text(a, left), expr_text(b, right))
}

/// The sign of an operator between operands, with its level.
fn sign_of(wanted: Infix) -> (&'static str, u8) {
    INFIX
        .into_iter()
        .find(|(_, infix, _)| *infix == wanted)
        .map_or(("", level::LAMBDA), |(sign, _, at)| (sign, at))
}

/// How tightly an expression binds.
fn level_of(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Lambda(..) => level::LAMBDA,
        ExprKind::Unary(..) => level::PREFIX,
        ExprKind::Binary(op, ..) => sign_of(Infix::Binary(*op)).1,
        ExprKind::Einsum(op, ..) => sign_of(Infix::Spec(*op)).1,
        _ => level::POSTFIX,
    }
}

/// An expression, in parentheses if it binds less tightly than `floor`.
fn expr_text(expr: &Expr, floor: u8) -> String {
    let text = bare_text(expr);
    if level_of(expr) < floor { format!("({text})") } else { text }
}

fn basis_text(basis: &Option<String>) -> String {
    basis.as_ref().map_or(String::new(), |basis| format!(":{basis}"))
}

fn bare_text(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(Number::Int(n), basis) => format!("{n}{}", basis_text(basis)),
        ExprKind::Number(Number::Float(x), basis) => format!("{x:?}{}", basis_text(basis)),
        ExprKind::Text(text) => format!("\"{text}\""),
        ExprKind::Spec(spec) => spec_text(spec),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Literal { kind, items, basis } => {
            let (open, close) = match kind {
                Kind::Batch => ("[|", "|]"),
                Kind::Output => ("[", "]"),
                Kind::Input => ("(", if items.len() == 1 { ",)" } else { ")" }),
            };
            format!("{open}{}{close}{}", elements(items), basis_text(basis))
        }
        ExprKind::Define(define) => {
            let init = define.init.iter().map(|init| format!(" = {}", value(init)));
            let rows = define.rows.iter().map(|(kind, sizes)| {
                let key = &kind.name()[..1];
                format!(", {key} = [{}]", elements(sizes))
            });
            format!("{{ {}{} }}", define.name.text, init.chain(rows).collect::<String>())
        }
        ExprKind::Unary(op, inner) => {
            let sign = match op {
                UnaryOp::Neg => "-",
                UnaryOp::EmbedFloat => "!.",
                UnaryOp::EmbedInt => "!..",
                UnaryOp::EmbedIndex => "!@",
            };
            format!("{sign}{}", expr_text(inner, level::PREFIX))
        }
        ExprKind::Binary(op, a, b) => {
            let (sign, at) = sign_of(Infix::Binary(*op));
            infix_text(a, sign, b, at)
        }
        ExprKind::Einsum(op, operands, spec) => einsum_text(*op, operands, spec),
        ExprKind::Call(callee, arguments) => {
            let arguments = list(arguments, |argument| match &argument.key {
                Some(key) => format!("{}: {}", key.text, value(&argument.value)),
                None => value(&argument.value),
            });
            format!("{}({arguments})", expr_text(callee, level::POSTFIX))
        }
        ExprKind::Part(of, part) => format!("{}.{}", expr_text(of, level::POSTFIX), part.name()),
        ExprKind::Lambda(tensors, body) => format!("|{}| {}", names(tensors), value(body)),
    }
}

fn einsum_text(op: SpecOp, operands: &[Expr], spec: &SpecArgument) -> String {
    let (sign, at) = sign_of(Infix::Spec(op));
    let spec = spec_text(spec);
    match operands {
        [one] if op != SpecOp::Concat || !matches!(one.kind, ExprKind::Literal { .. }) => {
            format!("{} {sign} {spec}", expr_text(one, at))
        }
        [a, b] if op != SpecOp::Concat => {
            format!("{} {sign} {} {spec}", expr_text(a, at), expr_text(b, at + 1))
        }
        many => format!("[{}] {sign} {spec}", elements(many)),
    }
}

impl BinaryOp {
    /// The sign between the operands.
    pub fn sign(self) -> &'static str {
        sign_of(Infix::Binary(self)).0
    }
}

impl SpecOp {
    /// The sign between the operands, or after the only one.
    pub fn sign(self) -> &'static str {
        sign_of(Infix::Spec(self)).0
    }
}
