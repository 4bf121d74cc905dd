//! Compiled programs whose kernels come from the kernel IR: the same bits as on the interpreter of kernels.

use crate::suite::programs;
use std::path::Path;
use surject::bench::inputs;
use surject::ir::testing::{Options as Kinds, random_args, random_program_with};
use surject::ir::{Buffer, Function, Program};
use surject::mlir::{self, CompileOptions};
use surject::{OptimiseOptions, Source, optimise, scheduled};
use surject_codegen::interpret::InterpretError;
use surject_codegen::kernels::legal::legal;
use surject_codegen::kernels::machine::choose;
use surject_codegen::kernels::run::{Executor, expressions, run_on};
use surject_codegen::kernels::schedule::Schedules;
use surject_codegen::{CodegenError, LoweredModule, Options as Lowering, Target, Thresholds, Which, lower};
use surject_kernel::Kernel;
use surject_kernel::interpret::{self, Options, Tensor};
use surject_runtime::Scalar;
use surject_runtime::compare::compare;

/// Interprets kernels in the operations that machines have.
struct Arithmetic;

impl Executor for Arithmetic {
    fn execute(&mut self, kernel: &Kernel, tensors: &mut [Tensor]) -> Result<(), String> {
        let arithmetic = legal(kernel).map_err(|e| e.to_string())?;
        interpret::run(&arithmetic, &[], tensors, &Options::default()).map(|_| ()).map_err(|e| e.to_string())
    }
}

/// What the kernels of a machine give, compiled and interpreted.
fn both(
    program: &Program,
    args: &[Buffer],
    machine: &str,
    schedules: &Schedules,
    which: Which,
) -> Result<[Vec<Buffer>; 2], String> {
    let function = &program.main().expect("a function").name;
    let kernels = scheduled(Some(machine), schedules.clone(), which).map_err(|f| f.to_string())?;
    let options = Lowering { scheduled: Some(kernels), ..Lowering::default() };
    let options = CompileOptions { lower: options, ..CompileOptions::default() };
    let compiled = mlir::compile(program, function, &options).map_err(|e| e.to_string())?;
    let machine = surject::machine_named(machine).expect("the machine is known");
    let interpreted = run_on(program, function, args, &*machine, schedules, &mut Arithmetic);
    Ok([compiled.run(args).map_err(|e| e.to_string())?, interpreted.map_err(|e| e.to_string())?])
}

/// Where compiled kernels of a machine differ from interpreted ones. NaN may have any bits.
fn fault(program: &Program, args: &[Buffer], machine: &str) -> Option<String> {
    let [compiled, interpreted] = match both(program, args, machine, &Schedules::default(), Which::All) {
        Ok(results) => results,
        Err(error) => return Some(error),
    };
    compiled.iter().zip(&interpreted).enumerate().find_map(|(i, (a, b))| {
        let at = (0..a.len()).find(|&at| !same(a.get(at), b.get(at)))?;
        Some(format!("element {at} of result {i} is {:?}, not {:?}", a.get(at), b.get(at)))
    })
}

/// Have two elements the same bits? Those of NaN do not count.
fn same(a: Scalar, b: Scalar) -> bool {
    let nan = |x: Scalar| match x.dtype() {
        dtype if dtype.is_complex() => x.as_complex().is_nan(),
        dtype => dtype.is_float() && x.as_f64().is_nan(),
    };
    a.bits() == b.bits() || nan(a) && nan(b)
}

