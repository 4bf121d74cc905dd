//! What a kernel has of all that the IR has: the random kernels together must have everything.
//!
//! Every enumeration of the IR is matched without a wildcard, so that what is added to the IR must be added here, and then
//! be made by the generator.

use std::collections::BTreeSet;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp, named};
use surject_kernel::{
    Access, Affine, Factors, Guard, Kernel, Level, LoopKind, Op, Part, Phasing, Place, Region, Source, Space,
    Team, Temporality, Tile, Type, Wanted,
};

named! {
    /// The operations of the IR.
    Variant {
        Splat = "splat",
        Constant = "constant",
        Index = "index",
        Holds = "holds",
        Unary = "unary",
        Binary = "binary",
        Fma = "fma",
        Select = "select",
        Convert = "convert",
        Bitcast = "bitcast",
        ReducePrecision = "reduce_precision",
        Broadcast = "broadcast",
        Shuffle = "shuffle",
        Extract = "extract",
        Insert = "insert",
        Lookup = "lookup",
        Scale = "scale",
        ReduceLanes = "reduce",
        Exchange = "exchange",
        Load = "load",
        Store = "store",
        Atomic = "atomic",
        Alloc = "alloc",
        Prefetch = "prefetch",
        AsyncCopy = "async_copy",
        AsyncCommit = "async_commit",
        AsyncWait = "async_wait",
        BoxCopy = "box_copy",
        Phase = "phase",
        Barrier = "barrier",
        MatMul = "matmul",
        For = "for",
        If = "if",
    }
}

impl Variant {
    /// Which operation this is.
    pub fn of(op: &Op) -> Variant {
        match op {
            Op::Splat(_) => Variant::Splat,
            Op::Constant(_) => Variant::Constant,
            Op::Index(_) => Variant::Index,
            Op::Holds(_) => Variant::Holds,
            Op::Unary(..) => Variant::Unary,
            Op::Binary(..) => Variant::Binary,
            Op::Fma(..) => Variant::Fma,
            Op::Select(..) => Variant::Select,
            Op::Convert(_) => Variant::Convert,
            Op::Bitcast(_) => Variant::Bitcast,
            Op::ReducePrecision(..) => Variant::ReducePrecision,
            Op::Broadcast(_) => Variant::Broadcast,
            Op::Shuffle(..) => Variant::Shuffle,
            Op::Extract(..) => Variant::Extract,
            Op::Insert(..) => Variant::Insert,
            Op::Lookup(..) => Variant::Lookup,
            Op::Scale(..) => Variant::Scale,
            Op::ReduceLanes(..) => Variant::ReduceLanes,
            Op::Exchange(..) => Variant::Exchange,
            Op::Load { .. } => Variant::Load,
            Op::Store { .. } => Variant::Store,
            Op::Atomic { .. } => Variant::Atomic,
            Op::Alloc(_) => Variant::Alloc,
            Op::Prefetch { .. } => Variant::Prefetch,
            Op::AsyncCopy { .. } => Variant::AsyncCopy,
            Op::AsyncCommit => Variant::AsyncCommit,
            Op::AsyncWait(_) => Variant::AsyncWait,
            Op::BoxCopy(_) => Variant::BoxCopy,
            Op::Phase(..) => Variant::Phase,
            Op::Barrier(_) => Variant::Barrier,
            Op::MatMul { .. } => Variant::MatMul,
            Op::For { .. } => Variant::For,
            Op::If { .. } => Variant::If,
        }
    }
}

/// What the generator must make, beside what is listed by the names of enumerations.
const FORMS: [&str; 49] = [
    "loop serial",
    "loop unrolled",
    "loop task",
    "loop block",
    "loop warp",
    "loop thread",
    "loop with a step",
    "loop that carries",
    "loop with symbolic bounds",
    "if with results",
    "if without else",
    "exchange xor",
    "exchange up",
    "exchange down",
    "exchange thread",
    "phase init",
    "phase arrive",
    "phase expect",
    "phase wait",
    "barrier block",
    "barrier warp",
    "load nontemporal",
    "store nontemporal",
    "fill",
    "fill without guards",
    "guards",
    "mask",
    "offset",
    "offset of each lane",
    "interleaved tile",
    "box of several dimensions",
    "address lane",
    "address constant",
    "address with a negative factor",
    "address with a product of values",
    "number of all 64 bits",
    "symbolic elements",
    "sizes",
    "quoted name",
    "word of the text form as name",
    "element NaN",
    "element NaN with payload",
    "element inf",
    "element -inf",
    "element -0",
    "element subnormal",
    "element of all bits",
    "lanes that are no power of two",
    "kernel without parameters",
];

