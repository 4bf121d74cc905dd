//! Stored values that are cheaper to compute again than to store: large, made of little, and read once.
//! Tensors with holes are among them, as a window that runs over one may skip the holes (`phase`); where it cannot,
//! they are stored after all.
//!
//! An extraction that stores the difference of every pair of rows, say, before it is squared and summed would
//! write and read a tensor that is many times larger than what it is made of. Such a value is evaluated where it
//! is read.

use crate::expression::renumber::{seldom, shaped_anew};
use crate::expression::uses::Uses;
use std::collections::HashMap;
use surject_ir::{
    AccOp, BinaryOp, Block, FieldId, FieldKind, Function, LibOp, StatementKind, TensorType, UnaryOp, Var,
};

/// Smaller values stay in a cache.
const LARGE: u64 = 1 << 20;

/// What is made of positions alone is computed faster than it is read, unless it stays in the innermost cache.
const POSITIONS: u64 = 1 << 16;

/// How many times larger than its parts a value must be.
const TIMES: u64 = 8;

/// More operations than these are not done again.
const CHEAP: usize = 4;

/// The variables to evaluate where they are read, and their fields.
pub fn find(function: &Function, uses: &Uses) -> HashMap<Var, FieldId> {
    let mut readers: HashMap<Var, Vec<Option<(usize, usize)>>> = HashMap::new();
    let mut candidates = Vec::new();
    let mut stores = HashMap::new();
    let mut blocks: Vec<&Block> = vec![&function.body];
    let mut number = 0;
    while let Some(block) = blocks.pop() {
        for &result in &block.results {
            readers.entry(result).or_default().push(None);
        }
        for (i, statement) in block.statements.iter().enumerate() {
            let mut read = uses.of(statement);
            read.sort_unstable();
            read.dedup();
            // Only a store of the same block may read it.
            let place = match statement.kind {
                StatementKind::Store { target, field } => {
                    candidates.push((number, target, field));
                    stores.insert((number, i), field);
                    Some((number, i))
                }
                _ => None,
            };
            for var in read {
                readers.entry(var).or_default().push(place);
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
        number += 1;
    }
    let mut inlined = HashMap::new();
    for (block, target, field) in candidates {
        let all = readers.get(&target).map_or(&[][..], Vec::as_slice);
        // What is a tensor with other axes lies where that lies, however often it is read; and small integers are loaded
        // as large ones in no more time.
        if !all.is_empty()
            && all.iter().all(|reader| reader.is_some_and(|r| r.0 == block))
            && (shaped_anew(function, field, &inlined) || widened(function, field, &inlined))
        {
            inlined.insert(target, field);
            continue;
        }
        let Some(&[Some(reader)]) = readers.get(&target).map(Vec::as_slice) else { continue };
        // A reader that reduces may go through its elements more than once.
        let reduces = stores.get(&reader).is_none_or(|&field| {
            let all = function.fields.reachable(&[field]);
            all.into_iter().any(|id| matches!(function.fields[id].kind, FieldKind::Acc { .. }))
        });
        let least = if reduces { LARGE } else { POSITIONS };
        let once = reader.0 == block;
        let seldom = || stores.get(&reader).is_some_and(|&r| seldom(function, r, target, field, &inlined));
        let instead = || holes(function, field, &inlined) || seldom();
        if once && (cheap(function, target, field, &inlined, least) || instead()) {
            inlined.insert(target, field);
        }
    }
    inlined
}

/// Is a value, made of stored ones point by point, better computed once than for every window that meets it?
pub(crate) fn is_costly(function: &Function, field: FieldId) -> bool {
    let reached = function.fields.reachable(&[field]);
    let is_made = |id: &FieldId| !matches!(function.fields[*id].kind, FieldKind::Acc { .. });
    let costs = |id: &FieldId| match function.fields[*id].kind {
        FieldKind::Binary { op, .. } => {
            matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2)
        }
        FieldKind::Unary { op, .. } => !matches!(
            op,
            UnaryOp::Neg
                | UnaryOp::Abs
                | UnaryOp::Not
                | UnaryOp::Sign
                | UnaryOp::Floor
                | UnaryOp::Ceil
                | UnaryOp::Real
                | UnaryOp::Imag
                | UnaryOp::IsFinite
        ),
        _ => false,
    };
    reached.iter().all(is_made) && reached.iter().any(costs)
}

/// The variables that are positions along an axis, in library calls that need not load them, and the axes: what is
/// reduced is at a position, which the reduction knows.
pub fn positions(function: &Function, uses: &Uses) -> HashMap<Var, usize> {
    let mut found = HashMap::new();
    let mut others: Vec<Var> = Vec::new();
    let mut blocks: Vec<&Block> = vec![&function.body];
    while let Some(block) = blocks.pop() {
        others.extend(&block.results);
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    let ty = function.ty(*target);
                    if let FieldKind::Index { axis } = function.fields[*field].kind
                        && ty.dtype.is_int()
                        && ty.dtype.size() >= 4
                    {
                        found.insert(*target, axis);
                    }
                    uses.direct(statement, &mut others);
                }
                StatementKind::Call { op: LibOp::Reduce { .. }, targets, args, .. } => {
                    others.extend(args.iter().skip(targets.len()));
                }
                _ => uses.direct(statement, &mut others),
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
    }
    others.iter().for_each(|var| {
        found.remove(var);
    });
    found
}

