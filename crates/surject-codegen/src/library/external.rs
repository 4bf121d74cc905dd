//! Calls into the runtime library.

use crate::CodegenError;
use crate::code::{Declaration, Function, Index, Op, Symbol, Value};
use crate::expression::dag::Dag;
use crate::library::{Call, Writer, region};
use crate::lower::emit::{At, Bounds, ScopeId};
use crate::lower::kernel::Kernel;
use crate::machine::elem::{Elem, Type};
use std::collections::BTreeSet;
use surject_ir::{DType, FftKind, Routine, Transpose};
use surject_runtime::library::dtype_code;

impl Writer<'_> {
    /// An array of `i64` constants or of pointers on the stack.
    fn array(&mut self, values: &[Value], ty: Type) -> Value {
        let root = self.root();
        let count = self.em.int(values.len().max(1) as i64);
        let array = self.em.op(root, Op::Alloca { count, of: ty, alignment: None });
        for (i, value) in values.iter().enumerate() {
            let at = self.em.op(root, Op::Element { pointer: array, index: Index::Number(i as i64), of: ty });
            self.em.run(root, Op::store(*value, at, ty));
        }
        array
    }

    /// Calls a function of the runtime that gives an `i32`: 0, as its operands are well formed.
    fn runtime(&mut self, scope: ScopeId, name: &str, args: &[(Value, Type)]) {
        let (parameters, result) = (args.iter().map(|a| a.1).collect(), Some(Elem::I32.ty(1)));
        self.em.declarations.insert(Declaration { name: name.to_string(), parameters, result });
        self.em.op(scope, Op::call(Symbol::Named(name.to_string()), args, result));
    }
}

const P: Type = Type::Pointer;

const N: Type = Type::I64;

pub fn sort(call: &Call<'_>, axis: usize) -> Result<Kernel, CodegenError> {
    // The comparator: `less(pair, before)`, elements behind pointers in, one byte out.
    let (dag, less) = region::inline(call, call.region(0)?, Dag::default())?;
    if less.reads_memory(&dag) {
        return Err(CodegenError::unsupported("a comparator that reads tensors"));
    }
    let key = less.key(dag.clone());
    if let Some((dag, key)) = key {
        return sort_by_key(call, axis, &dag, &key);
    }
    let empty = Call { targets: &[], args: &[], written: Vec::new(), ..*call };
    let mut compare = Writer::new(&empty, &dag);
    let [pair, before] = [P, P].map(|ty| compare.em.parameter(ty));
    let (root, zero) = (compare.root(), compare.em.int(0));
    let body = compare.em.open(root, Vec::new(), None);
    let mut args = Vec::new();
    for (i, &operand) in call.args.iter().enumerate() {
        for side in 0..2 {
            let at = 2 * i + side;
            let entry = compare
                .em
                .op(body, Op::Element { pointer: pair, index: Index::Number(at as i64), of: Type::Pointer });
            let pointer = compare.em.op(body, Op::load(entry, Type::Pointer));
            args.push(compare.load(body, pointer, call.dtype(operand), zero));
        }
    }
    let answer = less.apply(&mut compare, body, &args)?;
    if let Some(value) = answer.first() {
        compare.store(body, before, DType::I1, zero, value);
    }
    compare.em.close_plain(body);
    sort_call(call, axis, ("surject_sort", compare.em.finish_function(Symbol::Own("less".into()))), &[])
}

/// Keys that are computed side by side.
const LANES: usize = 16;

