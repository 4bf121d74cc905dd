//! Moves to and from positions that are known at run time.

use crate::CodegenError;
use crate::code::{Op, Value};
use crate::expression::dag::Dag;
use crate::library::{Call, Writer, strides};
use crate::lower::emit::ScopeId;
use crate::lower::kernel::Kernel;
use crate::lower::units::share_of_task;
use crate::machine::elem::Elem;
use surject_ir::{DType, GatherDims, Var};

/// Parts of a move for every thread, at least, where there are so many.
const PARTS: i64 = 8;

/// A move of a box of elements.
struct Move<'a> {
    extents: &'a [i64],
    from: (Value, Value, &'a [i64]),
    to: (Value, Value, &'a [i64]),
    dtype: DType,
}

/// The copies that a move is made of.
struct Runs {
    /// The outer axes that they are numbered by.
    axes: usize,
    /// The elements of each.
    length: i64,
}

impl Move<'_> {
    /// The copies of a move: the trailing axes that are contiguous on both sides are one.
    fn runs(&self) -> Runs {
        let (mut outer, mut run) = (self.extents.len(), 1i64);
        while outer > 0 {
            let axis = outer - 1;
            let same = self.from.2[axis] == run && self.to.2[axis] == run;
            if !same && self.extents[axis] != 1 {
                break;
            }
            run *= self.extents[axis];
            outer = axis;
        }
        Runs { axes: outer, length: run }
    }
}

impl Call<'_> {
    /// How many of some loops the tasks share: as few as there are parts enough in, so that little is divided.
    fn shared(&self, extents: &[i64]) -> usize {
        let enough = |loops: &usize| extents[..*loops].iter().product::<i64>() >= PARTS * self.threads as i64;
        (1..extents.len()).find(enough).unwrap_or(extents.len())
    }
}

impl Writer<'_> {
    /// Moves a box: pointers, addresses of its first element and strides on both sides. The trailing axes that are
    /// contiguous on both sides are one copy.
    fn move_box(&mut self, scope: ScopeId, step: &Move<'_>) {
        let Runs { axes: outer, length: run } = step.runs();
        let loops = self.nest(scope, &step.extents[..outer]);
        let inner = loops.last().map_or(scope, |l| l.scope);
        let (mut from, mut to) = (step.from.1, step.to.1);
        for (axis, l) in loops.iter().enumerate() {
            from = self.scaled(inner, from, l.iv, step.from.2[axis]);
            to = self.scaled(inner, to, l.iv, step.to.2[axis]);
        }
        let size = step.dtype.size() as i64;
        let [from, to] = self.places(inner, step, [from, to]);
        if run == 1 && size <= 8 {
            let elem = [Elem::I8, Elem::I16, Elem::I32].into_iter().find(|e| e.size() as i64 == size);
            let ty = elem.unwrap_or(Elem::I64).ty(1);
            let value = self.em.op(inner, Op::aligned_load(from, ty, 1));
            self.em.run(inner, Op::aligned_store(value, to, ty, 1));
        } else {
            self.copy(inner, to, from, run * size);
        }
        self.close(loops, &[], &[], Vec::new());
    }

    /// Where elements of a move lie that have these addresses, on both sides.
    fn places(&mut self, scope: ScopeId, step: &Move<'_>, addresses: [Value; 2]) -> [Value; 2] {
        let bytes = self.em.int(step.dtype.size() as i64);
        [(step.from.0, addresses[0]), (step.to.0, addresses[1])].map(|(pointer, address)| {
            let offset = self.arith(scope, "arith.muli", address, bytes);
            self.element(scope, pointer, offset, Elem::I8)
        })
    }

    /// The share of a task in the move of a box; gives the number of tasks. They share the outermost axes, or the one run
    /// that there is.
    fn move_share(&mut self, call: &Call<'_>, step: &Move<'_>) -> i64 {
        let root = self.root();
        let Runs { axes: outer, length: run } = step.runs();
        let size = step.dtype.size() as i64;
        let bytes = step.extents.iter().product::<i64>().saturating_mul(size);
        if outer == 0 {
            let tasks = call.tasks(bytes, run);
            if tasks == 1 {
                self.move_box(root, step);
                return 1;
            }
            let [low, high] = share_of_task(&mut self.em, run, tasks);
            let addresses = [step.from.1, step.to.1].map(|first| self.add(root, first, low));
            let [from, to] = self.places(root, step, [addresses[0], addresses[1]]);
            let (count, bytes) = (self.arith(root, "arith.subi", high, low), self.em.int(size));
            let bytes = self.arith(root, "arith.muli", count, bytes);
            self.copy_all(root, to, from, bytes);
            return tasks;
        }
        let axes = call.shared(&step.extents[..outer]);
        let (open, digits, tasks) = self.share(call, &step.extents[..axes], bytes);
        let [from, to] = [step.from, step.to].map(|(_, first, strides)| {
            let mut address = first;
            for (digit, &stride) in digits.iter().zip(strides) {
                address = self.scaled(open.scope, address, *digit, stride);
            }
            address
        });
        let part = Move {
            extents: &step.extents[axes..],
            from: (step.from.0, from, &step.from.2[axes..]),
            to: (step.to.0, to, &step.to.2[axes..]),
            dtype: step.dtype,
        };
        self.move_box(open.scope, &part);
        self.close(vec![open], &[], &[], Vec::new());
        tasks
    }

    /// The clamped starts of a slice of these sizes, from scalar operands.
    fn clamped(
        &mut self,
        call: &Call<'_>,
        starts: &[Var],
        shape: &[i64],
        size: &[i64],
    ) -> Result<Vec<Value>, CodegenError> {
        let root = self.root();
        let mut result = Vec::new();
        for (axis, &start) in starts.iter().enumerate().take(shape.len()) {
            let (pointer, zero) = (self.pointer(start)?, self.em.int(0));
            let value = self.index(root, pointer, call.dtype(start), zero)?;
            result.push(self.clamp(root, value, shape[axis] - size[axis]));
        }
        if result.len() < shape.len() {
            return Err(CodegenError::malformed("a slice with too few starts"));
        }
        Ok(result)
    }
}

