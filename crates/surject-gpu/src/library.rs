//! Library operations as kernels: slices and gathers at positions that other tensors say, and what joins elements by a region
//! ([`joined`]).
//!
//! Each thread makes one element, and neighbours in the result are neighbours in a warp. Positions are clamped as
//! StableHLO says (`dynamic_slice`, `dynamic_update_slice`, `gather`); positions too large for 63 bits are the last.

pub(crate) mod joined;
mod region;

use surject_codegen::CodegenError;
use surject_ir::{BinaryOp, DType, Function, GatherDims, LibOp, Region, Scalar};
use surject_kernel::{Access, Affine, Builder, Guard, Kernel, Level, LoopKind, Mem, Place, Type, Value};

/// Threads of a block.
const THREADS: i64 = 128;

/// The type of an operand or the result.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The type of its elements.
    pub dtype: DType,
    /// Its sizes.
    pub sizes: Vec<i64>,
}

/// How a library operation is done on a device.
#[derive(Clone, Debug)]
pub enum Form {
    /// By a kernel that takes the operands and the results.
    Kernel(Kernel),
    /// By a kernel that writes into a copy of the first operand; it takes the other operands and the result.
    Update(Kernel),
    /// The bytes of the operand are those of the result.
    Copy,
}

/// A library operation.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The function that it stands in, whose fields its regions have.
    pub function: &'a Function,
    /// The operation.
    pub op: &'a LibOp,
    /// Its regions.
    pub regions: &'a [Region],
    /// The types of its operands.
    pub args: &'a [Shape],
    /// The types of its results.
    pub results: &'a [Shape],
}

/// How an operation is done by a kernel of this name; `None`: not on a device.
pub fn form(call: &Call<'_>, name: &str) -> Result<Option<Form>, CodegenError> {
    let op = call.op;
    if let LibOp::Reduce { axes } = op {
        return Ok(joined::reduce(call, axes, name).map(Form::Kernel));
    }
    if let LibOp::Scatter { dims, .. } = op {
        return Ok(joined::scatter(call, dims, name).map(Form::Update));
    }
    let [result] = call.results else { return Ok(None) };
    let form = match (op, call.args) {
        (LibOp::DynamicSlice { sizes }, [operand, starts @ ..]) if starts.len() == operand.sizes.len() => {
            let sizes: Vec<i64> = sizes.iter().map(|&n| n as i64).collect();
            slice(operand, starts, result, &sizes, name).map(Form::Kernel)
        }
        (LibOp::DynamicUpdateSlice, [operand, update, starts @ ..])
            if starts.len() == operand.sizes.len() =>
        {
            self::update(operand, update, starts, name).map(Form::Update)
        }
        (LibOp::Gather { dims, slice_sizes, .. }, [operand, indices]) => {
            gather(operand, indices, result, (dims, slice_sizes), name).map(Form::Kernel)
        }
        (LibOp::BitcastReshape { .. }, [_]) => Some(Form::Copy),
        _ => return Ok(None),
    };
    form.map(Some).ok_or_else(|| CodegenError::Overflow { what: format!("`{name}`, a {}", op.name()) })
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

/// `result[i] = operand[start + i]`.
fn slice(operand: &Shape, starts: &[Shape], result: &Shape, sizes: &[i64], name: &str) -> Option<Kernel> {
    let mut b = Builder::new(name);
    let from = param(&mut b, "operand", operand, Access::Read)?;
    let indices = start_params(&mut b, starts)?;
    let to = param(&mut b, "out", result, Access::Write)?;
    let mut points = Points::of(b, result)?;
    let moved = clamped(&mut points, (operand, sizes), starts, &indices)?;
    let strides = strides(operand)?;
    let at = sum(points.at.clone().into_iter().zip(strides).chain([(points.part.clone(), 1)]))?;
    let from = points.place(from, at, &moved);
    let to = points.place(to, points.number.clone(), &Affine::default());
    Some(points.moved(from, to, result.dtype.part()))
}

/// `result[start + i] = update[i]`, in a result that is a copy of the operand.
fn update(operand: &Shape, update: &Shape, starts: &[Shape], name: &str) -> Option<Kernel> {
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

/// `result[batch, offset] = operand[start(batch) + offset]`.
fn gather(
    operand: &Shape,
    indices: &Shape,
    result: &Shape,
    (dims, slice): (&GatherDims, &[u64]),
    name: &str,
) -> Option<Kernel> {
    let mut b = Builder::new(name);
    let from = param(&mut b, "operand", operand, Access::Read)?;
    let mem = param(&mut b, "indices", indices, Access::Read)?;
    let to = param(&mut b, "out", result, Access::Write)?;
    let mut points = Points::of(b, result)?;
    let rank = result.sizes.len();
    let batch: Vec<Affine> =
        (0..rank).filter(|d| !dims.offset_dims.contains(d)).map(|d| points.at[d].clone()).collect();
    let (operand_strides, index_strides) = (strides(operand)?, strides(indices)?);
    let vector = dims.index_vector_dim;
    // Without an axis of its own, an index is a vector of one.
    let own_axis = vector < indices.sizes.len();
    let batch_axes: Vec<usize> = (0..indices.sizes.len()).filter(|&d| d != vector).collect();
    let mut starts = Vec::new();
    for (d, &axis) in dims.start_index_map.iter().enumerate() {
        let last = operand.sizes.get(axis)? - i64::try_from(*slice.get(axis)?).ok()?;
        if last <= 0 {
            continue;
        }
        let of_batch = batch.iter().cloned().zip(batch_axes.iter().map(|&a| index_strides[a]));
        let mut at = sum(of_batch)?;
        if own_axis {
            at = at.plus(&Affine::from(i64::try_from(d).ok()?), index_strides[vector])?;
        }
        let guards = points.inside.clone();
        let start = points.start(mem, at, indices.dtype, (0, last), guards);
        starts.push((start.into(), operand_strides[axis]));
    }
    let slice_dims = (0..operand.sizes.len())
        .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d));
    let offsets = dims.offset_dims.iter().zip(slice_dims);
    let mut at: Vec<(Affine, i64)> = offsets
        .map(|(&d, axis)| Some((points.at.get(d)?.clone(), operand_strides[axis])))
        .collect::<Option<_>>()?;
    for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
        at.push((batch.get(d - usize::from(d >= vector))?.clone(), operand_strides[axis]));
    }
    at.push((points.part.clone(), 1));
    let from = points.place(from, sum(at)?, &sum(starts)?);
    let to = points.place(to, points.number.clone(), &Affine::default());
    Some(points.moved(from, to, result.dtype.part()))
}
