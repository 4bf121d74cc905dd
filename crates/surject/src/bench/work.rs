//! The least that a function must do: bytes that come in and go out, and multiplications with additions.

use std::collections::{HashMap, HashSet};
use surject_ir::{AccOp, BinaryOp, Block, FieldKind, Function, LibOp, StatementKind, TensorType, Var};

/// The work of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Bytes of arguments; of one that is read by gathers and slices alone no more than these have.
    pub reads: f64,
    /// Bytes of results.
    pub writes: f64,
    /// Operations of sums of products, two for every product; those of loops are counted once.
    pub flops: f64,
}

/// Counts.
pub fn of(function: &Function) -> Work {
    let size = |ty: &TensorType| ty.space.points().unwrap_or(0) as f64 * ty.dtype.size() as f64;
    let mut work = Work { writes: function.result_types().iter().map(size).sum(), ..Work::default() };
    let mut blocks: Vec<&Block> = vec![&function.body];
    let (mut counted, mut whole, mut chosen) = (HashSet::new(), HashSet::new(), HashMap::<Var, f64>::new());
    while let Some(block) = blocks.pop() {
        whole.extend(&block.results);
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { field, .. } => {
                    let mut open = vec![*field];
                    while let Some(id) = open.pop() {
                        if !counted.insert(id) {
                            continue;
                        }
                        let node = &function.fields[id];
                        open.extend(node.kind.children());
                        if let FieldKind::Tensor(var) = node.kind {
                            whole.insert(var);
                        }
                        if let FieldKind::Acc { op: AccOp::Add, of, .. } = node.kind {
                            let of = &function.fields[of];
                            if matches!(of.kind, FieldKind::Binary { op: BinaryOp::Mul, .. }) {
                                work.flops += 2.0 * of.space.points().unwrap_or(0) as f64;
                            }
                        }
                    }
                }
                StatementKind::Call { op, targets, args, .. } => {
                    let (some, others) = match op {
                        LibOp::Gather { .. } | LibOp::DynamicSlice { .. } => args.split_at(args.len().min(1)),
                        _ => args.split_at(0),
                    };
                    let bytes: f64 = targets.iter().map(|&t| size(function.ty(t))).sum();
                    some.iter().for_each(|&var| *chosen.entry(var).or_default() += bytes);
                    whole.extend(others);
                }
                StatementKind::While { inits, cond, body, .. } => {
                    whole.extend(inits);
                    blocks.extend([&cond.body, &body.body]);
                }
                StatementKind::If { index, branches, .. } => {
                    whole.insert(*index);
                    blocks.extend(branches.iter().map(|b| &b.body));
                }
                StatementKind::Constant { .. } => {}
            }
        }
    }
    let read = |&param: &Var| {
        let all = size(function.ty(param));
        chosen.get(&param).filter(|_| !whole.contains(&param)).map_or(all, |some| some.min(all))
    };
    work.reads = function.params.iter().map(read).sum();
    work
}
