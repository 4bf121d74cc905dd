//! Modules with `?`: what is inferred of sizes, what a run checks, and what is refused with the fact that is missing.

mod common;

use common::*;
use surject_index::{Extent, Observed, Space};
use surject_ir::{Buffer, Program, Scalar, TensorType};
use surject_lift::{ImportOptions, LiftError, import, import_for};

/// The types of the results and the guards of a program.
fn told(program: &Program) -> String {
    let function = program.main().unwrap();
    let results: Vec<String> = function.result_types().iter().map(ToString::to_string).collect();
    let guards: Vec<String> = function.guards.iter().map(|g| g.fact.to_string()).collect();
    format!("{} where {}", results.join(", "), guards.join(", "))
}

fn symbolic(signature: &str, body: &str) -> Program {
    let program = lift_body(signature, body).unwrap_or_else(|e| panic!("{e}"));
    surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}"));
    program
}

fn refused(signature: &str, body: &str) -> LiftError {
    lift_body(signature, body).map(|p| surject_ir::print(&p)).unwrap_err()
}

fn types(arguments: &[Buffer]) -> Vec<TensorType> {
    let space = |b: &Buffer| Space::of(&b.shape().iter().map(|&n| n as u64).collect::<Vec<_>>());
    arguments.iter().map(|b| TensorType::new(b.dtype(), space(b))).collect()
}

/// The results of a function, imported for the call; those of the symbolic program are the same.
fn called(signature: &str, body: &str, arguments: &[Buffer]) -> Vec<Buffer> {
    let text = format!("func.func @main{signature} {{\n{body}\n}}");
    let module =
        surject_stablehlo::parse(&text).unwrap_or_else(|d| panic!("{}", d.render("test.mlir", &text)));
    let program =
        import_for(&module, &ImportOptions::default(), &types(arguments)).unwrap_or_else(|e| panic!("{e}"));
    let results = run_program(&program, arguments);
    if let Ok(whole) = lift(&text) {
        let bound = surject_ir::bind(whole.main().unwrap(), arguments).unwrap_or_else(|e| panic!("{e}"));
        let bound = Program { name: String::new(), functions: vec![bound] };
        assert_eq!(run_program(&bound, arguments), results);
    }
    results
}

const FLAT: (&str, &str) = (
    "(%x: tensor<?x?xf32>) -> tensor<?xf32>",
    "  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %n = stablehlo.multiply %a, %b : tensor<i32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>",
);

#[test]
fn shape_computations_are_recovered() {
    assert_eq!(told(&symbolic(FLAT.0, FLAT.1)), "f32[x_0*x_1] where ");
    for shape in [[2, 3], [1, 1], [0, 4], [4, 0]] {
        let x = f32s(&shape, &(0..shape[0] * shape[1]).map(|i| i as f64).collect::<Vec<_>>());
        assert_eq!(called(FLAT.0, FLAT.1, std::slice::from_ref(&x))[0].bytes(), x.bytes());
    }
}

#[test]
fn assertions_are_guards() {
    let body = "  %one = stablehlo.constant dense<2> : tensor<i32>
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %a, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %a) {api_version = 2 : i32, error_message = \"too short: {0}\", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<?xf32>";
    let signature = "(%x: tensor<?xf32>) -> tensor<?xf32>";
    assert_eq!(told(&symbolic(signature, body)), "f32[x_0] where x_0 >= 2");
    let text = format!("func.func @main{signature} {{\n{body}\n}}");
    let module = surject_stablehlo::parse(&text).unwrap();
    let error = import_for(&module, &ImportOptions::default(), &types(&[f32s(&[1], &[0.0])])).unwrap_err();
    assert!(matches!(error, LiftError::Sizes { .. }) && error.exit_status() == 2);
    assert!(error.to_string().ends_with("too short: 1"), "{error}");
}

#[test]
fn operands_of_one_shape_are_checked_by_a_run() {
    let signature = "(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32>";
    let body = "  %r = stablehlo.add %x, %y : tensor<?xf32>\n  return %r : tensor<?xf32>";
    let program = symbolic(signature, body);
    // The sizes are one: their types say so.
    assert_eq!(told(&program), "f32[x_0] where ");
    let (two, three) = (f32s(&[2], &[1.0, 2.0]), f32s(&[3], &[1.0, 2.0, 3.0]));
    assert!(surject_ir::bind(program.main().unwrap(), &[two.clone(), three.clone()]).is_err());
    assert_eq!(to_floats(&called(signature, body, &[two.clone(), two.clone()])[0]), [2.0, 4.0]);
    // Where something was computed before, the guard stays.
    let body = "  %e = stablehlo.exponential %x : tensor<?xf32>
  %r = stablehlo.add %e, %y : tensor<?xf32>\n  return %r : tensor<?xf32>";
    assert_eq!(told(&symbolic(signature, body)), "f32[x_0] where y_0 == x_0");
}

