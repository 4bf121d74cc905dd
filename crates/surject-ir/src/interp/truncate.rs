//! `DynamicTruncate`: sizes that the data of a run gives.

use super::library::{Odometer, offset, zeros};
use super::{InterpError, Limits, Machine, first};
use crate::truncate::name_of;
use crate::{Buffer, ComputedSizes, Function, LibOp, Statement, StatementKind, Var, size_of_scalar, uses};
use std::collections::HashSet;
use surject_index::{Extent, ScalarSemantics};

/// The sizes that depend on data, for these arguments: what they are computed from is run, and nothing else.
///
/// # Errors
/// Those of a run.
pub fn computed_sizes(function: &Function, arguments: &[Buffer]) -> Result<ComputedSizes, InterpError> {
    let Some(last) = function.truncations().last() else { return Ok(ComputedSizes::new()) };
    crate::verify::function(function)?;
    let declares: HashSet<usize> = function.truncations().map(|t| t.position).collect();
    let mut live: HashSet<Var> = HashSet::new();
    let mut needed: Vec<(&Statement, bool)> = Vec::new();
    for (position, statement) in function.body.statements[..=last.position].iter().enumerate().rev() {
        let is_live = statement.targets().iter().any(|t| live.contains(t));
        if is_live {
            uses::statement(&function.fields, statement, &mut live);
        }
        match &statement.kind {
            StatementKind::Call { args, .. } if declares.contains(&position) => {
                live.extend(args.get(1));
                needed.push((statement, is_live));
            }
            _ if is_live => needed.push((statement, true)),
            _ => {}
        }
    }
    let mut machine = Machine::new(function, arguments, Limits::default())?;
    for (statement, whole) in needed.into_iter().rev() {
        match &statement.kind {
            StatementKind::Call { op: LibOp::DynamicTruncate { axis, semantics, size }, args, .. }
                if !whole =>
            {
                machine.truncated(*axis, *semantics, size, args)?;
            }
            _ => machine.statement(statement).map_err(|e| e.at(&statement.origin))?,
        }
    }
    Ok(machine.computed)
}

impl Machine<'_> {
    /// The size that an axis is truncated to. Where the truncation declares it, it is known from here on, and what has
    /// waited for it is compared.
    pub(super) fn truncated(
        &mut self,
        axis: usize,
        semantics: ScalarSemantics,
        size: &Extent,
        args: &[Var],
    ) -> Result<usize, InterpError> {
        let malformed = || InterpError::Malformed("a truncation without operands".into());
        let (&operand, &scalar) = args.first().zip(args.get(1)).ok_or_else(malformed)?;
        let before = self.function.ty(operand).space.extents().get(axis).ok_or_else(malformed)?.eval(self)?;
        let value = first(self.value(scalar)?).and_then(|value| size_of_scalar(value, semantics));
        let kept = value.ok_or_else(malformed)?.min(before);
        let Some(name) = name_of(size).filter(|name| self.function.is_computed(name)) else {
            return Ok(kept as usize);
        };
        self.computed.insert(name.clone(), kept);
        let all_known = self.function.truncations().all(|t| self.computed.contains_key(&t.name));
        if all_known {
            let (function, args) = (self.function, self.args);
            for (&param, arg) in function.params.iter().zip(args) {
                if self.is_late(param) {
                    self.fits(param, arg)?;
                }
            }
            crate::Call { function, arguments: args }.check_computed(self)?;
        }
        Ok(kept as usize)
    }
}

/// The first elements of a tensor along an axis.
pub(super) fn truncate(x: &Buffer, axis: usize, size: usize) -> Result<Buffer, InterpError> {
    let mut shape = x.shape().to_vec();
    let Some(extent) = shape.get_mut(axis) else {
        return Err(InterpError::Malformed("a truncation of an axis that is not there".into()));
    };
    *extent = size.min(*extent);
    let mut result = zeros(x.dtype(), &shape)?;
    let mut odometer = Odometer::new(&shape);
    while odometer.more() {
        result.set(offset(&shape, &odometer.at), x.get(offset(x.shape(), &odometer.at)));
        odometer.step();
    }
    Ok(result)
}
