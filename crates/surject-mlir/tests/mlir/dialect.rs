//! Programs as modules of the dialect and back; samples under `dialects/`, with stock `mlir-opt` where it is installed.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use surject_ir::testing::{Options, random_args, random_program, random_program_with};
use surject_ir::{Program, interp};
use surject_mlir::dialect;

fn folder(name: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dialects").join(name);
    let mut files: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Stock `mlir-opt`, where it is installed.
pub fn stock_mlir_opt() -> Option<Command> {
    let prefix = std::env::var("MLIR_SYS_220_PREFIX").unwrap_or("/usr/lib/llvm-22".into());
    let tool = Path::new(&prefix).join("bin/mlir-opt");
    tool.exists().then(|| Command::new(tool))
}

/// `mlir-opt --irdl-file=surject.irdl.mlir FILE`; `None` where there is no `mlir-opt`.
fn mlir_opt(file: &Path) -> Option<std::process::Output> {
    let definition = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dialects/surject.irdl.mlir");
    let flag = format!("--irdl-file={}", definition.display());
    Some(stock_mlir_opt()?.arg(flag).arg(file).output().unwrap())
}

#[test]
fn samples_are_programs() {
    for file in folder("samples") {
        let text = std::fs::read_to_string(&file).unwrap();
        let program = dialect::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(format!("sample_{name}"), dialect::print(&program).unwrap());
        if let Some(output) = mlir_opt(&file) {
            assert!(
                output.status.success(),
                "{}: {}",
                file.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn rejected_modules_are_rejected() {
    for file in folder("rejected") {
        let text = std::fs::read_to_string(&file).unwrap();
        let error = dialect::parse(&text).unwrap_err();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        insta::assert_snapshot!(format!("rejected_{name}"), error);
        if let Some(output) = mlir_opt(&file) {
            assert!(!output.status.success(), "{}", file.display());
        }
    }
}

fn round_trip(program: &Program) {
    let text = dialect::print(program).unwrap_or_else(|e| panic!("{e}"));
    let back = dialect::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(dialect::print(&back).unwrap(), text);
    assert_eq!(surject_ir::print(&back), surject_ir::print(program));
    assert_eq!(program.functions.len(), back.functions.len());
    for function in &program.functions {
        let args = random_args(function, 11);
        let results = interp::run(program, &function.name, &args).unwrap();
        let others = interp::run(&back, &function.name, &args).unwrap();
        assert_eq!(results, others, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_survive(seed: u64, size in 1usize..25) {
        round_trip(&random_program(seed, size));
    }

    #[test]
    fn programs_with_everything_survive(seed: u64, size in 1usize..25) {
        round_trip(&random_program_with(seed, size, &Options::everything()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged modules give errors or programs, and nothing else.
    #[test]
    fn damaged_modules_are_survived(seed in 0u64..40, at: prop::sample::Index, len in 0usize..12, to: prop::sample::Index) {
        let text = dialect::print(&random_program_with(seed, 12, &Options::everything())).unwrap();
        // The text is ASCII.
        let (at, to) = (at.index(text.len()), to.index(text.len()));
        let end = (at + len).min(text.len());
        let donor = &text[to..(to + len).min(text.len())];
        let _ = dialect::parse(&format!("{}{donor}{}", &text[..at], &text[end..]));
    }
}

#[test]
fn stock_mlir_opt_accepts_what_is_printed() {
    let directory = std::env::temp_dir().join(format!("surject-dialect-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for seed in 0..8 {
        let program = random_program_with(seed, 20, &Options::everything());
        let file = directory.join(format!("{seed}.mlir"));
        std::fs::write(&file, dialect::print(&program).unwrap()).unwrap();
        let Some(output) = mlir_opt(&file) else { break };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // What mlir-opt prints is the same program.
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            dialect::print(&dialect::parse(&printed).unwrap()).unwrap(),
            dialect::print(&program).unwrap()
        );
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// A function with one parameter `%x: tensor<4xf32>` and these operations, the last of which defines `%r`.
fn body(lines: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>, %u: tensor<4xui8>) -> tensor<4xf32> {{
  {lines}
  %s = \"surject.store\"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}}"
    )
}

/// What the definition in IRDL lets through and the reader does not.
#[test]
fn the_verifier_points_at_the_operation() {
    let read = |map: &str, attributes: &str| {
        body(&format!(
            "%r = \"surject.read\"(%x) {{map = affine_map<{map}>{attributes}}} : (tensor<4xf32>) -> tensor<4xf32>"
        ))
    };
    let fill = ", fill = dense<0.0> : tensor<f32>";
    let cases = [
        ("range", read("(i) -> (i + 1)", "")),
        ("arity", read("(i) -> (i, i)", "")),
        ("dimensions", read("(i, j) -> (i)", "")),
        ("symbols", read("(i)[s] -> (i)", "")),
        ("division", read("(i) -> (i floordiv 2)", "")),
        ("no_guards", read("(i) -> (i)", fill)),
        ("no_fill", read("(i) -> (i)", ", guards = affine_set<(i) : (i - 1 >= 0, 3 - i >= 0)>")),
        ("half_a_guard", read("(i) -> (i)", &format!(", guards = affine_set<(i) : (i - 1 >= 0)>{fill}"))),
        ("no_bound", read("(i) -> (i)", &format!(", guards = affine_set<(i) : (i >= 0, i >= 0)>{fill}"))),
        ("equation", read("(i) -> (i)", &format!(", guards = affine_set<(i) : (i == 0, i >= 0)>{fill}"))),
        (
            "fill_type",
            read("(i) -> (i)", ", guards = affine_set<(i) : (i >= 0, 2 - i >= 0)>, fill = dense<0> : tensor<i32>"),
        ),
        ("flags", body("%r = arith.addf %x, %x fastmath<fast> : tensor<4xf32>")),
        ("predicate", body("%c = arith.cmpf ueq, %x, %x : tensor<4xf32> %r = arith.select %c, %x, %x : tensor<4xi1>, tensor<4xf32>")),
        ("no_meaning", body("%r = tensor.empty() : tensor<4xf32>")),
        ("unary", body("%r = \"surject.unary\"(%x) {op = \"frobnicate\"} : (tensor<4xf32>) -> tensor<4xf32>")),
        ("undefined", body("%r = \"surject.unary\"(%x) {op = \"not\"} : (tensor<4xf32>) -> tensor<4xf32>")),
        ("result_type", body("%r = \"surject.unary\"(%u) {op = \"not\"} : (tensor<4xui8>) -> tensor<4xf32>")),
        ("axis", body("%r = \"surject.index\"() {axis = 1} : () -> tensor<4xf32>")),
        ("bijection", body("%r = \"surject.acc\"(%x) {kind = \"set\", map = affine_map<(i) -> (0)>} : (tensor<4xf32>) -> tensor<4xf32>")),
        ("dynamic", "func.func @main(%x: tensor<?xf32>) { return }".into()),
        ("signed", "func.func @main(%x: tensor<4xsi32>) { return }".into()),
        ("encoding", "func.func @main(%x: tensor<4xf32, 3>) { return }".into()),
        ("huge", "func.func @main(%x: tensor<4611686018427387904x4xf32>) { return }".into()),
        ("blocks", "func.func @main() { cf.br ^a\n^a: return }".into()),
        ("declaration", "func.func private @main()".into()),
        ("not_a_function", "memref.global @g : memref<4xf32>".into()),
        ("not_stored", "func.func @main(%x: tensor<f32>) -> tensor<f32> { %r = math.exp %x : tensor<f32> return %r : tensor<f32> }".into()),
        (
            "recursion",
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}"
            .into(),
        ),
        ("elsewhere", body("%r = tensor.empty() : tensor<4xf32> loc(\"model.py\":3:1)")),
        ("huge_splat", body("%r = \"surject.literal\"() {value = dense<0.0> : tensor<1000000x1000000xf32>} : () -> tensor<4xf32>")),
        ("name", body("%r = \"surject.store\"(%x) {surject.names = [\"\\FF\", 3]} : (tensor<4xf32>) -> tensor<4xf32>")),
    ];
    let mut all = String::new();
    for (name, text) in cases {
        let error = dialect::parse(&text).expect_err(name);
        all += &format!("{name}: {error}\n\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn scalar_functions_belong_to_one_operation() {
    let text = std::fs::read_to_string(&folder("samples")[3]).unwrap();
    assert!(text.contains("surject.sort"));
    for (from, to) in [
        ("regions = [@less]", "regions = [@missing]"),
        ("captures = array<i64: 1>", "captures = array<i64: 4>"),
        ("captures = array<i64: 1>", "captures = array<i64: 0>"),
        ("captures = array<i64: 1>", "captures = array<i64: -1>"),
        ("captures = array<i64: 1>", "captures = array<i64: 9223372036854775807, 9223372036854775807>"),
        ("axis = 0", "axis = 7"),
    ] {
        let error = dialect::parse(&text.replace(from, to)).unwrap_err();
        assert_eq!(error.stage, surject_mlir::Stage::Dialect, "{error}");
    }
}

#[test]
fn symbolic_extents_have_no_module() {
    use surject_index::{Extent, Space};
    use surject_ir::{DType, Function, TensorType};
    let mut function = Function::new("main");
    let ty = TensorType::new(DType::F32, Space::new([Extent::input_axis(0, 0)]));
    function.params = vec![function.var("x", ty)];
    let program = Program { name: String::new(), functions: vec![function] };
    insta::assert_snapshot!(dialect::print(&program).unwrap_err());
}

#[test]
fn names_of_every_kind_survive() {
    use surject_index::Space;
    use surject_ir::{DType, Function, TensorType};
    let mut function = Function::new("a \"b\" \\ é\n");
    let ty = TensorType::new(DType::F32, Space::scalar());
    function.params = vec![function.var("x \"y\" \u{7f} ü", ty)];
    function.body.results = function.params.clone();
    let program = Program { name: "m.1".into(), functions: vec![function] };
    let back = dialect::parse(&dialect::print(&program).unwrap()).unwrap();
    assert_eq!((&back.name, &back.functions[0].name), (&program.name, &program.functions[0].name));
    assert_eq!(back.functions[0].vars, program.functions[0].vars);
}

/// Texts that would make a recursive parser run out of stack.
#[test]
fn deep_modules_are_refused() {
    let deep = |open: &str, close: &str, n: usize| format!("{}{}", open.repeat(n), close.repeat(n));
    let attribute = |value: &str| {
        body(&format!("%r = \"surject.store\"(%x) {{a = {value}}} : (tensor<4xf32>) -> tensor<4xf32>"))
    };
    let texts = [
        attribute(&deep("[", "]", 1_000_000)),
        attribute(&"[".repeat(1_000_000)),
        attribute(&deep("tuple<", ">", 1_000_000)),
        attribute(&format!("affine_map<(i) -> ({} i)>", "- ".repeat(1_000_000))),
        attribute(&format!("affine_map<(i) -> (i{})>", " + i".repeat(1_000_000))),
        attribute(&format!("affine_map<(i) -> ({})>", deep("(", ")", 1_000_000))),
        attribute(&format!("loc({}\"x\"{})", "\"a\"(".repeat(1_000_000), ")".repeat(1_000_000))),
        deep("module {", "}", 1_000_000),
        "module {".repeat(1_000_000),
    ];
    for text in texts {
        assert!(dialect::parse(&text).is_err());
    }
    // What is just below the limits is read, whatever comes of it.
    for text in [
        attribute(&deep("[", "]", 1_900)),
        attribute(&format!("affine_map<(i) -> ({} i)>", "- ".repeat(9_900))),
        attribute(&format!("affine_map<(i) -> (i{})>", " + i".repeat(9_900))),
        deep("module {", "}", 1_900),
        deep("module { func.func private @f() attributes {a = ", "} }", 900),
    ] {
        let _ = dialect::parse(&text);
    }
}
