//! Scatters of lines and boxes.

use crate::harness::*;
use crate::library::{F, I, binary, call};
use surject_codegen::Target;
use surject_ir::{BinaryOp, Buffer, DType, Function, LibOp, Scalar, ScatterDims, Statement, StatementKind};

/// Lines of updates, in place and not, shorter and longer than vectors, and in more than one task.
#[test]
fn scattered_lines() {
    for (width, count, dtype) in [(8u64, 9u64, F), (37, 5, I), (70, 3000, F), (129, 1100, DType::F64)] {
        let op = scatter_of_lines();
        let params: &[(DType, &[u64])] = &[(dtype, &[60, width]), (I, &[count, 1]), (dtype, &[count, width])];
        let mut f = call(op, params, |f| vec![binary(f, BinaryOp::Add, dtype)]);
        check(f.clone());
        own_operand(&mut f);
        check(f);
    }
}

/// Makes the operand a value of the function, which the call may overwrite.
fn own_operand(f: &mut Function) {
    let first = f.tensor(f.params[0]);
    let twice = f.fields.binary(BinaryOp::Add, first, first).unwrap();
    let own = f.var_for("", twice);
    f.body.statements.insert(0, Statement::new(StatementKind::Store { target: own, field: twice }));
    if let StatementKind::Call { args, .. } = &mut f.body.statements[1].kind {
        args[0] = own;
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

/// Slices and updates of them that are large enough to be shared: of whole rows, which lie one behind the other, of parts
/// of rows, and of columns.
#[test]
fn large_slices_are_shared() {
    for (dtype, of, part) in [
        (F, [300u64, 401], [211u64, 401]),
        (DType::U8, [900, 1001], [700, 999]),
        (DType::F64, [3, 90_001], [2, 70_007]),
        (I, [60_000, 3], [50_001, 1]),
    ] {
        let starts: [(DType, &[u64]); 2] = [(I, &[]), (I, &[])];
        let slice = LibOp::DynamicSlice { sizes: part.to_vec() };
        check(call(slice, &[(dtype, &of), starts[0], starts[1]], |_| vec![]));
        let params = [(dtype, &of[..]), (dtype, &part[..]), starts[0], starts[1]];
        let mut f = call(LibOp::DynamicUpdateSlice, &params, |_| vec![]);
        check(f.clone());
        if !dtype.is_int() {
            own_operand(&mut f);
            check(f);
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

/// Many updates of few elements: tasks have tensors of their own. Lines and single elements, in place and not, operations
/// with every neutral element; updates that are dropped; more threads than updates along the first axis.
#[test]
fn scattered_into_copies() {
    let targets = [2, 3, 5].map(|threads| Target { threads, ..Target::host() });
    let targets = [targets.as_slice(), &[Target { threads: 4, ..Target::generic() }]].concat();
    let run = |f: Function, shared: bool| {
        let plans = check_on(f, 1e-4, None, &targets);
        assert!(plans.iter().all(|plan| (plan.contains("scatter, 1 of 2") || plan.contains("in place, 1 of 2")) == shared), "{plans:#?}");
    };
    for (op, dtype) in [
        (BinaryOp::Add, F),
        (BinaryOp::Max, F),
        (BinaryOp::Min, DType::F64),
        (BinaryOp::Add, I),
        (BinaryOp::Mul, I),
        (BinaryOp::Min, DType::U8),
        (BinaryOp::And, DType::I16),
        (BinaryOp::Xor, DType::U32),
    ] {
        for (rows, width, count) in [(7u64, 3u64, 5500u64), (40, 11, 1500), (5, 1, 16_384)] {
            let params: &[(DType, &[u64])] =
                &[(dtype, &[rows, width]), (I, &[count, 1]), (dtype, &[count, width])];
            let mut f = call(scatter_of_lines(), params, |f| vec![binary(f, op, dtype)]);
            run(f.clone(), true);
            own_operand(&mut f);
            run(f, true);
        }
    }
    // What is subtracted is no accumulation, few updates are not worth it, and halves would be rounded elsewhere.
    for (op, dtype, count) in
        [(BinaryOp::Sub, F, 5500), (BinaryOp::Add, F, 50), (BinaryOp::Add, DType::BF16, 5500)]
    {
        let params: &[(DType, &[u64])] = &[(dtype, &[7, 3]), (I, &[count, 1]), (dtype, &[count, 3])];
        run(call(scatter_of_lines(), params, |f| vec![binary(f, op, dtype)]), false);
    }
}
