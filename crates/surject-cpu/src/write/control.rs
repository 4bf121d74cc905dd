//! Functions, statements, loops and branches.

use super::{Done, Writer, of, task_of};
use surject_codegen::code::{self, Block, Carry, Index, Op, Type};
use surject_kernel::{Access, Affine, Level, LoopKind, Op as KernelOp, Region, Statement, Team, Value};

/// A loop, of which iterations may depend on those before.
struct Loop<'k> {
    low: &'k Affine,
    high: &'k Affine,
    step: i64,
    inits: &'k [Value],
    body: &'k Region,
    results: &'k [Value],
}

/// The loop over tasks that is all that a kernel does, and the statements before it.
struct TaskLoop<'k> {
    before: &'k [Statement],
    low: &'k Affine,
    high: &'k Affine,
    step: i64,
    body: &'k Region,
}

impl<'k> Writer<'k> {
    /// The loop over tasks, if it is all that the kernel does but for values, which are the same in every task.
    fn task_loop(&self) -> Option<TaskLoop<'k>> {
        let kernel: &'k surject_kernel::Kernel = self.kernel;
        let all = &kernel.body.body;
        all.iter().enumerate().find_map(|(at, statement)| match &statement.op {
            KernelOp::For { low, high, step, kind: LoopKind::Parallel(Level::Task), body, .. } => {
                let alone = all.iter().enumerate().all(|(i, s)| i == at || self.is_same_in_all_tasks(&s.op));
                alone.then_some(TaskLoop { before: &all[..at], low, high, step: *step, body })
            }
            _ => None,
        })
    }

    /// Does an operation give every task the same, and do nothing else? Loads of what the kernel only reads do, and choices
    /// between such operations, which formulas have.
    fn is_same_in_all_tasks(&self, op: &KernelOp) -> bool {
        let same = |region: &Region| region.body.iter().all(|s| self.is_same_in_all_tasks(&s.op));
        match op {
            KernelOp::Load { place, .. } => self.kernel.mem(place.mem).access == Access::Read,
            KernelOp::If { then, otherwise, .. } => same(then) && same(otherwise),
            _ => op.is_pure(),
        }
    }

    /// All that a task does; the number of tasks, where that is known.
    pub(super) fn tasks(&mut self, task: code::Value, table: code::Value) -> Done<Option<i64>> {
        self.whole(|writer| writer.tasks_between(task, table))
    }

    /// Tasks, between what makes registers those of tiles and what gives them back.
    fn whole<T>(&mut self, tasks: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let has_tiles = self.open_tiles();
        let done = tasks(self)?;
        if has_tiles {
            self.close_tiles();
        }
        // Whoever is told that the tasks have run finds in memory what went past the caches.
        if self.is_past {
            self.b.effect(Op::intrinsic("llvm.x86.sse.sfence", [], None));
        }
        Ok(done)
    }

    /// All that a task does, in between.
    fn tasks_between(&mut self, task: code::Value, table: code::Value) -> Done<Option<i64>> {
        self.tensors(table);
        if !self.kernel.sizes.is_empty() {
            let entry = self.entry_of(table, self.kernel.params.len(), Type::Pointer);
            let sizes = self.b.op(Op::load(entry, Type::Pointer));
            self.sizes(sizes);
        }
        let Some(TaskLoop { before, low, high, step, body }) = self.task_loop() else {
            let kernel = self.kernel;
            self.statements(&kernel.body.body)?;
            return Ok(Some(1));
        };
        // Each task computes again what stands before the loop.
        self.statements(before)?;
        let (first, by) = (self.affine(low)?, self.b.int(step));
        let offset = self.b.op(Op::same("arith.muli", [task, by], Type::I64));
        let own = self.b.op(Op::same("arith.addi", [first, offset], Type::I64));
        self.values.insert(*body.params.first().ok_or("a loop without a variable")?, own);
        self.statements(&body.body)?;
        let known = low.as_constant().zip(high.as_constant());
        let tasks = |length: u64| length.div_ceil(step.max(1).unsigned_abs());
        Ok(known
            .and_then(|(low, high)| tasks(high.saturating_sub(low).max(0).unsigned_abs()).try_into().ok()))
    }

    /// The tasks from one number on to another, one after the other.
    pub(super) fn range_of_tasks(&mut self, [low, high]: [code::Value; 2], table: code::Value) -> Done<()> {
        // A kernel of a range has it as sizes.
        if let ([first, end], None) = (&self.kernel.sizes[..], self.task_loop()) {
            self.values.extend([(*first, low), (*end, high)]);
            return self.whole(|writer| {
                let kernel = writer.kernel;
                writer.tensors(table);
                writer.statements(&kernel.body.body)
            });
        }
        let TaskLoop { before, low: first, step, body, .. } = self
            .task_loop()
            .ok_or("a range of tasks of a kernel that has more to do, or no loop over tasks")?;
        if !self.kernel.sizes.is_empty() || first.as_constant() != Some(0) || step != 1 {
            return Err("a range of tasks that are not numbered as their loop is".into());
        }
        self.whole(|writer| {
            writer.tensors(table);
            writer.statements(before)?;
            let variable = writer.b.fresh();
            writer.values.insert(*body.params.first().ok_or("a loop without a variable")?, variable);
            let bounds = [low, high, writer.b.int(1)];
            let body = writer.region(body)?;
            writer.b.define(Vec::new(), Op::For { variable, bounds, carried: Vec::new(), body });
            Ok(())
        })
    }

    /// Runs all tasks of the kernel by itself, of which the number may be known.
    pub(super) fn entry(&mut self, known: Option<i64>, [tensors, sizes]: [code::Value; 2]) -> Done<()> {
        let is_static = self.kernel.sizes.is_empty();
        if !is_static || known.is_none() {
            self.tensors(tensors);
            self.sizes(sizes);
        }
        let count = match (known, self.task_loop()) {
            (Some(count), _) => self.b.int(count),
            (None, None) => self.b.int(1),
            (None, Some(TaskLoop { before, low, high, step, .. })) => {
                self.statements(before)?;
                let (first, end) = (self.affine(low)?, self.affine(high)?);
                let (by, zero) = (self.b.int(step), self.b.int(0));
                let length = self.b.op(Op::same("arith.subi", [end, first], Type::I64));
                let count = self.b.op(Op::same("arith.ceildivsi", [length, by], Type::I64));
                self.b.op(Op::same("arith.maxsi", [count, zero], Type::I64))
            }
        };
        let table = if is_static { tensors } else { self.table(sizes) };
        let function = self.b.op(Op::AddressOf(task_of(self.kernel)));
        let operands =
            [(function, Type::Pointer), (count, Type::I64), (count, Type::I64), (table, Type::Pointer)];
        self.b.effect(Op::call(code::Symbol::Named("surject_parallel".into()), operands, None));
        Ok(())
    }

    /// The addresses of the tensors, and behind them that of the sizes.
    fn table(&mut self, sizes: code::Value) -> code::Value {
        let kernel = self.kernel;
        let count = self.b.int(kernel.params.len() as i64 + 1);
        let table = self.b.at_first(Op::Alloca { count, of: Type::Pointer, alignment: None });
        let pointers: Vec<code::Value> = kernel.params.iter().map(|mem| self.memory[mem]).collect();
        for (i, pointer) in pointers.into_iter().chain([sizes]).enumerate() {
            let entry = self.entry_of(table, i, Type::Pointer);
            self.b.effect(Op::store(pointer, entry, Type::Pointer));
        }
        table
    }

    /// The address of an entry of an array.
    fn entry_of(&mut self, array: code::Value, number: usize, of: Type) -> code::Value {
        self.b.op(Op::Element { pointer: array, index: Index::Number(number as i64), of })
    }

    /// Loads the addresses of tensors.
    fn tensors(&mut self, table: code::Value) {
        let kernel = self.kernel;
        for (i, &mem) in kernel.params.iter().enumerate() {
            let entry = self.entry_of(table, i, Type::Pointer);
            let pointer = self.b.op(Op::load(entry, Type::Pointer));
            self.memory.insert(mem, pointer);
        }
    }

    /// Loads the sizes.
    fn sizes(&mut self, sizes: code::Value) {
        let kernel = self.kernel;
        for (i, &size) in kernel.sizes.iter().enumerate() {
            let entry = self.entry_of(sizes, i, Type::I64);
            let value = self.b.op(Op::load(entry, Type::I64));
            self.values.insert(size, value);
        }
    }

    /// Writes a statement, whatever it is.
    pub(super) fn statement(&mut self, Statement { results, op }: &Statement) -> Done<()> {
        match op {
            KernelOp::Load { place, fill, temporality } => {
                let result = *results.first().ok_or("a load without a result")?;
                let value = self.load(place, self.ty(result), *fill, *temporality)?;
                self.values.insert(result, value);
                Ok(())
            }
            KernelOp::Store { place, value, temporality } => self.store(place, *value, *temporality),
            KernelOp::Atomic { op, place, value } => self.atomic(*op, place, *value),
            KernelOp::Alloc(mem) => self.alloc(*mem),
            KernelOp::Prefetch { mem, at, wanted } => self.prefetch(*mem, at, *wanted),
            KernelOp::For { low, high, step, kind, inits, body } => {
                let around = Loop { low, high, step: *step, inits, body, results };
                match kind {
                    LoopKind::Unrolled => self.unrolled(&around),
                    // Tasks inside of others, or beside other statements, run one after the other.
                    LoopKind::Serial | LoopKind::Parallel(Level::Task) => self.serial(&around),
                    LoopKind::Parallel(level) => Err(format!("a loop over {level}s, which are a GPU's")),
                }
            }
            KernelOp::If { condition, then, otherwise } => {
                self.branch(*condition, [then, otherwise], results)
            }
            KernelOp::Exchange(..) => Err("an exchange, which threads of a GPU have".into()),
            KernelOp::AsyncCopy { .. } | KernelOp::AsyncCommit | KernelOp::AsyncWait(_) => {
                Err("a copy in the background, which a GPU has".into())
            }
            KernelOp::BoxCopy(_) => Err("a box that is copied in the background, which a GPU has".into()),
            KernelOp::Phase(..) => Err("a barrier with phases, which a GPU has".into()),
            KernelOp::Barrier(_) => Err("a barrier, which a GPU has".into()),
            KernelOp::MatMul { sizes, factors, team: Team::One, acc, a, b } => {
                self.matmul(*sizes, *factors, [acc, a, b])
            }
            KernelOp::MatMul { .. } => Err("a matrix product of several warps, which a GPU has".into()),
            _ => {
                let result = *results.first().ok_or("an operation without a result")?;
                let ty = self.ty(result);
                let value = self.pure(op, ty)?;
                self.values.insert(result, value);
                if self.has_short_nans(op, ty) {
                    self.short_nans.insert(result);
                }
                Ok(())
            }
        }
    }

    /// The statements of a region, and what it yields.
    fn region(&mut self, region: &Region) -> Done<Block> {
        self.region_and(region, |_| Vec::new())
    }

    /// The same, which also yields what is made at its end.
    fn region_and(
        &mut self,
        region: &Region,
        further: impl FnOnce(&mut Self) -> Vec<(code::Value, Type)>,
    ) -> Done<Block> {
        self.b.open();
        self.scope(|writer| writer.statements(&region.body))?;
        let yields = region.yields.iter().map(|&v| Ok((self.value(v)?, of(self.ty(v)))));
        let mut yields = yields.collect::<Done<Vec<_>>>()?;
        yields.extend(further(self));
        Ok(self.b.close(yields))
    }

    /// New values for results.
    fn results(&mut self, results: &[Value]) -> Vec<code::Value> {
        let made: Vec<code::Value> = results.iter().map(|_| self.b.fresh()).collect();
        self.values.extend(results.iter().copied().zip(made.iter().copied()));
        made
    }

    fn serial(&mut self, Loop { low, high, step, inits, body, results }: &Loop<'_>) -> Done<()> {
        let bounds = [self.affine(low)?, self.affine(high)?, self.b.int(*step)];
        let (own, params) = body.params.split_first().ok_or("a loop without a variable")?;
        let variable = self.b.fresh();
        self.values.insert(*own, variable);
        let mut carried = Vec::new();
        for (&param, init) in params.iter().zip(self.values(inits)?) {
            let name = self.b.fresh();
            self.values.insert(param, name);
            carried.push(Carry { name, init, ty: of(self.ty(param)) });
        }
        let addresses = self.addresses((bounds[0], *step, variable), body, &mut carried)?;
        let around = std::mem::replace(&mut self.addresses, addresses);
        let body = self.region_and(body, |writer| {
            let addresses = std::mem::replace(&mut writer.addresses, around);
            writer.next_pointers(&addresses)
        })?;
        let mut results = self.results(results);
        results.resize_with(carried.len(), || self.b.fresh());
        self.b.define(results, Op::For { variable, bounds, carried, body });
        Ok(())
    }

    /// A loop without a loop.
    fn unrolled(&mut self, Loop { low, high, step, inits, body, results }: &Loop<'_>) -> Done<()> {
        let bounds = low.as_constant().zip(high.as_constant());
        let (low, high) = bounds.ok_or("an unrolled loop without known bounds")?;
        let step = usize::try_from(*step).ok().filter(|&s| s > 0).ok_or("a step below 1")?;
        let mut carried = self.values(inits)?;
        let (own, params) = body.params.split_first().ok_or("a loop without a variable")?;
        for place in (low..high).step_by(step) {
            let place = self.b.int(place);
            self.values.insert(*own, place);
            self.values.extend(params.iter().copied().zip(carried));
            self.scope(|writer| writer.statements(&body.body))?;
            carried = self.values(&body.yields)?;
        }
        self.values.extend(results.iter().copied().zip(carried));
        Ok(())
    }

    fn branch(&mut self, condition: Value, [then, otherwise]: [&Region; 2], results: &[Value]) -> Done<()> {
        let condition = self.value(condition)?;
        let then = self.region(then)?;
        let otherwise = self.region(otherwise)?;
        let results = self.results(results);
        self.b.define(results, Op::If { condition, then, otherwise });
        Ok(())
    }

    /// Something that is done where a condition holds.
    pub(super) fn only_if(
        &mut self,
        condition: code::Value,
        f: impl FnOnce(&mut Self) -> Done<()>,
    ) -> Done<()> {
        self.b.open();
        f(self)?;
        let then = self.b.close(Vec::new());
        self.b.effect(Op::If { condition, then, otherwise: Block::default() });
        Ok(())
    }

    /// A value where a condition holds, else another one, of this type.
    pub(super) fn either(
        &mut self,
        condition: code::Value,
        ty: Type,
        then: impl FnOnce(&mut Self) -> Done<code::Value>,
        otherwise: code::Value,
    ) -> Done<code::Value> {
        self.b.open();
        let value = then(self)?;
        let then = self.b.close(vec![(value, ty)]);
        let otherwise = Block { statements: Vec::new(), yields: vec![(otherwise, ty)] };
        Ok(self.b.op(Op::If { condition, then, otherwise }))
    }
}
