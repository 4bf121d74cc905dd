//! Library operations: loops over run-time positions, folds with a scalar function, and calls into the runtime.

mod chosen;
mod external;
mod folds;
mod growing;
mod indexed;
mod lanes;
mod network;
mod region;
mod scatter;
mod select;
mod windows;

use crate::code;
use crate::code::{Op, Value};
use crate::expression::address::Lin;
use crate::expression::compose::sizes;
use crate::expression::dag::{Buf, Dag, Node, buf};
use crate::expression::gather::Gathered;
use crate::expression::output::Output;
use crate::expression::uses;
use crate::lower::emit::{At, Bounds, Carried, Emitter, ScopeId, Val};
use crate::lower::kernel::{Kernel, name_pointers};
use crate::lower::rows;
use crate::lower::units::{digits_of, share_of_task};
use crate::machine::elem::{Elem, Type};
use crate::materialise::store::Stores;
use crate::schedule;
use crate::schedule::gathered_lines::FarBytes;
use crate::{CodegenError, Target};
use std::collections::HashMap;
use surject_ir::{DType, Function, LibOp, Region, StatementKind, Var};

/// How many of the first operands may share memory with the results of the same position.
pub fn in_place_operands(op: &LibOp, operands: usize) -> usize {
    match op {
        LibOp::DynamicUpdateSlice => 1,
        LibOp::Scatter { .. } => operands.saturating_sub(1) / 2,
        _ => 0,
    }
}

/// The kernels of a library call. `shared` says which results share the memory of their operands.
pub fn kernels(
    stores: &mut Stores<'_>,
    op: &LibOp,
    targets: &[Var],
    args: &[Var],
    regions: &[Region],
    shared: &[bool],
) -> Result<Vec<Kernel>, CodegenError> {
    let empty = targets.iter().all(|&t| stores.function.ty(t).space.is_empty());
    if empty {
        return Ok(Vec::new());
    }
    if let Some(sunk) = targets.first().and_then(|t| stores.sunk.get(t)).cloned() {
        return Ok(vec![stores.sunk(targets[0], &sunk)?]);
    }
    let statement = StatementKind::Call {
        op: op.clone(),
        targets: targets.to_vec(),
        args: args.to_vec(),
        regions: Vec::new(),
    };
    if let (Some(gathered), &[target]) = (Gathered::of(stores.function, &statement), targets) {
        let gathered = gathered.computing(&stores.indices);
        return Ok(vec![stores.gather(target, &gathered)?]);
    }
    let call = Call::of(stores, op, (targets, args), regions);
    let mut shared = shared.to_vec();
    let mut kernels = call.copies(op, &mut shared, stores.target)?;
    let rest = if shared.first() == Some(&true) { indexed::Rest::InPlace } else { indexed::Rest::Copied };
    let kernel = match op {
        LibOp::GatherDynamicSliceSizes { .. } | LibOp::DynamicTruncate { .. } => {
            return Err(CodegenError::unsupported(format!(
                "`{}`, whose sizes are those of a call: bind them first",
                op.name()
            )));
        }
        LibOp::Devices { .. } => {
            return Err(CodegenError::unsupported(
                "what several devices do together; import the program for one device".to_string(),
            ));
        }
        LibOp::DynamicSlice { .. } => indexed::dynamic_slice(&call),
        LibOp::DynamicUpdateSlice => indexed::dynamic_update_slice(&call, rest),
        LibOp::Gather { dims, slice_sizes, .. } => indexed::gather(&call, dims, slice_sizes),
        LibOp::Scatter { dims, .. } => {
            let (scattered, own) = scatter::scatter(&call, dims, &shared, (stores.target, stores.next()))?;
            if let Some(ty) = own {
                stores.temporary(ty);
            }
            kernels.extend(scattered);
            return Ok(kernels);
        }
        LibOp::Reduce { axes } => {
            let (reduced, own) = folds::reduce(&call, axes, stores.next())?;
            own.into_iter().for_each(|ty| _ = stores.temporary(ty));
            return Ok(reduced);
        }
        LibOp::ReduceWindow { window } => windows::reduce_window(&call, window),
        LibOp::SelectAndScatter { window } => return select::select_and_scatter(&call, window),
        LibOp::Sort { axis, .. } => match network::sort(&call, *axis, stores.target)? {
            Some(kernel) => Ok(kernel),
            None => external::sort(&call, *axis),
        },
        LibOp::BitcastReshape { .. } | LibOp::Constraint { .. } => external::bitcast_reshape(&call),
        LibOp::Fft { kind, lengths } => external::fft(&call, *kind, lengths),
        LibOp::Cholesky { lower } => external::cholesky(&call, *lower),
        LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
            let systems = external::Triangular {
                left_side: *left_side,
                lower: *lower,
                unit_diagonal: *unit_diagonal,
                transpose: *transpose,
            };
            external::triangular_solve(&call, &systems)
        }
        LibOp::Lapack { routine } => external::lapack(&call, *routine),
    };
    kernels.push(kernel?);
    Ok(kernels)
}

