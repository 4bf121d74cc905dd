//! Literals, types and attributes that MLIR's parser takes or refuses, as jaxlib 0.10 judges them, each as an attribute of
//! an operation of another dialect.

use surject_stablehlo::check;

fn accepted(attribute: &str) -> bool {
    let text = format!("func.func @f() {{\n  \"test.op\"() {{a = {attribute}}} : () -> ()\n  return\n}}\n");
    check(&text).is_empty()
}

const RIGHT: &[&str] = &[
    "dense<0x7FC00000> : tensor<f32>",
    "dense<0xFFF> : tensor<f16>",
    "dense<1.> : tensor<f32>",
    "dense<1.e3> : tensor<f32>",
    "dense<1.0> : tensor<0xf32>",
    "dense<[[], []]> : tensor<2x0xf32>",
    "dense<-1> : tensor<i1>",
    "dense<255> : tensor<i8>",
    "dense<(0x1, 2.0)> : tensor<complex<f32>>",
    "dense<[\"a\", \"b\"]> : tensor<2x!foo.x>",
    "dense<\"0xFF\"> : tensor<16xi1>",
    "array<f32: 1.0>",
    "array<i64: 0x10>",
    "tensor <2xf32>",
    "tensor<2xcomplex<f16>>",
    "tensor<2xcomplex<i32>>",
    "tensor<2xcomplex<f8E5M2>>",
    "tensor<2xf32,>",
    "tensor<2xui8, \"a\">",
    "affine_set<(d0) : (d0 >= 0)>",
    "#stablehlo.dot<lhs_contracting_dimensions = [1],>",
    "#stablehlo.gather<offset_dims = [0], index_vector_dim = 1,>",
    "#stablehlo.channel_handle<type = 0, handle = 1>",
    "#stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
    "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>",
];

const WRONG: &[&str] = &[
    "dense<1> : tensor<2xf32>",
    "dense<[]> : tensor<0x2xf32>",
    "dense<[1.0, 2]> : tensor<2xf32>",
    "dense<(1.0, 2)> : tensor<complex<f32>>",
    "dense<-0x1> : tensor<f32>",
    "dense<0xFFFFFF> : tensor<f16>",
    "dense<1e3> : tensor<f32>",
    "dense<true> : tensor<f32>",
    "dense<true> : tensor<i32>",
    "dense<2> : tensor<i1>",
    "dense<1.0> : tensor<*xf32>",
    "dense<1> : tensor<2x!foo.x>",
    "1 : f32",
    "array<f32: 1>",
    "array<i1: 1, 0>",
    "array<i64: >",
    "!stablehlo.foo",
    "tensor<2xcomplex<index>>",
    "tensor<2xcomplex<complex<f32>>>",
    "#stablehlo<foo BAR>",
    "#stablehlo.axis<\"x\">",
    "#chlo.foo<1>",
    "#stablehlo.dot<lhs_contracting_dimensions = [1], lhs_contracting_dimensions = [1]>",
    "#stablehlo.conv<[b, 0, f, ?]x[0, i, o]->[b, 0, f]>",
    "#stablehlo.channel_handle<handle = 1>",
    "#stablehlo.channel_handle<handle = 1, type = 0,>",
    "#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0>",
    "#stablehlo.output_operand_alias<operand_index = 0, output_tuple_indices = [], operand_tuple_indices = []>",
    "#stablehlo.result_accuracy<>",
    "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>, atol = 1.0e-05>",
    "#stablehlo.dot_algorithm<lhs_precision_type = tf32>",
];

#[test]
fn attributes_are_judged_as_mlir_judges_them() {
    let refused: Vec<_> = RIGHT.iter().filter(|a| !accepted(a)).collect();
    let taken: Vec<_> = WRONG.iter().filter(|a| accepted(a)).collect();
    assert!(refused.is_empty() && taken.is_empty(), "refused: {refused:?}\ntaken: {taken:?}");
}

/// Whole functions: each dialect compares by an attribute of its own, and no operation takes `complex<f16>`.
#[test]
fn operations_are_judged_as_jaxlib_judges_them() {
    let compare = |op: &str, attribute: &str| {
        format!(
            "%0 = \"{op}\"(%a, %a) {{comparison_direction = {attribute}}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>"
        )
    };
    let pretty = "chlo.broadcast_compare %a, %a {comparison_direction = #chlo<comparison_direction LT>, compare_type = ";
    let rest = " : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>";
    for (right, op) in [
        (true, compare("chlo.broadcast_compare", "#chlo<comparison_direction LT>")),
        (false, compare("chlo.broadcast_compare", "#stablehlo<comparison_direction LT>")),
        (true, compare("stablehlo.compare", "#stablehlo<comparison_direction LT>")),
        (false, compare("stablehlo.compare", "#chlo<comparison_direction LT>")),
        (true, format!("%0 = {pretty}#chlo<comparison_type FLOAT>}}{rest}")),
        (false, format!("%0 = {pretty}#stablehlo<comparison_type FLOAT>}}{rest}")),
        (true, "%0 = stablehlo.add %a, %a : tensor<2xf32>".to_string()),
        (false, "%0 = stablehlo.add %z, %z : tensor<2xcomplex<f16>>".to_string()),
        (false, "%0 = stablehlo.real %z : (tensor<2xcomplex<f16>>) -> tensor<2xf16>".to_string()),
        (false, "%0 = chlo.asin %z : tensor<2xcomplex<f16>> -> tensor<2xcomplex<f16>>".to_string()),
    ] {
        let text =
            format!("func.func @f(%a: tensor<2xf32>, %z: tensor<2xcomplex<f16>>) {{\n  {op}\n  return\n}}\n");
        assert_eq!(surject_stablehlo::parse_and_verify(&text).is_ok(), right, "{op}");
    }
}
