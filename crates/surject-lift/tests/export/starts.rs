//! What reductions start from: the neutral element in the text, whatever a program starts from. And products of short
//! floats, which stay such.

use crate::{lift, round_trip, run};
use surject_ir::{AccOp, Buffer, DType, Scalar};
use surject_lift::export;

/// Numbers that are exact in all types, small and not all of one sign.
fn numbers(dtype: DType, shape: &[usize]) -> Buffer {
    let count = shape.iter().product::<usize>();
    let value = |i: usize| if dtype.is_bool() { (i % 2) as f64 } else { ((i * 7 + 3) % 5) as f64 - 2.0 };
    let scalar = |v: f64| {
        if dtype.is_float() { Scalar::from_f64(dtype, v) } else { Scalar::from_i128(dtype, v as i128) }
    };
    let values: Vec<Scalar> = (0..count).map(|i| scalar(value(i))).collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

fn body(op: &str, ty: &str) -> String {
    format!(
        "({{\n^bb0(%a: tensor<{ty}>, %b: tensor<{ty}>):
          %r = stablehlo.{op} %a, %b : tensor<{ty}>
          stablehlo.return %r : tensor<{ty}>\n}})"
    )
}

const TYPES: [(&str, DType); 8] = [
    ("f32", DType::F32),
    ("f64", DType::F64),
    ("bf16", DType::BF16),
    ("f16", DType::F16),
    ("i32", DType::I32),
    ("i8", DType::I8),
    ("ui8", DType::U8),
    ("i1", DType::I1),
];

/// A literal that joins a reduction, as its initial value or behind it, in every type and with every operator.
#[test]
fn literals_join_reductions_outside() {
    for (ty, dtype) in TYPES {
        for op in ["add", "multiply", "maximum", "minimum", "and", "or", "xor"] {
            if dtype.is_float() && ["and", "or", "xor"].contains(&op) {
                continue;
            }
            let (c, join) = (if dtype.is_bool() { "true" } else { "1" }, body(op, ty));
            let c = if dtype.is_float() { "1.0" } else { c };
            let text = format!(
                "func.func @main(%x: tensor<3x5x{ty}>) -> (tensor<3x{ty}>, tensor<3x{ty}>, tensor<3x6x{ty}>, tensor<5x3x{ty}>) {{
                  %c = stablehlo.constant dense<{c}> : tensor<{ty}>
                  %all = stablehlo.constant dense<{c}> : tensor<3x{ty}>
                  %0 = \"stablehlo.reduce\"(%x, %c) <{{dimensions = array<i64: 1>}}> {join} : (tensor<3x5x{ty}>, tensor<{ty}>) -> tensor<3x{ty}>
                  %1 = stablehlo.{op} %all, %0 : tensor<3x{ty}>
                  %2 = \"stablehlo.reduce_window\"(%x, %c) <{{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [2, 1]]> : tensor<2x2xi64>}}> {join} : (tensor<3x5x{ty}>, tensor<{ty}>) -> tensor<3x6x{ty}>
                  %3 = \"stablehlo.reduce_window\"(%x, %c) <{{window_dimensions = array<i64: 1, 3>, base_dilations = array<i64: 2, 1>}}> {join} : (tensor<3x5x{ty}>, tensor<{ty}>) -> tensor<5x3x{ty}>
                  return %0, %1, %2, %3 : tensor<3x{ty}>, tensor<3x{ty}>, tensor<3x6x{ty}>, tensor<5x3x{ty}>
                }}"
            );
            let name = format!("starts/{op}-{ty}");
            let program = lift(text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
            round_trip(&name, &program, &[numbers(dtype, &[3, 5])], 0.0)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

/// The same for sums of what is selected in windows.
#[test]
fn literals_join_selected_sums_outside() {
    for op in ["add", "multiply", "maximum"] {
        let text = format!(
            "func.func @main(%x: tensor<6xf32>, %s: tensor<3xf32>) -> tensor<6xf32> {{
              %c = stablehlo.constant dense<2.0> : tensor<f32>
              %0 = \"stablehlo.select_and_scatter\"(%x, %s, %c) <{{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}}> ({{
              ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
                stablehlo.return %r : tensor<i1>
              }}, {} : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
              return %0 : tensor<6xf32>
            }}",
            body(op, "f32").strip_prefix('(').unwrap()
        );
        let program = lift(text.as_bytes()).unwrap();
        let args = [numbers(DType::F32, &[6]), numbers(DType::F32, &[3])];
        let written = round_trip(&format!("starts/selected-{op}"), &program, &args, 0.0).unwrap();
        assert!(written.contains(&format!("stablehlo.{op}")), "{written}");
    }
}

