//! Programs with symbolic sizes: declared sizes, guards, verification in three values, runs.

use surject_ir::interp::{InterpError, run};
use surject_ir::{
    BindError, Buffer, DType, Program, Scalar, Violation, bind, parse, pass_violations, print, verify,
};

fn buffer(shape: &[usize]) -> Buffer {
    let count: usize = shape.iter().product();
    let values: Vec<Scalar> = (0..count).map(|k| Scalar::from_f64(DType::F32, k as f64 + 1.0)).collect();
    Buffer::from_scalars(DType::F32, shape, &values).unwrap()
}

fn program(text: &str) -> Program {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    verify(&program).unwrap_or_else(|e| panic!("{e}"));
    program
}

/// What reading or verification says against a text.
fn refused(text: &str) -> String {
    match parse(text) {
        Err(error) => error.message,
        Ok(program) => verify(&program).unwrap_err().to_string(),
    }
}

const ADD: &str = "\
func main(x: f32[n,4], y: f32[m,4]) -> (z) where m == n @ \"add at a.py:3:5\" {
  z : f32[n,4] =: over i<n, j<4: x[i,j] + y[i,j]
}
";

const PROGRAMS: [(&str, &[&[usize]]); 7] = [
    (ADD, &[&[0, 4], &[0, 4]]),
    (
        "\
func main(q: f32[n,d], k: f32[m,d], v: f32[m,d]) -> (o) where d >= 1, m >= 1 {
  s : f32[n,m] =:+ over i<n, j<m, c<d at [i,j]: q[i,c] * k[j,c]
  t : f32[n] =:max over i<n, j<m at [i]: s[i,j]
  e : f32[n,m] =: over i<n, j<m: exp(s - t[i])
  w : f32[n] =:+ over i<n, j<m at [i]: e[i,j]
  o : f32[n,d] =:+ over i<n, j<m, c<d at [i,c]: e[i,j] / w[i] * v[j,c]
}
",
        &[&[2, 3], &[4, 3], &[4, 3]],
    ),
    (
        "\
func main(x: f32[n], w: f32[3]) -> (y) where n >= 3 {
  y : f32[n - 2] =:+ over i<n - 2, d<3 at [i]: x[i + d] * w[d]
}
",
        &[&[6], &[3]],
    ),
    (
        "\
func main(x: f32[n,3]) -> (flat, back) {
  flat : f32[3*n] =:set over i<n, j<3 at [3*i + j]: x[i,j]
  back : f32[n,3] =: over i<n, j<3: flat[3*i + j]
}
",
        &[&[5, 3]],
    ),
    (
        "\
func main(a: f32[n], b: f32[m]) -> (c, d) {
  c : f32[m + n] =: over i<n + m: (a[i] where 0 <= i < n else 0.0f32)
  d : f32[min(n, m)] =: over i<min(n, m): a[i] + b[i]
}
",
        &[&[3], &[2]],
    ),
    (
        "\
func main(x: f32[n]) -> (y) where mod(n, 2) == 0 @ \"reshape\" {
  y : f32[floordiv(n, 2),2] =: over i<floordiv(n, 2), j<2: x[2*i + j]
}
",
        &[&[6]],
    ),
    (
        "\
func main(x: f32[n,2*n]) -> (y) where n <= 8 {
  y : f32[n + n] =:+ over i<n, j<2*n at [j]: x[i,j]
}
",
        &[&[3, 6]],
    ),
];

#[test]
fn what_is_printed_is_read_back() {
    for (text, _) in PROGRAMS {
        let printed = print(&program(text));
        assert_eq!(print(&program(&printed)), printed);
    }
    let text =
        ADD.replace("add at", "`add` at \\\"x\\\"").replace(" {\n  z", ", in0.1 <= 2*n + 4, n != 3 {\n  z");
    assert_eq!(print(&program(&text)), text);
}

