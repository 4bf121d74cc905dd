//! How the module is divided into parts, which are compiled at the same time.
//!
//! A piece is a kernel or a function that kernels share, by number; the host functions are with the first part they belong to. The
//! longest pieces go first, each to the part that is the shortest so far. What runs once is *cold*: it is compiled with the
//! least effort, and has parts of its own where there is enough of it.

use crate::Part;
use crate::code::{
    Declaration, Function, Item, Linkage, Module, POINTERS, Symbol, TASK, Type, WORKER, called,
};
use crate::planned::kernel::Kernel;
use crate::program::host::name;
use crate::program::lowered::Lowered;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Text below which compiling a module in parts costs more than it saves: every part is read and linked on its own.
const PART_BYTES: usize = 6_000;

/// Text from which what is compiled with the least effort is worth parts of its own.
const COLD_BYTES: usize = 4_000;

/// There are more parts than threads, up to so many times, where they are as long as this: how long one takes is not
/// known before.
const LONG_BYTES: usize = 60_000;

const MORE: usize = 4;

/// How often the host functions run what is in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// Once.
    Once,
    /// There are loops in them.
    Loops,
}

/// The pieces of a part.
#[derive(Clone, Default)]
pub(super) struct Members {
    pieces: Vec<usize>,
    cold: bool,
    /// How long it takes to compile, in bytes.
    weight: usize,
}

/// Functions that are compiled together, with the text of what they do.
#[derive(Default)]
pub(super) struct Piece {
    functions: Vec<(Arc<Function>, Arc<str>)>,
    /// How long it takes to compile them: the bytes of all text, and so many beside as wide vectors take.
    pub(super) bytes: usize,
    beside: usize,
}

impl Piece {
    /// A kernel, and the functions that belong to it.
    pub(super) fn of_kernel(number: usize, kernel: &Kernel) -> Piece {
        let parameters = vec![(TASK, Type::I64), (WORKER, Type::I64), (POINTERS, Type::Pointer)];
        let (symbol, body) = (Symbol::Named(name(number)), kernel.body.clone());
        let mut piece = Piece::default();
        piece.add(Function { symbol, parameters, body }.prefixed(&name(number)));
        for function in &kernel.functions {
            piece.add(function.clone().prefixed(&name(number)));
        }
        // Half of the text of a kernel is about vectors.
        piece.beside = piece.bytes * (kernel.registers - 1) / 2;
        piece.bytes += piece.beside;
        piece
    }

    /// Adds a function.
    pub(super) fn add(&mut self, function: Function) {
        let text = function.text().into();
        let written = (Arc::new(function), text);
        self.bytes += item(&written, Linkage::Public).text().len();
        self.functions.push(written);
    }

    /// The first function with this linkage, and those that belong to it.
    fn items(&self, linkage: Linkage) -> impl Iterator<Item = Item> {
        let linkages = std::iter::once(linkage).chain(std::iter::repeat(Linkage::Internal));
        self.functions.iter().zip(linkages).map(|(written, linkage)| item(written, linkage))
    }

    /// Functions that everybody may call.
    fn public(&self) -> impl Iterator<Item = Item> {
        self.functions.iter().map(|written| item(written, Linkage::Public))
    }
}

fn item((function, text): &(Arc<Function>, Arc<str>), linkage: Linkage) -> Item {
    Item::Function { function: function.clone(), text: text.clone(), linkage }
}

/// What a module is made of.
pub(super) struct Pieces<'a> {
    lowered: &'a Lowered,
    /// The kernels.
    kernels: &'a [Piece],
    /// Kernels that are inlined into the host functions.
    near: &'a HashSet<usize>,
    /// The host functions.
    host: &'a Piece,
    entry: Entry,
    /// What the host functions declare.
    outside: &'a BTreeSet<Declaration>,
    /// Bytes of what is cold; has it parts of its own?
    cold_bytes: usize,
    separate: bool,
}

