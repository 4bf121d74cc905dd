//! The text form of kernels; [`crate::parse()`] reads it.

use crate::{
    BoxCopy, Factors, Kernel, LoopKind, MatMulSizes, Mem, Memory, Op, PhaseBarrier, Phasing, Place, Region,
    Source, Statement, Team, Temporality, Tile, Type, Value,
};
use std::fmt::{self, Write};
use surject_ir::{Scalar, literal};

/// The text of a kernel, its values numbered in the order in which they are defined.
pub fn print(kernel: &Kernel) -> String {
    Printer { kernel: kernel.renumbered(), text: String::new(), depth: 0 }.kernel()
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

/// A statement on one line, without what is inside of its regions; for messages. The numbers of its values are those of
/// the kernel.
pub fn print_statement(kernel: &Kernel, statement: &Statement) -> String {
    let mut printer = Printer { kernel: kernel.clone(), text: String::new(), depth: 0 };
    printer.statement(statement, Regions::LeftOut);
    printer.text.trim_end().to_string()
}

/// Are the regions of an operation printed?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Regions {
    Whole,
    LeftOut,
}

struct Printer {
    kernel: Kernel,
    text: String,
    depth: usize,
}

/// Writing to a string cannot fail.
macro_rules! put {
    ($printer:expr, $($rest:tt)*) => {{
        let _ = write!($printer.text, $($rest)*);
    }};
}

impl Printer {
    fn kernel(mut self) -> String {
        let kernel = std::mem::replace(&mut self.kernel, Kernel::new(""));
        let sizes = kernel.sizes.iter().map(|v| format!("{v}: size"));
        let params = kernel.params.iter().map(|&m| {
            let Memory { name, dtype, elements, access, .. } = kernel.mem(m);
            format!("{}: {access} {dtype}[{elements}]", literal::word(name))
        });
        let params: Vec<String> = sizes.chain(params).collect();
        put!(self, "kernel {}({}) {{\n", literal::word(&kernel.name), params.join(", "));
        let body = kernel.body.clone();
        self.kernel = kernel;
        self.region(&body);
        self.text.push_str("}\n");
        self.text
    }

    fn region(&mut self, region: &Region) {
        self.depth += 1;
        for statement in &region.body {
            self.indent();
            self.statement(statement, Regions::Whole);
            self.text.push('\n');
        }
        if !region.yields.is_empty() {
            self.indent();
            put!(self, "yield {}\n", list(&region.yields));
        }
        self.depth -= 1;
    }

    fn indent(&mut self) {
        (0..self.depth).for_each(|_| self.text.push_str("  "));
    }

    fn statement(&mut self, statement: &Statement, regions: Regions) {
        if !statement.results.is_empty() {
            put!(self, "{} = ", list(&statement.results));
        }
        self.op(&statement.op, regions);
        if !statement.results.is_empty() {
            let types: Vec<String> = statement.results.iter().map(|&v| self.ty(v)).collect();
            put!(self, " : {}", types.join(", "));
        }
    }

    /// The type of a value; of one without a type, which the verifier reports, a mark.
    fn ty(&self, value: Value) -> String {
        self.kernel.types.get(value.0 as usize).map_or_else(|| "?".to_string(), Type::to_string)
    }