#[test]
fn a_symbolic_program_runs_and_so_does_the_bound_one() {
    for (text, shapes) in PROGRAMS {
        let program = program(text);
        let function = program.main().unwrap();
        let arguments: Vec<Buffer> = shapes.iter().map(|s| buffer(s)).collect();
        let results = run(&program, "main", &arguments).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let bound = bind(function, &arguments).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(bound.guards.is_empty() && !surject_ir::bind::is_symbolic(&bound));
        let bound = Program { name: String::new(), functions: vec![bound] };
        verify(&bound).unwrap();
        assert_eq!(run(&bound, "main", &arguments).unwrap(), results, "{text}");
    }
}

#[test]
fn sizes_down_to_nothing() {
    let program = program(ADD);
    for n in [0, 1, 2, 7] {
        let x = buffer(&[n, 4]);
        let results = run(&program, "main", &[x.clone(), x.clone()]).unwrap();
        assert_eq!(results[0].shape(), [n, 4]);
        assert!((0..4 * n).all(|k| results[0].get(k).as_f64() == 2.0 * x.get(k).as_f64()));
    }
}

#[test]
fn a_guard_that_fails_names_axis_and_operation() {
    let symbolic = program(ADD);
    let arguments = [buffer(&[3, 4]), buffer(&[5, 4])];
    let expected = "the sizes do not satisfy `m == n`, which add at a.py:3:5 needs: `m` is 5 (axis 0 of `y`), \
                    `n` is 3 (axis 0 of `x`)";
    let error = run(&symbolic, "main", &arguments).unwrap_err();
    assert!(matches!(error, InterpError::Guard(_)));
    assert_eq!(error.to_string(), expected);
    let error = bind(symbolic.main().unwrap(), &arguments).unwrap_err();
    assert!(matches!(error, BindError::Guard(_)));
    assert_eq!(error.to_string(), expected);
    let odd = program(PROGRAMS[5].0);
    let error = run(&odd, "main", &[buffer(&[5])]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the sizes do not satisfy `mod(n, 2) == 0`, which reshape needs: `n` is 5 (axis 0 of `x`)"
    );
    // A side that has no value satisfies nothing.
    let text = "func main(x: f32[n], y: f32[m]) -> () where floordiv(n, m) >= 2 {\n}\n";
    let error = run(&program(text), "main", &[buffer(&[4]), buffer(&[0])]).unwrap_err().to_string();
    assert!(error.contains("division by zero") && error.contains("`m` is 0 (axis 0 of `y`)"), "{error}");
    // The types of the parameters are checked as well.
    let square = program("func main(x: f32[n,n]) -> (x) {\n}\n");
    assert!(run(&square, "main", &[buffer(&[3, 3])]).is_ok());
    assert!(matches!(run(&square, "main", &[buffer(&[3, 4])]), Err(InterpError::Argument { .. })));
}

#[test]
fn undecided_sizes_are_refused_with_the_fact_that_decides() {
    let add = |guards: &str, z: &str| {
        format!(
            "func main(x: f32[n], y: f32[m]) -> (z) {guards} {{\n  z : f32[{z}] =: over i<{z}: x[i] + y[i]\n}}\n"
        )
    };
    let message = refused(&add("", "n"));
    assert!(message.contains("is not proven to stay inside the extent m; that needs `n <= m`"), "{message}");
    assert!(parse(&add("where n <= m", "n")).is_ok());
    assert!(parse(&add("where n == m", "m")).is_ok());
    assert!(refused(&add("where n < m", "m")).contains("not proven"));
    // Types of statements.
    let copy = |guards: &str, from: &str, to: &str| {
        format!(
            "func main(x: f32[{from}], c: f32[m]) -> (z) {guards} {{\n  z : f32[{to}] =: over i<{from}: x\n}}\n"
        )
    };
    assert!(
        refused(&copy("", "n", "m"))
            .contains("the loops are over [n], the target is f32[m] (`n == m` would decide it)")
    );
    assert!(parse(&copy("where n == m", "n", "m")).is_ok());
    let different = refused(&copy("where n < m", "n", "m"));
    assert!(
        different.contains("the loops are over [n], the target is f32[m]") && !different.contains("decide")
    );
    assert!(parse(&copy("", "2*n", "n + n")).is_ok());
    assert!(refused(&copy("", "n", "n + 1")).contains("the target is f32[n + 1]"));
}

