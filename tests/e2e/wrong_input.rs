//! Wrong programs: each is refused with status 2 and a message that points at the place, quickly and in little
//! memory; nothing panics.

use crate::support::surject;
use std::time::{Duration, Instant};
use surject::Status;

/// Runs a program text through the command; the failure it must give.
fn refused(name: &str, bytes: &[u8]) -> surject::Failure {
    let folder = std::env::temp_dir().join(format!("surject-wrong-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let file = folder.join("wrong.mlir");
    std::fs::write(&file, bytes).expect("the temporary folder is writable");
    let start = Instant::now();
    let result = surject(&["run", file.to_str().expect("paths are text")]);
    let time = start.elapsed();
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    let mut failure = result.expect_err(name);
    // Generous: unoptimised code on a shared machine. The limit is a second.
    assert!(time < Duration::from_secs(10), "{name} took {time:?}");
    failure.message = failure.message.replace(&format!("{}/", folder.display()), "");
    failure
}

/// A function with this body, after `%a : tensor<2x3xf32>` and `%b : tensor<3xf32>`.
fn body(text: &str) -> String {
    format!("func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {{\n  {text}\n}}\n")
}

#[test]
fn wrong_programs_point_at_the_place() {
    let whole = body("return %a : tensor<2x3xf32>");
    let wrong: Vec<(&str, String)> = vec![
        ("empty", String::new()),
        ("truncated_function", whole[..whole.len() - 20].to_string()),
        ("truncated_type", "func.func @main(%a: tensor<2x".into()),
        ("truncated_string", "module attributes {a = \"unfinished".into()),
        ("not_a_program", "once upon a time there was a tensor\n".into()),
        ("undefined_value", body("%0 = stablehlo.add %a, %nowhere : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("used_before_defined", body("%0 = stablehlo.negate %1 : tensor<2x3xf32>\n  %1 = stablehlo.negate %a : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("defined_twice", body("%0 = stablehlo.negate %a : tensor<2x3xf32>\n  %0 = stablehlo.abs %a : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("operand_types_differ", body("%0 = stablehlo.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("operand_type_is_wrong", body("%0 = stablehlo.negate %b : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("return_type", body("return %b : tensor<3xf32>")),
        ("no_return", body("%0 = stablehlo.negate %a : tensor<2x3xf32>")),
        ("unknown_type", "func.func @main(%a: tensor<2xf33>) -> tensor<2xf33> {\n  return %a : tensor<2xf33>\n}\n".into()),
        ("unknown_operation", body("%0 = stablehlo.frobnicate %a : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("broadcast_dims", body("%0 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<3xf32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("broadcast_dims_range", body("%0 = stablehlo.broadcast_in_dim %b, dims = [7] : (tensor<3xf32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("reshape_count", body("%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<7xf32>\n  return %a : tensor<2x3xf32>")),
        ("transpose_permutation", body("%0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>\n  return %a : tensor<2x3xf32>")),
        ("slice_bounds", body("%0 = stablehlo.slice %a [0:5, 0:3] : (tensor<2x3xf32>) -> tensor<5x3xf32>\n  return %a : tensor<2x3xf32>")),
        ("concatenate_sizes", body("%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>\n  return %a : tensor<2x3xf32>")),
        ("contracting_sizes", body("%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>\n  return %a : tensor<2x3xf32>")),
        ("reduce_dims", body("%c = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [5] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n  return %a : tensor<2x3xf32>")),
        ("literal_shape", body("%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("literal_element", body("%0 = stablehlo.constant dense<[[1.0, 2.0, x], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("literal_blob", body("%0 = stablehlo.constant dense<\"0x0011\"> : tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("compare_direction", body("%0 = stablehlo.compare QQ, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>\n  return %a : tensor<2x3xf32>")),
        ("select_predicate", body("%0 = stablehlo.select %a, %a, %a : tensor<2x3xf32>, tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("attribute_missing", body("%0 = \"stablehlo.iota\"() : () -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("attribute_type", body("%0 = \"stablehlo.iota\"() {iota_dimension = \"first\"} : () -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("callee_unknown", body("%0 = call @nowhere(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>")),
        ("huge_tensor", "func.func @main() -> tensor<9223372036854775807x9223372036854775807xf32> {\n  %0 = stablehlo.constant dense<0.0> : tensor<9223372036854775807x9223372036854775807xf32>\n  return %0 : tensor<9223372036854775807x9223372036854775807xf32>\n}\n".into()),
        ("extra_brace", format!("{whole}}}\n")),
    ];
    for (name, text) in wrong {
        let failure = refused(name, text.as_bytes());
        assert_eq!(failure.status, Status::BadInput, "{name}: {failure}");
        insta::assert_snapshot!(format!("wrong__{name}"), failure.message);
    }
}

#[test]
fn binary_garbage() {
    let garbage: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
    let failure = refused("garbage", &garbage);
    assert_eq!(failure.status, Status::BadInput);
    assert!(failure.message.contains("wrong.mlir:1:"), "{failure}");
}

#[test]
fn a_very_long_line() {
    let mut text = body("return %a : tensor<2x3xf32> ").into_bytes();
    text.truncate(text.len() - 3);
    text.extend(std::iter::repeat_n(b' ', 100 << 20));
    text.extend(b"%%%");
    let failure = refused("long_line", &text);
    assert_eq!(failure.status, Status::BadInput);
    assert!(failure.message.len() < 2000, "the message shows a part of the line");
}

#[test]
fn very_deep_nesting() {
    for (name, open) in
        [("brackets", "["), ("braces", "{a = "), ("types", "tuple<"), ("locations", "loc(fused[")]
    {
        let text = format!("module attributes {{x = {}", open.repeat(100_000));
        assert_eq!(refused(name, text.as_bytes()).status, Status::BadInput, "{name}");
    }
    let regions = "\"stablehlo.if\"(%a) ({\n".repeat(100_000);
    let text = format!("func.func @main(%a: tensor<i1>) {{\n{regions}");
    assert_eq!(refused("regions", text.as_bytes()).status, Status::BadInput);
}