/// Registers of values that are joined side by side.
const REGISTERS: i64 = 4;

/// A library call.
#[derive(Clone)]
struct Call<'a> {
    function: &'a Function,
    threads: usize,
    /// Elements of four bytes that are done side by side: a register of them, where there are wide ones.
    lanes: i64,
    /// Tensors of more bytes lie far away, where lines of them are moved and where elements are.
    far: FarBytes,
    targets: &'a [Var],
    args: &'a [Var],
    regions: &'a [Region],
    /// The operands that are positions along an axis, which are not in memory.
    positions: &'a HashMap<Var, usize>,
    /// The results that are written: where a kernel can leave them out, those that nobody reads are not.
    written: Vec<Var>,
}

impl<'a> Call<'a> {
    /// A call with these results and operands.
    fn of(
        stores: &'a Stores<'_>,
        op: &LibOp,
        (targets, args): (&'a [Var], &'a [Var]),
        regions: &'a [Region],
    ) -> Call<'a> {
        Call {
            function: stores.function,
            threads: stores.target.threads,
            lanes: if stores.target.has_half_line_vectors() { 8 } else { 16 },
            far: FarBytes::of(stores.target),
            targets,
            args,
            regions,
            positions: &stores.positions,
            written: match op {
                LibOp::Reduce { .. } => uses::read(stores.function, targets),
                _ => targets.to_vec(),
            },
        }
    }
}

impl Call<'_> {
    fn arg(&self, i: usize) -> Result<Var, CodegenError> {
        self.args
            .get(i)
            .copied()
            .ok_or_else(|| CodegenError::malformed("a library call with too few operands"))
    }

    fn target(&self) -> Result<Var, CodegenError> {
        self.targets
            .first()
            .copied()
            .ok_or_else(|| CodegenError::malformed("a library call without a result"))
    }

    fn region(&self, i: usize) -> Result<&Region, CodegenError> {
        self.regions.get(i).ok_or_else(|| CodegenError::malformed("a library call with too few regions"))
    }

    fn sizes(&self, var: Var) -> Result<Vec<i64>, CodegenError> {
        sizes(&self.function.ty(var).space)
    }

    fn dtype(&self, var: Var) -> DType {
        self.function.ty(var).dtype
    }

    /// How many elements, from the first on, are read of each result along an axis of so many.
    fn read_along(&self, axis: usize, length: i64) -> Vec<i64> {
        let read = |&v: &Var| uses::leading(self.function, v, axis).unwrap_or(length);
        self.targets.iter().map(read).collect()
    }

    /// The tensors of the call, each once, those that are written first, and those that the regions read.
    fn buffers(&self, dag: &Dag) -> Vec<Buf> {
        let mut buffers: Vec<Buf> = Vec::new();
        let loaded = dag.iter().filter_map(|(_, data)| match data.node {
            Node::Load { buf, .. } | Node::Gather { buf, .. } => Some(buf),
            _ => None,
        });
        let args = self.args.iter().filter(|v| !self.positions.contains_key(v));
        for b in self.written.iter().chain(args).map(|&v| buf(v)).chain(loaded) {
            if !buffers.contains(&b) {
                buffers.push(b);
            }
        }
        buffers
    }

    /// How many tasks share so many bytes of work, which has so many parts.
    fn tasks(&self, bytes: i64, parts: i64) -> i64 {
        let tasks = (bytes / 65_536).min(4 * self.threads as i64).min(parts).max(1);
        if self.threads <= 1 { 1 } else { tasks }
    }

    /// The lanes for so many neighbours among some outputs: some registers, which hide how long a step takes, as long as
    /// every thread has a block of them.
    fn beside(&self, neighbours: i64, outputs: i64) -> i64 {
        let share = (outputs / self.threads as i64).max(self.lanes);
        1 << neighbours.min(REGISTERS * self.lanes).min(share).ilog2()
    }

    /// The kernels that copy operands to where their results are, which then share memory with them.
    fn copies(&self, op: &LibOp, shared: &mut [bool], target: &Target) -> Result<Vec<Kernel>, CodegenError> {
        let mut kernels = Vec::new();
        for (i, shared) in shared.iter_mut().enumerate().take(in_place_operands(op, self.args.len())) {
            if !*shared && let Some(copy) = self.copied(i, target)? {
                kernels.push(copy);
                *shared = true;
            }
        }
        Ok(kernels)
    }

    /// The kernel that copies an operand to where its result is, if that is worth sharing between threads.
    fn copied(&self, i: usize, target: &Target) -> Result<Option<Kernel>, CodegenError> {
        let (from, to) = (self.arg(i)?, self.targets[i]);
        let dtype = self.dtype(to);
        let count: i64 = self.sizes(to)?.iter().product();
        let worth = count > 1 && count.saturating_mul(dtype.size() as i64) > target.thresholds.copied_bytes;
        if self.threads <= 1 || dtype.is_complex() || !worth {
            return Ok(None);
        }
        let mut dag = Dag::default();
        let Some(l) = dag.add_loop(count) else { return Ok(None) };
        let load = Node::Load { buf: buf(from), address: Lin::var(l), guards: Vec::new() };
        let root = dag.add(load, dtype);
        let outputs = vec![Output { to: buf(to), address: Lin::var(l), root, join: None }];
        let schedule = schedule::choose(&dag, &outputs, &[l], target);
        Ok(Some(rows::whole(dag, outputs, schedule, [l].into_iter().collect())))
    }

    /// The kernel of a writer.
    fn finish(&self, writer: Writer<'_>, tasks: i64, summary: String) -> Result<Kernel, CodegenError> {
        let (body, declarations) = writer.em.finish();
        let (declarations, functions) = (declarations.into_iter().collect(), writer.functions);
        let writes = self.written.iter().map(|&t| buf(t)).collect();
        let plain = Kernel::plain(body, tasks, writer.buffers, writes, summary);
        Ok(Kernel { declarations, functions, ..plain })
    }
}

