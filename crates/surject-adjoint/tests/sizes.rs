//! Gradients of programs with symbolic sizes (seed 002, "AD Contract"): a graph of exact sizes, or a typed error; never a
//! panic. Made once for all sizes, they are what JAX's are at each (`tests/polymorphic/vjp`).

mod contract;

use serde_json::Value;
use std::path::{Path, PathBuf};
use surject_adjoint::{AdjointError, GradientError, Gradients, Mode, Options, gradient};
use surject_index::{Extent, Observed};
use surject_ir::{Buffer, DType, LibOp, Program, Scalar, StatementKind, interp, parse};
use surject_lift::{ImportOptions, import};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic")
}

fn buffer(value: &Value) -> Buffer {
    let dtype = match value["dtype"].as_str().expect("a dtype") {
        "float32" => DType::F32,
        "int32" => DType::I32,
        other => panic!("{other}"),
    };
    let size = |n: &Value| n.as_u64().expect("a size") as usize;
    let shape: Vec<usize> = value["shape"].as_array().expect("a shape").iter().map(size).collect();
    let text = value["bytes"].as_str().expect("bytes");
    let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal");
    let bytes: Vec<u8> = (0..text.len() / 2).map(byte).collect();
    Buffer::from_bytes(dtype, &shape, &bytes).expect("as many bytes as elements")
}

fn buffers(list: &Value) -> Vec<Buffer> {
    list.as_array().expect("a list").iter().map(buffer).collect()
}

fn run(program: &Program, arguments: &[Buffer]) -> Result<Vec<Buffer>, String> {
    let bound =
        surject_ir::bind(program.main().ok_or("no function")?, arguments).map_err(|e| e.to_string())?;
    let bound = Program { name: String::new(), functions: vec![bound] };
    interp::run(&bound, "main", arguments).map_err(|e| e.to_string())
}

fn vjp() -> Options {
    Options { mode: Mode::Vjp, ..Options::default() }
}

