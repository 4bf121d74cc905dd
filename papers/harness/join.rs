//! Two functions over the same parameters as one function with the results of both.

use std::collections::HashMap;
use surject_ir::{Field, FieldId, FieldKind, Function, Statement, StatementKind, TypeError, Var};

/// Joins two functions. The parameters are identified in order, so their types must be equal; only stores and
/// literals can be joined.
pub fn join(left: &Function, right: &Function) -> Result<Function, String> {
    if left.types(&left.params) != right.types(&right.params) {
        return Err("the two sides have parameters of different types".to_string());
    }
    if left.result_types() != right.result_types() {
        return Err("the two sides have results of different types".to_string());
    }
    let mut joined = left.clone();
    let mut vars: HashMap<Var, Var> = right.params.iter().copied().zip(left.params.iter().copied()).collect();
    let mut fields: HashMap<FieldId, FieldId> = HashMap::new();
    for statement in &right.body.statements {
        let kind = match &statement.kind {
            StatementKind::Store { target, field } => {
                for id in right.fields.reachable(&[*field]) {
                    if fields.contains_key(&id) {
                        continue;
                    }
                    let copy = copy(&mut joined, &right.fields[id], &vars, &fields);
                    fields.insert(id, copy.map_err(|e| e.to_string())?);
                }
                StatementKind::Store {
                    target: fresh(&mut joined, right, *target, &mut vars),
                    field: fields[field],
                }
            }
            StatementKind::Constant { target, value } => StatementKind::Constant {
                target: fresh(&mut joined, right, *target, &mut vars),
                value: value.clone(),
            },
            _ => return Err("only stores and literals can be joined".to_string()),
        };
        joined.body.statements.push(Statement::new(kind));
    }
    let results: Vec<Var> = right.body.results.iter().map(|r| vars[r]).collect();
    joined.body.results.extend(results);
    Ok(joined)
}

fn fresh(joined: &mut Function, right: &Function, var: Var, vars: &mut HashMap<Var, Var>) -> Var {
    let copy = joined.var(right.name_of(var), right.ty(var).clone());
    vars.insert(var, copy);
    copy
}

/// A field of the right side in the arena of both; its children are there already.
fn copy(
    joined: &mut Function,
    field: &Field,
    vars: &HashMap<Var, Var>,
    fields: &HashMap<FieldId, FieldId>,
) -> Result<FieldId, TypeError> {
    if let FieldKind::Tensor(var) = field.kind {
        return Ok(joined.tensor(vars[&var]));
    }
    let arena = &mut joined.fields;
    let at = |id: &FieldId| fields[id];
    match &field.kind {
        FieldKind::Tensor(_) => unreachable!("handled above"),
        FieldKind::Read { map, of } => arena.read(map.clone(), at(of)),
        FieldKind::Acc { op, map, of } => arena.acc(*op, map.clone(), at(of)),
        FieldKind::Index { axis } => arena.index(&field.space, *axis, field.dtype),
        FieldKind::Const(value) => Ok(arena.constant(&field.space, *value)),
        FieldKind::Unary { op, x } => arena.unary(*op, at(x)),
        FieldKind::Binary { op, x, y } => arena.binary(*op, at(x), at(y)),
        FieldKind::Select { cond, on_true, on_false } => arena.select(at(cond), at(on_true), at(on_false)),
        FieldKind::Convert { x } => Ok(arena.convert(field.dtype, at(x))),
        FieldKind::Bitcast { x } => arena.bitcast(field.dtype, at(x)),
        FieldKind::ReducePrecision { exponent, mantissa, x } => {
            arena.reduce_precision(*exponent, *mantissa, at(x))
        }
    }
}