#[test]
fn sizes_come_from_parameters() {
    let message = refused("func main(x: f32[n]) -> (y) {\n  y : f32[k] =: over i<k: 1.0f32\n}\n");
    assert!(message.contains("the size `k` comes from no parameter"), "{message}");
    let message = refused("func main(x: f32[n]) -> (y) {\n  y : f32[in0.1] =: over i<in0.1: 1.0f32\n}\n");
    assert!(message.contains("the size `in0.1` comes from no parameter"), "{message}");
    // `k` is declared by no axis that is just `k`.
    let message = refused("func main(x: f32[k + 1]) -> () {\n}\n");
    assert!(message.contains("the size `k` comes from no parameter"), "{message}");
    let message = refused("func main(x: f32[n]) -> () where n >= 4, n <= 3 {\n}\n");
    assert!(message.contains("no sizes satisfy all of: "), "{message}");
    let message = refused("func main(x: f32[n]) -> () where n = 4 {\n}\n");
    assert!(message.contains("expected `==`, `!=`"), "{message}");
}

/// Library operations over symbolic sizes: what fits for every size, and what does not.
#[test]
fn library_operations_over_symbolic_sizes() {
    let text = |update: &str, guards: &str| {
        format!(
            "func main(x: f32[n + 1,4], u: f32[{update},2], s: i32[], w: f32[n]) -> (y, z) {guards} {{\n  \
             y : f32[n + 1,4] = call dynamic_update_slice(x, u, s, s)\n  \
             z : f32[1 + n,4] =: over i<n + 1, j<4: y\n}}\n"
        )
    };
    let program = program(&text("n", ""));
    let s = Buffer::splat(Scalar::from_i128(DType::I32, 1), &[]);
    for n in [0, 1, 3] {
        let arguments = [buffer(&[n + 1, 4]), buffer(&[n, 2]), s.clone(), buffer(&[n])];
        let results = run(&program, "main", &arguments).unwrap();
        assert_eq!(results[0], results[1]);
        let bound = bind(program.main().unwrap(), &arguments).unwrap();
        let bound = Program { name: String::new(), functions: vec![bound] };
        assert_eq!(run(&bound, "main", &arguments).unwrap(), results);
    }
    let message = refused(&text("m", ""));
    assert!(message.contains("not proven to fit"), "{message}");
    for guard in ["where m == n", "where m <= n + 1"] {
        assert!(verify(&parse(&text("m", guard)).unwrap()).is_ok(), "{guard}");
    }
    assert!(refused(&text("m", "where m <= n + 2")).contains("not proven to fit"));
}

/// R22 to R24: the tag says which scalars are sizes, and how.
#[test]
fn scalars_become_sizes_by_their_rule() {
    let text = |rule: &str, dtype: &str| {
        format!(
            "func main(x: f32[n], s: {dtype}[]) -> (y) {{\n  y : f32[min({rule}(in1), n)] =: over i<min({rule}(in1), n): x[i]\n}}\n"
        )
    };
    let length = |rule: &str, scalar: Scalar| {
        let program = program(&text(rule, scalar.dtype().name()));
        run(&program, "main", &[buffer(&[4]), Buffer::splat(scalar, &[])]).unwrap()[0].shape()[0]
    };
    for dtype in [DType::F32, DType::F64] {
        for (value, size) in [
            (2.5, 3),
            (2.4, 2),
            (-0.5, 0),
            (-3.0, 0),
            (0.5, 1),
            (9.0, 4),
            (1e300, 4),
            (f64::NAN, 0),
            (f64::INFINITY, 0),
        ] {
            // What is too large for `f32` is infinite there, and not finite gives 0.
            let size = if value == 1e300 && dtype == DType::F32 { 0 } else { size };
            assert_eq!(length("truncate_size", Scalar::from_f64(dtype, value)), size, "{dtype} {value}");
        }
    }
    for dtype in [DType::I8, DType::I32, DType::I64, DType::U8, DType::U64] {
        for (value, size) in [(0, 0), (3, 3), (100, 4)] {
            assert_eq!(length("size", Scalar::from_i128(dtype, value)), size, "{dtype} {value}");
        }
    }
    assert_eq!(length("size", Scalar::from_i128(DType::I32, -2)), 0);
    for (rule, dtype) in
        [("truncate_size", "i32"), ("truncate_size", "bf16"), ("size", "f32"), ("size", "i1")]
    {
        let message = refused(&text(rule, dtype));
        assert!(message.contains(&format!("the size `{rule}(in1)` needs")), "{rule} {dtype}: {message}");
    }
    let message = refused("func main(x: f32[3]) -> (x) where truncate_size(in0) >= 1 {\n}\n");
    assert!(message.contains("an `f32` or `f64` of rank 0, and the parameter is f32[3]"), "{message}");
}

