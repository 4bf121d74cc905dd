//! Scatters of lines and boxes.

use crate::harness::*;
use crate::library::{F, I, binary, call};
use surject_ir::{BinaryOp, Buffer, DType, LibOp, Scalar, ScatterDims, Statement, StatementKind};

/// Lines of updates, in place and not, shorter and longer than vectors, and in more than one task.
#[test]
fn scattered_lines() {
    for (width, count, dtype) in [(8u64, 9u64, F), (37, 5, I), (70, 3000, F), (129, 1100, DType::F64)] {
        let op = scatter_of_lines();
        let params: &[(DType, &[u64])] = &[(dtype, &[60, width]), (I, &[count, 1]), (dtype, &[count, width])];
        let mut f = call(op, params, |f| vec![binary(f, BinaryOp::Add, dtype)]);
        check(f.clone());
        // The operand is a value of the function, which the call may overwrite.
        let first = f.tensor(f.params[0]);
        let twice = f.fields.binary(BinaryOp::Add, first, first).unwrap();
        let own = f.var_for("", twice);
        f.body.statements.insert(0, Statement::new(StatementKind::Store { target: own, field: twice }));
        if let StatementKind::Call { args, .. } = &mut f.body.statements[1].kind {
            args[0] = own;
        }
        check(f);
    }
}

/// Lines of more than one axis, some of them short, and of narrow types; and windows that are no lines.
#[test]
fn scattered_boxes() {
    for (dtype, axes, op) in [
        (F, [5u64, 4, 3], BinaryOp::Add),
        (DType::U8, [9, 11, 3], BinaryOp::Max),
        (DType::BF16, [2, 3, 5], BinaryOp::Add),
        (DType::I1, [1, 70, 1], BinaryOp::Or),
        (DType::I16, [3, 3, 35], BinaryOp::Min),
    ] {
        let [a, b, c] = axes;
        for (moved, updates) in [(0, [20, a, b, c]), (0, [20, a - a / 2, b, c]), (1, [20, a, b, c])] {
            let dims = ScatterDims {
                update_window_dims: vec![1, 2, 3],
                inserted_window_dims: vec![0],
                scatter_dims_to_operand_dims: vec![moved],
                index_vector_dim: 1,
                ..ScatterDims::default()
            };
            let scatter = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
            let params: &[(DType, &[u64])] = &[(dtype, &[7, a, b, c]), (I, &[20, 1]), (dtype, &updates)];
            check(call(scatter, params, |f| vec![binary(f, op, dtype)]));
        }
    }
}

/// A scatter of lines, each to a line that its index names.
pub fn scatter_of_lines() -> LibOp {
    let dims = ScatterDims {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false }
}

/// Updates of which many in a row go to one line, to no line, or each to another.
#[test]
fn scattered_lines_in_runs() {
    for (width, dtype) in [(8u64, F), (17, DType::F64), (64, I)] {
        for count in [7u64, 8, 61] {
            let op = scatter_of_lines();
            let params: &[(DType, &[u64])] =
                &[(dtype, &[6, width]), (I, &[count, 1]), (dtype, &[count, width])];
            let f = call(op, params, |f| vec![binary(f, BinaryOp::Add, dtype)]);
            for (run, first) in [(20, 0), (8, 0), (20, -1), (3, 2), (1, 4)] {
                let mut args: Vec<Buffer> = (0..3).map(|i| values(f.ty(f.params[i]), i as u64)).collect();
                for i in 0..count {
                    args[1].set(i as usize, Scalar::from_i128(I, i128::from(i / run) + first));
                }
                check_with(f.clone(), 1e-5, Some(args));
            }
        }
    }
}