/// Is a part the one that has the host functions?
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostFunctions {
    Here,
    Elsewhere,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        lowered: &'a Lowered,
        (kernels, near): (&'a [Piece], &'a HashSet<usize>),
        (host, entry): (&'a Piece, Entry),
        outside: &'a BTreeSet<Declaration>,
    ) -> Pieces<'a> {
        let (cold_bytes, separate) = (0, false);
        let mut pieces = Pieces { lowered, kernels, near, host, entry, outside, cold_bytes, separate };
        let of_host = if entry == Entry::Loops { 0 } else { host.bytes };
        let all = || 0..kernels.len();
        let cold = all().filter(|&i| pieces.is_cold(i)).map(|i| kernels[i].bytes);
        let cold_bytes = of_host + cold.sum::<usize>();
        pieces.cold_bytes = cold_bytes;
        pieces.separate = cold_bytes >= COLD_BYTES && all().any(|i| !pieces.is_cold(i));
        pieces
    }

    /// All of it as one module.
    pub(super) fn whole(&self) -> Module {
        let mut items = self.declared();
        for (i, kernel) in self.kernels.iter().enumerate() {
            let linkage = if self.near.contains(&i) { Linkage::Inlined } else { Linkage::Internal };
            items.extend(kernel.items(linkage));
        }
        items.extend(self.host.public());
        Module { items }
    }

    /// The outside functions that kernels and host functions use.
    fn declared(&self) -> Vec<Item> {
        let of_kernels = self.lowered.kernels.iter().flat_map(|k| &k.declarations);
        let all: BTreeSet<&Declaration> = of_kernels.chain(self.outside).collect();
        let outside = all.into_iter().map(|Declaration { name, parameters, result }| Item::Outside {
            name: name.clone(),
            parameters: parameters.clone(),
            result: *result,
        });
        outside.collect()
    }

    fn is_cold(&self, i: usize) -> bool {
        self.lowered.kernels.get(i).is_some_and(|k| k.cold)
    }

    /// How long it takes to compile a cold text.
    fn cold_weight(&self, bytes: usize) -> usize {
        if self.separate { bytes / 2 } else { bytes }
    }

    /// The part that the host functions are in.
    fn first(&self, parts: &[Members]) -> usize {
        match self.entry {
            Entry::Loops => parts.iter().position(|m| !m.cold).unwrap_or(0),
            Entry::Once => 0,
        }
    }

    /// The parts of a module of so many bytes of text, for so many threads; `None`: it stays whole.
    pub(super) fn divide(&self, text: usize, threads: usize) -> Option<Vec<Members>> {
        let bytes = text + self.kernels.iter().map(|piece| piece.beside).sum::<usize>();
        let cold_weight = self.cold_weight(self.cold_bytes);
        let total = bytes - (self.cold_bytes - cold_weight);
        // The entry may have a part to itself.
        let more = (total / LONG_BYTES).min(MORE * threads);
        let count = threads.min(total / PART_BYTES).max(more).min(self.kernels.len() + 1);
        let count = if threads > 1 { count.max(1) } else { 1 };
        if count < 2 && !self.separate {
            return None;
        }
        let mut parts: Vec<Members> = vec![Members::default(); count];
        if self.separate {
            let share = count * cold_weight / total.max(1);
            let cold = share.clamp(1, count.max(2) - 1);
            parts.resize(count.max(cold + 1), Members::default());
            parts.iter_mut().take(cold).for_each(|m| m.cold = true);
        }
        // The longest first, each to the part that is the shortest.
        let first = self.first(&parts);
        parts[first].weight = match self.entry {
            Entry::Loops => self.host.bytes,
            Entry::Once => self.cold_weight(self.host.bytes),
        };
        let mut order: Vec<usize> = (0..self.kernels.len()).collect();
        order.sort_by_key(|&i| (Reverse(self.kernels[i].bytes), i));
        for i in order {
            let bytes = self.kernels[i].bytes;
            if self.near.contains(&i) {
                parts[first].pieces.push(i);
                parts[first].weight += bytes;
                continue;
            }
            let cold = self.separate && self.is_cold(i);
            let fits = parts.iter_mut().filter(|m| m.cold == cold);
            if let Some(shortest) = fits.min_by_key(|m| m.weight) {
                shortest.pieces.push(i);
                shortest.weight += if cold { self.cold_weight(bytes) } else { bytes };
            }
        }
        Some(parts)
    }

    /// The parts; what takes longest is begun first.
    pub(super) fn parts(&self, members: &[Members]) -> Vec<Part> {
        let first = self.first(members);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|&p| Reverse(members[p].weight));
        let part = |p: usize| {
            let code = self
                .part(&members[p], if p == first { HostFunctions::Here } else { HostFunctions::Elsewhere });
            Part { text: code.text(), code: Some(code), cold: members[p].cold }
        };
        order.into_iter().map(part).collect()
    }

    /// A part: what it has, and declarations of what it has not.
    fn part(&self, members: &Members, host: HostFunctions) -> Module {
        let has_host = host == HostFunctions::Here;
        let pieces = &members.pieces;
        let mut names = BTreeSet::new();
        let functions = pieces.iter().flat_map(|&i| &self.kernels[i].functions);
        functions.for_each(|(function, _)| called(&function.body, &mut names));
        let mut items = self.declared();
        items.retain(|item| match item {
            Item::Outside { name, .. } => {
                names.contains(name) || has_host && self.outside.iter().any(|d| d.name == *name)
            }
            Item::Function { .. } => true,
        });
        if has_host {
            items.extend(self.host.public());
            for i in (0..self.kernels.len()).filter(|i| !pieces.contains(i)) {
                let parameters = vec![Type::I64, Type::I64, Type::Pointer];
                items.push(Item::Outside { name: name(i), parameters, result: None });
            }
        }
        for &i in pieces {
            let linkage = if self.near.contains(&i) { Linkage::Inlined } else { Linkage::Public };
            items.extend(self.kernels[i].items(linkage));
        }
        Module { items }
    }
}