/// A sort by a whole number that each element has: the numbers are computed line by line.
fn sort_by_key(call: &Call<'_>, axis: usize, dag: &Dag, key: &region::Key) -> Result<Kernel, CodegenError> {
    let empty = Call { targets: &[], args: &[], written: Vec::new(), ..*call };
    let mut w = Writer::new(&empty, dag);
    let [from, count, stride, to] = [P, N, N, P].map(|ty| w.em.parameter(ty));
    let root = w.root();
    let mut operands = Vec::new();
    for (i, &operand) in call.args.iter().enumerate() {
        let entry =
            w.em.op(root, Op::Element { pointer: from, index: Index::Number(i as i64), of: Type::Pointer });
        let pointer = w.em.op(root, Op::load(entry, Type::Pointer));
        operands.push((pointer, call.dtype(operand)));
    }
    // Neighbours side by side, where the elements of a line are such.
    let mut main = w.em.int(0);
    if operands.iter().all(|(_, dtype)| !dtype.is_complex()) {
        let at = At { scope: root, lanes: 1 };
        let (one, lanes) = (w.em.int(1), w.em.int(LANES as i64));
        let next = w.em.cmpi(at, "eq", stride, one, Elem::I64);
        let rest = w.arith(root, "arith.remui", count, lanes);
        let whole = w.arith(root, "arith.subi", count, rest);
        let last = w.em.select(at, next, whole, main, Elem::I64);
        let bounds = Bounds { low: main, high: last, step: lanes };
        w.keys(&operands, key, (bounds, LANES), (stride, to))?;
        main = last;
    }
    let step = w.em.int(1);
    w.keys(&operands, key, (Bounds { low: main, high: count, step }, 1), (stride, to))?;
    let written = w.em.finish_function(Symbol::Own("keys".into()));
    let bits = key.dtype.size() as i64 * 8;
    // What nobody reads need not be sorted.
    let length = call.sizes(call.arg(0)?)?[axis];
    let first = call.read_along(axis, length).into_iter().max();
    let more = [bits, first.unwrap_or(length)];
    sort_call(call, axis, ("surject_sort_keys", written), &more)
}

/// The call of a sorting function of the runtime.
fn sort_call(
    call: &Call<'_>,
    axis: usize,
    (name, (function, declarations)): (&str, (Function, BTreeSet<Declaration>)),
    more: &[i64],
) -> Result<Kernel, CodegenError> {
    let none = Dag::default();
    let mut w = Writer::new(call, &none);
    let root = w.root();
    let sizes = call.sizes(call.arg(0)?)?;
    let inputs = call.args.iter().map(|&v| w.pointer(v)).collect::<Result<Vec<_>, _>>()?;
    let outputs = call.targets.iter().map(|&v| w.pointer(v)).collect::<Result<Vec<_>, _>>()?;
    let widths: Vec<Value> = call.args.iter().map(|&v| w.em.int(call.dtype(v).size() as i64)).collect();
    let (inputs, outputs, widths) = (w.array(&inputs, P), w.array(&outputs, P), w.array(&widths, N));
    let [count, outer, length, inner] = [
        call.args.len() as i64,
        sizes[..axis].iter().product(),
        sizes[axis],
        sizes[axis + 1..].iter().product(),
    ]
    .map(|n| w.em.int(n));
    let address = w.em.op(root, Op::AddressOf(function.symbol.clone()));
    let mut args = vec![
        (count, N),
        (inputs, P),
        (outputs, P),
        (widths, P),
        (outer, N),
        (length, N),
        (inner, N),
        (address, P),
    ];
    args.extend(more.iter().map(|&n| (w.em.int(n), N)));
    w.runtime(root, name, &args);
    w.em.declarations.extend(declarations);
    w.functions = vec![function];
    let by = match *more {
        [_, first] if first < sizes[axis] => format!(" by key, the first {first}"),
        [_, _] => " by key".to_string(),
        _ => String::new(),
    };
    call.finish(w, 1, format!("sort {sizes:?} along {axis}{by}"))
}

