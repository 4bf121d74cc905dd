//! The text of fields.

use super::Printer;
use crate::{BinaryOp, Block, FieldId, FieldKind, Function, Scalar, StatementKind, literal};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use surject_index::{Affine, IndexMap, Space, axis_names};

/// A field is named before its expression is nested deeper than this, or has more nodes than that.
const MAX_DEPTH: usize = 24;
const MAX_NODES: usize = 48;

/// The sign and the precedence of an operation that is written between its operands.
pub(crate) fn infix(op: BinaryOp) -> Option<(&'static str, u8)> {
    use BinaryOp::*;
    Some(match op {
        Eq => ("==", 1),
        Ne => ("!=", 1),
        Lt => ("<", 1),
        Le => ("<=", 1),
        Gt => (">", 1),
        Ge => (">=", 1),
        Add => ("+", 2),
        Sub => ("-", 2),
        Mul => ("*", 3),
        Div => ("/", 3),
        _ => return None,
    })
}

/// The fields of a function that need a name: used more than once, read through a map, or large.
pub(super) fn shared(function: &Function) -> HashSet<FieldId> {
    let fields = &function.fields;
    let mut roots = Vec::new();
    collect_roots(&function.body, &mut roots, 0);
    roots.retain(|r| (r.0 as usize) < fields.len());
    let mut uses: HashMap<FieldId, usize> = HashMap::new();
    roots.iter().for_each(|&r| *uses.entry(r).or_default() += 1);
    let reachable = fields.reachable(&roots);
    let mut named = HashSet::new();
    for &id in &reachable {
        fields[id].kind.children().for_each(|c| *uses.entry(c).or_default() += 1);
        if let FieldKind::Read { of, .. } = fields[id].kind
            && !matches!(fields[of].kind, FieldKind::Tensor(_))
        {
            named.insert(of);
        }
    }
    // Depth and nodes of what stands in one expression, children first.
    let mut size: HashMap<FieldId, (usize, usize)> = HashMap::new();
    for &id in &reachable {
        let kind = &fields[id].kind;
        if matches!(kind, FieldKind::Tensor(_)) {
            continue;
        }
        let (mut depth, mut nodes) = (0, 0);
        for (d, n) in kind.children().filter(|c| !named.contains(c)).filter_map(|c| size.get(&c)) {
            (depth, nodes) = (depth.max(*d), nodes + n);
        }
        size.insert(id, (depth + 1, nodes + 1));
        let composite = kind.children().next().is_some();
        let repeated = composite && uses.get(&id).copied().unwrap_or(0) > 1;
        if repeated || depth + 1 > MAX_DEPTH || nodes + 1 > MAX_NODES {
            named.insert(id);
        }
    }
    named
}

fn collect_roots(block: &Block, roots: &mut Vec<FieldId>, depth: usize) {
    if depth > crate::verify::MAX_NESTING {
        return;
    }
    for statement in &block.statements {
        if let StatementKind::Store { field, .. } = &statement.kind {
            roots.push(*field);
        }
        statement.regions().iter().for_each(|r| collect_roots(&r.body, roots, depth + 1));
    }
}

/// `over i<4, j<5`, or nothing for rank 0.
pub(super) fn loops(text: &mut String, space: &Space, names: &[String]) {
    for (i, (name, extent)) in names.iter().zip(space.extents()).enumerate() {
        let _ = write!(text, "{}{name}<{extent}", if i == 0 { " over " } else { ", " });
    }
}

fn forms(text: &mut String, forms: &[Affine], names: &[String]) {
    text.push('[');
    for (i, form) in forms.iter().enumerate() {
        let _ = write!(text, "{}{}", if i > 0 { "," } else { "" }, form.display(names));
    }
    text.push(']');
}

