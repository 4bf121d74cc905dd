//! Passes over kernels: other statements in the place of some.

use crate::{Affine, Kernel, LoopKind, Op, PartMut, Region, Statement, Type, Value};
use std::collections::HashMap;
use surject_ir::{BinaryOp, DType, Scalar, UnaryOp};

/// Statements that are written one after the other at one place of a kernel. Unlike [`crate::Builder`], which moves
/// values outside, this leaves them where they are asked for.
#[derive(Debug)]
pub struct Lines<'k> {
    kernel: &'k mut Kernel,
    body: Vec<Statement>,
}

impl<'k> Lines<'k> {
    fn new(kernel: &'k mut Kernel) -> Lines<'k> {
        Lines { kernel, body: Vec::new() }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    /// The kernel, for messages.
    pub fn kernel(&self) -> &Kernel {
        self.kernel
    }

    /// A statement with one result.
    pub fn push(&mut self, op: Op, ty: Type) -> Value {
        let value = self.kernel.value(ty);
        self.body.push(Statement { results: vec![value], op });
        value
    }

    /// A statement as it is.
    pub fn keep(&mut self, statement: Statement) {
        self.body.push(statement);
    }

    /// An element in every lane.
    pub fn splat(&mut self, value: Scalar, lanes: usize) -> Value {
        self.push(Op::Splat(value), Type::vector(value.dtype(), lanes))
    }

    /// A float in as many lanes as another value has, of its type.
    pub fn float(&mut self, value: f64, like: Value) -> Value {
        let ty = self.ty(like);
        self.splat(Scalar::from_f64(ty.dtype, value), ty.lanes)
    }

    /// An integer in as many lanes as another value has, of its type.
    pub fn integer(&mut self, value: i128, like: Value) -> Value {
        let ty = self.ty(like);
        self.splat(Scalar::from_i128(ty.dtype, value), ty.lanes)
    }

    /// An operation on each lane.
    pub fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        let ty = self.ty(x);
        self.push(Op::Unary(op, x), ty.with(op.result(ty.dtype).unwrap_or(ty.dtype)))
    }

    /// An operation on each lane of two values of one type.
    pub fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.push(Op::Binary(op, x, y), ty.with(op.result(ty.dtype, ty.dtype).unwrap_or(ty.dtype)))
    }

