//! An interpreter of code: what compiled code does, without MLIR and on any machine.
//!
//! # What it finds
//!
//! * Accesses out of bounds: every piece of memory is allocated by itself, and an access lies in one of them.
//! * Accesses at addresses that are no multiple of what the code says, which a machine may assume.
//! * Races: the tasks of a parallel call are dealt to workers at random and run in a random order ([`Options::seed`]). Two
//!   workers that write a byte are a fault. A load of a byte that another worker has written gives random bits, as LLVM
//!   leaves it open: vectors may have lanes that nobody looks at ([`RacingLoads`]).
//! * Divisions by zero, and the quotient that overflows.
//! * Results that are not written ([`Process::is_written`]).
//!
//! Memory that nothing has written holds random bytes, and so do results of conversions and shifts that LLVM leaves open:
//! what depends on them differs from run to run.
//!
//! # What it does not know
//!
//! Functions of the runtime are called as they are; what they do to memory is taken to be right. Only sorts, which call
//! code back, are done here.
//! Approximations of instructions (`rsqrt`) have as many digits as the instruction promises, not the same ones.

mod arithmetic;
mod control;
mod fault;
mod instruction;
mod memory;
mod outside;
mod sorts;
mod tiles;

use crate::{Function, Item, Linkage, Module, Statement, Symbol, Value};
pub use fault::{Fault, FaultKind};
use memory::Memory;
pub use memory::Pointer;
use std::collections::HashMap;

/// How code is interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Decides which worker does which task, in which order tasks run, and what memory holds that nothing has written.
    pub seed: u64,
    /// What becomes of loads of what another task writes.
    pub racing_loads: RacingLoads,
}

/// What a load gives of bytes that a task of another worker writes in the same parallel call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RacingLoads {
    /// Random bits.
    #[default]
    Random,
    /// Nothing: it is a fault.
    Fault,
}

/// A value: the bits of its lanes.
#[derive(Clone, Debug)]
enum Word {
    One(u64),
    Many(Box<[u64]>),
}

impl Word {
    fn of(mut lanes: Vec<u64>) -> Word {
        match lanes.len() {
            1 => Word::One(lanes.pop().unwrap_or_default()),
            _ => Word::Many(lanes.into()),
        }
    }

    fn lanes(&self) -> &[u64] {
        match self {
            Word::One(bits) => std::slice::from_ref(bits),
            Word::Many(lanes) => lanes,
        }
    }
}

/// A function that is defined, and the number of its values.
struct Defined<'m> {
    function: &'m Function,
    values: usize,
    /// The module it is in.
    module: usize,
}

/// Modules that are linked, and memory.
pub struct Process<'m> {
    functions: Vec<Defined<'m>>,
    /// The numbers of functions by their names, of those that other modules may call.
    public: HashMap<&'m str, usize>,
    /// The same of those that their module alone may call.
    internal: HashMap<(usize, &'m str), usize>,
    memory: Memory,
    /// Registers for tiles: each task makes its own.
    tiles: tiles::Registers,
    random: Random,
    /// Is a parallel call running? Those inside of it run in order.
    parallel: bool,
}

/// Where something is done.
#[derive(Clone, Copy)]
struct Place<'m> {
    function: &'m Function,
    module: usize,
}

type Done<T> = Result<T, FaultKind>;

