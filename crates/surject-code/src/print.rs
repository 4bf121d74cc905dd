//! Code as text of MLIR.

use crate::elem::Type;
use crate::{Block, Carry, Index, Item, Linkage, Op, Prefetched, Statement, Value};
use std::fmt::{Display, Write};
use surject_kernel::Temporality;

/// The text of statements.
pub fn statements(statements: &[Statement]) -> String {
    let mut printer = Printer { text: String::new() };
    printer.statements(statements);
    printer.text
}

/// An item of a module.
pub fn item(item: &Item) -> String {
    match item {
        Item::Outside { name, parameters, result } => {
            let result = result.map_or(String::new(), |ty| format!(" -> {ty}"));
            format!("llvm.func @{name}({}){result}\n", list(parameters))
        }
        Item::Function { function, text, linkage } => {
            let (internal, how) = match linkage {
                Linkage::Public => ("", ""),
                Linkage::Internal => ("internal ", ""),
                Linkage::Inlined => ("internal ", "attributes {passthrough = [\"alwaysinline\"]} "),
            };
            let own = parameters(&function.parameters);
            format!("llvm.func {internal}@{}({own}) {how}{{\n{text}llvm.return\n}}\n", function.symbol.name())
        }
    }
}

/// Parameters with their types.
fn parameters(parameters: &[(Value, Type)]) -> String {
    let all: Vec<String> = parameters.iter().map(|(value, ty)| format!("{value}: {ty}")).collect();
    all.join(", ")
}

/// What stands between commas.
fn list<T: Display>(all: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for (i, one) in all.into_iter().enumerate() {
        let _ = write!(text, "{}{one}", if i == 0 { "" } else { ", " });
    }
    text
}

/// The attributes of an access to elements one after the other.
fn attributes(alignment: Option<usize>, temporality: Temporality) -> String {
    let aligned = alignment.map(|bytes| format!("alignment = {bytes} : i64"));
    let past = (temporality == Temporality::NonTemporal).then(|| "nontemporal".to_string());
    let all: Vec<String> = aligned.into_iter().chain(past).collect();
    if all.is_empty() { String::new() } else { format!(" {{{}}}", all.join(", ")) }
}

struct Printer {
    text: String,
}

