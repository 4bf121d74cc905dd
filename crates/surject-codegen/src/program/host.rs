//! The text of the module: kernels, and the host function that runs them.

mod parts;

use crate::expression::dag::Buf;
use crate::lower::bulk;
use crate::lower::row::Kernel;
use crate::program::host::parts::{Entry, Pieces};
use crate::program::memory::{Memory, Place, bytes};
use crate::program::steps::{Lowered, Step};
use crate::{CodegenError, ENTRY, INIT, Part};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use surject_ir::Function;

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
    let (text, pointers, near) = (String::new(), HashMap::new(), near(lowered));
    let results = function.body.results.len();
    let mut host =
        Host { lowered, memory, threads, results, text, names: 0, pointers, profile, runs: 0, near: &near };
    if !lowered.init.is_empty() {
        host.function(INIT, &lowered.init, &[])?;
    }
    host.function(ENTRY, &lowered.steps, &memory.copies)?;
    let profile_bytes = profile.map_or(0, |_| host.runs * PROFILE_BYTES);
    let mut outside: BTreeSet<&str> =
        BTreeSet::from(["llvm.func @surject_parallel(!llvm.ptr, i64, i64, !llvm.ptr)"]);
    if profile.is_some() {
        outside.insert("llvm.func @surject_clock() -> i64");
    }
    let bodies: Vec<String> =
        lowered.kernels.iter().enumerate().map(|(i, k)| kernel(i, k, near.contains(&i))).collect();
    let all: Vec<usize> = (0..bodies.len()).collect();
    let mut whole = String::new();
    for declaration in declarations(lowered, &all, outside.clone()) {
        let _ = writeln!(whole, "{declaration}");
    }
    for body in &bodies {
        let _ = write!(whole, "llvm.func internal {body}");
    }
    whole.push_str(&host.text);
    // The entry runs once, unless there is a loop in it.
    let is_loop = |s: &Step| matches!(s, Step::While { .. } | Step::If { .. });
    let entry =
        if lowered.steps.iter().chain(&lowered.init).any(is_loop) { Entry::Loops } else { Entry::Once };
    let pieces = Pieces::new(lowered, (&bodies, &near), (&host.text, entry), outside);
    let parts = pieces.divide(whole.len(), threads).map(|members| pieces.parts(&members));
    let parts = parts.unwrap_or_else(|| vec![Part::hot(whole.clone())]);
    Ok(Texts { parts, whole, profile_bytes })
}

