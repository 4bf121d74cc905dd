//! The text form of programs, as the seeds write assignments.
//!
//! ```text
//! func main(a: f32[4,5], b: f32[5,6]) -> (c) {
//!   c : f32[4,6] =:+ over i<4, j<5, k<6 at [i,k]: a[i,j] * b[j,k]
//! }
//! ```
//!
//! * `y : TYPE =: over i<4, j<6: EXPR` stores a field; `=:⊕ over … at […]` stores an accumulation of `EXPR` over
//!   the product space of the loops. Without loops there is no `over`.
//! * `x[i, 2*j + 1]` reads the tensor or `let` named `x` through a total map, `(x[i - 1] where 0 <= i - 1 < 3
//!   else 0.0f32)` through a guarded one; `x` alone is the field itself.
//! * `(max over i<4, j<5 at [i]: EXPR)` is an accumulation inside a field: the loops are its own product space.
//! * Values are `2.5f32`, `-3i32`, `true`, `inf_f32`, `c64(1.0, 2.0)`, or any bits: `bits(0x7fc00001)f32`. The
//!   value of a loop index is `index(i)f32`, a conversion `f32(EXPR)`, other bits of one width `bitcast i32(EXPR)`.
//! * `let t1 : TYPE =: …` names a field that is used more than once or read through a map, so that the text is as
//!   long as the field has nodes; it holds up to the end of its block.
//! * `@ "file:3:5"` is the origin of a statement.
//! * Sizes may be symbolic: `f32[n,in0.1 - 1]`, where `n` in the type of a parameter declares the size `n`. What they
//!   must satisfy beside the types stands after the results: `-> (c) where n >= 4 @ "convolution", mod(n, 2) == 0 {`.
//!
//! [`crate::parse()`] reads it back to the same program.

mod expr;

pub(crate) use expr::infix;

use crate::verify::MAX_NESTING;
use crate::{
    Block, FieldId, FieldKind, Function, Program, Region, Scalar, Statement, StatementKind, Var, literal,
};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

/// Literals with more elements are written as the hexadecimal digits of their bytes.
const MAX_ELEMENTS: usize = 256;

/// How a program is printed.
#[derive(Clone, Copy, Debug)]
pub struct PrintOptions {
    /// Write the origins of statements.
    pub origins: bool,
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions { origins: true }
    }
}

/// The text form of a program.
pub fn print(program: &Program) -> String {
    print_with(program, &PrintOptions::default())
}

/// The text form of a program.
pub fn print_with(program: &Program, options: &PrintOptions) -> String {
    let mut text = String::new();
    if !program.name.is_empty() {
        let _ = write!(text, "program {}\n\n", literal::name(&program.name));
    }
    for (number, function) in program.functions.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        Printer::new(function, *options, &mut text).function();
    }
    text
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// The printer of one function.
struct Printer<'a> {
    function: &'a Function,
    options: PrintOptions,
    text: &'a mut String,
    /// The fields that get a `let`.
    shared: HashSet<FieldId>,
    /// The names of the lets that hold here, and the order they came in.
    lets: HashMap<FieldId, String>,
    order: Vec<FieldId>,
    /// The number of the last let.
    last: usize,
    names: HashSet<&'a str>,
    indent: usize,
}

impl<'a> Printer<'a> {
    fn new(function: &'a Function, options: PrintOptions, text: &'a mut String) -> Printer<'a> {
        Printer {
            function,
            options,
            text,
            shared: expr::shared(function),
            lets: HashMap::new(),
            order: Vec::new(),
            last: 0,
            names: function.vars.iter().map(|v| v.name.as_str()).collect(),
            indent: 0,
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self) {
        (0..self.indent).for_each(|_| self.text.push_str("  "));
    }

    fn var(&self, var: Var) -> String {
        match self.function.vars.get(var.0 as usize) {
            Some(info) => literal::name(&info.name),
            None => format!("`no variable {}`", var.0),
        }
    }

    fn typed_vars(&self, vars: &[Var], separator: &str) -> String {
        let typed = |&v: &Var| {
            let ty = self.function.vars.get(v.0 as usize).map(|i| i.ty.to_string()).unwrap_or_default();
            format!("{}{separator}{ty}", self.var(v))
        };
        vars.iter().map(typed).collect::<Vec<_>>().join(", ")
    }

    fn var_list(&self, vars: &[Var]) -> String {
        vars.iter().map(|&v| self.var(v)).collect::<Vec<_>>().join(", ")
    }

    fn function(&mut self) {
        let function = self.function;
        let head = format!("func {}", literal::name(&function.name));
        self.put(&head);
        self.block(&function.params, &function.body, 0);
        self.put("\n");
    }

