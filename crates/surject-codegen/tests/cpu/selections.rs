//! Windows that select an element each.

use crate::harness::*;
use crate::library::{F, I, binary, call, region};
use surject_ir::{BinaryOp, DType, LibOp, UnaryOp, Window};

/// Windows over axes that they cover or not, overlapping or not, with an element or several along the last axis.
#[test]
fn selections() {
    let window = |sizes: [u64; 3], strides: [u64; 3], padding: [(i64, i64); 3]| Window {
        sizes: sizes.to_vec(),
        strides: strides.to_vec(),
        base_dilations: vec![1; 3],
        window_dilations: vec![1; 3],
        padding: padding.to_vec(),
    };
    let none = [(0, 0); 3];
    for (window, operand, source) in [
        (window([2, 2, 1], [2, 2, 1], none), [8u64, 6, 37], [4u64, 3, 37]),
        (window([2, 2, 1], [2, 2, 1], none), [9, 7, 5], [4, 3, 5]),
        (window([3, 3, 1], [2, 2, 1], [(1, 1), (0, 1), (0, 0)]), [9, 8, 17], [5, 4, 17]),
        (window([1, 3, 1], [1, 2, 1], [(0, 0), (1, 1), (0, 0)]), [40, 31, 32], [40, 16, 32]),
        (window([1, 2, 2], [1, 2, 2], none), [40, 32, 32], [40, 16, 16]),
        (window([1, 1, 1], [2, 3, 1], none), [7, 8, 20], [4, 3, 20]),
        (window([2, 2, 2], [2, 2, 2], none), [4, 6, 57], [2, 3, 28]),
        (window([1, 3, 3], [1, 3, 3], [(0, 0), (1, 1), (0, 0)]), [5, 7, 51], [5, 3, 17]),
        (window([1, 2, 9], [2, 2, 9], none), [3, 6, 46], [2, 3, 5]),
        (window([2, 2, 1], [2, 2, 1], [(1, 1), (-1, 0), (0, 0)]), [8, 7, 16], [5, 3, 16]),
        // Windows that share elements along the last axis, or along one with few elements beside.
        (window([1, 3, 3], [1, 2, 2], none), [3, 9, 57], [3, 4, 28]),
        (window([1, 3, 3], [1, 2, 2], [(0, 0), (1, 1), (1, 1)]), [3, 9, 40], [3, 5, 20]),
        (window([2, 1, 5], [1, 1, 1], [(0, 0), (0, 0), (2, 2)]), [4, 3, 23], [3, 3, 23]),
        (window([1, 1, 4], [1, 1, 3], [(0, 0), (0, 0), (-2, 5)]), [5, 2, 33], [5, 2, 11]),
        (window([2, 3, 1], [2, 2, 1], [(1, 1), (1, 0), (0, 0)]), [4, 27, 3], [3, 13, 3]),
        (window([1, 2, 1], [2, 1, 1], none), [3, 30, 2], [2, 29, 2]),
        (window([1, 3, 1], [1, 2, 1], none), [6, 41, 1], [6, 20, 1]),
        (window([1, 2, 40], [1, 2, 30], none), [3, 4, 200], [3, 2, 6]),
        (window([2, 1, 3], [2, 1, 2], [(2, 2), (0, 0), (0, 0)]), [4, 2, 21], [4, 2, 10]),
    ] {
        for dtype in [F, DType::BF16, DType::F64, I, DType::C64] {
            if dtype == DType::C64 && operand[0] == 40 {
                continue;
            }
            let params: &[(DType, &[u64])] = &[(dtype, &operand), (dtype, &source), (dtype, &[])];
            check(call(LibOp::SelectAndScatter { window: window.clone() }, params, |f| {
                let select = region(f, &[dtype, dtype], |f, p| {
                    let [x, y] = [0, 1].map(|i| match dtype {
                        DType::C64 => f.fields.unary(UnaryOp::Real, p[i]).unwrap(),
                        _ => p[i],
                    });
                    vec![f.fields.binary(BinaryOp::Ge, x, y).unwrap()]
                });
                vec![select, binary(f, BinaryOp::Sub, dtype)]
            }));
        }
    }
}
