//! The code of a chain: a loop over ranges, with a call of every part in it.

use crate::CodegenError;
use crate::code::{
    Builder, Declaration, Function, HIGH, Index, LOW, Op, POINTERS, Symbol, TASK, Value, WORKER,
};
use crate::expression::dag::Buf;
use crate::machine::elem::Type;
use crate::planned::kernel::{Form, Kernel};
use crate::planned::recipe::{Access, Recipe};
use crate::program::fuse::{Chain, Member, World, in_place_between, part_of_ir};
use crate::program::live::Span;
use crate::program::lowered::Step;
use crate::program::memory::{self, Need};
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{DType, TensorType};

/// Where a worker keeps a part of what lies between: the offset of each, and the bytes of all.
fn places(
    chain: &Chain,
    parts: &[Kernel],
    world: &World<'_>,
) -> Result<(HashMap<Buf, i64>, i64), CodegenError> {
    let size = |bytes: i64| bytes.unsigned_abs();
    let mut needs: Vec<Need<Buf>> = Vec::new();
    // The parts allow what the kernels do.
    let allowed = |&(to, from): &(Buf, Buf)| {
        let writing = chain.members.iter().position(|m| m.touches(to));
        writing.is_some_and(|number| {
            let member = &chain.members[number];
            parts[number].in_place.iter().any(|&b| member.memory_of(b, world) == Some(from))
        })
    };
    let mut in_place = in_place_between(&chain.members, &chain.between, world);
    in_place.retain(allowed);
    for &(buf, share) in &chain.between {
        if in_place.iter().any(|p| p.0 == buf) {
            continue;
        }
        let same = in_place.iter().find(|p| p.1 == buf).map(|p| p.0);
        let touching = |m: &Member| m.touches(buf) || same.is_some_and(|same| m.touches(same));
        let first = chain.members.iter().position(touching).unwrap_or(0);
        let last = chain.members.iter().rposition(touching).unwrap_or(0);
        needs.push(Need { buf, bytes: size(share * chain.most), ranges: vec![Span { first, last }] });
    }
    let (bytes, spots) = memory::assign(needs, &[])?;
    let mut offsets: HashMap<Buf, i64> =
        spots.into_iter().map(|(buf, spot)| (buf, spot.offset as i64)).collect();
    for (to, from) in in_place {
        if let Some(&offset) = offsets.get(&from) {
            offsets.insert(to, offset);
        }
    }
    Ok((offsets, bytes as i64))
}

/// What may have the memory of an output. The same parts of both lie at the same place; a part of the first must be
/// read before that of the output is written, by other members or, where the member that writes it allows it even of
/// a range of its parts (`parts`), by the same.
fn in_place(chain: &Chain, parts: &[Kernel], world: &World<'_>) -> Vec<(Buf, Buf)> {
    let inside = |buf: Buf| chain.between.iter().any(|b| b.0 == buf);
    let touches = |buf: Buf| {
        let all = chain.members.iter().enumerate();
        all.flat_map(move |(i, m)| m.accesses.iter().filter(move |a| a.buf == buf).map(move |a| (i, a)))
    };
    let mut reads: Vec<Buf> = chain.members.iter().flat_map(|m| m.accesses.iter().map(|a| a.buf)).collect();
    reads.sort_unstable();
    reads.dedup();
    reads.retain(|&r| !inside(r) && touches(r).all(|t| !t.1.write));
    let mut pairs = Vec::new();
    for (number, member) in chain.members.iter().enumerate() {
        let whole = &world.kernels[member.kernel];
        // The kernel was made for buffers of its own.
        let here = |buf: &Buf| {
            let place = whole.buffers.iter().position(|b| b == buf)?;
            Some((world.memory)(member.buffers[place]))
        };
        let own: Vec<Buf> =
            parts[number].in_place.iter().filter(|b| whole.in_place.contains(b)).filter_map(here).collect();
        let output = whole.writes.first().and_then(here);
        for &Access { buf: write, share, .. } in member.accesses.iter().filter(|a| a.write && !inside(a.buf))
        {
            let first = touches(write).next().is_some_and(|t| t.0 == number);
            for &read in &reads {
                let own = output == Some(write) && own.contains(&read);
                let before = |i: usize| i < number || (i == number && own);
                if first && share.is_some() && touches(read).all(|t| before(t.0) && t.1.share == share) {
                    pairs.push((read, write));
                }
            }
        }
    }
    pairs
}