/// The neutral element costs no operation.
#[test]
fn neutral_literals_are_not_joined() {
    for (op, c) in [("add", "0.0"), ("add", "-0.0"), ("multiply", "1.0"), ("maximum", "0xFF800000")] {
        let text = format!(
            "func.func @main(%x: tensor<3x5xf32>) -> tensor<3xf32> {{
              %c = stablehlo.constant dense<{c}> : tensor<f32>
              %0 = stablehlo.reduce(%x init: %c) applies stablehlo.{op} across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
              return %0 : tensor<3xf32>
            }}"
        );
        let program = lift(text.as_bytes()).unwrap();
        let written = export(&program).unwrap();
        assert_eq!(written.matches(&format!("stablehlo.{op}")).count(), 1, "{written}");
    }
    // A sum starts from the zero that every implementation has.
    assert_eq!(Scalar::zero(DType::F32).as_f64().to_bits(), 0);
    assert_eq!(AccOp::Mul.neutral(DType::F32).as_f64(), 1.0);
}

/// Products of 16-bit floats that are rounded stay products of these; those whose 32 bits are wanted are products of
/// 32-bit floats.
#[test]
fn products_of_short_floats() {
    for (ty, dtype) in [("bf16", DType::BF16), ("f16", DType::F16)] {
        let text = format!(
            "func.func @main(%a: tensor<3x4x{ty}>, %b: tensor<4x2x{ty}>, %x: tensor<1x6x6x2x{ty}>, %k: tensor<3x3x2x4x{ty}>) -> (tensor<3x2x{ty}>, tensor<3x2xf32>, tensor<1x4x4x4x{ty}>) {{
              %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4x{ty}>, tensor<4x2x{ty}>) -> tensor<3x2x{ty}>
              %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4x{ty}>, tensor<4x2x{ty}>) -> tensor<3x2xf32>
              %2 = stablehlo.tanh %1 : tensor<3x2xf32>
              %3 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x6x6x2x{ty}>, tensor<3x3x2x4x{ty}>) -> tensor<1x4x4x4x{ty}>
              return %0, %2, %3 : tensor<3x2x{ty}>, tensor<3x2xf32>, tensor<1x4x4x4x{ty}>
            }}"
        );
        let program = lift(text.as_bytes()).unwrap();
        let args = [[3, 4].as_slice(), &[4, 2], &[1, 6, 6, 2], &[3, 3, 2, 4]].map(|s| numbers(dtype, s));
        let written = round_trip(&format!("starts/products-{ty}"), &program, &args, 0.0).unwrap();
        let line = |op: &str, ty: &str| {
            let suffix = format!("x{ty}>");
            written.lines().filter(|l| l.contains(op) && l.trim_end().ends_with(&suffix)).count()
        };
        assert_eq!((line("dot_general", ty), line("dot_general", "f32")), (1, 1), "{written}");
        assert_eq!(line("stablehlo.convolution", ty), 1, "{written}");
        assert!(!written.contains(&format!("2x{ty}>) -> tensor<3x2xf32>")), "{written}");
        run(&program, &args).unwrap();
    }
}
