//! `dynamic_update_slice` as a kernel that writes into a copy of the operand. In loops that fill a tensor step by step the copy
//! goes ([`surject_cuda::in_place`](fn@surject_cuda::in_place)), and only the slice is written.
//!
//! Each thread writes one element of the update. Positions are clamped as StableHLO says; positions too large for 63 bits
//! are the last.

use surject_ir::{BinaryOp, DType, Function, Scalar, Var};
use surject_kernel::{Access, Affine, Builder, Guard, Kernel, Level, LoopKind, Mem, Place, Type, Value};

/// Threads of a block.
const THREADS: i64 = 128;

/// The kernel of an update at positions that are known at run time: `result[start + i] = update[i]`, in a result that is a
/// copy of the operand. It takes the update, the positions and the result. `None` where a size does not fit in 63 bits.
pub fn update(function: &Function, args: &[Var], name: &str) -> Option<Kernel> {
    let shapes = args.iter().map(|&var| shape(function, var)).collect::<Option<Vec<Shape>>>()?;
    let [operand, update, starts @ ..] = &shapes[..] else { return None };
    of(operand, update, starts, name)
}

/// The type of an operand.
struct Shape {
    dtype: DType,
    sizes: Vec<i64>,
}

fn shape(function: &Function, var: Var) -> Option<Shape> {
    let ty = function.ty(var);
    Some(Shape { dtype: ty.dtype, sizes: ty.space.sizes()? })
}

/// The elements of a tensor as a kernel has them: of a complex number there are two.
fn parts(shape: &Shape) -> i64 {
    if shape.dtype.is_complex() { 2 } else { 1 }
}

fn count(shape: &Shape) -> Option<i64> {
    shape.sizes.iter().try_fold(parts(shape), |n, &size| n.checked_mul(size))
}

/// How far neighbours along each axis are apart, in elements of a kernel.
fn strides(shape: &Shape) -> Option<Vec<i64>> {
    let mut strides = vec![parts(shape); shape.sizes.len()];
    for axis in (1..shape.sizes.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(shape.sizes[axis].max(1))?;
    }
    Some(strides)
}

/// A kernel that is being built: a thread for each of some points.
struct Points {
    b: Builder,
    /// The number of the point, which may be too large by less than a block.
    number: Affine,
    /// The coordinates of the point, and which part of its element this is.
    at: Vec<Affine>,
    part: Affine,
    inside: Vec<Guard>,
}

fn param(b: &mut Builder, name: &str, shape: &Shape, access: Access) -> Option<Mem> {
    Some(b.parameter(name, shape.dtype.part(), count(shape)?, access))
}

impl Points {
    /// The points of a tensor.
    fn of(mut b: Builder, shape: &Shape) -> Option<Points> {
        let all = count(shape)?;
        let blocks = all.checked_add(THREADS - 1)? / THREADS;
        let (block, _) = b.open_for(0, blocks, 1, LoopKind::Parallel(Level::Block), &[]);
        let (thread, _) = b.open_for(0, THREADS, 1, LoopKind::Parallel(Level::Thread), &[]);
        let number = Affine::from(block).times(THREADS)?.plus(&thread.into(), 1)?;
        let inside = vec![Guard { expr: number.clone(), bound: all.into() }];
        let mut rest = b.index(number.clone(), Type::index());
        let mut extents = shape.sizes.clone();
        extents.push(parts(shape));
        let mut at = Vec::new();
        for (axis, &extent) in extents.iter().enumerate().rev() {
            if extent == 1 {
                at.push(Affine::default());
                continue;
            }
            let by = b.splat(Scalar::from_i128(DType::I64, extent.into()), 1);
            // What is left for the first axis is its coordinate.
            if axis == 0 {
                at.push(rest.into());
            } else {
                at.push(b.binary(BinaryOp::Rem, rest, by).into());
                rest = b.binary(BinaryOp::Div, rest, by);
            }
        }
        at.reverse();
        let part = at.pop()?;
        Some(Points { b, number, at, part, inside })
    }

    /// A position that a tensor says, or the nearer end of a range; the last is not negative.
    fn start(
        &mut self,
        mem: Mem,
        at: Affine,
        dtype: DType,
        (first, last): (i64, i64),
        guards: Vec<Guard>,
    ) -> Value {
        let place = Place { guards, ..Place::new(mem, at) };
        let mut value = self.b.load(place, Type::scalar(dtype));
        if dtype == DType::U64 {
            let most = self.b.splat(Scalar::from_i128(dtype, last.into()), 1);
            value = self.b.binary(BinaryOp::Min, value, most);
        }
        let value = self.b.convert(value, DType::I64);
        let [first, last] = [first, last].map(|n| self.b.splat(Scalar::from_i128(DType::I64, n.into()), 1));
        let value = self.b.binary(BinaryOp::Max, value, first);
        self.b.binary(BinaryOp::Min, value, last)
    }

    /// The element of a tensor at a place that is partly known when the kernel is made.
    fn place(&mut self, mem: Mem, at: Affine, starts: &Affine) -> Place {
        let offset = starts.as_constant().is_none().then(|| self.b.index(starts.clone(), Type::index()));
        Place { offset, guards: self.inside.clone(), ..Place::new(mem, at) }
    }

    fn moved(mut self, from: Place, to: Place, dtype: DType) -> Kernel {
        let value = self.b.load(from, Type::scalar(dtype));
        self.b.store(to, value);
        self.b.finish()
    }
}

fn sum(terms: impl IntoIterator<Item = (Affine, i64)>) -> Option<Affine> {
    terms.into_iter().try_fold(Affine::default(), |sum, (term, factor)| sum.plus(&term, factor))
}

/// `result[start + i] = update[i]`, in a result that is a copy of the operand.
fn of(operand: &Shape, update: &Shape, starts: &[Shape], name: &str) -> Option<Kernel> {
    let mut b = Builder::new(name);
    let from = param(&mut b, "update", update, Access::Read)?;
    let indices = start_params(&mut b, starts)?;
    let to = param(&mut b, "out", operand, Access::Write)?;
    let mut points = Points::of(b, update)?;
    let moved = clamped(&mut points, (operand, &update.sizes), starts, &indices)?;
    let strides = strides(operand)?;
    let at = sum(points.at.clone().into_iter().zip(strides).chain([(points.part.clone(), 1)]))?;
    let from = points.place(from, points.number.clone(), &Affine::default());
    let to = points.place(to, at, &moved);
    Some(points.moved(from, to, update.dtype.part()))
}

fn start_params(b: &mut Builder, starts: &[Shape]) -> Option<Vec<Mem>> {
    starts.iter().enumerate().map(|(i, start)| param(b, &format!("start{i}"), start, Access::Read)).collect()
}

/// Where a slice of these sizes begins, as a number of elements.
fn clamped(
    points: &mut Points,
    (operand, sizes): (&Shape, &[i64]),
    starts: &[Shape],
    mems: &[Mem],
) -> Option<Affine> {
    let strides = strides(operand)?;
    let mut all = Vec::new();
    for (axis, (start, &mem)) in starts.iter().zip(mems).enumerate() {
        let last = operand.sizes[axis] - sizes.get(axis)?;
        // Where a slice has all of an axis, there is one position.
        if last > 0 {
            let start = points.start(mem, 0.into(), start.dtype, (0, last), Vec::new());
            all.push((start.into(), strides[axis]));
        }
    }
    sum(all)
}