/// Floats become integers towards zero, the nearest that there is, and 0 for NaN, in every number of lanes.
#[test]
fn floats_become_the_nearest_integers() {
    let dtypes = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
    for (from, dtype) in [("f32", surject_runtime::DType::F32), ("f64", surject_runtime::DType::F64)] {
        let mut values = vec![0.0, -0.0, 0.5, -0.5, 1.9, -1.9, 1e300, -1e300, f64::NAN, f64::INFINITY];
        values.push(f64::NEG_INFINITY);
        for digits in [7, 8, 15, 16, 31, 32, 63, 64] {
            let end = 2f64.powi(digits);
            let near = |x: f64| [x, x - 1.0, x + 1.0, x * (1.0 - 1e-7), x * (1.0 - 1e-16), x - 0.5];
            values.extend([near(end), near(-end)].concat());
        }
        values.resize(131, 3.25);
        let n = values.len();
        let results: Vec<String> = (0..dtypes.len()).map(|i| format!("y{i}")).collect();
        let mut text = format!("func main(x: {from}[{n}]) -> ({}) {{\n", results.join(", "));
        for (to, result) in dtypes.iter().zip(&results) {
            text += &format!("  {result} : {to}[{n}] =: over i<{n}: {to}(x[i])\n");
        }
        let program = surject::ir::parse(&format!("{text}}}\n")).expect("it parses");
        let mut argument = Buffer::zeros(dtype, &[n]);
        values.iter().enumerate().for_each(|(i, &x)| argument.set(i, Scalar::from_f64(dtype, x)));
        let expected = surject::ir::interp::run(&program, "main", &[argument.clone()]).expect("it runs");
        for machine in ["generic", "avx2", "avx512"] {
            let args = std::slice::from_ref(&argument);
            let [compiled, _] =
                both(&program, args, machine, &Schedules::default(), Which::All).expect("it runs");
            for ((found, wanted), to) in compiled.iter().zip(&expected).zip(dtypes) {
                assert_eq!(found.bytes(), wanted.bytes(), "{from} to {to} on {machine}");
            }
        }
    }
}

/// A program of the suite, optimised, with its arguments.
pub fn prepared(folder: &Path) -> (Program, Vec<Buffer>) {
    let name = folder.display();
    let source = Source::load(&folder.join("program.mlir")).unwrap_or_else(|f| panic!("{name}: {f}"));
    let program = source.program(None).unwrap_or_else(|f| panic!("{name}: {f}"));
    let program =
        optimise(&program, &OptimiseOptions::default()).unwrap_or_else(|f| panic!("{name}: {f}")).program;
    let args =
        inputs(program.main().expect("a function"), Some(folder)).unwrap_or_else(|f| panic!("{name}: {f}"));
    (program, args)
}

