//! What programs look like when they are written: operations counted, and some texts in full.

use crate::{folders, lift, program};
use std::collections::BTreeMap;
use surject_lift::{export, export_module};
use surject_stablehlo::{Module, Region};

fn count(region: &Region, counts: &mut BTreeMap<String, usize>) {
    for op in &region.ops {
        if !matches!(op.short_name(), "return" | "constant") {
            *counts.entry(op.short_name().to_string()).or_default() += 1;
        }
        // The bodies of reductions say nothing about the program.
        if matches!(op.short_name(), "while" | "case") {
            op.regions.iter().for_each(|r| count(r, counts));
        }
    }
}

/// The operations of a module, constants and bodies of reductions aside.
fn operations(module: &Module) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    module.functions.iter().for_each(|f| count(&f.body, &mut counts));
    counts
}

fn repository(name: &str) -> BTreeMap<String, usize> {
    let folder = folders().into_iter().find(|f| f.ends_with(format!("tests/programs/{name}"))).unwrap();
    operations(&export_module(&program(&folder).unwrap()).unwrap())
}

fn listed(counts: &BTreeMap<String, usize>) -> String {
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn operations_of_programs() {
    let names = [
        "attention",
        "bf16_matmul",
        "convolution_grouped",
        "layernorm",
        "mlp_forward",
        "mlp_train_step",
        "pooling",
        "slices",
        "softmax",
        "transformer_block",
    ];
    let lines: Vec<String> = names.iter().map(|n| format!("{n}: {}", listed(&repository(n)))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The text of a function, exported again.
fn again(text: &str) -> String {
    export(&lift(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn contractions() {
    insta::assert_snapshot!(again(
        "func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<5x2x4xf32>) -> (tensor<2x3x5xf32>, tensor<3x2xf32>) {
          %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [2]
            : (tensor<2x3x4xf32>, tensor<5x2x4xf32>) -> tensor<2x3x5xf32>
          %1 = stablehlo.multiply %a, %a : tensor<2x3x4xf32>
          %c = stablehlo.constant dense<0.0> : tensor<f32>
          %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [2]
            : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3xf32>
          %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
          func.return %0, %3 : tensor<2x3x5xf32>, tensor<3x2xf32>
        }"
    ));
}

#[test]
fn convolutions() {
    insta::assert_snapshot!(again(
        "func.func @main(%x: tensor<1x7x7x4xf32>, %k: tensor<3x2x2x6xf32>) -> tensor<1x13x9x6xf32> {
          %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [1, 1], pad = [[2, 0], [1, 3]], lhs_dilate = [2, 1], rhs_dilate = [1, 2],
                      reverse = [true, false]}
            {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
            : (tensor<1x7x7x4xf32>, tensor<3x2x2x6xf32>) -> tensor<1x13x9x6xf32>
          func.return %0 : tensor<1x13x9x6xf32>
        }"
    ));
}

#[test]
fn windows() {
    insta::assert_snapshot!(again(
        "func.func @main(%x: tensor<4x9x8xf32>) -> tensor<4x5x4xf32> {
          %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %0 = \"stablehlo.reduce_window\"(%x, %c) <{window_dimensions = array<i64: 1, 3, 2>,
            window_strides = array<i64: 1, 2, 2>, window_dilations = array<i64: 1, 1, 1>,
            base_dilations = array<i64: 1, 1, 1>,
            padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %m = stablehlo.maximum %a, %b : tensor<f32>
            stablehlo.return %m : tensor<f32>
          }) : (tensor<4x9x8xf32>, tensor<f32>) -> tensor<4x5x4xf32>
          func.return %0 : tensor<4x5x4xf32>
        }"
    ));
}

#[test]
fn moves() {
    insta::assert_snapshot!(again(
        "func.func @main(%x: tensor<4x6xf32>, %y: tensor<2x6xf32>) -> (tensor<6x6xf32>, tensor<3x2x4xf32>, tensor<8x3xf32>, tensor<7x6xf32>, tensor<2x3xf32>) {
          %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
          %1 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
          %2 = stablehlo.transpose %1, dims = [2, 1, 0] : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
          %3 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<8x3xf32>
          %c = stablehlo.constant dense<1.5> : tensor<f32>
          %4 = stablehlo.pad %x, %c, low = [2, 0], high = [1, 0], interior = [0, 0]
            : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x6xf32>
          %5 = stablehlo.slice %x [0:4:2, 1:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
          %6 = stablehlo.reverse %5, dims = [1] : tensor<2x3xf32>
          func.return %0, %2, %3, %4, %6 : tensor<6x6xf32>, tensor<3x2x4xf32>, tensor<8x3xf32>, tensor<7x6xf32>, tensor<2x3xf32>
        }"
    ));
}

/// What a library operation's body takes from outside is computed inside it, or refused with its place.
#[test]
fn bodies_are_closed() {
    let text = |value: &str| {
        format!(
            "func.func @main(%x: tensor<8xf32>, %n: tensor<f32>) -> tensor<f32> {{
              %c = stablehlo.constant dense<2.0> : tensor<f32>
              %t = stablehlo.add %c, {value} : tensor<f32>
              %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
                reducer(%a: tensor<f32>, %b: tensor<f32>) {{
                  %1 = stablehlo.multiply %b, %t : tensor<f32>
                  %2 = stablehlo.add %a, %1 : tensor<f32>
                  stablehlo.return %2 : tensor<f32>
                }}
              func.return %0 : tensor<f32>
            }}"
        )
    };
    insta::assert_snapshot!(again(&text("%c")));
    let error = export(&lift(text("%n").as_bytes()).unwrap()).unwrap_err();
    insta::assert_snapshot!(error, @"`n` cannot be written as StableHLO in the function `main`, at the definition of `v1` (module:6:24): the body of a library operation uses a value from outside");
}

#[test]
fn symbolic_shapes_are_dynamic() {
    use surject_index::{Extent, Space};
    let mut f = surject_ir::Function::new("main");
    let ty = surject_ir::TensorType::new(surject_ir::DType::F32, Space::new([Extent::input_axis(0, 0)]));
    let x = f.var("x", ty);
    f.params.push(x);
    f.body.results.push(x);
    let program = surject_ir::Program { name: String::from("m"), functions: vec![f] };
    insta::assert_snapshot!(export(&program).unwrap(), @r"
    module @m attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
      func.func public @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
        return %arg0 : tensor<?xf32>
      }
    }
    ");
}
