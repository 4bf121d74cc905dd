//! Binding of symbolic sizes to the arguments of a call.

use surject_ir::bind::is_symbolic;
use surject_ir::interp::run;
use surject_ir::{BindError, Buffer, DType, Function, Program, Scalar, bind, parse, print};

fn buffer(shape: &[usize]) -> Buffer {
    let count: usize = shape.iter().product();
    let values: Vec<Scalar> = (0..count).map(|k| Scalar::from_f64(DType::F32, k as f64 + 1.0)).collect();
    Buffer::from_scalars(DType::F32, shape, &values).unwrap()
}

fn function(text: &str) -> Function {
    parse(text).unwrap_or_else(|e| panic!("{e}")).functions.remove(0)
}

fn program(function: Function) -> Program {
    Program { name: String::new(), functions: vec![function] }
}

const MATMUL: &str = "\
func main(a: f32[in0.0,in0.1], b: f32[in0.1,in1.1]) -> (c, d) {
  c : f32[in0.0,in1.1] =:+ over i<in0.0, j<in0.1, k<in1.1 at [i,k]: a[i,j] * b[j,k]
  d : f32[in0.0 - 1] =: over i<in0.0 - 1: (a[i,0] where 0 <= i < in0.0 else 0.0f32)
}
";

#[test]
fn a_bound_function_computes_what_the_symbolic_one_does() {
    let symbolic = function(MATMUL);
    assert!(is_symbolic(&symbolic));
    for (m, n, k) in [(2, 3, 4), (1, 1, 1), (5, 2, 3), (1, 4, 1)] {
        let arguments = [buffer(&[m, n]), buffer(&[n, k])];
        let bound = bind(&symbolic, &arguments).unwrap();
        assert!(!is_symbolic(&bound), "{}", print(&program(bound)));
        let expected = run(&program(symbolic.clone()), "main", &arguments).unwrap();
        assert_eq!(run(&program(bound.clone()), "main", &arguments).unwrap(), expected);
        // Its text is that of an ordinary program.
        let text = print(&program(bound));
        assert_eq!(run(&parse(&text).unwrap(), "main", &arguments).unwrap(), expected, "{text}");
    }
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    let symbolic = function(MATMUL);
    let error = bind(&symbolic, &[buffer(&[2, 3]), buffer(&[4, 5])]).unwrap_err();
    let BindError::Argument { parameter: 1, axis: Some((0, 3)), .. } = &error else { panic!("{error:?}") };
    assert_eq!(error.to_string(), "the argument `b` is f32[4,5] where f32[in0.1,in1.1] is needed");
    let error = bind(&symbolic, &[buffer(&[2, 3]), buffer(&[3])]).unwrap_err();
    assert!(matches!(error, BindError::Argument { parameter: 1, axis: None, .. }), "{error}");
    let error = bind(&symbolic, &[buffer(&[2, 3])]).unwrap_err();
    assert_eq!(error.to_string(), "the function takes 2 arguments; 1 were given");
}

#[test]
fn sizes_without_a_value_are_refused() {
    let text = "\
func main(x: f32[in0.0]) -> (y) {
  y : f32[in0.0 - 3] =: over i<in0.0 - 3: (x[i] where 0 <= i < in0.0 else 0.0f32)
}
";
    let symbolic = function(text);
    let error = bind(&symbolic, &[buffer(&[2])]).unwrap_err();
    assert_eq!(error.to_string(), "the variable `y`: the size `in0.0 - 3` is negative: -1");
    assert!(bind(&symbolic, &[buffer(&[3])]).is_ok());
    assert!(bind(&symbolic, &[buffer(&[9])]).is_ok());
}

#[test]
fn a_runtime_scalar_is_a_size() {
    let text = "\
func main(x: f32[in0.0], n: i32[]) -> (y) {
  y : f32[min(size(in1), in0.0)] =: over i<min(size(in1), in0.0): (x[i] where 0 <= i < in0.0 else 0.0f32)
}
";
    let symbolic = function(text);
    for (n, length) in [(3i128, 3usize), (9, 5), (-2, 0)] {
        let count = Buffer::splat(Scalar::from_i128(DType::I32, n), &[]);
        let bound = bind(&symbolic, &[buffer(&[5]), count.clone()]).unwrap();
        let results = run(&program(bound), "main", &[buffer(&[5]), count]).unwrap();
        assert_eq!(results[0].shape(), [length], "{n}");
    }
}
