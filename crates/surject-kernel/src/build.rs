//! Building kernels: a value is placed in the outermost region in which its operands are known.
//!
//! So what does not change in a loop is computed before it, without a pass; and the same operation on the same operands
//! is one value. Loads move like this too where nothing writes the memory, out of loops that run at least once; they
//! stay inside of an `if`, which may be what keeps them in bounds. Everything else stands where it is asked for.

use crate::{
    Access, Affine, Guard, Kernel, LoopKind, Mem, Memory, Op, Place, Region, Space, Statement, Temporality,
    Type, Value,
};
use std::collections::HashMap;
use surject_ir::{AccOp, BinaryOp, DType, Scalar, UnaryOp};

/// Builds a kernel, from the outside to the inside.
///
/// ```
/// use surject_ir::{BinaryOp, DType};
/// use surject_kernel::{Access, Affine, Builder, Level, LoopKind, Place, Type};
///
/// let mut b = Builder::new("double");
/// let n = b.size();
/// let x = b.parameter("x", DType::F32, n, Access::Read);
/// let y = b.parameter("y", DType::F32, n, Access::Write);
/// let (i, _) = b.open_for(0, n, 1, LoopKind::Parallel(Level::Task), &[]);
/// let value = b.load(Place::new(x, i), Type::scalar(DType::F32));
/// let sum = b.binary(BinaryOp::Add, value, value);
/// b.store(Place::new(y, i), sum);
/// b.close_for(&[]);
/// let kernel = b.finish();
/// assert!(surject_kernel::verify(&kernel).is_ok());
/// assert!(kernel.to_string().contains("store %3, y[%1]"));
/// ```
#[derive(Debug)]
pub struct Builder {
    kernel: Kernel,
    scopes: Vec<Scope>,
    /// The scope of each value, by number: how many are around it.
    homes: Vec<usize>,
    /// The first and the last value of the loop variables whose bounds are known.
    ranges: HashMap<Value, [i64; 2]>,
    /// The values that are one number in all lanes.
    numbers: HashMap<Value, Scalar>,
}

#[derive(Debug, Default)]
struct Scope {
    params: Vec<Value>,
    body: Vec<Statement>,
    /// Values by the operations they are.
    known: HashMap<(Op, Type), Value>,
    /// Does what is outside of it run this at least once?
    always: bool,
    opened: Opened,
}

/// The statement that a scope becomes a region of.
#[derive(Debug, Default)]
enum Opened {
    #[default]
    Kernel,
    For {
        low: Affine,
        high: Affine,
        step: i64,
        kind: LoopKind,
        inits: Vec<Value>,
    },
    Then(Value),
    Else(Value, Region),
}