/// Control flow carries values of one symbolic type.
#[test]
fn loops_and_branches_over_symbolic_sizes() {
    let text = "\
func main(x: f32[n], y: f32[m], k: i32[]) -> (z, b) where m == n {
  zero : i32[] =: 0i32
  i, z : i32[], f32[n] = while (zero, x) {
    cond(i0: i32[], x0: f32[n]) -> (go) {
      go : i1[] =: i0 < k
    }
    body(k1: i32[], x1: f32[n]) -> (k2, x2) {
      k2 : i32[] =: k1 + 1i32
      x2 : f32[n] =: over i<n: x1 + y[i]
    }
  }
  b : f32[n] = if k {
    branch() -> (x) {
    }
    branch() -> (y) {
    }
  }
}
";
    let text = text.replace("i, z : i32[], f32[n]", "i : i32[], z : f32[n]");
    let program = program(&text);
    let k = Buffer::splat(Scalar::from_i128(DType::I32, 2), &[]);
    let results = run(&program, "main", &[buffer(&[3]), buffer(&[3]), k.clone()]).unwrap();
    assert_eq!(
        results[0],
        Buffer::from_scalars(DType::F32, &[3], &[3.0, 6.0, 9.0].map(|v| Scalar::from_f64(DType::F32, v)))
            .unwrap()
    );
    // Without the guard the branches may differ.
    let without = text.replace(" where m == n", "").replace("over i<n: x1 + y[i]", "over i<n: x1");
    assert!(refused(&without).contains("`m == n` would decide it"), "{}", refused(&without));
    let error = run(&program, "main", &[buffer(&[3]), buffer(&[4]), k]).unwrap_err();
    assert!(matches!(error, InterpError::Guard(_)));
}

/// R01, R02, R07: one extent per axis; sizes of programs are exact.
#[test]
fn every_variable_has_one_exact_extent_an_axis() {
    for (text, _) in PROGRAMS {
        let program = program(text);
        let function = program.main().unwrap();
        for (number, info) in function.vars.iter().enumerate() {
            let extents = function.extents(surject_ir::Var(number as u32));
            assert_eq!(extents.len(), info.ty.space.rank());
            assert!(extents.iter().all(|e| e.is_exact()));
        }
    }
}

/// R06, R07: what executes, a statement, has a list of extents for each of its results, in its rank; so has the bound statement,
/// with the numbers that these extents have in the call.
#[test]
fn every_statement_has_its_output_extents() {
    let text = "\
func main(x: f32[n,3], s: f32[]) -> (y, w) where n >= 1 {
  t : f32[] =: s * 2.0f32
  v : f32[u,3] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  y : f32[u,3] =: over i<u, j<3: v[i,j] * 2.0f32
  w : f32[2*n] =: over i<2*n: x[0,0]
}
";
    let program = parse(text).unwrap();
    verify(&program).unwrap();
    let function = program.main().unwrap();
    let shown: Vec<String> = function
        .body
        .statements
        .iter()
        .flat_map(|s| function.output_extents(s))
        .map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        .collect();
    assert_eq!(shown, ["", "<= n, = 3", "<= n, = 3", "= 2*n"]);
    let x = Buffer::zeros(DType::F32, &[5, 3]);
    let arguments = [x, Buffer::splat(Scalar::from_f64(DType::F32, 1.0), &[])];
    let bound = bind(function, &arguments).unwrap();
    let call = surject_ir::Call { function, arguments: &arguments };
    for (before, after) in function.body.statements.iter().zip(&bound.body.statements) {
        let (before, after) = (function.output_extents(before), bound.output_extents(after));
        assert_eq!(before.len(), after.len());
        for (claim, size) in before.iter().flatten().zip(after.iter().flatten()) {
            let (value, size) = (claim.bound().unwrap().eval(&call).unwrap(), size.bound().unwrap());
            assert!(
                size.as_const().is_some_and(|n| n == value || n < value && !claim.is_exact()),
                "{claim}: {size}"
            );
        }
    }
}