pub fn dynamic_slice(call: &Call<'_>) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (operand, target) = (call.arg(0)?, call.target()?);
    let (shape, sizes) = (call.sizes(operand)?, call.sizes(target)?);
    let starts = w.clamped(call, &call.args[1..], &shape, &sizes)?;
    let root = w.root();
    let base = w.address(root, &starts, &strides(&shape));
    let (from, to, zero) = (w.pointer(operand)?, w.pointer(target)?, w.em.int(0));
    let step = Move {
        extents: &sizes,
        from: (from, base, &strides(&shape)),
        to: (to, zero, &strides(&sizes)),
        dtype: call.dtype(target),
    };
    let tasks = w.move_share(call, &step);
    call.finish(w, tasks, format!("dynamic_slice tasks {tasks}"))
}

/// Where the target has what is not updated from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// It is copied from the operand.
    Copied,
    /// The target has the memory of the operand.
    InPlace,
}

pub fn dynamic_update_slice(call: &Call<'_>, rest: Rest) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (operand, update, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
    let (shape, sizes, dtype) = (call.sizes(operand)?, call.sizes(update)?, call.dtype(target));
    let starts = w.clamped(call, &call.args[2..], &shape, &sizes)?;
    let root = w.root();
    let (old, from, to, zero) = (w.pointer(operand)?, w.pointer(update)?, w.pointer(target)?, w.em.int(0));
    let mut tasks = 1;
    if rest == Rest::Copied {
        w.copy(root, to, old, shape.iter().product::<i64>() * dtype.size() as i64);
    }
    if !sizes.contains(&0) {
        let base = w.address(root, &starts, &strides(&shape));
        let step = Move {
            extents: &sizes,
            from: (from, zero, &strides(&sizes)),
            to: (to, base, &strides(&shape)),
            dtype,
        };
        match rest {
            Rest::InPlace => tasks = w.move_share(call, &step),
            Rest::Copied => w.move_box(root, &step),
        }
    }
    let kind = if rest == Rest::InPlace { " in place" } else { "" };
    call.finish(w, tasks, format!("dynamic_update_slice{kind} tasks {tasks}"))
}

/// The address of a component of an index vector: batch digits with the component put in its place.
pub(super) fn component(
    w: &mut Writer<'_>,
    scope: ScopeId,
    batch: &[Value],
    d: usize,
    vector_dim: usize,
    shape: &[i64],
) -> Value {
    let mut position = batch.to_vec();
    if vector_dim < shape.len() {
        let d = w.em.int(d as i64);
        position.insert(vector_dim.min(position.len()), d);
    }
    w.address(scope, &position, &strides(shape))
}

/// A gather of complex numbers; others are kernels of rows ([`crate::gather`]).
pub fn gather(call: &Call<'_>, dims: &GatherDims, slice: &[u64]) -> Result<Kernel, CodegenError> {
    let (operand, indices, target) = (call.arg(0)?, call.arg(1)?, call.target()?);
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (shape, index_shape, sizes) = (call.sizes(operand)?, call.sizes(indices)?, call.sizes(target)?);
    let slice: Vec<i64> = slice.iter().map(|&n| n as i64).collect();
    let (own, out) = (strides(&shape), strides(&sizes));
    let bytes = sizes.iter().product::<i64>() * call.dtype(target).size() as i64;
    let axes: Vec<usize> = (0..sizes.len()).filter(|d| !dims.offset_dims.contains(d)).collect();
    let [extents, strides_of_batch] =
        [&sizes, &out].map(|of| axes.iter().map(|&d| of[d]).collect::<Vec<_>>());
    let (open, batch, tasks) = w.share(call, &extents, bytes);
    let scope = open.scope;
    let (from, to, index) = (w.pointer(operand)?, w.pointer(target)?, w.pointer(indices)?);
    // Where the slice begins.
    let mut base = w.em.int(0);
    for (d, &axis) in dims.start_index_map.iter().enumerate() {
        let address = component(&mut w, scope, &batch, d, dims.index_vector_dim, &index_shape);
        let start = w.index(scope, index, call.dtype(indices), address)?;
        let start = w.clamp(scope, start, shape[axis] - slice[axis]);
        base = w.scaled(scope, base, start, own[axis]);
    }
    for (&axis, &d) in dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims) {
        let digit = &batch[d - usize::from(d >= dims.index_vector_dim)];
        base = w.scaled(scope, base, *digit, own[axis]);
    }
    let first = w.address(scope, &batch, &strides_of_batch);
    let kept: Vec<usize> = (0..shape.len())
        .filter(|d| !dims.collapsed_slice_dims.contains(d) && !dims.operand_batching_dims.contains(d))
        .collect();
    let [extents, from_strides] = [&slice, &own].map(|of| kept.iter().map(|&d| of[d]).collect::<Vec<_>>());
    let to_strides: Vec<i64> = dims.offset_dims.iter().map(|&d| out[d]).collect();
    let step = Move {
        extents: &extents,
        from: (from, base, &from_strides),
        to: (to, first, &to_strides),
        dtype: call.dtype(target),
    };
    w.move_box(scope, &step);
    w.close(vec![open], &[], &[], Vec::new());
    call.finish(w, tasks, format!("gather tasks {tasks}"))
}