#[test]
fn declared_shapes_are_claims() {
    // The verifier of StableHLO accepts this; it holds for one size only.
    let signature = "(%x: tensor<?x3xf32, #stablehlo.bounds<5, ?>>) -> tensor<15xf32>";
    let body = "  %r = stablehlo.reshape %x : (tensor<?x3xf32, #stablehlo.bounds<5, ?>>) -> tensor<15xf32>
  return %r : tensor<15xf32>";
    let program = symbolic(signature, body);
    let facts = program.main().unwrap().facts().unwrap();
    let five: Extent = "5".parse().unwrap();
    assert!(facts.same(&Extent::input_axis(0, 0), &five).is_yes(), "{}", surject_ir::print(&program));
    let x = f32s(&[4, 3], &[0.0; 12]);
    assert!(surject_ir::bind(program.main().unwrap(), &[x]).is_err());
    // A bound is what a run checks.
    let signature = "(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>>";
    let program = symbolic(signature, "  return %x : tensor<?xf32, #stablehlo.bounds<4>>");
    assert_eq!(told(&program), "f32[x_0] where x_0 <= 4");
    let x = f32s(&[5], &[0.0; 5]);
    let error = surject_ir::bind(program.main().unwrap(), &[x]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the sizes do not satisfy `x_0 <= 4`, which the type of `x` needs: `x_0` is 5 (axis 0 of `x`)"
    );
    // Exported, the type says so again, and what follows from bounds of parameters does where data gives a size.
    let written = surject_lift::export(&program).unwrap();
    assert!(
        written.contains("tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>>"),
        "{written}"
    );
    let again = lift(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    assert_eq!(told(&again), "f32[arg0_0] where arg0_0 <= 4");
}

#[test]
fn a_dimension_is_set() {
    let signature = "(%x: tensor<4x2xf32>, %n: tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>";
    let body = "  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  return %r : tensor<?x2xf32, #stablehlo.bounds<4, ?>>";
    let program = symbolic(signature, body);
    assert_eq!(told(&program), "f32[size(in1),2] where size(in1) <= 4");
    let x = f32s(&[4, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    for n in [0, 1, 4] {
        let bound = surject_ir::bind(program.main().unwrap(), &[x.clone(), i32s(&[], &[n])]).unwrap();
        let bound = Program { name: String::new(), functions: vec![bound] };
        let result = run_program(&bound, &[x.clone(), i32s(&[], &[n])]);
        assert_eq!(result[0].shape(), [n as usize, 2]);
        assert_eq!(to_floats(&result[0]), to_floats(&x)[..2 * n as usize]);
    }
    assert!(surject_ir::bind(program.main().unwrap(), &[x, i32s(&[], &[5])]).is_err());
}

#[test]
fn what_depends_on_data_is_refused_with_its_field() {
    let error = refused(
        "(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32>",
        "  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %m = stablehlo.multiply %n, %two : tensor<1xi32>
  %r = stablehlo.dynamic_iota %m, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>",
    );
    let LiftError::Dynamic { shape, fact: None, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (shape.primitive.as_str(), shape.field.as_str()),
        ("stablehlo.dynamic_iota", "output_shape[0]")
    );
    assert_eq!(error.exit_status(), 3);
    // The start of a slice may depend on data as long as its size does not.
    let signature = "(%x: tensor<?xf32>, %i: tensor<i32>) -> tensor<2xf32>";
    let body = "  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %s = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %e = stablehlo.add %s, %two : tensor<1xi32>
  %r = stablehlo.real_dynamic_slice %x, %s, %e, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %r : tensor<2xf32>";
    let x = f32s(&[5], &[0., 1., 2., 3., 4.]);
    assert_eq!(to_floats(&called(signature, body, &[x, i32s(&[], &[2])])[0]), [2.0, 3.0]);
}

#[test]
fn a_branch_asks_nothing_of_every_run() {
    let error = refused(
        "(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: tensor<i1>) -> tensor<?xf32>",
        "  %e = stablehlo.exponential %x : tensor<?xf32>
  %r = \"stablehlo.if\"(%c) ({
    %s = stablehlo.add %e, %y : tensor<?xf32>
    stablehlo.return %s : tensor<?xf32>
  }, {
    stablehlo.return %e : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %r : tensor<?xf32>",
    );
    let LiftError::Dynamic { fact: Some(fact), .. } = &error else { panic!("{error}") };
    assert_eq!(fact.to_string(), "y_0 == x_0");
    // With the fact it is imported.
    let program = symbolic(
        "(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: tensor<i1>) -> tensor<?xf32>",
        "  %p = stablehlo.add %x, %y : tensor<?xf32>
  %r = \"stablehlo.if\"(%c) ({
    %s = stablehlo.add %p, %y : tensor<?xf32>
    stablehlo.return %s : tensor<?xf32>
  }, {
    stablehlo.return %p : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %r : tensor<?xf32>",
    );
    assert_eq!(told(&program), "f32[x_0] where ");
}

/// a result of branches with different sizes has the size of the branch that was taken, of which a bound is known.
#[test]
fn branches_of_different_sizes_give_a_bound() {
    let signature = "(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>, %c: tensor<i1>) -> tensor<?x2xf32>";
    let body = "  %r = \"stablehlo.if\"(%c) ({
    %s = stablehlo.negate %x : tensor<?x2xf32>
    stablehlo.return %s : tensor<?x2xf32>
  }, {
    stablehlo.return %y : tensor<?x2xf32>
  }) : (tensor<i1>) -> tensor<?x2xf32>
  %e = stablehlo.add %r, %r : tensor<?x2xf32>
  return %e : tensor<?x2xf32>";
    let program = symbolic(signature, body);
    let main = program.main().unwrap();
    let extents = main.extents(main.body.results[0]);
    assert_eq!(extents[0].to_string(), "<= max(x_0, y_0)");
    let rows = |n: usize, from: f64| {
        let values: Vec<f64> = (0..2 * n).map(|k| from + k as f64).collect();
        f32s(&[n, 2], &values)
    };
    for (n, m) in [(1, 3), (3, 1), (2, 2), (0, 2), (2, 0)] {
        for taken in [true, false] {
            let flag = Buffer::splat(Scalar::bool(taken), &[]);
            let arguments = [rows(n, 1.0), rows(m, 10.0), flag];
            let bound = surject_ir::bind(main, &arguments).unwrap_or_else(|e| panic!("{e}"));
            let bound = Program { name: String::new(), functions: vec![bound] };
            let found = &run_program(&bound, &arguments)[0];
            assert_eq!(found.shape(), [if taken { n } else { m }, 2]);
            let from = if taken { -1.0 } else { 10.0 };
            let step = if taken { -1.0 } else { 1.0 };
            let expected: Vec<f64> = (0..found.len()).map(|k| 2.0 * (from + step * k as f64)).collect();
            assert_eq!(to_floats(found), expected);
        }
    }
}

/// Inside of a branch no program has a name for such a size: the refusal says which result, and what would lift it.
#[test]
fn branches_of_different_sizes_inside_of_another_are_refused() {
    let error = refused(
        "(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: tensor<i1>) -> tensor<f32>",
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = \"stablehlo.if\"(%c) ({
    %r = \"stablehlo.if\"(%c) ({
      stablehlo.return %x : tensor<?xf32>
    }, {
      stablehlo.return %y : tensor<?xf32>
    }) : (tensor<i1>) -> tensor<?xf32>
    %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %s : tensor<f32>
  }, {
    stablehlo.return %zero : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %q : tensor<f32>",
    );
    let LiftError::Dynamic { shape, fact: Some(fact), place } = &error else { panic!("{error}") };
    assert_eq!((shape.primitive.as_str(), shape.field.as_str()), ("stablehlo.if", "result 0, shape[0]"));
    assert_eq!(shape.observed, Observed::UpperBound("max(x_0, y_0)".parse().unwrap()));
    assert_eq!(fact.to_string(), "x_0 == y_0");
    assert!(place.span.start > 0, "{place:?}");
}

