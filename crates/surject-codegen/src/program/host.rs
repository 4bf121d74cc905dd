//! The text of the module: kernels, and the host function that runs them.

mod parts;

use crate::code;
use crate::code::{Block, Builder, Carry, Declaration, Index, Op, Symbol, Value};
use crate::expression::dag::Buf;
use crate::machine::elem::{Elem, Type};
use crate::program::host::parts::{Entry, Piece, Pieces};
use crate::program::lowered::{Lowered, Step};
use crate::program::memory::{Memory, Place, bytes};
use crate::{CodegenError, ENTRY, INIT, Part};
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_ir::Function;

/// Bytes that are moved by one call: of more the library thinks that they are better stored past the caches.
const CHUNK: i64 = 1 << 16;

/// The most bytes that loops carry in registers.
const SCALAR_BYTES: u64 = 8;

/// The longest text of a kernel that is inlined into a loop.
const NEAR_BYTES: usize = 3_000;

/// The module, as one text and in parts.
pub struct Texts {
    /// All of it.
    pub whole: String,
    /// See [`crate::LoweredModule::parts`].
    pub parts: Vec<Part>,
    /// The bytes of the profile, if one is kept.
    pub profile_bytes: u64,
}

/// Writes the module; in parts where there is enough to do for so many threads.
///
/// A profile is kept at this offset of the arena, if there is one.
pub fn module(
    function: &Function,
    lowered: &Lowered,
    memory: &Memory,
    threads: usize,
    profile: Option<u64>,
) -> Result<Texts, CodegenError> {
    let kernels: Vec<Piece> =
        lowered.kernels.iter().enumerate().map(|(i, k)| Piece::of_kernel(i, k)).collect();
    let near = near(lowered, &kernels);
    let results = function.body.results.len();
    let mut runs = 0;
    let mut host = Piece::default();
    for (name, steps) in [(INIT, &lowered.init), (ENTRY, &lowered.steps)] {
        if name == INIT && steps.is_empty() {
            continue;
        }
        let copies: &[(Buf, usize)] = if name == ENTRY { &memory.copies } else { &[] };
        let mut writer = Host::new((lowered, memory), threads, results, (profile, runs), &near);
        writer.function(steps, copies)?;
        runs = writer.runs;
        let parameters = writer.parameters.map(|parameter| (parameter, Type::Pointer)).to_vec();
        let symbol = Symbol::Named(name.to_string());
        host.add(code::Function { symbol, parameters, body: writer.b.finish() });
    }
    let outside = |name: &str, parameters: &[Type], result| Declaration {
        name: name.to_string(),
        parameters: parameters.to_vec(),
        result,
    };
    let task = [Type::Pointer, Type::I64, Type::I64, Type::Pointer];
    let mut declared = BTreeSet::from([outside("surject_parallel", &task, None)]);
    if profile.is_some() {
        declared.insert(outside("surject_clock", &[], Some(Type::I64)));
    }
    // The entry runs once, unless there is a loop in it.
    let is_loop = |s: &Step| matches!(s, Step::While { .. } | Step::If { .. });
    let entry =
        if lowered.steps.iter().chain(&lowered.init).any(is_loop) { Entry::Loops } else { Entry::Once };
    let pieces = Pieces::new(lowered, (&kernels, &near), (&host, entry), &declared);
    let whole = pieces.whole();
    let text = whole.text();
    let parts = pieces.divide(text.len(), threads).map(|members| pieces.parts(&members));
    let parts = parts.unwrap_or_else(|| vec![Part { text: text.clone(), code: Some(whole), cold: false }]);
    let profile_bytes = profile.map_or(0, |_| runs * PROFILE_BYTES);
    Ok(Texts { parts, whole: text, profile_bytes })
}

/// Kernels that a loop runs again and again for little work: they are inlined there.
fn near(lowered: &Lowered, kernels: &[Piece]) -> HashSet<usize> {
    let mut near = HashSet::new();
    let mut work: Vec<(&Step, bool)> =
        lowered.steps.iter().chain(&lowered.init).map(|s| (s, false)).collect();
    while let Some((step, inside)) = work.pop() {
        match step {
            Step::Run { kernel, .. } => {
                let k = &lowered.kernels[*kernel];
                if inside
                    && k.tasks == 1
                    && !k.cold
                    && k.functions.is_empty()
                    && kernels[*kernel].bytes <= NEAR_BYTES
                {
                    near.insert(*kernel);
                }
            }
            Step::While { condition, body, .. } => {
                work.extend(condition.iter().chain(body).map(|s| (s, true)))
            }
            Step::If { branches, .. } => work.extend(branches.iter().flatten().map(|s| (s, inside))),
            Step::Copy { .. } => {}
        }
    }
    near
}

