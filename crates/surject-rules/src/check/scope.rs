//! Names: what is bound where, as what, and over which axes.

use crate::ast::*;
use crate::error::RuleError;
use crate::semantics::{Operation, in_class};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use surject_ir::DType;

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Field,
    Map,
    /// An operation with this many operands. The operator of an accumulation has two.
    Operation(usize),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Field => f.write_str("a field"),
            Kind::Map => f.write_str("a map"),
            Kind::Operation(1) => f.write_str("an operation with one operand"),
            Kind::Operation(_) => f.write_str("an operation with two operands"),
        }
    }
}

/// What is known of the names of a rule.
#[derive(Default)]
struct Names<'a> {
    /// Variables, in the order of their first occurrence.
    vars: BTreeMap<&'a str, (Kind, Span)>,
    /// Variables that a `let` computes, among `vars`.
    computed: BTreeSet<&'a str>,
    counts: BTreeSet<&'a str>,
    /// The axes of field variables.
    axes_of: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Every axis named on the side that binds.
    axes: BTreeSet<&'a str>,
}

/// A side of a rule, or what it may do there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Names are bound by their occurrence.
    Binds,
    /// Names must be bound.
    Uses,
}

type Checked = Result<(), RuleError>;

/// The patterns of both sides of a rule together.
const MAX_PATTERNS: usize = 512;

pub(super) fn check(rule: &Rule) -> Checked {
    let size = rule.left.size() + rule.right.size();
    if size > MAX_PATTERNS {
        let message = format!("the rule has {size} patterns; at most {MAX_PATTERNS} are checked");
        return Err(RuleError::new("SJ0204", rule.name_span, message));
    }
    notation(rule)?;
    if matches!(rule.left.kind, PatternKind::Var { .. } | PatternKind::Number(_) | PatternKind::Count(_)) {
        let message = format!("the left side `{}` would match every field of the program", rule.left);
        return Err(RuleError::new("SJ0217", rule.left.span, message)
            .with_help("a left side is an operation on patterns, such as `(exp ?x)`"));
    }
    let mut names = Names::default();
    names.pattern(&rule.left, Side::Binds)?;
    rule.conditions.iter().try_for_each(|c| names.condition(c))?;
    let left_free = free_axes(&rule.left);
    if rule.both_ways {
        invertible(rule)?;
    }
    rule.bindings.iter().try_for_each(|b| names.binding(b))?;
    names.pattern(&rule.right, Side::Uses)?;
    let mut scope: Vec<&str> = left_free.iter().copied().collect();
    in_scope(&rule.right, &mut scope)
}

/// Index notation and map notation do not mix, and operations of StableHLO have no meaning here.
fn notation(rule: &Rule) -> Checked {
    for side in [&rule.left, &rule.right] {
        if let Some(found) = find(side, &|p| matches!(p.kind, PatternKind::StableHlo { .. })) {
            return Err(RuleError::new(
                "SJ0223",
                found.span,
                "an operation of StableHLO cannot stand in a rule",
            )
            .with_help("programs are rewritten as assignments; write what the operation computes"));
        }
    }
    if !(rule.is_map_notation() && rule.is_index_notation()) {
        return Ok(());
    }
    let named =
        |p: &Pattern| matches!(&p.kind, PatternKind::Reduce { .. } | PatternKind::Var { axes: Some(_), .. });
    let place = find(&rule.left, &named).or_else(|| find(&rule.right, &named)).unwrap_or(&rule.left);
    Err(RuleError::new("SJ0218", place.span, "named axes stand in a rule that mentions maps").with_help(
        "write the rule in index notation (`(sum [k] ?x[k])`) or in map notation (`(acc + ?M ?x)`), not in both",
    ))
}

fn find<'a>(pattern: &'a Pattern, wanted: &dyn Fn(&Pattern) -> bool) -> Option<&'a Pattern> {
    if wanted(pattern) {
        return Some(pattern);
    }
    pattern.children().into_iter().find_map(|c| find(c, wanted))
}

/// The axes that stand outside every reduction over them.
fn free_axes(pattern: &Pattern) -> BTreeSet<&str> {
    match &pattern.kind {
        PatternKind::Var { axes: Some(axes), .. } => axes.iter().map(String::as_str).collect(),
        PatternKind::Reduce { axes, body, .. } => {
            let mut free = free_axes(body);
            axes.iter().for_each(|axis| {
                free.remove(axis.as_str());
            });
            free
        }
        _ => pattern.children().into_iter().flat_map(free_axes).collect(),
    }
}