#[test]
fn sizes_are_values_too() {
    let signature = "(%x: tensor<?xf32>) -> tensor<i32>";
    let body = "  %two = stablehlo.constant dense<2> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %h = stablehlo.divide %n, %two : tensor<i32>
  %m = stablehlo.multiply %h, %n : tensor<i32>
  %s = stablehlo.subtract %two, %m : tensor<i32>
  return %s : tensor<i32>";
    for n in [0usize, 1, 2, 7] {
        let x = f32s(&[n], &vec![0.0; n]);
        assert_eq!(to_ints(&called(signature, body, &[x])[0]), [2 - (n / 2 * n) as i64]);
    }
}

#[test]
fn facts_that_contradict_each_other_are_an_error() {
    let error = refused(
        "(%x: tensor<?x3xf32>) -> tensor<15xf32>",
        "  %r = stablehlo.reshape %x : (tensor<?x3xf32>) -> tensor<15xf32>
  %s = stablehlo.reshape %x : (tensor<?x3xf32>) -> tensor<12xf32>
  return %r : tensor<15xf32>",
    );
    assert!(matches!(error, LiftError::Sizes { .. } | LiftError::Invalid { .. }), "{error}");
}

/// What does not fit at the sizes of a call is said as that, with the fact: it is bad input, no lack of support.
#[test]
fn sizes_of_a_call_that_do_not_fit_are_bad_input() {
    let gather = "  %g = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], \
                  start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<?xf32>, \
                  tensor<1x1xi32>) -> tensor<1x2xf32>
  return %g : tensor<1x2xf32>";
    let text = format!(
        "func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>, %i: tensor<1x1xi32>) -> tensor<1x2xf32> {{\n{}\n}}",
        gather.replace("tensor<?xf32>", "tensor<?xf32, #stablehlo.bounds<4>>")
    );
    let module = surject_stablehlo::parse(&text).unwrap_or_else(|d| panic!("{}", d.render("t", &text)));
    let refused = |n: usize| {
        let arguments = [f32s(&[n], &vec![0.0; n]), i32s(&[1, 1], &[0])];
        import_for(&module, &ImportOptions::default(), &types(&arguments)).unwrap_err()
    };
    let error = refused(1);
    let LiftError::Sizes { op, fact, .. } = &error else { panic!("{error}") };
    assert_eq!((op.as_str(), fact.to_string().as_str()), ("stablehlo.gather", "2 <= 1"));
    let error = refused(5);
    let LiftError::Sizes { op, fact, .. } = &error else { panic!("{error}") };
    assert_eq!((op.as_str(), fact.to_string().as_str()), ("func.func @main", "5 <= 4"));
}