#[test]
fn compiled_kernels_of_the_suite() {
    let mut failures = Vec::new();
    for folder in programs() {
        let (program, args) = prepared(&folder);
        failures.extend(fault(&program, &args, "avx2").map(|fault| format!("{}: {fault}", folder.display())));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn compiled_kernels_of_random_programs() {
    let mut failures = Vec::new();
    for seed in 0..120 {
        let program = random_program_with(seed, 12, &Kinds::everything());
        let Some(function) = program.main() else { continue };
        let args = random_args(function, seed);
        if surject::ir::interp::run(&program, &function.name, &args).is_err() {
            continue;
        }
        let machine = ["generic", "avx2", "avx512"][seed as usize % 3];
        let found = fault(&program, &args, machine);
        // Some operations have no formula; the interpreter of kernels knows them. Some assignments have no kernels.
        let refused = |fault: &String| fault.contains("has no formula") || fault.contains("is not supported");
        let found = found.filter(|fault| !refused(fault));
        failures.extend(found.map(|fault| format!("{seed} on {machine}: {fault}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every second assignment of a function, by the schedule that a machine chooses for it: kernels beside those of the
/// compiler, and how many there are.
fn every_second(function: &Function, machine: &str) -> Option<(Lowering, usize)> {
    let strategies = surject::machine_named(machine).expect("the machine is known");
    let mut text = String::new();
    let some: Vec<_> = expressions(function).ok()?.into_iter().step_by(2).collect();
    for (name, expression) in &some {
        text += &format!("kernel {name}\n{}", choose(&*strategies, expression).ok()?);
    }
    let schedules = text.parse().expect("schedules are read as they are written");
    let kernels = scheduled(Some(machine), schedules, Which::Chosen).expect("a CPU");
    Some((Lowering { scheduled: Some(kernels), ..Lowering::default() }, some.len()))
}

/// The first result that is not as expected.
fn differs(found: &[Buffer], expected: &[Buffer]) -> Option<String> {
    found.iter().zip(expected).find_map(|(a, b)| {
        let report = compare(a, b, 2e-3, 1e-3);
        (!report.passed()).then(|| report.to_string())
    })
}

#[test]
fn scheduled_kernels_beside_others() {
    let (mut failures, mut all) = (Vec::new(), 0);
    for folder in programs() {
        let (program, args) = prepared(&folder);
        let function = program.main().expect("a function");
        let (lower, count) = every_second(function, "avx2").expect("all assignments have schedules");
        all += count;
        let run = |options: &CompileOptions| {
            let compiled = mlir::compile(&program, &function.name, options);
            compiled.map_err(|e| e.to_string())?.run(&args).map_err(|e| e.to_string())
        };
        let found = run(&CompileOptions { lower, ..CompileOptions::default() });
        let expected = run(&CompileOptions::default()).expect("the program is compiled");
        let fault = found.map_or_else(Some, |found| differs(&found, &expected));
        failures.extend(fault.map(|fault| format!("{}: {fault}", folder.display())));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(all > 100, "{all} kernels");
}

/// The same of random programs, on the interpreter of code, which sees what they do to memory.
#[test]
fn scheduled_kernels_of_random_programs() {
    let (mut failures, mut all) = (Vec::new(), 0);
    for seed in 0..400 {
        let program = random_program_with(seed, 12, &Kinds::everything());
        let Some(function) = program.main() else { continue };
        let args = random_args(function, seed);
        let Ok(expected) = surject::ir::interp::run(&program, &function.name, &args) else { continue };
        let machine = ["generic", "avx2", "avx512"][seed as usize % 3];
        let Some((options, count)) = every_second(function, machine) else { continue };
        let thresholds = if seed % 2 == 0 { Thresholds::least() } else { Thresholds::measured() };
        let target = Target { thresholds, ..Target::named(machine).expect("a CPU") };
        let Ok(lowered) = lower(&program, &function.name, &target, &options) else { continue };
        let fault = match lowered.interpret(&args, Default::default()) {
            Ok(found) => differs(&found, &expected),
            Err(InterpretError::Fault(fault)) if fault.is_limit() => continue,
            Err(error) => Some(error.to_string()),
        };
        all += count;
        failures.extend(fault.map(|fault| format!("{seed} on {machine}: {fault}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(all > 300, "{all} kernels");
}

/// Products of matrices, by the assignments that make them of `a`, `b` and `c`.
const PRODUCTS: [(&str, &str); 6] = [
    (
        "a: f32[70,130], b: f32[130,530], c: f32[70]",
        "r : f32[70,530] =:+ over i<70, j<530, k<130 at [i,j]: a[i,k] * b[k,j]",
    ),
    (
        "a: f32[130,64], b: f32[130,512], c: f32[64]",
        "r : f32[64,512] =:+ over i<64, j<512, k<130 at [i,j]: a[k,i] * b[k,j]",
    ),
    (
        "a: f64[3,64,96], b: f64[3,96,225], c: f64[3]",
        "r : f64[3,64,225] =:+ over h<3, i<64, j<225, k<96 at [h,i,j]: a[h,i,k] * b[h,k,j]",
    ),
    (
        "a: f32[65,200], b: f32[200,321], c: f32[321]",
        "p : f32[65,321] =:+ over i<65, j<321, k<200 at [i,j]: a[i,k] * b[k,j]\n  r : f32[65,321] =: over i<65, j<321: max(p[i,j] + c[j], 0.0 f32)",
    ),
    (
        "a: f32[96,448], b: f32[448,96], c: f32[96,96]",
        "p : f32[96,96] =:+ over i<96, j<96, k<448 at [i,j]: a[i,k] * b[k,j]\n  r : f32[96,96] =: over i<96, j<96: p[i,j] - c[i,j]",
    ),
    (
        "a: f32[130,160], b: f32[160,208], c: f32[130]",
        "r : f32[130,208] =:+ over i<130, j<208, k<160 at [i,j]: b[k,j] * a[i,k]",
    ),
];

/// Products that need more than tiles that read their factors where they lie: computed rows, factors of 8 and 16 bits, terms of rows
/// or columns far apart, few rows, few terms, windows of few channels.
const OTHER_PRODUCTS: [(&str, &str); 12] = [
    (
        "a: f32[70,130], b: f32[130,530], c: f32[70]",
        "r : f32[70,530] =:+ over i<70, j<530, k<130 at [i,j]: (a[i,k] * c[i]) * b[k,j]",
    ),
    (
        "a: bf16[70,130], b: bf16[130,96], c: f32[70]",
        "r : f32[70,96] =:+ over i<70, j<96, k<130 at [i,j]: f32(a[i,k]) * f32(b[k,j])",
    ),
    (
        "a: i8[70,130], b: i8[130,96], c: f32[70]",
        "r : i32[70,96] =:+ over i<70, j<96, k<130 at [i,j]: i32(a[i,k]) * i32(b[k,j])",
    ),
    (
        "a: f32[33,600], b: f32[33,512], c: f32[600,512]",
        "let p : f32[600,512] =:+ over i<600, j<512, k<33 at [i,j]: a[k,i] * b[k,j]\n  r : f32[600,512] =: over i<600, j<512: c[i,j] - p[i,j]",
    ),
    (
        "a: f32[5,200], b: f32[96,200], c: f32[5]",
        "r : f32[5,96] =:+ over i<5, j<96, k<200 at [i,j]: a[i,k] * b[j,k]",
    ),
    (
        "a: f32[4,40,12], b: f32[4,50,12], c: f32[4]",
        "r : f32[4,40,50] =:+ over h<4, i<40, j<50, k<12 at [h,i,j]: a[h,i,k] * b[h,j,k]",
    ),
    (
        "a: f32[2,23,25,3], b: f32[3,5,3,32], c: f32[2]",
        "r : f32[2,21,21,32] =:+ over n<2, y<21, x<21, o<32, p<3, q<5, s<3 at [n,y,x,o]: a[n,y+p,x+q,s] * b[p,q,s,o]",
    ),
    (
        "a: f32[3,90,70], b: f32[3,90,48], c: f32[3,90]",
        "r : f32[3,70,48] =:+ over h<3, i<70, j<48, k<90 at [h,i,j]: max(a[h,k,i] - c[h,k], 0.0 f32) * b[h,k,j]",
    ),
    (
        "a: f32[600,130], b: f32[130,3], c: f32[600]",
        "r : f32[600,3] =:+ over i<600, j<3, k<130 at [i,j]: a[i,k] * b[k,j]",
    ),
    (
        "a: f32[500,90], b: f32[500,4], c: f32[90]",
        "r : f32[90,4] =:+ over i<90, j<4, k<500 at [i,j]: a[k,i] * b[k,j]",
    ),
    (
        "a: f32[2,23,25,16], b: f32[3,5,16,3], c: f32[2]",
        "r : f32[2,23,25,3] =:+ over n<2, y<23, x<25, o<3, p<3, q<5, s<16 at [n,y,x,o]: (a[n,y+p-1,x+q-2,s] where 0 <= y+p-1 < 23 and 0 <= x+q-2 < 25 else 0.0f32) * b[p,q,s,o]",
    ),
    (
        "a: f32[8,23,25,8], b: f32[3,3,8], c: f32[2]",
        "r : f32[8,23,25,8] =:+ over n<8, y<23, x<25, s<8, p<3, q<3 at [n,y,x,s]: (a[n,y+p-1,x+q-1,s] where 0 <= y+p-1 < 23 and 0 <= x+q-1 < 25 else 0.0f32) * b[p,q,s]",
    ),
];

/// A program that computes `r`.
fn computing(params: &str, body: &str) -> Program {
    let program = surject::ir::parse(&format!("func main({params}) -> (r) {{\n  {body}\n}}\n"));
    program.unwrap_or_else(|e| panic!("{body}: {e}"))
}

/// Small integers, whose sums of products are not rounded.
fn small_integers(function: &Function) -> Vec<Buffer> {
    let mut args = random_args(function, 3);
    for (number, argument) in args.iter_mut().enumerate() {
        let dtype = argument.dtype();
        let value = |at: usize| ((at * 7 + at / 13 + number) % 9) as f64 - 4.0;
        (0..argument.len()).for_each(|at| argument.set(at, Scalar::from_f64(dtype, value(at))));
    }
    args
}

/// A program as a processor has it by default.
fn by_default(
    program: &Program,
    machine: &str,
    thresholds: Thresholds,
) -> Result<LoweredModule, CodegenError> {
    let kernels = scheduled(Some(machine), Schedules::default(), Which::Chosen).expect("a CPU");
    let options = Lowering { scheduled: Some(kernels), ..Lowering::default() };
    let target = Target { thresholds, ..Target::named(machine).expect("a CPU") };
    lower(program, &program.main().expect("a function").name, &target, &options)
}

/// A processor with vectors takes products of matrices from the kernel IR, and one with narrow vectors all products that have tiles.
/// Their sums are those of the interpreter, bit for bit where no sum is rounded.
#[test]
fn products_are_kernels_of_the_kernel_ir() {
    let of_matrices = PRODUCTS.iter().map(|product| (product, true));
    let others = OTHER_PRODUCTS.iter().map(|product| (product, false));
    for ((params, body), is_of_matrices) in of_matrices.chain(others) {
        let program = computing(params, body);
        let args = small_integers(program.main().expect("a function"));
        let expected = surject::ir::interp::run(&program, "main", &args).expect("it runs");
        for machine in ["generic", "avx2", "avx512"] {
            let lowered = by_default(&program, machine, Thresholds::measured()).expect("it is lowered");
            let forms = format!("{:#}", lowered.plan);
            let taken = forms.contains("form: kernel of the kernel IR");
            if is_of_matrices {
                assert_eq!(taken, machine != "generic", "{machine}: {body}\n{forms}");
            }
            let is_product = forms.contains("kernel `product` by its schedule");
            assert!(is_product || machine == "generic", "{machine}: {body}\n{forms}");
            let found = lowered.interpret(&args, Default::default()).expect("it runs");
            assert_eq!(found[0].bytes(), expected[0].bytes(), "{machine}: {body}");
        }
    }
}

/// A random product: its factors may be turned, computed, converted, or the same for all of a batch, and its sums be parts of a formula.
fn random_product(seed: u64) -> Program {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let [h, i, j, k] = [1 + below(3), 1 + below(70), 1 + below(70), 4 + below(60)];
    let dtype = ["f32", "bf16", "i8", "f64"][below(4) as usize];
    let sum = match dtype {
        "bf16" => "f32",
        "i8" => "i32",
        other => other,
    };
    let left = ["h,i,k", "h,k,i", "i,k", "k,i"][below(4) as usize];
    let right = ["h,k,j", "h,j,k", "k,j", "j,k"][below(4) as usize];
    let extent = |name: &str| match name {
        "h" => h,
        "i" => i,
        "j" => j,
        _ => k,
    };
    let sizes = |at: &str| at.split(',').map(|name| extent(name).to_string()).collect::<Vec<_>>().join(",");
    let mut value = |tensor: &str, at: &str| {
        let element = format!("{tensor}[{at}]");
        let element = if sum == dtype { element } else { format!("{sum}({element})") };
        match below(4) {
            0 => format!("({element} * {sum}(c[k]))"),
            1 => format!("max({element}, {sum}(c[k]))"),
            _ => element,
        }
    };
    let product = format!("{} * {}", value("a", left), value("b", right));
    let loops = format!("h<{h}, i<{i}, j<{j}");
    let result = ["p[h,i,j]", "p[h,i,j] + d[h,i,j]", "max(p[h,i,j], d[h,i,j])"][below(3) as usize];
    computing(
        &format!(
            "a: {dtype}[{}], b: {dtype}[{}], c: f32[{k}], d: {sum}[{h},{i},{j}]",
            sizes(left),
            sizes(right)
        ),
        &format!(
            "let p : {sum}[{h},{i},{j}] =:+ over {loops}, k<{k} at [h,i,j]: {product}\n  r : {sum}[{h},{i},{j}] =: over {loops}: {result}"
        ),
    )
}

/// Random products as processors have them by default, where even the smallest are worth tiles.
#[test]
fn random_products_by_default() {
    let (mut failures, mut products) = (Vec::new(), 0);
    for seed in 0..300 {
        let program = random_product(seed);
        let args = small_integers(program.main().expect("a function"));
        let expected = surject::ir::interp::run(&program, "main", &args).expect("it runs");
        let thresholds = if seed % 2 == 0 { Thresholds::least() } else { Thresholds::measured() };
        let machine = ALL[seed as usize / 2 % 2];
        let lowered = by_default(&program, machine, thresholds).expect("it is lowered");
        let plan = lowered.plan.to_string();
        products += plan.matches("kernel `product` by its schedule").count();
        let fault = match lowered.interpret(&args, Default::default()) {
            Ok(found) => differs(&found, &expected),
            Err(error) => Some(error.to_string()),
        };
        failures.extend(fault.map(|fault| format!("{seed} {machine}: {fault}\n{program}\n{plan}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(products > 100, "{products} products");
}

/// Processors with vectors.
const ALL: &[&str] = &["avx2", "avx512"];

/// Rows: what a program computes of `a` and `b`.
const ROWS: [(&str, &str); 11] = [
    ("a: f32[64,256], b: f32[256]", "r : f32[64,256] =: over i<64, j<256: tanh(a[i,j] + b[j])"),
    ("a: f32[61,253], b: f32[253]", "r : f32[61,253] =: over i<61, j<253: tanh(a[i,j] + b[j])"),
    // Angles beyond every formula.
    ("a: f32[9000], b: f32[1]", "r : f32[9000] =: over i<9000: sin(a[i] * 1e12 f32)"),
    (
        "a: f32[64,512], b: f32[64]",
        "let m : f32[64] =:max over i<64, k<512 at [i]: a[i,k]\n  let s : f32[64] =:+ over i<64, k<512 at [i]: exp(a[i,k] - m[i])\n  r : f32[64,512] =: over i<64, j<512: exp(a[i,j] - m[i]) / s[i]",
    ),
    // Rows begin inside of cache lines.
    ("a: f32[61,253], b: f32[253]", "r : f32[61,253] =: over i<61, j<253: a[i,j] + b[j]"),
    // Long sums are made in blocks.
    ("a: f32[40000], b: f32[1]", "r : f32[] =:+ over i<40000 at []: a[i]"),
    ("a: f32[9000,40], b: f32[1]", "r : f32[40] =:+ over i<9000, j<40 at [j]: a[i,j]"),
    ("a: f32[4096], b: f32[4096]", "r : u8[4096] =: over i<4096: u8(a[i] * b[i])"),
    ("a: f32[64,64], b: f32[1]", "r : f32[64,64] =: over i<64, j<64: f32(index(j)i32) * a[i,j]"),
    // Windows that overlap, with edges.
    (
        "a: f32[20,20,40], b: f32[1]",
        "r : f32[10,10,40] =:max over i<10, j<10, c<40, m<3, n<3 at [i,j,c]: (a[2*i + m - 1,2*j + n - 1,c] where 0 <= 2*i + m - 1 < 20 and 0 <= 2*j + n - 1 < 20 else -inf_f32)",
    ),
    ("a: f32[30,70], b: f32[1]", "r : f32[30,70] =: over i<30, j<70: a[29 - i,69 - j]"),
];

/// Rows have the results of the interpreter on every processor.
#[test]
fn rows_are_kernels_of_the_kernel_ir() {
    for (params, body) in ROWS {
        let program = computing(params, body);
        let args = random_args(program.main().expect("a function"), 3);
        let expected = surject::ir::interp::run(&program, "main", &args).expect("it runs");
        for machine in ["generic", "avx2", "avx512"] {
            let lowered = by_default(&program, machine, Thresholds::measured()).expect("it is lowered");
            let plan = lowered.plan.to_string();
            assert!(plan.contains(": row [") || plan.contains("  row ["), "{machine}: {body}\n{plan}");
            let found = lowered.interpret(&args, Default::default()).expect("it runs");
            let report = compare(&found[0], &expected[0], 1e-6, 1e-6);
            assert!(report.passed(), "{machine}: {body}\n{report}");
        }
    }
}

/// Products of many pairs of matrices are kernels of the kernel IR too where they run together with rows: a task has a range of rows,
/// of which the last of a product may be short. Columns that tiles do not divide are read where they lie, others from panels.
#[test]
fn ranges_of_rows_of_many_products_are_kernels_of_the_kernel_ir() {
    for (rows, terms, columns) in [(160, 48, 192), (131, 61, 251), (250, 64, 160)] {
        let text = format!(
            "func main(q: f32[3,{rows},{terms}], k: f32[3,{columns},{terms}], v: f32[3,{columns},{terms}]) -> (r) {{
  s : f32[3,{rows},{columns}] =:+ over b<3, i<{rows}, j<{columns}, h<{terms} at [b,i,j]: q[b,i,h] * k[b,j,h]
  m : f32[3,{rows}] =:max over b<3, i<{rows}, j<{columns} at [b,i]: s[b,i,j]
  e : f32[3,{rows},{columns}] =: over b<3, i<{rows}, j<{columns}: exp(s[b,i,j] / 8.0 f32 - m[b,i] / 8.0 f32)
  r : f32[3,{rows},{terms}] =:+ over b<3, i<{rows}, j<{terms}, h<{columns} at [b,i,j]: e[b,i,h] * v[b,h,j]
}}
"
        );
        let program = surject::ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let args = random_args(program.main().expect("a function"), 3);
        let expected = surject::ir::interp::run(&program, "main", &args).expect("it runs");
        let kernels = scheduled(Some("avx2"), Schedules::default(), Which::Chosen).expect("a CPU");
        let options = Lowering { scheduled: Some(kernels), ..Lowering::default() };
        let target = Target::named("avx2").expect("a CPU");
        let lowered = lower(&program, "main", &target, &options).expect("it is lowered");
        let plan = lowered.plan.to_string();
        let products = |line: &str| line.matches("kernel `product`").count();
        let fused = plan.lines().filter(|line| line.contains("fused:")).map(products).max();
        assert_eq!(fused, Some(2), "{rows} x {terms} x {columns}:\n{plan}");
        let found = lowered.interpret(&args, Default::default()).expect("it runs");
        let report = compare(&found[0], &expected[0], 1e-5, 1e-5);
        assert!(report.passed(), "{rows} x {terms} x {columns}\n{report}");
    }
}

/// Panels of kernels lie on the stack of a thread, and the thread of a caller may have next to none.
#[test]
fn callers_with_little_stack_run_compiled_programs() {
    let body = "r : f32[320,320] =:+ over i<320, j<320, k<320 at [i,j]: a[i,k] * b[k,j]";
    let program = format!("func main(a: f32[320,320], b: f32[320,320]) -> (r) {{\n  {body}\n}}\n");
    let program = surject::ir::parse(&program).expect("it parses");
    let kernels = scheduled(None, Schedules::default(), Which::All).expect("a CPU");
    let options = Lowering { scheduled: Some(kernels), ..Lowering::default() };
    let options = CompileOptions { lower: options, ..CompileOptions::default() };
    let compiled = mlir::compile(&program, "main", &options).expect("it compiles");
    let args = random_args(program.main().expect("a function"), 5);
    let expected = compiled.run(&args).expect("it runs");
    let found = std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let run = || compiled.run(&args).expect("it runs");
        small.spawn_scoped(scope, run).expect("a thread").join().expect("it ends")
    });
    assert_eq!(found[0].bytes(), expected[0].bytes());
}

/// Weights of attention are made row by row, so neither these nor scores are stored as a whole. Where a mask ends the sums
/// of a product, no block beyond it is visited: neither a kernel of the kernel IR nor parts of a long sum may be in the way.
#[test]
fn attention_is_made_row_by_row_up_to_its_mask() {
    for (n, machine, mask) in
        [(512, "avx512", true), (512, "avx2", true), (4096, "avx512", true), (2048, "avx512", false)]
    {
        let kept = if mask { "index(i)i32 >= index(j)i32" } else { "true" };
        let text = format!(
            "func main(q: f32[{n},64], k: f32[{n},64], v: f32[{n},64]) -> (r) {{
  s : f32[{n},{n}] =: over i<{n}, j<{n}: select({kept}, (+ over i<{n}, j<{n}, h<64 at [i,j]: q[i,h] * k[j,h]), -inf_f32)
  m : f32[{n}] =:max over i<{n}, j<{n} at [i]: s[i,j]
  e : f32[{n},{n}] =: over i<{n}, j<{n}: exp(s[i,j] - m[i])
  t : f32[{n}] =:+ over i<{n}, j<{n} at [i]: e[i,j]
  w : f32[{n},{n}] =: over i<{n}, j<{n}: e[i,j] / t[i]
  r : f32[{n},64] =:+ over i<{n}, j<64, h<{n} at [i,j]: w[i,h] * v[h,j]
}}
"
        );
        let program = surject::ir::parse(&text).unwrap_or_else(|e| panic!("{e}"));
        let kernels = scheduled(Some(machine), Schedules::default(), Which::Chosen).expect("a CPU");
        let options = Lowering { scheduled: Some(kernels), ..Lowering::default() };
        let target = Target::named(machine).expect("a CPU");
        let plan = lower(&program, "main", &target, &options).expect("it is lowered").plan.to_string();
        let product = "kernel `product` by its schedule";
        let ends = [product, ", triangular"].concat();
        assert_eq!(plan.contains(&ends), mask, "{n} on {machine}:\n{plan}");
        let has_both = |line: &&str| line.matches(product).count() == 2;
        assert_eq!(
            plan.lines().filter(has_both).count(),
            1,
            "{n} on {machine}, rows of both products:\n{plan}"
        );
    }
}