/// Every axis of the right side must be reduced around it or be an axis of the result.
fn in_scope<'a>(pattern: &'a Pattern, scope: &mut Vec<&'a str>) -> Checked {
    match &pattern.kind {
        PatternKind::Var { name, axes: Some(axes) } => {
            match axes.iter().find(|axis| !scope.contains(&axis.as_str())) {
                None => Ok(()),
                Some(axis) => {
                    let message =
                        format!("`?{name}` depends on `{axis}` and stands outside the reduction over it");
                    Err(RuleError::new("SJ0210", pattern.span, message).with_help(format!(
                        "the left side does not depend on `{axis}`, so the right side must reduce over it"
                    )))
                }
            }
        }
        PatternKind::Reduce { axes, body, .. } => {
            let outer = scope.len();
            scope.extend(axes.iter().map(String::as_str));
            let result = in_scope(body, scope);
            scope.truncate(outer);
            result
        }
        _ => pattern.children().into_iter().try_for_each(|c| in_scope(c, scope)),
    }
}

/// A rule for both directions must bind the same names on both sides.
fn invertible(rule: &Rule) -> Checked {
    if matches!(rule.right.kind, PatternKind::Var { .. } | PatternKind::Number(_) | PatternKind::Count(_)) {
        let mut right = Names::default();
        right.pattern(&rule.right, Side::Binds)?;
        let mut left = Names::default();
        left.pattern(&rule.left, Side::Binds)?;
        let lost: Vec<String> =
            left.vars.keys().filter(|v| !right.vars.contains_key(*v)).map(|v| format!("`?{v}`")).collect();
        let why = if lost.is_empty() {
            "its right side would match every field of the program".to_string()
        } else {
            format!("its right side does not mention {}", lost.join(", "))
        };
        return Err(RuleError::new(
            "SJ0213",
            rule.right.span,
            format!("the rule cannot be used from right to left: {why}"),
        )
        .with_help("write `=>`"));
    }
    if let Some(binding) = rule.bindings.first() {
        let message = "a rule for both directions cannot compute with `let`";
        return Err(RuleError::new("SJ0213", binding.span, message).with_help("write two rules with `=>`"));
    }
    let (mut left, mut right) = (Names::default(), Names::default());
    left.pattern(&rule.left, Side::Binds)?;
    right.pattern(&rule.right, Side::Binds).map_err(|e| match e.code {
        "SJ0214" => RuleError::new(
            "SJ0213",
            e.span,
            format!("the rule cannot be used from right to left: {}", e.message),
        )
        .with_help("write `=>`"),
        _ => e,
    })?;
    for (here, there, side) in [(&left, &right, "right"), (&right, &left, "left")] {
        if let Some((name, (_, span))) = here.vars.iter().find(|(name, _)| !there.vars.contains_key(*name)) {
            let message =
                format!("the rule is for both directions, and `?{name}` does not stand on the {side} side");
            return Err(
                RuleError::new("SJ0213", *span, message).with_help("write `=>`, or mention it on both sides")
            );
        }
    }
    let (free_left, free_right) = (free_axes(&rule.left), free_axes(&rule.right));
    if let Some(axis) = free_left.symmetric_difference(&free_right).next() {
        let message = format!("the rule is for both directions, and only one side depends on `{axis}`");
        return Err(RuleError::new("SJ0213", rule.right.span, message).with_help("write `=>`"));
    }
    Ok(())
}

