//! Whole programs: compiled code against the reference interpreter.

use proptest::prelude::*;
use surject_index::{Affine, IndexMap, Space};
use surject_ir::testing::{Options, random_args, random_program, random_program_with};
use surject_ir::{
    AccOp, BinaryOp, Buffer, DType, Function, Program, Scalar, Statement, StatementKind, TensorType, interp,
};
use surject_mlir::jit::JitOptions;
use surject_mlir::{Argument, CompileError, CompileOptions, Executable, Target, compile, compile_cached};
use surject_runtime::compare::compare;

/// `c = a b` for f32 matrices of these sizes.
fn matmul(m: u64, k: u64, n: u64) -> Program {
    let mut f = Function::new("main");
    let a = f.var("a", TensorType::new(DType::F32, Space::of(&[m, k])));
    let b = f.var("b", TensorType::new(DType::F32, Space::of(&[k, n])));
    f.params = vec![a, b];
    let product = Space::of(&[m, n, k]);
    let (a, b) = (f.tensor(a), f.tensor(b));
    let a = f.fields.read(IndexMap::projection(&product, &[0, 2]), a).unwrap();
    let b = f.fields.read(IndexMap::projection(&product, &[2, 1]), b).unwrap();
    let ab = f.fields.binary(BinaryOp::Mul, a, b).unwrap();
    let sum = f.fields.acc(AccOp::Add, IndexMap::projection(&product, &[0, 1]), ab).unwrap();
    let c = f.var_for("c", sum);
    f.body.statements.push(Statement::new(StatementKind::Store { target: c, field: sum }));
    f.body.results = vec![c];
    Program { name: "matmul".into(), functions: vec![f] }
}

fn compiled(program: &Program) -> Executable {
    compile(program, "main", &CompileOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn agree(program: &Program, args: &[Buffer], what: &str) {
    let expected = interp::run(program, "main", args).unwrap();
    let actual = compiled(program).run(args).unwrap();
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(&expected) {
        let comparison = compare(a, e, 1e-4, 1e-5);
        assert!(comparison.passed(), "{what}: {comparison}");
    }
}

#[test]
fn a_matrix_product() {
    for (m, k, n) in [(4, 5, 6), (1, 1, 1), (33, 17, 70), (64, 64, 64), (0, 3, 2), (3, 0, 2)] {
        let program = matmul(m, k, n);
        agree(&program, &random_args(&program.functions[0], 3), &format!("{m} {k} {n}"));
    }
}

#[test]
fn a_guarded_read_yields_its_fill() {
    let mut f = Function::new("main");
    let x = f.var("x", TensorType::new(DType::F32, Space::of(&[5])));
    f.params = vec![x];
    let x = f.tensor(x);
    let fill = surject_index::Fill(Scalar::from_f64(DType::F32, 7.5).bits());
    let map = IndexMap::partial(
        Space::of(&[40]),
        Space::of(&[5]),
        vec![Affine::strided(1, 0, 1, -20)],
        vec![],
        fill,
    );
    let padded = f.fields.read(map.unwrap(), x).unwrap();
    let r = f.var_for("r", padded);
    f.body.statements.push(Statement::new(StatementKind::Store { target: r, field: padded }));
    f.body.results = vec![r];
    let program = Program { name: String::new(), functions: vec![f] };
    agree(&program, &random_args(&program.functions[0], 1), "pad");
}

#[test]
fn buffers_are_reused_and_checked() {
    let executable = compiled(&matmul(2, 3, 4));
    let (a, b) =
        (Buffer::splat(Scalar::one(DType::F32), &[2, 3]), Buffer::splat(Scalar::one(DType::F32), &[3, 4]));
    let mut results = executable.result_buffers();
    for _ in 0..3 {
        executable.run_into(&[&a, &b], &mut results).unwrap();
        assert_eq!(results[0], Buffer::splat(Scalar::from_f64(DType::F32, 3.0), &[2, 4]));
    }
    let errors = [
        executable.run(std::slice::from_ref(&a)).unwrap_err(),
        executable.run(&[b.clone(), a.clone()]).unwrap_err(),
        executable.run(&[Buffer::zeros(DType::F64, &[2, 3]), b.clone()]).unwrap_err(),
        executable.run_into(&[&a, &b], &mut [Buffer::zeros(DType::F32, &[4, 2])]).unwrap_err(),
        executable.run_into(&[&a, &b], &mut []).unwrap_err(),
    ];
    insta::assert_snapshot!(errors.map(|e| e.to_string()).join("\n"));
}

/// A literal, something that depends on it alone, and an argument that a result can take over.
fn stateful() -> Program {
    surject_ir::parse(
        "func main(w: f32[40], x: f32[4]) -> (w2, y) {
           c : f32[4] = constant [1.0, 2.0, 3.0, 4.0]
           e : f32[4] =: over i<4: exp(c[3 - i])
           y : f32[4] =: over i<4: x[i] * e[i]
           w2 : f32[40] =: over i<40: w[i] - 0.5f32 * w[i]
         }",
    )
    .unwrap()
}

#[test]
fn executables_are_kept_on_disk() {
    let folder = std::env::temp_dir().join(format!("surject-kept-{}", std::process::id()));
    let jit = JitOptions { cache: Some(folder.clone()), ..JitOptions::default() };
    let options = CompileOptions { jit, ..CompileOptions::default() };
    let program = stateful();
    let args = random_args(&program.functions[0], 3);
    let expected = compiled(&program).run(&args).unwrap();
    let mut made = 0;
    let mut start = |source: &str| {
        let executable = compile_cached::<CompileError>(source, &options, || {
            made += 1;
            Ok((program.clone(), "main".into()))
        });
        let executable = executable.unwrap();
        assert_eq!(executable.run(&args).unwrap(), expected);
        assert_eq!(executable.plan().to_string(), compiled(&program).plan().to_string());
        made
    };
    assert_eq!([start("a"), start("a"), start("b"), start("a")], [1, 1, 2, 2]);
    // Whatever is damaged is made again.
    for damage in 0..3usize {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            let at = bytes.len() - 1 - 400 * damage;
            match damage {
                0 => bytes.truncate(at),
                _ => bytes[at] ^= 0x10,
            }
            std::fs::write(&path, bytes).unwrap();
        }
        assert_eq!(start("a"), 3 + damage);
        assert_eq!(start("a"), 3 + damage);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn arguments_are_given_away() {
    let program = stateful();
    let executable = compiled(&program);
    let args = random_args(&program.functions[0], 5);
    let expected = executable.run(&args).unwrap();
    assert_eq!(executable.donations(), [Some(0), Some(1)]);
    let given = args.clone();
    let addresses: Vec<*const u8> = given.iter().map(Buffer::as_ptr).collect();
    let results = executable.run_owned(given).unwrap();
    assert_eq!(results, expected);
    assert_eq!(results.iter().map(Buffer::as_ptr).collect::<Vec<_>>(), addresses);
    // One that is only read stays as it is.
    let results =
        executable.run_with(vec![Argument::Read(&args[0]), Argument::Given(args[1].clone())]).unwrap();
    assert_eq!(results, expected);
    assert_eq!(executable.run(&args).unwrap(), expected);
    assert!(executable.run_owned(args[..1].to_vec()).is_err());
}

#[test]
fn one_executable_serves_several_threads() {
    let executable = compiled(&matmul(16, 16, 16));
    let args = [DType::F32; 2].map(|d| Buffer::splat(Scalar::one(d), &[16, 16]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let results = executable.run(&args).unwrap();
                    assert_eq!(results[0].get(255).as_f64(), 16.0);
                }
            });
        }
    });
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let program = matmul(2, 2, 2);
    let missing = compile(&program, "other", &CompileOptions::default()).err().unwrap();
    assert!(matches!(missing, CompileError::Codegen(_)), "{missing}");
    let huge = compile(&matmul(1 << 40, 1, 1 << 40), "main", &CompileOptions::default()).err().unwrap();
    insta::assert_snapshot!(huge);
}