/// Sizes that turn out to be one while an operation is read: what it has made of the other one is made again.
#[test]
fn sizes_that_become_one_are_one_everywhere() {
    let signature = "(%x: tensor<?x?xf32>, %y: tensor<?x3xf32>) -> tensor<?x?xf32>";
    let body =
        "  %c = stablehlo.concatenate %y, %x, dim = 1 : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>";
    assert_eq!(told(&symbolic(signature, body)), "f32[x_0,x_1 + 3] where ");
    let found = called(signature, body, &[f32s(&[1, 2], &[4., 5.]), f32s(&[1, 3], &[1., 2., 3.])]);
    assert_eq!(to_floats(&found[0]), [1., 2., 3., 4., 5.]);
}

/// An axis that may have no position is exported as one that has: its size is a sum of ones over it.
#[test]
fn axes_that_may_be_empty_are_exported() {
    let signature = "(%x: tensor<?xf32>) -> tensor<?xf32>";
    let body = "  %r = stablehlo.reverse %x, dims = [0] : tensor<?xf32>\n  return %r : tensor<?xf32>";
    let program = symbolic(signature, body);
    let written = surject_lift::export(&program).unwrap();
    let again = lift(&written).unwrap_or_else(|e| panic!("{e}\n{written}"));
    for values in [&[][..], &[1.0], &[1.0, 2.0, 3.0]] {
        let x = f32s(&[values.len()], values);
        let turned: Vec<f64> = values.iter().rev().copied().collect();
        for program in [&program, &again] {
            let found = surject_ir::interp::run(program, "main", std::slice::from_ref(&x)).unwrap();
            assert_eq!(to_floats(&found[0]), turned);
        }
    }
}