impl<'a> Names<'a> {
    /// Records or checks an occurrence of a variable.
    fn occur(&mut self, name: &'a str, kind: Kind, span: Span, side: Side) -> Checked {
        match self.vars.get(name) {
            Some((known, _)) if *known == kind => Ok(()),
            Some((known, _)) => {
                let message = format!("`?{name}` is {known} and stands here as {kind}");
                Err(RuleError::new("SJ0209", span, message).with_help("give the two different names"))
            }
            None if side == Side::Binds => {
                self.vars.insert(name, (kind, span));
                Ok(())
            }
            None => {
                let known: Vec<String> =
                    self.vars.iter().filter(|(_, k)| k.0 == kind).map(|(n, _)| format!("?{n}")).collect();
                let error =
                    RuleError::new("SJ0208", span, format!("`?{name}` is not bound by the left side"));
                Err(if known.is_empty() {
                    error
                } else {
                    error.with_help(format!("bound are {}", known.join(", ")))
                })
            }
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern, side: Side) -> Checked {
        let span = pattern.span;
        match &pattern.kind {
            PatternKind::Number(_) => Ok(()),
            PatternKind::Count(name) if side == Side::Binds => {
                let message = format!("`#{name}` is computed by a `let` and cannot be matched");
                Err(RuleError::new("SJ0214", span, message)
                    .with_help("numbers of points stand on the right side only"))
            }
            PatternKind::Count(name) if self.counts.contains(name.as_str()) => Ok(()),
            PatternKind::Count(name) => {
                Err(RuleError::new("SJ0208", span, format!("`#{name}` is not bound"))
                    .with_help(format!("a number of points comes from `let ?N, ?y, #{name} = drop ?M ?x`")))
            }
            PatternKind::Var { name, axes } => {
                self.occur(name, Kind::Field, span, side)?;
                self.axes(name, axes.as_deref().unwrap_or_default(), span, side)
            }
            PatternKind::Apply { op, args } => {
                if let Operator::Var(name) = op {
                    if !matches!(args.len(), 1 | 2) {
                        let message = format!("`?{name}` stands with {} operands", args.len());
                        return Err(RuleError::new("SJ0209", span, message)
                            .with_help("a variable stands for an operation with one or two operands"));
                    }
                    self.occur(name, Kind::Operation(args.len()), span, side)?;
                }
                args.iter().try_for_each(|a| self.pattern(a, side))
            }
            PatternKind::Reduce { axes, body, .. } => {
                distinct(axes, span)?;
                if axes.is_empty() {
                    return Err(RuleError::new("SJ0212", span, "a reduction over no axis")
                        .with_help("name the axes it reduces: `(sum [k] …)`"));
                }
                for axis in axes {
                    if side == Side::Binds {
                        self.axes.insert(axis);
                    } else if !self.axes.contains(axis.as_str()) {
                        let message = format!("the axis `{axis}` does not occur on the left side");
                        return Err(RuleError::new("SJ0212", span, message)
                            .with_help("a reduction runs over axes that the left side names"));
                    }
                }
                self.pattern(body, side)
            }
            PatternKind::Read { map, of } => {
                self.map(map, side)?;
                self.pattern(of, side)
            }
            PatternKind::Acc { op, map, of } => {
                self.acc_operator(op, span, side)?;
                self.map(map, side)?;
                self.pattern(of, side)
            }
            PatternKind::StableHlo { args, .. } => args.iter().try_for_each(|a| self.pattern(a, side)),
        }
    }

    /// Every occurrence of a variable has the same axes.
    fn axes(&mut self, name: &'a str, axes: &'a [String], span: Span, side: Side) -> Checked {
        distinct(axes, span)?;
        let set: BTreeSet<&str> = axes.iter().map(String::as_str).collect();
        if side == Side::Binds {
            self.axes.extend(&set);
        }
        let show = |set: &BTreeSet<&str>| match set.is_empty() {
            true => format!("`?{name}`"),
            false => format!("`?{name}[{}]`", set.iter().copied().collect::<Vec<_>>().join(", ")),
        };
        match self.axes_of.get(name) {
            Some(known) if *known != set => {
                let message = format!("{} stands elsewhere as {}", show(&set), show(known));
                Err(RuleError::new("SJ0211", span, message)
                    .with_help("every occurrence of a variable depends on the same axes"))
            }
            _ => {
                self.axes_of.insert(name, set);
                Ok(())
            }
        }
    }

    fn acc_operator(&mut self, op: &'a AccOperator, span: Span, side: Side) -> Checked {
        match op {
            AccOperator::Known(_) => Ok(()),
            AccOperator::Var(name) => self.occur(name, Kind::Operation(2), span, side),
        }
    }

    fn map(&mut self, map: &'a MapPattern, side: Side) -> Checked {
        let span = map.span;
        if let MapKind::Var(name) = &map.kind {
            return self.occur(name, Kind::Map, span, side);
        }
        if side == Side::Binds {
            return Err(RuleError::new("SJ0214", span, format!("`{map}` is computed and cannot be matched"))
                .with_help("maps of a left side are variables; say with `where` what they must be"));
        }
        match &map.kind {
            MapKind::Var(_) => Ok(()),
            MapKind::Compose(next, first) => {
                self.map(next, side)?;
                self.map(first, side)
            }
            MapKind::Inverse(map, fill) => {
                if let Some(FillPattern::Neutral(op)) = fill {
                    self.acc_operator(op, span, side)?;
                }
                self.map(map, side)
            }
            MapKind::Identity(of) => self.pattern(of, side),
        }
    }

    fn condition(&mut self, condition: &'a Condition) -> Checked {
        let name = condition.name.name();
        for (arg, sort) in condition.args.iter().zip(condition.name.signature()) {
            let wrong = |span: Span, found: String| {
                let expected = match sort {
                    Sort::Field => "a field variable",
                    Sort::Map => "a map variable",
                    Sort::Operator => "an operation or an operation variable",
                    Sort::DTypeClass => "an element type, or float, int, signed, unsigned, complex or bool",
                    Sort::Number => "a number",
                };
                Err(RuleError::new("SJ0215", span, format!("`{name}` asks for {expected}, and {found}")))
            };
            match (arg, sort) {
                (Argument::Var(var, span), Sort::Field | Sort::Map | Sort::Operator) => {
                    let Some((kind, _)) = self.vars.get(var.as_str()) else {
                        let message =
                            format!("the condition asks of `?{var}`, which the left side does not bind");
                        return Err(RuleError::new("SJ0208", *span, message)
                            .with_help("conditions are decided on what matched, before any `let`"));
                    };
                    let fits = match sort {
                        Sort::Field => *kind == Kind::Field,
                        Sort::Map => *kind == Kind::Map,
                        _ => matches!(kind, Kind::Operation(_)),
                    };
                    if !fits {
                        return wrong(*span, format!("`?{var}` is {kind}"));
                    }
                }
                (Argument::Word(word, span), Sort::Operator) => {
                    if Operation::from_word(word).is_none() {
                        return wrong(*span, format!("`{word}` is not one"));
                    }
                }
                (Argument::Word(word, span), Sort::DTypeClass) => {
                    if in_class(DType::F32, word).is_none() {
                        return wrong(*span, format!("`{word}` is neither"));
                    }
                }
                (Argument::Number(..), Sort::Number) => {}
                (Argument::Var(found, span), _) => return wrong(*span, format!("`?{found}` is a variable")),
                (Argument::Word(found, span), _) => return wrong(*span, format!("`{found}` is a word")),
                (Argument::Number(_, span), _) => return wrong(*span, "this is a number".to_string()),
            }
        }
        Ok(())
    }

    fn binding(&mut self, binding: &'a Binding) -> Checked {
        let span = binding.span;
        use Kind::{Field, Map};
        let (sources, results, count) = match &binding.kind {
            BindingKind::Fibre { to_q, to_p, n, m } => {
                (vec![(n, Map), (m, Map)], vec![(to_q, Map), (to_p, Map)], None)
            }
            BindingKind::Unread { result, field, map } => {
                (vec![(field, Field), (map, Map)], vec![(result, Field)], None)
            }
            BindingKind::Through { result, n, m } => (vec![(n, Map), (m, Map)], vec![(result, Map)], None),
            BindingKind::Drop { map, field, count, from_map, from_field } => {
                (vec![(from_map, Map), (from_field, Field)], vec![(map, Map), (field, Field)], Some(count))
            }
        };
        for (name, kind) in sources {
            self.occur(name, kind, span, Side::Uses)?;
        }
        for (name, kind) in results {
            if self.vars.contains_key(name.as_str()) {
                return Err(rebound(span, &format!("?{name}")));
            }
            self.occur(name, kind, span, Side::Binds)?;
            self.computed.insert(name);
        }
        if let Some(count) = count
            && !self.counts.insert(count)
        {
            return Err(rebound(span, &format!("#{count}")));
        }
        Ok(())
    }
}

fn rebound(span: Span, name: &str) -> RuleError {
    RuleError::new("SJ0216", span, format!("`{name}` is already bound")).with_help("choose another name")
}

fn distinct(axes: &[String], span: Span) -> Checked {
    let mut seen = BTreeSet::new();
    match axes.iter().find(|axis| !seen.insert(axis.as_str())) {
        Some(axis) => Err(RuleError::new("SJ0211", span, format!("the axis `{axis}` is named twice"))),
        None => Ok(()),
    }
}
