//! What accumulations start from. The initial value of a StableHLO reduction may be joined in more than once: XLA does
//! so with the parts of a long one. It is therefore always the neutral element here, and what a program starts from is
//! joined to the result by an operation of its own.

use super::acc::idempotent;
use super::state::{Result, State};
use super::writer::{Writer, joining};
use surject_ir as ir;
use surject_ir::{AccOp, FieldId, FieldKind, LibOp, Scalar, StatementKind, Var};
use surject_stablehlo::ValueId;

/// The operators of a body that joins n accumulators with n elements, each with its own operator.
fn operators(function: &ir::Function, region: &ir::Region) -> Option<Vec<AccOp>> {
    let n = region.params.len() / 2;
    if region.params.len() != 2 * n || region.body.results.len() != n {
        return None;
    }
    let stored = |var: Var| {
        region.body.statements.iter().find_map(|s| match s.kind {
            StatementKind::Store { target, field } if target == var => Some(field),
            _ => None,
        })
    };
    let is =
        |field: FieldId, var: Var| matches!(function.fields[field].kind, FieldKind::Tensor(v) if v == var);
    (0..n)
        .map(|i| {
            let field = &function.fields[stored(region.body.results[i])?];
            let FieldKind::Binary { op, x, y } = field.kind else { return None };
            let (a, b) = (region.params[i], region.params[n + i]);
            let forward = is(x, a) && is(y, b) || is(x, b) && is(y, a);
            AccOp::from_binary(op).filter(|&acc| forward && joining(acc, field.dtype).is_some())
        })
        .collect()
}

/// A library operation with initial values, as it is written.
pub(super) struct Started {
    /// Its operands: the initial values are neutral elements.
    pub(super) operands: Vec<ValueId>,
    /// The operation, without padding that has been done before it.
    pub(super) op: LibOp,
    /// What each result is still to be joined with.
    rest: Vec<Option<(AccOp, ValueId)>>,
}

impl State {
    /// The element that a scalar variable holds, as far as that is known.
    fn known_scalar(&mut self, var: Var) -> Option<Scalar> {
        let field = self.function.tensor(var);
        match self.field(self.resolved(field)).kind {
            FieldKind::Const(value) => Some(value),
            _ => None,
        }
    }
}

impl Writer<'_, '_> {
    /// Takes what a reduction starts from out of it, where its body is an operator for each result.
    pub(super) fn started(
        &mut self,
        op: &LibOp,
        args: &[Var],
        regions: &[ir::Region],
        mut operands: Vec<ValueId>,
    ) -> Result<Started> {
        let (body, inputs) = match op {
            LibOp::Reduce { .. } | LibOp::ReduceWindow { .. } => (regions.first(), args.len() / 2),
            LibOp::SelectAndScatter { .. } => (regions.get(1), 2),
            _ => (None, args.len()),
        };
        let Some(ops) = body.and_then(|body| operators(&self.st.function, body)) else {
            return Ok(Started { operands, op: op.clone(), rest: Vec::new() });
        };
        let mut rest = Vec::new();
        let mut fills = Vec::new();
        for (i, &join) in ops.iter().enumerate() {
            let at = inputs + i;
            let dtype = self.st.function.ty(args[at]).dtype;
            let known = self.st.known_scalar(args[at]);
            fills.push(operands[at]);
            // A sum that starts from -0.0 starts from its neutral element as it stands.
            if known == Some(join.exact_neutral(dtype)) {
                rest.push(None);
                continue;
            }
            rest.push((!known.is_some_and(|value| join.absorbs(value))).then_some((join, operands[at])));
            operands[at] = self.splat(&[], join.neutral(dtype))?;
        }
        let mut op = op.clone();
        // Padding holds the initial value too, once a position.
        let counts = |(i, rest): (usize, &Option<(AccOp, ValueId)>)| {
            let dtype = self.st.function.ty(args[i]).dtype;
            rest.is_some_and(|(join, _)| !idempotent(join, dtype))
        };
        if let LibOp::ReduceWindow { window } = &mut op
            && rest.iter().enumerate().any(counts)
        {
            let low: Vec<i64> = window.padding.iter().map(|p| p.0).collect();
            let high: Vec<i64> = window.padding.iter().map(|p| p.1).collect();
            let interior: Vec<i64> = window.base_dilations.iter().map(|&n| n as i64 - 1).collect();
            for (i, &fill) in fills.iter().enumerate() {
                operands[i] = self.pad(operands[i], fill, &low, &high, &interior)?;
            }
            window.padding.iter_mut().for_each(|p| *p = (0, 0));
            window.base_dilations.iter_mut().for_each(|n| *n = 1);
        }
        Ok(Started { operands, op, rest })
    }

    /// The results of such an operation, joined with what the program starts from.
    pub(super) fn joined(&mut self, started: &Started, values: Vec<ValueId>) -> Result<Vec<ValueId>> {
        let mut values = values;
        for (value, rest) in values.iter_mut().zip(&started.rest) {
            let Some((join, start)) = *rest else { continue };
            let dtype = self.dtype_of(*value)?;
            let Some(name) = joining(join, dtype) else {
                return Err(self.st.malformed("an operator without an operation"));
            };
            let start = self.in_the_shape_of(start, *value)?;
            *value = self.same(name, &[start, *value])?;
        }
        Ok(values)
    }
}
