//! How the module is divided into parts, which are compiled at the same time.
//!
//! A piece is a kernel or a function that kernels share, by number; the host functions are with the first part they belong to. The
//! longest pieces go first, each to the part that is the shortest so far. What runs once is *cold*: it is compiled with the
//! least effort, and has parts of its own where there is enough of it.

use crate::Part;
use crate::code::{Declaration, Function, called, print};
use crate::program::host::declarations;
use crate::program::steps::Lowered;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

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

/// A function that kernels share, and its text from its name on.
struct Shared<'a> {
    function: &'a Function,
    text: String,
}

/// What a module is made of.
pub(super) struct Pieces<'a> {
    lowered: &'a Lowered,
    /// The kernels from their names on, and the functions that they share.
    kernels: &'a [String],
    shared: Vec<Shared<'a>>,
    /// Kernels that are inlined into the host functions.
    near: &'a HashSet<usize>,
    /// The host functions.
    host: &'a str,
    entry: Entry,
    /// What the host functions declare.
    outside: &'a BTreeSet<Declaration>,
    /// Bytes of what is cold; has it parts of its own?
    cold_bytes: usize,
    apart: bool,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        lowered: &'a Lowered,
        (kernels, near): (&'a [String], &'a HashSet<usize>),
        (host, entry): (&'a str, Entry),
        outside: &'a BTreeSet<Declaration>,
    ) -> Pieces<'a> {
        // Functions that kernels share are parts of a module like kernels.
        let functions = lowered.kernels.iter().flat_map(|k| &k.declarations).filter_map(|d| match d {
            Declaration::Shared(function) => Some(function),
            Declaration::Outside { .. } => None,
        });
        let functions: BTreeSet<&Function> = functions.collect();
        let shared = functions.into_iter();
        let shared = shared
            .map(|function| Shared { function, text: print::definition(function, "").trim_end().into() });
        let shared: Vec<Shared<'_>> = shared.collect();
        let (cold_bytes, apart) = (0, false);
        let mut pieces = Pieces { lowered, kernels, shared, near, host, entry, outside, cold_bytes, apart };
        let of_host = if entry == Entry::Loops { 0 } else { host.len() };
        let cold = pieces.all().filter(|&i| pieces.is_cold(i)).map(|i| pieces.text(i).len());
        let cold_bytes = of_host + cold.sum::<usize>();
        pieces.cold_bytes = cold_bytes;
        pieces.apart = cold_bytes >= COLD_BYTES && pieces.all().any(|i| !pieces.is_cold(i));
        pieces
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.kernels.len() + self.shared.len()
    }

    fn text(&self, i: usize) -> &str {
        self.kernels.get(i).unwrap_or_else(|| &self.shared[i - self.kernels.len()].text)
    }

    /// The function that kernels share which a piece is.
    fn shared(&self, i: usize) -> Option<&'a Function> {
        i.checked_sub(self.kernels.len()).map(|i| self.shared[i].function)
    }

    fn is_cold(&self, i: usize) -> bool {
        self.lowered.kernels.get(i).is_some_and(|k| k.cold)
    }

    /// How long it takes to compile a text.
    fn weight(&self, bytes: usize, cold: bool) -> usize {
        if cold && self.apart { bytes / 2 } else { bytes }
    }

    /// The part that the host functions are in.
    fn first(&self, parts: &[Members]) -> usize {
        match self.entry {
            Entry::Loops => parts.iter().position(|m| !m.cold).unwrap_or(0),
            Entry::Once => 0,
        }
    }

    /// The parts of a module of so many bytes, for so many threads; `None`: it stays whole.
    pub(super) fn divide(&self, bytes: usize, threads: usize) -> Option<Vec<Members>> {
        let cold_weight = self.weight(self.cold_bytes, true);
        let total = bytes - (self.cold_bytes - cold_weight);
        // The entry may have a part to itself.
        let more = (total / LONG_BYTES).min(MORE * threads);
        let count = threads.min(total / PART_BYTES).max(more).min(self.all().len() + 1);
        let count = if threads > 1 { count.max(1) } else { 1 };
        if count < 2 && !self.apart {
            return None;
        }
        let mut parts: Vec<Members> = vec![Members::default(); count];
        if self.apart {
            let share = count * cold_weight / total.max(1);
            let cold = share.clamp(1, count.max(2) - 1);
            parts.resize(count.max(cold + 1), Members::default());
            parts.iter_mut().take(cold).for_each(|m| m.cold = true);
        }
        // The longest first, each to the part that is the shortest.
        let first = self.first(&parts);
        parts[first].weight = self.weight(self.host.len(), self.entry == Entry::Once);
        let mut order: Vec<usize> = self.all().collect();
        order.sort_by_key(|&i| (Reverse(self.text(i).len()), i));
        for i in order {
            let bytes = self.text(i).len();
            if self.near.contains(&i) {
                parts[first].pieces.push(i);
                parts[first].weight += self.weight(bytes, false);
                continue;
            }
            let cold = self.apart && self.is_cold(i);
            let fits = parts.iter_mut().filter(|m| m.cold == cold);
            if let Some(shortest) = fits.min_by_key(|m| m.weight) {
                shortest.pieces.push(i);
                shortest.weight += self.weight(bytes, cold);
            }
        }
        Some(parts)
    }

    /// The texts of the parts; what takes longest is begun first.
    pub(super) fn parts(&self, members: &[Members]) -> Vec<Part> {
        let all: Vec<usize> = (0..self.kernels.len()).collect();
        let every = declarations(self.lowered, &all, self.outside);
        let by_name: HashMap<&str, &Declaration> = every.iter().map(|&d| (d.name(), d)).collect();
        let first = self.first(members);
        let host = |p: usize| (p == first).then_some(self.host);
        let texts = members.iter().enumerate().map(|(p, m)| (m, self.part(m, host(p), &by_name)));
        let mut texts: Vec<(&Members, String)> = texts.collect();
        texts.sort_by_key(|(m, _)| Reverse(m.weight));
        texts.into_iter().map(|(m, text)| Part { text, cold: m.cold }).collect()
    }

    /// The text of a part, with the host functions or without: what it has, and declarations of what it has not.
    fn part(
        &self,
        members: &Members,
        host: Option<&str>,
        by_name: &HashMap<&str, &'a Declaration>,
    ) -> String {
        let pieces = &members.pieces;
        let own: Vec<usize> = pieces.iter().copied().filter(|&i| i < self.kernels.len()).collect();
        let mut part = String::new();
        let shared: Vec<&Function> = pieces.iter().filter_map(|&i| self.shared(i)).collect();
        let mut names = BTreeSet::new();
        shared.iter().for_each(|function| called(&function.body, &mut names));
        let needed = names.iter().filter_map(|name| by_name.get(name.as_str()).copied());
        let of_host = host.map(|_| self.outside).into_iter().flatten();
        for declaration in declarations(self.lowered, &own, needed.chain(of_host)) {
            let text = match declaration {
                Declaration::Outside { .. } => print::declaration(declaration),
                Declaration::Shared(function) if shared.contains(&function) => continue,
                Declaration::Shared(function) => print::outside(function),
            };
            part.push_str(&text);
            part.push('\n');
        }
        if let Some(host) = host {
            part.push_str(host);
            for i in (0..self.kernels.len()).filter(|i| !own.contains(i)) {
                let _ = writeln!(part, "llvm.func @kernel_{i}(i64, i64, !llvm.ptr)");
            }
        }
        for &i in pieces {
            let linkage = if self.near.contains(&i) { "internal " } else { "" };
            let _ = writeln!(part, "llvm.func {linkage}{}", self.text(i));
        }
        part
    }
}
