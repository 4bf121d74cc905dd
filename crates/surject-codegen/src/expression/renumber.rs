//! Sets that only number the points of a tensor anew, in the same order: reshapes between shapes that have no common
//! refinement. Their element at a position is the element with the same row-major number, and so is that of all that
//! is computed point by point.

use crate::expression::address::{Lin, LoopId};
use crate::expression::compose::{compose, linearise, sizes};
use std::collections::HashMap;
use surject_ir::{AccOp, FieldId, FieldKind, Function, Var};

/// What is numbered anew by a field; `None` where it is something else, or is not computed point by point from tensors
/// alone. `excluded` says which tensors are not in memory.
pub(crate) fn renumbered(
    function: &Function,
    field: FieldId,
    excluded: &dyn Fn(Var) -> bool,
) -> Option<FieldId> {
    let fields = &function.fields;
    let FieldKind::Acc { op: AccOp::Set, map, of } = &fields[field].kind else { return None };
    let (from, to) = (sizes(map.domain()).ok()?, sizes(map.codomain()).ok()?);
    if from.len() > usize::from(u8::MAX) || map.domain().points()? != map.codomain().points()? {
        return None;
    }
    let position: Vec<Lin> = (0..from.len()).map(|axis| Lin::var(LoopId(axis as u8))).collect();
    let same = linearise(&from, &position).ok()? == linearise(&to, &compose(map, &position).ok()?).ok()?;
    let said = |id: FieldId| match &fields[id].kind {
        FieldKind::Tensor(var) => !excluded(*var),
        FieldKind::Const(_) => true,
        FieldKind::Index { .. } | FieldKind::Read { .. } | FieldKind::Acc { .. } => false,
        _ => true,
    };
    (same && !fields.reachable(&[*of]).into_iter().any(|id| !said(id))).then_some(*of)
}

/// The position in a shape of the point with a number.
pub(crate) fn numbered(sizes: &[i64], number: Lin) -> Vec<Lin> {
    let mut position = vec![Lin::default(); sizes.len()];
    if let Some(last) = sizes.iter().rposition(|&n| n != 1) {
        position[last] = number;
    }
    position
}

/// Is a field a tensor that is numbered anew, and nothing else?
pub(crate) fn shaped_anew(function: &Function, field: FieldId, inlined: &HashMap<Var, FieldId>) -> bool {
    renumbered(function, field, &|var| inlined.contains_key(&var))
        .is_some_and(|of| matches!(function.fields[of].kind, FieldKind::Tensor(_)))
}

/// Does a field read few of the elements of a tensor that is numbered anew?
pub(crate) fn seldom(
    function: &Function,
    reader: FieldId,
    target: Var,
    field: FieldId,
    inlined: &HashMap<Var, FieldId>,
) -> bool {
    /// One of so many.
    const FEW: u64 = 4;
    let fields = &function.fields;
    let tensor = |id: FieldId| matches!(fields[id].kind, FieldKind::Tensor(var) if var == target);
    let points = |id: FieldId| match &fields[id].kind {
        _ if id == reader && tensor(id) => fields[id].space.points(),
        FieldKind::Read { map, of } if tensor(*of) => map.domain().points(),
        kind if kind.children().any(tensor) => fields[id].space.points(),
        _ => Some(0),
    };
    let reads = fields.reachable(&[reader]).into_iter().try_fold(0u64, |n, id| n.checked_add(points(id)?));
    let all = fields[field].space.points();
    let few = reads.and_then(|n| n.checked_mul(FEW)).zip(all).is_some_and(|(n, all)| n <= all);
    few && renumbered(function, field, &|var| inlined.contains_key(&var)).is_some()
}