    /// An operation as text. It is long because it is flat: one arm an operation.
    fn op(&mut self, op: &Op, regions: Regions) {
        match op {
            Op::Splat(value) => put!(self, "splat {}", literal::element(*value)),
            Op::Constant(values) => {
                let values: Vec<String> = values.iter().map(|&v| literal::element(v)).collect();
                put!(self, "constant [{}]", values.join(", "));
            }
            Op::Index(affine) => put!(self, "index {affine}"),
            Op::Holds(guards) => put!(self, "holds {}", guards_text(guards)),
            Op::Unary(op, x) => put!(self, "{op} {x}"),
            Op::Binary(op, x, y) => put!(self, "{op} {x}, {y}"),
            Op::Fma(x, y, z) => put!(self, "fma {x}, {y}, {z}"),
            Op::Select(c, x, y) => put!(self, "select {c}, {x}, {y}"),
            Op::Convert(x) => put!(self, "convert {x}"),
            Op::Bitcast(x) => put!(self, "bitcast {x}"),
            Op::ReducePrecision(exponent, mantissa, x) => {
                put!(self, "reduce_precision {exponent}, {mantissa}, {x}");
            }
            Op::Broadcast(x) => put!(self, "broadcast {x}"),
            Op::Shuffle(x, y, order) => {
                let order: Vec<String> = order.iter().map(usize::to_string).collect();
                put!(self, "shuffle {x}, {y} [{}]", order.join(", "));
            }
            Op::Extract(x, lane) => put!(self, "extract {x}[{lane}]"),
            Op::Insert(x, lane, scalar) => put!(self, "insert {scalar}, {x}[{lane}]"),
            Op::Lookup(x, y, at) => put!(self, "lookup {x}, {y}, {at}"),
            Op::Scale(x, n) => put!(self, "scale {x}, {n}"),
            Op::ReduceLanes(op, x) => put!(self, "reduce {op} {x}"),
            Op::Exchange(source, x) => match source {
                Source::Xor(bits) => put!(self, "exchange {x} xor {bits}"),
                Source::Up(by) => put!(self, "exchange {x} up {by}"),
                Source::Down(by) => put!(self, "exchange {x} down {by}"),
                Source::Thread(thread) => put!(self, "exchange {x} thread {thread}"),
            },
            Op::Load { place, fill, temporality } => {
                put!(self, "load ");
                self.place(place);
                let zero = Scalar::zero(fill.dtype());
                if !place.guards.is_empty() || place.mask.is_some() || *fill != zero {
                    put!(self, " else {}", literal::element(*fill));
                }
                self.temporality(*temporality);
            }
            Op::Store { place, value, temporality } => {
                put!(self, "store {value}, ");
                self.place(place);
                self.temporality(*temporality);
            }
            Op::Atomic { op, place, value } => {
                put!(self, "atomic {op} {value}, ");
                self.place(place);
            }
            Op::Alloc(mem) => {
                let name = self.name(*mem);
                match self.kernel.memory.get(mem.0 as usize) {
                    Some(Memory { dtype, elements, space, .. }) => {
                        put!(self, "alloc {name}: {space} {dtype}[{elements}]");
                    }
                    None => put!(self, "alloc {name}"),
                }
            }
            Op::Prefetch { mem, at, wanted } => {
                let name = self.name(*mem);
                put!(self, "prefetch {wanted} {name}[{at}]");
            }
            Op::AsyncCopy { from, to, elements } => {
                put!(self, "async_copy {elements}, ");
                self.place(from);
                put!(self, ", ");
                self.place(to);
            }
            Op::AsyncCommit => put!(self, "async_commit"),
            Op::AsyncWait(groups) => put!(self, "async_wait {groups}"),
            Op::BoxCopy(copy) => self.box_copy(copy),
            Op::Phase(barrier, how) => {
                let barrier = self.phase_barrier(barrier);
                match how {
                    Phasing::Init(arrivals) => put!(self, "phase_init {barrier}, {arrivals}"),
                    Phasing::Arrive => put!(self, "phase_arrive {barrier}"),
                    Phasing::Expect(bytes) => put!(self, "phase_expect {barrier}, {bytes}"),
                    Phasing::Wait(parity) => put!(self, "phase_wait {barrier}, {parity}"),
                }
            }
            Op::Barrier(level) => put!(self, "barrier {level}"),
            Op::MatMul { sizes, factors, team, acc, a, b } => {
                let tiles: Vec<String> = [acc, a, b].into_iter().map(|t| self.tile(t)).collect();
                let MatMulSizes { m, n, k } = sizes;
                let factors = match factors {
                    Factors::Own => String::new(),
                    Factors::Tf32 | Factors::Flushed => format!("{factors} "),
                };
                let team = match team {
                    Team::One => String::new(),
                    Team::Group => format!("{team} "),
                };
                put!(self, "matmul {team}{factors}({m}, {n}, {k}) {}", tiles.join(", "));
            }
            Op::For { low, high, step, kind, inits, body } => {
                let (variable, carried) = body.params.split_first().unwrap_or((&Value(0), &[]));
                put!(self, "for {variable} = {low} to {high}");
                if *step != 1 {
                    put!(self, " step {step}");
                }
                match kind {
                    LoopKind::Serial => {}
                    LoopKind::Unrolled => put!(self, " unrolled"),
                    LoopKind::Parallel(level) => put!(self, " parallel({level})"),
                }
                if !inits.is_empty() {
                    let pairs = carried.iter().zip(inits);
                    let pairs: Vec<String> =
                        pairs.map(|(inside, init)| format!("{inside} = {init}")).collect();
                    put!(self, " carry({})", pairs.join(", "));
                }
                self.braces(body, regions);
            }
            Op::If { condition, then, otherwise } => {
                put!(self, "if {condition}");
                self.braces(then, regions);
                if *otherwise != Region::default() {
                    put!(self, " else");
                    self.braces(otherwise, regions);
                }
            }
        }
    }

