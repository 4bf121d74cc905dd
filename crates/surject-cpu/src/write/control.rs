//! Functions, statements, loops and branches.

use super::{Done, Writer, mlir};
use std::collections::HashMap;
use std::fmt::Write as _;
use surject_kernel::{Affine, Level, LoopKind, Op, Region, Statement, Value, print_statement};

/// The parameters of the function of a kernel, and those of the function of a task.
const KERNEL: &str = "%tensors: !llvm.ptr, %results: !llvm.ptr, %sizes: !llvm.ptr, %constants: !llvm.ptr";
const TASK: &str = "%task: i64, %worker: i64, %table: !llvm.ptr";

impl Writer<'_> {
    /// The functions of the kernel.
    pub(super) fn kernel(&mut self) -> Done<String> {
        let kernel = self.kernel;
        let body = &kernel.body.body;
        let is_tasks = |s: &Statement| matches!(s.op, Op::For { kind: LoopKind::Parallel(Level::Task), .. });
        let beside = |at: usize| body.iter().enumerate().all(|(i, s)| i == at || s.op.is_pure());
        let tasks = body.iter().position(is_tasks).filter(|&at| beside(at));
        let (before, tasks) = match tasks {
            Some(at) => (&body[..at], &body[at].op),
            None => {
                self.arguments("%tensors");
                self.region(&kernel.body)?;
                return Ok(self.function(&kernel.name, KERNEL));
            }
        };
        let Op::For { low, high, step, body, .. } = tasks else {
            return Err("a loop that is none".into());
        };
        let name = format!("{}_task", kernel.name);
        // Each task computes again what stands before the loop.
        self.arguments("%table");
        before.iter().try_for_each(|s| self.statement(s))?;
        let (first, by) = (self.affine(low)?, self.index(*step));
        let ahead = self.op(&format!("arith.muli %task, {by} overflow<nsw> : i64"));
        let own = self.op(&format!("arith.addi {first}, {ahead} overflow<nsw> : i64"));
        self.define(*body.params.first().ok_or("a loop without a variable")?, own);
        self.region(body)?;
        let task = self.function(&name, TASK);

        self.arguments("%tensors");
        before.iter().try_for_each(|s| self.statement(s))?;
        self.run_tasks(&name, (low, high, *step))?;
        Ok(task + &self.function(&kernel.name, KERNEL))
    }

    /// Runs the function of tasks for every iteration of a loop. The tasks share a table: the addresses of the tensors, and
    /// behind them that of the sizes.
    fn run_tasks(&mut self, name: &str, (low, high, step): (&Affine, &Affine, i64)) -> Done<()> {
        let kernel = self.kernel;
        let (first, end, by, zero) = (self.affine(low)?, self.affine(high)?, self.index(step), self.index(0));
        let length = self.op(&format!("arith.subi {end}, {first} : i64"));
        let count = self.op(&format!("arith.ceildivsi {length}, {by} : i64"));
        let count = self.op(&format!("arith.maxsi {count}, {zero} : i64"));
        let entries = self.index(kernel.params.len() as i64 + 1);
        let table = self.op(&format!("llvm.alloca {entries} x !llvm.ptr : (i64) -> !llvm.ptr"));
        let pointers: Vec<String> = kernel.params.iter().map(|mem| self.memory[mem].clone()).collect();
        for (i, pointer) in pointers.iter().map(String::as_str).chain(["%sizes"]).enumerate() {
            let entry = self.entry(&table, i, "!llvm.ptr");
            self.line(&format!("llvm.store {pointer}, {entry} : !llvm.ptr, !llvm.ptr"));
        }
        let function = self.op(&format!("llvm.mlir.addressof @{name} : !llvm.ptr"));
        self.line(&format!(
            "llvm.call @surject_parallel({function}, {count}, {count}, {table}) : (!llvm.ptr, i64, i64, !llvm.ptr) -> ()"
        ));
        Ok(())
    }

    /// The address of an entry of an array.
    fn entry(&mut self, array: &str, number: usize, ty: &str) -> String {
        self.op(&format!("llvm.getelementptr {array}[{number}] : (!llvm.ptr) -> !llvm.ptr, {ty}"))
    }

    /// Starts a function: loads the addresses of tensors, and the sizes.
    fn arguments(&mut self, table: &str) {
        let kernel = self.kernel;
        self.names = HashMap::new();
        for (i, &mem) in kernel.params.iter().enumerate() {
            let entry = self.entry(table, i, "!llvm.ptr");
            let pointer = self.op(&format!("llvm.load {entry} : !llvm.ptr -> !llvm.ptr"));
            self.memory.insert(mem, pointer);
        }
        if kernel.sizes.is_empty() {
            return;
        }
        let sizes = match table {
            "%tensors" => "%sizes".to_string(),
            _ => {
                let entry = self.entry(table, kernel.params.len(), "!llvm.ptr");
                self.op(&format!("llvm.load {entry} : !llvm.ptr -> !llvm.ptr"))
            }
        };
        for (i, &size) in kernel.sizes.iter().enumerate() {
            let entry = self.entry(&sizes, i, "i64");
            let value = self.op(&format!("llvm.load {entry} : !llvm.ptr -> i64"));
            self.define(size, value);
        }
    }

    /// Ends a function, and gives its text.
    fn function(&mut self, name: &str, parameters: &str) -> String {
        let (prologue, body) = (std::mem::take(&mut self.prologue), std::mem::take(&mut self.text));
        self.constants.clear();
        let mut text = String::new();
        let _ = writeln!(text, "llvm.func @{name}({parameters}) {{\n{prologue}{body}  llvm.return\n}}");
        text
    }

    fn region(&mut self, region: &Region) -> Done<()> {
        region.body.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&mut self, statement: &Statement) -> Done<()> {
        let done = self.operation(statement);
        if done.is_err() && self.fault.is_none() {
            self.fault = Some(print_statement(self.kernel, statement));
        }
        done
    }

    fn operation(&mut self, Statement { results, op }: &Statement) -> Done<()> {
        match op {
            Op::Load { place, fill, temporality } => {
                let result = *results.first().ok_or("a load without a result")?;
                let value = self.load(place, self.ty(result), *fill, *temporality)?;
                self.define(result, value);
                Ok(())
            }
            Op::Store { place, value, temporality } => self.store(place, *value, *temporality),
            Op::Atomic { op, place, value } => self.atomic(*op, place, *value),
            Op::Alloc(mem) => self.alloc(*mem),
            Op::Prefetch { mem, at, write } => self.prefetch(*mem, at, *write),
            Op::For { low, high, step, kind, inits, body } => {
                let bounds = (low, high, *step);
                match kind {
                    LoopKind::Unrolled => self.unrolled(bounds, inits, body, results),
                    // Tasks inside of others, or beside other statements, run one after the other.
                    LoopKind::Serial | LoopKind::Parallel(Level::Task) => {
                        self.serial(bounds, inits, body, results)
                    }
                    LoopKind::Parallel(level) => Err(format!("a loop over {level}s, which are a GPU's")),
                }
            }
            Op::If { condition, then, otherwise } => self.branch(*condition, then, otherwise, results),
            Op::Exchange(..) => Err("an exchange, which threads of a GPU have".into()),
            Op::AsyncCopy { .. } | Op::AsyncCommit | Op::AsyncWait(_) => {
                Err("a copy in the background, which a GPU has".into())
            }
            Op::Barrier(_) => Err("a barrier, which a GPU has".into()),
            Op::MatMul { .. } => Err("a matrix product, which no strategy of a CPU proposes".into()),
            _ => {
                let result = *results.first().ok_or("an operation without a result")?;
                let value = self.pure(op, self.ty(result))?;
                self.define(result, value);
                Ok(())
            }
        }
    }

    fn yielded(&mut self, values: &[Value]) -> Done<()> {
        if values.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = values.iter().map(|&v| self.name(v)).collect::<Done<_>>()?;
        let types: Vec<String> = values.iter().map(|&v| mlir(self.ty(v))).collect();
        self.line(&format!("scf.yield {} : {}", names.join(", "), types.join(", ")));
        Ok(())
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

    fn serial(
        &mut self,
        (low, high, step): (&Affine, &Affine, i64),
        inits: &[Value],
        body: &Region,
        results: &[Value],
    ) -> Done<()> {
        let (from, to, by) = (self.affine(low)?, self.affine(high)?, self.index(step));
        let first: Vec<String> = inits.iter().map(|&v| self.name(v)).collect::<Done<_>>()?;
        let types: Vec<String> = inits.iter().map(|&v| mlir(self.ty(v))).collect();
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
            false => format!(" iter_args({}) -> ({})", pairs.join(", "), types.join(", ")),
        };
        self.line(&format!("{head}scf.for {variable} = {from} to {to} step {by}{iter} : i64 {{"));
        self.depth += 1;
        self.region(body)?;
        self.yielded(&body.yields)?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn unrolled(
        &mut self,
        (low, high, step): (&Affine, &Affine, i64),
        inits: &[Value],
        body: &Region,
        results: &[Value],
    ) -> Done<()> {
        let bounds = low.as_constant().zip(high.as_constant());
        let (low, high) = bounds.ok_or("an unrolled loop without known bounds")?;
        let mut carried: Vec<String> = inits.iter().map(|&v| self.name(v)).collect::<Done<_>>()?;
        let (own, params) = body.params.split_first().ok_or("a loop without a variable")?;
        let step = usize::try_from(step).ok().filter(|&s| s > 0).ok_or("a step below 1")?;
        for at in (low..high).step_by(step) {
            let name = self.index(at);
            self.define(*own, name);
            params.iter().zip(&carried).for_each(|(&p, name)| self.define(p, name.clone()));
            self.region(body)?;
            carried = body.yields.iter().map(|&v| self.name(v)).collect::<Done<_>>()?;
        }
        results.iter().zip(carried).for_each(|(&r, name)| self.define(r, name));
        Ok(())
    }

    fn branch(&mut self, condition: Value, then: &Region, otherwise: &Region, results: &[Value]) -> Done<()> {
        let condition = self.name(condition)?;
        let types: Vec<String> = results.iter().map(|&v| mlir(self.ty(v))).collect();
        let arrow = if types.is_empty() { String::new() } else { format!(" -> ({})", types.join(", ")) };
        let head = self.results(results);
        self.line(&format!("{head}scf.if {condition}{arrow} {{"));
        self.depth += 1;
        self.region(then)?;
        self.yielded(&then.yields)?;
        self.depth -= 1;
        if !otherwise.body.is_empty() || !results.is_empty() {
            self.line("} else {");
            self.depth += 1;
            self.region(otherwise)?;
            self.yielded(&otherwise.yields)?;
            self.depth -= 1;
        }
        self.line("}");
        Ok(())
    }
}