/// A new buffer of so many bytes.
fn scratch(types: &mut Vec<TensorType>, dtype: DType, elements: i64) -> Buf {
    types.push(TensorType::new(dtype, Space::of(&[elements.unsigned_abs()])));
    Buf(types.len() as u32 - 1)
}

/// The functions of a kernel of a range: it, and those that belong to it, which have its name before their own.
fn functions(name: &str, part: &Kernel) -> Vec<Function> {
    let parameters = vec![(LOW, Type::I64), (HIGH, Type::I64), (POINTERS, Type::Pointer)];
    let mut whole =
        Function { symbol: Symbol::Named(String::new()), parameters, body: part.body.clone() }.prefixed(name);
    whole.symbol = Symbol::Own(name.to_string());
    let own = part.functions.iter().map(|function| function.clone().prefixed(name));
    std::iter::once(whole).chain(own).collect()
}

/// What every task joins its rows to, where the target itself is that of all: a target of its own.
struct Joined {
    /// The targets of all tasks.
    targets: Buf,
    /// Those of each task.
    count: i64,
    /// The ranges that are joined to one.
    ranges: i64,
    /// The bytes of each.
    bytes: i64,
    /// The step that joins them into one.
    total: Step,
}

/// The targets of its own that each task has for a member.
fn joined(
    member: &Member,
    tasks: i64,
    ranges: i64,
    most: i64,
    world: &mut World<'_>,
) -> Result<Option<Joined>, CodegenError> {
    let Some(columns) = member.recipe.joined() else { return Ok(None) };
    // The ranges of a task, and of those that share a target.
    let own = (ranges + tasks - 1) / tasks;
    let targets = columns.targets(own * most).clamp(1, own);
    let ranges = (own + targets - 1) / targets;
    let count = (own + ranges - 1) / ranges;
    if tasks * count == 1 {
        return Ok(None);
    }
    let bytes = columns.bytes().ok_or_else(|| CodegenError::malformed("a target without an end"))?;
    let targets = scratch(world.types, columns.dtype(), bytes / columns.size() * tasks * count);
    world.touched.insert(targets, 2);
    let to = member.buffers[0];
    let kernel = columns.total((targets, to), tasks * count, world.target)?;
    let (buffers, writes) = (kernel.buffers.clone(), kernel.writes.clone());
    world.kernels.push(kernel);
    let kernel = world.kernels.len() - 1;
    let total = Step::Run { kernel, buffers, writes, in_place: Vec::new(), copies: false, origin: None };
    Ok(Some(Joined { targets, count, ranges, bytes, total }))
}

/// An entry of a table of pointers.
#[derive(Clone, Copy)]
struct Entry {
    table: Value,
    entry: usize,
}

/// A pointer that moves with the range: the parts of this memory, of so many bytes each.
#[derive(Clone, Copy)]
struct Moving {
    at: Entry,
    memory: Buf,
    share: i64,
}

/// The targets that a task has to itself, of so many bytes each.
#[derive(Clone, Copy)]
struct TaskTargets {
    at: Entry,
    /// The pointer to the first of them.
    first: Value,
    /// The ranges that are joined to one.
    ranges: i64,
    bytes: i64,
}

