//! The regions of library operations inside of kernels: scalars in, scalars out.

use std::collections::HashMap;
use surject_ir::{DType, FieldId, FieldKind, Function, Region, StatementKind, Var};
use surject_kernel::{Builder, Op, Type, Value};

/// What a region yields for these arguments; `None` where it has more than arithmetic on its own scalars.
pub fn region(b: &mut Builder, function: &Function, region: &Region, args: &[Value]) -> Option<Vec<Value>> {
    let mut values: HashMap<Var, Value> = region.params.iter().copied().zip(args.iter().copied()).collect();
    for statement in &region.body.statements {
        match &statement.kind {
            StatementKind::Store { target, field } => {
                let value = field_value(b, function, *field, &values)?;
                values.insert(*target, value);
            }
            StatementKind::Constant { target, value } if value.len() == 1 && is_plain(value.dtype()) => {
                let value = b.splat(value.get(0), 1);
                values.insert(*target, value);
            }
            _ => return None,
        }
    }
    region.body.results.iter().map(|result| values.get(result).copied()).collect()
}

/// Is an element one element of a kernel?
fn is_plain(dtype: DType) -> bool {
    !dtype.is_complex()
}

fn field_value(
    b: &mut Builder,
    function: &Function,
    field: FieldId,
    vars: &HashMap<Var, Value>,
) -> Option<Value> {
    let mut made: HashMap<FieldId, Value> = HashMap::new();
    // Children come before their parents.
    for id in function.fields.reachable(&[field]) {
        let data = &function.fields[id];
        if data.space.rank() != 0 || !is_plain(data.dtype) {
            return None;
        }
        let get = |id: &FieldId| made.get(id).copied();
        let ty = Type::scalar(data.dtype);
        let value = match &data.kind {
            FieldKind::Tensor(var) => *vars.get(var)?,
            FieldKind::Const(value) => b.splat(*value, 1),
            FieldKind::Unary { op, x } => b.unary(*op, get(x)?),
            FieldKind::Binary { op, x, y } => b.binary(*op, get(x)?, get(y)?),
            FieldKind::Select { cond, on_true, on_false } => {
                b.select(get(cond)?, get(on_true)?, get(on_false)?)
            }
            FieldKind::Convert { x } => b.convert(get(x)?, data.dtype),
            FieldKind::Bitcast { x } => b.pure(Op::Bitcast(get(x)?), ty),
            FieldKind::ReducePrecision { exponent, mantissa, x } => {
                b.pure(Op::ReducePrecision(*exponent, *mantissa, get(x)?), ty)
            }
            FieldKind::Read { .. } | FieldKind::Acc { .. } | FieldKind::Index { .. } => return None,
        };
        if b.ty(value) != ty {
            return None;
        }
        made.insert(id, value);
    }
    made.get(&field).copied()
}