impl<'m> Process<'m> {
    /// A process of these modules.
    pub fn new(modules: impl IntoIterator<Item = &'m Module>, options: Options) -> Process<'m> {
        let mut process = Process {
            functions: Vec::new(),
            public: HashMap::new(),
            internal: HashMap::new(),
            memory: Memory::new(options),
            tiles: None,
            random: Random(options.seed),
            parallel: false,
        };
        for (number, module) in modules.into_iter().enumerate() {
            for item in &module.items {
                let Item::Function { function, linkage, .. } = item else { continue };
                let (name, id) = (function.symbol.name(), process.functions.len());
                let values = 1 + greatest(function);
                process.functions.push(Defined { function, values, module: number });
                match linkage {
                    Linkage::Public => _ = process.public.insert(name, id),
                    Linkage::Internal | Linkage::Inlined => {
                        process.internal.insert((number, name), id);
                    }
                }
            }
        }
        process
    }

    /// Memory that nothing has written, aligned to 64 bytes. `name` stands in messages.
    pub fn allocate(&mut self, name: impl Into<String>, bytes: usize) -> Pointer {
        self.memory.allocate(name.into(), bytes)
    }

    /// Memory that holds this.
    pub fn allocate_with(&mut self, name: impl Into<String>, bytes: &[u8]) -> Pointer {
        let pointer = self.memory.allocate(name.into(), bytes.len());
        self.memory.set(pointer, bytes);
        pointer
    }

    /// An array of addresses.
    pub fn array(&mut self, name: impl Into<String>, pointers: &[Pointer]) -> Pointer {
        let bytes: Vec<u8> = pointers.iter().flat_map(|p| p.0.to_ne_bytes()).collect();
        self.allocate_with(name, &bytes)
    }

    /// What memory holds; `None`: it is not so large.
    pub fn bytes(&self, at: Pointer, bytes: usize) -> Option<&[u8]> {
        self.memory.get(at, bytes)
    }

    /// Has every byte been written?
    pub fn is_written(&self, at: Pointer, bytes: usize) -> bool {
        self.memory.is_written(at, bytes)
    }

    /// Calls a function with these addresses.
    pub fn call(&mut self, name: &str, arguments: &[Pointer]) -> Result<(), Fault> {
        let Some(&id) = self.public.get(name) else {
            return Err(Fault::new(FaultKind::NoFunction(name.to_string())));
        };
        let words: Vec<Word> = arguments.iter().map(|p| Word::One(p.0)).collect();
        self.run(id, &words)
    }

    /// Runs a function.
    fn run(&mut self, id: usize, arguments: &[Word]) -> Result<(), Fault> {
        let Defined { function, values, module } = self.functions[id];
        let mut frame = Frame { place: Place { function, module }, values: vec![None; values] };
        for (&(value, _), argument) in function.parameters.iter().zip(arguments) {
            frame.values[value.number()] = Some(argument.clone());
        }
        let stack = self.memory.stack();
        let ran = self.statements(&mut frame, &function.body);
        self.memory.unwind(stack);
        ran
    }

    /// The number of the function that code of a module calls by a name.
    fn find(&self, module: usize, symbol: &Symbol) -> Option<usize> {
        let name = symbol.name();
        self.internal.get(&(module, name)).or_else(|| self.public.get(name)).copied()
    }
}

/// The values of a function that runs.
struct Frame<'m> {
    place: Place<'m>,
    values: Vec<Option<Word>>,
}

impl Frame<'_> {
    fn get(&self, value: Value) -> Done<&Word> {
        self.values.get(value.number()).and_then(Option::as_ref).ok_or(FaultKind::Undefined(value))
    }

    fn lanes(&self, value: Value) -> Done<&[u64]> {
        self.get(value).map(Word::lanes)
    }

    /// One lane.
    fn one(&self, value: Value) -> Done<u64> {
        self.lanes(value)?.first().copied().ok_or(FaultKind::Undefined(value))
    }

    fn set(&mut self, value: Value, word: Word) {
        if let Some(place) = self.values.get_mut(value.number()) {
            *place = Some(word);
        }
    }
}

/// The greatest number of a value of a function.
fn greatest(function: &Function) -> usize {
    let mut most = function.parameters.iter().map(|p| p.0.number()).max().unwrap_or(0);
    let mut work: Vec<&[Statement]> = vec![&function.body];
    while let Some(statements) = work.pop() {
        for Statement { results, op } in statements {
            let inside = op.parameters().into_iter().map(Value::number);
            most = results.iter().map(|r| r.number()).chain(inside).fold(most, usize::max);
            work.extend(op.blocks().into_iter().map(|b| b.statements.as_slice()));
        }
    }
    most
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}
