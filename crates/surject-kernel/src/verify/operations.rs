//! Operations: their operands, and what their results must be.

use super::{Checked, Fault, Verifier, fault, need};
use crate::{Factors, Level, Op, Source, Team, Type, Value};
use std::fmt;
use surject_ir::{AccOp, DType, Scalar};

impl Verifier<'_> {
    /// Checks a statement without regions; gives what its result must be, if it has one.
    /// It is long because it is flat: one arm an operation.
    pub(super) fn effect(&mut self, op: &Op) -> Result<Option<Wanted>, Fault> {
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
    pub(super) fn with_result(&self, op: &Op, ty: Type) -> Checked {
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

    pub(super) fn same(&self, values: &[Value]) -> Result<Type, Fault> {
        let types: Vec<Type> = values.iter().map(|&v| self.ty(v)).collect::<Result<_, _>>()?;
        match types.iter().find(|t| **t != types[0]) {
            None => Ok(types[0]),
            Some(other) => fault(format!("operands of {} and {other}", types[0])).map(|()| types[0]),
        }
    }
}

/// What a result must be.
pub(super) enum Wanted {
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
    pub(super) fn fits(&self, ty: Type) -> bool {
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