/// R28: what an operation carries says nothing of the sizes of its operands: operations that differ in these alone are equal.
#[test]
fn operations_have_no_shapes_of_operands() {
    let less = "{\n    region(a: f32[], b: f32[]) -> (c) {\n      c : i1[] =: a < b\n    }\n  }";
    let sum = "{\n    region(a: f32[], b: f32[]) -> (c) {\n      c : f32[] =: a + b\n    }\n  }";
    let scatter = "update_window_dims=[1], inserted_window_dims=[0], input_batching_dims=[], \
                   scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], index_vector_dim=1, \
                   indices_are_sorted=false, unique_indices=false";
    let calls = [
        ("f32[N,M]", format!("call sort{{axis=0, stable=true}}(x) {less}")),
        ("f32[M]", format!("call reduce{{axes=[0]}}(x, zero) {sum}")),
        ("f32[N,M]", format!("call scatter{{{scatter}}}(x, i, u) {sum}")),
        ("f32[N,M]", "call dynamic_update_slice(x, x, s, s)".to_string()),
        (
            "f32[N,M]",
            "call triangular_solve{left_side=true, lower=true, unit_diagonal=false, transpose=no}(q, x)"
                .into(),
        ),
        ("f32[N,N]", "call cholesky{lower=true}(q)".to_string()),
    ];
    for (ty, call) in &calls {
        let op = |n: &str, m: &str| {
            let text = format!(
                "func main(x: f32[N,M], q: f32[N,N], i: i32[K,1], u: f32[K,M], s: i32[]) -> (y) {{\n  zero : f32[] =: \
                 0.0f32\n  y : {ty} = {call}\n}}\n"
            );
            let text = text.replace('N', n).replace('M', m).replace('K', "3");
            let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let mut statements = program.main().unwrap().body.statements.clone();
            match statements.pop().map(|s| s.kind) {
                Some(surject_ir::StatementKind::Call { op, .. }) => op,
                other => panic!("{other:?}"),
            }
        };
        let one = op("4", "5");
        assert_eq!(one, op("7", "2"), "{call}");
        assert_eq!(one, op("n", "m"), "{call}");
    }
}