impl Builder {
    /// A kernel without parameters.
    pub fn new(name: impl Into<String>) -> Builder {
        let scope = Scope { always: true, ..Scope::default() };
        let kernel = Kernel::new(name);
        Builder {
            kernel,
            scopes: vec![scope],
            homes: Vec::new(),
            ranges: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// The kernel. Scopes that are open are closed without results.
    pub fn finish(mut self) -> Kernel {
        while self.scopes.len() > 1 {
            match self.scopes.last().map(|s| &s.opened) {
                Some(Opened::For { .. }) => _ = self.close_for(&[]),
                _ => _ = self.close_if(&[]),
            }
        }
        if let Some(scope) = self.scopes.pop() {
            self.kernel.body.body = scope.body;
        }
        self.kernel
    }

    /// A size.
    pub fn size(&mut self) -> Value {
        let value = self.value(Type::index(), 0);
        self.kernel.sizes.push(value);
        value
    }

    /// A tensor that the kernel gets.
    pub fn parameter(
        &mut self,
        name: impl Into<String>,
        dtype: DType,
        elements: impl Into<Affine>,
        access: Access,
    ) -> Mem {
        let mem = self.memory(Memory {
            name: name.into(),
            dtype,
            elements: elements.into(),
            space: Space::Global,
            access,
        });
        self.kernel.params.push(mem);
        mem
    }

    /// Memory that is made here; another name where there is one of this name.
    pub fn alloc(
        &mut self,
        name: impl Into<String>,
        dtype: DType,
        elements: impl Into<Affine>,
        space: Space,
    ) -> Mem {
        let access = Access::ReadWrite;
        let mut name = name.into();
        if self.kernel.memory.iter().any(|m| m.name == name) {
            name = format!("{name}_{}", self.kernel.memory.len());
        }
        let mem = self.memory(Memory { name, dtype, elements: elements.into(), space, access });
        self.effect(Op::Alloc(mem));
        mem
    }

    fn memory(&mut self, memory: Memory) -> Mem {
        self.kernel.memory.push(memory);
        Mem(self.kernel.memory.len() as u32 - 1)
    }

    fn value(&mut self, ty: Type, home: usize) -> Value {
        self.homes.push(home);
        self.kernel.value(ty)
    }

    /// The type of the elements of a piece of memory.
    pub fn memory_type(&self, mem: Mem) -> DType {
        self.kernel.mem(mem).dtype
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    fn here(&self) -> usize {
        self.scopes.len() - 1
    }

    /// The outermost scope in which operands are known.
    fn home(&self, op: &Op) -> usize {
        op.operands().iter().map(|v| self.homes[v.0 as usize]).max().unwrap_or(0)
    }

    /// A value in a scope: one that is known there, or a new one.
    fn place(&mut self, op: Op, ty: Type, home: usize) -> Value {
        let key = (op, ty);
        if let Some(&value) = self.scopes[home].known.get(&key) {
            return value;
        }
        let value = self.value(ty, home);
        let scope = &mut self.scopes[home];
        scope.body.push(Statement { results: vec![value], op: key.0.clone() });
        scope.known.insert(key, value);
        value
    }

    /// A value that depends on its operands alone ([`Op::is_pure`]).
    pub fn pure(&mut self, op: Op, ty: Type) -> Value {
        let home = self.home(&op);
        self.place(op, ty, home)
    }

    /// An element in every lane.
    pub fn splat(&mut self, number: Scalar, lanes: usize) -> Value {
        let value = self.pure(Op::Splat(number), Type::vector(number.dtype(), lanes));
        self.numbers.insert(value, number);
        value
    }

    /// An affine expression as integers.
    pub fn index(&mut self, affine: impl Into<Affine>, ty: Type) -> Value {
        self.pure(Op::Index(affine.into()), ty)
    }

    /// Do guards hold, in each lane?
    pub fn holds(&mut self, guards: Vec<Guard>, lanes: usize) -> Value {
        self.pure(Op::Holds(guards), Type::vector(DType::I1, lanes))
    }

    /// An operation on each lane, which the element type must have.
    pub fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        let ty = self.ty(x);
        self.pure(Op::Unary(op, x), ty.with(op.result(ty.dtype).unwrap_or(ty.dtype)))
    }

    /// An operation on each lane of two values of one type, which the element type must have.
    pub fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        if op == BinaryOp::Add {
            match [x, y].map(|v| self.is_neutral(v)) {
                [_, true] => return x,
                [true, _] => return y,
                _ => {}
            }
        }
        self.pure(Op::Binary(op, x, y), ty.with(op.result(ty.dtype, ty.dtype).unwrap_or(ty.dtype)))
    }

    /// Is a value the number that sums are the same with: `-0.0`, or `0` of integers?
    fn is_neutral(&self, value: Value) -> bool {
        let number = self.numbers.get(&value);
        number.is_some_and(|n| n.bits() == AccOp::Add.exact_neutral(n.dtype()).bits())
    }

    /// The first value where the condition holds, else the second.
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.pure(Op::Select(condition, x, y), ty)
    }