/// The kernel of a chain while it is written.
struct Writing<'a> {
    chain: &'a Chain,
    world: &'a World<'a>,
    /// The kernels of a range, member by member.
    parts: &'a [Kernel],
    /// The targets that each has to itself.
    own: &'a [Option<Joined>],
    /// Where a worker keeps what it has to itself.
    offsets: HashMap<Buf, i64>,
    /// The ranges that come from a segment.
    per: i64,
    b: Builder,
    functions: Vec<Function>,
    /// What the kernel is called with.
    buffers: Vec<Buf>,
    writes: Vec<Buf>,
    one: Value,
    zero: Value,
    /// The pointer to what the worker keeps.
    base: Value,
    /// The tables of pointers, member by member.
    tables: Vec<Value>,
    moving: Vec<Moving>,
    /// Where the parts of what lies between begin.
    placed: HashMap<Buf, Value>,
    targets: Vec<TaskTargets>,
}

impl Writing<'_> {
    /// The place of an entry in an array of pointers.
    fn entry(&mut self, array: Value, i: usize) -> Value {
        let index = Index::Number(i as i64);
        self.b.op(Op::Element { pointer: array, index, of: Type::Pointer })
    }

    /// The pointer to a buffer of the kernel.
    fn load(&mut self, i: usize) -> Value {
        let at = self.entry(POINTERS, i);
        self.b.op(Op::load(at, Type::Pointer))
    }

    fn store(&mut self, pointer: Value, Entry { table, entry }: Entry) {
        let at = self.entry(table, entry);
        self.b.effect(Op::store(pointer, at, Type::Pointer));
    }

    /// A pointer so many times some bytes further on.
    fn further(&mut self, pointer: Value, number: Value, bytes: i64) -> Value {
        let each = self.b.int(bytes);
        let offset = self.b.arith("arith.muli", number, each);
        self.b.offset(pointer, offset)
    }

    /// Stores the pointer to the target of this number.
    fn point(&mut self, targets: TaskTargets, number: Value) {
        let pointer = self.further(targets.first, number, targets.bytes);
        self.store(pointer, targets.at);
    }

    /// The pointer to what the worker keeps, of so many bytes for each.
    fn open_own(&mut self, bytes: i64) {
        let base = self.load(0);
        self.base = self.further(base, WORKER, bytes);
    }

    /// The function of a member and its table of pointers; those that move with the range are stored inside.
    fn member(&mut self, number: usize) -> Result<(), CodegenError> {
        let part = &self.parts[number];
        let count = self.b.int(part.buffers.len() as i64);
        let table = self.b.op(Op::Alloca { count, of: Type::Pointer, alignment: None });
        for (entry, &buf) in part.buffers.iter().enumerate() {
            self.pointer(number, buf, Entry { table, entry })?;
        }
        self.functions.extend(functions(&format!("part{number}"), part));
        self.start(number, table)?;
        self.tables.push(table);
        Ok(())
    }

    /// The pointer to a buffer of a member.
    fn pointer(&mut self, number: usize, buf: Buf, at: Entry) -> Result<(), CodegenError> {
        let (member, part) = (&self.chain.members[number], &self.parts[number]);
        let place = self.world.kernels[member.kernel].buffers.iter().position(|&b| b == buf);
        let place = place.ok_or_else(|| CodegenError::malformed("a part with a new tensor"))?;
        let here = member.buffers[place];
        let memory = (self.world.memory)(here);
        if let Some(&(_, share)) = self.chain.between.iter().find(|b| b.0 == memory) {
            self.moving.push(Moving { at, memory, share });
            if !self.placed.contains_key(&memory) {
                let offset = self.offsets.get(&memory).copied().unwrap_or(0);
                let offset = self.b.int(offset);
                let place = self.b.offset(self.base, offset);
                self.placed.insert(memory, place);
            }
            return Ok(());
        }
        let own = self.own[number].as_ref().filter(|_| part.writes.contains(&buf));
        let here = own.map_or(here, |own| own.targets);
        let place = self.buffers.iter().position(|&b| b == here).unwrap_or_else(|| {
            self.buffers.push(here);
            self.buffers.len() - 1
        });
        if part.writes.contains(&buf) && !self.writes.contains(&here) {
            self.writes.push(here);
        }
        let mut pointer = self.load(place);
        if let Some(own) = own {
            pointer = self.further(pointer, TASK, own.bytes * own.count);
        }
        self.store(pointer, at);
        if let Some(own) = own.filter(|own| own.count > 1) {
            self.targets.push(TaskTargets { at, first: pointer, ranges: own.ranges, bytes: own.bytes });
        }
        Ok(())
    }

    /// A call of a function of the kernel for some of its parts.
    fn call(&mut self, name: String, parts: [Value; 2], table: Value) {
        let operands = [(parts[0], Type::I64), (parts[1], Type::I64), (table, Type::Pointer)];
        self.b.effect(Op::call(Symbol::Own(name), operands, None));
    }

    /// Fills the targets of a member with what nothing is joined to yet, if it joins its rows.
    fn start(&mut self, number: usize, table: Value) -> Result<(), CodegenError> {
        let Some(columns) = self.chain.members[number].recipe.joined() else { return Ok(()) };
        let start = part_of_ir::start(columns, self.world)?;
        self.functions.extend(functions(&format!("start{number}"), &start));
        let (zero, one) = (self.zero, self.one);
        // It has the target alone: its table is the end of that of the member which begins with it.
        let place = self.parts[number].buffers.iter().position(|&b| b == columns.output.to);
        let place = place.ok_or_else(|| CodegenError::malformed("a part without its target"))?;
        let own_table = self.entry(table, place);
        let targets = self.targets.last().copied().filter(|own| own.at.table == table);
        let several = targets.zip(self.own[number].as_ref().map(|own| own.count));
        let Some((targets, count)) = several else {
            self.call(format!("start{number}"), [zero, one], own_table);
            return Ok(());
        };
        let (target, count) = (self.b.fresh(), self.b.int(count));
        self.b.open();
        self.point(targets, target);
        self.call(format!("start{number}"), [zero, one], own_table);
        self.b.close_loop(target, [zero, count, one]);
        Ok(())
    }

    /// The loop over the ranges of the task: pointers that move are stored, and every member does the range.
    fn ranges(&mut self, [begin, until]: [Value; 2]) {
        let [per, segment, most] =
            [self.per, self.chain.segment, self.chain.most].map(|number| self.b.int(number));
        let range = self.b.fresh();
        self.b.open();
        let mut arith = |name, a, b| self.b.arith(name, a, b);
        let number = arith("arith.divui", range, per);
        let inside = arith("arith.remui", range, per);
        let first = arith("arith.muli", number, segment);
        let end = arith("arith.addi", first, segment);
        let before = arith("arith.muli", inside, most);
        let low = arith("arith.addi", first, before);
        let high = arith("arith.addi", low, most);
        let high = arith("arith.minsi", high, end);
        let back = arith("arith.subi", self.zero, low);
        for Moving { at, memory, share } in std::mem::take(&mut self.moving) {
            let place = self.placed.get(&memory).copied().unwrap_or_default();
            let pointer = self.further(place, back, share);
            self.store(pointer, at);
        }
        for targets in std::mem::take(&mut self.targets) {
            let (done, ranges) = (self.b.arith("arith.subi", range, begin), self.b.int(targets.ranges));
            let target = self.b.arith("arith.divui", done, ranges);
            self.point(targets, target);
        }
        let next = self.b.arith("arith.addi", range, self.one);
        for (i, table) in std::mem::take(&mut self.tables).into_iter().enumerate() {
            // A product has a task for a range of rows, others for a row.
            let is_product = matches!(*self.chain.members[i].recipe, Recipe::Product(_));
            let parts = if is_product { [range, next] } else { [low, high] };
            self.call(format!("part{i}"), parts, table);
        }
        self.b.close_loop(range, [begin, until, self.one]);
    }

    /// The kernel as it is written so far.
    fn finish(self) -> Kernel {
        let (chain, parts) = (self.chain, self.parts);
        let mut declarations: Vec<Declaration> = parts.iter().flat_map(|p| p.declarations.clone()).collect();
        declarations.sort_unstable();
        declarations.dedup();
        let members: Vec<&str> = parts.iter().map(|p| p.summary.as_str()).collect();
        let summary = format!(
            "fused: {} rows at a time of {}, tasks {}, saves {:.0} cycles: {}",
            chain.most,
            chain.members.first().map_or(0, |m| m.cut.parts),
            chain.tasks,
            chain.estimate.saved - chain.estimate.lost,
            members.join("; ")
        );
        let (body, cycles) = (self.b.finish(), parts.iter().map(|p| p.cycles).sum());
        let plain = Kernel::plain(body, chain.tasks, self.buffers, self.writes, summary);
        let refused = parts.iter().flat_map(|p| p.form.refused.iter().copied()).collect();
        let form = Form { name: "chain", refused };
        Kernel { declarations, functions: self.functions, cycles, form, ..plain }
    }
}

