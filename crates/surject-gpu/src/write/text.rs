//! The text of a function: names, constants, addresses, loops and branches.

use std::collections::HashMap;
use std::fmt::Write;
use surject_codegen::kernels::mlir::{Done, WriteError, cast, element};
use surject_ir::{DType, Scalar};
use surject_kernel::{Affine, Guard, Kernel, Region, Statement, Type, Value, print_statement};

/// The bounds of a loop: from, up to, and by how much.
pub(super) type Bounds<'a> = (&'a Affine, &'a Affine, i64);

/// The text of a function that is being written.
pub(super) struct Text<'k> {
    /// The kernel.
    pub(super) kernel: &'k Kernel,
    /// What the function does first: constants and memory.
    prologue: String,
    body: String,
    /// How far the body of the function is indented, and the line that comes next.
    indents: [usize; 2],
    next: usize,
    names: HashMap<Value, String>,
    constants: HashMap<String, String>,
    /// The statement that has no form.
    fault: Option<String>,
}

impl<'k> Text<'k> {
    /// No text yet, of a function whose body is indented so far.
    pub(super) fn new(kernel: &'k Kernel, indent: usize) -> Text<'k> {
        Text {
            kernel,
            prologue: String::new(),
            body: String::new(),
            indents: [indent; 2],
            next: 0,
            names: HashMap::new(),
            constants: HashMap::new(),
            fault: None,
        }
    }

    /// Adds a line to what the function does first.
    pub(super) fn first(&mut self, text: &str) {
        let _ = writeln!(self.prologue, "{}{text}", "  ".repeat(self.indents[0]));
    }

    /// Takes the body of the function: another one may begin.
    pub(super) fn take(&mut self) -> String {
        self.names.clear();
        self.constants.clear();
        std::mem::take(&mut self.prologue) + &std::mem::take(&mut self.body)
    }

    /// Says which statement has no form, if none is known yet.
    pub(super) fn fault(&mut self, statement: &Statement) {
        let kernel = self.kernel;
        self.fault.get_or_insert_with(|| print_statement(kernel, statement));
    }

    /// The error of the kernel.
    pub(super) fn blame(&mut self, message: String) -> WriteError {
        WriteError { kernel: self.kernel.name.clone(), statement: self.fault.take(), message }
    }
}

/// Writes a kernel statement by statement.
pub(super) trait KernelWriter<'k> {
    /// The text so far.
    fn text(&self) -> &Text<'k>;

    /// The same, to be changed.
    fn text_mut(&mut self) -> &mut Text<'k>;

    /// Writes a statement, whatever it is.
    fn operation(&mut self, statement: &Statement) -> Done<()>;

