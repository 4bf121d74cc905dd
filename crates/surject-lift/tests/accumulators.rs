//! Bodies that join in a wider type than that of their operands, and what is computed in a wider type and rounded.

mod common;

use common::*;
use surject_ir::{Buffer, DType};

/// A body that joins two elements of a type.
fn body(op: &str, ty: &str) -> String {
    format!(
        "({{\n^bb0(%a: tensor<{ty}>, %b: tensor<{ty}>):
          %r = stablehlo.{op} %a, %b : tensor<{ty}>
          stablehlo.return %r : tensor<{ty}>\n}})"
    )
}

#[test]
fn reductions_join_in_the_type_of_their_body() {
    // 2048 and 1 is 2048 in f16, and 100 and 100 is -56 in i8.
    for (from, init, wide, dtype, init_dtype) in [
        ("f16", "f16", "f32", DType::F16, DType::F16),
        ("f16", "f32", "f32", DType::F16, DType::F32),
        ("bf16", "f32", "f64", DType::BF16, DType::F32),
        ("i8", "i8", "i32", DType::I8, DType::I8),
        ("i8", "i32", "i32", DType::I8, DType::I32),
        ("ui8", "i8", "i64", DType::U8, DType::I8),
    ] {
        let values = if dtype.is_float() { [2048.0, 1.0, 1.0] } else { [100.0, 100.0, 27.0] };
        let text = format!(
            "%0 = \"stablehlo.reduce\"(%x, %i) <{{dimensions = array<i64: 0>}}> {} : (tensor<3x{from}>, tensor<{init}>) -> tensor<{wide}>
            %1 = \"stablehlo.reduce_window\"(%x, %i) <{{window_dimensions = array<i64: 2>}}> {} : (tensor<3x{from}>, tensor<{init}>) -> tensor<2x{wide}>
            %2 = stablehlo.convert %0 : (tensor<{wide}>) -> tensor<f64>
            %3 = stablehlo.convert %1 : (tensor<2x{wide}>) -> tensor<2xf64>
            return %2, %3 : tensor<f64>, tensor<2xf64>",
            body("add", wide),
            body("add", wide),
        );
        let number = |dtype: DType, shape: &[usize], values: &[f64]| -> Buffer {
            match dtype.is_float() {
                true => floats(dtype, shape, values),
                false => ints(dtype, shape, &values.iter().map(|&v| v as i64).collect::<Vec<_>>()),
            }
        };
        let args = [number(dtype, &[3], &values), number(init_dtype, &[], &[0.0])];
        let signature = format!("(%x: tensor<3x{from}>, %i: tensor<{init}>) -> (tensor<f64>, tensor<2xf64>)");
        let got = run_body(&signature, &text, &args);
        let sums = [values[0] + values[1], values[1] + values[2]];
        assert_eq!(to_floats(&got[0]), [values.iter().sum::<f64>()], "{from} {init} {wide}");
        assert_eq!(to_floats(&got[1]), sums, "{from} {init} {wide}");
    }
}

#[test]
fn scatters_join_in_the_type_of_their_body() {
    let text = format!(
        "%0 = \"stablehlo.scatter\"(%x, %at, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1,>}}> {} : (tensor<3xf16>, tensor<3x1xi32>, tensor<3xbf16>) -> tensor<3xf32>
        return %0 : tensor<3xf32>",
        body("add", "f32")
    );
    let signature = "(%x: tensor<3xf16>, %at: tensor<3x1xi32>, %u: tensor<3xbf16>) -> tensor<3xf32>";
    let args = [
        floats(DType::F16, &[3], &[2048.0, 1.0, 2.0]),
        i32s(&[3, 1], &[0, 0, 2]),
        floats(DType::BF16, &[3], &[1.0, 1.0, 0.5]),
    ];
    assert_eq!(to_floats(&run_body(signature, &text, &args)[0]), [2050.0, 1.0, 2.5]);
}