impl Printer {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            if !statement.results.is_empty() {
                let _ = write!(self.text, "{} = ", list(&statement.results));
            }
            self.op(&statement.op);
            self.text.push('\n');
        }
    }

    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        let _ = self.text.write_fmt(arguments);
    }

    /// Operands in parentheses, and the types of operands and result.
    fn called(&mut self, operands: &[(Value, Type)], result: Option<Type>) {
        let (values, types) = (list(operands.iter().map(|o| o.0)), list(operands.iter().map(|o| o.1)));
        let result = result.map_or("()".to_string(), |ty| ty.to_string());
        self.put(format_args!("({values}) : ({types}) -> {result}"));
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::For { .. } | Op::If { .. } | Op::While { .. } | Op::Switch { .. } => self.control(op),
            Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicRmw { .. }
            | Op::MaskedLoad { .. }
            | Op::MaskedStore { .. }
            | Op::Gather { .. }
            | Op::Scatter { .. }
            | Op::Element { .. }
            | Op::Alloca { .. }
            | Op::Copy { .. }
            | Op::Fill { .. }
            | Op::Prefetch(..) => self.memory(op),
            Op::Intrinsic { name, operands, result } => {
                self.put(format_args!("llvm.call_intrinsic \"{name}\""));
                self.called(operands, *result);
            }
            Op::Call { function, operands, result } => {
                self.put(format_args!("llvm.call @{}", function.name()));
                self.called(operands, *result);
            }
            Op::AddressOf(symbol) => {
                self.put(format_args!("llvm.mlir.addressof @{} : !llvm.ptr", symbol.name()));
            }
            _ => self.arithmetic(op),
        }
    }

    fn arithmetic(&mut self, op: &Op) {
        match op {
            Op::Constant(literal) => self.put(format_args!("arith.constant {literal}")),
            Op::Register(number) => self.put(format_args!("llvm.mlir.constant({number} : i8) : i8")),
            Op::Same { name, operands, ty } => self.put(format_args!("{name} {} : {ty}", list(operands))),
            Op::Compare { name: name @ "llvm.icmp", predicate, sides: [a, b], ty } => {
                self.put(format_args!("{name} \"{predicate}\" {a}, {b} : {ty}"));
            }
            Op::Compare { name, predicate, sides: [a, b], ty } => {
                self.put(format_args!("{name} {predicate}, {a}, {b} : {ty}"));
            }
            Op::Select { condition: (c, Type::I1), values: [a, b], ty } => {
                self.put(format_args!("arith.select {c}, {a}, {b} : {ty}"));
            }
            Op::Select { condition: (c, own), values: [a, b], ty } => {
                self.put(format_args!("arith.select {c}, {a}, {b} : {own}, {ty}"));
            }
            Op::Cast { name, value, from, to } => self.put(format_args!("{name} {value} : {from} to {to}")),
            Op::Shuffle { sides: [a, b], order, ty } => {
                self.put(format_args!("vector.shuffle {a}, {b} [{}] : {ty}, {ty}", list(order)));
            }
            Op::Extract { vector, lane, ty } => {
                self.put(format_args!("vector.extract {vector}[{lane}] : {} from {ty}", ty.element()));
            }
            Op::Insert { value, vector, lane, ty } => {
                let own = ty.element();
                self.put(format_args!("vector.insert {value}, {vector}[{lane}] : {own} into {ty}"));
            }
            Op::First { vector, from, to } => self.put(format_args!(
                "vector.extract_strided_slice {vector} {{offsets = [0], sizes = [{}], strides = [1]}} : {from} to {to}",
                to.lanes()
            )),
            Op::FromElements(values, ty) => {
                self.put(format_args!("vector.from_elements {} : {ty}", list(values)));
            }
            Op::Reduction { kind, vector, ty } => {
                self.put(format_args!("vector.reduction <{kind}>, {vector} : {ty} into {}", ty.element()));
            }
            // Everything else is written by one of the others.
            _ => {}
        }
    }

    fn memory(&mut self, op: &Op) {
        match op {
            Op::Element { pointer, index, of } => match index {
                Index::Number(number) => self.put(format_args!(
                    "llvm.getelementptr {pointer}[{number}] : (!llvm.ptr) -> !llvm.ptr, {of}"
                )),
                Index::At(value) => self.put(format_args!(
                    "llvm.getelementptr {pointer}[{value}] : (!llvm.ptr, i64) -> !llvm.ptr, {of}"
                )),
                Index::Each(values, lanes) => self.put(format_args!(
                    "llvm.getelementptr {pointer}[{values}] : (!llvm.ptr, vector<{lanes}xi64>) -> {}, {of}",
                    Type::Pointers(*lanes)
                )),
            },
            Op::Load { pointer, ty, alignment, temporality } => {
                let attributes = attributes(*alignment, *temporality);
                self.put(format_args!("llvm.load {pointer}{attributes} : !llvm.ptr -> {ty}"));
            }
            Op::Store { value, pointer, ty, alignment, temporality } => {
                let attributes = attributes(*alignment, *temporality);
                self.put(format_args!("llvm.store {value}, {pointer}{attributes} : {ty}, !llvm.ptr"));
            }
            Op::AtomicRmw { kind, pointer, value, ty } => self.put(format_args!(
                "llvm.atomicrmw {kind} {pointer}, {value} monotonic : !llvm.ptr, {ty}"
            )),
            Op::MaskedLoad { pointer, mask, other, ty, alignment } => self.put(format_args!(
                "llvm.intr.masked.load {pointer}, {mask}, {other} {{alignment = {alignment} : i32}} : \
                 (!llvm.ptr, {}, {ty}) -> {ty}",
                ty.truths()
            )),
            Op::MaskedStore { value, pointer, mask, ty, alignment } => self.put(format_args!(
                "llvm.intr.masked.store {value}, {pointer}, {mask} {{alignment = {alignment} : i32}} : {ty}, {} \
                 into !llvm.ptr",
                ty.truths()
            )),
            Op::Gather { pointers, mask, other, ty, alignment } => self.put(format_args!(
                "llvm.intr.masked.gather {pointers}, {mask}, {other} {{alignment = {alignment} : i32}} : \
                 ({}, {}, {ty}) -> {ty}",
                Type::Pointers(ty.lanes()),
                ty.truths()
            )),
            Op::Scatter { value, pointers, mask, ty, alignment } => self.put(format_args!(
                "llvm.intr.masked.scatter {value}, {pointers}, {mask} {{alignment = {alignment} : i32}} : {ty}, {} \
                 into {}",
                ty.truths(),
                Type::Pointers(ty.lanes())
            )),
            Op::Alloca { count, of, alignment } => {
                let aligned = alignment.map_or(String::new(), |n| format!(" {{alignment = {n} : i64}}"));
                self.put(format_args!("llvm.alloca {count} x {of}{aligned} : (i64) -> !llvm.ptr"));
            }
            Op::Copy { to, from, bytes } => self.put(format_args!(
                "\"llvm.intr.memcpy\"({to}, {from}, {bytes}) <{{isVolatile = false}}> : \
                 (!llvm.ptr, !llvm.ptr, i64) -> ()"
            )),
            Op::Fill { to, byte, bytes } => self.put(format_args!(
                "\"llvm.intr.memset\"({to}, {byte}, {bytes}) <{{isVolatile = false}}> : (!llvm.ptr, i8, i64) -> ()"
            )),
            Op::Prefetch(pointer, prefetched) => {
                let (rw, hint) = match prefetched {
                    Prefetched::Read(hint) => (0, hint),
                    Prefetched::Written(hint) => (1, hint),
                };
                self.put(format_args!(
                    "\"llvm.intr.prefetch\"({pointer}) <{{cache = 1 : i32, hint = {hint} : i32, rw = {rw} : i32}}> : \
                     (!llvm.ptr) -> ()"
                ));
            }
            _ => {}
        }
    }

    /// The statements of a region, and what it yields with this operation.
    fn block(&mut self, block: &Block, end: &str) {
        self.statements(&block.statements);
        if !block.yields.is_empty() {
            let (values, types) =
                (list(block.yields.iter().map(|y| y.0)), list(block.yields.iter().map(|y| y.1)));
            self.put(format_args!("{end} {values} : {types}\n"));
        }
    }

    fn control(&mut self, op: &Op) {
        let inits = |carried: &[Carry]| list(carried.iter().map(|c| format!("{} = {}", c.name, c.init)));
        let types = |carried: &[Carry]| list(carried.iter().map(|c| c.ty));
        match op {
            Op::For { variable, bounds: [low, high, step], carried, body } => {
                self.put(format_args!("scf.for {variable} = {low} to {high} step {step} "));
                if !carried.is_empty() {
                    self.put(format_args!("iter_args({}) -> ({}) ", inits(carried), types(carried)));
                }
                self.text.push_str(": i64 {\n");
                self.block(body, "scf.yield");
                self.text.push('}');
            }
            Op::If { condition, then, otherwise } => {
                self.put(format_args!("scf.if {condition} "));
                if !then.yields.is_empty() {
                    self.put(format_args!("-> ({}) ", list(then.yields.iter().map(|y| y.1))));
                }
                self.text.push_str("{\n");
                self.block(then, "scf.yield");
                if *otherwise != Block::default() {
                    self.text.push_str("} else {\n");
                    self.block(otherwise, "scf.yield");
                }
                self.text.push('}');
            }
            Op::While { carried, before, condition, parameters: own, after } => {
                let given = list(before.yields.iter().map(|y| y.1));
                let results = if own.is_empty() { "()".to_string() } else { format!("({given})") };
                self.put(format_args!(
                    "scf.while ({}) : ({}) -> {results} {{\n",
                    inits(carried),
                    types(carried)
                ));
                self.statements(&before.statements);
                let values = list(before.yields.iter().map(|y| y.0));
                let typed = if own.is_empty() { String::new() } else { format!(" {values} : {given}") };
                self.put(format_args!("scf.condition({condition}){typed}\n}} do {{\n"));
                if !own.is_empty() {
                    self.put(format_args!("^bb0({}):\n", parameters(own)));
                }
                self.statements(&after.statements);
                match after.yields.is_empty() {
                    true => self.text.push_str("scf.yield\n"),
                    false => {
                        self.block(
                            &Block { statements: Vec::new(), yields: after.yields.clone() },
                            "scf.yield",
                        );
                    }
                }
                self.text.push('}');
            }
            Op::Switch { value, cases } => {
                self.put(format_args!("scf.index_switch {value}"));
                for (i, case) in cases.iter().enumerate() {
                    let label =
                        if i + 1 == cases.len() { "default".to_string() } else { format!("case {i}") };
                    self.put(format_args!("\n{label} {{\n"));
                    self.statements(&case.statements);
                    self.text.push_str("scf.yield\n}");
                }
            }
            _ => {}
        }
    }
}
