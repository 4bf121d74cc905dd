//! Programs with symbolic sizes, run for the sizes of each call (`tests/polymorphic`, `surject_lift`'s tests of the same).

use crate::support::surject;
use serde_json::Value;
use std::path::{Path, PathBuf};
use surject::ir::{Buffer, DType, Scalar};
use surject::{Backend, Source, Specialised, Status};
use surject_runtime::{compare, npy};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("polymorphic")
}

fn buffer(value: &Value) -> Buffer {
    let dtype = match value["dtype"].as_str() {
        Some("float32") => DType::F32,
        Some("int32") => DType::I32,
        other => panic!("{other:?}"),
    };
    let shape: Vec<usize> = value["shape"]
        .as_array()
        .expect("a shape")
        .iter()
        .map(|n| n.as_u64().expect("a size") as usize)
        .collect();
    let text = value["bytes"].as_str().expect("bytes");
    let byte = |i: usize| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("hexadecimal");
    Buffer::from_bytes(dtype, &shape, &(0..text.len() / 2).map(byte).collect::<Vec<u8>>())
        .expect("as many bytes")
}

/// Arguments, results, and whether the module refuses the sizes.
type Call = (Vec<Buffer>, Vec<Buffer>, bool);

fn calls(name: &str) -> Vec<Call> {
    let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).expect("the calls");
    let rows: Value = serde_json::from_str(&text).expect("JSON");
    let buffers = |list: &Value| list.as_array().expect("a list").iter().map(buffer).collect();
    let call = |row: &Value| {
        (buffers(&row["arguments"]), buffers(&row["results"]), row["refused"].as_bool().expect("a flag"))
    };
    rows.as_array().expect("a list").iter().map(call).collect()
}

