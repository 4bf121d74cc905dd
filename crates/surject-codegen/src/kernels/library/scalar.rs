//! The scalar functions of library operations.

use super::Lowered;
use super::points::Maker;
use crate::CodegenError;
use crate::kernels::expression::Tensor;
use std::collections::HashMap;
use surject_index::IndexMap;
use surject_ir::{FieldId, FieldKind, Function, Region, StatementKind, Var};
use surject_kernel::{Access, Affine, Place, Type, Value};

impl Maker<'_> {
    /// The results of a scalar function for these arguments, in as many lanes as the widest of them has. Tensors that it
    /// captures are read where they lie.
    pub(super) fn apply(&mut self, region: &Region, arguments: &[Value]) -> Lowered<Vec<Value>> {
        let function = self.call.function;
        let lanes = arguments.iter().map(|&a| self.b.ty(a).lanes).max().unwrap_or(1);
        let arguments = arguments.iter().map(|&a| self.b.broadcast(a, lanes));
        let mut vars: HashMap<Var, Value> = region.params.iter().copied().zip(arguments).collect();
        for statement in &region.body.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    let value = self.scalar(*field, &vars, lanes)?;
                    vars.insert(*target, value);
                }
                StatementKind::Constant { target, value } if value.len() == 1 => {
                    let value = self.b.splat(value.get(0), lanes);
                    vars.insert(*target, value);
                }
                _ => {
                    let what =
                        "a tensor, a loop or a library operation inside of a scalar function of a kernel";
                    return Err(CodegenError::unsupported(what).at(statement.origin.as_deref()));
                }
            }
        }
        let result = |&var: &Var| match vars.get(&var) {
            Some(&value) => Ok(value),
            None => Err(CodegenError::unsupported(format!(
                "`{}`, which a scalar function of a kernel yields and does not define",
                function.name_of(var)
            ))),
        };
        region.body.results.iter().map(result).collect()
    }

    /// The value of a field of rank 0.
    fn scalar(&mut self, root: FieldId, vars: &HashMap<Var, Value>, lanes: usize) -> Lowered<Value> {
        let fields = &self.call.function.fields;
        let mut values: HashMap<FieldId, Value> = HashMap::new();
        // Children stand before parents.
        for id in fields.reachable(&[root]) {
            let field = &fields[id];
            if field.dtype.is_complex() {
                return Err(CodegenError::unsupported("a complex number in a scalar function of a kernel"));
            }
            // What a read takes out of a captured tensor is loaded there.
            if field.space.rank() != 0 {
                continue;
            }
            let known = |child: &FieldId| values[child];
            let ty = Type::vector(field.dtype, lanes);
            let value = match &field.kind {
                FieldKind::Tensor(var) => match vars.get(var) {
                    Some(&value) => value,
                    None => {
                        let one = self.captured(*var, &[])?;
                        self.b.broadcast(one, lanes)
                    }
                },
                FieldKind::Read { map, of } => match (values.get(of), &fields[*of].kind) {
                    (Some(&value), _) if map.guards().is_empty() => value,
                    (None, FieldKind::Tensor(var)) if map.guards().is_empty() => {
                        let one = self.captured(*var, &position(map))?;
                        self.b.broadcast(one, lanes)
                    }
                    _ => return Err(unsupported("a read")),
                },
                FieldKind::Const(value) => self.b.splat(*value, lanes),
                FieldKind::Unary { op, x } => self.b.unary(*op, known(x)),
                FieldKind::Binary { op, x, y } => self.b.binary(*op, known(x), known(y)),
                FieldKind::Select { cond, on_true, on_false } => {
                    self.b.select(known(cond), known(on_true), known(on_false))
                }
                FieldKind::Convert { x } => self.b.convert(known(x), field.dtype),
                FieldKind::Bitcast { x } => self.b.pure(surject_kernel::Op::Bitcast(known(x)), ty),
                FieldKind::ReducePrecision { exponent, mantissa, x } => {
                    self.b.pure(surject_kernel::Op::ReducePrecision(*exponent, *mantissa, known(x)), ty)
                }
                FieldKind::Index { .. } | FieldKind::Acc { .. } => {
                    return Err(unsupported("an accumulation"));
                }
            };
            values.insert(id, value);
        }
        values.get(&root).copied().ok_or_else(|| unsupported("a tensor"))
    }

    /// An element of a tensor that is defined outside of the function.
    fn captured(&mut self, var: Var, position: &[i64]) -> Lowered<Value> {
        let tensor = Tensor::Var(var);
        let shape = self.shape(tensor)?;
        let at = shape.iter().zip(position).fold(0i64, |n, (&size, &p)| n * size + p);
        let mem = self.memory(tensor, Access::Read)?;
        let dtype = self.ty(tensor)?.dtype;
        Ok(self.b.load(Place::new(mem, Affine::from(at)), Type::scalar(dtype)))
    }
}

/// What of a scalar function kernels do not have; `None` where they have all of it.
pub(super) fn refusal(function: &Function, region: &Region) -> Option<String> {
    let mut defined = region.params.clone();
    for statement in &region.body.statements {
        let refused = match &statement.kind {
            StatementKind::Store { target, field } => {
                defined.push(*target);
                refused_field(function, *field, &defined)
            }
            StatementKind::Constant { target, value } => {
                defined.push(*target);
                (value.len() != 1 || value.dtype().is_complex()).then_some("a tensor")
            }
            StatementKind::Call { .. } => Some("a library operation"),
            StatementKind::While { .. } | StatementKind::If { .. } => Some("control flow"),
        };
        if let Some(what) = refused {
            return Some(format!("{what} inside of a scalar function"));
        }
    }
    let is_known = |var: &Var| defined.contains(var);
    (!region.body.results.iter().all(is_known))
        .then(|| "a scalar function that yields what it captures".into())
}

fn refused_field(function: &Function, root: FieldId, defined: &[Var]) -> Option<&'static str> {
    let fields = &function.fields;
    fields.reachable(&[root]).into_iter().find_map(|id| {
        let field = &fields[id];
        match &field.kind {
            _ if field.dtype.is_complex() => Some("a complex number"),
            FieldKind::Tensor(_) => None,
            _ if field.space.rank() != 0 => Some("a tensor"),
            FieldKind::Read { map, .. } if !map.guards().is_empty() => Some("a read with guards"),
            FieldKind::Read { of, .. } if fields[*of].space.rank() != 0 => match fields[*of].kind {
                FieldKind::Tensor(var) if !defined.contains(&var) => None,
                _ => Some("a tensor"),
            },
            FieldKind::Acc { .. } | FieldKind::Index { .. } => Some("an accumulation"),
            _ => None,
        }
    })
}

/// The position that a map of no axes names.
fn position(map: &IndexMap) -> Vec<i64> {
    map.components().iter().map(|c| c.offset).collect()
}

fn unsupported(what: &str) -> CodegenError {
    CodegenError::unsupported(format!("{what} inside of a scalar function of a kernel"))
}
