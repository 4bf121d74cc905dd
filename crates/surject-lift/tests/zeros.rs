//! The signs of zeros: where a sum begins, what only moves, and what leaves as StableHLO.

mod common;

use common::*;
use surject_ir::{Buffer, Program};

fn bits(program: &Program, args: &[Buffer]) -> Vec<u32> {
    let results = run_program(program, args);
    results.iter().flat_map(|r| (0..r.len()).map(|i| (r.get(i).as_f64() as f32).to_bits())).collect()
}

/// The results of a body are these, bit for bit, as imported and after export.
fn gives(signature: &str, body: &str, args: &[Buffer], expected: &[f32]) {
    let program = lift_body(signature, body).unwrap_or_else(|e| panic!("{e:?}\n{body}"));
    let expected: Vec<u32> = expected.iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits(&program, args), expected, "{body}");
    let text = surject_lift::export(&program).unwrap_or_else(|e| panic!("{e}\n{body}"));
    let again = lift(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(bits(&again, args), expected, "exported\n{text}");
}

const ZERO: &str = "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n";

#[test]
fn sums_start_where_the_program_says() {
    let sum = |n: usize, init: &str| {
        format!(
            "  %z = stablehlo.constant dense<{init}> : tensor<f32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<{n}xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>"
        )
    };
    for n in [0, 1, 3, 40] {
        let signature = format!("(%x: tensor<{n}xf32>) -> tensor<f32>");
        let zeros = [f32s(&[n], &vec![-0.0; n])];
        gives(&signature, &sum(n, "0.0"), &zeros, &[0.0]);
        gives(&signature, &sum(n, "-0.0"), &zeros, &[-0.0]);
    }
    let inverse = format!("{ZERO}  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.divide %one, %s : tensor<f32>
  return %r : tensor<f32>");
    gives("(%x: tensor<1xf32>) -> tensor<f32>", &inverse, &[f32s(&[1], &[-0.0])], &[f32::INFINITY]);
    let kept = format!("{ZERO}  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
  return %r : tensor<2xf32>");
    gives("(%x: tensor<2x1xf32>) -> tensor<2xf32>", &kept, &[f32s(&[2, 1], &[-0.0, -3.0])], &[0.0, -3.0]);
}

#[test]
fn windows_in_padding_and_empty_products_are_zero() {
    let body = format!("{ZERO}  %r = \"stablehlo.reduce_window\"(%x, %z) <{{base_dilations = array<i64: 1>, padding = dense<[[0, 3]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }}) : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>");
    gives("(%x: tensor<2xf32>) -> tensor<4xf32>", &body, &[f32s(&[2], &[-0.0, -0.0])], &[0.0; 4]);
    let body = "  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x1xf32>) -> tensor<2x1xf32>
  return %r : tensor<2x1xf32>";
    let empty = [f32s(&[2, 0], &[]), f32s(&[0, 1], &[])];
    gives("(%x: tensor<2x0xf32>, %y: tensor<0x1xf32>) -> tensor<2x1xf32>", body, &empty, &[0.0, 0.0]);
}

#[test]
fn what_moves_keeps_every_bit() {
    for value in ["0.0", "-0.0", "5.0"] {
        let body = format!("  %v = stablehlo.constant dense<{value}> : tensor<f32>
  %r = stablehlo.pad %x, %v, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>");
        let v: f32 = value.parse().unwrap();
        let x = [f32s(&[2], &[-0.0, 2.0])];
        gives("(%x: tensor<2xf32>) -> tensor<4xf32>", &body, &x, &[v, -0.0, v, 2.0]);
    }
    let body =
        "  %r = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>";
    let x = [f32s(&[2], &[-0.0, 0.0])];
    gives("(%x: tensor<2xf32>) -> tensor<4xf32>", body, &x, &[-0.0, 0.0, -0.0, 0.0]);
}
