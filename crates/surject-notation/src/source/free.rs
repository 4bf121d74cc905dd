//! The names that a source takes from its surroundings.

use super::{Body, Expr, ExprKind, Function, Item, ItemKind, Logic, Name, Source, SpecArgument};
use crate::spec::{AxisKind, Capture, Coefficient};
use crate::{Span, Spec};
use std::collections::HashSet;

impl Source {
    /// The names that nothing in the source introduces before they are used, each once, where it is used first: names of
    /// the library, and what the host program has to give.
    ///
    /// Inputs, indices, `let`s, functions, inline definitions and captures introduce names from there on; inside of a
    /// function they do so up to its end.
    ///
    /// ```
    /// use surject_notation::source::Source;
    ///
    /// let source = Source::parse("let h = relu({ w } * x); f(|y| y + h + w);")?;
    /// let names: Vec<String> = source.free_names().into_iter().map(|n| n.text).collect();
    /// assert_eq!(names, ["relu", "x", "f"]);
    /// # Ok::<(), surject_notation::NotationError>(())
    /// ```
    pub fn free_names(&self) -> Vec<Name> {
        let mut walk = Walk { scopes: vec![HashSet::new()], seen: HashSet::new(), free: Vec::new() };
        // Sizes hold for the whole text.
        super::implied_sizes(&self.items).iter().for_each(|name| walk.introduce(&name.text));
        self.items.iter().for_each(|item| walk.item(item));
        walk.free
    }
}

/// A walk in the order of evaluation.
struct Walk {
    /// What is introduced, the whole text first, then the functions around.
    scopes: Vec<HashSet<String>>,
    seen: HashSet<String>,
    free: Vec<Name>,
}

impl Walk {
    fn introduce(&mut self, name: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string());
        }
    }

    fn mention(&mut self, name: &str, span: Span) {
        let known = self.scopes.iter().any(|scope| scope.contains(name));
        if !known && self.seen.insert(name.to_string()) {
            self.free.push(Name { text: name.to_string(), span });
        }
    }

    /// What is introduced by `inside` ends with it.
    fn scope(&mut self, names: &[&Name], inside: impl FnOnce(&mut Walk)) {
        self.scopes.push(names.iter().map(|n| n.text.clone()).collect());
        inside(self);
        self.scopes.pop();
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Input { name, .. } | ItemKind::Index { name, .. } => self.introduce(&name.text),
            ItemKind::Sizes(names) => names.iter().for_each(|name| self.introduce(&name.text)),
            ItemKind::Where(_) => {}
            ItemKind::Let { name, value } => {
                self.expr(value);
                self.introduce(&name.text);
            }
            ItemKind::Cut { names, value } => {
                self.expr(value);
                names.iter().for_each(|name| self.introduce(&name.text));
            }
            ItemKind::Function(function) => {
                self.function(function);
                self.introduce(&function.name.text);
            }
            // The assignments of an operator name its operands and slots only.
            ItemKind::Operation(operation) => self.introduce(&operation.name.text),
            ItemKind::Output(names) => names.iter().for_each(|n| self.mention(&n.text, n.span)),
            ItemKind::Assign(assignment) => {
                assignment.arguments.iter().for_each(|e| self.expr(e));
                self.expr(&assignment.target);
                if let Some(Logic::Spec(spec)) = &assignment.logic {
                    self.spec(spec);
                }
            }
            ItemKind::Expr(expr) => self.expr(expr),
        }
    }

    fn function(&mut self, function: &Function) {
        let Function { name, config, tensors, body: Body { items, result }, .. } = function;
        let names: Vec<&Name> = config.iter().map(|p| &p.name).chain(tensors).chain([name]).collect();
        self.scope(&names, |walk| {
            config.iter().filter_map(|p| p.default.as_ref()).for_each(|e| walk.expr(e));
            items.iter().for_each(|item| walk.item(item));
            result.iter().for_each(|e| walk.expr(e));
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(..) | ExprKind::Text(_) => {}
            ExprKind::Spec(spec) => self.spec(spec),
            ExprKind::Name(name) => self.mention(name, expr.span),
            ExprKind::Literal { items, .. } => items.iter().for_each(|e| self.expr(e)),
            ExprKind::Define(define) => {
                define.init.iter().for_each(|e| self.expr(e));
                define.rows.iter().flat_map(|(_, sizes)| sizes).for_each(|e| self.expr(e));
                self.introduce(&define.name.text);
            }
            ExprKind::Unary(_, a) | ExprKind::Part(a, _) => self.expr(a),
            ExprKind::Lambda(names, body) => {
                let names: Vec<&Name> = names.iter().collect();
                self.scope(&names, |walk| walk.expr(body));
            }
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Einsum(_, operands, spec) => {
                operands.iter().for_each(|e| self.expr(e));
                self.spec(spec);
            }
            ExprKind::Call(f, arguments) => {
                self.expr(f);
                arguments.iter().for_each(|a| self.expr(&a.value));
            }
        }
    }

    fn spec(&mut self, spec: &SpecArgument) {
        match spec {
            SpecArgument::Name(name) => self.mention(&name.text, name.span),
            SpecArgument::Literal(spec, captures) => {
                self.coefficients(spec);
                captures.iter().for_each(|Capture { name, .. }| self.introduce(name));
            }
        }
    }

    /// Names of coefficients are numbers of the surroundings.
    fn coefficients(&mut self, spec: &Spec) {
        for axis in spec.shapes().flat_map(|shape| shape.axes()) {
            let AxisKind::Affine(affine) = &axis.kind else { continue };
            let dilations = affine.kernels.iter().map(|k| &k.dilation);
            for coefficient in [&affine.stride].into_iter().chain(dilations) {
                if let Coefficient::Name(name) = coefficient {
                    self.mention(name, axis.span);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(text: &str) -> String {
        let names = Source::parse(text).unwrap().free_names();
        assert!(names.iter().all(|n| text[n.span.start..].starts_with(&n.text)), "{names:?}");
        names.iter().map(|n| format!("{} ", n.text)).collect()
    }

    #[test]
    fn what_is_introduced_is_not_free() {
        assert_eq!(free("input x; let y = x + z; y + z;"), "z ");
        assert_eq!(free("let y = y; y;"), "y ");
        assert_eq!(free("let a = { w = v, o = [n] } * x; w;"), "v n x ");
        assert_eq!(free("f(|x| { w } * x + q); x; w;"), "f q x w ");
    }

    #[test]
    fn functions_are_scopes() {
        assert_eq!(free("fn f(n, g = h) () (x) { let a = g(x); { w, o = [n] } * a + b } a;"), "h b a ");
    }

    #[test]
    fn specs_take_and_give_names() {
        assert_eq!(free("let y = a +* b \"s*i<+k; k => i\" [\"k\"]; dim(k);"), "a b s dim ");
        assert_eq!(free("a ++ spec;"), "a spec ");
    }

    #[test]
    fn assignments_name_their_targets() {
        assert_eq!(free("p =- lr * p.grad ~logic:\".\"; { v } =: p; v =+ p;"), "lr p ");
    }
}