/// The gradient of the symbolic program of a case against JAX's, call by call.
fn compared(name: &str) -> Result<(), String> {
    let text = std::fs::read(folder().join(format!("{name}.mlir"))).map_err(|e| e.to_string())?;
    let module = surject_stablehlo::parse_and_verify(&text).map_err(|d| d.render(name, &text))?;
    let options = ImportOptions { file: name, source: &text, function: Some("main") };
    let symbolic = import(&module, &options).map_err(|e| e.to_string())?;
    let derived = gradient(&symbolic, "main", &vjp()).map_err(|e| e.to_string())?;
    // R17, R46: the derivative says no more of sizes than the function.
    contract::kept(&symbolic, &derived)?;
    let printed = surject_ir::print(&derived);
    let again = parse(&printed).map_err(|e| format!("the gradient is not read again: {e}"))?;
    surject_ir::verify(&again).map_err(|e| format!("the gradient that is read again: {e}"))?;
    // Exported as dynamic StableHLO and read again, it is the same function.
    let written = surject_lift::export(&derived).map_err(|e| format!("exported: {e}"))?;
    if let Ok(keep) = std::env::var("SURJECT_EXPORT_TO") {
        std::fs::write(Path::new(&keep).join(format!("vjp_{name}.mlir")), &written).expect("a folder");
    }
    let module = surject_stablehlo::parse_and_verify(written.as_bytes())
        .map_err(|d| d.render(name, written.as_bytes()))?;
    let options = ImportOptions { file: name, source: written.as_bytes(), function: Some("main") };
    let exported = import(&module, &options).map_err(|e| format!("exported and read: {e}"))?;
    let calls = std::fs::read_to_string(folder().join("vjp").join(format!("{name}.json")));
    let calls: Value = serde_json::from_str(&calls.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    for call in calls.as_array().ok_or("no calls")? {
        let at = |what: String| format!("at {}: {what}", call["sizes"]);
        let (arguments, expected) = (buffers(&call["arguments"]), buffers(&call["gradients"]));
        let arguments: Vec<Buffer> = arguments.into_iter().chain(buffers(&call["cotangents"])).collect();
        let found = run(&derived, &arguments).map_err(at)?;
        let again = run(&exported, &arguments).map_err(|e| at(format!("exported: {e}")))?;
        for (k, (a, b)) in again.iter().zip(&found).enumerate() {
            let report = surject_runtime::compare::compare(a, b, 1e-4, 1e-5);
            if !report.passed() {
                return Err(at(format!("exported: result {k}: {report}")));
            }
        }
        let found = &found[found.len() - expected.len()..];
        for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
            let report = surject_runtime::compare::compare(a, b, 1e-3, 1e-4);
            if !report.passed() {
                return Err(at(format!("gradient {k}: {report}")));
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_of_symbolic_programs() {
    let files = std::fs::read_dir(folder().join("vjp")).expect("the folder of derivatives");
    let mut names: Vec<String> = files
        .filter_map(|f| f.ok()?.file_name().into_string().ok()?.strip_suffix(".json").map(String::from))
        .collect();
    names.sort();
    assert!(names.len() >= 85, "{names:?}");
    // A function that is run along a symbolic axis; JAX has no derivative of it at symbolic sizes either.
    let (folds, names): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| name.starts_with("cumlogsumexp"));
    for name in folds {
        let refusal = compared(&name).expect_err("a derivative of a fold");
        assert!(refusal.contains("SJ0604") && refusal.contains("dimension 0 of operand 0"), "{refusal}");
    }
    let failure = |name: &String| compared(name).err().map(|what| format!("{name}: {what}"));
    let failures: Vec<String> = names.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn bound(program: &Program, arguments: &[Buffer]) -> Program {
    let function = surject_ir::bind(program.main().expect("a function"), arguments).expect("sizes that fit");
    Program { name: String::new(), functions: vec![function] }
}

fn floats(shape: &[usize]) -> Buffer {
    let count: usize = shape.iter().product();
    let value = |k: usize| Scalar::from_f64(DType::F32, ((k * 7 + count) % 11) as f64 / 8.0 - 0.5);
    Buffer::from_scalars(DType::F32, shape, &(0..count).map(value).collect::<Vec<_>>()).expect("elements")
}

fn integers(shape: &[usize], values: &[i64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_i128(DType::I32, v.into())).collect();
    Buffer::from_scalars(DType::I32, shape, &values).expect("elements")
}

/// The library operations of the main function, by name.
fn operations(program: &Program) -> Vec<LibOp> {
    let function = program.main().expect("a function");
    let op = |kind: &StatementKind| match kind {
        StatementKind::Call { op, .. } => Some(op.clone()),
        _ => None,
    };
    function.body.statements.iter().filter_map(|s| op(&s.kind)).collect()
}

/// The gradient of a symbolic program, of first and of second order, is that of its bound programs.
fn as_when_bound(text: &str, calls: &[Vec<Buffer>]) -> Program {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let derived = gradient(&program, "main", &vjp()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let second = gradient(&derived, "main", &vjp()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for arguments in calls {
        let plain = bound(&program, arguments);
        let plain_derived = gradient(&plain, "main", &vjp()).expect("a gradient");
        let plain_second = gradient(&plain_derived, "main", &vjp()).expect("a gradient");
        for (symbolic, plain) in [(&derived, &plain_derived), (&second, &plain_second)] {
            let types = plain.main().expect("a function");
            let mut arguments = arguments.clone();
            for &param in &types.params[arguments.len()..] {
                let shape: Vec<usize> =
                    types.ty(param).space.sizes().expect("sizes").iter().map(|&n| n as usize).collect();
                arguments.push(floats(&shape));
            }
            let expected = interp::run(plain, "main", &arguments).expect("a run");
            let whole = interp::run(symbolic, "main", &arguments).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(run(symbolic, &arguments).unwrap(), whole, "{text}");
            assert_eq!(whole.len(), expected.len());
            for (a, b) in whole.iter().zip(&expected) {
                let report = surject_runtime::compare::compare(a, b, 1e-4, 1e-5);
                assert!(report.passed(), "{report}\n{text}");
            }
        }
    }
    derived
}

const SCATTER: &str = "\
func main(x: f32[n], i: i32[k,1], u: f32[k,w]) -> (y) where w <= n {
  y : f32[n] = call scatter{update_window_dims=[1], inserted_window_dims=[], input_batching_dims=[], \
scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], index_vector_dim=1, indices_are_sorted=false, \
unique_indices=false}(x, i, u) {
    region(a: f32[], b: f32[]) -> (c) {
      c : f32[] =: a + b
    }
  }
}
";

/// R40 to R42, R71: a scatter with windows of symbolic sizes becomes a gather with slices of these sizes.
#[test]
fn scatters_are_transposed_with_symbolic_windows() {
    let call = |n: usize, k: usize, w: usize| {
        // Windows that lie inside, and partly and wholly outside.
        let starts: Vec<i64> = [1, -1, n as i64 - 1, n as i64 + 3, 0][..k].to_vec();
        vec![floats(&[n]), integers(&[k, 1], &starts), floats(&[k, w])]
    };
    let calls = [call(6, 5, 2), call(3, 4, 3), call(4, 0, 1), call(5, 3, 0), call(1, 2, 1)];
    let derived = as_when_bound(SCATTER, &calls);
    let sizes = |op: &LibOp| match op {
        LibOp::GatherDynamicSliceSizes { slice_sizes, .. } => Some(slice_sizes.clone()),
        _ => None,
    };
    let found: Vec<Vec<Extent>> = operations(&derived).iter().filter_map(sizes).collect();
    assert_eq!(found, [vec![Extent::symbol("w")]]);
    // The updates are no operand of it: `w` is a name, whose source is an axis of a parameter, and parameters stay (R41).
    let main = derived.main().expect("a function");
    let gathers = main.body.statements.iter().filter_map(|s| match &s.kind {
        StatementKind::Call { op: LibOp::GatherDynamicSliceSizes { .. }, args, .. } => Some(args.len()),
        _ => None,
    });
    assert_eq!(gathers.collect::<Vec<_>>(), [2]);
    // With constant windows the gather has none, whatever else is symbolic.
    let constant = SCATTER.replace("f32[k,w]", "f32[k,2]").replace("w <= n", "n >= 2");
    let derived = as_when_bound(&constant, &[call(6, 5, 2), call(3, 4, 2)]);
    assert!(operations(&derived).iter().any(|op| matches!(op, LibOp::Gather { .. })));
    assert!(!operations(&derived).iter().any(|op| sizes(op).is_some()));
    // Where updates replace, the last one that is written gets the cotangent.
    as_when_bound(&SCATTER.replace("c : f32[] =: a + b", "c : f32[] =: b"), &calls);
}

/// R43, R44: the gather with dynamic slice sizes goes back to a scatter, and its indices get nothing.
#[test]
fn gathers_with_symbolic_slices_are_transposed() {
    let text = "\
func main(x: f32[n,m], i: i32[k,1], s: f32[w]) -> (y) where w <= n {
  y : f32[k,w,m] = call gather_dynamic_slice_sizes{offset_dims=[1,2], collapsed_slice_dims=[], \
operand_batching_dims=[], start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=1, \
slice_sizes=[\"w\",\"m\"], indices_are_sorted=false}(x, i)
}
";
    let call = |n: usize, m: usize, w: usize, starts: &[i64]| {
        vec![floats(&[n, m]), integers(&[starts.len(), 1], starts), floats(&[w])]
    };
    let calls =
        [call(5, 3, 2, &[0, 7, -2, 3]), call(4, 1, 4, &[2]), call(3, 2, 0, &[1, 1]), call(3, 0, 1, &[])];
    let derived = as_when_bound(text, &calls);
    let names: Vec<&str> = operations(&derived).iter().map(LibOp::name).collect();
    assert!(names.contains(&"scatter") && names.contains(&"gather_dynamic_slice_sizes"), "{names:?}");
}

/// R19 to R21 in derivatives: the part that is kept gets the cotangent, the rest nothing; second order through it.
#[test]
fn truncations_are_transposed() {
    let exact = "\
func main(x: f32[n,2], s: f32[]) -> (z) {
  y : f32[min(truncate_size(in1), n),2] = call dynamic_truncate{axis=0, semantics=truncate_size, \
size=\"min(truncate_size(in1), n)\"}(x, s)
  z : f32[min(truncate_size(in1), n),2] =: over i<min(truncate_size(in1), n), j<2: y[i,j] * y[i,j] * y[i,j]
}
";
    let computed = "\
func main(x: f32[n,2], s: f32[]) -> (z) {
  t : f32[] =: s * 2.0f32
  y : f32[u,2] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  z : f32[u,2] =: over i<u, j<2: y[i,j] * y[i,j] * y[i,j]
}
";
    let scalar = |value: f64| Buffer::splat(Scalar::from_f64(DType::F32, value), &[]);
    let calls: Vec<Vec<Buffer>> = [(5, 1.5), (5, 0.0), (3, 9.0), (0, 1.0), (4, f64::NAN)]
        .iter()
        .map(|&(n, s)| vec![floats(&[n, 2]), scalar(s)])
        .collect();
    as_when_bound(exact, &calls);
    let derived = as_when_bound(computed, &calls);
    // The size is used where the tensor is not: the truncation stays (R36).
    let unused = "\
func main(x: f32[n,2], s: f32[]) -> (z) {
  t : f32[] =: s * 2.0f32
  y : f32[u,2] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  z : f32[u] =: over i<u: x[i,1] * x[i,1]
}
";
    as_when_bound(unused, &calls);
    // A cotangent of the wrong size is refused, though only the run knows it.
    let arguments = [floats(&[5, 2]), scalar(1.0), floats(&[3, 2])];
    assert!(matches!(interp::run(&derived, "main", &arguments), Err(interp::InterpError::Argument { .. })));
    assert!(surject_ir::bind(derived.main().expect("a function"), &arguments).is_err());
}

/// R56 to R61: what cannot be differentiated says so by type, with operation, part and what is known of the size.
#[test]
fn refusals_name_operation_field_and_guarantee() {
    let reduce = |size: &str, before: &str, x: &str| {
        format!(
            "func main(x: f32[n], s: f32[]) -> (y) {{\n{before}  zero : f32[] =: 0.0f32\n  y : f32[] = call \
             reduce{{axes=[0]}}({x}, zero) {{\n    region(a: f32[], b: f32[]) -> (c) {{\n      c : f32[] =: \
             sin(a) * b\n    }}\n  }}\n  w : f32[{size}] =: over i<{size}: y[]\n}}\n"
        )
    };
    let refused = |text: &str| {
        let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
        gradient(&program, "main", &vjp()).expect_err("a refusal")
    };
    let error = refused(&reduce("n", "", "x"));
    let AdjointError::Dynamic { shape, fact: None, variable, .. } = &error else { panic!("{error}") };
    assert_eq!((shape.primitive.as_str(), variable.as_str()), ("reduce", "y"));
    assert_eq!(shape.field, "dimension 0 of operand 0, which its function is run along");
    assert_eq!(shape.observed, Observed::Symbolic(Extent::symbol("n")));
    assert_eq!((error.code(), error.exit_status()), ("SJ0604", 3));
    let truncated = "  k : f32[] =: s * s\n  t : f32[u] = call dynamic_truncate{axis=0, \
                     semantics=truncate_size, size=\"u\"}(x, k)\n";
    let error = refused(&reduce("n", truncated, "t"));
    let AdjointError::Dynamic { shape, .. } = &error else { panic!("{error}") };
    assert_eq!(shape.observed, Observed::UpperBound(Extent::symbol("n")));
    assert!(error.to_string().contains("only an upper bound is known: `n`"), "{error}");
}

/// R31: one gradient for all sizes where it has no guards; one for the sizes of a call where it needs numbers, used again where
/// its guards hold and made anew where one fails.
#[test]
fn kept_gradients_are_used_while_their_guards_hold() {
    let check = |text: &str, calls: &[Vec<Buffer>], made: &[usize]| {
        let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut gradients = Gradients::new(&program, "main", &vjp()).expect("a function");
        for (arguments, made) in calls.iter().zip(made) {
            let derived = gradients.of_call(arguments).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(gradients.made(), *made, "{text}");
            let plain = gradient(&bound(&program, arguments), "main", &vjp()).expect("a gradient");
            let types = plain.main().expect("a function");
            let mut arguments = arguments.clone();
            for &param in &types.params[arguments.len()..] {
                let sizes = types.ty(param).space.sizes().expect("sizes");
                arguments.push(floats(&sizes.iter().map(|&n| n as usize).collect::<Vec<_>>()));
            }
            let expected = interp::run(&plain, "main", &arguments).expect("a run");
            assert_eq!(interp::run(&derived, "main", &arguments).expect("a run"), expected, "{text}");
        }
        gradients
    };
    let calls: Vec<Vec<Buffer>> = [3, 5, 3, 1, 0, 5].iter().map(|&n| vec![floats(&[n, 2])]).collect();
    check(
        "func main(x: f32[n,2]) -> (y) {\n  y : f32[n,2] =: over i<n, j<2: x[i,j] * x[i,j]\n}\n",
        &calls,
        &[1; 6],
    );
    // A function of its own along an axis of symbolic size has a derivative for each size.
    let own = "func main(x: f32[n,2]) -> (y) {\n  zero : f32[] =: 0.0f32\n  y : f32[2] = call reduce{axes=[0]}(x, zero) \
               {\n    region(a: f32[], b: f32[]) -> (c) {\n      c : f32[] =: sin(a) * b + a\n    }\n  }\n}\n";
    let mut gradients = check(own, &calls, &[1, 2, 2, 3, 4, 4]);
    // They are bounded in number, and the one that was not used for longest is gone.
    gradients.keep(2);
    gradients.of_call(&calls[0]).expect("a gradient");
    assert_eq!(gradients.made(), 5);
    gradients.of_call(&calls[1]).expect("a gradient");
    assert_eq!(gradients.made(), 5);
    // Sizes that the function itself does not allow are no matter of the gradient.
    let program =
        parse(&own.replace("-> (y) {\n  zero", "-> (y) where n >= 1 {\n  zero")).expect("a program");
    let mut gradients = Gradients::new(&program, "main", &vjp()).expect("a function");
    let error = gradients.of_call(&calls[4]).expect_err("a size that is not allowed");
    assert!(matches!(error, GradientError::Sizes(_)), "{error}");
    assert!(matches!(Gradients::new(&program, "other", &vjp()), Err(AdjointError::NoFunction { .. })));
}

/// R55, R62: no rule panics on symbolic sizes.
#[test]
fn rules_of_every_operation_take_symbolic_sizes_or_refuse() {
    let join =
        |body: &str| format!("{{\n    region(a: f32[], b: f32[]) -> (c) {{\n      c : {body}\n    }}\n  }}");
    let add = join("f32[] =: a + b");
    let product = join("f32[] =: a * b");
    let larger = join("f32[] =: max(a, b)");
    let less = join("i1[] =: a < b");
    let gather = "offset_dims=[1], collapsed_slice_dims=[0], operand_batching_dims=[], \
                  start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=1";
    let scatter = "update_window_dims=[1], inserted_window_dims=[0], input_batching_dims=[], \
                   scatter_indices_batching_dims=[], scatter_dims_to_operand_dims=[0], index_vector_dim=1, \
                   indices_are_sorted=false";
    let statements = [
        ("f32[n,m]", format!("call sort{{axis=0, stable=true}}(x) {less}")),
        ("f32[n]", format!("call reduce{{axes=[1]}}(x, zero) {add}")),
        ("f32[n]", format!("call reduce{{axes=[1]}}(x, zero) {product}")),
        ("f32[m]", format!("call reduce{{axes=[0]}}(x, zero) {larger}")),
        ("f32[n,m]", "call cholesky{lower=true}(q)".to_string()),
        (
            "f32[n,m]",
            "call triangular_solve{left_side=true, lower=true, unit_diagonal=false, transpose=no}(q, x)"
                .into(),
        ),
        (
            "f32[k,m]",
            format!(
                "call gather_dynamic_slice_sizes{{{gather}, slice_sizes=[1,\"m\"], indices_are_sorted=true}}(x, i)"
            ),
        ),
        ("f32[n,m]", format!("call scatter{{{scatter}, unique_indices=false}}(x, i, v) {add}")),
        ("f32[n,m]", format!("call scatter{{{scatter}, unique_indices=true}}(x, i, v) {product}")),
        ("f32[n,m]", format!("call scatter{{{scatter}, unique_indices=false}}(x, i, v) {larger}")),
        ("f32[n,m]", "call dynamic_update_slice(x, v, s, s)".to_string()),
        ("c64[n,5]", "call fft{kind=rfft, lengths=[8]}(e)".to_string()),
    ];
    let (mut derived, mut refused) = (0, 0);
    for (ty, call) in &statements {
        let ty = if call.contains("cholesky") { "f32[n,n]" } else { ty };
        let text = format!(
            "func main(x: f32[n,m], q: f32[n,n], i: i32[k,1], v: f32[k,m], e: f32[n,8], s: i32[]) -> (y) where n >= 1, \
             k <= n {{\n  zero : f32[] =: 0.0f32\n  y : {ty} = {call}\n}}\n"
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
        match gradient(&program, "main", &vjp()) {
            Ok(program) => {
                surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
                derived += 1;
            }
            Err(AdjointError::Dynamic { .. } | AdjointError::Unsupported { .. }) => refused += 1,
            Err(error) => panic!("{error}\n{text}"),
        }
    }
    // General functions along symbolic axes, and a constant function of the update.
    assert!(derived >= 9, "{derived} derived, {refused} refused");
}

/// R10, A-31: what is done with programs of constant sizes asks no question about sizes: reading, checking, differentiating,
/// optimising, writing.
#[test]
fn static_programs_ask_no_questions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let before = surject_index::questions_of_this_thread();
    let (mut programs, mut derived, mut optimised) = (0, 0, 0);
    for (folder, is_small) in [("tests/suite", false), ("tests/programs", true)] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap().flatten() {
            let path = entry.path().join("program.mlir");
            let Ok(text) = std::fs::read(&path) else { continue };
            let module = surject_stablehlo::parse_and_verify(&text).unwrap();
            let options = ImportOptions { file: "program", source: &text, function: None };
            let program = import(&module, &options).unwrap();
            surject_ir::verify(&program).unwrap();
            programs += 1;
            let shown = path.display();
            assert_eq!(surject_index::questions_of_this_thread(), before, "{shown}: reading asks");
            surject_lift::export_module(&program).unwrap();
            assert_eq!(surject_index::questions_of_this_thread(), before, "{shown}: writing asks");
            if !is_small {
                continue;
            }
            let name = &program.main().unwrap().name;
            if let Ok(derivative) = gradient(&program, name, &vjp()) {
                surject_ir::verify(&derivative).unwrap();
                derived += 1;
            }
            assert_eq!(surject_index::questions_of_this_thread(), before, "{shown}: differentiating asks");
            surject_egraph::optimise(&program, &surject_egraph::Options::default()).unwrap();
            optimised += 1;
            assert_eq!(surject_index::questions_of_this_thread(), before, "{shown}: optimising asks");
        }
    }
    assert!(programs >= 100 && derived >= 8 && optimised >= 14, "{programs} {derived} {optimised}");
}