    /// The value as another element type.
    pub fn convert(&mut self, x: Value, dtype: DType) -> Value {
        let ty = self.ty(x);
        if ty.dtype == dtype { x } else { self.pure(Op::Convert(x), ty.with(dtype)) }
    }

    /// The value with these lanes: itself, or a scalar in each.
    pub fn broadcast(&mut self, x: Value, lanes: usize) -> Value {
        let ty = self.ty(x);
        if ty.lanes == lanes {
            return x;
        }
        let all = self.pure(Op::Broadcast(x), Type::vector(ty.dtype, lanes));
        if let Some(&number) = self.numbers.get(&x) {
            self.numbers.insert(all, number);
        }
        all
    }

    /// The lanes joined.
    pub fn reduce_lanes(&mut self, op: AccOp, x: Value) -> Value {
        let ty = self.ty(x);
        if ty.lanes == 1 { x } else { self.pure(Op::ReduceLanes(op, x), Type::scalar(ty.dtype)) }
    }

    /// Does a guard hold in all of so many lanes, wherever the loops are, or in none of them anywhere? Unknown otherwise.
    pub fn is_known(&self, guard: &Guard, lanes: usize) -> Option<bool> {
        let span = |lane: i64| Some([0, lane.checked_mul(lanes as i64 - 1)?]);
        let range = |affine: &Affine| -> Option<[i64; 2]> {
            let mut all = [affine.offset; 2];
            let mut add = |[a, b]: [i64; 2]| {
                all = [all[0].checked_add(a.min(b))?, all[1].checked_add(a.max(b))?];
                Some(())
            };
            add(span(affine.lane)?)?;
            for term in &affine.terms {
                let [value] = term.values[..] else { return None };
                let [low, high] = *self.ranges.get(&value)?;
                add([low.checked_mul(term.factor)?, high.checked_mul(term.factor)?])?;
            }
            Some(all)
        };
        let ([low, high], [least, most]) = range(&guard.expr).zip(range(&guard.bound))?;
        match () {
            () if low >= 0 && high < least => Some(true),
            () if high < 0 || low >= most => Some(false),
            () => None,
        }
    }

    /// Elements of memory; zeros where there is none.
    pub fn load(&mut self, place: Place, ty: Type) -> Value {
        let fill = Scalar::zero(ty.dtype);
        let only_read = self.kernel.mem(place.mem).access == Access::Read;
        let op = Op::Load { place, fill, temporality: Temporality::Normal };
        if only_read {
            // Not out of what may not run, which may be what keeps the elements inside.
            let may_not_run = self.scopes.iter().rposition(|s| !s.always).unwrap_or(0);
            let inside = if self.is_inside(&op, ty) { 0 } else { may_not_run };
            let home = self.home(&op).max(inside);
            return self.place(op, ty, home);
        }
        let home = self.here();
        let value = self.value(ty, home);
        self.scopes[home].body.push(Statement { results: vec![value], op });
        value
    }

    /// Are the elements of a load in memory, whatever runs?
    fn is_inside(&self, op: &Op, ty: Type) -> bool {
        let Op::Load { place, .. } = op else { return false };
        let elements = self.kernel.mem(place.mem).elements.as_constant();
        let scalar = place.guards.is_empty() && place.mask.is_none() && ty.lanes == 1;
        let at = place.at.as_constant().filter(|_| scalar && place.offset.is_none());
        at.zip(elements).is_some_and(|(at, elements)| (0..elements).contains(&at))
    }

    /// How many scopes are open.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Elements of memory that nothing has written since so many scopes were open, nor will as long as they are: one value
    /// for the same elements, in the outermost of the scopes since then in which it is known.
    pub fn load_settled(&mut self, place: Place, ty: Type, depth: usize) -> Value {
        let fill = Scalar::zero(ty.dtype);
        let op = Op::Load { place, fill, temporality: Temporality::Normal };
        let inside = self.scopes.iter().rposition(|s| !s.always).unwrap_or(0);
        let home = self.home(&op).max(inside).max(depth.saturating_sub(1));
        self.place(op, ty, home)
    }

