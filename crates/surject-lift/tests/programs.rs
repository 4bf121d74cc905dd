//! The text of imported programs.

mod common;

use common::*;

fn text(signature: &str, body: &str) -> String {
    surject_ir::print(&lift_body(signature, body).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn a_layer() {
    insta::assert_snapshot!(text(
        "(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32>",
        "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
        %2 = stablehlo.add %0, %1 : tensor<2x4xf32>
        %cst = stablehlo.constant dense<0.0> : tensor<f32>
        %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
        %4 = stablehlo.maximum %2, %3 : tensor<2x4xf32>
        return %4 : tensor<2x4xf32>"
    ));
}

#[test]
fn windows() {
    insta::assert_snapshot!(text(
        "(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32>",
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 0], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32>
        return %0 : tensor<1x2x2x4xf32>"
    ));
}

#[test]
fn movement() {
    insta::assert_snapshot!(text(
        "(%x: tensor<6xf32>, %v: tensor<f32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<9xf32>, tensor<12xf32>)",
        "%0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<3x2xf32>
        %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<2x3xf32>
        %2 = stablehlo.pad %x, %v, low = [1], high = [-3], interior = [1] : (tensor<6xf32>, tensor<f32>) -> tensor<9xf32>
        %3 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32>
        return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<9xf32>, tensor<12xf32>"
    ));
}

#[test]
fn control() {
    insta::assert_snapshot!(text(
        "(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)",
        r#"%zero = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<4xf32>
        cond {
          %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = stablehlo.add %i, %one : tensor<i32>
          %t = stablehlo.add %s, %x : tensor<4xf32>
          stablehlo.return %j, %t : tensor<i32>, tensor<4xf32>
        }
        %v, %p = chlo.top_k(%r#1, k = 4) : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi32>)
        return %v, %p : tensor<4xf32>, tensor<4xi32>"#
    ));
}
