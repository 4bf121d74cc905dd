//! Calls of functions of the runtime library: sorts, Fourier transforms, factorisations and solves.

use crate::CodegenError;
use crate::code::{
    Builder, Declaration, Elem, Function, Index, Op, POINTERS, Statement, Symbol, TASK, Type, Value, WORKER,
};
use crate::expression::compose::sizes;
use crate::expression::dag::buf;
use crate::expression::uses;
use crate::kernels::library::Call;
use crate::kernels::library::compare::{self, Line};
use crate::kernels::library::scalar::ScalarFunction;
use crate::kernels::native::Scheduled;
use crate::planned::kernel::Kernel;
use surject_ir::{FftKind, Routine, Transpose, Var};
use surject_runtime::library::dtype_code;

const P: Type = Type::Pointer;

const N: Type = Type::I64;

/// A kernel of one task, which calls a function of the runtime.
struct Caller<'a> {
    call: &'a Call<'a>,
    b: Builder,
    /// The tensors of its table, in order.
    tensors: Vec<Var>,
    declarations: Vec<Declaration>,
    functions: Vec<Function>,
}

impl<'a> Caller<'a> {
    fn new(call: &'a Call<'a>) -> Caller<'a> {
        let mut tensors: Vec<Var> = Vec::new();
        for &var in call.targets.iter().chain(call.args) {
            if !tensors.contains(&var) {
                tensors.push(var);
            }
        }
        let (b, [..]) = Builder::new::<3>();
        Caller { call, b, tensors, declarations: Vec::new(), functions: Vec::new() }
    }

    /// The kernel.
    fn finish(self, summary: String) -> Kernel {
        let buffers = self.tensors.iter().map(|&v| buf(v)).collect();
        let writes = self.call.targets.iter().map(|&t| buf(t)).collect();
        let plain = Kernel::plain(self.b.finish(), 1, buffers, writes, summary);
        Kernel { declarations: self.declarations, functions: self.functions, ..plain }
    }

    fn arg(&self, i: usize) -> Result<Var, CodegenError> {
        let arg = self.call.args.get(i).copied();
        arg.ok_or_else(|| CodegenError::malformed("a library call with too few operands"))
    }

    fn sizes(&self, var: Var) -> Result<Vec<i64>, CodegenError> {
        sizes(&self.call.function.ty(var).space)
    }

    /// The number of the element type of a tensor, as the runtime has it.
    fn code(&mut self, var: Var) -> (Value, Type) {
        self.number(dtype_code(self.call.function.ty(var).dtype))
    }

    fn number(&mut self, value: i64) -> (Value, Type) {
        (self.b.int(value), N)
    }

    /// The address of a tensor.
    fn pointer(&mut self, var: Var) -> Result<(Value, Type), CodegenError> {
        let at = self.tensors.iter().position(|&v| v == var).ok_or_else(|| CodegenError::undefined(var))?;
        let entry = self.b.op(Op::Element { pointer: POINTERS, index: Index::Number(at as i64), of: P });
        Ok((self.b.op(Op::load(entry, P)), P))
    }

    /// The addresses of tensors, in an array.
    fn pointers(&mut self, vars: &[Var]) -> Result<(Value, Type), CodegenError> {
        let pointers = vars.iter().map(|&v| self.pointer(v)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.array(&pointers, P))
    }

    /// Numbers in an array.
    fn numbers(&mut self, values: &[i64]) -> (Value, Type) {
        let values: Vec<(Value, Type)> = values.iter().map(|&n| self.number(n)).collect();
        self.array(&values, N)
    }

    /// An array on the stack.
    fn array(&mut self, values: &[(Value, Type)], of: Type) -> (Value, Type) {
        let count = self.b.int(values.len().max(1) as i64);
        let array = self.b.at_first(Op::Alloca { count, of, alignment: None });
        for (i, value) in values.iter().enumerate() {
            let at = self.b.op(Op::Element { pointer: array, index: Index::Number(i as i64), of });
            self.b.effect(Op::store(value.0, at, of));
        }
        (array, P)
    }

    /// Calls a function of the runtime that gives an `i32`: 0, as its operands are well formed.
    fn call(&mut self, name: &str, args: &[(Value, Type)]) {
        let (parameters, result) = (args.iter().map(|a| a.1).collect(), Some(Elem::I32.ty(1)));
        self.declarations.push(Declaration { name: name.to_string(), parameters, result });
        self.b.op(Op::call(Symbol::Named(name.to_string()), args, result));
    }

    /// The address of a function of its own, which is a kernel of one task.
    fn function(
        &mut self,
        name: &str,
        kernel: &surject_kernel::Kernel,
        scheduled: &Scheduled,
    ) -> Result<(Value, Type), CodegenError> {
        let (tasks, _) = scheduled.tasks(kernel)?;
        let symbol = Symbol::Own(name.into());
        let parameters = vec![(TASK, N), (WORKER, N), (POINTERS, P)];
        let body: Vec<Statement> = tasks.body;
        self.functions.push(Function { symbol: symbol.clone(), parameters, body });
        self.declarations.extend(tasks.calls);
        Ok((self.b.op(Op::AddressOf(symbol)), P))
    }
}

