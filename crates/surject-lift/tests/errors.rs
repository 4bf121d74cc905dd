//! What is refused, with the operation and its place.

mod common;

use common::*;
use surject_lift::{CheckOutcome, ImportOptions, LiftError, import, import_checks};

/// What a module is refused with: place, code, message and exit status.
fn refused(text: &str) -> String {
    let error = lift(text).map(|_| ()).expect_err("the module is refused");
    let diagnostic = error.diagnostic();
    let (line, column) = diagnostic.span.line_col(text);
    format!(
        "{line}:{column}: [{}] {}\nexit status {}",
        diagnostic.code,
        diagnostic.message,
        error.exit_status()
    )
}

#[test]
fn unsupported_operations_name_their_place() {
    insta::assert_snapshot!(refused(
        "func.func @main(%x: tensor<2xui32>) -> tensor<2xf32> {
  %r = stablehlo.custom_call @my_solver(%x) : (tensor<2xui32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}"
    ));
    insta::assert_snapshot!(refused(
        "func.func @main(%c: tensor<i1>, %x: tensor<f32>, %s: tensor<1xi64>) -> tensor<3xf32> {
  %r = \"stablehlo.if\"(%c) ({
    %0 = stablehlo.rng %x, %x, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
    stablehlo.return %0 : tensor<3xf32>
  }, {
    %0 = stablehlo.rng %x, %x, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
    stablehlo.return %0 : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}"
    ));
}

#[test]
fn unsupported_types_are_named() {
    insta::assert_snapshot!(refused(
        "func.func @main(%x: tensor<2xui8>) -> tensor<2xf32> {
  %a = stablehlo.bitcast_convert %x : (tensor<2xui8>) -> tensor<2xf8E4M3FN>
  %r = stablehlo.convert %a : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}"
    ));
    insta::assert_snapshot!(refused(
        "func.func @main(%x: tensor<2xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  %r = stablehlo.dynamic_reshape %x, %n : (tensor<2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}"
    ));
}

#[test]
fn what_is_read_but_has_no_meaning_here_is_unsupported() {
    let programs = [
        "func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {\n  return %x : tensor<*xf32>\n}".to_string(),
        "func.func @main() -> tensor<2xf32> {
  %r = arith.constant dense<1.0> : tensor<2xf32>
  return %r : tensor<2xf32>
}"
        .to_string(),
        "func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %r = arith.addi %x, %y : tensor<2xi32>
  return %r : tensor<2xi32>
}"
        .to_string(),
        "func.func @main(%x: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  %r = \"stablehlo.async_done\"(%x) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}"
        .to_string(),
    ];
    for text in &programs {
        let module = surject_stablehlo::parse(text).unwrap_or_else(|e| panic!("{}", e.render("text", text)));
        let error = import(&module, &ImportOptions::default()).map(|_| ()).expect_err(text);
        assert_eq!(error.exit_status(), 3, "{error}\n{text}");
    }
}