/// R19, R20, R22: a size that data gives is declared and bounded; what is made of it is bounded too.
#[test]
fn data_gives_a_bounded_size() {
    let signature = "(%x: tensor<4x2xf32>, %s: tensor<2xi32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>";
    let body = "  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x2xf32>, tensor<i32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  %d = stablehlo.add %r, %r : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  return %d : tensor<?x2xf32, #stablehlo.bounds<4, ?>>";
    let first = symbolic(signature, body);
    assert_eq!(told(&first), "f32[u0,2] where ");
    let x = f32s(&[4, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
    // Exported, a size that data gives has its bound; read again it is declared again.
    let text = surject_lift::export(&first).unwrap();
    assert!(text.contains("tensor<?x2xf32, #stablehlo.bounds<4, ?>>"), "{text}");
    assert!(text.contains("stablehlo.real_dynamic_slice"), "{text}");
    let module = surject_stablehlo::parse_and_verify(text.as_bytes())
        .unwrap_or_else(|d| panic!("{}", d.render("e", &text)));
    let options = ImportOptions { file: "e", source: text.as_bytes(), function: Some("main") };
    let again = import(&module, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    surject_ir::verify(&again).unwrap();
    for program in [&first, &again] {
        let function = program.main().unwrap();
        let result = function.body.results[0];
        let extents: Vec<String> = function.extents(result).iter().map(ToString::to_string).collect();
        assert_eq!(extents, ["<= 4", "= 2"]);
        for (a, b) in [(1, 2), (0, 0), (2, 2), (3, -2)] {
            let arguments = [x.clone(), i32s(&[2], &[a, b])];
            let bound = surject_ir::bind(function, &arguments).unwrap();
            let bound = Program { name: String::new(), functions: vec![bound] };
            let result = run_program(&bound, &arguments);
            assert_eq!(result[0].shape(), [(a + b) as usize, 2]);
            let expected: Vec<f64> = to_floats(&x)[..2 * (a + b) as usize].iter().map(|v| 2.0 * v).collect();
            assert_eq!(to_floats(&result[0]), expected);
        }
    }
    // In a loop or a branch it has no one value.
    let signature =
        "(%x: tensor<4xf32>, %s: tensor<2xi32>, %c: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>";
    let body = "  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %r = \"stablehlo.case\"(%c) ({
    %k = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
    stablehlo.return %k : tensor<?xf32, #stablehlo.bounds<4>>
  }) : (tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %r : tensor<?xf32, #stablehlo.bounds<4>>";
    assert!(matches!(refused(signature, body), LiftError::Dynamic { .. }));
}

/// Truncations of either stage are exported: sizes by the rule of the scalar, guards, bounds.
#[test]
fn truncations_are_exported() {
    let text = "\
func main(x: f32[n,2], s: f32[], w: f32[8]) -> (y, z) where n >= 1 @ \"test\" {
  y : f32[min(truncate_size(in1), n),2] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"min(truncate_size(in1), n)\"}(x, s)
  t : f32[] =: s * 2.0f32
  v : f32[u] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(w, t)
  z : f32[u] =: over i<u: v[i] + w[i]
}
";
    let program = surject_ir::parse(text).unwrap();
    surject_ir::verify(&program).unwrap();
    let written = surject_lift::export(&program).unwrap();
    assert!(
        written.contains("shape_assertion") && written.contains("tensor<?xf32, #stablehlo.bounds<8>>"),
        "{written}"
    );
    assert!(!written.contains("tensor<?x2xf32, #stablehlo.bounds"), "{written}");
    let module = surject_stablehlo::parse_and_verify(written.as_bytes())
        .unwrap_or_else(|d| panic!("{}", d.render("e", &written)));
    let options = ImportOptions { file: "e", source: written.as_bytes(), function: Some("main") };
    let again = import(&module, &options).unwrap_or_else(|e| panic!("{e}\n{written}"));
    for (n, s) in [(3, 1.5), (3, 0.4), (1, 9.0), (2, f64::NAN), (4, 2.5)] {
        let x: Vec<f64> = (0..2 * n).map(|k| k as f64).collect();
        let w: Vec<f64> = (0..8).map(|k| k as f64).collect();
        let s = Buffer::splat(surject_ir::Scalar::from_f64(surject_ir::DType::F32, s), &[]);
        let arguments = [f32s(&[n, 2], &x), s, f32s(&[8], &w)];
        let run = |program: &Program| surject_ir::interp::run(program, "main", &arguments).unwrap();
        assert_eq!(run(&program), run(&again), "{n}");
    }
}