/// The row-major strides of a shape.
fn strides(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(sizes[axis].max(1));
    }
    strides
}

/// An emitter with arithmetic on positions.
struct Writer<'a> {
    em: Emitter<'a>,
    buffers: Vec<Buf>,
    functions: Vec<code::Function>,
}

impl<'a> Writer<'a> {
    fn new(call: &Call<'_>, dag: &'a Dag) -> Writer<'a> {
        Writer::with(call, dag, [])
    }

    /// A writer of a kernel that has other tensors too.
    fn with(call: &Call<'_>, dag: &'a Dag, others: impl IntoIterator<Item = Buf>) -> Writer<'a> {
        let mut em = Emitter::new(dag);
        let mut buffers = call.buffers(dag);
        buffers.extend(others);
        name_pointers(&mut em, &buffers);
        Writer { em, buffers, functions: Vec::new() }
    }

    fn root(&self) -> ScopeId {
        self.em.root()
    }

    fn pointer(&self, var: Var) -> Result<Value, CodegenError> {
        self.em.pointer(buf(var))
    }

    fn arith(&mut self, scope: ScopeId, name: &'static str, a: Value, b: Value) -> Value {
        self.em.arith(scope, name, a, b)
    }

    fn add(&mut self, scope: ScopeId, a: Value, b: Value) -> Value {
        self.arith(scope, "arith.addi", a, b)
    }

    /// `sum + factor * value`
    fn scaled(&mut self, scope: ScopeId, sum: Value, value: Value, factor: i64) -> Value {
        if factor == 0 {
            return sum;
        }
        let factor = self.em.int(factor);
        let term = self.arith(scope, "arith.muli", value, factor);
        self.add(scope, sum, term)
    }

    /// `0 ≤ value < bound`
    fn below(&mut self, scope: ScopeId, value: Value, bound: i64) -> Value {
        let bound = self.em.int(bound);
        self.em.cmpi(At { scope, lanes: 1 }, "ult", value, bound, Elem::I64)
    }

    fn bounds(&mut self, extent: i64) -> Bounds {
        self.em.whole(0, extent, 1)
    }

    /// Opens a loop over `0 .. extent` inside a scope.
    fn open(&mut self, parent: ScopeId, extent: i64) -> Loop {
        let scope = self.em.open(parent, Vec::new(), None);
        let iv = self.em.name();
        let bounds = self.bounds(extent);
        Loop { scope, iv, bounds, values: Vec::new() }
    }

    /// Opens a nest of loops; gives them and their variables.
    fn nest(&mut self, parent: ScopeId, extents: &[i64]) -> Vec<Loop> {
        let mut loops: Vec<Loop> = Vec::new();
        for &extent in extents {
            let outer = loops.last().map_or(parent, |l| l.scope);
            loops.push(self.open(outer, extent));
        }
        loops
    }

    /// Opens a nest that carries values of these types; gives the names inside the innermost loop.
    fn carrying(&mut self, parent: ScopeId, extents: &[i64], types: &[Type]) -> (Vec<Loop>, Vec<Value>) {
        let mut loops = self.nest(parent, extents);
        for l in &mut loops {
            l.values = types.iter().map(|_| self.em.name()).collect();
        }
        let inner = loops.last().map(|l| l.values.clone()).unwrap_or_default();
        (loops, inner)
    }

    /// Closes a nest. The last values of an iteration are the carried ones of the next.
    fn close(
        &mut self,
        loops: Vec<Loop>,
        inits: &[Value],
        types: &[Type],
        mut next: Vec<Value>,
    ) -> Vec<Value> {
        for depth in (0..loops.len()).rev() {
            let open = &loops[depth];
            let before = if depth == 0 { inits } else { &loops[depth - 1].values };
            let carried: Vec<Carried> = (0..types.len())
                .map(|i| Carried { name: open.values[i], init: before[i], ty: types[i], next: next[i] })
                .collect();
            next = self.em.close_loop(open.scope, open.iv, &open.bounds, &carried);
        }
        next
    }

    /// Opens the loop over the share of a task in some points, and gives their digits. The number of tasks is
    /// chosen by the bytes of work.
    fn share(&mut self, call: &Call<'_>, extents: &[i64], bytes: i64) -> (Loop, Vec<Value>, i64) {
        let root = self.root();
        self.share_in(root, call, extents, bytes, None)
    }

    /// As [`Writer::share`], inside another scope, and for a number of tasks that is known.
    fn share_in(
        &mut self,
        parent: ScopeId,
        call: &Call<'_>,
        extents: &[i64],
        bytes: i64,
        known: Option<i64>,
    ) -> (Loop, Vec<Value>, i64) {
        let total: i64 = extents.iter().product();
        let tasks = known.unwrap_or_else(|| call.tasks(bytes, total));
        let mut open = self.open(parent, total);
        if tasks > 1 {
            let [low, high] = share_of_task(&mut self.em, total, tasks);
            open.bounds = Bounds { low, high, ..open.bounds };
        }
        let digits = self.digits(open.scope, open.iv, extents);
        (open, digits, tasks)
    }

    /// The digits of a number, the last one fastest.
    fn digits(&mut self, scope: ScopeId, number: Value, extents: &[i64]) -> Vec<Value> {
        digits_of(&mut self.em, scope, extents, number)
    }

    /// The row-major address of a position.
    fn address(&mut self, scope: ScopeId, position: &[Value], strides: &[i64]) -> Value {
        let mut sum = self.em.int(0);
        for (value, &stride) in position.iter().zip(strides) {
            sum = self.scaled(scope, sum, *value, stride);
        }
        sum
    }

    fn element(&mut self, scope: ScopeId, pointer: Value, address: Value, memory: Elem) -> Value {
        self.em.element(pointer, address, memory, scope)
    }

    /// The parts of an element (one, or two of a complex number) in their register type.
    fn load(&mut self, scope: ScopeId, pointer: Value, dtype: DType, address: Value) -> Vec<Value> {
        self.part_addresses(scope, dtype, address)
            .into_iter()
            .map(|address| {
                let memory = Elem::in_memory(dtype.part());
                let from = self.element(scope, pointer, address, memory);
                let raw = self.em.op(scope, Op::load(from, memory.ty(1)));
                self.em.widen(dtype.part(), raw, At { scope, lanes: 1 })
            })
            .collect()
    }

    fn store(&mut self, scope: ScopeId, pointer: Value, dtype: DType, address: Value, parts: &[Value]) {
        let addresses = self.part_addresses(scope, dtype, address);
        for (address, value) in addresses.iter().zip(parts) {
            let memory = Elem::in_memory(dtype.part());
            let raw = self.em.narrow(dtype.part(), *value, At { scope, lanes: 1 });
            let to = self.element(scope, pointer, *address, memory);
            self.em.run(scope, Op::store(raw, to, memory.ty(1)));
        }
    }

    /// Stores the results of a call, in lanes or not.
    fn store_results(
        &mut self,
        call: &Call<'_>,
        at: At,
        (address, stride, mask): (Value, i64, Option<Value>),
        values: &[Vec<Value>],
    ) -> Result<(), CodegenError> {
        for (&target, value) in call.targets.iter().zip(values) {
            let (pointer, dtype) = (self.pointer(target)?, call.dtype(target));
            match at.lanes {
                1 => self.store(at.scope, pointer, dtype, address, value),
                _ => self.store_lanes(at, (pointer, address), (dtype, value[0]), (stride, mask)),
            }
        }
        Ok(())
    }

    fn part_addresses(&mut self, scope: ScopeId, dtype: DType, address: Value) -> Vec<Value> {
        if !dtype.is_complex() {
            return vec![address];
        }
        let (two, one) = (self.em.int(2), self.em.int(1));
        let re = self.arith(scope, "arith.muli", address, two);
        let im = self.add(scope, re, one);
        vec![re, im]
    }

    /// The types of values of these types: of their parts, or of vectors.
    fn types_of(&self, dtypes: &[DType], lanes: usize) -> Vec<Type> {
        match lanes {
            1 => dtypes.iter().flat_map(|&d| self.part_types(d)).collect(),
            _ => dtypes.iter().map(|&d| Elem::of(d).ty(lanes)).collect(),
        }
    }

    /// Values of one part each in all lanes.
    fn spread_all(&mut self, values: &[Vec<Value>], dtypes: &[DType], at: At) -> Vec<Vec<Value>> {
        let one = |(value, &dtype): (&Vec<Value>, &DType)| {
            let value = Val { ssa: value[0], lanes: 1 };
            vec![self.em.spread(&value, Elem::of(dtype), at)]
        };
        values.iter().zip(dtypes).map(one).collect()
    }

    /// The types of the parts of an element.
    fn part_types(&self, dtype: DType) -> Vec<Type> {
        let ty = Elem::of(dtype).ty(1);
        if dtype.is_complex() { vec![ty, ty] } else { vec![ty] }
    }

    /// Copies bytes: a line of some length in a loop, which is faster than a call that first decides how.
    fn copy(&mut self, scope: ScopeId, to: Value, from: Value, bytes: i64) {
        const STEP: usize = 256;
        const LINES: std::ops::Range<i64> = 512..16_384;
        let whole = if LINES.contains(&bytes) { bytes - bytes % STEP as i64 } else { 0 };
        let (mut to, mut from) = (to, from);
        if whole > 0 {
            let (part, iv) = (self.em.open(scope, Vec::new(), None), self.em.name());
            let [into, of] = [to, from].map(|p| self.element(part, p, iv, Elem::I8));
            let vector = self.em.neighbours(of, None, (Elem::I8, STEP), part);
            self.em.put(vector, into, (Elem::I8, STEP), part);
            let bounds = self.em.whole(0, whole, STEP as i64);
            self.em.close_loop(part, iv, &bounds, &[]);
            let done = self.em.int(whole);
            [to, from] = [to, from].map(|p| self.element(scope, p, done, Elem::I8));
        }
        let bytes = self.em.int(bytes - whole);
        self.copy_all(scope, to, from, bytes);
    }

    /// Copies bytes, as many as are known at run time.
    fn copy_all(&mut self, scope: ScopeId, to: Value, from: Value, bytes: Value) {
        self.em.run(scope, Op::Copy { to, from, bytes });
    }

    /// An integer element as `i64`; what does not fit becomes the largest.
    fn index(
        &mut self,
        scope: ScopeId,
        pointer: Value,
        dtype: DType,
        address: Value,
    ) -> Result<Value, CodegenError> {
        if !dtype.is_int() {
            return Err(CodegenError::malformed(format!("an index of type {dtype}")));
        }
        let at = At { scope, lanes: 1 };
        let value = self.load(scope, pointer, dtype, address).swap_remove(0);
        let wide = self.em.convert(at, dtype, DType::I64, value);
        if dtype == DType::U64 {
            let most = self.em.int(i64::MAX);
            return Ok(self.arith(scope, "arith.minui", wide, most));
        }
        Ok(wide)
    }

    /// A value moved into `0 ..= last`.
    fn clamp(&mut self, scope: ScopeId, value: Value, last: i64) -> Value {
        let (zero, last) = (self.em.int(0), self.em.int(last.max(0)));
        let low = self.arith(scope, "arith.maxsi", value, zero);
        self.arith(scope, "arith.minsi", low, last)
    }
}

/// An open loop.
struct Loop {
    scope: ScopeId,
    iv: Value,
    bounds: Bounds,
    values: Vec<Value>,
}
