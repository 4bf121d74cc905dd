//! The reverse of library calls.

mod fft;
mod indexed;
mod lapack;
mod linalg;
mod reduce;
mod scatter;
mod sort;
mod window;

use crate::sweep::{Result, Sweep};
use surject_index::Extent;
use surject_ir::{BinaryOp, FieldId, FieldKind, Fields, LibOp, Region, Statement, StatementKind, Var};

impl Sweep {
    /// The reverse of a call. Gives what stands in its place in the forward part.
    pub(crate) fn reverse_call(&mut self, statement: Statement) -> Result<Vec<Statement>> {
        let StatementKind::Call { targets, op, args, regions } = &statement.kind else {
            return Ok(vec![statement]);
        };
        let cotangents = self.take_all(targets)?;
        if !targets.iter().zip(&cotangents).any(|(&t, c)| c.is_some() && self.smooth(t)) {
            return Ok(vec![statement]);
        }
        let first = cotangents.first().copied().flatten();
        match (op, first) {
            (LibOp::Sort { axis, .. }, _) => return self.reverse_sort(&statement, *axis, &cotangents),
            (LibOp::Gather { dims, slice_sizes, indices_are_sorted }, Some(c)) => {
                let sizes: Vec<Extent> = slice_sizes.iter().copied().map(Extent::Const).collect();
                self.reverse_gather((dims, &sizes), *indices_are_sorted, args, c)?;
            }
            (LibOp::GatherDynamicSliceSizes { dims, slice_sizes, indices_are_sorted }, Some(c)) => {
                self.reverse_gather((dims, slice_sizes), *indices_are_sorted, args, c)?;
            }
            (LibOp::DynamicTruncate { .. }, Some(c)) => self.reverse_truncate(args, c)?,
            (LibOp::Scatter { dims, unique_indices, .. }, Some(c)) if targets.len() == 1 => {
                self.reverse_scatter(dims, *unique_indices, args, &regions[0], targets[0], c)?;
            }
            (LibOp::DynamicSlice { .. }, Some(c)) => self.reverse_dynamic_slice(args, c)?,
            (LibOp::DynamicUpdateSlice, Some(c)) => self.reverse_dynamic_update_slice(args, c)?,
            (LibOp::SelectAndScatter { window }, Some(c)) => {
                self.reverse_select_and_scatter(window, args, regions, c)?;
            }
            (LibOp::Fft { kind, lengths }, Some(c)) => self.reverse_fft(*kind, lengths, args[0], c)?,
            (LibOp::Cholesky { lower }, Some(c)) => self.reverse_cholesky(*lower, targets[0], args[0], c)?,
            (LibOp::TriangularSolve { .. }, Some(c)) => {
                self.reverse_triangular_solve(op, targets[0], args, c)?;
            }
            (LibOp::Reduce { .. } | LibOp::ReduceWindow { .. }, _) => {
                self.reverse_reduction(op, args, &regions[0], &cotangents)?;
            }
            (LibOp::Constraint { .. }, Some(c)) => {
                // The cotangent lies where the value does.
                let (c, name) = (self.stored(&self.part_name(), c), self.cotangent_name(args[0]));
                let constrained = self.call_one(&name, op.clone(), vec![c], Vec::new())?;
                let constrained = self.f.tensor(constrained);
                self.contribute(args[0], constrained);
            }
            (LibOp::Lapack { routine }, _) => {
                self.reverse_lapack(*routine, targets, args, &cotangents)?;
            }
            (LibOp::Devices { .. }, _) => {
                return Err(
                    self.unsupported("a derivative would have to pass through what several devices do")
                );
            }
            (LibOp::BitcastReshape { .. }, _) => {
                return Err(self.unsupported("a derivative would have to pass through the bits"));
            }
            (LibOp::Scatter { .. }, _) => {
                return Err(self.unsupported("several tensors that are scattered together"));
            }
            // A call with one result and no cotangent has no reverse.
            (_, None) => {}
        }
        Ok(vec![statement])
    }

    /// The cotangent of a variable so far, as a tensor that a call can go on from: zeros where nothing has arrived.
    /// What goes on from it is the whole cotangent.
    pub(crate) fn so_far(&mut self, var: Var) -> Result<Var> {
        let name = self.cotangent_name(var);
        match self.take(var)? {
            Some(field) => Ok(self.stored(&name, field)),
            None => Ok(self.zeros_like(&name, var)),
        }
    }
}

/// What a region of scalars computes from its first two parameters, the old and the new element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// The old element.
    Old,
    /// The new element.
    New,
    /// An operation of both.
    Op(BinaryOp),
}

/// What a region with one result computes, where that is one operation of its parameters or one of them. `flipped`
/// says that the operation has the new element on the left.
pub(crate) fn joined(fields: &Fields, region: &Region) -> Option<(Joined, bool)> {
    let (&[old, new], &[result]) = (&region.params[..], &region.body.results[..]) else { return None };
    let stored = |var: Var| -> Option<FieldId> {
        region.body.statements.iter().find_map(|s| match s.kind {
            StatementKind::Store { target, field } if target == var => Some(field),
            _ => None,
        })
    };
    // Names for names are followed; a chain of them is short.
    let tensor = |mut var: Var| {
        for _ in 0..8 {
            match stored(var).map(|f| &fields[f].kind) {
                Some(FieldKind::Tensor(other)) => var = *other,
                _ => break,
            }
        }
        var
    };
    let result = tensor(result);
    if result == old {
        return Some((Joined::Old, false));
    }
    if result == new {
        return Some((Joined::New, false));
    }
    let FieldKind::Binary { op, x, y } = fields[stored(result)?].kind else { return None };
    let operand = |id: FieldId| match fields[id].kind {
        FieldKind::Tensor(var) => Some(tensor(var)),
        _ => None,
    };
    match (operand(x)?, operand(y)?) {
        (a, b) if a == old && b == new => Some((Joined::Op(op), false)),
        (a, b) if a == new && b == old => Some((Joined::Op(op), true)),
        _ => None,
    }
}
