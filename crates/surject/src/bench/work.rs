//! The least that a function must do: bytes that come in and go out, and multiplications with additions.

use surject_ir::{AccOp, BinaryOp, Block, FieldKind, Function, StatementKind, TensorType};

/// The work of a function.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Bytes of arguments and results.
    pub bytes: f64,
    /// Operations of sums of products, two for every product; those of loops are counted once.
    pub flops: f64,
}

/// Counts.
pub fn of(function: &Function) -> Work {
    let size = |ty: &TensorType| ty.space.points().unwrap_or(0) as f64 * ty.dtype.size() as f64;
    let params = function.params.iter().map(|&p| size(function.ty(p)));
    let bytes = params.chain(function.result_types().iter().map(size)).sum();
    let mut work = Work { bytes, flops: 0.0 };
    let mut blocks: Vec<&Block> = vec![&function.body];
    let mut counted = std::collections::HashSet::new();
    while let Some(block) = blocks.pop() {
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
                        if let FieldKind::Acc { op: AccOp::Add, of, .. } = node.kind {
                            let of = &function.fields[of];
                            if matches!(of.kind, FieldKind::Binary { op: BinaryOp::Mul, .. }) {
                                work.flops += 2.0 * of.space.points().unwrap_or(0) as f64;
                            }
                        }
                    }
                }
                StatementKind::While { cond, body, .. } => blocks.extend([&cond.body, &body.body]),
                StatementKind::If { branches, .. } => blocks.extend(branches.iter().map(|b| &b.body)),
                StatementKind::Constant { .. } | StatementKind::Call { .. } => {}
            }
        }
    }
    work
}
