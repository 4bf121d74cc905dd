//! Plans: in which order the accumulations of a stored field are materialised, and by which tapes.

use super::tape::{Elements, Source, Tape};
use super::{InterpError, Machine, splat};
use crate::{AccOp, Buffer, DType, FieldId, FieldKind, Scalar, Var, eval};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How a stored field is computed.
#[derive(Debug)]
pub(super) enum Plan {
    /// It is a variable.
    Copy(Var),
    /// Every field listed is materialised in turn; the last one is the stored field.
    Loops(Vec<Loop>),
}

/// One loop nest that fills one tensor.
#[derive(Debug)]
pub(super) struct Loop {
    /// The field that is materialised.
    field: FieldId,
    /// The sizes of its space.
    sizes: Vec<i64>,
    /// The elements before the loop.
    start: Scalar,
    /// The values of the loop; absent when the loop has no points.
    tape: Option<Tape>,
    /// How values reach the tensor.
    write: Write,
}

#[derive(Debug)]
enum Write {
    /// One after the other.
    InOrder,
    /// Joined to the element at the offset that this form of the tape gives.
    Join { op: AccOp, offset: usize },
}

impl Plan {
    /// Plans a field.
    pub(super) fn new(machine: &Machine<'_>, root: FieldId) -> Result<Plan, InterpError> {
        let fields = machine.fields();
        if root.0 as usize >= fields.len() {
            return Err(InterpError::Malformed(format!("field {} does not exist", root.0)));
        }
        if let FieldKind::Tensor(var) = fields[root].kind {
            return Ok(Plan::Copy(var));
        }
        let reachable = fields.reachable(&[root]);
        let mut dense: HashSet<FieldId> = reachable
            .iter()
            .copied()
            .filter(|&id| matches!(fields[id].kind, FieldKind::Acc { .. }))
            .collect();
        if let Some(loops) = Plan::loops(machine, root, &reachable, &dense, true)? {
            return Ok(Plan::Loops(loops));
        }
        // Reads of reads of shared fields multiply; with what is read in memory the tapes are as long as the
        // field has nodes.
        dense.extend(reachable.iter().filter_map(|&id| match fields[id].kind {
            FieldKind::Read { of, .. } if fields[of].kind.children().next().is_some() => Some(of),
            _ => None,
        }));
        let loops = Plan::loops(machine, root, &reachable, &dense, false)?;
        Ok(Plan::Loops(loops.unwrap_or_default()))
    }

    fn loops(
        machine: &Machine<'_>,
        root: FieldId,
        reachable: &[FieldId],
        dense: &HashSet<FieldId>,
        bounded: bool,
    ) -> Result<Option<Vec<Loop>>, InterpError> {
        let fields = machine.fields();
        let mut loops = Vec::new();
        for &id in reachable.iter().filter(|&&id| id == root || dense.contains(&id)) {
            let node = &fields[id];
            let sizes = machine.sizes(&node.space)?;
            // A field is loaded from memory everywhere but where it is computed.
            let (values, accumulate) = match &node.kind {
                FieldKind::Acc { op, map, of } => (*of, Some((*op, map))),
                _ => (id, None),
            };
            let is_dense = |f: FieldId| dense.contains(&f) && (f != id || accumulate.is_some());
            let mut tape = None;
            if !machine.sizes(&fields[values].space)?.contains(&0) {
                tape = Tape::new(machine, values, &is_dense, bounded)?;
                if tape.is_none() {
                    return Ok(None);
                }
            }
            let wide = accumulate.map_or(node.dtype, |(op, _)| accumulator(op, node.dtype));
            let write = match (accumulate, &mut tape) {
                (Some((op, map)), Some(tape)) => {
                    Write::Join { op, offset: tape.linear(&sizes, map.components())? }
                }
                _ => Write::InOrder,
            };
            let start = accumulate.map_or(Scalar::zero(wide), |(op, _)| op.neutral(wide));
            loops.push(Loop { field: id, sizes, start, tape, write });
        }
        Ok(Some(loops))
    }

    /// Computes the field.
    pub(super) fn run(&self, machine: &Machine<'_>) -> Result<Arc<Buffer>, InterpError> {
        let loops = match self {
            Plan::Copy(var) => return machine.value(*var).cloned(),
            Plan::Loops(loops) => loops,
        };
        let mut dense: HashMap<FieldId, Arc<Buffer>> = HashMap::new();
        let mut last = None;
        for nest in loops {
            let value = Arc::new(nest.run(machine, &dense)?);
            last = Some(value.clone());
            dense.insert(nest.field, value);
        }
        last.ok_or_else(|| InterpError::Malformed("a plan without loops".into()))
    }
}

/// The type a sum is accumulated in.
fn accumulator(op: AccOp, dtype: DType) -> DType {
    match (op, dtype) {
        (AccOp::Add | AccOp::Mul, DType::F16 | DType::BF16) => DType::F32,
        _ => dtype,
    }
}

impl Loop {
    fn run(
        &self,
        machine: &Machine<'_>,
        dense: &HashMap<FieldId, Arc<Buffer>>,
    ) -> Result<Buffer, InterpError> {
        let dtype = machine.fields()[self.field].dtype;
        let mut result = splat(self.start, &self.sizes)?;
        if let Some(tape) = &self.tape {
            let missing = || InterpError::Malformed("a field is used before it is computed".into());
            let buffers = tape.sources.iter().map(|source| match source {
                Source::Var(var) => machine.value(*var),
                Source::Field(field) => dense.get(field).ok_or_else(missing),
            });
            let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
            let elements: Vec<Elements<'_>> =
                buffers.iter().map(|b| Elements { dtype: b.dtype(), bytes: b.bytes() }).collect();
            let mut next = 0;
            let len = result.len();
            let wide = result.dtype();
            tape.run(&elements, &mut |value, forms| {
                let (at, value) = match self.write {
                    Write::InOrder => {
                        next += 1;
                        (next - 1, value)
                    }
                    Write::Join { op, offset } => {
                        let at = forms[offset] as usize;
                        if at >= len {
                            return Err(InterpError::Malformed("an accumulation leaves its target".into()));
                        }
                        let joined = eval::acc(op, result.get(at), eval::convert(wide, value));
                        (
                            at,
                            joined
                                .ok_or_else(|| InterpError::Malformed("an undefined accumulation".into()))?,
                        )
                    }
                };
                result.set(at, value);
                Ok(())
            })?;
        }
        if result.dtype() == dtype {
            return Ok(result);
        }
        let shape = result.shape().to_vec();
        let rounded: Vec<Scalar> = (0..result.len()).map(|i| eval::convert(dtype, result.get(i))).collect();
        Buffer::from_scalars(dtype, &shape, &rounded)
            .ok_or_else(|| InterpError::Malformed("an accumulator of another type".into()))
    }
}