    /// Writes elements.
    pub fn store(&mut self, place: Place, value: Value) {
        self.effect(Op::Store { place, value, temporality: Temporality::Normal });
    }

    /// A statement without results, here.
    pub fn effect(&mut self, op: Op) {
        let here = self.here();
        self.scopes[here].body.push(Statement { results: Vec::new(), op });
    }

    /// A statement with results, here.
    pub fn statement(&mut self, op: Op, types: &[Type]) -> Vec<Value> {
        let here = self.here();
        let results: Vec<Value> = types.iter().map(|&ty| self.value(ty, here)).collect();
        self.scopes[here].body.push(Statement { results: results.clone(), op });
        results
    }

    /// Opens a loop: its variable, and what it carries from these values on.
    pub fn open_for(
        &mut self,
        low: impl Into<Affine>,
        high: impl Into<Affine>,
        step: i64,
        kind: LoopKind,
        inits: &[Value],
    ) -> (Value, Vec<Value>) {
        let (low, high) = (low.into(), high.into());
        let always = match (low.as_constant(), high.as_constant()) {
            (Some(low), Some(high)) => low < high,
            _ => false,
        };
        let home = self.scopes.len();
        let variable = self.value(Type::index(), home);
        if let (Some(low), Some(high)) = (low.as_constant(), high.as_constant()) {
            self.ranges.insert(variable, [low, high - 1]);
        }
        let types: Vec<Type> = inits.iter().map(|&v| self.ty(v)).collect();
        let carried: Vec<Value> = types.into_iter().map(|ty| self.value(ty, home)).collect();
        let params = std::iter::once(variable).chain(carried.iter().copied()).collect();
        let opened = Opened::For { low, high, step, kind, inits: inits.to_vec() };
        self.scopes.push(Scope { params, always, opened, ..Scope::default() });
        (variable, carried)
    }

    /// Closes the loop that was opened last: what it carries to the next iteration; gives what it has in the end.
    pub fn close_for(&mut self, yields: &[Value]) -> Vec<Value> {
        let Some(Scope { params, body, opened, .. }) = self.scopes.pop() else { return Vec::new() };
        let Opened::For { low, high, step, kind, inits } = opened else { return Vec::new() };
        let types: Vec<Type> = inits.iter().map(|&v| self.ty(v)).collect();
        let body = Region { params, body, yields: yields.to_vec() };
        self.statement(Op::For { low, high, step, kind, inits, body }, &types)
    }

    /// Opens what runs where a condition holds.
    pub fn open_if(&mut self, condition: Value) {
        self.scopes.push(Scope { opened: Opened::Then(condition), ..Scope::default() });
    }

    /// Ends what runs where the condition holds, with what it yields, and opens the other side.
    pub fn open_else(&mut self, yields: &[Value]) {
        let Some(Scope { body, opened, .. }) = self.scopes.pop() else { return };
        let Opened::Then(condition) = opened else { return };
        let then = Region { params: Vec::new(), body, yields: yields.to_vec() };
        self.scopes.push(Scope { opened: Opened::Else(condition, then), ..Scope::default() });
    }

    /// Closes the `if` that was opened last: the values are those of one side.
    pub fn close_if(&mut self, yields: &[Value]) -> Vec<Value> {
        let Some(Scope { body, opened, .. }) = self.scopes.pop() else { return Vec::new() };
        let types: Vec<Type> = yields.iter().map(|&v| self.ty(v)).collect();
        let last = Region { params: Vec::new(), body, yields: yields.to_vec() };
        let op = match opened {
            Opened::Then(condition) => Op::If { condition, then: last, otherwise: Region::default() },
            Opened::Else(condition, then) => Op::If { condition, then, otherwise: last },
            Opened::Kernel | Opened::For { .. } => return Vec::new(),
        };
        self.statement(op, &types)
    }
}