    /// Parameters, results and statements.
    fn block(&mut self, params: &[Var], block: &Block, depth: usize) {
        let head = format!("({}) -> ({})", self.typed_vars(params, ": "), self.var_list(&block.results));
        self.put(&head);
        if depth == 0 {
            self.guards();
        }
        self.put(" {\n");
        self.indent += 1;
        let known = self.order.len();
        for statement in &block.statements {
            self.statement(statement, depth);
        }
        for field in self.order.drain(known..) {
            self.lets.remove(&field);
        }
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    /// `where n >= 4 @ "…", m == n`
    fn guards(&mut self) {
        for (i, guard) in self.function.guards.iter().enumerate() {
            let mut text = format!("{} {}", if i == 0 { " where" } else { "," }, guard.fact);
            if let Some(origin) = guard.origin.as_ref().filter(|_| self.options.origins) {
                let _ = write!(text, " @ {}", literal::quote(origin, '"'));
            }
            self.put(&text);
        }
    }

    fn region(&mut self, word: &str, region: &Region, depth: usize) {
        self.line();
        self.put(word);
        if depth < MAX_NESTING {
            self.block(&region.params, &region.body, depth + 1);
        } else {
            self.put("() -> () { /* nested too deeply */ }");
        }
        self.put("\n");
    }

    fn regions<'r>(&mut self, regions: impl IntoIterator<Item = (&'r str, &'r Region)>, depth: usize) {
        self.put("{\n");
        self.indent += 1;
        for (word, region) in regions {
            self.region(word, region, depth);
        }
        self.indent -= 1;
        self.line();
        self.put("}");
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        if let StatementKind::Store { field, .. } = &statement.kind {
            self.introduce(*field);
        }
        self.line();
        let targets = self.typed_vars(statement.targets(), " : ");
        self.put(&targets);
        match &statement.kind {
            StatementKind::Store { field, .. } => {
                let text = self.assignment(*field, self.lets.contains_key(field));
                self.put(&text);
            }
            StatementKind::Constant { value, .. } => {
                self.put(" = constant ");
                let text = literal_tensor(value);
                self.put(&text);
            }
            StatementKind::Call { op, args, regions, .. } => {
                let attributes = op.attributes();
                let mut text = format!(" = call {}", op.name());
                if !attributes.is_empty() {
                    let attributes: Vec<String> =
                        attributes.iter().map(|(n, a)| format!("{n}={a}")).collect();
                    let _ = write!(text, "{{{}}}", attributes.join(", "));
                }
                let _ = write!(text, "({})", self.var_list(args));
                self.put(&text);
                if !regions.is_empty() {
                    self.put(" ");
                    self.regions(regions.iter().map(|r| ("region", r)), depth);
                }
            }
            StatementKind::While { inits, cond, body, .. } => {
                let text = format!(" = while ({}) ", self.var_list(inits));
                self.put(&text);
                self.regions([("cond", cond), ("body", body)], depth);
            }
            StatementKind::If { index, branches, .. } => {
                let text = format!(" = if {} ", self.var(*index));
                self.put(&text);
                self.regions(branches.iter().map(|b| ("branch", b)), depth);
            }
        }
        if let Some(origin) = statement.origin.as_ref().filter(|_| self.options.origins) {
            let text = format!(" @ {}", literal::quote(origin, '"'));
            self.put(&text);
        }
        self.put("\n");
    }

    /// Writes the lets that a stored field needs and that do not hold yet, those first that others need.
    fn introduce(&mut self, root: FieldId) {
        let fields = &self.function.fields;
        if root.0 as usize >= fields.len() {
            return;
        }
        let mut done: HashSet<FieldId> = HashSet::new();
        let mut needed = Vec::new();
        // A field is met twice: before and after its children.
        let mut stack = vec![(root, false)];
        while let Some((id, after)) = stack.pop() {
            if after {
                if self.shared.contains(&id) {
                    needed.push(id);
                }
                continue;
            }
            if self.lets.contains_key(&id) || !done.insert(id) {
                continue;
            }
            stack.push((id, true));
            let children: Vec<FieldId> = fields[id].kind.children().collect();
            stack.extend(children.into_iter().rev().map(|c| (c, false)));
        }
        for id in needed {
            let name = loop {
                self.last += 1;
                let name = format!("t{}", self.last);
                if !self.names.contains(name.as_str()) {
                    break name;
                }
            };
            let node = &fields[id];
            let text = format!("let {name} : {}{}{}\n", node.dtype, node.space, self.assignment(id, false));
            self.line();
            self.put(&text);
            self.lets.insert(id, name);
            self.order.push(id);
        }
    }

    /// What follows the type of a target: a reference to a let, or the field itself.
    fn assignment(&self, id: FieldId, by_name: bool) -> String {
        let fields = &self.function.fields;
        if id.0 as usize >= fields.len() {
            return format!(" =: `no field {}`", id.0);
        }
        let mut text = String::from(" =:");
        match &fields[id].kind {
            FieldKind::Acc { op, map, of } if !by_name => {
                let _ = write!(text, "{op}");
                self.accumulation(&mut text, map, *of);
            }
            _ => {
                let names = surject_index::axis_names(fields[id].space.rank());
                if !names.is_empty() {
                    expr::loops(&mut text, &fields[id].space, &names);
                    text.push(':');
                }
                text.push(' ');
                self.expression(&mut text, id, &names, 0, by_name);
            }
        }
        text
    }
}

/// The elements of a literal, or its bytes where there are many.
fn literal_tensor(value: &crate::Buffer) -> String {
    if value.len() <= MAX_ELEMENTS {
        let elements: Vec<String> = (0..value.len()).map(|i| literal::element(value.get(i))).collect();
        return format!("[{}]", elements.join(", "));
    }
    // One value throughout is common where a front end did not look.
    let first: Scalar = value.get(0);
    if (1..value.len()).all(|i| value.get(i) == first) {
        return format!("splat {}", literal::element(first));
    }
    let mut text = String::with_capacity(value.bytes().len() * 2 + 8);
    text.push_str("hex \"");
    for byte in value.bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests;