/// The variables that are the indices of a gather and of nothing else, where that computes them itself, with their
/// fields. Indices are put together of pieces, and each is read once.
pub fn indices(
    function: &Function,
    uses: &Uses,
    inlined: &HashMap<Var, FieldId>,
    computes: &dyn Fn(&StatementKind, Var) -> bool,
) -> HashMap<Var, FieldId> {
    /// More operations than these are not done with a gather.
    const MOST: usize = 16;
    let (mut found, mut literals) = (HashMap::new(), Vec::new());
    let mut reads: HashMap<Var, usize> = HashMap::new();
    let mut blocks: Vec<&Block> = vec![&function.body];
    while let Some(block) = blocks.pop() {
        let mut stores: HashMap<Var, FieldId> = HashMap::new();
        let mut all = block.results.clone();
        for statement in &block.statements {
            uses.direct(statement, &mut all);
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    stores.insert(*target, *field);
                }
                StatementKind::Constant { target, .. } => literals.push(*target),
                StatementKind::Call { op: LibOp::Gather { .. }, targets, args, .. }
                    if targets.first().is_some_and(|&target| computes(&statement.kind, target)) =>
                {
                    // Of the same block: what it is made of has not changed.
                    if let Some((&var, &field)) = args.get(1).and_then(|v| stores.get_key_value(v)) {
                        found.insert(var, field);
                    }
                }
                _ => {}
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
        all.into_iter().for_each(|var| *reads.entry(var).or_default() += 1);
    }
    found.retain(|var, field| {
        let (mut operations, mut varies) = (0, false);
        let plain =
            function.fields.reachable(&[*field]).into_iter().all(|id| match &function.fields[id].kind {
                FieldKind::Tensor(of) => {
                    // What depends on literals alone is computed when the module is loaded.
                    varies |= !literals.contains(of);
                    !inlined.contains_key(of)
                }
                FieldKind::Read { .. } | FieldKind::Const(_) | FieldKind::Index { .. } => true,
                kind => {
                    operations += 1;
                    simple(kind)
                }
            });
        plain && varies && operations <= MOST && reads.get(var) == Some(&1)
    });
    found
}

/// Is it something simple along an injective map with a stride?
pub(crate) fn holes(function: &Function, field: FieldId, inlined: &HashMap<Var, FieldId>) -> bool {
    let FieldKind::Acc { op, map, of } = &function.fields[field].kind else { return false };
    let strided = map.components().iter().any(|c| c.coeffs.iter().any(|k| k.abs() > 1));
    let single = map.components().iter().all(|c| c.coeffs.iter().filter(|&&k| k != 0).count() <= 1);
    if *op == AccOp::Set || !strided || !single || !map.injective().is_yes() {
        return false;
    }
    let mut operations = 0;
    for id in function.fields.reachable(&[*of]) {
        match &function.fields[id].kind {
            FieldKind::Tensor(var) if inlined.contains_key(var) => return false,
            FieldKind::Tensor(_) | FieldKind::Read { .. } | FieldKind::Const(_) => {}
            // A mean of some elements is divided before it is sent to them.
            FieldKind::Binary { op: BinaryOp::Div, .. } if function.fields[id].dtype.is_float() => {
                operations += 1;
            }
            kind => match simple(kind) {
                true => operations += 1,
                false => return false,
            },
        }
    }
    operations <= CHEAP
}

/// Is it a tensor of integers of at most 16 bits, as larger ones?
fn widened(function: &Function, field: FieldId, inlined: &HashMap<Var, FieldId>) -> bool {
    let FieldKind::Convert { x: of } = function.fields[field].kind else { return false };
    let FieldKind::Tensor(var) = function.fields[of].kind else { return false };
    let (from, to) = (function.ty(var).dtype, function.fields[field].dtype);
    !inlined.contains_key(&var) && from.is_int() && to.is_int() && from.size() <= 2 && to.size() >= 4
}

/// An operation that costs little.
fn simple(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Unary { op, .. } => matches!(op, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Not),
        FieldKind::Binary { op, .. } => {
            !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2)
        }
        FieldKind::Select { .. } | FieldKind::Convert { .. } | FieldKind::Bitcast { .. } => true,
        _ => false,
    }
}

/// Is it made of little by few operations, and large? What is made of positions need only be of `least` bytes.
fn cheap(
    function: &Function,
    target: Var,
    field: FieldId,
    inlined: &HashMap<Var, FieldId>,
    least: u64,
) -> bool {
    let bytes =
        |ty: &TensorType| ty.space.points().unwrap_or(u64::MAX).saturating_mul(ty.dtype.size() as u64);
    let ty = function.ty(target);
    if ty.dtype.is_complex() || bytes(ty) < least {
        return false;
    }
    let (mut operations, mut parts) = (0, 0u64);
    for id in function.fields.reachable(&[field]) {
        match &function.fields[id].kind {
            FieldKind::Tensor(var) if inlined.contains_key(var) => return false,
            FieldKind::Tensor(var) => parts = parts.saturating_add(bytes(function.ty(*var))),
            FieldKind::Read { .. } | FieldKind::Const(_) | FieldKind::Index { .. } => {}
            kind => match simple(kind) {
                true => operations += 1,
                false => return false,
            },
        }
    }
    let large = parts == 0 || bytes(ty) >= LARGE;
    large && operations <= CHEAP && parts.saturating_mul(TIMES) <= bytes(ty)
}
