//! Refinement: dynamic programs become static, assertions on shapes are evaluated.

use surject_stablehlo::refine::parse_types;
use surject_stablehlo::{Module, Type, parse_and_verify, print, refine, verify};

fn read(text: &str) -> Module {
    parse_and_verify(text).unwrap_or_else(|e| panic!("{}", e.render("test", text)))
}

/// The text of a program for arguments of the given types, which must be static and valid.
fn refined(text: &str, types: &str) -> String {
    let types = parse_types(types).unwrap_or_else(|e| panic!("{types}: {e}"));
    let module = refine(&read(text), &types).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    let printed = print(&module);
    if let Err(errors) = verify(&module) {
        panic!("{}\n{printed}", errors[0]);
    }
    printed
}

fn failure(text: &str, types: &str) -> surject_stablehlo::Diagnostic {
    let types = parse_types(types).unwrap_or_else(|e| panic!("{types}: {e}"));
    match refine(&read(text), &types) {
        Ok(module) => panic!("{}", print(&module)),
        Err(error) => error,
    }
}

#[test]
fn shape_operands_become_attributes() {
    let text = r#"
func.func @main(%x: tensor<?x?xf32>, %f: tensor<f32>, %i: tensor<2x1xi32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %nv = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %mv = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %nv, %mv, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %f, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %nm = stablehlo.multiply %nv, %mv : tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %x, %nm : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %3 = stablehlo.dynamic_pad %x, %f, %zero, %one, %shape : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %4 = stablehlo.real_dynamic_slice %x, %zero, %one, %one : (tensor<?x?xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %onev = stablehlo.constant dense<1> : tensor<1xi32>
  %sizes = stablehlo.concatenate %onev, %mv, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %5 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x?xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>
}"#;
    assert_eq!(
        refined(text, "tensor<3x4xf32>, tensor<f32>, tensor<2x1xi32>"),
        r#"module {
  func.func @main(%arg0: tensor<3x4xf32>, %arg1: tensor<f32>, %arg2: tensor<2x1xi32>) -> (tensor<3x4xf32>, tensor<12xf32>, tensor<3x4xf32>, tensor<10x17xf32>, tensor<1x1xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<12xf32>
    %2 = stablehlo.iota dim = 1 : tensor<3x4xf32>
    %3 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [1, 1], interior = [3, 4] : (tensor<3x4xf32>, tensor<f32>) -> tensor<10x17xf32>
    %4 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<3x4xf32>) -> tensor<1x1xf32>
    %5 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<3x4xf32>, tensor<12xf32>, tensor<3x4xf32>, tensor<10x17xf32>, tensor<1x1xf32>, tensor<2x4xf32>
  }
}
"#
    );
}

#[test]
fn padding_of_a_convolution_becomes_an_attribute() {
    let text = r#"
func.func @main(%a: tensor<?x8x8x4xf32>, %k: tensor<3x3x4x6xf32>) -> tensor<?x?x?x6xf32> {
  %p = stablehlo.constant dense<[[1, 1], [0, 2]]> : tensor<2x2xi32>
  %0 = "stablehlo.dynamic_conv"(%a, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<?x8x8x4xf32>, tensor<3x3x4x6xf32>, tensor<2x2xi32>) -> tensor<?x?x?x6xf32>
  return %0 : tensor<?x?x?x6xf32>
}"#;
    let found = refined(text, "tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>");
    assert!(
        found.contains("window = {pad = [[1, 1], [0, 2]]}") && found.contains("-> tensor<2x8x8x6xf32>"),
        "{found}"
    );
}

#[test]
fn called_functions_are_specialised_to_types_and_sizes() {
    let text = r#"
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %half = call @half(%n) : (tensor<i32>) -> tensor<i32>
  %0 = call @zeros(%half) : (tensor<i32>) -> tensor<?xf32>
  %1 = call @zeros(%m) : (tensor<i32>) -> tensor<?xf32>
  %2 = call @zeros(%half) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func private @half(%n: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.divide %n, %c : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @zeros(%n: tensor<i32>) -> tensor<?xf32> {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @unused(%n: tensor<?xf32>) -> tensor<?xf32> {
  return %n : tensor<?xf32>
}"#;
    let found = refined(text, "tensor<9xf32>, tensor<5xf32>");
    assert!(found.contains("call @zeros(%c_0) : (tensor<i32>) -> tensor<4xf32>"), "{found}");
    assert!(found.contains("call @zeros_0(%c) : (tensor<i32>) -> tensor<5xf32>"), "{found}");
    assert_eq!(found.matches("call @zeros(").count(), 2, "{found}");
    assert!(!found.contains("@half") && !found.contains("@unused"), "{found}");
}

#[test]
fn loops_keep_the_types_of_their_values() {
    let text = r#"
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %size = %n, %a = %x) : tensor<i32>, tensor<i32>, tensor<?x3xf32>
  cond {
    %c = stablehlo.compare LT, %i, %size, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %v = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %v, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %f = stablehlo.constant dense<1.0> : tensor<f32>
    %ones = stablehlo.dynamic_broadcast_in_dim %f, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %b = stablehlo.add %a, %ones : tensor<?x3xf32>
    stablehlo.return %next, %size, %b : tensor<i32>, tensor<i32>, tensor<?x3xf32>
  }
  return %0#2 : tensor<?x3xf32>
}"#;
    let found = refined(text, "tensor<6x3xf32>");
    assert!(
        found.contains("stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x3xf32>"),
        "{found}"
    );
    assert!(!found.contains('?'), "{found}");
}

