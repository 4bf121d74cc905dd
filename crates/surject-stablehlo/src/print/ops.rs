//! Text of operations: the choice of form, the generic form, types.

use std::fmt::Write;

use super::{Header, Printer};
use crate::module::{Op, ValueId};
use crate::table::{Form, OpSpec};
use crate::types::{Type, TypeList};

impl Printer<'_> {
    /// One operation on lines of its own.
    pub(super) fn op(&mut self, op: &Op, function_level: bool) {
        self.line_start();
        let targets = self.names.targets(op);
        if !targets.is_empty() {
            self.out.push_str(&targets);
            self.out.push_str(" = ");
        }
        let before = self.out.len();
        let pretty = !self.options.generic
            && match op.spec() {
                Some(spec) => self.pretty(op, spec, function_level),
                None => false,
            };
        if !pretty {
            // A form that found midway that it cannot express the operation left text behind.
            self.out.truncate(before);
            self.generic(op);
        }
        self.out.push('\n');
    }

    /// The pretty form; false if it cannot express this operation.
    fn pretty(&mut self, op: &Op, spec: &'static OpSpec, function_level: bool) -> bool {
        if spec.form == Form::Generic {
            return false;
        }
        match (function_level, op.name.as_ref()) {
            (true, "func.call") => self.out.push_str("call"),
            (true, "func.return") => self.out.push_str("return"),
            (_, name) => self.out.push_str(name),
        }
        self.form(op, spec).is_some()
    }

    /// `"op"(operands) <{properties}> ({regions}) {attributes} : type`
    fn generic(&mut self, op: &Op) {
        super::attrs::quoted(&mut self.out, op.name.as_bytes());
        self.out.push('(');
        self.operands(&op.operands);
        self.out.push(')');
        let dialect = op.name.split('.').next().unwrap_or("");
        let spec = op.spec();
        let inherent = |name: &str| spec.is_some_and(|s| s.attribute(name).is_some());
        if op.attributes.explicit().any(|(name, _)| inherent(name)) {
            self.out.push_str(" <");
            self.dictionary(dialect, &op.attributes, inherent);
            self.out.push('>');
        }
        if !op.regions.is_empty() {
            self.out.push_str(" (");
            for (i, region) in op.regions.iter().enumerate() {
                self.comma(i);
                self.region(region, Header::Block, false);
            }
            self.out.push(')');
        }
        if op.attributes.explicit().any(|(name, _)| !inherent(name)) {
            self.out.push(' ');
            self.dictionary(dialect, &op.attributes, |name| !inherent(name));
        }
        self.functional(op);
    }

    /// `%a, %b`
    pub(super) fn operands(&mut self, values: &[ValueId]) {
        for (i, value) in values.iter().enumerate() {
            self.comma(i);
            _ = write!(self.out, "%{}", self.names.get(*value));
        }
    }

    pub(super) fn types_of(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|v| self.module.ty(*v).clone()).collect()
    }

    /// ` : (A, B) -> C`
    pub(super) fn functional(&mut self, op: &Op) {
        let (inputs, results) = (self.types_of(&op.operands), self.types_of(&op.results));
        _ = write!(self.out, " : ({}) -> ", TypeList(&inputs));
        self.result_types(&results);
    }

    /// `C`, or `(C, D)`
    pub(super) fn result_types(&mut self, results: &[Type]) {
        match results {
            [one] if !matches!(one, Type::Function(_)) => _ = write!(self.out, "{one}"),
            many => _ = write!(self.out, "({})", TypeList(many)),
        }
    }
}