#[test]
fn recursion_is_an_error() {
    insta::assert_snapshot!(refused(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = call @even(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @even(%x: tensor<f32>) -> tensor<f32> {
  %r = call @odd(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func private @odd(%x: tensor<f32>) -> tensor<f32> {
  %r = call @even(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"
    ));
}

#[test]
fn invalid_operations_are_refused_and_do_not_panic() {
    let cases = [
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.slice %x [1:9] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.slice %x [3:1] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.reshape %x : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.transpose %x, dims = [3] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.transpose %x, dims = [0, 0] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.reverse %x, dims = [-1] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xi32>, tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.dot_general %x, %x, contracting_dims = [0] x [1] : (tensor<4xi32>, tensor<4xi32>) -> tensor<2xi32>",
        ),
        ("(%x: tensor<4xi32>) -> tensor<2xi32>", "%r = stablehlo.iota dim = 4 : tensor<2xi32>"),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.dynamic_slice %x, sizes = [2] : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = func.call @nobody(%x) : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = stablehlo.convert %x : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%r = \"stablehlo.add\"(%x) : (tensor<4xi32>) -> tensor<2xi32>",
        ),
        (
            "(%x: tensor<4xi32>) -> tensor<2xi32>",
            "%v = stablehlo.constant dense<1> : tensor<i32>\n %r = stablehlo.pad %x, %v, low = [9223372036854775807], high = [5], interior = [9223372036854775807] : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>",
        ),
    ];
    for (signature, line) in cases {
        let text = format!("func.func @main{signature} {{\n {line}\n return %r : tensor<2xi32>\n}}");
        // What the reader refuses does not come to the importer.
        let Ok(module) = surject_stablehlo::parse(&text) else {
            continue;
        };
        match import(&module, &ImportOptions::default()) {
            Err(LiftError::Invalid { .. }) => {}
            other => panic!("{line}: {:?}", other.map(|p| p.functions[0].body.clone())),
        }
    }
}

#[test]
fn deep_calls_and_wide_inlining_end_in_an_error() {
    let mut text = String::from(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = call @f0(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}\n",
    );
    for i in 0..1000 {
        text += &format!(
            "func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n  %r = call @f{}(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}}\n",
            i + 1
        );
    }
    text += "func.func private @f1000(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n";
    let error = lift(&text).map(|_| ()).expect_err("too deep");
    assert_eq!(error.exit_status(), 3);
    assert!(error.to_string().contains("deep"), "{error}");

    let mut text = String::from(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = call @f0(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}\n",
    );
    for i in 0..60 {
        text += &format!(
            "func.func private @f{i}(%x: tensor<f32>) -> tensor<f32> {{\n  %y = call @f{}(%x) : (tensor<f32>) -> tensor<f32>\n  %r = call @f{}(%y) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}}\n",
            i + 1,
            i + 1
        );
    }
    text += "func.func private @f60(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.negate %x : tensor<f32>\n  return %r : tensor<f32>\n}\n";
    let error = lift(&text).map(|_| ()).expect_err("too many");
    assert_eq!(error.exit_status(), 3);
    assert!(error.to_string().contains("operations"), "{error}");

    let mut body = String::from("stablehlo.return %x : tensor<f32>");
    for _ in 0..60 {
        body = format!(
            "%r = \"stablehlo.if\"(%p) ({{ {body} }}, {{ stablehlo.return %x : tensor<f32> }}) : (tensor<i1>) -> tensor<f32>\n stablehlo.return %r : tensor<f32>"
        );
    }
    let body = body.rsplit_once("stablehlo.return").unwrap().0;
    lift_body("(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32>", &format!("{body} return %r : tensor<f32>"))
        .unwrap();
}

#[test]
fn functions_are_chosen_by_name() {
    let text = "func.func @a(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
        func.func private @b(%x: tensor<f32>) -> tensor<f32> {
          %r = stablehlo.negate %x : tensor<f32>
          return %r : tensor<f32>
        }
        func.func @c(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }";
    let names = |p: surject_ir::Program| p.functions.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(lift(text).unwrap()), ["a", "c"]);
    let module = surject_stablehlo::parse(text).unwrap();
    let only = |name| ImportOptions { function: Some(name), ..ImportOptions::default() };
    assert_eq!(names(import(&module, &only("b")).unwrap()), ["b"]);
    let error = import(&module, &only("d")).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "there is no function `@d` (there is `@a`, `@b`, `@c`)");
    assert_eq!(error.exit_status(), 2);
}

#[test]
fn statements_know_where_they_come_from() {
    let program = lift("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.negate %x : tensor<f32>\n  return %r : tensor<f32>\n}").unwrap();
    let origin = program.functions[0].body.statements[0].origin.as_deref();
    assert_eq!(origin, Some("test.mlir:2:8"));
}

#[test]
fn checks_become_pairs_of_results() {
    let text = "func.func @good() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.add %x, %x : tensor<2xi32>
  check.expect_eq_const %y, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq %y, %y : tensor<2xi32>
  %f = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %g = stablehlo.exponential %f : tensor<2xf32>
  check.expect_almost_eq_const %g, dense<[2.7182818, 1.0]> : tensor<2xf32>
  return
}
func.func @bad() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %x, dense<[1, 3]> : tensor<2xi32>
  stablehlo.custom_call @check.expect_close(%x, %x) : (tensor<2xi32>, tensor<2xi32>) -> ()
  return
}
func.func @none() {
  %x = stablehlo.constant dense<1> : tensor<i4>
  check.expect_eq_const %x, dense<1> : tensor<i4>
  return
}
func.func @plain(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}";
    let module = surject_stablehlo::parse(text).unwrap_or_else(|d| panic!("{}", d.render("test.mlir", text)));
    let all = import_checks(&module, &ImportOptions::default()).unwrap();
    let mut report = String::new();
    for (name, result) in &all {
        match result {
            Err(error) => report += &format!("{name}: {error}\n"),
            Ok(function) => {
                let results = run_program(&function.program, &[]);
                for check in &function.checks {
                    let line = check.place.span.line_col(text).0;
                    report += &match check.evaluate(&results) {
                        CheckOutcome::Passed => format!("{name}:{line}: passed\n"),
                        CheckOutcome::Failed { reason } => format!("{name}:{line}: {reason}\n"),
                    };
                }
            }
        }
    }
    insta::assert_snapshot!(report);
}
