//! A kernel over independent points: its tensors, and the integers that say where elements lie.

use super::{Call, Lowered};
use crate::CodegenError;
use crate::kernels::expression::Tensor;
use crate::kernels::lower::Launch;
use crate::kernels::machine::Spread;
use surject_ir::{BinaryOp, DType, FieldKind, Function, Scalar, StatementKind, TensorType, Var};
use surject_kernel::{Access, Affine, Builder, Guard, Level, LoopKind, Mem, Place, Type, Value};

/// Sizes and positions below this are computed in `i32`, sums of two of them included.
const NARROW: i64 = 1 << 30;

/// Makes one kernel.
pub(super) struct Maker<'a> {
    pub(super) call: Call<'a>,
    pub(super) b: Builder,
    temporaries: Vec<TensorType>,
    /// The tensors that are parameters, in order.
    tensors: Vec<(Tensor, Mem)>,
    /// The type of positions.
    integer: DType,
}

impl<'a> Maker<'a> {
    pub(super) fn new(call: Call<'a>, temporaries: &[TensorType], name: String) -> Maker<'a> {
        let vars = call.targets.iter().chain(call.args);
        let narrow = vars.map(|&v| call.function.ty(v)).chain(temporaries).all(|ty| {
            ty.space.sizes().is_some_and(|sizes| {
                let parts = if ty.dtype.is_complex() { 2 } else { 1 };
                sizes.iter().try_fold(parts, |n: i64, &size| n.checked_mul(size)).is_some_and(|n| n < NARROW)
            })
        });
        Maker {
            call,
            b: Builder::new(name),
            temporaries: temporaries.to_vec(),
            tensors: Vec::new(),
            integer: if narrow { DType::I32 } else { DType::I64 },
        }
    }

    pub(super) fn finish(self) -> Launch {
        let tensors = self.tensors.into_iter().map(|(tensor, _)| tensor).collect();
        Launch { kernel: self.b.finish(), tensors }
    }

    /// Opens the loops over so many points; gives the number of the point. What is past the last one does nothing.
    pub(super) fn open_points(&mut self, spread: Spread, count: i64) -> Lowered<Value> {
        let (outer, inner, inside) = match spread {
            Spread::Tasks { points, .. } => (Level::Task, LoopKind::Serial, points),
            Spread::Threads { block } => (Level::Block, LoopKind::Parallel(Level::Thread), block),
        };
        let inside = if inner == LoopKind::Serial { inside.min(count) } else { inside };
        let (group, _) = self.b.open_for(0, (count - 1) / inside + 1, 1, LoopKind::Parallel(outer), &[]);
        let (member, _) = self.b.open_for(0, inside, 1, inner, &[]);
        let at = Affine::from(member).plus(&group.into(), inside);
        let at = at.ok_or_else(|| CodegenError::overflow("a position"))?;
        if count % inside != 0 {
            let exists = self.below(at.clone(), count);
            self.b.open_if(exists);
        }
        Ok(self.position(at))
    }

    /// Opens a loop in which every number below `count` is a block.
    pub(super) fn open_blocks(&mut self, count: i64) -> Value {
        let (block, _) = self.b.open_for(0, count, 1, LoopKind::Parallel(Level::Block), &[]);
        self.position(block.into())
    }

    /// An expression of loop variables as a position.
    pub(super) fn position(&mut self, at: Affine) -> Value {
        self.b.index(at, Type::scalar(self.integer))
    }

    /// Is an expression of loop variables, which is not negative, below a bound?
    pub(super) fn below(&mut self, at: Affine, bound: i64) -> Value {
        self.b.holds(vec![Guard { expr: at, bound: bound.into() }], 1)
    }

    /// The type of a tensor.
    pub(super) fn ty(&self, tensor: Tensor) -> Lowered<TensorType> {
        match tensor {
            Tensor::Var(var) => Ok(self.call.function.ty(var).clone()),
            Tensor::Temporary(number) => Ok(self.temporaries[number].clone()),
            Tensor::Target => Err(CodegenError::malformed("a library operation has variables as targets")),
        }
    }

    /// The sizes of a tensor.
    pub(super) fn shape(&self, tensor: Tensor) -> Lowered<Vec<i64>> {
        let ty = self.ty(tensor)?;
        ty.space.sizes().ok_or_else(|| CodegenError::unsupported(format!("a library operation on {ty}")))
    }

    /// The memory of a tensor, complex numbers as two elements each. A tensor is read or written in the whole kernel.
    pub(super) fn memory(&mut self, tensor: Tensor, access: Access) -> Lowered<Mem> {
        if let Some(known) = self.tensors.iter().find(|t| t.0 == tensor) {
            return Ok(known.1);
        }
        let ty = self.ty(tensor)?;
        let parts = if ty.dtype.is_complex() { 2 } else { 1 };
        let elements = elements(&self.shape(tensor)?)? * parts;
        let mem = self.b.parameter(tensor.to_string(), ty.dtype.part(), elements, access);
        self.tensors.push((tensor, mem));
        Ok(mem)
    }

    /// An element of a tensor that is only read.
    pub(super) fn read(&mut self, tensor: Tensor, at: Value) -> Lowered<Value> {
        let mem = self.memory(tensor, Access::Read)?;
        let dtype = self.ty(tensor)?.dtype.part();
        Ok(self.b.load(Place { offset: Some(at), ..Place::new(mem, 0) }, Type::scalar(dtype)))
    }

    /// The parts of an element of an operand, computed where that is a matter of its position.
    pub(super) fn operand(&mut self, operand: Var, at: Value, position: &[Value]) -> Lowered<Vec<Value>> {
        match known(self.call.function, operand) {
            Some(&FieldKind::Const(value)) => Ok(vec![self.b.splat(value, 1)]),
            Some(&FieldKind::Index { axis }) => {
                let dtype = self.call.function.ty(operand).dtype;
                Ok(vec![self.b.convert(position[axis], dtype)])
            }
            _ => self.read_all(&[operand], at),
        }
    }

    /// The parts of the elements of a variable: the real and the imaginary part of complex numbers.
    pub(super) fn parts(&self, var: Var) -> Vec<Part> {
        let dtype = self.call.function.ty(var).dtype;
        let count = if dtype.is_complex() { 2 } else { 1 };
        (0..count).map(|number| Part { number, count, dtype: dtype.part() }).collect()
    }

    /// The number of a part of an element.
    pub(super) fn part(&mut self, at: Value, part: Part) -> Value {
        let first = self.scaled(at, part.count);
        match part.number {
            0 => first,
            number => {
                let number = self.int(number);
                self.add(first, number)
            }
        }
    }

    /// The parts of an element of each of these operands, which are only read.
    pub(super) fn read_all(&mut self, operands: &[Var], at: Value) -> Lowered<Vec<Value>> {
        let mut values = Vec::new();
        for &operand in operands {
            for part in self.parts(operand) {
                let at = self.part(at, part);
                values.push(self.read(Tensor::Var(operand), at)?);
            }
        }
        Ok(values)
    }

    /// Stores the parts of an element of each of these targets, which are only written.
    pub(super) fn write_all(&mut self, targets: &[Var], at: Value, values: &[Value]) -> Lowered<()> {
        let mut values = values.iter();
        for &target in targets {
            for part in self.parts(target) {
                let at = self.part(at, part);
                let missing = || CodegenError::malformed("a result without a value");
                self.write(Tensor::Var(target), at, *values.next().ok_or_else(missing)?)?;
            }
        }
        Ok(())
    }

    /// An element of a tensor that is only read, and zero where `exists` does not hold.
    pub(super) fn read_if(&mut self, exists: Value, tensor: Tensor, at: Value) -> Lowered<Value> {
        let mem = self.memory(tensor, Access::Read)?;
        let dtype = self.ty(tensor)?.dtype.part();
        let place = Place { offset: Some(at), mask: Some(exists), ..Place::new(mem, 0) };
        Ok(self.b.load(place, Type::scalar(dtype)))
    }

    /// Stores an element of a tensor that is only written.
    pub(super) fn write(&mut self, tensor: Tensor, at: Value, value: Value) -> Lowered<()> {
        let mem = self.memory(tensor, Access::Write)?;
        self.b.store(Place { offset: Some(at), ..Place::new(mem, 0) }, value);
        Ok(())
    }

    /// A position that is known.
    pub(super) fn int(&mut self, value: i64) -> Value {
        let value = Scalar::from_i128(self.integer, value.into());
        self.b.splat(value, 1)
    }

    pub(super) fn add(&mut self, x: Value, y: Value) -> Value {
        self.b.binary(BinaryOp::Add, x, y)
    }

    pub(super) fn sub(&mut self, x: Value, y: Value) -> Value {
        self.b.binary(BinaryOp::Sub, x, y)
    }

    pub(super) fn scaled(&mut self, x: Value, by: i64) -> Value {
        if by == 1 {
            return x;
        }
        let by = self.int(by);
        self.b.binary(BinaryOp::Mul, x, by)
    }

    /// A number of any integer type, so many times.
    pub(super) fn scaled_by(&mut self, x: Value, by: i64) -> Value {
        let by = Scalar::from_i128(self.b.ty(x).dtype, by.into());
        let by = self.b.splat(by, 1);
        self.b.binary(BinaryOp::Mul, x, by)
    }

    /// The quotient of a position that is not negative.
    pub(super) fn quotient(&mut self, x: Value, by: i64) -> Value {
        if by == 1 {
            return x;
        }
        let by = self.int(by);
        self.b.binary(BinaryOp::Div, x, by)
    }

    /// The remainder of a position that is not negative.
    pub(super) fn remainder(&mut self, x: Value, by: i64) -> Value {
        let by = self.int(by);
        self.b.binary(BinaryOp::Rem, x, by)
    }

    pub(super) fn compare(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    pub(super) fn and(&mut self, x: Value, y: Value) -> Value {
        self.b.binary(BinaryOp::And, x, y)
    }

    /// `low <= x < high`
    pub(super) fn within(&mut self, x: Value, low: Value, high: Value) -> Value {
        let above = self.compare(BinaryOp::Ge, x, low);
        let below = self.compare(BinaryOp::Lt, x, high);
        self.and(above, below)
    }

    /// The position with this row-major number in a box.
    pub(super) fn unravel(&mut self, number: Value, shape: &[i64]) -> Vec<Value> {
        let mut rest = number;
        let mut position = vec![number; shape.len()];
        for (axis, &size) in shape.iter().enumerate().rev() {
            position[axis] = match (size, axis) {
                (1, _) => self.int(0),
                (_, 0) => rest,
                _ => self.remainder(rest, size),
            };
            rest = self.quotient(rest, size.max(1));
        }
        position
    }

    /// The row-major number of a position in a box.
    pub(super) fn ravel(&mut self, position: &[Value], shape: &[i64]) -> Value {
        let mut number = None;
        for (&at, &size) in position.iter().zip(shape) {
            number = match number {
                None => Some(at),
                Some(before) => {
                    let before = self.scaled(before, size);
                    Some(self.add(before, at))
                }
            };
        }
        match number {
            Some(number) => number,
            None => self.int(0),
        }
    }

    /// A position that a program gives, moved to the nearest from `low` to `high`, which a position can have.
    pub(super) fn clamped(&mut self, value: Value, low: i64, high: i64) -> Value {
        let dtype = self.b.ty(value).dtype;
        let fits = |n: i64| Scalar::from_i128(dtype, n.into()).as_i128() == Some(n.into());
        // A bound that the type of the value does not have is one that the value cannot pass.
        let mut value = value;
        if fits(low) {
            let low = self.b.splat(Scalar::from_i128(dtype, low.into()), 1);
            value = self.b.binary(BinaryOp::Max, value, low);
        }
        if fits(high) {
            let high = self.b.splat(Scalar::from_i128(dtype, high.into()), 1);
            value = self.b.binary(BinaryOp::Min, value, high);
        }
        self.b.convert(value, self.integer)
    }

    /// Runs `body` for every number below `count`, one after the other, with values that it carries from these on.
    pub(super) fn fold(
        &mut self,
        count: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        self.fold_numbers(count, inits, |maker, variable, carried| {
            let number = maker.position(variable.into());
            body(maker, number, carried)
        })
    }

    /// As [`Maker::fold`], with the variable of the loop.
    pub(super) fn fold_numbers(
        &mut self,
        count: i64,
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let (variable, carried) = self.b.open_for(0, count, 1, LoopKind::Serial, inits);
        let next = body(self, variable, &carried)?;
        Ok(self.b.close_for(&next))
    }

    /// Runs `body` for every number from the first bound up to the second, with values that it carries from these on.
    pub(super) fn fold_between(
        &mut self,
        bounds: [Value; 2],
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        let [low, high] = bounds.map(|bound| Affine::from(self.b.convert(bound, DType::I64)));
        let (variable, carried) = self.b.open_for(low, high, 1, LoopKind::Serial, inits);
        let number = self.position(variable.into());
        let next = body(self, number, &carried)?;
        Ok(self.b.close_for(&next))
    }

    /// The first position between two bounds, at most `length` apart, that does not come before what is looked for: a binary
    /// search. `before` says of a position whether it does.
    pub(super) fn search(
        &mut self,
        length: i64,
        bounds: [Value; 2],
        before: impl FnOnce(&mut Self, Value) -> Lowered<Value>,
    ) -> Lowered<Value> {
        let steps = (0..63).find(|&p| 1i64 << p > length).unwrap_or(63);
        let found = self.fold(steps, &bounds, |maker, _, bounds| {
            let is_open = maker.compare(BinaryOp::Lt, bounds[0], bounds[1]);
            maker.when(is_open, bounds, |maker| {
                let sum = maker.add(bounds[0], bounds[1]);
                let probe = maker.quotient(sum, 2);
                let before = before(maker, probe)?;
                let one = maker.int(1);
                let behind = maker.add(probe, one);
                Ok(vec![maker.b.select(before, behind, bounds[0]), maker.b.select(before, bounds[1], probe)])
            })
        })?;
        Ok(found[0])
    }

    /// A number as a position.
    pub(super) fn position_of(&mut self, number: Value) -> Value {
        self.b.convert(number, self.integer)
    }

    /// The values of `then` where the condition holds, else these.
    pub(super) fn when(
        &mut self,
        condition: Value,
        otherwise: &[Value],
        then: impl FnOnce(&mut Self) -> Lowered<Vec<Value>>,
    ) -> Lowered<Vec<Value>> {
        self.b.open_if(condition);
        let values = then(self)?;
        self.b.open_else(&values);
        Ok(self.b.close_if(otherwise))
    }
}

/// A part of the elements of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its number, and how many parts an element has.
    pub(super) number: i64,
    pub(super) count: i64,
    pub(super) dtype: DType,
}

impl Part {
    /// Its number, of the element with this number.
    pub(super) fn of(&self, element: &Affine) -> Lowered<Affine> {
        let at = element.times(self.count).and_then(|at| at.plus(&self.number.into(), 1));
        at.ok_or_else(|| CodegenError::overflow("a position"))
    }
}

/// The field that a variable is assigned, if every element of it is known by its position.
pub(super) fn known(function: &Function, var: Var) -> Option<&FieldKind> {
    let &StatementKind::Store { field, .. } = setting(function, var)? else { return None };
    let kind = &function.fields[field].kind;
    let is_known = matches!(kind, FieldKind::Const(_) | FieldKind::Index { .. });
    Some(kind).filter(|_| is_known && !function.ty(var).dtype.is_complex())
}

/// The number that all elements of a variable are, if it is written out.
pub(super) fn literal(function: &Function, var: Var) -> Option<Scalar> {
    match setting(function, var)? {
        &StatementKind::Store { field, .. } => match function.fields[field].kind {
            FieldKind::Const(value) => Some(value),
            _ => None,
        },
        StatementKind::Constant { value, .. } => (value.len() == 1).then(|| value.get(0)),
        _ => None,
    }
}

/// The assignment or the constant that sets a variable.
fn setting(function: &Function, var: Var) -> Option<&StatementKind> {
    let mut work = vec![&function.body];
    while let Some(block) = work.pop() {
        for statement in &block.statements {
            match &statement.kind {
                kind @ (StatementKind::Store { target, .. } | StatementKind::Constant { target, .. })
                    if *target == var =>
                {
                    return Some(kind);
                }
                _ => work.extend(statement.regions().iter().map(|r| &r.body)),
            }
        }
    }
    None
}

/// How many elements a box has.
pub(super) fn elements(shape: &[i64]) -> Lowered<i64> {
    let product = shape.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
    // Complex numbers are two elements each.
    product.filter(|n| n.checked_mul(2).is_some()).ok_or_else(|| CodegenError::overflow("a tensor"))
}
