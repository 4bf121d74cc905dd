//! Rules printed back in the grammar of rule files.

use crate::ast::*;
use std::fmt::{self, Display, Formatter};
use surject_ir::AccOp;

/// Writes items with a separator between them.
fn list<T: Display>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    separator: &str,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { separator } else { "" })?;
    }
    Ok(())
}

/// A number as the parser reads it.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n.is_nan() => f.write_str("nan"),
            n if n.fract() == 0.0 && n.abs() < 1e15 && !(n == 0.0 && n.is_sign_negative()) => {
                write!(f, "{n:.0}")
            }
            n => write!(f, "{n:?}"),
        }
    }
}

impl Display for RuleFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        list(f, &self.rules, "\n")
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "rule {} {}", self.name, self.class)?;
        if self.flags != Flags::default() {
            write!(f, " {}", self.flags)?;
        }
        if let Some(phase) = &self.phase {
            write!(f, " phase {phase}")?;
        }
        let arrow = if self.both_ways { "<=>" } else { "=>" };
        write!(f, "\n  {} {arrow} {}\n", self.left, self.right)?;
        if !self.conditions.is_empty() {
            f.write_str("  where ")?;
            list(f, &self.conditions, ", ")?;
            f.write_str("\n")?;
        }
        self.bindings.iter().try_for_each(|b| writeln!(f, "  let {b}"))
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let args = |f: &mut Formatter<'_>, args: &[Pattern]| {
            args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
            f.write_str(")")
        };
        match &self.kind {
            PatternKind::Number(value) => Number(*value).fmt(f),
            PatternKind::Count(name) => write!(f, "#{name}"),
            PatternKind::Var { name, axes } => {
                write!(f, "?{name}")?;
                let Some(axes) = axes else { return Ok(()) };
                f.write_str("[")?;
                list(f, axes, ", ")?;
                f.write_str("]")
            }
            PatternKind::Apply { op, args: operands } => {
                write!(f, "({op}")?;
                args(f, operands)
            }
            PatternKind::Reduce { op, axes, body } => {
                let name = match op {
                    AccOp::Add => "sum",
                    AccOp::Mul => "prod",
                    other => other.name(),
                };
                write!(f, "({name} [")?;
                list(f, axes, ", ")?;
                write!(f, "] {body})")
            }
            PatternKind::Read { map, of } => write!(f, "(read {map} {of})"),
            PatternKind::Acc { op, map, of } => write!(f, "(acc {op} {map} {of})"),
            PatternKind::StableHlo { name, attributes, args: operands } => {
                write!(f, "(stablehlo.{name}")?;
                if !attributes.is_empty() {
                    f.write_str(" [")?;
                    list(f, attributes.iter().map(|(name, value)| format!("{name} = {value}")), ", ")?;
                    f.write_str("]")?;
                }
                args(f, operands)
            }
        }
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Unary(op) => op.fmt(f),
            Operator::Binary(op) => op.fmt(f),
            Operator::Select => f.write_str("select"),
            Operator::Var(name) => write!(f, "?{name}"),
        }
    }
}

impl Display for AccOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AccOperator::Known(op) => op.fmt(f),
            AccOperator::Var(name) => write!(f, "?{name}"),
        }
    }
}

impl Display for MapPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            MapKind::Var(name) => write!(f, "?{name}"),
            MapKind::Compose(next, first) => write!(f, "(compose {next} {first})"),
            MapKind::Inverse(map, None) => write!(f, "(inverse {map})"),
            MapKind::Inverse(map, Some(FillPattern::Neutral(op))) => {
                write!(f, "(inverse {map} (neutral {op}))")
            }
            MapKind::Inverse(map, Some(FillPattern::Number(fill))) => {
                write!(f, "(inverse {map} {})", Number(*fill))
            }
            MapKind::Identity(of) => write!(f, "(identity {of})"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "not " } else { "" }, self.name.name())?;
        self.args.iter().try_for_each(|arg| match arg {
            Argument::Var(name, _) => write!(f, " ?{name}"),
            Argument::Word(word, _) => write!(f, " {word}"),
            Argument::Number(value, _) => write!(f, " {}", Number(*value)),
        })
    }
}

impl Display for Binding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BindingKind::Fibre { to_q, to_p, n, m } => write!(f, "?{to_q}, ?{to_p} = fibre ?{n} ?{m}"),
            BindingKind::Unread { result, field, map } => write!(f, "?{result} = unread ?{field} ?{map}"),
            BindingKind::Through { result, n, m } => write!(f, "?{result} = through ?{n} ?{m}"),
            BindingKind::Drop { map, field, count, from_map, from_field } => {
                write!(f, "?{map}, ?{field}, #{count} = drop ?{from_map} ?{from_field}")
            }
        }
    }
}