    /// The MLIR type of elements in registers.
    fn element(dtype: DType) -> &'static str {
        element(dtype)
    }

    /// The MLIR type of a value.
    fn mlir(ty: Type) -> String {
        lanes_of(Self::element(ty.dtype), ty.lanes)
    }

    /// A new name.
    fn fresh(&mut self) -> String {
        let text = self.text_mut();
        text.next += 1;
        format!("%v{}", text.next)
    }

    /// Adds a line.
    fn line(&mut self, line: &str) {
        let text = self.text_mut();
        let _ = writeln!(text.body, "{}{line}", "  ".repeat(text.indents[1]));
    }

    /// What a region of MLIR holds, further inside.
    fn inside<T>(&mut self, f: impl FnOnce(&mut Self) -> Done<T>) -> Done<T>
    where
        Self: Sized,
    {
        self.text_mut().indents[1] += 1;
        let done = f(self);
        self.text_mut().indents[1] -= 1;
        done
    }

    /// An operation with one result, and its name.
    fn op(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    /// A constant, which stands at the beginning of the function.
    fn constant(&mut self, literal: &str, ty: &str) -> String {
        // A truth is written without its type.
        let key = if ty == "i1" { literal.to_string() } else { format!("{literal} : {ty}") };
        if let Some(name) = self.text().constants.get(&key) {
            return name.clone();
        }
        let name = self.fresh();
        let text = self.text_mut();
        text.first(&format!("{name} = arith.constant {key}"));
        text.constants.insert(key, name.clone());
        name
    }

    /// A constant of `i64`.
    fn index(&mut self, value: i64) -> String {
        self.constant(&value.to_string(), "i64")
    }

    /// Memory of so many elements that the function has while it runs: its address.
    fn alloca(&mut self, elements: i64, ty: &str, alignment: usize) -> String {
        let (name, count) = (self.fresh(), self.index(elements));
        let how = format!("{{alignment = {alignment} : i64}} : (i64) -> !llvm.ptr");
        self.text_mut().first(&format!("{name} = llvm.alloca {count} x {ty} {how}"));
        name
    }

    /// The type of a value.
    fn ty(&self, value: Value) -> Type {
        self.text().kernel.ty(value)
    }

    /// The name of a value.
    fn name(&self, value: Value) -> Done<String> {
        self.text().names.get(&value).cloned().ok_or_else(|| format!("{value} has no value here"))
    }

    /// The names of values.
    fn names(&self, values: &[Value]) -> Done<Vec<String>> {
        values.iter().map(|&v| self.name(v)).collect()
    }

    /// Gives a value a name.
    fn define(&mut self, value: Value, name: String) {
        self.text_mut().names.insert(value, name);
    }

    /// An affine expression at a lane, as `i64`.
    fn affine(&mut self, affine: &Affine, lane: usize) -> Done<String> {
        let offset = (lane as i64).checked_mul(affine.lane).and_then(|l| l.checked_add(affine.offset));
        let offset = offset.ok_or("an address does not fit in 64 bits")?;
        let mut sum: Option<String> = None;
        for term in &affine.terms {
            let mut product: Option<String> = None;
            for &value in &term.values {
                let name = self.name(value)?;
                product = Some(match product {
                    None => name,
                    Some(p) => self.op(&format!("arith.muli {p}, {name} overflow<nsw> : i64")),
                });
            }
            let mut product = product.ok_or("a term without values")?;
            if term.factor != 1 {
                let factor = self.index(term.factor);
                product = self.op(&format!("arith.muli {product}, {factor} overflow<nsw> : i64"));
            }
            sum = Some(match sum {
                None => product,
                Some(s) => self.op(&format!("arith.addi {s}, {product} overflow<nsw> : i64")),
            });
        }
        Ok(match (sum, offset) {
            (None, offset) => self.index(offset),
            (Some(sum), 0) => sum,
            (Some(sum), offset) => {
                let offset = self.index(offset);
                self.op(&format!("arith.addi {sum}, {offset} overflow<nsw> : i64"))
            }
        })
    }

    /// Does a guard hold, whose sides have these values in so many lanes?
    fn within(&mut self, guard: &Guard, [expr, bound]: [&str; 2], lanes: usize) -> String {
        let ty = lanes_of("i64", lanes);
        if guard.bound.as_constant().is_some_and(|b| b >= 0) {
            // A negative number is a large one without a sign.
            return self.op(&format!("arith.cmpi ult, {expr}, {bound} : {ty}"));
        }
        let zero = if lanes == 1 { self.index(0) } else { self.constant("dense<0>", &ty) };
        let low = self.op(&format!("arith.cmpi sge, {expr}, {zero} : {ty}"));
        let high = self.op(&format!("arith.cmpi slt, {expr}, {bound} : {ty}"));
        self.op(&format!("arith.andi {low}, {high} : {}", lanes_of("i1", lanes)))
    }

    /// A value as another element type.
    fn cast(&mut self, name: &str, from: Type, to: DType) -> String {
        let (f, t) = (Self::mlir(from), Self::mlir(from.with(to)));
        match cast(from.dtype, to) {
            Some(operation) => self.op(&format!("{operation} {name} : {f} to {t}")),
            None if f == t => name.to_string(),
            None => {
                // Saturates; NaN gives 0.
                let lanes = |e: &str| if from.lanes == 1 { e.into() } else { format!("v{}{e}", from.lanes) };
                let kind = if to.is_signed_int() { "fptosi" } else { "fptoui" };
                let (integer, float) = (lanes(Self::element(to)), lanes(Self::element(from.dtype)));
                let call = format!("llvm.{kind}.sat.{integer}.{float}");
                self.op(&format!("llvm.call_intrinsic \"{call}\"({name}) : ({f}) -> {t}"))
            }
        }
    }

    /// Writes statements; an error says at which one.
    fn statements(&mut self, statements: &[Statement]) -> Done<()> {
        for statement in statements {
            self.operation(statement).inspect_err(|_| self.text_mut().fault(statement))?;
        }
        Ok(())
    }

    /// Ends a region of MLIR with what it yields.
    fn yielded(&mut self, values: &[Value]) -> Done<()> {
        if values.is_empty() {
            return Ok(());
        }
        let (names, types) = (self.names(values)?, self.types(values));
        self.line(&format!("scf.yield {} : {types}", names.join(", ")));
        Ok(())
    }

    /// The MLIR types of values.
    fn types(&self, values: &[Value]) -> String {
        let types: Vec<String> = values.iter().map(|&v| Self::mlir(self.ty(v))).collect();
        types.join(", ")
    }

    /// Names for results, and what stands before the operation that gives them.
    fn results(&mut self, results: &[Value]) -> String {
        if results.is_empty() {
            return String::new();
        }
        let name = self.fresh();
        if let [one] = results {
            self.define(*one, name.clone());
            return format!("{name} = ");
        }
        results.iter().enumerate().for_each(|(i, &v)| self.define(v, format!("{name}#{i}")));
        format!("{name}:{} = ", results.len())
    }

    /// A serial loop.
    fn serial(
        &mut self,
        (low, high, step): Bounds<'_>,
        inits: &[Value],
        body: &Region,
        results: &[Value],
    ) -> Done<()>
    where
        Self: Sized,
    {
        let (from, to, by) = (self.affine(low, 0)?, self.affine(high, 0)?, self.index(step));
        let first = self.names(inits)?;
        let variable = self.fresh();
        let (own, carried) = body.params.split_first().ok_or("a loop without a variable")?;
        self.define(*own, variable.clone());
        let mut pairs = Vec::new();
        for (&param, init) in carried.iter().zip(first) {
            let name = self.fresh();
            pairs.push(format!("{name} = {init}"));
            self.define(param, name);
        }
        let head = self.results(results);
        let iter = match pairs.is_empty() {
            true => String::new(),
            false => format!(" iter_args({}) -> ({})", pairs.join(", "), self.types(inits)),
        };
        self.line(&format!("{head}scf.for {variable} = {from} to {to} step {by}{iter} : i64 {{"));
        self.region(body)?;
        self.line("}");
        Ok(())
    }

    /// The statements of a region of MLIR and what it yields.
    fn region(&mut self, region: &Region) -> Done<()>
    where
        Self: Sized,
    {
        self.inside(|w| {
            w.statements(&region.body)?;
            w.yielded(&region.yields)
        })
    }

    /// A loop without a loop; `at` sees the variable before each iteration.
    fn unrolled(
        &mut self,
        (low, high, step): Bounds<'_>,
        inits: &[Value],
        body: &Region,
        results: &[Value],
        mut at: impl FnMut(&mut Self, i64),
    ) -> Done<()>
    where
        Self: Sized,
    {
        let bounds = low.as_constant().zip(high.as_constant());
        let (low, high) = bounds.ok_or("an unrolled loop without known bounds")?;
        let step = usize::try_from(step).ok().filter(|&s| s > 0).ok_or("a step below 1")?;
        let mut carried = self.names(inits)?;
        let (own, params) = body.params.split_first().ok_or("a loop without a variable")?;
        for place in (low..high).step_by(step) {
            let name = self.index(place);
            self.define(*own, name);
            at(self, place);
            params.iter().zip(&carried).for_each(|(&p, name)| self.define(p, name.clone()));
            self.statements(&body.body)?;
            carried = self.names(&body.yields)?;
        }
        results.iter().zip(carried).for_each(|(&r, name)| self.define(r, name));
        Ok(())
    }

    /// A branch, with a line before each side, where it is not empty; `between` is done after one side and before the other.
    fn branch(
        &mut self,
        condition: Value,
        ([then, otherwise], first): ([&Region; 2], [String; 2]),
        results: &[Value],
        between: impl FnOnce(&mut Self),
    ) -> Done<()>
    where
        Self: Sized,
    {
        let condition = self.name(condition)?;
        let arrow = if results.is_empty() { String::new() } else { format!(" -> ({})", self.types(results)) };
        let head = self.results(results);
        self.line(&format!("{head}scf.if {condition}{arrow} {{"));
        let side = |w: &mut Self, first: &str, region: &Region| {
            if !first.is_empty() {
                w.inside(|w| {
                    w.line(first);
                    Ok(())
                })?;
            }
            w.region(region)
        };
        side(self, &first[0], then)?;
        between(self);
        if !otherwise.body.is_empty() || !results.is_empty() {
            self.line("} else {");
            side(self, &first[1], otherwise)?;
        }
        self.line("}");
        Ok(())
    }

    /// Something that is done where a condition holds, or always.
    fn only_if(&mut self, condition: Option<String>, f: impl FnOnce(&mut Self) -> Done<()>) -> Done<()>
    where
        Self: Sized,
    {
        let Some(condition) = condition else { return f(self) };
        self.line(&format!("scf.if {condition} {{"));
        self.inside(f)?;
        self.line("}");
        Ok(())
    }

    /// A value where a condition holds, else another one.
    fn either(
        &mut self,
        condition: &str,
        ty: &str,
        then: impl FnOnce(&mut Self) -> Done<String>,
        otherwise: impl FnOnce(&mut Self) -> Done<String>,
    ) -> Done<String>
    where
        Self: Sized,
    {
        let name = self.fresh();
        self.line(&format!("{name} = scf.if {condition} -> ({ty}) {{"));
        let yields = |w: &mut Self, value: String| w.line(&format!("scf.yield {value} : {ty}"));
        self.inside(|w| then(w).map(|value| yields(w, value)))?;
        self.line("} else {");
        self.inside(|w| otherwise(w).map(|value| yields(w, value)))?;
        self.line("}");
        Ok(name)
    }
}

/// So many lanes of an element; one is a scalar.
pub(super) fn lanes_of(element: &str, lanes: usize) -> String {
    if lanes == 1 { element.to_string() } else { format!("vector<{lanes}x{element}>") }
}

/// An element as MLIR writes it: floats as their bits, integers as the value of a signed one.
pub(super) fn literal(value: Scalar) -> String {
    let dtype = value.dtype();
    match dtype {
        DType::I1 => if value.is_true() { "true" } else { "false" }.into(),
        _ if dtype.is_float() => {
            let digits = dtype.size() * 2;
            format!("0x{:0digits$X}", value.bits())
        }
        _ => {
            let unused = 128 - dtype.bits();
            (((value.bits() << unused) as i128) >> unused).to_string()
        }
    }
}
