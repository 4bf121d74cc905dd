//! Which names a function mentions: those it takes along from where it is defined.

use std::collections::BTreeSet;
use surject_notation::source::{Body, Expr, ExprKind, Function, Item, ItemKind, Logic, SpecArgument};
use surject_notation::spec::{AxisKind, Coefficient};

/// The name that says whether convolved axes without a mark are padded.
pub(super) const PADDING: &str = "use_padding";

/// What is still to be looked at. Lists instead of recursion: the tree may be deep.
#[derive(Default)]
struct Work<'a> {
    exprs: Vec<&'a Expr>,
    items: Vec<&'a Item>,
    names: BTreeSet<String>,
}

/// The names that a function mentions, more rather than fewer.
pub(super) fn of_function(function: &Function) -> BTreeSet<String> {
    let mut work = Work::default();
    work.function(function);
    work.finish()
}

/// The names that an expression mentions.
pub(super) fn of_expr(expr: &Expr) -> BTreeSet<String> {
    let mut work = Work::default();
    work.exprs.push(expr);
    work.finish()
}

impl<'a> Work<'a> {
    fn finish(mut self) -> BTreeSet<String> {
        loop {
            if let Some(expr) = self.exprs.pop() {
                self.expr(expr);
            } else if let Some(item) = self.items.pop() {
                self.item(item);
            } else {
                return self.names;
            }
        }
    }

    fn function(&mut self, function: &'a Function) {
        self.exprs.extend(function.config.iter().filter_map(|p| p.default.as_ref()));
        let Body { items, result } = &function.body;
        self.items.extend(items);
        self.exprs.extend(result.as_deref());
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Let { value, .. } | ItemKind::Cut { value, .. } => self.exprs.push(value),
            ItemKind::Function(function) => self.function(function),
            ItemKind::Assign(assignment) => {
                self.exprs.push(&assignment.target);
                self.exprs.extend(&assignment.arguments);
                if let Some(Logic::Spec(spec)) = &assignment.logic {
                    self.spec(spec);
                }
            }
            ItemKind::Expr(expr) => self.exprs.push(expr),
            // These stand at the top level only.
            ItemKind::Input { .. }
            | ItemKind::Index { .. }
            | ItemKind::Sizes(_)
            | ItemKind::Where(_)
            | ItemKind::Operation(_)
            | ItemKind::Output(_) => {}
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Number(..) | ExprKind::Text(_) => {}
            ExprKind::Spec(spec) => self.spec(spec),
            ExprKind::Name(name) => {
                self.names.insert(name.clone());
            }
            ExprKind::Literal { items, .. } => self.exprs.extend(items),
            ExprKind::Define(define) => {
                self.exprs.extend(&define.init);
                self.exprs.extend(define.rows.iter().flat_map(|(_, sizes)| sizes));
            }
            ExprKind::Unary(_, a) | ExprKind::Part(a, _) | ExprKind::Lambda(_, a) => self.exprs.push(a),
            ExprKind::Binary(_, a, b) => self.exprs.extend([&**a, &**b]),
            ExprKind::Einsum(_, operands, spec) => {
                self.exprs.extend(operands);
                self.spec(spec);
            }
            ExprKind::Call(f, arguments) => {
                self.exprs.push(f);
                self.exprs.extend(arguments.iter().map(|a| &a.value));
            }
        }
    }

    fn spec(&mut self, spec: &SpecArgument) {
        match spec {
            SpecArgument::Name(name) => {
                self.names.insert(name.text.clone());
            }
            SpecArgument::Literal(spec, _) => {
                self.names.insert(PADDING.to_string());
                self.names.extend(coefficients(spec));
            }
        }
    }
}

/// The names that stand for numbers in a spec.
pub(super) fn coefficients(spec: &surject_notation::Spec) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for axis in spec.shapes().flat_map(|shape| shape.axes()) {
        let AxisKind::Affine(affine) = &axis.kind else { continue };
        let dilations = affine.kernels.iter().map(|k| &k.dilation);
        for coefficient in [&affine.stride].into_iter().chain(dilations) {
            if let Coefficient::Name(name) = coefficient {
                names.insert(name.clone());
            }
        }
    }
    names
}
