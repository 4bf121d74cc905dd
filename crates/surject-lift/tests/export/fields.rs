//! Fields that no importer makes: diagonals, overlapping windows, coupled guards, accumulations along any map.

use crate::round_trip;
use std::sync::atomic::{AtomicUsize, Ordering};
use surject_index::{Fill, IndexMap};
use surject_ir::testing::random_args;
use surject_ir::{
    AccOp, BinaryOp, DType, FieldId, Function, Program, Scalar, Statement, StatementKind, TensorType, UnaryOp,
};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A function of parameters over these shapes that stores the field a callback makes; its text after a round trip.
fn check(dtype: DType, shapes: &[&[u64]], make: impl FnOnce(&mut Function, &[FieldId]) -> FieldId) -> String {
    let mut f = Function::new("main");
    let mut fields = Vec::new();
    for shape in shapes {
        let param = f.var("", TensorType::new(dtype, surject_index::Space::of(shape)));
        f.params.push(param);
        fields.push(f.tensor(param));
    }
    let field = make(&mut f, &fields);
    let target = f.var_for("result", field);
    f.body.statements.push(Statement::new(StatementKind::Store { target, field }));
    f.body.results.push(target);
    let program = Program { name: String::new(), functions: vec![f] };
    surject_ir::verify(&program).unwrap();
    let args = random_args(&program.functions[0], 3);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    round_trip(&format!("fields/{number}"), &program, &args, 1e-5)
        .unwrap_or_else(|e| panic!("{e}\n{}", surject_ir::print(&program)))
}

fn map(text: &str) -> IndexMap {
    text.parse().unwrap()
}

fn read(dtype: DType, shape: &[u64], text: &str) -> String {
    check(dtype, &[shape], |f, x| f.fields.read(map(text), x[0]).unwrap())
}

fn acc(op: AccOp, dtype: DType, shape: &[u64], text: &str) -> String {
    check(dtype, &[shape], |f, x| f.fields.acc(op, map(text), x[0]).unwrap())
}

#[test]
fn reads_along_any_map() {
    for (shape, text) in [
        (&[4, 4][..], "(i<4) -> [i, i] in [4,4]"),
        (&[9], "(i<4, j<3) -> [2*i + j] in [9]"),
        (&[3, 5, 3], "(i<5, j<3) -> [j, i, j] in [3,5,3]"),
        (&[3, 5, 3], "(j<3, i<5, k<2) -> [j, 4 - i, j] in [3,5,3]"),
        (&[24], "(i<3, j<4) -> [8*i + j] in [24]"),
        (&[21], "(i<3, j<4) -> [8*i + j + 1] in [21]"),
        (&[24], "(i<3, j<4) -> [23 - 8*i - 2*j] in [24]"),
        (&[24, 2], "(j<4, k<5, i<3) -> [8*i - 2*j + 7, 1] in [24,2]"),
        (&[1, 6, 1], "(i<6, j<1, k<2) -> [0, i, 0] in [1,6,1]"),
        (&[5], "(i<2, j<3) -> [3] in [5]"),
        (&[1, 5, 1, 2], "(j<2, i<5) -> [0, i, 0, j] in [1,5,1,2]"),
    ] {
        read(DType::F32, shape, text);
        read(DType::I32, shape, text);
    }
}

#[test]
fn guarded_reads_along_any_map() {
    for (shape, text) in [
        (&[4][..], "(i<9) -> [i - 3] in [4] where 0 <= i - 3 < 4 else 0x7"),
        (&[4], "(i<9, j<2) -> [6 - i] in [4] where 0 <= 6 - i < 4 else 0x0"),
        (&[4, 3], "(j<5, i<9) -> [i - 3, 1] in [4,3] where 0 <= i - 3 < 4 and 0 <= j - 1 < 2 else 0x7"),
        (&[5], "(i<5, k<3) -> [i + k - 1] in [5] where 0 <= i + k - 1 < 5 else 0x3"),
        (&[5], "(i<3, k<3) -> [2*i + 2*k - 2] in [5] where 0 <= 2*i + 2*k - 2 < 5 else 0x3"),
        (&[5, 5], "(i<5, k<5) -> [i, k] in [5,5] where 0 <= i - k < 5 else 0x0"),
        (&[5], "(i<5, k<3) -> [i + k - 1] in [5] where 0 <= i + k - 1 < 5 and 0 <= i - k < 5 else 0x1"),
        (&[5, 5], "(i<5, k<3) -> [i, i + k - 1] in [5,5] where 0 <= i + k - 1 < 5 else 0x1"),
        (&[1, 4], "(u<1, i<6) -> [0, i] in [1,4] where 0 <= i < 4 else 0x1"),
    ] {
        read(DType::F32, shape, text);
        read(DType::I32, shape, text);
    }
}

