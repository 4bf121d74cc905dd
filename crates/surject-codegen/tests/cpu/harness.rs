//! Compiles and runs functions, and compares with the interpreter.

use surject_codegen::{CodegenError, LoweredModule, Options, Target, Thresholds};
use surject_index::Space;
use surject_ir::{
    Buffer, DType, FieldId, Function, Program, Scalar, Statement, StatementKind, TensorType, Var,
};
use surject_mlir::jit::{self, JitOptions};
use surject_mlir::{CompileOptions, Processor};
use surject_runtime::tiles::Tiles;

/// Numbers of 64 bits that look random, of which the high bits are the better ones.
pub fn states(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    }
}

/// Deterministic values of a type: small numbers of both signs, halves among the floats.
pub fn values(ty: &TensorType, seed: u64) -> Buffer {
    let shape: Vec<usize> = ty.space.sizes().unwrap().iter().map(|&n| n as usize).collect();
    let mut buffer = Buffer::zeros(ty.dtype, &shape);
    let mut next = states(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for i in 0..buffer.len() {
        let raw = (next() >> 33) as i64;
        let value = match ty.dtype {
            DType::I1 => Scalar::bool(raw & 1 == 1),
            d if d.is_complex() => Scalar::from_complex(
                d,
                num_complex::Complex::new(
                    (raw % 2001 - 1000) as f64 / 250.0,
                    (raw / 2001 % 2001 - 1000) as f64 / 250.0,
                ),
            ),
            d if d.is_float() => Scalar::from_f64(d, (raw % 2001 - 1000) as f64 / 250.0),
            d => Scalar::from_i128(d, (raw % 201 - 100).into()),
        };
        buffer.set(i, value);
    }
    buffer
}

/// A function of a program, lowered for this machine.
pub fn lower(program: &Program, name: &str, target: &Target) -> Result<LoweredModule, CodegenError> {
    let scheduled = CompileOptions::of(*target, Processor::Host).lower.scheduled;
    surject_codegen::lower(program, name, target, &Options { scheduled, ..Options::default() })
}

/// The same of a function that has a form.
pub fn lowered(program: &Program, name: &str, target: &Target) -> LoweredModule {
    lower(program, name, target).unwrap()
}

/// Compiles and runs a lowered module.
pub fn execute(module: &LoweredModule, args: &[Buffer]) -> Vec<Buffer> {
    let compiled = jit::compile_parts(&module.parts, &JitOptions::default()).unwrap_or_else(|e| {
        std::fs::write("/tmp/failed.mlir", &module.text).ok();
        panic!("{e}\n{}", module.text)
    });
    let entry = compiled.entry(&module.entry).unwrap();
    let arg_pointers: Vec<*const u8> = args.iter().map(Buffer::as_ptr).collect();
    let shape =
        |ty: &TensorType| -> Vec<usize> { ty.space.sizes().unwrap().iter().map(|&n| n as usize).collect() };
    let mut results: Vec<Buffer> =
        module.results.iter().map(|ty| Buffer::zeros(ty.dtype, &shape(ty))).collect();
    let result_pointers: Vec<*mut u8> = results.iter_mut().map(Buffer::as_mut_ptr).collect();
    // Garbage in the arena and in the results: nothing may be read before it is written.
    for buffer in &mut results {
        buffer.bytes_mut().fill(0xa5);
    }
    let mut arena = Buffer::zeros(DType::U8, &[module.arena_bytes as usize]);
    arena.bytes_mut().fill(0xa5);
    let constants: Vec<*const u8> = module.constants.iter().map(|c| c.as_ptr()).collect();
    if let Some(init) = &module.init {
        let init = compiled.entry(init).unwrap();
        let null = || vec![std::ptr::null_mut::<u8>(); args.len().max(results.len())];
        let ignored: Vec<*const u8> = null().into_iter().map(<*mut u8>::cast_const).collect();
        // SAFETY: it uses the arena and the constants alone.
        unsafe { init.call(&ignored, &null(), arena.as_mut_ptr(), &constants) };
    }
    // SAFETY: the pointers are those the module asks for.
    let mut run = |args: &[*const u8], results: &[*mut u8]| unsafe {
        entry.call(args, results, arena.as_mut_ptr(), &constants);
    };
    // What a result lends is its own memory, or other memory where it has that of an argument.
    let mut spare: Vec<Buffer> =
        module.lent.iter().map(|l| Buffer::zeros(DType::U8, &[l.bytes as usize])).collect();
    let lending = |results: &[*mut u8], spare: &mut [Buffer], args: &[*const u8]| -> Vec<*mut u8> {
        let lent = module.lent.iter().zip(spare).map(|(lent, spare)| {
            let own = results[lent.result];
            if args.contains(&own.cast_const()) { spare.as_mut_ptr() } else { own }
        });
        results.iter().copied().chain(lent).collect()
    };
    run(&arg_pointers, &lending(&result_pointers, &mut spare, &arg_pointers));
    // Again, on the arena as it is now, and with results in the memory of arguments.
    let mut again: Vec<Buffer> = results.clone();
    let mut given: Vec<Buffer> = args.to_vec();
    for donate in [false, true] {
        let own = |b: &mut Buffer| b.as_mut_ptr();
        let given_pointers: Vec<*mut u8> = given.iter_mut().map(own).collect();
        let own_pointers: Vec<*mut u8> = again.iter_mut().map(own).collect();
        let pick = |(own, from): (&*mut u8, &Option<usize>)| match from {
            Some(i) if donate => given_pointers[*i],
            _ => *own,
        };
        let to: Vec<*mut u8> = own_pointers.iter().zip(&module.donations).map(pick).collect();
        let from: Vec<*const u8> = given_pointers.iter().map(|p| p.cast_const()).collect();
        run(&from, &lending(&to, &mut spare, &from));
        for (i, (result, &at)) in results.iter().zip(&to).enumerate() {
            // SAFETY: the result was written there.
            let bytes = unsafe { std::slice::from_raw_parts(at, result.bytes().len()) };
            assert!(
                bytes == result.bytes(),
                "result {i}, donated: {donate}\n{}\n{}",
                module.plan,
                module.text
            );
        }
    }
    results
}

/// Are the results equal, bit for bit for integers, within a tolerance for floats?
pub fn compare(found: &Buffer, expected: &Buffer, tolerance: f64) -> Result<(), String> {
    assert_eq!((found.dtype(), found.shape()), (expected.dtype(), expected.shape()));
    let tolerance = match found.dtype() {
        DType::BF16 => tolerance.max(2e-2),
        DType::F16 => tolerance.max(2e-3),
        _ => tolerance,
    };
    let scale = (0..expected.len())
        .map(|i| expected.get(i).as_f64().abs())
        .filter(|v| v.is_finite())
        .fold(1.0, f64::max);
    for i in 0..found.len() {
        let (a, b) = (found.get(i), expected.get(i));
        let close = |a: f64, b: f64| {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (b.abs() + 0.05 * scale)
        };
        let (za, zb) = (a.as_complex(), b.as_complex());
        let same = a == b
            || (!a.dtype().is_int() && !a.dtype().is_bool() && close(za.re, zb.re) && close(za.im, zb.im));
        if !same {
            return Err(format!("element {i} of {:?}: {a:?}, expected {b:?}", found.shape()));
        }
    }
    Ok(())
}

/// This machine, as code is made for it where registers have 256 bits.
pub fn half_lines() -> Target {
    let host = Target::host();
    Target {
        vector_bytes: host.vector_bytes.min(32),
        vector_registers: host.vector_registers.min(16),
        lane_permute_width: host.lane_permute_width.min(8),
        has_bf16_dot: false,
        tiles: Tiles::NONE,
        ..host
    }
}

/// Runs a function compiled for some targets and interpreted, on generated arguments.
pub fn check(function: Function) {
    check_with(function, 1e-5, None);
}

/// As [`check`], with a tolerance and perhaps with arguments.
pub fn check_with(function: Function, tolerance: f64, args: Option<Vec<Buffer>>) {
    let eager = Target {
        thresholds: Thresholds::least(),
        has_non_temporal_stores: Target::host().has_non_temporal_stores,
        ..Target::wide()
    };
    let targets = [Target::host(), Target::generic(), Target { threads: 1, ..Target::wide() }, eager];
    check_on(function, tolerance, args, &targets);
}

/// As [`check_with`], on these targets. Gives the plans.
pub fn check_on(
    function: Function,
    tolerance: f64,
    args: Option<Vec<Buffer>>,
    targets: &[Target],
) -> Vec<String> {
    let name = function.name.clone();
    let args = args.unwrap_or_else(|| {
        function.params.iter().enumerate().map(|(i, &p)| values(function.ty(p), i as u64 + 7)).collect()
    });
    let program = Program { name: String::new(), functions: vec![function] };
    surject_ir::verify(&program).unwrap();
    let expected = surject_ir::interp::run(&program, &name, &args).unwrap();
    let run = |target: &Target| {
        let module = lowered(&program, &name, target);
        let found = execute(&module, &args);
        for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
            if let Err(error) = compare(a, b, tolerance) {
                panic!("result {i}, {target:?}: {error}\n{}\n{}", module.plan, module.text);
            }
        }
        module.plan.to_string()
    };
    targets.iter().map(run).collect()
}

/// A space.
pub fn space(sizes: &[u64]) -> Space {
    Space::of(sizes)
}

/// A function with parameters of these types.
pub fn function(params: &[(DType, &[u64])]) -> (Function, Vec<FieldId>) {
    let mut function = Function::new("main");
    let mut fields = Vec::new();
    for (dtype, sizes) in params {
        let var = function.var("", TensorType::new(*dtype, space(sizes)));
        function.params.push(var);
        fields.push(function.tensor(var));
    }
    (function, fields)
}

/// Stores a field as the next variable.
pub fn store(function: &mut Function, field: FieldId) -> Var {
    let target = function.var_for("", field);
    function.body.statements.push(Statement::new(StatementKind::Store { target, field }));
    target
}

/// Stores a field and makes it the next result.
pub fn result(function: &mut Function, field: FieldId) {
    let target = store(function, field);
    function.body.results.push(target);
}