impl Printer<'_> {
    /// ` over … at […]: EXPR`
    pub(super) fn accumulation(&self, text: &mut String, map: &IndexMap, of: FieldId) {
        let names = axis_names(map.domain().rank());
        loops(text, map.domain(), &names);
        text.push_str(" at ");
        forms(text, map.components(), &names);
        text.push_str(": ");
        self.expression(text, of, &names, 0, true);
    }

    /// The name of a tensor or a let.
    fn name_of(&self, id: FieldId) -> Option<String> {
        match self.function.fields[id].kind {
            FieldKind::Tensor(var) => Some(self.var(var)),
            _ => self.lets.get(&id).cloned(),
        }
    }

    /// Writes a field over the space with these axes, in parentheses if it binds less tightly than `tight`; by
    /// its name, if it has one and `by_name` is set.
    pub(super) fn expression(
        &self,
        text: &mut String,
        id: FieldId,
        names: &[String],
        tight: u8,
        by_name: bool,
    ) {
        let node = &self.function.fields[id];
        let is_tensor = matches!(node.kind, FieldKind::Tensor(_));
        if let Some(name) = self.name_of(id).filter(|_| by_name || is_tensor) {
            text.push_str(&name);
            if !names.is_empty() {
                let _ = write!(text, "[{}]", names.join(","));
            }
            return;
        }
        match &node.kind {
            // Named above.
            FieldKind::Tensor(_) => {}
            FieldKind::Read { map, of } => {
                // What is read has a name: `shared` gave it one.
                let name = self.name_of(*of).unwrap_or_else(|| "`no name`".into());
                if map.is_total() {
                    text.push_str(&name);
                    return forms(text, map.components(), names);
                }
                text.push('(');
                text.push_str(&name);
                forms(text, map.components(), names);
                for (i, guard) in map.guards().iter().enumerate() {
                    let word = if i == 0 { " where" } else { " and" };
                    let _ = write!(text, "{word} 0 <= {} < {}", guard.expr.display(names), guard.bound);
                }
                let fill = Scalar::from_bits(node.dtype, map.fill().map_or(0, |f| f.0));
                let _ = write!(text, " else {})", literal::typed(fill));
            }
            FieldKind::Acc { op, map, of } => {
                let _ = write!(text, "({op}");
                self.accumulation(text, map, *of);
                text.push(')');
            }
            FieldKind::Index { axis } => {
                let name = names.get(*axis).map_or("?", String::as_str);
                let _ = write!(text, "index({name}){}", node.dtype);
            }
            FieldKind::Const(value) => text.push_str(&literal::typed(*value)),
            FieldKind::Unary { op, x } => self.call(text, op.name(), &[*x], names),
            FieldKind::Binary { op, x, y } => match infix(*op) {
                Some((sign, level)) => {
                    let open = level < tight;
                    if open {
                        text.push('(');
                    }
                    // Comparisons do not chain; the others group to the left.
                    let left = if level == 1 { 2 } else { level };
                    self.expression(text, *x, names, left, true);
                    let _ = write!(text, " {sign} ");
                    self.expression(text, *y, names, level + 1, true);
                    if open {
                        text.push(')');
                    }
                }
                None => self.call(text, op.name(), &[*x, *y], names),
            },
            FieldKind::Select { cond, on_true, on_false } => {
                self.call(text, "select", &[*cond, *on_true, *on_false], names);
            }
            FieldKind::Convert { x } => self.call(text, node.dtype.name(), &[*x], names),
            FieldKind::Bitcast { x } => self.call(text, &format!("bitcast {}", node.dtype), &[*x], names),
            FieldKind::ReducePrecision { exponent, mantissa, x } => {
                self.call(text, &format!("reduce_precision<{exponent},{mantissa}>"), &[*x], names);
            }
        }
    }

    fn call(&self, text: &mut String, name: &str, args: &[FieldId], names: &[String]) {
        text.push_str(name);
        text.push('(');
        for (i, &arg) in args.iter().enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            self.expression(text, arg, names, 0, true);
        }
        text.push(')');
    }
}