    /// `x * y + z`, rounded once.
    pub fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        let ty = self.ty(x);
        self.push(Op::Fma(x, y, z), ty)
    }

    /// The entry of a table of two values that each lane says.
    pub fn lookup(&mut self, low: Value, high: Value, at: Value) -> Value {
        let ty = self.ty(at).with(self.ty(low).dtype);
        self.push(Op::Lookup(low, high, at), ty)
    }

    /// `x` times two to the power of `n`, rounded once.
    pub fn scale(&mut self, x: Value, n: Value) -> Value {
        let ty = self.ty(x);
        self.push(Op::Scale(x, n), ty)
    }

    /// The lanes of two values of one type, one after the other.
    pub fn beside(&mut self, x: Value, y: Value) -> Value {
        let own = self.ty(x);
        let ty = Type { lanes: 2 * own.lanes, ..own };
        self.push(Op::Shuffle(x, y, (0..ty.lanes).collect()), ty)
    }

    /// The first value where the condition holds, else the second.
    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        let ty = self.ty(x);
        self.push(Op::Select(condition, x, y), ty)
    }

    /// The value as another element type.
    pub fn convert(&mut self, x: Value, dtype: DType) -> Value {
        let ty = self.ty(x);
        if ty.dtype == dtype { x } else { self.push(Op::Convert(x), ty.with(dtype)) }
    }

    /// The bits as another element type of the same width.
    pub fn bitcast(&mut self, x: Value, dtype: DType) -> Value {
        let ty = self.ty(x);
        if ty.dtype == dtype { x } else { self.push(Op::Bitcast(x), ty.with(dtype)) }
    }

    /// A lane as a scalar; a scalar is its own only lane.
    pub fn extract(&mut self, x: Value, lane: usize) -> Value {
        let ty = self.ty(x);
        if ty.lanes == 1 { x } else { self.push(Op::Extract(x, lane), Type::scalar(ty.dtype)) }
    }

    /// So many lanes from one on.
    pub fn lanes(&mut self, x: Value, from: usize, count: usize) -> Value {
        let ty = Type { lanes: count, ..self.ty(x) };
        self.push(Op::Shuffle(x, x, (from..from + count).collect()), ty)
    }

    /// The value with another scalar in a lane.
    pub fn insert(&mut self, x: Value, lane: usize, scalar: Value) -> Value {
        let ty = self.ty(x);
        if ty.lanes == 1 { scalar } else { self.push(Op::Insert(x, lane, scalar), ty) }
    }

    /// Statements of a region of their own, and what it yields.
    fn region(&mut self, params: Vec<Value>, write: impl FnOnce(&mut Lines<'_>) -> Vec<Value>) -> Region {
        let outside = std::mem::take(&mut self.body);
        let mut inside = Lines { kernel: &mut *self.kernel, body: Vec::new() };
        let yields = write(&mut inside);
        let body = inside.body;
        self.body = outside;
        Region { params, body, yields }
    }

    /// A scalar where a scalar condition holds, else another one.
    pub fn branch(
        &mut self,
        condition: Value,
        ty: Type,
        then: impl FnOnce(&mut Lines<'_>) -> Value,
        otherwise: impl FnOnce(&mut Lines<'_>) -> Value,
    ) -> Value {
        let then = self.region(Vec::new(), |lines| vec![then(lines)]);
        let otherwise = self.region(Vec::new(), |lines| vec![otherwise(lines)]);
        self.push(Op::If { condition, then, otherwise }, ty)
    }

    /// A loop from 0 up to a bound that carries one value: what it is in the end.
    pub fn repeat(
        &mut self,
        high: impl Into<Affine>,
        init: Value,
        step: impl FnOnce(&mut Lines<'_>, Value) -> Value,
    ) -> Value {
        let ty = self.ty(init);
        let (variable, carried) = (self.kernel.value(Type::index()), self.kernel.value(ty));
        let body = self.region(vec![variable, carried], |lines| vec![step(lines, carried)]);
        let (low, high, kind) = (Affine::from(0), high.into(), LoopKind::Serial);
        self.push(Op::For { low, high, step: 1, kind, inits: vec![init], body }, ty)
    }
}

/// Rewrites a kernel: `f` gets every statement without regions, its operands being those of the new kernel. It writes
/// what stands in its place and gives the value that its result becomes; or `None`, and the statement stays.
pub fn rewrite<E>(mut kernel: Kernel, f: Rule<'_, E>) -> Result<Kernel, E> {
    let mut body = std::mem::take(&mut kernel.body);
    let mut names = HashMap::new();
    region(&mut kernel, &mut body, &mut names, f)?;
    kernel.body = body;
    Ok(kernel.renumbered())
}

/// What stands in the place of a statement; see [`rewrite`].
pub type Rule<'f, E> = &'f mut dyn FnMut(&mut Lines<'_>, &Statement) -> Result<Option<Value>, E>;

fn region<E>(
    kernel: &mut Kernel,
    within: &mut Region,
    names: &mut HashMap<Value, Value>,
    f: Rule<'_, E>,
) -> Result<(), E> {
    let mut written = Vec::new();
    for mut statement in std::mem::take(&mut within.body) {
        let mut inside = Ok(());
        statement.op.parts_mut(&mut |part| match part {
            PartMut::Value(value) => *value = renamed(names, *value),
            PartMut::Affine(affine) => {
                if let Some(new) = affine.renamed(&|v| renamed(names, v)) {
                    *affine = new;
                }
            }
            PartMut::Mem(_) => {}
            PartMut::Region(inner) => {
                if inside.is_ok() {
                    inside = region(kernel, inner, names, f);
                }
            }
        });
        inside?;
        if statement.op.regions().next().is_some() {
            written.push(statement);
            continue;
        }
        let mut lines = Lines::new(kernel);
        let new = f(&mut lines, &statement)?;
        written.append(&mut lines.body);
        match (new, statement.results.first()) {
            (Some(new), Some(&old)) => _ = names.insert(old, new),
            _ => written.push(statement),
        }
    }
    within.body = written;
    within.yields.iter_mut().for_each(|v| *v = renamed(names, *v));
    Ok(())
}

fn renamed(names: &HashMap<Value, Value>, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}