/// A sort along an axis: by a key of each element, which the program computes line by line, or by the program's comparison of two.
pub(super) fn sort(call: &Call<'_>, axis: usize, scheduled: &Scheduled) -> Result<Kernel, CodegenError> {
    /// Keys that are computed side by side, in vectors of 32 bits.
    const BESIDE: i64 = 2;
    let region =
        call.regions.first().ok_or_else(|| CodegenError::malformed("a sort without a comparator"))?;
    let less = ScalarFunction::of(call.function, region)?;
    if less.reads_memory() {
        return Err(CodegenError::unsupported("a comparator that reads tensors"));
    }
    let mut caller = Caller::new(call);
    let shape = caller.sizes(caller.arg(0)?)?;
    let [outer, length, inner] =
        [shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product::<i64>()];
    let widths = call.args.iter().map(|&v| call.function.ty(v).dtype.size() as i64).collect::<Vec<_>>();
    let mut args = vec![
        caller.number(call.args.len() as i64),
        caller.pointers(call.args)?,
        caller.pointers(call.targets)?,
        caller.numbers(&widths),
    ];
    args.extend([outer, length, inner].map(|n| caller.number(n)));
    let along = format!("sort {shape:?} along {axis}");
    let Some(key) = less.key() else {
        args.push(caller.function("less", &compare::comparison(*call, &less)?, scheduled)?);
        caller.call("surject_sort", &args);
        return Ok(caller.finish(along));
    };
    let lanes = BESIDE * scheduled.machine.vector_bytes().max(4) as i64 / 4;
    let keys = compare::keys(*call, &key, Line { length, stride: inner }, lanes)?;
    args.push(caller.function("keys", &keys, scheduled)?);
    // What nobody reads need not be sorted.
    let read = call.targets.iter().map(|&v| uses::leading(call.function, v, axis).unwrap_or(length));
    let first = read.max().unwrap_or(length);
    args.extend([key.dtype.size() as i64 * 8, first].map(|n| caller.number(n)));
    caller.call("surject_sort_keys", &args);
    let some = if first < length { format!(", the first {first}") } else { String::new() };
    Ok(caller.finish(format!("{along} by key{some}")))
}

/// A copy of all bytes.
pub(super) fn bitcast_reshape(call: &Call<'_>) -> Result<Kernel, CodegenError> {
    let mut caller = Caller::new(call);
    let target = *call.targets.first().ok_or_else(|| CodegenError::malformed("a copy without a result"))?;
    let count: i64 = caller.sizes(target)?.iter().product();
    let ((to, _), (from, _)) = (caller.pointer(target)?, caller.pointer(caller.arg(0)?)?);
    let bytes = caller.b.int(count * call.function.ty(target).dtype.size() as i64);
    caller.b.effect(Op::Copy { to, from, bytes });
    Ok(caller.finish("bitcast_reshape".into()))
}

