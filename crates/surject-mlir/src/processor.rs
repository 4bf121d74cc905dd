//! Processors that machine code is for.

/// A processor as LLVM knows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processor {
    /// The one at hand, with all it can do.
    #[default]
    Host,
    /// All that have what this one has.
    Named(&'static Level),
}

/// What a class of processors has.
#[derive(Debug, PartialEq, Eq)]
pub struct Level {
    /// The name, as in [`surject_codegen::Target::NAMES`].
    name: &'static str,
    /// The name that LLVM has for the class.
    cpu: &'static str,
    /// Instruction sets, by the names that Rust has for them.
    features: &'static [&'static str],
}

/// The processors of x86 that have names: the levels of its psABI, with products of `bf16` on the last.
const X86: [Level; 3] = [
    Level { name: "generic", cpu: "x86-64", features: &[] },
    Level {
        name: "avx2",
        cpu: "x86-64-v3",
        features: &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2"],
    },
    Level {
        name: "avx512",
        cpu: "x86-64-v4",
        features: &[
            "avx",
            "avx2",
            "avx512bf16",
            "avx512bw",
            "avx512cd",
            "avx512dq",
            "avx512f",
            "avx512vl",
            "bmi1",
            "bmi2",
            "f16c",
            "fma",
            "lzcnt",
            "movbe",
            "popcnt",
            "sse4.2",
        ],
    },
];

/// Those of other architectures.
const OTHERS: [Level; 1] = [Level { name: "generic", cpu: "generic", features: &[] }];

impl Processor {
    /// The processor of this name, if it is of the architecture at hand: `generic` has what all have, `avx2` and `avx512` are
    /// levels 3 and 4 of x86-64.
    pub fn named(name: &str) -> Option<Processor> {
        let all: &[Level] = if cfg!(target_arch = "x86_64") { &X86 } else { &OTHERS };
        all.iter().find(|level| level.name == name).map(Processor::Named)
    }
}

impl Level {
    /// The instruction sets that code for it may use, beside those that all processors of the architecture have; by the names
    /// that Rust has for them.
    pub fn features(&self) -> impl Iterator<Item = &'static str> {
        self.features.iter().copied()
    }

    /// The name that LLVM has for it.
    pub(crate) fn cpu(&self) -> &'static str {
        self.cpu
    }

    /// Its instruction sets in LLVM's words.
    pub(crate) fn in_words_of_llvm(&self) -> String {
        let word = |name: &&str| format!("+{}", if *name == "bmi1" { "bmi" } else { name });
        self.features.iter().map(word).collect::<Vec<String>>().join(",")
    }
}
