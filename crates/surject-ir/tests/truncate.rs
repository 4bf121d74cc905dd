//! `DynamicTruncate` (seed 002, requirements R19 to R25, R64, R68, R70 of reference/extents.md): sizes that the value of a
//! scalar gives.

use surject_index::{Extent, ShapeExtent};
use surject_ir::interp::{self, InterpError, run};
use surject_ir::{
    BindError, Buffer, DType, Program, Scalar, StatementKind, Var, bind, parse, pass_violations, print,
    verify,
};

fn program(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let printed = print(&program);
    assert_eq!(print(&parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"))), printed);
    program
}

fn refused(text: &str) -> String {
    match parse(text) {
        Ok(program) => verify(&program).expect_err(text).to_string(),
        Err(error) => error.to_string(),
    }
}

fn buffer(shape: &[usize]) -> Buffer {
    let count: usize = shape.iter().product();
    let values: Vec<Scalar> = (0..count).map(|k| Scalar::from_f64(DType::F32, k as f64)).collect();
    Buffer::from_scalars(DType::F32, shape, &values).unwrap()
}

fn scalar(dtype: DType, value: f64) -> Buffer {
    Buffer::splat(Scalar::from_f64(dtype, value), &[])
}

/// Runs the program, and the one that is bound to the arguments; both give the same.
fn both(program: &Program, arguments: &[Buffer]) -> Vec<Buffer> {
    let results = run(program, "main", arguments).unwrap();
    let bound = bind(program.main().unwrap(), arguments).unwrap();
    assert!(!surject_ir::bind::is_symbolic(&bound));
    let calls = bound.body.statements.iter().filter(|s| matches!(s.kind, StatementKind::Call { .. }));
    assert_eq!(calls.count(), 0, "a truncation is left");
    let bound = Program { name: String::new(), functions: vec![bound] };
    assert_eq!(run(&bound, "main", arguments).unwrap(), results);
    results
}

fn exact(rule: &str, dtype: &str, n: &str) -> String {
    format!(
        "func main(x: f32[{n},2], s: {dtype}[]) -> (y) {{\n  y : f32[min({rule}(in1), {n}),2] = call \
         dynamic_truncate{{axis=0, semantics={rule}, size=\"min({rule}(in1), {n})\"}}(x, s)\n}}\n"
    )
}

/// The scalar is computed: the size is declared, and bounded.
fn computed(dtype: &str, field: &str) -> String {
    format!(
        "func main(x: f32[n,2], s: {dtype}[]) -> (y, z) {{\n  t : {dtype}[] =: {field}\n  y : f32[u,2] = call \
         dynamic_truncate{{axis=0, semantics=truncate_size, size=\"u\"}}(x, t)\n  z : f32[2*u + 1] =: over i<2*u + 1: \
         1.0f32\n}}\n"
    )
}

/// R23: not finite gives 0; half away from zero; clamped to the axis.
const ROUNDING: [(f64, usize); 12] = [
    (0.0, 0),
    (0.49, 0),
    (0.5, 1),
    (1.5, 2),
    (2.5, 3),
    (-0.5, 0),
    (-7.0, 0),
    (3.0, 3),
    (1e30, 4),
    (f64::INFINITY, 0),
    (f64::NEG_INFINITY, 0),
    (f64::NAN, 0),
];

#[test]
fn a_parameter_gives_the_exact_size() {
    for (name, dtype) in [("f32", DType::F32), ("f64", DType::F64)] {
        for n in ["n", "4"] {
            let program = program(&exact("truncate_size", name, n));
            for (value, size) in ROUNDING {
                let results = both(&program, &[buffer(&[4, 2]), scalar(dtype, value)]);
                assert_eq!(results[0].shape(), [size, 2], "{name} {value}");
                assert!((0..2 * size).all(|k| results[0].get(k).as_f64() == k as f64));
            }
        }
    }
    for (value, size) in [(-3, 0), (0, 0), (2, 2), (9, 4)] {
        let s = Buffer::splat(Scalar::from_i128(DType::I32, value), &[]);
        assert_eq!(both(&program(&exact("size", "i32", "n")), &[buffer(&[4, 2]), s])[0].shape(), [size, 2]);
    }
}

#[test]
fn computed_data_gives_a_bounded_size() {
    let program = program(&computed("f32", "s * 2.0f32"));
    for (value, size) in [(0.5, 1), (1.25, 3), (9.0, 4), (-1.0, 0), (f64::NAN, 0)] {
        let results = both(&program, &[buffer(&[4, 2]), scalar(DType::F32, value)]);
        assert_eq!(results[0].shape(), [size, 2], "{value}");
        assert_eq!(results[1].shape(), [2 * size + 1]);
    }
    let arguments = [buffer(&[4, 2]), scalar(DType::F32, 1.25)];
    let sizes = interp::computed_sizes(program.main().unwrap(), &arguments).unwrap();
    assert_eq!(
        sizes.into_iter().map(|(name, size)| (name.to_string(), size)).collect::<Vec<_>>(),
        [("u".into(), 3)]
    );
}

/// R19, R20, R70: seen from outside the size before is a bound, never the size.
#[test]
fn a_truncated_size_is_a_bound() {
    let program = program(&computed("f32", "s * 2.0f32"));
    let function = program.main().unwrap();
    let extents = |name: &str| -> Vec<String> {
        let var = function.vars.iter().position(|v| v.name == name).unwrap();
        function.extents(Var(var as u32)).iter().map(ToString::to_string).collect()
    };
    assert_eq!(extents("x"), ["= n", "= 2"]);
    assert_eq!(extents("y"), ["<= n", "= 2"]);
    assert_eq!(extents("z"), ["<= 2*n + 1"]);
    // A pass that takes the bound for the size is caught; one that keeps the name is not.
    assert_eq!(pass_violations(function, function).unwrap(), []);
    let wrong =
        parse("func main(x: f32[n,2], s: f32[]) -> (y) {\n  y : f32[n,2] =: over i<n, j<2: x\n}\n").unwrap();
    let found = pass_violations(function, wrong.main().unwrap()).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    // The bound of a bound.
    let twice = program_of_two();
    let function = twice.main().unwrap();
    let last = Var(function.vars.len() as u32 - 1);
    assert_eq!(function.extents(last), [ShapeExtent::UpperBound(Extent::symbol("n"))]);
    for (n, a, b) in [(5, 3.0, 2.0), (5, 3.0, 4.0), (0, 1.0, 1.0), (5, 9.0, 1.0)] {
        let results = both(&twice, &[buffer(&[n]), scalar(DType::F32, a), scalar(DType::F32, b)]);
        assert_eq!(results[0].shape(), [n.min(a as usize).min(b as usize)]);
    }
}

fn program_of_two() -> Program {
    program(
        "func main(x: f32[n], a: f32[], b: f32[]) -> (z) {
  p : f32[] =: a + 0.0f32
  y : f32[u] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, p)
  q : f32[] =: b + 0.0f32
  z : f32[v] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"v\"}(y, q)
}
",
    )
}

