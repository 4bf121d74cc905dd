//! Which kernels are well formed.
//!
//! What a verified kernel may still do wrong depends on values: accesses out of bounds, races, barriers that not all
//! threads reach, reads of what nothing wrote. The interpreter finds these.

mod boxes;

use crate::{
    Affine, Factors, Guard, Kernel, Level, LoopKind, Mem, Op, Part, Place, Region, Source, Space, Statement,
    Team, Tile, Type, Value, print_statement,
};
use std::collections::HashSet;
use std::fmt;
use surject_ir::{AccOp, DType, Scalar};

/// Why a kernel is not well formed, and in which statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The name of the kernel.
    pub kernel: String,
    /// The statement, where one is to blame.
    pub statement: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.message)?;
        self.statement.as_ref().map_or(Ok(()), |statement| write!(f, "\n  in `{statement}`"))
    }
}

impl std::error::Error for VerifyError {}

/// Checks a kernel:
///
/// * Each value is defined once, before it is used, in a region around its use; memory likewise.
/// * Types fit: operands of one type where an operation asks for that, lanes, element types of memory, `i64` in
///   addresses. A lane in an expression needs lanes in what it addresses.
/// * Levels nest: a task stands alone, a block alone or as one of a grid inside of a block, a warp inside of a block, a thread inside of a block or a warp. Parallel loops
///   carry nothing. Memory of a level is made inside of a loop of that level and of none further in.
/// * A barrier with phases is an element of shared `i64` memory that nothing else uses; the block makes it, outside of its warps,
///   and warps wait there. A box that is copied is one that a machine can copy ([`crate::TensorMap::check`]).
/// * What is only read is not written, and the other way round. Registers and stacks are used by whoever made them.
pub fn verify(kernel: &Kernel) -> Result<(), VerifyError> {
    let mut verifier = Verifier {
        kernel,
        defined: HashSet::new(),
        ever: HashSet::new(),
        made: Vec::new(),
        levels: Vec::new(),
        phases: boxes::phases(&kernel.body),
    };
    verifier.kernel().map_err(|fault| VerifyError {
        kernel: kernel.name.clone(),
        statement: fault.statement,
        message: fault.message,
    })
}

/// What is wrong, and where.
struct Fault {
    statement: Option<String>,
    message: String,
}

type Checked = Result<(), Fault>;

fn fault(message: impl Into<String>) -> Checked {
    Err(Fault { statement: None, message: message.into() })
}

fn need(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { fault(message()) }
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Values that are defined at this place.
    defined: HashSet<Value>,
    /// Values that are defined anywhere so far.
    ever: HashSet<Value>,
    /// Memory that is made at this place, and inside of how many parallel loops.
    made: Vec<(Mem, usize)>,
    /// The parallel loops around this place.
    levels: Vec<Level>,
    /// The memory of barriers with phases.
    phases: HashSet<Mem>,
}

