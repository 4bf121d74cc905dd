//! The text of a chain: a loop over ranges, with a call of every part in it.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::lower::recipe::Access;
use crate::lower::row::Kernel;
use crate::program::fuse::{Chain, Member, World, in_place_between};
use crate::program::memory::{self, Need};
use crate::program::steps::Step;
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{DType, TensorType};

/// The text of a function under construction.
#[derive(Default)]
struct Text {
    text: String,
    names: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn op(&mut self, operation: &str) -> String {
        self.names += 1;
        let name = format!("%{}", self.names + 2);
        self.line(&format!("{name} = {operation}"));
        name
    }

    fn int(&mut self, value: i64) -> String {
        self.op(&format!("arith.constant {value} : i64"))
    }

    /// `a op b` of 64-bit integers.
    fn arith(&mut self, op: &str, a: &str, b: &str) -> String {
        self.op(&format!("arith.{op} {a}, {b} : i64"))
    }

    /// The place of an entry in an array of pointers.
    fn entry(&mut self, array: &str, i: usize) -> String {
        self.op(&format!("llvm.getelementptr {array}[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"))
    }

    fn load(&mut self, array: &str, i: usize) -> String {
        let at = self.entry(array, i);
        self.op(&format!("llvm.load {at} : !llvm.ptr -> !llvm.ptr"))
    }

    fn store(&mut self, pointer: &str, array: &str, i: usize) {
        let at = self.entry(array, i);
        self.line(&format!("llvm.store {pointer}, {at} : !llvm.ptr, !llvm.ptr"));
    }

    /// Stores the pointer to the target of this number.
    fn point(&mut self, targets: &TaskTargets, number: &str) {
        let each = self.int(targets.bytes);
        let ahead = self.arith("muli", number, &each);
        let pointer = self.ahead(&targets.first, &ahead);
        self.store(&pointer, &targets.at.table, targets.at.entry);
    }

    /// A pointer so many bytes further on.
    fn ahead(&mut self, pointer: &str, bytes: &str) -> String {
        self.op(&format!("llvm.getelementptr {pointer}[{bytes}] : (!llvm.ptr, i64) -> !llvm.ptr, i8"))
    }
}

/// What a worker keeps to itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Own {
    /// A part of what lies between.
    Between(Buf),
    /// The packed rows of the member with this number.
    Rows(usize),
}

/// Parts before a range of what lies between that a member may read: the last tile of a range begins earlier if it is not
/// full, and what it makes of the parts before is not stored.
fn before_range(chain: &Chain, memory: Buf) -> i64 {
    let reading = chain.members.iter().filter(|m| m.accesses.iter().any(|a| a.buf == memory && !a.write));
    reading.map(|m| m.recipe.step() - 1).max().unwrap_or(0)
}

