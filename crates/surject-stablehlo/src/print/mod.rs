//! The printer: a module as jax prints it, or in the generic form that any MLIR reads.

mod attrs;
mod forms;
mod names;
mod ops;
mod sharding;

use std::fmt::Write;
use std::sync::Arc;

use crate::attr::{Attribute, Attributes};
use crate::module::{Function, Module, Region, Visibility};
use crate::types::Type;
use attrs::AttrPrinter;
use names::Names;

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The generic form of every operation, functions and module included.
    pub generic: bool,
    /// Blobs of `i1` with 8 elements a byte, as MLIR up to version 22 reads them; else one byte an element.
    pub packed_booleans: bool,
}

/// The text of a module as jax prints it. Values are numbered anew, as MLIR does.
pub fn print(module: &Module) -> String {
    print_with(module, &Options::default())
}

/// The text of a module in the generic form, which MLIR reads without knowing the dialects.
pub fn print_generic(module: &Module) -> String {
    print_with(module, &Options { generic: true, packed_booleans: true })
}

/// The text of a module.
pub fn print_with(module: &Module, options: &Options) -> String {
    let names = if options.generic { Names::generic(module) } else { Names::of(module) };
    let mut printer = Printer { module, options, names, out: String::new(), indent: 0 };
    printer.module();
    printer.out
}

/// The text of an attribute on its own.
pub(crate) fn attribute_text(attribute: &Attribute) -> String {
    let mut out = String::new();
    AttrPrinter { options: &Options::default(), dialect: "stablehlo" }.attribute(&mut out, attribute);
    out
}