impl Writer<'_> {
    /// The loop that writes the keys of some elements, which lie so far apart, so many at a time.
    fn keys(
        &mut self,
        operands: &[(Value, DType)],
        key: &region::Key,
        (bounds, lanes): (Bounds, usize),
        (stride, to): (Value, Value),
    ) -> Result<(), CodegenError> {
        let root = self.root();
        let body = self.em.open(root, Vec::new(), None);
        let iv = self.em.name();
        let at = self.arith(body, "arith.muli", iv, stride);
        let mut args = Vec::new();
        for (pointer, dtype) in operands {
            let element = match lanes {
                1 => self.load(body, *pointer, *dtype, at),
                _ => vec![self.lanes_of(body, (*pointer, at), *dtype, 1, lanes)],
            };
            // Both sides have their places; the key has only one of them.
            args.extend([element.clone(), element]);
        }
        let value = key.function.apply_lanes(self, body, &args, lanes)?;
        let value = value.first().and_then(|v| v.first()).cloned();
        let value = value.ok_or_else(|| CodegenError::malformed("a key without a value"))?;
        let (value, elem) = self.ordered(At { scope: body, lanes }, key, value);
        let to = self.element(body, to, iv, elem);
        let size = elem.size();
        self.em.run(body, Op::aligned_store(value, to, elem.ty(lanes), size));
        self.em.close_loop(body, iv, &bounds, &[]);
        Ok(())
    }

    /// A key as a number without a sign that is ordered as the key is, of 32 bits or of 64.
    fn ordered(&mut self, at: At, key: &region::Key, value: Value) -> (Value, Elem) {
        let (elem, mut value) = (Elem::of(key.dtype), value);
        if key.dtype.is_signed_int() {
            let sign = self.em.constant(elem, 1 << (elem.bits() - 1), at.lanes);
            value = self.em.bin(at, "arith.xori", value, sign, elem);
        }
        if key.descending {
            let all = self.em.constant(elem, u64::MAX, at.lanes);
            value = self.em.bin(at, "arith.xori", value, all, elem);
        }
        match elem.bits() {
            32 | 64 => (value, elem),
            _ => (self.em.cast(at, "arith.extui", value, elem, Elem::I32), Elem::I32),
        }
    }
}

pub fn bitcast_reshape(call: &Call<'_>) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (root, target) = (w.root(), call.target()?);
    let (to, from) = (w.pointer(target)?, w.pointer(call.arg(0)?)?);
    let bytes = call.sizes(target)?.iter().product::<i64>() * call.dtype(target).size() as i64;
    w.copy(root, to, from, bytes);
    call.finish(w, 1, "bitcast_reshape".into())
}

pub fn fft(call: &Call<'_>, kind: FftKind, lengths: &[u64]) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (root, operand, target) = (w.root(), call.arg(0)?, call.target()?);
    let complex = if call.dtype(operand).is_complex() { call.dtype(operand) } else { call.dtype(target) };
    let shape = call.sizes(operand)?;
    let batch = shape[..shape.len().saturating_sub(lengths.len())].iter().product::<i64>();
    let number = match kind {
        FftKind::Fft => 0,
        FftKind::Ifft => 1,
        FftKind::Rfft => 2,
        FftKind::Irfft => 3,
    };
    let sizes: Vec<Value> = lengths.iter().map(|&n| w.em.int(n as i64)).collect();
    let sizes = w.array(&sizes, N);
    let (from, to) = (w.pointer(operand)?, w.pointer(target)?);
    let [number, code, batch, rank] =
        [number, dtype_code(complex), batch, lengths.len() as i64].map(|n| w.em.int(n));
    let args = [(number, N), (code, N), (from, P), (to, P), (batch, N), (rank, N), (sizes, P)];
    w.runtime(root, "surject_fft", &args);
    call.finish(w, 1, format!("{kind:?} {lengths:?}"))
}

pub fn cholesky(call: &Call<'_>, lower: bool) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (root, operand) = (w.root(), call.arg(0)?);
    let shape = call.sizes(operand)?;
    let (Some(&n), rank) = (shape.last(), shape.len()) else {
        return Err(CodegenError::malformed("a factorisation of a scalar"));
    };
    let batch = shape[..rank.saturating_sub(2)].iter().product::<i64>();
    let (from, to) = (w.pointer(operand)?, w.pointer(call.target()?)?);
    let [code, batch, size, lower] =
        [dtype_code(call.dtype(operand)), batch, n, i64::from(lower)].map(|n| w.em.int(n));
    w.runtime(root, "surject_cholesky", &[(code, N), (from, P), (to, P), (batch, N), (size, N), (lower, N)]);
    call.finish(w, 1, format!("cholesky {shape:?}"))
}

