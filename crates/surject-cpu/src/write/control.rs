//! Functions, statements, loops and branches.

use super::{Done, KernelWriter, Text, Writer, element};
use surject_codegen::kernels::mlir::Bounds;
use surject_ir::DType;
use surject_kernel::{Level, LoopKind, Op, Statement};

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
                self.statements(&kernel.body.body)?;
                return Ok(self.function(&kernel.name, KERNEL));
            }
        };
        let Op::For { low, high, step, body, .. } = tasks else {
            return Err("a loop that is none".into());
        };
        let name = format!("{}_task", kernel.name);
        // Each task computes again what stands before the loop.
        self.arguments("%table");
        self.statements(before)?;
        let (first, by) = (self.affine(low, 0)?, self.index(*step));
        let ahead = self.op(&format!("arith.muli %task, {by} overflow<nsw> : i64"));
        let own = self.op(&format!("arith.addi {first}, {ahead} overflow<nsw> : i64"));
        self.define(*body.params.first().ok_or("a loop without a variable")?, own);
        self.statements(&body.body)?;
        let task = self.function(&name, TASK);

        self.arguments("%tensors");
        self.statements(before)?;
        self.run_tasks(&name, (low, high, *step))?;
        Ok(task + &self.function(&kernel.name, KERNEL))
    }

    /// Runs the function of tasks for every iteration of a loop. The tasks share a table: the addresses of the tensors, and
    /// behind them that of the sizes.
    fn run_tasks(&mut self, name: &str, (low, high, step): Bounds<'_>) -> Done<()> {
        let kernel = self.kernel;
        let (first, end, by, zero) =
            (self.affine(low, 0)?, self.affine(high, 0)?, self.index(step), self.index(0));
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
        format!("llvm.func @{name}({parameters}) {{\n{}  llvm.return\n}}\n", self.text.take())
    }
}

impl<'k> KernelWriter<'k> for Writer<'k> {
    fn text(&self) -> &Text<'k> {
        &self.text
    }

    fn text_mut(&mut self) -> &mut Text<'k> {
        &mut self.text
    }

    fn element(dtype: DType) -> &'static str {
        element(dtype)
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
                    LoopKind::Unrolled => self.unrolled(bounds, inits, body, results, |_, _| {}),
                    // Tasks inside of others, or beside other statements, run one after the other.
                    LoopKind::Serial | LoopKind::Parallel(Level::Task) => {
                        self.serial(bounds, inits, body, results)
                    }
                    LoopKind::Parallel(level) => Err(format!("a loop over {level}s, which are a GPU's")),
                }
            }
            Op::If { condition, then, otherwise } => {
                self.branch(*condition, [then, otherwise], results, |_| {})
            }
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
}