    /// `box_copy x[%1, 64*%2] of [128, 64 by 128] box [64, 64], left[0] by 64, full[%3]`
    fn box_copy(&mut self, copy: &BoxCopy) {
        let BoxCopy { from, map, at, to, to_at, pitch, arrives } = copy;
        let joined = |all: Vec<String>| all.join(", ");
        let at = joined(at.iter().map(|at| at.to_string()).collect());
        let extents = map.extents.iter().zip(&map.strides).enumerate();
        let extents = joined(
            extents.map(|(i, (e, s))| if i == 0 { e.to_string() } else { format!("{e} by {s}") }).collect(),
        );
        let sizes = joined(map.sizes.iter().map(i64::to_string).collect());
        let (from, to, arrives) = (self.name(*from), self.name(*to), self.phase_barrier(arrives));
        put!(self, "box_copy {from}[{at}] of [{extents}] box [{sizes}], {to}[{to_at}] by {pitch}, {arrives}");
    }

    fn phase_barrier(&self, barrier: &PhaseBarrier) -> String {
        format!("{}[{}]", self.name(barrier.mem), barrier.at)
    }

    fn braces(&mut self, region: &Region, regions: Regions) {
        if regions == Regions::Whole {
            put!(self, " {{\n");
            self.region(region);
            self.indent();
            put!(self, "}}");
        } else {
            put!(self, " {{ … }}");
        }
    }

    /// The name of a memory; of one that there is not, which the verifier reports, its number.
    fn name(&self, mem: Mem) -> String {
        let memory = self.kernel.memory.get(mem.0 as usize);
        memory.map_or_else(|| format!("<memory {}>", mem.0), |memory| literal::word(&memory.name))
    }

    fn place(&mut self, place: &Place) {
        let Place { mem, at, offset, guards, mask } = place;
        let name = self.name(*mem);
        put!(self, "{name}[{at}]");
        if let Some(offset) = offset {
            put!(self, " offset {offset}");
        }
        if !guards.is_empty() {
            put!(self, " where {}", guards_text(guards));
        }
        if let Some(mask) = mask {
            put!(self, " mask {mask}");
        }
    }

    fn temporality(&mut self, temporality: Temporality) {
        if temporality == Temporality::NonTemporal {
            put!(self, " nontemporal");
        }
    }

    fn tile(&self, tile: &Tile) -> String {
        let text = format!("{}[{}] by ({}, {})", self.name(tile.mem), tile.at, tile.row, tile.column);
        if tile.interleaved == 1 { text } else { format!("{text} interleaved {}", tile.interleaved) }
    }
}

/// Values with commas between.
fn list(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    values.join(", ")
}

fn guards_text(guards: &[crate::Guard]) -> String {
    let guards: Vec<String> = guards.iter().map(|g| g.to_string()).collect();
    guards.join(" and ")
}