/// The systems of a triangular solve.
pub struct Triangular {
    /// Does the matrix stand left of what is unknown?
    pub left_side: bool,
    /// Is it the lower triangle?
    pub lower: bool,
    pub unit_diagonal: bool,
    pub transpose: Transpose,
}

pub fn triangular_solve(call: &Call<'_>, systems: &Triangular) -> Result<Kernel, CodegenError> {
    let &Triangular { left_side, lower, unit_diagonal, transpose } = systems;
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let (root, a, b) = (w.root(), call.arg(0)?, call.arg(1)?);
    let (shape, sides) = (call.sizes(a)?, call.sizes(b)?);
    let (Some(&n), Some(&[rows, columns])) = (shape.last(), sides.last_chunk::<2>()) else {
        return Err(CodegenError::malformed("a system of scalars"));
    };
    let batch = shape[..shape.len().saturating_sub(2)].iter().product::<i64>();
    let m = if left_side { columns } else { rows };
    let transpose = match transpose {
        Transpose::No => 0,
        Transpose::Transpose => 1,
        Transpose::Adjoint => 2,
    };
    let (from, by, to) = (w.pointer(a)?, w.pointer(b)?, w.pointer(call.target()?)?);
    let numbers = [
        dtype_code(call.dtype(a)),
        batch,
        n,
        m,
        i64::from(left_side),
        i64::from(lower),
        i64::from(unit_diagonal),
        transpose,
    ];
    let [code, batch, n, m, left, lower, unit, transpose] = numbers.map(|n| w.em.int(n));
    let args = [
        (code, N),
        (from, P),
        (by, P),
        (to, P),
        (batch, N),
        (n, N),
        (m, N),
        (left, N),
        (lower, N),
        (unit, N),
        (transpose, N),
    ];
    w.runtime(root, "surject_triangular_solve", &args);
    call.finish(w, 1, format!("triangular_solve {sides:?}"))
}

pub fn lapack(call: &Call<'_>, routine: Routine) -> Result<Kernel, CodegenError> {
    let dag = Dag::default();
    let mut w = Writer::new(call, &dag);
    let root = w.root();
    let number = Routine::ALL.iter().position(|&r| r == routine);
    let number = number.ok_or_else(|| CodegenError::malformed("a routine without a number"))?;
    let (mut sizes, mut batch) = (Vec::new(), 1);
    for (&arg, &rank) in call.args.iter().zip(routine.ranks()) {
        let shape = call.sizes(arg)?;
        let split = shape.len().checked_sub(rank);
        let split = split.ok_or_else(|| CodegenError::malformed("a factorisation of a scalar"))?;
        batch = shape[..split].iter().product();
        sizes.extend_from_slice(&shape[split..]);
    }
    let summary = format!("{} {:?}", routine.name(), call.sizes(call.arg(0)?)?);
    let code = dtype_code(call.dtype(call.arg(0)?));
    let sizes: Vec<Value> = sizes.into_iter().map(|n| w.em.int(n)).collect();
    let inputs = call.args.iter().map(|&v| w.pointer(v)).collect::<Result<Vec<_>, _>>()?;
    let outputs = call.targets.iter().map(|&v| w.pointer(v)).collect::<Result<Vec<_>, _>>()?;
    let (sizes, inputs, outputs) = (w.array(&sizes, N), w.array(&inputs, P), w.array(&outputs, P));
    let [number, code, batch] = [number as i64, code, batch].map(|n| w.em.int(n));
    let args = [(number, N), (code, N), (batch, N), (sizes, P), (inputs, P), (outputs, P)];
    w.runtime(root, "surject_lapack", &args);
    call.finish(w, 1, summary)
}