#[test]
fn accumulations_along_any_map() {
    for op in [AccOp::Add, AccOp::Mul, AccOp::Max, AccOp::Min] {
        for (shape, text) in [
            (&[3, 4][..], "(i<3, j<4) -> [j] in [4]"),
            (&[3, 4], "(i<3, j<4) -> [j, i] in [4,3]"),
            (&[3, 4], "(i<3, j<4) -> [4*i + j] in [12]"),
            (&[3, 4], "(i<3, j<4) -> [3*j + i] in [12]"),
            (&[3, 4], "(i<3, j<4) -> [i + j] in [6]"),
            (&[3, 4], "(i<3, j<4) -> [2*i + j] in [10]"),
            (&[3], "(i<3) -> [2*i + 1] in [8]"),
            (&[3], "(i<3) -> [7 - 2*i] in [8]"),
            (&[3], "(i<3) -> [i + 1, 2] in [5,4]"),
            (&[3], "(i<3) -> [i, i] in [3,3]"),
            (&[3, 4], "(i<3, j<4) -> [1] in [3]"),
            (&[3, 4, 2], "(i<3, j<4, k<2) -> [2*j + k] in [8]"),
            (&[3, 1], "(i<3, u<1) -> [0, i] in [1,3]"),
            (&[3, 4], "(i<3, j<4) -> [] in []"),
        ] {
            acc(op, DType::F64, shape, text);
            acc(op, DType::I32, shape, text);
            acc(op, DType::I1, shape, text);
        }
    }
    for op in [AccOp::And, AccOp::Or, AccOp::Xor] {
        acc(op, DType::U8, &[3, 4], "(i<3, j<4) -> [j] in [4]");
        acc(op, DType::I1, &[3, 4], "(i<3, j<4) -> [2*i + j] in [10]");
    }
}

/// Axes that neither the map nor the body uses count.
#[test]
fn repeated_values_are_accumulated_as_often_as_they_occur() {
    for dtype in [DType::F32, DType::I32, DType::I1] {
        for op in [AccOp::Add, AccOp::Mul, AccOp::Max] {
            check(dtype, &[&[4]], |f, x| {
                let wide = f.fields.read(map("(i<4, j<3) -> [i] in [4]"), x[0]).unwrap();
                f.fields.acc(op, map("(i<4, j<3) -> [i] in [4]"), wide).unwrap()
            });
            check(dtype, &[&[4]], |f, x| {
                let wide = f.fields.read(map("(i<4, j<3, k<2) -> [i] in [4]"), x[0]).unwrap();
                f.fields.acc(op, map("(i<4, j<3, k<2) -> [k] in [2]"), wide).unwrap()
            });
        }
    }
}

/// `Σ_k scale · a[i,k] · b[k,j]` in several groupings, operands nested and pointwise.
#[test]
fn fused_contractions_stay_contractions() {
    for grouping in 0..3 {
        let text = check(DType::F32, &[&[4, 6], &[6, 5]], |f, x| {
            let a = f.fields.read(map("(i<4, j<5, k<6) -> [i, k] in [4,6]"), x[0]).unwrap();
            let a = f.fields.unary(UnaryOp::Tanh, a).unwrap();
            let b = f.fields.read(map("(i<4, j<5, k<6) -> [k, j] in [6,5]"), x[1]).unwrap();
            let space = f.fields[a].space.clone();
            let scale = f.fields.constant(&space, Scalar::from_f64(DType::F32, 0.125));
            let mul = |f: &mut Function, x, y| f.fields.binary(BinaryOp::Mul, x, y).unwrap();
            let product = match grouping {
                0 => {
                    let ab = mul(f, a, b);
                    mul(f, ab, scale)
                }
                1 => {
                    let a = mul(f, scale, a);
                    mul(f, b, a)
                }
                _ => {
                    let b = mul(f, b, scale);
                    mul(f, a, b)
                }
            };
            f.fields.acc(AccOp::Add, map("(i<4, j<5, k<6) -> [j, i] in [5,4]"), product).unwrap()
        });
        assert!(text.contains("dot_general") && !text.contains("reduce"), "{text}");
        assert!(!text.contains("transpose"), "{text}");
    }
}

/// A factor that depends on a summed axis alone is repeated, not summed first.
#[test]
fn axes_of_one_factor_are_summed_too() {
    let text = check(DType::F32, &[&[4, 3, 6], &[6, 5]], |f, x| {
        let a = f.fields.read(map("(i<4, j<5, k<6, l<3) -> [i, l, k] in [4,3,6]"), x[0]).unwrap();
        let b = f.fields.read(map("(i<4, j<5, k<6, l<3) -> [k, j] in [6,5]"), x[1]).unwrap();
        let product = f.fields.binary(BinaryOp::Mul, a, b).unwrap();
        f.fields.acc(AccOp::Add, map("(i<4, j<5, k<6, l<3) -> [i, j] in [4,5]"), product).unwrap()
    });
    assert!(text.contains("dot_general"), "{text}");
}

