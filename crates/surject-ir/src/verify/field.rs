//! The rules of fields, checked on nodes as they stand, whoever built them.

use super::{Fault, Problem};
use crate::sizes::{differs, same_space};
use crate::{AccOp, DType, Field, FieldId, FieldKind, Function, TensorType, TypeError};
use surject_index::{Facts, IndexMap};

/// Checks one field, given that the fields before it are checked.
pub(super) fn check(
    function: &Function,
    facts: Option<&Facts>,
    id: FieldId,
    field: &Field,
) -> Result<(), Fault> {
    if let Some(child) = field.kind.children().find(|c| c.0 >= id.0) {
        return Err(Problem::NoField(child).into());
    }
    let found = TensorType::new(field.dtype, field.space.clone());
    let made = derive(function, facts, id, field)?;
    let is_made = found.dtype == made.dtype && differs(&found.space, &made.space, facts).is_none();
    if is_made { Ok(()) } else { Err(Problem::FieldType(id).into()) }
}

/// The type a field has by its node.
fn derive(
    function: &Function,
    facts: Option<&Facts>,
    id: FieldId,
    field: &Field,
) -> Result<TensorType, Fault> {
    let fields = &function.fields;
    let ty = |f: FieldId| TensorType::new(fields[f].dtype, fields[f].space.clone());
    let fault = |error: TypeError| Fault::from(Problem::Field(id, error));
    let undefined = |op: &'static str, dtypes: Vec<DType>| fault(TypeError::Undefined { op, dtypes });
    let one_space = |what: &'static str, a: FieldId, b: FieldId| {
        same_space(what, &fields[b].space, &fields[a].space, facts).map_err(fault)
    };
    Ok(match &field.kind {
        FieldKind::Tensor(var) => {
            function.vars.get(var.0 as usize).ok_or(Problem::NoVariable(*var))?.ty.clone()
        }
        FieldKind::Read { map, of } => {
            let of = ty(*of);
            same_space("the codomain of a read", map.codomain(), &of.space, facts).map_err(fault)?;
            let bits = of.dtype.bits();
            let fill_fits = map.fill().is_none_or(|f| bits == 128 || f.0 >> bits == 0);
            if !fill_fits || map.is_total() && !is_inside(map, facts) {
                return Err(Problem::UnsafeRead(id, map.to_string()).into());
            }
            TensorType::new(of.dtype, map.domain().clone())
        }
        FieldKind::Acc { op, map, of } => {
            let of = ty(*of);
            same_space("the domain of an accumulation", map.domain(), &of.space, facts).map_err(fault)?;
            if !map.is_total() {
                return Err(fault(TypeError::PartialAcc));
            }
            if !is_inside(map, facts) {
                return Err(Problem::UnsafeRead(id, map.to_string()).into());
            }
            if !op.is_defined(of.dtype) {
                return Err(undefined(op.name(), vec![of.dtype]));
            }
            let bijective = || match facts {
                Some(facts) => map.bijective_given(facts),
                None => map.bijective(),
            };
            if *op == AccOp::Set && !bijective().is_yes() {
                return Err(fault(TypeError::SetNeedsBijection(map.to_string())));
            }
            TensorType::new(of.dtype, map.codomain().clone())
        }
        FieldKind::Index { axis } => {
            if *axis >= field.space.rank() {
                return Err(fault(TypeError::Axis { axis: *axis, space: field.space.clone() }));
            }
            if field.dtype.is_bool() {
                return Err(undefined("index", vec![field.dtype]));
            }
            TensorType::new(field.dtype, field.space.clone())
        }
        FieldKind::Const(value) => TensorType::new(value.dtype(), field.space.clone()),
        FieldKind::Unary { op, x } => {
            let x = ty(*x);
            let dtype = op.result(x.dtype).ok_or_else(|| undefined(op.name(), vec![x.dtype]))?;
            TensorType::new(dtype, x.space)
        }
        FieldKind::Binary { op, x, y } => {
            one_space(op.name(), *x, *y)?;
            let (a, b) = (ty(*x), ty(*y));
            let dtype = op.result(a.dtype, b.dtype);
            TensorType::new(dtype.ok_or_else(|| undefined(op.name(), vec![a.dtype, b.dtype]))?, a.space)
        }
        FieldKind::Select { cond, on_true, on_false } => {
            one_space("select", *cond, *on_true)?;
            one_space("select", *on_true, *on_false)?;
            let dtypes = vec![ty(*cond).dtype, ty(*on_true).dtype, ty(*on_false).dtype];
            if dtypes[0] != DType::I1 || dtypes[1] != dtypes[2] {
                return Err(undefined("select", dtypes));
            }
            ty(*on_true)
        }
        FieldKind::Convert { x } => TensorType::new(field.dtype, ty(*x).space),
        FieldKind::Bitcast { x } => {
            let x = ty(*x);
            if x.dtype.bits() != field.dtype.bits() {
                return Err(undefined("bitcast", vec![x.dtype, field.dtype]));
            }
            TensorType::new(field.dtype, x.space)
        }
        FieldKind::ReducePrecision { exponent, x, .. } => {
            let x = ty(*x);
            if !x.dtype.is_float() || *exponent == 0 {
                return Err(undefined("reduce_precision", vec![x.dtype]));
            }
            x
        }
    })
}

/// Does every component of a total map stay inside?
fn is_inside(map: &IndexMap, facts: Option<&Facts>) -> bool {
    let shapes = map.components().len() == map.codomain().rank();
    shapes
        && match facts {
            Some(facts) => map.stays_inside_given(facts),
            None => map.stays_inside_given(&Facts::default()),
        }
}