/// Everything that the IR has.
pub fn all() -> BTreeSet<String> {
    let mut all: BTreeSet<String> = FORMS.iter().map(|form| form.to_string()).collect();
    all.extend(Variant::ALL.iter().map(|v| format!("op {v}")));
    all.extend(UnaryOp::ALL.iter().map(|v| format!("unary {v}")));
    // A complex number is two values.
    all.extend(BinaryOp::ALL.iter().filter(|&&op| op != BinaryOp::Complex).map(|v| format!("binary {v}")));
    for op in AccOp::ALL.iter().filter(|&&op| op != AccOp::Set) {
        all.extend([format!("reduce {op}"), format!("atomic {op}")]);
    }
    for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
        all.extend([format!("scalar {dtype}"), format!("vector {dtype}"), format!("elements {dtype}")]);
    }
    all.extend(Space::ALL.iter().map(|space| format!("space {space}")));
    all.extend(Access::ALL.iter().map(|access| format!("access {access}")));
    all.extend(Factors::ALL.iter().map(|factors| format!("matmul {factors}")));
    all.extend(Wanted::ALL.iter().map(|wanted| format!("prefetch {wanted}")));
    all.extend(Team::ALL.iter().map(|team| format!("matmul {team}")));
    all
}

/// What a kernel has of it.
pub fn of(kernel: &Kernel) -> BTreeSet<String> {
    let mut features = Features { kernel, found: BTreeSet::new() };
    features.kernel();
    features.found
}

struct Features<'k> {
    kernel: &'k Kernel,
    found: BTreeSet<String>,
}