pub(super) fn fft(call: &Call<'_>, kind: FftKind, lengths: &[u64]) -> Result<Kernel, CodegenError> {
    let mut caller = Caller::new(call);
    let operand = caller.arg(0)?;
    let target = *call.targets.first().ok_or_else(|| CodegenError::malformed("a transform of nothing"))?;
    let complex = if call.function.ty(operand).dtype.is_complex() { operand } else { target };
    let shape = caller.sizes(operand)?;
    let batch = shape[..shape.len().saturating_sub(lengths.len())].iter().product::<i64>();
    let number = match kind {
        FftKind::Fft => 0,
        FftKind::Ifft => 1,
        FftKind::Rfft => 2,
        FftKind::Irfft => 3,
    };
    let sizes: Vec<i64> = lengths.iter().map(|&n| n as i64).collect();
    let args = [
        caller.number(number),
        caller.code(complex),
        caller.pointer(operand)?,
        caller.pointer(target)?,
        caller.number(batch),
        caller.number(lengths.len() as i64),
        caller.numbers(&sizes),
    ];
    caller.call("surject_fft", &args);
    Ok(caller.finish(format!("{kind:?} {lengths:?}")))
}

pub(super) fn cholesky(call: &Call<'_>, lower: bool) -> Result<Kernel, CodegenError> {
    let mut caller = Caller::new(call);
    let operand = caller.arg(0)?;
    let shape = caller.sizes(operand)?;
    let (Some(&n), Some(&target)) = (shape.last(), call.targets.first()) else {
        return Err(CodegenError::malformed("a factorisation of a scalar"));
    };
    let batch = shape[..shape.len().saturating_sub(2)].iter().product::<i64>();
    let args = [
        caller.code(operand),
        caller.pointer(operand)?,
        caller.pointer(target)?,
        caller.number(batch),
        caller.number(n),
        caller.number(i64::from(lower)),
    ];
    caller.call("surject_cholesky", &args);
    Ok(caller.finish(format!("cholesky {shape:?}")))
}

/// The systems of a triangular solve.
pub(super) struct Triangular {
    /// Does the matrix stand left of what is unknown?
    pub(super) left_side: bool,
    /// Is it the lower triangle?
    pub(super) lower: bool,
    pub(super) unit_diagonal: bool,
    pub(super) transpose: Transpose,
}

pub(super) fn triangular_solve(call: &Call<'_>, systems: &Triangular) -> Result<Kernel, CodegenError> {
    let &Triangular { left_side, lower, unit_diagonal, transpose } = systems;
    let mut caller = Caller::new(call);
    let (a, b) = (caller.arg(0)?, caller.arg(1)?);
    let (shape, sides) = (caller.sizes(a)?, caller.sizes(b)?);
    let (Some(&n), Some(&[rows, columns]), Some(&target)) =
        (shape.last(), sides.last_chunk::<2>(), call.targets.first())
    else {
        return Err(CodegenError::malformed("a system of scalars"));
    };
    let batch = shape[..shape.len().saturating_sub(2)].iter().product::<i64>();
    let transpose = match transpose {
        Transpose::No => 0,
        Transpose::Transpose => 1,
        Transpose::Adjoint => 2,
    };
    let mut args = vec![caller.code(a), caller.pointer(a)?, caller.pointer(b)?, caller.pointer(target)?];
    let unknowns = if left_side { columns } else { rows };
    let flags = [left_side, lower, unit_diagonal].map(i64::from);
    let numbers = [batch, n, unknowns].into_iter().chain(flags).chain([transpose]);
    args.extend(numbers.map(|n| caller.number(n)));
    caller.call("surject_triangular_solve", &args);
    Ok(caller.finish(format!("triangular_solve {sides:?}")))
}

pub(super) fn lapack(call: &Call<'_>, routine: Routine) -> Result<Kernel, CodegenError> {
    let mut caller = Caller::new(call);
    let number = Routine::ALL.iter().position(|&r| r == routine);
    let number = number.ok_or_else(|| CodegenError::malformed("a routine without a number"))?;
    let (mut all, mut batch) = (Vec::new(), 1);
    for (&arg, &rank) in call.args.iter().zip(routine.ranks()) {
        let shape = caller.sizes(arg)?;
        let split = shape.len().checked_sub(rank);
        let split = split.ok_or_else(|| CodegenError::malformed("a factorisation of a scalar"))?;
        batch = shape[..split].iter().product();
        all.extend_from_slice(&shape[split..]);
    }
    let first = caller.arg(0)?;
    let summary = format!("{} {:?}", routine.name(), caller.sizes(first)?);
    let args = [
        caller.number(number as i64),
        caller.code(first),
        caller.number(batch),
        caller.numbers(&all),
        caller.pointers(call.args)?,
        caller.pointers(call.targets)?,
    ];
    caller.call("surject_lapack", &args);
    Ok(caller.finish(summary))
}