/// The name of a kernel.
fn name(kernel: usize) -> String {
    format!("kernel_{kernel}")
}

struct Host<'a> {
    lowered: &'a Lowered,
    memory: &'a Memory,
    /// The most workers that kernels have memory for.
    threads: usize,
    /// The number of results.
    results: usize,
    b: Builder,
    /// The tables of arguments and of results, the arena, and the table of constants.
    parameters: [Value; 4],
    given: Given,
    pointers: HashMap<Buf, Value>,
    profile: Option<u64>,
    /// Runs of kernels so far.
    runs: u64,
    /// Kernels that are inlined.
    near: &'a HashSet<usize>,
}

/// The arena that a host function is given, and its tables of pointers.
#[derive(Default)]
struct Given {
    arena: Value,
    /// The table of pointers for kernels that are called.
    table: Value,
    /// That for kernels that are inlined.
    near: Value,
}

/// Bytes of the profile of a run: how often, and nanoseconds.
const PROFILE_BYTES: u64 = 16;

impl<'a> Host<'a> {
    fn new(
        (lowered, memory): (&'a Lowered, &'a Memory),
        threads: usize,
        results: usize,
        (profile, runs): (Option<u64>, u64),
        near: &'a HashSet<usize>,
    ) -> Host<'a> {
        let (b, parameters) = Builder::new();
        let (given, pointers) = (Given::default(), HashMap::new());
        Host { lowered, memory, threads, results, b, parameters, given, pointers, profile, runs, near }
    }

    fn op(&mut self, op: Op) -> Value {
        self.b.op(op)
    }

    fn arith(&mut self, name: &'static str, a: Value, b: Value) -> Value {
        self.b.arith(name, a, b)
    }

    fn int(&mut self, value: u64) -> Value {
        self.b.int(value as i64)
    }

    /// Writes what a host function does: steps, and then copies of buffers to results.
    fn function(&mut self, steps: &[Step], copies: &[(Buf, usize)]) -> Result<(), CodegenError> {
        let [arguments, results, arena, constants] = self.parameters;
        self.given.arena = arena;
        let mut used = BTreeSet::new();
        for step in steps {
            step.touch(&mut |buf, _| _ = used.insert(self.lowered.memory(buf)));
        }
        used.extend(copies.iter().map(|c| self.lowered.memory(c.0)));
        let own = self.scalars(steps)?;
        let mut places: Vec<(Buf, Place)> = self.memory.places.iter().map(|(b, p)| (*b, *p)).collect();
        places.retain(|p| used.contains(&p.0));
        places.sort_by_key(|p| p.0);
        for (buf, place) in places {
            let pointer = match place {
                Place::Arg(i) => self.element(arguments, i),
                Place::Result(i) => self.element(results, i),
                Place::Constant(i) => self.element(constants, i),
                Place::Arena(_) | Place::Lent(..) if own.contains(&buf) => {
                    let count = self.int(bytes(&self.lowered.types[buf.0 as usize])?);
                    self.op(Op::Alloca { count, of: Elem::I8.ty(1), alignment: Some(8) })
                }
                Place::Arena(offset) => self.offset_pointer(arena, offset),
                Place::Lent(number, offset) => {
                    let lent = self.element(results, self.results + number);
                    self.offset_pointer(lent, offset)
                }
            };
            self.pointers.insert(buf, pointer);
        }
        let most = self.lowered.kernels.iter().map(|k| k.buffers.len()).max().unwrap_or(0).max(1);
        let count = self.int(most as u64);
        let table = Op::Alloca { count, of: Type::Pointer, alignment: None };
        self.given.table = self.op(table.clone());
        if !self.near.is_empty() {
            self.given.near = self.op(table);
        }
        self.steps(steps)?;
        for (from, result) in copies {
            let to = self.element(results, *result);
            self.copy(*from, to)?;
        }
        Ok(())
    }

    /// What loops carry or make of a few bytes. It has memory of its own and not a piece of the arena, so that LLVM knows
    /// that nothing else points there: where the kernels that use it are inlined, it stays in registers.
    fn scalars(&self, steps: &[Step]) -> Result<HashSet<Buf>, CodegenError> {
        let mut loops: HashSet<Buf> = HashSet::new();
        for step in steps {
            if matches!(step, Step::While { .. }) {
                step.touch(&mut |buf, _| _ = loops.insert(self.lowered.memory(buf)));
            }
        }
        for step in &self.lowered.init {
            step.touch(&mut |buf, _| _ = loops.remove(&self.lowered.memory(buf)));
        }
        let mut scalars = HashSet::new();
        for buf in loops {
            if bytes(&self.lowered.types[buf.0 as usize])? <= SCALAR_BYTES {
                scalars.insert(buf);
            }
        }
        Ok(scalars)
    }

    /// A pointer so many bytes further on.
    fn offset_pointer(&mut self, pointer: Value, bytes: u64) -> Value {
        let bytes = self.int(bytes);
        self.b.offset(pointer, bytes)
    }

    /// The place of an entry of an array of pointers.
    fn entry(&mut self, array: Value, index: usize) -> Value {
        self.op(Op::Element { pointer: array, index: Index::Number(index as i64), of: Type::Pointer })
    }

    /// An entry of an array of pointers.
    fn element(&mut self, array: Value, index: usize) -> Value {
        let at = self.entry(array, index);
        self.op(Op::load(at, Type::Pointer))
    }

    fn pointer(&self, buf: Buf) -> Result<Value, CodegenError> {
        let memory = self.lowered.memory(buf);
        let pointer = self.pointers.get(&memory).copied();
        pointer
            .ok_or_else(|| CodegenError::malformed(format!("buffer {} is used before it is written", buf.0)))
    }

    fn copy(&mut self, from: Buf, to: Value) -> Result<(), CodegenError> {
        let size = bytes(&self.lowered.types[self.lowered.memory(from).0 as usize])?;
        if size > 0 {
            let from = self.pointer(from)?;
            self.copy_bytes(from, to, size);
        }
        Ok(())
    }

    /// Copies bytes, many of them in chunks.
    fn copy_bytes(&mut self, from: Value, to: Value, size: u64) {
        const MANY: u64 = 1 << 20;
        if size < MANY {
            let bytes = self.int(size);
            return self.b.effect(Op::Copy { to, from, bytes });
        }
        let [zero, high, step] = [0, size as i64, CHUNK].map(|number| self.b.int(number));
        let first = self.b.fresh();
        self.b.open();
        let [from, to] = [from, to].map(|pointer| self.b.offset(pointer, first));
        let left = self.b.arith("arith.subi", high, first);
        let bytes = self.b.arith("arith.minsi", left, step);
        self.b.effect(Op::Copy { to, from, bytes });
        self.b.close_loop(first, [zero, high, step]);
    }

    /// Writes something that is done where two pointers differ.
    fn where_they_differ(
        &mut self,
        [a, b]: [Value; 2],
        write: impl FnOnce(&mut Self) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let compare = Op::Compare { name: "llvm.icmp", predicate: "ne", sides: [a, b], ty: Type::Pointer };
        let differ = self.op(compare);
        self.b.open();
        write(self)?;
        self.b.close_if(differ);
        Ok(())
    }

    /// Steps in order. Nothing of a nested block is used outside it, so the code nests as the steps do.
    fn steps(&mut self, steps: &[Step]) -> Result<(), CodegenError> {
        for step in steps {
            match step {
                Step::Run { kernel, buffers, writes, in_place, copies, .. } => {
                    // Of a copy to one result, which may be where it is already.
                    let alone = *copies && writes.len() == 1;
                    match in_place.iter().find(|p| alone && self.may_be_given(**p)) {
                        Some(&(from, to)) => {
                            let both = [self.pointer(from)?, self.pointer(to)?];
                            self.where_they_differ(both, |host| host.run(*kernel, buffers))?;
                        }
                        None => self.run(*kernel, buffers)?,
                    }
                }
                Step::Copy { from, to } => {
                    if self.lowered.memory(*from) != self.lowered.memory(*to) {
                        let to = self.pointer(*to)?;
                        self.copy(*from, to)?;
                    }
                }
                Step::While { condition, flag, body, swaps } => {
                    self.repeat(condition, *flag, body, swaps)?;
                }
                Step::If { index, branches } => {
                    let index = self.pointer(*index)?;
                    let word = Elem::I32.ty(1);
                    let value = self.op(Op::load(index, word));
                    let value = self.op(Op::cast("arith.index_cast", value, word, Type::Index));
                    let mut cases: Vec<Block> = Vec::new();
                    for branch in branches {
                        self.b.open();
                        self.steps(branch)?;
                        cases.push(self.b.close(Vec::new()));
                    }
                    self.b.effect(Op::Switch { value, cases });
                }
            }
        }
        Ok(())
    }

    /// May the first be an argument whose memory the second, a result, was given?
    fn may_be_given(&self, (from, to): (Buf, Buf)) -> bool {
        let [from, to] = [from, to].map(|buf| self.memory.places.get(&self.lowered.memory(buf)));
        matches!((from, to), (Some(Place::Arg(_)), Some(Place::Result(_))))
    }

    /// A loop. It carries the pointers of what changes places; where the last value is not left where the first was, it
    /// is copied there.
    fn repeat(
        &mut self,
        condition: &[Step],
        flag: Buf,
        body: &[Step],
        swaps: &[(Buf, Buf)],
    ) -> Result<(), CodegenError> {
        let around = self.pointers.clone();
        let bufs: Vec<Buf> = swaps.iter().flat_map(|s| [s.0, s.1]).map(|b| self.lowered.memory(b)).collect();
        let starts = bufs.iter().map(|&b| self.pointer(b)).collect::<Result<Vec<_>, _>>()?;
        let [first, second] =
            [(); 2].map(|()| -> Vec<Value> { bufs.iter().map(|_| self.b.fresh()).collect() });
        let pointers =
            |values: &[Value]| -> Vec<(Value, Type)> { values.iter().map(|&v| (v, Type::Pointer)).collect() };
        let carried = first.iter().zip(&starts).map(|(&name, &init)| Carry { name, init, ty: Type::Pointer });
        let carried: Vec<Carry> = carried.collect();
        self.pointers.extend(bufs.iter().copied().zip(first.iter().copied()));
        self.b.open();
        self.steps(condition)?;
        let flag = self.pointer(flag)?;
        let byte = self.op(Op::load(flag, Elem::I8.ty(1)));
        let none = self.b.splat(Elem::I8, 0, 1);
        let compare =
            Op::Compare { name: "arith.cmpi", predicate: "ne", sides: [byte, none], ty: Elem::I8.ty(1) };
        let holds = self.op(compare);
        let before = self.b.close(pointers(&first));
        self.pointers.extend(bufs.iter().copied().zip(second.iter().copied()));
        self.b.open();
        self.steps(body)?;
        let swapped: Vec<Value> = second.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect();
        let after = self.b.close(pointers(&swapped));
        let parameters = pointers(&second);
        let op = Op::While { carried, before, condition: holds, parameters, after };
        let last: Vec<Value> = bufs.iter().map(|_| self.b.fresh()).collect();
        self.b.define(last.clone(), op);
        self.pointers = around;
        for (pair, &(value, _)) in last.chunks(2).zip(swaps) {
            let (from, to) = (pair[0], self.pointer(value)?);
            let size = bytes(&self.lowered.types[self.lowered.memory(value).0 as usize])?;
            self.where_they_differ([from, to], |host| {
                host.copy_bytes(from, to, size);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The nanoseconds of a clock.
    fn clock(&mut self) -> Value {
        self.op(Op::call(Symbol::Named("surject_clock".into()), [], Some(Type::I64)))
    }

    fn run(&mut self, kernel: usize, buffers: &[Buf]) -> Result<(), CodegenError> {
        // Where all that reads it is inlined, the table is no memory.
        let table = if self.near.contains(&kernel) { self.given.near } else { self.given.table };
        for (i, &buf) in buffers.iter().enumerate() {
            let pointer = self.pointer(buf)?;
            let at = self.entry(table, i);
            self.b.effect(Op::store(pointer, at, Type::Pointer));
        }
        let start = self.profile.map(|_| self.clock());
        let tasks = self.lowered.kernels[kernel].tasks;
        let symbol = Symbol::Named(name(kernel));
        let call = if tasks == 1 {
            let zero = self.int(0);
            Op::call(symbol, [(zero, Type::I64), (zero, Type::I64), (table, Type::Pointer)], None)
        } else {
            let function = self.op(Op::AddressOf(symbol));
            // Kernels have memory for no more workers than tasks.
            let workers = tasks.min(self.threads as i64);
            let [tasks, workers] = [tasks, workers].map(|number| (self.b.int(number), Type::I64));
            let operands = [(function, Type::Pointer), tasks, workers, (table, Type::Pointer)];
            Op::call(Symbol::Named("surject_parallel".into()), operands, None)
        };
        self.b.effect(call);
        if let (Some(profile), Some(start)) = (self.profile, start) {
            let end = self.clock();
            let time = self.arith("arith.subi", end, start);
            let one = self.int(1);
            let at = profile + self.runs * PROFILE_BYTES;
            self.add(one, at);
            self.add(time, at + PROFILE_BYTES / 2);
        }
        self.runs += 1;
        Ok(())
    }

    /// Adds to an `i64` at an offset of the arena.
    fn add(&mut self, value: Value, offset: u64) {
        let at = self.offset_pointer(self.given.arena, offset);
        let old = self.op(Op::load(at, Type::I64));
        let new = self.arith("arith.addi", old, value);
        self.b.effect(Op::store(new, at, Type::I64));
    }
}