/// Windows in all directions, with strides, dilations and padding.
#[test]
fn windows_become_window_operations() {
    for (window, guard) in [
        ("i + k", ""),
        ("2*i + k", ""),
        ("i + 2*k", ""),
        ("i - k + 2", ""),
        ("8 - i - k", ""),
        ("8 - 2*i + k - 2", ""),
        ("i + k - 1", " where 0 <= i + k - 1 < 9 else 0xff800000"),
        ("2*i - k - 1", " where 0 <= 2*i - k - 1 < 9 else 0xff800000"),
    ] {
        for n in [3, 4] {
            let text = format!("(b<2, i<{n}, k<3) -> [{window}, b] in [9,2]{guard}");
            let Ok(map) = text.parse::<IndexMap>() else {
                continue;
            };
            let text = check(DType::F32, &[&[9, 2]], |f, x| {
                let windows = f.fields.read(map, x[0]).unwrap();
                let to = IndexMap::projection(&f.fields[windows].space, &[0, 1]);
                f.fields.acc(AccOp::Max, to, windows).unwrap()
            });
            assert!(text.contains("reduce_window") && !text.contains("gather"), "{text}");
        }
    }
}

#[test]
fn convolutions_in_all_directions() {
    for (window, guard) in [
        ("i + k", ""),
        ("2*i + k", ""),
        ("i - k + 2", ""),
        ("8 - i - 2*k", ""),
        ("i + k - 1", " where 0 <= i + k - 1 < 9 else 0x0"),
        ("8 - i - k + 1", " where 0 <= 8 - i - k + 1 < 9 else 0x0"),
        ("2*i - k - 1", " where 0 <= 2*i - k - 1 < 9 else 0x0"),
    ] {
        for n in [3, 4] {
            let text = format!("(o<4, i<{n}, k<3, c<2) -> [c, {window}] in [2,9]{guard}");
            let Ok(map) = text.parse::<IndexMap>() else {
                continue;
            };
            let text = check(DType::F32, &[&[2, 9], &[4, 3, 2]], |f, x| {
                let space = map.domain().clone();
                let a = f.fields.read(map, x[0]).unwrap();
                let b = f.fields.read(IndexMap::projection(&space, &[0, 2, 3]), x[1]).unwrap();
                let product = f.fields.binary(BinaryOp::Mul, a, b).unwrap();
                f.fields.acc(AccOp::Add, IndexMap::projection(&space, &[1, 0]), product).unwrap()
            });
            assert!(text.contains("stablehlo.convolution") && !text.contains("gather"), "{text}");
        }
    }
}

/// `x` in the middle of the fill, through a map whose fill is not the neutral element.
#[test]
fn fills_that_are_not_neutral() {
    let fill = Fill(Scalar::from_f64(DType::F32, 2.5).bits());
    check(DType::F32, &[&[5]], |f, x| {
        let padded =
            map("(i<5, k<3) -> [i + k - 1] in [5] where 0 <= i + k - 1 < 5 else 0x0").with_fill(fill);
        let windows = f.fields.read(padded, x[0]).unwrap();
        f.fields.acc(AccOp::Max, map("(i<5, k<3) -> [i] in [5]"), windows).unwrap()
    });
}

#[test]
fn empty_spaces() {
    read(DType::F32, &[4], "(i<0, j<3) -> [j] in [4]");
    acc(AccOp::Max, DType::F32, &[0, 3], "(i<0, j<3) -> [j] in [3]");
    acc(AccOp::Add, DType::I32, &[3, 0], "(i<3, j<0) -> [j] in [0]");
}

/// A pad whose value is known at run time only, of elements that stand apart: as the importer writes it.
#[test]
fn pads_come_back() {
    for (element, value) in [("f32", "1.5"), ("f32", "0.0"), ("i32", "7")] {
        for (low, high, interior, shape) in [
            ("1, 0", "2, 1", "0, 0", "6x4"),
            ("0, 2", "-1, 0", "1, 0", "4x5"),
            ("-1, 1", "3, 0", "2, 3", "9x10"),
        ] {
            let text = format!(
                "func.func @main(%x: tensor<3x3x{element}>, %v: tensor<{element}>) -> (tensor<{shape}x{element}>, tensor<{shape}x{element}>) {{
                  %c = stablehlo.constant dense<{value}> : tensor<{element}>
                  %0 = stablehlo.pad %x, %v, low = [{low}], high = [{high}], interior = [{interior}]
                    : (tensor<3x3x{element}>, tensor<{element}>) -> tensor<{shape}x{element}>
                  %1 = stablehlo.pad %x, %c, low = [{low}], high = [{high}], interior = [{interior}]
                    : (tensor<3x3x{element}>, tensor<{element}>) -> tensor<{shape}x{element}>
                  func.return %0, %1 : tensor<{shape}x{element}>, tensor<{shape}x{element}>
                }}"
            );
            let program = crate::lift(text.as_bytes()).unwrap();
            let args = random_args(&program.functions[0], 3);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let out = round_trip(&format!("fields/{number}"), &program, &args, 0.0).unwrap();
            assert!(!out.contains("select"), "{out}");
        }
    }
}