#[test]
fn branches_give_the_types_of_both() {
    let text = r#"
func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }, {
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"#;
    assert!(refined(text, "tensor<7xf32>, tensor<i1>").contains("}) : (tensor<i1>) -> tensor<7xf32>"));
}

#[test]
fn operations_on_shapes_of_other_dialects_fold() {
    let text = r#"
func.func @main(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
  %1 = shape.shape_of %y : tensor<4xf32> -> tensor<1xindex>
  %2 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %3 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %4 = stablehlo.add %x, %3 : tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}"#;
    let found = refined(text, "tensor<2x4xf32>, tensor<4xf32>");
    assert!(
        found.contains("stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>"),
        "{found}"
    );
    assert!(!found.contains("shape."), "{found}");
}

#[test]
fn shape_operands_of_custom_calls_are_dropped() {
    let text = r#"
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<4> : tensor<1xi32>
  %s = stablehlo.concatenate %v, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.custom_call @f(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}"#;
    let found = refined(text, "tensor<3x4xf32>");
    let wanted = "stablehlo.custom_call @f(%arg0) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<3x4xf32>) -> tensor<3x4xf32>";
    assert!(found.contains(wanted), "{found}");
}

const ASSERTION: &str = r#"
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %r = stablehlo.remainder %n, %c : tensor<i32>
  %ok = stablehlo.compare EQ, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n, %r) {api_version = 2 : i32, error_message = "{0} is odd: {1} is left", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
}"#;

#[test]
fn assertions_are_evaluated() {
    assert!(!refined(ASSERTION, "tensor<4xf32>").contains("shape_assertion"));
    let error = failure(ASSERTION, "tensor<5xf32>");
    assert_eq!((error.code, error.message.as_str()), ("SJ0119", "5 is odd: 1 is left"));
    assert!(error.render("f.mlir", ASSERTION).starts_with("f.mlir:8:3: error[SJ0119]: 5 is odd"));
}

#[test]
fn what_cannot_be_refined_says_why() {
    let error = failure(ASSERTION, "tensor<4xf64>");
    assert_eq!(error.code, "SJ0123", "{error}");
    assert_eq!(failure(ASSERTION, "tensor<4xf32>, tensor<4xf32>").code, "SJ0123");
    let text = r#"
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"#;
    let error = failure(text, "tensor<4xf32>, tensor<1xi32>");
    assert!(error.message.contains("stays dynamic"), "{error}");
    // Shapes that do not fit each other.
    let text = r#"
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}"#;
    let error = failure(text, "tensor<4xf32>, tensor<5xf32>");
    assert!(error.message.contains("'stablehlo.add'"), "{error}");
    for wrong in ["tensor<4xf32", "tensor<4xf32>,", "4", "tensor<4xf32> tensor<5xf32>"] {
        assert!(parse_types(wrong).is_err(), "{wrong}");
    }
    assert_eq!(parse_types(" ").map(|t| t.len()), Ok(0));
}

#[test]
fn argument_types_may_stay_dynamic() {
    let types = [Type::from(surject_stablehlo::TensorType::of(
        vec![surject_stablehlo::Dim::Dynamic],
        surject_stablehlo::ElementType::F32,
    ))];
    let module = refine(&read(ASSERTION), &types).unwrap_or_else(|e| panic!("{e}"));
    assert!(print(&module).contains("shape_assertion"));
}

#[test]
fn exports_of_jax_become_static() {
    // Saved by `jax.export` with the first extent symbolic.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/refine");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("part of the crate").flatten() {
        let path = entry.path();
        let bytes = std::fs::read(&path).expect("readable");
        let module = parse_and_verify(&bytes).unwrap_or_else(|e| panic!("{}", e.render("export", &bytes)));
        for size in [2, 3, 6] {
            let types: Vec<Type> = module
                .entry()
                .expect("an entry")
                .params
                .iter()
                .map(|param| {
                    let tensor = param.ty.as_tensor().expect("a tensor");
                    let shape: Vec<i64> = tensor.shape.iter().map(|d| d.known().unwrap_or(size)).collect();
                    Type::tensor(&shape, tensor.element.clone())
                })
                .collect();
            let static_one =
                refine(&module, &types).unwrap_or_else(|e| panic!("{} {size}: {e}", path.display()));
            if let Err(errors) = verify(&static_one) {
                panic!("{} {size}: {}\n{}", path.display(), errors[0], print(&static_one));
            }
            let text = print(&static_one);
            assert!(!text.contains('?') && !text.contains("dynamic_iota"), "{}\n{text}", path.display());
            // What is static stays what it is.
            let again = refine(&static_one, &types).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let line = text
                .lines()
                .zip(print(&again).lines())
                .find(|(a, b)| a != b)
                .map(|(a, b)| format!("{a}\n{b}"));
            assert!(again.same(&static_one), "{} {size}: {line:?}", path.display());
        }
        count += 1;
    }
    assert!(count >= 8);
}