/// Kernels that a loop runs again and again for little work: they are inlined there.
fn near(lowered: &Lowered) -> HashSet<usize> {
    let mut near = HashSet::new();
    let mut work: Vec<(&Step, bool)> =
        lowered.steps.iter().chain(&lowered.init).map(|s| (s, false)).collect();
    while let Some((step, inside)) = work.pop() {
        match step {
            Step::Run { kernel, .. } => {
                let k = &lowered.kernels[*kernel];
                if inside && k.tasks == 1 && !k.cold && k.functions.is_empty() && k.body.len() <= NEAR_BYTES {
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

/// What kernels have in common, and some more.
fn declarations<'a>(
    lowered: &'a Lowered,
    kernels: &[usize],
    mut all: BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    for &i in kernels {
        all.extend(lowered.kernels[i].declarations.iter().map(String::as_str));
    }
    all
}

/// A kernel from its name on, and the functions it needs.
fn kernel(i: usize, kernel: &Kernel, inlined: bool) -> String {
    let name = format!("@kernel_{i}");
    let (body, functions) =
        (kernel.body.replace("@KERNEL", &name), kernel.functions.replace("@KERNEL", &name));
    let how = if inlined { "attributes {passthrough = [\"alwaysinline\"]} " } else { "" };
    format!("{name}(%0: i64, %1: i64, %2: !llvm.ptr) {how}{{\n{body}llvm.return\n}}\n{functions}")
}

struct Host<'a> {
    lowered: &'a Lowered,
    memory: &'a Memory,
    /// The most workers that kernels have memory for.
    threads: usize,
    /// The number of results.
    results: usize,
    text: String,
    names: usize,
    pointers: HashMap<Buf, String>,
    profile: Option<u64>,
    /// Runs of kernels so far.
    runs: u64,
    /// Kernels that are inlined.
    near: &'a HashSet<usize>,
}

/// Bytes of the profile of a run: how often, and nanoseconds.
const PROFILE_BYTES: u64 = 16;

impl Host<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn op(&mut self, operation: &str) -> String {
        let name = format!("%{}", self.names);
        self.names += 1;
        self.line(&format!("{name} = {operation}"));
        name
    }

    fn int(&mut self, value: impl Into<i128>) -> String {
        let value = value.into();
        self.op(&format!("arith.constant {value} : i64"))
    }

    /// Writes a function that runs steps, and then copies buffers to results.
    fn function(&mut self, name: &str, steps: &[Step], copies: &[(Buf, usize)]) -> Result<(), CodegenError> {
        self.names = 0;
        let mut used = BTreeSet::new();
        for step in steps {
            step.touch(&mut |buf, _| _ = used.insert(self.lowered.memory(buf)));
        }
        used.extend(copies.iter().map(|c| self.lowered.memory(c.0)));
        self.line(&format!(
            "llvm.func @{name}(%args: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr, %constants: !llvm.ptr) {{"
        ));
        let own = self.scalars(steps)?;
        let mut places: Vec<(Buf, Place)> = self.memory.places.iter().map(|(b, p)| (*b, *p)).collect();
        places.retain(|p| used.contains(&p.0));
        places.sort_by_key(|p| p.0);
        for (buf, place) in places {
            let pointer = match place {
                Place::Arg(i) => self.element("%args", i),
                Place::Result(i) => self.element("%results", i),
                Place::Constant(i) => self.element("%constants", i),
                Place::Arena(_) | Place::Lent(..) if own.contains(&buf) => {
                    let size = bytes(&self.lowered.types[buf.0 as usize])?;
                    let size = self.int(size);
                    self.op(&format!("llvm.alloca {size} x i8 {{alignment = 8 : i64}} : (i64) -> !llvm.ptr"))
                }
                Place::Arena(offset) => self.ahead("%arena", offset),
                Place::Lent(number, offset) => {
                    let lent = self.element("%results", self.results + number);
                    self.ahead(&lent, offset)
                }
            };
            self.pointers.insert(buf, pointer);
        }
        let most = self.lowered.kernels.iter().map(|k| k.buffers.len()).max().unwrap_or(0).max(1);
        let count = self.int(most as i64);
        let tables = if self.near.is_empty() { &["%pointers"][..] } else { &["%pointers", "%near"] };
        for table in tables {
            let _ = writeln!(self.text, "{table} = llvm.alloca {count} x !llvm.ptr : (i64) -> !llvm.ptr");
        }
        self.steps(steps)?;
        for (from, result) in copies {
            let to = self.element("%results", *result);
            self.copy(*from, &to)?;
        }
        self.line("llvm.return\n}");
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
    fn ahead(&mut self, pointer: &str, bytes: u64) -> String {
        let bytes = self.int(bytes);
        self.op(&format!("llvm.getelementptr {pointer}[{bytes}] : (!llvm.ptr, i64) -> !llvm.ptr, i8"))
    }

    /// An entry of an array of pointers.
    fn element(&mut self, array: &str, index: usize) -> String {
        let at =
            self.op(&format!("llvm.getelementptr {array}[{index}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"));
        self.op(&format!("llvm.load {at} : !llvm.ptr -> !llvm.ptr"))
    }

    fn pointer(&self, buf: Buf) -> Result<String, CodegenError> {
        let memory = self.lowered.memory(buf);
        let pointer = self.pointers.get(&memory).cloned();
        pointer
            .ok_or_else(|| CodegenError::malformed(format!("buffer {} is used before it is written", buf.0)))
    }

    fn copy(&mut self, from: Buf, to: &str) -> Result<(), CodegenError> {
        let size = bytes(&self.lowered.types[self.lowered.memory(from).0 as usize])?;
        if size > 0 {
            let from = self.pointer(from)?;
            self.copy_bytes(&from, to, size);
        }
        Ok(())
    }

    /// Copies bytes, many of them in chunks.
    fn copy_bytes(&mut self, from: &str, to: &str, size: u64) {
        const MANY: u64 = 1 << 20;
        if size < MANY {
            let size = self.int(size);
            return self.line(&bulk::copied(to, from, &size));
        }
        let [zero, size, chunk] = [0, size.into(), bulk::CHUNK.into()].map(|n: i128| self.int(n));
        let first = format!("%{}", self.names);
        self.names += 1;
        self.line(&format!("scf.for {first} = {zero} to {size} step {chunk} : i64 {{"));
        let [from, to] = [from, to].map(|pointer| {
            self.op(&format!("llvm.getelementptr {pointer}[{first}] : (!llvm.ptr, i64) -> !llvm.ptr, i8"))
        });
        let left = self.op(&format!("arith.subi {size}, {first} : i64"));
        let bytes = self.op(&format!("arith.minsi {left}, {chunk} : i64"));
        self.line(&bulk::copied(&to, &from, &bytes));
        self.line("}");
    }

    /// Steps in order. Nothing of a nested block is named outside it, so the text nests as the steps do; the work
    /// list holds what follows.
    fn steps(&mut self, steps: &[Step]) -> Result<(), CodegenError> {
        for step in steps {
            match step {
                Step::Run { kernel, buffers, writes, in_place, copies, .. } => {
                    // Of a copy to one result, which may be where it is already.
                    let alone = *copies && writes.len() == 1;
                    let given = in_place.iter().find(|p| alone && self.may_be_given(**p));
                    if let Some(&(from, to)) = given {
                        let [from, to] = [self.pointer(from)?, self.pointer(to)?];
                        let apart = self.op(&format!("llvm.icmp \"ne\" {from}, {to} : !llvm.ptr"));
                        self.line(&format!("scf.if {apart} {{"));
                    }
                    self.run(*kernel, buffers)?;
                    if given.is_some() {
                        self.line("}");
                    }
                }
                Step::Copy { from, to } => {
                    if self.lowered.memory(*from) != self.lowered.memory(*to) {
                        let to = self.pointer(*to)?;
                        self.copy(*from, &to)?;
                    }
                }
                Step::While { condition, flag, body, swaps } => {
                    self.repeat(condition, *flag, body, swaps)?;
                }
                Step::If { index, branches } => {
                    let index = self.pointer(*index)?;
                    let value = self.op(&format!("llvm.load {index} : !llvm.ptr -> i32"));
                    let value = self.op(&format!("arith.index_cast {value} : i32 to index"));
                    self.line(&format!("scf.index_switch {value}"));
                    for (i, branch) in branches.iter().enumerate() {
                        if i + 1 == branches.len() {
                            self.line("default {");
                        } else {
                            self.line(&format!("case {i} {{"));
                        }
                        self.steps(branch)?;
                        self.line("scf.yield\n}");
                    }
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
        let [before, after] = [(); 2].map(|()| self.carried(bufs.len()));
        let types = vec!["!llvm.ptr"; bufs.len()].join(", ");
        let carries: Vec<String> =
            before.iter().zip(&starts).map(|(to, from)| format!("{to} = {from}")).collect();
        let (last, results) = match bufs.len() {
            0 => (String::new(), "()".to_string()),
            n => {
                let [name] = &self.carried(1)[..] else { return Err(CodegenError::malformed("a name")) };
                (format!("{name}:{n} = "), format!("({types})"))
            }
        };
        self.line(&format!("{last}scf.while ({}) : ({types}) -> {results} {{", carries.join(", ")));
        self.pointers.extend(bufs.iter().copied().zip(before.iter().cloned()));
        self.steps(condition)?;
        let flag = self.pointer(flag)?;
        let byte = self.op(&format!("llvm.load {flag} : !llvm.ptr -> i8"));
        let zero = self.op("arith.constant 0 : i8");
        let holds = self.op(&format!("arith.cmpi ne, {byte}, {zero} : i8"));
        let typed = |names: &[String]| match names {
            [] => String::new(),
            names => format!(" {} : {types}", names.join(", ")),
        };
        self.line(&format!("scf.condition({holds}){}\n}} do {{", typed(&before)));
        if !bufs.is_empty() {
            let arguments: Vec<String> = after.iter().map(|name| format!("{name}: !llvm.ptr")).collect();
            self.line(&format!("^bb0({}):", arguments.join(", ")));
        }
        self.pointers.extend(bufs.iter().copied().zip(after.iter().cloned()));
        self.steps(body)?;
        let swapped: Vec<String> = after.chunks(2).flat_map(|pair| pair.iter().rev().cloned()).collect();
        self.line(&format!("scf.yield{}\n}}", typed(&swapped)));
        self.pointers = around;
        let last = last.split(':').next().unwrap_or_default();
        for (number, &(value, _)) in swaps.iter().enumerate() {
            let (from, to) = (format!("{last}#{}", 2 * number), self.pointer(value)?);
            let moved = self.op(&format!("llvm.icmp \"ne\" {from}, {to} : !llvm.ptr"));
            self.line(&format!("scf.if {moved} {{"));
            self.copy_bytes(&from, &to, bytes(&self.lowered.types[self.lowered.memory(value).0 as usize])?);
            self.line("}");
        }
        Ok(())
    }

    /// Names for so many values that a loop carries.
    fn carried(&mut self, count: usize) -> Vec<String> {
        self.names += count;
        (self.names - count..self.names).map(|n| format!("%{n}")).collect()
    }

    fn run(&mut self, kernel: usize, buffers: &[Buf]) -> Result<(), CodegenError> {
        // Where all that reads it is inlined, the table is no memory.
        let table = if self.near.contains(&kernel) { "%near" } else { "%pointers" };
        for (i, &buf) in buffers.iter().enumerate() {
            let pointer = self.pointer(buf)?;
            let at =
                self.op(&format!("llvm.getelementptr {table}[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"));
            self.line(&format!("llvm.store {pointer}, {at} : !llvm.ptr, !llvm.ptr"));
        }
        let start = self.profile.map(|_| self.op("llvm.call @surject_clock() : () -> i64"));
        let tasks = self.lowered.kernels[kernel].tasks;
        if tasks == 1 {
            let zero = self.int(0);
            self.line(&format!(
                "llvm.call @kernel_{kernel}({zero}, {zero}, {table}) : (i64, i64, !llvm.ptr) -> ()"
            ));
        } else {
            let function = self.op(&format!("llvm.mlir.addressof @kernel_{kernel} : !llvm.ptr"));
            // Kernels have memory for no more workers than tasks.
            let workers = tasks.min(self.threads as i64);
            let (tasks, workers) = (self.int(tasks), self.int(workers));
            self.line(&format!(
                "llvm.call @surject_parallel({function}, {tasks}, {workers}, %pointers) : \
                 (!llvm.ptr, i64, i64, !llvm.ptr) -> ()"
            ));
        }
        if let (Some(profile), Some(start)) = (self.profile, start) {
            let end = self.op("llvm.call @surject_clock() : () -> i64");
            let time = self.op(&format!("arith.subi {end}, {start} : i64"));
            let one = self.int(1);
            let at = profile + self.runs * PROFILE_BYTES;
            self.add(&one, at);
            self.add(&time, at + PROFILE_BYTES / 2);
        }
        self.runs += 1;
        Ok(())
    }

    /// Adds to an `i64` at an offset of the arena.
    fn add(&mut self, value: &str, offset: u64) {
        let at = self.ahead("%arena", offset);
        let old = self.op(&format!("llvm.load {at} : !llvm.ptr -> i64"));
        let new = self.op(&format!("arith.addi {old}, {value} : i64"));
        self.line(&format!("llvm.store {new}, {at} : i64, !llvm.ptr"));
    }
}
