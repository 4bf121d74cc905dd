//! Passes of MLIR in the middle of a compilation: those that lower modules, through stock `mlir-opt` where it is installed,
//! and those that a user runs on the dialect.

use crate::dialect::stock_mlir_opt;
use proptest::prelude::*;
use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use surject_codegen::code::{
    Builder, Elem, Function as CodeFunction, Item, Linkage, Module, Op, Symbol, Temporality, Type,
};
use surject_codegen::{CodegenError, LoweredModule, Thresholds};
use surject_index::Space;
use surject_ir::testing::{Options, Rng, random_args, random_buffer, random_program, random_program_with};
use surject_ir::{DType, Function, Program, Statement, StatementKind, TensorType, interp};
use surject_mlir::pipelines::{Kind, Pipeline};
use surject_mlir::{CompileOptions, Processor, Stage, Target, dialect, jit};

/// A function of a program, lowered for this processor.
fn lower(program: &Program, function: &str, target: Target) -> Result<LoweredModule, CodegenError> {
    let options = CompileOptions::of(target, Processor::Host).lower;
    surject_codegen::lower(program, function, &target, &options)
}

/// What stock `mlir-opt` makes of a module with a pipeline; `None` where it is not installed.
fn mlir_opt(text: &str, pipeline: &Pipeline) -> Option<String> {
    let mut command = stock_mlir_opt()?;
    command.arg(format!("--pass-pipeline={}", pipeline.passes)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{text}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn stock_mlir_opt_lowers_modules_to_the_same_llvm_dialect() {
    let mut kinds = [0; 2];
    for seed in 0..24 {
        let program = random_program(seed, 12);
        let function = &program.functions[0].name;
        let Ok(lowered) = lower(&program, function, Target::host()) else { continue };
        let pipeline = Pipeline::of(&lowered.text);
        kinds[usize::from(pipeline.kind == Kind::General)] += 1;
        let Some(stock) = mlir_opt(&lowered.text, &pipeline) else { return };
        assert_eq!(jit::llvm_dialect(&lowered.text).unwrap().trim(), stock.trim());
    }
    assert!(kinds[0] > 0, "{kinds:?}");
    // A module that no kernel is: it needs every conversion.
    let memref = "func.func @f(%m: memref<4xf32>, %i: index) -> f32 {\n  %x = memref.load %m[%i] : memref<4xf32>\n  \
                  return %x : f32\n}\n";
    let pipeline = Pipeline::of(memref);
    assert_eq!(pipeline.kind, Kind::General);
    if let Some(stock) = mlir_opt(memref, &pipeline) {
        assert_eq!(jit::llvm_dialect(memref).unwrap().trim(), stock.trim());
    }
}

/// What is built of operations is what is read from their text, and goes through the same passes.
#[test]
fn modules_are_built_as_their_text_says() {
    let wide = Target { thresholds: Thresholds::least(), ..Target::host() };
    let mut parts = 0;
    for seed in 0..60 {
        let program = random_program(seed, 12);
        let function = &program.functions[0].name;
        for target in [Target::generic(), Target::host(), wide] {
            let Ok(lowered) = lower(&program, function, target) else { continue };
            for part in &lowered.parts {
                let code = part.code.as_ref().expect("a part of generated code has its operations");
                assert_eq!(code.text(), part.text);
                assert_eq!(jit::built(code).unwrap(), jit::checked(&part.text).unwrap());
                parts += 1;
            }
        }
    }
    assert!(parts > 100, "{parts}");
}

/// What kernels of the kernel IR use beside.
#[test]
fn operations_of_no_program_are_built_as_their_text_says() {
    let (mut b, [pointer]) = Builder::new();
    let (ty, temporality) = (Elem::I32.ty(4), Temporality::NonTemporal);
    let value = b.op(Op::Load { pointer, ty, alignment: Some(4), temporality });
    b.effect(Op::Store { value, pointer, ty, alignment: Some(4), temporality });
    let (one, ty) = (b.splat(Elem::I32, 1, 1), Elem::I32.ty(1));
    for kind in ["add", "_and", "_or", "max", "min", "umax", "umin"] {
        b.op(Op::AtomicRmw { kind, pointer, value: one, ty });
    }
    let (one, ty) = (b.splat(Elem::F32, 0x3f80_0000, 1), Elem::F32.ty(1));
    b.op(Op::AtomicRmw { kind: "fadd", pointer, value: one, ty });
    b.op(Op::cast("vector.broadcast", pointer, Type::Pointer, Type::Pointers(4)));
    let function = CodeFunction {
        symbol: Symbol::Named("f".into()),
        parameters: vec![(pointer, Type::Pointer)],
        body: b.finish(),
    };
    let code = Module { items: vec![Item::function(function, Linkage::Public)] };
    assert_eq!(jit::built(&code).unwrap(), jit::checked(&code.text()).unwrap());
}

/// After passes a program computes the same, bit for bit, or is refused with a reason.
fn passes_keep_values(program: &Program, passes: &str) -> bool {
    let passed = match dialect::through(program, passes) {
        Ok(passed) => passed,
        Err(error) => {
            assert_eq!(error.stage, Stage::Dialect, "{error}");
            return false;
        }
    };
    for function in &program.functions {
        let args = random_args(function, 7);
        let results = interp::run(program, &function.name, &args).unwrap();
        assert_eq!(interp::run(&passed, &function.name, &args).unwrap(), results, "{program:?}");
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_on_the_dialect_keep_values(seed: u64, size in 1usize..25) {
        prop_assert!(passes_keep_values(&random_program(seed, size), "canonicalize,cse"));
    }

    #[test]
    fn passes_on_everything_keep_values_or_are_refused(seed: u64, size in 1usize..25) {
        passes_keep_values(&random_program_with(seed, size, &Options::everything()), "canonicalize,cse,symbol-dce");
    }
}

#[test]
fn no_pass_at_all_is_the_identity() {
    for seed in 0..20 {
        let program = random_program_with(seed, 20, &Options::everything());
        let passed = dialect::through(&program, "").unwrap();
        assert_eq!(surject_ir::print(&passed), surject_ir::print(&program));
    }
}

#[test]
fn unknown_passes_are_named() {
    let error = dialect::through(&random_program(1, 3), "canonicalize,nosuch").unwrap_err();
    assert_eq!(error.stage, Stage::Passes);
    assert!(error.to_string().contains("'nosuch' does not refer to a registered pass"), "{error}");
}

#[test]
fn large_literals_are_shared_and_not_copied() {
    for dtype in [DType::F32, DType::I1, DType::C64, DType::BF16] {
        let value = Arc::new(random_buffer(&mut Rng::new(3), dtype, &[40, 100]));
        let mut function = Function::new("main");
        let target = function.var("table", TensorType::new(dtype, Space::of(&[40, 100])));
        let kind = StatementKind::Constant { target, value: Arc::clone(&value) };
        function.body.statements.push(Statement { kind, origin: None });
        function.body.results.push(target);
        let program = Program { name: "literals".into(), functions: vec![function] };
        for passes in ["", "canonicalize,cse"] {
            let passed = dialect::through(&program, passes).unwrap();
            let StatementKind::Constant { value: back, .. } = &passed.functions[0].body.statements[0].kind
            else {
                panic!("{passed:?}")
            };
            assert!(Arc::ptr_eq(back, &value), "{dtype}");
        }
        // The text spells them out.
        let back = dialect::parse(&dialect::print(&program).unwrap()).unwrap();
        assert_eq!(interp::run(&back, "main", &[]).unwrap(), [(*value).clone()]);
    }
}

#[test]
fn a_prepared_context_serves_the_next_caller() {
    let program = random_program(5, 10);
    let context = dialect::prepare();
    let passed = dialect::through(&program, "").unwrap();
    drop(context);
    assert_eq!(surject_ir::print(&passed), surject_ir::print(&program));
    // Nobody has to use one.
    drop(dialect::prepare());
}