impl Features<'_> {
    fn note(&mut self, holds: bool, feature: impl Into<String>) {
        if holds {
            self.found.insert(feature.into());
        }
    }

    fn kernel(&mut self) {
        let Kernel { name, sizes, params, memory, types, body } = self.kernel;
        self.name(name);
        self.note(!sizes.is_empty(), "sizes");
        self.note(params.is_empty(), "kernel without parameters");
        for memory in memory {
            self.name(&memory.name);
            self.note(true, format!("elements {}", memory.dtype));
            self.note(true, format!("space {}", memory.space));
            self.note(memory.space == Space::Global, format!("access {}", memory.access));
            self.note(!memory.elements.terms.is_empty(), "symbolic elements");
        }
        for &Type { dtype, lanes } in types {
            self.note(lanes == 1, format!("scalar {dtype}"));
            self.note(lanes > 1, format!("vector {dtype}"));
            self.note(!lanes.is_power_of_two(), "lanes that are no power of two");
        }
        self.region(body);
    }

    fn name(&mut self, name: &str) {
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        self.note(!plain, "quoted name");
        let words = ["lane", "where", "else", "mask", "offset", "for", "yield", "kernel", "bits"];
        self.note(words.contains(&name), "word of the text form as name");
    }

    fn region(&mut self, region: &Region) {
        for statement in &region.body {
            let op = &statement.op;
            self.note(true, format!("op {}", Variant::of(op)));
            self.op(op, statement.results.len());
            op.parts(&mut |part| match part {
                Part::Affine(affine) => self.affine(affine),
                Part::Region(region) => self.region(region),
                Part::Value(_) | Part::Mem(_) => {}
            });
        }
    }

    fn op(&mut self, op: &Op, results: usize) {
        match op {
            Op::Splat(value) => self.element(*value),
            Op::Constant(values) => values.iter().for_each(|&value| self.element(value)),
            Op::Unary(op, _) => self.note(true, format!("unary {op}")),
            Op::Binary(op, ..) => self.note(true, format!("binary {op}")),
            Op::ReduceLanes(op, _) => self.note(true, format!("reduce {op}")),
            Op::Atomic { op, place, .. } => {
                self.note(true, format!("atomic {op}"));
                self.place(place);
            }
            Op::Exchange(source, _) => {
                let source = match source {
                    Source::Xor(_) => "xor",
                    Source::Up(_) => "up",
                    Source::Down(_) => "down",
                    Source::Thread(_) => "thread",
                };
                self.note(true, format!("exchange {source}"));
            }
            Op::Load { place, fill, temporality } => {
                self.place(place);
                let guarded = !place.guards.is_empty() || place.mask.is_some();
                let filled = *fill != Scalar::zero(fill.dtype());
                self.note(filled && guarded, "fill");
                self.note(filled && !guarded, "fill without guards");
                self.temporality("load", *temporality);
            }
            Op::Store { place, temporality, value: _ } => {
                self.place(place);
                self.temporality("store", *temporality);
            }
            Op::Prefetch { wanted, .. } => self.note(true, format!("prefetch {wanted}")),
            Op::AsyncCopy { from, to, elements: _ } => [from, to].into_iter().for_each(|p| self.place(p)),
            Op::BoxCopy(copy) => self.note(copy.map.sizes.len() > 1, "box of several dimensions"),
            Op::Phase(_, how) => {
                let how = match how {
                    Phasing::Init(_) => "init",
                    Phasing::Arrive => "arrive",
                    Phasing::Expect(_) => "expect",
                    Phasing::Wait(_) => "wait",
                };
                self.note(true, format!("phase {how}"));
            }
            Op::Barrier(level) => self.note(true, format!("barrier {level}")),
            Op::MatMul { factors, team, acc, a, b, sizes: _ } => {
                self.note(true, format!("matmul {factors}"));
                self.note(true, format!("matmul {team}"));
                for Tile { interleaved, .. } in [acc, a, b] {
                    self.note(*interleaved > 1, "interleaved tile");
                }
            }
            Op::For { low, high, step, kind, inits, body: _ } => {
                let kind = match kind {
                    LoopKind::Serial => "serial",
                    LoopKind::Unrolled => "unrolled",
                    LoopKind::Parallel(level) => match level {
                        Level::Task => "task",
                        Level::Block => "block",
                        Level::Warp => "warp",
                        Level::Thread => "thread",
                    },
                };
                self.note(true, format!("loop {kind}"));
                self.note(*step != 1, "loop with a step");
                self.note(!inits.is_empty(), "loop that carries");
                let symbolic = !low.terms.is_empty() || !high.terms.is_empty();
                self.note(symbolic, "loop with symbolic bounds");
            }
            Op::If { otherwise, .. } => {
                self.note(results > 0, "if with results");
                self.note(*otherwise == Region::default(), "if without else");
            }
            // Nothing but operands, and numbers that are any.
            Op::Index(_)
            | Op::Holds(_)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(_)
            | Op::Bitcast(_)
            | Op::ReducePrecision(..)
            | Op::Broadcast(_)
            | Op::Shuffle(..)
            | Op::Extract(..)
            | Op::Insert(..)
            | Op::Lookup(..)
            | Op::Scale(..)
            | Op::Alloc(_)
            | Op::AsyncCommit
            | Op::AsyncWait(_) => {}
        }
    }

    fn temporality(&mut self, of: &str, temporality: Temporality) {
        match temporality {
            Temporality::Normal => {}
            Temporality::NonTemporal => self.note(true, format!("{of} nontemporal")),
        }
    }

    fn place(&mut self, Place { mem: _, at: _, offset, guards, mask }: &Place) {
        self.note(!guards.is_empty(), "guards");
        self.note(mask.is_some(), "mask");
        self.note(offset.is_some(), "offset");
        let of_lanes = offset.is_some_and(|offset| self.kernel.ty(offset).lanes > 1);
        self.note(of_lanes, "offset of each lane");
        for Guard { expr, bound } in guards {
            [expr, bound].into_iter().for_each(|affine| self.affine(affine));
        }
    }

    fn affine(&mut self, affine: &Affine) {
        let Affine { terms, lane, offset } = affine;
        self.note(*lane != 0, "address lane");
        self.note(*offset != 0, "address constant");
        for term in terms {
            self.note(term.factor < 0, "address with a negative factor");
            self.note(term.values.len() > 1, "address with a product of values");
        }
        let numbers = terms.iter().map(|term| term.factor).chain([*lane, *offset]);
        let whole = numbers.into_iter().any(|number| number == i64::MIN);
        self.note(whole, "number of all 64 bits");
    }

    fn element(&mut self, value: Scalar) {
        let dtype = value.dtype();
        let ones = value.bits() == Scalar::from_bits(dtype, u128::MAX).bits();
        self.note(dtype.is_int() && ones, "element of all bits");
        if !dtype.is_float() {
            return;
        }
        let number = value.as_f64();
        let usual = [f64::NAN, -f64::NAN].map(|nan| Scalar::from_f64(dtype, nan));
        self.note(number.is_nan(), "element NaN");
        self.note(number.is_nan() && !usual.contains(&value), "element NaN with payload");
        self.note(number == f64::INFINITY, "element inf");
        self.note(number == f64::NEG_INFINITY, "element -inf");
        self.note(number == 0.0 && number.is_sign_negative(), "element -0");
        let smallest = match dtype {
            DType::F16 => 6.103515625e-5,
            DType::F64 => f64::MIN_POSITIVE,
            _ => f64::from(f32::MIN_POSITIVE),
        };
        self.note(number != 0.0 && number.abs() < smallest, "element subnormal");
    }
}