/// Where a worker keeps what it has to itself: the offset of each, of what lies between that of the range, and the bytes of
/// all.
fn places(
    chain: &Chain,
    parts: &[Kernel],
    world: &World<'_>,
) -> Result<(HashMap<Own, i64>, i64), CodegenError> {
    let size = |bytes: i64| bytes.unsigned_abs();
    let mut needs: Vec<Need<Own>> = Vec::new();
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
    let mut starts: HashMap<Buf, i64> = HashMap::new();
    for &(buf, share) in &chain.between {
        if in_place.iter().any(|p| p.0 == buf) {
            continue;
        }
        let same = in_place.iter().find(|p| p.1 == buf).map(|p| p.0);
        let touching = |m: &Member| m.touches(buf) || same.is_some_and(|same| m.touches(same));
        let before = same.map_or(0, |same| before_range(chain, same)).max(before_range(chain, buf));
        let first = chain.members.iter().position(touching).unwrap_or(0);
        let last = chain.members.iter().rposition(touching).unwrap_or(0);
        starts.insert(buf, before);
        needs.push(Need {
            buf: Own::Between(buf),
            bytes: size(share * (before + chain.most)),
            ranges: vec![(first, last)],
        });
    }
    for (number, member) in chain.members.iter().enumerate() {
        let bytes = member.row_bytes(chain.most, world);
        needs.push(Need { buf: Own::Rows(number), bytes: size(bytes), ranges: vec![(number, number)] });
    }
    let (bytes, spots) = memory::assign(needs, &[])?;
    let mut offsets: HashMap<Own, i64> =
        spots.into_iter().map(|(own, spot)| (own, spot.offset as i64)).collect();
    for &(buf, share) in &chain.between {
        // The range itself begins behind what is there before it.
        let before = starts.get(&buf).copied().unwrap_or(0);
        offsets.entry(Own::Between(buf)).and_modify(|offset| *offset += before * share);
    }
    for (to, from) in in_place {
        if let Some(&offset) = offsets.get(&Own::Between(from)) {
            offsets.insert(Own::Between(to), offset);
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
fn scratch(types: &mut Vec<TensorType>, bytes: i64) -> Buf {
    types.push(TensorType::new(DType::U8, Space::of(&[bytes.unsigned_abs()])));
    Buf(types.len() as u32 - 1)
}

/// A kernel of a range as a function.
fn function(name: &str, part: &Kernel) -> String {
    format!(
        "llvm.func internal @KERNEL_{name}(%0: i64, %1: i64, %2: !llvm.ptr) {{\n{}llvm.return\n}}\n{}",
        part.body,
        part.functions.replace("@KERNEL", &format!("@KERNEL_{name}"))
    )
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
    (tasks, ranges, most): (i64, i64, i64),
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
    let targets = scratch(world.types, bytes * tasks * count);
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
struct Entry {
    table: String,
    entry: usize,
}

/// A pointer that moves with the range: the parts of this memory, of so many bytes each.
struct Moving {
    at: Entry,
    memory: Buf,
    share: i64,
}

/// The targets that a task has to itself, of so many bytes each.
struct TaskTargets {
    at: Entry,
    /// The pointer to the first of them.
    first: String,
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
    offsets: HashMap<Own, i64>,
    /// The ranges that come from a segment, and those of all.
    per: i64,
    count: i64,
    text: Text,
    functions: String,
    /// What the kernel is called with.
    buffers: Vec<Buf>,
    writes: Vec<Buf>,
    one: String,
    zero: String,
    /// The pointer to what the worker keeps.
    base: String,
    /// The tables of pointers, member by member.
    tables: Vec<String>,
    moving: Vec<Moving>,
    /// Where the parts of what lies between begin.
    placed: HashMap<Buf, String>,
    targets: Vec<TaskTargets>,
}

impl Writing<'_> {
    /// The first range of the task and that of the next one.
    fn share_of_task(&mut self) -> [String; 2] {
        let (tasks, total) = (self.text.int(self.chain.tasks), self.text.int(self.count));
        let next = self.text.arith("addi", "%0", &self.one);
        ["%0", next.as_str()].map(|task| {
            let scaled = self.text.arith("muli", task, &total);
            self.text.arith("divui", &scaled, &tasks)
        })
    }

    /// The pointer to what the worker keeps, of so many bytes for each.
    fn open_own(&mut self, bytes: i64) {
        let base = self.text.load("%2", 0);
        let each = self.text.int(bytes);
        let ahead = self.text.arith("muli", "%1", &each);
        self.base = self.text.ahead(&base, &ahead);
    }

    /// The function of a member and its table of pointers; those that move with the range are stored inside.
    fn member(&mut self, number: usize) -> Result<(), CodegenError> {
        let part = &self.parts[number];
        let length = self.text.int(part.buffers.len() as i64);
        let table = self.text.op(&format!("llvm.alloca {length} x !llvm.ptr : (i64) -> !llvm.ptr"));
        for (entry, &buf) in part.buffers.iter().enumerate() {
            self.pointer(number, buf, Entry { table: table.clone(), entry })?;
        }
        self.functions.push_str(&function(&format!("part{number}"), part));
        self.start(number, &table)?;
        self.tables.push(table);
        Ok(())
    }

    /// The pointer to a buffer of a member.
    fn pointer(&mut self, number: usize, buf: Buf, at: Entry) -> Result<(), CodegenError> {
        let (member, part) = (&self.chain.members[number], &self.parts[number]);
        if member.recipe.rows() == Some(buf) {
            let offset = self.text.int(self.offsets.get(&Own::Rows(number)).copied().unwrap_or(0));
            let pointer = self.text.ahead(&self.base, &offset);
            self.text.store(&pointer, &at.table, at.entry);
            return Ok(());
        }
        let place = self.world.kernels[member.kernel].buffers.iter().position(|&b| b == buf);
        let place = place.ok_or_else(|| CodegenError::malformed("a part with a new tensor"))?;
        let here = member.buffers[place];
        let memory = (self.world.memory)(here);
        if let Some(&(_, share)) = self.chain.between.iter().find(|b| b.0 == memory) {
            self.moving.push(Moving { at, memory, share });
            let (text, offsets, base) = (&mut self.text, &self.offsets, &self.base);
            self.placed.entry(memory).or_insert_with(|| {
                let offset = offsets.get(&Own::Between(memory)).copied().unwrap_or(0);
                let offset = text.int(offset);
                text.ahead(base, &offset)
            });
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
        let mut pointer = self.text.load("%2", place);
        if let Some(own) = own {
            let each = self.text.int(own.bytes * own.count);
            let ahead = self.text.arith("muli", "%0", &each);
            pointer = self.text.ahead(&pointer, &ahead);
        }
        self.text.store(&pointer, &at.table, at.entry);
        if let Some(own) = own.filter(|own| own.count > 1) {
            self.targets.push(TaskTargets { at, first: pointer, ranges: own.ranges, bytes: own.bytes });
        }
        Ok(())
    }

    /// Fills the targets of a member with what nothing is joined to yet, if it joins its rows.
    fn start(&mut self, number: usize, table: &str) -> Result<(), CodegenError> {
        let Some(columns) = self.chain.members[number].recipe.joined() else { return Ok(()) };
        let start = columns.start(self.world.target)?;
        self.functions.push_str(&function(&format!("start{number}"), &start));
        let (text, zero, one) = (&mut self.text, &self.zero, &self.one);
        let several = self.targets.last().filter(|own| own.at.table == table).zip(self.own[number].as_ref());
        if let Some((targets, own)) = several {
            let (count, target) = (text.int(own.count), format!("%target{number}"));
            text.line(&format!("scf.for {target} = {zero} to {count} step {one} : i64 {{"));
            text.point(targets, &target);
        }
        text.line(&format!(
            "llvm.call @KERNEL_start{number}({zero}, {one}, {table}) : (i64, i64, !llvm.ptr) -> ()"
        ));
        if several.is_some() {
            text.line("}");
        }
        Ok(())
    }

    /// The loop over the ranges of the task: pointers that move are stored, and every member does the range.
    fn ranges(&mut self, [begin, until]: [String; 2]) {
        let (text, zero, one) = (&mut self.text, &self.zero, &self.one);
        let (per, segment) = (text.int(self.per), text.int(self.chain.segment));
        let most = text.int(self.chain.most);
        text.line(&format!("scf.for %range = {begin} to {until} step {one} : i64 {{"));
        let number = text.arith("divui", "%range", &per);
        let inside = text.arith("remui", "%range", &per);
        let first = text.arith("muli", &number, &segment);
        let end = text.arith("addi", &first, &segment);
        let ahead = text.arith("muli", &inside, &most);
        let low = text.arith("addi", &first, &ahead);
        let high = text.arith("addi", &low, &most);
        let high = text.arith("minsi", &high, &end);
        let back = text.arith("subi", zero, &low);
        for Moving { at, memory, share } in &self.moving {
            let share = text.int(*share);
            let distance = text.arith("muli", &back, &share);
            let place = self.placed.get(memory).cloned().unwrap_or_default();
            let pointer = text.ahead(&place, &distance);
            text.store(&pointer, &at.table, at.entry);
        }
        for targets in &self.targets {
            let (done, ranges) = (text.arith("subi", "%range", &begin), text.int(targets.ranges));
            let target = text.arith("divui", &done, &ranges);
            text.point(targets, &target);
        }
        for (i, table) in self.tables.iter().enumerate() {
            text.line(&format!(
                "llvm.call @KERNEL_part{i}({low}, {high}, {table}) : (i64, i64, !llvm.ptr) -> ()"
            ));
        }
        text.line("}");
    }

    /// The kernel as it is written so far.
    fn finish(self) -> Kernel {
        let (chain, parts) = (self.chain, self.parts);
        let mut declarations: Vec<String> = parts.iter().flat_map(|p| p.declarations.clone()).collect();
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
        Kernel {
            body: self.text.text,
            buffers: self.buffers,
            tasks: chain.tasks,
            declarations,
            summary,
            functions: self.functions,
            writes: self.writes,
            cycles: parts.iter().map(|p| p.cycles).sum(),
            loss: None,
            cold: false,
            recipe: None,
            in_place: Vec::new(),
            copies: false,
        }
    }
}

/// Makes the kernel of a chain, and the steps that run it.
pub(super) fn emit(chain: &Chain, steps: &[Step], world: &mut World<'_>) -> Result<Vec<Step>, CodegenError> {
    let target = world.target;
    let parts: Vec<Kernel> = {
        let made = chain.members.iter().map(|m| {
            let (when, alone) = (chain.when(m, world), chain.is_alone(m, world));
            m.recipe.range(&m.cut, chain.most, target, (&when, &alone))
        });
        made.collect::<Result<_, _>>()?
    };
    let per = (chain.segment + chain.most - 1) / chain.most;
    let count = chain.members.first().map_or(0, |m| m.cut.parts) / chain.segment * per;
    let mut own: Vec<Option<Joined>> = Vec::new();
    for member in &chain.members {
        own.push(joined(member, (chain.tasks, count, chain.most), world)?);
    }
    let (offsets, own_bytes) = places(chain, &parts, world)?;
    let workers = chain.tasks.min(target.threads.max(1) as i64);
    let kept = scratch(world.types, workers * own_bytes);
    let mut text = Text::default();
    let (one, zero) = (text.int(1), text.int(0));
    let mut writing = Writing {
        chain,
        world,
        parts: &parts,
        own: &own,
        offsets,
        per,
        count,
        text,
        functions: String::new(),
        buffers: vec![kept],
        writes: vec![kept],
        one,
        zero,
        base: String::new(),
        tables: Vec::new(),
        moving: Vec::new(),
        placed: HashMap::new(),
        targets: Vec::new(),
    };
    let share = writing.share_of_task();
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