/// R17, R46, R50, R72: the contract of passes on programs.
#[test]
fn a_pass_that_strengthens_is_caught() {
    let before = program(PROGRAMS[5].0);
    let before = before.main().unwrap();
    let violations = |text: &str| -> Vec<String> {
        let after = parse(text).unwrap();
        let found = pass_violations(before, after.main().unwrap()).unwrap();
        found.iter().map(Violation::to_string).collect()
    };
    let text = PROGRAMS[5].0;
    assert_eq!(violations(text), [""; 0]);
    // The same sizes in other words, a stronger guard, another order of the statements.
    assert_eq!(violations(&text.replace("mod(n, 2)", "mod(n, 4)")), [""; 0]);
    assert_eq!(
        violations(&text.replace(
            "f32[floordiv(n, 2),2] =: over i<floordiv(n, 2),",
            "f32[n - ceildiv(n, 2),2] =: over i<n - ceildiv(n, 2),"
        )),
        [""; 0]
    );
    // A size that the pass made up.
    let made_up = text.replace("floordiv(n, 2)", "3").replace("mod(n, 2) == 0", "mod(n, 2) == 0, n >= 6");
    assert_eq!(
        violations(&made_up),
        ["axis 0 of `y` was `= floordiv(n, 2)` and became `= 3` without evidence"]
    );
    // A guard that is dropped.
    let dropped = "func main(x: f32[n]) -> (x) {\n}\n";
    assert_eq!(violations(dropped), ["the guard `mod(n, 2) == 0` is gone"]);
    // A pass that builds a function anew takes them along.
    let mut anew = surject_ir::Function::new(&before.name);
    for &param in &before.params {
        let param = anew.var(before.name_of(param), before.ty(param).clone());
        anew.params.push(param);
    }
    anew.inherit(before);
    assert_eq!(pass_violations(before, &anew).unwrap(), []);
    // A parameter whose type asks for more than before.
    let special = "func main(x: f32[6]) -> (x) {\n}\n";
    let found = violations(special);
    assert_eq!(found[0], "axis 0 of `x` was `= n` and became `= 6` without evidence");
    assert_eq!(found.len(), 2, "{found:?}");
}

/// What is verified for every size is well formed at each: binding fails by a guard or a size without a value, never
/// because the bound program is wrong; and it computes what the symbolic program does.
#[test]
fn verified_programs_are_well_formed_at_every_size() {
    let mut state = 5u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % end
    };
    let sizes = [
        "n",
        "m",
        "n + m",
        "2*n",
        "min(n, m)",
        "max(n, 1)",
        "floordiv(n, 2)",
        "ceildiv(m, 2)",
        "n - 1",
        "3",
        "floordiv(m, n)",
        "n + n",
    ];
    let guards = [
        "",
        "where n >= 2",
        "where n <= m",
        "where mod(n, 2) == 0",
        "where m == 2*n",
        "where n >= 1, m >= 1",
        "where n == m",
    ];
    let (mut verified, mut ran) = (0, 0);
    for _ in 0..3000 {
        let (w, e, f) = (sizes[below(12)], sizes[below(12)], sizes[below(12)]);
        let (c, o) = (below(3), below(3));
        let tensor = ["x", "y", "w"][below(3)];
        let statement = match below(5) {
            0 | 1 => format!("z : f32[{e}] =: over i<{e}: {tensor}[{c}*i + {o}]"),
            2 => format!("z : f32[{e}] =: over i<{f}: {tensor}"),
            3 => format!("z : f32[{e}] =:+ over i<n, j<{f} at [{c}*i + j + {o}]: x[i] * w[j]"),
            _ => format!("z : f32[{e}] =:set over i<{f} at [i]: {tensor}[i]"),
        };
        let guard = guards[below(7)];
        let text =
            format!("func main(x: f32[n], y: f32[m], w: f32[{w}]) -> (z) {guard} {{\n  {statement}\n}}\n");
        let Ok(program) = parse(&text) else { continue };
        if verify(&program).is_err() {
            continue;
        }
        verified += 1;
        let function = program.main().unwrap();
        let extent: surject_index::Extent = w.parse().unwrap();
        for number in 0..36 {
            let (n, m) = (number % 6, number / 6);
            let given = [buffer(&[n]), buffer(&[m])];
            let Ok(size) = extent.eval(&surject_ir::Call { function, arguments: &given }) else { continue };
            let arguments = [given[0].clone(), given[1].clone(), buffer(&[size as usize])];
            let symbolic = run(&program, "main", &arguments);
            match bind(function, &arguments) {
                Ok(bound) => {
                    let bound = Program { name: String::new(), functions: vec![bound] };
                    assert_eq!(run(&bound, "main", &arguments).unwrap(), symbolic.unwrap(), "{text}");
                    ran += 1;
                }
                Err(BindError::Guard(_) | BindError::Extent { .. }) => {
                    assert!(symbolic.is_err(), "{text} at {n}, {m}");
                }
                Err(error) => panic!("{error}: {text} at {n}, {m}"),
            }
        }
    }
    assert!(verified > 200 && ran > 2000, "{verified} {ran}");
}