/// How many random programs are drawn: 40, or `PROPTEST_CASES`.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// Every program the code generator takes agrees with the interpreter, on machines of every width.
fn random_agrees(program: &Program, seed: u64, tolerance: Option<(f64, f64)>) -> Result<(), TestCaseError> {
    let args = random_args(&program.functions[0], seed);
    let expected = interp::run(program, "main", &args).unwrap();
    let mut targets = vec![Target::host()];
    if cfg!(target_arch = "x86_64") {
        targets.push(Target::generic());
    }
    for target in targets {
        let options = CompileOptions { target, ..CompileOptions::default() };
        let executable = match compile(program, "main", &options) {
            Ok(executable) => executable,
            Err(CompileError::Codegen(surject_codegen::CodegenError::Unsupported { .. })) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let actual = executable.run(&args).unwrap();
        prop_assert_eq!(actual.len(), expected.len());
        for (a, e) in actual.iter().zip(&expected) {
            let (rtol, atol) = tolerance.unwrap_or((1e-3, 1e-4));
            let comparison = compare(a, e, rtol, atol);
            prop_assert!(
                comparison.passed(),
                "seed {}, {:?}: {}\n{}",
                seed,
                options.target,
                comparison,
                surject_ir::print(program)
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn tame_programs_agree_with_the_interpreter(seed: u64, size in 1usize..15) {
        random_agrees(&random_program(seed, size), seed, None)?;
    }

    /// Integers and booleans, wild: exactly equal.
    #[test]
    fn integer_programs_agree_with_the_interpreter(seed: u64, size in 1usize..15) {
        use DType::*;
        let dtypes = vec![I1, I8, I16, I32, I64, U8, U16, U32, U64];
        let options = Options { dtypes, tame: false, regions: false, large: false };
        random_agrees(&random_program_with(seed, size, &options), seed, Some((0.0, 0.0)))?;
    }

    /// Every element type and operation; the tolerance is that of half precision. Complex numbers are tame: the angle of
    /// a large one turns with its last bit.
    #[test]
    fn programs_with_everything_agree_with_the_interpreter(seed: u64, size in 1usize..15) {
        let real = DType::ALL.iter().copied().filter(|d| !d.is_complex()).collect();
        let wild = Options { dtypes: real, ..Options::everything() };
        let complex = Options { dtypes: vec![DType::C64, DType::C128, DType::F32], tame: true, ..wild.clone() };
        for options in [wild, complex] {
            random_agrees(&random_program_with(seed, size, &options), seed, Some((1e-2, 1e-2)))?;
        }
    }

    /// Loops, choices and library operations, on values that stay small.
    #[test]
    fn programs_with_regions_agree_with_the_interpreter(seed: u64, size in 1usize..15) {
        let options = Options { regions: true, ..Options::default() };
        random_agrees(&random_program_with(seed, size, &options), seed, None)?;
    }
}
