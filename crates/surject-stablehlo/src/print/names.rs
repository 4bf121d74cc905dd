//! Names of values, found as MLIR's printer finds them, so that text compares byte by byte.
//!
//! Values are numbered in order of definition, those of a region before those of the regions inside it; sibling
//! regions start from the same numbers. Some operations suggest names (`cst`, `iterArg`), made unique by a counter.
//!
//! In the generic form nothing suggests names, and no number is used twice in a module: the regions of an operation,
//! and the operations of a region, are numbered from the last one on.

use std::collections::HashSet;

use crate::module::{Function, Module, Op, Region, ValueId};
use crate::types::{ElementClass, Type};

/// Printed names of all values, without `%`; results of a group carry `#i`.
pub(super) struct Names {
    names: Vec<String>,
    /// Whether operations suggest no names.
    generic: bool,
}

#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    argument: u32,
    conflict: u32,
}

struct Numbering<'m> {
    module: &'m Module,
    names: Vec<String>,
    used: HashSet<String>,
    /// Names in the order of use; those of a region are free again after it.
    order: Vec<String>,
}

impl Names {
    pub fn of(module: &Module) -> Names {
        let names = vec![String::new(); module.values.len()];
        let mut numbering = Numbering { module, names, used: HashSet::new(), order: Vec::new() };
        for function in &module.functions {
            numbering.function(function);
        }
        let mut counters = Counters::default();
        for op in &module.other {
            numbering.results(op, &mut counters);
            numbering.regions_of(op, counters);
        }
        Names { names: numbering.names, generic: false }
    }

    /// The names of the generic form.
    pub fn generic(module: &Module) -> Names {
        let mut names = vec![String::new(); module.values.len()];
        let mut set = |value: ValueId, name: String| {
            if let Some(slot) = names.get_mut(value.index()) {
                *slot = name;
            }
        };
        let mut counters = Counters::default();
        let mut open: Vec<&Region> = module.other.iter().flat_map(|op| &op.regions).collect();
        for op in &module.other {
            number_group(op, &mut counters, &mut set);
        }
        open.extend(module.functions.iter().filter(|f| !f.is_declaration()).map(|f| &f.body));
        while let Some(region) = open.pop() {
            for (value, _) in &region.params {
                set(*value, format!("arg{}", counters.argument));
                counters.argument += 1;
            }
            for op in &region.ops {
                number_group(op, &mut counters, &mut set);
                open.extend(&op.regions);
            }
        }
        Names { names, generic: true }
    }

    /// The name of a value as an operand.
    pub fn get(&self, value: ValueId) -> &str {
        self.names.get(value.index()).map_or("?", String::as_str)
    }

    /// The left side of an operation: `%a, %b:2`, empty without results.
    pub fn targets(&self, op: &Op) -> String {
        let mut out = String::new();
        let mut at = 0;
        for size in if self.generic { one_group(op) } else { group_sizes(op) } {
            if !out.is_empty() {
                out.push_str(", ");
            }
            let name = self.get(op.results[at]);
            out.push('%');
            if size == 1 {
                out.push_str(name);
            } else {
                out.push_str(name.strip_suffix("#0").unwrap_or(name));
                out.push_str(&format!(":{size}"));
            }
            at += size;
        }
        out
    }
}

/// Numbers the results of an operation as one group.
fn number_group(op: &Op, counters: &mut Counters, set: &mut impl FnMut(ValueId, String)) {
    for (i, value) in op.results.iter().enumerate() {
        let number = counters.value;
        set(*value, if op.results.len() == 1 { number.to_string() } else { format!("{number}#{i}") });
    }
    counters.value += u32::from(!op.results.is_empty());
}

/// All results of an operation under one name.
fn one_group(op: &Op) -> Vec<usize> {
    if op.results.is_empty() { Vec::new() } else { vec![op.results.len()] }
}

/// How the results of an operation are grouped under names: each named one alone, else all together.
fn group_sizes(op: &Op) -> Vec<usize> {
    let named = op.spec().map_or(0, |spec| spec.result_names.len());
    match op.results.len() {
        0 => Vec::new(),
        count if named == count => vec![1; count],
        count => vec![count],
    }
}

impl Numbering<'_> {
    fn function(&mut self, function: &Function) {
        let mut counters = Counters::default();
        let mark = self.order.len();
        for param in &function.params {
            self.argument(param.value, None, &mut counters);
        }
        self.ops(&function.body.ops, counters);
        self.release(mark);
    }

    fn region(&mut self, region: &Region, hint: Option<&str>, mut counters: Counters) {
        let mark = self.order.len();
        for (value, _) in &region.params {
            self.argument(*value, hint, &mut counters);
        }
        self.ops(&region.ops, counters);
        self.release(mark);
    }

    fn ops(&mut self, ops: &[Op], mut counters: Counters) {
        for op in ops {
            self.results(op, &mut counters);
        }
        for op in ops {
            self.regions_of(op, counters);
        }
    }

    fn regions_of(&mut self, op: &Op, counters: Counters) {
        let hint = (op.name == "stablehlo.while").then_some("iterArg");
        for region in &op.regions {
            self.region(region, hint, counters);
        }
    }

    fn argument(&mut self, value: ValueId, hint: Option<&str>, counters: &mut Counters) {
        let name = match hint {
            Some(hint) => self.unique(hint.to_string(), counters),
            None => {
                counters.argument += 1;
                self.unique(format!("arg{}", counters.argument - 1), counters)
            }
        };
        self.set(value, name);
    }

    fn results(&mut self, op: &Op, counters: &mut Counters) {
        let mut at = 0;
        for (group, size) in group_sizes(op).into_iter().enumerate() {
            let name = match self.hint(op, group) {
                Some(hint) => self.unique(hint.to_string(), counters),
                None => {
                    counters.value += 1;
                    (counters.value - 1).to_string()
                }
            };
            for i in 0..size {
                let name = if size == 1 { name.clone() } else { format!("{name}#{i}") };
                self.set(op.results[at + i], name);
            }
            at += size;
        }
    }

    /// The name that an operation suggests for a group of its results.
    fn hint(&self, op: &Op, group: usize) -> Option<&'static str> {
        if op.name == "stablehlo.constant" {
            let integer = match self.module.values.get(op.results[0].index()).map(|v| &v.ty) {
                Some(Type::Tensor(tensor)) => matches!(
                    tensor.element.class(),
                    ElementClass::Bool | ElementClass::Signed | ElementClass::Unsigned
                ),
                _ => false,
            };
            return Some(if integer { "c" } else { "cst" });
        }
        let names = op.spec()?.result_names;
        if names.len() == op.results.len() { names.get(group).copied() } else { None }
    }

    fn unique(&mut self, name: String, counters: &mut Counters) -> String {
        let mut probe = name.clone();
        while self.used.contains(&probe) {
            probe = format!("{name}_{}", counters.conflict);
            counters.conflict += 1;
        }
        self.used.insert(probe.clone());
        self.order.push(probe.clone());
        probe
    }

    fn release(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.used.remove(&name);
        }
    }

    fn set(&mut self, value: ValueId, name: String) {
        if let Some(slot) = self.names.get_mut(value.index()) {
            *slot = name;
        }
    }
}