/// What the facts say of the size: at most the size before, and nothing of how much less.
#[test]
fn reads_of_a_truncated_tensor_stay_inside() {
    let text = |sum: &str| {
        format!(
            "func main(x: f32[n], s: f32[]) -> (z) {{\n  t : f32[] =: s + 1.0f32\n  y : f32[u] = call \
             dynamic_truncate{{axis=0, semantics=truncate_size, size=\"u\"}}(x, t)\n  z : f32[u] =: over i<u: {sum}\n}}\n"
        )
    };
    let both_tensors = program(&text("x[i] + y[i]"));
    let results = both(&both_tensors, &[buffer(&[4]), scalar(DType::F32, 1.0)]);
    assert_eq!((0..2).map(|k| results[0].get(k).as_f64()).collect::<Vec<_>>(), [0.0, 2.0]);
    assert!(refused(&text("y[i] + x[i + 1]")).contains("not proven to stay inside"));
    let message = refused(&text("y[i]").replace("f32[u] =: over i<u: y[i]", "f32[n] =: over i<n: y[i]"));
    assert!(message.contains("not proven to stay inside the extent u"), "{message}");
}

#[test]
fn what_is_not_well_formed_is_refused() {
    for dtype in ["i32", "bf16", "f16"] {
        assert!(
            refused(&exact("truncate_size", dtype, "n")).contains("needs an `f32` or `f64` of rank 0"),
            "{dtype}"
        );
    }
    assert!(refused(&exact("size", "f32", "n")).contains("needs an integer of rank 0"));
    let message = refused(&computed("i32", "s * 2i32"));
    assert!(message.contains("its size is i32[] where an `f32` or `f64` of rank 0 is needed"), "{message}");
    // A size that the scalar does not give.
    let other =
        exact("truncate_size", "f32", "n").replace("size=\"min(truncate_size(in1), n)\"", "size=\"n\"");
    let message = refused(&other.replace("f32[min(truncate_size(in1), n),2] =", "f32[n,2] ="));
    assert!(
        message.contains("used before the truncation") || message.contains("the truncated size is"),
        "{message}"
    );
    let guess = computed("f32", "s * 2.0f32")
        .replace("size=\"u\"", "size=\"min(n, 3)\"")
        .replace("u,2", "min(n, 3),2");
    let message = refused(&guess.replace("2*u + 1", "1"));
    assert!(message.contains("a name that nothing else declares: the scalar is no parameter"), "{message}");
    // Two truncations of one name, a use before the truncation, a truncation in a branch.
    let twice = print(&program_of_two()).replace("\"v\"", "\"u\"").replace("f32[v]", "f32[u]");
    assert!(refused(&twice).contains("declared by two truncations"), "{}", refused(&twice));
    let early =
        computed("f32", "s * 2.0f32").replace("  t : f32[]", "  w : f32[u] =: over i<u: 1.0f32\n  t : f32[]");
    assert!(refused(&early).contains("used before the truncation that declares it"));
    let inside = "func main(x: f32[n], k: i32[]) -> (y) {\n  y : f32[n] = if k {\n    branch() -> (x) {\n      t : f32[] =: \
                  1.0f32\n      w : f32[u] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)\n    \
                  }\n  }\n}\n";
    let message = refused(inside);
    assert!(message.contains("the size `u` is declared in a loop or a branch"), "{message}");
    let message = refused(&computed("f32", "s").replace("axis=0", "axis=2"));
    assert!(message.contains("there is no axis 2"), "{message}");
    assert!(refused(&computed("f32", "s").replace("\"u\"", "\"u +\"")).contains("expected a size"));
}