/// The state of printing one module. Writing to a `String` cannot fail, so the results of `write!` carry nothing.
struct Printer<'m> {
    module: &'m Module,
    options: &'m Options,
    names: Names,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn module(&mut self) {
        let module = self.module;
        if self.options.generic {
            self.out.push_str("\"builtin.module\"()");
            if let Some(name) = &module.name {
                self.out.push_str(" <{sym_name = ");
                attrs::quoted(&mut self.out, name.as_bytes());
                self.out.push_str("}>");
            }
            self.out.push_str(" ({\n");
        } else {
            self.out.push_str("module");
            if let Some(name) = &module.name {
                self.out.push(' ');
                attrs::symbol(&mut self.out, name);
            }
            self.attributes_clause(&module.attributes);
            self.out.push_str(" {\n");
        }
        self.indent = 1;
        for op in &module.other {
            self.op(op, false);
        }
        for function in &module.functions {
            if self.options.generic { self.generic_function(function) } else { self.function(function) }
        }
        self.indent = 0;
        self.out.push('}');
        if self.options.generic {
            self.out.push(')');
            if !module.attributes.is_empty() {
                self.out.push(' ');
                self.dictionary("builtin", &module.attributes, |_| true);
            }
            self.out.push_str(" : () -> ()");
        }
        self.out.push('\n');
    }

    /// ` attributes {…}`, if there are any.
    fn attributes_clause(&mut self, attributes: &Attributes) {
        if !attributes.is_empty() {
            self.out.push_str(" attributes ");
            self.dictionary("builtin", attributes, |_| true);
        }
    }

    fn function(&mut self, function: &Function) {
        self.line_start();
        self.out.push_str("func.func ");
        match function.visibility {
            Visibility::Private => self.out.push_str("private "),
            Visibility::Nested => self.out.push_str("nested "),
            Visibility::Public if function.explicit_public => self.out.push_str("public "),
            Visibility::Public => {}
        }
        attrs::symbol(&mut self.out, &function.name);
        self.out.push('(');
        for (i, param) in function.params.iter().enumerate() {
            self.comma(i);
            if !function.is_declaration() {
                _ = write!(self.out, "%{}: ", self.names.get(param.value));
            }
            self.typed(&param.ty, &param.attributes);
        }
        self.out.push(')');
        match function.results.as_slice() {
            [] => {}
            [one] if one.attributes.is_empty() && !matches!(one.ty, Type::Function(_)) => {
                _ = write!(self.out, " -> {}", one.ty);
            }
            many => {
                self.out.push_str(" -> (");
                for (i, result) in many.iter().enumerate() {
                    self.comma(i);
                    self.typed(&result.ty, &result.attributes);
                }
                self.out.push(')');
            }
        }
        self.attributes_clause(&function.attributes);
        if !function.is_declaration() {
            self.out.push(' ');
            self.region(&function.body, Header::None, true);
        }
        self.out.push('\n');
    }

    /// `T {…}`
    fn typed(&mut self, ty: &Type, attributes: &Attributes) {
        _ = write!(self.out, "{ty}");
        if !attributes.is_empty() {
            self.out.push(' ');
            self.dictionary("builtin", attributes, |_| true);
        }
    }

    /// `"func.func"() <{…}> ({…}) {…} : () -> ()`
    fn generic_function(&mut self, function: &Function) {
        let dictionaries = |items: Vec<&Attributes>| {
            let some = items.iter().any(|a| !a.is_empty());
            some.then(|| Attribute::Array(items.into_iter().cloned().map(Attribute::Dict).collect()))
        };
        let mut properties = Attributes::new();
        if let Some(list) = dictionaries(function.params.iter().map(|p| &p.attributes).collect()) {
            properties.set("arg_attrs", list);
        }
        if let Some(list) = dictionaries(function.results.iter().map(|r| &r.attributes).collect()) {
            properties.set("res_attrs", list);
        }
        properties.set("function_type", Attribute::Type(Type::Function(Arc::new(function.ty()))));
        properties.set("sym_name", Attribute::String(function.name.clone()));
        let visibility = match function.visibility {
            Visibility::Private => Some("private"),
            Visibility::Nested => Some("nested"),
            Visibility::Public => function.explicit_public.then_some("public"),
        };
        if let Some(text) = visibility {
            properties.set("sym_visibility", Attribute::String(text.to_string()));
        }
        self.line_start();
        self.out.push_str("\"func.func\"() <");
        self.dictionary("builtin", &properties, |_| true);
        self.out.push_str("> (");
        let header = if function.is_declaration() { Header::None } else { Header::Block };
        self.region(&function.body, header, false);
        self.out.push(')');
        if !function.attributes.is_empty() {
            self.out.push(' ');
            self.dictionary("builtin", &function.attributes, |_| true);
        }
        self.out.push_str(" : () -> ()\n");
    }

    /// `{ … }` over several lines; the text goes on after the closing brace.
    fn region(&mut self, region: &Region, header: Header, function_level: bool) {
        self.out.push_str("{\n");
        if header == Header::Block && !region.params.is_empty() {
            self.line_start();
            self.out.push_str("^bb0(");
            for (i, (value, ty)) in region.params.iter().enumerate() {
                self.comma(i);
                _ = write!(self.out, "%{}: {ty}", self.names.get(*value));
            }
            self.out.push_str("):\n");
        }
        self.indent += 1;
        for op in &region.ops {
            self.op(op, function_level);
        }
        self.indent -= 1;
        self.line_start();
        self.out.push('}');
    }

    fn line_start(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn attr_printer<'a>(options: &'a Options, dialect: &'a str) -> AttrPrinter<'a> {
        AttrPrinter { options, dialect: if dialect == "chlo" { "chlo" } else { "stablehlo" } }
    }

    fn dictionary(&mut self, dialect: &str, attributes: &Attributes, wanted: impl Fn(&str) -> bool) {
        Self::attr_printer(self.options, dialect).dictionary(&mut self.out, attributes, wanted);
    }

    fn attribute(&mut self, dialect: &str, attribute: &Attribute) {
        Self::attr_printer(self.options, dialect).attribute(&mut self.out, attribute);
    }
}

/// Whether a region prints its block's arguments itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    /// `^bb0(…):` where there are arguments.
    Block,
    /// The arguments stand elsewhere.
    None,
}