/// The first of so many ranges that the task has, and that of the next task.
fn share_of_task(b: &mut Builder, ranges: i64, tasks: i64) -> [Value; 2] {
    let (one, tasks, ranges) = (b.int(1), b.int(tasks), b.int(ranges));
    let next = b.arith("arith.addi", TASK, one);
    [TASK, next].map(|task| {
        let scaled = b.arith("arith.muli", task, ranges);
        b.arith("arith.divui", scaled, tasks)
    })
}

/// The kernels of a range, member by member: those of the kernel IR where the machine takes them.
fn parts(chain: &Chain, world: &World<'_>) -> Result<Vec<Kernel>, CodegenError> {
    let part = |member: &Member| {
        let (when, alone) = (chain.when(member, world), chain.is_alone(member, world));
        if let Recipe::Product(product) = &*member.recipe {
            return part_of_ir::product(product, member.kernel, chain.most, world);
        }
        part_of_ir::rows(member, (&when, &alone), world)
    };
    chain.members.iter().map(part).collect()
}

/// Makes the kernel of a chain, and the steps that run it.
pub(super) fn emit(chain: &Chain, steps: &[Step], world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let target = world.target;
    let parts = parts(chain, world)?;
    let per = (chain.segment + chain.most - 1) / chain.most;
    let count = chain.members.first().map_or(0, |m| m.cut.parts) / chain.segment * per;
    let mut own: Vec<Option<Joined>> = Vec::new();
    for member in &chain.members {
        own.push(joined(member, chain.tasks, count, chain.most, world)?);
    }
    let (offsets, own_bytes) = places(chain, &parts, world)?;
    let workers = chain.tasks.min(target.threads.max(1) as i64);
    let kept = scratch(world.types, DType::U8, workers * own_bytes);
    let (mut b, [..]) = Builder::new::<3>();
    let (one, zero) = (b.int(1), b.int(0));
    let share = share_of_task(&mut b, count, chain.tasks);
    let mut writing = Writing {
        chain,
        world,
        parts: &parts,
        own: &own,
        offsets,
        per,
        b,
        functions: Vec::new(),
        buffers: vec![kept],
        writes: vec![kept],
        one,
        zero,
        base: Value::NONE,
        tables: Vec::new(),
        moving: Vec::new(),
        placed: HashMap::new(),
        targets: Vec::new(),
    };
    writing.open_own(own_bytes);
    for number in 0..chain.members.len() {
        writing.member(number)?;
    }
    writing.ranges(share);
    let kernel = writing.finish();
    let (buffers, writes) = (kernel.buffers.clone(), kernel.writes.clone());
    world.kernels.push(kernel);
    let origin = chain.members.last().and_then(|m| match &steps[m.at] {
        Step::Run { origin, .. } => origin.clone(),
        _ => None,
    });
    let in_place = in_place(chain, &parts, world);
    let kernel = world.kernels.len() - 1;
    let run = Step::Run { kernel, buffers, writes, in_place, copies: false, origin };
    Ok(std::iter::once(run).chain(own.into_iter().flatten().map(|own| own.total)).collect())
}