/// A truncation by a parameter may stand in a loop: its size is that of the call.
#[test]
fn exact_truncations_may_stand_in_branches() {
    let text = "func main(x: f32[n], s: f32[], k: i32[]) -> (y) {
  y : f32[min(truncate_size(in1), n)] = if k {
    branch() -> (w) {
      w : f32[min(truncate_size(in1), n)] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"min(truncate_size(in1), n)\"}(x, s)
    }
  }
}
";
    let program = program(text);
    let k = Buffer::splat(Scalar::from_i128(DType::I32, 0), &[]);
    let results = run(&program, "main", &[buffer(&[4]), scalar(DType::F32, 2.0), k]).unwrap();
    assert_eq!(results[0].shape(), [2]);
}

/// Guards on sizes that data gives are checked when it has given them.
#[test]
fn guards_on_computed_sizes_are_checked_by_the_run() {
    let text = computed("f32", "s * 2.0f32").replace("-> (y, z) {", "-> (y, z) where u >= 2 {");
    let program = program(&text);
    both(&program, &[buffer(&[4, 2]), scalar(DType::F32, 1.0)]);
    let arguments = [buffer(&[4, 2]), scalar(DType::F32, 0.5)];
    assert!(matches!(run(&program, "main", &arguments), Err(InterpError::Guard(_))));
    let error = bind(program.main().unwrap(), &arguments).unwrap_err();
    assert!(matches!(error, BindError::Guard(_) | BindError::Computed { .. }), "{error}");
}