#[test]
fn select_and_scatter_joins_in_the_type_of_its_body() {
    let text = format!(
        "%0 = \"stablehlo.select_and_scatter\"(%x, %s, %i) <{{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}}> ({{
        ^bb0(%a: tensor<f16>, %b: tensor<f16>):
          %r = stablehlo.compare GE, %a, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
          stablehlo.return %r : tensor<i1>
        }}, {} : (tensor<5xf16>, tensor<2xf16>, tensor<f16>) -> tensor<5xf32>
        return %0 : tensor<5xf32>",
        body("add", "f32").strip_prefix('(').unwrap()
    );
    let signature = "(%x: tensor<5xf16>, %s: tensor<2xf16>, %i: tensor<f16>) -> tensor<5xf32>";
    let args = [
        floats(DType::F16, &[5], &[1.0, 2.0, 9.0, 4.0, 5.0]),
        floats(DType::F16, &[2], &[2048.0, 1.0]),
        floats(DType::F16, &[], &[0.0]),
    ];
    assert_eq!(to_floats(&run_body(signature, &text, &args)[0]), [0.0, 0.0, 2049.0, 0.0, 0.0]);
}

/// Solved in 32 bits and rounded once.
#[test]
fn triangular_systems_of_short_floats() {
    for (name, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let text = format!(
            "%0 = \"stablehlo.triangular_solve\"(%a, %b) <{{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}}> : (tensor<2x2x{name}>, tensor<2x1x{name}>) -> tensor<2x1x{name}>
            %1 = stablehlo.cholesky %a, lower = true : tensor<2x2x{name}>
            return %0, %1 : tensor<2x1x{name}>, tensor<2x2x{name}>"
        );
        let signature = format!(
            "(%a: tensor<2x2x{name}>, %b: tensor<2x1x{name}>) -> (tensor<2x1x{name}>, tensor<2x2x{name}>)"
        );
        let a = floats(dtype, &[2, 2], &[4.0, 2.0, 2.0, 5.0]);
        let got = run_body(&signature, &text, &[a, floats(dtype, &[2, 1], &[8.0, 19.0])]);
        assert_eq!(to_floats(&got[0]), [2.0, 3.0]);
        assert_eq!(to_floats(&got[1]), [2.0, 0.0, 1.0, 2.0]);
    }
}

/// All that `ApproxTopK` may miss is there, along any axis and in the order of the comparator.
#[test]
fn approximate_top_k_is_exact() {
    for (axis, direction, rows, columns, wanted, positions) in [
        (1, "GT", 2, 2, vec![9, 7, 8, 6], vec![1, 3, 0, 2]),
        (-1, "LT", 2, 1, vec![1, 2], vec![0, 3]),
        (0, "GT", 1, 4, vec![8, 9, 6, 7], vec![1, 0, 1, 0]),
    ] {
        let other = if axis == 0 { 0 } else { 1 };
        let text = format!(
            "module {{
              func.func @order(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>) -> tensor<i1> {{
                %0 = stablehlo.compare {direction}, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
                stablehlo.return %0 : tensor<i1>
              }}
              func.func public @main(%x: tensor<2x4xi32>) -> (tensor<{rows}x{columns}xi32>, tensor<{rows}x{columns}xi32>) {{
                %i = stablehlo.iota dim = {other} : tensor<2x4xi32>
                %c = stablehlo.constant dense<-1> : tensor<i32>
                %1:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %c, %c) {{backend_config = \"\", called_computations = [@order], mhlo.backend_config = {{aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = {axis} : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}}}} : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> (tensor<{rows}x{columns}xi32>, tensor<{rows}x{columns}xi32>)
                return %1#0, %1#1 : tensor<{rows}x{columns}xi32>, tensor<{rows}x{columns}xi32>
              }}
            }}"
        );
        surject_stablehlo::parse_and_verify(&text).unwrap_or_else(|e| panic!("{}", e.render("test", &text)));
        let got = run(&text, &[i32s(&[2, 4], &[1, 9, 3, 7, 8, 5, 6, 2])]);
        assert_eq!((to_ints(&got[0]), to_ints(&got[1])), (wanted, positions), "axis {axis}");
    }
}