impl Verifier<'_> {
    fn kernel(&mut self) -> Checked {
        let kernel = self.kernel;
        for &size in &kernel.sizes {
            self.define(size)?;
            need(kernel.ty(size) == Type::index(), || format!("the size {size} is no i64"))?;
        }
        let mut names = HashSet::new();
        for memory in &kernel.memory {
            let name = &memory.name;
            need(names.insert(name), || format!("two memories are called `{name}`"))?;
            need(!memory.dtype.is_complex(), || format!("`{name}` has complex elements: they are two"))?;
        }
        for &param in &kernel.params {
            self.known(param)?;
            let memory = kernel.mem(param);
            need(memory.space == Space::Global, || format!("the parameter `{}` is not global", memory.name))?;
            self.affine(&memory.elements, 1)?;
            self.made.push((param, 0));
        }
        self.region(&kernel.body)?;
        need(kernel.body.yields.is_empty(), || "a kernel yields nothing".into())
    }

    fn known(&self, mem: Mem) -> Checked {
        need((mem.0 as usize) < self.kernel.memory.len(), || format!("there is no memory {}", mem.0))
    }

    fn define(&mut self, value: Value) -> Checked {
        need((value.0 as usize) < self.kernel.types.len(), || format!("{value} has no type"))?;
        let ty = self.kernel.ty(value);
        need(ty.lanes > 0 && !ty.dtype.is_complex(), || format!("no value has the type {ty}"))?;
        self.defined.insert(value);
        need(self.ever.insert(value), || format!("{value} is defined twice"))
    }

    /// The type of a value that is used here.
    fn ty(&self, value: Value) -> Result<Type, Fault> {
        if self.defined.contains(&value) {
            return Ok(self.kernel.ty(value));
        }
        fault(format!("{value} is not defined before its use")).map(|()| Type::index())
    }

    /// The types of what a region yields are those of the results.
    fn yields(&self, region: &Region, results: &[Value]) -> Checked {
        let found: Vec<Type> = region.yields.iter().map(|&v| self.kernel.ty(v)).collect();
        let wanted: Vec<Type> = results.iter().map(|&v| self.kernel.ty(v)).collect();
        need(found == wanted, || {
            let text = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            format!("a region yields ({}) where ({}) is expected", text(&found), text(&wanted))
        })
    }

    fn region(&mut self, region: &Region) -> Checked {
        let (defined, made) = (self.defined.clone(), self.made.len());
        region.params.iter().try_for_each(|&p| self.define(p))?;
        for statement in &region.body {
            self.statement(statement).map_err(|mut fault| {
                fault.statement.get_or_insert_with(|| print_statement(self.kernel, statement));
                fault
            })?;
        }
        region.yields.iter().try_for_each(|&v| self.ty(v).map(|_| ()))?;
        self.defined = defined;
        self.made.truncate(made);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Checked {
        let Statement { results, op } = statement;
        let mut checked = Ok(());
        op.parts(&mut |part| {
            if checked.is_ok() {
                checked = match part {
                    Part::Value(&value) => self.ty(value).map(|_| ()),
                    Part::Mem(&mem) => self.known(mem),
                    Part::Affine(_) | Part::Region(_) => Ok(()),
                };
            }
        });
        checked?;
        let types: Vec<Type> = results
            .iter()
            .map(|&v| self.kernel.types.get(v.0 as usize).copied())
            .collect::<Option<_>>()
            .unwrap_or_default();
        need(types.len() == results.len(), || "a result has no type".into())?;
        match op {
            Op::For { .. } | Op::If { .. } => self.control(statement)?,
            _ => match (results.len(), self.effect(op)?) {
                (0, None) => {}
                (0, Some(_)) => return fault("the result has no name"),
                (1, Some(wanted)) => {
                    need(wanted.fits(types[0]), || format!("the result is {}, not {}", wanted, types[0]))?;
                    self.with_result(op, types[0])?;
                }
                (_, wanted) => {
                    let count = usize::from(wanted.is_some());
                    return fault(format!(
                        "there are {} results where there should be {count}",
                        results.len()
                    ));
                }
            },
        }
        results.iter().try_for_each(|&v| self.define(v))
    }

    /// Checks a statement without regions; gives what its result must be, if it has one.
    /// It is long because it is flat: one arm an operation.
    fn effect(&mut self, op: &Op) -> Result<Option<Wanted>, Fault> {
        use Wanted::{Any, Exact, Of};
        let exact = |ty| Ok(Some(Exact(ty)));
        match op {
            Op::Splat(value) => Ok(Some(Of(value.dtype()))),
            Op::Constant(values) => {
                let Some(first) = values.first() else { return none("a constant without elements") };
                need(values.iter().all(|v| v.dtype() == first.dtype()), || {
                    "elements of several types".into()
                })?;
                exact(Type::vector(first.dtype(), values.len()))
            }
            Op::Index(_) | Op::Holds(_) | Op::Load { .. } => Ok(Some(Any)),
            Op::Unary(op, x) => {
                let ty = self.ty(*x)?;
                match op.result(ty.dtype) {
                    Some(dtype) => exact(ty.with(dtype)),
                    None => none(format!("`{op}` is not defined for {}", ty.dtype)),
                }
            }
            Op::Binary(op, x, y) => {
                let ty = self.same(&[*x, *y])?;
                match op.result(ty.dtype, ty.dtype) {
                    Some(dtype) if !dtype.is_complex() => exact(ty.with(dtype)),
                    _ => none(format!("`{op}` is not defined for {}", ty.dtype)),
                }
            }
            Op::Fma(x, y, z) => {
                let ty = self.same(&[*x, *y, *z])?;
                // Of narrower floats it would be rounded twice.
                let fits = matches!(ty.dtype, DType::F32 | DType::F64);
                need(fits, || format!("`fma` is not defined for {}", ty.dtype))?;
                exact(ty)
            }
            Op::Select(c, x, y) => {
                let (condition, ty) = (self.ty(*c)?, self.same(&[*x, *y])?);
                need(condition == ty.with(DType::I1), || {
                    format!("a condition of type {condition} for {ty}")
                })?;
                exact(ty)
            }
            Op::Convert(x) | Op::Bitcast(x) | Op::ReducePrecision(_, _, x) => {
                Ok(Some(Wanted::Lanes(self.ty(*x)?.lanes)))
            }
            Op::Broadcast(x) => {
                let ty = self.ty(*x)?;
                need(ty.lanes == 1, || "only a scalar is broadcast".into())?;
                Ok(Some(Of(ty.dtype)))
            }
            Op::Shuffle(x, y, order) => {
                let (a, b) = (self.ty(*x)?, self.ty(*y)?);
                need(a.dtype == b.dtype, || format!("lanes of {a} and of {b}"))?;
                let most = a.lanes + b.lanes;
                need(!order.is_empty() && order.iter().all(|&l| l < most), || {
                    format!("there are {most} lanes")
                })?;
                exact(Type::vector(a.dtype, order.len()))
            }
            Op::Extract(x, lane) => {
                let ty = self.ty(*x)?;
                need(*lane < ty.lanes, || format!("there are {} lanes", ty.lanes))?;
                exact(Type::scalar(ty.dtype))
            }
            Op::Insert(x, lane, scalar) => {
                let (ty, scalar) = (self.ty(*x)?, self.ty(*scalar)?);
                need(*lane < ty.lanes, || format!("there are {} lanes", ty.lanes))?;
                need(scalar == Type::scalar(ty.dtype), || format!("a lane of {ty} gets {scalar}"))?;
                exact(ty)
            }
            Op::Lookup(x, y, at) => {
                let (table, at) = (self.same(&[*x, *y])?, self.ty(*at)?);
                need((2 * table.lanes).is_power_of_two(), || format!("a table of 2 x {table}"))?;
                need(at.dtype.is_int(), || format!("the number of a lane is {at}"))?;
                exact(at.with(table.dtype))
            }
            Op::Scale(x, n) => {
                let ty = self.same(&[*x, *n])?;
                need(matches!(ty.dtype, DType::F32 | DType::F64), || format!("{ty} is scaled"))?;
                exact(ty)
            }
            Op::ReduceLanes(op, x) => {
                let ty = self.ty(*x)?;
                joins(*op, ty.dtype)?;
                exact(Type::scalar(ty.dtype))
            }
            Op::Exchange(source, x) => {
                need(self.levels.last() == Some(&Level::Thread), || "only threads exchange values".into())?;
                if let Source::Thread(thread) = source {
                    let ty = self.ty(*thread)?;
                    need(ty.lanes == 1 && ty.dtype.is_int(), || format!("a thread's number is {ty}"))?;
                }
                exact(self.ty(*x)?)
            }
            Op::Store { place, value, .. } => self.writes(place, *value, "stored").map(|()| None),
            Op::Atomic { op, place, value } => {
                joins(*op, self.ty(*value)?.dtype)?;
                self.writes(place, *value, "joined")?;
                self.readable(place.mem)?;
                Ok(None)
            }
            Op::Alloc(mem) => self.alloc(*mem).map(|()| None),
            Op::Prefetch { mem, at, .. } => {
                self.visible(*mem)?;
                self.affine(at, 1)?;
                Ok(None)
            }
            Op::AsyncCopy { from, to, elements } => {
                need(*elements > 0, || "nothing is copied".into())?;
                for (place, how) in [(from, "read"), (to, "written")] {
                    self.place(place, 1)?;
                    need(place.mask.is_none(), || format!("what is {how} in the background has no mask"))?;
                }
                self.readable(from.mem)?;
                self.writable(to.mem)?;
                let (a, b) = (self.kernel.mem(from.mem).dtype, self.kernel.mem(to.mem).dtype);
                need(a == b, || format!("a copy from {a} to {b}"))?;
                Ok(None)
            }
            Op::AsyncCommit | Op::AsyncWait(_) => Ok(None),
            Op::BoxCopy(copy) => self.box_copy(copy).map(|()| None),
            Op::Phase(barrier, how) => self.phase(barrier, how).map(|()| None),
            Op::Barrier(level) => {
                need(matches!(level, Level::Block | Level::Warp), || {
                    format!("there is no barrier of a {level}")
                })?;
                let inside = self.levels.iter().rposition(|l| l == level);
                need(inside.is_some_and(|at| at + 1 < self.levels.len()), || {
                    format!("a barrier of a {level} stands inside of a loop of its threads")
                })?;
                Ok(None)
            }
            Op::MatMul { sizes, factors, team, acc, a, b } => {
                need(self.levels.last() != Some(&Level::Thread), || {
                    "a thread alone multiplies no matrices".into()
                })?;
                for tile in [acc, a, b] {
                    self.tile(tile)?;
                }
                self.writable(acc.mem)?;
                need(
                    *team == Team::One || self.levels.last() == Some(&Level::Warp) && sizes.m == 16,
                    || format!("a product by four warps of {} rows each; each warp has 16", sizes.m),
                )?;
                let types = [a, b].map(|t| self.kernel.mem(t.mem).dtype);
                let bytes = |t: DType| matches!(t, DType::I8 | DType::U8);
                need(types[0] == types[1] || types.into_iter().all(bytes), || {
                    format!("a product of {} and {}", types[0], types[1])
                })?;
                let sum = self.kernel.mem(acc.mem).dtype;
                let rounds = *factors == Factors::Tf32;
                need(!rounds || [types[0], sum] == [DType::F32; 2], || {
                    format!("a product of tf32 with operands of {} and sums of {sum}, not of f32", types[0])
                })?;
                Ok(None)
            }
            Op::For { .. } | Op::If { .. } => Ok(None),
        }
    }

    /// What depends on the type of the result.
    fn with_result(&self, op: &Op, ty: Type) -> Checked {
        match op {
            Op::Index(affine) => {
                need(ty.dtype.is_int(), || format!("an index is no {ty}"))?;
                self.affine(affine, ty.lanes)
            }
            Op::Holds(guards) => {
                need(ty.dtype == DType::I1, || format!("whether guards hold is no {ty}"))?;
                self.guards(guards, ty.lanes)
            }
            Op::Load { place, fill, .. } => {
                self.place(place, ty.lanes)?;
                self.readable(place.mem)?;
                let dtype = self.kernel.mem(place.mem).dtype;
                need(dtype == ty.dtype, || format!("elements of {dtype} are loaded as {ty}"))?;
                need(fill.dtype() == dtype, || format!("{dtype} is filled with {}", fill.dtype()))
            }
            Op::Bitcast(x) => {
                let from = self.ty(*x)?.dtype;
                need(from.bits() == ty.dtype.bits(), || {
                    format!("{from} has not as many bits as {}", ty.dtype)
                })
            }
            Op::ReducePrecision(exponent, mantissa, x) => {
                let from = self.ty(*x)?;
                need(from == ty, || format!("{from} becomes {ty}"))?;
                let zero = Scalar::zero(ty.dtype);
                need(surject_ir::eval::reduce_precision(*exponent, *mantissa, zero).is_some(), || {
                    format!("{ty} has no such precision")
                })
            }
            _ => Ok(()),
        }
    }

    fn same(&self, values: &[Value]) -> Result<Type, Fault> {
        let types: Vec<Type> = values.iter().map(|&v| self.ty(v)).collect::<Result<_, _>>()?;
        match types.iter().find(|t| **t != types[0]) {
            None => Ok(types[0]),
            Some(other) => fault(format!("operands of {} and {other}", types[0])).map(|()| types[0]),
        }
    }

    fn writes(&self, place: &Place, value: Value, how: &str) -> Checked {
        let (ty, dtype) = (self.ty(value)?, self.kernel.mem(place.mem).dtype);
        need(ty.dtype == dtype, || format!("{ty} is {how} where elements are {dtype}"))?;
        self.place(place, ty.lanes)?;
        self.writable(place.mem)
    }

    fn readable(&self, mem: Mem) -> Checked {
        self.visible(mem)?;
        self.no_barrier(mem)?;
        let memory = self.kernel.mem(mem);
        need(memory.access.reads(), || format!("`{}` is only written", memory.name))
    }

    fn writable(&self, mem: Mem) -> Checked {
        self.visible(mem)?;
        self.no_barrier(mem)?;
        let memory = self.kernel.mem(mem);
        need(memory.access.writes(), || format!("`{}` is only read", memory.name))
    }

    /// Does the memory exist here, and may whoever is here use it?
    fn visible(&self, mem: Mem) -> Checked {
        let memory = self.kernel.mem(mem);
        match self.made.iter().find(|m| m.0 == mem) {
            None => fault(format!("`{}` does not exist here", memory.name)),
            Some((_, depth)) => {
                let own = matches!(memory.space, Space::Register | Space::Stack);
                need(!own || *depth == self.levels.len(), || {
                    format!("`{}` belongs to whoever is outside of this parallel loop", memory.name)
                })
            }
        }
    }

    fn alloc(&mut self, mem: Mem) -> Checked {
        let memory = self.kernel.mem(mem);
        need(!self.made.iter().any(|m| m.0 == mem), || format!("`{}` is made twice", memory.name))?;
        let level = self.levels.last();
        let fits = match memory.space {
            Space::Global => return fault("global memory is a parameter"),
            Space::Worker => level == Some(&Level::Task),
            Space::Shared => level == Some(&Level::Block),
            Space::Stack | Space::Register => true,
        };
        need(fits, || format!("{} memory is not made here", memory.space))?;
        self.affine(&memory.elements, 1)?;
        self.made.push((mem, self.levels.len()));
        Ok(())
    }

    fn affine(&self, affine: &Affine, lanes: usize) -> Checked {
        for value in affine.values() {
            let ty = self.ty(value)?;
            need(ty == Type::index(), || format!("{value} is {ty}; addresses are of i64"))?;
        }
        need(affine.lane == 0 || lanes > 1, || "there is one lane, and `lane` in an expression".into())
    }

    fn guards(&self, guards: &[Guard], lanes: usize) -> Checked {
        guards.iter().try_for_each(|g| {
            self.affine(&g.expr, lanes)?;
            self.affine(&g.bound, lanes)
        })
    }

    fn place(&self, place: &Place, lanes: usize) -> Checked {
        self.visible(place.mem)?;
        self.affine(&place.at, lanes)?;
        self.guards(&place.guards, lanes)?;
        if let Some(offset) = place.offset {
            let ty = self.ty(offset)?;
            need(ty.dtype.is_int() && [1, lanes].contains(&ty.lanes), || format!("an offset of type {ty}"))?;
        }
        if let Some(mask) = place.mask {
            let ty = self.ty(mask)?;
            need(ty == Type::vector(DType::I1, lanes), || format!("a mask of type {ty} for {lanes} lanes"))?;
        }
        Ok(())
    }

    fn tile(&self, tile: &Tile) -> Checked {
        need(tile.interleaved > 0, || "the rows of a matrix are interleaved by 1 or more".into())?;
        self.affine(&tile.at, 1)?;
        self.readable(tile.mem)
    }

    fn control(&mut self, statement: &Statement) -> Checked {
        match &statement.op {
            Op::For { low, high, step, kind, inits, body } => {
                self.affine(low, 1)?;
                self.affine(high, 1)?;
                need(*step > 0, || "the step of a loop is positive".into())?;
                need(body.params.len() == inits.len() + 1, || {
                    format!("a loop that carries {} values has {} parameters", inits.len(), body.params.len())
                })?;
                let variable = body.params.first().and_then(|v| self.kernel.types.get(v.0 as usize));
                need(variable == Some(&Type::index()), || "the variable of a loop is an i64".into())?;
                for (&init, &param) in inits.iter().zip(&body.params[1..]) {
                    let (outside, inside) = (self.ty(init)?, self.kernel.types.get(param.0 as usize));
                    need(inside == Some(&outside), || {
                        format!("{param} is carried, and begins as {outside}")
                    })?;
                }
                match kind {
                    LoopKind::Parallel(level) => {
                        need(inits.is_empty(), || "a parallel loop carries nothing".into())?;
                        let fits = matches!(
                            (self.levels.last(), level),
                            (None, Level::Task | Level::Block)
                                | (Some(Level::Block), Level::Block | Level::Warp | Level::Thread)
                                | (Some(Level::Warp), Level::Thread)
                        );
                        need(fits, || match self.levels.last() {
                            None => format!("a loop over {level}s stands inside of one over blocks"),
                            Some(outer) => format!("a loop over {level}s inside of one over {outer}s"),
                        })?;
                        self.levels.push(*level);
                    }
                    LoopKind::Unrolled => {
                        let known = low.as_constant().is_some() && high.as_constant().is_some();
                        need(known, || "the bounds of an unrolled loop are numbers".into())?;
                    }
                    LoopKind::Serial => {}
                }
                self.region(body)?;
                if matches!(kind, LoopKind::Parallel(_)) {
                    self.levels.pop();
                }
                self.yields(body, &statement.results)?;
                need(inits.len() == statement.results.len(), || {
                    format!(
                        "a loop that carries {} values has {} results",
                        inits.len(),
                        statement.results.len()
                    )
                })
            }
            Op::If { condition, then, otherwise } => {
                let ty = self.ty(*condition)?;
                need(ty == Type::scalar(DType::I1), || format!("a condition of type {ty}"))?;
                for region in [then, otherwise] {
                    need(region.params.is_empty(), || "a side of an `if` has parameters".into())?;
                    self.region(region)?;
                    self.yields(region, &statement.results)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// What a result must be.
enum Wanted {
    /// This type.
    Exact(Type),
    /// Any number of these elements.
    Of(DType),
    /// So many lanes of anything.
    Lanes(usize),
    /// Anything.
    Any,
}

impl Wanted {
    fn fits(&self, ty: Type) -> bool {
        match self {
            Wanted::Exact(wanted) => *wanted == ty,
            Wanted::Of(dtype) => *dtype == ty.dtype,
            Wanted::Lanes(lanes) => *lanes == ty.lanes,
            Wanted::Any => true,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Exact(ty) => write!(f, "{ty}"),
            Wanted::Of(dtype) => write!(f, "of {dtype}"),
            Wanted::Lanes(lanes) => write!(f, "of {lanes} lanes"),
            Wanted::Any => f.write_str("anything"),
        }
    }
}

fn none(message: impl Into<String>) -> Result<Option<Wanted>, Fault> {
    fault(message).map(|()| None)
}

/// Can elements be joined with this operator?
fn joins(op: AccOp, dtype: DType) -> Checked {
    let zero = Scalar::zero(dtype);
    need(op != AccOp::Set && surject_ir::eval::acc(op, zero, zero).is_some(), || {
        format!("`{op}` joins no elements of {dtype}")
    })
}
