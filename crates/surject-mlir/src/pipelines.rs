//! The pass pipelines from the MLIR that the code generator emits to the `llvm` dialect, as text.
//!
//! Each is what `mlir-opt --pass-pipeline='…'` takes, so that an MLIR developer can stand in the middle of a compilation:
//! `surject opt PROGRAM --emit mlir` begins with the pipeline that its module goes through, and
//! `surject doctor --pipelines` prints both kinds.

/// Which pipeline a module goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One conversion; see [`direct`].
    Direct,
    /// Every conversion; see [`GENERAL`].
    General,
}

/// The passes of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Its kind.
    pub kind: Kind,
    /// The passes, as `mlir-opt --pass-pipeline=` takes them.
    pub passes: String,
}

/// The passes of a module that holds anything of `func`, `scf`, `vector`, `memref`, `arith`, `math`, `complex` and `llvm`.
///
/// * Not among them: `arith-expand`. It replaces `arith.maximumf` by a comparison and a selection, which loses the
///   order of −0 and +0. Conversions to `bf16` are LLVM's integer sequence: the instruction of some processors
///   flushes subnormal numbers, so code is generated as if they had none, in functions without products of `bf16`
///   that is.
/// * Functions of `math` become LLVM intrinsics where there is one and calls of the C library otherwise, before
///   vectors are lowered: calls are made element by element.
/// * `convert-ub-to-llvm` removes the poison that transfer operations leave; 64-bit indices keep masks right in
///   dimensions beyond 2³¹.
pub const GENERAL: &str = "builtin.module(\
    canonicalize,cse,\
    convert-vector-to-scf{full-unroll},lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,\
    convert-complex-to-standard,convert-math-to-llvm,convert-math-to-libm,\
    convert-vector-to-llvm{enable-x86vector vector-transpose-lowering=shuffle16x16 \
        vector-contract-lowering=outerproduct force-32bit-vector-indices=0},\
    convert-complex-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,\
    finalize-memref-to-llvm{use-aligned-alloc=1},\
    convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},convert-cf-to-llvm,convert-ub-to-llvm,\
    reconcile-unrealized-casts,canonicalize,cse)";

/// The dialects that [`direct`] converts, where a module uses them.
const CONVERTED: [&str; 3] = ["arith", "math", "vector"];

/// The passes of a module that holds nothing but `llvm`, `scf`, `arith`, and those operations of `vector` and `math` that
/// have one of LLVM each, as what the code generator writes: one conversion, which takes a quarter of the time. LLVM
/// cleans up as well. `used` are the dialects among `arith`, `math` and `vector` that the module uses: one that it does
/// not use is not loaded, and the conversion refuses to ask it.
pub fn direct(used: &[&str]) -> String {
    let list = used.iter().copied().chain(["cf"]).collect::<Vec<_>>().join(",");
    // Loops of one iteration vanish; regions are left as they are.
    let first = "canonicalize{max-iterations=1 region-simplify=disabled}";
    format!("builtin.module({first},convert-scf-to-cf,convert-to-llvm{{filter-dialects={list}}})")
}

impl Pipeline {
    /// The pipeline of a module text.
    pub fn of(text: &str) -> Pipeline {
        if !is_direct(text) {
            return Pipeline { kind: Kind::General, passes: GENERAL.to_string() };
        }
        let used: Vec<&str> = CONVERTED.into_iter().filter(|d| text.contains(&format!("{d}."))).collect();
        Pipeline { kind: Kind::Direct, passes: direct(&used) }
    }

    /// The pipelines of the code generator's modules: of one that uses every dialect there is, kind by kind.
    pub fn all() -> [Pipeline; 2] {
        [
            Pipeline { kind: Kind::Direct, passes: direct(&CONVERTED) },
            Pipeline { kind: Kind::General, passes: GENERAL.to_string() },
        ]
    }

    /// What a shell is told to run the passes on standard input.
    pub fn command(&self) -> String {
        format!("mlir-opt-22 --pass-pipeline='{}'", self.passes)
    }
}

/// Does a module text hold only what one conversion lowers?
fn is_direct(text: &str) -> bool {
    const NOT: [&str; 9] =
        ["memref", "func.func", "complex", "affine", "index.", "ub.", "tensor", "unrealized", "libm"];
    const VECTOR: [&str; 7] =
        ["bitcast", "broadcast", "extract", "from_elements", "insert", "reduction", "shuffle"];
    const MATH: [&str; 12] = [
        "absf",
        "ceil",
        "copysign",
        "ctlz",
        "ctpop",
        "cttz",
        "floor",
        "fma",
        "round",
        "roundeven",
        "sqrt",
        "trunc",
    ];
    let only = |dialect: &str, known: &[&str]| {
        text.split(dialect).skip(1).all(|rest| {
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            name.is_some_and(|n| known.contains(&n))
        })
    };
    // A vector of vectors has a number where others have the type of their elements.
    let flat = text.split("vector<").skip(1).all(|rest| {
        let elements = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        !elements.starts_with('x') || !elements[1..].starts_with(|c: char| c.is_ascii_digit())
    });
    flat && !NOT.iter().any(|word| text.contains(word)) && only("vector.", &VECTOR) && only("math.", &MATH)
}