#[test]
fn exported_functions_run_on_the_cpu_for_the_sizes_of_each_call() {
    let mut failures = Vec::new();
    for name in
        ["attention", "block", "conv", "cumsum", "gather", "grad_layernorm", "pad", "scan", "split", "top_k"]
    {
        let source = Source::load(&folder().join(format!("{name}.mlir"))).expect("the module");
        let mut program = Specialised::new(source, None, Backend::Cpu).expect("a program");
        let allowed: Vec<Call> = calls(name).into_iter().filter(|c| !c.2).take(2).collect();
        // Each twice: the second time nothing is made.
        for (arguments, results, _) in allowed.iter().chain(&allowed) {
            match program.run(arguments) {
                Err(error) => failures.push(format!("{name}: {error}")),
                Ok(found) => {
                    for (a, b) in found.iter().zip(results) {
                        let report = compare::compare(a, b, 1e-4, 5e-5);
                        if !report.passed() {
                            failures.push(format!("{name}: {report}"));
                        }
                    }
                }
            }
        }
        if program.made() != allowed.len() {
            failures.push(format!("{name}: made {} times for {} types", program.made(), allowed.len()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every function at every size on the CPU, sizes of 0 without the assertions of JAX.
#[test]
fn every_exported_function_runs_on_the_cpu_at_every_size() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder of cases")
        .filter_map(|f| f.ok()?.file_name().into_string().ok()?.strip_suffix(".mlir").map(String::from))
        .collect();
    names.sort();
    let free = std::env::temp_dir().join(format!("surject-free-{}", std::process::id()));
    std::fs::create_dir_all(&free).expect("a folder");
    let (mut failures, mut runs) = (Vec::new(), 0);
    for name in names {
        let module = folder().join(format!("{name}.mlir"));
        let text = std::fs::read_to_string(&module).expect("the module");
        let without: String =
            text.lines().filter(|l| !l.contains("@shape_assertion")).map(|l| format!("{l}\n")).collect();
        let other = free.join(format!("{name}.mlir"));
        std::fs::write(&other, without).expect("a file");
        let program = |path: &Path| {
            Specialised::new(Source::load(path).expect("the module"), None, Backend::Cpu).expect("a program")
        };
        let (mut asserting, mut plain) = (program(&module), program(&other));
        for (arguments, results, refused) in calls(&name).into_iter().filter(|c| !c.1.is_empty()) {
            let found = if refused { plain.run(&arguments) } else { asserting.run(&arguments) };
            match found {
                Err(_)
                    if refused && ["argsort", "batched_slice", "branches", "reverse"].contains(&&*name) => {}
                Err(error) => failures.push(format!("{name}: {error}")),
                Ok(found) => {
                    runs += 1;
                    for (a, b) in found.iter().zip(&results) {
                        let report = compare::compare(a, b, 1e-4, 5e-5);
                        if !report.passed() {
                            failures.push(format!("{name}: {report}"));
                        }
                    }
                }
            }
        }
    }
    std::fs::remove_dir_all(&free).expect("the folder");
    println!("{runs} runs");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn executables_are_bounded_in_number() {
    let source = Source::load(&folder().join("elementwise.mlir")).expect("the module");
    let mut program = Specialised::new(source, None, Backend::Interp).expect("a program");
    program.keep(2);
    let allowed: Vec<Call> = calls("elementwise").into_iter().filter(|c| !c.2).collect();
    for (arguments, ..) in &allowed {
        program.run(arguments).expect("it runs");
    }
    assert_eq!((program.made(), program.kept()), (3, 2));
    // The first one is gone, the last one is not.
    program.run(&allowed[2].0).expect("it runs");
    assert_eq!(program.made(), 3);
    program.run(&allowed[0].0).expect("it runs");
    assert_eq!(program.made(), 4);
}

/// A guard on a size that a scalar gives is said at the call, with the value.
#[test]
fn a_scalar_that_is_no_size_is_bad_input() {
    let folder = std::env::temp_dir().join(format!("surject-set-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let module = folder.join("set.mlir");
    let text = "\
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  %a = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %a : tensor<?xf32, #stablehlo.bounds<4>>
}
";
    std::fs::write(&module, text).expect("a file");
    let source = Source::load(&module).expect("the module");
    let mut program = Specialised::new(source, None, Backend::Interp).expect("a program");
    let mut run = |n: i128| {
        let n = Buffer::splat(Scalar::from_i128(DType::I32, n), &[]);
        program.run(&[floats(&[4], 0.0), n])
    };
    assert_eq!(run(3).expect("a run")[0].shape(), [3]);
    let failure = run(9).expect_err("no size of this axis");
    assert!(failure.status == Status::BadInput && failure.message.contains("`size(in1)` is 9"), "{failure}");
    std::fs::remove_dir_all(&folder).expect("the folder");
}

/// A value of a scalar is a part of what an executable is made for only where it is a size.
#[test]
fn values_that_are_no_sizes_make_no_executables() {
    let source = Source::load(&folder().join("dynamic_slice.mlir")).expect("the module");
    let mut program = Specialised::new(source, None, Backend::Interp).expect("a program");
    for start in [0, 1, 2, 0] {
        let start = Buffer::splat(Scalar::from_i128(DType::I32, start), &[]);
        program.run(&[floats(&[5, 2], 0.0), start]).expect("it runs");
    }
    assert_eq!(program.made(), 1);
}

#[test]
fn the_command_runs_a_module_with_the_sizes_of_its_files() {
    let folder_of_files = std::env::temp_dir().join(format!("surject-polymorphic-{}", std::process::id()));
    std::fs::create_dir_all(&folder_of_files).expect("a folder");
    let path = |name: &str| folder_of_files.join(name).to_str().expect("paths are text").to_string();
    let module = folder().join("flatten.mlir").to_str().expect("paths are text").to_string();
    for (arguments, results, refused) in calls("flatten") {
        npy::write(path("x.npy"), &arguments[0]).expect("a file");
        npy::write(path("y.npy"), &results[0]).expect("a file");
        for backend in ["interp", "cpu"] {
            let (x, y) = (path("x.npy"), path("y.npy"));
            let outcome = surject(&["run", &module, "-i", &x, "--backend", backend, "--expect", &y]);
            match outcome {
                Ok(text) => assert!(text.starts_with("out0 ok") && !refused, "{text}"),
                Err(failure) => {
                    assert!(refused && failure.status == Status::BadInput, "{failure}");
                    assert!(
                        failure.message.contains("Expected value >= 1 for dimension variable"),
                        "{failure}"
                    );
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder_of_files).expect("the folder is ours");
}

#[test]
fn a_module_is_shown_with_its_symbolic_sizes() {
    let module = folder().join("concat.mlir").to_str().expect("paths are text").to_string();
    let text = surject(&["opt", &module, "--no-opt", "--emit", "program"]).expect("it is imported");
    assert!(text.contains("func main(arg0: f32[a,3], arg1: f32[b,3])"), "{text}");
    assert!(text.contains("where a >= 1") && text.contains("f32[b + 2*a,3]"), "{text}");
}

#[test]
fn modules_with_symbolic_sizes_are_optimised_or_refused() {
    let names = ["elementwise", "softmax", "flatten", "concat", "attention", "scan"];
    for name in names {
        let module = folder().join(format!("{name}.mlir")).to_str().expect("paths are text").to_string();
        match surject(&["opt", &module, "--emit", "program"]) {
            Ok(text) => assert!(text.contains("where a >= 1") || text.contains(">= 1 @"), "{text}"),
            Err(failure) => assert_eq!(failure.status, Status::Unsupported, "{name}: {failure}"),
        }
    }
}

fn floats(shape: &[usize], from: f64) -> Buffer {
    let count: usize = shape.iter().product();
    let values: Vec<Scalar> = (0..count).map(|k| Scalar::from_f64(DType::F32, from + k as f64)).collect();
    Buffer::from_scalars(DType::F32, shape, &values).expect("elements")
}

/// R13, R19, R21, R24: tensors that the data of a run truncates, on every back end; the results stand in buffers of the bound,
/// and what lies beyond their real size is not touched.
#[test]
fn truncated_results_stand_in_buffers_of_the_bound() {
    let folder = std::env::temp_dir().join(format!("surject-truncate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("truncate.program");
    let text = "\
func main(x: f32[n,3], s: f32[], k: f32[]) -> (y, z) {
  t : f32[] =: s + 0.5f32
  v : f32[u,3] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  y : f32[u,3] =: over i<u, j<3: v[i,j] * 2.0f32
  z : f32[u,min(truncate_size(in2), 3)] = call dynamic_truncate{axis=1, semantics=truncate_size, \
size=\"min(truncate_size(in2), 3)\"}(y, k)
}
";
    std::fs::write(&program, text).expect("a file");
    let module = folder.join("truncate.mlir");
    let text = "\
func.func @main(%x: tensor<4x3xf32>, %s: tensor<2xi32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %d = stablehlo.add %r, %r : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return %d : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
}
";
    std::fs::write(&module, text).expect("a file");
    let scalar = |value: f64| Buffer::splat(Scalar::from_f64(DType::F32, value), &[]);
    let canary = Scalar::from_f64(DType::F32, -77.0);
    for backend in [Backend::Interp, Backend::Cpu] {
        let mut truncate =
            Specialised::new(Source::load(&program).expect("a program"), None, backend).expect("a program");
        let mut made = 0;
        for (s, k, size, width) in [(1.0, 2.0, 2, 2), (9.0, 9.0, 4, 3), (-1.0, 1.0, 0, 1), (1.4, 2.2, 2, 2)] {
            let mut into = [Buffer::splat(canary, &[4, 3]), Buffer::splat(canary, &[4, 3])];
            let shapes =
                truncate.run_into(&[floats(&[4, 3], 0.0), scalar(s), scalar(k)], &mut into).expect("a run");
            assert_eq!(shapes, [vec![size, 3], vec![size, width]], "{s} {k}");
            for (buffer, shape) in into.iter().zip(&shapes) {
                for at in 0..12 {
                    let inside = at / 3 < shape[0] && at % 3 < shape[1];
                    let expected = if inside { 2.0 * at as f64 } else { -77.0 };
                    assert_eq!(buffer.get(at).as_f64(), expected, "{s} {k} at {at}");
                }
            }
            made = truncate.made();
        }
        // Executables are for sizes, however data gives them: the scalars of two calls differ, their values too.
        assert!(made >= 3, "{made}");
        let mut set =
            Specialised::new(Source::load(&module).expect("a module"), None, backend).expect("a program");
        for (a, b) in [(1, 2), (2, 2), (0, 0), (0, 1)] {
            let values = [a, b].map(|v| Scalar::from_i128(DType::I32, v));
            let s = Buffer::from_scalars(DType::I32, &[2], &values).expect("elements");
            let found = set.run(&[floats(&[4, 3], 1.0), s]).expect("a run");
            assert_eq!(found[0].shape(), [(a + b) as usize, 3]);
            assert!((0..found[0].len()).all(|k| found[0].get(k).as_f64() == 2.0 * (1.0 + k as f64)));
        }
        let mut small = [Buffer::splat(canary, &[1, 3])];
        let values = [1, 2].map(|v| Scalar::from_i128(DType::I32, v));
        let s = Buffer::from_scalars(DType::I32, &[2], &values).expect("elements");
        assert!(set.run_into(&[floats(&[4, 3], 1.0), s], &mut small).is_err());
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
}

/// Truncations by data as the specification has them: `--backend spec` and the interpreter of programs agree at every size, and
/// sizes that an axis does not have are an error on `spec`.
#[test]
fn data_truncates_on_the_specification() {
    let folder = std::env::temp_dir().join(format!("surject-spec-truncate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("paths are text").to_string();
    let sum = "  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
";
    let set = format!(
        "func.func @main(%x: tensor<4x3xf32>, %s: tensor<2xi32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>> {{
{sum}  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %d = stablehlo.add %r, %r : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return %d : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
}}
"
    );
    let slice = format!(
        "func.func @main(%x: tensor<4x3xf32>, %s: tensor<2xi32>) -> tensor<?x3xf32> {{
{sum}  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %start = stablehlo.constant dense<0> : tensor<2xi32>
  %step = stablehlo.constant dense<1> : tensor<2xi32>
  %limit = stablehlo.concatenate %m, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.real_dynamic_slice %x, %start, %limit, %step : (tensor<4x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x3xf32>
  %d = stablehlo.add %r, %r : tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}}
"
    );
    npy::write(path("x.npy"), &floats(&[4, 3], 1.0)).expect("a file");
    for (name, text) in [("set.mlir", set), ("slice.mlir", slice)] {
        std::fs::write(path(name), text).expect("a file");
        for (a, b) in [(0i128, 0i128), (1, 0), (1, 2), (2, 2), (4, 1), (-1, 0)] {
            let values = [a, b].map(|v| Scalar::from_i128(DType::I32, v));
            let s = Buffer::from_scalars(DType::I32, &[2], &values).expect("elements");
            npy::write(path("s.npy"), &s).expect("a file");
            let run = |backend: &str| {
                let (module, x, s, out) = (path(name), path("x.npy"), path("s.npy"), path(backend));
                let words = ["run", &module, "-i", &x, &s, "--backend", backend, "--out", &out];
                surject(&words).map(|_| npy::read(Path::new(&out).join("out0.npy")).expect("a result"))
            };
            let size = a + b;
            match run("spec") {
                Ok(found) => {
                    assert!((0..=4).contains(&size), "{name}: {size} is no size");
                    assert_eq!(found.shape(), [size as usize, 3], "{name}");
                    assert!((0..found.len()).all(|k| found.get(k).as_f64() == 2.0 * (1.0 + k as f64)));
                    assert_eq!(found, run("interp").expect("a run"), "{name} at {size}");
                }
                Err(failure) => {
                    assert!(!(0..=4).contains(&size), "{name} at {size}: {failure}");
                    assert!(!failure.message.is_empty());
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
}

/// Parameters whose sizes are those of the inputs: made by `--seed` for the sizes of the files, carried by `--state`, refused at
/// other sizes.
#[test]
fn state_has_the_sizes_of_the_files() {
    let folder = std::env::temp_dir().join(format!("surject-state-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("paths are text").to_string();
    let text = "\
size b, n;
input x: \"b|n\";
let y = { w, o = [1] } * x;
let loss = (y *. y) ++ \"...|... => 0\";
loss.backprop;
w =- 0.1 * w.grad ~logic:\".\";
output loss;
";
    let fixed = text.replace("size b, n;\n", "").replace("\"b|n\"", "\"2|3\"");
    std::fs::write(path("sizes.sj"), text).expect("a file");
    std::fs::write(path("fixed.sj"), fixed).expect("a file");
    npy::write(path("x.npy"), &floats(&[2, 3], 1.0)).expect("a file");
    let run = |program: &str, backend: &str, more: &[&str]| {
        let (program, x) = (path(program), path("x.npy"));
        surject(&[&["run", &program, "-i", &x, "--backend", backend, "--seed", "3"], more].concat())
    };
    for backend in ["interp", "cpu"] {
        let (out, kept) = (path(&format!("out-{backend}")), path(&format!("fixed-{backend}")));
        run("sizes.sj", backend, &["--out", &out]).unwrap_or_else(|e| panic!("{e}"));
        run("fixed.sj", backend, &["--out", &kept]).unwrap_or_else(|e| panic!("{e}"));
        let read = |folder: &str, name: &str| npy::read(Path::new(folder).join(name)).expect("a result");
        for name in ["out0.npy", "w.npy"] {
            let report = compare::compare(&read(&out, name), &read(&kept, name), 1e-5, 1e-6);
            assert!(report.passed(), "{backend}: {report}");
        }
        // A second step starts from the state of the first one.
        let next = path(&format!("next-{backend}"));
        run("sizes.sj", backend, &["--state", &out, "--out", &next]).unwrap_or_else(|e| panic!("{e}"));
        assert_ne!(read(&next, "w.npy"), read(&out, "w.npy"));
        // At other sizes it does not fit.
        npy::write(path("x.npy"), &floats(&[2, 4], 1.0)).expect("a file");
        let failure = run("sizes.sj", backend, &["--state", &out]).expect_err("state of other sizes");
        assert!(failure.message.contains("`w`") && failure.status == Status::BadInput, "{failure}");
        run("sizes.sj", backend, &[]).unwrap_or_else(|e| panic!("{e}"));
        npy::write(path("x.npy"), &floats(&[2, 3], 1.0)).expect("a file");
    }
    std::fs::remove_dir_all(&folder).expect("the folder");
}

/// A tensor program with symbolic sizes: inferred once, run at the sizes of the files, its facts checked.
#[test]
fn a_tensor_program_has_symbolic_sizes() {
    let folder = std::env::temp_dir().join(format!("surject-sizes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("paths are text").to_string();
    let text = "\
size b, n;
where n >= 2;
input x: \"b|n\";
input y: \"b|3\";
let mean = (x ++ \"b|i => b|\") /. dim(n);
let r = [x, y] ++^ \"b|i; b|j => b|i^j\";
let loss = (r *. r) ++ \"...|... => 0\";
loss.backprop;
let g = x.grad;
output mean, r, g;
";
    std::fs::write(path("sizes.sj"), text).expect("a file");
    let report = surject(&["infer", &path("sizes.sj")]).expect("it infers");
    assert!(report.contains("b|n + 3") && report.contains("b:b"), "{report}");
    for (b, n) in [(1, 2), (2, 5), (3, 4)] {
        npy::write(path("x.npy"), &floats(&[b, n], 1.0)).expect("a file");
        npy::write(path("y.npy"), &floats(&[b, 3], -1.0)).expect("a file");
        for backend in ["interp", "cpu"] {
            let (x, y, out) = (path("x.npy"), path("y.npy"), path("out"));
            surject(&["run", &path("sizes.sj"), "-i", &x, &y, "--backend", backend, "--out", &out])
                .unwrap_or_else(|e| panic!("{e}"));
            let result =
                |k: usize| npy::read(folder.join("out").join(format!("out{k}.npy"))).expect("a result");
            let (mean, r, g) = (result(0), result(1), result(2));
            assert_eq!((mean.shape(), r.shape(), g.shape()), (&[b][..], &[b, n + 3][..], &[b, n][..]));
            for row in 0..b {
                let first = 1.0 + (row * n) as f64;
                assert!((mean.get(row).as_f64() - (first + (n as f64 - 1.0) / 2.0)).abs() < 1e-5);
                for column in 0..n + 3 {
                    let from_y = -1.0 + (3 * row + column.saturating_sub(n)) as f64;
                    let expected = if column < n { first + column as f64 } else { from_y };
                    assert_eq!(r.get(row * (n + 3) + column).as_f64(), expected);
                }
                assert!((0..n).all(|k| g.get(row * n + k).as_f64() == 2.0 * (first + k as f64)));
            }
        }
    }
    npy::write(path("x.npy"), &floats(&[2, 1], 1.0)).expect("a file");
    npy::write(path("y.npy"), &floats(&[2, 3], 1.0)).expect("a file");
    let run = |x: &str| surject(&["run", &path("sizes.sj"), "-i", x, &path("y.npy"), "--backend", "interp"]);
    let failure = run(&path("x.npy")).expect_err("a fact does not hold");
    assert!(failure.message.contains("`n >= 2`") && failure.message.contains("`n` is 1"), "{failure}");
    npy::write(path("x.npy"), &floats(&[3, 2], 1.0)).expect("a file");
    let failure = run(&path("x.npy")).expect_err("two sizes for `b`");
    assert_eq!(failure.status, Status::BadInput, "{failure}");
    std::fs::remove_dir_all(&folder).expect("the folder");
}
